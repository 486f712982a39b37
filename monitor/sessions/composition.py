"""What a context is made of, where its texts are in a file: parts in tokens, what grew, reads that are out of date.

Made on request only: it opens the session's own file, counts every text (about ten megabytes a second) and keeps
nothing of it. Counts are scaled to the provider's own (:mod:`monitor.sessions.calibration`); what no text explains is
told as the residual, never hidden. No text leaves this module: parts are names and numbers.

Definitions. The context is the prompt of the last call of the main chain. *Results* are by tool. *Client* is what the
client put into user messages by itself. *Thinking* counts from the last message the user typed, where providers drop
older thinking. *Not in the log* is what every prompt of the window held beyond the logged texts (system, tools).
A file read is *stale* if the file was edited after it, *superseded* if the same file (or the same part of it) was read
again later; each token counts once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from monitor.sessions.calibration import Calibration, calibrate, is_o200k, whole
from monitor.sessions.view import SessionView, Turn

if TYPE_CHECKING:
    from monitor.conversation.model import Conversation, Message

_ORDER = ("system", "tools", "not in the log", "summary", "user", "client", "assistant", "thinking", "tool calls")
_LAST = ("images", "opaque", "other")
#: formats whose older thinking is not sent again
_DROPS_THINKING = ("claude-code", "anthropic")


class Part(msgspec.Struct, frozen=True, gc=False):
    """One part of a context: what kind of content, how many tokens, and whether that is an estimate."""

    name: str
    tokens: int
    estimated: bool = True


class Composition(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a context and how well they are known."""

    parts: tuple[Part, ...]
    grown: tuple[Part, ...] | None  # added since the first call after the last reset; None: the file does not tell
    prompt_tokens: int | None  # the provider's own count
    residual: int | None  # the provider's count less all parts
    calibration: Calibration
    read_tokens: int  # in results of file reads
    stale_tokens: int  # of them, reads of files that were edited afterwards
    superseded_tokens: int  # of them, reads of what was read again later
    estimated: bool  # no tokenizer here: texts are counted by script


def composition(view: SessionView) -> tuple[Part, ...] | None:
    """The parts of a session's present context, None where its texts are not at hand."""
    found = examine(view)
    return found.parts if found is not None else None


def examine(view: SessionView) -> Composition | None:
    """Open the session's own file and take its context apart; None if the file holds no texts or cannot be read."""
    if view.last_turn is None:
        return None
    from monitor.sessions.texts import conversation_of

    conv = conversation_of(view.last_turn)
    return compose(conv, view.turns) if conv is not None else None


def compose(conv: Conversation, turns: Sequence[Turn] = ()) -> Composition:
    """Take a conversation apart.

    Args:
        conv: as its file holds it.
        turns: the session's calls, for the provider's own counts; those of other chains and windows are left out.
    """
    from monitor.conversation import tokens

    main = _main(turns)
    window = [turn for turn in main if turn.window == main[-1].window]
    model = window[-1].call.model if window else conv.model
    fixed = {"system": sum(tokens.count(m.text) + tokens.MESSAGE_TOKENS for m in conv.system), "tools": _tools(conv)}
    keep_thinking = _thinking_from(conv)
    names = _tool_names(conv.messages)
    amounts = [_amounts(m, index >= keep_thinking, names) for index, m in enumerate(conv.messages)]
    counted = [sum(entry.values()) for entry in amounts]
    before = _running(counted, start=sum(fixed.values()))
    known = _Places(conv.messages)
    places = [(turn, place) for turn in window if (place := known.of(turn)) is not None] if conv.lines else []
    last = window[-1].call.prompt_tokens if window else None
    if not places:
        end, first = len(amounts), None
        # a request body holds all of the prompt; a session file none of the tools
        line = calibrate([(before[-1], last)], model) if conv.lines and last else whole(before[-1], last, model)
    else:
        end, first = places[-1][1], places[0][1]
        pairs = [(before[p], t.call.prompt_tokens) for t, p in places if t.call.prompt_tokens is not None]
        line = calibrate(pairs, model)
        if not line.measured:
            line = calibrate(pairs, model, _earlier(conv, turns, window[-1]))
    exact = is_o200k(model) and abs(line.factor - 1) < 0.03 and not tokens.estimated()
    total = dict(fixed)
    _add(total, amounts[:end])
    if line.outside:
        total["not in the log"] = round(line.outside / line.factor)
    parts = _parts(total, line.factor, exact)
    grown: tuple[Part, ...] | None = None
    if first is not None:
        added: dict[str, int] = {}
        _add(added, amounts[first:end])
        grown = _parts(added, line.factor, exact)
    reads, stale, superseded = _reads(conv.messages[:end])
    return Composition(
        parts=parts,
        grown=grown,
        prompt_tokens=last,
        residual=last - sum(part.tokens for part in parts) if last is not None else None,
        calibration=line,
        read_tokens=round(reads * line.factor),
        stale_tokens=round(stale * line.factor),
        superseded_tokens=round(superseded * line.factor),
        estimated=tokens.estimated(),
    )


