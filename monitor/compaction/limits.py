"""Limits with a number, and whether a later sentence gives one of them another number.

Input: sentences of the user. "At most 20 lines" and "make it 30 lines now" are one limit told twice; "port 8099" and
"port 9100" are two values. A sentence may name the old number itself: "from 2 to 5 seconds", "not 5 but 8".
"""

from __future__ import annotations

import re
from functools import lru_cache

from monitor.compaction import release, withdrawal, words
from monitor.compaction.clauses import clauses
from monitor.compaction.topics import overlap, topics

#: from two on, a row a number
_NUMBER_WORDS = """
two zwei dos deux due dois duas
three drei tres trois tre três
four vier cuatro quatre quattro quatro
five fünf cinco cinq cinque
six sechs seis sei
seven sieben siete sept sette sete
eight acht ocho huit otto oito
nine neun nueve neuf nove
ten zehn diez dix dieci dez
eleven elf once onze undici
twelve zwölf doce douze dodici doze
"""
_DIGITS = {word: str(n) for n, row in enumerate(_NUMBER_WORDS.strip().splitlines(), 2) for word in row.split()}
_AS_WORD = re.compile(r"(?i)\b(?:" + "|".join(_DIGITS) + r")\b")
_WORDED = re.compile(
    r"(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|"
    r"zwölf|dos|tres|"
    r"cuatro|cinco|seis|siete|ocho|nueve|diez|deux|trois|quatre|cinq|sept|huit|neuf|dix|douze)\b"
)
#: words of a limit, and of its change
_LIMIT = re.compile(
    r"(?i)\b(?:under|below|above|over|(?:more|less|longer|larger|bigger|shorter)\s+than|(?:mehr|weniger|länger|größer|kürzer)\s+als|innerhalb|dentro\s+de|em\s+até|entro|w\s+ciągu|najpóźniej|en\s+moins\s+de|at\s+(?:most|least)|max(?:im\w*)?|min(?:im\w*)?|no\s+more|up\s+to|or\s+(?:less|fewer|more|below|above)|limits?|caps?|exceed|within|"
    r"höchstens|mindestens|"
    r"unter|über|grenze|überschreit\w*|como\s+(?:m[áí]\w+|mucho|poco)|a\s+lo\s+sumo|tout\s+au\s+plus|m[íá][nx]im[oa]s?|minimale?|maximale?|super\w{1,3}|límite|"
    r"au\s+(?:plus|moins|maximum)|dépasser|limite|"
    r"plus\s+de|moins\s+de|más\s+de|menos\s+de|no\s+m[áa]ximo|no\s+m[íi]nimo|mais\s+de|passar\s+de|più\s+di|"
    r"meno\s+di|al\s+massimo|almeno|"
    r"не\s+(?:более|менее|больше|меньше)|укладыва\w+\s+в|в\s+пределах|максимум|минимум|лимит\w*|hoogstens|hooguit|maximaal|minimaal|minstens|meer\s+dan|powyżej|poniżej|"
    r"najwyżej|najmniej|en\s+(?:az|fazla))\b|"
    r"控制在|超过|不少于|最多|至少|以内|之内|上限|下限|以上|以下|最大|最低|최대|최소|이하|이상|이내|상한|하한|넘[지기어]"
)
_ANEW = re.compile(
    r"(?i)\b(?:now|goes|changes?|raise\w*|lower\w*|relax\w*|loosen\w*|increas\w*|reduc\w*|instead|jetzt|nun|ab\s+sofort|erhöh\w*|"
    r"senk\w*|ahora|s[uú]b\w{1,5}|b[aá]j\w{1,5}|"
    r"désormais|maintenant|passe[rz]?\s+(?:à|de)|(?:monte[rz]?|descend\w*)\b[^.?!]{0,30}\sà|porte[rz]?\s+à|augment\w*|baiss\w*|agora|aument\w+|diminu\w+|"
    r"sob[ea]\w*|baix[ae]\w*|"
    r"adesso|alz\w+|abbass\w+|port[ai]\w*\s+a|теперь|подним\w+|увелич\w+|сниз\w+|уменьш\w+|verhoog\w*|verlaag\w*|"
    r"podnie\w+|zwiększ\w*|"
    r"obniż\w*|teraz|artık|yükselt\w*|düşür\w*|make\s+(?:that|it)|bump\w*|(?:move|go|switch|jump)\w*\s+to|verschärf\w*|d[ée]jal[oa]\s+en|deja\s+\w+\s+en|deixa\w*\s+em|lascia\w*\s+a|laisse[rz]?\s+à|go(?:ne)?\s+up|gehen|geht|erlaubt|möglich|allowed|possible|permitid[oa]s?|autorisée?s?|consentit[ie]|from\s+here\s+on|turns?\s+into|(?:an)?heb\w*|setz\w*|herabsetz\w*|"
    r"lockere?\w*|extend\w*|shorten\w*|tighten\w*|set|put|pon(?:lo|la|ed|er)?|amplía\w*|ampli\w+|mets|mettez|allong\w*|"
    r"élargi\w*|relèv\w*|relev\w*|estend\w*|met\w{2,5}|innalz\w*|zet|stel|ustaw\w*|podnieś\w*|zmień\w*|постав\w+|измен\w+)\b|"
    r"\bauf\s+\d[^.?!]{0,20}\b(?:hoch|rauf|runter|herauf|herunter)\b|"
    r"现在|改成|改为|改到|调到|放开|放到|加到|升到|降到|减到|调整|提高|降低|提到|提升|涨到|加大|减小|放宽|放松|收紧|延长|缩短|扩到|今後|変更|引き上げ|引き下げ|上げ|下げ|延ば|広げ|緩め|減ら|増や|올려|올리|낮춰|낮추|늘려|줄여|바꿔|변경|이제"
)
_NUMBER = re.compile(r"\d[\d.,]*")
#: beyond a number
_BEYOND = re.compile(
    r"(?i)\b(?:more|over|above|beyond|longer|higher|bigger|mehr|über|länger|höher|größer|plus|davantage|au-delà|más|mayor|mais|maior|acima|più|oltre|maggiore|więcej|powyżej|"
    r"dłużej|meer|boven|больше|свыше|дольше|выше)\b|超过|超出|以上|超え|넘|이상|초과"
)
_VALUE = r"(\d[\d.,]*)\s*(?:[^\W\d_]{1,10}|%)?"
#: "from 2 to 5": the first number is the one that goes
_FROM_TO = re.compile(
    rf"(?i)\b(?:from|von|de|du|desde|da|dal|с|со|van|z|ze)\s+{_VALUE}\s+(?:up\s+|down\s+)?(?:to|auf|à|a|al|até|para|"
    rf"до|на|naar|do|na)\s+\d"
    rf"|从\s*{_VALUE}[^\d。]{{0,8}}\d|{_VALUE}\s*(?:から|에서)[^\d。]{{0,4}}\d|{_VALUE}\s*(?:→|->|=>)\s*\d"
)
#: "5 is too few, make it 8": what stands behind the number that goes
_TOO = (
    r"(?:\s+[^\W\d_]+){0,3}?\s+(?:(?:is|are|seems?|feels?|was)\s+(?:\w+\s+){0,2}?(?:too\s+\w+|not\s+enough|insufficient)|"
    r"(?:ist|sind|wäre\w*)\s+(?:\w+\s+){0,2}?zu\s+\w+|reich(?:t|en)\s+(?:\w+\s+)?nicht|"
    r"(?:es|son|se\s+quedan?|resultan?)\s+(?:muy\s+|demasiado\s+)?(?:poc[oa]s?|much[oa]s?|cort[oa]s?|insuficientes?)|"
    r"(?:c['’]est|est|sont)\s+(?:\w+\s+)?(?:trop\s+\w+|insuffisante?s?)|(?:é|são|fica[m]?)\s+(?:\w+\s+){0,2}?(?:pouc[oa]s?|demais|apertad[oa]s?)|"
    r"(?:è|sono)\s+(?:tropp[oaie]|poc\w+))(?=[^\d]{1,60}\d)"
)
_TOO_WIDE = (
    r"[^\d。]{0,6}?(?:太[少多小大短长低高紧]|不够|(?:では?|だと|じゃ)(?:少な|多|短|足り|小さ)|少なすぎ|多すぎ)"
    r"(?=[^\d]{1,30}\d)"
)
#: "not 5 but 8", "8 instead of 5": the denied number goes
_DENIED = re.compile(
    rf"(?i)\b(?:instead\s+of|rather\s+than|not|nicht|statt|anstatt|au\s+lieu\s+de|pas|en\s+(?:vez|lugar)\s+de|"
    rf"em\s+vez\s+de|não|"
    rf"invece\s+di|non|no|вместо|не|in\s+plaats\s+van|niet|zamiast|nie)\s+{_VALUE}(?=[^\d]{{1,30}}\d|[.!]?$)"
    rf"|{_VALUE}{_TOO}|(\d[\d.,]*){_TOO_WIDE}"
    rf"|不是\s*{_VALUE}|{_VALUE}\s*(?:ではなく|じゃなく|[가이]?\s*아니(?:라|고))|{_VALUE}\s+(?:değil|yerine)"
)
_UNIT = re.compile(r"\d\s?(%|[^\W\d_\u3040-\u9fff\uac00-\ud7af]{1,7}\b|[\u3400-\u9fff\uac00-\ud7af])")
#: stands behind a number and is no unit
_LITTLE = """
or and to from of for is are at in on per by the a oder und auf für von bei zu ist sind pro o y por en de para
es son ou et par le la des est sont e di per da è sono em no na é são i na do lub en op van и на до в
me is are ok okay fine would will works does should geht passt reicht va vanno basta bastano
suffit serve też wystarczy тоже сойдёт хватит пойдёт годится está mag volstaat
"""
_NO_UNIT = frozenset(_LITTLE.split())


