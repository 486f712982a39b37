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
from typing import Literal

import msgspec

from monitor.compaction import choices, deadlines, easing, endings, limits, scope, takeback, withdrawal, words
from monitor.compaction.clauses import QUESTION, clauses, is_rule
from monitor.compaction.rules import Rule, Said
from monitor.compaction.sentences import Sentence, sentences
from monitor.compaction.topics import overlap, topics

#: a withdrawal that names its matter by a pronoun only
_THAT = re.compile(
    r"(?i)\b(?:that|this|it|those|das|dies|es|eso|esto|ça|cela|isso|isto|quello|questo|ciò|это|этом|bunu|"
    r"onu)\b|这|那|それ|これ|ここ|그거|그건|그것"
)


def lifts(text: str) -> Literal["strong", "permit", "go", "replace", "revise", "ease", ""]:
    """Whether a sentence takes something back: names a rule, permits, gives the word that a rule "for now" waits for,
    has second thoughts, lets go in other words, or sets something else in its place.
    """
    if QUESTION.search(text) or scope.hearsay(text):
        return ""
    if scope.strong(text):
        return "strong"
    if (withdrawal.PERMIT.search(text) or withdrawal.FREE.search(text)) and not scope.status(text):
        return "permit"
    if withdrawal.GO_AHEAD.search(text):
        return "go"
    if scope.SECOND.search(text):
        return "revise"
    if scope.eases(text):
        return "ease"
    return "replace" if withdrawal.REPLACE.search(text) or withdrawal.ABOUT.search(text) else ""


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
        spoken = words.languages(text[:2_000])[:1]
        previous: Sentence | None = None
        for s in sentences(text):
            ruled = is_rule(s, spoken)
            if withdrawal.STANDS.search(s.own):
                _stands(rules, about, s)
            kind, renewed = lifts(s.own), False
            took = not QUESTION.search(s.own) and takeback.overdue(rules, about, s, turn)
            took = (bool(kind) and takeback.take_back(rules, about, s, turn, kind)) or took
            took = takeback.expire(rules, s, turn) or took
            if not QUESTION.search(s.own):
                took = takeback.replaced(rules, about, s, turn) or took
                took = took or takeback.ordered(rules, about, s, turn)
                chooses = ruled or kind in ("replace", "revise", "permit", "ease") or limits.anew(s.own)
                _end_said(said, s, turn, chooses)
            if kind == "strong" and previous and _THAT.search(s.own):
                took = took or takeback.take_back(rules, about, s, turn, kind, previous)
                if took and _says_again(rules, s, turn, previous):
                    rules.pop()  # it only said the old rule again, to take it back
                    about.pop()
                    said.append(Said(text=previous.text, turn=turn, by=turn, kept=kept))
            elif kind == "permit" and not took and previous and _THAT.search(s.own):
                took = _permit_there(rules, about, s, turn, previous)
            if not took and limits.anew(s.own):  # "the second point goes from 5,000 to 20,000"
                took = takeback.by_number(rules, s, turn)
            previous = s
            if not s.quoted and not QUESTION.search(s.own):
                if ruled or kind in ("strong", "permit") or limits.anew(s.own):
                    renewed = takeback.renumber(rules, about, s, turn)
                if not renewed and not took:
                    renewed = takeback.chosen_anew(
                        rules,
                        about,
                        s,
                        turn,
                        bool(
                            ruled
                            or kind in ("replace", "revise", "permit", "ease")
                            or scope.lets(s.own)
                            or limits.anew(s.own)
                            or choices.talk(s.own)
                        ),
                    )
                if renewed:
                    took, kind = True, "replace"
            took = took or easing.ease(rules, about, s, turn, kind)
            if kind and not took and not withdrawal.NARROW.search(s.own):
                _mark_said(said, s, turn, 2 if kind == "strong" else 3)
            if not took and not s.quoted:
                took = renewed = _retell(said, s, turn)
            if renewed and not ruled:  # "lower it to 75 %" is the limit from now on
                add(s.text, turn, kept)
            elif not ruled:
                said.append(Said(text=s.text, turn=turn, quoted=bool(s.quoted), kept=kept))
            elif kind == "strong" or took:
                # it takes something back and may set something new: the clause that does is the rule
                anew = [
                    c
                    for c in clauses(s.text)
                    if (not lifts(c) or withdrawal.REPLACE.search(c))
                    and is_rule(Sentence(c), spoken)
                    and not scope.strong(c)
                    and not deadlines.moved(c)
                ]
                if anew and (kind == "replace" or not all(map(topics, anew))):
                    anew = [s.text]  # nothing in it only takes back, or a clause ("that one only") says nothing alone
                if anew != [s.text]:
                    said.append(Said(text=s.text, turn=turn, quoted=bool(s.quoted), kept=kept))
                for clause in anew:
                    add(clause, turn, kept)
            else:
                add(s.text, turn, kept, s.number)
    return rules, said


