"""Keys of what was let go of."""

from __future__ import annotations

from monitor.readers.forgotten import Forgotten, Latest


def test_what_was_put_in_is_known_and_nothing_else() -> None:
    known = Forgotten()
    assert "a" not in known and len(known) == 0
    for begin in range(0, 20_000, 700):
        known.update(f"key {number}" for number in range(begin, min(begin + 700, 20_000)))
    assert len(known) == 20_000
    assert all(f"key {number}" in known for number in range(20_000))
    assert not any(f"other {number}" in known for number in range(20_000))


def test_of_the_latest_entries_nothing_is_lost() -> None:
    held: Latest[int] = Latest()
    for number in range(100):
        held[f"k{number}"] = number
        held.trim(10)
        assert len(held) <= 40
        assert all(f"k{n}" in held for n in range(max(0, number - 9), number + 1))
        assert all(held.knew(f"k{n}") == (f"k{n}" not in held) for n in range(number + 1))
    assert not held.knew("k100")
