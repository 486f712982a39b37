"""A column cleaned at once holds what every single value would become."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.fleet.cells import Table, tidy
from monitor.fleet.plan import Plan, parts_of
from monitor.fleet.shuffle import split
from monitor.readers.base import ReadOptions
from monitor.readers.column_map import ColumnMap, parse_map
from monitor.readers.table_calls import CELLS, cleaners
from monitor.records import Problem
from monitor.sessions.build import Settings
from tests.fleet import help

pa = pytest.importorskip("pyarrow", reason="the extra fleet is not installed")

_LAST = dt.datetime(9000, 1, 1)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int64": st.integers(-(2**40), 2**53),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "double": st.floats(allow_nan=True, allow_infinity=True),
    "string": st.one_of(st.text(max_size=8), st.sampled_from(["12", " 1,200 ", "none", "NaN", "main", "true", "4 s"])),
    "bool": st.booleans(),
    "timestamp[s]": st.datetimes(dt.datetime(1960, 1, 1), _LAST).map(lambda t: t.replace(microsecond=0)),
    "timestamp[ms]": st.datetimes(dt.datetime(1960, 1, 1), _LAST).map(lambda t: t.replace(microsecond=5000)),
    "timestamp[us]": st.datetimes(dt.datetime(1960, 1, 1), _LAST),
    "timestamp[ns]": st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1)),
}


@settings(max_examples=300)
@given(data=st.data(), kind=st.sampled_from(sorted(VALUES)), cell=st.sampled_from(CELLS))
def test_a_column_is_its_values(data: st.DataObject, kind: str, cell: str) -> None:
    values = data.draw(st.lists(st.one_of(st.none(), VALUES[kind]), max_size=6))
    array = pa.array(values, pa.type_for_alias(kind))
    clean = cleaners(ColumnMap())[cell]
    one_by_one = [clean(value) for value in array.to_pylist()]
    if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in one_by_one):
        return
    assert tidy(cell, array, clean).to_pylist() == one_by_one


def test_dictionaries_and_large_strings() -> None:
    clean = cleaners(ColumnMap())
    words = ["GPT-5 ", None, "none", "GPT-5 "]
    for array in (pa.array(words).dictionary_encode(), pa.array(words, pa.large_string())):
        assert tidy("model", array, clean["model"]).to_pylist() == ["GPT-5", None, None, "GPT-5"]
    told = tidy("origin", pa.array(["key", None]), clean["origin"]).to_pylist()
    assert None not in told and "key" not in told and told[0] != told[1]


def test_zones_of_times() -> None:
    zone = pa.array([dt.datetime(2026, 3, 1, 10, tzinfo=dt.UTC)], pa.timestamp("us", "Asia/Tokyo"))
    plain = pa.array([dt.datetime(2026, 3, 1, 10)], pa.timestamp("ms"))
    clean = cleaners(ColumnMap())["time"]
    assert tidy("time", zone, clean).to_pylist() == tidy("time", plain, clean).to_pylist() == [1_772_359_200_000]


def one_table(tmp_path: Path, data: bytes, name: str, text: str) -> list[str]:
    (tmp_path / name).write_bytes(data)
    return [str(tmp_path / name)]


NESTED = "time: t\nprompt: usage.in\ncached: usage.hit\noutput: usage.out\nsession: meta.sid\n"


def test_paths_into_objects(tmp_path: Path) -> None:
    from pyarrow import parquet

    rows = [{"t": 1_772_359_200 + 60 * n, "usage": {"in": 900 + n, "hit": 100, "out": 5}, "meta": {"sid": "s1"}}
            for n in range(6)]  # fmt: skip
    read = help.options(NESTED)
    lines = one_table(tmp_path, b"\n".join(json.dumps(row).encode() for row in rows), "a.jsonl", NESTED)
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for paths in (lines, [str(tmp_path / "a.parquet")]):
        (view,) = help.bucketed(paths, 2, read)
        assert (view.session, view.sums.calls, view.sums.prompt_tokens) == ("s1", 6, sum(900 + n for n in range(6)))
        help.same(help.by_name(help.plain(paths, read)), help.by_name([view]))


def test_rows_inside_lines(tmp_path: Path) -> None:
    lines = [json.dumps({"page": {"list": [{"p": 10 * n, "s": "a"}, {"p": 1, "s": "b"}]}}) for n in range(1, 4)]
    text = "prompt: p\nsession: s\nrows: page.list\n"
    paths = one_table(tmp_path, "\n".join(lines).encode(), "a.jsonl", text)
    found = {view.session: view.sums.prompt_tokens for view in help.bucketed(paths, 2, help.options(text))}
    assert found == {"a": 60, "b": 3}  # equal rows without an id and a time are still calls of their own


def test_our_own_tables(tmp_path: Path) -> None:
    head = ("session,session_evidence,chain,time,source,provider,model,prompt_tokens,cache_read_tokens,"
            "cache_write_tokens,output_tokens,output_is_lower_bound,cost_usd,cost_source,status,purpose,exchange,call_id")  # fmt: skip
    rows = [
        "s,explicit,main,2026-03-01T10:00:00Z,claude-code,anthropic,claude-sonnet-4-5,9000,0,8000,50,false,0.5,logged,ok,work,1,m1",
        "s,explicit,main,2026-03-01T10:01:00Z,claude-code,anthropic,claude-sonnet-4-5,9900,9000,800,60,true,0.7,table,ok,work,1,m2",
        "s,explicit,agent:x,2026-03-01T10:02:00Z,claude-code,anthropic,claude-sonnet-4-5,5000,0,4000,60,false,,,ok,work,,m3",
        "s,explicit,side,2026-03-01T10:03:00Z,claude-code,anthropic,claude-haiku-4-5,500,0,0,6,false,,,ok,side,,m4",
    ]
    (tmp_path / "own.csv").write_text("\n".join([head, *rows]), encoding="utf-8")
    paths = [str(tmp_path / "own.csv")]
    (view,) = help.bucketed(paths, 3, ReadOptions())
    assert (view.source, view.sums.calls, view.sums.side_calls, view.sums.prompt_tokens) == (
        "claude-code",
        3,
        1,
        23_900,
    )
    assert view.sums.output_is_lower_bound
    assert view.turns[0].cost_source == "logged" and view.turns[0].cost_usd == 0.5
    assert view.turns[1].cost_source == "table"
    help.same(help.by_name(help.plain(paths, ReadOptions())), help.by_name([view]))


def problems_of(paths: list[str], text: str) -> tuple[int, list[Problem]]:
    found: list[Problem] = []
    options = help.options(text)
    parts, _ = parts_of(paths, options, found)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(parts=parts, buckets=2, folder=folder, options=options, settings=Settings())
        done = [split(plan, part) for part in parts]
    return sum(part.calls for part in done), [*found, *(problem for part in done for problem in part.problems)]


def test_what_a_table_lacks_is_said(tmp_path: Path) -> None:
    text = "time: when\nprompt: p\nmodel: m\n"
    lines = b"when,p\nsoon,5\n2026-03-01,6\n"
    calls, told = problems_of(one_table(tmp_path, lines, "a.csv", text), text)
    assert calls == 2
    assert [(problem.line, problem.reason) for problem in told] == [
        (2, "the time of this row cannot be read; the row counts, without a time"),
        (None, "the table has no column 'm', which the map names for 'model'"),
    ]


def test_unreadable_times_are_told_a_few_times_only(tmp_path: Path) -> None:
    text = "time: when\nprompt: p\n"
    lines = b"when,p\n" + b"never,5\n" * 100
    calls, told = problems_of(one_table(tmp_path, lines, "a.csv", text), text)
    assert (calls, len(told)) == (100, 20)


def test_a_parquet_file_that_is_cut_off_is_said(tmp_path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(pa.table({"p": list(range(1000))}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "b.csv").write_text("p,m\n7,x\n", encoding="utf-8")
    calls, told = problems_of([str(tmp_path)], "prompt: p\n")
    assert calls == 1
    assert [(Path(problem.file).name, "damaged" in problem.reason) for problem in told] == [("a.parquet", True)]


def test_batches_join_where_they_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.fleet.cells.ROWS", 7)
    text = "time: t\nprompt: p\nsession: s\n"
    lines = "t,p,s\n" + "".join(f"{1_772_359_200 + 60 * n},{900 + n},s{n % 3}\n" for n in range(50))
    paths = one_table(tmp_path, lines.encode(), "a.csv", text)
    found = help.bucketed(paths, 2, help.options(text))
    assert sum(view.sums.prompt_tokens or 0 for view in found) == sum(900 + n for n in range(50))
    help.same(help.by_name(help.plain(paths, help.options(text))), help.by_name(found))


def test_a_map_is_sent_to_workers_as_it_is() -> None:
    import pickle

    plan = Plan(parts=[], buckets=1, folder="x", options=ReadOptions(map=parse_map("prompt: p\n")), settings=Settings())
    again = pickle.loads(pickle.dumps(plan))
    assert (again.map, again.wanted) == (plan.map, plan.wanted)
    assert Table(Path("t.csv"), "t.csv", again.map, lambda line, why: None).map.columns == {"prompt": "p"}


def test_what_is_said_of_files_without_calls_is_what_the_plain_report_says(tmp_path: Path) -> None:
    from pyarrow import parquet

    from monitor.fleet.run import Request, gather
    from monitor.sessions.load import Request as PlainRequest
    from monitor.sessions.load import load

    text = "time: t\nprompt: p\noutput: o\nstatus: s\n"
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    (tmp_path / "head.csv").write_text("t,p,o,s\n", encoding="utf-8")
    (tmp_path / "none.csv").write_text("t,p,o,s\n2026-03-01,,,ok\n2026-03-02,,,ok\n", encoding="utf-8")
    (tmp_path / "refused.csv").write_text("t,p,o,s\n2026-03-01,0,0,429\n", encoding="utf-8")
    (tmp_path / "zeros.csv").write_text("t,p,o,s\n2026-03-01,0,0,ok\n", encoding="utf-8")
    (tmp_path / "good.csv").write_text("t,p,o,s\n2026-03-01,5,1,ok\n2026-03-01,0,0,429\n", encoding="utf-8")
    parquet.write_table(pa.table({"p": pa.array([], pa.int64())}), tmp_path / "rows.parquet")
    (tmp_path / "log.jsonl").write_bytes(b'{"type":"x"}\n{"type":"y"}\n')
    read = help.options(text)
    plain = load(PlainRequest(paths=[str(tmp_path)], options=read))
    with gather(Request(paths=[str(tmp_path)], options=read, buckets=3)) as fleet:
        found = fleet.tally(help.Views)
        told = {(problem.file, problem.reason) for problem in fleet.problems if problem.line is None}
    assert told == {(p.file, p.reason) for p in plain.problems if p.line is None}  # type: ignore[attr-defined]
    files = {Path(file).name for view in found.views for file in view.files}
    assert files == {"good.csv", "zeros.csv"}
    assert sum(view.sums.calls for view in found.views) == 2
    assert sum(view.sums.error_calls for view in found.views) == 1
