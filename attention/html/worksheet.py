"""Worksheets as one HTML file that prints on A4: sheets with empty grids, and their keys."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from attention.html.document import document
from attention.html.mathml import mathml
from attention.worksheet import Grid, Sheet, Task

STYLE = """@page { size: A4; margin: 15mm; }
:root { color-scheme: light; }
body { font: 10pt/1.35 Arial, "Liberation Sans", sans-serif; color: #000; background: #fff;
  margin: 8mm auto; max-width: 180mm; padding: 0 4mm; }
h1 { font-size: 16pt; margin: 0; display: flex; justify-content: space-between; gap: 6mm; }
h2 { font-size: 11pt; margin: 3mm 0 1mm; break-after: avoid; }
p { margin: 0 0 1mm; overflow-wrap: anywhere; } .note, footer { color: #444; font-size: 9pt; }
footer { font-size: 7pt; margin-top: 3mm; overflow-wrap: anywhere; }
.who { display: flex; gap: 4mm; margin: 4mm 0 3mm; }
.who span { border-bottom: .2mm solid #000; flex: 3; } .who span:last-child { flex: 1; }
.sheet + .sheet, .keys { break-before: page; } .sheet, .keys { margin-bottom: 12mm; }
.grids { display: flex; flex-wrap: wrap; gap: 3mm 8mm; align-items: flex-start; }
.task, .key { break-inside: avoid; margin-top: 5mm; } .key + .key { margin-top: 8mm; }
.task > p { display: flex; gap: 6mm; align-items: center; margin-bottom: 1mm; }
.task b { font-size: 11pt; flex: none; } .task .said { font-size: 9pt; }
.task math { white-space: nowrap; } math { font-size: 13pt; } caption { display: none; }
table { border-collapse: collapse; break-inside: avoid; }
th { font-weight: 400; font-size: 9pt; color: #444; padding: 0 1.5mm; max-width: 27mm;
  overflow-wrap: anywhere; }
th[scope=row] { text-align: right; } td { border: .25mm solid #000; text-align: center; }
td { min-width: 7mm; height: 6mm; padding: 0 1mm; white-space: nowrap; }
td.blank { min-width: 15mm; width: 15mm; height: 10mm; padding: 0; }
.corner { text-align: left; color: #000; } .corner math { font-size: 11pt; }
.work { display: flex; flex-wrap: wrap; gap: 4mm 8mm; } .work table { align-self: flex-start; }
.squares { flex: 1 1 40mm; position: relative; }
.squares svg, .defined { position: absolute; width: 100%; height: 100%; }
.defined { width: 0; height: 0; }
@media print { body { margin: 0; padding: 0; max-width: none; } .sheet, .keys { margin: 0; } }"""
SQUARES = (  # paper to work on; drawn, for browsers leave backgrounds out of what they print
    '<svg class="defined" aria-hidden="true"><pattern id="squares" width="18.9" height="18.9"'
    ' patternUnits="userSpaceOnUse"><path d="M0 0H19M0 0V19" fill="none" stroke="#999"'
    ' stroke-width=".8"/></pattern></svg>'
)
BESIDE, BELOW = 6, 20  # columns of an empty grid with room beside it; mm of that below others


def to_html(sheets: Sequence[Sheet], with_key: bool) -> bytes:
    """The sheets one after another and, behind them all, their keys."""
    keys = f'<section class="keys">{"".join(map(_key, sheets))}</section>' if with_key else ""
    return document(sheets[0].title, STYLE, SQUARES, *map(_sheet, sheets), keys)


def _sheet(sheet: Sheet) -> str:
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in sheet.notes)
    tasks = "".join(_task(k, task) for k, task in enumerate(sheet.tasks, 1))
    return (
        f'<section class="sheet"><h1><span>{escape(sheet.title)}</span>'
        f"<span>{escape(sheet.name)}</span></h1>"
        '<p class="who">Name <span></span> Date <span></span></p>'
        f'<p dir="auto">Sentence: {escape(sheet.sentence)}</p>{notes}'
        f'<h2>Given</h2><div class="grids">{"".join(map(_grid, sheet.given))}</div>{tasks}'
        f"<footer>{escape(' · '.join(sheet.about))}</footer></section>"
    )


def _key(sheet: Sheet) -> str:
    grids = "".join(_grid(task.grid) for task in sheet.tasks)
    name = escape(sheet.key_name)
    return f'<section class="key"><h2>{name}</h2><div class="grids">{grids}</div></section>'


def _task(k: int, task: Task) -> str:
    squares = ""
    work = task.work if len(task.grid.columns) <= BESIDE else min(task.work, BELOW)
    if work:
        filled = '<rect width="100%" height="100%" fill="url(#squares)"/>'
        squares = (
            f'<div class="squares" style="min-height: {work}mm">'
            f'<svg aria-hidden="true">{filled}</svg></div>'
        )
    return (
        f'<section class="task"><p><b>{k}.</b> {mathml(task.formula)}'
        f'<span class="said">{escape(task.sentence)}</span></p>'
        f'<div class="work">{_grid(task.grid, empty=True)}{squares}</div></section>'
    )


def _grid(grid: Grid, empty: bool = False) -> str:
    """A table with a name for those who hear it."""
    heads = "".join(f'<th scope="col" dir="auto">{escape(word)}</th>' for word in grid.columns)
    cell = '<td class="blank"></td>' if empty else "<td>{}</td>"
    lines = "".join(
        f'<tr><th scope="row" dir="auto">{escape(word)}</th>'
        + "".join(cell.format(escape(text)) for text in texts)
        + "</tr>"
        for word, texts in zip(grid.rows, grid.texts, strict=True)
    )
    head = f'<tr><th class="corner">{mathml(grid.symbol)}</th>{heads}</tr>'
    return (
        f'<table data-stage="{escape(grid.name)}"><caption>{escape(grid.name)}</caption>'
        f"<thead>{head}</thead><tbody>{lines}</tbody></table>"
    )
