"""`ctxmon backtest`: JSON by contract, the table for eyes, adjustable assumptions."""

from __future__ import annotations

import json

import pytest

from monitor.cli import main
from tests.decision.factory import NOW, transcript


@pytest.fixture
def logs(tmp_path):
    """Two sessions; one was compacted before its call 14 and left 30,000 tokens."""
    folder = tmp_path / "logs"
    folder.mkdir()
    first = [60_000 + 8_000 * n for n in range(14)] + [30_000 + 8_000 * n for n in range(10)]
    transcript(folder / "a.jsonl", first, compactions={14: 30_000}, name="a")
    transcript(folder / "b.jsonl", [20_000 + 2_000 * n for n in range(12)], end=NOW - 86_400_000, name="b")
    return folder


def report(capsys, *args):
    assert main(["backtest", *map(str, args), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_is_the_contracts(logs, capsys):
    body = report(capsys, logs)
    assert body["schema"] == "ctxmon.backtest/1"
    names = [p["policy"] for p in body["policies"]]
    assert names == ["actual", "table", "never", "at 80%", "client's threshold", "every 40 calls", "at boundaries"]
    for policy in body["policies"]:
        assert {"sessions", "actions", "prompt_tokens", "cost_usd", "calls_over_90_percent", "lead_calls",
                "against_actual"} <= set(policy)  # fmt: skip
        assert policy["sessions"] == 2
        difference = policy["cost_usd"] - body["policies"][0]["cost_usd"]
        assert policy["against_actual"]["cost_usd"] == pytest.approx(difference, abs=2e-6)
        low, high = policy["cost_usd_low"], policy["cost_usd_high"]
        assert low is None or low <= policy["cost_usd"] <= high
    actual = body["policies"][0]
    assert actual["actions"] == {"compact_now": 1} and actual["against_actual"]["prompt_tokens"] == 0
    table = body["policies"][1]
    assert table["lead_calls"]["compactions"] == 1 and table["lead_calls"]["foreseen"] == 1
    # 164,000 was reached before the real compaction; the threshold of 100,000 was passed at call 5
    assert table["lead_calls"]["p50"] == 13 - 5
    assert body["suggestions"]["applied"] is False


def test_sessions_tell_when_each_policy_would_have_acted(logs, capsys):
    body = report(capsys, logs)
    session = next(s for s in body["sessions"] if s["session"] == "a")
    table = session["policies"][0]
    first = next(a for a in table["advice"] if a["action"] != "continue")
    assert (first["call"], first["action"], first["rule"]) == (5, "compact_at_boundary", "your-threshold")
    assert first["time"].endswith("Z")


def test_assumptions_are_told_and_can_be_changed(logs, capsys):
    body = report(capsys, logs)
    assert body["assumptions"]["after_tokens"] == 30_000  # measured from the own compaction
    assert body["assumptions"]["summary_tokens"] == 4_000 and body["assumptions"]["threshold"] == 100_000
    other = report(capsys, logs, "--summary-tokens", "8k", "--rework-calls", "0", "--share", "70%", "--every", "5",
                   "--threshold", "0")  # fmt: skip
    told = other["assumptions"]
    assert (told["summary_tokens"], told["rework_calls"], told["share"], told["threshold"]) == (8_000, 0, 0.7, None)
    assert told["after_tokens"] is None  # sizes the user named count
    assert "at 70%" in [p["policy"] for p in other["policies"]]
    every = next(p for p in other["policies"] if p["policy"] == "every 5 calls")
    assert sum(every["actions"].values()) > 0


def test_the_page_shows_policies_ranges_assumptions_and_suggestions(logs, capsys):
    assert main(["backtest", str(logs)]) == 0
    out = capsys.readouterr().out
    assert "what happened" in out and "client's threshold" in out
    assert "against what happened" in out and "(−" in out
    assert "--rework-calls" in out and "shown, never applied" in out
    assert "\x1b" not in out
    assert max(len(line) for line in out.splitlines()) < 140


def test_one_session_gets_a_timeline(logs, capsys):
    assert main(["backtest", str(logs), "--session", "a", "--no-suggestions"]) == 0
    out = capsys.readouterr().out
    assert "what table would have said, and when" in out and "COMPACT AT BOUNDARY  your-threshold" in out
    assert "never applied" not in out


@pytest.mark.parametrize(
    "option",
    ["--share=0", "--share=2", "--share=x", "--every=0", "--every=x", "--rework-calls=-1", "--summary-tokens=x"],
)
def test_wrong_options_are_usage_errors(logs, option, capsys):
    assert main(["backtest", str(logs), option]) == 2
    assert option.split("=")[0] in capsys.readouterr().err


def test_nothing_to_replay_is_exit_3_with_a_sentence(tmp_path, capsys):
    transcript(tmp_path / "one.jsonl", [20_000])
    assert main(["backtest", str(tmp_path)]) == 3
    assert "nothing to replay" in capsys.readouterr().err
