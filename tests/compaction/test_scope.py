"""Talk about the matter of a rule that takes nothing back: how things are, what may be looked at, another deed or object."""

from __future__ import annotations

import pytest

from monitor.compaction import scope
from monitor.compaction.topics import topics
from monitor.compaction.wishes import read


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Don't change the database schema.", "The database schema is a mess, I know."),
        ("Don't change the database schema.", "The schema docs are in docs/schema.md if you need them."),
        ("Don't change the database schema.", "You need the schema for the joins, it's in db/schema.sql."),
        ("Don't change the database schema.", "Our schema has 42 tables now."),
        ("Don't touch the billing module.", "The billing module was written by Ann, ask her if it's unclear."),
        ("Don't touch the billing module.", "If you like, have a look at how the billing module does it."),
        ("Don't touch the billing module.", "The billing tests are fine."),
        ("Don't touch the billing module.", "I'm happy with the billing module as it is."),
        ("Never push to main.", "CI runs on main after each push."),
        ("Never push to main.", "Main is broken again, somebody pushed without tests."),
        ("Never push to main.", "You can pull from main whenever you like."),
        ("Keep the response time below 300 ms.", "It took 340 ms yesterday."),
        ("Keep the response time below 300 ms.", "250 ms is fine."),
        ("Keep the response time below 300 ms.", "The login page needs 900 ms, that's another story."),
        ("Write all comments in English.", "The German docs are fine."),
        ("Write all comments in English.", "Answer me in German please."),
        ("No new dependencies.", "The dependencies are listed in pyproject.toml."),
        ("No new dependencies.", "Which dependencies do we have?"),
        ("No new dependencies.", "It would be nice to have fewer dependencies."),
        ("Do not restart the server.", "The server was restarted by ops last night."),
        ("Do not restart the server.", "The server is ours since 2019."),
        ("Do not restart the server.", "You may need to wait until the server is up."),
        ("Don't email the customers.", "The customers are happy."),
        ("Don't email the customers.", "You can email me."),
        ("Must be finished by Friday.", "On Friday I'm off, so ask me before."),
        ("Must be finished by Friday.", "The release on Friday is important."),
        ("Must be finished by Friday.", "The meeting on Friday was moved to Monday."),
        ("Ask me before you delete anything.", "You can delete the temp file."),
        ("Ask me before you delete anything.", "Okay, delete it."),
        ("Nothing goes live without Priya's approval.", "Priya approved the design last year."),
        ("Use only the staging database.", "The staging database is down again."),
        ("Die API darf nicht geändert werden.", "Die API ist schön geworden."),
        ("Die API darf nicht geändert werden.", "Die API-Doku kannst du gern ergänzen."),
        ("Keine Mails an Kunden.", "Die Kunden haben uns geschrieben."),
        ("Keine Mails an Kunden.", "Ich kann mit den Kunden gut."),
        ("Das Log bleibt auf Englisch.", "Der deutsche Text im Log stammt von mir."),
        ("Bis Freitag muss es fertig sein.", "Freitag ist Feiertag, denk daran."),
        ("Passwörter niemals loggen.", "Das Passwort für den Test ist egal, nimm irgendeins."),
        ("Ne modifie pas le schéma.", "Le schéma est dans docs/."),
        ("Ne modifie pas le schéma.", "Tu peux lire le schéma si besoin."),
        ("Ne déploie rien sans mon accord.", "Le déploiement d'hier s'est bien passé."),
        ("Maximum 200 mots.", "Le texte actuel fait 180 mots, c'est bien."),
        ("No borres los registros.", "Los registros están en /var/log, puedes leerlos."),
        ("No borres los registros.", "Los registros ocupan mucho, pero no importa."),
        ("Não altere a API.", "A API está documentada no wiki."),
        ("Não altere a API.", "Pode testar a API à vontade."),
        ("Non modificare il database.", "Il database è lento, pazienza."),
        ("Non modificare il database.", "Puoi interrogare il database quando vuoi."),
        ("Nie zmieniaj schematu.", "Schemat jest w pliku schema.sql."),
        ("Nie zmieniaj schematu.", "Możesz obejrzeć schemat."),
        ("Не меняй схему базы.", "Схема базы лежит в docs."),
        ("Не меняй схему базы.", "Можешь посмотреть схему базы."),
        ("Не трогай платежи.", "Платежи вчера работали нормально."),
        ("不要修改数据库结构。", "数据库结构在 docs 里。"),
        ("不要修改数据库结构。", "你可以看一下数据库结构。"),
        ("不要动支付模块。", "支付模块昨天没问题。"),
        ("日志用英文写。", "中文文档没问题。"),
        ("データベースは変更しないでください。", "データベースの説明は docs にあります。"),
        ("データベースは変更しないでください。", "データベースを見ても構いません。"),
        ("決済モジュールには触らないでください。", "決済モジュールは昨日は問題ありませんでした。"),
        ("데이터베이스는 변경하지 마세요.", "데이터베이스 문서는 wiki에 있습니다."),
        ("결제 모듈은 건드리지 마세요.", "결제 모듈은 어제 괜찮았습니다."),
        ("Don't commit to the release branch.", "The release branch is cut from main every Monday."),
        ("Don't commit to the release branch.", "We commit to the release branch only on Mondays, that's the rule."),
        ("Only Bob may approve refunds.", "Bob is fine with the new form."),
        ("Only Bob may approve refunds.", "Bob approved two refunds this morning."),
        ("Keep files under 400 lines.", "views.py has 612 lines, split it."),
        ("Keep files under 400 lines.", "380 lines is okay for that one."),
        ("Never log tokens.", "You may log the request id instead of the user id."),
        ("Use tabs, not spaces.", "Some files use spaces, fix them."),
        ("Do not touch the vendor folder.", "The vendor folder contains 3 libraries; list them."),
        ("Do not touch the vendor folder.", "You should have seen the vendor folder last year."),
        ("No emojis in the UI.", "The emoji in the README is okay."),
        ("Tests must not hit the network.", "The network was down yesterday."),
        ("Tests must not hit the network.", "You can use the network for the download script."),
        ("Stay on Node 20.", "Node 20 is fine."),
        ("Stay on Node 20.", "Which Node version does CI use?"),
        ("Do not mention prices to the customer.", "The prices changed last week."),
        ("Do not mention prices to the customer.", "You can tell the customer about the delivery time."),
        ("Don't delete old invoices.", "Old invoices are needed for the audit."),
        ("Don't delete old invoices.", "Delete the old drafts."),
        ("Ship it by Friday.", "Friday morning works best for the deploy."),
        ("Ship it by Friday.", "Is Friday still okay?"),
        ("Ship it by Friday.", "Friday is the last possible day."),
        ("Die Tabelle kunden nicht anfassen.", "Die Tabelle kunden hat 2 Millionen Zeilen."),
        ("Die Tabelle kunden nicht anfassen.", "Die Tabelle bestellungen kannst du ändern."),
        ("Vor dem Merge immer die Tests laufen lassen.", "Die Tests laufen lokal in 2 Minuten."),
        ("Nie mit Administratorrechten arbeiten.", "Der Administrator heißt Kurt."),
        ("Ne touche pas aux migrations.", "Les migrations sont dans db/migrate."),
        ("Ne touche pas aux migrations.", "Tu peux ajouter un test."),
        ("No cambies los nombres de las columnas.", "Los nombres de las columnas son feos, ya lo sé."),
        ("Nunca subas el archivo .env.", "El archivo .env está en el servidor."),
        ("Não mude o cabeçalho.", "O rodapé você pode mudar."),
        ("Non cambiare i test esistenti.", "Puoi aggiungere nuovi test."),
        ("Non cambiare i test esistenti.", "I test esistenti durano 5 minuti."),
        ("Nie zmieniaj nazw endpointów.", "Nazwy endpointów są w routes.py."),
        ("Не удаляй старые логи.", "Старые логи занимают 40 ГБ."),
        ("Не удаляй старые логи.", "Временные файлы можно удалить."),
        ("不要删除旧日志。", "旧日志占了 40 GB。"),
        ("不要删除旧日志。", "临时文件可以删。"),
        ("周五之前必须完成。", "周五我请假，有事找小王。"),
        ("古いログは削除しないでください。", "古いログは40GBあります。"),
        ("古いログは削除しないでください。", "一時ファイルは削除していいです。"),
        ("오래된 로그는 삭제하지 마세요.", "오래된 로그가 40GB입니다."),
        ("오래된 로그는 삭제하지 마세요.", "임시 파일은 삭제해도 됩니다."),
    ],
)  # fmt: skip
def test_the_rule_goes_on(rule: str, later: str) -> None:
    rules, said = read([(1, rule, False), (2, later, False)])
    standing = {s.text: "cancelled" if s.by else "said" for s in said} | {r.text: r.standing for r in rules}
    assert standing[rule] in ("active", "said")


def test_what_is_set_in_the_place_of_what() -> None:
    assert scope.instead("Use the git sha instead of the ticket number.") == topics("… the ticket number")
    assert scope.instead("Use the git sha.") == {}


def test_a_place_below_another() -> None:
    assert scope.inside("Don't touch envs/prod.", "You may edit envs/prod/tags.tf.")
    assert not scope.inside("Don't touch envs/prod.", "You may edit envs/dev/tags.tf.")
