"""Tool calls of many clients: what each does, known by name, by words in the name, or by its arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest

from monitor.compaction.actions import Todo, action
from monitor.conversation.model import ToolCall


def act(name: str, args: Any) -> Any:
    return action(ToolCall("1", name, args))


@pytest.mark.parametrize(
    ("name", "args", "op", "paths"),
    [
        ("Read", {"file_path": "a.py"}, "read", ("a.py",)),
        ("read_file", {"absolute_path": "/x/a.py"}, "read", ("/x/a.py",)),
        ("view", {"path": "a.py"}, "read", ("a.py",)),
        ("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, "edit", ("a.py",)),
        ("replace_in_file", {"path": "a.py", "diff": "…"}, "edit", ("a.py",)),
        ("str_replace_editor", {"command": "create", "path": "a.py", "file_text": "x"}, "write", ("a.py",)),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "read", ("a.py",)),
        ("str_replace_based_edit_tool", {"command": "str_replace", "path": "a.py", "old_str": "x"}, "edit", ("a.py",)),
        ("Write", {"file_path": "a.py", "content": "x"}, "write", ("a.py",)),
        ("write_to_file", {"path": "a.py", "content": "x"}, "write", ("a.py",)),
        ("mcp__files__write_file", {"path": "a.py", "content": "x"}, "write", ("a.py",)),
        ("save_note", {"path": "n.md", "content": "x"}, "write", ("n.md",)),
        ("fs_get", {"path": "a.py"}, "read", ("a.py",)),
        ("mutate", {"path": "a.py", "old": "x", "new": "y"}, "edit", ("a.py",)),
        ("fs_put", {"path": "a.py", "content": "x"}, "write", ("a.py",)),
        ("web_fetch", {"url": "http://x"}, "fetch", ()),
        ("grep", {"pattern": "x", "path": "src"}, "search", ("src",)),
        ("Bash", {"command": "ls"}, "shell", ()),
        ("exec_command", {"cmd": "ls"}, "shell", ()),
        ("shell", {"command": ["bash", "-lc", "ls"]}, "shell", ()),
        ("run_tests", {"suite": "unit"}, "shell", ()),
        ("weather", {"city": "Lisbon"}, "other", ()),
    ],
)
def test_what_a_call_does(name: str, args: Any, op: str, paths: tuple[str, ...]) -> None:
    found = act(name, args)
    assert (found.op, found.paths) == (op, paths)
    again = act(name, json.dumps(args))  # arguments as a JSON string
    assert (again.op, again.paths) == (op, paths)


def test_commands() -> None:
    assert act("shell", {"command": ["bash", "-lc", "pytest -q"]}).command == "pytest -q"
    assert act("run_tests", {"suite": "unit", "verbose": 1}).command == "run_tests unit 1"


def test_a_patch_names_its_files() -> None:
    text = "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: old.py\n*** Move to: moved.py\n@@\n-a\n+b\n*** Delete File: gone.py\n*** End Patch\n"
    for found in (
        act("apply_patch", text),
        act("apply_patch", {"input": text}),
        act("shell", {"command": ["apply_patch", text]}),
    ):
        assert (found.created, found.paths, found.deleted, found.moved) == (
            ("new.py",),
            ("old.py",),
            ("gone.py",),
            (("old.py", "moved.py"),),
        )


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("TodoWrite", {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}, {"content": "c", "status": "pending"}]}),
        ("update_plan", {"plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"}, {"step": "c", "status": "pending"}]}),
        ("update_todo_list", {"todos": "[x] a\n[-] b\n[ ] c"}),
        ("track", {"items": [{"title": "a", "status": "done"}, {"title": "b", "status": "active"}, {"title": "c", "status": "open"}]}),
    ],
)  # fmt: skip
def test_lists_of_tasks(name: str, args: Any) -> None:
    found = act(name, args)
    assert found.op == "todo"
    assert found.todos == (Todo("a", "done"), Todo("b", "active"), Todo("c", "open"))


@pytest.mark.parametrize("raw", [None, "", "not json", "{cut", [1, 2], 7])
def test_broken_arguments_do_no_harm(raw: Any) -> None:
    assert action(ToolCall("1", "Edit", raw)).op in ("edit", "other", "read")


def test_news_of_single_tasks() -> None:
    a = act("todo_write", {"merge": True, "todos": [{"id": "2", "content": "Tag it", "status": "completed"}]})
    assert a.merge and a.todos == (Todo("Tag it", "done", "2"),)


def test_search_and_replace_is_an_edit() -> None:
    assert act("search_replace", {"file_path": "a.tf", "old_string": "x", "new_string": "y"}).op == "edit"
