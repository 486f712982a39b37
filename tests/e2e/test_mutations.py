"""Logs and conversations with values that nobody expects: whatever they hold, no command ends with a fault of its own.

The mutations are the same on every run. ``CTXMON_EXPLORE=1`` draws other ones, and more of them.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest

from monitor.cli import main
from monitor.decision import decide
from monitor.pricing import PriceTable
from monitor.readers.base import ReadOptions
from monitor.reports import report_json, report_text
from monitor.sessions.build import Settings
from monitor.sessions.load import Request, load

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
EXPLORE = bool(os.environ.get("CTXMON_EXPLORE"))
ROUNDS = 2_000 if EXPLORE else 150
NOW = 1_790_000_000_000
ODD = [b"null", b"-1", b'"x"', b"[]", b"{}", b"1e400", b"true", b'""', b"99999999999999999999", b"0.5", b"[null]",
       b'{"a":1}', b"NaN", b'"2026-13-45T99:99:99Z"', b'"\\ud83d"', b'"\xff"', b"[[[[1]]]]"]  # fmt: skip
VALUE = re.compile(rb':\s*("(?:[^"\\]|\\.){0,60}"|-?\d+(?:\.\d+)?|null|true|false)')


def material(*folders: Path) -> list[Path]:
    """Files of a size that is quickly read."""
    found = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    own = {".md", ".py", ".png", ".sqlite", ".db"}
    labels = re.compile(r"expected?\.json|.*\.gold\.json")
    return [p for p in found if p.suffix not in own and not labels.fullmatch(p.name) and p.stat().st_size < 200_000]


LOGS = material(ROOT / "sample_logs", SHARED / "cases", SHARED / "samples" / "public_fixtures")
CHATS = material(SHARED / "compaction" / "valid", SHARED / "compaction" / "invalid") or LOGS


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Some values replaced, lines moved or repeated, bytes put in, the end cut off."""
    for _ in range(chance.randint(1, 4)):
        how = chance.randint(0, 7)
        lines = data.split(b"\n")
        if how == 0:
            data = data[: chance.randint(0, len(data))]
        elif how == 1:
            chance.shuffle(lines)
            data = b"\n".join(lines)
        elif how == 2:
            lines.insert(chance.randint(0, len(lines)), chance.choice(lines))
            data = b"\n".join(lines)
        elif how == 3:
            at = chance.randint(0, len(data))
            data = data[:at] + chance.randbytes(chance.randint(1, 5)) + data[at:]
        elif places := list(VALUE.finditer(data)):
            place = chance.choice(places)
            data = data[: place.start(1)] + chance.choice(ODD) + data[place.end(1) :]
    return data


def chance_of(seed: int) -> random.Random:
    return random.Random(None if EXPLORE else seed)


@pytest.mark.parametrize("seed", range(6))
def test_logs(seed: int, tmp_path: Path) -> None:
    chance, prices = chance_of(seed), PriceTable.load()
    for _ in range(ROUNDS):
        original = chance.choice(LOGS)
        file = tmp_path / original.name
        file.write_bytes(mutated(original.read_bytes(), chance))
        options = ReadOptions(detail=chance.random() < 0.3)
        found = load(Request(paths=[str(tmp_path)], settings=Settings(prices=prices), options=options))
        decisions = {view.session: decide(view, now_ms=NOW, prices=prices) for view in found.sessions}
        assert "".join(report_json.pieces(found, decisions, NOW)).startswith('{"schema"')
        assert report_text.text(found, decisions, NOW, out=None, zone="UTC")
        file.unlink()


@pytest.mark.parametrize("seed", range(6))
def test_conversations(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = chance_of(1_000 + seed)
    for number in range(ROUNDS // 3):
        original = chance.choice(CHATS)
        file = tmp_path / original.name
        file.write_bytes(mutated(original.read_bytes(), chance))
        out = str(tmp_path / f"out{number}")
        for command in (["check", str(file)], ["compact", str(file), "-o", out], ["show", str(file)]):
            main(command)
            assert "a fault of the program" not in capsys.readouterr().err, (original, command)
        file.unlink()
