"""Sentences of the contract that do not hold yet. The list may only shrink: one that holds fails here until it is moved to
the file it belongs to.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.e2e.contract_base import URL_SECRET, lines
from tests.e2e.contract_fields import faults
from tests.e2e.contract_logs import LOGS
from tests.e2e.contract_run import home, run  # noqa: F401
from tests.e2e.test_contract_kinds import chat

pytestmark = pytest.mark.usefixtures("home")
OPEN = pytest.mark.xfail(strict=True, raises=(AssertionError, KeyError), reason="does not hold yet")


@pytest.mark.parametrize("source", ["langfuse", "helicone", "cloudflare", "portkey"])
def test_a_file_without_usage_is_nothing_also_for_a_forced_reader(source: str, tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", [{"a": 1}])
    assert run("calls", path, "--source", source).code == 3


def test_a_key_in_the_address_of_a_summarizer_is_not_repeated(tmp_path: Path) -> None:
    done = run("compact", chat(tmp_path, long=12), "--dry-run", "--model", "m", "--summarizer",
               f"http://127.0.0.1:9/v1?key={URL_SECRET}")  # fmt: skip
    assert URL_SECRET not in done.out + done.err


def test_a_conversion_names_the_format_it_wrote(tmp_path: Path) -> None:
    from tests.e2e.contract_run import SAMPLES

    source = max((SAMPLES / "pi").rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    body = run("compact", source, "--to", "openai-chat", "--report", "json", "-o", tmp_path / "o.json").json
    assert body["output"]["format"] == "openai-chat"


def test_notes_have_the_report_of_a_compaction(tmp_path: Path) -> None:
    body = run(
        "compact", chat(tmp_path, long=12), "--strategy", "notes", "--report", "json", "-o", tmp_path / "n.md"
    ).json
    assert not faults(body, "COMPACTION")


@pytest.mark.skipif(os.name == "nt", reason="pipes with names are those of POSIX")
@pytest.mark.parametrize("command", ["calls", "report"])
def test_an_output_that_is_no_plain_file_is_written_to_and_not_replaced(command: str, tmp_path: Path) -> None:
    """`-o /dev/stdout`, `-o /dev/null`, a pipe with a name: moving a file there would take the device away."""
    log = LOGS["claude-code"](tmp_path / "logs")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run(command, *log.args, "--format", "csv", "-o", pipe).code == 0
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert b"cc-7f3a" in os.read(reader, 65536)
    finally:
        os.close(reader)
