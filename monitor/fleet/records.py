"""Records of any reader as frames of bytes, and which bucket each belongs to.

Used for inputs that are not read by column: exports with a reader of their own, gateways, databases. Numbers, ids and
hashes only: records hold nothing else.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from pathlib import PurePath

import msgspec
import zstandard

from monitor.records import Call, Event, SessionInfo, Step

Moved = Call | Event | SessionInfo | Step
_KINDS: tuple[type, ...] = (Call, Event, SessionInfo, Step)


class Frame(msgspec.Struct, array_like=True):
    """Some records of one file, in their order.

    ``order`` holds a number per record: 0 call, 1 event, 2 fact about a session, 3 step. ``times``: where each call or
    event stands in time (its own time, else that of the one before it in the file).
    """

    order: bytes
    times: list[int]
    calls: list[Call]
    events: list[Event]
    infos: list[SessionInfo]
    steps: list[Step]

    def records(self) -> Iterator[tuple[Moved, int]]:
        """The records with their place in time."""
        lists: tuple[Iterator[Moved], ...] = (iter(self.calls), iter(self.events), iter(self.infos), iter(self.steps))
        for kind, time in zip(self.order, self.times):
            yield next(lists[kind]), time


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Frame).decode


def frame_of(records: Iterable[tuple[Moved, int]]) -> Frame:
    """A frame of records with their place in time."""
    found = Frame(b"", [], [], [], [], [])
    lists = (found.calls, found.events, found.infos, found.steps)
    order = bytearray()
    for record, time in records:
        kind = _KINDS.index(type(record))
        order.append(kind)
        found.times.append(time)
        lists[kind].append(record)  # type: ignore[arg-type]
    found.order = bytes(order)
    return found


def pack(frame: Frame) -> bytes:
    """A frame as compressed bytes."""
    return zstandard.ZstdCompressor(level=1).compress(_encode(frame))


def unpack(data: bytes) -> Frame:
    """The frame that :func:`pack` was given."""
    return _decode(zstandard.ZstdDecompressor().decompress(data))


# --- where a record goes -------------------------------------------------------------------------------------------
def home(call: Call, session_by: str | None) -> str:
    """The group that must be whole for the session of a call to be known: the session, or all calls of its sender."""
    way = session_by if call.evidence is not None or call.session_evidence == "file" else None
    if way == "file":
        return "f" + (PurePath(call.file).stem or call.file)
    if way == "explicit" or (way is None and call.session_evidence != "file"):
        return "s" + call.session
    origin = call.evidence.origin if call.evidence is not None else None
    return sender(call.source, origin, call.file)


def sender(source: str, origin: str | None, file: str) -> str:
    """The group of calls without a session: those of one sender, or of one file where no sender is told."""
    return f"o{source}|{origin or chr(0) + file}"


def bucket_of(group: str, buckets: int) -> int:
    """The bucket of a group: the same in every process and on every machine."""
    return zlib.crc32(group.encode("utf-8", "surrogatepass")) % buckets
