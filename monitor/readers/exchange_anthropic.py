"""The two halves of an Anthropic stream's usage, and the passes a call may hold, as one.

``message_start`` states the prompt, ``message_delta`` repeats or corrects it (older streams: output only) and is
cumulative. Three cases differ, each seen in real streams:

* compaction inside the call: the start shows the prompt before it, the delta the one after it, ``iterations`` both; the
  context is the last pass, the start is what was compacted;
* server-side tools: the delta is the sum over internal passes, so the start is what the window held;
* a start without figures (compatible addresses of other vendors): the delta counts.
"""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.readers import shapes
from monitor.readers.usage import Tokens, count

_METRICS = (
    ("input_tokens", "inputTokenCount"),
    ("cache_read_input_tokens", "cacheReadInputTokenCount"),
    ("cache_creation_input_tokens", "cacheWriteInputTokenCount"),
    ("output_tokens", "outputTokenCount"),
)


def add_metrics(start: dict[str, Any], delta: dict[str, Any], metrics: dict[str, Any]) -> None:
    """Figures that only Bedrock's metrics at the end of a stream tell (LiteLLM#34373); the input excludes the cache."""
    for name, told in _METRICS:
        if not count(start.get(name)) and not count(delta.get(name)) and count(metrics.get(told)):
            start[name] = metrics[told]


def merge(start: dict[str, Any], delta: dict[str, Any], server_tools: bool) -> tuple[Tokens, int | None, int | None]:
    """Tokens of the call, the prompt before a compaction inside it, and the tokens of that summary.

    Args:
        start: usage of ``message_start``; empty for an answer given as a whole.
        delta: last value of each field of the ``message_delta`` events, or the usage of a whole answer.
        server_tools: a block of a server-side tool was seen.
    """
    merged = {**start, **delta}
    if delta.get("cache_creation_input_tokens") == 0 and "cache_creation" not in delta:
        merged.pop("cache_creation", None)  # the split of the start is that of another prompt
    first, last = shapes.messages(start), shapes.messages(merged)
    passes = merged.get("iterations")
    rows = [row for row in passes if isinstance(row, dict)] if isinstance(passes, list) else []
    before: int | None = None
    summary: int | None = None
    for row in rows:
        if row.get("type") == "compaction":
            smaller = first.prompt is not None and first.prompt <= (last.prompt or 0)  # the start is told after it
            before = shapes.messages(row).prompt if smaller else first.prompt or shapes.messages(row).prompt
            summary = count(row.get("output_tokens"))
    if not last.prompt:
        # paused after the compaction, or figures in the start only; a zero prompt is none
        last = msgspec.structs.replace(first if first.prompt else Tokens(rule="unreported"), output=last.output)
    elif first.prompt and last.prompt > first.prompt and not rows and (server_tools or "server_tool_use" in delta):
        billed = (last.fresh or 0, last.read or 0, last.write or 0, last.write_1h or 0, last.output or 0)
        last = msgspec.structs.replace(
            first,
            output=last.output,
            reasoning=last.reasoning,
            billed_prompt=last.prompt,
            billed=(billed,),
            rule="anthropic+server_tools",
        )
    return last, before, summary
