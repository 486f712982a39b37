"""The preview of a compaction in lines: what it would do in numbers and words, and message by message."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.dashboard.compactor import Change, Preview, Retention
from monitor.dashboard.model.text import (
    UNKNOWN,
    Line,
    clip,
    exact,
    fill,
    fit,
    line_width,
    percent,
    printable,
    tokens,
    wrap,
)
from monitor.reports.words import ESTIMATED

#: of messages that go so many are listed: the first and the last of them
_LISTED = 1_000
_STYLES = {"-": "bad", "+": "good", "~": "warn", " ": "dim"}
_PARTS = {"calls": "tool calls", "results": "tool results"}


def preview_lines(preview: Preview, width: int) -> list[Line]:
    """Sizes before and after, what is kept word for word, what would be lost, and the summary."""
    out = _head(preview, width)
    if preview.blocked:
        out += _wrapped(preview.blocked, width, "✖ ", "bad")
    for warning in preview.warnings:
        out += _wrapped(warning, width, "⚠ ", "warn")
    out += _parts(preview, width)
    out += _list("Rules of the user, kept word for word", preview.rules, "= ", "good", width)
    out += _retention(preview.retention, width)
    out += _list("In the summary, but not in the source", preview.invented, "! ", "bad", width)
    out += _list("Repaired on the way", preview.repairs, "~ ", "warn", width)
    if preview.sections:
        out += [(), (("The summary", "accent bold"),)]
    for name, text in preview.sections:
        out.append(((name, "bold"),))
        out += _text(text, width, "+ ", "good")
    return [line if line_width(line) <= width else fit(line, width) for line in out]


def _head(preview: Preview, width: int) -> list[Line]:
    before, after = preview.tokens_before, preview.tokens_after
    mark = ESTIMATED if preview.estimated else ""
    ratio = percent(after / before) if before and after is not None else UNKNOWN
    out: list[Line] = [
        (("reads    ", "dim"), (_path(preview.source, width - 9), "")),
        (("writes   ", "dim"), (_path(preview.target, width - 9), "bold")),
        (),
        (("tokens   ", "dim"), (f"{exact(before, mark)} → {exact(after, mark)}", "bold"), (f"  {ratio} of it", "dim")),
    ]
    if preview.messages_before is not None:
        words = f"{exact(preview.messages_before)} → {exact(preview.messages_after)}"
        out.append((("messages ", "dim"), (words, "")))
    if preview.stays:
        out.append(fit((("kept     ", "dim"), (f"the last {preview.stays}", "")), width))
    prompt = preview.prompt_tokens
    if prompt is not None and before is not None and prompt > 1.1 * before:
        words = f"The last prompt had {exact(prompt)} tokens: the rest (system prompt, tools) is not in the file."
        out.extend(((line, "dim"),) for line in wrap(words, width))
    if before and after is not None:
        bar = max(8, width - 9)
        out.append((("before   ", "dim"), ("█" * bar, "read")))
        out.append((("after    ", "dim"), ("█" * max(1, round(bar * after / before)), "good")))
    return out


def _parts(preview: Preview, width: int) -> list[Line]:
    """Tokens of the request by part. Nothing where only one part is there."""
    if len(preview.parts) < 2:
        return []
    out: list[Line] = [(), (("What the next request holds", "accent bold"),)]
    for name, before, after in preview.parts:
        change = "" if before == after else f"{after - before:+,}"
        line: Line = (
            (fill(_PARTS.get(name, name), 14), ""),
            (fill(exact(before), 9, ">"), "dim"),
            (" → ", "dim"),
            (fill(exact(after), 9, ">"), "bold"),
            (f"  {change}", "good" if after < before else "warn"),
        )
        out.append(fit(line, width))
    return out


def _retention(kinds: Sequence[Retention], width: int) -> list[Line]:
    """What the new context still answers, class by class; every loss in its words."""
    if not kinds:
        return []
    lost = sum(kind.total - kind.kept for kind in kinds)
    whole = sum(kind.total for kind in kinds)
    title = f"Still to be found: {whole - lost} of {whole}" + ("" if lost else ", nothing would be lost")
    out: list[Line] = [(), ((title, "accent bold"),)]
    for kind in kinds:
        full = kind.kept == kind.total
        row: Line = (
            ("✓ " if full else "✗ ", "good" if full else "bad"),
            (fill(kind.kind, 18), ""),
            (f"{kind.kept} of {kind.total}", "dim" if full else "bold"),
        )
        out.append(fit(row, width))
        for text in kind.lost:
            out += _wrapped(text, width, "  - ", "bad")
    return out


def change_lines(preview: Preview, width: int) -> list[Line]:
    """Message by message: ``-`` goes into the summary, ``+`` comes, ``~`` stays but is changed, the rest stays."""
    signs = [change.sign for change in preview.changes]
    go, come, changed, stay = signs.count("-"), signs.count("+"), signs.count("~"), signs.count(" ")
    words = f"- {go:,} go   + {come:,} come   ~ {changed:,} change   {stay:,} stay as they are"
    out: list[Line] = [((clip(words, width), "bold"),), ()]
    gone = 0
    for change in preview.changes:
        if change.sign == "-" and go > 2 * _LISTED:
            gone += 1
            if gone == _LISTED + 1:
                out.append(((f"  … {go - 2 * _LISTED:,} more that go", "dim"),))
            if _LISTED < gone <= go - _LISTED:
                continue
        out += _change(change, width)
    return out


def _change(change: Change, width: int) -> list[Line]:
    style = _STYLES[change.sign]
    size = "" if change.tokens is None else tokens(change.tokens)
    lead: Line = ((f"{change.sign} ", style), (fill(size, 6, ">"), "dim"), ("  ", ""))
    who = printable(change.who)
    if change.sign == "+":
        return [fit((*lead, (who, style)), width), *_text(change.text, width, "+ ", style)]
    name = 22 if width >= 70 else max(4, min(12, width - 16))
    words = printable(change.text)
    strong = "" if change.sign != " " else "dim"
    return [fit((*lead, (fill(who, name), style if change.sign != " " else ""), (" ", ""), (words, strong)), width)]


def _text(text: str, width: int, sign: str, style: str) -> list[Line]:
    out: list[Line] = []
    for line in text.splitlines():
        out += _wrapped(line, width, sign, style)
    return out


def _list(title: str, items: Sequence[str], sign: str, style: str, width: int) -> list[Line]:
    if not items:
        return []
    out: list[Line] = [(), ((title, "accent bold"),)]
    for item in items:
        out += _wrapped(item, width, sign, style)
    return out


def _wrapped(text: str, width: int, sign: str, style: str) -> list[Line]:
    pieces = wrap(printable(text), width - len(sign))
    return [((sign if i == 0 else " " * len(sign), style), (piece, "")) for i, piece in enumerate(pieces)]


def _path(path: object, width: int) -> str:
    """The end of a path is what tells files apart."""
    text = printable(str(path))
    return text if len(text) <= width else "…" + text[-(max(1, width - 1)) :]
