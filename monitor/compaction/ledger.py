"""What the tool calls of a conversation did: files, commands with results, commits, errors, tasks, values.

Fed with calls and their results in order; holds no message. Only what a result confirms counts: an edit that failed
changed nothing, and a command without a result says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from monitor.compaction import outcome, shell, values
from monitor.compaction.actions import Action, Todo, boxes
from monitor.compaction.planted import planted
from monitor.compaction.rules import Said
from monitor.compaction.state import Check, Commit, Error, FileUse, Foreign
from monitor.compaction.wrapping import body
from monitor.conversation.model import ToolResult
from monitor.conversation.repair.base import NO_RESULT

_MADE = re.compile(r"^\[([\w./@+-]+)(?: \(root-commit\))? ([0-9a-f]{7,40})\]\s*(.*)$", re.M)
_LISTED = re.compile(r"^([0-9a-f]{7,40})(?:[ \t]+(?:\([^)]*\)[ \t]*)?(\S.*))?$", re.M)
_SUBJECT = re.compile(
    r"""(?:-\w*m|--message)[= ]?\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|\$\(cat <<\S+\s*\n(.*?)\n)""", re.S
)
_REQUEST = re.compile(r"https?://\S+/(?:pull|pulls|merge_requests|pullrequest)/\d+")
_BRANCH = re.compile(r"git\s+(?:checkout\s+-[bB]|switch\s+-[cC])\s+(\S+)")
_STATUS_BRANCH = re.compile(r"^(?:## |On branch )([\w./@+-]+?)(?:\.\.\.\S+)?(?:\s|$)", re.M)
_TASK_ID = re.compile(r"(?i)task\s*#?(\w+)\s+created|created task\s*#?(\w+)|\"id\"\s*:\s*\"?(\w+)")
_MISSING = re.compile(r"(?i)no such file|not found|does not exist|ENOENT|cannot find")
_UPDATED = re.compile(r"(?i)\b(?:has been updated|overwr\w+|replaced existing|modified)\b")
_ENV = re.compile(r"(?:env|printenv|set|export)\b(?!\s+\w+=)")
_NEW_FILE = re.compile(r"(?i)\b(?:file|path|it)\b[^\n]{0,160}\b(?:was|has been|is) created\b|\bcreated (?:new )?file\b")
_LOG = re.compile(r"(?i)\.(?:log|out|err|trace)(?:\.\d+)?$|(?:^|/)logs?/")
_DIGITS = re.compile(r"\d[\d.,]*")
_VALUES = 160  # so many are kept for the selection


class Ledger:
    """Collects; the fields are read when all is fed."""

    def __init__(self, marks_errors: bool = False) -> None:
        self.marks_errors = marks_errors  # the client marks failed results, so an unmarked one worked
        self.files: dict[str, FileUse] = {}
        self.checks: dict[str, Check] = {}
        self.commits: dict[str, Commit] = {}
        self.errors: dict[str, Error] = {}
        self.listed: list[Todo] = []
        self.boxes: dict[str, dict[str, Todo]] = {}
        self.values: dict[str, Said] = {}
        self.foreign: list[Foreign] = []
        self.hashes: set[str] = set()
        self.failed = False  # the last result was a failure
        self._tasks: dict[str, Todo] = {}
        self._codes: dict[str, set[int]] = {}  # exit codes a tool has noted
        self._silent: list[tuple[str, str]] = []  # (tool, command) without a word of how it ended

    # ------------------------------------------------------------------ files
    def touch(self, path: str, use: FileUse) -> None:
        """Note what was done to a file; the strongest use stays, a deletion wins."""
        path = path.strip().strip("'\"")
        if not path or path in (".", "/", "-") or "\n" in path or len(path) > 300 or path.endswith("/"):
            return
        old = self.files.get(path)
        if use == "read" and old:
            return
        if use == "modified" and old == "created":
            return
        if use == "created" and old in ("read", "modified"):
            use = "modified"
        self.files[path] = use

    def move(self, old: str, new: str) -> None:
        """A file got another name."""
        was = self.files.get(old)
        self.touch(new, "created" if was == "created" else "modified")
        self.files.pop(old, None)
        self.files[old] = "deleted"

    # ------------------------------------------------------------------ results
    def result(self, act: Action, result: ToolResult, turn: int | None, kept: bool) -> None:
        """Take in what came of a call."""
        text = result.text
        if act.op == "shell":
            if text.strip() != NO_RESULT:
                self._shell(act, result, turn, kept)
            return
        if text.strip() == NO_RESULT:
            return  # a repair put it there: nothing is known
        text, code = body(text)
        failed = (
            result.is_error
            or bool(code)
            or (
                outcome.refused(text)
                if act.op in ("edit", "write", "delete", "move")
                else act.op == "fetch" and outcome.unreached(text)
            )
        )
        self.failed = failed
        if act.op in ("read", "fetch", "search"):
            self._looked(act, text, failed, turn, kept)
            return
        if failed:
            if act.op in ("edit", "write", "other", "delete") and text.strip():
                self._fail(text, f"{act.name} {act.paths[0] if act.paths else act.target}".strip(), turn)
            return
        if act.op == "todo":
            self._todo(act, text)
        elif act.op in ("edit", "write"):
            self._written(act, text)
        elif act.op == "other" and text:
            self._foreign(act.name, text)
            raised = outcome.raised(text)
            if raised:  # code that was run in a notebook or an interpreter
                self._error(raised, "", act.name, turn)
            elif act.target:  # the same call worked now
                self._settle(f"{act.name} {act.target}", ())
            for line in values.of_output(text, 4):
                self._value(line, turn, kept)
        for path in act.deleted:
            self.touch(path, "deleted")
        for old, new in act.moved:
            self.move(old, new)

    def _written(self, act: Action, text: str) -> None:
        for path in act.created:
            self.touch(path, "created")
        for path in act.paths:
            new = path not in self.files and (
                not _UPDATED.search(text[:300]) if act.op == "write" else bool(_NEW_FILE.search(text[:300]))
            )
            self.touch(path, "created" if new else "modified")
            self._settle(f"{act.name} {path}", ())
        path = (act.created or act.paths or ("",))[0]
        found = boxes(act.text)
        if found and path:
            known = {} if act.op == "write" else self.boxes.get(path, {})
            self.boxes[path] = known | {t.text: t for t in found}
        if act.op == "write" and values.is_document(path):
            for line in values.of_document(act.text, 3):
                self._value(line, None, False)

    def _looked(self, act: Action, text: str, failed: bool, turn: int | None, kept: bool) -> None:
        where = act.paths[0] if act.paths else act.target
        if failed:
            if act.op == "fetch":
                self._fail(text, f"{act.name} {act.target}", turn)
            return
        if act.op == "read":
            for path in act.paths:
                self.touch(path, "read")
            if _LOG.search(where):
                for problem in outcome.problems(text, False):
                    self._error(problem.text, problem.place, f"{act.name} {where}", turn)
        self._foreign(where or act.name, text)
        if act.op == "search":
            return
        lines: list[str] = []
        if act.op == "fetch" or values.is_document(where):
            lines = values.of_document(text)
        elif values.is_config(where):
            lines = values.of_config(text)
        else:
            lines = values.of_source(text)
        for line in lines:
            self._value(line, turn, kept)

    # ------------------------------------------------------------------ commands
    def _shell(self, act: Action, result: ToolResult, turn: int | None, kept: bool) -> None:
        line = shell.parse(act.command)
        text = outcome.clean(body(result.text)[0])
        done = outcome.judge(
            result.text,
            result.is_error,
            piped=any(p.quiet for p in line.parts),
            checks=any(p.use == "check" for p in line.parts),
            acts=any(p.use in ("check", "act") for p in line.parts),
        )
        main = line.main
        if done.code is not None:
            self._codes.setdefault(act.name, set()).add(done.code)
        if done.status == "unknown" and (self.marks_errors or not outcome.problems(text, True)):
            done = msgspec.structs.replace(done, status="passed")
        if done.status == "passed" and not done.word:
            done = msgspec.structs.replace(done, word=values.result(text))
        self.failed = done.status == "failed"
        looking = main is None or main.use == "look"
        if done.status != "failed":
            for path in line.read:
                self.touch(path, "read")
            for path in line.written:
                self.touch(path, "modified" if path in self.files else "created")
            for path in line.edited:
                self.touch(path, "modified")
            for path in line.deleted:
                self.touch(path, "deleted")
            for old, new in line.moved:
                self.move(old, new)
        self._git(act.command, line, text, turn, kept)
        self._foreign(main.text if main else act.command, text)
        told = [p for p in line.parts if p.use in ("check", "act", "push", "commit")]
        self._record(act, line, told, done, turn)
        if not (looking and line.read and not line.read[0].endswith((".log", ".env", ".local", ".out"))):
            worth = (
                not looking
                or self.failed
                or bool(re.search(r"(?i)\blogs?\b|journalctl|dmesg|\.log\b|tail\b", act.command))
            )
            found = outcome.problems(text, self.failed) if worth else []
            command = told[-1].text if told else (main.text if main else act.command)
            if not self.failed or not (looking and _MISSING.search(text) and len(text) < 300):
                self._outdated(command, [p.text for p in found])
                if self.failed and found and outcome.failures(done.word) == len(found):
                    self._settle(command, [p.text for p in found])  # each failure is told: the older ones are over
                for problem in found:
                    self._error(problem.text, problem.place, command, turn)
            if done.status == "unknown" and not found:
                self._silent.append((act.name, command))
            if done.status == "passed" and command:
                self._settle(command, (p.text for p in found))
            if not any(p.use == "commit" for p in line.parts):
                shown = values.of_output(text)
                if _ENV.match(act.command.strip()):
                    shown = values.environment(text)
                for value in shown:
                    self._value(value, turn, kept)
        elif line.read:
            first = line.read[0]
            of = (
                values.of_config
                if any(map(values.is_config, line.read))
                else values.of_document
                if values.is_document(first)
                else values.of_source
            )
            for value in of(text):
                self._value(value, turn, kept)

    def _record(
        self, act: Action, line: shell.Line, told: list[shell.Part], done: outcome.Outcome, turn: int | None
    ) -> None:
        shown = [p for p in told if p.use != "commit"]
        if not shown:
            return
        joined = (" && " if line.chained else "; ").join(p.text for p in shown)
        if len(shown) > 1 and (done.status == "failed" or joined in self.checks):
            self._check(joined, done, turn, any(p.use == "check" for p in shown))
            return
        for part in shown if line.chained else shown[-1:]:
            word = done.word if len(shown) == 1 else ""
            self._check(part.text, msgspec.structs.replace(done, word=word), turn, part.use == "check")

    def _check(self, command: str, done: outcome.Outcome, turn: int | None, verifies: bool) -> None:
        old = self.checks.pop(command, None)
        before = old.before if old else ""
        if old and old.status != done.status and old.status != "unknown":
            before = old.status
        self.checks[command] = Check(
            command=command,
            status=done.status,
            word=done.word,
            code=done.code,
            turn=turn,
            check=verifies,
            before=before,
        )
        if done.status == "passed":
            self._settle(command, ())
            for key, other in self.checks.items():
                if other.status == "failed" and key != command and shell.covers(command, key):
                    self.checks[key] = msgspec.structs.replace(other, covered=command)

    def close(self) -> None:
        """Commands that told nothing of their end worked, where their tool notes an exit code of failures only."""
        for tool, command in self._silent:
            check, codes = self.checks.get(command), self._codes.get(tool, ())
            if check and check.status == "unknown" and codes and 0 not in codes:
                self.checks[command] = msgspec.structs.replace(check, status="passed")
                self._settle(command, ())

    def _settle(self, command: str, still: Iterable[str]) -> None:
        """Errors of this command, or of a narrower one, are resolved unless they show again."""
        shown = set(still)
        for key, e in self.errors.items():
            if not e.resolved and key not in shown and (e.command == command or shell.covers(command, e.command)):
                self.errors[key] = msgspec.structs.replace(e, resolved=True)

    def _outdated(self, command: str, shown: list[str]) -> None:
        """Errors of an earlier run that this one words anew, with other numbers or names, are over."""
        begins = {_DIGITS.sub("0", t)[:14] for t in shown}
        for key, e in self.errors.items():
            if e.command == command and not e.resolved and key not in shown and _DIGITS.sub("0", key)[:14] in begins:
                self.errors[key] = msgspec.structs.replace(e, resolved=True)

    def _error(self, text: str, place: str, command: str, turn: int | None) -> None:
        old = self.errors.pop(text, None)
        self.errors[text] = Error(text=text, place=place or (old.place if old else ""), command=command, turn=turn)

    def _fail(self, text: str, command: str, turn: int | None) -> None:
        found = outcome.problems(text, True, 2)
        for p in found:
            self._error(p.text, p.place, command, turn)

    # ------------------------------------------------------------------ git
    def _git(self, command: str, line: shell.Line, text: str, turn: int | None, kept: bool) -> None:
        uses = {p.use for p in line.parts}
        if "git" not in command and "commit" not in uses:
            return
        self.hashes.update(h for h, _ in _LISTED.findall(text[:20_000]))
        for branch, made, subject in _MADE.findall(text):
            self.commits[made] = Commit(made, subject.strip())
            self._value(f"branch {branch}", turn, kept, "branch ")
        if "commit" in uses and not _MADE.search(text):
            m = _SUBJECT.search(command)
            subject = next((g for g in m.groups() if g), "").strip() if m else ""
            found = _LISTED.search(text)
            if found:
                self.commits[found.group(1)] = Commit(
                    found.group(1), (found.group(2) or subject).split("\n")[0].strip()
                )
        for m in (_BRANCH.search(command), _STATUS_BRANCH.search(text)):
            if m:
                self._value(f"branch {m.group(1)}", turn, kept, "branch ")
                break
        for url in _REQUEST.findall(text):
            self._value(url, turn, kept)

    # ------------------------------------------------------------------ rest
    def _todo(self, act: Action, answer: str) -> None:
        if act.todos is not None and act.merge:
            for t in act.todos:
                same = [i for i, x in enumerate(self.listed) if (t.key and x.key == t.key) or x.text == t.text]
                if same:
                    text = t.text or self.listed[same[0]].text
                    self.listed[same[0]] = Todo(text, t.status, t.key or self.listed[same[0]].key)
                elif t.text:
                    self.listed.append(t)
        elif act.todos is not None:
            self.listed = list(act.todos)
        elif act.change is not None:
            change = act.change
            if not change.key:
                m = _TASK_ID.search(answer)
                change = Todo(
                    change.text,
                    change.status,
                    next((g for g in m.groups() if g), "") if m else str(len(self._tasks) + 1),
                )
            old = self._tasks.get(change.key)
            self._tasks[change.key] = Todo(change.text or (old.text if old else ""), change.status, change.key)
            self.listed = [t for t in self._tasks.values() if t.text]

    def told(self, found: list[Todo]) -> None:
        """A list with boxes that was written in a message: a new list, or news of single tasks of the old one."""
        if not found:
            return
        known = {t.text.casefold(): i for i, t in enumerate(self.listed)}
        shared = sum(t.text.casefold() in known for t in found)
        if len(found) > 1 and shared * 2 >= len(self.listed):
            self.listed = list(found)
            return
        for t in found:
            at = known.get(t.text.casefold())
            if at is None:
                self.listed.append(t)
            else:
                self.listed[at] = msgspec.structs.replace(self.listed[at], status=t.status)

    def todos(self) -> list[Todo]:
        """The tasks: the newest list, and boxes in files that were written."""
        out = list(self.listed)
        known = {t.text.casefold() for t in out}
        for path, found in self.boxes.items():
            if self.files.get(path) == "deleted":
                continue
            out += [t for t in found.values() if t.text.casefold() not in known]
        return out

    def _value(self, line: str, turn: int | None, kept: bool, prefix: str = "") -> None:
        if prefix:
            for key in [k for k in self.values if k.startswith(prefix)]:
                del self.values[key]
        elif line in self.values:
            return
        values.note(self.values, line, turn, kept)
        if len(self.values) > _VALUES:
            del self.values[next(iter(self.values))]

    def _foreign(self, source: str, text: str) -> None:
        for sentence in planted(text):
            if len(self.foreign) < 24 and all(f.text != sentence for f in self.foreign):
                self.foreign.append(Foreign(source, sentence))
