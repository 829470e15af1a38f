"""All stages as one CSV and as one NPZ, exact to the bit."""

from __future__ import annotations

import csv
import io

import numpy as np

from attention.numbers import exact
from attention.readers.tables import disarmed
from attention.stages import View
from attention.trace import AttentionTrace

COLUMNS = ("stage", "row", "column", "row_label", "column_label", "value")


def to_csv(view: View) -> bytes:
    """One line for each cell of each stage; rows and columns count from 1.

    A label that a spreadsheet would take for a formula gets an apostrophe in front; it is read back as it was.
    """
    text = io.StringIO()
    writer = csv.writer(
        text
    )  # lines end in \r\n (RFC 4180), so that either of the two is quoted in a label
    writer.writerow(COLUMNS)
    for name, matrix in view.stages.items():
        rows, columns = view.rows(name), view.columns(name)
        for i, row in enumerate(matrix):
            for j, value in enumerate(row):
                writer.writerow(
                    (name, i + 1, j + 1, disarmed(rows[i]), disarmed(columns[j]), exact(value))
                )
    return text.getvalue().encode()


def to_npz(settings, trace: AttentionTrace) -> bytes:
    """Every stage with its batch and head axes, the weights as given, and what was allowed."""
    arrays = {name: matrix.values for name, matrix in settings.matrices.items()}
    for name in (
        "Q",
        "K",
        "V",
        "scores",
        "scaled",
        "masked",
        "weights",
        "output",
        "allowed",
        "joined",
        "projected",
    ):
        if getattr(trace, name) is not None:
            arrays[name] = getattr(trace, name)
    if settings.context:
        arrays["context"] = trace.context
    arrays |= {
        "scale": np.float64(trace.scale),
        "heads": np.int64(settings.heads),
        "tokens": np.array(settings.tokens),
    }
    if settings.memory_tokens:
        arrays["memory_tokens"] = np.array(settings.memory_tokens)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()
