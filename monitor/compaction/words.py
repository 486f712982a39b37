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
    "no my your our without must never always should can may will have has if when before after or but at as any new",
    "de": "der die das und ist nicht ein eine zu den dem mit auf für im bitte noch auch du ich wir es von vor "
    "dann kein "
    "keine keinen immer nie nur bei oder aber jetzt alle bleibt",
    "es": "el la los las de que y en un una no por con para es se lo del al mi tu su todo primero solo pero ya sin ni "
    "nunca siempre nada",
    "fr": "le la les des de et un une ne pas que pour dans est sur avec en du au tu je nous il vous sans ce cette mais "
    "jamais toujours plus tout",
    "pt": "o os as de e um uma não que para em com por se do da no na mas só sempre nunca você isso todos",
    "it": "il lo gli di e un una non che per in con del della è sono ma solo sempre mai questo tutti i",
}
_STOPS = {lang: frozenset(words.split()) for lang, words in _STOP.items()}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
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
    best = max(scores.values())
    if not best:
        return ("en", "de", "es", "fr")
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
    "speak|comment|translate|save|track|restrict|preserve|maintain"
)
_START = (
    r"(?:^|[,;:.!(–—-]\s*|\b(?:and|but|also|please|so|then|just|instead|otherwise|important|note|remember)[:,]?\s+)"
)

