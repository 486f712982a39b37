"""What is known of the beginnings of message lists seen lately.

An agent sends the whole conversation with each call, a little longer each time. Of a list that goes on with one seen
before only the rest is read; the beginning is known again by a hash of its bytes. Only hashes and digests are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

#: last messages of a list that may look different in the next request (cache marks move on)
SPARE = 3
#: bytes below which reading everything is as quick
LEAST = 16 * 1024
_HEAD, _TAIL = 512, 64  # bytes by which lists are found, and by which most others are told apart
_LISTS = 8  # beginnings kept that share their first bytes
_MEMORY = 8 * 1024 * 1024


class State(NamedTuple):
    """Where a chain of digests stands (see :class:`~monitor.recorder.evidence.Chain`)."""

    messages: int
    last: bytes
    rolling: bytes
    single: bytes
    summary: bool


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first bytes of a list: ``end`` many, up to the end of a message; ``opening`` of them are system messages."""

    end: int
    opening: int
    state: State
    tail: int
    whole: int

    @property
    def size(self) -> int:
        """Bytes of memory it takes, about."""
        return 400 + len(self.state.rolling) + len(self.state.single)


class Beginnings:
    """Remembers beginnings of lists, the latest ones. Used by one thread."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, list[Beginning]] = OrderedDict()
        self._size = 0

    def find(self, raw: bytes) -> Beginning | None:
        """What is known of the beginning of a JSON list; of several the one seen last."""
        if len(raw) < LEAST:
            return None
        view = memoryview(raw)
        head = hash(view[:_HEAD])
        for known in self._known.get(head, ()):
            # the hashes are 64 bits with a secret of the process: nobody can make two lists meet
            end = known.end
            if end < len(raw) and hash(view[end - _TAIL : end]) == known.tail and hash(view[:end]) == known.whole:
                self._known.move_to_end(head)
                return known
        return None

    def note(self, raw: bytes, end: int, opening: int, state: State) -> None:
        """Remember what the first ``end`` bytes of a JSON list say."""
        if end < LEAST:
            return
        view = memoryview(raw)
        made = Beginning(end, opening, state, hash(view[end - _TAIL : end]), hash(view[:end]))
        kept = self._known.setdefault(head := hash(view[:_HEAD]), [])
        kept.insert(0, made)
        self._size += made.size
        if len(kept) > _LISTS:
            self._size -= kept.pop().size
        self._known.move_to_end(head)
        while self._size > _MEMORY and self._known:
            _, gone = self._known.popitem(last=False)
            self._size -= sum(known.size for known in gone)
