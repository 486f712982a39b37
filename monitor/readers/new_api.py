"""one-api and new-api logs (and the gateways built on them, APIYI among them).

Where: the log page's JSON (``/api/log/``, ``/api/log/self``, ``/api/log/token``: saved from the browser's developer
tools or by a script), rows of the table ``logs`` as JSON, JSON lines or CSV, the CSV and XLSX exports of forks, the log
page copied into a spreadsheet, with English or Chinese column names, and the gateway's SQLite file ``one-api.db``. All
envelopes are read: ``data.items``, ``data`` as a list, a bare list.

What is read: rows of type 2 (consume) are calls; type 5 is a failed call in new-api (status error, tokens unknown) and
a channel test in one-api (side). Top-ups, refunds, logins and management rows are left out. A consume row without any
token is a task (image, video, music): side, tokens unknown.

Prompt tokens: two meanings stand in one table. Rows of Claude semantics (``usage_semantic`` "anthropic", or
``claude``, or a 5-minute/1-hour write split without any tag) leave the cache out of ``prompt_tokens``: prompt =
prompt_tokens + cache_tokens + cache creation. All other rows include it. ``cache_tokens`` larger than ``prompt_tokens``
proves the first meaning. A table export has lost the mark; there the model's name (claude…) stands for it.
``input_tokens_total`` is used where it is logged; where it equals ``prompt_tokens``, they hold the cache. one-api logs
no cache figures: unknown.

Time: ``created_at`` is the second in which the row was written, that is the end of the call; ``duration_ms`` is the
logged whole number of seconds (new-api) or milliseconds (one-api). Rows come newest first; rows of the same second are
put back in the order they were written. Tables in local time are read as UTC unless they hold the Unix column.

Cost: the cost column, or ``quota`` at the default of 500,000 units a dollar.

Unknown: the session (no id is logged; sessions are formed from token, model and growth), reasoning tokens. Where the
gateway counted by itself because the upstream gave no usage (``local_count_tokens``) the call is marked estimated.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from monitor.readers import gateway_sqlite, table_rows, usage
from monitor.readers import gateway_values as values
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.lines import strip
from monitor.readers.new_api_rows import (
    CONSUME,
    ERROR,
    NO_OTHER,
    LogRow,
    Other,
    canonical,
    from_table,
    lenient_row,
    other_of,
)
from monitor.readers.times import span_ms
from monitor.records import Call, Evidence

QUOTA_PER_USD = 500_000
CLAUDE_RULE = "new-api claude"


class _Page(Struct, gc=False):
    items: list[LogRow] | None = None
    logs: list[LogRow] | None = None


class _Envelope(Struct, gc=False):
    data: list[LogRow] | _Page | None = None
    success: bool | None = None
    message: str | None = None


_document = msgspec.json.Decoder(list[LogRow] | _Envelope).decode


class Rows:
    """Turns rows of one log into calls, in the order they were written."""

    def __init__(self, file: str, source: str | None = None, quota_per_usd: float = QUOTA_PER_USD) -> None:
        self.file = file
        self.source = source
        self.quota_per_usd = quota_per_usd
        self._session = values.placeholder(file)
        self._keys = values.Ordinals()
        self._senders: dict[tuple[str | None, str | None], Evidence] = {}
        self._paths: dict[str, bool] = {}

    def calls(self, rows: Iterable[LogRow], lines: Iterable[int | None], exported: bool = False) -> list[Call]:
        """Calls of rows given in file order.

        Args:
            lines: where each row stands.
            exported: the rows are of a table export, which has lost the mark of Claude rows.
        """
        make = self.call
        rows = list(rows)
        found = [call for row, line in zip(rows, lines) if (call := make(row, line, exported)) is not None]
        return values.written_order(found, falling=bool(found) and found[0].time == found[-1].time and _falling(rows))

    def call(self, row: LogRow, line: int | None, exported: bool) -> Call | None:
        """The call a row tells of, or None."""
        kind = row.type
        if kind != CONSUME and kind != ERROR:
            return None
        one_api = self._is_one_api(row)
        failed = kind == ERROR and not one_api
        time, duration = _times(row)
        sender = (row.token_name, row.username)
        evidence = self._senders.get(sender)
        if evidence is None:
            evidence = self._senders[sender] = Evidence(origin=values.origin("new-api", *sender))
        id = row.request_id or None
        if id is not None:
            evidence = Evidence(response_id=id, origin=evidence.origin)
        if failed:
            other, tokens = NO_OTHER, usage.UNKNOWN
        else:
            other = other_of(row.other)
            tokens = tokens_of(row, other, exported, one_api)
        side = not failed and (tokens.prompt is None or kind == ERROR or self._side_path(other.request_path))
        estimated = other.admin_info is not None and other.admin_info.local_count_tokens is True
        # by position, see monitor.records
        return Call(
            self._session,
            "one-api" if one_api else "new-api",
            self.file,
            line,
            "side" if side else "main",
            "file",
            id,  # call_id
            id
            or self._keys.key(
                f"new-api:{time}:{row.id}:{row.model_name}:{row.prompt_tokens}:{row.completion_tokens}:{row.quota}"
            ),
            time,
            duration,
            "anthropic" if tokens.rule == CLAUDE_RULE else None,  # provider
            row.model_name or None,
            tokens.prompt,
            tokens.fresh,
            tokens.read,
            tokens.write,
            tokens.write_1h,
            tokens.output,
            False,  # output_is_lower_bound
            None,  # reasoning_tokens
            tokens.billed_prompt,
            None,  # billed
            None,  # context_limit
            None,  # usable_limit
            None if failed else self._cost(row.quota),
            "error" if failed else "estimated" if estimated else "ok",
            "side" if side else "work",
            usage_rule=tokens.rule,
            evidence=evidence,
        )

    def _cost(self, quota: int | float | str | None) -> float | None:
        if isinstance(quota, str):
            return values.usd(quota)
        return quota / self.quota_per_usd if quota is not None and quota >= 0 else None

    def _side_path(self, path: str | None) -> bool:
        if path is None:
            return False
        known = self._paths.get(path)
        if known is None:
            known = self._paths[path] = values.is_side(path)
        return known

    def _is_one_api(self, row: LogRow) -> bool:
        if self.source in ("one-api", "new-api"):
            return self.source == "one-api"
        return row.other is None and row.use_time is None and row.group is None


def _falling(rows: list[LogRow]) -> bool:
    """Whether the numbers of the rows mostly fall. They order nothing else: users see them modulo 1024."""
    ids = [row.id for row in rows if isinstance(row.id, int)]
    falls = sum(1 for earlier, later in itertools.pairwise(ids) if later < earlier)
    return 2 * falls > max(1, len(ids) - 1)


def _times(row: LogRow) -> tuple[int | None, int | None]:
    """When the row was written and how long the call took, in ms; ``created_at`` is in seconds, or already in ms."""
    time = row.created_at
    if time is not None and time < 100_000_000_000:
        time *= 1000
    if time is not None and not 0 <= time < values.LAST_MS:
        time = None
    if row.elapsed_time is not None:
        return time, span_ms(row.elapsed_time)
    return time, span_ms(row.use_time, 1000)


def tokens_of(row: LogRow, other: Other, exported: bool, one_api: bool) -> usage.Tokens:
    """The usage rule of the module's description."""
    prompt, output = row.prompt_tokens, row.completion_tokens
    if one_api:
        if not prompt and not output:
            return usage.UNKNOWN
        return usage.inclusive(prompt, None, None, output, rule="one-api")
    read, hour, write = other.cache_tokens, other.cache_creation_tokens_1h, _written(other)
    if hour is None and write == 0:
        hour = 0
    if not prompt and not output and not read and not write:
        return usage.UNKNOWN
    claude = row.model_name is not None and "claude" in row.model_name.lower()
    if other.claude or other.usage_semantic == "anthropic" or (exported and claude):
        if read and prompt is not None and other.input_tokens_total == prompt >= read + (write or 0):
            return usage.inclusive(prompt, read, write, output, write_1h=hour, rule="new-api claude total")
        return usage.additive(prompt, read, write, output, write_1h=hour, rule=CLAUDE_RULE)
    split = (other.cache_creation_tokens_5m or hour) and other.usage_semantic is None and not exported
    if split or (read is not None and prompt is not None and read > prompt):
        return usage.additive(prompt, read, write, output, write_1h=hour, rule="new-api exclusive")
    # reads and writes of one OpenAI prompt may overlap: no guard, except for Claude behind an OpenAI-like endpoint
    total = other.input_tokens_total or prompt
    return usage.inclusive(total, read, write, output, write_1h=hour, rule="new-api", guard=claude)


