"""The remembered view."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from monitor.dashboard.model import state


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "dashboard.json"
    state.save(path, state.ViewState(theme="ctxmon-light", session="abc", level=-4, share=True))
    again = state.load(path)
    assert (again.theme, again.session, again.level, again.share) == ("ctxmon-light", "abc", -4, True)
    assert [p.name for p in path.parent.iterdir()] == ["dashboard.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"level":"x"}', b"\xff\xfe", b'{"share":1}', b'{"a":' * 2_000])
def test_a_broken_file_is_the_first_start(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dashboard.json"
    path.write_bytes(content)
    assert state.load(path) == state.ViewState()


def test_values_from_elsewhere_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "dashboard.json"
    path.write_bytes(b'{"scale":"sideways","level":0,"panel":"nowhere","later":true}')
    loaded = state.load(path)
    assert loaded.scale == "auto" and loaded.level is None


def test_no_place_to_write_is_no_reason_to_fail(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("x", encoding="utf-8")
    state.save(blocker / "dashboard.json", state.ViewState())
    state.save(None, state.ViewState())
    assert state.load(None) == state.ViewState()
    assert state.load(tmp_path) == state.ViewState()


@pytest.mark.skipif(sys.platform == "win32", reason="XDG is for other systems")
def test_the_place_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state.state_file() == tmp_path / "ctxmon" / "dashboard.json"
