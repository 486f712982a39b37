"""What a call needs of the calls before it: exchange number, kept prefix, cleared tokens, windows, identity.

A conversation is known by the session and chain its requests name, else by its messages: a request belongs to the
conversation whose last prompt is the longest beginning of its own. This serves single readers; sessions themselves are
formed over all files by :mod:`monitor.sessions.sessionize`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePath
from typing import Any

import msgspec

from monitor.readers.exchange_events import events_of
from monitor.readers.exchange_facts import Facts, State, kept
from monitor.readers.exchange_fetched import Unanswered, under_way
from monitor.readers.exchange_messages import digest
from monitor.readers.exchange_reply import Reply
from monitor.readers.exchange_request import is_small
from monitor.readers.exchange_steps import Steps
from monitor.readers.patterns import lazy
from monitor.readers.usage import UNKNOWN, Tokens
from monitor.records import Call, Evidence, Purpose, Record, Status

_TTL_5M, _TTL_1H = 300, 3600
_FEW = 2  # messages that conversations share by chance
_KEPT = 8 * 1024  # bytes of digests kept on a call: the last 1,024 messages
_AGENT_CLIENT = lazy(r"claude-cli|claude-code|\bcli\b|codex|gemini-?cli|opencode|qwen", re.IGNORECASE)
_WINDOW = lazy(r"(.*):(\d+)")


__all__ = ["Facts", "State", "Tracker"]


class Tracker:
    """Makes the records of one file's exchanges."""

    def __init__(self, file: str, source: str, *, detail: bool = False) -> None:
        self.file, self.source = file, source
        self.session = PurePath(file).stem or source
        self._states: dict[Any, State] = {}  # by (session, chain), by prefix digest, by response id
        self._last: dict[str | None, State] = {}  # by origin: where a summary was made
        self._lately: dict[str | None, tuple[State, int | None]] = {}  # what worked last, and when another one did
        self._ids: dict[str, tuple[int | None, int | None, int | None]] = {}
        self._steps = Steps(detail)
        self._unanswered = Unanswered()

    def add(self, facts: Facts) -> list[Record]:
        """Records of one exchange."""
        if facts.request is None and (found := self._unanswered.answered(facts)) is not None:
            return self._add(*found)  # a log of answers alone tells a fetched one like any other
        return self._add(facts, self._state(facts, facts.chain()[0]))

    def fetched(self, facts: Facts) -> list[Record]:
        """Records of an answer that was fetched by its id: the call of its request anew, or nothing."""
        if (found := self._unanswered.answered(facts)) is not None:
            return self._add(*found)
        reply = facts.reply
        if reply.id is None or reply.id in self._ids or reply.tokens.prompt is None:
            return []
        # the request was made before this capture began
        started = reply.created * 1000 if reply.created else facts.time
        return self.add(msgspec.structs.replace(facts, time=started, end=None))

    def _add(self, facts: Facts, state: State, told: Call | None = None) -> list[Record]:
        reply, who = facts.reply, facts.who
        chained, single = facts.chain()
        purpose = self._purpose(facts, state)
        tokens, status = self._tokens(facts, state, purpose)
        key = self._key(facts, tokens, chained)
        chain = "side" if purpose != "work" else who.chain
        named = who.session is not None
        call = Call(
            session=who.session if who.session is not None else self.session,
            session_evidence="explicit" if named else "file",
            source=self.source,
            file=self.file,
            line=facts.line,
            chain=chain,
            call_id=reply.id,
            key=key,
            time=facts.time,
            duration_ms=_duration(facts),
            provider=facts.provider,
            model=None if facts.kind == "count" else facts.model,
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            cache_write_1h_tokens=tokens.write_1h,
            output_tokens=tokens.output,
            output_is_lower_bound=tokens.output is not None and not reply.complete,
            reasoning_tokens=tokens.reasoning,
            billed_prompt_tokens=tokens.billed_prompt,
            billed=tokens.billed,
            elsewhere=tokens.elsewhere,
            context_limit=facts.context_limit,
            cost_usd=reply.cost,
            status=status,
            purpose=purpose,
            exchange=told.exchange if told is not None else self._exchange(facts, state, purpose),
            cache_ttl_s=(_TTL_1H if tokens.write_1h else _TTL_5M)
            if tokens.write and facts.provider == "anthropic"
            else None,
            stop=reply.stop,
            has_bodies=bool(chained) and who.previous is None,
            prefix_kept=_prefix_kept(facts, state, told, chained) if purpose == "work" else None,
            usage_rule=tokens.rule,
            evidence=_evidence(facts, chained, single),
            window_id=who.window,
            service_tier=reply.service_tier,
        )
        events = events_of(self.file, facts, state, call)
        self._remember(facts, state, call, chained)
        before = [event for event in events if event.in_call or event.key.endswith(("#trim", "#window"))]
        after = [event for event in events if event not in before]
        steps = self._steps.of(call, facts, state) if named and purpose == "work" else []
        self._settle(facts, state, call)
        self._unanswered.note(facts, state, call)
        return [*before, call, *after, *steps]

    # ------------------------------------------------------------------------------------------------ conversation
    def _state(self, facts: Facts, chained: bytes) -> State:
        who = facts.who
        if who.session is not None:
            return self._named((who.session, who.chain))
        for id in (who.previous, who.conversation):
            if id is not None and ("id", id) in self._states:
                return self._states[("id", id)]
        for end in range(len(chained), 0, -8):
            found = self._states.get(chained[end - 8 : end])
            if found is not None:
                return found
        lately, other = self._lately.get(facts.origin, (None, None))
        if lately is not None and (other is None or (lately.first is not None and other < lately.first)):
            # the sender's conversation, if no other one went on meanwhile: a request for a summary may hold the history
            # as text, and a client may write it anew
            asks = facts.request is not None and facts.request.asks_summary
            if asks or _shared(facts.strict(), lately.strict or []):
                return lately
        waiting = self._last.get(facts.origin)
        if waiting is not None and waiting.pending and facts.request is not None and facts.request.has_messages:
            return waiting
        return State()

    def _named(self, key: tuple[str, str]) -> State:
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = State()
        return found

    def _remember(self, facts: Facts, state: State, call: Call, chained: bytes) -> None:
        """Note how later requests find this conversation."""
        if chained and facts.who.session is None:
            self._states[chained[-8:]] = state
        for id in (facts.reply.id, facts.who.conversation):
            if id is not None:
                self._states[("id", id)] = state
        if call.purpose == "compaction" and call.status == "ok":
            state.pending = True
            self._last[facts.origin] = state

    def _settle(self, facts: Facts, state: State, call: Call) -> None:
        """Bring the conversation to the state after this call."""
        if call.purpose != "work":
            return
        if facts.who.window is not None:
            state.window = facts.who.window
        if facts.who.session is None:
            before, other = self._lately.get(facts.origin, (state, None))
            self._lately[facts.origin] = state, other if before is state else before.last
            state.first = facts.time if state.first is None else state.first
            state.last = facts.time
        request = facts.request
        if request is not None and facts.who.previous is None and (strict := facts.strict()):
            state.strict, state.system, state.tools = strict, request.system, request.tools
        if call.status != "error":
            state.pending = False
            if call.prompt_tokens is not None:
                state.occupied = call.prompt_tokens
            if call.model is not None:
                state.model = call.model

    # ------------------------------------------------------------------------------------------------ one call
    def _purpose(self, facts: Facts, state: State) -> Purpose:
        request = facts.request
        if facts.kind == "count" or (request is not None and request.warm_up):
            return "side"
        if facts.kind == "compact" or facts.who.kind == "compaction":
            return "compaction"
        if facts.who.kind not in (None, "turn") and facts.who.kind in ("title", "memory", "review_title", "warmup"):
            return "side"
        if request is None:
            return "work"
        if request.asks_summary:
            return "compaction"
        if request.asks_side:
            return "side"
        if not request.has_tools and is_small(facts.model) and sum(1 for one in request.items if one.norm) <= 2:
            # a small model without tools beside an agent: its titles and checks; elsewhere it may be all there is
            if facts.who.session is not None and _AGENT_CLIENT.search(facts.client):
                return "side"
            if state.model is not None and not is_small(state.model) and facts.who.session is not None:
                return "side"
        return "work"

    def update(self, call: Call, reply: Reply) -> Call:
        """A call whose answer went on after it was made (a stream in a growing file)."""
        tokens = reply.tokens
        return msgspec.structs.replace(
            call,
            model=reply.model or call.model,
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            cache_write_1h_tokens=tokens.write_1h,
            output_tokens=tokens.output,
            output_is_lower_bound=tokens.output is not None and not reply.complete,
            reasoning_tokens=tokens.reasoning,
            billed_prompt_tokens=tokens.billed_prompt,
            billed=tokens.billed,
            elsewhere=tokens.elsewhere,
            cost_usd=reply.cost,
            service_tier=reply.service_tier,
            stop=reply.stop,
            usage_rule=tokens.rule,
            status="ok" if tokens.prompt is not None or not reply.error else "error",
        )

    def _tokens(self, facts: Facts, state: State, purpose: Purpose) -> tuple[Tokens, Status]:
        reply = facts.reply
        tokens = reply.tokens
        if facts.kind == "count":
            return UNKNOWN, "error" if facts.failure else "ok"
        if tokens.prompt is None and tokens.output is None:
            if facts.failure:
                return UNKNOWN, "error"
            if under_way(reply) or (facts.status is None and not facts.kept):
                return UNKNOWN, "in_flight"
            return tokens, "ok"
        less = tokens.rule == "ollama" and purpose == "work" and (tokens.prompt or 0) < (state.occupied or 0)
        if less and kept(facts, state):
            # what was reused is not counted: the window holds at least what it held before
            return Tokens(prompt=state.occupied, output=tokens.output, rule="ollama+reused"), "estimated"
        return tokens, "ok"

    def _key(self, facts: Facts, tokens: Tokens, chained: bytes) -> str:
        """The provider's id; without one, time and content, which are the same in another capture of the same request.

        Servers that give every answer the same id are recognised by time and size.
        """
        id = facts.reply.id
        if id is None:
            if facts.time is None:
                return f"{self.file}:{facts.line}"
            return f"at {facts.time} {(digest(chained) if chained else b'').hex()} {facts.status or 0}"
        place = (facts.time, facts.end, tokens.prompt)
        known = self._ids.get(id)
        if known is None:
            self._ids[id] = place
            return id
        start, end, prompt = known
        apart = (
            start is not None
            and facts.time is not None
            and (facts.time > (end or start) or (facts.end or facts.time) < start)
        )
        if apart and prompt != tokens.prompt:
            return f"{id}@{facts.time}"
        return id

    def _exchange(self, facts: Facts, state: State, purpose: Purpose) -> int | None:
        """Messages people typed so far. A message counts once, also where a later window repeats it."""
        request = facts.request
        if request is None or not request.has_messages:
            return state.exchange or None
        if purpose == "work":
            typed = Counter(one.said for one in request.items if one.typed)
            if facts.who.previous is not None or facts.who.conversation is not None:
                state.exchange += sum(typed.values())  # only what is new was sent
            else:
                fresh = typed - state.seen
                if state.pending and request.continues:
                    # behind a summary a client may send once more what it had no answer to (opencode)
                    fresh = Counter({text: count for text, count in fresh.items() if text not in state.seen})
                state.exchange += sum(fresh.values())
                state.seen |= typed
        return state.exchange or None


def _shared(new: list[bytes], old: list[bytes]) -> bool:
    """Whether a request holds half of what another one held."""
    return len(new) > _FEW and len(old) > _FEW and 2 * len(set(new) & set(old)) >= min(len(new), len(old))


def _prefix_kept(facts: Facts, state: State, told: Call | None, chained: bytes) -> bool | None:
    if told is not None:
        return told.prefix_kept
    return kept(facts, state) if chained and facts.who.previous is None else None


def _duration(facts: Facts) -> int | None:
    if facts.time is None or facts.end is None:
        return None
    return max(0, facts.end - facts.time)


def _evidence(facts: Facts, chained: bytes, single: bytes) -> Evidence:
    request, who = facts.request, facts.who
    return Evidence(
        response_id=facts.reply.id,
        previous_response_id=who.previous or who.conversation,
        cache_key=who.cache_key,
        messages=chained[-_KEPT:],
        message_ids=single[-_KEPT:],
        system=request.system if request is not None else None,
        tools=request.tools if request is not None else None,
        origin=facts.origin,
        response=int.from_bytes(facts.reply.digest, "big") if facts.reply.digest else None,
    )
