"""Real processes: pipes, terminals, signals, locales and odd file names."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.contract_logs import LOGS, PLANTED
from tests.e2e.contract_run import ROOT, SAMPLES, environment, home, start  # noqa: F401

posix = pytest.mark.skipif(os.name == "nt", reason="signals and pseudo terminals are those of POSIX")
_INK = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def cc(tmp_path: Path) -> str:
    return LOGS["claude-code"](tmp_path / "cc").paths[0]


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "monitor", *args]


@contextmanager
def started(args: list[str], **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does not outlive its test, whatever fails."""
    with subprocess.Popen(args, **how) as child:
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()


def on_terminal(*args: str, place: Path, **env: str) -> tuple[int, str]:
    """Run with a pseudo terminal as stdin, stdout and stderr; (exit code, what stood on it)."""
    import pty

    ours, theirs = pty.openpty()
    seen = b""
    limit = time.monotonic() + 60
    with started(
        command(*args), stdin=theirs, stdout=theirs, stderr=theirs, cwd=place, start_new_session=True,
        env=environment(place, PYTHONPATH=str(ROOT), **{"TERM": "xterm-256color", **env}),
    ) as child:  # fmt: skip
        os.close(theirs)
        while time.monotonic() < limit:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # the other side is closed
                    break
                if not part:
                    break
                seen += part
            elif child.poll() is not None:
                break
        os.close(ours)
        return child.wait(30), seen.decode("utf-8").replace("\r\n", "\n")


# ----------------------------------------------------------------------------------------------------------- pipes
def test_a_process_ends_with_the_code_and_streams_of_the_contract(cc: str, home: Path) -> None:  # noqa: F811
    done = start("calls", cc, "none.jsonl", "--format", "json", home=home)
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["calls"]) == 6
    assert done.stderr.decode().count("\n") == 1
    assert start("calls", "none.jsonl", home=home).returncode == 3
    assert start("calls", "--format", "xml", home=home).returncode == 2
    quiet = start("report", cc, home=home)
    assert (quiet.returncode, quiet.stderr) == (0, b"")
    piped = start("calls", "-", "--format", "json", home=home, input=Path(cc, "-home-dev-shop").joinpath(
        "cc-7f3a.jsonl").read_bytes())  # fmt: skip
    assert len(json.loads(piped.stdout)["calls"]) == 5


@posix
@pytest.mark.parametrize("args", [["calls", "--format", "json"], ["calls"], ["report", "--format", "html"], ["prices"]])
def test_a_reader_that_goes_away_is_no_complaint(args: list[str], home: Path) -> None:  # noqa: F811
    """`ctxmon … | head -c 10`"""
    paths = [] if args == ["prices"] else [str(SAMPLES)]
    with started(
        command(*args, *paths), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(home, PYTHONPATH=str(ROOT)),
    ) as child:  # fmt: skip
        assert child.stdout is not None and child.stderr is not None
        child.stdout.read(10)
        child.stdout.close()
        told = child.stderr.read()
        assert (child.wait(60), told) == (0, b"")


