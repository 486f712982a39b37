"""Hand-built sessions for decision tests: a few numbers in, a SessionView out."""

from __future__ import annotations

from dataclasses import dataclass, field

from monitor.records import Call, Event, Step
from monitor.sessions.forecast import ALPHA, forecast
from monitor.sessions.view import ChainView, SessionView, Sums, Turn

NOW = 1_790_000_000_000  # a moment in September 2026
MODEL = "claude-sonnet-4-5-20250929"


@dataclass
class Session:
    """Builds a view of the main chain. Times run back from NOW: the last call began ``idle`` seconds before it."""

    source: str = "claude-code"
    model: str = MODEL
    provider: str | None = "anthropic"
    window: int | None = 200_000
    usable: int | None = 167_000
    idle: int = 20
    gap: int = 10
    output: int = 300
    ttl: int | None = None
    tier: str | None = None
    turns: list[Turn] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    _before: int | None = None
    _window: int = 1

    def call(self, prompt: int, *, read: int | None = None, cause: str | None = None, output: int | None = None):
        """One work call; it reads the whole prompt of the one before unless told otherwise."""
        expected = self._before
        if read is None:
            read = expected or 0
        outcome = "first" if expected is None else "hit" if read >= 0.9 * expected else "miss"
        call = Call(
            session="s1",
            source=self.source,
            file="s1.jsonl",
            provider=self.provider,
            model=self.model,
            prompt_tokens=prompt,
            fresh_tokens=10,
            cache_read_tokens=read,
            cache_write_tokens=max(0, prompt - read - 10),
            output_tokens=self.output if output is None else output,
            cache_ttl_s=self.ttl,
            service_tier=self.tier,
        )
        delta = None if self._before is None or self._reset_just_now() else prompt - self._before
        self.turns.append(
            Turn(
                call=call,
                index=len(self.turns),
                window=self._window,
                expected_read=expected,
                cache_outcome=outcome,
                cache_miss_cause=cause if outcome != "hit" else None,
                context_limit=self.window,
                delta=delta,
            )
        )
        self._before = prompt
        return self

    def _reset_just_now(self) -> bool:
        return bool(self.events) and self.events[-1].before_call == len(self.turns)

    def grow(self, start: int, by: int, calls: int):
        for n in range(calls):
            self.call(start + n * by)
        return self

    def compact(self, after: int | None, *, pending: bool = False):
        """A compaction; ``after`` is the first prompt behind it. ``pending``: no call has been made since."""
        at = len(self.turns)
        self.events.append(
            Event(
                kind="compaction",
                evidence="recorded",
                session="s1",
                file="s1.jsonl",
                tokens_before=self._before,
                tokens_after=None if pending else after,
                recorded_after=after if pending else None,
                after_call=at - 1,
                before_call=None if pending else at,
            )
        )
        self._window += 1
        return self

    def did(self, *steps: Step):
        self.steps += steps
        return self

    def view(self) -> SessionView:
        n = len(self.turns)
        turns = []
        for i, turn in enumerate(self.turns):
            time = NOW - 1000 * (self.idle + self.gap * (n - 1 - i))
            turns.append(_replace(turn, call=_replace(turn.call, time=time)))
        last = turns[-1] if turns else None
        mean, deltas, recent = None, 0, []
        for turn in turns:
            if turn.delta is None:
                mean, deltas, recent = None, 0, []
                continue
            mean = turn.delta if mean is None else mean + ALPHA * (turn.delta - mean)
            deltas += 1
            recent.append(turn.delta)
        used = None if last is None else last.call.prompt_tokens + last.call.output_tokens
        reads = sum(t.call.cache_read_tokens for t in turns)
        prompts = sum(t.call.prompt_tokens for t in turns)
        return SessionView(
            session="s1",
            source=self.source,
            evidence="explicit",
            files=("s1.jsonl",),
            models=(self.model,),
            first=turns[0].call.time if turns else None,
            last=last.call.time if last else None,
            turns=turns,
            events=self.events,
            sums=Sums(calls=n),
            buckets=(),
            chains=[
                ChainView(
                    chain="main",
                    calls=n,
                    side_calls=0,
                    peak_prompt_tokens=max((t.call.prompt_tokens for t in turns), default=None),
                    last_prompt_tokens=last.call.prompt_tokens if last else None,
                    windows=self._window,
                )
            ],
            exchanges=1,
            peak_prompt_tokens=None,
            last_prompt_tokens=last.call.prompt_tokens if last else None,
            last_output_tokens=last.call.output_tokens if last else None,
            last_turn=last,
            context_limit=self.window,
            context_limit_source="table" if self.window else None,
            usable_limit=self.usable,
            usable_limit_assumed=True,
            fill=used / self.usable if used is not None and self.usable else None,
            cache_hit_ratio=reads / prompts if prompts else None,
            prefix_hit_ratio=None,
            cache_misses={},
            windows=self._window,
            compactions=len(self.events),
            inferred_compactions=0,
            forecast=forecast(
                used=used,
                usable=self.usable,
                window=self.window,
                mean_delta=mean,
                deltas=deltas,
                recent=recent[-40:],
            ),
            steps=self.steps,
        )


