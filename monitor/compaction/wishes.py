"""What the user wants for the work to come: rules word for word, and which of them were taken back later.

Input: messages the user typed. A rule is a sentence of the user's own (never what the user quotes or pastes, never a
question) that forbids, demands or limits; it holds until a later sentence takes it back. Rules of judging:

* a sentence that names the rule ("forget the rule about …") takes back the best match, however weak;
* one that permits ("you may now …") takes back a rule on the same matter, unless it is permission for one case;
* a rule that holds "without my permission" survives a permission;
* one that sets something else ("from now on …") replaces a rule on the same matter.

Where this is not sure the rule is marked ``changed``: both sentences are shown and the newer one wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Literal

import msgspec

from monitor.compaction import words
from monitor.compaction.sentences import Sentence, sentences
from monitor.compaction.topics import overlap, topics

Standing = Literal["active", "cancelled", "changed"]
_QUESTION = re.compile(r"[?？]\s*[”’」』\"'»)]*$")
_CLAUSE = re.compile(r"[,，;；:：]\s*|\s+(?:but|aber|pero|mais|and|und|y|et)\s+|(?<=[、])")


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the user: ``text`` word for word, ``turn`` = number of the user message, from 1."""

    text: str
    turn: int | None = None
    standing: Standing = "active"
    by: int | None = None  # user message that took it back
    by_text: str = ""  # its words
    kept: bool = False  # it stands in the part that stays as it is


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
    langs = words.languages(own)
    if not any(words.RULE[lang].search(own) for lang in langs if lang in words.RULE):
        return False
    if sentence.quoted and words.REPORTED.search(own):
        return False  # tells what somebody else said; what the user adds to it refers to that
    return not any(words.STATEMENT[lang].search(own) for lang in langs[:1] if lang in words.STATEMENT)


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

    def add(text: str, turn: int | None, kept: bool) -> None:
        known = next((i for i, r in enumerate(rules) if _same(r.text, text)), None)
        if known is None:
            rules.append(Rule(text=text, turn=turn, kept=kept))
            about.append(topics(text))
        elif rules[known].standing != "active":
            rules[known] = Rule(text=text, turn=turn, kept=kept)

    for turn, text, kept in messages:
        for s in sentences(text):
            kind = lifts(s.own)
            took = _take_back(rules, about, s, turn, kind) if kind else False
            if kind and not took and not words.NARROW.search(s.own):
                _mark_said(said, s, turn, 2 if kind == "strong" else 3)
            if not is_rule(s):
                said.append(Said(text=s.text, turn=turn, quoted=bool(s.quoted), kept=kept))
            elif kind == "strong" or took:
                # it takes something back and may set something new: the clause that does is the rule
                said.append(Said(text=s.text, turn=turn, quoted=bool(s.quoted), kept=kept))
                for clause in _clauses(s.text):
                    if not lifts(clause) or words.LIFT_REPLACE.search(clause):
                        part = Sentence(clause)
                        if is_rule(part) and not words.LIFT_STRONG.search(clause):
                            add(clause, turn, kept)
            else:
                add(s.text, turn, kept)
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


def _same(a: str, b: str) -> bool:
    return a.strip(" .。!！").casefold() == b.strip(" .。!！").casefold()


def _take_back(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None, kind: str) -> bool:
    """Mark the rules this sentence takes back; True where there were some."""
    before = list(rules)
    mine = topics(s.own)
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
