"""Takes rules back: marks those that a later sentence of the user cancels, changes, or tells to be over.

Every function gets the rules known so far (and their topics) and changes them in place; it returns whether one was
taken back. Which sentences take something back is for :mod:`wishes` to know.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from monitor.compaction import choices, deadlines, endings, limits, numbered, scope, withdrawal
from monitor.compaction.clauses import clauses, parts
from monitor.compaction.rules import Rule, Standing
from monitor.compaction.sentences import Sentence
from monitor.compaction.topics import named, overlap, topics

PLACES = frozenset(("c:staging", "c:production", "c:branch"))
_Whole = tuple[Rule, dict[str, float], list[Rule]]


def take_apart(
    rules: list[Rule], about: list[dict[str, float]], mine: dict[str, float], turn: int | None
) -> list[_Whole]:
    """Where only a part of a sentence with several rules is meant, make each a rule, so that the others stay.

    Returns what was taken apart, for :func:`join`.
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


def join(rules: list[Rule], about: list[dict[str, float]], taken: list[_Whole]) -> None:
    """Put together again what was taken apart for nothing, so that it stays word for word."""
    for whole, topic, pieces in taken:
        at = next((i for i, r in enumerate(rules) if r is pieces[0]), None)
        if at is not None and all(a is b for a, b in zip(rules[at : at + len(pieces)], pieces)):
            rules[at : at + len(pieces)] = [whole]
            about[at : at + len(pieces)] = [topic]


def renumber(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None) -> bool:
    """A limit told anew with another number cancels the same limit told before; True where there was one."""
    mine = limits.about(s.own)
    if mine is None:
        return False
    taken = take_apart(rules, about, mine, turn)
    found = False
    for i, rule in enumerate(rules):
        if rule.standing != "active" or (rule.turn is not None and rule.turn == turn):
            continue
        if limits.retold(rule.text, s.own, mine):
            rules[i] = msgspec.structs.replace(rule, standing="cancelled", by=turn, by_text=s.text)
            found = True
        elif limits.target(rule.text, s.own):
            rules[i] = msgspec.structs.replace(rule, standing="changed", by=turn, by_text=s.text)
            found = True
    join(rules, about, taken)
    return found


def chosen_anew(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None, chooses: bool) -> bool:
    """Another thing of a kind is named on the matter of a rule: both are shown, the newer one wins.

    ``chooses``: the sentence sets something; else it may tell no more than that another version is in use now.
    """
    if withdrawal.NARROW.search(s.own):
        return False

    def told(rule: str) -> bool:
        other = (chooses and choices.another(rule, s.own)) or choices.newer(rule, s.own)
        return other or choices.upgraded(rule, s.own)

    _apart_by(rules, about, told, turn)
    found = False
    for i, r in enumerate(rules):
        if r.standing == "active" and (r.turn is None or r.turn != turn) and told(r.text):
            rules[i] = msgspec.structs.replace(r, standing="changed", by=turn, by_text=s.text)
            found = True
    return found


def expire(rules: list[Rule], s: Sentence, turn: int | None) -> bool:
    """Take back the rules that waited for what the sentence tells to be over; True where there were some."""
    found = False
    for i, r in enumerate(rules):
        over = endings.ended(r.text, s.own) if r.standing == "active" and (r.turn is None or r.turn != turn) else ""
        if over:
            standing: Standing = "cancelled" if over == "surely" else "changed"
            rules[i] = msgspec.structs.replace(r, standing=standing, by=turn, by_text=s.text)
            found = True
    return found


def _apart_by(rules: list[Rule], about: list[dict[str, float]], test: Callable[[str], bool], turn: int | None) -> None:
    """Make each part of a sentence with several rules a rule, where the test holds for some of the parts only."""
    for i in range(len(rules) - 1, -1, -1):
        rule = rules[i]
        if rule.standing != "active" or (rule.turn is not None and rule.turn == turn) or not test(rule.text):
            continue
        pieces = parts(rule.text)
        if len(pieces) > 1 and 0 < sum(map(test, pieces)) < len(pieces):
            rules[i : i + 1] = [msgspec.structs.replace(rule, text=p) for p in pieces]
            about[i : i + 1] = [topics(p) for p in pieces]


