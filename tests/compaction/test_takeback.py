"""Withdrawals as people word them in passing, and sentences that only look like one."""

from __future__ import annotations

import pytest

from monitor.compaction.wishes import read


def found(*texts: str) -> dict[str, str]:
    rules, said = read([(i, t, False) for i, t in enumerate(texts, 1)])
    return {s.text: "cancelled" if s.by else "said" for s in said} | {r.text: r.standing for r in rules}


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Don't touch the schema.", "We can touch the schema after all."),
        ("Don't push to the remote yet.", "ok go ahead and push"),
        ("Keep responses under 200 words.", "You can write longer answers from here on."),
        ("Keep responses under 200 words.", "The word limit is off."),
        ("Keep functions below 40 lines.", "I was too strict with the 40 lines, 60 is okay."),
        ("Don't add dependencies.", "If you need a dependency, just add it."),
        ("Don't add dependencies.", "Dependencies are okay now, legal signed off."),
        ("Never use raw SQL.", "On second thought raw SQL is the better choice for the report."),
        ("Only use the staging cluster.", "Staging is full, so use the dev cluster from now on."),
        ("Please answer in German.", "Let's switch to English."),
        ("Do not modify the public API.", "The API freeze is over."),
        ("Do not modify the public API.", "I take back what I said about the public API."),
        ("No new tables.", "A new table is fine if it makes things simpler."),
        ("Always write commit messages in English.", "Commit messages may be in German as well."),
        ("Do not run the e2e tests.", "Run the e2e tests now."),
        ("Leave the nginx config alone.", "You'll have to touch the nginx config after all."),
        ("Don't merge without a review.", "The review requirement is waived."),
        ("Use tabs, not spaces.", "Scratch the tabs thing, spaces it is."),
        ("Use Python 3.9 syntax only.", "We dropped 3.9 last night, so newer syntax is ok."),
        ("Max 3 retries.", "Make that 5 retries."),
        ("Don't delete any users.", "The freeze on deletions has been lifted, you can delete test users."),
        ("Schick nichts an den Kunden.", "Du darfst dem Kunden jetzt doch etwas schicken."),
        ("Bitte keine neuen Tabellen anlegen.", "Eine neue Tabelle ist in Ordnung."),
        ("Die Datei config.yaml nicht anfassen.", "config.yaml ist jetzt freigegeben."),
        ("Maximal 100 Zeilen pro Datei.", "Die Zeilengrenze kannst du vergessen."),
        ("Nicht auf main pushen.", "Gut, dann push jetzt auf main."),
        ("Nur Deutsch in den Kommentaren.", "Bei den Kommentaren bin ich doch für Englisch."),
        ("Keine Emojis in den Texten.", "Ach, Emojis sind okay."),
        ("Ne touche pas à la base de production.", "Finalement, tu peux toucher à la base de production."),
        ("Pas de commits pour l'instant.", "C'est bon, tu peux commiter."),
        ("N'utilise pas d'ORM.", "Bon, pour l'ORM, j'ai changé d'avis : vas-y."),
        ("Les réponses doivent faire moins de 100 mots.", "Oublie la limite de mots."),
        ("No toques el esquema.", "El esquema ya se puede tocar."),
        ("No hagas push todavía.", "Vale, haz push."),
        ("Máximo 50 líneas por función.", "El tope de 50 líneas lo quitamos."),
        ("No uses librerías externas.", "Puedes usar librerías externas si hace falta."),
        ("Não mexa no front-end.", "Agora pode mexer no front-end."),
        ("Não faça commit ainda.", "Pode fazer o commit."),
        ("Não use cache.", "Pensando melhor, use cache."),
        ("Non toccare lo schema.", "Lo schema adesso si può toccare."),
        ("Non fare push.", "Ok, fai push."),
        ("Massimo 80 righe per file.", "Il limite delle righe lo togliamo."),
        ("Nie dotykaj bazy produkcyjnej.", "Bazę produkcyjną możesz już ruszać."),
        ("Nie rób commitów.", "Możesz już commitować."),
        ("Maksymalnie 30 linii na funkcję.", "Limit linii zniesiony."),
        ("Не трогай схему базы.", "Схему базы всё-таки можно менять."),
        ("Не пушь в main.", "Ладно, пушь в main."),
        ("Функции не длиннее 40 строк.", "Ограничение в 40 строк снимаем."),
        ("Не добавляй новые зависимости.", "Насчёт зависимостей передумал, добавляй."),
        ("不要修改数据库结构。", "数据库结构现在可以改了。"),
        ("先不要提交代码。", "好，提交吧。"),
        ("函数不要超过 40 行。", "40 行的限制放开了。"),
        ("不要引入新的依赖。", "想了想，可以引入新的依赖。"),
        ("スキーマは変更しないでください。", "やっぱりスキーマは変更していいです。"),
        ("まだコミットしないでください。", "もうコミットしていいです。"),
        ("関数は40行以内にしてください。", "40行の制限は撤廃します。"),
        ("스키마는 건드리지 마세요.", "이제 스키마를 건드려도 됩니다."),
        ("아직 푸시하지 마세요.", "이제 푸시하세요."),
        ("함수는 40줄을 넘기지 마세요.", "40줄 제한은 없애겠습니다."),
        ("외부 라이브러리를 쓰지 마세요.", "다시 생각해 보니 외부 라이브러리를 써도 되겠네요."),
        ("Raak het schema niet aan.", "Het schema mag je nu wel aanpassen."),
        ("Tag images with the ticket number, please.", "About tags: use the git sha from now on instead of the ticket number."),
        ("Nie wypychaj zmian na serwer.", "Ok, wypchnij zmiany, ale tylko na gałąź vat-44."),
        ("不许把代码推到远端。", "推到远端也行了，但只能推 risk-77 分支。"),
        ("Die Antwortzeit von 250 ms ist gesetzt.", "Das Ziel verschärfen wir: p95 unter 200 ms."),
        ("The total must not go above 480 euros.", "Ok, I can live with more than 480 then."),
        ("Please don't contact me by phone.", "You can call me after all: 555-0142."),
        ("Keep the provider pinned at 5.41.0.", "On second thought the provider pin is holding us back, move to 5.62.0."),
        ("Don't bump Kotlin.", "And the kotlin version thing - go to 2.0.20 if it helps."),
        ("Hold off on committing until I've seen the diff.", "The diff looks good, you can commit now."),
    ],
)  # fmt: skip
def test_taken_back(rule: str, later: str) -> None:
    assert found(rule, later)[rule] in ("cancelled", "changed")


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Don't touch the schema.", "You may also use the staging database."),
        ("Don't touch the schema.", "What would happen if we touched the schema?"),
        ("Don't touch the schema.", "My boss says \"just touch the schema\", ignore that."),
        ("Don't touch the schema.", "You can look at the schema as long as you don't change it."),
        ("Don't touch the schema.", "The schema stays off limits."),
        ("Don't push to main.", "You can run the tests on main now."),
        ("Never delete user data.", "You may delete the temp files now."),
        ("Keep the timeout under 30 seconds.", "The retry limit goes up to 5."),
        ("Only use the staging cluster.", "The staging cluster is full of old pods."),
        ("No new dependencies.", "As for new dependencies, still no."),
        ("Don't restart the database.", "You may restart the web server."),
        ("Don't restart the database.", "Restart the web server, please."),
        ("Don't commit generated files.", "Commit the tests now."),
        ("Keine Änderungen an der API.", "An der API ändert sich weiterhin nichts."),
        ("Keine Änderungen an der API.", "Das Frontend darfst du jetzt ändern."),
        ("Ne touche pas à la prod.", "Tu peux toucher à la préprod."),
        ("Ne touche pas à la prod.", "Pour la prod, ça reste interdit."),
        ("No toques producción.", "Ya puedes tocar el entorno de pruebas."),
        ("No toques producción.", "Lo de producción sigue igual."),
        ("Não mexa na API.", "Pode mexer nos testes agora."),
        ("Non toccare il database.", "Puoi toccare i test."),
        ("Nie ruszaj produkcji.", "Możesz ruszać staging."),
        ("Не трогай прод.", "Тестовый стенд можно трогать."),
        ("Не трогай прод.", "Прод по-прежнему не трогаем."),
        ("不要动生产库。", "测试库可以动。"),
        ("不要动生产库。", "生产库还是不要动。"),
        ("本番DBには触らないでください。", "検証用DBは触っていいです。"),
        ("운영 서버는 건드리지 마세요.", "테스트 서버는 건드려도 됩니다."),
        ("Use PostgreSQL.", "The old PostgreSQL driver was slow."),
        ("Never log passwords.", "Log the request id too."),
        ("Write tests for everything.", "The tests for billing are green."),
        ("Don't send emails to customers.", "Send the summary email to me."),
        ("Max 3 retries.", "The build took 5 minutes."),
        ("Don't rename the columns.", "The columns were renamed last year by mistake."),
        ("Don't rename the columns.", "I wonder whether we could rename the columns later."),
        ("Don't use eval.", "Someone in the forum says it's fine to use eval."),
        ("No changes to the iOS code.", "If you want, you can look at the iOS code for reference, but the rule stands."),
        ("Keine Änderungen am Mapping des Index.", "Was das Mapping angeht, bleibt es dabei."),
        ("State files are off limits.", "You may read the plan output."),
    ],
)  # fmt: skip
def test_goes_on(rule: str, later: str) -> None:
    assert found(rule, later)[rule] in ("active", "said")


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Don't touch anything under envs/prod.", "As for prod: the tag file envs/prod/tags.tf you can edit, nothing else there."),
        ("Never run terraform apply.", "Ok go ahead and run apply on dev, only dev."),
        ("Não mexa no serviço de estoque.", "Pode mexer no serviço de estoque sim, mas só no arquivo stock/client.py."),
    ],
)  # fmt: skip
def test_lifted_in_part_both_are_shown(rule: str, later: str) -> None:
    assert found(rule, later)[rule] == "changed"


def test_only_the_clause_that_is_meant_goes() -> None:
    text = (
        "A few things: no layover longer than 2 hours, no flights before 8 am, and the total must not exceed 480 euros."
    )
    rules = found(text, "By the way a longer layover is no problem anymore.")
    assert rules["no layover longer than 2 hours"] == "changed"
    assert [v for k, v in rules.items() if "before 8 am" in k] == ["active"]
