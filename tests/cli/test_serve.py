"""The browser view: loopback only, and the options of `watch` handed on."""

from __future__ import annotations

import argparse
import shlex
import socket
import sys

import pytest

from monitor.cli import main, serve
from monitor.cli.common import options


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers(dest="command"), options())
    return parser.parse_args(["serve", *words])


@pytest.mark.skipif(sys.platform == "win32", reason="quoting is that of POSIX shells")
def test_options_reach_the_dashboard_whole() -> None:
    args = parsed("a b.jsonl", "--since", "7d", "--context-limit", "claude*=1M", "--no-cache")
    assert shlex.split(serve.watch_command(args))[1:] == [
        "-m", "monitor", "watch", "--no-cache", "--since", "7d", "--context-limit", "claude*=1M", "--", "a b.jsonl",
    ]  # fmt: skip


def test_a_port_in_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == 1
    assert f"port {port}" in capsys.readouterr().err


def test_wrong_options_are_told_before_serving() -> None:
    assert main(["serve", "--since", "never"]) == 2
    assert main(["serve", "--port", "99999"]) == 2
