"""Demands of the user that something is ready by a day, and later sentences by which that day is gone; many languages.

Input: sentences of the user. "Everything has to be finished before Friday" is over with "forget Friday", "the release
slipped to May" or "take your time". A prohibition until a day is none of this kind: see :mod:`endings`. Asked or
supposed ("what if we moved it?"), or said to stand, nothing is gone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from monitor.compaction import withdrawal, words

#: a row a day of the week, by beginnings of its names
_DAYS = """
monday montag lundi lunes segunda lunedì poniedział maandag понедельник 周一 星期一 礼拜一 月曜 월요일
tuesday dienstag mardi martes terça martedì wtor dinsdag вторник 周二 星期二 礼拜二 火曜 화요일
wednesday mittwoch mercredi miércoles quarta mercoledì środ woensdag сред 周三 星期三 礼拜三 水曜 수요일
thursday donnerstag jeudi jueves quinta giovedì czwart donderdag четверг 周四 星期四 礼拜四 木曜 목요일
friday freitag vendredi viernes sexta venerdì piąt vrijdag пятниц 周五 星期五 礼拜五 金曜 금요일
saturday samstag sonnabend samedi sábado sabato sobot zaterdag суббот 周六 星期六 礼拜六 土曜 토요일
sunday sonntag dimanche domingo domenica niedziel zondag воскресень 周日 星期日 星期天 礼拜天 日曜 일요일
"""
_DAY = {name: str(n) for n, row in enumerate(_DAYS.strip().splitlines()) for name in row.split()}
_DAY_NAME = re.compile(
    "|".join(
        (re.escape(d) + "日?" if words.WIDE.match(d) else rf"\b{d}\w*") for d in sorted(_DAY, key=len, reverse=True)
    ),
    re.I,
)
_MONTH = (
    r"(?:jan(?:uary|uar|vier|eiro|\b)|ene(?:ro)?\b|gennaio|styczni|январ|feb(?:r\w+)?\b|févr\w*|fev\w+|luty|lutego|феврал|mar(?:ch|s|zo|ço|ca)\b|märz|март|"
    r"apr(?:il\w*)?\b|avril|abril|kwietni\w|апрел|may\b|mai\b|mayo|maio|maggio|maja\b|мая\b|jun(?:e|i|io|ho)\b|juin|giugno|czerwc|июн|jul(?:y|i|io|ho)\b|"
    r"juillet|luglio|lipc|июл|aug\w*|août|agosto|sierpni|август|sep\w+|settembre|wrze[sś]\w+|сентябр|o[ck]t\w+|ottobre|outubro|październik|октябр|"
    r"nov\w+|listopad|ноябр|de[cz]\w+|déc\w+|dicembre|diciembre|grud\w+|декабр)"
)
_WHEN = (
    rf"(?:{_DAY_NAME.pattern}|\b(?:tomorrow|tonight|noon|midnight|eod|eow|morgen|übermorgen|demain|mañana|amanhã|domani|jutr\w+|завтра)\b|"
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\.?º?\s+(?:of\s+|de\s+)?{_MONTH}|\b{_MONTH}\w*\s+\d{{1,2}}|\b\d{{4}}-\d\d-\d\d\b|\b(?:le|el|d[ií]a|il)\s+\d{{1,2}}(?:er)?\b(?!\s*%|[.,:]\d)|\b(?:am|zum)\s+\d{{1,2}}\.(?!\d)|\b\d{{1,2}}[./]\d{{1,2}}[./]|\bthe\s+\d{{1,2}}(?:st|nd|rd|th)\b|"
    r"\b(?:week|month|quarter|year|sprint|day|business|weekend)\b|\b(?:woche|wochenend\w*|monats\w*|quartal\w*|feierabend|jahresende)\b|"
    r"\b(?:semaine|mois|trimestre|sprint)\b|\b(?:semana|mes|mês|trimestre|finde)\b|\b(?:settimana|mese|fine\s+mese)\b|"
    r"\b(?:tygodni\w*|miesi[ąa]c\w*)\b|\b(?:недел\w+|месяц\w*|конц[аеу]\s+\w+)|"
    r"今天|明天|本周|这周|下周|月底|周末|年底|\d{1,2}[号日月]|今週|今日中|明日|来週|月末|今月|年内|週末|이번\s*주|다음\s*주|내일|오늘|월말|주말|\d{1,2}일)"
)
_TIME = re.compile(_WHEN, re.I)
#: what stands in front of the day, or behind it, where something is demanded by then
_UP_TO = re.compile(
    r"\b(?:by|before|until|till|no\s+later\s+than|due|bis|vor|spätestens|avant|d['’]ici(?:\s+à)?|pour|antes\s+d\w+|para|hasta|até|a\s+más\s+tardar|entro|prima\s+d\w+|per|do|przed|na|"
    r"voor|uiterlijk|до|к|не\s+позднее)\b(?:\s+[^\W\d_]+['’]?){0,4}\s*['’]?\s?$|\b(?:must|muss|musi|moet|debe|deve|doit)\s+(?:\w+\s+)?$|"
    r"\b(?:deliver|finish|ship|submit|show|present|zeigen|vorführen|montrer|presentar|mostrar|pokazać|показать|list[oa]s?|pront[oa]s?|prêt\w*|fertig|ready|gotow\w+|liefern|abgeben|livrer|rendre|finir|entregar|acabar|terminar|consegnare|finire|oddać|сдать|закончить)\s+(?:\w+\s+){0,3}?(?:(?:on|am|le|el|il|no|na|w|we|в|во)\s+)?$",
    re.I,
)
_BEHIND = re.compile(
    r"\s*(?:之前|以前|前|内|中に|までに?|까지|전까지|안에|中)|[^。]{0,12}之前|\s+(?:at\s+the\s+latest|como\s+muy\s+tarde|a\s+más\s+tardar|o\s+mais\s+tardar|au\s+plus\s+tard|al\s+più\s+tardi)\b",
    re.I,
)
_BY_THEN = re.compile(
    r"(?i)\b(?:by\s+then|bis\s+dahin|d['’]ici\s+là|para\s+entonces|até\s+lá|per\s+allora|do\s+tego\s+czasu|к\s+этому\s+времени)\b"
)
_DEMAND = re.compile(
    r"(?i)\b(?:must|ha(?:s|ve)\s+to|needs?|want|should|finish\w*|done|ready|complet\w+|deliver\w*|ship\w*|live|due|submit\w*|deadline|wrap\w*)\b|"
    r"\b(?:muss|müssen|soll\w*|fertig\w*|abgeschlossen|liefern|abgeben|abgabe|stehen|brauch\w+|live|frist)\b|"
    r"\b(?:doit|doivent|faut|livr\w+|termin\w+|fini\w*|prêt\w*|rend\w+|boucl\w+|veux|besoin)\b|"
    r"\b(?:debe\w*|tiene\w*\s+que|hay\s+que|list[oa]s?|termin\w+|entreg\w+|acab\w+|quiero|necesit\w+|plazo)\b|"
    r"\b(?:deve\w*|tem\s+que|precis\w+|pront[oa]s?|quero|conclu\w+|prazo)\b|\b(?:devo?no?|bisogna|consegn\w+|finit\w|serve|voglio|scadenza)\b|"
    r"\b(?:musi\w*|gotow\w+|skończ\w+|termin|trzeba|oddać|chcę)\b|\b(?:moet\w*|klaar|af|opgeleverd)\b|"
    r"\b(?:долж\w+|нужно|надо|готов\w*|закончи\w+|сдать|срок)\b|"
    r"要|得|必须|务必|做完|完成|交付|上线|搞定|终わ|終わら|仕上げ|完了|納品|提出|必要|ほしい|お願い|끝내|완료|마쳐|마무리|제출|납품|해야|되어야"
)
_NOUN = re.compile(
    r"(?i)\b(?:deadlines?|due\s+dates?|cut-?offs?|time\s?(?:limit|line|frame|pressure)s?|schedule|release|launch|go-?live|demo|delivery|hand-?over)\b|"
    r"\b(?:\w*frist\w*|\w*termine?\w{0,2}|abgabe\w*|zeitdruck|zeitplan|auslieferung|lieferung|veröffentlichung|stichtag)\b|"
    r"\b(?:délais?|échéances?|date\s+(?:limite|butoir|d[eu]\s+\w+)|livraison|sortie|mise\s+en\s+(?:ligne|production)|lancement)\b|"
    r"\b(?:plazos?|fecha\s+(?:límite|tope|de\s+\w+)|entrega|lanzamiento|salida)\b|\b(?:prazos?|data\s+(?:limite|de\s+\w+)|lançamento)\b|"
    r"\b(?:scadenz[ae]|consegna|rilascio|uscita|lancio|termine)\b|\b(?:termin\w*|wydani\w+|wdrożeni\w+)\b|\b(?:oplevering|levering|lancering)\b|"
    r"\b(?:срок\w*|дедлайн\w*|релиз\w*|сдач\w+|запуск\w*)\b|"
    r"截止|期限|工期|时间|演示|上线|发布|交付|deadline|締め?切り?|納期|期日|リリース|마감|기한|일정|출시|배포"
)
_LOOSER = re.compile(
    r"(?i)\b(?:relaxed|loosened|gelockert|assoupli\w*|flexib\w*|rilassat\w|allentat\w)\b|放宽|宽限|緩め|緩和|완화"
)
#: "Wednesday turned into next Monday"
_TURNED = re.compile(
    rf"(?i)(?:{_DAY_NAME.pattern})\s+(?:has\s+|is\s+|ha\s+)?(?:turned\s+into|became|becomes|now|wird\s+zu[mr]?|wurde\s+zu[mr]?|devient|est\s+devenu|pas[aó]\s+a|se\s+convirtió|virou|passou\s+para|diventa\w*|zamienił\w*|"
    r"превратил\w*|стал\w*)\b|变成|改到"
)
#: … is set on another day
_LATER = re.compile(
    rf"(?i)\b(?:to|till|until|now|auf|bis|erst|jetzt|au|à|jusqu['’]\w+|maintenant|al?|hasta|para|ahora|até|agora|fino|ora|na|do|teraz|naar|tot|nu|на|до|теперь)\s+(?:[^\W\d_]+\s+){{0,3}}?(?:{_MONTH}|{_DAY_NAME.pattern})|"
    rf"\b(?:next|nächste\w*|prochaine?|próxim[oa]|prossim[oa]|przyszł\w+|volgende|следующ\w+)\b|下(?:个?月|周)|来(?:月|週)|다음\s*(?:주|달)"
)
#: there is time, said without naming the day
_SLACK = re.compile(
    r"(?i)\btake\s+(?:all\s+)?(?:the|your)\s+(?:\w+\s+)?time\b|\bno\s+(?:need\s+to\s+)?(?:rush|hurry)\b|\b(?:not|no\s+longer)\s+(?:that\s+|so\s+)?(?:urgent|pressing|in\s+a\s+(?:rush|hurry))\b|"
    r"\b(?:extra|more|additional|another|other)\s+(?:few\s+)?(?:days?|weeks?|months?)\b|\bcan\s+wait\b|\bdoesn['’]t\s+have\s+to\s+be\s+(?:\w+\s+){0,3}(?:by|before)\b|"
    r"\blass\w*\s+(?:dir|euch)\s+(?:\w+\s+)?zeit\b|\bkeine?\s+eile\b|\beilt\s+(?:\w+\s+)?nicht\b|\b(?:mehr|genug)\s+zeit\b|\b(?:hat|haben)\s+(?:\w+\s+)?(?:noch\s+)?zeit\b|"
    r"\bprends?\w*\s+(?:tout\s+)?(?:ton|votre|le)\s+temps\b|\brien\s+ne\s+presse\b|\bpas\s+press\w+|\b(?:plus\s+rien\s+d['’]urgent|on\s+a\s+le\s+temps)\b|"
    r"\btóma\w*\s+(?:el|tu|su)\s+tiempo\b|\b(?:sin|no\s+(?:corre|hay|tengas?))\s+prisa\b|\bya\s+no\s+(?:corre|es)\s+\w*\s?(?:prisa|urgente)\b|"
    r"\bsem\s+pressa\b|\b(?:leve|tem|temos)\s+(?:o\s+|todo\s+o\s+)?tempo\b|\bnão\s+(?:há|tem)\s+(?:mais\s+)?pressa\b|"
    r"\bsenza\s+fretta\b|\b(?:nessuna|non\s+c['’]è(?:\s+più)?)\s+fretta\b|\bprenditi\s+(?:\w+\s+){0,3}tempo\b|"
    r"\bbez\s+pośpiechu\b|\bnie\s+(?:musisz\s+się\s+|ma\s+co\s+się\s+)?spiesz\w+|\bmamy\s+(?:więcej\s+)?czas\w*\b|\bgeen\s+haast\b|"
    r"\b(?:не\s+(?:спеши\w*|торопи\w*|горит|к\s+спеху)|спешить\s+не|торопиться\s+не|можно\s+не\s+(?:спешить|торопиться)|времени\s+(?:ещё\s+|еще\s+)?(?:много|достаточно|больше))|"
    r"不(?:用|必)?(?:着)?[急赶]|あわて(?:なく|ず)|焦ら(?:なく|ず)|别(?:太|那么)?[急赶]|慢慢来|时间(?:很)?充裕|急が(?:なく|ず)|急ぎません|ゆっくり|余裕|서두르지|천천히|급하지"
)
#: told of a case, not of what is
SUPPOSED = re.compile(
    r"(?i)\b(?:if|unless|whether|would|might|maybe|perhaps|suppose|wenn|falls|ob|vielleicht|würde|peut-être|quizás?|talvez|forse|jeśli|gdyby|если|может)\b|"
    r"^(?:\w+\s+)?(?:si|se)\s|如果|要是|万一|もし|たら|れば|라면|으면"
)


_DATE = re.compile(
    rf"(?i)\b(?:el|le|il)\s+\d{{1,2}}\b(?!\s*%)|\b\d{{1,2}}(?:st|nd|rd|th)\b|\b\d{{1,2}}\.?º?\s+(?:de\s+)?{_MONTH}|{_MONTH}\w*\s+\d{{1,2}}\b|\d{{1,2}}[号日일]"
)
_CLAUSE = re.compile(r"[,;，；、]\s*")


_RATHER = re.compile(
    r"(?i)n['’]t\b|\b(?:not|rather|instead|let['’]s\s+say|optimistic|early\s+enough|enough|nicht|kein\w*|lieber|eher|statt|reicht|sagen\s+wir|pas|plutôt|suffit|disons|ya\s+no|no|mejor|basta|digamos|não|melhor|já\s+não|non|meglio|"
    r"piuttosto|diciamo|nie|raczej|lepiej|wystarczy|niet|liever|не|лучше|хватит)\b|不|改|就行|じゃなく|ではなく|말고|아니"
)


@lru_cache(maxsize=4096)
def times(text: str) -> frozenset[str]:
    """The days, dates and hours a sentence names, as they are written."""
    return frozenset(m.group().lower().strip() for m in _TIME.finditer(text))


def contrasts(text: str) -> bool:
    """True where a sentence sets one day against another: "not Tuesday, let's say Thursday"."""
    return len(times(text)) > 1 and bool(_RATHER.search(text)) and not SUPPOSED.search(text) and not event(text)


#: what may be moved without the day of the work
_EVENT = re.compile(
    r"(?i)\b(?:meetings?|calls?|appointments?|stand-?ups?|retros?|lunch|interviews?|besprechung|sitzung|meeting|réunion|rendez-vous|reunión|cita|reunião|riunione|incontro|spotkani\w+|afspraak|встреч\w+|созвон\w*)\b|"
    "会议|开会|会議|打ち合わせ|회의"
)


def event(text: str) -> bool:
    """True where a sentence speaks of a meeting: its day is no deadline, unless the demand names it too."""
    return bool(_EVENT.search(text))


@lru_cache(maxsize=4096)
def due(text: str) -> bool:
    """True for a demand that something is ready by a day."""
    if not _DEMAND.search(text) or withdrawal.DENIAL.search(text):
        return False
    if _BY_THEN.search(text):
        return True
    return any(_UP_TO.search(text, 0, m.start()) or _BEHIND.match(text, m.end()) for m in _TIME.finditer(text))


@lru_cache(maxsize=4096)
def days(text: str) -> frozenset[str]:
    """The days and dates a sentence names."""
    found = {next(n for d, n in _DAY.items() if m.group().lower().startswith(d)) for m in _DAY_NAME.finditer(text)}
    return frozenset(found | {"d" + d for d in re.findall(r"(?<!\d)\d{1,2}(?!\d)", text)})


@lru_cache(maxsize=4096)
def moved(text: str) -> Literal["named", "time", ""]:
    """How a statement ends a deadline: the day is gone ("named"), or there is time ("time"); "" for neither."""
    told = [c for c in _CLAUSE.split(text) if not SUPPOSED.search(c) and not withdrawal.STANDS.search(c)]
    whole = ", ".join(told)
    if any((_NOUN.search(c) or _DAY_NAME.search(c) or _DATE.search(c)) and withdrawal.gone(c) for c in told):
        return "named"
    if any(_NOUN.search(c) and _LATER.search(c) for c in told):
        return "named"
    if any(_TURNED.search(c) for c in told):
        return "named"
    if any((_NOUN.search(c) or _DAY_NAME.search(c)) and _LOOSER.search(c) for c in told):
        return "named"
    return "time" if _SLACK.search(whole) else ""