def _written(other: Other) -> int | None:
    five, hour = other.cache_creation_tokens_5m, other.cache_creation_tokens_1h
    created, total = other.cache_creation_tokens, other.cache_write_tokens
    if created is None and five is None and hour is None and total is None:
        return None if other.cache_tokens is None else 0  # the gateway leaves writes out when there are none
    return max(created or 0, (five or 0) + (hour or 0), total or 0)


# --- reading ---------------------------------------------------------------------------------------------------------
class NewApiParser(BaseParser):
    """Reads one log, whatever its envelope."""

    def read(self, context: FileContext) -> None:
        with context.open() as stream:
            data = stream.read()
        rows = Rows(self.file, self.options.source)
        at_hand = FileContext(context.name, data=data, options=context.options)
        exported = data[:4] in (b"PK\x03\x04", b"PAR1") or not table_rows.is_json(data[:4096])
        if exported:
            names: dict[str, str | None] = {}
            found = [(line, from_table(row, names)) for line, row in table_rows.rows(at_hand, self.problem)]
        elif (document := self._document(data)) is not None:
            self.records += rows.calls(document, itertools.repeat(None))
            return
        else:
            found = list(self._odd_rows(at_hand))
        self.records += rows.calls([row for _, row in found], [line for line, _ in found], exported)

    def _document(self, data: bytes) -> list[LogRow] | None:
        """All rows of one document, decoded in one go; None if it is of another shape."""
        try:
            document = _document(strip(data))
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None
        if isinstance(document, list):
            return document
        if document.success is False:
            self.problem(None, "the gateway answered with an error instead of log rows; fetch the log again")
            return []
        if isinstance(document.data, _Page):
            return document.data.items if document.data.items is not None else document.data.logs
        return document.data

    def _odd_rows(self, context: FileContext) -> Iterator[tuple[int | None, LogRow]]:
        for line, row in table_rows.rows(context, self.problem):
            if "prompt_tokens" in row and "created_at" in row:
                yield line, lenient_row(row)
            else:
                self.problem(line, "this is no log row of one-api or new-api; it was skipped")


