from __future__ import annotations

import random

import msgspec
import pytest

from monitor.records import Call, Event, Evidence
from monitor.sessions.sessionize import assign, relocate

T = 1_775_808_000_000


def digest(*words):
    """Rolling and single digests of messages named by words, as readers make them."""
    from hashlib import blake2b

    single = [blake2b(word.encode(), digest_size=8).digest() for word in words]
    chained, last = [], b""
    for one in single:
        last = blake2b(last + one, digest_size=8).digest()
        chained.append(last)
    return b"".join(chained), b"".join(single)


def call(
    n,
    *words,
    prompt=1000,
    session="capture",
    evidence="file",
    chain="main",
    purpose="work",
    status="ok",
    gap=10,
    file="f.har",
    **told,
):
    chained, single = digest(*words)
    facts = {"response_id": f"r{n}", "system": 1, "tools": 2, "origin": "k", **told}
    return Call(
        session=session,
        session_evidence=evidence,
        source="har",
        file=file,
        line=n,
        chain="side" if purpose != "work" else chain,
        call_id=facts["response_id"],
        key=facts["response_id"],
        time=T + n * gap * 1000,
        model="gpt-5.4",
        prompt_tokens=prompt,
        status=status,
        purpose=purpose,
        evidence=Evidence(messages=chained, message_ids=single, **facts),
    )


def groups(calls, **more):
    """Indexes that share a session."""
    found: dict[str, list[int]] = {}
    for n, one in enumerate(assign(calls, **more)):
        found.setdefault(one.session, []).append(n)
    return sorted(found.values())


def test_interleaved_conversations_are_told_apart_by_their_messages():
    made = [
        call(0, "a1"),
        call(1, "b1"),
        call(2, "a1", "x", "a2"),
        call(3, "a1", "x", "a2", "y", "a3"),
        call(4, "b1", "x", "b2"),
        call(5, "b1", "x", "b2", "y", "b3"),
    ]
    assert groups(made) == [[0, 2, 3], [1, 4, 5]]
    assert {one.session_evidence for one in assign(made)} == {"prefix"}


def test_explicit_sessions_are_kept():
    made = [
        call(0, "a", session="s1", evidence="explicit"),
        call(1, "b", session="s1", evidence="explicit"),
        call(2, "a", session="s2", evidence="explicit"),
    ]
    assert assign(made) == made
    plain = [msgspec.structs.replace(one, evidence=None) for one in made]
    assert assign(plain) == plain


def test_a_chain_of_responses():
    made = [
        call(0, "a1"),
        call(1, previous_response_id="r0"),
        call(2, previous_response_id="r1", origin="other"),
        call(3, "b1"),
        call(4, previous_response_id="r0"),  # a branch
        call(5, previous_response_id="not captured"),
        call(6, previous_response_id="not captured"),
    ]
    assert groups(made) == [[0, 1, 2, 4], [3], [5, 6]]
    assert [one.session_evidence for one in assign(made)] == [
        "chain",  # the others name it
        "chain",
        "chain",
        "prefix",
        "chain",
        "chain",
        "chain",
    ]


def test_retries_join_and_the_same_opening_again_does_not():
    failed = [call(0, "a", status="error"), call(1, "a"), call(2, "a", "x", "b")]
    assert groups(failed) == [[0, 1, 2]]
    again = [call(0, "a"), call(1, "a", gap=100)]
    assert groups(again) == [[0], [1]]
    regenerated = [call(0, "a"), call(1, "a", "x", "b"), call(2, "a", "x", "b")]
    assert groups(regenerated) == [[0, 1, 2]]


def test_the_answer_tells_conversations_with_the_same_opening_apart():
    answers = {word: int.from_bytes(digest(word)[1], "big") for word in ("x", "y")}
    made = [
        call(0, "a", response=answers["x"]),
        call(1, "a", response=answers["y"]),
        call(2, "a", "x", "b"),
        call(3, "a", "y", "c"),
    ]
    assert groups(made) == [[0, 2], [1, 3]]


