"""From one session's records to its :class:`SessionView`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

import msgspec

from monitor.pricing import PriceTable
from monitor.records import Call, Event, SessionInfo, Step
from monitor.sessions import cold, limits
from monitor.sessions.chain import Chain
from monitor.sessions.cold import History
from monitor.sessions.costs import Ledger
from monitor.sessions.fold import Fold, Limits
from monitor.sessions.forecast import context_after, forecast, recent_growth
from monitor.sessions.sums import total
from monitor.sessions.told import Item
from monitor.sessions.view import Bucket, ChainView, Forecast, SessionView, Sums, Turn

_DAY = 86_400_000
Totals = tuple[int | None, int | None, int | None, int | None, int | None]
#: blocks of old turns that are packed at a time, so that no single update takes long
_AT_ONCE = 2


class Settings(msgspec.Struct):
    """What the user set that changes the numbers."""

    prices: PriceTable | None = None
    overrides: limits.Overrides = msgspec.field(default_factory=limits.Overrides)


class Session(msgspec.Struct):
    """Records of one session and what was made of them."""

    name: str
    settings: Settings
    items: History[Item] = msgspec.field(default_factory=History)
    order: History[tuple[int, int, int]] = msgspec.field(default_factory=History)  # sort keys of items
    infos: dict[tuple[str, str], SessionInfo] = msgspec.field(default_factory=dict)
    steps: dict[str, list[Step]] = msgspec.field(default_factory=dict)
    steps_complete: bool = False
    hot: int | None = None  # so many of the latest records stay as they are, older ones are packed; None: all stay
    later: bool = False  # they are packed by who calls :meth:`pack`, not when a view is made
    cold_files: dict[str, None] = msgspec.field(default_factory=dict)  # files of packed records
    files: dict[str, None] = msgspec.field(default_factory=dict)  # files the records are from
    last_file: str = ""
    files_changed: bool = False  # a record was taken out: files may hold one too many
    changed_from: int = 0
    version: int = 0
    peaks: dict[str | None, int] = msgspec.field(default_factory=dict)
    inside: bool = False  # there are events inside of calls
    auto_at: int | None = None  # largest context at which the client says it compacted by itself
    view: SessionView | None = None
    ledger: Ledger = msgspec.field(default_factory=Ledger)
    _fold: Fold | None = None
    _mixed: bool = False  # records are not in order yet
    _limits: dict[tuple[str | None, int | None, int | None], Limits] = msgspec.field(default_factory=dict)

    def put(self, item: Item, key: tuple[int, int, int]) -> None:
        """Add a record at its place in time, which must not be in front of a packed one (see :meth:`in_cold`)."""
        order = self.order.tail
        if not order or key >= order[-1]:  # at the end, behind all that was folded
            self.items.tail.append(item)
            order.append(key)
        elif self._fold is None:
            self.items.tail.append(item)
            order.append(key)
            self._mixed = True
        else:
            place = bisect_right(order, key)
            self.items.tail.insert(place, item)
            order.insert(place, key)
            place += self.order.packed
            if place < self.changed_from:
                self.changed_from = place
        if item.file != self.last_file:
            self.last_file = item.file
            self.files[item.file] = None
        if type(item) is Call:
            prompt = item.prompt_tokens
            if prompt is not None and prompt > self.peaks.get(item.model, 0) and item.purpose == "work":
                self.peaks[item.model] = prompt
                if self._limits:
                    self._higher(item.model, prompt)
        elif type(item) is Event:
            if item.in_call:
                self.inside = True
            elif item.trigger == "auto":
                self._compacted_by_itself(item.recorded_before or 0)

    def sort(self) -> None:
        """Bring records into order. While nothing is folded yet they are put in as they come, which is quicker."""
        if self._mixed:
            self._mixed = False
            items, order = self.items.tail, self.order.tail
            places = sorted(range(len(order)), key=order.__getitem__)  # stable: of equal ones the first stays first
            items[:] = [items[place] for place in places]
            order.sort()

    def drop(self, item: Item, key: tuple[int, int, int]) -> bool:
        """Take a record out again; False if it was not there. It must not be packed."""
        self.sort()
        order, items = self.order.tail, self.items.tail
        place = bisect_right(order, key)
        while place > 0 and order[place - 1] == key:
            place -= 1
            if items[place] is item:
                del items[place], order[place]
                self.changed_from = min(self.changed_from, place + self.order.packed)
                self.files_changed = True
                return True
        return False

    def in_cold(self, key: tuple[int, int, int]) -> bool:
        """Whether a place in time is among the packed records."""
        packed = self.order.packed
        return packed > 0 and key <= self.order[packed if self.order.tail else -1]

    def _compacted_by_itself(self, size: int) -> None:
        """The client compacted by itself at this size: it may show that the window is smaller than the table's."""
        if size > (self.auto_at or 0):
            self.auto_at = size
            self._limits.clear()
            self.changed_from = 0

    def _higher(self, model: str | None, prompt: int) -> None:
        """A prompt larger than any before: it may show that the window is larger than the table's."""
        for (named, _, _), (window, source, _) in self._limits.items():
            if named == model and source in ("table", "observed") and prompt > (window or 0):
                self._limits.clear()
                self.changed_from = 0
                return

    def file_names(self) -> tuple[str, ...]:
        """The files that hold records of this session, in the order they told of it."""
        if self.files_changed:
            self.files = self.cold_files | dict.fromkeys(item.file for item in self.items.tail)
            self.files_changed, self.last_file = False, ""
        return tuple(self.files)

    def limit_of(self, call: Call) -> Limits:
        """Context limit, how it is known, and usable limit of a call's model here."""
        key = (call.model, call.context_limit, call.usable_limit)
        found = self._limits.get(key)
        if found is None:
            settings = self.settings
            window, source = limits.context_limit(
                source=call.source,
                model=call.model,
                provider=call.provider,
                when=call.time,
                peak=self.peaks.get(call.model),
                logged=call.context_limit,
                prices=settings.prices,
                overrides=settings.overrides,
                auto_at=self.auto_at,
            )
            usable = call.usable_limit
            if usable is None or source == "user":
                output = limits.max_output(call.model, call.provider, call.time, settings.prices)
                usable = limits.usable_limit(call.source, window, source, output)
            found = self._limits[key] = (window, source, usable)
        return found

    def refresh(self, inherited: Callable[[Item], bool] | None) -> SessionView:
        """Fold what changed and make a new view.

        Args:
            inherited: see :meth:`Fold.run`.
        """
        self.sort()
        if self._fold is None:
            self._fold = Fold(self.settings.prices, self.limit_of)
            self.changed_from = 0
        self._fold.run(self.items if self.items.packed else self.items.tail, self.changed_from, inherited, self.inside)
        self.changed_from = len(self.items)
        if not self.later:
            self.pack()
        self.version += 1
        self.view = make_view(self, self._fold)
        return self.view

    def pack(self) -> None:
        """Pack some of the turns that are more than should stay as they are."""
        if self.hot is None or self._fold is None:
            return
        turns = self._fold.turns
        if len(turns.tail) >= self.hot + cold.BLOCK:
            turns.pack(min(_AT_ONCE, (len(turns.tail) - self.hot) // cold.BLOCK))

    @property
    def packed(self) -> int:
        """So many records and turns are packed."""
        return self.items.packed + (self._fold.turns.packed if self._fold is not None else 0)


def make_view(session: Session, fold: Fold) -> SessionView:
    """The view of a folded session."""
    state = fold.state
    turns, events = fold.turns.freeze(), tuple(fold.events)
    chains = [chain for chain in state.chains.values() if chain.calls or chain.side_calls]
    main = state.chains.get("main") or Chain(name="main")
    buckets = tuple(
        Bucket(model, day, acc.sums()) for (model, day), acc in sorted(state.sums.items(), key=_bucket_order)
    )
    last_turn = turns[main.previous_index] if main.previous_index is not None else None
    call = last_turn.call if last_turn is not None else None
    window, window_source, usable = session.limit_of(call) if call is not None else (None, None, None)
    used = context_after(call) if call is not None else None
    compactions = [e for e in events if e.kind == "compaction" and e.chain != "side"]
    info = next(iter(session.infos.values()), None)
    first_call = next((item for item in session.items if type(item) is Call), None)
    peaks = [chain.peak for chain in chains if chain.name != "side" and chain.peak >= 0]
    first, last = _known_time(turns), _known_time(reversed(turns))
    sums = total(bucket.sums for bucket in buckets)
    totals_only = False
    if not turns and any(i.totals_only is not None for i in session.infos.values()):
        sums, totals_only = _totals(session), True
        started = info.started if info is not None else None
        buckets = (Bucket(None, started // _DAY if started is not None else None, sums),)
    reads, prompts, kept, expected = state.reads, state.prompts, state.kept, state.expected
    steps = [step for bucket in session.steps.values() for step in bucket]
    quota = max(
        (i.quota for i in session.infos.values() if i.quota is not None), key=lambda q: q.resets or 0, default=None
    )
    return SessionView(
        session=session.name,
        source=first_call.source if first_call is not None else (info.source if info is not None else ""),
        evidence=first_call.session_evidence if first_call is not None else "explicit",
        files=session.file_names() or ((info.file,) if info is not None else ()),
        models=tuple(dict.fromkeys(m for c in chains for m in c.models)),
        first=first if first is not None else (info.started if info is not None else None),
        last=last,
        turns=turns,
        events=events,
        sums=sums,
        buckets=buckets,
        chains=tuple(_chain_view(chain) for chain in chains),
        exchanges=state.exchanges or None,
        peak_prompt_tokens=max(peaks) if peaks else None,
        last_prompt_tokens=call.prompt_tokens if call is not None else None,
        last_output_tokens=call.output_tokens if call is not None else None,
        last_turn=last_turn,
        context_limit=window,
        context_limit_source=window_source,
        usable_limit=usable,
        usable_limit_assumed=window_source != "user" and (call is None or call.usable_limit is None),
        fill=used / usable if used is not None and usable else None,
        cache_hit_ratio=reads / prompts if prompts else None,
        prefix_hit_ratio=kept / expected if expected else None,
        cache_misses=dict(sorted(state.misses.items())),
        windows=sum(chain.window for chain in chains if chain.name != "side" and chain.calls),
        compactions=len(compactions),
        inferred_compactions=sum(1 for event in compactions if event.evidence == "inferred"),
        inherited_calls=state.inherited,
        quota=quota,
        forecast=_forecast(session, turns, main, used, usable, window),
        compaction_costs=session.ledger.balances(turns, compactions, session.settings.prices, fold.settled),
        steps=tuple(sorted(steps, key=lambda step: (step.time or 0, step.line or 0))),
        steps_complete=session.steps_complete,
        parent=next((i.parent for i in session.infos.values() if i.parent), None),
        project=next((i.cwd_name for i in session.infos.values() if i.cwd_name), None),
        totals_only=totals_only,
        version=session.version,
    )


def _known_time(turns: Iterable[Turn]) -> int | None:
    """The first time that is known; a call without one stands behind the call before it."""
    return next((turn.call.time for turn in turns if turn.call.time is not None), None)


def _bucket_order(entry: tuple[tuple[str | None, int | None], object]) -> tuple[int, str]:
    model, day = entry[0]
    return (day if day is not None else -1, model or "")


def _chain_view(chain: Chain) -> ChainView:
    return ChainView(
        chain=chain.name,
        calls=chain.calls,
        side_calls=chain.side_calls,
        peak_prompt_tokens=chain.peak if chain.peak >= 0 else None,
        last_prompt_tokens=chain.expected,
        windows=chain.window,
        models=chain.models,
    )


def _size(sums: Totals) -> tuple[int, int]:
    return (sums[0] or 0) + (sums[4] or 0), sums[1] or 0


def _totals(session: Session) -> Sums:
    parts: list[Totals] = []
    whole: dict[str, Totals] = {}  # of each chain; told in two places, the smaller are an earlier state of the larger
    for info in session.infos.values():
        if info.totals_only is not None and info.part:
            parts.append(info.totals_only)
        elif info.totals_only is not None:
            whole[info.chain] = max(whole.get(info.chain, info.totals_only), info.totals_only, key=_size)
    parts += whole.values()
    columns = [[part[place] for part in parts if part[place] is not None] for place in range(5)]
    prompt, fresh, read, write, output = (sum(v for v in c if v is not None) if c else None for c in columns)
    return Sums(
        prompt_tokens=prompt, fresh_tokens=fresh, cache_read_tokens=read, cache_write_tokens=write, output_tokens=output
    )


def _forecast(
    session: Session, turns: Sequence[Turn], main: Chain, used: int | None, usable: int | None, window: int | None
) -> Forecast | None:
    recent, seconds = recent_growth(reversed(turns) if main.calls else (), main.window)
    exchanges = session._fold.state.exchanges if session._fold is not None else 0
    return forecast(
        used=used,
        usable=usable,
        window=window,
        mean_delta=main.mean,
        deltas=main.deltas,
        recent=recent,
        calls_per_exchange=main.calls / exchanges if exchanges else None,
        seconds_per_call=seconds,
    )
