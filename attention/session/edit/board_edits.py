"""What was typed on the board: cells, the mask, tokens and rows, each operation with its number.

The browser is not trusted: an operation is read before it is used, and one that does not fit is
refused with a sentence, while the others are carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np

from attention.limits import MAX_EDITED, MAX_TOKEN_LENGTH, MAX_WHOLE_DIGITS, BadInput
from attention.readers.cells.printouts import read_number
from attention.session.edit.changes import set_tokens
from attention.session.edit.editing import add_token, token_sequence
from attention.session.state.settings import DRAWN, Settings, allowed, as_drawn
from attention.session.state.validate import check, check_token

LONGEST_TEXT = 1000  # characters; a sentence quotes fewer
MOST_CLIENT = 40  # characters
OF_HEADS = tuple(f"{of}{letter}" for of in ("W_", "b_", "") for letter in "QKV") + ("R",)


class Operation(NamedTuple):
    """One step of an edit, by a kind in KINDS.

    ``cell``: the number at (row, column) of a matrix becomes ``text``; ``mask``: the query of the
    row may look at the key of the column where ``text`` is "1", and may not where it is "0";
    ``token``: the token of the row becomes ``text``; ``add``: a row below, ``delete``: that row
    goes, where the matrix has as many rows as ``column`` says; ``end``: of a stroke, nothing else.
    """

    number: int
    kind: str
    stage: str
    row: int
    column: int
    text: str
    of: str = ""  # what stood on the board when it was made, where a page tells that


class Message(NamedTuple):
    """What a browser sent: all that it does not know to be counted."""

    client: str  # one for each board that was opened
    operations: tuple[Operation, ...]
    more: bool  # whether a scrub or a stroke of paint goes on


Refusal = tuple[int, str]  # the number of an operation, and why it was not carried out


def read(value: object) -> Message | None:
    """What a browser sent, where it is a message; None for anything else.

    >>> read({"client": "a", "operations": [[1, "cell", "X", 0, 2, "0.5", ""]], "more": False})
    Message(client='a', operations=(Operation(number=1, kind='cell', stage='X', row=0, column=2, \
text='0.5', of=''),), more=False)
    >>> read({"client": "a", "operations": [["1"]], "more": False}) is None
    True
    """
    if not isinstance(value, dict):
        return None
    client, written, more = (value.get(name) for name in ("client", "operations", "more"))
    if not isinstance(client, str) or not client or len(client) > MOST_CLIENT:
        return None
    if not isinstance(written, list) or len(written) > MAX_EDITED or not isinstance(more, bool):
        return None
    operations = tuple(_operation(each) for each in written)
    known = tuple(operation for operation in operations if operation is not None)
    return Message(client, known, more) if len(known) == len(written) else None


def _operation(value: object) -> Operation | None:
    if not isinstance(value, list) or len(value) != len(Operation._fields):
        return None
    number, kind, stage, row, column, text, of = value
    if not all(type(whole) is int for whole in (number, row, column)):  # True is no row
        return None
    if any(abs(whole) >= 10**MAX_WHOLE_DIGITS for whole in (number, row, column)):
        return None  # no sentence could write it
    if not all(isinstance(word, str) for word in (kind, stage, text, of)) or kind not in KINDS:
        return None
    return Operation(number, kind, stage, row, column, text[:LONGEST_TEXT], of)


def apply(s: Settings, operations: Iterable[Operation]) -> tuple[Settings, list[Refusal]]:
    """The settings after these operations, and those that were refused.

    >>> from attention.session.state.examples import EXAMPLES
    >>> before = EXAMPLES["four-words"].build()
    >>> after, refused = apply(before, [Operation(1, "cell", "X", 0, 1, "0.1"),
    ...                                 Operation(2, "cell", "X", 3, 0, "abc")])
    >>> float(after.matrices["X"].values[0, 1]), refused[0][1]
    (0.1, 'X, row 4, column 1 holds “abc”; expected a number such as 3, -0.5 or 2e-3.')
    """
    refusals: list[Refusal] = []
    for (kind, stage), together in groupby(operations, key=lambda op: (op.kind, op.stage)):
        s = KINDS[kind](s, stage, list(together), refusals)
    return s, refusals


# ---- numbers ------------------------------------------------------------------------------------


def _cells(
    s: Settings, stage: str, operations: list[Operation], refusals: list[Refusal]
) -> Settings:
    if stage not in s.matrices:
        refusals += [(op.number, f"{_brief(stage)} cannot be edited.") for op in operations]
        return s
    matrix = s.matrices[stage]
    values = matrix.values.copy()
    shown = shown_part(s, stage, values)
    for op in operations:
        try:
            _inside(stage, op, shown.shape)
            where = f"{stage}, row {op.row + 1}, column {op.column + 1}"
            shown[op.row, op.column] = read_number(op.text, where)
        except BadInput as problem:
            refusals.append((op.number, str(problem)))
    return s.with_matrix(stage, matrix.with_values(values))


def shown_part(s: Settings, stage: str, values: np.ndarray) -> np.ndarray:
    """The part of a matrix of the settings that the board shows: of one item and one head.

    ``values`` has the shape of that matrix; what is returned is a view of it, (rows, columns).
    """
    shown = values[s.item] if values.ndim == 3 else values
    if stage in OF_HEADS:
        heads = s.heads if stage[-1] in "QR" else s.kv_heads
        width, head = shown.shape[1] // heads, s.head * heads // s.heads
        shown = shown[:, head * width : (head + 1) * width]
    return shown


def _inside(stage: str, op: Operation, shape: tuple[int, ...]) -> None:
    rows, columns = shape
    if not (0 <= op.row < rows and 0 <= op.column < columns):
        raise BadInput(
            f"{stage} has no row {op.row + 1}, column {op.column + 1}; it is {rows} × {columns}."
        )


# ---- the mask -----------------------------------------------------------------------------------


def _edit_mask(
    s: Settings, stage: str, operations: list[Operation], refusals: list[Refusal]
) -> Settings:
    may, padding = allowed(replace(s, padding=())), set(s.padding)
    turned = False
    for op in operations:
        try:
            _inside("the mask", op, may.shape)
            if op.column in padding:
                raise BadInput(
                    f"key “{s.key_tokens[op.column]}” is padding, hidden from every query;"
                    " take it off the hidden keys first."
                )
            may[op.row, op.column] = op.text == "1"
            turned = True
        except BadInput as problem:
            refusals.append((op.number, str(problem)))
    return replace(s, mask=DRAWN, drawn=as_drawn(may), window=0) if turned else s


# ---- tokens and rows ----------------------------------------------------------------------------


def _edit_rows(
    s: Settings, stage: str, operations: list[Operation], refusals: list[Refusal]
) -> Settings:
    for op in operations:
        try:
            s = _one_row(s, stage, op)
        except BadInput as problem:
            refusals.append((op.number, str(problem)))
    return s


def _one_row(s: Settings, stage: str, op: Operation) -> Settings:
    sequence = token_sequence(s, stage) if stage in s.matrices else None
    if sequence is None:
        raise BadInput(f"the rows of {_brief(stage)} are not tokens; their number is a dimension.")
    tokens, memory = getattr(s, sequence), sequence == "memory_tokens"
    if op.kind != "token" and op.column != len(tokens):
        raise BadInput(f"{stage} has {len(tokens)} rows by now, not {op.column}; nothing changed.")
    if op.kind == "add":
        return check(add_token(s, stage))
    if not 0 <= op.row < len(tokens):
        raise BadInput(f"{stage} has no row {op.row + 1}; it has {len(tokens)}.")
    if op.kind == "delete":
        keep: list[int | None] = [k for k in range(len(tokens)) if k != op.row]
        left = tuple(tokens[k] for k in keep if k is not None)
        return check(set_tokens(s, left, keep, memory))
    token, of = op.text.strip(), " of the second sentence" if memory else ""
    check_token(token, f"token{of} {op.row + 1}")
    renamed = (*tokens[: op.row], token, *tokens[op.row + 1 :])
    return replace(s, memory_tokens=renamed) if memory else replace(s, tokens=renamed)


def _nothing(
    s: Settings, stage: str, operations: list[Operation], refusals: list[Refusal]
) -> Settings:
    return s


def _brief(stage: str) -> str:
    return f"“{stage[:MAX_TOKEN_LENGTH]}”"


KINDS: dict[str, Callable[[Settings, str, list[Operation], list[Refusal]], Settings]] = {
    "cell": _cells,
    "mask": _edit_mask,
    "token": _edit_rows,
    "add": _edit_rows,
    "delete": _edit_rows,
    "end": _nothing,
}
