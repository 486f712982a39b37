"""Words by which the user takes a wish back, permits what it forbade, or sets another in its place; many languages.

Patterns only, no logic; :mod:`wishes` asks them, all languages at once: a sentence that lifts something counts only
where it shares the matter of a rule, so that a word of another language does no harm.
"""

from __future__ import annotations

import re


def _rx(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


#: the user takes a rule back or permits what it forbade: "strong" names the rule, "permit" allows the thing
STRONG = _rx(
    r"\b(?:scrap|drop|scratch|lose|forget|skip)\b[^.?!]{0,60}\b(?:thing|stuff|bit|idea)\b|\b(?:forget|scratch|scrap|"
    r"drop|ignore|disregard|cancel|revoke|withdraw|lift(?:ed|ing)?|retract|undo|"
    r"void)\b[^.?!]{0,60}\b(?:rule|ban|limit|constraint|restriction|requirement|what\s+i\s+said|earlier|"
    r"previous|instruction|about)",
    r"(?<!don't\s)(?<!don’t\s)(?<!not\s)(?<!never\s)(?<!\bi\s)\bforget\s+(?!to\b|that\s+(?:you|we|i|the)\b|how\b)\w+",
    # a subject stands in front of it: "don't apply it yet" is an order of its own
    r"(?<![,;:.!?–—]\s)(?<!^)(?<!please\s)(?<!\bpls\s)(?<!\band\s)(?<!\bbut\s)(?<!\bor\s)(?<!just\s)(?<!\bso\s)"
    r"\b(?:no\s+longer|not|doesn['’]t|don['’]t)\s+(?:\w+\s+){0,3}(?:appl(?:y|ies)|hold|needed|necessary|"
    r"required|have\s+to|need\s+to)\b|\bnever\s?mind\s+(?:the|about|what)|\bi\s+changed\s+my\s+mind\b|"
    r"\bthat\s+rule\s+is\s+(?:gone|off|lifted)|\b(?:is|are)\s+(?:now\s+)?(?:obsolete|moot|void|off\s+the\s+table)\b|"
    r"\b(?:rule|limit|cap|ban|freeze|restriction|constraint)\b[^.?!]{0,40}\b(?:lifted|gone|off|no\s+longer|"
    r"cancel\w*|over)",
    r"\b(?:vergiss|vergesst|streich\w*|verwirf|ignorier\w*)\b[^.?!]{0,60}\b(?:regel|vorgabe|verbot|"
    r"einschränkung|was\s+ich|anweisung|bedingung|mit\s+de[mnr])|\b(?:kannst|könnt|darfst)\s+(?:du|ihr)\s+"
    r"(?:\w+\s+){0,2}(?:vergessen|streichen|ignorieren|weglassen)\b|\bhat\s+sich\s+erledigt\b|\bf[aä]ll(?:t|"
    r"en)\s+weg\b|"
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
    r"(?<!n['’])\boublie[zr]?\s+(?!pas\b|que\b)\w+|(?<!['’])\boublie[zr]?(?:-l[ea]s?)?(?=\s*(?:[,.;!…]|$))",
    r"\b(?:oublie\w*|annule\w*|ignore\w*|lève\w*|retire\w*|abandonne\w*)\b[^.?!]{0,60}\b(?:règle|"
    r"consigne|contrainte|interdiction|limite|ce\s+que\s+j|restriction)|\bn['’](?:est|"
    r"a)\s+plus\s+(?:\w+\s+){0,2}(?:valable|nécessaire|besoin|lieu)|\bne\s+s['’]applique(?:nt)?\s+plus",
    r"\b(?:that|it|this|which)(?:['’]s|\s+is|\s+has\s+become)\s+(?:now\s+)?(?:moot|off|obsolete|void|history|gone|"
    r"settled)\b|"
    r"\b(?:no\s+longer|not)\s+an?\s+(?:issue|problem|concern|requirement)\b(?:\s+any\s*more)?|"
    r"(?:^|[,;.!]\s*)(?:scratch|scrap|forget|drop|undo|strike)\s+(?:that|this|those|it)\b(?!\s+(?:the|file|branch|"
    r"table|line)\b)",
    r"\bkein\s+(?:thema|problem)\s+mehr\b|\b(?:streichen|gestrichen)\b|\bkommando\s+zurück\b|"
    r"\bya\s+no\s+es\s+(?:un\s+)?problema\b|"
    r"\bplus\s+un\s+(?:problème|sujet)\b|\bnon\s+è\s+più\s+un\s+problema\b|\bjá\s+não\s+é\s+(?:um\s+)?problema\b|"
    r"作废|不算数|当我没(?:有)?说|不是问题了|気にしなくて(?:いい|よい|大丈夫|ok)|なかったことに",
    # "this rule does not hold any more", "no rush with X", "X is off": said without naming a rule
    r"(?<![,;:.!?]\s)(?<!^)\b(?:doesn['’]t|does\s+not|don['’]t|no\s+longer)\s+(?:matter|hold|count|stand|apply)\b|\b(?:don['’]t|do\s+not|no\s+need\s+to)\s+bother\b|\bas\s+you\s+were\b|"
    r"\b(?:skip|waive|ignore|disregard)\s+(?:the\s+|my\s+|your\s+)?(?:rule|point|item|number|no\.|constraint)\b",
    r"\blass\w*\s+(?:\w+\s+){0,3}(?:gut\s+sein|bleiben)\b|\bspielt\s+keine\s+rolle\b|\b(?:ist|"
    r"sind)\s+(?:mir\s+)?(?:egal|überholt|passé)\b",
    r"\bsalt(?:arte|ate|a|arse)\b[^.?!]{0,40}\b(?:regla|norma|punto|restricci[oó]n)|\bya\s+no\s+(?:importa|rige|"
    r"cuenta)\b|"
    r"\bpasa\s+de\s+(?:l[oa]s?\s+)?(?:regla|norma)|\bno\s+hace\s+falta\s+(?:ya|más)\b",
    r"\b(?:ne|n['’])\s*(?:tien(?:t|nent)|vau?[ltx]\w*|compten?t?|importe|s['’]impose)\s+plus\b|"
    r"\blaisse[rz]?\s+tomber\b|"
    r"\b(?:peux|pouvez)\s+(?:ignorer|oublier|sauter)\b|\bplus\s+besoin\s+d|\bn['’]y\s+a\s+plus\s+de\s+(?:limite|"
    r"raison)",
    r"\b(?:esqueç\w+|esquece\w*|cancele\w*|cancelo|anul[eo]|desconsidere\w*|deixa\s+(?:pra|para)\s+lá|retiro|revogo|"
    r"ignore)\b(?!\s+(?:de\s+)?que\b)|"
    r"\bnão\s+(?:\w+\s+)?(?:vale\w*|precisa\w*|é\s+(?:mais\s+)?necessári\w+|se\s+aplica|importa)\s+mais\b|"
    r"\bjá\s+não\s+(?:vale|é|precisa|se\s+aplica)|"
    r"\bmudei\s+de\s+ideia\b|\bnão\s+precisa\s+mais\b",
    r"\b(?:dimentica\w*|scorda\w*|annull\w+|ignora\w*|revoc\w+|ritir\w+|togl\w+)\b(?!\s+(?:di|che)\b)|"
    r"\blascia(?:mo)?\s+(?:perdere|stare)\b|"
    r"\bcome\s+non\s+detto\b|\bnon\s+(?:\w+\s+)?(?:vale|serve|conta|si\s+applica|è|importa|occorre)\s+più\b|"
    r"\bho\s+cambiato\s+idea\b",
    r"(?<!не )(?<!не)\b(?:забудь\w*|отмен\w+|снима[юе]\w*|отбой|неважно|не\s*важно|игнорируй\w*|аннулир\w+)\b|"
    r"больше\s+не\s+(?:действу\w+|нужн\w+|надо|требу\w+|обязательн\w+|актуальн\w+)|уже\s+не\s+(?:действу\w+|нужн\w+|"
    r"актуальн\w+)|\bпередумал",
    r"(?:취소|철회|해제)(?:할게|하겠|합니다|해|했|하고|됐|되었)|없던\s*(?:일|걸|것)로|잊어\s*(?:주|버|도)|(?:지키|신경\s*쓰)지\s*않아도|안\s*지켜도|"
    r"더\s*이상\s*(?:필요|적용|유효)|(?:이제|더는)\s*필요\s*(?:없|하지)|무시해도|(?:규칙|제한|조건).{0,20}(?:취소|해제|무시|잊)",
    r"\b(?:vergeet|schrap|negeer|trek)\b(?!\s+niet\b)[^.?!]{0,60}\b(?:maar|regel|eis|beperking|wat\s+ik|in|terug)\b|"
    r"\blaat\s+(?:\w+\s+){0,3}maar\b|"
    r"\b(?:geldt|gelden|hoeft|hoeven)\s+(?:\w+\s+){0,3}niet\s+(?:meer|langer)\b|\bniet\s+(?:meer|langer)\s+nodig\b|"
    r"\bvan\s+gedachten\s+veranderd\b",
    r"\b(?:zapomnij\w*|anuluj\w*|odwołuj\w*|cofam|wycofuj\w*|zignoruj\w*|pomiń|daruj)\b|\bnie\s+(?:obowiązuj\w+|"
    r"trzeba|musisz)\s+już\b|"
    r"\bjuż\s+nie\s+(?:obowiązuj\w+|trzeba|musi\w*|jest\s+potrzebn\w+|ma\s+znaczenia)\b|\bzmieniłem\s+zdanie\b",
    r"\b(?:kaldırıyorum|kaldırdım|kaldırıldı|iptal(?:\s+(?:et\w*|ediyorum))?|vazgeçtim|unut(?:abilirsin|un)?|"
    r"boş\s*ver\w*)\b|"
    r"\b(?:no\s+longer|not|isn['’]t|aren['’]t)\s+(?:quite\s+)?(?:that|so|as)\s+(?:tight|strict|hard|important)\s+"
    r"(?:any\s*more|now)\b|\bno\s+longer\s+(?:that|so|as)\s+(?:tight|strict|important)\b|"
    r"\bnicht\s+mehr\s+(?:ganz\s+)?so\s+(?:eng|streng|wichtig|knapp)\b|\bya\s+no\s+est?á?\s+tan\s+(?:estrict|ajustad|"
    r"important)\w*|\bplus\s+(?:aussi|si)\s+(?:strict|serré|important)\w*|没有?那么(?:严|紧|死|重要)|不强求|我(?:说|搞)错了|"
    r"\bi\s+was\s+wrong\s+about\b|\blag\s+ich\s+(?:falsch|daneben)\b|\bme\s+equivoqu[eé]\s+con\b|"
    r"それほど(?:厳し|重要では)|"
    r"\bartık\s+(?:\w+\s+){0,2}(?:geçerli\s+değil|gerek(?:mez|miyor|\s+yok|li\s+değil)|önemli\s+değil)|\bgeçersiz\b",
    r"\bi\s+take\s+(?:back|that\s+back|it\s+back)\b|\bconsider\s+[^.?!]{2,40}\s(?:lifted|gone|cancelled|dropped|withdrawn)\b",
    # told of as a thing of the past
    r"\b(?:is|are|['’]s)\s+(?:\w+\s+)?(?:history|a\s+thing\s+of\s+the\s+past|water\s+under\s+the\s+bridge)\b|"
    r"\bwar(?:en)?\s+einmal\b|\b(?:ist|sind)\s+(?:jetzt\s+|nun\s+)?(?:geschichte|schnee\s+von\s+gestern|vergangenheit)\b|"
    r"\bappartien\w+\s+au\s+passé|\b(?:c['’]est|est|sont)\s+(?:de\s+l['’]histoire\s+ancienne|du\s+passé)|"
    r"\b(?:es|son|ya\s+es)\s+(?:historia|agua\s+pasada|cosa\s+del\s+pasado)\b|"
    r"\b(?:è|sono)\s+(?:ormai\s+)?(?:storia|acqua\s+passata|roba\s+passata)\b|\b(?:é|são)\s+(?:coisa\s+do\s+passado|"
    r"águas\s+passadas|história)\b|\bto\s+już\s+(?:historia|przeszłość)\b|\bis\s+(?:verleden\s+tijd|geschiedenis)\b|"
    r"(?:уже|теперь)\s+(?:история|в\s+прошлом)|成为?(?:历史|过去)|过去式|過去の(?:話|もの)|昔の話|옛날\s*(?:일|얘기)|지난\s*일",
    # nobody has to heed it any longer
    r"\bno\s+(?:need|reason)\s+to\s+(?:care|worry|bother|think|heed|hold\s+back|wait|stick|keep)\b|"
    r"\bmusst?\s+(?:du|ihr)?\s*(?:\w+\s+){0,5}(?:keine\s+rücksicht|nicht\s+mehr)\b|\b(?:brauch|müss)\w*\s+(?:\w+\s+){0,4}keine?n?\s+(?:\w+\s+){0,3}mehr\b|"
    r"\bplus\s+la\s+peine\s+d|\binutile\s+de\s+(?:continuer|garder|se\s+soucier)|\bya\s+no\s+(?:nos\s+|me\s+)?(?:obliga|limita|afecta|preocup)\w*|"
    r"\bnon\s+(?:dobbiamo|devi|dovete|c['’]è\s+bisogno\s+di)\s+più\b|\bnie\s+musi\w+\s+(?:się\s+)?już\b",
)
PERMIT = _rx(
    r"\b(?:as|whatever|however|anything)\s+you\s+(?:like|want|prefer|wish|please|see\s+fit)\b|\b(?:is\s+)?up\s+to\s+you\b|"
    r"\byour\s+(?:call|choice)\b|"
    r"\bwie\s+du\s+(?:willst|magst|möchtest)\b|\bdeine\s+(?:sache|entscheidung)\b|\bcomo\s+(?:quieras|prefieras|"
    r"quiser|preferir)\b|"
    r"\bcomme\s+tu\s+(?:veux|préfères)\b|\bc['’]est\s+(?:bon|ok|d['’]accord|permis|autorisé)\b|\bcome\s+(?:vuoi|"
    r"preferisci)\b|\bкак\s+хочешь\b|"
    r"\bzoals\s+je\s+wilt\b|\bjak\s+chcesz\b|\bnasıl\s+istersen\b|随你|随便|都行|お任せ|好きに|자유롭게|마음대로|알아서",
    r"\bfair\s+game\b|\bmay\s+(?:\w+\s+){1,4}now\b|\byou\s+(?:may|can|are\s+(?:free|allowed)\s+to)\s+(?:now\s+)?(?:also\s+)?(?!need\b|want\b|have\s+to\b|see\b|notice\b|imagine\b|guess\b|wonder\b|know\b)\w+|\b(?:is|are|"
    r"it['’]s)\s+(?:now\s+)?(?:fine|ok|okay|allowed|permitted|alright)\b|\bfeel\s+free\b|\bnow\s+(?:ok|"
    r"okay|fine|allowed)|\bafter\s+all\b|\bgo\s+ahead\s+and\b|\bit\s+is\s+ok\s+to\b|\bi\s+(?:allow|"
    r"permit)\b",
    r"\b(?:darfst|dürft|kannst|könnt|darf|kann|dürfen)\b[^.?!]{0,60}\b(?:jetzt|nun|doch|ab\s+sofort|"
    r"inzwischen|auch|wieder)\b|\b(?:jetzt|nun|doch|inzwischen)\b[^.?!]{0,60}\b(?:darfst|dürft|kannst|"
    r"könnt|darf|dürfen|erlaubt|freigegeben|okay|in\s+ordnung)\b|\bist\s+(?:jetzt|nun|doch|"
    r"inzwischen)\s+(?:erlaubt|freigegeben|ok|okay|in\s+ordnung)",
    "(?:现在|已经|另外|那就|之后).{0,16}(?:可以|能|允许)|可以.{0,20}了|(?:允许|准许|同意)(?:你|使用|修改|删除)|也可以|可以(?:使用|用|改|删|修改|删除|动)",
    "て構[いわ]|(?:ても|でも)(?:いい|よい|良い|構い|かまい|大丈夫|OK)|(?:して|使って|変更して|削除して|編集して|触って)(?:も)?(?:よい|いい|良い|構わ|構い|かまい|大丈夫)|"
    "(?:変え|直し|書き換え|足し|消し|動かし|進め|使っ)て(?:も)?(?:よい|いい|良い|構わ|構い|かまい|大丈夫)|許可し|できるように(?:なり|し)|で(?:構いません|かまいません|大丈夫です|いいです|OK)",
    r"\b(?:ya|ahora|también)\s+(?:sí\s+)?(?:puedes|podéis|pueden|se\s+puede)\b|\bpuedes\b[^.?!]{0,"
    r"40}\b(?:ya|ahora|también)\b|\bte\s+(?:permito|autorizo)\b|\b(?:me|te|nos)\s+(?:da|dan|doy|dio|dieron|ha\s+dado|han\s+dado)\s+permiso\b|\best[áa]\s+permitid|"
    r"\bpuedes\s+\w+[aei]r",
    r"\b(?:tu\s+peux|vous\s+pouvez|on\s+peut)\b[^.?!]{0,40}\b(?:maintenant|finalement|désormais|"
    r"aussi)?\b|\best\s+(?:maintenant|désormais)\s+(?:permis|autoris|possible)|\bfinalement\b",
    r"て(?:も)?(?:いい|よい|良い|OK|大丈夫|構わ|かまわ)|(?:解禁|許可)(?:し|され|に)|問題(?:ない|ありません)です?(?:[。．]|$)",
    r"\b(?:pode[ms]?|podemos|podes)\b|\b(?:está|foi|é)\s+(?:agora\s+)?(?:liberad|permitid|autorizad)\w+|"
    r"\b(?:liberei|liberou|autorizei|autorizou|permito)\b|\btudo\s+bem\s+(?:usar|se)\b",
    r"\b(?:puoi|potete|si\s+può|possiamo)\b|\b(?:è|sono)\s+(?:ora\s+|adesso\s+)?(?:permess|consentit|ammess|"
    r"autorizzat)\w+|\bva\s+bene\s+(?:usare|se|anche)\b|\bautorizzo\b",
    r"\b(?:можно|можешь|можете|разреша\w+|разрешил\w*|допустимо|разрешено|не\s+возражаю)\b",
    r"(?:해도|써도|사용해도|바꿔도|수정해도|추가해도|고쳐도|해두|어도|아도)\s*(?:돼|되|됩|된|괜찮|좋|상관)|허용(?:합니다|해|할|됩|하겠)|이제.{0,20}(?:가능|됩니다)",
    r"\b(?:mag|mogen|kun\s+je|kan\s+(?:nu|ook|wel)|toegestaan|is\s+prima|zijn\s+prima|is\s+ok[eé]?)\b",
    r"\b(?:może(?:sz|cie|my)?|można|wolno|zezwalam|pozwalam|dozwolon\w+)\b",
    r"\b\w+(?:ebilir|abilir)(?:sin|siniz|iz|im)?\b|\bserbest\b|\bizin\s+ver\w+",
)
#: the thing may be touched again: said of its state, or of those who had a say in it
FREE = _rx(
    r"(?:\b(?:is|are)|['’](?:s|re))\s+(?:\w+\s+){0,2}?(?:open|free|unlocked|unfrozen|ours|yours|usable|available|unblocked)\b"
    r"(?!\s+(?:question|issue|item|point|task|bug|port))|\bwhatever\s+(?:you|is)\s+(?:need|want|like)\w*|"
    r"\b(?:is|are|seems?)\s+(?:fine|ok(?:ay)?|happy|cool|good)\s+with\b|\b(?:does|do)\s?n['’]?o?t\s+mind\b|"
    r"\b(?:has|have)\s+no\s+objections?\b|\b(?:green|go-ahead)\b[^.?!]{0,12}\blight\b|\bgot\s+(?:the|a)\s+go-ahead\b",
    r"\b(?:can|may)\s+(?:go|leave|be\s+\w+(?:ed|en|t))\b(?!\s+(?:to|wrong|down))|\b(?:kann|können|darf|dürfen)\s+(?:\w+\s+)?(?:weg|raus)\b|"
    r"\b(?:is|are)\s+(?!(?:broken|down|red|failing|slow|wrong|flaky|locked|frozen|closed|blocked|here|back)\b)\w+\s+again\b|"
    r"\b(?:geht|gehen|ist|sind|läuft|laufen)\s+(?:jetzt|nun|ab\s+sofort)\s+wieder\b(?!\s+(?:kaputt|rot|weg|langsam))|"
    r"\b(?:is|are)\s+(?:really\s+)?(?:no|not\s+an?)\s+(?:problem|issue|concern|big\s+deal)\b|\b(?:can|could)\s+live\s+with\b|\bby\s+all\s+means\b|\bbe\s+my\s+guest\b|"
    r"\b(?:you\s+have|you['’]ve\s+got)\s+my\s+(?:ok|okay|blessing|permission|approval)\b|\byou['’]?(?:re|\s+are)\s+(?:clear|cleared|good)\s+to\b|\bfine\s+by\s+me\b|"
    r"\b(?:ist|sind|wäre\w*)\s+(?:\w+\s+){0,2}?(?:in\s+ordnung|ok(?:ay)?|erlaubt)\b|\b(?:may|can)\s+(?:also\s+)?be\s+(?:in|on|as|with)\b|\b(?:kein|keinerlei)\s+problem\b|\b(?:kann|können)\s+(?:ich|wir)\s+(?:gut\s+)?leben\b|\bmeinetwegen\b|\bvon\s+mir\s+aus\b|\bspricht\s+nichts\s+(?:mehr\s+)?dagegen\b|"
    r"\b(?:pas|aucun)\s+(?:de\s+)?(?:problème|souci)\b|\b(?:tu\s+as|vous\s+avez)\s+(?:le\s+droit|mon\s+(?:accord|feu\s+vert))\b|\bno\s+(?:hay|es)\s+(?:ningún\s+|un\s+)?problema\b|\btienes\s+(?:permiso|mi\s+(?:permiso|ok))\b|"
    r"\bsem\s+problemas?\b|\b(?:nessun|non\s+c['’]è)\s+problema\b|\bnie\s+ma\s+(?:problemu|przeszkód)\b|\bproszę\s+bardzo\b|\bgeen\s+probleem\b|\bне\s+проблема\b|\bпожалуйста,\s+(?:можно|меняй)",
    r"\b(?:hat|haben)\s+(?:uns|dir|mir)\b[^.?!]{0,40}\b(?:überlassen|übergeben|übertragen)\b|"
    r"\bhanded\b[^.?!]{0,40}\b(?:over|to\s+us)\b|\bgo\s+(?:wild|nuts|to\s+town)\b|"
    r"\bwieder\s+(?:\w+\s+)?(?:frei|offen|uns|unser\w*|nutzbar|verfügbar)\b|\b(?:ist|sind)\s+(?:\w+\s+){0,2}(?:frei|freigegeben|offen)(?:gegeben)?\b|"
    r"\b(?:darfst|dürft|kannst|könnt)\b[^.?!]{0,60}\b(?:ruhig|gern\w*|also|nach\s+belieben|frei)\b|"
    r"\b(?:nichts\s+dagegen|einverstanden\s+damit|damit\s+einverstanden|grünes\s+licht|freie\s+(?:hand|bahn)|steht\s+nichts\s+im\s+weg)\b",
    r"\b(?:de|à)\s+nouveau\s+(?:\w+\s+)?(?:libre|ouvert|disponible|à\s+(?:nous|toi))|\bd['’]accord\s+pour\s+que?\b|"
    r"\brien\s+(?:contre|n['’]empêche)|\bfeu\s+vert\b|\bvoie\s+libre\b|\bcarte\s+blanche\b|\b(?:est|sont)\s+(?:\w+\s+)?(?:libre|libéré|débloqué|dégelé|ouvert)\w*",
    r"\b(?:podéis|podemos|puedes|pueden|se\s+puede)\s+(?:ya\s+)?(?:volver\s+a\s+)?\w+[aei]r\w*|\bno\s+(?:les?|me|nos)\s+(?:importa|molesta)\s+que\b|"
    r"\b(?:vía\s+libre|luz\s+verde|manos\s+libres)\b|\b(?:de\s+nuevo|otra\s+vez)\s+(?:libre|abiert|disponible|nuestr)\w*|\b(?:queda|está)n?\s+(?:\w+\s+)?(?:libre|abiert|liberad|desbloquead)\w*",
    r"\b(?:sinal\s+verde|carta\s+branca|à\s+vontade|não\s+se\s+importa\w*)\b|\b(?:est[áã]o?|fic(?:ou|aram)|foram)\s+(?:\w+\s+){0,2}(?:livres?|abert[oa]s?|liberad\w+)",
    r"\bvia\s+libera\b|\b(?:è|sono)\s+(?:di\s+nuovo\s+|ora\s+)?(?:liber|apert|sbloccat|disponibil)\w*|\b\w+[aei]\s+pure\b|"
    r"\b(?:nulla|niente)\s+in\s+contrario\b|\bcarta\s+bianca\b",
    r"\b(?:znowu|znów|z\s+powrotem)\s+\w+|\b(?:droga\s+wolna|zielone\s+światło|wolna\s+ręka|śmiało)\b|\bnic\s+przeciwko\b",
    r"\bweer\s+(?:\w+\s+)?(?:vrij|open|beschikbaar|van\s+ons)\b|\b(?:groen\s+licht|gerust|vrij\s+spel)\b|\b(?:снова|опять)\s+(?:свобод|доступ|откры)\w+|"
    r"\b(?:смело|спокойно|зел[её]ный\s+свет|не\s+против)\b|\byine\s+(?:açık|serbest)|\byeşil\s+ışık\b",
    "(?:也|都|就)行了?(?=[，。！]|$)|没(?:有)?(?:问题|关系)|可以接受|問題(?:ない|ありません|なし)|문제\\s*없|괜찮",
    "(?:随便|随意|任意|放心|尽管)(?:改|动|用|删|清|写|碰|\\w)|归我们|可以(?![吗么先])[\u4e00-\u9fff]|没(?:有)?意见|放开了|绿灯",
    "自由に|遠慮なく|解禁|再開でき|(?:触|使|変更|編集|書)[^。]{0,6}(?:大丈夫|構いません|かまいません|OK|問題ありません)|また(?:使え|触れ|書け)",
    "마음껏|다시\\s*(?:열|풀|쓸|사용할|수정할)|풀렸|상관없",
)
#: what the user calls a rule
NOUN = _rx(
    r"\b(?:rules?|(?<!off[\s-])limits?|caps?|bans?|restrictions?|constraints?|requirements?|conditions?|freeze|embargo|prohibition|ceiling|quota|moratorium)\b",
    r"\b(?:\w*regel|\w*vorgaben?|\w*verbot|\w*grenze|\w*limit|\w*sperre|\w*deckel|\w*bedingung|\w*beschränkung|\w*einschränkung|\w*pflicht|\w*stopp)\b",
    r"\b(?:règles?|consignes?|contraintes?|interdictions?|limites?|plafond|restrictions?|gel|conditions?)\b",
    r"\b(?:reglas?|normas?|restricci[oó]n|restricciones|límite|prohibici[oó]n|veto|tope|condici[oó]n|requisito)\b|\b(?:regras?|restriç\w+|limite|proibição|veto|teto|condição|exigência)\b",
    r"\b(?:regol[ae]|vincol[oi]|limite|divieto|restrizion[ei]|blocco|tetto|obbligo|condizione)\b|\b(?:zasad[ay]|reguł[ay]|limit|zakaz|ograniczeni[ea]|blokada|warunek|wymóg)\b",
    r"\b(?:regels?|limiet|verbod|beperking|eis)\b|\b(?:правил[оа]|лимит|запрет|ограничени[ея]|услови[ея]|требовани[ея])\b",
    "规则|规定|要求|限制|约束|禁令|上限|那条|这条|ルール|制約|制限|禁止|条件|上限|規則|규칙|제한|제약|금지|조건|상한",
)
#: it is no more, has given way, or lies later now
GONE = re.compile(
    r"(?i)\b(?:moved|moves|pushed|postponed|delayed|deferred|extended|slipp\w+|slips|shifted|rescheduled|put\s+off|f[ea]ll(?:en)?\s+through|called\s+off|off|gone|dead|dropped|drops|lifted|"
    r"irrelevant|no\s+longer|any\s?more|not\s+(?:that\s+|so\s+)?(?:hard|firm|strict|fixed)|scrapped|cancel\w+|removed|withdrawn|waived|expired|void|moot|obsolete|history|past|outdated|forget|ignore|scratch|never\s?mind)\b|"
    r"\b(?:verschoben|verschieb\w+|verläng\w+|verlegt|gefallen|fällt|kippt|gekippt|erledigt|aufgehoben|nicht\s+mehr|geplatzt|hinfällig|entfällt|weg|kein\w*\s+\w+\s+mehr|vergiss|gestrichen|überholt|passé|vorbei|obsolet)\b|"
    r"\b(?:repouss\w+|report\w+|décal\w+|prolong\w+|(?:ne|n['’])\s*\w+(?:\s+\w+)?\s+plus|tomb\w+|saut\w+|levée?s?|annul\w+|oublie\w*|caduc|caduque|abandonnée?s?|supprimée?s?|obsolète)\b|"
    r"\b(?:aplaz\w+|pospu\w+|pospon\w+|retras\w+|ampli\w+|prorrog\w+|alarg\w+|ya\s+no|movió|corr(?:ió|id[oa])|cay(?:ó|eron)|olvida\w*|cancel\w+|levant\w+|anulad\w|eliminad\w|retirad\w|quit(?:ad\w|amos|o|é|emos)|elimin(?:amos|o|é)|queda\s+sin|no\s+lleg\w+|en\s+nada|saltó|saltad\w)\b|"
    r"\b(?:adi(?:ou|ad[oa]\w?|amos|aram)|estend\w+|ca(?:iu|íram)|mudou|não\s+\w+(?:\s+\w+)?\s+mais|já\s+não|esqueç\w+|esquece|suspens\w|retirad\w|revogad\w|cancelad\w|liberad\w)\b|"
    r"\b(?:rinvi\w+|posticip\w+|slitt\w+|prorog\w+|spost\w+|salta\w*|non\s+\w+(?:\s+\w+)?\s+più|decad\w+|dimentica\w*|togl\w+|tolt[oaie]|rimoss\w|abolit\w|superat\w|annullat\w)\b|"
    r"\b(?:przesu\w+|przełoż\w+|wydłuż\w+|przedłuż\w+|nieaktualn\w+|odwoła\w+|odpad\w+|już\s+nie|zapomnij|zniesion\w+|cofnię\w+|zdjęt\w+|uchylon\w+)\b|\b(?:verschoven|uitgesteld|verlengd|vervalt|vervallen|niet\s+meer|geschrapt|van\s+de\s+baan)\b|"
    r"\b(?:перен[её]с\w*|перенос\w*|отлож\w+|откладыва\w+|продл\w+|сдвин\w+|сдвига\w+|отпа[лд]\w*|снят\w*|больше\s+не|не\s*актуал\w+|отмен\w+|забудь\w*|снима\w+|сня[лт]\w*|убран\w*|убрали|уш[её]л)\b|"
    r"推迟|延期|延后|顺延|往后|挪|取消|不用|不急|不赶|作废|不再|放开|解除|没有了|撤了|延び|伸び|回(?:った|り|し|さ)|延長|先送り|後ろ倒し|ずれ|なくな|不要|忘れ|気にし|撤廃|解除|外れ|外し|연기|연장|미뤄|미루|늦춰|밀렸|늘어|없어|없애|없앤|없앨|신경|사라|풀렸|풀었|해제|취소|철회|폐지"
)
_NOT = re.compile(
    r"(?i)(?:n['’]t|\b(?:not|nicht|pas|nie|не|niet|não|non|no)|没有?|未|不)\s*(?:(?:yet|noch|encore|todavía|aún|ainda|ancora|jeszcze|ещё|еще)\s+)?$"
)


#: somebody who is away
_AWAY = re.compile(
    r"(?i)\b(?:i|we|he|she|they|you)(?:['’](?:m|re|s)|\s+(?:am|are|is|was|were|will\s+be))\s+(?:off|gone)\b"
)


def gone(text: str) -> bool:
    """True where a clause tells that what it speaks of is no more."""
    text = _AWAY.sub(" ", text)
    return any(not _NOT.search(text[: m.start()]) for m in GONE.finditer(text))


#: the newer wish stands in the place of an older one on the same matter
REPLACE = _rx(
    r"\bfrom\s+now\s+on\b|\binstead\b(?!\s+of\s+(?:a\b|the\b)?\s*\w+ing)|\bactually\b|"
    r"\bon\s+second\s+thought|\bchange\s+of\s+plan|\bswitch\s+(?:\w+\s+){0,3}to\b|\brather\b",
    r"\bab\s+(?:jetzt|sofort)\b|\bstattdessen\b|\bdoch\s+(?:lieber|besser)\b|\bnun\s+doch\b|"
    r"\bjetzt\s+doch\b|\bänderung\b|\bnicht\s+mehr\b|\bumgestellt\b",
    "改为|改成|换成|从现在起|今后|以后(?:都)?|还是(?:用|改)|改用|改主意",
    "今後は|これからは|代わりに|やっぱり|やはり|に変更|に変えて|に切り替え",
    r"\ba\s+partir\s+de\s+ahora\b|\ben\s+(?:vez|lugar)\s+de\b|\bmejor\b|\bdesde\s+ahora\b|\bcambio\s+de\s+planes?\b",
    r"\bà\s+partir\s+de\s+maintenant\b|\bdésormais\b|\bplutôt\b|\bau\s+lieu\b|\bfinalement\b",
    r"\ba\s+partir\s+de\s+agora\b|\bem\s+vez\s+d|\bmelhor\s+\w+[aei]r\b|\bde\s+agora\s+em\s+diante\b",
    r"\bd['’]ora\s+in\s+(?:poi|avanti)\b|\binvece\s+d|\bpiuttosto\b|\bmeglio\s+\w+[aei]re\b",
    r"\b(?:отныне|теперь|вместо|впредь|лучше|всё-таки|все-таки)\b|앞으로(?:는)?|대신|(?:으)?로\s*(?:바꿔|변경|교체)",
    r"\bvanaf\s+nu\b|\bin\s+plaats\s+van\b|\btoch\s+(?:liever|maar)\b|\bod\s+teraz\b|\bzamiast\b|\bjednak\b|"
    r"\bbundan\s+sonra\b|\byerine\b",
)
#: "about X: …", "lo de X: …": the sentence names the matter first
ABOUT = _rx(
    r"^(?:(?:and|oh|nah|no|ok(?:ay)?|so|well|wait|also|as)[,:]?\s+)*(?:about|regarding|for|"
    r"as\s+to)\s+[^.:,]{2,50}[:,]\s",
    r"\bwas\s+[^.:,]{2,50}\s+(?:angeht|betrifft|anbelangt)\b|^(?:und\s+)?zu(?:m|r|\s+den|\s+der)?\s+[^.:,]{2,40}:\s|"
    r"^das\s+mit\s+de[mnr]\b",
    r"\b(?:lo|eso)\s+de\s+[^.:]{2,50}[:,]\s|\b(?:en\s+cuanto|respecto)\s+al?\b|^(?:pour|quant\s+aux?|"
    r"concernant)\s+[^.:,]{2,50}[:,]?\s",
    r"^(?:sobre|quanto\s+(?:ao?s?|a[il]?))\s+[^.:,]{2,50}[:,]\s|^(?:per|riguardo|quanto)\s+[^.:,]{2,50}[:,]\s|"
    r"^(?:co\s+do|jeśli\s+chodzi\s+o|w\s+sprawie)\s|\bwat\s+[^.:,]{2,40}\s+betreft\b|^(?:насчёт|насчет|по\s+поводу|про)\s",
    r"^(?:关于|至于).{2,20}[,，:：]|(?:の件|について)(?:は|ですが|だけど|、)|(?:건|관해서|대해서)(?:은|는|,)",
)
#: words that deny; a rule with one and a later sentence without contradict each other
DENIAL = _rx(
    r"\b(?:no|not|never|none|nothing|without|avoid|don['’]?t|didn['’]?t|mustn['’]?t|nicht|kein\w*|nie(?:mals)?|"
    r"nichts|ohne|nunca|sin|nada|ni|"
    r"ne|n['’]|pas|jamais|aucun\w*|sans|rien|não|sem|nenhum\w*|non|mai|senza|niente|не|нельзя|без|никогда|niet|geen|"
    r"nooit|zonder|nie|nigdy|bez)\b",
    r"不|别|勿|禁止|ない|禁|ず|말|지\s*마|금지|않|없이|\bn['’]\w",
)
#: permission for this one time: the rule goes on
ONCE = _rx(
    r"\bthis\s+(?:once|one\s+time|time\s+only)\b|\bone[- ]time\b|\bexception\w*\b|\bjust\s+(?:this\s+)?once\b|"
    r"\bonly\s+(?:this\s+)?once\b|"
    r"\bausnahm\w+|\b(?:dieses\s+eine|ein(?:zige)?s?)\s*mal(?:ig)?\b|"
    r"(?<!war )(?<!waren )(?<!noch )(?<!erst )\beinmal(?:ig)?\b|"
    r"\bpor\s+esta\s+vez\b|\bexcepci[oó]n|"
    r"\bpour\s+cette\s+fois\b|\bdesta\s+vez\b|\bexceção\b|\bper\s+questa\s+volta\b|\bstavolta\b|\beccezione\b|"
    r"\bв\s+этот\s+раз\b|\bисключени\w+|"
    r"这一次|这次|例外|今回(?:だけ|のみ|に限)|一度だけ|이번(?:만|에만|\s*한\s*번)|예외|\buitzondering\b|\bwyjątk\w+|\bistisna\b",
)
#: permission for this one time or this one thing: the rule goes on
NARROW = _rx(
    r"\bonly\s+(?:this|for\s+this|that|for\s+that|once|the)\b|\bjust\s+(?:this|once|for\s+this|that)\b|"
    r"\bthis\s+(?:once|one\s+time|time\s+only)\b|\bone[- ]time\b|\bexception\b|\bexceptionally\b",
    r"\bnur\s+(?:diese\w*|dieses\s+(?:eine\s+)?mal|hierfür|dafür|einmal|die\b|das\b|den\b)|\bausnahm\w+|"
    r"(?<!war )(?<!waren )(?<!noch )(?<!erst )\bein(?:zige)?s?\s*mal(?:ig)?\b|\bdieses\s+eine\s+mal\b",
    "只(?:这|此|有这|限这|针对)|仅(?:此|这|限)|这一次|这次|例外|就这",
    "今回(?:だけ|のみ|に限)|一度だけ|例外|この(?:件|回)(?:だけ|のみ)",
    r"\b(?:solo|sólo|únicamente)\s+(?:esta|este|eso|esa|por\s+esta|para|la|el|una)\b|"
    r"\bpor\s+esta\s+vez\b|\bexcepci[oó]n",
    r"\b(?:seulement|uniquement|juste)\s+(?:cette|ce|pour|la|le|une)\b|\bpour\s+cette\s+fois\b|\bexception",
    r"\b(?:só|somente|apenas)\s+(?:desta|dessa|esta|essa|este|para|n[oa])\b|\bdesta\s+vez\b|\bexceção\b|"
    r"\b(?:solo|soltanto)\s+(?:per|questa|questo|stavolta)\b|\bper\s+questa\s+volta\b|\beccezione\b",
    r"\bтолько\s+(?:в\s+этот\s+раз|сейчас|для|эт\w+)\b|\bв\s+этот\s+раз\b|\bисключени\w+|이번(?:만|에만|\s*한\s*번)|예외|"
    r"\balleen\s+(?:deze|dit|voor)\b|\buitzondering\b|\btylko\s+(?:ten|tym|dla)\b|\bwyjątk\w+|\bsadece\s+bu\b|"
    r"\bistisna\b",
)
#: a rule that holds until the user agrees: agreeing once does not end it
CONSENT = _rx(
    r"\bwithout\s+my\s+\w+|\b(?:ohne\s+mein\w*|sans\s+(?:mon|ma)|sin\s+mi|senza\s+(?:il\s+mio|la\s+mia)|bez\s+mo(?:jej|jego)|без\s+мо(?:его|ей)|zonder\s+mijn)\s+\w+|\bwithout\s+(?:[\w'’]+\s+){0,2}(?:permission|approval|consent|ok|okay|asking|confirmation|sign-?off)|"
    r"\b(?:before|unless|until)\s+(?:\w+\s+){0,2}(?:i|you\s+ask|asking)\b|\bask\s+(?:me\s+)?(?:first|"
    r"before)",
    r"\berst\s+nach\s+mein\w*\s+\w+|\bohne\s+(?:\w+\s+){0,2}(?:zustimmung|erlaubnis|freigabe|rücksprache|okay|ok|einwilligung)|"
    r"\bfrag\w*\s+(?:mich\s+)?(?:vorher|erst|zuerst)|\berst\s+(?:fragen|rückfragen)",
    "未经|没有我|经我|先问|先(?:征求|确认)|同意(?:之)?前|得到我",
    "許可なく|許可なし|無断|確認(?:なし|せず|して(?:から)?)|聞いてから|承認なし",
    r"\bsin\s+(?:mi|tu|su)?\s*(?:permiso|aprobaci[oó]n|autorizaci[oó]n|consentimiento|preguntar|"
    r"consultar)|\bpreg[uú]nt\w+\s+(?:antes|primero)",
    r"\bsem\s+(?:minha|meu|a\s+minha)\s+\w+|\b(?:pergunte|avise)\w*\s+antes\b|\bsenza\s+(?:il\s+)?mi[oa]\s+\w+|"
    r"\bchiedi\w*\s+prima\b",
    r"\bбез\s+(?:моего|разрешения|согласования)|\bспрос\w+\s+(?:сначала|прежде)|허락\s*없이|승인\s*없이|먼저\s*(?:물어|확인)",
    r"\bzonder\s+(?:mijn\s+)?toestemming|\bbez\s+mojej\s+zgody|\b(?:onayım|iznim)\s+olmadan|\bbana\s+sormadan",
    r"\bsans\s+(?:mon|ma|votre)?\s*(?:accord|permission|autorisation|demander|validation)|\bdemande\w*[- ]moi\s+avant",
)
#: the rule goes on, said again: "outside of that the rule stands"
STANDS = _rx(
    r"\b(?:rule|ban|limit|freeze)\b[^.?!]{0,40}\b(?:stands|still\s+(?:holds|applies)|remains|stays|holds)\b",
    r"\b(?:\w*regel|\w*verbot|vorgabe|grenze)\b[^.?!]{0,40}\b(?:bleibt|gilt\s+(?:weiter\w*|nach\s+wie\s+vor))\b",
    r"\b(?:regla|norma|límite)\b[^.?!]{0,40}\b(?:sigue|se\s+mantiene)\b|\b(?:règle|consigne)\b[^.?!]{0,40}\breste\b",
    "(?:规则|规定|限制|要求).{0,12}(?:仍然|依然|还是?|继续)(?:有效|算数|生效)|(?:ルール|制限|指示).{0,12}(?:引き続き|有効|そのまま)",
)
#: a rule that says itself that it will not last
PROVISIONAL = _rx(
    r"\b(?:until|before)\s+(?:i|we)\s+(?:say|tell|decide|change)|\b(?:until|till)\s+(?:i|we)(?:['’]ve|\s+have|['’]m|\s+am)\b|\buntil\s+further\s+notice\b|\bfor\s+(?:now|the\s+moment|the\s+time\s+being)\b|"
    r"\btemporarily\b|\byet\b",
    r"\b(?:bis|bevor)\s+(?:ich|wir)\b|\bbis\s+auf\s+weiteres\b|\b(?:vorerst|vorläufig|einstweilen|fürs\s+erste|zunächst|erst\s?mal)\b|\bnoch\s+n(?:icht|ichts)\b",
    r"\b(?:todavía|aún)\b|\bpas\s+encore\b|\bhasta\s+(?:que\s+(?:yo|te|diga)|nuevo\s+aviso)|\bpor\s+(?:ahora|el\s+momento)\b|\bde\s+momento\b|"
    r"\bjusqu['’]à\s+(?:nouvel|ce\s+que)|\bpour\s+l['’]instant\b|\bpor\s+enquanto\b|\bper\s+ora\b",
    "제가\\s*말|말하기\\s*전|말할\\s*때|아직|先别|先不|暂时|暂且|目前先|在我.{0,6}之前|当面|とりあえず|指示するまで|별도.{0,6}까지|당분간|пока\\b",
)
#: the word a rule "for now" waits for; said of its matter it ends the rule
GO_AHEAD = _rx(
    r"\b(?:go\s+ahead|do\s+it|go\s+for\s+it)\b|\bmach\s+(?:das|es)\b|\bleg\s+los\b|\bkann\b[^.?!,]{0,40}\b(?:raus|weg|rein)\b|"
    r"\b(?:hazlo|adelante)\b|\bvas-y\b|可以(?:做|改|动|上|删)|进行吧|進めて|お願いします|[\u4e00-\u9fff]{1,4}吧[。！!]?$"
)
