"""Conversations by their messages: which earlier request a request continues.

A conversation is a row of windows; a window is known by the digest of its last request. A request joins

* the window whose last request is the longest beginning of its own;
* else the window whose last answer is its own first item (a compaction item that stands for all before it);
* else, with a shared beginning of three messages or more, the window that once held that beginning (rewind, retry,
  summarising request, edited last message);
* else the window it shares half of its messages with, in any order (context editing, cleared tool results);
* else the window that was summarised last, if it comes from the same sender soon after, or repeats a message of it;
* else the window that it is longer than and shares the first message, system prompt and tools with: some clients write
  history anew when they resume;
* a request for a summary that stands alone (history as text): the window of its sender's last conversation, if no
  other one went on meanwhile, else of the one that waited for it and then goes on with something new;
* else a window with the same ``prompt_cache_key``, if that is a unique id (applications also use constants);
* else it opens a conversation.

Requests beside the conversation (titles, token counting) belong to the conversation of their sender nearest in time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from monitor.readers.patterns import lazy
from monitor.records import Call, Evidence, SessionEvidence
from monitor.sessions.sessionize_summaries import Break, Breaks
from monitor.sessions.sessionize_windows import SUMMARY_GAP_MS, Lived, Scope, Window, may, reworded

_MIN_SHARED = 3  # messages of a shared beginning that are no coincidence
_HALF = 0.5
_BESIDE_GAP_MS = 3_600_000
_UNIQUE = lazy(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_NO_EVIDENCE = Evidence()


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a call belongs."""

    session: str
    evidence: SessionEvidence
    chain: str


