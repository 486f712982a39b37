"""Standard output and error of the program, from its first word to the end of its process. Loads nothing."""

from __future__ import annotations

import errno
import os
import sys

_WRITING = {errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF, errno.ENXIO, errno.EPIPE,
            getattr(errno, "EDQUOT", errno.ENOSPC)}  # fmt: skip
if os.name == "nt":
    _WRITING.add(errno.EINVAL)  # what a closed pipe is there; elsewhere it is said of odd values


def prepare() -> None:
    """Windows consoles and pipes in the C locale: write UTF-8, never fail on a character. A stream that the caller
    closed (``>&-``) takes everything and keeps nothing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the life of the process
            continue
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            try:
                reconfigure(encoding="utf-8", errors="replace")
            except (OSError, ValueError):
                pass


def quiet() -> None:
    """The reader of our output went away (``| head``): nothing more to say, and no complaint at exit."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError):
        pass


def refused(error: Exception) -> bool:
    """Whether it is standard output that could not be written: a full disk, a device that is gone, a closed pipe.

    Commands write their own files with their name in the error, so an error without one is of a stream.
    """
    return isinstance(error, OSError) and error.filename is None and error.errno in _WRITING


def unwritable(command: str, error: OSError) -> int:
    """Say that standard output cannot be written. Returns the exit code."""
    quiet()
    if isinstance(error, BrokenPipeError):
        return 0
    program = f"ctxmon {command}" if command else "ctxmon"
    print(f"{program}: standard output cannot be written ({error.strerror})", file=sys.stderr)
    return 1


def finish(code: int) -> None:
    """End the process, or return where something still waits to be ended in its turn.

    Nobody needs the interpreter to be taken apart, which is a tenth of a short command's time.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        code = unwritable("", error) or code
    except ValueError:  # somebody closed it
        pass
    atexit, threading = sys.modules.get("atexit"), sys.modules.get("threading")
    waiting = atexit._ncallbacks() if atexit is not None and hasattr(atexit, "_ncallbacks") else 0
    if waiting or (threading is not None and threading.active_count() > 1) or sys.flags.interactive or sys.gettrace():
        raise SystemExit(code)
    try:
        sys.stderr.flush()
    finally:
        os._exit(code)
