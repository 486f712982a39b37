"""Keys of what was let go of."""

from __future__ import annotations

from monitor.readers.forgotten import Forgotten


def test_what_was_put_in_is_known_and_nothing_else() -> None:
    known = Forgotten()
    assert "a" not in known and len(known) == 0
    for begin in range(0, 20_000, 700):
        known.update(f"key {number}" for number in range(begin, min(begin + 700, 20_000)))
    assert len(known) == 20_000
    assert all(f"key {number}" in known for number in range(20_000))
    assert not any(f"other {number}" in known for number in range(20_000))
