"""Arrays out of JSON: rows, objects of arrays or of word vectors, and what this page saves."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from attention.limits import LIMIT, MAX_ARRAYS, MAX_ELEMENTS, MAX_NAMES, MAX_RANK, BadInput
from attention.readers.cells.entry import ALONE, ArrayEntry, short, shown
from attention.readers.cells.label_columns import COUNTS, LABELLING, columns_of, kind_of
from attention.readers.cells.printouts import read_number, sides, vanishes
from attention.readers.cells.what_is_meant import all_of_tokenizers, no_embeddings
from attention.readers.files.array_files import once, whole
from attention.vocabulary.sentences import amount, first_few, plural


def nested(text: str, where: str, must: bool) -> dict[str, ArrayEntry] | None:
    """Arrays by name; None where it is no JSON, and need not be."""
    if text.count(":") > MAX_NAMES:
        raise BadInput(f"{where} has {text.count(':'):,} colons; at most {MAX_NAMES:,} are read.")
    try:
        whole(text)
        value = json.loads(text, object_pairs_hook=once, parse_int=_number, parse_float=_number)
    except BadInput as problem:
        raise BadInput(f"{where}: {problem}") from None
    except RecursionError:
        raise BadInput(f"{where}: its brackets are nested too deeply.") from None
    except ValueError as problem:
        if must and (records := _records(text)) is not None:
            return {ALONE: _of_records(records, where)}
        if must and isinstance(problem, json.JSONDecodeError):
            place = f"line {problem.lineno}, column {problem.colno}: {problem.msg.lower()}"
            raise BadInput(f"{where} is not valid JSON; {place}.") from None
        return None
    if _are_records(value):
        return {ALONE: _of_records(value, where)}
    if isinstance(value, list):
        return {ALONE: _nested(ALONE, value, where)}
    if _is_columns(value):
        return {ALONE: _of_columns(value, where)}
    if _is_split(value):
        return {ALONE: _of_split(value, where)}
    if value.keys() == {"schema", "data"} and _are_records(value["data"]):  # pandas' orient="table"
        return {ALONE: _of_records(value["data"], where)}
    value = (
        value["stages"] if isinstance(value.get("stages"), dict) else value
    )  # as this page saves them
    value = (
        {ALONE: value}
        if "values" in value and value.keys() <= {"values", "rows", "columns"}
        else value
    )
    if _are_records(value.get("data")) and "embedding" in value["data"][0]:  # what services answer
        return {ALONE: _of_embeddings(value["data"], where)}
    if all_of_tokenizers(value):
        raise BadInput(no_embeddings(list(value), where))
    if value and all(map(_is_vector, value.values())):
        return {
            ALONE: _nested(ALONE, list(value.values()), where, tuple(value))
        }  # a vector for each word
    return _members(value, where)


def _are_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _records(text: str) -> list[dict] | None:
    """Return a record on each line, as pandas and others write them; None for anything else."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in lines):
        return None
    try:
        records = [
            json.loads(line, object_pairs_hook=once, parse_int=_number, parse_float=_number)
            for line in lines
        ]
    except (ValueError, RecursionError):
        return None
    return records if all(isinstance(record, dict) for record in records) else None


def _of_embeddings(records: list[dict], where: str) -> ArrayEntry:
    """Return the vectors of texts, each in an object with the place that puts it in order."""
    for number, record in enumerate(records, 1):
        if not isinstance(record.get("embedding"), list):
            raise BadInput(f"{where}, record {number} has no list “embedding”.")
    if all(type(record.get("index")) is int for record in records):
        records = sorted(records, key=lambda record: record["index"])
    return _nested(ALONE, [record["embedding"] for record in records], where)


def _of_records(records: list[dict], where: str) -> ArrayEntry:
    """Objects with the same names as the rows of a table; names of words are its labels."""
    names = list(records[0])
    for number, record in enumerate(records, 1):
        if list(record) != names and set(record) != set(names):
            odd = next(iter(set(record) ^ set(names)))
            verb = "has no" if odd in names else "has an extra"
            raise BadInput(f"{where}, record {number} {verb} “{short(odd, 24)}”.")
    cells = [[record[name] for name in names] for record in records]
    return _columns_table(names, cells, where, "Each record is a row, with {}.")


