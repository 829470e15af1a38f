"""The numbers of a trace as a pandas DataFrame, with the labels of a view."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from attention.arrays.conversion import shown
from attention.core.trace import AttentionTrace, reading_order
from attention.explain.view import (
    OF_ALL_HEADS,
    Pick,
    axes_of,
    check_trace,
    distinct,
    labels_of,
    leading_axes,
    place_of,
    recorded_words,
)
from attention.limits import MAX_CELLS, MAX_LISTED, BadInput
from attention.program import needing
from attention.vocabulary.stages import STAGES

if TYPE_CHECKING:
    import pandas as pd

NO_NUMBER = -1  # of an item or head, where a stage has none
ONE_OF = {"queries": "query", "keys": "key", "buckets": "bucket"}  # others are called as they are


def frame(
    trace: AttentionTrace,
    stage: str | None = None,
    *,
    item: int | None = None,
    head: int | None = None,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    tidy: bool | None = None,
) -> pd.DataFrame:
    """Return the numbers of a trace as a pandas DataFrame.

    Parameters
    ----------
    trace : AttentionTrace
    stage : str
        The name of one stage, such as ``"weights"``. Default: all of them.
    item, head : int
        Indices of an item of the batch and a head, from 0. Default: all of them.
    tokens, key_tokens : iterable of str, n_q and n_k words
        Labels of the queries and of the keys, as in :meth:`attention.View.of`.
    tidy : bool
        True: one line for each number. False: one line for each row of the stage, which has to be
        named. Default: False with a stage, True without.

    Returns
    -------
    pandas.DataFrame
        A copy of the trace's numbers, to the bit, in their dtype or, of all stages, the widest.

        Wide, ``tidy=False``: index and columns are the labels of the stage's rows and columns, and
        are called by what these are: ``query`` and ``key``, or a dimension such as ``d_k``. Where
        the trace has an axis of items or heads of which none was chosen, and the stage differs
        between them, ``item`` and ``head`` are levels of the index before the rows.

        Tidy, of one stage: ``item`` and ``head``, where the stage has them, the names of its rows
        and columns, and ``value``. Of all stages: ``stage``, ``item``, ``head``, ``row``,
        ``column`` and ``value``; ``item`` and ``head`` are Int64, missing where a stage belongs to
        all of them.

        In tidy tables, and in an index of several levels, labels are categories in the order of the
        trace, which pivots, groups and sorted rows then keep.

        Items and heads count from 0; those recorded in a real model have their numbers there.

    Raises
    ------
    ValueError, TypeError
        One sentence, where the trace has no such stage, item or head, the labels do not fit, or
        the numbers are too many for a table.
    ModuleNotFoundError
        One sentence, where pandas is not installed.

    >>> from attention import causal, self_attention
    >>> eye = np.eye(2)
    >>> trace = self_attention(eye, eye, eye, eye, allowed=causal(2, 2))
    >>> weights = frame(trace, "weights", tokens=["cat", "dog"])
    >>> weights.index.name, weights.columns.name, float(weights.loc["cat", "dog"])
    ('query', 'key', 0.0)
    >>> frame(trace, "weights", tokens=["cat", "dog"], tidy=True).columns.tolist()
    ['query', 'key', 'value']
    """
    with needing("pandas", "attention.frame"):
        import pandas as pd
    check_trace(trace)
    if not isinstance(tidy, (bool, np.bool_, type(None))):
        raise TypeError(f"tidy is {shown(tidy)}; expected True or False.")
    if stage is None and tidy is not None and not tidy:
        raise ValueError(
            "tidy is False and no stage is named; stages of different shapes make no wide table."
            " Give stage=, such as stage='weights', or tidy=True."
        )
    chosen = _Chosen.of(trace, item, head)
    names = [_checked_stage(stage, chosen)] if stage is not None else list(chosen.shapes)
    tidy = stage is None or bool(tidy)
    _check_size(sum(map(chosen.size, names)), chosen, tidy, stage)
    if tokens is None and key_tokens is None:
        tokens, key_tokens = chosen.words
    labels = labels_of(trace, chosen.shapes, tokens, key_tokens)
    tables = [_Table.of(chosen, name, labels) for name in names]
    if stage is None:
        return _all_stages(pd, tables)
    return _lines(pd, tables[0]) if tidy else _wide(pd, tables[0])


@dataclass(frozen=True)
class _Chosen:
    """The items and heads that were chosen of a trace, or all of them."""

    trace: AttentionTrace
    items: tuple[int, ...]  # indices
    heads: tuple[int, ...]
    single: tuple[bool, bool]  # whether a single item, a single head was asked for
    item_numbers: Sequence[int]  # of each item of the trace, in a real model
    head_numbers: Sequence[int]

    @classmethod
    def of(cls, trace: AttentionTrace, item: int | None, head: int | None) -> _Chosen:
        """Check which item and head were asked for."""
        (items, heads), recorded = axes_of(trace), trace.recorded
        of_model = () if recorded is None else recorded.heads
        first_item = place_of("item", 0 if item is None else item, items)
        first_head = place_of("head", 0 if head is None else head, heads, of_model)
        known = recorded is not None and len(recorded.items) == items
        return cls(
            trace,
            tuple(range(items)) if item is None else (first_item,),
            tuple(range(heads)) if head is None else (first_head,),
            (item is not None, head is not None),
            recorded.items if recorded and known else range(items),
            recorded.heads if recorded else range(heads),
        )

    def pick(self, item: int, head: int) -> Pick:
        return Pick(self.trace, item, head, axes_of(self.trace)[1])

    @property
    def words(self) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
        """Return the words that a model read, where they are the same in all items."""
        found = {recorded_words(self.trace, item) for item in self.items}
        return found.pop() if len(found) == 1 else (None, None)

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return (rows, columns) of one item and head, by stage, in reading order."""
        first, found = self.pick(self.items[0], self.heads[0]), {}
        for name in reading_order(self.trace):
            if name == "context":  # no stage of a trace: a sum of one
                continue
            if name == "mask":  # not made yet
                matrix = first(self.trace.scores) if self.is_masked else None
            else:
                matrix = first.stage(name)
            if matrix is not None:
                found[name] = matrix.shape
        return found

    @property
    def is_masked(self) -> bool:
        """Return whether M is something other than 0 for any item and head."""
        allowed, bias = self.trace.allowed, self.trace.bias
        if allowed.all() and (bias is None or not bias.any()):
            return False
        return any(self.pick(i, h).is_masked for i in self.items for h in self.heads)

    def axes(self, name: str) -> dict[str, tuple[int, ...]]:
        """Return the indices of the items and heads that a stage has, by the name of the axis."""
        items, heads = leading_axes(self.trace)
        given = getattr(self.trace, name, None)  # the mask is in no field
        one = STAGES[name].is_shared and given is not None and given.ndim == 2
        found = {"item": self.items} if items and not one else {}
        return found | ({"head": self.heads} if heads and name not in OF_ALL_HEADS else {})

    def size(self, name: str) -> int:
        """Return how many numbers there are of a stage."""
        return math.prod(map(len, self.axes(name).values())) * math.prod(self.shapes[name])

    def values(self, name: str) -> np.ndarray:
        """Return a copy of the numbers of a stage, (items · heads, rows, columns)."""
        axes = self.axes(name)
        items, heads = axes.get("item", self.items[:1]), axes.get("head", self.heads[:1])
        picks = [self.pick(i, h) for i in items for h in heads]
        found: list[Any] = [p.mask() if name == "mask" else p.stage(name) for p in picks]
        return np.stack(found)


