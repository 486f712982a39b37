"""Rules let go of in other words: handed over, no longer needed, a figure called good enough, a person content."""

from __future__ import annotations

import pytest

from monitor.compaction import limits
from monitor.compaction.wishes import read


def found(*texts: str) -> dict[str, str]:
    rules, said = read([(i, t, False) for i, t in enumerate(texts, 1)])
    return {s.text: "cancelled" if s.by else "said" for s in said} | {r.text: r.standing for r in rules}


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Правила такие: платёжный модуль — табу.", "С платёжниками договорился, их модуль теперь тоже можно править."),
        ("Ответ API должен укладываться в 300 мс.", "340 тоже сойдёт, не будем мелочиться."),
        ("Логи пишем на английском.", "Логи пусть будут на русском, если так удобнее поддержке."),
        ("Ничего не выкатывай, пока я не скажу.", "Даю добро на выкатку, но сначала на одну кассу."),
        ("Please leave etl/schema_registry.py as it is, the registry team is mid-refactor.", "The registry people are done by the way, so that file is yours as well."),
        ("Nothing gets merged before Hannah has had a look.", "Oh, and Hannah looked at it this morning and is happy, so merge whenever you're ready."),
        ("Alcune regole: l'archivio storico è intoccabile.", "L'archivio storico invece te lo sblocco: va corretto anche il 2025."),
        ("Ogni PDF deve pesare meno di 500 KB.", "Non importa, fino a 700 KB va bene."),
        ("Usa la libreria reportlab e nient'altro.", "Se weasyprint ti semplifica la vita, usalo pure al posto di reportlab."),
        ("House rules: the physics code is Bea's, keep your hands off it.", "Bea says you're welcome in the physics code now that her rewrite is in."),
        ("Tick rate is fixed at 30.", "and the tick rate isn't set in stone, 60 would be fine if it helps"),
        ("Keep the packet under 1200 bytes.", "1400 is ok then, the MTU on our hosts is 1500."),
        ("And hold the branch locally, no pushing.", "also feel free to push, CI needs to see it anyway"),
        ("Garde la compatibilité avec Python 3.8.", "Les serveurs sont tous passés en 3.12, inutile de s'embêter avec la 3.8."),
        ("Je valide moi-même chaque commit avant que tu le fasses.", "Pour les commits, pas la peine de me demander à chaque fois, je te fais confiance."),
        ("消息模板是运营定的，一个字都不能改。", "运营说模板交给我们自己维护了，想怎么改就怎么改。"),
        ("单个文件控制在 300 行以内。", "300 行那个限制我想了下没必要，batch.py 长一点就长一点吧。"),
        ("Ein paar Spielregeln: An echte Kunden geht vorläufig keine einzige Mail raus.", "Perfekt, dann schalte den Versand an die Kunden wieder frei."),
        ("Condiciones: el módulo de cupones es de otro equipo, ni se te ocurra modificarlo.", "Los de cupones nos han cedido el módulo, así que ahora es cosa nuestra."),
        ("Trabaja solamente contra la base de datos local.", "Y lo de la base local fue exceso de prudencia mía, tira de la de preproducción si quieres."),
        ("No quiero más de 5 consultas por pedido.", "Siete me parece bien, no hace falta bajar a 5."),
        ("Cada requisição pode fazer no máximo 3 chamadas externas.", "Três era um chute meu, quatro também dá."),
        ("Mensagens de erro sempre em português.", "Se for mais prático deixar as mensagens de erro em inglês, deixa, os apps traduzem."),
        ("Quelques consignes : les traductions sont gérées par l'agence, n'y touche surtout pas.", "L'agence a résilié, donc les traductions, c'est nous maintenant."),
        ("Ground rules from our side: the Elasticsearch cluster itself is managed by the vendor, so no config changes there.", "The vendor gave us admin rights yesterday, cluster settings are in our court from here on."),
        ("I want every new function to have a docstring.", "You can skip the docstrings for tiny helpers."),
        ("Index jobs may take five minutes at most.", "Six or seven minutes is nothing to lose sleep over."),
        ("For the moment don't open a pull request.", "Feel free to open the PR when the backfill is in."),
        ("It should not cost more than 95 a night.", "Okay, 99 a night is all right."),
        ("Put 102 on hold until I've talked to my wife, don't book it yet.", "And my wife agrees, book it."),
        ("로그는 영어로 남겨 주세요.", "로그는 한국어로 적어도 괜찮습니다, 운영팀이 그쪽을 더 편해합니다."),
        ("제가 말하기 전까지 배포하지 마세요.", "이제 배포하세요."),
        ("Am besten gar keine neuen Abhängigkeiten.", "Ich hab noch mal über die Abhängigkeiten nachgedacht: pydantic nehmen wir, das haben eh alle anderen Dienste."),
        ("Bestätigungen müssen innerhalb von 200 ms raus.", "Mit 250 ms kommen die Leute klar."),
        ("Odpowiedź dla klienta najpóźniej po 30 sekundach.", "Klient może spokojnie poczekać 45 sekund, nikt nie będzie miał pretensji."),
        ("Teksty dla klienta zatwierdziła prawniczka, więc są nietykalne.", "Tekst o przekroczeniu czasu możesz przeredagować, prawniczka dała zielone światło na drobne poprawki."),
        ("ログは英語で統一。", "ログは日本語のほうが現場に優しいので、そちらに寄せてもらって構いません。"),
        ("1回の処理は10秒以内に収めてください。", "12秒くらいなら問題ありません。"),
        ("Don't use Docker for this.", "Docker it is, my objections are gone."),
        ("No force pushes.", "If you have to force push that branch, so be it."),
        ("Don't rewrite history.", "Rewriting history is acceptable since nobody has pulled yet."),
        ("Keep the old endpoint alive.", "The old endpoint may die now."),
        ("No screenshots in the docs.", "Add screenshots to the docs where it helps."),
        ("Don't cache anything.", "Let's cache it after all."),
        ("Don't change the colours.", "Marketing no longer cares about the colours."),
        ("Leave the Makefile alone.", "Go wild with the Makefile."),
        ("No external calls from the tests.", "One external call in the tests won't kill us."),
        ("Wait with the upgrade until the backup is done.", "The backup ran through, you may upgrade."),
        ("Kein JavaScript im Frontend.", "Ein bisschen JavaScript im Frontend schadet nicht."),
        ("Bitte nichts am Layout ändern.", "Am Layout darfst du schrauben, wie du magst."),
        ("Höchstens drei Abfragen je Seite.", "Vier Abfragen tun auch nicht weh."),
        ("Nicht nach 18 Uhr deployen.", "Heute kannst du auch nach 18 Uhr deployen, ab jetzt immer."),
        ("Die Daten dürfen das Haus nicht verlassen.", "Der Datenschutz hat zugestimmt, die Daten dürfen raus."),
        ("Pas plus de 3 dépendances.", "Une quatrième dépendance, ça passe."),
        ("N'utilise pas de regex.", "Va pour une regex."),
        ("Ne contacte pas le client.", "Le client attend ton appel, contacte-le."),
        ("No cambies los colores.", "Los colores los puedes cambiar a tu gusto."),
        ("No uses hilos.", "Al final sí, usa hilos."),
        ("Máximo 2 reintentos.", "Con 4 reintentos vamos bien."),
        ("Não use a biblioteca antiga.", "A biblioteca antiga está liberada de novo."),
        ("Não envie e-mails.", "Pode disparar os e-mails."),
        ("Non usare il branch develop.", "Usa pure il branch develop."),
        ("Massimo 10 thread.", "Con 16 thread non succede niente."),
        ("Nie wysyłaj maili.", "Maile możesz już wysyłać."),
        ("Nie używaj globali.", "Globale ujdą w tym pliku, odpuszczam."),
        ("Не используй рекурсию.", "Рекурсия здесь уместна, используй."),
        ("Не больше 5 запросов.", "И восемь запросов потянем."),
        ("不要用多线程。", "多线程也行。"),
        ("不要联系客户。", "客户那边可以直接联系了。"),
        ("最多 3 次重试。", "重试 5 次也没事。"),
        ("マルチスレッドは使わないで。", "マルチスレッド、使っちゃってください。"),
        ("顧客に連絡しないでください。", "顧客にはもう連絡して大丈夫です。"),
        ("멀티스레드는 쓰지 마세요.", "멀티스레드 써도 됩니다."),
        ("고객에게 연락하지 마세요.", "고객에게 연락하셔도 괜찮아요."),
        ("Docs are Lena's job, leave them to her.", "Lena is swamped, so please take over the docs as well."),
        ("Das Rechtemodul gehört der IT, da haben wir nichts verloren.", "Die IT hat uns für das Rechtemodul Schreibzugriff gegeben, nutz ihn."),
        ("Veröffentlicht wird erst, wenn Frau Behr es gesehen hat.", "Frau Behr hat es sich angeschaut und ist zufrieden, von mir aus also raus damit."),
        ("Máximo 4 reintentos por aviso.", "Seis reintentos me valen."),
        ("计费模块归财务管，我们不插手。", "财务把计费模块移交给我们了，你直接改。"),
        ("接口响应控制在 500 毫秒内。", "600 毫秒也能接受。"),
    ],
)  # fmt: skip
def test_let_go(rule: str, later: str) -> None:
    assert found(rule, later)[rule] in ("cancelled", "changed")


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Interdit de lancer quoi que ce soit sur le serveur.", "Les serveurs sont tous passés en 3.12, inutile de garder la 3.8."),
        ("Nothing gets merged before Hannah has had a look.", "Hannah has not looked at it yet."),
        ("Nothing gets merged before Hannah has had a look.", "Did Hannah look at it?"),
        ("Ни одного запроса к боевой базе.", "Тестовая база теперь наша."),
        ("Keep the packet under 1200 bytes.", "Use port 1400, that is fine."),
        ("Keep the packet under 1200 bytes.", "1100 is fine."),
        ("Answer within 300 ms.", "45 minutes for the whole run is fine."),
        ("Die Vorlagen bleiben, wie sie sind.", "Den Test brauchst du nicht noch einmal laufen zu lassen."),
        ("线上的数据库谁都不许碰。", "测试环境的缓存归我们管了。"),
        ("Don't use Docker for this.", "Docker is installed on the host, by the way."),
        ("No force pushes.", "A force push destroyed my branch once."),
        ("Stay below 2 GB of memory.", "The box has 8 GB but other services need it."),
        ("Don't rewrite history.", "The history of the file is interesting, read it."),
        ("Keep the old endpoint alive.", "The old endpoint gets 3 requests a day."),
        ("Don't change the colours.", "The colours look great."),
        ("Leave the Makefile alone.", "The Makefile has a target for that."),
        ("Wait with the upgrade until the backup is done.", "The backup is still running."),
        ("Wait with the upgrade until the backup is done.", "When the backup is done, tell me."),
        ("No external calls from the tests.", "The tests need 4 minutes."),
        ("Bitte nichts am Layout ändern.", "Das Layout gefällt mir."),
        ("Nicht nach 18 Uhr deployen.", "Gestern lief das Deployment um 17 Uhr durch."),
        ("Die Daten dürfen das Haus nicht verlassen.", "Die Daten liegen auf db-3."),
        ("N'utilise pas de regex.", "La regex actuelle est illisible."),
        ("Ne contacte pas le client.", "Le client est content."),
        ("No cambies los colores.", "Los colores están en theme.css."),
        ("No uses hilos.", "El servidor usa 8 hilos."),
        ("Não envie e-mails.", "O e-mail do cliente está no cadastro."),
        ("Non usare il branch develop.", "Il branch develop è rotto."),
        ("Nie wysyłaj maili.", "Maile przychodzą z opóźnieniem."),
        ("Не используй рекурсию.", "Рекурсия в старом коде переполняла стек."),
        ("不要用多线程。", "多线程版本在旧仓库里。"),
        ("不要联系客户。", "客户昨天来电话了。"),
        ("マルチスレッドは使わないで。", "マルチスレッド版は昔ありました。"),
        ("顧客に連絡しないでください。", "顧客から連絡がありました。"),
        ("멀티스레드는 쓰지 마세요.", "멀티스레드 버전은 예전에 있었습니다."),
        ("고객에게 연락하지 마세요.", "고객이 어제 연락했습니다."),
    ],
)  # fmt: skip
def test_another_matter(rule: str, later: str) -> None:
    assert found(rule, later)[rule] in ("active", "said")


def test_of_two_rules_the_one_of_the_named_version_is_meant() -> None:
    first, second = "I'd like you to stick with pyarrow 14.", "Timestamps are to be written as int64, not as strings."
    rules = found(f"{first} {second}", "If pyarrow 14 gives you grief with int64 timestamps, 17 is fine with me too.")
    assert (rules[first], rules[second]) == ("cancelled", "active")


@pytest.mark.parametrize(
    ("old", "new", "good"),
    [
        ("No more than 5 queries.", "Seven is fine.", True),
        ("No more than 5 queries.", "Seventy rows is fine.", False),
        ("At least 90 % coverage.", "85 % will do.", True),
        ("At least 90 % coverage.", "95 % is fine.", False),
        ("Under 500 KB.", "700 KB is ok.", True),
        ("Under 500 KB.", "700 ms is ok.", False),
    ],
)
def test_a_figure_called_good_enough(old: str, new: str, good: bool) -> None:
    assert limits.accepted(old, new) is good
