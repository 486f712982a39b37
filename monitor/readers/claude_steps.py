"""What happened between the calls of a Claude Code transcript. See :mod:`.claude_code`.

Decisions look at the latest steps of the main chain only, so lines that may tell of steps are noted as they are and
turned into :class:`~monitor.records.Step` when records are taken: a long transcript costs its last lines. Results of
tools make up three quarters of most transcripts; they are not even decoded before that (:class:`Results`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from monitor.readers import claude_lines as shape
from monitor.readers import steps
from monitor.readers.claude_group import Group
from monitor.readers.lines import later, readable
from monitor.readers.times import iso_ms
from monitor.records import Step

#: steps kept of a chain when not all are asked for; signals look no further back
RECENT_STEPS = 40
#: lines noted for them: not every line of an answer is a step
_NOTED = 4 * RECENT_STEPS
#: a line of this size in bytes is worth a search whether it must be decoded; a shorter one only if it looks like it
LONG = 4_096
#: a longer line is turned into steps at once, so that what is noted stays small
_HUGE = 1 << 18
#: bytes up to which the text of a result is always decoded
_TEXT = 2_000
#: how a line begins whose message is the result of a tool, up to inside of its first block
_MESSAGE, _BEGINNING, _PARENT = b'"message":{"role":"user","content":[{', b'{"parentUuid"', b'{"parentUuid":"'
_RESULT, _ANSWER, _SIDECHAIN = b'"type":"tool_result"', b'"requestId"', b'"isSidechain":true'
_UNNAMED = b'"type":"assistant"'
_QUOTE, _OPENING, _CLOSING = b'"{}'
_HEAD, _REACH, _TAIL = 1_024, 192, 1_024
#: a line's first key holds a UUID; what follows from here up to the message is often the same in line after line
OWN = 52

#: an answer's line, one that ends the turn as well; results of tools; a user's text; a line that was not decoded
Kind = Literal["said", "ended", "results", "user", "line", "steps"]
#: (kind, answer or name of the session, line number, time as logged, message, text, raw line or finished steps)
Note = tuple[Kind, "Group | str", int, str | None, Any]
Opened = tuple[Note, "list[shape.Block]"]


class Results:
    """Tells by its two ends whether a line is one whole record that holds the result of a tool and nothing else.

    Quotes inside of JSON strings are escaped, so the bytes looked for cannot be part of a text. Keys before ``message``
    hold plain values. A second record glued to it by another writer would show by its beginning; in a long line that is
    looked for only at the end, where every answer shows itself as well. Where anything is unusual the answer is no.

    Most lines differ from the last such line in nothing before their message but the first value; that is told by one
    comparison. (By slices and by single bytes as numbers: in CPython a search for bytes costs four times as much before
    it begins.)
    """

    __slots__ = ("_kind", "head", "inside", "sidechain")

    def __init__(self) -> None:
        self.head = b"\n"  # of the last such line, from OWN up to inside of its first block; this one is of no line
        self.inside = 0  # where that is
        self._kind = 0  # where the block says what it is
        self.sidechain = False  # whether the line that was asked for last says that it is of a side chain

    def hold(self, raw: bytes) -> bool:
        """Whether a line is one of them."""
        inside, kind = self.inside, self._kind
        if not (
            raw[OWN:inside] == self.head
            and raw[: len(_PARENT)] == _PARENT
            and raw[OWN - 1] == _QUOTE
            and _QUOTE not in raw[len(_PARENT) : OWN - 1]
            and raw[kind : kind + len(_RESULT)] == _RESULT
            and _CLOSING not in raw[inside:kind]
        ) and not self._look(raw):
            return False
        if raw[-2:] != b"}\n":
            return False
        if len(raw) > LONG:
            tail = raw[-_TAIL:]
            begins = _OPENING in tail and _BEGINNING in tail
            # what an answer ends with, or begins and ends with where it names no request
            return not begins and _ANSWER not in tail and _UNNAMED not in tail
        return raw.find(_BEGINNING, self.inside) < 0

    def _look(self, raw: bytes) -> bool:
        """Whether a line begins as one of them, whatever the last one was like."""
        start = raw.find(_MESSAGE, 0, _HEAD)
        if start < 0 or (kind := raw.find(_RESULT, start, start + _REACH)) < 0 or raw.find(b"}", start, kind) >= 0:
            return False
        if raw.find(b"{", 1, start) >= 0 or raw.find(b'"type":"user"', 0, start) < 0 or raw[:1] != b"{":
            return False
        self.inside, self._kind = start + len(_MESSAGE), kind
        head = raw[OWN : self.inside]
        self.head = head if b'"type":"user"' in head else b"\n"
        self.sidechain = _SIDECHAIN in raw[:start]
        return True


class Notes:
    """Lines that may tell of steps, the latest ones of each chain.

    Args:
        detail: keep every step of every chain.
        parent: the session that all lines belong to, if the file's place tells it.
        session: that of lines that do not name theirs.
    """

    __slots__ = ("_categories", "_detail", "_main", "_parent", "_session", "_steps", "noted")

    def __init__(self, detail: bool, parent: str | None, session: str) -> None:
        self._detail, self._parent, self._session = detail, parent, session
        self._main: deque[Note] = deque(maxlen=None if detail else _NOTED)
        #: note a short line of the main chain
        self.noted: Callable[[Note], None] = self._main.append
        self._steps: list[Step] = []
        self._categories: dict[str, str] = {}  # of tool calls whose result is still to come

    def add(self, chain: str, note: Note, size: int = 0) -> None:
        """Note a line of any chain; ``size`` in bytes where it may be large."""
        if chain != "main" or size > _HUGE:
            one = self._open(note)
            made = self._read(chain, [one]) if one is not None else []
            if chain != "main":
                self._steps += made
                return
            note = ("steps", "", note[2], None, made)
        self.noted(note)

    def settle(self) -> None:
        """Turn what is noted into steps: all of it where every step counts, else the latest ones."""
        opened: list[Opened] = []
        found = 0
        # from the end: lines before the latest steps are not looked at
        for note in reversed(self._main):
            if found >= RECENT_STEPS and not self._detail:
                break
            one = self._open(note)
            if one is None:
                continue
            if not (one[0][0] == "ended" and opened and opened[-1][0][:2] == one[0][:2]):  # an answer ends once
                found += len(note[4]) if note[0] == "steps" else len(one[1]) or 1
            opened.append(one)
        self._main.clear()
        latest = self._read("main", reversed(opened))
        self._steps += latest if self._detail else latest[-RECENT_STEPS:]

    def take(self) -> list[Step]:
        """The steps since the last time."""
        if self._main:
            self.settle()
        out, self._steps = self._steps, []
        return out

    def _open(self, note: Note) -> Opened | None:
        """A note with its blocks that are steps; None if it tells of none."""
        kind, _, number, _, told = note
        if kind == "user" or kind == "steps":
            return note, []
        if kind == "line":
            line = reread(told)
            if line is None:
                return None
            note = ("results", self._parent or line.sessionId or self._session, number, line.timestamp, None)
            return note, [block for block in line.message.content if block.type == "tool_result"]
        said = kind == "said" or kind == "ended"
        if said and bytes(told.content).find(b'"tool_use"') < 0:
            return (note, []) if kind == "ended" else None  # quotes in a text are escaped
        content = shape.content_of(told)
        wanted = "tool_use" if said else "tool_result"
        blocks = [block for block in content if block.type == wanted] if isinstance(content, list) else []
        return (note, blocks) if blocks or kind == "ended" else None

    def _read(self, chain: str, opened: Iterable[Opened]) -> list[Step]:
        found: list[Step] = []
        for (kind, whose, number, stamp, told), blocks in opened:
            if kind == "steps":
                found += told
                continue
            time = iso_ms(stamp) if stamp else None
            if isinstance(whose, Group):
                session = whose.session
                found += [self._call(session, chain, time, number, block) for block in blocks]
                if kind == "ended" and not blocks and not whose.answered:
                    whose.answered = True
                    found.append(steps.answer(session, chain, time, number))
            elif kind == "user":
                found.append(steps.user(whose, chain, time, number, told))
            else:
                found += [self._result(whose, chain, time, number, block) for block in blocks]
        return found

    def _call(self, session: str, chain: str, time: int | None, number: int, block: shape.Block) -> Step:
        step = steps.tool_call(session, chain, time, number, block.id or "", block.name or "", bytes(block.input))
        if len(self._categories) > _NOTED:
            self._categories.clear()
        self._categories[step.id] = step.category
        return step

    def _result(self, session: str, chain: str, time: int | None, number: int, block: shape.Block) -> Step:
        name = block.tool_use_id or ""
        ok = None if block.is_error is None else not block.is_error
        category = self._categories.pop(name, None)
        raw = block.content
        if ok and len(raw) > _TEXT and category in steps.SHOWS:
            # nothing but its size is of interest: that of the text as logged, which is near enough
            return Step(session=session, kind="tool_result", chain=chain, time=time, line=number, id=name, ok=ok,
                        size=len(raw) - 2)  # fmt: skip
        content = later(raw) if raw else ""
        if isinstance(content, list):
            content = "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
        return steps.tool_result(session, chain, time, number, name, ok, str(content or ""), category)


def reread(raw: bytes) -> shape.ResultLine | None:
    """A line that was noted undecoded; None if it is no record after all."""
    try:
        return shape.decode_result(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    found = readable(raw)
    if not found or not isinstance(found[0], dict):
        return None
    line = shape.decode(shape.lenient(found[0]))
    content = shape.content_of(line.message) if line.message is not None else None
    blocks = content if isinstance(content, list) else []
    return shape.ResultLine(shape.ResultMessage(blocks), line.sessionId, line.timestamp)
