"""Tables out of text: spreadsheet ranges, CSV and word vectors, with or without labels."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from attention.limits import MAX_BLOCKS, MAX_ELEMENTS, MAX_LINES, BadInput
from attention.readers.cells import row_labels
from attention.readers.cells.entry import ALONE, ArrayEntry, short
from attention.readers.cells.label_columns import (
    AMOUNT,
    CORNERS,
    COUNTS,
    NUMBERING,
    WORDS,
    Columns,
    columns_of,
    counting,
    counts_up,
    kind_of,
    labels_rows,
)
from attention.readers.cells.printouts import is_figure, is_number, read_cells, read_number
from attention.vocabulary.sentences import plural
from attention.vocabulary.stages import STAGES

LOOSE = ", "  # commas or spaces
AT_ONCE = 1000  # rows
UNQUOTED = "\x00"  # between cells that stood in quotation marks; no text here holds it
COMMAS = {
    "decimal": "decimal: 0,5 is a half",
    "separates": "separates: 1,2 is 1 and 2; 1,000 is a thousand",
}
_DECIMAL = re.compile(r"[+-]?(\d*|[1-9]\d{0,2}(\.\d{3})+),\d+([eE][+-]?\d{1,4})?")  # 0,5 or 1.234,5
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")  # 1,234 or 1,234.5
_FILLED = re.compile(r"[^\s,;]")  # more than separators
_FLOAT = re.compile(r"\d[.eE]|\.\d|^$|nan|inf")
_DIGIT = re.compile(r"[+-]?\d|[\[({]{1,4}[+-]?[\d.]+,?$")
# What numbers below it are to be multiplied with.
_FACTOR = re.compile(r"[*×·/]$|[x*×·/]10|10(?:\^|\*\*|[⁰¹²³⁴-⁹⁻])|.*\d[*×·/]$")
_SPACED = re.compile(r"\d\.?\s+[+-]?\.?\d")  # numbers with nothing but spaces between them
_QUOTED = re.compile(r'(?<![^\t\n;,])"(?:[^"]++|"")*+"(?![^\t\n;,])')  # a whole quoted cell
# Where a spreadsheet takes a cell for a formula: full-width signs count as well.
_FORMULA = (*"=+-@\uff1d\uff0b\uff0d\uff20\t\r\n", "'")

NumberedLines = list[tuple[int, str]]  # each line with its number in the text


class Question(NamedTuple):
    """Which of the two ways of ``COMMAS`` is meant; as text, the sentence that asks it."""

    where: str
    line: int
    quoted: str  # what can be read in two ways
    separated: str  # what a comma separates, if it does

    def __str__(self) -> str:
        return (
            f"{self.where}, line {self.line}: “{short(self.quoted.strip(), 24)}” can be read in two"
            f" ways; is the comma decimal, or does it separate {self.separated}?"
        )


class Ambiguous(BadInput):
    """Commas that can be read in two ways; its :class:`Question` asks which."""

    def __init__(self, question: Question):
        super().__init__(question)
        self.question = question


class Dialect(NamedTuple):
    """How a table is written, guessed from its lines before a number is read."""

    separator: str | None  # as in Lines
    decimal: bool
    counts: tuple[int, int] | None  # of words and numbers, that the first line announces
    names: bool  # whether the first line names the columns
    labelled: bool  # whether each row begins with a label
    width: int  # how many numbers a row has
    numbered: int = 0  # whether a number ends each label, as in "Head 0"

    @property
    def above(self) -> bool:
        """Whether the first line is not one of the rows."""
        return bool(self.counts) or self.names


class Lines(NamedTuple):
    """The lines of a table, each with its number in the text, and how they fall into cells."""

    numbered: NumberedLines
    separator: str | None  # None: spaces
    decimal: bool = False  # whether commas are decimal
    places: tuple[int, ...] = ()  # of its columns in the text, where some are passed over

    def without(self, first: bool) -> Lines:
        """The lines, without the first one."""
        return self._replace(numbered=self.numbered[1:]) if first else self

    def cells(self, line: str) -> list[str]:
        if self.separator == LOOSE:
            return [cell for cell in re.split(r"[ ]*,[ ]*|[ ]+", line.strip()) if cell]
        return (
            [cell.strip() for cell in line.split(self.separator)]
            if self.separator
            else line.split()
        )

    def first(self, line: str) -> str:
        return line.split(None, 1)[0] if self.separator is None else self.cells(line)[0]

    def is_number(self, cell: str) -> bool:
        return is_number(self.plain(cell))

    def plain(self, cell: str) -> str:
        """A cell with a decimal point, and without commas between thousands."""
        if "," in cell and self.decimal and _DECIMAL.fullmatch(cell):
            return cell.replace(".", "").replace(",", ".")
        return (
            cell.replace(",", "")
            if "," in cell and not self.decimal and _THOUSANDS.fullmatch(cell)
            else cell
        )


def check_lines(count: int, where: str) -> None:
    """Refuse a table of more lines than are read."""
    if count > MAX_LINES:
        raise BadInput(f"{where} has {count:,} lines of a table; at most {MAX_LINES:,} are read.")


def tables(text: str, where: str, comma: str | None) -> dict[str, ArrayEntry]:
    """One table; or several between empty lines: heads of one shape, or matrices by name."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    blocks = _blocks(text)
    if len(blocks) == 1:
        return {ALONE: _rows_table(ALONE, text, 1, where, comma)}
    titles = [_title(block) for _, block in blocks]
    named = all(titles)
    arrays = {}
    for place, (start, block) in enumerate(blocks):
        name = titles[place] if named else f"{ALONE} {place + 1}"
        if name in arrays:
            raise BadInput(f"{where} holds {name} twice.")
        arrays[name] = _rows_table(name, block, start, where, comma, corner=named)
    if named:
        return arrays
    first, *others = arrays.values()
    if any(entry.rows != first.rows for entry in others):
        # one table with an empty line in it
        return {ALONE: _rows_table(ALONE, text, 1, where, comma)}
    return (
        {ALONE: _stacked(list(arrays.values()))}
        if len({entry.shape for entry in arrays.values()}) == 1
        else arrays
    )


