"""Secrets in text: found by the shape of keys and by the names people give them, replaced by a mark.

Nothing here decides by entropy: an unknown random string may be a commit hash or an id somebody needs.
"""

from __future__ import annotations

import re

MARK = "[secret removed]"

_SHAPES = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"  # key blocks
    r"|\bsk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, OpenRouter
    r"|\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}"
    r"|\b(?:sk|rk|pk|whsec)_(?:live|test)?_?[A-Za-z0-9]{16,}"  # Stripe
    r"|\b(?:hf_|npm_|dop_v1_|SG\.|pypi-)[A-Za-z0-9_.-]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # JWT
    re.S,
)
_BEARER = re.compile(r"(?i)\b(bearer|basic|token)(\s+)([A-Za-z0-9._~+/=-]{16,})")
_URL = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s:/@]*:)([^\s@/]+)(@)", re.I)
_HOOK = re.compile(r"(?i)(https?://(?:hooks?\.[^\s/\"']+|[^\s/\"']+/(?:api/)?webhooks?))/[^\s\"'<>)]{8,}")
_NAMED = re.compile(
    r"(?i)(\b[\w.-]*(?:passw(?:or)?d|passwort|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token"
    r"|access[_-]?token|refresh[_-]?token|client[_-]?secret|credential|(?<![a-z])token|(?<![a-z])pwd)[\w.-]*"
    r"[\"']?\s*[:=]\s*[\"']?)([^\s\"',;}\[]{6,})"
)
#: values that are placeholders
_EMPTY = re.compile(r"(?i)(?:your[_-].*|<.*|\$.*|\{.*|\*+|x{4,}|changeme|none|null|true|false|\[secret removed.*)")
#: values that are code, not secrets: words and dotted names without a digit ("token: number): …"), calls, subscripts,
#: plain numbers
_CODE = re.compile(r"(?i)(?:[a-z_][a-z_.]*(?:[\[(]|[)\]?|&>:]+)?|\d+|[\w.]+[(\[].*)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt][\d:.Zz+-]*)?")


def shaped(text: str) -> list[str]:
    """The keys in ``text`` that their shape alone gives away."""
    return [m.group() for m in _SHAPES.finditer(text)]


def redact(text: str) -> str:
    """``text`` with secrets replaced by ``[secret removed]``; everything else as it was."""
    text = _SHAPES.sub(MARK, text)
    text = _BEARER.sub(lambda m: m[0] if m[1].lower() == "token" and m[3].isalpha() else f"{m[1]}{m[2]}{MARK}", text)
    text = _URL.sub(lambda m: f"{m[1]}{MARK}{m[3]}", text)
    text = _HOOK.sub(lambda m: f"{m[1]}/{MARK}", text)
    return _NAMED.sub(_named, text)


def _named(m: re.Match[str]) -> str:
    name, value = m[1], m[2]
    environment = name.rstrip("=:\"' ").isupper()  # KEY=word in a dump of the environment is a secret all the same
    if _EMPTY.fullmatch(value) or _DATE.fullmatch(value) or (not environment and _CODE.fullmatch(value)):
        return m[0]
    return f"{name}{MARK}"