def test_a_request_that_begins_with_the_last_answer_goes_on_from_it():
    # a compaction item stands for all before it; two conversations of one sender, each with an item of its own
    item = {name: int.from_bytes(digest(name)[1], "big") for name in ("item a", "item b")}
    calls = [
        call(0, "a1", response=item["item a"]),
        call(1, "b1", response=item["item b"]),
        call(2, "item b", "b2", prompt=300),
        call(3, "item a", "a2", prompt=300),
        call(4, "item a", "c1", prompt=300, origin="another"),
    ]
    assert groups(calls) == [[0, 3], [1, 2], [4]]


def test_edits_in_place_and_rewinds_stay_in_their_conversation():
    said = ["a", "r1", "b", "r2", "c", "r3", "d"]
    cleared = ["a", "r1 cleared", "b", "r2", "c", "r3", "d", "r4", "e"]
    made = [call(0, *said[:1]), call(1, *said), call(2, *cleared)]
    assert groups(made) == [[0, 1, 2]]
    rewound = [call(0, *said), call(1, *said[:4], "another question")]
    assert groups(rewound) == [[0, 1]]
    unrelated = [call(0, *said), call(1, "a", "other", "thing", "here", "now")]
    assert groups(unrelated) == [[0], [1]]


def test_a_window_after_a_summary_belongs_to_the_conversation():
    summary = call(2, "a", "x", "b", "y", "please summarize", purpose="compaction", tools=None)
    after = call(3, "summary of it", "ok", "b")
    made = [call(0, "a"), call(1, "a", "x", "b"), summary, after, call(4, "summary of it", "ok", "b", "y", "c")]
    assert groups(made) == [[0, 1, 2, 3, 4]]
    out = assign(made)
    assert [one.chain for one in out] == ["main", "main", "side", "main", "main"]
    # nothing of the old messages is repeated: soon after, same agent
    assert groups([*made[:3], call(3, "summary of it")]) == [[0, 1, 2, 3]]
    # another sender, or long after
    assert groups([*made[:3], call(3, "summary of it", origin="other")]) == [[0, 1, 2], [3]]
    assert groups([*made[:3], call(9000, "summary of it")]) == [[0, 1, 2], [3]]
    # only one window stands on a summary
    assert groups([*made[:4], call(5, "something new")]) == [[0, 1, 2, 3], [4]]


def test_a_request_for_a_summary_of_history_as_text_is_about_its_senders_only_conversation():
    talk = [call(0, "a"), call(1, "a", "x", "b")]
    asked = call(2, "all of it as text", purpose="compaction", system=8, tools=None, cache_key=None)
    part = call(3, "the rest as text", purpose="compaction", system=8, tools=None)
    after = call(4, "summary of it")
    assert groups([*talk, asked, part, after]) == [[0, 1, 2, 3, 4]]
    # also where the client names the conversation, but not in this request
    named = [msgspec.structs.replace(one, session="s", session_evidence="explicit") for one in talk]
    assert groups([*named, asked, part]) == [[0, 1, 2, 3]]
    # of two that go on at the same time it may be about either, of one after the other about the last
    both = [call(0, "a"), call(1, "other"), call(2, "a", "x", "b"), call(3, "other", "y", "c")]
    late = call(4, "all of it as text", purpose="compaction", system=8, tools=None)
    assert groups([*both, late]) == [[0, 2], [1, 3], [4]]
    assert groups([both[0], both[2], call(3, "other"), late]) == [[0, 1], [2, 3]]
    other = [msgspec.structs.replace(one, model="o") for one in (both[1], both[3])]
    assert groups([both[0], other[0], both[2], other[1], late]) == [[0, 2, 4], [1, 3]]
    # of one of another sender, or of long ago, it is about none
    assert groups([call(0, "a", origin="other"), asked]) == [[0], [1]]
    assert groups([call(0, "a"), call(1000, "text", purpose="compaction", system=8, tools=None)]) == [[0], [1]]


