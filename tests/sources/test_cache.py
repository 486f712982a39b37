"""The cache as a file: where it is, what is found in it, and that several processes can use it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.sources import cache
from monitor.sources.cache import Cache, Packed


def part(*names: str, head: bytes = b"head") -> Packed:
    return Packed([(name, (10, 20, 30)) for name in names], head, [b"turns", b"more"], b"names")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "results.sqlite"


def test_where_it_is() -> None:
    home = Path("/home/me")
    assert cache.folder({"XDG_CACHE_HOME": "/var/c"}, home, "linux") == Path("/var/c/ctxmon")
    assert cache.folder({}, home, "linux") == home / ".cache" / "ctxmon"
    assert cache.folder({}, home, "darwin") == home / "Library" / "Caches" / "ctxmon"
    assert cache.folder({"LOCALAPPDATA": "/local"}, home, "win32") == Path("/local/ctxmon/cache")
    assert cache.folder({}, home, "win32") == home / "AppData" / "Local" / "ctxmon" / "cache"


def test_clear_removes_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.clear() == cache.location()  # nothing is there: fine
    Cache(b"how").put([part("a")], [])
    assert cache.location().exists()
    assert cache.clear() == cache.location()
    assert not cache.location().exists()


def test_a_part_is_found_by_its_files(place: Path) -> None:
    Cache(b"how", place).put([part("a", "b"), part("c", head=b"other")], [])
    found = Cache(b"how", place)
    known = found.known(["a", "c", "d"])
    assert known["a"][1:] == (0, (10, 20, 30))
    assert "d" not in known
    number = known["c"][0]
    assert found.heads([known["a"][0], number]) == {known["a"][0]: (2, b"head"), number: (1, b"other")}
    assert (found.turns(number, 1), found.names([number])) == (b"more", {number: b"names"})
    assert found.turns(number, 2) is None
    assert found.apart([known["a"][0], number])
    assert not found.apart([number])
    # other settings or another program: nothing is known
    assert Cache(b"else", place).known(["a"]) == {}


def test_many_files_are_looked_up_at_once(place: Path) -> None:
    names = [f"f{n}" for n in range(300)]
    Cache(b"how", place).put([part(name, head=name.encode()) for name in names], [])
    found = Cache(b"how", place)
    known = found.known(names[:200])
    heads = found.heads([known[name][0] for name in names[:200]])
    assert {known[name][0]: (1, name.encode()) for name in names[:200]} == heads


def test_a_new_part_takes_the_place_of_those_of_its_files(place: Path) -> None:
    store = Cache(b"how", place)
    store.put([part("a", "b"), part("c")], [])
    old = store.known(["a"])["a"][0]
    store.put([part("b", "c", head=b"new")], [])
    known = store.known(["a", "b", "c"])
    assert "a" not in known
    assert known["b"][0] == known["c"][0] != old
    assert store.heads([old]) == {}
    assert store.turns(old, 0) is None


def test_what_nobody_asks_for_goes_with_time(place: Path) -> None:
    store = Cache(b"how", place)
    store._day = 1_000
    store.put([part("old")], [])
    store._day = 1_050
    assert store.heads([store.known(["old"])["old"][0]])  # asked for: stays
    store.put([part("newer")], [])
    store._day = 1_100
    store.put([part("newest")], [])
    assert set(store.known(["old", "newer", "newest"])) == {"old", "newer", "newest"}
    store._day = 1_111
    store.put([part("last")], [])
    assert set(store.known(["old", "newer", "newest", "last"])) == {"newest", "last"}


def test_too_much_is_dropped(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST", 1_000_000)
    store = Cache(b"how", place)
    store.put([part("a", head=b"x" * 500_000)], [])
    assert "a" in store.known(["a"])
    store.put([part("b", head=b"x" * 800_000)], [])
    assert store.known(["a", "b"]) == {}


def test_code_is_another_after_a_change(tmp_path: Path) -> None:
    (tmp_path / "readers").mkdir()
    module = tmp_path / "readers" / "one.py"
    module.write_text("a = 1\n")
    (tmp_path / "records.py").write_text("b = 1\n")
    before = cache.code(tmp_path, ["readers", "records.py"])
    assert cache.code(tmp_path, ["readers", "records.py"]) == before
    module.write_text("a = 22\n")
    assert cache.code(tmp_path, ["readers", "records.py"]) != before


def test_another_process_is_writing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_PATIENCE", 0.01)
    Cache(b"how", place).put([part("a")], [])
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        waiting = Cache(b"how", place)
        waiting.put([part("b")], [])
        assert (waiting.known(["a"]), waiting.note) == ({}, "")  # not a fault: it goes without
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert set(Cache(b"how", place).known(["a", "b"])) == {"a"}


def test_processes_write_side_by_side(place: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from monitor.sources.cache import Cache, Packed\n"
        "me = sys.argv[2]\n"
        "for n in range(12):\n"
        "    c = Cache(b'how', Path(sys.argv[1]))\n"
        "    c.put([Packed([(f'{me}-{n}', (n, n, n)), (f'all-{n}', (1, 2, 3))], me.encode() * 500, [b''], b'')], [])\n"
        "    assert not c.note, c.note\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(place), name]) for name in ("one", "two", "three")]
    try:
        assert [process.wait(60) for process in running] == [0, 0, 0]
    finally:
        for process in running:
            process.kill()
            process.wait()
    found = Cache(b"how", place)
    known = found.known([f"all-{n}" for n in range(12)])
    assert len(known) == 12
    for number, (count, head) in found.heads([entry[0] for entry in known.values()]).items():
        assert count == 2 and len(set(head)) > 1 and number > 0
    connection = sqlite3.connect(place)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
