"""What the board is sent of a pane: its bits, a byte for what each cell is, words once."""

import json
import math
from dataclasses import FrozenInstanceError

import board_bytes
import messages
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention.figures.panes.board import to_board
from attention.figures.panes.pane import CellKind, Pane
from attention.figures.panes.shades import BLANK, BROKEN, HIDDEN, LAST, MOST_NUMBERED, ROOTS
from attention.vocabulary.numbers import rounded


def made(values, **more) -> Pane:
    rows, columns = (tuple(map(str, range(side))) for side in values.shape)
    return Pane(name="X", values=values, rows=rows, columns=columns, **{"limits": (-1, 1)} | more)


def received(pane: Pane) -> dict:
    """The pane as a browser reads it."""
    words, drawn, raw = to_board(pane)
    head = json.dumps({"panes": [words | drawn]}, allow_nan=False).encode()
    return board_bytes.panes_of(head + b"\0" + raw)[pane.name]


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4))))
def test_every_number_arrives_bit_for_bit(values):
    found = received(made(values))["values"]
    assert found.tobytes() == values.astype("<f8").tobytes()


@pytest.mark.parametrize(
    "lay", [np.asfortranarray, lambda M: M[::-1], lambda M: M.T, lambda M: M.astype("f4")]
)
def test_the_layout_in_memory_does_not_matter(lay):
    values = lay(np.arange(6.0).reshape(2, 3))
    assert received(made(values))["values"].tolist() == values.tolist()


def test_a_byte_says_what_each_cell_is():
    values = np.array([[1.0, -math.inf, math.nan], [-1.0, 0.0, 7.0]])
    hidden = np.array([[False, True, False], [False, True, True]])
    pane = made(values, hidden=hidden, blanks={(1, 0): "?", (1, 2): "…"})
    found = received(pane)
    assert found["codes"].tolist() == [[LAST, HIDDEN, BROKEN], [BLANK, HIDDEN, LAST / 2]]
    kinds = [
        [CellKind.SHOWN, CellKind.HIDDEN, CellKind.BROKEN],
        [CellKind.BLANK, CellKind.HIDDEN, CellKind.WAITS],
    ]
    assert pane.kinds.tolist() == kinds
    assert found["texts"] == [["1", "−∞", "NaN"], ["?", "0", "…"]]
    # what is hidden keeps its number, what is blank has none
    np.testing.assert_array_equal(
        found["values"], [[1, -math.inf, math.nan], [math.nan, 0, math.nan]]
    )
    assert values[1].tolist() == [-1, 0, 7]  # the trace's own stays


@pytest.mark.parametrize(("edit", "blanks"), [("blanks", [[0, 1]]), ("", None)])
def test_blanks_are_named_where_they_can_be_filled_in(edit, blanks):
    pane = made(np.ones((1, 3)), edit=edit, blanks={(0, 1): "?", (0, 2): "…"})
    assert received(pane).get("blanks") == blanks


@pytest.mark.parametrize("limits", [(0, 1), (-2, 2)])
def test_a_large_pane_has_shades_alone_and_the_number_of_its_chosen_cell(limits):
    values = np.random.default_rng(3).random((91, 91))
    assert values.size > MOST_NUMBERED
    marks = ("query", 3, None), ("cell", 4, 5)
    pane = made(values, limits=limits, in_colours=True, marks=marks, sentence="Whole.")
    found = received(pane)
    assert found["large"] and "values" not in found and found["texts"] is None
    place = np.sqrt(values) if limits == (0, 1) else (values + 2) / 4
    assert np.abs(found["codes"] - place * LAST).max() <= 0.5
    assert found["ticks"] == (list(ROOTS) if limits == (0, 1) else None)
    said = messages.COLOURS_BY_ROOT if limits == (0, 1) else ""
    assert found["sentence"] == f"Whole. {said}".strip()
    assert found["chosen"] == [4, 5, rounded(values, 2)[4][5], repr(float(values[4, 5]))]


def test_shares_of_a_small_pane_have_the_shades_of_themselves():
    found = received(made(np.array([[0, 0.25, 1]]), limits=(0, 1)))
    assert found["codes"].tolist() == [[0, LAST / 4, LAST]] and found["role"] == "share"


def test_a_pane_stays_as_it_was_made():
    pane = made(np.ones((1, 1)))
    with pytest.raises(FrozenInstanceError):
        pane.sentence = "Another."


def test_every_pane_has_a_name_for_its_pictures():
    assert received(made(np.ones((1, 1))))["filename"] == "attention_X"
    assert received(made(np.ones((1, 1)), filename="mine"))["filename"] == "mine"


def test_what_is_drawn_is_apart_from_the_words_around_it():
    """A digest of what is drawn says whether it is painted again."""
    words, drawn, raw = to_board(made(np.ones((1, 1)), symbol="X", sentence="One.", digits=1))
    other = to_board(made(np.ones((1, 1)), symbol="X", sentence="Two.", edit="cells"))
    assert not words.keys() & drawn.keys()
    assert (other.drawn, other.raw) == (drawn, raw) and other.words != words
    assert to_board(made(np.ones((1, 1)), symbol="X", marks=(("query", 0, None),))).drawn != drawn
