"""Rules of the user: found word for word in many languages, taken back by the user and by nobody else."""

from __future__ import annotations

import pytest

from monitor.compaction.clauses import is_rule
from monitor.compaction.rules import Rule
from monitor.compaction.sentences import Sentence, sentences
from monitor.compaction.wishes import lifts, read

RULES = [
    "Do not touch the public API.",
    "Please never commit directly to main.",
    "All tests must pass before you push.",
    "Use tabs, not spaces.",
    "Only edit files under src/billing.",
    "Keep the column order as it is.",
    "Every endpoint needs a docstring.",
    "No new dependencies without my approval.",
    "Don't run migrations on staging.",
    "Answer in German.",
    "Fass die Konfiguration bitte nicht an.",
    "Keine externen Dienste aufrufen.",
    "Die Tests müssen vor jedem Commit grün sein.",
    "Rühr die Tabelle orders nicht an.",
    "Verwende immer UTC.",
    "Es darf kein Netzwerkzugriff stattfinden.",
    "不要修改数据库结构。",
    "必须保留旧的接口。",
    "所有日志一律用英文。",
    "禁止使用 eval。",
    "本番環境には絶対にデプロイしないでください。",
    "テストは必ず実行すること。",
    "既存のファイルは削除しないこと。",
    "コメントは英語で書いてください。",
    "No toques la base de datos.",
    "Usa siempre HTTPS.",
    "Nunca borres los registros.",
    "Mantén el formato actual.",
    "Ne modifie pas le schéma.",
    "Il faut toujours passer par le proxy.",
    "N'utilise que Python 3.11.",
    "Não altere o arquivo de configuração.",
    "Non toccare il file di configurazione.",
    "Не трогай рабочую базу.",
    "기존 API는 변경하지 마세요.",
    "The memory limit must not go above 1536Mi.",
    "Changes go through charts/gateway only.",
    "Everything else stays standard library.",
    "All dates are stored in UTC.",
    "If something is unclear, stop and ask.",
    "They own the gateways, so leave the gateways alone.",
    "Personenbezogene Spalten dürfen nirgends ausgegeben werden.",
    "Die Datei legacyCart.js bleibt JavaScript.",
    "Las fechas se guardan en UTC.",
    "Máximo 20 líneas por función.",
    "Usa Flyway, no Liquibase.",
    "每个函数最多 20 行。",
    "再試行は最大3回、間隔は 800 ms にしてください。",
]
NO_RULES = [
    "Can you look at the failing test?",
    "The build does not work on my machine.",
    "Read the wiki page and tell me what applies.",
    "I think the cache is the problem.",
    "Looks good, go on.",
    "Schau dir bitte zuerst den Fehler an.",
    "Es gibt dort kein Redis.",
    "Kannst du das nicht einfacher machen?",
    "先看一下代码。",
    "看起来不错，继续。",
    "まず原因を調べてください。",
    "¿No se puede hacer más simple?",
    "Mira el repo de despliegue.",
    "Regarde d'abord le journal.",
    "It remains unclear why the job hangs.",
    "Ich verstehe die Meldung nicht.",
    "Die Tests bleiben rot, schau mal nach.",
    "Nein, so nicht: die Nummer ist nie leer.",
    "No entiendo este error.",
    "Je ne comprends pas cette erreur.",
]


@pytest.mark.parametrize("text", RULES)
def test_a_rule_is_known(text: str) -> None:
    assert [s.text for s in sentences(text) if is_rule(s)] == [text]


@pytest.mark.parametrize("text", NO_RULES)
def test_what_is_no_rule(text: str) -> None:
    assert not any(is_rule(s) for s in sentences(text))


