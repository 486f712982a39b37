"""Rules the user lets go of in other words: the thing handed over, a figure called good enough, a person content.

What is found here is never sure, so a rule is marked ``changed``: both sentences are shown and the newer one wins.
A rule and a sentence belong together by words of one root, by a number, or by a person the rule waits for.
"""

from __future__ import annotations

import re

import msgspec

from monitor.compaction import choices, limits, release, scope, takeback, withdrawal, words
from monitor.compaction.clauses import QUESTION, clauses
from monitor.compaction.endings import hedged
from monitor.compaction.rules import Rule
from monitor.compaction.sentences import Sentence
from monitor.compaction.topics import named, overlap, topics

#: "before Hannah has had a look": a person the rule waits for
_WAITS = re.compile(
    r"\b(?i:before|until|till|unless|erst,?\s+wenn|erst\s+nach|without|bevor|bis|ohne|avant(?:\s+qu[e'’])?|tant\s+qu[e'’]|sans|antes\s+de\s+que|hasta\s+que|sin|antes\s+que|até|sem|prima\s+che|finché|senza|zanim|dopóki|bez|"
    r"пока|без|voordat|totdat|zonder)\s+(?:[^\W\d_]+\s+){0,2}?(?-i:(?P<who>[A-ZÀ-ÖØ-ÞА-Я][^\W\d_]{2,}))"
)
#: … and is content now
_CONTENT = re.compile(
    r"(?i)\b(?:looked|seen|saw|reviewed|read|happy|approve[sd]?|fine|ok(?:ay)?(?:ed|['’]d)?|signed|agree[sd]?|cleared|nodded|gave|confirmed|content|satisfied|checked|"
    r"gesehen|angesehen|angeschaut|zufrieden|zugestimmt|abgenickt|einverstanden|freigegeben|geprüft|genehmigt|durchgesehen|"
    r"vu|relu|validé|d['’]accord|content\w*|approuvé|regardé|visto|revisad\w|revisó|aprob\w+|de\s+acuerdo|content[oa]|conforme|viu|olhou|aprov\w+|gostou|concord\w+|"
    r"guardat\w|approvat\w|d['’]accordo|controllat\w|widział\w*|zatwierdz\w+|zgodzi\w+|sprawdzi\w+|obejrzał\w*|gezien|bekeken|akkoord|goedgekeurd|"
    r"посмотрел\w*|одобрил\w*|согласен|согласна|согласил\w+|проверил\w*|доволен|довольна)\b|看过|同意|点头|批准|満足|確認し|了承|承認|봤|확인했|동의|승인"
)
_ASKING = re.compile(
    r"(?i)\b(?:ask\w*|check(?:ing)?\s+with|permission|approv\w+|sign-?off|frag\w*|rückfrag\w*|freigabe|zustimmung|demand\w+|accord|permission|valid\w+|pregunt\w+|permiso|avis\w+|consult\w+|"
    r"pergunt\w+|chied\w+|permesso|pyta\w*|zgod\w+|vrag\w*|спраш\w+|спрос\w+|согласов\w+)\b|问|确认|同意|聞|確認|許可|물어|허락|승인"
)


def ease(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None, kind: str) -> bool:
    """Mark the rules the sentence lets go of in other words; True where there were some. ``kind``: of :func:`lifts`."""
    if s.quoted or QUESTION.search(s.own) or scope.hearsay(s.own) or withdrawal.ONCE.search(s.own):
        return False
    lets, free = scope.eases(s.own), bool(withdrawal.FREE.search(s.own))
    found = _accepted(rules, about, s, turn) or _awaited(rules, s, turn)
    if scope.status(s.own) or not (lets or free or kind in ("permit", "revise", "strong")):
        return found
    own = _letting(s.own, about)
    anchor, mine = _topics(own), _topics(s.own)
    taken = takeback.take_apart(rules, about, anchor, turn)
    scores = []
    for i, rule in enumerate(rules):
        if _past(rule, turn) or (
            takeback.asks(rule.text) and not (release.EASE.search(s.own) and _ASKING.search(s.own))
        ):
            continue
        near, share = _near(rule.text, about[i], anchor, s.own)
        if near >= 1:  # the clause that lets go names the matter: what stands beside it tells more of it
            near, share = max((near, share), _near(rule.text, about[i], mine, s.own))
        least = (0.15 if words.WIDE.search(rule.text) else 0.25) if lets else 0.3 if free else 0.34
        if near >= 1 and share >= least and not _spared(rule.text, about[i], mine, s.own):
            scores.append((near, i))
    for near, i in scores:
        if near >= 0.9 * max(scores)[0]:
            rules[i] = msgspec.structs.replace(rules[i], standing="changed", by=turn, by_text=s.text)
            found = True
    takeback.join(rules, about, taken)
    return found


