"""The picture of the chart, row by row. Columns and rows are worked out by hand."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.dashboard.model.curve import ALL, Curve
from monitor.dashboard.model.frame import Fan, Frame, Options, Painter, gutter_of
from monitor.dashboard.model.scale import VISIBLE
from monitor.dashboard.model.window import Window
from tests.dashboard.fake import event, growing, turn, view


def curve_of(turns: list, events: tuple = (), choice: str = "main") -> Curve:
    curve = Curve("s1", choice)
    curve.update(view(turns, events))
    return curve


def texts(frame: Frame) -> list[str]:
    return ["".join(text for _style, text in row) for row in frame.rows]


def colours(frame: Frame, row: int, column: int) -> tuple[str, str]:
    """Style of a plot cell; row 0 is the top."""
    at = 0
    for style, text in frame.rows[row]:
        if at <= frame.gutter + column < at + len(text):
            return style
        at += len(text)
    raise AssertionError("no such column")


def paint(curve: Curve, width: int = 46, height: int = 12, window: Window | None = None, **options: object) -> Frame:
    return Painter().paint(curve, window or Window(level=1), width, height, Options(**options))  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 300), st.integers(8, 120), st.integers(1, 40), st.booleans(), st.booleans(),
    st.sampled_from(["main", ALL]),
)  # fmt: skip
def test_every_row_has_exactly_the_width(
    count: int, width: int, height: int, share: bool, glyphs: bool, choice: str
) -> None:
    curve = Curve("s1", choice)
    if count:
        curve.update(growing(count, agents=True))
    options = Options(
        cursor=len(curve) - 1 if len(curve) else None, share=share, glyphs=glyphs, limit=200_000, usable=167_000,
        fan=Fan(100_000, 167_000, 3, 9, 30),
    )  # fmt: skip
    frame = Painter().paint(curve, Window(), width, height, options)
    assert len(frame.rows) <= max(height, 2)
    for text in texts(frame):
        assert len(text) == max(width, gutter_of(width) + 1)


def test_parts_stand_on_each_other() -> None:
    # 8 plot rows for 0..8,480 tokens: a bar of 8,000 = 4,000 read + 2,000 written + 2,000 new
    curve = curve_of([turn(0, 8_000, 4_000, 2_000)])
    frame = paint(curve, height=11, scale=VISIBLE)
    assert frame.plot == 8
    column = [colours(frame, row, 0) for row in range(8)]
    # from the top: the cell with the bar's end, new, written, read
    assert column[0][0] == "fresh"
    assert column[7] == ("", "read") and column[5] == ("", "read")
    assert ("", "write") in column and any("fresh" in style for style in column[1:3])


def test_a_provider_without_cache_figures_gets_a_plain_bar() -> None:
    frame = paint(curve_of([turn(0, 8_000)]), scale=VISIBLE)
    assert colours(frame, frame.plot - 1, 0) == ("", "plain")


def test_limits_are_lines_with_their_words() -> None:
    curve = curve_of([turn(i, 10_000 + i, 9_000, 0) for i in range(3)])
    frame = paint(curve, width=66, height=24, limit=200_000, usable=167_000, usable_mark="?", scale="limit")
    rows = texts(frame)
    limit = next(i for i, row in enumerate(rows) if "limit 200k" in row)
    usable = next(i for i, row in enumerate(rows) if "usable 167k?" in row)
    # 21 plot rows up to 208,000: 200,000 falls into row 20 from the bottom, 167,000 into row 16
    assert frame.plot == 21
    assert (limit, usable) == (0, 4)
    assert rows[limit].count("╌") > 30 and rows[usable].count("┄") > 30


def test_a_line_is_seen_across_a_bar() -> None:
    curve = curve_of([turn(0, 190_000, 190_000, 0)])
    frame = paint(curve, height=24, limit=200_000, usable=167_000, scale="limit")
    assert ("usable", "read") in [colours(frame, row, 0) for row in range(frame.plot)]


def test_compactions_are_marked_on_the_axis_and_above_the_bars() -> None:
    turns = [turn(i, 50_000 if i < 5 else 9_000, 8_000, 0) for i in range(10)]
    events = (event("compaction", 5), event("trim", 8, evidence="inferred"))
    frame = paint(curve_of(turns, events), height=14)
    axis = texts(frame)[frame.plot]
    assert axis[frame.gutter + 5] == "▲" and axis[frame.gutter + 8] == "▽"
    above = [texts(frame)[row][frame.gutter + 5] for row in range(frame.plot - 4)]
    assert set(above) == {"┆"}


def test_one_real_call_per_column_and_no_miss_hidden() -> None:
    turns = [turn(i, 40_000 if i % 4 else 50_000, 39_000, 0) for i in range(80)]
    turns[41] = turn(41, 30_000, 0, 29_000, cache_outcome="miss", cache_miss_cause="expired")
    curve = curve_of(turns)
    frame = paint(curve, window=Window(level=-4, start=0), height=12)
    strip = texts(frame)[-1]
    assert strip.startswith(" hit ")
    assert [i for i, char in enumerate(strip[frame.gutter :]) if char == "✖"] == [10]
    # the column shows the call of 50,000 with its own parts, not the smaller miss and no mean of the four
    tops = [colours(frame, row, 10) for row in range(frame.plot)]
    assert tops == [colours(frame, row, 9) for row in range(frame.plot)]


def test_several_events_of_a_column_are_counted() -> None:
    turns = [turn(i, 40_000, 39_000, 0) for i in range(40)]
    events = tuple(event("compaction", i) for i in (4, 5, 6))
    frame = paint(curve_of(turns, events), window=Window(level=-4, start=0))
    assert texts(frame)[frame.plot][frame.gutter + 1] == "3"


def test_failed_calls_are_marked_on_the_axis() -> None:
    turns = [turn(i, 40_000, 39_000, 0) for i in range(6)]
    turns[3] = turn(3, None, status="error")
    frame = paint(curve_of(turns))
    assert texts(frame)[frame.plot][frame.gutter + 3] == "!"


def test_the_cursor_is_a_line_above_its_bar() -> None:
    curve = curve_of([turn(i, 10_000, 9_000, 0) for i in range(6)])
    frame = paint(curve, cursor=2, limit=40_000, scale="limit")
    assert texts(frame)[frame.plot][frame.gutter + 2] == "┃"
    assert "│" in {texts(frame)[row][frame.gutter + 2] for row in range(frame.plot)}
    assert colours(frame, frame.plot - 1, 2) == ("", "read+")


def test_shares_fill_the_plot() -> None:
    curve = curve_of([turn(0, 1_000, 500, 0), turn(1, 100_000, 50_000, 0)])
    frame = paint(curve, share=True)
    for row in range(frame.plot):
        assert colours(frame, row, 0) == colours(frame, row, 1) != ("", "")
    assert "100%" in texts(frame)[0]


def test_the_forecast_widens_to_the_right_and_ends_at_the_limit() -> None:
    curve = curve_of([turn(i, 100_000, 99_000, 0) for i in range(4)])
    fan = Fan(100_000, 167_000, 4, 8, 16)
    frame = paint(curve, width=66, height=24, limit=200_000, usable=167_000, fan=fan, scale="limit")

    def band(column: int) -> list[int]:
        return [row for row in range(frame.plot) if "fan" in "".join(colours(frame, row, column))]

    first, middle, last = band(4), band(9), band(19)
    assert len(first) <= len(middle)
    # 21 rows up to 208,000, the usable limit in row 16 from the bottom = row 4 from the top
    assert min(middle) == 4 and min(last) == 4
    assert band(22) == []


def test_no_forecast_beyond_the_limit() -> None:
    curve = curve_of([turn(0, 180_000, 0, 0)])
    frame = paint(curve, fan=Fan(180_000, 167_000, 1, 1, 1), limit=200_000)
    assert all("fan" not in style for row in frame.rows for style, _text in row)


def test_subagents_are_dots_over_shared_columns_and_bars_of_their_own() -> None:
    turns = []
    for i in range(24):
        agent = 8 <= i < 14
        turns.append(turn(i, 10_000 if agent else 60_000, 10_000, 0, chain="agent:a" if agent else "main"))
    curve = curve_of(turns, choice=ALL)
    alone = paint(curve, window=Window(level=1, start=0))
    assert "line1" in "".join("".join(colours(alone, row, 9)) for row in range(alone.plot))
    assert texts(alone)[-1][alone.gutter :].rstrip() == "········aaaaaa··········"
    shared = paint(curve, window=Window(level=-12, start=0), height=14)
    assert any("●" in row for row in texts(shared)[: shared.plot])
    # while the subagent works the main line is seen waiting at 60,000
    assert any("─" in row[alone.gutter + 8 : alone.gutter + 14] for row in texts(alone)[: alone.plot])


def test_what_does_not_fit_is_left_out_from_the_least_worth() -> None:
    curve = Curve("s1")
    curve.update(growing(600))
    for height, rows in ((30, ["hit", "all"]), (9, ["hit", "all"]), (7, ["hit"]), (4, [])):
        heads = [row.split()[0] for row in texts(paint(curve, height=height)) if row[:5].strip() in ("hit", "all")]
        assert heads == rows


def test_the_overview_marks_the_visible_part() -> None:
    curve = curve_of([turn(i, 1_000 + i, 0, 0) for i in range(400)])
    frame = paint(curve, window=Window(level=1, start=0), height=20)
    assert frame.overview == len(frame.rows) - 1
    styles = {style[0] for style, _text in frame.rows[frame.overview]}
    assert {"seen", "unseen"} <= styles
    assert colours(frame, frame.overview, 0) == ("seen", "band")


def test_an_empty_curve_has_axis_and_limit() -> None:
    frame = paint(Curve("s1"), width=66, height=12, limit=200_000)
    assert any("limit 200k" in row for row in texts(frame))
    assert "└" in texts(frame)[frame.plot]


def test_a_new_call_is_in_the_next_picture_of_the_same_painter() -> None:
    long = growing(60)
    curve, painter = Curve("s1"), Painter()
    curve.update(msgspec.structs.replace(long, turns=long.turns[:59]))
    before = painter.paint(curve, Window(level=1), 90, 20, Options())
    curve.update(long)
    after = painter.paint(curve, Window(level=1), 90, 20, Options())
    assert (before.extent.stop, after.extent.stop) == (59, 60)
    assert before.rows != after.rows
