"""one-api and new-api: expectations by hand from the gateways' own rules of what the columns mean."""

from __future__ import annotations

import io
import json
import time

import pytest

from monitor.readers.base import ReadOptions
from tests.readers.gateway_help import calls, problems, read, score, tokens


def row(**more):
    base = {
        "id": 1,
        "user_id": 3,
        "created_at": 1783407600,
        "type": 2,
        "content": "",
        "username": "dev",
        "token_name": "agent",
        "model_name": "gpt-5.4",
        "quota": 1000,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "use_time": 4,
        "is_stream": True,
        "channel": 7,
        "group": "default",
        "other": "",
    }
    return base | more


def other(**more):
    return json.dumps({"model_ratio": 1, "model_price": -1, **more})


CLAUDE = row(
    model_name="claude-sonnet-4-5",
    prompt_tokens=5,
    other=other(cache_tokens=900, cache_creation_tokens=60, claude=True),
)
OPENAI = row(prompt_tokens=1000, other=other(cache_tokens=896))


def only(*rows):
    return calls(read("new_api", json.dumps(list(rows))))


def test_claude_rows_leave_the_cache_out_and_others_include_it():
    claude, openai = only(CLAUDE, OPENAI)
    assert tokens(claude) == (965, 5, 900, 60, 10)
    assert claude.provider == "anthropic"
    assert tokens(openai) == (1000, 104, 896, 0, 10)
    assert openai.provider is None


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({"usage_semantic": "anthropic", "claude": False, "cache_tokens": 900}, (1000, 100, 900, 0, 10)),
        # the split of writes without any tag: older builds, Claude behind an OpenAI-like address
        ({"cache_tokens": 50, "cache_creation_tokens_5m": 20, "cache_creation_tokens_1h": 5}, (175, 100, 50, 25, 10)),
        # a cache larger than the prompt proves that it is left out
        ({"cache_tokens": 300}, (400, 100, 300, 0, 10)),
        # the write total is the largest of its three tellings
        (
            {"claude": True, "cache_tokens": 1, "cache_creation_tokens": 7, "cache_creation_tokens_5m": 9},
            (110, 100, 1, 9, 10),
        ),
        # Claude rows of builds that log the whole input say so: the total is what the prompt says (7 + 90 + 3 = 100)
        (
            {"claude": True, "cache_tokens": 90, "cache_creation_tokens": 3, "input_tokens_total": 100},
            (100, 7, 90, 3, 10),
        ),
        # and of those that do not, as the total is more
        (
            {"claude": True, "cache_tokens": 90, "cache_creation_tokens": 3, "input_tokens_total": 193},
            (193, 100, 90, 3, 10),
        ),
        # a normalised total
        ({"input_tokens_total": 500, "cache_tokens": 90}, (500, 410, 90, 0, 10)),
        # reads and writes of one OpenAI prompt overlap: fresh is never below zero
        ({"cache_tokens": 90, "cache_write_tokens": 30}, (100, 0, 90, 30, 10)),
    ],
)
def test_usage_rules(more, wanted):
    assert tokens(only(row(other=other(**more)))[0]) == wanted


def test_one_hour_writes():
    found = only(
        row(other=other(claude=True, cache_tokens=0, cache_creation_tokens_5m=2, cache_creation_tokens_1h=30))
    )[0]
    assert (found.cache_write_tokens, found.cache_write_1h_tokens) == (32, 30)


@pytest.mark.parametrize("empty", ["", "null", "{}", None, {}])
def test_other_in_every_empty_form_means_unknown_cache(empty):
    assert tokens(only(row(other=empty))[0]) == (100, 100, None, None, 10)


def test_other_as_an_object():
    assert tokens(only(row(other={"cache_tokens": 40, "claude": True}))[0]) == (140, 100, 40, 0, 10)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda rows: {"success": True, "message": "", "data": {"page": 1, "total": 2, "items": rows}},
        lambda rows: {"success": True, "data": rows},
        lambda rows: {"data": {"logs": rows}},
        lambda rows: rows,
    ],
)
def test_every_envelope(wrap):
    data = json.dumps(wrap([CLAUDE, OPENAI]))
    assert score("new_api", data) > 0.9
    assert [c.prompt_tokens for c in calls(read("new_api", data))] == [965, 1000]


def test_json_lines_of_a_table_dump():
    data = json.dumps(CLAUDE) + "\n" + json.dumps(OPENAI) + "\n"
    found = calls(read("new_api", data))
    assert [(c.prompt_tokens, c.line) for c in found] == [(965, 1), (1000, 2)]


