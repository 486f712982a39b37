from __future__ import annotations

import base64
import json

from monitor.readers.exchange import Assembler, Exchange
from monitor.readers.exchange_ws import Frame, payload, split
from tests.readers.exchange_samples import SESSION, calls, response_object

BASE = Exchange(
    url="wss://api.openai.com/v1/responses", method="GET", headers={"session_id": SESSION}, status=101, line=4
)


def create(text, **more):
    return {"type": "response.create", "model": "gpt-5.4", "input": [{"role": "user", "content": text}], **more}


def answer(n, prompt):
    body = response_object(prompt, 5, id=f"resp_{n}")
    return [
        {"type": "response.created", "response": {**body, "usage": None}},
        {"type": "response.completed", "response": body},
    ]


def frames(*values):
    """(from client, value) with times a second apart"""
    return [Frame(client, json.dumps(value), 1000 * n) for n, (client, value) in enumerate(values)]


def run(exchanges):
    assembler = Assembler("f", "har")
    return [call for exchange in exchanges for call in calls(assembler.add(exchange))]


def test_each_request_of_a_socket_is_a_call():
    one, two = answer(1, 100), answer(2, 200)
    found = split(
        frames(
            (True, create("a")),
            (False, one[0]),
            (False, one[1]),
            (True, create("b", previous_response_id="resp_1")),
            (False, two[0]),
            (False, two[1]),
        ),
        BASE,
    )
    made = run(found)
    assert [call.prompt_tokens for call in made] == [100, 200]
    assert [(call.time, call.duration_ms) for call in made] == [(0, 2000), (3000, 2000)]
    assert {call.session for call in made} == {SESSION}
    assert made[1].evidence.previous_response_id == "resp_1"


def test_warm_ups_are_side_calls():
    one = answer(1, 10)
    (call,) = run(split(frames((True, create("", generate=False)), (False, one[0]), (False, one[1])), BASE))
    assert (call.purpose, call.chain, call.prompt_tokens) == ("side", "side", 10)


def test_errors_and_cut_ends():
    error = {"type": "error", "status": 429, "error": {"code": "rate_limit_exceeded", "message": "x"}}
    found = run(split(frames((True, create("a")), (False, error), (True, create("a"))), BASE))
    assert [call.status for call in found] == ["error", "in_flight"]
    started = answer(1, 100)[0]
    (call,) = run(split(frames((True, create("a")), (False, started)), BASE))
    assert (call.status, call.prompt_tokens) == ("ok", None)


def test_a_capture_that_began_after_the_request_still_has_its_answer():
    one = answer(1, 100)
    (call,) = run(split(frames((False, one[0]), (False, one[1])), BASE))
    assert (call.prompt_tokens, call.call_id) == (100, "resp_1")


def test_other_sockets_are_no_calls():
    assert split(frames((True, {"op": "subscribe"}), (False, {"type": "tick"})), BASE) == []
    assert split([Frame(True, b"\xff\xfe"), Frame(False, None), Frame(False, "text")], BASE) == []


def test_binary_messages_of_har_are_base64():
    assert payload(base64.b64encode(b"{}").decode(), 2) == b"{}"
    assert payload("{}", 1) == "{}"
    assert payload("%%%", 2) == "%%%"
