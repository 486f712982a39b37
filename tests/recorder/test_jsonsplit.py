from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.recorder.evidence import digest
from monitor.recorder.jsonsplit import Splitter

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=12)
    | st.sampled_from(['a"b\\', "{[,:]}", "\\", '"messages":['])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(st.text(max_size=6) | st.sampled_from(["messages", "model"]), VALUES, max_size=5)


def run(data: bytes, steps: list[int], limit: int = 1 << 20) -> tuple[dict[str, Any], list[Any], bool]:
    members: dict[str, Any] = {}
    elements: list[Any] = []
    splitter = Splitter(
        frozenset({"messages"}), limit,
        lambda key, value, _: members.__setitem__(key, value and json.loads(value)),
        lambda key, value, raw: elements.append(json.loads(value) if value else raw),
    )  # fmt: skip
    at = turn = 0
    while at < len(data):
        step = steps[turn % len(steps)]
        splitter.feed(data[at : at + step])
        at, turn = at + step, turn + 1
    return members, elements, splitter.complete


@given(DOCUMENTS, st.lists(st.integers(1, 9), min_size=1, max_size=5), st.booleans(), st.sampled_from([None, 1]))
@settings(max_examples=200, deadline=None)
def test_members_and_elements_of_any_document(
    document: dict[str, Any], steps: list[int], ascii_only: bool, indent: int | None
) -> None:
    data = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    members, elements, complete = run(data, steps)
    spread = document.get("messages")
    if isinstance(spread, list):
        assert elements == spread
        document = {k: v for k, v in document.items() if k != "messages"}
    assert (members, complete) == (document, True)


def test_an_array_at_the_top_gives_its_elements() -> None:
    assert run(b' [{"a": [1, 2]},\n {"b": "]"} , 3]', [3]) == ({}, [{"a": [1, 2]}, {"b": "]"}, 3], True)


def test_values_above_the_limit_are_known_by_their_digest_only() -> None:
    long = json.dumps("x" * 500).encode()
    members, elements, complete = run(b'{"k":' + long + b',"messages":[' + long + b',"y"],"n":1}', [7], limit=100)
    assert (members, elements, complete) == ({"k": None, "n": 1}, [digest(long), "y"], True)


def test_a_cut_document_is_not_complete() -> None:
    assert run(b'{"a":1,"b":[1,2', [4])[2] is False
