"""Histories whose old part is packed behave as the plain list they stand for."""

from __future__ import annotations

import random

import pytest

from monitor.records import Call
from monitor.sessions.cold import BLOCK, History, Kept
from monitor.sessions.view import Turn


def _turn(number: int) -> Turn:
    return Turn(Call(session="s", source="claude-code", file="f", key=f"k{number}", prompt_tokens=number), number, 1)


def test_any_mixture_of_moves_gives_the_same_as_a_list() -> None:
    chance = random.Random(7)
    plain: list[int] = []
    history: History[int] = History()
    for _ in range(4_000):
        move = chance.random()
        if move < 0.9:
            for _ in range(chance.randrange(1, 40)):
                plain.append(len(plain))
                history.append(plain[-1])
        elif move < 0.94:
            history.pack(chance.randrange(4))
        elif move < 0.97 and plain:
            length = chance.randrange(max(0, len(plain) - 600), len(plain) + 1)
            del plain[length:]
            history.cut(length)
        elif move < 0.98:
            history.unpack()
        elif len(plain) > history.packed:
            place = chance.randrange(history.packed, len(plain))
            plain.insert(place, -1)
            history.insert(place, -1)
            history[place] = plain[place] = -2
        if chance.random() < 0.02:
            assert len(history) == len(plain) and list(history) == plain
            assert list(reversed(history)) == plain[::-1]
            for place in (0, len(plain) // 2, -1, -len(plain)):
                if plain:
                    assert history[place] == plain[place]
            a, b = sorted(chance.randrange(-len(plain) - 2, len(plain) + 2) for _ in range(2))
            assert history[a:b] == tuple(plain[a:b]) and history[b:a:-3] == tuple(plain[b:a:-3])
    assert history.packed > 0


def test_records_come_back_equal_and_a_view_of_before_stays_as_it_was() -> None:
    turns = [_turn(number) for number in range(3 * BLOCK)]
    history = History(turns)
    assert history.freeze() == tuple(turns) and isinstance(history.freeze(), tuple)  # nothing is packed yet
    history.pack(2)
    assert history.packed == 2 * BLOCK
    seen = history.freeze()
    assert isinstance(seen, Kept)
    history.cut(BLOCK + 3)
    history.append(_turn(9))
    assert len(history) == BLOCK + 4 and history.packed == BLOCK
    assert seen == turns and list(seen) == turns
    assert seen[:1] + seen[-1:] == (turns[0], turns[-1])
    assert seen[0].call == turns[0].call and seen[0] is seen[0]


def test_what_is_packed_is_changed_by_nobody() -> None:
    history = History(range(2 * BLOCK))
    history.pack(1)
    with pytest.raises(IndexError):
        history.insert(5, 1)
    with pytest.raises(IndexError):
        history[5] = 1
    with pytest.raises(IndexError):
        del history[5]
    with pytest.raises(IndexError):
        history[2 * BLOCK]
    with pytest.raises(IndexError):
        history[-2 * BLOCK - 1]
    del history[2 * BLOCK - 1]
    assert len(history) == 2 * BLOCK - 1


def test_an_old_entry_takes_a_fraction_of_the_memory() -> None:
    history = History(_turn(number) for number in range(4 * BLOCK))
    history.pack(4)
    assert sum(len(block) for block in history._blocks) < 60 * len(history)
