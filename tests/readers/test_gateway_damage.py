"""Damaged exports of gateways: whatever is cut, flipped or put in, a reader answers with records or one sentence."""

from __future__ import annotations

import json
import random

import pytest

from monitor.readers.base import ReadError, ReadOptions
from monitor.readers.columns import parse_map
from tests.readers.gateway_help import calls, context, read, readers, score

NEW_API = {
    "id": 1, "created_at": 1783407600, "type": 2, "token_name": "agent", "model_name": "claude-x", "quota": 5,
    "prompt_tokens": 5, "completion_tokens": 7, "other": '{"cache_tokens": 90, "claude": true}',
}  # fmt: skip
LITELLM = {
    "request_id": "c1", "call_type": "acompletion", "api_key": "k", "spend": 0.1, "startTime": "2026-04-10T08:00:00Z",
    "endTime": "2026-04-10T08:00:03Z", "metadata": '{"usage_object": {"prompt_tokens": 9, "completion_tokens": 1}}',
    "proxy_server_request": '{"messages": [{"role": "user", "content": "hello"}]}', "response": '{"id": "c1"}',
}  # fmt: skip
LANGFUSE = {
    "id": "o", "trace_id": "t", "type": "GENERATION", "start_time": "2026-05-05 10:00:00", "usage_details": {"input": 1},
    "input": '[{"role": "user", "content": "hello"}]',
}  # fmt: skip
BEDROCK = {
    "schemaType": "ModelInvocationLog", "timestamp": "2026-06-01T10:00:00Z", "requestId": "q",
    "input": {"inputTokenCount": 1, "inputBodyJson": {"messages": [{"role": "user", "content": "x"}]}},
    "output": {"outputTokenCount": 2, "outputBodyJson": [{"type": "message_start", "message": {"usage": {}}}]},
}  # fmt: skip
HELICONE = {
    "request_id": "r", "request_created_at": "2026-06-01T10:00:00Z", "response_created_at": "2026-06-01T10:00:01Z",
    "prompt_tokens": 5, "request_properties": {"Helicone-Session-Id": "s"}, "delay_ms": 5, "request_path": "/v1/messages",
}  # fmt: skip
SAMPLES = {
    "new_api": json.dumps({"success": True, "data": {"items": [NEW_API, NEW_API]}}),
    "litellm": json.dumps(LITELLM) + "\n" + json.dumps(LITELLM | {"request_id": "c2"}) + "\n",
    "openrouter": "generation_id,created_at,tokens_prompt,tokens_completion,model_permaslug\n"
    "g1,2026-06-01 10:00:00.000,30000,400,m\n",
    "langfuse": json.dumps([LANGFUSE, LANGFUSE]),
    "helicone": json.dumps(HELICONE) + "\n" + json.dumps(HELICONE) + "\n",
    "bedrock": json.dumps(BEDROCK) + "\n" + json.dumps(BEDROCK) + "\n",
    "cloudflare": json.dumps({"result": [{"id": "c", "created_at": "2026-06-01T10:00:00Z", "provider": "openai", "model": "m",
                              "tokens_in": 5, "tokens_out": 1, "cached": False, "metadata": "{}"}]}),
    "portkey": json.dumps({"id": "p", "trace_id": "t", "ai_org": "openai", "ai_model": "m", "req_units": 1, "res_units": 2,
                           "response_status_code": 200, "response": {"usage": {"prompt_tokens": 1}}}) + "\n",
    "magpie": '{"t": "2026-06-01T10:00:00Z", "agent": "a", "provider": "p", "model": "m", "in": 1, "out": 2, "ms": 3}\n',
    "columns": "when,prompt,cached,output\n2026-03-01T10:00:00Z,5,1,2\n1772359200,6,2,3\n",
}  # fmt: skip
MAP = ReadOptions(map=parse_map("time: when\nprompt: prompt\ncached: cached\noutput: output\n"))
PIECES = [
    b"null",
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b",",
    b"\n",
    b"-1",
    b"1e999",
    b"true",
    b"\xff\xfe",
    b"\x00",
    b"{}",
    b"[[]]",
]


def damaged(data: bytes, chance: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(out) + 1)
        way = chance.randrange(4)
        if way == 0:
            del out[at : at + chance.randint(1, 60)]
        elif way == 1 and at < len(out):
            out[at] = chance.randrange(256)
        elif way == 2:
            out[at:at] = chance.choice(PIECES)
        else:
            out = out[: max(1, at)]
        out = out or bytearray(b"{")
    return bytes(out)


@pytest.mark.parametrize("module", SAMPLES)
def test_samples_are_recognised_and_read(module):
    options = MAP if module == "columns" else ReadOptions()
    assert module == "columns" or score(module, SAMPLES[module]) >= 0.9
    assert calls(read(module, SAMPLES[module], options=options))


@pytest.mark.parametrize("module", SAMPLES)
def test_damage_never_raises(module):
    chance = random.Random(f"damage {module}")
    whole = SAMPLES[module].encode()
    for _ in range(250):
        data = damaged(whole, chance)
        score(module, data)
        for reader in readers(module):
            at = context(data, options=MAP if module == "columns" else ReadOptions())
            parser = reader.parser(at)
            try:
                parser.read(at)
            except ReadError:
                continue
            parser.take()


@pytest.mark.parametrize("module", ["new_api", "litellm", "langfuse", "helicone", "bedrock", "cloudflare", "portkey"])
def test_values_of_any_type_never_raise(module):
    """Every value of every row replaced by a value of another type, one after the other."""
    document = json.loads(SAMPLES[module].splitlines()[0])
    rows = document
    for name in ("data", "items", "result"):
        rows = rows.get(name, rows) if isinstance(rows, dict) else rows
    row = rows[0] if isinstance(rows, list) else rows
    for name in row:
        for value in (None, True, -1, 1.5, "", "text", [], [1], {}, {"a": None}, 10**30, "9" * 400):
            read(module, json.dumps([row | {name: value}, row]))
