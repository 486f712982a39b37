"""Samples for :mod:`fuzz_readers` and the ways in which they are damaged."""

from __future__ import annotations

import contextlib
import fnmatch
import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NO_LOGS = ("expected.json", "expect.json", "ledger.jsonl", "ground_truth.jsonl", "MANIFEST.tsv", "README.md")
#: samples are shortened to this size, in whole lines: damage is found in small files as well, and much sooner
SIZE = 48_000
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, -(10**30), 1.5, 1e308, -0.0, "", "0", "-1", "1,234",
    "NaN", "Infinity", "1e999", "2026-13-45T99:99:99Z", "9" * 400, "²", "\u2028", "\x00", "a" * 5000, [], {}, [[]],
    [None], [{}], {"": {}}, {"a": []}, ["x", 1, None, {}], {"type": "text"}, "../../etc/passwd", "🧨",
)  # fmt: skip
RAW = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b'"\\ud83d"', b"9" * 400, b"\xff\xfe", b'"\xc3"', b"nul", b"01",
    b"{}}", b"[" * 3000, b"[" * 3000 + b"]" * 3000, b'{"a":' * 2000 + b"1" + b"}" * 2000,
)  # fmt: skip


@dataclass
class Sample:
    name: str
    data: bytes


# ---------------------------------------------------------------------------------------------------- samples
def samples(only: str) -> list[Sample]:
    """The logs to damage, the more kinds the better: large ones are cut, copies of a kind are few anyway."""
    folders = [ROOT / "sample_logs", ROOT.parent / "shared" / "samples", ROOT.parent / "shared" / "cases"]
    made = [*databases(), *((name, text.encode()) for name, text in MADE.items())]
    found = [Sample(name, data) for name, data in made if fnmatch.fnmatch(name, only)]
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            name = path.relative_to(folder.parent).as_posix()
            if path.is_file() and path.name not in NO_LOGS and path.suffix != ".py" and fnmatch.fnmatch(name, only):
                data = path.read_bytes()
                if data and not (data.startswith(b"SQLite") and len(data) > 400_000):
                    found.append(Sample(name, shortened(data)))
    return found


