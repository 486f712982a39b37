"""The recorder between real clients and a provider that keeps a ledger: equal bytes, equal figures.

Needs the rig beside the project (``../shared/rig``); skipped without it. The agents run only where their programs are
installed already (``CTXMON_RIG_CLIENTS`` names the folder), the SDKs only where they are.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

RIG = Path(__file__).resolve().parents[2].parent / "shared" / "rig"
PROVIDER, CLIENTS = RIG / "loopback_provider.py", RIG / "real_clients.py"
KEY = "sk-loopback-0123456789-do-not-log"

if not PROVIDER.exists():
    print(f"skipped: the rig is not at {RIG}")
    pytest.skip(f"the rig is not at {RIG}", allow_module_level=True)


@dataclass
class Rig:
    base: str  # of the recorder
    folder: Path

    def ledger(self) -> list[dict[str, Any]]:
        return read_lines(self.folder / "ledger.jsonl")

    def calls(self, *files: Path) -> list[dict[str, Any]]:
        """What ``ctxmon calls`` makes of the log, or of these files."""
        command = [
            sys.executable,
            "-m",
            "monitor",
            "calls",
            *map(str, files or [self.folder / "calls.jsonl"]),
            "--format",
            "ndjson",
            "--no-cache",
        ]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


@contextmanager
def program(*argv: str) -> Iterator[str]:
    """A program whose first line on stdout is its address; ended as a user would."""
    child = subprocess.Popen([sys.executable, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stderr is not None
    try:
        address = child.stdout.readline().strip()
        assert address, child.stderr.read()
        yield address
    finally:
        child.terminate()
        try:
            child.wait(20)
        finally:
            child.kill()
            child.communicate()


@contextmanager
def rig(folder: Path, scenario: dict[str, Any] | None = None) -> Iterator[Rig]:
    (folder / "scenario.json").write_text(json.dumps(scenario or {}), encoding="utf-8")
    ledger, log = folder / "ledger.jsonl", folder / "calls.jsonl"
    provider = ["--ledger", str(ledger), "--scenario", str(folder / "scenario.json")]
    with program(str(PROVIDER), "--port", "0", *provider) as upstream:
        record = ["record", "--upstream", upstream, "--port", "0", "--log", str(log)]
        with program("-m", "monitor", *record) as base:
            yield Rig(base, folder)


def name_of(entry: dict[str, Any]) -> str:
    """The id the provider gave its answer, without the prefix of the format."""
    if entry["path"].endswith("/compact"):
        return str(entry["request_sha256"][:12])
    return hashlib.sha256(f"{entry['seq']}:{entry['request_sha256']}".encode()).hexdigest()[:20]


def short(call_id: str | None) -> str:
    return (call_id or "").rpartition("_")[2].rpartition("-")[2]


def check_figures(calls: list[dict[str, Any]], ledger: list[dict[str, Any]]) -> int:
    """Every answered call of the ledger is there once, with its figures; gives how many had figures."""
    by_id = Counter(short(c["call_id"]) for c in calls if c["call_id"])
    assert not [name for name, count in by_id.items() if count > 1]
    found = {short(c["call_id"]): c for c in calls}
    seen = 0
    for entry in ledger:
        usage = entry["usage"]
        if usage is None or entry["purpose"] == "count":
            continue
        call = found[name_of(entry)]
        told = {
            "prompt": call["prompt_tokens"], "cache_read": call["cache_read_tokens"], "cache_write": call["cache_write_tokens"],
            "cache_write_1h": call["cache_write_1h_tokens"] or 0, "reasoning": call["reasoning_tokens"],
        }  # fmt: skip
        if usage.get("partial"):  # preliminary figures: what was reasoned so far is not the ledger's final figure
            del told["reasoning"]
        assert told == {k: usage[k] for k in told}, (entry["api"], entry["fault"])
        if usage.get("partial"):
            assert call["output_tokens"] is None or call["output_is_lower_bound"], (entry["api"], entry["fault"])
        else:
            assert call["output_tokens"] == usage["output"]
        assert call["model"] == entry["model"]
        seen += 1
    return seen


# ------------------------------------------------------------------------------------------------------------ scenarios

TOOL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
SYSTEM = "You work in a shop. " * 300
APIS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", {"model": "m", "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Prüfe – 好 {n}"}],
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": TOOL}}], "stream_options": {"include_usage": True}}),
    "responses": ("/v1/responses", {"model": "m", "instructions": SYSTEM, "input": "Prüfe – 好 {n}", "tools": [{"type": "function", "name": "bash", "parameters": TOOL}]}),
    "messages": ("/v1/messages", {"model": "m", "max_tokens": 99, "system": [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "Prüfe – 好 {n}"}], "tools": [{"name": "bash", "input_schema": TOOL}]}),
    "gemini": ("/v1beta/models/m:", {"systemInstruction": {"parts": [{"text": SYSTEM}]}, "contents": [{"role": "user", "parts": [{"text": "Prüfe – 好 {n}"}]}],
        "tools": [{"functionDeclarations": [{"name": "bash", "parameters": TOOL}]}]}),
}  # fmt: skip
FAULTS: list[dict[str, Any]] = [
    {}, {"chunks": "odd"}, {"chunks": "utf8"}, {"chunks": "line"}, {"chunks": "big"}, {"chunks": 1}, {"gzip": "force"}, {"gzip": "force", "chunks": "odd"},
    {"newline": "crlf", "comments": True}, {"cut": 0.4}, {"cut": 0.9, "gzip": "force"}, {"malformed": True}, {"stream_error": True}, {"usage": "missing"},
    {"usage": "last"}, {"usage": "first"}, {"usage": "every"}, {"usage": "every", "cut": 0.5}, {"status": 429, "retry_after": 2}, {"status": 500},
    {"status": 529}, {"status": 400}, {"text_repeat": 400}, {"first_delay_ms": 20, "delay_ms": 1},
]  # fmt: skip


def ask(base: str, api: str, streamed: bool, do: dict[str, Any], number: int) -> tuple[bytes, bytes, int | None]:
    """Send one request; gives the bytes sent, the bytes received as they were on the wire, and the status."""
    path, body = APIS[api]
    if api == "gemini":
        path += "streamGenerateContent?alt=sse" if streamed else "generateContent"
    else:
        body = {**body, "stream": streamed}
    sent = json.dumps(body, ensure_ascii=False).replace("{n}", str(number)).encode()
    headers = {
        "content-type": "application/json",
        "x-api-key": KEY,
        "x-rig-do": json.dumps(do),
        "accept-encoding": "gzip",
    }
    got, status = b"", None
    with httpx.Client(timeout=30) as client:
        try:
            with client.stream("POST", base + path, content=sent, headers=headers) as response:
                status = response.status_code
                for piece in response.iter_raw():
                    got += piece
        except httpx.RemoteProtocolError:
            pass  # the cut is part of the scenario
    return sent, got, status


def test_bytes_and_figures_in_every_scenario(tmp_path: Path) -> None:
    with rig(tmp_path) as here:
        received = []
        for number, (api, streamed, do) in enumerate(product(APIS, (True, False), FAULTS)):
            received.append(ask(here.base, api, streamed, do, number))
    ledger = here.ledger()
    assert len(ledger) == len(received) == len(APIS) * 2 * len(FAULTS)
    for entry, (sent, got, status) in zip(ledger, received):
        where = (entry["api"], entry["stream"], entry["fault"])
        assert hashlib.sha256(sent).hexdigest() == entry["request_sha256"], where
        assert hashlib.sha256(got).hexdigest() == entry["response_sha256"], where
        assert status == entry["status"] and len(got) == entry["bytes"], where
    calls = here.calls()
    assert len(calls) == len(ledger)
    assert check_figures(calls, ledger) > 100
    told = Counter(entry["usage"] is not None for entry in ledger)
    assert sum(call["prompt_tokens"] is not None for call in calls) == told[True]
    log = read_lines(tmp_path / "calls.jsonl")
    for line, entry in zip(log, ledger):
        assert (line["status"], line["complete"], line["bytes"]["response"]) == (
            entry["status"],
            entry["complete"],
            entry["bytes"],
        )
    assert KEY not in (tmp_path / "calls.jsonl").read_text(encoding="utf-8")


def test_clients_that_hang_up(tmp_path: Path) -> None:
    with rig(tmp_path, {"rules": [{"do": {"delay_ms": 30, "text_repeat": 20}}]}) as here:
        for number, api in enumerate(APIS):
            path, body = APIS[api]
            path += "streamGenerateContent?alt=sse" if api == "gemini" else ""
            body = {k: v for k, v in body.items() if k != "tools"}
            with (
                httpx.Client(timeout=30) as client,
                client.stream("POST", here.base + path, json={**body, "stream": True, "n": number}) as response,
            ):
                next(response.iter_raw())
        ask(here.base, "chat", False, {}, 1)  # the provider notices a hang-up with its next piece
    ledger, log = here.ledger(), read_lines(tmp_path / "calls.jsonl")
    gone = [line for line in log if line["client_gone"]]
    assert len(gone) == len(APIS) and not any(line["complete"] for line in gone)
    assert sum(bool(entry.get("client_gone")) for entry in ledger) == len(APIS)


# ---------------------------------------------------------------------------------------------------------- real clients


def run_clients(here: Rig, names: list[str], folder: Path, prompts: int, *more: str) -> None:
    command = [
        sys.executable, str(CLIENTS), "--clients", ",".join(names), "--base", here.base, "--no-install", "--prompts", str(prompts),
        "--home", str(here.folder / "home"), "--out", str(here.folder / "out"), "--clients-dir", str(folder),
        "--ledger", str(here.folder / "ledger.jsonl"), *more,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0 and "skipped" not in done.stdout, done.stdout + done.stderr


def check_session_evidence(calls: list[dict[str, Any]]) -> None:
    assert all(c["session_evidence"] in ("explicit", "prefix", "chain") for c in calls)


def check_session_files(here: Rig, recorded: list[dict[str, Any]]) -> None:
    """What the agents wrote themselves is what the recorder saw, and both together are no more than that."""

    def figures(calls: list[dict[str, Any]]) -> Counter[tuple[int | None, ...]]:
        fields = ("prompt_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
        return Counter(tuple(call[field] for field in fields) for call in calls)

    kinds = (".jsonl", ".json", ".db")
    files = [p for p in sorted((here.folder / "out").rglob("*")) if p.suffix in kinds and p.name != "ledger.jsonl"]
    own = here.calls(*files)
    assert figures([call for call in own if call["purpose"] == "work"]) == figures(
        [call for call in recorded if call["purpose"] == "work"]
    )
    assert not figures(own) - figures(recorded)  # summaries and titles are not in every agent's files
    together = here.calls(*files, here.folder / "calls.jsonl")
    assert figures(together) == figures(recorded)
    assert {call["session"] for call in together} == {call["session"] for call in own}


def installed() -> dict[str, Path]:
    """Agents whose programs are there, with the folder that holds them."""
    named = os.environ.get("CTXMON_RIG_CLIENTS", "")
    folders = [Path(p) for p in named.split(os.pathsep) if p]
    out: dict[str, Path] = {}
    for client in ("claude", "codex", "pi", "opencode", "gemini", "qwen"):
        for folder in folders:
            if (folder / "node_modules" / ".bin" / client).exists():
                out.setdefault(client, folder)
    return out


VARIANTS = {"codex": ["codex", "codex-remote"], "pi": ["pi", "pi-anthropic", "pi-responses"]}


@pytest.mark.parametrize("client", ["claude", "codex", "pi", "opencode", "gemini", "qwen"])
def test_real_agents(client: str, tmp_path: Path) -> None:
    folder = installed().get(client)
    if folder is None:
        pytest.skip(f"{client} is in no folder of CTXMON_RIG_CLIENTS")
    more = (
        ["--window", "20000"] if client in ("codex", "pi", "opencode") else ["--compact"] if client == "claude" else []
    )
    with rig(tmp_path) as here:
        run_clients(here, VARIANTS.get(client, [client]), folder, 3, *more)
    ledger, calls = here.ledger(), here.calls()
    generated = [entry for entry in ledger if entry["purpose"] != "count"]
    assert len(calls) == len(generated) and check_figures(calls, ledger) == len(generated)
    told, found = Counter(e["purpose"] for e in generated), Counter(c["purpose"] for c in calls)
    assert found["side"] == sum(e["side"] for e in generated)
    # the provider takes Pi's request for the summary of half a turn for work if it is short
    assert found["compaction"] == told["summary"] or (client == "pi" and found["compaction"] > told["summary"])
    check_session_evidence(calls)
    check_session_files(here, calls)
    assert KEY not in (tmp_path / "calls.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("client", ["openai", "anthropic"])
def test_sdks(client: str, tmp_path: Path) -> None:
    folder = next((f for f in [*installed().values(), tmp_path] if (f / "sdk-venv").exists()), None)
    if folder is None:
        pytest.skip("no folder of CTXMON_RIG_CLIENTS has the SDKs")
    with rig(tmp_path) as here:
        run_clients(here, [f"{client}-sdk"], folder, 2)
    ledger, calls = here.ledger(), here.calls()
    told = [entry for entry in ledger if entry["purpose"] != "count" and entry["usage"]]
    assert len(calls) == len(ledger) > 20 and check_figures(calls, ledger) == len(told)
