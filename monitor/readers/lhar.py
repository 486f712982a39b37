"""LHAR, the archive format of context-lens (``.lhar`` lines, ``.lhar.json`` document).

Where: exported from context-lens, or ``~/.context-lens/data``.

What is read: records of type ``entry``, each one call. Figures come from ``gen_ai.usage`` and ``usage_ext``; where the
raw bodies were exported too (``raw``), they tell purpose, messages and compactions, and fill in missing figures.
``context_lens.window_size`` is the context limit.

Prompt tokens: ``input_tokens + cache_read_tokens + cache_write_tokens`` (here ``input_tokens`` excludes the cache).

Sessions: ``trace_id``. Entries of role ``subagent`` are chains of their own.

Unknown: which subagent an entry belongs to, unless its parent span tells; figures that are all zero.
"""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.readers import usage
from monitor.readers.base import FileContext, Head
from monitor.readers.exchange import Exchange, lower
from monitor.readers.exchange_pairs import PairParser, as_bytes, as_object, set_reply
from monitor.readers.exchange_session import clean, provider
from monitor.readers.lines import first_objects
from monitor.readers.patterns import lazy
from monitor.readers.times import span_ms, to_ms
from monitor.records import Call, Event, Record, SessionInfo

SOURCE = "lhar"
_WRAPPED = lazy(rb'\s*(?:\xef\xbb\xbf)?\{\s*"lhar"\s*:\s*\{')


class LharParser(PairParser):
    """See the module."""

    source = SOURCE

    def value(self, value: Any, line: int) -> None:
        if not isinstance(value, dict):
            return
        inner = value.get("lhar")
        if isinstance(inner, dict):
            for kind, rows in (("session", inner.get("sessions")), ("entry", inner.get("entries"))):
                for number, row in enumerate(rows if isinstance(rows, list) else (), 1):
                    if isinstance(row, dict):
                        self.value({"type": kind, **row}, number)
        elif value.get("type") == "session" and isinstance(value.get("trace_id"), str):
            started = to_ms(value.get("started_at"))
            name = clean(value["trace_id"]) or value["trace_id"][:64]
            self.records.append(SessionInfo(session=name, source=SOURCE, file=self.file, started=started))
        elif value.get("type") == "entry":
            self._entry(value, line)

    def _entry(self, value: dict[str, Any], line: int) -> None:
        raw, http = as_object(value.get("raw")), as_object(value.get("http"))
        facts, timings = as_object(value.get("gen_ai")), as_object(value.get("timings"))
        lens = as_object(value.get("context_lens"))
        start = to_ms(value.get("timestamp"))
        took = span_ms(timings.get("total_ms"))
        end = start + took if start is not None and took else None
        status = http.get("status_code")
        made = Exchange(
            url=str(http.get("url") or ""),
            method="POST",
            headers=lower(http.get("request_headers")),
            request=as_bytes(raw.get("request_body")) if raw.get("request_body") else b"",
            status=status if isinstance(status, int) else None,
            time=start,
            end=end,
            line=line,
            session=clean(value.get("trace_id")),
            chain=_chain(value),
            context_limit=usage.count(lens.get("window_size")) or None,
            trusted=True,
        )
        if raw.get("response_body"):
            set_reply(made, raw["response_body"])
        tokens = _tokens(value)
        records = [self._filled(record, tokens, value, facts) for record in self.assembler.add(made)]
        call = next((record for record in records if isinstance(record, Call)), None)
        detected = as_object(lens.get("growth")).get("compaction_detected") is True
        known = any(isinstance(record, Event) and record.kind == "compaction" for record in records)
        if call is not None and detected and not known:
            found = Event(
                kind="compaction",
                evidence="inferred",
                session=call.session,
                chain=call.chain,
                file=self.file,
                line=line,
                time=call.time,
                key=f"{call.key}#detected",
            )
            records.insert(0, found)
        self.records.extend(records)

    def _filled(self, record: Record, tokens: usage.Tokens, value: dict[str, Any], facts: dict[str, Any]) -> Record:
        """A call with the entry's own figures where the raw answer gave none."""
        if not isinstance(record, Call):
            return record
        asked, said = as_object(facts.get("request")), as_object(facts.get("response"))
        model = record.model or said.get("model") or asked.get("model")
        reasons = said.get("finish_reasons")
        cost = as_object(value.get("usage_ext")).get("cost_usd")
        changes: dict[str, Any] = {
            "model": model if isinstance(model, str) and model else None,
            "provider": record.provider or provider(str(facts.get("system") or ""), str(model or ""), ""),
            "key": record.key if record.call_id else f"lhar:{value.get('id') or record.key}",
            "stop": record.stop
            or (reasons[0] if isinstance(reasons, list) and reasons and isinstance(reasons[0], str) else None),
        }
        if isinstance(cost, int | float) and not isinstance(cost, bool) and cost >= 0 and record.cost_usd is None:
            changes["cost_usd"] = float(cost) or None
        if record.prompt_tokens is None and (tokens.prompt is not None or tokens.output is not None):
            changes |= {
                "prompt_tokens": tokens.prompt,
                "fresh_tokens": tokens.fresh,
                "cache_read_tokens": tokens.read,
                "cache_write_tokens": tokens.write,
                "output_tokens": tokens.output,
                "reasoning_tokens": tokens.reasoning,
                "billed_prompt_tokens": tokens.billed_prompt,
                "usage_rule": tokens.rule,
                "output_is_lower_bound": False,
                "status": "ok" if record.status == "in_flight" else record.status,
            }
        return msgspec.structs.replace(record, **changes)


def _chain(value: dict[str, Any]) -> str:
    if as_object(value.get("source")).get("agent_role") != "subagent":
        return "main"
    return f"agent:{clean(value.get('parent_span_id')) or 'subagent'}"


def _tokens(value: dict[str, Any]) -> usage.Tokens:
    told, more = as_object(as_object(value.get("gen_ai")).get("usage")), as_object(value.get("usage_ext"))
    fresh, output = usage.count(told.get("input_tokens")), usage.count(told.get("output_tokens"))
    read, write = usage.count(more.get("cache_read_tokens")), usage.count(more.get("cache_write_tokens"))
    if not (fresh or read or write or output):
        return usage.UNKNOWN
    reasoning = usage.count(more.get("thinking_tokens"))
    return usage.additive(fresh, read, write, output, reasoning=reasoning, rule="lhar")


class Lhar:
    """Reader of LHAR archives."""

    source = SOURCE
    title = "LHAR archive (context-lens)"
    lines = True

    def sniff(self, head: Head) -> float:
        if _WRAPPED.match(head.data[:1024]) is not None:
            return 0.97
        for value in first_objects(head.data, 3):
            if value.get("type") == "session" and {"trace_id", "started_at", "tool"} <= value.keys():
                return 0.95
            if value.get("type") == "entry" and "gen_ai" in value and "trace_id" in value:
                return 0.97
        return 0.0

    def parser(self, context: FileContext) -> LharParser:
        return LharParser(context)


READER = Lhar()
