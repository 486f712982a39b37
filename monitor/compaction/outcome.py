"""What a tool result says: did it work, by which words, and the exact text of errors in it.

Input: the text of a result and what was called. Source code that was read is no error report, so error lines are looked
for in the output of commands only. A pipe hides exit codes (``pytest | tail``): then the text decides.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from monitor.compaction.wrapping import body

Status = Literal["passed", "failed", "unknown"]
#: ends of a result that are looked at for an exit code and a last word
_EDGE = 1_500
_CODE = re.compile(
    r"(?im)^\W*(?:the\s+)?(?:process\s+|command\s+|script\s+)?(?:exit(?:ed)?(?:\s+with)?(?:\s+(?:exit\s+)?(?:code|"
    r"status))?|(?:failed|completed|finished|ended)\s+with\s+(?:an?\s+)?(?:exit\s+)?(?:code|status)|return\s?code|exit_?code|rc)\s*[:=]?\s*(-?\d{1,3})\W*$"
)
_CODE_TAG = re.compile(
    r"(?im)^command executed\b.*\bexit code: (-?\d{1,3})$|"
    r"<(?:exit_?code|returncode)>\s*(-?\d{1,3})\s*<|\(exit code:? (-?\d{1,3})\)|\bexited with code (-?\d{1,3})\b"
)
_SUMMARY = re.compile(
    r"(?im)^.*(?:\b\d+\s+(?:passed|passing|failing|failed|errors?|failures?|skipped|ok|invalid|valid|warnings?|"
    r"problems?|issues?|fehler|errores|erreurs|mismatch(?:es)?|violations?|vulnerabilities|"
    r"tests?)\b|\btests?:?\s+\d+|^\W*ok\W*$|\bok:\s|:\s*ok\W*$|\bfail\s+\d+[hms]|"
    r"\b(?:all checks passed|build (?:success\w*|failed|failure|succeeded)|success: no issues|no issues found|"
    r"found \d+ errors?|compiled "
    r"successfully|test result:|\bERROR=\d|success!\s|successfully\s\w+|^plan: \d+ to add|^no changes\.|are "
    r"up-to-date|"
    r"finished `?\w+`? (?:\[|profile)|built in [\d.]+|done in [\d.]+|webpack \S+ compiled|\[ok\]|no errors\b|FAIL\b|"
    r"\bok\b\s+\S+\s+[\d.]+s|passed|failed|bestanden|fehlgeschlagen|通过|"
    r"失败|合格|成功|失敗)).*$"
)
_COUNT = re.compile(r"(?i)\s*\d+ (?:passed|passing|failed|failing|flaky|skipped|pending|did not run|errors?)\b(?!.*,)")
_BAD = re.compile(
    r"(?i)\b(?!0\b)\d+\s+(?:tests?\s+|checks?\s+|specs?\s+)?(?:failed|failures?|errors?|failing|invalid|problems?|issues?|broken|fehler|errores|"
    r"erreurs|mismatch(?:es)?|violations?|vulnerabilities)\b|\bfail\s+\d+[hms]|(?-i:\bFAILED\b|"
    r"^FAIL\b|\bFAIL$)|"
    r"\bERROR=[1-9]|\bbuild fail(?:ed|ure)|\bfound (?!0\b)\d+ errors?|\bnot ok\b|✗|✘|✖|❌|--- FAIL|未通过|失败|失敗"
)
_GOOD = re.compile(
    r"(?i)\b(?!0\b)\d+\s+(?:passed|passing|ok|valid)\b|\ball checks passed|\[ok\]|\bno errors\b|\bbuilt in [\d.]+|"
    r"\bbuild success|"
    r"\bsuccess!\s|\bsuccessfully\s\w+|^plan: \d+ to add|^no changes\.|are up-to-date|\bsuccess: no "
    r"issues|\bno issues found|"
    r"\bcompiled successfully|\btest result: ok|\bfinished `?\w+`? (?:\[|profile)|"
    r"✓|✔|✅|^ok\W*$|\bok:\s|:\s*ok\W*$|"
    r"\b0 (?:errors?|failed|failures?|problems?|invalid|fehler|errores|erreurs|mismatch\w*)\b|通过|成功|合格"
)
#: a verdict without a count; "0 charts failed" is none
_FELL = re.compile(r"(?i)^(?!.*\bnow\s+pass).*\b(?:failed|fehlgeschlagen)\b(?!\s*[:=]?\s*0\b)")
#: the same where nothing was checked: the whole line must be the verdict
_ONLY_FELL = re.compile(r"(?i)^\W*(?!.*\b(?:that|which)\b)(?:\S+\s+){1,3}(?:failed|fehlgeschlagen)\W*$")
_NONE_FELL = re.compile(r"(?i)\b(?:0|no|none|zero|keine?)\s+(?:\S+\s+){0,2}(?:failed|fehlgeschlagen)\b")
#: one of many parts failed, whatever the last line is: hooks of pre-commit, files of sqlfluff
_PART = re.compile(r"(?m)(?:\.{3,} ?|\] )(?:Failed|FAIL(?:ED)?)$")
_TIMEOUT = re.compile(
    r"(?i)\b(?:command|process)\s+(?:timed out|was killed|aborted)|\btimed out after\b|"
    r"\bterminated (?:the )?command after exceeding\b"
)
_NAME = r"(?:[A-Za-z_$][\w$]*(?:\.|::))*[A-Z][\w$]*"
_RAISED = re.compile(
    rf"^({_NAME}(?:Error|Exception|Failure|Violation|Fault|Timeout|Warning|Refused|Denied|NotFound|Exit|"
    rf"Rate|Limit|Timestamp)\w*|{_NAME}\.{_NAME}|[A-Z]\w*[a-z][A-Z]\w*)(?::\s+\S.*)$"
)
_PYTEST = re.compile(r"^E\s{2,}(?!\s*\^)(?!(?:and|where|assert\s+<|\+|-|\?)\s)(\S.{5,})$")
_LEVEL = re.compile(
    r"^\S*\d{2}:\d{2}:\d{2}\S*\s+(?:\S+\s+){0,2}?\[?(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|"
    r"EMERG)\]?:?\s+(.*)$|^\[?(?:ERROR|FATAL|CRITICAL|SEVERE)\]?:?\s+(\S.*)$"
)
_LOGGER = re.compile(r"^(?:\[?[\w./-]+\[?\d*\]{0,2}:?\s+)(?=\S*(?:Error|Exception)|[A-Z])")
_AT = re.compile(
    r"^\s*(?:at\s+)?([\w./@-]+\.\w{1,5}:\d+)\b(?:\s+in\s+\S+|:\s*(?:in\s+\S+|\w+(?:Error|Exception)\b).*)?$"
)
_WORD = re.compile(
    r"(?i)(?:^|[\s:\[(])(?:error|fatal|panic|err!|failure|exception)(?:\[\w+\]|\s+TS\d+|\s+\([\w ]+\)|"
    r"\s+from\s+server)?[\s:!\])]|\bis forbidden\b|"
    r"\bpermission denied|\bcommand not found|\bno such file|\bcannot\b.*\b(?:find|open|resolve|connect|"
    r"delete|create|access)|\bviolates\b|"
    r"\bnot found\b|\baccess denied|\bunauthorized|\bconnection (?:refused|reset)|\btimed? ?out\b|"
    r"\bsegmentation fault|\bout of memory|\brefused\b|"
    r"\bunable to\b|\binvalid\b|\bundefined\b|\bexpected\b.*\b(?:to be|but|got|found|to equal|toBe)\b|"
    r"\bassert(?:ion)?\b.*(?:failed|==|!=)|\bfailed\s+assert"
)
#: one of these stands in whatever the pattern above finds; sought one by one, which is quicker than a pattern
_LITERALS = (
    *(
        "err",
        "fatal",
        "panic",
        "failure",
        "exception",
        "forbidden",
        "denied",
        "not found",
        "no such",
        "cannot",
        "violates",
    ),
    *(
        "unauthorized",
        "refused",
        "reset",
        "time",
        "fault",
        "memory",
        "unable",
        "invalid",
        "undefined",
        "expected",
        "assert",
    ),
)
_NOT_ERROR = re.compile(
    r"(?i)\b(?:0|no)\s+(?:errors?|failures?|problems?|invalid)\b|\berrors?=0\b|\b(?:PASSED|passed in|"
    r"\bvalid$)|^\s*(?:ok|PASS)\b|^\s*#|^summary\b.*\bvalid\b|resources found"
)
_FAILED_TEST = re.compile(r"^(?:FAILED|FAIL|×|✗|✘|❌|--- FAIL:?|not ok \d+)\s+(\S.*)$")
_OWN_ERROR = re.compile(
    r"(?m)^[│|\s]*(?:Error|ERROR|error|fatal|FATAL|panic)(?:\[\w+\])?:\s\S|^! [A-Z]|\bErrors, so I did not complete"
)
_CRASH = re.compile(
    r"^(?:(?-i:Fatal|fatal)(?=: [a-z])|Fatal error|Uncaught \w+|Unhandled [\w ]{4,30}|Segmentation fault)\b.*:\s+\S"
)
_DETAIL = re.compile(r"^[│|\s]*([A-Z][^.]*\s.*[.\"'])$")
_DIAGNOSIS = re.compile(r"^\s*(?:[\w@.-]+/)*[\w@.-]+\.[a-z]{1,5}(?::\d+(?::\d+)?:|\(\d+,\d+\):)\s+\S")
#: what a test says of its failure: indented place and message (go test), or one side of a comparison
_TEST_SAYS = re.compile(r"^\s{2,}(\S+_test\.\w+:\d+):\s+(\S.*)$")
_SIDE = re.compile(r"(?i)^(?:expected|actual|received|got|want)\s*[:=]\s*\S")
_RULED = re.compile(r"^[a-z][\w-]+(?:\[[\w-]+\])?:\s+(?=[A-Z].{8})")
_WHY = re.compile(r"(?i)^\*?\s*what went wrong:?$")
_LINT = re.compile(r"^\s*\d+:\d+\s+(?:error|✖)\s+(.*?)(?:\s{2,}([\w@/-]+))?$")
#: an exception of a module, whatever its name is
_CLASS = re.compile(r"(?:[a-z_]\w*\.)+[A-Z]\w*[a-z]\w*(?::\s|$)")
_RULE_OFF = re.compile(r"^([=*_-])\1{2,}.*\1{3,}$")
#: a line of a log that tells no error
_CALM = re.compile(r"\b(?:DEBUG|TRACE|INFO|NOTICE|WARN(?:ING)?)\b")
#: how many of the checks failed
_HOW_MANY = re.compile(r"(?i)(?<![\d.])(\d+)\s+(?:tests?\s+)?(?:failed|failing|failures?|errors?)\b|\bfailures=(\d+)")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Outcome(msgspec.Struct, frozen=True):
    """How a call ended. ``word``: the line that says so, "" if none does."""

    status: Status
    code: int | None = None
    word: str = ""


def clean(text: str) -> str:
    """Output without colours and without what a progress bar overwrote."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
    return text


