"""A figure to take away: how it is set, what it looks like, and its files."""

from __future__ import annotations

import sys
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import streamlit as st

from attention.core.trace import AttentionTrace
from attention.exports.paper import FORMS, figure_of, to_bytes, too_many_dots
from attention.figures.panes.pane import Pane
from attention.figures.paper.figure import of_panes
from attention.figures.paper.panels import title_of
from attention.figures.plotly.charts import Chart
from attention.limits import MAX_CAPTION, BadInput
from attention.pages.frame import pieces, state
from attention.pages.panels.controls import field
from attention.paper import SIZES, Paper
from attention.session.state.about import About, what_it_is
from attention.session.state.settings import Settings
from attention.vocabulary.sentences import capital
from attention.vocabulary.stages import STAGES

if TYPE_CHECKING:
    from attention.figures.paper.sheet import PaperFigure

ROWS = (
    ("width", "height", "font_size", "tick_size"),
    ("numbers", "bar", "logarithmic"),
    ("limits", "lowest", "highest"),
    ("shares", "signs"),
    ("letters", "axis_titles", "count_repeats"),
    ("query", "key", "bar_title"),
)
WORDS = ("title", "caption")
ALL = {name for row in ROWS for name in row}
OF_CHARTS = {*ROWS[0], "letters", "axis_titles"}
OF_HEATMAPS = ALL - {"axis_titles", "count_repeats", "query", "key"}  # those are of stages alone
OF_GRID = ALL - {"count_repeats", "letters", "numbers", "signs"}
NAMES = {"column": "paper column", "text": "paper page"}  # others are called as they are
NAMES |= {"stage": "0…1 or symmetric", "data": "min to max", "own": "custom"}
NAMES |= {"orange_blue": "orange, blue"}
EMPTY = {"bar_title": "name of the stage"}  # what stands there where nothing is typed
PREVIEW, LONGEST = 192, 2400  # dots per inch and in all of its longer side
SOON = 0.5  # seconds in which a figure needs no bar
LOADING = "Loading Matplotlib and listing the fonts (first time only)"
WAITING = "Drawing the figure; figures requested earlier come first"
WHOLE, OVER_PATCHES = -1, "Query, over the patches of the picture"
RESOLUTIONS = (150, 300, 600)
FILES = {"pdf": "Save as PDF", "svg": "Save as SVG", "png": "Save as PNG"}


