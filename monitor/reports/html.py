"""The report as one self-contained page: opens offline, asks nobody for anything, reads without script, prints.

Texts that come from logs are names and numbers only, and every one is escaped; a policy in the page forbids all
requests and every script but its own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from monitor._version import __version__
from monitor.decision.model import Decision
from monitor.reports import html_sections, shape
from monitor.reports.clock import Clock
from monitor.reports.html_parts import Raw, esc, meter, section, table, tag
from monitor.reports.html_session import BALANCE_HEAD, badge, balance_cells, block, context, main_chain, session_spark
from monitor.reports.html_style import CSS, JS
from monitor.reports.replayed import Summary
from monitor.reports.sampling import columns_for
from monitor.reports.text import UNKNOWN, clean, percent, tokens, usd
from monitor.reports.words import (
    AT_LEAST,
    ESTIMATED,
    cost_mark,
    output_mark,
    plural,
    short,
)
from monitor.sessions.misses import by_cause
from monitor.sessions.view import Loaded, SessionView

#: calls in all pictures together; 170 bytes each
_BUDGET, _MOST_COLUMNS, _LEAST_COLUMNS = 14_000, 480, 32
_MOST_BLOCKS, _MOST_LISTED, _MOST_COMPACTIONS, _OPEN = 400, 1_000, 200, 3
#: sessions whose signals are listed, 6 kB each
_MOST_SIGNALS = 40


def page(
    found: Loaded,
    decisions: Mapping[str, Decision],
    now_ms: int,
    *,
    zone: str | None = None,
    backtest: Summary | None = None,
) -> str:
    """`report --format html`: the whole page.

    Args:
        decisions: by session.
        now_ms: milliseconds since the epoch, shown as the time the page was made.
        zone: name of the time zone times are shown in; None: the machine's.
        backtest: policies against what happened, where it was cheap to replay.

    Raises:
        ReportError: there is no such time zone.
    """
    clock = Clock(zone)
    views = found.sessions
    total = shape.totals(views)
    parts = [_totals(views, total), _notes(found, total)]
    if len(views) > 1:
        parts.append(_sessions(views, decisions, clock))
    blocks = _blocks(views, decisions, clock)
    single = len(views) == 1
    if single:
        parts.append(blocks)
    parts += [html_sections.models(views), html_sections.days(views, clock, now_ms), html_sections.misses(views)]
    if not single:
        parts.append(_compactions(views, clock))
    parts.append(html_sections.backtest(views, backtest, clock))
    if not single:
        parts.append(blocks)
    parts.append(html_sections.problems(found))
    return _frame(found, total, clock, now_ms, [part for part in parts if part])


def _frame(found: Loaded, total: Mapping[str, Any], clock: Clock, now_ms: int, parts: Sequence[Raw]) -> str:
    script = base64.b64encode(hashlib.sha256(JS.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'; img-src data:"
    facts = [plural(len(found.sessions), "session"), plural(total["calls"], "turn")]
    firsts = [view.first for view in found.sessions if view.first is not None]
    lasts = [view.last for view in found.sessions if view.last is not None]
    if firsts and lasts:
        facts.append(clock.period(min(firsts), max(lasts)))
    made = f"made {clock(now_ms)} ({clock.name(now_ms)})"
    titles = {
        "sessions": "Sessions",
        "detail": "In detail",
        "models": "Models",
        "days": "Days",
        "misses": "Cache misses",
        "compactions": "Compactions",
        "backtest": "Backtest",
        "problems": "Problems",
    }
    links = "".join(
        f'<a href="#{id}">{title}</a>'
        for id, title in titles.items()
        if any(part.startswith(f'<section id="{id}"') for part in parts)
    )
    body = "\n".join(parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="ctxmon {__version__}">
<meta name="referrer" content="no-referrer">
<title>Context report: {esc(" · ".join(facts[:2]))}</title>
<link rel="icon" href="data:,">
<style>{CSS}</style>
</head>
<body>
<a class="skip" href="#main">to the content</a>
<header>
<h1>Context report</h1>
<p class="soft">{esc(" · ".join([*facts, made]))}</p>
</header>
<nav aria-label="parts of the page">{links}</nav>
<main id="main">
{body}
</main>
<footer><p>Made by ctxmon {__version__}. A turn is one API call; prompt = cache read + cache write + fresh. \
{UNKNOWN} is not known, ? assumed, {ESTIMATED} estimated or inferred, {AT_LEAST} at least.</p></footer>
<script>{JS}</script>
</body>
</html>
"""


