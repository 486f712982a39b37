"""What an assistant wrote, sorted: decisions with their reasons, ways given up, findings, what comes next.

Narration ("Let me look at …") is left out. Nothing is rephrased; a sentence is taken whole or not at all.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Literal

from monitor.compaction import phrases
from monitor.compaction.rules import Said
from monitor.compaction.sentences import Sentence, sentences

Kind = Literal["decision", "dead_end", "finding", "next", ""]
_FACT = re.compile(
    r"\b[\w./-]+\.\w{1,5}:\d+|\d[\d.,:]*\s?(?:%|[kKMG]?B\b|ms\b|s\b|min\b|EUR|USD)?|`[^`]+`|"
    r"\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w+|https?://\S+|\b[A-Z]{2,}-?\d+\b"
)
_NARRATION = re.compile(
    r"(?i)^(?:ok(?:ay)?[,.]?\s+|good[,.]?\s+|great[,.]?\s+|right[,.]?\s+|now[,]?\s+)?(?:let me|let's|"
    r"i['’]ll (?:now |start|first|begin|take|look|check|read|see|run|search|open|fetch)|i will (?:now|"
    r"start|first)|i['’]m going to|i am going to|now (?:let|i|a |the )|next[,:]|looking at|"
    r"checking|reading|searching|running|fetching|opening|first,? (?:i|let)|time to|here['’]s|sure|"
    r"certainly|of course|ich (?:sehe|lese|schaue|prüfe|suche|starte|führe|öffne|trage|mache|beginne|"
    r"werde)|jetzt (?:die|das|der|zu|schaue|lese)|als nächstes (?!schritt)|"
    r"noch |zuerst (?:die|das|der|schaue)|schauen wir|"
    r"先看|先检查|看一下|看看|再看|继续看|接着|我来|我先|让我|现在(?:看|检查|运行)|まず|"
    r"次に|では|それでは|確認します|見てみ|読み(?:ます|込み)|調べ(?:ます|てみ)|empiezo|miro|voy a|veamos|"
    r"reviso|compruebo|leo|busco|ahora (?:miro|leo|reviso)|je (?:regarde|lis|vérifie|commence|lance|"
    r"vais)|regardons|voyons|vou |vejamos|guardo|leggo|vediamo)"
)
_PACKAGE = re.compile(r"\b\w[\w.-]*(?:/[\w.-]+)+")
#: a task with a box: told as a task, not as prose
BOX = re.compile(r"^\[[ xX~>/-]\]\s")
#: begins with a word that points back
_ANAPHOR = re.compile(
    r"(?i)^(?:that|this|it|which|das|dies|der\s+weg|sie|es\b|eso|esto|ello|cela|ça|ceci|isso|isto|questo|ciò|это|"
    r"dat|dit|to\s+nie|bu\b)\b|"
    r"^(?:这|那|これ|それ|이는|이건|그건|그러나)"
)
#: a line that announces what stands below it
_LEAD = re.compile(r"[:：][*_\s]*$")
#: … and calls it ways to choose from
_OFFERS = re.compile(
    r"(?i)\b(?:options?|alternatives?|ways|possibilit\w+|candidates|choices|optionen|möglichkeiten|varianten|wege|alternativen|"
    r"opciones|alternativas|vías|pistes)\b|方案|选项|办法|案|選択肢|方法"
)
_LETTERS = re.compile(r"[^\W\d_]")
_GREETING = re.compile(
    r"(?i)^(?:understood|got it|verstanden|alles klar|done|fertig|erledigt|grün\.?|green\.?|commit\.?|"
    r"好的?|了解|明白|hecho|listo|entendido|compris|d['’]accord|perfekt|perfect|vale|ok)[.!。]?$"
)


def judge(s: Sentence, *, final: bool, cause: bool, acts: bool) -> tuple[Kind, float]:
    """(what the sentence is, how much it matters).

    ``final``: of an answer that ends an exchange; ``cause``: said between a failure and the edit that answers it;
    ``acts``: the message goes on to call tools.
    """
    text = s.text
    bare = text.strip()
    if (
        len(text) > 700
        or _GREETING.match(bare)
        or BOX.match(bare)
        or bare.endswith((":", "：", "?", "？"))
        or len(_LETTERS.findall(bare)) < 4
    ):
        return "", 0.0
    own = s.own
    facts = min(len(_FACT.findall(text)), 4)
    choice = bool(phrases.CHOICE.search(own))
    reason = bool(phrases.REASON.search(own))
    dead = bool(phrases.GIVEN_UP.search(own))
    result = bool(phrases.RESULT.search(own))
    coming = bool(phrases.NEXT.search(own))
    score = (
        2.5 * choice + 2.5 * reason + 2.5 * dead + 1.5 * result + 1.0 * coming + 0.6 * facts + 2.0 * final + 3.0 * cause
    )
    told = choice and (facts or bool(_PACKAGE.search(own)))
    plain = not (cause or dead or reason or told)
    if cause and not (facts or reason or dead) and len(bare) < 28 and bare.isascii():
        return "", 0.0
    if acts and not (reason or dead or told or facts > 1) and _NARRATION.match(text):
        return "", 0.0
    if acts and plain and (_NARRATION.match(text) or facts <= 1 + (" " not in text)):
        return "", 0.0
    if score < (1.8 if final else 2.4):
        return "", score
    if dead and not cause and not (choice and reason and re.search(r"(?i)\brather\s+than\b|\blieber\b", own)):
        return "dead_end", score
    if choice or reason or cause:
        return "decision", score
    if coming and final:
        return "next", score
    return "finding", score


def read(text: str, turn: int | None, kept: bool, *, final: bool, cause: bool, acts: bool) -> list[tuple[Kind, Said]]:
    """The sentences of an assistant's text that are worth keeping, with their kind."""
    out: list[tuple[Kind, Said]] = []
    before = ""
    offered = reasoned = failed = False
    for s in sentences(text):
        if not s.bullet:
            offered = final and bool(_LEAD.search(s.text) and _OFFERS.search(s.text))
        kind, weight = judge(s, final=final, cause=cause, acts=acts)
        if offered and s.bullet and not BOX.match(s.text):  # one of several ways is no decision for it
            out.append(("finding", Said(text=f"({s.number}) {s.text}", turn=turn, kept=kept, weight=max(weight, 3.0))))
            continue
        if not kind and reasoned and not BOX.match(s.text) and (failed or phrases.CHOICE.search(s.own)):
            kind, weight = (
                "decision",
                2.5,
            )  # "No gain, as every worker imports them. Lazy import instead.": what follows from it
        reasoned = kind in ("decision", "dead_end")
        failed = acts and reasoned and bool(phrases.GIVEN_UP.search(s.own) or phrases.FAILS.search(s.own))
        if kind:
            told = s.text
            if before and kind in ("dead_end", "decision") and _ANAPHOR.match(told) and len(before) < 300:
                told = f"{before} {told}"  # "I tried X. That did not help.": the first half names what is meant
            out.append((kind, Said(text=told, turn=turn, quoted=bool(s.quoted), kept=kept, weight=weight)))
        before = "" if kind else s.text
    rows = _rows(text) if final and "|" in text else []
    return out + [
        ("finding", Said(text=r, turn=turn, kept=kept, weight=2.0 + 0.6 * len(_FACT.findall(r)))) for r in rows
    ]