def _replace(struct, **changes):
    import msgspec

    return msgspec.structs.replace(struct, **changes)


# ------------------------------------------------------------------------------------------------------- steps
_ids = iter(range(1, 1_000_000))


def tool(category="shell", *, ok=True, key=1, error=0, flags=(), said=(), paths=(), todos=None, size=100, result=True):
    """A tool call and its result as steps."""
    id = f"t{next(_ids)}"
    call = Step(
        session="s1",
        kind="tool_call",
        id=id,
        category=category,
        key=key,
        flags=flags,
        paths=paths,
        todos=todos,
        time=NOW - 5000,
    )
    if not result:
        return [call]
    return [
        call,
        Step(session="s1", kind="tool_result", id=id, ok=ok, error_key=error, flags=said, size=size, time=NOW - 4000),
    ]


def say(*flags, words=(), paths=(), time=NOW - 3000, kind="user"):
    return Step(session="s1", kind=kind, flags=flags, words=words, paths=paths, time=time, size=50)


def answer():
    return Step(session="s1", kind="answer", time=NOW - 2000)


# ------------------------------------------------------------------------------------------------- transcripts
def transcript(path, prompts, *, pending=False, end=NOW, compactions=(), name="s1"):
    """Write a Claude Code transcript: one Bash call a prompt size; ``compactions``: {before call: size after}.

    Args:
        pending: the last tool call has no result.
        end: when the last call began, ms since the epoch; ten seconds lie between calls.
    """
    import json
    from datetime import UTC, datetime

    def stamp(ms):
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    base = {"sessionId": name, "isSidechain": False, "version": "2.1.0", "cwd": "/home/u/shop"}
    start = end - 10_000 * (len(prompts) - 1)
    lines = [{**base, "type": "user", "uuid": f"u0-{name}", "timestamp": stamp(start - 1000),
              "message": {"role": "user", "content": "Port the importer."}}]  # fmt: skip
    before = 0
    done = dict(compactions)
    for n, prompt in enumerate(prompts):
        at = start + 10_000 * n
        if n in done:
            lines.append({**base, "type": "system", "subtype": "compact_boundary", "uuid": f"c{n}-{name}",
                          "timestamp": stamp(at - 500),
                          "compactMetadata": {"trigger": "auto", "preTokens": before, "postTokens": done[n]}})  # fmt: skip
            before = 0
        usage = {"input_tokens": 10, "cache_creation_input_tokens": prompt - before - 10,
                 "cache_read_input_tokens": before, "output_tokens": 300,
                 "cache_creation": {"ephemeral_5m_input_tokens": prompt - before - 10, "ephemeral_1h_input_tokens": 0}}  # fmt: skip
        content = [
            {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"sed -n {n}p src/a{n}.py"}}
        ]
        lines.append({**base, "type": "assistant", "uuid": f"a{n}-{name}", "timestamp": stamp(at), "requestId": f"r{n}-{name}",
                      "message": {"id": f"m{n}-{name}", "role": "assistant", "model": MODEL, "stop_reason": "tool_use",
                                  "content": content, "usage": usage}})  # fmt: skip
        if not (pending and n == len(prompts) - 1):
            lines.append({**base, "type": "user", "uuid": f"u{n + 1}-{name}", "timestamp": stamp(at + 3000),
                          "message": {"role": "user", "content": [
                              {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"line {n}"}]}})  # fmt: skip
        before = prompt
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
