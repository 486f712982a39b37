from __future__ import annotations

import gzip
import json

import pytest

from monitor.readers.exchange import Assembler, Exchange, lower, ordered
from tests.readers.exchange_samples import (
    SECRET,
    SESSION,
    anthropic_events,
    anthropic_reply,
    anthropic_request,
    calls,
    chat_reply,
    chat_request,
    events,
    figures,
    problems,
    response_object,
    sse,
)

MESSAGES = "https://api.anthropic.com/v1/messages?beta=true"
CHAT = "https://api.openai.com/v1/chat/completions"


def run(*exchanges):
    assembler = Assembler("f.har", "har")
    found = []
    for exchange in exchanges:
        found += assembler.add(exchange)
    return found


def exchange(url, request, reply, *, at=1_775_808_000_000, status=200, **more):
    def data(value):
        return value if isinstance(value, bytes) or value is None else json.dumps(value).encode()

    return Exchange(
        url=url, request=data(request) or b"", reply=data(reply), status=status, time=at, end=at + 1200, line=1, **more
    )


def test_a_call_with_all_its_figures():
    headers = {"x-claude-code-session-id": SESSION, "x-api-key": SECRET}
    (call,) = calls(run(exchange(MESSAGES, anthropic_request("go"), anthropic_reply(7, 100, 20, 300), headers=headers)))
    assert figures(call) == (127, 7, 100, 20, 300)
    assert (call.session, call.session_evidence, call.chain, call.purpose) == (SESSION, "explicit", "main", "work")
    assert (call.call_id, call.key, call.model, call.provider) == ("msg_1", "msg_1", "claude-sonnet-4-5", "anthropic")
    assert (call.time, call.duration_ms, call.status, call.stop) == (1_775_808_000_000, 1200, "ok", "end_turn")
    assert (call.exchange, call.has_bodies, call.cache_ttl_s) == (1, True, 300)
    assert call.output_is_lower_bound is False


@pytest.mark.parametrize(
    ("url", "method"),
    [
        ("https://www.example.org/app.js", "GET"),
        ("https://api.openai.com/v1/models", "GET"),
        ("https://api.openai.com/v1/embeddings", "POST"),
        ("https://api.openai.com/v1/responses/resp_1", "GET"),
        ("https://chat.example.org/channels/7/messages", "POST"),
        ("http://127.0.0.1:9001/v1/analytics/turn-costs", "POST"),
        ("http://127.0.0.1:9001/", "HEAD"),
        ("http://[broken", "POST"),
    ],
)
def test_other_traffic_is_no_call(url, method):
    assert run(exchange(url, {"content": "hello"}, {"id": "1", "content": "hello"}, method=method)) == []


@pytest.mark.parametrize(
    "url",
    [
        CHAT,
        "https://acme.openai.azure.com/openai/deployments/x/chat/completions?api-version=1",
        "https://gateway.example.org/some/path",  # unknown, but it speaks of a model and answers like one
    ],
)
def test_addresses_of_model_apis(url):
    (call,) = calls(run(exchange(url, chat_request("go"), chat_reply(100, 5))))
    assert call.prompt_tokens == 100


def test_counting_tokens_is_a_side_call_without_figures():
    url = "https://api.anthropic.com/v1/messages/count_tokens"
    (call,) = calls(run(exchange(url, anthropic_request("go"), {"input_tokens": 18871})))
    assert (call.purpose, call.chain, call.status, call.model) == ("side", "side", "ok", None)
    assert figures(call) == (None, None, None, None, None)


@pytest.mark.parametrize(
    ("status", "reply", "failure"),
    [
        (429, {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}, ""),
        (0, None, ""),  # no answer
        (502, None, ""),
        (200, b"", "aborted"),
        (200, {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, ""),
    ],
)
def test_a_request_without_a_good_answer_is_a_call_of_status_error(status, reply, failure):
    found = run(exchange(CHAT, chat_request("go"), reply, status=status, failure=failure))
    (call,) = calls(found)
    assert call.status == "error"
    assert figures(call) == (None, None, None, None, None)
    assert events(found) == []


def test_an_answer_whose_body_was_not_kept_is_unknown_and_no_error():
    (call,) = calls(run(exchange(CHAT, None, None)))
    assert (call.status, call.prompt_tokens, call.model) == ("ok", None, None)
    # unless the log says that it broke off
    (call,) = calls(run(exchange(CHAT, None, None, failure="aborted")))
    assert (call.status, call.prompt_tokens, call.model) == ("error", None, None)


def test_a_stream_cut_by_the_client_keeps_what_it_told():
    stream = sse(anthropic_events(7, 100, 20, 300)[:3]).encode()
    (call,) = calls(run(exchange(MESSAGES, anthropic_request("go"), stream, failure="aborted")))
    assert (call.status, call.prompt_tokens, call.output_tokens, call.output_is_lower_bound) == ("ok", 127, 2, True)


def test_an_overflow_is_told_as_an_event():
    error = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"},
    }
    found = run(exchange(MESSAGES, anthropic_request("go"), error, status=400))
    (event,) = events(found)
    assert (event.kind, event.evidence, event.detail) == ("overflow", "recorded", "invalid_request_error")
    assert calls(found)[0].status == "error"


