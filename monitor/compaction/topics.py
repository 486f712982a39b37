"""What a sentence is about, so that two sentences on one matter are known as such, in whatever languages they are.

:func:`topics` gives weighted keys: names and paths count most, then words as stems, concepts of software work across
languages (``notes`` = ``Notizen`` = ``notas`` = 笔记), and for scripts without spaces pairs of characters.
"""

from __future__ import annotations

import re
from functools import lru_cache

from monitor.readers.step_words import STOP

#: one row a concept, which goes on behind "\"; beginnings of Latin words, whole words of the others
_CONCEPTS = """
note notes notiz notas nota anota memo notizen note 笔记 记录 メモ ノート заметк
english englisch inglês angielsk inglés inglesa ingles anglais inglese 英文 英语 英語 английск 영어
german deutsch alemão niemieck alemán aleman allemand tedesco 德文 德语 ドイツ語 немецк
spanish spanisch castellano espanhol hiszpańsk español espanol espagnol spagnolo 西班牙 スペイン語 испанск
french französisch francês francusk francés frances français francese 法文 法语 フランス語 французск
chinese chinesisch chino chinois cinese 中文 中国語 китайск
russian russisch ruso russe russo rosyjsk 俄文 俄语 ロシア語 русск 러시아어
italian italienisch italiano italien włosk 意大利 イタリア語 итальянск
polish polnisch polaco polonais polacco polsk польск
portuguese portugiesisch portugués portugais português portoghese
japanese japanisch japonés japonais giapponese 日文 日语 日本語 японск 일본어
test tests teste prueba pruebas essai 测试 用例 テスト тест 테스트
file files datei dateien archivo archivos fichier fichiers arquivo 文件 ファイル файл 파일
database baza bazy bazę bazie datenbank base_de_datos bdd 数据库 データベース баз 데이터베이스
production produkcyjn produktion produktiv prod producción produccion produção 生产 线上 本番 продакшн 운영
staging 预发 ステージング
branch zweig rama branche 分支 ブランチ ветк
commit commits einchecken 提交 コミット коммит 커밋
push pushen wypych wypchn pousse empuj empurr запуш 推送 推到 推上 プッシュ 푸시
merge mergen fusionar fusionner 合并 マージ
deploy deployment ausrollen ausliefern desplegar despliegue déployer 部署 发布 上线 デプロイ リリース 배포
delete lösch remove entfern borra borrar elimina supprim apaga 删除 删掉 移除 削除 消す удал 삭제
rename umbenenn renombra renomm 重命名 改名 リネーム
restart neustart neu_start reinicia reinicies redémarr 重启 再起動 перезапуск 재시작
dependency dependencies abhängigkeit dependencia dépendance 依赖 依存 зависимост 의존
library bibliothek librería biblioteca bibliothèque 库 ライブラリ библиотек
interface schnittstelle interfaz 接口 インターフェース интерфейс
schema esquema schéma schemat 结构 スキーマ схем 스키마
format formato 格式 フォーマット 形式 формат
comment kommentar comentario commentaire 注释 コメント комментари 주석
documentation dokumentation documentación doku docs 文档 ドキュメント документац 문서
language sprache idioma langue 语言 言語 язык 언어
message nachricht mensaje meldung 消息 メッセージ сообщени
translation übersetz traducción traduc traduction 翻译 翻訳 перевод
machine maschinell automática automatique 机器 機械 машинн
component komponente componente composant 组件 コンポーネント компонент 컴포넌트
table tabelle tabla 表格 テーブル таблиц
column spalte columna colonne 列 カラム
migration migrations migración 迁移 マイグレーション миграц
cache zwischenspeicher caché 缓存 キャッシュ кэш
log logs protokoll registro journal 日志 ログ лог 로그
answer reply response antwort respuesta réponse resposta risposta odpowied ответ 回答 回复 答复 返信 답변
error fehler erreur 错误 报错 エラー ошибк 오류
email mail correo courriel 邮件 メール почт
date datum fecha 日期 日付 дат
timezone zeitzone zona_horaria fuseau 时区 タイムゾーン часово
currency währung moneda devise 货币 通貨 валют
amount betrag beträge importe montant 金额 金額 сумм
user benutzer nutzer usuario utilisateur 用户 ユーザ пользовател
style stil estilo 样式 风格 スタイル стил
version versión 版本 バージョン верси
export exportar exporter 导出 エクスポート экспорт
import importar importer 导入 インポート импорт
config konfiguration configuración einstellung 配置 設定 настройк
secret geheimnis secreto passwort password contraseña 密码 密钥 パスワード
network netz netzwerk red réseau 网络 ネットワーク сет
script skript guion 脚本 スクリプト скрипт
server servidor serveur 服务器 サーバ сервер
queue warteschlange cola file_d'attente 队列 キュー
lock sperre bloqueo verrou 锁 ロック блокировк
print drucken imprimir 打印 印刷
threshold schwelle umbral seuil 阈值 しきい値
verbosity verbos terse concise brief short long detailed ausführlich knapp kurz breve conciso detallad extens bref \
brève concis détaillé court succinct prolisso stringat zwięzł krótk szczegół uitgebreid beknopt кратк подробн \
简短 简洁 详细 啰嗦 簡潔 短く 詳し 간결 짧게 자세
formality formal informal duz siez tutoie tutoyer vouvoie vouvoyer tutea tuteo 敬語 丁寧 敬语 존댓말 반말
rule regel regla règle 规则 规定 ルール правил
"""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NOISE = _set(
    "the you all and for not are was has had but can may any one our out its his her who how now new per "
    "via yet let put set get got did "
    "der die das und ist ein den dem des mit auf von los las una por con que del les est pas sur par une dans nos sus "
    "rule must never always only should please keep make use using used also now until then just that "
    "not don't do dont don doesn didn isn aren won wouldn shouldn mustn couldn regla regel règle "
    "nicht kein keine keinen nur immer nie bitte darf darfst muss soll jetzt doch auch ohne "
    "nunca siempre solo sólo puedes ahora todo sin para pero partir "
    "jamais toujours seulement maintenant cette sans pas plus "
    "want like need good okay time times rest fine free allowed allow longer instead already still may "
    "haz hagas hagan haced hacer fai fare fate faire fais fait faites faça fazer mach machen mache rób róbcie "
    "robić zrób делай сделай делать doe doen "
    "can could anything anyone everything something nothing thing things "
    "não nunca sempre pode podem mas com uma sim agora mais deve regra favor "
    "non mai sempre che con una della più puoi può anche deve regola adesso prego "
    "niet geen nooit altijd alleen moet mag mogen kan ook wel nog een van het voor maar regel nu graag "
    "nie nigdy zawsze tylko może możesz można już też jest oraz musi ale zasada teraz proszę "
    "asla her zaman sadece artık için bir daha kural kuralı olarak lütfen "
    "нельзя никогда всегда только можно можешь теперь уже больше про что это как для при правило нужно надо "
    "обязательно пожалуйста"
)
#: "touch" says nothing of what is touched
_TOUCH = re.compile(
    r"touch\w*|toc(?:ar(?:l[oa]s?)?|as?|an|áis)|toques?|anfass\w*|anrühr\w*|touch(?:e[rsz]?|ons)|tocc\w+|mex(?:er|a[mn]?|e[mr]?)|"
    r"rusza\w*|трога\w+|aanrak\w+"
)
_NAME = re.compile(
    r"[\w.@~-]*/[\w./@~-]*\w|\b[\w.-]{2,}/(?=[\s,.;:!?)]|$)|\b\w+\(\)|\b[A-Za-z]\w*(?:[._-][A-Za-z0-9]\w*)+|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,"
    r"}[\w-]*|\b[A-Za-z]+\d[\w-]*|`[^`]+`"
)
_LATIN = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff々\uac00-\ud7af]{3,}")
_RUN = re.compile(r"[\u3400-\u9fff\u30a0-\u30ff々]+|[\uac00-\ud7af]+")
_NUMBER = re.compile(r"\b\d+(?:[.,]\d+)*(?:\s?%|[A-Za-z]{1,4}\b)?")
#: "call me", "by phone": the call that is no function's
_CALLED = re.compile(
    r"(?i)\b(?:by|over\s+the|on\s+the)\s+(?:tele)?phone\b|\bcall(?:ing)?\s+(?:me|us|him|her|them)\b|\bruf\w*\s+(?:mich|uns|ihn|sie)\b|\b(?:mich|uns)\s+anruf\w*|"
    r"\b(?:m['’]|me\s+|nous\s+)appel\w+|\bllám\w+me\b|\b(?:par|por|al|per)\s+t[eé]l[eé]fon\w+|\bme\s+(?:llam|lig)\w+|\bchiam\w+mi\b"
)
#: "contacte-le": the verb is the word
_CLITIC = re.compile(r"(?<=[a-zéè])-(?:les?|la|lui|moi|toi|en|y|nous|vous|l[oa]s?)\b")
_PULL = re.compile(r"(?i:\b(?:pull|merge)[\s-]requests?\b)|\b[PM]Rs?\b|プルリク|合并请求|풀\s*리퀘스트")
#: one matter under several names, some of more than one word
_LATENCY = re.compile(
    r"(?i)\b(?:latenc\w*|latenz\w*|latence|latenza|(?:response|answer|reply)\s+times?|antwortzeit\w*|reaktionszeit\w*|"
    r"tiempos?\s+de\s+respuesta|temps\s+de\s+réponse|tempos?\s+de\s+resposta|temp[oi]\s+di\s+risposta|"
    r"задержк\w*|врем\w+\s+(?:отклика|ответа)|p(?:50|75|90|95|99))\b|延迟|响应时间|レイテンシ|応答時間|응답\s*시간|지연\s*시간"
)
_PHONE = _set(
    "call calling phone telephone telefon telefonisch anrufen ruf rufen anruf téléphone appeler appelle teléfono "
    "llamar llamarme llámame telefone ligar telefono chiamare chiamarmi chiamami"
)
#: a place in a text with its number: "section 5.2", 第3条
_PLACE = re.compile(
    r"(?i)第\s*(\d+)\s*[条章節节项項]|§+\s*(\d+(?:\.\d+)*)|\b(?:section|article|clause|chapter|figure|table|abschnitt|artikel|"
    r"kapitel|absatz|abbildung|tabelle|sección|artículo|cláusula|capítulo|tabla|chapitre)\s+(\d+(?:\.\d+)*)"
)
#: pairs of characters that say nothing of the matter
_CJK_NOISE = _set(
    "the you all and for not are was has had but can may any one our out its his her who how now new per "
    "via yet let put set get got did "
    "der die das und ist ein den dem des mit auf von los las una por con que del les est pas sur par une dans nos sus "
    "不要 必须 所有 可以 现在 另外 禁止 一定 使用 需要 我们 这个 那个 之前 以后 就行 已经 "
    "不能 不用 仍然 统一 保持 进行 如果 但是 还是 请把 的话 "
    "하지 지마 마세 세요 주세 니다 습니 합니 됩니 해도 이제 하세 으로 에서 "
    "以外 場合 必要 今後 変更 確認 以内 対応 作業 使用 禁止 絶対 今回 規則 要求"
)


