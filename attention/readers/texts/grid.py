"""Rows of cells out of a text: CSV, spreadsheet ranges, what programs print, Markdown and Polars.

A grid knows what separates its cells and whether commas are decimal. What the cells mean is the
matter of :mod:`attention.readers.texts.tables`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import dropwhile, islice

from attention.limits import MAX_ARRAYS, MAX_ELEMENTS, MAX_LINES, BadInput
from attention.readers.cells.entry import Choice, short
from attention.readers.cells.label_columns import counting
from attention.readers.cells.printouts import is_figure, is_number
from attention.vocabulary import markdown

Row = tuple[int, list[str]]  # the number of its line in the text, and its cells
KNOWN_BY = 99  # rows, by which it is known how a table is made
TRUTH = {"true": "1.0", "false": "0.0"}
DOTS = {"..", "...", "\u2026"}  # in place of rows or columns
OPTIONS = {
    "comma": {
        "decimal": "decimal: 0,5 is a half",
        "separates": "separates: 1,2 is 1 and 2; 1,000 is a thousand",
    },
    "names": {"names": "the names of the columns", "numbers": "numbers of the matrix"},
    "labels": {"labels": "the labels of the rows", "numbers": "numbers of the matrix"},
    "rows": {"matrix": "one matrix, a row each", "arrays": "an array each"},  # between brackets
}
_DECIMAL = re.compile(r"[+-]?(\d*|[1-9]\d{0,2}(\.\d{3})+),\d+([eE][+-]?\d{1,4})?")  # 0,5 or 1.234,5
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")  # 1,234 or 1,234.5
_WORD = re.compile(r"\S+")
_FILLED = re.compile(r"[^\s,;]")  # more than separators
_SPACED = re.compile(r"\d\.?\s+[+-]?\.?\d")  # numbers with nothing but spaces between them
_QUOTED = re.compile(r'(?<![^\t\n;,])"(?:[^"]++|"")*+"(?![^\t\n;,])')  # a whole quoted cell
# A line of one word, or one with a comma or a semicolon after its first word.
_MARK_LATER = re.compile(r"(?m)^[ \t]*+[^ \n\x0b]++(?:[ \t]*+$| [^\n,;]*+[,;])")
_MARK_INSIDE = re.compile(r"(?m);(?![ \t]*+$)")
_SIZE = re.compile(r"\[(\d{1,9}) rows x (\d{1,9}) columns\]")  # as pandas writes it
# What is printed after each row.
_SUM = re.compile(r"(?m)[ \t]\|[ \t]{0,9}(?:sum|total|Σ)[ \t:=]{1,3}[-+.\deE]{1,24}[ \t]{0,9}$")
_BOX = str.maketrans("│┆┃║", "||||")
_BOX_SIZE = re.compile(r"shape: \((\d{1,9}), (\d{1,9})\)")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_AROUND = re.compile(r"^(\*\*|__|`)(.*)\1$")
_SPECIAL = {"NA": "nan", "∞": "inf", "+∞": "inf", "-∞": "-inf", "\u2212∞": "-inf"}


class Asked:
    """The questions that a text leaves open, each with the answer by which it is read."""

    def __init__(self, where: str, chosen: Mapping[str, str]):
        self.where = where
        self.choices: dict[str, Choice] = {}
        self._chosen = chosen

    def place(self, row: Row) -> str:
        """Return the place of a line, and the line itself."""
        number, cells = row
        return f"{self.where}, line {number}: “{short(' '.join(cells).strip(), 24)}”"

    def answer(self, key: str, row: Row, which: str, guess: str) -> str:
        """Return the option that the user chose, or the guess; note the question."""
        taken = self._chosen.get(key, guess)
        taken = taken if taken in OPTIONS[key] else guess
        question = f"{self.place(row)} can be read in two ways; {which}?"
        self.choices.setdefault(key, Choice(key, question, OPTIONS[key], taken))
        return taken

    def is_decimal(self, number: int, quoted: str, separated: str) -> bool:
        """Ask about a comma that can be read in two ways."""
        which = f"is the comma decimal, or does it separate {separated}"
        return self.answer("comma", (number, [quoted]), which, "decimal") == "decimal"


@dataclass(frozen=True)
class Grid:
    """The rows of a table, and what their form says about them."""

    rows: Callable[[], Iterator[Row]]  # yields them again, so that none has to be kept
    spaced: bool = False  # between spaces alone, where a label may be several words
    mixed: bool = False  # between spaces and commas
    quoted: bool = False  # a cell in quotation marks keeps the spaces around it
    bars: bool = False
    own: bool = True  # no number of the row can be in the cell of its label
    decimal: bool = False  # whether commas are
    written: bool = False  # the first line looks as a program writes it
    aligned: bool = False  # its cells end where those of the second line do
    size: tuple[int, int] | None = None  # as the text says

    @cached_property
    def first(self) -> list[Row]:
        """The first rows, without spaces around their cells."""
        rows = islice(self.rows(), KNOWN_BY)
        return [(number, [cell.strip() for cell in cells]) for number, cells in rows]

    @cached_property
    def truth(self) -> bool:
        """Whether each row, but names above them, ends in True and False and nothing else."""
        rows = [[cell.lower() for cell in cells] for _, cells in self.first]
        ends = [
            list(dropwhile(lambda cell: cell not in TRUTH, row[1:] or row))
            for row in rows[1:] or rows
        ]
        return all(end and TRUTH.keys() >= set(end) for end in ends)

    def is_number(self, cell: str) -> bool:
        return is_number(self.plain(cell))

    def plain(self, cell: str) -> str:
        """Return a cell with a decimal point, and without commas between thousands.

        True and False are 1 and 0 where they fill the rows.
        """
        cell = cell.strip()
        if self.truth:
            return TRUTH.get(cell.lower(), cell)
        if "," not in cell:
            return _SPECIAL.get(cell, cell) if self.bars else cell
        if self.decimal and _DECIMAL.fullmatch(cell):
            return cell.replace(".", "").replace(",", ".")
        if not self.decimal and _THOUSANDS.fullmatch(cell):
            return cell.replace(",", "")
        return cell


def check_lines(count: int, where: str) -> None:
    """Refuse a table of more lines than are read."""
    if count > MAX_LINES:
        raise BadInput(f"{where} has {count:,} lines of a table; at most {MAX_LINES:,} are read.")


def grid_of(text: str, start: int, asked: Asked) -> Grid:
    """Return the rows of one table, whose first line has the number ``start`` in its text."""
    lines = text.rstrip("\n ").split("\n")
    told = _SIZE.fullmatch(lines[-1].strip())
    size = (int(told[1]), int(told[2])) if told else None
    lines = lines[:-1] if told else lines
    numbers: Sequence[int] = range(start, start + len(lines))
    sample = _filled(numbers, lines)
    if not sample:
        raise BadInput(f"{asked.where} is empty; expected numbers.")
    separator = _separator([line for _, line in sample], text)
    if separator in (";", ",") and _in_words([line for _, line in sample], text):
        separator = None
    if separator == ";" and _ends_rows(sample, text, asked):
        parts = [line.split(";") for line in lines]
        numbers = [number for number, each in zip(numbers, parts, strict=True) for _ in each]
        lines = [part for each in parts for part in each]
        separator, sample = "," if "," in text else None, _filled(numbers, lines)
    quoted = bool(separator) and '"' in text
    mixed = separator == "," and any(_SPACED.search(line) for _, line in sample)
    if mixed:
        separator, decimal = None, _is_decimal_in_spaces(sample, asked)
    else:
        cell = r"[^\t;]+" if not quoted else '"[^"]*"' if separator == "," else r'"[^"]*"|[^\t;"]+'
        asks = "," in text and (quoted or separator in ("\t", ";"))
        decimal = asks and _is_decimal_in_cells(lines, numbers, re.compile(cell), asked)
    mixed = mixed and not decimal
    if not (separator or mixed):
        _leave_out_index_name(lines)
        sample = _filled(numbers, lines)
    _check_wide(lines, numbers, separator, asked.where)
    first = sample[0][1]
    return Grid(
        partial(_rows, lines, numbers, separator, mixed, asked.where),
        spaced=not (separator or mixed),
        mixed=mixed,
        quoted=quoted,
        own=quoted or separator == "\t",
        decimal=decimal,
        written=" " not in first.strip() if separator else first.startswith(" ") and not mixed,
        aligned=not (separator or mixed) and _is_aligned([line for _, line in sample[:2]]),
        size=size,
    )


def _filled(numbers: Sequence[int], lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the first lines that hold more than separators."""
    both = zip(numbers, lines, strict=True)
    return list(islice((each for each in both if _FILLED.search(each[1])), KNOWN_BY))


