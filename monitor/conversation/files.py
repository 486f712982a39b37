"""Writing results: beside the input, never over it, all or nothing."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from monitor.conversation.model import ConversationError


def default_output(source: str | Path, word: str) -> Path:
    """``NAME.word.EXT`` beside the input (for stdin: in the working directory)."""
    path = Path(source) if str(source) != "-" else Path("conversation.json")
    return path.with_name(f"{path.stem}.{word}{path.suffix}")


def write_new(path: str | Path, data: bytes, *, source: str | Path | None = None, force: bool = False) -> None:
    """Write ``data`` to ``path`` by a temporary file beside it that is moved into place.

    Raises ConversationError: the output is the input, exists already (without ``force``), or cannot be written; then
    nothing is left behind.
    """
    target = Path(path)
    if source is not None and str(source) != "-" and _same(target, Path(source)):
        raise ConversationError("is the input; the input is never overwritten, choose another output", str(target))
    if target.exists() and not force:
        raise ConversationError("exists already; --force overwrites it", str(target))
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).chmod(0o644 if not target.exists() else target.stat().st_mode & 0o777)
        Path(temporary).replace(target)
        temporary = ""
    except OSError as err:
        raise ConversationError(f"cannot be written ({err.strerror or err})", str(target)) from None
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def _same(a: Path, b: Path) -> bool:
    try:
        return a.exists() and b.exists() and a.samefile(b)
    except OSError:
        return a.absolute() == b.absolute()
