"""Sessions of calls that name none: by response chains, by their messages, or by their token counts.

The first that applies (reference: the project's notes on gateway formats, section 7):

1. an explicit id (kept; inside such a session, windows with another system prompt and other tools become subagents);
2. ``previous_response_id``: the session of that response (``chain``);
3. messages: a request that begins with an earlier request belongs to its conversation (``prefix``), also where messages
   were edited in place, rewound, or replaced by a summary (:mod:`monitor.sessions.sessionize_messages`);
4. token counts: cache reads that equal an earlier prompt, and growth (``lane``,
   :mod:`monitor.sessions.sessionize_lanes`).

Pure: the same calls give the same sessions, and a session's name is made of its first call, not of its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from monitor.records import Call, Event
from monitor.sessions.sessionize_lanes import Lanes
from monitor.sessions.sessionize_messages import Conversations, Place

#: ways of forming sessions, for ``--session-by``
WAYS = ("explicit", "chain", "prefix", "lane", "file")
IDLE_MINUTES = 60.0
_replace = msgspec.structs.replace


def assign(
    calls: Sequence[Call],
    options: Any = None,
    *,
    session_by: str | None = None,
    idle_minutes: float = IDLE_MINUTES,
) -> list[Call]:
    """The same calls in the same order, with session, evidence, chain and purpose filled in where they were unknown.

    Args:
        calls: of any number of files; those with an explicit session and no evidence are left alone.
        options: anything with an attribute ``session_by`` (read options), instead of the argument.
        session_by: force one way, also where ids are known: one of :data:`WAYS`.
        idle_minutes: token-only lanes are closed by a longer gap.

    Raises:
        ValueError: ``session_by`` is no known way.
    """
    way = session_by or getattr(options, "session_by", None)
    if way is not None and way not in WAYS:
        raise ValueError(f"sessions cannot be formed by {way!r}: it is one of {', '.join(WAYS)}")
    if way == "explicit":
        return list(calls)
    if way == "file":
        return [_by_file(call) for call in calls]
    out = list(calls)
    order = _in_time(calls)
    conversations = Conversations(calls, forced=way)
    lanes = Lanes(idle_minutes)
    token_only: list[int] = []
    for place in order:
        call = calls[place]
        if way == "lane" or not conversations.takes(call):
            if way == "lane" or (call.session_evidence == "file" and way is None):
                token_only.append(place)
            continue
        conversations.add(place, call)
    for place, found in conversations.finish().items():
        out[place] = _placed(calls[place], found)
    for place, name, side in lanes.run([(place, calls[place]) for place in token_only]):
        call = calls[place]
        if side and call.purpose == "work":
            out[place] = _replace(call, session=name, session_evidence="lane", chain="side", purpose="side")
        else:
            out[place] = _replace(call, session=name, session_evidence="lane")
    return out


def _in_time(calls: Sequence[Call]) -> list[int]:
    """Indexes in time order; a call without a time stays behind the one before it; ties keep their order."""
    last = 0
    keys: list[int] = []
    for call in calls:
        last = call.time if call.time is not None else last
        keys.append(last)
    return sorted(range(len(calls)), key=keys.__getitem__)


def _by_file(call: Call) -> Call:
    name = PurePath(call.file).stem or call.file
    if call.session == name and call.session_evidence == "file":
        return call
    return _replace(call, session=name, session_evidence="file")


def _placed(call: Call, found: Place) -> Call:
    if found.session == call.session and found.evidence == call.session_evidence and found.chain == call.chain:
        return call
    return _replace(call, session=found.session, session_evidence=found.evidence, chain=found.chain)


def relocate(events: Sequence[Event], calls: Sequence[Call]) -> list[Event]:
    """Events moved to the session their call was assigned to.

    Capture readers name an event ``<key of its call>#<what>``; events of other readers stay as they are.

    Args:
        events: as read.
        calls: as :func:`assign` returned them.
    """
    homes = {call.key: call for call in calls if call.key}
    out: list[Event] = []
    for event in events:
        home = homes.get(event.key.rpartition("#")[0])
        if home is None or home.session == event.session:
            out.append(event)
        else:
            chain = home.chain if home.chain != "side" else event.chain
            out.append(_replace(event, session=home.session, chain=chain))
    return out
