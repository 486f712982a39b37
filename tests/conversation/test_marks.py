"""Which user-role texts a client made up."""

from __future__ import annotations

import pytest

from monitor.conversation.marks import looks_like_summary, looks_synthetic


@pytest.mark.parametrize(
    ("text", "made_up"),
    [
        ("<environment_context>\n<cwd>/w</cwd>\n</environment_context>", True),
        ("# AGENTS.md instructions for /w\n\nx", True),
        ("<command-name>/compact</command-name>\n<command-args></command-args>", True),
        ("<command-name>/fix</command-name>\n<command-args>the login</command-args>", False),
        ("[Request interrupted by user for tool use]", True),
        ("<local-command-stdout>Compacted</local-command-stdout>", True),
        ("<div> in the page is broken, fix it", False),
        ("Please fix <environment_context>", False),
        ("", False),
    ],
)
def test_synthetic(text: str, made_up: bool) -> None:
    assert looks_synthetic(text) is made_up


def test_a_word_about_summaries_is_no_summary() -> None:
    assert not looks_like_summary("Write a <summary> tag into the page")
    assert not looks_like_summary("This session is fun")
