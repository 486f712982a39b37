"""Requests beside the conversation in sessions whose log names the session and tells nothing of what a call was for.

Gateways and tables name a session and list all its requests alike: titles, routing and checks that a client sends to a
small model stand between the turns. They are no turns, and no switch of the model to and fro. Where sessions are formed
by token counts the same is decided in :mod:`monitor.sessions.sessionize_lanes`, by the same figures.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from monitor.records import Call, Event
from monitor.sessions.chain import Chain, later, same_model

#: tokens: titles, routing and checks are smaller than an agent's system prompt
SMALL = 2_000
#: how much larger the conversation beside a side call is
TIMES = 4
#: so many records are looked at for the next turn of the conversation
_REACH = 8


def aside(chain: Chain, call: Call, records: Sequence[Call | Event], place: int) -> Call | None:
    """The side call that a small call of another model is; None for a turn of the conversation.

    Args:
        chain: as it was before the call.
        records: of the session, in order.
        place: of the call among them.
    """
    prompt = call.prompt_tokens
    if prompt is None or prompt >= SMALL or call.chain != "main" or call.session_evidence != "explicit":
        return None
    if call.exchange is not None or call.has_bodies:  # the log tells more, and its reader has judged by that
        return None
    ahead = next((c for c in later(records, place, call.chain, _REACH) if (c.prompt_tokens or 0) >= SMALL), None)
    if ahead is not None and (same_model(ahead.model, call.model) or (ahead.prompt_tokens or 0) < TIMES * prompt):
        return None  # the conversation goes on with this model
    before = chain.expected
    if before is None and ahead is None:
        return None
    if before is not None and (before < TIMES * prompt or same_model(chain.model, call.model)):
        return None
    return replace(call, chain="side", purpose="side")
