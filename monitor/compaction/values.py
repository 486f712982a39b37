"""Values worth knowing in tool output: ports, versions, limits, measured numbers; a line each, as the output has it.

Nothing here is understood. A line is taken because it holds a number beside a name and is unlike the mass of lines
around it; in prose, because it tells something definite and gives no order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from monitor.compaction import withdrawal, words
from monitor.compaction.outcome import clean
from monitor.compaction.rules import Said
from monitor.compaction.wrapping import body
from monitor.conversation.secrets import MARK

_NUMBERED = re.compile(r"^\s*\d+(?:→|\t|\s?\|)\s?", re.M)
_CUE = re.compile(
    r"(?i)\b(?:ports?|versions?|v\d|time-?outs?|limits?|api|defaults?|retr(?:y|ies)|interval|"
    r"max(?:imum)?|min(?:imum)?|expires?|retention|size|rate|pinned|listens?|"
    r"quota|thresholds?|workers?|replicas?|budget|endpoint|window|lifetime|ttl|per (?:second|minute|hour|"
    r"day)|kept for|keeps?|minutes?|seconds?|hours?|days?|"
    r"frist|grenze|anschluss|standard|puerto|versión|límite|minutos|horas|端口|版本|超时|限制|默认|ポート|バージョン|上限|既定|"
    r"タイムアウト|délai|limite)\b|\d\s?(?:ms|s|min|h|MB|KB|GB|%|EUR|USD|req|K|°C|℃|km|m|kW|W|Hz)(?![\w])|\b[nN]\s?=\s?\d"
)
_PAIR = re.compile(
    r"[\w\u3400-\u9fff)\]%\"'](?:\s*[:=|│]\s*|\s+(?:is|=>|->|was)\s+)\S*\d|\d[\d.,]*\s?(?:ms|s|min|h|"
    r"[KMG]i?B|kB|EUR|USD|rows?|items?|req\S*)\b|\d\s?%|"
    r"^[A-Za-z][\w ./%-]{1,24}\s(?:\d+[.,]\d+|\d{3,})$|^\w*_id\s+\S*\d"
)
_PORT = re.compile(r"\w://\S*:\d{2,5}\b")
_SKIP = re.compile(
    r"^(?:[d-][rwxst-]{9}|\[?exit|exit code|\(?exit code|Exit code|Process exited|Wall time|Chunk ID|Total output|"
    r"Original token count|"
    r"\W*$|[\d\W]+$|total \d+$|\d+ files? changed|create mode|"
    r"(?:import|from|def|class|return|const|let|var|function|#include|export|if|for|while)\b)|(?:PASSED|"
    r"FAILED|✓|✔|✗|✘)|^=+ .* =+$|\b(?:ERROR|FATAL|CRITICAL)\b|^(?:E\s|>\s|at\s)|^\S+:\d+:|\w(?:Error|"
    r"Exception)\b|\bretry|\|\s+\d+ [+-]+$|\berror\b|\[secret removed\]$|^\(?\d+ rows?\)?$|^\W*(?:Test "
    r"Files|Tests|Test Suites|Suites|Snapshots|Duration|Start at|Ran all)\b|^[❯›»]|^(?:platform|"
    r"plugins|collected|rootdir)\b|\b\d+ (?:passed|failed)\b|^(?:--- |FAIL|ok)\s?|^-->|^Finished\b|\bTests run:|"
    r"tests? passed"
)
_EXIT = re.compile(r"(?i)\W*(?:exit(?: code)?|rc|process exited)\b.*")
_LONG = 200
#: a number that is no part of a name ("p95" is one)
_ALONE = re.compile(r"(?<!\w)\d[\d.,]*")
_MEASURED = re.compile(r"\d[.,]\d|\d\s?(?:%|(?:ms|s|min|h|[KMG]i?B|kB|fps|rps)\b)")
_FIRST = re.compile(r" \(at first: (.+)\)$")
#: a file of settings with no more lines is told in more of its lines
_SHORT = 24
_SETTING = re.compile(
    r"""^(?:export\s+|set\s+|(?-i:ENV|ARG)\s+|-\s+)?["']?(?P<name>[A-Za-z][\w.-]{0,40})["']?\s*[:=]\s*"""
    r"""["']?(?P<value>[^\s"'{}\[\]()]{1,80})["']?$"""
)
#: "EXPOSE 9418", "worker_processes 4;", "maxmemory 2gb": a name and a value with nothing between them
_DIRECTIVE = re.compile(r"^(?P<name>[A-Za-z][\w-]{2,30})\s+(?P<value>[\w.:/@-]*\d[\w.:/@-]*)$")
_HOST = re.compile(r"://|\w[.-]\w[\w.-]*:\d{2,5}\b|^\d{1,3}(?:\.\d{1,3}){3}\b")
_ADDRESS = re.compile(r"://|\w\.\w[\w.]*:\d{2,5}\b|(?i:port)")
_FEW = 8
_KEYLIKE = re.compile(r"(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])(?=[A-Za-z]*\d)[A-Za-z0-9]{12,}")
_EMPTY = re.compile(r"(?i)true|false|null|none|yes|no|on|off|0|1|\$.*")
_DOCS = re.compile(r"(?i)\.(?:md|rst|txt|adoc|html?|org)$|readme|changelog|^https?://")
_CONFIG = re.compile(
    r"(?i)(?:^|/)(?:Dockerfile|Containerfile|Procfile)(?:\.[\w-]+)?$|\.Dockerfile$|\.(?:json|ya?ml|toml|ini|cfg|conf|env|properties|lock|csv|xml|sql)$|(?:^|/)(?:\.?env(?:\.[\w-]+)?|config|hosts)$|^/etc/"
)


