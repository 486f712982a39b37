"""All sessions, kept up to date as files tell more. Calls found in several files count once, with their owner.

Feed it :class:`~monitor.sources.files.Batch` after batch (:meth:`Store.apply`), then ask for :meth:`Store.views`: only
sessions that changed are analysed again, and of these only the changed end.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import msgspec

from monitor.records import Call, Event, Problem, SessionInfo, Step
from monitor.sessions.attic import Attic
from monitor.sessions.build import Session, Settings
from monitor.sessions.loose import Loose, nearby
from monitor.sessions.owners import settle
from monitor.sessions.refit import Own, applied, own
from monitor.sessions.told import Entry, FileState, Item, Key, fullest, is_loose
from monitor.sessions.view import SessionView
from monitor.sources.files import Batch

_RECENT_STEPS = 40


class Store:
    """Sessions made of the records of many files.

    Args:
        detail: all steps are kept.
        hot: for a program that runs all day: so many of the latest records of a session stay as they are, older ones
            are packed (:mod:`monitor.sessions.attic`).
    """

    def __init__(self, settings: Settings | None = None, *, detail: bool = False, hot: int | None = None) -> None:
        self.settings = settings or Settings()
        self.detail = detail
        self.hot = hot
        self._attic = Attic()
        self.files: dict[str, FileState] = {}
        self.sessions: dict[str, Session] = {}
        #: who tells of a key: the one entry, or, where several do, those of each session
        self._keys: dict[str, Entry | dict[str, list[Entry]]] = {}
        self._told_again: set[str] = set()  # keys that several entries have
        self._shared: set[str] = set()  # keys that more than one session has
        self._owners: dict[str, str] = {}  # owner of each shared key
        self._sharing: set[str] = set()  # sessions that share keys
        self._shared_changed = False
        self._dirty: set[str] = set()
        self._loose = Loose()
        self.session_by: str | None = None
        self.later = False  # old records are packed by :meth:`tidy` only
        self._own: Own | None = None  # factors of forecasts from the user's own history

    # ------------------------------------------------------------------------------------------------ in
    def apply(self, batch: Batch) -> None:
        """Take what a file says (anew or in addition)."""
        state = self.files.get(batch.file)
        if state is None:
            state = self.files[batch.file] = FileState(len(self.files))
        elif batch.replace:
            self._forget(state, batch.file)
        told, number, keys, sharing = state.calls, state.number, self._keys, self._sharing
        session: Session | None = None
        for record in batch.records:
            if type(record) is not Call:
                self._other(state, record)  # type: ignore[arg-type]
                continue
            key = record.key
            local = key or record.line
            # (one that is_loose is asked for here without a call)
            if local in told or record.evidence is not None or record.session_evidence == "file" or self._attic.known:
                self._take(state, told, record)
                continue
            # nearly every record of a past log comes here
            time = record.time
            if time is None:
                time = state.last_time
            else:
                state.last_time = time
            place = (time, number, record.line or 0)
            told[local] = entry = (record, place)
            if session is None or session.name != record.session:
                session = self._session(record.session)
                self._dirty.add(session.name)
            if key and keys.setdefault(key, entry) is not entry:
                self._put(session, entry)  # it was told before
                continue
            if sharing and session.name in sharing:
                self._shared_changed = True
            session.put(record, place)

    def _other(self, state: FileState, record: Event | Problem | SessionInfo | Step) -> None:
        if isinstance(record, Step):
            self._step(state, record)
        elif isinstance(record, Event):
            self._take(state, state.events, record)
        elif isinstance(record, SessionInfo):
            self._info(state, record)
        else:
            state.problems.append(record)

    def _take(self, state: FileState, told: dict[str | int | None, Entry], item: Item) -> None:
        time = item.time
        if time is None:
            time = state.last_time
        else:
            state.last_time = time
        place = (time, state.number, item.line or 0)
        local = item.key or item.line
        if self._attic.known and local not in told:
            self._bring_back(self._attic.holding(item))
        old = told.get(local)
        if old is not None:
            # the same record, told again by the same file: the later telling counts; its place in time stays
            before = old[1]
            place = (before[0] if item.time is None else min(before[0], time), state.number, before[2])
            self._remove(*old)
        told[local] = entry = (item, place)
        if is_loose(item):
            self._loose.put(item, place)
        else:
            self._enter(entry)

    def _session(self, name: str) -> Session:
        if (found := self.sessions.get(name)) is None:
            found = Session(name, self.settings, steps_complete=self.detail, hot=self.hot, later=self.later)
            self.sessions[name] = found
        return found

    def _enter(self, entry: Entry) -> None:
        item = entry[0]
        name = item.session
        session = self._session(name)
        self._dirty.add(name)
        if self._attic.known:
            if item.key and item.key not in self._keys:
                self._bring_back(self._attic.holding(item))
            if session.in_cold(entry[1]):
                self._bring_back([name])
        self._put(session, entry)

    def _put(self, session: Session, entry: Entry) -> None:
        item = entry[0]
        key = item.key
        if key and self._keys.setdefault(key, entry) is not entry and self._again(key, session, entry):
            return
        if session.name in self._sharing:
            self._shared_changed = True
        session.put(item, entry[1])

    def _again(self, key: str, session: Session, entry: Entry) -> bool:
        """A key that was told before; True if the entry has found its place."""
        holders = self._holders(key)
        places = holders.get(session.name)
        if places is not None:
            places.append(entry)
            self._best(session, places)
            return True
        holders[session.name] = [entry]
        if len(holders) > 1:
            self._shared.add(key)
            self._sharing.update(holders)
            self._shared_changed = True
            self._bring_back(holders)
        return False

    def _holders(self, key: str) -> dict[str, list[Entry]]:
        found = self._keys[key]
        if isinstance(found, dict):
            return found
        several = self._keys[key] = {found[0].session: [found]}
        self._told_again.add(key)
        return several

    def _best(self, session: Session, places: list[Entry]) -> None:
        """One call told by several files of a session: the fullest telling stays in the session; the others wait."""
        best = fullest(places)
        if any(session.in_cold(place) for _, place in places):
            self._bring_back([session.name])
        for item, place in places:
            session.drop(item, place)
        session.put(*best)

    def _remove(self, item: Item, place: Key) -> None:
        if is_loose(item):
            self._loose.remove(item)
        else:
            self._leave(item, place)

    def _leave(self, item: Item, place: Key) -> None:
        name = item.session
        if (session := self.sessions.get(name)) is None:
            return
        if session.in_cold(place):
            self._bring_back([name])
        session.drop(item, place)
        self._dirty.add(name)
        key = item.key
        found = self._keys.get(key) if key else None
        if found is None:
            return
        if not isinstance(found, dict):
            if found[0] is item:
                del self._keys[key]
            return
        if (places := found.get(name)) is None:
            return
        found[name] = [entry for entry in places if entry[0] is not item]
        if found[name]:
            self._best(session, found[name])
        else:
            del found[name]
        if key in self._shared:
            self._shared_changed = True
            if len(found) < 2:
                self._shared.discard(key)
        if not found:
            del self._keys[key]
            self._told_again.discard(key)

    def _step(self, state: FileState, step: Step) -> None:
        state.steps.append(step)
        session = self.sessions.get(step.session) or self._session(step.session)
        bucket = session.steps.get(step.chain)
        if bucket is None:
            bucket = session.steps[step.chain] = []
        bucket.append(step)
        if not self.detail:
            if len(bucket) > 2 * _RECENT_STEPS:
                del bucket[:-_RECENT_STEPS]
            if len(state.steps) > 4 * _RECENT_STEPS:
                del state.steps[: -2 * _RECENT_STEPS]
        self._dirty.add(step.session)

    def _info(self, state: FileState, info: SessionInfo) -> None:
        state.infos.append(info)
        self._session(info.session).infos[(info.file, info.chain)] = info
        self._dirty.add(info.session)

    def _forget(self, state: FileState, file: str) -> None:
        """Take back all that a file said."""
        self._loose.part()
        self._bring_back(self._attic.of_file(file, self.sessions))
        for told in (state.calls, state.events):
            for item, place in reversed(told.values()):  # from the end: nothing has to move up
                self._remove(item, place)
        for step in state.steps:
            session = self.sessions.get(step.session)
            if session is not None:
                bucket = session.steps.get(step.chain, [])
                session.steps[step.chain] = [other for other in bucket if other is not step]
                self._dirty.add(step.session)
        for info in state.infos:
            session = self.sessions.get(info.session)
            if session is not None:
                session.infos.pop((info.file, info.chain), None)
                self._dirty.add(info.session)
        state.calls, state.events, state.infos, state.problems, state.steps = {}, {}, [], [], []
        state.last_time = 0

    # ------------------------------------------------------------------------------------------------ packing
    def _bring_back(self, names: Iterable[str]) -> None:
        """Unpack the records of sessions and put them into the indexes again."""
        for name in names:
            session = self.sessions[name]
            for number, item, place in self._attic.open(session):
                told = self.files[item.file].told(item)
                entry = told.setdefault(item.key or item.line, (item, place))
                if entry[0] is not item:
                    session.items[number] = entry[0]  # it had stayed in the indexes
                if item.key:
                    self._keys.setdefault(item.key, entry)

    def _put_away(self, item: Item, place: Key) -> None:
        """Take a record that is to be packed out of the indexes. What several tell of stays there."""
        told, local = self.files[item.file].told(item), item.key or item.line
        entry = told[local]
        if item.key:
            if self._keys.get(item.key) is not entry:
                return
            del self._keys[item.key]
        del told[local]

    def _indexed(self, item: Item) -> bool:
        """Whether a session holds a record just as a file told it, and may part with it."""
        entry = self.files[item.file].told(item).get(item.key or item.line)
        return entry is not None and entry[0] is item

    # ------------------------------------------------------------------------------------------------ sessions
    def _settle_loose(self) -> None:
        """Form sessions of calls that name none, and move the events of these calls along."""
        changes, gone = self._loose.settle(self.session_by, partial(nearby, self.sessions.values()))
        for old, old_place, result, place in changes:
            if old is not None:
                self._leave(old, old_place)
            if result is not None:
                self._enter((result, place))
        for item in gone:
            self._drop_anywhere(item)

    def _drop_anywhere(self, gone: Item) -> None:
        if (session := self.sessions.get(gone.session)) is not None:
            held = zip(list(session.items), list(session.order), strict=True)
            if (place := next((key for item, key in held if item is gone), None)) is not None:
                self._leave(gone, place)

    def _settle_owners(self) -> None:
        """Who owns calls that several sessions hold."""
        self._shared_changed = False
        shared = {key: self._holders(key) for key in self._shared}
        self._sharing = {name for holders in shared.values() for name in holders}
        for key, owner in settle(shared, self.sessions).items():
            if self._owners.get(key) != owner:
                self._owners[key] = owner
                for name in shared[key]:
                    session = self.sessions[name]
                    session.changed_from = 0
                    self._dirty.add(name)

    def inherited(self, item: Item, name: str) -> bool:
        """Whether a record of this session belongs to another one."""
        return bool(item.key) and item.key in self._shared and self._owners.get(item.key) != name

    # ------------------------------------------------------------------------------------------------ out
    def refresh(self) -> list[SessionView]:
        """Analyse what changed; the views that are new or different."""
        if self._loose.due(self.sessions[name] for name in self._dirty):
            self._settle_loose()
        if self._shared_changed:
            self._settle_owners()
        changed: list[SessionView] = []
        for name in self._dirty:
            session = self.sessions[name]
            if not session.items and not session.infos:
                del self.sessions[name]
                continue
            shared = name in self._sharing
            view = session.refresh(partial(self.inherited, name=name) if shared else None)
            if self._own is not None:
                view = session.view = applied(view, self._own)
            changed.append(view)
            if self.later:
                self._attic.untidy[name] = None
            elif self.hot is not None and not shared:
                self._attic.pack(session, self._indexed, self._put_away)
        self._dirty.clear()
        return changed

    def tidy(self) -> bool:
        """Pack a little of what is old, when nobody waits. False if there was nothing to do."""
        return self._attic.tidy(self.sessions, self._sharing, self._indexed, self._put_away)

    def views(self) -> list[SessionView]:
        """All sessions that hold calls of their own, latest activity first."""
        self.refresh()
        found = (session.view for session in self.sessions.values())
        shown = [view for view in found if view is not None and (view.turns or view.totals_only)]
        return sorted(shown, key=lambda view: (view.last or -1, view.session), reverse=True)

    def learn(self) -> bool:
        """Take the ranges of forecasts from the history that is here, if it is enough; True if they are other ones."""
        found = own(self.views())
        if found is None or found == self._own:
            return False
        self._own = found
        for session in self.sessions.values():
            session.view = applied(session.view, found) if session.view is not None else None
        return True

    def problems(self) -> list[Problem]:
        """Everything that could not be read, in order of files."""
        return [problem for state in self.files.values() for problem in state.problems]

    def copies(self) -> list[Call]:
        """Calls that other sessions own, as the sessions holding copies show them."""
        found: list[Call] = []
        for name, session in self.sessions.items():
            if session.view is not None and not session.view.inherited_calls:
                continue
            for item in session.items:
                if type(item) is Call and (item.inherited or self.inherited(item, name)):
                    found.append(item if item.inherited else msgspec.structs.replace(item, inherited=True))
        return found

    def duplicates(self) -> dict[str, int]:
        """How many calls of each file count elsewhere: another session owns them, or another file tells more."""
        found: dict[str, int] = {}
        for key in self._told_again:
            for name, places in self._holders(key).items():
                best = None if key in self._shared and self._owners.get(key) != name else fullest(places)
                for entry in places:
                    if entry is not best and isinstance(entry[0], Call):
                        found[entry[0].file] = found.get(entry[0].file, 0) + 1
        calls = (item for state in self.files.values() for item, _ in state.calls.values() if isinstance(item, Call))
        for item in [*self._loose.twin_calls(), *(call for call in calls if call.inherited)]:
            found[item.file] = found.get(item.file, 0) + 1
        return found
