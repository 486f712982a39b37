"""opencode sessions: the database, the folders of JSON files before it, and exports.

Where: ``$XDG_DATA_HOME/opencode`` or ``~/.local/share/opencode``: ``opencode.db`` (SQLite, since 1.2; ``opencode-*.db``
for other channels), before that ``storage/session/<project>/<session>.json`` with its messages in
``storage/message/<session>/`` and their parts in ``storage/part/<message>/``. ``opencode export`` writes one document.

What is read: messages of role ``assistant``; each is one request, or one for each of its ``step-finish`` parts where
old versions made several. From the database and from a session's file all of a session is read, messages and parts; a
message's own file is read alone only if its session's file is gone. A message with ``summary`` is the summarising call
(purpose compaction) and marks a recorded compaction; the user part ``compaction`` before it says whether it came by
itself. opencode 2 keeps all in ``session_message`` (sessions in ``session_v2``): rows of type ``assistant`` and
``compaction``; what it took over from the tables before it has the same ids there and counts once. Pruned tool results
(``time.compacted``) are a trim. Sessions with a parent are subagents: a chain of the session at the root. The database
is opened read-only and nothing is written beside it.

Prompt tokens: ``input + cache.read + cache.write``; ``input`` alone where the total proves that it includes the cache.
Output: ``output + reasoning``, unless the total proves that reasoning is part of it. Zeros stand in a message until its
step ends: with an error, or if it is done and holds nothing, it is a failed call, without an end it is running.
A step that another one follows before its end is a failed call, too.

Identity: copies in forks get new ids but keep times and figures, which identify a call; so do rows that moved from the
files into the database.

Unknown: the context window; the title's call, which is not stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from monitor.readers import opencode_shapes as shape
from monitor.readers.agent_values import SQLITE, JsonDocument, head_has, obj, word
from monitor.readers.base import FileContext, Head, Parser
from monitor.readers.opencode_build import SOURCE, Builder, add_export
from monitor.readers.opencode_shapes import told
from monitor.readers.patterns import lazy
from monitor.records import Problem

_SAFE = lazy(r"\w[\w.-]*")
_KINDS = (
    ("export", (b'"info"', b'"messages"', b'"parts"'), 0.85),
    ("session", (b'"projectID"', b'"directory"', b'"time"', b'"version"'), 0.9),
    ("message", (b'"sessionID"', b'"role"', b'"time"'), 0.9),
    ("part", (b'"messageID"', b'"type"'), 0.6),
)


class OpencodeFileParser(JsonDocument):
    """See the module; the files of the storage folder and exports."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._path = context.path

    def document(self, value: Any) -> None:
        document = obj(value)
        if "info" in document and "messages" in document:
            parts: dict[str, bytes] = {}
            builder = Builder(self.file, self.options, parts.get)
            add_export(builder, document, parts)
            self.records += builder.records()
        elif "role" in document:
            self._message(document)
        elif "messageID" in document:
            self.companion = True  # a part is read with its message
        else:
            self._session(document)

    def _session(self, document: dict[str, Any]) -> None:
        id, parent, directory, created = shape.session_of(document)
        if id is None or self._path is None:
            return
        folder = self._path.parent
        files: dict[str, Path] = {}
        builder = Builder(self.file, self.options, lambda part: self._bytes(files.get(part)))
        builder.session(id, parent, directory, created)
        for ancestor in self._ancestors(folder, parent):
            builder.session(*ancestor)
        for storage in (folder.parent.parent, folder.parent):
            messages = storage / "message" / id
            if _SAFE.fullmatch(id) and messages.is_dir():
                for path in sorted(messages.glob("*.json")):
                    self._add(builder, storage, path, files)
                break
        records = builder.records()
        if parent is not None:
            # what is known of the root is told by the root's own file
            records = [record for record in records if getattr(record, "chain", "main") != "main"]
        self.records += records

    def _ancestors(self, folder: Path, parent: str | None) -> Iterator[tuple[str, str | None, Any, Any]]:
        seen: set[str] = set()
        while parent is not None and parent not in seen and _SAFE.fullmatch(parent):
            seen.add(parent)
            data = self._bytes(folder / f"{parent}.json", quiet=True)
            value = told(data) if data is not None else None
            grand = word(value.parentID) if value is not None else None
            yield parent, grand, None, None
            parent = grand

    def _message(self, document: dict[str, Any]) -> None:
        session = word(document.get("sessionID"))
        id = word(document.get("id"))
        if session is None or id is None:
            return
        files: dict[str, Path] = {}
        builder = Builder(self.file, self.options, lambda part: self._bytes(files.get(part)))
        if self._path is not None and _SAFE.fullmatch(session):
            storage = self._path.parent.parent.parent
            names = (f"session/*/*{session}.json", f"info/{session}.json")
            if any(next(storage.glob(name), None) is not None for name in names):
                self.companion = True  # the session's file reads it
                return
            self._add(builder, storage, self._path, files)
        else:
            builder.message(id, session, shape.told_of(document))
        self.records += builder.records()

    def _add(self, builder: Builder, storage: Path, path: Path, files: dict[str, Path]) -> None:
        data = self._bytes(path)
        value = told(data) if data is not None else None
        id = word(value.id) if value is not None else None
        session = word(value.sessionID) if value is not None else None
        if value is None or id is None or session is None:
            if data is not None:
                self.records.append(Problem(str(path), None, "this message is not valid JSON (cut off or damaged)"))
            return
        builder.message(id, session, value)
        if not _SAFE.fullmatch(id):
            return
        for folder in (storage / "part" / id, storage / "part" / session / id):
            if folder.is_dir():
                for file in sorted(folder.glob("*.json")):
                    part = self._bytes(file)
                    found = told(part) if part is not None else None
                    if found is not None:
                        name = f"{id}/{file.name}"
                        files[name] = file
                        builder.part(name, id, found)

    def _bytes(self, path: Path | None, quiet: bool = False) -> bytes | None:
        if path is None:
            return None
        try:
            return path.read_bytes()
        except OSError as error:
            if not quiet:
                why = error.strerror or type(error).__name__
                self.records.append(Problem(str(path), None, f"cannot be read: {why.lower()}"))
            return None