def _stacked(blocks: list[ArrayEntry]) -> ArrayEntry:
    """Blocks of one shape, as NumPy and spreadsheets show several heads or items."""
    remarks = dict.fromkeys(
        [
            *(entry.remark for entry in blocks),
            f"{len(blocks)} blocks of one shape were put one behind the other.",
        ]
    )
    stacked = ArrayEntry.of(ALONE, np.stack([entry.read() for entry in blocks]), blocks[0].rows)
    return replace(stacked, remark=" ".join(filter(None, remarks)))


def _title(block: str) -> str:
    """The name of a matrix in its upper left corner, between labels; "" where there is none."""
    line = block.split("\n", 1)[0]
    corner, *names = (cell.strip().strip('"') for cell in re.split(r"[\t;,]", line))
    if not names or not re.fullmatch(r"[A-Za-z]\w{0,39}", corner) or corner.lower() in CORNERS:
        return ""
    return corner if corner in STAGES or counting(names) or not any(map(is_number, names)) else ""


def _blocks(text: str) -> list[tuple[int, str]]:
    """The parts between empty lines, each with its first line's number; lone lines are one."""
    parts, start = [], 1
    for part in re.split(r"\n[ \t]*(?=\n)", text):
        inner = part.lstrip("\n")
        if inner.strip():
            parts.append((start + len(part) - len(inner), inner))
        start += part.count("\n") + 1
    several = 1 < len(parts) <= MAX_BLOCKS and all("\n" in part.strip("\n") for _, part in parts)
    return parts if several else [(1, text)]


