"""Tool calls, results and user messages as :class:`monitor.records.Step`; see :mod:`monitor.readers.step_parse`.

The functions are loaded when the first one is asked for: a status line needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitor.readers.step_parse import SHOWS as SHOWS
    from monitor.readers.step_parse import answer as answer
    from monitor.readers.step_parse import tool_call as tool_call
    from monitor.readers.step_parse import tool_result as tool_result
    from monitor.readers.step_tools import path_hash as path_hash
    from monitor.readers.step_tools import stable_hash as stable_hash
    from monitor.readers.step_user import content_words as content_words
    from monitor.readers.step_user import user as user

__all__ = ["SHOWS", "answer", "content_words", "path_hash", "stable_hash", "tool_call", "tool_result", "user"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from monitor.readers import step_parse, step_user

    for each in __all__:
        globals()[each] = getattr(step_user if each in ("content_words", "user") else step_parse, each)
    return globals()[name]
