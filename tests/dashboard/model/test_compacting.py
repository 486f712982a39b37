"""The preview of a compaction in lines."""

from __future__ import annotations

from pathlib import Path

import msgspec

from monitor.dashboard.compactor import Change, Preview, Retention
from monitor.dashboard.model.compacting import change_lines, preview_lines
from monitor.dashboard.model.text import line_width, plain

SHOWN = Preview(
    source=Path("/logs/s1.jsonl"), target=Path("/logs/s1.compact.jsonl"), tokens_before=120_000, tokens_after=30_000,
    messages_before=400, messages_after=24, stays="2 exchanges (22 messages, 9,000 tokens)",
    parts=(("user", 20_000, 5_000), ("results", 100_000, 25_000)), rules=("Use only the standard library.",),
    sections=(("Goal", "Ship it.\n- by Friday"),),
    retention=(Retention("files read", 12, 12), Retention("facts", 3, 5, ("the port is 8080", "the key is K1"))),
    invented=("4711",), warnings=("two facts are cut short",),
    changes=(Change("-", "user", 900, "the first wish"), Change("+", "summary", 1_200, "Goal\nShip it."),
             Change("~", "result Bash", 30_000, "a long result"), Change(" ", "assistant", 40, "done \x1b[31m")),
)  # fmt: skip


def _text(lines: object) -> str:
    return "\n".join(plain(line) for line in lines)  # type: ignore[attr-defined]


def test_before_and_after() -> None:
    text = _text(preview_lines(SHOWN, 70))
    for part in ("/logs/s1.compact.jsonl", "120,000 → 30,000", "25% of it", "400 → 24", "the last 2 exchanges",
                 "= Use only the standard library.", "⚠ two facts", "+ Ship it.", "+ - by Friday", "! 4711",
                 "tool results    100,000 →    25,000  -75,000"):  # fmt: skip
        assert part in text, part
    bars = [line for line in text.splitlines() if "█" in line]
    assert bars[0].count("█") == 60 or bars[0].count("█") == 61
    assert abs(bars[0].count("█") / bars[1].count("█") - 4) < 0.2


def test_what_the_file_does_not_hold_is_told() -> None:
    whole = msgspec.structs.replace(SHOWN, prompt_tokens=150_000)
    assert "had 150,000 tokens: the rest (system prompt, tools)" in _text(preview_lines(whole, 120))
    same = msgspec.structs.replace(SHOWN, prompt_tokens=121_000)  # another tokenizer counts a little more
    assert "system prompt, tools" not in _text(preview_lines(same, 120))


def test_every_loss_in_its_words() -> None:
    text = _text(preview_lines(SHOWN, 70))
    assert "Still to be found: 15 of 17" in text
    assert "✓ files read" in text and "12 of 12" in text
    assert "✗ facts" in text and "  - the port is 8080" in text and "  - the key is K1" in text


def test_message_by_message() -> None:
    lines = change_lines(SHOWN, 80)
    text = _text(lines).splitlines()
    assert text[0] == "- 1 go   + 1 come   ~ 1 change   1 stay as they are"
    assert text[2].startswith("-    900  user") and text[2].rstrip().endswith("the first wish")
    assert text[3].startswith("+   1.2k  summary") and text[4:6] == ["+ Goal", "+ Ship it."]
    assert text[6].startswith("~    30k  result Bash")
    assert text[7].startswith("      40  assistant") and "\x1b" not in text[7]


def test_of_very_many_messages_the_first_and_the_last_are_listed() -> None:
    many = [Change("-", "user", 1, f"message {number}") for number in range(5_000)]
    shown = Preview(source=Path("a"), target=Path("b"), tokens_before=9, tokens_after=3,
                    changes=(*many, Change(" ", "user", 1, "the end")))  # fmt: skip
    lines = _text(change_lines(shown, 80)).splitlines()
    assert len(lines) == 2 + 1_000 + 1 + 1_000 + 1
    assert "message 999 " in lines[1_001] and "3,000 more that go" in lines[1_002] and "message 4000" in lines[1_003]
    assert "- 5,000 go" in lines[0] and "the end" in lines[-1]


def test_what_is_blocked_says_so() -> None:
    blocked = Preview(source=Path("a"), target=Path("b"), tokens_before=9, tokens_after=3, blocked="b is there already")
    assert "✖ b is there already" in _text(preview_lines(blocked, 70))


def test_unknown_sizes_stay_unknown() -> None:
    preview = Preview(source=Path("a"), target=Path("b"), tokens_before=None, tokens_after=None)
    assert "– → –" in _text(preview_lines(preview, 70))


def test_nothing_is_wider_than_the_sheet() -> None:
    for width in (20, 34, 70, 116):
        for line in (*preview_lines(SHOWN, width), *change_lines(SHOWN, width)):
            assert line_width(line) <= width, plain(line)
