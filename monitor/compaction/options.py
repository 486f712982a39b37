"""What a compaction is asked to do, and presets for windows from a few thousand to a million tokens."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Strategy = Literal["summary", "trim", "remote", "notes"]
Form = Literal["text", "json"]
STRATEGIES: tuple[Strategy, ...] = ("summary", "trim", "remote", "notes")
#: tokens of the last N exchanges that stay as they are, at most
KEEP_TOKENS = 20_000
KEEP_EXCHANGES = 2
SUMMARY_TOKENS = 4_000
#: an output larger than this share of the input is refused
REFUSE = 0.9


class CompactionError(Exception):
    """A compaction that cannot be done; one clear sentence. ``code``: exit code of the command (1 failure, 2 usage)."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How to compact. ``keep_tokens`` None: 20,000, but so much less that the output is under half of the input."""

    keep_exchanges: int = KEEP_EXCHANGES
    keep_tokens: int | None = None
    keep_messages: int | None = None  # instead of exchanges: about so many messages, never a part of a unit
    strategies: tuple[Strategy, ...] = ("summary",)
    summary_tokens: int = SUMMARY_TOKENS
    acknowledgement: str = "auto"  # auto: where roles must alternate; always, never, or the text itself
    strict_roles: bool = False
    prefix: str = ""  # text before the summary
    prompt: str = ""  # for a summarizer: instead of the built-in instruction
    form: Form = "text"  # of the summary message: five headings, or one JSON object with five keys
    append: bool = False
    model: str | None = None
    timestamp: str = ""
    pointer: str = ""  # where the whole conversation can be looked up


#: name -> (window in tokens, options that differ, threshold of the Compactor in tokens, messages)
PRESETS: dict[str, dict[str, Any]] = {
    "small": {"threshold": 100_000, "messages": 20, "keep_messages": 6, "keep_tokens": 4_000, "summary_tokens": 2_000},
    "4k": {"threshold": 2_800, "keep_exchanges": 1, "keep_tokens": 900, "summary_tokens": 700},
    "8k": {"threshold": 5_600, "keep_exchanges": 1, "keep_tokens": 1_800, "summary_tokens": 1_200},
    "16k": {"threshold": 11_500, "keep_tokens": 3_500, "summary_tokens": 1_800},
    "32k": {"threshold": 24_000, "keep_tokens": 7_000, "summary_tokens": 2_500},
    "64k": {"threshold": 50_000, "keep_tokens": 12_000, "summary_tokens": 3_500},
    "128k": {"threshold": 100_000},
    "200k": {"threshold": 150_000},
    "400k": {"threshold": 300_000, "keep_tokens": 30_000},
    "1m": {"threshold": 500_000, "keep_tokens": 40_000},
}


def preset(name: str) -> dict[str, Any]:
    """The values of a preset by name, any case. Raises CompactionError for a name that is none."""
    found = PRESETS.get(name.lower())
    if found is None:
        raise CompactionError(f"preset {name} is not known; known are {', '.join(PRESETS)}", 2)
    return dict(found)


def strategies(text: str) -> tuple[Strategy, ...]:
    """``trim,summary`` as strategies. Raises CompactionError for a word that is none."""
    out: list[Strategy] = []
    for word in text.replace("+", ",").split(","):
        word = word.strip().lower()
        if word not in STRATEGIES:
            raise CompactionError(f"strategy {word or text} is not known; known are {', '.join(STRATEGIES)}", 2)
        if word not in out:
            out.append(word)
    if "remote" in out and "summary" in out:
        raise CompactionError("summary and remote both replace the history; use one of them", 2)
    return tuple(out)