def overdue(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None) -> bool:
    """Take back the demand for a day that the sentence tells to be gone; where there are several, the one it names."""
    how = "" if s.quoted else deadlines.moved(s.own)
    other = not how and not s.quoted and deadlines.contrasts(s.own)  # "Tuesday isn't realistic, let's say Thursday"
    if not how and not other:
        return False
    _apart_by(rules, about, deadlines.due, turn)
    open_ = [
        i
        for i, r in enumerate(rules)
        if r.standing == "active" and (r.turn is None or r.turn != turn) and deadlines.due(r.text)
    ]
    if deadlines.event(s.own):  # the day of a meeting moved
        open_ = [i for i in open_ if deadlines.event(rules[i].text)]
    if other:
        open_ = [i for i in open_ if deadlines.times(rules[i].text) & deadlines.times(s.own)]
    named = [i for i in open_ if deadlines.days(rules[i].text) & deadlines.days(s.own)]
    if len(open_) > 1:
        mine = topics(s.own)
        open_ = named or [i for i in open_ if overlap(about[i], mine) >= 1]
    for i in open_:
        standing: Standing = "cancelled" if how == "named" else "changed"
        rules[i] = msgspec.structs.replace(rules[i], standing=standing, by=turn, by_text=s.text)
    return bool(open_)


def instead(text: str, about: dict[str, float], s: Sentence) -> bool:
    """True where the sentence sets something in the place of what a rule or request ``about`` such matter names."""
    gone = {} if s.quoted else scope.instead(s.own)
    if gone and overlap(about, gone) >= sum(gone.values()) and not withdrawal.DENIAL.search(text):
        return True  # "use reportlab", "weasyprint instead of reportlab"
    least = max(1.0, 0.6 * sum(gone.values()))
    return bool(gone) and overlap(about, gone) >= least and overlap(about, topics(s.own)) >= 2


def replaced(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None) -> bool:
    """Take back the rules for which the sentence sets something else ("the sha instead of the ticket number")."""
    found = False
    if s.quoted or not scope.instead(s.own):
        return found
    for i, r in enumerate(rules):
        if r.standing == "active" and (r.turn is None or r.turn != turn) and instead(r.text, about[i], s):
            rules[i] = msgspec.structs.replace(r, standing="cancelled", by=turn, by_text=s.text)
            found = True
    return found


def _one_word(a: str, b: str) -> bool:
    """True for two forms of a word that differ by their last letter ("zmian", "zmiany")."""
    return (
        a[:2] == b[:2] == "w:"
        and min(len(a), len(b)) >= 6
        and abs(len(a) - len(b)) == 1
        and (a.startswith(b) or b.startswith(a))
    )


def _same_deed(ban: dict[str, float], told: dict[str, float], waits: bool) -> bool:
    """True where nearly all a ban speaks of is ordered, or most of it and nothing else; a ban that waits for the word
    ends with an order that names nothing else."""
    near = {k: w for k, w in told.items() if k not in ban and any(_one_word(k, b) for b in ban)}
    shared = overlap(ban, told) + sum(near.values())
    if waits and shared >= 1 and shared >= sum(told.values()):
        return True
    if shared < 2:
        return False
    return shared >= 0.85 * sum(ban.values()) or (shared >= 0.6 * sum(ban.values()) and shared >= sum(told.values()))


