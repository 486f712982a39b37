"""What one row of Codex's running totals says. See :mod:`.codex`."""

from __future__ import annotations

from typing import Literal

from monitor.readers import codex_lines as shape

#: nothing; the window is full; an estimate of the context; the same totals again; a call
Said = Literal["", "full", "estimate", "again", "call"]
_NOTHING: shape.Vector = (0, 0, 0, 0, 0)


class Totals:
    """The totals of a thread, row after row."""

    __slots__ = ("_chained", "_last")

    def __init__(self) -> None:
        self._last: shape.Vector | None = None
        self._chained = 0

    @property
    def name(self) -> str:
        """Names the latest row: a running hash of all counts, as the copied rows of a fork repeat their parent's totals
        from the first one on. (Of whole numbers Python's hash of a tuple is the same in every process.)"""
        return f"{self._chained:x}"

    def tell(self, info: shape.Info, answered: bool, limit: int | None, based: bool) -> tuple[Said, shape.Count]:
        """Take a row.

        Args:
            info: of the row.
            answered: the model answered since the last row.
            limit: the window in tokens, if it is known.
            based: the file goes on from another one, whose totals it repeats before its first answer.

        Returns:
            What the row says, and for a call and an estimate its figures.
        """
        total, last = info.total_token_usage, info.last_token_usage
        vector = shape.vector(total) if total is not None else None
        if last is None:
            if vector is None:
                return "", shape.NO_COUNT
            # the growth of the totals is the call
            last = shape.grown(vector, self._last if self._last and vector[0] >= self._last[0] else _NOTHING)
        spent = (last.input_tokens or 0) + (last.output_tokens or 0)
        if spent == 0 and total is not None and shape.full(total):
            self._last = vector
            return "full", last
        if spent == 0 and last.total_tokens:
            # zero input with a total: Codex's own estimate of the new context
            if vector is not None:
                if limit is not None and last.total_tokens > limit:
                    return "", last
                self._last = vector
            return "estimate", last
        previous, self._last = self._last, vector
        if vector is not None and vector == previous:
            return "again", last
        if previous is None and not answered:
            restored = based and vector is not None and vector != shape.vector(last)
            if spent == 0 or restored:
                return "", last
        self._chained = hash((self._chained, vector, shape.vector(last)))
        # zeros after an answer: the provider reports no usage, the prompt is not known
        row = last if spent else shape.NO_COUNT
        gained = vector[0] - previous[0] if vector is not None and previous is not None else 0
        if vector and previous and gained > 0 and gained != (last.input_tokens or 0) and vector[3] >= previous[3]:
            row = shape.grown(vector, previous)
        return "call", row
