"""Small calls of another model in a session that the log names: beside the conversation, as in logs without names."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.records import Call
from monitor.sessions.build import Session, Settings
from monitor.sessions.view import SessionView
from tests.factory import call, view

BIG, MINI = "gpt-5.4", "gpt-5.4-mini"


def told(number: int, prompt: int, read: int | None = 0, model: str = BIG, **facts: Any) -> Call:
    """A row of a table: it names the session and holds no messages."""
    values = {"source": "table", "provider": "openai", "exchange": None, "model": model, "cache_write_tokens": None}
    return call(number, prompt, read, **{**values, **facts})


def rows(found: SessionView) -> list[tuple[str, str, str]]:
    return [(turn.call.chain, turn.call.purpose, turn.cache_outcome) for turn in found.turns]


TURN, HIT, SIDE = ("main", "work", "first"), ("main", "work", "hit"), ("side", "side", "first")


def test_titles_between_the_turns() -> None:
    found = view([told(0, 425, model=MINI), told(1, 50_000), told(2, 52_000, 50_000), told(3, 380, model=MINI),
                  told(4, 53_000, 52_000), told(5, 390, model=MINI)])  # fmt: skip
    assert rows(found) == [SIDE, TURN, HIT, SIDE, HIT, SIDE]
    assert found.events == ()
    # 50,000 + 52,000 + 53,000
    assert (found.sums.calls, found.sums.side_calls, found.sums.prompt_tokens) == (3, 3, 155_000)
    assert (found.last_prompt_tokens, found.models) == (53_000, (BIG,))


def test_a_conversation_that_goes_on_with_the_small_model_switched() -> None:
    found = view([told(0, 50_000), told(1, 1_500, model=MINI), told(2, 1_900, 1_500, model=MINI),
                  told(3, 2_600, 1_900, model=MINI)])  # fmt: skip
    assert [chain for chain, _, _ in rows(found)] == ["main"] * 4
    assert [event.kind for event in found.events] == ["model_switch"]


@pytest.mark.parametrize(
    "facts",
    [
        {"prompt_tokens": 2_000, "fresh_tokens": 2_000},  # as large as an agent's system prompt
        {"model": BIG},  # the model of the conversation
        {"exchange": 1},  # the log holds messages: its reader knows what it was for
        {"model": "gpt-5.4-2026-03-05"},  # the same model by another name
        {"chain": "agent:a"},
    ],
)
def test_what_is_no_side_call(facts: dict[str, Any]) -> None:
    small = told(1, 400, **{"model": MINI, **facts})
    found = view([told(0, 50_000), small, told(2, 52_000, 50_000)])
    assert found.turns[1].call.purpose == "work"


def test_a_small_conversation_has_no_calls_beside_it() -> None:
    found = view([told(0, 1_200), told(1, 400, model=MINI), told(2, 1_300, 1_200)])
    assert [event.kind for event in found.events] == ["model_switch", "model_switch"]


def test_a_log_that_grows_ends_as_one_that_is_read_at_once() -> None:
    records = []
    for n in range(0, 600, 3):
        records += [told(n, 50_000 + n), told(n + 1, 50_100 + n, 50_000 + n), told(n + 2, 300 + n, model=MINI)]
    growing = Session("s", Settings(), hot=0)
    for n, record in enumerate(records):
        growing.put(record, (record.time or 0, 0, record.line or 0))
        if n % 7 == 0 or n == len(records) - 1:
            seen = growing.refresh(lambda item: False)
    whole = view(records)  # type: ignore[arg-type]
    assert list(seen.turns) == list(whole.turns) and seen.events == whole.events
    assert (whole.sums.calls, whole.sums.side_calls) == (400, 200)
