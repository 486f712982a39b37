"""Buckets of whole sessions give what the plain report gives, however the table is cut."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.fleet.run import Request, gather
from monitor.sessions.filter import Wanted
from tests.fleet import help
from tests.fleet.tables import START, Made, make, write_csv, write_ndjson, write_parquet

pytest.importorskip("pyarrow", reason="the extra fleet is not installed")

WRITERS = {"parquet": write_parquet, "csv": write_csv, "ndjson": write_ndjson}


@pytest.fixture(scope="module")
def made() -> Made:
    return make(40)


@pytest.mark.parametrize("buckets", [1, 2, 7, 16])
def test_sums_are_those_of_the_ledger(made: Made, tmp_path: Path, buckets: int) -> None:
    tally = help.report([str(write_parquet(tmp_path / "t", made.rows, 5))], buckets)
    total, ledger = tally.total, made.ledger
    assert tally.sessions == len(ledger.sessions)
    assert total["calls"] == ledger.calls
    assert total["prompt_tokens"] == ledger.prompt
    assert total["fresh_tokens"] == ledger.fresh
    assert total["cache_read_tokens"] == ledger.read
    assert total["cache_write_tokens"] == ledger.write
    assert total["output_tokens"] == ledger.output
    assert total["peak_prompt_tokens"] == ledger.peak
    assert total["compactions"] == total["inferred_compactions"] == ledger.compactions
    assert sum(row["calls"] for row in tally.by_model()) == sum(row["calls"] for row in tally.by_day()) == ledger.calls


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("buckets", [1, 7])
def test_every_figure_of_every_session_is_the_plain_one(made: Made, tmp_path: Path, kind: str, buckets: int) -> None:
    paths = [str(WRITERS[kind](tmp_path / "t", made.rows, 3))]
    help.same(help.by_name(help.plain(paths)), help.by_name(help.bucketed(paths, buckets)))


def test_rows_in_any_order_over_any_files(made: Made, tmp_path: Path) -> None:
    rows = list(made.rows)
    random.Random(5).shuffle(rows)
    paths = [str(write_parquet(tmp_path / "shuffled", rows, 6))]
    ordered = [str(write_parquet(tmp_path / "ordered", made.rows, 1))]
    found = {view.session: (view.sums, view.compactions, view.windows) for view in help.bucketed(paths, 7)}
    assert found == {view.session: (view.sums, view.compactions, view.windows) for view in help.plain(ordered)}


def test_a_row_that_two_exports_hold_counts_once(made: Made, tmp_path: Path) -> None:
    folder = write_parquet(tmp_path / "t", made.rows, 2)
    write_parquet(tmp_path / "more", made.rows[len(made.rows) // 3 :], 1)
    tally = help.report([str(folder), str(tmp_path / "more")], 7)
    assert (tally.total["calls"], tally.total["prompt_tokens"]) == (made.ledger.calls, made.ledger.prompt)


def test_rows_without_a_session_are_formed_by_sender(made: Made, tmp_path: Path) -> None:
    rows = [{**row, "session": None, "id": None} for row in made.rows]
    paths = [str(write_parquet(tmp_path / "t", rows, 3))]
    found = help.bucketed(paths, 7)
    assert {view.evidence for view in found} == {"lane"}
    assert sum(view.sums.calls for view in found) + sum(view.sums.side_calls for view in found) == made.ledger.calls
    help.same(help.by_name(help.plain(paths)), help.by_name(found))


@pytest.mark.parametrize("way", ["file", "lane", "explicit"])
def test_ways_of_forming_sessions(made: Made, tmp_path: Path, way: str) -> None:
    rows = [{**row, "session": None if row["who"] == "team-1" else row["session"]} for row in made.rows]
    paths = [str(write_csv(tmp_path / "t", rows, 3))]
    read = help.options(session_by=way)
    help.same(help.by_name(help.plain(paths, read)), help.by_name(help.bucketed(paths, 7, read)))


def test_failed_calls_are_told_and_not_summed(made: Made, tmp_path: Path) -> None:
    rows = [dict(row) for row in made.rows]
    for row in rows[::10]:
        row.update(fresh=0, read=0, write=0, out=0, status="429")
    tally = help.report([str(write_parquet(tmp_path / "t", rows, 2))], 3)
    failed = len(rows[::10])
    assert tally.total["error_calls"] == failed
    assert tally.total["calls"] == len(rows) - failed
    assert tally.total["prompt_tokens"] == sum(row["fresh"] + row["read"] + row["write"] for row in rows)


def test_one_row_proves_for_its_whole_file_that_prompts_leave_the_cache_out(tmp_path: Path) -> None:
    text = "time: ts\nprompt: fresh\ncached: read\noutput: out\nsession: session\n"
    rows = [{"ts": START + n, "fresh": 1000, "read": 400, "out": 1, "session": "s"} for n in range(4)]
    write_parquet(tmp_path / "t", [*rows, {**rows[0], "ts": START + 9, "read": 5000}], 1, group=1)
    inclusive = tmp_path / "u"
    write_parquet(inclusive, [{**row, "session": "u"} for row in rows], 1)
    read = help.options(text)
    found = help.bucketed([str(tmp_path / "t"), str(inclusive)], 2, read)
    assert {view.session: view.sums.prompt_tokens for view in found} == {"s": 4 * 1400 + 6000, "u": 4 * 1000}


def test_only_what_is_asked_for(made: Made, tmp_path: Path) -> None:
    paths = [str(write_parquet(tmp_path / "t", made.rows, 3))]
    middle = made.rows[len(made.rows) // 2]["ts"]
    for wanted in (
        Wanted(since=middle),
        Wanted(until=middle),
        Wanted(model="gpt*"),
        Wanted(session="session-0007"),
        Wanted(session="session-001"),
    ):
        found = help.bucketed(paths, 7, wanted=wanted)
        help.same(help.by_name(help.plain(paths, wanted=wanted)), help.by_name(found))
    # a name that is also the beginning of others means only itself
    rows = [{**made.rows[0], "session": name, "id": name} for name in ("a", "ab", "abc")]
    paths = [str(write_parquet(tmp_path / "names", rows, 1))]
    assert [view.session for view in help.bucketed(paths, 2, wanted=Wanted(session="a"))] == ["a"]
    assert len(help.bucketed(paths, 2, wanted=Wanted(session="ab"))) == 1


def test_large_files_are_read_in_parts(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.fleet.plan._PART_ROWS", 100)
    rows = [{**row, "ts": None if n % 97 == 0 or n % 100 == 0 else row["ts"]} for n, row in enumerate(made.rows)]
    paths = [str(write_parquet(tmp_path / "t", rows, 2, group=50))]
    help.same(help.by_name(help.plain(paths)), help.by_name(help.bucketed(paths, 7)))


def test_the_folder_is_private_and_goes(made: Made, tmp_path: Path) -> None:
    temp = tmp_path / "temp"
    temp.mkdir()
    request = Request(paths=[str(write_parquet(tmp_path / "t", made.rows, 2))], options=help.options(), temp=str(temp))
    with gather(request) as fleet:
        (folder,) = temp.iterdir()
        if os.name == "posix":
            assert folder.stat().st_mode & 0o077 == 0
        kept = b"".join(path.read_bytes() for path in folder.iterdir())
        assert fleet.calls == made.ledger.calls
    assert b"team-1" not in kept  # who sent a call is kept as a hash only
    assert not list(temp.iterdir())
    with pytest.raises(RuntimeError, match="stopped"), gather(request):
        raise RuntimeError("stopped")
    assert not list(temp.iterdir())


# --- any table -------------------------------------------------------------------------------------------------------
_NUMBER = st.one_of(st.none(), st.integers(-5, 200_000))
_ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "ts": st.one_of(st.none(), st.integers(0, 40).map(lambda n: START + n * 60_000)),
            "model": st.sampled_from([None, "claude-sonnet-4-5", "gpt-5", ""]),
            "fresh": _NUMBER,
            "read": _NUMBER,
            "write": _NUMBER,
            "out": _NUMBER,
            "session": st.sampled_from(["a", "b", "c", "d", "null"]),
            "who": st.none(),
            "id": st.one_of(st.none(), st.integers(0, 30).map(str)),
            "status": st.sampled_from([None, "ok", "500", "error"]),
        }
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=_ROWS, files=st.integers(1, 4), buckets=st.sampled_from([1, 2, 7, 16]))
def test_any_table_in_any_cut(tmp_path_factory: Any, rows: list[dict[str, Any]], files: int, buckets: int) -> None:
    for row in rows:  # an id stands for one call; that one of two sessions owns it is not what this is about
        row["id"] = row["id"] and f"{row['session']}-{row['id']}"
        row["session"] = row["session"] if row["session"] != "null" else "e"
    folder = tmp_path_factory.mktemp("any")
    paths = [str(write_parquet(folder / "t", rows, files, group=7))]
    help.same(help.by_name(help.plain(paths)), help.by_name(help.bucketed(paths, buckets)))
