"""Folders of made-up logs with their truth: Claude Code, Codex, Pi and a new-api export.

    python benchmarks/trees.py FORMAT OUT [--mb 200] [--files 0] [--seed 7]

Shapes are those of real logs (lines of some KB, results of tools up to 60 KB and told twice, answers of several lines
that repeat their figures, subagents, resumed copies); the content is random words. The truth (calls and token sums) is
returned, and written as ``truth.json`` beside the logs.
"""

from __future__ import annotations

import argparse
import json
import random
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

WORDS = """def return import self value error path index token cache window model request response parse file line
buffer stream count total session config result assert raise yield async with for while if else try"""
START = 1_790_000_000


class Maker:
    """Random text, ids and times for one tree."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        words = WORDS.split()
        rows = ["    ".join(self.random.choice(words) for _ in range(12)) for _ in range(20_000)]
        odd = ["", "", "", ' "quoted" \\n', " é 测试", "\t"]
        self._pool = "\n".join(row + self.random.choice(odd) for row in rows)
        self.truth = {"calls": 0, "prompt": 0, "cache_read": 0, "cache_write": 0, "output": 0}

    def text(self, size: int) -> str:
        start = self.random.randrange(len(self._pool) - size - 1)
        return self._pool[start : start + size]

    def id(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def result(self) -> str:
        return self.text(max(20, min(int(self.random.lognormvariate(7.6, 1.35)), 60_000)))

    def count(self, prompt: int, read: int, write: int, output: int) -> None:
        for name, value in zip(self.truth, (1, prompt, read, write, output)):
            self.truth[name] += value


def stamp(seconds: float) -> str:
    import datetime as dt

    moment = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{int(seconds * 1000) % 1000:03d}Z"


def claude(make: Maker, calls: int, agent_of: str | None = None) -> tuple[str, Iterator[dict[str, Any]]]:
    """A session of Claude Code, or a subagent's part of one."""
    session = agent_of or make.id()

    def rows() -> Iterator[dict[str, Any]]:
        time, last = START + make.random.random() * 5_000_000, None
        model = make.random.choice(["claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101"])

        def row(kind: str, **more: Any) -> dict[str, Any]:
            nonlocal last, time
            time += make.random.random() * 3
            here = {"parentUuid": last, "isSidechain": agent_of is not None, "userType": "external",
                    "cwd": "/home/dev/shop", "sessionId": session, "version": "2.1.63", "gitBranch": "main",
                    "type": kind, **more}  # fmt: skip
            last = make.id()
            return {**here, "uuid": last, "timestamp": stamp(time)}

        yield row("user", message={"role": "user", "content": make.text(300)})
        context, cached = 20_000, 0
        for number in range(calls):
            output, fresh = make.random.randint(60, 3_000), make.random.randint(1, 12)
            write = context - cached - fresh
            usage = {"input_tokens": fresh, "cache_creation_input_tokens": write, "cache_read_input_tokens": cached,
                     "output_tokens": output, "service_tier": "standard"}  # fmt: skip
            make.count(context, cached, write, output)
            message = {"model": model, "id": f"msg_{make.id()[:22]}", "type": "message", "role": "assistant"}
            request, tool = f"req_{make.id()[:22]}", f"toolu_{make.id()[:22]}"
            blocks: list[dict[str, Any]] = [{"type": "text", "text": make.text(make.random.randint(40, 1_500))}]
            if number < calls - 1:
                blocks.append({"type": "tool_use", "id": tool, "name": make.random.choice(["Read", "Bash", "Edit"]),
                               "input": {"file_path": "/home/dev/shop/a.py", "command": "pytest -q"}})  # fmt: skip
            for place, block in enumerate(blocks):
                final = place == len(blocks) - 1
                told = usage if final else {**usage, "output_tokens": 3}
                stop = ("tool_use" if len(blocks) > 1 else "end_turn") if final else None
                said = {**message, "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": told}
                yield row("assistant", message=said, requestId=request)
            if len(blocks) > 1:
                body = make.result()
                content = [{"tool_use_id": tool, "type": "tool_result", "content": body, "is_error": False}]
                yield row("user", message={"role": "user", "content": content},
                          toolUseResult={"stdout": body, "stderr": "", "interrupted": False})  # fmt: skip
                context, cached = context + output + len(body) // 4, context - fresh
            if context > 166_000:
                yield row(
                    "system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": context}
                )
                context, cached = 24_000, 0

    return session, rows()