class NewApiReader:
    """Logs of new-api, one-api and their kin."""

    source = "new-api"
    title = "new-api / one-api log"
    lines = False

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        if found.kind in ("json", "jsonl"):
            return 0.95 if found.has("created_at", "model_name", "prompt_tokens", "completion_tokens", "quota") else 0.0
        if found.kind in ("csv", "xlsx", "parquet"):
            if found.has("created_at", "model_name", "prompt_tokens", "completion_tokens", "quota"):
                return 0.95
            names = {canonical(column) for column in found.columns} - {None}
            needed = {"created_at", "model_name", "prompt_tokens", "completion_tokens"}
            marks = names & {"type", "token_name", "channel", "group", "quota", "use_time", "details"}
            return 0.9 if needed <= names and len(marks) >= 4 else 0.0
        return 0.0

    def parser(self, context: FileContext) -> NewApiParser:
        return NewApiParser(context)


class OneApiReader(NewApiReader):
    """The same reader under the older name, for ``--source one-api``."""

    source = "one-api"
    title = "one-api log"

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        plain = found.kind in ("json", "jsonl") and not found.columns & {"other", "use_time", "group"}
        return 0.96 if plain and super().sniff(head) else 0.0


class NewApiDatabaseParser(BaseParser):
    """Reads the table ``logs`` of a SQLite file."""

    def read(self, context: FileContext) -> None:
        maker = Rows(self.file, self.options.source)
        rows = [lenient_row(row) for row in gateway_sqlite.rows(context, "logs", LogRow.__struct_fields__, "id")]
        self.records += maker.calls(rows, itertools.repeat(None))


class NewApiDatabase:
    """The gateway's own database file (``one-api.db``)."""

    source = "new-api"
    title = "new-api / one-api database"
    lines = False

    def sniff(self, head: Head) -> float:
        return 0.95 if gateway_sqlite.has_table(head, "logs", "token_name", "model_name", "prompt_tokens") else 0.0

    def parser(self, context: FileContext) -> NewApiDatabaseParser:
        return NewApiDatabaseParser(context)


READERS = [NewApiReader(), OneApiReader(), NewApiDatabase()]