def test_types_of_rows():
    rows = [
        row(type=1, model_name=""),
        row(type=3),
        row(type=4),
        row(type=5, prompt_tokens=0, completion_tokens=0, content="upstream error sk-abc"),
        row(type=6),
        row(type=7),
        row(prompt_tokens=0, completion_tokens=0, model_name="sora"),
        row(),
    ]
    found = only(*rows)
    assert [(c.status, c.purpose, tokens(c), c.cost_usd) for c in found] == [
        ("error", "work", (None,) * 5, None),
        ("ok", "side", (None,) * 5, 0.002),
        ("ok", "work", (100, 100, None, None, 10), 0.002),
    ]


def test_paths_that_are_no_conversation_and_estimated_counts():
    side = only(row(other=other(request_path="/v1/embeddings", cache_tokens=0)))[0]
    assert (side.purpose, side.chain) == ("side", "side")
    guessed = only(row(other=json.dumps({"cache_tokens": 0, "admin_info": {"local_count_tokens": True}})))[0]
    assert guessed.status == "estimated"


def test_newest_first_within_the_same_second():
    rows = [row(id=n, prompt_tokens=100 * n, created_at=1783407600 + n // 3) for n in (5, 4, 3, 2, 1)]
    assert [c.prompt_tokens for c in only(*rows)] == [100, 200, 300, 400, 500]


def test_all_rows_within_one_second_follow_their_numbers():
    falling = [row(id=n, prompt_tokens=size, created_at=1783407600) for n, size in ((2, 300), (1, 200), (1023, 100))]
    assert [c.prompt_tokens for c in only(*falling[:2])] == [200, 300]
    assert [c.prompt_tokens for c in only(*falling)] == [300, 200, 100]  # no telling: as the file has them
    falling.insert(0, row(id=3, prompt_tokens=400, created_at=1783407600))
    assert [c.prompt_tokens for c in only(*falling)] == [100, 200, 300, 400]
    assert [c.prompt_tokens for c in only(*reversed(falling))] == [100, 200, 300, 400]


def test_costs_are_quota_units():
    assert only(row(quota=500_000))[0].cost_usd == 1.0


def test_times_and_durations():
    found = only(row(created_at=1783407600, use_time=4))[0]
    assert (found.time, found.duration_ms) == (1783407600000, 4000)


def test_one_api_rows_have_no_cache_figures_and_tests_are_side():
    plain = {k: v for k, v in row().items() if k not in ("use_time", "other", "group")}
    data = json.dumps({"success": True, "data": [plain | {"elapsed_time": 1500}, plain | {"type": 5}]})
    found = calls(read("new_api", data))
    assert [(c.source, c.purpose, c.status) for c in found] == [("one-api", "work", "ok"), ("one-api", "side", "ok")]
    assert tokens(found[0]) == (100, 100, None, None, 10)
    assert found[0].duration_ms == 1500


def test_numbers_as_text_and_nonsense_do_not_lose_the_file():
    odd = row(created_at="1783407600", prompt_tokens="1,000", completion_tokens="7", type="2", use_time="3")
    bad = row(prompt_tokens=-5, completion_tokens={"a": 1}, other="{broken", id=None, quota=[])
    found = calls(read("new_api", json.dumps([odd, bad, "text", 7])))
    assert tokens(found[0]) == (1000, 1000, None, None, 7)
    assert tokens(found[1]) == (None,) * 5
    assert found[1].purpose == "side"


def test_a_refusal_is_said_in_one_sentence_without_the_message():
    records = read("new_api", json.dumps({"success": False, "message": "token sk-123 expired", "data": None}))
    # such a file is not recognised by itself: the reader was forced
    assert not calls(records)
    assert [("error instead of log rows" in p.reason, "sk-123" in p.reason) for p in problems(records)] == [
        (True, False)
    ]


def test_rows_exported_twice_have_the_same_identity():
    first, second = only(CLAUDE, OPENAI), only(OPENAI, row(id=9))
    assert first[1].key == second[0].key
    same_twice = only(OPENAI, OPENAI)
    assert same_twice[0].key != same_twice[1].key


def test_request_ids_are_the_identity_where_there_are_some():
    found = only(row(request_id="20260707-1"))[0]
    assert (found.key, found.call_id) == ("20260707-1", "20260707-1")


def test_the_token_name_is_kept_as_a_hash_only():
    found = only(row(token_name="very-secret-name"))[0]
    assert found.evidence is not None
    assert found.evidence.origin
    assert "secret" not in repr(found)


ENGLISH = (
    "\ufeffTime,Type,Channel,User,Token,Model,Group,Timing,Input Tokens,Output Tokens,Cost,Details,"
    "Cache Read Tokens,Cache Creation Tokens,5m Cache Creation Tokens,1h Cache Creation Tokens\n"
    '2026-07-07 07:02:10,Consume,7,dev,agent,claude-sonnet-4-5,default,4,8,300,$0.03,"a, b",91200,640,640,0\n'
    "2026-07-07 07:01:00,Consume,7,dev,agent,gpt-5.4,default,3,31000,90,$0.02,,30720,0,0,0\n"
    "2026-07-07 07:00:00,Top up,7,dev,agent,,default,0,0,0,$5.00,,0,0,0,0\n"
    "2026-07-07 06:59:00,Error,7,dev,agent,gpt-5.4,default,3,0,0,$0.00,refused,0,0,0,0\n"
)
CHINESE = (
    "时间,渠道,用户,令牌,分组,类型,模型,用时/首字,提示,补全,花费,缓存 Tokens,详情\n"
    "2026-07-07 07:01:00,7,dev,agent,default,消费,gpt-5.4,3 s / 0.9 s 流,31000,90,$0.020000,30720,说明\n"
    "2026-07-07 07:00:00,7,dev,agent,default,充值,,,0,0,$5,,\n"
    "2026-07-07 06:59:00,7,dev,agent,default,错误,gpt-5.4,1 s,0,0,$0,,\n"
)


def test_csv_of_a_fork_infers_claude_from_the_model_name():
    assert score("new_api", ENGLISH) == 0.9
    found = calls(read("new_api", ENGLISH))
    assert [(c.status, tokens(c), c.cost_usd) for c in found] == [
        ("error", (None,) * 5, None),
        ("ok", (31000, 280, 30720, 0, 90), 0.02),
        ("ok", (91848, 8, 91200, 640, 300), 0.03),
    ]
    assert found[2].line == 2


def test_the_log_page_copied_in_chinese():
    assert score("new_api", CHINESE) == 0.9
    found = calls(read("new_api", CHINESE.encode("gb18030")))
    assert [(c.status, c.prompt_tokens, c.cache_read_tokens) for c in found] == [
        ("error", None, None),
        ("ok", 31000, 30720),
    ]
    assert found[1].duration_ms == 3000
    assert found[1].cost_usd == 0.02


def test_newer_chinese_headers():
    text = "时间,类型,令牌,模型,用时,输入,输出,花费,渠道\n2026-07-07 07:01:00,消费,agent,gpt-5.4,3,500,60,¥0.02,7\n"
    found = calls(read("new_api", text))
    assert tokens(found[0]) == (500, 500, None, None, 60)
    assert found[0].cost_usd is None  # another currency


def test_unix_column_wins_over_local_time_and_other_json_over_columns():
    text = (
        "Time,Type,Token,Model,Group,Timing,Input Tokens,Output Tokens,Cost,Created At (Unix),Other JSON\n"
        '2026-07-07 15:01:00,Consume,agent,m,default,3,100,9,$1,1783407600,"{""cache_tokens"": 900, ""claude"": true}"\n'
    )
    found = calls(read("new_api", text))[0]
    assert found.time == 1783407600000
    assert tokens(found) == (1000, 100, 900, 0, 9)


def test_database_dump_as_csv_has_units_not_dollars():
    text = (
        "id,created_at,type,username,token_name,model_name,quota,prompt_tokens,completion_tokens,use_time,other\n"
        '1,1783407600,2,dev,agent,gpt-5.4,250000,1000,10,4,"{""cache_tokens"": 896}"\n'
    )
    found = calls(read("new_api", text))[0]
    assert tokens(found) == (1000, 104, 896, 0, 10)
    assert found.cost_usd == 0.5


def test_xlsx_export():
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Usage Logs"
    for line in ENGLISH.removeprefix("\ufeff").replace('"a, b"', "ab").splitlines():
        sheet.append([int(cell) if cell.isdigit() else cell for cell in line.split(",")])
    stream = io.BytesIO()
    book.save(stream)
    assert score("new_api", stream.getvalue()) == 0.9
    found = calls(read("new_api", stream.getvalue()))
    assert [c.prompt_tokens for c in found] == [None, 31000, 91848]
    assert found[2].cost_usd == 0.03


def test_forced_source_decides_what_type_5_means():
    options = ReadOptions(source="one-api")
    found = calls(read("new_api", json.dumps([row(type=5)]), options=options))
    assert (found[0].source, found[0].status, found[0].purpose) == ("one-api", "ok", "side")


def test_a_hundred_thousand_rows_take_at_most_a_second():
    rows = [
        row(
            id=n,
            created_at=1783407600 - n,
            prompt_tokens=70_000 + n % 900,
            quota=n,
            other=other(
                cache_tokens=70_000, cache_ratio=0.1, group_ratio=1, frt=900, request_path="/v1/chat/completions"
            ),
        )
        for n in range(20_000)
    ]
    data = json.dumps({"success": True, "data": {"items": rows}})
    best = min(_cpu(data) for _ in range(3))
    # a fifth of the rows, with room for a slow or busy machine
    assert best < 0.4


def _cpu(data: str) -> float:
    begin = time.process_time()
    assert len(calls(read("new_api", data))) == 20_000
    return time.process_time() - begin
