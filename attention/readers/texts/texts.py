"""Arrays out of text: what programs print, JSON, tables and word vectors.

What is read is an :class:`ArrayEntry` for each array, as out of a file; what is refused is one
sentence that names the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from attention.limits import MAX_ARRAYS, MAX_BRACKETS, MAX_COMMAS, MAX_ELEMENTS, MAX_FILE, BadInput
from attention.readers.cells.entry import ALONE, ArrayEntry, short
from attention.readers.cells.printouts import apart, read_matrices
from attention.readers.cells.what_is_meant import counted, embeddings, without_comments
from attention.readers.texts import other_texts
from attention.readers.texts.grid import check_lines
from attention.readers.texts.json_arrays import nested
from attention.readers.texts.literals import tensors_in
from attention.readers.texts.tables import tables, tables_in

BOUNDS = (
    ("\n", MAX_ELEMENTS, "lines"),
    ("\r", MAX_ELEMENTS, "lines"),
    (",", MAX_COMMAS, "commas"),
    ("\t", MAX_COMMAS, "tabs"),
    (";", MAX_ELEMENTS, "semicolons"),
    ("|", MAX_COMMAS, "bars"),
    ("[", MAX_BRACKETS, "brackets"),
    ("{", MAX_BRACKETS, "brackets"),
)
_NAMED = re.compile(
    r"(?m)^[ \t]{0,9}([A-Za-z_]\w{0,39})[ \t]{0,9}[=:][ \t]{0,9}"
    r"(?=(?:[A-Za-z][\w.]{0,40}\(\s{0,9})?\[)"
)
# How a printout begins.
_BRACKETS = re.compile(
    r"(?:Parameter containing:|<tf\."
    r"|(?:[A-Za-z][\w.]{0,40})?[\[({]\s{0,99}(?:[\[({\])}]|[+-]?[\d.]|nan|-?inf|np\.float))"
)
_COMMENT = re.compile(r"#[^\n]*")
_ABOVE = re.compile(r"(?:(?:#|%|//).*|/\*.*\*/)?")
_NAME_ALONE = re.compile(r"[ \t]*[#%]+[ \t]*[^\W\d]\w{0,39}[ \t]*[:=]?[ \t\r]*")  # of a matrix
# Lines that hold no numbers.
_CODE = re.compile(r"(?m)^[ \t]*(?:#[^\n]*|import [^\n]*|from [\w.]+ import [^\n]*)$")
_TAIL = re.compile(
    r"(?:[\s,;)>]"
    r"|(?:dtype|device|grad_fn|requires_grad|shape|name|weak_type)\s?=\s?"
    r"(?:'[^'\n]*'|<[^>\n]*>|\([^)\n]*\)|[\w.:]+))*"
)
_CELL = re.compile(r"[^\s,;()\[\]{}]+")
_MIXED = re.compile(r"\d,\d+[ ]+[\d.+-][^\[\]\n]{0,20}")  # [0,5 1,5]
_TUPLES = re.compile(r"[\d\s.,eE+\-()\[\]]*")  # rows in Python's other brackets
_SQUARE = str.maketrans("()", "[]")
_SHAPE = re.compile(r"\([1-9]\d{0,8},(?:[1-9]\d{0,8}(?:,[1-9]\d{0,8}){0,2},?)?\)")  # no blanks
_NEXT_ROW = re.compile(r"\][ \t\r,]*+(?:\n[ \t\r,]*+)?\[")  # with no empty line before it
_NEXT_TUPLE = re.compile(r"\)\s{0,99},\s{0,99}\(")
# A line that shows a shape, and the one in a prompt that asks for it.
_SHAPE_LINE = re.compile(
    r"[ \t]{0,9}(?:[A-Za-z_][\w.]{0,40}[ \t]{0,9})?(?:shape|size)?[ \t]{0,9}[:=]?[ \t]{0,9}"
    r"(?:torch\.Size)?"
    r"([(\[][\[\d, \t]{1,60}[)\]]{1,2})[ \t\r]{0,9}",
    re.IGNORECASE,
)
# The name of the array below: "Q =", or what a prompt was asked.
_NAME_LINE = re.compile(
    r"(?:[ \t]{0,9}([A-Za-z_]\w{0,39})[ \t]{0,9}[=:]"
    r"|>>>[ \t]{0,9}(?:print\()?([A-Za-z_]\w{0,39})\)?)[ \t\r]{0,9}"
)
_ARRAY_BEGINS = re.compile(
    r"[ \t]{0,9}(?:(?P<name>[A-Za-z_]\w{0,39})[ \t]{0,9}[=:][ \t]{0,9})?"
    r"(?:\[[ \t]{0,99}\[|(?:[A-Za-z_]\w{0,20}\.){0,2}(?:array|tensor)\()"
)
_PRINTED = re.compile(r"(?m)^>>>|[\[(]\[?\d|[=:][ \t\r]{0,9}$")
_NO_ARRAYS = {"shape", "size"}  # names of lists that are none


def entries(
    text: str, where: str, chosen: Mapping[str, str] | None = None
) -> dict[str, ArrayEntry]:
    """The arrays that stand in a text, by name; one without a name is called "numbers".

    ``chosen`` answers the questions in the ``choices`` of a reading before: the key of an option
    for the key of a question. NaN and inf are numbers here; who takes the array decides.

    >>> found = entries("cat 0.5 1\\ndog 2 -3", "the text")["numbers"]
    >>> found.shape, found.rows, found.read()[1].tolist()
    ((2, 2), ('cat', 'dog'), [2.0, -3.0])
    """
    text, shapes = _without_shapes(_bounded(text.removeprefix("\ufeff"), where))
    found = _below_shapes(text, where, chosen)
    _check_shapes(shapes, found, where)
    return found


def _without_shapes(text: str) -> tuple[str, list[str]]:
    """Return a text without the lines that show the shape of the array printed below them, and
    these shapes; a name on a line of its own, or in a prompt, is put before its array.

    >>> _without_shapes("torch.Size([1, 2])\\ntensor([[3, 4]])")
    ('\\ntensor([[3, 4]])', ['([1, 2])'])
    >>> _without_shapes(">>> Q\\narray([[3, 4]])")
    ('\\nQ = array([[3, 4]])', [])
    >>> _without_shapes("(1, 2)\\n(3, 4)")
    ('(1, 2)\\n(3, 4)', [])
    """
    if not _PRINTED.search(text):
        return text, []
    lines, shapes = text.split("\n"), list[str]()
    below = len(lines)  # the next line that is neither blank nor one of these
    for k in range(len(lines) - 1, -1, -1):
        line = lines[k]
        begins = below < len(lines) and _ARRAY_BEGINS.match(lines[below])
        shape = begins and _SHAPE_LINE.fullmatch(line)
        name = begins and _NAME_LINE.fullmatch(line)
        if shape and _is_plain_shape(line, shape[1]):
            lines[k] = ""
            shapes.append(shape[1])
        elif begins and (name or line.startswith(">>>")):
            lines[k] = ""
            if name and not begins["name"]:
                lines[below] = f"{name[1] or name[2]} = {lines[below]}"
        elif line.strip():
            below = k
    return "\n".join(lines), shapes[::-1]


def _is_plain_shape(line: str, shape: str) -> bool:
    """Check for a tuple, or brackets that the line calls a shape, of whole numbers from 1."""
    says = re.search(r"shape|size", line, re.IGNORECASE) is not None
    numbers = shape.strip("()[] \t").replace(" ", "").removesuffix(",").split(",")
    whole = all(each.isdigit() and each[0] != "0" for each in numbers)
    alone = line.strip() == shape and shape[0] == "(" and "," in shape
    return whole and len(numbers) <= 4 and (says or alone)


def _below_shapes(text: str, where: str, chosen: Mapping[str, str] | None) -> dict[str, ArrayEntry]:
    for read in READERS:
        if found := read(text, where):
            return found
    return _text_table(text, where, chosen)


def _tensors(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """Read tensors that were printed in a dict, a list, a tuple or the output of a model."""
    tensors = tensors_in(text, MAX_ARRAYS)
    return embeddings(_listed(tensors, where), where) if tensors else None


def _json(text: str, where: str) -> dict[str, ArrayEntry] | None:
    first = text.lstrip()[0]
    if first not in "[{":
        return None
    arrays = nested(text, where, must=first == "{" and '"' in text)
    return embeddings(arrays, where) if arrays else None


def _printouts(text: str, where: str) -> dict[str, ArrayEntry] | None:
    """Read numbers between brackets, with a name before each matrix or without names."""
    below = _below_comments(text)
    named = _NAMED.split(below)
    if len(named) > 1:
        return embeddings(_printed(named, where), where)
    return _unnamed(below, where) if _BRACKETS.match(below.lstrip()) else None


# In this order each reads a text, or leaves it to the next; what all of them leave is a table.
READERS: tuple[Callable[[str, str], dict[str, ArrayEntry] | None], ...] = (
    _tensors,
    _json,
    other_texts.refuse,  # the kinds that are not read
    tables_in,
    _printouts,
)


def _text_table(text: str, where: str, chosen: Mapping[str, str] | None) -> dict[str, ArrayEntry]:
    """Read rows of numbers, with or without names of columns and labels."""
    check_lines(text.count("\n") + text.count("\r") - text.count("\r\n"), where)
    table = without_comments(text)
    return _with_remark(tables(table, where, chosen), _of_comments(table, text, where))


def _with_remark(found: dict[str, ArrayEntry], remark: str) -> dict[str, ArrayEntry]:
    """Return the arrays, each with one more remark."""
    if not remark:
        return found
    return {
        name: replace(entry, remark=f"{entry.remark} {remark}".strip())
        for name, entry in found.items()
    }


def _below_comments(text: str) -> str:
    """Return what is below the comments above brackets or names; a table keeps its lines.

    >>> _below_comments("// mine\\n\\n[[1, 2]]"), _below_comments("# 1 2\\n[ 3 4")
    ('[[1, 2]]', '# 1 2\\n[ 3 4')
    """
    start, end = 0, text.find("\n")
    while end >= 0 and _ABOVE.fullmatch(text[start:end].strip()):
        start, end = end + 1, text.find("\n", end + 1)
    closed = text.rstrip()[-1:] in ("]", ")", "}", ">")  # else "#" and "[" may be words
    return text[start:] if closed else text


def _of_comments(table: str, text: str, where: str) -> str:
    """Return a remark on a comment between rows where one is above the first row.

    Refuse it where both are names, as each names a matrix. ``table`` is the text with a vertical
    tab in place of each comment.
    """
    if not table.lstrip(" \t\r\n").startswith("\x0b"):
        return ""
    lines, before = table.split("\n"), text.replace("\r\n", "\n").split("\n")
    rows = [k for k, line in enumerate(lines) if line.strip()]
    if not rows:
        return ""
    named = any(map(_NAME_ALONE.fullmatch, before[: rows[0]]))
    between = [k for k in range(rows[0], rows[-1]) if lines[k] == "\x0b" and lines[k - 1].strip()]
    for k in between:
        if named and _NAME_ALONE.fullmatch(before[k]):
            raise BadInput(
                f"{where}, line {k + 1} is a comment between rows; put an empty line before it if"
                " another matrix begins there, else remove it."
            )
    if not between:
        return ""
    return (
        f"Line {between[0] + 1} is a comment between rows; put an empty line before it if another"
        " matrix begins there."
    )


def _bounded(text: str, where: str) -> str:
    """The text, if it is one and not too large; counted before anything is made of it."""
    if len(text) > MAX_FILE:
        raise BadInput(f"{where} has {len(text):,} characters; at most {MAX_FILE:,} are read.")
    if not text.strip():
        raise BadInput(f"{where} is empty; expected numbers.")
    for mark, most, word in BOUNDS:
        if text.count(mark) > most:
            raise BadInput(f"{where} has {text.count(mark):,} {word}; at most {most:,} are read.")
    if "\x00" in text:
        raise BadInput(
            f"{where}, character {text.index(chr(0)) + 1} is a zero byte; expected text."
        )
    return text


def _as_truth(entry: ArrayEntry) -> ArrayEntry:
    """The same array, whose 0 and 1 were written as False and True."""
    return replace(entry, dtype="bool", read=lambda: entry.read().astype(bool), pick=None)


def _printout(name: str, text: str, where: str) -> ArrayEntry:
    """The numbers between brackets; only what programs print may follow, nothing to compute."""
    if _TUPLES.fullmatch(text):
        text = text.translate(_SQUARE)
    end = text.rfind("]") + 1
    tail = _COMMENT.sub("", text[end:])
    if end and not _TAIL.fullmatch(tail):
        raise BadInput(
            f"{where}: “{short(tail.strip(), 24)}” follows the numbers; nothing is computed here,"
            " so paste the result."
        )
    inner = text[:end] or text
    start = max(inner.find("["), 0)
    count = sum(1 for _ in _CELL.finditer(inner, start)) if len(inner) > MAX_ELEMENTS else 0
    if count > MAX_ELEMENTS:
        raise BadInput(f"{where} holds {count:,} numbers; at most {MAX_ELEMENTS:,} are read.")
    cells, of_truth = counted(inner[start:])
    inner = inner[:start] + cells
    for row in _MIXED.findall(inner):
        raise BadInput(
            f"{where}: “{short(row, 24)}” can be read in two ways; put points for decimals, or a"
            " space after each comma."
        )
    entry = ArrayEntry.of(name, read_matrices(inner, where, finite=False))
    return _as_truth(entry) if of_truth else entry


def _unnamed(text: str, where: str) -> dict[str, ArrayEntry]:
    """Printouts without names: each matrix is an array of its own, unless brackets join them."""
    parts, shapes = _matrices(text, where)
    if len(parts) == 1:
        found = {ALONE: _printout(ALONE, parts[0], where)}
    else:
        found = _listed([("", part) for part in parts], where)
    _check_shapes(shapes, found, where)
    if len(parts) == 1 and text.lstrip()[0] == "(" and all(map(_is_shape, apart(text))):
        return _with_remark(found, "Each pair of parentheses is read as a row, not as a shape.")
    if len(found) == 1 or len({entry.shape for entry in found.values()}) > 1:
        return found
    remark = (
        f"Each of the {len(found)} matrices is an array; to read them as heads, put [ ] around all."
    )
    return {name: replace(entry, remark=remark) for name, entry in found.items()}


def _matrices(text: str, where: str) -> tuple[list[str], list[str]]:
    """Return the matrices in brackets that follow each other, and the shapes between them.

    Rows that have brackets of their own, and no others around them, are one matrix.
    """
    parts = apart(text)
    if len(parts) == 1 and parts[0][0] == "(":
        inner = apart(parts[0][1:-1])
        parts = inner if any(part[0] == "[" and _is_matrix(part) for part in inner) else parts
    matrices = [part for part in parts if _is_matrix(part)]
    shapes = [] if _are_rows(parts, text) else [part for part in parts if _is_shape(part)]
    if shapes and len(shapes) == len(parts):
        raise BadInput(
            f"{where}: “{short(' '.join(shapes), 24)}” looks like a shape; paste the numbers of the"
            " array, or put [ ] around all rows."
        )
    rows = [part for part in parts if part not in shapes and not _is_matrix(part)]
    by_comma = [part for part in rows if "," in part]
    other = rows if matrices else shapes or (by_comma if len(by_comma) < len(rows) else [])
    if rows and other:
        raise BadInput(
            f"{where}: “{short(other[0], 24)}” is next to other numbers and"
            " no part of them; remove it, or give each array a name, as in Q = [[1, 2]]."
        )
    if matrices:
        return matrices, shapes
    return ["\n".join(parts)] if parts and not _NEXT_ROW.search(text) else [text], shapes


def _are_rows(parts: list[str], text: str) -> bool:
    """Check for rows in parentheses: as long as each other, and one is no shape, or by commas.

    Programs print shapes next to each other without commas.

    >>> _are_rows(["(0.3, 0.7)", "(2, 1)"], ""), _are_rows(["(4, 3)", "(4, 2)"], "(4, 3) (4, 2)")
    (True, False)
    """
    alike = len(parts) > 1 and len({part.rstrip(" ,)").count(",") for part in parts}) == 1
    if not alike or not all(part[0] == "(" and not _is_matrix(part) for part in parts):
        return False
    return not all(map(_is_shape, parts)) or len(_NEXT_TUPLE.findall(text)) == len(parts) - 1


def _is_shape(part: str) -> bool:
    """Check for a tuple of up to four whole numbers from 1, as programs print a shape."""
    return len(part) < 99 and _SHAPE.fullmatch("".join(part.split())) is not None


def _is_matrix(part: str) -> bool:
    """Check whether there are rows between the brackets, and not only numbers."""
    return ";" in part or any(bracket in part[1:] for bracket in "[({")


def _check_shapes(shapes: list[str], found: dict[str, ArrayEntry], where: str) -> None:
    """Refuse a shape that no array has; one that an array has is passed over."""
    there = {_without_ones(entry.shape) for entry in found.values()}
    for shape in shapes:
        if _without_ones(tuple(map(int, re.findall(r"\d+", shape)))) not in there:
            raise BadInput(
                f"{where}: “{short(shape, 24)}” is the shape of no array in it; remove it, or write"
                " a row between [ and ]."
            )


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without 1 in front of its last two axes: one item, one head. A vector is a
    row.
    """
    front = [side for side in shape[:-2] if side != 1]
    return (*front, *shape[-2:]) if shape[1:] else (1, *shape)