def test_history_written_anew_at_a_resume_goes_on_from_the_shorter_one():
    talk = [call(0, "a"), call(1, "a", "x", "b"), call(2, "a", "x", "b", "y", "c")]
    resumed = call(3, "a", "x2", "b2", "y2", "c2", "z2", "d")
    assert groups([*talk, resumed, call(4, "a", "x2", "b2", "y2", "c2", "z2", "d", "w", "e")]) == [[0, 1, 2, 3, 4]]
    # not longer, or an agent with other instructions
    assert groups([*talk, call(3, "a", "x2", "b2")]) == [[0, 1, 2], [3]]
    assert groups([*talk, call(3, "a", "x2", "b2", "y2", "c2", "z2", "d", system=9)]) == [[0, 1, 2], [3]]


def test_a_unique_cache_key_links_windows_and_a_constant_does_not():
    key = "0d9f6f6e-5f0c-4c53-9a0e-0d5a5d1f2a11"
    made = [call(0, "a", cache_key=key), call(1, "a", "x", "b", cache_key=key), call(2, "new window", cache_key=key)]
    assert groups(made) == [[0, 1, 2]]
    assert assign(made)[0].session == key
    constant = [call(n, word, cache_key="my-app") for n, word in enumerate("ab")]
    assert groups(constant) == [[0], [1]]
    other = "1d9f6f6e-5f0c-4c53-9a0e-0d5a5d1f2a11"
    assert groups([call(0, "a", cache_key=key), call(1, "a", "x", "b", cache_key=other)]) == [[0], [1]]


def test_side_calls_belong_to_the_conversation_beside_them():
    title = call(0, "title for a", purpose="side", tools=None)
    made = [
        title,
        call(1, "a"),
        call(2, "a", "x", "b"),
        call(3, "title again", purpose="side"),
        call(4, "z", origin="other", purpose="side"),
    ]
    out = assign(made)
    assert groups(made) == [[0, 1, 2, 3], [4]]
    assert [one.chain for one in out] == ["side", "main", "main", "side", "side"]


def test_subagents_of_a_named_session_are_chains():
    explicit = {"session": "s", "evidence": "explicit"}
    made = [
        call(0, "a", **explicit),
        call(1, "look around", system=7, tools=8, **explicit),
        call(2, "look around", "x", "more", system=7, tools=8, **explicit),
        call(3, "a", "x", "b", **explicit),
        call(4, "a", "x", "b", "y", "c", tools=9, **explicit),  # a tool was added: still the same messages
        call(5, "a new window", tools=9, **explicit),  # cleared: same agent
    ]
    chains = [one.chain for one in assign(made)]
    assert chains[1] == chains[2] and chains[1].startswith("agent:")
    assert [chains[n] for n in (0, 3, 4, 5)] == ["main"] * 4
    # a client that names its subagents is believed
    told = [*made, call(6, "named", chain="agent:x", **explicit)]
    assert [one.chain for one in assign([told[6], *made])][1:] == ["main"] * 6


def test_both_sides_of_a_proxy_stay_together():
    made = [
        call(0, "a"),
        msgspec.structs.replace(call(0, "a", origin="proxy"), file="g.har", line=7),
        call(1, "a", "x", "b"),
    ]
    assert groups(made) == [[0, 1, 2]]


def test_names_come_from_the_first_call_and_not_from_its_place():
    made = [call(0, "a"), call(1, "b"), call(2, "a", "x", "c"), call(3, "b", "x", "d")]
    names = {one.key: one.session for one in assign(made)}
    assert {one.key: one.session for one in assign(made[2:] + made[:2])} == names
    for end in range(1, 5):  # a growing list
        assert {one.key: one.session for one in assign(made[:end])}.items() <= names.items()
    assert {one.key: one.session for one in assign([*made, call(9, "e")])}.items() >= names.items()


