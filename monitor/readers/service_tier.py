"""How a call was served, where that has a price of its own: batch, flex, priority, fast, in one country only.

Anthropic says it in the usage (``service_tier``, ``speed``, ``inference_geo``), OpenAI beside it (``service_tier``, the
one that was used and not the one asked for), Gemini in ``usageMetadata`` (``serviceTier``, ``trafficType``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WAYS = ("batch", "flex", "priority")


def service_tier(usage: Mapping[str, Any] | None, beside: object = None) -> str | None:
    """Ways joined by ``+``; None for the standard one and for what is not known."""
    found = usage or {}
    return joined(
        found.get("service_tier") or found.get("serviceTier") or found.get("trafficType") or beside,
        found.get("speed"),
        found.get("inference_geo"),
    )


def joined(tier: object, speed: object, place: object) -> str | None:
    """The same of three values as they are logged."""
    ways = []
    if isinstance(tier, str):
        word = tier.lower().removeprefix("on_demand_")
        if word in _WAYS:
            ways.append(word)
        elif word == "fast":  # OpenAI's later name of it
            ways.append("priority")
    if speed == "fast":
        ways.append("fast")
    if place == "us":
        ways.append("us")
    return "+".join(ways) or None
