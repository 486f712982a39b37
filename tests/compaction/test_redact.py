"""Secrets: found by shape, name and prose, gone everywhere; what is none stays."""

from __future__ import annotations

import json

import pytest

from monitor import conversation
from monitor.compaction.redact import Redactor, find
from monitor.conversation.secrets import MARK


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DATABASE_URL=postgresql://app:Tr0ub4dor-77@db:5432/x", "Tr0ub4dor-77"),
        ("The DB password is hunter2-Prod!", "hunter2-Prod"),
        ("Passwort: Geheim-123", "Geheim-123"),
        ("mot de passe registre : Rouge-Gorge-41", "Rouge-Gorge-41"),
        ("SHOP_DB_PASS=zebra-5561-qq", "zebra-5561-qq"),
        ("smtp_pw: Eiche77!", "Eiche77"),
        ("crates.io token for the release: cio9aQ72LmXx81TtRr", "cio9aQ72LmXx81TtRr"),
        ("密码是 Qw3rty-99", "Qw3rty-99"),
        ("パスワード：Kaz3-tuki-77", "Kaz3-tuki-77"),
        ("mysql -u root -pS3cret99 shop", "S3cret99"),
        ("curl -u admin:letmein9 http://x", "letmein9"),
        ("//npm.corp.example/:_authToken=npm_k3Vd82LqPz0WmXy71RtB", "npm_k3Vd82LqPz0WmXy71RtB"),
        ("WAREHOUSE_TOKEN=dapi7c1e93b05fd24a6688e0a1b2c3d4e5f6", "dapi7c1e93b05fd24a6688e0a1b2c3d4e5f6"),
        ("SLACK_HOOK=https://hooks.chat.example/T02A/B77/zX81kQmP0aa", "zX81kQmP0aa"),
        ('{"api_key": "abc123xyz99"}', "abc123xyz99"),
        ("Authorization: Bearer abcdefghijklmnop1234", "abcdefghijklmnop1234"),
        ("sk-ant-api03-AAAABBBBCCCCDDDDEEEE", "sk-ant-api03-AAAABBBBCCCCDDDDEEEE"),
        ("deploy --token s3cr3t-tok", "s3cr3t-tok"),
        ("APP_KEY=base64:Zm9vYmFyYmF6cXV4Zm9vYmFyMTIzNDU2Nzg=", "Zm9vYmFyYmF6cXV4Zm9vYmFyMTIzNDU2Nzg="),
        ("kind: Secret\ndata:\n  url: bW9uZ29kYjovL3I6cA==\nmetadata:\n  name: db\n", "bW9uZ29kYjovL3I6cA=="),
    ],
)
def test_secret_is_removed(text: str, secret: str) -> None:
    assert secret not in Redactor(find([text]))(text)


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 4096", "total_tokens=123456", "token: str = None", "password=os.environ['X']", "const token = await getToken()",
        "commit 7be03d5 fixes the token count", "password reset takes 30min", "API key rotation on 2026-03-31", "use token-bucket-v2",
        "api_key = settings.api_key", "primary_key: customer_id", "SECOND_PASS=always", "cache_key=user:42", "kind: ConfigMap\ndata:\n  url: aGVsbG8=", "sha256 446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redactor(find([text]))(text) == text


def test_a_known_secret_goes_where_nothing_tells_that_it_is_one() -> None:
    redact = Redactor(find(["password=Blue-Whale-9"]))
    assert redact("then it printed Blue-Whale-9 twice") == f"then it printed {MARK} twice"


def test_kept_messages_are_changed_in_place_and_only_there() -> None:
    body = {
        "messages": [
            {"role": "user", "content": "run it", "x": 1},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "run", "arguments": json.dumps({"command": "PGPASSWORD=Blue-Whale-9 psql"})}}]},
            {"role": "tool", "tool_call_id": "a", "content": "password=Blue-Whale-9 ok"},
        ]
    }  # fmt: skip
    conv = conversation.from_messages(body)
    redact = Redactor.of(conv)
    new = [redact.message(conv, m) for m in conv.messages]
    assert new[0] is conv.messages[0]
    assert "Blue-Whale-9" not in json.dumps([m.raw for m in new])
    assert json.loads(new[1].raw["tool_calls"][0]["function"]["arguments"])["command"].endswith(" psql")
    assert new[2].raw["content"].endswith(" ok")


def test_signed_thinking_with_a_secret_goes_whole() -> None:
    conv = conversation.from_messages(
        {"system": "s", "messages": [{"role": "user", "content": "password=Blue-Whale-9"},
                                     {"role": "assistant", "content": [{"type": "thinking", "thinking": "it is Blue-Whale-9", "signature": "x"},
                                                                       {"type": "text", "text": "done"}]}]}
    )  # fmt: skip
    new = Redactor.of(conv).message(conv, conv.messages[1])
    assert [b["type"] for b in new.raw["content"]] == ["text"]


def test_copies_beside_the_message_are_cleaned_too() -> None:
    line = {"type": "user", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]},
            "toolUseResult": {"stdout": "password=Blue-Whale-9"}}  # fmt: skip
    call = {
        "type": "assistant",
        "uuid": "u1",
        "parentUuid": "u0",
        "sessionId": "s",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "env; echo password=Blue-Whale-9"}}
            ],
        },
    }
    first = {
        "type": "user",
        "uuid": "u0",
        "parentUuid": None,
        "sessionId": "s",
        "message": {"role": "user", "content": "go"},
    }
    conv = conversation.load("\n".join(json.dumps(x) for x in (first, call, line)).encode())
    redact = Redactor.of(conv)
    new = [redact.message(conv, m) for m in conv.messages]
    assert "Blue-Whale-9" not in json.dumps([m.raw for m in new])
    assert new[2].raw["toolUseResult"] == {"stdout": f"password={MARK}"}


def test_a_piece_of_a_secret_is_known_as_one() -> None:
    redact = Redactor(find(["Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJsb2FkIn0.s5Zk3mXvPq8rT1uW"]))
    assert redact.holds("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJsb2FkIn0")
    assert not redact.holds("gateway_client")


def test_a_key_with_a_colon_in_it_is_a_secret() -> None:
    assert find(["PUSH_SERVER_KEY=AAAAbQ3Lm9Zo:APA91cHk5vSz1RpXd7TyOj"]) == {"AAAAbQ3Lm9Zo:APA91cHk5vSz1RpXd7TyOj"}
    assert find(["CACHE_KEY=registry.example:5000"]) == set()


@pytest.mark.parametrize(
    "line",
    [
        "sleutel = hj_Wk52qPz90LrYt38Bm",
        "cle_api: hj_Wk52qPz90LrYt38Bm",
        "wachtwoord=Kastanje-88-laan",
        "schlüssel: hj_Wk52qPz90LrYt38Bm",
        "chave_api = hj_Wk52qPz90LrYt38Bm",
        "chiave: hj_Wk52qPz90LrYt38Bm",
        "klucz = hj_Wk52qPz90LrYt38Bm",
    ],
)
def test_names_of_secrets_in_other_languages(line: str) -> None:
    value = line.split("=")[-1].split(":")[-1].strip()
    assert find([line]) == {value}
