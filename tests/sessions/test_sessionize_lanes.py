from __future__ import annotations

import random
import time as clock

from monitor.records import Call, Evidence
from monitor.sessions.sessionize import assign

T = 1_783_407_600_000


def row(second, prompt, read=None, output=200, *, model="gpt-5.4", write=0, origin="key", id=None, purpose="work"):
    return Call(
        session="log",
        session_evidence="file",
        source="new-api",
        file="log.json",
        line=int(second),
        call_id=id,
        key=id or "",
        time=T + int(second * 1000),
        model=model,
        prompt_tokens=prompt,
        cache_read_tokens=read,
        cache_write_tokens=write,
        output_tokens=output,
        purpose=purpose,
        evidence=Evidence(origin=origin),
    )


def groups(rows, **more):
    found: dict[str, list[int]] = {}
    for n, one in enumerate(assign(rows, **more)):
        assert one.session_evidence == "lane"
        found.setdefault(one.session, []).append(n)
    return sorted(found.values())


def test_a_growing_prompt_is_one_lane():
    rows = [row(20 * n, 18_000 + 900 * n, None) for n in range(6)]
    assert groups(rows) == [[0, 1, 2, 3, 4, 5]]


def test_cached_prefixes_tell_two_conversations_apart():
    small = [21_000, 22_500, 24_000, 25_500, 27_000]
    large = [95_000, 97_600, 100_200, 102_800, 105_400]
    rows = []
    for n in range(5):
        for prompts in (small, large):
            read = prompts[n - 1] // 128 * 128 if n else 0
            rows.append(row(len(rows) * 20, prompts[n], read))
    assert groups(rows) == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]


def test_anthropic_reads_equal_what_was_read_and_written_before():
    def conversation(start, seconds):
        rows, cached = [], 0
        for n, second in enumerate(seconds):
            fresh, new = 9 + n, start if n == 0 else 700
            rows.append(row(second, fresh + cached + new, cached, model="claude-sonnet-4-5", write=new))
            cached += new
        return rows

    # prompts of the same size: only the identity of the cache tells them apart
    one, other = conversation(30_000, range(0, 100, 20)), conversation(30_100, range(10, 110, 20))
    rows = sorted([*one, *other], key=lambda r: r.time)
    assert groups(rows) == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]


def test_senders_are_never_mixed():
    rows = [row(20 * n, 18_000 + 900 * n, origin=f"key {n % 2}") for n in range(6)]
    assert groups(rows) == [[0, 2, 4], [1, 3, 5]]


def test_small_calls_of_another_model_are_side_calls():
    rows = [
        row(30 * n, 30_000 + 4_200 * n, 30_000 + 4_200 * (n - 1) if n else 0, model="claude-sonnet-4-5")
        for n in range(4)
    ]
    rows += [row(36 + 30 * n, 421 + n, 0, 12, model="claude-haiku-4-5") for n in range(3)]
    rows.append(row(-5, 420, 0, 12, model="claude-haiku-4-5"))  # the title came first
    out = assign(rows)
    assert len({one.session for one in out}) == 1
    assert [(one.purpose, one.chain) for one in out] == [("work", "main")] * 4 + [("side", "side")] * 4


def test_a_program_that_uses_a_small_model_only_has_a_conversation():
    rows = [row(10 * n, 300 + 150 * n, None, 100, model="gpt-5-mini") for n in range(4)]
    out = assign(rows)
    assert {one.purpose for one in out} == {"work"} and len({one.session for one in out}) == 1


