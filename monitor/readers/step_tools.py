"""What a tool call is for, from its name and its command line: tables and pattern rules for
:mod:`monitor.readers.step_parse`.

Names follow the published clients (Claude Code, Codex, Pi, Gemini CLI, opencode, Cline, Roo, Qwen Code,
Kimi, Copilot, Goose, OpenHands). A shell command is judged by its text: the most telling part wins (push,
commit, check, edit, read, search), and only a word in the place of a command counts, so that ``grep
pytest`` is a search.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from zlib import crc32

import msgspec

from monitor.readers.patterns import Lazy, lazy

try:  # hashlib itself loads OpenSSL, which takes 3 ms
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - another Python than CPython
    from hashlib import blake2b

Arguments = bytes | str | dict[str, Any] | list[Any] | None

_decode = msgspec.json.Decoder().decode


def stable_hash(data: bytes) -> int:
    """63 bits of BLAKE2b as a non-negative integer; the same on every run."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little") >> 1


# ------------------------------------------------------------------------------------------------------ tools
_NAMES = {
    "edit": """edit write multiedit notebookedit apply_patch applypatch str_replace str_replace_editor replace
        str_replace_based_edit_tool write_file edit_file create_file write_to_file replace_in_file apply_diff
        insert_content search_and_replace patch update_file delete_file insert_edit_into_file create new_file
        replace_string_in_file multi_replace_string_in_file text_editor writefile strreplacefile editfile""",
    "read": """read read_file readfile view view_image read_many_files notebookread open_file cat webfetch
        web_fetch fetch fetchurl get_file read_resource bashoutput readmediafile""",
    "search": """grep glob search find ls list list_files list_directory list_dir search_files grep_search
        search_file_content websearch web_search google_web_search codebase_search file_search rg
        semantic_search list_code_definition_names toolsearch tool_search searchweb""",
    "todo": """todowrite todo_write todoread todo_read update_plan todo update_todo_list write_todos
        set_todo_list settodolist manage_todo_list taskcreate taskupdate tasklist taskget""",
    "plan": """exitplanmode exit_plan_mode enterplanmode enter_plan_mode plan_exit plan_mode_respond
        switch_mode""",
    "agent": """task agent spawn_agent delegate dispatch_agent new_task subagent wait_agent send_input
        runsubagent wait close_agent task_stop taskstop taskoutput collab sendmessage""",
    "shell": """bash shell exec_command local_shell local_shell_call run_shell_command execute_command exec
        run_terminal_cmd run_in_terminal powershell terminal execute run_command unified_exec write_stdin cmd
        shell_command execute_bash execute_ipython_cell command""",
}
TOOLS: dict[str, str] = {name: category for category, names in _NAMES.items() for name in names.split()}
PLAN_EXITS = frozenset(("exitplanmode", "exit_plan_mode", "plan_exit"))
COMPLETIONS = frozenset(("attempt_completion", "task_complete", "complete_task", "finish"))
#: arguments that say how, not what: a repeated command is the same command whatever it is called this time
_HOW = """
    description timeout timeout_ms yield_time_ms max_output_tokens justification explanation reason thought
    thoughts run_in_background with_escalated_permissions sandbox_permissions dangerouslyDisableSandbox
    tool_call_id id security_risk task_progress requires_approval
"""
NOISE = frozenset(_HOW.split())
PATH_KEYS = (
    "file_path",
    "path",
    "filePath",
    "notebook_path",
    "absolute_path",
    "target_file",
    "filename",
    "file",
)
PATH_NAMES = frozenset(PATH_KEYS)
COMMAND_KEYS = ("command", "cmd", "script", "code")

