from __future__ import annotations

import sqlite3

import pytest

from monitor.readers.base import FileContext, ReadError, read_head
from tests.readers.gateway_help import calls, readers, tokens


def database(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    return connection


def read(module, path):
    at = FileContext(path.name, path)
    head = read_head(at)
    reader = max(readers(module), key=lambda one: one.sniff(head))
    assert reader.sniff(head) > 0.9
    parser = reader.parser(at)
    parser.read(at)
    return calls(parser.take())


LOGS = (
    "CREATE TABLE `logs` (`id` integer PRIMARY KEY, `created_at` bigint, `type` integer, `content` text, `token_name` text, "
    "`model_name` text, `quota` integer, `prompt_tokens` integer, `completion_tokens` integer, `use_time` integer, "
    "`group` text, `other` text)"
)
ROW = (
    "INSERT INTO logs VALUES (1, 1783407600, 2, 'private words', 'agent', 'claude-x', 500000, 5, 7, 3, 'g', "
    '\'{"cache_tokens": 90, "claude": true}\')'
)


def test_the_gateways_own_file_is_read_and_not_changed(tmp_path):
    path = tmp_path / "one-api.db"
    database(path, LOGS, ROW).close()
    before = path.read_bytes()
    [call] = read("new_api", path)
    assert (tokens(call), call.cost_usd, call.source) == ((95, 5, 90, 0, 7), 1.0, "new-api")
    assert "private" not in repr(call)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["one-api.db"]


def test_rows_that_are_still_in_the_write_ahead_file_are_seen(tmp_path):
    path = tmp_path / "one-api.db"
    writer = database(path, "PRAGMA journal_mode=wal", LOGS)
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.execute(ROW)
    writer.commit()
    assert (tmp_path / "one-api.db-wal").stat().st_size > 0
    assert len(read("new_api", path)) == 1
    writer.close()


def test_bifrost(tmp_path):
    path = tmp_path / "logs.db"
    database(
        path,
        "CREATE TABLE logs (id text, timestamp datetime, object_type text, provider text, model text, token_usage text, "
        "input_history text, status text)",
        "INSERT INTO logs VALUES ('b1', '2026-06-01 10:00:00', 'chat.completion', 'openai', 'm', "
        '\'{"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}\', '
        "'private words', 'success')",
    ).close()
    [call] = read("columns", path)
    assert (tokens(call), call.source, call.time) == ((100, 36, 64, 0, 5), "table", 1780308000000)
    assert "private" not in repr(call)


def test_other_databases_are_not_taken(tmp_path):
    path = tmp_path / "x.db"
    database(
        path, "CREATE TABLE logs (a int)", "CREATE TABLE x (token_name text, model_name text, prompt_tokens int)"
    ).close()
    head = read_head(FileContext("x", path))
    assert [reader.sniff(head) for module in ("new_api", "columns") for reader in readers(module)] == [0.0] * 5


@pytest.mark.parametrize("data", [b"SQLite format 3\x00 and nothing else", b""])
def test_damaged_files_are_one_sentence(tmp_path, data):
    path = tmp_path / "d.db"
    path.write_bytes(data)
    at = FileContext("d.db", path)
    parser = readers("new_api")[2].parser(at)
    with pytest.raises(ReadError):
        parser.read(at)


def test_standard_input_is_no_database():
    at = FileContext("stdin", data=b"SQLite format 3\x00")
    with pytest.raises(ReadError, match="as a file"):
        readers("new_api")[2].parser(at).read(at)