def _check_wide(
    lines: Sequence[str], numbers: Sequence[int], separator: str | None, where: str
) -> None:
    """Refuse a line of more cells than numbers are read."""
    for number, line in zip(numbers, lines, strict=True):
        if len(line) > MAX_ELEMENTS:
            words = line.count(separator) if separator else sum(1 for _ in _WORD.finditer(line))
            if words > MAX_ELEMENTS:
                raise BadInput(
                    f"{where}, line {number} holds {words:,} words or numbers; at most"
                    f" {MAX_ELEMENTS:,} are read."
                )


def _rows(
    lines: Sequence[str], numbers: Sequence[int], separator: str | None, mixed: bool, where: str
) -> Iterator[Row]:
    """Yield the cells between separators, as spreadsheets write them, or between spaces.

    A semicolon or comma that ends every line separates nothing.
    """
    if not separator:
        for number, line in zip(numbers, lines, strict=True):
            if cells := (line.replace(",", " ") if mixed else line).split():
                yield number, cells
        return
    some = islice(filter(_FILLED.search, lines), KNOWN_BY)
    ended = separator != "\t" and all(line.rstrip().endswith(separator) for line in some)
    reader = csv.reader((line + "\n" for line in lines), delimiter=separator, strict=True)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                kept = cells[:-1] if ended and not cells[-1].strip() else cells
                yield numbers[reader.line_num - 1], kept
    except csv.Error:
        raise BadInput(
            f"{where}, line {numbers[min(reader.line_num, len(lines)) - 1]}: a quotation mark is"
            " not closed, or is inside a cell."
        ) from None


