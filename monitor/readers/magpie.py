"""magpie, a local gateway for coding agents.

Where: ``~/.config/magpie/usage.jsonl`` (``$XDG_CONFIG_HOME/magpie/usage.jsonl``), one line for each answered call.

What is read: every line. ``kind`` marks calls that are no turn: ``compact`` is the summarising call (purpose
compaction), others (review, guardian …) are side. HTTP status 400 and above without tokens is an error.

Prompt tokens: ``in`` leaves the cache out: prompt = in + cache_read + cache_write. Zero fields are left out of the
line, so a missing cache figure is 0.

Session: ``session``, as the client named it; without it sessions are formed from agent and growth.

Time: ``t``, when the line was written. Unknown: response ids, cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from monitor.readers import gateway_values as values
from monitor.readers import table_rows, usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.json_stream import JsonAssembler
from monitor.readers.times import span_ms
from monitor.records import Call, Evidence


class MagpieParser(BaseParser):
    """Reads usage lines as they are appended."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._assembler = JsonAssembler(self.problem)
        self._keys = values.Ordinals()

    def feed(self, lines: Iterable[bytes], first: int) -> None:
        for number, line in enumerate(lines, first):
            for at, row in self._assembler.push(line, number):
                if isinstance(row, dict) and "t" in row:
                    self.records.append(self._call(row, at))
                else:
                    self.problem(at, "this line is no usage record of magpie; it was skipped")

    def _call(self, row: dict[str, Any], line: int) -> Call:
        count = usage.count
        status = count(row.get("status")) or 200
        fresh, output = count(row.get("in")), count(row.get("out"))
        failed = status >= 400 and not fresh and not output
        tokens = (
            usage.UNKNOWN
            if failed or (fresh is None and output is None)
            else usage.additive(
                fresh or 0,
                count(row.get("cache_read")) or 0,
                count(row.get("cache_write")) or 0,
                output or 0,
                reasoning=count(row.get("reasoning")) or 0,
                rule="magpie",
            )
        )
        kind = values.text(row.get("kind"))
        compacts = kind is not None and kind.startswith("compact")
        session = values.text(row.get("session"))
        time, model = values.time_ms(row["t"]), values.text(row.get("served") or row.get("model") or row.get("req"))
        duration = values.number(row.get("ms"))
        return Call(
            session=session or values.placeholder(self.file),
            session_evidence="explicit" if session else "file",
            source="magpie",
            file=self.file,
            line=line,
            chain="side" if kind else "main",
            purpose="compaction" if compacts else "side" if kind else "work",
            key=self._keys.key(f"magpie:{session}:{row['t']}:{model}:{tokens.prompt}:{tokens.output}"),
            time=time,
            duration_ms=span_ms(duration),
            provider=values.provider_name(row.get("provider")),
            model=model,
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            output_tokens=tokens.output,
            reasoning_tokens=tokens.reasoning,
            billed_prompt_tokens=tokens.billed_prompt,
            status="error" if failed else "ok",
            usage_rule=tokens.rule,
            evidence=None if session else Evidence(origin=values.origin("magpie", row.get("agent"), row.get("via"))),
        )


class MagpieReader:
    """magpie's usage log."""

    source = "magpie"
    title = "magpie usage log"
    lines = True

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        if found.kind not in ("json", "jsonl") or not found.has("t", "provider", "model"):
            return 0.0
        return 0.92 if found.columns & {"in", "out"} and found.columns & {"agent", "ms", "status"} else 0.0

    def parser(self, context: FileContext) -> MagpieParser:
        return MagpieParser(context)


READER = MagpieReader()
