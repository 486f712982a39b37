"""Telemetry: metrics, a growing file, what is none, and damage."""

from __future__ import annotations

import random

from tests.readers.gateway_help import calls, context, lines, problems, read, readers, score
from tests.readers.otel_help import attributes, chat, export, messages, request, response, span


def test_metrics_are_said_to_be_unusable():
    data = lines(
        {
            "resourceMetrics": [
                {
                    "resource": {"attributes": attributes({"service.name": "claude-code"})},
                    "scopeMetrics": [
                        {
                            "scope": {"name": "com.anthropic.claude_code"},
                            "metrics": [{"name": "claude_code.token.usage"}],
                        }
                    ],
                }
            ]
        }
    )
    assert score("otel", data) > 0.9
    records = read("otel", data)
    assert calls(records) == []
    assert ["tell no single calls" in p.reason for p in problems(records)] == [True]


def test_a_growing_file():
    reader = next(r for r in readers("otel") if r.source == "otel")
    parser = reader.parser(context(""))
    one = lines(export("span", [span("a", "t1", facts=chat())])).encode()
    two = lines(export("span", [span("b", "t1", start=5, facts=chat(2000))])).encode()
    parser.feed([one], 1)
    assert [(c.line, c.session_evidence) for c in calls(parser.take())] == [(1, "file")]
    parser.feed([two], 2)
    assert [(c.line, c.session, c.prompt_tokens) for c in calls(parser.take())] == [(1, "t1", 1000), (2, "t1", 2000)]
    assert parser.take() == []


def test_other_json_is_not_taken_for_telemetry():
    for data in (
        '{"type": "assistant", "message": {"usage": {"input_tokens": 5}}, "timestamp": "2026-04-10T08:00:00Z"}\n',
        '{"log": {"entries": [{"request": {}, "startTime": 1}]}}',
        '{"attributes": {"a": 1}}\n',
        "resourceSpans\n",
    ):
        assert score("otel", data) == 0


def test_damaged_telemetry_never_raises():
    whole = lines(
        export("span", [span(facts=chat(**{"gen_ai.input.messages": messages("a", "b")}))]),
        export("log", [request(1, 7, 0, 5, 5)], "com.anthropic.claude_code.events"),
        response(1, 5, 5),
    )
    shuffle = random.Random(7)
    for _ in range(300):
        data = bytearray(whole.encode())
        for _ in range(shuffle.randint(1, 6)):
            at = shuffle.randrange(len(data))
            choice = shuffle.randrange(3)
            if choice == 0:
                del data[at : at + shuffle.randint(1, 200)]
            elif choice == 1:
                data[at] = shuffle.randrange(256)
            else:
                data[at:at] = shuffle.choice([b"null", b"[", b"}", b'"', b"-1", b"1e999"])
            data = data or bytearray(b"x")
        read("otel", bytes(data))