def stages_and_heads(s: Settings, trace: AttentionTrace, stages: Sequence[str], name: str) -> None:
    """The figure of Explore: any stages of any heads."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        labels = {name: pieces.plain(STAGES[name].heading) for name in stages}
        _pills(s, "Stages (none chosen: all)", "paper_stages", labels)
        if s.heads > 1:
            heads = {head: str(head) for head in range(s.heads)}
            with st.container(horizontal=True, vertical_alignment="bottom"):
                _pills(s, "Heads (none chosen: the one on the board)", "paper_heads", heads)
                state.button("All heads", "paper_all_heads", state.change, (_all_heads,))
        _settings(s.paper, ALL)
        for words in WORDS:
            _control(s.paper, words)
    with right, st.container(key="paper_preview"):
        seen = replace(s, query=0, cell=None), dict(s.names)
        _show(name, seen, partial(figure_of, s, trace))


def _all_heads(settings: Settings) -> Settings:
    return replace(settings, paper_heads=tuple(range(settings.heads)))


def offer(
    s: Settings,
    panes: Sequence[Pane] | Sequence[Chart],
    filename: str,
    about: About | None = None,
    suffix: str = "",
    rival: str = "",
) -> None:
    """The section behind a switch, for pages with other things to show.

    Its files say what they are by ``about``, without which they are of Explore's state; their names
    end in ``suffix``. ``rival`` is the file name of another section of the page.
    """
    if not _is_open("Save a figure", filename, rival):
        return
    is_charts = isinstance(panes[0], Chart)
    left, right = st.columns([2, 3], gap="large")
    with left:
        titled = {pane.name: pieces.plain(title_of(pane, panes)) for pane in panes}
        labels = {name: f"{k}. {title}" for k, (name, title) in enumerate(titled.items(), 1)}
        options = _several(labels)
        first = [panes[0].name] if is_charts else []
        chosen = state.page_control(
            st.pills, "Panels (none chosen: all)", f"paper_panes_{filename}", first, **options
        )
        paper = _designed(s, filename, OF_CHARTS if is_charts else OF_HEATMAPS)
    said = (about or what_it_is(s)).lines()[1:]
    kept = [pane for pane in panes if pane.name in chosen] or list(panes)
    with right, st.container(key="paper_preview"):
        _show(
            filename + suffix, (paper, kept, said), partial(of_panes, kept, paper, "; ".join(said))
        )


def offer_maps(
    s: Settings,
    filename: str,
    maps: Mapping[str, str],
    seen: Any,
    draw: Callable[..., PaperFigure],
    suffix: str = "",
    rival: str = "",
    queries: Sequence[str] = (),
) -> None:
    """The section behind a switch that saves small maps, all or those that are chosen.

    ``maps`` are their labels by what ``draw(chosen, query, paper)`` gets, none of them for all; it
    is called again where these or ``seen`` are others. ``queries`` are the labels of those whose
    row may be drawn over the patches of a picture; ``query`` is the number of one, or None for
    whole maps. ``suffix`` and ``rival`` as of :func:`offer`.
    """
    if not _is_open("Save these maps", filename, rival):
        return
    left, right = st.columns([2, 3], gap="large")
    with left:
        label = "Maps side by side (none chosen: all, a line for each layer)"
        options = {"options": list(maps), "format_func": maps.__getitem__}
        name = f"paper_maps_{filename}"
        chosen = tuple(state.page_control(st.multiselect, label, name, [], **options))
        query = None
        if queries and not chosen:
            names = {WHOLE: "all: whole maps", **dict(enumerate(queries))}
            options = {"options": list(names), "format_func": names.__getitem__}
            name = f"paper_query_{filename}"
            row = state.page_control(st.selectbox, OVER_PATCHES, name, WHOLE, **options)
            query = None if row == WHOLE else row
        of_grid = OF_GRID if query is None else OF_GRID - {"query", "key"}
        paper = _designed(s, filename, OF_HEATMAPS if chosen else of_grid)
    with right, st.container(key="paper_preview"):
        _show(filename + suffix, (paper, chosen, query, seen), partial(draw, chosen, query, paper))


def _is_open(label: str, filename: str, rival: str) -> bool:
    """The switch of a section; it closes the other one of its page, whose controls are the same."""
    if not state.page_control(st.toggle, label, f"paper_open_{filename}", False):
        return False
    before = state.page_value("paper_open", filename)
    state.set_page_value("paper_open", filename)
    if before == rival and state.page_value(f"paper_open_{rival}", False):
        state.set_page_value(f"paper_open_{rival}", False)
        st.rerun()
    return True


# ---- settings ------------------------------------------------------------------------------------


def _designed(s: Settings, filename: str, fit: set[str]) -> Paper:
    """The controls of one figure; its title and caption are the page's alone."""
    _settings(s.paper, fit)
    return replace(
        s.paper,
        **{
            name: state.page_control(name=f"paper_{name}_{filename}", default="", **_widget(name))
            for name in WORDS
        },
    )


def _settings(paper: Paper, fit: set[str]) -> None:
    """The controls of those settings that fit what is drawn, row by row."""
    sizes = (name for name, size in SIZES.items() if size.items() <= vars(paper).items())
    options: dict[str, Any] = {"options": list(SIZES), "format_func": _named}
    value, name = next(sizes, None), "paper_size"
    state.setting_control(st.segmented_control, "Size for", name, value, _sized, **options)
    if paper.limits != "own":
        fit = fit - {"lowest", "highest"}
    for row in ROWS:
        if there := [name for name in row if name in fit]:
            with st.container(horizontal=True):
                for name in there:
                    _control(paper, name)


def _sized(settings: Settings, size: str | None) -> Settings:
    return _with(settings, SIZES[size] | {"tick_size": None}) if size else settings


def _control(paper: Paper, name: str) -> None:
    """The control of one setting."""
    value = getattr(paper, name)
    value = value if isinstance(value, (bool, str)) else float(value)
    follows = {"tick_size": None} if name == "font_size" else {}

    def moved(settings: Settings, moved_to: Any) -> Settings:
        return _with(settings, {name: moved_to} | follows)

    state.setting_control(name=f"paper_{name}", value=value, apply=moved, **_widget(name))


def _with(settings: Settings, changed: dict[str, Any]) -> Settings:
    return replace(settings, paper=replace(settings.paper, **changed))


