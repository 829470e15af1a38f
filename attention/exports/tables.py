"""All stages as one CSV and as one NPZ, exact to the bit."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from attention import program
from attention.core.trace import AttentionTrace, reading_order
from attention.explain.view import OF_ALL_HEADS, View, as_view, axes_of
from attention.readers.texts.tables import disarmed
from attention.session.state.about import UNKNOWN, About
from attention.vocabulary.numbers import exact
from attention.vocabulary.stages import STAGES

COLUMNS = ("stage", "row", "column", "row_label", "column_label", "value", "item", "head", "origin")


def to_csv(shown: View | AttentionTrace, about: About = UNKNOWN) -> bytes:
    """One line for each cell of each stage; rows and columns count from 1, items and heads from 0.

    A label that a spreadsheet would take for a formula gets an apostrophe in front. What it is
    stands in columns, as a line of comment would take the place of the header in pandas, R and
    Excel. The first line's ``origin`` says all of it; each other stage's first cell where that
    stage is from, program, version and date. In every line it would make a long file twice as long.
    Item and head are empty where a stage belongs to all of them.
    """
    view = as_view(shown)
    made = "; ".join(["computed", program.made_by(), *about.behind])
    first = "; ".join(about.lines())
    part = [" ".join(map(str, part.which)) for part in (about.item, about.head)]
    text = io.StringIO()
    writer = csv.writer(text)  # lines end in \r\n (RFC 4180): a label with either is quoted
    writer.writerow(COLUMNS)
    for name, matrix in view.stages.items():
        rows, columns = view.rows(name), view.columns(name)
        source = about.inputs.get(name)
        origin = disarmed(first or (f"{source}; {program.made_by()}" if source else made))
        first = "" if matrix.size else first
        item = "" if STAGES[name].is_shared else part[0]
        head = "" if name in OF_ALL_HEADS else part[1]
        for i, row in enumerate(matrix):
            for j, value in enumerate(row):
                place = name, i + 1, j + 1, disarmed(rows[i]), disarmed(columns[j])
                writer.writerow((*place, exact(value), item, head, origin if i == j == 0 else ""))
    return text.getvalue().encode()


def to_npz(
    trace: AttentionTrace,
    *,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    context: bool = False,
    about: About = UNKNOWN,
) -> bytes:
    """Every stage with its batch and head axes, the weights as given, and what was allowed.

    Beside them, by their names in a trace, what else made the weights of the scores: ``scale``,
    and where there are any ``softcap``, ``bias``, which is M where a key is allowed, and ``sinks``.

    ``context`` adds the sum of the outputs; the tokens are kept where they are given, and the
    ``head_numbers`` in a real model where they were recorded. ``about`` is an array of lines.
    """
    names = [name for name in reading_order(trace) if name != "context"]
    names += ["softcap", "bias", "sinks"]
    kept = {name: getattr(trace, name, None) for name in (*names, "allowed")}
    arrays: dict[str, Any] = {name: M for name, M in kept.items() if M is not None}
    if trace.recorded:
        arrays["head_numbers"] = np.array(trace.recorded.heads)
    if context:
        arrays["context"] = trace.context
    arrays |= {"scale": np.float64(trace.scale), "heads": np.int64(axes_of(trace)[1])}
    for name, words in (("tokens", tokens), ("memory_tokens", key_tokens)):
        if words:
            arrays[name] = np.array(words)
    arrays["about"] = np.array(about.lines())
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()
