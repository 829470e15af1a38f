"""What Check yours is given: the inputs of both sides, and the numbers of the other code."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attention.deviations import Bench, Deviation, less  # noqa: F401 (less: for the page)
from attention.diagnosis import Diagnosis, checked, search
from attention.inputs.matrices import BadInput, read_matrices, read_matrix, write_matrix
from attention.inputs.settings import Settings, allowed
from attention.inputs.system import labels
from attention.masks import MASKS
from attention.numbers import number
from attention.stages import STAGES

MOST_SCORES = 8 * 128 * 128  # heads × queries × keys, so that all pairs are tried within two seconds
PASTED = "pasted"


class Source(NamedTuple):
    """Where the inputs of both sides come from, and the matrices a person pastes for it."""

    label: str
    names: tuple[str, ...]


SOURCES = {
    "explore": Source("as on Explore", ()),
    "qkv": Source("Q, K and V", ("Q", "K", "V")),
    "weights": Source("X and the weights", ("X", "W_Q", "W_K", "W_V")),
}


class Polarity(NamedTuple):
    label: str
    allowed: Callable[[np.ndarray], np.ndarray]


POLARITIES = {
    "may look": Polarity("may look", lambda mask: mask == 1),
    "hide": Polarity("hide", lambda mask: mask == 0),
}


def from_settings(s: Settings) -> dict:
    """Explore's inputs as :func:`attention.diagnose` takes them: the item of the batch that is looked at."""
    if not s.softmax:
        raise BadInput("softmax is off on Explore; switch it on there to compare with other attention.")
    item = s.item if s.batch else ...
    given = {name: m.values if name.startswith("W_") else m.values[item] for name, m in s.matrices.items()}
    seen = allowed(s)
    return given | {"heads": s.heads, "scale": s.scale, "allowed": None if seen.all() else seen}


def pasted(source: str, texts: dict[str, str], *, mask: str, true_means: str, **numbers) -> dict:
    """Inputs typed or pasted: a text for each matrix, and one for the mask where it is ``PASTED``."""
    given = {name: read_matrix(texts.get(name, ""), name) for name in SOURCES[source].names}
    first, second = (given["X"],) * 2 if "X" in given else (given["Q"], given["K"])
    seen = _mask(texts.get("mask", ""), true_means) if mask == PASTED else MASKS[mask](len(first), len(second))
    return given | {"allowed": None if mask == "none" else seen} | numbers


def _mask(text: str, true_means: str) -> np.ndarray:
    mask = read_matrix(text.replace("True", "1").replace("False", "0"), "mask")
    odd = np.argwhere((mask != 0) & (mask != 1))
    if len(odd):
        row, column = odd[0]
        found = number(mask[row, column])
        raise BadInput(
            f"mask, row {row + 1}, column {column + 1} holds {found}; 0 and 1, or True and False, are allowed."
        )
    return POLARITIES[true_means].allowed(mask)


def bench_of(given: dict) -> Bench:
    """The attention of these inputs, right and deviating; or a sentence about what does not fit."""
    try:
        bench = Bench(checked(**given))
    except (ValueError, TypeError) as problem:
        raise BadInput(str(problem)) from None
    scores = bench.right["scores"]
    if scores.size > MOST_SCORES:
        shape = " × ".join(map(str, scores.shape))
        raise BadInput(
            f"{shape} scores are {scores.size:,}; at most {MOST_SCORES:,} are searched here, and any number by"
            " attention.diagnose in Python."
        )
    return bench


def shapes(bench: Bench) -> dict[str, str]:
    """What the other code's numbers look like, in words."""
    return {
        name: " or ".join(" × ".join(map(str, view.shape)) for view in bench.views(name, bench.right[name]))
        for name in ("output", "weights")
    }


def explain(bench: Bench, texts: dict[str, str]) -> Diagnosis:
    """Read the other code's output, weights or both, and look for what explains them."""
    answers = {name: read_matrices(text, f"your {name}", finite=False) for name, text in texts.items() if text.strip()}
    try:
        return search(bench, **answers)
    except (ValueError, TypeError) as problem:
        raise BadInput(f"your {problem}") from None


def planted(bench: Bench, deviation: Deviation | None, name: str) -> str:
    """What a code with this deviation would answer, to the last digit; None: a right one."""
    values = bench.run((deviation,) if deviation else ())[name]
    blocks = values.reshape(-1, *values.shape[-2:])
    return "\n\n".join(write_matrix(block) for block in blocks)


def axis(stage: str, side: str, size: int, s: Settings | None) -> tuple[str, ...]:
    """Labels for the rows or columns of a stage: Explore's where they are as many, else 1, 2, …."""
    word = getattr(STAGES["scaled" if stage == "capped" else stage], side)
    found = labels(s).get(word, ()) if s else ()
    return found if len(found) == size else tuple(str(k) for k in range(1, size + 1))