# ---- separators and commas ----------------------------------------------------------------------


def _separator(sample: Sequence[str], text: str) -> str | None:
    """Return the tab, semicolon or comma that is in every line outside of quotation marks.

    Else the first that is in any, else None.
    """
    if '"' in text and _QUOTED.search(text):  # a quoted cell may go on over several lines
        outside = _QUOTED.sub('""', text).split("\n", KNOWN_BY)[:KNOWN_BY]
        sample = [line.rstrip() for line in outside if _FILLED.search(line)]
    else:
        sample = [re.sub('"[^"]*"', "", line).rstrip() for line in sample]

    def everywhere(mark: str) -> bool:
        return all(mark in line for line in sample) or all(
            line.endswith(mark) for line in sample[:-1]
        )

    marks = [mark for mark in "\t;," if mark in text]
    return next(filter(everywhere, marks), next(iter(marks), None))


def _in_words(sample: Sequence[str], text: str) -> bool:
    """Check for commas and semicolons in the first words of lines alone, as in word vectors."""
    if _MARK_LATER.search(text):
        return False
    firsts = [line.split(None, 1)[0] for line in sample]
    parts = [[part for part in re.split("[,;]", first) if part] for first in firsts]
    words = sum(not each or not all(map(is_number, each)) for each in parts)
    ended = sum(bool(each) and first[-1] in ",;" for each, first in zip(parts, firsts, strict=True))
    return 2 * words >= len(sample) > ended


def _ends_rows(sample: list[tuple[int, str]], text: str, asked: Asked) -> bool:
    """Check for a semicolon that ends a row, as in "1 2; 3 4", and does not separate two cells."""
    if "\n" not in text.strip() and all(
        _DECIMAL.fullmatch(cell.strip()) for cell in text.strip().split(";")
    ):
        return not asked.is_decimal(*sample[0], "numbers")
    ends = (len(sample) == 1 and '"' not in text) or not _MARK_INSIDE.search(text)
    return ends or any(_SPACED.search(line) for _, line in sample)


