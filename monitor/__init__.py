"""ctxmon: how an agent's context grows call by call, why the cache was missed, and when to compact.

For Python: :func:`monitor.load` gives calls as a data frame, ``monitor.sessions(calls)`` sessions (:mod:`monitor.api`).
Neither these nor pandas are imported before they are used.
"""

from __future__ import annotations

from monitor._version import __version__

TYPE_CHECKING = False  # as in typing, which `--help` need not wait for
if TYPE_CHECKING:
    from typing import Any

    from monitor.api import load as load

__all__ = ["__version__", "load", "sessions"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "load":
        return import_module("monitor.api").load
    if name == "sessions":
        return import_module("monitor.sessions")
    raise AttributeError(f"module 'monitor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
