"""Work in a child process."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from monitor.dashboard import aside
from monitor.dashboard.compactor import Retention


def test_results_come_back_and_foreseen_errors_keep_their_words() -> None:
    assert aside.aside(Retention, "facts", 3, 5, ("a",)) == Retention("facts", 3, 5, ("a",))
    with pytest.raises(ValueError, match="invalid literal for int"):
        aside.aside(int, "three")
    with pytest.raises(aside.AsideError, match="TypeError"):
        aside.aside(len, 3)


def test_a_child_that_nobody_waits_for_is_ended() -> None:
    found: list[BaseException] = []

    def work() -> None:
        try:
            aside.aside(time.sleep, 60)
        except aside.AsideError as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while not aside._running:
        thread.join(0.01)
    aside.stop()
    thread.join(30)
    assert not thread.is_alive() and len(found) == 1 and not aside._running


def test_without_children_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert aside.aside(threading.get_ident) == threading.get_ident()
