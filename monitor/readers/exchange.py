"""A captured request and its answer as a :class:`monitor.records.Call`: the core of all capture readers.

HAR, mitmproxy, claude-trace, claude-tap, LHAR and request/response lines differ only in how they keep an exchange; they
make an :class:`Exchange` of it and hand it to an :class:`Assembler`, which knows the model addresses, tells calls from
token counting and other traffic, and keeps what one call needs of the calls before it (see
:mod:`monitor.readers.exchange_track`).

Rules: a request that was refused or got no answer is a call of status ``error`` with unknown tokens; an answer whose
body was not kept is a call with unknown tokens; token counting is ``side``; a request for a summary is ``compaction``.
The identity of a call is the provider's response id, so that both sides of a proxy are one call.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from monitor.readers import exchange_bodies as bodies
from monitor.readers.exchange_facts import Facts
from monitor.readers.exchange_fetched import FETCH
from monitor.readers.exchange_messages import Messages
from monitor.readers.exchange_reply import Reply, ReplyReader
from monitor.readers.exchange_request import Request, parse
from monitor.readers.exchange_session import identity, origin, provider
from monitor.readers.exchange_track import Tracker
from monitor.readers.patterns import lazy
from monitor.records import Problem, Record


class Exchange(msgspec.Struct, gc=False, kw_only=True):
    """One captured request and its answer."""

    url: str = ""
    method: str = "POST"
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)  # names in lower case
    request: bytes = b""
    status: int | None = None  # None: no answer is known; 0: there was none
    reply_headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    reply: bytes | None = None  # None: not kept
    documents: list[Any] | None = None  # JSON values of the answer, where the log keeps them apart
    time: int | None = None  # ms, start of the request
    end: int | None = None  # ms, end of the answer
    line: int | None = None
    failure: str = ""  # why there was no (whole) answer, as one word
    session: str | None = None  # where the log itself names the conversation
    chain: str | None = None
    context_limit: int | None = None
    trusted: bool = False  # the log holds nothing but model calls: the address need not be known


_CALL = lazy(
    r"/chat/completions$|/v\d/completions$|/completion$|/responses$|/messages$|/v1/complete$|/interactions$"
    r"|:(?:generateContent|streamGenerateContent|rawPredict|streamRawPredict)$"
    r"|/model/[^/]+/(?:converse|converse-stream|invoke|invoke-with-response-stream)$"
    r"|/api/(?:chat|generate)$|/v[12]/chat$"
)
_COUNT = lazy(r"/messages/count_tokens$|/responses/input_tokens$|:countTokens$|/count-tokens$|/tokenize$")
_COMPACT = lazy(r"/responses/compact$")
_OTHER = lazy(r"/(?:embeddings?|moderations|rerank|images|audio|files|batches|models|analytics|telemetry)\b", re.I)
_MODEL_IN_PATH = lazy(r"/models?/([^/:]+(?::\d+)?)(?:[:/][\w-]+)?$")
#: paths that other services have too: only with a body that speaks of a model
_VAGUE = lazy(r"/messages$|/completion$|/complete$|/v[12]/chat$|/interactions$|/api/(?:chat|generate)$|/responses$")


class Assembler:
    """Makes records of the exchanges of one file, in the order they are given."""

    def __init__(self, file: str, source: str, *, detail: bool = False) -> None:
        self.memory = Messages()
        self.track = Tracker(file, source, detail=detail)
        self.seen = 0  # exchanges
        self.model_calls = 0
        self._damage = ""
        self._cut = False  # the answer was a stream without a whole event

    def add(self, exchange: Exchange) -> list[Record]:
        """Records of one exchange; none if it is no call to a model. A damaged answer is a problem among them."""
        self.seen += 1
        host, path = _address(exchange.url)
        kind = "count" if _COUNT.search(path) else "compact" if _COMPACT.search(path) else "call"
        if exchange.method == "GET" and FETCH.search(path):
            return self._fetched(exchange, host, path)
        known = kind != "call" or exchange.trusted or _CALL.search(path) is not None
        if exchange.method not in ("POST", "WEBSOCKET", "") or (not known and _OTHER.search(path)):
            return []
        doubtful = not known or (not exchange.trusted and _VAGUE.search(path) is not None)
        request = self._request(exchange)
        if doubtful and (not known or exchange.request) and not _speaks_of_a_model(request):
            return []
        reply = self._reply(exchange, _model_asked(request, path))
        answered = exchange.status not in (None, 0) and exchange.reply is not None and not exchange.failure
        if doubtful and answered and not reply.shape and not reply.error and not self._cut:
            return []  # something else that has a model and messages
        if reply.shape == "count":
            kind = "count"
        elif reply.shape == "compact":
            kind = "compact"
        self.model_calls += 1
        records = self.track.add(self._facts(exchange, request, reply, kind, host, path))
        if self._damage:
            records.append(Problem(self.track.file, exchange.line, self._damage))
            self._damage = ""
        return records

    def _fetched(self, exchange: Exchange, host: str, path: str) -> list[Record]:
        reply = self._reply(exchange)
        self._damage = ""  # the call has been told already
        return self.track.fetched(self._facts(exchange, None, reply, "call", host, path))

    def _request(self, exchange: Exchange) -> Request | None:
        if not exchange.request:
            return None
        try:
            data = bodies.plain(exchange.request, exchange.headers.get("content-encoding", ""))
        except bodies.BodyError:
            return None
        return parse(data, self.memory)

    def _reply(self, exchange: Exchange, asked: str | None = None) -> Reply:
        reader = ReplyReader(asked)
        self._cut = False
        if exchange.documents is not None:
            for value in exchange.documents:
                reader.feed(value)
        elif exchange.reply:
            try:
                data = bodies.plain(exchange.reply, exchange.reply_headers.get("content-encoding", ""))
            except bodies.BodyError as error:
                self._damage = f"{error}; what this call used is unknown"
                data = b""
            found = bodies.documents(data)[0]
            # a stream that broke off in its first event says no more than that it was one
            self._cut = not found and data.lstrip().startswith((b"event:", b"data:"))
            for value in found:
                reader.feed(value)
        return reader.reply()

    def _facts(
        self, exchange: Exchange, request: Request | None, reply: Reply, kind: str, host: str, path: str
    ) -> Facts:
        who = identity(exchange.headers, request)
        model = reply.model or _model_asked(request, path)
        if exchange.session is not None:
            who = msgspec.structs.replace(who, session=exchange.session, chain=exchange.chain or who.chain)
        elif reply.conversation and who.conversation is None:
            who = msgspec.structs.replace(who, conversation=reply.conversation)
        failure = exchange.failure
        if not failure and exchange.status is not None and (exchange.status == 0 or exchange.status >= 400):
            failure = reply.error or (str(exchange.status) if exchange.status else "no_answer")
        return Facts(
            line=exchange.line,
            time=exchange.time if exchange.time is not None else (reply.created * 1000 if reply.created else None),
            end=exchange.end,
            kind=kind,
            status=exchange.status,
            failure=failure or reply.error,
            kept=exchange.reply is not None or bool(exchange.documents),
            provider=provider(host, model, reply.shape),
            model=model,
            who=who,
            origin=origin(exchange.headers, host),
            request=request,
            reply=reply,
            client=exchange.headers.get("user-agent", "")[:80] + exchange.headers.get("x-app", ""),
            context_limit=exchange.context_limit,
        )


def _address(url: str) -> tuple[str, str]:
    """Host and path of an address; empty for what is none."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", unquote(parts.path).rstrip("/")
    except ValueError:
        return "", ""


