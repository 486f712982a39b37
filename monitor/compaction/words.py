"""Words by which a wish, its withdrawal, a reason, a way given up and a next step are known, in many languages.

Patterns only, no logic; :mod:`wishes` and :mod:`prose` ask them. English, German, Chinese, Japanese, Spanish and French
in some depth; Portuguese, Italian, Russian and Korean by their commonest forms. A pattern of a Latin language is asked
only for sentences of that language (:func:`languages`), as "no" and "solo" mean different things in different ones.
"""

from __future__ import annotations

import re

_I = re.IGNORECASE

#: frequent little words that tell the language of a sentence
_STOP = {
    "en": "the a an and is are to of in it that for on with you this be please not do don't use keep only all from by "
    "no my your our without must never always should can may will have has if when before after or but at as any new "
    "per",
    "de": "der die das und ist nicht ein eine zu den dem mit auf für im bitte noch auch du ich wir es von vor "
    "dann kein "
    "keine keinen immer nie nur bei oder aber jetzt alle bleibt",
    "es": "el la los las de que y en un una no por con para es se lo del al mi tu su todo primero solo pero ya sin ni "
    "nunca siempre nada",
    "fr": "le la les des de et un une ne pas que pour dans est sur avec en du au tu je nous il vous sans ce cette "
    "mais "
    "jamais toujours plus tout doit peut faut ces ses leur",
    "pt": "o os as de e um uma não que para em com por se do da no na mas só sempre nunca você isso todos",
    "it": "il lo gli di e un una non che per in con del della è sono ma solo sempre mai questo tutti i",
    "nl": "de het een en van is dat niet geen te met voor zijn maar wel je als ook bij nog altijd nooit alleen moet "
    "mag worden",
    "pl": "w z na się jest że jak od czy tylko nie oraz ale dla przez przed po bez musi zawsze nigdy tego są być i",
    "tr": "ve bir bu için ile da de mi her zaman ama sadece asla önce sonra olarak gibi var yok tüm yeni değil lütfen",
}
_STOPS = {lang: frozenset(words.split()) for lang, words in _STOP.items()}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
#: letters of the languages that put little or no white space between words
WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")


def languages(text: str) -> tuple[str, ...]:
    """The languages ``text`` may be in, likeliest first; several where little words do not decide."""
    if _KANA.search(text):
        return ("ja",)
    if _HANGUL.search(text):
        return ("ko",)
    if len(_HAN.findall(text)) >= 2:
        return ("zh",)
    if len(_CYRILLIC.findall(text)) >= 3:
        return ("ru",)
    found = [w.lower().replace("’", "'") for w in _WORD.findall(text)]
    scores = {lang: sum(w in stops for w in found) for lang, stops in _STOPS.items()}
    if any(ch in text for ch in "äöüßÄÖÜ"):
        scores["de"] += 2
    if any(ch in text for ch in "ñ¿¡"):
        scores["es"] += 2
    if any(ch in text for ch in "ãõ"):
        scores["pt"] += 2
    if any(ch in text for ch in "ąęłśćńżź"):
        scores["pl"] += 2
    if any(ch in text for ch in "ğışİ"):
        scores["tr"] += 3
    best = max(scores.values())
    if not best:
        return ("en", "de", "es", "fr", "pt", "it", "nl", "pl")
    order = sorted(scores, key=lambda k: -scores[k])
    return tuple(k for k in order if scores[k] >= max(1, best - 1)) or ("en",)


def _rx(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), _I)


#: verbs an English instruction begins with
_DO = (
    "use|keep|write|run|add|make|put|commit|push|work|test|name|call|return|store|log|format|follow|"
    "answer|reply|respond|"
    "document|leave|limit|stay|target|support|update|change|touch|edit|create|deploy|prefer|treat|"
    "respect|remember|stick|"
    "handle|include|exclude|skip|ask|check|show|read|build|install|import|round|send|pin|sort|assume|"
    "target|do|set|take|"
    "fix|implement|solve|refactor|speak|comment|translate|save|track|restrict|preserve|maintain"
)
_START = (
    r"(?:^|[,;:.!(–—]\s*|\s-\s*|\b(?:and|but|also|please|so|then|just|instead|otherwise|important|note|"
    r"remember)[:,]?\s+)"
)

