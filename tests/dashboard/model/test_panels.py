"""Decision, forecast, composition, why, empty screen."""

from __future__ import annotations

from datetime import UTC

import msgspec
import pytest

from monitor.dashboard.model import panels
from monitor.dashboard.model.text import line_width, plain
from monitor.decision.model import ACTION_WORDS, Costs, Signal
from monitor.records import Quota
from monitor.sessions.view import Range
from tests.dashboard import fake


def words(lines: list) -> str:
    return "\n".join(plain(line) for line in lines)


def test_the_decision_says_word_rule_reason_costs_and_what_would_change_it() -> None:
    text = words(panels.decision_lines(fake.decision(), 70))
    assert text.startswith("COMPACT AT BOUNDARY")
    for part in (
        "rule near-limit · high confidence", "79% of the usable limit is used", "20 more turns:", "continue ~$1.42",
        "new window ~$0.78", "→ COMPACT NOW at 85% fill", "167k?", "9 (6–13)", "~9 turns", "~112k", "42 s",
    ):  # fmt: skip
        assert part in text, part


def test_the_rule_is_there_at_every_width() -> None:
    for width in (24, 38, 60):
        lines = panels.decision_lines(fake.decision(), width)
        assert all(line_width(line) <= width for line in lines), width
        assert "near-limit" in words(lines)


def test_the_cheapest_way_is_marked() -> None:
    costs = Costs(continue_usd=1.0, compact_usd=0.5, new_window_usd=None, calls=12)
    lines = panels.cost_lines(costs, "continue", 40)
    marked = [plain(line) for line in lines if any("good" in style for _text, style in line)]
    assert len(marked) == 1 and marked[0].startswith("compact") and "$0.50" in marked[0]
    assert "new window         –" in words(lines)
    nothing = Costs(continue_usd=None, compact_usd=None, new_window_usd=None, calls=12)
    for costs in (None, nothing):
        assert "no price is known" in words(panels.cost_lines(costs, "continue", 40))


@pytest.mark.parametrize("width", [30, 42, 60, 64, 66, 76])
def test_the_costs_of_all_three_ways_are_there_at_every_width(width: int) -> None:
    """At 66 columns, the sheet of a terminal of 80, the last of the three used to be cut."""
    costs = Costs(continue_usd=0.71, compact_usd=0.75, new_window_usd=0.80, calls=20, assumed=("so",))
    lines = panels.cost_lines(costs, "continue", width)
    assert all(line_width(line) <= width for line in lines)
    for value in ("~$0.71", "~$0.75", "~$0.80"):
        assert value in words(lines), (width, value)


@pytest.mark.parametrize("action", list(ACTION_WORDS))
def test_every_action_has_word_style_and_short_form(action: str) -> None:
    decision = fake.decision(action=action)
    assert panels.action_word(decision)[0] == ACTION_WORDS[action]
    assert action in panels.ACTION_STYLE and action in panels.ACTION_SHORT


def test_without_a_decision_it_says_so() -> None:
    assert "no advice" in words(panels.decision_lines(None, 40))
    assert panels.action_word(None) == ("NO ADVICE", "dim")


@pytest.mark.parametrize(
    ("signal", "shown"),
    [
        (Signal(id="fill", value=None), "–"),
        (Signal(id="fill", value=0.79), "79%"),
        (Signal(id="usable_limit", value=167_000, how="assumed"), "167k?"),
        (Signal(id="optimal_size", value=90_000, how="estimated"), "~90k"),
        (Signal(id="calls_to_limit", value=Range(6, 9, 13)), "9 (6–13)"),
        (Signal(id="calls_to_limit", value={"p10": 6, "p50": 9, "p90": 13}), "9 (6–13)"),
        (Signal(id="calls_to_limit", value={"p50": 9}), "–"),
        (Signal(id="loop", value=True), "yes"),
        (Signal(id="break_even_calls", value=-2.0), "at once"),
        (Signal(id="idle_s", value=190.0), "3m10s"),
        (Signal(id="cache_state", value="cold\x1b"), "cold\N{REPLACEMENT CHARACTER}"),
        (Signal(id="tool_share", value=0.4, unit="share"), "40%"),
        (Signal(id="something_new", value=3.5, unit="widgets"), "3.5 widgets"),
    ],
)
def test_signals(signal: Signal, shown: str) -> None:
    assert panels.signal_value(signal) == shown


def test_unknown_signals_are_left_out_unless_they_matter() -> None:
    decision = fake.decision()
    signals = {
        **decision.signals,
        "fill": Signal(id="fill", value=None, how="unknown"),
        "idle_s": Signal(id="idle_s", value=None, how="unknown"),
    }
    text = words(panels.signal_lines(msgspec.structs.replace(decision, signals=signals), 40))
    assert "fill" in text and "–" in text and "idle" not in text


def test_the_forecast_gives_both_limits_with_marks() -> None:
    view = fake.growing(60, quota=Quota(83.0, fake.START + 3_600_000, 300))
    text = words(panels.forecast_lines(view, 48, UTC))
    assert "to usable   9 (6–13) turns" in text and "167k?" in text
    assert "to limit    31 (22–40) turns" in text and "200k" in text
    assert "+1.3k a turn" in text and "83% used" in text and "resets 21:26:40" in text


def test_without_a_forecast_it_says_why() -> None:
    short = msgspec.structs.replace(
        fake.growing(5),
        forecast=msgspec.structs.replace(fake.forecast(), calls_to_limit=None, calls_to_window=None, deltas=4),
    )
    assert "needs 8 turns since the last reset, has 4" in words(panels.forecast_lines(short, 60))
    assert "--context-limit N" in words(panels.forecast_lines(fake.plain(20), 60))


def test_an_observed_limit_is_a_lower_bound() -> None:
    view = fake.growing(60, context_limit_source="observed")
    assert "≥200k" in words(panels.forecast_lines(view, 48, UTC))
