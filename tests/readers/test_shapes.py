from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.readers import shapes
from monitor.readers.usage import UNKNOWN
from tests.readers.exchange_samples import shared

#: usage object, extra arguments, (prompt, fresh, read, write, output, reasoning) by hand from each provider's rule
TABLE = [
    # OpenAI chat: the cache is inside
    ({"prompt_tokens": 1000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 896}, "completion_tokens_details": {"reasoning_tokens": 20}}, {}, (1000, 104, 896, 0, 50, 20)),
    # some gateways add the cache to the total only
    ({"prompt_tokens": 5000, "completion_tokens": 100, "total_tokens": 9000, "prompt_tokens_details": {"cached_tokens": 3000}, "cache_creation_input_tokens": 900}, {}, (8900, 5000, 3000, 900, 100, None)),
    # Bedrock: OpenAI's models in streams, with a total that counts the cache twice
    ({"inputTokens": 12401, "outputTokens": 20, "cacheReadInputTokens": 8367, "cacheWriteInputTokens": 4032, "totalTokens": 24820}, {"model": "openai.gpt-5.6-v1:0"}, (12401, 2, 8367, 4032, 20, None)),
    ({"inputTokens": 12401, "outputTokens": 20, "cacheReadInputTokens": 8367, "cacheWriteInputTokens": 4032, "totalTokens": 24820}, {"model": "anthropic.claude-sonnet-4-6-v1:0"}, (24800, 12401, 8367, 4032, 20, None)),
    # Kimi's Anthropic-like address says OpenAI's word for what was read
    ({"input_tokens": 23, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "cached_tokens": 2300}, {}, (2323, 23, 2300, 0, 5, None)),
    ({"input_tokens": 2323, "output_tokens": 5, "cache_read_input_tokens": 0, "cached_tokens": 2300}, {}, (2323, 23, 2300, None, 5, None)),
    # nothing said about a cache: unknown, not zero
    ({"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}, {}, (1000, 1000, None, None, 50, None)),
    ({"prompt_tokens": 448, "completion_tokens": 38, "prompt_tokens_details": None}, {}, (448, 448, None, None, 38, None)),
    # OpenAI and OpenRouter name cache writes too
    ({"prompt_tokens": 4020, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 4012}}, {}, (4020, 8, 0, 4012, 4, None)),
    # Bifrost before 1.6.1 counted writes among what was cached, and left zeros out; later versions do not
    ({"prompt_tokens": 10000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 9000, "cached_read_tokens": 8000, "cached_write_tokens": 1000}}, {}, (10000, 1000, 8000, 1000, 50, None)),
    ({"prompt_tokens": 10000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 8000, "cached_read_tokens": 8000, "cached_write_tokens": 1000}}, {}, (10000, 1000, 8000, 1000, 50, None)),
    ({"prompt_tokens": 4020, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 4012, "cached_write_tokens": 4012}}, {}, (4020, 8, 0, 4012, 4, None)),
    ({"input_tokens": 4020, "output_tokens": 4, "input_tokens_details": {"cached_read_tokens": 0, "cached_write_tokens": 4012, "cached_tokens": 4012}}, {}, (4020, 8, 0, 4012, 4, None)),
    # written and read are both counted from the start: 1,012 were new
    ({"prompt_tokens": 4020, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3008, "cache_write_tokens": 4012}}, {}, (4020, 0, 3008, 1012, 4, None)),
    # more read than the prompt holds: the record excludes the cache
    ({"prompt_tokens": 12, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 900}}, {}, (912, 12, 900, 0, 4, None)),
    # DeepSeek, Moonshot, Mistral, llama.cpp, LiteLLM
    ({"prompt_tokens": 563, "completion_tokens": 116, "prompt_cache_hit_tokens": 512, "prompt_cache_miss_tokens": 51}, {}, (563, 51, 512, 0, 116, None)),
    ({"prompt_tokens": 19, "completion_tokens": 29, "cached_tokens": 3}, {}, (19, 16, 3, 0, 29, None)),
    ({"prompt_tokens": 70, "completion_tokens": 12, "num_cached_tokens": 69}, {}, (70, 1, 69, 0, 12, None)),
    ({"prompt_tokens": 700, "completion_tokens": 12}, {"timings": {"cache_n": 600, "prompt_n": 100}}, (700, 100, 600, 0, 12, None)),
    ({"prompt_tokens": 2173, "completion_tokens": 9, "cache_read_input_tokens": 2163, "cache_creation_input_tokens": 3}, {}, (2173, 7, 2163, 3, 9, None)),
    # Qwen's explicit cache
    ({"prompt_tokens": 5000, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 1000, "cache_creation_input_tokens": 3000}}, {}, (5000, 1000, 1000, 3000, 9, None)),
    # xAI: the total shows that reasoning stands outside
    ({"prompt_tokens": 12, "completion_tokens": 1, "total_tokens": 303, "completion_tokens_details": {"reasoning_tokens": 290}}, {}, (12, 12, None, None, 291, 290)),
    ({"prompt_tokens": 687, "completion_tokens": 240, "total_tokens": 927, "completion_tokens_details": {"reasoning_tokens": 165}}, {}, (687, 687, None, None, 240, 165)),
    # Gemini behind an OpenAI address: 109 = 35 + 12 + 62 thoughts
    ({"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109}, {"model": "gemini-2.5-flash"}, (35, 35, None, None, 74, 62)),
    # OpenAI Responses
    ({"input_tokens": 18225, "input_tokens_details": {"cached_tokens": 18048}, "output_tokens": 209, "output_tokens_details": {"reasoning_tokens": 128}, "total_tokens": 18434}, {}, (18225, 177, 18048, 0, 209, 128)),
    ({"input_tokens": 30, "output_tokens": 5, "total_tokens": 35}, {}, (30, 30, None, None, 5, None)),
    # Anthropic: the cache is outside
    ({"input_tokens": 2, "cache_read_input_tokens": 589733, "cache_creation_input_tokens": 1088, "output_tokens": 410}, {}, (590823, 2, 589733, 1088, 410, None)),
    ({"input_tokens": 50, "output_tokens": 5}, {"flavour": "anthropic"}, (50, 50, None, None, 5, None)),
    # Gemini: zeros are left out; thoughts and tool prompts stand outside; 1,287 = 294 + 605 + 230 + 158
    ({"promptTokenCount": 294, "candidatesTokenCount": 230, "thoughtsTokenCount": 158, "toolUsePromptTokenCount": 605, "totalTokenCount": 1287}, {}, (899, 899, 0, 0, 388, 158)),
    ({"promptTokenCount": 3520, "cachedContentTokenCount": 3512, "candidatesTokenCount": 2, "thoughtsTokenCount": 42, "totalTokenCount": 3564}, {}, (3520, 8, 3512, 0, 44, 42)),
    ({"promptTokenCount": 14, "totalTokenCount": 14}, {}, (14, 14, 0, 0, 0, 0)),
    ({"promptTokenCount": 7}, {}, (7, 7, 0, 0, None, 0)),
    ({"total_input_tokens": 12, "total_output_tokens": 54, "total_thought_tokens": 391, "total_cached_tokens": 0, "total_tool_use_tokens": 0}, {}, (12, 12, 0, 0, 445, 391)),
    # Bedrock Converse: the same cache under two names, outside the input: 2,527 - 13 = 22 + 2,492
    ({"inputTokens": 22, "outputTokens": 13, "totalTokens": 2527, "cacheReadInputTokens": 2492, "cacheReadInputTokenCount": 2492, "cacheWriteInputTokens": 0}, {}, (2514, 22, 2492, 0, 13, None)),
    ({"inputTokens": 40, "outputTokens": 302, "totalTokens": 342}, {}, (40, 40, None, None, 302, None)),
    ({"inputTokens": 2514, "outputTokens": 13, "totalTokens": 2527, "cacheReadInputTokens": 2492, "cacheWriteInputTokens": 0}, {}, (2514, 22, 2492, 0, 13, None)),
    ({"inputTokenCount": 10, "cacheReadInputTokenCount": 90, "cacheWriteInputTokenCount": 5, "outputTokenCount": 7}, {}, (105, 10, 90, 5, 7, None)),
    # Cohere: what the model saw, not what is billed
    ({"billed_units": {"input_tokens": 12, "output_tokens": 7}, "tokens": {"input_tokens": 507, "output_tokens": 10}, "cached_tokens": 448}, {}, (507, 59, 448, 0, 10, None)),
    ({"billed_units": {"input_tokens": 12}}, {}, (None, None, None, None, None, None)),
    # Ollama, llama.cpp
    ({"prompt_eval_count": 17, "eval_count": 63, "done": True}, {}, (17, 17, None, None, 63, None)),
    ({"tokens_evaluated": 800, "tokens_predicted": 20, "timings": {"cache_n": 700}}, {}, (800, 100, 700, 0, 20, None)),
    # numbers as text
    ({"prompt_tokens": "1,000", "completion_tokens": "50"}, {}, (1000, 1000, None, None, 50, None)),
]  # fmt: skip


@pytest.mark.parametrize(("usage", "more", "expected"), TABLE)
def test_every_shape(usage, more, expected):
    found = shapes.tokens(usage, **more)
    assert (found.prompt, found.fresh, found.read, found.write, found.output, found.reasoning) == expected


def test_figures_that_are_all_zero_come_from_a_gateway_that_does_not_report():
    for usage in (
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0},
        {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
        {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0},
        {"promptTokenCount": 0},
    ):
        found = shapes.tokens(usage)
        assert (found.prompt, found.read) == (None, None), usage


def test_one_hour_writes_are_kept_apart():
    split = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 400}
    found = shapes.tokens({"input_tokens": 3, "cache_creation": split, "output_tokens": 1})
    assert (found.prompt, found.write, found.write_1h) == (503, 500, 400)
    rows = [{"inputTokens": 300, "ttl": "1h"}, {"inputTokens": 50, "ttl": "5m"}]
    found = shapes.tokens({"inputTokens": 3, "cacheWriteInputTokens": 350, "outputTokens": 1, "cacheDetails": rows})
    assert (found.prompt, found.write_1h) == (353, 300)
    lives = {"cached_write_tokens_5m": 33, "cached_write_tokens_1h": 11}
    details = {"cached_read_tokens": 200, "cached_write_tokens": 44, "cached_write_token_details": lives}
    for usage in (
        {"prompt_tokens": 254, "completion_tokens": 45, "prompt_tokens_details": details},
        {"input_tokens": 254, "output_tokens": 45, "input_tokens_details": details},
    ):
        found = shapes.tokens(usage)
        assert (found.prompt, found.fresh, found.write, found.write_1h) == (254, 10, 44, 11)