def _model_asked(request: Request | None, path: str) -> str | None:
    if request is not None and request.model is not None:
        return request.model
    in_path = _MODEL_IN_PATH.search(path)
    return in_path[1] if in_path else None


def _speaks_of_a_model(request: Request | None) -> bool:
    return request is not None and (request.has_messages or request.model is not None)


def lower(headers: Any) -> dict[str, str]:
    """Headers with names in lower case, from an object, a list of pairs, or a list of ``{name, value}``."""
    out: dict[str, str] = {}
    pairs: Any = ()
    if isinstance(headers, Mapping):
        pairs = headers.items()
    elif isinstance(headers, list):
        pairs = [
            (one.get("name"), one.get("value")) if isinstance(one, Mapping) else one
            for one in headers
            if isinstance(one, Mapping) or (isinstance(one, list | tuple) and len(one) == 2)
        ]
    for name, value in pairs:
        if isinstance(name, bytes):
            name = name.decode("latin-1")
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        elif isinstance(value, list) and value:
            value = value[0]
        if isinstance(name, str) and isinstance(value, str):
            out.setdefault(name.lower(), value)
    return out


def ordered(exchanges: Iterable[Exchange], window: int = 48, size: int = 32 * 1024 * 1024) -> Iterator[Exchange]:
    """Exchanges by their start, where a capture wrote them as they ended. Looks ahead ``window`` exchanges at most,
    fewer if their bodies exceed ``size`` bytes together."""
    heap: list[tuple[int, int, Exchange]] = []
    held = 0
    for count, exchange in enumerate(exchanges):
        held += len(exchange.request) + len(exchange.reply or b"")
        start = exchange.time if exchange.time is not None else (heap[0][0] if heap else 0)
        heapq.heappush(heap, (start, count, exchange))
        while len(heap) > window or (held > size and len(heap) > 1):
            found = heapq.heappop(heap)[2]
            held -= len(found.request) + len(found.reply or b"")
            yield found
    while heap:
        yield heapq.heappop(heap)[2]
