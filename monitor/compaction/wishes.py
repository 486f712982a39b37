"""What the user wants for the work to come: rules word for word, and which of them were taken back later.

Input: messages the user typed. A rule is a sentence of the user's own (never what the user quotes or pastes, never a
question) that forbids, demands or limits; it holds until a later sentence takes it back. Rules of judging:

* a sentence that names the rule ("forget the rule about …") takes back the best match, however weak;
* one that permits ("you may now …") takes back a rule on the same matter, unless it is permission for one case;
* a rule that holds "without my permission" survives a permission;
* one that sets something else ("from now on …") replaces a rule on the same matter;
* a limit with another number takes the place of the same limit as it was before;
* of a sentence with several rules only the one that is meant goes, the others stay.

Where this is not sure the rule is marked ``changed``: both sentences are shown and the newer one wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import msgspec

from monitor.compaction import words
from monitor.compaction.sentences import Sentence, sentences
from monitor.compaction.topics import overlap, topics

Standing = Literal["active", "cancelled", "changed"]
_THEREFORE = re.compile(r"\s*(?:[:：;；]\s+|,\s+(?:so|therefore|hence|also|deshalb|daher|así\s+que|por\s+eso|donc)\s+)")
_DENIAL = re.compile(r"(?i)(?:no|nope|nein|non|нет)\b[^:.]{0,40}:\s+")
_ITEM = re.compile(
    r"(?i)(?:\b(?:rule|point|item|constraint|number|no\.|regel|punkt|vorgabe|nummer|nr\.|regla|punto|règle|point|consigne)\s*#?|第)\s*(\d{1,2})\b"
    r"|(?:ルール|規則|规则|要求)\s*(\d{1,2})"
)
_WORDED = re.compile(
    r"(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|dos|tres|"
    r"cuatro|cinco|seis|siete|ocho|nueve|diez|deux|trois|quatre|cinq|sept|huit|neuf|dix|douze)\b"
)
_QUESTION = re.compile(r"[?？]\s*[”’」』\"'»)]*$")
#: a clause that only completes the one before it: "…, not SQLite", "…, nie als float"
_CONTRAST = re.compile(
    r"(?i)^(?:(?:and|und|y|et|e|o|or|oder|ou)\s+)?(?:not|never\s+(?:as|with|in)|nicht|nie\s+(?:als|mit|in)|kein\w*|no\b(?!\s+(?:more|less))|ni|pas|"
    r"aucune?|rien|rather|instead|sondern|sino|mais\s+pas|unless|except|außer|because|since|weil|da|porque|car|that|"
    r"which|when|if|wenn|falls|si|quand|so\s+that)\b(?!\s+\w+\s+\w+\s+\w+\s+\w+\s+\w+)"
)
#: words of a limit, and of its change
_LIMIT = re.compile(
    r"(?i)\b(?:under|below|above|over|at\s+(?:most|least)|max\w*|min\w*|no\s+more|up\s+to|limits?|exceed|within|höchstens|mindestens|"
    r"unter|über|grenze|überschreit\w*|como\s+m[áí]\w+|m[íá][nx]im[oa]s?|minimale?|maximale?|superar?|límite|au\s+(?:plus|moins|maximum)|dépasser|limite)\b|"
    r"不超过|不少于|最多|至少|以内|之内|上限|以上|以下|最大|最低"
)
_ANEW = re.compile(
    r"(?i)\b(?:now|raise\w*|lower\w*|increas\w*|reduc\w*|instead|jetzt|nun|ab\s+sofort|erhöh\w*|senk\w*|ahora|s[uú]b\w{1,5}|b[aá]j\w{1,5}|"
    r"désormais|maintenant|passe[rz]?\s+à|porte[rz]?\s+à|augment\w*|baiss\w*)\b|现在|改成|改为|提高|降低|今後|変更|引き上げ|引き下げ"
)
_NUMBER = re.compile(r"\d[\d.,]*")
_CLAUSE = re.compile(r"[,，;；:：]\s*|\s+(?:but|aber|pero|mais|and|und|y|et)\s+|(?<=[、])")


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the user: ``text`` word for word, ``turn`` = number of the user message, from 1."""

    text: str
    turn: int | None = None
    standing: Standing = "active"
    by: int | None = None  # user message that took it back
    by_text: str = ""  # its words
    kept: bool = False  # it stands in the part that stays as it is
    number: int = 0  # place in the list the user wrote, 0 where it stood in none


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence somebody wrote, with the number of the user message it belongs to."""

    text: str
    turn: int | None = None
    quoted: bool = False
    kept: bool = False  # it stands in the part that stays as it is
    weight: float = 0.0
    by: int | None = None  # a later user message takes it back


def is_rule(sentence: Sentence) -> bool:
    """True where the sentence, without what it quotes, forbids, demands or limits something."""
    own = sentence.own
    if _QUESTION.search(own) or len(own) > 600 or len(own.strip()) < 4:
        return False
    denied = _DENIAL.match(own)
    if denied:  # "No, not like that: …"
        return is_rule(Sentence(own[denied.end() :], sentence.quoted))
    langs = words.languages(own)
    if sentence.ruled and not sentence.quoted:
        return True
    if not any(words.RULE[lang].search(own) for lang in langs if lang in words.RULE):
        return False
    if sentence.quoted and words.REPORTED.search(own):
        return False  # tells what somebody else said; what the user adds to it refers to that
    if not any(words.STATEMENT[lang].search(own) for lang in langs[:1] if lang in words.STATEMENT):
        return True
    tail = _THEREFORE.split(own, maxsplit=1)  # "They own it, so leave it out", "We are late: it must be out by Friday"
    return len(tail) > 1 and is_rule(Sentence(tail[1].strip()))


def lifts(text: str) -> Literal["strong", "permit", "replace", ""]:
    """Whether a sentence takes something back: names a rule, permits, or sets something else in its place."""
    if _QUESTION.search(text):
        return ""
    if words.LIFT_STRONG.search(text):
        return "strong"
    if words.LIFT_PERMIT.search(text):
        return "permit"
    return "replace" if words.LIFT_REPLACE.search(text) else ""


def read(
    messages: Iterable[tuple[int | None, str, bool]], former: Iterable[Rule] = ()
) -> tuple[list[Rule], list[Said]]:
    """(rules, everything else the user said) of messages given as (number, text, kept), in order.

    ``former``: rules of an earlier summary, to be judged by the messages too.
    """
    rules: list[Rule] = list(former)
    about = [topics(r.text) for r in rules]
    said: list[Said] = []

    def add(text: str, turn: int | None, kept: bool, number: int = 0) -> None:
        known = next((i for i, r in enumerate(rules) if _same(r.text, text)), None)
        if known is None:
            rules.append(Rule(text=text, turn=turn, kept=kept, number=number))
            about.append(topics(text))
        elif rules[known].standing != "active":
            rules[known] = Rule(text=text, turn=turn, kept=kept, number=number)

    for turn, text, kept in messages:
        for s in sentences(text):
            kind, renewed = lifts(s.own), False
            took = _take_back(rules, about, s, turn, kind) if kind else False
            if not took and not s.quoted and not _QUESTION.search(s.own) and (is_rule(s) or _ANEW.search(s.own)):
                took = renewed = _renumber(rules, about, s, turn)
                if took:
                    kind = "replace"
            if kind and not took and not words.NARROW.search(s.own):
                _mark_said(said, s, turn, 2 if kind == "strong" else 3)
            if renewed and not is_rule(s):  # "lower it to 75 %" is the limit from now on
                add(s.text, turn, kept)
            elif not is_rule(s):
                said.append(Said(text=s.text, turn=turn, quoted=bool(s.quoted), kept=kept))
            elif kind == "strong" or took:
                # it takes something back and may set something new: the clause that does is the rule
                anew = [
                    c
                    for c in _clauses(s.text)
                    if (not lifts(c) or words.LIFT_REPLACE.search(c))
                    and is_rule(Sentence(c))
                    and not words.LIFT_STRONG.search(c)
                ]
                if kind == "replace" and anew:  # nothing in it only takes back
                    anew = [s.text]
                if anew != [s.text]:
                    said.append(Said(text=s.text, turn=turn, quoted=bool(s.quoted), kept=kept))
                for clause in anew:
                    add(clause, turn, kept)
            else:
                add(s.text, turn, kept, s.number)
    return rules, said


def _mark_said(said: list[Said], s: Sentence, turn: int | None, least: float) -> None:
    """What the user takes back was no rule by its words: mark the request it is about."""
    mine = topics(s.own)
    scores = [
        (overlap(topics(x.text), mine), i)
        for i, x in enumerate(said)
        if x.turn != turn and x.by is None and not x.quoted
    ]
    if scores and max(scores)[0] >= least and not _QUESTION.search(said[max(scores)[1]].text):
        at = max(scores)[1]
        said[at] = msgspec.structs.replace(said[at], by=turn)


def _clauses(text: str) -> list[str]:
    """The clauses of a sentence, each from its first word to the end of it, word for word."""
    cuts = [0, *(m.end() for m in _CLAUSE.finditer(text)), len(text)]
    return [text[a:b].strip(" ,，;；:：、") for a, b in pairwise(cuts) if b - a > 4]


@lru_cache(maxsize=4096)
def _parts(text: str) -> list[str]:
    """The rules a sentence is made of, each word for word; one where it cannot be taken apart."""
    cuts = [0, *(m.end() for m in re.finditer(r"[,;；:：]\s*", text) if not _within(text, m.start())), len(text)]
    out: list[str] = []
    for a, b in pairwise(cuts):
        piece = text[a:b].strip()
        if out and (_CONTRAST.match(piece) or _short(piece) or not is_rule(Sentence(piece))):
            out[-1] = text[text.rindex(out[-1]) : b].strip()
        elif piece:
            out.append(piece)
    if len(out) > 1 and not is_rule(Sentence(out[0])):  # "Ground rules: …", "For the cache, …"
        lead = out.pop(0)
        if not lead.endswith((":", "：")):
            out[0] = text[: text.index(out[0]) + len(out[0])]
    return [re.sub(r"(?i)^(?:and|und|y|et|e|but|aber)\s+", "", x.strip(" ,;；:：")) for x in out]


def _short(piece: str) -> bool:
    """Fewer than three words, or than four characters where words are not parted."""
    wide = sum(ch > "\u2e80" for ch in piece)
    return len(piece.split()) < 3 and wide < 4


def _within(text: str, at: int) -> bool:
    """True inside parentheses."""
    return text.count("(", 0, at) > text.count(")", 0, at) or text.count("（", 0, at) > text.count("）", 0, at)


def _take_apart(rules: list[Rule], about: list[dict[str, float]], mine: dict[str, float], turn: int | None) -> None:
    """Where only a part of a sentence with several rules is meant, make each a rule, so that the others stay."""
    for i in range(len(rules) - 1, -1, -1):
        rule = rules[i]
        if rule.standing != "active" or (rule.turn is not None and rule.turn == turn) or not overlap(about[i], mine):
            continue
        parts = _parts(rule.text)
        if len(parts) < 2:
            continue
        topic = [topics(p) for p in parts]
        shared = [overlap(t, mine) for t in topic]
        if min(shared) < max(shared) * 0.75:
            rules[i : i + 1] = [msgspec.structs.replace(rule, text=p) for p in parts]
            about[i : i + 1] = topic


def _renumber(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None) -> bool:
    """A limit told anew with another number cancels the same limit told before; True where there was one."""
    if not _numbers(s.own) or not (_LIMIT.search(s.own) or _ANEW.search(s.own)):
        return False
    mine = topics(_WORDED.sub(" ", s.own))
    _take_apart(rules, about, mine, turn)
    found = False
    anew, numbers, units = bool(_ANEW.search(s.own)), _numbers(s.own), _units(s.own)
    for i, rule in enumerate(rules):
        if rule.standing != "active" or (rule.turn is not None and rule.turn == turn) or not overlap(about[i], mine):
            continue
        theirs = _numbers(rule.text)
        if not theirs or theirs & numbers:
            continue
        matter, plain = _matter(rule.text), _matter(rule.text, True)
        shared, total = overlap(matter, mine), sum(matter.values())
        # a limit in the same unit on the same matter, or the same words with another number
        close = anew and units & _units(rule.text) and plain
        if (close and overlap(plain, mine) >= max(1.0, 0.5 * sum(plain.values()))) or (
            (anew or _LIMIT.search(rule.text)) and total >= 2 and shared >= total * (0.6 if anew else 0.8)
        ):
            rules[i] = msgspec.structs.replace(rule, standing="cancelled", by=turn, by_text=s.text)
            found = True
    return found


@lru_cache(maxsize=4096)
def _matter(text: str, bare: bool = False) -> dict[str, float]:
    """What a rule is about apart from its numbers; ``bare``: and apart from the words of a limit."""
    text = _WORDED.sub(" ", text)
    return {k: w for k, w in topics(_LIMIT.sub(" ", text) if bare else text).items() if not k.startswith("d:")}


@lru_cache(maxsize=4096)
def _units(text: str) -> set[str]:
    return {u.lower() for u in re.findall(r"\d\s?(%|[A-Za-z]{1,7}\b|[\u3400-\u9fff])", text)}


@lru_cache(maxsize=4096)
def _numbers(text: str) -> set[str]:
    return {n.rstrip(".,") for n in _NUMBER.findall(text)} | {n.lower() for n in _WORDED.findall(text)}


def _same(a: str, b: str) -> bool:
    return a.strip(" .。!！").casefold() == b.strip(" .。!！").casefold()


def _take_back(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None, kind: str) -> bool:
    """Mark the rules this sentence takes back; True where there were some."""
    item = _ITEM.search(s.own)
    if item and kind == "strong":  # "rule 3 no longer applies"
        number = int(item.group(1) or item.group(2))
        named = [i for i, r in enumerate(rules) if r.number == number and r.standing == "active" and r.turn != turn]
        for i in named[-1:]:
            rules[i] = msgspec.structs.replace(rules[i], standing="cancelled", by=turn, by_text=s.text)
            return True
    before = list(rules)
    mine = topics(s.own)
    if not words.NARROW.search(s.own):
        _take_apart(rules, about, mine, turn)
        before = list(rules)
    scores = []
    for i, rule in enumerate(rules):
        if rule.standing != "active" or (rule.turn is not None and rule.turn == turn):
            continue
        shared = overlap(about[i], mine)
        total = sum(about[i].values()) or 1.0
        scores.append((shared, shared / total, i))
    if not scores:
        return False
    scores.sort(reverse=True)
    best = scores[0]
    narrow = bool(words.NARROW.search(s.own))
    for shared, share, i in scores:
        verdict: Standing | None = None
        consent = bool(words.CONSENT.search(rules[i].text))
        if kind == "strong":
            # the words of a newer rule behind the withdrawal do not count against it
            if shared >= 1 and shared >= best[0] * 0.75:
                verdict = "cancelled"
        elif narrow or (consent and kind != "strong"):
            continue
        elif kind == "permit":
            if shared < best[0] * 0.9:  # a name the whole conversation is about is in many rules
                continue
            if shared >= 3 or (shared >= 2 and share >= 0.2):
                verdict = "cancelled"
            elif shared >= 1 and share >= 0.34:
                verdict = "changed"
        elif shared >= 3 and share >= 0.4:
            verdict = "changed" if share < 0.6 else "cancelled"
        elif shared >= 2 and share >= 0.4:
            verdict = "changed"
        if verdict:
            rules[i] = msgspec.structs.replace(rules[i], standing=verdict, by=turn, by_text=s.text)
    if kind == "strong" and best[0] < 1 and not narrow and sum(mine.values()) <= 2:  # "forget that rule"
        latest = max(scores, key=lambda x: x[2])[2]
        rules[latest] = msgspec.structs.replace(rules[latest], standing="changed", by=turn, by_text=s.text)
    return rules != before
