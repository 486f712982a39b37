"""The proof of a compaction: what of the old conversation the new one can still answer, and what was invented.

The questions are taken from the old conversation by the same reading that makes the summary: every rule of the user,
file, check, commit, error, task, decision, value. Each is asked of the new conversation alone, as its next reader would
see it. Anything in the summary that the source does not contain is listed as invented.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from monitor.compaction.collect import collect, collect_messages, is_former, user_text
from monitor.compaction.redact import Redactor, texts_of
from monitor.compaction.render import from_object
from monitor.compaction.sentences import one_line, sentences, shortened
from monitor.compaction.state import State
from monitor.conversation.jsonio import dumps
from monitor.conversation.model import Conversation

CLASSES = (
    "goal", "constraints", "files_modified", "files_created", "files_read", "checks", "commits", "errors_open",
    "errors_resolved", "todos_open", "todos_done", "facts", "decisions", "next",
)  # fmt: skip
_EXT = (
    r"py|tsx?|jsx?|vue|go|rs|sql|md|jsonl?|ya?ml|toml|env|sh|css|html|txt|cfg|ini|lock|csv|parquet|java|kt|rb|php|c|h|"
    r"cpp|hpp|mod|pdf|log"
)
_PATH = re.compile(rf"(?<![\w/.@:-])(?:[\w.@~-]+/)*[\w.@-]+\.(?:{_EXT})(?![\w/])", re.A)
_HASH = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])", re.A)
_NUMBER = re.compile(r"(?<![\w.])\d[\d\u00a0\u202f., ]*\d(?![\w])", re.A)
_ADDRESS = re.compile(r"https?://[^\s\"'<>)\]，。]+")
_FILE = re.compile(r"(?<![\w@:/.-])/?(?:[\w.@~-]+/)+[\w.@-]*\w\.[A-Za-z]\w{0,7}(?![\w/])")
_READ = 4_000  # characters of the arguments of a call that are looked at for paths
#: what the program itself writes into a summary
_OWN = re.compile(r"^\W*(?:Compacted|Original): .*$|\buser message \d+\b", re.M)


class Retention(msgspec.Struct, frozen=True):
    """One class: how many were kept of how many, and the words of those lost."""

    kept: int
    total: int
    lost: tuple[str, ...] = ()


class Independent(msgspec.Struct, frozen=True):
    """Things counted without the reading that writes the summary; each looked for as it stands."""

    user_sentences: Retention  # every sentence the user typed
    paths: Retention  # every path in an argument of a tool call
    values: Retention  # hashes, addresses and numbers of three digits and more the user or the assistant wrote


class Probe(msgspec.Struct, frozen=True):
    """A question to the new conversation and whether it answers it."""

    kind: str
    question: str
    answered: bool


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the check."""

    retention: dict[str, Retention]
    invented: tuple[str, ...]
    probe: tuple[Probe, ...]
    independent: Independent | None = None

    @property
    def share(self) -> float | None:
        """Kept by total over all classes."""
        total = sum(r.total for r in self.retention.values())
        return round(sum(r.kept for r in self.retention.values()) / total, 4) if total else None


def prove(
    source: Conversation, output: Conversation, summary: str, redactor: Redactor, before: State | None = None
) -> Proof:
    """Compare the conversation before and after. ``summary``: the text that stands for what was folded."""
    whole = before if before is not None else collect(source)
    after = collect_messages(output, [m for m in output.messages if m.role != "system"], ())
    text = context_text(output)
    proof = compare(whole, after, text, redactor, invented(summary, source))
    return msgspec.structs.replace(proof, independent=independent(source, text, redactor))


def independent(source: Conversation, text: str, redactor: Redactor) -> Independent:
    """What of the plain words, paths and values of the old conversation the new one (``text``) still holds."""
    messages = source.messages if source.history() is source.messages else (*source.history(), *source.messages)
    hay, squeezed = _flat(text), _digits(text)
    typed: dict[str, None] = {}
    paths: dict[str, None] = {}
    told: dict[str, None] = {}  # dicts keep the order and each thing once
    for m in messages:
        if m.typed:
            typed |= dict.fromkeys(s.text for s in sentences(user_text(m)))
        for call in m.calls:
            paths |= dict.fromkeys(_FILE.findall(call.arguments_text[:_READ].replace("\\n", "\n")))
        if m.typed or m.role == "assistant":
            said = shortened(m.text)
            told |= dict.fromkeys([*_HASH.findall(said), *_ADDRESS.findall(said)])
            told |= dict.fromkeys(n.strip(" .,") for n in _NUMBER.findall(said) if len(_digits(n)) > 2)

    def holds(value: str) -> bool:
        return value.casefold() in hay or (value[:1].isdigit() and _digits(value) in squeezed)

    def count(items: Iterable[str], kept: Callable[[str], bool]) -> Retention:
        listed = [redactor(x) for x in items]
        lost = [x for x in listed if not kept(x)]
        return Retention(len(listed) - len(lost), len(listed), tuple(one_line(x, 240) for x in lost))

    return Independent(
        count(typed, lambda s: all(_flat(x) in hay for x in _pieces(s, hay))),
        count(paths, lambda p: _path_told(p, text)),
        count(told, holds),
    )


