"""Words that let go of a rule without naming it, by what they say; many languages.

Patterns only: nobody needs it (:data:`EASE`), it does no harm (:data:`HARMLESS`), the thing is ours or open now
(:data:`HANDED`), the user was too strict (:data:`ADMIT`), a figure will do (:data:`ACCEPT`), the deed is welcome
(:data:`WELCOME`). Each counts only in a sentence that shares the matter of a rule.
"""

from __future__ import annotations

import re


def _rx(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


#: nobody needs it, it does not matter
EASE = _rx(
    r"\b(?:no\s+need\s+(?:to|for)|need(?:n['’]t|\s+not)|don['’]t\s+(?:need|have)\s+to|not\s+necessary|unnecessary|no\s+point\s+(?:in|to)|not\s+worth|pointless|don['’]t\s+(?:bother|worry|mind)|"
    r"doesn['’]t\s+matter|can\s+be\s+(?:ignored|skipped)|can\s+skip|nothing\s+to\s+(?:lose\s+sleep|worry|fret)\w*|who\s+cares|i\s+don['’]t\s+care|not\s+important|relax\s+(?:about|on)|overkill)\b",
    r"\b(?:nicht\s+(?:nötig|notwendig|erforderlich|so\s+wichtig|schlimm)|unnötig|überflüssig|brauch\w*\s+(?:\w+\s+){0,5}nicht|musst?\s+(?:\w+\s+){0,5}nicht|egal|getrost|geschenkt|spar\s+dir|"
    r"kannst\s+(?:\w+\s+){0,6}(?:ignorieren|vergessen|weglassen|sparen)|kümmer\w*\s+(?:\w+\s+){0,4}nicht|"
    r"nicht\s+(?:mehr\s+|weiter\s+)?(?:zu\s+)?(?:kümmern|sorgen|scheren|interessieren))\b",
    r"\b(?:plus\s+(?:à|besoin\s+de)\s+(?:\w+\s+)?|plus\s+(?:nous|vous|se|s['’]|t['’]|te)\s*)(?:soucier|préoccuper|inquiéter|occuper)\b|"
    r"\b(?:no|sin)\s+(?:\w+\s+){0,3}preocupar(?:nos|te|se|me)?\b|\bnon\s+(?:\w+\s+){0,3}preoccupar(?:ci|ti|si)\b",
    r"\b(?:pas\s+la\s+peine|pas\s+(?:nécessaire|obligé|besoin|grave|obligatoire)|inutile|superflu\w*|peu\s+importe|n['’]importe\s+plus|tant\s+pis|sans\s+importance|on\s+s['’]en\s+(?:passe|fiche)|laisse\s+tomber)\b",
    r"\bno\s+(?:hace\s+falta|es\s+necesari\w|importa|tienes\s+que|te\s+preocupes|merece\s+la\s+pena|vale\s+la\s+pena|pasa\s+nada)\b|\b(?:da\s+igual|innecesari\w|sobra|qué\s+más\s+da)\b",
    r"\bnão\s+(?:precisa\w*|é\s+(?:preciso|necessári\w|importante)|faz\s+(?:falta|mal)|tem\s+(?:importância|problema)|vale\s+a\s+pena|se\s+preocup\w+)\b|\b(?:tanto\s+faz|desnecessári\w|dispens\w+)\b",
    r"\bnon\s+(?:serve|occorre|è\s+(?:necessari\w|importante|il\s+caso)|c['’]è\s+bisogno|importa|ti\s+preoccupare|fa\s+niente|vale\s+la\s+pena)\b|\b(?:inutile|superflu\w|pazienza|fa\s+lo\s+stesso)\b",
    r"\bnie\s+(?:trzeba|musi\w*|ma\s+(?:potrzeby|sensu|znaczenia)|potrzeba|jest\s+(?:konieczn\w+|ważn\w+)|szkodzi|przejmuj)\b|\b(?:niepotrzebn\w+|zbędn\w+|nieważne|daruj|obojętn\w+)\b",
    r"\b(?:niet\s+(?:nodig|erg|belangrijk)|hoeft\s+(?:\w+\s+){0,4}niet|onnodig|maakt\s+niet\s+uit)\b",
    r"\b(?:не\s+(?:нужно|надо|обязательн\w+|страшно|важно|принципиальн\w+|беспокойся|стоит|будем\s+мелочиться)|незачем|необязательн\w+|ни\s+к\s+чему|неважно|без\s+разницы|всё\s+равно|ладно\s+уж)\b",
    "(?:没(?:有)?|无)(?:必要|所谓|关系|大碍)|不(?:必|需要|用(?!户)|打紧|要紧|重要)|无妨|犯不着|(?:必要|心配|問題|関係)(?:は|も)?(?:ない|ありません|ございません)|(?:いら|要ら|構わ|かまわ|こだわら)(?:ない|なく|ません)|どうでもいい|"
    "필요(?:는|가)?\\s*없|상관\\s*없|안\\s*해도|않아도|괜찮",
)
#: it does no harm
HARMLESS = _rx(
    r"\b(?:wo(?:n['’]t|uld\s?n['’]?t)\s+(?:hurt|kill|harm|matter)|does\s?n['’]?o?t\s+(?:hurt|harm)|do(?:es)?\s+no\s+harm|no\s+harm|acceptable|permissible|tolerable|no\s+longer\s+(?:cares?|minds?|insists?|needs?|requires?)|so\s+be\s+it)\b",
    r"\b(?:schade(?:t|n)\s+(?:\w+\s+)?nicht|tu[tn]?n?\s+(?:\w+\s+)?nicht\s+weh|macht\s+nichts|stört\s+(?:\w+\s+)?nicht|dann\s+eben)\b",
    r"\b(?:(?:ne\s+)?fait\s+pas\s+de\s+mal|ne\s+gêne\w*\s+pas|ça\s+passe|passe\s+aussi|va\s+pour)\b|\bno\s+(?:hace\s+daño|pasa\s+nada|molesta\w*)\b|\b(?:vamos\s+bien|pues\s+sea)\b",
    r"\bnão\s+(?:faz\s+mal|dói|atrapalha)\b|\bnon\s+(?:fa\s+male|succede\s+(?:niente|nulla)|dà\s+fastidio)\b|\bvada\s+per\b|\bnie\s+(?:zaszkodzi|boli)\b|\b(?:ujdzie|ujdą|odpuszczam|niech\s+będzie)\b",
    r"\bне\s+(?:повредит|помешает)\b|\b(?:потянем|выдержим|переживём|переживем|уместн\w+|допустим\w+|пусть\s+будет)\b|没事|不碍事|无碍|也没什么|でも(?:いい|よい|良い|OK)|ちゃってください|무방",
    r"^\W*(?:[\w-]+\s+){1,3}it\s+is(?=\s*[,.!]|$)",
)
#: the thing is ours, open or free now
HANDED = _rx(
    r"\b(?:ours|yours|unlock\w*|unblock\w*|unfroz?en|unfreez\w*|opened\s+(?:up)?|freed|handed\s+(?:over|to\s+us|it)|took\s+(?:it\s+)?over|taken\s+over|take\s+over|give[sn]?\s+(?:us|you)|gave\s+(?:us|you)|"
    r"belongs?\s+to\s+us|in\s+our\s+(?:court|hands)|(?:it|that|this|they|those)(?:[’']s|\s+is|\s+are|[’']re)\s+(?:on\s+)?us|on\s+our\s+side\s+now|re-?enable\w*|switch\w*\s+(?:\w+\s+){0,4}back\s+on|let\s+loose|free\s+rein|free\s+hand)\b",
    r"\b(?:frei\s?(?:geben|gegeben|geschaltet|schalten|gabe)|freigegeben|entsperr\w*|aufgemacht|überlassen|übergeben|übernommen|übernimm|(?:hat|haben)\s+uns\b[^.?!]{0,50}\b(?:gegeben|eingeräumt|erteilt)|gehör\w+\s+(?:\w+\s+)?uns|unser\w*\s+sache|uns(?:er|ere)\b|wieder\s+frei|schalt\w*\s+[^.?!]{0,50}\bfrei|gib\s+[^.?!]{0,40}\bfrei)\b",
    r"\b(?:débloqu\w+|déverrouill\w+|libér\w+|ouvert\w*|cédé\w*|confié\w*|(?:à|chez)\s+nous|c[’']est\s+nous|nous\s+(?:revient|appartient)|main\s+libre|rouv\w+|réactiv\w+)\b",
    r"\b(?:desbloque\w+|liber\w+|cedid\w|cedieron|cosa\s+nuestra|encárgate|hazte\s+cargo|(?:lo\s+llevamos|somos)\s+nosotros|nuestr[oa]s?|abiert\w|traspas\w+|reactiv\w+|pasad\w\s+a\s+nosotros)\b|\b(?:desbloque\w+|liberad\w|cedid\w|noss[oa]s?|somos\s+nós|é\s+com\s+a\s+gente|conosco|com\s+a\s+gente|abert\w|reativ\w+|passou\s+para\s+nós)\b",
    r"\b(?:sblocc\w+|liberat\w|libero|cedut\w|passat[oa]\s+a\s+noi|nostr[oaie]|apert\w|riattiv\w+|affidat\w)\b|\b(?:odblok\w+|zwolnion\w+|przekaza\w+|oddali|nasz[ea]?|otwart\w+|włącz\w*\s+z\s+powrotem)\b|\b(?:vrijgegeven|ontgrendel\w*|overgedragen|van\s+ons)\b",
    r"\b(?:разблокир\w+|открыт\w*|передал\w+|отдал\w+|наш[аеиу]?\b|договорил\w+|свобод\w+|включ\w+\s+обратно|да(?:ю|ём|л\w*)\s+добро|разреш\w+)\b",
    "解锁|解禁|放开|放行|(?:交|移交|转|归|划)给?(?:了)?(?:我们|咱们|咱|你)|归(?:我们|咱们)|我们(?:自己)?(?:维护|负责|接手|接管)|重新开(?:放|启)|ロック(?:を)?解除|引き継|こちらの(?:担当|もの)|任され|譲|開放|解放|풀었|풀렸|잠금\\s*해제|넘겨받|우리\\s*(?:담당|것|쪽)|개방",
)
#: the user was too strict
ADMIT = _rx(
    r"\b(?:too|overly|unnecessarily)\s+(?:strict|cautious|careful|rigid|tight|harsh|conservative|picky)\b|\bover-?cautious\b|\bexaggerat\w+|\b(?:not|isn['’]t|aren['’]t)\s+(?:set|carved|written|cast)\s+in\s+stone\b|\bnot\s+(?:sacred|gospel|a\s+dogma)\b|\bmy\s+(?:mistake|bad)\b",
    r"\b(?:zu|über)\s?(?:streng|vorsichtig|pingelig|eng|knapp)\w*\b|\bübertrieb\w+|\bnicht\s+in\s+stein\b|\bkein\s+dogma\b|\bmein\s+fehler\b",
    r"\b(?:trop|un\s+peu)\s+(?:strict|prudent|sévère|rigide|restrictif|large)\w*\b|\bexagér\w+|\bpas\s+gravé\b|\bexcès\s+de\s+\w+|\bma\s+faute\b",
    r"\bdemasiad[oa]\s+(?:estrict|prudent|riguros|cauto|cautelos)\w*|\bexager\w+|\bexceso\s+de\s+\w+|\bme\s+pasé\b|\bno\s+está\s+(?:grabad|escrit)\w+\s+en\b|\brígid[oa]\s+demais\b|\bexcesso\s+de\s+\w+|\bexagerei\b",
    r"\btroppo\s+(?:sever|rigid|prudent|cauto|strett)\w*|\besager\w+|\beccesso\s+di\s+\w+|\bnon\s+è\s+scritto\s+nella\s+pietra\b|\b(?:zbyt|za)\s+(?:ostrożn|surow|restrykcyjn)\w+|\bprzesadzi\w+|\bnie\s+jest\s+święt\w+",
    r"\b(?:слишком|чересчур)\s+(?:строг|осторож|жёстк|жестк)\w*|\bперестрахова\w+|\bпогорячил\w+|\bне\s+догма\b|太(?:严|死|谨慎|小心)|过于|多虑|言い過ぎ|厳しすぎ|慎重すぎ|너무\s*(?:엄격|조심|빡빡)|과했",
)
#: a figure or a thing will do
ACCEPT = _rx(
    r"\b(?:fine|ok(?:ay)?|acceptable|al(?:l\s+)?right|good\s+enough|will\s+do|works?|enough|go\s+(?:for|with|to|up\s+to)|allowed|tolerable|live\s+with|no\s+problem|suits?)\b",
    r"\b(?:ok(?:ay)?|in\s+ordnung|reich(?:t|en)|passt|passen|geht|gehen|genüg\w+|akzeptabel|gut|erlaubt|nimm|kein\s+problem|vertretbar|komm\w+\s+[^.?!]{0,30}\bklar|tut['’]?s\s+auch)\b",
    r"\b(?:ça\s+(?:va|ira|passe|suffit|me\s+va)|convient|suffi\w+|acceptable|d['’]accord|tolérable|correct|bien|ok)\b|\b(?:(?:me\s+)?parece\s+bien|está\s+bien|val(?:e|en)|basta\w*|acept\w+|de\s+sobra|admit\w+|sirve)\b",
    r"\b(?:está\s+(?:bom|ótimo|bem)|serve|dá|aceit\w+|tudo\s+bem|chega|basta|pode\s+ser)\b|\b(?:va\s+bene|vanno\s+bene|bast\w+|accett\w+|può\s+andare|ci\s+sta)\b|\b(?:może\s+być|wystarcz\w+|ok|w\s+porządku|ujdzie|starczy)\b|\b(?:prima|volstaat|genoeg|mag)\b",
    r"\b(?:сойд[её]т|хватит|подойд[её]т|нормально|приемлем\w+|годится|устро\w+|устраива\w+|хорошо|пойд[её]т|ок)\b",
    "(?:也|就)?(?:行|可以|够|没问题|凑合|接受|成)|(?:大丈夫|十分|結構|許容|\bOK\b|いい|よい)(?:です|ます)?|괜찮|충분|좋|돼|됩니다",
)
#: the deed is welcome: whenever, however, as often as you like
WELCOME = _rx(
    r"\b(?:welcome\s+(?:to|in)|whenever\s+\w+|when(?:ever)?\s+you(?:['’]re|\s+are)?\s+\w+|be\s+free\s+to|knock\s+yourself\s+out|go\s+nuts|help\s+yourself|if\s+you\s+(?:like|want|wish|prefer|need)|all\s+yours|trust\s+you(?:r)?)\b",
    r"\b(?:wann\s+(?:immer\s+)?du|wenn\s+du\s+(?:magst|willst|möchtest)|nach\s+herzenslust|was\s+(?:du|ihr)\s+woll?t|vertraue\s+dir|nur\s+zu)\b",
    r"\b(?:quand\s+tu\s+(?:veux|voudras)|si\s+tu\s+(?:veux|préfères)|te\s+gêne\s+pas|fais?[-\s]toi\s+plaisir|te\s+fais\s+confiance|à\s+ta\s+guise)\b|\b(?:cuando\s+(?:quieras|puedas)|adelante\s+con|si\s+(?:quieres|te\s+conviene)|a\s+tu\s+gusto|confío\s+en\s+ti|te\s+dejo)\b",
    r"\b(?:quando\s+quiser|se\s+(?:você\s+)?quiser|fique\s+à\s+vontade|confio\s+em)\b|\b(?:quando\s+vuoi|se\s+vuoi|mi\s+fido|come\s+ti\s+pare|a\s+piacere)\b|\b(?:kiedy\s+(?:chcesz|zechcesz)|jak\s+wolisz|jeśli\s+chcesz|ufam\s+ci|śmiało)\b",
    r"\b(?:когда\s+(?:хочешь|захочешь|удобно)|если\s+(?:хочешь|удобн\w+)|доверяю|на\s+тво[её]\s+усмотрение|не\s+стесняйся)\b|想怎么.{1,4}(?:就)?怎么|你(?:看着|自己)(?:办|定|来|决定)|信得过|好きな(?:とき|よう)|いつでも|信頼して|마음대로|알아서|원하는\\s*대로|믿고",
)