# A table is read in three steps:
#
# 1. _split_lines cuts the text into lines and finds what separates their cells: first the
#    separator (a tab, a semicolon, a comma, else spaces), then whether commas are decimal, then
#    quotation marks are taken off. Where both readings are possible, it asks.
# 2. _dialect looks at the first lines and at the beginning of each for everything else: counts,
#    names of columns, labels, and how many numbers a row has.
# 3. _rows_table compares all lines with that and reads the numbers, all of them or, of word
#    vectors, the rows that are chosen.


def _rows_table(
    name: str, text: str, start: int, where: str, comma: str | None, corner: bool = False
) -> ArrayEntry:
    """Rows of numbers, with or without names of columns, labels, or word2vec's two counts.

    ``corner``: whether ``name`` stands in the upper left corner.
    """
    lines, over = _split_lines(text, start, where, comma), ""
    if not corner:
        lines, over = _label_first(lines)
    dialect = _dialect(lines, corner, where)
    remarks = [*_remarks(lines, dialect, text), over]
    head = lines.cells(lines.numbered[0][1]) if dialect.names else []
    lines = lines.without(dialect.above)
    count, width, labelled = len(lines.numbered), dialect.width, dialect.labelled
    _check_widths(lines, labelled + dialect.numbered, width, where)
    size = f"{where} is {count:,} × {width}; at most {MAX_ELEMENTS:,} numbers are read"
    if not labelled and count * width > MAX_ELEMENTS:
        raise BadInput(f"{size}.")
    rows = tuple(_label(lines, line, width) for _, line in lines.numbered) if labelled else ()
    named = len(head) == width + 1 and head[0].lower() in CORNERS
    named = named and all(len(lines.cells(line)) == len(head) for _, line in lines.numbered)
    sure = dialect.counts or ((named or lines.separator == UNQUOTED) and not lines.places)
    if labelled and not sure:
        remarks.append(_check_labels(lines, rows, dialect, where))

    def pick(chosen: Sequence[int]) -> np.ndarray:
        if len(chosen) * width > MAX_ELEMENTS:
            raise BadInput(f"{size} at once.")
        starts = range(0, len(chosen), AT_ONCE)
        rows = (_values(lines, chosen[k : k + AT_ONCE], width, where) for k in starts)
        return np.fromiter(chain.from_iterable(rows), np.float64).reshape(-1, width)

    read = cache(lambda: pick(range(count)))
    told = " ".join(filter(None, remarks))
    return ArrayEntry(name, (count, width), "text", read, rows, pick if labelled else None, told)


def _dialect(lines: Lines, corner: bool, where: str) -> Dialect:
    """What stands above and beside the numbers, by what the lines look like."""
    counts = _counts(lines)
    first = lines.first(lines.numbered[0][1])
    names = not counts and len(lines.numbered) > 1 and (corner or first == "" or _is_head(lines))
    no_corner = names and lines.separator is None and _has_no_corner(lines, where)
    below = lines.without(bool(counts) or names)
    firsts = [lines.first(line) for _, line in below.numbered[:99]]
    labelled = (
        bool(counts)
        or corner
        or (names and (labels_rows(first, firsts) or no_corner))
        or _is_labelled(below)
    )
    width = counts[1] if counts else _width(below, labelled, where)
    beside = first.lower() in CORNERS | NUMBERING  # a name of the labels themselves
    named = names and len(lines.cells(lines.numbered[0][1])) - beside >= width
    numbered = 0 if counts or named else _numbers_rows(below, labelled, width, where)
    width -= numbered
    return Dialect(lines.separator, lines.decimal, counts, names, labelled, width, numbered)


