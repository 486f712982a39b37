"""Claude Code transcripts: what makes one call of many lines, and what is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor.readers import choose
from monitor.readers.base import FileContext, Head, ReadOptions
from monitor.readers.claude_code import READER
from monitor.records import Call, Event, Problem, Record, SessionInfo, Step
from monitor.sources.files import read_bytes
from tests.readers.agent_help import loaded


def line(kind: str, seconds: float = 0, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "sessionId": "11111111-2222-3333-4444-555555555555",
        "uuid": f"u{seconds}{kind}",
        "parentUuid": None,
        "cwd": "/home/dev/shop",
        "timestamp": f"2026-04-10T08:00:{seconds:06.3f}Z",
        **more,
    }


def answer(seconds: float, mid: str, usage: dict[str, Any], **more: Any) -> dict[str, Any]:
    content = more.pop("content", [{"type": "text", "text": "ok"}])
    message = {"id": mid, "role": "assistant", "model": more.pop("model", "claude-sonnet-4-5"), "content": content,
               "stop_reason": more.pop("stop", None), "usage": usage}  # fmt: skip
    return line("assistant", seconds, message=message, **more)


def use(fresh: int, read: int, write: int, out: int, **more: Any) -> dict[str, Any]:
    return {"input_tokens": fresh, "cache_read_input_tokens": read, "cache_creation_input_tokens": write,
            "output_tokens": out, **more}  # fmt: skip


def read(rows: list[Any], name: str = "s.jsonl", **options: Any) -> list[Record]:
    data = b"".join(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows)
    context = FileContext(name=name, data=data, options=ReadOptions(**options))
    parser = READER.parser(context)
    parser.read(context)
    return parser.take()


def calls(records: list[Record]) -> list[Call]:
    return [record for record in records if isinstance(record, Call)]


def test_lines_of_one_answer_are_one_call_with_the_largest_output() -> None:
    rows = [
        answer(1, "m1", use(10, 100, 50, 2), requestId="r1"),
        line(
            "user",
            2,
            message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
        ),
        answer(3, "m1", use(10, 100, 50, 77), requestId="r1", stop="tool_use"),
    ]
    (call,) = calls(read(rows))
    assert (call.prompt_tokens, call.output_tokens, call.output_is_lower_bound) == (160, 77, False)
    assert (call.key, call.line) == ("m1:r1", 1)


def test_output_without_stop_reason_is_a_lower_bound() -> None:
    (call,) = calls(read([answer(1, "m1", use(1, 2, 3, 4))]))
    assert call.output_is_lower_bound


def test_same_message_id_of_two_requests_are_two_calls() -> None:
    rows = [answer(1, "m1", use(1, 0, 0, 1), requestId="r1"), answer(2, "m1", use(2, 0, 0, 1), requestId="r2")]
    assert len(calls(read(rows))) == 2


@pytest.mark.parametrize(
    ("stated", "expected"), [(0.4242, 0.4242), ("0.4242", None), (0, None), (None, None), (-1, None), (1e300, None)]
)
def test_old_versions_state_the_cost_on_every_line_of_an_answer(stated: Any, expected: float | None) -> None:
    rows = [answer(n, "m1", use(10, 0, 0, n), requestId="r1", costUSD=stated) for n in (1, 2)]
    assert [call.cost_usd for call in calls(read(rows))] == [expected]


def test_start_is_that_of_the_request_record() -> None:
    rows = [
        {"type": "api-request", "sessionId": "s", "id": "q1", "timestamp": "2026-04-10T08:00:01.000Z"},
        answer(2.5, "m1", use(1, 0, 0, 1), requestRef="q1"),
        answer(4, "m1", use(1, 0, 0, 9), requestRef="q1", stop="end_turn"),
    ]
    (call,) = calls(read(rows))
    assert call.time is not None
    assert call.time % 60_000 == 1_000
    assert call.duration_ms == 3_000


def test_synthetic_rows_are_no_calls_and_errors_are_events() -> None:
    rows = [
        answer(1, "x", use(0, 0, 0, 0), model="<synthetic>"),
        answer(2, "y", use(0, 0, 0, 0), model="<synthetic>", isApiErrorMessage=True, error="rate_limit"),
    ]
    records = read(rows)
    assert calls(records) == []
    assert [(e.kind, e.detail) for e in records if isinstance(e, Event)] == [("error", "rate_limit")]


def test_a_refused_request_is_a_call_without_figures() -> None:
    (call,) = calls(read([line("system", 1, subtype="api_error", error={"status": 529})]))
    assert (call.status, call.prompt_tokens, call.output_tokens, call.stop) == ("error", None, None, "529")


def test_all_zero_usage_is_unknown() -> None:
    (call,) = calls(read([answer(1, "m1", use(0, 0, 0, 0), model="glm-4.7")]))
    assert (call.prompt_tokens, call.fresh_tokens, call.cache_read_tokens, call.output_tokens) == (
        None,
        None,
        None,
        None,
    )


def test_rows_without_usage_are_no_calls() -> None:
    row = answer(1, "m1", {})
    del row["message"]["usage"]
    assert calls(read([row])) == []


def test_compaction_and_microcompaction_marks() -> None:
    rows = [
        line(
            "system",
            1,
            subtype="compact_boundary",
            compactMetadata={"trigger": "auto", "preTokens": 155250, "postTokens": 6977},
        ),
        line(
            "system", 2, subtype="microcompact_boundary", microcompactMetadata={"trigger": "auto", "preTokens": "60364"}
        ),
    ]
    events = [r for r in read(rows) if isinstance(r, Event)]
    assert [(e.kind, e.trigger, e.recorded_before, e.recorded_after) for e in events] == [
        ("compaction", "auto", 155250, 6977),
        ("microcompaction", "auto", 60364, None),
    ]


def test_compaction_inside_a_call() -> None:
    passes = [
        {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500},
        {"type": "message", "input_tokens": 23_000, "output_tokens": 200},
    ]
    records = read([answer(1, "m1", use(23_000, 0, 0, 200, iterations=passes), stop="end_turn")])
    (call,) = calls(records)
    # the compaction pass is billed on top: 23,000 + 180,000
    assert (call.prompt_tokens, call.billed_prompt_tokens) == (23_000, 203_000)
    (event,) = [r for r in records if isinstance(r, Event)]
    assert (event.kind, event.in_call) == ("compaction", call.key)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Fix the callback.", 1),
        ("<command-name>/compact</command-name>", None),
        ("<command-message>review</command-message>\n<command-name>/review</command-name>", 1),
        ("<task-notification>\n<task-id>a</task-id>", None),
        ("[Request interrupted by user]", None),
        ("<local-command-stdout>done</local-command-stdout>", None),
    ],
)
def test_only_what_the_user_typed_begins_an_exchange(text: str, want: int | None) -> None:
    rows = [line("user", 1, message={"role": "user", "content": text}), answer(2, "m1", use(1, 0, 0, 1))]
    (call,) = calls(read(rows))
    assert (call.exchange or None) == want


def test_inline_sidechains_are_chains_of_their_own() -> None:
    rows = [
        answer(1, "m1", use(30_000, 0, 0, 1)),
        answer(2, "a1", use(9_000, 0, 0, 1), isSidechain=True, uuid="s1"),
        answer(3, "a2", use(9_500, 0, 0, 1), isSidechain=True, uuid="s2", parentUuid="s1"),
        answer(4, "b1", use(8_000, 0, 0, 1), isSidechain=True, uuid="s3"),
        answer(5, "m2", use(31_000, 0, 0, 1)),
    ]
    assert [call.chain for call in calls(read(rows))] == [
        "main",
        "agent:inline",
        "agent:inline",
        "agent:inline-2",
        "main",
    ]


def test_subagent_file_belongs_to_the_session_of_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "abc-session" / "subagents" / "workflows" / "agent-f00d.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(
        json.dumps(answer(1, "m1", use(1, 0, 0, 1), isSidechain=True, agentId="f00d")) + "\n", encoding="utf-8"
    )
    context = FileContext(name=str(file), path=file)
    parser = READER.parser(context)
    parser.read(context)
    (call,) = calls(parser.take())
    assert (call.session, call.chain) == ("abc-session", "agent:f00d")


def test_agents_the_client_starts_for_itself_are_beside_the_work(tmp_path: Path) -> None:
    """Compaction and suggestions copy the conversation and ask once; a person's side question is an agent's work."""
    main = [answer(1, "m1", use(5, 0, 90, 9), stop="end_turn", requestId="r1")]
    session = main[0]["sessionId"]
    folder = tmp_path / session / "subagents"
    folder.mkdir(parents=True)
    (tmp_path / f"{session}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in main), encoding="utf-8")
    for n, name in enumerate(("acompact-1f", "aprompt_suggestion-2f", "aside_question-3f", "a4f")):
        rows = [*main, answer(9 + n, f"o{n}", use(7, 90, n, 3), stop="end_turn", requestId=f"q{n}")]
        rows = [{**row, "isSidechain": True, "agentId": name} for row in rows]
        (folder / f"agent-{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    (view,) = loaded(tmp_path).sessions
    found = [(turn.call.call_id, turn.call.purpose, turn.call.chain) for turn in view.turns]
    assert found == [
        ("m1", "work", "main"),
        ("o0", "compaction", "side"),
        ("o1", "side", "side"),
        ("o2", "work", "agent:aside_question-3f"),
        ("o3", "work", "agent:a4f"),
    ]


def test_agents_of_agents_belong_to_the_outermost_folder() -> None:
    inner = Path("subagents", "p", "the-session", "subagents", "agent-a1", "subagents", "wf", "agent-b2.jsonl")
    row = json.dumps(answer(1, "m1", use(1, 2, 3, 4), isSidechain=True)).encode() + b"\n"
    context = FileContext(name=str(inner), path=inner, data=row)
    parser = READER.parser(context)
    parser.feed([row], 1)
    (call,) = calls(parser.take())
    assert (call.session, call.chain) == ("the-session", "agent:b2")


def test_an_answer_glued_to_a_long_result_is_read_without_a_request_id() -> None:
    result = line("user", 1, message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                                                                    "content": "x" * 9_000}]})  # fmt: skip
    long = answer(2, "m1", use(10, 20_000, 100, 300), content=[{"type": "text", "text": "y" * 3_000}])
    # as the client writes it: the message behind plain values, the type of an answer behind its message
    rows = [
        {k: one[k] for k in ("parentUuid", "sessionId", *order)}
        for one, order in (
            (result, ("type", "message", "uuid", "timestamp")),
            (long, ("message", "type", "uuid", "timestamp")),
        )
    ]
    packed = [json.dumps(row, separators=(",", ":")).encode() for row in rows]
    assert [call.output_tokens for call in calls(read([packed[0] + packed[1] + b"\n"]))] == [300]


def test_odd_lines_cost_only_themselves() -> None:
    rows = [
        b"\xef\xbb\xbf" + json.dumps(answer(1, "m1", use(1, 2, 3, 4))).encode() + b"\r\n",
        b"this is not json\n",
        json.dumps(answer(2, "m2", {"input_tokens": "14", "cache_read_input_tokens": 20480.0, "cache_creation_input_tokens": 512,
                                    "output_tokens": -5})).encode() + b"\n",
        b"[" * 100_000 + b"]" * 100_000 + b"\n",  # (Python 3.13 reads some thousand levels)
        json.dumps(answer(3, "m3", use(1, 0, 0, 1))).encode() + json.dumps(answer(4, "m4", use(2, 0, 0, 1))).encode() + b"\n",
        json.dumps(answer(5, "m5", use(1, 0, 0, 1))).encode()[:-30],
    ]  # fmt: skip
    records = read(rows)
    assert [call.call_id for call in calls(records)] == ["m1", "m2", "m3", "m4"]
    assert (calls(records)[1].prompt_tokens, calls(records)[1].output_tokens) == (14 + 20480 + 512, None)
    # broken and too deep; the torn last line is no problem
    assert [p.line for p in records if isinstance(p, Problem)] == [2, 4]


def test_no_text_of_the_conversation_enters_a_record() -> None:
    secret = "sk-live-THE-SECRET"
    rows = [
        line("user", 1, message={"role": "user", "content": f"use {secret}"}),
        answer(
            2,
            "m1",
            use(1, 0, 0, 1),
            content=[{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": secret}}],
        ),
        line(
            "user",
            3,
            message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": secret}]},
        ),
    ]
    records = read(rows, detail=True)
    assert {type(record) for record in records} == {Call, Step, SessionInfo}
    assert secret not in repr(records)


def test_sniffing_is_by_content() -> None:
    own = json.dumps(answer(1, "m1", use(1, 0, 0, 1))).encode() + b"\n"
    reader, score = choose(Head(own, "anything.txt", True))
    assert reader is READER
    assert score >= 0.9
    qwen = json.dumps({**line("assistant", 1), "usageMetadata": {"promptTokenCount": 1}}).encode() + b"\n"
    assert READER.sniff(Head(qwen, "s.jsonl", True)) == 0.0
    codex = json.dumps({"timestamp": "x", "type": "session_meta", "payload": {"id": "1"}}).encode()
    assert READER.sniff(Head(codex, "s.jsonl", True)) == 0.0


def test_live_reading_tells_a_growing_answer_again() -> None:
    context = FileContext(name="s.jsonl", data=b"")
    parser = READER.parser(context)
    parser.feed([json.dumps(answer(1, "m1", use(1, 0, 0, 2))).encode()], 1)
    assert [c.output_tokens for c in calls(parser.take())] == [2]
    parser.feed([json.dumps(answer(2, "m1", use(1, 0, 0, 90), stop="end_turn")).encode()], 2)
    assert [(c.output_tokens, c.line) for c in calls(parser.take())] == [(90, 1)]
    assert parser.take() == []


def test_old_answers_are_let_go_of_and_a_late_line_of_one_asks_for_the_whole_file() -> None:
    def fed(numbers: range) -> None:
        parser.feed([json.dumps(answer(n, f"m{n}", use(n, 0, 0, 1))).encode() for n in numbers], numbers.start)

    parser = READER.parser(FileContext(name="s.jsonl", data=b""))
    fed(range(1, 2_502))
    assert len(calls(parser.take())) == 2_501
    fed(range(2_400, 2_502))  # of the latest ones nothing is missing
    assert len(calls(parser.take())) == 102 and not parser.reread
    fed(range(3_000, 3_001))
    assert len(calls(parser.take())) == 1 and not parser.reread
    fed(range(7, 8))
    assert parser.reread

    parser = READER.parser(FileContext(name="s.jsonl", data=b""))
    parser.forgets = False
    fed(range(1, 2_502))
    parser.take()
    fed(range(7, 8))
    assert not parser.reread and len(calls(parser.take())) == 1


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":[]}',
        b'{"sessionId":"","type":"user","message":{"content":[{"type":"tool_result","content":"\xff"}]}}',
        b"(\xb5/\xfd)}}",
        b'(\xb5/\xfd\xa0)\x06\x00\x00I1\x00{"timestamp":"","type":"session_meta","payload":{"":"","":"","":"","":"","":""}}',
        b"\x1f\x8b\x08\x00broken",
    ],
)
def test_bytes_found_by_fuzzing_end_in_a_sentence(data: bytes) -> None:
    batch, _ = read_bytes("x", data)
    assert [record.reason for record in batch.records if isinstance(record, Problem)]


def test_a_figure_no_model_ever_held_is_unknown() -> None:
    (call,) = calls(read([answer(1, "m1", use(10**400, 5, 7, 10**300))]))
    assert (call.fresh_tokens, call.output_tokens, call.cache_read_tokens) == (None, None, 5)


def test_how_it_was_served_is_kept_where_that_has_a_price_of_its_own() -> None:
    ways: list[dict[str, Any]] = [
        {"service_tier": "standard", "speed": "standard", "inference_geo": "not_available"},
        {"service_tier": "standard", "speed": "fast", "inference_geo": "us"},
        {"service_tier": "batch"},
        {"service_tier": {"odd": 1}, "speed": 7, "inference_geo": None},
        {"speed": "fast", "input_tokens": "10"},  # a number as text: the lenient way of reading
    ]
    rows = [answer(n, f"m{n}", use(10, 100, 0, 5) | way) for n, way in enumerate(ways)]
    assert [(call.prompt_tokens, call.service_tier) for call in calls(read(rows))] == [
        (110, None), (110, "fast+us"), (110, "batch"), (110, None), (110, "fast"),
    ]  # fmt: skip
