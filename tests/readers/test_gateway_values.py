from __future__ import annotations

import datetime as dt

import pytest

from monitor.readers import gateway_values as values
from monitor.records import Call, Event


def call(key: str = "k", **more) -> Call:
    return Call(session="f", session_evidence="file", source="s", file="f", key=key, **more)


def test_nested_paths_dotted_columns_and_texts_of_json():
    row = {"a": {"b": {"c": 1}}, "x.y": 2, "j": '{"k": {"l": 3}}', "p": {"q.r": 4}}
    assert values.at(row, "a.b.c") == 1
    assert values.at(row, "x.y") == 2
    assert values.at(row, "j.k.l") == 3
    assert values.at(row, "p.q.r") == 4
    assert values.at(row, "a.b.z") is None
    assert values.at(row, "nothing.at.all") is None


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        (1772359200, 1772359200000),
        ("1772359200", 1772359200000),
        (1772359200123, 1772359200123),
        (1772359200123456789, 1772359200123),
        ("2026-03-01T10:00:00Z", 1772359200000),
        ("2026-03-01 10:00:00", 1772359200000),
        ("2026-03-01T12:00:00+02:00", 1772359200000),
        ("2026/3/1 10:00:00", 1772359200000),
        (dt.datetime(2026, 3, 1, 10), 1772359200000),
        ("soon", None),
        ("", None),
        (None, None),
        (True, None),
        (float("nan"), None),
    ],
)
def test_times(cell, wanted):
    assert values.time_ms(cell) == wanted


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [("$0.03", 0.03), ("$1,200.50", 1200.5), (0.5, 0.5), ("¥3", None), ("￥3", None), ("free", None), (-1, None)],
)
def test_costs_in_other_currencies_are_unknown(cell, wanted):
    assert values.usd(cell) == wanted


def test_numbers_in_cells():
    assert values.number("4 s / 0.9 s") == 4
    assert values.number("1,200") == 1200
    assert values.number("流") is None
    assert values.number(False) is None


def test_the_sender_is_a_hash_and_stable():
    one = values.origin("new-api", "sk-secret", "dev")
    assert one == values.origin("new-api", "sk-secret", "dev")
    assert one != values.origin("new-api", "sk-other", "dev")
    assert one is not None
    assert "secret" not in one
    assert len(one) == 16
    assert values.origin(None, "") is None


def test_providers_have_one_spelling():
    assert values.provider_name("Anthropic") == "anthropic"
    assert values.provider_name("az.ai.openai") == "azure"
    assert values.provider_name("openai.chat") == "openai"
    assert values.provider_name(None) is None


def test_newest_first_is_turned_round_and_ties_keep_the_written_order():
    shown = [call("c", time=20, line=2), call("b", time=10, line=3), call("a", time=10, line=4)]
    found = values.written_order(list(shown))
    assert [one.key for one in found] == ["a", "b", "c"]
    # lines of calls with the same time would sort them the wrong way round
    assert [one.line for one in found] == [None, None, 2]
    oldest_first = [call("a", time=10, line=2), call("b", time=20, line=3)]
    assert values.written_order(list(oldest_first)) == oldest_first


def test_an_id_counts_only_when_it_occurs_again():
    ids = values.Sightings()
    assert [c.session for c in ids.see("s1", call("a"))] == ["f"]
    assert [c.session for c in ids.see("s2", call("b"))] == ["f"]
    again = ids.see("s1", call("c"))
    assert [(c.key, c.session, c.session_evidence) for c in again] == [("a", "s1", "explicit"), ("c", "s1", "explicit")]
    assert [(c.key, c.session) for c in ids.see("s1", call("d"))] == [("d", "s1")]
    assert [c.session for c in ids.see(None, call("e"))] == ["f"]


def test_the_same_call_told_twice_is_no_second_occurrence():
    ids = values.Sightings()
    ids.see("s1", call("a"))
    assert [c.session for c in ids.see("s1", call("a", prompt_tokens=5))] == ["f"]
    assert [c.prompt_tokens for c in ids.see("s1", call("b"))] == [5, None]


def test_keys_of_equal_rows_differ_within_a_file_and_agree_between_files():
    one, other = values.Ordinals(), values.Ordinals()
    assert [one.key("x"), one.key("x"), one.key("y")] == ["x", "x#1", "y"]
    assert [other.key("x"), other.key("x")] == ["x", "x#1"]


def test_latest_keeps_the_last_telling_in_the_first_place():
    event = Event(kind="compaction", evidence="recorded", session="s", file="f")
    found = values.latest([call("a"), event, call("b"), call("a", prompt_tokens=1)])
    assert [getattr(one, "key", None) for one in found] == ["a", "", "b"]
    assert found[0].prompt_tokens == 1
