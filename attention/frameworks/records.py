"""How well-known attentions answer the same inputs, a record for each way of calling that differs.

Where two modes of one function differ (weights returned or not, a path the library chooses), each
is a record; modes that give the same answer are named in its ``when``. A mode that differs in
digits alone has no record. The fields are those of libraries/convention.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays.checks import (
    as_floats,
    as_mask,
    check_count,
    check_fits,
    check_positive,
    check_shapes,
    in_type,
)
from attention.arrays.conversion import as_numbers
from attention.core.scores import check_sinks
from attention.frameworks.given import grouped
from attention.frameworks.libraries.arrays import ARRAYS
from attention.frameworks.libraries.compiled import COMPILED
from attention.frameworks.libraries.convention import GROUPS, Answer, Convention, Handed, Parts
from attention.frameworks.libraries.hugging_face import HUGGING_FACE
from attention.frameworks.libraries.jax import JAX
from attention.frameworks.libraries.keras import KERAS
from attention.frameworks.libraries.onnx import ONNX
from attention.frameworks.libraries.openvino import OPENVINO
from attention.frameworks.libraries.ours import OURS
from attention.frameworks.libraries.over_torch import OVER_TORCH
from attention.frameworks.libraries.pytorch import PYTORCH

CONVENTIONS: dict[str, Convention] = (
    OURS | PYTORCH | OVER_TORCH | KERAS | JAX | ONNX | OPENVINO | HUGGING_FACE | ARRAYS | COMPILED
)
NO_SINGLE_HEAD = "It raises an error for one head of keys and several of queries."
NO_GROUPS = "It has no argument for fewer heads of keys and values."


def answer(
    name: str,
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    window: int | None = None,
    sinks: ArrayLike | None = None,
    bias: ArrayLike | None = None,
) -> Answer:
    """Return what the library ``name`` of :data:`CONVENTIONS` answers.

    Parameters
    ----------
    name : str
        A key of :data:`CONVENTIONS`.
    Q, K, V : array_like, (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v)
        In our layout. As in our own attention, integers become float64 and half precision float32.
        K and V may have fewer heads, where the library takes them so.
    mask : array_like of bool, broadcastable to (…, n_q, n_k)
        Its axes are read as those of ``allowed`` in our own attention. Handed over as it is: where
        True means hide, it hides. Where there is no boolean mask, the library's own helper turns
        it into numbers to add.
    causal : bool
        The library's own switch, or the mask its documentation tells the caller to make, in its
        own polarity. With a mask as well, a key hidden by either is hidden, unless the library
        leaves one of the two out: the field ``beside`` of its record says it.
    scale : float
        In the place of the library's default.
    softcap, window, sinks, bias :
        As in :func:`attention.scaled_dot_product_attention`; the window as in
        :func:`attention.window`.

    Returns
    -------
    Answer
        Weights and output, or a sentence saying why the library cannot be handed these inputs.
        Where it has no argument for a part, the answer leaves the part out.

    Raises
    ------
    ValueError, TypeError
        One sentence, where the name is not in the table or the arrays fit no attention at all.

    >>> answer("torch_mha", [[1.0]], [[1.0], [1.0]], [[10.0], [20.0]], mask=[[True, False]]).output
    array([[20.]])
    """
    convention = named(name)
    parts = {"scale": scale, "softcap": softcap, "window": window, "sinks": sinks, "bias": bias}
    return answered(convention, Q, K, V, mask=mask, causal=causal, **parts)


def answered(
    convention: Convention, Q: ArrayLike, K: ArrayLike, V: ArrayLike, **rest: Any
) -> Answer:
    """Return what a record answers; the arguments are those of :func:`answer`."""
    given = handed(convention, Q, K, V, **rest)
    return given if isinstance(given, Answer) else convention.answer(given)


def handed(
    convention: Convention,
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    causal: bool = False,
    **parts: Any,
) -> Handed | Answer:
    """Check the arguments of :func:`answer`, and return them as a record takes them; or a refusal,
    where the library takes no fewer heads of keys.
    """
    Q, K, V = as_floats(Q=Q, K=K, V=V)
    fewer = Q.ndim > 2 < K.ndim and K.shape[-3] < Q.shape[-3]
    if fewer and not convention.shares_one and K.shape[-3] == 1:
        return Answer(refused=NO_SINGLE_HEAD)
    if grouped(Q, K):
        if GROUPS not in convention.takes:
            return Answer(refused=NO_GROUPS)
        K, V = (convention.heads_of(M, Q.shape[-3]) for M in (K, V))
    check_shapes(Q, K, V)
    given = Handed(Q, K, V)
    return Handed(
        Q,
        K,
        V,
        checked_mask(mask, given.shape),
        causal,
        checked_parts(given.shape, Q.dtype, **parts),
        fewer,
    )


def named(name: str) -> Convention:
    """Return the record of this name; where there is none, one sentence names the known ones."""
    if name not in CONVENTIONS:
        raise ValueError(f"{name!r} is not in the table; the names are {', '.join(CONVENTIONS)}.")
    return CONVENTIONS[name]


def checked_mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the mask as booleans of the scores' shape."""
    if mask is None:
        return None
    mask = as_mask("mask", mask)
    if mask.dtype != bool:
        raise TypeError(
            f"mask holds {mask.dtype}; expected booleans (write `mask == 1` or `mask == 0`)."
        )
    check_fits("mask", mask, shape)
    return np.broadcast_to(mask, shape)


def checked_parts(
    shape: tuple[int, ...],
    dtype: np.dtype,
    scale: float | None = None,
    softcap: float | None = None,
    window: int | None = None,
    sinks: ArrayLike | None = None,
    bias: ArrayLike | None = None,
) -> Parts:
    """Return the parts for scores of this shape, or one sentence."""
    added = None
    if bias is not None:
        added = in_type(as_numbers("bias", bias), dtype)
        check_fits("bias", added, shape)
    return Parts(
        None if scale is None else _checked_scale(scale),
        None if softcap is None else check_positive("softcap", softcap),
        None if window is None else check_count("window", window),
        None if sinks is None else check_sinks(sinks, shape, dtype),
        added,
    )


def _checked_scale(scale: float) -> float:
    """Return a scale of at least 0: whether 0 is one depends on the library."""
    return 0.0 if scale == 0 else check_positive("scale", scale)
