"""A headless Chromium driven over its DevTools protocol: just enough to open a page and see what it does."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--no-default-browser-check", "--disable-features=Translate,OptimizationHints,MediaRouter",
    "--remote-debugging-port=0", "--disable-dev-shm-usage",
)  # fmt: skip


def executable() -> str | None:
    """Where a Chromium is, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Tab:
    """One page. Everything it asks the network for and writes to its console is noted."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._number = socket, 0
        self._listeners: dict[str, Callable[[dict[str, Any]], object]] = {}
        self.requests: list[str] = []
        self.console: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, seconds: float = 30, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its result; what happens meanwhile is noted."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            message = self._next(until)
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error'].get('message')}")
                return dict(message.get("result", {}))
        raise TimeoutError(f"{method}: no answer within {seconds} s")

    def on(self, event: str, listener: Callable[[dict[str, Any]], object]) -> None:
        """Call a function with the parameters of each event of a kind."""
        self._listeners[event] = listener

    def _next(self, until: float) -> dict[str, Any]:
        message = json.loads(self._socket.recv(timeout=max(0.05, until - time.monotonic())))
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(params["url"])
        elif method == "Log.entryAdded":
            self.console.append(f"{params['entry']['level']}: {params['entry']['text']}")
        elif method == "Runtime.consoleAPICalled":
            self.console.append(f"{params['type']}: {[a.get('value', a.get('description')) for a in params['args']]}")
        elif method == "Runtime.exceptionThrown":
            self.console.append(f"exception: {params['exceptionDetails'].get('text')}")
        if method in self._listeners:
            self._listeners[method](params)
        return dict(message)

    def open(self, address: str) -> None:
        """Go to an address and wait until it is loaded."""
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of a script expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("text"))
        return result["result"].get("value")

    def until(self, script: str, seconds: float = 30) -> Any:
        """Ask again and again until an expression is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script):
                return value
            time.sleep(0.05)
        raise TimeoutError(f"not true within {seconds} s: {script}")

    def size(self, width: int, height: int) -> None:
        """The window, in CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme: str) -> None:
        """``light`` or ``dark``."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Write a PNG of the page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def paper(self, path: Path) -> None:
        """Write the page as PDF, as it would be printed."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))


@contextmanager
def tab(folder: Path, *, width: int = 1280, height: int = 900) -> Iterator[Tab]:
    """A fresh browser with one tab; its profile lies in ``folder`` and it ends with the block."""
    from websockets.sync.client import connect

    program = executable()
    assert program is not None
    profile = folder / "profile"
    process = subprocess.Popen(
        [program, *_FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}", "about:blank"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        port = _port(profile / "DevToolsActivePort", process)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
            pages = [entry for entry in json.load(answer) if entry["type"] == "page"]
        with connect(pages[0]["webSocketDebuggerUrl"], max_size=None, open_timeout=15) as socket:
            yield Tab(socket)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    end = time.monotonic() + 40
    while time.monotonic() < end and process.poll() is None:
        try:
            first = file.read_text(encoding="utf-8").split("\n")[0]
        except OSError:
            first = ""
        if first.isdigit():
            return int(first)
        time.sleep(0.05)
    raise RuntimeError("the browser did not start")
