"""What the user takes back, in many languages and ways of saying it; and what takes nothing back."""

from __future__ import annotations

import pytest

from monitor.compaction.clauses import is_rule
from monitor.compaction.sentences import sentences
from monitor.compaction.wishes import read
from monitor.compaction.words import languages


def standings(*texts: str) -> dict[str, str]:
    rules, _ = read([(i, t, False) for i, t in enumerate(texts, 1)])
    return {r.text: r.standing for r in rules}


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Não altere o arquivo settings.py.", "Pode alterar settings.py, o time liberou."),
        ("Use sempre o banco de testes.", "Esqueça o que falei do banco de testes."),
        ("Os nomes das colunas devem ficar em inglês.", "A regra dos nomes das colunas não vale mais."),
        ("Non usare librerie esterne.", "Adesso puoi usare librerie esterne."),
        ("Al massimo 300 righe per modulo.", "Per le 300 righe lascia perdere."),
        ("I test vanno scritti con pytest.", "Il vincolo su pytest non vale più."),
        ("Используй только библиотеку polars.", "Про polars забудь, подойдёт что угодно."),
        ("Нельзя менять схему базы.", "Схему базы теперь можно менять."),
        ("Всегда указывай размер выборки.", "Правило про размер выборки больше не действует."),
        ("새 라이브러리를 추가하지 마세요.", "새 라이브러리 금지는 취소할게요."),
        ("README 파일은 반드시 영어로 작성하세요.", "README 파일은 한국어로 작성해도 됩니다."),
        ("Gebruik geen bronnen van voor 2020.", "Bronnen van voor 2020 mogen nu wel."),
        ("Schrijf altijd in de wij-vorm.", "Vergeet de wij-vorm maar."),
        ("Nie zmieniaj limitu pamięci.", "Limit pamięci możesz już zmienić."),
        ("Zawsze pisz komentarze po angielsku.", "Komentarze po angielsku już nie obowiązują."),
        ("Yeni paket ekleme.", "Yeni paket ekleme kuralını kaldırıyorum."),
        ("Veritabanı şemasını asla değiştirme.", "Veritabanı şemasını artık değiştirebilirsin."),
        ("MSRV は 1.70 を維持してください。", "MSRV は 1.75 に上げていいです。"),
        ("Aucune nouvelle dépendance.", "Pour la dépendance, laisse tomber, ajoute ce qu'il faut."),
        ("Kein Commit ohne Ticketnummer.", "Das mit der Ticketnummer beim Commit ist mir egal."),
        ("No uses pandas.", "Lo de pandas ya no importa."),
        ("Don't rename the queues.", "About the queue names: that's moot, alerts use labels now."),
        ("No hagas commits, los hago yo.", "Lo de los commits: hazlos tú, en ramas fix/*."),
        ("No toques la tabla pacientes.", "La tabla pacientes ya se puede modificar, pero solo la columna zona."),
        ("Ne redémarre pas le NAS en journée.", "Le redémarrage du NAS, c'est bon maintenant."),
        ("Les scripts restent en bash, pas de Python.", "Pour les scripts tu fais comme tu veux, Python compris."),
        ("Cap at 5 attempts.", "Make it 8 attempts, not 5."),
    ],
)
def test_taken_back(rule: str, later: str) -> None:
    assert standings(rule, later)[rule] in ("cancelled", "changed")


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Não apague os registros.", "Pode rodar os testes agora."),
        ("Non modificare il modulo tax.", "Puoi avviare il server."),
        ("Нельзя выгружать персональные данные.", "Теперь можно запустить тесты."),
        ("공개 API는 변경하지 마세요.", "테스트를 실행해도 됩니다."),
        ("Nie usuwaj PVC.", "Możesz uruchomić testy."),
        ("Timeout must stay under 30 seconds.", "The deploy ran from 9 to 11 today."),
        ("Keep at most 20 lines per function.", "Raise the maximum to 5 lines per commit message."),
        ("Keep the audit log append-only.", "About the audit log: never delete an entry."),
        ("Do not restart the NAS during the day.", "You may restart the NAS just this once."),
        ("Não altere o contrato sem minha aprovação.", "Pode alterar o contrato desta vez, aprovado."),
    ],
)
def test_goes_on(rule: str, later: str) -> None:
    assert standings(rule, later)[rule] == "active"


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Évite les verrous de plus de 2 secondes.", "Le délai des verrous passe de 2 à 5 secondes."),
        ("内存占用不得超过 12GB。", "内存上限改成 16GB。"),
        ("타임아웃은 최대 5초로 유지하세요.", "타임아웃은 5초가 아니라 8초로 해 주세요."),
        ("The retry limit is at most 3.", "Make the retry limit 5, not 3."),
        ("Höchstens 4 Kerne für das Training.", "Beim Training nimm 8 statt 4 Kerne."),
        ("Não passe de 180 kB no pacote.", "O limite do pacote sobe para 220 kB."),
    ],
)
def test_another_number_takes_the_place_of_the_old_one(rule: str, later: str) -> None:
    assert standings(rule, later)[rule] == "cancelled"


