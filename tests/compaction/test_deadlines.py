"""Days by which something has to be ready: known as demands, and over when the user tells so."""

from __future__ import annotations

import pytest

from monitor.compaction import deadlines
from monitor.compaction.wishes import read


def standing(rule: str, later: str) -> str:
    rules, _ = read([(1, rule, False), (2, later, False)])
    return {r.text: r.standing for r in rules}[rule]


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Everything must be done by Friday.", "Forget about Friday, the customer is on holiday."),
        ("The report has to be ready before the 14th.", "The 14th is no longer a hard date."),
        ("This needs to ship by the end of the week.", "No rush any more, take your time."),
        ("We must release by Monday.", "The release got pushed back by two weeks."),
        ("Das muss bis Mittwoch fertig sein.", "Mittwoch ist vom Tisch."),
        ("Das muss bis Mittwoch fertig sein.", "Wir haben eine Woche mehr Zeit bekommen."),
        ("Das muss bis Mittwoch fertig sein.", "Lass dir ruhig Zeit."),
        ("Il faut rendre ça avant vendredi.", "La livraison de vendredi est repoussée."),
        ("Il faut rendre ça avant vendredi.", "Rien ne presse finalement."),
        ("Tiene que estar listo para el lunes.", "Lo del lunes se cayó, no hay prisa."),
        ("Tiene que estar listo para el lunes.", "El plazo se amplió hasta fin de mes."),
        ("Precisa ficar pronto até sexta.", "O prazo de sexta foi adiado."),
        ("Precisa ficar pronto até sexta.", "Sem pressa, a entrega mudou para o mês que vem."),
        ("Deve essere pronto entro venerdì.", "La scadenza di venerdì è slittata."),
        ("Deve essere pronto entro venerdì.", "Non c'è più fretta."),
        ("To musi być gotowe na piątek.", "Piątek odpada, przesunęli wdrożenie."),
        ("Нужно закончить к пятнице.", "Дедлайн в пятницу отменили."),
        ("Нужно закончить к пятнице.", "Можно не спешить."),
        ("必须在周五前完成。", "周五的期限取消了。"),
        ("必须在周五前完成。", "不着急，慢慢来。"),
        ("金曜日までに完了してください。", "金曜の締め切りはなくなりました。"),
        ("金曜日までに完了してください。", "急がなくて大丈夫です。"),
        ("금요일까지 완료해야 합니다.", "금요일 일정이 연기됐습니다."),
        ("Het moet vrijdag klaar zijn.", "Vrijdag is van de baan."),
        (
            "We demo this on Thursday so it needs to be working by then.",
            "Thursday's demo got cancelled, so relax about the timing.",
        ),
        ("下周二要给老板演示，之前必须弄好。", "演示往后挪了两周，别太赶。"),
        (
            "Bis zum Monatsende muss das erledigt sein.",
            "Und wegen Monatsende: Die Frist hat der Chef auf Mitte Dezember gelegt.",
        ),
        (
            "Esto tiene que salir el miércoles como muy tarde.",
            "Para el miércoles no llega nadie, negocio ya lo ha asumido: cuando esté, está.",
        ),
        ("Tout doit être en ligne pour le 15.", "La date du 15 n'est plus d'actualité, c'est repoussé au 2 novembre."),
        ("Should be fixed by Wednesday noon.", "Wednesday turned into next Monday, by the way."),
        (
            "Bis nächsten Dienstag brauche ich ein Ergebnis.",
            "Dienstag ist kein Muss mehr, der Umzug des Lagers kommt dazwischen.",
        ),
        ("木曜までに仕上げてほしいです。", "木曜の件は来月に回ったので、あわてなくて結構です。"),
        ("I need the answer by noon.", "Noon was optimistic, tonight is early enough."),
        ("Finish the report before Tuesday.", "Tuesday isn't realistic, let's say Thursday."),
        ("Das muss bis morgen fertig sein.", "Morgen muss nicht sein, übermorgen reicht."),
        ("Il faut finir avant jeudi.", "On a jusqu'à lundi maintenant, pas jeudi."),
        ("Hay que entregar el viernes.", "El viernes ya no, mejor el martes."),
        ("I want to show it on Friday.", "Friday's presentation fell through."),
        ("La cosa tiene que estar lista el día 18.", "El 18 se ha quedado en nada: nos dan hasta marzo."),
    ],
)
def test_the_day_is_gone(rule: str, later: str) -> None:
    assert standing(rule, later) in ("cancelled", "changed")


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Everything must be done by Friday.", "The Friday meeting is with Anna."),
        ("Everything must be done by Friday.", "The deadline stands."),
        ("Everything must be done by Friday.", "If the deadline moved, we could add tests."),
        ("Il faut rendre ça avant vendredi.", "Est-ce que la livraison de vendredi est repoussée ?"),
        ("Das muss bis Mittwoch fertig sein.", "Am Mittwoch bin ich im Büro."),
    ],
)
def test_the_day_stands(rule: str, later: str) -> None:
    assert standing(rule, later) == "active"


def test_of_several_days_the_one_that_is_named_goes() -> None:
    first, second = "The draft has to be ready by Tuesday.", "The report must be done by Friday."
    rules, _ = read([(1, f"{first} {second}", False), (2, "Friday is off the table.", False)])
    assert {r.text: r.standing for r in rules} == {first: "active", second: "cancelled"}


@pytest.mark.parametrize(
    "text",
    ["I read that on Friday.", "Nothing may be deployed before Friday.", "The tests must pass before each commit."],
)
def test_a_day_that_is_no_demand(text: str) -> None:
    assert not deadlines.due(text)