def _totals(views: Sequence[SessionView], total: Mapping[str, Any]) -> Raw:
    prompts, reads = total["prompt_tokens"], total["cache_read_tokens"]
    share = reads / prompts if reads is not None and prompts else None
    missed = by_cause(views)
    known = [row.cost for row in missed if row.cost is not None]
    lost = usd(sum(known), mark=AT_LEAST if any(row.unpriced for row in missed) else "") if known else ""
    inferred = f"{total['inferred_compactions']} inferred" if total["inferred_compactions"] else ""
    cost = usd(total["cost_usd"], mark=cost_mark(total))
    each = usd(total["cost_usd"] / total["calls"]) + " a turn" if total["cost_usd"] and total["calls"] else ""
    reasoning = f"{tokens(total['reasoning_tokens'])} reasoning" if total["reasoning_tokens"] else ""
    missed_calls = f"{sum(total['cache_misses'].values()):,}" if reads is not None else UNKNOWN
    tiles = [
        ("Turns", f"{total['calls']:,}", f"+{total['side_calls']:,} side calls" if total["side_calls"] else ""),
        ("Prompt tokens", tokens(prompts), f"largest {tokens(total['peak_prompt_tokens'])}"),
        ("From the cache", percent(share), f"{tokens(reads)} tokens"),
        ("Output tokens", tokens(total["output_tokens"], mark=output_mark(total)), reasoning),
        ("Cost", cost, each),
        ("Compactions", f"{total['compactions']:,}", inferred),
        (
            "Cache misses",
            missed_calls,
            f"{lost} lost" if lost else "",
        ),
    ]
    cells = "".join(
        f"<div><dt>{esc(name)}</dt><dd>{esc(value)}<small>{esc(note)}</small></dd></div>" for name, value, note in tiles
    )
    return Raw(f'<dl class="tiles">{cells}</dl>{_mix(total)}')


def _mix(total: Mapping[str, Any]) -> str:
    """Where the prompts came from, as one bar with its figures."""
    prompts = total["prompt_tokens"]
    parts = [
        ("read", "cache read", total["cache_read_tokens"]),
        ("write", "cache write", total["cache_write_tokens"]),
        ("fresh", "fresh", total["fresh_tokens"]),
    ]
    known = [(kind, name, value) for kind, name, value in parts if value]
    if not prompts or total["cache_read_tokens"] is None or not known:
        return ""
    bars = "".join(f'<i class="{kind}" style="width:{100 * value / prompts:.2f}%"></i>' for kind, _, value in known)
    words = "".join(
        f'<span><i class="box {kind}"></i>{name} {tokens(value)} ({percent(value / prompts)})</span>'
        for kind, name, value in known
    )
    return f'<div class="mix" aria-hidden="true">{bars}</div><p class="legend">{words}</p>'


def _notes(found: Loaded, total: Mapping[str, Any]) -> Raw:
    from monitor.reports.report_text import notes
    from monitor.reports.text import Ink

    lines = [line.strip() for line in notes(found, total, Ink(None), 10_000) if line.strip()]
    return tag("ul", *(tag("li", line) for line in lines), class_="plain soft") if lines else Raw("")


