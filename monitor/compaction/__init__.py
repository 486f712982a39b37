"""Compaction of conversations: cut, state summary, summarizer, proof.

The public part, for one's own agent: :func:`compact`, :func:`acompact`, :class:`Compactor`, :class:`Compaction`,
:class:`CompactionError`; :func:`endpoint_of` makes the address of a model that writes summaries.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitor.compaction.agent import Compaction, Compactor, acompact, compact
    from monitor.compaction.options import CompactionError, Options
    from monitor.compaction.summarizer import Endpoint, endpoint_of

__all__ = ["Compaction", "CompactionError", "Compactor", "Endpoint", "Options", "acompact", "compact", "endpoint_of"]
_HOME = {
    "Compaction": "agent",
    "Compactor": "agent",
    "acompact": "agent",
    "compact": "agent",
    "CompactionError": "options",
    "Options": "options",
    "Endpoint": "summarizer",
    "endpoint_of": "summarizer",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
