"""How many of the provider's tokens a counted token is, and what a log leaves out of the prompt.

Texts are counted with o200k (:mod:`monitor.conversation.tokens`); a provider's own tokenizer counts the same text
differently, and session files hold neither the system prompt nor the tool definitions. Both are told by the provider's
counts of the calls themselves: against the counted tokens in front of each call they lie on a line, whose slope is the
factor of the model and whose height at zero is what the log does not hold. Slope and height are medians (Theil-Sen), so
that a few images or cut texts do not bend it. Without enough calls, a slope that no tokenizer has, or texts cut by the
client, the measured factor of the model's family is taken (reference decision 4) and only the height is fitted.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import msgspec

from monitor.pricing.names import parse

#: above, texts are missing in the log; below, most of what is in the log was not sent
_LOWEST, _HIGHEST = 0.4, 2.4
_MIN_CALLS = 6
_MIN_SPREAD = 2_000  # counted tokens between the smallest and the largest prompt
_MOST = 120  # calls that are compared pairwise
#: provider tokens per o200k token, measured on logs: Claude to 4.6, Claude from 4.7 on
_CLAUDE, _CLAUDE_47 = 1.26, 1.63
_OTHER = 1.1


Pairs = Sequence[tuple[int, int]]


class Calibration(msgspec.Struct, frozen=True, gc=False):
    """A line through the provider's counts: ``prompt = outside + factor x counted``."""

    factor: float
    outside: int  # tokens that the log does not hold: system prompt, tools; 0 if all of the request is there
    measured: bool  # fitted to the provider's counts, not taken from the model's family
    calls: int = 0  # that it rests on


def is_o200k(model: str | None) -> bool:
    """Whether o200k is the tokenizer of a model, so that counts of text are exact."""
    name = (model or "").lower().rpartition("/")[2]
    return name.startswith(("gpt-4o", "gpt-4.1", "gpt-5", "gpt-6", "o1", "o3", "o4", "codex"))


def family_factor(model: str | None) -> float:
    """Provider tokens per counted token, as measured for a model's family."""
    if is_o200k(model):
        return 1.0
    parsed = parse(model, None)
    name = parsed.key if parsed is not None else (model or "").lower()
    if "claude" not in name:
        return _OTHER
    numbers = [int(part) for part in name.replace(".", "-").split("-") if part.isdecimal() and len(part) < 3]
    major, minor = (*numbers, 0, 0)[:2]
    return _CLAUDE_47 if (major, minor) >= (4, 7) else _CLAUDE


def calibrate(pairs: Pairs, model: str | None, before: Sequence[Pairs] = ()) -> Calibration:
    """The line for calls of one context.

    Args:
        pairs: (counted tokens in front of a call, the provider's count of its prompt).
        before: the same for earlier windows of the session with the same model, for the slope where this one is short;
            their counts may begin anywhere.
    """
    factor = _slope([pairs])
    if factor is None:
        factor = _slope([pairs, *before])
    measured = factor is not None and _LOWEST <= factor <= _HIGHEST
    if factor is None or not measured:
        factor = family_factor(model)
    outside = statistics.median(prompt - factor * counted for counted, prompt in pairs) if pairs else 0
    if outside < 0 and measured:
        # a prompt cannot be smaller than what is in it: the line then goes through zero
        factor = statistics.median(prompt / counted for counted, prompt in pairs if counted)
    return Calibration(round(factor, 4), max(0, round(outside)), measured, len(pairs))


def whole(counted: int, prompt: int | None, model: str | None) -> Calibration:
    """The factor of a request that is there as a whole: the provider's count of it by ours."""
    if prompt and counted and _LOWEST <= prompt / counted <= _HIGHEST:
        return Calibration(round(prompt / counted, 4), 0, True, 1)
    return Calibration(family_factor(model), 0, False, 0)


def _slope(windows: Sequence[Pairs]) -> float | None:
    slopes: list[float] = []
    calls = 0
    for pairs in windows:
        ordered = sorted(pairs)
        spread = ordered[-1][0] - ordered[0][0] if ordered else 0
        if spread < _MIN_SPREAD:
            continue
        calls += len(ordered)
        some = ordered[:: max(1, len(ordered) // _MOST)]
        # neighbours tell the rounding of the counts more than the tokenizer
        slopes += [
            (b[1] - a[1]) / (b[0] - a[0])
            for place, a in enumerate(some)
            for b in some[place + 1 :]
            if b[0] - a[0] >= spread / 5
        ]
    return statistics.median(slopes) if slopes and calls >= _MIN_CALLS else None
