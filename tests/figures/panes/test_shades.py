"""Large matrices in colours: each byte is the nearest shade, and the chosen cell has its number."""

import math
from dataclasses import replace

import numpy as np
import pytest

from attention import View, self_attention
from attention.figures.panes.board import to_board
from attention.figures.panes.panes import panes, side_by_side
from attention.figures.panes.shades import BROKEN, HIDDEN, LAST, MOST_NUMBERED, shades
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.session.state.validate import check

LIMITS = {  # 252 / 2e-310 is no number
    "shares": (0, 1),
    "signs": (-3.5, 3.5),
    "tiny": (-1e-310, 1e-310),
    "huge": (-1e60, 1e60),
}


def nearest(value: float, limits: tuple[float, float]) -> set[int]:
    """The shades that are nearest to a number, one by one; two where it lies between them."""
    low, high = limits
    value = math.sqrt(max(value, 0)) if limits == (0, 1) else value
    far = [abs(value - (low + (high - low) * code / LAST)) for code in range(LAST + 1)]
    return {code for code, gap in enumerate(far) if gap <= min(far) + (high - low) * 1e-9}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_each_byte_is_the_shade_nearest_to_its_number_or_says_what_it_is(limits):
    low, high = limits
    values = np.random.default_rng(2).uniform(low - 0.1 * high, 1.1 * high, (20, 30))
    values[0, :6] = low, high, (low + high) / 2, math.inf, -math.inf, math.nan
    hidden = np.zeros(values.shape, bool)
    hidden[1, 3:9] = hidden[0, 3] = True
    codes = shades(values, limits, hidden)
    assert len(codes) == values.size
    for code, value, covered in zip(codes, values.ravel(), hidden.ravel(), strict=True):
        if covered:
            assert code == HIDDEN
        else:
            assert code == BROKEN if not math.isfinite(value) else code in nearest(value, limits)


def rolled(tokens: int, width: int, **more) -> Settings:
    shapes = {"X": (tokens, width), **dict.fromkeys(("W_Q", "W_K", "W_V"), (width, width))}
    matrices = {
        name: Matrix.rolled(shape, Recipe("normal", 3, stream=name))
        for name, shape in shapes.items()
    }
    words = tuple(f"w{k}" for k in range(tokens))
    base = replace(EXAMPLES["four-words"].build(), tokens=words, matrices=matrices)
    return check(replace(base, mask="causal", **more))


def test_stages_of_more_cells_than_get_numbers_have_shades_and_the_others_stay():
    s = rolled(128, MOST_NUMBERED // 128)
    now = view(s, run(s))
    found = {pane.name: pane for pane in panes(now, in_colours=True)}
    whole = {pane.name: pane for pane in panes(now)}
    large = {name for name, matrix in now.stages.items() if matrix.size > MOST_NUMBERED}
    assert large == {"scores", "scaled", "mask", "masked", "weights"}
    for name, pane in found.items():
        assert pane.is_large is (name in large) and not whole[name].is_large
        assert (pane.texts is None) is (name in large) and whole[name].texts
        assert replace(pane, in_colours=False).alt == whole[name].alt == pane.alt


@pytest.mark.parametrize("most", [5e-324, 1.7e308])
def test_the_ends_of_float64_have_the_shades_of_the_ends(most):
    assert list(shades(np.array([[-most, 0, most]]), (-most, most))) == [0, LAST / 2, LAST]


def test_the_chosen_cell_of_a_large_stage_has_its_number_and_no_other_pane_has_one():
    s = rolled(100, 4)
    now = view(s, run(s))
    found = {
        pane.name: to_board(pane).words
        for pane in panes(now, cell=("scores", 7, 5), digits=3, in_colours=True)
    }
    value = now.stages["scores"][7, 5]
    row, column, shown, exact = found.pop("scores")["chosen"]
    assert (row, column, float(exact)) == (7, 5, value)
    assert shown == f"{value:.3f}".replace("-", "\u2212")
    assert not any(words.get("chosen") for words in found.values())


def test_a_chosen_number_that_is_0_but_for_rounding_is_written_as_0():
    X, memory = np.tile([[0.1, 0.2]], (300, 1)), np.tile([[0.1, 0.3]], (4, 1))
    W_V = np.tile([[3.0], [-1.0]], (1, 40))
    now = View.of(self_attention(X, np.eye(2), np.eye(2), W_V, memory=memory))
    assert now.stages["output"][7, 5] != 0
    found = {pane.name: pane for pane in panes(now, cell=("output", 7, 5), in_colours=True)}
    row, column, shown, exact = to_board(found["output"]).words["chosen"]
    assert (row, column, shown, float(exact)) == (7, 5, "0", now.stages["output"][7, 5])


def test_what_stands_beside_an_added_mask_is_in_colours_as_well():
    s = rolled(100, 4)
    weights, output = side_by_side(view(s, run(s)), in_colours=True)
    assert (weights.name, output.name) == ("weights_inf", "output_inf")
    assert len(to_board(weights).raw) == 10_000  # a byte each
    assert len(to_board(output).raw) == 9 * output.values.size
