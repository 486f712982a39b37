"""A conversation that grows from request to request: only what is new is read, and the evidence is the same."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from monitor.recorder import prefixes
from monitor.recorder.evidence import MessageDigests
from monitor.recorder.request import RequestFacts

TEXT = "the words of a message, so that the list is longer than what is read anew each time. " * 8


def told(body: dict[str, Any], digests: MessageDigests, indent: int | None = None) -> tuple[Any, ...]:
    facts = RequestFacts("", digests, None)
    facts.feed(json.dumps(body, indent=indent).encode())
    facts.end()
    return facts.digests(), facts.hints(), facts.session(), facts.compaction()


class Counting(MessageDigests):
    """Notes how many messages are asked for."""

    asked = 0

    def of(self, raw: bytes) -> tuple[bytes, bool]:
        self.asked += 1
        return super().of(raw)


def turn(number: int) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": [{"type": "text", "text": f"{number} {TEXT}"}]},
        {"role": "assistant", "content": [{"type": "text", "text": f"answer {number}"}]},
    ]


def anthropic() -> Iterator[dict[str, Any]]:
    """The mark of the cache is on the last message and moves with it."""
    messages: list[dict[str, Any]] = []
    for number in range(60):
        messages += turn(number)
        marked = copy.deepcopy(messages[:-1])
        marked[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        yield {"model": "m", "system": "Be brief.", "messages": marked, "tools": [{"name": "a"}]}


def chat() -> Iterator[dict[str, Any]]:
    """System messages stand at the beginning, and one comes in between."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Be exact."},
    ]
    for number in range(60):
        messages += turn(number)
        if number == 30:
            messages.append({"role": "system", "content": "Be quick."})
        yield {"model": "m", "messages": messages[:-1]}


def gone_back() -> Iterator[dict[str, Any]]:
    """The user goes back, edits, and goes on; another conversation begins alike."""
    whole = [message for number in range(60) for message in turn(number)]
    for end in (81, 101, 61, 60, 59, 101, 119):
        yield {"model": "m", "messages": whole[:end]}
        yield {"model": "m", "messages": [*whole[: end - 40], *turn(1_000 + end), *whole[end - 38 : end]]}


def compacted() -> Iterator[dict[str, Any]]:
    """A summary stands for what was before it."""
    first = {"role": "user", "content": "This session is being continued from a previous conversation. " + TEXT}
    messages = [first]
    for number in range(50):
        messages += turn(number)
        yield {"model": "m", "input": messages}


@pytest.mark.parametrize("requests", [anthropic, chat, gone_back, compacted])
@pytest.mark.parametrize("indent", [None, 2])
def test_the_evidence_is_that_of_a_request_read_for_the_first_time(requests: Any, indent: int | None) -> None:
    digests = MessageDigests()
    for body in requests():
        assert told(body, digests, indent) == told(body, MessageDigests(), indent)


@pytest.mark.parametrize("requests", [anthropic, chat, compacted])
def test_only_what_is_new_is_read(requests: Any) -> None:
    digests = Counting()
    bodies = list(requests())
    for number, body in enumerate(bodies):
        before = digests.asked
        told(body, digests)
        if number > 35:
            # two new messages, and those that may have changed
            assert digests.asked - before <= 3 + prefixes.SPARE


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefixes, "_MEMORY", 50_000)
    digests = MessageDigests()
    for session in range(40):
        messages = [{"role": "user", "content": f"session {session}"}]
        for number in range(40):
            messages += turn(number)
        told({"model": "m", "messages": messages}, digests)
    kept = [known for some in digests.beginnings._known.values() for known in some]
    assert kept and sum(known.size for known in kept) == digests.beginnings._size <= 50_000


def test_system_prompt_and_tools_are_read_once_as_long_as_they_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    from monitor.recorder import evidence

    read: list[str] = []
    for name in ("system_digest", "tools_digest"):
        real = getattr(evidence, name)
        monkeypatch.setattr(evidence, name, lambda value, real=real, name=name: (read.append(name), real(value))[1])
    digests = MessageDigests()
    body = {"model": "m", "system": "Be brief.", "tools": [{"name": "a"}, {"name": "b"}], "messages": turn(1)}
    first, again = told(body, digests), told({**body, "messages": turn(2)}, digests)
    assert sorted(read) == ["system_digest", "tools_digest"]
    assert first[0]["system"] == again[0]["system"] and first[1]["tools"] == again[1]["tools"] == 2
    other = told({**body, "system": "Be long.", "tools": [{"name": "a"}]}, digests)
    assert other[0]["system"] != first[0]["system"] and other[1]["tools"] == 1
