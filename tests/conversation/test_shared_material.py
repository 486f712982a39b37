"""The published conversations beside the checkout, where they are: codes, round trips, repairs judged from outside.

Their expectations and their validator share no code with this program.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.conversation import ConversationError, dump, load
from monitor.conversation.repair import repair
from monitor.conversation.rules import check

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
COMPACTION = SHARED / "compaction"
HERE = COMPACTION.is_dir()
skip = pytest.mark.skipif(not HERE, reason="../shared/compaction is not here")


def cases() -> list[tuple[str, str]]:
    out = []
    for folder in ("invalid", "valid") if HERE else ():
        out += [(folder, name) for name in json.loads((COMPACTION / folder / "expected.json").read_text("utf-8"))]
    return out or [("", "")]


def options_of(folder: str, name: str) -> dict[str, object]:
    expected: dict[str, object] = json.loads((COMPACTION / folder / "expected.json").read_text("utf-8"))[name]
    return expected


@skip
@pytest.mark.parametrize(("folder", "name"), cases())
def test_codes(folder: str, name: str) -> None:
    expected = options_of(folder, name)
    conv = load(COMPACTION / folder / name, expected.get("provider"))  # type: ignore[arg-type]
    found = check(conv, **expected.get("options", {}))  # type: ignore[arg-type]
    assert sorted({v.code for v in found}) == expected["codes"]


@skip
@pytest.mark.parametrize("name", [n for f, n in cases() if f == "invalid"] or [""])
def test_repaired_copies_pass_the_other_validator(name: str, tmp_path: Path) -> None:
    expected = options_of("invalid", name)
    options = dict(expected.get("options", {}))  # type: ignore[call-overload]
    conv = load(COMPACTION / "invalid" / name, expected.get("provider"))  # type: ignore[arg-type]
    new, _ = repair(conv, check(conv, **options), **options)
    if name.startswith(("10-", "25-")):
        pytest.skip("a user message or less text cannot be made up")
    out = tmp_path / name
    out.write_bytes(dump(new))
    command = [sys.executable, str(COMPACTION / "validate.py"), str(out), "--quiet"]
    if options.get("strict_roles"):
        command.append("--strict-roles")
    if expected.get("provider"):
        command += ["--provider", str(expected["provider"])]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout


@skip
def test_sessions_and_conversations_are_written_back_as_they_were() -> None:
    files = [*COMPACTION.glob("gold/*"), *(SHARED / "samples").rglob("*.json*")]
    read = 0
    for file in files:
        if file.name == "expected.json" or file.name.endswith(".gold.json"):
            continue
        try:
            conv = load(file)
        except ConversationError:
            continue
        if conv.container:
            continue
        read += 1
        assert dump(conv) == file.read_bytes(), file.name
        if not conv.handler.jsonl:
            shorter = conv.with_messages(conv.messages[:-1])
            assert [m.raw for m in shorter.messages] == [m.raw for m in conv.messages[:-1]]
    assert read >= 40
