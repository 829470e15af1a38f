"""What typing into a table, rolling and pasting do to the settings. Each takes settings and gives new ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.inputs.matrices import BadInput, Matrix, Recipe, orient, read_matrix, read_number
from attention.inputs.settings import Settings, set_dimension, set_tokens
from attention.inputs.system import labels
from attention.numbers import exact
from attention.stages import STAGES

WEIGHTS = ("W_Q", "W_K", "W_V", "W_O")


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
    return getattr(s, sequence) if sequence else None, tuple(tuple(exact(v) for v in row) for row in values)


def column_labels(s: Settings, name: str, count: int) -> list[str]:
    found = labels(s)[STAGES[name].columns]
    return list(found) if len(found) == count else [str(k) for k in range(1, count + 1)]


def edit(s: Settings, name: str, base, found: dict) -> Settings:
    """The settings after the edits ``found`` in a table that opened with ``base``.

    ``found`` is Streamlit's record of them: ``edited_rows``, ``added_rows`` and ``deleted_rows``, where column
    ``c0`` is the first of the matrix. A new row is 0 where nothing was typed.
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
    if names is not None and (len(left) != len(rows) or found["added_rows"] or tuple(names) != tokens):
        memory = token_sequence(s, name) == "memory_tokens"
        s = set_tokens(s, tuple(names[k] for k in left), [keep[k] for k in left], memory)
    matrix = s.matrices[name]
    return s.with_matrix(name, Matrix(_placed(s, name, values), matrix.recipe, matrix.remark))


def _placed(s: Settings, name: str, values: np.ndarray) -> np.ndarray:
    """The whole matrix with these values in it: all of it, or the item of the batch that is shown."""
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
    """Fill a matrix by a recipe; where it shows that draw already, take the next seed. Nothing else changes."""
    old = s.matrices[name]
    if old.recipe == recipe and recipe.kind != "identity":
        recipe = replace(recipe, seed=recipe.seed + 1)
    return s.with_matrix(name, Matrix(_placed(s, name, recipe.fill(old.shape[-2:])), recipe))


def paste(s: Settings, name: str, text: str, stored: str = "in_out") -> Settings:
    """Replace a whole matrix by typed numbers. A weight's ``remark`` says which way round it was read."""
    values = read_matrix(text, name)
    if name in WEIGHTS:
        values, remark = orient(values, s.shape(name)[0], name, stored)
        return _with_weights(s, name, Matrix(values, remark=remark))
    return _with_rows(s, name, values)


def _with_weights(s: Settings, name: str, matrix: Matrix) -> Settings:
    """A typed weight matrix sets its width; its partner follows, as queries and keys need the same d_k."""
    width = matrix.shape[1]
    if name != "W_O":
        if width % s.heads:
            raise BadInput(f"{name} has {width} columns, which {s.heads} heads cannot share equally.")
        s = set_dimension(s, "d_v" if name == "W_V" else "d_k", width // s.heads)
    return s.with_matrix(name, matrix)


def _with_rows(s: Settings, name: str, values: np.ndarray) -> Settings:
    """Typed embeddings, queries, keys or values: their rows are the tokens, their columns set the width."""
    memory = token_sequence(s, name) == "memory_tokens"
    tokens = s.memory_tokens if memory else s.tokens
    n = len(values)
    if n != len(tokens):
        names = tokens[:n] + tuple(f"w{k}" for k in range(len(tokens) + 1, n + 1))
        s = set_tokens(s, names, [k if k < len(tokens) else None for k in range(n)], memory)
    width = values.shape[1]
    if width != s.shape(name)[1]:
        dimension = {"X": "d_model", "memory": "d_model", "V": "d_v"}.get(name, "d_k")
        heads = 1 if dimension == "d_model" else s.heads
        if width % heads:
            raise BadInput(f"{name} has {width} columns, which {heads} heads cannot share equally.")
        s = set_dimension(s, dimension, width // heads)
    return s.with_matrix(name, Matrix(_placed(s, name, values)))
