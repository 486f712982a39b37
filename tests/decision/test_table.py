"""The table: three outcomes, first match, mistakes told with their line, and the compiled form equal to the source."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from monitor.decision import table as tables
from monitor.decision.specs import SPECS
from monitor.decision.table import TableError, builtin, condition_source, fires, first, sentences, trace
from monitor.decision.table_source import encode, load, parse

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "monitor" / "data" / "decision.yaml"


def one(when: str, **values):
    """Outcome of a single condition."""
    table = parse(f"rows:\n  - id: a\n    action: trim\n    when: {when}\n")
    test = tables.tests_of(table)[0]
    assert test is not None
    return test(values)


@pytest.mark.parametrize(
    ("when", "values", "outcome"),
    [
        ("fill >= 85%", {"fill": 0.85}, True),
        ("fill >= 85%", {"fill": 0.849}, False),
        ("fill >= 85%", {}, None),
        ("fill >= 0.85", {"fill": 0.9}, True),
        ("used > 30k", {"used": 30_001}, True),
        ("used > 30k", {"used": 30_000}, False),
        ("used >= 1.5M", {"used": 1_500_000}, True),
        ("used >= 30,000", {"used": 30_000}, True),
        ("idle_s > 5 min", {"idle_s": 301}, True),
        ("idle_s > 1h", {"idle_s": 3600}, False),
        ("loop", {"loop": True}, True),
        ("loop", {"loop": None}, None),
        ("not loop", {"loop": False}, True),
        ("not loop", {}, None),
        ("cache_state == cold", {"cache_state": "cold"}, True),
        ("cache_state != cold", {"cache_state": "warm"}, True),
        ("fill is unknown", {}, True),
        ("fill is known", {"fill": 0.0}, True),
        ("remaining_calls >= 1.5 * break_even_calls", {"remaining_calls": 15.0, "break_even_calls": 10.0}, True),
        ("remaining_calls >= 1.5 * break_even_calls", {"remaining_calls": 14.0, "break_even_calls": 10.0}, False),
        ("remaining_calls >= break_even_calls", {"remaining_calls": 14.0}, None),
        ("[fill >= 85%, loop]", {"fill": 0.9}, None),
        ("[fill >= 85%, loop]", {"fill": 0.1}, False),  # false whatever the unknown one is
        ("[fill >= 85%, loop]", {"fill": 0.9, "loop": True}, True),
        ("{any: [fill >= 85%, loop]}", {"fill": 0.9}, True),  # true whatever the unknown one is
        ("{any: [fill >= 85%, loop]}", {"fill": 0.1}, None),
        ("{any: [fill >= 85%, loop]}", {"fill": 0.1, "loop": False}, False),
        ("[loop, {any: [fill >= 85%, used > 1k]}]", {"loop": True, "fill": 0.2, "used": 2_000}, True),
    ],
)
def test_a_condition_is_true_false_or_unknown(when, values, outcome):
    assert one(when, **values) is outcome


def test_the_first_row_that_is_true_decides_and_unknown_ones_are_passed():
    table = parse(
        "rows:\n"
        "  - {id: unknown, action: fresh, when: loop}\n"
        "  - {id: false, action: trim, when: fill >= 90%}\n"
        "  - {id: true, action: compact_now, when: fill >= 50%}\n"
        "  - {id: last, action: continue}\n"
    )
    row = first(table, {"fill": 0.6})
    assert row is not None and row.id == "true"
    row = first(table, {})
    assert row is not None and row.id == "last"
    assert fires(table, "last", {"fill": 0.99}) and not fires(table, "unknown", {"fill": 0.99})


def test_a_table_whose_rows_all_stay_silent_advises_nothing():
    assert first(parse("rows:\n  - {id: a, action: trim, when: loop}\n"), {}) is None


MISTAKES = [
    ("rows:\n  - id: a\n    action: trim\n    when: fil >= 85%\n", 4, 'did you mean "fill"'),
    ("rows:\n  - id: a\n    action: compress\n", 3, "expected one of continue, trim"),
    ("rows:\n  - id: a\n    action: compact\n", 3, "no action"),
    (
        "rows:\n  - id: a\n    action: trim\n    when:\n      - loop\n      - fill => 85%\n",
        6,
        "no comparison; expected one of < <=",
    ),
    ("rows:\n  - id: a\n    action: trim\n    when: what is this\n", 4, "no condition"),
    ("rows:\n  - id: a\n    action: trim\n    when: fill >= lots\n", 4, '"lots" is no signal'),
    ("rows:\n  - id: a\n    action: trim\n    when: fill >= 85\n", 4, "expected a share"),
    ("rows:\n  - id: a\n    action: trim\n    when: used >= 85%\n", 4, "per cent"),
    ("rows:\n  - id: a\n    action: trim\n    when: used >= 5 min\n", 4, "for times only"),
    ("rows:\n  - id: a\n    action: trim\n    when: used >= fill\n", 4, "not of one kind"),
    ("rows:\n  - id: a\n    action: trim\n    when: fill\n", 4, "no yes/no signal"),
    ("rows:\n  - id: a\n    action: trim\n    when: cache_state == frozen\n", 4, "warm, cooling, cold"),
    ("rows:\n  - id: a\n    action: trim\n    when: cache_state > cold\n", 4, "== or !="),
    ("rows:\n  - id: a\n    action: trim\n    when: {some: [loop]}\n", 4, '"all:" or "any:"'),
    ("rows:\n  - id: a\n    action: trim\n    when: []\n", 4, "at least one condition"),
    ("rows:\n  - id: a\n    action: trim\n    reasons: ['{fil} full']\n", 4, 'did you mean "fill"'),
    ("rows:\n  - id: a\n    action: trim\n    reasons: ['{fill']\n", 4, '"}"'),
    ("rows:\n  - id: a\n    action: trim\n    sticky: maybe\n", 4, "true or false"),
    ("rows:\n  - id: a\n    action: trim\n    color: red\n", 4, "not known in a row"),
    ("rows:\n  - id: a\n    action: trim\n  - id: a\n    action: trim\n", 4, "used twice"),
    ("rows:\n  - action: trim\n", 2, '"id:"'),
    ("rows: []\n", 1, "at least one row"),
    ("row:\n  - id: a\n", 2, '"rows"'),
    ("- a\n", 1, '"rows:"'),
    ("", None, '"rows:"'),
    ("rows:\n  - id: a\n   action: trim\n", 3, "expected YAML"),
    ("settings:\n  summary_token: 4k\nrows:\n  - {id: a, action: trim}\n", 2, 'did you mean "summary_tokens"'),
    ("settings:\n  summary_tokens: much\nrows:\n  - {id: a, action: trim}\n", 2, "whole number"),
    ("settings:\n  summary_tokens: -4\nrows:\n  - {id: a, action: trim}\n", 2, "not negative"),
    ("settings:\n  hysteresis: {points: x}\nrows:\n  - {id: a, action: trim}\n", 2, "a share"),
    ("settings:\n  quality: {models: {a: 5}}\nrows:\n  - {id: a, action: trim}\n", 2, "[soft, hard]"),
]


@pytest.mark.parametrize(("text", "line", "expected"), MISTAKES)
def test_a_mistake_is_told_with_file_line_and_what_is_expected(text, line, expected):
    with pytest.raises(TableError) as caught:
        parse(text, "mine.yaml")
    error = caught.value
    assert expected in str(error) and error.file == "mine.yaml"
    assert error.line == line or (line is None and error.line == 1)
    assert "mine.yaml" in str(error)


def test_a_table_that_cannot_be_opened_or_read_is_told(tmp_path):
    with pytest.raises(TableError, match="cannot be opened"):
        load(tmp_path / "none.yaml")
    odd = tmp_path / "odd.yaml"
    odd.write_bytes(b"rows:\n - \xff\xfe")
    with pytest.raises(TableError, match="UTF-8"):
        load(odd)


def test_settings_are_read_with_their_units():
    table = parse(
        "settings:\n  summary_tokens: 6k\n  remaining_calls: 30\n  hysteresis: {points: 5%, calls: 3}\n"
        "  quality: {models: {'gpt-4o*': [32k, 64k]}}\nrows:\n  - {id: a, action: trim}\n"
    )
    s = table.settings
    assert (s.summary_tokens, s.remaining_calls, s.hysteresis.points, s.hysteresis.calls) == (6_000, 30, 0.05, 3)
    assert s.caps("gpt-4o-mini", 128_000) == (32_000, 64_000)
    assert s.caps("other", 200_000) == (120_000, 160_000)
    assert s.caps("other", 1_000_000) == (200_000, 400_000) == s.caps("other", None)


def test_the_compiled_table_is_the_source():
    table = parse(SOURCE.read_text(encoding="utf-8"), SOURCE.name)
    assert msgspec.structs.replace(table, name="built-in") == builtin()
    assert Path(tables.PATH).read_bytes().replace(b"\r\n", b"\n") == encode(table)


def test_the_generated_files_are_up_to_date():
    script = ROOT / "scripts" / "build_data.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_page_names_every_row_signal_and_exit_code():
    page = (ROOT / "docs" / "decision.md").read_text(encoding="utf-8")
    assert all(f"### {row.id}\n" in page for row in builtin().rows)
    assert all(f"| `{id}` |" in page for id in SPECS)
    assert "| 13 | NOTES + NEW WINDOW | `notes_new_window` |" in page


def test_conditions_written_out_can_be_read_again():
    for row in builtin().rows:
        for part in () if row.when is None else row.when.all or (row.when,):
            if part.all or part.any:
                continue
            again = parse(f"rows:\n  - id: a\n    action: trim\n    when: {condition_source(part)}\n").rows[0].when
            assert again == part


def test_the_built_in_table_ends_with_a_row_for_everything():
    assert builtin().rows[-1].when is None
    assert first(builtin(), {}) is not None


def test_reasons_are_filled_in_and_left_out_where_a_signal_is_unknown():
    row = parse("rows:\n  - id: a\n    action: trim\n    reasons: ['{fill} used', '{used} tokens', plain]\n").rows[0]
    assert sentences(row, {"fill": 0.864}) == ("86 % used", "plain")
    assert sentences(row, {"fill": 0.5, "used": 142_300}) == ("50 % used", "142,300 tokens", "plain")


def test_a_trace_tells_each_condition_with_the_value_it_saw():
    table = parse(
        "rows:\n  - {id: a, action: trim, when: [fill >= 85%, loop]}\n  - {id: b, action: continue}\n", "mine.yaml"
    )
    rows = trace(table, {"fill": 0.712}, "b")
    assert rows[0].conditions == (("fill 71 % >= 85 %", False), ("loop (–)", None))
    assert [row.fired for row in rows] == [False, True] and rows[1].conditions == (("always", True),)
