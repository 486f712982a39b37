"""One session for eyes: context, forecast, decision, windows, chains, compactions."""

from __future__ import annotations

from monitor.decision.model import ACTION_WORDS, Decision
from monitor.reports import gather, shape
from monitor.reports.clock import Clock
from monitor.reports.tables import compactions, totals_table
from monitor.reports.text import (
    UNKNOWN,
    Ink,
    bar,
    cells,
    clean,
    cut,
    duration,
    middle,
    percent,
    table,
    tokens,
    usd,
    wrap,
)
from monitor.reports.words import ASSUMED, ESTIMATED, HOW, INKS, chain_name, plural, span, used_mark, used_tokens
from monitor.sessions.view import SessionView

_MOST_WINDOWS, _MOST_CHAINS = 12, 10
#: signals worth a line of their own when they rest on something assumed or estimated
_LIMIT_SOURCES = {"logged": "logged", "table": "by the model's table", "observed": "at least, as observed",
                  "user": "as you set it"}  # fmt: skip


def session(view: SessionView, decision: Decision | None, clock: Clock, ink: Ink, most: int) -> list[str]:
    """The part of the report that only one session has."""
    lines = _head(view, ink, most)
    lines += totals_table(shape.sums(view.sums), ink, most)
    if view.totals_only:
        return lines
    lines += ["", *_state(view, clock, ink, most)]
    if decision is not None:
        lines += ["", *advice(decision, ink, most)]
    lines += _windows(view, clock, ink, most)
    lines += _chains(view, ink, most)
    return lines + compactions([view], clock, ink, most)


def _head(view: SessionView, ink: Ink, most: int) -> list[str]:
    about = [view.source, ", ".join(clean(model) for model in view.models)]
    if view.project:
        about.append(f"project {clean(view.project)}")
    if view.evidence in ("chain", "prefix", "lane"):
        about.append(f"session formed by {view.evidence}")
    if view.parent:
        about.append(f"from {clean(view.parent)[:8]}")
    sums = view.sums
    parts = [plural(sums.calls, "turn")]
    agents = sum(1 for chain in view.chains if chain.chain.startswith("agent"))
    if agents:
        parts.append(plural(agents, "subagent"))
    if view.exchanges is not None:
        parts.append(plural(view.exchanges, "exchange"))
    if sums.side_calls:
        parts.append(plural(sums.side_calls, "side call"))
    if sums.error_calls:
        parts.append(f"{sums.error_calls:,} failed")
    if view.inherited_calls:
        parts.append(f"{view.inherited_calls:,} inherited")
    if view.windows:
        parts.append(plural(view.windows, "window"))
    if view.compactions:
        guessed = f" ({ESTIMATED}{view.inferred_compactions} inferred)" if view.inferred_compactions else ""
        parts.append(plural(view.compactions, "compaction") + guessed)
    return [
        ink("Session ", "bold") + middle(clean(view.session), most - 8),
        *wrap(" · ".join(part for part in about if part), most),
        *([] if view.totals_only else wrap(" · ".join(parts), most)),
        "",
    ]


def _state(view: SessionView, clock: Clock, ink: Ink, most: int) -> list[str]:
    rows: list[tuple[str, str]] = []
    usable = tokens(view.usable_limit) + (ASSUMED if view.usable_limit_assumed and view.usable_limit else "")
    now = f"{tokens(used_tokens(view), mark=used_mark(view))} of {usable}"
    if view.fill is not None:
        now += f" {bar(view.fill)} {percent(view.fill)}"
    rows.append(("context", f"{now} · peak {tokens(view.peak_prompt_tokens)}"))
    if view.context_limit is not None and view.context_limit_source is not None:
        rows.append(("window", f"{tokens(view.context_limit)} ({_LIMIT_SOURCES[view.context_limit_source]})"))
    hit = f"{percent(view.prefix_hit_ratio)} of the prefix, {percent(view.cache_hit_ratio)} of all prompt tokens"
    rows.append(("cache hit", hit if view.cache_hit_ratio is not None else "not reported by the provider"))
    rows.append(("forecast", forecast(view)))
    if view.quota is not None:
        quota = f"{view.quota.used_percent:g}% used"
        if view.quota.window_min:
            quota += f" of {duration(view.quota.window_min * 60)}"
        if view.quota.resets is not None:
            quota += f", resets {clock(view.quota.resets, '%m-%d %H:%M')}"
        rows.append(("quota", quota))
    size = max(cells(name) for name, _ in rows)
    out = []
    for name, value in rows:
        out += wrap(value, most, " " * (size + 4), first=f"  {ink(name.ljust(size), 'dim')}  ")
    return out


