"""The stages as text for papers and programs: JSON, LaTeX, Markdown, and CSV as matrices.

Each says first what it is: JSON in an object of its own, the others in lines that readers of such
texts pass over or, in Markdown, that a person reads.
"""

from __future__ import annotations

import json
import math

from attention.core.trace import AttentionTrace
from attention.explain.view import View, as_view
from attention.readers.texts.tables import disarmed
from attention.session.state.about import UNKNOWN, About
from attention.vocabulary import latex
from attention.vocabulary.markdown import bold, plain
from attention.vocabulary.numbers import are_whole, exact, numbers
from attention.vocabulary.sentences import amount
from attention.vocabulary.stages import STAGES

LATIN = 0x24F  # the last letter that LaTeX's usual fonts have


def to_json(shown: View | AttentionTrace, about: About = UNKNOWN) -> bytes:
    """Every stage with its labels, and what else made the weights of the scores.

    That is the scale, and where they are not as usual the soft cap, the sink of this head, whose
    share of each row goes nowhere, and what stands in the softmax's place.

    JSON knows no infinity: such a cell is the text "inf", "-inf" or "nan".
    """
    view = as_view(shown)
    stages = {
        name: {
            "rows": view.rows(name),
            "columns": view.columns(name),
            "values": [[_cell_value(v) for v in row] for row in matrix],
        }
        for name, matrix in view.stages.items()
    }
    document = {"about": about.record(), "scale": view.scale}
    document |= {} if view.softcap is None else {"softcap": view.softcap}
    document |= {} if view.sink is None else {"sink": view.sink}
    document |= {} if view.softmax is True else {"softmax": view.softmax}
    document |= {"head": view.head_number, "heads": view.heads, "stages": stages}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode()


def _cell_value(value: float) -> float | str:
    value = float(value)
    return value if math.isfinite(value) else exact(value)


def to_matrices(shown: View | AttentionTrace, about: About = UNKNOWN) -> bytes:
    """One block for each stage: its name and columns, then a line for each row.

    An empty line stands between blocks. Labels stand in quotation marks, so that no semicolon
    or tab in them is taken for a separator. What it is stands above in lines with #: no program
    reads several blocks as one table, so none loses its header to them.
    """
    view = as_view(shown)
    blocks = ["".join(f"# {line}\r\n" for line in about.lines()) + "\r\n"]
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


def to_latex(shown: View | AttentionTrace, digits: int = 2, about: About = UNKNOWN) -> bytes:
    """One matrix for each stage, rounded to the digits of the page; needs amsmath.

    A ``bmatrix``, or where rows or columns have labels, an ``array`` that carries them.
    """
    view = as_view(shown)
    parts = ["\n".join(f"% {line}" for line in [*about.lines(), _rounded(digits), *_needs(view)])]
    for name, matrix in view.stages.items():
        texts = view.texts(name, digits)
        body = _matrix(texts, view.rows(name), view.columns(name))
        wide = matrix.shape[1]
        most = f"\\setcounter{{MaxMatrixCols}}{{{wide}}}\n" if wide > 10 else ""
        most = most if "bmatrix" in body else ""
        parts.append(f"% {name}\n{most}\\[\n{STAGES[name].latex} = {body}\n\\]")
    return ("\n\n".join(parts) + "\n").encode()


def _rounded(digits: int) -> str:
    return f"rounded to {amount(digits, 'digit')}; CSV, JSON and NPZ are exact"


def _needs(view: View) -> list[str]:
    words = {label for name in view.stages for label in (*view.rows(name), *view.columns(name))}
    needs = ["needs \\usepackage{amsmath} and \\usepackage[T1]{fontenc}"]
    if any(ord(letter) > LATIN for word in words for letter in word):
        needs.append("labels in other scripts: compile with LuaLaTeX and a font that has them")
    return needs


def _matrix(texts: list[list[str]], rows: tuple[str, ...], columns: tuple[str, ...]) -> str:
    """Rows of numbers between brackets; with labels, as a table with a line beside and above."""
    lines = [list(map(_tex, row)) for row in texts]
    if _counted(rows) and _counted(columns):
        return _environment("bmatrix", "", lines)
    beside, above = not _counted(rows), not _counted(columns)
    if beside:
        lines = [[latex.text(label), *line] for label, line in zip(rows, lines, strict=True)]
    if above:
        lines.insert(0, [*([""] if beside else []), *map(latex.text, columns)])
    form = "{" + ("r|" if beside else "") + "r" * len(columns) + "}"
    return _environment("array", form, lines, ruled=above)


def _counted(labels: tuple[str, ...]) -> bool:
    """Whether these are no words but the numbers from 1."""
    return all(label == str(k) for k, label in enumerate(labels, 1))


def _environment(name: str, form: str, lines: list[list[str]], ruled: bool = False) -> str:
    ends = [" \\\\ \\hline" if ruled and k == 0 else " \\\\" for k in range(len(lines))]
    ends[-1:] = [""] if lines else []
    body = "\n  ".join(" & ".join(line) + end for line, end in zip(lines, ends, strict=True))
    return f"\\begin{{{name}}}{form}\n  {body}\n\\end{{{name}}}"


def _tex(number: str) -> str:
    text = number.replace("−", "-").replace("∞", r"\infty")
    text = text.replace("NaN", r"\mathrm{NaN}")
    mantissa, _, power = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{power}}}" if power else text


def to_markdown(shown: View | AttentionTrace, digits: int = 2, about: About = UNKNOWN) -> bytes:
    """One table for each stage, rounded to the digits of the page; labels are shown as typed."""
    view = as_view(shown)
    parts = [f"{about.markdown()}\n- {_rounded(digits)}"]
    for name, matrix in view.stages.items():
        whole = are_whole(matrix)  # a small number keeps its digits: the file opens again
        shares = view.is_share(name)
        texts = [numbers(row, digits, whole=whole, shares=shares) for row in view.printed(name)]
        columns = " | ".join(map(plain, view.columns(name)))
        head = f"| | {columns} |\n|---|{'---:|' * matrix.shape[1]}"
        lines = [
            f"| {bold(label)} | {' | '.join(row)} |"
            for label, row in zip(view.rows(name), texts, strict=True)
        ]
        parts.append(f"### {plain(STAGES[name].heading)}\n\n{head}\n" + "\n".join(lines))
    return ("\n\n".join(parts) + "\n").encode()
