"""The visible answer of a model while its parts come in: text and tool calls."""

from __future__ import annotations

from typing import Any

from monitor.readers.exchange_messages import answer_digest, item

#: id, name and arguments of a tool call
ToolCall = tuple[str, str, Any]


class Answer:
    """Collects an answer from stream parts or from whole output items."""

    __slots__ = ("_calls", "_texts", "whole")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._calls: dict[Any, list[Any]] = {}  # index -> id, name, arguments or their pieces
        self.whole: list[Any] = []  # output items of an answer given as a whole

    def text(self, value: Any) -> None:
        """A piece of visible text."""
        if isinstance(value, str):
            self._texts.append(value)

    def call(self, index: Any, id: Any, name: Any, arguments: Any) -> None:
        """A tool call or a piece of one; pieces of the same index belong together."""
        entry = self._calls.setdefault(index if isinstance(index, int | str) else None, [None, None, None])
        entry[0], entry[1] = entry[0] or id, entry[1] or name
        if isinstance(arguments, str):
            entry[2] = (entry[2] if isinstance(entry[2], str) else "") + arguments
        elif arguments is not None:
            entry[2] = arguments

    def add(self, id: Any, name: Any, arguments: Any) -> None:
        """A whole tool call."""
        self._calls[f"call {len(self._calls)}"] = [id, name, arguments]

    def finish(self) -> tuple[bytes, list[ToolCall]]:
        """Digest of the answer as a message, and its tool calls. Of an answer with a compaction item it is that item's:
        the next request may leave out all before it."""
        found = b""
        listed: list[ToolCall] = []
        for whole in self.whole:
            if isinstance(whole, dict):
                message = "type" not in whole or whole["type"] == "message"
                if not found or whole.get("type") == "compaction":
                    found = item({"role": "assistant", **whole} if message else whole).norm
                listed += _calls_of(whole)
        pieces = [(str(e[0] or ""), str(e[1] or ""), e[2]) for e in self._calls.values() if e[1]]
        calls = pieces or listed
        if not found:
            found = answer_digest("".join(self._texts), [(name, arguments) for _, name, arguments in pieces])
        return found, calls


def _calls_of(whole: dict[str, Any]) -> list[ToolCall]:
    found: list[ToolCall] = []
    if whole.get("type") in ("function_call", "custom_tool_call", "local_shell_call"):
        arguments = whole.get("arguments", whole.get("input", whole.get("action")))
        found.append((str(whole.get("call_id") or ""), str(whole.get("name") or "shell"), arguments))
    content = whole.get("content")
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        use = block if block.get("type") == "tool_use" else block.get("toolUse")
        if isinstance(use, dict) and use.get("name"):
            found.append((str(use.get("id") or use.get("toolUseId") or ""), str(use["name"]), use.get("input")))
    return found
