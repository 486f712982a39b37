"""Clauses of a sentence: which of them are rules, and which only complete the one before."""

from __future__ import annotations

import pytest

from monitor.compaction import words
from monitor.compaction.clauses import is_rule, parts
from monitor.compaction.rules import Rule
from monitor.compaction.sentences import Sentence, sentences
from monitor.compaction.wishes import read
from monitor.compaction.words import languages


def standings(*texts: str) -> dict[str, str]:
    rules, _ = read([(i, t, False) for i, t in enumerate(texts, 1)])
    return {r.text: r.standing for r in rules}


@pytest.mark.parametrize(
    "text",
    [
        "I have to show this on monday so pls don't rewrite the whole parser.",  # an order behind a state of things
        "The staging image comes from the nightly job, ignore staging for now, desktop only.",
        "I do NOT want any restarts during office hours.",
        "ok and yarn only, npm breaks our lock file",
        "The page limit is 12 pages and I will not go over it.",
        "You should never invent a measurement.",
        "20.000 sind jetzt die Grenze.",
        "Ship it as a draft, don't apply it yet.",
        "Leave the export tables alone.",
        "Legal signed it off, hence the policy text is frozen.",
        "What I don't need is a redesign of the start page.",
        "We support iOS 16 and up, that's not going to change with this build.",
        "Battery life is sacred for the field team.",
        "Der Export ist heilig.",
        "Bloß nicht die Tabellen anfassen.",
        "El cliente tiene auditoría en enero, así que ningún dato de paciente puede salir en los logs.",
        "Tampoco me metas nada que haya que compilar.",
        "Y el tema hijo déjalo quieto.",
        "Que sean 5 intentos mejor.",
        "Eso ni se te ocurra.",
        "Lo demás sigue sin tocarse.",
        "先别改代码，定位清楚再说。",
        "Toucher au schéma est hors de question.",
    ],
)
def test_a_rule_is_known(text: str) -> None:
    assert is_rule(sentences(text)[0])


@pytest.mark.parametrize(
    "text",
    [
        "hey, the date-picker is off by one for some people, but only on Firefox it seems.",
        "Look at the sensor, it may not be in sleep mode.",
        "Mira los gastos, que siempre hay errores.",
        "Échale un ojo primero y me dices qué ves.",
        "先别急，我看一下日志。",
        "so no.",
    ],
)
def test_what_is_no_rule(text: str) -> None:
    assert not is_rule(sentences(text)[0])


def test_two_wishes_joined_by_and_go_one_by_one() -> None:
    rule = "I keep British spelling throughout and I really dislike footnotes, so please stick to that."
    assert parts(rule) == [
        "I keep British spelling throughout",
        "I really dislike footnotes, so please stick to that.",
    ]
    assert standings(rule, "I changed my mind on footnotes, the publisher wants them.") == {
        "I keep British spelling throughout": "active",
        "I really dislike footnotes, so please stick to that.": "cancelled",
    }


def test_what_only_adds_to_a_rule_stays_with_it() -> None:
    rule = "Auf der Quelle wird grundsätzlich nicht geschrieben, auch nicht in temporäre Tabellen."
    assert parts(rule) == [rule]


def test_a_withdrawal_speaks_of_what_its_own_clause_names() -> None:
    found = standings(
        "Auf der Quelle wird grundsätzlich nicht geschrieben, auch nicht in temporäre Tabellen.",
        "Höchstens 2.000 Zeilen je Block, mehr schafft die alte Maschine nicht.",
        "Bis ich was anderes sage, immer nur eine Tabelle gleichzeitig.",
        "Die Ein-Tabelle-Regel kannst du ab jetzt vergessen, die neue Maschine ist da.",
    )
    assert [s for s in found.values() if s != "active"] == ["cancelled"]
    assert found["Bis ich was anderes sage, immer nur eine Tabelle gleichzeitig."] == "cancelled"


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Budget sind 38.000 Euro, mehr gibt die Bank nicht her.", "Das mit dem Budget ist nicht mehr so eng."),
        ("El tema hijo déjalo quieto.", "Lo del tema hijo: la agencia me da permiso para tocar functions.php."),
        (
            "New strings stay English only until they deliver.",
            "I was wrong about strings: German and French may go in now.",
        ),
        ("颜色用 app.wxss 里已有的变量，别自己写。", "颜色变量那条不强求了。"),
        ("Das zweite Gateway bitte erst mal nicht anfassen.", "Das zweite Gateway in Staging kann raus."),
        ("先别改代码，定位清楚再说。", "就按你说的，现在可以改代码了。"),
        ("Don't change any code yet.", "Go ahead, you can change the code now."),
        ("Batch 别超过 16。", "batch 的限制可以放开到 24。"),
        ("第3条の金額は絶対に変えないでください。", "金額の改定が決まりました。なのでここは変えて大丈夫です。"),
    ],
)
def test_taken_back_in_other_words(rule: str, later: str) -> None:
    assert standings(rule, later)[rule] in ("cancelled", "changed")


def test_one_rule_of_a_long_line_goes_and_the_others_stay() -> None:
    found = standings(
        "几点要求：每次只改一个变量；batch 别超过 16；实验都记到 exp/记录.md。", "batch 的限制可以放开到 24。"
    )
    assert found["batch 别超过 16"] != "active"
    assert sum(s == "active" for s in found.values()) >= 2


def test_a_permission_for_a_while_and_the_rule_that_stands() -> None:
    first = "Do not restart the proxies while customers are connected."
    later = "You may restart the proxies tonight from 23:00 to 23:30. Outside of that the no-restart rule stands."
    assert standings(first, later)[first] == "active"


