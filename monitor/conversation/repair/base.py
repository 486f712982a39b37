"""The work sheet of a repair: the conversation so far, what is broken, what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from monitor.conversation.model import Conversation, Message

#: Text of a made-up result: says that nothing was recorded instead of inventing an outcome.
NO_RESULT = "[no result recorded]"


class Sheet:
    """State of one repair; steps change ``conv`` and say what they did (places and counts, never message text)."""

    def __init__(self, conv: Conversation, codes: Iterable[str], done: list[str]) -> None:
        self.conv, self.codes, self.done = conv, set(codes), done

    def broken(self, *codes: str) -> bool:
        """True where one of these rules is broken."""
        return not self.codes.isdisjoint(codes)

    def say(self, text: str) -> None:
        """Note one thing done."""
        self.done.append(text)

    @property
    def blocks(self) -> bool:
        """True where tool results are blocks of user messages (Anthropic and its relatives, Gemini)."""
        return self.conv.provider in ("anthropic", "claude-code", "gemini")

    def put(self, messages: Iterable[Message]) -> None:
        """Take this list of messages; in plain documents all are read anew, as ids may hang on their places."""
        conv, listed = self.conv, list(messages)
        if not conv.handler.jsonl:
            fresh = conv.handler.parse_list([m.raw for m in listed], conv.handler.list_key(conv.body))
            listed = [
                msgspec.structs.replace(new, exchange=old.exchange, is_summary=old.is_summary or new.is_summary)
                for new, old in zip(fresh, listed)
            ]
        self.conv = conv.with_messages(listed)

    def each(self, change: Callable[[Message], Message | None]) -> int:
        """Run every message through ``change`` (None drops it); how many changed."""
        out, n = [], 0
        for m in self.conv.messages:
            new = change(m)
            n += new is not m
            if new is not None:
                out.append(new)
        if n:
            self.put(out)
        return n

    def reparse(self, message: Message, raw: Any) -> Message:
        """``message`` with another raw object, its parts read anew."""
        view = self.conv.handler.view(raw)
        return msgspec.structs.replace(
            view,
            where=message.where,
            index=message.index,
            line=message.line,
            source=message.source,
            sub=message.sub,
            exchange=message.exchange,
            mark=message.mark,
            is_summary=message.is_summary or view.is_summary,
        )
