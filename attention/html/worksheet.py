"""Worksheets as one HTML file that prints on A4 and on Letter: sheets with blank grids, and keys.

Lengths are in millimetres. The places of a sheet that differ from sheet to sheet, which tasks share
a line and how large a blank cell is, are computed here; a browser lays out the rest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple, TypeVar

from attention.explain.worksheet import Grid, Task, Worksheet
from attention.html.document import document
from attention.html.mathml import mathml

MARGIN = 12
WIDE, TALL = 185, 254  # between the margins of A4 and of Letter: the smaller of the two
GAP = 6  # between grids in a line
LABEL = 15  # the widest column of words beside a grid
LETTER, TEXT, DIGIT = 1.6, 1.5, 1.9  # wide: a letter of a word, of a sentence; a digit
FORMULA = 2.2  # a character of a formula
NUMBER, ROW = 7, 5.5  # the least width of a cell with a number, and its height
WIDEST = 16  # a blank cell
SQUARE = 5  # of the paper to work on
ROOMY, TIGHT = (15, 10), (11, 8)  # blank cells: least width, and height
LEAST_SQUARES = 30  # a narrower rest of a line stays free
Item = TypeVar("Item")

STYLE = f"""@page {{ margin: {MARGIN}mm;
  @bottom-right {{ content: counter(page); font: 7pt Arial, sans-serif; vertical-align: top; }} }}
