"""The weights of one query over the picture that a model read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from attention.arrays.conversion import as_array, held, shown
from attention.core.recorded import Patches
from attention.core.trace import AttentionTrace
from attention.explain.view import View, recorded_words, whole_number
from attention.figures.panes.arguments import need
from attention.figures.paper import printing
from attention.figures.paper.panels import scale_of
from attention.figures.paper.text import clean
from attention.limits import MAX_PIXELS, MAX_PRINTED, BadInput
from attention.models.taken import Call
from attention.paper import Paper
from attention.vocabulary.numbers import number

if TYPE_CHECKING:
    from attention.figures.paper.sheet import PaperFigure

MOST_NAMED = 8  # special tokens; the others are added up
OPACITY = 0.6  # of the map over the picture
FINEST = 2000  # pixels of a side that are drawn; Matplotlib takes seconds for more
OUTLINES = ((2.4, "#ffffff"), (1.0, "#000000"))  # of the query's own patch: seen on any colour


def over_picture(
    trace: AttentionTrace | Call,
    query: int | str,
    picture: Any,
    *,
    item: int = 0,
    head: int = 0,
    tokens: Iterable[str] | None = None,
    grid: tuple[int, int] | None = None,
    special: int | None = None,
    opacity: float = OPACITY,
    paper: Paper | None = None,
) -> PaperFigure:
    """The weights of one query as a map over the picture that the model read.

    Each cell is a patch. The query's own patch is outlined. The map has no special tokens, so its
    cells may add up to less than 1; what these tokens get is written below it.

    Parameters
    ----------
    trace : AttentionTrace, or a captured Call
        Its keys are the patches of a picture. A trace of :meth:`Call.trace
        <attention.models.taken.Call.trace>` knows its grid, as far as capture could tell.
    query : its number, counted from 0, or its label, such as ``"[CLS]"`` or ``"patch 7"``
    picture : array (H, W), (H, W, 3) or (H, W, 4)
        uint8, or floats from 0 to 1: what the model saw, so cut out as its processor does. It is
        stretched over the grid.
    item, head : of several, which one; counted from 0 among those in the trace
    tokens : n_q labels of the queries. Default: the words that were recorded, as by
        :func:`attention.trace_of`, else those of the patches, where these are the queries
    grid : rows and columns of the patches, row by row. Default: as recorded
    special : how many keys stand before the patches, with ``grid``. Default: as recorded, else 0
    opacity : of the map, from 0 to 1
    paper : how the figure is set. ``limits="stage"`` colours from 0 to the largest weight

    Returns
    -------
    matplotlib.figure.Figure
        As :func:`attention.paper_figure` gives. ``axes[0].collections[0]`` holds the numbers.

    Raises
    ------
    ValueError, TypeError
        One sentence, where there is no such query, no grid is known, it does not multiply to the
        number of patches, or the picture is no picture.

    >>> import numpy as np
    >>> from attention import scaled_dot_product_attention
    >>> Q, K = np.array([[2.0]]), np.arange(7.0).reshape(7, 1)  # [CLS] and 2 × 3 patches
    >>> trace = scaled_dot_product_attention(Q, K, K)
    >>> figure = over_picture(trace, 0, np.zeros((20, 30)), grid=(2, 3), special=1)
    >>> figure.axes[0].collections[0].get_array().round(2).tolist()
    [[0.0, 0.0, 0.0], [0.02, 0.12, 0.86]]
    """
    need("matplotlib", "over_picture")
    paper = Paper() if paper is None else paper
    if not isinstance(paper, Paper):
        raise TypeError(f"paper is {shown(paper)}; expected an attention.Paper.")
    if isinstance(trace, Call):
        trace = trace.trace()
    view = View.of(trace, tokens=tokens, item=item, head=head)
    patches = _patches(view, grid, special)
    places = patches.places(view.stages["weights"].shape[1])
    is_labelled = tokens is not None or recorded_words(trace, item)[0] is not None
    labels = view.labels["queries"] if is_labelled else None
    row = row_of(query, len(view.stages["weights"]), patches, labels)
    image, share = image_of(picture), _opacity(opacity)
    if places.size > MAX_PRINTED:
        raise BadInput(
            f"the map holds {places.size:,} cells; at most {MAX_PRINTED:,} can be printed."
        )
    if of := view.recorded:
        paper = paper if paper.title else replace(paper, title=of.words(view.head_number))
    label = query_label(row, patches) if labels is None else labels[row]
    figure = _drawn(view, row, label, patches, places, image, share, paper)
    figure.about = of.words(view.head_number) if of else ""
    for note in figure.notes:
        warnings.warn(note, stacklevel=2)
    return figure


def _patches(view: View, grid: Any, special: Any) -> Patches:
    """Where the patches are, as given or as recorded."""
    recorded = view.recorded.patches if view.recorded else None
    if grid is None:
        if special is not None:
            raise BadInput("special is given without grid; expected both, or neither.")
        if recorded is None:
            raise BadInput(
                "grid is not known of this trace; give grid=(rows, columns) of the patches."
            )
        return recorded
    try:
        sides = [whole_number("grid", side) for side in grid]
    except TypeError:
        sides = []
    if len(sides) != 2:
        raise TypeError(f"grid is {shown(grid)}; expected two whole numbers, rows and columns.")
    known = recorded or Patches(sides[0], sides[1])
    count = known.special if special is None else whole_number("special", special)
    if count < 0:
        raise BadInput(f"special is {count}; expected 0 or more.")
    names = known.names if count == known.special else ()
    return replace(known, rows=sides[0], columns=sides[1], block=1, special=count, names=names)


def query_label(row: int, patches: Patches) -> str:
    """Return what a query is called."""
    return f"query {row}" if patches.first is None else patches.label(patches.first + row)


def row_of(query: Any, n_q: int, patches: Patches, labels: Sequence[str] | None = None) -> int:
    """Return the number of a query that was given by its number or by its label.

    Without ``labels`` the queries are called as the patches are, if they are of the same sequence.
    """
    if not isinstance(query, str):
        row = whole_number("query", query)
        if not 0 <= row < n_q:
            raise BadInput(f"query is {row}; expected 0 to {n_q - 1}.")
        return row
    if labels is None:
        if patches.first is None:
            raise BadInput(
                f"query is {query!r}, and the queries have no labels; expected a number from 0 to"
                f" {n_q - 1}, or tokens=."
            )
        labels = [query_label(row, patches) for row in range(n_q)]
    if query not in labels:
        few = ", ".join(map(repr, labels[:3])) + (" …" if n_q > 3 else "")
        raise BadInput(f"query is {shown(query)}; expected one of {n_q} labels, {few}.")
    return labels.index(query)


def image_of(picture: Any, finest: int = FINEST) -> np.ndarray:
    """Return the picture as an array that Matplotlib draws, with ``finest`` pixels a side at most.

    It is measured before anything is made of it.
    """
    expected = "expected (H, W), (H, W, 3) or (H, W, 4)"
    image = as_array("picture", picture)
    if image.dtype.kind != "f" and image.dtype != np.uint8:
        raise TypeError(f"picture {held(image)}; expected uint8, or floats from 0 to 1.")
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (3, 4)):
        first = image.ndim == 3 and image.shape[0] in (1, 3, 4)
        hint = "; its colours are the first axis: np.moveaxis(picture, 0, -1)" if first else ""
        raise BadInput(f"picture has shape {image.shape}; {expected}{hint}.")
    height, width = image.shape[:2]
    if not height or not width or height * width > MAX_PIXELS:
        raise BadInput(
            f"picture has {height:,} × {width:,} pixels; expected 1 to {MAX_PIXELS:,} in all."
        )
    if image.dtype.kind == "f":
        low, high = float(image.min()), float(image.max())
        if not 0 <= low <= high <= 1:
            raise BadInput(
                f"picture holds numbers from {number(low)} to {number(high)}; expected 0 to 1, from"
                " before the processor takes the mean off."
            )
    step = -(-max(height, width) // finest)
    image = image if step == 1 or min(height, width) < step else _coarser(image, step)
    return image if image.dtype == np.uint8 else image.astype(np.float32, copy=False)


def _coarser(image: np.ndarray, step: int) -> np.ndarray:
    """The means of squares of pixels; what is left at the right and below is no whole square."""
    rows, columns = (side // step for side in image.shape[:2])
    squares = image[: rows * step, : columns * step]
    squares = squares.reshape(rows, step, columns, step, *image.shape[2:])
    means = squares.mean(axis=(1, 3), dtype=np.float32)
    return np.rint(means).astype(np.uint8) if image.dtype == np.uint8 else means


def _opacity(given: Any) -> float:
    try:
        share = float(given)
    except (TypeError, ValueError, OverflowError):
        share = np.nan
    if not 0 <= share <= 1 or isinstance(given, str | bool):
        raise BadInput(f"opacity is {shown(given)}; expected 0 to 1.")
    return share


def _apart(
    weights: np.ndarray, seen: np.ndarray, patches: Patches, places: np.ndarray, sink: bool
) -> str:
    """What special tokens get, and all patches together; "" where the map has it all."""
    named = [
        f"{patches.label(key)}: {number(float(weights[key]), least=1) if seen[key] else 'hidden'}"
        for key in range(min(patches.special, MOST_NAMED))
    ]
    weights = np.where(seen, weights, 0)
    if patches.special > MOST_NAMED:
        rest = weights[MOST_NAMED : patches.special].sum()
        named.append(f"{patches.special - MOST_NAMED} others: {number(float(rest), least=1)}")
    if sink:
        named.append(f"sink: {number(1 - float(weights.sum()), least=1)}")
    if not named:
        return ""
    return f"{', '.join(named)}; all patches: {number(float(weights[places].sum()), least=1)}"


def _drawn(
    view: View,
    row: int,
    label: str,
    patches: Patches,
    places: np.ndarray,
    image: np.ndarray,
    opacity: float,
    paper: Paper,
) -> PaperFigure:
    printing.load()
    from matplotlib.cm import ScalarMappable
    from matplotlib.patches import Rectangle

    from attention.figures.paper.drawing import HIDDEN, LogNorm, Normalize, colour_map, draw_picture
    from attention.figures.paper.sheet import LINE, MARGIN, Sheet, settings

    weights = view.stages["weights"][row]
    hidden = ~view.allowed[row] | ~np.isfinite(weights)
    values = np.ma.array(weights[places], mask=hidden[places])
    largest = float(values.max()) if values.count() else 0.0
    whole = SimpleNamespace(low=0.0, high=largest or 1.0, colours="share")
    scale = scale_of([SimpleNamespace(values=values, scale=whole)], paper)
    apart = _apart(weights, view.allowed[row], patches, places, view.sink is not None)
    (rows, columns), (height, width) = places.shape, image.shape[:2]
    with settings():
        sheet = Sheet(paper, label + apart + "0123456789.query×")
        below = sheet.letters.wrapped(apart, paper.font_size, 0.7 * sheet.room)
        words = LINE * paper.font_size * (2 + len(below))
        side = min(0.8 * sheet.room * height / width + words, sheet.height)
        if side < words + LINE * paper.font_size:
            raise sheet.too_many(1)
        figure = sheet.figure(side, f"weights of {label} over a picture of {patches}")
        figure.set_layout_engine(
            "constrained", rect=sheet.share(MARGIN, sheet.top, sheet.room, side)
        )
        axes = figure.add_subplot(label="over_picture")
        draw_picture(axes, image, (0, columns, rows, 0))
        norm = (LogNorm if scale.logarithmic else Normalize)(scale.low, scale.high, clip=True)
        colours = colour_map(scale.colours).with_extremes(bad=HIDDEN)
        axes.pcolormesh(values, norm=norm, cmap=colours, alpha=opacity, linewidth=0)
        own = None if patches.first is None else patches.first + row
        for i, j in np.argwhere(places == own).tolist() if own is not None else []:
            for points, ink in OUTLINES:
                axes.add_patch(Rectangle((j, i), 1, 1, fill=False, lw=points, ec=ink))
        axes.set(
            xlim=(0, columns), ylim=(rows, 0), aspect=height * columns / (width * rows), anchor="W"
        )
        axes.set(xticks=[], yticks=[], title=clean(f"{paper.query} {label.removeprefix('query ')}"))
        axes.set_xlabel("\n".join(below))
        if paper.bar:
            bar = figure.colorbar(
                ScalarMappable(norm, colours),
                ax=axes,
                extend=scale.extend,
                label=clean(paper.bar_title) or "weight",
            )
            bar.minorticks_off()
    return figure
