"""What tool calls did, call by call: tasks, errors that are over, files made by tools that do not say so by name."""

from __future__ import annotations

from typing import Any

from monitor.compaction.actions import Todo, action, boxes
from monitor.compaction.ledger import Ledger
from monitor.conversation.model import ToolCall, ToolResult
from monitor.conversation.repair.base import NO_RESULT


def do(ledger: Ledger, name: str, args: dict[str, Any], text: str, error: bool = False) -> None:
    ledger.result(action(ToolCall("1", name, args)), ToolResult("1", text, is_error=error), 1, False)


def test_boxes_in_answers_are_a_list_that_is_told_anew() -> None:
    ledger = Ledger()
    ledger.told(boxes("- [ ] raise the version\n- [ ] translate\n- [ ] readme"))
    ledger.told(boxes("- [x] raise the version"))
    assert [(t.text, t.status) for t in ledger.todos()] == [
        ("raise the version", "done"),
        ("translate", "open"),
        ("readme", "open"),
    ]
    ledger.told(boxes("- [x] raise the version\n- [ ] translate"))  # the new list leaves one out
    assert [t.text for t in ledger.todos()] == ["raise the version", "translate"]


def test_tasks_merged_by_id() -> None:
    ledger = Ledger()
    first = [{"id": "1", "content": "a", "status": "completed"}, {"id": "2", "content": "b", "status": "pending"}]
    do(ledger, "todo_write", {"todos": first}, "ok")
    do(ledger, "todo_write", {"merge": True, "todos": [{"id": "2", "status": "completed"}]}, "ok")
    assert ledger.todos() == [Todo("a", "done", "1"), Todo("b", "done", "2")]


def test_errors_of_a_command_that_later_works_or_is_worded_anew() -> None:
    ledger = Ledger(marks_errors=True)
    do(ledger, "bash", {"command": "psql -f fill.sql"}, "ERROR:  deadlock detected", error=True)
    assert [e.resolved for e in ledger.errors.values()] == [False]
    do(ledger, "bash", {"command": "psql -f fill.sql"}, "COMMIT")
    assert [e.resolved for e in ledger.errors.values()] == [True]
    do(ledger, "bash", {"command": "./spell.sh"}, "aspell: 3 misspelled: a, b, c\nexit code: 1")
    do(ledger, "bash", {"command": "./spell.sh"}, "aspell: 1 misspelled: c\nexit code: 1")
    assert {e.text: e.resolved for e in ledger.errors.values() if "aspell" in e.text} == {
        "aspell: 3 misspelled: a, b, c": True,
        "aspell: 1 misspelled: c": False,
    }


def test_what_was_never_answered_is_no_error() -> None:
    ledger = Ledger()
    do(ledger, "bash", {"command": "mkdir -p reports"}, NO_RESULT, error=True)
    assert not ledger.errors and not ledger.checks


def test_a_page_that_cannot_be_reached_is_an_error() -> None:
    ledger = Ledger()
    do(ledger, "fetch_url", {"url": "https://dl.example/doi"}, "HTTP 403 Forbidden: access denied")
    assert list(ledger.errors) == ["HTTP 403 Forbidden: access denied"]


def test_an_edit_that_says_it_created_the_file() -> None:
    ledger = Ledger()
    do(ledger, "edit_file", {"target_file": "m/main.tf", "code_edit": "x"}, "The file m/main.tf was created")
    assert ledger.files == {"m/main.tf": "created"}
