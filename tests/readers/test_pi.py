"""Pi session files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from monitor.readers.base import FileContext, Head, ReadOptions
from monitor.readers.pi import READER
from monitor.records import Call, Event, Problem, Record, Step


def said(number: int, usage: tuple[int, int, int, int], stop: str = "stop", **more: Any) -> dict[str, Any]:
    fresh, out, read, write = usage
    message = {"role": "assistant", "provider": "anthropic", "model": "claude-sonnet-4-5", "stopReason": stop,
               "timestamp": 1_775_808_000_000 + number, "content": [{"type": "text", "text": "ok"}],
               "usage": {"input": fresh, "output": out, "cacheRead": read, "cacheWrite": write}}  # fmt: skip
    return {"type": "message", "id": f"e{number}", "parentId": f"e{number - 1}",
            "timestamp": f"2026-04-10T08:00:{number:02d}.000Z", "message": message, **more}  # fmt: skip


HEADER = {"type": "session", "version": 3, "id": "p1", "timestamp": "2026-04-10T08:00:00.000Z", "cwd": "/home/dev/shop"}


def read(rows: list[dict[str, Any]]) -> list[Record]:
    context = FileContext(name="s.jsonl", data="".join(json.dumps(r) + "\n" for r in rows).encode())
    parser = READER.parser(context)
    parser.read(context)
    return parser.take()


def calls(records: list[Record]) -> list[Call]:
    return [record for record in records if isinstance(record, Call)]


def test_usage_is_additive_for_every_provider() -> None:
    (call,) = calls(read([HEADER, said(1, (1_200, 50, 30_000, 400))]))
    assert (call.prompt_tokens, call.fresh_tokens, call.cache_read_tokens, call.cache_write_tokens) == (
        31_600,
        1_200,
        30_000,
        400,
    )
    assert call.session == "p1"


def test_bedrocks_input_of_openai_models_holds_the_cache() -> None:
    rows = [said(1, (8_369, 17, 0, 8_367)), said(2, (12_401, 20, 8_367, 4_032)), said(3, (2, 20, 13_923, 7_262))]
    for row, model in zip(rows, ("openai.gpt-5.6", "openai.gpt-5.6", "anthropic.claude-sonnet-4-6"), strict=True):
        row["message"] |= {"provider": "amazon-bedrock", "model": model}
    found = calls(read([HEADER, *rows]))
    assert [(c.prompt_tokens, c.fresh_tokens) for c in found] == [(8_369, 2), (12_401, 2), (21_187, 2)]


def test_reasoning_under_both_names_and_a_title_before_the_header() -> None:
    ours, theirs = said(1, (10, 50, 0, 0)), said(2, (10, 60, 0, 0))
    ours["message"]["usage"]["reasoning"] = 20
    theirs["message"]["usage"]["reasoningTokens"] = 30  # oh-my-pi, which writes its titles into the first line
    found = calls(read([{"type": "title", "v": 1, "title": "x", "pad": "   "}, HEADER, ours, theirs]))
    assert [(call.session, call.output_tokens, call.reasoning_tokens) for call in found] == [
        ("p1", 50, 20), ("p1", 60, 30)]  # fmt: skip


def test_zero_rows_were_sent_but_tell_nothing() -> None:
    found = calls(read([HEADER, said(1, (0, 0, 0, 0), stop="aborted"), said(2, (10, 1, 0, 0), stop="aborted")]))
    assert [(c.status, c.prompt_tokens) for c in found] == [("error", None), ("ok", 10)]


def test_compaction_entry() -> None:
    row = {
        "type": "compaction",
        "id": "e2",
        "parentId": "e1",
        "timestamp": "2026-04-10T08:00:02.000Z",
        "tokensBefore": 174_650,
    }
    (event,) = [r for r in read([HEADER, said(1, (1, 1, 0, 0)), row]) if isinstance(r, Event)]
    assert (event.kind, event.recorded_before) == ("compaction", 174_650)


def test_an_entry_with_another_parent_is_a_rewind() -> None:
    rows = [HEADER, said(1, (1, 1, 0, 0)), said(2, (2, 1, 0, 0)), {**said(3, (2, 1, 0, 0)), "parentId": "e1"}]
    assert [e.kind for e in read(rows) if isinstance(e, Event)] == ["rewind"]


def test_copies_have_the_keys_of_the_original_and_twins_do_not() -> None:
    original = [HEADER, said(1, (5, 1, 0, 0)), said(2, (6, 1, 0, 0))]
    fork = [{**HEADER, "id": "p2", "parentSession": "/x/2026_p1.jsonl"}, {**said(1, (5, 1, 0, 0)), "id": "zz"}]
    assert calls(read(fork))[0].key == calls(read(original))[0].key
    twins = calls(read([HEADER, said(1, (5, 1, 0, 0)), {**said(1, (5, 1, 0, 0)), "id": "other"}]))
    assert len({c.key for c in twins}) == 2


def test_writes_that_live_an_hour() -> None:
    ours, theirs = said(1, (5, 1, 0, 9_000)), said(2, (5, 1, 0, 9_000))
    ours["message"]["usage"]["cacheWrite1h"] = 8_000
    theirs["message"]["usage"]["cttl"] = {"ephemeral1h": 9_000}
    found = calls(read([HEADER, ours, theirs, said(3, (5, 1, 0, 9_000))]))
    assert [(call.prompt_tokens, call.cache_write_tokens, call.cache_write_1h_tokens) for call in found] == [
        (9_005, 9_000, 8_000), (9_005, 9_000, 9_000), (9_005, 9_000, None)]  # fmt: skip


def test_a_total_that_proves_that_the_input_holds_the_cache() -> None:
    held, apart, plain = said(1, (50_000, 100, 40_000, 0)), said(2, (50_000, 100, 40_000, 0)), said(3, (500, 100, 0, 0))
    held["message"]["usage"]["totalTokens"] = 50_100
    apart["message"]["usage"]["totalTokens"] = 90_100
    plain["message"]["usage"]["totalTokens"] = 600
    found = [(call.prompt_tokens, call.fresh_tokens) for call in calls(read([HEADER, held, apart, plain]))]
    assert found == [(50_000, 10_000), (90_000, 50_000), (500, 500)]


def test_the_calls_that_made_summaries() -> None:
    def entry(kind: str, second: int, **more: Any) -> dict[str, Any]:
        used = {"input": 100, "output": 900, "cacheRead": 150_000, "cacheWrite": 50, "cost": {"total": 0.25}}
        return {"type": kind, "id": f"{kind}{second}", "parentId": None, "usage": used, "summary": "x",
                "timestamp": f"2026-09-10T10:00:{second:02d}.000Z", **more}  # fmt: skip

    rows = [HEADER, said(1, (5, 1, 0, 0)), entry("compaction", 20, tokensBefore=6), entry("branch_summary", 30),
            entry("compaction", 40, tokensBefore=9, usage=None), entry("compaction", 50, usage={"input": 0}),
            entry("compaction", 55, usage="odd", tokensBefore="7")]  # fmt: skip
    found = read(rows)
    made = [call for call in calls(found) if call.purpose == "compaction"]
    assert [(call.prompt_tokens, call.output_tokens, call.chain, call.cost_usd) for call in made] == [
        (150_150, 900, "side", 0.25)] * 2  # fmt: skip
    assert {call.model for call in made} == {calls(found)[0].model}  # that of the session
    noted = [record for record in found if isinstance(record, Event) and record.kind == "compaction"]
    assert [event.summary_tokens for event in noted] == [900, None, None, None]
    own = calls(read([HEADER, entry("compaction", 20, model="glm-5", provider="z")]))[0]
    assert (own.model, own.provider) == ("glm-5", "z")


def test_odd_numbers_cost_only_the_entry() -> None:
    row = said(1, (5, 1, 0, 0))
    row["message"]["usage"] = {"input": "7", "output": 2.0, "cacheRead": None, "cacheWrite": -1}
    (call,) = calls(read([HEADER, row]))
    assert (call.prompt_tokens, call.output_tokens, call.cache_write_tokens) == (7, 2, None)


def test_sniff() -> None:
    assert READER.sniff(Head(json.dumps(HEADER).encode(), "x", True)) >= 0.9
    assert READER.sniff(Head(b'{"type":"session","trace_id":"1","id":"a","timestamp":"x"}', "x", True)) == 0.0


def test_twins_of_answers_of_long_ago_ask_for_the_whole_file() -> None:
    parser = READER.parser(FileContext(name="x.jsonl", data=b""))
    parser.feed([json.dumps(said(n, (n + 1, 0, 0, 1))).encode() for n in range(2_100)], 1)
    parser.take()
    parser.feed([json.dumps(said(2_099, (2_100, 0, 0, 1))).encode()], 2_101)
    assert not parser.reread
    parser.feed([json.dumps(said(7, (8, 0, 0, 1))).encode()], 2_102)
    assert parser.reread


@pytest.mark.parametrize(
    "content", [5, {"text": "ok"}, [7, {"type": 1, "text": ["x"]}], [{"type": "toolCall", "arguments": 3}], None]
)
def test_content_of_an_odd_shape_loses_no_call(content: Any) -> None:
    row = said(1, (1_200, 50, 30_000, 400))
    row["message"]["content"] = content
    found = read([HEADER, row])
    assert [call.prompt_tokens for call in calls(found)] == [31_600]
    assert not [record for record in found if isinstance(record, Problem)]


def test_a_field_of_another_type_loses_no_call() -> None:
    row = said(1, (1_200, 50, 30_000, 400))
    row["message"] |= {"errorMessage": {"type": "x"}, "responseId": 12}
    assert [call.prompt_tokens for call in calls(read([HEADER, row]))] == [31_600]


@pytest.mark.parametrize("figure", [-1, 1e300, 10**18, "many", None, {}])
def test_a_figure_that_no_call_has_is_unknown_and_the_others_stay(figure: Any) -> None:
    row = said(1, (1_200, 50, 30_000, 400))
    row["message"]["usage"]["cacheWrite"] = figure
    (call,) = calls(read([HEADER, row]))
    assert (call.fresh_tokens, call.cache_read_tokens, call.cache_write_tokens) == (1_200, 30_000, None)


def test_the_latest_forty_steps_are_kept_in_order_and_all_of_them_on_request() -> None:
    rows: list[dict[str, Any]] = [HEADER]
    for number in range(1, 31):  # two calls of tools in each answer, and one result
        row = said(number % 60, (10, 1, 0, 0), stop="toolUse")
        row["message"]["content"] = [
            {"type": "toolCall", "id": f"{number}{part}", "name": "bash", "arguments": {"command": "ls"}}
            for part in "ab"
        ]
        result = {"role": "toolResult", "toolCallId": f"{number}a", "content": [{"type": "text", "text": "x" * number}]}
        rows += [row, {"type": "message", "message": result}]
    told = [step.id for step in read(rows) if isinstance(step, Step)]
    whole = [f"{number}{part}" for number in range(1, 31) for part in "aba"]
    assert told == whole[-40:]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    parser = READER.parser(FileContext(name="s.jsonl", data=data, options=ReadOptions(detail=True)))
    parser.read(FileContext(name="s.jsonl", data=data))
    assert [step.id for step in parser.take() if isinstance(step, Step)] == whole
