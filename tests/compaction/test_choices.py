"""One of several of a kind: another language, format or version in its place."""

from __future__ import annotations

import pytest

from monitor.compaction.choices import another, members, newer, talk
from monitor.compaction.wishes import read


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Store the invoices as PDF.", "The invoices as HTML from now on."),
        ("Die Listen nur als CSV.", "Die Listen ab sofort als Excel."),
        ("Escribe los comentarios en inglés.", "Los comentarios mejor en español."),
        ("Please answer in German.", "Let's talk in English."),
        ("回复用英文。", "以后用中文回复我。"),
        ("All dates in UTC.", "Show the dates in Europe/Berlin."),
    ],
)
def test_another_of_the_kind(old: str, new: str) -> None:
    assert another(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Store the invoices as PDF.", "Store the invoices as CSV too."),
        ("Store the invoices as PDF.", "Keep the pictures as PNG."),
        ("Store the invoices as PDF.", "The invoices as PDF, please."),
        ("Store the invoices as PDF or HTML.", "The invoices as CSV."),
        ("Please answer in German.", "The manual is in English."),
    ],
)
def test_not_in_its_place(old: str, new: str) -> None:
    assert not another(old, new)


def test_a_language_has_many_names() -> None:
    assert members("auf Englisch") == members("en inglés") == members("英文で")
    assert talk("Contéstame en francés.")
    assert not talk("The page is in French.")


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("It has to run on Java 8.", "All machines are on Java 21 now.", True),
        ("Garde la compatibilité avec Ruby 2.7.", "Tous les serveurs sont passés en Ruby 3.3.", True),
        ("必须兼容 Java 8。", "线上全部升到 Java 21 了。", True),
        ("It has to run on Java 8.", "I saw a warning of Java 21.", False),
        ("Step 2 must stay manual.", "Step 3 is done now.", False),
        ("It has to run on Java 8.", "All machines are on Ruby 3 now.", False),
    ],
)
def test_another_version_in_use(old: str, new: str, wanted: bool) -> None:
    assert newer(old, new) is wanted


def test_both_sentences_are_shown() -> None:
    rules, _ = read([(1, "Always answer in German.", False), (3, "Let's talk in English from now on.", False)])
    assert [(r.standing, r.by) for r in rules if r.turn == 1] == [("changed", 3)]
