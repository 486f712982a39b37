"""Tool calls and their results as :class:`monitor.records.Step`: numbers and hashes, no words.

User messages are in :mod:`monitor.readers.step_user`.

Pure functions for readers. They accept what lies in a log (raw JSON bytes, an object, text) and never raise
on odd input. Names of tools and what their arguments mean follow the published clients; see
:mod:`monitor.readers.step_tools`. Unknown tools become category ``other``.

Hashes are stable over runs and machines: 63 bits of BLAKE2b for calls and errors (they fit a signed database
integer), CRC-32 for paths and words (many a message, and only compared inside one session).

Flags a step may carry:

* call: ``background`` (keeps running), ``piped`` (its exit code is that of a later command of the pipe),
  ``plan_exit``, ``complete`` (the agent says the task is done), ``todo_add``, ``todo_start``, ``todo_done``
  (single items)
* result: ``passed`` / ``failed`` (what a test or build said), ``transient`` (rate limit, overload, network)
* user: ``ack``, ``correction``, ``new_task``, ``anaphora``, ``thanks``, ``pasted`` (mostly a log or code),
  ``meta`` (nothing a person typed), ``interrupted``; a slash command has kind ``command`` and the flags
  ``slash`` and, where known, ``clear``, ``compact``, ``new`` or ``init``
"""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.readers.patterns import Lazy
from monitor.readers.step_tools import (
    COMMAND_KEYS,
    COMPLETIONS,
    NOISE,
    PATCH_PATH,
    PATH_KEYS,
    PATH_NAMES,
    PLAN_EXITS,
    Arguments,
    about_command,
    command_text,
    path_hash,
    stable_hash,
    to_object,
    todo_counts,
    todo_flags,
    tool_of,
)
from monitor.records import Step

Text = bytes | str | None

_encode = msgspec.json.Encoder(order="sorted").encode


def tool_call(
    session: str, chain: str, time: int | None, line: int | None, id: str, name: str, arguments: Arguments
) -> Step:
    """A tool call as a step: category, hash of name and normalised arguments, hashes of paths, todo counts.

    ``arguments`` may be raw JSON bytes, a JSON string, an object or free text (a patch). Never raises on
    odd input.
    """
    data = to_object(arguments)
    short, category = tool_of(name)
    flags: tuple[str, ...] = ()
    todos: tuple[int, int, int] | None = None
    paths: list[int] = []
    command = ""
    if isinstance(data, dict):
        if not PATH_NAMES.isdisjoint(data):
            for key in PATH_KEYS:
                value = data.get(key)
                if isinstance(value, str) and value:
                    paths.append(path_hash(value))
        if category == "todo":
            for key in ("todos", "plan", "items", "todo_list", "todoList", "tasks"):
                if key in data:
                    todos = todo_counts(to_object(data[key]) if isinstance(data[key], str) else data[key])
                    break
            flags = todo_flags(short, data)
        elif category == "shell" or category is None:
            for key in COMMAND_KEYS:
                if key in data:
                    command = command_text(data[key])
                    break
            nested = data.get("action")
            if not command and isinstance(nested, dict):  # local_shell_call
                command = command_text(nested.get("command"))
            if data.get("run_in_background") is True or data.get("background") is True:
                flags = ("background",)
        elif category == "edit":
            if data.get("command") == "view":  # one editor tool that reads as well
                category = "read"
            patch = data.get("input", data.get("patch"))
            if isinstance(patch, str):
                paths += [path_hash(p) for p in PATCH_PATH.findall(patch)[:16]]
        kept: Any = data if NOISE.isdisjoint(data) else {k: v for k, v in data.items() if k not in NOISE}
    else:
        kept = data
        if isinstance(data, list):
            command = command_text(data) if category == "shell" else ""
        elif isinstance(data, str):
            if category == "shell":
                command = data
            else:
                paths += [path_hash(p) for p in PATCH_PATH.findall(data)[:16]]
    if command:
        judged, piped, named, kept = about_command(command)
        if category == "shell":
            category = judged
        if category == "check" and piped:
            flags += ("piped",)
        paths += named
    if short in PLAN_EXITS:
        flags += ("plan_exit",)
    elif short in COMPLETIONS:
        flags += ("complete",)
    try:
        digest = _encode((short, kept))
    except (TypeError, ValueError, OverflowError, RecursionError):
        digest = repr(kept).encode("utf-8", "replace")
    return Step(
        session=session,
        kind="tool_call",
        chain=chain,
        time=time,
        line=line,
        tool=name,
        category=category or "other",
        id=id,
        key=stable_hash(digest),
        paths=tuple(dict.fromkeys(paths)),
        flags=flags,
        todos=todos,
    )