@posix
def test_ctrl_c_is_130_without_a_trace(cc: str, home: Path) -> None:  # noqa: F811
    with started(
        command("decide", cc, "--watch"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(home, PYTHONPATH=str(ROOT)),
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline()  # the first advice: it is at work
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (130, b"", b"")


# ------------------------------------------------------------------------------------------------------- terminals
@posix
def test_colour_only_on_a_terminal_and_not_where_it_is_unwanted(cc: str, home: Path) -> None:  # noqa: F811
    code, coloured = on_terminal("report", cc, place=home)
    assert code == 0
    assert "\x1b[" in coloured
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, plain = on_terminal("report", cc, place=home, **env)
        assert code == 0
        assert "\x1b" not in plain
        assert "ctxmon report" in plain
    assert b"\x1b" not in start("report", cc, home=home).stdout


@posix
@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("name", ["report", "calls", "doctor", "prices"])
def test_lines_keep_to_the_width_of_the_terminal(name: str, columns: int, home: Path) -> None:  # noqa: F811
    paths = ["--model", "claude-*"] if name == "prices" else [str(SAMPLES)]
    code, seen = on_terminal(name, *paths, place=home, COLUMNS=str(columns))
    assert code == 0
    # how far a long reading is stands on the line before it is written over
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in _INK.sub("", seen).split("\n")]
    too_long = [line for line in lines if len(line) > columns]
    assert not too_long


@posix
def test_the_dashboard_opens_on_a_terminal_and_q_ends_it(cc: str, home: Path) -> None:  # noqa: F811
    import pty

    ours, theirs = pty.openpty()
    seen, asked, limit = b"", False, time.monotonic() + 60
    with started(
        command(cc), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env=environment(home, PYTHONPATH=str(ROOT), TERM="xterm-256color", COLUMNS="100", LINES="30"),
    ) as child:  # fmt: skip
        os.close(theirs)
        while time.monotonic() < limit and child.poll() is None:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    seen += os.read(ours, 65536)
                except OSError:
                    break
            if not asked and b"Prompt tokens per turn" in seen:
                os.write(ours, b"q")
                asked = True
        assert child.wait(30) == 0
    os.close(ours)
    assert asked
    # the terminal is given back: alternate screen left, cursor shown
    assert b"\x1b[?1049l" in seen and seen.rfind(b"\x1b[?25h") > seen.rfind(b"\x1b[?25l")
    left = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert not [word for word in PLANTED for data in (seen, *left) if word.encode() in data]


def test_progress_and_notes_are_not_for_pipes(home: Path) -> None:  # noqa: F811
    """stdout is a pipe, stderr too: nothing but the result."""
    for name in ("calls", "report", "backtest", "doctor"):
        assert start(name, str(SAMPLES), home=home).stderr == b""


# -------------------------------------------------------------------------------------------------- locales, names
@posix
@pytest.mark.parametrize("name", ["report", "calls", "decide", "doctor", "backtest"])
def test_utf_8_in_a_c_locale(name: str, tmp_path: Path, home: Path) -> None:  # noqa: F811
    folder = tmp_path / "Bücher 日本"
    LOGS["claude-code"](folder)
    done = start(name, str(folder), home=home, env={"LC_ALL": "C", "LANG": "C"})
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode("utf-8")
    if name != "decide":
        assert any(ord(char) > 127 for char in text)
    assert "\ufffd" not in text
    if name == "doctor":
        assert "Bücher 日本" in text
    # a Python that takes the locale at its word: the output is UTF-8 all the same
    strict = {"LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = start(name, str(folder), home=home, env=strict)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode("utf-8")


@pytest.mark.parametrize(
    "name", ["mit Leerzeichen.jsonl", "größe ñ.jsonl", "日志.jsonl", "a'b.jsonl", "100%.jsonl", "[x].jsonl", "🐙.jsonl"]
)
def test_file_names_of_all_kinds(name: str, tmp_path: Path, home: Path) -> None:  # noqa: F811
    log = LOGS["claude-code"](tmp_path / "cc")
    path = tmp_path / name
    Path(log.calls[0]["file"]).rename(path)
    done = start("calls", str(path), "--format", "json", home=home)
    assert (done.returncode, done.stderr) == (0, b"")
    calls = json.loads(done.stdout)["calls"]
    assert {call["file"] for call in calls} == {str(path)}
    assert start("report", str(path), home=home).returncode == 0
    relative = start("calls", name, "--format", "ndjson", home=home, cwd=tmp_path)
    assert {json.loads(line)["file"] for line in relative.stdout.splitlines()} == {name}


@posix
def test_a_name_that_is_no_unicode(tmp_path: Path, home: Path) -> None:  # noqa: F811
    log = LOGS["claude-code"](tmp_path / "cc")
    path = os.fsencode(tmp_path) + b"/caf\xe9.jsonl"
    try:
        os.rename(log.calls[0]["file"], path)
    except OSError:
        pytest.skip("this file system wants Unicode names")
    for form in ("json", "ndjson", "csv", "table"):
        done = subprocess.run(
            [*command("calls"), path, "--format", form], env=environment(home, PYTHONPATH=str(ROOT)),
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b""), form
        assert b"22020" in done.stdout or form == "table"


@pytest.mark.parametrize("name", ["calls", "report", ""])
def test_a_leading_dash_after_two_dashes(name: str, tmp_path: Path, home: Path) -> None:  # noqa: F811
    log = LOGS["claude-code"](tmp_path / "cc")
    Path(log.calls[0]["file"]).rename(tmp_path / "-odd.jsonl")
    done = start(*([name] if name else []), "--", "-odd.jsonl", home=home, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"cc-7f3a" in done.stdout