def forecast(view: SessionView) -> str:
    """Turns left until the usable limit, as a range, and the growth it rests on."""
    found = view.forecast
    if found is None or found.tokens_per_call is None:
        return "none yet: it takes 8 turns since the last reset"
    growth = f"growth {tokens(found.tokens_per_call)} a turn"
    if found.calls_to_limit is None:
        return f"{growth}, no limit in sight"
    left = found.calls_to_limit
    if not left.p90:
        return f"the usable limit is reached, {growth}"
    text = f"{span(left.p10, left.p50, left.p90)} turns to the limit"
    if found.exchanges_to_limit is not None and found.exchanges_to_limit.p50 >= 1:
        text += f", {found.exchanges_to_limit.p50:.0f} of your messages"
    text += f" (as in {found.own_contexts} of your contexts)" if found.own_contexts else ""
    return f"{text}, {growth}"


def advice(decision: Decision, ink: Ink, most: int) -> list[str]:
    """The decision with its reasons, what the three ways cost, and what would change it."""
    word = ink(ACTION_WORDS[decision.action], INKS[decision.action], "bold")
    lines = [f"{ink('Decision', 'bold')}  {word}"]
    lines += wrap(f"rule {decision.rule}, confidence {decision.confidence}", most)
    for reason in decision.reasons:
        lines += wrap(reason, most, "    ", first="  · ")
    costs = decision.costs
    if costs is not None and costs.continue_usd is not None:
        ways = ("go on", costs.continue_usd), ("compact", costs.compact_usd), ("new window", costs.new_window_usd)
        text = ", ".join(f"{name} {usd(value, mark=ESTIMATED)}" for name, value in ways)
        lines += wrap(f"the next {plural(costs.calls, 'turn')}: {text}", most)
    guessed = sorted(f"{name} {HOW[s.how]}" for name, s in decision.signals.items() if s.how in HOW and name in _TOLD)
    if guessed:
        lines += [ink(line, "dim") for line in wrap("rests on: " + ", ".join(guessed), most)]
    return lines + wrap(f"next: {decision.next}", most)


_TOLD = frozenset(("usable_limit", "context_limit", "remaining_calls", "cache_ttl_s", "tool_tokens"))


def _windows(view: SessionView, clock: Clock, ink: Ink, most: int) -> list[str]:
    found = gather.windows(view)
    if not found:
        return []
    several = len({row.chain for row in found}) > 1
    rows = []
    for row in found[-_MOST_WINDOWS:] if not several else found[:_MOST_WINDOWS]:
        ended = UNKNOWN if row.ended is None else row.ended.kind
        if row.ended is not None and row.ended.evidence == "inferred":
            ended = ESTIMATED + ended
        if row.ended is not None and row.ended.trigger:
            ended += f", {row.ended.trigger}"
        rows.append([
            chain_name(row.chain),
            str(row.window),
            f"{row.first.index}–{row.last.index}",
            f"{row.calls:,}",
            clock(row.first.call.time, "%m-%d %H:%M"),
            clock(row.last.call.time, "%H:%M"),
            tokens(row.opened),
            tokens(row.peak),
            tokens(row.closed),
            ended if row.ended is not None else ("open" if row.chain == "main" else UNKNOWN),
        ])  # fmt: skip
    head = ["chain", "window", "turns", "calls", "from", "to", "first", "peak", "last", "ended by"]
    drop = ("to", "calls", "window", "from", "chain") if several else ("chain", "to", "calls", "window", "from")
    about = cut("  prompt tokens of the first, the largest and the last turn", most - 7)
    lines = ["", ink("Windows", "bold") + ink(about, "dim")]
    lines += table(head, rows, right="lrrrlrrrrl", ink=ink, most=most, drop=drop, flex="ended by")
    if len(found) > _MOST_WINDOWS:
        lines.append(f"  … and {len(found) - _MOST_WINDOWS} more")
    return lines


def _chains(view: SessionView, ink: Ink, most: int) -> list[str]:
    if len([chain for chain in view.chains if chain.calls]) < 2:
        return []
    ordered = sorted(view.chains, key=lambda chain: (chain.chain != "main", -(chain.peak_prompt_tokens or 0)))
    rows: list[tuple[str, ...]] = [
        (
            chain_name(chain.chain),
            f"{chain.calls:,}",
            f"{chain.side_calls:,}" if chain.side_calls else "",
            tokens(chain.peak_prompt_tokens),
            tokens(chain.last_prompt_tokens),
            str(chain.windows),
            ", ".join(clean(model) for model in chain.models) or UNKNOWN,
        )
        for chain in ordered[:_MOST_CHAINS]
    ]
    head = ["chain", "turns", "peak", "last", "windows", "models"]
    if any(chain.side_calls for chain in ordered):
        head.insert(2, "side calls")
    else:
        rows = [row[:2] + row[3:] for row in rows]
    lines = ["", ink("Chains", "bold")]
    lines += table(
        head,
        rows,
        right="l" + "r" * (len(head) - 2) + "l",
        ink=ink,
        most=most,
        drop=("side calls", "windows", "last"),
        flex="models",
    )
    if len(ordered) > _MOST_CHAINS:
        lines.append(f"  … and {len(ordered) - _MOST_CHAINS} more")
    return lines
