"""Rows of many sessions kept on disk until they are written, in the order in which they are shown."""

from __future__ import annotations

import heapq
import os
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

from monitor.sessions.view import SessionView

_HEAD = struct.Struct("<qII")  # last activity, bytes of the name, bytes of the row


class Spool:
    """Rows of the sessions of a bucket; spools are joined by :meth:`merge`.

    Args:
        folder: where they are kept.
        bucket: number of the bucket. Doing a bucket again gives the same file.
    """

    def __init__(self, folder: str, bucket: int) -> None:
        self._folder, self._bucket = folder, bucket
        self._rows: list[tuple[int, str, bytes]] = []
        self._files: list[str] = []

    def add(self, view: SessionView, row: str) -> None:
        """Keep the row of a session."""
        last = view.last if view.last is not None else -1
        self._rows.append((last, view.session, row.encode("utf-8", "surrogatepass")))

    def close(self) -> None:
        """The bucket is through: its rows go to disk, the latest activity first."""
        if not self._rows:
            return
        handle, name = tempfile.mkstemp(prefix=f"rows-{self._bucket:05d}.", dir=self._folder)
        with os.fdopen(handle, "wb") as stream:
            for last, session, row in sorted(self._rows, key=lambda row: row[:2], reverse=True):
                who = session.encode("utf-8", "surrogatepass")
                stream.write(_HEAD.pack(last, len(who), len(row)) + who + row)
        self._rows = []
        target = Path(self._folder) / f"rows-{self._bucket:05d}"
        Path(name).replace(target)
        self._files.append(str(target))

    def merge(self, other: Spool) -> None:
        """Take over the rows of another bucket."""
        self._files += other._files

    def rows(self) -> Iterator[str]:
        """All rows, the latest activity first, read from disk one by one."""
        streams = [_stored(name) for name in self._files]
        for *_, row in heapq.merge(*streams, key=lambda row: row[:2], reverse=True):
            yield row.decode("utf-8", "surrogatepass")


def _stored(name: str) -> Iterator[tuple[int, str, bytes]]:
    with open(name, "rb") as stream:
        while head := stream.read(_HEAD.size):
            last, who, row = _HEAD.unpack(head)
            yield last, stream.read(who).decode("utf-8", "surrogatepass"), stream.read(row)
