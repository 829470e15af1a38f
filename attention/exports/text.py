"""The stages as text for papers and programs: JSON, LaTeX, Markdown, and CSV as matrices."""

from __future__ import annotations

import json
import math

from attention.markdown import plain
from attention.numbers import exact, rounded
from attention.readers.tables import disarmed
from attention.stages import STAGES
from attention.trace import AttentionTrace
from attention.view import View, as_view


def to_json(shown: View | AttentionTrace) -> bytes:
    """Every stage with its labels.

    JSON knows no infinity: such a cell is the text "inf", "-inf" or "nan".
    """
    view = as_view(shown)
    stages = {
        name: {
            "rows": view.rows(name),
            "columns": view.columns(name),
            "values": [[_cell(v) for v in row] for row in matrix],
        }
        for name, matrix in view.stages.items()
    }
    document = {"scale": view.scale, "head": view.head + 1, "heads": view.heads, "stages": stages}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode()


def _cell(value: float) -> float | str:
    value = float(value)
    return value if math.isfinite(value) else exact(value)


def to_matrices(shown: View | AttentionTrace) -> bytes:
    """One block for each stage: its name and columns, then a line for each row.

    An empty line stands between blocks. Labels stand in quotation marks, so that no semicolon
    or tab in them is taken for a separator.
    """
    view = as_view(shown)
    blocks = []
    for name, matrix in view.stages.items():
        lines = [",".join([name, *map(_quoted, view.columns(name))])]
        lines += [
            ",".join([_quoted(label), *map(exact, row)])
            for label, row in zip(view.rows(name), matrix, strict=True)
        ]
        blocks.append("".join(f"{line}\r\n" for line in [*lines, ""]))
    return "".join(blocks).encode()


def _quoted(label: str) -> str:
    return '"' + disarmed(label).replace('"', '""') + '"'


def to_latex(shown: View | AttentionTrace, digits: int = 2) -> bytes:
    """One ``bmatrix`` for each stage, rounded to the digits of the page; needs amsmath."""
    view = as_view(shown)
    parts = ["% needs \\usepackage{amsmath}"]
    for name, matrix in view.stages.items():
        rows = " \\\\\n  ".join(" & ".join(map(_tex, row)) for row in rounded(matrix, digits))
        wide = matrix.shape[1]
        most = f"\\setcounter{{MaxMatrixCols}}{{{wide}}}\n" if wide > 10 else ""
        body = f"\\begin{{bmatrix}}\n  {rows}\n\\end{{bmatrix}}"
        parts.append(f"% {name}\n{most}\\[\n{STAGES[name].latex} = {body}\n\\]")
    return ("\n\n".join(parts) + "\n").encode()


def _tex(number: str) -> str:
    text = number.replace("−", "-").replace("∞", r"\infty")
    text = text.replace("NaN", r"\mathrm{NaN}")
    mantissa, _, power = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{power}}}" if power else text


def to_markdown(shown: View | AttentionTrace, digits: int = 2) -> bytes:
    """One table for each stage, rounded to the digits of the page; labels are shown as typed."""
    view = as_view(shown)
    parts = []
    for name, matrix in view.stages.items():
        columns = " | ".join(map(plain, view.columns(name)))
        head = f"| | {columns} |\n|---|{'---:|' * matrix.shape[1]}"
        lines = [
            f"| **{plain(label)}** | {' | '.join(row)} |"
            for label, row in zip(view.rows(name), rounded(matrix, digits), strict=True)
        ]
        parts.append(f"### {plain(STAGES[name].heading)}\n\n{head}\n" + "\n".join(lines))
    return ("\n\n".join(parts) + "\n").encode()
