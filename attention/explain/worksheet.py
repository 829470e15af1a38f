"""A worksheet: numbers that are given, stages to work out by hand, and their key.

One record, which is written as a page to print. The key is computed from the numbers as they
are printed: they are rounded first, so that whoever works from the paper gets the key.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention.core.heads import multi_head_attention, self_attention
from attention.core.scores import FUNCTION, SIGMOID
from attention.core.trace import AttentionTrace
from attention.explain.view import View
from attention.limits import BadInput
from attention.vocabulary.numbers import MINUS, exact, number
from attention.vocabulary.sentences import capital, in_words, to_decimals
from attention.vocabulary.stages import COMPUTED, PREPARED, STAGES

MOST = 8  # rows and columns of a grid on a page whose cells have room for a number by hand
MOST_POWER = 4  # of e, in a table of its powers
OF_ALL_HEADS = ("joined", "W_O", "projected")
SYMBOLS = {"memory": "Y", "mask": "M", "weights": "A", "output": "Z"}  # else upright names
GIVEN = ("X_P", *PREPARED)  # made before a sheet begins
BEFORE = ("scaled", "capped", "masked")  # the weights


@dataclass(frozen=True)
class Grid:
    """A stage on paper."""

    name: str
    symbol: str  # LaTeX
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]  # (rows, columns), the numbers as they are printed


@dataclass(frozen=True)
class Task:
    """A stage to work out: its grid is empty on the sheet and full in the key."""

    formula: str  # LaTeX
    sentence: str  # what to do for each cell
    grid: Grid


@dataclass(frozen=True)
class Worksheet:
    """The content of one sheet."""

    title: str
    sentence: str  # the words in a line
    notes: tuple[str, ...]  # how numbers are rounded
    given: tuple[Grid, ...]
    tasks: tuple[Task, ...]
    about: tuple[str, ...] = ()  # what the sheet says of itself
    number: int = 0  # of a class; 0 for one alone

    @property
    def name(self) -> str:
        return f"Sheet {self.number}" if self.number else ""

    @property
    def key_name(self) -> str:
        return f"Answer key to sheet {self.number}" if self.number else "Answer key"


def choices(view: View) -> list[str]:
    """Return the stages from which on a sheet may be empty; Q, K and V start together.

    >>> from attention import self_attention
    >>> eye = np.eye(2)
    >>> choices(View.of(self_attention(eye, eye, eye, eye)))
    ['Q', 'scores', 'scaled', 'weights', 'output']
    """
    return [name for name in _computed(view) if name not in ("K", "V")]


def refusal(view: View, first: str) -> str:
    """Return why a sheet cannot be made, in one sentence: nothing to do, or no room; else ""."""
    if "R" in view.stages:
        return "a worksheet has no room for a relative bias; switch it off first."
    if view.softmax == FUNCTION or "modified" in view.stages:
        return "a worksheet has no room for functions of a score, or in place of the softmax."
    if first not in choices(view):
        return "finished weights leave nothing to work out on a worksheet."
    given, asked = _divided(view, first)
    for name in (*given, *asked):
        rows, columns = view.stages[name].shape
        if max(rows, columns) > MOST:
            return (
                f"a worksheet has room for {MOST} words and matrices {MOST} wide;"
                f" {STAGES[name].heading} is {rows} × {columns} here."
            )
    return ""


def worksheet(
    view: View,
    first: str,
    *,
    title: str,
    sentence: str,
    digits: int = 2,
    about: tuple[str, ...] = (),
    number: int = 0,
) -> Worksheet:
    """Return the sheet of a view, to be worked out from the stage ``first`` on.

    >>> from attention import self_attention
    >>> view = View.of(self_attention([[1, 0], [0, 2]], np.eye(2), np.eye(2), [[0.123], [4]]))
    >>> sheet = worksheet(view, "output", title="By hand", sentence="a b")
    >>> [(grid.name, grid.texts) for grid in sheet.given][1]
    ('weights', (('0.67', '0.33'), ('0.06', '0.94')))
    >>> sheet.tasks[0].formula, sheet.tasks[0].grid.texts  # of V as it is printed: 0.12 and 8
    ('Z = A\\\\,V', (('2.72',), ('7.53',)))
    """
    if why := refusal(view, first):
        raise BadInput(why)
    given, asked = _divided(view, first)
    texts = {name: view.texts(name, digits) for name in given}
    stages = {name: _read(cells) for name, cells in texts.items()}
    is_rounded = any(not _same(stages[name], view.stages[name]) for name in given)
    made = _worked(view, first, stages)
    texts |= {name: made.texts(name, digits) for name in asked}

    def grid(name: str) -> Grid:
        cells = tuple(map(tuple, texts[name]))
        return Grid(name, _symbol(name), view.rows(name), view.columns(name), cells)

    known = [*map(grid, given), *_powers(made, asked, digits)]
    tasks = (Task(*_SAYS[name](view, _standing(view)), grid(name)) for name in asked)
    has_powers = any("e" in text for name in asked for row in texts[name] for text in row)
    notes = (*_notes(digits, is_rounded, has_powers), *_head(view), *_made_before(view, given))
    return Worksheet(title, sentence, notes, tuple(known), tuple(tasks), about, number)


def _notes(digits: int, is_rounded: bool, has_powers: bool) -> list[str]:
    notes = [
        f"Round {to_decimals(digits)}. The answer key rounds only at the end, so your last digit"
        " may differ."
    ]
    if is_rounded:
        notes.append("The key is computed from the given numbers as they are printed.")
    if has_powers:
        notes.append("In the answer key, 1.2e−4 means 0.00012.")
    return notes


def _made_before(view: View, given: list[str]) -> list[str]:
    """Say what was done to the given Q and K, which is not part of the exercise."""
    steps = {"normed": view.norm, "rotated": view.rotary}
    done = [step for step in steps if {f"Q_{step}", f"K_{step}"} <= {*given}]
    return [f"Q and K are given already {in_words(done)}."] if done else []


def _head(view: View) -> tuple[str, ...]:
    which = view.which_head
    return (f"{capital(which)}.",) if which else ()


# ---- which stages --------------------------------------------------------------------------------


def _standing(view: View) -> dict[str, str]:
    """Return the stages that equal another one, with the name of that one."""
    same = {"joined": "output"}
    if view.scale == 1:
        same["scaled"] = "scores"
    if "mask" not in view.stages:
        before = view.source("scaled", "masked")
        same["masked"] = same.get(before, before)
    if not view.softmax and view.allowed.all():
        same["weights"] = same.get("masked", "masked")
    return same


def _computed(view: View) -> list[str]:
    """Return the stages to work out, in order."""
    if "masked" not in view.stages:  # finished weights
        return []
    same = _standing(view)
    left_out = {*same, *(OF_ALL_HEADS if view.heads > 1 else ())}
    left_out |= {name for name in "QKV" if f"W_{name}" not in view.stages}
    left_out |= {*GIVEN, *("QKV" if view.source("Q") != "Q" else "")}  # no sines by hand
    return [name for name in view.stages if name in COMPUTED and name not in left_out]


def _divided(view: View, first: str) -> tuple[list[str], list[str]]:
    """Return the stages that are given, and those to work out."""
    computed, same = _computed(view), _standing(view)
    asked = computed[computed.index(first) :]
    sources = {same.get(source, source) for name in asked for source, _ in view.sources(name)}
    return [name for name in view.stages if name in sources - {*asked}], asked


def _symbol(name: str) -> str:
    if name in SYMBOLS:
        return SYMBOLS[name]
    upright = rf"\mathrm{{{name}}}"
    if name in GIVEN or name.startswith("b_"):
        return f"({STAGES[name].latex})" if name == "X_P" else STAGES[name].latex
    return STAGES[name].symbol if name in ("X", "Q", "K", "V") or "W_" in name else upright


# ---- the numbers ---------------------------------------------------------------------------------


def _powers(made: View, asked: list[str], digits: int) -> list[Grid]:
    """Return e to the powers that the softmax needs, if they are few: halves near 0.

    The table has more powers than are needed.
    """
    masked = made.stages["masked"]
    halves = 2 * np.append(masked[np.isfinite(masked)], made.sink or [])
    near = halves.size and np.abs(halves).max() <= 2 * MOST_POWER
    if "weights" not in asked or not made.softmax or not near or (halves % 1).any():
        return []
    most = max(math.ceil(np.abs(halves).max() / 2), 1)
    powers = np.arange(-2 * most, 2 * most + 1) / 2
    texts = tuple(number(math.exp(x), digits) for x in powers)
    columns = tuple(number(x, 1) for x in powers)
    return [Grid("powers", "x", ("eˣ",), columns, (texts,))]


def _read(texts: list[list[str]]) -> np.ndarray:
    """Read the numbers as they are printed."""
    return np.array([[float(t.replace(MINUS, "-").replace("∞", "inf")) for t in r] for r in texts])


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(one, other, equal_nan=True)


def _worked(view: View, first: str, given: dict[str, np.ndarray]) -> View:
    """Compute the attention of this head only from the given numbers."""
    if view.bias is not None and "mask" in given:  # as it is printed too
        view = replace(view, bias=np.where(np.isfinite(given["mask"]), given["mask"], 0.0))
    hides: dict[str, Any] = {"allowed": view.allowed, "bias": view.bias}
    rule: dict[str, Any] = {"scale": view.scale, "softmax": view.softmax}
    rule |= {"softcap": view.softcap, "sinks": view.sink}
    after = {name: given[name] for name in ("W_O", "b_O") if name in given}
    after |= {"b_O": after["b_O"][0]} if "b_O" in after else {}
    if first == "Q":
        W_Q, W_K, W_V = (given[f"W_{name}"] for name in "QKV")
        more: dict[str, Any] = hides | rule | after | {"memory": given.get("memory")}
        more |= {name: given[name][0] for name in ("b_Q", "b_K", "b_V") if name in given}
        made = self_attention(given[view.source("X", "Q")], W_Q, W_K, W_V, **more)
        return View.of(made, context="context" in view.stages)
    if first == "scores":
        Q, K = given[view.source("Q")], given[view.source("K")]
        made = _attention(Q, K, given["V"], hides | rule | after)
    else:
        made = _attention(*_from_within(view, first, given), _rest(view, first) | after)
    return View.of(made, context="context" in view.stages)


def _attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, rule: dict[str, Any]) -> AttentionTrace:
    return multi_head_attention(Q, K, V, heads=1, **rule)


def _from_within(
    view: View, first: str, given: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Q, K and V whose attention begins with a given stage: the scores of Q and 1 are Q."""
    if first in ("projected", "context"):
        Z = given["output"]
        return np.eye(len(Z)), np.eye(len(Z)), Z
    (source, _), *_ = view.sources(first)
    began = given[_standing(view).get(source, source)]
    return np.where(np.isneginf(began), 0, began), np.eye(began.shape[1]), given["V"]


