"""What short commands cost: `--help`, `statusline`, `decide` on the newest of 300 sessions, `calls`.

    python benchmarks/commands.py [--tree DIR] [--runs 9] [--json FILE]

Without a tree one of 200 MB of Claude Code logs (about 300 files) is made. `decide` meets a cache filled before and a
newest session that has grown since, which is what it meets while one works.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import trees
from benchmarks.measure import Cost, environment, measure, program, size_of, tell


def status(transcript: Path) -> bytes:
    """What a client gives its status line command."""
    usage = {
        "input_tokens": 5,
        "output_tokens": 900,
        "cache_creation_input_tokens": 1_200,
        "cache_read_input_tokens": 92_000,
    }
    body = {
        "session_id": transcript.stem,
        "transcript_path": str(transcript),
        "cwd": "/home/dev/shop",
        "model": {"id": "claude-sonnet-4-5-20250929", "display_name": "Sonnet"},
        "version": "2.1.63",
        "context_window": {"context_window_size": 200_000, "current_usage": usage, "used_percentage": 47},
    }
    return json.dumps(body).encode()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, help="folder of Claude Code logs (it is added to: one line feed)")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--json", type=Path, help="write the figures here (- for stdout)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        env = environment(home)
        tree = args.tree
        if tree is None:
            tree = home / "made" / "projects"
            trees.grow("claude-code", tree, 200)
        size, _ = size_of(tree)
        logs = [path for path in tree.rglob("*.jsonl") if "subagents" not in path.parts]
        newest = max(logs, key=lambda path: path.stat().st_mtime)

        def grown() -> None:
            with newest.open("ab") as stream:
                stream.write(b"\n")

        for arguments in (("--help",), ("decide", str(tree), "-q")):  # byte code and cache
            measure("", program(*arguments), env, runs=1)
        costs: list[Cost] = []

        def add(name: str, command: list[str], **more: object) -> None:
            costs.append(measure(name, command, env, runs=args.runs, **more)[0])  # type: ignore[arg-type]

        add("an empty interpreter", [sys.executable, "-c", "pass"])
        add("--help", program("--help"), goal="<= 0.030")
        add("report --help", program("report", "--help"))
        add("statusline", program("statusline"), stdin=status(newest), goal="<= 0.060")
        add("decide, newest of all, cache", program("decide", str(tree), "-q"), before=grown, goal="<= 0.150")
        add("decide, one session", program("decide", str(newest), "-q", "--no-cache"))
        add("calls --format ndjson, cache", program("calls", str(tree), "--format", "ndjson", "-q"), size=size)
        add(
            "calls --format ndjson, no cache",
            program("calls", str(tree), "--format", "ndjson", "-q", "--no-cache"),
            size=size,
        )
        tell(costs, args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
