"""A summary with a model's prose in it: asked in as many calls as needed, judged, and laid over the offline summary.

The offline summary is the skeleton and stays whole; the model adds lines to its sections. Of these are left out: what
names a path, hash or number the conversation does not contain, what repeats foreign orders, and steps that are done.
Whatever goes wrong, the offline summary is the result, and it is said loudly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from monitor.compaction import verify
from monitor.compaction.cut import Cut
from monitor.compaction.planted import echoes
from monitor.compaction.redact import Redactor, texts_of
from monitor.compaction.render import Summary, render
from monitor.compaction.sentences import one_line
from monitor.compaction.state import State
from monitor.compaction.summarizer import prompt
from monitor.compaction.summarizer.answer import NoSummary, sections
from monitor.compaction.summarizer.client import EndpointError, TooLong, post
from monitor.compaction.summarizer.endpoint import Answer, Endpoint, read, request
from monitor.conversation.model import Conversation
from monitor.conversation.tokens import count

if TYPE_CHECKING:
    from monitor.pricing import PriceTable

Mode = Literal["flat", "cache"]
#: window assumed for a model nobody knows: chunks are small enough for most
UNKNOWN_WINDOW = 32_000
#: share of the window a chunk may have
SHARE = 0.5
#: tokens of prose that are let in beside an offline summary that needs its whole budget
ROOM = 400
#: how often an answer that is no summary is asked for again
RETRY = 1


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The summary, which model wrote it, what it cost, and what has to be said."""

    summary: Summary
    name: str
    cost_usd: float | None = None
    notes: tuple[str, ...] = ()
    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One request of the plan: its body, its tokens, and how many of them are likely served from the cache."""

    body: dict[str, object]
    tokens: int
    cached: int = 0
    max_output: int = 0


class Writer:
    """Asks an endpoint. ``progress`` hears what goes on in long work; ``sleep`` waits between tries."""

    def __init__(
        self,
        at: Endpoint,
        *,
        summary_tokens: int = 4_000,
        mode: Mode = "flat",
        own_prompt: str = "",
        prices: PriceTable | None = None,
        progress: Callable[[str], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.at, self.mode, self.own_prompt, self.prices = at, mode, own_prompt, prices
        self.summary_tokens = summary_tokens
        self.progress = progress or (lambda text: None)
        self.sleep = sleep
        self.max_output = at.max_output or int(summary_tokens * 1.5)

    # ------------------------------------------------------------------ plan
    def window(self) -> int:
        """The model's window: as set, as the price table knows it, else an assumption."""
        if self.at.window:
            return self.at.window
        limits = self.prices.limits(self.at.model) if self.prices else None
        return limits.window if limits and limits.window else UNKNOWN_WINDOW

    def plan(self, conv: Conversation, chosen: Cut, redactor: Redactor) -> list[Call]:
        """The requests, in order; those after the first lack the summary so far, which is not known yet."""
        if self.mode == "cache" and self.can_cache(conv, redactor):
            return [self._cached(conv, chosen)]
        return self._flat(chosen, redactor, self._chunk())

    def can_cache(self, conv: Conversation, redactor: Redactor) -> bool:
        """True where the working request itself can be sent: same dialect, no secret in it, within the window."""
        native = {"openai-chat": "chat", "anthropic": "anthropic", "responses": "responses"}.get(conv.format)
        if native != self.at.api or conv.bare or redactor.values:
            return False
        size = sum(count(t) for t in texts_of(conv.messages))
        return size + self.max_output < self.window() * 0.95

    def _cached(self, conv: Conversation, chosen: Cut) -> Call:
        """The working request up to the cut with the instruction behind it, so that its prefix is served from cache."""
        folded = {id(m) for m in chosen.folded}
        head = [m for m in conv.messages if m.role == "system" or id(m) in folded]
        text = f"{prompt.SYSTEM}\n\n{self.own_prompt or prompt.INSTRUCTION.format(words=self.words())}"
        body = dict(conv.handler.body(conv.with_messages([*head, conv.new_message("user", text)])))
        body["model"] = self.at.model
        body.pop("stream", None)
        body["max_output_tokens" if self.at.api == "responses" else "max_tokens"] = self.max_output
        if body.get("tools"):
            body["tool_choice"] = {"type": "none"} if self.at.api == "anthropic" else "none"
        prefix = sum(count(t) for t in texts_of(head))
        return Call(body=body, tokens=prefix + count(text), cached=prefix, max_output=self.max_output)

    def _flat(self, chosen: Cut, redactor: Redactor, most: int) -> list[Call]:
        parts = prompt.chunks(prompt.flatten(chosen.folded, redactor), most)
        out = []
        for i, chunk in enumerate(parts, 1):
            text = prompt.ask(chunk, self.words(), part=i, parts=len(parts), own=self.own_prompt)
            body = request(self.at, prompt.SYSTEM, text, self.max_output)
            out.append(Call(body=body, tokens=count(text) + count(prompt.SYSTEM), max_output=self.max_output))
        return out

    def _chunk(self) -> int:
        return max(1_000, int(self.window() * SHARE) - self.max_output // 2)

    def words(self) -> int:
        """Words a model is asked for: it writes prose, the lists are made here."""
        return max(150, int(self.summary_tokens * 0.25))

    # ------------------------------------------------------------------ work
    def write(self, conv: Conversation, chosen: Cut, state: State, offline: Summary, redactor: Redactor) -> Written:
        """The summary. Never raises: on any failure the offline summary is the result, and ``notes`` says why."""
        spent: list[Answer] = []
        try:
            lines = self._ask_all(conv, chosen, redactor, spent)
        except (EndpointError, NoSummary) as err:
            note = f"SUMMARY BY {self.at.model} FAILED: {err}. The offline summary was written instead."
            return self._written(offline, spent, "offline (fallback)", (note,))
        prose, left_out = self.fit(lines, conv, state, redactor)
        notes = (
            (
                f"{left_out} lines of the model were left out: they name what the conversation does not contain, or "
                f"what is done",
            )
            if left_out
            else ()
        )
        room = max(self.summary_tokens - offline.tokens, ROOM)
        summary = laid_over(state, prose, redactor, offline, room)
        return self._written(summary, spent, self.at.model, notes)

    def _written(self, summary: Summary, spent: Sequence[Answer], name: str, notes: tuple[str, ...]) -> Written:
        inputs = [a.input_tokens for a in spent]
        outputs = [a.output_tokens for a in spent]
        return Written(
            summary=summary,
            name=name,
            cost_usd=self.cost(spent),
            notes=notes,
            calls=len(spent),
            input_tokens=None if None in inputs else sum(i for i in inputs if i is not None),
            output_tokens=None if None in outputs else sum(o for o in outputs if o is not None),
        )

    def cost(self, spent: Sequence[Answer]) -> float | None:
        """USD of the calls; None where a price or a figure is not known."""
        price = self.prices.lookup(self.at.model) if self.prices else None
        if not spent or price is None:
            return None
        total = 0.0
        for a in spent:
            if a.input_tokens is None:
                return None
            cached, written = a.cached_tokens or 0, a.written_tokens or 0
            one = price.cost(a.input_tokens - cached - written, cached, written, None, a.output_tokens)
            if one is None:
                return None
            total += one
        return round(total, 6)

    def _ask_all(
        self, conv: Conversation, chosen: Cut, redactor: Redactor, spent: list[Answer]
    ) -> dict[str, list[str]]:
        if self.mode == "cache" and self.can_cache(conv, redactor):
            try:
                return self._ask(self._cached(conv, chosen).body, spent)
            except (TooLong, NoSummary) as err:
                self.progress(f"{err}; asking with the history as text")
        most = self._chunk()
        paragraphs = prompt.flatten(chosen.folded, redactor)
        while True:
            parts = prompt.chunks(paragraphs, most)
            try:
                return self._ask_parts(parts, spent)
            except TooLong:
                if most <= 1_000:
                    raise
                most //= 2
                self.progress(f"too long for {self.at.model}; smaller parts of {most:,} tokens")

    def _ask_parts(self, parts: Sequence[str], spent: list[Answer]) -> dict[str, list[str]]:
        before = ""
        found: dict[str, list[str]] = {}
        for i, chunk in enumerate(parts, 1):
            if len(parts) > 1:
                self.progress(f"summarising part {i} of {len(parts)}")
            text = prompt.ask(chunk, self.words(), before=before, part=i, parts=len(parts), own=self.own_prompt)
            found = self._ask(request(self.at, prompt.SYSTEM, text, self.max_output), spent)
            before = "\n".join(f"## {h}\n" + "\n".join(f"- {x}" for x in v or ["(none)"]) for h, v in found.items())
        return found

    def _ask(self, body: dict[str, object], spent: list[Answer]) -> dict[str, list[str]]:
        limit = "max_output_tokens" if self.at.api == "responses" else "max_tokens"
        for attempt in range(RETRY + 1):
            try:
                answer = read(self.at, post(self.at, body, sleep=self.sleep, told=self.progress))
            except ValueError as err:
                raise EndpointError(f"{err}; is {self.at.shown()} an endpoint of the kind {self.at.api}?") from None
            spent.append(answer)
            try:
                return sections(answer)
            except NoSummary as err:
                if attempt >= RETRY or not err.again:
                    raise
                self.progress(f"{err}; asking once more")
                if answer.finish == "length":
                    body = {**body, limit: self.max_output * 2}
        raise AssertionError("not reached")

    def fit(
        self, found: dict[str, list[str]], conv: Conversation, state: State, redactor: Redactor
    ) -> tuple[dict[str, list[str]], int]:
        """The model's lines that may be used, and how many may not."""
        text = "\n".join(x for lines in found.values() for x in lines)
        made_up = verify.invented(text, conv)
        foreign = echoes(f.text for f in state.foreign)
        done = [t.text.casefold() for t in state.todos if t.status == "done"]
        out: dict[str, list[str]] = {}
        gone = 0
        for heading, lines in found.items():
            kept = []
            for line in lines:
                low = line.casefold()
                finished = heading == "Next steps" and any(d in low for d in done)
                if finished or any(x in line for x in made_up) or any(f in low for f in foreign):
                    gone += 1
                else:
                    kept.append(one_line(redactor(line), 500))
            out[heading] = kept
        return out, gone


def laid_over(state: State, prose: dict[str, list[str]], redactor: Redactor, offline: Summary, room: int) -> Summary:
    """The offline summary with the model's lines in its sections, as many as ``room`` tokens hold, in turn."""
    taken: dict[str, list[str]] = {h: [] for h in prose}
    left = room - 40
    order = ("Decisions", "Facts", "Next steps", "Progress", "Goal")
    for i in range(max((len(v) for v in prose.values()), default=0)):
        for heading in order:
            lines = prose.get(heading, [])
            if i < len(lines):
                n = count(lines[i]) + 3
                if n > left or lines[i] in offline.text:
                    continue
                taken[heading].append(lines[i])
                left -= n
    return render(state, most=offline.most, redact=redactor, pointer=offline.pointer, told=taken)
