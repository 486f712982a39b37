"""The words of the program as frozen records. Imports nothing of ours.

Readers turn bytes into these records; everything above works on them. Field names are the names of the JSON output.
Units: tokens, milliseconds since the epoch (UTC) for times, USD for costs. ``None`` always means "not known"; 0 means
the log says zero or the provider's scheme has no such item.

Private text never enters a record: what a message said is kept as hashes and small numbers (:class:`Step`).

Where records are packed (cache, fleet) they are arrays of their fields: half as large as with names, and twice as quick
to write and read. A call may be built by position: CPython passes more than 15 keywords through a dict, which costs
ten times as much as the call itself.
"""

from typing import Literal

import msgspec

Status = Literal["ok", "error", "in_flight", "estimated"]
Purpose = Literal["work", "compaction", "side"]
SessionEvidence = Literal["explicit", "chain", "prefix", "lane", "file"]
EventKind = Literal[
    "compaction",
    "microcompaction",
    "trim",
    "clear",
    "fork",
    "rewind",
    "model_switch",
    "error",
    "overflow",
    "thrash",
    "unexplained_drop",
]
StepKind = Literal["user", "tool_call", "tool_result", "answer", "command"]


class Evidence(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What a call without an explicit session id still tells about the conversation it belongs to.

    Hashes are 8-byte digests of normalised content, so that text itself is never kept.
    """

    response_id: str | None = None
    previous_response_id: str | None = None
    cache_key: str | None = None  # prompt_cache_key of the request
    messages: bytes = b""  # rolling prefix hashes, 8 bytes a message, in order
    message_ids: bytes = b""  # content hashes of the single messages, 8 bytes each, in order
    system: int | None = None  # hash of the system prompt
    tools: int | None = None  # hash of the tool definitions
    origin: str | None = None  # api key hash, token name, user agent: who sent it; never the value itself
    response: int | None = None  # content hash of the answer as a message


class Call(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One request to a model and its answer, as the log tells it.

    ``prompt_tokens`` is what occupied the context: fresh + cache read + cache write, never a billing sum over internal
    passes (that is ``billed_prompt_tokens``).
    """

    session: str
    source: str
    file: str
    line: int | None = None
    chain: str = "main"  # "main", "agent:<id>" or "side"
    session_evidence: SessionEvidence = "explicit"
    call_id: str | None = None  # the provider's message or response id
    key: str = ""  # identity over all files ("" = this record is its own identity)
    time: int | None = None  # start of the request if logged, else first record of the call
    duration_ms: int | None = None
    provider: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    fresh_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    output_is_lower_bound: bool = False
    reasoning_tokens: int | None = None
    billed_prompt_tokens: int | None = None
    #: (fresh, read, write, write_1h, output) of each pass, where a call bills several internal passes; else None
    billed: tuple[tuple[int, int, int, int, int], ...] | None = None
    context_limit: int | None = None  # only where the log states it
    usable_limit: int | None = None  # only where the log states it
    cost_usd: float | None = None  # only where the log states it
    status: Status = "ok"
    purpose: Purpose = "work"
    exchange: int | None = None  # counted within its file, from 1
    cache_ttl_s: int | None = None  # life time of the cache the log tells (300, 3600)
    stop: str | None = None  # stop reason as logged
    has_bodies: bool = False  # request bodies were read (allows "prefix_changed" as a cause)
    #: with bodies: the request repeats the previous one of its chain up to here (set by readers that know), else None
    prefix_kept: bool | None = None
    usage_rule: str = ""  # which rule of readers.usage formed the prompt, shown by -v
    evidence: Evidence | None = None
    inherited: bool = False  # a copy the reader itself knows to be inherited (fork replay)
    window_id: str | None = None  # the client's own name of the window, where it has one
    #: what the log says of a price other than the standard one: batch, flex, priority, fast, us; more than one with "+"
    service_tier: str | None = None
    #: (model, fresh, read, write, write_1h, output) of passes inside the call that other models made: paid for, but
    #: never in this context
    elsewhere: tuple[tuple[str, int, int, int, int, int], ...] | None = None

    @property
    def answered(self) -> bool:
        """Whether it ended with an answer; its figures may be estimates."""
        return self.status == "ok" or self.status == "estimated"

    @property
    def counts(self) -> bool:
        """Whether it is in the sums: answered, and no side call (contract.md, "Which calls count")."""
        return self.purpose != "side" and self.answered

    @property
    def works(self) -> bool:
        """Whether it is on a curve: answered work."""
        return self.purpose == "work" and self.answered


class Event(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """Something that happened to a context. ``tokens_*`` and the call indexes are filled in by the session layer."""

    kind: EventKind
    evidence: Literal["recorded", "inferred"]
    session: str
    file: str
    line: int | None = None
    chain: str = "main"
    trigger: Literal["auto", "manual", "idle"] | None = None
    time: int | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    recorded_before: int | None = None
    recorded_after: int | None = None
    summary_tokens: int | None = None
    after_call: int | None = None
    before_call: int | None = None
    key: str = ""  # identity over all files; copies in forks share it
    in_call: str = ""  # key of the call that held it (compaction inside a call), else ""
    detail: str = ""  # short machine word (error class, HTTP status), never text of a message


class Problem(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Something that could not be read: one clear sentence, no content of the file."""

    file: str
    line: int | None
    reason: str


class Quota(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Use of a subscription's allowance, as the client logged it last."""

    used_percent: float
    resets: int | None = None  # ms since the epoch
    window_min: int | None = None


class SessionInfo(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """Facts about a session that belong to no single call."""

    session: str
    source: str
    file: str
    parent: str | None = None  # session this one was forked or resumed from
    started: int | None = None
    quota: Quota | None = None
    chain: str = "main"
    cwd_name: str | None = None  # last part of the working directory, for people's lists
    #: sums where a tool logs only totals per session: (prompt, fresh, read, write, output); no curve exists then
    totals_only: tuple[int | None, int | None, int | None, int | None, int | None] | None = None
    #: the sums are of a part of the session, and those of other files of another one; else they are of all so far
    part: bool = False


class Step(msgspec.Struct, frozen=True, gc=False, kw_only=True, array_like=True):
    """What happened between calls, without its words: input of the decision signals (loop, boundary, topic)."""

    session: str
    kind: StepKind
    chain: str = "main"
    time: int | None = None
    line: int | None = None
    tool: str = ""  # tool name
    category: str = ""  # edit, read, search, check, commit, push, todo, plan, agent, shell, other
    id: str = ""  # tool call id
    key: int = 0  # hash of tool and arguments
    ok: bool | None = None  # result: succeeded
    error_key: int = 0  # hash of the normalised error text
    size: int = 0  # characters of a result or user message
    paths: tuple[int, ...] = ()  # hashes of the paths named
    words: tuple[int, ...] = ()  # hashes of the content words of a user message
    flags: tuple[str, ...] = ()  # ack, correction, new_task, anaphora, thanks, clear, plan_exit, background ...
    todos: tuple[int, int, int] | None = None  # open, in progress, done


Record = Call | Event | Problem | SessionInfo | Step
