"""Which records of a rollout tell the same request. See :mod:`.codex`."""

from __future__ import annotations

from monitor.readers.codex_lines import Count


class Told:
    """Newer versions tell a request twice: by a ``token_usage_record`` and by totals that grew. An older version that
    goes on with the file tells it by the totals alone."""

    def __init__(self) -> None:
        self.records = False  # the file has records
        self._fresh = 0  # records whose totals have not come yet
        self._loose: tuple[str, int | None, int | None] | None = None  # a request told by totals, and nothing since

    def record(self, found: Count) -> str | None:
        """A record has come; the key of the request that the totals before it told already."""
        loose, self._loose = self._loose, None
        self.records = True
        if loose is not None and loose[1:] == (found.input_tokens, found.output_tokens):
            return loose[0]
        self._fresh += 1
        return None

    def totals(self) -> bool:
        """Totals grew: whether a record has told the request."""
        if not self._fresh:
            return False
        self._fresh -= 1
        return True

    def estimate(self) -> None:
        """The context was replaced: totals of what came before are not told any more."""
        self._fresh = 0

    def by_totals(self, key: str, last: Count) -> None:
        """A request is told by its totals."""
        self._loose = key, last.input_tokens, last.output_tokens
