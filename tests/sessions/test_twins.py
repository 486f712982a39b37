"""A client's own file and a log of its traffic read together: each call counts once, with the client."""

from __future__ import annotations

from typing import Any

from monitor.records import Call, Event, Evidence, Record
from monitor.sessions.store import Store
from monitor.sources.files import Batch
from tests.factory import START, call, event, store


def sent(number: int, prompt: int | None, read: int | None = None, **facts: Any) -> Call:
    """What a recorder wrote of a call that took a second and ended when the client noted it."""
    values: dict[str, Any] = {
        "session": "calls",
        "source": "ctxmon",
        "file": "calls.jsonl",
        "session_evidence": "file",
        "evidence": Evidence(response_id=f"r{number}", messages=bytes(range(8 * number + 8)), origin="k"),
        "call_id": f"r{number}",
        "key": f"r{number}",
        "time": START + number * 10_000 - 1_000,
        "duration_ms": 1_000,
        **facts,
    }
    return call(number, prompt, read, **values)


def told(made: Store) -> dict[str, list[tuple[int | None, str, str]]]:
    """Calls of each session: prompt, source, purpose."""
    return {v.session: [(t.call.prompt_tokens, t.call.source, t.call.purpose) for t in v.turns] for v in made.views()}


def test_the_providers_id_tells_where_the_client_keeps_it() -> None:
    own = [call(n, 20_000 + n, 0, key=f"r{n}:", call_id=f"r{n}") for n in range(2)]
    traffic = [sent(n, 20_000 + n, 0) for n in range(2)]
    want = {"s": [(20_000, "claude-code", "work"), (20_001, "claude-code", "work")]}
    made = store(own, traffic)
    assert told(made) == want
    assert made.duplicates() == {"calls.jsonl": 2}
    # in any order, and line by line
    assert told(store(traffic, own)) == want
    slow = Store()
    for record in (own[0], traffic[0], traffic[1], own[1]):
        slow.apply(Batch(record.file, [record], False))
        slow.refresh()
    assert told(slow) == want


def test_an_id_tells_across_time_zones_and_figures_do_not() -> None:
    hours = 9 * 3_600_000  # a capture in local time without a zone
    traffic = [sent(n, 20_000 + n, 0, time=START + n * 10_000 + hours) for n in range(2)]
    own = [call(n, 20_000 + n, 0, key=f"r{n}:", call_id=f"r{n}") for n in range(2)]
    assert {name: len(turns) for name, turns in told(store(own, traffic)).items()} == {"s": 2}
    nameless = [call(n, 20_000 + n, 0, source="gemini-cli", key=f"u{n}", call_id=f"u{n}") for n in range(2)]
    assert sum(len(turns) for turns in told(store(nameless, traffic)).values()) == 4


def test_an_id_that_a_server_gives_to_every_answer_is_none() -> None:
    own = [call(n, 20_000 + n, 0, key=f"same:{n}", call_id="same") for n in range(2)]
    made = store(own, [sent(5, 31_000, 0, key="same", call_id="same")])
    assert sorted(len(turns) for turns in told(made).values()) == [1, 2]


def test_clients_without_ids_are_known_by_figures_and_time() -> None:
    own = [call(n, 20_000, 128, source="gemini-cli", call_id=f"uuid{n}", key=f"uuid{n}") for n in range(3)]
    traffic = [sent(n, 20_000, 128) for n in range(3)]
    assert told(store(own, traffic)) == {"s": [(20_000, "gemini-cli", "work")] * 3}
    # another minute, other figures: other calls
    later = [sent(n, 20_000, 128, time=START + 600_000 + n) for n in range(3)]
    other = [sent(n, 20_001, 128) for n in range(3)]
    for strangers in (later, other):
        made = store(own, strangers)
        assert len(told(made)["s"]) == 3 and sum(len(turns) for turns in told(made).values()) == 6


def test_what_only_the_traffic_shows_goes_into_the_clients_session() -> None:
    own = [call(n, 20_000 + n, 0, source="pi", key=f"r{n}", call_id=f"r{n}") for n in range(3)]
    summary = sent(1, 4_000, 0, key="sum", call_id="sum", purpose="compaction", chain="side", time=START + 12_000,
                   evidence=Evidence(response_id="sum", messages=b"12345678", origin="k"))  # fmt: skip
    inferred = event(1.3, evidence="inferred", session="calls", file="calls.jsonl", key="sum#compaction")
    recorded = event(1.5, recorded_before=20_001)
    made = store([*own, recorded], [sent(0, 20_000, 0), sent(1, 20_001, 0), summary, inferred, sent(2, 20_002, 0)])
    assert told(made) == {"s": [(20_000, "pi", "work"), (20_001, "pi", "work"), (4_000, "ctxmon", "compaction"),
                                (20_002, "pi", "work")]}  # fmt: skip
    (view,) = made.views()
    assert [(e.kind, e.evidence, e.file) for e in view.events] == [("compaction", "recorded", "a.jsonl")]