class OpencodeFiles:
    """Reader of opencode's JSON files."""

    source = SOURCE
    title = "opencode session"
    lines = False

    def sniff(self, head: Head) -> float:
        if not head.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return 0.0
        for kind, marks, score in _KINDS:
            if head_has(head, *marks):
                if kind == "export":
                    return score if head_has(head, b'"sessionID"', b'"messageID"', within=65536) else 0.0
                # each of these files is one object; lines of other logs are many
                return score if head_has(head, b'"id"') and _one(head) else 0.0
        return 0.0

    def parser(self, context: FileContext) -> OpencodeFileParser:
        return OpencodeFileParser(context)


def _one(head: Head) -> bool:
    """Whether the file begins with an object that is all of it."""
    if not head.complete:
        return b"\n{" not in head.data
    value = told(head.data.strip(b"\xef\xbb\xbf \t\r\n\x00"))
    return value is not None and value.id is not None


class OpencodeDatabase:
    """Reader of opencode's database."""

    source = SOURCE
    title = "opencode database"
    lines = False

    def sniff(self, head: Head) -> float:
        if not head.data.startswith(SQLITE):
            return 0.0
        # what databases need is loaded where there is one
        from monitor.readers import sqlite_files

        known = sqlite_files.tables(head).keys()
        second = "session_message" in known and not known.isdisjoint(("session", "session_v2"))
        return 0.95 if second or {"message", "part", "session"} <= known else 0.0

    def parser(self, context: FileContext) -> Parser:
        from monitor.readers.opencode_database import OpencodeDatabaseParser

        return OpencodeDatabaseParser(context)


READERS = [OpencodeFiles(), OpencodeDatabase()]
