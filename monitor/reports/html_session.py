"""One session in the HTML report: its curve, what to do, windows, chains, compactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.decision.model import ACTION_WORDS, Decision
from monitor.decision.specs import SPECS, shown
from monitor.reports import gather, shape
from monitor.reports.clock import Clock
from monitor.reports.html_calls import call_rows
from monitor.reports.html_chart import event_words, picture, spark
from monitor.reports.html_parts import Raw, amount_bar, details, esc, meter, table, tag
from monitor.reports.sampling import Curve, curve, thin
from monitor.reports.session_text import forecast
from monitor.reports.text import UNKNOWN, clean, duration, percent, tokens, usd
from monitor.reports.words import (
    ASSUMED,
    ESTIMATED,
    HOW,
    chain_name,
    cost_mark,
    event_sign,
    output_mark,
    plural,
    short,
    used_mark,
    used_tokens,
)
from monitor.sessions.view import CompactionCost, SessionView, Turn

_SPARK_POINTS, _MOST_CHAINS, _MOST_EVENTS = 60, 40, 200
_SOURCES = {
    "logged": "logged",
    "table": "from the table of models",
    "observed": "observed: at least this",
    "user": "set by you",
}
_VERDICTS = {"paid back": "ok", "did not pay": "bad", "not yet": "soon"}


def badge(decision: Decision | None) -> Raw:
    """The advice as a word in its colour."""
    if decision is None:
        return Raw(UNKNOWN)
    return tag("span", ACTION_WORDS[decision.action], class_=f"badge a-{decision.action}")


def context(view: SessionView) -> str:
    """What the next prompt starts from, of the usable limit: each with its mark."""
    assumed = view.usable_limit is not None and view.usable_limit_assumed
    usable = tokens(view.usable_limit) + (ASSUMED if assumed else "")
    return f"{tokens(used_tokens(view), mark=used_mark(view))} of {usable}"


def main_chain(view: SessionView) -> str:
    """The chain whose curve stands for the session: main, or the longest one where main has no calls."""
    counts: dict[str, int] = {}
    for turn in view.turns:
        if turn.call.works:
            counts[turn.call.chain] = counts.get(turn.call.chain, 0) + 1
    return "main" if "main" in counts or not counts else max(counts, key=lambda chain: counts[chain])


def session_spark(turns: Sequence[Turn]) -> Raw:
    """The curve of the list: the peaks are kept."""
    known = [turn for turn in turns if turn.call.prompt_tokens is not None]
    kept = [known[place].call.prompt_tokens or 0 for place in thin(known, _SPARK_POINTS)] if known else []
    if len(kept) < 2:
        return Raw("")
    return spark(kept, f"prompt tokens from {tokens(kept[0])} to {tokens(kept[-1])}, largest {tokens(max(kept))}")


def block(
    view: SessionView, decision: Decision | None, clock: Clock, name: str, columns: int, *, open_: bool, signals: bool
) -> Raw:
    """Everything about a session, to unfold.

    Args:
        name: id of the block on its page.
        columns: calls its picture may show.
        open_: it is unfolded at first.
        signals: with the table of signals the decision rests on.
    """
    facts = [view.source, *(clean(model) for model in view.models[:3])]
    if view.project:
        facts.append(clean(view.project))
    facts.append("totals only" if view.totals_only else plural(view.sums.calls, "turn"))
    period = clock.period(view.first, view.last) or clock(view.first)
    if period != UNKNOWN:
        facts.append(period)
    summary = Raw(
        f"<b>{esc(short(view.session))}</b>{badge(decision) if not view.totals_only else ''}"
        f'<span class="soft">{esc(" · ".join(facts))}</span>'
    )
    if view.totals_only:
        text = "This tool logs sums per session only: there is no curve, and nothing can be said about the next turn."
        return details(summary, _facts(view, clock), tag("p", text), class_="session", id_=name, open_=open_)
    line = curve(view, main_chain(view), columns)
    parts: list[object] = [_facts(view, clock)]
    if line.turns:
        days = len({clock.day(turn.call.time) for turn in (line.turns[0], line.turns[-1])})
        heads, rows = call_rows(line, clock, days)
        parts.append(picture(view, line, clock, name, heads, rows))
    else:
        parts.append(tag("p", "No turn of this session has token counts, so there is no curve.", class_="soft"))
    left = [_decision(decision), _costs(decision)] if decision is not None else []
    right = [_now(view, clock)]
    parts.append(tag("div", tag("div", *left), tag("div", *right), class_="two"))
    if decision is not None and signals:
        parts.append(_signals(decision))
    parts += [_windows(view, clock), _chains(view), _compactions(view, clock), _events(view, clock)]
    return details(summary, *parts, class_="session", id_=name, open_=open_)


def _facts(view: SessionView, clock: Clock) -> Raw:
    sums = view.sums
    parts = [f"session {view.session}"]
    if view.evidence in ("chain", "prefix", "lane"):
        parts.append(f"formed by {view.evidence} ({ESTIMATED})")
    if view.parent:
        parts.append(f"continues {short(view.parent)}")
    for count, word in (
        (view.exchanges, "exchange"),
        (sums.side_calls, "side call"),
        (view.inherited_calls, "inherited turn"),
    ):
        if count:
            parts.append(plural(count, word))
    if sums.error_calls:
        parts.append(f"{plural(sums.error_calls, 'request')} failed")
    if sums.calls_without_usage:
        parts.append(f"{plural(sums.calls_without_usage, 'turn')} without token counts")
    return tag("p", " · ".join(parts), class_="soft")


def _decision(decision: Decision) -> Raw:
    reasons = tag("ul", *(tag("li", reason) for reason in decision.reasons))
    rule = tag("span", f" rule {decision.rule}, confidence {decision.confidence}", class_="soft")
    after = tag("p", tag("b", "next "), decision.next)
    return tag("div", tag("h3", "What to do"), tag("p", badge(decision), rule), reasons, after, class_="card")


def _costs(decision: Decision) -> Raw:
    costs = decision.costs
    if costs is None or costs.continue_usd is None:
        return tag(
            "p",
            "What the three ways cost is not known: the model has no price (--prices FILE adds one).",
            class_="soft",
        )
    ways = (("go on", costs.continue_usd), ("compact", costs.compact_usd), ("new window", costs.new_window_usd))
    largest = max(value for _, value in ways if value is not None)
    rows = [(name, usd(value, mark=ESTIMATED), amount_bar(value, largest)) for name, value in ways]
    title = f"cost of the next {plural(costs.calls, 'turn')}"
    note = tag("p", "assumed: " + ", ".join(costs.assumed), class_="soft") if costs.assumed else Raw("")
    return Raw(
        tag("h3", title[0].upper() + title[1:]) + table(("way", "USD", ""), rows, left=(0, 2), caption=title) + note
    )


def _now(view: SessionView, clock: Clock) -> Raw:
    rows: list[tuple[str, object]] = []
    fill = (
        Raw(f" {meter(view.fill, f'{percent(view.fill)} full')} {percent(view.fill)}") if view.fill is not None else ""
    )
    rows.append(("context", Raw(f"{esc(context(view))} usable{fill}")))
    if view.context_limit is not None and view.context_limit_source is not None:
        rows.append(("window", f"{tokens(view.context_limit)} ({_SOURCES[view.context_limit_source]})"))
    rows.append(("peak", tokens(view.peak_prompt_tokens)))
    rows.append(("forecast", forecast(view)))
    if view.forecast is not None and view.forecast.next_delta_p90 is not None:
        rows.append(("next turn", f"nine in ten grow by less than {tokens(view.forecast.next_delta_p90)}"))
    if view.cache_hit_ratio is not None:
        hit = f"{percent(view.prefix_hit_ratio)} of the prefix, {percent(view.cache_hit_ratio)} of all prompt tokens"
        rows.append(("from the cache", hit))
    else:
        rows.append(("from the cache", "not reported"))
    sums = view.sums
    output = tokens(sums.output_tokens, mark=output_mark(sums))
    if sums.reasoning_tokens:
        output += f", of it {tokens(sums.reasoning_tokens)} reasoning"
    rows.append(("output", output))
    cost = usd(sums.cost_usd, mark=cost_mark(sums))
    if sums.unpriced_calls and sums.cost_usd is not None:
        cost += f" ({plural(sums.unpriced_calls, 'turn')} without a price)"
    rows.append(("cost", cost))
    if view.quota is not None:
        quota = f"{view.quota.used_percent:g}% used"
        if view.quota.window_min:
            quota += f" of {duration(view.quota.window_min * 60)}"
        if view.quota.resets is not None:
            quota += f", resets {clock(view.quota.resets)}"
        rows.append(("quota", quota))
    return Raw(tag("h3", "Now") + tag("dl", *(Raw(tag("dt", a) + tag("dd", b)) for a, b in rows), class_="facts"))


def _signals(decision: Decision) -> Raw:
    rows = [
        (
            SPECS[id].title if id in SPECS else id,
            _value(id, signal.value),
            HOW.get(signal.how, signal.how),
            Raw(f"<code>{esc(id)}</code>"),
        )
        for id, signal in decision.signals.items()
        if signal.value is not None and signal.value != ""
    ]
    unknown = [SPECS[id].title if id in SPECS else id for id, s in decision.signals.items() if s.value is None]
    note = tag("p", "not known: " + ", ".join(dict.fromkeys(unknown)), class_="soft") if unknown else Raw("")
    body = table(
        ("signal", "value", "how it is known", "name in a table"),
        rows,
        left=(0, 2, 3),
        caption="signals of the decision",
    )
    return details(f"The {len(rows)} signals this rests on", body, note)


def _value(id: str, value: Any) -> str:
    try:
        return shown(id, value)
    except (TypeError, ValueError, KeyError):
        return str(value)


def _windows(view: SessionView, clock: Clock) -> Raw:
    found = gather.windows(view)
    if len(found) < 2:
        return Raw("")
    rows = []
    for row in found[:_MOST_CHAINS]:
        ended = "open" if row.chain == "main" else UNKNOWN
        if row.ended is not None:
            ended = event_words(row.ended, clock)
        rows.append(
            (
                chain_name(row.chain),
                row.window,
                f"{row.first.index}–{row.last.index}",
                f"{row.calls:,}",
                clock.period(row.first.call.time, row.last.call.time) or UNKNOWN,
                tokens(row.opened),
                tokens(row.peak),
                tokens(row.closed),
                tag("span", ended, class_="wrap"),
            )
        )
    head = ("chain", "window", "turns", "calls", "time", "first prompt", "peak", "last", "ended by")
    return Raw(tag("h3", "Windows") + table(head, rows, left=(0, 4, 8), caption="windows") + _more(found, _MOST_CHAINS))


def _chains(view: SessionView) -> Raw:
    chains = [chain for chain in view.chains if chain.calls]
    if len(chains) < 2:
        return Raw("")
    chains.sort(key=lambda chain: (chain.chain != "main", -(chain.peak_prompt_tokens or 0)))
    turns: dict[str, list[Turn]] = {}
    for turn in view.turns:
        if turn.call.works:
            turns.setdefault(turn.call.chain, []).append(turn)
    rows = [
        (
            chain_name(chain.chain, 24),
            session_spark(turns.get(chain.chain, ())),
            f"{chain.calls:,}",
            tokens(chain.peak_prompt_tokens),
            tokens(chain.last_prompt_tokens),
            chain.windows,
            ", ".join(chain.models) or UNKNOWN,
        )
        for chain in chains[:_MOST_CHAINS]
    ]
    head = ("chain", "prompts", "turns", "peak", "last", "windows", "models")
    return Raw(tag("h3", "Chains") + table(head, rows, left=(0, 1, 6), caption="chains") + _more(chains, _MOST_CHAINS))


def balance_cells(cost: CompactionCost, clock: Clock) -> tuple[object, ...]:
    """What one compaction took and gave, as cells."""
    event = cost.event
    summary = usd(cost.summary_call_usd, mark=ESTIMATED if cost.summary_call_estimated else "")
    evidence = ", ".join(part for part in (event.evidence, event.trigger) if part)
    return (
        clock(event.time),
        event.before_call if event.before_call is not None else UNKNOWN,
        f"{tokens(event.tokens_before)} → {tokens(event.tokens_after)}",
        f"{event_sign(event)} {evidence}",
        f"{summary} + {usd(cost.rewrite_usd)}",
        usd(cost.saved_usd),
        cost.break_even_call if cost.break_even_call is not None else UNKNOWN,
        cost.calls_after,
        tag("span", cost.verdict, class_=_VERDICTS.get(cost.verdict, "soft")),
    )


BALANCE_HEAD = (
    "time",
    "turn",
    "before → after",
    "evidence",
    "summary + rewriting",
    "saved",
    "pays after",
    "turns since",
    "verdict",
)


def _compactions(view: SessionView, clock: Clock) -> Raw:
    found = shape.balances(view)
    if not found:
        return Raw("")
    rows = [balance_cells(cost, clock) for cost in found[-_MOST_EVENTS:]]
    body = table(BALANCE_HEAD, rows, left=(0, 3, 8), caption="compactions and their balance")
    return Raw(tag("h3", "Compactions") + body + _more(found, _MOST_EVENTS))


def _events(view: SessionView, clock: Clock) -> Raw:
    found = [event for event in view.events if event.kind != "compaction"]
    if not found:
        return Raw("")
    lines = [
        tag(
            "li",
            event_sign(event),
            f" {chain_name(event.chain)}: {event_words(event, clock)}",
        )
        for event in found[:_MOST_EVENTS]
    ]
    return details(
        f"{plural(len(found), 'other event')}", tag("ul", *lines, class_="plain"), _more(found, _MOST_EVENTS)
    )


def _more(found: Sequence[object], most: int) -> Raw:
    if len(found) <= most:
        return Raw("")
    return tag("p", f"… and {len(found) - most:,} more (--format json lists all)", class_="soft")


__all__ = ["BALANCE_HEAD", "Curve", "badge", "balance_cells", "block", "context", "main_chain", "session_spark"]
