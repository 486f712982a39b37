"""With the cache the result is the one without it, whatever happens to the files between two runs."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.records import Call
from monitor.sessions import recall
from monitor.sessions.build import Settings
from monitor.sessions.filter import Wanted
from monitor.sessions.limits import Overrides
from monitor.sessions.load import Request, load
from monitor.sessions.view import Loaded
from monitor.sources import cache
from tests.readers.test_claude_code import answer, line, use

OLD = 1_700_000_000_000_000_001  # a time of change long ago, no whole second


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    monkeypatch.setattr(recall, "WORTH", 0)
    return place / "ctxmon" / "results-1.sqlite"


class Logs:
    """A folder of Claude Code logs whose times of change are set by hand, long ago and never twice the same."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.moment = OLD

    def path(self, name: int) -> Path:
        return self.folder / f"{name}.jsonl"

    def settle(self, name: int) -> None:
        self.moment += 1_000_000_000
        os.utime(self.path(name), ns=(self.moment, self.moment))

    def write(self, name: int, data: bytes, mode: str = "wb") -> None:
        with self.path(name).open(mode) as stream:
            stream.write(data)
        self.settle(name)


def told(number: int, session: int, message: int) -> bytes:
    """A user's message and the answer to it; the same message number is the same call, wherever it stands."""
    name = f"session-{session}"
    rows: list[dict[str, Any]] = [
        line("user", number, message={"role": "user", "content": f"please do {number}"}, sessionId=name),
        answer(
            number + 0.5, f"msg-{message}", use(10 + message, 1000 * message, 50, 7), stop="end_turn", sessionId=name
        ),
    ]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def ask(folder: Path, cached: bool, **more: Any) -> Loaded:
    return load(Request(paths=[str(folder)], cache=cached, **more))


def same(one: Loaded, other: Loaded) -> None:
    assert [view.session for view in one.sessions] == [view.session for view in other.sessions]
    for a, b in zip(one.sessions, other.sessions, strict=True):
        assert a == b
        assert list(a.turns) == list(b.turns)
    assert one.problems == other.problems
    assert one.files == other.files
    assert one.copies == other.copies


MOVES = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "append",
                "append",
                "write",
                "replace",
                "rewrite",
                "swap",
                "cut",
                "delete",
                "touch",
                "break",
                "copy",
                "nothing",
            ]
        ),
        st.integers(0, 3),  # file
        st.integers(0, 2),  # session
        st.integers(1, 6),  # message
        st.booleans(),  # look at the turns, too
    ),
    min_size=1,
    max_size=14,
)


