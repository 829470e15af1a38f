"""Arrays out of text: what programs print, JSON, spreadsheet ranges and CSV, word vectors.

What is read is an :class:`Entry` for each array, as out of a file; what is refused is one sentence that names the line.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from attention.inputs.files import MAX_ARRAYS, MAX_ELEMENTS, MAX_FILE, MAX_RANK, Entry, once, short, shown, whole
from attention.inputs.matrices import MAX_BLOCKS, BadInput, is_number, read_matrices, read_number

ALONE = "numbers"  # the name of an array that has none
MAX_BRACKETS = 100_000  # of a JSON text, as an empty list takes thirty times its two characters
MAX_COMMAS = 1_200_000  # of commas, tabs or semicolons: word vectors of 8 MB have fewer
BOUNDS = (("\n", MAX_ELEMENTS, "lines"), ("\r", MAX_ELEMENTS, "lines"), (",", MAX_COMMAS, "commas"), ("\t", MAX_COMMAS, "tabs"),
          (";", MAX_ELEMENTS, "semicolons"), ("[", MAX_BRACKETS, "brackets"), ("{", MAX_BRACKETS, "brackets"))  # fmt: skip
LOOSE = ", "  # commas or spaces
UNQUOTED = "\x00"  # between cells that stood in quotation marks; no text here holds it
CORNERS = {"", "word", "token", "tokens", "label", "name", "index", "key", "query"}  # heads of a column of labels
COMMAS = {"decimal": "decimal: 0,5 is a half", "separates": "separates: 1,2 is 1 and 2; 1,000 is a thousand"}
_NAMED = re.compile(
    r"(?m)^[ \t]{0,9}([A-Za-z_]\w{0,39})[ \t]{0,9}[=:][ \t]{0,9}(?=(?:[A-Za-z][\w.]{0,40}\(\s{0,9})?\[)"
)
_BRACKETS = re.compile(
    r"(?:Parameter containing:|<tf\.|(?:[A-Za-z][\w.]{0,40})?[\[({]\s{0,99}(?:[\[({\])}]|[+-]?[\d.]|nan|-?inf|np\.float))"
)  # a printout begins so
_TRUTH = re.compile(r"\b(true|false)\b", re.IGNORECASE)
_DECIMAL = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d{1,4})?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_FILLED = re.compile(r"[^\s,;]")  # more than separators
_TUPLES = re.compile(r"[\d\s.,eE+\-()\[\]{}]*")  # rows in other brackets: Python's tuples, C's initialisers
_SQUARE = str.maketrans("(){}", "[][]")
_DIGIT = re.compile(r"[+-]?\d")
_SPACED = re.compile(r"[\d.]\s+[\d.+-]")  # numbers with nothing but spaces between them
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


class Ambiguous(BadInput):
    """Commas that can be read in two ways; the sentence asks which."""


def entries(text: str, where: str, comma: str | None = None) -> dict[str, Entry]:
    """The arrays that stand in a text, by name; one without a name is called "numbers".

    ``comma`` answers :class:`Ambiguous`: a key of ``COMMAS``. NaN and inf are numbers here; who takes the array decides.

    >>> found = entries("cat 0.5 1\\ndog 2 -3", "the text")["numbers"]
    >>> found.shape, found.rows, found.read()[1].tolist()
    ((2, 2), ('cat', 'dog'), [2.0, -3.0])
    """
    text = _bounded(text.removeprefix("\ufeff"), where)
    if not re.search(r"\d", text) and _TRUTH.search(text):
        text = _TRUTH.sub(lambda word: "1" if word[0].lower() == "true" else "0", text)
    first = text.lstrip()[0]
    if first in "[{":
        found = _json(text, where, must=first == "{" and '"' in text)
        if found is not None:
            return found
    named = _NAMED.split(text)
    if len(named) > 1:
        return _printed(named[1:], where)
    if _BRACKETS.match(text.lstrip()):
        if _TUPLES.fullmatch(text):
            text = text.translate(_SQUARE)
        return {ALONE: _array(ALONE, read_matrices(text, where, finite=False))}
    return _tables(text, where, comma)


def _bounded(text: str, where: str) -> str:
    """The text, if it is one and not larger than what it may become; counted before anything is made of it."""
    if len(text) > MAX_FILE:
        raise BadInput(f"{where} has {len(text):,} characters; at most {MAX_FILE:,} are read.")
    if not text.strip():
        raise BadInput(f"{where} is empty; numbers are wanted.")
    for mark, most, word in BOUNDS:
        if text.count(mark) > most:
            raise BadInput(f"{where} has {text.count(mark):,} {word}; at most {most:,} are read.")
    if "\x00" in text:
        raise BadInput(f"{where}, character {text.index(chr(0)) + 1} is a zero byte; this is no text.")
    return text


def _array(name: str, values: np.ndarray, **more) -> Entry:
    return Entry(name, values.shape, "text", lambda: values, **more)


def _printed(parts: list[str], where: str) -> dict[str, Entry]:
    """Several printouts with their names in front: ``X = [[1, 2], …``, as in code."""
    found = {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        if name in found:
            raise BadInput(f"{where} holds {name} twice.")
        text = text[: text.rfind("]") + 1]
        if re.fullmatch(r"\s*\[\s*[\"'][^\[\]]*\]", text):
            continue  # a list of words
        found[name] = _array(name, read_matrices(text, f"{where}, {name}", finite=False))
        if len(found) > MAX_ARRAYS:
            raise BadInput(f"{where} holds more than {MAX_ARRAYS:,} arrays, which is the most that is read.")
    if not found:
        raise BadInput(f"{where} holds words and no numbers.")
    return found


# ---- JSON ---------------------------------------------------------------------------------------------


def _json(text: str, where: str, must: bool) -> dict[str, Entry] | None:
    """Arrays by name; None where it is no JSON, and need not be."""
    if text.count(":") > MAX_BRACKETS:
        raise BadInput(f"{where} has {text.count(':'):,} colons; at most {MAX_BRACKETS:,} are read.")
    try:
        whole(text)
        value = json.loads(text, object_pairs_hook=once, parse_int=float)
    except BadInput as problem:
        raise BadInput(f"{where}: {problem}") from None
    except RecursionError:
        raise BadInput(f"{where}: its brackets are nested too deeply.") from None
    except ValueError as problem:
        if must:
            place = f"line {problem.lineno}, column {problem.colno}: {problem.msg.lower()}"
            raise BadInput(f"{where} is no JSON; {place}.") from None
        return None
    if isinstance(value, list):
        return {ALONE: _nested(ALONE, value, where)}
    value = value["stages"] if isinstance(value.get("stages"), dict) else value  # as this page saves them
    value = {ALONE: value} if "values" in value and value.keys() <= {"values", "rows", "columns"} else value
    if value and all(isinstance(v, list) and v and not isinstance(v[0], (list, str)) for v in value.values()):
        return {ALONE: _nested(ALONE, list(value.values()), where, tuple(value))}  # a vector for each word
    return _members(value, where)


def _members(value: dict, where: str) -> dict[str, Entry]:
    """The lists of rows among the members of an object, bare or as ``{"values": …, "rows": labels}``."""
    tokens = _words(value.get("tokens"))
    records = {name: inner if isinstance(inner, dict) else {"values": inner} for name, inner in value.items()}
    arrays = {name: r for name, r in records.items() if isinstance(r.get("values"), list) and r["values"][:1] and isinstance(r["values"][0], list)}  # fmt: skip
    over = [shown(name, 20) for name in records if name not in arrays and name != "tokens"]
    if not arrays:
        raise BadInput(f"{where} holds no array: an object of names and lists of rows is wanted.")
    if len(arrays) > MAX_ARRAYS:
        raise BadInput(f"{where} holds {len(arrays):,} arrays; at most {MAX_ARRAYS:,} are read.")
    remark = (
        f"Passed over, as these are no lists of rows: {', '.join(over[:6])}{', …' * (len(over) > 6)}." if over else ""
    )
    return {name: _nested(name, r["values"], where if name == ALONE else f"{where}, {shown(name)}", _words(r.get("rows")) or tokens, remark)
            for name, r in arrays.items()}  # fmt: skip


def _words(value) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, list) and all(isinstance(word, str) for word in value) else ()


def _nested(name: str, value: list, where: str, rows: tuple[str, ...] = (), remark: str = "") -> Entry:
    """Lists of lists as an array; its cells are looked at when it is read."""
    shape, level = [], value
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0] if level else None
    if len(shape) == 1:
        shape, value = [1, *shape], [value]
    if len(shape) > MAX_RANK or 0 in shape:
        raise BadInput(
            f"{where} has {len(shape)} axes of {' × '.join(map(str, shape))}; two to four axes of 1 or more are read."
        )
    if np.prod(shape, dtype=float) > MAX_ELEMENTS:
        raise BadInput(f"{where} is {' × '.join(map(str, shape))}; at most {MAX_ELEMENTS:,} numbers are read.")
    words = ["block"] * (len(shape) - 2) + ["row", "column"]

    def cells(level, depth: int, place: str):
        if not isinstance(level, list) or len(level) != shape[depth]:
            found = (
                f"{len(level)} {'entry' if len(level) == 1 else 'entries'}"
                if isinstance(level, list)
                else f"“{short(str(level), 24)}”"
            )
            raise BadInput(
                f"{place} holds {found}, not {shape[depth]} as at first; every {words[depth - 1]} needs the same."
            )
        for k, inner in enumerate(level, 1):
            here = f"{place}, {words[depth]} {k}"
            if depth + 1 < len(shape):
                yield from cells(inner, depth + 1, here)
            elif isinstance(inner, (str, float)) or inner is None:
                yield read_number(
                    "" if inner is None else repr(inner) if isinstance(inner, float) else inner, here, False
                )
            else:
                yield read_number("true or false" if isinstance(inner, bool) else "[…", here)

    @cache
    def read() -> np.ndarray:
        return np.fromiter(cells(value, 0, where), np.float64).reshape(shape)

    return Entry(name, tuple(shape), "text", read, rows if len(rows) == shape[-2] else (), remark=remark)


# ---- tables: spreadsheets, CSV, word vectors ------------------------------------------------------------


class Lines(NamedTuple):
    """The lines of a table, each with its number in the text, and how they fall into cells."""

    numbered: list[tuple[int, str]]
    separator: str | None  # None: spaces
    decimal: bool = False  # whether commas are decimal

    def cells(self, line: str) -> list[str]:
        if self.separator == LOOSE:
            return [cell for cell in re.split(r"[ ]*,[ ]*|[ ]+", line.strip()) if cell]
        return [cell.strip() for cell in line.split(self.separator)] if self.separator else line.split()

    def first(self, line) -> str:
        return line.split(None, 1)[0] if self.separator is None else self.cells(line)[0]

    def is_number(self, cell: str) -> bool:
        return is_number(self.plain(cell))

    def plain(self, cell: str) -> str:
        """A cell as numbers are written here: without a decimal comma, or commas between thousands."""
        if "," in cell and self.decimal and _DECIMAL.fullmatch(cell):
            return cell.replace(",", ".")
        return cell.replace(",", "") if "," in cell and not self.decimal and _THOUSANDS.fullmatch(cell) else cell


def _tables(text: str, where: str, comma: str | None) -> dict[str, Entry]:
    """One table; or several, with an empty line between them: heads of one shape, or matrices by name."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    blocks = _blocks(text)
    if len(blocks) == 1:
        return {ALONE: _table(ALONE, text, 1, where, comma)}
    found = {}
    for k, (start, block) in enumerate(blocks, 1):
        corner = re.split(r"[\t;,]", block, maxsplit=1)[0].strip()
        named = bool(re.fullmatch(r"[A-Za-z]\w{0,39}", corner)) and corner.lower() not in CORNERS
        name = corner if named else f"{ALONE} {k}"
        if name in found:
            raise BadInput(f"{where} holds {name} twice.")
        found[name] = _table(name, block, start, where, comma, corner=named)
    shapes = {entry.shape for entry in found.values()}
    if len(shapes) == 1 and all(name.startswith(f"{ALONE} ") for name in found):
        stacked = np.stack([entry.read() for entry in found.values()])
        return {ALONE: _array(ALONE, stacked, rows=found[f"{ALONE} 1"].rows)}
    return found


def _blocks(text: str) -> list[tuple[int, str]]:
    """The parts between empty lines, each with the number of its first line; single lines far apart are one part."""
    parts, start = [], 1
    for part in re.split(r"\n[ \t]*(?=\n)", text):
        inner = part.lstrip("\n")
        if inner.strip():
            parts.append((start + len(part) - len(inner), inner))
        start += part.count("\n") + 1
    several = 1 < len(parts) <= MAX_BLOCKS and all("\n" in part.strip("\n") for _, part in parts)
    return parts if several else [(1, text)]


def _table(name: str, text: str, start: int, where: str, comma: str | None, corner: bool = False) -> Entry:
    """Rows of numbers, with or without a row of heads, a column of labels, or the two counts word2vec begins with."""
    lines = _lines(text, start, where, comma)
    remarks = ["The commas are decimal."] if lines.decimal else []
    declared = _counts(lines)
    first = lines.first(lines.numbered[0][1])
    head = not declared and len(lines.numbered) > 1 and (corner or first == "" or _is_head(lines))
    if declared or head:
        lines = lines._replace(numbered=lines.numbered[1:])
    count = len(lines.numbered)
    if head:
        remarks.append("The first line names the columns; it is passed over.")
    if declared and declared[0] != count:
        remarks.append(f"The first line says {declared[0]:,} words; here are {count:,}.")
    labelled = bool(declared) or corner or (head and first.lower() in CORNERS) or _is_labelled(lines)
    width = declared[1] if declared else _width(lines, labelled, where)
    _check_widths(lines, labelled, width, where)
    if not labelled and count * width > MAX_ELEMENTS:
        raise BadInput(f"{where} is {count:,} × {width}; at most {MAX_ELEMENTS:,} numbers are read.")
    rows = tuple(_label(lines, line, width) for _, line in lines.numbered) if labelled else ()

    def pick(chosen: Sequence[int]) -> np.ndarray:
        if len(chosen) * width > MAX_ELEMENTS:
            raise BadInput(f"{where} is {count:,} × {width}; at most {MAX_ELEMENTS:,} numbers are read at once.")
        return np.array([_values(lines, k, width, where) for k in chosen]).reshape(-1, width)

    return Entry(
        name,
        (count, width),
        "text",
        cache(lambda: pick(range(count))),
        rows,
        pick if labelled else None,
        " ".join(remarks),
    )


def _lines(text: str, start: int, where: str, comma: str | None) -> Lines:
    """The lines, and what separates their cells: a tab, a semicolon, a comma or spaces."""
    lines = [(k, line) for k, line in enumerate(text.split("\n"), start) if _FILLED.search(line)]
    if not lines:
        raise BadInput(f"{where} is empty; numbers are wanted.")
    for number, line in lines:
        if len(line) > 2 * MAX_ELEMENTS and (found := sum(1 for _ in re.finditer(r"\S+", line))) > MAX_ELEMENTS:
            raise BadInput(
                f"{where}, line {number} holds {found:,} words or numbers; at most {MAX_ELEMENTS:,} are read."
            )
    separator = _separator(lines, text)
    if separator in (";", ",") and _in_words(lines):
        separator = None
    if separator == ";" and _ends_rows(lines, where, comma):
        lines = [(k, part) for k, line in lines for part in line.split(";") if _FILLED.search(part)]
        separator = "," if "," in text else None
    if separator == ",":
        separator = _comma(lines, where, comma)
        decimal = separator is None
    else:
        decimal = separator is not None and "," in text and _is_decimal(lines, separator, where, comma)
    if separator in ("\t", ";", ",") and '"' in text:
        lines.clear()  # they take as much room as those that follow
        return Lines(_quoted(text, start, separator, where), UNQUOTED, decimal)
    if separator in (";", ",") and all(line.rstrip().endswith(separator) for _, line in lines):
        lines = [(k, line.rstrip()[:-1]) for k, line in lines]
    return Lines(lines, separator, decimal)


def _separator(lines, text: str) -> str | None:
    """A tab, a semicolon or a comma: the first that stands in every line, outside of quotation marks, else in any."""
    sample = [re.sub('"[^"]*"', "", line).rstrip() for _, line in lines[:99]]

    def everywhere(mark: str) -> bool:
        return all(mark in line for line in sample) or all(line.endswith(mark) for line in sample[:-1])

    marks = [mark for mark in "\t;," if mark in text]
    return next(filter(everywhere, marks), next(iter(marks), None))


def _in_words(lines) -> bool:
    """Whether most lines begin with a word and a space, and commas and semicolons stand in these words alone."""
    words = ended = 0
    for _, line in lines:
        first, _, rest = line.strip().partition(" ")
        if not rest or "," in rest or ";" in rest:
            return False
        parts = [part for part in re.split("[,;]", first) if part]
        words += not parts or not all(map(is_number, parts))
        ended += bool(parts) and first[-1] in ",;"
    return 2 * words >= len(lines) > ended


def _ends_rows(lines, where: str, comma: str | None) -> bool:
    """Whether a semicolon ends a row, as in "1 2; 3 4", and does not separate two cells."""
    if len(lines) == 1 and all(_DECIMAL.fullmatch(cell.strip()) for cell in lines[0][1].split(";")):
        if comma is None:
            raise Ambiguous(_question(where, *lines[0], "numbers"))
        return comma != "decimal"
    ends = len(lines) == 1 or all(";" not in line.rstrip()[:-1] for _, line in lines)
    return ends or any(_SPACED.search(line) for _, line in lines[:99])


def _quoted(text: str, start: int, separator: str, where: str) -> list[tuple[int, str]]:
    """Lines with cells in quotation marks, as spreadsheets write them; these are taken off."""
    found = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                found.append((start + reader.line_num - 1, UNQUOTED.join(row)))
    except csv.Error:
        line = start + reader.line_num - 1
        raise BadInput(f"{where}, line {line}: a quotation mark is not closed, or stands inside a cell.") from None
    if not found:
        raise BadInput(f"{where} is empty; numbers are wanted.")
    return found


# ---- commas: between cells, or inside numbers -----------------------------------------------------------


def _comma(lines, where: str, comma: str | None) -> str | None:
    """What separates the cells of a text with commas and no tabs: the comma, commas and spaces, or only spaces."""
    sample = [line.strip() for _, line in lines[:99]]
    if not any(_SPACED.search(line) for line in sample):
        return ","
    fields = [line.split() for line in sample]
    numbers = [[f for f in row if is_number(f) or _DECIMAL.fullmatch(f)] for row in fields]
    alone = not any(re.search(r",\s|\s,|,$|^,", line) for line in sample)
    whole = all(2 <= len(found) >= len(row) - 1 for found, row in zip(numbers, fields, strict=True))
    if not (alone and whole) or any("." in f for row in numbers for f in row):
        return LOOSE
    if all(len(found) < len(row) for found, row in zip(numbers, fields, strict=True)):
        return None  # a word in front of each line: only spaces can separate
    if comma is None:
        raise Ambiguous(_question(where, *lines[0], "numbers"))
    return None if comma == "decimal" else LOOSE


def _is_decimal(lines, separator: str, where: str, comma: str | None) -> bool:
    """Whether cells between tabs or semicolons hold decimal commas; "1,234" is asked about."""

    def cells():
        for k, line in lines:
            if "," in line:
                yield from ((k, cell.strip()) for cell in line.split(separator) if "," in cell)

    if any(_DECIMAL.fullmatch(cell) and not _THOUSANDS.fullmatch(cell) for _, cell in cells()):
        return True
    unsure = next(((k, cell) for k, cell in cells() if _THOUSANDS.fullmatch(cell)), None)
    if not unsure:
        return False
    if comma is None and all(cell.count(",") == 1 for _, cell in cells() if _THOUSANDS.fullmatch(cell)):
        raise Ambiguous(_question(where, *unsure, "thousands"))
    return comma == "decimal"


def _question(where: str, number: int, text: str, what: str) -> str:
    return f"{where}, line {number}: “{short(text.strip(), 24)}” can be read in two ways; is the comma decimal, or does it separate {what}?"


# ---- heads and labels -----------------------------------------------------------------------------------


def _counts(lines: Lines) -> tuple[int, int] | None:
    """How many words and numbers the first line announces, as word2vec and fastText write it."""
    first, *rest = lines.numbered[:2]
    found = re.fullmatch(r"(\d{1,9}) (\d{1,6})\s*", first[1])
    if not (found and rest and lines.separator is None):
        return None
    words, width = map(int, found.groups())
    cells = lines.cells(rest[0][1])
    fits = len(cells) == width + 1 and (width > 1 or not lines.is_number(cells[0]))  # "0 1" above "0 0" is a matrix
    return (words, width) if fits else None


def _is_head(lines: Lines) -> bool:
    """Names of columns: words above numbers, or above a label and numbers."""
    names, second = (lines.cells(line) for _, line in lines.numbered[:2])
    return not any(map(lines.is_number, names)) and all(map(lines.is_number, second[1:] or second))


def _is_labelled(lines: Lines) -> bool:
    """Whether most lines begin with a word, and go on after it. What begins with a digit was meant as a number."""
    firsts = [lines.first(line) for _, line in lines.numbered]
    words = sum(not lines.is_number(cell) and not _DIGIT.match(cell) for cell in firsts)
    return 2 * words > len(firsts) and len(lines.cells(lines.numbered[0][1])) > 1


def _width(lines: Lines, labelled: bool, where: str) -> int:
    """How many numbers the first line has; between spaces, its label may be several words."""
    number, line = lines.numbered[0]
    cells = lines.cells(line)
    width = len(cells) - labelled
    if labelled and lines.separator is None:
        width = next((k for k, cell in enumerate(reversed(cells)) if not lines.is_number(cell)), width)
    if width < 1:
        raise BadInput(f"{where}, line {number} holds no number.")
    return width


def _check_widths(lines: Lines, labelled: bool, width: int, where: str) -> None:
    first = lines.numbered[0][0]
    for number, line in lines.numbered:
        found = len(lines.cells(line)) - labelled
        if found < width or (found > width and not (labelled and lines.separator is None)):
            s = "" if found == 1 else "s"
            raise BadInput(f"{where}, line {number} has {found} number{s}; {width} are wanted, as in line {first}.")


def _label(lines: Lines, line, width: int) -> str:
    cells = lines.cells(line)
    label = " ".join(cells[: len(cells) - width])
    return label if lines.separator is None else rearmed(label)


def _values(lines: Lines, k: int, width: int, where: str) -> list[float]:
    number, line = lines.numbered[k]
    cells = lines.cells(line)
    at = len(cells) - width
    places = enumerate(cells[at:], at + 1)
    return [read_number(lines.plain(cell), f"{where}, line {number}, column {j}", False) for j, cell in places]


def disarmed(label: str) -> str:
    """An apostrophe before what a spreadsheet would run, and before an apostrophe that could be taken for it."""
    return "'" + label if label.startswith(_FORMULA) else label


def rearmed(label: str) -> str:
    """The label again, as it was before :func:`disarmed`."""
    return label[1:] if label[:1] == "'" and label[1:].startswith(_FORMULA) else label
