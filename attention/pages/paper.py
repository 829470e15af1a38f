"""A figure to take away: how it is set, what it looks like, and its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from attention.exports.paper import FORMS, figure_of, to_bytes, too_many_dots
from attention.figures.paper_panels import panels_from, title_of
from attention.limits import BadInput
from attention.pages import parts, state
from attention.paper import (
    FINEST,
    LARGEST,
    MOST_DIGITS,
    MOST_LETTERS,
    SHARES,
    SIGNS,
    SIZES,
    SMALLEST,
    WIDEST,
    Paper,
)
from attention.session.about import About, what_it_is
from attention.session.settings import Settings
from attention.stages import STAGES
from attention.trace import AttentionTrace

if TYPE_CHECKING:
    from attention.figures.paper_drawing import PaperFigure

Tell = Callable[[float], object]
Draw = Callable[[Paper, Tell], "PaperFigure"]
SIZE_LABELS = {"column": "paper column", "text": "paper page", "slide": "slide", "own": "own width"}
LIMIT_LABELS = {"stage": "0…1, or the stage's", "data": "the data's", "own": "own"}
PREVIEW, LONGEST = 192, 2400  # dots per inch and in all of its longer side
PATIENCE = 0.5  # seconds before a bar says how far it is
RESOLUTIONS = (150, 300, 600)


class Control(NamedTuple):
    """The control of one setting, by the name it has in ``Paper``."""

    widget: Callable[..., Any]
    label: str
    help: str
    options: Mapping[str, Any] = {}


_CM = {"min_value": SMALLEST, "max_value": WIDEST, "step": 0.5, "width": 145, "format": "%.2f"}
_PT = {"min_value": FINEST, "max_value": LARGEST, "step": 0.5, "width": 145, "format": "%.1f"}
_COUNT = {"min_value": 0, "max_value": MOST_DIGITS, "width": 110}
_WORDS = {"max_chars": MOST_LETTERS}
_EVEN = "The first is the default; all are safe for the colour-blind, their ends unlike in grey."
CONTROLS = {
    "width": Control(st.number_input, "Width in cm", "As the journal asks for it.", _CM),
    "height": Control(
        st.number_input,
        "Height at most, in cm",
        "What does not fit into it is refused; lower figures stay as low as they are.",
        _CM,
    ),
    "font_size": Control(st.number_input, "Letters in pt", "The size of all words.", _PT),
    "tick_size": Control(st.number_input, "Labels in pt", "Beside the axes and bars.", _PT),
    "numbers": Control(st.toggle, "numbers", "In the cells, where they can be read."),
    "bar": Control(st.toggle, "colour bar", "Says which colour is which number."),
    "logarithmic": Control(st.toggle, "log", "Equal ratios of weights are equal steps of colour."),
    "digits": Control(st.number_input, "Decimals", "Of the numbers in the cells.", _COUNT),
    "shares": Control(st.selectbox, "Colours of weights", _EVEN, {"options": SHARES, "width": 170}),
    "signs": Control(st.selectbox, "Colours of signs", _EVEN, {"options": SIGNS, "width": 170}),
    "letters": Control(st.toggle, "(a), (b) …", "A letter before each of several panels."),
    "axis_titles": Control(st.toggle, "axis titles", "What the rows and the columns are."),
    "count_repeats": Control(
        st.toggle, "count repeats", "Words that repeat are told apart, as “the (1)”."
    ),
    "query": Control(
        st.text_input, "Queries are called", "The title of their axis.", _WORDS | {"width": 170}
    ),
    "key": Control(
        st.text_input, "Keys are called", "The title of their axis.", _WORDS | {"width": 170}
    ),
    "bar_title": Control(
        st.text_input,
        "The bar is called",
        "Its title; without one, the name of the stage.",
        _WORDS | {"width": 170},
    ),
    "title": Control(st.text_input, "Title", "Stands over the figure.", _WORDS),
    "caption": Control(st.text_area, "Caption", "Stands below the figure, in lines.", _WORDS),
}
SIZES_ROW = ("height", "font_size", "tick_size")
CELLS = ("numbers", "bar", "digits"), ("shares", "signs")
ALL = ("numbers", "bar", "logarithmic", "digits"), ("shares", "signs")
WORDS = ("letters", "axis_titles", "count_repeats"), ("query", "key", "bar_title")


def stages_and_heads(s: Settings, trace: AttentionTrace, stages: Sequence[str], name: str) -> None:
    """The figure of Explore: any stages of any heads."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        _stages(s, list(stages))
        if s.heads > 1:
            _heads(s)
        _size(s.paper)
        _rows(s.paper, *ALL)
        _range(s.paper)
        _rows(s.paper, *WORDS, ("title",), ("caption",))
        saved = _saved()
    seen = replace(s, query=0, cell=None), dict(s.names)
    with right, st.container(key="paper_preview"):
        _show(name, seen, s.paper, lambda _, tell: figure_of(s, trace, tell), saved)


