"""The keys of the main screen in one list: bindings, help, hints and command palette are all made from it."""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding


class Key(NamedTuple):
    """A key (several with commas), what it does, where the help lists it, and its words in the line of hints."""

    id: str
    keys: str
    action: str
    text: str
    group: str
    hint: str = ""
    worth: int = 99  # in the hints: small numbers stay longest


MOVE, JUMP, CHART, PANELS, LISTS, LIVE, OTHER = (
    "Move", "Jump", "Chart", "Panels", "Lists", "Live", "More",
)  # fmt: skip

KEYS: tuple[Key, ...] = (
    Key("turn.previous", "left,h", "move(-1)", "previous turn (one API call)", MOVE, "turn", 2),
    Key("turn.next", "right,l", "move(1)", "next turn", MOVE),
    Key("turn.back", "shift+left,H", "move(-10)", "ten turns back", MOVE),
    Key("turn.forward", "shift+right,L", "move(10)", "ten turns forward", MOVE),
    Key("turn.first", "home,g", "first", "first turn", MOVE),
    Key("turn.last", "end,G", "last", "newest turn, and follow", MOVE),
    Key("session.previous", "less_than_sign", "session(-1)", "previous session of the list", MOVE),
    Key("session.next", "greater_than_sign", "session(1)", "next session of the list", MOVE),
    Key(
        "reset.previous",
        "left_square_bracket",
        "jump('reset',-1)",
        "previous compaction or trim",
        JUMP,
        "compaction",
        4,
    ),
    Key("reset.next", "right_square_bracket", "jump('reset',1)", "next compaction or trim", JUMP),
    Key("miss.next", "n", "jump('miss',1)", "next cache miss", JUMP, "miss", 5),
    Key("miss.previous", "N", "jump('miss',-1)", "previous cache miss", JUMP),
    Key("error.next", "e", "jump('error',1)", "next error", JUMP),
    Key("error.previous", "E", "jump('error',-1)", "previous error", JUMP),
    Key("zoom.in", "plus,equals_sign", "zoom(1)", "zoom in", CHART, "zoom", 7),
    Key("zoom.out", "minus", "zoom(-1)", "zoom out", CHART),
    Key("zoom.auto", "backspace", "fit(False)", "readable part of the history", CHART),
    Key("zoom.all", "0", "fit(True)", "whole history", CHART),
    Key("pan.left", "left_curly_bracket", "pan(-20)", "window to the left", CHART),
    Key("pan.right", "right_curly_bracket", "pan(20)", "window to the right", CHART),
    Key("chart.share", "s", "share", "shares of each prompt, 0-100 %", CHART, "share", 10),
    Key("chart.scale", "v", "scale", "scale: automatic, limit, visible", CHART),
    Key("chart.line", "a", "chain(1)", "next line: main, all, each subagent", CHART, "agents", 9),
    Key("chart.line_back", "A", "chain(-1)", "previous line", CHART),
    Key("panel.sessions", "1", "panel('sessions')", "sessions", PANELS),
    Key("panel.chart", "2", "panel('chart')", "chart", PANELS),
    Key("panel.decision", "3", "panel('decision')", "decision", PANELS),
    Key("panel.forecast", "4", "panel('forecast')", "forecast", PANELS),
    Key("panel.mix", "5", "panel('mix')", "composition", PANELS),
    Key("panel.turns", "6", "panel('turns')", "turns", PANELS),
    Key("panel.turn", "7", "panel('turn')", "the turn under the cursor", PANELS),
    Key("panel.events", "8", "panel('events')", "compactions and other events", PANELS),
    Key("panel.problems", "9,p", "panel('problems')", "what could not be read", PANELS),
    Key("panel.alone", "z", "alone", "this panel alone, and back", PANELS, "alone", 12),
    Key("panel.next", "tab", "focus_step(1)", "next panel", PANELS),
    Key("panel.previous", "shift+tab", "focus_step(-1)", "previous panel", PANELS),
    Key("list.filter", "slash", "filter", "filter the sessions", LISTS, "filter", 6),
    Key("list.sort", "o", "sort", "order: of the sessions, or of the turns when they are in use", LISTS, "order", 11),
    Key("list.only", "b", "only", "turns: all, this line, misses, errors, compactions", LISTS),
    Key("live.follow", "f", "follow", "follow the newest turn", LIVE, "follow", 3),
    Key("live.newest", "F", "newest", "always show the session that was active last", LIVE),
    Key("live.pause", "space", "pause", "hold the screen, and go on", LIVE, "pause", 13),
    Key("why", "w", "why", "why: the decision's rules with their numbers", OTHER, "why", 5),
    Key("backtest", "B", "backtest", "backtest: what other policies would have cost", OTHER),
    Key("compact", "c", "compact", "compact: preview, then write a new file beside", OTHER, "compact", 6),
    Key("compact.file", "C", "compact_file", "compact another file, by its path", OTHER),
    Key("copy", "y", "copy", "copy the turn as JSON", OTHER, "copy", 14),
    Key("theme", "t", "theme", "dark or light", OTHER),
    Key("palette", "ctrl+p", "app.command_palette", "every command by name", OTHER, "palette", 8),
    Key("help", "question_mark,f1", "help", "this help", OTHER, "help", 0),
    Key("back", "escape", "back", "close, or back to the chart", OTHER),
    Key("quit", "q,ctrl+q,ctrl+c", "app.quit", "quit", OTHER, "quit", 1),
)

#: keys that are there only with something that compacts
COMPACT_KEYS = frozenset({"compact", "compact.file"})

#: keys with another face than their name
_FACES = {
    "left": "←", "right": "→", "up": "↑", "down": "↓", "shift+left": "⇧←", "shift+right": "⇧→", "slash": "/",
    "question_mark": "?", "plus": "+", "minus": "-", "equals_sign": "=", "less_than_sign": "<",
    "greater_than_sign": ">", "left_square_bracket": "[", "right_square_bracket": "]", "left_curly_bracket": "{",
    "right_curly_bracket": "}", "pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End", "tab": "Tab",
    "shift+tab": "⇧Tab", "escape": "Esc", "enter": "Enter", "space": "Space", "backspace": "Bksp", "ctrl+p": "^p",
    "ctrl+q": "^q", "ctrl+c": "^c", "f1": "F1",
}  # fmt: skip


def face(key: str) -> str:
    """A key as it is written on the screen."""
    key = key.strip()
    return _FACES.get(key, key)


def bindings() -> list[Binding]:
    """The list as Textual wants it; ids let a key map move each of them."""
    return [Binding(key.keys, key.action, key.text, id=key.id, show=False) for key in KEYS]


#: two keys of one matter are one hint
_PAIRS = {"turn.previous": "←→", "reset.previous": "[ ]", "zoom.in": "+-"}


def hints(hidden: frozenset[str], keymap: dict[str, str]) -> list[tuple[int, str, str, str]]:
    """The hints as (worth, key, words, action)."""
    out = []
    for key in KEYS:
        if key.hint and key.id not in hidden:
            shown = face((keymap.get(key.id) or key.keys).split(",")[0])
            if key.id in _PAIRS and key.id not in keymap:
                shown = _PAIRS[key.id]
            out.append((key.worth, shown, key.hint, key.action))
    return out