#: a rule for the work to come: what must, must not, may only be done
RULE: dict[str, re.Pattern[str]] = {
    "en": _rx(
        _START + r"(?:(?:please|pls|plz|kindly)\s+)?(?:do\s+not|don['’]?t|never|avoid)\b(?!\s+(?:need|have)\s+to|"
        r"\s+worry|\s+mind)",
        r"\bi\s+(?:do\s+not|don['’]?t)\s+want\b|\bi\s+never\s+want\b",
        r"\b(?:must(?:n['’]t)?|may\s+not|should\s?n['’]?o?t|shall|cannot\s+be|not\s+allowed|forbidden|prohibited)\b",
        r"\b(?:off[- ]limits|out\s+of\s+scope|nowhere\s+else|"
        r"hands\s+off|under\s+no\s+circumstances|mandatory|at\s+all\s+times|from\s+now\s+on)\b",
        r"(?:^|[,;:.]\s*|\b(?:also|and|but|please)\s+)no\s+(?!problem|idea|worries|need|one\b|entiend|s[eé]\b|funcion|veo\b|,)[\w-]+\s+[\w-]+",
        r"\bi(?:\s+want|\s+need|\s+would\s+like|['’]d\s+like)\s+(?:\w+\s+){1,3}to\s+(?:keep|stay|remain|use|avoid|always|never|only|be)\b",
        r"^(?!it\b|this\b|that\b|there\b|he\b|she\b|they\b|we\b|i\b)[^,.?!]{3,60}\b(?:stays?|remains?)\s+(?!to\b|open\b|unclear|the\s+question)\w+",
        r"^(?:all|every|each)\s+[^.?!]{3,60}\b(?:are|is|goes?|ends?)\s+(?:\w+ed\s+|kept\s+|written\s+)?(?:in|on|at|to|under|as|via|through|with)\b|"
        r"^(?:prefer|target|indent|steer\s+clear|stay\s+away|hands\s+off|support)\b|\bnobody\s+(?:but|except)\b",
        r"^(?:max(?:imum)?|min(?:imum)?)\.?\s+\d|\b(?:is|are)\s+(?:required|compulsory|a\s+must|not\s+negotiable)\b|"
        r"\bi(?:['’]d|\s+would)\s+rather\s+(?:not|you|we|keep)\b|\b(?:before|after)\s+(?:each|every)\s+\w+",
        r"\b(?:whenever|every\s+time|each\s+time)\b|^(?:if|when)\s+[^?]+,\s*(?:please\s+)?(?:then\s+)?(?:stop|ask|tell|leave|skip|wait|use|keep)\b",
        r"\bnothing\s+(?:from|to|in|on|outside|else|under|is|goes|may|leaves)\b(?!\s+(?:do|worry))|\bonly[.!]?$",
        r"\bwithout\s+(?:\w+ing\b|my\s|asking|approval|permission)",
        r"\b(?:all|every|each|any)\s+(?:[\w-]+\s+){1,4}(?:needs?|must|should|goes?|gets?|stays?|uses?|ha(?:s|"
        r"ve)\s+to)\b",
        r"\b(?:always|make\s+sure|ensure|at\s+most|at\s+least|no\s+more\s+than|not\s+more\s+than|exactly\s+as)\b",
        r"\b(?:has|have|needs?)\s+to\s+(?:be|stay|remain|work|keep|run)\b(?<!we have to be)",
        r"\bshould\s+(?:always|only|stay|remain|be\s+(?:in|kept|done|written|named|at))\b",
        r"\b(?:stays?|remains?|kept|keep|leave)\s+(?:\S+\s+){0,8}?(?:as\s+(?:it\s+)?is|as\s+they\s+are|"
        r"unchanged|untouched|alone|intact|backwards?)\b",
        _START
        + r"(?:please\s+)?(?:only\s+)?(?:"
        + _DO
        + r")\b[^.?!]*\b(?:only|never|not|instead\s+of|rather\s+than|every|each|all)\b",
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
        r"\b(?:darf(?:st)?|dürfen|soll(?:st|en|te|ten)?)\b[^?]*\b(?:nicht|kein\w*|nie(?:mals)?|nur|nichts|nirgend\w*)\b",
        r"\b(?:nicht|kein\w*|nie(?:mals)?|nichts|nur|nirgend\w*)\b[^?]*\b(?:darf(?:st)?|dürfen|soll(?:st|en|te|ten)?)\b",
        r"\bbitte\b[^?]*\b(?:nicht|kein\w*|nie|nur|immer|ohne)\b|\b(?:nicht|kein\w*|nur|immer|ohne)\b[^?]*\bbitte\b",
        r"(?<!wir )(?<!ich )\b(?:muss|müssen)\b(?!\s+(?:wir|ich)\b)(?=[^?]*\b(?:sein|bleiben|werden|grün|"
        r"immer|vor|nach|in)\b)",
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
        r"^(?!wir\b|ich\b|es\b|das\b|warum\b)\w[^.?!,]*\b(?:gehör(?:t|en)|kommen)\s+(?:\w+\s+){0,2}(?:in|nach|unter|auf)\b|\bfinger\s+weg\b|"
        r"^keine?\s+(?!ahnung|frage|problem|sorge|idee|eile|chance)[\w-]+(?:\s+[\w-]+){0,3}[.!]?$|^nur\s+\w+\s+\w+|^alle[sr]?\s+[^.?!]*,\s*bitte|"
        r"\bich\s+(?:möchte|will)\s+(?:keine?[nrs]?|nicht)\b|"
        r"\bim\s+zweifel\b|\bbei\s+(?:unklarheit|zweifel|rückfragen)\w*|\bmindest\w+|\bhöchst(?:wert|grenze|zahl)\w*",
        r"\b(?:laufen|läuft|kommt|kommen|gehör\w+|gehen)\s+bitte\b|\bfliegt\s+raus\b|^nichts\s+\w+en[.!]?$|"
        r"\bbleib(?:t|en)\b(?!\s+(?:noch|die\s+frage|abzuwarten|nur|rot|hängen|stehen|grün|aus|leer))|\bauf\s+(?:deutsch|englisch|französisch)[.!]?$",
        r"\b(?:ja|nein)\s*,\s*\w+\s+(?:nein|ja)\b|\bvor\s+(?:jedem|jeder)\b|\bbei\s+jede[mr]\b|\bnach\s+jede[mr]\b|\bstatt(?:dessen)?\b|\banstatt\b|"
        r"\bhalte?\s+dich\s+an\b",
    ),
    "zh": _rx(
        "不要|不得|不可以?|不许|不准|禁止|严禁|切勿|请勿|勿|别(?![的人名处样])|必须|务必|一定要|不能|只能|只[用读改在准可允许]|仅[限用能在]",
        "始终|一律|统一|保持|保留|不超过|不少于|至少|最多|仍然|确保|除非|未经|避免|从现在起|今后|每次.{0,12}[都要先]|不用(?!了)|"
        "一直|(?:所有|一切|每个|任何).{1,20}[都要须]|之前.{0,6}(?:必须|先|要)|优先|不变|要在.{1,24}(?:跑|运行|执行|进行)|用(?:英文|中文|英语|日文|日语|UTC)|等我(?:写|来|确认|批准|决定|同意)|\\d+\\s*\\S{0,3}(?:以内|之内|以下)|上限.{0,6}\\d",
    ),
    "ja": _rx(
        "ないで|しないこと|ないように|禁止|厳禁|必ず|のみ|絶対に?|てはいけ|てはなら|てはダメ|てはだめ|ちゃだめ|いけません|なりません|べき",
        "(?:英語|日本語|中国語|敬語|丁寧語|UTC|円|ドル)で.{0,8}(?:書|記述|記載|返信|回答|答え|表示|統一|お願い)|以外|常に|維持|変更しない|不可|以内|今後は|毎回|優先|"
        "だけ(?:を|に|で)?(?:使|読|変更|実行|編集|書)|全て.{0,20}(?:こと|して|で)|"
        "すべて.{0,20}(?:こと|して|で)|(?:ない|する)こと[。．]?$|なしで|せずに|触らない|変えない|ずに|までに|を守|ない(?:方針|ように|で)|に(?:保存|保管|配置|記録|統一)して|だけ(?:です|にして|に限)|"
        "(?:最大|最低|最小|上限|下限|間隔|以上|以下)[^。]{0,30}(?:して|に(?:する|して)|とする|まで)",
    ),
    "es": _rx(
        r"\bno\s+(?:(?:me|te|se|lo|la|los|las|le|les|nos)\s+)?(?!es\b|has\b|las\b|los\b|más\b|mas\b|tienes\b|"
        r"puedes\b)\w+(?:es|as)\b",
        r"\bno\s+(?:\w+[aei]r(?:l[oa]s?)?|se\s+(?:debe|puede|toca)\w*|quiero|deb\w+|pued[ae]n?)\b",
        r"\b(?:nunca|jamás|siempre|únicamente|exclusivamente|nada\s+de|prohibid\w+|obligatori\w+|asegúrate|"
        r"evita\w*|mant[eé]n\w*)\b",
        r"\bni\s+\w+[aei]r(?:l[oa]s?)?\b|\b(?:debe[ns]?|tienes?\s+que|tienen\s+que|hay\s+que)\b|"
        r"\bsin\s+(?:mi|tu|permiso|\w+[aei]r)\b",
        r"\b(?:solo|sólo)\s+(?:usa|lee|en|con|para|de|si|cuando|lectura|puedes|se)\b|"
        r"\b(?:a\s+partir\s+de\s+ahora|en\s+(?:vez|lugar)\s+de|como\s+máximo|como\s+mínimo|al\s+menos|"
        r"antes\s+de\s+cada|desde\s+ahora)\b",
        r"\b(?:usa|utiliza|emplea)\w*\s+[^.?!]*\bno\s+\w+|\btod[oa]s\s+(?:l[oa]s\s+)?\w+[^.?!]*\b(?:van|llevan|pasan|"
        r"quedan|siguen|deben|tienen)\b|\bavis\w+\b[^.?!]*\bantes\b",
        r"\bse\s+\w+(?:an|en|a|e)\s+(?:siempre\s+)?(?:en|con|por|bajo|como)\b|^(?:l[oa]s\s+)?\w+[^.?!,]*\bvan\s+(?:en|con|por|a|bajo)\b|"
        r"\b(?:mínim|máxim)[oa]s?\s+(?:del?|es|será|\d+)|^sin\s+\w+|^tod[oa]s?\s+l[oa]s\s+[^.?!]*\ben\s+\w+|"
        r"^(?:el|la|los|las)\s+\w+\s+no\s+(?:sal|camb|toc|entr|baj|sub)\w+|\bs[oó]lo\s+\w+[.!]?$",
        r"\bde\s+solo\s+lectura\b|\btal\s+(?:y\s+)?como\s+est[áa]n?\b|\bescrib\w+\b[^.?!]*\ben\s+(?:inglés|"
        r"español|alemán|francés)\b",
    ),
    "fr": _rx(
        r"\b(?:ne|n['’])\s*\w+[^.?!]*\b(?:pas|jamais|plus|rien|aucune?|que)\b|\bne\s+(?:pas|jamais|plus)\b",
        r"\b(?:jamais|toujours|uniquement|exclusivement|interdit\w*|obligatoire\w*|désormais|impérativement|"
        r"surtout\s+pas)\b",
        r"\b(?:doi(?:t|s|vent)|il\s+faut|devra|devez)\b|\bsans\s+(?:mon|ma|jamais|\w+(?:er|ir|re))\b|"
        r"\b(?:pas\s+de|aucune?)\s+\w+|\bpas\s+d['’]\w+|\b(?:minimale?|maximale?)\b|\bm(?:ax|in)imum\b|\btou(?:te)?s\s+les\s+\w+[^.?!]*\b(?:passent|vont|restent|utilisent)\b|\brien\s+d['’]autre|(?<!\bil\s)\breste(?:nt)?\s+(?:à|en|sur)\s+"
        r"(?!faire\b|\w+er\b)",
        r"\b(?:au\s+(?:maximum|minimum|plus|moins)|avant\s+chaque|à\s+partir\s+de\s+maintenant|"
        r"au\s+lieu\s+d)|\b(?:assure-toi|"
        r"assurez-vous|évite[zr]?|garde[zr]?|conserve[zr]?|seulement)\b|\ben\s+lecture\s+seule\b|\btel(?:le)?s?\s+quel",
        r"\b(?:écri\w+|rédige\w*|répond\w*)\b[^.?!]*\ben\s+(?:anglais|français|allemand|espagnol)\b",
    ),
    "pt": _rx(
        r"\bnão\s+\w+|\b(?:nunca|sempre|somente|apenas|jamais|proibid\w+|obrigatóri\w+|evite|mantenha|"
        r"deve[mr]?|tem\s+que)\b",
        r"\bsem\s+(?:minha|meu|\w+[aei]r)\b|\bsó\s+\w+|\b(?:a\s+partir\s+de\s+agora|no\s+máximo|no\s+mínimo|"
        r"em\s+vez\s+de|antes\s+de\s+cada)\b",
    ),
    "it": _rx(
        r"\bnon\s+\w+|\b(?:mai|sempre|soltanto|solamente|vietat\w+|obbligatori\w+|evita\w*|mantieni|"
        r"dev[eo]\w*|bisogna)\b",
        r"\bsenza\s+(?:il\s+mio|\w+[aei]re)\b|\bsolo\s+\w+|\b(?:d['’]ora\s+in\s+poi|al\s+massimo|almeno|"
        r"invece\s+di|prima\s+di\s+ogni)\b",
    ),
    "ru": _rx(
        r"\bне\s+\w+|\b(?:нельзя|никогда|всегда|только|обязательно|запрещ\w+|избегай\w*|сохран\w+|долж\w+|"
        r"ни\s+в\s+коем)\b",
        r"\bбез\s+\w+|\b(?:не\s+более|не\s+менее|вместо|отныне|впредь|перед\s+кажд\w+)\b",
    ),
    "ko": _rx("마세요|마라|말고|말아|금지|반드시|항상|절대|해야|하지\\s*않|이내|유지|만\\s*(?:사용|써)|없이|앞으로는"),
}

