"""Nobody's text, header or key gets out unasked: not by a result, an error, a note, a cache or a file of ours.

What is planted stands where such things stand in life: prompts, answers, tool outputs, arguments, headers, cookies,
addresses, error messages, broken lines, and fields whose words the program passes on.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.contract_base import COOKIE, KEY, PLANTED, TOKEN, TOOL_OUTPUT, TYPED, URL_SECRET, at
from tests.e2e.contract_fields import faults
from tests.e2e.contract_logs import LOGS, Log
from tests.e2e.contract_run import SAMPLES, Done, home, run  # noqa: F401

pytestmark = pytest.mark.usefixtures("home")

#: every command that reads logs, in every format it has
ALL = [
    *(["calls", "--format", form] for form in ("table", "json", "ndjson", "csv")),
    ["calls", "--format", "json", "--copies", "-v"],
    *(["report", "--format", form] for form in ("text", "json", "csv", "html", "md")),
    *(["decide", "--format", form] for form in ("text", "json")),
    ["decide", "--explain"],
    *(["backtest", "--format", form] for form in ("text", "json")),
    *(["doctor", "--format", form] for form in ("text", "json")),
    ["doctor", "-v"],
    ["watch"],
    ["watch", "--once"],
]
SECRETS = (KEY, TOKEN, URL_SECRET, COOKIE)


def leaks(*texts: str, words: tuple[str, ...] = PLANTED) -> list[str]:
    return [word for word in words for text in texts if word in text]


def kept(folder: Path) -> list[str]:
    """What the program left anywhere below its home, as text."""
    return [path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file()]


def said(done: Done) -> tuple[str, str]:
    assert "a fault of the program" not in done.err
    return done.out, done.err


@pytest.mark.parametrize("name", [*LOGS])
def test_no_command_tells_what_was_said(name: str, tmp_path: Path, home: Path) -> None:  # noqa: F811
    log = LOGS[name](tmp_path / "logs")
    held = "".join(kept(tmp_path / "logs"))
    assert leaks(held), "nothing is planted"
    for command in ALL:
        done = run(*command, *log.args)
        assert done.code == 0 or (name, command[0]) == ("har", "backtest"), command  # one call is nothing to replay
        assert not leaks(*said(done)), command
    parquet = tmp_path / "calls.parquet"
    assert run("calls", *log.args, "--format", "parquet", "-o", parquet).code == 0
    assert not leaks(parquet.read_bytes().decode("latin-1"))
    assert not leaks(*kept(home))


def test_nor_from_standard_input(tmp_path: Path) -> None:
    for name in ("claude-code", "har", "litellm", "api-log"):
        LOGS[name](tmp_path / name)
        for file in (tmp_path / name).rglob("*.*"):
            if file.is_file():
                for command in (["calls", "--format", "json"], ["report"], ["doctor"]):
                    assert not leaks(*said(run(*command, "-", stdin=file.read_bytes()))), command


def prompts_of_the_samples() -> tuple[str, ...]:
    """What the user typed in the sample logs, as told by the Claude Code and the Pi session."""
    found: list[str] = []
    for file in (SAMPLES / "pi").rglob("*.jsonl"):
        for line in file.read_text(encoding="utf-8").splitlines():
            message = json.loads(line).get("message") or {}
            if message.get("role") == "user":
                content = message["content"]
                found += [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return tuple(text.strip()[:40] for text in found if len(text.strip()) > 20)


def test_the_sample_logs_keep_their_texts_too(home: Path) -> None:  # noqa: F811
    words = prompts_of_the_samples()
    assert len(words) >= 3
    for command in ALL:
        done = run(*command, SAMPLES)
        assert done.code == 0
        assert not leaks(*said(done), words=words), command
    assert not leaks(*kept(home), words=words)


# ------------------------------------------------------------------------------------------------- what is broken
def broken(folder: Path) -> dict[str, Path]:
    """Files that cannot be read, or not wholly; what is wrong with them holds secrets."""
    folder.mkdir(parents=True)
    long = " ".join(PLANTED)
    good: Log = LOGS["claude-code"](folder / "cc")
    rows = Path(good.calls[0]["file"]).read_text(encoding="utf-8")
    texts = {
        "torn.jsonl": rows + '{"type":"user","message":{"content":"' + long,
        "between.jsonl": rows + f'{{"type": "{long}", oops {KEY}\n' + rows.replace("req-", "other-"),
        "plain.jsonl": long + "\n" + long,
        "keys.jsonl": json.dumps({KEY: TYPED, TYPED: KEY}) + "\n",
        "type.jsonl": json.dumps({"type": TYPED, "sessionId": "s", "uuid": KEY, "timestamp": KEY}) + "\n",
        "torn.har": json.dumps({"log": {"entries": [{"request": {
            "method": "POST", "url": f"https://api.openai.com/v1/chat/completions?key={URL_SECRET}",
            "headers": [{"name": "Cookie", "value": COOKIE}]}}]}})[:-6],
        "odd.json": json.dumps({"success": False, "message": f"no access with {KEY}"}),
        "numbers.csv": f"when,prompt_tokens,completion_tokens,model\n{TYPED},{KEY},{TOKEN},m\n",
        "page.html": f"<html><body>{long}</body></html>",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "binary.bin").write_bytes(bytes(range(256)) * 8 + long.encode())
    return {path.name: path for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("name", ["torn.jsonl", "between.jsonl", "plain.jsonl", "keys.jsonl", "type.jsonl", "torn.har",
                                  "odd.json", "numbers.csv", "page.html", "binary.bin"])  # fmt: skip
def test_sentences_about_broken_files_hold_nothing_of_them(name: str, tmp_path: Path, home: Path) -> None:  # noqa: F811
    path = broken(tmp_path / "broken")[name]
    for command in (["calls", "--format", "json", "-v"], ["report", "-v"], ["doctor", "-v"], ["doctor", "--format", "json"],
                    ["watch"], ["decide"], ["check"], ["diff"], ["compact", "--dry-run"], ["doctor", "--suggest-map"]):  # fmt: skip
        done = run(*command, path)
        # a proposed map names the columns of a table, which are its head and no content
        words = PLANTED if command[0] not in ("diff", "compact") else SECRETS
        assert not leaks(*said(done), words=words), command
    assert not leaks(*kept(home))


def test_a_broken_file_of_the_users_own_is_not_quoted(tmp_path: Path) -> None:
    """Settings, maps, prices and tables are told by line and by what is expected."""
    log = LOGS["claude-code"](tmp_path / "logs")
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(f"api_key: {KEY}\nother: [{TOKEN}\n", encoding="utf-8")
    for command in (["calls", "--map", wrong], ["calls", "--prices", wrong], ["decide", "--table", wrong]):
        done = run(*command, *log.args)
        assert done.code == 2
        assert not leaks(*said(done)), command


# ------------------------------------------------------------------------------------- words that are passed on
def hostile(folder: Path) -> Path:
    """A session that has text where the format has words of its own."""
    base = {"sessionId": "s-1", "isSidechain": False, "version": TYPED, "cwd": "/home/dev/shop"}
    usage = {"input_tokens": 9, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 20_000, "output_tokens": 5,
             "service_tier": KEY, "server_tool_use": {TOKEN: 1}}  # fmt: skip

    def answer(second: int, stop: str, **more: Any) -> dict[str, Any]:
        message = {"id": f"m{second}", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": stop,
                   "usage": {**usage, **more},
                   "content": [{"type": "tool_use", "id": f"t{second}", "name": "Bash",
                                "input": {"command": f"curl -H 'Authorization: Bearer {KEY}' # {TYPED}"}}]}  # fmt: skip
        return {**base, "type": "assistant", "uuid": f"a{second}", "timestamp": at(0, second), "message": message}

    rows = [
        {**base, "type": "user", "uuid": "u", "timestamp": at(0), "message": {"role": "user", "content": TYPED}},
        answer(1, TYPED),
        {**base, "type": "system", "subtype": "compact_boundary", "uuid": "c", "timestamp": at(0, 2), "content": TYPED,
         "compactMetadata": {"trigger": TYPED, "preTokens": KEY, "postTokens": [TOKEN]}},
        answer(3, KEY, input_tokens=KEY),
        {**base, "type": "system", "subtype": "api_error", "uuid": "e", "timestamp": at(0, 4), "level": TYPED,
         "error": {"status": KEY, "message": TYPED, "headers": {"x-api-key": KEY, "set-cookie": COOKIE}}},
        {**base, "type": "assistant", "uuid": "f", "timestamp": at(0, 5), "isApiErrorMessage": True, "error": TYPED,
         "message": {"id": "x", "role": "assistant", "model": "<synthetic>", "stop_reason": "stop_sequence",
                     "usage": {"input_tokens": 0, "output_tokens": 0}, "content": [{"type": "text", "text": KEY}]}},
        answer(6, "end_turn"),
    ]  # fmt: skip
    folder.mkdir(parents=True)
    path = folder / "s-1.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_fields_with_words_of_their_own_pass_on_no_text(tmp_path: Path, home: Path) -> None:  # noqa: F811
    path = hostile(tmp_path / "logs")
    for command in ALL:
        assert not leaks(*said(run(*command, path))), command
    body = run("calls", path, "--format", "json").json
    assert not faults(body, "CALLS_BODY")
    (compaction,) = [event for event in body["events"] if event["kind"] == "compaction"]
    assert (compaction["trigger"], compaction["recorded_before"], compaction["recorded_after"]) == (None, None, None)
    assert not leaks(*kept(home))


def test_the_status_line_says_only_numbers(tmp_path: Path, home: Path) -> None:  # noqa: F811
    path = hostile(tmp_path / "logs")
    status = {"hook_event_name": "Status", "session_id": "s-1", "transcript_path": str(path), "cwd": "/home/dev/shop",
              "model": {"id": "claude-sonnet-4-5", "display_name": "Sonnet"}, "version": TYPED,
              "workspace": {"current_dir": TYPED}, "cost": {"total_cost_usd": 0.1}}  # fmt: skip
    for option in ([], ["--color"], ["--compare"]):
        done = run("statusline", *option, stdin=json.dumps(status).encode())
        assert done.code == 0
        assert not leaks(*said(done))
    assert not leaks(*kept(home))


# ---------------------------------------------------------------------- commands that print text because it is asked
def chat(folder: Path) -> Path:
    folder.mkdir(parents=True)
    turns: list[dict[str, Any]] = [{"role": "system", "content": f"The deploy key is {KEY}."}]
    for number in range(12):
        turns += [
            {"role": "user", "content": f"Step {number}: use the token {TOKEN}. password=hunter2hunter2 Never push."},
            {"role": "assistant", "content": f"Done, with Authorization: Bearer {KEY} in step {number}. " + "word " * 300},
        ]  # fmt: skip
    turns[-2]["content"] = turns[-4]["content"] = "Go on."
    turns[-1]["content"] = turns[-3]["content"] = "Fine. " + "word " * 300
    path = folder / "chat.json"
    path.write_text(json.dumps(turns), encoding="utf-8")
    return path


def test_text_on_request_comes_without_keys_and_passwords(tmp_path: Path) -> None:
    path = chat(tmp_path / "chats")
    secrets = (KEY, TOKEN, "hunter2hunter2")
    for options in ([], ["--exchange", "1"], ["--last", "30"], ["--search", "step"], ["--format", "json"]):
        done = run("show", path, *options)
        assert done.code == 0
        assert "step" in done.out.lower()
        assert not leaks(*said(done), words=secrets), options
    assert KEY in run("show", path, "--raw", "--last", "30").out
    assert not leaks(*said(run("check", path)), words=secrets)


def test_summaries_and_reports_of_a_compaction_hold_no_keys(tmp_path: Path, home: Path) -> None:  # noqa: F811
    path = chat(tmp_path / "chats")
    secrets = (KEY, TOKEN, "hunter2hunter2")
    out = tmp_path / "out.json"
    for options in (["--report", "text"], ["--report", "json"], ["--dry-run"], ["--dry-run", "--report", "json"]):
        done = run("compact", path, "-o", out, "--force", *options)
        assert (done.code, done.err) == (0, "")
        assert not leaks(*said(done), words=secrets), options
    written = json.loads(out.read_text(encoding="utf-8"))
    # the system prompt stays as it is; what was folded became a summary
    assert written[0]["content"] == f"The deploy key is {KEY}."
    assert not leaks(json.dumps(written[1:]), words=secrets)
    for form in ("text", "json"):
        done = run("diff", path, out, "--format", form)
        assert done.code == 0
        assert not leaks(*said(done), words=secrets), form
    assert not leaks(*kept(home), words=secrets)


def test_tables_of_calls_have_no_column_for_text(tmp_path: Path) -> None:
    log = LOGS["litellm"](tmp_path / "logs")
    head = next(csv.reader(io.StringIO(run("calls", *log.args, "--format", "csv").out)))
    assert not {"messages", "response", "prompt", "headers", "url", "key", "token"} & set(head)
    assert not leaks(",".join(head), words=(TYPED, TOOL_OUTPUT))


@pytest.mark.parametrize(
    "address",
    [f"http://user:{URL_SECRET}@127.0.0.1:9/api/log", f"http://127.0.0.1:9/api/log?key={URL_SECRET}",
     f"postgresql://user:{URL_SECRET}@127.0.0.1:9/logs", f"sqlite:////no/such.db?key={URL_SECRET}",
     f"ftp://user:{URL_SECRET}@127.0.0.1:9/x"],
)  # fmt: skip
def test_passwords_and_keys_in_an_address_are_not_repeated(address: str) -> None:
    for command in (["calls", "--format", "json"], ["report"], ["doctor"], ["doctor", "--format", "json"]):
        done = run(*command, address)
        assert done.code == 3
        assert not leaks(*said(done)), command
    if address.startswith("http"):
        for command in (["record", "--print-setup", "--upstream"], ["compact", "x.json", "--summarizer"]):
            assert not leaks(*said(run(*command, address))), command


@pytest.mark.parametrize("scheme", ["ftp", "socks5"])
def test_a_password_in_a_wrong_upstream_is_not_repeated(scheme: str) -> None:
    done = run("record", "--print-setup", "--upstream", f"{scheme}://user:{URL_SECRET}@127.0.0.1:9/x")
    assert done.code == 2
    assert URL_SECRET not in done.err
