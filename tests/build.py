"""What tests of several folders build alike: arrays, settings, views, and arrays out of a text."""

import numpy as np
import pytest

from attention.explain.view import View
from attention.limits import BadInput
from attention.readers.texts.texts import entries
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.session.state.validate import check


def draw(shape, seed=0, dtype=float) -> np.ndarray:
    """Normal numbers of this seed."""
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def four_words() -> Settings:
    return EXAMPLES["four-words"].build()


def view_of(settings: Settings) -> View:
    """The stages that a board shows of these settings."""
    checked = check(settings)
    return view(checked, run(checked))


def read(text: str) -> dict[str, list]:
    """The arrays of a pasted text, by name."""
    return {name: entry.read().tolist() for name, entry in entries(text, "it").items()}


def refused(text: str) -> str:
    """The sentence by which a pasted text is refused."""
    with pytest.raises(BadInput) as problem:
        for entry in entries(text, "it").values():
            entry.read()
    return str(problem.value)
