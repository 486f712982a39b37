from __future__ import annotations

import msgspec

from monitor.readers.column_map import ColumnMap
from monitor.readers.table_calls import CELLS, Maker, cleaners
from monitor.records import Call, Evidence

CELLS_OF_A_ROW = {
    "time": 1_772_359_200_000,
    "model": "m",
    "prompt": 900,
    "cached": 300,
    "cache_write": 100,
    "output": 50,
    "reasoning": 20,
    "session": "s",
    "chain": "agent:x",
    "provider": "p",
    "cost": 0.25,
    "status": "estimated",
    "id": "i",
    "cache_write_1h": 60,
    "duration_ms": 1200,
    "purpose": "compaction",
    "context_limit": 200_000,
    "origin": "o",
    "session_evidence": "chain",
    "source": "codex",
    "exchange": 4,
    "output_is_lower_bound": True,
    "inherited": True,
}


def call(**cells: object) -> Call:
    row = {**CELLS_OF_A_ROW, **cells}
    return Maker("dir/t.csv").call([row.get(name) for name in CELLS], 7, True)


def test_every_cell_has_its_field() -> None:
    assert msgspec.structs.asdict(call()) == {
        "session": "s", "source": "codex", "file": "dir/t.csv", "line": 7, "chain": "agent:x",
        "session_evidence": "chain", "call_id": "i", "key": "i", "time": 1_772_359_200_000, "duration_ms": 1200,
        "provider": "p", "model": "m", "prompt_tokens": 900, "fresh_tokens": 500, "cache_read_tokens": 300,
        "cache_write_tokens": 100, "cache_write_1h_tokens": 60, "output_tokens": 50, "output_is_lower_bound": True,
        "reasoning_tokens": 20, "billed_prompt_tokens": 900, "billed": None, "context_limit": 200_000,
        "usable_limit": None, "cost_usd": 0.25, "status": "estimated", "purpose": "compaction", "exchange": 4,
        "cache_ttl_s": None, "stop": None, "has_bodies": False, "prefix_kept": None, "usage_rule": "table",
        "evidence": None, "inherited": True, "window_id": None, "service_tier": None, "elsewhere": None,
    }  # fmt: skip


def test_a_row_without_session_keeps_what_it_tells() -> None:
    found = call(session=None, session_evidence=None, source=None)
    assert (found.session, found.session_evidence, found.source) == ("t.csv", "file", "table")
    assert found.evidence == Evidence(response_id="i", origin="o")


def test_rows_of_the_same_figures_are_calls_of_their_own() -> None:
    maker = Maker("t.csv")
    row = [CELLS_OF_A_ROW.get(name) if name != "id" else None for name in CELLS]
    assert len({maker.call(row, None, True).key for _ in range(3)}) == 3


def test_there_is_a_cleaner_for_every_cell() -> None:
    assert set(cleaners(ColumnMap())) == set(CELLS)
