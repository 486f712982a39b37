"""Addresses: what happens if nothing answers."""

from __future__ import annotations

from monitor.records import Problem
from monitor.sources.address import AddressFollower, read_address


def test_nobody_there_is_a_problem_not_a_trace() -> None:
    for address in ("http://127.0.0.1:9/api/log/self?key=sk-secret", "sqlite:////nowhere/at/all.db", "ftp://x/y"):
        batch, _ = read_address(address)
        (problem,) = [record for record in batch.records if isinstance(record, Problem)]
        assert problem.reason
        assert "sk-secret" not in f"{problem.file} {problem.reason}"


def test_an_address_is_asked_again_and_a_failure_is_told_once() -> None:
    now = [0.0]
    follower = AddressFollower("http://127.0.0.1:9/api/log/self", every=10, clock=lambda: now[0])
    first = follower.poll()
    assert first is not None
    assert [type(record) for record in first.records] == [Problem]
    assert not first.replace  # what was read before stays
    assert follower.poll() is None
    now[0] = 11.0
    assert follower.poll() is None  # the same failure again
    follower.close()
