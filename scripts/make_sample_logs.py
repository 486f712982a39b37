#!/usr/bin/env python3
"""Makes `sample_logs/` anew: real clients work on a small shop project against the rig's provider on loopback.

    python scripts/make_sample_logs.py --rig RIG [--litellm PROGRAM] [--only claude,codex,pi,new-api,litellm]

RIG is the folder with `loopback_provider.py` and `real_clients.py`; starlette and uvicorn must be installed, for the
clients also node 20 and npm (they are installed into --clients-dir when missing), for `litellm` the program of an
environment with litellm[proxy] (--litellm). Nothing leaves the machine. The
vendors' texts are replaced by filler (`sample_logs_redact.py`), times of pauses follow the provider's clock
(`sample_logs_rig.py`). `expected.json` is computed from the provider's ledger, and each log is compared with it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import sample_logs_truth as truth
from sample_logs_litellm import Proxy
from sample_logs_redact import Redactor, shortened, tool_outputs
from sample_logs_rig import Scripted, load
from sample_logs_story import Story, build_project, story

REPO = Path(__file__).resolve().parent.parent
FACTS = "<!-- what follows is written by scripts/make_sample_logs.py -->"
CLAUDE_TOOLS = "Bash,Read,Edit,Write,Agent"
PI_MODEL, GATEWAY_MODEL, PROXY_MODEL = "deepseek-v3", "claude-sonnet-4-5", "gpt-5.1"
# windows the clients are told, so small that they compact by themselves within the story
CODEX_WINDOW, PI_WINDOW, GATEWAY_WINDOW = 40_000, 65_536, 40_000
PI_COST = {"input": 0.27, "output": 1.1, "cacheRead": 0.07, "cacheWrite": 0}  # USD per million tokens
# one request is refused, the client asks again
OVERLOADED = {"rules": [{"when": {"purpose": "work", "nth": [12]}, "do": {"status": 529}}]}
GIT = {
    f"GIT_{who}_{what}": v
    for who in ("AUTHOR", "COMMITTER")
    for what, v in (("NAME", "dev"), ("EMAIL", "dev@shop.invalid"))
}


def project(world: Any) -> None:
    """The shop as a git repository with one commit."""
    files = build_project(world.work)
    (world.work / "pay.py").unlink(missing_ok=True)
    env = world.env() | GIT
    for args in (["add", "."], ["commit", "-q", "-m", "Shop as it is"]):
        subprocess.run(["git", *args], cwd=world.work, env=env, check=True)
    world.files = files


class Run:
    """One client at work: provider, client's world, and afterwards its session files as they may be published."""

    def __init__(
        self,
        args: argparse.Namespace,
        client: str,
        window: int | None,
        latency: tuple[int, int],
        scenario: dict[str, Any] | None = None,
        gateway: Callable[[str, str], str] | None = None,
    ):
        """gateway: takes the provider's URL and the clients' key, gives the URL the client is to talk to."""
        self.args, self.client = args, client
        self.clients = load(args.rig / "real_clients.py")
        why = self.clients.install(client, args.clients_dir)
        if why:
            raise SystemExit(f"{client}: {why}")
        shutil.rmtree(args.home / client, ignore_errors=True)
        work = (args.home / client / "shop").resolve()
        self.scripted = Scripted(load(args.rig / "loopback_provider.py"), work, scenario or {}, latency)
        base = gateway(self.scripted.base, self.clients.KEY) if gateway else self.scripted.base
        self.world = self.clients.World(client, base, args.home, args.clients_dir, window)
        self.span = (time.time(), 0.0)

    def play(self, tale: Story, command: Callable[[list[str]], list[str]] = list) -> None:
        """Types the prompts one after the other; each run of the client goes on with the session."""
        project(self.world)
        self.scripted.own += list(self.world.files.values())
        self.scripted.summary(tale.summary)
        plain = self.world.command
        self.world.command = lambda text, **how: command(plain(text, **how))
        log = self.args.home / f"{self.client}.console.log"
        try:
            for i, prompt in enumerate(tale.prompts):
                self.scripted.play(prompt)
                code = self.world.run(prompt.text, log, timeout=300, cont=i > 0)
                left = len(self.scripted.steps) + len(self.scripted.agent_steps)
                if code or left:
                    raise SystemExit(
                        f"{self.client}: exit {code} at prompt {i + 1}, {left} steps not asked for; see {log}"
                    )
                self.scripted.own += [
                    f.read_text("utf-8") for f in self.world.work.rglob("*.*") if f.suffix in (".py", ".md")
                ]
        finally:
            self.scripted.stop()
            self.span = (self.span[0], time.time())

    def redactor(self, records: list[dict[str, Any]]) -> Redactor:
        home, work = str(self.world.home), str(self.world.work)
        slug = {real: re.sub(r"[^A-Za-z0-9]", "-", real) for real in (home, work)}
        paths = [
            (work, "/home/dev/shop"),
            (home, "/home/dev"),
            (slug[work], "-home-dev-shop"),
            (slug[work].lstrip("-"), "home-dev-shop"),
            (slug[home], "-home-dev"),
            (f"/tmp/claude-{os.getuid() if hasattr(os, 'getuid') else 0}", "/home/dev/.tmp"),
            (str(self.args.clients_dir.resolve()), "/home/dev/.npm"),
            (self.scripted.base, "http://provider.invalid"),
            ("127.0.0.1", "192.0.2.10"),
        ]
        return Redactor(self.scripted.own + tool_outputs(records), paths, self.span, self.scripted.clock.moved)

    def publish(self, below: str, out: Path, change: Callable[[dict[str, Any]], dict[str, Any]] = dict) -> list[Path]:
        """Writes the session files to out, in the client's own folders below the folder `below` of its home."""
        files = {f: [json.loads(x) for x in f.read_bytes().split(b"\n") if x] for f in self.world.session_files()}
        redactor = self.redactor([r for records in files.values() for r in records])
        shutil.rmtree(out, ignore_errors=True)
        written = []
        others = list(self.world.home.glob(f"{below}/**/*.meta.json"))
        for f in [*files, *others]:
            to = out / redactor.place(str(f.relative_to(self.world.home / below)))
            to.parent.mkdir(parents=True, exist_ok=True)
            if f in files:
                lines = (
                    json.dumps(change(redactor.apply(r)), ensure_ascii=False, separators=(",", ":")) + "\n"
                    for r in files[f]
                )
                to.write_bytes("".join(lines).encode("utf-8", "surrogatepass"))
            else:
                to.write_text(
                    json.dumps(redactor.apply(json.loads(f.read_text("utf-8"))), ensure_ascii=False), encoding="utf-8"
                )
            written.append(to)
        return written


