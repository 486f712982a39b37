"""Messages and parts of opencode to records, wherever they were kept. See :mod:`monitor.readers.opencode`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from zlib import crc32

import msgspec
from msgspec.structs import replace

from monitor.readers import agent_values as look
from monitor.readers import opencode_shapes as shape
from monitor.readers.agent_values import RECENT_STEPS, StepLog, obj, rows, time_ms, word
from monitor.readers.base import ReadOptions
from monitor.readers.overflow import too_long
from monitor.records import Call, Event, Record, SessionInfo

SOURCE = "opencode"
#: one sweep marks what it prunes part by part, within milliseconds of each other
_SWEEP_MS = 2_000


class Builder:
    """Collects sessions, messages and parts, then makes records.

    Args:
        load: gives a part's JSON again by its id; texts are read only for the steps that are kept.
    """

    def __init__(self, file: str, options: ReadOptions, load: Callable[[str], bytes | None]) -> None:
        self.file = file
        self._load = load
        self._options = options
        self._parents: dict[str, str | None] = {}
        self._infos: dict[str, tuple[str | None, int | None]] = {}
        self._messages: dict[str, shape.Message] = {}
        self._pruned: list[tuple[str, int]] = []
        self._compacted: list[tuple[str, str, int | None, bool | None]] = []  # row, session, time, by itself

    # ------------------------------------------------------------------------------------------------ in
    def session(self, id: str, parent: str | None, directory: Any, created: Any) -> None:
        """A session; one with a parent is a subagent's."""
        self._parents[id] = parent
        self._infos[id] = (look.folder_name(directory), time_ms(created))

    def message(self, id: str, session: str, value: shape.Told, created: Any = None) -> None:
        """A message; parts of it may come later."""
        when = time_ms(obj(value.time).get("created"))
        self._messages[id] = shape.Message(id, session, value, when if when is not None else time_ms(created))

    def tells(self, id: str) -> bool:
        """Whether a message of this id is known that needs no other telling."""
        known = self._messages.get(id)
        if known is None:
            return False
        return known.told.role != "assistant" or bool(known.finishes) or shape.summed(obj(known.told.tokens)) > 0

    def compacted(self, id: str, session: str, time: int | None, auto: bool | None) -> None:
        """A compaction of which the usage is not known."""
        self._compacted.append((id, session, time, auto))

    def part(self, id: str, message: str, value: shape.Told) -> None:
        """A part of a message that is known already."""
        owner = self._messages.get(message)
        if owner is None:
            return
        owner.parts += 1
        kind = value.type
        if kind == "step-finish":
            if isinstance(value.tokens, dict):
                owner.finishes.append(shape.Finish(id, value.tokens, value.cost, word(value.reason), None))
        elif kind == "step-start":
            owner.starts.append(id)
        elif kind == "tool":
            owner.calls.append(id)
            self._tool(owner, id, value)
        elif kind == "compaction":
            owner.auto = value.auto is not False
            owner.overflow = value.overflow is True
        elif kind == "text" and owner.told.role == "user" and value.synthetic is not True:
            owner.typed = True
            owner.words = crc32(bytes(value.text), owner.words)
            owner.texts.append(id)

    def _tool(self, owner: shape.Message, id: str, value: shape.Told) -> None:
        state = shape.state_of(value)
        ended = time_ms(obj(state.time).get("end"))
        if ended is not None:
            owner.tools.append((id, ended))
        pruned = time_ms(obj(state.time).get("compacted"))
        if pruned is not None:
            self._pruned.append((owner.session, pruned))

    # ------------------------------------------------------------------------------------------------ out
    def records(self) -> list[Record]:
        """Everything that was collected, in the order of time."""
        out: list[Record] = []
        for id, (folder, created) in self._infos.items():
            session, chain = self._place(id)
            out.append(
                SessionInfo(session=session, source=SOURCE, file=self.file, chain=chain, started=created,
                            cwd_name=folder)
            )  # fmt: skip
        exchanges: dict[str, int] = {}
        users: dict[str, shape.Message] = {}
        typed: dict[str, int] = {}  # what was typed last in a session
        refused: dict[str, bool] = {}  # its last request was too long: whether its message told that
        for message in sorted(self._messages.values(), key=lambda m: (m.created or 0, m.id)):
            session, chain = self._place(message.session)
            if message.told.role == "user":
                users[message.id] = message
                if message.overflow:
                    if not refused.get(session):
                        out.append(self._overflow(message, session, chain))
                    refused[session] = True
                # after it opencode sends what was typed once more, as a message of its own
                again = message.typed and refused.pop(session, False) and message.words == typed.get(session)
                if (message.typed or (not message.parts and message.auto is None)) and chain == "main" and not again:
                    exchanges[session] = exchanges.get(session, 0) + 1
                    typed[session] = message.words
            elif message.told.role == "assistant":
                told = self._answer(message, session, chain, exchanges.get(session), users)
                if any(isinstance(one, Event) and one.kind == "overflow" for one in told):
                    refused[session] = True
                out += told
        for id, owner, time, auto in self._compacted:
            session, chain = self._place(owner)
            out.append(self._compaction(session, chain, time, auto, None, id))
        out = self._copies([*out, *self._prunes()])
        out += self._steps()
        return out

    def _copies(self, records: list[Record]) -> list[Record]:
        """One database holds a session and its forks: what a fork copied belongs to the session that is older."""
        owners: dict[str, str] = {}
        for record in records:
            if isinstance(record, Call | Event):
                held = owners.setdefault(record.key, record.session)
                if self._age(record.session) < self._age(held):
                    owners[record.key] = record.session
        out: list[Record] = []
        for record in records:
            if not isinstance(record, Call | Event) or owners[record.key] == record.session:
                out.append(record)
            elif isinstance(record, Call):
                out.append(replace(record, inherited=True, key=f"{record.key}:{record.session}"))
        return out

    def _age(self, session: str) -> tuple[int, str]:
        created = self._infos.get(session, (None, None))[1]
        return created if created is not None else 0, session

    def _place(self, id: str) -> tuple[str, str]:
        return look.at_root(id, self._parents.get)

    def _answer(
        self, message: shape.Message, session: str, chain: str, exchange: int | None, users: dict[str, shape.Message]
    ) -> list[Record]:
        value = message.told
        summary = bytes(value.summary) == b"true" or "compaction" in (value.mode, value.agent)
        finishes = shape.ordered(message)
        if len(finishes) == 1 and isinstance(value.tokens, dict) and not shape.summed(finishes[0].tokens):
            finishes = []  # the message knows better
        if not finishes:
            if not isinstance(value.tokens, dict):
                return []  # nothing says that a request was made
            finishes = [shape.Finish("", value.tokens, value.cost, word(value.finish), None)]
        finishes = shape.with_broken(message, finishes)
        calls = [
            self._call(message, finish, place, len(finishes), session, chain, exchange if chain == "main" else None,
                       summary)
            for place, finish in enumerate(finishes)
        ]  # fmt: skip
        out: list[Record] = []
        last = calls[-1]
        if summary and last.status == "ok" and last.output_tokens:
            asked = users.get(word(value.parentID) or "")
            auto = asked.auto if asked is not None else None
            out.append(self._compaction(session, chain, message.created, auto, last.output_tokens, last.key))
        elif too_long(shape.error(value), obj(obj(value.error).get("data")).get("message")):
            out.append(self._overflow(message, session, chain))
        return [*out, *calls]

    def _overflow(self, message: shape.Message, session: str, chain: str) -> Event:
        return Event(kind="overflow", evidence="recorded", session=session, chain=chain, file=self.file,
                     time=message.created, key=f"opencode:overflow:{message.created}:{message.id}",
                     detail="ContextOverflow")  # fmt: skip

    def _compaction(
        self, session: str, chain: str, time: int | None, auto: bool | None, summary: int | None, key: str
    ) -> Event:
        return Event(kind="compaction", evidence="recorded", session=session, chain=chain, file=self.file,
                     trigger=None if auto is None else "auto" if auto else "manual", time=time,
                     summary_tokens=summary, key=f"opencode:compaction:{time}:{key}")  # fmt: skip

    def _call(
        self, message: shape.Message, finish: shape.Finish, place: int, many: int, session: str, chain: str,
        exchange: int | None, summary: bool,
    ) -> Call:  # fmt: skip
        value = message.told
        found, unknown = shape.step_tokens(finish.tokens)
        times = obj(value.time)
        done = time_ms(times.get("completed"))
        start = message.created if place == 0 else finish.before
        error = shape.error(value)
        status = "ok"
        if unknown:
            # zeros stand in every message until its step has ended; one that is done and holds nothing was refused
            empty = not message.parts and not finish.part and finish.reason is None
            failed = error or finish.part in message.starts or (empty and done is not None)
            status = "error" if failed else "ok" if done is not None else "in_flight"
        model = word(value.modelID) or word(obj(value.model).get("modelID"))
        provider = word(value.providerID) or word(obj(value.model).get("providerID"))
        sums = f"{found.fresh}:{found.read}:{found.write}:{found.output}"
        # copies in forks get new ids but keep times and figures
        key = f"opencode:{message.created}:{done}:{model}:{sums}:{place}"
        if message.created is None or status == "in_flight":
            key = f"opencode:{message.id}:{finish.part}"
        return Call(
            session=session,
            source=SOURCE,
            file=self.file,
            chain="side" if summary else chain,
            call_id=message.id,
            key=key,
            time=start,
            duration_ms=_span(start, done) if many == 1 else None,
            provider=provider,
            model=model,
            prompt_tokens=found.prompt,
            fresh_tokens=found.fresh,
            cache_read_tokens=found.read,
            cache_write_tokens=found.write,
            output_tokens=found.output,
            reasoning_tokens=found.reasoning,
            billed_prompt_tokens=found.billed_prompt,
            cost_usd=look.cost(finish.cost),
            status=status,  # type: ignore[arg-type]
            purpose="compaction" if summary else "work",
            exchange=exchange,
            stop=finish.reason or error or None,
            usage_rule=found.rule,
        )

    def _prunes(self) -> list[Record]:
        out: list[Record] = []
        last: dict[str, int] = {}
        for id, time in sorted(self._pruned, key=lambda entry: entry[1]):
            session, chain = self._place(id)
            before = last.get(id)
            last[id] = time
            if before is None or time - before > _SWEEP_MS:
                out.append(
                    Event(kind="trim", evidence="recorded", session=session, chain=chain, file=self.file,
                          trigger="auto", time=time, key=f"opencode:prune:{time}")
                )  # fmt: skip
        return out

    def _steps(self) -> Iterable[Record]:
        """Only the latest of the main chain, as others are not looked at; their texts are read now."""
        chains: dict[tuple[str, str], list[shape.Message]] = {}
        for message in sorted(self._messages.values(), key=lambda m: (m.created or 0, m.id)):
            if message.texts or message.calls or message.told.finish == "stop":
                chains.setdefault(self._place(message.session), []).append(message)
        log = StepLog(self._options)
        for (session, chain), messages in chains.items():
            if chain != "main" and not self._options.detail:
                continue
            kept: list[tuple[shape.Message, str]] = []
            for message in reversed(messages):
                parts = sorted([*message.texts, *message.calls], reverse=True)
                kept += [(message, part) for part in parts or [""]]
                if len(kept) >= RECENT_STEPS and not self._options.detail:
                    break
            for message, part in reversed(kept):
                if not part:
                    log.push(session, chain, ("answer", message.created, None))
                    continue
                data = self._load(part)
                value = shape.told(data) if data is not None else None
                if value is not None:
                    _push(log, session, chain, message, value)
        return log.take()


