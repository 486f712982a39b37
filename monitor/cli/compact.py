"""``ctxmon compact``: a smaller conversation file of the same format, with the proof of what survived."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitor.cli.common import CommandError

if TYPE_CHECKING:
    from monitor.compaction.engine import Outcome
    from monitor.compaction.options import Options
    from monitor.compaction.runfile import Stamp
    from monitor.compaction.settings import Settings
    from monitor.compaction.summarizer import Endpoint, Writer
    from monitor.compaction.verify import Proof
    from monitor.conversation.model import Conversation

DESCRIPTION = """Compact an exported conversation or a session file into a new file of the same format; the input is
never changed. System prompts and the last exchanges stay as they are; what is folded becomes one summary with the
user's rules word for word, files, checks, errors, decisions and open tasks. Without a model endpoint the summary is
made offline and costs nothing."""
EXAMPLES = """
examples:
  ctxmon compact chat.json                              writes chat.compact.json and says what survived
  ctxmon compact session.jsonl -o small.jsonl --keep-exchanges 3
  ctxmon compact chat.json --dry-run                    what would be sent, and what it would cost
  ctxmon compact chat.json --summarizer http://localhost:11434 --model qwen3:8b
  ctxmon compact chat.json --strategy trim              only old tool results and arguments
  ctxmon compact session.jsonl --strategy notes         HANDOFF.md for a new window
  ctxmon compact session.jsonl --append                 session files: history stays, the compaction goes to the end

presets (window of the model): small (20 messages, 6 kept), 4k, 8k, 16k, 32k, 64k, 128k, 200k, 400k, 1m
"""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `compact`."""
    from monitor.compaction.settings import help_text

    parser = subparsers.add_parser(
        "compact",
        parents=[parent],
        help="compact an exported conversation (the original is never changed)",
        description=DESCRIPTION,
        epilog=f"{EXAMPLES}\n{help_text()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        conflict_handler="resolve",
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="conversation or session file, - for stdin")
    add("-o", "--output", metavar="OUT", help="where (default: NAME.compact.EXT beside the input; - for stdout)")
    add("--to", metavar="FORMAT", help="openai-chat, anthropic or gemini, where a conversion loses nothing")
    add(
        "--keep-exchanges",
        "--keep-turns",
        dest="keep_exchanges",
        type=_count,
        metavar="N",
        help="the last N exchanges stay as they are (default 2; 0 allowed)",
    )
    add(
        "--keep-tokens",
        type=_count,
        metavar="N",
        help="tokens they may have (default 20000, and so many less that the output is under half of the input)",
    )
    add("--summary-tokens", type=_count, metavar="N", help="tokens the summary may have (default 4000)")
    add("--summary-format", choices=("text", "json"), help="five headings (default), or one object with five keys")
    add("--summarizer", metavar="offline|URL", help="offline (default), or the address of a model endpoint")
    add("--model", metavar="M", help="model of the endpoint")
    add("--api", choices=("chat", "responses", "anthropic"), help="dialect of the endpoint (default: by its address)")
    add("--mode", choices=("flat", "cache"), help="history as text, or behind the prefix of the working calls (cache)")
    add("--strategy", metavar="S", help="summary (default), trim, remote, notes, or several by commas")
    add("--preset", metavar="NAME", help="values for a window: small, 4k … 1m")
    add("--append", action="store_true", help="session files: keep the history in the file, the compaction at its end")
    add("--strict-roles", action="store_true", help="user and assistant must take turns (many chat templates)")
    add("--call", type=int, metavar="N", help="which request of a file that holds several, from 0")
    add("--force", action="store_true", help="overwrite OUT")
    add("--dry-run", action="store_true", help="write nothing; show both requests with tokens and cost")
    add("--report", choices=("text", "json"), default="text", help="report on stdout (default: text)")
    add("--ask-agent", action="store_true", help="print a prompt that asks the agent to write notes itself, and end")


def _count(text: str) -> int:
    scale = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower(), 1)
    try:
        value = round(float((text[:-1] if scale > 1 else text).replace("_", "").replace(",", "")) * scale)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number") from None
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def run(args: argparse.Namespace) -> int:
    """Run the command: 0 done or nothing to fold, 1 failure, 2 usage, 3 nothing usable."""
    from monitor.compaction.options import CompactionError
    from monitor.conversation.model import ConversationError

    try:
        return _run(args)
    except CompactionError as err:
        raise CommandError(str(err), err.code) from None
    except ConversationError as err:
        raise CommandError(str(err), 3) from None


