"""Where results go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.cli import common


@pytest.mark.parametrize(
    ("pieces", "written"),
    [("", "\n"), ("a", "a\n"), ("a\n", "a\n"), ([], "\n"), (["a", "b"], "ab\n"), (["a\n", ""], "a\n"), (["é"], "é\n")],
)
def test_a_text_ends_with_one_line_feed_whole_or_in_pieces(
    pieces: str | list[str], written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common.write_output(pieces, None)
    assert capsys.readouterr().out == written
    common.write_output(pieces, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == written.encode()


def test_a_fault_between_two_pieces_leaves_the_old_file_and_nothing_beside(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("old", encoding="utf-8")

    def pieces() -> Iterator[str]:
        yield "new"
        raise KeyError("fault")

    with pytest.raises(KeyError):
        common.write_output(pieces(), out)
    assert out.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