def _remarks(lines: Lines, dialect: Dialect, text: str) -> Iterator[str]:
    """What a person should know of how the table was understood."""
    line = lines.numbered[0][1]
    count = len(lines.numbered) - dialect.above
    if dialect.decimal:
        yield "The commas are decimal."
    if dialect.names:
        yield "The first line names the columns; it is skipped."
    first = lines.first(line)
    if dialect.names and dialect.labelled and first.lower() in NUMBERING:
        firsts = [cells[0] for cells in _first_cells(lines.without(True))]
        if counts_up(firsts):
            yield f"“{short(first, 20)}” numbers the rows; it is read as their labels."
    if dialect.names and not dialect.labelled and _numbers_columns(lines):
        yield "If 0, 1, 2 and so on are numbers, write them as 0.0, 1.0, 2.0 and so on."
    if dialect.counts and dialect.counts[0] != count:
        yield f"The first line says {dialect.counts[0]:,} words; here are {count:,}."
    if not dialect.above and dialect.width > 1:
        rows = _first_cells(lines)
        rows = [_parted(cells, dialect.width)[1] for cells in rows if len(cells) >= dialect.width]
        decimals = all(row_labels.FRACTION.search(cell) for row in rows for cell in row[1:])
        if (len(rows) > 2 or decimals) and counts_up([row[0] for row in rows]):
            yield "The first column counts; if it numbers the rows, remove it."
    from_zero = first == "0" and counting(lines.cells(line))
    written = "." in text or lines.separator in ("\t", ";", ",") and " " not in line
    written = written or (lines.separator is None and line.startswith(" "))
    if not dialect.above and from_zero and dialect.width > 1 and written:
        yield "The first line counts from 0; if it names the columns, remove it."


def _split_lines(text: str, start: int, where: str, comma: str | None) -> Lines:
    """The lines, and what separates their cells: a tab, a semicolon, a comma or spaces."""
    lines = [
        (number, line)
        for number, line in enumerate(text.split("\n"), start)
        if _FILLED.search(line)
    ]
    if not lines:
        raise BadInput(f"{where} is empty; expected numbers.")
    for number, line in lines:
        if (
            len(line) > 2 * MAX_ELEMENTS
            and (words := sum(1 for _ in re.finditer(r"\S+", line))) > MAX_ELEMENTS
        ):
            raise BadInput(
                f"{where}, line {number} holds {words:,} words or numbers; at most {MAX_ELEMENTS:,}"
                " are read."
            )
    separator = _separator(lines, text)
    if separator in (";", ",") and _in_words(lines):
        separator = None
    if separator == ";" and _ends_rows(lines, where, comma):
        lines = [
            (number, part)
            for number, line in lines
            for part in line.split(";")
            if _FILLED.search(part)
        ]
        separator = "," if "," in text else None
    if separator == ",":
        separator = _comma(lines, where, comma)
        decimal = separator is None
    else:
        decimal = (
            separator is not None and "," in text and _is_decimal(lines, separator, where, comma)
        )
    if separator in ("\t", ";", ",") and '"' in text:
        lines.clear()  # they take as much room as those that follow
        lines = _quoted(text, start, separator, where)
        return Lines(lines, UNQUOTED, decimal or _is_decimal(lines, UNQUOTED, where, comma))
    if separator in (";", ",") and all(line.rstrip().endswith(separator) for _, line in lines):
        lines = [(number, line.rstrip()[:-1]) for number, line in lines]
    return Lines(lines, separator, decimal)


def _separator(lines: NumberedLines, text: str) -> str | None:
    """A tab, semicolon or comma: the first that stands unquoted in every line, else in any."""
    if _QUOTED.search(text):  # a quoted cell may go on over several lines
        outside = _QUOTED.sub('""', text).split("\n", 99)[:99]
        sample = [line.rstrip() for line in outside if _FILLED.search(line)]
    else:
        sample = [re.sub('"[^"]*"', "", line).rstrip() for _, line in lines[:99]]

    def everywhere(mark: str) -> bool:
        return all(mark in line for line in sample) or all(
            line.endswith(mark) for line in sample[:-1]
        )

    marks = [mark for mark in "\t;," if mark in text]
    return next(filter(everywhere, marks), next(iter(marks), None))