def _push(log: StepLog, session: str, chain: str, message: shape.Message, value: shape.Told) -> None:
    if value.type == "text":
        log.push(session, chain, ("user", message.created, None, shape.string(value.text)))
        return
    state = shape.state_of(value)
    times = obj(state.time)
    start, end = time_ms(times.get("start")) or message.created, time_ms(times.get("end"))
    id = word(value.callID) or ""
    log.push(session, chain, ("tool_call", start, None, id, word(value.tool) or "", bytes(state.input)))
    if state.status in ("completed", "error"):
        text = state.output if state.status == "completed" else state.error
        # the exit code of a command stands in its output or in the metadata; the text tells as much as the log does
        ok = None if state.status == "completed" else False
        log.push(session, chain, ("tool_result", end or start, None, id, ok, shape.string(text)))


def _span(start: int | None, end: int | None) -> int | None:
    return end - start if start is not None and end is not None and end >= start else None


def add_export(builder: Builder, document: dict[str, Any], parts: dict[str, bytes]) -> None:
    """``opencode export``: a session with its messages and their parts in one document; ``parts`` keeps the latter."""
    id, parent, directory, created = shape.session_of(obj(document.get("info")))
    session = id or "opencode"
    builder.session(session, parent, directory, created)
    for place, entry in enumerate(rows(document.get("messages"))):
        info = obj(entry.get("info"))
        message = word(info.get("id")) or f"message {place}"
        builder.message(message, session, shape.told_of(info))
        for number, part in enumerate(rows(entry.get("parts"))):
            name = word(part.get("id")) or f"{message}:{number:06d}"
            parts[name] = msgspec.json.encode(part)
            builder.part(name, message, shape.told_of(part))
