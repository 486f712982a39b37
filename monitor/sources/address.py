"""Sources given by address: a gateway's REST interface or a database."""

from __future__ import annotations

from monitor.readers.base import DEFAULT_OPTIONS, ReadError, ReadOptions
from monitor.records import Problem
from monitor.sources.files import Batch

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


def shown(address: str) -> str:
    """An address without user, password and query: what may be put on a screen."""
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"
