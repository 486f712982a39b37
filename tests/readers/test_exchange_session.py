from __future__ import annotations

import json

import pytest

from monitor.readers.exchange_messages import Messages
from monitor.readers.exchange_request import parse
from monitor.readers.exchange_session import clean, identity, origin, provider
from tests.readers.exchange_samples import SECRET, SESSION, anthropic_request


def who(headers=None, body=None):
    request = parse(json.dumps(body).encode(), Messages()) if body is not None else None
    return identity(headers or {}, request)


@pytest.mark.parametrize(
    "headers",
    [
        {"x-claude-code-session-id": SESSION},
        {"session-id": SESSION, "thread-id": SESSION},
        {"session_id": SESSION, "conversation_id": SESSION},
        {"x-session-id": SESSION},
        {"x-litellm-session-id": SESSION},
        {"helicone-session-id": SESSION},
        {"x-acme-session-id": SESSION},
        {"x-acme-session": SESSION},
        {"x-acme-conversation-id": SESSION},
        {"x-session-affinity": SESSION},
        {"x-codex-turn-metadata": json.dumps({"session_id": SESSION, "thread_id": SESSION, "request_kind": "turn"})},
    ],
)
def test_sessions_named_by_headers(headers):
    found = who(headers)
    assert (found.session, found.chain) == (SESSION, "main")


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {"user_id": json.dumps({"device_id": "0", "session_id": SESSION})}},
        {"metadata": {"user_id": {"session_id": SESSION}}},
        {"metadata": {"user_id": f"user_abc_account_x_session_{SESSION}"}},
        {"metadata": {"sessionId": SESSION}},
        {"litellm_session_id": SESSION},
        {"session_id": SESSION},
        {"client_metadata": {"session_id": SESSION, "thread_id": SESSION}},
        {"client_metadata": {"x-codex-turn-metadata": json.dumps({"session_id": SESSION})}},
        {"request": {"contents": [{"role": "user", "parts": [{"text": "a"}]}], "session_id": SESSION}},
    ],
)
def test_sessions_named_by_bodies(body):
    assert who({}, {**anthropic_request("go"), **body} if "request" not in body else body).session == SESSION


def test_subagents_are_chains_of_their_session():
    assert who({"x-claude-code-session-id": SESSION, "x-claude-code-agent-id": "a1b2"}).chain == "agent:a1b2"
    assert who({"x-claude-code-session-id": SESSION, "x-claude-code-agent-id": "main"}).chain == "main"
    assert who({"session-id": SESSION, "thread-id": "thread-2"}).chain == "agent:thread-2"
    child = who({"x-session-id": "child-1", "x-parent-session-id": SESSION})
    assert (child.session, child.chain) == (SESSION, "agent:child-1")


def test_codex_names_its_window_and_what_a_request_is_for():
    told = {
        "session_id": SESSION,
        "thread_id": SESSION,
        "request_kind": "compaction",
        "compaction": {"trigger": "auto"},
    }
    found = who({"x-codex-window-id": f"{SESSION}:3", "x-codex-turn-metadata": json.dumps(told)})
    assert (found.window, found.kind, found.trigger) == (f"{SESSION}:3", "compaction", "auto")


def test_chains_of_responses():
    found = who(
        {},
        {
            "model": "m",
            "input": "a",
            "previous_response_id": "resp_1",
            "prompt_cache_key": "k1",
            "conversation": {"id": "conv_1"},
        },
    )
    assert (found.previous, found.conversation, found.cache_key) == ("resp_1", "conv_1", "k1")
    assert who({}, {"model": "m", "input": "a", "conversation": "conv_2"}).conversation == "conv_2"


def test_what_may_be_a_key_or_words_is_no_id():
    assert clean(SESSION) == SESSION
    for secret in (SECRET, "Bearer abc", "x" * 300, "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"):
        found = clean(secret)
        assert found is not None and found.startswith("h-") and secret not in found
    for value in ("two words", "", None, 7, ["x"], "a\nb"):
        assert clean(value) is None
    key = "my secret words as a cache key"
    assert who({}, {"model": "m", "input": "a", "prompt_cache_key": key}).cache_key not in (None, key)


def test_senders_are_told_apart_without_their_key():
    one = origin({"authorization": f"Bearer {SECRET}", "user-agent": "x"}, "h")
    assert one == origin({"authorization": f"Bearer {SECRET}", "user-agent": "x"}, "h")
    assert one != origin({"authorization": "Bearer other", "user-agent": "x"}, "h")
    assert one is not None and SECRET not in one and len(one) == 16
    assert origin({}, "") is None


@pytest.mark.parametrize(
    ("host", "model", "expected"),
    [
        ("api.anthropic.com", "x", "anthropic"),
        ("acme.openai.azure.com", "gpt-5.4", "azure"),
        ("bedrock-runtime.us-east-1.amazonaws.com", "anthropic.claude", "bedrock"),
        ("us-central1-aiplatform.googleapis.com", "gemini-2.5-pro", "vertex"),
        ("generativelanguage.googleapis.com", "gemini-2.5-pro", "google"),
        ("openrouter.ai", "anthropic/claude-sonnet-4.5", "openrouter"),
        ("127.0.0.1", "claude-opus-4-8", "anthropic"),
        ("127.0.0.1", "gpt-5-mini", "openai"),
        ("localhost", "gpt-oss-120b", None),
        ("localhost", "local-llama-70b", None),
    ],
)
def test_who_answered(host, model, expected):
    assert provider(host, model, "") == expected
