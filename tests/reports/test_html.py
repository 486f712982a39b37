"""The HTML report: valid, self-contained, safe against names in logs, a table behind every picture, bounded in size."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from monitor.records import Record
from monitor.reports.html import page
from monitor.reports.replayed import replayed
from monitor.sessions.view import Loaded
from tests.factory import START, call, event
from tests.reports.stories import EVIL, everything, loaded, long_session, totals_session

VOID = {"meta", "link", "br", "img", "input", "hr", "col", "wbr", "source"}
SVG_EMPTY = {"path", "polyline", "polygon", "line", "rect", "circle"}
#: what may not stand inside a paragraph, a summary or a span
BLOCKS = {
    "div",
    "p",
    "table",
    "section",
    "figure",
    "details",
    "ul",
    "ol",
    "dl",
    "h1",
    "h2",
    "h3",
    "main",
    "header",
    "nav",
}


class Page(HTMLParser):
    """Reads a page as strictly as it should have been written."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.faults: list[str] = []
        self.links: list[tuple[str, str, str]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.references: list[str] = []
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(f"never closed: {self.open}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.faults.append(f"<{tag}> has an attribute twice: {names}")
        facts = dict(attrs)
        self.tags.append((tag, facts))
        if tag in BLOCKS and {"p", "span", "summary", "h2", "h3"} & set(self.open):
            self.faults.append(f"<{tag}> inside {self.open[-1]}")
        if tag == "tr" and self.open[-1] not in ("thead", "tbody"):
            self.faults.append("<tr> outside of a table's parts")
        if tag in ("td", "th") and self.open[-1] != "tr":
            self.faults.append(f"<{tag}> outside of a row")
        if facts.get("id") is not None:
            self.ids.append(str(facts["id"]))
        for name in ("aria-labelledby", "aria-describedby", "data-table"):
            self.references += str(facts.get(name) or "").split()
        for name, value in attrs:
            if name.startswith("on"):
                self.faults.append(f"<{tag}> has a handler {name}")
            if name in ("href", "src", "action", "data", "poster", "srcset", "xlink:href"):
                self.links.append((tag, name, value or ""))
        if tag == "svg" and (facts.get("role") != "img" or not facts.get("aria-label")):
            self.faults.append("a picture without a name")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in SVG_EMPTY | VOID:
            self.faults.append(f"<{tag}/> is no empty element")
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> while {self.open[-1:]} is open")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)


def made(*batches: list[Record], **options: object) -> str:
    found, decisions, now = loaded(*batches) if batches else everything()
    return page(found, decisions, now, zone="UTC", **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def whole() -> str:
    found, decisions, now = everything()
    return page(found, decisions, now, zone="UTC", backtest=replayed(found, None))


def test_the_page_is_well_formed(whole: str) -> None:
    for text in (whole, made(long_session()), made(totals_session())):
        read = Page(text)
        assert read.faults == []
        assert len(set(read.ids)) == len(read.ids)
        assert set(read.references) <= set(read.ids)
        assert text.startswith("<!DOCTYPE html>\n<html lang=")
        assert [tag for tag, _ in read.tags].count("h1") == 1
        assert "\ud800" not in text
        text.encode("utf-8")


def test_the_caption_stands_at_the_end_of_its_figure(whole: str) -> None:
    captions = re.findall(r"</figcaption>(\S{9})", whole)  # the standard allows its beginning or its end only
    assert captions and set(captions) == {"</figure>"}


def test_nothing_is_asked_of_anybody(whole: str) -> None:
    read = Page(whole)
    for tag, name, value in read.links:
        assert value.startswith("#") or (tag, value) == ("link", "data:,"), (tag, name, value)
    anchors = {value[1:] for _, _, value in read.links if value.startswith("#")}
    assert anchors <= set(read.ids)
    style = "".join(re.findall(r"<style>(.*?)</style>", whole, re.S))
    assert "url(" not in style
    assert "@import" not in style
    script = re.findall(r"<script>(.*?)</script>", whole, re.S)
    assert len(script) == 1
    assert not re.search(r"fetch|XMLHttp|WebSocket|import\s*\(|sendBeacon|innerHTML|document\.write|eval", script[0])
    assert "http://" not in whole.replace("http-equiv", "")
    assert "https://" not in whole


def test_the_policy_allows_the_pages_own_script_only(whole: str) -> None:
    import base64
    import hashlib

    policy = next(facts["content"] for tag, facts in Page(whole).tags if facts.get("http-equiv"))
    script = re.findall(r"<script>(.*?)</script>", whole, re.S)[0]
    own = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy is not None
    assert f"script-src 'sha256-{own}'" in policy
    assert policy.startswith("default-src 'none'")


def test_names_from_logs_are_text(whole: str) -> None:
    read = Page(whole)
    assert "img" not in {tag for tag, _ in read.tags}
    shown = "".join(read.words)
    assert "<img src=x onerror=alert(1)>|\"'&" in shown  # as people see it
    assert "\x1b" not in whole
    assert EVIL not in whole


def test_every_picture_of_calls_has_its_table(whole: str) -> None:
    read = Page(whole)
    plots = [facts for tag, facts in read.tags if tag == "div" and facts.get("class") == "plot"]
    assert len(plots) == 3  # the session of sums has no curve
    for facts in plots:
        assert facts["data-table"] in read.ids


def cells_of(text: str, id_: str) -> list[list[str]]:
    body = re.search(rf'id="{id_}">.*?<tbody>(.*?)</tbody>', text, re.S)
    assert body is not None
    rows = re.findall(r"<tr>(.*?)</tr>", body[1], re.S)
    return [re.findall(r"<td>(.*?)</td>", row) for row in rows]


def test_the_table_holds_exact_figures() -> None:
    rows = cells_of(made(long_session()), "s1-t")
    assert [row[0] for row in rows] == [str(n) for n in range(10)]
    assert [row[2] for row in rows] == [
        "20,000", "30,000", "40,000", "50,000", "60,000", "70,000", "15,000", "16,000", "17,000", "18,000",
    ]  # fmt: skip
    assert rows[3][3] == "0"
    assert rows[3][-1] == "✖ miss: expired"
    assert rows[6][-1] == "✕ partial: compaction"
    assert rows[1][7] == "67%"  # 20,000 of 30,000


def test_the_curve_is_drawn_to_scale() -> None:
    text = made(long_session())
    # the picture ends 6 % above the window of 200,000: 212,000 tokens are 1,000 units
    total = re.search(r'<path class="fresh" d="M0 1000(.*?)V1000z"', text)
    assert total is not None
    height, seen = 1000, []
    for move, amount in re.findall(r"([vh])(-?\d+)", total[1]):
        if move == "v":
            height += int(amount)
        else:
            seen += [1000 - height] * int(amount)
    want = [20, 30, 40, 50, 60, 70, 15, 16, 17, 18]
    assert len(seen) == 10
    assert all(abs(have - 1000 * size / 212) <= 1 for have, size in zip(seen, want))


def test_marks_stand_where_things_happened() -> None:
    text = made(long_session())
    # no forecast yet, so the ten calls take the whole width: the compaction lies before call 6, the miss in call 3
    assert '<i class="ev-c" style="left:60%" title="compaction, recorded, auto, 70.0k → 15.0k, before turn 6' in text
    assert re.search(r'<i aria-hidden="true" style="left:35%" title="turn 3, ✖ miss: expired', text)


def test_decision_and_balance_are_told() -> None:
    found, decisions, now = loaded(long_session())
    text = page(found, decisions, now, zone="UTC", backtest=replayed(found, None))
    words = " ".join("".join(Page(text).words).split())
    decision = decisions["alpha"]
    assert f"rule {decision.rule}, confidence {decision.confidence}" in words
    assert all(reason in words for reason in decision.reasons)
    assert decision.next in words
    assert "70.0k → 15.0k" in words
    assert "Backtest" in words
    assert "what happened" in words


def test_sums_only_sessions_are_told_honestly(whole: str) -> None:
    words = " ".join("".join(Page(made(totals_session())).words).split())
    assert "logs sums per session only" in words
    assert 'class="plot"' not in made(totals_session())


def test_problems_are_listed_with_what_to_do(whole: str) -> None:
    words = " ".join("".join(Page(whole).words).split())
    assert "the line is not valid JSON" in words
    assert "look at that line" in words


def test_no_session_gives_a_page_all_the_same() -> None:
    text = page(Loaded(sessions=[], problems=[], files=[]), {}, START, zone="UTC")
    assert Page(text).faults == []


def many(sessions: int, calls: int) -> list[list[Record]]:
    """Sessions that grow and are compacted; every 20th call misses the cache."""
    batches: list[list[Record]] = []
    for number in range(sessions):
        name, size = f"s{number}", 20_000
        facts = {"session": name, "file": f"{name}.jsonl"}
        records: list[Record] = []
        for place in range(calls):
            at = START + number * 3_600_000 + place * 20_000
            read = 0 if place % 20 == 19 else size - 1_500
            records.append(call(place, size, max(0, read), key=f"{name}-{place}", time=at, **facts))
            size += 1_500
            if size > 160_000:
                size = 30_000
                records.append(event(place + 0.5, key=f"{name}-e{place}", time=at + 5_000, **facts))
        batches.append(records)
    return batches


def test_large_inputs_stay_small() -> None:
    found, decisions, now = loaded(*many(300, 33))
    text = page(found, decisions, now, zone="UTC")
    assert len(text.encode()) < 5_000_000
    assert text.count('<details class="session"') == 300


def test_a_long_session_is_thinned_and_no_miss_is_lost() -> None:
    text = made(*many(1, 6_000))
    rows = cells_of(text, "s1-t")
    assert len(rows) < 1_500
    # every 20th call misses: 300, and one partial after each compaction is kept as well
    assert sum("✖" in row[-1] for row in rows) == 300
    kept = {int(row[0]) for row in rows}
    assert {0, 5_999} <= kept
    assert set(range(19, 6_000, 20)) <= kept
    assert Page(text).faults == []
    places = re.search(r'data-places="([\d ]+)"', text)
    assert places is not None
    assert [int(n) for n in places[1].split()] == sorted(kept)


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2: linear light of the three channels, weighted."""
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(c * 2 for c in digits)
    parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_formed_as_published() -> None:
    assert contrast("#fff", "#000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_told_from_the_page(whole: str, scheme: str) -> None:
    rules = dict(re.findall(r"color-scheme:(light|dark);([^}]*)", whole))
    colours = dict(re.findall(r"--([a-z]+):(#[0-9a-f]+)", rules[scheme]))
    for ground in ("page", "card"):
        for name in ("ink", "soft", "link", "bad", "good", "comp", "amber"):  # words
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
        for name in ("read", "write", "fresh", "untold", "fan"):  # pictures
            assert contrast(colours[name], colours[ground]) >= 3, (name, ground)