# ---------------------------------------------------------------------------------------------------- results
_EXIT = Lazy(r"(?:exit(?:ed)?(?: with)?[ _]?(?:code|status)|exitcode|return ?code)[\"']?\s*[:=]?\s*(-?\d+)")
_STARTS_WRONG = Lazy(r"\s*(?:<tool_use_error>|error\b[: ]|traceback \(most|execution failed|command failed)")
#: what tests and builds say at their end: a word that must be there, and what it must stand in (None: it is enough).
#: Looking for one character is twenty times quicker than for a word, so a rare one of each word is named first
_Said = tuple[tuple[str, str, Lazy | None], ...]
_FAILED: _Said = (
    ("", " fail", Lazy(r"[1-9]\d* fail(?:ed|ing|ures?)\b")),
    ("", " error", Lazy(r"[1-9]\d* errors?\b")),
    ("F", "FAILED (", Lazy(r"\bFAILED \(")),
    ("F", "test result: FAILED", None),
    ("F", "BUILD FAIL", None),
    ("F", "\nFAIL", Lazy(r"\nFAIL\b")),
    ("T", "error TS", Lazy(r"\berror TS\d")),
    ("[", "error[E", Lazy(r"error\[E\d")),
    ("", "could not compile", None),
    ("*", "***", Lazy(r"make(?:\[\d+\])?: \*\*\*")),
    ("E", "\nE   ", None),
    ("T", "Test failed", None),
    ("T", "Tests failed", None),
    ("!", "npm ERR!", None),
)
_PASSED: _Said = (
    ("", " pass", Lazy(r"[1-9]\d* pass(?:ed|ing)\b")),
    (":", "test result: ok. ", Lazy(r"test result: ok\. [1-9]")),
    ("B", "BUILD SUCCESS", None),
    ("K", "\nOK", Lazy(r"\nOK(?: \(|\n|$)")),
    ("", "\nok", Lazy(r"\nok\s+\S+\s+(?:[\d.]+s|\(cached)")),
    ("A", "All checks passed", None),
    ("S", "Success: no issues", None),
    ("F", "Finished ", Lazy(r"\bFinished `?(?:dev|release|test)")),
    ("0", "0 error", Lazy(r"0 errors?\b(?!.*[1-9]\d* failed)")),
    ("B", "Build succeeded", None),
    ("", "compiled successfully", None),
    ("T", "Tests:", Lazy(r"Tests:\s+[1-9]\d* passed")),
)
_BAD_WORDS = ("fail", "error", "could not compile", "***")
#: not the fault of the work: left out of loop detection. Lower case
_TRANSIENT_WORDS = (
    "rate limit", "rate_limit", "ratelimit", "too many requests", "overloaded", "service unavailable", "bad gateway",
    "econnreset", "etimedout", "enotfound", "connection reset", "connection refused", "connection timed out",
    "temporary failure in name resolution",
)  # fmt: skip
_TRANSIENT_STATUS = Lazy(r"\b(?:status|http|error|code)\W{1,3}(?:code\W{1,3})?(?:429|50[0234]|529)\b")
_ERROR_WORDS = (
    "error", "exception", "fail", "fatal", "panic", "cannot", "can't", "could not", "not found", "no such", "denied",
    "undefined", "unexpected", "invalid", "refused", "missing", "assert",
)  # fmt: skip
_VARIES = Lazy(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b|\d+(?:[.,:]\d+)*|(?:/[\w.@+-]+)+/|\s+")


def _plain(text: Text) -> tuple[str, int]:
    """Beginning and end of a result as text with real line breaks, and its size in characters."""
    if text is None:
        return "", 0
    if isinstance(text, str):
        size = len(text)
        view = text if size <= 2000 else text[:400] + "\n" + text[-1600:]
    else:
        raw = bytes(text)
        size = len(raw) if raw.isascii() else len(raw.decode("utf-8", "replace"))
        if len(raw) > 2000:
            raw = raw[:400] + b"\n" + raw[-1600:]
        view = raw.decode("utf-8", "replace")
    if view[:1] in ('"', "{", "[") and "\\n" in view:  # still JSON: a string or a list of parts
        view = view.replace("\\n", "\n").replace('\\"', '"')
    return view, size


def _says(said: _Said, text: str) -> bool:
    """Whether a result, with a line feed before it, says one of these things."""
    for rare, word, pattern in said:
        if rare not in text or word not in text:
            continue
        if pattern is None:
            return True
        if not rare and word[0] == " " and not _counted(word, text):
            continue
        # numbers stand alone; a word boundary in the pattern would make the search ten times slower
        for found in pattern.finditer(text):
            at = found.start()
            if not (at and text[at].isdigit() and (text[at - 1].isalnum() or text[at - 1] == "_")):
                return True
    return False


def _exit_code(low: str) -> int | None:
    """The first exit code that a text in lower case tells."""
    first: tuple[int, int] | None = None
    for word in ("exit", "return"):
        at = low.find(word)
        while at >= 0 and (first is None or at < first[0]):
            found = _EXIT.match(low, at)
            if found:
                first = at, int(found.group(1))
            at = low.find(word, at + 1)
    return first[1] if first is not None else None


def _counted(word: str, text: str) -> bool:
    """Whether a number stands before a word."""
    at = text.find(word)
    while at > 0:
        if text[at - 1].isdigit():
            return True
        at = text.find(word, at + 1)
    return False


def _any_of(words: tuple[str, ...], text: str) -> bool:
    for word in words:  # noqa: SIM110 - as above
        if word in text:
            return True
    return False


def _error_key(view: str) -> int:
    """Hash of the lines that name the error, without numbers, addresses and folders; 0 without text."""
    lines = [line for line in map(str.strip, view.splitlines()) if line]
    named = []
    for line in reversed(lines[-30:]):  # the last lines say what went wrong
        low = line.lower()
        if _any_of(_ERROR_WORDS, low) and not _EXIT.search(low):
            named.append(line)
            if len(named) == 2:
                break
    chosen = named or lines[-1:]
    if not chosen:
        return 0
    text = "\n".join(_VARIES.sub("#", line[:300]) for line in chosen)
    return stable_hash(text.encode("utf-8", "replace"))


#: categories of tools whose results are the content of something, not the outcome of running it
SHOWS = frozenset(("edit", "read", "search", "todo", "plan"))


def tool_result(
    session: str,
    chain: str,
    time: int | None,
    line: int | None,
    id: str,
    ok: bool | None,
    text: Text,
    category: str | None = None,
) -> Step:
    """The result of a tool call: success, size in characters, hash of the error, what a test or build said.

    ``ok`` is the log's own flag (None: it has none); without it an exit code in the text decides, then an
    opening that says error. An exit code beats what test output seems to say.

    Args:
        category: of the call where it is known. A file that is read or found runs nothing, so what it says of
            tests is not what a test said; None looks anyway.
    """
    runs = category not in SHOWS
    if ok and not runs:
        size = len(text) if isinstance(text, str) else _plain(text)[1]
        return Step(session=session, kind="tool_result", chain=chain, time=time, line=line, id=id, ok=ok, size=size)
    view, size = _plain(text)
    # searching is many times quicker in text of one byte a character, and what is looked for is ASCII
    said = view if view.isascii() else view.encode("ascii", "replace").decode("ascii")
    flags: list[str] = []
    low = ""
    if ok is None:
        low = said.lower()
        # looked for only where the words are: the patterns are slow on long output without them
        code = _exit_code(low) if runs else None
        if code is not None:
            ok = code == 0
        elif _STARTS_WRONG.match(low):
            ok = False
    if runs:
        end = "\n" + said[-1000:]
        if _says(_FAILED, end) and _any_of(_BAD_WORDS, low or said.lower()):
            flags.append("failed")
        elif _says(_PASSED, end):
            flags.append("passed")
    error_key = 0
    if ok is False or (ok is None and flags == ["failed"]):
        low = low or said.lower()
        if _any_of(_TRANSIENT_WORDS, low) or _TRANSIENT_STATUS.search(low):
            flags.append("transient")
        error_key = _error_key(view)
    return Step(
        session=session,
        kind="tool_result",
        chain=chain,
        time=time,
        line=line,
        id=id,
        ok=ok,
        error_key=error_key,
        size=size,
        flags=tuple(flags),
    )


def answer(session: str, chain: str, time: int | None, line: int | None) -> Step:
    """The assistant ended its turn without a tool call."""
    return Step(session=session, kind="answer", chain=chain, time=time, line=line)
