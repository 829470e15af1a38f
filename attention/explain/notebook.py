"""A trace as text for a terminal and as static HTML for a notebook; NumPy alone is needed.

Neither grows with the trace: the text fits on one screen, and of a large matrix the HTML shows the
first rows and columns and says so.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from attention.core.scores import FUNCTION, SIGMOID
from attention.core.trace import AttentionTrace, reading_order
from attention.explain.captions import describe
from attention.explain.colours import LIGHT, colour_limits, hidden_cells, shade
from attention.explain.view import View, axes_of
from attention.vocabulary.numbers import number, rounded
from attention.vocabulary.sentences import amount, in_words, shortened
from attention.vocabulary.stages import STAGES

WIDTH = 100  # columns of a terminal
MOST_ROWS, MOST_COLUMNS = 12, 16  # of a matrix that HTML shows whole
CUT_ROWS, CUT_COLUMNS = 6, 8  # of a larger one
MOST_WARNINGS = 5
SHARES = {
    True: "softmax of each row",
    False: "no softmax",
    SIGMOID: "sigmoid of each score",
    FUNCTION: "weights by a function",
}
ROW = '<tr align="right">'
CELL = f"color:{LIGHT['ink']};background:"  # the rest of the style is at the table, once


def summary(trace: AttentionTrace) -> str:
    """Describe a trace: sizes, scale, what is hidden and what is wrong, a line or two each.

    >>> from attention import causal, self_attention
    >>> eye = np.eye(2)
    >>> self_attention(eye, eye, eye, eye, allowed=causal(2, 2))
    AttentionTrace: 2 queries × 2 keys, d_k 2, d_v 2, float64
      scores × 0.7071 = 1/√d_k; softmax of each row
      1 of 4 cells hidden
      stages: X W_Q W_K W_V Q K V scores scaled masked weights output joined (2, 2)
    """
    lines = [
        f"AttentionTrace: {', '.join(map(_unbroken, _sizes(trace)))}",
        *_facts(trace),
        f"stages: {', '.join(map(_unbroken, _stages(trace)))}",
        *_warnings(trace),
    ]
    lines = [
        textwrap.fill(line, WIDTH, initial_indent="  " if k else "", subsequent_indent="    ")
        for k, line in enumerate(lines)
    ]
    return "\n".join(lines).replace("\xa0", " ")


def _unbroken(words: str) -> str:
    """Keep words on one line, if they are few enough for one."""
    return words if len(words) > WIDTH // 2 else words.replace(" ", "\xa0")


def _sizes(trace: AttentionTrace) -> list[str]:
    n_q, n_k = trace.scores.shape[-2:]
    parts = [f"{amount(n_q, 'query', 'queries')} × {amount(n_k, 'key')}"]
    if not trace.weights_alone:
        parts += [f"d_k {trace.Q.shape[-1]:,}", f"d_v {trace.V.shape[-1]:,}"]
    if trace.output.ndim > 2:
        parts.append(f"leading axes {trace.output.shape[:-2]}")
    if of := trace.recorded:
        parts.append(of.words(*of.heads))
    return [*parts, trace.scores.dtype.name]


def _facts(trace: AttentionTrace) -> tuple[str, str]:
    """Describe how the trace was computed, and what is hidden."""
    if trace.weights_alone:
        is_computed = trace.recorded and trace.recorded.is_computed
        words = "computed from captured weights" if is_computed else "finished weights, as given"
        return words, _hidden(trace)
    root = " = 1/√d_k" if np.isclose(trace.scale, trace.Q.shape[-1] ** -0.5, rtol=1e-15) else ""
    parts = [*_before_scores(trace), f"scores × {number(trace.scale, 4)}{root}"]
    if trace.softcap is not None:
        parts.append(f"capped at ±{number(trace.softcap)}")
    if trace.modified is not None:
        parts.append("changed by score_mod")
    if trace.bias is not None:
        parts.append("a bias added" if trace.relative is None else "a relative bias added")
    parts.append(SHARES[trace.softmax])
    if trace.sinks is not None:
        parts[-1] += ", with a sink"
    return "; ".join(parts), _hidden(trace)


def _before_scores(trace: AttentionTrace) -> list[str]:
    """List what was added to X or done to Q and K, in the order of the computation."""
    said = {"P": "positions added to X", "b_Q": "biases", "b_K": "biases", "b_V": "biases"}
    said |= {"Q_normed": "Q and K normed", "Q_rotated": "Q and K rotated"}
    there = [name for name in reading_order(trace) if name in said]
    return list(dict.fromkeys(said[name] for name in there if getattr(trace, name) is not None))


def _hidden(trace: AttentionTrace) -> str:
    hidden = int(trace.allowed.size - np.count_nonzero(trace.allowed))
    if not hidden:
        return "nothing is hidden"
    text = f"{hidden:,} of {trace.allowed.size:,} cells hidden"
    blind = int(np.count_nonzero(trace.hidden_rows))
    if not blind:
        return text
    see = "1 query sees" if blind == 1 else f"{blind:,} queries see"
    zero = "weights are" if trace.weights_alone else "weights and output are"
    return f"{text}; {see} no key, {zero} 0 there"


def _stages(trace: AttentionTrace) -> list[str]:
    """List the stages that exist, with neighbours of one shape together."""
    groups: list[tuple[list[str], tuple[int, ...]]] = []
    for name in reading_order(trace):
        values = getattr(trace, name, None) if name != "context" else None
        if values is None:
            continue
        if groups and groups[-1][1] == values.shape:
            groups[-1][0].append(name)
        else:
            groups.append(([name], values.shape))
    return [f"{' '.join(names)} {shape}" for names, shape in groups]


def _warnings(trace: AttentionTrace) -> list[str]:
    """Return the first warnings, and where to find the others."""
    warnings = list(trace.warnings)
    if len(warnings) > MOST_WARNINGS:
        warnings[MOST_WARNINGS:] = ["The others are in trace.warnings."]
    return warnings


# ---- HTML ----------------------------------------------------------------------------------------


def page(trace: AttentionTrace) -> str:
    """Return the first item and head as coloured tables, with inline styles and no script."""
    said = [", ".join(_sizes(trace)), *_facts(trace)]
    words = [f"<b>Attention</b>: {html.escape('; '.join(said))}."]
    words += [html.escape(warning) for warning in _warnings(trace)]
    items, heads = axes_of(trace)
    if not items or not heads:
        return block([*words, "There is no item to show."], [])
    first = [axis for axis, count in (("item", items), ("head", heads)) if count > 1]
    if first:
        words.append(f"Of the first {in_words(first)}:")
    view = View.of(trace)
    shown = _cut(view)
    limits = colour_limits(shown)
    return block(words, [_stage(view, shown, name, limits[name]) for name in view.stages])


def _stage(view: View, shown: View, name: str, limits: tuple[float, float]) -> str:
    """Return the table of one stage under its name and formula."""
    formula = html.escape(describe(view, name)["formula"])
    return table(
        f"<b>{html.escape(STAGES[name].heading)}</b> = {formula}",
        view.printed(name),
        view.rows(name),
        view.columns(name),
        limits=limits,
        hidden=hidden_cells(shown, name),
    )


def _cut(view: View) -> View:
    """Cut each stage to its first rows and columns."""
    stages = {name: _corner(matrix) for name, matrix in view.stages.items()}
    whole = {"allowed": view.allowed, "bias": view.bias}
    whole |= {"buckets": view.buckets, "relative": view.relative}
    cut: dict = {name: M if M is None else _corner(M) for name, M in whole.items()}
    return replace(view, stages=stages, **cut)


def _corner(matrix: np.ndarray) -> np.ndarray:
    """Return the part of a matrix that is shown: the beginning of an axis that is too long."""
    rows, columns = matrix.shape
    return matrix[
        : rows if rows <= MOST_ROWS else CUT_ROWS,
        : columns if columns <= MOST_COLUMNS else CUT_COLUMNS,
    ]


def block(words: Iterable[str], tables: Iterable[str]) -> str:
    """Return lines of HTML, with tables side by side below them."""
    lines = "".join(f"<div>{line}</div>" for line in words)
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px;line-height:1.4">'
        f'{lines}<div style="display:flex;flex-wrap:wrap;gap:4px 20px;align-items:flex-start">'
        f"{''.join(tables)}</div></div>"
    )


def table(
    heading: str,
    matrix: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    limits: tuple[float, float],
    hidden: np.ndarray | None = None,
    digits: int = 2,
) -> str:
    """Return a (rows, columns) matrix as an HTML table under a heading of HTML.

    A large matrix shows its first cells and its sizes; ``hidden`` may be cut too. Nothing depends
    on the styles, which some viewers remove.
    """
    shown, role = _corner(matrix), "share" if limits == (0, 1) else "diverging"
    below, beyond = (whole > part for whole, part in zip(matrix.shape, shown.shape, strict=True))
    more = "<td>…</td>" if beyond else ""
    heads = "".join(f"<th>{_label(label)}</th>" for label in columns[: shown.shape[1]])
    lines = [f"{ROW}<th></th>{heads}{more}</tr>"]
    texts = rounded(shown, digits, role == "share")
    for i, row in enumerate(shown.tolist()):
        cells = ""
        for j, value in enumerate(row):
            covered = hidden is not None and hidden[i, j]
            colour = LIGHT["hidden"][0][1] if covered else shade(value, limits, role)
            cells += f'<td style="{CELL}{colour}">{texts[i][j]}</td>'
        lines.append(f"{ROW}<th>{_label(rows[i])}</th>{cells}{more}</tr>")
    if below:
        lines.append(f"{ROW}<th>…</th>{'<td>…</td>' * shown.shape[1]}{more}</tr>")
    if below or beyond:
        sizes = " of ".join(f"{r:,} × {c:,}" for r, c in (shown.shape, matrix.shape))
        heading += f" · the first {sizes}"
    elif not matrix.size:
        heading += f" · {matrix.shape[0]:,} × {matrix.shape[1]:,}: no cells"
    return (
        f'<div style="max-width:100%;overflow-x:auto;margin-top:8px"><div>{heading}</div>'
        '<table cellpadding="4" style="border-collapse:collapse;margin:2px 0;'
        'font-variant-numeric:tabular-nums">'
        f"{''.join(lines)}</table></div>"
    )


def _label(text: str) -> str:
    return html.escape(shortened(text))
