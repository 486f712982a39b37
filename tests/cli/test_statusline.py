"""`ctxmon statusline` as a client calls it: JSON on stdin, one line on stdout."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from monitor.cli import main
from tests.reports.test_statusline import status


def call(monkeypatch, capsys, data, *args):
    class Stdin:
        buffer = io.BytesIO(data)

        @staticmethod
        def isatty():
            return False

    monkeypatch.setattr(sys, "stdin", Stdin())
    code = main(["statusline", *args])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_one_line_and_nothing_else(monkeypatch, capsys):
    code, out, err = call(monkeypatch, capsys, json.dumps(status()).encode())
    assert (code, err) == (0, "")
    assert out.startswith("30% 49.3k of 167k · ") and out.count("\n") == 1


@pytest.mark.parametrize("data", [b"", b"not json", b"[]", b"\xff\x00", b'{"context_window":'])
def test_garbage_gives_one_short_line_and_exit_2(monkeypatch, capsys, data):
    code, out, err = call(monkeypatch, capsys, data)
    assert (code, out, err) == (2, "ctxmon: no status JSON on stdin\n", "")


def test_options(monkeypatch, capsys, tmp_path):
    data = json.dumps(status(usage=(10, 990, 100_000, 300))).encode()
    assert "COMPACT AT BOUNDARY" in call(monkeypatch, capsys, data)[1]
    assert "CONTINUE" in call(monkeypatch, capsys, data, "--threshold", "0")[1]
    assert "of 67k" in call(monkeypatch, capsys, data, "--context-limit", "100k")[1]
    assert "\x1b[" in call(monkeypatch, capsys, data, "--color")[1]
    table = tmp_path / "t.yaml"
    table.write_text("rows:\n  - {id: a, action: trim}\n", encoding="utf-8")
    assert "TRIM" in call(monkeypatch, capsys, data, "--table", str(table))[1]
    assert "client" in call(monkeypatch, capsys, data, "--compare")[1]


def test_a_terminal_on_stdin_is_told_what_to_do(monkeypatch, capsys):
    class Terminal:
        @staticmethod
        def isatty():
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert main(["statusline"]) == 2
    assert "status JSON on stdin" in capsys.readouterr().err


def test_nothing_heavy_is_imported():
    """What would not fit into 60 ms of CPU stays out."""
    code = (
        "import sys, monitor.cli; monitor.cli.main(['statusline']);"
        "print(sorted(m for m in ('yaml','pandas','textual','httpx','rich','tiktoken','numpy','watchfiles','pathlib',"
        "'monitor.readers.claude_code','monitor.readers.step_parse','monitor.sessions.load','asyncio')"
        " if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(status()), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