def _in_words(lines: NumberedLines) -> bool:
    """Whether most lines begin with a word, and commas and semicolons stand in these alone."""
    words = ended = 0
    for _, line in lines:
        first, _, rest = line.strip().partition(" ")
        if not rest or "," in rest or ";" in rest:
            return False
        parts = [part for part in re.split("[,;]", first) if part]
        words += not parts or not all(map(is_number, parts))
        ended += bool(parts) and first[-1] in ",;"
    return 2 * words >= len(lines) > ended


def _ends_rows(lines: NumberedLines, where: str, comma: str | None) -> bool:
    """Whether a semicolon ends a row, as in "1 2; 3 4", and does not separate two cells."""
    if len(lines) == 1 and all(_DECIMAL.fullmatch(cell.strip()) for cell in lines[0][1].split(";")):
        if comma is None:
            raise Ambiguous(Question(where, *lines[0], "numbers"))
        return comma != "decimal"
    ends = len(lines) == 1 or all(";" not in line.rstrip()[:-1] for _, line in lines)
    return ends or any(_SPACED.search(line) for _, line in lines[:99])


def _quoted(text: str, start: int, separator: str, where: str) -> NumberedLines:
    """Lines with cells in quotation marks, as spreadsheets write them; these are taken off."""
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append((start + reader.line_num - 1, UNQUOTED.join(row)))
    except csv.Error:
        line = start + reader.line_num - 1
        raise BadInput(
            f"{where}, line {line}: a quotation mark is not closed, or is inside a cell."
        ) from None
    if not rows:
        raise BadInput(f"{where} is empty; expected numbers.")
    return rows


# ---- commas: between cells, or inside numbers ---------------------------------------------------


def _comma(lines: NumberedLines, where: str, comma: str | None) -> str | None:
    """What separates cells where there are commas: the comma, commas and spaces, or only spaces."""
    sample = [line.strip() for _, line in lines[:99]]
    if not any(_SPACED.search(line) for line in sample):
        return ","
    if any(re.search(r",\s|\s,|,$|^,", line) for line in sample):
        return LOOSE  # "1, 2"
    fields = [line.split() for line in sample]
    numbers = [_trailing(row) for row in fields]
    if len(fields) > 1 and (numbers[0] == 0 or counting(fields[0][1:])):
        fields, numbers = fields[1:], numbers[1:]  # names of columns
    if 0 in numbers or len(set(numbers)) > 1:
        return LOOSE  # "0.5,1" is no number with a decimal comma
    if all(count < len(row) for count, row in zip(numbers, fields, strict=True)):
        return None  # words in front of each line: only spaces can separate
    if comma is None:
        raise Ambiguous(Question(where, *lines[0], "numbers"))
    return None if comma == "decimal" else LOOSE


def _trailing(fields: list[str]) -> int:
    """How many fields at the end of a line are numbers, decimal commas allowed."""
    return next(
        (
            count
            for count, field in enumerate(reversed(fields))
            if not (is_number(field) or _DECIMAL.fullmatch(field))
        ),
        len(fields),
    )


def _is_decimal(lines: NumberedLines, separator: str, where: str, comma: str | None) -> bool:
    """Whether cells between tabs or semicolons hold decimal commas; "1,234" is asked about."""

    def cells() -> Iterator[tuple[int, str]]:
        for number, line in lines:
            if "," in line:
                yield from ((number, cell.strip()) for cell in line.split(separator) if "," in cell)

    if any(_DECIMAL.fullmatch(cell) and not _THOUSANDS.fullmatch(cell) for _, cell in cells()):
        return True
    unsure = next(((number, cell) for number, cell in cells() if _THOUSANDS.fullmatch(cell)), None)
    if not unsure or any("." in cell for _, cell in cells() if _THOUSANDS.fullmatch(cell)):
        return False
    if comma is None and all(
        cell.count(",") == 1 for _, cell in cells() if _THOUSANDS.fullmatch(cell)
    ):
        raise Ambiguous(Question(where, *unsure, "thousands"))
    return comma == "decimal"


