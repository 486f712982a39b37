"""ctxmon beside other tools on the same tree: they take turns, and ratios and differences to the truth are printed.

    python benchmarks/peers.py --tree DIR/projects [--work FOLDER] [--runs 7] [--no-install] [--json FILE]

Installs into ``--work`` (default: a temporary folder) from npm and PyPI, each in the version named here: ccusage (its
native binary, without the node shim), tokscale (native binary), claude-cache-audit (pure Python). What cannot be
installed is left out and said. The tree is one of Claude Code logs with ``truth.json`` beside it; it is not copied, the
tools get a home folder whose ``.claude/projects`` leads to it. The page cache is warm. Tools that keep a cache are run
with an empty one (first) and again (repeated).
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import trees
from benchmarks.measure import Cost, environment, measure, once, program, size_of, tell

CCUSAGE, TOKSCALE, AUDIT = "20.0.24", "4.17.0", "0.1.0"


@dataclass(slots=True)
class Tool:
    """A command, how to empty its cache, and how to read its totals in the names of the truth."""

    name: str
    command: list[str]
    totals: Callable[[Any], dict[str, Any]]
    before: Callable[[], object] | None = None


def ctxmon_totals(body: Any) -> dict[str, Any]:
    names = {"calls": "calls", "prompt": "prompt_tokens", "cache_read": "cache_read_tokens",
             "cache_write": "cache_write_tokens", "output": "output_tokens", "cost": "cost_usd"}  # fmt: skip
    return {name: body["totals"][key] for name, key in names.items()}


def ccusage_totals(body: Any) -> dict[str, Any]:
    found = body["totals"]
    read, write = found["cacheReadTokens"], found["cacheCreationTokens"]
    return {"prompt": found["inputTokens"] + read + write, "cache_read": read, "cache_write": write,
            "output": found["outputTokens"], "cost": found["totalCost"]}  # fmt: skip


def tokscale_totals(body: Any) -> dict[str, Any]:
    read, write = body["totalCacheRead"], body["totalCacheWrite"]
    return {"calls": body["totalMessages"], "prompt": body["totalInput"] + read + write, "cache_read": read,
            "cache_write": write, "output": body["totalOutput"], "cost": body["totalCost"]}  # fmt: skip


def audit_totals(body: Any) -> dict[str, Any]:
    parts = {name: part["tokens"] for name, part in body["usage_split"].items()}
    write = parts["cache_write_5m"] + parts["cache_write_1h"]
    return {"calls": body["totals"]["requests"], "prompt": parts["uncached_input"] + parts["cache_read"] + write,
            "cache_read": parts["cache_read"], "cache_write": write, "output": parts["output"],
            "cost": body["totals"]["cost"]}  # fmt: skip


def install(work: Path) -> None:
    """Install the peers; what fails is said by npm or pip, and missing in the table."""
    node = work / "node"
    node.mkdir(parents=True, exist_ok=True)
    (node / "package.json").write_text("{}\n", encoding="utf-8")
    packages = [f"ccusage@{CCUSAGE}", f"@tokscale/cli-linux-x64-gnu@{TOKSCALE}"]
    if shutil.which("npm"):
        for package in packages:
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", package], cwd=node, check=False)
    python = work / "python"
    subprocess.run([sys.executable, "-m", "venv", str(python)], check=False)
    pip = python / "bin" / "pip"
    subprocess.run([str(pip), "install", "-q", f"claude-cache-audit=={AUDIT}"], check=False)


def binary(work: Path, pattern: str) -> Path | None:
    """An installed program that is there and runs."""
    for path in sorted(work.glob(pattern)):
        path.chmod(0o755)
        return path
    return None


def tools(work: Path, home: Path, tree: Path) -> list[Tool]:
    """The commands to compare, ours first."""
    ours = program("report", str(tree), "--format", "json", "-q")

    def forget() -> None:
        for name in ("cache", ".cache", "config", "data"):
            shutil.rmtree(home / name, ignore_errors=True)

    found = [
        Tool("ctxmon, first", ours, ctxmon_totals, forget),
        Tool("ctxmon, repeated", ours, ctxmon_totals),
        Tool("ctxmon --no-cache", [*ours, "--no-cache"], ctxmon_totals),
    ]
    ccusage = binary(work, "node/node_modules/@ccusage/ccusage-*/bin/ccusage")
    if ccusage is not None:
        found.append(
            Tool(f"ccusage {CCUSAGE}", [str(ccusage), "claude", "daily", "--offline", "--json"], ccusage_totals)
        )
    tokscale = binary(work, "node/node_modules/@tokscale/cli-*/bin/tokscale")
    if tokscale is not None:
        command = [str(tokscale), "--json", "--no-spinner", "-c", "claude"]
        found.append(Tool(f"tokscale {TOKSCALE}, first", command, tokscale_totals, forget))
        found.append(Tool(f"tokscale {TOKSCALE}, repeated", command, tokscale_totals))
    audit = binary(work, "python/bin/claude-cache-audit")
    if audit is not None:
        found.append(Tool(f"claude-cache-audit {AUDIT}", [str(audit), "--all", "--json"], audit_totals))
    return found


def differences(found: dict[str, Any], truth: dict[str, Any]) -> dict[str, float]:
    """Per cent by which totals are off, those that are off by more than a rounding."""
    off = {name: 100 * (value - truth[name]) / truth[name] for name, value in found.items() if truth.get(name)}
    return {name: round(value, 2) for name, value in off.items() if abs(value) > 0.001}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, required=True, help="folder of Claude Code logs, truth.json beside it")
    parser.add_argument("--work", type=Path, help="where the peers are installed")
    parser.add_argument("--no-install", action="store_true", help="they are there already")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures here (- for stdout)")
    args = parser.parse_args()
    tree = args.tree.resolve()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        work = args.work.resolve() if args.work is not None else home / "work"
        if not args.no_install:
            install(work)
        (home / ".claude").mkdir()
        (home / ".claude" / "projects").symlink_to(tree, target_is_directory=True)
        env = environment(home) | {"CLAUDE_CONFIG_DIR": str(home / ".claude")}
        chosen = tools(work, home, tree)
        runs: dict[str, list[tuple[float, float, float, bytes]]] = {tool.name: [] for tool in chosen}
        measure("", chosen[0].command, env, runs=1)  # byte code and page cache
        for _ in range(args.runs):
            for tool in chosen:
                if tool.before is not None:
                    tool.before()
                runs[tool.name].append(once(tool.command, env))
        size, files = size_of(tree)
        truth: dict[str, Any] = dict(trees.truth_of(tree) or {})
        exact = tree.parent / "truth.json"
        if exact.is_file() and "cost_usd" in (told := json.loads(exact.read_text(encoding="utf-8"))):
            truth["cost"] = told["cost_usd"]
        costs, wrong = [], {}
        base = next((runs[tool.name] for tool in chosen if tool.name.startswith("ccusage")), None)
        for tool in chosen:
            done = runs[tool.name]
            cpu = [run[0] for run in done]
            cost = Cost(tool.name, round(min(cpu), 4), round(min(run[1] for run in done), 4),
                        round(max(run[2] for run in done), 1), args.runs, round(size / 1e6 / min(cpu), 1))  # fmt: skip
            cost.notes = {"median": round(statistics.median(cpu), 3)}
            if base is not None:  # of the two runs that stood side by side: what else the machine does changes both
                ratios = [mine[0] / theirs[0] for mine, theirs in zip(done, base)]
                cost.notes["of ccusage's CPU"] = round(statistics.median(ratios), 2)
                cost.notes["of its memory"] = round(cost.rss_mib / max(run[2] for run in base), 2)
            costs.append(cost)
            wrong[tool.name] = differences(tool.totals(json.loads(done[-1][3])), truth)
        print(
            f"{files} files, {size / 1e6:.0f} MB, {args.runs} runs, the tools in turns: best CPU seconds, median ratio"
        )
        tell(costs, args.json, differences=wrong)
        print("differences to the truth, in per cent:")
        for name, values in wrong.items():
            print(f"  {name}: {', '.join(f'{key} {value:+.2f}' for key, value in values.items()) or 'none'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
