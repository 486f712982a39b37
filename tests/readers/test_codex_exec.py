from __future__ import annotations

from monitor.readers.codex_exec import READER
from monitor.records import SessionInfo
from tests.readers.exchange_samples import calls, context, lines, records, sniff


def run(thread, *sums):
    out = [{"type": "thread.started", "thread_id": thread}]
    for prompt, cached, output in sums:
        usage = {
            "input_tokens": prompt,
            "cached_input_tokens": cached,
            "cache_write_input_tokens": 0,
            "output_tokens": output,
        }
        out += [
            {"type": "turn.started"},
            {"type": "item.completed", "item": {"id": "i", "type": "error", "message": "x"}},
            {"type": "turn.completed", "usage": usage},
        ]
    return out


def sums(found):
    return {record.session: record.totals_only for record in found if isinstance(record, SessionInfo)}


def test_figures_add_up_over_the_thread_and_are_no_calls():
    found = records(
        "codex_exec", lines(*run("t1", (37365, 22144, 627)), *run("t1", (70770, 52480, 1045)), *run("t2", (100, 0, 5)))
    )
    assert sums(found) == {"t1": (70770, 18290, 52480, 0, 1045), "t2": (100, 100, 0, 0, 5)}
    assert calls(found) == []


def test_a_count_that_starts_anew_is_added():
    assert sums(records("codex_exec", lines(*run("t1", (100, 0, 5), (300, 0, 9)), *run("t1", (50, 0, 2))))) == {
        "t1": (350, 350, 0, 0, 11)
    }


def test_sums_grow_with_the_file():
    parser = READER.parser(context(b""))
    data = lines(*run("t1", (100, 0, 5), (300, 0, 9))).splitlines(keepends=True)
    parser.feed(data[:4], 1)
    assert sums(parser.take()) == {"t1": (100, 100, 0, 0, 5)}
    parser.feed(data[4:], 5)
    assert sums(parser.take()) == {"t1": (300, 300, 0, 0, 9)}
    assert parser.take() == []


def test_sniffing():
    assert sniff("codex_exec", lines(*run("t1", (1, 0, 1)))) > 0.9
    assert (
        sniff("codex_exec", lines({"type": "session_meta", "payload": {}}, {"type": "turn.completed"}, {"type": "x"}))
        == 0
    )
    assert sniff("codex_exec", lines({"type": ["turn.started"]})) == 0