def of_document(text: str, most: int = 4) -> list[str]:
    """Definite sentences of a page or a text file."""
    found: list[tuple[float, int, str]] = []
    for at, s in enumerate(_prose(text)):
        line = s
        if not re.search(r"\d", line) or not 12 <= len(line) <= _LONG:
            continue
        langs = words.languages(line)
        if any(words.RULE[k].search(line) for k in langs if k in words.RULE) or withdrawal.STRONG.search(line):
            continue
        score = 2.0 * len(_CUE.findall(line)) + 0.5 * len(re.findall(r"\d[\d.,:-]*", line)) + ("`" in line)
        if score >= 1.5:
            found.append((-score, at, line))
    return [line for _, _, line in sorted(sorted(found)[:most], key=lambda x: x[1])]


def _prose(text: str) -> list[str]:
    """Sentences that hold a digit; long texts line by line, so that nothing is read twice."""
    out: list[str] = []
    for line in _NUMBERED.sub("", text).split("\n"):
        if re.search(r"\d", line):
            for piece in re.split(r"(?<=[.!?。！？])\s+|(?<=[。！？])", line[:20_000]):
                if re.search(r"\d", piece):
                    out.append(" ".join(piece.strip(" #*->\t").split()))
    return out


def of_source(text: str) -> list[str]:
    """The opening comment of a source file, where it tells a number."""
    head = _NUMBERED.sub("", text[:600]).split("\n")[:6]
    out = []
    for line in head:
        m = re.match(r"""^\s*(?:\"\"\"|'''|#+(?!!)|//+|--|/?\*+|;+|<!--)\s*(.+?)\s*(?:\"\"\"|'''|\*/|-->)?$""", line)
        if m and re.search(r"\d", m.group(1)) and _CUE.search(m.group(1)) and len(m.group(1)) <= _LONG:
            out.append(m.group(1))
    return out[:1]


def of_config(text: str) -> list[str]:
    """Settings that stand once in a file of data or settings: telling names and addresses; of a short file more."""
    text = _NUMBERED.sub("", text)
    lines = [x for x in text.split("\n") if x.strip()]
    if len(lines) <= _SHORT:
        found = settings(lines)
        if found:
            return found
    return [x for x in of_output(text, 6) if _CUE.search(x.replace("_", " ")) or _PORT.search(x)][:2]


