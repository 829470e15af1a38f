"""One HTML file with everything on the page: figures to point into, inputs, stages, formulas.

It needs no network.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from functools import cache
from pathlib import Path

import numpy as np

from attention.colours import LIGHT, hidden_cells
from attention.figures.panes import Pane
from attention.html.tables import line, table
from attention.numbers import rounded
from attention.view import View

STYLE = """body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem;
  padding: 0 1rem; color: #1f2430; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .2rem; } p { margin: .2rem 0; }
.plot { height: 360px; max-width: 46rem; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { border-bottom: 1px solid #ddd; padding: .2rem .6rem; text-align: right; }
th:first-child { text-align: left; }
pre { background: #f4f5f7; padding: 1rem; overflow-x: auto; }"""
MOST_STROKES = 50  # in a line of cells, so that the strokes stay apart
DRAW = """for (const pane of JSON.parse(document.getElementById('panes').textContent)) {
  const layout = { ...pane.figure.layout, title: undefined, autosize: true }
  const options = { responsive: true, displaylogo: false }
  Plotly.newPlot(document.getElementById('plot-' + pane.name), pane.figure.data, layout, options)
}"""


def to_report(
    view: View,
    panes: list[Pane],
    *,
    title: str,
    facts: dict[str, str],
    code: str = "",
    digits: int = 2,
) -> bytes:
    """The page as one file.

    Parameters
    ----------
    panes : the board's, each with its figure, symbol, formula and sentence
    facts : what is set, by name
    code : the script that recomputes the stages; "" where there is none

    Its Content-Security-Policy lets only these two scripts run, by their hashes, and nothing be
    fetched.
    """
    scripts = [plotly_script(), DRAW]
    figures = [{"name": pane["name"], "figure": _struck(view, pane)} for pane in panes]
    data = json.dumps(figures)
    data = data.replace("<", "\\u003c")  # so that nothing in it ends the script
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
        table("facts", ["", ""], [line([name, value]) for name, value in facts.items()]),
        *(_stage(view, pane, digits) for pane in panes),
        f"<h2>The same in NumPy</h2><pre>{html.escape(code)}</pre>" if code else "",
        f'<script type="application/json" id="panes">{data}</script>',
        *(f"<script>{script}</script>" for script in scripts),
        "</body></html>",
    ]
    return "\n".join(parts).encode()


def _policy(scripts: list[str]) -> str:
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline';"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@cache
def plotly_script() -> str:
    """plotly.js out of the installed package, so that a report stands alone."""
    import plotly

    script = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    return script.read_text(encoding="utf-8")


def _hidden(view: View, pane: Pane) -> np.ndarray | None:
    """Where the mask hides cells of the pane; None where it hides none."""
    hidden = hidden_cells(view, pane["name"].removesuffix("_inf"))
    return hidden if hidden is not None and hidden.any() else None


def _struck(view: View, pane: Pane) -> dict:
    """The pane's figure, its hidden cells struck through: they differ by more than their colour."""
    hidden = _hidden(view, pane)
    if hidden is None:
        return pane["figure"]
    step = math.ceil(max(hidden.shape) / MOST_STROKES)
    cells = [(i, j) for i, j in np.argwhere(hidden).tolist() if (i + j) % step == 0]
    path = "".join(f"M{j - 0.5},{i + 0.5}L{j + 0.5},{i - 0.5}" for i, j in cells)
    line = {"color": LIGHT["stroke"], "width": 1}
    strokes = {"type": "path", "path": path, "layer": "above", "line": line}
    layout = pane["figure"]["layout"]
    return pane["figure"] | {"layout": layout | {"shapes": [*layout.get("shapes", []), strokes]}}


def _stage(view: View, pane: Pane, digits: int) -> str:
    """Heading, formula, sentence, figure and table of one stage."""
    name = pane["name"]
    formula = f"{pane['symbol']} = {pane['formula']}" if pane["formula"] else pane["symbol"]
    text = f"<h2>{html.escape(formula)}</h2><p>{html.escape(pane['sentence'])}</p>"
    words = f'role="img" aria-label="{html.escape(pane["alt"])}"'
    text += f'<div class="plot" id="plot-{html.escape(name)}" {words}></div>'
    if _hidden(view, pane) is not None:
        text += "<p>Struck through: hidden by the mask.</p>"
    if name not in view.stages:
        return text
    lines = [
        line([label, *row])
        for label, row in zip(view.rows(name), rounded(view.stages[name], digits), strict=True)
    ]
    cells = table(name, ["", *view.columns(name)], lines)
    return f"{text}<details><summary>as a table</summary>{cells}</details>"
