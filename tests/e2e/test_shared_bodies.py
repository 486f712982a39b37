"""Answers of providers as public projects keep them, against what `public_fixtures/expected.json` says of their usage.

No formats of the program by themselves: captures hold such bodies. Skipped where the samples are not beside the project.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor.readers import shapes
from monitor.readers.exchange_bodies import documents, plain
from monitor.readers.exchange_reply import Reply, ReplyReader

FIXTURES = Path(__file__).resolve().parents[2].parent / "shared" / "samples" / "public_fixtures"
pytestmark = pytest.mark.skipif(not FIXTURES.is_dir(), reason="../shared/samples is not here")


def _expected(section: str) -> list[Any]:
    if not FIXTURES.is_dir():
        return []
    found = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))[section]
    return [pytest.param(name, want, id=name) for name, want in found.items()]


def _reply(body: bytes) -> Reply:
    reader = ReplyReader()
    for value in documents(plain(body))[0]:
        reader.feed(value)
    return reader.reply()


def _figures(reply: Reply) -> dict[str, int]:
    tokens = reply.tokens
    found = {
        "prompt": tokens.prompt or 0,
        "read": tokens.read or 0,
        "write": tokens.write or 0,
        "out": tokens.output or 0,
        "reas": tokens.reasoning or 0,
    }
    if reply.compacted_from is not None:
        found["compaction_recorded_before"] = reply.compacted_from
        found["out_all"] = sum(one[4] for one in tokens.billed) if tokens.billed else -1
    if tokens.billed_prompt != tokens.prompt:
        found["billed"] = tokens.billed_prompt or 0
    return found


@pytest.mark.parametrize(("name", "want"), _expected("stream_bodies"))
def test_usage_of_an_answer(name: str, want: dict[str, int]) -> None:
    assert _figures(_reply((FIXTURES / name).read_bytes())) == want


@pytest.mark.parametrize(("name", "want"), _expected("cassettes"))
def test_usage_of_recorded_answers(name: str, want: list[dict[str, Any]]) -> None:
    yaml = pytest.importorskip("yaml")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    recorded = yaml.load((FIXTURES / name).read_text(encoding="utf-8"), Loader=loader)["interactions"]
    assert [entry["request"]["uri"] for entry in recorded] == [entry["uri"] for entry in want]
    for entry, figures in zip(recorded, want, strict=True):
        response = entry["response"]
        body = response.get("parsed_body", response.get("body"))
        if isinstance(body, dict) and set(body) <= {"string", "encoding"}:
            body = body["string"]
        if not isinstance(body, str | bytes):
            body = json.dumps(body)
        found = _figures(_reply(body.encode() if isinstance(body, str) else body))
        assert found == {key: value for key, value in figures.items() if key != "uri"}


def test_usage_objects_of_many_providers() -> None:
    """Usage objects and what their project extracts for billing: one of its readings is ours.

    It bills the sum of an answer's passes or leaves the summarising pass out (``billed_prompt`` and ``prompt`` here), and
    does not know ``num_cached_tokens``, which states the cached part of the prompt. Answers of an embedding address,
    with billed units alone, tell no occupancy.
    """
    dataset = json.loads((FIXTURES / "usage_dataset" / "usages_subset.json").read_text(encoding="utf-8"))
    wrong: list[str] = []
    compared = 0
    for entry in dataset:
        body = entry["body"]
        usage = body.get("usage") or body.get("usageMetadata")
        if usage is None:
            continue
        compared += 1
        tokens = shapes.tokens(usage, model=entry.get("model") or "")
        read = 0 if "num_cached_tokens" in usage else tokens.read or 0
        ours = {(prompt or 0, read, tokens.output or 0) for prompt in (tokens.prompt, tokens.billed_prompt)}
        readings = {
            tuple(found["usage"].get(name, 0) for name in ("input_tokens", "cache_read_tokens", "output_tokens"))
            for found in entry["extracted"]
        }
        if readings and not ours & readings:
            wrong.append(f"{usage}: {sorted(ours)}, expected one of {sorted(readings)}")
    assert not wrong, "\n".join(wrong)
    assert compared >= 160
