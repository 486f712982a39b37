"""The dashboard in a browser and the HTML report offline, in a real headless Chromium. Skipped where there is none."""

from __future__ import annotations

import base64
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dashboard.claude_log import write_log
from tests.e2e import chrome

ROOT = Path(__file__).resolve().parents[2]
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?<>=$]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|P[^\x1b]*\x1b\\|[@-_])")

needs_chromium = pytest.mark.skipif(chrome.executable() is None, reason="no Chromium on this machine")


def environment(home: Path) -> dict[str, str]:
    env = {
        **os.environ,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
    }
    env.update(PYTHONPATH=str(ROOT), PYTHONIOENCODING="utf-8", TZ="UTC")
    env.pop("NO_COLOR", None)
    return env


class Served:
    """`ctxmon serve` on a port of its own."""

    def __init__(self, log: Path, home: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "monitor", "serve", str(log), "--port", "0"], env=environment(home), cwd=home,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        try:
            self.port = self._started()
        except BaseException:
            self.process.kill()
            self.process.communicate()
            raise
        self.address = f"http://127.0.0.1:{self.port}"

    def _started(self) -> int:
        """The port, once it is open."""
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", first)
        assert found, first
        port = int(found[1])
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return port
            time.sleep(0.05)
        raise AssertionError("the server did not open its port")

    def end(self) -> tuple[int, str]:
        """Interrupt it as Ctrl+C does; its exit code and what it wrote on stdout."""
        self.process.send_signal(signal.SIGINT)
        out, _ = self.process.communicate(timeout=30)
        return self.process.returncode, out


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    pytest.importorskip("textual_serve", reason="needs the extra `web`")
    if sys.platform == "win32":
        pytest.skip("the server is ended by a POSIX signal here")
    home = tmp_path / "home"
    home.mkdir()
    log = tmp_path / "abc.jsonl"
    write_log(log, 12)
    server = Served(log, home)
    yield server
    if server.process.poll() is None:
        server.process.kill()
        server.process.communicate()


def frame(payload: bytes) -> str:
    """What a terminal would show of the bytes, in the order they were drawn."""
    return ESCAPES.sub("", payload.decode("utf-8", "replace"))


def first_frame(address: str, wanted: str, **options: object) -> str:
    """Text of the frames sent over the websocket until a word is in them."""
    from websockets.sync.client import connect

    got = b""
    with connect(address, max_size=None, open_timeout=15, **options) as ws:  # type: ignore[arg-type]
        until = time.monotonic() + 40
        while wanted not in frame(got) and time.monotonic() < until:
            try:
                piece = ws.recv(timeout=1)
            except TimeoutError:
                continue
            got += piece if isinstance(piece, bytes) else piece.encode()
    return frame(got)


def test_the_dashboard_reaches_a_browser_on_this_machine_only(served: Served) -> None:
    with urllib.request.urlopen(served.address, timeout=15) as answer:
        page = answer.read().decode()
    assert "textual-terminal" in page
    assert set(re.findall(r"(?:https?|wss?)://([^/\"']+)", page)) == {f"127.0.0.1:{served.port}"}
    if sys.platform == "linux":  # all of 127/8 is this machine: a server on every address would answer here
        with socket.socket() as probe:
            probe.settimeout(5)
            assert probe.connect_ex(("127.0.0.2", served.port)) != 0

    shown = first_frame(f"ws://127.0.0.1:{served.port}/ws?width=120&height=40", "31,300")
    assert "Prompt tokens" in shown
    assert "31,300" in shown  # the last of 12 prompts that begin at 20,000 and grow by 1,000, and its output of 300
    code, out = served.end()
    assert code == 0
    assert out == ""


def test_other_pages_and_names_are_kept_out(served: Served) -> None:
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus) as refused:
        first_frame(f"ws://127.0.0.1:{served.port}/ws", "never", origin="http://elsewhere.example")
    assert refused.value.response.status_code == 403
    renamed = urllib.request.Request(served.address, headers={"Host": f"rebound.example:{served.port}"})
    with pytest.raises(urllib.error.HTTPError) as kept:
        urllib.request.urlopen(renamed, timeout=15)
    assert kept.value.code == 403
    kept.value.close()
    with urllib.request.urlopen(f"http://localhost:{served.port}/", timeout=15) as answer:
        assert answer.url == served.address + "/"


@needs_chromium
def test_the_dashboard_in_chromium(served: Served, tmp_path: Path) -> None:
    frames: list[bytes] = []
    with chrome.tab(tmp_path) as tab:
        tab.on("Network.webSocketFrameReceived", lambda p: frames.append(_payload(p["response"])))
        tab.open(served.address)
        tab.until("document.body.classList.contains('-first-byte')", seconds=60)
        until = time.monotonic() + 40
        while "Prompt tokens" not in frame(b"".join(frames)) and time.monotonic() < until:
            tab.run("1")  # lets what has arrived be noted
            time.sleep(0.05)
        asked = set(re.findall(r"^(?:https?|wss?)://([^/]+)", "\n".join(tab.requests), re.M))
        errors = [line for line in tab.console if line.startswith(("error", "exception"))]
    assert "Prompt tokens" in frame(b"".join(frames))
    assert asked == {f"127.0.0.1:{served.port}"}
    assert errors == []


def _payload(response: dict[str, object]) -> bytes:
    data = str(response["payloadData"])
    return base64.b64decode(data) if response["opcode"] == 2 else data.encode()


# ------------------------------------------------------------------------------------------------------ HTML report
@needs_chromium
def test_the_report_opens_offline_and_asks_nobody(tmp_path: Path) -> None:
    log = tmp_path / "abc.jsonl"
    write_log(log, 12)
    page = tmp_path / "report.html"
    made = subprocess.run(
        [sys.executable, "-m", "monitor", "report", str(log), "--format", "html", "-o", str(page)],
        env=environment(tmp_path), cwd=tmp_path, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (made.returncode, made.stdout) == (0, b"")
    with chrome.tab(tmp_path) as tab:
        tab.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        for scheme in ("light", "dark"):
            tab.prefer(scheme)
            for width in (1280, 390):
                tab.size(width, 900)
                tab.open(page.as_uri())
                assert tab.run("document.documentElement.scrollWidth") <= width, "nothing sticks out at the side"
        assert tab.run("document.querySelectorAll('.plot').length") == 1
        # the read-out follows the pointer and the keys, and says what the table behind the picture says
        rows = tab.run(
            "[...document.querySelectorAll('table.calls tbody tr')].map(row => [...row.cells].map(c => c.textContent))"
        )
        assert len(rows) == 12
        tab.run("document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', {key: 'Home'}))")
        assert rows[0][2] in tab.run("document.querySelector('.readout').textContent")
        tab.run("document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))")
        assert rows[1][2] in tab.run("document.querySelector('.readout').textContent")
        tab.run(
            "{const box = document.querySelector('.area').getBoundingClientRect();"
            "document.querySelector('.plot').dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + 1}))}"
        )
        shown = tab.run("document.querySelector('.readout').textContent")
        assert rows[0][2] in shown
        assert shown.startswith("turn 0")
        tab.paper(tmp_path / "page.pdf")
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
        assert set(tab.requests) == {page.as_uri()}
        assert tab.console == []