def codex(make: Maker, calls: int) -> tuple[str, Iterator[dict[str, Any]]]:
    """A Codex rollout from before the records of usage: running totals."""
    thread = make.id()

    def rows() -> Iterator[dict[str, Any]]:
        time = START + make.random.random() * 5_000_000

        def row(kind: str, **payload: Any) -> dict[str, Any]:
            nonlocal time
            time += make.random.random() * 3
            return {"timestamp": stamp(time), "type": kind, "payload": payload}

        yield row("session_meta", id=thread, timestamp=stamp(time), cwd="/home/dev/shop", model_provider="openai")
        yield row("turn_context", model="gpt-5.4", cwd="/home/dev/shop")
        yield row("event_msg", type="user_message", message=make.text(200))
        context, cached, total = 12_000, 0, [0, 0, 0]
        for number in range(calls):
            output = make.random.randint(60, 2_000)
            yield row("response_item", type="reasoning", summary=[], encrypted_content=make.text(600))
            yield row("response_item", type="function_call", name="exec_command", call_id=f"call_{number}",
                      arguments=json.dumps({"cmd": "pytest -q"}))  # fmt: skip
            last = (context, cached, output)
            total = [a + b for a, b in zip(total, last)]
            make.count(context, cached, 0, output)

            def figures(numbers: Any) -> dict[str, int]:
                return {"input_tokens": numbers[0], "cached_input_tokens": numbers[1], "output_tokens": numbers[2],
                        "reasoning_output_tokens": 0, "total_tokens": numbers[0] + numbers[2]}  # fmt: skip

            info = {
                "total_token_usage": figures(total),
                "last_token_usage": figures(last),
                "model_context_window": 258_400,
            }
            yield row("event_msg", type="token_count", info=info)
            body = make.result()
            yield row("response_item", type="function_call_output", call_id=f"call_{number}", output=body)
            context, cached = context + output + len(body) // 4, context // 128 * 128
            if context > 230_000:
                yield row("compacted", message="", replacement_history=[])
                context, cached = 15_000, 0

    return f"rollout-{thread}", rows()


def pi(make: Maker, calls: int) -> tuple[str, Iterator[dict[str, Any]]]:
    """A session of Pi."""
    session = make.id()

    def rows() -> Iterator[dict[str, Any]]:
        time, number = START + make.random.random() * 5_000_000, 0

        def row(message: dict[str, Any]) -> dict[str, Any]:
            nonlocal time, number
            time, number = time + make.random.random() * 3, number + 1
            return {"type": "message", "id": f"e{number}", "parentId": f"e{number - 1}" if number > 1 else None,
                    "timestamp": stamp(time), "message": message}  # fmt: skip

        yield {"type": "session", "version": 3, "id": session, "timestamp": stamp(time), "cwd": "/home/dev/shop"}
        yield row({"role": "user", "content": [{"type": "text", "text": make.text(200)}]})
        context, cached = 3_000, 0
        for place in range(calls):
            output, fresh = make.random.randint(60, 2_000), 10
            write = context - cached - fresh
            make.count(context, cached, write, output)
            usage = {"input": fresh, "output": output, "cacheRead": cached, "cacheWrite": write}
            content = [{"type": "toolCall", "id": f"t{place}", "name": "bash", "arguments": {"command": "pytest -q"}}]
            yield row({"role": "assistant", "provider": "anthropic", "model": "claude-sonnet-4-5", "content": content,
                       "stopReason": "toolUse", "usage": usage, "timestamp": int(time * 1000)})  # fmt: skip
            body = make.result()
            yield row({"role": "toolResult", "toolCallId": f"t{place}", "toolName": "bash", "isError": False,
                       "content": [{"type": "text", "text": body}]})  # fmt: skip
            context, cached = context + output + len(body) // 4, context - fresh
            if context > 180_000:
                context, cached = 20_000, 0

    return session, rows()


