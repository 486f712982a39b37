"""Rules named by their place in a list: "rule 3", "la première consigne", 第二条.

Input: a sentence of the user. Output: the numbers it names, each with whether it lifts the rule for one thing only.
"""

from __future__ import annotations

import re

_ITEM = re.compile(
    r"(?i)(?:\b(?:rule|point|item|constraint|number|no\.|regel|punkt\w*|vorgabe|nummer|nr\.|regla|punto|norma|règle|"
    r"consigne|regra|regola|"
    r"vincolo|правил\w|пункт\w?|eis|punt|zasad\w|reguł\w|kural\w*|madde)\s*#?|第)\s*(\d{1,2})\b"
    r"|(?:ルール|規則|规则|要求|규칙|조건)\s*(\d{1,2})|(\d{1,2})\s*번\s*(?:규칙|조건|항목)?"
    r"|第\s*([一二三四五六七八九十])\s*[条點点項项]|([一二三四五六七八九十])つ目"
    r"|\b(first|second|third|fourth|fifth|sixth|last|erste|zweite|dritte|vierte|fünfte|letzte|primera|segunda|"
    r"tercera|cuarta|quinta|última|"
    r"première|deuxième|troisième|quatrième|cinquième|dernière|prima|seconda|terza|quarta|ultima|primeira|terceira|"
    r"última)[nrs]?\s+"
    r"(?:rule|point|item|constraint|regel|vorgabe|bedingung|regla|condici[oó]n|norma|règle|consigne|contrainte|"
    r"regola|regra)\b"
    r"|\b(?:règle|consigne|regola|regra)\s+(première|prima|primeira)\b"
)
_ORDINALS = (
    ("一", "first", "erste", "primera", "première", "prima", "primeira"),
    ("二", "second", "zweite", "segunda", "deuxième", "seconda"),
    ("三", "third", "dritte", "tercera", "troisième", "terza", "terceira"),
    ("四", "fourth", "vierte", "cuarta", "quatrième", "quarta"),
    ("五", "fifth", "fünfte", "quinta", "cinquième"),
    ("六", "sixth"), ("七",), ("八",), ("九",), ("十",),
)  # fmt: skip
#: a rule that is lifted for one thing only: "ignore rule 2 for the charts"
_FOR = re.compile(
    r"(?i)^\s*(?:for|in\s+the\s+case\s+of|für|bei|pour|para|per|для|voor|dla|in\s+tests?)\s+(?!now\b|the\s+moment|"
    r"good\b|jetzt|"
    r"ahora|maintenant|agora|ora\b|adesso|сейчас|nu\b|teraz)\w+"
)


def items(text: str) -> list[tuple[int, bool]]:
    """(number, only for one thing) of each rule the text names by its place; number 0 is the last one."""
    out = []
    for m in _ITEM.finditer(text):
        word = next(g for g in m.groups() if g).lower()
        number = int(word) if word.isdecimal() else next((n for n, w in enumerate(_ORDINALS, 1) if word in w), 0)
        out.append((number, bool(_FOR.match(text[m.end() :]))))
    return out