def test_a_damaged_answer_is_a_call_and_a_problem():
    found = run(exchange(CHAT, chat_request("go"), b"\x1f\x8b\x08\x00" + b"\xff" * 40))
    assert calls(found)[0].prompt_tokens is None
    (problem,) = problems(found)
    assert "gzip" in problem.reason and problem.file == "f.har"


def test_compressed_requests_are_read():
    body = gzip.compress(json.dumps(chat_request("go")).encode())
    (call,) = calls(run(exchange(CHAT, body, chat_reply(100, 5))))
    assert call.exchange == 1


def test_both_sides_of_a_proxy_are_one_call():
    one = exchange("http://127.0.0.1:4000/v1/chat/completions", chat_request("go"), chat_reply(100, 5))
    other = exchange(CHAT, chat_request("go"), chat_reply(100, 5), at=1_775_808_000_100)
    assert {call.key for call in calls(run(one, other))} == {"chatcmpl-1"}


def test_servers_that_give_every_answer_the_same_id_have_many_calls():
    found = calls(
        run(
            *(
                exchange(CHAT, chat_request("go"), chat_reply(100 + n, 5), at=1_775_808_000_000 + 60_000 * n)
                for n in range(3)
            )
        )
    )
    assert len({call.key for call in found}) == 3


def test_a_call_without_an_id_is_the_same_in_every_capture_of_it():
    error = {"error": {"code": "rate_limit_exceeded"}}
    made = exchange(CHAT, chat_request("go"), error, status=429)
    assert calls(run(made))[0].key == calls(Assembler("other.mitm", "mitmproxy").add(made))[0].key
    later = exchange(CHAT, chat_request("go"), error, status=429, at=1_775_808_009_000)
    assert calls(run(made, later))[0].key != calls(run(made, later))[1].key


def test_nothing_of_headers_and_texts_is_in_the_records():
    headers = {
        "authorization": f"Bearer {SECRET}",
        "cookie": f"a={SECRET}",
        "x-api-key": SECRET,
        "x-session-id": SECRET,
    }
    request = anthropic_request("my private words", "other private words", "more private words")
    found = run(
        exchange(
            f"https://api.anthropic.com/v1/messages?key={SECRET}", request, anthropic_reply(1, 0, 0, 1), headers=headers
        )
    )
    text = repr(found)
    assert SECRET not in text and "private words" not in text and "Done." not in text


def test_exchanges_are_put_in_order_of_their_start():
    made = [Exchange(time=t, line=n) for n, t in enumerate([30, 10, 20, None, 5, 40])]
    assert [e.time for e in ordered(made) if e.time is not None] == [5, 10, 20, 30, 40]
    assert len(list(ordered(made, window=2))) == 6


def test_headers_in_every_form():
    expected = {"a": "1", "b": "2"}
    assert lower({"A": "1", "b": "2"}) == expected
    assert lower([["A", "1"], [b"b", b"2"]]) == expected
    assert lower([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]) == expected
    assert lower(None) == lower("x") == lower([7, ["x"]]) == {}


def test_an_unknown_address_without_a_model_answer_is_no_call():
    assert run(exchange("https://x.example.org/api", {"model": "car", "messages": ["a"]}, {"ok": True})) == []
    assert calls(run(exchange("https://x.example.org/api", {"model": "m", "input": "a"}, response_object(9, 1))))


def test_the_model_asked_for_decides_where_an_answer_names_none():
    usage = {"inputTokens": 12401, "outputTokens": 20, "cacheReadInputTokens": 8367, "cacheWriteInputTokens": 4032,
             "totalTokens": 24820}  # fmt: skip
    answer = {"output": {"message": {"role": "assistant", "content": [{"text": "ok"}]}}, "usage": usage}
    asked = {"messages": [{"role": "user", "content": [{"text": "go"}]}]}
    for model, prompt in (("openai.gpt-5.6-v1%3A0", 12_401), ("anthropic.claude-sonnet-4-6-v1%3A0", 24_800)):
        url = f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/converse-stream"
        (call,) = calls(run(exchange(url, asked, answer)))
        assert call.prompt_tokens == prompt


def test_a_stream_cut_in_its_first_event_is_a_call_of_which_nothing_is_known():
    asked = anthropic_request("go", stream=True)
    whole = sse(anthropic_events(7, 100, 20, 300)).encode()
    cut = whole[: whole.index(b'"usage"') + 4]
    (call,) = calls(run(exchange(MESSAGES, asked, cut)))
    assert (call.status, call.prompt_tokens, call.output_tokens) == ("ok", None, None)
    # a page that a program of another kind answers is none
    assert calls(run(exchange("https://chat.example.com/messages", asked, b"<html>hello</html>"))) == []