def _rest(view: View, first: str) -> dict[str, Any]:
    """Return the arguments for what is left to do from that stage on."""
    softmax = view.softmax if first in (*BEFORE, "weights") else False
    rule: dict[str, Any] = {"scale": view.scale if first == "scaled" else 1.0, "softmax": softmax}
    if first in (*BEFORE, "weights"):
        rule |= {"allowed": view.allowed, "sinks": view.sink}
    rule |= {"softcap": view.softcap} if first in ("scaled", "capped") else {}
    return rule | ({"bias": view.bias} if first in BEFORE else {})


# ---- the words -----------------------------------------------------------------------------------

Same = dict[str, str]
Said = tuple[str, str]  # formula in LaTeX, sentence


def _source(view: View, same: Same, name: str, place: int = 0) -> str:
    """Return the symbol of what a stage is made of."""
    source = view.sources(name)[place][0]
    return _symbol(same.get(source, source))


_PRODUCT = "Each cell: row of the left times column of the right (multiply entry by entry, add)."


def _projection(name: str) -> Callable[[View, Same], Said]:
    def said(view: View, same: Same) -> Said:
        formula = rf"{name} = {_source(view, same, name)}\,W_{name}"
        return _with_bias(view, f"b_{name}", formula)

    return said


def _with_bias(view: View, bias: str, formula: str) -> Said:
    """Return a product and its sentence, with the bias added if there is one."""
    if bias not in view.stages:
        return formula, _PRODUCT
    return f"{formula} + {bias}", f"{_PRODUCT} Last, the column’s number of {bias[0]} is added."