:root {{ color-scheme: light; print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
body {{ font: 10pt/1.25 Arial, "Liberation Sans", sans-serif; color: #000; background: #fff;
  margin: 8mm auto; padding: 0 4mm; max-width: {WIDE}mm; }}
h1 {{ font-size: 15pt; margin: 0; display: flex; justify-content: space-between; gap: {GAP}mm; }}
h2 {{ font-size: 11pt; margin: 2mm 0 1mm; break-after: avoid; }}
p {{ margin: 0 0 .5mm; overflow-wrap: anywhere; }} .note, .print {{ font-size: 9pt; }}
.print {{ border: .25mm solid #000; padding: 2mm; margin-bottom: 8mm; }}
footer {{ font-size: 7pt; margin-top: 2mm; overflow-wrap: anywhere; }}
.sheet > .squares, footer {{ break-before: avoid; }}
.who {{ display: flex; gap: 4mm; margin: 3mm 0 2mm; }}
.who span {{ border-bottom: .2mm solid #000; flex: 3; }} .who span:last-child {{ flex: 1; }}
.sheet {{ display: flex; flex-direction: column; min-height: {TALL - 1}mm; }}
.sheet, .keys {{ break-after: page; }} .sheet:last-child, .keys {{ break-after: auto; }}
.grids, .line {{ display: flex; flex-wrap: wrap; gap: 2mm {GAP}mm; align-items: flex-start; }}
.line {{ align-items: flex-end; margin-top: 3mm; }}
.line, .key, table {{ break-inside: avoid; }} .key + .key {{ margin-top: 6mm; }}
.task {{ flex: none; max-width: 100%; }}
.task p {{ display: flex; gap: 2mm; align-items: center; white-space: nowrap; }}
.task .said {{ width: 0; min-width: 100%; font-size: 8.5pt; white-space: normal; }}
math {{ font-size: 11pt; }} caption {{ display: none; }}
table {{ border-collapse: collapse; }}
td {{ box-sizing: border-box; min-width: {NUMBER}mm; height: {ROW}mm; padding: 0 1mm;
  border: .25mm solid #000; text-align: center; white-space: nowrap; }}
td.blank {{ min-width: var(--cell); width: var(--cell); height: var(--tall); padding: 0; }}
th {{ font: 8.5pt/1.15 Arial, "Liberation Sans", sans-serif; padding: 0 .5mm; }}
th[scope=row] {{ padding: 0 1mm; }} th[scope=row] span {{ margin-left: auto; text-align: right; }}
th span {{ display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;
  overflow: hidden; overflow-wrap: anywhere; width: max-content; max-width: {LABEL - 2}mm; }}
th[scope=col] span {{ margin: 0 auto; }} .corner {{ text-align: left; }}
.blanks {{ margin-top: 1mm; }} .blanks th[scope=row] span {{ max-width: calc(var(--label) - 2mm); }}
.blanks th[scope=col] span {{ max-width: calc(var(--cell) - 1mm); }}
.squares {{ flex: 1; position: relative; align-self: stretch; min-width: 0; }}
.sheet > .squares {{ margin-top: 3mm; align-self: auto; }}
.squares svg, .defined {{ position: absolute; width: 100%; height: 100%; bottom: 0; }}
.squares svg {{ width: round(down, 100%, {SQUARE}mm); height: round(down, 100%, {SQUARE}mm); }}
.defined {{ width: 0; height: 0; }}
@media screen {{ .sheet, .keys {{ margin-bottom: 12mm; }} .grids {{ overflow-x: auto; }} }}
@media print {{ .print {{ display: none; }} body {{ margin: 0; padding: 0; }} }}"""
SQUARES = (  # paper to work on; drawn, as browsers do not print backgrounds
    '<svg class="defined" aria-hidden="true"><pattern id="squares" width="18.8976" height="18.8976"'
    ' patternUnits="userSpaceOnUse"><path d="M0 0H19M0 0V19" fill="none" stroke="#999"'
    ' stroke-width=".8"/></pattern></svg>'
)
PAPER = (
    '<div class="squares"><svg aria-hidden="true">'
    '<rect width="100%" height="100%" fill="url(#squares)"/></svg></div>'
)
HOW_TO_PRINT = (
    "To print on A4 or Letter, or to save as PDF, press Ctrl+P (⌘P on a Mac). Print on one side"
    " only, so that the answer key is never on the back of a sheet."
)


class _TaskLine(NamedTuple):
    """Tasks beside each other."""

    tasks: list[Task]
    cell: float  # the width of a blank cell


class _TaskLayout(NamedTuple):
    """The tasks of a sheet in lines."""

    lines: list[_TaskLine]
    label: float  # the width of the words beside a grid
    tall: float  # the height of a blank cell


def to_html(sheets: Sequence[Worksheet], with_key: bool) -> bytes:
    """Return the sheets one after another, each on pages of its own, and their keys after them."""
    keys = f'<section class="keys">{"".join(map(_key, sheets))}</section>' if with_key else ""
    how = f'<p class="print">{HOW_TO_PRINT}</p>'
    return document(sheets[0].title, STYLE, SQUARES, how, *map(_sheet, sheets), keys)


def _sheet(sheet: Worksheet) -> str:
    layout = _layout(sheet)
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in sheet.notes)
    numbers = iter(range(1, len(sheet.tasks) + 1))
    lines = "".join(_line(line, layout, numbers) for line in layout.lines)
    return (
        f'<section class="sheet" style="--tall: {layout.tall}mm; --label: {layout.label:.1f}mm">'
        f"<h1><span>{escape(sheet.title)}</span><span>{escape(sheet.name)}</span></h1>"
        '<p class="who">Name <span></span> Date <span></span></p>'
        f'<p dir="auto">Sentence: {escape(sheet.sentence)}</p>{notes}'
        f'<h2>Given</h2><div class="grids">{"".join(map(_grid, sheet.given))}</div>'
        f"{lines}{PAPER}<footer>{escape(' · '.join(sheet.about))}</footer></section>"
    )


def _key(sheet: Worksheet) -> str:
    grids = "".join(_grid(task.grid) for task in sheet.tasks)
    name = escape(sheet.key_name)
    return f'<section class="key"><h2>{name}</h2><div class="grids">{grids}</div></section>'


def _line(line: _TaskLine, layout: _TaskLayout, numbers: Iterator[int]) -> str:
    """Return tasks beside each other, and paper to work on where there is room for it."""
    before, tasks = "", ""
    for task in line.tasks:
        tasks += _task(next(numbers), task, "" if task.sentence == before else task.sentence)
        before = task.sentence
    free = WIDE - _width(line.tasks, layout.label, line.cell) - GAP
    paper = PAPER if free >= LEAST_SQUARES else ""
    return f'<div class="line" style="--cell: {line.cell}mm">{tasks}{paper}</div>'


def _task(k: int, task: Task, said: str) -> str:
    return (
        f'<section class="task"><p><b>{k}.</b> {mathml(task.formula)}</p>'
        f'<p class="said">{escape(said)}</p>{_grid(task.grid, empty=True)}</section>'
    )


def _grid(grid: Grid, empty: bool = False) -> str:
    """Return a table with a name for those who hear it; its formula stands above a blank one."""
    heads = "".join(f'<th scope="col" dir="auto">{_word(word)}</th>' for word in grid.columns)
    cell = '<td class="blank"></td>' if empty else "<td>{}</td>"
    lines = "".join(
        f'<tr><th scope="row" dir="auto">{_word(word)}</th>'
        + "".join(cell.format(escape(text)) for text in texts)
        + "</tr>"
        for word, texts in zip(grid.rows, grid.texts, strict=True)
    )
    head = f'<tr><th class="corner">{"" if empty else mathml(grid.symbol)}</th>{heads}</tr>'
    look = ' class="blanks"' if empty else f' style="font-size: {_size(grid):.1f}pt"'
    return (
        f'<table data-stage="{escape(grid.name)}"{look}><caption>{escape(grid.name)}</caption>'
        f"<thead>{head}</thead><tbody>{lines}</tbody></table>"
    )


def _word(word: str) -> str:
    return f"<span>{escape(word)}</span>"


# ---- how much room things take -------------------------------------------------------------------


def _layout(sheet: Worksheet) -> _TaskLayout:
    """Return the roomiest of the layouts with the fewest pages."""
    label = max(_label(task.grid) for task in sheet.tasks)
    found = [
        _TaskLayout(_lines_of_tasks(sheet, label, least), label, tall)
        for least, tall in (ROOMY, TIGHT)
    ]
    return min(found, key=lambda layout: _pages(sheet, layout))


def _lines_of_tasks(sheet: Worksheet, label: float, least: int) -> list[_TaskLine]:
    """Return as many tasks in each line as fit, with cells as wide as they can be then."""
    lines = []
    for tasks in _in_lines(sheet.tasks, lambda tasks: _width(tasks, label, least)):
        wider = (half / 2 for half in range(2 * WIDEST, 2 * least, -1))
        cell = next((cell for cell in wider if _width(tasks, label, cell) <= WIDE), least)
        lines.append(_TaskLine(tasks, cell))
    return lines


def _in_lines(items: Iterable[Item], width: Callable[[list[Item]], float]) -> list[list[Item]]:
    """Return items in lines, as many in each as fit."""
    lines: list[list[Item]] = [[]]
    for item in items:
        if lines[-1] and width([*lines[-1], item]) > WIDE:
            lines.append([])
        lines[-1].append(item)
    return lines


def _width(tasks: list[Task], label: float, cell: float) -> float:
    """Return the width of tasks beside each other."""
    formulas = (FORMULA * len(re.sub(r"\\[a-z]+|[{}\\,]", "", task.formula)) for task in tasks)
    grids = (label + cell * len(task.grid.columns) for task in tasks)
    return sum(map(max, formulas, grids)) + GAP * (len(tasks) - 1)


def _label(grid: Grid) -> float:
    """Return the width of the words beside a grid."""
    return min(max(10, 2 + LETTER * max(map(len, grid.rows))), LABEL)


def _given_width(grids: list[Grid]) -> float:
    """Return the width of grids with numbers beside each other."""
    return sum(map(_grid_width, grids)) + GAP * (len(grids) - 1)


def _grid_width(grid: Grid) -> float:
    total = _label(grid)
    for word, *texts in zip(grid.columns, *grid.texts, strict=True):
        number = 2 + DIGIT * max(map(len, texts))
        total += max(NUMBER, number, min(1 + LETTER * len(word), LABEL))
    return total


def _size(grid: Grid) -> float:
    """Return the size of the letters, in points, with which the numbers of a grid fit on a page."""
    room = (WIDE - LABEL - 2) / len(grid.columns) - 2
    longest = max(len(text) for texts in grid.texts for text in texts)
    return 10 * min(1, room / (DIGIT * longest))


def _pages(sheet: Worksheet, layout: _TaskLayout) -> int:
    """Return how many pages a sheet takes, as a line of tasks is never broken."""
    head = 25.0 + 5 * _broken_rows(sheet.sentence, WIDE)
    head += sum(4 * _broken_rows(note, WIDE) for note in sheet.notes)
    for grids in _in_lines(sheet.given, _given_width):
        head += max(_heads(grid, LABEL) + ROW * len(grid.rows) for grid in grids) + 2
    lines = [
        3.0 + max(_task_height(task, layout, line.cell) for task in line.tasks)
        for line in layout.lines
    ]
    # the footer stays with the last one
    lines[-1] += 2 + 3 * _broken_rows(" · ".join(sheet.about), WIDE)
    pages, filled = 1, head
    for height in lines:
        if filled + height > TALL:
            pages, filled = pages + 1, 0
        filled += height
    return pages


def _task_height(task: Task, layout: _TaskLayout, cell: float) -> float:
    """Return the height of a formula, its sentence and its grid."""
    said = 3.8 * _broken_rows(task.sentence, _width([task], layout.label, cell))
    formula = 11 if "frac" in task.formula else 6
    return formula + said + _heads(task.grid, cell) + layout.tall * len(task.grid.rows)


def _heads(grid: Grid, room: float) -> float:
    """Return the height of the words above columns this wide: of one row, or of two."""
    return 4.5 if LETTER * max(map(len, grid.columns)) < room else 8


def _broken_rows(text: str, room: float) -> int:
    """Return in how many rows a text is broken."""
    return math.ceil(TEXT * len(text) / room)
