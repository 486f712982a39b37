"""The logs in sample_logs/ are small, clean and say what their expected.json says.

The figures are counted here with a few lines per format, without ctxmon.
"""

import itertools
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "sample_logs"
FILES = sorted(f for f in ROOT.rglob("*") if f.is_file())
EXPECTED = json.loads((ROOT / "expected.json").read_text(encoding="utf-8"))["sources"]
SUMS = ("prompt_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")


def rows(path):
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def only(pattern):
    found = list(ROOT.glob(pattern))
    assert len(found) == 1, pattern
    return found[0]


def claude_calls(path):
    """(prompt, read, write, output) by message id; the output of a streamed call is its largest."""
    calls = {}
    for r in rows(path):
        if r["type"] == "assistant":
            u = r["message"]["usage"]
            read, write = u["cache_read_input_tokens"], u["cache_creation_input_tokens"]
            out = max(u["output_tokens"], calls.get(r["message"]["id"], (0, 0, 0, 0))[3])
            calls[r["message"]["id"]] = (u["input_tokens"] + read + write, read, write, out)
    return list(calls.values())


def codex_calls(path):
    usages = [r["payload"]["usage"] for r in rows(path) if r["type"] == "token_usage_record"]
    keys = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    return [tuple(u[k] for k in keys) for u in usages]


def pi_calls(path):
    messages = [r["message"] for r in rows(path) if r["type"] == "message"]
    usages = [m["usage"] for m in messages if m["role"] == "assistant"]
    return [
        (u["input"] + u["cacheRead"] + u["cacheWrite"], u["cacheRead"], u["cacheWrite"], u["output"]) for u in usages
    ]


def new_api_calls(path):
    calls = []
    for item in reversed(json.loads(path.read_text(encoding="utf-8"))["data"]["items"]):
        if item["type"] == 2:
            other = json.loads(item["other"])
            read, write = other["cache_tokens"], other["cache_creation_tokens"]
            calls.append((item["prompt_tokens"] + read + write, read, write, item["completion_tokens"]))
    return calls


def litellm_calls(path):
    usages = [r["metadata"]["usage_object"] for r in rows(path)]
    return [
        (u["prompt_tokens"], u["prompt_tokens_details"]["cached_tokens"], 0, u["completion_tokens"]) for u in usages
    ]


def counted():
    main, agent = only("claude-code/projects/*/*.jsonl"), only("claude-code/projects/*/*/subagents/*.jsonl")
    return {
        "claude-code": claude_calls(main) + claude_calls(agent),
        "codex": codex_calls(only("codex/sessions/*/*/*/*.jsonl")),
        "pi": pi_calls(only("pi/sessions/*/*.jsonl")),
        "litellm": litellm_calls(only("litellm/*.jsonl")),
        "new-api": new_api_calls(only("new-api/log.json")),
    }


def test_small_enough_to_ship():
    assert sum(f.stat().st_size for f in FILES) < 3_000_000


@pytest.mark.parametrize("path", FILES, ids=lambda f: f.relative_to(ROOT).as_posix()[-50:])
def test_no_foreign_path_secret_or_vendor_text(path):
    text = path.read_text(encoding="utf-8")
    places = set(re.findall(r"(?<![\w<.])/(?:home/\w+|opt|work|root|tmp|usr|var|Users|mnt)\b", text))
    assert places <= {"/home/dev"}
    assert not re.search(r"\bsk-[\w-]{8}|x-api-key|[Bb]earer |127\.0\.0\.1|localhost|rig-home", text)
    assert not re.search(r"You are (?:an?|Claude|Codex)\b|IMPORTANT: |Today's date|noreply@", text)


@pytest.mark.parametrize("source", sorted(set(EXPECTED) - {"."}))
def test_expected_json_agrees_with_the_raw_files(source):
    calls, want = counted()[source], EXPECTED[source]
    assert len(calls) == want["calls"] == sum(want["by_purpose"].values())
    assert {name: sum(c[i] for c in calls) for i, name in enumerate(SUMS)} == {name: want[name] for name in SUMS}
    assert want["prompt_tokens"] == want["fresh_tokens"] + want["cache_read_tokens"] + want["cache_write_tokens"]
    series = [n for prompts in want["prompt_series"].values() for n in prompts]
    assert len(series) == want["by_purpose"]["work"] and max(series) == want["peak_prompt_tokens"]
    for name in set(want["chains"]):
        assert len(next(v for k, v in want["prompt_series"].items() if k.endswith(f"|{name}"))) == want["chains"][name]
        assert sum(want["cache_outcomes"][name].values()) == want["chains"][name]