#: a rule for the work to come: what must, must not, may only be done
RULE: dict[str, re.Pattern[str]] = {
    "en": _rx(
        _START + r"(?:(?:please|pls|plz|kindly)\s+)?(?:do\s+not|don['’]?t|never|avoid)\b(?!\s+(?:need|have)\s+to|"
        r"\s+worry|\s+mind)",
        r"(?:^|[,;:.]\s*|\bplease\s+)(?:hold\s+off|wait\s+with|refrain\s+from|stay\s+off|ask\s+(?:me|us)\s+(?:first|before))\b|"
        r"\b(?:answer|reply|respond|write|explain|be)\w*\s+(?:\w+\s+){0,3}(?:brief\w*|short|concise\w*|terse\w*|verbose)\b|"
        r"\b(?:limit|cap|ceiling|maximum|minimum)\s+(?:\w+\s+){0,3}is\s+(?:\w+\s+)?\d|"
        r"^(?:nobody|no\s?one)\s+(?!knows|cares|is\b|has\b|was\b)\w+s\b|"
        r"^only\s+[^.?!]{3,60}\s(?:may|should|must|can)\s+be\b|\bi\s+(?:do\s+)?(?:care|insist)\s+that\b|\bi\s+want\s+(?:every|all|each|any)\s|^only\s+(?!if\b|because\b|the\s+(?:first|last)\b)[A-Z]?\w+\s+(?:touch|edit|change|write|may|is|are|ha)\w*|"
        r"^all\s+[\w-]+(?:\s+[\w-]+)?\s+(?:in|as|via|under)\s+[\w/-]+[.!]?$|"
        r"(?:^|[,;:.]\s*|\bplease\s+)(?:write|make|produce|deliver|export|save|store)\s+[^.?!,]{3,40}\bas\s+[A-Z]{2,}\b|"
        r"\bi\s+(?:do\s+not|don['’]?t)\s+want\b|\bi\s+never\s+want\b|\bi(?:['’]d|\s+would)?\s+prefer\b|"
        r"\bwe\s+(?:refer|prefer|stick|never|always)\b",
        r"^no\s+(?!problem|idea|worries|need|thanks|way|luck|rush|hurry|doubt|clue|one|more|errors?\b|changes?\b|"
        r"result)[\w-]{3,}[.!]?$|"
        r"\bcap(?:ped)?\s+(?:\w+\s+)?(?:at|to)\s+\d|\blimit(?:ed)?\s+(?:\w+\s+)?to\s+\d|"
        r"\bideally\b|\bif\s+(?:at\s+all\s+)?possible\b|\bwhenever\s+possible\b|\bit\s+(?:would|"
        r"['’]d)\s+be\s+(?:good|nice|great|best|better)\s+(?:if|to|not)\b|"
        r"\b(?:could|would)\s+you\s+(?:please\s+)?(?:not|leave|keep|avoid)\b|\bwhatever\s+you\s+do\b|"
        r"\bis\s+what\s+(?:runs|we\s+(?:run|use|have))\b|"
        r"\b(?:counts?|work|runs?)\s+only\b|\bthroughout\b|\bnobody\s+(?:but|except|else)\b",
        r"\b(?:must(?:n['’]t)?|may\s+not(?!\s+(?:work|exist|matter|happen|even|have)\b)(?!\s+be\s+(?:in|at|on|"
        r"the|an?|there|enough|true|possible|necessary|right|so)\b)|(?:should|will|can)\s+never|should\s?n['’]?o?t|shall|cannot\s+be|not\s+allowed|forbidden|prohibited)\b",
        r"\b(?:off[- ]limits|out\s+of\s+scope|nowhere\s+else|"
        r"hands\s+off|under\s+no\s+circumstances|mandatory|at\s+all\s+times|from\s+now\s+on)\b",
        r"(?:^|[,;:.]\s*|\b(?:also|and|but|please|so|hence)\s+)no\s+(?!problem|idea|worries|need|one\b|entiend|"
        r"s[eé]\b|funcion|veo\b|,)[\w-]+\s+[\w-]+",
        r"\bi(?:\s+want|\s+need|\s+would\s+like|['’]d\s+like)\s+(?:\w+\s+){1,3}to\s+(?:keep|stay|remain|use|avoid|"
        r"always|never|only|be)\b",
        r"^(?!it\b|this\b|that\b|there\b|he\b|she\b|they\b|we\b|i\b)[^,.?!]{3,60}\b(?:stays?|remains?)\s+(?!to\b|"
        r"open\b|unclear|the\s+question)\w+",
        r"^(?:all|every|each)\s+[^.?!]{3,60}\b(?:are|is|goes?|ends?)\s+(?:\w+ed\s+|kept\s+|written\s+)?(?:in|on|at|"
        r"to|under|as|via|through|with)\b|"
        r"^(?:prefer|target|indent|steer\s+clear|stay\s+away|hands\s+off|support)\b|\bnobody\s+(?:but|except)\b",
        r"^(?:max(?:imum)?|min(?:imum)?)\.?\s+\d|\b(?:is|are)\s+(?:required|compulsory|a\s+must|not\s+negotiable)\b|"
        r"\bi(?:['’]d|\s+would)\s+rather\s+(?:not|you|we|keep|have|see|use|stay)\b|\b(?:before|after)\s+(?:each|"
        r"every)\s+\w+",
        r"\b(?:whenever|every\s+time|each\s+time)\b|^(?:if|when)\s+[^?]+,\s*(?:please\s+)?(?:then\s+)?(?:stop|ask|"
        r"tell|leave|skip|wait|use|keep)\b",
        r"\bnothing\s+(?:from|to|in|on|outside|else|under|is|goes|may|leaves)\b(?!\s+(?:do|worry))|\bonly[.!]?$",
        r"(?:^|[,;:.(]\s*|\b(?:and|oh|so|but|also|please)\s+)[\w./@-]{2,}\s+only(?=\s*(?:[,;.!)–—]|$|please|pls))|"
        r"\bwill\s+not\s+(?:go\s+(?:over|beyond)|exceed|accept)\b|\bis\s+(?:now\s+)?(?:the|our|my)\s+(?:\w+\s+)?(?:limit|cap|ceiling|maximum)\b|"
        r"\bone\s+\w+\s+at\s+a\s+time\b|\bleave\s+[^.?!]{2,60}\s(?:alone|untouched|intact|as\s+(?:is|it\s+is|they\s+are))\b|"
        r"\b(?:is|are|stays?)\s+frozen\b|\bwhat\s+i\s+don['’]t\s+(?:need|want)\b|\bnot\s+going\s+to\s+change\b|"
        r"\b(?:sacred|sacrosanct|untouchable|non-negotiable)\b|\bdon['’]?t\s+(?:you\s+)?(?:dare|even\s+think)\b|"
        r"\bi\s+(?:\w+\s+)?dislike\s+(?!that\b|this\b|it\b|how\b)\w+",
        r"\bwithout\s+(?:\w+ing\b|my\s|asking|approval|permission)",
        r"\b(?:all|every|each|any)\s+(?:[\w-]+\s+){1,6}(?:needs?|must|should|goes?|gets?|stays?|uses?|ha(?:s|"
        r"ve)\s+to)\b",
        r"\b(?:always|make\s+sure|ensure|at\s+most|at\s+least|no\s+more\s+than|not\s+more\s+than|exactly\s+as)\b",
        r"\b(?:has|have|needs?)\s+to\s+(?:be|stay|remain|work|keep|run)\b(?<!we have to be)",
        r"\bshould\s+(?:always|only|stay|remain|be\s+(?:in|kept|done|written|named|at))\b",
        r"\b(?:stays?|remains?|kept|keep|leave)\s+(?:\S+\s+){0,8}?(?:as\s+(?:it\s+)?is|as\s+they\s+are|"
        r"unchanged|untouched|alone|intact|backwards?)\b",
        _START
        + r"(?:please\s+)?(?:only\s+)?(?:"
        + _DO
        + r")\b[^.?!]*\b(?:(?<!which\s)only|never|not|instead\s+of|rather\s+than|every|each|all)\b",
        _START + r"(?:please\s+)?(?:keep|stick|limit|stay|preserve|maintain|leave|restrict|skip|exclude|refrain)\b",
        _START
        + r"(?:please\s+)?(?:write|answer|reply|respond|speak|comment|document|use|name)\b[^.?!]*\b(?:in|to)\s+(?:"
        r"english|german|french|spanish|chinese|japanese|italian|portuguese|korean|russian|euros?|utc|cents?|"
        r"[A-Z]\w+)\b",
        r"\bonly\s+(?:use|read|write|touch|change|edit|work|run|in|on|via|through|from|by|for|with|after|when|if)\b|"
        r"\bread[- ]only\b",
        r"\b(?:is|are)\s+(?:not\s+to\s+be|to\s+be)\s+\w+ed\b|\bstick\s+(?:to|with)\b|\bno\s+\w+\s+(?:please|"
        r"allowed|in\s+prod\w*)\b",
    ),
    "de": _rx(
        r"\b(?:darf(?:st)?|dürfen|soll(?:st|en|te|ten)?)\b[^?]*\b(?:nicht|kein\w*|nie(?:mals)?|nur|nichts|"
        r"nirgend\w*)\b",
        r"\b(?:nicht|kein\w*|nie(?:mals)?|nichts|nur|nirgend\w*)\b[^?]*\b(?:darf(?:st)?|dürfen|soll(?:st|en|te|"
        r"ten)?)\b",
        r"^kein\w*\s+(?!ahnung|frage|problem|sorge|idee|eile|chance|unterschied)[^.?!]{3,60},\s*(?:bis|solange|außer|ohne)\b|"
        r"\b(?:bitte|weiterhin)\b[^?]*\b(?:weiterhin|bitte)\b|\bniemand\b(?!\s+weiß)|"
        r"\bbitte\b[^?]*\b(?:nichts?|kein\w*|nie|nur|immer|ohne)\b|\b(?:nicht|kein\w*|nur|immer|ohne)\b[^?]*\bbitte\b",
        r"(?<!wir )(?<!ich )\b(?:muss|müssen)\b(?!\s+(?:wir|ich)\b)(?=[^?]*\b(?:sein|bleiben|werden|grün|raus|"
        r"innerhalb|binnen|immer|vor|nach|in)\b)",
        r"\b(?:immer|stets|ausschließlich|unbedingt|keinesfalls|auf\s+keinen\s+fall|niemals|"
        r"unter\s+keinen\s+umständen)\b",
        r"\b(?:verboten|pflicht|tabu|nicht\s+erlaubt|ab\s+(?:jetzt|sofort)|grundsätzlich|höchstens|"
        r"mindestens|maximal)\b",
        r"\b(?:achte\s+darauf|stell\w*\s+sicher|lass\w*\s+.*(?:unverändert|so\s+wie|in\s+ruhe)|unverändert|"
        r"beibehalten)\b",
        r"\bkein(?:e|en|er|es)?\s+[^.?!]*\w+en[.!]?$|\bnicht\s+[^.?!]*\w+en[.!]?$",
        r"(?:^|[,;:.]\s*|\b(?:aber|und|also|dann|bitte)\s+)(?!ich|wir|es|er|sie|das|die|der|dies|hier|"
        r"da)(?:[a-zäöüß]+e?|fass|nimm|gib|lass|mach|lies|"
        r"schreib|änder\w*|lösch\w*|nutz\w*|verwend\w*|benutz\w*|rühr\w*|start\w*|ruf\w*|"
        r"setz\w*)\s[^.?!]*\b(?:nicht|kein\w*|nie|nur|ohne)\b",
        r"^(?:fass|rühr|änder|lösch|nutz|verwend|benutz|start|ruf|setz|nimm|schreib|mach|lass|"
        r"gib)\w*\s[^.?!]*\b(?:nicht|kein\w*|nie|nur|ohne)\b",
        r"\bnur\s+(?:lesend|über|mit|in|auf|nach|wenn|unter)\b|\bohne\s+(?:mein|rücksprache|zu\s|neue)\w*",
        r"^(?!wir\b|ich\b|es\b|das\b|warum\b)\w[^.?!,]*\b(?:gehör(?:t|en)|kommen)\s+(?:\w+\s+){0,2}(?:in|nach|unter|"
        r"auf)\b|\bfinger\s+weg\b|"
        r"^keine?[nrms]?\s+(?!ahnung|frage|problem|sorge|idee|eile|chance|"
        r"unterschied)[\w-]+(?:\s+[\w./-]+){0,8}[.!]?$|^nur\s+\w+\s+\w+|^alle[sr]?\s+[^.?!]*,\s*bitte|"
        r"\bich\s+(?:möchte|will)\s+(?:keine?[nrs]?|nicht)\b|"
        r"\b(?:hätte|würde|wäre)\b[^.?!]*\b(?:gern\w*|lieber|bevorzug\w*|besser|schön)\b|\bbevorzug\w*\b|"
        r"\bwenn\s+möglich\b|\bmöglichst\b|\blieber\b|"
        r"\b(?:heilig|unantastbar|unverhandelbar)\b|\bbloß\s+(?:nicht|kein\w*)\b|\bkommt\s+nicht\s+in\s+(?:frage|die\s+tüte)\b|"
        r"\bfass\w*\s+[^.?!]*\bnicht\s+an\b|\bfass\w+\s+du\s+nicht\b|"
        r"\bim\s+zweifel\b|\bbei\s+(?:unklarheit|zweifel|rückfragen)\w*|\bmindest\w+|\bhöchst(?:wert|grenze|zahl)\w*",
        r"^(?!ich\b|wir\b|heute\b|gestern\b)\w+(?:e|iere)\s+(?:bitte\s+)?jede[nrsm]?\s|"
        r"\b(?:laufen|läuft|kommt|kommen|gehör\w+|gehen)\s+bitte\b|\bfliegt\s+raus\b|^nichts\s+\w+en[.!]?$|"
        r"\bbleib(?:t|en)\b(?!\s+(?:noch|die\s+frage|abzuwarten|nur|rot|hängen|stehen|grün|aus|leer))|"
        r"\bauf\s+(?:deutsch|englisch|französisch)[.!]?$",
        r"\b(?:ist|sind)\s+(?:ab\s+)?(?:jetzt\s+|nun\s+)?(?:die\s+(?:neue\s+)?(?:ober)?grenze|das\s+(?:limit|maximum))\b|"
        r"\b(?:ja|nein)\s*,\s*\w+\s+(?:nein|ja)\b|\bvor\s+(?:jedem|jeder)\b|\bbei\s+jede[mr]\b|\bnach\s+jede[mr]\b|"
        r"\bstatt(?:dessen)?\b|\banstatt\b|"
        r"\bhalte?\s+dich\s+an\b|\berst\s+(?:nach|wenn|sobald)\b[^.?!]*\b(?:mein\w*|ich)\b|\b(?:wird|werden)\s+erst,?\s+(?:wenn|nach|sobald)\b|\b(?:ist|sind)\s+(?:gesetzt|fix|verbindlich)\b",
    ),
    "zh": _rx(
        "不要|不得|不可以?|不许|不准|禁止|严禁|切勿|请勿|勿|(?<!先)别(?![的人名处样])|先(?:别|不要)(?![急慌管说怕])|想都别想|必须|务必|一定要|不能|只能|只[用读改在准可允许]|仅[限用能在]",
        "始终|一律|统一|保持|保留|不超过|不少于|至少|最多|仍然|确保|除非|未经|避免|从现在起|今后|每次.{0,12}[都要先]|不用(?!了)|"
        "一直|(?:所有|一切|每个|任何).{1,20}[都要须]|之前.{0,6}(?:必须|先|要)|优先|不变|最好|尽量|尽可能|宁可|(?:放|写|存)(?:到|在).{1,24}(?:目录|文件夹|下面|下|"
        "里)|要在.{1,24}(?:跑|运行|执行|进行)|用(?:英文|中文|英语|日文|日语|UTC)|等我(?:写|来|确认|批准|决定|同意)|\\d+\\s*\\S{0,3}(?:以内|之内|以下|内(?=[。，]|$))|"
        "上限.{0,6}\\d",
    ),
    "ja": _rx(
        "ないで|しないこと|ないように|禁止|厳禁|必ず|のみ|絶対に?|てはいけ|てはなら|てはダメ|てはだめ|ちゃだめ|いけません|なりません|べき",
        "(?:英語|日本語|中国語|敬語|丁寧語|UTC|円|ドル)で.{0,8}(?:書|記述|記載|返信|回答|答え|表示|統一|お願い)|以外|常に|維持|変更しない|不可|以内|今後は|毎回|優先|"
        "だけ(?:を|に|で)?(?:使|読|変更|実行|編集|書)|全て.{0,20}(?:こと|して|で)|"
        "すべて.{0,20}(?:こと|して|で)|(?:ない|する)こと[。．]?$|なしで|せずに|触らない|変えない|ままに|たままで|望ましい|方が(?:いい|よい|良い)|できるだけ|なるべく|ずに|までに|"
        "を守|もってのほか|触るな|いじらない|ない(?:方針|ように|で)|に(?:保存|保管|配置|記録|統一)して|だけ(?:です|に)|のみに|"
        "(?:最大|最低|最小|上限|下限|間隔|以上|以下)[^。]{0,30}(?:して|に(?:する|して)|とする|まで)",
    ),
    "es": _rx(
        r"\bno\s+(?:(?:me|te|se|lo|la|los|las|le|les|nos)\s+)?(?!es\b|has\b|las\b|los\b|más\b|mas\b|tienes\b|"
        r"puedes\b)\w+(?:es|as)\b",
        r"^no\s+(?:más|menos)\s+de\s+\d|\bno\s+(?:\w+[aei]r(?:l[oa]s?)?|se\s+(?:debe|puede|toca)\w*|quiero|deb\w+|pued[ae]n?)\b",
        r"\b(?:nos\s+quedamos|seguimos)\s+(?:en|con)\b|\b(?:como\s+(?:mucho|poco)|a\s+lo\s+sumo)\b|"
        r"\b(?:límite|tope|máximo|mínimo)\s+(?:de\s+\w+\s+)?es\b|\bnadie\b(?!\s+(?:sabe|se\s+queja))|\b(?:sigue|seguid|continúa)\s+\w+ndo\b|"
        r"\b(?:nunca|jamás|siempre(?!\s+(?:hay|es|está|pasa|falla)\b)|únicamente|exclusivamente|nada\s+de|prohibid\w+|obligatori\w+|asegúrate|"
        r"evita\w*|mant[eé]n\w*)\b",
        r"\bni\s+\w+[aei]r(?:l[oa]s?)?\b|\b(?:debe[ns]?|tienes?\s+que|tienen\s+que|hay\s+que)\b|"
        r"\bsin\s+(?:mi|tu|permiso|\w+[aei]r(?:se|l[oa]s?)?)\b|\bning[uú]n[oa]?\s+[^.?!]{2,60}\b(?:puede|debe)n?\b|"
        r"\btampoco\s+(?:(?:me|te|se|lo|la)\s+)?\w+[aei]s\b|\bni\s+(?:se\s+te\s+ocurra|hablar|en\s+broma)\b|"
        r"\bd[ée]ja\w*\s+(?:[^.?!]{1,40}\s)?(?:quiet[oa]s?|tranquil[oa]s?|en\s+paz|como\s+est[áa]n?)\b|\b(?:sagrad|intocable)\w*|"
        r"^que\s+(?:sean?|queden?|no\s+\w+)\b",
        r"\b(?:solo|sólo)\s+(?:usa|lee|en|con|para|de|si|cuando|lectura|puedes|se)\b|"
        r"\b(?:a\s+partir\s+de\s+ahora|en\s+(?:vez|lugar)\s+de|como\s+máximo|como\s+mínimo|al\s+menos|"
        r"antes\s+de\s+cada|desde\s+ahora)\b",
        r"\b(?:usa|utiliza|emplea)\w*\s+[^.?!]*\bno\s+\w+|\btod[oa]s\s+(?:l[oa]s\s+)?\w+[^.?!]*\b(?:van|llevan|pasan|"
        r"quedan|siguen|deben|tienen)\b|\bavis\w+\b[^.?!]*\bantes\b",
        r"\bse\s+\w+(?:an|en|a|e)\s+(?:siempre\s+)?(?:en|con|por|bajo|como)\b|"
        r"^(?:l[oa]s\s+)?\w+[^.?!,]*\bvan\s+(?:en|con|por|a|bajo)\b|"
        r"\b(?:mínim|máxim)[oa]s?\s+(?:del?|es|será|\d+)|^sin\s+\w+|^tod[oa]s?\s+l[oa]s\s+[^.?!]*\ben\s+\w+|"
        r"^(?:el|la|los|las)\s+\w+\s+no\s+(?:sal|camb|toc|entr|baj|sub)\w+|\bs[oó]lo\s+\w+[.!]?$",
        r"\bprefier\w+\b|\bpreferir[ií]a\b|\ba\s+ser\s+posible\b|\bno\s+(?:me|nos)\s+gusta\w*\b|(?<!\bun\s)\bojo\b|"
        r"\bsin\s+(?:nuev\w+|dependencias)\b|"
        r"\bde\s+solo\s+lectura\b|\btal\s+(?:y\s+)?como\s+est[áa]n?\b|\bescrib\w+\b[^.?!]*\ben\s+(?:inglés|"
        r"español|alemán|francés)\b",
    ),
    "fr": _rx(
        r"\b(?:ne|n['’])(?!\s*y\s+a\b)\s*\w+[^.?!]*\b(?:pas|jamais|plus|rien|aucune?|que)\b|\bne\s+(?:pas|jamais|"
        r"plus)\b",
        r"\b(?:la\s+limite|le\s+maximum|le\s+plafond)\s+(?:\w+\s+){0,3}est\b|^pas\s+(?:plus|moins)\s+de\s+\d|\b(?:plus|moins)\s+de\s+\d+\s+\w+\s+par\s|\bcontinue[rz]?\s+(?:à|de|d['’])|\b(?:limite[rz]?|plafonne[rz]?)\s+(?:\w+\s+){1,4}à\b|"
        r"\b(?:jamais|toujours|uniquement|exclusivement|interdit\w*|obligatoire\w*|désormais|impérativement|"
        r"surtout\s+pas)\b",
        r"\b(?:doi(?:t|s|vent)|il\s+faut|devra|devez)\b|\bsans\s+(?:mon|ma|jamais|\w+(?:er|ir|re))\b|"
        r"\b(?:pas\s+de|aucune?)\s+\w+|\bpas\s+d['’]\w+|\b(?:minimale?|maximale?)\b|\bm(?:ax|in)imum\b|"
        r"\btou(?:te)?s\s+les\s+\w+[^.?!]*\b(?:passent|vont|restent|utilisent)\b|\brien\s+d['’]autre|"
        r"(?<!\bil\s)\breste(?:nt)?\s+(?:à|en|sur)\s+"
        r"(?!faire\b|\w+er\b)",
        r"\b(?:au\s+(?:maximum|minimum|plus|moins)|avant\s+(?:chaque|tout|toute)\b|à\s+partir\s+de\s+maintenant|"
        r"au\s+lieu\s+d)|\b(?:assure-toi|"
        r"assurez-vous|évite[zr]?|garde[zr]?|conserve[zr]?|seulement)\b|\ben\s+lecture\s+seule\b|"
        r"\btel(?:le)?s?\s+quel",
        r"\b(?:est|sont)\s+à\s+(?!peine|faire\b|jour)\w+(?:er|ir|re)\b|\bhors\s+de\s+question\b|\bpas\s+touche\b|\blaisse[rz]?\s+[^.?!]{2,60}\btranquilles?\b|\bintouchable\w*|"
        r"\bpréf[éè]r\w+\b|\bsi\s+possible\b|\bde\s+préférence\b|\blaisse[rz]?\s+[^.?!]*\b(?:comme|tel|intact|"
        r"en\s+l['’]état)\w*|\bil\s+faudra\b|"
        r"\bon\s+ne\s+\w+|\ben\s+(?:anglais|français)\b[^.?!]*(?:s['’]il|svp|stp|uniquement|[.!]?$)|"
        r"\b(?:écri\w+|rédige\w*|répond\w*)\b[^.?!]*\ben\s+(?:anglais|français|allemand|espagnol)\b",
    ),
    "pt": _rx(
        r"\bnão\s+(?:(?:se|me|te|o|a|os|as|nos)\s+)?(?!serve|é\b|está|estou|sei\b|entend|compreend|funciona|vej[oa]\b|"
        r"consig|consegu|tem\b|tenho\b|há\b|"
        r"tinha|foi\b|era\b|deu\b|dá\b|acho\b|lembr|aparec|carreg|encontr|respond|import\w+\s+mais|precisa|vale\b|"
        r"se\b|sou\b|são\b)\w+",
        r"\b(?:ficamos|continuamos)\s+(?:em|n[oa]|com)\b|\bo\s+(?:limite|máximo|mínimo)\s+(?:\w+\s+){0,3}é\b|\bningu[ée]m\b(?!\s+sabe)|\b(?:nunca|sempre|somente|apenas|jamais|proibid\w+|obrigatóri\w+|evite\w*|mant(?:enha|ém)\w*|deixe|"
        r"deve[mr]?|dever[áã]\w*|"
        r"t[eê]m\s+(?:que|de)|precisa[m]?\s+(?!de\b)\w+[aeio]r|prefiro|"
        r"nenhum\w*\b[^.?!]*\b(?:deve|pode)\w*)\b",
        r"\bsem\s+(?:minha|meu|\w+[aei]r|nov[oa]s?)\b|\bs[óo]\s+(?!um|uma|que|isso)\w+|\b(?:a\s+partir\s+de\s+agora|"
        r"no\s+máximo|no\s+mínimo|"
        r"pelo\s+menos|em\s+vez\s+de|antes\s+de\s+cada|até\s+\d|é\s+para\s+\w+[aei]r|pode\s+passar\s+de)\b|"
        r"\bem\s+(?:inglês|português|espanhol)\b[^.?!]*$",
    ),
    "it": _rx(
        r"\bnon\s+(?:(?:si|mi|ti|lo|la|li|le|ci|vi|ne)\s+)?(?!è\b|sono\b|so\b|capisc|funziona|vedo\b|riesc|ho\b|"
        r"hai\b|ha\b|c['’]è|ci\b|era\b|"
        r"trov[oa]\b|ricord|va\b|parte\b|serve\b|vale\b|basta\b|torna\b|sembra|penso|credo|conosc|solo\b|appena\b)\w+",
        r"^(?:massimo|minimo)\s+\d|\brestiamo\s+(?:a|al|alla|su|sul|sulla|con)\b|\bil\s+(?:limite|massimo|minimo)\s+(?:\w+\s+){0,3}è\b|\bcontinua\w*\s+(?:a|con)\b|\b(?:mai|sempre|soltanto|solamente|vietat\w+|obbligatori\w+|evita\w*|mantieni|mantenere|"
        r"lascia\w*\s+(?:com|invariat|stare\b(?!\s+il))|"
        r"dev(?:e|i|ono)|dov\w+|bisogna|va\s+\w+[ts][oa]|vanno\s+\w+[ts][ie]|rest(?:a|ano|i)\s+\w+|preferisc\w+|"
        r"preferirei|niente\s+\w+|nessun\w*)\b",
        r"\bsenza\s+(?:il\s+mio|\w+[aei]re|nuov\w+)\b|\bsolo\s+(?:su|in|con|se|per|lettura|via|tramite|i|le|gli|la|"
        r"il|l['’])\b|"
        r"\b(?:d['’]ora\s+in\s+(?:poi|avanti)|al\s+massimo|al\s+minimo|almeno|invece\s+di|prima\s+di\s+ogni|"
        r"usa\s+\w+)\b|"
        r"\bin\s+(?:inglese|italiano)\b[^.?!]*$",
    ),
    "ru": _rx(
        r"\bне\s+(?!понима|понял|зна[юе]|работа[ею]|виж[уе]|могу\b|можем|помн|был|будет\s+ли|наш[ёел]|получ|ясно|"
        r"увер|так\b|очень|совсем|сложно|хвата|"
        r"запуска(?!ть|й)|действует|нужно\s*$|только\b|просто\b|совпада|сход|открыва|загружа|отвеча|возражаю|важно)\w+",
        r"\b(?:нельзя|никогда|никаких|всегда|обязательно|запрещ\w+|избегай\w*|сохран(?:яй|и|ите|яйте|ять)\b|долж\w+|"
        r"строго|исключительно|"
        r"ни\s+в\s+коем|держи\w*|оставь\w*|соблюда\w+|предпочита\w+|желательно)\b|\bтолько\s+(?!что\b|сейчас)\w+",
        r"\bбез\s+(?!этого|проблем|изменений\b)\w+|\b(?:не\s+более|не\s+менее|максимум|минимум|вместо|отныне|впредь|"
        r"перед\s+кажд\w+|на\s+(?:русском|английском))\b",
        r"(?:^|[:,.]\s*)(?:пиши|указывай|округляй|используй|называй|отвечай|складывай|храни|делай|проверяй|"
        r"запускай)(?:те)?\s",
    ),
    "ko": _rx(
        "마세요|마십시오|마라|말고|말아|말\\s*것|금지|반드시|항상|절대|해야|여야|어야|아야|하지\\s*않|지\\s*않도록|이내|이하|유지|만\\s*(?:사용|써|쓰|허용|수정|읽)|없이|앞으로는|"
        "만\\s*(?:하세요|해\\s*주|합니다)|(?:한국어|영어|UTC|원|한글)로\\s*(?:남겨|남기|적|작성|써|쓰|답|통일|표시)|최대|최소|필수|우선|선호|그대로\\s*(?:두|유지)|안\\s*(?:됩|돼|되)|바랍니다|"
        "(?:에만|까지만|으로만|로만)"
    ),
    "nl": _rx(
        r"\b(?:niet|geen|nooit|niets|nergens)\b(?!\s+(?:duidelijk|zeker|helemaal|erg|goed\s*$))[^?]*$(?<!werkt "
        r"niet\.)",
        r"\bwe\s+blijven\s+(?:op|bij)\b|\bblijf\w*\b[^.?!]*\baf\b|\bniemand\b|\b(?:altijd|alleen|uitsluitend|verplicht|verboden|moet(?:en)?|mag(?![-./\d])|mogen|vermijd\w*|behoud|houd\w*|liever|"
        r"graag|zonder\s+\w+|hoogstens|minstens|"
        r"maximaal|minimaal|vanaf\s+nu|in\s+plaats\s+van|voor\s+elke|zorg\s+(?:ervoor\s+)?dat|laat\s+\w+\s+(?:staan|"
        r"zoals))\b",
        r"\bin\s+(?:het|de)\s+\w+-vorm\b|\bin\s+het\s+(?:engels|nederlands|duits)\b",
    ),
    "pl": _rx(
        r"\bnie\s+(?!wiem|rozumiem|działa|widz|ma\b|mam\b|jest\b|było|pamiętam|mogę|udało|trzeba\s+już|zgadza)\w+",
        r"\bzostajemy\s+(?:przy|na)\b|\bnikt\b|\b(?:nigdy|zawsze|tylko|wyłącznie|musi\w*|muszą|należy|powin\w+|zakaz\w*|unikaj\w*|żadn\w+|bez\s+\w+|"
        r"maksymalnie|najwyżej|najpóźniej|co\s+najmniej|"
        r"od\s+teraz|zamiast|przed\s+każd\w+|zachowaj|trzymaj|wolę|koniecznie)\b|\bpo\s+(?:polsku|angielsku)\b",
    ),
    "tr": _rx(
        r"\b\w{2,}(?:me|ma)(?:yin|yın|yiniz|yınız|meli\w*|malı\w*)?[.!]?$|\b\w+(?:me|ma)(?:yin|yın|meli|malı)\w*\b|"
        r"\b\w+(?:malı|meli)(?:sın|sin|yız|yiz|dır|dir)?\b",
        r"\b(?:asla|her\s+zaman|daima|mutlaka|sadece|yalnızca|zorunlu|yasak|kesinlikle|en\s+(?:az|fazla)|"
        r"bundan\s+sonra|yerine|"
        r"hiç\s?bir|olmadan|kalsın|olsun|(?:türkçe|ingilizce)\s+(?:yaz|olsun|cevap)\w*)\b",
    ),
}

