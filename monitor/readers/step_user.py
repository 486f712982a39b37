"""User messages as :class:`monitor.records.Step`: size, hashed content words and flags, no words.

Part of :mod:`monitor.readers.step_parse`, which lists the flags.
"""

from __future__ import annotations

import re
from typing import Any
from zlib import crc32

from monitor.readers.patterns import Lazy
from monitor.readers.step_tools import path_hash, paths_in
from monitor.readers.step_words import ACKS, ANAPHORA, CORRECTION, NEW_TASK, STOP, THANKS, Words, is_wide
from monitor.records import Step

Text = bytes | str | None

# what a client adds to a message: not typed by anyone
_ADDED = Lazy(
    r"<(system-reminder|environment_context|user_instructions|local-command-stdout|local-command-stderr|"
    r"local-command-caveat|task-notification|bash-stdout|bash-stderr|environment_details|turn_aborted|"
    r"ide_opened_file|ide_selection|context|additional_context|attached_files)\b[^>]*>.*?(?:</\1>|\Z)",
    re.S,
)
_SLASH_TAG = Lazy(r"<command-name>\s*/?([\w:-]+)\s*</command-name>")
_SLASH = Lazy(r"/([A-Za-z][\w:-]*)(?=\s|$)")
_INTERRUPTED = Lazy(r"\[Request interrupted[^\]]*\]|\[Conversation interrupted[^\]]*\]")
_FENCE = Lazy(r"```.*?(?:```|\Z)", re.S)
_LOG_LINE = Lazy(
    r"\s*(?:\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|at \S+[ (]|File \"|Traceback|>|\$ |\S+:\d+:|\+\+\+|---|@@|"
    r"(?:E|INFO|WARN|WARNING|ERROR|DEBUG|npm)\b)"
)
_LATIN_WORD = Lazy(r"[A-Z]?[a-zà-öø-ÿß]+|[A-Z]{2,}(?![a-z])|[а-яё]+")
_CJK_RUN = Lazy(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_KANA_END = Lazy(r"[\u3040-\u309f]+")
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
_MEANINGS = (("correction", CORRECTION), ("new_task", NEW_TASK), ("anaphora", ANAPHORA), ("thanks", THANKS))


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
    for run in _CJK_RUN.findall(text) if is_wide(text) else ():
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
    words = Words(opening)
    for flag, sayings in _MEANINGS:
        if sayings.search(opening, words):
            flags.append(flag)
    paths = tuple(dict.fromkeys(path_hash(path) for path in paths_in(prose, 16)))
    return step("user", len(whole) if len(whole) > 8000 else len(view), content_words(prose), paths)