#: a sentence that tells a state of things or the plans of the speaker, and no rule
STATEMENT: dict[str, re.Pattern[str]] = {
    "en": _rx(
        r"^(?:it|there|this|that|i|we|they|he|she|the\s+\w+(?:\s+\w+)?)\s+(?:is|are|was|were|has|have|had|"
        r"does|did|do|don['’]t|doesn['’]t|shows?|fails?|works?|only|just|need|want|think|thought|got|"
        r"see)\b(?!.*\b(?:must|never|should|do\s+not|always|not\s+allowed|off[- ]limits|"
        r"to\s+(?:keep|stay|remain|use|avoid))\b)|^we\s+(?:must|"
        r"have\s+to|need\s+to)\b|\bi\s+only\s+wanted\b"
    ),
    "de": _rx(
        r"^(?:wir\s+(?:müssen|wollen|sollten|haben|brauchen)|ich\s+(?:habe|will(?!\s+kein)|möchte(?!\s+kein)|verstehe|weiß|kann|glaube|denke|sehe|war|"
        r"bin)|es\s+(?:ist|gibt|war|geht|bleibt)|das\s+(?:ist|war|geht)|nein)\b(?!.*\b(?:darf|dürfen|niemals|"
        r"bitte\s+nicht|nie\b))"
    ),
    "zh": _rx("^(?:我们?要|我想|现在(?:是|有)|目前|看起来)(?!.*(?:不要|必须|禁止|不得|务必))"),
    "es": _rx(
        r"^(?:tenemos|hay|es|está|no\s+(?:entiendo|s[eé]|veo|funcion\w+|conozco|recuerdo|pasa)\b|"
        r"necesito|quiero\s+que|te\s+doy)\b(?!.*\b(?:nunca|siempre|nada\s+de|prohibid))"
    ),
    "fr": _rx(
        r"^(?:nous\s+(?:avons|devons)|il\s+y\s+a|c['’]est|[çc]a\s+n|cela\s+n|"
        r"je\s+ne\s+(?:comprends|sais|vois|trouve|connais)|je\s+(?:veux|voudrais|pense))\b(?!.*\b(?:jamais|"
        r"toujours|interdit|ne\s+pas))"
    ),
    "ja": _rx("(?:です|ます|ました|でした)か[。？?]?$|^(?:現在|今は)(?!.*(?:必ず|禁止|ないで))"),
}

