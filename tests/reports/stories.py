"""Small histories for the reports, with every figure told here: what the tests expect is counted from this page."""

from __future__ import annotations

from monitor.decision import decide
from monitor.decision.model import Decision
from monitor.pricing import PriceTable
from monitor.records import Call, Event, Problem, Record, SessionInfo
from monitor.sessions.build import Settings
from monitor.sessions.store import Store
from monitor.sessions.view import FileReport, Loaded
from monitor.sources.files import Batch
from tests.factory import START, call, event

HOUR = 3_600_000
#: a name that would break a page, a table and a terminal
EVIL = "<img src=x onerror=alert(1)>|\"'&`*_[x](javascript:1)\x1b[31m\ud800"


def long_session() -> list[Record]:
    """Session ``alpha``: 6 calls that grow from 20,000 by 10,000; a compaction 70,000 → 15,000; 4 more by 1,000.

    One full miss (call 3, 20 minutes after the one before: the cache lives 5), one side call, one failed request.
    """
    records: list[Record] = []
    late = 0
    for number in range(6):
        prompt = 20_000 + 10_000 * number
        late += 20 * 60_000 if number == 3 else 0
        read = 0 if number in (0, 3) else prompt - 10_000
        records.append(
            call(number, prompt, read, session="alpha", time=START + number * 10_000 + late, exchange=1 + number // 3)
        )
    records.append(event(5.5, session="alpha", trigger="auto", time=START + 55_000 + late))
    for number in range(6, 10):
        prompt = 15_000 + 1_000 * (number - 6)
        read = 5_000 if number == 6 else prompt - 1_000
        records.append(call(number, prompt, read, session="alpha", time=START + number * 10_000 + late, exchange=3))
    records.append(call(10, 500, None, session="alpha", chain="side", purpose="side", time=START + 101_000 + late))
    records.append(call(11, None, None, session="alpha", status="error", fresh_tokens=None, output_tokens=None,
                        time=START + 110_000 + late))  # fmt: skip
    return records


def evil_session() -> list[Record]:
    """Session with a hostile name, of a model without a price; no cache figures; two calls, one with lower bound."""
    facts = {"session": EVIL, "file": "b.jsonl", "model": f"model-{EVIL}", "source": "litellm", "provider": None}
    return [
        SessionInfo(session=EVIL, source="litellm", file="b.jsonl", cwd_name=EVIL),
        call(0, 1_000, None, key="x0", time=START + HOUR, **facts),
        call(1, 1_500, None, key="x1", time=START + HOUR + 9_000, output_is_lower_bound=True, **facts),
    ]


def totals_session() -> list[Record]:
    """A session of which the tool logs sums only: 9,000 prompt tokens, 700 output."""
    return [
        SessionInfo(
            session="sums", source="droid", file="c.json", started=START, totals_only=(9_000, 1_000, 8_000, 0, 700)
        )
    ]


def agent_session() -> list[Record]:
    """Session ``team``: two main calls and a subagent with three."""
    facts = {"session": "team", "file": "d.jsonl"}
    records: list[Record] = [call(0, 10_000, 0, key="t0", time=START + 2 * HOUR, **facts)]
    for number in range(3):
        prompt = 4_000 + 500 * number
        records.append(
            call(number, prompt, 0 if not number else prompt - 500, key=f"a{number}", chain="agent:0123456789abcdef0123",
                 time=START + 2 * HOUR + 1_000 * (number + 1), **facts)
        )  # fmt: skip
    records.append(call(1, 12_000, 10_000, key="t1", time=START + 2 * HOUR + 60_000, **facts))
    return records


def loaded(*batches: list[Record], problems: tuple[Problem, ...] = ()) -> tuple[Loaded, dict[str, Decision], int]:
    """Sessions analysed with the built-in prices, their decisions, and a now ten minutes after the last call."""
    prices = PriceTable.load(None)
    store = Store(Settings(prices=prices))
    reports = []
    for records in batches:
        name = records[0].file
        store.apply(Batch(name, list(records), True))
        calls = sum(isinstance(record, Call) for record in records)
        reports.append(
            FileReport(file=name, source="litellm", title="LiteLLM log", confidence=0.95, bytes=2_048, lines=len(records),
                       calls=calls, duplicates=0, problems=0)
        )  # fmt: skip
    views = store.views()
    now = max((view.last or START for view in views), default=START) + 600_000
    decisions = {view.session: decide(view, now_ms=now, prices=prices) for view in views}
    return Loaded(sessions=views, problems=list(problems), files=reports, copies=store.copies()), decisions, now


def everything() -> tuple[Loaded, dict[str, Decision], int]:
    """All of the above and a problem whose file has a hostile name."""
    problem = Problem(f"/logs/{EVIL}.json", 3, "the line is not valid JSON; it was skipped")
    return loaded(long_session(), evil_session(), totals_session(), agent_session(), problems=(problem,))


__all__ = ["EVIL", "HOUR", "START", "Event", "everything", "loaded"]
