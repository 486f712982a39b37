"""Narrowing sessions to what was asked for. Analysis always sees everything; only what is shown is cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import msgspec

from monitor.records import Call, Event
from monitor.sessions.forecast import context_after, forecast, recent_growth, weighted
from monitor.sessions.sums import Acc, total
from monitor.sessions.view import Bucket, ChainView, Forecast, SessionView, Turn

_DAY = 86_400_000


class Wanted(msgspec.Struct, frozen=True):
    """Bounds in milliseconds since the epoch (from inclusive, to exclusive), a pattern of model names, a session."""

    since: int | None = None
    until: int | None = None
    model: str | None = None
    session: str | None = None

    @property
    def everything(self) -> bool:
        return self == Wanted()

    def call(self, call: Call) -> bool:
        """Whether a call that stands in no view (a copy) is wanted."""
        if self.session is not None and not call.session.startswith(self.session):
            return False
        return self._fits(call)

    def turn(self, turn: Turn) -> bool:
        """Whether a call of a chosen session is wanted."""
        return self._fits(turn.call)

    def past(self, event: Event) -> bool:
        """Whether an event behind the last wanted call happened when nothing is wanted any more."""
        return self.until is not None and event.time is not None and event.time >= self.until

    def _fits(self, call: Call) -> bool:
        time = call.time
        if self.since is not None and (time is None or time < self.since):
            return False
        if self.until is not None and (time is None or time >= self.until):
            return False
        return self.model is None or fnmatchcase(call.model or "", self.model)


def narrow(views: Iterable[SessionView], wanted: Wanted) -> list[SessionView]:
    """Sessions with only the wanted calls; those without any are left out.

    A session may be named by its beginning, as people copy the first characters of an id.
    """
    if wanted.everything:
        return list(views)
    found = list(views)
    if wanted.session is not None:
        exact = [view for view in found if view.session == wanted.session]
        found = exact or [view for view in found if view.session.startswith(wanted.session)]
    if wanted.since is None and wanted.until is None and wanted.model is None:
        return found
    cut = (_cut(view, wanted) for view in found)
    return [view for view in cut if view.turns]


def _cut(view: SessionView, wanted: Wanted) -> SessionView:
    turns = [turn for turn in view.turns if wanted.turn(turn)]
    if len(turns) == len(view.turns):
        return view
    sums: dict[tuple[str | None, int | None], Acc] = {}
    misses: dict[str, int] = {}
    reads = prompts = kept = expected = 0
    work = []
    for turn in turns:
        call = turn.call
        day = call.time // _DAY if call.time is not None else None
        acc = sums.setdefault((call.model, day), Acc())
        acc.take(call, turn.cost_usd, turn.cost_estimated)
        if not call.works:
            continue
        work.append(turn)
        if turn.cache_miss_cause is not None:
            misses[turn.cache_miss_cause] = misses.get(turn.cache_miss_cause, 0) + 1
        if call.prompt_tokens is not None and call.cache_read_tokens is not None:
            reads += call.cache_read_tokens
            prompts += call.prompt_tokens
            if turn.expected_read:
                kept += min(call.cache_read_tokens, turn.expected_read)
                expected += turn.expected_read
    indexes = {turn.index for turn in turns}
    events = [
        event
        for event in view.events
        if event.before_call in indexes or (event.after_call in indexes and not wanted.past(event))
    ]
    compactions = [event for event in events if event.kind == "compaction" and event.chain != "side"]
    buckets = tuple(Bucket(model, day, acc.sums()) for (model, day), acc in sums.items())
    peaks = [t.call.prompt_tokens for t in work if t.call.chain != "side" and t.call.prompt_tokens is not None]
    times = [turn.call.time for turn in turns if turn.call.time is not None]
    last = next((turn for turn in reversed(work) if turn.call.chain == "main"), None)
    same_end = last is not None and last == view.last_turn
    chains = tuple(cut for chain in view.chains if (cut := _cut_chain(chain, turns)) is not None)
    return msgspec.structs.replace(
        view,
        turns=tuple(turns),
        events=tuple(events),
        buckets=buckets,
        chains=chains,
        sums=total(bucket.sums for bucket in buckets),
        models=tuple(dict.fromkeys(turn.call.model for turn in work if turn.call.model)),
        first=min(times) if times else None,
        last=max(times) if times else None,
        exchanges=len({t.exchange for t in work if t.exchange is not None and t.call.chain == "main"}) or None,
        peak_prompt_tokens=max(peaks) if peaks else None,
        last_prompt_tokens=last.call.prompt_tokens if last is not None else None,
        last_output_tokens=last.call.output_tokens if last is not None else None,
        last_turn=last,
        fill=view.fill if same_end else _fill(last, view.usable_limit),
        forecast=view.forecast if same_end else _forecast(view, last),
        compaction_costs=tuple(cost for cost in view.compaction_costs if cost.event in events),
        cache_hit_ratio=reads / prompts if prompts else None,
        prefix_hit_ratio=kept / expected if expected else None,
        cache_misses=dict(sorted(misses.items())),
        windows=sum(chain.windows for chain in chains if chain.chain != "side"),
        compactions=len(compactions),
        inferred_compactions=sum(1 for event in compactions if event.evidence == "inferred"),
    )


def _cut_chain(chain: ChainView, turns: Sequence[Turn]) -> ChainView | None:
    """A chain with only its part of the calls that are left; None if that is none."""
    mine = [turn for turn in turns if turn.call.chain == chain.chain]
    if not mine:
        return None
    work = [turn for turn in mine if turn.call.works]
    prompts = [turn.call.prompt_tokens for turn in work if turn.call.prompt_tokens is not None]
    return ChainView(
        chain=chain.chain,
        calls=sum(1 for turn in mine if turn.call.counts),
        side_calls=sum(1 for turn in mine if turn.call.answered and not turn.call.counts),
        peak_prompt_tokens=max(prompts) if prompts else None,
        last_prompt_tokens=prompts[-1] if prompts else None,
        windows=len({turn.window for turn in (mine if chain.chain == "side" else work)}),
        models=tuple(dict.fromkeys(turn.call.model for turn in work if turn.call.model)),
    )


def _fill(last: Turn | None, usable: int | None) -> float | None:
    used = context_after(last.call) if last is not None else None
    return used / usable if used is not None and usable else None


def _forecast(view: SessionView, last: Turn | None) -> Forecast | None:
    """The forecast as it was after a call that was not the last one."""
    if last is None:
        return None
    turns = [turn for turn in view.turns if turn.index <= last.index and turn.call.chain == "main"]
    work = [turn for turn in turns if turn.call.works]
    exchanges = {turn.exchange for turn in work if turn.exchange is not None}
    mean: float | None = None
    deltas = 0
    for turn in work:
        if turn.window == last.window and turn.delta is not None:
            mean = weighted(mean, turn.delta)
            deltas += 1
    recent, seconds = recent_growth(reversed(turns), last.window)
    return forecast(used=context_after(last.call), usable=view.usable_limit, window=view.context_limit, mean_delta=mean,
                    deltas=deltas, recent=recent, seconds_per_call=seconds,
                    calls_per_exchange=len(work) / len(exchanges) if exchanges else None)  # fmt: skip