#: the user takes a rule back or permits what it forbade: "strong" names the rule, "permit" allows the thing
LIFT_STRONG = _rx(
    r"\b(?:scrap|drop|scratch|lose|forget|skip)\b[^.?!]{0,60}\b(?:thing|stuff|bit|idea)\b|\b(?:forget|scratch|scrap|drop|ignore|disregard|cancel|revoke|withdraw|lift(?:ed|ing)?|retract|undo|"
    r"void)\b[^.?!]{0,60}\b(?:rule|ban|limit|constraint|restriction|requirement|what\s+i\s+said|earlier|"
    r"previous|instruction|about)",
    r"(?<!don't\s)(?<!don’t\s)(?<!not\s)(?<!never\s)(?<!\bi\s)\bforget\s+(?!to\b|that\s+(?:you|we|i|the)\b|how\b)\w+",
    r"\b(?:no\s+longer|not|doesn['’]t|don['’]t)\s+(?:\w+\s+){0,3}(?:appl(?:y|ies)|hold|needed|necessary|"
    r"required|have\s+to|need\s+to)\b|\bnever\s?mind\s+(?:the|about|what)|\bi\s+changed\s+my\s+mind\b|"
    r"\bthat\s+rule\s+is\s+(?:gone|off|lifted)|\b(?:is|are)\s+(?:now\s+)?(?:obsolete|moot|void|off\s+the\s+table)\b|\b(?:rule|limit|cap|ban|freeze|restriction|constraint)\b[^.?!]{0,40}\b(?:lifted|gone|off|no\s+longer|"
    r"cancel\w*|over)",
    r"\b(?:vergiss|vergesst|streich\w*|verwirf|ignorier\w*)\b[^.?!]{0,60}\b(?:regel|vorgabe|verbot|"
    r"einschränkung|was\s+ich|anweisung|bedingung|mit\s+de[mnr])|\b(?:kannst|könnt|darfst)\s+(?:du|ihr)\s+"
    r"(?:\w+\s+){0,2}(?:vergessen|streichen|ignorieren|weglassen)\b|\bhat\s+sich\s+erledigt\b|\bf[aä]ll(?:t|en)\s+weg\b|"
    r"\bist\s+vom\s+tisch\b|\b(?:gilt|"
    r"gelten)\s+(?:\w+\s+){0,3}nicht\s+mehr\b|\b(?:aufgehoben|hinfällig|zurückgenommen|entfällt|"
    r"obsolet)\b|\b(?:heb\w*|nehm\w*|nimm\w*)\b[^.?!]{0,40}\b(?:auf|zurück)\b[^.?!]{0,3}$|"
    r"\bnicht\s+mehr\s+nötig\b|\bbrauchst?\s+(?:\w+\s+){0,4}nicht\s+mehr\b|\bmuss\s+(?:\w+\s+){0,"
    r"4}nicht\s+mehr\b",
    "(?:忘掉|忘了|忘记|忽略|取消|撤销|撤回|收回|作废|解除|废除).{0,24}(?:规则|规定|要求|限制|约束|之前|刚才|前面|那条|说的)|(?:规则|规定|要求|限制|约束|"
    "那条|这一?条).{0,16}(?:不管|算了|取消|撤销|撤回|作废|不再|解除|废除|不用)|不再(?:适用|需要|要求)|不用再|可以不管|不(?:用|必)管.{0,6}了",
    "(?:忘れて(?!は|し)|取り消|撤回|解除|無効|なしに|不要に|やめ).{0,20}|(?:ルール|制約|制限|条件|指示|件).{0,16}(?:取り消|撤回|解除|無効|忘れ|不要|なし)|"
    "もう(?:不要|必要(?:ない|ありません)|守らなくて)|必要はなくな|しなくて(?:も)?(?:いい|よい|構い|大丈夫)",
    r"(?<!\bno\s)\bolv[ií]da\w*\s+(?!que\b|de\s+que\b)\w+|"
    r"\blo\s+de\b[^.?!]*(?<!\bno\s)\bolv[ií]d\w+",
    r"\b(?:olvida\w*|ignora|cancela|anula|retir[oa]|elimin[ao]|deja\s+sin\s+efecto)\b[^.?!]{0,"
    r"60}\b(?:regla|norma|restricci[oó]n|condici[oó]n|lo\s+de|lo\s+que|límite|prohibici[oó]n|"
    r"instrucci[oó]n)|\bya\s+no\s+(?:\w+\s+){0,3}(?:aplica|vale|hace\s+falta|es\s+necesari[oa]|hay\s+que|"
    r"tienes\s+que)|\bqueda\s+(?:anulad|cancelad|sin\s+efecto)",
    r"(?<!n['’])\boublie[zr]?\s+(?!pas\b|que\b)\w+",
    r"\b(?:oublie\w*|annule\w*|ignore\w*|lève\w*|retire\w*|abandonne\w*)\b[^.?!]{0,60}\b(?:règle|"
    r"consigne|contrainte|interdiction|limite|ce\s+que\s+j|restriction)|\bn['’](?:est|"
    r"a)\s+plus\s+(?:\w+\s+){0,2}(?:valable|nécessaire|besoin|lieu)|\bne\s+s['’]applique(?:nt)?\s+plus",
    r"\b(?:esqueç\w+|esquece|cancele|anule|ignore)\b[^.?!]{0,60}\b(?:regra|restrição|condição|limite|"
    r"o\s+que)|\bnão\s+(?:vale|precisa|é\s+necessário)\s+mais|\b(?:dimentica|annulla|ignora)\b[^.?!]{0,"
    r"60}\b(?:regola|vincolo|limite)|\bnon\s+vale\s+più",
    r"(?:забудь|отмени\w*|снима\w+)[^.?!]{0,60}(?:правил|огранич|запрет|услов|требован)|"
    r"больше\s+не\s+(?:действует|нужно|надо)|(?:규칙|제한|조건).{0,20}(?:취소|해제|무시|잊)",
)
LIFT_PERMIT = _rx(
    r"\byou\s+(?:may|can|are\s+(?:free|allowed)\s+to)\s+(?:now\s+)?(?:also\s+)?\w+|\b(?:is|are|"
    r"it['’]s)\s+(?:now\s+)?(?:fine|ok|okay|allowed|permitted|alright)\b|\bfeel\s+free\b|\bnow\s+(?:ok|"
    r"okay|fine|allowed)|\bafter\s+all\b|\bgo\s+ahead\s+and\b|\bit\s+is\s+ok\s+to\b|\bi\s+(?:allow|"
    r"permit)\b",
    r"\b(?:darfst|dürft|kannst|könnt|darf|kann|dürfen)\b[^.?!]{0,60}\b(?:jetzt|nun|doch|ab\s+sofort|"
    r"inzwischen|auch|wieder)\b|\b(?:jetzt|nun|doch|inzwischen)\b[^.?!]{0,60}\b(?:darfst|dürft|kannst|"
    r"könnt|darf|dürfen|erlaubt|freigegeben|okay|in\s+ordnung)\b|\bist\s+(?:jetzt|nun|doch|"
    r"inzwischen)\s+(?:erlaubt|freigegeben|ok|okay|in\s+ordnung)",
    "(?:现在|已经|另外|那就|之后).{0,16}(?:可以|能|允许)|可以.{0,20}了|(?:允许|准许|同意)(?:你|使用|修改|删除)|也可以|可以(?:使用|用|改|删|修改|删除|动)",
    "(?:ても|でも)(?:いい|よい|良い|構い|かまい|大丈夫|OK)|(?:して|使って|変更して|削除して|編集して|触って)(?:も)?(?:よい|いい|良い|構わ|構い|かまい|大丈夫)|"
    "許可し|できるように(?:なり|し)|で(?:構いません|かまいません|大丈夫です|いいです|OK)",
    r"\b(?:ya|ahora|también)\s+(?:sí\s+)?(?:puedes|podéis|pueden|se\s+puede)\b|\bpuedes\b[^.?!]{0,"
    r"40}\b(?:ya|ahora|también)\b|\bte\s+(?:doy\s+permiso|permito|autorizo)\b|\best[áa]\s+permitid|"
    r"\bpuedes\s+\w+[aei]r",
    r"\b(?:tu\s+peux|vous\s+pouvez|on\s+peut)\b[^.?!]{0,40}\b(?:maintenant|finalement|désormais|"
    r"aussi)?\b|\best\s+(?:maintenant|désormais)\s+(?:permis|autoris|possible)|\bfinalement\b",
    r"\b(?:agora|já)\s+(?:pode|podem)\b|\b(?:ora|adesso)\s+(?:puoi|potete|si\s+può)\b|(?:теперь|"
    r"уже)\s+(?:можно|можешь|можете)|이제.{0,20}(?:해도|써도|돼|된다|됩니다)",
)
#: the newer wish stands in the place of an older one on the same matter
LIFT_REPLACE = _rx(
    r"\bfrom\s+now\s+on\b|\binstead\b(?!\s+of\s+(?:a\b|the\b)?\s*\w+ing)|\bactually\b|"
    r"\bon\s+second\s+thought|\bchange\s+of\s+plan|\bswitch\s+(?:\w+\s+){0,3}to\b|\brather\b",
    r"\bab\s+(?:jetzt|sofort)\b|\bstattdessen\b|\bdoch\s+(?:lieber|besser)\b|\bnun\s+doch\b|"
    r"\bjetzt\s+doch\b|\bänderung\b|\bnicht\s+mehr\b|\bumgestellt\b",
    "改为|改成|换成|从现在起|今后|以后(?:都)?|还是(?:用|改)|改用|改主意",
    "今後は|これからは|代わりに|やっぱり|やはり|に変更|に変えて|に切り替え",
    r"\ba\s+partir\s+de\s+ahora\b|\ben\s+(?:vez|lugar)\s+de\b|\bmejor\b|\bdesde\s+ahora\b|\bcambio\s+de\s+planes?\b",
    r"\bà\s+partir\s+de\s+maintenant\b|\bdésormais\b|\bplutôt\b|\bau\s+lieu\b|\bfinalement\b",
    r"\ba\s+partir\s+de\s+agora\b|\bd['’]ora\s+in\s+poi\b|\bотныне\b|앞으로는|대신",
)
#: permission for this one time or this one thing: the rule goes on
NARROW = _rx(
    r"\bonly\s+(?:this|for\s+this|that|for\s+that|once|the)\b|\bjust\s+(?:this|once|for\s+this|that)\b|"
    r"\bthis\s+(?:once|one\s+time|time\s+only)\b|\bone[- ]time\b|\bexception\b|\bexceptionally\b",
    r"\bnur\s+(?:diese\w*|dieses\s+(?:eine\s+)?mal|hierfür|dafür|einmal|die\b|das\b|den\b)|\bausnahm\w+|"
    r"\bein(?:zige)?s?\s*mal(?:ig)?\b|\bdieses\s+eine\s+mal\b",
    "只(?:这|此|有这|限这|针对)|仅(?:此|这|限)|这一次|这次|例外|就这",
    "今回(?:だけ|のみ|に限)|一度だけ|例外|この(?:件|回)(?:だけ|のみ)",
    r"\b(?:solo|sólo|únicamente)\s+(?:esta|este|eso|esa|por\s+esta|para|la|el|una)\b|"
    r"\bpor\s+esta\s+vez\b|\bexcepci[oó]n",
    r"\b(?:seulement|uniquement|juste)\s+(?:cette|ce|pour|la|le|une)\b|\bpour\s+cette\s+fois\b|\bexception",
)
#: a rule that holds until the user agrees: agreeing once does not end it
CONSENT = _rx(
    r"\bwithout\s+(?:\w+\s+){0,2}(?:permission|approval|consent|ok|okay|asking|confirmation|sign-?off)|"
    r"\b(?:before|unless|until)\s+(?:\w+\s+){0,2}(?:i|you\s+ask|asking)\b|\bask\s+(?:me\s+)?(?:first|"
    r"before)",
    r"\bohne\s+(?:\w+\s+){0,2}(?:zustimmung|erlaubnis|freigabe|rücksprache|okay|ok|einwilligung)|"
    r"\bfrag\w*\s+(?:mich\s+)?(?:vorher|erst|zuerst)|\berst\s+(?:fragen|rückfragen)",
    "未经|没有我|经我|先问|先(?:征求|确认)|同意(?:之)?前|得到我",
    "許可なく|許可なし|無断|確認(?:なし|せず|して(?:から)?)|聞いてから|承認なし",
    r"\bsin\s+(?:mi|tu|su)?\s*(?:permiso|aprobaci[oó]n|autorizaci[oó]n|consentimiento|preguntar|"
    r"consultar)|\bpreg[uú]nt\w+\s+(?:antes|primero)",
    r"\bsans\s+(?:mon|ma|votre)?\s*(?:accord|permission|autorisation|demander|validation)|\bdemande\w*[- ]moi\s+avant",
)

#: what somebody else said or wrote, told by the user
REPORTED = _rx(
    r"\b(?:wrote|writes|says?|saying|said|told|suggest(?:s|ed)|according\s+to|quote|comment(?:ed)?|asks?\s+for|opinion)\b",
    r"\b(?:schrieb|schreibt|sagt(?:e)?|meint(?:e)?|laut|zitat|kommentar|meinung)\b",
    "说|写道|写了|提到|认为|评论|引用|原话|建议说",
    "書いて|言って|言われ|曰く|によると|コメント|引用|意見",
    r"\b(?:escribió|escribe|dijo|dice|según|opina|comentó|cita|propuso)\b",
    r"\b(?:a\s+écrit|écrit|a\s+dit|dit|selon|d['’]après|commentaire|propose)\b",
)