@given(MOVES)
@settings(max_examples=60)
def test_any_change_of_files_is_seen(tmp_path_factory: pytest.TempPathFactory, moves: list[Any]) -> None:
    logs = Logs(tmp_path_factory.mktemp("logs"))
    cache.location().unlink(missing_ok=True)
    for number, (move, name, session, message, look) in enumerate(moves):
        path = logs.path(name)
        row = told(number % 60, session, message)
        if move == "append":
            logs.write(name, row, "ab")
        elif move == "write":
            logs.write(name, row + told(number % 60, session, message + 1))
        elif move == "replace":
            other = logs.folder / "other"
            other.write_bytes(row)
            other.replace(path)
            logs.settle(name)
        elif move == "rewrite" and path.exists():  # other figures, the same size, a later time
            logs.write(name, path.read_bytes().replace(b'"output_tokens": 7', b'"output_tokens": 8'))
        elif move == "swap" and path.exists():  # another file of the same size and time is put in its place
            status, other = path.stat(), logs.folder / "other"
            other.write_bytes(path.read_bytes().replace(b'"output_tokens": 7', b'"output_tokens": 9'))
            os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
            other.replace(path)
        elif move == "cut" and path.exists():
            os.truncate(path, path.stat().st_size * 2 // 3)
            logs.settle(name)
        elif move == "delete":
            path.unlink(missing_ok=True)
        elif move == "touch" and path.exists():
            logs.settle(name)
        elif move == "break":
            logs.write(name, b'{"broken\n', "ab")
        elif move == "copy" and path.exists():
            logs.write((name + 1) % 4, path.read_bytes() + row)
        with_cache = ask(logs.folder, True)
        if look:
            assert all(len(list(view.turns)) == len(view.turns) for view in with_cache.sessions)
        same(with_cache, ask(logs.folder, False))


def test_unchanged_files_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = Logs(tmp_path)
    for name in range(3):
        logs.write(name, told(1, name, 10 * name + 1) + told(2, name, 10 * name + 2))
    first = ask(tmp_path, True)
    read: list[str] = []
    plain = recall.Tail.read

    def watched(tail: recall.Tail, final: bool = False) -> Any:
        read.append(tail.path.name)
        return plain(tail, final)

    monkeypatch.setattr(recall.Tail, "read", watched)
    again = ask(tmp_path, True)
    same(again, first)
    assert read == []
    logs.write(1, told(3, 1, 13), "ab")
    changed = ask(tmp_path, True)
    assert read == ["1.jsonl"]
    assert {view.session: view.sums.calls for view in changed.sessions} == {
        "session-0": 2, "session-1": 3, "session-2": 2
    }  # fmt: skip
    same(changed, ask(tmp_path, False))


def test_files_with_a_call_in_common_are_one_part(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    logs.write(0, told(1, 0, 1) + told(2, 0, 2))
    assert ask(tmp_path, True).sessions[0].sums.calls == 2
    # a resumed copy appears: the call belongs to the first session still, and the copy says so
    logs.write(1, told(1, 1, 1).replace(b"session-1", b"session-9") + told(5, 9, 5))
    both = ask(tmp_path, True)
    assert {view.session: (view.sums.calls, view.inherited_calls) for view in both.sessions} == {
        "session-0": (2, 0),
        "session-9": (1, 1),
    }
    same(ask(tmp_path, True), both)
    # the original is gone: the copy is all there is
    logs.path(0).unlink()
    assert [(view.session, view.sums.calls) for view in ask(tmp_path, True).sessions] == [("session-9", 2)]


def test_parts_seen_apart_are_joined_when_asked_for_together(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    logs.write(0, told(1, 0, 1))
    logs.write(1, told(1, 1, 1) + told(2, 1, 2))
    for name in (0, 1):  # each alone is a session of its own
        alone = load(Request(paths=[str(logs.path(name))], cache=True))
        assert alone.sessions[0].inherited_calls == 0
    same(ask(tmp_path, True), ask(tmp_path, False))
    assert sum(view.inherited_calls for view in ask(tmp_path, True).sessions) == 1


def test_other_settings_are_other_results(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    logs.write(0, told(1, 0, 1))
    assert ask(tmp_path, True).sessions[0].context_limit_source != "user"
    own = Settings(overrides=Overrides({"*": 50_000}))
    assert ask(tmp_path, True, settings=own).sessions[0].context_limit == 50_000
    assert ask(tmp_path, True).sessions[0].context_limit != 50_000


def test_what_is_wanted_is_cut_from_cached_sessions(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    logs.write(0, told(1, 0, 1) + told(30, 0, 2))
    since = Wanted(since=ask(tmp_path, True).sessions[0].turns[1].call.time)
    cut = ask(tmp_path, True, wanted=since)
    assert [turn.call.call_id for turn in cut.sessions[0].turns] == ["msg-2"]
    same(cut, ask(tmp_path, False, wanted=since))


def test_a_file_that_has_just_changed_is_not_kept(tmp_path: Path, own_cache: Path) -> None:
    # its time of change could stay the same if it changed again at once
    logs = Logs(tmp_path)
    logs.path(0).write_bytes(told(1, 0, 1))
    ask(tmp_path, True)
    assert not own_cache.exists() or rows(own_cache, "SELECT count(*) FROM files") == [(0,)]


def rows(place: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(place)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_no_text_of_a_conversation_is_stored(tmp_path: Path, own_cache: Path) -> None:
    logs = Logs(tmp_path)
    secret = "the moon base opens in may"
    ask_for = line("user", 1, message={"role": "user", "content": secret}, sessionId="s")
    content = [
        {"type": "text", "text": secret},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": secret}},
    ]
    said = answer(2, "m", use(1, 2, 3, 4), content=content, sessionId="s")
    logs.write(0, b"".join(json.dumps(row).encode() + b"\n" for row in (ask_for, said)))
    assert ask(tmp_path, True).sessions[0].steps
    data = own_cache.read_bytes()
    assert b"claude-sonnet" in data
    assert not any(word in data for word in (secret.encode(), b"moon base", b"opens in may"))
    assert os.name != "posix" or own_cache.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ["text", "cut", "empty", "other tables", "garbled blobs"])
def test_a_broken_cache_is_ignored_with_a_note(tmp_path: Path, own_cache: Path, damage: str) -> None:
    logs = Logs(tmp_path)
    logs.write(0, told(1, 0, 1) + told(2, 0, 2))
    plain = ask(tmp_path, False)
    same(ask(tmp_path, True), plain)
    if damage == "text":
        own_cache.write_bytes(b"this is no database, whatever its name says\n" * 50)
    elif damage == "cut":
        os.truncate(own_cache, own_cache.stat().st_size // 2 + 100)
    elif damage == "empty":
        own_cache.write_bytes(b"")
    else:
        connection = sqlite3.connect(own_cache)
        if damage == "other tables":
            connection.execute("ALTER TABLE parts RENAME COLUMN head TO body")
        else:
            connection.execute("UPDATE turns SET data = x'c1'")
        connection.commit()
        connection.close()
    request = Request(paths=[str(tmp_path)], cache=True)
    same(load(request), plain)
    assert len(request.notes) <= 1
    if damage in ("text", "other tables"):
        assert "cache" in request.notes[0] and "--no-cache" in request.notes[0]
    same(ask(tmp_path, True), plain)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user who may not write everywhere")
def test_a_cache_that_cannot_be_written_is_ignored(tmp_path: Path, own_cache: Path) -> None:
    logs = Logs(tmp_path)
    logs.write(0, told(1, 0, 1))
    own_cache.parent.parent.chmod(0o500)
    request = Request(paths=[str(tmp_path)], cache=True)
    assert load(request).sessions
    assert len(request.notes) == 1
    own_cache.parent.parent.chmod(0o700)


def test_a_folder_that_is_a_file_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    logs = Logs(tmp_path)
    logs.write(0, told(1, 0, 1))
    blocked = tmp_path_factory.mktemp("blocked") / "file"
    blocked.write_text("x")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    request = Request(paths=[str(tmp_path)], cache=True)
    assert load(request).sessions
    assert len(request.notes) == 1


def test_relative_names_belong_to_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, session in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        Logs(tmp_path / name).write(0, told(1, session, session))
        monkeypatch.chdir(tmp_path / name)
        for _ in range(2):
            found = load(Request(paths=["0.jsonl"], cache=True))
            assert [(view.session, view.files) for view in found.sessions] == [(f"session-{session}", ("0.jsonl",))]


def test_an_unknown_file_is_known_to_be_unknown(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    logs.write(0, b'{"some": "thing"}\n')
    logs.write(1, told(1, 1, 1))
    plain = ask(tmp_path, False)
    for _ in range(2):
        same(ask(tmp_path, True), plain)
    assert plain.problems


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    logs.write(0, told(1, 0, 1) + told(2, 0, 2))
    ask(tmp_path, True)
    view = ask(tmp_path, True).sessions[0]
    assert isinstance(view.turns[0].call, Call)
    assert view.turns[-1] is view.turns[len(view.turns) - 1]
    assert view.turns[:1] == tuple(view.turns)[:1]
    assert [turn.index for turn in reversed(view.turns)] == [1, 0]
    assert isinstance(view.events, tuple) and isinstance(view.steps, tuple)
    assert msgspec.structs.replace(view, version=1) == msgspec.structs.replace(
        ask(tmp_path, False).sessions[0], version=1
    )
