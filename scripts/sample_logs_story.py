"""The work that the agents do for the sample logs: a small shop project and the steps of the scripted model.

`build_project(folder, seed)` writes the project, always the same for one seed. `story(name)` reads a story from
`sample_logs_story.toml`. A step is `(said, tool, *arguments)` with the tools `sh command`, `read path [first line,
lines]`, `edit path old new`, `write path text`, `agent name task`. All texts are this project's own.
"""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

Step = tuple[str, ...]
DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TEXTS: dict[str, str] = DATA["texts"]

# what the model says before a step without words of its own
SAID = (
    "Next I read on.",
    "I check that.",
    "Let me see.",
    "Then this one.",
    "One look at the rest.",
    "That may tell more.",
    "Now the details.",
)

ENTITIES = ("order", "invoice", "refund", "customer", "shipment", "voucher")
FIELDS = ("number", "customer", "amount", "currency", "state", "created", "changed", "provider", "reference", "note")


def module(name: str, rnd: random.Random) -> str:
    """Source of a module with one record type and the functions around it, 4 to 14 KB."""
    cls = name.capitalize()
    fields = ["number", "amount", *rnd.sample([f for f in FIELDS if f not in ("number", "amount")], 5)]
    out = [f'"""{cls}s of the shop: checks, rows and reports."""', "", "from dataclasses import dataclass", "", ""]
    out += ["@dataclass", f"class {cls}:"]
    out += [f"    {f}: {'int' if f in ('amount', 'number') else 'str'}" for f in fields]
    out += ["", ""]
    for i in range(rnd.randint(14, 40)):
        a, b = rnd.sample(fields, 2)
        kind = rnd.choice(("check", "row", "report", "match"))
        out.append(f"def {kind}_{a}_{b}_{i}({name}: {cls}, limit: int = {rnd.randint(1, 9) * 100}) -> str | None:")
        out.append(f'    """{kind.capitalize()} {a} against {b}; None if the {name} is in order."""')
        out.append(f"    if not {name}.{a}:")
        out.append(f'        return f"{name} {{{name}.number}} has no {a}"')
        out.append(f"    if {name}.amount > limit and str({name}.{b}) == {rnd.choice(('open', 'late', 'held'))!r}:")
        out.append(f'        return f"{name} {{{name}.number}}: {{{name}.amount / 100:.2f}} over the limit"')
        out += ["    return None", "", ""]
    return "\n".join(out[:-1])


def log_lines(kind: str, day: int, count: int, rnd: random.Random) -> str:
    """Lines of a service log in time order."""
    at, out = rnd.randint(0, 900), []
    for _ in range(count):
        at += rnd.randint(1, max(2, 86_000 // count))
        out.append(
            f"2026-11-{day:02}T{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}Z {kind} "
            f"order={rnd.randint(10_000, 19_999)} provider={rnd.choice(('kassa', 'nordpay', 'fastcard'))} "
            f"amount={rnd.randint(3, 900) * 10} sig={rnd.choice(('ok', 'ok', 'ok', 'bad'))} "
            f"retries={rnd.choice((0, 0, 0, 1, 2))} took={rnd.randint(9, 480)}ms"
        )
    return "\n".join(out) + "\n"


def build_project(folder: Path, seed: int = 11) -> dict[str, str]:
    """Writes the shop below folder; returns its files by relative path."""
    rnd = random.Random(seed)
    files = {"shop/__init__.py": "", "shop/pay.py": TEXTS["PAY"], "tests/__init__.py": ""}
    files |= {f"shop/{e}s.py": module(e, rnd) for e in ENTITIES}
    files["shop/ledger.py"] = module("entry", rnd)
    files |= {
        f"logs/callback-2026-11-{d}.log": log_lines("callback", d, rnd.randint(120, 260), rnd) for d in (27, 28, 29)
    }
    files |= {f"logs/nightly-2026-11-{d}.log": log_lines("nightly", d, rnd.randint(90, 200), rnd) for d in (28, 29)}
    rules = "\n".join(
        f"{i + 1}. {e.capitalize()}s carry a {rnd.choice(FIELDS)} and a {rnd.choice(FIELDS)}; "
        f"the state goes from open to {rnd.choice(('paid', 'closed', 'sent'))} within {rnd.randint(2, 30)} days."
        for i, e in enumerate(rnd.choices(ENTITIES, k=45))
    )
    files["docs/interface.md"] = f"# Interface of the shop\n\nAmounts are integers in cents.\n\n{rules}\n"
    for rel, text in files.items():
        path = folder / rel
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return files


@dataclass
class Prompt:
    """One message of the user: what is typed, how long he waited, what the model then does and says."""

    text: str
    steps: list[Step]
    final: str = "Done."
    pause_s: int = 0
    agent_steps: list[Step] = field(default_factory=list)
    agent_final: str = ""


@dataclass
class Story:
    """The prompts of one session and the summary that the model writes of it."""

    prompts: list[Prompt]
    summary: str


def steps(lines: str) -> list[Step]:
    """Steps from lines `said :: tool :: argument :: …`; an argument that is a name in [texts] stands for the text."""
    split = [[part.strip() for part in line.split("::")] for line in lines.splitlines()]
    return [tuple(TEXTS.get(part, part) for part in parts) for parts in split]


def story(name: str) -> Story:
    """The story `name` of the TOML file."""
    prompts = [
        Prompt(
            p["text"],
            steps(p.get("steps", "")),
            p.get("final", ""),
            p.get("pause_s", 0),
            steps(p.get("agent_steps", "")),
            p.get("agent_final", ""),
        )
        for p in DATA[name]["prompts"]
    ]
    return Story(prompts, DATA[name]["summary"])
