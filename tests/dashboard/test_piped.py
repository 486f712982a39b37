"""A log through a pipe says the same as a file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from monitor.dashboard.piped import PipedLog
from monitor.readers.base import DEFAULT_OPTIONS
from monitor.records import Call, Problem
from monitor.sessions.store import Store
from monitor.sources.files import read_bytes
from tests.dashboard.claude_log import write_log

BEGIN = datetime(2026, 5, 28, 20, 0, 0, tzinfo=UTC)
LOGS = Path(__file__).resolve().parents[2] / "sample_logs"


class Pipe:
    """Stands for a pipe: bytes come when the test says so."""

    def __init__(self) -> None:
        self.held = b""
        self.ended = False

    def data(self) -> bytes:
        return self.held if self.ended else self.held[: self.held.rfind(b"\n") + 1]

    def take(self) -> bytes:
        out = self.data()
        self.held = self.held[len(out) :]
        return out


def _log(pipe: Pipe) -> PipedLog:
    return PipedLog(pipe, DEFAULT_OPTIONS)  # type: ignore[arg-type]


def _through_a_pipe(data: bytes, size: int) -> tuple[Store, Pipe]:
    pipe, store = Pipe(), Store()
    log = _log(pipe)
    for begin in range(0, len(data), size):
        pipe.held += data[begin : begin + size]
        if (batch := log.poll()) is not None:
            store.apply(batch)
    pipe.ended = True
    while (batch := log.poll()) is not None:
        store.apply(batch)
    return store, pipe


@pytest.mark.parametrize("size", [700, 40_000, 10_000_000])
@pytest.mark.parametrize(
    "pattern", ["claude-code/projects/*/*.jsonl", "codex/sessions/*/*/*/*.jsonl", "new-api/*.json"]
)
def test_in_any_pieces_it_says_what_the_whole_says(pattern: str, size: int) -> None:
    data = next(LOGS.glob(pattern)).read_bytes()
    whole = Store()
    whole.apply(read_bytes("stdin", data)[0])
    store, pipe = _through_a_pipe(data, size)
    (expected,), (found,) = whole.views(), store.views()
    assert list(found.turns) == list(expected.turns) and found.events == expected.events
    assert store.problems() == whole.problems()
    if pattern.endswith("jsonl") and size < len(data):
        assert pipe.held == b""  # nothing that was read is kept


def test_a_pipe_that_breaks_in_a_line_and_one_that_ends_without_line_feed(tmp_path: Path) -> None:
    write_log(tmp_path / "s.jsonl", 3, BEGIN)
    data = (tmp_path / "s.jsonl").read_bytes()
    for cut, calls in ((len(data) - 1, 3), (len(data) - 20, 2)):
        pipe = Pipe()
        log = _log(pipe)
        pipe.held = data[: data.rfind(b"\n", 0, -1) + 1]
        first = log.poll()
        assert first is not None and first.replace
        pipe.held += data[len(data) - len(data.splitlines(True)[-1]) : cut]
        assert log.poll() is None and log.loading
        pipe.ended = True
        rest = log.poll()
        told = [*first.records, *(rest.records if rest is not None else [])]
        assert sum(isinstance(record, Call) for record in told) == calls
        assert not log.loading and log.poll() is None


def test_what_nobody_knows_is_a_problem() -> None:
    pipe = Pipe()
    log = _log(pipe)
    assert log.poll() is None
    pipe.held = json.dumps({"a": 1}).encode() + b"\n"
    batch = log.poll()
    assert batch is not None and isinstance(batch.records[0], Problem)
    assert log.poll() is None