def _listed(tensors: list[tuple[str, str]], where: str) -> dict[str, ArrayEntry]:
    """Tensors that were printed in a dict, a list or a tuple."""
    found: dict[str, ArrayEntry] = {}
    for k, (given, text) in enumerate(tensors, 1):
        name = given if given and given not in found else f"{given or ALONE} {k}"
        found[name] = _printout(name, text, f"{where}, {short(name, 40)}")
    each = list(found.values())
    if len(each) == 1 and not tensors[0][0]:
        return {ALONE: replace(each[0], name=ALONE)}
    one_row_each = {entry.shape[-2:] for entry in each} == {(1, each[0].shape[-1])}
    if one_row_each and not any(name for name, _ in tensors):  # a list of vectors
        return {ALONE: ArrayEntry.of(ALONE, np.concatenate([entry.read() for entry in each]))}
    return found


def _printed(parts: list[str], where: str) -> dict[str, ArrayEntry]:
    """Several printouts with their names in front: ``X = [[1, 2], …``, as in code."""
    before, arrays, words = parts[0], {}, ()
    if left := _CODE.sub("", before).strip():
        raise BadInput(
            f"{where}: “{short(left, 24)}” is before the first name; only named arrays can be"
            " read together."
        )
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        if name in arrays:
            raise BadInput(f"{where} holds {name} twice.")
        text = _CODE.sub("", text)
        if re.fullmatch(r"\s*\[\s*[\"'][^\[\]]*\]\s*", text):
            words = words or tuple(word[1:-1] for word in re.findall(r"\"[^\"]*\"|'[^']*'", text))
            continue
        if name.lower() in _NO_ARRAYS:
            raise BadInput(f"{where}: {name} is not a matrix; remove it.")
        parts, shapes = _matrices(text, f"{where}, {name}")
        if len(parts) > 1:
            raise BadInput(
                f"{where}: {len(parts)} matrices follow {name}; give each a name, as in"
                " K = [[1, 2]]."
            )
        arrays[name] = _printout(name, parts[0], f"{where}, {name}")
        _check_shapes(shapes, {name: arrays[name]}, f"{where}, {name}")
        if len(arrays) > MAX_ARRAYS:
            raise BadInput(
                f"{where} holds more than {MAX_ARRAYS:,} arrays, which is the most that is read."
            )
    if not arrays:
        raise BadInput(f"{where} holds words and no numbers.")
    return {
        name: replace(entry, rows=words)
        if name in ("X", "Q") and len(words) == entry.shape[-2]
        else entry
        for name, entry in arrays.items()
    }
