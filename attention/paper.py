"""How a figure for a paper is set: sizes as a journal asks for them, colours, words.

Each field of :class:`Paper` says what it may be, and how its control on the page is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from reprlib import repr as shown
from typing import Any

from attention.limits import LIMIT, MAX_CAPTION, BadInput

SIZES: dict[str, dict[str, Any]] = {  # centimetres, and the letters in points
    "column": {"width": 8.25, "height": 23.0, "font_size": 8.0},
    "text": {"width": 17.1, "height": 23.0, "font_size": 8.0},
    "slide": {"width": 25.4, "height": 14.2, "font_size": 14.0},
}
CM, PT = (2.0, 120.0, " cm"), (4.0, 72.0, " pt")
DIVERGING = "orange_blue"
# Of equal steps in CIELAB, from L* 97: to L* 24 and, where the sign turns, to L* 60, so that both
# ends differ in grey too. A name without colours here is one of Matplotlib's.
_BLUE = ("#f6f6f6", "#d2d3e2", "#afb0cf", "#8b8fbb", "#676fa8", "#405194", "#003581")
_ORANGE = ("#e1720b", "#ea883d", "#f29e62", "#f7b486", "#facaab", "#fae0d0")
SHARES = ("viridis", "cividis", "magma", "blues")
COLOURS: dict[str, tuple[str, ...]] = {"blues": _BLUE, DIVERGING: _ORANGE + _BLUE}
SIGNS = (DIVERGING, *SHARES)


def _set(default: Any, label: str, allowed: Any = None, help: str | None = None) -> Any:
    """Return a field; ``allowed`` is names, or least, most and unit; default: the default's type.

    ``help`` is for a term that its label cannot explain.
    """
    allowed = allowed or type(default)
    return field(default=default, metadata={"label": label, "help": help, "allowed": allowed})


@dataclass(frozen=True)
class Paper:
    """How a figure is set: sizes as a journal asks for them, words as an author writes them.

    Every colour map has equal steps to the eye, can be read by the colour-blind, and ends in two
    different greys. ``"viridis"`` is the default for shares (weights), ``"orange_blue"`` for
    numbers with a sign; the others are ``"cividis"``, ``"magma"`` and ``"blues"``.

    ``width`` is ``"column"``, ``"text"``, ``"slide"`` or centimetres. Where they are not given,
    height and letters follow from the width, and labels have 7/8 of the letters.

    >>> Paper(width="slide").font_size, Paper(width=12).height
    (14.0, 23.0)
    """

    width: str | float = _set("column", "Width (cm)", CM)
    height: float = _set(None, "Maximum height (cm)", CM)
    font_size: float = _set(None, "Font size (pt)", PT)
    tick_size: float = _set(None, "Tick label size (pt)", PT)
    numbers: bool = _set(True, "numbers")
    bar: bool = _set(True, "colour bar")
    logarithmic: bool = _set(False, "logarithmic colours")
    letters: bool = _set(True, "panel letters")
    axis_titles: bool = _set(True, "axis titles")
    count_repeats: bool = _set(True, "number repeated words")
    limits: str = _set(
        "stage",
        "Colour range",
        ("stage", "data", "own"),
        "0 to 1 for weights and symmetric about 0 for other stages; or from the lowest to the"
        " highest number. Diverging colours keep 0 in the middle.",
    )
    lowest: float = _set(0.0, "Lowest value", (-LIMIT, LIMIT, ""))
    highest: float = _set(1.0, "Highest value", (-LIMIT, LIMIT, ""))
    shares: str = _set("viridis", "Colours for weights", SHARES)
    signs: str = _set(DIVERGING, "Diverging colours", SIGNS)
    query: str = _set("query", "Title of the query axis")
    key: str = _set("key", "Title of the key axis")
    bar_title: str = _set("", "Title of the colour bar")
    title: str = _set("", "Title")
    caption: str = _set("", "Caption")

    def __post_init__(self) -> None:
        usual = SIZES.get(str(self.width), SIZES["text"] | {"width": self.width})
        for name, value in usual.items():
            if name == "width" or getattr(self, name) is None:
                object.__setattr__(self, name, value)
        for one in fields(self):
            if one.name == "tick_size" and self.tick_size is None:
                object.__setattr__(self, "tick_size", max(7 / 8 * self.font_size, PT[0]))
            _check(one.name, getattr(self, one.name), one.metadata["allowed"])
        if self.limits == "own" and self.lowest >= self.highest:
            raise BadInput(f"lowest is {self.lowest:g}; expected less than {self.highest:g}.")

    def differing(self) -> dict[str, Any]:
        """Return the settings that differ from those of :class:`Paper`, for a link."""
        usual = vars(Paper())
        return {name: value for name, value in vars(self).items() if value != usual[name]}

    @classmethod
    def of(cls, changed: Mapping[str, Any]) -> Paper:
        """Return the inverse of :meth:`differing`, from a file that anybody may have written."""
        if unknown := [name for name in changed if name not in cls.__dataclass_fields__]:
            raise BadInput(f"a figure has no setting {shown(unknown[0])}.")
        return cls(**changed)


def _check(name: str, value: Any, allowed: Any) -> None:
    """Raise one sentence if a setting is not allowed."""
    if isinstance(allowed, type):
        fits = type(value) is allowed and len(str(value)) <= MAX_CAPTION
        wanted = (
            "expected True or False"
            if allowed is bool
            else f"expected at most {MAX_CAPTION:,} letters"
        )
    elif isinstance(allowed[0], str):
        fits = isinstance(value, str) and value in allowed
        wanted = f"expected one of {', '.join(allowed)}"
    else:
        least, most, unit = allowed
        fits = isinstance(value, Real) and type(value) is not bool and least <= value <= most
        names = f"{', '.join(SIZES)}, or " if name == "width" else ""
        wanted = f"expected {names}{least:g} to {most:g}{unit}"
    if not fits:
        raise BadInput(f"{name} is {shown(value)}; {wanted}.")
