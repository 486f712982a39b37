"""What a tool call does, whatever client made it: files read, written, deleted, a command run, a list of tasks set.

Input: a neutral :class:`ToolCall`. Tool names are known from the published clients; a tool nobody knows is judged by
words in its name and by the keys of its arguments. Nothing is done if the result is an error: that is the caller's to
check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from monitor.conversation.model import ToolCall
from monitor.readers.step_tools import PATH_KEYS, TOOLS, command_text

Op = Literal[
    "read",
    "write",
    "edit",
    "delete",
    "move",
    "shell",
    "search",
    "fetch",
    "todo",
    "ask",
    "plan",
    "done",
    "agent",
    "other",
]
TodoStatus = Literal["open", "active", "done", "cancelled"]
_PATHS = (
    *PATH_KEYS,
    "absolute_path",
    "old_file_path",
    "relative_path",
    "uri",
    "notebook_path",
    "dir_path",
    "filepath",
    "files",
    "paths",
    "file_paths",
    *("ruta", "archivo", "libro", "datei", "pfad", "fichier", "chemin", "arquivo", "caminho", "workbook"),
)
_OLD = ("old", "old_string", "old_str", "oldText", "old_text", "search", "oldString", "find")
_NEW = ("new", "new_string", "new_str", "newText", "new_text", "replace", "newString", "insert_text", "replacement")
_TEXT = ("content", "file_text", "text", "contents", "body", "source", "code_edit", "new_source")
_TASK = ("content", "step", "title", "task", "subject", "text", "description", "name", "item", "todo")
_LISTS = ("todos", "plan", "items", "tasks", "steps", "todoList", "todo_list", "newTodos", "entries", "todos_list")
_PATCH = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.M)
_DIFF = re.compile(r"^\+\+\+ (?:b/)?(\S+)", re.M)
_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*\[([ xX~>/-])\]\s+(\S.*?)\s*$", re.M)
#: tools of an agent's own that check something without a command line
_CHECKS = re.compile(r"(?:^|_)(?:run_?tests?|tests?|lint\w*|build|type_?check\w*|compile|verify|validate)(?:_|$)")
_BY_WORD: tuple[tuple[re.Pattern[str], Op], ...] = (
    (re.compile(r"(?:search|find)\w*replace"), "edit"),
    (re.compile(r"todo|task_?list|checklist|update_?plan|set_?plan"), "todo"),
    (re.compile(r"fetch|browse|navigate|http|url|crawl|scrape|web_?page"), "fetch"),
    (re.compile(r"buscar|suche|cherch|search|grep|glob|find|list|query|lookup|tree"), "search"),
    (re.compile(r"delete|remove|unlink"), "delete"),
    (re.compile(r"rename|move_?file"), "move"),
    (re.compile(r"patch|edit|replace|update|modify|insert|append"), "edit"),
    (re.compile(r"write|create|save|escrib|guard|schreib|speicher|ecri|écri"), "write"),
    (re.compile(r"leer|lese|lire|abrir|read|view|open|cat|get_?file|show|load"), "read"),
    (re.compile(r"bash|shell|exec|ejecut|ausf|run|command|terminal|powershell|console|process"), "shell"),
    (re.compile(r"ask|question|confirm"), "ask"),
)


class Todo(msgspec.Struct, frozen=True):
    """A task of a list; ``key`` = its id where the tool names single tasks."""

    text: str
    status: TodoStatus
    key: str = ""


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """What one call does."""

    op: Op
    paths: tuple[str, ...] = ()
    created: tuple[str, ...] = ()  # the call says itself that it makes the file
    deleted: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    command: str = ""
    todos: tuple[Todo, ...] | None = None  # the whole list
    merge: bool = False  # ``todos`` are news of single tasks
    change: Todo | None = None  # one task of it
    text: str = ""  # what is written
    target: str = ""  # address, pattern or question
    name: str = ""


def action(call: ToolCall) -> Action:
    """What ``call`` does."""
    short = call.name.rsplit(".", 1)[-1].rsplit("__", 1)[-1].lower()
    raw = call.arguments
    text = call.arguments_text if raw is None else ""
    args: Mapping[str, Any] = raw if raw is not None else {}
    if isinstance(args.get("input"), str) and "*** Begin Patch" in args["input"]:
        text = args["input"]
    command = _command(args) if raw is not None else (text if TOOLS.get(short) == "shell" else "")
    if "*** Begin Patch" in text or "*** Begin Patch" in command:
        return _patch(text if "*** Begin Patch" in text else command, call.name)
    op = _op(short, args, command, text)
    if op in ("other", "search", "read") and _CHECKS.search(short) and not command:
        told = " ".join(str(v) for v in args.values() if isinstance(v, str | int) and len(str(v)) < 120)
        return Action(op="shell", command=f"{call.name} {told}".strip(), name=call.name)
    if op == "todo":
        return _todo(short, args, call)
    paths = _paths(args)
    if op == "shell":
        return Action(op="shell", command=command, name=call.name)
    if op in ("fetch", "search", "ask", "plan", "done", "agent", "other"):
        return Action(
            op=op,
            target=_target(args) or (_named(args) if op == "other" else ""),
            paths=paths if op == "search" else (),
            text=_first(args, ("plan", "result", "summary")),
            name=call.name,
        )
    if short in ("str_replace_editor", "str_replace_based_edit_tool", "text_editor", "editor"):
        op = {"view": "read", "create": "write"}.get(str(args.get("command")), "edit")  # type: ignore[assignment]
    if op == "move":
        ends = [
            str(args[k])
            for k in ("source", "src", "old_path", "from", "path", "destination", "dst", "new_path", "to")
            if isinstance(args.get(k), str)
        ]
        return Action(op="move", moved=((ends[0], ends[-1]),) if len(ends) > 1 else (), name=call.name)
    if op == "delete":
        return Action(op="delete", deleted=paths, name=call.name)
    diff = args.get("diff") or args.get("patch")
    if op == "edit" and not paths and isinstance(diff, str):
        paths = tuple(dict.fromkeys(p for p in _DIFF.findall(diff) if p != "/dev/null"))
    return Action(op=op, paths=paths, text=_written(args, op), name=call.name)


def boxes(text: str) -> list[Todo]:
    """Tasks with a box (``- [ ] …``) in a text, in order."""
    return [Todo(m.group(2), _box(m.group(1))) for m in _BOX.finditer(text)]


def _box(mark: str) -> TodoStatus:
    return "done" if mark in "xX" else ("active" if mark in "~>/-" else "open")


def _op(short: str, args: Mapping[str, Any], command: str, text: str) -> Op:
    known = TOOLS.get(short) or TOOLS.get(short.replace("-", "_"))
    if short in ("webfetch", "web_fetch", "fetch", "fetchurl", "fetch_url", "read_url"):
        return "fetch"
    if short in ("taskcreate", "taskupdate") or known == "todo":
        return "todo"
    if known == "read":
        return "fetch" if "url" in args and not _paths(args) else "read"
    if known == "edit":
        if short in ("delete_file",):
            return "delete"
        return (
            "write"
            if any(k in args for k in _TEXT) and not any(k in args for k in (*_OLD, "edits", "diff")) and _writes(short)
            else "edit"
        )
    if known in ("search", "shell", "plan", "agent"):
        return known  # type: ignore[return-value]
    if short in ("askuserquestion", "ask_user", "ask_followup_question", "ask", "request_user_input"):
        return "ask"
    if short in ("attempt_completion", "finish", "complete_task"):
        return "done"
    if any(
        isinstance(args.get(k), list) and args[k] and isinstance(args[k][0], dict) and "status" in args[k][0]
        for k in _LISTS
    ):
        return "todo"
    for pattern, op in _BY_WORD:
        if pattern.search(short):
            if op in ("read", "write", "edit", "delete") and not _paths(args) and not text:
                continue
            if op == "shell" and not command:
                continue
            return op
    if command:
        return "shell"
    return _by_arguments(args)


def _by_arguments(args: Mapping[str, Any]) -> Op:
    """What a tool of an unknown name does: a path with two texts is an edit, with one a write, alone a read."""
    if not _paths(args):
        return "fetch" if isinstance(args.get("url"), str) else "other"
    if any(isinstance(args.get(k), str) for k in (*_OLD, *_NEW)) or "edits" in args or "diff" in args:
        return "edit"
    return "write" if any(isinstance(args.get(k), str) for k in _TEXT) else "read"


def _writes(short: str) -> bool:
    return ("edit" not in short and "replace" not in short and "insert" not in short) or short in ("write_to_file",)


def _command(args: Mapping[str, Any]) -> str:
    for key in ("command", "cmd", "script", "comando", "befehl", "commande"):
        if key in args:
            found = command_text(args[key])
            if found:
                return found
    actions = args.get("commands")
    return "\n".join(c for c in actions if isinstance(c, str)) if isinstance(actions, list) else ""


def _paths(args: Mapping[str, Any]) -> tuple[str, ...]:
    out: list[str] = []
    for key in _PATHS:
        value = args.get(key)
        if isinstance(value, str) and value and len(value) < 400 and "\n" not in value:
            out.append(value.removeprefix("file://"))
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, str):
                    out.append(item)
                elif isinstance(item, dict):
                    out += [str(item[k]) for k in ("path", "file_path", "file") if isinstance(item.get(k), str)]
    return tuple(dict.fromkeys(out))


def _target(args: Mapping[str, Any]) -> str:
    return _first(args, ("url", "uri", "pattern", "query", "q", "regex", "question", "prompt", "description"))


def _named(args: Mapping[str, Any]) -> str:
    """What a tool of an unknown name was called with, where it is short enough to name it."""
    return next((v for v in args.values() if isinstance(v, str) and 0 < len(v) < 120 and "\n" not in v), "")


def _first(args: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((str(args[k]) for k in keys if isinstance(args.get(k), str) and args[k]), "")


def _written(args: Mapping[str, Any], op: Op) -> str:
    if op == "write":
        return _first(args, _TEXT)
    if op != "edit":
        return ""
    found = [str(args[k]) for k in (*_NEW, *_TEXT) if isinstance(args.get(k), str)]
    edits = args.get("edits")
    for edit in edits if isinstance(edits, list) else []:
        if isinstance(edit, dict):
            found += [str(edit[k]) for k in _NEW if isinstance(edit.get(k), str)]
    return "\n".join(found)


def _patch(text: str, name: str) -> Action:
    """An ``apply_patch`` body: files added, changed, deleted, moved."""
    added: list[str] = []
    changed: list[str] = []
    deleted: list[str] = []
    moved: list[tuple[str, str]] = []
    for kind, path, target in _PATCH.findall(text):
        if target:
            if changed:
                moved.append((changed[-1], target))
        else:
            {"Add": added, "Update": changed, "Delete": deleted}[kind].append(path)
    new = "\n".join(line[1:] for line in text.split("\n") if line.startswith("+"))
    return Action(
        op="edit",
        paths=tuple(changed),
        created=tuple(added),
        deleted=tuple(deleted),
        moved=tuple(moved),
        text=new,
        name=name,
    )


def _todo(short: str, args: Mapping[str, Any], call: ToolCall) -> Action:
    if short in ("taskcreate", "taskupdate"):
        text = _first(args, ("subject", "title", "content"))
        key = str(args.get("taskId") or args.get("task_id") or args.get("id") or "")
        return Action(op="todo", change=Todo(text, _status(args.get("status")), key), name=call.name)
    for key in _LISTS:
        value = args.get(key)
        if isinstance(value, str) and _BOX.search(value):
            return Action(op="todo", todos=tuple(boxes(value)), name=call.name)
        if isinstance(value, str) and value.lstrip().startswith("["):
            try:
                value = msgspec.json.decode(value)
            except msgspec.MsgspecError:
                continue
        if isinstance(value, list):
            out = []
            for item in value:
                if isinstance(item, dict):
                    text = _first(item, _TASK)
                    status = _status(item.get("status", item.get("state", item.get("done", item.get("completed")))))
                    mark = item.get("id")
                    number = str(mark) if isinstance(mark, str | int) else ""
                    if text or (number and args.get("merge")):
                        out.append(Todo(" ".join(text.split()), status, number))
                elif isinstance(item, str) and item.strip():
                    found = boxes(item)
                    out.append(found[0] if found else Todo(item.strip(), "open"))
            return Action(op="todo", todos=tuple(out), merge=args.get("merge") is True, name=call.name)
    return Action(op="todo", name=call.name)


def _status(value: Any) -> TodoStatus:
    if value is True:
        return "done"
    word = str(value or "").lower().replace("-", "_").replace(" ", "_")
    if word in ("completed", "done", "complete", "finished", "closed", "resolved"):
        return "done"
    if word in ("in_progress", "active", "doing", "started", "running", "current"):
        return "active"
    return "cancelled" if word in ("cancelled", "canceled", "deleted", "dropped", "skipped", "abandoned") else "open"