def shortened(data: bytes) -> bytes:
    if len(data) <= SIZE or data.startswith(b"SQLite") or data[:2] == b"\x1f\x8b" or data[:4] == b"\x28\xb5\x2f\xfd":
        return data
    head = data.rfind(b"\n", 0, SIZE // 2) + 1 or SIZE // 2
    tail = data.find(b"\n", len(data) - SIZE // 2)
    return data[:head] + (data[tail + 1 :] if tail >= 0 else b"")


_USED = {"model": "m", "prompt_tokens": 500, "completion_tokens": 5, "cache_read_tokens": 400, "response_id": "r1"}
_EVENT = {"id": 1, "timestamp": "2025-06-01T08:00:01", "source": "agent", "message": "x", "action": "run", "args": {},
          "tool_call_metadata": {"function_name": "f", "tool_call_id": "t", "model_response": {
              "id": "a1", "model": "m", "usage": {"prompt_tokens": 500, "completion_tokens": 5}}}}  # fmt: skip
_AMP = {"inputTokens": 12, "cacheCreationInputTokens": 900, "cacheReadInputTokens": 20_000, "outputTokens": 5,
        "model": "claude-sonnet-4-5", "maxInputTokens": 168_000}  # fmt: skip
_ROO = {"tokensIn": 500, "tokensOut": 5, "cacheReads": 400, "cacheWrites": 50}
#: formats of which no real sample is at hand
MADE = {
    "made/amp.json": json.dumps({
        "id": "T-1", "created": 1_775_304_000_000, "messages": [
            {"role": "user", "messageId": 0, "content": [{"type": "text", "text": "x"}]},
            {"role": "assistant", "messageId": 1, "content": [], "usage": _AMP}],
        "usageLedger": {"events": [{"toMessageId": 1, "timestamp": "2026-04-04T12:00:05Z", "tokens": {"input": 1}}]}}),
    "made/openhands-state.json": json.dumps({
        "id": "oh", "stats": {"usage_to_metrics": {"agent": {
            "token_usages": [_USED], "costs": [{"cost": 0.1, "timestamp": 1_775_304_000.5}],
            "response_latencies": [{"latency": 2.5, "response_id": "r1"}]}}}}),
    "made/openhands-trajectory.json": json.dumps([_EVENT, {**_EVENT, "id": 2, "observation": "run", "content": "y"}]),
    "made/aider.jsonl": "".join(json.dumps({"event": name, "time": 1_775_304_000, "user_id": "u", "properties": {
        "main_model": "m", "prompt_tokens": 5, "completion_tokens": 1, "cost": 0.1}}) + "\n"
        for name in ("launched", "message_send")),
    "made/aider.md": "# aider chat started at 2025-01-02 10:11:12\n> Main model: m with diff\n#### do it\n"
    "> Tokens: 12k sent, 1.2k cache write, 3k cache hit, 604 received. Cost: $0.02 message, $0.10 session.\n",
    "made/droid.settings.json": json.dumps({"tokenUsage": {
        "inputTokens": 1, "outputTokens": 2, "cacheCreationTokens": 3, "cacheReadTokens": 4}}),
    "made/kimi-cli.jsonl": "".join(json.dumps({"timestamp": 1_775_304_000.5 + n, "message": {
        "type": kind, "payload": payload}}) + "\n" for n, (kind, payload) in enumerate((
            ("TurnBegin", {"user_input": "x"}), ("StepBegin", {"n": 1}), ("CompactionBegin", {}), ("CompactionEnd", {}),
            ("StatusUpdate", {"token_usage": {"input_other": 1, "output": 2}, "message_id": "m1"})))),
    "made/roo.json": json.dumps([{"ts": 1_770_577_200_000, "type": "say", "say": "text", "text": "x"}, {
        "ts": 1_770_577_201_000, "type": "say", "say": "api_req_started", "text": json.dumps(_ROO)}, {
        "ts": 1_770_577_202_000, "type": "say", "say": "condense_context", "contextCondense": {}}]),
}  # fmt: skip
#: files that are read together: the first is given, one of the others is damaged
TOGETHER: tuple[dict[str, Any], ...] = (
    {"storage/session/p/ses_1.json": {"id": "ses_1", "projectID": "p", "directory": "/w", "version": "1",
                                      "time": {"created": 1}},
     "storage/message/ses_1/msg_1.json": {"id": "msg_1", "sessionID": "ses_1", "role": "assistant",
                                          "time": {"created": 1},
                                          "tokens": {"input": 5, "output": 1, "cache": {"read": 1, "write": 1}}},
     "storage/part/msg_1/prt_1.json": {"id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "step-finish",
                                       "tokens": {"input": 5, "output": 1}}},
    {"c/base_state.json": json.loads(MADE["made/openhands-state.json"]),
     "c/events/1.json": {**_EVENT, "kind": "ActionEvent", "llm_response_id": "r1"}},
    {"tasks/1/ui_messages.json": json.loads(MADE["made/roo.json"]),
     "tasks/1/task_metadata.json": {"model_usage": [{"ts": 1, "model_id": "m", "model_provider_id": "p"}]},
     "tasks/1/api_conversation_history.json": [{"role": "user", "ts": 1, "content": "<model>m</model>"}]},
    {"d/d1.settings.json": json.loads(MADE["made/droid.settings.json"]),
     "d/d1.jsonl": {"type": "session_start", "id": "d1", "cwd": "/w"}},
)  # fmt: skip


def databases() -> Iterator[tuple[str, bytes]]:
    """Small databases of the agents that keep one."""
    usage = {"input": 27, "output": 70, "reasoning": 0, "cache": {"read": 20_480, "write": 0}}
    message = {"role": "assistant", "parentID": "u", "mode": "build", "tokens": usage, "modelID": "m", "cost": 0.1,
               "time": {"created": 1_771_581_600_000, "completed": 1_771_581_601_000}, "finish": "stop"}  # fmt: skip
    tool = {"type": "tool", "tool": "bash", "callID": "c", "state": {
        "status": "completed", "input": {"command": "ls"}, "output": "a", "time": {"start": 1, "end": 2}}}  # fmt: skip
    finish = {"type": "step-finish", "tokens": usage}
    opencode = [
        "CREATE TABLE session (id text, parent_id text, directory text, time_created integer)",
        "CREATE TABLE message (id text, session_id text, time_created integer, data text)",
        "CREATE TABLE part (id text, message_id text, session_id text, data text)",
        "INSERT INTO session VALUES ('s', NULL, '/w', 1), ('t', 's', '/w', 2)",
    ]
    into = "INSERT INTO {} VALUES (?, ?, ?, ?)"
    rows = [
        (into.format("message"), ("m1", "s", 1, json.dumps(message))),
        (into.format("message"), ("m2", "t", 2, json.dumps({**message, "summary": True}))),
        (into.format("part"), ("p1", "m1", "s", json.dumps(tool))),
        (into.format("part"), ("p2", "m1", "s", json.dumps(finish))),
    ]
    yield "made/opencode.db", database(opencode, rows)
    figures = "input_tokens integer, output_tokens integer, cache_read_tokens integer, cache_write_tokens integer"
    hermes = [
        "CREATE TABLE sessions (id text, parent_session_id text, started_at real, ended_at real, end_reason text,"
        f" cwd text, {figures})",
        "CREATE TABLE messages (id integer)",
        "INSERT INTO sessions VALUES ('h', NULL, 1775304000.5, 1775304600, 'compression', '/w', 1, 2, 3, 4)",
    ]
    yield "made/hermes.db", database(hermes, [])
    yield "made/goose.db", goose()
    events = [
        {"type": "session", "version": 3, "id": "c", "timestamp": "2026-10-01T08:00:00.000Z", "cwd": "/w"},
        {"type": "message", "id": "e1", "timestamp": "2026-10-01T08:00:01.000Z", "message": {
            "role": "assistant", "provider": "anthropic", "usage": {"input": 1, "output": 2, "cacheRead": 3},
            "content": [{"type": "toolCall", "id": "t", "name": "bash", "arguments": {"command": "ls"}}]}},
    ]  # fmt: skip
    table = "CREATE TABLE transcript_events (session_id text, seq integer, event_json text, created_at integer)"
    row = "INSERT INTO transcript_events VALUES ('c', ?, ?, 0)"
    yield "made/openclaw.sqlite", database([table], [(row, (n, json.dumps(event))) for n, event in enumerate(events)])


def goose() -> bytes:
    """A database of Goose's: a session, what was said in it, and its ledger."""
    sums = "accumulated_input_tokens integer, accumulated_output_tokens integer"
    counts = "input_tokens integer, output_tokens integer, cache_read_tokens integer, cache_write_tokens integer"
    call = {"type": "toolRequest", "id": "t", "toolCall": {
        "status": "success", "value": {"name": "developer__shell", "arguments": {"command": "ls"}}}}  # fmt: skip
    result = {"type": "toolResponse", "id": "t", "toolResult": {
        "status": "success", "value": {"content": [{"type": "text", "text": "a"}], "isError": False}}}  # fmt: skip
    said = "INSERT INTO messages VALUES ('g', ?, ?, 1790000000, ?)"
    blocks: list[tuple[str, Any]] = [("user", {"type": "text", "text": "do"}), ("assistant", call), ("user", result)]
    return database(
        [
            "CREATE TABLE sessions (id text, parent_session_id text, working_dir text, created_at text,"
            f" provider_name text, model_config_json text, {sums})",
            "CREATE TABLE messages (session_id text, role text, content_json text, created_timestamp integer,"
            " metadata_json text)",
            f"CREATE TABLE usage_ledger (id integer, session_id text, created_timestamp integer, model text, {counts},"
            " cost real, cost_source text, is_compaction integer)",
            "INSERT INTO sessions VALUES ('g', NULL, '/w', '2026-09-21 14:13:20', 'openai', '{}', 9, 1)",
            "INSERT INTO usage_ledger VALUES (1, 'g', 1790000001, 'm', 900, 10, 400, 0, 0.1, 'estimated', 0)",
            "INSERT INTO usage_ledger VALUES (2, 'g', 1790000002, NULL, 950, 90, 0, 0, NULL, NULL, 1)",
        ],
        [(said, (role, json.dumps([block]), '{"userVisible": true}')) for role, block in blocks],
    )


def database(statements: list[str], rows: list[tuple[str, tuple[Any, ...]]]) -> bytes:
    base = sqlite3.connect(":memory:")
    base.execute("PRAGMA page_size = 512")
    for statement in statements:
        base.execute(statement)
    for statement, values in rows:
        base.execute(statement, values)
    base.commit()
    data: bytes = base.serialize()
    base.close()
    return data


# ---------------------------------------------------------------------------------------------------- changes
Change = Callable[[bytes, random.Random, list[Sample]], bytes]


def cut(data: bytes, dice: random.Random, others: list[Sample]) -> bytes:
    a, b = sorted((dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)))
    return dice.choice((data[:b], data[a:], data[:a] + data[b:]))


def flip(data: bytes, dice: random.Random, others: list[Sample]) -> bytes:
    out = bytearray(data)
    for _ in range(dice.choice((1, 1, 3, 30, 300))):
        if out:
            place = dice.randrange(len(out))
            out[place] = dice.choice((out[place] ^ (1 << dice.randrange(8)), dice.randrange(256), 0, 10, 34, 255))
    return bytes(out)


def insert(data: bytes, dice: random.Random, others: list[Sample]) -> bytes:
    place = dice.randrange(len(data) + 1)
    more = dice.choice(
        (b"\x00" * 64, b"\xef\xbb\xbf", b"\r\n", b"\n\n\n", b"}", b"{", b'"', b",", b"\xe2\x80\xa8", *RAW)
    )
    return data[:place] + more + data[place:]


def lines_moved(data: bytes, dice: random.Random, others: list[Sample]) -> bytes:
    lines = data.splitlines(keepends=True) if b"\n" in data else data.split(b",")
    if len(lines) < 2:
        return data + data
    a, b = dice.randrange(len(lines)), dice.randrange(len(lines))
    kind = dice.randrange(6)
    if kind == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif kind == 1:
        lines[a:a] = [lines[b]] * dice.choice((1, 2, 50))
    elif kind == 2:
        del lines[min(a, b) : max(a, b)]
    elif kind == 3:
        dice.shuffle(lines)
    elif kind == 4:
        lines.reverse()
    else:
        lines[a] = lines[a].rstrip(b"\r\n") + lines[b]
    return (b"" if b"\n" in data else b",").join(lines)


def splice(data: bytes, dice: random.Random, others: list[Sample]) -> bytes:
    other = dice.choice(others).data
    lines, more = data.splitlines(keepends=True), other.splitlines(keepends=True)
    place = dice.randrange(len(lines) + 1)
    return b"".join([*lines[:place], *dice.sample(more, min(len(more), dice.choice((1, 3, 20)))), *lines[place:]])


def values_changed(data: bytes, dice: random.Random, others: list[Sample]) -> bytes:
    """Some JSON values (of a line, or of the whole document) become something else."""
    whole = parsed(data)
    if whole is not None:
        return dumped(changed(whole, dice), dice)
    lines = data.splitlines(keepends=True)
    for _ in range(dice.choice((1, 1, 4, 40))):
        if lines:
            place = dice.randrange(len(lines))
            value = parsed(lines[place])
            if value is not None:
                lines[place] = dumped(changed(value, dice), dice) + b"\n"
    return b"".join(lines)


def parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def dumped(value: Any, dice: random.Random) -> bytes:
    try:
        text = json.dumps(value, indent=dice.choice((None, None, 2)), ensure_ascii=dice.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )
    except (ValueError, RecursionError):
        return b"{}"
    if dice.random() < 0.1:
        # a value that no JSON library writes
        marks = [place for place in range(len(text) - 1) if text[place : place + 1] == b":"]
        if marks:
            place = dice.choice(marks) + 1
            text = text[:place] + dice.choice(RAW) + text[place + 1 :]
    return text


def changed(value: Any, dice: random.Random) -> Any:
    places: list[tuple[Any, Any]] = []
    queue = [value]
    while queue and len(places) < 20_000:
        node = queue.pop()
        keys: Any = node.keys() if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            places.append((node, key))
            queue.append(node[key])
    for _ in range(dice.choice((1, 1, 2, 8))):
        if not places:
            return dice.choice(ODD)
        node, key = dice.choice(places)
        with contextlib.suppress(KeyError, IndexError, TypeError):
            kind = dice.randrange(6)
            if kind == 0 and isinstance(node, dict):
                node[dice.choice(("id", "type", "usage", "message", "x", ""))] = node.pop(key)
            elif kind == 1:
                del node[key]
            elif kind == 2:
                node[key] = [node[key]] if dice.random() < 0.5 else {"value": node[key]}
            elif kind == 3 and isinstance(node[key], str | int | float):
                node[key] = str(node[key]) if not isinstance(node[key], str) else len(node[key])
            elif kind == 4:
                other, place = dice.choice(places)
                node[key] = json.loads(json.dumps(other[place]))
            else:
                node[key] = dice.choice(ODD)
    return value


CHANGES: tuple[Change, ...] = (cut, flip, insert, lines_moved, splice, values_changed, values_changed, values_changed)
