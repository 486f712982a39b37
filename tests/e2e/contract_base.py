"""Small logs in the formats people have most, each with what the contract says of it, worked out by hand.

The texts hold planted secrets; every test may look whether one of them gets out. Prices used in the hand arithmetic are
the vendors' published ones in USD per million tokens: claude-sonnet-4-5 3 / 15, read 0.30, five-minute write 3.75.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: none of these may leave the program unless the user asks for text; the first two are not keys but plain words
PLANTED = (
    "zanzibar-private-prompt",
    "quokka-tool-output",
    "sk-ant-api03-PLANTEDPLANTEDPLANTEDPLANTEDPLANTED-AA",
    "hunter2-in-the-url",
    "planted-cookie-value",
    "ghp_PLANTEDplantedPLANTEDplantedPLANTEDpla",
)
TYPED, TOOL_OUTPUT, KEY, URL_SECRET, COOKIE, TOKEN = PLANTED
CC_SESSION, PI_SESSION, CODEX_SESSION = "cc-7f3a", "pi-51c0", "cx-0c9e"
SIX = ("prompt_tokens", "fresh_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "index")


@dataclass
class Log:
    """A written log: arguments that read it, and the truth about it."""

    paths: list[str]
    source: str
    calls: list[dict[str, Any]]  # partial CALLs in the order of the output
    events: list[dict[str, Any]] = field(default_factory=list)  # partial EVENTs, all of them
    session: dict[str, Any] = field(default_factory=dict)  # partial SESSION
    options: list[str] = field(default_factory=list)

    @property
    def args(self) -> list[str]:
        return [*self.paths, *self.options]


def lines(path: Path, rows: list[Any]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def six(*numbers: int | None, **more: Any) -> dict[str, Any]:
    """Prompt, fresh, read, write, output, index."""
    return {**dict(zip(SIX, numbers, strict=True)), **more}


def at(minute: int, second: int = 0) -> str:
    """2026-04-10, minutes after 08:00 UTC."""
    return f"2026-04-10T{8 + minute // 60:02d}:{minute % 60:02d}:{second:02d}.000Z"
