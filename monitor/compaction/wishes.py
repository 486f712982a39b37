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

from monitor.compaction import limits, numbered, withdrawal, words
from monitor.compaction.clauses import QUESTION, clauses, is_rule, parts
from monitor.compaction.sentences import Sentence, sentences
from monitor.compaction.topics import overlap, topics

Standing = Literal["active", "cancelled", "changed"]
#: a withdrawal that names its matter by a pronoun only
_THAT = re.compile(
    r"(?i)\b(?:that|this|it|those|das|dies|es|eso|esto|ça|cela|isso|isto|quello|questo|ciò|это|этом|bunu|"
    r"onu)\b|这|那|それ|これ|ここ|그거|그건|그것"
)


_PLACES = frozenset(("c:staging", "c:production", "c:branch"))


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the user: ``text`` word for word, ``turn`` = number of the user message, from 1."""

    text: str
    turn: int | None = None
    standing: Standing = "active"
    by: int | None = None  # user message that took it back
    by_text: str = ""  # its words
    kept: bool = False  # it stands in the part that stays as it is
    number: int = 0  # place in the list the user wrote, 0 where it stood in none
    cited: bool = False  # the summary of another program has it between marks of quotation


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence somebody wrote, with the number of the user message it belongs to."""

    text: str
    turn: int | None = None
    quoted: bool = False
    kept: bool = False  # it stands in the part that stays as it is
    weight: float = 0.0
    by: int | None = None  # a later user message takes it back


def lifts(text: str) -> Literal["strong", "permit", "go", "replace", ""]:
    """Whether a sentence takes something back: names a rule, permits, gives the word that a rule "for now" waits for,
    or sets something else in its place.
    """
    if QUESTION.search(text):
        return ""
    if withdrawal.STRONG.search(text):
        return "strong"
    if withdrawal.PERMIT.search(text):
        return "permit"
    if withdrawal.GO_AHEAD.search(text):
        return "go"
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
            took = _take_back(rules, about, s, turn, kind) if kind else False
            if kind == "strong" and previous and _THAT.search(s.own):
                took = took or _take_back(rules, about, s, turn, kind, previous)
                if took and _says_again(rules, s, turn, previous):
                    rules.pop()  # it only said the old rule again, to take it back
                    about.pop()
                    said.append(Said(text=previous.text, turn=turn, by=turn, kept=kept))
            elif kind == "permit" and not took and previous and _THAT.search(s.own):
                took = _permit_there(rules, about, s, turn, previous)
            if not took and limits.anew(s.own):  # "the second point goes from 5,000 to 20,000"
                took = _by_number(rules, s, turn)
            previous = s
            if not took and not s.quoted and not QUESTION.search(s.own) and (ruled or limits.anew(s.own)):
                took = renewed = _renumber(rules, about, s, turn)
                if took:
                    kind = "replace"
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
                    and not withdrawal.STRONG.search(c)
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
    took = _take_back(rules, about, s, turn, "permit", previous)
    for i, r in enumerate(rules):
        if took and r.by == turn and r.by_text == s.text:
            rules[i] = msgspec.structs.replace(r, standing="changed", by_text=f"{previous.text} {s.text}")
    return took


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


_Whole = tuple[Rule, dict[str, float], list[Rule]]


def _take_apart(
    rules: list[Rule], about: list[dict[str, float]], mine: dict[str, float], turn: int | None
) -> list[_Whole]:
    """Where only a part of a sentence with several rules is meant, make each a rule, so that the others stay.

    Returns what was taken apart, for :func:`_join`.
    """
    taken: list[_Whole] = []
    for i in range(len(rules) - 1, -1, -1):
        rule = rules[i]
        if rule.standing != "active" or (rule.turn is not None and rule.turn == turn) or not overlap(about[i], mine):
            continue
        pieces_of = parts(rule.text)
        if len(pieces_of) < 2:
            continue
        topic = [topics(p) for p in pieces_of]
        shared = [overlap(t, mine) for t in topic]
        if min(shared) < max(shared) * 0.75:
            pieces = [msgspec.structs.replace(rule, text=p) for p in pieces_of]
            taken.append((rule, about[i], pieces))
            rules[i : i + 1] = pieces
            about[i : i + 1] = topic
    return taken


def _join(rules: list[Rule], about: list[dict[str, float]], taken: list[_Whole]) -> None:
    """Put together again what was taken apart for nothing, so that it stays word for word."""
    for whole, topic, pieces in taken:
        at = next((i for i, r in enumerate(rules) if r is pieces[0]), None)
        if at is not None and all(a is b for a, b in zip(rules[at : at + len(pieces)], pieces)):
            rules[at : at + len(pieces)] = [whole]
            about[at : at + len(pieces)] = [topic]


def _renumber(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None) -> bool:
    """A limit told anew with another number cancels the same limit told before; True where there was one."""
    mine = limits.about(s.own)
    if mine is None:
        return False
    taken = _take_apart(rules, about, mine, turn)
    found = False
    for i, rule in enumerate(rules):
        if rule.standing != "active" or (rule.turn is not None and rule.turn == turn):
            continue
        if limits.retold(rule.text, s.own, mine):
            rules[i] = msgspec.structs.replace(rule, standing="cancelled", by=turn, by_text=s.text)
            found = True
    _join(rules, about, taken)
    return found


