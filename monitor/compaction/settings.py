"""Settings as people keep them: a TOML or YAML file with the sections ``defaults`` (what options are if they are not
given, for every command), ``llm`` and ``compact``.

Where: ``--config FILE``; else :mod:`.settings_file` tells. Other sections are left alone. A key is never kept in the
file: only the name of the environment variable that holds it.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from monitor.compaction import settings_file
from monitor.compaction.options import PRESETS, STRATEGIES, CompactionError

#: key -> (type, what it does); the help of the command is made of this
KEYS: dict[str, dict[str, tuple[type, str]]] = {
    "defaults": {
        "context_limit": (list, "context window in tokens, or a list of [MODEL=]N, as --context-limit"),
        "prices": (str, "file of own prices, as --prices; relative to this file"),
        "table": (str, "file of an own decision table, as --table; relative to this file"),
        "threshold": (int, "prompt tokens from which to advise a compaction, as --threshold"),
        "tz": (str, "time zone of people's output, as --tz"),
    },
    "llm": {
        "base_url": (str, "address of the model endpoint, with or without /v1"),
        "api": (str, "chat, responses or anthropic (default: by the address, else chat)"),
        "main_model": (str, "model of the working calls, for the costs shown by --dry-run"),
        "summary_model": (str, "model that writes summaries"),
        "timeout": (float, "seconds one answer may take (default 120)"),
        "max_retries": (int, "how often a failed call is tried again (default 3)"),
        "api_key_env": (str, "NAME of the environment variable that holds the key, never the key itself"),
        "window": (int, "context window of the summary model in tokens; larger histories go in chunks"),
        "max_output": (int, "tokens an answer may have (default: those of the summary, and a half more)"),
    },
    "compact": {
        "threshold": (int, "prompt tokens from which the Compactor asks for a compaction (default 100000)"),
        "messages": (int, "number of messages from which it does (default: off)"),
        "keep": (int, "exchanges that stay as they are, as --keep-exchanges"),
        "keep_tokens": (int, "tokens they may have, as --keep-tokens"),
        "summary_tokens": (int, "tokens the summary may have (default 4000)"),
        "summary_format": (
            str,
            "text (five headings, default) or json (one object with five keys), as --summary-format",
        ),
        "prompt": (str, "your own instruction for the summarizer, instead of the built-in one"),
        "prefix": (str, "text before the summary"),
        "acknowledgement": (str, "auto (only where roles must alternate), always, never, or the text itself"),
        "strategy": (str, f"one or several of {', '.join(STRATEGIES)}, by commas"),
        "preset": (str, f"one of {', '.join(PRESETS)}"),
        "strict_roles": (bool, "user and assistant must take turns (many chat templates demand it)"),
        "mode": (
            str,
            "flat (the history as text, default) or cache (same prefix as the working calls, instruction last)",
        ),
    },
}
_KEYLIKE = re.compile(r"(?i)^(?:api_?key|key|token|secret|password)$")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The sections, checked; only the keys that stand in the file."""

    defaults: dict[str, Any] = {}
    llm: dict[str, Any] = {}
    compact: dict[str, Any] = {}
    path: str = ""


def load(given: Path | None = None, *, only: str | None = None) -> Settings:
    """The settings of ``given`` or of the user folder; empty ones where there is no file.

    Args:
        only: the one section that is wanted; what is wrong in others is not told.

    Raises CompactionError (usage) with file, line and the nearest right name for what is wrong in it.
    """
    path = given
    if path is None:
        place = settings_file.found()
        if place is None:
            return Settings()
        path = Path(place)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as err:
        raise CompactionError(f"{path}: cannot be read ({err.strerror or err})", 2) from None
    except UnicodeDecodeError:
        raise CompactionError(f"{path}: is not UTF-8 text", 2) from None
    data = _parse(path, text)
    out: dict[str, dict[str, Any]] = {}
    for section, keys in KEYS.items():
        value = data.get(section)
        if value is None or only not in (None, section):
            continue
        if not isinstance(value, dict):
            raise CompactionError(f"{_at(path, text, section)}: section {section} must hold keys and values", 2)
        out[section] = {key: _checked(path, text, section, key, v, keys) for key, v in value.items()}
    return Settings(**out, path=str(path))