def _is_decimal_in_spaces(sample: list[tuple[int, str]], asked: Asked) -> bool:
    """Check for decimal commas in numbers between spaces."""
    lines = [line.strip() for _, line in sample]
    if any(re.search(r",\s|\s,|,$|^,", line) for line in lines):
        return False  # "1, 2"
    fields = [line.split() for line in lines]
    counts = [_trailing(row) for row in fields]
    if len(fields) > 1 and (counts[0] == 0 or counting(fields[0][1:])):
        fields, counts = fields[1:], counts[1:]  # names of columns
    if len(counts) > 2 and counts[-1] < counts[0] and not is_figure(fields[-1][0]):
        fields, counts = fields[:-1], counts[:-1]  # another line below the rows, as a sum
    if 0 in counts or len(set(counts)) > 1:
        return False  # "0.5,1" is no number with a decimal comma
    if all(count < len(row) for count, row in zip(counts, fields, strict=True)):
        return True  # words in front of each line: only spaces can separate
    return asked.is_decimal(*sample[0], "numbers")


def _trailing(cells: Sequence[str]) -> int:
    """Return how many cells at the end are numbers, decimal commas allowed."""
    others = (
        k
        for k, cell in enumerate(reversed(cells))
        if not (is_number(cell) or _DECIMAL.fullmatch(cell))
    )
    return next(others, len(cells))


def _is_decimal_in_cells(
    lines: Sequence[str], numbers: Sequence[int], cell: re.Pattern[str], asked: Asked
) -> bool:
    """Check for decimal commas in cells between tabs, semicolons or quotation marks."""
    large: list[tuple[int, str]] = []  # the first cell that may be of thousands
    pointed = several = False
    for number, line in zip(numbers, lines, strict=True):
        for found in cell.finditer(line) if "," in line else ():
            if "," not in (text := found[0]):
                continue
            text = text.strip('" ')
            if _THOUSANDS.fullmatch(text):
                large = large or [(number, text)]
                pointed, several = pointed or "." in text, several or text.count(",") > 1
            elif _DECIMAL.fullmatch(text):
                return True
    if not large or pointed or several:
        return False
    return asked.is_decimal(*large[0], "thousands")


# ---- frames that are printed --------------------------------------------------------------------


def _is_aligned(lines: Sequence[str]) -> bool:
    """Check for two lines whose cells end under each other, a label before the second left out."""
    ends = [[cell.end() for cell in re.finditer(r"\S+", line)] for line in lines]
    first, second = ends[0], ends[-1]
    return len(first) > 1 and first == second[-len(first) :]


def _leave_out_index_name(lines: list[str]) -> None:
    """Empty the line that has the name of the index alone, below the names of the columns.

    Where it is, the name of the columns themselves may be before theirs.
    """
    first, second, third = [*lines[:3], "", "", ""][:3]
    if len(second.split()) != 1 or _ends_in_number(second) or len(third.split()) < 2:
        return
    named = not first.startswith(" ")
    others = len(first.split()) > named and not (named and _ends_in_number(first))
    if others and _ends_in_number(third):
        lines[:2] = [re.sub(r"^\S+", "", first), ""]


def _ends_in_number(line: str) -> bool:
    last = line.split()[-1]
    return is_number(last) or last.lower() in ("true", "false")


def without_sums(text: str) -> tuple[str, bool]:
    """Return a text without the sum at the end of each row, and whether there were any.

    >>> without_sums("the 0.2 0.8 | sum 1.00")
    ('the 0.2 0.8', True)
    """
    sums = sum(1 for _ in _SUM.finditer(text)) if "|" in text else 0
    rows = sum(1 for line in text.split("\n") if line.strip()) if sums else 0
    found = sums and sums >= rows - 1  # names may be above them
    return (_SUM.sub("", text), True) if found else (text, False)


