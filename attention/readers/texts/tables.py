"""Tables out of text: what the cells of a grid mean, with the questions that it leaves open."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from attention.limits import LIMIT, MAX_BLOCKS, MAX_ELEMENTS, BadInput
from attention.readers.cells import row_labels
from attention.readers.cells.entry import ALONE, ArrayEntry, repeated, short
from attention.readers.cells.label_columns import (
    AMOUNT,
    CORNERS,
    COUNTS,
    NUMBERING,
    WORDS,
    columns_of,
    counting,
    counts_up,
    kind_of,
    labels_rows,
)
from attention.readers.cells.printouts import is_figure, is_number, read_number, sides
from attention.readers.texts.block_labels import FACTOR, is_comment, labels_in
from attention.readers.texts.grid import (
    DOTS,
    Asked,
    Grid,
    between_bars,
    grid_of,
    joined_frame,
    without_sums,
)
from attention.vocabulary.sentences import plural
from attention.vocabulary.stages import STAGES

_FLOAT = re.compile(r"\d[.eE]|\.\d|^$|nan|inf")
_NUMERAL = re.compile(r"\d|\b(?:[Tt]rue|[Ff]alse|TRUE|FALSE)\b")
_DIGIT = re.compile(r"[+-]?\d|[\[({]{1,4}[+-]?[\d.]+,?$")
# Numbers of which Python's float reads each as it is written.
_PLAIN = re.compile(r"(?:[-+.0-9 ]++|[eE][-+]?[0-9]{1,4}(?![0-9]))*+")
_PRINT_ALL = "print all, with print(frame.to_string())."
# Where a spreadsheet takes a cell for a formula: full-width signs count as well.
_FORMULA = (*"=+-@\uff1d\uff0b\uff0d\uff20\t\r\n", "'")


class Layout(NamedTuple):
    """What the columns of a grid are, as its first rows show."""

    above: int  # rows that are none of the matrix: names, or counts of words
    labels: int  # cells of the label of a row: none, one, or one and a number
    numbers: tuple[int, ...]  # the columns of the matrix
    columns: int  # of all, a label of several words being one
    label: int = 0  # the column of the labels
    names: tuple[str, ...] = ()  # of all columns
    over: str = ""  # what is said of columns that are passed over
    announced: int | None = None  # how many words the first line says there are


def tables(text: str, where: str, chosen: Mapping[str, str] | None = None) -> dict[str, ArrayEntry]:
    """Return one table; or several between empty lines: heads of one shape, or matrices by name.

    ``chosen`` answers questions of a reading before, which are the ``choices`` of its entries: the
    key of an option for the key of a question.
    """
    text, summed = without_sums(text.replace("\r\n", "\n").replace("\r", "\n"))
    text = joined_frame(text, where)
    asked = Asked(where, chosen or {})
    found = _blocks_read(text, asked)
    told = "The sum after each row is skipped." if summed else ""
    return {
        name: replace(
            entry,
            choices=tuple(asked.choices.values()),
            remark=f"{entry.remark} {told}".strip(),
        )
        for name, entry in found.items()
    }


def tables_in(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """Return the tables between bars, named by the headings above them; None where there is none.

    The text is one whose marks were counted.
    """
    if not ("|" in text and "--" in text) and "┌" not in text:
        return None
    known = {STAGES[name].heading: name for name in STAGES}
    found: list[tuple[str, ArrayEntry]] = []
    grids = list(between_bars(text, where))
    for k, (title, grid) in enumerate(grids, 1):
        name = known.get(title) or title or (ALONE if len(grids) == 1 else f"{ALONE} {k}")
        place = where if name.startswith(ALONE) else f"{where}, {short(name, 40)}"
        found.append((name, _entry(name, grid, Asked(place, {}), named=True)))
    if twice := repeated(name for name, _ in found):
        raise BadInput(f"{where} holds {short(twice, 40)} twice.")
    return dict(found) or None


def _blocks_read(text: str, asked: Asked) -> dict[str, ArrayEntry]:
    lines = text.split("\n")
    labels = labels_in(lines)
    first = next((k for k, line in enumerate(lines) if line.strip()), 0)
    for k, line in enumerate(lines) if "#" in text or "%" in text else ():
        if k not in labels and is_comment(line):
            lines[k] = "\x0b"
    if set(labels) <= {first}:
        after = first + 1 if labels else 0
        while labels and not lines[after].strip():
            after += 1
        found = _unlabelled("\n".join(lines[after:]), after + 1, asked)
        label = labels.get(first)
        if label and list(found) == [ALONE]:
            return {label: replace(found[ALONE], name=label)}
        return found
    parts = _labelled(lines, labels)
    if len(parts) > MAX_BLOCKS:
        raise BadInput(f"{asked.where} holds {len(parts):,} arrays; at most {MAX_BLOCKS} are read.")
    names = [label or f"{ALONE} {k}" for k, (label, _, _) in enumerate(parts, 1)]
    if twice := repeated(names):
        raise BadInput(f"{asked.where} holds {short(twice, 40)} twice.")
    return {
        name: _entry(name, grid_of(block, start, asked), asked)
        for name, (_, start, block) in zip(names, parts, strict=True)
    }


def _labelled(lines: list[str], labels: Mapping[int, str]) -> list[tuple[str, int, str]]:
    """Return the parts of a text with a label each, or "", and the numbers of their first lines.

    What is above the first label counts only if it holds a number.
    """
    ends = [*labels, len(lines)]
    above = "\n".join(lines[: ends[0]])
    parts = [("", *part) for part in _blocks(above, 1)] if _NUMERAL.search(above) else []
    for (k, label), end in zip(labels.items(), ends[1:], strict=True):
        block = "\n".join(lines[k + 1 : end])
        inner = block.lstrip("\n")
        start = k + 2 + len(block) - len(inner)
        first, *others = _blocks(inner, start)
        parts += [(label, *first), *(("", *part) for part in others)]
    return parts


def _unlabelled(text: str, start: int, asked: Asked) -> dict[str, ArrayEntry]:
    blocks = _blocks(text, start)
    if len(blocks) > 1:
        titles = [_title(block) for _, block in blocks]
        named = all(titles)
        names = titles if named else [f"{ALONE} {k}" for k in range(1, len(blocks) + 1)]
        if twice := repeated(names):
            raise BadInput(f"{asked.where} holds {twice} twice.")
        found = {
            name: _entry(name, grid_of(block, line, asked), asked, corner=named)
            for name, (line, block) in zip(names, blocks, strict=True)
        }
        first, *others = found.values()
        if named or all(entry.rows == first.rows for entry in others):
            one_shape = not named and len({entry.shape for entry in found.values()}) == 1
            return {ALONE: _stacked(list(found.values()))} if one_shape else found
    return {ALONE: _entry(ALONE, grid_of(text, start, asked), asked)}


def _stacked(blocks: list[ArrayEntry]) -> ArrayEntry:
    """Return blocks of one shape as NumPy and spreadsheets show several heads or items."""
    joined = f"{len(blocks)} blocks of one shape were put one behind the other."
    remarks = dict.fromkeys(filter(None, [*(entry.remark for entry in blocks), joined]))
    stacked = ArrayEntry.of(ALONE, np.stack([entry.read() for entry in blocks]), blocks[0].rows)
    return replace(stacked, dtype=blocks[0].dtype, remark=" ".join(remarks))


def _title(block: str) -> str:
    """Return the name of a matrix in its upper left corner, between labels; "" without one."""
    line = block.split("\n", 1)[0]
    corner, *names = (cell.strip().strip('"') for cell in re.split(r"[\t;,]", line))
    if not names or not re.fullmatch(r"[A-Za-z]\w{0,39}", corner) or corner.lower() in CORNERS:
        return ""
    known = corner in STAGES or counting(names)
    return corner if known or not any(map(is_number, names)) else ""


def _blocks(text: str, line: int) -> list[tuple[int, str]]:
    """Return the parts between empty lines with the numbers of their first lines.

    Lone lines are one part. ``line`` is the number of the first line of the text.
    """
    parts, start = [], line
    for part in re.split(r"\n[ \t]*(?=\n)", text):
        inner = part.lstrip("\n")
        if inner.strip():
            parts.append((start + len(part) - len(inner), inner))
        start += part.count("\n") + 1
    several = 1 < len(parts) <= MAX_BLOCKS and all("\n" in part.strip("\n") for _, part in parts)
    return parts if several else [(line, text)]


# ---- what the columns are -----------------------------------------------------------------------


def _layout(grid: Grid, asked: Asked, named: bool, corner: bool, kinds: bool) -> Layout:
    """Return what is above and beside the numbers.

    ``named``: whether the first row is known for names; ``corner``: whether its first cell is the
    name of the matrix; ``kinds``: whether names and cells say what a column is.
    """
    rows = [cells for _, cells in grid.first]
    if not rows:
        raise BadInput(f"{asked.where} is empty; expected numbers.")
    if said := _announced(grid):
        return Layout(1, 1, tuple(range(1, said[1] + 1)), said[1] + 1, announced=said[0])
    if kinds and (layout := _by_kinds(rows, grid, named)):
        return layout
    first = rows[0]
    names = named or (len(rows) > 1 and (corner or first[0] == "" or _is_head(rows, grid, asked)))
    above, below = first if names else [], rows[names:]
    without_corner = names and grid.spaced and _has_no_corner(grid, asked)
    labelled = (
        corner
        or (names and (without_corner or labels_rows(first[0], [row[0] for row in below])))
        or _is_labelled(below, grid)
    )
    number, row = grid.first[names]
    width = len(row) - labelled
    if labelled and grid.spaced:
        values = [grid.is_number(cell) or cell in DOTS for cell in reversed(row)]
        width = min(values.index(False) if False in values else width, width)
    if width < 1:
        raise BadInput(f"{asked.where}, line {number} holds no number.")
    beside = first[0].lower() in CORNERS | NUMBERING  # a name of the labels themselves
    columns = width + labelled
    labels = int(labelled)
    if len(above) - beside < width:
        labels += _is_numbered(grid, names, labelled, width, asked)
    above = [""] * (len(above) == columns - 1) + above
    head = tuple(above) if len(above) == columns else ()
    return Layout(int(names), labels, tuple(range(labels, columns)), columns, names=head)


def _by_kinds(rows: list[list[str]], grid: Grid, named: bool) -> Layout | None:
    """Return which column labels the rows, and which others are none of numbers: ids and words.

    None where there are no such columns but the first, or rows of several lengths. Above an index
    that is printed between spaces stands no name, and its labels may have spaces.
    """
    names, *below = rows
    if grid.mixed or not below:
        return None
    index = grid.spaced and len(below[0]) > len(names)
    names = ["", *names] if index else names
    if any(len(row) < len(names) or (len(row) > len(names) and not index) for row in below):
        return None
    joined = [_joined(row, len(names)) for row in below]
    kinds = [
        kind_of(["0.5" if cell in DOTS else grid.plain(cell) for cell in column])
        for column in zip(*joined, strict=True)
    ]
    if index and WORDS in kinds[1:] and (kinds[0] != COUNTS or joined != below):
        return None  # a label of several words
    found = columns_of(names, kinds, {row[0] for row in joined} if kinds[0] == WORDS else ())
    heads = [names[k] for k in found.numbers]
    others = [names[k] for k in sorted({*range(1, len(names))} - {*found.numbers})]
    if found.label is None or not heads or not others:
        return None
    counted = counting(heads) and names[found.label].lower() in CORNERS
    if not named and any(map(grid.is_number, others if counted else heads + others)):
        return None  # a number is no name, but 0, 1, 2, … next to one of labels
    return Layout(
        1, 1, found.numbers, len(names), found.label, names=tuple(names), over=found.remark
    )


def _joined(cells: list[str], columns: int) -> list[str]:
    """Return as many cells, what is before the last ones as one."""
    more = len(cells) - columns
    return [" ".join(cells[: more + 1]), *cells[more + 1 :]] if more > 0 else cells


def _announced(grid: Grid) -> tuple[int, int] | None:
    """Return how many words and numbers the first line announces, as word2vec and fastText do."""
    (_, first), *rest = grid.first[:2]
    if not rest or not grid.spaced or not re.fullmatch(r"\d{1,9} \d{1,6}", " ".join(first)):
        return None
    words, width = map(int, first)
    cells = rest[0][1]
    at = max(len(cells) - width, 0)
    label, values = cells[:at], cells[at:]
    if not label or len(values) != width or not all(map(grid.is_number, values)):
        return None
    if len(label) > 1:
        return None if any(map(is_figure, label)) else (words, width)
    counted = width > 1 and words > 1 and words == sum(1 for _ in grid.rows()) - 1
    # "0 1" above "0 0" is a matrix
    return (words, width) if counted or not grid.is_number(label[0]) else None


def _is_head(rows: list[list[str]], grid: Grid, asked: Asked) -> bool:
    """Check for names of columns: words above numbers, or 0, 1, 2, … as programs number them."""
    names, *below = rows
    counted = counting(names)
    if names[0].lower() in CORNERS and counting(names[1:]):
        return True
    if counted and grid.spaced and len(below[0]) == len(names) + 1:
        return True
    if counted and names[0] == "0" and len(names) > 1:
        cells = [cell for row in below for cell in row]
        floats = all(_FLOAT.search(grid.plain(cell)) for cell in cells)
        likely = floats and (grid.written or grid.aligned)
        if likely or grid.written or any("." in cell for cell in cells):
            which = "does it name the columns, or is it a row of the matrix"
            guess = "names" if likely else "numbers"
            return asked.answer("names", grid.first[0], which, guess) == "names"

    def counts(cell: str) -> bool:  # what is to be refused as no number is no name either
        unread = AMOUNT.fullmatch(cell) or ("," in cell and is_figure(cell))
        return bool(unread) or grid.is_number(cell)

    cells = [cell for row in below[:5] for cell in row[1:] or row]
    factor = "x9" not in names and any(map(FACTOR.match, names))  # x10 after it is a name as well
    named = not any(map(counts, names)) and not factor
    return named and 2 * sum(map(counts, cells)) > len(cells)


def _has_no_corner(grid: Grid, asked: Asked) -> bool:
    """Check for nothing above the first column, as pandas prints labels.

    Where that column is of numbers, it is of labels if it counts, if only the others have decimals,
    or if a program aligned the names; else nobody can say what the first line is.
    """
    names, *rows = (cells for _, cells in grid.first)
    if len(names) != len(rows[0]) - 1 or all("." in row[0] for row in rows):
        return False
    firsts = [row[0] for row in rows]
    if not all(map(grid.is_number, firsts)) or counts_up(firsts) or grid.written or grid.aligned:
        return True
    if all(row_labels.FRACTION.search(grid.plain(cell)) for row in rows for cell in row[1:]):
        return True
    place = asked.place(grid.first[0])
    if names[-1].endswith(":"):
        raise BadInput(f"{place} is above numbers; remove it, or name a matrix as in Q = [[1, 2]].")
    raise BadInput(f"{place} names fewer columns than there are; remove it, or name every column.")


def _is_labelled(rows: list[list[str]], grid: Grid) -> bool:
    """Check whether most rows begin with a word and go on; a digit in front means a number."""
    words = sum(not grid.is_number(row[0]) and not _DIGIT.match(row[0]) for row in rows)
    return 2 * words > len(rows) and len(rows[0]) > 1


def _is_numbered(grid: Grid, above: int, labelled: bool, width: int, asked: Asked) -> bool:
    """Check whether the first number of each row is part of its label, or numbers the rows."""
    rows = [cells for _, cells in grid.first[above:] if len(cells) >= width]
    parts = [_joined(["", *cells], width + 1) for cells in rows]
    rest = [(label.strip(), list(map(grid.plain, cells))) for label, *cells in parts]
    guess = row_labels.numbered(rest, labelled, grid.spaced)
    which = "does its first number belong to the label of the row, or to the matrix"
    row = grid.first[above]
    return guess is not None and asked.answer("labels", row, which, guess) == "labels"


# ---- the numbers --------------------------------------------------------------------------------


def _entry(
    name: str, grid: Grid, asked: Asked, named: bool = False, corner: bool = False
) -> ArrayEntry:
    """Read the rows of a grid; a cell that is no number is refused when numbers are asked for."""
    where, tokens = asked.where, corner or (grid.bars and name in STAGES)
    layout = _layout(grid, asked, named, corner, not tokens)
    width, tail = len(layout.numbers), layout.columns - len(layout.numbers)
    at_end = layout.numbers[0] == tail
    lines, labels, values = array("L"), list[str](), array("d")
    # By row: the column of a cell that is refused, as it is typed and as a number would be.
    wrong: dict[int, tuple[int, str, str]] = {}
    joined = False
    for number, cells in islice(grid.rows(), layout.above, None):
        more = len(cells) - layout.columns
        if more:
            _check_width(cells, number, layout, grid, where, lines[0] if lines else number)
            cells, joined = _joined(cells, layout.columns), True
        if layout.labels:
            label = cells[layout.label] if layout.labels == 1 else " ".join(cells[:2])
            labels.append(label if grid.quoted or grid.bars else label.strip())
        row = cells[tail:] if at_end else [cells[k] for k in layout.numbers]
        found = _numbers(row, grid)
        if isinstance(found, int):
            cell, column = row[found].strip(), layout.numbers[found] + more + 1
            wrong[len(lines)] = column, cell, grid.plain(cell)
            found = [np.nan] * width
        values.extend(found)
        lines.append(number)
    refused = (cell for _, cell, _ in wrong.values())
    _check_size(grid, len(lines) + layout.above, refused, where)
    size = f"{where} is {len(lines):,} × {width}; at most {MAX_ELEMENTS:,} numbers are read"
    if not labels and len(values) > MAX_ELEMENTS:
        raise BadInput(f"{size}.")
    matrix = np.frombuffer(values).reshape(-1, width)
    truth = grid.truth
    matrix = matrix != 0 if truth else matrix
    remarks = list(_remarks(grid, layout, asked, len(lines)))
    labels = labels if grid.spaced or grid.bars else list(map(rearmed, labels))
    if labels and not _is_sure(grid, layout, joined):
        remarks.append(_labels_remark(labels, matrix, grid, layout, asked))
    names = () if counting(layout.names[1:]) else layout.names

    def check(chosen: Iterable[int]) -> None:
        for k in filter(wrong.__contains__, chosen) if wrong else ():
            column, cell, plain = wrong[k]
            place = f"{where}, line {lines[k]}, column {column}"
            if not truth:
                read_number(plain, place, False, cell)
            raise BadInput(f"{place} holds “{short(cell, 24)}”; expected True or False.")

    def read() -> np.ndarray:
        if len(values) > MAX_ELEMENTS:
            raise BadInput(f"{size} at once.")
        check(range(len(lines)))
        return matrix

    def pick(chosen: Sequence[int]) -> np.ndarray:
        if len(chosen) * width > MAX_ELEMENTS:
            raise BadInput(f"{size} at once.")
        check(chosen)
        return matrix[np.array(chosen, int)]

    return ArrayEntry(
        name,
        matrix.shape,
        "bool" if truth else "text",
        read,
        tuple(labels),
        pick if labels and not truth else None,
        " ".join(filter(None, remarks)),
        columns=tuple(names[k] for k in layout.numbers if names),
    )


def _check_width(
    cells: list[str], number: int, layout: Layout, grid: Grid, where: str, first: int
) -> None:
    """Refuse a line of another length; a label may be several words, but no number."""
    more = len(cells) > layout.columns and layout.labels and grid.spaced
    if more and not grid.is_number(cells[-layout.columns]):
        return
    if not DOTS.isdisjoint(cells[1:]):
        raise _left_out(where)
    place = f"{where}, line {number}"
    is_row = layout.labels or grid.is_number(cells[0]) or _DIGIT.match(cells[0])
    if len(cells) < layout.columns and not is_row:
        raise BadInput(
            f"{place}: “{short(' '.join(cells), 24)}” is not like the rows above it; remove it."
        )
    column = f"{place}, column {len(cells)}"
    read_number(grid.plain(cells[-1]), column, False, cells[-1].strip())  # a word is said before
    count = len(cells) - layout.labels
    raise BadInput(
        f"{place} has {count} {plural(count, 'number')}; expected"
        f" {layout.columns - layout.labels}, as in line {first}."
    )


def _check_size(grid: Grid, rows: int, wrong: Iterable[str], where: str) -> None:
    """Refuse a printed frame that leaves numbers out, or has another size than it says."""
    if not DOTS.isdisjoint(wrong):
        raise _left_out(where)
    found = (rows - 1, len(grid.first[0][1]))
    if grid.size and grid.size != found:
        raise BadInput(
            f"{where} says that it is {sides(grid.size)}, and it has {sides(found)}; {_PRINT_ALL}"
        )


def _left_out(where: str) -> BadInput:
    return BadInput(f"{where}: the printout leaves numbers out (...); {_PRINT_ALL}")


def _numbers(cells: list[str], grid: Grid) -> Sequence[float] | int:
    """Return the numbers of cells, or the place of the first that is none."""
    text = " ".join(cells)
    if grid.truth or "," in text:
        cells = list(map(grid.plain, cells))
        text = " ".join(cells)
    if _PLAIN.fullmatch(text):
        try:
            values = list(map(float, cells))
        except ValueError:
            values = [np.nan]
        tiny = 0.0 in values and (len(text) > 300 or "e" in text or "E" in text)
        if -LIMIT <= min(values) <= max(values) <= LIMIT and not tiny:
            return values
    values = []
    for k, cell in enumerate(cells):
        try:
            values.append(read_number(grid.plain(cell), "", False))
        except BadInput:
            return k
    return values


def _is_sure(grid: Grid, layout: Layout, joined: bool) -> bool:
    """Check whether nothing but its label can be in the cells before the numbers of a row."""
    if grid.bars or layout.labels == 2 or layout.announced is not None:
        return True
    others = len(layout.numbers) + layout.labels < layout.columns
    first = grid.first[0][1]
    named = layout.above and len(first) == layout.columns and first[0].lower() in CORNERS
    named = named and not joined
    return not others and bool(named or grid.quoted)


def _labels_remark(
    labels: list[str], matrix: np.ndarray, grid: Grid, layout: Layout, asked: Asked
) -> str:
    """Return what may be read otherwise in labels; refuse one that holds a number of its row."""
    if row_labels.are_signs(labels):
        raise BadInput(
            f"{asked.where}, line {grid.first[layout.above][0]} begins with “{labels[0]}”, as every"
            " line does; write it next to its number if it is a sign, or remove it."
        )
    others = len(layout.numbers) + layout.labels < layout.columns
    cells, own = others or not grid.spaced, others or grid.own
    row, said = row_labels.judge(labels, matrix.__getitem__, cells, own, bool(layout.above))
    if row is None:
        return said
    place = asked.place(next(islice(grid.rows(), layout.above + row, None)))
    raise BadInput(f"{place} {said}")


def _remarks(grid: Grid, layout: Layout, asked: Asked, count: int) -> Iterator[str]:
    """Yield what the user should know of how the table was understood."""
    if grid.decimal and "comma" not in asked.choices:
        yield "The commas are decimal."
    if layout.announced is not None:
        if layout.announced != count:
            yield f"The first line says {layout.announced:,} words; here are {count:,}."
    elif layout.above and not grid.bars:
        if "names" not in asked.choices:
            yield "The first line names the columns; it is skipped."
        first = grid.first[0][1][0]
        firsts = [cells[0] for _, cells in grid.first[1:]]
        numbered = layout.labels and not layout.label and first.lower() in NUMBERING
        if numbered and counts_up(firsts):
            yield f"“{short(first, 20)}” numbers the rows; it is read as their labels."
    yield layout.over


def disarmed(label: str) -> str:
    """Return it with an apostrophe before what a spreadsheet would run, and before another one."""
    return "'" + label if label.startswith(_FORMULA) else label


def rearmed(label: str) -> str:
    """Return the label as it was before :func:`disarmed`."""
    return label[1:] if label[:1] == "'" and label[1:].startswith(_FORMULA) else label
