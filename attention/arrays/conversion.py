"""The arrays of engineers as NumPy's: lists, tensors of torch and JAX, pandas tables.

None of these libraries is imported: each is known by the methods that it has.
"""

from __future__ import annotations

import numbers
import reprlib
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

NUMBERS = {bool, int, float}
CELLS = {*NUMBERS, complex, str, bytes, type(None), np.ndarray, np.float32, np.float64}
MOST_AXES = 64  # of an array of NumPy
REAL = numbers.Real, np.bool_, Decimal
KINDS = {"U": "text", "S": "text", "T": "text", "M": "dates", "m": "time spans"}


def as_array(name: str, value: Any) -> np.ndarray:
    """Convert ``value`` to an array in its own type, sharing the caller's memory where NumPy can.

    1. A masked array with hidden cells is refused: the conversion would lose them.
    2. A tensor is copied from its device and detached from its gradient's graph.
    3. NumPy reads it; a pandas table of nullable types once more, with NaN for missing values.
    4. Objects that are all real numbers become numbers, as they would in a list.

    In lists, however deep, each tensor, table and masked array is converted by the same rules.

    >>> as_array("Q", [[1, 2]])
    array([[1, 2]])
    >>> as_array("Q", np.array([[1.5, 2**70, True]], object))
    array([[1.50000000e+00, 1.18059162e+21, 1.00000000e+00]])
    """
    if type(value) is np.ndarray:
        return _of_objects(name, value)
    _refuse_masked(name, value)
    with np.errstate(all="ignore"):  # a row is added up
        given = _plain(name, value)
    try:
        array = np.asarray(_fetched(given))
        if array.dtype == object and _is_table(value):
            array = _from_pandas(value)
    except Exception as error:
        if isinstance(value, (list, tuple)) and "inhomogeneous" in str(error):
            raise ValueError(
                f"{name} has rows of different lengths; every row needs the same."
            ) from None
        said = str(error).partition("\n")[0][:150]
        raise TypeError(
            f"{name} is a {type(value).__name__} that NumPy cannot read ({said})."
        ) from None
    array = _of_objects(name, array)
    return locked(array) if isinstance(value, (list, tuple)) else array


def as_numbers(name: str, value: Any, wanted: str = "expected real numbers") -> np.ndarray:
    """Convert to a type that NumPy computes with: booleans, integers, or floats from float32 on.

    float16, bfloat16 and the narrower floats become float32, so that no score overflows.

    >>> as_numbers("Q", np.ones((1, 1), "f2")).dtype.name
    'float32'
    """
    array = as_array(name, value)
    if array.dtype.kind in "biu" or (array.dtype.kind == "f" and array.dtype.itemsize > 2):
        return array
    of = array.dtype.name
    if of.startswith(("float", "bfloat")) and array.dtype.itemsize <= 2:
        array = locked(array.astype(np.float32))
    elif array.dtype.kind == "V" and of.startswith(("int", "uint")):  # of the package ml_dtypes
        array = locked(array.astype(np.int64))
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} {held(array)}; {wanted}.")
    return array


def held(array: np.ndarray) -> str:
    """Describe what an array holds, for an error message.

    >>> held(np.array([[1, None]])), held(np.array(["a"])), held(np.array([1j]))
    ('holds objects such as None', 'holds text', 'holds complex128')
    """
    if array.dtype.kind != "O":
        return f"holds {KINDS.get(array.dtype.kind, array.dtype)}"
    first = next(iter(array.flat), None)
    odd = next((cell for cell in array.flat if not isinstance(cell, REAL)), first)
    return f"holds objects such as {shown(odd)}" if array.ndim else f"is {shown(odd)}"


def shown(value: Any) -> str:
    """Return a value's repr, shortened, or the shape of an array.

    >>> shown("sqrt"), shown(np.ones((2, 3)))
    ("'sqrt'", 'an array of shape (2, 3)')
    """
    if getattr(value, "ndim", 0):
        return f"an array of shape {tuple(value.shape)}"
    return " ".join(reprlib.repr(value).split())


@dataclass(frozen=True, eq=False)
class _Sealed:
    """Memory of this package's own, which NumPy gets to read alone: no flag opens it again."""

    array: np.ndarray

    @property
    def __array_interface__(self) -> dict[str, Any]:
        told = self.array.__array_interface__
        return told | {"data": (told["data"][0], True)}