def claude_record(r: dict[str, Any]) -> dict[str, Any]:
    """Copies of the request, which repeat the conversation, are cut short; shapes stay."""
    return shortened(r, 96) if r["type"] in ("api-request-shape", "api-request-blob") else r


def claude(args: argparse.Namespace) -> dict[str, Any]:
    run = Run(args, "claude", None, (350, 1900))

    def command(parts: list[str]) -> list[str]:
        parts[parts.index("--allowedTools") + 1] = CLAUDE_TOOLS
        return parts

    run.play(story("claude"), command)
    run.publish(".claude", args.out / "claude-code", claude_record)
    return truth.claude(args.out / "claude-code", run.scripted.ledger())


def codex(args: argparse.Namespace) -> dict[str, Any]:
    run = Run(args, "codex", CODEX_WINDOW, (500, 2600))
    run.play(story("codex"))
    run.publish(".codex", args.out / "codex")
    return truth.codex(args.out / "codex", run.scripted.ledger())


def set_model(run: Run, provider: str, name: str, **more: Any) -> None:
    """Another model name in Pi's configuration of a provider; more: other keys of that provider or model."""
    file = ".pi/agent/models.json"
    config = json.loads((run.world.home / file).read_text("utf-8"))
    entry = config["providers"][provider]
    entry["models"][0] |= {"id": name} | {k: v for k, v in more.items() if k != "headers"}
    entry |= {k: v for k, v in more.items() if k == "headers"}
    run.world.put(file, config)