# ---- heads and labels ---------------------------------------------------------------------------


def _label_first(lines: Lines) -> tuple[Lines, str]:
    """Under names of columns: the column of labels first, and without ids and other words.

    The lines as they are where these have no such columns but the first, or do not all have as many
    cells. Above an index printed between spaces stands no name, and its labels may have spaces.
    """
    names, *below = (lines.cells(line) for _, line in lines.numbered[:99])
    if lines.separator == LOOSE or not below:
        return lines, ""
    index = lines.separator is None and len(below[0]) > len(names)
    names = ["", *names] if index else names
    if any(len(row) < len(names) or (len(row) > len(names) and not index) for row in below):
        return lines, ""
    rows = [_joined(row, len(names)) for row in below]
    kinds = [kind_of([lines.plain(cell) for cell in column]) for column in zip(*rows, strict=True)]
    if index and WORDS in kinds[1:] and (kinds[0] != COUNTS or rows != below):
        return lines, ""  # a label of several words
    found = columns_of(names, kinds, {row[0] for row in rows} if kinds[0] == WORDS else ())
    return _reordered(lines, names, found) if _is_worth(found, names) else (lines, "")


def _joined(row: list[str], width: int) -> list[str]:
    """The cells of a line, what stands before the last ones as one."""
    label, values = _parted(row, width - 1)
    return [" ".join(label), *values]


def _is_worth(found: Columns, names: list[str]) -> bool:
    """Whether another column than the first is none of numbers, and the first line has names."""
    heads, numbers = [names[k] for k in found.numbers], set(found.numbers)
    others = [name for k, name in enumerate(names) if k and k not in numbers]
    other = bool(heads) and (bool(others) or found.label not in (0, None))
    label = names[found.label or 0].lower()
    named = (counting(heads) and label in CORNERS) or not any(map(is_number, heads))
    return other and named and not any(map(is_number, others))


def _reordered(lines: Lines, names: list[str], found: Columns) -> tuple[Lines, str]:
    """The label and the numbers of each line alone."""
    kept = (found.label or 0, *found.numbers)
    numbered = [(lines.numbered[0][0], UNQUOTED.join(["", *(names[k] for k in found.numbers)]))]
    for number, line in lines.numbered[1:]:
        cells = line.split(UNQUOTED) if lines.separator == UNQUOTED else lines.cells(line)
        if len(cells) < len(names) or (len(cells) > len(names) and lines.separator):
            return lines, ""
        cells = _joined(cells, len(names))
        numbered.append((number, UNQUOTED.join(cells[k] for k in kept)))
    places = tuple(k + 1 for k in found.numbers)
    return Lines(numbered, UNQUOTED, lines.decimal, places), found.remark


def _counts(lines: Lines) -> tuple[int, int] | None:
    """How many words and numbers the first line announces, as word2vec and fastText write it."""
    first, *rest = lines.numbered[:2]
    announced = re.fullmatch(r"\s*(\d{1,9})\s+(\d{1,6})\s*", first[1])
    if not (announced and rest and lines.separator is None):
        return None
    words, width = map(int, announced.groups())
    label, values = _parted(lines.cells(rest[0][1]), width)
    fits = bool(label) and len(values) == width and all(map(lines.is_number, values))
    if len(label) == 1 and (width == 1 or not 1 < words == len(lines.numbered) - 1):
        fits = fits and not lines.is_number(label[0])  # "0 1" above "0 0" is a matrix
    return (words, width) if fits and not (len(label) > 1 and any(map(is_figure, label))) else None


def _parted(cells: list[str], width: int) -> tuple[list[str], list[str]]:
    """What stands before the last ``width`` cells, and these."""
    at = max(len(cells) - width, 0)
    return cells[:at], cells[at:]


