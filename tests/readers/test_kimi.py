"""Kimi Code and Kimi CLI wire logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monitor.readers.kimi import READERS
from tests.readers.agent_help import calls, events, figures, head, infos, lines, loaded, read, read_path, steps, write

WIRE, CONTEXT = READERS
T0 = 1_785_613_800_000
Usage = tuple[int, int, int, int]  # other, read, creation, output


def line(seconds: float, type: str, /, **more: Any) -> dict[str, Any]:
    return {"type": type, **more, "time": T0 + round(seconds * 1000)}


def loop(seconds: float, kind: str, **more: Any) -> dict[str, Any]:
    return line(seconds, "context.append_loop_event", event={"type": kind, **more})


def prompt(seconds: float, kind: str = "user") -> dict[str, Any]:
    return line(seconds, "turn.prompt", input=[{"type": "text", "text": "hi"}], origin={"kind": kind})


def request(seconds: float, **more: Any) -> dict[str, Any]:
    return line(seconds, "llm.request", **{"kind": "loop", "provider": "kimi", "model": "kimi-k2.7-code", **more})


def usage(figures: Usage) -> dict[str, int]:
    return dict(zip(("inputOther", "inputCacheRead", "inputCacheCreation", "output"), figures, strict=True))


def step(seconds: float, figures: Usage, id: str, **more: Any) -> dict[str, Any]:
    return loop(seconds, "step.end", usage=usage(figures), finishReason="end_turn", messageId=id,
                llmFirstTokenLatencyMs=300, llmStreamDurationMs=900, **more)  # fmt: skip


def record(seconds: float, figures: Usage, scope: str = "turn") -> dict[str, Any]:
    return line(seconds, "usage.record", model="moonshot-ai/kimi-k2.7-code", usage=usage(figures), usageScope=scope)


START = [{"type": "metadata", "protocol_version": "1.4", "created_at": T0},
         line(0, "config.update", modelAlias="moonshot-ai/kimi-k2.7-code")]  # fmt: skip
A, B = (9_431, 14_848, 0, 42), (267, 24_064, 0, 42)


def test_a_step_and_its_usage_record_are_one_call() -> None:
    rows = [*START, prompt(1), request(2), step(9, A, "chatcmpl-1"), record(9, A), request(10), record(12, B),
            step(12, B, "chatcmpl-2")]  # fmt: skip
    found = calls(read(WIRE, lines(rows)))
    assert len({call.key for call in found}) == 2
    first = found[0]
    assert figures(first) == (24_279, 9_431, 14_848, 0, 42)
    # the step ends when its tools have; the model was done before
    assert (first.time, first.duration_ms) == (T0 + 2_000, 1_200)
    assert (first.model, first.provider, first.exchange) == ("kimi-k2.7-code", "moonshot", 1)
    last = found[-1]  # told by its record first
    assert (last.call_id, last.model, last.time) == ("chatcmpl-2", "kimi-k2.7-code", T0 + 10_000)


def test_a_usage_record_without_a_step_stands_for_the_call() -> None:
    found = calls(read(WIRE, lines([*START, prompt(1), request(2), record(4, A), request(5), record(6, A)])))
    assert [(call.prompt_tokens, call.time) for call in found] == [(24_279, T0 + 2_000), (24_279, T0 + 5_000)]
    assert len({call.key for call in found}) == 2


def test_requests_that_are_never_answered_failed() -> None:
    rows = [*START, prompt(1), request(2), request(4, attempt="2/10"), line(6, "turn.cancel"), prompt(7), request(8),
            step(9, A, "m1"), prompt(10), request(11)]  # fmt: skip
    found = calls(read(WIRE, lines(rows)))
    # the last one may still be answered
    assert [(call.status, call.prompt_tokens, call.exchange) for call in found] == [
        ("error", None, 1), ("error", None, 1), ("ok", 24_279, 2)]  # fmt: skip


def test_a_compaction_states_its_sizes_and_the_summary() -> None:
    rows = [*START, prompt(1), request(2), step(3, A, "m1"), line(4, "full_compaction.begin", source="manual"),
            request(5, kind="compaction"), record(9, (1_411, 40_960, 0, 937), "session"),
            line(10, "context.apply_compaction", tokensBefore=15_912, tokensAfter=654),
            line(11, "full_compaction.complete"), prompt(12), request(13), step(14, B, "m2")]  # fmt: skip
    found = read(WIRE, lines(rows))
    (event,) = events(found)
    assert (event.trigger, event.recorded_before, event.recorded_after, event.summary_tokens) == (
        "manual", 15_912, 654, 937)  # fmt: skip
    assert [call.prompt_tokens for call in calls(found)] == [24_279, 24_331]


def test_what_nobody_typed_begins_no_exchange() -> None:
    rows = [*START, prompt(1), request(2), step(3, A, "m1"), prompt(4, "cron"), request(5), step(6, B, "m2")]
    assert [call.exchange for call in calls(read(WIRE, lines(rows)))] == [1, 1]


def test_session_and_chain_by_folder(tmp_path: Path) -> None:
    rows = lines([*START, prompt(1), request(2), step(3, A, "m1")])
    base = tmp_path / "sessions" / "wd_shop_0123456789ab" / "session_7"
    main = write(base / "agents" / "main" / "wire.jsonl", rows)
    other = write(base / "agents" / "explore-1" / "wire.jsonl", rows.replace(b'"m1"', b'"m2"'))
    legacy = write(tmp_path / "old" / "uuid-1" / "wire.jsonl", rows)
    assert [(c.session, c.chain) for path in (main, other, legacy) for c in calls(read_path(WIRE, path))] == [
        ("session_7", "main"), ("session_7", "agent:explore-1"), ("uuid-1", "main")]  # fmt: skip


def test_lines_of_another_agent_in_the_same_file() -> None:
    rows = [*START, prompt(1), request(2), step(3, A, "m1"), {**request(4), "agentId": "explore-1"},
            {**step(5, B, "m2"), "agentId": "explore-1"}]  # fmt: skip
    assert [(c.chain, c.exchange) for c in calls(read(WIRE, lines(rows)))] == [("main", 1), ("agent:explore-1", None)]


def wire(seconds: float, kind: str, **payload: Any) -> dict[str, Any]:
    """A line of Kimi CLI."""
    return {"timestamp": T0 / 1000 + seconds, "message": {"type": kind, "payload": payload}}


def status(seconds: float, figures: Usage, id: str) -> dict[str, Any]:
    names = ("input_other", "input_cache_read", "input_cache_creation", "output")
    return wire(seconds, "StatusUpdate", context_usage=0.1, token_usage=dict(zip(names, figures, strict=True)),
                message_id=id)  # fmt: skip


def test_kimi_cli() -> None:
    rows = [
        {"type": "metadata", "protocol_version": "1.0"},
        wire(0, "TurnBegin", user_input="hi"),
        wire(1, "StepBegin", n=1),
        wire(2, "ToolCall", type="function", id="t1", function={"name": "Bash", "arguments": '{"command":"ls"}'}),
        status(3, A, "chatcmpl-1"),
        wire(4, "ToolResult", tool_call_id="t1", return_value={"is_error": True, "output": "boom"}),
        wire(5, "SubagentEvent", task_tool_call_id="t9", event=status(5, B, "chatcmpl-2")["message"]),
        wire(6, "CompactionBegin"),
        status(7, (100, 0, 0, 50), "chatcmpl-3"),
        wire(8, "CompactionEnd"),
        wire(9, "StatusUpdate", context_usage=0.02),
    ]
    found = read(WIRE, lines(rows))
    assert [(c.chain, c.purpose, c.prompt_tokens, c.exchange) for c in calls(found)] == [
        ("main", "work", 24_279, 1), ("agent:t9", "work", 24_331, None), ("side", "compaction", 100, 1)]  # fmt: skip
    assert (calls(found)[0].time, calls(found)[0].duration_ms, calls(found)[0].model) == (T0 + 1_000, 2_000, None)
    assert [event.kind for event in events(found)] == ["compaction"]
    assert steps(found) == [("user", "", None), ("tool_call", "Bash", None), ("tool_result", "", False)]


def test_facts_of_the_session_are_told_once() -> None:
    rows = [*START, line(5, "profile.bind", environmentDisclosure={"cwd": "/home/dev/shop"}), line(9, "config.update")]
    assert [(info.started, info.cwd_name) for info in infos(read(WIRE, lines(rows)))] == [(T0, None), (T0, "shop")]


def test_the_conversation_beside_it_is_known_and_silent(tmp_path: Path) -> None:
    context = write(tmp_path / "s" / "context.jsonl", lines([{"role": "_checkpoint", "id": 0}, {"role": "user"}]))
    write(tmp_path / "s" / "wire.jsonl", lines([*START, prompt(1), request(2), step(3, A, "m1")]))
    assert CONTEXT.sniff(head(context.read_bytes())) == 0.8
    assert read_path(CONTEXT, context) == []
    assert [len(view.turns) for view in loaded(tmp_path).sessions] == [1]


def test_sniff() -> None:
    assert WIRE.sniff(head(lines(START))) == 0.9
    assert WIRE.sniff(head(lines([wire(0, "TurnBegin", user_input="hi")]))) == 0.9
    assert WIRE.sniff(head(lines([{"type": "message", "message": {"role": "user"}}]))) == 0.0
