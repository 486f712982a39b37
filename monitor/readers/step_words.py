"""Words that tell what a user's message is about to do, in six languages, as compiled patterns.

Input of :mod:`monitor.readers.step_parse`. Kept apart because these are lists to be extended, not logic.
English, German, Chinese, Japanese, Spanish and French. Patterns work on lower-case text; Latin words are
matched whole.
"""

from __future__ import annotations

import re


def _latin(words: str) -> str:
    return r"\b(?:" + "|".join(re.escape(w.strip()) for w in words.split(";") if w.strip()) + r")(?!\w)"


def _phrases(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(";"))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _plain(words: str) -> str:
    return "|".join(re.escape(w) for w in words.split())


#: the whole message is only a nod (compared after punctuation is stripped)
ACKS = _phrases(
    "ok;okay;k;yes;y;yep;yeah;sure;continue;go on;go ahead;proceed;please continue;continue please;"
    "keep going;sounds good;looks good;lgtm;do it;yes please;yes do it;yes continue;good;great;perfect;"
    "nice;fine;right;"
    "ja;weiter;mach weiter;bitte weiter;ja bitte;gut;passt;alles klar;genau;einverstanden;los;ja mach das;"
    "继续;好;好的;可以;是;是的;行;嗯;对;没问题;继续吧;请继续;同意;"
    "はい;続けて;続けてください;お願いします;了解;了解です;うん;進めて;進めてください;いいよ;"
    "sí;si;vale;continúa;continua;sigue;adelante;de acuerdo;claro;bien;perfecto;hazlo;"
    "oui;continuez;vas-y;allez-y;d'accord;d’accord;bien sûr;parfait;très bien;poursuis;poursuivez"
)

#: the user says that what was done is wrong
CORRECTION = re.compile(
    r"^(?:no|nope|nein|non|stop|halt|wrong|falsch)(?!\w)|^(?:いいえ|いや|不[,，。 ]|不是|不对)|"
    + _latin(
        "that's wrong;thats wrong;that is wrong;that's not;that is not;this is wrong;this is not;"
        "not what i;still fails;still failing;still broken;still not;still wrong;still doesn't;"
        "still does not;doesn't work;does not work;didn't work;did not work;doesn't fix;did not fix;"
        "didn't fix;i said;i told you;you didn't;you did not;you forgot;revert that;revert this;undo that;"
        "undo this;undo your;try again;incorrect;das stimmt nicht;stimmt nicht;ist falsch;so nicht;"
        "nicht so;geht immer noch nicht;immer noch nicht;funktioniert nicht;klappt nicht;geht nicht;"
        "rückgängig;ich habe gesagt;ich sagte;du hast vergessen;versuch es nochmal;immer noch falsch;"
        "está mal;esta mal;eso no;no es lo que;no funciona;sigue fallando;sigue sin;todavía no;todavia no;"
        "incorrecto;equivocado;deshaz;te dije;no era;inténtalo de nuevo;c'est faux;c’est faux;ce n'est pas;"
        "ce n’est pas;ne marche pas;ne fonctionne pas;toujours pas;pas ce que;annule ça;annule cela;"
        "tu as oublié;j'ai dit;j’ai dit;réessaie"
    )
    + "|"
    + _plain(
        "不对 错了 还是不行 还是报错 还是错 没用 不行 撤销 回退 我说的是 不是这样 弄错 搞错 重新来 "
        "違う 違います 間違 じゃない ではなく まだ動か 動かない 動きません うまくいか 直って 元に戻 やり直し"
    )
)

#: the message opens something new
NEW_TASK = re.compile(
    _latin(
        "new task;next task;another task;different task;unrelated;different topic;moving on;move on to;"
        "switch to;let's move on;something else;new feature;next up;neue aufgabe;nächste aufgabe;"
        "andere aufgabe;anderes thema;neues thema;als nächstes;etwas anderes;weiter mit;nueva tarea;"
        "siguiente tarea;otra tarea;otra cosa;otro tema;a continuación;lo siguiente;cambiemos;pasemos a;"
        "nouvelle tâche;prochaine tâche;autre tâche;autre chose;autre sujet;passons à;changeons"
    )
    + "|"
    + _plain(
        "接下来 换一个 换个 新任务 下一个任务 下一步 另一个 别的任务 新的任务 新功能 "
        "次のタスク 次に 次は 別のタスク 別の件 新しいタスク 今度は 話は変わ"
    )
    + r"|^(?:now|next|another|jetzt|nun|ahora|siguiente|maintenant|ensuite)(?!\w)"
    + "|^(?:现在|另外|続いて|それでは)"
)

#: the message points back at what was there
ANAPHORA = re.compile(
    _latin(
        "it;that;this;those;these;again;same;above;them;"
        "das;dies;diese;dieser;dieses;nochmal;noch mal;wieder;davon;damit;daran;dabei;denselben;dasselbe;"
        "eso;esto;ese;esa;este;esta;otra vez;de nuevo;lo mismo;"
        "ça;cela;ce;cet;cette;ces;encore;celui;celle;le même;la même"
    )
    + "|"
    + _plain("这个 那个 这些 它 刚才 上面 再次 同样 これ それ あれ この その もう一度 さっき 同じ")
)

#: thanks, or the user closes the matter
THANKS = re.compile(
    _latin(
        "thanks;thank you;thx;ty;that's all;that is all;all done;we're done;we are done;done for today;"
        "danke;dankeschön;vielen dank;besten dank;das war's;das wars;fertig für heute;"
        "gracias;muchas gracias;eso es todo;merci;merci beaucoup;c'est tout;c’est tout"
    )
    + "|"
    + _plain("谢谢 多谢 感谢 辛苦了 ありがとう どうも 助かりました 以上です")
)

#: words without a topic of their own; three letters and fewer are dropped before this list is asked
STOP = _words(
    "about after again also been before being both cannot could does doing done down each ever every "
    "from have having here into itself just like make many more most much must need only other over "
    "please really same shall should since some such than that them then there these they this those "
    "through under until very want were what when where which while will with without would your yours "
    "thing things let's sure okay still aber alle allem allen aller alles also auch auf bitte dann "
    "dass dein deine dem denn dies diese diesem diesen dieser dieses doch dort durch eine einem einen "
    "einer eines einfach etwas haben hier ihre immer jetzt kann kannst können machen mach mehr mein "
    "meine mich muss nach nicht noch nochmal oder ohne schon sein seine sich sind soll sollte über und "
    "unser unter viel vom wenn werden wieder wird wurde zum zur ahora algo antes aquí como cuando "
    "desde donde ellos entre esta estas este esto estos favor hacer hasta luego mucho nada otra otro "
    "para pero porque puede puedes quiero sobre solo también tiene todo todos una unas unos alors "
    "après aussi autre avant avec avoir bien cela celle celui cette ceux chaque comme dans depuis donc "
    "elle encore entre est être faire fait faut ici ils jusque leur leurs mais même nous pour pourquoi "
    "plus quand quelque sans sera sont sous sur tous tout toute toutes très une veux vous"
)