def compare(before: State, after: State, text: str, redactor: Redactor, made_up: Sequence[str] = ()) -> Proof:
    """Ask every question of the old state; ``text`` = all the new conversation says."""
    hay = _flat(text)
    probes: list[Probe] = []

    def ask(kind: str, question: str, answered: bool) -> None:
        probes.append(Probe(kind, one_line(redactor(question), 240), answered))

    def told(words: str) -> bool:
        return _flat(redactor(words)) in hay

    for s in before.goal:
        if not s.by:
            ask("goal", s.text, told(s.text))
    for r in before.active_rules():
        ask("constraints", r.text, told(r.text))
    for kind, uses in (("files_modified", ("modified",)), ("files_created", ("created",)), ("files_read", ("read",))):
        for path in before.paths(*uses):  # type: ignore[arg-type]
            ask(kind, path, _path_told(path, text))
    known = {c.command: c.status for c in after.checks}
    for c in before.checks:
        if c.check:
            ask(
                "checks",
                f"{c.command}: {c.status}",
                known.get(redactor(one_line(c.command, 220)), known.get(c.command)) == c.status,
            )
    for commit in before.commits:
        ask("commits", commit.hash, commit.hash in text)
    for e in before.errors:
        ask("errors_resolved" if e.resolved else "errors_open", e.text, told(one_line(e.text, 300)))
    for t in before.todos:
        if t.status != "cancelled":
            ask("todos_done" if t.status == "done" else "todos_open", t.text, told(t.text))
    for kind, found in (
        ("facts", (*before.values, *before.findings)),
        ("decisions", (*before.decisions, *before.dead_ends)),
    ):
        for said in found:
            ask(kind, said.text, told(one_line(said.text, 500)))
    for s in before.next:
        ask("next", s.text, told(one_line(s.text, 300)))
    return Proof(retention=_by_class(probes), invented=tuple(made_up), probe=tuple(probes))


def _pieces(sentence: str, hay: str) -> list[str]:
    """The sentence, or its clauses where a part of it was taken back and the others stand for themselves."""
    return [sentence] if _flat(sentence) in hay else [x for x in re.split(r"[,;:，；：]\s*", sentence) if len(x) > 3]


def _by_class(probes: Iterable[Probe]) -> dict[str, Retention]:
    out = {}
    listed = list(probes)
    for kind in CLASSES:
        mine = [p for p in listed if p.kind == kind]
        out[kind] = Retention(
            sum(p.answered for p in mine), len(mine), tuple(p.question for p in mine if not p.answered)
        )
    return out


def context_text(conv: Conversation) -> str:
    """All that the next request says."""
    plain = [from_object(m.text) for m in conv.messages if is_former(m) and '"next_steps"' in m.text]  # without escapes
    return "\n".join([*(m.text for m in conv.system), *texts_of(conv.messages), *plain])


def _flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).replace("\u00a0", " ").split()).casefold()


def _path_told(path: str, text: str) -> bool:
    parts = path.replace("\\", "/").lstrip("./").split("/")
    return path in text or (len(parts) > 1 and "/".join(parts[-2:]) in text)


def invented(summary: str, source: Conversation) -> list[str]:
    """Paths, hashes and numbers of three digits and more in ``summary`` that the source does not contain."""
    body = _OWN.sub(" ", summary)
    wanted = list(dict.fromkeys(_PATH.findall(body)))
    hashes = list(dict.fromkeys(_HASH.findall(body)))
    numbers = list(dict.fromkeys(n.strip(" .,") for n in _NUMBER.findall(body)))
    if not (wanted or hashes or numbers):
        return []
    hay = _source_text(source)
    low = hay.casefold()
    digits = _digits(hay)
    out = [p for p in wanted if p.casefold() not in low and p.lstrip("./").casefold() not in low]
    out += [h for h in hashes if h not in low]
    for number in numbers:
        if _digits(number) in digits:
            continue
        out += [
            n
            for n in re.split(r"[ ,\u00a0\u202f]+", number)
            if len(_digits(n)) >= 3 and _digits(n) not in digits and not any(n in h for h in hashes)
        ]
    return out


def _source_text(conv: Conversation) -> str:
    messages = conv.messages if conv.history() is conv.messages else (*conv.history(), *conv.messages)
    told = [*(m.text for m in conv.system), *texts_of(messages), dumps(conv.header)]
    told += [
        dumps(x.obj)
        for x in conv.lines
        if x.obj is not None and not isinstance(x.obj.get("message"), dict) and len(x.raw) < 20_000
    ][:200]
    told += [m.text for m in messages if is_former(m)]
    return "\n".join(told)


def _digits(text: str) -> str:
    return re.sub(r"[\s\u00a0\u202f.,]", "", text)


def plain(proof: Proof) -> dict[str, Any]:
    """The proof as JSON values, as ``ctxmon compact --report json`` has it."""
    return {
        "retention": {k: {"kept": r.kept, "total": r.total, "lost": list(r.lost)} for k, r in proof.retention.items()},
        "invented": list(proof.invented),
        "independent": {
            k: {"kept": r.kept, "total": r.total, "lost": list(r.lost)}
            for k, r in (msgspec.structs.asdict(proof.independent).items() if proof.independent else ())
        },
        "probe": [{"class": p.kind, "question": p.question, "answered": p.answered} for p in proof.probe],
    }