def ordered(rules: list[Rule], about: list[dict[str, float]], s: Sentence, turn: int | None) -> bool:
    """The user orders what a rule forbids: both are shown, the newer one wins. True where there was such a rule.

    All the rule speaks of has to be in one clause that denies nothing, as another object is another matter.
    """
    if s.quoted or withdrawal.ONCE.search(s.own):
        return False
    told = [(c, topics("… " + c)) for c in clauses(s.own) if scope.orders(c)]
    told += [(c, topics(s.own)) for c, _ in told if len(c.split()) < 4]  # "the client waits for you, call him"
    told = [(c, t) for c, t in told if sum(t.values()) >= 1]
    found = False
    if not told:
        return found
    for i, r in enumerate(rules):
        if (
            r.standing != "active"
            or r.turn is None
            or r.turn == turn
            or not any(overlap(about[i], t) and scope.deed_first(about[i], c) for c, t in told)
            or asks(r.text)
            or scope.goes_on(about[i], s.own)
        ):
            continue
        if scope.looks(s.own) and not scope.looks(r.text):
            continue
        bans = [topics("… " + c) for c in clauses(r.text) if withdrawal.DENIAL.search(c)]
        waits = bool(withdrawal.PROVISIONAL.search(r.text))  # "don't book it yet", "book it"
        if any(_same_deed(b, t, waits) for b in bans for _, t in told):
            rules[i] = msgspec.structs.replace(r, standing="changed", by=turn, by_text=s.text)
            found = True
    return found


def by_number(rules: list[Rule], s: Sentence, turn: int | None) -> bool:
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


def asks(rule: str) -> bool:
    """True for a rule that holds without the user's consent, each time; "until I say so" ends with the word."""
    return bool(withdrawal.CONSENT.search(rule)) and not withdrawal.PROVISIONAL.search(rule)


def _meant(about: list[dict[str, float]], s: Sentence, kind: str) -> dict[str, float]:
    """What a sentence that takes back is about: of several clauses the one that does, where it names a rule.

    A permission may name its matter in front; what stands behind it ("…, but on the test host only") limits it.
    """
    if kind == "strong":
        told = [c for c in clauses(s.own) if scope.strong(c)]
        mine = topics(" ".join(told))
        if told and any(overlap(t, mine) >= 1 for t in about):
            return mine
        rest = topics(" ".join(withdrawal.STRONG.sub(" ", c) for c in told))
        if sum(rest.values()) >= 1 and not scope.POINTS.search(" ".join(told)) and not withdrawal.ABOUT.search(s.own):
            return mine  # it names its own matter, which is that of no rule
    if kind == "permit":
        m = withdrawal.PERMIT.search(s.own)
        end = re.search(r"[,，;；]\s", s.own[m.end() :]) if m else None
        if m and end:
            mine = topics(s.own[: m.end() + end.start()])
            if any(overlap(t, mine) >= 1 for t in about):
                return mine
    return topics(s.own)


def _compound(about: dict[str, float], mine: dict[str, float]) -> float:
    """1 where a word of the rule begins a longer one of the sentence: "Zeilen", "Zeilengrenze"."""
    words = [k for k in about if k.startswith("w:") and len(k) > 5]
    return float(any(m.startswith(k) and len(m) >= len(k) + 4 for k in words for m in mine))


def _denied_share(rule: str, mine: dict[str, float]) -> float:
    """How much of the clause that forbids is named, whatever else the rule tells beside it."""
    bans = [topics("… " + c) for c in clauses(rule) if withdrawal.DENIAL.search(c)]
    return max((overlap(b, mine) / sum(b.values()) for b in bans if b), default=0.0)


