"""What a printed text holds: its arrays, and how they belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from attention.frameworks.precision import Written
from attention.frameworks.printed.relations import Found, Printed, Relation, Use, relations
from attention.readers.cells.entry import ALONE, PASTED, REFUSED, ArrayEntry
from attention.readers.cells.printouts import sides
from attention.readers.texts import texts
from attention.vocabulary.labels import role_of


@dataclass(frozen=True)
class PrintedArray:
    """One array of a text."""

    name: str  # the label, as it is written
    values: np.ndarray | None  # None where it cannot be read
    rows: tuple[str, ...]  # labels of the rows, where there are any
    use: Use
    problem: str = ""  # why it cannot be read

    @property
    def shape(self) -> tuple[int, ...]:
        """The sides of the array; () where it cannot be read."""
        return () if self.values is None else self.values.shape

    @property
    def role(self) -> str | None:
        """The input or stage that it is proposed as; None: it is not used."""
        return self.use.role


@dataclass(frozen=True)
class PrintedText:
    """All arrays of a text, in order, and how they belong together."""

    arrays: tuple[PrintedArray, ...]
    relations: tuple[Relation, ...]
    remarks: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the numbers of the array with this label."""
        found = next((array for array in self.arrays if array.name == name), None)
        if found is None or found.values is None:
            raise KeyError(name)
        return found.values

    def __str__(self) -> str:
        lines = [
            f"{array.name}: {array.problem or sides(array.shape)}"
            + (f", {array.role}" if array.role else "")
            for array in self.arrays
        ]
        return "\n".join([*lines, *map(str, self.relations), *self.remarks])


def read_printed(text: str) -> PrintedText:
    """Find the arrays in any text, and how they belong together.

    Each pair of brackets that holds numbers alone is an array, what stands before it its label; a
    text without brackets is a table. Code is read, never run. Relations are those that hold to the
    printed digits.

    Raises
    ------
    BadInput
        If the text holds no array that can be read; it is a ValueError.
    TypeError
        If it is no string.

    >>> found = read_printed("scores:\\n[[1. 2.]\\n [3. 1.]]\\nw = [[0.27, 0.73], [0.88, 0.12]]")
    >>> [(array.name, array.role) for array in found.arrays]
    [('scores', 'scores'), ('w', 'weights')]
    >>> print(found.relations[0])
    “w” = softmax(scores)
    """
    if not isinstance(text, str):
        raise TypeError(f"text is {type(text).__name__}; expected a string.")
    arrays = texts.entries(text, PASTED)
    found = related(arrays)
    shown = tuple(
        PrintedArray(
            name,
            None if entry.dtype == REFUSED else entry.read(),
            entry.rows,
            use,
            entry.remark if entry.dtype == REFUSED else "",
        )
        for (name, entry), use in zip(arrays.items(), found.uses, strict=True)
    )
    return PrintedText(shown, found.relations, found.remarks)


def related(arrays: Mapping[str, ArrayEntry]) -> Found:
    """Find how the arrays of a text belong together.

    One that cannot be read is not used; one that was printed before is used as that one, unless
    its name says another input or stage.
    """
    names, firsts, printed = list(arrays), dict[bytes, int](), list[Printed]()
    places: list[int | None] = []  # of each array among those that differ
    for name, entry in arrays.items():
        if entry.dtype == REFUSED:
            places.append(None)
            continue
        values = entry.read()
        mark = repr(values.shape).encode() + values.dtype.str.encode() + values.tobytes()
        if mark not in firsts:
            firsts[mark] = len(printed)
            printed.append(_as_printed(name, entry, values))
        places.append(firsts[mark])
    found = relations(printed)
    back = [places.index(k) for k in range(len(printed))]  # places among all arrays
    uses = []
    for index, place in enumerate(places):
        use = Use(index) if place is None else replace(found.uses[place], index=index)
        if place is not None and back[place] != index:
            own = None if names[index].startswith(ALONE) else role_of(names[index])
            told = f"The same numbers as {names[back[place]]}."
            by = "copy" if own in (None, use.role) else "name"  # Q and K of equal weights
            use = replace(use, role=own if by == "name" else use.role, by=by, remark=told)
        uses.append(use)
    return Found(tuple(uses), tuple(_moved(r, back) for r in found.relations), found.remarks)


def _as_printed(name: str, entry: ArrayEntry, values: np.ndarray) -> Printed:
    unit = unit_of(values, entry.in_powers)
    return Printed(name, values, unit, not name.startswith(ALONE))


def _moved(relation: Relation, back: list[int]) -> Relation:
    """Return the relation, with the places of its arrays among all."""
    mask = relation.mask_index
    return replace(
        relation,
        result=back[relation.result],
        operands=tuple(back[k] for k in relation.operands),
        mask_index=None if mask is None else back[mask],
    )


def rounded(values: np.ndarray, in_powers: bool = False) -> Written | None:
    """Return how numbers were rounded when they were printed; None where all are whole.

    As printed, all have the same decimals, or ``in_powers`` of ten the same digits.

    >>> str(rounded(np.array([0.5, 0.25]))), rounded(np.array([2.0, 3.0]))
    ('2 decimals', None)
    """
    finite = values[np.isfinite(values)].ravel().tolist() if values.dtype != bool else []
    if all(value == int(value) for value in finite):
        return None
    if in_powers:
        return Written(digits=max(map(_digits, finite)))
    return Written(max(map(_decimals, finite)))


def unit_of(values: np.ndarray, in_powers: bool = False) -> np.ndarray | float:
    """One unit in the last printed place of each number; 0 for whole numbers.

    >>> unit_of(np.array([0.5, 0.25])), unit_of(np.array([2.0, 3.0]))
    (0.01, 0.0)
    >>> unit_of(np.array([0.96087, 1.938e-04]), in_powers=True)
    array([1.e-05, 1.e-08])
    """
    how = rounded(values, in_powers)
    if how is None:
        return 0.0
    if how.digits is None:
        return 10.0 ** -(how.decimals or 0)
    size = np.abs(np.where(np.isfinite(values) & (values != 0), values, 1.0))
    return 10.0 ** (np.floor(np.log10(size)) - (how.digits - 1))


def _decimals(value: float) -> int:
    mantissa, _, power = repr(float(value)).partition("e")
    return max(len(mantissa.partition(".")[2].rstrip("0")) - int(power or 0), 0)


def _digits(value: float) -> int:
    """How many digits a number has from its first one on that is not 0."""
    return max(len(repr(float(value)).partition("e")[0].replace(".", "").strip("-0")), 1)
