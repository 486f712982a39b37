"""A state as the text of a summary: five sections, English headings, the words of the conversation, within a budget.

The text can be read back (:mod:`former`), so that a later compaction merges it instead of nesting it. Order of what is
given up when the budget is short: the index of names, read files, resolved errors, values, findings, dead ends, what
else the user said, decisions, commits. Rules, open tasks, last results of checks and changed files stay longest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import msgspec

from monitor.compaction.blocks import (
    AFTER,
    FOLDER,
    HEADINGS,
    INTRO,
    NAMES,
    NONE,
    SECTION_KEYS,
    SPAN,
    TOLD,
    Block,
    Cleaner,
    blocks,
)
from monitor.compaction.sentences import one_line
from monitor.compaction.state import State
from monitor.conversation.marks import SUMMARY_CLOSE, SUMMARY_OPEN
from monitor.conversation.tokens import count

MOST = 4_000


class Summary(msgspec.Struct, frozen=True):
    """The text, its sections (without headings), and how many items found no room."""

    text: str
    sections: dict[str, str]
    omitted: int
    tokens: int
    most: int = MOST
    pointer: str = ""


def render(
    state: State,
    *,
    most: int = MOST,
    redact: Callable[[str], str] = str,
    pointer: str = "",
    told: Mapping[str, Sequence[str]] | None = None,
) -> Summary:
    """The summary of ``state`` within ``most`` tokens. ``pointer``: where the whole conversation can be looked up.

    ``told``: lines of a model by section; they come on top, and nothing goes for them.
    """
    lists = blocks(state, redact)
    omitted = 0
    for b in lists:
        omitted += _cap(b)
    text, sections = _text(state, lists, redact, pointer, omitted)
    names = [n for n in map(redact, state.names) if n not in text]
    if names:
        b = Block(
            "Facts", NAMES, names, 10, 260, [-float(i) for i in range(len(names))], [None] * len(names), inline=True
        )
        _cap(b)  # an index may be cut without a word
        lists.append(b)
        text, sections = _text(state, lists, redact, pointer, omitted)
    size = count(text)
    while size > most:
        victim = _victim(lists)
        if victim is None:
            break
        gone = _drop(victim, size - most)
        if not gone:
            break
        omitted += gone
        text, sections = _text(state, lists, redact, pointer, omitted)
        size = count(text)
    if told and any(told.values()):
        for heading, lines in told.items():
            if lines:
                n = len(lines)
                lists.append(Block(heading, TOLD, list(lines), 0, 0, [0.0] * n, [None] * n))
        text, sections = _text(state, lists, redact, pointer, omitted)
        size = count(text)
    return Summary(text, sections, omitted, size, most, pointer)


def as_object(summary: Summary) -> Summary:
    """The same summary with its sections as one JSON object: goal, progress, facts, decisions, next_steps, each a list
    of lines. What stands around the object stays, so that it is known and read back as a summary.
    """
    lines = summary.text.split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("## "))
    last = next((i for i, line in enumerate(lines) if line.startswith("[Original: ")), len(lines) - 1)
    told = {key: [x for x in summary.sections[name].split("\n") if x != NONE] for name, key in SECTION_KEYS.items()}
    text = "\n".join([*lines[: first - 1], json.dumps(told, ensure_ascii=False, indent=1), *lines[last:]])
    return msgspec.structs.replace(summary, text=text, tokens=count(text))


def from_object(text: str) -> str:
    """The text of a summary whose sections are an object, as :func:`render` writes it; any other text as it is."""
    start, end = text.find("\n{\n"), text.rfind("\n}\n")
    if not text.lstrip().startswith(SUMMARY_OPEN) or start < 0 or end < start:
        return text
    try:
        told = json.loads(text[start + 1 : end + 2])
    except ValueError:
        return text
    body = []
    for heading, key in SECTION_KEYS.items():
        said = told.get(key)
        body += ["", f"## {heading}", *([str(x) for x in said] if isinstance(said, list) and said else [NONE])]
    return "\n".join([text[:start], *body, text[end + 3 :]])


# ---------------------------------------------------------------------------------------------------- budget
def _cap(b: Block) -> int:
    """Take out the least important items until the list fits its own limit; how many went."""
    sizes = [count(x) + 2 for x in b.items]
    gone = 0
    while sum(sizes) > b.cap and len(sizes) > 1:
        at = _least(b)
        b.drop(at)
        del sizes[at]
        gone += 1
    return gone


def _least(b: Block) -> int:
    """Which item goes first: the lightest, of equals the oldest."""
    return min(range(len(b.items)), key=lambda i: (b.weights[i], i))


def _victim(blocks: list[Block]) -> Block | None:
    left = [b for b in blocks if b.items and b.rank > 0]
    return max(left, key=lambda b: (b.rank, sum(map(len, b.items)))) if left else None


def _drop(b: Block, tokens: int) -> int:
    gone, freed = 0, 0
    while b.items and freed < min(tokens, 150):
        at = _least(b)
        freed += count(b.items[at]) + 2
        b.drop(at)
        gone += 1
    return gone


# ---------------------------------------------------------------------------------------------------- text
def _text(
    state: State, blocks: list[Block], redact: Callable[[str], str], pointer: str, omitted: int
) -> tuple[str, dict[str, str]]:
    clean = Cleaner(state, redact)
    sections: dict[str, list[str]] = {h: [] for h in HEADINGS}
    goal = one_line(" ".join(s.text for s in state.goal if not s.kept and not s.by), 900)
    if goal:
        sections["Goal"].append(clean(goal))
    if state.root:
        sections["Facts"].append(f"{FOLDER} {state.root}")
    for b in blocks:
        if b.items:
            sections[b.section] += _lines(b)
    out = [SUMMARY_OPEN, INTRO]
    if state.folded:
        out.append(SPAN.format(state.folded))
    bodies = {}
    for heading in HEADINGS:
        body = "\n".join(sections[heading]) or NONE
        bodies[heading] = body
        out += ["", f"## {heading}", body]
    told = [pointer] if pointer else []
    if omitted:
        told.append(f"{omitted} less important entries were left out here")
    if told:
        out.append(f"[Original: {'; '.join(told)}]")
    out.append(SUMMARY_CLOSE)
    return "\n".join(out), bodies


def _lines(b: Block) -> list[str]:
    if b.inline:
        return [f"{b.label} " + ", ".join(b.items)]
    if b.numbered:
        return [f"{i}. {x}" for i, x in enumerate(b.items, 1)]
    out = [b.label] if b.label else []
    if not b.grouped:
        return out + [f"- {x}" for x in b.items]
    last: int | None = -1
    for text, turn in zip(b.items, b.turns):
        if turn != last:
            if turn:
                out.append(AFTER.format(turn))
            last = turn
        out.append(f"- {text}")
    return out