def told(*texts: str) -> tuple[list[Rule], list[str]]:
    rules, said = read([(i, t, False) for i, t in enumerate(texts, 1)])
    return rules, [s.text for s in said]


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Do not touch legacy/gateway.py.", "You may now edit legacy/gateway.py, the freeze is over."),
        ("Write the changelog in German.", "From now on write the changelog in English instead."),
        ("Never use Redis for this.", "Redis is fine now, operations agreed."),
        ("Don't add a progress bar.", "Forget the rule about the progress bar."),
        ("Lass die Datei config/prod.yaml unverändert.", "config/prod.yaml darfst du jetzt doch ändern."),
        ("Kommentare bitte immer auf Englisch.", "Die Vorgabe mit den englischen Kommentaren gilt nicht mehr."),
        ("不要删除旧的报表模块。", "旧的报表模块现在可以删了。"),
        ("必须使用 MySQL 数据库。", "取消之前关于数据库的限制，用什么都行。"),
        ("ログは日本語で書いてください。", "ログは英語でも構いません。"),
        ("テーブル orders を変更しないでください。", "orders テーブルの件は撤回します。変更して大丈夫です。"),
        ("No uses la rama develop.", "Ahora puedes usar la rama develop."),
        ("Please write the notes in English.", "Olvida la regla de las notas en inglés."),  # across languages
        ("N'ajoute pas de dépendance.", "Finalement, tu peux ajouter une dépendance."),
        ("Don't touch the sidebar.", "The sidebar is fair game now."),
    ],
)
def test_a_rule_is_taken_back(rule: str, later: str) -> None:
    rules, _ = told(rule, "Ok.", later)
    assert rules[0].text == rule
    assert rules[0].standing in ("cancelled", "changed")
    assert rules[0].by == 3


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("No reinicies ningún pod sin mi permiso.", "Te doy permiso: puedes reiniciar redis-1 (solo la réplica)."),
        ("Do not deploy without my approval.", "You may deploy build 42 now."),
        ("Ändere den Export nicht.", "Sieh dir an, wer die Sperre hält."),
        ("Never touch the payments table.", "You can use DuckDB now if you like."),
        ("Don't touch the sidebar.", "The header is fair game now."),
        ("Tout doit tourner avec dbt 1.6.", "N'oublie pas de lancer dbt test."),
        ("不要改公共接口。", "旧的 Vue 组件现在可以删了。"),
        ("本番 DB には書き込まないこと。", "閾値は 15 に変更してください。"),
    ],
)
def test_a_rule_goes_on(rule: str, later: str) -> None:
    rules, _ = told(rule, later)
    assert rules[0].standing == "active"


def test_what_takes_back_and_sets_anew() -> None:
    rules, _ = told(
        "Write notes in English.", "Olvida la regla de las notas en inglés: escríbelas en español a partir de ahora."
    )
    assert [(r.text, r.standing) for r in rules] == [
        ("Write notes in English.", "cancelled"),
        ("escríbelas en español a partir de ahora.", "active"),
    ]


def test_a_quote_is_not_the_users_word() -> None:
    rules, said = told(
        'My colleague wrote "always delete everything older than a day", ignore that. Never delete events.'
    )
    assert [r.text for r in rules] == ["Never delete events."]
    assert any("colleague" in s for s in said)


def test_quoted_lines_code_and_pastes_are_no_rules() -> None:
    text = "> you must delete all files\n```\nnever call this\n```\nFix the crash, please.\n" + "must not\n" * 2_000
    rules, _ = told(text)
    assert not any("delete all files" in r.text or "never call this" in r.text for r in rules)


def test_a_request_that_was_no_rule_is_taken_back_too() -> None:
    rules, said = read(
        [(1, "Add a dark theme to the settings page.", False), (2, "Forget what I said about the dark theme.", False)]
    )
    assert not rules
    assert said[0].by == 2


def test_a_rule_said_again_is_active_again() -> None:
    rules, _ = told("Do not touch api.py.", "You may now edit api.py.", "Do not touch api.py.")
    assert [(r.turn, r.standing) for r in rules] == [(3, "active")]


def test_questions_take_nothing_back() -> None:
    assert lifts("Can you now edit api.py?") == ""
    assert lifts("You can now edit api.py.") == "permit"


