"""Tool calls, their results and user messages as :class:`monitor.records.Step`: numbers and hashes, no words.

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

import re
from typing import Any
from zlib import crc32

import msgspec

from monitor.readers.step_tools import (
    COMMAND_KEYS,
    COMPLETIONS,
    NOISE,
    PATCH_PATH,
    PATH_KEYS,
    PIPED,
    PLAN_EXITS,
    SHELL_PATH,
    SPACE,
    TOOLS,
    Arguments,
    category_of_command,
    command_text,
    path_hash,
    stable_hash,
    to_object,
    todo_counts,
    todo_flags,
)
from monitor.readers.step_words import ACKS, ANAPHORA, CORRECTION, NEW_TASK, STOP, THANKS
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
    short = name.lower()
    category = TOOLS.get(short)
    if category is None and ("__" in short or "." in short or ":" in short):
        short = re.split(r"__|[.:]", short)[-1]  # mcp__server__tool, developer__shell, functions.shell
        category = TOOLS.get(short)
    flags: tuple[str, ...] = ()
    todos: tuple[int, int, int] | None = None
    paths: list[int] = []
    command = ""
    if isinstance(data, dict):
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
        kept: Any = {k: v for k, v in data.items() if k not in NOISE}
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
        head = command[:4000]
        if category == "shell":
            category = category_of_command(head)
        if category == "check" and PIPED.search(head):
            flags += ("piped",)
        found = PATCH_PATH.findall(head) or SHELL_PATH.findall(head[:1000])
        paths += [path_hash(p) for p in found[:8]]
        kept = SPACE.sub(" ", command).strip()
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
_EXIT = re.compile(r"(?:exit(?:ed)?(?: with)?[ _]?(?:code|status)|exitcode|return ?code)[\"']?\s*[:=]?\s*(-?\d+)")
_STARTS_WRONG = re.compile(r"\s*(?:<tool_use_error>|error\b[: ]|traceback \(most|execution failed|command failed)")
_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|\bFAILED \(|test result: FAILED|BUILD FAIL|^FAIL\b|"
    r"\berror TS\d|error\[E\d|could not compile|make(?:\[\d+\])?: \*\*\*|^E   |Tests? failed|npm ERR!|"
    r"Found [1-9]\d* errors?",
    re.M,
)
_PASSED = re.compile(
    r"\b[1-9]\d* (?:passed|passing)\b|test result: ok\. [1-9]|BUILD SUCCESS|^OK(?: \(|$)|"
    r"^ok\s+\S+\s+(?:[\d.]+s|\(cached)|All checks passed|Success: no issues|\bFinished `?(?:dev|release|"
    r"test)|0 errors?\b(?!.*[1-9]\d* failed)|"
    r"Build succeeded|compiled successfully|Tests:\s+[1-9]\d* passed",
    re.M,
)
_PASS_WORDS = ("pass", "ok", "success", "finished", "succeeded", "0 error")
#: not the fault of the work: left out of loop detection. Lower case
_TRANSIENT_WORDS = (
    "rate limit", "rate_limit", "ratelimit", "too many requests", "overloaded", "service unavailable", "bad gateway",
    "econnreset", "etimedout", "enotfound", "connection reset", "connection refused", "connection timed out",
    "temporary failure in name resolution",
)  # fmt: skip
_TRANSIENT_STATUS = re.compile(r"\b(?:status|http|error|code)\W{1,3}(?:code\W{1,3})?(?:429|50[0234]|529)\b")
_ERROR_WORDS = (
    "error", "exception", "fail", "fatal", "panic", "cannot", "can't", "could not", "not found", "no such", "denied",
    "undefined", "unexpected", "invalid", "refused", "missing", "assert",
)  # fmt: skip
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b|\d+(?:[.,:]\d+)*|(?:/[\w.@+-]+)+/|\s+")


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


def _error_key(view: str) -> int:
    """Hash of the lines that name the error, without numbers, addresses and folders; 0 without text."""
    lines = [line for line in map(str.strip, view.splitlines()) if line]
    named = []
    for line in reversed(lines[-30:]):  # the last lines say what went wrong
        low = line.lower()
        if any(word in low for word in _ERROR_WORDS) and not _EXIT.search(low):
            named.append(line)
            if len(named) == 2:
                break
    chosen = named or lines[-1:]
    if not chosen:
        return 0
    text = "\n".join(_VARIES.sub("#", line[:300]) for line in chosen)
    return stable_hash(text.encode("utf-8", "replace"))


def tool_result(
    session: str, chain: str, time: int | None, line: int | None, id: str, ok: bool | None, text: Text
) -> Step:
    """The result of a tool call: success, size in characters, hash of the error, what a test or build said.

    ``ok`` is the log's own flag (None: it has none); without it an exit code in the text decides, then an
    opening that says error. An exit code beats what test output seems to say.
    """
    view, size = _plain(text)
    low = view.lower()
    flags: list[str] = []
    if ok is None:
        # looked for only where the words are: the patterns are slow on long output without them
        code = _EXIT.search(low) if "exit" in low or "return" in low else None
        if code is not None:
            ok = int(code.group(1)) == 0
        elif _STARTS_WRONG.match(low):
            ok = False
    end = view[-1000:]
    if ("fail" in low or "error" in low or "could not compile" in low or "***" in low) and _FAILED.search(end):
        flags.append("failed")
    elif any(word in low for word in _PASS_WORDS) and _PASSED.search(end):
        flags.append("passed")
    error_key = 0
    if ok is False or (ok is None and flags == ["failed"]):
        if any(word in low for word in _TRANSIENT_WORDS) or _TRANSIENT_STATUS.search(low):
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


# -------------------------------------------------------------------------------------------------- user text
# what a client adds to a message: not typed by anyone
_ADDED = re.compile(
    r"<(system-reminder|environment_context|user_instructions|local-command-stdout|local-command-stderr|"
    r"local-command-caveat|task-notification|bash-stdout|bash-stderr|environment_details|turn_aborted|"
    r"ide_opened_file|ide_selection|context|additional_context|attached_files)\b[^>]*>.*?(?:</\1>|\Z)",
    re.S,
)
_SLASH_TAG = re.compile(r"<command-name>\s*/?([\w:-]+)\s*</command-name>")
_SLASH = re.compile(r"/([A-Za-z][\w:-]*)(?=\s|$)")
_INTERRUPTED = re.compile(r"\[Request interrupted[^\]]*\]|\[Conversation interrupted[^\]]*\]")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.S)
_LOG_LINE = re.compile(
    r"\s*(?:\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|at \S+[ (]|File \"|Traceback|>|\$ |\S+:\d+:|\+\+\+|---|@@|"
    r"(?:E|INFO|WARN|WARNING|ERROR|DEBUG|npm)\b)"
)
_LATIN_WORD = re.compile(r"[A-Z]?[a-zà-öø-ÿß]+|[A-Z]{2,}(?![a-z])|[а-яё]+")
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_KANA_END = re.compile(r"[\u3040-\u309f]+")
_CLEAR = {
    "clear": "clear",
    "reset": "clear",
    "compact": "compact",
    "compress": "compact",
    "summarize": "compact",
}
_SLASHES = {
    **_CLEAR,
    "smol": "compact",
    "condense": "compact",
    "new": "new",
    "newtask": "new",
    "init": "init",
}
_MAX_WORDS = 64


def _without_pasted(text: str) -> tuple[str, bool]:
    """What a person wrote, without fenced code and log lines; and whether much of the message was pasted."""
    prose = _FENCE.sub(" ", text) if "```" in text else text
    if prose.count("\n") >= 4:
        lines = prose.split("\n")
        kept = [line for line in lines if not _LOG_LINE.match(line)]
        if len(lines) - len(kept) >= 4:
            prose = "\n".join(kept)
    return prose, len(prose.strip()) * 2 < len(text)


def content_words(text: str) -> tuple[int, ...]:
    """Hashes of the content words: camel and snake case split, stop words dropped, CJK as bigrams."""
    out: dict[int, None] = {}
    for word in _LATIN_WORD.findall(text):
        low = word.lower()
        if len(low) > 3 and low not in STOP:
            out[crc32(low.encode("utf-8"))] = None
    for run in _CJK_RUN.findall(text):
        for piece in _KANA_END.split(run):
            for n in range(len(piece) - 1):
                out[crc32(piece[n : n + 2].encode("utf-8"))] = None
    return tuple(out)[:_MAX_WORDS]


def user(session: str, chain: str, time: int | None, line: int | None, text: Text) -> Step:
    """A user message as size, hashed content words and flags; a slash command becomes kind ``command``.

    What the client put around it (reminders, environment, notices of interruption) is left out; a message
    with nothing else has the flag ``meta``. Only the first 8,000 characters are looked at.
    """
    whole = text.decode("utf-8", "replace") if isinstance(text, (bytes, bytearray)) else text or ""
    view = whole[:8000]
    flags: list[str] = []

    def step(kind: Any, size: int = 0, words: tuple[int, ...] = (), paths: tuple[int, ...] = ()) -> Step:
        return Step(
            session=session,
            kind=kind,
            chain=chain,
            time=time,
            line=line,
            size=size,
            words=words,
            paths=paths,
            flags=tuple(flags),
        )

    tag = _SLASH_TAG.search(view) if "<command-name>" in view else None
    if "<" in view:
        view = _ADDED.sub(" ", view)
    if "[" in view:
        view, cut = _INTERRUPTED.subn(" ", view)
        if cut:
            flags.append("interrupted")
    view = view.strip()
    slash = tag or _SLASH.match(view)
    if slash:
        word = slash.group(1).lower()
        flags += ["slash", _SLASHES[word]] if word in _SLASHES else ["slash"]
        return step("command")
    if not view:
        flags.append("meta")
        return step("user")
    prose, pasted = _without_pasted(view)
    if pasted:
        flags.append("pasted")
    low = prose.strip().lower()
    if len(low) <= 40 and low.strip(" .!,;:~。！，、…") in ACKS:
        flags.append("ack")
    opening = low[:300]
    if CORRECTION.search(opening):
        flags.append("correction")
    if NEW_TASK.search(opening):
        flags.append("new_task")
    if ANAPHORA.search(opening):
        flags.append("anaphora")
    if THANKS.search(opening):
        flags.append("thanks")
    paths = tuple(dict.fromkeys(path_hash(p) for p in SHELL_PATH.findall(prose)[:16]))
    return step("user", len(whole) if len(whole) > 8000 else len(view), content_words(prose), paths)


def answer(session: str, chain: str, time: int | None, line: int | None) -> Step:
    """The assistant ended its turn without a tool call."""
    return Step(session=session, kind="answer", chain=chain, time=time, line=line)