def test_a_sentence_may_end_in_a_short_form_or_begin_with_a_number() -> None:
    assert [s.text for s in sentences("my publisher won't. cap it at 900")] == ["my publisher won't.", "cap it at 900"]
    assert len(sentences("My script is analyse/model.R. The data is in data/raw.")) == 2
    assert [s.text for s in sentences("1 is fine. no new deps pls. wait, why?")][1] == "no new deps pls."


def test_the_name_of_a_file_in_marks_is_no_quotation() -> None:
    (s,) = sentences("Save a copy as 'Closing Q3 (before).xlsx' first.")
    assert s.quoted == ()


def test_rules_are_word_for_word() -> None:
    rules, _ = read([(1, "Note: C99, no malloc after init.", False)])
    assert [type(r) for r in rules] == [Rule]


def test_a_permission_speaks_of_what_stands_before_and_in_it() -> None:
    found = standings(
        "Never touch the eu-north cluster, only eu-west.",
        "I do NOT want restarts while customers are connected.",
        "You may restart the proxy tonight, one node at a time, eu-west only.",
    )
    assert found["Never touch the eu-north cluster, only eu-west."] == "active"
    assert found["I do NOT want restarts while customers are connected."] != "active"
    assert found["one node at a time"] == found["eu-west only."] == "active"


def test_until_i_say_so_ends_with_the_word() -> None:
    rule = "Do not page the vendor before I say so."
    assert standings(rule, "The vendor thing: you can page them now if you need it.")[rule] != "active"
    asks = "No merge without my approval."
    assert standings(asks, "You can merge this one now.")[asks] == "active"


def test_the_number_of_an_article_names_it() -> None:
    rule = "第3条の報酬額は絶対に変えないでください。"
    later = "第3条は月額を 300,000 円から 330,000 円に改定することが決まりました。なのでここは変えて大丈夫です。"
    assert standings(rule, later)[rule] == "changed"
    assert standings(rule, later.replace("第3条", "第8条"))[rule] == "active"


def test_an_order_not_to_apply_takes_nothing_back() -> None:
    found = standings("Never apply a change by hand.", "Raise it to 300 s then, but as a request, don't apply it.")
    assert set(found.values()) == {"active"}


def test_where_something_is_done_is_not_what_is_allowed() -> None:
    rule = "Work only in the account 4471 (staging and prod)."
    assert standings(rule, "From now on you may run the migration in staging yourself.")[rule] == "active"


def test_going_ahead_ends_no_rule_that_was_made_to_last() -> None:
    rule = "Never delete the second gateway."
    assert (
        standings(rule, "Das zweite Gateway in Staging kann raus.", "Look at the second gateway, go ahead.")[rule]
        == "active"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Hold off on the labels until Friday.",
        "Only Amara edits the ledger folder.",
        "All drawings as SVG.",
        "Answer briefly.",
        "Keine Fotos auf der Startseite, bis die Rechte da sind.",
        "Bitte nichts im Lager umräumen.",
        "Niemand fasst die Kasse an.",
        "Nadie toca la caja.",
        "Pas plus de 3 photos par page.",
        "Ninguém mexe na tabela de preços.",
        "O resumo precisa caber numa página.",
        "Nikt nie rusza kasy.",
        "Blijf van de kassa af.",
    ],
)
def test_plain_wordings_of_rules(text: str) -> None:
    assert is_rule(sentences(text)[0])


@pytest.mark.parametrize(
    "text",
    [
        "Hm, stimmt, das wird so nie aufgehen.",
        "Dat gaat dus niet werken met die klok.",
        'De chef riep "gooi alles weg", maar nooit van mijn leven.',
        "Il server è mag-07.example, porta 8123.",
        'O chefe disse "apaga tudo", nunca vi isso.',
    ],
)
def test_what_is_told_is_no_rule(text: str) -> None:
    assert not is_rule(sentences(text)[0])


def test_no_before_a_number_may_end_a_sentence() -> None:
    assert len(sentences("they want it off at night, lol no. 50 minutes is generous.")) == 2
    assert len(sentences("See invoice no. 50 for that.")) == 1
    assert len(sentences("See No. 50 for that.")) == 1


def test_patterns_hold_no_control_characters() -> None:
    """A word boundary in a string that is not raw is a backspace, and the pattern never matches."""
    for table in (words.RULE, words.STATEMENT):
        assert not [lang for lang, pattern in table.items() if "\x08" in pattern.pattern]


@pytest.mark.parametrize(
    "text",
    [
        "House rules: the physics code is taboo.",
        "Kundenadressen haben in Protokollen nichts verloren, klar?",
        "不要动生产库，好吗？",
        "The plan must show no destroy of existing subnets.",
        "Only the Dockerfile and docker/ may be edited.",
        "Les fichiers de plus de 50 Mo sont à exclure du dépôt.",
        "Тесты на проде не запускать.",
    ],
)
def test_rules_behind_a_lead_or_with_a_tag(text: str) -> None:
    assert is_rule(Sentence(text), languages(text)[:1])


@pytest.mark.parametrize(
    "text", ["Just curious, don't do it.", "Nur eine Frage.", "Так делать не будем.", "Right, is it ok?"]
)
def test_what_only_answers_is_no_rule(text: str) -> None:
    assert not is_rule(Sentence(text), languages(text)[:1])


def test_a_clause_that_points_back_stays_with_its_matter() -> None:
    assert parts("The physics code is Bea's and not ours, keep your hands off it.") == [
        "The physics code is Bea's and not ours, keep your hands off it."
    ]
