"""OpenRouter: the activity export and generation records.

Where: openrouter.ai, Activity page, Export (CSV, 24 columns; an older export has 21 in another order; columns are found
by name). Generation records are answers of ``GET /api/v1/generation?id=``, one a file, as JSON lines or as a list.

What is read: one row is one call. ``cost_total`` (``total_cost``) is the logged cost; with the user's own key at the
provider it is OpenRouter's fee only, and ``byok_usage_inference`` (``upstream_inference_cost`` of a record with
``is_byok``) is added. A cancelled row without tokens is an error. Daily sums (``/api/v1/activity``) hold no single
calls and are refused.

Prompt tokens: ``tokens_prompt`` of the export includes the cached part. Generation records count twice: with a common
tokenizer (``tokens_prompt``) and with the model's own; ``native_tokens_*`` is what occupied the window and is used.

Time: ``created_at`` (UTC). Session: a ``session_id`` column where there is one; else sessions are formed from
application, key and user.

Unknown: cache writes (the export has no column for them; at Anthropic models they are part of fresh).
"""

from __future__ import annotations

from typing import Any

from monitor.readers import gateway_values as values
from monitor.readers import shapes, table_rows, usage
from monitor.readers.base import BaseParser, FileContext, Head
from monitor.readers.times import span_ms
from monitor.records import Call, Evidence

_DAILY = "these are OpenRouter's daily sums, which hold no single calls; export the activity page as CSV instead"


class OpenRouterParser(BaseParser):
    """Reads rows of the export and generation records alike."""

    def read(self, context: FileContext) -> None:
        calls = []
        daily = False
        for line, row in table_rows.rows(context, self.problem):
            if "requests" in row and "date" in row and "id" not in row:
                daily = True
            elif (call := self._call(row, line)) is not None:
                calls.append(call)
            else:
                self.problem(line, "this row has no generation id; it was skipped")
        if daily:
            self.problem(None, _DAILY)
        self.records += values.written_order(calls)

    def _call(self, row: dict[str, Any], line: int | None) -> Call | None:
        id = values.text(values.first(row, "generation_id", "id"))
        if id is None:
            return None
        count = usage.count
        native = "native_tokens_prompt" in row and count(row["native_tokens_prompt"]) is not None
        prefix = "native_tokens_" if native else "tokens_"
        prompt = count(row.get(prefix + "prompt"))
        output = count(row.get(prefix + "completion"))
        read = count(values.first(row, prefix + "cached", "tokens_cached", "native_tokens_cached"))
        reasoning = count(values.first(row, prefix + "reasoning", "tokens_reasoning", "native_tokens_reasoning"))
        write = count(values.first(row, prefix + "cache_write", "native_tokens_cache_write", "tokens_cache_write"))
        cancelled = values.truth(row.get("cancelled")) is True
        failed = not prompt and not output
        tokens = (
            usage.UNKNOWN
            if failed
            else usage.inclusive(prompt, read, write, output, reasoning=reasoning, rule="openrouter")
        )
        session = values.text(row.get("session_id"))
        duration = values.number(values.first(row, "generation_time_ms", "generation_time"))
        return Call(
            session=session or values.placeholder(self.file),
            session_evidence="explicit" if session else "file",
            source="openrouter",
            file=self.file,
            line=line,
            call_id=id,
            key=id,
            time=values.time_ms(row.get("created_at")),
            duration_ms=span_ms(duration),
            provider=values.provider_name(row.get("provider_name")),
            model=values.text(values.first(row, "model_permaslug", "model")),
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            output_tokens=tokens.output,
            reasoning_tokens=tokens.reasoning,
            billed_prompt_tokens=tokens.billed_prompt,
            cost_usd=_cost(row),
            status="error" if failed and (cancelled or _refused(row)) else "ok",
            stop=values.text(values.first(row, "finish_reason_normalized", "native_finish_reason", "finish_reason")),
            usage_rule=tokens.rule,
            evidence=Evidence(
                response_id=id,
                origin=values.origin(
                    "openrouter", *(row.get(name) for name in ("app_name", "app_id", "api_key_name", "user"))
                ),
            ),
        )


def _cost(row: dict[str, Any]) -> float | None:
    charged = values.usd(values.first(row, "cost_total", "total_cost"))
    if external := values.usd(row.get("byok_usage_inference")):  # an export states it for own keys only
        return shapes.with_own_key(charged, external, True)
    upstream = values.usd(values.first(row, "upstream_inference_cost", "usage_upstream"))
    return shapes.with_own_key(charged, upstream, values.truth(row.get("is_byok")))


def _refused(row: dict[str, Any]) -> bool:
    reason = values.text(values.first(row, "finish_reason_normalized", "finish_reason"))
    return reason in (None, "error")


class OpenRouterReader:
    """OpenRouter's activity export and generation records."""

    source = "openrouter"
    title = "OpenRouter activity or generation"
    lines = False

    def sniff(self, head: Head) -> float:
        found = table_rows.peek(head)
        if found.has("generation_id", "tokens_prompt", "tokens_completion", "model_permaslug"):
            return 0.95
        if found.kind not in ("json", "jsonl"):
            return 0.0
        if found.has("native_tokens_prompt", "native_tokens_completion", "total_cost"):
            return 0.95
        return 0.9 if found.has("model_permaslug", "date", "requests", "usage", "prompt_tokens") else 0.0

    def parser(self, context: FileContext) -> OpenRouterParser:
        return OpenRouterParser(context)


READER = OpenRouterReader()