def offer(
    s: Settings, panes: Sequence[Mapping[str, Any]], filename: str, about: About | None = None
) -> None:
    """The section behind a switch, for pages with other things to show.

    Its files say what they are by ``about``, without which they are of Explore's state.
    """
    opened = state.page_control(
        st.toggle,
        "Save a figure",
        f"paper_open_{filename}",
        False,
        help="Shows what stands above as a figure to print, and saves it.",
    )
    if not opened:
        return
    charts = panes[0]["group"] == "charts"
    left, right = st.columns([2, 3], gap="large")
    with left:
        kept = _panes(panes, f"paper_panes_{filename}", charts)
        _size(s.paper)
        _rows(s.paper, *(() if charts else CELLS), ("letters", "axis_titles")[: 1 + charts])
        own: dict[str, Any] = {name: _own_words(name, filename) for name in TITLES}
        saved = _saved()
    paper = replace(s.paper, **own)
    said = about or what_it_is(s)
    with right, st.container(key="paper_preview"):
        _show(filename, (paper, kept, said), paper, partial(_drawn_panes, kept, said), saved)


TITLES = ("title", "caption")


def _own_words(name: str, filename: str) -> str:
    """The title or the caption of a page that has its own."""
    widget, label, help, options = CONTROLS[name]
    key = f"paper_{name}_{filename}"
    return str(state.page_control(widget, label, key, "", help=help, **options))


def _panes(panes: Sequence[Mapping[str, Any]], name: str, charts: bool) -> list[Mapping[str, Any]]:
    """Those of a page that were chosen; at first one chart, or all heatmaps."""
    labels = {
        pane["name"]: f"{k}. {parts.plain(title_of(pane, panes))}"
        for k, pane in enumerate(panes, 1)
    }
    chosen = state.page_control(
        st.pills,
        "On it",
        name,
        [panes[0]["name"]] if charts else [],
        options=list(labels),
        selection_mode="multi",
        format_func=labels.__getitem__,
        help="What stands on the figure. None chosen: all of it.",
    )
    return [pane for pane in panes if pane["name"] in chosen] or list(panes)


def _drawn_panes(
    panes: list[Mapping[str, Any]], about: About, paper: Paper, tell: Tell
) -> PaperFigure:
    from attention.figures.paper_charts import draw_charts
    from attention.figures.paper_drawing import draw

    if panes[0]["group"] == "charts":
        figure = draw_charts(panes, paper, tell)
    else:
        figure = draw(panels_from(panes, paper), paper, tell)
    figure.about = about
    return figure


# ---- settings ------------------------------------------------------------------------------------


def _rows(paper: Paper, *rows: Sequence[str]) -> None:
    """Controls of these settings, row by row."""
    shown = {"width": float(paper.size[0]), "height": float(paper.size[1])}
    shown |= {"font_size": float(paper.font), "tick_size": float(paper.tick)}
    for row in rows:
        with st.container(horizontal=True):
            for name in row:
                widget, label, help, options = CONTROLS[name]
                value = shown.get(name, getattr(paper, name))
                value = "" if value is None else value
                change, key = partial(_changed, name), f"paper_{name}"
                state.setting_control(widget, label, key, value, change, help=help, **options)


def _changed(name: str, settings: Settings, moved_to: Any) -> Settings:
    moved: dict[str, Any] = {name: moved_to or None if name == "bar_title" else moved_to}
    return replace(settings, paper=replace(settings.paper, **moved))


def _stages(s: Settings, there: list[str]) -> None:
    labels = {name: parts.plain(STAGES[name].heading) for name in there}
    state.setting_control(
        st.pills,
        "Stages on it",
        "paper_stages",
        [name for name in s.paper_stages if name in there],
        lambda settings, names: replace(settings, paper_stages=tuple(names)),
        options=there,
        selection_mode="multi",
        format_func=labels.__getitem__,
        help="Which matrices stand on the figure. None chosen: all of them.",
    )


def _heads(s: Settings) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.setting_control(
            st.pills,
            "Heads on it",
            "paper_heads",
            list(s.paper_heads),
            lambda settings, heads: replace(settings, paper_heads=tuple(heads)),
            options=list(range(s.heads)),
            selection_mode="multi",
            format_func=lambda head: str(head + 1),
            help="Which heads stand on the figure. None chosen: the one shown on the board.",
        )
        state.button(
            "All heads",
            "paper_all_heads",
            state.change,
            (lambda settings: replace(settings, paper_heads=tuple(range(settings.heads))),),
            help="Every head: one stage of them is a grid with one colour bar.",
        )