def locked(array: np.ndarray) -> np.ndarray:
    """Make an array, created here, permanently read-only: its flag cannot be set back.

    >>> locked(np.ones((1, 1))).flags.writeable = True
    Traceback (most recent call last):
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    array.flags.writeable = False
    told = array.dtype.isbuiltin == 1 and array.dtype.kind in "biuf"  # all of it, to NumPy
    return np.asarray(_Sealed(array)) if told else array


def kept(array: np.ndarray) -> np.ndarray:
    """Return the array itself if nobody can write to it, else a read-only copy.

    A caller's own array, made read-only, is copied too: its owner can make it writeable again.

    >>> Q = np.ones((1, 1))
    >>> Q.flags.writeable = False
    >>> ours = kept(Q)
    >>> np.shares_memory(ours, Q), kept(ours) is ours
    (False, True)
    """
    owner: object = array
    while isinstance(owner, np.ndarray) and not owner.flags.writeable:
        owner = owner.base
    return array if isinstance(owner, (bytes, _Sealed)) else locked(array.copy())


def _refuse_masked(name: str, value: Any) -> None:
    if isinstance(value, np.ma.MaskedArray) and (hidden := int(np.ma.getmaskarray(value).sum())):
        raise TypeError(
            f"{name} is a masked array with {hidden} hidden {'cell' if hidden == 1 else 'cells'};"
            f" give {name}.filled(…), and say by allowed= which keys a query may look at."
        )


def _plain(name: str, value: Any, above: tuple[int, ...] = ()) -> Any:
    """Replace tensors, tables and masked arrays inside nested lists by arrays.

    NumPy would refuse them, or lose a part. ``above`` are the ids of the lists around ``value``.
    """
    if not isinstance(value, (list, tuple)) or _is_of_numbers(value):
        return value
    if set(map(type, value)) <= CELLS:
        return value
    if id(value) in above or len(above) >= MOST_AXES:
        found = "holds itself" if id(value) in above else f"is more than {MOST_AXES} lists deep"
        raise TypeError(f"{name} {found}; expected an array or a list of rows.")
    inside = (*above, id(value))
    return [
        as_array(name, each) if _is_foreign(each) else _plain(name, each, inside) for each in value
    ]


def _is_of_numbers(row: Any) -> bool:
    """Return whether a row holds only Python's numbers.

    Its first cell and its sum show it: with a tensor or a masked cell, the sum is one too. This
    takes a quarter of the time that NumPy takes to read the row; to check the type of each cell
    takes as long as NumPy does.
    """
    try:
        return type(row[0]) in NUMBERS and type(sum(row)) in NUMBERS
    except Exception:  # of whatever type's addition
        return False


def _is_foreign(value: Any) -> bool:
    """Return whether NumPy would refuse the value inside a list, or lose a part of it."""
    return isinstance(value, np.ma.MaskedArray) or hasattr(value, "detach") or _is_table(value)


def _is_table(value: Any) -> bool:
    """Return whether the value is a pandas object."""
    return hasattr(value, "to_numpy") and hasattr(value, "isna")


def _of_objects(name: str, array: np.ndarray) -> np.ndarray:
    """Convert objects that are all real numbers as NumPy does in a list; return others unchanged.

    Booleans next to numbers count as 1 and 0, as in a list. Whole numbers too large for NumPy's
    become float64.
    """
    if array.dtype != object or not all(isinstance(cell, REAL) for cell in array.flat):
        return array
    found = np.array(array.tolist()).reshape(array.shape)
    try:
        return locked(found.astype(np.float64) if found.dtype == object else found)
    except OverflowError:
        raise ValueError(
            f"{name} holds a number beyond ±1.8e308; expected numbers that fit into float64."
        ) from None


def _fetched(value: Any) -> Any:
    """Convert a torch tensor on any device to a NumPy array; return others unchanged."""
    if not hasattr(value, "detach"):
        return value
    try:
        return value.numpy(force=True)  # detached, on the CPU
    except TypeError:  # a float type that NumPy does not have
        if not value.is_floating_point():
            raise
        return value.float().numpy(force=True)


def _from_pandas(table: Any) -> np.ndarray:
    """Convert columns of nullable or of several types to their common type."""
    types = list(table.dtypes) if table.ndim == 2 else [table.dtype]
    kinds = {getattr(each, "kind", "O") for each in types}
    whole = not table.isna().to_numpy().any()
    if kinds == {"b"} and whole:
        return np.asarray(table.to_numpy(dtype=bool))
    if kinds == {"b"} or not kinds <= set("biuf"):
        return np.asarray(table)
    common = np.result_type(*(getattr(each, "numpy_dtype", each) for each in types))
    common = common if common.kind == "f" else np.dtype(np.float64)
    return np.asarray(table.to_numpy(dtype=common, na_value=np.nan))