def test_a_summary_that_the_client_tells_without_an_id_is_known_by_figures_and_time() -> None:
    own = [call(n, 20_000 + n, 0, source="pi", key=f"r{n}", call_id=f"r{n}") for n in range(3)]
    summary = {"purpose": "compaction", "chain": "side", "time": START + 12_000}
    own.append(call(5, 4_000, 0, source="pi", key="pi:summary", call_id=None, **summary))
    traffic = [sent(n, 20_000 + n, 0) for n in range(3)]
    traffic.append(sent(5, 4_000, 0, key="sum", call_id="sum", **{**summary, "time": START + 11_000}))
    found = told(store(own, traffic))["s"]
    assert [one for one in found if one[2] == "compaction"] == [(4_000, "pi", "compaction")]
    assert len(found) == 4


def test_a_summary_alone_belongs_to_the_client_that_notes_its_compaction() -> None:
    """Two conversations went on at the same time; the request holds the history as text, so it tells nothing of them."""
    files: list[list[Record]] = []
    for name, at in (("s", 0.9), ("t", 1.4)):
        own = [
            call(n, 20_000 + n, 0, source="pi", session=name, file=f"{name}.jsonl", key=f"{name}{n}") for n in range(2)
        ]
        files.append([*own, event(at, session=name, file=f"{name}.jsonl", key=f"{name}:compaction")])
    text = Evidence(messages=b"12345678", origin="k")
    asked = [sent(9, 4_000, 0, key=f"sum{n}", call_id=f"sum{n}", purpose="compaction", chain="side", evidence=text,
                  time=START + time, session="calls") for n, time in enumerate((7_900, 12_900))]  # fmt: skip
    made = store(*files, asked)
    assert {name: [purpose for _, _, purpose in turns] for name, turns in told(made).items()} == {
        "s": ["work", "compaction", "work"], "t": ["work", "work", "compaction"]}  # fmt: skip


def test_what_happened_in_a_call_stays_behind_it_where_the_client_noted_it_later() -> None:
    own = [call(n, 20_000 + n, 0, source="pi", key=f"r{n}", call_id=f"r{n}", time=START + n * 10_000 + 9_000)
           for n in range(3)]  # fmt: skip
    traffic: list[Record] = [sent(n, 20_000 + n, 0) for n in range(3)]
    item = event(1, session="calls", file="calls.jsonl", key="r1#item", trigger="auto", recorded_before=20_001)
    trim = event(1.89, "trim", session="calls", file="calls.jsonl", key="r2#trim")  # just before r2 was sent
    (view,) = store(own, [*traffic, item, trim]).views()
    assert [(e.kind, e.after_call, e.before_call) for e in view.events] == [("compaction", 1, 2), ("trim", 1, 2)]


def test_what_only_the_traffic_shows_of_a_subagent_goes_into_its_chain() -> None:
    own = [call(n, 20_000 + n, 0, source="gemini-cli", chain="agent:a", key=f"m{n}") for n in range(2)]
    (view,) = store(own, [sent(0, 20_000, 0), sent(1, 20_001, 0), sent(2, None, status="error")]).views()
    assert [(t.call.chain, t.call.source) for t in view.turns] == [
        ("agent:a", "gemini-cli"), ("agent:a", "gemini-cli"), ("agent:a", "ctxmon")]  # fmt: skip


def test_failures_and_answers_without_figures_are_paired_by_time() -> None:
    own = [call(0, 20_000, 0, key="r0", call_id="r0"), call(1, None, key="e1", status="error"),
           call(2, None, key="m2")]  # fmt: skip
    traffic = [sent(0, 20_000, 0), sent(1, None, status="error", call_id=None), sent(2, None)]
    assert told(store(own, traffic)) == {"s": [(20_000, "claude-code", "work")] + [(None, "claude-code", "work")] * 2}


def test_figures_that_the_client_could_not_read_are_taken_from_the_traffic() -> None:
    failed = call(1, None, key="e1", status="error", exchange=4, output_tokens=None)
    own = [call(0, 20_000, 0, key="r0", call_id="r0"), failed, call(2, 20_002, 0, key="r2", call_id="r2")]
    (view,) = store(own, [sent(n, 20_000 + n, 0) for n in range(3)]).views()
    assert [(t.call.prompt_tokens, t.call.status, t.call.exchange) for t in view.turns] == [
        (20_000, "ok", None), (20_001, "ok", 4), (20_002, "ok", None)]  # fmt: skip


def test_a_client_may_note_a_call_long_before_it_is_sent() -> None:
    own = [call(0, 20_000, 128, source="opencode", key="m0", duration_ms=60_000)]
    made = store(own, [sent(0, 20_000, 128, time=START + 50_000)])
    assert told(made) == {"s": [(20_000, "opencode", "work")]}