def test_a_pass_of_another_model_is_no_context_and_not_this_models_bill():
    rows = [
        {"type": "message", "input_tokens": 1128, "output_tokens": 110},
        {"type": "advisor_message", "input_tokens": 2518, "output_tokens": 22, "model": "claude-opus-4-8"},
        {"type": "message", "input_tokens": 1262, "output_tokens": 11},
    ]
    found = shapes.tokens(
        {"input_tokens": 2390, "cache_read_input_tokens": 0, "output_tokens": 121, "iterations": rows}
    )
    assert (found.prompt, found.billed_prompt, found.output) == (1262, 2390, 121)
    assert found.elsewhere == (("claude-opus-4-8", 2518, 0, 0, 0, 22),)
    one = shapes.tokens({"input_tokens": 9, "cache_read_input_tokens": 0, "output_tokens": 1, "iterations": rows[1:2]})
    assert (one.prompt, one.billed_prompt, one.elsewhere) == (9, 9, found.elsewhere)


def test_what_the_only_message_pass_had_of_the_cache_stands_at_the_top_level():
    rows = [
        {"type": "compaction", "input_tokens": 29_869, "output_tokens": 239},
        {"type": "message", "input_tokens": 20_330, "output_tokens": 56},
    ]
    usage = {"input_tokens": 20, "cache_creation_input_tokens": 310, "cache_read_input_tokens": 20_000,
             "output_tokens": 56, "iterations": rows}  # fmt: skip
    found = shapes.tokens(usage)
    assert (found.prompt, found.fresh, found.read, found.write) == (20_330, 20, 20_000, 310)
    assert (found.billed_prompt, found.billed) == (50_199, ((20, 20_000, 310, 0, 56), (29_869, 0, 0, 0, 239)))


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        # with an own key, `cost` is OpenRouter's fee (its page's own example: 0.95 of 19)
        ({"cost": 0.95, "is_byok": True, "cost_details": {"upstream_inference_cost": 19}}, 19.95),
        ({"cost": 0.95, "cost_details": {"upstream_inference_cost": 19}}, 19.95),
        ({"cost": 0, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.0360795}}, 0.0360795),
        ({"is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}, 0.02),
        # without one, the provider's charge is stated beside the same sum
        ({"cost": 0.5, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.5}}, 0.5),
        ({"cost": 0.5, "cost_details": {"upstream_inference_cost": 0.5}}, 0.5),
        ({"cost": 0.5, "is_byok": False, "cost_details": {"upstream_inference_cost": None}}, 0.5),
        ({"cost": 0.5, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.75}}, 0.5),
        # a fee without what the provider charged tells no cost
        ({"cost": 0.95, "is_byok": True, "cost_details": {"upstream_inference_cost": None}}, None),
        ({"cost": 0.95, "is_byok": True}, None),
        # xAI: 1e-10 USD (37756000 ticks are $0.0037756, docs.x.ai)
        ({"prompt_tokens": 1, "cost_in_usd_ticks": 37_756_000}, 0.0037756),
        ({"cost": 0.5, "cost_in_usd_ticks": 37_756_000}, 0.5),
        # Perplexity
        ({"cost": {"input_tokens_cost": 0.001, "request_cost": 0.005, "total_cost": 0.006}}, 0.006),
    ],
)
def test_the_cost_of_a_call_with_an_own_key(usage, cost):
    assert shapes.cost(usage) == pytest.approx(cost)


