"""Gateways by address: logs of one-api/new-api and of LiteLLM over their REST interfaces.

``https://host/api/log/self`` (own rows) and ``https://host/api/log/`` (an administrator's), ``https://host/spend/logs/v2``
and its kin; for a bare ``https://host`` the gateway is asked what it is. A query in the address is passed on
(``?token_name=agent&start_timestamp=1783400000``).

The access token comes from the environment: ``CTXMON_TOKEN`` (LiteLLM also ``LITELLM_API_KEY``), for new-api with
``CTXMON_USER_ID``, the number of the user it belongs to. It is sent to the host of the address only and never shown.
Requests are GET; nothing is changed at the gateway.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import msgspec

from monitor.readers import litellm, new_api
from monitor.readers.base import DEFAULT_OPTIONS, ReadError, ReadOptions
from monitor.readers.gateway_values import latest
from monitor.readers.new_api_rows import lenient_row
from monitor.readers.table_rows import unwrap
from monitor.records import Problem, Record
from monitor.sources.files import Batch

if TYPE_CHECKING:
    import httpx

#: rows fetched at most in one go; newest first, so what is missing is the oldest
MAX_ROWS = 100_000
PAGE = 100
_MAX_ANSWER = 128 * 1024 * 1024
_TIMEOUT = 30.0
_PATIENCE = 10.0  # seconds to wait at most when a gateway asks to slow down
_LITELLM_DAYS = 30
_encode = msgspec.json.Encoder(order="sorted").encode

Sleep = Callable[[float], None]
Clock = Callable[[], float]


#: makes records of rows
Rows = Callable[[list[dict[str, Any]]], Sequence[Record]]


class Gateway:
    """One gateway. :meth:`poll` may be called again and again; it asks for the newest pages until it meets known rows.

    Args:
        address: see the module's description.
        options: ``source`` may say what a bare host is.
        environ: where the token comes from.
        transport: httpx transport, for tests.
        since_ms: rows from before then are not asked for, where the gateway can filter.
    """

    def __init__(
        self,
        address: str,
        options: ReadOptions = DEFAULT_OPTIONS,
        *,
        environ: Mapping[str, str] | None = None,
        since_ms: int | None = None,
        max_rows: int = MAX_ROWS,
        clock: Clock = time.time,
        sleep: Sleep = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._url = urlsplit(address)
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise ReadError("this is no address of a gateway; expected https://host or https://host/api/log/self")
        if self._url.username or self._url.password:
            raise ReadError("an address must not hold a password or token; set CTXMON_TOKEN in the environment instead")
        #: the address without its query, for people
        self.name = urlunsplit((self._url.scheme, self._url.netloc, self._url.path, "", ""))
        self.title = "gateway"
        self._options = options
        self._since_ms = since_ms
        self._max_rows = max_rows
        self._clock, self._sleep = clock, sleep
        self._transport = transport
        self._client: httpx.Client | None = None
        self._kind: str | None = None
        self._path = self._url.path
        self._seen: set[int] = set()
        self._first = True
        self._rows: Rows | None = None

    # ------------------------------------------------------------------------------------------------ public
    def poll(self) -> Batch:
        """Records of rows that were not there at the last poll.

        Raises:
            ReadError: the gateway cannot be reached, refuses the token, or answers something else than logs.
        """
        problems: list[Record] = []
        if self._kind is None:
            self._kind = self._recognise()
        fresh: list[dict[str, Any]] = []
        complete = False
        for page in self._pages(problems):
            known = False
            for row in page:
                mark = hash(_encode(row))
                if mark in self._seen:
                    known = True
                else:
                    self._seen.add(mark)
                    fresh.append(row)
            if (known and not self._first) or len(fresh) >= self._max_rows:
                complete = known
                break
        else:
            complete = True
        if not complete:
            problems.append(Problem(self.name, None, f"only the newest {len(fresh)} rows were fetched"))
        assert self._rows is not None
        records = self._rows(fresh[: self._max_rows]) if fresh else []
        replace, self._first = self._first, False
        return Batch(self.name, [*records, *problems], replace)

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    # ------------------------------------------------------------------------------------------------ recognising
    def _recognise(self) -> str:
        path, source = self._url.path.rstrip("/"), self._options.source
        if "/api/log" in path:
            kind = "new-api"
        elif "/spend/logs" in path:
            kind = "litellm"
        elif path:
            raise ReadError(
                "this address is not known; expected a path like /api/log/self, /api/log/ or /spend/logs/v2"
            )
        elif source in ("new-api", "one-api", "litellm"):
            kind = "litellm" if source == "litellm" else "new-api"
        else:
            kind = "new-api" if self._status() is not None else "litellm"
        if not path:
            self._path = "/api/log/self" if kind == "new-api" else "/spend/logs/v2"
        if kind == "new-api":
            self.title = "new-api / one-api log"
            status = self._status() or {}
            per_usd = status.get("quota_per_unit")
            maker = new_api.Rows(
                self.name,
                source,
                per_usd if isinstance(per_usd, int | float) and per_usd > 0 else new_api.QUOTA_PER_USD,
            )
            self._rows = lambda rows: maker.calls([lenient_row(row) for row in rows], [None] * len(rows))
        else:
            self.title = "LiteLLM log"
            reader = litellm.Rows(self.name)
            # oldest first, so that a session id is known from its first call on
            self._rows = lambda rows: latest(
                [record for row in reversed(rows) for record in reader.records(litellm.payload_of(row), None)]
            )
        return kind

    def _status(self) -> dict[str, Any] | None:
        """What ``/api/status`` of one-api and new-api says; it needs no token. None: it is another gateway."""
        try:
            answer = self._get("/api/status", {}, token=False)
        except ReadError:
            return None
        data = answer.get("data") if isinstance(answer, dict) else None
        return data if isinstance(data, dict) and answer.get("success") is True else None

    # ------------------------------------------------------------------------------------------------ paging
    def _pages(self, problems: list[Record]) -> Iterator[list[dict[str, Any]]]:
        query = dict(parse_qsl(self._url.query))
        pages = self._new_api_pages(query) if self._kind == "new-api" else self._litellm_pages(query)
        try:
            yield from pages
        except _SlowDown:
            problems.append(
                Problem(self.name, None, "the gateway asks to slow down (HTTP 429); older rows are missing")
            )

    def _new_api_pages(self, query: dict[str, str]) -> Iterator[list[dict[str, Any]]]:
        if self._since_ms is not None:
            query.setdefault("start_timestamp", str(self._since_ms // 1000))
        size = query.pop("page_size", str(PAGE))
        answer = self._get(self._path, {**query, "p": "1", "page_size": size})
        rows = self._checked(answer)
        data = answer.get("data") if isinstance(answer, dict) else None
        if isinstance(data, dict):  # pages are counted from 1
            total = data.get("total")
            got, page = 0, 1
            while rows:
                yield rows
                got, page = got + len(rows), page + 1
                if isinstance(total, int) and got >= total:
                    return
                rows = self._checked(self._get(self._path, {**query, "p": str(page), "page_size": size}))
            return
        if self._path.rstrip("/").endswith("/token"):
            yield rows
            return
        page, before = 0, b""  # a bare list: one-api, pages of ten counted from 0
        while True:
            rows = self._checked(self._get(self._path, {**query, "p": str(page)}))
            mark = _encode(rows)
            if not rows or mark == before:  # an interface without pages gives the same list again
                return
            yield rows
            before, page = mark, page + 1

    def _litellm_pages(self, query: dict[str, str]) -> Iterator[list[dict[str, Any]]]:
        now = datetime.fromtimestamp(self._clock(), UTC)
        begin = (
            now - timedelta(days=_LITELLM_DAYS)
            if self._since_ms is None
            else datetime.fromtimestamp(self._since_ms / 1000, UTC)
        )
        paged = not self._path.rstrip("/").endswith("/spend/logs")
        if paged:
            query.setdefault("start_date", f"{begin:%Y-%m-%d %H:%M:%S}")
            query.setdefault("end_date", f"{now + timedelta(minutes=1):%Y-%m-%d %H:%M:%S}")
            query.setdefault("page_size", str(PAGE))
        else:
            query.setdefault("summarize", "false")
            if self._since_ms is not None:
                query.setdefault("start_date", f"{begin:%Y-%m-%d}")
                query.setdefault("end_date", f"{now + timedelta(days=1):%Y-%m-%d}")
        page = 1
        while True:
            answer = self._get(self._path, {**query, "page": str(page)} if paged else query)
            rows = self._checked(answer)
            if rows:
                yield rows
            last = answer.get("total_pages") if isinstance(answer, dict) else None
            if not paged or not rows or not isinstance(last, int) or page >= last:
                return
            page += 1

    def _checked(self, answer: Any) -> list[dict[str, Any]]:
        if isinstance(answer, dict) and answer.get("success") is False:
            raise ReadError(
                "the gateway refused: set CTXMON_TOKEN (the access token) and CTXMON_USER_ID (the user's number)"
            )
        if isinstance(answer, dict) and "error" in answer and "data" not in answer:
            raise ReadError("the gateway answered with an error instead of log rows")
        rows, _ = unwrap(answer)
        rows = [row for row in rows if isinstance(row, dict)]
        if rows and not (rows[0].keys() & {"prompt_tokens", "created_at", "startTime", "request_id"}):
            if len(rows) == 1 and not rows[0].keys() & {"id", "model"}:
                return []  # an envelope without rows
            raise ReadError("the gateway answered with sums instead of single calls; use /spend/logs/v2")
        return rows

    # ------------------------------------------------------------------------------------------------ HTTP
    def _get(self, path: str, query: Mapping[str, str], token: bool = True) -> Any:
        import httpx

        if self._client is None:
            self._client = httpx.Client(
                base_url=urlunsplit((self._url.scheme, self._url.netloc, "", "", "")),
                timeout=_TIMEOUT,
                follow_redirects=False,
                transport=self._transport,
                trust_env=self._transport is None,
            )
        for attempt in range(2):
            try:
                response = self._client.get(path, params=dict(query), headers=self._headers() if token else {})
            except httpx.HTTPError as error:
                raise ReadError(f"the gateway cannot be reached ({type(error).__name__})") from None
            if response.status_code != 429:
                break
            if attempt == 0:
                self._sleep(min(_PATIENCE, _seconds(response.headers.get("retry-after"))))
        else:
            raise _SlowDown
        return self._decoded(response)

    def _decoded(self, response: httpx.Response) -> Any:
        code = response.status_code
        if code in (401, 403):
            raise ReadError(
                f"the gateway refused access (HTTP {code}): set CTXMON_TOKEN"
                + (" and CTXMON_USER_ID" if self._kind != "litellm" else " or LITELLM_API_KEY")
            )
        if 300 <= code < 400:
            raise ReadError(f"the gateway sends elsewhere (HTTP {code}); give its final address")
        if code >= 400:
            raise ReadError(f"the gateway answered with HTTP {code}")
        if len(response.content) > _MAX_ANSWER:
            raise ReadError("the gateway's answer is too large; ask for smaller pages with page_size in the address")
        try:
            return msgspec.json.decode(response.content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ReadError("the gateway did not answer with JSON; is this the address of its API?") from None

    def _headers(self) -> dict[str, str]:
        env = self._environ
        token = env.get("CTXMON_TOKEN") or ""
        if not token and self._kind == "litellm":
            token = env.get("LITELLM_API_KEY") or env.get("LITELLM_MASTER_KEY") or ""
        headers = {"accept": "application/json"}
        if token:
            headers["authorization"] = f"Bearer {token.strip()}"
        if env.get("CTXMON_USER_ID") and self._kind != "litellm":
            headers["new-api-user"] = env["CTXMON_USER_ID"].strip()
        return headers


class _SlowDown(Exception):
    """The gateway answered 429 twice."""


def _seconds(value: str | None) -> float:
    try:
        return max(0.0, float(value or 1))
    except ValueError:
        return 1.0


def read(
    address: str, options: ReadOptions = DEFAULT_OPTIONS, *, environ: Mapping[str, str] | None = None
) -> tuple[Batch, str]:
    """All rows a gateway gives, and a title for people.

    Raises:
        ReadError: as :meth:`Gateway.poll`.
    """
    gateway = Gateway(address, options, environ=environ)
    try:
        batch = gateway.poll()
        return batch, gateway.title
    finally:
        gateway.close()
