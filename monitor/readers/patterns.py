"""Regular expressions that are compiled when they are first used: most runs need few of them."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class Lazy:
    """Stands for ``re.compile(pattern, flags)``; its methods are those of the compiled pattern."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, value)  # found at once the next time
        return value


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As ``re.compile``, for patterns of which only the methods are used."""
    return cast("re.Pattern[AnyStr]", Lazy(pattern, flags))
