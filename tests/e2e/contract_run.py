"""Running the program in this process, in a home of its own, with what it printed kept apart."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from monitor.cli import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_logs"
#: variables that lead to somebody's logs, settings or colours
OUTSIDE = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
           "XDG_STATE_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE",
           "COLUMNS", "LINES", "PYTHONIOENCODING", "PYTHONUTF8", "CTXMON_CONFIG_DIR", "CTXMON_TRACE",
           "TEXTUAL_DRIVER", "HERMES_HOME")  # fmt: skip


@dataclass
class Done:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Strict JSON: no NaN, nothing before or after it."""
        return json.loads(self.out, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


class _Stdin(io.StringIO):
    """Standard input with bytes behind it, and no terminal."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data.decode("utf-8", "replace"))
        self.buffer = io.BytesIO(data)


def run(*args: str | Path, stdin: bytes = b"") -> Done:
    """``ctxmon ARGS`` in this process."""
    out, err, before = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = _Stdin(stdin)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([str(arg) for arg in args])
            except SystemExit as stop:  # a usage error may end it like that
                code = stop.code if isinstance(stop.code, int) else 1
    finally:
        sys.stdin = before
    return Done(code, out.getvalue(), err.getvalue())


def good(*args: str | Path, stdin: bytes = b"") -> Any:
    """The JSON of a run that has nothing to complain about."""
    done = run(*args, stdin=stdin)
    assert (done.code, done.err) == (0, ""), (args, done.code, done.err)
    return done.json


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a user with an empty home."""
    env = {name: value for name, value in os.environ.items() if name not in OUTSIDE}
    return {**env, "HOME": str(home), "USERPROFILE": str(home), "TZ": "UTC", **more}


def start(*args: str | Path, home: Path, cwd: Path | None = None, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """``ctxmon ARGS`` as a process of its own. ``env``: what is added to the environment."""
    env = environment(home, **more.pop("env", {}))
    env["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-m", "monitor", *map(str, args)]
    return subprocess.run(command, env=env, cwd=cwd or home, capture_output=True, timeout=100, check=False, **more)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without logs, settings and cache, in UTC."""
    place = tmp_path / "home"
    place.mkdir()
    for name in OUTSIDE:
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(place))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(place / name.lower()))
    monkeypatch.setenv("COLUMNS", "110")
    return place
