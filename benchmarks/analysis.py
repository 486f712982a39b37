"""CPU microseconds per call that the analysis adds to reading.

    python benchmarks/analysis.py [--sessions 400] [--tree DIR] [--repeat 7] [--json FILE]

Three steps are timed apart, best of several runs: putting records into the store (who owns a call, order of time),
folding them (windows, outcomes, causes, costs, events, sums), and making the views (forecast, costs of compactions).
Also timed: one more call at the end of a session of 10,000, as the live view meets it.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.made_sessions import sessions
from monitor.pricing import PriceTable
from monitor.records import Call, Record
from monitor.sessions.build import Session, Settings, make_view
from monitor.sessions.fold import Fold
from monitor.sessions.store import Store
from monitor.sources.files import Batch

LIMIT = 6.0


def best(repeat: int, work: Callable[[], object]) -> float:
    """CPU seconds of the quickest of some runs."""
    found = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def batches_of(args: argparse.Namespace) -> list[Batch]:
    if args.tree is None:
        return [Batch(f"{made.name}.jsonl", list(made.records), True) for made in sessions(args.sessions)]
    from monitor.readers.base import ReadOptions
    from monitor.sources.discovery import expand
    from monitor.sources.files import Tail

    read = (Tail(path, ReadOptions()).read(final=True) for path in expand([str(args.tree)], []))
    return [batch for batch in read if batch is not None]


def one_more_call(repeat: int, settings: Settings) -> float:
    """CPU seconds for a call at the end of a long session."""
    session = Session("long", settings)
    records = [record for made in sessions(60, seed=9) for record in made.records if isinstance(record, Call)][:10_000]
    for number, record in enumerate(records):
        session.put(msgspec.structs.replace(record, session="long", time=number * 1_000), (number * 1_000, 0, number))
    session.refresh(lambda item: False)
    place = len(records)

    def add() -> None:
        nonlocal place
        place += 1
        item = msgspec.structs.replace(records[-1], session="long", time=place * 1_000, key=f"more:{place}")
        session.put(item, (place * 1_000, 0, place))
        session.refresh(lambda item: False)

    return best(repeat * 5, add)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=400)
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    gc.disable()  # as the loader does
    settings = Settings(prices=PriceTable.load())
    batches = batches_of(args)
    records: list[Record] = [record for batch in batches for record in batch.records]
    calls = sum(isinstance(record, Call) for record in records)

    def apply() -> Store:
        store = Store(settings)
        for batch in batches:
            store.apply(batch)
        return store

    store = apply()
    store.views()
    held = [session for session in store.sessions.values() if session.items]

    def fold(session: Session) -> Fold:
        made = Fold(settings.prices, session.limit_of)
        shared = session.name in store._sharing
        told_by = partial(store.inherited, name=session.name) if shared else None
        made.run(session.items.tail, 0, told_by, session.inside)  # as the session does it while nothing is packed
        return made

    folds = [(session, fold(session)) for session in held]
    told = {
        "calls": calls,
        "records": len(records),
        "store_us": best(args.repeat, apply) / calls * 1e6,
        "fold_us": best(args.repeat, lambda: [fold(session) for session in held]) / calls * 1e6,
        "view_us": best(args.repeat, lambda: [make_view(*pair) for pair in folds]) / calls * 1e6,
        "one_more_call_at_10000_us": one_more_call(args.repeat, settings) * 1e6,
    }
    told["analysis_us"] = told["store_us"] + told["fold_us"] + told["view_us"]
    print(f"{calls:,} calls, CPU microseconds per call")
    for name in ("store_us", "fold_us", "view_us", "analysis_us"):
        print(f"  {name.removesuffix('_us'):<10}{told[name]:8.2f}")
    print(f"one more call at the end of 10,000: {told['one_more_call_at_10000_us']:.0f}")
    if args.json is not None:
        args.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0 if told["analysis_us"] <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
