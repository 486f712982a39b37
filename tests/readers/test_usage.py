"""Figures that several formats share."""

import pytest

from monitor.readers import shapes, usage


@pytest.mark.parametrize(
    ("whole", "parts", "expected"),
    [
        (None, (), None),
        (None, (None, None), None),  # named, but without figures
        (0, (None, None), 0),
        (None, (0, 0), 0),
        (None, (3_000, None), 3_000),
        (0, (3_000, 7_000), 10_000),
        (12_000, (3_000, 7_000), 12_000),
    ],
)
def test_writes_told_by_life_time_only(whole, parts, expected):
    assert usage.written(whole, *parts) == expected


def test_a_split_without_figures_leaves_writes_unknown():
    split = {"ephemeral_5m_input_tokens": None, "ephemeral_1h_input_tokens": "?"}
    told = shapes.messages({"input_tokens": 9, "cache_read_input_tokens": 5, "output_tokens": 1, "cache_creation": split})
    assert (told.prompt, told.write) == (14, None)
    chat = {"prompt_tokens": 20, "completion_tokens": 1, "cache_creation": split}
    assert shapes.chat(chat).write is None