@dataclass(frozen=True)
class _Table:
    """The numbers of one stage, and what each of its axes is called."""

    name: str
    values: np.ndarray  # (items · heads, rows, columns)
    numbers: dict[str, list[int]]  # "item", "head" → their numbers, where the stage has them
    levels: tuple[str, ...]  # those of them that are not a single one that was asked for
    rows: tuple[str, ...]  # distinct labels
    columns: tuple[str, ...]
    called: tuple[str, str]  # what a row and a column are

    @classmethod
    def of(cls, chosen: _Chosen, name: str, labels: dict[str, tuple[str, ...]]) -> _Table:
        """Take one stage out of a trace."""
        stage, axes = STAGES[name], chosen.axes(name)
        of_model = {"item": chosen.item_numbers, "head": chosen.head_numbers}
        single = dict(zip(of_model, chosen.single, strict=True))
        return cls(
            name,
            chosen.values(name),
            {axis: [of_model[axis][k] for k in indices] for axis, indices in axes.items()},
            tuple(axis for axis in axes if not single[axis]),
            distinct(labels[stage.rows]),  # two rows of R may be for the same distances
            distinct(labels[stage.columns]),
            (ONE_OF.get(stage.rows, stage.rows), ONE_OF.get(stage.columns, stage.columns)),
        )

    def places(self, *sides: tuple[str, ...]) -> list[np.ndarray]:
        """Return which item, which head, and which label of each side each line is of."""
        sizes = [*map(len, self.numbers.values()), *map(len, sides)]
        return [
            np.tile(
                np.repeat(np.arange(size, dtype=np.int32), math.prod(sizes[k + 1 :])),
                math.prod(sizes[:k]),
            )
            for k, size in enumerate(sizes)
        ]

    def lines(self) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Return for each number its item and head, and the index of its row and its column."""
        *of_axes, rows, columns = self.places(self.rows, self.columns)
        axes = zip(self.numbers.items(), of_axes, strict=True)
        return {axis: np.array(of, np.int64)[places] for (axis, of), places in axes}, rows, columns


def _checked_stage(stage: Any, chosen: _Chosen) -> str:
    if not isinstance(stage, str):
        raise TypeError(
            f"stage is {shown(stage)}; expected the name of a stage, such as 'weights'."
        )
    if stage not in chosen.shapes:
        why = "this trace does not have it" if stage in STAGES else "there is no such stage"
        raise ValueError(f"stage is {stage!r}; {why}: {', '.join(chosen.shapes)} are there.")
    return stage


def _check_size(cells: int, chosen: _Chosen, tidy: bool, stage: str | None) -> None:
    most = MAX_LISTED if tidy else MAX_CELLS
    if cells > most:
        axes = {"item": chosen.items, "head": chosen.heads}
        axes = axes if stage is None else chosen.axes(stage)
        ways = [] if stage else ["stage="]
        ways += [f"{axis}=" for axis, indices in axes.items() if len(indices) > 1]
        ways += ["tidy=False"] if stage and tidy else []
        what = "all stages hold" if stage is None else f"{stage} holds"
        do = f"Give {', '.join(ways)}, or save" if ways else "Save"
        raise BadInput(
            f"{what} {cells:,} numbers; a {'tidy' if tidy else 'wide'} table has at most {most:,}."
            f" {do} all of them: attention.save(trace, 'trace.npz')."
        )


def _wide(pd: Any, table: _Table) -> pd.DataFrame:
    """Return a line for each row of a stage."""
    row, column = table.called
    index = pd.Index(table.rows, name=row)
    if table.levels:
        *of_axes, rows = table.places(table.rows)
        axes = zip(table.numbers.items(), of_axes, strict=True)
        kept = [(of, codes) for (axis, of), codes in axes if axis in table.levels]
        # categories, so that rows keep their order where they are grouped or sorted
        words = pd.CategoricalIndex(table.rows, categories=table.rows)
        index = pd.MultiIndex(
            levels=[*(of for of, _ in kept), words],
            codes=[*(codes for _, codes in kept), rows],
            names=[*table.levels, row],
        )
    return pd.DataFrame(
        table.values.reshape(len(index), len(table.columns)),
        index=index,
        columns=pd.Index(table.columns, name=column),
        copy=False,
    )


def _lines(pd: Any, table: _Table) -> pd.DataFrame:
    """Return a line for each number of a stage."""
    found, rows, columns = table.lines()
    row, column = table.called
    labelled = {
        row: pd.Categorical.from_codes(rows, table.rows),
        column: pd.Categorical.from_codes(columns, table.columns),
    }
    return pd.DataFrame(found | labelled | {"value": table.values.ravel()}, copy=False)


def _all_stages(pd: Any, tables: Sequence[_Table]) -> pd.DataFrame:
    """Return a line for each number of each stage."""
    labels = dict.fromkeys(chain.from_iterable((*table.rows, *table.columns) for table in tables))
    code_of = {label: k for k, label in enumerate(labels)}
    parts = []
    for k, table in enumerate(tables):
        numbers, rows, columns = table.lines()
        none = np.full(rows.shape, NO_NUMBER, np.int64)
        row_codes = np.array([code_of[label] for label in table.rows], np.int32)
        column_codes = np.array([code_of[label] for label in table.columns], np.int32)
        parts.append(
            (
                np.full(rows.shape, k, np.int32),
                numbers.get("item", none),
                numbers.get("head", none),
                row_codes[rows],
                column_codes[columns],
                table.values.ravel(),
            )
        )
    stages, items, heads, rows, columns, values = map(np.concatenate, zip(*parts, strict=True))
    every = pd.CategoricalDtype(list(labels))  # one for both, so that they can be compared
    return pd.DataFrame(
        {
            "stage": pd.Categorical.from_codes(stages, [table.name for table in tables]),
            "item": pd.arrays.IntegerArray(items, items == NO_NUMBER),
            "head": pd.arrays.IntegerArray(heads, heads == NO_NUMBER),
            "row": pd.Categorical.from_codes(rows, dtype=every),
            "column": pd.Categorical.from_codes(columns, dtype=every),
            "value": values,
        },
        copy=False,
    )
