"""What of an address may be put on a screen or into a report: all that name a source by its address need it."""

from __future__ import annotations


def shown(address: str) -> str:
    """An address without driver, user, password and query: what may be put on a screen."""
    scheme, _, rest = address.partition("://")
    if not scheme.startswith("sqlite"):  # a path may hold an @
        rest = rest.rpartition("@")[2]  # the last one: a password may hold any sign
    return f"{scheme.partition('+')[0]}://{rest.partition('?')[0]}"
