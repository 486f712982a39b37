"""Usage objects of all providers to :class:`monitor.readers.usage.Tokens`.

The keys tell the shape; where two providers use the same keys, the arithmetic does (the total decides whether reasoning
or the cache stands inside or outside). One table for all readers of requests and answers:

* OpenAI chat and everything compatible: ``prompt_tokens`` holds the cache; reasoning is part of ``completion_tokens``,
  but not at xAI, where ``total = prompt + completion + reasoning``. Cache figures stand in ``prompt_tokens_details``
  (OpenAI, Qwen, GLM, Mistral, Groq, OpenRouter), beside it (``cached_tokens`` Moonshot, ``num_cached_tokens`` Mistral,
  ``prompt_cache_hit_tokens`` DeepSeek) or in ``timings.cache_n`` (llama.cpp).
* OpenAI Responses: ``input_tokens`` holds the cache.
* Anthropic Messages: ``input_tokens`` excludes cache reads and writes.
* Gemini: ``promptTokenCount`` holds the cache; tool prompts and thoughts stand outside. Zeros are left out by the API.
* Bedrock Converse: ``inputTokens`` excludes the cache, whose figures come twice under two names.
* Cohere: ``tokens``, not ``billed_units``. Ollama: ``prompt_eval_count``, which may leave out what was reused.

Unknown stays None: without any cache figure reads and writes are unknown, not zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monitor.readers.usage import UNKNOWN, Tokens, additive, anthropic, count, gross, inclusive, written

Usage = Mapping[str, Any]
_EMPTY: Usage = {}
_TICKS = 1e10  # xAI's unit of billing, in a USD (docs.x.ai, Cost Tracking)


def tokens(usage: Any, *, model: str = "", timings: Any = None, flavour: str = "") -> Tokens:
    """Tokens of any provider's usage object; :data:`UNKNOWN` if it is none.

    Args:
        usage: ``usage``, ``usageMetadata``, ``meta`` or the whole answer (Ollama, llama.cpp) as JSON objects.
        model: model name, to tell Gemini behind an OpenAI-compatible address, and OpenAI's models on Bedrock.
        timings: llama.cpp's ``timings`` beside the usage.
        flavour: ``anthropic`` or ``openai`` where only ``input_tokens`` and ``output_tokens`` are given.
    """
    if not isinstance(usage, Mapping) or not usage:
        return UNKNOWN
    if "prompt_tokens" in usage or "completion_tokens" in usage:
        return chat(usage, model=model, timings=timings)
    if "promptTokenCount" in usage or "totalTokenCount" in usage or "candidatesTokenCount" in usage:
        return gemini(usage)
    if "total_input_tokens" in usage or "total_output_tokens" in usage:
        return interactions(usage)
    if "inputTokens" in usage or "outputTokens" in usage:
        return converse(usage, model)
    if isinstance(usage.get("tokens"), Mapping) or "billed_units" in usage:
        return cohere(usage)
    if "prompt_eval_count" in usage or "eval_count" in usage:
        return ollama(usage)
    if "tokens_evaluated" in usage or "tokens_predicted" in usage:
        return llama(usage)
    if "inputTokenCount" in usage or "outputTokenCount" in usage:
        return invocation(usage, model)
    if "input_tokens" in usage or "output_tokens" in usage:
        return messages(usage) if _is_anthropic(usage, flavour) else responses(usage)
    return UNKNOWN


def _is_anthropic(usage: Usage, flavour: str) -> bool:
    if "input_tokens_details" in usage or "total_tokens" in usage:
        return False
    own = ("cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation", "server_tool_use", "iterations")
    return any(key in usage for key in own) or flavour == "anthropic"


def chat(usage: Usage, *, model: str = "", timings: Any = None) -> Tokens:
    """OpenAI chat completions and everything that copies its usage object."""
    if passes := _passes(usage):
        return _of_passes(passes, count(_map(usage.get("completion_tokens_details")).get("reasoning_tokens")))
    prompt, output, total = (count(usage.get(k)) for k in ("prompt_tokens", "completion_tokens", "total_tokens"))
    details = _details(usage.get("prompt_tokens_details"))
    read = _told(
        details.get("cached_tokens"),
        usage.get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("num_cached_tokens"),
        usage.get("cache_read_input_tokens"),
        _map(timings).get("cache_n"),
    )
    write = _told(
        details.get("cache_write_tokens"),
        details.get("cache_creation_input_tokens"),
        details.get("cache_creation_tokens"),
        usage.get("cache_creation_input_tokens"),
    )
    split = _map(
        details.get("cache_creation") or details.get("cache_creation_token_details") or usage.get("cache_creation")
    )
    write = written(write, *(count(value) for key, value in split.items() if str(key).startswith("ephemeral")))
    reasoning = count(_map(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    cached = (read or 0) + (write or 0)
    if prompt and cached and output is not None and total == prompt + output + cached and cached != reasoning:
        # some gateways copy Anthropic's input and add the cache to the total only (Portkey)
        hour = count(split.get("ephemeral_1h_input_tokens"))
        return additive(prompt, read, write, output, write_1h=hour, reasoning=reasoning, rule="openai-chat+total")
    output, reasoning, rule = _reasoning(prompt, output, reasoning, total, model, "openai-chat")
    if prompt == 0:
        prompt = None  # a gateway that does not report
        if not output:
            return Tokens(rule="unreported")
    return _inclusive(prompt, read, write, output, reasoning, rule, count(split.get("ephemeral_1h_input_tokens")))


def responses(usage: Usage) -> Tokens:
    """OpenAI Responses (also Azure and OpenRouter)."""
    if passes := _passes(usage):
        return _of_passes(passes, count(_map(usage.get("output_tokens_details")).get("reasoning_tokens")))
    prompt, output, total = (count(usage.get(k)) for k in ("input_tokens", "output_tokens", "total_tokens"))
    details = _details(usage.get("input_tokens_details"))
    read = _first(details.get("cached_tokens"), usage.get("cached_tokens"))
    write = count(details.get("cache_write_tokens"))
    reasoning = count(_map(usage.get("output_tokens_details")).get("reasoning_tokens"))
    output, reasoning, rule = _reasoning(prompt, output, reasoning, total, "", "openai-responses")
    if not prompt and not output:
        return Tokens(rule="unreported")
    hour = count(_map(details.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    return _inclusive(prompt, read, write, output, reasoning, rule, hour)


def _passes(usage: Usage) -> list[dict[str, Any]]:
    """Anthropic's internal passes in a usage object of OpenAI's form, whose own figures are their sums (LiteLLM since
    June 2026, Bifrost); empty if there is one at most."""
    found = usage.get("iterations")
    rows = [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []
    if len(rows) < 2 or not any(row.get("type") == "message" for row in rows):
        return []
    passes: list[dict[str, Any]] = []
    for row in rows:
        details = _details(row.get("input_tokens_details"))
        read = _told(row.get("cache_read_input_tokens"), details.get("cached_tokens"))
        write = _told(row.get("cache_creation_input_tokens"), details.get("cache_write_tokens"))
        split = row.get("cache_creation") or details.get("cache_creation")
        passes.append({**row, "cache_read_input_tokens": read, "cache_creation_input_tokens": write,
                       "cache_creation": split})  # fmt: skip
    return passes


def _of_passes(passes: list[dict[str, Any]], reasoning: int | None) -> Tokens:
    own = [row for row in passes if row.get("type") == "fallback_message"]
    own = own or [row for row in passes if row.get("type") == "message"]
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    fresh, read, write, output = (sum(count(row.get(name)) or 0 for row in own) for name in names)
    hours = [count(_map(row.get("cache_creation")).get("ephemeral_1h_input_tokens")) for row in own]
    hour = sum(told or 0 for told in hours) if any(told is not None for told in hours) else None
    return anthropic(fresh, read, write, output, write_1h=hour, reasoning=reasoning, iterations=passes)


def compacted(usage: Usage) -> tuple[int | None, int | None]:
    """The prompt before a compaction inside a call, and the tokens of its summary (usage objects of OpenAI's form)."""
    for row in _passes(usage):
        if row.get("type") == "compaction":
            return messages(row).prompt, count(row.get("output_tokens"))
    return None, None


def _details(value: Any) -> Mapping[str, Any]:
    """What a prompt was made of; Bifrost's own words (``cached_write_tokens``) as the others'."""
    details = _map(value)
    write, read = count(details.get("cached_write_tokens")), count(details.get("cached_read_tokens"))
    if write is None and read is None:
        return details
    cached = count(details.get("cached_tokens"))
    if read is None:
        # before 1.6.1 cached_tokens was the sum of both, and nothing stood for zero (bifrost#4816)
        read = cached - write if cached is not None and write is not None and cached >= write else cached
    lives = _map(details.get("cached_write_token_details"))
    split = {f"ephemeral_{life}_input_tokens": lives.get(f"cached_write_tokens_{life}") for life in ("5m", "1h")}
    return {**details, "cached_tokens": read or 0, "cache_write_tokens": write or 0, "cache_creation": split}


def _reasoning(
    prompt: int | None, output: int | None, reasoning: int | None, total: int | None, model: str, rule: str
) -> tuple[int | None, int | None, str]:
    """Output with reasoning. The total tells where reasoning stands outside the completion (xAI, Gemini)."""
    if output is None or prompt is None:
        return output, reasoning, rule
    if reasoning and (total == prompt + output + reasoning or (total is None and reasoning > output)):
        return output + reasoning, reasoning, rule + "+reasoning"
    gap = 0 if total is None else total - prompt - output
    if gap > 0 and "gemini" in model.lower():
        return output + gap, reasoning if reasoning else gap, rule + "+thoughts"
    return output, reasoning, rule


def _inclusive(
    prompt: int | None,
    read: int | None,
    write: int | None,
    output: int | None,
    reasoning: int | None,
    rule: str,
    write_1h: int | None,
) -> Tokens:
    if read is not None and write is None:
        write = 0  # the scheme has no such item
    if prompt is not None and read is not None and write is not None and read + write > prompt >= max(read, write):
        # both are counted as prefixes from the start: only what was not read was written
        write, rule = prompt - read, rule + "+overlap"
    return inclusive(prompt, read, write, output, write_1h=write_1h, reasoning=reasoning, rule=rule)


def messages(usage: Usage) -> Tokens:
    """Anthropic Messages (also through Bedrock and Vertex, and the compatible addresses of other vendors)."""
    fresh, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    read, write = count(usage.get("cache_read_input_tokens")), count(usage.get("cache_creation_input_tokens"))
    if not read and (cached := count(usage.get("cached_tokens"))):
        # an OpenAI word in the answer of a compatible address (Kimi): there the input holds the cache, if it can
        read, fresh = cached, fresh - cached if fresh is not None and fresh >= cached else fresh
    split = _map(usage.get("cache_creation"))
    hour = count(split.get("ephemeral_1h_input_tokens"))
    write = written(write, count(split.get("ephemeral_5m_input_tokens")), hour)
    if hour is not None and write is not None:
        hour = min(hour, write)
    thinking = count(_map(usage.get("output_tokens_details")).get("thinking_tokens"))
    passes = usage.get("iterations")
    rows = [row for row in passes if isinstance(row, Mapping)] if isinstance(passes, Sequence) else None
    if not (fresh or read or write) and not rows:
        return Tokens(output=output or None, reasoning=thinking or None, rule="unreported")
    return anthropic(fresh, read, write, output, write_1h=hour, reasoning=thinking, iterations=rows)


def gemini(usage: Usage) -> Tokens:
    """Gemini's ``usageMetadata``: zeros are left out, thoughts and tool prompts stand outside."""
    prompt = count(usage.get("promptTokenCount"))
    if not prompt:
        return Tokens(rule="unreported")
    tools = count(usage.get("toolUsePromptTokenCount")) or 0
    total = count(usage.get("totalTokenCount"))
    answer = count(usage.get("candidatesTokenCount") or usage.get("responseTokenCount"))
    thoughts = count(usage.get("thoughtsTokenCount"))
    output: int | None = None
    if answer is not None or thoughts is not None:
        output = (answer or 0) + (thoughts or 0)
    elif total is not None:
        output = max(0, total - prompt - tools)
    read = count(usage.get("cachedContentTokenCount")) or 0
    return inclusive(prompt + tools, read, 0, output, reasoning=thoughts or 0, rule="gemini")


def interactions(usage: Usage) -> Tokens:
    """Gemini's interactions API."""
    prompt = count(usage.get("total_input_tokens"))
    if not prompt:
        return Tokens(rule="unreported")
    thoughts = count(usage.get("total_thought_tokens")) or 0
    answer = count(usage.get("total_output_tokens"))
    return inclusive(
        prompt + (count(usage.get("total_tool_use_tokens")) or 0),
        count(usage.get("total_cached_tokens")) or 0,
        0,
        None if answer is None else answer + thoughts,
        reasoning=thoughts,
        rule="gemini-interactions",
    )


def converse(usage: Usage, model: str = "") -> Tokens:
    """Bedrock Converse: input excludes the cache, unless the total says otherwise, or an OpenAI model's own figures."""
    fresh, output, total = (count(usage.get(k)) for k in ("inputTokens", "outputTokens", "totalTokens"))
    read = _first(usage.get("cacheReadInputTokens"), usage.get("cacheReadInputTokenCount"))
    write = _first(usage.get("cacheWriteInputTokens"), usage.get("cacheWriteInputTokenCount"))
    hour: int | None = None
    rows = usage.get("cacheDetails")
    if isinstance(rows, Sequence) and not isinstance(rows, str):
        hour = sum(count(row.get("inputTokens")) or 0 for row in rows if _map(row).get("ttl") == "1h")
    cached = (read or 0) + (write or 0)
    if fresh is not None and cached and total is not None and total == fresh + (output or 0) and fresh >= cached:
        return inclusive(fresh, read, write, output, write_1h=hour, rule="bedrock+inclusive")
    if gross(model, fresh, read, write):
        return inclusive(fresh, read, write, output, write_1h=hour, rule="bedrock+gross")
    if not (fresh or cached or output):
        return Tokens(rule="unreported")
    return additive(fresh, read, write, output, write_1h=hour, rule="bedrock")


def invocation(usage: Usage, model: str = "") -> Tokens:
    """``amazon-bedrock-invocationMetrics`` and invocation logs: input excludes the cache, as with :func:`converse`."""
    fresh, output = count(usage.get("inputTokenCount")), count(usage.get("outputTokenCount"))
    read, write = count(usage.get("cacheReadInputTokenCount")), count(usage.get("cacheWriteInputTokenCount"))
    rule = inclusive if gross(model, fresh, read, write) else additive
    return rule(fresh, read, write, output, rule="bedrock")


def cohere(usage: Usage) -> Tokens:
    """Cohere: ``tokens`` is what the model saw; ``billed_units`` leaves out its own preamble and is no occupancy."""
    seen = _map(usage.get("tokens"))
    read = count(usage.get("cached_tokens"))
    return inclusive(
        count(seen.get("input_tokens")),
        read,
        None if read is None else 0,
        count(seen.get("output_tokens")),
        rule="cohere",
    )


def ollama(usage: Usage) -> Tokens:
    """Ollama: how many prompt tokens were evaluated; what was reused may be missing (the caller marks that)."""
    return inclusive(
        count(usage.get("prompt_eval_count")) or None, None, None, count(usage.get("eval_count")), rule="ollama"
    )


def llama(usage: Usage) -> Tokens:
    """llama.cpp's own completion address."""
    read = _first(_map(usage.get("timings")).get("cache_n"))
    return inclusive(
        count(usage.get("tokens_evaluated")),
        read,
        None if read is None else 0,
        count(usage.get("tokens_predicted")),
        rule="llama.cpp",
    )


def cost(usage: Any) -> float | None:
    """The cost in USD a usage object states (OpenRouter, xAI, Perplexity, gateways that copy them), else None.

    With the user's own key at the provider (``is_byok``) it is OpenRouter's fee only; see :func:`with_own_key`.
    """
    if not isinstance(usage, Mapping):
        return None
    stated = usage.get("cost")
    if stated is None and (ticks := count(usage.get("cost_in_usd_ticks"))) is not None:
        stated = ticks / _TICKS
    if isinstance(stated, Mapping):  # Perplexity: split by kind, with the sum
        stated = stated.get("total_cost")
    own = usage.get("is_byok")
    upstream = _usd(_map(usage.get("cost_details")).get("upstream_inference_cost"))
    return with_own_key(_usd(stated), upstream, own if isinstance(own, bool) else None)


def with_own_key(charged: float | None, upstream: float | None, own: bool | None) -> float | None:
    """What a request cost in USD where OpenRouter may have used the user's own key at the provider.

    Args:
        charged: what OpenRouter charged: the whole cost, or with an own key only its fee.
        upstream: what the provider charged; stated without an own key, too, and then part of ``charged``.
        own: whether an own key was used; None where the record does not say. Then an upstream charge above all that
            OpenRouter charged shows it.

    Source: OpenRouter's usage accounting and activity pages (charges of one's own key are external to credits).
    """
    if own is None:
        own = upstream is not None and upstream > (charged or 0)
    if not own:
        return charged
    # the fee alone is not what the call cost
    return None if upstream is None else (charged or 0) + upstream


def _usd(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e6:
        return float(value)
    return None


def _map(value: Any) -> Usage:
    return value if isinstance(value, Mapping) else _EMPTY


def _told(*values: Any) -> int | None:
    """The first figure of several names for one; a zero only where no other name tells more."""
    known = [found for value in values if (found := count(value)) is not None]
    return next((found for found in known if found), known[0] if known else None)


def _first(*values: Any) -> int | None:
    for value in values:
        if (found := count(value)) is not None:
            return found
    return None
