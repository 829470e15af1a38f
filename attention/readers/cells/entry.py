"""One array of a file or a text, before its numbers are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from attention.limits import BadInput

ALONE = "numbers"  # the name of an array that has none
PASTED = "the text"  # what sentences call numbers that were typed or pasted
REFUSED = "not read"  # instead of the type of numbers
Index = tuple[int | slice, ...]  # a part of an array, all axes from the first one on


@dataclass(frozen=True)
class Choice:
    """A question that a text leaves open, and the answer by which it was read."""

    key: str
    question: str
    options: Mapping[str, str]  # as they are shown, by key
    taken: str  # the key of one


@dataclass(frozen=True)
class ArrayEntry:
    """What is known of an array before its numbers are read, and functions that read them."""

    name: str
    shape: tuple[int, ...]
    dtype: str  # "float32", "bfloat16", …, or "text"
    read: Callable[[], np.ndarray]
    rows: tuple[str, ...] = ()  # labels, where it has any
    pick: Callable[[Sequence[int]], np.ndarray] | None = (
        None  # reads these rows alone, of a long list of word vectors
    )
    remark: str = ""  # what a person should know about how it was understood
    heads: int | None = None  # that share its columns, where the file says so
    part: Callable[[Index], np.ndarray] | None = None  # reads this part alone, of a large array
    in_powers: bool = False  # whether numbers were printed as 1.5e-03
    columns: tuple[str, ...] = ()  # words above them, where there are any
    choices: tuple[Choice, ...] = ()

    def of_part(self, index: Index) -> np.ndarray:
        """Return the numbers at this index, which is one of NumPy's."""
        return self.part(index) if self.part else self.read()[index]

    @classmethod
    def of(cls, name: str, values: np.ndarray, rows: tuple[str, ...] = ()) -> ArrayEntry:
        """Numbers that were read already, out of a text."""
        return cls(name, values.shape, "text", lambda: values, rows)


def refused(name: str, problem: BadInput) -> ArrayEntry:
    """Return an array that cannot be read beside others that can: reading it raises the problem."""

    def read() -> NoReturn:
        raise problem

    return ArrayEntry(name, (), REFUSED, read, remark=str(problem))


def shape_of(shape: Sequence[int], index: Index) -> tuple[int, ...]:
    """Return the shape of a part of an array, without the array.

    >>> shape_of((2, 64, 192), (0, slice(None), slice(0, 64)))
    (64, 64)
    """
    cut = [
        len(range(*part.indices(length)))
        for length, part in zip(shape, index, strict=False)
        if isinstance(part, slice)
    ]
    return (*cut, *shape[len(index) :])


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that was there before; None where all differ.

    >>> repeated(["a", "b", "c", "b", "a"])
    'b'
    """
    known: set[str] = set()
    for name in names:
        if name in known:
            return name
        known.add(name)
    return None


def shown(name: str, most: int = 40) -> str:
    """Return a file's or array's name for a sentence: one line, not too long, without folders.

    >>> shown("runs/a.npz"), shown("runs/weights/"), shown("")
    ('a.npz', 'weights', 'the file')
    """
    return short(name.replace("\\", "/").rstrip("/").rpartition("/")[2], most) or "the file"


def short(text: str, most: int) -> str:
    """Return any text for a sentence: one line, and the beginning and the end of a long one.

    >>> short("1\\t2\\n3", 24)
    '1 2 3'
    """
    text = re.sub(r"[\x00-\x1f\x7f]", "�", re.sub(r"[\t\n\v\f\r ]+", " ", text))
    return text if len(text) <= most else f"{text[: most // 2 - 1]}…{text[-most // 2 :]}"
