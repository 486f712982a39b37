"""Forks of Codex that name a line of their parent instead of copying its lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor import conversation
from monitor.compaction.options import Options
from monitor.compaction.strategies import apply

PARENT, CHILD, GRANDCHILD = (f"01a2{n}000-0000-7000-8000-00000000000{n}" for n in (1, 2, 3))


def said(ordinal: int, role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": "2026-06-02T10:00:00.000Z", "ordinal": ordinal, "type": "response_item", "payload": item}


def session(folder: Path, thread: str, first: int, rows: list[dict[str, Any]], **fork: Any) -> Path:
    meta = {"id": thread, "timestamp": "2026-06-02T10:00:00.000Z", "cwd": "/home/dev/shop", "originator": "x",
            "cli_version": "0.171.0", **fork}  # fmt: skip
    head = {"timestamp": "2026-06-02T10:00:00.000Z", "ordinal": first, "type": "session_meta", "payload": meta}
    path = folder / f"rollout-2026-06-02T10-00-00-{thread}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in (head, *rows)), encoding="utf-8")
    return path


def family(root: Path) -> Path:
    session(root / "sessions/2026/06/01", PARENT, 0, [
        said(1, "user", "Port it. Do not change pay.py."), said(2, "assistant", "Ported."),
        said(3, "user", "Said after the fork.")])  # fmt: skip
    session(root / "sessions/2026/06/02", CHILD, 3, [said(4, "user", "Write tests."), said(5, "assistant", "Written.")],
            forked_from_id=PARENT, forked_from_ordinal_exclusive=3)  # fmt: skip
    return session(root / "sessions/2026/06/03", GRANDCHILD, 6, [said(7, "user", "Run them."), said(8, "assistant", "ok")],
                   forked_from_id=CHILD, forked_from_ordinal_exclusive=6)  # fmt: skip


def test_what_the_parents_said_is_part_of_the_conversation(tmp_path: Path) -> None:
    path = family(tmp_path)
    conv = conversation.load(path)
    assert [m.text for m in conv.messages] == ["Port it. Do not change pay.py.", "Ported.", "Write tests.", "Written.",
                                               "Run them.", "ok"]  # fmt: skip
    assert conversation.dump(conv) == path.read_bytes()


def test_a_compaction_holds_it_and_stands_alone(tmp_path: Path) -> None:
    done, _ = apply(conversation.load(family(tmp_path)), Options(keep_exchanges=0), refuse=False)
    assert done.output is not None and done.summary is not None and "Do not change pay.py" in done.summary.text
    head = done.output.lines[0].obj
    assert head is not None and "forked_from_ordinal_exclusive" not in head["payload"]
    assert sum("goes on from" in note for note in done.notes) == 1


def test_a_file_that_is_only_rewritten_keeps_to_its_own_lines(tmp_path: Path) -> None:
    conv = conversation.load(family(tmp_path))
    changed = conv.with_messages([*conv.messages[:-1], conv.new_message("assistant", "They pass.")])
    rows = [json.loads(line) for line in conversation.dump(changed).splitlines()]
    assert rows[0]["payload"]["forked_from_ordinal_exclusive"] == 6
    texts = [row["payload"]["content"][0]["text"] for row in rows if row["type"] == "response_item"]
    assert texts == ["Run them.", "They pass."]


def test_a_parent_that_is_not_here_is_told(tmp_path: Path) -> None:
    path = family(tmp_path)
    next((tmp_path / "sessions/2026/06/01").iterdir()).unlink()
    conv = conversation.load(path)
    assert [m.text for m in conv.messages] == ["Write tests.", "Written.", "Run them.", "ok"]
    assert "not known" in conv.notes[0]
    # the name of a parent is no path
    odd = session(tmp_path / "sessions", PARENT, 3, [said(4, "user", "Hi")], forked_from_id="../../etc",
                  forked_from_ordinal_exclusive=3)  # fmt: skip
    assert [m.text for m in conversation.load(odd).messages] == ["Hi"]


def test_a_parent_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read = family(tmp_path), Path.read_bytes

    def refused(self: Path) -> bytes:
        if PARENT in self.name:
            raise PermissionError(13, "Permission denied", str(self))
        return read(self)

    monkeypatch.setattr(Path, "read_bytes", refused)
    conv = conversation.load(path)
    assert [m.text for m in conv.messages] == ["Write tests.", "Written.", "Run them.", "ok"]
    assert "not known" in conv.notes[0]
