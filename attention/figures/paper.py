"""How a figure for a paper is set, and the function that draws one with Matplotlib.

Which numbers stand in it is ``paper_panels``, where everything stands ``paper_layout``, and
Matplotlib, which is imported when a figure is first drawn, ``paper_drawing``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from attention.figures.whole import checked_digits, need
from attention.limits import BadInput
from attention.trace import AttentionTrace
from attention.view import View, axes_of

if TYPE_CHECKING:
    from attention.figures.paper_drawing import PaperFigure

CM = 72 / 2.54  # points
SIZES = {  # width and greatest height in cm, letters in pt
    "column": (8.25, 23.0, 8.0),
    "text": (17.1, 23.0, 8.0),
    "slide": (25.4, 14.2, 14.0),
}
SMALLEST, WIDEST = 2.0, 120.0  # cm
FINEST, LARGEST = 4.0, 72.0  # pt
DIVERGING = "orange_blue"
# Of equal steps in CIELAB, from L* 97: to L* 24 and, where the sign turns, to L* 60, so that both
# ends differ in grey too. A name without colours here is one of Matplotlib's.
_BLUE = ("#f6f6f6", "#d2d3e2", "#afb0cf", "#8b8fbb", "#676fa8", "#405194", "#003581")
_ORANGE = ("#e1720b", "#ea883d", "#f29e62", "#f7b486", "#facaab", "#fae0d0")
COLOURS: dict[str, tuple[str, ...]] = {
    "viridis": (),
    "cividis": (),
    "magma": (),
    "blues": _BLUE,
    DIVERGING: _ORANGE + _BLUE,
}
SHARES = tuple(name for name in COLOURS if name != DIVERGING)
SIGNS = (DIVERGING, *SHARES)


@dataclass(frozen=True)
class Paper:
    """How a figure is set: sizes as a journal asks for them, words as an author writes them.

    Every colour map has equal steps to the eye, can be read by the colour-blind, and ends in two
    different greys. ``"viridis"`` is the default for shares (weights), ``"orange_blue"`` for
    numbers with a sign; the others are ``"cividis"``, ``"magma"`` and ``"blues"``.

    >>> Paper(width="slide").font, Paper(width=12).size
    (14.0, (12, 23.0))
    """

    width: str | float = "column"  # of SIZES, or cm
    height: float = 0  # cm, at most; 0: that of the width
    font_size: float = 0  # pt; 0: that of the width
    tick_size: float = 0  # pt, labels of rows, columns and bars; 0: 7/8 of font_size
    letters: bool = True  # (a), (b) … where there are several panels
    axis_titles: bool = True
    query: str = "query"  # the title of an axis of queries
    key: str = "key"
    bar: bool = True
    bar_title: str | None = None  # None: the name of the stage, where there is one
    numbers: bool = True  # in the cells, where they can be read
    digits: int = 2
    shares: str = "viridis"
    signs: str = DIVERGING
    limits: str | tuple[float, float] = "stage"  # 0…1 for weights; "data"; or lowest and highest
    logarithmic: bool = False
    title: str = ""
    caption: str = ""

    def __post_init__(self) -> None:
        for name, value, least, most, unit in (
            ("width", self.size[0], SMALLEST, WIDEST, "cm"),
            ("height", self.size[1], SMALLEST, WIDEST, "cm"),
            ("font_size", self.font, FINEST, LARGEST, "pt"),
            ("tick_size", self.tick, FINEST, LARGEST, "pt"),
        ):
            if not (isinstance(value, (int, float)) and least <= value <= most):
                raise BadInput(f"{name} is {value!r}; {least:g} to {most:g} {unit} are wanted.")
        checked_digits(self.digits)
        for name, known in (("shares", SHARES), ("signs", SIGNS)):
            if getattr(self, name) not in known:
                listed = ", ".join(known)
                raise BadInput(f"{name} is {getattr(self, name)!r}; choose one of {listed}.")
        self._check_limits()

    def _named_sizes(self) -> tuple[float, float, float]:
        if not isinstance(self.width, str):
            return (self.width, *SIZES["text"][1:])
        if self.width not in SIZES:
            names = ", ".join(SIZES)
            raise BadInput(f"width is {self.width!r}; choose one of {names}, or give centimetres.")
        return SIZES[self.width]

    def _check_limits(self) -> None:
        try:
            low, high = (0, 1) if isinstance(self.limits, str) else map(float, self.limits)
        except (TypeError, ValueError):
            low = high = math.nan
        is_known = not isinstance(self.limits, str) or self.limits in ("stage", "data")
        if not (is_known and -math.inf < low < high < math.inf):
            raise BadInput(
                f"limits is {self.limits!r}; 'stage', 'data', or a lowest and a highest number are"
                " wanted."
            )

    @property
    def size(self) -> tuple[float, float]:
        """Width and greatest height in cm."""
        width, height, _ = self._named_sizes()
        return width, self.height or height

    @property
    def font(self) -> float:
        """The size of letters in pt."""
        return self.font_size or self._named_sizes()[2]

    @property
    def tick(self) -> float:
        """That of labels."""
        return self.tick_size or max(self.font * 7 / 8, FINEST)


def paper_figure(
    trace: AttentionTrace,
    *,
    stages: Collection[str] | None = ("weights",),
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    item: int = 0,
    heads: int | Iterable[int] | None = 0,
    count_repeats: bool = True,
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
    count_repeats : whether words that repeat are told apart, as ``the (1)``
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

    tokens, key_tokens = _tuple(tokens), _tuple(key_tokens)
    count = axes_of(trace)[1] if isinstance(trace, AttentionTrace) else 1
    chosen = range(count) if heads is None else heads if isinstance(heads, Iterable) else [heads]
    views = []
    for head in chosen:
        view = View.of(trace, tokens=tokens, key_tokens=key_tokens, item=item, head=head)
        views.append(view if count_repeats else plain(view, tokens, key_tokens))
    figure = draw(views, stages, paper or Paper())
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