class Conversations:
    """Forms sessions of calls given in time order."""

    def __init__(self, calls: Iterable[Call], forced: str | None = None) -> None:
        self._forced = forced
        #: responses that some request continues: their calls are found by id, whatever else they tell
        self._continued: set[str] = set()
        self._agents: set[str] = set()  # sessions whose client names its subagents
        for call in calls:
            if call.evidence is not None and call.evidence.previous_response_id:
                self._continued.add(call.evidence.previous_response_id)
            if call.chain.startswith("agent:") and call.session_evidence == "explicit":
                self._agents.add(call.session)
        self._scopes: dict[str, Scope] = {}  # explicit session -> its windows; "" for all others
        self._places: dict[int, Place] = {}
        self._keys: dict[str, int] = {}  # calls by the provider's id, which other captures of them have too
        self._same: list[tuple[int, int]] = []
        self._responses: dict[str, Place] = {}
        self._lived: dict[str | None, dict[str, Lived]] = {}  # sender -> its conversations
        self._recent: dict[str | None, list[tuple[int, str]]] = {}  # sender -> times and sessions of work
        self._beside: list[tuple[int, Call]] = []
        self._breaks = Breaks()
        self._alone: list[tuple[int, Call, Window]] = []  # requests for summaries that opened a window

    def takes(self, call: Call) -> bool:
        """Whether there is something here to go by."""
        evidence = call.evidence
        if call.session_evidence == "explicit" and self._forced is None:
            return True
        if evidence is None:
            return False
        if self._forced == "chain":
            return bool(evidence.response_id or evidence.previous_response_id)
        if self._forced == "prefix":
            return bool(evidence.messages)
        if call.session_evidence != "file":
            return False
        return bool(evidence.messages or evidence.previous_response_id) or evidence.response_id in self._continued

    def add(self, index: int, call: Call) -> None:
        """Place a call. ``index`` is what :meth:`finish` names it by."""
        evidence = call.evidence or _NO_EVIDENCE
        named = call.session_evidence == "explicit" and self._forced is None
        if call.key and call.call_id and (first := self._keys.setdefault(call.key, index)) != index:
            self._same.append((index, first))  # the other side of a proxy
            return
        if named:
            self._note(evidence.origin, call, call.session)
            if call.chain != "main" or call.purpose == "side" or not evidence.messages:
                self._responses_of(call, evidence, Place(call.session, "explicit", call.chain))
                return
        elif call.purpose == "side" or (not evidence.messages and not evidence.previous_response_id):
            self._beside.append((index, call))
            return
        place = self._find(index, call, evidence, named)
        self._places[index] = place
        self._responses_of(call, evidence, place)
        if not named:
            self._note(evidence.origin, call, place.session)

    def finish(self) -> dict[int, Place]:
        """All places; requests beside conversations are placed now, when their neighbours are known."""
        for index, call in self._beside:
            evidence = call.evidence or _NO_EVIDENCE
            known = self._responses.get(evidence.previous_response_id or "")
            if known is None and evidence.response_id:
                known = self._responses.get(evidence.response_id)
            name = known.session if known is not None else self._nearest(evidence.origin, call.time)
            chain = "side" if call.purpose != "work" else "main"
            self._places[index] = Place(name or _name(call), "chain" if known is not None else "prefix", chain)
        self._beside = []
        alone = [(index, call) for index, call, window in self._alone if not window.calls]
        for index, session in self._breaks.claim(alone, self._lived).items():
            self._places[index] = Place(session, "prefix", "side")
        for index, first in self._same:
            if first in self._places:
                self._places[index] = self._places[first]
        return self._places

    # ------------------------------------------------------------------------------------------------ one call
    def _find(self, index: int, call: Call, evidence: Evidence, named: bool) -> Place:
        chained = evidence.messages
        scope = self._scopes.setdefault(call.session if named else "", Scope())
        kind: SessionEvidence = "explicit" if named else "prefix"
        if not named and evidence.previous_response_id and self._forced != "prefix":
            known = self._responses.get(evidence.previous_response_id)
            kind = "chain"
            if known is not None:
                return Place(known.session, "chain", call.chain if call.purpose != "work" else known.chain)
            if not chained or self._forced == "chain":
                return Place(_name(call, evidence.previous_response_id), "chain", call.chain)
        if self._forced == "chain":
            return Place(_name(call), "chain", call.chain)
        window = self._window(scope, call, evidence)
        if window is None and not named:
            window = self._asking(call, evidence)
        if window is None:
            window = self._open(scope, call, evidence, named)
            if call.purpose == "compaction" and not named:
                self._alone.append((index, call, window))
        self._update(scope, window, call, evidence)
        chain = window.chain if call.purpose == "work" else call.chain
        if kind != "explicit":  # the first one of a chain is in it because others name it
            kind = "chain" if evidence.response_id in self._continued and self._forced is None else "prefix"
        return Place(window.session, kind, chain)

    def _window(self, scope: Scope, call: Call, evidence: Evidence) -> Window | None:
        chained = evidence.messages
        for end in range(len(chained), 0, -8):
            candidates = scope.by_complete.get(chained[end - 8 : end])
            if candidates:
                found = self._best(candidates, call, evidence, end)
                if found is not None:
                    return found
        window = (
            scope.by_response.get(int.from_bytes(evidence.message_ids[:8], "big")) if evidence.message_ids else None
        )
        if window is not None and may(window, evidence) and window.origin == evidence.origin:
            return window
        for end in range(len(chained), 8 * _MIN_SHARED - 1, -8):
            window = scope.by_prefix.get(chained[end - 8 : end])
            if window is not None and may(window, evidence):
                return window
        return (
            self._similar(scope, evidence)
            or self._summarised(scope, call, evidence)
            or reworded(scope, evidence)
            or self._keyed(scope, evidence)
        )

    def _best(self, candidates: list[Window], call: Call, evidence: Evidence, end: int) -> Window | None:
        """The window, among those whose last request is this beginning, that fits best."""
        rest = evidence.message_ids[end : end + 8] if len(evidence.message_ids) == len(evidence.messages) else b""
        best: tuple[int, int] | None = None
        found: Window | None = None
        for window in candidates:
            if not may(window, evidence):
                continue
            if end == len(evidence.messages) and window.calls == 1 and not window.failed and call.purpose == "work":
                continue  # the same opening once more: another conversation
            same = (window.system == evidence.system) + (window.tools == evidence.tools)
            if end <= 8 and not same and window.model != call.model:
                continue  # one shared message and nothing else
            if window.origin != evidence.origin and (end < 8 * _MIN_SHARED or end == len(evidence.messages)):
                continue  # the same request by another sender is another conversation
            answered = bool(rest) and window.response is not None and window.response == int.from_bytes(rest, "big")
            rank = (4 * answered + same + (window.origin == evidence.origin), window.time or 0)
            if best is None or rank > best:
                best, found = rank, window
        return found

    def _similar(self, scope: Scope, evidence: Evidence) -> Window | None:
        """The window that shares half of the messages, in any order."""
        single = evidence.message_ids
        if len(single) < 16:
            return None
        votes: Counter[int] = Counter()
        seen: dict[int, Window] = {}
        for at in range(0, len(single), 8):
            window = scope.by_single.get(single[at : at + 8])
            if window is not None:
                votes[id(window)] += 1
                seen[id(window)] = window
        for key, count in votes.most_common(1):
            window = seen[key]
            least = min(len(single), len(window.single)) // 8
            if count >= 2 and count >= _HALF * least and may(window, evidence) and window.origin == evidence.origin:
                return window
        return None

    def _summarised(self, scope: Scope, call: Call, evidence: Evidence) -> Window | None:
        """The window whose summary was made last, if this request may stand on it."""
        if call.purpose != "work":
            return None
        held = {evidence.message_ids[at : at + 8] for at in range(0, len(evidence.message_ids), 8)}
        for window in reversed(scope.windows[-64:]):
            if not window.pending or not may(window, evidence) or window.origin != evidence.origin:
                continue
            shared = any(window.single[at : at + 8] in held for at in range(0, len(window.single), 8))
            near = call.time is None or window.time is None or call.time - window.time <= SUMMARY_GAP_MS
            alike = window.system == evidence.system or window.tools == evidence.tools
            if shared or (near and alike):
                return window
        return None

    def _asking(self, call: Call, evidence: Evidence) -> Window | None:
        """The window that a request for a summary is about: that of the conversation its sender had last, if no other
        one with this model went on meanwhile."""
        time = call.time
        if call.purpose != "compaction" or time is None:
            return None
        lately = [one for one in self._lived.get(evidence.origin, {}).items() if time - one[1].last <= SUMMARY_GAP_MS]
        lately = [one for one in lately if call.model in one[1].models] or lately
        if not lately:
            return None
        name, best = max(lately, key=lambda one: one[1].last)
        if any(one is not best and one.last > best.first for _, one in lately):
            return None
        scope = self._scopes.get(name) or self._scopes.get("") or Scope()
        return next((window for window in reversed(scope.windows) if window.session == name and window.calls), None)

    def _keyed(self, scope: Scope, evidence: Evidence) -> Window | None:
        key = evidence.cache_key
        if key is None or _UNIQUE.fullmatch(key) is None:
            return None
        return scope.unique_keys.get(key)

    def _open(self, scope: Scope, call: Call, evidence: Evidence, named: bool) -> Window:
        """A new window: of a named session, or of a new conversation."""
        if not named:
            key = evidence.cache_key
            unique = key is not None and _UNIQUE.fullmatch(key) is not None
            name = key if unique and key is not None else _name(call)
            window = Window(name, "main" if call.purpose != "work" else call.chain)
        else:
            chain = call.chain
            main = scope.main
            if main is not None and call.purpose == "work" and call.session not in self._agents:
                other = evidence.system != main.system and evidence.tools != main.tools
                if other and evidence.system is not None and main.system is not None:
                    chain = f"agent:{_digest(call)}"
            window = Window(call.session, chain if call.purpose == "work" else "main")
        scope.windows.append(window)
        return window

    def _update(self, scope: Scope, window: Window, call: Call, evidence: Evidence) -> None:
        chained, single = evidence.messages, evidence.message_ids
        if call.purpose != "compaction" and call.time is not None and window.calls and window.worked is not None:
            end = 8 * window.length
            if window.complete != chained[max(0, end - 8) : end]:
                self._breaks.note(evidence.origin, Break(window.session, call.model, window.worked, call.time))
        if call.time is not None:
            window.time = call.time
            if call.purpose != "compaction":
                window.worked = call.time + (call.duration_ms or 0)
        if call.purpose == "compaction":
            window.pending = window.pending or call.status != "error"
            if not window.single:
                window.origin, window.system, window.tools = evidence.origin, evidence.system, evidence.tools
                window.single = single
            return
        window.calls += 1
        window.pending = False
        window.failed = call.status == "error"
        if window.complete:
            held = scope.by_complete.get(window.complete)
            if held is not None and window in held:
                held.remove(window)
        held_on = _held(window.single, single)
        window.complete, window.length, window.single = chained[-8:], len(chained) // 8, single
        window.system, window.tools, window.origin = evidence.system, evidence.tools, evidence.origin
        window.model, window.cache_key, window.response = call.model, evidence.cache_key, evidence.response
        if chained:
            scope.by_complete.setdefault(window.complete, []).append(window)
        for end in range(len(chained), 8 * _MIN_SHARED - 1, -8):
            if scope.by_prefix.get(chained[end - 8 : end]) is window:
                break
            scope.by_prefix[chained[end - 8 : end]] = window
        for at in range(held_on, len(single), 8):  # a client may have put other words between those known
            scope.by_single[single[at : at + 8]] = window
        if evidence.response is not None:
            scope.by_response[evidence.response] = window
        if evidence.cache_key:
            scope.unique_keys[evidence.cache_key] = window
        if scope.main is None or window.chain == "main":
            scope.main = window

    # ------------------------------------------------------------------------------------------------ neighbours
    def _responses_of(self, call: Call, evidence: Evidence, place: Place) -> None:
        own = place if call.purpose == "work" else Place(place.session, place.evidence, "main")
        for id in (evidence.response_id, call.call_id):
            if id:
                self._responses[id] = own
        if evidence.previous_response_id:
            self._responses.setdefault(evidence.previous_response_id, own)

    def _note(self, origin: str | None, call: Call, session: str) -> None:
        time = call.time
        if time is not None:
            if call.purpose == "work":
                lived = self._lived.setdefault(origin, {}).setdefault(session, Lived(time))
                lived.last, lived.ended = time, time + (call.duration_ms or 0)
                lived.models.add(call.model)
            row = self._recent.setdefault(origin, [])
            if not row or row[-1][1] != session:
                row.append((time, session))
            else:
                row[-1] = (time, session)

    def _nearest(self, origin: str | None, time: int | None) -> str | None:
        """Session of the sender's last work before a moment, else of the first one soon after it."""
        row = self._recent.get(origin)
        if not row or time is None:
            return row[-1][1] if row else None
        before = after = None
        for moment, session in row:
            if moment <= time:
                before = (moment, session)
            else:
                after = (moment, session)
                break
        if before is not None and time - before[0] <= _BESIDE_GAP_MS:
            return before[1]
        if after is not None and after[0] - time <= _BESIDE_GAP_MS:
            return after[1]
        return before[1] if before is not None else None


def _held(old: bytes, new: bytes) -> int:
    """How much of a row of digests is what stood there before; of a long row only the end is kept."""
    if new.startswith(old):
        return len(old)
    end = new.rfind(old[-8:]) + 8
    return end if end % 8 == 0 and end > 7 and old.endswith(new[:end]) else 0


def _digest(call: Call) -> str:
    told = call.key or f"{call.file}:{call.line}:{call.time}"
    return blake2b(told.encode("utf-8", "replace"), digest_size=4).hexdigest()


def _name(call: Call, anchor: str = "") -> str:
    """A name for a session, made of its first call (or of the response it continues)."""
    told = anchor or call.key or f"{call.file}:{call.line}:{call.time}"
    return "conv-" + blake2b(told.encode("utf-8", "replace"), digest_size=5).hexdigest()
