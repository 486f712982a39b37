"""Rules that end with what they wait for, with their reason, or not at all."""

from __future__ import annotations

import pytest

from monitor.compaction.clauses import parts
from monitor.compaction.endings import condition, ended, reason
from monitor.compaction.wishes import read


def standing(rule: str, later: str) -> str:
    rules, said = read([(1, rule, False), (2, later, False)])
    first = [r.standing for r in rules if r.turn == 1]
    return first[0] if first else "changed" if any(s.by for s in said if s.turn == 1) else "active"


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Leave the price list alone until the board has met.", "The board met and approved it, all done."),
        ("We're in a code freeze, so no edits under lib/.", "The freeze ended an hour ago."),
        ("Until the vendor call is through, nothing goes to the printer.", "The vendor call is over."),
        ("Solange die Prüfung läuft, wird am Archiv nichts geändert.", "Die Prüfung ist abgeschlossen."),
        ("Bis zum Ende der Urlaubszeit keine Rundmails.", "Die Urlaubszeit ist vorbei."),
        ("Mientras dure la huelga no publiques nada.", "La huelga terminó anoche."),
        ("Hasta que vuelva Lucía no toques la nómina.", "Lucía volvió esta mañana."),
        ("Tant que le chantier dure, on ne touche pas au plan.", "Le chantier est terminé."),
        ("Finché dura il trasloco non cambiare gli indirizzi.", "Il trasloco è finito."),
        ("Enquanto durar a reforma não mude os horários.", "A reforma acabou."),
        ("Dopóki trwa remont, nie zmieniaj planu sal.", "Remont się zakończył."),
        ("Zolang de verbouwing duurt, verander je de zalen niet.", "De verbouwing is klaar."),
        ("До конца ремонта не меняй план залов.", "Ремонт закончился."),
        ("展会期间不要改价格表。", "展会结束了。"),
        ("展会之前不要改价格表。", "展会已经过了。"),
        ("棚卸しが終わるまで在庫表を変更しないでください。", "棚卸しは昨日終わりました。"),
        ("이사가 끝날 때까지 주소를 바꾸지 마세요.", "이사가 끝났습니다."),
        ("Keep out of the archive, Nora is sorting it.", "Nora has finished sorting the archive."),
        ("Keine Anhänge verschicken, der Mailserver hat kein Zertifikat.", "Der Mailserver hat jetzt ein Zertifikat."),
        ("No borres las fotos viejas, las usa el museo.", "El museo ya no usa las fotos viejas."),
        ("Until the permit is here, no drilling.", "The office confirmed the permit."),
        ("Bis das Gutachten da ist, wird nichts verkauft.", "Das Gutachten ist eingetroffen."),
        ("审批前不要动工。", "审批昨天批了。"),
        ("Mientras la editorial no publique el tomo 5, nos quedamos en el 4.", "La editorial sacó ayer el tomo 5."),
        ("Always use the old printer queue.", "The old printer queue was shut down."),
        ("Usa siempre la impresora vieja.", "La impresora vieja se apagó."),
    ],
)
def test_it_is_over(rule: str, later: str) -> None:
    assert standing(rule, later) in ("cancelled", "changed")


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Leave the price list alone until the board has met.", "Has the board met yet?"),
        ("Leave the price list alone until the board has met.", "The board will be done with it next week."),
        ("Leave the price list alone until the board has met.", "When the board is done I will tell you."),
        ("Don't commit until the tests are green.", "The tests are green, all done."),
        ("No restarts during the day.", "The day is over."),
        ("Before each commit run the linter, never skip it.", "The commit is done."),
        ("Solange die Prüfung läuft, wird am Archiv nichts geändert.", "Die Prüfung ist noch nicht abgeschlossen."),
        ("Mientras dure la huelga no publiques nada.", "La huelga termina mañana."),
        ("Tant que le chantier dure, on ne touche pas au plan.", "Le chantier n'est pas fini."),
        ("展会期间不要改价格表。", "展会还没结束。"),
        ("棚卸しが終わるまで在庫表を変更しないでください。", "棚卸しはまだ終わっていません。"),
        ("Keep out of the archive, Nora is sorting it.", "Nora asked about the archive."),
        ("Never use the old printer queue.", "The old printer queue was shut down."),
    ],
)
def test_it_is_not_over(rule: str, later: str) -> None:
    assert standing(rule, later) == "active"


def test_what_is_told_to_be_over_must_be_what_the_rule_waits_for() -> None:
    rule = "Nothing is merged until the security review is through."
    assert ended(rule, "The security review is through.") == "surely"
    assert ended(rule, "The holiday plan is through.") == ""


def test_a_condition_and_a_reason_are_read_from_the_rule() -> None:
    assert "w:harvest" in condition("Do not touch the barn until the harvest is in.")
    assert condition("Do not touch the barn.") == {}
    assert "w:harvest" in reason("Do not touch the barn because the harvest lies there.")
    assert reason("Do not touch the barn.") == {}


@pytest.mark.parametrize(
    "rule",
    [
        "Enquanto a reforma não acabar, não mude os horários.",
        "As long as the show does not open, do not move the stage.",
        "They rent the hall this month, so no rehearsals there.",
        "La sala está alquilada este mes, así que no ensayes allí.",
    ],
)
def test_how_long_and_why_stay_with_the_order(rule: str) -> None:
    assert parts(rule) == [rule]
