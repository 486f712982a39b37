from __future__ import annotations

import io
import json

import pytest

from monitor.readers.langfuse import tokens_of
from tests.readers.gateway_help import calls, lines, read, score, tokens


def generation(id="o1", **more):
    base = {
        "id": id,
        "trace_id": f"t-{id}",
        "session_id": "chat-7",
        "type": "GENERATION",
        "name": "llm",
        "start_time": "2026-05-05 10:00:00.000000",
        "end_time": "2026-05-05 10:00:00.900000",
        "provided_model_name": "claude-sonnet-4-5",
        "model_parameters": "{}",
        "usage_details": {
            "input": 12,
            "cache_read_input_tokens": 21000,
            "cache_creation_input_tokens": 900,
            "output": 300,
        },
        "cost_details": {"input": 0.1, "total": 0.25},
        "input": "",
        "output": "",
        "level": "DEFAULT",
    }
    return base | more


@pytest.mark.parametrize(
    ("details", "wanted"),
    [
        # Anthropic: input leaves the cache out
        (
            {"input": 12, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 9, "output": 3},
            (121, 12, 100, 9, 3),
        ),
        # OpenAI: Langfuse took the details off input and output
        (
            {"input": 20, "input_cached_tokens": 80, "output": 5, "output_reasoning_tokens": 7, "total": 112},
            (100, 20, 80, None, 12),
        ),
        # the same details, but the total says that they stand inside
        (
            {"input": 100, "input_cached_tokens": 80, "output": 12, "output_reasoning_tokens": 7, "total": 112},
            (100, 20, 80, None, 12),
        ),
        # LiteLLM takes only the reads off: 7 fresh + 3 written + 2163 read + 20 = 2193
        (
            {"input": 10, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 2163, "output": 20, "total": 2193},
            (2173, 7, 2163, 3, 20),
        ),
        # the writes were taken off, the reads were not: 90 + 9 + 1 = 100
        (
            {"input": 90, "cache_creation_input_tokens": 9, "cache_read_input_tokens": 80, "output": 1, "total": 100},
            (99, 10, 80, 9, 1),
        ),
        # only reasoning stands inside
        (
            {"input": 20, "input_cached_tokens": 80, "output": 12, "output_reasoning": 7, "total": 112},
            (100, 20, 80, None, 12),
        ),
        # other kinds of input occupy the context too
        ({"input": 20, "input_audio_tokens": 30, "output": 5}, (50, 50, None, None, 5)),
        # names of the OpenTelemetry endpoint
        ({"input": 10, "input_cache_read": 40, "input_cache_creation": 5, "output": 1}, (55, 10, 40, 5, 1)),
        # one-hour and five-minute writes without their sum
        (
            {
                "input": 1,
                "cache_read_input_tokens": 4,
                "input_cache_creation_5m": 2,
                "input_cache_creation_1h": 3,
                "output": 1,
            },
            (10, 1, 4, 5, 1),
        ),
        # a provider's own object
        (
            {"prompt_tokens": 50, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 30}},
            (50, 20, 30, 0, 5),
        ),
        ({"input": 20, "output": 5, "total": 25}, (20, 20, None, None, 5)),
    ],
)
def test_usage_details(details, wanted):
    found = tokens_of(details)
    assert (found.prompt, found.fresh, found.read, found.write, found.output) == wanted


def test_only_generations_are_calls():
    rows = [
        generation(),
        generation("o2", type="SPAN"),
        generation("o3", type="TOOL"),
        generation("o4", type="EMBEDDING"),
    ]
    found = calls(read("langfuse", lines(*rows)))
    assert [(c.call_id, c.purpose) for c in found] == [("o1", "work"), ("o4", "side")]
    assert tokens(found[0]) == (21912, 12, 21000, 900, 300)
    assert (found[0].session, found[0].session_evidence, found[0].cost_usd) == ("chat-7", "explicit", 0.25)
    assert (found[0].time, found[0].duration_ms) == (1777975200000, 900)


def test_errors():
    found = calls(read("langfuse", lines(generation(level="ERROR", usage_details={"input": 0, "output": 0}))))[0]
    assert (found.status, tokens(found)) == ("error", (None,) * 5)


def test_a_trace_with_several_generations_is_a_session():
    rows = [
        generation("o1", session_id=None, trace_id="t1"),
        generation("o2", session_id=None, trace_id="t2"),
        generation("o3", session_id="", trace_id="t1"),
    ]
    found = calls(read("langfuse", lines(*rows)))
    assert [(c.call_id, c.session, c.session_evidence) for c in found] == [
        ("o1", "t1", "chain"),
        ("o2", "log", "file"),
        ("o3", "t1", "chain"),
    ]


def test_messages_in_the_input_are_compared_instead():
    first = [{"role": "user", "content": "hello"}]
    second = [*first, {"role": "assistant", "content": "hi"}, {"role": "user", "content": "go on"}]
    rows = [
        generation("o1", session_id=None, input=json.dumps(first)),
        generation("o2", session_id=None, input=json.dumps({"messages": second})),
    ]
    one, two = calls(read("langfuse", lines(*rows)))
    assert one.evidence is not None
    assert two.evidence is not None
    assert one.evidence.messages
    assert two.evidence.messages.startswith(one.evidence.messages)


def test_camel_case_of_the_api_newest_first():
    rows = [
        {
            "id": f"o{n}",
            "traceId": "t",
            "type": "GENERATION",
            "startTime": f"2026-05-05T10:0{n}:00.000Z",
            "endTime": f"2026-05-05T10:0{n}:01.000Z",
            "model": "gpt-5-mini",
            "usageDetails": {"input": n, "output": 1},
            "sessionId": "s",
            "totalCost": 0.5,
        }
        for n in (3, 2, 1)
    ]
    data = json.dumps({"data": rows, "meta": {"page": 1}})
    assert score("langfuse", data) > 0.9
    found = calls(read("langfuse", data))
    assert [(c.prompt_tokens, c.session, c.cost_usd) for c in found] == [(1, "s", 0.5), (2, "s", 0.5), (3, "s", 0.5)]


def test_csv_holds_maps_as_texts():
    import csv

    out = io.StringIO()
    row = {k: json.dumps(v) if isinstance(v, dict) else v for k, v in generation().items()}
    writer = csv.DictWriter(out, list(row))
    writer.writeheader()
    writer.writerow(row)
    assert score("langfuse", out.getvalue()) > 0.9
    assert tokens(calls(read("langfuse", out.getvalue()))[0]) == (21912, 12, 21000, 900, 300)


def test_parquet_holds_maps_as_pairs():
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    row = generation()
    kind = pyarrow.map_(pyarrow.string(), pyarrow.int64())
    details = pyarrow.array([list(row.pop("usage_details").items())], type=kind)
    row.pop("cost_details")
    table = pyarrow.table({k: [v] for k, v in row.items()}).append_column("usage_details", details)
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    assert score("langfuse", stream.getvalue()) > 0.9
    assert tokens(calls(read("langfuse", stream.getvalue()))[0]) == (21912, 12, 21000, 900, 300)
