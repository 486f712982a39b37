"""Sessions built by hand and a feed that gives them: what the dashboard is developed and tested on.

Growth is made with a fixed seed. The figures of the views are those the session layer would give for such calls; tests
that assert them state them by hand.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

from monitor.dashboard.feed import Snapshot
from monitor.decision.model import Costs, Decision, RowTrace, Signal
from monitor.records import Call, Event, Problem, Quota
from monitor.sessions.calibration import Calibration
from monitor.sessions.composition import Composition, Part
from monitor.sessions.view import ChainView, Forecast, Range, SessionView, Sums, Turn

START = 1_780_000_000_000  # 2026-05-28T20:26:40Z
STEP = 20_000


def call(index: int, prompt: int | None, read: int | None = None, write: int | None = None, **fields: object) -> Call:
    """A call; the fresh part is what is left of the prompt."""
    fresh = None
    if prompt is not None and read is not None:
        fresh = prompt - read - (write or 0)
    elif prompt is not None:
        fresh = prompt
    values: dict[str, object] = {
        "session": "s1",
        "source": "claude-code",
        "file": "/logs/s1.jsonl",
        "line": index + 1,
        "time": START + index * STEP,
        "duration_ms": 4_200,
        "provider": "anthropic",
        "model": "claude-opus-5-5",
        "prompt_tokens": prompt,
        "fresh_tokens": fresh,
        "cache_read_tokens": read,
        "cache_write_tokens": write,
        "output_tokens": 600,
        "call_id": f"msg_{index:05d}",
    }
    values.update(fields)
    return Call(**values)  # type: ignore[arg-type]


def turn(index: int, prompt: int | None, read: int | None = None, write: int | None = None, **fields: object) -> Turn:
    """A turn. Names of :class:`Turn` in ``fields`` go to the turn, all others to its call."""
    own = {name: fields.pop(name) for name in list(fields) if name in _TURN_FIELDS}
    values: dict[str, object] = {
        "call": call(index, prompt, read, write, **fields),
        "index": index,
        "window": 1,
        "cache_outcome": "unreported" if read is None else "hit",
        "context_limit": 200_000,
        "context_limit_source": "table",
        "cost_usd": 0.08,
        "cost_source": "table",
    }
    values.update(own)
    return Turn(**values)  # type: ignore[arg-type]


_TURN_FIELDS = set(Turn.__struct_fields__) - {"call"}


def view(turns: Sequence[Turn], events: Sequence[Event] = (), **fields: object) -> SessionView:
    """A view of these turns; what is not given is derived in the simplest way."""
    main = [
        t for t in turns if t.call.chain == "main" and t.call.purpose == "work" and t.call.prompt_tokens is not None
    ]
    last = main[-1] if main else None
    names = list(dict.fromkeys(t.call.chain for t in turns))
    usable = fields.get("usable_limit", 167_000)
    occupied = (last.call.prompt_tokens or 0) + (last.call.output_tokens or 0) if last else None
    values: dict[str, object] = {
        "session": "s1",
        "source": "claude-code",
        "evidence": "explicit",
        "files": ("/logs/s1.jsonl",),
        "models": ("claude-opus-5-5",),
        "first": turns[0].call.time if turns else None,
        "last": turns[-1].call.time if turns else None,
        "turns": tuple(turns),
        "events": tuple(events),
        "sums": Sums(calls=sum(t.call.chain != "side" for t in turns), cost_usd=round(0.08 * len(turns), 2)),
        "buckets": (),
        "chains": tuple(_chain(name, turns) for name in names),
        "exchanges": max((t.exchange or 0 for t in turns), default=0) or None,
        "peak_prompt_tokens": max((t.call.prompt_tokens or 0 for t in turns), default=0) or None,
        "last_prompt_tokens": last.call.prompt_tokens if last else None,
        "last_output_tokens": last.call.output_tokens if last else None,
        "last_turn": last,
        "context_limit": 200_000,
        "context_limit_source": "table",
        "usable_limit": usable,
        "usable_limit_assumed": True,
        "fill": occupied / usable if occupied is not None and isinstance(usable, int) else None,
        "cache_hit_ratio": 0.96,
        "prefix_hit_ratio": 0.97,
        "cache_misses": {},
        "windows": 1 + sum(e.kind == "compaction" for e in events),
        "compactions": sum(e.kind == "compaction" for e in events),
        "inferred_compactions": sum(e.kind == "compaction" and e.evidence == "inferred" for e in events),
        "version": len(turns),
    }
    values.update(fields)
    return SessionView(**values)  # type: ignore[arg-type]


def _chain(name: str, turns: Sequence[Turn]) -> ChainView:
    own = [t for t in turns if t.call.chain == name]
    sizes = [t.call.prompt_tokens for t in own if t.call.prompt_tokens is not None]
    return ChainView(
        chain=name,
        calls=0 if name == "side" else len(own),
        side_calls=len(own) if name == "side" else 0,
        peak_prompt_tokens=max(sizes, default=None),
        last_prompt_tokens=sizes[-1] if sizes else None,
        windows=1,
    )


def event(kind: str, before_call: int | None, **fields: object) -> Event:
    """An event before a call."""
    values: dict[str, object] = {
        "kind": kind,
        "evidence": "recorded",
        "session": "s1",
        "file": "/logs/s1.jsonl",
        "before_call": before_call,
        "after_call": None if before_call is None else before_call - 1,
        "time": None if before_call is None else START + before_call * STEP - 5_000,
    }
    values.update(fields)
    return Event(**values)  # type: ignore[arg-type]


def growing(
    count: int, *, session: str = "s1", seed: int = 7, miss: float = 0.03, agents: bool = False, **fields: object
) -> SessionView:
    """A long session: growing prompts, compactions at 160k, cache misses, now and then a subagent."""
    rng = random.Random(seed)
    turns: list[Turn] = []
    events: list[Event] = []
    size, last, window, exchange = 18_000, 0, 1, 1
    base = {"session": session, "file": f"/logs/{session}.jsonl"}
    while len(turns) < count:
        index = len(turns)
        if rng.random() < 0.12:
            exchange += 1
        own: dict[str, object] = {"window": window, "exchange": exchange, "expected_read": last or None, **base}
        if size > 160_000:
            kind = "compaction" if rng.random() < 0.8 else "microcompaction"
            after = 24_000 + rng.randrange(9_000) if kind == "compaction" else int(size * 0.7)
            events.append(
                event(
                    kind, index, session=session, trigger="auto", tokens_before=last, tokens_after=after,
                    evidence="recorded" if rng.random() < 0.8 else "inferred",
                )
            )  # fmt: skip
            size, window = after, window + (kind == "compaction")
            turns.append(
                turn(index, size, 14_000, size - 14_500, cache_outcome="partial", cache_miss_cause="compaction", **own)
            )
        elif index and rng.random() < miss:
            turns.append(turn(index, size, 0, size - 400, cache_outcome="miss", cache_miss_cause="expired", **own))
        elif not index:
            turns.append(turn(index, size, 0, size - 400, cache_outcome="first", **own))
        else:
            turns.append(turn(index, size, min(last, size), max(0, size - last - 300), delta=size - last, **own))
        last = size
        size += int(rng.lognormvariate(6.8, 0.9)) + 150
        if agents and rng.random() < 0.05 and len(turns) + 8 < count:
            name, context = f"agent:{rng.randrange(1 << 16):04x}", 9_000
            for _ in range(rng.randrange(4, 8)):
                i = len(turns)
                turns.append(turn(i, context, context - 900, 700, chain=name, **base))
                context += rng.randrange(500, 4_000)
    main = [t for t in turns if t.call.chain == "main"]
    misses = sum(t.cache_outcome == "miss" for t in turns)
    values: dict[str, object] = {
        "session": session,
        "project": session,
        "files": (f"/logs/{session}.jsonl",),
        "last_turn": main[-1],
        "forecast": forecast(),
        "cache_misses": {"expired": misses} if misses else {},
        **fields,
    }
    return view(turns, events, **values)


def forecast(low: float = 6, middle: float = 9, high: float = 13) -> Forecast:
    """A forecast with these numbers of calls to the usable limit."""
    return Forecast(
        calls_to_limit=Range(low, middle, high),
        calls_to_window=Range(low + 16, middle + 22, high + 27),
        tokens_per_call=1_300.0,
        next_delta_p90=4_100.0,
        deltas=40,
    )


def plain(count: int, **fields: object) -> SessionView:
    """A session of a provider that tells no cache figures and has no known limits."""
    turns = [
        turn(i, 2_000 + 350 * i, provider="local", model="qwen3-coder", cost_usd=None, context_limit=None)
        for i in range(count)
    ]
    values: dict[str, object] = {
        "session": "local-1",
        "source": "api-log",
        "models": ("qwen3-coder",),
        "context_limit": None,
        "context_limit_source": None,
        "usable_limit": None,
        "fill": None,
        "cache_hit_ratio": None,
        "prefix_hit_ratio": None,
        **fields,
    }
    return view(turns, **values)


def decision(session: str = "s1", action: str = "compact_at_boundary") -> Decision:
    """A decision with every part filled."""
    signals = [
        Signal(id="fill", value=0.79, how="computed"),
        Signal(id="prompt_tokens", value=131_400, unit="tokens", how="logged"),
        Signal(id="usable_limit", value=167_000, unit="tokens", how="assumed"),
        Signal(id="tokens_per_call", value=1_300.0, unit="tokens", how="computed"),
        Signal(id="calls_to_limit", value={"p10": 6.0, "p50": 9.0, "p90": 13.0}, unit="calls", how="computed"),
        Signal(id="cache_state", value="warm", how="computed"),
        Signal(id="cache_hit_ratio", value=0.97, how="computed"),
        Signal(id="idle_s", value=42.0, unit="s", how="computed"),
        Signal(id="pending_tool_call", value=False),
        Signal(id="boundary_score", value=0.2),
        Signal(id="loop", value=False),
        Signal(id="compactions", value=2),
        Signal(id="break_even_calls", value=9.0, unit="calls", how="estimated"),
        Signal(id="optimal_size", value=112_000, unit="tokens", how="estimated"),
        Signal(id="topic_score", value=None, how="unknown"),
    ]
    return Decision(
        session=session,
        action=action,  # type: ignore[arg-type]
        rule="near-limit",
        confidence="high",
        reasons=("79% of the usable limit is used and about 9 turns remain", "no phase boundary in the last 6 turns"),
        signals={s.id: s for s in signals},
        costs=Costs(
            continue_usd=1.42,
            compact_usd=0.91,
            new_window_usd=0.78,
            calls=20,
            assumed=("the summary has 2,000 tokens",),
        ),
        next="COMPACT NOW at 85% fill or when a commit is made",
        rows=(
            RowTrace(
                rule="pending-call", fired=False, action="continue", conditions=(("a tool call is pending", False),)
            ),
            RowTrace(
                rule="near-limit",
                fired=True,
                action="compact_at_boundary",
                conditions=(("fill 0.79 >= 0.70", True), ("boundary score 0.2 < 0.6", True)),
            ),
            RowTrace(rule="new-topic", fired=False, action="fresh", conditions=(("topic score unknown >= 0.6", None),)),
        ),
    )


MIX = Composition(
    parts=(
        Part("system", 9_100, estimated=False), Part("tools", 22_400), Part("user", 8_000), Part("assistant", 32_000),
        Part("results: Read", 59_900),
    ),
    grown=(Part("user", 0), Part("results: Read", 12_000), Part("assistant", 800)),
    prompt_tokens=132_000,
    residual=600,
    calibration=Calibration(1.05, 31_500, True, 16),
    read_tokens=40_000,
    stale_tokens=4_000,
    superseded_tokens=0,
    estimated=False,
)  # fmt: skip

PROBLEMS = (
    Problem("/logs/broken.jsonl", 17, "the line is not JSON; it was skipped"),
    Problem("/logs/missing", None, "there is no such file or folder; check the path"),
)


def snapshot(sessions: Sequence[SessionView] | None = None, **fields: object) -> Snapshot:
    """A snapshot of these sessions, or of a mixed set."""
    if sessions is None:
        sessions = mixed()
    newest = max((s.last or 0 for s in sessions), default=START)
    values: dict[str, object] = {
        "time": newest + 12_000,
        "sessions": tuple(sessions),
        "decisions": {s.session: decision(s.session) for s in sessions},
        "files": 12,
        "bytes_read": 3_200_000,
    }
    values.update(fields)
    return Snapshot(**values)  # type: ignore[arg-type]


def mixed() -> tuple[SessionView, ...]:
    """One of each kind, newest first."""
    return (
        growing(500, session="api-fix", agents=True, quota=Quota(41.0, START + 9_000_000, 300)),
        growing(88, session="docs-rewrite", seed=3),
        growing(240, session="refactor", seed=11),
        plain(36),
    )


class FakeFeed:
    """A feed driven by a test: ``put`` hands out a snapshot, ``fail`` raises in the worker thread."""

    def __init__(self, first: Snapshot | None = None) -> None:
        self._waiting: list[Snapshot | Exception] = [first] if first is not None else []
        self._event = threading.Event()
        self.closed = False

    def put(self, item: Snapshot | Exception) -> None:
        """Give this at the next poll."""
        self._waiting.append(item)
        self._event.set()

    def poll(self) -> Snapshot | None:
        """What was put first."""
        if not self._waiting:
            return None
        item = self._waiting.pop(0)
        if isinstance(item, Exception):
            raise item
        return item

    def wait(self, timeout: float) -> bool:
        """Sleep until something is put."""
        if self._waiting:
            return True
        found = self._event.wait(min(timeout, 0.2))
        self._event.clear()
        return found

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True
        self._event.set()
