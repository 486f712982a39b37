"""Rules that hold while something lasts, and sentences of the user that tell that it is over; many languages.

Input: a rule and a later sentence. "Until the audit is through, nothing is written to that table" ends with "the
auditor signed yesterday": the condition of the rule (the audit) and what is told to be over are the same matter. Asked,
denied, or told of times to come, nothing has ended.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from monitor.compaction import withdrawal, words
from monitor.compaction.clauses import QUESTION, clauses, is_rule
from monitor.compaction.sentences import Sentence
from monitor.compaction.topics import overlap, topics


def _rx(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_TO_END = r"\s+(?P<{}>[^,;:.!?()]{{3,70}})"
#: how long a rule holds; the group is what has to end. In Latin scripts behind the word, in others in front of it
_LASTS = _rx(
    r"\b(?:until|till|unless|while|during|as\s+long\s+as|so\s+long\s+as|for\s+the\s+duration\s+of|pending|"
    r"(?:we|they)(?:['’]re|\s+are)\s+(?:still\s+)?(?:in|under|on)\s+an?)" + _TO_END.format("en"),
    r"\b(?:bis|solange|so\s+lange|während|wegen)" + _TO_END.format("de"),
    r"\b(?:jusqu['’](?:à|au)|tant\s+qu[e'’]|pendant|durant|le\s+temps\s+de)" + r"\s?(?P<fr>[^,;:.!?()]{3,70})",
    r"\b(?:hasta|mientras|durante)" + _TO_END.format("es"),
    r"\b(?:até|enquanto)" + _TO_END.format("pt"),
    r"\b(?:fin\s*(?:o\s+a\w*|ché|chè)|mentre|per\s+tutta\s+la)" + r"['’\s]+(?P<it>[^,;:.!?()]{3,70})",
    r"\b(?:dopóki|póki|podczas|do\s+(?:czasu|końca)|w\s+czasie|aż)" + _TO_END.format("pl"),
    r"\b(?:tot(?:dat)?|zolang|tijdens)" + _TO_END.format("nl"),
    r"\b(?:до|пока|во\s+время|на\s+время)" + _TO_END.format("ru"),
    r"(?P<tr>[^,;:.!?()]{3,50})\s+(?:kadar|sürece|boyunca)\b",
    r"(?P<zh>[^，。；：！？\s]{1,16}?)(?:期间|结束前|完成前|结束之前|完之前)|(?:等|直到)(?P<zh2>[^，。；：！？]{1,12}?)(?:前|之后|以后|再)",
    r"(?P<ja>[^、。，\s]{1,16}?)(?:まで|の間|期間中|中は|中に)",
    r"(?P<ko>(?:[^,.\s]{1,12}\s){0,3}[^,.\s]{1,12}?)\s*(?:까지|동안|전까지|중에는)",
)
#: the same for rules that forbid: "nothing new before the fair". What has to come first each time is no end
_BEFORE = _rx(
    r"\bbefore\s+(?:the|our|his|her|their)\s+(?P<en>[^,;:.!?()]{3,50})|\b(?:vor|bevor)\s+(?:de[rmn]|die|das|unsere\w*)\s+(?P<de>[^,;:.!?()]{3,50})|"
    r"\bavant\s+(?:le|la|l['’]|les|notre)\s*(?P<fr>[^,;:.!?()]{3,50})|\bantes\s+de(?:l|\s+la|\s+las|\s+los)\s+(?P<es>[^,;:.!?()]{3,50})|"
    r"\bantes\s+d[ao]s?\s+(?P<pt>[^,;:.!?()]{3,50})|\bprima\s+del(?:la|l['’]|lo|le|l)?\s*(?P<it>[^,;:.!?()]{3,50})|"
    r"\bprzed\s+(?P<pl>[^,;:.!?()]{3,50})|\bvoor\s+de\s+(?P<nl>[^,;:.!?()]{3,50})|\bдо\s+(?P<ru>[^,;:.!?()]{3,50})|"
    r"(?P<zh>[^，。；：！？\s]{2,12}?)(?:之前|以前|(?<![以目当面提先])前(?=[，]?[不别禁严勿]))|(?P<ja>[^、。，\s]{2,12}?)(?:の前|前に|前は)|(?P<ko>[^,.\s]{2,12})\s*전에"
)
#: an event that is over, a step that is done: told as a fact
_OVER = _rx(
    r"(?:\b(?:is|are|was|were|has|have|had|been|got|all)|['’](?:s|re|ve))\s+(?:[\w-]+\s+){0,3}?(?:over|done|finished|"
    r"completed?|ended|closed|through|out|gone|past|signed|approved|cleared|merged|released|shipped|switched|"
    r"shut|retired|decommissioned|migrated|moved|upgraded|replaced|passed|lifted|unfrozen|settled|resolved|sorted|cleared|called\s+off|wrapped|here|back|live)\b|"
    r"\bhanded\b[^.?!]{0,40}\b(?:over|to\s+us)\b|"
    r"\b(?:ended|finished|closed|signed|approved|expired|landed|shipped|passed|cleared|confirmed|answered|replied|arrived|agreed|"
    r"published|issued|launched)\b|"
    r"\b(?:went|came|moved|switched|got)\s+(?:\w+\s+){0,3}?(?:to|out|live|through|back|in)\b|"
    r"\bwent\s+(?:well|fine|great|smoothly|ok(?:ay)?)\b|\btook\s+place\b",
    r"\b(?:vorbei|vorüber|zu\s+ende|beendet|abgeschlossen|fertig|durch|erledigt|unterschrieben|unterzeichnet|"
    r"abgenommen|freigegeben|abgeschaltet|abgelaufen|umgestellt|umgezogen|umgestiegen|ausgelaufen|geschlossen|"
    r"gelandet|ausgerollt|raus|überstanden|geschafft|bestanden|genehmigt|gelaufen|"
    r"beigelegt|geklärt|gelöst|bereinigt|veröffentlicht|erschienen|herausgekommen|gekommen|eingetroffen|erteilt|bestätigt|geantwortet|zugestimmt|ausgestanden|aufgehoben|eingestellt|vollzogen|angekommen|zurück|"
    r"stattgefunden|da)\b|\b(?:lief|ging)\s+(?:\w+\s+)?gut\b",
    r"\b(?:termin|achev|pass|lev|sign|valid|migr|livr|coup|clôtur|approuv)ée?s?\b|\b(?:finie?s?|close?s?|partie?s?|"
    r"répondu|publiée?s?|sortie?s?|confirmée?s?|donnée?s?|réglée?s?|résolue?s?|tranchée?s?|classée?s?|rentrée?s?|revenue?s?|"
    r"arrivée?s?)\b|\bderrière\s+nous\b",
    r"\b(?:termin|acab|finaliz|cerr|firm|aprob|pas|caduc|migr|apag|levant|lleg)(?:ó|ad[oa]s?|aron)\b|"
    r"\b(?:conclu(?:yó|id[oa])|venció|salió|hech[oa]|resuelt[oa]s?|resolvió|zanjad[oa]s?|arregl(?:ó|ad[oa]s?)|volvió|regresó|sacó|publicó|publicad[oa]s?|lanzó|respondió|contestó|confirm(?:ó|ad[oa]s?))\b",
    r"\b(?:termin|acab|encerr|finaliz|assin|aprov|migr|deslig|pass|cheg)(?:ou|ad[oa]s?|aram)\b|"
    r"\b(?:saiu|conclu(?:iu|íd[oa]s?)|resolvid[oa]s?|resolveu|fechou|fechad[oa]s?|voltou|chegou|lançou|publicou|respondeu|confirmou|confirmad[oa]s?|concordou)\b|"
    # "already" with a verb of the past
    r"\b(?:ya|já)\s+(?:(?:se|nos|lo|la)\s+)?\w+(?:[óó]|aron|ieron|ou|eu|iu|aram|eram)\b|\b\w{3,}ió\s+ya\b|\bè\s+già\s+\w+t[oaie]\b",
    r"\b(?:finit|terminat|chius|conclus|firmat|approvat|scadut|passat|spent|migrat|uscit|arrivat|risolt|sistemat|chiarit|tornat|rientrat|pubblicat|rilasciat|rispost|confermat|validat)[oaie]\b",
    r"\b(?:s?kończy[łl]\w*|zakończ\w+|minę[łl]\w*|zamknię\w+|podpisa\w+|zatwierdz\w+|wyłącz\w+|przeszł\w+|przenie\w+|rozwiązan\w+|załatwion\w+|wyjaśni\w+|wróci\w+|odpowiedzi\w+|wyda[łl]\w*|opublikowa\w+|potwierdzi\w+|"
    r"już\s+po)\b",
    r"\b(?:voorbij|afgelopen|klaar|afgerond|gesloten|ondertekend|getekend|goedgekeurd|uitgezet|verhuisd|"
    r"gemigreerd|opgelost|geregeld|beslecht|terug|uitgebracht|gepubliceerd|bevestigd|geantwoord|akkoord|achter\s+de\s+rug|binnen)\b",
    r"\b(?:за|о)?(?:кончил|вершил|вершен|вершён|кончен)\w*|\b(?:прош[её]?л\w*|подписа\w+|утверд\w+|закры\w+|отключ\w+|"
    r"переех\w+|ист[её]к\w*|позади|готов\w*|реш[её]н\w*|улажен\w*|верну\w+|ответил\w*|выпустил\w*|опубликова\w+|вышл?[аио]?|вышел|подтверд\w+)\b",
    r"\b(?:bitti|tamamlan\w+|sona\s+er\w+|kapandı|kapatıldı|imzala\w+|onayla\w+|taşındı|geçti\w*|geride)\b",
    "结束|完成了|完了|过了|已经?.{0,4}(?:上线|发布|下线|关闭|停用|升级|迁移|批准|签字|通过|完)|解封|解冻|收尾了?|告一段落|签完|到期|解决|了结|谈妥|回来了|确认了|答复了|批了|上线了|发布了|推出了|出来了",
    "終わ(?:り|った|って)|終了|完了|済(?:み|んだ|みました)|締め(?:た|ました)|解除|廃止|停止しま|移行(?:し|済)|承認(?:され|済|が)|下り(?:た|ました)|明け|解決|決着|片付|戻(?:り|った|って)|確認(?:でき|が取れ|され)|公開され|リリースされ",
    "끝[났나냈]|마쳤|마무리|종료|완료|마감됐|마감되|승인(?:됐|되|받|났)|해제|전환(?:됐|했)|폐기|지났|해결|돌아왔|확인(?:됐|되|했)|출시(?:됐|되|했)|공개(?:됐|되|했)",
)
#: what was the reason is so no more
_NO_MORE = _rx(
    r"\b(?:no\s+longer|not\s+\w+\s+any\s?more|any\s?more|stopped)\b|\bnicht\s+mehr\b|\bkeine?n?\b[^.?!]{0,30}\bmehr\b|\bya\s+no\b|"
    r"\b(?:ne|n['’])\s*\w+(?:\s+\w+)?\s+plus\b|\bnon\s+\w+(?:\s+\w+)?\s+più\b|\b(?:já\s+não|não\s+\w+\s+mais)\b|\bjuż\s+nie\b|"
    r"\bniet\s+(?:meer|langer)\b|\bбольше\s+не\b|\bartık\b|不再|没有?.{1,12}了$|もう.{1,20}(?:ない|ません)|더\s*이상",
)
#: what was not so is so now
_NOW = _rx(
    r"\b(?:now|already|by\s+now|finally|jetzt|nun|inzwischen|mittlerweile|schon|ya|ahora|por\s+fin|maintenant|désormais|enfin|ora|adesso|"
    r"ormai|già|agora|já|teraz|już|nu|inmiddels|eindelijk|теперь|уже|artık|şimdi)\b|现在|已经|终于|もう|やっと|今は|이제|드디어"
)
#: where the reason of a rule begins, if no comma does
_BECAUSE = re.compile(
    r"(?i)\b(?:because|since|as|weil|denn|da|porque|ya\s+que|car|parce\s+qu[e'’]|puisqu[e'’]|perché|poiché|pois|bo|ponieważ|"
    r"want|omdat|потому\s+что|так\s+как)\s|因为|由于|ので|ため|から、|때문"
)
#: a thing is no more, so that nobody can use it
_AWAY = _rx(
    r"\b(?:shut\s+down|switched\s+off|turned\s+off|taken\s+down|deprecated|retired|decommissioned|discontinued|wiped|scrapped|obsolete)\b|"
    r"\b(?:abgeschaltet|abgekündigt|eingestellt|abgebaut|abgeschafft|stillgelegt|veraltet)\b|"
    r"\b(?:apag(?:ó|ad[oa]s?|aron)|retirad[oa]s?|obsolet[oa]s?|desconectad[oa]s?)\b|\b(?:arrêtée?s?|retirée?s?|obsolètes?|débranchée?s?)\b|"
    r"\b(?:spent[oaie]|dismess[oaie]|desligad[oa]s?|desativad[oa]s?|wyłączon\w+|wycofan\w+|uitgezet|afgeschaft|отключ\w+|списан\w*)\b|"
    "下线|停用|废弃|拆了|廃止|停止し|撤去|폐기|종료됐"
)
#: not told as a fact of now: asked, denied, hoped, of a time to come
_HEDGED: dict[str, re.Pattern[str]] = {
    "en": _rx(
        r"\b(?:not|isn['’]t|hasn['’]t|haven['’]t|aren['’]t|wasn['’]t|won['’]t|once|when|if|will|until|till|unless|soon|tomorrow|"
        r"almost|nearly|whether|hope\w*|should|would|might|maybe|perhaps|still)\b|\bnext\s+(?:week|month)\b|['’]ll\b"
    ),
    "de": _rx(
        r"\b(?:nicht|kein\w*|wenn|sobald|falls|ob|wird|werden|bis|erst|fast|hoffentlich|vielleicht|bald|solange|"
        r"(?<!heute )(?<!gestern )(?<!am )morgen)\b"
    ),
    "fr": _rx(
        r"\b(?:ne|pas|quand|lorsqu\w*|si|dès|demain|bientôt|presque|peut-être|sera|seront|jusqu\w*|tant)\b|\bn['’]"
    ),
    "es": _rx(
        r"\b(?:no|cuando|si|(?<!esta )(?<!la )mañana|casi|quizás?|pronto|hasta|mientras|aún|todavía|será|falta)\b"
        r"(?!\s+(?:hay\s+que|hace\s+falta))"
    ),
    "pt": _rx(r"\b(?:não|quando|se|amanhã|talvez|ainda|até|quase|será|enquanto)\b"),
    "it": _rx(r"\b(?:non|se|quando|domani|quasi|forse|ancora|finché|sarà|appena)\b"),
    "pl": _rx(r"\b(?:nie|kiedy|gdy|jeśli|jutro|prawie|może|dopóki|jeszcze|będzie)\b"),
    "nl": _rx(r"\b(?:niet|geen|als|zodra|morgen|bijna|misschien|nog|wordt|zolang)\b"),
    "ru": _rx(r"\b(?:не|когда|если|завтра|скоро|почти|пока|ещё|еще|будет)\b"),
    "tr": _rx(r"\b(?:değil|eğer|yarın|henüz|olunca|bitince|bitene|olursa)\b"),
    "zh": _rx("还没|没有?(?=结束|完|过|通过|批|签)|未|如果|等.{0,8}(?:后|再)|之后|以后再|是否|是不是|快要|即将|明天"),
    "ja": _rx("ていない|ていません|ないで|たら|れば|まだ|明日|予定|かもしれ|もうすぐ"),
    "ko": _rx("아직|않|(?:으)?면\\s|내일|예정|곧"),
}
_LITTLE = {"w:end", "w:ende", "w:done", "w:through", "w:fertig", "w:durch", "w:fin", "w:fine", "w:trwa", "w:dure"}
#: what comes again and again ends no rule: "not until the tests are green", "not during the day"
_AGAIN = re.compile(
    r"(?i)\b(?:each|every|tests?|suite|build|checks?|ci|pipeline|green|pass(?:es)?|day|night|hours?|weekends?|jede\w*|grün|tags?|tagsüber|"
    r"nachts|\w*zeiten?|cada|pruebas?|verdes?|día|noche|horas?|horario|chaque|verts?|journée|nuit|heures?|ogni|giorno|ore|"
    r"każd\w+|testy|elke?|dag|testen)\b|每|测试|白天|夜间|テスト|毎|日中|夜間|테스트|매|낮"
)
#: what comes before each step of the work
_FIRST = re.compile(
    r"(?i)\b(?:commit\w*|push\w*|merg\w*|deploy\w*|approv\w*|review\w*|freigabe|zustimmung|aprob\w*|despl\w*|valid\w*|accord)\b|提交|合并|部署|"
    r"コミット|マージ|デプロイ|커밋|병합|배포"
)


@lru_cache(maxsize=4096)
def condition(rule: str) -> dict[str, float]:
    """What the rule says that it waits for, as topics; empty where it says nothing."""
    out: dict[str, float] = {}
    found = [*_LASTS.finditer(rule)]
    if withdrawal.DENIAL.search(rule):
        found += [m for m in _BEFORE.finditer(rule) if not _FIRST.search(m.group())]
    for m in found:
        for told in m.groups():
            if told and not _AGAIN.search(told):
                out |= topics("… " + told)
    return {k: w for k, w in out.items() if k not in _LITTLE}


@lru_cache(maxsize=4096)
def told(text: str) -> str:
    """The clauses of a sentence that tell of something that is over, each with the one before it, where its subject
    may stand ("the board met and approved it"); "" where it tells of nothing.
    """
    facts = _facts(text)
    return " … ".join(" ".join(facts[max(0, i - 1) : i + 1]) for i, c in enumerate(facts) if _OVER.search(c))


@lru_cache(maxsize=4096)
def _facts(text: str) -> list[str]:
    """The clauses of a sentence that tell how things are now."""
    if QUESTION.search(text):
        return []
    return [c for c in clauses(text) if not hedged(c)]


def hedged(text: str) -> bool:
    """True for what is not told as a fact of now: denied, hoped, of a time to come."""
    return bool(_HEDGED.get(words.languages(text)[0], _HEDGED["en"]).search(text))


@lru_cache(maxsize=4096)
def reason(rule: str) -> dict[str, float]:
    """Why the rule is, where it says so, as topics: behind "because", or a clause at its side that is no order."""
    m = _BECAUSE.search(rule)
    if m and m.start() > 3:
        return topics("… " + rule[m.end() :])
    told = [c for c in clauses(rule) if not is_rule(Sentence(c), words.languages(rule)[:1])]
    return topics("… " + " … ".join(told)) if told and len(told) < len(clauses(rule)) else {}


def _no_reason(rule: str, text: str) -> bool:
    """True where ``text`` tells that the reason of ``rule`` is no more."""
    why = reason(rule)
    if not why or QUESTION.search(text):
        return False
    gone = [c for c in clauses(text) if _NO_MORE.search(c)] + [c for c in _facts(text) if _OVER.search(c)]
    if withdrawal.DENIAL.search(rule):  # "there is no room", later "there is room now"
        gone += [c for c in _facts(text) if _NOW.search(c)]
    return bool(gone) and overlap(why, topics("… " + " … ".join(gone))) >= (1.0 if words.WIDE.search(rule) else 2.0)


def _no_thing(rule: str, text: str) -> bool:
    """True where a rule demands the use of what ``text`` tells to be no more."""
    if withdrawal.DENIAL.search(rule):
        return False
    gone = [c for c in _facts(text) if _AWAY.search(c)]
    mine = topics(rule)
    return bool(gone) and overlap(mine, topics("… " + " … ".join(gone))) >= max(2.0, 0.6 * sum(mine.values()))


def ended(rule: str, text: str) -> Literal["surely", "likely", ""]:
    """Whether ``text``, said later, tells that what ``rule`` waits for is over."""
    waits = condition(rule)
    over = told(text) if waits else ""
    if not over:
        return "likely" if _no_reason(rule, text) or _no_thing(rule, text) else ""
    least = 0.5 if words.WIDE.search(rule) else 1.0  # without spaces one pair of characters tells as much
    matter = topics("… " + over)
    shared = overlap(waits, matter)
    if shared >= 2 * least and len(waits.keys() & matter.keys()) > 1:  # one word may be a part of another name
        return "surely"
    return "likely" if shared >= least or _no_reason(rule, text) else ""
