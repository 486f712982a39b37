"""Secrets out of everything that goes on: the summary, what a summarizer gets to see, and the part that is kept.

Two steps. :func:`find` collects the secret values of a conversation, by the shape of keys, by the names people give
them (also in prose: "the password is …"), and by their place in addresses. :class:`Redactor` then removes these values
wherever they stand, also where nothing near them says that they are secret, and what is secret by its shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from monitor.conversation.jsonio import dumps
from monitor.conversation.model import (
    Conversation,
    Image,
    Message,
    Opaque,
    Other,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from monitor.conversation.secrets import MARK, shaped
from monitor.conversation.secrets import redact as by_shape

#: words and marks near every secret this module could find, in lower case (§ = space); sought one by one, which is
#: quicker than a pattern
_NEAR = """
passw passphrase passcode secret token api_key api-key apikey api§key _key credential authoriz bearer auth: @
hook key- key_ sk- sk_ rk_ pk_ ghp_ gho_ ghs_ ghu_ ghr_ github_pat glpat akia asia aiza xox whsec hf_ npm_
dop_v1 sg. pypi- eyj dapi dkea dose kennwort passwort geheim contrase sleutel wachtwoord mot_de motde cle_ clé
clef schlüssel schluessel zugangsdaten llave chave chiave segre secreto jeton gettone klucz hasł haslo ключ
şifre sifre anahtar lösenord nyckel salasana 토큰 clave mot§de§passe senha
пароль 密码 密碼 密钥 口令 令牌 パスワード トークン 秘密 暗証
비밀번호 -----begin dsn sig= accountkey pwd cookie mysql mariadb sshpass redis-cli ya29. §-u§ --user hvs. age-secret
gsk_ xai- tvly r8_ pcsk nvapi sbp_ shpat figd ntn_ lin_api access-key access_key signing _salt _pepper _pass _pw
_auth _psk -key
"""
_HINTS = tuple(h.replace("§", " ") for h in _NEAR.split())
_SHAPES = (
    re.compile(r"\b(?:dapi|dkea|dose)[0-9a-f]{28,}\b"),  # Databricks
    re.compile(
        r"\b(?:sk|rk|pk|whsec|npm|hf|key|tok|pat|lin_api|ntn|figd|shpat|shpss|sq0\w{3}|rpa|gsk|xai|tvly|r8|"
        r"pcsk|nvapi|sbp|vercel|phc|phx)[_-](?:[a-z]+[_-])?[A-Za-z0-9]{20,}\b"
    ),
    re.compile(r"\bAGE-SECRET-KEY-[A-Z0-9]{20,}"),
    re.compile(r"\bya29\.[\w-]{20,}"),
    re.compile(r"\b(?:AccountKey|SharedAccessSignature|sig)=([A-Za-z0-9%+/=]{20,})"),
    re.compile(r"\bhvs\.[\w-]{20,}"),
)
_NAME = (
    r"(?:[\w.-]*(?:passw(?:or)?d|passwort|kennwort|passphrase|passcode|secret|api[_-]?key|access[_-]?key|"
    r"private[_-]?key|signing[_-]?key|"
    r"encryption[_-]?key|auth[_-]?token|authtoken|token|credentials?|webhook|hook|dsn|pwd|contrase(?:ñ|"
    r"n)a|clave|senha|sleutel|wachtwoord|mot_?de_?passe|cl(?:e|é|ef)_?(?:api|privée?|secrète|secrete|acces|accès)|schl(?:ü|ue)ssel|zugangsdaten|"
    r"llave|chave|chiave|parola_?chiave|segreto|segredo|secreto|jeton|gettone|klucz|has(?:ł|l)o|парол\w*|ключ\w*|şifre|sifre|anahtar|"
    r"lösenord|nyckel|salasana|密码|密钥|令牌|パスワード|トークン|비밀번호|토큰)[\w.-]*)"
)
_NOT_SECRET = re.compile(
    r"(?i)(?:count|limit|max|min|length|size|type|name|_id|url|uri|path|file|dir|header|bucket|until|"
    r"expir\w*|valid\w*|ttl|tokens|usage|total|policy|rotation|version|hash|index|field|column|hint|"
    r"prompt)[\"']?$"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+)?(?:Z|[+-]\d\d:?\d\d)?")
_NAMED = re.compile(
    rf"(?i)(?<![\w/])(?P<name>\"?'?{_NAME}'?\"?)\s*(?::|=|:=|=>)\s*[\"']?(?P<value>[^\s\"',;}}\]\[()<>|]{{6,}})"
)
#: names that end so hold a key where the value looks like one: "APP_KEY=base64:…", "smtp_pass: …"
_KEY = re.compile(
    r"(?i)[_-](?:key|salt|pepper|pass|pw|auth|private|psk|pin)[\"']?\s*(?::|=|"
    r"=>)\s*[\"']?(?:base64:|hex:)?"
    r"(?P<value>[^\s\"',;}\]\[()<>|]{6,})"
)
#: … and one short as people make it up behind these: "DB_PASS=zebra-5561"
_SHORT = re.compile(r"(?i)[_-](?:pass|pw|psk)[\"']?\s*[:=]\s*[\"']?(?P<value>[^\s\"',;}\]\[()<>|]{6,})")
#: values of a Kubernetes secret, whatever they are called
_MANIFEST = re.compile(r"^(?:data|stringData):\n((?:[ \t]+\S.*\n?)+)", re.M)
_ENTRY = re.compile(r"^[ \t]+[\w.-]+:[ \t]+[\"']?([^\s\"']{5,})[\"']?[ \t]*$", re.M)
_FLAG = re.compile(
    r"(?i)--(?:password|passwd|pass|token|secret|api-key|auth-token|access-token)[= ]['\"]?(?P<value>[^\s'\"]{5,})"
)
_CLIENT = re.compile(
    r"\b(?:mysql\w*|mariadb\w*|sshpass)\b[^|;\n]*?\s-p(?P<a>[^\s'\"-][^\s'\"]{3,})|\bredis-cli\b[^|;"
    r"\n]*?\s-a\s+['\"]?(?P<b>[^\s'\"]{4,})|"
    r"\b(?:curl|wget|http)\b[^|;\n]*?\s(?:-u|--user)[= ]['\"]?[\w.@-]+:(?P<c>[^\s'\"]{4,})"
)
_WORDS = (
    r"(?<![\w-])(?:password|passphrase|passcode|token|secret|api[ -]?key|credential|passwort|kennwort|"
    r"geheimnis|zugangsschlüssel|contraseña|clave|mot de passe|"
    r"clé|senha|пароль)"
)
_VALUE = r"[\"'`„“「『]?(?P<value>[A-Za-z0-9][!-~]{5,})"
_PROSE = (
    re.compile(rf"(?i){_WORDS}(?:\s+[\w./@-]+){{0,4}}\s*[=:：]\s*{_VALUE}"),
    re.compile(
        rf"(?i){_WORDS}(?:\s+[\w./@-]+){{0,4}}\s+(?:is|was|lautet|ist|heißt|war|es|est|era|é)\s+(?:now\s+|"
        rf"jetzt\s+)?{_VALUE}"
    ),
    re.compile(rf"(?i){_WORDS}\s+{_VALUE}"),
    re.compile(
        rf"(?:密码|密碼|密钥|口令|令牌|パスワード|トークン|秘密鍵|暗証番号|비밀번호)[^\x00-\x7f\n]{{0,8}}?\s*[:：=]?\s*{_VALUE}"
    ),
)
_URLUSER = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@\"']*:(?P<value>[^\s@/\"']{3,})@")
_HOOK = re.compile(
    r"(?i)https?://(?:hooks?\.[^\s/\"']+|[^\s/\"']+/(?:api/)?webhooks?|"
    r"[^\s/\"']*webhook[^\s/\"']*)/(?P<value>[^\s\"'<>)]{8,})"
)
#: a long run of letters of both cases and digits, as no name or address has it: the part of a key behind a colon
_MIXED = re.compile(r"(?<![A-Za-z0-9_-])(?=[A-Za-z_-]*\d)(?=[a-z0-9_-]*[A-Z])(?=[A-Z0-9_-]*[a-z])[A-Za-z0-9_-]{16,}")
_ADDRESS = re.compile(r"[\w-]+(?:\.[\w-]+)+:\d{2,5}")
_HEADER = re.compile(
    r"(?i)\b(?:authorization|x-api-key|proxy-authorization|cookie|set-cookie|"
    r"x-auth-token)[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|token)\s+)?(?P<value>[^\s\"',;]{8,})"
)
_BEARER = re.compile(r"(?i)\bbearer\s+(?P<value>[A-Za-z0-9._~+/=-]{12,})")
_EMPTY = re.compile(
    r"(?i)(?:your|my|the|some|example|sample|dummy|fake|test|placeholder|changeme|xxx|\*{3}|\.{3}|<|\$|"
    r"\{|%|none|null|true|false|undefined|redacted|"
    r"\[secret|self\.|os\.|process\.|env\.|config|settings|get|str\b|string|required|optional|missing|"
    r"invalid|expired|bytes|int\b|bool|field\().*"
)
_PLAIN = re.compile(
    r"[A-Za-z_]+(?:[._-][A-Za-z_]+)*[.:]?|\d{1,9}|[\w./-]+/[\w./-]*|[\w.-]+\(.*|\w+\[.*|[\w-]+\.(?:py|js|"
    r"ts|json|ya?ml|toml|md|go|rs|java|txt|env|sh)"
)


def find(texts: Iterable[str]) -> set[str]:
    """The secret values in ``texts``."""
    found: set[str] = set()
    seen: set[str] = set()  # the same files are read and the same commands run again and again
    for text in texts:
        for line in _suspects(text):
            if line not in seen:
                seen.add(line)
                _find_in(line.replace(MARK, "…"), found)  # the mark's own words are none
        if "kind: Secret" in text:
            for block in _MANIFEST.findall(text):
                found.update(v for v in _ENTRY.findall(block) if MARK not in v)
    return {v for v in found if len(v) >= 5 and v != MARK}


def _suspects(text: str) -> Iterable[str]:
    """The lines of ``text`` that hold one of the hints; pieces of very long lines."""
    low = text.lower()
    spans: list[tuple[int, int]] = []
    for hint in _HINTS:
        at = low.find(hint)
        while at >= 0:
            start, end = max(text.rfind("\n", 0, at) + 1, at - 300), text.find("\n", at)
            end = min(len(text) if end < 0 else end, at + 1_000)
            spans.append((start, end))
            at = low.find(hint, end if end > at else at + 1)
    last = -1
    for start, end in sorted(set(spans)):
        if end > last:
            yield text[max(start, 0) : end]
            last = end


def _find_in(text: str, found: set[str]) -> None:
    for pattern in (_NAMED, _FLAG, _URLUSER, _HOOK, _HEADER, _BEARER):
        for m in pattern.finditer(text):
            value = m.group("value").rstrip(".,;:!?)»”’\"'`\\")
            environment = False
            if pattern is _NAMED:
                name = m.group("name").strip("\"'")
                if _NOT_SECRET.search(name):
                    continue
                environment = name.isupper() and text[m.end("name") : m.end("name") + 1] == "=" and "://" not in value
            if pattern is _HOOK:
                _hook(value, found)
            elif _secret(value, sure=pattern in (_URLUSER, _BEARER) or environment):
                found.add(value)
    for m in _CLIENT.finditer(text):
        found.add(next(g for g in m.groups() if g))
    for prose in _PROSE:
        for m in prose.finditer(text):
            value = m.group("value").rstrip(".,;:!?)»”’\"'`\\。")
            if _random(value):
                found.add(value)
    for shape in _SHAPES:
        found.update(m.group(m.lastindex or 0) for m in shape.finditer(text))
    found.update(shaped(text))
    for m in _KEY.finditer(text):
        value = m.group("value").rstrip(".,;")
        if len(value) >= 16 and (_random(value) or _MIXED.search(value)):
            found.add(value)
    found.update(v for m in _SHORT.finditer(text) if _random(v := m.group("value").rstrip(".,;")))


def _hook(path: str, found: set[str]) -> None:
    """Of a hook's address the whole path and its last, longest part are secret."""
    found.add(path)
    last = max(path.split("/"), key=len)
    if len(last) >= 8:
        found.add(last)


