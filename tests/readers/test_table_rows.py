from __future__ import annotations

import io
import json

import pytest

from monitor.readers import table_rows
from monitor.readers.base import FileContext, ReadError, read_head


def rows(data: bytes, path: str | None = None) -> tuple[list, list]:
    notes: list[tuple[int | None, str]] = []
    found = list(table_rows.rows(FileContext("t", data=data), lambda line, why: notes.append((line, why)), path))
    return found, notes


def peek(data: bytes) -> table_rows.Peek:
    return table_rows.peek(read_head(FileContext("t", data=data)))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_delimiters_and_encodings(delimiter, encoding):
    text = delimiter.join(["时间", "模型", "n"]) + "\r\n" + delimiter.join(["2026-01-01", "通义", "7"]) + "\r\n"
    data = text.encode(encoding)
    assert rows(data) == ([(2, {"时间": "2026-01-01", "模型": "通义", "n": "7"})], [])
    assert peek(data).kind == "csv"
    assert peek(data).columns == {"时间", "模型", "n"}


def test_quoted_line_breaks_delimiters_and_line_numbers():
    found, _ = rows(b'a,b\n"x, ""y""\nz",2\n3,4\n')
    assert found == [(3, {"a": 'x, "y"\nz', "b": "2"}), (4, {"a": "3", "b": "4"})]


def test_spreadsheet_hint_blank_lines_and_old_mac_line_ends():
    assert rows(b"sep=;\na;b\n1;2\n")[0] == [(3, {"a": "1", "b": "2"})]
    assert rows(b"\n\na,b\n\n1,2\n")[0] == [(5, {"a": "1", "b": "2"})]
    assert [row for _, row in rows(b"a,b\r1,2\r3,4\r")[0]] == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


def test_cells_larger_than_the_csv_module_allows_by_default():
    big = "x" * 300_000
    assert rows(f"a,b\n{big},1\n".encode())[0] == [(2, {"a": big, "b": "1"})]


def test_short_and_long_rows_do_not_stop_the_table():
    assert [row for _, row in rows(b"a,b\n1\n1,2,3\n")[0]] == [{"a": "1"}, {"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    "document",
    [
        [{"a": 1}, {"a": 2}],
        {"data": [{"a": 1}, {"a": 2}]},
        {"success": True, "data": {"total": 2, "items": [{"a": 1}, {"a": 2}]}},
        {"result": [{"a": 1}, {"a": 2}]},
    ],
)
def test_json_envelopes(document):
    data = json.dumps(document).encode()
    assert [row["a"] for _, row in rows(data)[0]] == [1, 2]
    assert peek(data).columns == {"a"}


def test_json_rows_at_a_path():
    data = json.dumps({"x": {"y": [{"a": 1}]}, "data": [{"a": 9}]}).encode()
    assert [row["a"] for _, row in rows(data, "x.y")[0]] == [1]


def test_peek_sees_the_first_row_of_a_document_longer_than_the_head():
    filler = [{"a": n, "text": "y" * 1000} for n in range(600)]
    found = peek(json.dumps({"success": True, "data": {"page": 1, "items": filler}}).encode())
    assert found.columns == {"a", "text"}


def test_peek_of_no_table():
    for data in (b"", b"\x00\x01\x02" * 100, b"just words without columns\n", b"{broken", b"[]", b"PK\x03\x04zip"):
        assert not peek(data).columns


def test_xlsx():
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Time", "n"])
    book.active.append(["2026-01-01 10:00:00", 5])
    stream = io.BytesIO()
    book.save(stream)
    assert rows(stream.getvalue())[0] == [(2, {"Time": "2026-01-01 10:00:00", "n": 5})]
    assert peek(stream.getvalue()).columns == {"Time", "n"}


def test_parquet():
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pyarrow.table({"a": [1, 2], "m": ["x", None]}), stream)
    assert rows(stream.getvalue())[0] == [(None, {"a": 1, "m": "x"}), (None, {"a": 2, "m": None})]
    assert peek(stream.getvalue()).columns == {"a", "m"}


@pytest.mark.parametrize("data", [b"PAR1 and nothing else", b"PK\x03\x04....xl/workbook.xml"])
def test_damaged_workbooks_are_one_sentence(data):
    with pytest.raises(ReadError, match="cannot be opened"):
        rows(data)


def test_missing_package_names_the_extra(monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith(("openpyxl", "pyarrow")):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    for data in (b"PAR1....", b"PK\x03\x04....xl/workbook.xml"):
        with pytest.raises(ReadError, match=r"pip install '\.\[tables\]'"):
            rows(data)