def new_api(make: Maker, rows: int, out: Path) -> None:
    """The usage log of a gateway as one JSON document: no session ids, times in seconds, prompts that grow."""
    senders = [[f"key-{n}", START + n * 37, 5_000, 0] for n in range(40)]
    with out.open("w", encoding="utf-8") as stream:
        stream.write("[")
        for number in range(rows):
            sender = make.random.choice(senders)
            sender[1] += make.random.randint(5, 60)
            prompt, output = sender[2], make.random.randint(20, 1_500)
            cached = sender[3] // 128 * 128  # what was sent before is read from the cache, in steps
            full = prompt > 150_000
            sender[2] = 6_000 if full else prompt + output + make.random.randint(50, 3_000)
            sender[3] = 2_000 if full else prompt
            make.count(prompt, cached, 0, output)
            row = {"id": number + 1, "user_id": 3, "created_at": sender[1], "type": 2, "content": "", "username": "dev",
                   "token_name": sender[0], "model_name": "gpt-5.4", "quota": 1000, "prompt_tokens": prompt,
                   "completion_tokens": output, "use_time": 4, "is_stream": True, "channel": 7, "group": "default",
                   "other": json.dumps({"model_ratio": 1, "model_price": -1, "cache_tokens": cached})}  # fmt: skip
            stream.write((",\n" if number else "\n") + json.dumps(row))
        stream.write("\n]\n")


def write(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows).encode()
    path.write_bytes(data)
    return len(data)


AGENTS: dict[str, Callable[[Maker, int], tuple[str, Iterator[dict[str, Any]]]]] = {
    "claude-code": claude,
    "codex": codex,
    "pi": pi,
}


def grow(form: str, out: Path, mb: float, seed: int = 7, files: int = 0) -> dict[str, int]:
    """Make a tree of one format.

    Args:
        mb: size in megabytes, about.
        files: at least so many files: tiny sessions are added (``claude-code`` only).
    """
    make = Maker(seed)
    out.mkdir(parents=True, exist_ok=True)
    if form == "new-api":
        new_api(make, int(mb * 1_000_000 / 420), out / "usage.json")
    else:
        written = number = 0
        while written < mb * 1_000_000:
            name, rows = AGENTS[form](make, make.random.randint(15, 140))
            folder = out / f"-home-dev-{number % 8}"
            written += write(folder / f"{name}.jsonl", rows)
            number += 1
            if form == "claude-code" and make.random.random() < 0.6:
                agent = make.id().replace("-", "")[:17]
                _, rows = claude(make, make.random.randint(3, 30), agent_of=name)
                written += write(folder / name / "subagents" / f"agent-{agent}.jsonl", rows)
                number += 1
        for small in range(number, files):
            name, rows = claude(make, 2)
            write(out / f"-home-dev-small-{small % 40}" / f"{name}.jsonl", rows)
    (out.parent / "truth.json").write_text(json.dumps(make.truth) + "\n", encoding="utf-8")
    return make.truth


def truth_of(folder: Path) -> dict[str, int] | None:
    """The truth beside a tree, in the names used here; also that of other generators."""
    path = folder.parent / "truth.json"
    if not path.is_file():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    if "requests" in found:
        write_all = found["cw5"] + found["cw1h"]
        return {
            "calls": found["requests"],
            "prompt": found["input"] + found["cache_read"] + write_all,
            "cache_read": found["cache_read"],
            "cache_write": write_all,
            "output": found["output"],
        }
    return {name: found[name] for name in ("calls", "prompt", "cache_read", "cache_write", "output")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("format", choices=[*AGENTS, "new-api"])
    parser.add_argument("out", type=Path, help="folder of the logs; truth.json is written beside it")
    parser.add_argument("--mb", type=float, default=200)
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    print(json.dumps(grow(args.format, args.out, args.mb, args.seed, args.files)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