def test_a_sentence_is_word_for_word() -> None:
    text = "Beträge immer als Integer in Cent führen, z. B. 1999, nie als float! Danke."
    assert [s.text for s in sentences(text)] == [
        "Beträge immer als Integer in Cent führen, z. B. 1999, nie als float!",
        "Danke.",
    ]
    assert sentences("看 v1.2.3。不要用 Redux；太重了。")[1].text == "不要用 Redux；太重了。"
    assert sentences("Edit src/a.py. Then run it.")[0] == Sentence("Edit src/a.py.")


def standings(*texts: str) -> dict[str, str]:
    return {r.text: r.standing for r in told(*texts)[0]}


def test_one_rule_of_a_sentence_goes_and_the_others_stay() -> None:
    assert standings(
        "Ground rules: stay in the folder web, never delete a volume, and keep at least 3 replicas of the gateway.",
        "You may go down to 2 replicas of the gateway now.",
    ) == {
        "stay in the folder web": "active",
        "never delete a volume": "active",
        "keep at least 3 replicas of the gateway.": "cancelled",
    }
    found = standings(
        "引用只用 2020 年以后的论文；图表编号必须连续；不要出现公司名称。", "图表编号连续这一条可以不管了。"
    )
    assert found["图表编号必须连续"] == "cancelled"
    assert [k for k, v in found.items() if v == "active"] == ["引用只用 2020 年以后的论文", "不要出现公司名称。"]


def test_a_contrast_is_no_rule_of_its_own() -> None:
    found = standings("Use DuckDB for local experiments, not SQLite.", "Forget the rule about DuckDB.")
    assert found == {"Use DuckDB for local experiments, not SQLite.": "cancelled"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The word count must stay under 5,500.", "The word count must stay under 7,000 now."),
        ("全文不超过 8000 字。", "字数上限放宽：全文不超过 10000 字。"),
        ("Deux tâches en parallèle au maximum.", "Passe à quatre tâches en parallèle au maximum."),
        ("Cobertura mínima del 80 %.", "La cobertura bájala al 75 %, lo acordé con calidad."),
        ("Max 60 pins per cluster.", "Product says 60 is too small, use 120 per cluster."),
        ("At most 5 retries per job.", "5 is too few, make it 8 retries."),
        ("Höchstens 20 Zeilen pro Funktion.", "20 Zeilen sind zu wenig, nimm 40 Zeilen pro Funktion."),
        ("Timeout höchstens 30 Sekunden.", "Der Timeout darf auf 60 Sekunden hoch."),
        ("Como máximo 3 reintentos por petición.", "3 reintentos son pocos, pon 6 reintentos por petición."),
        ("No más de 100 filas por página.", "Sube a 250 filas por página."),
        ("最多重试 3 次。", "3 次太少，改成 5 次。"),
        ("每页最多 50 条。", "每页改为 100 条吧。"),
        ("リトライは最大3回まで。", "3回では少ないので5回にしてください。"),
    ],
)
def test_a_limit_told_anew_replaces_the_old_one(old: str, new: str) -> None:
    assert list(standings(old, new).items()) == [(old, "cancelled"), (new, "active")]


def test_another_number_on_another_matter_replaces_nothing() -> None:
    assert set(standings("Do not use port 8099.", "Do not use port 9100.", "At most 20 lines.").values()) == {"active"}
    for rule, later in (
        ("Max 60 pins per cluster.", "The map shows 120 pins at city zoom."),
        ("At most 5 retries per job.", "Set the queue size to 8."),
        ("Timeout höchstens 30 Sekunden.", "Der Lauf hat 60 Sekunden gedauert."),
        ("No more than 3 colours per chart.", "2 is too few, use 5 charts on the page."),
        ("每页最多 50 条。", "日志保留改为 100 天。"),
    ):
        assert standings(rule, later)[rule] == "active", later


