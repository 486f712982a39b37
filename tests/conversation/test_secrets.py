"""Redaction: what is a secret goes, what only looks like one stays."""

from __future__ import annotations

import pytest

from monitor.conversation.secrets import MARK, redact


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("key sk-ant-api03-" + "a1B2" * 8, f"key {MARK}"),
        ("Authorization: Bearer abcdefgh12345678", f"Authorization: Bearer {MARK}"),
        ("postgres://app:pa55-word@db:5432/shop", f"postgres://app:{MARK}@db:5432/shop"),
        ("DB_PASSWORD=hunterhunter", f"DB_PASSWORD={MARK}"),
        ('"client_secret": "a8f5f167f44f49"', f'"client_secret": "{MARK}"'),
        ("//npm.corp.example/:_authToken=npm-k3Vd82", f"//npm.corp.example/:_authToken={MARK}"),
        ("https://hooks.chat.example/T02A/B77/zX81kQmP0aa end", f"https://hooks.chat.example/{MARK} end"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nafter", f"{MARK}\nafter"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", MARK),
        ("AKIA" + "A1" * 8, MARK),
    ],
)
def test_secrets_go(text: str, left: str) -> None:
    assert redact(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "commit 8d3f1a9c77e04b2d9f5e6a1b0c3d4e5f6a7b8c9d",
        "max_tokens=16000, prompt_tokens: 123456",
        "def decode(self, token: Dict[str, object]) -> None:",
        "export function page(token: number): string[] {",
        "type Box = { secret: string | null; token?: string };",
        'key = os.environ["API_KEY"]; api_key=config.get("k")',
        "PASSWORD=<your password>",
        "the tokens: about ten",
        "https://hooks.example",
        "auth_token_valid_until: 2026-12-31",
        "ACCESS_TOKEN_EXPIRES=2026-12-31T10:00:00Z",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text
