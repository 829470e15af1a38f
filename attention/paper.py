"""How a figure for a paper is set: sizes as a journal asks for them, colours, words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from attention.conversion import shown
from attention.limits import BadInput

CM = 72 / 2.54  # points
SIZES = {  # width and greatest height in cm, letters in pt
    "column": (8.25, 23.0, 8.0),
    "text": (17.1, 23.0, 8.0),
    "slide": (25.4, 14.2, 14.0),
}
SMALLEST, WIDEST = 2.0, 120.0  # cm
FINEST, LARGEST = 4.0, 72.0  # pt
MOST_DIGITS = 12
MOST_LETTERS = 2000  # of a caption
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
    count_repeats: bool = True  # whether words that repeat are told apart, as ``the (1)``
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
        if not (type(self.digits) is int and 0 <= self.digits <= MOST_DIGITS):
            raise BadInput(f"digits is {self.digits!r}; 0 to {MOST_DIGITS} are wanted.")
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

    def differing(self) -> dict[str, Any]:
        """What is not as :class:`Paper` has it, for a link."""
        usual = Paper()
        return {
            one.name: value
            for one in fields(self)
            if (value := getattr(self, one.name)) != getattr(usual, one.name)
        }

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Paper:
        """The inverse of :meth:`differing`, from a file a stranger may have written."""
        usual = cls()
        for name, value in found.items():
            if not hasattr(usual, name) or name not in cls.__dataclass_fields__:
                raise BadInput(f"a figure has no setting {shown(name)}")
            kinds = _KINDS.get(name, (type(getattr(usual, name)),))
            if not isinstance(value, kinds) or (type(value) is bool and bool not in kinds):
                raise BadInput(f"{name} cannot be {shown(value)}")
            if isinstance(value, str) and len(value) > MOST_LETTERS:
                raise BadInput(f"{name} has {len(value):,} letters; {MOST_LETTERS:,} fit")
        limits = found.get("limits")
        return cls(**{**found, "limits": tuple(limits)} if isinstance(limits, list) else found)


_NUMBER = (int, float)
_KINDS: dict[str, tuple[type, ...]] = {
    "width": (str, *_NUMBER),
    "height": _NUMBER,
    "font_size": _NUMBER,
    "tick_size": _NUMBER,
    "bar_title": (str, type(None)),
    "limits": (str, list, tuple),
}