def test_rules_of_a_list_in_one_line_go_by_their_number() -> None:
    found = standings(
        "Carga los ficheros. Reglas: 1) no borres ficheros; 2) importes con punto; 3) sin dependencias nuevas. Empieza.",
        "Puedes saltarte la regla 3 a partir de ahora.",
    )
    assert found == {
        "no borres ficheros": "active",
        "importes con punto": "active",
        "sin dependencias nuevas.": "cancelled",
    }
    found = standings(
        "Rules:\n1. no globals\n2. tests first\n3. small commits", "Ignore rule 1, and rule 3 no longer applies."
    )
    assert [found["no globals"], found["tests first"], found["small commits"]] == ["cancelled", "active", "cancelled"]


def test_a_rule_lifted_for_one_thing_goes_on_in_part() -> None:
    found = standings(
        "Règles :\n1. pas de !important\n2. couleurs par variables", "Tu peux ignorer la règle 2 pour les graphiques."
    )
    assert found["couleurs par variables"] == "changed"


def test_a_sentence_of_two_rules_stays_whole_where_neither_goes() -> None:
    rule = "반드시 코루틴을 사용해야 하고, GlobalScope는 금지입니다."
    other = "새 라이브러리를 추가하지 마세요."
    assert standings(f"{rule} {other}", "새 라이브러리 금지는 취소할게요.") == {rule: "active", other: "cancelled"}


def test_a_permission_that_shares_one_word_with_a_rule_changes_it_at_most() -> None:
    rule = "Never push to main."
    assert standings(rule, "You may push the fix branch when the tests pass.") == {rule: "changed"}


@pytest.mark.parametrize(
    "text",
    [
        "Os textos devem ficar como estão.",
        "I commenti vanno scritti in inglese.",
        "Графики сохраняй в reports/figures.",
        "Округляй проценты до одного знака.",
        "메인 브랜치에는 직접 푸시하지 않도록 해 주세요.",
        "Noem geen merknamen.",
        "Namespace to zawsze raporty-prod.",
        "Tutarlar kuruş olarak tutulmalı.",
        "Ideally we don't add a round trip per request.",
        "I'd rather have many small commits than a big one.",
        "I don't want popups everywhere.",
        "It would be good if you could leave the metric names alone.",
        "Kein Neustart zwischen 7 und 19 Uhr.",
        "Kein Deploy vor dem 3. Dezember.",
        "Laisse les fichiers SVG comme ils sont.",
        "補完は completions/ 以下だけに置いてください。",
        "基准测试放到 bench/ 目录。",
    ],
)
def test_a_rule_is_known(text: str) -> None:
    assert [s.text for s in sentences(text) if is_rule(s, languages(text)[:1])] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Não entendo este erro.",
        "Não funciona no Safari.",
        "Non capisco questo errore.",
        "Non funziona ancora.",
        "Не понимаю эту ошибку.",
        "Тесты не проходят?",
        "Het werkt niet.",
        "Nie wiem, co jest źle.",
        "先别急着改，看一下日志。",
        "On doit scinder la table en deux.",
        "The folks bumped the bucket, which only papered over it.",
    ],
)
def test_what_is_no_rule(text: str) -> None:
    assert not any(is_rule(s, languages(text)[:1]) for s in sentences(text))


def test_the_language_of_the_message_helps_a_short_sentence() -> None:
    rules, _ = read([(1, "O carrinho não funciona e isso é um problema para todos. Prefiro hooks a classes.", False)])
    assert "Prefiro hooks a classes." in [r.text for r in rules]
    rules, _ = read([(1, "Devi spezzare il pacchetto in due. Mi raccomando, niente force push.", False)])
    assert "Mi raccomando, niente force push." in [r.text for r in rules]


def test_where_a_sentence_ends() -> None:
    assert [s.text for s in sentences("It takes 0.1 ms. Put it there.")] == ["It takes 0.1 ms.", "Put it there."]
    assert [s.text for s in sentences("Kein Deploy vor dem 3. Dezember. Danke.")] == [
        "Kein Deploy vor dem 3. Dezember.",
        "Danke.",
    ]
    assert [s.text for s in sentences("Is it done? No. Do it.")] == ["Is it done?", "No.", "Do it."]
    assert len(sentences("See No. 3 of the list.")) == 1


def test_a_pronoun_takes_back_what_the_sentence_before_says_again() -> None:
    found = standings(
        "Each change gets its own spec. No globals.",
        "Wait, I said each change gets its own spec. Scratch that, one file is plenty.",
    )
    assert found == {"Each change gets its own spec.": "cancelled", "No globals.": "active"}