def test_the_cost_is_taken_where_it_is_stated():
    assert shapes.cost({"cost": 0.0125}) == 0.0125
    assert shapes.cost({"cost": True}) is None
    assert shapes.cost({"cost": -1}) is None
    assert shapes.cost(None) is None


def test_no_usage_object_is_unknown():
    for value in (None, [], "", {}, {"x": 1}, 7):
        assert shapes.tokens(value) is UNKNOWN


NAMES = st.sampled_from(
    sorted({key for usage, _, _ in TABLE for key in usage} | {"cache_creation", "iterations", "cost"})
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats(allow_nan=True) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES, max_size=8), st.sampled_from(["", "gemini-2.5-pro", "gpt-5.4"]))
def test_any_object_gives_consistent_figures_and_no_error(usage, model):
    found = shapes.tokens(usage, model=model)
    for value in (found.prompt, found.fresh, found.read, found.write, found.output, found.reasoning):
        assert value is None or value >= 0
    if None not in (found.prompt, found.fresh, found.read, found.write):
        assert found.fresh + found.read + found.write == found.prompt
    if found.prompt is not None and found.read is not None:
        assert found.read <= found.prompt


#: usage objects whose own expectation is a bill and not a context size, with the reason
NOT_A_BILL = {
    "billed_units": "Cohere bills without its own preamble; the model saw `tokens`",
    "advisor_message": "the bill adds up the passes; the context is the last one",
    "num_cached_tokens": "the data set does not know this name of a cache read",
}


