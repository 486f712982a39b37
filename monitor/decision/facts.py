"""What a decision needs to know of a session, at one moment: taken from a finished view or kept up call by call.

:func:`facts_of` reads the end of a :class:`SessionView`; :class:`Tracker` gives the same facts after every call while a
past session is replayed. Both look at the main chain only: work calls with known prompt, and the events that reset it.
"""

from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

from monitor.records import Event, Quota, Step
from monitor.sessions.forecast import forecast, weighted
from monitor.sessions.laid import derived
from monitor.sessions.limits import cache_gone
from monitor.sessions.view import Forecast, SessionView, Turn

RESETS = ("compaction", "clear")
#: causes of a miss that the prefix is not to blame for
_EXCUSED = ("expired", "compaction", "model_switch", "trim")
_WARM_CALLS = 10
_RECENT_DELTAS = 40


class Compacted(msgspec.Struct, frozen=True, gc=False):
    """One compaction: work calls made since, and the first prompt after it in tokens (None: not known)."""

    calls_since: int
    after: int | None


class Warmth(msgspec.Struct, frozen=True, gc=False):
    """Over the last calls that could have hit the cache: reads and prompts; and what was found of the expected."""

    reads: int = 0
    prompts: int = 0
    found: int = 0
    expected: int = 0
    calls: int = 0


