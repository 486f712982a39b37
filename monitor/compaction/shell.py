"""What a shell command line does: its parts, files it touches, whether it checks something or only looks.

Input: the command as the agent wrote it. No shell is run and nothing is expanded; what is not understood is a plain
command. Paths are given as written.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from typing import Literal

import msgspec

from monitor.readers.step_tools import category_of_command


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


Use = Literal["check", "act", "look", "commit", "push", "files", "idle"]
_FILTERS = _set("head tail grep egrep rg tee less more cat cut sort uniq wc sed awk jq column tr nl fold xargs yq")
_IDLE = _set("cd pushd popd export set source . true : echo printf sleep pwd clear")
_LOOKERS = _set(
    "cat head tail less more nl bat wc ls tree find fd grep egrep rg ag ack which type env printenv date "
    "whoami id uname df du ps top "
    "htop free uptime stat file diff cmp sort uniq cut jq yq awk strings hexdump xxd ping dig nslookup "
    "host curl wget history man "
    "journalctl dmesg lsof netstat ss sqlite3 psql mysql duckdb redis-cli mongosh nproc lscpu base64 "
    "sha256sum md5sum test [ column"
)
_GIT_LOOK = _set(
    "status log diff show blame branch remote describe rev-parse ls-files grep shortlog reflog config fetch"
)
_KUBE_LOOK = _set("get describe logs top explain version config cluster-info api-resources events exec auth")
_DOCKER_LOOK = _set("ps logs images inspect stats version info")
_VERIFY = re.compile(
    r"(?i)(?:^|[\s/:_.-])(?:tests?|[a-z]*checks?|[a-z]*lint(?:er)?|sqlfluff|rubocop|prettier|phpstan|psalm|credo|dialyzer|"
    r"detekt|checkov|tfsec|trivy|bandit|vale|verify|validat\w*|dry[-_]?run|conform|kubeconform|smoke|"
    r"replay|audit|plan|typecheck|"
    r"type-check|health\w*|e2e|bench\w*|build|compile|fmt|format|doctor|preflight|selftest|self-test|ci)(?=$|[\s/:_.-])"
)
_SPLIT = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_REDIRECT = re.compile(r"\s*(?:\d?>>?|&>>?)\s*(?:&\d|/dev/null|\S+)|\s+<\s*/dev/null|\s*2>&1")
_QUOTE = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_TAIL = re.compile(r"\s*\|\s*(\w[\w.-]*)\b[^|]*$")
_WRITES = re.compile(r"(?<![\d&><=-])>{1,2}\s*([\w./~@+-]*\.\w[\w.-]*|[\w./~@-]*/[\w.@-]+|[A-Z]\w*file)(?=[\s;&|)]|$)")
_TEE = re.compile(r"\|\s*(?:sudo\s+)?tee\s+(?:-\S+\s+)*([^|;&\n>]+)")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?([^\n]*)\n(?:.*?\n)?\s*\1\b", re.S)
_PREFIX = re.compile(
    r"^(?:[A-Za-z_]\w*=\S*\s+|(?:sudo|time|nice|command|exec|nohup)\s+|env\s+(?=\w+=)|timeout\s+(?:-\S+\s+)*\S+\s+|"
    r"(?:uv|poetry|pipenv|pdm|hatch|bundle|pixi|rye)\s+(?:run|exec)\s+(?:--\s+)?)+"
)
_SQL_ACTS = re.compile(
    r"(?i)\s(?:-f|--file)[\s=]|<\s*\S+\.sql|\b(?:insert|update|delete|alter|create|drop|truncate|vacuum)\s"
)
_SSH = re.compile(r"^(?:ssh|docker\s+exec|kubectl\b.*?\bexec)\b")
#: options that change how much is told or how fast, and nothing about what is checked
_NOISE = re.compile(
    r"^(?:-v+|-q+|-s|-x|--fix|--write|--verbose|--quiet|--tb=\S+|--color(?:=\S+)?|--no-color|-rA|-n\s?\S+|--maxfail=\S+|--no-header|--(?:runs_per_test|repeat|repeat-each|reruns|retries|jobs)=\d+)$"
)


class Part(msgspec.Struct, frozen=True):
    """One command of a line: ``text`` without directory changes, redirections and output filters."""

    text: str
    use: Use
    quiet: bool = False  # a filter behind it hides its exit code and a part of its output


class Line(msgspec.Struct, frozen=True):
    """A command line taken apart."""

    parts: tuple[Part, ...]
    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()  # by redirection, tee, touch
    edited: tuple[str, ...] = ()  # by sed -i: it was there before
    deleted: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    chained: bool = True  # only && between the parts: exit code 0 means that all of them worked

    @property
    def main(self) -> Part | None:
        """The part that tells what the line is for: the last one that does something."""
        told = [p for p in self.parts if p.use not in ("idle", "look")] or [p for p in self.parts if p.use == "look"]
        return told[-1] if told else None


def parse(command: str) -> Line:
    """The parts of a command line and the files it touches."""
    bare = _HEREDOC.sub(lambda m: "<<EOF" + m[2], command.strip())
    parts: list[Part] = []
    read: list[str] = []
    told = _QUOTE.sub(lambda m: m[0][1:-1] if _pathlike(m[0][1:-1]) else "''", bare)  # '$3 > 5' writes nothing
    written: list[str] = list(_WRITES.findall(told))
    written += [w for m in _TEE.finditer(told) for w in m.group(1).split() if _pathlike(w)]
    edited: list[str] = []
    deleted: list[str] = []
    moved: list[tuple[str, str]] = []
    for piece in _pieces(bare):
        text, quiet = _strip(piece)
        if not text:
            continue
        words = _words(text)
        use = _use(text, words)
        parts.append(Part(text, use, quiet))
        _files(words, read, written, edited, deleted, moved)
    written = [p for p in written if not p.startswith(("/dev/", "/tmp/"))]
    return Line(
        tuple(parts),
        tuple(dict.fromkeys(read)),
        tuple(dict.fromkeys(written)),
        tuple(dict.fromkeys(edited)),
        tuple(dict.fromkeys(deleted)),
        tuple(moved),
        not re.search(r";|\|\||\n", _QUOTE.sub("", bare)),
    )


@lru_cache(maxsize=1024)
def family(command: str) -> tuple[str, tuple[str, ...]]:
    """(program, targets) of a check, so that ``pytest -q tests`` and ``pytest tests -v`` are one."""
    words = [w for w in _words(command) if not _NOISE.match(w)]
    if not words:
        return command, ()
    if words[0] in ("python", "python3", "py") and words[1:2] == ["-m"] and len(words) > 2:
        words = words[2:]
    if words[0] in ("npx", "pnpx", "bunx", "uvx") and len(words) > 1:
        words = words[1:]
    return words[0].rsplit("/", 1)[-1], tuple(words[1:])


def covers(later: str, earlier: str) -> bool:
    """True where a pass of ``later`` says that ``earlier`` passes too: same program, same targets or all of them."""
    a, b = family(later), family(earlier)
    if a[0] != b[0]:
        return False
    mine, theirs = set(a[1]), set(b[1])
    if mine == theirs:
        return True
    extra = mine - theirs
    if any(w.startswith("-") for w in mine ^ theirs if not _NOISE.match(w) and w in mine):
        return False
    targets = [w for w in mine if not w.startswith("-")]
    # fewer words: the whole; a target that is the folder of theirs
    return (
        not extra and not any(w.startswith("-") and w not in theirs for w in mine) and len(mine) < len(theirs)
    ) or bool(
        targets
        and all(
            t in theirs or any(x.startswith(t.rstrip("/") + s) for x in theirs for s in ("/", "::")) for t in targets
        )
        and not any(w.startswith("-") for w in extra)
    )


def _pieces(command: str) -> list[str]:
    """Split at && || ; and line ends, not inside quotes."""
    out, depth, start, i = [], "", 0, 0
    n = len(command)
    while i < n:
        ch = command[i]
        if depth:
            if ch == "\\" and depth == '"':
                i += 1
            elif ch == depth:
                depth = ""
        elif ch in "'\"":
            depth = ch
        elif command.startswith(("&&", "||"), i):
            out.append(command[start:i])
            i += 1
            start = i + 1
        elif ch in ";\n":
            out.append(command[start:i])
            start = i + 1
        i += 1
    out.append(command[start:])
    return [p.strip() for p in out if p.strip()]


def _strip(piece: str) -> tuple[str, bool]:
    """A command without redirections and trailing filters; whether something was hidden by a filter."""
    text = _outside(piece, lambda t: _REDIRECT.sub("", t)).strip().rstrip("&").strip()
    quiet = False
    while True:
        m = _TAIL.search(text)
        if not m or m.group(1) not in _FILTERS or text[: m.start()].count("'") % 2 or text[: m.start()].count('"') % 2:
            break
        text, quiet = text[: m.start()].rstrip(), True
    return text, quiet


def _outside(text: str, change: object) -> str:
    """Apply ``change`` to the parts of ``text`` outside quotes."""
    assert callable(change)
    pieces = re.split(f"({_QUOTE.pattern})", text)
    return "".join(p if i % 2 else change(p) for i, p in enumerate(pieces))


def _words(text: str) -> list[str]:
    text = _PREFIX.sub("", text)
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _use(text: str, words: list[str]) -> Use:
    if not words:
        return "idle"
    name = words[0].rsplit("/", 1)[-1]
    rest = words[1:]
    if name in _IDLE:
        return "idle"
    if name == "git":
        verb = next((w for w in rest if not w.startswith("-") and "/" not in w), "")
        if verb in _GIT_LOOK:
            return "look"
        return {"commit": "commit", "push": "push", "tag": "push"}.get(verb, "files")  # type: ignore[return-value]
    category = category_of_command(text)
    if category == "check":
        return "check"
    if category == "push":
        return "push"
    if name in ("kubectl", "oc"):
        return "look" if next((w for w in rest if w in _KUBE_LOOK), "") and "apply" not in rest else "act"
    if name in ("docker", "podman"):
        return "look" if rest[:1] and rest[0] in _DOCKER_LOOK else "act"
    if (
        name in ("npm", "pnpm", "yarn", "pip", "cargo", "go")
        and rest[:1]
        and rest[0] in ("ls", "list", "view", "outdated", "show", "why", "env")
    ):
        return "look"
    if _SSH.match(text):
        inner = words[-1] if " " in words[-1] else ""
        return "look" if not inner or all(p.use in ("look", "idle") for p in parse(inner).parts) else "act"
    if name in ("rm", "mv", "cp", "mkdir", "touch", "chmod", "chown", "ln", "tee", "patch", "apply_patch"):
        return "files"
    if name == "sed":
        return "files" if any(w.startswith("-i") for w in rest) else "look"
    if rest and all(w in ("-v", "-V", "--version", "version", "--help", "-h") for w in rest):
        return "look"
    if name in ("psql", "mysql", "sqlite3", "duckdb") and _SQL_ACTS.search(text):
        return "act"
    if name in _LOOKERS:
        method = next((rest[i + 1].upper() for i, w in enumerate(rest[:-1]) if w in ("-X", "--request")), "")
        return (
            "act"
            if name == "curl" and (method not in ("", "GET", "HEAD") or any(w in ("-d", "--data") for w in rest))
            else "look"
        )
    return "check" if _VERIFY.search(text) else "act"


def _files(
    words: list[str],
    read: list[str],
    written: list[str],
    edited: list[str],
    deleted: list[str],
    moved: list[tuple[str, str]],
) -> None:
    if not words:
        return
    name = words[0].rsplit("/", 1)[-1]
    args = [w for w in words[1:] if not w.startswith("-")]
    if name == "git" and args[:1] and args[0] in ("rm", "mv"):
        name, args = args[0], args[1:]
    if name in ("cat", "head", "tail", "less", "more", "nl", "bat", "sed") and name != "sed":
        read += [w for w in args if _pathlike(w)]
    elif name == "sed":
        target = [w for w in args[1:] if _pathlike(w)]
        (edited if any(w.startswith("-i") for w in words[1:]) else read).extend(target)
    elif name in ("tee", "touch"):
        written += [w for w in args if _pathlike(w)]
    elif name == "rm":
        deleted += [w for w in args if _pathlike(w) and not any(c in w for c in "*?")]
    elif name == "mv" and len(args) == 2:
        moved.append((args[0], args[1]))


def _pathlike(word: str) -> bool:
    return (
        bool(re.fullmatch(r"[\w./~@+-]*[\w-]\.\w{1,8}|[\w.~@+-]*/[\w./@+-]+|[\w-]+file|\.\w[\w.-]*", word))
        and not word.isdigit()
    )
