"""How well compactions are found where nothing in the log marks them.

    python benchmarks/inference.py [--made 500] [--seed 1] [--tree DIR] [--logs PATH ...] [--json FILE]

Every recorded reset (compaction, cleared tool results, going back, clear) is taken out of the logs, summarising calls
become ordinary ones, and what the analysis infers is compared with what was taken out. ``--made``: sessions of
``made_sessions.py`` of ten clients. ``--tree``: a folder of Claude Code logs with ``truth.json`` beside it; compactions
that its log never marked are known by their number. ``--logs``: any logs with marks of their own.

recall: marked compactions found, of those that a call follows. False alarms: inferred compactions that are none, per
2,000 calls. A compaction that leaves more than 0.7 of the prompt is none by definition and counts as not found.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.made_sessions import sessions
from monitor.records import Call, Event
from monitor.sessions.build import Session, Settings
from monitor.sessions.view import SessionView

RESETS = ("compaction", "microcompaction", "trim", "clear", "rewind", "fork")


class Score(msgspec.Struct):
    """Figures of one set of logs."""

    name: str
    sessions: int = 0
    calls: int = 0
    compactions: int = 0  # true ones, with a call behind them
    found: int = 0
    false_alarms: int = 0
    rewinds: int = 0  # other verdicts on smaller prompts, for the reader's eye
    drops: int = 0

    @property
    def recall(self) -> float | None:
        return self.found / self.compactions if self.compactions else None

    @property
    def precision(self) -> float | None:
        told = self.found + self.false_alarms
        return self.found / told if told else None

    @property
    def false_per_2000(self) -> float:
        return self.false_alarms / self.calls * 2_000 if self.calls else 0.0

    def figures(self) -> dict[str, object]:
        told = {name: getattr(self, name) for name in self.__struct_fields__}
        return {
            **told,
            "recall": self.recall,
            "precision": self.precision,
            "false_alarms_per_2000_calls": self.false_per_2000,
        }


def hide(records: Iterable[Call | Event]) -> list[Call | Event]:
    """The same log without its marks."""
    out: list[Call | Event] = []
    for record in records:
        if isinstance(record, Event):
            if record.kind in RESETS:
                continue
        elif record.purpose == "compaction":
            chain = "main" if record.chain == "side" else record.chain
            record = msgspec.structs.replace(record, purpose="work", chain=chain)
        out.append(record)
    return out


def analyse(name: str, records: Sequence[Call | Event]) -> SessionView:
    """A session's view, made as the program makes it."""
    session = Session(name, Settings())
    for number, record in enumerate(records):
        session.put(record, (record.time or 0, 0, number))
    return session.refresh(lambda item: False)


def inferred(view: SessionView) -> set[str]:
    """Keys of the calls that open a window by an inferred compaction."""
    return {
        view.turns[event.before_call].call.key
        for event in view.events
        if event.kind == "compaction" and event.evidence == "inferred" and event.before_call is not None
    }


def count(score: Score, view: SessionView, truth: Sequence[set[str]], unmarked: int = 0) -> int:
    """Add one session; returns how many of the unmarked compactions are left.

    Args:
        truth: for each compaction the calls at which it may be seen: the one behind it, and the summarising call,
            which without its mark looks like the first call of the new window.
        unmarked: compactions of these logs that no mark tells.
    """
    left = inferred(view)
    keys = {turn.call.key for turn in view.turns}
    score.sessions += 1
    score.calls += len(view.turns)
    for places in truth:
        if not places & keys:
            continue
        score.compactions += 1
        score.found += bool(left & places)
        left -= places
    extra = len(left)
    quiet = min(extra, unmarked)
    score.compactions += quiet
    score.found += quiet
    score.false_alarms += extra - quiet
    score.rewinds += sum(event.kind == "rewind" for event in view.events)
    score.drops += sum(event.kind == "unexplained_drop" for event in view.events)
    return unmarked - quiet


def made(number: int, seed: int) -> list[Score]:
    """Sessions made here, one score for each profile."""
    scores: dict[str, Score] = {}
    for session in sessions(number, seed):
        score = scores.setdefault(session.profile.name, Score(session.profile.name))
        count(score, analyse(session.name, hide(session.records)), session.compactions)
    return list(scores.values())


def logs(name: str, paths: Sequence[str], unmarked: int = 0) -> Score:
    """Logs on disk: what is recorded in them is the truth, and so many compactions have no mark."""
    from monitor.sessions.load import Request, load

    score = Score(name)
    for view in load(Request(paths=paths, cache=False)).sessions:
        truth = [
            {view.turns[event.before_call].call.key}
            | {
                t.call.key
                for t in view.turns[event.after_call or 0 : event.before_call]
                if t.call.purpose == "compaction"
            }
            for event in view.events
            if event.kind == "compaction" and not event.key.startswith("inferred:") and event.before_call is not None
        ]
        records: list[Call | Event] = [turn.call for turn in view.turns]
        unmarked = count(score, analyse(view.session, hide(records)), truth, unmarked)
    score.compactions += unmarked  # those that were not found at all
    return score


def table(scores: Sequence[Score]) -> str:
    """The figures for people."""
    heads = ("sessions", "calls", "true", "found", "false", "recall", "precision", "false/2000")
    lines = [f"{'logs':<36}" + "".join(f"{head:>11}" for head in heads)]
    for one in scores:
        counts = (one.sessions, one.calls, one.compactions, one.found, one.false_alarms)
        shares = (f"{share:.3f}" if share is not None else "–" for share in (one.recall, one.precision))
        cells = (*map(str, counts), *shares, f"{one.false_per_2000:.2f}")
        lines.append(f"{one.name[:35]:<36}" + "".join(f"{cell:>11}" for cell in cells))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--made", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--logs", nargs="*", default=[])
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    scores = made(args.made, args.seed)
    if args.tree is not None:
        truth = json.loads((args.tree / "truth.json").read_text(encoding="utf-8"))
        scores.append(logs("tree", [str(args.tree / "projects")], truth["inferred_only"]))
    scores += [logs(Path(path).name, [path]) for path in args.logs]
    total = Score("all")
    for score in scores:
        for name in ("sessions", "calls", "compactions", "found", "false_alarms", "rewinds", "drops"):
            setattr(total, name, getattr(total, name) + getattr(score, name))
    print(table([*scores, total]))
    told = {"logs": [score.figures() for score in scores], "all": total.figures()}
    if args.json is not None:
        args.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    else:
        print(json.dumps(told["all"]))
    good = (total.recall or 0.0) >= 0.95 and total.false_per_2000 <= 1.0
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
