"""Heavy work in a process of its own: counting the texts of a session, previewing a compaction.

Both hold a whole conversation and a tokenizer in memory and keep the interpreter busy for seconds. In the dashboard's
own process the memory would stay for the rest of the day and keys would wait; a child gives all of it back.
"""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

#: a child that takes longer (s) is ended
PATIENCE = 300.0
_running: set[subprocess.Popen[bytes]] = set()
_lock = threading.Lock()


class AsideError(Exception):
    """The child failed in a way nobody foresaw; the text is the name of the error."""


def aside(task: Callable[..., T], *words: object) -> T:
    """Call a function of a module in a child process and return what it returns; blocks, so call it in a thread.

    ``words`` and the result are pickled. Raises ValueError with the same text where the function raises ValueError or
    OSError; :class:`AsideError` for everything else. Where no child can be started the function is called right here.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return task(*words)
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(dict.fromkeys([root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]))
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "monitor.dashboard.aside"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
        )
    except OSError:
        return task(*words)
    with _lock:
        _running.add(child)
    try:
        out, _ = child.communicate(pickle.dumps((task.__module__, task.__qualname__, words), 5), timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise AsideError(f"took more than {PATIENCE:.0f} s") from None
    finally:
        with suppress(OSError):
            child.kill()
        child.wait()
        with _lock:
            _running.discard(child)
    try:
        kind, value = pickle.loads(out)
    except Exception:  # it was ended from outside, or ran out of memory
        raise AsideError(f"ended with {child.returncode}") from None
    if kind == "told":
        raise ValueError(value)
    if kind == "failed":
        raise AsideError(value)
    result: T = value
    return result


def stop() -> None:
    """End all children that still run: nobody waits for their results any more."""
    with _lock:
        children = list(_running)
    for child in children:
        with suppress(OSError):
            child.kill()


def main() -> None:
    """The child: a task on stdin, its result on stdout."""
    with suppress(OSError, AttributeError):
        os.nice(10)  # the screen comes first
    out, sys.stdout = sys.stdout.buffer, sys.stderr  # nothing but the result may reach the parent
    answer: tuple[str, Any]
    try:
        module, name, words = pickle.loads(sys.stdin.buffer.read())
        answer = ("result", getattr(importlib.import_module(module), name)(*words))
    except (ValueError, OSError) as error:
        answer = ("told", str(error))
    except Exception as error:
        answer = ("failed", type(error).__name__)
    out.write(pickle.dumps(answer, 5))
    out.flush()


if __name__ == "__main__":
    main()
