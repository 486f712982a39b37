"""Whose a call is that several sessions hold (contract.md, "Once"): resumed and forked conversations copy what came
before them.

The owner is the session whose own records begin earliest; a session that is only a beginning of others owns. What was
printed while the client wrote its file (``--output-format stream-json``, Cowork's audit log) tells no times and owns
nothing that a file with times tells. A fork of a fork shares one part with all of them and another part with its
parent alone, so what is a session's own depends on who holds the call in question: all that these do not have in
common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from monitor.records import Call
from monitor.sessions.build import Session
from monitor.sessions.told import Entry


def settle(holders: Mapping[str, Mapping[str, list[Entry]]], sessions: Mapping[str, Session]) -> dict[str, str]:
    """The owner of each key.

    Args:
        holders: for each key that several sessions hold, the entries of each of them.
    """
    sets = {key: frozenset(held) for key, held in holders.items()}
    parts = {name: _parts(sessions[name], sets) for name in {name for names in sets.values() for name in names}}
    starts: dict[tuple[str, frozenset[str]], int] = {}
    owners: dict[str, str] = {}
    for key, names in sets.items():
        for name in names:
            if (name, names) not in starts:
                starts[name, names] = _start(parts[name].items(), names)
        held = holders[key]
        owners[key] = min(held, key=lambda name: (not _timed(held[name]), starts[name, names], held[name][0][1]))
    return owners


def _timed(held: list[Entry]) -> bool:
    return any(item.time is not None for item, _ in held)


def _parts(session: Session, sets: Mapping[str, frozenset[str]]) -> dict[frozenset[str], int]:
    """Who holds the calls of a session with it -> when these calls begin; up to the first one that is its alone."""
    found: dict[frozenset[str], int] = {}
    session.sort()
    for item, place in zip(session.items, session.order, strict=True):
        if type(item) is Call and not item.inherited:
            names = sets.get(item.key)
            if names is None:
                found[frozenset((session.name,))] = place[0]
                break
            found.setdefault(names, place[0])
    return found


def _start(parts: Iterable[tuple[frozenset[str], int]], holders: frozenset[str]) -> int:
    """When the calls begin that not all of the holders have; -1 if there are none."""
    return min((time for names, time in parts if not holders <= names), default=-1)
