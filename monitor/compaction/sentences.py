"""Text into sentences as they were written, with what in them is quoted, code, or pasted output.

Input: text of a user or an assistant. Output: :class:`Sentence` in order; white space inside a sentence is one space,
nothing else is changed, so that each is word for word what was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

#: longest message that is read whole; of a longer one (a pasted log) head and tail
WHOLE = 6_000
EDGE = 2_000
_FENCE = re.compile(r"^\s*(```|~~~)")
_BULLET = re.compile(r"^\s*(?:[-*•‣▪+]|\d{1,2}[.)]|[a-z][.)])\s+")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
#: where a sentence ends: CJK marks always, Latin ones before white space, abbreviations set apart below
_END = re.compile(r"[。！？!?]+[”’」』\"'»）)]*|\.{1,3}(?=[\s”’\"'»)]|$)[”’\"'»)]*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|z\.\s?B|d\.\s?h|u\.\s?a|bzw|usw|ca|vgl|ggf|etc|vs|cf|approx|incl|inkl|resp|(?-i:Mr|Mrs|Ms|Dr|St|Sr|Sra|Uds?)|"
    r"p\.\s?ej|p\.\s?ex|evtl|(?<!\d\s)(?<!\d)(?:max|min)|т\.\s?е|т\.\s?д|напр)|(?<!\w\w\.)(?<!['’])\b[A-Za-z]|^\d{1,2}"
    r"|\b(?:am|vom|bis|zum|zur|der|den|dem|des|die|im|ab|seit|jede[nrsm]?)\s\d{1,2})$",  # "bis zum 3. Mai"
    re.I,
)
#: short for a word only where a number follows: "No. 3"
_BEFORE_NUMBER = re.compile(
    r"\b(?:(?-i:No)|(?:rule|point|item|issue|ticket|section|step|clause|figure|table|invoice|order|chapter|page|task|pr)\s+no|"
    r"nr|fig|art|abs|nº|núm|str|pkt)$",
    re.I,
)
#: a whole word before a full stop: a name in small letters may begin the next sentence ("… nowhere else. dbt is out.")
_FULL_WORD = re.compile(
    r"(?<!\w)(?!(?:bspw|insb|einschl|zzgl|abzgl|evtl|approx|incl|inkl|resp|bzgl)$)[^\W\d_]{4,}$", re.I
)
#: what stands between marks of quotation; apostrophes are none
QUOTED = re.compile(
    r"„[^“”„]*[“”]|“[^“”]*”|«[^«»]*»|»[^«»]*«|「[^「」]*」|『[^『』]*』|(?<!\w)\"[^\"\n]{3,}\"(?!\w)|(?<!\w)'[^'\n]{12,}'(?!\w)"
)
#: marks around the name of a file quote nobody
_FILE_NAME = re.compile(r"^.[^.?!]{1,60}\.[A-Za-z]\w{1,4}.$")
_CODE_LINE = re.compile(
    r"^\s*(?:[{}\[\]()<>|;]|(?:def|class|import|from|return|const|let|var|function|if|for|while|public|"
    r"private|#include|SELECT|"
    r"INSERT|CREATE)\b.*[;:({=]|\w+\s*[=(].*[;)]\s*$|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\$\s|>>>|at\s+\S+\(|"
    r"File \"|Traceback)"
)


#: a point of a list that goes on in one line
_POINT = re.compile(r"(?:(?<=^)|(?<=[\s:：;；,，。]))[(（]?(\d{1,2}|[一二三四五六七八九十])([)）.、])(?=\s|[^\W\d_])")
_HAN = "零一二三四五六七八九十"
#: a line above a list that says: these are rules
_RULES_HEAD = re.compile(
    r"(?i)^[#*_\s]*(?:[\w'’-]+\s+){0,3}?(?:rules?|constraints?|requirements?|guard-?rails|conditions?|limits|regeln?|vorgaben?|bedingungen|"
    r"randbedingungen|einschränkungen|anforderungen|reglas|restricciones|condiciones|requisitos|règles|contraintes|consignes|"
    r"regras|restrições|condições|regole|vincoli|condizioni|requisiti|правила|ограничения|требования|условия|regels|eisen|voorwaarden|zasady|reguły|wymagania|kurallar|kısıtlar|koşullar|규칙|제약|조건|요구사항|规则|要求|约束|限制|条件|ルール|制約|規則)(?:\s+[\w'’-]+){0,4}(?:如下|是|は|のとおり|は以下)?\s*[:：]?[*_\s]*[:：]?\s*$"
)


class Sentence(msgspec.Struct, frozen=True):
    """A sentence; ``quoted`` = the parts of it inside marks of quotation; ``bullet``: a line of a list."""

    text: str
    quoted: tuple[str, ...] = ()
    bullet: bool = False
    number: int = 0  # place in its list, from 1
    ruled: bool = False  # the list stands under a heading that announces rules

    @property
    def own(self) -> str:
        """The text without what it quotes."""
        text = self.text
        for q in self.quoted:
            text = text.replace(q, " … ")
        return text


def sentences(text: str) -> list[Sentence]:
    """The sentences of ``text``. Code, quoted lines (``>``) and pasted output are left out."""
    out: list[Sentence] = []
    number, ruled = 0, False
    for block, bullet in _blocks(shortened(text)):
        if bullet:
            number += 1
        else:
            number, ruled = 0, _announces(block)
        if _HEADING.match(block):
            continue
        points = [(block, 0)] if bullet else _inline(block)
        for piece, place in points:
            for first, s in enumerate(_split(piece)):
                if place:  # what follows the first sentence of a point is a sentence of its own
                    out.append(_sentence(s, True, 0 if first else place, ruled and not first))
                else:
                    out.append(_sentence(s, bullet, number, ruled and bullet))
            if not place and not bullet:
                ruled = _announces(piece)
    return [s for s in out if s.text.strip(" -–—*_.…")]


def _announces(block: str) -> bool:
    """True where the last sentence says that rules follow: "… by Friday. Rules:"."""
    last = (_split(block) or [block])[-1]
    return len(last) < 60 and bool(_RULES_HEAD.match(last))


def _inline(block: str) -> list[tuple[str, int]]:
    """The points of a list written in one line ("1) … 2) … 3) …") with their numbers; else the block, number 0."""
    marks = list(_POINT.finditer(block))
    run = [m for i, m in enumerate(marks, 1) if m.group(1) in (str(i), _HAN[min(i, 10)])]
    if len(run) < 2 or len(run) != len(marks) or len({m.group(2) for m in run}) > 1:
        return [(block, 0)]
    ends = [*(m.start() for m in run[1:]), len(block)]
    lead = block[: run[0].start()].strip()
    out = [(lead, 0)] if lead else []
    return out + [(block[m.end() : end].strip(" ;；,，、"), i) for i, (m, end) in enumerate(zip(run, ends), 1)]


def shortened(text: str) -> str:
    """``text``, or head and tail of a very long one; cut at ends of lines."""
    if len(text) <= WHOLE:
        return text
    head, tail = text[:EDGE], text[-EDGE:]
    return head[: head.rfind("\n") if "\n" in head else EDGE] + "\n```\n```\n" + tail[tail.find("\n") + 1 :]


def one_line(text: str, most: int | None = None) -> str:
    """``text`` on one line; with ``most`` its head and tail, cut at white space."""
    text = " ".join(text.split())
    if most is None or len(text) <= most:
        return text
    head = text[: most * 2 // 3].rsplit(" ", 1)[0] if " " in text[: most * 2 // 3] else text[: most * 2 // 3]
    tail = text[-(most // 3) :].split(" ", 1)[-1]
    return f"{head} … {tail}"


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs and list items; lines of one paragraph are joined."""
    fence = False
    current: list[str] = []
    bullet = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fence = not fence
            if current:
                yield " ".join(current), bullet
                current = []
            continue
        skip = fence or line.lstrip().startswith((">", "|")) or _CODE_LINE.match(line)
        mark = _BULLET.match(line)
        if not line.strip() or skip or mark or _HEADING.match(line):
            if current:
                yield " ".join(current), bullet
                current = []
            if not line.strip() or skip or _HEADING.match(line):
                if _HEADING.match(line) and not skip:
                    yield line, False
                bullet = False
                continue
        if mark:
            current, bullet = [line[mark.end() :].strip()], True
            continue
        if current and bullet and not line.startswith((" ", "\t")):
            yield " ".join(current), True
            current, bullet = [], False
        current.append(line.strip())
    if current:
        yield " ".join(current), bullet


