"""State of one chain while its calls pass by, and the rules that look at two neighbouring calls.

Definitions are those of contract.md ("Cache outcome", "Inferred compaction", "thrash").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from monitor.readers.patterns import Lazy
from monitor.records import Call, Event
from monitor.sessions.limits import cache_life
from monitor.sessions.view import CacheOutcome, MissCause

HIT, MISS = 0.9, 0.05
#: a drop below this share of the previous prompt, by more than this many tokens, may be a compaction
DROP_SHARE, DROP_TOKENS = 0.7, 4_000
#: a drop to between DROP_SHARE and this, both included, is unexplained if it stays; above, it is noise
NOISE_SHARE = 0.9
RETURN_SHARE, RETURN_CALLS = 0.95, 2
#: a later call that finds this much more in the cache than the call before it sent proves that the old context lives on
JUMP = 1.2
#: without figures of the cache: a later call that is back at the old size, at most this much above it, in one leap from
#: less than 1 / LEAP of it, after a run of so many calls (a subagent's). No single answer or file is likely to be just
#: as large as what was lost.
BACK_SHARE, LEAP, RUN = 1.1, 2.0, 3
WARM_SHARE = 0.9
OPENING = 0.1
#: a gap (ms) after which a prompt of the opening's size is a new conversation under the same key
NEW_SESSION_GAP = 30 * 60 * 1000
THRASH = ((3, 30), (2, 8))
THRASH_SHARE = 0.6

Reset = Literal["", "compaction", "trim", "rewind", "clear"]
#: what a smaller prompt means: an event of that kind, a passing dip, the level after an inflated first call, nothing
Verdict = Literal["compaction", "rewind", "clear", "unexplained_drop", "dip", "settled", "nothing"]
_DATE = Lazy(r"[-@](20\d{6}|20\d\d-\d\d-\d\d)$|\[1m\]$")


class Chain:
    """What must be remembered of a chain to judge its next call. Copied as a checkpoint, so no mutable members.

    A plain class: its fields are written three times as fast as those of a struct, and no module is needed for it.
    """

    __slots__ = (
        "base", "calls", "compactions", "deltas", "dipped", "expected", "hour", "joint", "last_request",
        "mean", "model", "models", "name", "opening", "peak", "previous", "previous_index", "reset", "resets",
        "side_calls", "waiting", "window", "window_start",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls = 0
        self.side_calls = 0
        self.window = 1
        self.resets = 0  # windows opened by a call so far
        self.previous: Call | None = None  # last work call
        self.previous_index: int | None = None
        self.expected: int | None = None  # E: prompt of the last work call whose prompt is known
        self.opening: int | None = None  # prompt of the first work call
        self.peak = -1  # none yet
        self.joint = False  # the previous call is an inherited one
        self.reset: Reset = ""  # what happened since the previous work call
        self.waiting: tuple[int, ...] = ()  # events whose tokens_after is still to come
        self.last_request: int | None = None
        self.hour: int | None = None  # tokens of the latest cache writes that were one-hour writes
        self.base: int | None = None  # prompt that growth is measured from
        self.dipped = False  # the latest calls are below it for the moment
        self.mean: float | None = None  # weighted mean growth in tokens per call since the last reset
        self.deltas = 0
        self.window_start = 0  # calls that are not of the window: before it, and summaries
        self.compactions: tuple[int, ...] = ()  # call counts at which the latest compactions happened
        self.models: tuple[str, ...] = ()
        self.model: str | None = None

    def copy(self) -> Chain:
        """A checkpoint of it (twenty times as quick as ``copy.copy``)."""
        other = Chain.__new__(Chain)
        for name in _FIELDS:
            setattr(other, name, getattr(self, name))
        return other


_FIELDS = tuple(Chain.__slots__)


def same_model(one: str | None, other: str | None) -> bool:
    """Whether two names mean one model; a date or window suffix is no difference. Unknown differs from nothing."""
    if one == other or one is None or other is None:
        return True
    return _stem(one) == _stem(other)


def _stem(name: str) -> str:
    shorter = _DATE.sub("", name)
    while shorter != name:
        name, shorter = shorter, _DATE.sub("", shorter)
    return name


def outcome(read: int | None, expected: int | None) -> CacheOutcome:
    """What became of the cache: E against the tokens read."""
    if read is None:
        return "unreported"
    if not expected:
        return "first"
    if read >= HIT * expected:
        return "hit"
    return "miss" if read <= MISS * expected else "partial"


def cause(chain: Chain, call: Call, switched: bool) -> MissCause:
    """Why a call read less than was there, in the order of the contract; what the bodies show may say more."""
    if chain.reset == "compaction" or chain.reset == "trim":
        return chain.reset
    if switched:
        return "model_switch"
    if expired(chain, call):
        return "expired"
    if call.prefix_kept is False or (call.has_bodies and call.prefix_kept is None):
        return "prefix_changed"
    return "unknown"


def life_time(chain: Chain, call: Call) -> int:
    """Seconds the prefix of a chain stays cached: as the log tells, else the provider's own."""
    if chain.hour:
        return 3_600
    previous = chain.previous
    told = previous.cache_ttl_s if previous is not None else None
    if told is not None:
        return told
    return cache_life(call.provider or (previous.provider if previous is not None else None), call.model)


