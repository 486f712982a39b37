"""Sessions of logs that hold token counts only: each call goes to the open lane it fits best.

Surest first: cache reads that equal what the last call of a lane read and wrote (Anthropic), its whole prompt, or its
prompt rounded down to a multiple of 128 (OpenAI); then growth: the prompt is about the last prompt and its answer, plus
something new. A call that found nothing of a lane in the cache and is as large as conversations of this sender open
with opens one. A much smaller prompt is a compaction of its lane if a summary-sized answer stands before it, or if
there is no other lane and it is not the size conversations open with; else it opens a lane too. Small calls of another
model are side calls of the lane beside them. A lane is closed by an idle gap; the exact cache identities reopen it
within a day.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from monitor.readers.patterns import lazy
from monitor.records import Call
from monitor.sessions.aside import SMALL, TIMES

_DAY_MS = 86_400_000
_BLOCK = 128
_NEAR = 1_024  # cached prefixes may end a few blocks earlier
_LEAST_CACHED = 1_024  # no provider caches less
_SHRINK = 0.98
_ROOM, _ROOM_SHARE = 30_000, 0.6
_DROP, _DROP_TOKENS = 0.7, 4_000
_ALIKE = (0, -1, 1)  # steps of 5 %: opening prompts of one agent differ by the first message
_REACH = 48  # lanes looked at, the ones used last
_SUMMARY = (300, 8_000)  # tokens a summary takes
_SUMMARY_TIMES = 2.5  # and how much longer it is than the lane's usual answer
_GROWTH = 3_000  # tokens a call adds, about
_AGES = (0.0, 1.0, 1.4, 1.7, 2.0)  # a lane is less likely the more others were used after it
_CONTINUED = 0.9  # share of the last prompt that a continuing call reads from a warm cache
_DATE = lazy(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$")


class Lane:
    """One conversation, as its token counts tell."""

    __slots__ = ("first", "keys", "largest", "model", "name", "output", "places", "prompt", "spent", "start", "time")

    def __init__(self, name: str, model: str | None, start: int) -> None:
        self.name, self.model, self.start = name, model, start
        self.prompt = self.output = self.first = self.largest = 0
        self.spent = 0  # answers so far, but the last one
        self.time = start
        self.places: list[int] = []
        self.keys: tuple[int, ...] = ()  # reads by which its next call is known

    def summarised(self) -> bool:
        """Whether the last answer may have been a summary: of that size, and much longer than the ones before."""
        usual = self.spent / (len(self.places) - 1) if len(self.places) > 1 else self.output
        return _SUMMARY[0] <= self.output <= _SUMMARY[1] and self.output >= _SUMMARY_TIMES * usual


class Group:
    """Lanes of one sender."""

    __slots__ = ("awaited", "cache_works", "exact", "lanes", "models", "name", "open", "openings")

    def __init__(self, name: str) -> None:
        self.name = name
        self.awaited: dict[int, int] = {}  # call -> the last later call that reads just what it left in the cache
        self.open: list[Lane] = []
        self.lanes: list[Lane] = []
        self.exact: dict[tuple[str | None, int], list[Lane]] = {}
        self.cache_works = False
        self.models: dict[str | None, str | None] = {}
        self.openings: dict[str | None, set[int]] = {}  # model -> sizes of first prompts, in steps of 5 %

    def free(self, lanes: list[Lane], number: int) -> list[Lane]:
        """Those of the lanes used last whose next call is not known to be a later one."""
        if not self.awaited:
            return lanes
        awaited = self.awaited
        return [lane for lane in lanes[-_REACH:] if not lane.places or awaited.get(lane.places[-1], -1) <= number]

    def opens(self, model: str | None, prompt: int) -> bool:
        """Whether conversations of this sender open with about this size."""
        known = self.openings.get(model)
        if not known or not prompt:
            return False
        size = _size(prompt)
        return any(size + step in known for step in _ALIKE)


#: sender, index of the call, the call, its time, and its model without a date
_Told = tuple[Group, int, Call, int, "str | None"]


class Lanes:
    """Puts calls, given in time order, into lanes."""

    def __init__(self, idle_minutes: float) -> None:
        self._idle = int(idle_minutes * 60_000)
        self._groups: dict[tuple[str, str], Group] = {}

    def run(self, calls: Iterable[tuple[int, Call]]) -> Iterator[tuple[int, str, bool]]:
        """Index, session and whether it is a side call, for each ``(index, call)``."""
        found: dict[int, tuple[Lane, bool]] = {}
        keys: dict[str, int] = {}
        copies: list[tuple[int, int]] = []
        groups = self._groups
        told: list[_Told] = []
        last = 0
        for place, call in calls:
            if call.key and call.call_id:
                first = keys.setdefault(call.key, place)
                if first != place:
                    copies.append((place, first))  # the same call, told twice
                    continue
            evidence = call.evidence
            origin = evidence.origin if evidence is not None else None
            id = (call.source, origin or "\0" + call.file)
            group = groups.get(id)
            if group is None:
                group = groups[id] = Group(f"{id[0]}|{id[1]}")
            last = call.time if call.time is not None else last
            told.append((group, place, call, last, _model(group, call)))
        self._await(told)
        for number, (group, place, call, time, model) in enumerate(told):
            found[place] = self._place(group, place, call, time, number, model)
        for group in groups.values():
            self._settle(group, found)
        for place, first in copies:
            found[place] = found[first]
        for place, (lane, side) in found.items():
            yield place, lane.name, side

    @staticmethod
    def _await(told: list[_Told]) -> None:
        """Find the calls whose exact successor comes later: another conversation that opens meanwhile, with a prompt
        of a size that would do, is not their growth."""
        everything: dict[Group, dict[tuple[str | None, int], tuple[int, int, int]]] = {}
        for number, (group, place, call, time, model) in enumerate(told):
            prompt, read = call.prompt_tokens, call.cache_read_tokens
            if prompt is None or prompt < _LEAST_CACHED or call.purpose != "work":
                continue
            left = everything.get(group)  # by what a call left: its place, prompt and time
            if left is None:
                left = everything[group] = {}
            if read:
                held = left.get((model, read))
                if held is not None and prompt >= _SHRINK * held[1] and time - held[2] <= _DAY_MS:
                    group.awaited[held[0]] = number
            mine = (place, prompt, time)
            for key in _leaves(call, prompt):
                left[model, key] = mine

    # ------------------------------------------------------------------------------------------------ one call
    def _place(
        self, group: Group, place: int, call: Call, time: int, number: int, model: str | None
    ) -> tuple[Lane, bool]:
        lanes = group.open
        if lanes and time - lanes[0].time > self._idle:
            idle = self._idle
            lanes = group.open = [lane for lane in lanes if time - lane.time <= idle]
        prompt = call.prompt_tokens
        if prompt is None or call.purpose != "work":
            lane = lanes[-1] if lanes else self._new(group, call, model, time)
            return lane, call.purpose == "side"
        read = call.cache_read_tokens
        if read or call.cache_write_tokens:
            group.cache_works = True
        if read:
            held = group.exact.get((model, read))
            if held and (same := self._identical(held, prompt, time)) is not None:
                return self._join(group, same, place, call, prompt, time, model), False
        if prompt < SMALL and (beside := self._beside(lanes, model, prompt)) is not None:
            return beside, True
        free = group.free(lanes, number)
        found = self._grown(group, free, model, prompt, read) or self._dropped(group, free, model, prompt, read)
        if found is None:
            found = self._new(group, call, model, time)
        return self._join(group, found, place, call, prompt, time, model), False

    @staticmethod
    def _identical(held: list[Lane], prompt: int, time: int) -> Lane | None:
        """The lane whose cache this call read; of several the one used last."""
        best = None
        for lane in held:
            if (
                prompt >= _SHRINK * lane.prompt
                and time - lane.time <= _DAY_MS
                and (best is None or lane.time > best.time)
            ):
                best = lane
        return best

    @staticmethod
    def _grown(group: Group, lanes: list[Lane], model: str | None, prompt: int, read: int | None) -> Lane | None:
        """The open lane whose growth this call may be."""
        best = None
        least = 0.0
        opening = group.opens(model, prompt)
        cached = read is not None and group.cache_works
        for rank, lane in enumerate(reversed(lanes[-_REACH:])):  # the one used last comes first
            before = lane.prompt
            if not before:
                continue
            expected = before + lane.output
            if lane.model == model:
                if prompt < _SHRINK * before or prompt - expected > max(_ROOM, _ROOM_SHARE * before):
                    continue
                cost = abs(prompt - expected) / _GROWTH + _AGES[min(rank, 4)]
                if read is not None and cached and before >= 2 * _LEAST_CACHED:
                    if 0 <= before - read < _NEAR and read % _BLOCK == 0:
                        cost -= 6.0 - 2 * (before - read) / _NEAR
                    elif read > lane.largest:
                        continue  # more than this lane ever held
                    elif read < _CONTINUED * before:
                        if opening:
                            continue  # nothing of this lane was read, and conversations open with this size
                        cost += 1.0
                elif opening and rank:
                    continue  # without cache figures only the lane used last is likelier than a new one
            elif not 0.6 * before <= prompt <= 1.5 * expected or (read or 0) > _LEAST_CACHED:
                continue  # another model counts otherwise, and has nothing cached
            else:
                cost = 20.0 + abs(prompt - expected) / _GROWTH + _AGES[min(rank, 4)]
            if best is None or cost < least:
                best, least = lane, cost
        return best

    @staticmethod
    def _dropped(group: Group, lanes: list[Lane], model: str | None, prompt: int, read: int | None) -> Lane | None:
        """The lane this smaller prompt continues (compaction, rewind, edits); None if it opens a lane."""
        larger = [lane for lane in lanes if lane.model == model and lane.prompt > prompt]
        if not larger:
            return None
        last = larger[-1]  # the one used last
        deep = prompt < _DROP * last.prompt and last.prompt - prompt > _DROP_TOKENS
        if deep and last.summarised():
            return last
        if group.opens(model, prompt):
            return None
        if read and read >= _CONTINUED * prompt and not group.opens(model, read):
            return next((lane for lane in reversed(larger) if read <= lane.largest), None)
        return last if len(larger) == 1 and (read is None or read <= last.largest) else None

    @staticmethod
    def _beside(lanes: list[Lane], model: str | None, prompt: int) -> Lane | None:
        """The lane of another model, with much larger prompts, that a small call stands beside."""
        for lane in reversed(lanes):
            if lane.model != model and lane.prompt >= TIMES * prompt:
                return lane
        return None

    @staticmethod
    def _join(group: Group, lane: Lane, place: int, call: Call, prompt: int, time: int, model: str | None) -> Lane:
        exact = group.exact
        for key in lane.keys:
            old = exact[(lane.model, key)]
            if len(old) == 1:
                del exact[(lane.model, key)]
            else:
                old.remove(lane)
        output = call.output_tokens
        lane.spent += lane.output
        lane.prompt, lane.time, lane.model = prompt, time, model
        lane.output = 0 if output is None else max(0, output - (call.reasoning_tokens or 0))
        if prompt > lane.largest:
            lane.largest = prompt
        if not lane.first:
            lane.first = prompt
            if prompt:
                group.openings.setdefault(model, set()).add(_size(prompt))
        lane.places.append(place)
        lane.keys = ()
        if prompt >= _LEAST_CACHED:
            lane.keys = _leaves(call, prompt)
            for key in lane.keys:
                held = exact.get((model, key))
                if held is None:
                    exact[(model, key)] = [lane]
                else:
                    held.append(lane)
        lanes = group.open
        if not lanes or lanes[-1] is not lane:
            if lane in lanes:
                lanes.remove(lane)
            lanes.append(lane)  # the one used last stands last
        return lane

    def _new(self, group: Group, call: Call, model: str | None, time: int) -> Lane:
        told = f"{group.name}|{time}|{call.key or call.line}"
        lane = Lane("lane-" + blake2b(told.encode("utf-8", "replace"), digest_size=5).hexdigest(), model, time)
        group.lanes.append(lane)
        group.open.append(lane)
        return lane

    def _settle(self, group: Group, found: dict[int, tuple[Lane, bool]]) -> None:
        """Small lanes that stand beside a large one of another model are its side calls after all (they came first)."""
        large = [lane for lane in group.lanes if lane.largest >= TIMES * SMALL // 2]
        for lane in group.lanes:
            if lane.largest >= SMALL or not lane.largest or len(lane.places) > 3:
                continue
            for other in large:
                beside = other.start - self._idle <= lane.time and lane.start <= other.time + self._idle
                if other.model != lane.model and other.largest >= TIMES * lane.largest and beside:
                    for place in lane.places:
                        found[place] = (other, True)
                    break


def _model(group: Group, call: Call) -> str | None:
    model = group.models.get(call.model, "\0")
    if model == "\0":
        model = group.models[call.model] = _DATE.sub("", call.model) if call.model else None
    return model


def _leaves(call: Call, prompt: int) -> tuple[int, ...]:
    """What the next call may read: all that was cached (Anthropic), or whole blocks of the prompt (OpenAI)."""
    written = call.cache_write_tokens or 0
    part = (call.cache_read_tokens or 0) + written if written else prompt - prompt % _BLOCK
    return (prompt, part) if part != prompt and part >= _LEAST_CACHED else (prompt,)


def _size(prompt: int) -> int:
    """The size of a prompt in steps of 5 %."""
    return int(math.log(prompt) / 0.0488)
