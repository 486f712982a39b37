"""What the session layer says about a session: frozen values that reports, decisions and the dashboard draw from.

Everything here is derived from :mod:`monitor.records` by :mod:`monitor.sessions.fold` and
:mod:`monitor.sessions.build`; nobody else computes these numbers. Units: tokens, milliseconds since the epoch, USD.
None is unknown.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from monitor.records import Call, Event, Quota, SessionEvidence, Step

CacheOutcome = Literal["first", "hit", "partial", "miss", "unreported"]
MissCause = Literal["expired", "compaction", "model_switch", "prefix_changed", "trim", "unknown"]
LimitSource = Literal["logged", "table", "observed", "user"]
CostSource = Literal["table", "logged"]


class PrefixChange(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Where a request stopped repeating the one before it, as the bodies of both show."""

    what: Literal["tools", "system", "history"]
    message: int | None = None  # first message that is another one, from 0 (history; None: which one is not known)
    depth_tokens: int | None = None  # tokens in front of the change: an estimate, None where nothing tells


class Turn(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A call in its place: the call as logged, and what the session layer found out about it."""

    call: Call
    index: int  # in the session, over all chains, in time order, from 0
    window: int  # in its chain, from 1
    exchange: int | None = None
    expected_read: int | None = None  # E: prompt tokens of the previous work call of the chain
    cache_outcome: CacheOutcome = "unreported"
    cache_miss_cause: MissCause | None = None
    miss_cost_usd: float | None = None  # what the missed part cost above a cache read
    context_limit: int | None = None
    context_limit_source: LimitSource | None = None
    cost_usd: float | None = None
    cost_source: CostSource | None = None
    cost_estimated: bool = False  # price found by a shortened model name
    delta: int | None = None  # growth of the prompt since the previous work call of the window
    prefix_change: PrefixChange | None = None  # with bodies, where it is the cause of a partial or a miss


class Range(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A forecast: one in ten is below p10, one in ten above p90."""

    p10: float
    p50: float
    p90: float


class Basis(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What the ranges of a forecast are made of, beside the factors. Tokens, calls, seconds."""

    used: int  # prompt plus output
    usable: int | None
    window: int | None
    mean: float  # weighted mean growth per call
    calls_per_exchange: float | None = None
    seconds_per_call: float | None = None


class Forecast(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """Calls left until a limit is reached, from growth since the last reset. None below 8 deltas."""

    calls_to_limit: Range | None  # to the usable limit
    calls_to_window: Range | None
    tokens_per_call: float | None  # EWMA of growth
    next_delta_p90: float | None = None  # growth of the next call, nine in ten are below
    deltas: int = 0
    exchanges_to_limit: Range | None = None
    seconds_to_limit: Range | None = None
    basis: Basis | None = None
    own_contexts: int | None = None  # contexts of the user's own history the ranges rest on; None: built-in factors


class CompactionCost(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """What one compaction took and gave. Estimated parts are marked."""

    event: Event
    summary_call_tokens: int | None  # input of the summarising call
    summary_call_usd: float | None
    summary_call_estimated: bool
    rewrite_tokens: int | None  # written cold by the first call after it
    rewrite_usd: float | None
    saved_tokens: int | None  # not read again until the next reset
    saved_usd: float | None
    break_even_call: int | None  # calls after it until savings exceed its cost
    calls_after: int  # calls in the window it opened
    verdict: Literal["paid back", "not yet", "did not pay", "unknown"] = "unknown"


class ChainView(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """One line of growing context inside a session."""

    chain: str
    calls: int
    side_calls: int
    peak_prompt_tokens: int | None
    last_prompt_tokens: int | None
    windows: int
    models: tuple[str, ...] = ()


class Sums(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """Sums over calls of purpose work and compaction. A sum is None if no call knows the figure."""

    calls: int = 0
    side_calls: int = 0
    prompt_tokens: int | None = None
    fresh_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    output_is_lower_bound: bool = False
    reasoning_tokens: int | None = None
    billed_prompt_tokens: int | None = None
    cost_usd: float | None = None
    unpriced_calls: int = 0
    calls_without_usage: int = 0
    error_calls: int = 0
    cost_is_estimate: bool = False  # some of it rests on the price of a similar name, or on estimated tokens


class Bucket(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Sums of a session's calls of one model on one day. Session, model and day sums are all made of these."""

    model: str | None
    day: int | None  # days since the epoch, UTC
    sums: Sums


class SessionView(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """One session, analysed. ``turns`` and ``events`` are in time order."""

    session: str
    source: str
    evidence: SessionEvidence
    files: tuple[str, ...]
    models: tuple[str, ...]
    first: int | None
    last: int | None
    turns: Sequence[Turn]
    events: Sequence[Event]
    sums: Sums
    buckets: Sequence[Bucket]
    chains: Sequence[ChainView]
    exchanges: int | None
    peak_prompt_tokens: int | None
    last_prompt_tokens: int | None
    last_output_tokens: int | None
    last_turn: Turn | None  # the last work call of main
    context_limit: int | None
    context_limit_source: LimitSource | None
    usable_limit: int | None
    usable_limit_assumed: bool  # not logged and not set by the user
    fill: float | None  # (prompt + output of the last main call) / usable limit
    cache_hit_ratio: float | None
    prefix_hit_ratio: float | None
    cache_misses: dict[str, int]
    windows: int
    compactions: int
    inferred_compactions: int
    inherited_calls: int = 0
    quota: Quota | None = None
    forecast: Forecast | None = None
    compaction_costs: Sequence[CompactionCost] = ()
    steps: Sequence[Step] = ()  # latest steps of the session (all of them when read with detail)
    steps_complete: bool = False
    parent: str | None = None
    project: str | None = None  # last part of the working directory
    totals_only: bool = False  # the tool logs sums per session only: there is no curve
    version: int = 0  # grows with each change; for caches of those who draw


class FileReport(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """What `doctor` says of a file."""

    file: str
    source: str | None  # reader that took it
    title: str | None
    confidence: float
    bytes: int | None
    lines: int | None
    calls: int
    duplicates: int
    problems: int
    note: str = ""


class Loaded(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """All inputs, read and analysed. ``sessions`` newest last activity first."""

    sessions: Sequence[SessionView]
    problems: Sequence[object]  # records.Problem
    files: Sequence[FileReport]
    copies: Sequence[Call] = ()  # inherited copies, for --copies
