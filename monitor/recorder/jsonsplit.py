"""Splits a JSON document of any size into its top-level members while it arrives, holding only a bounded part of it.

Used for bodies too large to be kept whole. It does not validate: what it hands out is decoded by the caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hashlib import blake2b

_STRING = re.compile(rb'["\\]')
_ANY = re.compile(rb'["{}\[\],:]')
_DEEP = re.compile(rb'["{}\[\]]')

#: a value that was handed out: its bytes, or None if it was longer than the limit, and an 8-byte digest of them
OnMember = Callable[[str, bytes | None, bytes], None]


class Splitter:
    """Feed bytes; ``on_member`` gets each member of the top-level object, ``on_element`` each element of the members
    named in ``spread`` (and of a top-level array, with the name ""). Values above ``limit`` bytes come as None."""

    def __init__(self, spread: frozenset[str], limit: int, on_member: OnMember, on_element: OnMember) -> None:
        self._spread, self._limit = spread, limit
        self._on_member, self._on_element = on_member, on_element
        self.complete = False  # the document was closed
        self._depth = 0
        self._array_top = False
        self._in_string = False
        self._escaped = False
        self._expect_key = False
        self._key = ""
        self._spreading = False
        self._open = False  # a unit (key, value or element) is being collected
        self._parts: list[bytes] = []
        self._size = 0
        self._digest = blake2b(digest_size=8)

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        at, start, size = 0, 0, len(data)
        while at < size and not self.complete:
            if self._in_string:
                at = self._string(data, at, start)
                if not self._in_string and self._expect_key and self._depth == 1:
                    self._key = self._name(self._take(data, start, at))
                    self._expect_key = False
                continue
            found = (_DEEP if self._depth > self._level() else _ANY).search(data, at)
            if found is None:
                break
            here, at = found.start(), found.end()
            start = self._mark(data, here, start)
        if self._open and start < size:
            self._add(data[start:])

    @staticmethod
    def _name(raw: bytes) -> str:
        try:
            return str(json.loads(raw.decode("utf-8", "surrogatepass")))
        except ValueError:  # too long to be kept, or broken
            return ""

    def _level(self) -> int:
        """Depth at which units are separated."""
        return 2 if self._spreading and not self._array_top else 1

    def _string(self, data: bytes, at: int, start: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        found = _STRING.search(data, at)
        if found is None:
            return len(data)
        if found[0] == b'"':
            self._in_string = False
        elif found.end() == len(data):
            self._escaped = True
        else:
            return found.end() + 1
        return found.end()

    def _mark(self, data: bytes, here: int, start: int) -> int:
        """Handle a structural character; gives where the current unit begins in ``data``."""
        char = data[here : here + 1]
        if char == b'"':
            self._in_string = True
            if self._depth == 1 and self._expect_key and not self._array_top:
                self._begin()
                return here
        elif char in b"{[":
            self._depth += 1
            if self._depth == 1:
                self._array_top = self._spreading = char == b"["
                self._expect_key = char == b"{"
                if self._array_top:
                    self._begin()
                    return here + 1
            elif self._depth == 2 and char == b"[" and self._begins_spread(data, start, here):
                self._spreading = True
                self._begin()
                return here + 1
        elif char in b"}]":
            self._close(data, start, here)
        elif char == b":":
            if self._depth == 1 and not self._array_top:
                self._begin()
                return here + 1
        elif self._depth == self._level():  # a comma
            self._emit(data, start, here)
            if self._spreading:
                self._begin()
                return here + 1
            self._expect_key = True
        return start

    def _close(self, data: bytes, start: int, here: int) -> None:
        if self._depth == self._level():
            self._emit(data, start, here)
            if self._spreading and not self._array_top:
                self._spreading = False
                self._key = ""
        self._depth -= 1
        self.complete = self._depth <= 0

    def _begin(self) -> None:
        self._open = True
        self._parts, self._size = [], 0
        self._digest = blake2b(digest_size=8)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        self._digest.update(piece)
        if self._size <= self._limit:
            self._parts.append(piece)
        else:
            self._parts = []

    def _begins_spread(self, data: bytes, start: int, here: int) -> bool:
        """Whether the bracket at ``here`` is the whole value of a member whose elements are wanted one by one."""
        if self._array_top or self._key not in self._spread:
            return False
        return self._size <= 64 and not (b"".join(self._parts) + data[start:here]).strip()

    def _take(self, data: bytes, start: int, here: int) -> bytes:
        self._add(data[start:here])
        self._open = False
        return b"".join(self._parts)

    def _emit(self, data: bytes, start: int, here: int) -> None:
        if not self._open:
            return
        value = self._take(data, start, here).strip()
        whole = self._size <= self._limit
        if whole and not value:
            return
        (self._on_element if self._spreading else self._on_member)(
            self._key, value if whole else None, self._digest.digest()
        )