def _widget(name: str) -> dict[str, Any]:
    """The control of a setting with its options, from what ``Paper`` says of it."""
    said = dict(Paper.__dataclass_fields__[name].metadata)
    allowed = said.pop("allowed")
    if allowed is bool:
        return said | {"widget": st.toggle}
    if allowed is str:
        said |= {"max_chars": MAX_CAPTION, "placeholder": EMPTY.get(name)}
        said |= {} if name in WORDS else {"width": 170}
        return said | {"widget": st.text_area if name == "caption" else st.text_input}
    if isinstance(allowed[0], str):
        said |= {"options": allowed, "format_func": _named, "width": 190}
        return said | {"widget": st.selectbox}
    said |= {"min_value": allowed[0], "max_value": allowed[1], "step": 0.5, "format": "%g"}
    return said | {"widget": st.number_input, "width": 145}


def _named(choice: str) -> str:
    return NAMES.get(choice, choice)


def _several(labels: Mapping[Any, str]) -> dict[str, Any]:
    """The options of pills, of which several may be chosen."""
    label_of = labels.__getitem__
    return {"options": list(labels), "format_func": label_of, "selection_mode": "multi"}


def _pills(s: Settings, label: str, name: str, labels: Mapping[Any, str]) -> None:
    """Several of what is there, kept under that name."""
    shown, options = [one for one in getattr(s, name) if one in labels], _several(labels)
    state.setting_control(st.pills, label, name, shown, field(name), **options)


# ---- the figure ----------------------------------------------------------------------------------


def _show(name: str, seen: Any, draw: Callable[..., PaperFigure]) -> None:
    """The preview, what could not be shown, and the files; or why there is no figure."""
    try:
        figure, preview = _drawn((name, seen), draw)
    except BadInput as problem:
        state.set_page_value("paper_saved", None)
        pieces.message_box("refused", capital(str(problem)))
        return
    wide, tall = (2.54 * float(inches) for inches in figure.get_size_inches())
    buttons = st.container(horizontal=True)
    st.image(preview, f"{wide:.2f} × {tall:.2f} cm", alt=f"Preview of {figure.alt}")
    kept = _resolution()
    state.set_page_value("paper_saved", (figure, kept))
    too_many = capital(too_many_dots(figure, kept["dpi"]))
    for form, label in FILES.items():
        write = partial(_figure_at_rest, state.page_values_at_rest(), form)
        options: dict[str, Any] = {"key": f"take_{form}", "on_click": "ignore"}
        options["disabled"] = form == "png" and bool(too_many)
        with buttons:
            st.download_button(label, write, f"{name}.{form}", FORMS[form], **options)
    for note in filter(None, (*figure.notes, too_many)):
        pieces.message_box("flag", note)


def _resolution() -> dict[str, Any]:
    """How the figure becomes a file."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label, dpis = "PNG resolution (dpi)", {"options": list(RESOLUTIONS), "required": True}
        dpi = state.page_control(st.segmented_control, label, "paper_dpi", 300, **dpis)
        label = "SVG text as outlines (not editable)"
        outlines = state.page_control(st.toggle, label, "paper_outlines", False)
    return {"dpi": dpi, "outlines": outlines}


def _figure_at_rest(values_at_rest: Callable[[], dict[str, Any]], form: str) -> bytes:
    """The figure that is seen in the end, where the press follows a change at once."""
    kept = values_at_rest()["paper_saved"]
    if kept is None:  # the page says why
        raise BadInput("these settings give no figure.")
    return to_bytes(kept[0], form, **kept[1])


def _drawn(seen: Any, draw: Callable[..., PaperFigure]) -> tuple[PaperFigure, str]:
    """The figure and its preview; that of the last run where nothing changed.

    The preview is a data URL: of files that the server keeps for one run, a browser in a hurry or
    at a restart finds some gone, and shows a broken picture.
    """
    kept = state.page_value("paper_drawn", None)
    if kept and kept[0] == seen:
        return kept[1]
    is_loaded = "matplotlib.figure" in sys.modules
    with st.spinner(WAITING if is_loaded else LOADING, show_time=True):
        bar, began = st.empty(), monotonic()

        def told(number: int, of: int) -> None:
            if monotonic() - began > SOON:
                bar.progress(number / of, f"{number} of {of} panels")

        figure = draw(on_panel=told)
        dpi = min(PREVIEW, LONGEST / max(figure.get_size_inches()))
        quickly = {"compress_level": 1}
        content = figure.content("png", dpi=dpi, pil_kwargs=quickly)
        drawn = figure, f"data:image/png;base64,{b64encode(content).decode()}"
        bar.empty()
    state.set_page_value("paper_drawn", (seen, drawn))
    return drawn
