"""Sessions of files that have not changed, from the cache of :mod:`monitor.sources.cache`.

Files are cached in parts: those that share a session, a call told twice, or calls whose session is found by their
content. What a part's sessions look like depends on its files alone, so the result of an earlier run is the result of
this one, as long as none of its files has changed, all of them are asked for, and no other file has a name in common
with it (a session's or a call's). Turns are unpacked when somebody looks at them.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from monitor.readers.base import ReadOptions
from monitor.records import Call, Event, Problem, SessionInfo, Step
from monitor.sessions.build import Settings
from monitor.sessions.laid import Known, LaidTurns, Marked
from monitor.sessions.told import is_loose
from monitor.sessions.view import FileReport, SessionView, Turn
from monitor.sources.cache import Cache, Packed, Stamp, code
from monitor.sources.files import Batch, Tail, tick

#: less than so many bytes are read as quickly as looked up
WORTH = 4_000_000
#: readers whose records depend on nothing but the one file; a folder of parts or a database with a journal is more
_ALONE = frozenset(
    """claude-code codex pi gemini-cli amp codex-exec claude-trace claude-tap lhar api-log ctxmon har mitmproxy new-api
    one-api litellm openrouter magpie langfuse helicone bedrock cloudflare portkey otel claude-code-otel codex-otel
    gemini-otel""".split()  # noqa: SIM905
)
#: what results are made by, besides the records' own layout
_MADE_BY = ("records.py", "readers", "sources", "sessions", "pricing", "data", "decision/facts.py")
_LOOSE = "\0loose"


class Head(msgspec.Struct, array_like=True):
    """What is always needed of a part. ``sessions`` without their turns; ``counts``: how many each has."""

    sessions: list[SessionView]
    counts: list[int]
    problems: list[Problem]
    reports: list[FileReport]
    copies: list[Call]


class Part(msgspec.Struct):
    """A part of the cache whose files are as they were."""

    number: int
    files: list[str]
    head: Head


_memories: weakref.WeakSet[Memory] = weakref.WeakSet()
_encode = msgspec.msgpack.Encoder().encode
_head = msgspec.msgpack.Decoder(Head).decode
_turns = msgspec.msgpack.Decoder(list[Turn]).decode
_texts = msgspec.msgpack.Decoder(list[str]).decode


def way(options: ReadOptions, settings: Settings) -> bytes | None:
    """A digest of all that results depend on besides the files; None if they are too special to be kept."""
    from monitor.pricing import PriceTable

    if options.detail or options.map is not None:
        return None
    if settings.prices is not None and settings.prices is not PriceTable.load():
        return None
    try:
        made_by = code(Path(__file__).parents[1], _MADE_BY)
    except OSError:  # not on disk as files
        return None
    chosen = (options.source, options.session_by, settings.prices is None, sorted(settings.overrides.rules.items()))
    return made_by + repr(chosen).encode("utf-8", "surrogatepass")


def stamps(names: Iterable[str]) -> dict[str, Stamp]:
    """What the files are like now, those that can be looked at."""
    found: dict[str, Stamp] = {}
    for name in names:
        try:
            status = os.stat(name)
        except OSError:
            continue
        found[name] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found


class Memory:
    """The cache as the loader uses it.

    Args:
        anew: all sessions of the files named, read from the files; for turns that are wanted but gone from the cache.
        cache: of the right ``how``.
        now: what the files are like.
    """

    def __init__(
        self, anew: Callable[[Sequence[str]], Sequence[SessionView]], cache: Cache, now: Mapping[str, Stamp]
    ) -> None:
        self._anew, self._cache, self._now = anew, cache, now
        self._derived: dict[tuple[int, int, str], bytes] = {}
        self._known: list[Known] = []
        self._parts: dict[int, Part] = {}
        _memories.add(self)
        self._began = time.time_ns()
        self._here = os.getcwd()

    @property
    def note(self) -> str:
        """What is wrong with the cache, if anything."""
        return self._cache.note

    # ------------------------------------------------------------------------------------------------ finding
    def _key(self, name: str) -> str:
        """A file's name in the cache: records hold the name as it was given, so a relative one needs its folder."""
        return name if os.path.isabs(name) else f"{self._here}\0{name}"

    def find(self, names: Sequence[str]) -> list[Part]:
        """Parts that consist of unchanged files among these, in the same order."""
        known = self._cache.known([self._key(name) for name in names if _plain(name)])
        members: dict[int, list[tuple[int, str]]] = {}
        changed: set[int] = set()
        for name in names:
            found = known.get(self._key(name))
            if found is None:
                continue
            part, place, stamp = found
            members.setdefault(part, []).append((place, name))
            if stamp != self._now.get(name):
                changed.add(part)
        wanted = [part for part in members if part not in changed]
        parts = []
        for number, (count, head) in self._cache.heads(wanted).items():
            places = [place for place, _ in members[number]]
            if places != list(range(count)):
                continue
            try:
                parts.append(Part(number, [name for _, name in members[number]], _head(head)))
            except msgspec.DecodeError:
                continue
        return parts

    def apart(self, parts: list[Part], read: Iterable[Batch]) -> list[Part]:
        """Those of the parts that have no name in common with each other and with what was read."""
        names: set[str] = set().union(*map(names_of, read))
        if not names and self._cache.apart(part.number for part in parts):
            return parts
        used = {number: set(_texts(data)) for number, data in self._cache.names([p.number for p in parts]).items()}
        owners: dict[str, int] = {}
        shared = {part.number for part in parts if part.number not in used}
        for number, own in used.items():
            if not names.isdisjoint(own):
                shared.add(number)
            for name in own:
                first = owners.setdefault(name, number)
                if first != number:
                    shared.update((first, number))
        return [part for part in parts if part.number not in shared]

    def sessions(self, part: Part) -> list[SessionView]:
        """The sessions of a part."""
        self._parts[part.number] = part
        found = []
        for place, (view, count) in enumerate(zip(part.head.sessions, part.head.counts, strict=True)):
            known = self._note(part.number, place)
            view = msgspec.structs.replace(
                view,
                turns=LaidTurns(known, count),
                events=tuple(view.events),
                buckets=tuple(view.buckets),
                chains=tuple(view.chains),
                compaction_costs=tuple(view.compaction_costs),
                steps=tuple(view.steps),
            )
            known.owner = id(view)
            found.append(view)
        return found

    def _note(self, part: int, place: int) -> Known:
        known = Known(self, part, place)
        self._known.append(known)
        return known

    def look_up(self, parts: Sequence[Part]) -> None:
        """What was derived from the sessions of these parts by earlier runs."""
        for (part, place, name), data in self._cache.derived([part.number for part in parts]).items():
            self._derived[part, place, name] = data

    def derived(self, part: int, place: int, name: str) -> bytes | None:
        """What an earlier run derived from a session."""
        return self._derived.get((part, place, name))

    def turns(self, part: int, place: int) -> tuple[Turn, ...]:
        """Those of one session; from its files if they are gone from the cache."""
        data = self._cache.turns(part, place)
        if data is not None:
            with suppress(msgspec.DecodeError):
                return tuple(_turns(data))
        wanted = self._parts[part]
        name = wanted.head.sessions[place].session
        return next((tuple(view.turns) for view in self._anew(wanted.files) if view.session == name), ())

    # ------------------------------------------------------------------------------------------------ keeping
    def keep(
        self,
        read: Sequence[tuple[Tail, Batch | None]],
        others: Sequence[Batch],
        views: Sequence[SessionView],
        reports: Mapping[str, FileReport],
        copies: Sequence[Call],
        kept: Sequence[Part],
    ) -> list[SessionView]:
        """Store what was read. Returns the sessions, those that are stored with a mark.

        Args:
            read: the files, in order, with what they said.
            others: what was read from elsewhere, which is not stored.
            views: all sessions of both.
            reports: of the files, by name.
            copies: calls of these files that other sessions own.
            kept: parts that were found, and that have nothing in common with what was read.
        """
        batches = {tail.name: batch for tail, batch in read if batch is not None}
        used = {batch.file: names_of(batch) for batch in (*batches.values(), *others)}
        groups = _groups(used, views)
        lost = {groups[batch.file] for batch in others}
        lost.update(groups[tail.name] for tail, _ in read if tail.name in groups and not self._may_stay(tail))
        members: dict[str, list[Tail]] = {}
        for tail, _ in read:
            group = groups.get(tail.name)
            if group is not None and group not in lost:
                members.setdefault(group, []).append(tail)
        seen: dict[str, list[SessionView]] = {}
        for view in views:
            seen.setdefault(groups[view.files[0]], []).append(view)
        owned: dict[str, list[Call]] = {}
        for call in copies:
            owned.setdefault(groups[call.file], []).append(call)
        packed = (
            self._pack(tails, seen.get(group, []), reports, owned.get(group, []), batches, used)
            for group, tails in members.items()
        )
        numbers = self._cache.put(packed, [part.number for part in kept]) if members else []
        marked: dict[str, SessionView] = {}
        for number, group in zip(numbers, members):
            for place, view in enumerate(seen.get(group, [])):
                turns = Marked(view.turns)
                turns.known = self._note(number, place)
                marked[view.session] = view = msgspec.structs.replace(view, turns=turns)
                turns.known.owner = id(view)
        return [marked.get(view.session, view) for view in views]

    def flush(self) -> None:
        """Store what was derived from sessions in this run."""
        rows = [(k.part, k.place, name, data) for k in self._known for name, data in k.fresh.items()]
        self._known.clear()
        if rows:
            self._cache.derive(rows)

    def _may_stay(self, tail: Tail) -> bool:
        """Whether what was read of a file is all there is to it, and any later change of it will show."""
        if tail.stamp is None or tail.database or not _plain(tail.name):
            return False
        if tail.reader is not None and tail.reader.source not in _ALONE:
            return False
        changed = tail.stamp[1]
        return changed < self._began - tick(changed)

    def _pack(
        self,
        tails: list[Tail],
        views: list[SessionView],
        reports: Mapping[str, FileReport],
        copies: list[Call],
        batches: Mapping[str, Batch],
        used: Mapping[str, set[str]],
    ) -> Packed:
        problems = [record for tail in tails for record in batches[tail.name].records if isinstance(record, Problem)]
        names = set().union(*(used[tail.name] for tail in tails), (view.session for view in views))
        head = Head(
            [msgspec.structs.replace(view, turns=()) for view in views],
            [len(view.turns) for view in views],
            problems,
            [reports[tail.name] for tail in tails],
            copies,
        )
        return Packed(
            [(self._key(tail.name), tail.stamp or (0, 0, 0)) for tail in tails],
            _encode(head),
            [_encode(list(view.turns)) for view in views],
            _encode(list(names)),
        )


