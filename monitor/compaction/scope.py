"""How far a later sentence of the user goes against a rule: all of it, a part, only to look, or not at all.

Input: the rule and the sentence that seems to lift it, as :mod:`withdrawal` knows by its words. "You may edit
prod/tags.tf, nothing else there" takes "don't touch prod" back in part; "as for the mapping, that stays" takes nothing
back, and "you can look at it" allows no change.
"""

from __future__ import annotations

import re
from functools import lru_cache

from monitor.compaction import deadlines, phrases, release, withdrawal
from monitor.compaction.clauses import clauses
from monitor.compaction.topics import overlap, topics
from monitor.compaction.words import WIDE


def _rx(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


#: something goes on as it is
_GOES_ON = _rx(
    r"\b(?:stays?|remains?|stands?|holds?|still|unchanged|as\s+(?:before|agreed|discussed|it\s+is)|no\s+change\s+there|keeps?)\b",
    r"\b(?:bleib(?:t|en)|weiterhin|nach\s+wie\s+vor|unverändert|gilt\s+(?:weiter|trotzdem|immer)|immer\s+noch)\b",
    r"\b(?:reste(?:nt)?|toujours|demeure\w*|inchangée?s?|maintenue?s?|tient\s+(?:toujours|bon))\b",
    r"\b(?:sigue[ns]?|se\s+mantiene[ns]?|en\s+pie|igual\s+que\s+antes|continúa\w*)\b",
    r"\b(?:continua[m]?|mantém|mantêm|permanece[m]?|segue[m]?|de\s+pé)\b|\b(?:resta(?:no)?|rimane|rimangono|vale\s+ancora|ancora\s+valid\w+)\b",
    r"\b(?:nadal|wciąż|pozostaj\w+|zostaj\w+|bez\s+zmian|dalej\s+(?:obowiązuj\w+|nie))\b|\b(?:blijft|blijven|nog\s+steeds)\b",
    r"по-прежнему|оста[её]тся|остаются|в\s+силе|вс[её]\s+ещ[её]|как\s+и\s+раньше|без\s+изменений",
    "仍|依然|依旧|照旧|不变|照样|还是(?:不|别|要)|引き続き|そのまま|変わらず|従来どおり|従来通り|여전히|그대로|계속|유지",
)
#: what stands are other things than the one just spoken of
_OTHERS = _rx(
    r"\b(?:rest|others?|else|everything|sonst|übrig\w*|ander\w*|alles|le\s+reste|autres?|tout|demás|resto|otr[oa]s?|todo|demais|outr[oa]s?|tudo|altr[ioae]|tutto|"
    r"reszta|inne|pozostałe|overige|andere)\b|остальн\w+|друг\w+|其他|其它|其余|别的|その他|他の|ほか|나머지|다른"
)
#: a permission that is limited in the same breath
_ONLY = _rx(
    r"\b(?:only|solely|just\s+(?:the|that|this|for|in|on|to|one)|nothing\s+(?:else|more)|but\s+not|except|nowhere\s+else|as\s+long\s+as|provided)\b",
    r"\b(?:nur|lediglich|ausschließlich|sonst\s+nichts|aber\s+(?:nicht|kein\w*)|solange|sofern)\b",
    r"\b(?:seulement|uniquement|juste|mais\s+pas|rien\s+d['’]autre|à\s+condition|tant\s+que)\b",
    r"\b(?:solo|sólo|solamente|únicamente|nada\s+más|pero\s+no|siempre\s+que)\b|\b(?:só|somente|apenas|mas\s+não|nada\s+mais|desde\s+que)\b",
    r"\b(?:soltanto|solamente|ma\s+non|nient['’]altro|purché)\b|\b(?:tylko|wyłącznie|jedynie|ale\s+nie|pod\s+warunkiem)\b",
    r"\b(?:alleen|enkel|maar\s+niet|mits)\b|только|лишь|но\s+не|больше\s+ничего|при\s+условии",
    "只(?!要不)|仅|但不|除了|だけ|のみ|しか|に限|以外は|[가-힣]만(?=\\s|$|[,.])|에만|으로만|까지만|뿐",
)
#: looking at something, without changing it
_LOOKS = _rx(
    r"\b(?:look|read|view|test|try|query|peek|see|consult|inspect|browse|skim|open|check)\b",
    r"\b(?:testen|abfragen|lesen|ansehen|anschauen|nachsehen|reinschauen|hineinsehen|einsehen|angucken|lies)\b|\b(?:lire|regarder|consulter|voir)\b",
    r"\b(?:(?:leer|mirar|ver|consultar|probar)(?:l[oa]s?)?|testar|ler|olhar|interrogare|provare|leggere|guardare|vedere|consultare|czytać|przeczytać|przejrzeć|obejrzeć|podejrzeć|lezen|bekijken|inzien)\b",
    r"\b(?:читать|прочитать|посмотреть|смотреть|просматривать|глянуть)\b|查看|阅读|参考一下|看(?:看|一下|一眼)|見ても|読んでも|参照して|閲覧|봐도|읽어도|참고해도|확인해도",
)
_UNLESS = _rx(
    r"\b(?:as\s+long\s+as|so\s+long\s+as|without|provided|but\s+(?:do\s+)?n[o'’]t|solange|ohne|aber\s+nicht|sans|tant\s+que|mais\s+pas|sin|siempre\s+que|pero\s+no|sem|desde\s+que|mas\s+não|senza|"
    r"purché|ma\s+non|bez|dopóki|ale\s+nie|zonder|без|но\s+не)\b|但不|しない(?:限り|なら)|않는"
)
#: nobody the user would take an order from
_ANYBODY = _rx(
    r"\b(?:some(?:one|body)|people|forum|blog|post|stack\s?overflow|article|jemand|irgend\w+|leute|artikel|alguien|gente|foro|quelqu['’]un|des\s+gens|alguém|qualcuno|ktoś|iemand|кто-то|статья)\b|"
    "有人|网上|帖子|誰か|記事|누군가|사람들"
)
_CHANGES = _rx(
    r"\b(?:change|edit|modify|touch|write|rename|delete|remove|add|fix|move|adapt|adjust|rewrite|refactor|alter|update|extend|commit|push|deploy|run|use|restart|apply)\b",
    r"\b(?:änder\w*|anpass\w*|bearbeit\w*|schreib\w*|lösch\w*|umbau\w*|anfass\w*)\b|\b(?:modifi\w+|chang\w+|édit\w+|touch\w+|supprim\w+|écri\w+|toc\w+|cambi\w+|edit\w+|"
    r"escrib\w+|borr\w+|mex\w+|alter\w+|mud\w+|escrev\w+|scriv\w+|zmieni\w+|edytow\w+|rusza\w+|usu\w+)\b|мен|прав|трог|удал|改|动|删|写|変|直|触|消|바꾸|바꿔|수정|고쳐|변경",
)
#: a clause that tells something, and orders nothing
TELLS = _rx(
    r"\b(?:is|are|was|were|has|have|had|been|did|does|will|would|ist|sind|war|waren|wurden?|wird|hat|haben|est|sont|était|ont|fut|es|está|fue|eran?|son|foi|é|são|era|estava|è|sono|stat[oaie]|"
    r"jest|są|był\w*|został\w*|был\w*|werd|werden)\b|^(?:(?:and|but|so|und|y|e|et|и)\s+)?(?:i|we|they|he|she|it|you|ich|wir|sie|er|es|je|nous|on|ils?|yo|nosotros|eu|nós|io|noi|ja|my|oni|я|мы|они)\b|"
    "^(?:我们?|他们?|私|우리|저는)|了[。]?$|(?:ました|でした|だった|[^し]た)[。]?$|[했됐었았]\\w*[.]?$"
)
#: what stands in front of an order
_FILLER = re.compile(
    r"(?i)^(?:(?:ok(?:ay)?|fine|alright|right|good|great|well|so|then|and|but|now|please|just|go\s+ahead\s+and|gut|na\s+gut|also|dann|und|jetzt|bitte|bon|bien|alors|et|donc|maintenant|vale|bueno|entonces|"
    r"y|ahora|então|e|agora|va\s+bene|allora|adesso|dobrze|dobra|to|teraz|ладно|хорошо|тогда|и|теперь|그럼|이제|좋아요?|좋습니다|では|じゃあ|もう|好的?|那就?|现在)[,.!，、。]?\s*)+"
)
#: what no order begins with
_DETERMINER = re.compile(
    r"(?i)(?:an?|the|der|die|das|ein\w*|l[ea]s?|l['’]|une?|el|los|las|il|lo|gli|o|os|um|uma|ten|ta|to|een|het)\s"
)
#: an order in a language without white space or with its verb at the end
_ORDER = re.compile(
    r"吧|把|请|直接|开始|(?:して|てよ|って|んで|ください|お願い(?:します)?|ましょう)[。．!！]?$|(?:하세요|해\s*주세요|해요|해라|합시다|하시죠|주세요)[.!]?$"
)
#: long ago or for long: no news
_OLD = _rx(
    r"\b(?:yesterday|last\s+(?:night|week|month|year)|gestern|letzte[nsrm]?\s+\w+|hier(?:\s+soir)?|la\s+semaine\s+dernière|ayer|anoche|ontem|ieri|wczoraj|gisteren|вчера)\b|昨[天日晚]|어제",
    r"\b(?:since|seit|depuis|desde|dal|od|с)\s+(?:\w+\s+)?\d{4}\b",
)
_STATE = _rx(
    r"\b(?:is|are|was|were|worked|works)\s+(?:\w+\s+)?(?:fine|ok(?:ay)?|good|ours|yours)\b|\b(?:war|waren|ist|sind|lief|liefen)\s+(?:\w+\s+)?(?:gut|in\s+ordnung|ok(?:ay)?)\b|问题|問題|괜찮았|нормально"
)
#: second thoughts: what follows is not what was said first
SECOND = _rx(
    r"\b(?:on\s+second\s+thoughts?|come\s+to\s+think|now\s+that\s+i\s+think|thinking\s+(?:about\s+it|it\s+over|again)|(?:i\s+)?thought\s+(?:about\s+it|it\s+over)|reconsider\w*|changed?\s+(?:my|our)\s+minds?|"
    r"change\s+of\s+(?:plan|heart|mind)s?|i\s+take\s+(?:that|it)\s+back|(?:was|were)\s+(?:too|overly)\s+\w+|went\s+too\s+far|in\s+hindsight|after\s+all)\b",
    r"\b(?:noch\s?mal|nochmals)\s+(?:[^.?!]{1,40}\s)?(?:nachgedacht|überlegt)|\bdoch\s+(?:für|lieber|besser|eher)\b|\bbei\s+(?:näherer|genauerer|nochmaliger)\s+\w+|\bwenn\s+ich\s+(?:\w+\s+){0,3}überleg\w*|\bim\s+nachhinein\b|\banders\s+überlegt\b|\b(?:war|waren)\s+(?:\w+\s+)?(?:übertrieben|zu\s+streng)\b|\bplanänderung\b",
    r"\b(?:à\s+la\s+réflexion|réflexion\s+faite|tout\s+(?:bien\s+)?(?:réfléchi|compte\s+fait)|j['’]ai\s+changé\s+d['’]avis|je\s+reviens\s+(?:là-)?dess?us)\b",
    r"\bpens[áa]ndolo\s+(?:mejor|bien)\b|\bbien\s+(?:mirado|pensado)\b|\bal\s+final\b|\bcambié\s+de\s+(?:idea|opinión)\b|\bme\s+lo\s+he\s+pensado\b|"
    r"\bpensando\s+(?:bem|melhor)\b|\brepensando\b|\bafinal\b|\bmudei\s+de\s+(?:ideia|opinião)\b|\bno\s+fim\s+das\s+contas\b",
    r"\bripensandoci\b|\bpensandoci\s+(?:bene|meglio)\b|\balla\s+fine\b|\bci\s+ho\s+ripensato\b|\bho\s+cambiato\s+idea\b|\bpo\s+(?:namyśle|zastanowieniu)\b|\bjednak\b|\bzmieni[łl][ea]m\s+zdanie\b|\bbij\s+nader\s+inzien\b",
    r"\bподумав\b|\bпоразмыслив\b|\bвс[её]-таки\b|\bвс[её]\s+же\b|\bпередумал\w*|если\s+подумать|仔细想|想了想|再想想|考虑(?:了一下|下来|之后)|改主意|よく考え|考え直|やっぱり|생각해\s*보니|다시\s*생각|마음이\s*바뀌",
)
#: a pronoun that names what stands elsewhere
POINTS = re.compile(
    r"(?i)\b(?:that|this|it|those|these|them|das|dies\w*|es|ça|cela|eso|esto|ello|isso|isto|quello|questo|ciò|to|это|этого|их|его|её|dat|dit)\b|这|那|それ|これ|그거|그것|그건"
)
#: lets something be so
LETS = _rx(
    r"\b(?:let|leave|keep|make|put|write|do|lass\w*|schreib\w*|mach\w*|mets|mettez|laisse[rz]?|écri\w+|pon\w*|deja\w*|escrib\w+|deix[ae]\w*|coloca\w*|escrev\w+|metti\w*|lascia\w*|scriv\w+|zostaw\w*|pisz\w*)\b|"
    "пусть|пиши|давай|让|就(?:用|写)|用.{1,6}(?:吧|也)|寄せ|にして|(?:도|로)\\s*(?:적|쓰|써|남)"
)
#: "X instead of Y"; the group is what goes
_INSTEAD = _rx(
    r"\b(?:instead\s+of|rather\s+than|in\s+place\s+of|anstelle|anstatt|statt|au\s+lieu\s+d[eu'’]|plutôt\s+que|en\s+(?:vez|lugar)\s+de|em\s+vez\s+d\w+|ao\s+invés\s+d\w+|invece\s+d\w+|al\s+posto\s+d\w+|"
    r"zamiast|in\s+plaats\s+van|вместо)\s*(?P<a>[^,;:.!?]{2,60})",
    r"(?:而不是|代替)\s*(?P<b>[^，。；]{2,20})|(?P<c>[^、。，\s]{2,16})(?:の代わりに|ではなく|じゃなくて)|(?P<d>[^,.\s]{1,12}(?:\s[^,.\s]{1,12})?)\s*(?:대신)",
)


@lru_cache(maxsize=4096)
def _going_on(text: str) -> tuple[str, ...]:
    """The clauses of a sentence that say something goes on, and neither permit nor take back."""
    return tuple(c for c in clauses(text) if _GOES_ON.search(c) and not strong(c) and not withdrawal.PERMIT.search(c))


def goes_on(about: dict[str, float], text: str) -> bool:
    """True where ``text`` says that the rule ``about`` such matter goes on, whatever else it says."""
    standing = _going_on(text)
    if not standing:
        return False
    mine = topics("… " + " … ".join(_GOES_ON.sub(" ", c) for c in standing))
    rest = [c for c in clauses(text) if c not in standing]
    shared, elsewhere = overlap(about, mine), overlap(about, topics("… " + " … ".join(rest)))
    if shared >= 1 and (shared >= elsewhere or shared >= 0.3 * sum(about.values())):
        return True
    points = [c for c in standing if not _OTHERS.search(c) and sum(topics("… " + _GOES_ON.sub(" ", c)).values()) <= 1]
    return bool(points and elsewhere >= 1) or any(
        withdrawal.STANDS.search(c) for c in standing if not _OTHERS.search(c)
    )


@lru_cache(maxsize=4096)
def strong(text: str) -> bool:
    """True where a sentence takes a rule back by naming it: by its words, or as a rule that is no more."""
    if withdrawal.STRONG.search(text):
        return True
    return any(withdrawal.NOUN.search(c) and withdrawal.gone(c) for c in _told(text))


@lru_cache(maxsize=4096)
def eases(text: str) -> bool:
    """True where a statement lets go in words that name no rule: nobody needs it, it is ours now, I was too strict."""
    told = [c for c in _told(text) if not (_GOES_ON.search(c) and withdrawal.DENIAL.search(c)) and not status(c)]
    return any(
        p.search(c)
        for c in told
        for p in (release.EASE, release.HARMLESS, release.HANDED, release.ADMIT, release.WELCOME)
    )


@lru_cache(maxsize=4096)
def _told(text: str) -> tuple[str, ...]:
    return tuple(c for c in clauses(text) if not deadlines.SUPPOSED.search(c))


@lru_cache(maxsize=4096)
def partly(text: str) -> bool:
    """True for a permission that limits itself: "…, only on dev", "…, nothing else there"."""
    return bool(_ONLY.search(text) or withdrawal.ONCE.search(text))


def inside(rule: str, text: str) -> bool:
    """True where ``text`` names a place below one that the rule names."""
    places = [k[2:] for k in topics(rule) if k.startswith("n:")]
    named = [k[2:] for k in topics(text) if k.startswith("n:") and "/" in k]
    return any(n.startswith(p + "/") for p in places for n in named)


@lru_cache(maxsize=4096)
def looks(text: str) -> bool:
    """True for a permission to look only."""
    allowed = _UNLESS.split(text, maxsplit=1)[0]  # "you can look at it as long as you don't change it"
    return bool(_LOOKS.search(allowed)) and not _CHANGES.search(_LOOKS.sub(" ", allowed))


@lru_cache(maxsize=4096)
def hearsay(text: str) -> bool:
    """True where somebody nobody knows is said to say it."""
    return bool(_ANYBODY.search(text) and phrases.REPORTED.search(text))


def status(text: str) -> bool:
    """True where a sentence only tells how a thing was, or has long been: "the module was fine yesterday"."""
    told = [c for c in clauses(text) if _STATE.search(c)]
    return bool(told) and all(_OLD.search(c) for c in told)


@lru_cache(maxsize=4096)
def orders(text: str) -> bool:
    """True for a clause that may be an order: it denies nothing and tells nothing."""
    if withdrawal.DENIAL.search(text) or TELLS.search(text) or _DETERMINER.match(_FILLER.sub("", text)):
        return False
    return not WIDE.search(text) or bool(_ORDER.search(text))


def lets(text: str) -> bool:
    """True where a clause begins with a word that lets something be so or orders it."""
    for clause in clauses(text):
        words = _FILLER.sub("", clause).split()
        if LETS.search(clause if WIDE.search(clause) else " ".join(words[:2])):
            return True
    return False


def deed_first(about: dict[str, float], text: str) -> bool:
    """True where one of the first two words of a clause is of the rule's matter, as the verb of an order is."""
    words = _FILLER.sub("", text).split()
    return bool(WIDE.search(text)) or any(overlap(about, topics(w)) for w in words[:2])


#: deeds that make two sentences differ where only one names them
_DEEDS = frozenset(
    (
        "c:push",
        "c:commit",
        "c:merge",
        "c:deploy",
        "c:delete",
        "c:rename",
        "c:restart",
        "c:email",
        "c:export",
        "c:import",
    )
)
#: … and that say little without their object
_OF_OBJECTS = frozenset(("c:log", "c:delete", "c:rename", "c:print", "c:export", "c:import"))
_ME = _rx(r"\b(?:me|us|myself|mir|mich|uns|moi|nous|мне|нам)\b")


def another(rule: str, about: dict[str, float], mine: dict[str, float], text: str) -> bool:
    """True where both share a word and differ in what is done, or in what it is done to."""
    if another_object(about, mine):
        return True
    common = about.keys() & mine.keys()
    shared = sum(min(about[k], mine[k]) for k in common)
    if shared <= 1 and all(k.startswith("w:") for k in common) and not withdrawal.PROVISIONAL.search(rule):
        beside = {k: w for c in clauses(text) if overlap(about, topics(c)) for k, w in topics(c).items()}
        if any(w >= 2 for k, w in beside.items() if k[0] in "cn" and k not in about):
            return True  # "the billing module", "the billing tests"
        if (
            about.keys() & _DEEDS
            and not mine.keys() & _DEEDS
            and not any(p.search(text) for p in (SECOND, release.HANDED))
        ):
            return True  # "never push to main", "pull from main"
    only = {k for k in common if not k.startswith("p:")}
    if only and only <= _OF_OBJECTS and len(about) > len(common) and any(k[0] in "wcn" for k in mine if k not in about):
        return True  # "never log tokens", "log the request id"
    return only <= _DEEDS and len(about) > len(common) and bool(_ME.search(text)) and not _ME.search(rule)


def another_object(rule: dict[str, float], mine: dict[str, float]) -> bool:
    """True where both speak of one deed, each of its own thing: "don't restart the database", "restart the server"."""
    common = rule.keys() & mine.keys()
    theirs = max((w for k, w in rule.items() if k not in common and k[0] in "cn"), default=0.0)
    ours = max((w for k, w in mine.items() if k not in common and k[0] in "cn"), default=0.0)
    return len({k for k in common if not k.startswith("p:")}) == 1 and theirs >= 2 <= ours


def instead(text: str) -> dict[str, float]:
    """What a sentence sets something else for ("the sha instead of the ticket number"), as topics."""
    m = _INSTEAD.search(text)
    return topics("… " + next(g for g in m.groups() if g)) if m else {}
