"""Figures for papers: what stands on one, with the range of its colours.

Matplotlib is imported when the first is drawn.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attention.colours import FAINTEST, around_zero
from attention.conversion import shown
from attention.figures import printing
from attention.figures.heatmap import unpack
from attention.figures.long_map import long_paper_figure
from attention.figures.panes import panes
from attention.figures.whole import checked_digits, chosen_stages, need
from attention.limits import MAX_PRINTED, BadInput
from attention.long import LongAttention
from attention.numbers import number
from attention.paper import DIVERGING, Paper
from attention.sentences import numbered
from attention.stages import STAGES
from attention.trace import AttentionTrace
from attention.view import OF_ALL_HEADS, View, axes_of, distinct, whole_number

if TYPE_CHECKING:
    from attention.figures.paper_sheet import PaperFigure

OnPanel = Callable[[int, int], object]  # is told of each panel that is drawn: its number, of all


def paper_figure(
    trace: AttentionTrace | LongAttention,
    *,
    stages: Collection[str] | None = ("weights",),
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    item: int = 0,
    heads: int | Iterable[int] | None = 0,
    digits: int = 2,
    paper: Paper | None = None,
) -> PaperFigure:
    """The stages of a trace as a Matplotlib figure to print, its size exact.

    Parameters
    ----------
    trace : AttentionTrace, or LongAttention
        Of a long attention its mean map, which is one image; item, heads (one) and paper hold.
    stages : names such as ``["scores", "weights"]``; None for all that are there
    tokens, key_tokens : n_q and n_k words, the labels of queries and keys
    item : which item of the batch, counted from 0
    heads : one, several side by side, or None for all; counted from 0
        Several heads of one stage stand as a grid with one colour bar. Of a captured layer they
        count the heads that were recorded, and each is called by its number in the model.
    digits : of the numbers in the cells
    paper : its sizes, words and colours

    Returns
    -------
    matplotlib.figure.Figure
        Made of lines and letters alone; to go on with, and to save: ``figure.savefig("a.pdf")``.
        Each collection of cells holds the numbers of the trace. What could not be shown, it warns
        of in a sentence, and ``figure.notes`` holds these.

    Raises
    ------
    ValueError, TypeError
        One sentence, where a stage or head is not there, the labels do not fit, the panels do not
        fit into the height, or Matplotlib finds no folder to write to.
    ModuleNotFoundError
        One sentence, where Matplotlib is not installed.

    >>> import numpy as np
    >>> from attention import self_attention
    >>> eye = np.eye(2)
    >>> figure = paper_figure(self_attention(eye, eye, eye, eye), tokens=["a", "b"])
    >>> round(2.54 * float(figure.get_figwidth()), 2)
    8.25
    >>> figure.axes[0].collections[0].get_array().round(2).tolist()
    [[0.67, 0.33], [0.33, 0.67]]
    """
    need("matplotlib", "paper_figure")
    given, paper = paper, Paper() if paper is None else paper
    if not isinstance(paper, Paper):
        raise TypeError(f"paper is {shown(paper)}; an attention.Paper is wanted.")
    if isinstance(trace, LongAttention):
        return long_paper_figure(trace, item=item, head=whole_number("heads", heads), paper=given)
    words = _tuple(tokens), _tuple(key_tokens)
    count = axes_of(trace)[1] if isinstance(trace, AttentionTrace) else 1
    chosen = _tuple(range(count) if heads is None else heads)
    views = [
        View.of(trace, tokens=words[0], key_tokens=words[1], item=item, head=head)
        for head in (chosen if isinstance(chosen, tuple) else [chosen])
    ]
    figure = of_views(views, words, stages, checked_digits(digits), paper)
    if of := views[0].recorded:
        figure.about = of.words(*(view.head_number for view in views))
    for note in figure.notes:
        warnings.warn(note, stacklevel=2)
    return figure


def _tuple(words: Any) -> Any:
    """What can be read twice; what is no list stays, for the view to refuse."""
    try:
        return words if isinstance(words, str) else tuple(words)
    except TypeError:  # an array without axes has __iter__ too
        return words


def of_views(
    views: Sequence[View],
    words: tuple[Sequence[str] | None, Sequence[str] | None],
    stages: Collection[str] | None,
    digits: int,
    paper: Paper,
    on_panel: OnPanel | None = None,
) -> PaperFigure:
    """These stages of each head, head by head; what all heads share comes once.

    Without a title of its own the figure is called by the layer of the model that was recorded.
    ``words``: of queries and keys, as they were typed.
    """
    if not views:
        raise BadInput("heads names none; at least one is wanted.")
    there = {name: matrix.size for name, matrix in views[0].stages.items()}
    chosen = chosen_stages(stages, there, "trace")
    cells = sum(there[name] * (1 if name in OF_ALL_HEADS else len(views)) for name in chosen)
    if cells > MAX_PRINTED:
        raise BadInput(
            f"these panels hold {cells:,} cells; at most {MAX_PRINTED:,} can be printed."
            " Choose fewer stages or heads, or trace fewer tokens."
        )
    of = None if paper.title else views[0].recorded
    if of:
        paper = replace(paper, title=of.words(*(view.head_number for view in views)))
    to_draw: list[dict[str, Any]] = []
    for view in views:
        shown = view if paper.count_repeats else plain(view, *words)
        for pane in panes(shown, digits=digits, only=chosen):
            is_shared = pane["name"] in OF_ALL_HEADS
            if is_shared and view is not views[0 if pane["group"] == "inputs" else -1]:
                continue
            title = [pane["symbol"]] * (len(chosen) > 1)
            if not is_shared and len(views) > 1 and of:
                title.append(numbered("head", [view.head_number]))
            elif not is_shared and (len(chosen) == 1 or len(views) > 1) and not of:
                title += [view.head_title] * bool(view.head_title)
            group = f"{view.head} {pane['group']}"
            to_draw.append(pane | {"title": ", ".join(title), "group": group})
    return of_panes(to_draw, paper, on_panel=on_panel)


def plain(view: View, *words: Sequence[str] | None) -> View:
    """The view with these words as they are, those that repeat too."""
    typed = {distinct(some): some for some in map(tuple, filter(None, words))}
    labels = {axis: typed.get(found, found) for axis, found in view.labels.items()}
    return replace(view, labels=labels)


def of_panes(
    panes: Sequence[Mapping[str, Any]],
    paper: Paper,
    about: str = "",
    on_panel: OnPanel | None = None,
) -> PaperFigure:
    """Charts, or heatmaps, of which ``on_panel(number, of)`` hears after each.

    ``about``: what the figure's files say of it.
    """
    printing.load()
    from attention.figures.paper_drawing import draw, draw_charts

    is_charts = panes[0]["group"] == "charts"
    figure = (
        draw_charts(panes, paper) if is_charts else draw(panels_of(panes, paper), paper, on_panel)
    )
    figure.about = about
    return figure


def title_of(pane: Mapping[str, Any], panes: Sequence[Mapping[str, Any]]) -> str:
    """What a pane shows, in words that hold without the panes around it."""
    others = (other["symbol"] for other in panes if other["group"] == pane["group"])
    whose = next(filter(None, others), "")
    words = str(pane["symbol"]) or ", ".join(filter(None, (pane["sentence"], whose)))
    return pane.get("title", words)


def headings_of(panes: Sequence[Mapping[str, Any]], paper: Paper) -> list[str]:
    """Their titles with (a), (b) … (z), (aa), (ab) … before them, where there are several."""
    titles = [subscripted(title_of(pane, panes)) for pane in panes]
    if not paper.letters or len(titles) < 2:
        return titles
    letters = (f"({a}{b})" for a in ("", *ascii_lowercase) for b in ascii_lowercase)
    return [f"{next(letters)} {title}".strip() for title in titles]


def clean(text: str) -> str:
    """Text as Matplotlib prints it, with nothing in it read as a formula or unfit for a file."""
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)  # halves of letters
    return re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).replace("$", r"\$")


def subscripted(name: str) -> str:
    """A name of ours with its index set low, in Matplotlib's words for formulas."""
    return re.sub(r"\b([A-Za-z])(?:_|<sub>)(\w+)(?:</sub>)?", r"\1$_{\\mathregular{\2}}$", name)