def _run(args: argparse.Namespace) -> int:
    from monitor.compaction import runfile, settings
    from monitor.conversation import load

    if args.ask_agent:
        from monitor.compaction.notes import ASK_AGENT, MOST

        print(ASK_AGENT.format(file="HANDOFF.md", words=MOST // 2))
        return 0
    kept = settings.load(args.config)
    options = _options(args, kept)
    only_notes = options.strategies == ("notes",)
    out = _target(args, only_notes)
    if not args.dry_run and out != "-":
        runfile.refuse_existing(out, args.file, args.force)
    data, stamp = runfile.read(args.file)
    conv = load(data, path=args.file, call=args.call)
    at = _endpoint(args, kept, options, conv)
    if only_notes:
        return _notes(args, conv, out, stamp)
    return _compact(args, kept, options, conv, at, out, stamp)


def _compact(
    args: argparse.Namespace,
    kept: Settings,
    options: Options,
    conv: Conversation,
    at: Endpoint | None,
    out: str,
    stamp: Stamp | None,
) -> int:
    from monitor.cli.common import price_table
    from monitor.compaction import strategies

    prices = price_table(args)
    progress = _progress(args)
    writer: Writer | None = None
    remote = "remote" in options.strategies
    if at is not None and not remote:
        from monitor.compaction.summarizer import Writer as W

        writer = W(
            at,
            summary_tokens=options.summary_tokens,
            mode=args.mode or kept.compact.get("mode", "flat"),
            own_prompt=options.prompt,
            prices=prices,
            progress=progress,
        )
    if args.dry_run:
        return _dry(args, kept, options, conv, writer, prices)
    outcome, proof = strategies.apply(conv, options, writer=writer, remote=at if remote else None, told=progress)
    if outcome.output is None:
        _report(args, outcome, proof, None, options)
        return 0
    _loud(outcome)
    result = outcome.output
    left: list[str] = []
    if args.to:
        from monitor.compaction.convert import convert

        result, left = convert(outcome.output, args.to)
    _write(args, result, out, stamp)
    if "notes" in options.strategies:
        beside = Path(out).with_name(_notes_path(args.file).name) if args.output and out != "-" else None
        _notes(args, conv, str(beside or _notes_path(args.file)), stamp, quiet=True)
    _report(args, outcome, proof, out, options, {"converted_to": args.to, "left_out": left} if args.to else None)
    return 0


def _write(args: argparse.Namespace, conv: Conversation, out: str, stamp: Stamp | None) -> None:
    from monitor.compaction import runfile
    from monitor.conversation import dump

    data = dump(conv)
    if out == "-":
        runfile.unchanged(stamp)
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with runfile.locked(out):
        runfile.unchanged(stamp)
        runfile.write(out, data, args.file, args.force)


def _dry(
    args: argparse.Namespace, kept: Settings, options: Options, conv: Conversation, writer: Writer | None, prices: Any
) -> int:
    from monitor.compaction import dry_run, strategies

    if "remote" in options.strategies:
        raise CommandError("--dry-run shows summary and trim; what a remote compaction gives only the provider knows")
    outcome, proof = strategies.apply(conv, options, refuse=False)
    planned = dry_run.plan(outcome, writer, prices, kept.llm.get("main_model"))
    if args.report == "json":
        _report(args, outcome, proof, None, options, {"dry_run": planned})
    else:
        print(dry_run.as_text(planned, outcome))
    return 0


def _notes(args: argparse.Namespace, conv: Conversation, out: str, stamp: Stamp | None, quiet: bool = False) -> int:
    from monitor.compaction import runfile
    from monitor.compaction.collect import collect
    from monitor.compaction.notes import notes
    from monitor.compaction.redact import Redactor

    state = collect(conv)
    made = notes(
        conv,
        state,
        Redactor.of(conv),
        file=Path(out).name if out != "-" else "HANDOFF.md",
        source=args.file,
        digest=stamp.sha256 if stamp else "",
    )
    if args.dry_run or out == "-":
        print(made.text)
        return 0
    with runfile.locked(out):
        runfile.unchanged(stamp)
        runfile.write(out, made.text.encode("utf-8", "replace"), args.file, args.force)  # lone surrogates
    if quiet:
        return 0
    if args.report == "json":
        from monitor.compaction.report import notes_json

        print(json.dumps(notes_json(conv, state, made, out), ensure_ascii=False, indent=1))
    else:
        print(f"{out}: {made.tokens:,} tokens\n\nStart the new window with:\n\n{made.start}")
    return 0


def _target(args: argparse.Namespace, only_notes: bool) -> str:
    from monitor.conversation.files import default_output

    if args.output:
        return str(args.output)
    if only_notes:
        return str(_notes_path(args.file))
    path = default_output(args.file, "compact")
    for packed in (".gz", ".zst"):
        if path.name.endswith(f".compact{packed}"):  # what was compressed is written plain
            path = path.with_name(path.name.removesuffix(f".compact{packed}"))
            path = path.with_name(f"{path.stem}.compact{path.suffix}")
    return str(path)


def _notes_path(file: str) -> Path:
    return Path(file).with_name(f"{Path(file).stem}.HANDOFF.md") if file != "-" else Path("HANDOFF.md")


def _options(args: argparse.Namespace, kept: Settings) -> Options:
    """The command line over the settings file over the preset over the defaults."""
    from monitor.compaction.options import Options, preset, strategies

    chosen = args.preset or kept.compact.get("preset")
    base: dict[str, Any] = (
        {k: v for k, v in preset(chosen).items() if k in ("keep_exchanges", "keep_tokens", "summary_tokens")}
        if chosen
        else {}
    )
    own = kept.compact
    names = ("keep_tokens", "summary_tokens", "prompt", "prefix", "acknowledgement", "strict_roles")
    for key, name in (("keep", "keep_exchanges"), *((n, n) for n in names)):
        if key in own:
            base[name] = own[key]
    for name in ("keep_exchanges", "keep_tokens", "summary_tokens"):
        if getattr(args, name) is not None:
            base[name] = getattr(args, name)
    if args.strict_roles:
        base["strict_roles"] = True
    pointer = f"ctxmon show {Path(args.file).name}" if args.file != "-" else ""
    return Options(
        **base,
        strategies=strategies(args.strategy or own.get("strategy", "summary")),
        form=args.summary_format or own.get("summary_format", "text"),
        append=args.append,
        model=args.model,
        pointer=pointer,
    )


def _endpoint(args: argparse.Namespace, kept: Settings, options: Options, conv: Conversation) -> Endpoint | None:
    """The model endpoint asked for, None for offline."""
    where = args.summarizer or kept.llm.get("base_url") or "offline"
    remote = "remote" in options.strategies
    if where == "offline":
        if remote:
            raise CommandError(
                "--strategy remote needs the provider's address: --summarizer https://api.openai.com/v1 --model NAME"
            )
        return None
    from monitor.compaction.summarizer import endpoint_of

    llm = kept.llm
    api = (
        args.api
        or llm.get("api")
        or ({"responses": "responses", "anthropic": "anthropic"}.get(conv.format) if remote else None)
    )
    return endpoint_of(
        where,
        args.model or llm.get("summary_model") or (conv.model if remote else None),
        api=api,
        key_env=llm.get("api_key_env", ""),
        timeout=float(llm.get("timeout", 120)),
        max_retries=llm.get("max_retries", 3),
        window=llm.get("window"),
        max_output=llm.get("max_output"),
    )


def _progress(args: argparse.Namespace) -> Any:
    if args.quiet:
        return lambda text: None
    return lambda text: print(f"ctxmon compact: {text}", file=sys.stderr)


def _loud(outcome: Outcome) -> None:
    """What must be seen even with -q: a model that failed."""
    for note in outcome.notes:
        if "FAILED" in note:
            print(f"ctxmon compact: {note}", file=sys.stderr)


def _report(
    args: argparse.Namespace,
    outcome: Outcome,
    proof: Proof | None,
    path: str | None,
    options: Options,
    extra: dict[str, Any] | None = None,
) -> None:
    from monitor.compaction import report

    strategy = "+".join(options.strategies)
    stream = sys.stderr if path == "-" else sys.stdout
    if args.report == "json":
        print(
            json.dumps(
                report.as_json(outcome, proof, path=path, strategy=strategy, extra=extra), ensure_ascii=False, indent=1
            ),
            file=stream,
        )
    elif not args.quiet:
        print(report.as_text(outcome, proof, path=path, strategy=strategy), file=stream)
        for line in (extra or {}).get("left_out", []):
            print(f"  not carried over: {line}", file=stream)