def settings(lines: Sequence[str], most: int = 6) -> list[str]:
    """Lines "name = value" with a value of one word, the most telling ones, in their order."""
    found: list[tuple[float, int, str]] = []
    for at, raw in enumerate(lines):
        line = " ".join(raw.strip().rstrip(",;").split())
        m = _SETTING.match(line) or _DIRECTIVE.match(line)
        if not m or len(line) > _LONG or _SKIP.search(line) or MARK in line or _EMPTY.fullmatch(m["value"]):
            continue
        if _KEYLIKE.search(m["value"]):  # what looks like a key is not spread, whatever its name is
            continue
        told = bool(_CUE.search(m["name"].replace("_", " "))) + bool(_HOST.search(m["value"]))
        found.append((-(2.0 * told + bool(re.search(r"\d", m["value"]))), at, line))
    return [line for _, _, line in sorted(sorted(found)[:most], key=lambda x: x[1])]


def of_output(text: str, most: int = 4) -> list[str]:
    """Lines of a command's output that name a value and are unlike the others."""
    lines = [" ".join(x.split()) for x in clean(body(text)[0]).split("\n")]
    lines = [x for x in lines if x]
    shapes = Counter(_shape(x) for x in lines) if len(lines) > 12 else Counter()
    picked = []
    for at, line in enumerate(lines):
        if len(line) > _LONG or _SKIP.search(line) or not _PAIR.search(line):
            continue
        if shapes and shapes[_shape(line)] > 2:
            continue
        picked.append((at, re.sub(r"^\S*\d{2}:\d{2}:\d{2}\S*\s+(?:DEBUG|INFO|WARN\w*)\s+", "", line)))
    if len(picked) > most:  # what an output says last is what it was run for
        picked = picked[-most:] if shapes else picked[: most // 2] + picked[-(most - most // 2) :]
    return list(dict.fromkeys(line for _, line in picked))


def environment(text: str) -> list[str]:
    """Variables of an environment: a few that somebody asked for, of a whole one the addresses."""
    lines = [x for x in clean(text).split("\n") if x.strip()]
    if len(lines) <= _FEW:
        return settings(lines)
    return [x for x in of_output(text) if _ADDRESS.search(x)]


def result(text: str) -> str:
    """The last line of a short output that tells a figure, as what a command was run for; "" where there is none."""
    lines = [" ".join(x.split()) for x in text.split("\n") if x.strip() and not _EXIT.match(x.strip())]
    if not lines or len(lines) > 6 or not re.search(r"\d", lines[-1]) or len(lines[-1]) > 90:
        return ""
    return "" if _SKIP.search(lines[-1]) or MARK in lines[-1] else lines[-1]


def note(known: dict[str, Said], line: str, turn: int | None, kept: bool) -> None:
    """Put ``line`` among the values; it takes the place of an older one of the same name.

    Of a figure with a unit the first one is told too, as what was measured before the work is what it is compared with.
    """
    label = _ALONE.sub("0", line)
    older = [k for k in known if len(label) > 6 and _ALONE.sub("0", k) == label]
    first = ""
    for key in older:
        told = known.pop(key)
        mark = _FIRST.search(told.text)
        first = first or (mark.group(1) if mark else key)
    text = line
    if first and _MEASURED.search(first):
        if kept:  # the newest stands in the part that stays as it is
            known[f"{first} (at first)"] = Said(text=f"{first} (at first)", turn=turn)
        else:
            text = f"{line} (at first: {first})"
    known[line] = Said(text=text, turn=turn, kept=kept)


def _shape(line: str) -> str:
    """The line with numbers and words made alike."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", line))[:60]


def is_document(path: str) -> bool:
    """True for pages and text files."""
    return bool(_DOCS.search(path))


def is_config(path: str) -> bool:
    """True for data and settings files."""
    return bool(_CONFIG.search(path))
