"""The status line: what is shown from the client's status JSON and the end of the transcript."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.decision.table import builtin
from monitor.pricing import PriceTable
from monitor.reports import statusline
from monitor.reports.statusline_tail import read_tail
from tests.decision.factory import NOW, transcript

PRICES = PriceTable.load()
NAMES = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def status(path=None, usage=(10, 990, 48_000, 300), **more):
    """A status object in the shape of the newest versions."""
    data = {
        "session_id": "s1",
        "model": {"id": "claude-sonnet-4-5", "display_name": "Sonnet"},
        "context_window": {
            "context_window_size": 200_000,
            "current_usage": dict(zip(NAMES, usage)) if usage is not None else None,
            "used_percentage": 24,
        },
    }
    if path is not None:
        data["transcript_path"] = str(path)
    data.update(more)
    return data


def cache(left_s, warm=True, ratio=0.9, misses=0, ttl="5m"):
    return {"warm": warm, "ttl": ttl, "expires_at": NOW / 1000 + left_s, "hit_ratio": ratio, "misses": misses,
            "requests": 5, "last_miss_cause": None}  # fmt: skip


def shown(data, now=NOW, threshold=100_000, **options):
    found = statusline.status(data, prices=PRICES)
    decision = statusline.decision_of(found, now_ms=now, prices=PRICES, table=builtin(), threshold=threshold)
    return statusline.line(found, decision, now, **options)


def test_fill_growth_calls_left_cache_and_advice_stand_in_one_line(tmp_path):
    # 20,000 + 12 x 2,000 = 44,000; used 44,300 of 167,000 = 27 %; (167,000 - 44,300) / 2,000 x 0.98 = 60
    path = transcript(tmp_path / "s.jsonl", [20_000 + 2_000 * n for n in range(13)], end=NOW - 60_000)
    line = shown(status(path, usage=(10, 1_990, 42_000, 300)))
    parts = line.split(" · ")
    assert parts[0] == "27% 44.3k of 167k"
    assert parts[1] == "+2k/turn"
    assert parts[2] == "~60 turns left (20–196)"
    assert parts[3].startswith("cache warm 4m, ")  # five minutes from the last request, one of them gone
    assert parts[-1] == "CONTINUE"
    assert "\n" not in line and len(line) < 110


def test_the_clients_cache_figures_are_used():
    line = shown(status(prompt_cache=cache(250, ratio=0.75)))
    assert "cache warm 4m, 75% hit" in line
    assert "cache cold" in shown(status(prompt_cache=cache(-1)))
    assert "cache cold" in shown(status(prompt_cache=cache(100, warm=False)))
    assert "cache warm 58m" in shown(status(prompt_cache=cache(3_500, ttl="1h")))


def test_a_difference_between_client_and_transcript_is_told(tmp_path):
    # the transcript's last request is ten minutes old, the client says warm for another four
    path = transcript(tmp_path / "s.jsonl", [20_000 + 2_000 * n for n in range(5)], end=NOW - 600_000)
    line = shown(status(path, prompt_cache=cache(240, ratio=0.2)))
    assert "cache warm 4m (log: cold)" in line
    # reads 20, 22, 24, 26 thousand of prompts 20 ... 28: 92 / 120
    assert "20% hit (log: 77%)" in line


def test_agreement_is_not_commented(tmp_path):
    path = transcript(tmp_path / "s.jsonl", [20_000 + 2_000 * n for n in range(5)], end=NOW - 60_000)
    assert "(log" not in shown(status(path, prompt_cache=cache(240, ratio=92 / 120)))


def test_the_comparison_names_agreement_and_difference(tmp_path):
    path = transcript(tmp_path / "s.jsonl", [20_000 + 2_000 * n for n in range(5)], end=NOW - 60_000)
    found = statusline.status(status(path, prompt_cache=cache(240, ratio=92 / 120, misses=2)), prices=PRICES)
    rows = [line.split() for line in statusline.comparison(found, NOW).splitlines()]
    assert rows[1] == ["cache", "expires", "in", "4m", "in", "4m", "agree"]
    assert rows[2] == ["hit", "ratio", "76.7%", "76.7%", "agree"]
    assert rows[3] == ["misses", "2", "0", "differ"]


def test_all_zero_usage_is_pending_not_empty(tmp_path):
    path = transcript(tmp_path / "s.jsonl", [60_000 + 2_000 * n for n in range(10)], end=NOW - 60_000)
    line = shown(status(path, usage=(0, 0, 0, 0)))
    assert line.startswith("size pending after a reset of 167k") and "0%" not in line
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"type": "system", "subtype": "compact_boundary", "isSidechain": False,
                                 "timestamp": "2026-09-21T00:00:00Z", "compactMetadata": {"postTokens": 3_200}}) + "\n")  # fmt: skip
    assert shown(status(path, usage=(0, 0, 0, 0))).startswith("size pending after a reset, about 3.2k of 167k")
    assert "CONTINUE" in shown(status(path, usage=(0, 0, 0, 0)))


def test_before_the_first_call_nothing_is_claimed():
    line = shown(status(usage=None))
    assert line == "no call yet, room for 167k · CONTINUE"


def test_without_usage_in_the_status_the_transcript_tells(tmp_path):
    path = transcript(tmp_path / "s.jsonl", [60_000, 62_000], end=NOW - 60_000)
    data = {"transcript_path": str(path), "model": {"id": "claude-sonnet-4-5"}}
    assert shown(data).startswith("37% 62.3k of 167k · ")


def test_quota_is_shown_where_the_client_tells_it():
    limits = {"five_hour": {"used_percentage": 23.4, "resets_at": 1}, "seven_day": {"used_percentage": 41}}
    assert " · 5h 23% · 7d 41% · " in shown(status(rate_limits=limits))
    assert "7d" not in shown(status(rate_limits={"five_hour": {"used_percentage": 5}}))


@pytest.mark.parametrize(
    ("usage", "threshold", "word"),
    [
        ((10, 990, 48_000, 300), 100_000, "CONTINUE"),
        ((10, 990, 100_000, 300), 100_000, "COMPACT AT BOUNDARY"),
        ((10, 990, 100_000, 300), None, "CONTINUE"),
        ((10, 990, 142_000, 300), None, "COMPACT NOW"),  # 143,300 / 167,000 = 86 %
        ((10, 990, 199_000, 300), None, "TRIM"),  # a summary would not fit
    ],
)
def test_the_advice_is_that_of_the_table(usage, threshold, word):
    assert shown(status(usage=usage), threshold=threshold).split(" · ")[-1] == word


def test_a_million_window_is_taken_from_the_client():
    data = status(usage=(10, 990, 300_000, 300))
    data["context_window"]["context_window_size"] = 1_000_000
    assert shown(data).startswith("31% 301k of 967k")


def test_colour_only_on_request():
    assert "\x1b" not in shown(status())
    assert "\x1b[1;32mCONTINUE\x1b[0m" in shown(status(), colour=True)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"context_window": None, "model": "x", "prompt_cache": [], "rate_limits": 5},
        {"context_window": {"current_usage": {"input_tokens": "many"}, "context_window_size": -1}},
        {"transcript_path": 7, "session_id": None},
        {"transcript_path": "/no/such/file.jsonl"},
        status(prompt_cache={"expires_at": "soon", "ttl": 5, "hit_ratio": True}),
        status(usage=(None, None, None, None)),
    ],
)
def test_odd_values_are_left_out(data):
    assert shown(data).split(" · ")[-1] == "CONTINUE"


def test_the_last_of_several_objects_counts():
    text = b'{"session_id": "a"}\n{"session_id": "b"}\n'
    assert statusline.parse(text)["session_id"] == "b"
    assert statusline.parse(b'\xef\xbb\xbf{"session_id": "c"}')["session_id"] == "c"


@pytest.mark.parametrize("data", [b"", b"hello", b"[1]", b"\xff\xfe{", b'{"a": ', b"null", b"[" * 10_000])
def test_garbage_is_no_status(data):
    with pytest.raises(statusline.StatusError):
        statusline.parse(data)


# -------------------------------------------------------------------------------------------------------- tail
def test_the_tail_of_a_transcript_gives_growth_since_the_last_compaction(tmp_path):
    prompts = [60_000 + 8_000 * n for n in range(10)] + [30_000 + 1_000 * n for n in range(5)]
    path = transcript(tmp_path / "s.jsonl", prompts, compactions={10: 30_000})
    tail = read_tail(path)
    assert tail is not None and tail.whole
    assert (tail.calls, tail.prompt, tail.output, tail.compactions) == (15, 34_000, 300, 1)
    assert (tail.mean_delta, tail.deltas) == (1_000.0, 4)
    assert (tail.latest[0].calls_since, tail.latest[0].after) == (5, 30_000)
    assert tail.time == NOW and tail.ttl_s == 300 and tail.opening == 60_000


def test_only_the_end_of_a_long_transcript_is_read(tmp_path):
    path = transcript(tmp_path / "s.jsonl", [20_000 + 100 * n for n in range(200)])
    size = os.path.getsize(path)
    tail = read_tail(path, size // 4)
    assert tail is not None and not tail.whole and 0 < tail.calls < 60
    assert tail.prompt == 20_000 + 100 * 199 and tail.opening is None


def test_side_chains_other_lines_and_broken_ones_do_not_count(tmp_path):
    path = transcript(tmp_path / "s.jsonl", [20_000, 21_000])
    text = path.read_text(encoding="utf-8")
    side = text.splitlines()[1].replace('"isSidechain": false', '"isSidechain": true').replace("m0-s1", "side")
    path.write_text(
        text + side + "\n" + '{"type":"user","message":{"content":"\\"usage\\""}}\n{"usage": torn', encoding="utf-8"
    )
    tail = read_tail(path)
    assert tail is not None and tail.calls == 2 and tail.prompt == 21_000


def test_lines_of_one_answer_are_one_call(tmp_path):
    path = transcript(tmp_path / "s.jsonl", [20_000, 21_000])
    lines = path.read_text(encoding="utf-8").splitlines()
    again = lines[3].replace('"output_tokens": 300', '"output_tokens": 900')
    path.write_text("\n".join([*lines, again]) + "\n", encoding="utf-8")
    tail = read_tail(path)
    assert tail is not None and (tail.calls, tail.output) == (2, 900)


def test_an_unreadable_or_empty_transcript_is_none(tmp_path):
    assert read_tail(tmp_path / "none.jsonl") is None
    assert read_tail(tmp_path) is None
    empty = tmp_path / "e.jsonl"
    empty.write_bytes(b"\x00\n\n{}\n")
    assert read_tail(empty) is None


SAMPLES = Path(os.environ.get("CTXMON_SAMPLES", "")) / "statusline"


@pytest.mark.skipif(not SAMPLES.is_dir() or not os.environ.get("CTXMON_SAMPLES"), reason="CTXMON_SAMPLES is not set")
def test_what_a_real_client_sent_agrees_with_its_transcript():
    sent = [
        json.loads(line) for line in (SAMPLES / "claude-code-2.1.332.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    transcript_file = next(SAMPLES.glob("*-*-*-*-*.jsonl"))
    data = {**sent[1], "transcript_path": str(transcript_file)}
    found = statusline.status(data, prices=PRICES)
    # 20 + 1,325 + 27,136 prompt tokens, 40 output
    assert (found.facts.prompt, found.facts.output) == (28_481, 40)
    now = 1_796_029_700_000
    assert [row.split()[-1] for row in statusline.comparison(found, now).splitlines()[1:]] == ["agree"] * 3
    pending = statusline.status({**sent[2], "transcript_path": str(transcript_file)}, prices=PRICES)
    assert pending.usage == "pending" and pending.facts.prompt == 3_200


KEYS = ["context_window", "current_usage", "context_window_size", "prompt_cache", "expires_at", "ttl", "hit_ratio",
        "misses", "warm", "rate_limits", "five_hour", "used_percentage", "resets_at", "model", "id", *NAMES]  # fmt: skip

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 10**15), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), values, max_size=6))
def test_any_status_gives_one_line(data):
    line = shown(data)
    assert line and "\n" not in line
    statusline.comparison(statusline.status(data, prices=PRICES), NOW)
