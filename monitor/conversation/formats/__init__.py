"""The formats a conversation may come in. Registry and detection by content; each format is one file."""

from __future__ import annotations

from monitor.conversation.formats.anthropic import ANTHROPIC
from monitor.conversation.formats.base import Document, Format
from monitor.conversation.formats.claude_code import CLAUDE_CODE
from monitor.conversation.formats.codex import CODEX
from monitor.conversation.formats.gemini import GEMINI
from monitor.conversation.formats.openai_chat import OPENAI_CHAT
from monitor.conversation.formats.pi import PI
from monitor.conversation.formats.responses import RESPONSES

#: Order breaks ties: the more special format first.
FORMATS: tuple[Format, ...] = (CLAUDE_CODE, CODEX, PI, RESPONSES, GEMINI, ANTHROPIC, OPENAI_CHAT)
BY_NAME = {f.name: f for f in FORMATS}


def detect(doc: Document) -> Format | None:
    """The format the content looks most like; None where it looks like none."""
    best, score = None, 0.0
    for fmt in FORMATS:
        s = fmt.sniff(doc)
        if s > score:
            best, score = fmt, s
    return best
