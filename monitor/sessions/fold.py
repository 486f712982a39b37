"""One session, call by call: the only place where windows, outcomes, events and sums are made.

A :class:`Fold` is fed the session's records in time order and can take back its last steps: it keeps checkpoints, so a
call that grows at the end of a log costs the calls since the last checkpoint, not the session. Live view, reports,
decisions, backtests and the fleet all run this code.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from monitor.pricing import PriceTable
from monitor.records import Call, Event, EventKind
from monitor.sessions.chain import (
    DROP_SHARE,
    NOISE_SHARE,
    THRASH_SHARE,
    Chain,
    cause,
    judge_drop,
    outcome,
    same_model,
    thrashes,
)
from monitor.sessions.sums import Acc
from monitor.sessions.view import LimitSource, Turn

#: (context limit, how it is known, usable limit) of a call
LimitOf = Callable[[Call], tuple[int | None, LimitSource | None, int | None]]
_STEP = 256  # records between checkpoints
_REACH = 40  # records that the drop rule looks ahead: a new one may change the verdict on so many before it
_ALPHA = 0.15
_DAY = 86_400_000
_RESETS = {
    "compaction": "compaction",
    "microcompaction": "trim",
    "trim": "trim",
    "rewind": "rewind",
    "clear": "clear",
    "fork": "rewind",
}
_replace = msgspec.structs.replace


class State:
    """Everything the fold remembers; copied as a checkpoint."""

    __slots__ = ("chains", "errors", "events", "exchange", "exchanges", "hits", "inherited", "misses", "place", "sums",
                 "turns")  # fmt: skip

    def __init__(self) -> None:
        self.place = 0  # records folded
        self.turns = 0  # length of the lists at that point
        self.events = 0
        self.chains: dict[str, Chain] = {}
        self.sums: dict[tuple[str | None, int | None], Acc] = {}
        self.misses: dict[str, int] = {}
        #: reads, prompts, min(read, E), E over work calls whose figures are known
        self.hits = [0, 0, 0, 0]
        self.inherited = 0
        self.errors = 0
        self.exchange: int | None = None
        self.exchanges = 0

    def copy(self) -> State:
        other = State()
        other.place, other.turns, other.events = self.place, self.turns, self.events
        other.chains = {name: copy.copy(chain) for name, chain in self.chains.items()}
        other.sums = {key: acc.copy() for key, acc in self.sums.items()}
        other.misses, other.hits = dict(self.misses), list(self.hits)
        other.inherited, other.errors = self.inherited, self.errors
        other.exchange, other.exchanges = self.exchange, self.exchanges
        return other


class Fold:
    """Turns, events and sums of one session."""

    def __init__(self, prices: PriceTable | None, limit_of: LimitOf) -> None:
        self.prices = prices
        self.limit_of = limit_of
        self.state = State()
        self.turns: list[Turn] = []
        self.events: list[Event] = []
        self._checkpoints: list[State] = [State()]

    def run(
        self, records: Sequence[Call | Event], changed_from: int, inherited: Callable[[Call | Event], bool]
    ) -> None:
        """Fold a session's records, which are the same as last time before ``changed_from``.

        Args:
            records: in time order.
            inherited: tells the records that another session owns: context of this session, not part of it.
        """
        safe = min(changed_from, len(records)) - _REACH
        while len(self._checkpoints) > 1 and self._checkpoints[-1].place > safe:
            self._checkpoints.pop()
        self.state = self._checkpoints[-1].copy()
        state = self.state
        del self.turns[state.turns :]
        del self.events[state.events :]
        end = len(records)
        last_checkpoint = max(0, end - 2 * _REACH)
        for place in range(state.place, end):
            if place and (place % _STEP == 0 or place == last_checkpoint) and self._checkpoints[-1].place < place:
                self._checkpoint(place)
            record = records[place]
            if type(record) is Call:
                if record.inherited or inherited(record):
                    self._inherit(record)
                else:
                    self._call(record, records, place)
            elif not inherited(record):
                self._event(record)  # type: ignore[arg-type]
        state.place = end

    def _checkpoint(self, place: int) -> None:
        state = self.state
        state.place, state.turns, state.events = place, len(self.turns), len(self.events)
        # of those not on the grid only the newest is of use, or a log growing line by line would pile them up
        self._checkpoints = [kept for kept in self._checkpoints if kept.place % _STEP == 0]
        self._checkpoints.append(state.copy())

    # ------------------------------------------------------------------------------------------------ records
    def _chain(self, name: str) -> Chain:
        chain = self.state.chains.get(name)
        if chain is None:
            chain = self.state.chains[name] = Chain(name)
        return chain

    def _inherit(self, call: Call) -> None:
        state = self.state
        state.inherited += 1
        if call.purpose != "work" or call.status not in ("ok", "estimated"):
            return
        chain = self._chain(call.chain)
        chain.previous, chain.joint, chain.model = call, True, call.model
        chain.reset, chain.waiting = "", ()
        if call.prompt_tokens is not None:
            chain.expected = chain.base = call.prompt_tokens
            chain.opening = chain.opening or call.prompt_tokens
        if call.time is not None:
            chain.last_request = call.time
        if call.cache_write_tokens:
            chain.hour = bool(call.cache_write_1h_tokens)

    def _event(self, event: Event) -> None:
        chain = self._chain(event.chain)
        reset = _RESETS.get(event.kind)
        if reset is None:
            self.events.append(event)
            return
        if event.in_call:
            return  # placed by the call that holds it
        if not (chain.reset == "compaction" and reset == "rewind"):
            chain.reset = reset  # type: ignore[assignment]
        self._open(chain, event)

    def _open(self, chain: Chain, event: Event) -> None:
        """Note an event that lies between two calls; what follows it comes later."""
        chain.waiting = (*chain.waiting, len(self.events))
        self.events.append(
            _replace(event, tokens_before=chain.expected, after_call=chain.previous_index, tokens_after=None)
        )
        if event.kind in ("compaction", "clear"):
            chain.window += 1  # even if no call follows: the old context is gone
        if event.kind == "compaction":
            self._compacted(chain, event)

    def _compacted(self, chain: Chain, event: Event) -> None:
        chain.compactions = (*chain.compactions[-3:], chain.calls)
        if thrashes(chain.compactions):
            self._thrash(chain, event)

    def _thrash(self, chain: Chain, event: Event) -> None:
        last = next((e for e in reversed(self.events) if e.kind == "thrash" and e.chain == chain.name), None)
        if last is not None and last.after_call == chain.previous_index:
            return
        self.events.append(
            Event(kind="thrash", evidence="inferred", session=event.session, file=event.file, line=event.line,
                  chain=chain.name, time=event.time, tokens_before=chain.expected, after_call=chain.previous_index,
                  key=f"thrash:{event.key or event.time}")
        )  # fmt: skip

    def _call(self, call: Call, records: Sequence[Call | Event], place: int) -> None:
        state = self.state
        index = len(self.turns)
        if call.status not in ("ok", "estimated") or call.purpose == "side":
            self._beside(call, index)
            return
        chain = self._chain(call.chain)
        price = self.prices.lookup(call.model, call.provider, call.time) if self.prices is not None else None
        cost, source = call.cost_usd, "logged"
        if cost is None:
            source = "table"
            if price is not None:
                if call.billed is not None:
                    cost = price.cost(*call.billed)
                else:
                    cost = price.cost(call.fresh_tokens, call.cache_read_tokens, call.cache_write_tokens,
                                      call.cache_write_1h_tokens, call.output_tokens)  # fmt: skip
        day = call.time // _DAY if call.time is not None else None
        acc = state.sums.get((call.model, day))
        if acc is None:
            acc = state.sums[(call.model, day)] = Acc()
        acc.add(call, cost)
        limit, limit_source, usable = self.limit_of(call)
        if call.purpose == "compaction":
            parent = self._chain("main") if call.chain == "side" else chain
            parent.last_request = call.time if call.time is not None else parent.last_request
            chain.calls += 1
            self.turns.append(
                Turn(call=call, index=index, window=chain.window, exchange=call.exchange,
                     cache_outcome="unreported" if call.cache_read_tokens is None else "first",
                     context_limit=limit, context_limit_source=limit_source, cost_usd=cost,
                     cost_source=source if cost is not None else None,  # type: ignore[arg-type]
                     cost_estimated=price is not None and price.estimated and source == "table")
            )  # fmt: skip
            return
        self._work(call, chain, index, records, place, (cost, source, price), (limit, limit_source, usable))

    def _beside(self, call: Call, index: int) -> None:
        """A side call or a failed one: listed, but part of no curve and no sum."""
        chain = self._chain(call.chain)
        day = call.time // _DAY if call.time is not None else None
        acc = self.state.sums.setdefault((call.model, day), Acc())
        if call.status == "error" or call.status == "in_flight":
            acc.errors += call.status == "error"
        else:
            chain.side_calls += 1
            acc.side += 1
        limit, limit_source, _ = self.limit_of(call)
        self.turns.append(
            Turn(call=call, index=index, window=chain.window, exchange=call.exchange, context_limit=limit,
                 context_limit_source=limit_source, cost_usd=call.cost_usd,
                 cost_source="logged" if call.cost_usd is not None else None)
        )  # fmt: skip

    def _work(
        self,
        call: Call,
        chain: Chain,
        index: int,
        records: Sequence[Call | Event],
        place: int,
        money: tuple[float | None, str, Any],
        limits: tuple[int | None, LimitSource | None, int | None],
    ) -> None:
        prompt, read, expected = call.prompt_tokens, call.cache_read_tokens, chain.expected
        cost, source, price = money
        switched = chain.previous is not None and not same_model(chain.model, call.model)
        if call.billed is not None:
            self._inside(call, chain, records, place)
        dropped: EventKind | None = None
        dip = False
        if prompt is not None and expected is not None and prompt < NOISE_SHARE * expected and not chain.reset:
            dropped = judge_drop(chain, call, _later(records, place, call.chain))
            if dropped is not None:
                self._infer(chain, call, dropped)
            else:
                dip = not chain.joint and not switched and prompt < DROP_SHARE * expected
        if switched:
            self._switched(chain, call)
        if chain.reset == "clear":
            expected = None
        verdict = outcome(read, expected) if prompt is not None else "unreported"
        why = None
        missed_usd = None
        if verdict == "miss" or verdict == "partial":
            why = cause(chain, call, switched, dropped)
            self.state.misses[why] = self.state.misses.get(why, 0) + 1
            missed_usd = _miss_cost(call, expected, price)
        delta = None
        if chain.reset in ("compaction", "clear"):
            chain.windows += 1
            chain.window_calls = 0
            chain.base, chain.mean, chain.deltas = prompt, None, 0
        elif prompt is not None:
            if chain.reset or switched or dropped or chain.joint or chain.base is None:
                chain.base = prompt
            elif not dip:
                delta = prompt - chain.base
                chain.base = prompt
                chain.mean = delta if chain.mean is None else chain.mean + _ALPHA * (delta - chain.mean)
                chain.deltas += 1
        if chain.waiting:
            self._close(chain, call, index, limits[2])
        if prompt is not None and read is not None:
            hits = self.state.hits
            hits[0] += read
            hits[1] += prompt
            if expected is not None:
                hits[2] += min(read, expected)
                hits[3] += expected
        if call.exchange is not None and call.exchange != self.state.exchange and chain.name == "main":
            self.state.exchange = call.exchange
            self.state.exchanges += 1
        self.turns.append(
            Turn(call=call, index=index, window=chain.window, exchange=call.exchange, expected_read=expected,
                 cache_outcome=verdict, cache_miss_cause=why, miss_cost_usd=missed_usd, context_limit=limits[0],
                 context_limit_source=limits[1], cost_usd=cost,
                 cost_source=source if cost is not None else None,  # type: ignore[arg-type]
                 cost_estimated=price is not None and price.estimated and source == "table", delta=delta)
        )  # fmt: skip
        chain.calls += 1
        chain.window_calls += 1
        chain.previous, chain.previous_index, chain.joint, chain.reset = call, index, False, ""
        if prompt is not None:
            chain.expected = prompt
            chain.opening = chain.opening or prompt
            if chain.peak is None or prompt > chain.peak:
                chain.peak = prompt
        if call.time is not None:
            chain.last_request = call.time
        if call.cache_write_tokens:
            chain.hour = bool(call.cache_write_1h_tokens)
        if call.model is not None and call.model != chain.model:
            chain.model = call.model
            if call.model not in chain.models:
                chain.models = (*chain.models, call.model)

    # ------------------------------------------------------------------------------------------------ events
    def _inside(self, call: Call, chain: Chain, records: Sequence[Call | Event], place: int) -> None:
        """A compaction inside this call: the event stands next to it in the log."""
        for record in (*records[place + 1 : place + 4], *records[max(0, place - 3) : place]):
            if type(record) is Event and record.in_call and record.in_call == call.key:
                chain.reset = _RESETS.get(record.kind, "")  # type: ignore[assignment]
                self._open(chain, record)

    def _infer(self, chain: Chain, call: Call, kind: EventKind) -> None:
        chain.reset = _RESETS.get(kind, "")  # type: ignore[assignment]
        self._open(
            chain,
            Event(kind=kind, evidence="inferred", session=call.session, file=call.file, line=call.line,
                  chain=call.chain, time=call.time, key=f"inferred:{call.key or call.line}"),
        )  # fmt: skip

    def _switched(self, chain: Chain, call: Call) -> None:
        self.events.append(
            Event(kind="model_switch", evidence="recorded", session=call.session, file=call.file, line=call.line,
                  chain=call.chain, time=call.time, tokens_before=chain.expected, tokens_after=call.prompt_tokens,
                  after_call=chain.previous_index, before_call=len(self.turns), key=f"switch:{call.key or call.line}")
        )  # fmt: skip

    def _close(self, chain: Chain, call: Call, index: int, usable: int | None) -> None:
        for place in chain.waiting:
            event = _replace(self.events[place], tokens_after=call.prompt_tokens, before_call=index)
            self.events[place] = event
            after = call.prompt_tokens
            if event.kind == "compaction" and after is not None and usable and after > THRASH_SHARE * usable:
                self._thrash(chain, event)
        chain.waiting = ()


def _later(records: Sequence[Call | Event], place: int, chain: str) -> list[int]:
    """Prompts of the next two work calls of a chain."""
    found: list[int] = []
    for record in records[place + 1 : place + _REACH]:
        if (
            type(record) is Call
            and record.chain == chain
            and record.purpose == "work"
            and record.prompt_tokens is not None
            and record.status in ("ok", "estimated")
        ):
            found.append(record.prompt_tokens)
            if len(found) == 2:
                break
    return found


def _miss_cost(call: Call, expected: int | None, price: Any) -> float | None:
    """USD that the part not found in the cache cost above a cache read."""
    if price is None or expected is None or call.prompt_tokens is None or call.cache_read_tokens is None:
        return None
    missed = min(expected, call.prompt_tokens) - call.cache_read_tokens
    rates = price.at(call.prompt_tokens)
    if call.cache_write_1h_tokens:
        full = rates.cache_write_1h
    elif call.cache_write_tokens:
        full = rates.cache_write_5m
    else:
        full = rates.input
    if full is None or rates.cache_read is None or missed <= 0:
        return None
    return float(missed * (full - rates.cache_read) / 1e6)
