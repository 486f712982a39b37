"""Instructions inside tool output: found, so that they are named as foreign and never taken for the user's wish.

Input: text a tool returned. What a page or file says to "assistants" is data; so are fake headings and closing tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from monitor.compaction import words
from monitor.compaction.sentences import sentences

#: one of these stands in whatever the pattern below finds; sought one by one, which is quicker than a pattern
_LITERALS = (
    *(
        "assist",
        "agent",
        "ai model",
        "llm",
        "language model",
        "chatbot",
        "instructions",
        "system note",
        "system prompt",
    ),
    *("asistente", "助手", "智能体", "大模型", "アシスタント", "エージェント", "인공지능", "ассистент"),
)
#: quick test before anything is taken apart
_HINT = re.compile(
    r"(?i)\b(?:assistants?|ai[- ]agents?|ai models?|llms?|language models?|chatbots?|agents?:\s|previous "
    r"instructions|system note|system prompt|prior instructions|"
    r"ki[- ]agent\w*|ki[- ]assisten\w*|asistentes?|agentes? de ia|assistants? ia|agents? ia)\b|助手|智能体|"
    r"大模型|アシスタント|エージェント|인공지능|ассистент"
)
_ORDER = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\b[^.?!\n]{0,40}\b(?:instructions?|rules?|prompts?|guidelines?)|"
    r"\b(?:assistants?|ai[- ]agents?|ai models?|llms?|language models?|agents? reading)\b[^.?!\n]{0,"
    r"60}(?::|\b(?:must|should|shall|have to|need to|please|are (?:to|required)|reading this)\b)|"
    r"(?<![\w-])agents?:\s+(?:please\s+|do not\s+|don['’]t\s+|never\s+|always\s+)?(?:remove|delete|ignore|run|"
    r"execute|skip|disable|push|commit|merge|post|send|install|reveal|print|stop|approve|overwrite|edit|change)\s+\w+|"
    r"\bsystem (?:note|message|prompt|override)\b|\bnote to (?:all )?(?:assistants?|ai|agents?|llms?)\b|"
    r"\bki[- ](?:agent|assisten)\w*[^.?!\n]{0,60}(?::|\b(?:müssen|sollen|sollten|bitte)\b)|"
    r"\bignoriere?\b[^.?!\n]{0,40}\banweisung|"
    r"\b(?:asistentes?|agentes?(?: de ia)?)\b[^.?!\n]{0,60}(?::|\b(?:deben?|tienen que|por favor)\b)|"
    r"\bignora\b[^.?!\n]{0,40}\binstruccion|"
    r"\b(?:assistants?|agents?)(?: ia)?\b[^.?!\n]{0,60}\b(?:doivent|doit|veuillez)\b|"
    r"\bignore[zr]?\b[^.?!\n]{0,40}\b(?:instructions|consignes)|"
    r"(?:所有|各位|请|致).{0,8}(?:助手|智能体|模型|AI).{0,30}|忽略.{0,12}(?:指令|指示|规则)|(?:すべての|全ての|AI).{0,10}(?:アシスタント|"
    r"エージェント).{0,40}|(?:これまで|以前|前)の.{0,6}指示.{0,8}無視"
)


def planted(text: str, most: int = 4) -> list[str]:
    """Sentences of a tool result that give orders to assistants, as they stand there."""
    low = text.lower()
    if not any(word in low for word in _LITERALS) or not _HINT.search(text):
        return []
    out: list[str] = []
    for line in text.split("\n"):
        low = line.lower()
        if not any(word in low for word in _LITERALS) or not _HINT.search(line) or not _ORDER.search(line):
            continue
        line = re.sub(r"^\s*\d+[→\t|]\s?", "", line)
        out += [s.text for s in sentences(line[:2_000]) if _ORDER.search(s.text)] or [" ".join(line.split())[:300]]
        if len(out) >= most:
            break
    return out[:most]


#: what stands between quotation marks
_QUOTED = re.compile(r"(?<!\w)['\"“”‘’«„`]([^'\"“”‘’«»„`]{12,})['\"“”‘’»`](?!\w)")


def quotes(text: str, foreign: Iterable[str]) -> bool:
    """Whether a text cites a part of such a sentence between quotation marks."""
    cited = [" ".join(part.split()).casefold() for part in _QUOTED.findall(text)]
    return any(part in order for part in cited for order in foreign)


def echoes(foreign: Iterable[str]) -> list[str]:
    """What to look for to know such a sentence again where a part of it is told: itself, and its longer clauses."""
    out: list[str] = []
    for text in foreign:
        flat = " ".join(text.split()).casefold()
        for piece in (flat, *re.split(r"[:：,，;；。.!！]\s*", flat)):
            wide = len(words.WIDE.findall(piece))
            if len(piece) + wide >= 24 and piece not in out:
                out.append(piece.strip())
    return out
