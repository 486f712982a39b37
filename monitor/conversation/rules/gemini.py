"""Gemini contents: rules G1 to G6 (API documentation, refusals seen)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.conversation.rules.base import Entry, Findings, any_format


def pick(turn: Any, key: str) -> list[dict[str, Any]]:
    """The ``functionCall`` or ``functionResponse`` objects of a turn."""
    parts = turn.get("parts") if isinstance(turn, dict) else None
    found = [p.get(key) for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []
    return [f for f in found if isinstance(f, dict)]


def current_turn(turns: Sequence[Any]) -> int:
    """Index of the last turn in which the user spoke (not only a tool answered), -1 if there is none."""
    return max(
        (
            i
            for i, t in enumerate(turns)
            if isinstance(t, dict) and t.get("role") == "user" and not pick(t, "functionResponse")
        ),
        default=-1,
    )


def needs_signature(model: Any) -> bool:
    """Gemini 3 refuses calls of the current turn without a thoughtSignature."""
    return str(model or "").removeprefix("models/").startswith("gemini-3")


def check(entries: Sequence[Entry], out: Findings, *, model: Any = None) -> None:
    """Judge the turns of a conversation for ``model``."""
    if not entries:
        out.add("empty-conversation", "contents", "no contents")
        return
    spoke = current_turn([e.raw for e in entries])
    waiting: tuple[str, list[dict[str, Any]]] | None = None  # (place, calls of the turn before)
    for i, entry in enumerate(entries):
        raw, where = entry.raw, entry.where
        role = raw.get("role") if isinstance(raw, dict) else None
        if role not in ("user", "model", "function"):
            code = "G6-system-role" if role in ("system", "developer") else "role-unknown"
            out.add(code, where, f"role {role!r}")
            continue
        any_format(raw, where, out)
        answers = pick(raw, "functionResponse")
        if i == 0 and (role != "user" or answers):
            what = "contents start with a functionResponse" if role == "user" else "contents do not start with user"
            out.add("G1-first-not-user", where, what)
        _parts(raw, where, out)
        _answers(waiting, answers, role, where, out)
        calls = pick(raw, "functionCall")
        waiting = (where, calls) if calls else None
        if not calls:
            continue
        if role != "model":
            out.add("G2-call-role", where, "functionCall outside a model turn")
        before = entries[i - 1].raw if i else None
        if not isinstance(before, dict) or before.get("role") == "model":
            out.add("G3-call-position", where, "functionCall turn does not follow a user or functionResponse turn")
        if i > spoke and needs_signature(model):
            first = next(p for p in raw["parts"] if isinstance(p, dict) and "functionCall" in p)
            if not first.get("thoughtSignature"):
                out.add("G5-thought-signature", where, "functionCall of the current turn without thoughtSignature")
    if waiting is not None:
        out.add("G2-open-call", waiting[0], "functionCall at the end without a functionResponse")
    elif isinstance(entries[-1].raw, dict) and entries[-1].raw.get("role") == "model":
        out.warn("G1-ends-model", entries[-1].where, "last turn is the model's: a request needs a user turn after it")
    if not any(
        isinstance(e.raw, dict) and e.raw.get("role") == "user" and not pick(e.raw, "functionResponse") for e in entries
    ):
        out.add("no-user-message", "contents", "no user message at all")


def _parts(raw: dict[str, Any], where: str, out: Findings) -> None:
    parts = raw.get("parts")
    if not isinstance(parts, list) or not parts:
        out.add("G4-empty-parts", where, "no parts")
        return
    for k, part in enumerate(parts):
        if empty_part(part):
            out.add("G4-empty-parts", f"{where}.parts[{k}]", "part without content")


def empty_part(part: Any) -> bool:
    """True for a part that says nothing: no content, or white space without a signature."""
    if not isinstance(part, dict) or not set(part) - {"thought", "thoughtSignature"}:
        return True
    return "text" in part and not str(part["text"] or "").strip() and not part.get("thoughtSignature")


def _answers(
    waiting: tuple[str, list[dict[str, Any]]] | None,
    answers: list[dict[str, Any]],
    role: Any,
    where: str,
    out: Findings,
) -> None:
    if answers and role == "model":
        out.add("G2-response-role", where, "functionResponse in a model turn")
    if waiting is None:
        if answers:
            out.add("G2-orphan-response", where, "functionResponse without a functionCall in the turn before")
        return
    place, calls = waiting
    if not answers:
        out.add("G2-unanswered-call", place, f"{len(calls)} functionCall part(s) not answered by {where}")
    elif len(answers) != len(calls):
        told = f"{len(answers)} functionResponse part(s) for {len(calls)} call(s)"
        out.add("G2-response-count", where, told)
    else:
        for call, answer in zip(calls, answers):
            ids = call.get("id"), answer.get("id")
            if call.get("name") != answer.get("name") or (all(ids) and ids[0] != ids[1]):
                out.add("G2-response-mismatch", where, f"{answer.get('name')} answers {call.get('name')}")
                break