def judge(text: str, is_error: bool, *, piped: bool = False, checks: bool = False, acts: bool = False) -> Outcome:
    """How the call ended, from the client's mark, an exit code, or the words of the output.

    ``checks``: a compiler, linter or test was run, so that lines with file and place are complaints; ``acts``: it
    was run to do or check something, so that a line that begins with "Error:" is its own.
    """
    text, code = body(text)
    if code is None:
        code = exit_code(text)
    word = last_word(text)
    bad = (
        bool(word)
        and bool(_BAD.search(word))
        and " 0 remaining" not in word
        and not (_GOOD.search(word) and not re.search(r"(?i)\bfail|\bproblem|\binvalid|error|\bissue", word))
    )
    if not bad and word:
        fell = _FELL if checks or acts else _ONLY_FELL
        bad = bool(fell.search(_NONE_FELL.sub("", word)))
    bad = bad or bool(_PART.search(text[-6_000:]))
    if is_error or (code is not None and code != 0) or _TIMEOUT.search(text[-400:]):
        return Outcome("failed", code, word)
    if code == 0 and not (piped and bad):
        return Outcome("passed", code, word)
    if word:
        return Outcome("failed" if bad else "passed", code, word)
    if checks and any(_DIAGNOSIS.match(x) and "warning" not in x.lower() for x in text[-6_000:].split("\n")):
        return Outcome("failed", code, word)
    if acts and _OWN_ERROR.search(text[-6_000:]):
        return Outcome("failed", code, word)
    return Outcome("unknown", code, word)


