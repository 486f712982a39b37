"""What a rollout has from another one: forks and spawned subagents begin with a copy. See :mod:`.codex`."""

from __future__ import annotations

from monitor.readers.times import iso_ms

_BURST = 500  # ms: a long history is not copied within one second; no model answers as fast as rows are written


class Fork:
    """Where a thread comes from, and which of its rows are copies."""

    def __init__(self) -> None:
        self.parents: dict[str, str | None] = {}  # thread -> the one it was forked from
        self.created: int | None = None
        self.forked = False
        self.own_from: int | None = None  # ordinal of the first line that is no copy, where the file states it
        self.based = False  # the file goes on from another one (history_base) and holds none of its rows
        self._burst: int | None = None  # time of the copied row before this one

    def root(self, thread: str) -> str:
        """The first thread of a line of forks."""
        seen = set()
        while thread not in seen and (parent := self.parents.get(thread)):
            seen.add(thread)
            thread = parent
        return thread

    def copied(self, stamp: str | None, ordinal: int | None) -> bool:
        """Whether a row is a copy: it stands in the second of the fork, goes on with such rows at once, or is older."""
        if not self.forked or self.created is None:
            return False
        if self.own_from is not None and ordinal is not None:
            return ordinal < self.own_from
        time = iso_ms(stamp or "")
        if time is None or self.based:
            return False
        goes_on = self._burst is not None and 0 <= time - self._burst < _BURST
        copied = goes_on or time // 1000 <= self.created // 1000
        self._burst = time if copied else None
        return copied