def _capped(view: View, same: Same) -> Said:
    source, cap = _source(view, same, "capped"), exact(view.softcap or 1)
    formula = rf"\mathrm{{capped}} = {cap} \cdot \tanh(\dfrac{{{source}}}{{{cap}}})"
    return formula, f"Each number: divided by {cap}, its tanh, times {cap}."


_QK = r"\mathrm{scores} = Q\,K^{\top}"


def _scores(view: View, same: Same) -> Said:
    Q, K = (STAGES[view.source(name)].latex for name in "QK")
    said = (
        "Each cell: the query’s row of Q times the key’s row of K (multiply entry by entry, add)."
    )
    return rf"\mathrm{{scores}} = {Q}\,{{{K}}}^{{\top}}" if Q != "Q" else _QK, said


def _scaled(view: View, same: Same) -> Said:
    if not view.divides_by_root:
        factor = exact(view.scale).replace("-", MINUS)
        return rf"\mathrm{{scaled}} = \mathrm{{scores}} \cdot {factor}", f"Each score × {factor}."
    d_k = view.stages["Q"].shape[1]
    formula = r"\mathrm{scaled} = \dfrac{\mathrm{scores}}{\sqrt{d_k}}"
    root = f"√{d_k} {'=' if math.isqrt(d_k) ** 2 == d_k else '≈'} {number(math.sqrt(d_k), 4)}"
    return formula, f"Each score is divided by {root}."