def _topics(text: str) -> dict[str, float]:
    """What a sentence is about; where something is done says little of what is allowed."""
    return {k: min(w, 0.9) if k in takeback.PLACES else w for k, w in topics(text).items()}


def _letting(text: str, about: list[dict[str, float]]) -> str:
    """The clauses of a sentence that let go; the whole sentence where they name their matter by a pronoun only."""
    told = " … ".join(c for c in clauses(text) if scope.eases(c) or scope.strong(c) or withdrawal.PERMIT.search(c))
    mine = topics(told)
    if any(overlap(t, mine) >= 1 for t in about):
        return told
    alone = sum(mine.values()) >= 1 and not scope.POINTS.search(told) and not withdrawal.ABOUT.search(text)
    return told if told and alone else text


def _past(rule: Rule, turn: int | None) -> bool:
    return rule.standing != "active" or (rule.turn is not None and rule.turn == turn)


def _spared(rule: str, about: dict[str, float], mine: dict[str, float], text: str) -> bool:
    """True where the sentence speaks of the rule's matter and lets go of something else."""
    if not withdrawal.DENIAL.search(rule) and limits.affirms(rule, text):
        return True
    if scope.goes_on(about, text) or (scope.looks(text) and not scope.looks(rule)):
        return True
    return bool(withdrawal.DENIAL.search(rule)) and scope.another(rule, about, mine, text)


def _near(rule: str, about: dict[str, float], mine: dict[str, float], text: str) -> tuple[float, float]:
    """(weight of what both speak of, how much of the rule or of one of its clauses that is)."""
    known = named(about, mine, text)
    figures = {k for k in about.keys() & mine.keys() if k.startswith("d:") and "." in k}
    extra = 1.0 if figures or limits.same(rule, text) else 0.0
    extra += 6.0 if choices.same_version(rule, text) else 0.0
    near = overlap(about, known) + _akin(about, known) + extra
    share = near / (sum(about.values()) or 1.0)
    for clause in clauses(rule):
        theirs = topics(clause)
        total = sum(theirs.values())
        if total >= 1:
            share = max(share, (overlap(theirs, known) + _akin(theirs, known)) / total)
    if near >= 1 and withdrawal.PROVISIONAL.search(rule):
        share += 0.15  # it was made to be taken back
    return near, share


def _akin(about: dict[str, float], mine: dict[str, float]) -> float:
    """Weight of words of one root that are no forms of one word: "выкатывать", "выкатка"; "Zeile", "Zeilengrenze"."""
    theirs = [k for k in about if k.startswith("w:") and k not in mine]
    return sum(about[k] for k in theirs if any(_root(k[2:], m[2:]) for m in mine if m.startswith("w:")))


def _root(a: str, b: str) -> bool:
    """True where two words begin alike for five letters, or for four and over half of the longer one."""
    n = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return n >= 5 or (n >= 4 and n * 5 >= 3 * max(len(a), len(b)))


def _accepted(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None) -> bool:
    """A figure beyond a limit is called good enough; where several limits may be meant, the one of the same matter."""
    if not limits.good(s.own):
        return False
    meant = [i for i, r in enumerate(rules) if not _past(r, turn) and limits.accepted(r.text, s.own)]
    if len(meant) > 1:
        mine = topics(s.own)
        meant = [i for i in meant if overlap(about[i], mine) >= 1]
    for i in meant:
        rules[i] = msgspec.structs.replace(rules[i], standing="changed", by=turn, by_text=s.text)
    return bool(meant)


def _awaited(rules: list[Rule], s: Sentence, turn: int | None) -> bool:
    """The person a rule waits for is content: "Hannah looked at it and is happy"."""
    told = [c for c in clauses(s.own) if _CONTENT.search(c) and not hedged(c)]
    found = False
    if not told:
        return found
    for i, rule in enumerate(rules):
        if _past(rule, turn) or takeback.asks(rule.text):
            continue
        for m in _WAITS.finditer(rule.text):
            if any(re.search(rf"\b{m['who']}\b", c) for c in told):
                rules[i] = msgspec.structs.replace(rule, standing="changed", by=turn, by_text=s.text)
                found = True
                break
    return found