def joined_frame(text: str, where: str) -> str:
    r"""Return a frame whose columns go on in groups below each other as one of long lines.

    >>> print(joined_frame("      a \\\ncat   1\n\n      b\ncat   2", "it"))
     a b
    cat 1 2
    """
    first = text.lstrip("\n").partition("\n")[0].rstrip()
    if not first.endswith(" \\") or re.search(r"[=()\[\]{}]", first):
        return text
    if sum(1 for _ in _WORD.finditer(text)) > 2 * MAX_ELEMENTS:  # labels are in every group
        raise BadInput(f"{where} is too large; at most {MAX_ELEMENTS:,} numbers are read.")
    parted = re.split(r"\n[ \t]*\n", text.strip("\n"))  # of two empty lines one may be left
    groups = [group.split("\n") for group in parted if group.strip()]
    size = ["", *groups.pop()] if _SIZE.fullmatch(groups[-1][0].strip()) else []
    rows: list[list[str]] = []  # the label, then the cells of every group
    for group in groups:
        _leave_out_index_name(group)
        names, *below = (line.split() for line in group if line.strip())
        names = [name for name in names if name != "\\"][not group[0].startswith(" ") :]
        parts = [["", *names], *([" ".join(r[: -len(names)]), *r[-len(names) :]] for r in below)]
        rows = rows or [part[:1] for part in parts]
        if [row[0] for row in rows] != [part[0] for part in parts]:
            raise BadInput(
                f"{where} is a frame that pandas printed in groups of columns, with other rows in"
                ' each; save it with frame.to_csv("frame.csv") and open that file.'
            )
        for row, part in zip(rows, parts, strict=True):
            row += part[1:]
    return "\n".join([*map(" ".join, rows), *size])


# ---- bars ---------------------------------------------------------------------------------------


def between_bars(text: str, where: str) -> Iterator[tuple[str, Grid]]:
    """Yield the tables with a line of dashes under their first line, and the headings above them.

    The text is one whose marks were counted.
    """
    boxed = "┌" in text
    text = text.replace("|", "\\|").translate(_BOX) if boxed else text
    lines = [line.strip() for line in text.splitlines()]
    size = _open_boxes(lines) if boxed else None
    rules = [k for k, line in enumerate(lines) if k and "|" in line and _RULE.fullmatch(line)]
    if len(rules) > MAX_ARRAYS:
        raise BadInput(f"{where} holds {len(rules):,} arrays; at most {MAX_ARRAYS:,} are read.")
    if rules:
        check_lines(len(lines), where)
    for rule, after in zip(rules, [*rules[1:], len(lines)], strict=False):
        end = next((k for k in range(rule + 1, after) if "|" not in lines[k]), after)
        _check_size(lines[rule + 1 : end], where)
        above = next((lines[k] for k in range(rule - 2, -1, -1) if lines[k]), "")
        title = _unmarked(above.lstrip("# ")) if above.startswith("#") else ""
        if end > rule + 1:
            yield title, Grid(partial(_rows_between_bars, lines, rule, end), bars=True, size=size)


def _open_boxes(lines: list[str]) -> tuple[int, int] | None:
    """Write the box that Polars prints around a frame as Markdown; return the size that it says."""
    size, top = None, None
    for k, line in enumerate(lines):
        if line.startswith("┌"):
            told, top = _BOX_SIZE.fullmatch(lines[k - 1]), k
            size = (int(told[1]), int(told[2])) if told else None
        elif line.startswith(("╞", "├")) and top is not None:
            if k > top + 1:  # names, and the types of the columns below them
                lines[top + 1 : k + 1] = [*[""] * (k - top - 2), lines[top + 1], "|---|"]
            top = None
    return size


def _rows_between_bars(lines: Sequence[str], rule: int, end: int) -> Iterator[Row]:
    """Yield the cells of the line above a rule, and those of the lines below it."""
    for k in (rule - 1, *range(rule + 1, end)):
        yield k + 1, _cells(lines[k])


def _cells(line: str) -> list[str]:
    """Return what is between the bars of a line."""
    inner = line[1:] if line.startswith("|") else line
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    cells = inner.split("|") if "\\" not in inner else re.split(r"(?<!\\)\|", inner)
    return [_unmarked(cell.strip()) for cell in cells]


def _check_size(rows: Sequence[str], where: str) -> None:
    """Refuse a table of more cells than MAX_ELEMENTS, not counting one label a row.

    They are counted by their bars, as cells take a hundred times as long and as much room.
    """
    between = (
        row.count("|") - row.count("\\|") - row.startswith("|") - row.endswith("|") for row in rows
    )
    if sum(between) > MAX_ELEMENTS:  # as many as cells, but for one in each row
        raise BadInput(f"{where} is too large; at most {MAX_ELEMENTS:,} numbers are read.")


def _unmarked(text: str) -> str:
    """Return a text without stars and backticks around it, and with what a backslash protects."""
    if text.startswith(("**", "__", "`")):
        around = _AROUND.match(text)
        text = around[2] if around else text
    return markdown.read(text) if "\\" in text or "&" in text else text
