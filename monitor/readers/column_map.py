"""The column map: a small YAML file that names the columns of a table ctxmon does not know.

    time: when                    # field: column; dots reach into nested objects (usage.prompt_tokens)
    prompt: in_tok
    cached: hit_tok
    output: out_tok
    input_includes_cached: true   # prompt holds the cached part (OpenAI-like), or not (Anthropic-like)
    time_unit: s                  # s, ms, us, ns or iso; without it the size of the number tells
    rows: data.items              # JSON: where the list of rows is

Fields: time, model, prompt, fresh, cached, cache_write, output, reasoning, session, chain, provider, cost, status, id;
also cache_write_1h, duration_ms, purpose, context_limit and origin (an API key's name or an application: who sent it,
used to form sessions where no session column exists; only a hash of it is kept).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FIELDS = (
    "time",
    "model",
    "prompt",
    "fresh",
    "cached",
    "cache_write",
    "output",
    "reasoning",
    "session",
    "chain",
    "provider",
    "cost",
    "status",
    "id",
    "cache_write_1h",
    "duration_ms",
    "purpose",
    "context_limit",
    "origin",
)
UNITS = ("s", "ms", "us", "ns", "iso")
SETTINGS = ("input_includes_cached", "time_unit", "rows")


class MapError(Exception):
    """A column map that cannot be used: the text names file and line and says what is expected."""


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """Which column holds which field, and how to read it."""

    columns: dict[str, str] = field(default_factory=dict)
    #: None: decided from the rows (a cached part larger than the prompt proves that the prompt leaves it out)
    input_includes_cached: bool | None = None
    time_unit: str | None = None
    rows: str | None = None


def load_map(path: Path) -> ColumnMap:
    """Read a column map.

    Raises:
        MapError: no such file, no YAML, an unknown field, a value of the wrong kind, or no token column at all.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is no UTF-8 text"
        raise MapError(f"{path}: the column map cannot be read: {reason}") from error
    return parse_map(text, str(path))


def parse_map(text: str, name: str = "column map") -> ColumnMap:
    """As :func:`load_map`, for text at hand; ``name`` is used in messages."""
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise MapError(f"{name}:{line}: this is no YAML; expected lines like 'prompt: name_of_the_column'") from error
    if not isinstance(node, yaml.MappingNode):
        raise MapError(f"{name}:1: expected lines like 'prompt: name_of_the_column'")
    columns: dict[str, str] = {}
    settings: dict[str, Any] = {}
    for key, value in node.value:
        field_name, line = str(getattr(key, "value", "")), key.start_mark.line + 1
        if not isinstance(value, yaml.ScalarNode):
            raise MapError(f"{name}:{line}: expected one column name after '{field_name}:'")
        if value.tag == "tag:yaml.org,2002:null":
            continue  # a field left open in a proposed map
        if field_name in SETTINGS:
            settings[field_name] = _setting(field_name, value, f"{name}:{line}")
        elif field_name in FIELDS:
            columns[field_name] = value.value
        else:
            known = ", ".join((*FIELDS, *SETTINGS))
            raise MapError(f"{name}:{line}: '{field_name}' is no field of a column map; expected one of {known}")
    if not columns.keys() & {"prompt", "fresh"}:
        raise MapError(f"{name}:1: the map names no column for 'prompt' (or 'fresh'), so there is nothing to plot")
    return ColumnMap(columns, settings.get("input_includes_cached"), settings.get("time_unit"), settings.get("rows"))


def _setting(key: str, node: Any, where: str) -> Any:
    word = str(node.value).strip()
    if key == "input_includes_cached":
        if word.lower() in ("true", "yes", "on"):
            return True
        if word.lower() in ("false", "no", "off"):
            return False
        raise MapError(f"{where}: input_includes_cached must be true or false")
    if key == "time_unit":
        if word not in UNITS:
            raise MapError(f"{where}: time_unit must be one of {', '.join(UNITS)}")
        return word
    return word
