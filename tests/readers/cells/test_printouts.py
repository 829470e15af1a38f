"""What a person types, pastes or rolls: read to the bit, or refused with the place and the
reason.
"""

import math
import time

import messages
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.limits import LIMIT, BadInput
from attention.readers.cells.printouts import read_matrix, read_number, write_matrix
from attention.samples.weights import INITIALISERS, drawn
from attention.session.state.matrix import Matrix, Recipe, orient

finite = st.floats(-LIMIT, LIMIT)


def matrices(cells=finite, most=5):
    sides = st.tuples(st.integers(1, most), st.integers(1, most))
    return sides.flatmap(
        lambda side: st.lists(
            st.lists(cells, min_size=side[1], max_size=side[1]), min_size=side[0], max_size=side[0]
        )
    )


# ---- reading and writing ------------------------------------------------------------------------


@given(matrices())
def test_what_is_written_reads_back_bit_for_bit(rows):
    values = np.array(rows)
    assert read_matrix(write_matrix(values), "X").tobytes() == values.tobytes()


def test_the_largest_matrix_of_the_longest_numbers_reads_back():
    values = np.nextafter(np.full((256, 256), -1.2345678901234567e-205), 0)
    assert read_matrix(write_matrix(values), "W_O").tobytes() == values.tobytes()


SAME = np.array([[1, -2.5], [0.003, 4]])


@pytest.mark.parametrize(
    "text",
    [
        "1 -2.5\n.003 4",
        "1, -2.5\n0.003, 4.",
        "1\t-2.5\r\n3e-3\t4",
        "[[1, -2.5], [0.003, 4]]",
        "[[1. -2.5]\n [3.e-3 4.0]]",
        "array([[1, -2.5],\n       [0.003, 4]])".removeprefix("array"),
        "1,-2.5;+3E-3,4e+0",
        "  1   \u22122.5 \n\n 0.003  4 \n",
        "1 ,-2.5 ; 0.003 ,4 ;",
        "{{1, -2.5}, {0.003, 4}}".replace("}, {", "}\n{"),
        "[1,-2.5],[0.003,4]",
        "[1,-2.5] , [0.003,4]",
    ],
)
def test_the_usual_ways_to_write_a_matrix_mean_the_same(text):
    assert read_matrix(text, "X").tolist() == SAME.tolist()


REFUSED = [
    ("", "X is empty; type one row of numbers on each line."),
    (" [ ] \n , ", "X is empty; type one row of numbers on each line."),
    ("1 2\n3", messages.RAGGED_ROWS.format(place="X", row=2, found=1, plural="", expected=2)),
    ("1\n2 3", messages.RAGGED_ROWS.format(place="X", row=2, found=2, plural="s", expected=1)),
    ("1 a", messages.NOT_A_NUMBER.format(place="X, row 1, column 2", found="a")),
    ("1 2\n3 nan", messages.NOT_A_NUMBER.format(place="X, row 2, column 2", found="nan")),
    ("inf", messages.NOT_A_NUMBER.format(place="X, row 1, column 1", found="inf")),
    ("1_000", messages.NOT_A_NUMBER.format(place="X, row 1, column 1", found="1_000")),
    ("0x10", messages.NOT_A_NUMBER.format(place="X, row 1, column 1", found="0x10")),
    ("٣", messages.NOT_A_NUMBER.format(place="X, row 1, column 1", found="٣")),
    ("1,,2", messages.EMPTY_CELL.format(place="X, row 1, column 2")),
    ("1e308", messages.NUMBER_TOO_LARGE.format(place="X, row 1, column 1", found="1e308")),
    ("-1e9999", messages.NUMBER_TOO_LARGE.format(place="X, row 1, column 1", found="-1e9999")),
    (
        "1" * 30 + "x",
        messages.NOT_A_NUMBER.format(place="X, row 1, column 1", found="1" * 23 + "…"),
    ),
    ("1 " * 4097, "X is 1 × 4097; at most 4096 × 4096 fits."),
    ("1\n" * 4097, "X is 4097 × 1; at most 4096 × 4096 fits."),
    (" " * 8_388_609, "X: 8,388,609 characters are too many; at most 8,388,608 are read."),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_a_refusal_names_the_place_and_what_stands_there(text, message):
    with pytest.raises(BadInput) as refused:
        read_matrix(text, "X")
    assert str(refused.value) == message


@given(st.text(max_size=60))
def test_any_text_is_a_matrix_of_finite_numbers_or_one_sentence(text):
    try:
        values = read_matrix(text, "X")
    except BadInput as refused:
        assert len(str(refused)) < 200
    else:
        assert values.ndim == 2
        assert np.isfinite(values).all()


@pytest.mark.parametrize(
    "text",
    ["]" + " " * 200_000 + "x", "1" * 60_000 + "x", "1" + " " * 200_000 + "x", "] " * 100_000],
)
def test_long_nonsense_is_refused_in_a_moment(text):
    start = time.process_time()
    with pytest.raises(BadInput):
        read_matrix(text, "X")
    assert (
        time.process_time() - start < 20
    )  # minutes, where a pattern goes back over what it has read


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), (" -0.5 ", -0.5), ("−2", -2), ("1e12", 1e12), (7, 7), ("-0", 0)]
)
def test_a_number_is_read(text, value):
    assert read_number(text, "it") == value


