"""Compares what the program says of a sample with the sample's ``expected.json``, figure by figure.

The shapes of expectations are those of the samples' README: sums over purpose work + compaction, one series of prompts
for each ``session|chain`` (captures: for each conversation; ``None``: all of them), partial compaction events, usage
lists. A figure whose key is null is not decidable from the file and any answer is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from monitor.records import Event
from monitor.sessions.view import Loaded, SessionView, Turn

SUMS = ("prompt_tokens", "fresh_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")
#: what stands in an expected event beside the fields of an EVENT, and how it is checked instead
_CALL_PROMPT, _WHERE, _CLEARED = "compaction_call_prompt", "where", "cleared_tool_uses"
#: figures of single files that are not compared, with the reason
UNDECIDABLE: dict[str, dict[str, str]] = {
    "codex/as_small.jsonl": {
        "windows": "118 lines of many sessions without times, one after the other; its compactions are null for that",
        "order": "its times are placeholders, so the order of the two calls is not known",
    },
    "claude_code/as_small.jsonl": {
        "models": "six rows of four models share one placeholder as their message id: which model is the call's?",
    },
    "codex.mitm": {
        "trigger": "the expectation leaves it open; the request's turn metadata states it (auto, context_limit)",
    },
}


class Comparison:
    """Everything that differs between a sample's figures and its expectation."""

    def __init__(self, found: Loaded, name: str, want: dict[str, Any]) -> None:
        self.found = found
        self.want = want
        self.skip = UNDECIDABLE.get(name, {})
        self.turns = [t for view in found.sessions for t in view.turns if t.call.status in ("ok", "estimated")]
        self.money = [turn for turn in self.turns if turn.call.purpose != "side"]
        self.events = [event for view in found.sessions for event in view.events]
        self.names = {view.session for view in found.sessions}
        self.wrong: list[str] = []

    def check(self, what: str, have: Any, expected: Any) -> None:
        if have != expected:
            self.wrong.append(f"{what}: {have!r}, expected {expected!r}")

    def differences(self) -> list[str]:
        """One line for each figure that is not as expected."""
        for key, compare in _COMPARE.items():
            if self.want.get(key) is not None and key not in self.skip:
                compare(self)
        self._sums()
        self._peaks()
        return self.wrong

    # ------------------------------------------------------------------------------------------------ counts
    def calls(self) -> None:
        self.check("calls", len(self.turns), self.want["calls"])

    def by_purpose(self) -> None:
        have = Counter(turn.call.purpose for turn in self.turns)
        self.check("purposes", dict(have), {k: n for k, n in self.want["by_purpose"].items() if n})

    def chains(self) -> None:
        have = Counter(turn.call.chain for turn in self.turns)
        expected = self.want["chains"]
        self.check("chains", dict(have) if isinstance(expected, dict) else sorted(have), _plain(expected))

    def models(self) -> None:
        have = Counter(str(turn.call.model) for turn in self.turns)
        expected = self.want["models"]
        self.check("models", dict(have) if isinstance(expected, dict) else sorted(have), _plain(expected))

    def source(self) -> None:
        for view in self.found.sessions:
            self.check("source", view.source, self.want["source"])

    def sessions(self) -> None:
        # a conversation of which only a refused request was captured is none that the expectation can count
        have = {turn.call.session for turn in self.turns}
        self.check("sessions", len(have), self.want["sessions"])

    def model_switches(self) -> None:
        have = sum(event.kind == "model_switch" for event in self.events)
        self.check("model switches", have, self.want["model_switches"])

    def user_prompts(self) -> None:
        self.check("exchanges", sum(view.exchanges or 0 for view in self.found.sessions), self.want["user_prompts"])

    def without_usage(self) -> None:
        have = sum(turn.call.prompt_tokens is None for turn in self.turns)
        self.check("calls without usage", have, self.want["calls_without_usage"])

    def lower_bounds(self) -> None:
        have = sum(turn.call.output_is_lower_bound for turn in self.turns)
        self.check("lower bounds", have, self.want["output_lower_bound_calls"])

    def copies(self) -> None:
        self.check(
            "copies", sum(v.inherited_calls for v in self.found.sessions), self.want["copied_calls_counted_once"]
        )

    def ledger(self) -> None:
        """Every request of the provider's ledger is a call or known not to be in the log; none is made up."""
        missing = len(self.want.get("unlogged_calls") or ())
        self.check("calls and unlogged requests", len(self.turns) + missing, self.want["ledger_calls"])

    def facts(self) -> None:
        facts = self.want["log_facts"]
        if "limit" in facts:
            known = {(t.context_limit, t.context_limit_source) for t in self.turns if t.call.prompt_tokens is not None}
            self.check("context limit", known, {(facts["limit"], "logged")} if known else known)
        if "errors" in facts:
            failed = sum(turn.call.status == "error" for view in self.found.sessions for turn in view.turns)
            self.check("failed calls", failed, facts["errors"])

    # ------------------------------------------------------------------------------------------------ tokens
    def _sums(self) -> None:
        for field in SUMS:
            if field not in self.want:
                continue
            values = [v for turn in self.money if (v := getattr(turn.call, field)) is not None]
            have = sum(values) if values else None
            if self.want[field] == 0 and have is None:
                continue  # not known, or nothing of it: the expectation does not tell these apart
            self.check(field, have, self.want[field])

    def _peaks(self) -> None:
        if "peak_prompt_tokens" in self.want:
            have = [v.peak_prompt_tokens for v in self.found.sessions if v.peak_prompt_tokens is not None]
            self.check("peak", max(have, default=None), self.want["peak_prompt_tokens"])
        if "peak_prompt_tokens_any_call" in self.want:
            any_call = [t.call.prompt_tokens for t in self.money if t.call.prompt_tokens is not None]
            self.check("peak of any call", max(any_call, default=None), self.want["peak_prompt_tokens_any_call"])

    def billed(self) -> None:
        have = sum(b for t in self.money if (b := t.call.billed_prompt_tokens) is not None)
        self.check("billed prompt", have, self.want["billed_prompt_tokens"])

    def billed_output(self) -> None:
        have = sum(
            sum(one[4] for one in t.call.billed) if t.call.billed else (t.call.output_tokens or 0) for t in self.money
        )
        self.check("output of all passes", have, self.want["output_tokens_all_iterations"])

    def usage(self) -> None:
        have = [
            {
                "prompt": c.prompt_tokens or 0,
                "read": c.cache_read_tokens or 0,
                "write": c.cache_write_tokens or 0,
                "out": c.output_tokens or 0,
                "reas": c.reasoning_tokens or 0,
            }
            for c in (turn.call for turn in self.turns)
        ]
        self.check("usage", have, self.want["usage"])

    def per_turn(self) -> None:
        """A stream of cumulative sums has no prompts of calls: none may be drawn, the total must be right."""
        prompts = {turn.call.prompt_tokens for turn in self.turns}
        if not prompts <= {None}:
            self.wrong.append("prompts of a stream that has none")
        totals = [view.sums.prompt_tokens for view in self.found.sessions]
        self.check("total of the thread", totals, [self.want["cumulative_input_tokens"][-1]])

    # ------------------------------------------------------------------------------------------------ series
    def series(self) -> None:
        expected = self.want["prompt_series"]
        work = [turn for turn in self.turns if turn.call.purpose == "work"]
        if isinstance(expected, list):
            self.check("series", _prompts(work), expected)
            return
        free = list(self.found.sessions)
        for key, series in expected.items():
            if key == "None":
                have = _prompts(sorted(work, key=lambda turn: (turn.call.time or 0, turn.call.line or 0)))
            elif "|" in key:
                session, _, chain = key.partition("|")
                have = _prompts([t for t in self.money if (t.call.session, t.call.chain) == (session, chain)])
                if "order" in self.skip:
                    have, series = sorted(have), sorted(series)
            else:
                have = self._conversation(key, series, free)
            self.check(f"series {key}", have, series)

    def _conversation(self, key: str, series: list[int], free: list[SessionView]) -> list[int]:
        """Prompts of the conversation that the expectation names: by the id if the capture holds it, else the one
        reconstructed conversation that fits best."""
        made = {view.session: _prompts([t for t in view.turns if _is_work(t)]) for view in free}
        if key in made:
            found = key
        elif made:
            found = max(made, key=lambda name: (made[name] == series, _alike(made[name], series)))
        else:
            return []
        free[:] = [view for view in free if view.session != found]
        return made[found]

    def windows(self) -> None:
        if self.want.get("sessions") is None:
            return
        have = {
            f"{view.session}|{chain.chain}": chain.windows
            for view in self.found.sessions
            for chain in view.chains
            if chain.chain != "side" and chain.calls
        }
        self.check("windows", have, self.want["windows"])

    # ------------------------------------------------------------------------------------------------ events
    def compactions(self) -> None:
        expected = self.want["compactions"]
        have = [event for event in self.events if event.kind == "compaction" and event.chain != "side"]
        self.check("compactions", len(have), len(expected))
        for wanted in expected:
            if not have:
                return
            best = min(have, key=lambda event: len(self._deviations(event, wanted)))
            self.wrong.extend(f"compaction {text}" for text in self._deviations(best, wanted))
            have.remove(best)

    def _deviations(self, event: Event, wanted: dict[str, Any]) -> list[str]:
        found: list[str] = []
        for field, value in wanted.items():
            if field in self.skip or (field == "session" and value not in self.names):
                continue  # a name that the capture does not hold
            have: Any
            if field == _CALL_PROMPT:
                have = self._summary_prompt(event)
            elif field == _WHERE:
                have = value if self._lies(event, value) else "elsewhere"
            else:
                have = getattr(event, field)
            if have != value:
                found.append(f"{field}: {have!r}, expected {value!r}")
        return found

    def _summary_prompt(self, event: Event) -> int | None:
        for view in self.found.sessions:
            for cost in view.compaction_costs:
                if cost.event is event:
                    return None if cost.summary_call_estimated else cost.summary_call_tokens
        return None

    def _lies(self, event: Event, where: str) -> bool:
        """Whether a compaction lies inside the call after it, or in the reply of the call before it."""
        view = next(v for v in self.found.sessions if event in v.events)
        if where.startswith("inside"):
            held = view.turns[event.before_call or 0].call
            return event.in_call == held.key and held.billed is not None
        return event.after_call is not None and event.recorded_before == view.turns[event.after_call].call.prompt_tokens

    def other_events(self) -> None:
        for wanted in self.want["other_events"]:
            # how many tool results were cleared is no word of an EVENT; the tokens of them are
            fields = {k: v for k, v in wanted.items() if k != _CLEARED and not (k == "session" and v not in self.names)}
            matches = [e for e in self.events if all(getattr(e, k) == v for k, v in fields.items())]
            self.check(f"event {fields}", len(matches), 1)
        kinds = Counter(wanted["kind"] for wanted in self.want["other_events"])
        for kind, count in kinds.items():
            self.check(f"events {kind}", sum(e.kind == kind for e in self.events), count)


