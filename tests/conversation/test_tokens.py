"""Token counts: the published ranks, exact counts that OpenAI publishes, and no network at any price."""

from __future__ import annotations

import base64
import hashlib
import lzma
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from monitor import conversation
from monitor.conversation import tokens

DATA = Path(tokens.__file__).resolve().parent.parent / "data" / "o200k.xz"


def test_the_shipped_ranks_are_the_published_ones() -> None:
    """Unpacked and written as OpenAI publishes them, they have the hash tiktoken expects."""
    plain = lzma.decompress(DATA.read_bytes())
    n = 199_998
    at, lines = n, []
    for rank, length in enumerate(plain[:n]):
        lines.append(base64.b64encode(plain[at : at + length]) + b" %d\n" % rank)
        at += length
    assert at == len(plain)
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    assert digest == "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
    assert DATA.stat().st_size <= 1_000_000


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0),
        ("hello world", 2),
        ("antidisestablishmentarianism", 6),  # OpenAI cookbook, "How to count tokens with tiktoken": o200k_base
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 8),
        ("<|endoftext|>", 7),  # ordinary text, never a control token
    ],
)
def test_published_counts(text: str, n: int) -> None:
    assert tokens.count(text) == n
    assert tokens.estimated() is False


def test_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    tokens._encoding.cache_clear()
    assert tokens.count("hello world") == 2


@pytest.mark.parametrize("text", ["a" * 1_000_000, "\n" * 300_000, "^" * 300_000, "啊" * 100_000, " " * 500_000])
def test_long_runs_neither_panic_nor_lose(text: str) -> None:
    """tiktoken's regular expression overflows on runs like these when they come in one piece."""
    n = tokens.count(text)
    assert 0 < n <= len(text)


def test_pieces_cover_the_text_and_hardly_change_the_count() -> None:
    text = "def f(x):\n    return x + 1  # one more\n" * 3_000
    assert "".join(tokens._pieces(text)) == text
    assert max(map(len, tokens._pieces(text))) <= tokens.PIECE
    encoding = tokens._encoding()
    assert encoding is not None
    assert tokens.count(text) == len(encoding.encode_ordinary(text))


def test_lone_surrogate_is_counted() -> None:
    assert tokens.count("half \ud83d pair") > 0


def test_estimate_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_encoding", lambda: None)
    assert tokens.estimated() is True
    assert tokens.count("x" * 400) == 100
    assert tokens.count("变" * 100) == 70
    conv = conversation.from_messages([{"role": "user", "content": "hello"}])
    assert tokens.measure(conv).estimated is True


def test_damaged_ranks_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "conversation" / "tokens.py"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "o200k.xz").write_bytes(lzma.compress(b"\x01a" * 10))
    monkeypatch.setattr(tokens, "__file__", str(fake))
    assert tokens._ranks() is None


def test_parts_of_a_request() -> None:
    conv = conversation.from_messages(
        {
            "model": "m",
            "system": "hello world",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "hello world"},
                                             {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                                                          "data": "A" * 40_000}}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "hello", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "hello world"}]},
            ],
        }
    )  # fmt: skip
    found = tokens.measure(conv)
    assert found.system == 2 + 4
    assert found.user == 2 + 4
    assert found.images == 1300  # never by the length of the base64 text
    assert found.calls == 2  # "hello" and "{}"
    assert found.results == 2 + 4
    assert found.total == sum(found.parts().values())


def test_importing_loads_neither_tiktoken_nor_httpx() -> None:
    code = (
        "import sys, monitor.conversation.tokens; print([m for m in ('tiktoken','httpx','regex') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"
