"""OpenAI Responses items: rules R1 to R8 (API documentation, refusals seen). Also judges Codex histories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.conversation.blocks import CALL_KINDS, COMPACTION_KINDS, OUTPUT_KINDS
from monitor.conversation.formats.responses import item_type
from monitor.conversation.rules.base import Entry, Findings, any_format, image_count, readable

_ROLES = ("user", "assistant", "system", "developer")


class ResponsesRules:
    """Walks the items once; ``open`` are the calls still waiting for their outputs."""

    def __init__(self, entries: Sequence[Entry], out: Findings, store: Any, previous: Any) -> None:
        self.entries, self.out, self.store, self.previous = entries, out, store, previous
        self.calls: dict[str, tuple[str, str]] = {}  # call_id -> (place, kind)
        self.open: dict[str, str] = {}
        self.answered: set[str] = set()
        self.ids: dict[str, str] = {}
        self.later: dict[str, int] = {}  # call_id -> last index that calls it
        for i, entry in enumerate(entries):
            if isinstance(entry.raw, dict) and item_type(entry.raw) in CALL_KINDS:
                self.later[str(entry.raw.get("call_id"))] = i

    def run(self, name: str) -> None:
        """Judge all items; ``name`` of the list for what concerns all of it."""
        has_user = False
        for i, entry in enumerate(self.entries):
            raw, where = entry.raw, entry.where
            if not isinstance(raw, dict):
                self.out.add("role-unknown", where, "item is not an object")
                continue
            any_format(raw, where, self.out)
            self._id(raw, where)
            kind = item_type(raw)
            if not kind:
                self.out.add("role-unknown", where, "item without type and role")
            has_user = has_user or (kind == "message" and raw.get("role") == "user") or kind in COMPACTION_KINDS
            if kind in CALL_KINDS:
                self._call(raw, kind, where)
            elif kind in OUTPUT_KINDS:
                self._output(raw, kind, where, i)
            elif kind == "message":
                self._message(raw, where)
            elif kind == "reasoning":
                self._reasoning(raw, where, i)
            elif kind in COMPACTION_KINDS:
                self._compaction(raw, where)
            elif kind == "compaction_trigger" and i != len(self.entries) - 1:
                self.out.add("R-trigger-misplaced", where, "compaction_trigger is not the last item")
        for cid, where in self.open.items():
            self.out.add("R2-open-call", where, f"call {cid} has no output at the end")
        if not has_user and not self.previous:
            self.out.add("no-user-message", name, "no user message at all")

    def _id(self, raw: dict[str, Any], where: str) -> None:
        iid = raw.get("id")
        if isinstance(iid, str) and iid:
            if iid in self.ids and item_type(raw) != "local_shell_call_output":  # it repeats the id of its call
                self.out.add("R-duplicate-item-id", where, f"id {iid} already used at {self.ids[iid]}")
            self.ids[iid] = where

    def _goes_on(self, where: str) -> None:
        """The model or the user goes on: all calls must be answered by now."""
        for cid, owner in self.open.items():
            self.out.add("R2-unanswered-call", owner, f"{cid} has no output before {where}")
        self.open = {}

    def _call(self, raw: dict[str, Any], kind: str, where: str) -> None:
        cid = raw.get("call_id") or (raw.get("id") if kind == "local_shell_call" else None)
        if not isinstance(cid, str) or not cid:
            self.out.add("R-bad-call-id", where, "call without call_id")
            return
        if cid in self.calls:
            self.out.add("R-duplicate-call-id", where, f"call_id {cid} already used at {self.calls[cid][0]}")
        self.calls[cid] = (where, kind)
        self.open[cid] = where
        self.answered.discard(cid)
        if kind == "function_call":
            if not isinstance(raw.get("arguments"), str):
                self.out.add("R-arguments-not-string", where, "arguments must be a JSON string")
            if not raw.get("name"):
                self.out.add("R-no-name", where, "function_call without name")

    def _output(self, raw: dict[str, Any], kind: str, where: str, i: int) -> None:
        cid = str(raw.get("call_id") or (raw.get("id") if kind == "local_shell_call_output" else None))
        if cid not in self.calls:
            if self.previous and cid not in self.later:
                return  # the call is part of the answer that the service keeps
            code = "R1-output-before-call" if self.later.get(cid, -1) > i else "R1-orphan-output"
            self.out.add(code, where, f"output for {cid} without an earlier call")
            return
        if cid in self.answered:
            self.out.add("R2-double-output", where, f"second output for {cid}")
            return
        if self.calls[cid][1] != OUTPUT_KINDS[kind]:
            self.out.add("R1-wrong-kind", where, f"{kind} answers a {self.calls[cid][1]}")
        if cid not in self.open:
            self.out.add("R1-output-displaced", where, f"output for {cid} comes after the model went on")
        self.open.pop(cid, None)
        self.answered.add(cid)

    def _message(self, raw: dict[str, Any], where: str) -> None:
        out, role, content = self.out, raw.get("role"), raw.get("content")
        if role not in _ROLES:
            out.add("role-unknown", where, f"role {role!r}")
        if not readable(content) and not image_count(content):
            out.add("R-empty-content", where, f"empty {role} message")
        for k, block in enumerate(content if isinstance(content, list) else []):
            if not isinstance(block, dict):
                continue
            kind, place = block.get("type"), f"{where}.content[{k}]"
            if kind == "input_text" and role == "assistant":
                out.add("R5-input-text-in-output", place, "input_text inside an assistant message")
            if kind in ("output_text", "refusal") and role != "assistant":
                out.add("R-content-type", place, f"{kind} inside a {role} message")
            if kind == "input_image":
                if role != "user":
                    out.add("R8-image-role", place, "image outside a user message")
                if not block.get("image_url") and not block.get("file_id"):
                    out.add("R8-image-empty", place, "image without image_url or file_id")
        if role in ("user", "assistant"):
            self._goes_on(where)

    def _reasoning(self, raw: dict[str, Any], where: str, i: int) -> None:
        follows = None
        for entry in self.entries[i + 1 :]:
            if isinstance(entry.raw, dict) and item_type(entry.raw) != "reasoning":
                follows = entry.raw
                break
        kind = item_type(follows) if follows is not None else ""
        loose = kind in OUTPUT_KINDS or kind in COMPACTION_KINDS[:1] or kind == "compaction_trigger"
        if follows is None or loose or (kind in ("message", "") and follows.get("role") != "assistant"):
            told = "reasoning item is not followed by the item it belongs to"
            self.out.add("R3-reasoning-dangling", where, told)
        if self.store is False and not raw.get("encrypted_content"):
            told = "store is false and the reasoning item has no encrypted_content"
            self.out.add("R4-reasoning-not-encrypted", where, told)
        self._goes_on(where)

    def _compaction(self, raw: dict[str, Any], where: str) -> None:
        sealed = raw.get("encrypted_content")
        if not isinstance(sealed, str) or not sealed:
            self.out.add("R6-compaction-empty", where, "compaction item without encrypted_content (string)")
        if self.previous:
            told = "compaction item in the input together with previous_response_id"
            self.out.add("R5-compaction-previous-id", where, told)
        self._goes_on(where)


def check(
    entries: Sequence[Entry],
    out: Findings,
    *,
    body: dict[str, Any] | None = None,
    name: str = "input",
    store: Any = None,
) -> None:
    """Judge items; ``body`` is the request they stand in, ``store`` its setting where there is no body."""
    if not entries:
        out.add("empty-conversation", name, "no items")
        return
    if body is not None:
        store = body.get("store")
    ResponsesRules(entries, out, store, (body or {}).get("previous_response_id")).run(name)
