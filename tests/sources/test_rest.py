"""Gateways by address, against a real HTTP server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from monitor.readers.base import ReadError, ReadOptions
from monitor.records import Call, Problem
from monitor.sources import rest

TOKEN, USER = "secret-access-token", "42"
ENV = {"CTXMON_TOKEN": TOKEN, "CTXMON_USER_ID": USER}


class Gateway(ThreadingHTTPServer):
    """Answers like a gateway; ``kind`` says like which."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kind = "new-api"
        self.rows: list[dict[str, Any]] = []
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.refuse: list[int] = []  # status codes to answer with first
        self.per_usd = 1000

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Gateway

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        self.server.asked.append((url.path, query))
        if self.server.refuse:
            return self.answer({"error": TOKEN}, self.server.refuse.pop(0))
        if self.server.kind == "elsewhere":
            self.send_response(302)
            self.send_header("location", "http://127.0.0.1:1/steal")
            self.send_header("content-length", "0")
            return self.end_headers()
        if self.server.kind == "html":
            return self.answer("<html>")
        if url.path == "/api/status":
            known = self.server.kind in ("new-api", "one-api")
            return self.answer(
                {"success": True, "data": {"quota_per_unit": self.server.per_usd}}, 200 if known else 404
            )
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            return self.answer({"success": False, "message": "no token"}, 401)
        if url.path.startswith("/api/log"):
            if self.headers.get("new-api-user") != USER:
                return self.answer({"success": False, "message": f"who are you, {TOKEN}"})
            return self.answer(self.log(query))
        if url.path == "/spend/logs/v2":
            if "start_date" not in query:
                return self.answer({"error": "dates"}, 400)
            size, page = int(query["page_size"]), int(query["page"])
            rows = self.server.rows
            part = rows[(page - 1) * size : page * size]
            return self.answer({"data": part, "total": len(rows), "page": page, "total_pages": -(-len(rows) // size)})
        if url.path == "/spend/logs":
            return self.answer(self.server.rows)
        return self.answer({}, 404)

    def log(self, query: dict[str, str]) -> Any:
        rows = self.server.rows
        if self.server.kind == "one-api":
            page = int(query["p"])
            return {"success": True, "message": "", "data": rows[page * 10 : page * 10 + 10]}
        size, page = min(100, int(query["page_size"])), int(query["p"])
        part = rows[(page - 1) * size : page * size]
        return {"success": True, "data": {"page": page, "page_size": size, "total": len(rows), "items": part}}

    def answer(self, value: Any, code: int = 200) -> None:
        data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(code)
        if code == 429:
            self.send_header("retry-after", "3")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    server = Gateway()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(5)


def log_row(n: int, **more: Any) -> dict[str, Any]:
    return {"id": n, "created_at": 1783407600 + n, "type": 2, "username": "dev", "token_name": "agent", "model_name": "gpt-5.4",
            "quota": 500, "prompt_tokens": 1000 + n, "completion_tokens": 5, "use_time": 1, "group": "default",
            "other": json.dumps({"cache_tokens": 900})} | more  # fmt: skip


def spend_row(n: int, **more: Any) -> dict[str, Any]:
    return {"request_id": f"c{n}", "call_type": "acompletion", "api_key": "k", "spend": 0.01,
            "startTime": f"2026-04-10T08:{n // 60:02d}:{n % 60:02d}Z", "endTime": f"2026-04-10T08:{n // 60:02d}:{n % 60:02d}Z",
            "model": "m", "metadata": {"usage_object": {"prompt_tokens": 100 + n, "completion_tokens": 5}}, "status": "success",
            "session_id": "s" if n % 2 else f"only-{n}"} | more  # fmt: skip


def calls(batch: Any) -> list[Call]:
    return [record for record in batch.records if isinstance(record, Call)]


@pytest.mark.parametrize("path", ["", "/api/log/self", "/api/log/"])
def test_new_api_pages_newest_first(gateway, path):
    gateway.rows = [log_row(n) for n in range(249, -1, -1)]
    batch, title = rest.read(gateway.address + path, environ=ENV)
    found = calls(batch)
    assert [c.prompt_tokens for c in found] == list(range(1000, 1250))
    assert {(c.source, c.cache_read_tokens, c.cost_usd, c.session_evidence) for c in found} == {
        ("new-api", 900, 0.5, "file")
    }
    assert title == "new-api / one-api log"
    pages = [query["p"] for asked, query in gateway.asked if asked.startswith("/api/log")]
    assert pages == ["1", "2", "3"]


def test_one_api_pages_of_ten_from_zero(gateway):
    gateway.kind = "one-api"
    plain = [
        {k: v for k, v in log_row(n).items() if k not in ("other", "group", "use_time")} for n in range(24, -1, -1)
    ]
    gateway.rows = plain
    batch, _ = rest.read(gateway.address + "/api/log/self", environ=ENV)
    assert [c.prompt_tokens for c in calls(batch)] == list(range(1000, 1025))
    assert {c.source for c in calls(batch)} == {"one-api"}


def test_only_what_is_new_at_the_next_poll(gateway):
    gateway.rows = [log_row(n) for n in range(149, -1, -1)]
    source = rest.Gateway(gateway.address + "/api/log/self", environ=ENV)
    first = source.poll()
    assert (len(calls(first)), first.replace) == (150, True)
    gateway.rows = [log_row(151), log_row(150), *gateway.rows]
    gateway.asked.clear()
    second = source.poll()
    assert ([c.prompt_tokens for c in calls(second)], second.replace) == ([1150, 1151], False)
    assert len(gateway.asked) == 1
    assert calls(source.poll()) == []
    source.close()


def test_rows_that_move_to_the_next_page_meanwhile_count_once(gateway):
    gateway.rows = [log_row(n) for n in range(149, -1, -1)]
    real = Handler.log

    def log(self, query):
        answer = real(self, query)
        if query["p"] == "1":  # a new row arrives between the pages
            gateway.rows = [log_row(500), *gateway.rows]
        return answer

    Handler.log = log  # type: ignore[method-assign]
    try:
        batch, _ = rest.read(gateway.address + "/api/log/self", environ=ENV)
    finally:
        Handler.log = real  # type: ignore[method-assign]
    assert [c.prompt_tokens for c in calls(batch)] == list(range(1000, 1150))


def test_query_of_the_address_and_since_are_passed_on(gateway):
    gateway.rows = [log_row(1)]
    source = rest.Gateway(
        gateway.address + "/api/log/self?token_name=agent&page_size=50", environ=ENV, since_ms=1783000000000
    )
    source.poll()
    source.close()
    [query] = [query for path, query in gateway.asked if path == "/api/log/self"]
    assert query == {"token_name": "agent", "page_size": "50", "p": "1", "start_timestamp": "1783000000"}
    assert source.name == gateway.address + "/api/log/self"


def test_a_bound_on_rows_is_said(gateway):
    gateway.rows = [log_row(n) for n in range(400, -1, -1)]
    source = rest.Gateway(gateway.address + "/api/log/self", environ=ENV, max_rows=200)
    batch = source.poll()
    source.close()
    assert [c.prompt_tokens for c in calls(batch)] == list(range(1201, 1401))
    assert [r.reason for r in batch.records if isinstance(r, Problem)] == ["only the newest 200 rows were fetched"]


@pytest.mark.parametrize("path", ["/spend/logs/v2", "/spend/logs", ""])
def test_litellm(gateway, path):
    gateway.kind = "litellm"
    gateway.rows = [spend_row(n) for n in range(119, -1, -1)]
    batch, title = rest.read(gateway.address + path, environ={"LITELLM_API_KEY": TOKEN})
    found = calls(batch)
    assert [c.prompt_tokens for c in found] == list(range(100, 220))
    assert [c.session_evidence for c in found] == ["file", "explicit"] * 60
    assert title == "LiteLLM log"


def test_litellm_asks_for_the_last_days_unless_told(gateway):
    gateway.kind = "litellm"
    gateway.rows = [spend_row(1)]
    source = rest.Gateway(gateway.address + "/spend/logs/v2", environ=ENV, clock=lambda: 1775808000.0)
    source.poll()
    source.close()
    _, query = gateway.asked[-1]
    assert query["start_date"] == "2026-03-11 08:00:00"
    assert query["end_date"] == "2026-04-10 08:01:00"


def test_sums_instead_of_calls_are_refused(gateway):
    gateway.kind = "litellm"
    gateway.rows = [{"spend": 5, "models": {"m": 5}, "startTimeDay": "2026-04-10"}] * 2
    with pytest.raises(ReadError, match="sums instead of single calls"):
        rest.read(gateway.address + "/spend/logs", environ=ENV)


def fault(gateway: Gateway, environ: dict[str, str] | None = None, path: str = "/api/log/self") -> str:
    with pytest.raises(ReadError) as caught:
        rest.read(gateway.address + path, environ=ENV if environ is None else environ)
    text = str(caught.value)
    assert TOKEN not in text
    return text


def test_faults_are_one_sentence_without_the_token(gateway):
    assert "CTXMON_TOKEN" in fault(gateway, {})
    assert "CTXMON_USER_ID" in fault(gateway, {"CTXMON_TOKEN": TOKEN})
    gateway.refuse = [404, 500]
    assert "HTTP 500" in fault(gateway)
    gateway.kind = "elsewhere"
    assert "sends elsewhere" in fault(gateway)
    gateway.kind = "html"
    assert "JSON" in fault(gateway)
    assert "not known" in fault(gateway, path="/some/page")


def test_a_server_that_is_not_there():
    with pytest.raises(ReadError, match="cannot be reached"):
        rest.read("http://127.0.0.1:9/api/log/self", environ=ENV)


@pytest.mark.parametrize("address", ["ftp://host/x", "http://", "not an address"])
def test_no_address(address):
    with pytest.raises(ReadError, match="no address of a gateway"):
        rest.Gateway(address)


def test_tokens_in_the_address_are_refused_and_not_repeated():
    with pytest.raises(ReadError, match="CTXMON_TOKEN") as caught:
        rest.Gateway(f"http://me:{TOKEN}@127.0.0.1/api/log/self")
    assert TOKEN not in str(caught.value)


def test_a_gateway_that_asks_to_slow_down_is_waited_for_once(gateway):
    gateway.rows = [log_row(n) for n in range(149, -1, -1)]
    waits: list[float] = []
    source = rest.Gateway(gateway.address + "/api/log/self", environ=ENV, sleep=waits.append)
    gateway.refuse = [404, 429]  # the status page, then the first page
    assert len(calls(source.poll())) == 150
    assert waits == [3.0]
    source.close()


def test_a_gateway_that_goes_on_asking_gives_what_it_gave(gateway):
    gateway.rows = [log_row(n) for n in range(149, -1, -1)]
    real = Handler.log

    def log(self, query):
        if query["p"] == "1":
            gateway.refuse = [429, 429]
        return real(self, query)

    Handler.log = log  # type: ignore[method-assign]
    try:
        source = rest.Gateway(gateway.address + "/api/log/self", environ=ENV, sleep=lambda _: None)
        batch = source.poll()
        source.close()
    finally:
        Handler.log = real  # type: ignore[method-assign]
    assert len(calls(batch)) == 100
    assert any("slow down" in r.reason for r in batch.records if isinstance(r, Problem))


def test_the_token_is_in_no_record(gateway):
    gateway.rows = [log_row(1, token_name=TOKEN)]
    batch, _ = rest.read(gateway.address + f"/api/log/self?key={TOKEN}", ReadOptions(), environ=ENV)
    assert calls(batch)
    assert TOKEN not in repr(batch)
