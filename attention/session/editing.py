"""What typing into a table and rolling do to the settings. Each takes settings and gives new
ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.limits import BadInput
from attention.numbers import exact
from attention.readers.printouts import read_number
from attention.session.changes import set_tokens
from attention.session.matrix import Matrix, Recipe
from attention.session.run import labels
from attention.session.settings import Settings
from attention.stages import STAGES


def token_sequence(s: Settings, name: str) -> str | None:
    """Whose tokens the rows of this matrix are: "tokens", "memory_tokens", or None for weights."""
    rows = STAGES[name].rows
    if rows not in ("queries", "keys"):
        return None
    return "memory_tokens" if rows == "keys" and s.memory_tokens else "tokens"


def content(s: Settings, name: str):
    """What the table of a matrix shows: its tokens, and its numbers as text."""
    sequence = token_sequence(s, name)
    values = s.matrices[name].values
    values = values[s.item] if values.ndim == 3 else values
    return getattr(s, sequence) if sequence else None, tuple(
        tuple(exact(v) for v in row) for row in values
    )


def column_labels(s: Settings, name: str, count: int) -> list[str]:
    found = labels(s)[STAGES[name].columns]
    return list(found) if len(found) == count else [str(k) for k in range(1, count + 1)]


def edit(s: Settings, name: str, base, found: dict) -> Settings:
    """The settings after the edits ``found`` in a table that opened with ``base``.

    ``found`` is Streamlit's record of them: ``edited_rows``, ``added_rows`` and ``deleted_rows``,
    where column ``c0`` is the first of the matrix. A new row is 0 where nothing was typed.
    """
    tokens, rows = base
    grid = [list(row) for row in rows]
    names = None if tokens is None else list(tokens)
    for row, cells in found["edited_rows"].items():
        for column, text in cells.items():
            if column == "token":
                names[int(row)] = text or ""
            else:
                grid[int(row)][int(column[1:])] = text
    keep = list(range(len(grid)))
    if names is None and (found["added_rows"] or found["deleted_rows"]):
        raise BadInput(f"{name} has one row for each dimension; change the dimension instead.")
    for added in found["added_rows"]:
        names.append(added.get("token") or f"w{len(names) + 1}")
        grid.append([added.get(f"c{k}") or "0" for k in range(len(rows[0]))])
        keep.append(None)
    gone = set(found["deleted_rows"])
    left = [k for k in range(len(grid)) if k not in gone]
    values = np.array([[_cell(grid, rows, name, i, j) for j in range(len(rows[0]))] for i in left])
    if names is not None and (
        len(left) != len(rows) or found["added_rows"] or tuple(names) != tokens
    ):
        memory = token_sequence(s, name) == "memory_tokens"
        s = set_tokens(s, tuple(names[k] for k in left), [keep[k] for k in left], memory)
    matrix = s.matrices[name]
    return s.with_matrix(name, Matrix(_placed(s, name, values), matrix.recipe, matrix.remark))


def _placed(s: Settings, name: str, values: np.ndarray) -> np.ndarray:
    """The whole matrix with these values in it, or in the item of the batch that is shown."""
    full = s.matrices[name].values.copy()
    full[s.item if full.ndim == 3 else ...] = values
    return full


def _cell(grid, rows, name, i, j) -> float:
    text = grid[i][j]
    if i < len(rows) and text == rows[i][j]:
        return float(text)
    return read_number("" if text is None else text, f"{name}, row {i + 1}, column {j + 1}")


def add_token(s: Settings, name: str) -> Settings:
    """One more token, with a row of 0, in the sequence that the rows of ``name`` belong to."""
    memory = token_sequence(s, name) == "memory_tokens"
    tokens = s.memory_tokens if memory else s.tokens
    return set_tokens(s, (*tokens, f"w{len(tokens) + 1}"), [*range(len(tokens)), None], memory)


def roll(s: Settings, name: str, recipe: Recipe) -> Settings:
    """Fill a matrix by a recipe; where it shows that draw already, take the next seed. Nothing else
    changes.
    """
    old = s.matrices[name]
    if old.recipe == recipe and recipe.kind != "identity":
        recipe = replace(recipe, seed=recipe.seed + 1)
    return s.with_matrix(name, Matrix(_placed(s, name, recipe.fill(old.shape[-2:])), recipe))