def test_the_usage_objects_of_a_public_data_set():
    rows = json.loads(shared("usage_dataset/usages_subset.json").read_text(encoding="utf-8"))
    checked = 0
    for number, row in enumerate(rows):
        body = row["body"]
        usage = body.get("usage") or body.get("usageMetadata") or body.get("meta")
        usage = usage.get("usage", usage)
        if any(word in json.dumps(usage) for word in NOT_A_BILL):
            continue
        found = shapes.tokens(usage, model=body.get("model") or body.get("modelVersion") or "")
        told = [
            (
                e["usage"].get("input_tokens"),
                e["usage"].get("output_tokens") or 0,
                e["usage"].get("cache_read_tokens", 0),
                e["usage"].get("cache_write_tokens", 0),
            )
            for e in row["extracted"]
        ]
        assert (found.prompt, found.output or 0, found.read or 0, found.write or 0) in told, (number, usage)
        checked += 1
    assert checked > 150


def test_a_zero_under_one_name_does_not_hide_what_another_tells():
    told = {"prompt_tokens": 2459, "completion_tokens": 23, "total_tokens": 2482, "cache_read_input_tokens": 2455,
            "cache_creation_input_tokens": 0, "prompt_tokens_details": {"cached_tokens": 0}}  # fmt: skip
    found = shapes.tokens(told)
    assert (found.prompt, found.fresh, found.read, found.write) == (2459, 4, 2455, 0)
    split = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 400}
    zero = {"input_tokens": 3, "cache_creation_input_tokens": 0, "cache_creation": split, "output_tokens": 1}
    assert (shapes.tokens(zero).prompt, shapes.tokens(zero).write) == (503, 500)
    nothing = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 0}}
    assert shapes.tokens(nothing).read == 0