def expired(chain: Chain, call: Call) -> bool:
    """Whether the gap since the last request of the chain is longer than the life of its cache."""
    if chain.last_request is None or call.time is None:
        return False
    return call.time - chain.last_request > life_time(chain, call) * 1000


def judge_drop(chain: Chain, call: Call, later: Sequence[Call]) -> Verdict:
    """What a smaller prompt in the same chain and model means.

    Args:
        later: the next work calls of the chain whose prompt is known, as far as they are of interest.
    """
    before, prompt = chain.expected, call.prompt_tokens
    if before is None or prompt is None or prompt > NOISE_SHARE * before:
        return "nothing"
    if chain.reset or chain.joint or not same_model(chain.model, call.model):
        return "nothing"
    if chain.resets and chain.calls - chain.window_start == 1:
        # the first call of a window carries one-off reminders; the second one being smaller is no reset
        return "settled"
    if any((one.prompt_tokens or 0) >= RETURN_SHARE * before for one in later[:RETURN_CALLS]):
        return "dip"
    if _lives_on(before, prompt, later):
        return "dip"  # these calls are of another context (a subagent in the same chain)
    read = call.cache_read_tokens
    if read is not None and read >= WARM_SHARE * prompt and prompt > (chain.opening or 0):
        return "rewind"
    if prompt >= DROP_SHARE * before:
        return "unexplained_drop"
    if before - prompt <= DROP_TOKENS:
        return "nothing"
    if call.session_evidence in ("lane", "file", "prefix") and _opens_anew(chain, call, prompt):
        return "clear"
    return "compaction"


def _lives_on(before: int, prompt: int, later: Sequence[Call]) -> bool:
    """Whether a later call goes on with the old context, which no call since then has sent: it reads it from the cache,
    or, where no figures of the cache are told, is as large again in one leap."""
    last = prompt
    for place, one in enumerate(later):
        read, size = one.cache_read_tokens, one.prompt_tokens or 0
        if read is None:
            if place >= RUN and RETURN_SHARE * before <= size <= BACK_SHARE * before and size > LEAP * last:
                return True
        elif read >= RETURN_SHARE * before and read > JUMP * last:
            return True
        last = max(last, size)
    return False


def _opens_anew(chain: Chain, call: Call, prompt: int) -> bool:
    if not chain.opening or abs(prompt - chain.opening) > OPENING * chain.opening:
        return False
    return chain.last_request is None or call.time is None or call.time - chain.last_request > NEW_SESSION_GAP


def thrashes(points: tuple[int, ...]) -> bool:
    """Whether compactions at these call counts follow each other too fast."""
    return any(len(points) >= many and points[-1] - points[-many] < within for many, within in THRASH)


def later(records: Sequence[Call | Event], place: int, chain: str, reach: int) -> list[Call]:
    """The next work calls of a chain whose prompt is known, within reach."""
    return [
        record
        for record in records[place + 1 : place + reach]
        if type(record) is Call and record.chain == chain and record.works and record.prompt_tokens is not None
    ]
