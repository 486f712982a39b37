"""Gateway databases read as a stream say what they say when read whole."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from monitor.fleet.addresses import chunks
from monitor.fleet.run import Request, gather
from monitor.readers.base import DEFAULT_OPTIONS, ReadError
from monitor.records import Call
from monitor.sources.database import read
from tests.fleet import help
from tests.postgres import PASSWORD

pytest.importorskip("sqlalchemy", reason="the extra db is not installed")
pytest.importorskip("pyarrow", reason="the extra fleet is not installed")

LITELLM = (
    'CREATE TABLE "LiteLLM_SpendLogs" (request_id TEXT PRIMARY KEY, call_type TEXT, api_key TEXT, spend REAL, '
    'total_tokens INT, prompt_tokens INT, completion_tokens INT, "startTime" TIMESTAMP, "endTime" TIMESTAMP, model TEXT, '
    "custom_llm_provider TEXT, cache_hit TEXT, session_id TEXT, status TEXT, messages TEXT, metadata TEXT)"
)
NEW_API = (
    "CREATE TABLE logs (id INTEGER PRIMARY KEY, created_at BIGINT, type INTEGER, content TEXT, username TEXT, "
    "token_name TEXT, model_name TEXT, quota INTEGER, prompt_tokens INTEGER, completion_tokens INTEGER, "
    'use_time INTEGER, "group" TEXT, other TEXT)'
)
BIFROST = (
    "CREATE TABLE logs (id TEXT PRIMARY KEY, timestamp TEXT, object_type TEXT, provider TEXT, model TEXT, latency REAL, "
    "status TEXT, token_usage TEXT, cost REAL, selected_key_id TEXT, virtual_key_id TEXT, input_history TEXT)"
)


def database(path: Path, create: str, table: str, rows: list[dict[str, Any]]) -> str:
    connection = sqlite3.connect(path)
    connection.execute(create)
    for row in rows:
        names = ", ".join(f'"{name}"' for name in row)
        connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(row))})', tuple(row.values()))
    connection.commit()
    connection.close()
    return f"sqlite:///{path}"


def litellm_row(n: int, session: str | None, **more: Any) -> dict[str, Any]:
    usage = {
        "prompt_tokens": 9000 + 500 * n,
        "completion_tokens": 70,
        "prompt_tokens_details": {"cached_tokens": 100 * n},
    }
    return {"request_id": f"req-{n}", "call_type": "acompletion", "api_key": f"key-{n % 2}", "spend": 0.25,
            "prompt_tokens": 9000 + 500 * n, "completion_tokens": 70, "startTime": f"2026-03-01 10:{n:02d}:00",
            "endTime": f"2026-03-01 10:{n:02d}:09", "model": "gpt-5", "custom_llm_provider": "openai",
            "session_id": session, "status": "success", "messages": "private words",
            "metadata": json.dumps({"usage_object": usage})} | more  # fmt: skip


@pytest.fixture
def litellm(tmp_path: Path) -> str:
    rows = [litellm_row(n, "conversation" if n % 3 == 0 else f"made-up-{n}") for n in range(30)]
    # an answer from the proxy's own cache is no call, so this id stands for one call only
    rows += [litellm_row(31, "once"), litellm_row(32, "once", cache_hit="True")]
    rows += [litellm_row(33, None), litellm_row(34, "twice", status="failure"), litellm_row(35, "twice")]
    return database(tmp_path / "litellm.db", LITELLM, "LiteLLM_SpendLogs", rows)


@pytest.fixture
def new_api(tmp_path: Path) -> str:
    rows = [
        {"id": n, "created_at": 1_783_407_600 + 30 * n, "type": 5 if n == 7 else 2, "content": "private words",
         "username": "dev", "token_name": f"agent-{n % 2}", "model_name": "claude-sonnet-4-5", "quota": 500_000,
         "prompt_tokens": 40, "completion_tokens": 5, "use_time": 2, "group": "default",
         "other": json.dumps({"cache_tokens": 9000 + 700 * n, "cache_creation_tokens": 700, "claude": True})}
        for n in range(1, 41)
    ]  # fmt: skip
    return database(tmp_path / "one-api.db", NEW_API, "logs", rows)


@pytest.fixture
def bifrost(tmp_path: Path) -> str:
    rows = [
        {"id": f"b{n}", "timestamp": f"2026-03-01T10:{n:02d}:00Z", "object_type": "chat_completion", "provider": "openai",
         "model": "gpt-5", "latency": 900.0, "status": "success", "virtual_key_id": "v",
         "token_usage": json.dumps({"prompt_tokens": 9000 + 400 * n, "completion_tokens": 30}), "input_history": "words"}
        for n in range(20)
    ]  # fmt: skip
    return database(tmp_path / "logs.db", BIFROST, "logs", rows)


def by_key(records: Iterable[Any]) -> dict[str, Call]:
    """Calls by their key; what else a call with a session tells about itself decides nothing."""
    found = {record.key: record for record in records if isinstance(record, Call)}
    return {
        key: msgspec.structs.replace(call, evidence=None) if call.session_evidence == "explicit" else call
        for key, call in found.items()
    }


@pytest.mark.parametrize("kind", ["litellm", "new_api", "bifrost"])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_chunks_hold_the_calls_of_the_whole(kind: str, size: int, request: pytest.FixtureRequest) -> None:
    address = request.getfixturevalue(kind)
    streamed: dict[str, Call] = {}
    for chunk in chunks(address, DEFAULT_OPTIONS, size):
        streamed.update(by_key(chunk))
    whole = by_key(read(address)[0].records)
    assert streamed == whole
    assert len(whole) == {"litellm": 34, "new_api": 40, "bifrost": 20}[kind]


def test_ids_that_litellm_made_up_are_no_sessions(litellm: str) -> None:
    calls = [call for chunk in chunks(litellm, DEFAULT_OPTIONS, 5) for call in chunk if isinstance(call, Call)]
    named = {call.session for call in calls if call.session_evidence == "explicit"}
    assert named == {"conversation", "twice"}
    assert sum(call.session == "conversation" for call in calls) == 10


@pytest.mark.parametrize("kind", ["litellm", "new_api", "bifrost"])
@pytest.mark.parametrize("buckets", [1, 7])
def test_sessions_of_a_database(
    kind: str, buckets: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monitor.fleet.addresses.CHUNK", 9)
    address = request.getfixturevalue(kind)
    whole, streamed = (
        # a call whose session becomes known only later leaves its steps behind when read whole
        help.by_name([msgspec.structs.replace(view, steps=()) for view in views])
        for views in (help.plain([address], DEFAULT_OPTIONS), help.bucketed([address], buckets, DEFAULT_OPTIONS))
    )
    help.same(whole, streamed)


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such SQLite file"):
        list(chunks(f"sqlite:///{tmp_path / 'none.db'}", DEFAULT_OPTIONS))
    other = database(tmp_path / "other.db", "CREATE TABLE t (a INT)", "t", [{"a": 1}])
    with pytest.raises(ReadError, match="no known table"):
        list(chunks(other, DEFAULT_OPTIONS))


def test_a_postgresql_server_is_read_in_pieces(empty: tuple[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """30 calls of LiteLLM: ten of a conversation, the others with ids that it made up."""
    url, connection = empty
    # the columns as LiteLLM makes them there: JSONB and times without a zone
    connection.execute(LITELLM.replace("metadata TEXT", "metadata JSONB").replace("TIMESTAMP", "TIMESTAMP(3)"))
    for n in range(30):
        row = litellm_row(n, "conversation" if n % 3 == 0 else f"made-up-{n}")
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join(["%s"] * len(row))
        connection.execute(f'INSERT INTO "LiteLLM_SpendLogs" ({names}) VALUES ({marks})', tuple(row.values()))
    connection.commit()
    monkeypatch.setattr("monitor.fleet.addresses.CHUNK", 7)
    calls = [call for chunk in chunks(url, DEFAULT_OPTIONS) for call in chunk if isinstance(call, Call)]
    assert sorted(call.prompt_tokens or 0 for call in calls) == [9_000 + 500 * n for n in range(30)]
    conversation = [call.prompt_tokens or 0 for call in calls if call.session == "conversation"]
    assert sorted(conversation) == [9_000 + 500 * n for n in range(0, 30, 3)]
    assert "private words" not in repr(calls) and PASSWORD not in repr(calls)
    whole, streamed = (
        help.by_name([msgspec.structs.replace(view, steps=()) for view in views])
        for views in (help.plain([url], DEFAULT_OPTIONS), help.bucketed([url], 7, DEFAULT_OPTIONS))
    )
    help.same(whole, streamed)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("postgresql+psycopg://me:top-secret@127.0.0.1:9/db?password=top-secret", "postgresql://127.0.0.1:9/db"),
        ("postgresql://me:top-secret/@?x@127.0.0.1:9/db", "postgresql://127.0.0.1:9/db"),
    ],
)
def test_an_address_is_told_without_its_password(address: str, name: str) -> None:
    with gather(Request(paths=[address])) as fleet:
        (problem,) = fleet.problems
        assert problem.file == name and "top-secret" not in problem.reason
        assert "top-secret" not in repr(fleet._plan.for_workers())
