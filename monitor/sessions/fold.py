"""One session, call by call: the only place where windows, outcomes, events and sums are made.

A :class:`Fold` is fed the session's records in time order and can take back its last steps: it keeps checkpoints, so a
call that grows at the end of a log costs the calls since the last checkpoint, not the session. Live view, reports,
decisions, backtests and the fleet all run this code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from monitor.pricing import Price, PriceTable
from monitor.records import Call, Event
from monitor.sessions import diagnosis
from monitor.sessions.aside import aside
from monitor.sessions.chain import (
    NOISE_SHARE,
    RETURN_SHARE,
    THRASH_SHARE,
    Chain,
    Reset,
    Verdict,
    cause,
    judge_drop,
    later,
    outcome,
    same_model,
    thrashes,
)
from monitor.sessions.cold import History
from monitor.sessions.costs import miss_cost, with_others
from monitor.sessions.fold_state import State
from monitor.sessions.forecast import weighted
from monitor.sessions.retold import told_again
from monitor.sessions.sums import Acc
from monitor.sessions.view import CostSource, LimitSource, PrefixChange, Turn

#: (context limit, how it is known, usable limit) of a call
Limits = tuple[int | None, LimitSource | None, int | None]
LimitOf = Callable[[Call], Limits]
#: model, day, provider, way it was served, limits as logged
Kind = tuple[str | None, int | None, str | None, str | None, int | None, int | None]
_STEP = 256  # records between checkpoints
_REACH = 40  # records that the drop rule looks ahead: a new one may change the verdict on so many before it
_NEAR = 200  # turns before a changed prefix that tell how deep the change lies
_DAY = 86_400_000
#: what an event between two calls means for the cache and the growth of the call after it
_RESETS: dict[str, Reset] = {"compaction": "compaction", "microcompaction": "trim", "trim": "trim", "rewind": "rewind",
                             "clear": "clear", "fork": "rewind"}  # fmt: skip
_replace = msgspec.structs.replace


class Fold:
    """Turns, events and sums of one session."""

    def __init__(self, prices: PriceTable | None, limit_of: LimitOf) -> None:
        self.prices = prices
        self.limit_of = limit_of
        self.state = State()
        self.turns: History[Turn] = History()
        self._turns, self._packed = self.turns.tail, 0  # its end as a plain list, and how many stand before it
        self.events: list[Event] = []
        self.settled = 0  # so many turns were kept as they were by the last run
        self._checkpoints: list[State] = [State()]
        #: by what decides: the sum a call goes into, its limits, its price and whether that changes with its time.
        #: Good for one run, as limits and sums may be other ones in the next
        self._kinds: dict[Kind, tuple[Acc, Limits, Price | None, bool]] = {}

    def run(
        self,
        records: Sequence[Call | Event],
        changed_from: int,
        inherited: Callable[[Call | Event], bool] | None,
        inside: bool = True,
    ) -> None:
        """Fold a session's records, which are the same as last time before ``changed_from``.

        Args:
            records: in time order.
            inherited: tells the records that another session owns: context of this session, not part of it;
                None if there are none.
            inside: there may be events inside of calls.
        """
        safe = min(changed_from, len(records)) - _REACH
        while len(self._checkpoints) > 1 and self._checkpoints[-1].place > safe:
            self._checkpoints.pop()
        self._go_back_to(self._checkpoints[-1])
        self._kinds.clear()
        state = self.state
        end = len(records)
        last_checkpoint = max(0, end - 2 * _REACH)
        place = state.place
        while place < end:
            if place and (place % _STEP == 0 or place == last_checkpoint) and self._checkpoints[-1].place < place:
                self._checkpoint(place, last_checkpoint)
            stop = min(end, place - place % _STEP + _STEP)
            if place < last_checkpoint < stop:
                stop = last_checkpoint
            for place in range(place, stop):  # noqa: B020
                record = records[place]
                if type(record) is Event:
                    if inherited is None or not inherited(record):
                        self._event(record)
                    continue
                call: Call = record  # type: ignore[assignment]
                if call.inherited or (inherited is not None and inherited(call)):
                    self._inherit(call)
                elif (call.purpose == "work" and call.status == "ok") or call.works:  # mostly, without asking for works
                    if inside and place + 1 < end and type(records[place + 1]) is Event:
                        self._inside(call, records, place)
                    self._work(call, records, place)
                elif call.counts:
                    self._summary(call)
                else:
                    self._beside(call)
            place = stop
        state.place = end

    def _go_back_to(self, checkpoint: State) -> None:
        self.state = state = checkpoint.copy()
        self.settled = state.turns
        self.turns.cut(state.turns)
        self._turns, self._packed = self.turns.tail, self.turns.packed
        del self.events[state.events :]
        for chain in state.chains.values():
            for place in chain.waiting:  # what followed them may be another call now, or none
                self.events[place] = _replace(self.events[place], tokens_after=None, before_call=None)

    def _checkpoint(self, place: int, latest: int) -> None:
        state = self.state
        state.place, state.turns, state.events = place, len(self.turns), len(self.events)
        # of those not on the grid only the latest is of use, or a log growing line by line would pile them up
        self._checkpoints = [kept for kept in self._checkpoints if kept.place % _STEP == 0 or kept.place == latest]
        self._checkpoints.append(state.copy())

    def _chain(self, name: str) -> Chain:
        chain = self.state.chains.get(name)
        if chain is None:
            chain = self.state.chains[name] = Chain(name=name)
        return chain

    # ------------------------------------------------------------------------------------------------ calls
    def _inherit(self, call: Call) -> None:
        """A copy of another session's call: what came before this session's own first one."""
        self.state.inherited += 1
        if not call.works:
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
            chain.hour = call.cache_write_1h_tokens

    def _beside(self, call: Call) -> None:
        """A side call or a failed one: listed, but part of no curve and no sum."""
        chain = self._chain(call.chain)
        acc, limits, _, cost, how, rough = self._count(call)
        if call.answered:
            chain.side_calls += 1
            acc.side += 1
        else:
            acc.fail(call)
            if how != "logged":
                cost, how, rough = None, None, False
        self._list(call, chain, limits, cost, how, rough)

    def _count(self, call: Call) -> tuple[Acc, Limits, Price | None, float | None, CostSource | None, bool]:
        """The sum a call goes into, its limits, its price, its cost in USD, where that is from, whether it is rough."""
        time, model, provider, tier = call.time, call.model, call.provider, call.service_tier
        day = time // _DAY if time is not None else None
        key = (model, day, provider, tier, call.context_limit, call.usable_limit)
        try:
            acc, limits, price, moves = self._kinds[key]
        except KeyError:
            acc, limits, price, moves = self._kinds[key] = self._kind(call, (model, day))
        if moves and self.prices is not None:
            price = self.prices.lookup(model, provider, time, tier)
        cost = call.cost_usd
        if cost is not None:
            return acc, limits, price, cost, "logged", False
        if price is None:
            return acc, limits, price, None, None, False
        if call.billed is not None:
            cost = price.cost_of(call.billed)
        else:
            cost = price.cost(call.fresh_tokens, call.cache_read_tokens, call.cache_write_tokens,
                              call.cache_write_1h_tokens, call.output_tokens)  # fmt: skip
        if cost is None or call.elsewhere is not None:
            return acc, limits, price, *with_others(call, cost, price.estimated, self.prices)
        return acc, limits, price, cost, "table", price.estimated

    def _kind(self, call: Call, day: tuple[str | None, int | None]) -> tuple[Acc, Limits, Price | None, bool]:
        """What calls of this kind have in common, see ``_kinds``."""
        acc = self.state.sums.get(day)
        if acc is None:
            acc = self.state.sums[day] = Acc()
        price, moves = None, False
        if self.prices is not None:
            price = self.prices.lookup(call.model, call.provider, call.time, call.service_tier)
            moves = self.prices.moves(call.model, call.provider)
        return acc, self.limit_of(call), price, moves

    def _list(
        self, call: Call, chain: Chain, limits: Limits, cost: float | None, how: CostSource | None, rough: bool
    ) -> None:
        """A call beside the curve as a turn."""
        self._turns.append(
            Turn(call, self._packed + len(self._turns), chain.window, call.exchange, None,
                 "unreported" if call.cache_read_tokens is None else "first", None, None, limits[0], limits[1], cost,
                 how, rough)
        )  # fmt: skip

    def _summary(self, call: Call) -> None:
        """A call that wrote a summary: it counts in the sums and is part of no curve."""
        chain = self._chain(call.chain)
        acc, limits, _, cost, how, rough = self._count(call)
        acc.add(call, cost, rough)
        chain.calls += 1
        chain.window_start += 1  # it is none of the window
        if call.time is not None:  # it read the context and kept it warm
            parent = self._chain("main") if call.chain == "side" else chain
            parent.last_request = call.time
        self._list(call, chain, limits, cost, how, rough)

    def _work(self, call: Call, records: Sequence[Call | Event], place: int) -> None:
        """A call of the conversation."""
        state = self.state
        chain = state.chains.get(call.chain) or self._chain(call.chain)
        if call.model != chain.model and (side := aside(chain, call, records, place)) is not None:
            self._beside(side)
            return
        acc, limits, price, cost, how, rough = self._count(call)
        acc.add(call, cost, rough)
        model, prompt, read, expected = call.model, call.prompt_tokens, call.cache_read_tokens, chain.expected
        why = missed_usd = delta = changed = None
        dropped: Verdict = "nothing"
        if prompt is not None and expected is not None and prompt <= NOISE_SHARE * expected:
            dropped = judge_drop(chain, call, later(records, place, call.chain, _REACH))
            if dropped in ("compaction", "rewind", "clear", "unexplained_drop"):
                self._infer(chain, call, dropped)
        switched = model != chain.model and chain.previous is not None and not same_model(chain.model, model)
        if switched:
            self._switched(chain, call)
        if chain.reset == "clear":
            expected = None
        verdict = outcome(read, expected) if prompt is not None else "unreported"
        if verdict != "hit" and verdict in ("miss", "partial"):
            why = cause(chain, call, switched)
            if call.has_bodies and chain.previous is not None and why in ("unknown", "prefix_changed"):
                changed = self._changed(call, chain.previous, chain)
                why = "prefix_changed" if changed is not None else why
            state.misses[why] = state.misses.get(why, 0) + 1
            missed_usd = miss_cost(call, expected, price)
        if prompt is not None:
            delta = self._grow(chain, prompt, dropped, switched)
            if read is not None:
                state.reads += read
                state.prompts += prompt
                if expected is not None:
                    state.kept += read if read < expected else expected
                    state.expected += expected
        elif chain.reset:
            self._grow(chain, None, dropped, switched)
        if chain.waiting:
            self._close(chain, call, limits[2])
        index = self._packed + len(self._turns)
        self._turns.append(
            Turn(call, index, chain.window, call.exchange, expected, verdict, why, missed_usd, limits[0], limits[1],
                 cost, how, rough, delta, changed)
        )  # fmt: skip
        # what the next call of the chain is judged by
        chain.calls += 1
        chain.previous, chain.previous_index = call, index
        chain.joint = False
        chain.reset = ""
        if prompt is not None:
            chain.expected = prompt
            if prompt > chain.peak:
                chain.peak = prompt
            if not chain.opening:
                chain.opening = prompt
        time, exchange = call.time, call.exchange
        if time is not None:
            chain.last_request = time
        if call.cache_write_tokens:
            chain.hour = call.cache_write_1h_tokens
        if model is not None and (model != chain.model or not chain.models):  # that of inherited calls is no own one
            chain.model = model
            if model not in chain.models:
                chain.models = (*chain.models, model)
        if exchange != state.exchange and exchange is not None and chain.name == "main":
            state.exchange = exchange
            state.exchanges += 1

    def _grow(self, chain: Chain, prompt: int | None, dropped: Verdict, switched: bool) -> int | None:
        """Growth of the context by this call, None where it begins anew or is beside the curve for the moment."""
        reset = chain.reset
        if reset and reset in ("compaction", "clear"):
            chain.resets += 1
            chain.window_start = chain.calls
            chain.base, chain.mean, chain.deltas, chain.dipped = prompt, None, 0, False
            return None
        base = chain.base
        if prompt is None:
            return None
        if dropped == "dip" or (chain.dipped and base is not None and prompt < RETURN_SHARE * base):
            chain.dipped = not (chain.joint or switched)
            if chain.dipped:
                return None
        begins = reset or switched or chain.joint or dropped != "nothing"
        chain.base, chain.dipped = prompt, False
        if begins or base is None:
            return None
        delta = prompt - base
        chain.mean = weighted(chain.mean, delta)
        chain.deltas += 1
        return delta

    def _changed(self, call: Call, previous: Call, chain: Chain) -> PrefixChange | None:
        near = [t.call for t in self.turns[-_NEAR:] if t.window == chain.window and t.call.chain == chain.name]
        return diagnosis.change(call, previous, near)

    # ------------------------------------------------------------------------------------------------ events
    def _event(self, event: Event) -> None:
        chain = self._chain(event.chain)
        reset = _RESETS.get(event.kind)
        if reset is None:
            at = event.after_call if event.after_call is not None else chain.previous_index
            self.events.append(event if at is None else _replace(event, after_call=at))
            return
        if event.in_call and chain.previous is not None and chain.previous.key == event.in_call:
            return  # placed when the call that holds it came by
        if not (chain.reset == "compaction" and reset == "rewind"):
            chain.reset = reset
        self._open(chain, event)

    def _inside(self, call: Call, records: Sequence[Call | Event], place: int) -> None:
        """Events inside this call: they stand behind it in the log, but what the call holds came after them."""
        for record in records[place + 1 : place + 5]:
            if type(record) is not Event:
                return
            if record.in_call and record.in_call == call.key:
                self._event(record)

    def _open(self, chain: Chain, event: Event) -> None:
        """Note an event that lies between two calls; what follows it comes later."""
        if event.kind == "compaction" and told_again(self.events, chain.waiting, event):
            return
        chain.waiting = (*chain.waiting, len(self.events))
        self.events.append(
            _replace(event, tokens_before=chain.expected, after_call=chain.previous_index, tokens_after=None)
        )
        if event.kind in ("compaction", "clear"):
            chain.window += 1  # even if no call follows: the old context is gone
        if event.kind == "compaction":
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

    def _infer(self, chain: Chain, call: Call, kind: Verdict) -> None:
        chain.reset = _RESETS.get(kind, "")
        self._open(
            chain,
            Event(kind=kind, evidence="inferred", session=call.session, file=call.file, line=call.line,  # type: ignore[arg-type]
                  chain=call.chain, time=call.time, key=f"inferred:{call.key or call.line}"),
        )  # fmt: skip

    def _switched(self, chain: Chain, call: Call) -> None:
        self.events.append(
            Event(kind="model_switch", evidence="recorded", session=call.session, file=call.file, line=call.line,
                  chain=call.chain, time=call.time, tokens_before=chain.expected, tokens_after=call.prompt_tokens,
                  after_call=chain.previous_index, before_call=len(self.turns), key=f"switch:{call.key or call.line}")
        )  # fmt: skip

    def _close(self, chain: Chain, call: Call, usable: int | None) -> None:
        after = call.prompt_tokens
        for place in chain.waiting:
            event = _replace(self.events[place], tokens_after=after, before_call=len(self.turns))
            self.events[place] = event
            if event.kind == "compaction" and after is not None and usable and after > THRASH_SHARE * usable:
                self._thrash(chain, event)
        chain.waiting = ()