def test_one_way_can_be_forced():
    made = [
        call(0, "a", session="s1", evidence="explicit", prompt=20_000),
        call(1, "a", "x", "b", session="s2", evidence="explicit", prompt=21_000),
    ]
    assert assign(made, session_by="explicit") == made
    assert [(one.session, one.session_evidence) for one in assign(made, session_by="file")] == [("f", "file")] * 2
    assert groups(made, session_by="prefix") == [[0, 1]]
    assert {one.session_evidence for one in assign(made, session_by="prefix")} == {"prefix"}
    assert groups(made, session_by="lane") == [[0, 1]]
    assert {one.session_evidence for one in assign(made, session_by="lane")} == {"lane"}
    assert groups(made, session_by="chain") == [[0], [1]]

    class Options:
        session_by = "file"

    assert assign(made, Options())[0].session == "f"
    with pytest.raises(ValueError, match="explicit, chain, prefix, lane, file"):
        assign(made, session_by="magic")


def test_events_follow_their_call():
    made = [call(0, "a"), call(1, "a", "x", "sum up", purpose="compaction")]
    event = Event(kind="compaction", evidence="inferred", session="capture", file="f.har", time=T, key="r1#compaction")
    other = Event(kind="clear", evidence="recorded", session="elsewhere", file="g.jsonl", key="clear:1")
    out = assign(made)
    moved = relocate([event, other], out)
    assert (moved[0].session, moved[0].chain) == (out[0].session, "main")
    assert moved[1] is other


def test_the_order_of_the_input_is_kept_and_nothing_is_lost():
    rng = random.Random(7)
    made = []
    for n in range(60):
        words = [f"{rng.choice('abc')}{k}" for k in range(rng.randrange(0, 5))]
        made.append(
            call(
                n,
                *words,
                prompt=rng.choice([None, 500, 20_000]),
                status=rng.choice(["ok", "error"]),
                purpose=rng.choice(["work", "side", "compaction"]),
            )
        )
    out = assign(made)
    assert [one.key for one in out] == [one.key for one in made]
    assert [one.prompt_tokens for one in out] == [one.prompt_tokens for one in made]
    assert out == assign(made)


def test_the_same_conversation_by_two_senders_is_two():
    made = [
        call(0, "a", origin="k1"),
        call(1, "a", origin="k2"),
        call(2, "a", "ok", "more", origin="k1"),
        call(3, "a", "ok", "more", origin="k2"),
        call(4, "a", "ok", "more", "ok", "x", origin="k1"),
        call(5, "a", "ok", "more", "ok", "x", origin="k2"),
    ]
    assert groups(made) == [[0, 2, 4], [1, 3, 5]]


def test_words_that_changed_in_the_middle_are_known_when_they_come_again():
    """Gemini CLI leaves thoughts out of its answers when it goes on, and doubles the results when it resumes."""
    first = [call(n, "go", *[w for k in range(n) for w in (f"thought a{k}", f"r{k}")]) for n in range(1, 5)]
    bare = call(5, "go", *[w for k in range(4) for w in (f"a{k}", f"r{k}")], "a4", "loop")
    doubled = call(6, "go", *[w for k in range(4) for w in (f"a{k}", f"r{k} r{k}")], "a4", "r4 loop")
    assert groups([*first, bare, doubled]) == [[0, 1, 2, 3, 4, 5]]


def test_what_a_row_of_digests_held_before():
    from monitor.sessions.sessionize_messages import _held

    old = b"".join(bytes([n] * 8) for n in range(1, 6))
    assert _held(b"", old) == 0 and _held(old, old) == 40
    assert _held(old, old + b"x" * 8) == 40
    assert _held(old, old[16:] + b"x" * 16) == 24  # the beginning is no longer kept
    assert _held(old, old[:16] + b"x" * 8 + old[24:]) == 0  # other words in the middle
    assert _held(old, b"x" * 24) == 0
