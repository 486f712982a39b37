"""What stays: the last exchanges as they are, within a budget, cut only between atomic units.

A unit holds a call with all its results (:mod:`monitor.conversation.units`), so no cut parts them. An exchange that
does not fit is split between units; what the user wrote in it stays. The last user message is never folded. Of a
provider's opaque compaction items the newest stays and comes first; summaries of former compactions are merged.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from monitor.compaction.collect import is_former
from monitor.conversation.model import Conversation, Message
from monitor.conversation.tokens import count_message
from monitor.conversation.units import Unit


class Cut(msgspec.Struct, frozen=True):
    """``kept`` in order, ``folded`` = all else but system prompts; ``split``: an exchange was too large."""

    kept: tuple[Message, ...]
    folded: tuple[Message, ...]
    exchanges: int
    split: bool
    tokens: int  # of ``kept``

    @property
    def nothing(self) -> bool:
        """True where nothing is to be folded but what a former summary tells already."""
        return all(is_former(m) for m in self.folded)


def cut(conv: Conversation, exchanges: int, tokens: int, keep_messages: int | None = None) -> Cut:
    """Choose what stays: the last ``exchanges`` exchanges (or ``keep_messages`` messages) within ``tokens`` tokens."""
    messages = conv.messages
    groups = [e for e in conv.exchanges() if e.user is not None]
    units = conv.units()
    last_user = conv.last_user()
    first = groups[-exchanges].start if 0 < exchanges <= len(groups) else (0 if exchanges else len(messages))
    if exchanges == 0 and last_user is not None and last_user.index == len(messages) - 1:
        first = last_user.index
    if keep_messages is not None:
        first = next((u.start for u in units if len(messages) - u.start <= keep_messages), len(messages))
    tail = [u for u in units if u.start >= first and not _former(u)]
    keep = _fit(tail, tokens)
    if last_user is not None:
        keep |= {id(u) for u in units if any(m is last_user for m in u.messages)}
    if exchanges == 0 and last_user is not None and units and units[-1].start > last_user.index:
        keep.add(id(units[-1]))  # the answer to it, so that it is not answered again
    opaque = next(
        (u for u in reversed(units) if u.kind == "opaque" and not any(is_former(m) for m in u.messages)), None
    )
    kept: list[Message] = [m for m in (opaque.messages if opaque else ()) if m.role != "system"]
    for u in units:
        if id(u) in keep and u is not opaque:
            kept += [m for m in u.messages if m.role != "system" and not is_former(m)]
    ids = {id(m) for m in kept}
    folded = tuple(m for m in messages if id(m) not in ids and m.role != "system")
    split = any(id(u) not in keep and u is not opaque for u in tail)
    return Cut(tuple(kept), folded, min(exchanges, len(groups)), split, sum(count_message(m) for m in kept))


def _fit(units: Sequence[Unit], tokens: int) -> set[int]:
    """Ids of the units that stay: user messages, and from the end on what fits beside them."""
    sizes = {id(u): sum(count_message(m) for m in u.messages) for u in units}
    typed = [u for u in units if u.typed]
    left = tokens - sum(sizes[id(u)] for u in typed)
    keep = {id(u) for u in typed}
    for u in reversed(units):
        if id(u) in keep:
            continue
        if sizes[id(u)] > left and any(id(x) in keep for x in units if x is not u and x.start > u.start):
            break
        if sizes[id(u)] > left and u is not units[-1]:
            break
        keep.add(id(u))
        left -= sizes[id(u)]
    return keep


def _former(u: Unit) -> bool:
    return all(is_former(m) for m in u.messages)
