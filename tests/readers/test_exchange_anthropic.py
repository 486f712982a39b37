"""Answers in Anthropic's form, as streams tell them."""

from tests.readers.test_exchange_reply import reply


def test_the_cost_a_gateway_states_in_anthropics_form_is_taken():
    stated = {"input_tokens": 5, "output_tokens": 4, "cost": 0.02}
    start = {"type": "message_start", "message": {"id": "m", "type": "message", "usage": {"input_tokens": 5}}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": stated}
    assert reply(start, end).cost == 0.02
    whole = {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": stated}
    assert reply(whole).cost == 0.02


def test_a_split_of_the_start_is_not_that_of_another_prompt():
    start = {"input_tokens": 5, "cache_creation_input_tokens": 2_325, "cache_read_input_tokens": 0,
             "cache_creation": {"ephemeral_5m_input_tokens": 2_325, "ephemeral_1h_input_tokens": 0}}  # fmt: skip
    end = {"input_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 600, "output_tokens": 4}
    begun = {"type": "message_start", "message": {"id": "m", "type": "message", "usage": start}}
    found = reply(begun, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": end}).tokens
    assert (found.prompt, found.write) == (609, 0)
