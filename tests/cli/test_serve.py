"""The browser view: loopback only, and the options of `watch` handed on."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import socket
import subprocess
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
        "-m", "monitor.cli.browser", "--no-cache", "--since", "7d", "--context-limit", "claude*=1M", "--", "a b.jsonl",
    ]  # fmt: skip


def test_a_port_in_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == 1
    assert f"port {port}" in capsys.readouterr().err


def test_wrong_options_are_told_before_serving() -> None:
    assert main(["serve", "--since", "never"]) == 2
    assert main(["serve", "--port", "99999"]) == 2


def test_without_the_extra_the_line_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "monitor.cli.serve_server", None)
    assert main(["serve", "--port", "0"]) == 1
    assert "pip install '.[web]'" in capsys.readouterr().err


def test_only_so_many_windows_are_opened() -> None:
    web = pytest.importorskip("aiohttp.web")
    pytest.importorskip("textual_serve")
    from aiohttp.test_utils import make_mocked_request

    from monitor.cli.serve_server import MOST_WINDOWS, make

    door = make("unused", "127.0.0.1", 8123)
    door.windows = MOST_WINDOWS
    request = make_mocked_request("GET", "/ws", headers={"Host": "127.0.0.1:8123", "Origin": "http://127.0.0.1:8123"})
    with pytest.raises(web.HTTPServiceUnavailable):
        asyncio.run(door.handle_websocket(request))
    foreign = make_mocked_request("GET", "/download/x", headers={"Host": "elsewhere:8123"})
    with pytest.raises(web.HTTPForbidden):
        asyncio.run(door.handle_download(foreign))


@pytest.mark.skipif(not hasattr(os, "setsid"), reason="sessions of processes are a POSIX matter")
def test_a_window_does_not_take_the_terminal_serve_was_started_from() -> None:
    script = (
        "import os, sys; import monitor.cli as cli; from monitor.cli.browser import main\n"
        "cli.main = lambda words: print(words, os.getsid(0) == os.getpid(), sys.stdout.isatty()) or 7\n"
        "sys.exit(main(['--quiet']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (7, "['watch', '--quiet'] True True\n")