def pi(args: argparse.Namespace) -> dict[str, Any]:
    run = Run(args, "pi", PI_WINDOW, (200, 1500))
    set_model(run, "loop", PI_MODEL, cost=PI_COST)
    run.world.put(".pi/agent/settings.json", {"compaction": {"enabled": True}})  # Pi's own reserve
    run.play(story("pi"), lambda parts: [PI_MODEL if p == "loop-1" else p for p in parts])
    run.publish(".pi/agent", args.out / "pi")
    return truth.pi(args.out / "pi", run.scripted.ledger())


def new_api(args: argparse.Namespace) -> dict[str, Any]:
    run = Run(args, "pi-anthropic", GATEWAY_WINDOW, (400, 3200), OVERLOADED)
    set_model(run, "loopa", GATEWAY_MODEL)
    run.play(story("codex"), lambda parts: [GATEWAY_MODEL if p == "claude-loop-1" else p for p in parts])
    return truth.new_api(args.out / "new-api", run.scripted.ledger())


def litellm(args: argparse.Namespace) -> dict[str, Any]:
    if args.litellm is None:
        raise SystemExit("litellm: --litellm names the program litellm of an environment with litellm[proxy]")
    proxies: list[Proxy] = []

    def gateway(provider: str, key: str) -> str:
        proxies.append(Proxy(args.litellm.resolve(), provider, (args.home / "litellm").resolve(), PROXY_MODEL, key))
        return proxies[0].base

    run = Run(args, "pi", None, (300, 2400), gateway=gateway)
    try:
        set_model(run, "loop", PROXY_MODEL, headers={"x-litellm-session-id": "shop-vouchers"})
        tale = story("pi")
        tale.prompts = tale.prompts[:2]
        run.play(tale, lambda parts: [PROXY_MODEL if p == "loop-1" else p for p in parts])
        ledger = run.scripted.ledger()
        payloads = proxies[0].payloads(len(ledger))
    finally:
        proxies[0].stop()
    redactor = run.redactor([])
    to = args.out / "litellm" / "standard-logging.jsonl"
    to.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(redactor.apply(without_nulls(p)), separators=(",", ":")) + "\n" for p in payloads)
    to.write_bytes("".join(lines).encode())
    return truth.litellm(to, ledger)


def without_nulls(payload: dict[str, Any]) -> dict[str, Any]:
    """The price table in a payload without its 150 empty prices."""
    info = payload["model_map_information"]
    value = {k: v for k, v in info["model_map_value"].items() if v is not None}
    return payload | {"model_map_information": info | {"model_map_value": value}}


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "claude": claude,
    "codex": codex,
    "pi": pi,
    "new-api": new_api,
    "litellm": litellm,
}


def version(clients_dir: Path, part: str) -> str:
    """Name and version of the client that worked for a part."""
    name = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex"}.get(part, "@mariozechner/pi-coding-agent")
    package = json.loads((clients_dir / "node_modules" / name / "package.json").read_text("utf-8"))
    return f"{name} {package['version']}"


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--rig", type=Path, required=True, help="folder with loopback_provider.py and real_clients.py")
    ap.add_argument("--only", default=",".join(PARTS), help="parts to make anew, comma separated")
    ap.add_argument("--clients-dir", type=Path, default=Path("rig-clients"), help="npm packages are installed here")
    ap.add_argument("--home", type=Path, default=Path("rig-home"), help="throw-away HOMEs and consoles")
    ap.add_argument("--litellm", type=Path, help="the program litellm, for the part litellm")
    ap.add_argument("--out", type=Path, default=REPO / "sample_logs")
    args = ap.parse_args()
    for part in args.only.split(","):
        if part not in PARTS:
            ap.error(f"unknown part {part}; known: {', '.join(PARTS)}")
    args.home.mkdir(parents=True, exist_ok=True)
    for part in args.only.split(","):
        sources = PARTS[part](args)
        for facts in sources.values():
            facts |= {"client": version(args.clients_dir, part), "made": time.strftime("%Y-%m-%d", time.gmtime())}
        truth.merge(args.out / "expected.json", sources)
        for path, facts in sources.items():
            folds = facts["compactions"]
            print(f"{path}: {facts['calls']} calls, peak {facts['peak_prompt_tokens']}, compactions {len(folds)}")
    readme = args.out / "README.md"
    if readme.exists():
        head, mark, _ = readme.read_text("utf-8").partition(FACTS)
        readme.write_text(f"{head}{mark}\n{truth.table(args.out / 'expected.json')}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
