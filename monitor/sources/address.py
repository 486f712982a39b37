"""Sources given by address: a gateway's REST interface or a database."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from monitor.readers.base import DEFAULT_OPTIONS, ReadError, ReadOptions
from monitor.records import Problem
from monitor.sources.files import Batch
from monitor.sources.shown import shown

REST = ("http://", "https://")


def read_address(address: str, options: ReadOptions = DEFAULT_OPTIONS) -> tuple[Batch, str]:
    """What is found at an address, and what it turned out to be.

    An address that cannot be read gives a batch with a problem; it never ends a run. Keys come from the environment
    and are shown nowhere.
    """
    try:
        if address.startswith(REST):
            from monitor.sources import rest

            return rest.read(address, options)
        from monitor.sources import database

        return database.read(address, options)
    except ReadError as error:
        name = shown(address)
        return Batch(name, [Problem(name, None, str(error))], True), "address"


class AddressFollower:
    """Asks an address for new rows now and then; a failure is told once and asked again later.

    Args:
        address: gateway or database.
        every: seconds between questions.
        clock: seconds, for tests.
    """

    def __init__(
        self,
        address: str,
        options: ReadOptions = DEFAULT_OPTIONS,
        *,
        every: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.address, self.options = address, options
        self._every, self._clock = every, clock
        self._next = 0.0
        self._source: _Polled | None = None
        self._failed = ""

    def poll(self) -> Batch | None:
        """What is new since the last question; None if it is not time to ask or nothing is new."""
        if self._clock() < self._next:
            return None
        self._next = self._clock() + self._every
        try:
            if self._source is None:
                self._source = self._open()
            batch = self._source.poll()
        except ReadError as error:
            name, why = shown(self.address), str(error)
            if why == self._failed:
                return None
            self._failed = why
            return Batch(name, [Problem(name, None, why)], False)
        self._failed = ""
        return batch if batch.records or batch.replace else None

    def _open(self) -> _Polled:
        if self.address.startswith(REST):
            from monitor.sources.rest import Gateway

            return Gateway(self.address, self.options)
        from monitor.sources.database import Database

        return Database(self.address, self.options)

    def close(self) -> None:
        """Close the connection."""
        if self._source is not None:
            self._source.close()


class _Polled(Protocol):
    def poll(self) -> Batch: ...

    def close(self) -> None: ...