def _plain(expected: Any) -> Any:
    if isinstance(expected, dict):
        return {key: count for key, count in expected.items() if count}
    return sorted(expected)


def _prompts(turns: Sequence[Turn]) -> list[int]:
    """Prompts in order; the expectations write 0 for an answer whose usage was not reported."""
    return [turn.call.prompt_tokens or 0 for turn in turns]


def _is_work(turn: Turn) -> bool:
    return turn.call.purpose == "work" and turn.call.status in ("ok", "estimated")


def _alike(one: list[int], other: list[int]) -> int:
    return sum((Counter(one) & Counter(other)).values())


_COMPARE: dict[str, Callable[[Comparison], None]] = {
    "calls": Comparison.calls,
    "by_purpose": Comparison.by_purpose,
    "chains": Comparison.chains,
    "models": Comparison.models,
    "source": Comparison.source,
    "sessions": Comparison.sessions,
    "model_switches": Comparison.model_switches,
    "user_prompts": Comparison.user_prompts,
    "calls_without_usage": Comparison.without_usage,
    "output_lower_bound_calls": Comparison.lower_bounds,
    "copied_calls_counted_once": Comparison.copies,
    "ledger_calls": Comparison.ledger,
    "log_facts": Comparison.facts,
    "billed_prompt_tokens": Comparison.billed,
    "output_tokens_all_iterations": Comparison.billed_output,
    "usage": Comparison.usage,
    "cumulative_input_tokens": Comparison.per_turn,
    "prompt_series": Comparison.series,
    "windows": Comparison.windows,
    "compactions": Comparison.compactions,
    "other_events": Comparison.other_events,
}
#: keys that are words for people, or figures of records that no output of the program shows
_NO_FIGURES = {"notes", "turns", "per_turn_input_tokens", "unlogged_calls", "peak_prompt_tokens",
               "peak_prompt_tokens_any_call", "shared_prefix_rows", "sum_last_total_tokens"}  # fmt: skip


def unknown_keys(want: dict[str, Any]) -> set[str]:
    """Keys of an expectation that no comparison looks at: a new one must be noticed."""
    return set(want) - set(_COMPARE) - set(SUMS) - _NO_FIGURES
