"""Sessions of logs that hold token counts only: each call goes to the open lane it fits best.

Surest first: cache reads that equal what an earlier call of the lane read and wrote (Anthropic), its whole prompt, or its
prompt rounded down to a multiple of 128 (OpenAI); then growth: the prompt is about the last prompt and its answer, plus
something new. A much smaller prompt is a compaction of the lane only if it is not the size the lane opened with and the
cache does not speak against it; else it opens a lane. Small calls of another model are side calls of the lane beside
them. A lane is closed by an idle gap; the exact cache identities reopen it within a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from monitor.records import Call

_DAY_MS = 86_400_000
_SMALL = 2_000  # tokens: titles, routing and checks are smaller than an agent's system prompt
_TIMES = 4  # how much larger the conversation beside a side call is
_BLOCK = 128
_NEAR = 1_024  # cached prefixes may end a few blocks earlier
_LEAST_CACHED = 1_024  # no provider caches less
_SHRINK = 0.98
_ROOM, _ROOM_SHARE = 30_000, 0.6
_DROP, _DROP_TOKENS = 0.7, 4_000
_OPENING = 0.1
_SUMMARY = (300, 8_000)  # tokens a summary takes
_WARM_MS = 240_000
_DATE = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$")


class Lane:
    """One conversation, as its token counts tell."""

    __slots__ = ("cached", "first", "largest", "model", "name", "output", "places", "prompt", "start", "time")

    def __init__(self, name: str, model: str | None, start: int) -> None:
        self.name, self.model, self.start = name, model, start
        self.prompt = self.output = self.cached = self.first = self.largest = 0
        self.time = start
        self.places: list[int] = []


class Group:
    """Lanes of one sender."""

    __slots__ = ("cache_works", "exact", "lanes", "models", "name", "open")

    def __init__(self, name: str) -> None:
        self.name = name
        self.open: list[Lane] = []
        self.lanes: list[Lane] = []
        self.exact: dict[tuple[str | None, int], Lane] = {}
        self.cache_works = False
        self.models: dict[str | None, str | None] = {}


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
            time = last = call.time if call.time is not None else last
            found[place] = self._place(group, place, call, time)
        for group in groups.values():
            self._settle(group, found)
        for place, first in copies:
            found[place] = found[first]
        for place, (lane, side) in found.items():
            yield place, lane.name, side

    # ------------------------------------------------------------------------------------------------ one call
    def _place(self, group: Group, place: int, call: Call, time: int) -> tuple[Lane, bool]:
        model = group.models.get(call.model, "\0")
        if model == "\0":
            model = group.models[call.model] = _DATE.sub("", call.model) if call.model else None
        open_lanes = group.open
        if open_lanes and time - open_lanes[0].time > self._idle:
            idle = self._idle
            open_lanes = group.open = [lane for lane in open_lanes if time - lane.time <= idle]
        prompt = call.prompt_tokens
        if prompt is None or call.purpose != "work":
            lane = max(open_lanes, key=_time, default=None)
            if lane is None:
                lane = self._new(group, call, model, time)
            return lane, call.purpose == "side"
        read = call.cache_read_tokens
        if read:
            group.cache_works = True
            lane = group.exact.get((model, read))
            if lane is not None and time - lane.time <= _DAY_MS and prompt >= read:
                return self._join(group, lane, place, call, prompt, time, model), False
        if prompt < _SMALL and (lane := self._beside(open_lanes, model, prompt)) is not None:
            return lane, True
        lane = self._grown(group, open_lanes, call, model, prompt, read, time)
        if lane is None:
            lane = self._dropped(group, open_lanes, model, prompt, read)
        if lane is None:
            lane = self._new(group, call, model, time)
        return self._join(group, lane, place, call, prompt, time, model), False

    def _grown(
        self, group: Group, lanes: list[Lane], call: Call, model: str | None, prompt: int, read: int | None, time: int
    ) -> Lane | None:
        """The open lane whose growth this call may be."""
        best = None
        least = 0.0
        for lane in lanes:
            before = lane.prompt
            if not before:
                continue
            expected = before + lane.output
            same = lane.model == model
            if same:
                if prompt < _SHRINK * before or prompt - expected > max(_ROOM, _ROOM_SHARE * before):
                    continue
            elif not 0.6 * before <= prompt <= 1.5 * expected or (read or 0) > _LEAST_CACHED:
                continue  # another model counts otherwise, and has nothing cached
            cost = abs(prompt - expected) / before
            if read:
                gap = before - read
                if 0 <= gap < _NEAR and read % _BLOCK == 0:
                    cost -= 2.0 - gap / _NEAR
                elif read > lane.largest:
                    continue  # more than this lane ever held
                elif read < _SHRINK * before:
                    cost += 0.5
            elif read == 0 and same and group.cache_works and before >= 2 * _LEAST_CACHED and time - lane.time < _WARM_MS:
                # its cache is warm, and nothing was read: a conversation that opens the same way
                if abs(prompt - lane.first) <= _OPENING * lane.first:
                    continue
                cost += 0.5
            if not same:
                cost += 5.0
            if best is None or cost < least or (cost == least and lane.time > best.time):
                best, least = lane, cost
        return best

    def _dropped(self, group: Group, lanes: list[Lane], model: str | None, prompt: int, read: int | None) -> Lane | None:
        """The lane this smaller prompt continues (compaction, rewind, edits); None if it opens a lane."""
        best = None
        surest = 0
        for lane in lanes:
            if lane.model != model or prompt >= lane.prompt:
                continue
            deep = prompt < _DROP * lane.prompt and lane.prompt - prompt > _DROP_TOKENS
            summarised = _SUMMARY[0] <= lane.output <= _SUMMARY[1] and len(lane.places) > 1
            opening = abs(prompt - lane.first) <= _OPENING * lane.first
            if read and read > lane.largest:
                continue
            if opening and (not summarised or not deep):
                continue
            sure = 1
            if read and read >= 0.5 * prompt:
                sure += 2  # its prefix is warm
            if deep and summarised:
                sure += 1
            if not deep and not read:
                sure -= 1
            if sure > surest or (sure == surest and best is not None and lane.time > best.time):
                best, surest = lane, sure
        if best is None:
            return None
        rivals = sum(1 for lane in lanes if lane.model == model and lane.prompt > prompt)
        return best if rivals == 1 or surest > 1 else None

    @staticmethod
    def _beside(lanes: list[Lane], model: str | None, prompt: int) -> Lane | None:
        """The lane of another model, with much larger prompts, that a small call stands beside."""
        best = None
        for lane in lanes:
            if lane.model != model and lane.prompt >= _TIMES * prompt and (best is None or lane.time >= best.time):
                best = lane
        return best

    def _join(
        self, group: Group, lane: Lane, place: int, call: Call, prompt: int, time: int, model: str | None
    ) -> Lane:
        exact = group.exact
        lane.prompt, lane.time, lane.model = prompt, time, model
        output = call.output_tokens
        lane.output = 0 if output is None else max(0, output - (call.reasoning_tokens or 0))
        if prompt > lane.largest:
            lane.largest = prompt
        if not lane.first:
            lane.first = prompt
        lane.places.append(place)
        if prompt >= _LEAST_CACHED:
            exact[(model, prompt)] = lane
            exact[(model, prompt - prompt % _BLOCK)] = lane
            cached = (call.cache_read_tokens or 0) + (call.cache_write_tokens or 0)
            if cached >= _LEAST_CACHED:
                exact[(model, cached)] = lane
        if lane not in group.open[-1:]:
            if lane in group.open:
                group.open.remove(lane)
            group.open.append(lane)  # the one used last stands last
        return lane

    def _new(self, group: Group, call: Call, model: str | None, time: int) -> Lane:
        told = f"{group.name}|{time}|{call.key or call.line}"
        lane = Lane("lane-" + blake2b(told.encode("utf-8", "replace"), digest_size=5).hexdigest(), model, time)
        group.lanes.append(lane)
        group.open.append(lane)
        return lane

    def _settle(self, group: Group, found: dict[int, tuple[Lane, bool]]) -> None:
        """Small lanes that stand beside a large one of another model are its side calls after all (they came first)."""
        large = [lane for lane in group.lanes if lane.largest >= _TIMES * _SMALL // 2]
        for lane in group.lanes:
            if lane.largest >= _SMALL or not lane.largest or len(lane.places) > 3:
                continue
            for other in large:
                beside = other.start - self._idle <= lane.time and lane.start <= other.time + self._idle
                if other.model != lane.model and other.largest >= _TIMES * lane.largest and beside:
                    for place in lane.places:
                        found[place] = (other, True)
                    break


def _time(lane: Lane) -> int:
    return lane.time
