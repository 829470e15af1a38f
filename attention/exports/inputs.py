"""A view whose inputs are whole, so that a file of it opens again to the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from attention.session.about import About
from attention.session.settings import Settings
from attention.stages import BIASES, PROJECTIONS, STAGES
from attention.trace import AttentionTrace
from attention.view import OF_ALL_HEADS, View


@dataclass(frozen=True, eq=False)
class WithInputs(View):
    """One head's stages beside inputs of all heads, whose further columns are counted from 1."""

    whole: tuple[str, ...] = ()  # the inputs that hold more columns than the head's own

    def columns(self, name: str) -> tuple[str, ...]:
        if name not in self.whole:
            return super().columns(name)
        return tuple(str(k) for k in range(1, self.stages[name].shape[1] + 1))


def with_inputs(view: View, matrices: Mapping[str, np.ndarray]) -> View:
    """The view with these inputs, (rows, columns of all heads), in place of the head's part.

    >>> import numpy as np
    >>> part = View({"W_Q": np.ones((2, 1))}, {"d_k": ("1",)}, np.ones((2, 2), bool), 1.0, heads=2)
    >>> found = with_inputs(part, {"W_Q": np.ones((2, 2))})
    >>> found.stages["W_Q"].shape, found.columns("W_Q")
    ((2, 2), ('1', '2'))
    """
    wider = {
        name: matrix
        for name, matrix in matrices.items()
        if name in view.stages and view.stages[name].shape != matrix.shape
    }
    if not wider:
        return view
    known = {name: getattr(view, name) for name in View.__dataclass_fields__}
    return replace(WithInputs(**known), stages=view.stages | wider, whole=tuple(wider))


def of_settings(s: Settings, view: View) -> View:
    """With the inputs of the page, of the item that is looked at."""
    if s.weights_alone:
        return view
    item = s.item if s.batch else ...
    of_item = {
        name: matrix.values if STAGES[name].is_shared else matrix.values[item]
        for name, matrix in s.matrices.items()
    }
    return with_inputs(view, of_item)


def of_trace(trace: AttentionTrace, view: View) -> View:
    """With the weights of a trace; its Q, K and V were split before and stay the head's own."""
    names = (*PROJECTIONS, *BIASES, "R")
    found = {name: values for name in names if (values := getattr(trace, name)) is not None}
    return with_inputs(view, found)


def of_all_heads(view: View) -> tuple[str, ...]:
    """The stages of a view that belong to no single head."""
    return (*OF_ALL_HEADS, *(view.whole if isinstance(view, WithInputs) else ()))


def with_whole(about: About, view: View) -> About:
    """What such a file says of itself, with the inputs it holds whole."""
    names = view.whole if isinstance(view, WithInputs) else ()
    return replace(about, whole=tuple(name for name in names if name in view.stages))
