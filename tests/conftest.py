"""Settings of all tests: property tests draw the same examples on every run, so that a failure can be repeated.

CTXMON_EXPLORE=1 draws new ones. No test sees the logs, settings or cache of who runs them: all have a home of their own.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["tests.postgres"]

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("CTXMON_EXPLORE") else "repeatable")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in the background by a script: what the tests start would ignore Ctrl+C as well
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: variables that move a folder of an agent or of the program away from the home
_ELSEWHERE = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "HERMES_HOME", "GOOSE_PATH_ROOT",
              "CTXMON_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "APPDATA",
              "LOCALAPPDATA")  # fmt: skip
_home = Path(tempfile.mkdtemp(prefix="ctxmon-home-"))
for _name in _ELSEWHERE:
    os.environ.pop(_name, None)
os.environ.update({"HOME": str(_home), "USERPROFILE": str(_home)})


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(_home, ignore_errors=True)
