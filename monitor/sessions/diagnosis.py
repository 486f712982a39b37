"""Which part of a request is no longer what it was, where the bodies of both requests were read.

A provider's cache reads a request from its beginning: tool definitions, system prompt, messages. The first block that
differs ends what can be read. Bodies are compared by the hashes that readers keep (:class:`~monitor.records.Evidence`);
no text is needed. How deep the change lies is an estimate, made of the prompts of earlier calls of the same window:
each of them tells how many tokens its number of messages took.
"""

from __future__ import annotations

from collections.abc import Iterable

from monitor.records import Call, Evidence
from monitor.sessions.view import PrefixChange, Turn

_HASH = 8
#: readers keep the hashes of so many messages; of a longer request the first ones are gone
_KEPT = 1024
_LOOK_BACK = 200


def explain(turn: Turn, previous: Turn, earlier: Iterable[Turn] = ()) -> PrefixChange | None:
    """What changed between two calls of a chain.

    Args:
        turn: the call that read less than was there.
        previous: the work call before it in its chain.
        earlier: calls of the session, in order of time; those of the same window tell how deep the change lies.

    Returns:
        None if bodies are missing, or if the request repeats the previous one whole (its last message may have grown).
    """
    same = (t.call for t in earlier if t.window == previous.window and t.call.chain == previous.call.chain)
    return change(turn.call, previous.call, same)


def change(call: Call, previous: Call, earlier: Iterable[Call] = ()) -> PrefixChange | None:
    """The same for calls; ``earlier`` holds calls of the window only."""
    now, before = call.evidence, previous.evidence
    if now is None or before is None or not now.message_ids or not before.message_ids:
        return PrefixChange("history") if call.prefix_kept is False else None
    if now.tools != before.tools:
        return PrefixChange("tools", None, 0)
    if now.system != before.system:
        return PrefixChange("system", None, call.cache_read_tokens or None)
    place = _first_other(now, before)
    if place is None:
        # a mark, an id or a reminder inside a message: the whole is another one, what is hashed of it is not
        return PrefixChange("history") if call.prefix_kept is False else None
    if place < 0:
        return PrefixChange("history", None, call.cache_read_tokens or None)
    return PrefixChange("history", place, _depth(place, call, previous, earlier))


def _first_other(now: Evidence, before: Evidence) -> int | None:
    """Index of the first message of the previous request that is not repeated; None: all are, -1: not known which.

    The last message may have grown, so it is not compared.
    """
    old, new = before.message_ids, now.message_ids
    if len(old) >= _KEPT * _HASH or len(new) >= _KEPT * _HASH:
        # only the last ones were kept: the rolling hash of the previous request tells whether all of it is there
        last = before.messages[-2 * _HASH : -_HASH] or before.messages[-_HASH:]
        places = range(0, len(now.messages), _HASH)
        return None if any(now.messages[at : at + _HASH] == last for at in places) else -1
    compared = max(1, len(old) // _HASH - 1)
    if new.startswith(old[: compared * _HASH]):
        return None
    for place in range(compared):
        at = place * _HASH
        if old[at : at + _HASH] != new[at : at + _HASH]:
            return place
    return None


def _depth(place: int, call: Call, previous: Call, earlier: Iterable[Call]) -> int | None:
    """Tokens in front of message ``place``: between the prompts of calls with fewer and with more messages."""
    if call.cache_read_tokens:
        return call.cache_read_tokens  # what the provider itself still found
    sizes: dict[int, int] = {}
    for one in (*list(earlier)[-_LOOK_BACK:], previous):
        if one.evidence is not None and one.prompt_tokens is not None and one.purpose == "work":
            sizes.setdefault(len(one.evidence.message_ids) // _HASH, one.prompt_tokens)
    known = sorted(sizes.items())
    if len(known) < 2:
        return None
    low = max((entry for entry in known if entry[0] <= place), default=known[0])
    high = min((entry for entry in known if entry[0] > low[0]), default=known[-1])
    if low == high:
        return low[1]
    each = (high[1] - low[1]) / (high[0] - low[0])
    return max(0, round(low[1] + (place - low[0]) * each))
