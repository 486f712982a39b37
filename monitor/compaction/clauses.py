"""The clauses of a sentence of the user: is it a rule, and which rules is it made of.

Input: a sentence as it was written. Output: its parts, each word for word. A part is a rule of its own where it would
be one alone; what only completes another ("…, not SQLite", "…, so please stick to that") stays with it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from monitor.compaction import deadlines, phrases, words
from monitor.compaction.sentences import Sentence

_THEREFORE = re.compile(
    r"\s*(?:[:：;；]\s+|,\s+(?:so|therefore|hence|also|deshalb|daher|así\s+que|por\s+eso|donc)\s+|"
    r"\s+so\s+(?=(?:please|pls|plz|don|do\s+not|never|no\s|keep|leave|use|make|avoid)))"
)
_DENIAL = re.compile(r"(?i)(?:no|nope|nein|non|нет)\b[^:.]{0,40}:\s+")
#: announces what follows
_LEAD = re.compile(r"^(?:[^\W\d_][\w'’-]*\s+){0,4}[^\W\d_][\w'’-]*\s*[:：]\s*(?=\S)")
#: nobody may touch it, or only the speaker does it; in every language
_TABOO = re.compile(
    r"(?i)\b(?:untouchable|taboo|off[\s-]limits|hands\s+off|is\s+fixed\s+at|nothing\s+(?:gets|is|goes)\s+\w+ed|nobody\s+but\s+me|leave\s+(?:it|them|that|those)\s+to\s+\w+|(?:are|is)\s+to\s+be\s+\w+(?:ed|en|n|t)|hold\s+the\s+\w+\s+\w+ly)\b|"
    r"\b(?:unantastbar|tabu|(?:nichts|nie)\s+(?:zu\s+suchen|verloren)|ändere\s+(?:nur|ausschließlich)\s+ich|mache\s+(?:nur|ausschließlich)\s+ich)\b|"
    r"\b(?:intouchables?|tabou|je\s+(?:valide|décide|fais|lance|relis)\s+moi-même)\b|\b(?:intocables?|tabú|solamente|me\s+(?:preguntas?|avisas?|consultas?)|lo\s+(?:hago|decido)\s+yo)\b|"
    r"\b(?:intocáve(?:l|is)|me\s+(?:pergunte|avise)|só\s+eu)\b|\b(?:intoccabil[ei]|tabù|e\s+nient['’]altro|solo\s+io|lo\s+faccio\s+io)\b|\b(?:nietykaln\w+|święt\w+|tylko\s+ja)\b|"
    r"\b(?:табу|неприкоснов\w+|никто\s+не\s+\w+|только\s+я)\b|只有我|谁(?:都|也)不|没我.{0,4}不|一个字都不|(?:我们|咱们)不(?:插手|碰|动|参与|管)|触れない|건드리지"
)
#: an answer, no wish: "so no."
_BARE_NO = re.compile(r"(?i)^\W*(?:(?:so|ok|and|but|also|nun|pues|donc)\W+)*(?:no|nope|not|nein|non)\W*$")
#: no wish of its own: it answers a quotation or an idea
_THAT_NOT = re.compile(
    r"(?i)^\W*(?:just\s+\w+(?:\s\w+)?,\s+)?(?:(?:but|so|please|and|aber|bitte|mais|pero|ma|mas|но|а)\s+)*(?:(?:don['’]?t|do\s+not|we\s+won['’]?t|we['’]re\s+not)\s+(?:actually\s+)?(?:do|doing|try|follow|implement)\s+"
    r"(?:it|that|this|so)|(?:das\s+)?mach(?:t|en)?\s+(?:wir\s+)?(?:das\s+)?(?:bitte\s+)?nicht|nur\s+(?:so\s+)?eine\s+(?:frage|idee|überlegung)|on\s+ne\s+(?:le\s+)?fait\s+pas(?:\s+ça)?|ne\s+le\s+fais\s+pas|"
    r"no\s+lo\s+(?:hagas|vamos\s+a\s+hacer|haremos)|non\s+(?:farlo|lo\s+faremo)|não\s+(?:faça\s+isso|vamos\s+fazer\s+isso)|tego\s+nie\s+(?:robimy|rób)|nie\s+rób\s+tego|так\s+(?:мы\s+)?(?:делать|поступать)\s+не\s+будем|"
    r"не\s+делай\s+этого)(?:\s+(?:now|yet|though|please))?[.!]?$|(?:그렇게|그러지)\s*(?:하지\s*)?(?:않습니다|마세요)[.]?$|^(?:不要|别)这[么样]做[。]?$|^(?:それ|そう)は?し(?:ません|ないで\w*)[。]?$"
)
#: "darum müssen wir uns nicht mehr kümmern": it demands by its words only
_NO_CARE = re.compile(r"(?i)\bnicht\s+(?:mehr\s+|weiter\s+)?(?:zu\s+)?(?:kümmern|sorgen|scheren)\b")
_ASKS = re.compile(r"[?？]\s*[”’」』\"'»)]*$")
#: "…, ok?" asks nothing
_TAG = re.compile(
    r"(?i)[,;–—-]\s*(?:ok(?:ay)?|alright|please|got\s+it|understood|klar|verstanden|d['’]accord|compris|vale|de\s+acuerdo|entendido|va\s+bene|capito|chiaro|certo|tá|combinado|dobra|jasne|"
    r"хорошо|ладно|понятно|ясно)\s*[?？]$|(?:好吗|行吗|可以吗|明白吗|いいですね|알겠죠|알았죠)[?？]$"
)


class _Question:
    """Finds the mark of a question at the end of a sentence, as a pattern would."""

    def search(self, text: str) -> bool:
        """True for a sentence that asks something."""
        return bool(_ASKS.search(text)) and not _TAG.search(text)


QUESTION = _Question()
#: a clause that only completes the one before it: "…, not SQLite", "…, nie als float"
_CONTRAST = re.compile(
    r"(?i)^(?:(?:and|und|y|et|e|o|or|oder|ou)\s+)?(?:not|nor|never\s+(?:as|with|in)|nicht|auch\s+n\w+|nie\s+(?:als|mit|in)|kein\w*|"
    r"no\b(?!\s+(?:more|less))(?!\s+\w+\s+(?:before|after|without|in|on|to|for|from|with|of|longer|than|over|under)\b)|ni|pas|même\s+pas|"
    r"aucune?|rien|rather|instead|sondern|sino|mais\s+pas|unless|except|außer|because|since|weil|da|porque|car|that|"
    r"which|when|if|wenn|falls|si|quand|so\s+that)\b(?!\s+\w+\s+\w+\s+\w+\s+\w+\s+\w+)"
)
#: what introduces each of several wishes of one sentence: "de ne rien …, de noter …", "que se …, que no se …"
_PARALLEL = re.compile(r"(?i)(?:^|[\s,:])(?:de|d['’]|que|to|dass|di|che|чтобы|om|żeby)\s+(?=\w)")
_AND = re.compile(r"(?i)^(?:and|und|y|et|e|but|aber|и|oraz|en|ve)\s+")
_AND_END = re.compile(r"(?i)\s+(?:and|und|y|et)$")
#: "…, so please stick to that": it says nothing without what it points to
_POINTS_BACK = re.compile(
    r"(?i)^(?:so|also|therefore|daher|deshalb|así\s+que|por\s+eso|donc)\b.*\b(?:that|this|it|those|these|them|das|dies\w*|"
    r"dem|daran|es|eso|esto|ello|ça|cela)\b"
)
#: "…, keep your hands off it": a few words, and what they speak of stands in front
_PRONOUN = re.compile(
    r"(?i)^(?:\S+\s+){1,5}(?:it|them|that)[.!]?$|^(?:der|die|das)\s+(?:ist|sind|bleib\w*)\s+\w+[.!]?$|^(?:ni\s+)?(?:\S+\s+){0,4}\w+[aei]r(?:lo|la|los|las)[.!]?$|"
    r"^(?:lass|fass)\w*\s+(?:sie|ihn|es|die|das)\s+(?:\S+\s*){1,3}$|^(?:n['’]y\s+touche|ne\s+(?:le|la|les)\s)\S*(?:\s\S+){0,3}$"
)
#: "…, so leave it alone": it follows from what stands in front, and goes when that goes
_FOLLOWS = re.compile(
    r"(?i)^(?:so(?!\s+that)|hence|therefore|thus|deshalb|daher|darum|deswegen|also|por\s+(?:eso|lo\s+tanto)|así\s+que|donc|du\s+coup|"
    r"par\s+conséquent|portanto|por\s+isso|então|quindi|perciò|dunque|więc|dlatego|zatem|dus|daarom|поэтому|значит|"
    r"так\s+что|bu\s+yüzden|o\s+yüzden)\b|^(?:所以|因此|故而)|^(?:なので|だから|そのため)|^(?:그래서|그러니|따라서)"
)
#: a clause that orders, behind one that tells a state of things
_ORDERS = re.compile(
    r"(?i)^(?:(?:please|pls|plz|so|just|bitte)\s+)*(?:do\s+not|don['’]?t|never|ignore|leave|keep|use|only\s+(?:use|read|write|touch|change|edit)|"
    r"no\s+\w+|lass\w*|"
    r"fass\w*|nicht|nur|kein\w*)\b|^[\w./-]+\s+only[.!]?$"
)
#: a clause that only says how long: it belongs to the order beside it
_AS_LONG = re.compile(
    r"(?i)^(?:and\s+|und\s+|y\s+|e\s+|et\s+)?(?:until|till|while|as\s+long\s+as|so\s+long\s+as|once|bis|solange|so\s+lange|sobald|wenn|falls|"
    r"während|hasta|mientras|cuando|jusqu['’]|tant\s+qu|pendant\s+qu|quand|até|enquanto|quando|fin\s?ché|fino|mentre|se\s+(?!puede|debe)|"
    r"dopóki|póki|do\s+(?:czasu|końca)|kiedy|gdy|zolang|totdat|zodra|als|пока|когда|если|if|when|si)\b"
)
_CUT = re.compile(r"[,;；:：，]\s*|\s+(?:and|und|y|et)\s+")
_CLAUSE = re.compile(r"[,，;；:：]\s*|\s+(?:but|aber|pero|mais|and|und|y|et)\s+|(?<=[、])")


def is_rule(sentence: Sentence, spoken: tuple[str, ...] = ()) -> bool:
    """True where the sentence, without what it quotes, forbids, demands or limits something.

    ``spoken``: the language of the message it stands in, as a short sentence often does not tell its own.
    """
    own = sentence.own
    if QUESTION.search(own) or len(own) > 600 or len(own.strip()) < 4 or _BARE_NO.match(own) or _THAT_NOT.search(own):
        return False
    if _NO_CARE.search(own) and len(clauses(own)) < 2:
        return False
    denied = _DENIAL.match(own)
    if denied:  # "No, not like that: …"
        return is_rule(Sentence(own[denied.end() :], sentence.quoted), spoken)
    langs = (*words.languages(own), *spoken)
    if (sentence.ruled or deadlines.due(own)) and not sentence.quoted:
        return True
    lead = _LEAD.match(own)
    if lead and is_rule(Sentence(own[lead.end() :], sentence.quoted), spoken):
        return True  # "House rules: …"
    if _TABOO.search(own) and not sentence.quoted:
        return True
    if not any(words.RULE[lang].search(own) for lang in langs if lang in words.RULE):
        return False
    if sentence.quoted and phrases.REPORTED.search(own):
        return False  # tells what somebody else said; what the user adds to it refers to that
    if not any(words.STATEMENT[lang].search(own) for lang in {langs[0], *spoken} & words.STATEMENT.keys()):
        return True
    tail = _THEREFORE.split(own, maxsplit=1)  # "They own it, so leave it out", "We are late: it must be out by Friday"
    if len(tail) > 1 and is_rule(Sentence(tail[1].strip()), spoken):
        return True
    return any(_ORDERS.match(c) and is_rule(Sentence(c), spoken) for c in clauses(own)[1:])


def clauses(text: str) -> list[str]:
    """The clauses of a sentence, each from its first word to the end of it, word for word."""
    cuts = [0, *(m.end() for m in _CLAUSE.finditer(text)), len(text)]
    return [text[a:b].strip(" ,，;；:：、") for a, b in pairwise(cuts) if b - a > 4]


@lru_cache(maxsize=4096)
def parts(text: str) -> list[str]:
    """The rules a sentence is made of, each word for word; one where it cannot be taken apart."""
    spoken = words.languages(text)
    cuts = [0, *(m.end() for m in _CUT.finditer(text) if not _within(text, m.start())), len(text)]
    out: list[str] = []
    waiting = False  # the first clause only says how long the second holds
    for a, b in pairwise(cuts):
        piece = text[a:b].strip()
        own = _AND_END.sub("", piece.rstrip(" ,;；:：，"))
        apart = a > 0 and text[:a].rstrip()[-1:] in ";；" and not _CONTRAST.match(own)
        like = (
            bool(out) and _PARALLEL.match(_AND.sub("", own)) and _PARALLEL.search(out[-1])
        )  # "to do this, not to do that"
        if waiting:
            out[-1], waiting = text[text.rindex(out[-1]) : b].strip(), False
            continue
        waiting = not out and bool(_AS_LONG.match(own)) and b < len(text)
        hangs = any(p.match(own) for p in (_AS_LONG, _CONTRAST, _POINTS_BACK, _FOLLOWS, _PRONOUN))
        joins = hangs or _short(own) or not is_rule(Sentence(own), spoken)
        if out and joins and not apart and not like:
            out[-1] = text[text.rindex(out[-1]) : b].strip()
        elif piece:
            out.append(piece)
    if len(out) > 1 and not is_rule(
        Sentence(out[0].rstrip(" ,;；:：，")), spoken
    ):  # "Ground rules: …", "For the cache, …"
        lead = out[0]
        if lead.endswith((":", "：")):
            del out[0]
        elif len(lead.split()) < 6:
            out[:2] = [text[: text.index(out[1]) + len(out[1])]]
    return [_AND.sub("", _AND_END.sub("", x.strip(" ,;；:：，"))) for x in out]


def _short(piece: str) -> bool:
    """Fewer than three words, or than four characters where words are not parted."""
    wide = sum(ch > "\u2e80" for ch in piece)
    return len(piece.split()) < 3 and wide < 4


def _within(text: str, at: int) -> bool:
    """True inside parentheses."""
    return text.count("(", 0, at) > text.count(")", 0, at) or text.count("（", 0, at) > text.count("）", 0, at)