def anew(text: str) -> bool:
    """True for a sentence that may give an earlier limit another number without being a rule by its words."""
    text = digits(text)
    return bool(_ANEW.search(text) or _DENIED.search(text))


def _frees(text: str) -> bool:
    return any(p.search(text) for p in (withdrawal.STRONG, withdrawal.PERMIT, withdrawal.FREE))


def digits(text: str) -> str:
    """``text`` with small numbers in figures where they are written as words."""
    return _AS_WORD.sub(lambda m: _DIGITS[m.group().lower()], text)


def about(text: str) -> dict[str, float] | None:
    """What a sentence with a limit is about; None where it tells none."""
    if not _numbers(text) or not (_LIMIT.search(text) or anew(text) or _frees(text)):
        return None
    return topics(_WORDED.sub(" ", text))


def retold(old: str, new: str, mine: dict[str, float], named: bool = False) -> bool:
    """True where ``new``, which is about ``mine``, gives the limit ``old`` another number.

    ``named``: only where it names the old number.
    """
    old, new = digits(old), digits(new)
    theirs = _numbers(old)
    fresh = bool(_ANEW.search(new)) or _frees(new)
    gone = _left(_DENIED, new) | (_left(_FROM_TO, new) if fresh else set())
    numbers = _numbers(new) - gone
    matter, plain = _matter(old), dict(_matter(old, True))
    shared, total = overlap(matter, mine), sum(matter.values())
    least = 0.5 if words.WIDE.search(old) else 1.0
    units = _units(old) & _units(new)
    if theirs & gone:
        return shared >= least or bool(units)
    if (
        _frees(new)
        and not withdrawal.DENIAL.search(new)
        and theirs & numbers
        and _LIMIT.search(old)
        and _BEYOND.search(new)
    ):
        # "I can live with more than 480": beyond the limit is allowed
        return shared >= least or bool(units) or any(len(n) > 1 for n in theirs & numbers)
    if fresh and theirs & numbers and numbers - theirs and _LIMIT.search(old + new):
        # it names the old number beside the new one: "1,000 is little, let it be 5,000"
        telling = any(len(n) > 1 for n in theirs & numbers)
        both = telling and bool(_LIMIT.search(old)) and (bool(_LIMIT.search(new)) or _frees(new))
        return both or bool(_units(old) & _units(new)) or shared >= least
    if named or not theirs or theirs & numbers:
        return False
    for unit in topics(" ".join(units)):  # "lines" in both says nothing of what is counted
        plain.pop(unit, None)
    common, whole = overlap(plain, mine), sum(plain.values())
    if fresh and units and not plain and sum(mine.values()) <= 2 and _LIMIT.search(old):
        return True  # "max 3 retries", "make that 5 retries": neither speaks of anything else
    if fresh and units and plain:
        # in the same unit on the same matter; where both say that it is a limit, fewer common words are enough
        both = bool(_LIMIT.search(old) and _LIMIT.search(new))
        if common >= max(least, (0.1 if least < 1 else 0.33) * whole if both else 0.5 * whole):
            return True
    if fresh and plain and not units and _LIMIT.search(old) and common >= max(least, 0.5 * whole):
        return True  # "batch at most 16", "batch can go up to 24 now": nothing but the matter is common
    return bool((fresh or _LIMIT.search(old)) and total >= 2 and shared >= total * (0.6 if fresh else 0.8))