def _plain(name: str) -> bool:
    """Whether a name can be stored: one that is no text (undecodable bytes) cannot."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def names_of(batch: Batch) -> set[str]:
    """All by which records of a file may have to do with those of another one: sessions, keys of calls and events."""
    calls = [record for record in batch.records if type(record) is Call]
    others = [record for record in batch.records if type(record) is not Call]
    names = {call.key for call in calls}
    # calls of a file are nearly all of one kind
    kinds = {(call.session, call.session_evidence, call.evidence is not None): call for call in calls}
    items: list[Call | Event] = list(kinds.values())
    for record in others:
        if isinstance(record, Event):
            names.add(record.key)
            items.append(record)
        elif isinstance(record, SessionInfo | Step):
            names.add(record.session)
    names.update(item.session for item in items)
    if any(map(is_loose, items)):
        names.add(_LOOSE)
    names.discard("")
    return names


def _groups(used: Mapping[str, set[str]], views: Sequence[SessionView]) -> dict[str, str]:
    """For each file a file that stands for its group: those that have a name in common, or a session.

    Args:
        used: the names each file uses.
    """
    leaders = {file: file for file in used}

    def leader(file: str) -> str:
        while leaders[file] != file:
            leaders[file] = leaders[leaders[file]]
            file = leaders[file]
        return file

    first: dict[str, str] = {}
    for file, names in used.items():
        for name in names & first.keys():
            leaders[leader(file)] = leader(first[name])
        first.update(dict.fromkeys(names, file))
    for view in views:
        for file in view.files[1:]:
            leaders[leader(file)] = leader(view.files[0])
    return {file: leader(file) for file in leaders}


def flush() -> None:
    """At the end of a command: store what was derived in it."""
    for memory in list(_memories):
        memory.flush()