def test_wishes_parted_by_semicolons_or_the_same_little_word_go_one_by_one() -> None:
    found = standings(
        "Up front: Ruby 3.2 and nothing newer; structured logs only; and don't rename any queue.",
        "The queue names no longer matter.",
    )
    assert [v for k, v in found.items() if "rename" not in k] == ["active", "active"]
    assert found["don't rename any queue."] == "cancelled"
    found = standings(
        "Merci de ne rien supprimer dans le dépôt, de ne pas redémarrer le NAS, et de noter chaque action.",
        "Le redémarrage du NAS, c'est bon.",
    )
    assert found["de ne pas redémarrer le NAS"] == "cancelled"
    assert found["Merci de ne rien supprimer dans le dépôt"] == "active"


def test_rules_of_a_chinese_list_go_by_their_number() -> None:
    found = standings(
        "要求如下：一、导出保持 CSV；二、单次查询不超过 5000 条；三、注释写中文。",
        "第一条作废。第二条从 5000 放宽到 20000。",
    )
    assert list(found.values()) == ["cancelled", "cancelled", "active"]


def test_the_rule_before_a_withdrawal_of_another_stays() -> None:
    found = standings(
        "Pas de ORM dans les migrations.",
        "Les messages de commit en anglais s'il te plaît. Finalement tu peux oublier ce que j'ai dit sur l'ORM.",
    )
    assert found["Les messages de commit en anglais s'il te plaît."] == "active"


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Nobody edits the menu files, they belong to Rosa.", "Rosa handed the menu files over to us."),
        ("Keep your hands off src/cellar until further notice.", "The cellar module is free again."),
        ("Please keep the answers brief.", "You can be as detailed as you like in your answers."),
        ("Das Archiv bleibt zu, da wird nichts gelöscht.", "Das Archiv ist wieder frei, lösch ruhig alte Sachen."),
        ("Weiterhin bitte alles in Latin-1 speichern.", "Das mit Latin-1 war einmal."),
        ("No modifiques nada en tours/.", "En tours/ podéis cambiar lo que queráis."),
        ("Ne touche pas au fichier tarifs.csv.", "Paul est d'accord pour que tu changes tarifs.csv."),
        ("Non modificare il file menu.json.", "Il file menu.json modificalo pure, scrivi pure lì."),
        ("Nie zmieniaj pliku menu.json.", "Plik menu.json jest znowu wolny, śmiało zmieniaj."),
        ("不要改 menu 目录。", "menu 目录现在随便改。"),
        ("menu フォルダは変更しないでください。", "menu フォルダは自由に変更して大丈夫です。"),
    ],
)
def test_the_thing_is_free_again(rule: str, later: str) -> None:
    assert standings(rule, later)[rule] in ("cancelled", "changed")


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Max 4 guests per table.", "Four guests are not enough, go up to eight."),
        ("Keep the batch size at 50 or less.", "You can take batches of 90 from here on."),
        ("I messaggi della coda sono al massimo 300.", "Il limite di 300 portalo a 900."),
        ("El límite es de 40 avisos por hora.", "El máximo de avisos súbelo a 90 por hora."),
        ("Bestellungen unter 5 Euro werden nie geliefert.", "Heb die Grenze auf 9 Euro an, 5 Euro ist zu niedrig."),
        ("Höchstens 6 gleichzeitige Läufe, sonst schimpft Ute.", "Ab jetzt sind 20 gleichzeitige Läufe drin."),
        ("Limite les envois à 8 par minute.", "Monte les envois à 25 par minute."),
        ("O relatório precisa ter no máximo 30 páginas.", "30 páginas é apertado, pode ter até 60 páginas."),
        ("并发最多 6。", "并发提到 24 吧。"),
        ("Een rit mag hooguit 20 minuten duren.", "20 minuten redden we niet, dat mag van mij 45 worden."),
        ("A run must finish within 50 minutes.", "50 minutes is generous, make it 35."),
        ("Cada vuelta puede durar como mucho 4 minutos.", "Con 4 minutos no basta, déjalo en 9."),
        ("响应不能超过 300 毫秒。", "300 毫秒太苛刻，放到 450 吧。"),
    ],
)
def test_the_limit_has_another_number(rule: str, later: str) -> None:
    assert standings(rule, later)[rule] in ("cancelled", "changed")


def test_a_number_told_in_passing_changes_no_limit() -> None:
    rule = "Keep the batch size at 50 or less."
    assert standings(rule, "The last batch had 90 rows, is that a problem?")[rule] == "active"


def test_the_word_touch_names_no_matter() -> None:
    rule = "La caja grande ni tocarla."
    assert standings(rule, "La mesa pequeña ya no es suya, puedes tocarla.")[rule] == "active"