# ---- panels of heatmaps --------------------------------------------------------------------------


class Scale(NamedTuple):
    """What the colours say; neighbours with the same have one bar."""

    low: float
    high: float
    colours: str
    logarithmic: bool = False
    extend: str = "neither"  # which of its ends numbers go beyond: min, max, both


class Panel:
    """One matrix with its words: a stage of one head, or what is compared with it."""

    def __init__(self, pane: Mapping[str, Any], heading: str, paper: Paper) -> None:
        main, *others = pane["figure"]["data"]  # the cells of one kind each: shown, hidden, broken
        self.name, self.heading = pane.get("stage", pane["name"]), heading
        self.group = pane["group"]  # panels of one stand in a line where there is room
        self.is_attention = self.group.endswith("attention")
        # (rows, columns), masked where the colour does not say the number
        self.values = np.ma.masked_invalid(unpack(main["z"]))
        self.hidden = np.zeros(self.values.shape, bool)  # where the mask hides
        for one in others:
            if one["meta"] == "hidden":
                self.hidden = ~np.isnan(unpack(one["z"]))
        # (rows, columns), the numbers as the screen prints them; empty for very many
        printed = [one for one in (main, *others) if "text" in one]
        self.texts = np.array([one["text"] for one in printed] or [[[]]], dtype=object).sum(axis=0)
        self.numbers = np.nansum([unpack(one["z"]) for one in (main, *others)], axis=0)  # of texts
        self.is_rounded = False  # whether tiny numbers lost digits for want of room
        self.labels: tuple[tuple[str, ...], tuple[str, ...]] = pane["rows"], pane["columns"]
        self.titles = _titles(self.name, paper)  # of both axes
        self.rows = self.titles[0], self.labels[0]  # which neighbours may share
        self.scale = Scale(main["zmin"], main["zmax"], main["meta"])  # its own, on the screen

    def shorten(self) -> None:
        """Write tiny numbers with the decimals of the others, or as ≈0."""
        for place, text in np.ndenumerate(self.texts):
            mantissa, is_tiny, _ = text.partition("e−")
            if is_tiny:
                digits = sum(map(str.isdigit, mantissa))
                shorter = number(self.numbers[place], digits, least=1)
                self.texts[place] = "≈0" if "e−" in shorter else shorter
                self.is_rounded = True


