"""A figure to take away: how it is set, what it looks like, and its files."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

import streamlit as st

from attention.exports.paper import FORMS, figure_of, to_bytes, too_many_dots
from attention.figures.paper_panels import panels_of, subscripted, title_of
from attention.limits import BadInput
from attention.pages import parts, state
from attention.paper import MOST_LETTERS, SIZES, Paper
from attention.session.about import About, what_it_is
from attention.session.settings import Settings
from attention.stages import STAGES
from attention.trace import AttentionTrace

if TYPE_CHECKING:
    from attention.figures.paper_sheet import PaperFigure

Tell = Callable[[float], object]
ROWS = (
    ("width", "height", "font_size", "tick_size"),
    ("numbers", "bar", "logarithmic"),
    ("limits", "lowest", "highest"),
    ("shares", "signs"),
    ("letters", "axis_titles", "count_repeats"),
    ("query", "key", "bar_title"),
)
OF_CHARTS = {*ROWS[0], "letters", "axis_titles"}
OF_STAGES = {"axis_titles", "count_repeats", "query", "key"}  # alone
NAMES = {"column": "paper column", "text": "paper page"}  # others are called as they are
NAMES |= {"stage": "0…1, or the stage's", "data": "the data's", "orange_blue": "orange, blue"}
PREVIEW, LONGEST = 192, 2400  # dots per inch and in all of its longer side
LOADING = "Matplotlib is loaded and lists the fonts, once …"
WAITING = "The figure is drawn, after those that others asked for …"
PATIENCE = 0.5  # seconds before a bar says how far it is
RESOLUTIONS = (150, 300, 600)
FILES = {
    "pdf": ("Save as PDF", "A page of exactly this size, its fonts in it."),
    "svg": ("Save as SVG", "To edit further, in Inkscape or Illustrator."),
    "png": ("Save as PNG", "For a slide or a text program; of this size to a dot."),
}


def stages_and_heads(s: Settings, trace: AttentionTrace, stages: Sequence[str], name: str) -> None:
    """The figure of Explore: any stages of any heads."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        labels = {name: parts.plain(STAGES[name].heading) for name in stages}
        _pills(s, "Stages on it", "paper_stages", labels, "Which matrices. None chosen: all.")
        if s.heads > 1:
            heads = {head: str(head + 1) for head in range(s.heads)}
            with st.container(horizontal=True, vertical_alignment="bottom"):
                none = "Which heads. None chosen: the one shown on the board."
                _pills(s, "Heads on it", "paper_heads", heads, none)
                state.button(
                    "All heads",
                    "paper_all_heads",
                    state.change,
                    (lambda settings: replace(settings, paper_heads=tuple(range(settings.heads))),),
                    help="Every head: one stage of them is a grid with one colour bar.",
                )
        _settings(s.paper, {name for row in ROWS for name in row})
        for words in ("title", "caption"):
            _control(s.paper, words)
        saved = _saved()
    seen = replace(s, query=0, cell=None), dict(s.names)
    with right, st.container(key="paper_preview"):
        _show(name, seen, lambda tell: figure_of(s, trace, tell), saved)


def offer(
    s: Settings, panes: Sequence[Mapping[str, Any]], filename: str, about: About | None = None
) -> None:
    """The section behind a switch, for pages with other things to show.

    Its files say what they are by ``about``, without which they are of Explore's state.
    """
    help = "Shows what stands above as a figure to print, and saves it."
    opened = f"paper_open_{filename}"
    if not state.page_control(st.toggle, "Save a figure", opened, False, help=help):
        return
    is_charts = panes[0]["group"] == "charts"
    left, right = st.columns([2, 3], gap="large")
    with left:
        kept = _chosen(panes, f"paper_panes_{filename}", is_charts)
        fit = OF_CHARTS if is_charts else {name for row in ROWS for name in row} - OF_STAGES
        _settings(s.paper, fit)
        words = {}
        for name in ("title", "caption"):  # of this page alone
            widget, label, options = _widget(name)
            key = f"paper_{name}_{filename}"
            words[name] = state.page_control(widget, label, key, "", **options)
        saved = _saved()
    paper, said = replace(s.paper, **words), about or what_it_is(s)
    titles = [subscripted(title_of(pane, panes)) for pane in kept]

    def draw(tell: Tell) -> PaperFigure:
        from attention.figures.paper_charts import draw_charts
        from attention.figures.paper_drawing import draw

        figure = (
            draw_charts(kept, paper, tell)
            if is_charts
            else draw(panels_of(kept, titles, paper), paper, tell)
        )
        figure.about = said
        return figure

    with right, st.container(key="paper_preview"):
        _show(filename, (paper, kept, said), draw, saved)


# ---- settings ------------------------------------------------------------------------------------


def _settings(paper: Paper, fit: set[str]) -> None:
    """The controls of those settings that fit what is drawn, row by row."""
    sizes = (name for name, size in SIZES.items() if size.items() <= vars(paper).items())
    state.setting_control(
        st.segmented_control,
        "Made for a",
        "paper_size",
        next(sizes, None),
        _sized,
        options=list(SIZES),
        format_func=_named,
        help="Sets the width, the greatest height and the letters, which you may then change.",
    )
    if paper.limits != "own":
        fit = fit - {"lowest", "highest"}
    for row in ROWS:
        if fit & set(row):
            with st.container(horizontal=True):
                for name in row:
                    if name in fit:
                        _control(paper, name)


