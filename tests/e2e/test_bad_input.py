"""Input that cannot be used: one clear sentence each on stderr, the other inputs still count, exit codes as promised.

The real command runs in a process of its own, so what is asserted is what a user sees.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dashboard.claude_log import write_log
from tests.sources.test_files import row

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = (["report"], ["calls"], ["decide"], ["watch"], ["backtest"])


def ctxmon(*words: str, home: Path, script: str | None = None, **options: object) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HOME": str(home), "USERPROFILE": str(home), "PYTHONPATH": str(ROOT), "TZ": "UTC"}
    env.pop("NO_COLOR", None)
    start = ["-m", "monitor"] if script is None else ["-c", script]
    return subprocess.run(
        [sys.executable, *start, *words], env=env, cwd=home, capture_output=True, text=True, encoding="utf-8",
        timeout=60, check=False, **options,  # type: ignore[call-overload]
    )  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def make(folder: Path, kind: str) -> Path:
    """An input of this kind."""
    path = folder / {
        "missing": "missing.jsonl", "empty": "empty.jsonl", "binary": "noise.bin", "unknown": "notes.json",
        "no logs": "pictures", "no usage": "chat.jsonl",
    }[kind]  # fmt: skip
    if kind == "empty":
        path.touch()
    elif kind == "binary":
        path.write_bytes(bytes(range(256)) * 40)
    elif kind == "unknown":
        path.write_text('{"shopping": ["bread", "milk"]}', encoding="utf-8")
    elif kind == "no logs":
        path.mkdir()
        (path / "cat.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    elif kind == "no usage":
        rows = [{"type": "user", "sessionId": "s", "uuid": f"u{n}", "parentUuid": None, "cwd": "/x", "version": "2.1.0",
                 "timestamp": "2026-04-10T08:00:00.000Z", "isSidechain": False,
                 "message": {"role": "user", "content": "hello"}} for n in range(3)]  # fmt: skip
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


SENTENCES = {
    "missing": "there is no such file or folder",
    "empty": "the file is empty",
    "binary": "binary file of no known format",
    "unknown": "the format of this file is not known",
    "no logs": "this folder holds no log files",
    "no usage": "there is no usage in this file",
}


def told(err: str, path: Path) -> str:
    """The one line on stderr that names a file."""
    lines = [line for line in err.splitlines() if str(path) in line]
    assert len(lines) == 1, err
    return lines[0]


@pytest.mark.parametrize("kind", SENTENCES)
def test_one_sentence_and_the_others_still_count(kind: str, home: Path, tmp_path: Path) -> None:
    bad, good = make(tmp_path, kind), tmp_path / "good.jsonl"
    write_log(good, 5)
    done = ctxmon("calls", str(bad), str(good), "--format", "json", home=home)
    assert done.returncode == 0
    assert SENTENCES[kind] in told(done.stderr, bad)
    body = json.loads(done.stdout)
    assert [call["prompt_tokens"] for call in body["calls"]] == [20_000, 21_000, 22_000, 23_000, 24_000]
    assert [problem["file"] for problem in body["problems"]] == [str(bad)]


@pytest.mark.parametrize("kind", SENTENCES)
def test_alone_it_is_nothing_usable(kind: str, home: Path, tmp_path: Path) -> None:
    bad = make(tmp_path, kind)
    done = ctxmon("report", str(bad), home=home)
    assert done.returncode == 3
    assert SENTENCES[kind] in told(done.stderr, bad)
    assert "Traceback" not in done.stderr + done.stdout
    assert "a fault of the program" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_every_command_tells_it_the_same_way(command: list[str], home: Path, tmp_path: Path) -> None:
    bad = make(tmp_path, "empty")
    done = ctxmon(*command, str(bad), home=home)
    assert done.returncode == 3
    assert "the file is empty" in told(done.stderr, bad)


def test_all_at_once(home: Path, tmp_path: Path) -> None:
    bad = [make(tmp_path, kind) for kind in SENTENCES]
    good = tmp_path / "good.jsonl"
    write_log(good, 2)
    done = ctxmon("report", *map(str, bad), str(good), home=home)
    assert done.returncode == 0
    for path, sentence in zip(bad, SENTENCES.values()):
        assert sentence in told(done.stderr, path)
    assert "6 problems while reading" in done.stdout
    quiet = ctxmon("report", *map(str, bad), str(good), "-q", home=home)
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_standard_input_that_is_empty_or_no_log(home: Path) -> None:
    nothing = ctxmon("calls", "-", home=home, input="")
    assert nothing.returncode == 3
    assert nothing.stderr.splitlines() == ["stdin: the input is empty"]
    words = ctxmon("calls", "-", home=home, input="good morning\n")
    assert words.returncode == 3
    assert words.stderr.startswith("stdin: no usage was found")


def test_no_path_and_no_agent_on_this_machine(home: Path) -> None:
    done = ctxmon("report", home=home)
    assert done.returncode == 3
    assert "no agent's log folder was found on this machine; name a file or folder to read" in done.stderr


def test_a_pattern_that_matches_nothing(home: Path, tmp_path: Path) -> None:
    done = ctxmon("calls", str(tmp_path / "*.jsonl"), home=home)
    assert done.returncode == 3
    assert "no file matches this pattern" in done.stderr


#: permission bits do not bind root, so the refusal of the operating system is put in its place
_REFUSED = """
import builtins, io, os, sys
from pathlib import Path
real_open, real_io = Path.open, io.FileIO
def refused(path):
    return os.path.basename(os.fspath(path)) == "locked.jsonl" if isinstance(path, (str, os.PathLike)) else False