def _split(text: str) -> list[str]:
    """Sentences of a paragraph. Nothing is cut inside quotation marks or parentheses that close again."""
    spans = [m.span() for m in QUOTED.finditer(text)]
    # somebody who writes small letters begins sentences with them
    casual = next((ch for ch in text[:40] if ch.isalpha()), "A").islower()
    out, start = [], 0
    for m in _END.finditer(text):
        at, mark = m.start(), m.group()
        if any(a <= at < b - 1 for a, b in spans) and not any(b == m.end() for _, b in spans):
            continue
        if mark == "..." and text[at - 1 : at].isspace() and text[m.end() :].strip():
            continue  # "SELECT ... FOR UPDATE"
        if mark.startswith(".") and _ABBREVIATION.search(text[start:at]):
            continue
        rest = text[m.end() :].lstrip()
        if mark.startswith(".") and rest[:1].isdigit() and _BEFORE_NUMBER.search(text[start:at]):
            continue
        if (
            mark[0] == "."
            and len(mark) < 3
            and rest[:1].islower()
            and not (casual or _FULL_WORD.search(text[start:at]))
        ):
            continue
        if mark[0] in "!?" and rest and not text[m.end()].isspace() and rest[0].isascii():
            continue
        out.append(text[start : m.end()].strip())
        start = m.end()
    if text[start:].strip():
        out.append(text[start:].strip())
    return out


def _sentence(text: str, bullet: bool, number: int, ruled: bool) -> Sentence:
    text = " ".join(text.split())
    quoted = tuple(m.group() for m in QUOTED.finditer(text) if not _FILE_NAME.search(m.group()))
    return Sentence(text, quoted, bullet, number, ruled)