def panels_of(panes: Sequence[Mapping[str, Any]], paper: Paper) -> list[Panel]:
    """The panes of a page as panels; what can be compared has one range of colours."""
    headings = headings_of(panes, paper)
    found = [Panel(*both, paper) for both in zip(panes, headings, strict=True)]
    compared: dict[object, list[Panel]] = {}
    for panel in found:  # a stage of all heads, or what a page shows beside it
        compared.setdefault(panel.name if panel.name in STAGES else panel.scale, []).append(panel)
    for together in compared.values():
        scale = scale_of(together, paper)
        for panel in together:
            panel.scale = scale
    return found


def _titles(name: str, paper: Paper) -> tuple[str, str]:
    """What the rows and the columns of a stage are."""
    if name not in STAGES or not paper.axis_titles:
        return "", ""
    stage, words = STAGES[name], {"queries": "token", "keys": "token"}  # of the inputs
    if stage.group != "inputs":
        words = {"queries": clean(paper.query), "keys": clean(paper.key), "sum": ""}
    rows, columns = (words.get(axis, subscripted(axis)) for axis in (stage.rows, stage.columns))
    return rows, columns


def scale_of(panels: Sequence[Any], paper: Paper) -> Scale:
    """The colours of panels that are compared."""
    shown = np.concatenate([panel.values.compressed() for panel in panels])
    stage = min(panel.scale.low for panel in panels), max(panel.scale.high for panel in panels)
    least, most = (shown.min(), shown.max()) if shown.size else stage
    ranges = {"stage": stage, "data": (least, most), "own": (paper.lowest, paper.highest)}
    low, high = ranges[paper.limits]
    is_log = paper.logarithmic and shown.size and least >= 0 < most and high > 0
    is_share = panels[0].scale.colours == "share"
    colours = paper.shares if is_share or is_log else paper.signs
    if is_log and (paper.limits != "own" or low <= 0):
        low = max(float(shown[shown > 0].min()), FAINTEST * high)
    elif colours == DIVERGING:
        low, high = around_zero(max(-low, high))
    if low >= high:
        low, high = (high / 10, high) if is_log else (low - 0.5, low + 0.5)
    extend = ("neither", "min", "max", "both")[(least < low) + 2 * (most > high)]
    return Scale(float(low), float(high), colours, bool(is_log), extend)