def path_open(self, *args, **facts):
    if refused(self):
        raise PermissionError(13, "Permission denied", str(self))
    return real_open(self, *args, **facts)
class File(io.FileIO):
    def __init__(self, file, *args, **facts):
        if refused(file):
            raise PermissionError(13, "Permission denied", str(file))
        super().__init__(file, *args, **facts)
real_builtin = builtins.open
def any_open(file, *args, **facts):
    if refused(file):
        raise PermissionError(13, "Permission denied", str(file))
    return real_builtin(file, *args, **facts)
builtins.open = any_open
Path.open = path_open
io.FileIO = File
from monitor.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_file_that_may_not_be_read(home: Path, tmp_path: Path) -> None:
    locked, good = tmp_path / "locked.jsonl", tmp_path / "good.jsonl"
    write_log(locked, 3)
    write_log(good, 2)
    done = ctxmon("calls", str(locked), str(good), "--format", "ndjson", "--no-cache", home=home, script=_REFUSED)
    assert done.returncode == 0
    assert "permission denied" in told(done.stderr, locked)
    assert len(done.stdout.splitlines()) == 2
    alone = ctxmon("calls", str(locked), "--no-cache", home=home, script=_REFUSED)
    assert alone.returncode == 3


#: the file loses its second half between being opened and being read
_TRUNCATED = """
import os, sys
from monitor.sources import files
real = files.Tail._feed
def cut(self, stream, final):
    if self.path.name == "shrinking.jsonl":
        os.truncate(self.path, os.stat(self.path).st_size // 2 - 40)
    return real(self, stream, final)
files.Tail._feed = cut
from monitor.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be cut there")
def test_a_file_cut_while_it_is_read(home: Path, tmp_path: Path) -> None:
    shrinking, good = tmp_path / "shrinking.jsonl", tmp_path / "good.jsonl"
    write_log(shrinking, 4_000)  # larger than what is read ahead
    good.write_bytes(row(1) + row(2))
    done = ctxmon("calls", str(shrinking), str(good), "--format", "ndjson", "--no-cache", home=home, script=_TRUNCATED)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    calls = [json.loads(line) for line in done.stdout.splitlines()]
    kept = [call for call in calls if call["file"] == str(shrinking)]
    assert 0 < len(kept) < 4_000
    assert [call["prompt_tokens"] for call in kept] == [20_000 + 1_000 * n for n in range(len(kept))]
    assert len(calls) - len(kept) == 2


def test_folders_that_lead_to_themselves_end(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_log(folder / "good.jsonl", 2)
    try:
        (folder / "again").symlink_to(folder, target_is_directory=True)
    except OSError:
        pytest.skip("no symbolic links here")
    done = ctxmon("calls", str(folder), "--format", "ndjson", home=home)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2


def test_a_reader_that_goes_away_is_no_failure(home: Path, tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    write_log(log, 3_000)
    env = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "monitor", "calls", str(log), "--format", "ndjson"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read().decode()
        assert process.wait(30) == 0
    assert err == ""
