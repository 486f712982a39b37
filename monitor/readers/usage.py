"""A provider's usage figures to the tokens of a call. Inclusive or additive is decided here, once.

*additive* (Anthropic, Bedrock Converse, Pi, Cline, opencode): input excludes the cache; prompt = input + read + write.
*inclusive* (OpenAI, Gemini, DeepSeek, gateways that normalise): input holds the cached part; prompt = input.

Every result names its rule in ``Tokens.rule``. Unknown is None; 0 only where the scheme has no such item or says 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """Tokens of one call. ``fresh + read + write == prompt`` wherever all are known."""

    prompt: int | None = None
    fresh: int | None = None
    read: int | None = None
    write: int | None = None
    write_1h: int | None = None
    output: int | None = None
    reasoning: int | None = None
    billed_prompt: int | None = None
    billed: tuple[tuple[int, int, int, int, int], ...] | None = None  # each pass, as it is priced
    rule: str = ""
    #: passes of other models: the model, then as in ``billed``
    elsewhere: tuple[tuple[str, int, int, int, int, int], ...] | None = None


UNKNOWN = Tokens(rule="unknown")
#: more tokens than any call has: a damaged figure
MOST = 10**15
#: a figure for typed decoders: they refuse a line with a number that no call can have, and it is read with care
Figure = Annotated[int, msgspec.Meta(ge=0, lt=MOST)]


def count(value: Any) -> int | None:
    """A token count as logs write it: int, float or string of one. Negative, NaN, bool, what no model ever held (1e15
    tokens) and all else are unknown."""
    if type(value) is int:
        return value if 0 <= value < MOST else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        text = value.strip().replace(",", "")
        try:
            value = float(text) if text else None
        except ValueError:
            return None
    if isinstance(value, float):
        # the comparison is false for NaN, too
        return int(value) if 0 <= value < MOST else None
    return value if isinstance(value, int) and 0 <= value < MOST else None


def additive(
    fresh: int | None,
    read: int | None,
    write: int | None,
    output: int | None,
    *,
    write_1h: int | None = None,
    reasoning: int | None = None,
    rule: str = "additive",
) -> Tokens:
    """Input excludes the cache: prompt = fresh + read + write. Unknown cache parts stay unknown and add nothing."""
    prompt = None if fresh is None else fresh + (read or 0) + (write or 0)
    return Tokens(prompt, fresh, read, write, write_1h, output, reasoning, prompt, None, rule)


def inclusive(
    prompt: int | None,
    read: int | None,
    write: int | None,
    output: int | None,
    *,
    write_1h: int | None = None,
    reasoning: int | None = None,
    rule: str = "inclusive",
    guard: bool = True,
) -> Tokens:
    """Input includes the cache: fresh = prompt - read - write, never below zero.

    Args:
        guard: read + write larger than the prompt proves that the record excludes them after all (reference
            gateway_formats 6, "universal guard"); then the additive rule is used and named. Off where writes are known
            to overlap reads.
    """
    cached = (read or 0) + (write or 0)
    if prompt is not None and guard and cached > prompt:
        return additive(prompt, read, write, output, write_1h=write_1h, reasoning=reasoning, rule=rule + "+guard")
    fresh = None if prompt is None else max(0, prompt - cached)
    return Tokens(prompt, fresh, read, write, write_1h, output, reasoning, prompt, None, rule)


def gross(model: str | None, fresh: int | None, read: int | None, write: int | None) -> bool:
    """Whether Bedrock's input of an OpenAI model holds the cache after all, which the documentation denies.

    Observed on ConverseStream (pi#8752, Bifrost's token matrix): input = read + write + a few; the total counts the
    cache twice then and proves nothing. Anthropic's models, and answers that are no streams, leave the cache out.
    """
    cached = (read or 0) + (write or 0)
    family = (model or "").lower()
    return fresh is not None and fresh >= cached > 0 and ("openai." in family or family.startswith("gpt-"))


def written(whole: int | None, *parts: int | None) -> int | None:
    """Tokens written to the cache. Some gateways tell them by life time only, and leave the sum out or at 0."""
    known = [part for part in parts if part is not None]
    return whole if whole or not known else sum(known)


def anthropic(
    fresh: int | None,
    read: int | None,
    write: int | None,
    output: int | None,
    *,
    write_1h: int | None = None,
    reasoning: int | None = None,
    iterations: Sequence[Mapping[str, Any]] | None = None,
) -> Tokens:
    """Anthropic Messages usage.

    ``iterations`` lists internal passes: the context is what the last pass of type ``message`` held; the top-level
    figures are the sum of the message passes (billing) and leave out a compaction pass, which is billed too. One pass
    repeats the top level and adds nothing. Passes of another model (``advisor_message``) are neither: they never
    stood in this context and are in no sum of tokens, but they are paid for, at the price of their own model.
    """
    plain = additive(fresh, read, write, output, write_1h=write_1h, reasoning=reasoning, rule="anthropic")
    passes = [_pass(item) for item in iterations or () if isinstance(item, Mapping)]
    # where a model declined and another one served, the context is what that one held
    served = [p for kind, p in passes if kind == "fallback_message"]
    messages = served or [p for kind, p in passes if kind == "message"]
    extra = [p for kind, p in passes if kind == "compaction"]
    elsewhere = _elsewhere(iterations or ())
    if elsewhere is not None:
        plain = msgspec.structs.replace(plain, elsewhere=elsewhere)
    if not messages:
        return plain
    repeated = not served or messages[-1][:3] == (fresh or 0, read or 0, write or 0)
    if len(messages) == 1 and not extra and repeated:
        return plain
    top = (fresh or 0, read or 0, write or 0, write_1h or 0, output or 0)
    if len(messages) == 1 and sum(top[:3]) == sum(messages[0][:3]):
        # the top level is this pass, and it tells what of it was cached also where the pass does not
        messages = [(*top[:4], messages[0][4])]
    last = messages[-1]
    summed = _add(messages)
    # each pass is priced at the tier of its own size; where the top level says more than its passes, it is one
    own = messages if sum(top[:3]) <= sum(summed[:3]) else [top]
    billed = (*own, *extra)
    billed_prompt = sum(sum(one[:3]) for one in billed)
    final_output = output if output is not None else summed[4]
    return Tokens(
        prompt=last[0] + last[1] + last[2],
        fresh=last[0],
        read=last[1],
        write=last[2],
        write_1h=last[3] if write_1h is not None or last[3] else None,
        output=final_output,
        reasoning=reasoning,
        billed_prompt=billed_prompt,
        billed=billed,
        rule="anthropic+iterations",
        elsewhere=elsewhere,
    )


def _elsewhere(iterations: Sequence[Any]) -> tuple[tuple[str, int, int, int, int, int], ...] | None:
    found = []
    for item in iterations:
        if isinstance(item, Mapping) and isinstance(model := item.get("model"), str):
            kind, figures = _pass(item)
            if kind not in ("message", "compaction", "fallback_message") and any(figures):
                found.append((model, *figures))
    return tuple(found) or None


def _pass(item: Mapping[str, Any]) -> tuple[str, tuple[int, int, int, int, int]]:
    split = item.get("cache_creation")
    hour = count(split.get("ephemeral_1h_input_tokens")) if isinstance(split, Mapping) else None
    return str(item.get("type") or "message"), (
        count(item.get("input_tokens")) or 0,
        count(item.get("cache_read_input_tokens")) or 0,
        count(item.get("cache_creation_input_tokens")) or 0,
        hour or 0,
        count(item.get("output_tokens")) or 0,
    )


def _add(parts: Sequence[tuple[int, int, int, int, int]]) -> tuple[int, int, int, int, int]:
    a, b, c, d, e = (sum(column) for column in zip(*parts, strict=True))
    return a, b, c, d, e