def raised(text: str) -> str:
    """The exception an output ends with, "" if it does not."""
    last = text.rstrip().rsplit("\n", 1)[-1].strip()
    return last[:300] if re.match(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): \S", last) else ""


def exit_code(text: str) -> int | None:
    """The exit code a client notes at the begin or end of an output; None where it notes none."""
    for part in (text[-_EDGE:], text[:_EDGE]):
        found = [*_CODE.finditer(part)]
        if found:
            return int((found[-1] if part is not text[:_EDGE] else found[0]).group(1))
    m = _CODE_TAG.search(text[-_EDGE:]) or _CODE_TAG.search(text[:_EDGE])
    return int(next(g for g in m.groups() if g is not None)) if m else None


def failures(word: str) -> int | None:
    """How many failures the last word of a check counts; None where it counts none."""
    m = _HOW_MANY.search(word)
    return int(m.group(1) or m.group(2)) if m else None


def last_word(text: str) -> str:
    """The last line with counts or a verdict, "" if there is none."""
    text = text[-_EDGE * 2 :]
    found = [*_SUMMARY.finditer(text)]
    if not found:
        return ""
    lines = [found[-1].group()]
    if _COUNT.match(lines[0]):  # "1 failed", "2 flaky", "8 passed", a line each
        end = found[-1].start()
        for m in reversed(found[:-1]):
            if text[m.end() : end].strip() or not _COUNT.match(m.group()):
                break
            lines.insert(0, m.group())
            end = m.start()
    return ", ".join(" ".join(x.strip(" =-*").split()) for x in lines)[:160]