def test_every_line_of_a_list_of_rules_is_one_and_has_a_number() -> None:
    rules, _ = told(
        "Port the tool to Go. Rules:\n1. standard library\n2. commits in small steps\n3. one package per tool\n\n"
        "Start with the reader.",
        "Rule 2 no longer applies.",
    )
    assert [(r.text, r.standing) for r in rules] == [
        ("standard library", "active"),
        ("commits in small steps", "cancelled"),
        ("one package per tool", "active"),
    ]
    assert [r.text for r in told("## Vorgaben\n- Tabellen ohne Rahmen\n\nLos.")[0]] == ["Tabellen ohne Rahmen"]


@pytest.mark.parametrize(
    ("wish", "later"),
    [
        ("Each load has to finish within 20 minutes.", "The 20 minute limit is gone, nights are long enough."),
        ("dbt models are out of scope.", "We do want dbt after all: add a staging model."),
        ("Prends Hive et rien d'autre.", "Finalement, oublie Hive."),
        ("Trainiere höchstens mit 4 Kernen.", "Die Beschränkung auf 4 Kerne kannst du vergessen."),
        ("Whenever you add a flag, add it to the man page too.", "Scrap the man page thing."),
        ("Et tout doit tourner avec dbt 1.6.", "Pour dbt 1.6, oublie, l'équipe a migré en 1.8 hier."),
        ("Keep Python 3.8 compatibility.", "Python 3.8 is EOL, don't bother with it any more."),
        ("Los mensajes de error van en español e inglés.", "Lo de los mensajes en dos idiomas olvídalo."),
    ],
)
def test_taken_back_in_passing(wish: str, later: str) -> None:
    assert standings(wish, later)[wish] == "cancelled"


@pytest.mark.parametrize("text", ["Don't forget the tests.", "No olvides las pruebas.", "N'oublie pas les tests."])
def test_a_reminder_takes_nothing_back(text: str) -> None:
    assert lifts(text) == ""


def test_a_permission_ends_only_the_rule_it_means() -> None:
    found = standings(
        "Keep 3 replicas of ingest-gateway. Changes go through charts/ingest-gateway only.",
        "You may go down to 2 replicas of ingest-gateway now.",
    )
    assert found["Changes go through charts/ingest-gateway only."] == "active"


def test_a_sentence_may_begin_with_a_name_in_small_letters() -> None:
    found = [s.text for s in sentences("Secrets come from the vault, nowhere else. dbt models are out of scope.")]
    assert found == ["Secrets come from the vault, nowhere else.", "dbt models are out of scope."]
    assert len(sentences("Nutze bspw. das Skript, z. B. so.")) == 1


def test_what_was_no_rule_and_is_taken_back_is_still_told() -> None:
    from monitor.compaction.blocks import CANCELLED, blocks
    from monitor.compaction.state import State

    _, said = read([(1, "Add a dark theme.", False), (2, "Forget what I said about the dark theme.", False)])
    goal = next(b for b in blocks(State(said=tuple(said), last=2), str) if b.label == CANCELLED)
    assert goal.items == ["cancelled: Add a dark theme. (user message 1, by user message 2)"]


def test_a_clause_that_says_nothing_alone_stays_with_its_sentence() -> None:
    later = "And you may touch the schema for the invoices table, that one only."
    rules, _ = read([(1, "Keep the database schema exactly as it is.", False), (2, later, False)])
    assert [(rule.text, rule.standing) for rule in rules] == [
        ("Keep the database schema exactly as it is.", "changed"),
        (later, "active"),
    ]


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Response times must stay under 120 ms at p95.", "We don't have to worry about the latency anymore."),
        ("Die Antwortzeit muss unter 120 ms bleiben.", "Um die Latenz müssen wir uns nicht mehr kümmern."),
        ("p99 must stay below 300 ms.", "Forget the limit on response times."),
    ],
)
def test_one_matter_has_several_names(rule: str, later: str) -> None:
    rules, _ = read([(1, rule, False), (2, later, False)])
    assert rules[0].standing != "active"
