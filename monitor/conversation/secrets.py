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
_NAMED = re.compile(
    r"(?i)(\b[\w.-]*(?:passw(?:or)?d|passwort|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token"
    r"|access[_-]?token|refresh[_-]?token|client[_-]?secret|credential|(?<![a-z])token|(?<![a-z])pwd)[\w.-]*"
    r"[\"']?\s*[:=]\s*[\"']?)([^\s\"',;}\[]{6,})"
)
_HARMLESS = re.compile(
    r"(?i)^(?:null|none|true|false|undefined|changeme|example|your[_-].*|<.*|\$.*|\{.*|os\.\w.*|env\..*|process\..*|\d+)$"
)


def redact(text: str) -> str:
    """``text`` with secrets replaced by ``[secret removed]``; everything else as it was."""
    text = _SHAPES.sub(MARK, text)
    text = _BEARER.sub(lambda m: m[0] if m[1].lower() == "token" and m[3].isalpha() else f"{m[1]}{m[2]}{MARK}", text)
    text = _URL.sub(lambda m: f"{m[1]}{MARK}{m[3]}", text)
    return _NAMED.sub(lambda m: m[0] if _HARMLESS.match(m[2]) else f"{m[1]}{MARK}", text)
