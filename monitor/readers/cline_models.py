"""Which model served a Cline or Roo request whose row does not say it. See :mod:`monitor.readers.cline`."""

from __future__ import annotations

from pathlib import Path

from monitor.readers import agent_values as look
from monitor.readers.agent_values import obj, rows, time_ms, word
from monitor.readers.lines import MAX_LINE
from monitor.readers.patterns import lazy

_MODEL = lazy(rb"<model>\s*([^<>\\\s][^<>\\]{0,118})</model>")
#: the model is noted just before or after the request's row
_SLACK_MS = 5_000


class ModelTimes:
    """``task_metadata.json`` (Cline: which model was used when) and the environment details that Roo sends along.

    Args:
        path: the file of rows; the others lie beside it.
        needed: whether any row lacks its model, so that the files are worth reading.
    """

    def __init__(self, path: Path | None, needed: bool) -> None:
        self._times: list[tuple[int, str | None, str]] = []
        self._only: str | None = None
        if path is None or not needed:
            return
        self._metadata(path.parent / "task_metadata.json")
        if not self._times:
            self._conversation(path.parent / "api_conversation_history.json")

    def at(self, time: int | None, provider: str | None) -> tuple[str | None, str | None]:
        """Provider and model in use at a time, as far as is known."""
        found: tuple[str | None, str | None] = (provider, self._only)
        for when, owner, model in self._times:
            if time is not None and when > time + _SLACK_MS:
                break
            found = (owner or provider, model)
        return found

    def _metadata(self, path: Path) -> None:
        for row in rows(obj(load(path)).get("model_usage")):
            time, model = time_ms(row.get("ts")), word(row.get("model_id"))
            if time is not None and model is not None:
                self._times.append((time, word(row.get("model_provider_id")), model))
        self._times.sort(key=lambda entry: entry[0])

    def _conversation(self, path: Path) -> None:
        data = _bytes(path)
        found = {match.strip() for match in _MODEL.findall(data)}
        if len(found) == 1:
            self._only = found.pop().decode("utf-8", "replace")
            return
        if not found:
            return
        for row in rows(load(path)):
            time = time_ms(row.get("ts"))
            match = _MODEL.search(look.text_of(row.get("content")).encode("utf-8", "replace"))
            if time is not None and match is not None:
                self._times.append((time, None, match.group(1).strip().decode("utf-8", "replace")))
        self._times.sort(key=lambda entry: entry[0])


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_LINE + 1)
    except OSError:
        return b""
    return data if len(data) <= MAX_LINE else b""


def load(path: Path) -> object:
    """A JSON file; None if it cannot be read."""
    try:
        return look.decode(_bytes(path))
    except (ValueError, RecursionError):
        return None