def _sized(settings: Settings, name: str | None) -> Settings:
    if name is None:  # pressed again
        return settings
    sizes = SIZES[name] | {"tick_size": None}  # which follows the letters
    return replace(settings, paper=replace(settings.paper, **sizes))


def _control(paper: Paper, name: str) -> None:
    """The control of one setting."""
    widget, label, options = _widget(name)
    value = getattr(paper, name)
    value = value if isinstance(value, (bool, str)) else float(value)

    def changed(settings: Settings, moved_to: Any) -> Settings:
        follows = {"tick_size": None} if name == "font_size" else {}
        return replace(settings, paper=replace(settings.paper, **{name: moved_to} | follows))

    state.setting_control(widget, label, f"paper_{name}", value, changed, **options)


def _widget(name: str) -> tuple[Callable[..., Any], str, dict[str, Any]]:
    """Which control a setting has, its label and its options, from what ``Paper`` says of it."""
    said = Paper.__dataclass_fields__[name].metadata
    allowed, options = said["allowed"], {"help": said["help"]}
    if allowed is bool:
        return st.toggle, said["label"], options
    if allowed is str:
        wide = {} if name in ("title", "caption") else {"width": 170}
        widget = st.text_area if name == "caption" else st.text_input
        return widget, said["label"], options | wide | {"max_chars": MOST_LETTERS}
    if isinstance(allowed[0], str):
        options |= {"options": allowed, "format_func": _named, "width": 190}
        return st.selectbox, said["label"], options
    bounds = {"min_value": allowed[0], "max_value": allowed[1], "step": 0.5, "format": "%g"}
    return st.number_input, said["label"], options | bounds | {"width": 145}


def _named(choice: str) -> str:
    return NAMES.get(choice, choice)


def _pills(s: Settings, label: str, name: str, labels: Mapping[Any, str], help: str) -> None:
    """Several of what is there, kept under that name."""

    def changed(settings: Settings, chosen: Sequence) -> Settings:
        kept: dict[str, Any] = {name: tuple(chosen)}
        return replace(settings, **kept)

    shown = [one for one in getattr(s, name) if one in labels]
    options = {"options": list(labels), "format_func": labels.__getitem__, "help": help}
    state.setting_control(st.pills, label, name, shown, changed, selection_mode="multi", **options)


def _chosen(
    panes: Sequence[Mapping[str, Any]], name: str, is_charts: bool
) -> list[Mapping[str, Any]]:
    """Those of a page that were chosen; at first one chart, or all heatmaps."""
    labels = {
        pane["name"]: f"{k}. {parts.plain(title_of(pane, panes))}"
        for k, pane in enumerate(panes, 1)
    }
    chosen = state.page_control(
        st.pills,
        "On it",
        name,
        [panes[0]["name"]] if is_charts else [],
        options=list(labels),
        selection_mode="multi",
        format_func=labels.__getitem__,
        help="What stands on the figure. None chosen: all of it.",
    )
    return [pane for pane in panes if pane["name"] in chosen] or list(panes)


def _saved() -> dict[str, Any]:
    """How the figure becomes a file."""
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
        help = "Letters as shapes: alike everywhere, but no text that can be edited."
        outlines = state.page_control(
            st.toggle, "SVG with outlines", "paper_outlines", False, help=help
        )
    return {"dpi": dpi, "outlines": outlines}


# ---- the figure ----------------------------------------------------------------------------------


def _show(name: str, seen: Any, draw: Callable[[Tell], PaperFigure], saved: dict[str, Any]) -> None:
    """The preview, what could not be shown, and the files; or why there is no figure."""
    try:
        figure, preview = _drawn((name, seen), draw)
    except BadInput as problem:
        state.set_page_value("paper_saved", None)
        parts.message_box("refused", state.capital(str(problem)))
        return
    state.set_page_value("paper_saved", (figure, saved))
    wide, tall = (2.54 * float(inches) for inches in figure.get_size_inches())
    too_many = too_many_dots(figure, saved["dpi"])
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
    for note in (*figure.notes, *filter(None, [state.capital(too_many)])):
        parts.message_box("flag", note)


def _file(values_at_rest: Callable[[], dict[str, Any]], form: str) -> bytes:
    """The figure that is seen in the end, where the press follows a change at once."""
    kept = values_at_rest()["paper_saved"]
    if kept is None:  # the page says why
        raise BadInput("there is no figure of these settings.")
    return to_bytes(kept[0], form, **kept[1])


def _drawn(seen: Any, draw: Callable[[Tell], PaperFigure]) -> tuple[PaperFigure, bytes]:
    """The figure and its preview; that of the last run where nothing changed."""
    kept = state.page_value("paper_drawn", None)
    if kept and kept[0] == seen:
        return kept[1]
    place, begun = st.empty(), time.monotonic()
    is_loaded = "matplotlib.figure" in sys.modules

    def tell(share: float) -> None:
        if time.monotonic() - begun > PATIENCE:
            place.progress(share, "Drawing …")

    try:
        with st.spinner(WAITING if is_loaded else LOADING):
            figure, file = draw(tell), BytesIO()
            tell(1.0)
            dpi = min(PREVIEW, LONGEST / max(figure.get_size_inches()))
            figure.savefig(file, format="png", dpi=dpi)
    finally:  # a figure may be refused
        place.empty()
    state.set_page_value("paper_drawn", (seen, (figure, file.getvalue())))
    return figure, file.getvalue()