#: what a number is set for
_TARGET = re.compile(
    r"(?i)\b(?:target|goal|aim|objective|threshold|ziel\w*|zielwert|vorgabe|objectif|seuil|objetivo|meta|umbral|obiettivo|soglia|cel|próg|doel|цель|порог)\b|目标|指标|目標|목표"
)
_SET = re.compile(r"(?i)\b(?:gesetzt|fix|fest|verbindlich|fixed|firm|set|fij[oa]|fixée?|fiss[oa])\b")


def target(old: str, new: str) -> bool:
    """True where ``new`` sets a target anew in the unit of the only number of ``old``, a limit or a target."""
    theirs, numbers = _numbers(old), _numbers(new)
    if (
        len(theirs) != 1
        or theirs & numbers
        or not (_units(old) & _units(new))
        or not (_ANEW.search(new) and _TARGET.search(new))
    ):
        return False
    return bool(_LIMIT.search(old) or _TARGET.search(old) or _SET.search(old))


_LEAST = re.compile(
    r"(?i)\b(?:at\s+least|min(?:imum|imal\w*)?|above|mindestens|über|au\s+moins|al\s+menos|como\s+mínimo|pelo\s+menos|almeno|co\s+najmniej|не\s+менее|minstens)\b|至少|不少于|最低|以上|최소|이상"
)


