from __future__ import annotations

import io
import json

import pytest

from monitor.readers.base import FileContext, ReadError, ReadOptions
from monitor.readers.columns import READER, ColumnMap, MapError, load_map, parse_map
from tests.readers.gateway_help import calls, problems, read, score, tokens

CSV = (
    "when,llm,in_tok,hit_tok,write_tok,out_tok,think_tok,thread\n"
    "2026-03-01T10:00:00Z,gpt-5.4,20000,0,,300,100,t1\n"
    "2026-03-01T10:01:00Z,gpt-5.4,21500,19968,,90,0,t1\n"
    "2026-03-01T10:02:00Z,gpt-5.4,5000,0,,60,0,\n"
)
MAP = """
time: when
model: llm
prompt: in_tok
cached: hit_tok
cache_write: write_tok
output: out_tok
reasoning: think_tok
session: thread
input_includes_cached: true
"""


def table(data, text=MAP):
    return read("columns", data, options=ReadOptions(map=parse_map(text)))


def test_a_csv_with_a_map():
    found = calls(table(CSV))
    assert [tokens(c) for c in found] == [
        (20000, 20000, 0, None, 300),
        (21500, 1532, 19968, None, 90),
        (5000, 5000, 0, None, 60),
    ]
    assert [(c.session, c.session_evidence) for c in found] == [("t1", "explicit"), ("t1", "explicit"), ("log", "file")]
    assert [c.line for c in found] == [2, 3, 4]
    assert found[0].reasoning_tokens == 100
    assert found[0].source == "table"


@pytest.mark.parametrize(("flag", "wanted"), [("true", (100, 60, 40, 0, 1)), ("false", (140, 100, 40, 0, 1))])
def test_the_flag_decides(flag, wanted):
    text = f"prompt: p\ncached: c\ncache_write: w\noutput: o\ninput_includes_cached: {flag}\n"
    assert tokens(calls(table("p,c,w,o\n100,40,0,1\n", text))[0]) == wanted


def test_without_the_flag_one_row_proves_the_whole_table():
    text = "prompt: p\ncached: c\noutput: o\n"
    inclusive = calls(table("p,c,o\n100,40,1\n100,90,1\n", text))
    assert [c.prompt_tokens for c in inclusive] == [100, 100]
    exclusive = calls(table("p,c,o\n100,40,1\n100,900,1\n", text))
    assert [c.prompt_tokens for c in exclusive] == [140, 1000]


def test_fresh_may_stand_for_prompt():
    found = calls(table("f,c,w,o\n10,40,5,1\n", "fresh: f\ncached: c\ncache_write: w\noutput: o\n"))[0]
    assert tokens(found) == (55, 10, 40, 5, 1)


@pytest.mark.parametrize("unit", ["", "time_unit: s\n", "time_unit: ms\n", "time_unit: us\n", "time_unit: ns\n"])
def test_units_of_time(unit):
    second = 1772359200
    factor = {"": 1, "s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[unit.partition(": ")[2].strip()]
    data = json.dumps([{"t": second * factor, "p": 1}])
    assert calls(table(data, f"time: t\nprompt: p\n{unit}"))[0].time == second * 1000


def test_nested_columns_rows_elsewhere_and_texts_of_json():
    data = json.dumps(
        {
            "x": {"list": [{"usage": {"in": 9}, "meta": '{"sid": "s1", "hit": 3}', "a.b": "m"}]},
            "data": [{"usage": {"in": 1}}],
        }
    )
    text = "prompt: usage.in\ncached: meta.hit\nsession: meta.sid\nmodel: a.b\nrows: x.list\n"
    found = calls(table(data, text))
    assert [(c.prompt_tokens, c.cache_read_tokens, c.session, c.model) for c in found] == [(9, 3, "s1", "m")]


def test_json_lines_tsv_and_parquet():
    text = "prompt: p\noutput: o\n"
    assert calls(table('{"p": 5, "o": 1}\n{"p": 6, "o": 2}\n', text))[1].prompt_tokens == 6
    assert calls(table("p\to\n5\t1\n", text))[0].output_tokens == 1
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pyarrow.table({"p": [7], "o": [3]}), stream)
    assert tokens(calls(table(stream.getvalue(), text))[0]) == (7, 7, None, None, 3)


def test_status_words_and_codes():
    rows = "p,o,s\n0,0,500\n0,0,error\n5,1,200\n5,1,success\n,,failed\n5,1,estimated\n"
    found = calls(table(rows, "prompt: p\noutput: o\nstatus: s\n"))
    assert [c.status for c in found] == ["error", "error", "ok", "ok", "error", "estimated"]
    assert [c.prompt_tokens for c in found] == [None, None, 5, 5, None, 5]  # zeros of a refusal are unknown


def test_chains_and_purposes():
    rows = "p,c\n1,main\n2,side\n3,agent:x\n4,helper\n5,\n"
    found = calls(table(rows, "prompt: p\nchain: c\n"))
    assert [(c.chain, c.purpose) for c in found] == [
        ("main", "work"),
        ("side", "side"),
        ("agent:x", "work"),
        ("agent:helper", "work"),
        ("main", "work"),
    ]


