"""Figures for papers: which panels of which heads are on one.

Matplotlib is imported when the first is drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from attention.arrays.conversion import shown
from attention.core.trace import AttentionTrace
from attention.explain.view import OF_ALL_HEADS, View, axes_of, distinct, whole_number
from attention.figures.panes.arguments import checked_digits, chosen_stages, need
from attention.figures.panes.pane import Pane
from attention.figures.panes.panes import panes
from attention.figures.paper import printing
from attention.figures.paper.long import long_paper_figure
from attention.figures.paper.panels import OnPanel, panels_of
from attention.figures.plotly.charts import Chart
from attention.limits import MAX_PRINTED, BadInput
from attention.long.attention import LongAttention
from attention.paper import Paper
from attention.vocabulary.sentences import numbered
from attention.vocabulary.stages import STAGES

if TYPE_CHECKING:
    from attention.figures.paper.sheet import PaperFigure


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
        raise TypeError(f"paper is {shown(paper)}; expected an attention.Paper.")
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
        raise BadInput("heads names none; expected at least one.")
    of_any = {name: matrix.size for view in views for name, matrix in view.stages.items()}
    there = {name: of_any[name] for name in STAGES if name in of_any}
    chosen = chosen_stages(stages, there, "trace")
    panels = [(name, view) for view in views for name in chosen if name in view.stages]
    cells = sum(there[name] for name, of in panels if name not in OF_ALL_HEADS or of is views[0])
    if cells > MAX_PRINTED:
        raise BadInput(
            f"these panels hold {cells:,} cells; at most {MAX_PRINTED:,} can be printed."
            " Choose fewer stages or heads, or trace fewer tokens."
        )
    of = None if paper.title else views[0].recorded
    if of:
        paper = replace(paper, title=of.words(*(view.head_number for view in views)))
    to_draw: list[Pane] = []
    for view in views:
        shown = view if paper.count_repeats else plain(view, *words)
        for pane in panes(shown, digits=digits, only=chosen):
            is_shared = pane.name in OF_ALL_HEADS
            if is_shared and view is not views[0 if pane.group == "inputs" else -1]:
                continue
            title = [pane.symbol] if len(chosen) > 1 else []
            if not is_shared and len(views) > 1 and of:
                title.append(numbered("head", [view.head_number]))
            elif not is_shared and (len(chosen) == 1 or len(views) > 1) and not of:
                title += [view.head_title] if view.head_title else []
            group = f"{view.head} {pane.group}"
            to_draw.append(replace(pane, heading=", ".join(title), group=group))
    return of_panes(to_draw, paper, on_panel=on_panel)


def plain(view: View, *words: Sequence[str] | None) -> View:
    """The view with these words as they are, those that repeat too."""
    typed = {distinct(some): some for some in map(tuple, filter(None, words))}
    labels = {axis: typed.get(found, found) for axis, found in view.labels.items()}
    return replace(view, labels=labels)


def of_panes(
    panes: Sequence[Pane | Chart],
    paper: Paper,
    about: str = "",
    on_panel: OnPanel | None = None,
) -> PaperFigure:
    """Charts, or heatmaps, of which ``on_panel(number, of)`` hears after each.

    ``about``: what the figure's files say of it.
    """
    printing.load()
    from attention.figures.paper.drawing import draw, draw_charts

    heatmaps = [pane for pane in panes if isinstance(pane, Pane)]
    if (cells := sum(pane.values.size for pane in heatmaps)) > MAX_PRINTED:
        raise BadInput(
            f"these panels hold {cells:,} cells; at most {MAX_PRINTED:,} can be printed."
            " Choose fewer of them."
        )
    if heatmaps:
        figure = draw(panels_of(heatmaps, paper), paper, on_panel)
    else:
        figure = draw_charts([pane for pane in panes if isinstance(pane, Chart)], paper)
    figure.about = about
    return figure
