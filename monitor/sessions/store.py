"""All sessions, kept up to date as files tell more. Calls found in several files count once, with their owner.

Feed it :class:`~monitor.sources.files.Batch` after batch (:meth:`Store.apply`), then ask for :meth:`Store.views`: only
sessions that changed are analysed again, and of these only the changed end.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from monitor.records import Call, Event, Problem, SessionInfo, Step
from monitor.sessions.build import Item, Session, Settings
from monitor.sessions.view import SessionView
from monitor.sources.files import Batch

_RECENT_STEPS = 40
Key = tuple[int, int, int]


class FileState:
    """What one file has told so far."""

    __slots__ = ("duplicates", "infos", "items", "last_time", "number", "problems", "sessions", "steps")

    def __init__(self, number: int) -> None:
        self.number = number  # rank of the file: order among records of the same time
        self.items: dict[str, tuple[Item, Key]] = {}
        self.infos: list[SessionInfo] = []
        self.problems: list[Problem] = []
        self.steps: list[Step] = []
        self.sessions: set[str] = set()
        self.last_time = 0
        self.duplicates = 0


class Store:
    """Sessions made of the records of many files."""

    def __init__(self, settings: Settings | None = None, *, detail: bool = False) -> None:
        self.settings = settings or Settings()
        self.detail = detail
        self.files: dict[str, FileState] = {}
        self.sessions: dict[str, Session] = {}
        self._keys: dict[str, dict[str, list[tuple[str, Item, Key]]]] = {}  # key -> session -> places
        self._shared: set[str] = set()  # keys that more than one session has
        self._owners: dict[str, str] = {}  # owner of each shared key
        self._own_start: dict[str, int | None] = {}
        self._sharing: set[str] = set()  # sessions that share keys
        self._shared_changed = False
        self._dirty: set[str] = set()
        self._loose: dict[str, tuple[Call, Key]] = {}  # calls whose session is not known by a name
        self._loose_changed = False
        self._loose_events: dict[str, tuple[Event, Key]] = {}  # events that belong to a call (key "<call>#…")
        self._assigned: dict[str, Item] = {}
        self.session_by: str | None = None

    # ------------------------------------------------------------------------------------------------ in
    def apply(self, batch: Batch) -> None:
        """Take what a file says (anew or in addition)."""
        state = self.files.get(batch.file)
        if state is None:
            state = self.files[batch.file] = FileState(len(self.files))
        elif batch.replace:
            self._forget(batch.file, state)
        for record in batch.records:
            if isinstance(record, Call):
                self._item(state, record, f"c{record.key or record.line}")
            elif isinstance(record, Step):
                self._step(state, record)
            elif isinstance(record, Event):
                self._item(state, record, f"e{record.key or record.line}")
            elif isinstance(record, SessionInfo):
                self._info(state, record)
            else:
                state.problems.append(record)

    def _item(self, state: FileState, item: Item, local: str) -> None:
        time = item.time
        if time is None:
            time = state.last_time
        else:
            state.last_time = time
        place: Key = (time, state.number, item.line or 0)
        old = state.items.get(local)
        if old is not None:
            # the same record, told again by the same file: the later telling counts; its place in time stays
            place = (old[1][0] if item.time is None else min(old[1][0], place[0]), state.number, old[1][2])
            self._remove(old[0], old[1])
        state.items[local] = (item, place)
        self._add(item, place)

    def _add(self, item: Item, place: Key) -> None:
        if type(item) is Call and (item.evidence is not None or item.session_evidence == "file"):
            self._loose[_name(item)] = (item, place)
            self._loose_changed = True
            return
        if type(item) is Event and "#" in item.key:
            self._loose_events[_name(item)] = (item, place)
            self._loose_changed = True
            return
        self._enter(item, place)

    def _enter(self, item: Item, place: Key) -> None:
        name = item.session
        session = self.sessions.get(name)
        if session is None:
            session = self.sessions[name] = Session(name, self.settings, steps_complete=self.detail)
        if item.key:
            holders = self._keys.get(item.key)
            if holders is None:
                self._keys[item.key] = {name: [("", item, place)]}
            elif name in holders:
                holders[name].append(("", item, place))
                if not self._best(session, holders[name]):
                    self._dirty.add(name)
                return
            else:
                holders[name] = [("", item, place)]
                self._shared.add(item.key)
                self._sharing.update(holders)
                self._shared_changed = True
        if name in self._sharing:
            self._shared_changed = True
        session.put(item, place)
        self._dirty.add(name)

    def _best(self, session: Session, places: list[tuple[str, Item, Key]]) -> bool:
        """One call told by several files of a session: the fullest telling stays in the session; the others wait."""

        def rank(entry: tuple[str, Item, Key]) -> tuple[int, int]:
            item = entry[1]
            return ((item.output_tokens or 0) if isinstance(item, Call) else 0, -entry[2][1])

        best = max(places, key=rank)
        for _, item, place in places:
            if item is not best[1]:
                session.drop(item, place)
        session.drop(best[1], best[2])
        session.put(best[1], best[2])
        return False

    def _remove(self, item: Item, place: Key) -> None:
        if type(item) is Call and (item.evidence is not None or item.session_evidence == "file"):
            self._loose.pop(_name(item), None)
            self._loose_changed = True
            return
        if type(item) is Event and "#" in item.key:
            self._loose_events.pop(_name(item), None)
            self._loose_changed = True
            return
        self._leave(item, place)

    def _leave(self, item: Item, place: Key) -> None:
        name = item.session
        session = self.sessions.get(name)
        if session is None:
            return
        session.drop(item, place)
        self._dirty.add(name)
        holders = self._keys.get(item.key) if item.key else None
        if holders is not None and name in holders:
            holders[name] = [entry for entry in holders[name] if entry[1] is not item]
            if holders[name]:
                self._best(session, holders[name])
            else:
                del holders[name]
            if item.key in self._shared:
                self._shared_changed = True
                if len(holders) < 2:
                    self._shared.discard(item.key)
            if not holders:
                del self._keys[item.key]

    def _step(self, state: FileState, step: Step) -> None:
        state.steps.append(step)
        session = self.sessions.get(step.session)
        if session is None:
            session = self.sessions[step.session] = Session(step.session, self.settings, steps_complete=self.detail)
        bucket = session.steps.setdefault(step.chain, [])
        bucket.append(step)
        if not self.detail:
            if len(bucket) > 2 * _RECENT_STEPS:
                del bucket[:-_RECENT_STEPS]
            if len(state.steps) > 4 * _RECENT_STEPS:
                del state.steps[: -2 * _RECENT_STEPS]
        self._dirty.add(step.session)

    def _info(self, state: FileState, info: SessionInfo) -> None:
        state.infos.append(info)
        session = self.sessions.get(info.session)
        if session is None:
            session = self.sessions[info.session] = Session(info.session, self.settings, steps_complete=self.detail)
        session.infos[(info.file, info.chain)] = info
        self._dirty.add(info.session)

    def _forget(self, file: str, state: FileState) -> None:
        for item, place in list(state.items.values()):
            self._remove(item, place)
        for step in state.steps:
            session = self.sessions.get(step.session)
            if session is not None:
                bucket = session.steps.get(step.chain, [])
                session.steps[step.chain] = [other for other in bucket if other is not step]
        for info in state.infos:
            session = self.sessions.get(info.session)
            if session is not None:
                session.infos.pop((info.file, info.chain), None)
                self._dirty.add(info.session)
        self.files[file] = FileState(state.number)
        # _item() works on the state it was given: keep the object, empty it
        fresh = self.files[file]
        state.items, state.infos, state.problems, state.steps = fresh.items, fresh.infos, fresh.problems, fresh.steps
        self.files[file] = state

    # ------------------------------------------------------------------------------------------------ sessions
    def _settle_loose(self) -> None:
        """Form sessions of calls that name none, and move the events of these calls along."""
        from monitor.sessions.sessionize import assign, relocate

        self._loose_changed = False
        entries = sorted(self._loose.values(), key=lambda entry: entry[1])
        assigned = assign([call for call, _ in entries], session_by=self.session_by)
        happened = list(self._loose_events.values())
        moved = relocate([event for event, _ in happened], assigned)
        fresh: dict[str, Item] = {}
        told: list[tuple[Item, Key, Item]] = [(c, p, r) for (c, p), r in zip(entries, assigned, strict=True)]
        told += [(e, p, r) for (e, p), r in zip(happened, moved, strict=True)]
        for item, place, result in told:
            name = _name(item)
            old = self._assigned.get(name)
            if old is not None and old == result:
                fresh[name] = old
                continue
            if old is not None:
                self._leave(old, place)
            self._enter(result, place)
            fresh[name] = result
        for name, gone in self._assigned.items():
            if name not in fresh:
                self._drop_anywhere(gone)
        self._assigned = fresh

    def _drop_anywhere(self, gone: Item) -> None:
        session = self.sessions.get(gone.session)
        if session is not None:
            for item, key in zip(list(session.items), list(session.order), strict=True):
                if item is gone:
                    self._leave(gone, key)
                    return

    def _settle_owners(self) -> None:
        """Who owns calls that several sessions hold: the session whose own records begin earliest; a session that is
        only a prefix of others owns (contract.md, "Once")."""
        self._shared_changed = False
        starts: dict[str, int] = {}
        self._sharing = {name for key in self._shared for name in self._keys[key]}
        for name in self._sharing:
            session = self.sessions[name]
            own = -1
            for item, place in zip(session.items, session.order, strict=True):
                if type(item) is Call and not item.inherited and (not item.key or item.key not in self._shared):
                    own = place[0]
                    break
            starts[name] = own
        for key in self._shared:
            holders = self._keys[key]
            owner = min(holders, key=lambda name: (starts[name], holders[name][0][2]))
            if self._owners.get(key) != owner:
                self._owners[key] = owner
                for name in holders:
                    session = self.sessions[name]
                    session.changed_from = 0
                    self._dirty.add(name)

    def inherited(self, item: Item, name: str) -> bool:
        """Whether a record of this session belongs to another one."""
        key = item.key
        return bool(key) and key in self._shared and self._owners.get(key) != name

    # ------------------------------------------------------------------------------------------------ out
    def refresh(self) -> list[SessionView]:
        """Analyse what changed; the views that are new or different."""
        if self._loose_changed:
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
            changed.append(session.refresh(_Inherits(self, name) if shared else _never))
        self._dirty.clear()
        return changed

    def views(self) -> list[SessionView]:
        """All sessions that hold calls of their own, latest activity first."""
        self.refresh()
        found = [session.view for session in self.sessions.values() if session.view is not None]
        shown = [view for view in found if view.turns or view.totals_only]
        return sorted(shown, key=lambda view: (view.last or -1, view.session), reverse=True)

    def problems(self) -> list[Problem]:
        """Everything that could not be read, in order of files."""
        return [problem for state in self.files.values() for problem in state.problems]

    def copies(self) -> list[Call]:
        """Calls that other sessions own, as the sessions holding copies show them."""
        found: list[Call] = []
        for name, session in self.sessions.items():
            for item in session.items:
                if type(item) is Call and (item.inherited or self.inherited(item, name)):
                    found.append(item if item.inherited else msgspec.structs.replace(item, inherited=True))
        return found


def _name(item: Item) -> str:
    """Identity of a record within everything read."""
    kind = "c" if type(item) is Call else "e"
    return f"{item.file}\n{kind}{item.key or item.line}"


class _Inherits:
    """Tells a session's fold which calls and events another session owns."""

    __slots__ = ("name", "store")

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name

    def __call__(self, item: Item) -> bool:
        return self.store.inherited(item, self.name)


def _never(item: Item) -> bool:
    return False


def apply_all(store: Store, batches: Iterable[Batch]) -> None:
    """Apply many batches."""
    for batch in batches:
        store.apply(batch)