@pytest.mark.parametrize("top", [30_010, 60_020])  # of the model that served, or of both attempts
def test_where_a_model_declined_the_context_is_that_of_the_one_that_served(top):
    rows = [
        {"type": "message", "model": "claude-opus-5", "input_tokens": 30_010, "output_tokens": 1},
        {"type": "fallback_message", "model": "claude-sonnet-5", "input_tokens": 30_010, "output_tokens": 400},
    ]
    usage = {"input_tokens": top, "cache_read_input_tokens": 0, "output_tokens": 400, "iterations": rows}
    found = shapes.tokens(usage)
    assert (found.prompt, found.output, found.billed_prompt, found.elsewhere) == (30_010, 400, top, None)


PASSES = [
    {"type": "compaction", "input_tokens": 30_000, "cache_read_input_tokens": 150_000, "output_tokens": 3_500},
    {"type": "message", "input_tokens": 3_000, "cache_creation_input_tokens": 20_000, "output_tokens": 1_000},
]


def test_sums_over_passes_in_a_usage_object_of_openais_form_are_a_bill_and_no_context():
    told = {"prompt_tokens": 203_000, "completion_tokens": 4_500, "total_tokens": 207_500}
    own = [  # Bifrost's words
        {"type": "compaction", "input_tokens": 30_000, "output_tokens": 3_500,
         "input_tokens_details": {"cached_read_tokens": 150_000, "cached_write_tokens": 0}},
        {"type": "message", "input_tokens": 3_000, "output_tokens": 1_000,
         "input_tokens_details": {"cached_write_tokens": 20_000,
                                  "cached_write_token_details": {"cached_write_tokens_1h": 20_000}}},
    ]  # fmt: skip
    answers = {"input_tokens": 203_000, "output_tokens": 4_500, "total_tokens": 207_500, "iterations": own}
    for usage in ({**told, "iterations": PASSES}, {**told, "iterations": own}, answers):
        found = shapes.tokens(usage)
        assert (found.prompt, found.fresh, found.read, found.write) == (23_000, 3_000, 0, 20_000)
        assert (found.output, found.billed_prompt) == (1_000, 203_000)
        assert shapes.compacted(usage) == (180_000, 3_500)
    assert shapes.tokens({**told, "iterations": own}).write_1h == 20_000
    for passes in (None, "odd", [], PASSES[:1], PASSES[1:], [{"type": "compaction"}, 7]):
        usage = {**told, "iterations": passes}
        assert (shapes.tokens(usage).prompt, shapes.compacted(usage)) == (203_000, (None, None))
