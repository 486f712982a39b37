"""The formats a conversation may come in. Registry and detection by content; each format is one file."""

from __future__ import annotations

from monitor.conversation.formats.anthropic import ANTHROPIC
from monitor.conversation.formats.api_log import API_LOG
from monitor.conversation.formats.base import Document, Format
from monitor.conversation.formats.chatgpt import CHATGPT
from monitor.conversation.formats.claude_code import CLAUDE_CODE
from monitor.conversation.formats.claude_export import CLAUDE_EXPORT
from monitor.conversation.formats.cline import CLINE
from monitor.conversation.formats.codex import CODEX
from monitor.conversation.formats.gemini import GEMINI
from monitor.conversation.formats.har import HAR
from monitor.conversation.formats.hermes import HERMES
from monitor.conversation.formats.litellm import LITELLM
from monitor.conversation.formats.openai_chat import OPENAI_CHAT
from monitor.conversation.formats.opencode import OPENCODE
from monitor.conversation.formats.pi import PI
from monitor.conversation.formats.responses import RESPONSES

#: Order breaks ties: the more special format first.
FORMATS: tuple[Format, ...] = (
    CLAUDE_CODE,
    CODEX,
    PI,
    HAR,
    LITELLM,
    OPENCODE,
    CHATGPT,
    CLAUDE_EXPORT,
    HERMES,
    CLINE,
    RESPONSES,
    GEMINI,
    ANTHROPIC,
    OPENAI_CHAT,
    API_LOG,
)
BY_NAME = {f.name: f for f in FORMATS}


def detect(doc: Document) -> Format | None:
    """The format the content looks most like; None where it looks like none."""
    best, score = None, 0.0
    for fmt in FORMATS:
        s = fmt.sniff(doc)
        if s > score:
            best, score = fmt, s
    return best