def _is_head(lines: Lines) -> bool:
    """Names of columns: words above numbers, or 0, 1, 2, … behind "word", "token" or nothing."""
    names, *below = (lines.cells(line) for _, line in lines.numbered[:6])
    if names[0].lower() in CORNERS and counting(names[1:]):
        return True
    if lines.separator is None and len(below[0]) == len(names) + 1 and counting(names):
        return True
    if _numbers_columns(lines):
        return True
    cells = [cell for row in below for cell in row[1:] or row]

    def counts(cell: str) -> bool:  # what is to be refused as no number is no name either
        unread = AMOUNT.fullmatch(cell) or ("," in cell and is_figure(cell))
        return bool(unread) or lines.is_number(cell)

    factor = "x9" not in names and any(map(_FACTOR.match, names))  # x10 after it is a name as well
    named = not any(map(counts, names)) and not factor
    return named and 2 * sum(map(counts, cells)) > len(cells)


def _numbers_columns(lines: Lines) -> bool:
    """Whether 0, 1, 2, … stand above floats, as pandas writes columns without names."""
    names, *below = (lines.cells(line) for _, line in lines.numbered[:99])
    if lines.separator == LOOSE or not below:
        return False
    first, second = (line for _, line in lines.numbered[:2])
    printed = first.startswith(" ") or _ends(first) == _ends(second)
    if " " in first.strip() if lines.separator else not printed:
        return False  # typed, not written by a program
    counted = counting(names) and names[0] == "0" and len(names) > 1
    return counted and all(_FLOAT.search(lines.plain(cell)) for row in below for cell in row)


def _ends(line: str) -> list[int]:
    """Where the cells of a printed line end: they stand under each other."""
    return [cell.end() for cell in re.finditer(r"\S+", line)]


def _has_no_corner(lines: Lines, where: str) -> bool:
    """Whether nothing stands above the first column, as pandas prints labels; no decimals.

    Where that column is of numbers, it is of labels if it counts, if only the others have decimals,
    or if a program aligned the names; else nobody can say what the first line is.
    """
    names, *rows = _first_cells(lines)
    if len(names) != len(rows[0]) - 1 or all("." in row[0] for row in rows):
        return False
    firsts, others = [row[0] for row in rows], [cell for row in rows for cell in row[1:]]
    if not all(map(lines.is_number, firsts)) or counts_up(firsts):
        return True
    (number, first), (_, second) = lines.numbered[:2]
    aligned = first.startswith(" ") or (len(names) > 1 and _ends(first) == _ends(second)[1:])
    if aligned or all(map(row_labels.FRACTION.search, others)):
        return True
    place = _quote(where, number, first)
    if first.rstrip().endswith(":"):
        raise BadInput(f"{place} is above numbers; remove it, or name a matrix as in Q = [[1, 2]].")
    raise BadInput(f"{place} names fewer columns than there are; remove it, or name every column.")


def _is_labelled(lines: Lines) -> bool:
    """Whether most lines begin with a word and go on; a digit in front means a number."""
    firsts = [lines.first(line) for _, line in lines.numbered]
    words = sum(not lines.is_number(cell) and not _DIGIT.match(cell) for cell in firsts)
    return 2 * words > len(firsts) and len(lines.cells(lines.numbered[0][1])) > 1


def _width(lines: Lines, labelled: bool, where: str) -> int:
    """How many numbers the first line has; between spaces, its label may be several words."""
    number, line = lines.numbered[0]
    cells = lines.cells(line)
    width = len(cells) - labelled
    if labelled and lines.separator is None:
        width = next(
            (k for k, cell in enumerate(reversed(cells)) if not lines.is_number(cell)), width
        )
    if width < 1:
        raise BadInput(f"{where}, line {number} holds no number.")
    return width


def _first_cells(lines: Lines) -> list[list[str]]:
    """Return the cells of the first lines."""
    return [lines.cells(line) for _, line in lines.numbered[:99]]