def _same(a: str, b: str) -> bool:
    return a.strip(" .。!！").casefold() == b.strip(" .。!！").casefold()


def _by_number(rules: list[Rule], s: Sentence, turn: int | None) -> bool:
    """Take back the rules of a list that the sentence names by number ("rule 3 no longer applies")."""
    found = False
    for number, partly in numbered.items(s.own):
        named = [
            i
            for i, r in enumerate(rules)
            if r.number and (r.number == number or not number) and r.standing == "active" and r.turn != turn
        ]
        for i in named[-1:]:
            standing: Standing = "changed" if partly else "cancelled"
            rules[i] = msgspec.structs.replace(rules[i], standing=standing, by=turn, by_text=s.text)
            found = True
    return found


def _asks(rule: str) -> bool:
    """True for a rule that holds without the user's consent, each time; "until I say so" ends with the word."""
    return bool(withdrawal.CONSENT.search(rule)) and not withdrawal.PROVISIONAL.search(rule)


def _meant(about: list[dict[str, float]], s: Sentence, kind: str) -> dict[str, float]:
    """What a sentence that takes back is about: of several clauses the one that does, where it names a rule.

    A permission may name its matter in front; what stands behind it ("…, but on the test host only") limits it.
    """
    if kind == "strong":
        told = [c for c in clauses(s.own) if withdrawal.STRONG.search(c)]
        mine = topics(" ".join(told))
        if told and any(overlap(t, mine) >= 1 for t in about):
            return mine
    if kind == "permit":
        m = withdrawal.PERMIT.search(s.own)
        end = re.search(r"[,，;；]\s", s.own[m.end() :]) if m else None
        if m and end:
            mine = topics(s.own[: m.end() + end.start()])
            if any(overlap(t, mine) >= 1 for t in about):
                return mine
    return topics(s.own)


def _take_back(
    rules: list[Rule],
    about: list[dict[str, float]],
    s: Sentence,
    turn: int | None,
    kind: str,
    before: Sentence | None = None,
) -> bool:
    """Mark the rules this sentence takes back; True where there were some. ``before``: what its "that" speaks of."""
    if _by_number(rules, s, turn):
        return True
    mine = topics(before.own + " " + s.own) if before else _meant(about, s, kind)
    if kind == "permit":  # where something is done says little of what is allowed
        mine = {k: min(w, 0.9) if k in _PLACES else w for k, w in mine.items()}
    taken = [] if withdrawal.ONCE.search(s.own) else _take_apart(rules, about, mine, turn)
    known = list(rules)
    scores = []
    for i, rule in enumerate(rules):
        if rule.standing != "active" or (rule.turn is not None and rule.turn == turn):
            continue
        shared = overlap(about[i], mine)
        total = sum(about[i].values()) or 1.0
        if kind in ("strong", "permit") and shared >= 1 and withdrawal.PROVISIONAL.search(rule.text):
            shared += 1.0  # "until I say otherwise": it was made to be taken back
        scores.append((shared, shared / total, i))
    if not scores:
        return False
    scores.sort(reverse=True)
    best = scores[0]
    asked = any(n >= 1 and _asks(rules[i].text) for n, _, i in scores)
    once, narrow = bool(withdrawal.ONCE.search(s.own)), bool(withdrawal.NARROW.search(s.own))
    replaces = bool(withdrawal.REPLACE.search(s.own))
    named = bool(withdrawal.ABOUT.search(s.own)) and not withdrawal.DENIAL.search(s.own)
    for shared, share, i in scores:
        verdict: Standing | None = None
        consent = _asks(rules[i].text)
        if kind == "strong":
            # the words of a newer rule behind the withdrawal do not count against it
            if shared >= 1 and shared >= best[0] * 0.75:
                verdict = "cancelled"
        elif kind == "go":
            if shared >= 2 and withdrawal.PROVISIONAL.search(rules[i].text):
                verdict = "changed"
        elif once or consent or (narrow and kind != "permit"):
            continue
        elif narrow:  # allowed for a part of what the rule is about, unless it answers a rule that asks for consent
            verdict = "changed" if shared >= 2 and share >= 0.34 and not asked else None
        elif kind == "replace" and named and shared >= 2 and withdrawal.DENIAL.search(rules[i].text):
            verdict = "changed"  # "lo de los commits: hazlos tú" against "no hagas commits"
        elif kind == "replace" and not replaces:
            continue  # it names the matter, and forbids like the rule does
        elif kind == "permit":
            if shared < best[0] * 0.9:  # a name the whole conversation is about is in many rules
                continue
            single = len(about[i].keys() & mine.keys()) == 1 < len(about[i])
            if shared >= 3 or (shared >= 2 and share >= 0.2):
                # one common word, and the rule speaks of more: "push" is allowed, to which branch is not told
                verdict = "changed" if single and shared < 3 else "cancelled"
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
    found = rules != known
    _join(rules, about, taken)
    return found