def _masked(view: View, same: Same) -> Said:
    source = _source(view, same, "masked")
    hidden = "" if view.allowed.all() else " Any number plus −∞ is −∞: this key is hidden."
    return rf"\mathrm{{masked}} = {source} + M", f"Cell by cell.{hidden}"


def _weights(view: View, same: Same) -> Said:
    source = _source(view, same, "weights")
    if not view.softmax:
        return rf"A = {source}", "Softmax is off: as it is, and 0 where a key is hidden."
    if view.softmax == SIGMOID:
        hidden = "" if view.allowed.all() else " It is 0 where a key is hidden."
        said = f"Each number x by itself: 1 divided by 1 and e to the power of {MINUS}x.{hidden}"
        return rf"A = \mathrm{{sigmoid}}({source}), \quad \dfrac{{1}}{{1 + e^{{-x}}}}", said
    formula = rf"A = \mathrm{{softmax}}({source}), \quad \dfrac{{e^x}}{{\sum e^x}}"
    zero = "" if view.allowed.all() else f", 0 for {MINUS}∞"
    said = f"In each row: e to the power of each number{zero}, divided by the sum of these powers."
    if view.sink is not None:
        sink = number(view.sink, 4)
        over = rf"\dfrac{{e^x}}{{\sum e^x + e^{{{sink}}}}}"
        formula = rf"A = \mathrm{{softmax}}({source}), \quad {over}"
        said = f"{said[:-1]} and e to the power of {sink}, the sink’s."
        return formula, f"{said} The rest up to 1 goes to the sink."
    if view.allowed.any(axis=1).all():
        return formula, f"{said} Each row sums to 1."
    return formula, f"{said} A row with no visible key stays 0."


def _output(view: View, same: Same) -> Said:
    return rf"Z = {_source(view, same, 'output')}\,V", _PRODUCT


def _projected(view: View, same: Same) -> Said:
    return _with_bias(view, "b_O", r"\mathrm{projected} = Z\,W_O")


def _context(view: View, same: Same) -> Said:
    return r"\mathrm{context} = \sum Z", "Each column of Z, added up."


_SAYS: dict[str, Callable[[View, Same], Said]] = {
    **{name: _projection(name) for name in "QKV"},
    "scores": _scores,
    "scaled": _scaled,
    "capped": _capped,
    "masked": _masked,
    "weights": _weights,
    "output": _output,
    "projected": _projected,
    "context": _context,
}
