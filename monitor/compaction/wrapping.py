"""What a client puts around the result of a tool: "Output: … Exit Code: 1", or one JSON object with output and code."""

from __future__ import annotations

import json
import re
from typing import Any

#: Gemini CLI and Qwen Code: command (of several lines, too), folder, output; errors, exit code and the like below
_OUTPUT = re.compile(
    r"\A(?:Command: (?:(?!\nDirectory: )[\s\S])*\nDirectory: .*\n|(?:(?:Command|Directory): .*\n)*)(?:Output|Stdout): "
)
_BELOW = re.compile(
    r"\n(?=(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): )(?:Error: (?P<error>.*)\n?)?"
    r"(?:Exit Code: (?P<code>.*)\n?)?(?:Signal: .*\n?)?(?:Background PIDs: .*\n?)?(?:Process Group PGID: .*\n?)?\Z"
)
_INTEGER = re.compile(r"-?[0-9]{1,9}")
_NOTHING = ("", "(empty)", "(none)")
_EDGE = 1_500
#: keys of a result that is one JSON object: what was put out, how it ended, and what says nothing of either
_OUT = ("output", "stdout", "content", "text", "stderr", "error")
_CODES = ("exit_code", "exitCode", "returncode", "return_code", "returnCode", "exit_status", "exitStatus")
_SHORT_CODES = ("rc", "code", "status")  # exit codes only beside the output of a command
_DONE = ("ok", "success")
_BESIDE = frozenset(
    (*_OUT, *_CODES, *_SHORT_CODES, *_DONE, "truncated", "duration", "duration_ms", "metadata", "path", "cwd")
)
_WRAPPED = re.compile(
    r'"(?:output|stdout|stderr|content|text|result|data|error|exit_?[cC]ode|return_?[cC]ode|exit_?[sS]tatus)"\s*:'
)


def body(text: str) -> tuple[str, int | None]:
    """(the output itself, exit code) where the client wrapped it; else the text as it is."""
    m = _OUTPUT.search(text[:20_000])
    if m:
        return _parts(text[m.end() :])
    if text[:1] == "{" and text.rstrip()[-1:] == "}" and (_WRAPPED.search(text[:300]) or _WRAPPED.search(text[-300:])):
        return _unwrapped(text)
    return text, None


def _unwrapped(text: str) -> tuple[str, int | None]:
    """Output and exit code of a JSON object; the text as it is where the object is data and no wrapper."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text, None
    if not isinstance(value, dict):
        return text, None
    inner = next((value[k] for k in ("result", "data", "output") if isinstance(value.get(k), dict)), None)
    if inner is not None and not any(isinstance(value.get(k), str) for k in _OUT):
        value = {k: v for k, v in value.items() if k in _BESIDE and k != "output"} | inner
    code = _code(value)
    told = [value[k] for k in _OUT if isinstance(value.get(k), str)]
    if not told or (code is None and not value.keys() <= _BESIDE):
        return text, None
    return "\n".join(dict.fromkeys(x for x in told if x.strip())), code


def _code(value: dict[str, Any]) -> int | None:
    """The exit code an object notes; 1 where it only says that it went wrong."""
    meta = value.get("metadata")
    places = [value, meta] if isinstance(meta, dict) else [value]
    names = (*_CODES, *_SHORT_CODES) if isinstance(value.get("stdout", value.get("stderr")), str) else _CODES
    code = next((p[k] for p in places for k in names if type(p.get(k)) is int), None)
    return 1 if code is None and any(value.get(k) is False for k in _DONE) else code


def _parts(text: str) -> tuple[str, int | None]:
    """Output, error output and error of what stands behind "Output: " or "Stdout: ", and the exit code."""
    code, error = None, ""
    m = _BELOW.search(text, max(0, len(text) - _EDGE))
    if m:
        text, error = text[: m.start()], (m["error"] or "").strip()
        told = (m["code"] or "").strip()
        code = int(told) if _INTEGER.fullmatch(told) else None
    parts = [*text.split("\nStderr: ", 1), error]
    return "\n".join(part for part in parts if part.strip() not in _NOTHING), code