def test_every_source_is_counted():
    assert set(counted()) | {"."} == set(EXPECTED)
    for name in ("calls", *SUMS):
        assert EXPECTED["."][name] == sum(v[name] for k, v in EXPECTED.items() if k != ".")


def test_compactions_stand_in_the_logs_as_expected_says():
    claude = [
        r["compactMetadata"]["preTokens"]
        for r in rows(only("claude-code/projects/*/*.jsonl"))
        if r.get("subtype") == "compact_boundary"
    ]
    codex = [r for r in rows(only("codex/sessions/*/*/*/*.jsonl")) if r["type"] == "compacted"]
    pi = [r["tokensBefore"] for r in rows(only("pi/sessions/*/*.jsonl")) if r["type"] == "compaction"]
    assert claude == [c["recorded_before"] for c in EXPECTED["claude-code"]["compactions"]]
    assert pi == [c["recorded_before"] for c in EXPECTED["pi"]["compactions"]]
    assert len(codex) == len(EXPECTED["codex"]["compactions"])
    assert len(claude) + len(codex) + len(pi) >= 2
    for want in (EXPECTED["claude-code"], EXPECTED["codex"], EXPECTED["pi"]):
        series = next(v for k, v in want["prompt_series"].items() if k.endswith("|main"))
        steps = set(itertools.pairwise(series))
        assert all((c["tokens_before"], c["tokens_after"]) in steps for c in want["compactions"])


def test_a_cache_miss_by_a_break():
    calls = claude_calls(only("claude-code/projects/*/*.jsonl"))
    cold = [i for i in range(1, len(calls)) if calls[i][1] <= 0.05 * calls[i - 1][0]]
    assert len(cold) == EXPECTED["claude-code"]["cache_misses"]["expired"] >= 1


def test_readme_names_every_file_and_its_figures():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for f in FILES:
        assert f.name == "README.md" or f"`{f.relative_to(ROOT).as_posix()}`" in text
    for want in EXPECTED.values():
        assert f"{want['prompt_tokens']:,}" in text


@pytest.fixture
def redactor(monkeypatch):
    """The scripts' redactor for a run of 100 s whose second half began after a pause of one hour."""
    monkeypatch.syspath_prepend(str(ROOT.parent / "scripts"))
    from sample_logs_redact import Redactor

    begin = 1_796_000_000.0
    yield Redactor(
        ["Write the tests.", "def f():\n    return 1"],
        [("/srv/real/shop", "/home/dev/shop")],
        (begin, begin + 100),
        lambda t: t + (3600 if t >= begin + 50 else 0),
    )
    for name in [m for m in sys.modules if m.startswith("sample_logs_")]:
        del sys.modules[name]


def test_own_text_stays_and_other_text_becomes_filler(redactor):
    assert redactor.text("Write the tests.") == "Write the tests."
    assert redactor.text("     7\t    return 1") == "     7\t    return 1"
    assert redactor.text("You are an agent.\ndef f():") == "xxx xxx xx xxxxx.\ndef f():"
    assert redactor.text("Look in /srv/real/shop <b>now</b>") == "xxxx xx /home/dev/shop <b>xxx</b>"


def test_times_of_the_run_move_with_its_pauses(redactor):
    assert redactor.apply({"at": 1_796_000_060, "ms": 1_796_000_060_000, "n": 12_345, "early": 1_796_000_010}) == {
        "at": 1_796_003_660,
        "ms": 1_796_003_660_000,
        "n": 12_345,
        "early": 1_796_000_010,
    }
    assert redactor.text("2026-11-30T00:54:20.500Z") == "2026-11-30T01:54:20.500Z"
    assert redactor.text("2020-01-01T00:00:00.000Z") == "2020-01-01T00:00:00.000Z"