def _table() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """(words of scripts without spaces -> concept, beginnings of Latin and Cyrillic words -> concept)."""
    wide: dict[str, str] = {}
    stems: list[tuple[str, str]] = []
    for row in _CONCEPTS.strip().splitlines():
        names = row.split()
        for word in names:
            if _RUN.fullmatch(word):
                wide[word] = names[0]
            else:
                stems.append((word.replace("_", " ").lower(), names[0]))
    return wide, stems


_WIDE, _STEMS = _table()
_BY_LETTER: dict[str, list[tuple[str, str]]] = {}
for _begin, _concept in _STEMS:
    _BY_LETTER.setdefault(_begin[0], []).append((_begin, _concept))


@lru_cache(maxsize=8192)
def topics(text: str) -> dict[str, float]:
    """Keys of what ``text`` is about, with weights: 3 a name or path, 2 a concept, 1 a word, a half a pair.

    The result is shared between callers and must not be changed.
    """
    out: dict[str, float] = {}

    def add(key: str, weight: float) -> None:
        out[key] = max(out.get(key, 0), weight)

    text = _CLITIC.sub(" ", text)
    for m in _NAME.finditer(text):
        name = m.group().strip("`").rstrip("()").strip("./").lower()
        if len(name) > 1:
            add("n:" + name, 3)
            if "/" in name:
                add("n:" + name.rsplit("/", 1)[-1], 3)
    for m in _LATIN.finditer(text):
        word = m.group().lower()
        if word in _PHONE and _CALLED.search(text):
            add("c:phone", 2)
            continue
        if word in _NOISE or word in STOP or _TOUCH.fullmatch(word):
            continue
        concept = _concept_of(word)
        if concept:
            add("c:" + concept, 2)
        elif m.group()[0].isupper() and m.start() > 0:
            add("w:" + _stem(word), 2)
        else:
            add("w:" + _stem(word), 1)
    for m in _PLACE.finditer(text):
        add("a:" + next(g for g in m.groups() if g), 2)
    if _PULL.search(text):
        add("c:pull", 2)
    if _LATENCY.search(text):
        add("c:latency", 2)
    for word, concept in _WIDE.items():
        if word in text:
            add("c:" + concept, 2)
    for run in _RUN.findall(text):
        for i in range(len(run) - 1):
            pair = run[i : i + 2]
            if pair not in _CJK_NOISE:
                add("p:" + pair, 0.5)
    for m in _NUMBER.finditer(text):
        number = m.group().replace(" ", "").rstrip(".,").lower()
        if len(number) > 2:
            add("d:" + number, 1)
    return out


