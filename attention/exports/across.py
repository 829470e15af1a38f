"""Heads of a real model in its layers: one of them side by side, or all as one figure."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from attention.arrays.conversion import shown
from attention.core.recorded import CAPTURED, GIVEN
from attention.core.trace import AttentionTrace
from attention.explain.view import distinct, place_of, whole_number
from attention.figures.panes.across import layer_pane
from attention.figures.panes.arguments import need
from attention.figures.panes.maps import in_few_cells
from attention.figures.panes.pane import Pane
from attention.figures.paper import printing
from attention.figures.paper.figure import of_panes
from attention.figures.paper.panels import OnPanel
from attention.figures.paper.picture import image_of, row_of
from attention.limits import MAX_CAPTURED_CELLS, MAX_PRINTED, BadInput
from attention.models.labels import words_of
from attention.models.taken import NO_NAME, Call, Taken
from attention.paper import Paper
from attention.session.state.about import About
from attention.vocabulary.sentences import in_words, which_of

if TYPE_CHECKING:
    from attention.figures.paper.sheet import PaperFigure

NO_GRID = "no grid of patches is known of these layers; expected keys that are a picture's patches."
FINEST = 128  # pixels of a side of the picture below each map


def across_layers(
    taken: Taken | str | PathLike[str],
    head: int = 0,
    *,
    layers: Collection[int] | int | None = None,
    item: int = 0,
    paper: Paper | None = None,
) -> PaperFigure:
    """The weights of one head in every layer, side by side, at a paper's width.

    Parameters
    ----------
    taken : what was captured, or the path of its file
    head : which one, counted from 0 as the model counts its heads of queries
    layers : which of the layers that were captured, by their numbers. Default: all; of a generation
        each call.
    item : which of the batch, counted from 0
    paper : how the figure is set. Default: ``Paper(numbers=False)``

    Returns
    -------
    matplotlib.figure.Figure
        As :func:`attention.paper_figure` gives.

    Raises
    ------
    ValueError, TypeError
        One sentence, where there is no such head, layer or item, or the panels do not fit.

    >>> from attention.models.examples import load
    >>> paper = Paper("text", numbers=False)
    >>> figure = across_layers(load("pronoun"), 8, layers=[0, 3], paper=paper)
    >>> [axes.get_title("left") for axes in figure.axes[:2]]
    ['(a) Layer 0, head 8', '(b) Layer 3, head 8']
    """
    need("matplotlib", "across_layers")
    taken, item, paper = _asked_of(taken, item, paper, Paper(numbers=False))
    head, wanted = whole_number("head", head), _layer_numbers(layers)
    found: list[tuple[Call, int]] = []
    cells = 0
    for call in _calls_of(taken, wanted):
        numbers = list(call.heads or range(call.Q.shape[1]))
        if head not in numbers or item >= len(call.Q):
            continue
        cells += call.Q.shape[2] * call.K.shape[2]
        found.append((call, numbers.index(head)))
    if not found:
        there = sorted({k for call in taken for k in call.heads or range(call.Q.shape[1])})
        raise ValueError(f"head is {head}; captured were {', '.join(map(str, there))}.")
    if cells > MAX_PRINTED:
        raise ValueError(
            f"these panels hold {cells:,} cells; at most {MAX_PRINTED:,} can be printed. Choose"
            " fewer layers."
        )
    panes, about = panes_of(taken, item, found)
    figure = of_panes(panes, paper, "; ".join(about.lines()[1:]))
    for note in figure.notes:
        warnings.warn(note, stacklevel=2)
    return figure


def overview(
    taken: Taken | str | PathLike[str],
    *,
    layers: Collection[int] | int | None = None,
    item: int = 0,
    query: int | str | None = None,
    picture: Any = None,
    paper: Paper | None = None,
) -> PaperFigure:
    """Draw the weights of every head that was captured: a line for each layer, a column for each
    head.

    With ``query`` each map is the row of that query over the patches of the picture that the model
    read; layers whose keys are no patches of a known grid are left out.

    Parameters
    ----------
    taken : what was captured, or the path of its file
    layers : which of the layers that were captured, by their numbers. Default: all; of a generation
        each call.
    item : which of the batch, counted from 0
    query : its number, counted from 0, or its label, such as ``"[CLS]"`` or ``"patch 7"``
    picture : array (H, W), (H, W, 3) or (H, W, 4), which each row of ``query`` is drawn over, as by
        :func:`attention.over_picture`
    paper : how the figure is set. Default: as wide as a page, with logarithmic colours; with
        ``query`` from 0 to the largest weight.

    Returns
    -------
    matplotlib.figure.Figure
        As :func:`attention.paper_figure` gives. A map has at most 96 rows and columns: of cells
        that share a place the largest weight is shown. Cells of a map with more than 64 are an
        image, those of a smaller one are lines.

    Raises
    ------
    ValueError, TypeError
        One sentence, where there is no such layer, item or query, no grid of patches is known, or
        the maps do not fit.

    >>> from attention.models.examples import load
    >>> figure = overview(load("pronoun"))
    >>> [map.get_gid() for map in figure.axes[0].collections[:2]]
    ['layer 0, head 1', 'layer 0, head 2']
    """
    need("matplotlib", "overview")
    taken, item, paper = _asked_of(taken, item, paper, Paper("text", logarithmic=query is None))
    calls = [call for call in _calls_of(taken, _layer_numbers(layers)) if item < len(call.Q)]
    if query is None and picture is not None:
        raise BadInput("picture is given without query; expected both, or neither.")
    if query is not None:
        calls = [call for call in calls if call.patches]
        if not calls:
            raise BadInput(NO_GRID)
    heads = [(call, head) for call in calls for head in range(call.Q.shape[1])]
    figure = maps_of(taken, item, heads, paper, None, query, picture)
    for note in figure.notes:
        warnings.warn(note, stacklevel=2)
    return figure


def maps_of(
    taken: Taken,
    item: int,
    heads: Sequence[tuple[Call, int]],
    paper: Paper,
    on_panel: OnPanel | None = None,
    query: int | str | None = None,
    picture: Any = None,
) -> PaperFigure:
    """Draw heads, as recorded, each with its call: a line for each call, a column for each head.

    With ``query`` its row over the patches, which all these calls have, over the ``picture``.
    """
    cells = sum(call.Q.shape[2] * call.K.shape[2] for call, _ in heads)
    if cells > MAX_CAPTURED_CELLS:
        raise BadInput(
            f"these maps hold {cells:,} weights; at most {MAX_CAPTURED_CELLS:,} can be drawn."
            " Choose fewer layers."
        )
    printing.load()
    from attention.figures.paper.grid import Line, grid_figure

    image = None if picture is None else image_of(picture, FINEST)
    kinds = {call.kind for call, _ in heads}
    lines = list[Line]()
    together: dict[Call, list[int]] = {}
    for call, head in heads:
        together.setdefault(call, []).append(head)
    rows = None if query is None else {c: _row_of(taken, c, item, query) for c in together}
    if len(named := {label: call.layer for call, (_, label) in (rows or {}).items()}) > 1:
        which = in_words([f"{label} in layer {layer}" for label, layer in named.items()], 3)
        raise BadInput(f"query is {query}, which is {which}; give its label, or layers=.")
    for call in sorted(together, key=lambda call: (call.layer, call.call)):
        kind = call.kind if len(kinds) > 1 else ""
        label = ", ".join(filter(None, (f"layer {call.layer}", kind, call.when)))
        traces = {call.number_of(head): call.trace(item, head) for head in together[call]}
        if rows is None:
            maps = {k: in_few_cells(trace.weights, trace.allowed) for k, trace in traces.items()}
        else:
            maps = {k: _over_patches(trace, rows[call][0]) for k, trace in traces.items()}
        lines.append(Line(label, maps))
    of_items = which_of("item", [item], max(len(call.Q) for call, _ in heads))
    came = GIVEN if all(call.weights is not None for call, _ in heads) else CAPTURED
    label = next(iter(rows.values()))[1] if rows else ""
    said = f"{came} {taken.model or NO_NAME}", of_items, f"row of {label}" if label else ""
    return grid_figure(lines, paper, ", ".join(filter(None, said)), on_panel, label, image)


def _row_of(taken: Taken, call: Call, item: int, query: int | str) -> tuple[int, str]:
    """Return the number and the label of a query, which is given by either."""
    if call.patches is None:
        raise BadInput(NO_GRID)
    labels = distinct(words_of(taken, call, item)[0])
    row = row_of(query, len(labels), call.patches, labels)
    return row, labels[row]


def _over_patches(trace: AttentionTrace, row: int) -> np.ma.MaskedArray:
    """Return the weights of a query as (rows, columns) of patches, masked where they are hidden."""
    assert trace.recorded is not None and trace.recorded.patches is not None
    places = trace.recorded.patches.places(trace.weights.shape[1])
    return np.ma.array(trace.weights[row][places], mask=~trace.allowed[row][places])


def panes_of(
    taken: Taken, item: int, heads: Sequence[tuple[Call, int]]
) -> tuple[list[Pane], About]:
    """Return the weights of heads, as recorded, each with its call; and what a file says of them.

    The kind of attention is in the headings where there are several.
    """
    kinds = {call.kind for call, _ in heads}
    panes, sources = list[Pane](), dict[str, str]()
    for call, head in heads:
        number = call.number_of(head)
        layer = f"Layer {call.layer}"
        if len(kinds) > 1 and call.kind:
            layer += f" ({call.kind})"
        of_items = which_of("item", [item], len(call.Q))
        heading = ", ".join(filter(None, [layer, f"head {number}", of_items, call.when]))
        place = taken.place(call, item, head)
        made = layer_pane(
            heading,
            call.trace(item, head),
            words_of(taken, call, item),
            sentence=", ".join(filter(None, (call.kind, call.module))),
            file=f"{place.stem(number)}_weights",
        )
        panes.append(made)
        sources[heading] = place.source(number)
    return panes, About(sources)


def _asked_of(taken: Any, item: Any, paper: Any, default: Paper) -> tuple[Taken, int, Paper]:
    """Return the capture, the item and the paper that a figure is asked for, checked."""
    taken = taken if isinstance(taken, Taken) else Taken.load(taken)
    paper = default if paper is None else paper
    if not isinstance(paper, Paper):
        raise TypeError(f"paper is {shown(paper)}; expected an attention.Paper.")
    return taken, place_of("item", item, max((len(call.Q) for call in taken), default=0)), paper


def _layer_numbers(layers: Any) -> list[int] | None:
    if layers is None:
        return None
    try:
        numbers = [whole_number("layers", each) for each in layers]
    except TypeError:
        numbers = [whole_number("layers", layers)]
    if not numbers:
        raise ValueError("layers names none; expected at least one.")
    return numbers


def _calls_of(taken: Taken, layers: list[int] | None) -> list[Call]:
    """Return all calls of these layers, or of every one; one sentence where one is not there."""
    if layers is None:
        return taken.calls
    for layer in layers:
        taken.at(layer)
    return [call for layer in layers for call in taken if call.layer == layer]