def _columns_table(
    names: list[str], cells: list[list], where: str, said: str, labels: tuple[str, ...] = ()
) -> ArrayEntry:
    """Return the columns of numbers as a matrix, or one that holds a vector in each row.

    ``said``: how the rows were taken, with room for how many numbers they have.
    """
    columns = zip(*([_as_text(cell) for cell in row] for row in cells[:99]), strict=True)
    kinds = [kind_of(column) for column in columns]
    found = columns_of(names, kinds, labels, rows=bool(labels))
    if not found.numbers:
        raise BadInput(
            f"{where} is a list of records; expected numbers in them, and there are none."
        )
    rows, label = labels, found.label
    if label is not None and (kinds[label] != COUNTS or names[label].lower() != "index"):
        rows = tuple(_as_text(row[label]) for row in cells)
    first = found.numbers[0]
    if len(found.numbers) == 1 and isinstance(cells[0][first], list):
        return _nested(ALONE, [row[first] for row in cells], where, rows, found.remark)
    remark = f"{said.format(amount(len(found.numbers), 'number'))} {found.remark}".strip()
    return _nested(ALONE, [[row[k] for k in found.numbers] for row in cells], where, rows, remark)


def _as_text(cell: object) -> str:
    """Return a cell as it would stand in a table; what is no word is none."""
    return str(cell) if type(cell) is not bool and isinstance(cell, (str, int, float)) else ""


def _is_columns(value: dict) -> bool:
    """Whether it holds a column under each name, as pandas writes a frame as JSON."""
    columns = list(value.values())
    return (
        bool(columns)
        and all(isinstance(column, dict) and column for column in columns)
        and all(column.keys() == columns[0].keys() for column in columns)
        and all(type(cell) not in (dict, list) for cell in columns[0].values())
    )


def _of_columns(value: dict, where: str) -> ArrayEntry:
    """Columns by name, with the same labels in each; or rows by name, with the same columns."""
    outer, inner = list(value), list(next(iter(value.values())))
    if _are_rows(value, outer, inner):
        rows = [[row[name] for name in inner] for row in value.values()]
        said = "Each number is a row." if _from_zero(outer) else "Each name is a row."
        return _columns_table(inner, rows, where, said, _row_names(outer))
    cells = [[column[label] for column in value.values()] for label in inner]
    return _columns_table(outer, cells, where, "Each name is a column.", _row_names(inner))


def _are_rows(value: dict, outer: list[str], inner: list[str]) -> bool:
    """Whether the outer names are of rows: by which of them count, by ids, by words in them."""
    if _from_zero(outer) != _from_zero(inner):
        return _from_zero(outer)
    ids = [any(name.lower() in LABELLING for name in names) for names in (outer, inner)]
    mixed = any(len({type(v) is str for v in part.values()}) > 1 for part in value.values())
    return ids == [False, True] or mixed


def _row_names(names: list) -> tuple[str, ...]:
    """Names of rows; none where they only count."""
    found = tuple(map(str, names))
    return () if _from_zero(list(found)) else found


def _is_split(value: dict) -> bool:
    """Whether columns, index and data stand apart, as pandas splits a frame."""
    names, data = value.get("columns"), value.get("data")
    if not (isinstance(names, list) and isinstance(data, list) and names and data):
        return False
    return all(isinstance(row, list) and len(row) == len(names) for row in data)


def _of_split(value: dict, where: str) -> ArrayEntry:
    index = value.get("index")
    fits = isinstance(index, list) and len(index) == len(value["data"])
    labels = _row_names(index) if fits and isinstance(index, list) else ()
    return _columns_table(list(map(str, value["columns"])), value["data"], where, "", labels)


def _from_zero(names: list[str]) -> bool:
    return names == [str(k) for k in range(len(names))]


class _Typed(str):
    """A number that is refused when its cell is read, as it was typed."""

    __slots__ = ()


def _number(text: str) -> int | float | _Typed:
    value = float(text)
    if not abs(value) <= LIMIT or vanishes(text, value):
        return _Typed(text)
    return int(text) if text != "-0" and text.lstrip("-").isdigit() else value


def _members(value: dict, where: str) -> dict[str, ArrayEntry]:
    """Return the lists of rows in an object, bare or as ``{"values": …, "rows": labels}``."""
    tokens = _texts_of(value.get("tokens"))
    records = {
        name: inner if isinstance(inner, dict) else {"values": inner}
        for name, inner in value.items()
    }
    arrays = {
        name: r
        for name, r in records.items()
        if isinstance(r.get("values"), list)
        and r["values"][:1]
        and isinstance(r["values"][0], list)
    }
    over = [shown(name, 20) for name in records if name not in arrays and name != "tokens"]
    if not arrays:
        arrays, over = {name: {"values": found} for name, found in _deeper(value)}, []
    if not arrays:
        raise BadInput(f"{where} holds no array: expected an object of names and lists of rows.")
    if len(arrays) > MAX_ARRAYS:
        raise BadInput(f"{where} holds {len(arrays):,} arrays; at most {MAX_ARRAYS:,} are read.")
    remark = f"Skipped, as these are not lists of rows: {first_few(over, 6)}." if over else ""
    return {
        name: _nested(
            name,
            r["values"],
            where if name == ALONE else f"{where}, {shown(name)}",
            _texts_of(r.get("rows")) or tokens,
            remark,
        )
        for name, r in arrays.items()
    }