def accepted(old: str, new: str) -> bool:
    """True where ``new`` calls a figure good enough that the limit ``old`` forbids; without a unit at most thrice."""
    called_good = good(new)
    if not called_good or not (_LIMIT.search(old) or _SET.search(old)):
        return False
    least, theirs = bool(_LEAST.search(old)), _figures(digits(old))
    for told in called_good:
        pairs = [(n / m, bool(u)) for n, u in told for m, v in theirs if (u == v if u else len(theirs) == 1)]
        beyond = [1 / 3 <= r < 1 if least else r > 1 and (known or r <= 3) for r, known in pairs]
        if len(pairs) == len(told) and all(beyond):
            return True
    return False


@lru_cache(maxsize=4096)
def good(text: str) -> tuple[list[tuple[float, str]], ...]:
    """The figures of each clause that calls its figures good enough."""
    told = [
        _figures(c)
        for c in clauses(digits(text))
        if release.ACCEPT.search(c) or release.EASE.search(c) or release.HARMLESS.search(c) or _frees(c)
    ]
    return tuple(t for t in told if t)


#: words and signs of measures
_MEASURE = re.compile(
    r"(?i)\s?(%|[mµn]?s\b|se[ckg]\w*|min\w*|h\b|hrs?\b|hours?|stund\w*|std|heures?|horas?|ore\b|godz\w*|uur|час\w*|сек\w*|мин\w*|мс\b|с\b|d\b|days?|tage?n?\b|jours?|días?|dias?|giorn\w+|dni|дн\w+|"
    r"weeks?|woche\w*|[kmgt]i?b|b\b|bytes?|o\b|[kmg]o\b|кб|мб|гб|lines?|zeilen?|lignes?|líneas?|linhas?|righe|linii|строк\w*|words?|wörter|mots|palabras|parole|eur\w*|usd|dollars?|€|zł|руб\w*|"
    r"毫?[秒分时時天日行字次回件条元円줄초분시일건개회원]|시간)"
)


def _figures(text: str) -> list[tuple[float, str]]:
    """The numbers of a sentence, each with the beginning of its unit ("" where it has none)."""
    out = []
    for m in _NUMBER.finditer(text):
        value = _value(m.group().rstrip(".,"))
        unit = _MEASURE.match(text, m.end())
        name = unit.group(1).lower()[:4] if unit else ""
        if value:
            out.append((value, name))
    if len(out) > 1 and out[-1][1]:  # "six or seven minutes"
        out = [(n, u or out[-1][1]) for n, u in out]
    return out


def _value(number: str) -> float:
    """The figure as a number; 0 where it is none."""
    try:
        return float(number.replace(",", "."))
    except ValueError:
        return 0.0


def affirms(old: str, new: str) -> bool:
    """True where ``new`` says little more than the figures of ``old``: "stay on Node 20", "Node 20 is fine"."""
    theirs = _numbers(old)
    return bool(theirs) and theirs == _numbers(new) and len(new.split()) < 6 and not words.WIDE.search(new)


def same(old: str, new: str) -> bool:
    """True where both name the same number in the same unit, and the older sentence as a limit."""
    old, new = digits(old), digits(new)
    return bool(_LIMIT.search(old) and _numbers(old) & _numbers(new) and _units(old) & _units(new))


def _left(pattern: re.Pattern[str], text: str) -> set[str]:
    return {g.rstrip(".,") for m in pattern.finditer(text) for g in m.groups() if g}


@lru_cache(maxsize=4096)
def _matter(text: str, bare: bool = False) -> dict[str, float]:
    """What a rule is about apart from its numbers; ``bare``: and apart from the words of a limit."""
    text = _WORDED.sub(" ", _told(text))
    return {k: w for k, w in topics(_LIMIT.sub(" ", text) if bare else text).items() if not k.startswith("d:")}


def _told(text: str) -> str:
    """The clauses that hold a number: what stands at their side ("…, or they lock us out") is no part of the limit."""
    found = [c for c in clauses(text) if _NUMBER.search(c)]
    return " ".join(found) if len(found) == 1 else text


@lru_cache(maxsize=4096)
def _units(text: str) -> set[str]:
    return {u.lower() for u in _UNIT.findall(text)} - _NO_UNIT


@lru_cache(maxsize=4096)
def _numbers(text: str) -> set[str]:
    return {n.rstrip(".,") for n in _NUMBER.findall(text)} | {n.lower() for n in _WORDED.findall(text)}
