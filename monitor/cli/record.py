"""``ctxmon record``: the recording pass-through proxy, alone or with the dashboard on its log."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitor.recorder.server import Options

_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_SPANS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

EPILOG = """\
examples:
  ctxmon record                                        # /openai, /anthropic and /gemini on one port
  ctxmon record --upstream https://api.anthropic.com   # every path to one provider
  ctxmon record --upstream anthropic --upstream local=http://127.0.0.1:11434
  ctxmon record --print-setup                          # what to set in each client

The address is printed on stdout; the log holds numbers, ids and digests, and no text unless --bodies is given.
"""


def size(text: str) -> int:
    """``64M`` as bytes.

    Raises:
        argparse.ArgumentTypeError: not a size.
    """
    found = re.fullmatch(r"(\d+)\s*([KMG]?)i?B?", text.strip().upper())
    if not found or not int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 64M")
    return int(found[1]) * _UNITS[found[2]]


def span(text: str) -> float:
    """``12h`` as seconds.

    Raises:
        argparse.ArgumentTypeError: not a span of time.
    """
    found = re.fullmatch(r"(\d+)\s*([smhd])", text.strip().lower())
    if not found or not int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a span of time such as 12h or 7d")
    return float(int(found[1]) * _SPANS[found[2]])


def port(text: str) -> int:
    """A port number, 0 for a free one.

    Raises:
        argparse.ArgumentTypeError: not a port.
    """
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number")
    return int(text)


def add_parser(subparsers: Any, common: argparse.ArgumentParser) -> None:
    """Add ``record`` to the commands. ``common`` holds the options all commands share."""
    parser = subparsers.add_parser(
        "record",
        parents=[common],
        help="recording pass-through proxy on loopback",
        description="Passes model traffic through unchanged and writes one line per call to a log.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--upstream",
        action="append",
        metavar="URL",
        default=None,
        help="where requests go: a URL (takes every path), NAME=URL (takes the paths below /NAME), or openai, "
        "anthropic, gemini; may be repeated (default: these three)",
    )
    add("--port", type=port, metavar="N", default=None, help="port to listen on, 0 for a free one (default: 8788)")
    add("--log", type=Path, metavar="FILE", default=None, help="call log (default: calls.jsonl in the state folder)")
    add("--bodies", action="store_true", help="write the texts of requests and answers too (private; large)")
    add("--watch", action="store_true", help="open the dashboard on the log while recording")
    add("--print-setup", action="store_true", help="print what to set in each client, and end")
    add("--rotate-size", type=size, metavar="SIZE", default=256 * 1024**2, help="begin a new file at this size (256M)")
    add("--rotate-age", type=span, metavar="AGE", default=None, help="begin a new file after this time, for example 1d")
    add("--keep", type=int, metavar="N", default=None, help="keep N rotated files (default: all)")
    add("--fsync", action="store_true", help="have each line on the disk before the next")
    add("--ca-file", type=Path, metavar="PEM", default=None, help="trust these certificate authorities too")
    add("--no-env-proxy", action="store_true", help="do not use the HTTPS proxy of the environment")
    add("--allow-host", action="append", metavar="NAME", default=[], help="accept this name in the Host header too")
    add(
        "--listen-on",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="listen on this address instead of loopback: others can then use the recorder",
    )
    add("--stop-with-stdin", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def tell(sentence: str) -> None:
    """A sentence for people on stderr."""
    print(f"ctxmon record: {sentence}", file=sys.stderr, flush=True)


def run(args: argparse.Namespace) -> int:
    """Run the command; the exit code of the contract."""
    from monitor.recorder.server import DEFAULT_PORT, is_loopback
    from monitor.recorder.upstreams import KNOWN, Routes, UpstreamError, parse_upstream

    try:
        routes = Routes.of([parse_upstream(text) for text in args.upstream or list(KNOWN)])
    except UpstreamError as error:
        tell(str(error))
        return 2
    if args.keep is not None and args.keep < 0:
        tell("--keep takes a number of files, 0 or more.")
        return 2
    wanted = DEFAULT_PORT if args.port is None else args.port
    if args.print_setup:
        from monitor.recorder.setup import snippets

        address = f"[{args.listen_on}]" if ":" in args.listen_on else args.listen_on
        print(snippets(f"http://{address}:{wanted or DEFAULT_PORT}", routes), end="")
        return 0
    if not is_loopback(args.listen_on):
        tell(
            f"WARNING: listening on {args.listen_on}: whoever reaches this address can send requests through the "
            "recorder, and keys travel to it unencrypted."
        )
    for upstream in routes.all:
        if not upstream.tls and not is_loopback(upstream.host):
            tell(f"WARNING: {upstream.url} is not encrypted: keys and texts can be read on the way there.")
    if args.watch and not _has_terminal():
        tell("There is no terminal for the dashboard; recording without it.")
    elif args.watch:
        from monitor.recorder.logfile import default_log

        return _watch(args, args.log or default_log())
    return _serve(_options(args, routes, wanted), args)


def _has_terminal() -> bool:
    return sys.stdout.isatty()


def _options(args: argparse.Namespace, routes: Any, wanted: int) -> Options:
    from monitor.recorder.logfile import LogOptions, default_log
    from monitor.recorder.server import Options

    return Options(
        routes=routes,
        log=args.log or default_log(),
        port=wanted,
        address=args.listen_on,
        allow_hosts=frozenset(name.lower() for name in args.allow_host),
        bodies=args.bodies,
        ca_file=args.ca_file,
        use_proxy=not args.no_env_proxy,
        log_options=LogOptions(
            rotate_size=args.rotate_size, rotate_age=args.rotate_age, keep=args.keep, fsync=args.fsync
        ),
    )


def _serve(options: Options, args: argparse.Namespace) -> int:
    import asyncio
    import logging

    from monitor.recorder.connect import ConnectError
    from monitor.recorder.server import BindError, serve
    from monitor.recorder.upstreams import UpstreamError

    def ready(address: str) -> None:
        print(address, flush=True)
        if not getattr(args, "quiet", False):
            for upstream in options.routes.all:
                tell(f"{address}{'/' + upstream.name if upstream.name else ''} -> {upstream.url}")
            tell(f"log: {options.log}" + (" (with the texts of all calls)" if options.bodies else ""))

    async def main() -> int:
        stop = asyncio.Event()
        if args.stop_with_stdin:
            _when_stdin_ends(asyncio.get_running_loop(), stop)
        return await serve(options, ready, tell, stop)

    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # what matters is told in sentences
    try:
        missing = asyncio.run(main())
    except (BindError, ConnectError, UpstreamError) as error:
        tell(str(error))
        return 2
    except KeyboardInterrupt:
        return 0
    if missing:
        tell(f"{missing} call{'' if missing == 1 else 's'} could not be written to {options.log}.")
        return 1
    return 0


def _when_stdin_ends(loop: Any, stop: Any) -> None:
    """Stop when whoever started us (``--watch``) is gone."""
    import threading

    def wait() -> None:
        while sys.stdin.buffer.read(65536):
            pass
        loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=wait, daemon=True).start()


def _dashboard(log: Path, title: str, args: argparse.Namespace) -> int:
    """Show the dashboard on a log until the user leaves it."""
    from importlib import import_module

    show: Any = import_module("monitor.dashboard").run
    return int(show([log], title=title, session=getattr(args, "session", None), begun=True))


def _child_command(args: argparse.Namespace) -> list[str]:
    """The same command without the dashboard, bound to the life of this process."""
    given = [a for a in getattr(args, "argv", None) or sys.argv[1:] if a != "--watch"]
    return [sys.executable, "-m", "monitor", *given, "--stop-with-stdin"]


def _watch(args: argparse.Namespace, log: Path) -> int:
    """Record in a process of its own, so that drawing never holds up the traffic, and show its log here."""
    import subprocess
    import threading

    log.parent.mkdir(parents=True, exist_ok=True)
    child = subprocess.Popen(
        _child_command(args), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    said: list[str] = []

    def listen() -> None:
        assert child.stderr is not None
        for line in child.stderr:
            said.append(line)
            del said[:-50]

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    assert child.stdout is not None and child.stdin is not None
    try:
        address = child.stdout.readline().strip()
        if not address:
            return child.wait()
        return _dashboard(log, f"recording at {address}", args)
    finally:
        child.stdin.close()
        try:
            child.wait(15)
        except subprocess.TimeoutExpired:
            child.terminate()
            child.wait(5)
        listener.join(1)
        child.stdout.close()
        if child.stderr is not None:
            child.stderr.close()
        sys.stderr.write("".join(said))
