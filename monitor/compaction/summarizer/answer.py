"""An answer judged: is it a summary at all, and if so, its lines by the five sections.

Accepted are one JSON object with the names of the sections as keys, fences around it, an opening sentence, headings in
other languages, renamed, doubled or in another order.
Refused: nothing at all, reasoning only, a tool call (also one written as text), an answer cut by its length limit
before the last section, a text without any of the headings (the model went on with the conversation).
"""

from __future__ import annotations

import json
import re

from monitor.compaction.summarizer.endpoint import Answer

#: names of the five sections as models write them, by bars
_WORDS = {
    "Goal": "goal|goals|objective|objectives|ziel|ziele|aufgabe|objetivo|objetivos|objectif|objectifs|obiettivo|"
    "目标|目標|任务目标|цель|목표",
    "Progress": "progress|status|state|done|fortschritt|stand|progreso|avance|avances|progrès|progression|progresso|"
    "进展|进度|当前进展|進捗|進捗状況|状況|прогресс|진행",
    "Facts": "facts|findings|context|key facts|critical context|fakten|erkenntnisse|hechos|datos|fatos|faits|données|"
    "fatti|事实|事實|关键事实|事実|ファクト|факты|사실",
    "Decisions": "decisions|decision|key decisions|entscheidungen|decisiones|decisões|décisions|decisioni|"
    "决定|决策|關鍵決策|決定|決定事項|решения|결정",
    "Next steps": "next steps|next|next step|nächste schritte|próximos pasos|próximos passos|siguientes pasos|"
    "prochaines étapes|étapes suivantes|prossimi passi|"
    "下一步|后续步骤|后续|次のステップ|次の手順|今後|следующие шаги|다음 단계",
}
_NAMES = {word: heading for heading, words in _WORDS.items() for word in words.split("|")}
_HEAD = re.compile(
    r"^\s*(?:#{1,6}\s*|\*\*\s*|__\s*|\d+[.)]\s*(?:\*\*)?\s*|[【《]\s*)?([^\n#*:：_】》]{2,40}?)\s*(?:\*\*|__|"
    r"[】》])?\s*[:：]?\s*(?:\*\*)?\s*(?:\(.*\))?$"
)
_TOOL_TEXT = re.compile(
    r"^\s*(?:<(?:tool_call|function_calls?|invoke|tool_use)\b|\{\s*\"(?:tool|name|function|"
    r"tool_calls)\"\s*:|```(?:tool_code|json)\s*\{\s*\"(?:tool|name)\")",
    re.I,
)
_NONE = re.compile(r"^\W*(?:none|n/?a|keine?[rs]?|nichts|无|無|なし|ninguno|ninguna|aucune?|nada|нет|없음)\W*$", re.I)


class NoSummary(Exception):
    """The answer is no summary; says why. ``again``: another try may help."""

    def __init__(self, reason: str, again: bool = True) -> None:
        super().__init__(reason)
        self.again = again


def sections(answer: Answer) -> dict[str, list[str]]:
    """The lines below each of the five headings; a missing one is empty. Raises NoSummary."""
    text = answer.text.strip()
    if answer.finish == "refused":
        raise NoSummary("the model refused to answer", again=False)
    if not text:
        if answer.tool_call:
            raise NoSummary("the model called a tool instead of writing a summary")
        raise NoSummary("the model only reasoned and wrote nothing" if answer.reasoning else "the answer is empty")
    if _TOOL_TEXT.match(text):
        raise NoSummary("the model wrote a tool call instead of a summary")
    found = _object(text) or _parse(text)
    if sum(bool(v) for v in found.values()) < 2:
        raise NoSummary("the answer has not the headings of a summary; the model went on with the conversation")
    if answer.finish == "length" and not found["Next steps"]:
        raise NoSummary("the answer was cut by its length limit")
    return found


def _object(text: str) -> dict[str, list[str]] | None:
    """The sections of an answer that is one JSON object with their names as keys; None for any other answer."""
    bare = re.sub(r"^\s*```\w*\s*$", "", text, flags=re.M).strip()
    try:
        told = json.loads(bare) if bare.startswith("{") else None
    except ValueError:
        return None
    if not isinstance(told, dict):
        return None
    out: dict[str, list[str]] = {h: [] for h in ("Goal", "Progress", "Facts", "Decisions", "Next steps")}
    for key, value in told.items():
        heading = _NAMES.get(str(key).replace("_", " ").strip().casefold())
        if heading:
            out[heading] += [x for x in _lines(value) if not _NONE.match(x)]
    return out


def _lines(value: object) -> list[str]:
    """The texts in a JSON value, one a line; names in it stand before what they name."""
    if isinstance(value, str):
        return [x.strip() for x in value.split("\n") if x.strip()]
    if isinstance(value, list):
        return [x for v in value for x in _lines(v)]
    if isinstance(value, dict):
        return [f"{k}: {', '.join(_lines(v))}" for k, v in value.items() if _lines(v)]
    return [] if value is None else [json.dumps(value)]


def _parse(text: str) -> dict[str, list[str]]:
    text = re.sub(r"^\s*```\w*\s*$", "", text, flags=re.M)
    text = re.sub(r"</?(?:summary|context-summary|state_snapshot|analysis)>", "", text, flags=re.I)
    out: dict[str, list[str]] = {h: [] for h in ("Goal", "Progress", "Facts", "Decisions", "Next steps")}
    current = ""
    for line in text.split("\n"):
        heading = _heading(line)
        if heading:
            current = heading
            continue
        if re.match(r"^\s*#{1,2}\s", line) and current:
            current = ""  # a section nobody asked for
        item = re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+(?:\[[ xX]\]\s+)?", "", line).strip()
        if current and item and not _NONE.match(item):
            out[current].append(re.sub(r"^#+\s*", "", item))
    return out


def _heading(line: str) -> str:
    if not re.match(r"^\s*(?:#|\*\*|__|\d+[.)]|[【《])", line) and not line.rstrip().endswith((":", "：")):
        bare = line.strip().casefold()
        return _NAMES.get(bare, "") if len(bare) < 24 else ""
    m = _HEAD.match(line)
    return _NAMES.get(m.group(1).strip().casefold(), "") if m else ""