def _says_again(rules: list[Rule], s: Sentence, turn: int | None, previous: Sentence) -> bool:
    """True where ``previous``, the newest rule, only words again what ``s`` has just taken back."""
    if rules[-1].turn != turn or rules[-1].text != previous.text:
        return False
    mine = topics(previous.own)
    gone = [topics(r.text) for r in rules[:-1] if r.by == turn and r.by_text == s.text]
    return any(overlap(t, mine) >= 0.6 * sum(t.values()) for t in gone)


def _stands(rules: list[Rule], about: list[dict[str, float]], s: Sentence) -> None:
    """ "Outside of that the rule stands": the rule that was taken back in part holds again."""
    mine = topics(s.own)
    gone = [(overlap(about[i], mine), i) for i, r in enumerate(rules) if r.standing != "active"]
    if gone and max(gone)[0] >= 1:
        at = max(gone)[1]
        rules[at] = msgspec.structs.replace(rules[at], standing="active", by=None, by_text="")


def _permit_there(
    rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None, previous: Sentence
) -> bool:
    """A permission that names its matter by a pronoun only: both sentences are shown, the newer one wins."""
    took = takeback.take_back(rules, about, s, turn, "permit", previous)
    for i, r in enumerate(rules):
        if took and r.by == turn and r.by_text == s.text:
            rules[i] = msgspec.structs.replace(r, standing="changed", by_text=f"{previous.text} {s.text}")
    return took


def _end_said(said: list[Said], s: Sentence, turn: int | None, chooses: bool) -> None:
    """A request that waits for what is over now, or names another thing of a kind, is no longer as it was said."""
    for i, x in enumerate(said):
        if x.turn == turn or x.by is not None or x.quoted or QUESTION.search(x.text):
            continue
        if (
            endings.ended(x.text, s.own)
            or takeback.instead(x.text, topics(x.text), s)
            or (chooses and choices.another(x.text, s.own))
            or choices.newer(x.text, s.own)
        ):
            said[i] = msgspec.structs.replace(x, by=turn)


def _retell(said: list[Said], s: Sentence, turn: int | None) -> bool:
    """A number given anew also replaces one in a request that was no rule by its words ("cap at 5 attempts")."""
    mine = limits.about(s.own)
    if mine is None or QUESTION.search(s.own):
        return False
    found = False
    for i, x in enumerate(said):
        if x.turn != turn and x.by is None and not x.quoted and limits.retold(x.text, s.own, mine, named=True):
            said[i] = msgspec.structs.replace(x, by=turn)
            found = True
    return found


def _mark_said(said: list[Said], s: Sentence, turn: int | None, least: float) -> None:
    """What the user takes back was no rule by its words: mark the request it is about."""
    mine = topics(s.own)
    scores = [
        (overlap(topics(x.text), mine), i)
        for i, x in enumerate(said)
        if x.turn != turn and x.by is None and not x.quoted
    ]
    if scores and max(scores)[0] >= least and not QUESTION.search(said[max(scores)[1]].text):
        at = max(scores)[1]
        said[at] = msgspec.structs.replace(said[at], by=turn)


def _same(a: str, b: str) -> bool:
    return a.strip(" .。!！").casefold() == b.strip(" .。!！").casefold()
