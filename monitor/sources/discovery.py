"""Which files to read: what the user named, or the log folders of the agents on this machine."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from monitor.records import Problem

#: names of files that lie in agents' folders and are never logs of calls
_NEVER = frozenset(("history.jsonl", "journal.jsonl", "session_index.jsonl", "MANIFEST.tsv", "expected.json",
                    "sessions.json"))  # fmt: skip
_NEVER_ENDS = (".meta.json", ".tmp", ".lock", "-wal", "-shm", "-journal", ".md5", ".pyc", "~")
#: what may be a log, by the end of the name; a file named by the user is read whatever its name
_ENDS = (
    ".jsonl",
    ".json",
    ".ndjson",
    ".har",
    ".mitm",
    ".flow",
    ".flows",
    ".dump",
    ".lhar",
    ".csv",
    ".tsv",
    ".xlsx",
    ".parquet",
    ".db",
    ".sqlite",
    ".sqlite3",
    ".log",
    ".otlp",
    ".sse",
    ".gz",
    ".zst",
    "aider.chat.history.md",
)
_SKIP_FOLDERS = frozenset(("node_modules", ".git", "__pycache__", ".venv", "shell-snapshots", "file-history", "todos",
                           "rewind-file-snapshots"))  # fmt: skip


def agent_folders(environ: Mapping[str, str] | None = None, home: Path | None = None) -> list[Path]:
    """Folders (and files) in which the known agents keep their logs, those that exist.

    Args:
        environ: environment; each agent's own variables move its folder.
        home: home folder of the user.
    """
    env = os.environ if environ is None else environ
    base = Path.home() if home is None else home
    data = Path(env["XDG_DATA_HOME"]) if env.get("XDG_DATA_HOME") else base / ".local" / "share"
    found: list[Path] = []

    def add(*paths: Path) -> None:
        found.extend(path for path in paths if path.exists() and path not in found)

    claude = env.get("CLAUDE_CONFIG_DIR")
    if claude:
        add(*(Path(part) / "projects" for part in claude.split(",") if part))
    else:
        add(base / ".claude" / "projects", base / ".config" / "claude" / "projects")

    def place(variable: str, default: Path) -> Path:
        return Path(env[variable]) if env.get(variable) else default

    codex = place("CODEX_HOME", base / ".codex")
    add(codex / "sessions", codex / "archived_sessions")
    add(place("PI_CODING_AGENT_DIR", base / ".pi" / "agent") / "sessions", base / ".omp" / "agent" / "sessions")
    add(place("GEMINI_CLI_HOME", base) / ".gemini" / "tmp")
    for qwen in dict.fromkeys((place("QWEN_HOME", base / ".qwen"), place("QWEN_RUNTIME_DIR", base / ".qwen"))):
        add(qwen / "projects", qwen / "usage")
    for claw in (".openclaw", ".clawdbot", ".moltbot", ".moldbot"):
        add(*sorted((base / claw / "agents").glob("*/agent/openclaw-agent.sqlite")))
        add(*sorted((base / claw / "agents").glob("*/sessions")))
    opencode, kilo = data / "opencode", data / "kilo"  # (Kilo's command line is opencode under another name)
    add(*sorted([*opencode.glob("opencode*.db"), *kilo.glob("*.db")]), opencode / "storage", kilo / "storage")
    if env.get("OPENCODE_DB"):  # a name in that folder, or a path
        add(opencode / env["OPENCODE_DB"])
    add(place("KIMI_SHARE_DIR", base / ".kimi") / "sessions", base / ".kimi-code")
    copilot = place("COPILOT_HOME", base / ".copilot")
    add(copilot / "session-store.db", copilot / "session-state")
    openhands = base / ".openhands"
    add(data / "amp" / "threads", base / ".factory" / "sessions", openhands / "sessions", openhands / "conversations")
    for goose in (data / "goose", data / "Block" / "goose", _appdata(env, "Block") / "goose"):
        add(goose / "sessions" / "sessions.db", goose / "data" / "sessions" / "sessions.db")
    if env.get("GOOSE_PATH_ROOT"):
        add(Path(env["GOOSE_PATH_ROOT"]) / "data" / "sessions" / "sessions.db")
    add(place("CLINE_DIR", base / ".cline") / "data", place("HERMES_HOME", base / ".hermes"))
    for code in ("Code", "Code - Insiders", "VSCodium", "Cursor"):
        for root in (base / ".config" / code, base / "Library" / "Application Support" / code, _appdata(env, code)):
            storage = root / "User" / "globalStorage"
            for extension in ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"):
                add(storage / extension / "tasks")
    return found


def _appdata(env: Mapping[str, str], name: str) -> Path:
    return Path(env["APPDATA"]) / name if env.get("APPDATA") else Path("/nonexistent")


def expand(paths: Iterable[str], problems: list[Problem]) -> Iterator[Path]:
    """:func:`names` as paths."""
    return map(Path, names(paths, problems))


def names(paths: Iterable[str], problems: list[Problem]) -> Iterator[str]:
    """Files named by paths, folders (searched to any depth) and globs; each once, folders in a stable order.

    What does not exist is noted in ``problems``. As text, because a Path for each of thousands of files is slow.
    """
    seen: set[str] = set()
    for name in paths:
        path = Path(name).expanduser()
        if not _exists(path) and glob.has_magic(name):
            matches = sorted(glob.glob(str(path), recursive=True))
            if not matches:
                problems.append(Problem(name, None, "no file matches this pattern"))
            for match in matches:
                yield from _one(Path(match), seen, problems)
            continue
        yield from _one(path, seen, problems)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _one(path: Path, seen: set[str], problems: list[Problem]) -> Iterator[str]:
    name = str(path)
    try:
        if path.is_dir():
            yield from _walk(name, seen, problems)
            return
        exists = path.exists()
    except OSError as error:
        problems.append(Problem(name, None, f"cannot be looked at: {reason(error)}"))
        return
    if not exists:
        problems.append(Problem(name, None, "there is no such file or folder; check the path"))
    elif not path.is_file():
        problems.append(Problem(name, None, "this is no regular file; pipe what it gives into `ctxmon … -`"))
    elif name not in seen:
        seen.add(name)
        yield name


def _walk(folder: str, seen: set[str], problems: list[Problem]) -> Iterator[str]:
    found = 0
    waiting = [folder]
    while waiting:
        root = waiting.pop()
        try:
            with os.scandir(root) as entries:
                folders, files = _sorted(entries)
        except OSError as error:
            problems.append(Problem(str(error.filename), None, f"cannot be opened: {reason(error)}"))
            continue
        if root.endswith(f"{os.sep}storage") and "session" in folders:
            # opencode keeps every part of a message in a file; the reader finds them from the session's file
            folders = [name for name in folders if name not in ("message", "part")]
        waiting += [os.path.join(root, name) for name in reversed(folders)]
        for name in files:
            path = os.path.join(root, name)
            found += 1
            if path not in seen:
                seen.add(path)
                yield path
    if not found and not any(problem.file == folder for problem in problems):
        problems.append(Problem(folder, None, "this folder holds no log files (looked for " + _looked_for() + ")"))


def _sorted(entries: Iterable[os.DirEntry[str]]) -> tuple[list[str], list[str]]:
    """Names of the folders to search, and of the files that may be logs. Links to folders are not followed; a pipe or
    device would wait for ever."""
    folders, files = [], []
    for entry in entries:
        try:
            if entry.is_dir():
                if entry.name not in _SKIP_FOLDERS and not entry.is_symlink():
                    folders.append(entry.name)
            elif may_be_log(entry.name) and entry.is_file() and not _gemini_prompts(entry):
                files.append(entry.name)
        except OSError:
            continue
    return sorted(folders), sorted(files)


def _gemini_prompts(entry: os.DirEntry[str]) -> bool:
    """Whether this is Gemini CLI's list of prompts; gateways call their exports so, too."""
    if entry.name != "logs.json":
        return False
    folder = os.path.dirname(entry.path)
    return f"{os.sep}.gemini{os.sep}" in entry.path or os.path.isdir(os.path.join(folder, "chats"))


