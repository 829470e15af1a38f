"""The stages as text for papers and programs: JSON, LaTeX, Markdown, and CSV in the form of matrices."""

from __future__ import annotations

import json
import math

from attention.numbers import exact, number
from attention.readers.tables import disarmed
from attention.stages import STAGES, View

SYMBOLS = {
    "X": "X",
    "memory": "Y",
    "mask": "M",
    "scores": r"Q K^{\top}",
    "weights": "A",
    "output": "Z",
}


def to_json(view: View) -> bytes:
    """Every stage with its labels. JSON knows no infinity: such a cell is the text "inf", "-inf" or "nan"."""
    stages = {
        name: {
            "rows": view.rows(name),
            "columns": view.columns(name),
            "values": [[_cell(v) for v in row] for row in matrix],
        }
        for name, matrix in view.stages.items()
    }
    found = {"scale": view.scale, "head": view.head + 1, "heads": view.heads, "stages": stages}
    return json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1).encode()


def _cell(value: float):
    value = float(value)
    return value if math.isfinite(value) else exact(value)


def to_matrices(view: View) -> bytes:
    """One block for each stage: its name and columns, then a line for each row; an empty line between blocks.

    Labels stand in quotation marks, so that no semicolon or tab in them is taken for a separator.
    """
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


def to_latex(view: View, digits: int) -> bytes:
    """One ``bmatrix`` for each stage, rounded to the digits of the page; needs amsmath."""
    parts = ["% needs \\usepackage{amsmath}"]
    for name, matrix in view.stages.items():
        rows = " \\\\\n  ".join(" & ".join(_tex(v, digits) for v in row) for row in matrix)
        most = (
            f"\\setcounter{{MaxMatrixCols}}{{{matrix.shape[1]}}}\n" if matrix.shape[1] > 10 else ""
        )
        parts.append(
            f"% {name}\n{most}\\[\n{_symbol(name)} = \\begin{{bmatrix}}\n  {rows}\n\\end{{bmatrix}}\n\\]"
        )
    return ("\n\n".join(parts) + "\n").encode()


def _symbol(name: str) -> str:
    letter, _, low = name.partition("_")
    return SYMBOLS.get(name) or (
        f"{letter}_{low}" if low else name if len(name) == 1 else rf"\mathrm{{{name}}}"
    )


def _tex(value: float, digits: int) -> str:
    text = (
        number(value, digits)
        .replace("−", "-")
        .replace("∞", r"\infty")
        .replace("NaN", r"\mathrm{NaN}")
    )
    mantissa, _, power = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{power}}}" if power else text


def to_markdown(view: View, digits: int) -> bytes:
    """One table for each stage, rounded to the digits of the page; labels are shown as typed."""
    parts = []
    for name, matrix in view.stages.items():
        head = (
            f"| | {' | '.join(map(plain, view.columns(name)))} |\n|---|{'---:|' * matrix.shape[1]}"
        )
        lines = [
            f"| **{plain(label)}** | {' | '.join(number(v, digits) for v in row)} |"
            for label, row in zip(view.rows(name), matrix, strict=True)
        ]
        parts.append(f"### {plain(STAGES[name].symbol)}\n\n{head}\n" + "\n".join(lines))
    return ("\n\n".join(parts) + "\n").encode()


def plain(text: str) -> str:
    """Text for Markdown, shown as typed: its marks are escaped, and so is HTML.

    >>> plain("*a* <b>|")
    '\\\\*a\\\\* \\\\<b\\\\>\\\\|'
    """
    return "".join("\\" + c if c in r"\`*_{}[]()#+-.!|~$:<>&" else c for c in text)
