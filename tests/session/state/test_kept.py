"""States that a browser keeps: what goes there comes back whole, and nothing else is taken for
it.
"""

import base64
import json
import zlib
from dataclasses import replace

import messages
import numpy as np
import pytest

from attention.limits import MAX_STATE, BadInput
from attention.session.state import kept, links
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.settings import Settings, TooManyTokens
from attention.session.state.validate import check

RNG = np.random.default_rng(0)
BASE = EXAMPLES["four-words"].build()
TYPED = {
    "X": Matrix(RNG.standard_normal((4, 80))),
    "W_Q": Matrix(RNG.standard_normal((80, 60))),
    "W_K": Matrix.rolled((80, 60), Recipe("xavier", 3)),
    "W_V": Matrix(RNG.standard_normal((80, 4)) * 1e-300),
}
LARGE = check(replace(BASE, matrices=TYPED))
STATES = {
    "typed and rolled": LARGE,
    "matrices in another order": replace(LARGE, matrices=dict(reversed(TYPED.items()))),
    "a whole number as scale": replace(LARGE, scale=2),
    "rolled within whole numbers, then edited": LARGE.with_matrix(
        "W_K", Matrix.rolled((80, 60), Recipe("uniform", 1, -1, 1)).edited((0, 0), 0.5)
    ),
    "negative zero": LARGE.with_matrix("X", Matrix(TYPED["X"].values * 0 * -1)),
    "words with quotes and dots": replace(LARGE, tokens=('"', "…", "a b", "字")),
}


def mark(settings: Settings) -> str:
    return links.address(settings)[0]["partial"]


def file(settings: Settings) -> str:
    """The state as the browser puts it together from what it was given."""
    link, matrices = kept.pack(settings)
    texts = {f"@{digest}": links.write_matrix(matrix) for digest, matrix in matrices.items()}
    whole = {name: texts.get(text, text) for name, text in link.items()}
    return json.dumps({"attention": "stage by stage", "link": whole})


@pytest.mark.parametrize("name", STATES)
def test_what_the_browser_keeps_comes_back_under_the_same_mark(name):
    assert kept.restored(file(STATES[name]), mark(STATES[name])) == STATES[name]


def test_a_move_names_the_same_matrices_again():
    before, after = kept.pack(LARGE), kept.pack(replace(LARGE, digits=5, mask="causal"))
    assert before[1].keys() == after[1].keys() and len(before[1]) == 3
    assert {k: after[0][k] for k in before[0]} == before[0]
    assert after[0].keys() - before[0].keys() == {"digits", "mask"}
    assert before[0]["W_K"] == "xavier,3,80x60"


def test_matrices_that_differ_anywhere_are_told_apart():
    W = TYPED["W_Q"]
    others = [
        W,
        W.edited((0, 0), 1.0),
        Matrix(W.values.reshape(60, 80)),
        Matrix(W.values, Recipe("normal")),
    ]
    digests = {kept.pack(LARGE.with_matrix("W_Q", M))[0]["W_Q"] for M in others}
    assert len(digests) == len(others)


def bomb() -> str:
    packed = base64.urlsafe_b64encode(zlib.compress(bytes(10**8), 9)).decode().rstrip("=")
    return json.dumps({"attention": "stage by stage", "link": {"X": f"*4x4*{packed}"}})


FORGED = {
    "nothing": None,
    "bytes": b"{}",
    "a number": 1,
    "no JSON": "{",
    "no link": "{}",
    "lone surrogates": file(LARGE) + "\ud800",
    "another state": file(replace(LARGE, digits=9)),
    "a state that fits into a link": file(BASE),
    "a mark in its place": json.dumps({"link": {"example": "four-words", "partial": "0" * 24}}),
    "an unknown parameter": file(LARGE).replace('"link": {', '"link": {"more": "1", '),
    "too long": file(LARGE) + " " * MAX_STATE,
    "deep": '{"link":' * 100_000,
    "a bomb": bomb(),
}


@pytest.mark.parametrize("name", FORGED)
def test_anything_else_is_refused_with_one_sentence(name):
    with pytest.raises(BadInput) as refused:
        kept.restored(FORGED[name], mark(LARGE))
    assert str(refused.value) == messages.KEPT_DAMAGED


def test_a_state_of_too_many_tokens_is_told_by_its_mark_as_well():
    words = tuple(f"w{k}" for k in range(600))
    s = replace(LARGE, tokens=words).with_matrix("X", Matrix(RNG.standard_normal((600, 80))))
    with pytest.raises(TooManyTokens) as found:
        kept.restored(file(s), mark(s))
    assert found.value.settings == s
    with pytest.raises(BadInput) as refused:
        kept.restored(file(s), mark(LARGE))
    assert str(refused.value) == messages.KEPT_DAMAGED
