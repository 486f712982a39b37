"""A conversation into its :class:`State`: one pass over the messages, in order.

Input: messages (the history of the session file where it holds more than the next request), what of them stays as it
is, and the state an earlier summary told. Rules and cancellations come from what the user typed and from nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from monitor.compaction import former, prose, shell, wishes
from monitor.compaction.actions import Action, action, boxes
from monitor.compaction.ledger import Ledger
from monitor.compaction.places import relative
from monitor.compaction.rules import Rule, Said
from monitor.compaction.sentences import one_line, sentences, shortened
from monitor.compaction.state import Commit, State
from monitor.conversation.jsonio import ident
from monitor.conversation.model import Conversation, Message, Opaque, Text

_HASH = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])")
_TAGS = re.compile(
    r"<(system-reminder|environment_context|command-message|command-name|local-command-stdout)>.*?</\1>", re.S
)
_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.S)
#: identifiers, qualified names, hosts with ports, addresses, tickets
_NAME = re.compile(
    r"https?://[^\s\"'<>)\]，。]+|\b[\w-]+(?:\.[\w-]+)+:\d{2,5}\b|\b[A-Za-z_]\w*(?:::|"
    r"\.)[A-Za-z_]\w*\(?\)?|\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|"
    r"\b(?:[A-Z][a-z0-9]+){2,}\b|\b[A-Z][A-Z0-9]+(?:[_-][A-Z0-9]+)+\b|\b[a-z]+(?:-[a-z0-9]+)+\b"
)
#: calls every program makes, which name nothing
_COMMON = re.compile(
    r"\.(?:append|extend|get|items|keys|values|join|split|strip|format|push|map|filter|log|length|toString|forEach|size|add)$"
)
_NAMES = 80
_PLAN_LASTS = 3  # user messages a plan is carried on while it is worked on
_EDITS = ("edit", "write", "delete", "move")


def collect(conv: Conversation, kept: Sequence[Message] = ()) -> State:
    """The state of ``conv``; ``kept``: the messages that will stay as they are."""
    return collect_messages(conv, timeline(conv), kept)


def collect_messages(conv: Conversation, line: Sequence[Message], kept: Sequence[Message]) -> State:
    """The state told by ``line``, messages of ``conv`` without system prompts."""
    stays = {id(m.raw) for m in kept}
    before = State()
    covered = False
    for m in line:
        if is_former(m):
            # told again by the messages themselves where the file still holds them
            before = former.merge(before, former.read(former.text_of(m)), covered)
        elif m.typed:
            covered = True
    offset = before.last if not _numbered_from_start(line) else 0
    ledger = Ledger(marks_errors=conv.provider in ("claude-code", "pi", "anthropic"))
    _seed(ledger, before)
    walk = _Walk(ledger, before, offset, stays)
    walk.run([m for m in line if not is_former(m)])
    return walk.state(conv)


def timeline(conv: Conversation) -> list[Message]:
    """All messages that led to the present context, each once, former summaries where they were made."""
    history = conv.history()
    if history is conv.messages or not conv.handler.jsonl:
        return [m for m in conv.messages if m.role != "system"]
    handler = conv.handler
    id_key, parent_key = getattr(handler, "id_key", ""), getattr(handler, "parent_key", "")
    if id_key and conv.messages:
        history = _ancestors(conv, history, id_key, parent_key)
    return _once(_told_first([m for m in history if m.role != "system" and m.mark not in ("sidechain", "skipped")]))


def _told_first(messages: list[Message]) -> list[Message]:
    """Pi writes a compaction behind the entries it keeps: its summary belongs before the first of them."""
    out = list(messages)
    for m in messages:
        first = m.raw.get("firstKeptEntryId") if isinstance(m.raw, dict) else None
        if first is None:
            continue
        at = next((i for i, x in enumerate(out) if x.raw.get("id") == first), None)
        here = out.index(m)
        if at is not None and at < here:
            out.insert(at, out.pop(here))
    return out


def _ancestors(conv: Conversation, history: Sequence[Message], id_key: str, parent_key: str) -> tuple[Message, ...]:
    """Those on the way from the last message back to the first, across former compactions."""
    by_id = {x.obj[id_key]: x.obj for x in conv.lines if x.obj is not None and isinstance(x.obj.get(id_key), str)}
    chain: set[object] = set()
    record: dict[str, object] | None = conv.messages[-1].raw
    while record is not None and ident(record.get(id_key)) not in chain:
        chain.add(ident(record.get(id_key)))
        up = record.get(parent_key) or record.get("logicalParentUuid")
        record = by_id.get(up) if isinstance(up, str) else None
    seen = {ident(m.raw.get(id_key)) for m in conv.messages}
    chain |= seen
    groups = {m.group for m in history if m.group and ident(m.raw.get(id_key)) in chain}
    calls = {c.id for m in history if m.group in groups or ident(m.raw.get(id_key)) in chain for c in m.calls}
    return tuple(
        m
        for m in history
        if id_key not in m.raw
        or ident(m.raw.get(id_key)) in chain
        or m.group in groups
        or any(r.call_id in calls for r in m.results)
    )


def _once(messages: list[Message]) -> list[Message]:
    """Without the copies a compaction wrote again behind its summary."""
    out: list[Message] = []
    seen: set[object] = set()
    copying = False
    for m in messages:
        if is_former(m):
            copying = True
            out.append(m)
            continue
        key = (m.role, m.text, tuple(c.arguments_text for c in m.calls), tuple(r.text for r in m.results))
        if copying and key in seen:
            continue
        copying = False
        seen.add(key)
        out.append(m)
    return out


def is_former(m: Message) -> bool:
    """True for the summary of an earlier compaction, a readable compaction block of a provider included."""
    return m.is_summary or (m.has_opaque and any(isinstance(p, Opaque) and p.text for p in m.parts))


def _numbered_from_start(line: Sequence[Message]) -> bool:
    """True where user messages stand before the first former summary, so that counting starts at 1."""
    for m in line:
        if is_former(m):
            return False
        if m.typed:
            return True
    return True


def _seed(ledger: Ledger, before: State) -> None:
    ledger.files = dict(before.files)
    ledger.checks = {c.command: c for c in before.checks}
    ledger.commits = {c.hash: c for c in before.commits}
    ledger.errors = {e.text: e for e in before.errors}
    ledger.listed = list(before.todos)
    ledger.values = {v.text: v for v in before.values}
    ledger.foreign = list(before.foreign)


class _Walk:
    """The pass over the messages."""

    def __init__(self, ledger: Ledger, before: State, offset: int, stays: set[int]) -> None:
        self.ledger, self.before, self.stays = ledger, before, stays
        self.turn = offset
        self.folded = offset
        self.typed: list[tuple[int | None, str, bool]] = []
        self.decisions = list(before.decisions)
        self.dead_ends = list(before.dead_ends)
        self.findings = list(before.findings)
        self.next: list[Said] = list(before.next)
        self.worked = False  # since these steps were announced
        self.pending: dict[str, Action] = {}
        self.said_hashes: list[str] = []
        self.last_role = ""
        self.names: Counter[str] = Counter(dict.fromkeys(before.names, 3))

    def run(self, messages: Sequence[Message]) -> None:
        for at, m in enumerate(messages):
            kept = id(m.raw) in self.stays
            if m.typed:
                self.turn += 1
                if not kept:
                    self.folded = self.turn
                self.typed.append((self.turn, user_text(m), kept))
                self._mentions(m.text)
                self.ledger.told(boxes(user_text(m)))
                self.last_role = "user"
            if m.role == "assistant":
                self.last_role = "assistant"
                self._assistant(messages, at, kept)
            for result in m.results:
                act = self.pending.pop(result.call_id, None)
                if act is not None:
                    self.ledger.result(act, result, self.turn or None, kept)

    def _assistant(self, messages: Sequence[Message], at: int, kept: bool) -> None:
        m = messages[at]
        acts = [action(c) for c in m.calls]
        following = acts or self._answer_goes_on(messages, at)
        text = m.text
        if text.strip():
            final = not following
            cause = self.ledger.failed and any(
                a.op in _EDITS
                or (a.op == "shell" and (shell.parse(a.command).written or shell.parse(a.command).edited))
                for a in following
            )
            for kind, said in prose.read(text, self.turn or None, kept, final=final, cause=cause, acts=bool(following)):
                {"decision": self.decisions, "dead_end": self.dead_ends, "next": self.next}.get(
                    kind, self.findings
                ).append(said)
            if final:
                plan = [Said(text=t, turn=self.turn or None, kept=kept) for t in prose.plan(text)]
                # an answer that only says something leaves the plan as it was; where no list of tasks is kept, work
                # on one step does not end the others
                if plan or (self.worked and (self.ledger.listed or self._outlived())):
                    self.next, self.worked = plan, False
            if not kept or final:
                self.ledger.told(boxes(text))
            self._mentions(text)
        for call, act in zip(m.calls, acts):
            self.pending[call.id] = act
            self.worked = self.worked or act.op in _EDITS or (act.op == "shell" and _acts(act.command))
            for told, weight in ((act.command or act.target, 2), (act.text[:2_000], 1)):
                for name in set(_NAME.findall(told)):
                    self.names[name] += weight

    def _outlived(self) -> bool:
        """True where the plan was one step, or is older than a few messages of the user."""
        told = " ".join(s.text for s in self.next)
        several = len(self.next) > 1 or len(re.findall(r"[,;，；、]", told)) > 0
        return not several or any(self.turn - (s.turn or self.turn) > _PLAN_LASTS for s in self.next)

    def _answer_goes_on(self, messages: Sequence[Message], at: int) -> list[Action]:
        """The calls of the same answer where each block or item is a message of its own."""
        out: list[Action] = []
        for m in messages[at + 1 :]:
            if m.role != "assistant" or m.opaque:
                break
            if m.text.strip() and not (m.group and m.group == messages[at].group):
                break  # another answer begins
            out += [action(c) for c in m.calls]
        return out

    def _mentions(self, text: str) -> None:
        text = shortened(text)
        self.said_hashes += _HASH.findall(text)
        for name in _NAME.findall(text):
            self.names[name] += 3

    def _goal(self, said: Sequence[Said], first: int | None) -> tuple[Said, ...]:
        """What the first message asks for; its first sentence even where it reads like a rule."""
        if not first:
            return ()
        out = [s for s in said if s.turn == first]
        opening = sentences(self.typed[0][1])[:1]
        if opening and all(s.text != opening[0].text for s in out):
            _, _, kept = self.typed[0]
            if not out or len(" ".join(s.text for s in out)) < 60:
                out.insert(0, Said(text=opening[0].text, turn=first, kept=kept))
        return tuple(out)

    def state(self, conv: Conversation) -> State:
        """What was found, as plain data."""
        b, led = self.before, self.ledger
        led.close()
        rules, said = wishes.read(self.typed, b.rules)
        known = set(led.commits)
        for h in dict.fromkeys(self.said_hashes):
            if h in led.hashes and not any(k.startswith(h) or h.startswith(k) for k in known):
                led.commits[h] = Commit(h, made=False)
        first = 1 if self.typed and self.typed[0][0] == 1 else None
        goal = b.goal or self._goal(said, first) or tuple(said[:3])
        root, files = relative(led.files, conv)
        return State(
            goal=goal,
            rules=tuple(rules),
            said=(*b.said, *said),
            files=files,
            checks=tuple(led.checks.values()),
            commits=tuple(led.commits.values()),
            errors=tuple(led.errors.values()),
            todos=tuple(led.todos()),
            findings=newest(self.findings),
            decisions=newest(self.decisions),
            dead_ends=newest(self.dead_ends),
            values=tuple(led.values.values()),
            next=tuple(self.next),
            foreign=tuple(led.foreign),
            names=_names(self.names),
            root=root or b.root,
            last=self.turn,
            folded=self.folded,
            unanswered=self.last_role == "user",
            newest=self.typed[-1][1] if self.typed and self.last_role == "user" else "",
        )


def _acts(command: str) -> bool:
    """True for a command that does more than look."""
    return any(p.use not in ("look", "idle") for p in shell.parse(command).parts)


def _names(names: Counter[str]) -> tuple[str, ...]:
    """The names used most; of pages that differ in their query only, one."""
    out: dict[str, str] = {}
    for name, k in names.most_common(_NAMES):
        name = name if name.endswith("()") else name.removesuffix("(")
        if k >= 2 and len(name) > 4 and not _COMMON.search(name):
            out.setdefault(re.split(r"[?#]", name)[0] if "://" in name else name, name)
    return tuple(out.values())


def newest(items: Sequence[Said]) -> tuple[Said, ...]:
    """What was said several times only where it was said last."""
    last = {s.text: s for s in items}
    return tuple(s for s in items if last[s.text] is s)


def user_text(m: Message) -> str:
    """What the user typed in a message: without reminders and wrappers of the client, arguments of a command kept."""
    text = "\n".join(p.text for p in m.parts if isinstance(p, Text))
    if "<" not in text:
        return text
    args = _ARGS.search(text)
    if args and text.lstrip().startswith("<command-"):
        return args.group(1)
    return _TAGS.sub("", text)


def goal_text(state: State, most: int = 900) -> str:
    """The goal in the user's own words, on one line."""
    return one_line(" ".join(s.text for s in state.goal), most)


def texts(items: Iterable[Said | Rule]) -> list[str]:
    """Only the words."""
    return [x.text for x in items]


__all__ = ["collect", "goal_text", "is_former", "relative", "texts", "timeline", "user_text"]
