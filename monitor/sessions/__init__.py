"""Sessions of calls. The package is callable: ``monitor.sessions(calls)`` is :func:`monitor.api.sessions`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class _Callable(ModuleType):
    """A package that can be called, as its name is also that of a function of the public API."""

    def __call__(self, calls: pd.DataFrame, **options: Any) -> pd.DataFrame:
        """As :func:`monitor.api.sessions`."""
        from monitor.api import sessions

        return sessions(calls, **options)


sys.modules[__name__].__class__ = _Callable