def overlap(a: dict[str, float], b: dict[str, float]) -> float:
    """Weight of what two sentences have in common."""
    return sum(min(w, b[k]) for k, w in a.items() if k in b)


_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_ENDINGS = (
    *("ings", "ing", "edly", "ed", "es", "en", "er", "ern", "s", "n", "e", "o", "a", "os", "as"),
    *("i", "u", "y", "ie", "ów", "ą", "ę"),
)


_PIECE = re.compile(r"[_-]")


def named(theirs: dict[str, float], mine: dict[str, float], text: str) -> dict[str, float]:
    """``mine``, what ``text`` is about, with the paths of ``theirs`` it calls by their last part ("the core")."""
    said = {w.lower() for w in _LATIN.findall(text)}
    more = {}
    for key in theirs:
        if key.startswith("n:") and key not in mine and "/" in key:
            last = key.rstrip("/").rsplit("/", 1)[-1].split(".")[0]
            pieces = [p for p in _PIECE.split(last) if len(p) > 4]  # "that registry file" is schema_registry.py
            if (len(last) > 2 and last not in _NOISE and last in said) or ("c:file" in mine and said & {*pieces}):
                more[key] = 2.0
    return mine | more if more else mine


_CYRILLIC_END = re.compile(
    r"(?<=\w{4})(?:ами|ями|ого|его|ому|ему|ыми|ими|ться|тся|ешь|ишь|ете|ите|ла|ло|ли|ть|ой|ей|ом|ем|ам|ям|ах|ях|ов|ев|ий|ый|ая|яя|ое|ее|"
    r"ие|ые|ую|юю|ых|их|[аяыиуюеойьл])$"
)


def _stem(word: str) -> str:
    """A word without its commonest endings, so that forms of one word are one key."""
    if _CYRILLIC.match(word):  # endings are many and up to three letters long
        return _CYRILLIC_END.sub("", word)[:7]
    for end in _ENDINGS:
        if word.endswith(end) and len(word) - len(end) >= 4:
            word = word[: -len(end)]
            if end in ("ing", "ed") and word[-1] == word[-2] not in "ls":  # pinned, running
                word = word[:-1]
            return word[:9]
    return word[:9]


def _concept_of(word: str) -> str:
    for stem, concept in _BY_LETTER.get(word[0], ()):
        if word.startswith(stem) and len(word) <= len(stem) + 4:
            return concept
    return ""