def _looked_for() -> str:
    return ", ".join(_ENDS[:6]) + " and others"


def may_be_log(name: str) -> bool:
    """Whether a file found in a folder is worth a look at its content."""
    return name not in _NEVER and not name.endswith(_NEVER_ENDS) and (name.endswith(_ENDS) or "." not in name)


def may_matter(path: str) -> bool:
    """Whether a path in a folder that is followed may be a log or a folder that holds some."""
    parts = path.split(os.sep)
    return _SKIP_FOLDERS.isdisjoint(parts) and (may_be_log(parts[-1]) or os.path.isdir(path))


#: file systems whose other users' changes raise no events here
_REMOTE = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "9p", "drvfs", "virtiofs", "vboxsf", "prl_fs",
     "fuse.sshfs", "fuse.rclone", "fuse.glusterfs", "fuse.gvfsd-fuse", "fuse.grpcfuse", "fuse.osxfs")
)  # fmt: skip
_MOUNTS = Path("/proc/self/mounts")


def remote(path: str) -> bool:
    """Whether a path lies on a file system of another machine, as far as the system tells (Linux)."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    real, longest, kind = os.path.realpath(path), -1, ""
    for line in lines:
        parts = line.split(" ")
        if len(parts) < 3:
            continue
        point = parts[1].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\").rstrip("/")
        if len(point) >= longest and (real == point or real.startswith(point + "/")):
            longest, kind = len(point), parts[2]
    return kind in _REMOTE


def reason(error: OSError) -> str:
    """An operating system error in plain words."""
    if isinstance(error, PermissionError):
        return "permission denied"
    if isinstance(error, FileNotFoundError):
        return "it is not there any more"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    return (error.strerror or type(error).__name__).lower()
