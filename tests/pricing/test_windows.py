"""What clients make of a model's window."""

from __future__ import annotations

import pytest

from monitor.pricing import PriceTable
from monitor.pricing.windows import client_window

TABLE = PriceTable.load()


@pytest.mark.parametrize(
    ("source", "model", "window"),
    [
        ("claude-code", "claude-sonnet-4-5-20250929", 200_000),
        ("claude-code", "claude-haiku-4-5-20251001", 200_000),
        ("claude-code", "claude-sonnet-4-6", 200_000),  # so its status line says
        ("claude-code", "claude-opus-4-6", 200_000),
        ("claude-code", "claude-opus-4-6[1m]", 1_000_000),
        ("claude-code", "claude-opus-4-7", 1_000_000),
        ("claude-code", "claude-opus-5-5", 1_000_000),
        ("claude-code-otel", "claude-sonnet-4-6", 200_000),
        ("pi", "claude-opus-4-6", 1_000_000),
        ("codex", "gpt-5.5", 272_000),
        ("codex", "gpt-6.1-sol", 272_000),
        ("codex", "gpt-6.1-terra", 500_000),
        ("codex-exec", "gpt-6-sol", 272_000),
        ("codex", "gpt-5.1-codex", 272_000),
        ("cline", "gpt-6.1-terra", 922_000),
        ("claude-code", "glm-4.7", 200_000),
        ("claude-code", "claude-mystery-9", None),
        ("codex", None, None),
    ],
)
def test_window_of_a_client(source: str, model: str | None, window: int | None) -> None:
    assert client_window(TABLE, source, model) == window
