"""Body texts for those who ask for them: bounded, decoded, and without the keys the request was signed with."""

from __future__ import annotations

from base64 import b64encode

LIMIT = 16 * 1024 * 1024  # bytes of one body that are kept
ALL = 128 * 1024 * 1024  # bytes of all bodies under way
#: bytes of bodies that all calls under way may hold until they are over; beyond, bodies are split as they come
HELD = 48 * 1024 * 1024


class Budget:
    """How many bytes all bodies together may still take. Used by one thread."""

    def __init__(self, left: int = ALL) -> None:
        self.left = left


class BodyText:
    """Collects the decoded bytes of one body, as far as its own limit and the common budget allow."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._parts: list[bytes] = []
        self._size = 0
        self.truncated = False

    def add(self, piece: bytes) -> None:
        """Take the next decoded bytes."""
        room = min(LIMIT - self._size, self._budget.left)
        if len(piece) > room:
            self.truncated = True
            piece = piece[:room]
        if piece:
            self._parts.append(piece)
            self._size += len(piece)
            self._budget.left -= len(piece)

    def release(self) -> None:
        """Give the bytes back."""
        self._budget.left += self._size
        self._parts, self._size = [], 0

    def text(self, secrets: list[bytes]) -> str | None:
        """The text, with every one of ``secrets`` blotted out; ``base64:…`` for what is no UTF-8; None if empty."""
        data = b"".join(self._parts)
        if not data:
            return None
        for secret in secrets:
            data = data.replace(secret, b"[redacted]")
        try:
            return data.decode("utf-8", "strict" if not self.truncated else "ignore")
        except UnicodeDecodeError:
            return "base64:" + b64encode(data).decode("ascii")