def test_identity_by_id_and_without():
    found = calls(table("p,i\n1,msg_1\n", "prompt: p\nid: i\n"))[0]
    assert (found.key, found.call_id) == ("msg_1", "msg_1")
    twice = calls(table("p\n1\n1\n", "prompt: p\n"))
    assert twice[0].key != twice[1].key


def test_a_column_that_is_not_there_is_said_once():
    found = problems(table("p,o\n1,2\n3,4\n", "prompt: p\noutput: o\ncached: nope\n"))
    assert [p.reason for p in found] == ["the table has no column 'nope', which the map names for 'cached'"]


def test_rows_with_unreadable_times_count_without_one():
    records = table("t,p\nsoon,1\n", "time: t\nprompt: p\n")
    assert calls(records)[0].time is None
    assert [(p.line, "time" in p.reason) for p in problems(records)] == [(2, True)]


def test_our_own_csv_is_read_back_without_a_map():
    header = (
        "session,session_evidence,chain,window,index,exchange,time,duration_ms,source,provider,model,prompt_tokens,"
        "fresh_tokens,cache_read_tokens,cache_write_tokens,cache_write_1h_tokens,output_tokens,output_is_lower_bound,"
        "reasoning_tokens,cost_usd,cost_source,status,purpose,call_id\n"
    )
    data = header + (
        "s1,lane,main,1,0,2,2026-03-01T10:00:00.000Z,900,new-api,anthropic,claude-sonnet-4-5,1000,10,900,90,0,5,True,,"
        "0.5,logged,ok,work,m1\n"
        "s1,lane,side,1,1,,2026-03-01T10:01:00.000Z,,new-api,,m,7,7,0,0,,1,False,,0.1,table,ok,side,m2\n"
    )
    assert score("columns", data) == 0.9
    first, second = calls(read("columns", data))
    assert tokens(first) == (1000, 10, 900, 90, 5)
    assert (first.source, first.session, first.session_evidence, first.exchange) == ("new-api", "s1", "lane", 2)
    assert (first.output_is_lower_bound, first.cost_usd, first.key) == (True, 0.5, "m1")
    # a cost from the price table is worked out anew
    assert (second.purpose, second.chain, second.cost_usd) == ("side", "side", None)


def test_a_table_of_no_known_kind_says_how_to_go_on():
    with pytest.raises(ReadError, match="--suggest-map"):
        parser = READER.parser(FileContext("t.csv", data=b"a,b_tokens\n1,2\n"))
        parser.read(FileContext("t.csv", data=b"a,b_tokens\n1,2\n"))
    assert score("columns", "a,b_tokens\n1,2\n") == 0


def test_an_empty_table_holds_no_calls():
    assert table("p,o\n", "prompt: p\n") == []


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("prompt: p\ntokens: x\n", 2, "'tokens' is no field"),
        ("prompt: p\ntime_unit: minutes\n", 2, "s, ms, us, ns, iso"),
        ("prompt: p\ninput_includes_cached: maybe\n", 2, "true or false"),
        ("prompt: p\nmodel:\n  - a\n", 2, "one column name"),
        ("time: t\n", 1, "'prompt'"),
        ("- a\n- b\n", 1, "prompt: name_of_the_column"),
        ("prompt: [\n", 2, "no YAML"),
        ("", 1, "prompt: name_of_the_column"),
    ],
)
def test_faults_of_a_map_name_file_line_and_what_is_expected(tmp_path, text, line, words):
    path = tmp_path / "map.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MapError) as caught:
        load_map(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)


def test_a_map_that_cannot_be_opened(tmp_path):
    with pytest.raises(MapError, match="cannot be read"):
        load_map(tmp_path / "none.yaml")


def test_open_fields_of_a_proposed_map_are_left_out(tmp_path):
    path = tmp_path / "map.yaml"
    path.write_text("\ufeffprompt: p  # note\nmodel:\n# session:\n", encoding="utf-8")
    assert load_map(path) == ColumnMap({"prompt": "p"})


def test_column_names_that_look_like_other_yaml_values_stay_text():
    assert parse_map("prompt: 5\noutput: true\n").columns == {"prompt": "5", "output": "true"}


def test_a_map_that_leads_nowhere_says_so():
    found = table(json.dumps({"data": [{"p": 5}]}), "prompt: p\nrows: items.list\n")
    assert calls(found) == []
    assert [p.reason for p in problems(found)] == ["there are no rows at 'items.list', where the map says they are"]


def test_a_table_without_any_column_of_tokens_has_no_calls():
    found = table(CSV, "time: when\nprompt: tokens_in\noutput: tokens_out\n")
    assert calls(found) == []
    assert [p.reason for p in problems(found)] == [
        "the table has no column 'tokens_in', which the map names for 'prompt'",
        "the table has no column 'tokens_out', which the map names for 'output'",
    ]
    assert len(calls(table(CSV, "time: when\nprompt: tokens_in\noutput: out_tok\n"))) == 3
