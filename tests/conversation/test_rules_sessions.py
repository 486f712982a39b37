"""Gemini turns and session files: a small break gives exactly the code that names it, at the right place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from monitor.conversation import from_messages, load
from monitor.conversation.rules import PROVIDERS, Violation, check
from monitor.conversation.rules.hints import HINTS
from tests.conversation import build
from tests.conversation.test_rules import ANTHROPIC, CHAT, ITEMS, Messages, anthropic, chat, codes, responses


def gemini(change: Callable[[dict[str, Any]], Any], warnings: bool = False) -> list[Violation]:
    body = build.gemini()
    change(body)
    return check(from_messages(body, "gemini"), warnings=warnings)


TURNS: list[tuple[str, Callable[[dict[str, Any]], Any], list[str]]] = [
    (
        "begins with an answer",
        lambda b: b["contents"].__delitem__(slice(0, 2)),
        ["G1-first-not-user", "G2-orphan-response"],
    ),
    ("an answer lost", lambda b: b["contents"][2]["parts"].pop(), ["G2-response-count"]),
    ("no answers", lambda b: b["contents"].pop(2), ["G2-unanswered-call"]),
    ("the end cut off", lambda b: b["contents"].__delitem__(slice(2, None)), ["G2-open-call"]),
    (
        "a wrong name",
        lambda b: b["contents"][2]["parts"][1]["functionResponse"].update(name="lint"),
        ["G2-response-mismatch"],
    ),
    ("an answer of the model", lambda b: b["contents"][2].update(role="model"), ["G2-response-role"]),
    ("a call of the user", lambda b: b["contents"][1].update(role="user"), ["G2-call-role"]),
    (
        "two turns of the model",
        lambda b: b["contents"].insert(1, {"role": "model", "parts": [{"text": "x"}]}),
        ["G3-call-position"],
    ),
    ("an empty part", lambda b: b["contents"][3]["parts"].append({"text": ""}), ["G4-empty-parts"]),
    ("no parts", lambda b: b["contents"][3].update(parts=[]), ["G4-empty-parts"]),
    ("a system role", lambda b: b["contents"].append({"role": "system", "parts": [{"text": "x"}]}), ["G6-system-role"]),
    ("an old signature lost", lambda b: b["contents"][1]["parts"][0].pop("thoughtSignature"), []),
    (
        "the signature of the current turn lost",
        lambda b: [b["contents"].__delitem__(slice(3, None)), b["contents"][1]["parts"][0].pop("thoughtSignature")],
        ["G5-thought-signature"],
    ),
]


@pytest.mark.parametrize(("change", "expected"), [c[1:] for c in TURNS], ids=[c[0] for c in TURNS])
def test_gemini(change: Callable[[dict[str, Any]], Any], expected: list[str]) -> None:
    assert codes(gemini(change)) == expected


def test_gemini_ending_on_the_model_is_a_convention() -> None:
    assert codes(gemini(lambda b: b["contents"].pop(), warnings=True)) == ["G1-ends-model"]
    assert gemini(lambda b: b["contents"].pop()) == []


def session(name: str, change: Callable[[Messages], Any]) -> list[Violation]:
    rows = {"claude-code": build.claude_code, "codex": build.codex, "pi": build.pi}[name]()
    change(rows)
    return check(load(build.jsonl(rows), name))


def boundary(**more: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": "compact_boundary", "uuid": "b1", "parentUuid": None, **more}


SESSIONS: list[tuple[str, str, Callable[[Messages], Any], list[str]]] = [
    ("claude-code", "a parent lost", lambda r: r.pop(7), ["K-parent-missing"]),
    ("claude-code", "a line twice", lambda r: r.insert(8, r[7]), ["K-duplicate-uuid"]),
    ("claude-code", "a wrong role", lambda r: r[7]["message"].update(role="user"), ["K-role-mismatch"]),
    ("claude-code", "a boundary without summary", lambda r: r.insert(1, boundary()), ["K-boundary-summary"]),
    (
        "claude-code",
        "a boundary with a parent",
        lambda r: r.extend([boundary(parentUuid="u9"), build.cc("u20", "b1", "user", "s", isCompactSummary=True)]),
        ["K-boundary-parent"],
    ),
    ("claude-code", "a result lost", lambda r: [r.pop(6), r[6].update(parentUuid="u5")], ["A3-unanswered-call"]),
    ("claude-code", "no messages", lambda r: r.__delitem__(slice(1, None)), ["empty-conversation"]),
    ("codex", "no header", lambda r: r.pop(0), ["X-no-session-meta"]),
    ("codex", "a line without payload", lambda r: r.append({"type": "event_msg"}), ["X-no-payload"]),
    (
        "codex",
        "an empty compacted record",
        lambda r: r.append(build.line("compacted", {"message": ""})),
        ["X-compacted-empty"],
    ),
    ("codex", "an output lost", lambda r: r.pop(7), ["R2-unanswered-call"]),
    ("pi", "no header", lambda r: r.pop(0), ["P-no-header"]),
    ("pi", "an entry without id", lambda r: r[8].pop("id"), ["P-no-id"]),
    ("pi", "an id twice", lambda r: r.append({**r[8], "parentId": "a6"}), ["P-duplicate-id"]),
    ("pi", "a parent lost", lambda r: r[7].update(parentId="zz"), ["P-parent-missing"]),
    ("pi", "a result lost", lambda r: [r.pop(5), r[5].update(parentId="a3")], ["P2-unanswered-call"]),
    (
        "pi",
        "a call without id, and the model goes on",
        lambda r: [r[3]["message"]["content"][-1].pop("id"), r.pop(5), r[5].update(parentId="a3")],
        ["P-bad-call-id", "P2-unanswered-call"],
    ),
    ("pi", "the end cut off", lambda r: r.__delitem__(slice(4, None)), ["P2-open-call", "P2-open-call"]),
    (
        "pi",
        "a result twice",
        lambda r: [r.insert(6, {**r[5], "id": "a45", "parentId": "a4"}), r[7].update(parentId="a45")],
        ["P2-double-answer"],
    ),
    (
        "pi",
        "a result of nothing",
        lambda r: r.append(build.entry("a8", "a7", build.answer("t9", "x"))),
        ["P1-orphan-result"],
    ),
    (
        "pi",
        "a compaction that keeps an unknown entry",
        lambda r: r.append(
            {"type": "compaction", "id": "c", "parentId": "a7", "summary": "s", "firstKeptEntryId": "zz"}
        ),
        ["P-first-kept-missing"],
    ),
    (
        "pi",
        "a compaction without summary",
        lambda r: r.append({"type": "compaction", "id": "c", "parentId": "a7", "firstKeptEntryId": "a6"}),
        ["P-compaction-empty"],
    ),
    ("pi", "an empty answer", lambda r: r[8]["message"].update(content=[]), ["P-empty-content"]),
    (
        "pi",
        "an id twice among calls",
        lambda r: r[8]["message"].update(content=[build.call("t1")]),
        ["P-duplicate-call-id", "P2-open-call"],
    ),
]


@pytest.mark.parametrize(
    ("name", "change", "expected"), [(c[0], *c[2:]) for c in SESSIONS], ids=[c[1] for c in SESSIONS]
)
def test_sessions(name: str, change: Callable[[Messages], Any], expected: list[str]) -> None:
    assert codes(session(name, change)) == expected


@pytest.mark.parametrize(
    ("name", "code"), [("claude-code", "K-bad-line"), ("codex", "X-bad-line"), ("pi", "P-bad-line")]
)
def test_torn_lines_are_named(name: str, code: str) -> None:
    found = check(load(build.FILES[name] + b'{"type": "assi'))
    assert [(v.code, v.where) for v in found] == [(code, f"line {len(build.FILES[name].splitlines()) + 1}")]


def test_every_violation_says_what_to_do() -> None:
    found = [v for c in CHAT for v in chat(c[1])] + [v for c in ITEMS for v in responses(c[1])]
    found += [v for c in ANTHROPIC for v in anthropic(c[1])] + [v for c in TURNS for v in gemini(c[1])]
    found += [v for c in SESSIONS for v in session(c[0], c[2])]
    assert all(v.repair and v.message and v.where for v in found)
    assert {v.code for v in found} <= set(HINTS)
    assert len(PROVIDERS) == 7