def _sessions(views: Sequence[SessionView], decisions: Mapping[str, Decision], clock: Clock) -> Raw:
    rows = []
    for number, view in enumerate(views[:_MOST_LISTED]):
        about = " · ".join(clean(part) for part in (view.source, view.project) if part)
        name = Raw(f"{_link(view, number)}<small>{esc(about)}</small>")
        cost = usd(view.sums.cost_usd, mark=cost_mark(view.sums))
        last = clock(view.last if view.last is not None else view.first, "%m-%d %H:%M")
        if view.totals_only:
            sum_ = f"sum {tokens(view.sums.prompt_tokens)}"
            rows.append((name, last, "totals only", UNKNOWN, sum_, *[UNKNOWN] * 4, cost, UNKNOWN))
            continue
        chain = main_chain(view)
        turns = [turn for turn in view.turns if turn.call.chain == chain and turn.call.works]
        compactions = f"{view.compactions:,}"
        if view.inferred_compactions:
            compactions += f" ({ESTIMATED}{view.inferred_compactions})"
        full = f"{meter(view.fill, f'{percent(view.fill)} full')} {percent(view.fill)}" if view.fill is not None else ""
        rows.append(
            (
                name,
                last,
                session_spark(turns),
                f"{view.sums.calls:,}" + (f"+{view.sums.side_calls:,}" if view.sums.side_calls else ""),
                Raw(f"{esc(context(view))}<small>{full}</small>"),
                tokens(view.peak_prompt_tokens),
                percent(view.cache_hit_ratio),
                f"{sum(view.cache_misses.values()):,}" if view.cache_hit_ratio is not None else UNKNOWN,
                compactions,
                cost,
                badge(decisions.get(view.session)),
            )
        )
    head = (
        "session",
        "last",
        "prompts",
        "turns",
        "context now",
        "peak",
        "hit",
        "misses",
        "compactions",
        "cost",
        "advice",
    )
    body = table(head, rows, left=(0, 1, 2, 4, 10), caption="sessions", class_="list")
    if len(views) > _MOST_LISTED:
        more = f"… and {len(views) - _MOST_LISTED:,} older ones (--format json lists all)"
        body = Raw(body + tag("p", more, class_="soft"))
    return section("sessions", "Sessions", body)


def _link(view: SessionView, number: int) -> Raw:
    """A session's name, leading to its part of the page if it has one."""
    name = short(view.session)
    return tag("a", name, href=f"#s{number + 1}") if number < _MOST_BLOCKS else Raw(esc(name))


def _blocks(views: Sequence[SessionView], decisions: Mapping[str, Decision], clock: Clock) -> Raw:
    shown = views[:_MOST_BLOCKS]
    columns = columns_for([len(view.turns) for view in shown], _BUDGET, _MOST_COLUMNS, _LEAST_COLUMNS)
    blocks = [
        block(
            view,
            decisions.get(view.session),
            clock,
            f"s{number + 1}",
            columns,
            open_=number < _OPEN or len(shown) <= 6,
            signals=number < _MOST_SIGNALS,
        )
        for number, view in enumerate(shown)
    ]
    note = ""
    if len(views) > len(shown):
        note = f"the latest {len(shown)}; --session ID shows another one"
    return section("detail", "Session" if len(views) == 1 else "Sessions in detail", *blocks, note=note)


def _compactions(views: Sequence[SessionView], clock: Clock) -> Raw:
    rows = []
    for number, view in enumerate(views):
        name = _link(view, number)
        rows += [(cost.event.time or 0, (name, *balance_cells(cost, clock))) for cost in shape.balances(view)]
    if not rows:
        return Raw("")
    rows.sort(key=lambda row: row[0], reverse=True)
    body = table(
        ("session", *BALANCE_HEAD),
        [row for _, row in rows[:_MOST_COMPACTIONS]],
        left=(0, 1, 4, 9),
        caption="compactions and their balance",
    )
    if len(rows) > _MOST_COMPACTIONS:
        body = Raw(body + tag("p", f"… and {len(rows) - _MOST_COMPACTIONS:,} more", class_="soft"))
    return section("compactions", "Compactions and what they gave", body)
