"""What to do with a session, by a table a person can read and change, with the numbers behind it.

Use ``monitor.decision.decide(view, now_ms=...)``. Names are loaded when asked for, so that the light ones
(:mod:`monitor.decision.model`) do not pull in the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitor.decision.engine import decide as decide
    from monitor.decision.model import Decision as Decision

__all__ = ["Decision", "decide"]


def __getattr__(name: str) -> Any:
    if name == "decide":
        from monitor.decision.engine import decide

        return decide
    if name == "Decision":
        from monitor.decision.model import Decision

        return Decision
    raise AttributeError(name)