def _deeper(value: object, path: str = "") -> Iterator[tuple[str, list]]:
    """Yield lists of rows further inside, by their path; one in each record of a list as one array.

    >>> [name for name, _ in _deeper({"layers": [{"attn": [[1]]}, {"attn": [[2]]}], "n": 1})]
    ['layers.attn']
    >>> [name for name, _ in _deeper({"layer 0": {"q": [[1]], "k": [[2]]}})]
    ['layer 0.q', 'layer 0.k']
    """
    inner = value if isinstance(value, dict) else {}
    if isinstance(value, list) and _are_records(value):
        ways = [[name for name, one in record.items() if _has_rows(one)] for record in value]
        if len(ways[0]) == 1 and all(way == ways[0] for way in ways):
            (name,) = ways[0]
            yield f"{path}.{name}".lstrip("."), [record[name] for record in value]
            return
        inner = {f"[{place}]": record for place, record in enumerate(value)}
    for name, one in inner.items():
        joined = f"{path}{name}" if name.startswith("[") else f"{path}.{name}".lstrip(".")
        if _has_rows(one):
            yield joined, one
        else:
            yield from _deeper(one, joined)


def _has_rows(value: object) -> bool:
    return isinstance(value, list) and isinstance(value[:1] and value[0], list)


def _texts_of(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(type(word) is str for word in value):
        return tuple(value)
    return ()


def _is_vector(value: object) -> bool:
    return isinstance(value, list) and bool(value) and type(value[0]) not in (list, str, dict)


def _nested(
    name: str, value: list, where: str, rows: tuple[str, ...] = (), remark: str = ""
) -> ArrayEntry:
    """Return lists of lists as an array; reading it checks its cells and lets the lists go."""
    value, shape, first = _shaped(value, where)
    of_truth = isinstance(first, bool)
    held = [value]

    @cache
    def read() -> np.ndarray:
        values = np.fromiter(
            _cells(held[0], shape, where, of_truth), bool if of_truth else np.float64
        ).reshape(shape)
        held.clear()
        return values

    labels = rows if len(rows) == shape[-2] else ()
    return ArrayEntry(
        name, tuple(shape), "bool" if of_truth else "text", read, labels, remark=remark
    )


def _shaped(value: list, where: str) -> tuple[list, list[int], object]:
    """Return the lists, how long each level is, and the first cell; numbers alone are a row."""
    shape: list[int] = []
    level: object = value
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0] if level else None
    if len(shape) > MAX_RANK:
        size = sides(shape)
        raise BadInput(f"{where} has {len(shape)} axes of {size}; two to four axes are read.")
    if 0 in shape:
        words = ("block",) * (len(shape) - 2) + ("row",)
        place = ", ".join([where, *(f"{word} 1" for word in words[: len(shape) - 1])])
        raise BadInput(f"{place} is an empty list; expected numbers.")
    if len(shape) == 1:
        shape, value = [1, *shape], [value]
    size = sides(shape)
    if math.prod(shape) > MAX_ELEMENTS:
        raise BadInput(f"{where} is {size}; at most {MAX_ELEMENTS:,} numbers are read.")
    return value, shape, level


def _cells(level: list, shape: list[int], place: str, of_truth: bool) -> Iterator[float | bool]:
    """Every cell in order; a refusal names the block, row and column."""
    word = ("column", "row")[len(shape) - 1] if len(shape) < 3 else "block"
    for number, inner in enumerate(level, 1):
        here = f"{place}, {word} {number}"
        if len(shape) == 1:
            yield _number_in(inner, here, of_truth)
        elif isinstance(inner, list) and len(inner) == shape[1]:
            yield from _cells(inner, shape[1:], here, of_truth)
        else:
            held = f"“{short(str(inner), 24)}”"
            if isinstance(inner, list):
                held = f"{len(inner)} {plural(len(inner), 'entry', 'entries')}"
            raise BadInput(
                f"{here} holds {held}, not {shape[1]} as at first; every {word} needs the same."
            )


def _number_in(inner: object, here: str, of_truth: bool) -> float | bool:
    if isinstance(inner, bool) and of_truth:
        return inner
    if isinstance(inner, (list, dict, bool)) or of_truth:
        held = (
            "a list"
            if isinstance(inner, list)
            else "an object"
            if isinstance(inner, dict)
            else json.dumps(inner)
        )
        raise BadInput(
            f"{here} holds {short(held, 24)}; expected"
            f" {'true or false' if of_truth else 'a number'}."
        )
    return read_number("" if inner is None else str(inner), here, False)
