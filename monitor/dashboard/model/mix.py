"""What the context consists of: asked for while the panel is seen, counted in a thread, kept by version of the view."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from monitor.dashboard.model.text import (
    Line,
    clip,
    exact,
    fill,
    fit,
    percent,
    printable,
    tokens,
    wrap,
)
from monitor.reports.words import ESTIMATED
from monitor.sessions.view import SessionView

if TYPE_CHECKING:
    from monitor.sessions.composition import Composition, Part

#: so many sessions' compositions are kept
_KEPT = 8
#: larger files (bytes) are only opened when somebody asks for it
_LARGE = 16_000_000
#: a session that grows is counted again at most this often (s), and at most in one part of so many of the time
_AGAIN_S, _SHARE = 3.0, 20


class Mix(NamedTuple):
    """A composition as far as it is known. ``turn``: index of the call it was made at."""

    found: Composition | None = None
    turn: int | None = None
    counting: bool = False  # a newer one is being made
    asked: bool = False  # it was tried
    large: int = 0  # size of a file (bytes) that is not opened unasked


class _Entry(NamedTuple):
    version: int
    turn: int | None
    found: Composition | None
    at: float
    took: float


class Mixes:
    """Compositions by session.

    Args:
        examine: makes one; called in a thread, may take seconds.
        done: called in that thread when one is ready.
        size: bytes of a session's own file.
    """

    def __init__(
        self,
        examine: Callable[[SessionView], Composition | None],
        done: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
        size: Callable[[SessionView], int] | None = None,
    ) -> None:
        self._examine, self._done, self._clock, self._size = examine, done, clock, size or _size
        self._wanted = ""  # session whose large file is to be opened
        self._known: dict[str, _Entry] = {}
        self._busy: str | None = None

    @property
    def busy(self) -> bool:
        """Whether one is being made."""
        return self._busy is not None

    def ask(self, view: SessionView | None) -> None:
        """Somebody wants to see it: a large file is opened once."""
        self._wanted = view.session if view is not None else ""

    def of(self, view: SessionView | None) -> Mix:
        """What is known of a session; what is missing or old is begun, one at a time."""
        if view is None or view.last_turn is None:
            return Mix()
        known = self._known.get(view.session)
        fresh = known is not None and known.version == view.version
        large = 0
        if not fresh and self._busy is None:
            wanted = self._wanted == view.session
            size = self._size(view)
            large = size if size > _LARGE and not wanted else 0
            if not large and (wanted or known is None or self._due(known)):
                self._wanted = ""
                self._busy = view.session
                threading.Thread(target=self._work, args=(view,), name="ctxmon-mix", daemon=True).start()
        counting = not fresh and self._busy == view.session
        if known is None:
            return Mix(counting=counting, large=large)
        return Mix(known.found, known.turn, counting, asked=True, large=large)

    def _due(self, known: _Entry) -> bool:
        return self._clock() - known.at >= max(_AGAIN_S, known.took * _SHARE)

    def _work(self, view: SessionView) -> None:
        begin = self._clock()
        try:
            found = self._examine(view)
        except Exception:  # a file of any kind may be behind it; the panel then says that nothing is known
            found = None
        end = self._clock()
        index = view.last_turn.index if view.last_turn is not None else None
        self._known.pop(view.session, None)
        self._known[view.session] = _Entry(view.version, index, found, end, end - begin)
        while len(self._known) > _KEPT:
            self._known.pop(next(iter(self._known)))
        self._busy = None
        self._done()


def _size(view: SessionView) -> int:
    """Bytes of the file of the last turn, 0 where there is none."""
    try:
        return os.stat(view.last_turn.call.file).st_size if view.last_turn is not None else 0
    except (OSError, ValueError):
        return 0


def mix_lines(mix: Mix, view: SessionView | None, width: int) -> list[Line]:
    """The parts, the largest first, with bars; what is out of date; what grew; how well all of it is known."""
    found = mix.found
    if found is None or not found.parts:
        return [((line, "dim"),) for line in wrap(_nothing(mix, view), width)]
    whole = sum(part.tokens for part in found.parts) or 1
    parts = sorted(found.parts, key=lambda part: -part.tokens)
    label = max(6, min(22, width - 22, max(len(part.name) for part in parts)))
    out: list[Line] = [_row(part, whole, label, width) for part in parts]
    if found.residual is not None and found.prompt_tokens:
        words: Line = ((fill("not explained", label), "dim"), (fill(_signed(found.residual), 7, ">"), "dim"),
                       (fill(percent(abs(found.residual) / found.prompt_tokens), 5, ">"), "dim"))  # fmt: skip
        out.append(fit(words, width))
    notes: list[str] = []
    if found.prompt_tokens is not None:
        at = f"turn #{mix.turn}" if mix.turn is not None else "the last turn"
        more = ", counting …" if mix.counting else "; 5 counts again" if mix.large else ""
        notes.append(f"of {exact(found.prompt_tokens)} tokens at {at}{more}")
    old = [f"{tokens(amount, ESTIMATED)} {what}" for amount, what in
           ((found.stale_tokens, "edited since"), (found.superseded_tokens, "read again later")) if amount]  # fmt: skip
    if old:
        notes.append(f"out of date: of {tokens(found.read_tokens, ESTIMATED)} in file reads {', '.join(old)}")
    if found.grown:
        notes.append(f"grown since the last reset: {_grown(found.grown)}")
    notes.append(_how(found))
    for note in notes:
        out.extend(((line, "dim"),) for line in wrap(note, width))
    return out


def _nothing(mix: Mix, view: SessionView | None) -> str:
    if view is None:
        return ""
    if view.last_turn is None:
        return "needs one finished turn"
    if mix.counting:
        return "counting the texts …"
    if not mix.asked:
        return f"The file has {mix.large / 1e6:,.0f} MB: press 5 to count its texts" if mix.large else "not counted yet"
    return "The mix of messages needs the texts. The log of this session holds usage figures only, or is not at hand."


def _row(part: Part, whole: int, label: int, width: int) -> Line:
    share = part.tokens / whole
    bar = max(0, width - label - 13)
    size = round(share * bar * 8)
    blocks = "█" * (size // 8) + " ▏▎▍▌▋▊▉"[size % 8].strip()
    return (
        (fill(clip(printable(part.name), label), label), ""),
        (fill(tokens(part.tokens, ESTIMATED if part.estimated else ""), 7, ">"), ""),
        (fill(percent(share), 5, ">"), "dim"),
        (" ", ""),
        (blocks, "read"),
    )


def _grown(parts: Sequence[Part]) -> str:
    largest = sorted((part for part in parts if part.tokens), key=lambda part: -part.tokens)[:3]
    return ", ".join(f"+{tokens(part.tokens)} {printable(part.name)}" for part in largest) or "nothing"


def _signed(value: int) -> str:
    return f"{'+' if value > 0 else ''}{tokens(value)}"


def _how(found: Composition) -> str:
    """Where the numbers come from."""
    if not any(part.estimated for part in found.parts):
        return "counted by the model's own tokenizer"
    line = found.calibration
    by = "estimated by script" if found.estimated else "counted by o200k"
    fitted = f"fitted to {line.calls} turns" if line.measured else "as usual for the model"
    return f"{ESTIMATED} estimated: {by}, × {line.factor:.2f}, {fitted}"
