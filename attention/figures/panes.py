"""The panes of the board: one heatmap for each stage, with its words, limits, marks and text alternative."""

from __future__ import annotations

import numpy as np

from attention.figures.heatmap import heatmap
from attention.numbers import number
from attention.stages import STAGES, View


def panes(
    view: View, *, digits: int = 2, query: int | None = None, cell=None, title: str = ""
) -> list[dict]:
    """One dict for each stage in reading order: ``figure`` and the words that stand around it."""
    limits = colour_limits(view)
    return [
        _pane(view, name, limits[name], digits, _marks(view, name, query, cell), title)
        for name in view.stages
    ]


def side_by_side(
    true: View, *, digits: int = 2, query: int | None = None, title: str = ""
) -> list[dict]:
    """Weights and output under a true −∞ mask, to stand beside those of a mask that adds −1e9."""
    found = [
        pane
        for pane in panes(true, digits=digits, query=query, title=title)
        if pane["name"] in ("weights", "output")
    ]
    for pane in found:
        pane |= {
            "name": f"{pane['name']}_inf",
            "symbol": f"{pane['symbol']} with −∞",
            "group": "beside",
            "sources": [],
        }
    return found


def _pane(view: View, name: str, limits, digits: int, marks, title: str) -> dict:
    stage, words = STAGES[name], describe(view, name)
    found = pane(
        name,
        view.stages[name],
        view.rows(name),
        view.columns(name),
        limits=limits,
        digits=digits,
        hidden=hidden_cells(view, name),
        marks=marks,
        title=title,
        words={"group": stage.group, "symbol": stage.symbol, **words},
    )
    sources = [(view.source(source), what) for source, what in stage.sources]
    return found | {
        "sources": [(source, what) for source, what in sources if source in view.stages]
    }


def pane(
    name: str,
    matrix,
    rows,
    columns,
    *,
    words: dict,
    limits,
    digits=2,
    hidden=None,
    marks=(),
    title="",
) -> dict:
    """One heatmap with the words around it: ``words`` holds its group, symbol, formula and sentence."""
    symbol = " = ".join(filter(None, (words["symbol"], words["formula"])))
    figure = heatmap(
        matrix,
        rows,
        columns,
        limits=limits,
        digits=digits,
        hidden=hidden,
        marks=marks,
        title=" · ".join(filter(None, (symbol, title))),
        bar=name != "mask",  # two values, grey and not: a scale would say nothing
    )
    return {
        "name": name,
        **words,
        "shape": f"{matrix.shape[0]} × {matrix.shape[1]}",
        "alt": alternative(matrix, rows, columns, hidden, words["symbol"], digits),
        "rows": rows,
        "columns": columns,
        "sources": [],
        "figure": figure,
    }


def describe(view: View, name: str) -> dict[str, str]:
    """The formula and the sentence of a stage, as they are true for these settings."""
    formula, sentence = STAGES[name].formula, STAGES[name].sentence
    if name in ("K", "V") and "memory" in view.stages:
        formula = formula.replace("X", "Y")
    if name in "QKV" and f"W_{name}" not in view.stages:
        formula = "given"
    if name == "scaled" and not view.divides_by_root:
        formula, sentence = (
            f"scores × {number(view.scale, 4)}",
            "The scores, multiplied by the scale you chose.",
        )
    if name == "mask" and view.bias is not None:
        formula, sentence = "0 or −1e9", "Added: 0 where allowed, −1e9 elsewhere."
    if name == "masked":
        if view.allowed.all() and view.bias is None:
            sentence = "No mask: nothing is hidden."
        elif view.bias is not None:
            sentence = "Hidden keys get −1e9 added, as tutorials do."
    if name == "weights" and not view.softmax:
        formula, sentence = "masked, as it is", "Softmax is off: raw scores weigh the values."
    if name == "context" and view.heads > 1:
        sentence = "The outputs of this head added up."
    return {"formula": formula, "sentence": sentence}


def formula(view: View) -> list[tuple[str, str | None]]:
    """The formula in parts, each with the stage it stands for."""
    scale = (
        []
        if view.scale == 1 and not view.divides_by_root
        else [(" / √d_k" if view.divides_by_root else f" × {number(view.scale, 4)}", "scaled")]
    )
    mask = [] if view.allowed.all() and view.bias is None else [(" + M", "masked")]
    inner = [("Q", "Q"), (" ", None), ("Kᵀ", "K"), *scale, *mask]
    head = [("Attention", "output"), ("(Q, K, V) = ", None)]
    if view.softmax:
        head.append(("softmax", "weights"))
    tail = [(f"   head {view.head + 1} of {view.heads}", None)] if view.heads > 1 else []
    return [*head, ("( ", None), *inner, (" ) ", None), ("V", "V"), *tail]


def hidden_cells(view: View, name: str) -> np.ndarray | None:
    """Where a stage has cells behind the mask; None for stages that come before it."""
    if name not in ("mask", "masked", "weights"):
        return None
    hidden = ~view.allowed
    if view.bias is not None:
        hidden = hidden | (view.bias <= -1e8)
    return hidden


def colour_limits(view: View) -> dict[str, tuple[float, float]]:
    """The colour range of each stage: the same for stages that are compared, 0…1 for weights."""
    most: dict[str, float] = {}
    for name, matrix in view.stages.items():
        hidden = hidden_cells(view, name)
        shown = np.isfinite(matrix) if hidden is None else np.isfinite(matrix) & ~hidden
        word = STAGES[name].limits
        most[word] = max(most.get(word, 0.0), float(np.abs(matrix[shown]).max(initial=0)))
    found = {name: around_zero(most[STAGES[name].limits]) for name in view.stages}
    if view.softmax:
        found["weights"] = (0, 1)
    return found


def around_zero(most: float) -> tuple[float, float]:
    """A diverging range that reaches that far on both sides."""
    return -(most or 1.0), most or 1.0


def alternative(matrix, rows, columns, hidden, symbol: str, digits: int) -> str:
    """The heatmap in a sentence, for those who do not see it."""
    shown = np.isfinite(matrix) if hidden is None else np.isfinite(matrix) & ~hidden
    text = f"{symbol}: {matrix.shape[0]} rows, {matrix.shape[1]} columns."
    if shown.any():
        for word, place in (
            ("Smallest", np.where(shown, matrix, np.inf).argmin()),
            ("Largest", np.where(shown, matrix, -np.inf).argmax()),
        ):
            i, j = divmod(int(place), matrix.shape[1])
            text += f" {word} {number(matrix[i, j], digits)} at {rows[i]}, {columns[j]}."
    covered = 0 if hidden is None else int(hidden.sum())
    return text + (f" {covered} hidden." if covered else "")


def _marks(view: View, name: str, query, cell):
    marks = []
    if query is not None and STAGES[name].rows == "queries":
        marks.append(("query", query, None))
    if cell is not None and cell[0] == name:
        marks.append(("cell", cell[1], cell[2]))
    return tuple(marks)
