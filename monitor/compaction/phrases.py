"""Words by which the prose of an assistant is sorted: reasons, choices, ways given up, next steps, results.

Patterns only, no logic, of many languages; :mod:`prose` asks them all at once, as their words do not collide here.
"""

from __future__ import annotations

import re

_I = re.IGNORECASE


def _rx(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), _I)


#: why something was done
REASON = _rx(
    r"\b(?:because|since\s+(?!\d|release|v\d|yesterday|last)|due\s+to|caused\s+by|the\s+reason|"
    r"root\s+cause|so\s+that|in\s+order\s+to|therefore|that['’]s\s+why|otherwise|as\s+it|it\s+is(?=:\s\w)|"
    r"which\s+means|whereas|while\s+(?:the|it)\s+\w+\s+expects?)\b",
    r"\b(?:weil|denn|da\s+(?:der|die|das|es|wir|sonst)|damit|deshalb|daher|wegen|ursache|grund|sonst|"
    r"ohnehin|sodass|dadurch|wodurch|während\s+\w+\s+\w+\s+erwartet|liegt\s+daran)\b",
    "比.{1,16}[少快省好稳]|因为|由于|原因|所以|因此|以便|否则|为了|根因|既然",
    "ため|ので|から[、。]|理由|原因|なぜなら|そのため|よって",
    r"\b(?:porque|ya\s+que|mientras\s+que|viene\s+de|debido|causa\w*|por\s+eso|para\s+que|puesto\s+que|así\s+que|motivo|si\s+no)\b",
    r"\b(?:parce\s+qu|alors\s+qu|vient\s+d|car|puisqu|à\s+cause|grâce|afin|donc|sinon|raison|cause)",
    r"\b(?:porque|pois|já\s+que|uma\s+vez\s+que|por\s+causa|devido|para\s+que|senão|causa\s+raiz|perché|poiché|"
    r"siccome|mentre\s+\w+|enquanto\s+o\s|vem\s+d[eoa]|dato\s+che|visto\s+che|"
    r"a\s+causa|altrimenti|causa|motivo|потому|поскольку|так\s+как|из-за|чтобы|иначе|поэтому|причин\w+)\b|때문|위해|므로|"
    r"원인|이유|그래서|왜냐하면|(?:아|어|여)서\s",
    r"\b(?:omdat|want|doordat|zodat|daarom|anders|oorzaak|reden|ponieważ|bo|dlatego|żeby|przyczyn\w+|powod\w+|"
    r"inaczej|çünkü|yüzünden|nedeni?\w*|sebe[bp]\w*|dolayı)\b",
)
#: a choice between ways
CHOICE = _rx(
    r"\b(?:decid\w+|decision|chose|choose|chosen|opt(?:ed)?\s+for|instead(?:\s+of)?|rather\s+than|"
    r"prefer\w*|recommend\w*|suggest\w*|propos\w*|switch(?:ed|ing)?\s+to|go(?:ing)?\s+with|went\s+with|"
    r"settled|agreed|it\s+is(?=:\s)|we['’]ll\s+use|approach|trade-?off|plan\s+is|replaced\s+by|option)\b",
    r"\b(?:entschieden|entscheid\w+|gewählt|statt|anstatt|stattdessen|lieber|empfehle\w*|schlage\s+vor|"
    r"vorschlag|nehmen\s+wir|nimm|umgestellt|ersetzt|einverstanden|variante|plan\s+steht|verwenden\s+wir|"
    r"würde\s+ich|ich\s+würde|möglichkeiten)\b",
    r"\b(?:let['’]s|go|try|use|take|do|with)\b[^.?!]{1,60}\bthen\b|^(?:then|ok(?:ay)?,?\s+then)\b|\bforget\s+\w+ing\b|"
    r"^(?:ok(?:ay)?,?\s+|gut,?\s+|na\s+gut,?\s+)?dann\s+(?!ist|war|hat|sind|kommt)\w+|^(?:vale,?\s+|bueno,?\s+)?entonces\s+\w+|"
    r"^(?:bon,?\s+|ok,?\s+)?(?:du\s+coup|alors)\b|\bon\s+(?:part|passe|reste)\s+(?:sur|à|avec)\b|\blaisse\s+tomber\b|"
    r"^(?:ok,?\s+)?então\s+\w+|^(?:ok,?\s+)?allora\s+\w+|\bpassa\s+a\b|\bvai\s+(?:con|pelo|pela|com)\b|^(?:no\s+to|to)\s+\w+my\b|\bidź\s+(?:po|w)\b|"
    r"^(?:тогда)\s|那就|就这么|やめましょう|の方で|でいきましょう|(?:으)?로\s*(?:가죠|갑시다|하죠|합시다)|그만두",
    "用.{1,20}(?:作为|当作?)|决定|改用|改为|改成|选择|选用|采用|建议|推荐|方案|换成|就用|而不是|放弃|替代",
    "決定|採用|選択|選びました|代わりに|に変更|推奨|提案|方針|方式|案[はを]|ではなく|にします|切り替え|を使い(?:ます|ました)|を使うことに",
    r"\b(?:decid\w+|decisi[oó]n|eleg\w+|en\s+(?:vez|lugar)\s+de|recomiendo|propongo|propuest\w+|mejor|"
    r"opci[oó]n|opt\w+|cambi\w+\s+a|usar(?:emos)?|se\s+usa|hipótesis)\b",
    r"\b(?:décid\w+|décision|choisi\w*|choix|plutôt|au\s+lieu|recommand\w+|propos\w+|préf\w+|opter|solution)\b",
    r"\b(?:decidi\w*|decisão|escolh\w+|em\s+vez|recomend\w+|sugiro|proponho|melhor|opção|invece|anziché|scelt\w+|"
    r"scelg\w+|decis\w+|propong\w+|"
    r"consigli\w+|suggerisc\w+|conviene|решил\w*|решено|выб[ие]ра\w+|вместо|предлага\w+|предпоч\w+|лучше|"
    r"рекоменду\w+)\b|결정|선택|대신|제안|추천|바꾸기로|하기로",
    r"\b(?:besloten|gekozen|kies|in\s+plaats\s+van|stel\s+voor|liever|wybra\w+|zdecydowa\w+|zamiast|proponuj\w+|"
    r"lepiej|karar\w*|seçtim|yerine|öneri\w+)\b",
)
#: a way that was tried and given up, a guess that proved wrong
GIVEN_UP = _rx(
    r"\b(?:is|are)\s+out(?:\s+(?:then|of\s+the\s+question))?(?=[,;.!]|$)|\b(?:ist|sind)\s+(?:damit\s+|also\s+)?raus\b|\bqueda[n]?\s+fuera\b|不考虑",
    r"\b(?:abandon\w*|reject\w*|ruled\s+out|rule\s+out|discard\w*|dropped|drop(?:ping)?\s+(?:the|this|"
    r"that)|gave\s+up|give\s+up|did\s?n['’]?o?t\s+(?:work|help)|does\s?n['’]?o?t\s+(?:work|help|explain)|"
    r"no\s+effect|dead\s+end|revert\w*|rolled\s+back|not\s+the\s+(?:root\s+)?cause|wrong\s+hypothesis|"
    r"was\s+wrong|turned\s+out|too\s+(?:slow|heavy|large|expensive)|only\s+explains|not\s+enough|"
    r"fails?\s+because)\b",
    r"\b(?:wieder\s+(?:entfernt|ausgebaut|raus\w*|gelöscht)|verletzt|ausprobiert)\b|\b(?:verworfen|verwerfe\w*|"
    r"aufgegeben|abgelehnt|trägt\s+nicht|geht\s+nicht|funktioniert\s+nicht|"
    r"klappt\s+nicht|bringt\s+nichts|lass\b[^.?!]{0,40}\bweg|weglassen|zurückgenommen|rückgängig|"
    r"ausgeschlossen|scheidet\s+aus|sackgasse|hilft\s+nicht|verhindert\s+nur|erklärt\s+nur|"
    r"reicht\s+nicht|zu\s+(?:langsam|schwer|teuer|groß))\b",
    "放弃|行不通|没有效果|没效果|无效|不可行|排除|推翻|回滚|撤销|走不通|太[重慢大贵]|不是(?:根本)?原因|没有用|不管用|几乎没有",
    "断念|却下|見送|効果がな|効果はな|うまくいか|だめでし|ダメでし|原因ではな|除外|ロールバック|取り下げ|やめ(?:ます|ました|て)|重すぎ|遅すぎ|不十分",
    r"\b(?:descart\w+|abandon\w+|no\s+funcion\w+|no\s+sirve|no\s+explica|no\s+es\s+la\s+causa|revert\w+|"
    r"rechaz\w+|sin\s+efecto|callejón|no\s+admite|no\s+basta|demasiado)\b",
    r"\b(?:abandonn\w+|écart\w+|rejet\w+|ne\s+marche\s+pas|ne\s+fonctionne\s+pas|sans\s+effet|annul\w+|"
    r"impasse|n['’]est\s+pas\s+la\s+cause|trop\s+(?:lent|lourd))",
    r"\b(?:descart\w+|abandon\w+|desisti\w*|não\s+(?:funcion\w+|resolv\w+|adiant\w+|basta|serve|explica)|revert\w+|"
    r"scartat\w+|scarto|abbandonat\w+|"
    r"non\s+(?:funziona|basta|serve|risolve|spiega)|troppo\s+\w+|rinunci\w+|отказ\w+|отклон\w+|отброс\w+|"
    r"не\s+(?:работает|помог\w+|подход\w+|объясня\w+)|"
    r"слишком\s+\w+|откат\w+)\b|포기|제외|배제|효과가\s*없|안\s*(?:됩|되|돼)|않아서|너무\s",
    r"\b(?:verworpen|afgevallen|werkt\s+niet|te\s+(?:traag|zwaar|duur)|odrzuc\w+|porzuc\w+|nie\s+(?:działa|pomaga)|"
    r"zbyt\s+\w+|vazgeç\w+|bırak(?:ıyorum|tım)|işe\s+yaramadı|denedim\s+ama)\b",
)
#: a way does not do: said of what was tried
FAILS = _rx(
    r"\b(?:fails?|failed|failing|breaks?|broke\w*|crash\w*|wrong|missing|lost|gone|twice|too\s+\w+|cannot|can['’]t|does\s?n['’]?t|did\s?n['’]?t|not\s+enough|still)\b",
    r"\b(?:scheiter\w*|fehl\w*|schläg\w*|bricht|kaputt|stört|falsch|doppelt|geht\s+nicht|reicht\s+nicht|zu\s+(?:langsam|groß|viel|spät)|nicht\s+auf)\b",
    r"\b(?:falla\w*|fall[óo]|rompe\w*|falta\w*|mal|demasiado|no\s+\w+|échou\w+|casse\w*|bloqu\w+|manqu\w+|trop|ne\s+\w+\s+pas|"
    r"falh\w+|quebr\w+|não\s+\w+|fallisc\w+|rompe|manca\w*|troppo|non\s+\w+|resta\s+a\s+metà|nie\s+\w+|błąd|powtarzaj\w+|faalt|mislukt|te\s+\w+|niet)\b",
    "失败|报错|溢出|丢失|崩|不够|太|不[行了对]|失敗|崩れ|落ち|足り|できな|ません|壊れ|실패|오류|남았|부족|안\\s|못",
)
#: what comes next
NEXT = _rx(
    r"\b(?:next(?:\s+steps?)?|remaining|still\s+(?:open|to\s+do|missing|left)|left\s+to\s+do|(?<![\\@/_-])todo|"
    r"to\s+do|left(?=\s*:)|what\s+(?:remains|is\s+left)|what['’]s\s+(?:left|open|missing)|outstanding|unfinished|not\s+(?:yet\s+)?done|"
    r"then\s+i['’]ll|i['’]ll\s+then|afterwards|open\s+(?:items?|points?|questions?|issues?|tasks?)|waiting\s+for|"
    r"should\s+wait|pending|follow-?up)\b",
    r"\b(?:nächste[rsn]?\s+schritte?|als\s+nächstes|danach|offen(?:e[rsn]?)?|noch\s+(?:zu|offen)|"
    r"bleibt\s+noch|ausstehend|steht\s+noch\s+aus|fehlt\s+noch|restliche)\b",
    "下一步|接下来|剩下|剩余|还需|还要|待办|未完成|之后再|然后再|还差",
    "次(?:は|に|の)|残り|残って|これから|未完了|今後の|あとは|続いて",
    r"\b(?:siguiente(?:s)?\s+pasos?|próximo|queda[n]?|falta[n]?|pendiente[s]?|a\s+continuación|después|luego)\b",
    r"\b(?:prochaine[s]?\s+étapes?|reste(?:nt)?(?!\s+(?:inchang|tel|identique|en\s))|ensuite|à\s+faire|"
    r"en\s+attente)\b",
    r"\b(?:próximos?\s+passos?|em\s+seguida|depois\s+(?:disso|eu)|faltam?|restam?|pendentes?|ainda\s+(?:falta|"
    r"precis\w+)|"
    r"prossim\w+\s+pass\w+|poi\s+(?:pass\w+|resta\w*|bisogna)|rest(?:a|ano)\s+(?:da|i|il|la|le|gli)|manc(?:a|ano)|"
    r"ancora\s+da|da\s+fare|in\s+sospeso)\b",
    r"\b(?:далее|дальше|затем|осталось|остал\w+\s+(?:сделать|ещё|еще)|следующ\w+|после\s+этого|предстоит|"
    r"ещё\s+нужно|еще\s+нужно)\b|다음|남은|남았|이후|해야\s*할",
    r"\b(?:volgende\s+stap\w*|daarna|nog\s+(?:te\s+doen|open)|resteert|następn\w+|potem|zostało|pozostał\w+|"
    r"do\s+zrobienia|"
    r"sonraki\s+ad\w+|ardından|kaldı|kalan(?:lar)?|yapılacak\w*)\b",
)
#: something is done or found out
RESULT = _rx(
    r"\b(?:found|confirmed|shows?|explains?|fixed|done|finished|green|passes|passed|works|verified|"
    r"measured|equals|exactly|released|deployed|merged|reached|reaches|achieved|dropped\s+to|down\s+to)\b",
    r"\b(?:gefunden|bestätigt|zeigt|behoben|erledigt|fertig|grün|läuft|gemessen|ergibt|umgestellt|scheitern|stimmt|"
    r"erreicht)\b",
    "发现|确认|修复|完成|通过|已经|降到|提交|原因|结果|达到",
    "確認|判明|修正|完了|成功|原因|結果|できました|見つか|達成",
    r"\b(?:encontr\w+|confirm\w+|listo|hecho|arregl\w+|funciona|muestra\w*|apunta\w*|bajó|activó|causa|alcanz\w+)\b",
    r"\b(?:trouvé|confirmé|corrigé|terminé|fait|montre|fonctionne|prêt|atteint)\b",
    r"\b(?:encontr\w+|confirm\w+|corrigi\w*|pront\w+|feito|conclu\w+|mostra\w*|causa|trovat\w+|conferm\w+|"
    r"corrett\w+|risolt\w+|finit\w+|fatto|"
    r"mostra|causa|наш[её]л\w*|подтвер\w+|исправ\w+|готово|заверш\w+|показыва\w+|причин\w+|выросл?\w*|снизил\w*)\b|"
    r"찾았|확인|수정|완료|통과|원인|결과|실패",
    r"\b(?:gevonden|bevestigd|opgelost|klaar|toegevoegd|volgens|blijkt|znalaz\w+|potwierdz\w+|naprawi\w+|gotowe|"
    r"zwraca|buldum|doğrulan\w+|düzelt\w+|bitti|sorun|bozuk)\b",
)
#: what somebody else said or wrote, told by the user
REPORTED = _rx(
    r"\b(?:jok(?:es|ed|ing)|witzelt\w*|scherz\w*|plaisant\w*|brome\w+|bromas?|żartuj\w*|шут[ия]\w*|пошутил\w*)\b|开玩笑|冗談|농담|\b(?:shout(?:s|ed)|yell(?:s|ed)|thinks?|thought|wants|asked|rief|schrie|fand|gritó|pidió|quiere|crié|demandé|veut|urlato|chiesto|vuole|"
    r"gritou|pediu|quer|krzyknął|prosił\w*|chce|riep|roept|vond|wil|крикнул\w*|просил\w*|хочет)\b|喊|叫嚷|叫んで|頼まれ|외쳤",
    r"\b(?:falou|disse|diz|escreveu|sugeriu|segundo|ha\s+(?:detto|scritto)|dice|scrive|secondo|suggerisce|zei|zegt|schreef|volgens|"
    r"powiedział\w*|mówi\w*|napisał\w*|według|сказал\w*|говорит|пишет|написал\w*|dedi|diyor|yazdı)\b|말했|말씀|하던데|라고",
    r"\b(?:wrote|writes|says?|saying|said|told|suggest(?:s|ed)|according\s+to|quote|comment(?:ed)?|asks?\s+for|"
    r"opinion)\b",
    r"\b(?:schrieb|schreibt|sagt(?:e)?|meint(?:e)?|laut|zitat|kommentar|meinung)\b",
    "说|写道|写了|提到|认为|评论|引用|原话|建议说",
    "書いて|言って|言われ|曰く|によると|コメント|引用|意見",
    r"\b(?:escribió|escribe|dijo|dice|según|opina|comentó|cita|propuso)\b",
    r"\b(?:a\s+écrit|écrit|a\s+dit|dit|selon|d['’]après|commentaire|propose)\b",
)
