"""Summaries of earlier compactions, this program's and those of the agents, read back into a :class:`State`.

Ours are read exactly as they were written. Of others (Claude Code, Codex, Pi, Gemini CLI, opencode, SDKs) the lines are
sorted by their headings; their lists of next steps are old plans and hold until an answer tells what comes next.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from monitor.compaction import blocks as labels
from monitor.compaction.actions import Todo, boxes
from monitor.compaction.clauses import is_rule
from monitor.compaction.render import from_object
from monitor.compaction.rules import Rule, Said
from monitor.compaction.sentences import QUOTED, Sentence, one_line
from monitor.compaction.state import Check, Commit, Error, FileUse, Foreign, State
from monitor.compaction.wishes import read as read_wishes
from monitor.conversation.marks import SUMMARY_OPEN
from monitor.conversation.model import Message, Opaque

_SPAN = re.compile(r"^Compacted: user messages 1 to (\d+)\.", re.M)
_TURN = re.compile(r"\s*\(user message (\d+)(?:, by user message (\d+))?\)$")
_BY_ONLY = re.compile(r"\s*\(by user message (\d+)\)$")
_LEAD = re.compile(r"^\(user message (\d+)\)\s*")
_AFTER = re.compile(r"^After user message (\d+):$")
_CHECK = re.compile(r"^(passed|failed|no result told): `(.+?)`(?: \((.*)\))?$")
_ERROR = re.compile(r"^(.*?)(?: \(at ([^()]+:\d+|[^()\s]+)\))?$")
_FILES: dict[str, FileUse] = {
    labels.MODIFIED: "modified",
    labels.CREATED: "created",
    labels.READ: "read",
    labels.DELETED: "deleted",
}
#: headings of other summaries -> where their lines go
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "said",
        re.compile(
            r"(?i)\buser messages|nachrichten des (?:be)?nutzers|mensajes del usuario|messages de l.utilisateur|"
            r"用户消息|ユーザーの発言"
        ),
    ),
    (
        "rules",
        re.compile(
            r"(?i)constraint|preference|user.{0,3}(?:instructions|rules|requirements)|\brules\b|vorgabe|einschränk|anweisung|"
            r"约束|制約|指示|指令|规则|ルール|restricc|instruccion|contraint|consigne|active_constraints"
        ),
    ),
    (
        "next",
        re.compile(
            r"(?i)next|remaining|pending|to.?do|in progress|current (?:work|state)|nächste|下一步|次の|próxim|"
            r"siguient|prochain|task_state|recent_actions"
        ),
    ),
    ("dead", re.compile(r"(?i)failed|dead end|rejected|abandon|verworfen|放弃")),
    ("decisions", re.compile(r"(?i)decision|entscheid|决定|决策|決定|decisi|rationale|approach")),
    (
        "done",
        re.compile(
            r"(?i)progress|done|completed|accomplish|fortschritt|进展|进度|進捗|progres|avance|état|estado|stand\b|状态|状況"
        ),
    ),
    ("goal", re.compile(r"(?i)goal|objective|intent|request|overview|ziel|目标|目標|objetivo|objectif")),
    (
        "facts",
        re.compile(
            r"(?i)fact|context|knowledge|discover|finding|data|error|fakten|事实|事実|hechos|datos|technical|concept|"
            r"environment|file"
        ),
    ),
)
_READ_TAG = re.compile(r"<read-files>(.*?)</read-files>", re.S)
_MODIFIED_TAG = re.compile(r"<modified-files>(.*?)</modified-files>", re.S)
_HEAD = re.compile(
    r"^\s*(?:#{1,6}\s+(.+?)|\*\*([^*]{2,60})\*\*:?|\d+\.\s+(?:\*\*)?([A-Z][^*:.]{2,48})(?:\*\*)?:|<([a-z_]{4,30})>)\s*$"
)
_FILE = re.compile(r"^`?([\w@./-]+\.\w{1,8})`?\s*\(([A-Za-z]+)(\)|[:,;]\s)")
#: words of the user between marks of quotation, and what stands behind them
_WORDS = re.compile(r"^[「『\"“„«](.{4,}?)[」』\"”“»]\s*(.*)$")
_WITHDRAWN = re.compile(
    r"(?i)cancel|withdrawn|revoked|lifted|superseded|no longer|aufgehoben|zurückgenommen|gilt nicht mehr|anulad|ya no|"
    r"annulé|撤回|取り消|取消|撤销|作废|不再"
)
_FILE_USES: dict[str, FileUse] = {
    "created": "created", "new": "created", "added": "created", "modified": "modified", "edited": "modified",
    "changed": "modified", "updated": "modified", "read": "read", "deleted": "deleted",
}  # fmt: skip
_NESTED = re.compile(r"^\s*[-*•]\s+(?:\*\*)?([^:：*`]{3,50})(?:\*\*)?[:：](?:\*\*)?\s*$")
#: lists that come back as findings
_TOLD = (
    ("Facts", labels.FINDINGS),
    ("Facts", labels.TOLD),
    ("Progress", labels.TOLD),
)
_CAP = 60  # lines taken from another program's summary
_ANNOUNCED = re.compile(r"Announced(?: after user message (\d+))?: ")


def text_of(m: Message) -> str:
    """The text of a summary message or of a readable compaction block."""
    return m.text or "\n".join(p.text for p in m.parts if isinstance(p, Opaque))


def read(text: str) -> State:
    """The state a summary tells."""
    return _ours(from_object(text)) if SUMMARY_OPEN in text[:200] else _theirs(text)


def merge(before: State, new: State, covered: bool) -> State:
    """``new`` on top of ``before``. ``covered``: the messages it was made of are at hand, and tell all that better."""
    if covered and new.last == 0:
        return msgspec.structs.replace(
            before,
            rules=_joined(before.rules, tuple(r for r in new.rules if r.cited)),
            findings=(*before.findings, *new.findings)[-40:],
            decisions=(*before.decisions, *new.decisions)[-40:],
            dead_ends=(*before.dead_ends, *new.dead_ends)[-20:],
        )
    if covered:
        return before
    return msgspec.structs.replace(
        new,
        goal=before.goal or new.goal,
        rules=_joined(before.rules, new.rules),
        said=_joined(before.said, new.said),
        files={**before.files, **new.files},
        commits=_joined(before.commits, new.commits),
        last=max(before.last, new.last),
    )


def _joined(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*a, *(x for x in b if x not in a))


# ---------------------------------------------------------------------------------------------------- ours
def _ours(text: str) -> State:
    span = _SPAN.search(text)
    last = int(span.group(1)) if span else 0
    section, label, turn = "", "", None
    goal: list[Said] = []
    rules: list[Rule] = []
    files: dict[str, FileUse] = {}
    lists: dict[str, list[Said]] = {}
    numbered: list[Said] = []
    root = ""
    names: tuple[str, ...] = ()
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("## ") and line[3:] in labels.HEADINGS:
            section, label, turn = line[3:], "", None
            continue
        if not line or not section or line.startswith(("<", "[")) or line == labels.NONE:
            continue
        use = next((k for k in _FILES if line.startswith(k + " ")), None)
        after = _AFTER.match(line)
        if use:
            files.update(dict.fromkeys(line[len(use) + 1 :].split(", "), _FILES[use]))
        elif line.startswith(labels.NAMES):
            names = tuple(line[len(labels.NAMES) + 1 :].split(", "))
        elif line.startswith(labels.FOLDER):
            root = line[len(labels.FOLDER) + 1 :]
        elif after:
            turn = int(after.group(1))
        elif line.startswith("- "):
            item = line[2:]
            if label in (labels.RULES, labels.CANCELLED, labels.CHANGED):
                rules.append(_rule(item, label))
            else:
                lists.setdefault(f"{section}/{label}", []).append(Said(text=item, turn=turn, weight=3.0))
        elif line.endswith(":") and line in _LABELS:
            label, turn = line, None
        elif section == "Goal":
            goal.append(Said(text=line, turn=1))
        elif section == "Next steps" and re.match(r"\d+\. ", line):
            numbered.append(Said(text=line.split(". ", 1)[1]))

    def of(section: str, label: str = "") -> list[Said]:
        return lists.get(f"{section}/{label}", [])

    said = []
    for s in of("Goal", labels.SAID):
        m = _LEAD.match(s.text)
        said.append(Said(text=s.text[m.end() :] if m else s.text, turn=int(m.group(1)) if m else None))
    todos = [t for name in (labels.DONE, labels.OPEN) for s in of("Progress", name) for t in boxes("- " + s.text)]
    todos = [
        Todo(t.text.removesuffix(" (in progress)"), "active" if t.text.endswith(" (in progress)") else t.status)
        for t in todos
    ]
    return State(
        goal=tuple(goal),
        rules=tuple(rules),
        said=tuple(said),
        files=files,
        checks=tuple(
            c for name in (labels.CHECKS, labels.COMMANDS) for s in of("Facts", name) for c in _check(s.text, name)
        ),
        commits=tuple(_commit(s.text) for s in of("Progress", labels.COMMITS)),
        errors=tuple(
            _error(s.text, name == labels.RESOLVED)
            for name in (labels.ERRORS, labels.RESOLVED)
            for s in of("Facts", name)
        ),
        todos=tuple(todos),
        findings=tuple(s for h, name in _TOLD for s in of(h, name)),
        decisions=(*of("Decisions"), *of("Decisions", labels.TOLD)),
        dead_ends=tuple(of("Decisions", labels.DEAD_ENDS)),
        values=tuple(of("Facts", labels.VALUES)),
        next=tuple(
            Said(text=s.text[m.end() :], turn=int(m.group(1)) if m.group(1) else None)
            for s in numbered
            if (m := _ANNOUNCED.match(s.text))
        ),
        foreign=tuple(Foreign(s.text, "") for s in of("Facts", labels.FOREIGN)),
        root=root,
        names=names,
        last=last,
        folded=last,
    )


_LABELS = frozenset(
    (
        labels.RULES, labels.CANCELLED, labels.CHANGED, labels.SAID, labels.DONE, labels.OPEN, labels.DROPPED,
        labels.COMMITS, labels.CHECKS, labels.COMMANDS, labels.ERRORS, labels.RESOLVED, labels.VALUES, labels.FINDINGS,
        labels.FOREIGN, labels.DEAD_ENDS, labels.TOLD,
    )
)  # fmt: skip


def _rule(item: str, label: str) -> Rule:
    newer = ""
    if label == labels.CHANGED:
        item, _, newer = item.partition(" – newer: ")
    m = _TURN.search(item) or _BY_ONLY.search(item)
    turn = by = None
    if m:
        item = item[: m.start()]
        groups = [int(g) if g else None for g in m.groups()]
        turn, by = (groups + [None])[:2] if len(groups) > 1 else (None, groups[0])
    if label == labels.RULES:
        return Rule(text=item, turn=turn)
    text = item.removeprefix("cancelled: ").removeprefix("superseded: ")
    return Rule(
        text=text, turn=turn, standing="cancelled" if label == labels.CANCELLED else "changed", by=by, by_text=newer
    )


def _commit(text: str) -> Commit:
    made, _, subject = text.partition(" ")
    return Commit(made, subject)


def _check(text: str, label: str) -> list[Check]:
    m = _CHECK.match(text)
    if not m:
        return []
    status, command, told = m.groups()
    code = re.search(r"exit code (\d+)", told or "")
    word = ", ".join(t for t in (told or "").split(", ") if not t.startswith(("exit code", "a newer run of")))
    covered = re.search(r"a newer run of `([^`]+)` passed", told or "")
    return [
        Check(
            command=command,
            status={"passed": "passed", "failed": "failed"}.get(status, "unknown"),  # type: ignore[arg-type]
            word=word,
            code=int(code.group(1)) if code else None,
            check=label == labels.CHECKS,
            covered=covered.group(1) if covered else "",
        )
    ]


def _error(text: str, resolved: bool) -> Error:
    m = _ERROR.match(text)
    assert m is not None
    return Error(text=m.group(1), place=m.group(2) or "", resolved=resolved)


# ---------------------------------------------------------------------------------------------------- theirs
def _theirs(text: str) -> State:
    files: dict[str, FileUse] = {}
    for tag, use in ((_READ_TAG, "read"), (_MODIFIED_TAG, "modified")):
        for m in tag.finditer(text):
            files.update({p.strip(" -*`"): use for p in m.group(1).split("\n") if p.strip()})  # type: ignore[misc]
    text = _MODIFIED_TAG.sub("", _READ_TAG.sub("", text))
    found: dict[str, list[Said]] = {}
    rules: list[Rule] = []
    typed: list[str] = []
    coming: list[Said] = []
    kind, inner, depth = "", "", 0
    taken = 0
    for line in text.split("\n"):
        head = _HEAD.match(line)
        if head or (line.rstrip().endswith((":", "：")) and len(line) < 60 and not line.startswith((" ", "-", "*"))):
            name = next((g for g in head.groups() if g), "") if head else line.strip()
            kind, inner = next((k for k, p in _KINDS if p.search(name)), "facts"), ""
            continue
        indent = len(line) - len(line.lstrip())
        nested = _NESTED.match(line)
        if nested and any(p.search(nested.group(1)) for _, p in _KINDS):  # "- Constraints:" with a list below
            inner, depth = next(k for k, p in _KINDS if p.search(nested.group(1))), indent
            continue
        if inner and line.strip() and indent <= depth:
            inner = ""
        item = re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", line).strip()
        if not item or item.startswith("<") or item.lower().strip("().") in ("none", "n/a", "keine", "无", "なし"):
            continue
        sort = inner or kind
        named = _FILE.match(item)
        if named and named.group(2).lower() in _FILE_USES:
            files[named.group(1)] = _FILE_USES[named.group(2).lower()]
            if named.group(3) == ")":
                continue
        words = _WORDS.match(item)
        if sort == "rules":
            gone = bool(words and _WITHDRAWN.search(words.group(2)))
            text = one_line(words.group(1) if words else item, 600)
            rules.append(Rule(text=text, standing="cancelled" if gone else "active", cited=bool(words)))
        elif sort == "said":
            typed.append(words.group(1) if words else item)
        elif sort == "next":
            coming.append(Said(text=one_line(re.sub(r"^\[[ xX~-]\]\s*", "", item), 300)))
        elif sort == "goal" and taken < _CAP:
            item = _unquoted(item, typed)
            if item:
                found.setdefault(sort, []).append(Said(text=one_line(item, 300), weight=2.0))
                taken += 1
        elif sort in ("facts", "decisions", "dead", "done") and taken < _CAP:
            found.setdefault(sort, []).append(
                Said(text=one_line(re.sub(r"^\[[ xX~-]\]\s*", "", item), 300), weight=2.0)
            )
            taken += 1
    wished, said = read_wishes([(None, t, False) for t in dict.fromkeys(typed)], rules)
    return State(
        goal=tuple(found.get("goal", ())[:4]),
        rules=tuple(wished),
        said=tuple(said),
        files=files,
        findings=(*found.get("done", ()), *found.get("facts", ())),
        decisions=tuple(found.get("decisions", ())),
        dead_ends=tuple(found.get("dead", ())),
        next=tuple(coming[:8]),  # stands until an answer tells what comes next
    )


def _unquoted(item: str, typed: list[str]) -> str:
    """A line of the goal without the rules it quotes; those are the user's own words and go to ``typed``."""
    for quote in QUOTED.findall(item):
        inner = quote[1:-1].strip()
        if is_rule(Sentence(inner)):
            typed.append(inner)
            item = item.replace(quote, " ")
    return item.strip()