class Facts(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Tokens, calls, milliseconds. ``pending_reset``: the context was replaced after the last call."""

    session: str
    source: str
    model: str | None = None
    provider: str | None = None
    service_tier: str | None = None  # how the last call was served, where that has a price of its own
    prompt: int | None = None
    output: int | None = None
    prompt_how: str = "logged"
    time: int | None = None  # start of the last request
    in_flight: bool = False
    calls: int = 0
    opening: int | None = None  # first prompt of the chain
    context_limit: int | None = None
    whole_window: int | None = None  # what the provider takes; more than the limit where a client logs part of it
    usable_limit: int | None = None
    usable_assumed: bool = True
    forecast: Forecast | None = None
    compactions: int = 0
    latest: tuple[Compacted, ...] = ()  # the last three, newest last
    pending_reset: bool = False
    overflow: bool = False
    trimmed: bool = False  # tool results were dropped since the last reset, so their sizes no longer count
    warmth: Warmth = Warmth()
    cache_hit_ratio: float | None = None
    cache_reported: bool = False
    ttl_s: int | None = None
    ttl_logged: bool = False
    steps: Sequence[Step] = ()
    quota: Quota | None = None


def is_work(turn: Turn) -> bool:
    """A work call of the main chain whose prompt is known: what curves and decisions are made of."""
    call = turn.call
    return call.chain == "main" and call.works and call.prompt_tokens is not None


def life_of(turn: Turn) -> tuple[int, bool]:
    """Seconds an unused prefix lives after this call, and whether the log tells (1 h writes tell it too)."""
    call = turn.call
    if call.cache_ttl_s:
        return call.cache_ttl_s, True
    if call.cache_write_1h_tokens:
        return 3600, True
    return cache_gone(call.provider, call.model), False


def whole_window(source: str, limit: int | None, told: str | None) -> int | None:
    """The provider's window: Codex logs 95 % of it as its own."""
    if limit is not None and told == "logged" and source in ("codex", "codex-otel"):
        return round(limit / 0.95)
    return limit


def _main_resets(events: Sequence[Event]) -> list[Event]:
    return [e for e in events if e.kind in RESETS and e.chain == "main"]


def facts_of(view: SessionView) -> Facts:
    """The facts at the end of a session."""
    facts = derived(view, "facts", Facts, _facts_but_steps)
    steps = [s for s in view.steps if s.chain == "main"]
    # kept facts hold the forecast by the built-in factors; the view's may be by those of the user's own history
    return msgspec.structs.replace(facts, steps=steps, forecast=view.forecast)


def _facts_but_steps(view: SessionView) -> Facts:
    last = view.last_turn
    base = Facts(
        session=view.session,
        source=view.source,
        quota=view.quota,
        context_limit=view.context_limit,
        whole_window=whole_window(view.source, view.context_limit, view.context_limit_source),
        usable_limit=view.usable_limit,
        usable_assumed=view.usable_limit_assumed,
    )
    if last is None:
        return base
    resets = _main_resets(view.events)
    cleared = next((n for n in range(len(resets) - 1, -1, -1) if resets[n].kind == "clear"), -1)
    # a clear takes the summaries of before with it
    starts = [e.before_call for e in resets[cleared + 1 :]]
    oldest = next((s for s in starts[-3:] if s is not None), None)
    since = dict.fromkeys((s for s in starts[-3:] if s is not None), 0)
    warm: list[Turn] = []
    in_flight = False
    ttl: tuple[int, bool] | None = None
    first = next((t for t in view.turns if is_work(t)), last)
    for turn in reversed(view.turns):
        if not is_work(turn):
            in_flight |= turn.index > last.index and turn.call.status == "in_flight" and turn.call.chain == "main"
            continue
        for start in since:
            if turn.index >= start:
                since[start] += 1
        if len(warm) < _WARM_CALLS and _may_hit(turn):
            warm.append(turn)
        if ttl is None or (not ttl[1] and turn.index + 20 > last.index):
            found = life_of(turn)
            ttl = found if ttl is None or found[1] else ttl
        # without any figures of the cache there is nothing to look for further back
        enough = len(warm) == _WARM_CALLS or view.prefix_hit_ratio is None
        if enough and (oldest is None or turn.index < oldest) and turn.index + 20 <= last.index:
            break
    after = {e.before_call: e.tokens_after for e in resets}
    prompt, output, how, pending = last.call.prompt_tokens, last.call.output_tokens, "logged", False
    newest = resets[-1] if resets else None
    if (
        newest is not None
        and (newest.before_call is None or newest.before_call > last.index)
        and (newest.after_call is None or newest.after_call >= last.index)
    ):
        # the context was replaced and no call has told its size yet
        pending, prompt, output, how = True, newest.recorded_after, 0, "logged by the client"
    main = next((c for c in view.chains if c.chain == "main"), None)
    return msgspec.structs.replace(
        base,
        model=last.call.model,
        provider=last.call.provider,
        service_tier=last.call.service_tier,
        prompt=prompt,
        output=output,
        prompt_how=how,
        time=last.call.time,
        in_flight=in_flight,
        calls=main.calls if main is not None else 0,
        opening=first.call.prompt_tokens,
        forecast=view.forecast,
        compactions=len(starts),
        latest=tuple(Compacted(0 if s is None else since[s], None if s is None else after.get(s)) for s in starts[-3:]),
        pending_reset=pending,
        overflow=_overflow(view.events, last.index),
        trimmed=any(e.kind in ("trim", "microcompaction") and e.chain == "main" for e in view.events),
        cache_hit_ratio=view.cache_hit_ratio,
        cache_reported=any(t.cache_outcome != "unreported" for t in warm) or view.cache_hit_ratio is not None,
        ttl_s=ttl[0] if ttl else None,
        ttl_logged=ttl[1] if ttl else False,
        warmth=_warmth(warm),
    )


def _may_hit(turn: Turn) -> bool:
    """The cache could have served this call: it is not the first, and nothing but the prefix is to blame."""
    return turn.cache_outcome in ("hit", "partial", "miss") and turn.cache_miss_cause not in _EXCUSED


def _warmth(turns: Iterable[Turn]) -> Warmth:
    reads = prompts = found = expected = calls = 0
    for turn in turns:
        calls += 1
        read, prompt = turn.call.cache_read_tokens or 0, turn.call.prompt_tokens or 0
        reads += read
        prompts += prompt
        if turn.expected_read:
            found += min(read, turn.expected_read)
            expected += turn.expected_read
    return Warmth(reads, prompts, found, expected, calls)


def _overflow(events: Sequence[Event], last_index: int) -> bool:
    """An overflow error behind the last call, not answered by a compaction since."""
    for event in reversed(events):
        if event.chain != "main":
            continue
        if event.kind in ("compaction", "clear"):
            return False
        if event.kind == "overflow":
            return event.after_call is not None and event.after_call >= last_index
    return False


class Tracker:
    """Facts after every call of a session that is replayed. Feed the events of a call before the call itself."""

    def __init__(self, view: SessionView) -> None:
        self._view = view
        self._calls = 0
        self._opening: int | None = None
        self._starts: list[tuple[int, int | None]] = []  # (calls made before it, tokens after)
        self._warm: deque[Turn] = deque(maxlen=_WARM_CALLS)
        self._mean: float | None = None
        self._deltas = 0
        self._recent: deque[int] = deque(maxlen=_RECENT_DELTAS)
        self._reads = self._prompts = 0
        self._reported = False
        self._ttl: deque[tuple[int, bool]] = deque(maxlen=20)
        self._trimmed = False

    def trim(self) -> None:
        """Tool results were dropped."""
        self._trimmed = True

    def reset(self, event: Event) -> None:
        """A compaction or clear of the main chain, before its first call."""
        if event.kind == "compaction":
            self._starts.append((self._calls, event.tokens_after))
        else:
            self._starts.clear()
        self._mean, self._deltas, self._trimmed = None, 0, False
        self._recent.clear()

    def add(self, turn: Turn, steps: Sequence[Step] = ()) -> Facts:
        """Take the next work call of main; the facts right after it. ``steps``: the latest ones up to here."""
        call = turn.call
        prompt = call.prompt_tokens
        assert prompt is not None
        self._calls += 1
        if self._opening is None:
            self._opening = prompt
        if turn.delta is not None and self._calls > 1:
            self._mean = weighted(self._mean, turn.delta)
            self._deltas += 1
            self._recent.append(turn.delta)
        if turn.cache_outcome != "unreported":
            self._reported = True
        if call.cache_read_tokens is not None:
            self._reads += call.cache_read_tokens
            self._prompts += prompt
        if _may_hit(turn):
            self._warm.append(turn)
        self._ttl.append(life_of(turn))
        ttl = next((t for t in reversed(self._ttl) if t[1]), self._ttl[-1])
        view, used = self._view, prompt + (call.output_tokens or 0)
        return Facts(
            session=view.session,
            source=view.source,
            model=call.model,
            provider=call.provider,
            service_tier=call.service_tier,
            prompt=prompt,
            output=call.output_tokens,
            time=call.time,
            calls=self._calls,
            opening=self._opening,
            context_limit=view.context_limit,
            whole_window=whole_window(view.source, view.context_limit, view.context_limit_source),
            usable_limit=view.usable_limit,
            usable_assumed=view.usable_limit_assumed,
            forecast=forecast(
                used=used,
                usable=view.usable_limit,
                window=view.context_limit,
                mean_delta=self._mean,
                deltas=self._deltas,
                recent=self._recent,
            ),
            compactions=len(self._starts),
            latest=tuple(Compacted(self._calls - at, after) for at, after in self._starts[-3:]),
            trimmed=self._trimmed,
            cache_hit_ratio=self._reads / self._prompts if self._prompts else None,
            cache_reported=self._reported,
            ttl_s=ttl[0],
            ttl_logged=ttl[1],
            steps=steps,
            warmth=_warmth(self._warm),
        )
