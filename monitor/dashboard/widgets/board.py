"""The board: puts the panels where the arrangement says. Sizes are decided by a pure function, not by style sheets."""

from __future__ import annotations

from textual import events
from textual.geometry import NULL_OFFSET, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.reactive import Reactive
from textual.widget import Widget

from monitor.dashboard.model.layout import PANELS, Arrangement, Rect, arrange
from monitor.dashboard.widgets.lines import Panel

_NO_MARGIN = Spacing()


def _inside(name: str, rect: Rect, framed: bool) -> Size:
    """What the style sheet leaves of a place after frame and padding."""
    if name == "empty" or (framed and name in PANELS):
        return Size(max(0, rect.width - (2 if name == "chart" else 4)), max(0, rect.height - 2))
    return Size(rect.width, rect.height)


class _Places(Layout):
    """Asks the board for the places of its children."""

    name = "places"

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        assert isinstance(parent, Board)
        places = parent.places(size)
        out: ArrangeResult = []
        for child in children:
            rect = places.get(child.id or "")
            if rect is not None:
                order = 1 if child.id in ("tabs", "filter") else 0
                out.append(WidgetPlacement(Region(*rect), NULL_OFFSET, _NO_MARGIN, child, order))
        return out


class Board(Widget):
    """Container of all panels of the main screen.

    ``active`` is the panel in use, ``tab`` the one that shows where panels share a place, ``alone`` hides all others,
    ``empty`` shows the screen without data, ``filtering`` the line for the filter.
    """

    #: as of the panels
    virtual_size = Reactive(Size(0, 0), repaint=False)

    def __init__(self, *children: Widget, id: str) -> None:
        super().__init__(*children, id=id)
        for child in children:
            if child.id in PANELS:
                child.add_class("panel")
        self._places = _Places()
        self.active = "chart"
        self.tab = "decision"
        self.alone = False
        self.empty = True
        self.filtering = False
        self.arrangement = Arrangement()
        self._arranged: tuple[dict[str, Rect], Arrangement] | None = None

    @property
    def layout(self) -> Layout:
        """Our own layout."""
        return self._places

    @property
    def _room(self) -> Size:
        """The board fills the screen: its size is known before the first layout, which is then the right one."""
        return self.size or self.app.size

    def places(self, size: Size) -> dict[str, Rect]:
        """Places of the children by id, for a size."""
        made = arrange(size.width, size.height, self.active, self.tab, alone=self.alone)
        self.arrangement = made
        places = dict(made.panels)
        if self.empty:
            top = 1 if made.header else 0
            bottom = 1 if made.hints else 0
            body = Rect(0, top, size.width, max(1, size.height - top - bottom))
            places = {"problems": body} if self.alone and self.active == "problems" else {"empty": body}
        elif made.tab_bar is not None:
            places["tabs"] = made.tab_bar
        if made.header is not None:
            places["header"] = made.header
        if made.hints is not None:
            places["hints"] = made.hints
        if self.filtering:
            places["filter"] = Rect(0, size.height - 1, size.width, 1)
        return places

    def on_resize(self, event: events.Resize) -> None:
        """Another size may show other panels."""
        if self.arrange_again():
            self.post_message(Panel.Resized())

    def arrange_again(self) -> bool:
        """Bring what is displayed in line with the arrangement; focus never stays on a hidden panel.

        Returns whether anything has changed.
        """
        places = self.places(self._room)
        arranged = (places, self.arrangement)
        if arranged == self._arranged:  # a new layout draws the whole screen again
            return False
        self._arranged = arranged
        made = self.arrangement
        for child in self.children:
            rect = places.get(child.id or "")
            child.display = rect is not None
            if rect is not None and isinstance(child, Panel):
                child.promise(_inside(child.id or "", rect, made.framed))
        # before the first layout all styles are still to come
        self.set_class(made.framed, "-framed", update=bool(self.size))
        for name in PANELS:
            if name != "chart":  # it says itself what it shows
                shares = name in made.tabs and made.tab_bar is not None
                number, title, _short = PANELS[name]
                self.get_child_by_id(name, Panel).entitle("" if shares else f"{number} {title}")
        self.refresh(layout=True)
        return True

    def shows(self, name: str) -> bool:
        """Whether a panel is on the screen."""
        return self._arranged is not None and name in self._arranged[0]
