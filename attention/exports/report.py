"""One HTML file with everything on the page: what it is, every stage in colours, the code.

It has no script and needs no network: a heatmap is a table with coloured cells, which can be read
aloud, searched and copied; of a matrix with too many numbers to print, a sentence says so. It
follows the light or dark of the screen and prints on white.
"""

from __future__ import annotations

import html
from collections.abc import Mapping

import numpy as np

from attention import program
from attention.explain.colours import PALETTES, between, shade
from attention.figures.panes.pane import CellKind, Pane
from attention.html.document import document
from attention.html.tables import line, table
from attention.session.state.about import About

STEPS = 40  # of each scale
ROLES = {"share": "s", "diverging": "d"}  # classes of cells, with their step
OTHERS = {CellKind.HIDDEN: "h", CellKind.BROKEN: "b"}
STYLE = """:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem;
  padding: 0 1rem; color: #1f2430; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .2rem; } p { margin: .2rem 0; }
.stages { display: flex; flex-wrap: wrap; gap: 0 3rem; } section { max-width: 100%; }
.scroll { overflow-x: auto; margin: .4rem 0; } .fine { font-size: .85rem; opacity: .8; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
.facts th, .facts td { border-bottom: 1px solid #8884; padding: .2rem .6rem .2rem 0;
  text-align: left; vertical-align: top; overflow-wrap: anywhere; }
.facts th { white-space: nowrap; } .facts thead { display: none; }
.heat th { font-weight: 500; padding: .15rem .5rem; text-align: right; }
.heat td { border: 1px solid #fff; padding: .15rem .5rem; text-align: right; white-space: nowrap; }
pre { background: #f4f5f7; padding: 1rem; overflow-x: auto; }
@media screen and (prefers-color-scheme: dark) {
  body { color: #e8eaf0; background: #0f1218; } pre { background: #1b1f29; }
  .heat td { border-color: #0f1218; }
}
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; }
  tr { break-inside: avoid; } td { print-color-adjust: exact; } pre { white-space: pre-wrap; } }"""


def to_report(
    panes: list[Pane],
    *,
    title: str,
    about: About,
    facts: Mapping[str, str],
    code: str = "",
    lines: str = "",
) -> bytes:
    """The page as one file.

    Parameters
    ----------
    panes : the board's, each with its numbers, symbol, formula and sentence
    facts : what is set, by name
    code : the script that recomputes the stages; "" where there is none
    lines : an SVG of who looks at whom; "" where there is none
    """
    told = {"made by": program.made_by(), "holds": about.part, **about.sources(), **facts}
    told["stayed behind"] = " ".join(about.behind)
    rows = [line([name, value]) for name, value in told.items() if value]
    return document(
        title,
        f"{STYLE}\n{_colours()}",
        f"<h1>{html.escape(title)}</h1>",
        table("facts", ["", ""], rows),
        f'<div class="stages">{"".join(map(_stage, panes))}</div>',
        f"<h2>Who looks at whom</h2>{lines}" if lines else "",
        f"<h2>The same in NumPy</h2><pre>{html.escape(code)}</pre>" if code else "",
    )


def _colours() -> str:
    """The colours of the cells, on light and on dark."""
    dark = "@media screen and (prefers-color-scheme: dark)"
    return f"{_rules('light')}\n{dark} {{\n{_rules('dark')}\n}}"


def _rules(name: str) -> str:
    palette = PALETTES[name]
    rules = [
        f".{letter}{k} {{ background: {shade(k / STEPS, (0, 1), role, palette)}; }}"
        for role, letter in ROLES.items()
        for k in range(STEPS + 1)
    ]
    hidden, stroke = palette["hidden"][0][1], palette["stroke"]
    struck = f"linear-gradient(to top right, transparent 48%, {stroke} 48% 52%, transparent 52%)"
    rules += [f".h {{ background: {struck}, {hidden}; }}"]
    rules += [f".b {{ background: {palette['broken'][0][1]}; }}"]
    return "\n".join([*rules, f".heat td {{ color: {palette['ink']}; }}"])


def _stage(pane: Pane) -> str:
    """Heading, formula, sentence and numbers of one stage."""
    formula = f"{pane.symbol} = {pane.formula}" if pane.formula else pane.symbol
    text = f'<section><h2 id="{html.escape(pane.name)}">{html.escape(formula)}</h2>'
    text += f"<p>{html.escape(pane.sentence)}</p>"
    if pane.texts is None:
        size = "{} × {}".format(*pane.shape)
        many = f"{size} numbers are too many to print; NPZ holds them all."
        return f'{text}<p class="fine">{many}</p></section>\n'
    text += _html_table(pane, pane.texts)
    if (pane.kinds == CellKind.HIDDEN).any():
        text += '<p class="fine">Struck through: hidden by the mask.</p>'
    return f"{text}</section>\n"


def _classes(pane: Pane) -> np.ndarray:
    """Return the class of each cell."""
    steps = np.rint(between(np.nan_to_num(pane.values), *pane.limits) * STEPS).astype(int)
    classes = np.array([f"{ROLES[pane.role]}{k}" for k in range(STEPS + 1)])[steps]
    for kind, letter in OTHERS.items():
        classes[pane.kinds == kind] = letter
    return classes


def _html_table(pane: Pane, texts: list[list[str]]) -> str:
    heads = "".join(f'<th scope="col">{html.escape(label)}</th>' for label in pane.columns)
    rows = []
    for label, cells, kinds in zip(pane.rows, texts, _classes(pane).tolist(), strict=True):
        each = "".join(
            f"<td class={kind}>{html.escape(cell)}</td>"
            for cell, kind in zip(cells, kinds, strict=True)
        )
        rows.append(f'<tr><th scope="row">{html.escape(label)}</th>{each}</tr>')
    words = f' aria-label="{html.escape(pane.alt)}"'
    body = f"<thead><tr><td></td>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="scroll"><table class="heat"{words}>{body}</table></div>'
