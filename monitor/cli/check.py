"""``ctxmon check``: is a conversation file valid for its provider, and if not, what is wrong and how to mend it."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitor.conversation.model import Conversation
    from monitor.conversation.rules import Violation

EPILOG = """\
examples:
  ctxmon check chat.json                          # exit 0: valid, 3: violations
  ctxmon check request.json --provider anthropic --format json
  ctxmon check chat.json --repair -o mended.json
  ctxmon check capture.har --call 4               # the fifth request of a capture

Formats: OpenAI Chat, Anthropic Messages, OpenAI Responses, Gemini (list or request body); Claude Code, Codex and Pi
sessions; Cline and Roo API history; opencode export; Hermes rows; ChatGPT and Claude.ai data exports; request bodies
in HAR files, LiteLLM logs and request/response lines. The format is found by content. Session files are judged by
what the model would see.
"""


def add_parser(subparsers: Any, common: argparse.ArgumentParser | None) -> None:
    """Add the command to ``subparsers``; ``common`` holds the options of all commands."""
    parser = subparsers.add_parser(
        "check",
        parents=[common] if common is not None else [],
        help="validate a conversation file for a provider",
        description="Validate a conversation file by the rules of its provider; list every violation with its place "
        "and how to mend it. Exit code 3 if there is any.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="conversation file, - for stdin")
    parser.add_argument(
        "--provider",
        choices=("openai-chat", "anthropic", "responses", "gemini", "claude-code", "codex", "pi"),
        help="judge by these rules (default: found by content)",
    )
    parser.add_argument("--repair", action="store_true", help="write a repaired copy and list what was done")
    parser.add_argument("-o", "--output", metavar="OUT", help="where (default: NAME.repaired.EXT beside the input)")
    parser.add_argument("--force", action="store_true", help="overwrite OUT")
    parser.add_argument(
        "--strict-roles", action="store_true", help="user and assistant must take turns (many chat templates demand it)"
    )
    parser.add_argument("--bedrock", action="store_true", help="tool blocks need tool definitions (Amazon Bedrock)")
    parser.add_argument("--max-bytes", type=_positive, metavar="N", help="largest request in bytes")
    parser.add_argument(
        "--call", type=int, metavar="N", help="which request or conversation of a file that holds several, from 0"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output (default: text)")


def _positive(text: str) -> int:
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("must be above 0")
    return value


def run(args: argparse.Namespace) -> int:
    """Run the command: 0 valid (or repaired into validity), 2 usage, 3 violations or nothing usable."""
    from monitor.conversation import load
    from monitor.conversation.model import ConversationError
    from monitor.conversation.rules import Violation, check

    if args.output and not args.repair:
        print("ctxmon check: -o needs --repair", file=sys.stderr)
        return 2
    options: dict[str, Any] = {
        "strict_roles": args.strict_roles,
        "bedrock": args.bedrock,
        "max_bytes": args.max_bytes,
    }
    try:
        conv = _load(load, args)
        found = check(conv, args.provider, warnings=True, **options)
    except ConversationError as err:
        if err.reason.startswith("cannot be read"):
            print(f"ctxmon check: {err}", file=sys.stderr)
            return 3
        where = f"line {err.line}" if err.line else "file"
        broken = [Violation("parse", where, err.reason, "export the file again")]
        _report(args, None, broken, None)
        return 3
    broken = [v for v in found if v.level == "error"]
    repaired: dict[str, Any] | None = None
    if args.repair and broken:
        try:
            repaired = _repair(args, conv, broken, options)
        except ConversationError as err:
            print(f"ctxmon check: {err}", file=sys.stderr)
            return 1
    _report(args, conv, found, repaired)
    left = repaired["violations"] if repaired is not None else broken
    return 3 if left else 0


def _load(load: Any, args: argparse.Namespace) -> Conversation:
    """The file in the format of the provider asked for where that is possible, else in its own."""
    from monitor.conversation.model import ConversationError

    if args.provider:
        try:
            conv: Conversation = load(args.file, call=args.call)
        except ConversationError:
            return load(args.file, args.provider, call=args.call)  # type: ignore[no-any-return]
        if conv.provider == args.provider or conv.container:
            return conv
        return load(args.file, args.provider, call=args.call)  # type: ignore[no-any-return]
    return load(args.file, call=args.call)  # type: ignore[no-any-return]


def _repair(
    args: argparse.Namespace, conv: Conversation, broken: list[Violation], options: dict[str, Any]
) -> dict[str, Any]:
    from monitor.conversation import dump
    from monitor.conversation.files import default_output, write_new
    from monitor.conversation.repair import repair
    from monitor.conversation.rules import check

    mended, done = repair(conv, broken, **options)
    if not done:
        return {"path": None, "done": [], "violations": broken}
    path = args.output or default_output(args.file, "repaired")
    write_new(path, dump(mended), source=args.file, force=args.force)
    return {"path": str(path), "done": done, "violations": check(mended, None, **options)}


def _report(
    args: argparse.Namespace, conv: Conversation | None, found: list[Violation], repaired: dict[str, Any] | None
) -> None:
    broken = [v for v in found if v.level == "error"]
    warnings = [v for v in found if v.level != "error"]
    if args.format == "json":
        out: dict[str, Any] = {
            "schema": "ctxmon.check/1",
            "file": args.file,
            "format": conv.format if conv else None,
            "provider": (args.provider or conv.provider) if conv else args.provider,
            "messages": len(conv.messages) if conv else None,
            "violations": [_plain(v) for v in broken],
            "warnings": [_plain(v) for v in warnings],
        }
        if conv is not None and conv.call_index is not None:
            out["call"] = conv.call_index
        if repaired is not None:
            left = [_plain(v) for v in repaired["violations"]]
            out["repaired"] = {"path": repaired["path"], "done": repaired["done"], "violations": left}
        print(json.dumps(out, ensure_ascii=False, indent=1))
        return
    quiet = bool(getattr(args, "quiet", False))
    for note in conv.notes if conv and not quiet else ():
        print(f"note: {note}", file=sys.stderr)
    _lines(broken)
    if not quiet:
        _lines(warnings, "warning ")
    if conv is not None:
        count = f"{len(broken)} violation{'' if len(broken) == 1 else 's'}" if broken else "valid"
        print(f"{args.file}: {conv.format}, {len(conv.messages)} messages, {count}")
    if repaired is not None:
        _repair_lines(args, repaired)


def _lines(violations: list[Violation], mark: str = "") -> None:
    for v in violations:
        hint = f"  -> {v.repair}" if v.repair else ""
        print(f"{mark}{v.code}  {v.where}  {v.message}{hint}")


def _repair_lines(args: argparse.Namespace, repaired: dict[str, Any]) -> None:
    for done in repaired["done"]:
        print(f"repaired: {done}")
    left = repaired["violations"]
    if repaired["path"]:
        print(f"written: {repaired['path']}, {len(left)} violation{'' if len(left) == 1 else 's'} left")
    else:
        print("nothing could be repaired; nothing was written")
    if repaired["path"]:
        _lines(left, "left: ")


def _plain(v: Violation) -> dict[str, str]:
    return {"code": v.code, "where": v.where, "message": v.message, "repair": v.repair}
