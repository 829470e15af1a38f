"""The function that draws a figure for a paper with Matplotlib.

How it is set is ``attention.paper``; which numbers stand in it ``paper_panels``, where everything
stands ``paper_layout``, and Matplotlib, which is imported when a figure is first drawn,
``paper_drawing``.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from attention.figures.whole import need
from attention.paper import Paper
from attention.trace import AttentionTrace
from attention.view import View, axes_of

if TYPE_CHECKING:
    from attention.figures.paper_drawing import PaperFigure


def paper_figure(
    trace: AttentionTrace,
    *,
    stages: Collection[str] | None = ("weights",),
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    item: int = 0,
    heads: int | Iterable[int] | None = 0,
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
    >>> [round(2.54 * inches, 2) for inches in figure.get_size_inches().tolist()]
    [8.25, 6.19]
    >>> figure.axes[0].collections[0].get_array().round(2).tolist()
    [0.67, 0.33, 0.33, 0.67]
    """
    need("matplotlib", "paper_figure")
    from attention.figures.paper_drawing import draw
    from attention.figures.paper_panels import panels_of

    paper = paper or Paper()
    tokens, key_tokens = _tuple(tokens), _tuple(key_tokens)
    count = axes_of(trace)[1] if isinstance(trace, AttentionTrace) else 1
    chosen = range(count) if heads is None else heads if isinstance(heads, Iterable) else [heads]
    views = []
    for head in chosen:
        view = View.of(trace, tokens=tokens, key_tokens=key_tokens, item=item, head=head)
        views.append(view if paper.count_repeats else plain(view, tokens, key_tokens))
    figure = draw(panels_of(views, stages, paper), paper)
    for note in figure.notes:
        warnings.warn(note, stacklevel=2)
    return figure


def _tuple(words: Iterable[str] | None) -> Iterable[str] | None:
    """Words that can be read twice; what is no list of words stays, for the view to refuse."""
    is_list = isinstance(words, Iterable) and not isinstance(words, str)
    return tuple(words) if is_list and words is not None else words


def plain(
    view: View, tokens: Iterable[str] | None, key_tokens: Iterable[str] | None = None
) -> View:
    """The view with words as they are, those that repeat too."""
    labels = dict(view.labels)
    if tokens is not None:
        words = tuple(map(str, tokens))
        labels |= {axis: words for axis in view.labels if labels[axis] == labels["queries"]}
    if key_tokens is not None:
        labels["keys"] = tuple(map(str, key_tokens))
    return replace(view, labels=labels)
