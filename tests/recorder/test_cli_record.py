"""The command as users run it: addresses, refusals, and the log after a kill."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from monitor.cli import record as command

from .conftest import Start, Upstream, request, stream

RUN = (
    "import argparse,sys;from monitor.cli import record;p=argparse.ArgumentParser();"
    "record.add_parser(p.add_subparsers(),argparse.ArgumentParser(add_help=False));"
    "a=p.parse_args(['record',*sys.argv[1:]]);sys.exit(a.run(a))"
)


def parse(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers(), argparse.ArgumentParser(add_help=False))
    return parser.parse_args(["record", *argv])


@contextmanager
def running(*argv: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None and child.stderr is not None and child.stdin is not None
    try:
        yield child, child.stdout.readline().strip()
    finally:
        if child.poll() is None:
            child.kill()
        child.wait(10)
        for pipe in (child.stdin, child.stdout, child.stderr):
            pipe.close()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--upstream", "nonsense"], "not an http or https URL"),
        (["--upstream", "https://me:secret@x.example"], "user names and passwords"),
        (["--upstream", "http://a", "--upstream", "http://b"], "Only one upstream"),
        (["--keep", "-1"], "--keep"),
        (["--upstream", "https://x.example", "--ca-file", "missing.pem", "--port", "0"], "missing.pem"),
        (["--port", "1", "--listen-on", "192.0.2.1"], "cannot be used"),
    ],
)
def test_usage_faults_are_told_in_a_sentence(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert command.run(parse(*argv, "--log", str(tmp_path / "log.jsonl"))) == 2
    out, err = capsys.readouterr()
    assert out == "" and said in err and "secret" not in err and "Traceback" not in err


@pytest.mark.parametrize(
    "argv", [["--port", "99999"], ["--port", "x"], ["--rotate-size", "big"], ["--rotate-age", "1y"]]
)
def test_values_that_are_none(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(*argv)
    assert ended.value.code == 2 and argv[1] in capsys.readouterr().err


def test_sizes_and_spans() -> None:
    args = parse("--rotate-size", "64M", "--rotate-age", "12h")
    assert (args.rotate_size, args.rotate_age) == (64 * 1024**2, 12 * 3600)


def test_print_setup(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(parse("--print-setup", "--port", "9000")) == 0
    assert "export ANTHROPIC_BASE_URL=http://127.0.0.1:9000/anthropic" in capsys.readouterr().out


def test_other_addresses_and_plain_upstreams_are_warned_of(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_serve", lambda options, args: 0)
    assert command.run(parse("--listen-on", "0.0.0.0", "--upstream", "http://model.example")) == 0
    err = capsys.readouterr().err
    assert "WARNING: listening on 0.0.0.0" in err and "WARNING: http://model.example is not encrypted" in err


def test_port_that_is_taken(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with running("--upstream", "http://127.0.0.1:9", "--port", "0", "--log", str(tmp_path / "a.jsonl")) as (_, address):
        port = address.rpartition(":")[2]
        assert (
            command.run(parse("--port", port, "--upstream", "http://127.0.0.1:9", "--log", str(tmp_path / "b.jsonl")))
            == 2
        )
        assert "choose another with --port" in capsys.readouterr().err


def test_own_address_as_upstream(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    assert (
        command.run(parse("--port", port, "--upstream", f"http://localhost:{port}", "--log", str(tmp_path / "x.jsonl")))
        == 2
    )
    assert "own address" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a thing of POSIX")
async def test_after_a_kill_every_finished_call_is_in_the_log(upstream: Upstream, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    upstream.handler = stream([b'data: {"choices":[],"usage":{"prompt_tokens":3}}\n\n', b"data: [DONE]\n\n"])
    with running("--upstream", upstream.url, "--port", "0", "--log", str(log)) as (child, address):
        async with httpx.AsyncClient(base_url=address) as client:
            for _ in range(30):
                assert (await client.post("/v1/chat/completions", json={"model": "m"})).text.endswith("[DONE]\n\n")
            # lines are written as calls end, not when the recorder ends
            for _ in range(1000):
                if log.read_bytes().count(b"\n") == 30:
                    break
                await asyncio.sleep(0.01)
            child.send_signal(signal.SIGKILL)
            child.wait(10)
    lines = [json.loads(x) for x in log.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 30 and all(line["usage"] == {"prompt_tokens": 3} for line in lines)


async def test_a_signal_ends_it_and_nothing_is_lost(upstream: Upstream, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with running("--upstream", upstream.url, "--port", "0", "--log", str(log), "--stop-with-stdin") as (child, address):
        async with httpx.AsyncClient(base_url=address) as client:
            await client.post("/v1/chat/completions", json={"model": "m"})
        assert child.stdin is not None and child.stderr is not None
        child.stdin.close()
        assert child.wait(15) == 0
        said = child.stderr.read()
    assert len(log.read_text(encoding="utf-8").splitlines()) == 1
    assert f"{address} -> {upstream.url}" in said and "Traceback" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
async def test_full_disk_does_not_touch_the_traffic(upstream: Upstream) -> None:
    with running("--upstream", upstream.url, "--port", "0", "--log", "/dev/full") as (child, address):
        async with httpx.AsyncClient(base_url=address) as client:
            for _ in range(5):
                assert (await client.post("/v1/chat/completions", json={"model": "m"})).text == "ok"
        child.terminate()
        assert child.wait(15) == 1
        assert child.stderr is not None
        said = child.stderr.read()
    assert said.count("No space left on device") == 1 and "Traceback" not in said
    assert "5 calls could not be written to /dev/full" in said


def test_watch_shows_the_log_while_a_child_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[Any] = []

    def show(paths: list[Path], **options: Any) -> int:
        address = options["title"].rpartition(" ")[2]
        assert options["begun"]  # the log is empty at first, which is no trouble
        shown.append((paths, httpx.get(f"{address}/v1/models").status_code))
        return 0

    monkeypatch.setitem(sys.modules, "monitor.dashboard", types.SimpleNamespace(run=show))  # type: ignore[arg-type]
    monkeypatch.setattr(command, "_has_terminal", lambda: True)
    monkeypatch.setattr(
        command, "_child_command", lambda args: [sys.executable, "-c", RUN, *argv[:-1], "--stop-with-stdin"]
    )
    log = tmp_path / "log.jsonl"
    argv = ["--upstream", "http://127.0.0.1:9", "--port", "0", "--log", str(log), "--watch"]
    assert command.run(parse(*argv)) == 0
    assert shown == [([log], 502)] and "-> http://127.0.0.1:9" in capsys.readouterr().err


async def test_a_cancelled_recorder_ends_in_order(upstream: Upstream, record: Start) -> None:
    """What Ctrl-C does where the event loop takes no signals."""
    rec = await record(upstream.url)
    await rec.raw(request("/v1/chat/completions", b'{"model":"m"}'))
    rec.task.cancel()
    rec.ended.append(await rec.task)
    assert len(await rec.lines()) == 1
