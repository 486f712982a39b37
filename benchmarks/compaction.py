"""CPU seconds and memory of an offline compaction, by size and format.

    python benchmarks/compaction.py [--tokens 1000000] [--formats openai-chat,claude-code] [--parts] [--json FILE]

Builds a conversation of about that many tokens in memory (code, logs, prose, commands, several languages), writes it to
a temporary folder, and runs ``ctxmon compact`` on it in a process of its own, start and imports included. The target is
1,000,000 tokens in at most 5 CPU seconds and 500 MiB. ``--parts`` tells where the time goes, in this process.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.measure import Cost, environment, measure, program, tell
from tests.compaction.stories import SUFFIX, Call, Story, build, noise, say, user

TARGET_CPU, TARGET_MIB = 5.0, 500


def story(tokens: int) -> Story:
    """A long working session: exchanges of reads, edits, test runs and log searches, until it has ``tokens`` tokens."""
    steps = []
    left, n = tokens, 0
    while left > 0:
        n += 1
        rule = f"Die Schnittstelle von m{n} darf nicht geändert werden."
        steps.append(user(f"Schritt {n}: Modul m{n} auf Ereignisse umstellen. {rule} Use port {8000 + n}."))
        code, log, prose = noise(n, 220, "code"), noise(n + 1, 260, "log"), noise(n + 2, 120, "prose")
        reads = [Call("read_file", {"path": f"src/m{n}.py"}, code), Call("read_file", {"path": f"docs/m{n}.md"}, prose)]
        steps.append(say(f"I read src/m{n}.py.", *reads))
        log += f"\n2026-11-03T07:00:00Z ERROR m{n}[7] app.errors.StaleEvent: event {n} came twice"
        steps.append(say("", Call("run", {"command": f"journalctl -u m{n} -n 300"}, log)))
        edit = {"path": f"src/m{n}.py", "old": code[:400], "new": code[:420]}
        why = "The handler is not idempotent because the key lacks the shard."
        steps.append(say(why, Call("edit_file", edit, f"Edited src/m{n}.py")))
        tests = noise(n + 3, 60) + f"\n{n} passed in 0.4s\nexit code: 0"
        steps.append(say("", Call("run", {"command": f"pytest tests/m{n} -q"}, tests)))
        steps.append(say(f"Module m{n} is done, {n} tests pass. Next: module m{n + 1}."))
        left -= 17_500
    steps.append(user("Weiter mit dem nächsten Modul."))
    return Story("long", "You are a coding agent.", steps, {})


def main() -> int:
    """Run and print a table; exit 1 where the target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--formats", default="openai-chat,claude-code")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures here (- for stdout)")
    args = parser.parse_args()
    costs: list[Cost] = []
    with tempfile.TemporaryDirectory() as folder:
        for fmt in args.formats.split(","):
            path = Path(folder) / f"long{SUFFIX.get(fmt, '.json')}"
            path.write_bytes(build(story(args.tokens), fmt))
            if args.parts:
                parts(path)
                continue
            out = path.with_suffix(".out" + path.suffix)
            small = Path(folder) / f"short{SUFFIX.get(fmt, '.json')}"
            small.write_bytes(build(story(20_000), fmt))
            env = environment(Path(folder))
            measure("", program("compact", str(small), "-q", "--force"), env, runs=1)  # byte code
            command = program("compact", str(path), "-o", str(out), "-q", "--force")
            size, goal = path.stat().st_size, f"<= {TARGET_CPU:.0f} s, {TARGET_MIB} MiB"
            cost, _ = measure(fmt, command, env, runs=args.runs, size=size, goal=goal)
            costs.append(cost)
    if costs:
        tell(costs, args.json)
    return 1 if any(cost.cpu_s > TARGET_CPU or cost.rss_mib > TARGET_MIB for cost in costs) else 0


def parts(path: Path) -> None:
    """Where the time goes."""
    from monitor import conversation
    from monitor.compaction import collect, cut, redact, render
    from monitor.conversation.rules import check
    from monitor.conversation.tokens import measure as count

    marks = [("start", time.process_time())]

    def mark(name: str) -> None:
        marks.append((name, time.process_time()))

    conv = conversation.load(path)
    mark("load")
    check(conv)
    mark("check")
    total = count(conv)
    mark("tokens")
    chosen = cut.cut(conv, 2, 20_000)
    mark("cut")
    redactor = redact.Redactor.of(conv)
    mark("secrets")
    state = collect.collect(conv, chosen.kept)
    mark("state")
    summary = render.render(state, redact=redactor)
    mark("render")
    told = ", ".join(f"{b[0]} {b[1] - a[1]:.2f}" for a, b in pairwise(marks))
    print(f"{path.name}: {total.total:,} tokens; {told} s; summary {summary.tokens:,} tokens")


if __name__ == "__main__":
    sys.exit(main())