# ---------------------------------------------------------------------------------------------------------- counting
def _tools(conv: Conversation) -> int:
    if not conv.tools:
        return 0
    from monitor.conversation.jsonio import dumps
    from monitor.conversation.tokens import count

    return count(dumps(conv.tools))


def _thinking_from(conv: Conversation) -> int:
    """Index of the first message whose thinking is still in the context."""
    if conv.format not in _DROPS_THINKING:
        return 0
    return next((m.index for m in reversed(conv.messages) if m.typed), 0)


def _tool_names(messages: Iterable[Message]) -> dict[str, str]:
    return {call.id: call.name for m in messages for call in m.calls if call.id}


def _amounts(message: Message, thinking: bool, tool_names: dict[str, str]) -> dict[str, int]:
    """Counted tokens of one message by part."""
    from monitor.conversation import Image, Opaque, Text, Thinking, ToolCall, ToolResult, tokens

    out: dict[str, int] = {}

    def add(name: str, number: int) -> None:
        out[name] = out.get(name, 0) + number

    said = "summary" if message.is_summary else str(message.role)
    if said == "tool":
        said = "user"
    elif said == "user" and message.synthetic:
        said = "client"
    frame = said
    for part in message.parts:
        if isinstance(part, Text):
            add(said, tokens.count(part.text))
        elif isinstance(part, ToolCall):
            add("tool calls", tokens.count(part.name) + tokens.count(part.arguments_text))
        elif isinstance(part, ToolResult):
            frame = f"results: {part.name or tool_names.get(part.call_id) or 'unknown tool'}"
            add(frame, tokens.count(part.text))
            if part.images:
                add("images", part.images * tokens.IMAGE_TOKENS)
        elif isinstance(part, Thinking):
            if thinking:
                add("thinking", tokens.count(part.text))
        elif isinstance(part, Image):
            add("images", tokens.IMAGE_TOKENS)
        elif isinstance(part, Opaque):
            add("opaque", max(1, len(str(part.text or message.raw)) // 4))
        else:
            add("other", tokens.count(part.text))
    add(frame, tokens.MESSAGE_TOKENS)
    return out


def _running(counted: Sequence[int], start: int) -> list[int]:
    """Counted tokens in front of each message, and of all of them."""
    out = [start]
    for number in counted:
        out.append(out[-1] + number)
    return out


def _add(total: dict[str, int], entries: Iterable[dict[str, int]]) -> None:
    for entry in entries:
        for name, number in entry.items():
            total[name] = total.get(name, 0) + number


def _parts(total: dict[str, int], factor: float, exact: bool) -> tuple[Part, ...]:
    """Parts in the order of a prompt, results of tools by size."""
    results = sorted((n for n in total if n.startswith("results: ")), key=lambda n: (-total[n], n))
    names = [*_ORDER, *results, *_LAST]
    soft = ("not in the log", "images", "opaque")
    return tuple(
        Part(name, round(total[name] * factor), not exact or name in soft) for name in names if total.get(name)
    )


def _earlier(conv: Conversation, turns: Sequence[Turn], last: Turn) -> list[list[tuple[int, int]]]:
    """Counted tokens and the provider's counts in earlier windows of the main chain, with the same model."""
    messages = conv.history()
    places = _Places(messages)
    names = _tool_names(messages)
    before = _running([sum(_amounts(message, False, names).values()) for message in messages], start=0)
    found: dict[int, list[tuple[int, int]]] = {}
    for turn in _main(turns):
        if turn.window != last.window and turn.call.model == last.call.model:
            place = places.of(turn)
            if place is not None and turn.call.prompt_tokens is not None:
                found.setdefault(turn.window, []).append((before[place], turn.call.prompt_tokens))
    return list(found.values())


# ---------------------------------------------------------------------------------------------------------- places
def _main(turns: Sequence[Turn]) -> list[Turn]:
    """Work calls of the main chain whose prompt is known."""
    return [
        t for t in turns if t.call.chain == "main" and t.call.purpose == "work" and t.call.prompt_tokens is not None
    ]


class _Places:
    """Where calls stand among messages."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._groups: dict[str, int] = {}
        for place, message in enumerate(messages):
            if message.group:
                self._groups.setdefault(message.group, place)
        lines = [message.line for message in messages]
        self._lines = [line for line in lines if line is not None] if None not in lines else []

    def of(self, turn: Turn) -> int | None:
        """Index of the first message that a call did not send: its own answer. None if it is not among them."""
        call = turn.call
        if call.call_id in self._groups:
            return self._groups[call.call_id]
        if call.line is None or not self._lines:
            return None
        place = bisect_right(self._lines, call.line)
        while place > 0 and self._messages[place - 1].role == "assistant":
            place -= 1
        return place or None


# ---------------------------------------------------------------------------------------------------------- reads
def _reads(messages: Sequence[Message]) -> tuple[int, int, int]:
    """Counted tokens of file reads: all, stale ones, superseded ones."""
    from monitor.conversation import tokens
    from monitor.readers import steps

    read: dict[str, tuple[int, int, tuple[object, ...]]] = {}  # call id -> path, place, part of the file
    reads: list[tuple[int, int, tuple[object, ...], int]] = []  # path, place, part, tokens
    edited: dict[int, int] = {}  # path -> last place of an edit
    edits: dict[str, tuple[int, int]] = {}
    for place, message in enumerate(messages):
        for call in message.calls:
            step = steps.tool_call("", "main", None, None, call.id, call.name, call.arguments_text.encode())
            if len(step.paths) != 1 and step.category == "read":
                continue
            for path in step.paths:
                if step.category == "edit":
                    edits[call.id] = (path, place)
                    edited[path] = place
                elif step.category == "read":
                    held = call.arguments or {}
                    part = tuple(held.get(key) for key in ("offset", "limit", "view_range", "start_line", "end_line"))
                    read[call.id] = (path, place, part)
        for result in message.results:
            if result.is_error and result.call_id in edits:
                path, at = edits[result.call_id]
                if edited.get(path) == at:
                    del edited[path]
            if result.call_id in read and not result.is_error:
                path, at, part = read[result.call_id]
                reads.append((path, at, part, tokens.count(result.text)))
    total = sum(entry[3] for entry in reads)
    stale = superseded = 0
    for number, (path, place, part, size) in enumerate(reads):
        if edited.get(path, -1) > place:
            stale += size
        elif any(p == path and (q == part or not any(q)) for p, _, q, _ in reads[number + 1 :]):
            superseded += size
    return total, stale, superseded
