"""Rules that name one of several things of a kind, and later sentences that name another: "as CSV", then "as XLSX".

Input: sentences of the user. Only well-known kinds are told apart: languages, file formats, encodings, package
managers, databases, currencies, zones of time. A kind with names of its own in a project is not known here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from monitor.compaction import withdrawal
from monitor.compaction.topics import overlap, topics

#: a row a kind, which goes on behind "\"; names of one thing are joined by "="
_KINDS = """
english german spanish french chinese japanese italian=italienisch=italiano=italien \
portuguese=português=portugiesisch=portugais \
polish=polnisch=polsku=polonais dutch=nederlands=niederländisch korean=한국어 russian
csv xlsx=excel=excela json=jsonl xml yaml=yml pdf html markdown=md parquet docx=word odt txt toml latex svg png \
jpeg=jpg webp avro
utf-8=utf8 latin-1=iso-8859-1 ascii utf-16 cp1252 shift_jis gbk
npm yarn pnpm bun
pip poetry uv conda pipenv
postgresql=postgres mysql=mariadb sqlite=sqlite3 mongodb oracle duckdb
pytest unittest nose
tabs=tabulatoren spaces=leerzeichen=espacios=espaces
eur=euro=euros usd=dollar=dollars gbp chf jpy
british=britisch=britannique american=amerikanisch=américain
utc cet=europe/berlin local=lokal=lokale
"""
_ROWS = [[cell.split("=") for cell in row.split()] for row in _KINDS.strip().splitlines()]
_MEMBER = {name: (kind, cell[0]) for kind, row in enumerate(_ROWS) for cell in row for name in cell}
_TOKEN = re.compile(r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ0-9_-]*(?:/[A-Za-z]+)?|[\uac00-\ud7af]{2,4}")


@lru_cache(maxsize=4096)
def members(text: str) -> frozenset[tuple[int, str]]:
    """The things of known kinds a sentence names, as (kind, thing)."""
    found = {_MEMBER[w] for w in (m.group().lower() for m in _TOKEN.finditer(text)) if w in _MEMBER}
    for key in topics(text):  # languages have many names
        if key.startswith("c:") and key[2:] in _MEMBER:
            found.add(_MEMBER[key[2:]])
    return frozenset(found)


#: who names a language for the talk itself need not say more of the matter
_TALK = re.compile(
    r"(?i)\b(?:switch|wechsel\w*|passons|cambiemos|cambia|mudemos|passiamo|przejdźmy|перейд[её]м|answer|reply|respond|talk|speak|continue|write\s+to\s+me|antwort\w*|schreib\w*|sprich|sprechen|red(?:e|en)|respond\w*|"
    r"cont[eé]st\w*|habl\w*|escrib\w*|répond\w*|parl\w*|écri\w*|rispond\w*|scriv\w*|fal[ae]\w*|escrev\w*|odpowiad\w*|pisz\w*|"
    r"antwoord\w*|schrijf\w*|praat|отвеча\w*|пиши\w*|cevap\w*|yaz)\b|回复|回答|交流|返信|答え|答え|답변|대답"
)
_ALSO = re.compile(
    r"(?i)\b(?:also|too|as\s+well|in\s+addition|additionally|besides|both|auch|zusätzlich|außerdem|dazu|también|además|aussi|en\s+plus|"
    r"anche|inoltre|também|além|także|też|również|ook|также|ayrıca)\b|也|另外再|も(?:お願い|出|作)|도\s"
)


#: "gcc 9", "PHP 8.3": a name with its version
_VERSION = re.compile(
    r"(?<![A-Za-z0-9_.-])([A-Za-z][A-Za-z+#]{1,14})[ -]?v?(\d{1,4}(?:\.\d+){0,2})(?![A-Za-z0-9_-]|\.\d)"
)
#: a number behind one of these is no version
_COUNTS = """
step phase section turn ticket issue page figure table level point rule item chapter line lines message day week
month schritt abschnitt seite tabelle stufe punkt regel tag kapitel zeile paso sección página tabla punto regla
línea étape page ligne règle jour max min maximum minimum about ca at to from of in on by with under over and or
port the for is are than bis von auf ab mit nach über unter und oder de du des le la les à en un una con por
para hasta desde y o e i do od na po z w van tot met per int uint float sha md utf base amd arm win
"""
_COUNTED = frozenset(_COUNTS.split())
_EVERYWHERE = re.compile(
    r"(?i)\b(?:prod\w*|servers?|machines?|live|we|they|everybody)\s+(?:\w+\s+)?(?:got|gets?|runs?|has|have|is\s+on|are\s+on|uses?)\b|"
    r"\b(?:prod\w*|server|rechner|maschinen|live|wir)\s+(?:\w+\s+)?(?:läuft|laufen|hat|haben|ist\s+auf|sind\s+auf|nutz\w+)\b|"
    r"\b(?:all|everywhere|everyone|now|moved|upgraded|migrated|went\s+to|switched|alle[ns]?|überall|jetzt|umgestellt|aktualisiert|"
    r"tod[oa]s|ahora|migrad\w+|migró|actualizad\w+|tou(?:s|tes)|partout|passée?s?|migrée?s?|tutti|tutte|ora|passati|aggiornat\w+|"
    r"agora|atualizad\w+|wszystkie|wszędzie|teraz|overal|allemaal|nu|все|теперь|везде|artık|tüm)\b|全部|都|升到|升级|迁移|现在|"
    r"全部|すべて|移行|アップ|もう|모두|이제|전부|올렸"
)


#: to take another version
_UPGRADE = re.compile(
    r"(?i)\b(?:bump\w*|upgrad\w*|updat\w*|aktualisier\w*|hochzieh\w*|anheb\w*|mettre\s+à\s+jour|mets?\s+pas\s+à\s+jour|mont(?:e|er|ez)|actuali[cz]\w+|sub(?:as|ir|e)|atuali[zs]\w+|"
    r"aggiorn\w+|podbij\w*|podnoś\w*|aktualiz\w+|обнов\w+)\b|升级|更新|アップ|上げ|올리|업그레이드"
)
_NEW_VERSION = re.compile(
    r"(?i)\bv?\d+\.\d+(?:\.\d+)*\b|\b(?:latest|newest|neueste\w*|dernière|última|ultima|najnowsz\w+|последн\w+)\b|最新|최신"
)
_GO = re.compile(
    r"(?i)\b(?:go|move|switch|jump|use|take|bump|upgrade|update|set|geh|nimm|wechsle?|zieh|setz|passe[rz]?|prends?|mets|pasa|usa|sube|pon|passa|prendi|metti|vá|use|suba|przejdź|weź|użyj|"
    r"перейд\w+|возьми|постав\w+|обнов\w+)\b|升到|换|用|上げて|使|올려|써"
)


def newer(old: str, new: str) -> bool:
    """True where ``old`` names a version of something and ``new`` tells that another is in use now."""
    theirs, mine = _versions(old), _versions(new)
    return any(mine.get(name, set()) - had for name, had in theirs.items()) and bool(_EVERYWHERE.search(new))


@lru_cache(maxsize=4096)
def _goes_to(text: str) -> bool:
    """True where a sentence orders a version."""
    return bool(_NEW_VERSION.search(text) and _GO.search(text)) and not withdrawal.DENIAL.search(text)


def upgraded(old: str, new: str) -> bool:
    """True where ``old`` forbids another version of a thing and ``new`` names one to go to."""
    if not _goes_to(new) or not (_UPGRADE.search(old) and withdrawal.DENIAL.search(old)):
        return False
    return overlap(topics(_UPGRADE.sub(" ", old)), topics(new)) >= 1


def same_version(old: str, new: str) -> bool:
    """True where both name the same version of one thing."""
    mine = _versions(new)
    return any(mine.get(name, set()) & had for name, had in _versions(old).items())


@lru_cache(maxsize=4096)
def _versions(text: str) -> dict[str, set[str]]:
    out: dict[str, set[str]] = {}
    for m in _VERSION.finditer(text):
        if m.group(1).lower() not in _COUNTED:
            out.setdefault(m.group(1).lower(), set()).add(m.group(2))
    return out


#: somebody else talks
_SUBJECT = re.compile(r"(?i)(?:the|der|die|das|le|la|les|el|los|las|il|lo|gli|o|os|as)\s")


def talk(text: str) -> bool:
    """True where a sentence names the language to talk in."""
    return bool(_TALK.search(text)) and not _SUBJECT.match(text) and any(kind == 0 for kind, _ in members(text))


def another(old: str, new: str) -> bool:
    """True where ``new`` names, on the matter of ``old``, only other things of a kind than ``old`` does."""
    theirs, mine = members(old), members(new)
    if not theirs or not mine or _ALSO.search(new):
        return False
    for kind in {k for k, _ in theirs} & {k for k, _ in mine}:
        before = {x for k, x in theirs if k == kind}
        now = {x for k, x in mine if k == kind}
        if len(before) == 1 and not before & now:
            if kind == 0 and _TALK.search(old) and _TALK.search(new):
                return True
            names = {n for cell in _ROWS[kind] for n in cell}
            rest = {k: w for k, w in topics(old).items() if k.split(":", 1)[1] not in names}
            return overlap(rest, topics(new)) >= 1
    return False