def _secret(value: str, sure: bool) -> bool:
    """False for placeholders, code, plain words and numbers; what stands at a sure place need not look random."""
    if _EMPTY.fullmatch(value) or MARK in value or _DATE.fullmatch(value):
        return False
    return True if sure and not re.fullmatch(r"\d{1,5}|true|false", value) else not _PLAIN.fullmatch(value)


def _random(value: str) -> bool:
    """Digits and letters mixed, and no path, number, date, name or address: what people use as a password or key."""
    if _EMPTY.fullmatch(value) or not re.search(r"\d", value) or not re.search(r"[A-Za-z]", value):
        return False
    if (
        "://" in value
        or _DATE.match(value)
        or _ADDRESS.fullmatch(value)
        or re.fullmatch(r"[\w.-]+\.\w{1,4}(?::\d+)?|[\w-]+[/:][\w/:.-]*|v?\d[\d.]*\w{0,4}|\w+\(.*", value)
    ):
        return False
    return len(value) >= 8 or bool(re.search(r"[^\w.-]", value))


class Redactor:
    """Removes secrets: values known to be secret, and what looks like one."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.values = frozenset(values)
        listed = sorted(self.values, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, listed))) if listed else None
        self.removed = 0

    @classmethod
    def of(cls, conv: Conversation, *more: str) -> Redactor:
        """For all texts of a conversation, folded history and former summaries included."""
        messages = conv.messages if conv.history() is conv.messages else (*conv.history(), *conv.messages)
        return cls(find([*texts_of(messages), *more]))

    def __call__(self, text: str) -> str:
        """``text`` without secrets."""
        new = self._known.sub(MARK, text) if self._known else text
        low = new.lower()
        if any(h in low for h in _HINTS):
            new = by_shape(new)
            for shape in _SHAPES:
                new = shape.sub(lambda m: m.group(0).replace(m.group(m.lastindex or 0), MARK), new)
        if new != text:
            self.removed += 1
        return new

    def holds(self, piece: str) -> bool:
        """True where ``piece`` is a part of a secret."""
        return any(piece in value for value in self.values)

    def message(self, conv: Conversation, m: Message) -> Message:
        """``m`` without secrets; its thinking goes whole where it holds one, as signed text cannot be changed."""
        changes: dict[int, Part | None] = {}
        thinking = False
        for at, part in enumerate(m.parts):
            if isinstance(part, Text | ToolResult):
                new = self(part.text)
                if new != part.text:
                    changes[at] = msgspec.structs.replace(part, text=new)
            elif isinstance(part, ToolCall):
                text = part.arguments_text
                if self(text) != text:
                    changes[at] = msgspec.structs.replace(part, raw_arguments=self.value(part.raw_arguments))
            elif isinstance(part, Thinking) and part.text and self(part.text) != part.text:
                thinking = True
        if thinking:
            changes |= {at: None for at, part in enumerate(m.parts) if isinstance(part, Thinking)}
        new_message = conv.edit(m, changes) if changes else m
        if self.values and isinstance(new_message.raw, dict):
            told = dumps(new_message.raw)
            if any(
                v in told for v in self.values
            ):  # copies clients keep beside the message (toolUseResult and the like)
                return msgspec.structs.replace(new_message, raw=self.value(new_message.raw))
        return new_message

    def value(self, value: object) -> object:
        """A JSON value with all its texts redacted."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {k: self.value(v) for k, v in value.items()}
        return [self.value(v) for v in value] if isinstance(value, list) else value


def texts_of(messages: Iterable[Message]) -> Iterable[str]:
    """Everything readable in messages."""
    for m in messages:
        for part in m.parts:
            if isinstance(part, ToolCall):
                yield part.arguments_text
            elif (
                not isinstance(part, Image)
                and isinstance(part, Text | ToolResult | Thinking | Opaque | Other)
                and part.text
            ):
                yield part.text
