"""``ctxmon show``: read back a part of a conversation or session file, folded history included."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitor.conversation.model import Conversation, Message

EPILOG = """\
examples:
  ctxmon show session.jsonl                    # outline: one line a message
  ctxmon show session.jsonl --exchange 3       # what the user asked third, and all that followed
  ctxmon show session.jsonl --call 17          # one answer with its tool calls and their results
  ctxmon show session.jsonl --search 'deadlock'
  ctxmon show session.jsonl --line 812         # the message on that line, as summaries and notes point to it

Keys and passwords are replaced by a mark; --raw shows the text as it is.
"""
_SHORT = 100


def add_parser(subparsers: Any, common: argparse.ArgumentParser | None) -> None:
    """Add the command to ``subparsers``; ``common`` holds the options of all commands."""
    parser = subparsers.add_parser(
        "show",
        parents=[common] if common is not None else [],
        help="read back a part of a conversation or session file",
        description="Read back a part of a conversation or session file: also what was folded by a compaction.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="conversation or session file, - for stdin")
    parser.add_argument(
        "--call",
        type=int,
        metavar="N",
        help="the answer of call N with its results (counted from 0, as the index of `ctxmon calls`); "
        "in a capture: request N",
    )
    parser.add_argument("--exchange", type=int, metavar="N", help="the Nth user message and all up to the next one")
    parser.add_argument("--search", metavar="TEXT", help="messages that contain the text (case does not matter)")
    parser.add_argument("--line", type=int, metavar="N", help="the message on line N of a session file")
    parser.add_argument("--last", type=int, metavar="N", help="the last N messages")
    parser.add_argument("--raw", action="store_true", help="do not remove keys and passwords")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output (default: text)")


def run(args: argparse.Namespace) -> int:
    """Run the command: 0 shown, 2 no such part, 3 nothing usable."""
    from monitor.conversation import load
    from monitor.conversation.model import ConversationError

    try:
        conv = load(args.file)
        if args.call is not None and (conv.container or conv.calls_in_file > 1):
            conv = load(args.file, call=args.call)
            args.call = None
    except ConversationError as err:
        print(f"ctxmon show: {err}", file=sys.stderr)
        return 3
    if not getattr(args, "quiet", False):
        for note in conv.notes:
            print(f"note: {note}", file=sys.stderr)
    messages = list(conv.system) + list(conv.history())
    line = _line_of_call(args) if args.call is not None else None
    chosen, fault = _choose(args, messages) if line is None else _call_at(args.call, line, messages)
    if fault:
        print(f"ctxmon show: {args.file}: {fault}", file=sys.stderr)
        return 2
    clean = _identity if args.raw else _cleaner()
    if args.format == "json":
        print(json.dumps([_plain(m, clean) for m in chosen], ensure_ascii=False, indent=1))
    elif args.search:
        _hits(chosen, args.search, clean)
        print(f"{len(chosen)} message{'' if len(chosen) == 1 else 's'} with the text", file=sys.stderr)
    elif any(x is not None for x in (args.call, args.exchange, args.line, args.last)):
        print("\n\n".join(_full(m, clean) for m in chosen))
    else:
        _outline(conv, chosen, clean)
    return 0


def _identity(text: str) -> str:
    return text


def _cleaner() -> Callable[[str], str]:
    from monitor.conversation.secrets import redact

    return redact


def _choose(args: argparse.Namespace, messages: list[Message]) -> tuple[list[Message], str]:
    """(the messages asked for, what is wrong with the question)."""
    if args.exchange is not None:
        chosen = [m for m in messages if m.exchange == args.exchange]
        most = max((m.exchange or 0 for m in messages), default=0)
        return chosen, "" if chosen else f"there is no exchange {args.exchange}; it has {most}"
    if args.line is not None:
        chosen = [m for m in messages if m.line == args.line]
        return chosen, "" if chosen else f"line {args.line} holds no message"
    if args.call is not None:
        calls = _calls(messages)
        if not 0 <= args.call < len(calls):
            told = f"; it has {len(calls)}, counted from 0" if calls else ": no answer of a model was found"
            return [], f"there is no call {args.call}{told}"
        return calls[args.call], ""
    if args.search:
        wanted = args.search.casefold()
        return [m for m in messages if any(wanted in t.casefold() for _, t in _texts(m))], ""
    if args.last is not None:
        return messages[-args.last :] if args.last > 0 else [], ""
    return messages, ""


def _line_of_call(args: argparse.Namespace) -> int | None:
    """Line of the call that `ctxmon calls` lists under this index, in a session file; None where it knows none."""
    if args.file == "-":
        return None
    from monitor.sessions.load import Request, load

    file = Path(args.file)
    # subagents in the session's own folder count in its index
    beside = file.with_suffix("")
    paths = [args.file, str(beside)] if beside != file and beside.is_dir() else [args.file]
    for view in load(Request(paths=paths, cache=False)).sessions:
        for turn in view.turns:
            if turn.index == args.call and turn.call.file == args.file:
                return turn.call.line
    return None


def _call_at(number: int, line: int, messages: Sequence[Message]) -> tuple[list[Message], str]:
    """The answer that stands on a line, with its results."""
    for answer in _calls(messages):
        if any(m.line is not None and m.role == "assistant" and m.line >= line for m in answer):
            return answer, ""
    return [], f"the answer of call {number} (line {line}) holds no message"


def _calls(messages: Sequence[Message]) -> list[list[Message]]:
    """The answers in order, each with the results of its calls."""
    out: list[list[Message]] = []
    owner: dict[str, int] = {}
    group = ""
    before = ""
    for m in messages:
        if m.role == "assistant" and m.mark != "skipped" and not m.opaque:
            if not (m.group and m.group == group) and not (before == "assistant" and not m.group):
                out.append([])
            group = m.group
            out[-1].append(m)
            for c in m.calls:
                owner[c.id] = len(out) - 1
        elif m.results:
            for at in {owner[r.call_id] for r in m.results if r.call_id in owner}:
                out[at].append(m)
        before = m.role
    return out


def _texts(m: Message) -> list[tuple[str, str]]:
    """(label, text) of everything readable in a message."""
    from monitor.conversation.model import Image, Opaque, Other, Text, Thinking, ToolCall, ToolResult

    out: list[tuple[str, str]] = []
    for p in m.parts:
        if isinstance(p, Text):
            out.append(("", p.text))
        elif isinstance(p, Thinking):
            out.append(("thinking", p.text or "(not readable)"))
        elif isinstance(p, ToolCall):
            out.append((f"call {p.name}", p.arguments_text))
        elif isinstance(p, ToolResult):
            images = f"\n[{p.images} image(s)]" if p.images else ""
            out.append(("error" if p.is_error else "result", p.text + images))
        elif isinstance(p, Image):
            out.append(("", f"[image: {p.media_type}]"))
        elif isinstance(p, Opaque):
            out.append(("compaction", p.text or "(not readable)"))
        elif isinstance(p, Other) and (p.text or p.kind):
            out.append((p.kind, p.text))
    return out


def _title(m: Message) -> str:
    who = "summary" if m.is_summary else m.role
    exchange = f", exchange {m.exchange}" if m.exchange else ""
    return f"{m.where or 'message'}{exchange}, {who}"


def _full(m: Message, clean: Callable[[str], str]) -> str:
    body = [f"{label}: {clean(text)}" if label else clean(text) for label, text in _texts(m)]
    return f"--- {_title(m)}\n" + "\n".join(body)


def _outline(conv: Conversation, messages: Sequence[Message], clean: Callable[[str], str]) -> None:
    what = f"{conv.format}, {len(messages)} messages, {len(conv.messages)} of them in the next request"
    print(f"{conv.path}: {what}")
    for m in messages:
        said = "; ".join(f"{label}: {text}" if label else text for label, text in _texts(m))
        print(f"{_title(m)}: {_short(clean(said))}")


def _hits(messages: Sequence[Message], wanted: str, clean: Callable[[str], str]) -> None:
    for m in messages:
        for label, text in _texts(m):
            for line in text.splitlines():
                if wanted.casefold() in line.casefold():
                    print(f"{_title(m)}{', ' + label if label else ''}: {_around(clean(line), wanted)}")


def _around(line: str, wanted: str) -> str:
    at = line.casefold().find(wanted.casefold())
    if at <= _SHORT:
        return _short(line, max(_SHORT * 2, at + len(wanted)))
    return "…" + _short(line[at - _SHORT // 2 :], _SHORT * 2)


def _short(text: str, width: int = _SHORT) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def _plain(m: Message, clean: Callable[[str], str]) -> dict[str, Any]:
    return {
        "where": m.where,
        "line": m.line,
        "exchange": m.exchange,
        "role": m.role,
        "summary": m.is_summary,
        "parts": [{"kind": label or "text", "text": clean(text)} for label, text in _texts(m)],
    }
