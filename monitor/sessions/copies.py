"""What two captures of one traffic both tell of an answer without an id, and summaries that were not taken.

Both sides of a proxy know an answer by the provider's id (contract.md, "Once"). A refusal, a token count or a stream
that broke off before its first event has none: there the same content that was on its way at the same time is one
request. So are equal figures at the same time in the log of a gateway, which may give answers ids of its own, and in a
capture. Requests of one capture are never copies of each other: a client that asks again asks twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence

from monitor.records import Call, Event
from monitor.sessions.twins import GATEWAYS, TRAFFIC

_OWN = "ctxmon"  # the recorder's digests are made by a rule of its own, those of the other captures by another
_SLACK = 150  # ms by which times of one request differ beyond what the inner side says: clocks and rounding


def copied(calls: Sequence[Call]) -> list[int]:
    """Places of calls that another capture tells as well.

    Args:
        calls: in time order.
    """
    if len({call.file for call in calls}) < 2:
        return []
    alone = _alone(calls)
    bare = [
        place
        for place, call in enumerate(calls)
        if call.time is not None and call.source in TRAFFIC and (call.call_id is None or call.key in alone)
    ]
    known: dict[tuple[object, ...], list[list[int]]] = {}  # by what is equal, those that may still be told again
    twice: list[list[int]] = []
    for place in bare:
        call = calls[place]
        groups = known.setdefault(_sort(call), [])
        groups[:] = [group for group in groups if _start(call) <= _end(calls[group[0]]) + _SLACK]
        near = [group for group in groups if _same(calls, group, call)]
        if near:
            found = min(near, key=lambda group: abs(_start(calls[group[0]]) - _start(call)))
            found.append(place)
            if len(found) == 2:
                twice.append(found)
        else:
            groups.append([place])
    # the one stays that stands among its conversation: captures digest messages by rules of their own
    whole = Counter(call.file for call in calls if call.call_id is not None)
    out: list[int] = []
    for group in twice:
        kept = max(group, key=lambda place: (whole[calls[place].file], -place))
        out += [place for place in group if place != kept]
    gone = set(out)
    return out + _hung_up(calls, [place for place in bare if place not in gone])


def _hung_up(calls: Sequence[Call], bare: Sequence[int]) -> list[int]:
    """Places of requests that one capture saw end without an answer, and another one with it: a client that hung up."""
    lost = [place for place in bare if calls[place].status == "error" and calls[place].prompt_tokens is None]
    if not lost:
        return []
    told: dict[str, set[str]] = {}
    for call in calls:
        if call.call_id is not None and call.key:
            told.setdefault(call.key, set()).add(call.file)
    answered = [one for one in calls if one.call_id is not None and one.time is not None and one.source in TRAFFIC]
    answered.sort(key=_start)
    starts = [_start(one) for one in answered]
    out: list[int] = []
    for place in lost:
        call = calls[place]
        first, last = (bisect_left(starts, _start(call) + apart) for apart in (-_SLACK, _SLACK))
        near = [one for one in answered[first:last] if _asked_alike(one, call)]
        near = [one for one in near if call.file not in told.get(one.key, ())]
        sure = len({one.key for one in near}) == 1 or all(_content(one) == _content(call) != b"" for one in near)
        if near and sure:
            told.setdefault(near[0].key, set()).add(call.file)
            out.append(place)
    return out


def untaken(calls: Sequence[Call], events: Iterable[Event]) -> set[int]:
    """Which inferred compactions did not happen: places among the events.

    A client may discard a summary (an empty one, one that is no smaller): the next request of the conversation then
    repeats all that the last one held, which a compacted context never does.

    Args:
        calls: of the traffic, in time order, with the sessions they were given.
        events: of the same.
    """
    waiting: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for place, event in enumerate(events):
        if event.kind == "compaction" and event.evidence == "inferred" and event.key.endswith("#compaction"):
            waiting.setdefault((event.session, event.chain), []).append((event.time or 0, place))
    out: set[int] = set()
    if not waiting:
        return out
    occupied: dict[tuple[str, str], int] = {}
    for call in calls:
        lane = call.session, call.chain
        if lane not in waiting or not call.works or call.prompt_tokens is None:
            continue
        past = [one for one in waiting[lane] if one[0] <= (call.time or 0)]
        if past:
            waiting[lane] = [one for one in waiting[lane] if one not in past]
            if call.prefix_kept and call.prompt_tokens >= occupied.get(lane, 0):
                out.update(place for _, place in past)
        occupied[lane] = call.prompt_tokens
    return out


def _alone(calls: Sequence[Call]) -> set[str]:
    """Keys that one file alone tells, where a gateway may tell their calls under other ones."""
    if len({call.source in GATEWAYS for call in calls}) < 2:
        return set()
    files: dict[str, str] = {}
    several: set[str] = set()
    for call in calls:
        if call.key and files.setdefault(call.key, call.file) != call.file:
            several.add(call.key)
    return files.keys() - several


def _sort(call: Call) -> tuple[object, ...]:
    """What is equal in every capture of a request."""
    return call.purpose, call.status, _model(call), call.prompt_tokens, call.output_tokens, call.cache_read_tokens or 0


def _same(calls: Sequence[Call], group: Sequence[int], call: Call) -> bool:
    """Whether a call is the request of this group, seen by a capture that has not told it yet."""
    first = calls[group[0]]
    if any(calls[place].file == call.file for place in group):
        return False
    both = (first.source in GATEWAYS) == (call.source in GATEWAYS)
    if both and first.call_id is not None and call.call_id is not None:
        return False  # two ids of one rule
    return _alike(first, call) and _start(call) <= _end(first) + _SLACK and _start(first) <= _end(call) + _SLACK


def _alike(one: Call, other: Call) -> bool:
    """Whether two requests may have the same words."""
    if (one.source == _OWN) != (other.source == _OWN):
        return True
    first, second = _content(one), _content(other)
    return not (first and second) or first == second


def _asked_alike(one: Call, other: Call) -> bool:
    return one.purpose == other.purpose and _model(one) == _model(other) and _alike(one, other)


def _model(call: Call) -> str | None:
    """Gateways put the provider before the model."""
    return call.model.rpartition("/")[2] if call.model else None


def _content(call: Call) -> bytes:
    """Digest of all messages; b"" where the capture holds none."""
    return call.evidence.messages[-8:] if call.evidence is not None else b""


def _start(call: Call) -> int:
    return call.time or 0


def _end(call: Call) -> int:
    return (call.time or 0) + (call.duration_ms or 0)
