"""Calls that a client's own file and a log of its traffic both tell: the client's telling counts (contract.md, "Once").

A log of traffic knows the provider's id of an answer. Where the client's file has it too, that tells; clients that keep
no such id are compared by figures and time, as two requests with the same tokens at the same moment are one. What only
the traffic shows (summaries, titles, refused requests) goes into the client's session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from monitor.records import Call, Event

#: the agents' own files, and those among them that keep no id of the provider
AGENTS = frozenset(("claude-code", "codex", "pi", "gemini-cli", "opencode", "cline", "roo", "qwen-code", "kimi",
                    "copilot", "amp", "openhands", "aider", "droid", "hermes", "goose"))  # fmt: skip
_NAMELESS = AGENTS - {"claude-code", "codex", "pi", "qwen-code"}
#: proxies and services that log the calls they pass on; some give an answer an id of their own
GATEWAYS = frozenset(("new-api", "one-api", "litellm", "openrouter", "magpie", "langfuse", "helicone", "bedrock",
                      "cloudflare", "portkey"))  # fmt: skip
TRAFFIC = frozenset(("har", "mitmproxy", "claude-trace", "claude-tap", "lhar", "api-log", "ctxmon")) | GATEWAYS
_NEAR = 15_000  # ms between a request or the end of its answer and what the client notes of it
_NOTED = 5_000  # ms after a summary within which a client notes the compaction
#: ms around the traffic in which clients' calls are looked at; captures may tell times without a zone
REACH = 26 * 3_600_000

Figures = tuple[int | None, int | None, int | None]


class Pairs:
    """Who is whose twin, kept while calls come.

    Attributes:
        twin: of each call of the traffic that has one (by key), the client's call.
        moved: of each session of the traffic, the client's session it is part of.
        chain: of those whose calls are one chain of it (a subagent's), this chain.
        again: keys of what happened in the traffic that the client notes as well.
    """

    __slots__ = ("_alone", "_taken", "again", "chain", "moved", "twin")

    def __init__(self) -> None:
        self.twin: dict[str, Call] = {}
        self.moved: dict[str, str] = {}
        self.chain: dict[str, str] = {}
        self.again: set[str] = set()
        self._taken: set[str] = set()  # clients' calls that have a twin, and events that are told again
        self._alone: dict[str, str] = {}  # sessions of a summary alone -> the client's session that notes it

    def clear(self) -> None:
        """Forget all: a client's file is another one now."""
        self.twin.clear()
        self.moved.clear()
        self.chain.clear()
        self.again.clear()
        self._alone.clear()
        self._taken.clear()

    def find(self, traffic: Sequence[Call], noted: Iterable[Call | Event]) -> bool:
        """Pair what has no twin yet; True if anything is new.

        Args:
            traffic: calls in time order, with the sessions they were given.
            noted: calls, compactions and overflows of clients' own files near them.
        """
        notes = list(noted)
        if not (notes or self.twin or self._alone):
            return False  # no client told anything near it, as of most gateways' logs
        before = len(self.twin), dict(self.moved)
        clients = [one for one in notes if type(one) is Call]
        free = sorted((c for c in clients if _id(c) not in self._taken), key=lambda c: c.time or 0)
        named: dict[str, Call] = {}
        sized: dict[Figures, list[Call]] = {}
        renamed: dict[Figures, list[Call]] = {}  # clients' calls with ids that a gateway may not know
        bare: dict[str, list[Call]] = {}
        for client in free:
            if client.prompt_tokens is None:
                bare.setdefault(client.session, []).append(client)
            if client.source in _NAMELESS or (client.purpose == "compaction" and client.call_id is None):
                if client.prompt_tokens is not None:
                    sized.setdefault(_figures(client), []).append(client)
                continue
            if client.prompt_tokens is not None:
                renamed.setdefault(_figures(client), []).append(client)
            if client.key:
                named.setdefault(client.key, client)
            if client.call_id:
                named.setdefault(client.call_id, client)
        open_ = [call for call in traffic if call.key and call.key not in self.twin]
        for call in open_:
            if (found := self._named(named, call)) is not None:
                self._pair(call, found)
        self._nearest((call, sized.get(_figures(call), ())) for call in open_)
        self._nearest((call, renamed.get(_figures(call), ())) for call in open_ if call.source in GATEWAYS)
        self._move(traffic)
        self._summaries(traffic, [one for one in notes if type(one) is Event and one.kind == "compaction"])
        silent = [call for call in open_ if call.prompt_tokens is None]
        self._nearest((call, bare.get(self.moved.get(call.session, call.session), ())) for call in silent)
        # what a client could not read may have had figures all the same
        whole = [call for call in open_ if call.status == "ok" and call.key not in self.twin]
        self._nearest(
            (call, [one for one in bare.get(self.moved.get(call.session, call.session), ()) if one.status == "error"])
            for call in whole
        )
        return before != (len(self.twin), self.moved)

    def repeat(self, happened: Iterable[Event], noted: Iterable[Call | Event]) -> None:
        """Find what the traffic shows and the client notes: a request that was too long is one overflow.

        Args:
            happened: events of the traffic.
            noted: as for :meth:`find`, which comes first.
        """
        notes = [one for one in noted if type(one) is Event and one.kind == "overflow" and one.time is not None]
        if not notes:
            return
        found: list[tuple[int, str, str]] = []
        for event in happened:
            if event.kind == "overflow" and event.time is not None and event.key not in self.again:
                home = self.moved.get(event.session, event.session)
                apart = (
                    (abs(event.time - (one.time or 0)), event.key, _id(one)) for one in notes if one.session == home
                )
                found += [one for one in apart if one[0] <= _NEAR]
        for _, key, note in sorted(found):
            if key not in self.again and note not in self._taken:
                self.again.add(key)
                self._taken.add(note)

    def _pair(self, call: Call, client: Call) -> None:
        self.twin[call.key] = client
        self._taken.add(_id(client))

    @staticmethod
    def _named(named: Mapping[str, Call], call: Call) -> Call | None:
        found = named.get(call.call_id or "") or named.get(call.key)
        if found is None or (found.prompt_tokens not in (None, call.prompt_tokens) and call.prompt_tokens is not None):
            return None  # a name that a server gives to every answer
        return found

    def _nearest(self, calls: Iterable[tuple[Call, Sequence[Call]]]) -> None:
        """Pair calls with those of the client's that may be the same and were noted while they ran, or nearly."""
        found: list[tuple[int, int, Call, Call]] = []
        for call, told in calls:
            if call.source not in TRAFFIC or call.time is None or call.key in self.twin:
                continue
            start, end = call.time, call.time + (call.duration_ms or 0)
            for client in told:
                if client.time is None:
                    continue
                # some note when they were asked and when all was done, retries included, others a moment only
                since, until = client.time, client.time + (client.duration_ms or 0)
                if start - _NEAR <= until and since <= end + _NEAR:
                    found.append((max(start - until, since - end, 0), abs(since - start), call, client))
        for _, _, call, client in sorted(found, key=lambda entry: entry[:2]):
            if call.key not in self.twin and _id(client) not in self._taken:
                self._pair(call, client)

    def _summaries(self, traffic: Sequence[Call], events: Sequence[Event]) -> None:
        """A summary whose conversation the traffic does not tell is that of the client that notes a compaction next."""
        works = {call.session for call in traffic if call.purpose != "compaction"}
        for call in traffic:
            if call.purpose != "compaction" or call.session in works or call.session in self._alone:
                continue
            end = (call.time or 0) + (call.duration_ms or 0)
            after = [(event.time - end, event.session) for event in events if event.time is not None]
            after = [one for one in after if 0 <= one[0] <= _NOTED]
            if after and call.time is not None:
                self._alone[call.session] = min(after)[1]
        self.moved.update(self._alone)

    def _move(self, traffic: Sequence[Call]) -> None:
        """A conversation of the traffic whose calls are those of one client's session is that session."""
        homes: dict[str, Counter[str]] = {}
        chains: dict[str, set[str]] = {}
        alone: Counter[str] = Counter()
        for call in traffic:
            client = self.twin.get(call.key)
            if client is not None:
                homes.setdefault(call.session, Counter())[client.session] += 1
                chains.setdefault(call.session, set()).add(client.chain)
            elif call.works and call.prompt_tokens is not None:
                alone[call.session] += 1
        self.moved, self.chain = {}, {}
        for name, counts in homes.items():
            home, count = counts.most_common(1)[0]
            if len(counts) == 1 and (count > 1 or count > alone[name]):
                self.moved[name] = home
                if len(chains[name]) == 1:
                    (self.chain[name],) = chains[name]


def _id(item: Call | Event) -> str:
    return f"{item.file}\n{item.key or item.line}"


def _figures(call: Call) -> Figures:
    return call.prompt_tokens, call.output_tokens, call.cache_read_tokens or 0
