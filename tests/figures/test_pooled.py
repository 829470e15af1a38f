"""Stages with more rows or columns than are drawn, pooled cell by cell; and back to exact ones."""

import math

import messages
import numpy as np
import pytest
from attention.figures.pooled import drawn_shape, exact_cell, measure, pooled_view, spans

from attention import View, scaled_dot_product_attention, self_attention
from attention.figures.panes import panes
from attention.figures.shades import BROKEN, HIDDEN, LAST


def made(n_q, n_k, *, seen=None, seed=0, **rules):
    rng = np.random.default_rng(seed)
    Q, K, V = rng.standard_normal((n_q, 3)), rng.standard_normal((n_k, 3)), rng.random((n_k, 2))
    return View.of(scaled_dot_product_attention(Q, K, V, allowed=seen, **rules))


def looped(view, name, summed):
    """Each cell as plain loops have it: None where nothing of it is seen."""
    M = view.stages[name]
    hides = name in ("mask", "masked", "weights")
    tall, wide = (math.ceil(count / 512) for count in M.shape)
    found = []
    for top in range(0, M.shape[0], tall):
        row = []
        for left in range(0, M.shape[1], wide):
            places = [
                (i, j)
                for i in range(top, min(top + tall, M.shape[0]))
                for j in range(left, min(left + wide, M.shape[1]))
            ]
            shown = [M[place] for place in places if not hides or view.allowed[place]]
            if not shown:
                row.append(None)
            elif summed:
                row.append(math.fsum(shown) / len({i for i, _ in places}))
            else:
                row.append(math.fsum(shown) / len(shown))
        found.append(row)
    return found


@pytest.mark.parametrize(("n_q", "n_k"), [(1023, 513), (3, 1100), (1100, 3)])
def test_weights_are_summed_over_keys_and_all_else_is_the_mean_of_what_is_seen(n_q, n_k):
    seen = np.tri(n_q, n_k, max(n_k - n_q, 0), dtype=bool)
    view = made(n_q, n_k, seen=seen)
    drawn = pooled_view(view)
    for name, pooled in drawn.stages.items():
        assert pooled.shape == drawn_shape(view.stages[name].shape) and max(pooled.shape) <= 512
        wanted = looped(view, name, name == "weights")
        hidden = [[cell is None for cell in row] for row in wanted]
        if name in ("mask", "masked", "weights"):
            assert (~drawn.allowed).tolist() == hidden
        shown = ~np.array(hidden)
        known = np.array([[0.0 if cell is None else cell for cell in row] for row in wanted])
        np.testing.assert_allclose(pooled[shown], known[shown], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(drawn.stages["weights"].sum(axis=1), 1, rtol=1e-12)


def test_a_small_view_is_given_back_and_what_is_no_share_is_averaged():
    view = made(512, 512)
    assert pooled_view(view) is view
    view = made(600, 600, softmax="sigmoid")
    pooled = pooled_view(view).stages["weights"]
    wanted = looped(view, "weights", False)
    np.testing.assert_allclose(pooled, np.array(wanted), rtol=1e-12)
    assert measure(view, "weights") == messages.MEAN_OF_CELLS.format(sides="2 rows × 2 columns")


def test_a_pane_has_the_shades_of_its_cells_and_says_what_they_are():
    seen = np.tri(1024, dtype=bool)
    view = made(1024, 1024, seen=seen)
    view.stages["V"] = view.stages["V"].copy()
    view.stages["V"][6, 1] = np.nan
    found = {p["name"]: p for p in panes(view, cell=("weights", 1001, 7), in_colours=True)}
    weights = found["weights"]
    codes = np.frombuffer(weights["codes"], np.uint8).reshape(512, 512)
    assert weights["shape"] == "1024 × 1024"
    said = messages.SHARE_OF_KEYS.format(keys=2, queries=2)
    assert weights["sentence"].startswith(f"{said} ")
    for i, row in enumerate(looped(view, "weights", True)):
        for j, cell in enumerate(row):
            wanted = HIDDEN if cell is None else round(math.sqrt(cell) * LAST)
            assert abs(int(codes[i, j]) - wanted) <= (cell is not None and 1)
    i, j, said, exact = weights["chosen"]
    assert (i, j, float(exact)) == (500, 3, view.stages["weights"][1001, 7])
    assert said.startswith("1002 · 8 = ")
    frame = weights["figure"]["layout"]["shapes"][-1]
    assert (frame["x0"], frame["y0"]) == (2.5, 499.5)
    V = found["V"]
    said = messages.MEAN_OF_CELLS.format(sides="2 rows")
    assert V["sentence"].startswith(f"{said} ")
    broken = np.frombuffer(V["codes"], np.uint8).reshape(512, 2) == BROKEN
    assert np.argwhere(broken).tolist() == [[3, 1]]
    said = messages.MEAN_OF_WHAT_IS_SEEN.format(sides="2 rows × 2 columns")
    assert found["masked"]["sentence"].startswith(f"{said} ")


def test_what_is_0_but_for_rounding_is_written_as_0_beside_pooled_stages_and_in_them():
    X, memory = np.tile([[0.1, 0.2]], (600, 1)), np.tile([[0.1, 0.3]], (4, 1))
    trace = self_attention(X, np.eye(2), np.eye(2), [[3.0], [-1.0]], memory=memory)
    view = View.of(trace)
    assert (view.stages["V"] != 0).all() and (view.stages["output"] != 0).all()
    found = {p["name"]: p for p in panes(view, cell=("output", 7, 0), in_colours=True)}
    assert found["V"]["figure"]["data"][0]["text"] == [["0"]] * 4
    row, column, said, exact = found["output"]["chosen"]
    assert (row, column, said) == (3, 0, "8 · 1 = 0")
    assert float(exact) == view.stages["output"][7, 0]


def test_a_click_takes_the_number_furthest_from_0_of_those_seen():
    view = made(1030, 1030, seen=np.tri(1030, dtype=bool))
    for name in ("scores", "masked", "weights", "output"):
        M, rng = view.stages[name], np.random.default_rng(1)
        rows, columns = drawn_shape(M.shape)
        for row, column in zip(
            rng.integers(0, rows, 40), rng.integers(0, columns, 40), strict=True
        ):
            tall, wide = (math.ceil(count / 512) for count in M.shape)
            places = [
                (i, j)
                for i in range(row * tall, min((row + 1) * tall, len(M)))
                for j in range(column * wide, min((column + 1) * wide, M.shape[1]))
            ]
            shown = [
                (i, j) for i, j in places if name in ("scores", "output") or view.allowed[i, j]
            ]
            best = max(shown, key=lambda at, M=M: abs(M[at])) if shown else places[0]
            assert exact_cell(view, name, int(row), int(column)) == best


def test_ranges_are_called_by_their_words():
    words = tuple(f"w{k}" for k in range(1025))
    assert spans(words)[0] == "1–3: w0 … w2" and spans(words)[-1] == "1,024–1,025: w1023 … w1024"
    assert spans(words[:4]) == words[:4]
