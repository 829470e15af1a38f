"""The largest settings that are allowed: their widths fit together, and they open again."""

import json
from dataclasses import replace

import numpy as np
import pytest

from attention.limits import MAX_ELEMENTS, MAX_STATE, MAX_TOKEN_LENGTH
from attention.session import changes, kept, links
from attention.session.examples import EXAMPLES
from attention.session.matrix import Matrix, Recipe
from attention.session.settings import DRAWN, Settings, as_drawn
from attention.session.validate import check

RNG = np.random.default_rng(11)


def four_words() -> Settings:
    return EXAMPLES["four-words"].build()


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def rolled(name: str, *shape: int) -> Matrix:
    """Drawn, and one number of it typed: it says its recipe and carries its numbers."""
    return Matrix.rolled(shape, Recipe("normal", 1, stream=name)).edited((0, 0), 0.1)


def largest(tokens: int, kind: str) -> Settings:
    """As many numbers as fit: widths of 512, W_O, a second sequence, tokens as long as allowed."""
    words = tuple(f"{k:,}".rjust(MAX_TOKEN_LENGTH, ":") for k in range(tokens))
    shapes = dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (512, 512))
    shapes |= {"X": (tokens, 512), "memory": (tokens, 512)}
    if kind == "Q, K, V typed":
        shapes = {"Q": (tokens, 512), "K": (tokens, 512), "V": (tokens, 512), "W_O": (512, 512)}
    matrices = {name: Matrix(normal(*shape)) for name, shape in shapes.items()}
    if kind == "rolled":
        matrices = {name: rolled(name, *shape) for name, shape in shapes.items()}
    seen = as_drawn(normal(tokens, tokens) > 0)
    other = {"matrices": matrices, "mask": DRAWN, "drawn": seen, "cell": None}
    return check(replace(four_words(), tokens=words, memory_tokens=words[::-1], **other))


@pytest.mark.parametrize(
    ("tokens", "kind"), [(64, "typed"), (512, "rolled"), (512, "Q, K, V typed")]
)
def test_the_largest_states_open_again_from_a_file_and_from_the_browser(tokens, kind):
    s = largest(tokens, kind)
    content = links.to_file(s)
    assert len(content) < MAX_STATE
    assert links.from_file(content) == s
    link, matrices = kept.pack(s)
    texts_of = {f"@{digest}": links.write_matrix(M) for digest, M in matrices.items()}
    held = {name: texts_of.get(text, text) for name, text in link.items()}
    # what the browser joins together, as its store does
    text = json.dumps({"attention": "stage by stage", "link": held}, separators=(",", ":"))
    address, whole = links.address(s)
    assert not whole and kept.restored(text, address["partial"]) == s
    assert sum(map(len, texts_of.values())) < MAX_STATE


def test_a_batch_that_grew_beyond_what_a_file_holds_opens_again():
    s = four_words()
    s = check(changes.set_tokens(s, tuple(f"w{k}" for k in range(40)), [None] * 40))
    s = check(s.with_matrix("X", Matrix(normal(64, 40, 4))))
    s = check(changes.set_dimension(s, "d_model", 512))
    assert s.matrices["X"].values.size > MAX_ELEMENTS
    assert links.from_file(links.to_file(s)) == s
