"""What the dashboard remembers between runs: numbers and the view, never a word of a log.

One small JSON file in the user's state folder. A file that is missing, broken or not writable is no reason to say
anything: the dashboard then starts as it does the first time.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import msgspec

from monitor.dashboard.model import scale


class ViewState(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The remembered view."""

    theme: str = ""
    session: str = ""
    panel: str = "decision"
    sort: str = "activity"
    turn_sort: str = "turn"
    share: bool = False
    scale: str = scale.AUTO
    level: int | None = None
    follow: bool = True


def state_file() -> Path:
    """Where the state lives: ``$XDG_STATE_HOME``, the platform's folder, or ``~/.local/state``."""
    if base := os.environ.get("XDG_STATE_HOME"):
        folder = Path(base)
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        folder = Path.home() / ".local" / "state"
    return folder / "ctxmon" / "dashboard.json"


def load(path: Path | None) -> ViewState:
    """The state in ``path``, or the first state if there is none that can be read."""
    if path is None:
        return ViewState()
    try:
        state = msgspec.json.decode(path.read_bytes(), type=ViewState)
    except (OSError, msgspec.MsgspecError, RuntimeError):
        return ViewState()
    if state.scale not in scale.MODES:
        state.scale = scale.AUTO
    if state.level is not None and not (0 < abs(state.level) <= 1 << 20):
        state.level = None
    return state


def save(path: Path | None, state: ViewState) -> None:
    """Write the state beside its place and move it there, so that two dashboards never leave half a file."""
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".dashboard-")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(msgspec.json.encode(state))
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
