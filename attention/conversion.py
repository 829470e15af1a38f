"""What engineers hand over, as NumPy's arrays: lists, tensors of torch and JAX, pandas tables.

None of these libraries is imported: each is known by the methods that it has.
"""

from __future__ import annotations

import numbers
import reprlib
from typing import Any

import numpy as np

KINDS = {"U": "text", "S": "text", "T": "text", "M": "dates", "m": "time spans"}


def as_array(name: str, value: Any) -> np.ndarray:
    """``value`` as an array, in the type it has; the caller's own memory where NumPy can share it.

    1. What would lose something is refused: a masked array with hidden cells.
    2. A tensor is fetched from its device and its gradient's graph.
    3. NumPy reads it; a pandas table of nullable types once more, with NaN for what is missing.

    >>> as_array("Q", [[1, 2]])
    array([[1, 2]])
    """
    if type(value) is np.ndarray:
        return value
    _refuse_masked(name, value)
    if isinstance(value, (list, tuple)):
        value = [as_array(name, row) if _is_foreign(row) else row for row in value]
    try:
        array = np.asarray(_fetched(value))
        if array.dtype == object and hasattr(value, "to_numpy") and hasattr(value, "isna"):
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
    return locked(array) if isinstance(value, (list, tuple)) else array


def as_numbers(name: str, value: Any, wanted: str = "real numbers are wanted") -> np.ndarray:
    """The array in a type that NumPy computes with: booleans, integers, or floats from float32 on.

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
    """What an array holds, for a sentence that refuses it.

    >>> held(np.array([[1, None]])), held(np.array(["a"])), held(np.array([1j]))
    ('holds objects such as None', 'holds text', 'holds complex128')
    """
    if array.dtype.kind != "O":
        return f"holds {KINDS.get(array.dtype.kind, array.dtype)}"
    first = next(iter(array.flat), None)
    odd = next((cell for cell in array.flat if not isinstance(cell, numbers.Real)), first)
    return f"holds objects such as {shown(odd)}" if array.ndim else f"is {shown(odd)}"


def shown(value: Any) -> str:
    """A value as it is written in Python, or its shape where that would be long.

    >>> shown("sqrt"), shown(np.ones((2, 3)))
    ("'sqrt'", 'an array of shape (2, 3)')
    """
    if getattr(value, "ndim", 0):
        return f"an array of shape {tuple(value.shape)}"
    return " ".join(reprlib.repr(value).split())


def locked(array: np.ndarray) -> np.ndarray:
    """The array itself, made here, from now on read-only."""
    array.flags.writeable = False
    return array


def kept(array: np.ndarray) -> np.ndarray:
    """The numbers as they are now: the array itself where nobody may write to it, else a copy.

    >>> Q = np.ones((1, 1))
    >>> kept(Q) is Q, kept(locked(Q)) is Q
    (False, True)
    """
    owner: object = array
    while isinstance(owner, np.ndarray) and not owner.flags.writeable:
        owner = owner.base
    return array if owner is None or isinstance(owner, bytes) else locked(array.copy())


def _refuse_masked(name: str, value: Any) -> None:
    if isinstance(value, np.ma.MaskedArray) and (hidden := int(np.ma.getmaskarray(value).sum())):
        raise TypeError(
            f"{name} is a masked array with {hidden} hidden cell{'s' * (hidden > 1)}; give {name}"
            f".filled(…), and say by allowed= which keys a query may look at."
        )


def _is_foreign(value: Any) -> bool:
    """Whether NumPy would refuse it, or lose something, inside a list."""
    return isinstance(value, np.ma.MaskedArray) or hasattr(value, "detach")


def _fetched(value: Any) -> Any:
    """A tensor of torch as an array of NumPy, from any device; all else as it is."""
    if not hasattr(value, "detach"):
        return value
    try:
        return value.numpy(force=True)  # detached, on the CPU
    except TypeError:  # a float type that NumPy does not have
        if not value.is_floating_point():
            raise
        return value.float().numpy(force=True)


def _from_pandas(table: Any) -> np.ndarray:
    """Columns of nullable or of several types, in the type they have in common."""
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
