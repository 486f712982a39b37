"""Codex rollouts: which token counts are calls."""

from __future__ import annotations

import json
from typing import Any

from monitor.readers.base import FileContext, Head
from monitor.readers.codex import READER
from monitor.records import Call, Event, Record, SessionInfo


def row(seconds: int, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-06-02T10:{seconds // 60:02d}:{seconds % 60:02d}.000Z", "type": kind, "payload": payload}


def meta(seconds: int = 0, thread: str = "t1", **more: Any) -> dict[str, Any]:
    stamp = f"2026-06-02T10:{seconds // 60:02d}:{seconds % 60:02d}.000Z"
    return row(
        seconds, "session_meta", id=thread, timestamp=stamp, cwd="/home/dev/shop", model_provider="openai", **more
    )


def count(seconds: int, total: tuple[int, int, int], last: tuple[int, int, int], **more: Any) -> dict[str, Any]:
    def usage(numbers: tuple[int, int, int]) -> dict[str, int]:
        return {"input_tokens": numbers[0], "cached_input_tokens": numbers[1], "output_tokens": numbers[2],
                "reasoning_output_tokens": 0, "total_tokens": numbers[0] + numbers[2]}  # fmt: skip

    info = {"total_token_usage": usage(total), "last_token_usage": usage(last), "model_context_window": 258_400, **more}
    return row(seconds, "event_msg", type="token_count", info=info)


def read(rows: list[dict[str, Any]]) -> list[Record]:
    context = FileContext(name="rollout.jsonl", data="".join(json.dumps(r) + "\n" for r in rows).encode())
    parser = READER.parser(context)
    parser.read(context)
    return parser.take()


def calls(records: list[Record]) -> list[Call]:
    return [record for record in records if isinstance(record, Call)]


def test_only_a_changed_total_is_a_call() -> None:
    rows = [meta(), row(1, "event_msg", type="token_count", info=None), count(2, (100, 0, 5), (100, 0, 5)),
            count(3, (100, 0, 5), (100, 0, 5)), count(4, (220, 90, 9), (120, 90, 4))]  # fmt: skip
    found = calls(read(rows))
    assert [(c.prompt_tokens, c.fresh_tokens, c.cache_read_tokens, c.output_tokens) for c in found] == [
        (100, 100, 0, 5),
        (120, 30, 90, 4),
    ]
    assert {c.context_limit for c in found} == {258_400}


def test_the_limit_at_which_the_client_compacts_is_kept_where_it_is_logged() -> None:
    rows = [meta(), count(1, (100, 0, 5), (100, 0, 5)),
            count(2, (220, 90, 9), (120, 90, 4), auto_compact_token_limit=76_000)]  # fmt: skip
    assert [c.usable_limit for c in calls(read(rows))] == [None, 76_000]


def test_total_that_starts_again() -> None:
    rows = [meta(), count(1, (100, 0, 5), (100, 0, 5)), count(2, (80, 0, 3), (80, 0, 3))]
    assert [c.prompt_tokens for c in calls(read(rows))] == [100, 80]


def test_difference_of_totals_wins_over_a_wrong_last() -> None:
    rows = [meta(), count(1, (100, 0, 5), (100, 0, 5)), count(2, (250, 90, 9), (10, 0, 1))]
    assert [(c.prompt_tokens, c.cache_read_tokens, c.output_tokens) for c in calls(read(rows))] == [
        (100, 0, 5),
        (150, 90, 4),
    ]


def test_a_count_without_its_last_call_is_the_growth_of_the_totals() -> None:
    # 100, then 220 - 100 = 120 with 90 of it cached and 9 - 5 = 4 written, then a total that starts again at 50
    rows = [meta(), count(1, (100, 0, 5), (100, 0, 5))]
    rows += [count(n, total, (0, 0, 0), last_token_usage=None) for n, total in ((2, (220, 90, 9)), (3, (220, 90, 9)))]
    rows.append(count(4, (50, 0, 2), (0, 0, 0), last_token_usage=None))
    found = calls(read(rows))
    assert [(c.prompt_tokens, c.cache_read_tokens, c.output_tokens) for c in found] == [
        (100, 0, 5),
        (120, 90, 4),
        (50, 0, 2),
    ]


def test_a_summary_is_told_by_its_silence_only_where_answers_are_written() -> None:
    summary = row(4, "compacted", message="Summary of the work")
    spoken = row(1, "response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "A"}])
    plain = [count(2, (100, 0, 5), (100, 0, 5)), count(3, (210, 0, 9), (110, 0, 4)), summary]
    assert [c.purpose for c in calls(read([meta(), spoken, *plain]))][-1] == "compaction"
    assert [c.purpose for c in calls(read([meta(), *plain]))] == ["work", "work"]


def test_estimate_after_a_compaction_is_part_of_the_event() -> None:
    estimate = count(4, (100, 0, 5), (0, 0, 0))
    estimate["payload"]["info"]["last_token_usage"]["total_tokens"] = 16_944
    rows = [meta(), count(1, (100, 0, 5), (100, 0, 5)), row(3, "compacted", message="", replacement_history=[]), estimate,
            row(5, "event_msg", type="context_compacted"), count(6, (150, 20, 6), (50, 20, 1))]  # fmt: skip
    records = read(rows)
    events = [r for r in records if isinstance(r, Event)]
    assert [(e.kind, e.evidence, e.recorded_after) for e in events] == [("compaction", "recorded", 16_944)]
    assert [c.prompt_tokens for c in calls(records)] == [100, 50]


def test_estimate_after_a_rollback_is_no_compaction() -> None:
    estimate = count(4, (100, 0, 5), (0, 0, 0))
    estimate["payload"]["info"]["last_token_usage"]["total_tokens"] = 60
    rows = [meta(), count(1, (100, 0, 5), (100, 0, 5)), row(3, "event_msg", type="thread_rolled_back"), estimate]
    assert [e.kind for e in read(rows) if isinstance(e, Event)] == ["rewind"]


def record(seconds: int, response: str, prompt: int, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": prompt, "cached_input_tokens": 0, "output_tokens": 7, "reasoning_output_tokens": 2}
    return row(seconds, "token_usage_record", **{"thread_id": "t1", "response_id": response, "usage": usage, **more})


def test_newer_versions_tell_a_call_twice() -> None:
    rows = [meta(), record(1, "resp_1", 100), count(2, (100, 0, 7), (100, 0, 7)), record(3, "resp_2", 130),
            count(4, (230, 0, 14), (130, 0, 7))]  # fmt: skip
    assert [(c.prompt_tokens, c.key) for c in calls(read(rows))] == [(100, "resp_1"), (130, "resp_2")]


def test_a_request_of_another_version_is_told_by_its_totals_alone() -> None:
    first, second, third = count(2, (100, 0, 7), (100, 0, 7)), count(4, (230, 0, 14), (130, 0, 7)), record(5, "r3", 140)
    rows = [meta(), record(1, "r1", 100), first, second, third, count(6, (370, 0, 21), (140, 0, 7))]
    assert [(c.prompt_tokens, c.call_id) for c in calls(read(rows))] == [(100, "r1"), (130, None), (140, "r3")]
    # in either order the two tellings of a request are one, and other figures are another request
    turned = [meta(), first, record(2, "r1", 100), second, record(4, "r2", 131), third]
    found = {call.key: call for call in calls(read(turned))}
    assert [(c.prompt_tokens, c.call_id) for c in found.values()] == [
        (100, "r1"), (130, None), (131, "r2"), (140, "r3")]  # fmt: skip


def test_two_records_before_their_totals_are_two_calls() -> None:
    rows = [meta(), record(1, "r1", 100), record(2, "r2", 130), count(3, (100, 0, 7), (100, 0, 7)),
            count(4, (230, 0, 14), (130, 0, 7))]  # fmt: skip
    assert [c.call_id for c in calls(read(rows))] == ["r1", "r2"]


def test_an_answer_without_a_record_between_equal_totals_is_a_call_of_unknown_size() -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
    same = (100, 0, 7)
    rows = [meta(), row(1, "response_item", id="m1", **said), record(1, "resp_1", 100), count(2, same, same),
            row(3, "response_item", id="m2", **said), count(4, same, same), count(5, same, same),
            row(6, "response_item", id="m3", **said), record(6, "resp_3", 130)]  # fmt: skip
    found = calls(read(rows))
    assert [(c.prompt_tokens, c.output_tokens) for c in found] == [(100, 7), (None, None), (130, 7)]
    assert found[1].key == "t1:m2"  # a copy in a fork has the same


def test_the_call_a_compaction_names_is_its_summary() -> None:
    rows = [
        meta(),
        record(1, "resp_1", 100),
        record(2, "resp_2", 101),
        row(3, "compacted", message="", compaction_response_id="resp_2"),
    ]
    records = read(rows)
    assert [(c.purpose, c.chain) for c in calls(records)] == [("work", "main"), ("compaction", "side")]
    (event,) = [r for r in records if isinstance(r, Event)]
    assert event.summary_tokens == 7


def test_a_fork_repeats_the_keys_of_its_parent() -> None:
    parent = [meta(), count(9, (100, 0, 5), (100, 0, 5)), count(19, (220, 90, 9), (120, 90, 4))]
    fork = [meta(1800, "t2", forked_from_id="t1"), meta(0), count(1800, (100, 0, 5), (100, 0, 5)),
            count(1800, (220, 90, 9), (120, 90, 4)), count(1809, (360, 200, 12), (140, 110, 3))]  # fmt: skip
    old, new = calls(read(parent)), calls(read(fork))
    assert [c.key for c in new[:2]] == [c.key for c in old]
    assert [c.inherited for c in new] == [True, True, False]
    assert new[2].key not in {c.key for c in old}


def test_a_fork_that_copies_nothing_owns_its_calls_however_soon_they_come() -> None:
    def fork(**more: Any) -> list[bool]:
        rows = [
            meta(5, "t2", forked_from_id="t1", **more),
            record(5, "resp_9", 120),
            count(5, (220, 0, 14), (120, 0, 7)),
        ]
        return [call.inherited for call in calls(read(rows))]

    assert fork(forked_from_ordinal_exclusive=35) == [False]
    # older forks begin with copies, which stand in the second of the fork; records name the thread that made them
    assert fork() == [True]
    rows = [meta(5, "t2", forked_from_id="t1"), record(5, "resp_1", 100), record(5, "resp_9", 120, thread_id="t2")]
    assert [call.inherited for call in calls(read(rows))] == [True, False]


def test_a_file_that_goes_on_from_another_one_first_repeats_its_totals() -> None:
    def rows(last: tuple[int, int, int], **more: Any) -> list[dict[str, Any]]:
        said = row(4, "response_item", type="message", role="assistant", id="m9", content=[])
        base = {"thread_id": "t1", "end_ordinal_exclusive": 6, "end_byte_offset": 999}
        return [meta(1, "t1", history_mode="paginated", history_base=base, **more), count(1, (3_000, 900, 50), last),
                said, count(5, (3_100, 980, 57), (100, 80, 7)), count(5, (3_220, 1_070, 61), (120, 90, 4))]  # fmt: skip

    for last in ((0, 0, 0), (90, 20, 5)):
        assert [c.prompt_tokens for c in calls(read(rows(last)))] == [100, 120]
        forked = calls(read(rows(last, forked_from_id="t0")))
        assert [(c.prompt_tokens, c.inherited) for c in forked] == [(100, False), (120, False)]
    fresh = [meta(1, history_base=None), count(2, (3_000, 900, 50), (90, 20, 5))]  # its beginning was cut off
    assert [c.prompt_tokens for c in calls(read(fresh))] == [90]
    odd = [meta(1, history_base={"thread_id": 7}, role=5), count(1, (3_000, 900, 50), (90, 20, 5))]
    assert calls(read(odd)) == []


def test_equal_first_calls_of_strangers_are_two_calls() -> None:
    one = calls(read([meta(0, "t1"), count(9, (100, 0, 5), (100, 0, 5))]))
    two = calls(read([meta(0, "t2"), count(9, (100, 0, 5), (100, 0, 5))]))
    assert one[0].key != two[0].key


def test_spawned_thread_is_a_chain_of_its_parents_session() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "t1", "depth": 1}}}
    (call,) = calls(read([meta(0, "t9", source=source), count(9, (100, 0, 5), (100, 0, 5))]))
    assert (call.session, call.chain) == ("t1", "agent:t9")


def test_quota_and_parent_are_told() -> None:
    limited = count(2, (100, 0, 5), (100, 0, 5))
    limited["payload"]["rate_limits"] = {
        "primary": {"used_percent": 42.5, "window_minutes": 300, "resets_in_seconds": 60}
    }
    (info,) = [r for r in read([meta(0, "t2", forked_from_id="t1"), limited]) if isinstance(r, SessionInfo)]
    assert info.quota is not None
    assert (info.quota.used_percent, info.quota.window_min, info.parent) == (42.5, 300, "t1")
    assert info.quota.resets is not None
    assert info.quota.resets % 3_600_000 == 62_000  # one minute after 10:00:02


def test_exchanges_count_what_the_user_typed() -> None:
    def says(seconds: int, text: str) -> dict[str, Any]:
        return row(
            seconds, "response_item", type="message", role="user", content=[{"type": "input_text", "text": text}]
        )

    rows = [meta(), says(1, "<environment_context>x</environment_context>"), says(2, "Fix it."),
            row(2, "event_msg", type="user_message", message="Fix it."), count(3, (100, 0, 5), (100, 0, 5)),
            count(4, (220, 0, 9), (120, 0, 4)), says(5, "Go on."), count(6, (350, 0, 9), (130, 0, 0))]  # fmt: skip
    assert [c.exchange for c in calls(read(rows))] == [1, 1, 2]


def test_sniff() -> None:
    assert READER.sniff(Head(json.dumps(meta()).encode(), "x", True)) == 1.0
    assert READER.sniff(Head(b'{"type":"session","id":"1","cwd":"/"}', "x", True)) == 0.0


def test_zeros_after_an_answer_are_a_call_of_unknown_size() -> None:
    answer = row(
        1, "response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "Done."}]
    )
    found = calls(read([meta(), answer, count(2, (0, 0, 0), (0, 0, 0)), count(3, (0, 0, 0), (0, 0, 0))]))
    assert [(c.prompt_tokens, c.cache_read_tokens, c.output_tokens) for c in found] == [(None, None, None)]
    # totals that fall to zero are a new base, not a prompt of 0
    found = calls(read([meta(), count(1, (100, 0, 5), (100, 0, 5)), count(2, (0, 0, 0), (0, 0, 0))]))
    assert [c.prompt_tokens for c in found] == [100, None]
    # nothing was answered yet: a report of the allowance, no call
    assert calls(read([meta(), count(1, (0, 0, 0), (0, 0, 0))])) == []


def test_a_count_that_is_no_number_is_unknown() -> None:
    odd = count(2, (100, 0, 5), (100, 0, 5))
    odd["payload"]["info"]["total_token_usage"]["output_tokens"] = {"a": 0}
    assert [c.prompt_tokens for c in calls(read([meta(), odd]))] == [100]


def test_a_compaction_that_names_a_call_of_long_ago_asks_for_the_whole_file() -> None:
    parser = READER.parser(FileContext(name="x.jsonl", data=b""))
    rows = [meta(), *(record(n, f"r{n}", 1_000 + n) for n in range(1, 2_100))]
    parser.feed([json.dumps(one).encode() for one in rows], 1)
    parser.take()
    for response, again in (("r2099", False), ("r7", True)):
        row_ = row(3_000, "compacted", message="", compaction_response_id=response)
        parser.feed([json.dumps(row_).encode()], 3_000)
        assert parser.reread is again


def test_totals_that_are_the_window_and_nothing_else_say_that_the_context_is_full() -> None:
    full = count(3, (0, 0, 0), (0, 0, 0))
    info = full["payload"]["info"]
    info["total_token_usage"]["total_tokens"], info["last_token_usage"]["total_tokens"] = 258_400, 8_300
    error = row(4, "event_msg", type="error", message="x", codex_error_info="context_window_exceeded")
    rows = [meta(), count(2, (250_000, 0, 100), (250_000, 0, 100)), full, error, count(9, (900, 0, 5), (900, 0, 5))]
    records = read(rows)
    assert [c.prompt_tokens for c in calls(records)] == [250_000, 900]
    assert [r.kind for r in records if isinstance(r, Event)] == ["overflow"]
    # the next turn asks anew, and is refused as well
    again = [
        row(5, "event_msg", type="task_started", model_context_window=258_400),
        {**full, "timestamp": "2026-06-02T10:00:06.000Z"},
    ]
    records = read([*rows[:4], *again, error])
    assert [r.kind for r in records if isinstance(r, Event)] == ["overflow", "overflow"]


def test_an_error_is_an_overflow_only_where_it_says_so() -> None:
    rows = [meta(), row(1, "event_msg", type="error", message="slow", codex_error_info="usage_limit_exceeded"),
            row(2, "event_msg", type="error", message="Codex ran out of room in the model's context window.")]  # fmt: skip
    assert [r.kind for r in read(rows) if isinstance(r, Event)] == ["error", "overflow"]


def test_a_message_after_an_interrupted_turn_begins_its_own_exchange() -> None:
    rows = [meta(), row(1, "event_msg", type="user_message", message="one"), count(2, (100, 0, 5), (100, 0, 5)),
            row(3, "event_msg", type="user_message", message="two"),
            row(4, "event_msg", type="turn_aborted", reason="interrupted"),
            row(5, "event_msg", type="user_message", message="three"), count(6, (220, 90, 9), (120, 90, 4))]  # fmt: skip
    assert [c.exchange for c in calls(read(rows))] == [1, 3]


def spawned(seconds: int, **more: Any) -> dict[str, Any]:
    return meta(seconds, "t2", source={"subagent": {"thread_spawn": {"parent_thread_id": "t1"}}}, **more)


def stamped(entry: dict[str, Any], milliseconds: int, ordinal: int | None = None) -> dict[str, Any]:
    stamp = f"2026-06-02T10:00:{milliseconds // 1000:02d}.{milliseconds % 1000:03d}Z"
    return {**entry, "timestamp": stamp, **({} if ordinal is None else {"ordinal": ordinal})}


COPIED = [
    count(0, (100, 0, 5), (100, 0, 5)),
    count(0, (220, 90, 9), (120, 90, 4)),
    count(0, (350, 200, 13), (130, 110, 4)),
]
OWN = [count(0, (400, 200, 20), (50, 0, 7)), count(0, (460, 240, 22), (60, 40, 2))]


def test_a_copy_that_takes_longer_than_its_second_is_a_copy_all_the_same() -> None:
    rows = [spawned(30), *(stamped(c, 30_600 + 400 * n) for n, c in enumerate(COPIED)),
            *(stamped(c, 35_000 + 300 * n) for n, c in enumerate(OWN))]  # fmt: skip
    found = calls(read(rows))
    assert [(c.prompt_tokens, c.inherited) for c in found] == [
        (100, True), (120, True), (130, True), (50, False), (60, False)
    ]  # fmt: skip


def test_ordinals_tell_where_the_own_part_of_a_subagent_begins() -> None:
    rows = [stamped(spawned(30, subagent_history_start_ordinal=4), 30_000, 0),
            *(stamped(c, 33_000 + 2_000 * n, 1 + n) for n, c in enumerate(COPIED)),
            *(stamped(c, 40_000 + n, 4 + n) for n, c in enumerate(OWN))]  # fmt: skip
    assert [c.inherited for c in calls(read(rows))] == [True, True, True, False, False]


def test_the_price_of_fast_mode_holds_from_the_record_that_says_so() -> None:
    def settings(seconds: int, **more: Any) -> dict[str, Any]:
        return row(seconds, "event_msg", type="thread_settings_applied", thread_settings={"model": "gpt-5.4", **more})

    rows = [meta(), settings(1, service_tier="priority"), count(2, (100, 0, 5), (100, 0, 5)),
            settings(3, service_tier=None), count(4, (210, 0, 9), (110, 0, 4)),
            settings(5, service_tier="fast"), count(6, (330, 0, 13), (120, 0, 4)),
            settings(7), count(8, (460, 0, 17), (130, 0, 4)),
            settings(9, service_tier=["odd"]), count(10, (600, 0, 21), (140, 0, 4))]  # fmt: skip
    found = calls(read(rows))
    assert [c.service_tier for c in found] == ["priority", None, "priority", None, None]
    assert {c.model for c in found} == {"gpt-5.4"}


def test_a_compaction_item_before_an_answer_is_one_of_the_server() -> None:
    def item(seconds: int, kind: str, **more: Any) -> dict[str, Any]:
        return row(seconds, "response_item", type=kind, **more)

    spoken = {"role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    rows = [meta(), item(1, "message", **spoken), record(1, "r1", 40_000),
            item(5, "compaction", id="cmp_1", encrypted_content="x"), item(6, "message", **spoken), record(6, "r2", 41_000),
            item(9, "message", **spoken), record(9, "r3", 9_000),
            # alone in an answer it was asked for, and ``compacted`` tells it
            item(12, "compaction", id="cmp_2", encrypted_content="x"), record(12, "r4", 9_100), row(13, "compacted", message="")]  # fmt: skip
    found = [one for one in read(rows) if isinstance(one, Event)]
    assert [(one.kind, one.evidence, one.trigger, one.line) for one in found] == [
        ("compaction", "recorded", "auto", 4), ("compaction", "recorded", None, 11)]  # fmt: skip
    # the answer still belongs to the context before it
    answer = next(call for call in calls(read(rows)) if call.call_id == "r2")
    assert found[0].time is not None and answer.time is not None and found[0].time > answer.time