def take_back(
    rules: list[Rule],
    about: list[dict[str, float]],
    s: Sentence,
    turn: int | None,
    kind: str,
    before: Sentence | None = None,
) -> bool:
    """Mark the rules this sentence takes back; True where there were some. ``before``: what its "that" speaks of."""
    if by_number(rules, s, turn):
        return True
    if kind == "ease":
        return False  # see :mod:`easing`
    mine = topics(before.own + " " + s.own) if before else _meant(about, s, kind)
    if kind == "permit":  # where something is done says little of what is allowed
        mine = {k: min(w, 0.9) if k in PLACES else w for k, w in mine.items()}
    taken = [] if withdrawal.ONCE.search(s.own) else take_apart(rules, about, mine, turn)
    known = list(rules)
    scores = []
    for i, rule in enumerate(rules):
        if rule.standing != "active" or (rule.turn is not None and rule.turn == turn):
            continue
        if kind == "permit" and scope.looks(s.own) and not scope.looks(rule.text):
            continue
        shared = overlap(about[i], named(about[i], mine, s.own))
        if shared and scope.goes_on(about[i], s.own):
            continue
        total = sum(about[i].values()) or 1.0
        if kind in ("strong", "permit") and shared >= 1 and withdrawal.PROVISIONAL.search(rule.text):
            shared += 1.0  # "until I say otherwise": it was made to be taken back
        if kind == "permit" and not withdrawal.DENIAL.search(rule.text) and limits.affirms(rule.text, s.own):
            continue
        if kind in ("strong", "permit") and choices.same_version(rule.text, s.own):
            shared += 6.0  # "if pyarrow 14 gives you grief, 17 is fine"
        if kind == "strong" and limits.same(rule.text, s.own):
            shared += 2.0  # "the cap of 40 lines is gone"
        if kind == "strong" and not shared:
            shared = _compound(about[i], mine)
        scores.append((shared, shared / total, i))
    if not scores:
        return False
    scores.sort(reverse=True)
    best = scores[0]
    asked = any(n >= 1 and asks(rules[i].text) for n, _, i in scores)
    once, narrow = bool(withdrawal.ONCE.search(s.own)), bool(withdrawal.NARROW.search(s.own))
    replaces = bool(withdrawal.REPLACE.search(s.own))
    names = bool(withdrawal.ABOUT.search(s.own)) and not withdrawal.DENIAL.search(s.own)
    for shared, share, i in scores:
        verdict: Standing | None = None
        consent = asks(rules[i].text)
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
        elif kind == "replace" and names and shared >= 2 and withdrawal.DENIAL.search(rules[i].text):
            verdict = "changed"  # "lo de los commits: hazlos tú" against "no hagas commits"
        elif kind == "replace" and not replaces:
            continue  # it names the matter, and forbids like the rule does
        elif kind == "permit":
            if shared < best[0] * 0.9:  # a name the whole conversation is about is in many rules
                continue
            if withdrawal.DENIAL.search(rules[i].text) and scope.another(rules[i].text, about[i], mine, s.own):
                continue
            denied = _denied_share(rules[i].text, mine)
            single = len(about[i].keys() & mine.keys()) == 1 < len(about[i])
            if shared >= 3 or (shared >= 2 and share >= 0.2):
                # one common word, and the rule speaks of more: "push" is allowed, to which branch is not told
                verdict = "changed" if single and shared < 3 else "cancelled"
            elif shared >= 1 and max(share, denied) >= 0.34:
                verdict = "changed"
        elif kind == "revise":
            if shared >= best[0] * 0.9 and (shared >= 2 or share >= 0.5) and shared >= 1:
                verdict = "changed"
        elif shared >= 3 and share >= 0.4:
            verdict = "changed" if share < 0.6 else "cancelled"
        elif shared >= 2 and share >= 0.4:
            verdict = "changed"
        if verdict == "cancelled" and kind == "permit" and (scope.partly(s.own) or scope.inside(rules[i].text, s.own)):
            verdict = "changed"
        if verdict:
            rules[i] = msgspec.structs.replace(rules[i], standing=verdict, by=turn, by_text=s.text)
    done = any(r.by_text == s.text and r.by == turn for r in known)  # it has its rule already
    if kind == "strong" and best[0] < 1 and not narrow and sum(mine.values()) <= 2 and not done:  # "forget that rule"
        latest = max(scores, key=lambda x: x[2])[2]
        rules[latest] = msgspec.structs.replace(rules[latest], standing="changed", by=turn, by_text=s.text)
    found = rules != known
    join(rules, about, taken)
    return found
