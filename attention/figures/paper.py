"""The function that draws a figure for a paper; Matplotlib is imported when it is first called."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attention.conversion import shown
from attention.figures.paper_panels import Tell, panels_of, plain, stages_of, title_of
from attention.figures.whole import checked_digits, need
from attention.paper import Paper
from attention.trace import AttentionTrace
from attention.view import View, axes_of

if TYPE_CHECKING:
    from attention.figures.paper_sheet import PaperFigure


def paper_figure(
    trace: AttentionTrace,
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
    trace : AttentionTrace
    stages : names such as ``["scores", "weights"]``; None for all that are there
    tokens, key_tokens : n_q and n_k words, the labels of queries and keys
    item : which item of the batch, counted from 0
    heads : one, several side by side, or None for all; counted from 0
        Several heads of one stage stand as a grid with one colour bar.
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
        One sentence, where a stage or head is not there, the labels do not fit, or the panels do
        not fit into the height.
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
    paper = Paper() if paper is None else paper
    if not isinstance(paper, Paper):
        raise TypeError(f"paper is {shown(paper)}; an attention.Paper is wanted.")
    words = _tuple(tokens), _tuple(key_tokens)
    count = axes_of(trace)[1] if isinstance(trace, AttentionTrace) else 1
    chosen = _tuple(range(count) if heads is None else heads)
    views = [
        View.of(trace, tokens=words[0], key_tokens=words[1], item=item, head=head)
        for head in (chosen if isinstance(chosen, tuple) else [chosen])
    ]
    figure = of_views(views, words, stages, checked_digits(digits), paper)
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
    tell: Tell = lambda share: None,
) -> PaperFigure:
    """These stages of each head; ``words``: of queries and keys, as they were typed."""
    from attention.figures.paper_drawing import draw

    if not paper.count_repeats:
        views = [plain(view, *words) for view in views]
    return draw(stages_of(views, stages, digits, paper), paper, tell)


def of_panes(
    panes: Sequence[Mapping[str, Any]], paper: Paper, about: str, tell: Tell
) -> PaperFigure:
    """What a page shows: its charts, or its heatmaps; ``about``: what its files say of it."""
    from attention.figures.paper_charts import draw_charts
    from attention.figures.paper_drawing import draw

    if panes[0]["group"] == "charts":
        figure = draw_charts(panes, paper, tell)
    else:
        titles = [title_of(pane, panes) for pane in panes]
        figure = draw(panels_of(panes, titles, paper), paper, tell)
    figure.about = about
    return figure