# a command stands at the start or behind ; & | ( or a line break; a few words may come before it
_AT = (
    r"(?:^|[;&|(\n]|\bthen\b|\bdo\b)\s*(?:[A-Za-z_]\w*=\S*\s+|(?:sudo|time|nice|env|command|exec|npx|pnpx|"
    r"bunx|uvx)\s+|timeout\s+(?:-\S+\s+)*\S+\s+|(?:uv|poetry|pipenv|pdm|hatch|bundle|pixi|rye)\s+(?:run|"
    r"exec)\s+(?:-\S+\s+)*|(?:\S*/)?(?:bin|Scripts)/|\./)*"
)
_PUSH = Lazy(
    _AT + r"(?:git\s+(?:-C\s+\S+\s+)?(?:push|tag)\b|gh\s+(?:pr\s+(?:create|merge)|release\s+create)|"
    r"(?:npm|pnpm|yarn|cargo|poetry|uv)\s+publish\b|twine\s+upload)"
)
_COMMIT = Lazy(_AT + r"(?:git\s+(?:-C\s+\S+\s+|-c\s+\S+\s+)*commit|jj\s+(?:commit|describe)|hg\s+commit)\b")
_CHECK = Lazy(
    _AT + r"(?:(?:python[\d.]*|py)\s+(?:-\S+\s+)*-m\s+(?:pytest|unittest|tox|nox|mypy|ruff|flake8|pylint)\b|"
    r"(?:pytest|py\.test|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|ctest|tsc|eslint|mypy|pyright|flake8|"
    r"pylint|clippy|golangci-lint|shellcheck|pre-commit|xcodebuild|biome|playwright)\b|ruff\s+check\b|"
    r"(?:npm|pnpm|yarn|bun|deno)\s+(?:run\s+|exec\s+)?(?:test|t|build|lint|check|typecheck|type-check|"
    r"tsc)\b[\w:-]*|(?:go|cargo|dotnet|swift|mix|bazel|zig|stack|cabal|sbt|lein)\s+(?:test|build|check|vet|"
    r"clippy|verify)\b|(?:mvn|mvnw|gradle|gradlew)\b[^;&|\n]*\b(?:test|verify|package|install|build|check|"
    r"compile)\b|(?:make|just|rake|invoke|task|ninja|cmake\s+--build)\b(?![^;&|\n]*\b(?:clean|install|help|"
    r"run|serve)\b)|\S*(?:run_tests?|test|tests|check|build|verify)\.(?:sh|py|bat|ps1)\b)"
)
_EDIT = Lazy(
    r"\*\*\* (?:Begin Patch|Update File|Add File)|" + _AT + r"(?:sed\s+(?:-\w+\s+)*-i|patch\s|apply_patch|tee\s|mv\s|"
    r"rm\s|git\s+(?:checkout\s+--|restore|apply|revert))|(?:^|[\s;&|])cat\s*>|<<\s*['\"]?\w+['\"]?\s*>\s*\S"
)
_READ = Lazy(_AT + r"(?:cat|sed\s+-n|head|tail|less|more|nl|bat|wc|git\s+(?:show|diff|log|blame)|jq)\b")
_SEARCH = Lazy(_AT + r"(?:grep|egrep|rg|ag|ack|find|fd|ls|tree|git\s+(?:grep|status|ls-files)|which)\b")
PIPED = Lazy(r"\|\s*(?:tail|head|grep|rg|tee|sed|awk|cut|sort|cat|less)\b|\|\|\s*(?:true|:)|;\s*(?:echo|true)\b")
PATCH_PATH = Lazy(r"\*\*\* (?:Update|Add|Delete) File: (.+)")
_PATH = Lazy(r"[\w.~@-]*/[\w./@+-]+|\b[\w-]{2,}\.[A-Za-z]\w{0,4}\b")
SPACE = lazy(r"\s+")
_PARTS = lazy(r"[^/\\]+")


@lru_cache(maxsize=4096)
def path_hash(path: str) -> int:
    """A path by its last two parts, so that absolute and relative spellings of a file are the same one."""
    parts = _PARTS.findall(path.strip("\"' \t\r\n"))[-2:]
    if "." in parts:
        parts = [part for part in parts if part != "."]
    return crc32("/".join(parts).encode("utf-8", "replace"))


def paths_in(text: str, most: int) -> list[str]:
    """The first paths and file names in a text."""
    found: list[str] = []
    for word in text.split():
        if "/" in word or "." in word:
            found += _PATH.findall(word)
            if len(found) >= most:
                return found[:most]
    return found