def _numbers_rows(lines: Lines, labelled: bool, width: int, where: str) -> int:
    """Return 1 where the first number of each row is part of its label, as in "Head 0", else 0."""
    number, line = lines.numbered[0]
    rows = [_parted(cells, width) for cells in _first_cells(lines) if len(cells) >= width]
    plain = [(" ".join(label), list(map(lines.plain, values))) for label, values in rows]
    place = _quote(where, number, line)
    return row_labels.numbered(plain, labelled, lines.separator is None, place)


def _quote(where: str, number: int, line: str) -> str:
    """Return the place of a line, and the line itself."""
    return f"{where}, line {number}: “{short(line.replace(UNQUOTED, ' ').strip(), 24)}”"


def _check_labels(lines: Lines, labels: Sequence[str], dialect: Dialect, where: str) -> str:
    """Refuse labels that hold a number of their row, or a sign that acts on it.

    Return a remark where they may be read otherwise.
    """
    if row_labels.are_signs(labels):
        raise BadInput(
            f"{where}, line {lines.numbered[0][0]} begins with “{labels[0]}”, as every line does;"
            " write it next to its number if it is a sign, or remove it."
        )
    if dialect.numbered:
        return (
            f"The number after “{labels[0].split()[0]}” is read as part of the label; if it belongs"
            " to the matrix, write it with decimals."
        )
    own = lines.separator in ("\t", UNQUOTED)
    column = row_labels.Column.of(labels, lines.separator is not None, own, dialect.names)
    for (number, line), label in zip(lines.numbered, labels, strict=True):
        if row_labels.is_word(label):
            continue
        values = _parted(lines.cells(line), dialect.width)[1]
        if problem := row_labels.problem(label, values, column):
            raise BadInput(f"{_quote(where, number, line)} {problem}")
    return "" if own else row_labels.remark(labels, dialect.width, column)


def _check_widths(lines: Lines, labelled: int, width: int, where: str) -> None:
    """Refuse lines of other lengths; between spaces a label may be several words, but no number.

    ``labelled``: how many cells a label has at least.
    """
    first = lines.numbered[0][0]
    words_may_follow = bool(labelled) and lines.separator is None
    for number, line in lines.numbered:
        cells = lines.cells(line)
        count = len(cells) - labelled
        if words_may_follow and count > width and not lines.is_number(cells[-width - labelled]):
            continue
        if count != width:
            place = f"{where}, line {number}, column {len(cells)}"
            read_number(lines.plain(cells[-1]), place, False, cells[-1])  # a word is said before
            raise BadInput(
                f"{where}, line {number} has {count} {plural(count, 'number')}; expected {width},"
                f" as in line {first}."
            )


def _label(lines: Lines, line: str, width: int) -> str:
    """The words before the numbers; where cells are quoted, with the spaces around them."""
    if lines.separator == UNQUOTED:
        return rearmed(line.split(UNQUOTED, 1)[0])
    label = " ".join(_parted(lines.cells(line), width)[0])
    return label if lines.separator is None else rearmed(label)


def _values(lines: Lines, rows: Sequence[int], width: int, where: str) -> list[float]:
    """Return the numbers of some rows, one after the other."""
    cells = [
        cell for row in rows for cell in _parted(lines.cells(lines.numbered[row][1]), width)[1]
    ]

    def place(k: int) -> str:
        number, line = lines.numbered[rows[k // width]]
        labels = len(lines.cells(line)) - width
        column = lines.places[k % width] if lines.places else labels + k % width + 1
        return f"{where}, line {number}, column {column}"

    return read_cells(list(map(lines.plain, cells)), place, cells)


def disarmed(label: str) -> str:
    """With an apostrophe before what a spreadsheet would run, and before another apostrophe."""
    return "'" + label if label.startswith(_FORMULA) else label


def rearmed(label: str) -> str:
    """The label again, as it was before :func:`disarmed`."""
    return label[1:] if label[:1] == "'" and label[1:].startswith(_FORMULA) else label