def _rows(text: str, most: int = 8) -> list[str]:
    """The rows of a short table an answer holds, each cell with the heading of its column."""
    lines = [line.strip().strip("|") for line in text.split("\n") if line.lstrip().startswith("|")]
    rows = [[c.strip() for c in line.split("|")] for line in lines]
    at = next((i for i, line in enumerate(lines) if i and re.fullmatch(r"[\s|:-]+", line)), None)
    if at is None or len(rows) - at - 1 > most:
        return []
    names = rows[at - 1][1:]
    told = []
    for first, *cells in rows[at + 1 :]:
        said = [f"{n}: {c}" if n else c for n, c in zip(names, cells) if c.strip(" -–—")]
        told.append(f"{first} – {', '.join(said)}" if said else first)
    return told


def is_choice(text: str) -> bool:
    """True for a sentence of the user that decides between ways or says why."""
    return bool(
        phrases.CHOICE.search(text) or phrases.GIVEN_UP.search(text) or phrases.REASON.search(text)
    ) and not text.rstrip().endswith(("?", "？"))


def gives_reason(text: str) -> bool:
    """True for a sentence that says why, or that a way failed."""
    return bool(phrases.REASON.search(text) or phrases.FAILS.search(text))


def plan(text: str, most: int = 8) -> list[str]:
    """What an answer says is to come: the list below the line that announces it, and sentences that say so."""
    told = sentences(text)
    leads = [i for i, s in enumerate(told) if not s.bullet and coming(s.text) and _LEAD.search(s.text)]
    below = [s for i in leads for s in takewhile(lambda x: x.bullet, told[i + 1 :])]
    said = [s for s in told if coming(s.text) and not _LEAD.search(s.text)]
    if leads or said:
        below = below or [s for s in told if s.bullet]
    out = dict.fromkeys(s.text for s in (*said, *below[:6]) if not BOX.match(s.text))
    return list(out)[:most]


def coming(text: str) -> bool:
    """True for a sentence that tells what comes next."""
    return bool(phrases.NEXT.search(text)) and not BOX.match(text)