#: asked in this order; a rule is only tried where one of its words occurs, which is much quicker than the pattern
_RULES: tuple[tuple[str, Lazy, tuple[str, ...]], ...] = (
    ("push", _PUSH, ("push", "tag", "gh ", "publish", "twine")),
    ("commit", _COMMIT, ("commit", "jj ")),
    ("check", _CHECK, ()),
    ("edit", _EDIT, ("***", "sed", "patch", "tee", "mv", "rm", "git", ">")),
    ("read", _READ, ()),
    ("search", _SEARCH, ()),
)


def category_of_command(command: str) -> str:
    """What a shell command line is for; ``shell`` where nothing says."""
    for category, pattern, words in _RULES:
        if (not words or any(word in command for word in words)) and pattern.search(command):
            return category
    return "shell"


@lru_cache(maxsize=512)
def tool_of(name: str) -> tuple[str, str | None]:
    """A tool's plain name in lower case, and what it is for if that is known."""
    short = name.lower()
    category = TOOLS.get(short)
    if category is None and ("__" in short or "." in short or ":" in short):
        short = re.split(r"__|[.:]", short)[-1]  # mcp__server__tool, developer__shell, functions.shell
        category = TOOLS.get(short)
    return short, category


@lru_cache(maxsize=512)
def about_command(command: str) -> tuple[str, bool, tuple[int, ...], str]:
    """Of a command line: what it is for, whether a pipe hides its exit code, hashes of the paths it names, and itself
    with single spaces. Agents run the same few commands again and again, so the latest answers are kept."""
    head = command[:4000]
    found = (PATCH_PATH.findall(head) if "***" in head else None) or paths_in(head[:1000], 8)
    paths = tuple(path_hash(path) for path in found[:8])
    return category_of_command(head), PIPED.search(head) is not None, paths, SPACE.sub(" ", command).strip()


def to_object(arguments: Arguments) -> Any:
    """The arguments as an object where they are one, else the text itself."""
    if isinstance(arguments, (bytes, bytearray, memoryview)):
        if not isinstance(arguments, bytes):
            arguments = bytes(arguments)
        try:
            value = _decode(arguments)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return arguments.decode("utf-8", "replace")
        # Codex keeps arguments as JSON inside a JSON string
        return to_object(value) if isinstance(value, str) else value
    if isinstance(arguments, str):
        if arguments[:1] in "{[" and arguments:
            try:
                return _decode(arguments)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                return arguments
        return arguments
    return arguments


def command_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        words = [w for w in value if isinstance(w, str)]
        # ["bash", "-lc", "the command"]
        if len(words) >= 3 and words[1].startswith("-") and "c" in words[1]:
            return words[2]
        return " ".join(words)
    return ""


def todo_counts(value: Any) -> tuple[int, int, int] | None:
    """Open, in progress and done items of a todo list or plan as tools send it."""
    waiting = active = done = 0
    if isinstance(value, str):
        marks = re.findall(r"^\s*(?:[-*]\s*)?\[([ xX\-~])\]", value, re.M)
        if not marks:
            return None
        done = sum(m in "xX" for m in marks)
        active = sum(m in "-~" for m in marks)
        return len(marks) - done - active, active, done
    if not isinstance(value, list):
        return None
    for item in value:
        status = item.get("status", item.get("state", "")) if isinstance(item, dict) else ""
        word = str(status).lower().replace("-", "_").replace(" ", "_")
        if word in ("completed", "done", "complete", "finished", "cancelled", "canceled"):
            done += 1
        elif word in ("in_progress", "active", "doing", "started"):
            active += 1
        else:
            waiting += 1
    return waiting, active, done


def todo_flags(short: str, data: dict[str, Any]) -> tuple[str, ...]:
    if short == "taskcreate":
        return ("todo_add",)
    status = str(data.get("status", "")).lower()
    if short == "taskupdate" and status in ("completed", "deleted"):
        return ("todo_done",)
    if short == "taskupdate" and status == "in_progress":
        return ("todo_start",)
    return ()
