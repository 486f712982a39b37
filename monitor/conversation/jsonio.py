"""JSON in and out for conversation files: fast where possible, lenient where clients were sloppy, faithful
in style.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

_INDENT = re.compile(rb"^[\[{]\r?\n([ \t]+)")
_SPACED = re.compile(rb'^\{\s*"(?:[^"\\]|\\.)*"(\s*:\s*)')


class Line(msgspec.Struct, frozen=True, eq=False):
    """One line of a JSONL file. ``obj`` is None where ``error`` says why it is no JSON object."""

    number: int
    raw: bytes
    obj: dict[str, Any] | None
    error: str = ""


def loads(data: bytes | str) -> Any:
    """The value of a JSON text. Raises ValueError with the parser's reason.

    msgspec is ten times as fast; json takes what it refuses and clients do write (lone surrogates, NaN, raw
    control characters).
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        try:
            return json.loads(text, strict=False)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def dumps(value: Any, *, indent: int | str | None = None, compact: bool = False) -> str:
    """JSON text. Non-ASCII characters stay readable unless a lone surrogate makes that impossible."""
    separators = (",", ":") if compact and indent is None else None
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=True, indent=indent, separators=separators)
    return text


def ident(value: Any) -> Any:
    """An id as a key; odd types become their JSON text."""
    return dumps(value) if isinstance(value, dict | list) else value


def dump_like(value: Any, original: bytes) -> bytes:
    """JSON bytes in the style of ``original``: its indentation, its separators, its final newline."""
    head = original[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    found = _INDENT.match(head)
    indent: int | str | None = None
    compact = False
    if found:
        space = found.group(1).decode()
        indent = space if "\t" in space else len(space)
    else:
        sep = _SPACED.match(head) or _SPACED.match(head.lstrip(b"["))
        compact = bool(sep) and sep is not None and sep.group(1) == b":"
    text = dumps(value, indent=indent, compact=compact)
    return (text + ("\n" if original.endswith(b"\n") else "")).encode("utf-8")


def split_lines(data: bytes) -> tuple[Line, ...]:
    """The lines of a JSONL text; blank ones left out, numbers counted from 1.

    Two objects glued together on one line become two entries of the same number, the first with an
    ``error`` that says so. A line that is no JSON object keeps its bytes and says why.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    decode = msgspec.json.decode
    out: list[Line] = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        stripped = raw.strip(b"\r\0 \t")
        if not stripped:
            continue
        try:
            value = decode(stripped)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            out.extend(_hard_line(number, stripped, raw.index(stripped)))
            continue
        if isinstance(value, dict):
            out.append(Line(number, stripped, value))
        else:
            out.append(Line(number, stripped, None, "not a JSON object"))
    return tuple(out)


def _hard_line(number: int, raw: bytes, blanks: int) -> list[Line]:
    """A line msgspec refuses: odd characters, several objects, or broken; ``blanks`` stood before it."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return [Line(number, raw, None, "not UTF-8")]
    decoder = json.JSONDecoder(strict=False)
    objects: list[Line] = []
    at = 0
    try:
        while at < len(text):
            value, end = decoder.raw_decode(text, at)
            if not isinstance(value, dict):
                return [Line(number, raw, None, "not a JSON object")]
            objects.append(Line(number, text[at:end].encode("utf-8"), value))
            at = end
            while at < len(text) and text[at] in " \t\r\0":
                at += 1
    except RecursionError:
        return [Line(number, raw, None, "nested too deeply")]
    except json.JSONDecodeError as err:
        reason = err.msg.removesuffix(" at")  # "Unterminated string starting at"
        rest = text[at:].encode("utf-8")
        return [
            *objects,
            Line(number, rest, None, f"broken JSON: {reason} at character {blanks + err.pos + 1} of the line"),
        ]
    except ValueError:  # a number of too many digits
        return [*objects, Line(number, text[at:].encode("utf-8"), None, "broken JSON")]
    if len(objects) > 1:
        objects[0] = Line(number, objects[0].raw, objects[0].obj, f"{len(objects)} objects on one line")
    return objects
