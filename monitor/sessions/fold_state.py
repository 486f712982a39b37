"""What a :class:`~monitor.sessions.fold.Fold` remembers of a session between two of its calls."""

from __future__ import annotations

from monitor.sessions.chain import Chain
from monitor.sessions.sums import Acc


class State:
    """Everything the fold remembers; copied as a checkpoint."""

    __slots__ = ("chains", "events", "exchange", "exchanges", "expected", "inherited", "kept", "misses", "place",
                 "prompts", "reads", "sums", "turns")  # fmt: skip

    def __init__(self) -> None:
        self.place = 0  # records folded
        self.turns = 0  # length of the lists at that point
        self.events = 0
        self.chains: dict[str, Chain] = {}
        self.sums: dict[tuple[str | None, int | None], Acc] = {}
        self.misses: dict[str, int] = {}
        #: over work calls whose figures are known, in tokens: read from the cache, prompts; of those with an E: the
        #: smaller one of read and E, E
        self.reads = self.prompts = self.kept = self.expected = 0
        self.inherited = 0
        self.exchange: int | None = None
        self.exchanges = 0

    def copy(self) -> State:
        other = State()
        other.place, other.turns, other.events = self.place, self.turns, self.events
        other.chains = {name: chain.copy() for name, chain in self.chains.items()}
        other.sums = {key: acc.copy() for key, acc in self.sums.items()}
        other.misses = dict(self.misses)
        other.reads, other.prompts, other.kept, other.expected = self.reads, self.prompts, self.kept, self.expected
        other.inherited, other.exchange, other.exchanges = self.inherited, self.exchange, self.exchanges
        return other