class Problem(msgspec.Struct, frozen=True):
    """An error as the output words it; ``place`` = file and line, where one is told."""

    text: str
    place: str = ""


def problems(text: str, failed: bool, most: int = 12) -> list[Problem]:
    """The errors an output tells, in exact words, each once. ``failed``: then weaker signs count too."""
    text = clean(body(text)[0])
    strong: list[Problem] = []
    weak: list[Problem] = []
    tests: list[str] = []
    seen: dict[str, int] = {}
    place = ""
    why, detail = False, 0
    above = line = ""
    for raw in text.split("\n"):
        above, line = line, raw.strip()
        if len(line) < 6 or len(line) > 2_000:
            continue
        m = _FAILED_TEST.match(line)
        if m:
            tests.append(m.group(1)[:240])
            continue
        says = _TEST_SAYS.match(raw) if failed and "_test." in raw else None
        if says or (why and line[0] == ">"):
            told = line if says else line[1:].strip()  # go test names file and line in front: its exact words
            if told not in seen:
                seen[told] = len(strong)
                strong.append(Problem(told[:300]))
            continue
        why = ("went wrong" in line and bool(_WHY.match(line))) or (why and not line.startswith("*"))
        detail = 6 if failed and "Error: " in line and re.match(r"[│|\s]*Error: ", line) else detail - 1
        more = _DETAIL.match(line) if 0 <= detail < 6 else None
        tex = failed and line.startswith("! ")
        if more or tex:  # what stands below "Error: …" (Terraform), or TeX's own mark
            said = (more.group(1) if more else line[2:]).strip()
            if said not in seen:
                seen[said] = len(strong)
                strong.append(Problem(said[:300]))
            continue
        at = _AT.match(_unlogged(line))
        if at:
            place = at.group(1)
            if strong and not strong[-1].place:
                strong[-1] = Problem(strong[-1].text, place)
            elif failed and line == place and _RULED.match(above) and above not in seen:
                seen[above] = -1  # a linter that names its rule, and file and line below it
                weak.append(Problem(_RULED.sub("", above)[:300], place))
            continue
        told = _error_of(line)
        if told:
            if told not in seen:
                seen[told] = len(strong)
                strong.append(Problem(told[:300]))
        elif (
            failed
            and line[0] != ">"
            and not _LEVEL.match(line)
            and (_worded(line) or _SIDE.match(line) or _DIAGNOSIS.match(line))
            and not _NOT_ERROR.search(line)
        ):
            lint = _LINT.match(raw)
            said = " ".join(lint.group(1).split()) if lint else line
            if said not in seen:
                seen[said] = -1
                weak.append(Problem(said[:300]))
        elif re.fullmatch(r"[\w./@-]+\.\w{1,5}", line):
            place = line
    out = strong + [w for w in weak if not any(w.text in s.text or s.text in w.text for s in strong)]
    if not out:
        out = [Problem(t) for t in tests]
    if not out and failed:
        lines = [x.strip() for x in text.split("\n") if x.strip() and not _CODE.match(x)]
        lines = [x for x in lines if not _CALM.search(x[:60]) and not _RULE_OFF.match(x)] or lines
        out = [Problem(x[:240]) for x in lines[-2:] if len(x) > 5]
    return out[:most] if len(out) <= most else [*out[: most // 2], *out[-(most - most // 2) :]]


def _worded(line: str) -> bool:
    """True for a line with a word of error in it."""
    low = line.lower()
    return any(word in low for word in _LITERALS) and bool(_WORD.search(line))


def _unlogged(line: str) -> str:
    m = _LEVEL.match(line)
    if not m:
        return line
    rest = (m.group(1) or m.group(2) or "").strip()
    return re.sub(r"^[\w./-]+\[\d+\]:?\s+", "", rest)


def _error_of(line: str) -> str:
    """The error message in a line that certainly reports one, without log prefix; "" if it does not."""
    m = _PYTEST.match(line)
    if m:
        rest = m.group(1).strip()
        told = _RAISED.match(rest) or _CLASS.match(rest) or _WORD.search(rest) or "assert" in rest.lower()
        return rest if told else ""
    if line[0] in "FfUS" and _CRASH.match(line):
        return line
    m = _LEVEL.match(line)
    if m:
        rest = _unlogged(line)
        return "" if re.fullmatch(r"(?:done|exit\w*|finished)\s+\S+=?\S*", rest) or len(rest) < 8 else rest
    if _RAISED.match(line) and not line.endswith(("{", ";", ",")) and not re.match(r"\w{1,5}:\s*[\d.,]+\s*%?$", line):
        return line
    return ""


def unreached(text: str) -> bool:
    """True where the answer to a fetch is nothing but an HTTP error."""
    return len(text) < 600 and bool(
        re.match(r"(?i)\W*(?:error\W+)?(?:http\S*\s+|status\W+(?:code\W+)?)?[45]\d\d\b", text)
    )


def refused(text: str) -> bool:
    """True where a tool says in words that it did nothing, though no error is marked."""
    return bool(
        re.match(
            r"(?i)\W*(?:error|failed|failure|cannot|could not|unable|no changes|no match|string (?:to replace "
            r")?not found|old_string|file not found|invalid)\b",
            text[:120],
        )
    )
