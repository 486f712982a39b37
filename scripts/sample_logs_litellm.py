"""A LiteLLM proxy on loopback in front of the rig's provider, with a callback that writes each logging payload.

`Proxy(litellm, provider, folder, model, key)` starts it and waits until it answers; `payloads()` reads what it wrote.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

CALLBACK = '''"""Writes the StandardLoggingPayload of each call as one line."""
import json
import pathlib

from litellm.integrations.custom_logger import CustomLogger

FILE = pathlib.Path(__file__).with_name("payloads.jsonl")


class Writer(CustomLogger):
    def write(self, kwargs):
        with FILE.open("a", encoding="utf-8") as out:
            out.write(json.dumps(kwargs["standard_logging_object"], default=str) + "\\n")

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        self.write(kwargs)

    async def async_log_failure_event(self, kwargs, response_obj, start_time, end_time):
        self.write(kwargs)


writer = Writer()
'''


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Proxy:
    """litellm: the program of an environment with litellm[proxy]; provider: base URL behind the proxy; key: what
    the clients send."""

    def __init__(self, litellm: Path, provider: str, folder: Path, model: str, key: str):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "payloads.jsonl").unlink(missing_ok=True)
        (folder / "writer.py").write_text(CALLBACK, encoding="utf-8")
        config = {
            "model_list": [
                {
                    "model_name": model,
                    "litellm_params": {"model": f"openai/{model}", "api_base": f"{provider}/v1", "api_key": "none"},
                }
            ],
            "general_settings": {"master_key": key},
            # contents stay out of the log: a setting that LiteLLM's users have
            "litellm_settings": {"callbacks": "writer.writer", "turn_off_message_logging": True},
        }
        (folder / "config.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        command = [str(litellm), "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
        env = os.environ | {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_TELEMETRY": "False",
            "NO_PROXY": "127.0.0.1",
        }
        with (folder / "console.log").open("wb") as log:
            self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        self.wait(90)

    def wait(self, seconds: float) -> None:
        end = time.time() + seconds
        while time.time() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.base}/health/liveliness", timeout=2):
                    return
            except OSError:
                time.sleep(0.5)
        self.stop()
        raise SystemExit(f"the LiteLLM proxy did not start; see {self.folder / 'console.log'}")

    def payloads(self, count: int) -> list[dict[str, Any]]:
        """The payloads in the order of their start; waits up to ten seconds for the last ones."""
        file, end = self.folder / "payloads.jsonl", time.time() + 10
        while time.time() < end and (not file.exists() or len(file.read_bytes().split(b"\n")) <= count):
            time.sleep(0.2)
        found = [json.loads(x) for x in file.read_bytes().split(b"\n") if x]
        return sorted(found, key=lambda p: p["startTime"])

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