def test_a_drop_is_a_compaction_of_the_only_lane_unless_it_is_an_opening():
    grown = [row(20 * n, 20_000 + 12_000 * n, (20_000 + 12_000 * (n - 1)) // 128 * 128 if n else 0) for n in range(6)]
    assert groups([*grown, row(130, 30_000, 8_960)]) == [[0, 1, 2, 3, 4, 5, 6]]
    assert groups([*grown, row(130, 20_500, 8_960)]) == [[0, 1, 2, 3, 4, 5], [6]]
    # the size of an opening, but a summary was written just before
    summary = row(120, 81_000, 79_872, 3_000)
    assert groups([*grown, summary, row(130, 20_500, 8_960)]) == [[0, 1, 2, 3, 4, 5, 6, 7]]


def test_a_rewind_reads_a_warm_prefix():
    grown = [row(20 * n, 20_000 + 12_000 * n, (20_000 + 12_000 * (n - 1)) // 128 * 128 if n else 0) for n in range(6)]
    other = [row(5, 21_000, 0, origin="key"), row(25, 90_000, 20_992, origin="key")]
    rows = sorted([*grown, *other], key=lambda r: r.time)
    back = row(130, 57_000, 55_936)
    assert len(groups([*rows, back])) == len(groups(rows))


def test_an_idle_gap_closes_a_lane_but_not_for_its_own_cache():
    rows = [row(0, 20_000, 0), row(20, 21_000, 19_968), row(20 + 7_200, 22_000, 0)]
    assert groups(rows) == [[0, 1], [2]]
    assert groups([*rows[:2], row(20 + 7_200, 22_000, 20_992)]) == [[0, 1, 2]]
    assert groups(rows, idle_minutes=180) == [[0, 1], [2]] or groups(rows, idle_minutes=180) == [[0, 1, 2]]
    warm = [row(0, 20_000, None), row(5_400, 21_500, None)]
    assert groups(warm) == [[0], [1]]
    assert groups(warm, idle_minutes=120) == [[0, 1]]


def test_calls_without_figures_stay_with_the_lane_used_last():
    rows = [row(0, 20_000, 0), row(10, None), row(20, 21_000, 19_968), row(25, 900, 0, purpose="side")]
    out = assign(rows)
    assert len({one.session for one in out}) == 1
    assert out[3].purpose == "side"


def test_the_same_call_told_twice_is_one():
    rows = [row(0, 20_000, 0, id="a"), row(1, 20_000, 0, id="a"), row(20, 21_000, 19_968, id="b")]
    assert groups(rows) == [[0, 1, 2]]


def test_names_do_not_depend_on_the_place():
    rows = [row(20 * n, 18_000 + 900 * n) for n in range(4)] + [row(5, 90_000, origin="other")]
    assert {one.line: one.session for one in assign(rows)} == {one.line: one.session for one in assign(rows[::-1])}
    assert assign(rows[:2])[0].session == assign(rows)[0].session


def test_many_rows_are_quick():
    rng = random.Random(3)
    rows, prompts = [], [20_000] * 8
    for n in range(20_000):
        lane = rng.randrange(8)
        before = prompts[lane]
        prompts[lane] = 20_000 if before > 150_000 else before + rng.randrange(100, 3000)
        rows.append(row(n * 7, prompts[lane], before // 128 * 128, rng.randrange(50, 800), origin=f"key {lane % 4}"))
    start = clock.process_time()
    out = assign(rows)
    assert clock.process_time() - start < 5  # takes about 0.1 s; only a quadratic slip would not pass
    assert len(out) == len(rows)


def test_a_conversation_that_opens_while_another_waits_is_no_growth_of_it():
    # each later call reads the earlier prompt of its own conversation in whole blocks of 128: 21000 -> 20992,
    # 22600 -> 22528, 48000 -> 48000, 50400 -> 50304. 48000 would do as a growth of 21000 + 200 by less than 30000
    rows = [
        row(0, 21_000, 0),
        row(20, 48_000, 0),
        row(40, 22_600, 20_992),
        row(60, 50_400, 48_000),
        row(80, 24_100, 22_528),
        row(100, 52_900, 50_304),
    ]
    assert groups(rows) == [[0, 2, 4], [1, 3, 5]]


def test_an_opening_of_like_size_waits_for_its_own_next_call():
    # Anthropic: what is read is what was read and written before. 19996, then 19996 + 900; 21996, then 21996 + 700
    rows = [
        row(0, 20_000, 0, write=19_996),
        row(10, 22_000, 0, write=21_996),
        row(20, 20_900, 19_996, write=900),
        row(30, 22_700, 21_996, write=700),
        row(40, 21_800, 20_896, write=900),
    ]
    assert groups(rows) == [[0, 2, 4], [1, 3]]