def test_a_file_that_is_written_anew_gives_its_twins_back() -> None:
    own = [call(n, 20_000 + n, 0, key=f"r{n}:", call_id=f"r{n}") for n in range(2)]
    made = store(own, [sent(n, 20_000 + n, 0) for n in range(2)])
    made.views()
    made.apply(Batch("a.jsonl", [], True))
    assert [[source for _, source, _ in turns] for turns in told(made).values()] == [["ctxmon", "ctxmon"]]


def test_one_compaction_told_by_two_files_is_one() -> None:
    calls = [call(0, 50_000, 0), call(1, 9_000, 0)]
    client = event(0.5, recorded_after=6_000, file="a.jsonl")
    traffic = event(0.4, trigger="auto", summary_tokens=300, file="calls.jsonl", key="x#compaction")
    for records in ([traffic, client], [client, traffic]):
        (view,) = store([calls[0], *records, calls[1]]).views()
        assert [(e.kind, e.trigger, e.recorded_after, e.summary_tokens, e.tokens_before, e.tokens_after)
                for e in view.events] == [("compaction", "auto", 6_000, 300, 50_000, 9_000)]  # fmt: skip
        assert view.windows == 2


def test_requests_for_one_summary_are_one_compaction_and_two_notes_of_a_client_are_two() -> None:
    def kinds(evidence: str) -> list[tuple[str, int | None]]:
        records: list[Call | Event] = [call(0, 50_000, 0), event(0.4, evidence=evidence, summary_tokens=200),
                                       event(0.5, evidence=evidence, summary_tokens=300), call(1, 9_000, 0)]  # fmt: skip
        (view,) = store(records).views()
        return [(e.kind, e.summary_tokens) for e in view.events if e.kind == "compaction"]

    assert kinds("inferred") == [("compaction", 300)]
    assert kinds("recorded") == [("compaction", 200), ("compaction", 300)]


def test_an_overflow_that_the_client_notes_as_well_is_one() -> None:
    own: list[Record] = [call(0, 20_000, 0, key="r0", call_id="r0"), event(1, "overflow", key="overflow:own")]
    refused = [sent(n, None, status="error", call_id=None, key=f"at {n}") for n in (1, 2)]
    seen = [event(n - 0.01, "overflow", session="calls", file="calls.jsonl", key=f"at {n}#overflow") for n in (1, 2)]
    (view,) = store(own, [sent(0, 20_000, 0), *refused, *seen]).views()
    # of the second refusal the client says nothing
    assert [(e.kind, e.file) for e in view.events] == [("overflow", "a.jsonl"), ("overflow", "calls.jsonl")]


def test_of_two_captures_the_one_that_holds_messages_tells_the_exchange() -> None:
    plain = [sent(n, 20_000 + n, 0, exchange=None) for n in range(2)]
    whole = [sent(n, 20_000 + n, 0, exchange=1, file="whole.jsonl") for n in range(2)]
    for files in ([plain, whole], [whole, plain]):
        (view,) = store(*files).views()
        assert [turn.call.exchange for turn in view.turns] == [1, 1]


def test_reasoning_that_only_the_provider_told_is_the_clients_call_with_it() -> None:
    own = [call(n, 20_000 + n, 0, source="pi", key=f"r{n}", call_id=f"r{n}", exchange=2) for n in range(2)]
    traffic = [sent(n, 20_000 + n, 0, reasoning_tokens=40 + n) for n in range(2)]
    want = [("s", "pi", "a.jsonl", 2, 40, 100), ("s", "pi", "a.jsonl", 2, 41, 100)]
    for files in ([own, traffic], [traffic, own]):
        made = store(*files)
        (view,) = made.views()
        calls = [turn.call for turn in view.turns]
        assert [(c.session, c.source, c.file, c.exchange, c.reasoning_tokens, c.output_tokens) for c in calls] == want
        # what the client told anew counts anew
        made.apply(Batch("a.jsonl", [], True))
        assert [[source for _, source, _ in turns] for turns in told(made).values()] == [["ctxmon", "ctxmon"]]


def test_a_gateways_log_beside_the_clients_own_file() -> None:
    """LiteLLM logs a call under an id that the client may never have seen."""
    for source in ("opencode", "pi"):
        own = [call(n, 20_000 + n, 128, source=source, key=f"own{n}", call_id=f"own{n}") for n in range(2)]
        failed = call(2, None, source=source, key="own2", call_id=None, status="error")
        rows = [sent(n, 20_000 + n, 128, source="litellm", key=f"row{n}", call_id=f"row{n}") for n in range(2)]
        refused = sent(2, None, source="litellm", key="row2", call_id="row2", status="error")
        want = {"s": [(20_000, source, "work"), (20_001, source, "work"), (None, source, "work")]}
        assert told(store([*own, failed], [*rows, refused])) == want
        assert told(store([*rows, refused], [*own, failed])) == want
    # a recorder knows the id the client knows: other ids are other calls
    assert sum(len(turns) for turns in told(store(own, [sent(0, 20_000, 128)])).values()) == 3
