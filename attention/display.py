"""A trace as text for a terminal, and as static HTML for a notebook. NumPy and the standard library.

Neither grows with the trace: the text fits on one screen, and of a large matrix the HTML shows the
first rows and columns and says so.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from attention.captions import describe
from attention.colours import LIGHT, colour_limits, hidden_cells, shade
from attention.numbers import number
from attention.stages import STAGES
from attention.trace import AttentionTrace
from attention.view import View

MOST_ROWS, MOST_COLUMNS = 16, 16  # of a matrix in HTML
MOST_WARNINGS = 5
LABEL_LENGTH = 14
_CELL = (
    "padding:2px 7px;text-align:right;font-variant-numeric:tabular-nums;border:1px solid #e3e5ea"
)
_HEAD = "padding:2px 7px;text-align:right;font-weight:600;border:0"


def summary(trace: AttentionTrace) -> str:
    """Sizes, scale, what is hidden and what is wrong, one line each.

    >>> from attention import causal, self_attention
    >>> eye = np.eye(2)
    >>> self_attention(eye, eye, eye, eye, allowed=causal(2, 2))
    AttentionTrace: 2 queries × 2 keys, d_k 2, d_v 2, float64
      scores × 0.7071 = 1/√d_k; softmax of each row
      1 of 4 cells hidden
      stages: X W_Q W_K W_V Q K V scores scaled masked weights output joined (2, 2)
    """
    lines = [_sizes(trace), f"  {_computed(trace)}", f"  {_hidden(trace)}"]
    lines += [f"  stages: {', '.join(_stages(trace))}"]
    warnings = trace.warnings
    lines += [f"  {sentence}" for sentence in warnings[:MOST_WARNINGS]]
    if len(warnings) > MOST_WARNINGS:
        lines.append(f"  … and {len(warnings) - MOST_WARNINGS} more in trace.warnings")
    return "\n".join(lines)


def _sizes(trace: AttentionTrace) -> str:
    n_q, n_k = trace.scores.shape[-2:]
    lead = trace.scores.shape[:-2]
    parts = [
        f"{_count(n_q, 'query', 'queries')} × {_count(n_k, 'key', 'keys')}",
        f"d_k {trace.Q.shape[-1]}",
        f"d_v {trace.V.shape[-1]}",
    ]
    if lead:
        parts.append(f"leading axes {lead}")
    return f"AttentionTrace: {', '.join([*parts, trace.scores.dtype.name])}"


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _computed(trace: AttentionTrace) -> str:
    root = " = 1/√d_k" if np.isclose(trace.scale, trace.Q.shape[-1] ** -0.5, rtol=1e-15) else ""
    parts = [f"scores × {number(trace.scale, 4)}{root}"]
    if trace.softcap is not None:
        parts.append(f"capped at ±{number(trace.softcap)}")
    if trace.bias is not None:
        parts.append("a bias added")
    parts.append("softmax of each row" if trace.softmax else "no softmax")
    return "; ".join(parts)


def _hidden(trace: AttentionTrace) -> str:
    hidden = int(trace.allowed.size - np.count_nonzero(trace.allowed))
    if not hidden:
        return "nothing is hidden"
    text = f"{hidden:,} of {trace.allowed.size:,} cells hidden"
    blind = int(np.count_nonzero(trace.hidden_rows))
    if not blind:
        return text
    see = "1 query sees" if blind == 1 else f"{blind:,} queries see"
    return f"{text}; {see} no key, weights and output are 0 there"


def _stages(trace: AttentionTrace) -> list[str]:
    """The names that are there, with neighbours of one shape together."""
    groups: list[tuple[list[str], tuple[int, ...]]] = []
    for name in STAGES:
        values = getattr(trace, name, None) if name not in ("mask", "context") else None
        if values is None:
            continue
        if groups and groups[-1][1] == values.shape:
            groups[-1][0].append(name)
        else:
            groups.append(([name], values.shape))
    return [f"{' '.join(names)} {shape}" for names, shape in groups]


# ---- HTML -------------------------------------------------------------------------------------------


def page(trace: AttentionTrace) -> str:
    """The stages of the first item and head as coloured tables, with inline styles and no script."""
    view = View.of(trace)
    head, *facts = summary(trace).split("\n")
    rest = " of the first item and head" if trace.scores.ndim > 2 else ""
    notes = [line.strip() for line in facts if not line.startswith("  stages")]
    tables = "".join(_stage(view, name, limits) for name, limits in colour_limits(view).items())
    said = html.escape(f"{head.removeprefix('AttentionTrace: ')}. {'. '.join(notes)}.")
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px;line-height:1.4">'
        f"<div><b>Attention</b>: {said} Stages{rest}:</div>"
        f'<div style="display:flex;flex-wrap:wrap;gap:14px;overflow-x:auto">{tables}</div></div>'
    )


def _stage(view: View, name: str, limits: tuple[float, float]) -> str:
    """One stage: its name and formula, and the table."""
    matrix, stage = view.stages[name], STAGES[name]
    hidden = hidden_cells(view, name)
    role = "share" if limits == (0, 1) else "diverging"
    formula = describe(view, name)["formula"]
    caption = f"<b>{html.escape(stage.heading)}</b> = {html.escape(formula)}"
    body = table(
        matrix, view.rows(name), view.columns(name), limits=limits, role=role, hidden=hidden
    )
    return f'<div style="margin-top:8px"><div>{caption}</div>{body}</div>'


def table(
    matrix: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    limits: tuple[float, float],
    role: str,
    hidden: np.ndarray | None = None,
    digits: int = 2,
) -> str:
    """A (rows, columns) matrix as an HTML table, coloured; of a large one the first cells."""
    shown = matrix[:MOST_ROWS, :MOST_COLUMNS]
    beyond = matrix.shape[1] > MOST_COLUMNS
    more = f'<td style="{_HEAD}">…</td>' if beyond else ""
    heads = "".join(f'<th style="{_HEAD}">{_label(c)}</th>' for c in columns[: shown.shape[1]])
    lines = [f'<tr><th style="{_HEAD}"></th>{heads}{more}</tr>']
    for i, row in enumerate(shown):
        cells = ""
        for j, value in enumerate(row):
            covered = hidden is not None and bool(hidden[i, j])
            colour = LIGHT["hidden"][0][1] if covered else shade(float(value), limits, role)
            style = f"{_CELL};background:{colour};color:{LIGHT['ink']}"
            cells += f'<td style="{style}">{number(float(value), digits)}</td>'
        lines.append(f'<tr><th style="{_HEAD}">{_label(rows[i])}</th>{cells}{more}</tr>')
    note = ""
    if beyond or matrix.shape[0] > MOST_ROWS:
        note = (
            f"<div>the first {shown.shape[0]} × {shown.shape[1]}"
            f" of {matrix.shape[0]:,} × {matrix.shape[1]:,}</div>"
        )
    return f'<table style="border-collapse:collapse;margin:2px 0">{"".join(lines)}</table>{note}'


def _label(text: str) -> str:
    return html.escape(text if len(text) <= LABEL_LENGTH else f"{text[: LABEL_LENGTH - 1]}…")
