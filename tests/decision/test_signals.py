"""The money in a decision: which price it is made with, against arithmetic by hand."""

from __future__ import annotations

import pytest

from monitor.decision.engine import decide
from monitor.pricing import PriceTable
from tests.decision.factory import NOW, Session, tool


def advise(session: Session):
    return decide(session.view(), now_ms=NOW, prices=PriceTable.load(), threshold=None)


def test_costs_are_those_of_the_closed_forms():
    # Sonnet 4.5: 3 / 15 / 0.30 / 3.75 per million. 100,300 used, grows 1,000, 20 calls, warm, F 40,000 (capped)
    d = advise(Session().grow(90_000, 1_000, 11).did(*tool("read")))
    assert d.costs is not None and d.costs.calls == 20
    read, write, out = 0.30e-6, 3.75e-6, 15e-6
    c0, grow, k = 100_300, 1_000, 20
    go_on = read * (k * c0 + grow * k * (k - 1) / 2) + k * (write * grow + out * 300)
    assert d.costs.continue_usd == pytest.approx(go_on, rel=1e-9)
    c1 = 40_000 + 4_000 + 10_000
    compact = read * c0 + 1_000 * 3e-6 + 4_000 * out + (write - read) * 14_000
    compact += read * (k * c1 + grow * k * (k - 1) / 2) + k * (write * grow + out * 300)
    assert d.costs.compact_usd == pytest.approx(compact, rel=1e-9)
    assert d.costs.assumed


def test_an_unknown_model_has_no_costs_and_says_what_it_assumes():
    d = advise(Session(model="house-model-7b", provider=None).grow(60_000, 1_000, 11).did(*tool("read")))
    assert d.costs is not None and d.costs.continue_usd is None
    assert d.signals["break_even_calls"].value is not None and d.signals["break_even_calls"].how == "assumed"


def test_the_next_calls_are_priced_as_the_session_is_served():
    # a batch costs half of the list price, for what is read, written and said
    listed = advise(Session().grow(90_000, 1_000, 11).did(*tool("read"))).costs
    batch = advise(Session(tier="batch").grow(90_000, 1_000, 11).did(*tool("read"))).costs
    assert listed is not None and batch is not None and listed.continue_usd is not None
    assert batch.continue_usd == pytest.approx(listed.continue_usd / 2, rel=1e-9)
    assert batch.compact_usd == pytest.approx(listed.compact_usd / 2, rel=1e-9)
    assert batch.new_window_usd == pytest.approx(listed.new_window_usd / 2, rel=1e-9)
