from __future__ import annotations

import json
import re
import tomllib

from monitor.recorder.setup import snippets
from monitor.recorder.upstreams import Routes, parse_upstream

HERE = "http://127.0.0.1:8788"


def block(text: str, title: str) -> str:
    return next(part for part in text.split("\n\n") if part.startswith(title)).partition("\n")[2]


def test_all_clients_with_the_known_upstreams() -> None:
    text = snippets(HERE, Routes.of([parse_upstream(n) for n in ("openai", "anthropic", "gemini")]))
    assert block(text, "Claude Code").strip() == f"export ANTHROPIC_BASE_URL={HERE}/anthropic"
    assert block(text, "Gemini CLI").strip() == f"export GOOGLE_GEMINI_BASE_URL={HERE}/gemini"
    assert f'base_url="{HERE}/openai/v1"' in block(text, "OpenAI SDK") and f'base_url="{HERE}/anthropic"' in block(
        text, "Anthropic SDK"
    )
    assert tomllib.loads(block(text, "Codex, in")) == {"openai_base_url": f"{HERE}/openai/v1"}
    assert tomllib.loads(block(text, "Codex with a ChatGPT login")) == {"openai_base_url": f"{HERE}/chatgpt"}
    pi, code = json.loads(block(text, "Pi,")), json.loads(block(text, "opencode,"))
    assert (
        pi["providers"]["anthropic"]["baseUrl"] == f"{HERE}/anthropic"
        and pi["providers"]["openai"]["baseUrl"] == f"{HERE}/openai/v1"
    )
    assert code["provider"]["anthropic"]["options"]["baseURL"] == f"{HERE}/anthropic/v1"


def test_one_provider_for_every_path() -> None:
    text = snippets(HERE, Routes.of([parse_upstream("https://api.anthropic.com")]))
    assert block(text, "Claude Code").strip() == f"export ANTHROPIC_BASE_URL={HERE}"
    assert "Codex" not in text and "GEMINI" not in text


def test_a_server_that_is_not_known_serves_them_all() -> None:
    text = snippets(HERE, Routes.of([parse_upstream("http://127.0.0.1:4000/v1")]))
    assert block(text, "Claude Code").strip() == "give the upstream without /v1 at its end"
    assert tomllib.loads(block(text, "Codex, in")) == {"openai_base_url": HERE}
    assert re.search(rf"127\.0\.0\.1: every client.*\n  {HERE}\n", text)
