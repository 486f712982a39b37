"""OpenHands conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from monitor.readers.openhands import READER
from tests.readers.agent_help import calls, events, figures, head, infos, lines, loaded, read, read_path, steps, write


def used(id: str, prompt: int, read_: int, write_: int, output: int, **more: Any) -> dict[str, Any]:
    return {"model": "anthropic/claude-sonnet-4-5", "prompt_tokens": prompt, "completion_tokens": output,
            "cache_read_tokens": read_, "cache_write_tokens": write_, "reasoning_tokens": 7, "context_window": 200_000,
            "response_id": id, **more}  # fmt: skip


def metrics(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model_name": "anthropic/claude-sonnet-4-5", "token_usages": list(rows), "costs": [],
            "response_latencies": [], **more}  # fmt: skip


def event(number: int, kind: str, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"id": f"ev{number}", "timestamp": f"2026-04-04T12:00:{number:02d}.000000", "source": source, "kind": kind,
            **more}  # fmt: skip


def conversation(folder: Path, stats: dict[str, Any], found: list[dict[str, Any]]) -> Path:
    for number, value in enumerate(found):
        write(folder / "events" / f"event-{number:05d}-{value['id']}.json", value)
    state = {"id": "oh-1", "workspace": {"working_dir": "/home/dev/shop"}, "agent": {"llm": {"model": "x"}},
             "stats": {"usage_to_metrics": stats}}  # fmt: skip
    return write(folder / "base_state.json", state)


USER = event(0, "MessageEvent", "user", llm_message={"role": "user", "content": [{"type": "text", "text": "Port it."}]})


def test_each_entry_of_the_metrics_is_a_call(tmp_path: Path) -> None:
    action = event(5, "ActionEvent", llm_response_id="r1", tool_name="terminal", tool_call_id="t1",
                   action={"command": "ls", "kind": "ExecuteBashAction"})  # fmt: skip
    seen = event(6, "ObservationEvent", "environment", tool_name="terminal", tool_call_id="t1",
                 observation={"content": [{"type": "text", "text": "a b"}], "exit_code": 1})  # fmt: skip
    path = conversation(tmp_path, {"agent": metrics(used("r1", 12_000, 9_000, 1_000, 50), used("r2", 13_000, 12_000, 0, 5))},
                        [USER, action, seen])  # fmt: skip
    found = read_path(READER, path)
    assert [figures(call) for call in calls(found)] == [
        (12_000, 2_000, 9_000, 1_000, 50),
        (13_000, 1_000, 12_000, 0, 5),
    ]
    first, second = calls(found)
    assert (first.session, first.exchange, first.context_limit, first.model, first.provider, first.reasoning_tokens) == (
        "oh-1", 1, 200_000, "claude-sonnet-4-5", "anthropic", 7)  # fmt: skip
    assert (first.time, second.time) == (1_775_304_005_000, None)  # no event names the second answer
    assert steps(found) == [("user", "", None), ("tool_call", "terminal", None), ("tool_result", "", False)]
    assert infos(found)[0].cwd_name == "shop"


def test_costs_and_latencies_give_the_start(tmp_path: Path) -> None:
    stats = {"agent": metrics(used("r1", 10, 0, 0, 1), costs=[{"cost": 0.25, "timestamp": 1_775_304_010.5}],
                              response_latencies=[{"latency": 2.5, "response_id": "r1"}])}  # fmt: skip
    (call,) = calls(read_path(READER, conversation(tmp_path, stats, [])))
    assert (call.time, call.duration_ms, call.cost_usd) == (1_775_304_008_000, 2_500, 0.25)
    # free answers leave no cost, so the lists cannot be matched
    stats = {"agent": metrics(used("r1", 10, 0, 0, 1), used("r2", 20, 0, 0, 1), costs=[{"cost": 0.25, "timestamp": 5}])}
    assert [(c.time, c.cost_usd) for c in calls(read_path(READER, conversation(tmp_path, stats, [])))] == [
        (None, None)
    ] * 2


def test_names_of_metrics_tell_the_chain(tmp_path: Path) -> None:
    stats = {name: metrics(used(name, 10, 0, 0, 1)) for name in ("agent", "condenser", "title-gen", "planner")}
    found = calls(read_path(READER, conversation(tmp_path, stats, [])))
    assert [(call.chain, call.purpose) for call in found] == [
        ("main", "work"), ("side", "compaction"), ("side", "side"), ("agent:planner", "work")]  # fmt: skip


def test_more_cache_than_prompt_proves_that_it_stands_outside(tmp_path: Path) -> None:
    path = conversation(tmp_path, {"agent": metrics(used("r1", 100, 9_000, 0, 5))}, [])
    assert figures(calls(read_path(READER, path))[0]) == (9_100, 100, 9_000, 0, 5)


def test_condensations_that_forgot_something_are_compactions(tmp_path: Path) -> None:
    path = conversation(tmp_path, {"agent": metrics(used("r1", 10, 0, 0, 1))}, [
        event(1, "Condensation", forgotten_event_ids=["a"], summary="private"),
        event(2, "Condensation", forgotten_event_ids=[])])  # fmt: skip
    assert [(e.kind, e.time) for e in events(read_path(READER, path))] == [("compaction", 1_775_304_001_000)]


def old(number: int, answer: str, output: int, **more: Any) -> dict[str, Any]:
    """An action of versions before 1.0, with the answer it came from."""
    return {"id": number, "timestamp": f"2025-06-01T08:00:{number:02d}", "source": "agent", "message": "x", "action": "run",
            "args": {"command": "ls"},
            "tool_call_metadata": {"function_name": "execute_bash", "tool_call_id": f"t{number}", "model_response": {
                "id": answer, "model": "claude-sonnet-4", "usage": {
                    "prompt_tokens": 500, "completion_tokens": output, "total_tokens": 500 + output,
                    "prompt_tokens_details": {"cached_tokens": 400}}}}, **more}  # fmt: skip


def test_before_1_0_the_answer_stands_in_the_event_and_counts_once(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "s-7" / "events"
    for number, value in enumerate([old(1, "a1", 5), old(2, "a1", 5), old(3, "a2", 9)]):
        write(folder / f"{number}.json", value)
    (view,) = loaded(tmp_path).sessions
    assert [(t.call.prompt_tokens, t.call.cache_read_tokens, t.call.output_tokens) for t in view.turns] == [
        (500, 400, 5), (500, 400, 9)]  # fmt: skip
    assert (view.session, {turn.exchange for turn in view.turns}) == ("s-7", {None})


def test_a_trajectory_is_a_list_of_events() -> None:
    typed = {"id": 0, "timestamp": "2025-06-01T08:00:00", "source": "user", "message": "Port it.", "action": "message",
             "args": {"content": "Port it."}}  # fmt: skip
    found = read(READER, json.dumps([typed, old(1, "a1", 5)]).encode())
    assert [(call.exchange, call.output_tokens) for call in calls(found)] == [(1, 5)]
    assert READER.sniff(head(json.dumps([typed]).encode())) == 0.7


def test_an_evaluation_without_answers_in_its_events_uses_its_metrics() -> None:
    output = {"instance_id": "django-1", "test_result": {}, "history": [], "metrics": metrics(used("r1", 10, 0, 0, 1))}
    found = read(
        READER, lines([output, {**output, "instance_id": "django-2", "metrics": metrics(used("r2", 20, 0, 0, 1))}])
    )
    assert [(call.session, call.prompt_tokens) for call in calls(found)] == [("django-1", 10), ("django-2", 20)]


def test_damaged_events_cost_themselves_only(tmp_path: Path) -> None:
    path = conversation(tmp_path, {"agent": metrics(used("r1", 10, 0, 0, 1))}, [USER])
    write(tmp_path / "events" / "event-00009.json", b'{"kind":')
    found = read_path(READER, path)
    assert len(calls(found)) == 1
    assert any("not valid JSON" in getattr(record, "reason", "") for record in found)


def test_sniff(tmp_path: Path) -> None:
    path = conversation(tmp_path, {"agent": metrics()}, [USER])
    assert READER.sniff(head(path.read_bytes(), path)) == 0.9
    file = tmp_path / "events" / "event-00000-ev0.json"
    assert READER.sniff(head(file.read_bytes(), file)) == 0.8
    assert read_path(READER, file) == []  # read with the state
    assert READER.sniff(head(b'{"id":"x","timestamp":"y","message":"z"}')) == 0.0
