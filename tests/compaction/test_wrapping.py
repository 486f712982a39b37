"""Output and exit code out of what clients put around them."""

from __future__ import annotations

import json

import pytest

from monitor.compaction.outcome import judge
from monitor.compaction.wrapping import body


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"stdout": "a\n", "stderr": "b", "returncode": 1}, ("a\n\nb", 1)),
        ({"output": "fine", "metadata": {"exit_code": 0, "duration_seconds": 1.5}}, ("fine", 0)),
        ({"result": {"stdout": "fine", "stderr": "", "exitCode": 0}}, ("fine", 0)),
        ({"content": "text of a file"}, ("text of a file", None)),
        ({"success": False, "error": "no such table"}, ("no such table", 1)),
        ({"stdout": "x", "stderr": "", "code": 2}, ("x", 2)),
    ],
)
def test_a_wrapper_is_taken_off(value: object, wanted: tuple[str, int | None]) -> None:
    assert body(json.dumps(value)) == wanted


@pytest.mark.parametrize(
    "value",
    [
        {"status": "success", "data": {"result": [{"value": [1, "0.92"]}]}},
        {"error": "not found", "code": 404, "host": "a.example", "path": "/x", "time": 1},
        {"text": "hello", "author": "me", "id": 7, "likes": 3},
        {"name": "content"},
    ],
)
def test_data_is_no_wrapper(value: object) -> None:
    text = json.dumps(value)
    assert body(text) == (text, None)


def test_the_code_inside_decides() -> None:
    assert judge(json.dumps({"stdout": "", "stderr": "boom", "returncode": 3}), False).status == "failed"
    assert judge(json.dumps({"stdout": "3 passed", "stderr": "", "returncode": 0}), False).status == "passed"


@pytest.mark.parametrize("code", ["²", "--5", "1e3", "٣", "9" * 50])
def test_an_exit_code_that_is_no_number_is_unknown(code: str) -> None:
    assert body(f"Output: done\nExit Code: {code}") == ("done", None)


def test_an_object_nested_too_deeply_is_text() -> None:
    text = '{"output": "x", "data": ' + "[" * 100_000 + "]" * 100_000 + "}"
    assert body(text) == (text, None)
