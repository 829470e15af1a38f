"""The stages in reading order: one name each, with the formula, what it means and where a cell comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Stage:
    """One matrix on the way from embeddings to output, as every page, figure, export and test names it."""

    name: str
    symbol: str
    formula: str
    sentence: str
    rows: str  # what a row is: "queries", "keys", or the name of a dimension
    columns: str
    group: str  # panes of one group stand in one line
    limits: str  # stages with the same word share their colour range
    sources: tuple[tuple[str, str], ...] = ()  # where cell (i, j) comes from: (stage, "row i" …)


def _table(*stages: Stage) -> dict[str, Stage]:
    return {stage.name: stage for stage in stages}


STAGES = _table(
    Stage(
        "X",
        "X",
        "word embeddings",
        "One row of numbers for each token.",
        "queries",
        "d_model",
        "inputs",
        "X",
    ),
    Stage(
        "memory",
        "Y",
        "second sequence",
        "Keys and values come from these tokens.",
        "keys",
        "d_model",
        "inputs",
        "X",
    ),
    Stage(
        "W_Q",
        "W_Q",
        "query weights",
        "Turns an embedding into a query.",
        "d_model",
        "d_k",
        "inputs",
        "W",
    ),
    Stage(
        "W_K",
        "W_K",
        "key weights",
        "Turns an embedding into a key.",
        "d_model",
        "d_k",
        "inputs",
        "W",
    ),
    Stage(
        "W_V",
        "W_V",
        "value weights",
        "Turns an embedding into a value.",
        "d_model",
        "d_v",
        "inputs",
        "W",
    ),
    Stage(
        "Q",
        "Q",
        "X W_Q",
        "What each token is looking for.",
        "queries",
        "d_k",
        "projections",
        "QK",
        (("X", "row i"), ("W_Q", "column j")),
    ),
    Stage(
        "K",
        "K",
        "X W_K",
        "What each token offers to be found by.",
        "keys",
        "d_k",
        "projections",
        "QK",
        (("memory", "row i"), ("W_K", "column j")),
    ),
    Stage(
        "V",
        "V",
        "X W_V",
        "What each token hands over when found.",
        "keys",
        "d_v",
        "projections",
        "V",
        (("memory", "row i"), ("W_V", "column j")),
    ),
    Stage(
        "scores",
        "scores",
        "Q Kᵀ",
        "How well each query matches each key.",
        "queries",
        "keys",
        "attention",
        "scores",
        (("Q", "row i"), ("K", "row j")),
    ),
    Stage(
        "scaled",
        "scaled",
        "scores / √d_k",
        "The spread no longer grows with d_k.",
        "queries",
        "keys",
        "attention",
        "scaled",
        (("scores", "cell"),),
    ),
    Stage(
        "mask",
        "M",
        "0 or −∞",
        "Added: 0 where allowed, −∞ elsewhere.",
        "queries",
        "keys",
        "attention",
        "scaled",
    ),
    Stage(
        "masked",
        "masked",
        "scaled + M",
        "Hidden keys get −∞.",
        "queries",
        "keys",
        "attention",
        "scaled",
        (("scaled", "cell"), ("mask", "cell")),
    ),
    Stage(
        "weights",
        "weights",
        "softmax(masked)",
        "Each row shares out 1 among the keys.",
        "queries",
        "keys",
        "attention",
        "weights",
        (("masked", "row i"), ("masked", "cell")),
    ),
    Stage(
        "output",
        "output",
        "weights V",
        "Each row mixes the values by its weights.",
        "queries",
        "d_v",
        "attention",
        "V",
        (("weights", "row i"), ("V", "column j")),
    ),
    Stage(
        "joined",
        "joined",
        "heads side by side",
        "The outputs of all heads in one row.",
        "queries",
        "h·d_v",
        "after",
        "V",
    ),
    Stage("W_O", "W_O", "output weights", "Mixes the heads.", "h·d_v", "d_out", "after", "W"),
    Stage(
        "projected",
        "projected",
        "joined W_O",
        "The layer's answer, one row for each token.",
        "queries",
        "d_out",
        "after",
        "V",
        (("joined", "row i"), ("W_O", "column j")),
    ),
    Stage(
        "context",
        "context",
        "Σ output",
        "All outputs added up: one vector for the sequence.",
        "sum",
        "d_v",
        "after",
        "context",
        (("output", "column j"),),
    ),
)

COMPUTED = tuple(name for name, stage in STAGES.items() if stage.sources or name == "joined")


@dataclass(frozen=True, eq=False)
class View:
    """One item of the batch and one head: the two-dimensional stages that stand on the page."""

    stages: dict[str, np.ndarray]  # name → (rows, columns), in reading order
    labels: dict[str, tuple[str, ...]]  # "queries", "keys", "d_k" … → one label each
    allowed: np.ndarray  # (n_q, n_k)
    scale: float
    bias: np.ndarray | None = None  # (n_q, n_k), added to the scaled scores
    softmax: bool = True
    head: int = 0  # which one, of `heads`
    heads: int = 1

    @property
    def divides_by_root(self) -> bool:
        """Whether the scale is 1/√d_k."""
        return math.isclose(self.scale, 1 / math.sqrt(self.stages["Q"].shape[1]), rel_tol=1e-15)

    def rows(self, name: str) -> tuple[str, ...]:
        """The labels of a stage's rows."""
        return self.labels[STAGES[name].rows]

    def columns(self, name: str) -> tuple[str, ...]:
        """The labels of a stage's columns."""
        return self.labels[STAGES[name].columns]

    def source(self, name: str) -> str:
        """The stage that ``name`` stands for here: without a second sequence the memory is X."""
        return "X" if name == "memory" and "memory" not in self.stages else name
