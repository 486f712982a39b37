"""Propose a column map for a table nobody knows (``ctxmon doctor --suggest-map FILE``).

Column names are split into words and compared with the words such columns usually have; what the cells hold must fit
(counts, times). The proposal is a guess to be read by a person: each line says why, fields without a column stay open.
Cells are judged, never shown.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from monitor.readers import gateway_values as values
from monitor.readers import table_rows, usage
from monitor.readers.base import FileContext, ReadError

_ROWS = 500
_DEPTH = 5
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PLAIN = re.compile(r"[A-Za-z_][\w.\-]*")
_CHINESE = {
    "时间": "time",
    "模型": "model",
    "提示": "prompt",
    "输入": "input",
    "补全": "output",
    "输出": "output",
    "缓存": "cached",
    "会话": "session",
    "用户": "user",
    "令牌": "key",
    "费用": "cost",
    "花费": "cost",
    "状态": "status",
}
_TOKEN = {"token", "tokens", "tok", "toks", "units", "count"}
_INPUT = {"prompt", "input", "in", "req", "request", "inp"}
_OUTPUT = {"completion", "output", "out", "res", "response", "generated", "gen", "candidates"}
_CACHE = {"cache", "cached", "caching"}
_READ = {"read", "hit", "hits", "cached"}
_WRITE = {"write", "writes", "written", "creation", "create", "created"}
_THINK = {"reasoning", "thinking", "think", "thought", "thoughts"}


def _count(cell: Any) -> bool:
    return usage.count(cell) is not None


def _time(cell: Any) -> bool:
    found = values.time_ms(cell)
    return found is not None and 946_684_800_000 < found < 4_102_444_800_000  # 2000 to 2100


def _name(cell: Any) -> bool:
    return values.text(cell) is not None


def _money(cell: Any) -> bool:
    return values.usd(cell) is not None


def _prompt(words: set[str]) -> float:
    if not words & _INPUT or words & (
        _CACHE | _THINK | _OUTPUT | {"cost", "price", "rate", "usd", "ms", "bytes", "id"}
    ):
        return 0
    return 0.9 if words & _TOKEN else 0.4 if words & {"prompt", "input"} and len(words) == 1 else 0


def _output(words: set[str]) -> float:
    if not words & _OUTPUT or words & (_CACHE | _THINK | {"cost", "price", "usd", "ms", "time", "bytes", "code", "id"}):
        return 0
    return 0.9 if words & _TOKEN else 0.4 if len(words) == 1 else 0


def _cached(words: set[str]) -> float:
    if words & (_WRITE | {"cost", "price", "ratio", "usd", "status", "key"}):
        return 0
    if words & _CACHE and (words & _READ or words & _TOKEN):
        return 0.9
    return 0.6 if "hit" in words and words & _TOKEN else 0.5 if words == {"cached"} else 0


def _cache_write(words: set[str]) -> float:
    if not words & _WRITE or words & {"cost", "price", "ratio", "at", "time", "usd", "1", "5"}:
        return 0
    return 0.9 if words & _CACHE else 0.6 if words & _TOKEN else 0


def _reasoning(words: set[str]) -> float:
    return (0.9 if words & _TOKEN else 0.5) if words & _THINK and not words & {"cost", "effort", "price"} else 0


def _when(words: set[str]) -> float:
    if words & {"end", "ended", "updated", "finished", "completed", "first", "zone"}:
        return 0.2 if words & {"time", "at"} else 0
    if words & {"time", "timestamp", "ts", "date", "when", "datetime"}:
        return 0.9 if words & {"start", "request", "timestamp", "created"} or len(words) == 1 else 0.7
    return 0.8 if words & {"created", "started", "start"} else 0


def _has(*wanted: str, without: tuple[str, ...] = ()) -> Callable[[set[str]], float]:
    def score(words: set[str]) -> float:
        hits = words & set(wanted)
        if not hits or words & set(without):
            return 0
        return 0.9 if len(words) == 1 else 0.8 if len(words - {"name", "id"}) == len(hits) else 0.5

    return score


_FIELDS: dict[str, tuple[Callable[[set[str]], float], Callable[[Any], bool]]] = {
    "time": (_when, _time),
    "model": (_has("model", "llm", without=("ratio", "price", "cost", "type", "params", "parameters")), _name),
    "prompt": (_prompt, _count),
    "cached": (_cached, _count),
    "cache_write": (_cache_write, _count),
    "output": (_output, _count),
    "reasoning": (_reasoning, _count),
    "session": (_has("session", "conversation", "thread", "chat", "dialog"), _name),
    "provider": (_has("provider", "vendor", "upstream", "org", without=("key", "id")), _name),
    "cost": (_has("cost", "spend", "price", "usd", "amount", without=("cache", "input", "output", "prompt")), _money),
    "status": (_has("status", "success", "result", without=("cache", "time")), _name),
    "id": (_has("id", "uuid", without=("user", "session", "team", "org", "account", "trace", "conversation")), _name),
    "duration_ms": (_has("duration", "latency", "elapsed", "ms", without=("first", "ttft", "token", "s")), _money),
    "origin": (_has("key", "app", "application", "user", "token", "client", without=("cache", "id")), _name),
}


def suggest(context: FileContext) -> str:
    """A column map for a table, as YAML text with comments.

    Raises:
        ReadError: the file is no table, or empty.
        OSError: it cannot be opened.
    """
    ignored: list[str] = []
    rows = []
    for _, row in itertools.islice(table_rows.rows(context, lambda line, reason: ignored.append(reason)), _ROWS):
        rows.append(_flat(row))
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if not rows or len(columns) < 2:
        raise ReadError(
            "there is no table in this file: expected CSV, TSV, JSON, JSON lines, XLSX or Parquet with rows"
        )
    chosen = _choose(rows, columns)
    return "\n".join([*_head(context.name, len(rows)), *_lines(chosen, rows), *_inclusive(chosen, rows), ""])


def _flat(row: dict[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, cell in row.items():
        path = f"{prefix}{name}"
        inner = cell if isinstance(cell, dict) else values.as_object(cell) if isinstance(cell, str) else {}
        if inner and depth < _DEPTH:
            out.update(_flat(inner, f"{path}.", depth + 1))
        elif not isinstance(cell, dict | list):
            out[path] = cell
    return out


def words_of(column: str) -> set[str]:
    """The words of a column name: split at case, dots, dashes and blanks; common Chinese headers are translated."""
    found = {word.lower() for word in _WORD.findall(column.rsplit(".", 1)[-1])}
    parents = {word.lower() for word in _WORD.findall(column.rsplit(".", 1)[0])} if "." in column else set()
    if parents & {"usage", "token", "tokens"}:
        found |= {"tokens"}
    if parents & {"prompt", "input"} and found & _CACHE:
        found |= {"tokens"}
    return found | {english for chinese, english in _CHINESE.items() if chinese in column}


def _choose(rows: list[dict[str, Any]], columns: list[str]) -> dict[str, tuple[str, float]]:
    """The best column for each field, with the share of rows whose cell fits."""
    ranked: list[tuple[float, int, str, str, float]] = []
    for order, column in enumerate(columns):
        words = words_of(column)
        cells = [row[column] for row in rows if row.get(column) not in (None, "")]
        for name, (score, fits) in _FIELDS.items():
            by_name = score(words)
            if by_name <= 0:
                continue
            # a column that is empty so far is judged by its name alone, and last
            share = sum(1 for cell in cells if fits(cell)) / len(cells) if cells else 0.3
            if share >= 0.8 or not cells:
                ranked.append(
                    (by_name * share - 0.01 * column.count("."), -order, name, column, len(cells) / len(rows))
                )
    chosen: dict[str, tuple[str, float]] = {}
    taken: set[str] = set()
    for _, _, name, column, filled in sorted(ranked, reverse=True):
        if name not in chosen and column not in taken:
            chosen[name] = (column, filled)
            taken.add(column)
    return chosen


def _head(name: str, rows: int) -> list[str]:
    return [
        f"# Column map proposed for {name.replace(chr(10), ' ')} from its first {rows} rows.",
        "# Read it through, then use it: ctxmon --map THIS_FILE YOUR_TABLE",
    ]


def _lines(chosen: dict[str, tuple[str, float]], rows: list[dict[str, Any]]) -> list[str]:
    out = []
    if "prompt" not in chosen:
        out.append("# No column was recognised as the prompt's tokens: fill in 'prompt:', the map needs it.")
    for name in _FIELDS:
        if name not in chosen:
            out.append(f"# {name}:  # no column looks like it")
            continue
        column, filled = chosen[name]
        note = "" if filled > 0.999 else f"  # empty in {round(100 * (1 - filled))} % of the rows"
        out.append(f"{name}: {_scalar(column)}{note}")
    if "time" in chosen:
        out += _unit(rows, chosen["time"][0])
    return out


def _unit(rows: Iterable[dict[str, Any]], column: str) -> list[str]:
    sizes = [number for row in rows if (number := _plain_number(row.get(column))) is not None]
    if not sizes:
        return ["time_unit: iso"]
    largest = max(sizes)
    return [f"time_unit: {'s' if largest < 1e11 else 'ms' if largest < 1e14 else 'us' if largest < 1e17 else 'ns'}"]


def _plain_number(cell: Any) -> float | None:
    try:
        return None if isinstance(cell, bool) or cell is None else float(cell)
    except (TypeError, ValueError):
        return None


def _inclusive(chosen: dict[str, tuple[str, float]], rows: list[dict[str, Any]]) -> list[str]:
    """Whether prompts hold the cached part, as far as the rows tell."""
    if "cached" not in chosen or "prompt" not in chosen:
        return ["# input_includes_cached:  # no cache column; nothing to say"]
    prompt, cached = chosen["prompt"][0], chosen["cached"][0]
    pairs = [(usage.count(row.get(prompt)), usage.count(row.get(cached))) for row in rows]
    known = [(p, c) for p, c in pairs if p is not None and c]
    larger = sum(1 for p, c in known if c > p)
    count = len(known)
    if larger:
        return [f"input_includes_cached: false  # the cached part exceeds the prompt in {larger} of {count} rows"]
    if known:
        return [
            f"input_includes_cached: true  # the cached part fits into the prompt in all {count} rows that have one"
        ]
    return ["input_includes_cached: true  # not told by these rows; Anthropic's own figures would need false"]


def _scalar(column: str) -> str:
    return column if _PLAIN.fullmatch(column) else json.dumps(column, ensure_ascii=False)
