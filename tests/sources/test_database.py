"""Databases by URL: SQLite files, and a PostgreSQL server started for the test."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from monitor.readers.base import ReadError, ReadOptions
from monitor.records import Call
from monitor.sources import database
from tests.postgres import PASSWORD

pytest.importorskip("sqlalchemy", reason="the extra db is not installed")


def calls(batch: Any) -> list[Call]:
    return [record for record in batch.records if isinstance(record, Call)]


# --- SQLite ----------------------------------------------------------------------------------------------------------
NEW_API = (
    "CREATE TABLE logs (id INTEGER PRIMARY KEY, user_id INTEGER, created_at BIGINT, type INTEGER, content TEXT, "
    "username TEXT, token_name TEXT, model_name TEXT, quota INTEGER, prompt_tokens INTEGER, completion_tokens INTEGER, "
    'use_time INTEGER, is_stream BOOLEAN, channel_id INTEGER, token_id INTEGER, "group" TEXT, ip TEXT, other TEXT)'
)


def new_api_row(n: int, **more: Any) -> dict[str, Any]:
    return {"id": n, "created_at": 1783407600 + n, "type": 2, "content": "private words", "username": "dev",
            "token_name": "agent", "model_name": "claude-x", "quota": 500_000, "prompt_tokens": n, "completion_tokens": 5,
            "use_time": 2, "group": "default", "other": json.dumps({"cache_tokens": 900, "claude": True})} | more  # fmt: skip


def insert(connection: Any, table: str, rows: list[dict[str, Any]], mark: str = "?") -> None:
    for row in rows:
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join([mark] * len(row))
        connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(row.values()))
    connection.commit()


@pytest.fixture
def one_api(tmp_path: Path) -> Path:
    path = tmp_path / "one api.db"
    connection = sqlite3.connect(path)
    connection.execute(NEW_API)
    insert(
        connection, "logs", [new_api_row(1), new_api_row(2, type=1), new_api_row(3, type=5, other=""), new_api_row(4)]
    )
    connection.close()
    return path


def test_sqlite_of_new_api(one_api):
    before = one_api.read_bytes()
    batch, title = database.read(f"sqlite:///{one_api}")
    found = calls(batch)
    assert [(c.status, c.prompt_tokens, c.cache_read_tokens, c.cost_usd) for c in found] == [
        ("ok", 901, 900, 1.0),
        ("error", None, None, None),
        ("ok", 904, 900, 1.0),
    ]
    assert title == "new-api / one-api log"
    assert batch.file == f"sqlite:///{one_api}"
    assert "private" not in repr(batch)
    assert one_api.read_bytes() == before
    assert sorted(p.name for p in one_api.parent.iterdir()) == [one_api.name]


def test_only_new_rows_at_the_next_poll(one_api):
    source = database.Database(f"sqlite:///{one_api}")
    assert (len(calls(source.poll())), source.poll().records) == (3, [])
    connection = sqlite3.connect(one_api)
    insert(connection, "logs", [new_api_row(5)])
    connection.close()
    batch = source.poll()
    assert ([c.prompt_tokens for c in calls(batch)], batch.replace) == ([905], False)
    source.close()


def test_since_and_forced_source(one_api):
    source = database.Database(f"sqlite:///{one_api}", ReadOptions(source="one-api"), since_ms=(1783407600 + 4) * 1000)
    found = calls(source.poll())
    source.close()
    assert [(c.source, c.prompt_tokens) for c in found] == [("one-api", 4)]


def test_sqlite_of_litellm_and_bifrost(tmp_path):
    path = tmp_path / "l.db"
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE "LiteLLM_SpendLogs" (request_id TEXT, "startTime" TEXT, model TEXT, metadata TEXT, '
                       "prompt_tokens INT, completion_tokens INT, call_type TEXT, spend REAL, proxy_server_request TEXT)")  # fmt: skip
    insert(connection, "LiteLLM_SpendLogs", [spend_row(1)])
    connection.close()
    [call] = calls(database.read(f"sqlite:///{path}")[0])
    assert (call.prompt_tokens, call.cache_read_tokens, call.source) == (101, 64, "litellm")
    other = tmp_path / "b.db"
    connection = sqlite3.connect(other)
    connection.execute(
        "CREATE TABLE logs (id TEXT, timestamp TEXT, provider TEXT, model TEXT, token_usage TEXT, status TEXT)"
    )
    insert(connection, "logs", [{"id": "b1", "timestamp": "2026-06-01 10:00:00", "provider": "openai", "model": "m",
           "token_usage": '{"prompt_tokens": 100, "completion_tokens": 5}', "status": "success"}])  # fmt: skip
    connection.close()
    source = database.Database(f"sqlite:///{other}")
    [call] = calls(source.poll())
    assert (call.prompt_tokens, call.source, call.call_id) == (100, "table", "b1")
    assert source.poll().records == []
    source.close()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("sqlite:////nowhere/at/all.db", "no such SQLite file"),
        ("mysql://me:secret@host/db", "databases of this kind are not read"),
        ("postgresql://me:secret@127.0.0.1:9/db", "cannot be read"),
        ("postgresql://me:secret@[bad", ""),
        ("nonsense", "no database URL"),
    ],
)
def test_faults_are_one_sentence_without_the_password(address, words):
    with pytest.raises(ReadError) as caught:
        database.read(address)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_database_without_a_known_table(tmp_path):
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE logs (a INT)")
    connection.commit()
    connection.close()
    with pytest.raises(ReadError, match="no known table"):
        database.read(f"sqlite:///{path}")


def test_what_is_shown_of_an_address():
    assert database.Database("postgresql+psycopg://me:secret@db:5432/l?sslkey=x").name == "postgresql://db:5432/l"


def test_missing_package_names_the_extra(monkeypatch, one_api):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(ReadError, match=r"pip install '\.\[db\]'"):
        database.Database(f"sqlite:///{one_api}").poll()


# --- PostgreSQL ------------------------------------------------------------------------------------------------------
def spend_row(n: int, **more: Any) -> dict[str, Any]:
    meta = {
        "usage_object": {
            "prompt_tokens": 100 + n,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 64},
        },
        "model_map_information": {"model_map_value": {"max_input_tokens": 272000}},
        "requester_custom_headers": {"x-secret": "header value"},
    }
    body = {"messages": [{"role": "user", "content": "private words"}]}
    return {"request_id": f"c{n}", "call_type": "acompletion", "spend": 0.01, "prompt_tokens": 100 + n, "completion_tokens": 5,
            "startTime": f"2026-04-10 08:{n // 60:02d}:{n % 60:02d}", "model": "openai/gpt-5-mini",
            "metadata": json.dumps(meta), "proxy_server_request": json.dumps(body)} | more  # fmt: skip


SPEND = (
    'CREATE TABLE "LiteLLM_SpendLogs" (request_id TEXT PRIMARY KEY, call_type TEXT, api_key TEXT, spend DOUBLE PRECISION, '
    'total_tokens INT, prompt_tokens INT, completion_tokens INT, "startTime" TIMESTAMP(3), "endTime" TIMESTAMP(3), model TEXT, '
    'custom_llm_provider TEXT, "user" TEXT, metadata JSONB, cache_hit TEXT, session_id TEXT, status TEXT, messages JSONB, '
    "response JSONB, proxy_server_request JSONB)"
)


def spend(connection: Any, *rows: dict[str, Any]) -> None:
    insert(connection, "LiteLLM_SpendLogs", list(rows), "%s")


def test_postgresql_of_litellm(empty):
    url, connection = empty
    connection.execute(SPEND)
    spend(connection, spend_row(2, session_id="s"), spend_row(1, session_id="s", spend=0.5),
          spend_row(3, cache_hit="True"), spend_row(4, status="failure", session_id="once"))  # fmt: skip
    batch, title = database.read(url)
    found = calls(batch)
    assert [(c.key, c.prompt_tokens, c.cache_read_tokens, c.session, c.status) for c in found] == [
        ("c1", 101, 64, "s", "ok"),
        ("c2", 102, 64, "s", "ok"),
        ("c4", None, None, "postgres", "error"),
    ]
    assert (found[0].context_limit, found[0].cost_usd, found[0].time) == (272000, 0.5, 1775808001000)
    assert title == "LiteLLM table"
    # bodies and headers stay in the database
    assert not any(c.has_bodies for c in found)
    for word in ("private", "header value", PASSWORD, "tester"):
        assert word not in repr(batch)


def test_postgresql_bodies_only_when_messages_are_to_be_compared(empty):
    url, connection = empty
    connection.execute(SPEND)
    spend(connection, spend_row(1))
    [call] = calls(database.read(url, ReadOptions(session_by="prefix"))[0])
    assert call.has_bodies
    assert call.evidence is not None
    assert call.evidence.messages
    assert "private" not in repr(call)


def test_postgresql_polls_and_late_rows(empty):
    url, connection = empty
    connection.execute(SPEND)
    spend(connection, spend_row(10))
    source = database.Database(url)
    assert [c.key for c in calls(source.poll())] == ["c10"]
    assert source.poll().records == []
    # a call that began before the last one and ended after it
    spend(connection, spend_row(5), spend_row(20))
    assert [c.key for c in calls(source.poll())] == ["c5", "c20"]
    source.close()


def test_postgresql_of_new_api_with_many_rows(empty):
    url, connection = empty
    connection.execute(NEW_API.replace("INTEGER PRIMARY KEY", "BIGINT PRIMARY KEY"))
    with connection.cursor().copy("COPY logs (id, created_at, type, token_name, model_name, prompt_tokens, "
                                  'completion_tokens, use_time, "group", other) FROM STDIN') as copy:  # fmt: skip
        for n in range(12_000):
            copy.write_row((n, 1783407600 + n, 2, "agent", "gpt-5.4", 1000 + n, 5, 1, "g", '{"cache_tokens": 640}'))
    connection.commit()
    found = calls(database.read(url)[0])
    assert len(found) == 12_000
    assert found[-1].prompt_tokens == 12_999
    assert sum(c.cache_read_tokens or 0 for c in found) == 640 * 12_000


def test_postgresql_is_opened_read_only(empty):
    import sqlalchemy

    url, connection = empty
    connection.execute(SPEND)
    connection.commit()
    source = database.Database(url)
    source.poll()
    with source._engine.connect() as link, pytest.raises(sqlalchemy.exc.DBAPIError, match="read-only"):
        link.execute(sqlalchemy.text('DELETE FROM "LiteLLM_SpendLogs"'))
    source.close()


def test_postgresql_faults(empty):
    url, _ = empty
    for address, words in (
        (url.replace(PASSWORD, "wrong-secret"), "password is wrong"),
        (url.replace("/postgres", "/nothing"), "no such database"),
        (url, "no known table"),
    ):
        with pytest.raises(ReadError) as caught:
            database.read(address)
        assert words in str(caught.value)
        assert "secret" not in str(caught.value)
        assert PASSWORD not in str(caught.value)
