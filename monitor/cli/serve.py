"""`ctxmon serve`: the dashboard in a browser, on loopback only."""

from __future__ import annotations

import argparse
import shlex
import socket
import subprocess
import sys
from typing import Any

from monitor.cli import common

DESCRIPTION = """The dashboard in a browser, for this machine only: whoever can open the address sees the logs, so it \
listens on loopback. Needs the extra `web`."""
HOST = "127.0.0.1"
#: options of `watch` that are handed on as they are
_FLAGS = ("no_cache", "quiet", "verbose")
_VALUES = ("since", "until", "model", "session", "source", "map", "session_by", "prices", "config")


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `serve`."""
    parser = common.command(subparsers, "serve", parent, DESCRIPTION)
    common.paths(parser)
    parser.add_argument("--port", type=int, default=8000, help="port on 127.0.0.1 (default 8000, 0: a free one)")


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    common.request(args)  # wrong options are told here, not in the browser
    try:
        from monitor.cli.serve_server import make
    except ImportError as error:
        raise common.CommandError("the browser view needs the extra `web`: pip install '.[web]'", 1) from error
    if not 0 <= args.port < 65_536:
        raise common.CommandError(f"--port {args.port}: give a number between 0 and 65535")
    port = args.port or free_port()
    if in_use(port):
        raise common.CommandError(f"port {port} on {HOST} is in use; choose another with --port", 1)
    server = make(watch_command(args), HOST, port)
    if not args.quiet:
        print(
            f"ctxmon is served on http://{HOST}:{port} (this machine only); Ctrl+C ends it", file=sys.stderr, flush=True
        )
    try:
        server.serve()
    except OSError as error:
        raise common.CommandError(f"cannot listen on {HOST}:{port} ({error.strerror})", 1) from error
    return 0


def watch_command(args: argparse.Namespace) -> str:
    """The command each browser window runs, quoted for the platform's shell."""
    words = [sys.executable, "-m", "monitor.cli.browser"]
    for name in _FLAGS:
        if getattr(args, name):
            words.append("--" + name.replace("_", "-"))
    for name in _VALUES:
        value = getattr(args, name)
        if value is not None:
            words += ["--" + name.replace("_", "-"), str(value)]
    for limit in args.context_limit:
        words += ["--context-limit", limit]
    words += ["--", *args.paths] if args.paths else []
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def in_use(port: int) -> bool:
    """Whether somebody listens on a port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((HOST, port)) == 0
