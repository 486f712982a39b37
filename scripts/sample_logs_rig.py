"""The rig's provider with a scripted model: it answers with the steps of a story instead of its own.

Counting, cache and wire formats stay the rig's. Pauses of the user move the provider's cache clock; `World.moved`
moves a time of the run in the same way, so that logs and ledger tell of the same day.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from sample_logs_story import SAID, Prompt, Step


def load(path: Path) -> ModuleType:
    """A module from a file of the rig."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: not there; --rig names the folder with loopback_provider.py and real_clients.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class Clock:
    """The pauses of a run: real time of each and its length in seconds."""

    pauses: list[tuple[float, float]] = field(default_factory=list)

    def moved(self, t: float) -> float:
        """A real time of the run as the run's own clock shows it."""
        return t + sum(s for at, s in self.pauses if t >= at)


def arguments(step: Step, tools: dict[str, dict], folder: Path) -> tuple[str, dict[str, Any]]:
    """The name and the arguments with which a client's own tools carry a step out."""
    _, kind, *rest = step
    shell = next(n for n in ("Bash", "bash", "exec_command", "shell") if n in tools)
    claude = "Bash" in tools
    path = str(folder / rest[0]) if claude else rest[0]
    if kind == "read" and ("Read" in tools or "read" in tools):
        part = {"offset": int(rest[1]), "limit": int(rest[2])} if len(rest) > 1 else {}
        return ("Read", {"file_path": path, **part}) if claude else ("read", {"path": path, **part})
    if kind == "write" and ("Write" in tools or "write" in tools):
        return (
            ("Write", {"file_path": path, "content": rest[1]})
            if claude
            else ("write", {"path": path, "content": rest[1]})
        )
    if kind == "edit" and claude:
        return "Edit", {"file_path": path, "old_string": rest[1], "new_string": rest[2]}
    if kind == "agent":
        return "Agent", {
            "description": rest[0],
            "prompt": rest[1],
            "subagent_type": "general-purpose",
            "run_in_background": False,
        }
    command = (
        rest[0] if kind == "sh" else f"cat > {rest[0]} <<'END'\n{rest[1]}END" if kind == "write" else f"cat {rest[0]}"
    )
    key = "cmd" if shell == "exec_command" else "command"
    return shell, {key: command} | ({"description": "run the next step"} if claude else {})


class Scripted:
    """A provider of the rig on a free port of loopback whose model plays one `Prompt` after the other."""

    def __init__(self, rig: ModuleType, folder: Path, scenario: dict[str, Any], latency_ms: tuple[int, int]):
        self.folder, self.clock, self.latency = folder, Clock(), latency_ms
        self.steps: list[Step] = []
        self.agent_steps: list[Step] = []
        self.prompt = Prompt("", [])
        self.chains: dict[int, str] = {}
        self.own: list[str] = []
        outer = self

        class Model(rig.Agent):  # type: ignore[name-defined, misc]
            def step(self, t: Any) -> int:
                outer.chain = (
                    "agent" if any(s and s in t.words for s in outer.tasks()) and not outer.is_main(t) else "main"
                )
                outer.todo = outer.agent_steps if outer.chain == "agent" else outer.steps
                return 0 if outer.todo else 10**6

            def shell_call(self, t: Any, step: int, seq: int) -> dict[str, Any]:
                current = outer.todo.pop(0)
                name, args = arguments(current, {x["name"]: x["params"] for x in t.tools}, outer.folder)
                outer.own.append(json.dumps(args, ensure_ascii=False, separators=(",", ":")))
                outer.own.extend(str(v) for v in args.values())
                call = super().shell_call(t, step, seq)
                return dict(call) | {"name": name, "args": args}

            def answer(self, t: Any, do: dict[str, Any], seq: int) -> Any:
                low, high = outer.latency
                do["first_delay_ms"] = low + (seq * 7919) % (high - low)
                self.classify(t)
                outer.chain = "main"
                if t.purpose == "work" and t.tools:
                    self.step(t)
                    final = outer.prompt.agent_final if outer.chain == "agent" else outer.prompt.final
                    do["text"] = (outer.todo[0][0] or SAID[seq % len(SAID)]) if outer.todo else final
                    outer.own.append(do["text"])
                reply = super().answer(t, do, seq)
                outer.own.append(reply.text)
                outer.chains[seq] = outer.chain
                return reply

        self.provider = rig.Provider(rig.Scenario(scenario, steps=1), None)
        self.provider.agent = Model(self.provider.s)
        self.socket = rig.listen(0)
        self.base = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.server = rig.server(self.provider)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()

    def tasks(self) -> list[str]:
        return [s[3] for s in self.prompt.steps if s[1] == "agent"]

    def is_main(self, t: Any) -> bool:
        """Whether the request holds the user's own prompt (a subagent sees its task only)."""
        return self.prompt.text in t.words

    def play(self, prompt: Prompt) -> None:
        """Sets the next prompt up, after the pause before it."""
        self.prompt, self.steps, self.agent_steps = prompt, list(prompt.steps), list(prompt.agent_steps)
        self.own.append(prompt.text)
        self.own += [x for s in prompt.steps + prompt.agent_steps for x in s[2:]]
        # at a whole second: times that a client writes without fractions fall on the right side of it
        time.sleep(1 - time.time() % 1)
        self.clock.pauses.append((float(int(time.time())), float(prompt.pause_s)))
        self.provider.agent.cache.skew += prompt.pause_s

    def summary(self, text: str) -> None:
        """The text of the next summaries."""
        self.provider.s.v["summary"] = {"text": text}
        self.own.append(text)

    def ledger(self) -> list[dict[str, Any]]:
        """The ledger so far, times on the run's clock, each line with its chain."""
        return [
            row | {"t": round(self.clock.moved(row["t"]), 4), "chain": self.chains.get(row["seq"], "main")}
            for row in self.provider.lines
        ]

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)
        self.socket.close()