def _parse(path: Path, text: str) -> dict[str, Any]:
    if path.suffix.lower() in (".yaml", ".yml"):
        import yaml

        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError as err:
            mark = getattr(err, "problem_mark", None)
            where = f"{path}, line {mark.line + 1}" if mark else str(path)
            raise CompactionError(
                f"{where}: is not valid YAML ({getattr(err, 'problem', '') or 'cannot be parsed'})", 2
            ) from None
    else:
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as err:
            m = re.search(r"at line (\d+)", str(err))
            where = f"{path}, line {m.group(1)}" if m else str(path)
            raise CompactionError(f"{where}: is not valid TOML ({str(err).split(' (at')[0]})", 2) from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise CompactionError(f"{path}: must hold sections, such as llm and compact", 2)
    for section in data:
        near = difflib.get_close_matches(str(section), KEYS, 1, 0.75)
        if near and near[0] != section:
            raise CompactionError(
                f"{_at(path, text, str(section))}: section {section} is not known; did you mean {near[0]}?", 2
            )
    return data


def _checked(path: Path, text: str, section: str, key: Any, value: Any, keys: dict[str, tuple[type, str]]) -> Any:
    where = _at(path, text, str(key), section)
    if key not in keys:
        if section == "llm" and _KEYLIKE.match(str(key)):
            raise CompactionError(
                f"{where}: a key does not belong in a file; put it into an environment variable and its NAME under "
                f"api_key_env",
                2,
            )
        near = difflib.get_close_matches(str(key), keys, 1, 0.5)
        hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(keys)}"
        raise CompactionError(f"{where}: {section}.{key} is not known{hint}", 2)
    kind = keys[key][0]
    if kind is list and (type(value) is int or isinstance(value, str)):
        value = [value]
    good = isinstance(value, (int, float)) and not isinstance(value, bool) if kind is float else isinstance(value, kind)
    if kind is int and isinstance(value, bool):
        good = False
    if kind is str and key == "strategy" and isinstance(value, list) and all(isinstance(v, str) for v in value):
        return ",".join(value)
    if kind is list and good:
        good = all(type(v) is int or isinstance(v, str) for v in value)
        value = [str(v) for v in value]
    if not good:
        raise CompactionError(f"{where}: {section}.{key} must be {_WORDS[kind]}, not {value!r}", 2)
    if key == "summary_format" and value not in ("text", "json"):
        raise CompactionError(f"{where}: {section}.{key} must be text or json, not {value!r}", 2)
    if kind in (int, float) and value < 0:
        raise CompactionError(f"{where}: {section}.{key} must not be negative", 2)
    return value


_WORDS: dict[type, str] = {
    list: "a number, a text or a list of them",
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
}


def _at(path: Path, text: str, key: str, section: str = "") -> str:
    """``FILE, line N`` of a key; the section it stands in decides between equal names."""
    current = ""
    for n, line in enumerate(text.split("\n"), 1):
        head = re.match(r"^\[(?P<a>[\w.-]+)\]|^(?P<b>[\w-]+):\s*(?:#.*)?$", line)
        if head:
            current = head.group("a") or head.group("b")
            if not section and current == key:
                return f"{path}, line {n}"
        m = re.match(r"^\s*[\"']?([\w-]+)[\"']?\s*[:=]", line)
        if m and m.group(1) == key and (not section or current == section):
            return f"{path}, line {n}"
    return str(path)


def help_text() -> str:
    """Every key with what it does, for ``ctxmon compact --help``."""
    out = ["settings file (TOML or YAML; --config FILE, or config.toml in ~/.config/ctxmon):"]
    for section, keys in KEYS.items():
        out.append(f"  [{section}]")
        out += [f"    {key:16} {told}" for key, (_, told) in keys.items()]
    return "\n".join(out)
