from __future__ import annotations

import base64

import pytest

from monitor.recorder import bodies
from monitor.recorder.bodies import BodyText, Budget


def test_text_without_secrets() -> None:
    text = BodyText(Budget())
    for piece in (b'{"k":"sk-abc', b'def1234","x":"gr\xc3', b'\xb6\xc3\x9fe"}'):
        text.add(piece)
    assert text.text([b"sk-abcdef1234"]) == '{"k":"[redacted]","x":"größe"}' and not text.truncated


def test_empty_and_binary() -> None:
    assert BodyText(Budget()).text([]) is None
    text = BodyText(Budget())
    text.add(b"\xff\x00")
    assert text.text([]) == "base64:" + base64.b64encode(b"\xff\x00").decode()


def test_limits_of_one_and_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "LIMIT", 10)
    budget = Budget(15)
    one, two = BodyText(budget), BodyText(budget)
    one.add("äöüäöü".encode())
    two.add(b"123456789")
    assert one.truncated and one.text([]) == "äöüäö" and two.truncated and two.text([]) == "12345"
    assert budget.left == 0
    one.release()
    two.release()
    assert budget.left == 15