#: a sentence that tells a state of things or the plans of the speaker, and no rule
STATEMENT: dict[str, re.Pattern[str]] = {
    "en": _rx(
        r"^(?:(?:hey|hi|hello|ok(?:ay)?|so|well|btw|hmm+|oh|yeah|yes|great|nice|thanks)\b[,!.]*\s+)*"
        r"(?:it|there|this|that|i|we|they|he|she|the\s+[\w-]+(?:\s+(?!must|should|shall|may|can|will|needs)[\w-]+)?)\s+(?:is|are|was|were|has|have|had|"
        r"does|did|do(?!\s+not\s+want|\s+care)|don['’]t(?!\s+want)|doesn['’]t|shows?|fails?|works?|only|just|need|want(?!\s+(?:every|all|each|any)\s)|think|thought|got|"
        r"see)\b(?!.*\b(?:must|never|should|do\s+not|always|not\s+allowed|off[- ]limits|"
        r"will\s+not|at\s+(?:most|least)|no\s+more\s+than|to\s+(?:keep|stay|remain|use|avoid))\b)|^we\s+(?:must|"
        r"have\s+to|need\s+to)\b|\bi\s+only\s+wanted\b"
    ),
    "de": _rx(
        r"\b(?:das|es)\s+(?:wird|kann|klappt|geht)\s+(?:\w+\s+){0,3}nie\b|"
        r"^(?:(?:hm+|ah|oh|ok(?:ay)?|ja|nein|stimmt|gut|prima|ach(?:\s+so)?|na\s+ja|tja|naja|danke|moin)\b[,.!]*\s+)*(?:wir\s+(?:müssen|wollen|sollten|haben|brauchen)|ich\s+(?:habe|will(?!\s+kein)|möchte(?!\s+kein)|"
        r"verstehe|weiß|kann|glaube|denke|sehe|war|"
        r"bin)|es\s+(?:ist|gibt|war|geht|bleibt)|das\s+(?:ist|war|geht|wird|klappt|reicht)|nein)\b(?!.*\b(?:darf|dürfen|niemals|"
        r"bitte\s+nicht|nie\b))"
    ),
    "zh": _rx("^(?:我们?要|我想|现在(?:是|有)|目前|看起来)(?!.*(?:不要|必须|禁止|不得|务必))"),
    "es": _rx(
        r"^(?:tenemos|hay|es|está|no\s+(?:entiendo|s[eé]|veo|funcion\w+|conozco|recuerdo|pasa)\b|"
        r"necesito|quiero\s+que|te\s+doy)\b(?!.*\b(?:nunca|siempre|nada\s+de|prohibid))"
    ),
    "fr": _rx(
        r"^(?:le|la|les|l['’]|ce|cette|mon|ton|son)\s*[^.?!,;]{1,40}\b(?:est|était|sont|étaient)\s+en\s+\w+[.!]?$|"
        r"^(?:il\s+faut\s+(?:trouver|comprendre|corriger|regarder|voir|réparer|chercher)\b|nous\s+(?:avons|devons)|"
        r"on\s+(?:doit|veut|va|a)\b|il\s+y\s+a|c['’]est|[çc]a\s+n|cela\s+n|"
        r"je\s+ne\s+(?:comprends|sais|vois|trouve|connais)|je\s+(?:veux|voudrais|pense))\b(?!.*\b(?:jamais|"
        r"toujours|interdit|ne\s+pas))"
    ),
    "pt": _rx(
        r"^(?:temos|há|é|está|isso|isto|eu\s+(?:acho|quero|preciso)|preciso|quero|queremos)\b(?!.*\b(?:nunca|sempre|"
        r"proibid|não\s+(?:pode|deve)))(?!\s+para\s+\w+[aei]r)"
    ),
    "it": _rx(
        r"^(?:abbiamo|c['’]è|ci\s+sono|è|ho|credo|penso|vorrei|voglio|dobbiamo|devi\s+(?!sempre|mai|"
        r"solo))\b(?!.*\b(?:mai|sempre|vietat|non\s+(?:deve|si|va)))"
    ),
    "ru": _rx(
        r"^(?:у\s+нас|это|я\s+(?:думаю|хочу|вижу)|мы\s+(?:хотим|видим)|нужно|надо|есть|кажется|"
        r"похоже)\b(?!.*(?:нельзя|никогда|всегда|запрещ|не\s+трогай))"
    ),
    "nl": _rx(
        r"^(?:we\s+(?:hebben|moeten)|er\s+(?:is|zijn)|het\s+(?:is|werkt)|ik\s+(?:denk|begrijp|zie|weet|heb|"
        r"schrijf|mag)|dat\s+(?:is|klopt|doen|gaat|wordt|werkt|lukt))\b(?!.*\b(?:nooit|altijd|verboden))|"
        r"\b(?:halen|doen|weten|zien|hebben|redden)\s+(?:we|wij|ik)\s+(?:\w+\s+)?niet\b"
    ),
    "pl": _rx(
        r"^(?:mamy|jest|są|to\s+(?:jest|nie)|myślę|widzę|chcę|chcemy|zgadza\s+się)\b(?!.*\b(?:nigdy|zawsze|"
        "zakaz))"
    ),
    "ja": _rx("(?:です|ます|ました|でした)か[。？?]?$|^(?:現在|今は)(?!.*(?:必ず|禁止|ないで))"),
}
