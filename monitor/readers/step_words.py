"""Words that tell what a user's message is about to do, in six languages.

Input of :mod:`monitor.readers.step_parse`. Kept apart because these are lists to be extended, not logic.
English, German, Chinese, Japanese, Spanish and French. They are looked for in lower-case text; Latin words are
matched whole. A set of words and a search for each phrase take a few microseconds where one pattern of all of
them takes a hundred, and nothing has to be compiled at the start.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")


def is_wide(text: str) -> bool:
    """Whether a text has characters of scripts without spaces (or symbols as far up)."""
    return not text.isascii() and max(text) >= "\u2e80"


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    return _WORD.findall(text)


class Words:
    """The words of a lower-case text, the one it begins with ("" if none), whether scripts without spaces occur."""

    __slots__ = ("all", "first", "wide")

    def __init__(self, text: str) -> None:
        found = words_of(text)
        self.all = frozenset(found)
        self.first = found[0] if found and text.startswith(found[0]) else ""
        self.wide = is_wide(text)


class Sayings:
    """Words and phrases that mean one thing.

    Args:
        whole: Latin words and phrases, separated by ``;``: no letter may stand before or behind them.
        parts: words of scripts without spaces: they may stand anywhere.
        opening: Latin words that count at the very beginning only.
        opening_parts: beginnings in scripts without spaces.
    """

    __slots__ = ("_opening", "_opening_parts", "_parts", "_phrases", "_starters", "_words")

    def __init__(self, whole: str, parts: str, opening: str = "", opening_parts: str = "") -> None:
        said = [part.strip() for part in whole.split(";")]
        self._words = frozenset(part for part in said if _WORD.fullmatch(part))
        self._phrases: dict[str, list[str]] = {}  # first word -> phrases that begin with it
        for part in said:
            if part and not _WORD.fullmatch(part):
                self._phrases.setdefault(words_of(part)[0], []).append(part)
        self._starters = frozenset(self._phrases)
        self._parts = tuple(parts.split())
        self._opening = frozenset(opening.split())
        self._opening_parts = tuple(opening_parts.split(";")) if opening_parts else ()

    def search(self, text: str, words: Words | None = None) -> bool:
        """Whether one of them is said; ``words`` are those of the text where they are known already."""
        said = words or Words(text)
        if not self._words.isdisjoint(said.all):
            return True
        for word in self._starters.intersection(said.all):
            if any(phrase in text and _stands_alone(text, phrase) for phrase in self._phrases[word]):
                return True
        if said.first in self._opening:
            return True
        return said.wide and (text.startswith(self._opening_parts) or any(part in text for part in self._parts))


def _stands_alone(text: str, phrase: str) -> bool:
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if not (at and _WORD.match(text[at - 1])) and not (end < len(text) and _WORD.match(text[end])):
            return True
        at = text.find(phrase, at + 1)
    return False


def _phrases(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(";"))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


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
CORRECTION = Sayings(
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
    "tu as oublié;j'ai dit;j’ai dit;réessaie",
    "不对 错了 还是不行 还是报错 还是错 没用 不行 撤销 回退 我说的是 不是这样 弄错 搞错 重新来 "
    "違う 違います 間違 じゃない ではなく まだ動か 動かない 動きません うまくいか 直って 元に戻 やり直し",
    opening="no nope nein non stop halt wrong falsch",
    opening_parts="いいえ;いや;不,;不，;不。;不 ;不是;不对",
)

#: the message opens something new
NEW_TASK = Sayings(
    "new task;next task;another task;different task;unrelated;different topic;moving on;move on to;"
    "switch to;let's move on;something else;new feature;next up;neue aufgabe;nächste aufgabe;"
    "andere aufgabe;anderes thema;neues thema;als nächstes;etwas anderes;weiter mit;nueva tarea;"
    "siguiente tarea;otra tarea;otra cosa;otro tema;a continuación;lo siguiente;cambiemos;pasemos a;"
    "nouvelle tâche;prochaine tâche;autre tâche;autre chose;autre sujet;passons à;changeons",
    "接下来 换一个 换个 新任务 下一个任务 下一步 另一个 别的任务 新的任务 新功能 "
    "次のタスク 次に 次は 別のタスク 別の件 新しいタスク 今度は 話は変わ",
    opening="now next another jetzt nun ahora siguiente maintenant ensuite",
    opening_parts="现在;另外;続いて;それでは",
)

#: the message points back at what was there
ANAPHORA = Sayings(
    "it;that;this;those;these;again;same;above;them;"
    "das;dies;diese;dieser;dieses;nochmal;noch mal;wieder;davon;damit;daran;dabei;denselben;dasselbe;"
    "eso;esto;ese;esa;este;esta;otra vez;de nuevo;lo mismo;"
    "ça;cela;ce;cet;cette;ces;encore;celui;celle;le même;la même",
    "这个 那个 这些 它 刚才 上面 再次 同样 これ それ あれ この その もう一度 さっき 同じ",
)

#: thanks, or the user closes the matter
THANKS = Sayings(
    "thanks;thank you;thx;ty;that's all;that is all;all done;we're done;we are done;done for today;"
    "danke;dankeschön;vielen dank;besten dank;das war's;das wars;fertig für heute;"
    "gracias;muchas gracias;eso es todo;merci;merci beaucoup;c'est tout;c’est tout",
    "谢谢 多谢 感谢 辛苦了 ありがとう どうも 助かりました 以上です",
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
