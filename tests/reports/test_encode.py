"""Texts in pieces."""

from __future__ import annotations

import json
from itertools import chain

from monitor.reports.encode import listed


def test_many_values_come_in_pieces_that_make_one_document() -> None:
    values = [{"n": n} for n in range(250)]
    pieces = list(listed(iter(values), ","))
    assert len(pieces) == 3  # of a hundred each
    assert json.loads("[" + "".join(pieces) + "]") == values


def test_pieces_are_made_when_they_are_asked_for() -> None:
    seen: list[int] = []

    def made() -> object:
        for n in range(1_000):
            seen.append(n)
            yield n

    next(listed(made(), "\n"))  # type: ignore[arg-type]
    assert len(seen) < 200


def test_no_values_are_no_piece() -> None:
    assert list(listed([], ",")) == []
    assert "".join(chain(["["], listed([], ","), ["]"])) == "[]"
