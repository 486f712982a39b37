"""Background mode: an answer that is fetched by its id belongs to the request that named the id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.readers.agent_help import loaded
from tests.readers.exchange_samples import calls, lines, records, response_object, sse, trace
from tests.readers.test_har import entry, har

URL = "https://api.openai.com/v1/responses"
ASKED = {"model": "gpt-5.4", "input": "a long task", "background": True, "stream": False}
QUEUED = response_object(0, 0, status="queued", output=[], usage=None)
WORKING = response_object(0, 0, status="in_progress", output=[], usage=None)
DONE = response_object(3000, 400, 1024)
EVENTS = [{"type": "response.in_progress", "response": WORKING}, {"type": "response.completed", "response": DONE}]


def get(text, at, status=200, path="/resp_1"):
    made = entry({}, text, url=URL + path, at=at, took=200, status=status)
    made["request"]["method"] = "GET"
    del made["request"]["postData"]
    return made


def posted(reply, at="2026-04-10T08:00:00.000Z", **more):
    return entry(ASKED, json.dumps(reply), url=URL, at=at, **more)


def totals(path: Path):
    turns = [turn.call for view in loaded(path).sessions for turn in view.turns]
    return [(turn.status, turn.prompt_tokens, turn.cache_read_tokens, turn.output_tokens) for turn in turns]


@pytest.mark.parametrize("last", [json.dumps(DONE), sse(EVENTS)])
def test_what_is_fetched_counts_once_with_its_request(tmp_path, last):
    log = har(
        posted(QUEUED),
        get(json.dumps(WORKING), "2026-04-10T08:00:10.000Z"),
        get(last, "2026-04-10T08:00:20.000Z"),
        get(json.dumps(DONE), "2026-04-10T08:00:30.000Z"),  # read once more
    )
    (path := tmp_path / "a.har").write_bytes(log)
    assert totals(path) == [("ok", 3000, 1024, 400)]
    made = calls(records("har", log))[-1]
    # from the request to the end of the fetch that brought the answer
    assert (made.time, made.duration_ms, made.line, made.exchange) == (1775808000000, 20_200, 1, 1)


def test_an_answer_that_never_came_is_under_way(tmp_path):
    (path := tmp_path / "a.har").write_bytes(har(posted(QUEUED), get(json.dumps(WORKING), "2026-04-10T08:00:10.000Z")))
    assert totals(path) == [("in_flight", None, None, None)]


def test_cancelled_and_failed_answers_are_failed_calls(tmp_path):
    for status in ("cancelled", "failed"):
        gone = response_object(0, 0, status=status, output=[], usage=None)
        log = har(posted(QUEUED), get(json.dumps(gone), "2026-04-10T08:00:10.000Z"))
        (path := tmp_path / f"{status}.har").write_bytes(log)
        assert totals(path) == [("error", None, None, None)]


def test_a_fetch_without_its_request_is_the_call_once(tmp_path):
    log = har(get(json.dumps(DONE), "2026-04-10T09:00:00.000Z"), get(json.dumps(DONE), "2026-04-10T09:00:05.000Z"))
    (path := tmp_path / "a.har").write_bytes(log)
    assert totals(path) == [("ok", 3000, 1024, 400)]
    assert calls(records("har", log))[0].time == 1775808000000  # created_at


def test_reading_an_answer_again_adds_nothing(tmp_path):
    log = har(posted(DONE), get(json.dumps(DONE), "2026-04-10T08:30:00.000Z"), get("{}", "2026-04-10T08:31:00.000Z", 404))
    (path := tmp_path / "a.har").write_bytes(log)
    assert totals(path) == [("ok", 3000, 1024, 400)]


def test_a_cut_stream_that_is_taken_up_again(tmp_path):
    cut = sse([{"type": "response.created", "response": WORKING}])
    log = har(
        entry({**ASKED, "stream": True}, cut, url=URL, _error="net::ERR_CONNECTION_RESET"),
        get(sse(EVENTS[1:]), "2026-04-10T08:00:20.000Z", path="/resp_1"),
    )
    (path := tmp_path / "a.har").write_bytes(log)
    assert totals(path) == [("ok", 3000, 1024, 400)]


def test_lists_and_other_addresses_are_no_answers():
    log = har(get(json.dumps({"object": "list", "data": []}), "2026-04-10T08:00:00.000Z", path="/resp_1/input_items"))
    assert calls(records("har", log)) == []


def test_two_requests_in_the_background_side_by_side(tmp_path):
    other = response_object(500, 60, id="resp_2")
    log = har(
        posted(QUEUED),
        posted({**QUEUED, "id": "resp_2"}, at="2026-04-10T08:00:01.000Z"),
        get(json.dumps(other), "2026-04-10T08:00:20.000Z", path="/resp_2"),
        get(json.dumps(DONE), "2026-04-10T08:00:30.000Z"),
    )
    (path := tmp_path / "a.har").write_bytes(log)
    assert totals(path) == [("ok", 3000, 1024, 400), ("ok", 500, 0, 60)]


def test_request_and_response_lines(tmp_path):
    first = trace(ASKED, QUEUED, url=URL)
    later = trace(None, DONE, url=URL + "/resp_1", at=1_775_808_020.0)
    later["request"] |= {"method": "GET"}
    (path := tmp_path / "a.jsonl").write_bytes(lines(first, later, later))
    assert totals(path) == [("ok", 3000, 1024, 400)]


def test_answers_alone(tmp_path):
    (path := tmp_path / "a.jsonl").write_bytes(lines(QUEUED, WORKING, DONE, DONE))
    assert totals(path) == [("ok", 3000, 1024, 400)]


def test_geminis_interactions(tmp_path):
    url = "https://generativelanguage.googleapis.com/v1beta/interactions"
    begun = {"object": "interaction", "id": "int_1", "model": "deep-research", "status": "in_progress"}
    usage = {"total_input_tokens": 900, "total_cached_tokens": 0, "total_output_tokens": 70, "total_thought_tokens": 30}
    done = {**begun, "status": "completed", "usage": usage}
    fetched = get(json.dumps(done), "2026-04-10T08:01:00.000Z")
    fetched["request"]["url"] = url + "/int_1"
    log = har(entry({"model": "deep-research", "input": "x", "background": True}, json.dumps(begun), url=url), fetched)
    (path := tmp_path / "a.har").write_bytes(log)
    assert totals(path) == [("ok", 900, 0, 100)]
