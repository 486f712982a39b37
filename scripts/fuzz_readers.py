"""Damages sample logs in many ways and checks that every reader stands it.

    python scripts/fuzz_readers.py                 # 500 inputs
    nice python scripts/fuzz_readers.py 10000      # before a release
    python scripts/fuzz_readers.py 2000 --only '*gemini*' --seed 7

Every input is made from one or two samples by up to four changes: cut, flipped bytes, lines doubled, dropped, moved or
spliced from another sample, JSON values of another type, size or depth, keys renamed, invalid UTF-8. It is read from
memory (``sources.files.read_bytes``), from a file that grows (``sources.files.Tail``), or lies beside a good log that
is read with it; what was read goes through the session layer and out as JSON. A finding is an exception that escapes,
more than ``--seconds`` of time, or more than ``--megabytes`` of memory for one input. Findings are made as small as
they get without vanishing and printed as a line of Python.

Samples: ``sample_logs/``, and ``../shared/samples`` and ``../shared/cases`` where they are. Exit 1 with findings.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import signal
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from fuzz_changes import CHANGES, SIZE, TOGETHER, Sample, samples  # noqa: E402

from monitor.readers.base import ReadOptions  # noqa: E402
from monitor.sessions.store import Store  # noqa: E402
from monitor.sources.files import Batch, Tail, read_bytes  # noqa: E402


class TooLong(BaseException):
    """An input took longer than allowed; no ordinary exception, so that nothing swallows it."""


@dataclass
class Finding:
    what: str
    where: str
    sample: str
    data: bytes
    trace: str = ""
    count: int = 1
    how: str = "memory"


@dataclass
class Limits:
    seconds: float = 10.0


# ---------------------------------------------------------------------------------------------------- reading
def through(data: bytes) -> None:
    """From memory to the session layer and out as JSON."""
    batch, _ = read_bytes("fuzz", data, ReadOptions())
    out(batch)


def growing(data: bytes) -> None:
    """From a file that is half written first."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / "fuzz.log"
        path.write_bytes(data[: len(data) // 2])
        tail = Tail(path, ReadOptions(detail=True))
        for part in (None, data):
            if part is not None:
                path.write_bytes(part)
            batch = tail.read(final=part is not None)
            if batch is not None:
                out(batch)


def beside(data: bytes, files: dict[str, Any], damaged: str) -> None:
    """As one of the files that lie beside a log and are read with it."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for name, value in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if name == damaged else json.dumps(value).encode())
        batch = Tail(Path(folder) / next(iter(files)), ReadOptions(detail=True)).read(final=True)
        if batch is not None:
            out(batch)


def out(batch: Batch) -> None:
    store = Store()
    store.apply(batch)
    for view in store.views():
        msgspec.json.encode([turn.call for turn in view.turns])
        msgspec.json.encode(view.events)
    msgspec.json.encode(store.problems())


#: the ways to read an input
READ: dict[str, Callable[[bytes], None]] = {"memory": through, "file": growing}
#: files that are damaged beside a good log: way to read them -> what they are
BESIDE: dict[str, Sample] = {}
for _files in TOGETHER:
    for _name, _value in list(_files.items())[1:]:
        READ[_name] = partial(beside, files=_files, damaged=_name)
        BESIDE[_name] = Sample(_name, json.dumps(_value).encode())


@contextlib.contextmanager
def guard(limits: Limits) -> Iterator[None]:
    """Ends an input that takes too long; without timers (Windows) it is only measured."""
    timer = getattr(signal, "setitimer", None)
    if timer is None:
        yield
        return

    def ring(number: int, frame: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    timer(signal.ITIMER_REAL, limits.seconds)
    try:
        yield
    finally:
        timer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def limit_memory(megabytes: int) -> None:
    """The address space this process may add from here on; larger demands end in a MemoryError."""
    try:
        import resource
    except ImportError:
        return
    used = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 1024 * 1024, resource.RLIM_INFINITY))


def attempt(read: Callable[[bytes], None], data: bytes, limits: Limits) -> tuple[str, str, str] | None:
    """What went wrong (class, place, traceback), or None."""
    try:
        with guard(limits):
            read(data)
    except TooLong:
        frames = traceback.extract_tb(sys.exc_info()[2])
        return "longer than allowed", place_of(frames), traceback.format_exc()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return type(error).__name__, place_of(frames), traceback.format_exc()
    return None


def place_of(frames: traceback.StackSummary) -> str:
    own = [frame for frame in frames if "monitor" in Path(frame.filename).parts]
    if not own:
        return "?"
    last = own[-1]
    return f"{Path(last.filename).relative_to(ROOT).as_posix()}:{last.lineno} in {last.name}"


def smaller(read: Callable[[bytes], None], finding: Finding, limits: Limits, tries: int = 2000) -> bytes:
    """The finding's bytes without what it does not need: first lines are taken out, then smaller and smaller parts."""
    data, wanted = finding.data, (finding.what, finding.where)
    for pieces in (data.splitlines(keepends=True), None):
        size = max(1, len(pieces if pieces is not None else data) // 2)
        while size >= 1 and tries > 0:
            units: Any = data.splitlines(keepends=True) if pieces is not None else data
            place, shrunk = 0, False
            while place < len(units) and tries > 0:
                rest = units[:place] + units[place + size :]
                candidate = b"".join(rest) if pieces is not None else rest
                tries -= 1
                result = attempt(read, candidate, limits)
                if result is not None and result[:2] == wanted:
                    data, units, shrunk = candidate, rest, True
                else:
                    place += size
            size = size // 2 if not shrunk or size > 1 else 0
    return data


def main() -> int:
    parser = argparse.ArgumentParser(description="Damage sample logs and check that every reader stands it.")
    parser.add_argument("inputs", nargs="?", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="*", help="samples whose name matches")
    parser.add_argument("--seconds", type=float, default=10.0, help="most time for one input")
    parser.add_argument("--megabytes", type=int, default=1500, help="most memory for one input")
    parser.add_argument("-v", action="store_true", help="tracebacks")
    asked = parser.parse_args()
    found = samples(asked.only)
    if not found:
        print("no samples match", file=sys.stderr)
        return 2
    limits = Limits(asked.seconds)
    for sample in found[:3]:
        attempt(through, sample.data, limits)  # imports, before memory is limited
    limit_memory(asked.megabytes)
    findings: dict[tuple[str, str], Finding] = {}
    slowest, slow_name = 0.0, ""
    kinds: Counter[str] = Counter()
    for number in range(asked.inputs):
        dice = random.Random(zlib.crc32(f"{asked.seed}:{number}".encode()))
        sample, how = found[number % len(found)], "file" if number % 3 == 0 else "memory"
        if BESIDE and number % 8 == 7:
            how, sample = dice.choice(list(BESIDE.items()))
        data = sample.data
        for _ in range(dice.choice((0, 1, 1, 2, 4)) if number >= len(found) else 0):
            change = dice.choice(CHANGES)
            kinds[change.__name__] += 1
            data = change(data, dice, found)[: 4 * SIZE + 400_000]
        read = READ[how]
        begun = time.process_time()
        result = attempt(read, data, limits)
        used = time.process_time() - begun
        if used > slowest:
            slowest, slow_name = used, f"{sample.name} (input {number})"
        if result is not None:
            what, where, trace = result
            old = findings.get((what, where))
            if old is not None:
                old.count += 1
                if len(data) < len(old.data):
                    old.data, old.sample = data, sample.name
            else:
                findings[(what, where)] = Finding(what, where, sample.name, data, trace, how=how)
                print(f"input {number} from {sample.name} ({how}): {what} at {where}", file=sys.stderr)
    for finding in findings.values():
        finding.data = smaller(READ[finding.how], finding, Limits(min(asked.seconds, 3.0)))
        size = len(finding.data)
        shown = repr(finding.data) if size <= 2000 else f"{finding.data[:300]!r} and so on ({size} bytes)"
        print(f"{finding.what} at {finding.where} ({finding.count} times; {finding.how}; from {finding.sample})")
        print(f"  {shown}")
        if asked.v:
            print(finding.trace)
    changes = ", ".join(f"{name} {count}" for name, count in kinds.most_common())
    print(f"{asked.inputs} inputs from {len(found)} samples, {len(findings)} findings; changes: {changes}")
    print(f"slowest {slowest:.2f} s CPU: {slow_name}")
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
