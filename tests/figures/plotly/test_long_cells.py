"""The map of a long context: hidden cells, ticks and words against what is counted one by one."""

import messages
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.figures.panes.shades import HIDDEN, LAST
from attention.figures.plotly.long_cells import (
    along_pane,
    hidden_cells,
    long_map,
    panes_along,
    profile_pane,
    row_pane,
    ticks,
)
from attention.long import places
from attention.long.attention import Cells, long_attention

MASKS = [
    places.causal(),
    places.causal_lower_right(),
    places.window(5),
    places.prefix(4),
    places.real_tokens(9),
    places.causal() & places.real_tokens(20),
]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("window", [(0, 24, 0, 30), (3, 17, 5, 21), (23, 24, 0, 30)])
@pytest.mark.parametrize("cell", [(1, 1), (4, 3)])
def test_a_cell_is_hidden_where_none_of_its_queries_sees_any_of_its_keys(mask, window, cell):
    n_q, n_k = 24, 30
    mask = mask.fitted((1, n_q, n_k))
    top, bottom, left, right = window
    rows = np.array([*range(top, bottom, cell[0]), bottom])
    columns = np.array([*range(left, right, cell[1]), right])
    cells = Cells(np.zeros((len(rows) - 1, len(columns) - 1)), rows, columns)
    seen = [
        [bool(mask.seen(0, 0, np.array(q), np.array(k))) for k in range(n_k)] for q in range(n_q)
    ]
    wanted = [
        [
            not any(seen[q][k] for q in range(a, b) for k in range(c, d))
            for c, d in zip(columns, columns[1:], strict=False)
        ]
        for a, b in zip(rows, rows[1:], strict=False)
    ]
    np.testing.assert_array_equal(hidden_cells(cells, mask, n_k), wanted)
    np.testing.assert_array_equal(hidden_cells(cells, np.array(seen), n_k), wanted)


def test_without_a_mask_nothing_is_hidden():
    edges = np.arange(3)
    assert hidden_cells(Cells(np.zeros((2, 2)), edges, edges), None, 2) is None


@given(st.integers(0, 10**6), st.integers(1, 200_000), st.integers(1, 400))
def test_ticks_are_few_round_and_inside(begin, size, cell):
    edges = np.array([*range(begin, begin + size, cell), begin + size])
    found = ticks(edges)
    assert 1 <= len(found) <= 8 or size < 6
    for share, text in found:
        at = int(text.replace(",", ""))
        assert begin < at <= begin + size and 0 <= share <= 1
        assert str(at).rstrip("0") in ("", *map(str, range(10))) or size < 10 * at


def drawn(values, **more):
    rows, columns = (np.arange(side + 1) for side in np.shape(values))
    return long_map(Cells(np.array(values, "f4"), rows, columns), (9, 9), **more)


def test_colours_follow_the_root_of_the_share_of_the_largest_or_its_logarithm():
    hidden = np.array([[False, False, False, True]])
    values = [[0.0, 0.1, 0.4, 0.2]]
    assert list(drawn(values, hidden=hidden).shades) == [0, LAST // 2, LAST, HIDDEN]
    assert drawn(values).scale == [(0.0, "0"), (0.5, "0.10"), (1.0, "0.40")]
    log = drawn([[0.0, 4e-7, 4e-4, 0.4]], logarithmic=True)
    assert list(log.shades) == [0, 0, LAST // 2, LAST]
    assert log.scale[0] == (0.0, "≤4.0e−7") and log.scale[-1] == (1.0, "0.40")


def test_words_go_along_where_single_tokens_can_be_told_apart():
    words = [f"w{k}" for k in range(2000)]
    near = long_map(
        Cells(np.zeros((2, 2)), np.array([7, 8, 9]), np.array([0, 1, 2])),
        (2000, 2000),
        words=(words, words),
    )
    assert near.query_words == ("w7", "w8") and near.key_words == ("w0", "w1")
    far = np.arange(0, 2001, 4)
    whole = long_map(Cells(np.zeros((500, 500)), far, far), (2000, 2000), words=(words, words))
    assert whole.query_words is None and whole.key_words is None


def test_a_row_of_many_keys_keeps_its_largest_weights():
    weights = np.zeros(5000, np.float32)
    weights[[17, 4099]] = 0.25, 0.75
    pane = row_pane(weights, 100, 3, ((), ()))
    (line,) = pane.figure["data"]
    assert max(line["y"]) == 0.75 and line["y"].count(0.25) == 1 and len(line["y"]) <= 1024
    most = messages.KEY_WITH_MOST.format(key="4,200", most="0.7500", total=1)
    assert f"{most} {messages.POINT_IS_LARGEST.format(count=5)}" in pane.sentence


@pytest.mark.parametrize(("n", "dtick"), [(1, 1), (4, 1), (9, 1), (10, None), (300, None)])
def test_few_places_have_a_tick_each_and_no_number_twice(n, dtick):
    """Between whole numbers Plotly puts ticks too, and rounds what it writes at them."""
    panes = [
        along_pane("long_entropy", "Entropy", "", np.ones((1, n)), 0, "nats"),
        row_pane(np.ones(n), 0, 0, ((), ())),
    ]
    assert [pane.figure["layout"]["xaxis"].get("dtick") for pane in panes] == [dtick] * 2


def test_lines_along_the_queries_are_means_of_all_heads():
    Q, K = np.random.default_rng(0).standard_normal((2, 2, 1100, 4)).astype("f4")
    record = long_attention(Q, K, allowed=places.causal(), results=["entropy", "first", "profile"])
    entropy, first, profile = panes_along(record, 1)
    lines = {line["name"]: line for line in entropy.figure["data"]}
    assert set(lines) == {"head 0", "head 1"}
    assert [lines[name]["legendrank"] for name in sorted(lines)] == [0, 1]
    for head in range(2):
        for k, mean in enumerate(lines[f"head {head}"]["y"]):
            some = record.entropy[head, 3 * k : 3 * k + 3]
            assert mean == pytest.approx(float(some.mean()), rel=1e-6)
    assert first.symbol == "Weight on the first token" and messages.IN_THE_MEAN in first.sentence
    shown = profile.figure["data"][-1]
    at = record.distances.tolist().index(0)
    assert shown["y"][0] == pytest.approx(float(record.profile[1, at]), rel=1e-6)


def test_no_two_heads_have_one_line():
    Q, K = np.random.default_rng(0).standard_normal((2, 8, 30, 4))
    (pane,) = panes_along(long_attention(Q, K, results=["entropy"]), 3)
    lines = [line["line"] for line in pane.figure["data"]]
    assert len({(line["color"], line.get("dash", "solid")) for line in lines}) == 8


def test_a_profile_of_one_distance_is_one_point():
    pane = profile_pane(np.array([0]), np.array([[1.0]]), 0)
    assert pane.figure["data"][0]["y"] == [1.0]