def test_minus_zero_keeps_its_sign():
    assert math.copysign(1, read_number("-0", "it")) == -1


# ---- which way round ----------------------------------------------------------------------------


def test_a_typed_matrix_is_read_the_way_that_fits():
    M = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(orient(M, 2, "W_Q")[0], M)
    assert np.array_equal(orient(M, 3, "W_Q")[0], [[0, 3], [1, 4], [2, 5]])
    assert orient(M, 2, "W_Q")[1] == messages.READ_AS_D_IN_D_OUT.format(
        name="W_Q", rows=2, columns=3, note=""
    )
    assert orient(M, 3, "W_Q")[1] == messages.READ_AS_D_OUT_D_IN.format(
        name="W_Q", rows=2, columns=3
    )


def test_where_both_ways_fit_a_matrix_stays_as_it_is():
    M = np.array([[1.0, 2], [3, 4]])
    values, sentence = orient(M, 2, "W_K")
    assert values.tolist() == [[1, 2], [3, 4]]
    assert sentence.endswith(messages.BOTH_WAYS_FIT)


def test_a_matrix_that_fits_neither_way_is_refused():
    with pytest.raises(BadInput) as refused:
        orient(np.ones((2, 3)), 4, "W_Q")
    assert str(refused.value) == messages.SIDE_DOES_NOT_FIT.format(
        name="W_Q", rows=2, columns=3, width=4
    )


# ---- matrices and recipes -----------------------------------------------------------------------


