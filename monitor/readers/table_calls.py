"""From the cells of a table's row to its call: the same for files read row by row and for tables read by column.

A row is first brought to *cells* (one clean value per field, see :data:`CELLS`), then :meth:`Maker.call` decides what
they mean: which part of the prompt was cached, whether the call failed, which chain it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from monitor.readers import gateway_values as values
from monitor.readers import usage
from monitor.readers.column_map import FIELDS, ColumnMap
from monitor.readers.times import span_ms
from monitor.records import Call, Evidence, Purpose, SessionEvidence, Status

#: what only the tables that ``ctxmon calls`` writes hold
OWN_CELLS = ("session_evidence", "source", "exchange", "output_is_lower_bound", "inherited")
#: the cells of a row in their order; None is unknown
CELLS = (*FIELDS, *OWN_CELLS)

#: the columns of our own ``calls`` tables
OWN = ColumnMap(
    {
        "time": "time",
        "model": "model",
        "prompt": "prompt_tokens",
        "cached": "cache_read_tokens",
        "cache_write": "cache_write_tokens",
        "cache_write_1h": "cache_write_1h_tokens",
        "output": "output_tokens",
        "reasoning": "reasoning_tokens",
        "session": "session",
        "chain": "chain",
        "provider": "provider",
        "status": "status",
        "id": "call_id",
        "duration_ms": "duration_ms",
        "purpose": "purpose",
        "context_limit": "context_limit",
    },
    input_includes_cached=True,
)

_FAILED = {"error", "failure", "failed", "false", "timeout", "aborted", "cancelled", "canceled", "rejected"}
_ESTIMATED = {"estimated", "estimate"}
_EVIDENCE = ("explicit", "chain", "prefix", "lane", "file")


def cleaners(columns: ColumnMap) -> dict[str, Callable[[Any], Any]]:
    """For every cell the function that brings a raw value to its clean form."""
    unit = columns.time_unit if columns.time_unit != "iso" else None
    found: dict[str, Callable[[Any], Any]] = dict.fromkeys(CELLS, usage.count)
    found.update(dict.fromkeys(("model", "session", "chain", "id", "purpose", "source"), values.text))
    found["time"] = partial(values.time_ms, unit=unit)
    found["provider"] = values.provider_name
    found["cost"] = values.usd
    found["duration_ms"] = _duration
    found["status"] = status_word
    found["origin"] = partial(values.origin, "table")
    found["session_evidence"] = _evidence_word
    found["output_is_lower_bound"] = found["inherited"] = _true
    return found


def own_cost(cost: Any, source: Any) -> Any:
    """The cost cell of our own tables: only what a log stated; what came from a price table is worked out anew."""
    return cost if source == "logged" else None


def proves_exclusive(prompt: int | None, read: int | None) -> bool:
    """A cached part larger than its prompt proves for the whole table that prompts leave the cache out."""
    return prompt is not None and read is not None and read > prompt


def status_word(value: Any) -> str | None:
    """A status in lower case; True and False as words."""
    if isinstance(value, bool):
        return str(value).lower()
    word = values.text(value)
    return word.lower() if word is not None else None


class Maker:
    """Makes the calls of one file. ``file``: its name."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._placeholder = values.placeholder(file)
        self._keys = values.Ordinals()
        self._senders: dict[str | None, Evidence] = {}

    def call(self, cells: Sequence[Any], line: int | None, inclusive: bool) -> Call:
        """The call of a row.

        Args:
            cells: clean values in the order of :data:`CELLS`.
            line: where the row stands.
            inclusive: prompts of this table hold their cached part.
        """
        (
            time, model, prompt, fresh, cached, cache_write, output, reasoning, session, chain, provider, cost, word,
            id, hour, duration, purpose, context_limit, origin, told, source, exchange, lower_bound, inherited,
        ) = cells  # fmt: skip
        tokens = tokens_of(prompt, fresh, cached, cache_write, hour, output, reasoning, inclusive)
        status: Status = "ok"
        if word is not None:
            status = status_of(word, tokens)
            if status == "error" and not tokens.prompt and not tokens.output:
                tokens = usage.UNKNOWN  # zeros of a request that was refused
        kind: Purpose = "work"
        if chain is None and purpose is None:
            chain = "main"
        elif chain != "main" or purpose is not None:
            chain, kind = place(chain, purpose)
        key = id or self._keys.key(f"table:{session}:{time}:{model}:{tokens.prompt}:{tokens.read}:{tokens.output}")
        evidence: SessionEvidence = "explicit"
        loose: Evidence | None = None
        if session is None:
            session, evidence, loose = self._placeholder, "file", self._evidence(id, origin)
        elif told is not None:
            evidence = told
        # by position, in the order of the fields: millions of rows are read like this
        return Call(
            session, source or "table", self.file, line, chain, evidence, id, key, time, duration, provider, model,
            tokens.prompt, tokens.fresh, tokens.read, tokens.write, tokens.write_1h, tokens.output, lower_bound is True,
            tokens.reasoning, tokens.billed_prompt, None, context_limit, None, cost, status, kind, exchange, None, None,
            False, None, tokens.rule, loose, inherited is True,
        )  # fmt: skip

    def _evidence(self, id: str | None, origin: str | None) -> Evidence:
        if id is not None:
            return Evidence(response_id=id, origin=origin)
        found = self._senders.get(origin)
        if found is None:
            found = self._senders[origin] = Evidence(origin=origin)
        return found


def tokens_of(
    prompt: int | None,
    fresh: int | None,
    read: int | None,
    write: int | None,
    hour: int | None,
    output: int | None,
    reasoning: int | None,
    inclusive: bool,
) -> usage.Tokens:
    """The tokens of a row, by what its columns mean."""
    if prompt is None and fresh is None and output is None:
        return usage.UNKNOWN
    if prompt is None or (fresh is not None and not inclusive):
        return usage.additive(fresh, read, write, output, write_1h=hour, reasoning=reasoning, rule="table fresh")
    if not inclusive:
        return usage.additive(prompt, read, write, output, write_1h=hour, reasoning=reasoning, rule="table exclusive")
    # writes may overlap reads in some providers' figures: only a larger read proves a row exclusive
    guard = read is not None and read > prompt
    return usage.inclusive(prompt, read, write, output, write_1h=hour, reasoning=reasoning, rule="table", guard=guard)


def place(chain: str | None, purpose: str | None) -> tuple[str, Purpose]:
    """Chain and purpose of a call, from what its columns say."""
    if purpose == "compaction":
        return chain or "side", "compaction"
    if purpose == "side" or chain == "side":
        return "side", "side"
    if chain is None or chain == "main" or chain.startswith("agent:"):
        return chain or "main", "work"
    return f"agent:{chain}", "work"


def status_of(word: str, tokens: usage.Tokens) -> Status:
    """What a status word or HTTP code means."""
    code = usage.count(word)
    if word in _FAILED or (code is not None and 400 <= code < 600):
        return "error"
    if word in _ESTIMATED:
        return "estimated"
    return "in_flight" if word == "in_flight" and tokens.prompt is None else "ok"


def _duration(value: Any) -> int | None:
    return span_ms(values.number(value))


def _evidence_word(value: Any) -> str | None:
    return value if value in _EVIDENCE else None


def _true(value: Any) -> bool | None:
    return True if values.truth(value) is True else None
