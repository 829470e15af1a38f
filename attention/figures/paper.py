"""The function that draws a figure for a paper; Matplotlib is imported when it is first called."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attention.conversion import shown
from attention.figures.panes import panes
from attention.figures.paper_panels import panels_of, plain
from attention.figures.whole import checked_digits, chosen_stages, need
from attention.limits import MAX_PRINTED, BadInput
from attention.paper import Paper
from attention.trace import AttentionTrace
from attention.view import OF_ALL_HEADS, View, axes_of

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
) -> PaperFigure:
    """These stages of each head, head by head; what all heads share comes once.

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
    found: list[dict[str, Any]] = []
    for view in views:
        shown = view if paper.count_repeats else plain(view, *words)
        for pane in panes(shown, digits=digits, only=chosen):
            is_shared = pane["name"] in OF_ALL_HEADS
            if is_shared and view is not views[0 if pane["group"] == "inputs" else -1]:
                continue
            title = [pane["symbol"]] * (len(chosen) > 1)
            if view.heads > 1 and not is_shared and (len(chosen) == 1 or len(views) > 1):
                title.append(f"head {view.head + 1}")
            group = f"{view.head} {pane['group']}"
            found.append(pane | {"title": ", ".join(title), "group": group})
    return of_panes(found, paper)


def of_panes(panes: Sequence[Mapping[str, Any]], paper: Paper, about: str = "") -> PaperFigure:
    """Charts, or heatmaps; ``about``: what the figure's files say of it."""
    from attention.figures.paper_drawing import draw, draw_charts

    if panes[0]["group"] == "charts":
        figure = draw_charts(panes, paper)
    else:
        figure = draw(panels_of(panes, [title_of(pane, panes) for pane in panes], paper), paper)
    figure.about = about
    return figure


def title_of(pane: Mapping[str, Any], panes: Sequence[Mapping[str, Any]]) -> str:
    """What a pane shows, in words that hold without the panes around it."""
    others = (other["symbol"] for other in panes if other["group"] == pane["group"])
    whose = next(filter(None, others), "")
    words = str(pane["symbol"]) or ", ".join(filter(None, (pane["sentence"], whose)))
    return pane.get("title", words)
