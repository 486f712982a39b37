"""What `doctor` says of each file: format and how sure, size, calls, copies, problems by kind, what to do."""

from __future__ import annotations

import pytest

from monitor.records import Problem
from monitor.reports.doctor import advice, body, text
from monitor.reports.text import cells
from monitor.sessions.load import Request, load
from monitor.sessions.view import FileReport, Loaded
from tests.factory import call
from tests.reports.stories import EVIL, loaded, long_session, totals_session


def report(name: str, **facts: object) -> FileReport:
    values: dict[str, object] = {
        "file": name, "source": "litellm", "title": "LiteLLM log", "confidence": 0.95, "bytes": 1_500, "lines": 12,
        "calls": 10, "duplicates": 0, "problems": 0, **facts,
    }  # fmt: skip
    return FileReport(**values)  # type: ignore[arg-type]


def found(*files: FileReport, problems: tuple[Problem, ...] = ()) -> Loaded:
    sessions = loaded(long_session())[0].sessions
    return Loaded(sessions=sessions, problems=list(problems), files=list(files))


def test_one_file_in_two_lines() -> None:
    page = text(found(report("/logs/a.jsonl")), most=100).splitlines()
    place = page.index("  /logs/a.jsonl")
    assert page[place + 1] == "      LiteLLM log, sure 0.95 · 1.5 kB · 12 lines · 10 calls"


def test_the_common_folder_is_said_once() -> None:
    page = text(found(report("/logs/x/a.jsonl"), report("/logs/y/b.jsonl")), most=100)
    assert "Files in /logs" in page
    assert "\n  x/a.jsonl\n" in page


def test_copies_are_counted_per_file() -> None:
    copies = [call(n, 100, None, session="fork", key=f"msg_{n}", file="/logs/b.jsonl") for n in range(3)]
    told = Loaded(sessions=found().sessions, problems=[], files=[report("/logs/b.jsonl")], copies=copies)
    assert "3 duplicates dropped" in text(told, most=100)
    assert body(told)["files"][0]["duplicates"] == 3


def test_problems_by_kind_with_places_and_what_to_do() -> None:
    broken = tuple(Problem("/logs/a.jsonl", n, "the line is not valid JSON; it was skipped") for n in (3, 8, 9, 40, 77))
    told = found(report("/logs/a.jsonl", problems=5), problems=broken)
    page = text(told, most=80)
    assert "5 × the line is not valid JSON" in page
    assert "→ the rest was read; look at that line" in page
    assert "/logs/a.jsonl:3\n" in page
    assert ":40" not in page
    assert "2 more (-v)" in page
    assert ":77" in text(told, verbose=True, most=80)
    kinds = body(told)["files"][0]["problem_kinds"]
    assert kinds == [
        {"reason": broken[0].reason, "count": 5, "lines": [3, 8, 9, 40, 77], "advice": advice(broken[0].reason)}
    ]


def test_many_files_show_only_those_with_something_to_say() -> None:
    files = [report(f"/logs/{n}.jsonl") for n in range(60)]
    files.append(report("/logs/odd.txt", source=None, title=None, confidence=0.0, calls=0, lines=None, bytes=None))
    told = found(*files, problems=(Problem("/logs/7.jsonl", 2, "the line is too long"),))
    page = text(told, most=80)
    assert "odd.txt" in page
    assert "  7.jsonl" in page
    assert "  8.jsonl" not in page
    assert "59 files without a problem" in page
    assert "8.jsonl" in text(told, verbose=True, most=80)


def test_sums_only_files_are_no_failure() -> None:
    told, _, _ = loaded(totals_session())
    assert "totals per session, no calls" in text(told, most=80)


@pytest.mark.parametrize("most", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(most: int) -> None:
    long_name = "/home/someone/projects/" + "deeply/nested/" * 8 + "rollout-2026-11-30T15-01-37-01a22cf9-cbfa.jsonl"
    told = found(
        report(long_name), report(f"/logs/{EVIL}.json"), problems=(Problem(long_name, 12, "the file is empty"),)
    )
    page = text(told, most=most, verbose=True)
    assert [line for line in page.splitlines() if cells(line) > most] == []
    assert "\x1b" not in page


#: sentences of the reading layers that a user cannot act on without a word of advice
@pytest.mark.parametrize("name", ["empty.jsonl", "noise.bin", "other.json", "blank.jsonl", "nothing/"])
def test_every_unusable_input_gets_advice(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder = tmp_path_factory.mktemp("logs")
    path = folder / name.rstrip("/")
    if name.endswith("/"):
        path.mkdir()
    else:
        path.write_bytes({"empty.jsonl": b"", "blank.jsonl": b" \n\n", "other.json": b'{"a": [1, 2]}'}.get(
            name, bytes(range(256)) * 8))  # fmt: skip
    told = body(load(Request(paths=[str(path)])))
    assert told["problems"]
    assert told["problems"][0]["advice"], told["problems"][0]["reason"]
