"""The largest settings that are allowed: their widths fit together, and they open again."""

import json
from dataclasses import replace

import messages
import numpy as np
import pytest
from build import four_words

from attention.limits import MAX_ELEMENTS, MAX_STATE, MAX_TOKEN_LENGTH, BadInput
from attention.session.compare import pair
from attention.session.edit import changes
from attention.session.state import kept, links
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.settings import DRAWN, Settings, as_drawn
from attention.session.state.validate import check

RNG = np.random.default_rng(11)


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
    assert not links.too_large(s) and not links.too_large(s, kept=True)
    assert links.from_file(content) == s
    address, whole = links.address(s)
    assert not whole and kept.restored(joined(s), address["partial"]) == s


@pytest.mark.parametrize("is_kept", [False, True])
def test_no_number_is_written_to_see_that_a_state_fits(monkeypatch, is_kept):
    typed = {name: Matrix(normal(64, 64)) for name in ("W_Q", "W_K", "W_V")}
    s = check(replace(four_words(), matrices=typed | {"X": Matrix(normal(4, 64))}, cell=None))
    monkeypatch.setattr(links, "exact", lambda value: pytest.fail("a number is written"))
    assert links.too_large(s, kept=is_kept) == ""


@pytest.mark.parametrize("shape", [(1, 1), (64, 64), (64, 65), (3, 30, 30), (1, 4096)])
def test_no_matrix_takes_more_characters_than_were_counted(shape):
    longest = Matrix(np.full(shape, -1.2345678901234567e-300) * (1 + RNG.random(shape) / 8))
    ends = {"low": -1.2345678901234567e-100, "high": 1.2345678901234567e-100}
    recipe = Recipe("uniform", 4294967295, stream="memory", **ends)
    for matrix in (longest, Matrix(longest.values, recipe)):
        written = links.write_matrix(matrix, None, True)
        assert len(written) <= links._most_written(matrix)
        assert written.count(",") <= 4 and ":" not in written and "[" not in written


def joined(s: Settings) -> str:
    """What the browser joins together of what it was told to keep, as its store does."""
    link, matrices = kept.pack(s)
    texts_of = {f"@{digest}": links.write_matrix(M) for digest, M in matrices.items()}
    held = {name: texts_of.get(text, text) for name, text in link.items()}
    held = {"attention": "stage by stage", "link": held}
    return json.dumps(held, ensure_ascii=False, separators=(",", ":"))


def compared(one: Settings) -> Settings:
    """With another state pinned, all numbers of which are others."""
    other = {name: Matrix(M.values / 2, M.recipe) for name, M in one.matrices.items()}
    return check(pair.compared(pair.Pair(replace(one, matrices=other), one)))


def test_a_comparison_of_two_large_states_is_refused_before_it_is_written():
    both = compared(largest(512, "Q, K, V typed"))
    problem = messages.STATE_TOO_LARGE.format(size="21 MB", limit="18 MB")
    too_large = f"{problem} {messages.SAVED_ONE_BY_ONE}"
    assert links.too_large(both) == too_large == links.too_large(both, kept=True)
    with pytest.raises(BadInput) as refused:
        links.to_file(both)
    assert str(refused.value) == problem
    for alone in (both.pinned, pair.alone(both)):
        assert links.from_file(links.to_file(alone)) == alone


def middling(kind: str) -> Settings:
    """Some matrices that are written as text, and some that are packed."""
    shapes = {"X": (4, 80), "W_Q": (80, 80), "W_K": (80, 80), "W_V": (80, 70)}
    made = rolled if kind == "rolled" else lambda name, *shape: Matrix(normal(*shape))
    words = ("字", "a:b", "[", ",")
    matrices = {name: made(name, *shape) for name, shape in shapes.items()}
    return check(replace(four_words(), tokens=words, matrices=matrices, cell=None))


@pytest.mark.parametrize("kind", ["typed", "rolled"])
@pytest.mark.parametrize("wanted", [links._kept, links._state_file])
def test_the_largest_state_written_is_read_and_one_beyond_is_refused(monkeypatch, kind, wanted):
    """Limits just at and below what a small comparison takes, in place of those it cannot reach."""
    both, is_kept = compared(middling(kind)), wanted is links._kept
    content = joined(both).encode() if is_kept else links.to_file(both)
    for name, count in (
        ("MAX_STATE", len(content)),
        ("MAX_STATE_COLONS", content.count(b":")),
        ("MAX_STATE_COMMAS", content.count(b",")),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(links, name, count)
            patch.setattr(links, "_most_written", lambda matrix: MAX_STATE)
            assert not links.too_large(both, kept=is_kept)
            if is_kept:
                assert kept.restored(content.decode(), links.address(both)[0]["partial"]) == both
            else:
                assert links.from_file(links.to_file(both)) == both
            patch.setattr(links, name, count - 1)
            assert links.too_large(both, kept=is_kept)
            with pytest.raises(BadInput):
                links.from_file(content) if is_kept else links.to_file(both)


def test_a_batch_that_grew_beyond_what_a_file_holds_opens_again():
    s = four_words()
    s = check(changes.set_tokens(s, tuple(f"w{k}" for k in range(40)), [None] * 40))
    s = check(s.with_matrix("X", Matrix(normal(64, 40, 4))))
    s = check(changes.set_dimension(s, "d_model", 512))
    assert s.matrices["X"].values.size > MAX_ELEMENTS
    assert links.from_file(links.to_file(s)) == s
