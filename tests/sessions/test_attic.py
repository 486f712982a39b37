"""A store that packs old records says the same, after every batch, as one that keeps them all."""

from __future__ import annotations

import random

import msgspec
import pytest

from monitor.pricing import PriceTable
from monitor.records import Call, Event, Record
from monitor.sessions import cold
from monitor.sessions.attic import identity
from monitor.sessions.build import Settings
from monitor.sessions.store import Store
from monitor.sources.files import Batch
from tests.factory import call, event

FILES = {"a.jsonl": "s", "b.jsonl": "s", "c.jsonl": "t"}


def _said(store: Store) -> list[tuple[object, ...]]:
    """Everything the views say, but how often they were made."""
    return [
        tuple(list(value) if name == "turns" else value for name, value in _fields(view).items() if name != "version")
        for view in store.views()
    ]


def _fields(view: msgspec.Struct) -> dict[str, object]:
    return {name: getattr(view, name) for name in view.__struct_fields__}


class Logs:
    """Three files of two sessions that grow, repeat themselves, copy each other and are rewritten."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.told: dict[str, list[Record]] = {name: [] for name in FILES}
        self.clock = 0

    def batch(self) -> Batch:
        chance = self.chance
        move = chance.random()
        file = chance.choice(list(FILES)) if move > 0.7 else "a.jsonl"
        if move > 0.985 and self.told[file]:
            kept = self.told[file][: chance.randrange(len(self.told[file]) + 1)]
            self.told[file] = list(kept)
            return Batch(file, list(kept), True)
        records = [self._record(file) for _ in range(chance.randrange(1, 12))]
        return Batch(file, records, False)

    def _record(self, file: str) -> Record:
        chance = self.chance
        past = [one for one in self.told[file] if isinstance(one, Call)]
        everything = [one for records in self.told.values() for one in records if isinstance(one, Call | Event)]
        move = chance.random()
        record: Record
        if move < 0.02 and past:  # an old answer goes on
            old = chance.choice(past)
            record = msgspec.structs.replace(old, output_tokens=(old.output_tokens or 0) + 5)
        elif move < 0.03 and everything:  # a copy of something, maybe of another file or session
            old_one = chance.choice(everything)
            record = msgspec.structs.replace(old_one, file=file, session=FILES[file])
        elif move < 0.05:  # written late
            number = chance.randrange(self.clock + 1)
            record = call(number, 30_000, 20_000, key=f"late{self.clock}", file=file, session=FILES[file])
        elif move < 0.09:
            kind = chance.choice(["compaction", "microcompaction", "clear"])
            record = event(self.clock, kind, file=file, session=FILES[file], chain=chance.choice(["main", "agent:x"]))
        else:
            self.clock += 1
            size = 20_000 + 900 * (self.clock % 90)
            read = chance.choice([0, size - 1_000, size // 2])
            facts = {"key": ""} if move < 0.12 else {}  # known by its place only
            record = call(self.clock, size, read, file=file, session=FILES[file], exchange=1 + self.clock // 9,
                          chain="main" if chance.random() < 0.9 else "agent:x", **facts)  # fmt: skip
        self.told[file].append(record)
        return record


@pytest.mark.parametrize("seed", range(8))
def test_packing_changes_nothing_that_is_said(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold, "BLOCK", 8)
    prices = PriceTable.load()
    plain, packing = Store(Settings(prices=prices)), Store(Settings(prices=prices), hot=seed % 3 * 10)
    packing.later = seed % 2 == 1
    logs = Logs(seed)
    most = 0
    for number in range(160):
        batch = logs.batch()
        plain.apply(Batch(batch.file, list(batch.records), batch.replace))
        packing.apply(batch)
        if logs.chance.random() < 0.6:
            plain.refresh()
            packing.refresh()
            packing.tidy()
        if number % 10 == 9:
            assert _said(packing) == _said(plain)
            assert packing.copies() == plain.copies()
        most = max([most, *(session.items.packed for session in packing.sessions.values())])
    assert most >= 8


def test_a_session_that_only_grows_keeps_little_in_its_indexes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold, "BLOCK", 16)
    store = Store(Settings(), hot=64)
    for number in range(0, 1_200, 5):
        store.apply(Batch("a.jsonl", [call(n, 20_000 + n, 0) for n in range(number, number + 5)], False))
        store.refresh()
    (session,) = store.sessions.values()
    assert len(session.items) == 1_200 and len(session.items.tail) < 64 + 3 * 16
    assert len(store.files["a.jsonl"].calls) == len(session.items.tail) == len(store._keys)
    assert list(session.items) == [call(n, 20_000 + n, 0) for n in range(1_200)]

    store.apply(Batch("a.jsonl", [call(3, 20_003, 0, output_tokens=777)], False))
    (view,) = store.views()
    assert view.sums.calls == 1_200 and view.turns[3].call.output_tokens == 777
    assert session.items.packed == 0 and session.hot == 1_200  # it goes on without packing its past again


def test_what_is_old_waits_for_a_quiet_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold, "BLOCK", 16)
    store = Store(Settings(), hot=64)
    store.later = True
    store.apply(Batch("a.jsonl", [call(n, 20_000 + n, 0) for n in range(200)], False))
    (view,) = store.refresh()
    (session,) = store.sessions.values()
    assert session.packed == 0
    steps = 0
    while store.tidy():
        steps += 1
    # (200 - 64) // 16 = 8 blocks of records and as many of turns, two of each at a time
    assert steps == 4 and session.packed == 2 * 128 and not store.tidy()
    assert [turn.call for turn in view.turns] == [call(n, 20_000 + n, 0) for n in range(200)]


def test_records_are_told_apart() -> None:
    one, two = call(1, 5, key=""), event(0, key="")
    assert len({identity(one), identity(two), identity(msgspec.structs.replace(one, line=9))}) == 3
    assert identity(call(1, 5)) == "msg_1"