def test_values_are_a_read_only_copy():
    source = np.ones((2, 2))
    matrix = Matrix(source)
    source[0, 0] = 5
    assert matrix.values[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        matrix.values[0, 0] = 2


def test_matrices_are_equal_bit_for_bit_and_recipe_for_recipe():
    one = Matrix([[0.0]])
    assert one == Matrix([[0.0]])
    assert one != Matrix([[-0.0]])
    assert one != Matrix([0.0])
    assert one != Matrix([[0.0]], Recipe("identity"))
    assert one != 0


@pytest.mark.parametrize("kind", INITIALISERS)
def test_a_rolled_matrix_is_what_its_recipe_gives(kind):
    matrix = Matrix.rolled((3, 4), Recipe(kind, 5, -1, 2))
    assert matrix.is_rolled
    assert matrix == Matrix.rolled((3, 4), Recipe(kind, 5, -1, 2))
    assert not matrix.edited((0, 1), 9.5).is_rolled
    assert matrix.edited((0, 1), 9.5).values[0, 1] == 9.5


def test_an_edit_touches_one_cell_and_turns_minus_zero_into_an_edit():
    matrix = Matrix.rolled((2, 2), Recipe("identity"))
    edited = matrix.edited((0, 1), -0.0)
    assert not edited.is_rolled
    assert (edited.values == matrix.values).all()
    assert matrix.is_rolled


def test_a_batch_is_never_rolled():
    assert not Matrix(np.ones((2, 3, 3)), Recipe("identity")).is_rolled


@given(
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from([None, *INITIALISERS]),
)
def test_resizing_keeps_the_overlap_and_fills_from_the_recipe_or_with_zeros(
    n, m, rows, columns, kind
):
    old = Matrix(np.arange(1.0, n * m + 1).reshape(n, m), kind and Recipe(kind, 3))
    new = old.resized(rows, columns, "W_K")
    filling = np.zeros((rows, columns)) if kind is None else drawn(kind, (rows, columns), 3, "W_K")
    for i in range(rows):
        for j in range(columns):
            assert new.values[i, j] == (old.values[i, j] if i < n and j < m else filling[i, j])
    assert new.recipe == old.recipe


def test_cells_that_grow_repeat_none_that_are_there():
    old = Matrix.rolled((4, 4), Recipe("normal", 0))
    for new in (
        old.resized(4, 6, "X"),
        old.resized(6, 4, "X"),
        old.resized(4, 5, "X").resized(4, 6, "X"),
    ):
        assert len(set(new.values.ravel().tolist())) == 24


def test_resizing_a_batch_resizes_every_item():
    old = Matrix(np.arange(8.0).reshape(2, 2, 2), remark="as read")
    new = old.resized(1, 3, "X")
    assert new.values.tolist() == [[[0, 1, 0]], [[4, 5, 0]]]
    assert new.remark == "as read"


RECIPES = [
    (
        ("gauss",),
        (messages.UNKNOWN_INITIALISER.format(name="'gauss'", known=", ".join(INITIALISERS))),
    ),
    (("normal", -1), messages.SEED_OUT_OF_RANGE.format(seed="-1")),
    (("normal", 2**32), messages.SEED_OUT_OF_RANGE.format(seed=4294967296)),
    (("uniform", 0, 2, 2), "the range 2 … 2 is empty; the first number must be smaller."),
    (("integers", 0, 0.2, 0.8), "the range 0.2 … 0.8 is empty; the first number must be smaller."),
    (("uniform", 0, -1e13, 0), "the range -1e+13 … 0 is out of bounds; ±1e+12 is allowed."),
    (("uniform", 0, math.nan, 1), "the range nan … 1 is out of bounds; ±1e+12 is allowed."),
]


@pytest.mark.parametrize(("arguments", "message"), RECIPES)
def test_a_recipe_that_cannot_be_followed_is_refused(arguments, message):
    with pytest.raises(BadInput) as refused:
        Recipe(*arguments)
    assert str(refused.value) == message


def test_recipes_without_a_range_are_equal_whatever_range_stood_beside_them():
    assert Recipe("normal", 1, -5, 5) == Recipe("normal", 1)
    assert Recipe("uniform", 1, -5, 5) != Recipe("uniform", 1)


@pytest.mark.parametrize("ends", [(-1e12, 1e12), (0, 1e-300), (-1, -0.5)])
@pytest.mark.parametrize("kind", ["uniform", "integers"])
def test_every_range_a_recipe_accepts_can_be_drawn(kind, ends):
    try:
        recipe = Recipe(kind, 0, *ends)
    except BadInput:
        assert kind == "integers"
    else:
        values = recipe.fill((3, 3))
        assert ((ends[0] <= values) & (values <= ends[1])).all()


def test_nan_and_infinity_are_numbers_only_where_asked():
    assert np.array_equal(
        read_matrix("nan inf -inf 1", "x", finite=False),
        [[np.nan, np.inf, -np.inf, 1]],
        equal_nan=True,
    )
    with pytest.raises(BadInput, match="^x, row 1, column 1 holds “nan”"):
        read_matrix("nan", "x")
