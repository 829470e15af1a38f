"""The steps between Q, K and the scores: norm and rotation, in the order of the layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from attention.arrays.conversion import shown
from attention.core.norms import RMSNorm
from attention.core.rotary import Rotary


def prepared(
    Q: np.ndarray,
    K: np.ndarray,
    norm: RMSNorm | None,
    rotary: Rotary | None,
    of_heads: bool = False,
) -> dict[str, Any]:
    """Return Q, K and what norm and rotation make of them; the scores are those of the last pair.

    ``of_heads``: the axis before the tokens counts the heads.

    >>> list(prepared(np.eye(2), np.eye(2), RMSNorm(after_rotary=True), Rotary()))
    ['Q', 'K', 'Q_rotated', 'K_rotated', 'Q_normed', 'K_normed']
    """
    check_parts(norm, rotary)
    stages = {"Q": Q, "K": K}
    for step in sorted(("normed", "rotated"), reverse=norm is not None and norm.after_rotary):
        if step == "normed" and norm is not None:
            Q, K = norm.of("Q", Q, of_heads), norm.of("K", K, of_heads)
        elif step == "rotated" and rotary is not None:
            Q, K = rotary.rotate(Q, rotary.offset), rotary.rotate(K)
        else:
            continue
        stages |= {f"Q_{step}": Q, f"K_{step}": K}
    return stages


def last(stages: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the queries and keys that the scores are computed from."""
    *_, Q, K = stages.values()
    return Q, K


def check_parts(norm: RMSNorm | None, rotary: Rotary | None) -> None:
    """Raise unless ``norm`` is an RMSNorm or None, and ``rotary`` a Rotary or None."""
    for name, given, kind in (("norm", norm, RMSNorm), ("rotary", rotary, Rotary)):
        if given is not None and not isinstance(given, kind):
            raise TypeError(f"{name} is {shown(given)}; expected attention.{kind.__name__}(…).")
