"""Call tables for tests, with a ledger: what is in them is known from how they were made, not from the program."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START = 1_767_261_600_000  # 2026-01-01T10:00:00Z
MAP = """time: ts
model: model
fresh: fresh
cached: read
cache_write: write
output: out
session: session
origin: who
id: id
status: status
time_unit: ms
input_includes_cached: false
"""
COLUMNS = ("ts", "model", "fresh", "read", "write", "out", "session", "who", "id", "status")
MODELS = ("claude-sonnet-4-5", "gpt-5-codex", "a-model-nobody-priced")


@dataclass
class Ledger:
    """What was put into a table. Sums are over calls that were answered, each once."""

    calls: int = 0
    errors: int = 0
    fresh: int = 0
    read: int = 0
    write: int = 0
    output: int = 0
    compactions: int = 0
    peak: int = 0
    sessions: set[str] = field(default_factory=set)

    @property
    def prompt(self) -> int:
        return self.fresh + self.read + self.write


@dataclass
class Made:
    """Rows in the order of time, as a gateway writes them, and their ledger."""

    rows: list[dict[str, Any]]
    ledger: Ledger


def make(sessions: int, seed: int = 1, most: int = 60) -> Made:
    """Sessions that overlap in time; the context grows and is compacted to a fifth now and then."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = []
    ledger = Ledger()
    for number in range(sessions):
        name, model = f"session-{number:04d}", MODELS[number % 3]
        time = START + draw.randrange(5 * 86_400_000)
        prompt, before = draw.randrange(12_000, 20_000), 0
        ledger.sessions.add(name)
        for n in range(draw.randrange(2, most)):
            fresh = draw.randrange(5, 50)
            read = min(before, prompt - fresh) if draw.random() > 0.05 else 0
            row = {"ts": time, "model": model, "fresh": fresh, "read": read, "write": prompt - fresh - read,
                   "out": draw.randrange(10, 900), "session": name, "who": f"team-{number % 5}",
                   "id": f"{name}-call-{n}", "status": "200"}  # fmt: skip
            rows.append(row)
            ledger.calls += 1
            ledger.fresh += fresh
            ledger.read += read
            ledger.write += row["write"]
            ledger.output += row["out"]
            ledger.peak = max(ledger.peak, prompt)
            before = prompt
            time += draw.randrange(2_000, 90_000)
            prompt += draw.randrange(300, 4_000)
            if prompt > 60_000:
                # far below 0.7 of before and more than 4,000 tokens less, with a cold cache: a compaction
                prompt, before = prompt // 5, 0
                if n + 1 < most:
                    ledger.compactions += 1
        if before == 0 and prompt < 20_000 and rows[-1]["session"] == name:
            ledger.compactions -= 1  # announced by the drop, but no call followed
    rows.sort(key=lambda row: row["ts"])
    return Made(rows, ledger)


def write_parquet(folder: Path, rows: list[dict[str, Any]], files: int, group: int = 200) -> Path:
    """Rows in so many files, in the order given."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(parts(rows, files)):
        table = pa.table({name: [row.get(name) for row in part] for name in COLUMNS})
        parquet.write_table(table, folder / f"part-{number:02d}.parquet", row_group_size=group)
    return folder


def write_csv(folder: Path, rows: list[dict[str, Any]], files: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(parts(rows, files)):
        with (folder / f"part-{number:02d}.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, COLUMNS)
            writer.writeheader()
            writer.writerows({name: "" if row.get(name) is None else row[name] for name in COLUMNS} for row in part)
    return folder


def write_ndjson(folder: Path, rows: list[dict[str, Any]], files: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(parts(rows, files)):
        lines = (json.dumps({name: row.get(name) for name in COLUMNS}) for row in part)
        (folder / f"part-{number:02d}.ndjson").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def parts(rows: list[dict[str, Any]], files: int) -> list[list[dict[str, Any]]]:
    return [rows[len(rows) * n // files : len(rows) * (n + 1) // files] for n in range(files)]


def write_map(folder: Path, text: str = MAP) -> Path:
    path = folder / "map.yaml"
    path.write_text(text, encoding="utf-8")
    return path
