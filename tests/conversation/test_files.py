"""Outputs: never over the input, all or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.conversation import ConversationError
from monitor.conversation.files import default_output, write_new


def test_the_default_name() -> None:
    assert default_output("/a/chat.json", "repaired") == Path("/a/chat.repaired.json")
    assert default_output("-", "repaired") == Path("conversation.repaired.json")


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    write_new(out, b"1")
    with pytest.raises(ConversationError, match="exists already"):
        write_new(out, b"2")
    assert out.read_bytes() == b"1"
    write_new(out, b"2", force=True)
    assert out.read_bytes() == b"2"
    with pytest.raises(ConversationError, match="is the input"):
        write_new(out, b"3", source=out, force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ConversationError, match="No space left"):
        write_new(tmp_path / "out.json", b"1")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ConversationError, match="cannot be written"):
        write_new(tmp_path / "no" / "out.json", b"1")