def _size(paper: Paper) -> None:
    def chosen(settings: Settings, name: str) -> Settings:
        width = settings.paper.size[0] if name == "own" else name
        usual = replace(settings.paper, width=width, height=0, font_size=0, tick_size=0)
        return replace(settings, paper=usual)

    is_own = not isinstance(paper.width, str)
    state.setting_control(
        st.segmented_control,
        "Made for a",
        "paper_size",
        "own" if is_own else paper.width,
        chosen,
        options=[*SIZES, "own"],
        required=True,
        format_func=SIZE_LABELS.__getitem__,
        help="Sets the width, the greatest height and the letters, which you may then change.",
    )
    _rows(paper, ("width",) * is_own + SIZES_ROW)


def _range(paper: Paper) -> None:
    is_own = not isinstance(paper.limits, str)

    def chosen(settings: Settings, name: str) -> Settings:
        limits: str | tuple[float, float] = name
        if name == "own":
            limits = (0.0 if settings.paper_stages == ("weights",) else -1.0, 1.0)
        return replace(settings, paper=replace(settings.paper, limits=limits))

    state.setting_control(
        st.segmented_control,
        "Range of colours",
        "paper_range",
        "own" if is_own else paper.limits,
        chosen,
        options=list(LIMIT_LABELS),
        required=True,
        format_func=LIMIT_LABELS.__getitem__,
        help="From which number to which the colours go.",
    )
    if not isinstance(paper.limits, str):
        with st.container(horizontal=True):
            for k, label in enumerate(("Lowest", "Highest")):
                state.setting_control(
                    st.number_input,
                    label,
                    f"paper_{label.lower()}",
                    float(paper.limits[k]),
                    partial(_end_of_range, k),
                    help=f"The {label.lower()} number that has a colour of its own.",
                    width=145,
                )


def _end_of_range(k: int, settings: Settings, moved_to: float) -> Settings:
    limits = settings.paper.limits
    if isinstance(limits, str):  # chosen meanwhile
        return settings
    ends = (moved_to, limits[1]) if k == 0 else (limits[0], moved_to)
    return replace(settings, paper=replace(settings.paper, limits=ends))


class Saved(NamedTuple):
    """How a figure becomes a file."""

    dpi: int
    outlines: bool


def _saved() -> Saved:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dpi = state.page_control(
            st.segmented_control,
            "PNG, dots per inch",
            "paper_dpi",
            300,
            options=list(RESOLUTIONS),
            required=True,
            help="More are sharper and larger; journals ask for 300 to 600.",
        )
        outlines = state.page_control(
            st.toggle,
            "SVG with outlines",
            "paper_outlines",
            False,
            help="Letters as shapes: alike everywhere, but no text that can be edited.",
        )
    return Saved(dpi, outlines)


# ---- the figure ----------------------------------------------------------------------------------


def _show(name: str, seen: Any, paper: Paper, draw: Draw, saved: Saved) -> None:
    """The preview, what could not be shown, and the files; or why there is no figure."""
    try:
        figure, preview = _drawn(name, seen, paper, draw)
        state.set_page_value("paper_saved", (figure, saved))
    except BadInput as problem:
        parts.message_box("refused", state.capital(str(problem)))
        return
    wide, tall = (2.54 * float(inches) for inches in figure.get_size_inches())
    too_many = too_many_dots(figure, saved.dpi)
    with st.container(horizontal=True):
        for form, (label, help) in FILES.items():
            st.download_button(
                label,
                partial(_file, state.page_values_at_rest(), form),
                f"{name}.{form}",
                FORMS[form],
                on_click="ignore",
                key=f"take_{form}",
                help=help,
                disabled=form == "png" and bool(too_many),
            )
    st.image(preview, caption=f"{wide:.2f} × {tall:.2f} cm")
    for note in (*figure.notes, *([state.capital(too_many)] if too_many else [])):
        parts.message_box("flag", note)


def _file(values_at_rest: Callable[[], dict[str, Any]], form: str) -> bytes:
    """The figure that is seen in the end, where the press follows a change at once."""
    figure, saved = values_at_rest()["paper_saved"]
    return to_bytes(figure, form, dpi=saved.dpi, outlines=saved.outlines)


FILES = {
    "pdf": ("Save as PDF", "A page of exactly this size, its fonts in it."),
    "svg": ("Save as SVG", "To edit further, in Inkscape or Illustrator."),
    "png": ("Save as PNG", "Dots, for a slide or a text program."),
}


def _drawn(name: str, seen: Any, paper: Paper, draw: Draw) -> tuple[PaperFigure, bytes]:
    """The figure and its preview; that of the last run where nothing changed."""
    kept = state.page_value("paper_drawn", None)
    if kept and kept[0] == (name, seen):
        return kept[1]
    place, begun = st.empty(), time.monotonic()

    def tell(share: float) -> None:
        if time.monotonic() - begun > PATIENCE:
            place.progress(share, "Drawing …")

    figure, file = draw(paper, tell), BytesIO()
    tell(1.0)
    figure.savefig(file, format="png", dpi=min(PREVIEW, LONGEST / max(figure.get_size_inches())))
    place.empty()
    state.set_page_value("paper_drawn", ((name, seen), (figure, file.getvalue())))
    return figure, file.getvalue()
