"""What one file has told, and how its records are known."""

from __future__ import annotations

from monitor.records import Call, Event, Problem, SessionInfo, Step

Item = Call | Event
Key = tuple[int, int, int]
Entry = tuple[Item, Key]  # a record and its place: time, rank of its file, line


class FileState:
    """What one file has told so far."""

    __slots__ = ("calls", "events", "infos", "last_time", "number", "problems", "steps")

    def __init__(self, number: int) -> None:
        self.number = number  # rank of the file: order among records of the same time
        #: by what identifies them inside the file: their key, or the line where they have none
        self.calls: dict[str | int | None, Entry] = {}
        self.events: dict[str | int | None, Entry] = {}
        self.infos: list[SessionInfo] = []
        self.problems: list[Problem] = []
        self.steps: list[Step] = []
        self.last_time = 0

    def told(self, item: Item) -> dict[str | int | None, Entry]:
        """Records of this one's kind."""
        return self.calls if type(item) is Call else self.events


def is_loose(item: Item) -> bool:
    """Whether the log does not say by name which session a record belongs to."""
    if type(item) is Call:
        return item.evidence is not None or item.session_evidence == "file"
    return "#" in item.key


def fullest(places: list[Entry]) -> Entry:
    """Of several tellings of one call the one with the most output; of equal ones the first file's.

    One that tells the exchange goes before one of a file without messages, one that tells the reasoning before one that
    does not.
    """

    def rank(entry: Entry) -> tuple[int, bool, bool, int]:
        item = entry[0]
        if not isinstance(item, Call):
            return 0, False, False, -entry[1][1]
        return item.output_tokens or 0, item.exchange is not None, item.reasoning_tokens is not None, -entry[1][1]

    return max(places, key=rank)


def name_of(item: Item) -> str:
    """Identity of a record within everything read."""
    kind = "c" if type(item) is Call else "e"
    return f"{item.file}\n{kind}{item.key or item.line}"
