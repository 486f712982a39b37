from __future__ import annotations

from tests.readers.gateway_help import calls, context, lines, problems, read, readers, score, tokens


def test_magpie_lines():
    data = lines(
        {"t": "2026-06-01T10:00:00Z", "agent": "claude", "provider": "anthropic", "model": "claude-sonnet-4-5", "in": 9,
         "out": 5, "cache_read": 900, "cache_write": 60, "ms": 800, "status": 200, "session": "s1"},
        {"t": "2026-06-01T10:01:00Z", "agent": "claude", "provider": "anthropic", "model": "m", "in": 9, "out": 5,
         "cache_read": 900, "ms": 800, "status": 200, "session": "s1", "kind": "compact"},
        {"t": "2026-06-01T10:02:00Z", "agent": "claude", "provider": "anthropic", "model": "m", "ms": 8, "status": 529},
    )  # fmt: skip
    assert score("magpie", data) > 0.9
    one, compact, failed = calls(read("magpie", data))
    assert (tokens(one), one.session, one.reasoning_tokens) == ((969, 9, 900, 60, 5), "s1", 0)
    assert (compact.purpose, compact.chain, tokens(compact)) == ("compaction", "side", (909, 9, 900, 0, 5))
    assert (failed.status, tokens(failed), failed.session_evidence) == ("error", (None,) * 5, "file")


def test_magpie_follows_a_growing_file():
    parser = readers("magpie")[0].parser(context(""))
    row = {"t": "2026-06-01T10:00:00Z", "provider": "p", "model": "m", "in": 1, "out": 1, "ms": 1}
    parser.feed([lines(row).encode()], 1)
    assert len(calls(parser.take())) == 1
    parser.feed([lines(row | {"t": "2026-06-01T10:00:05Z"}).encode(), b'{"no": "record"}\n'], 2)
    records = parser.take()
    assert [c.line for c in calls(records)] == [2]
    assert [p.line for p in problems(records)] == [3]
