"""Two states beside each other: every difference against plain loops over the formula."""

import math
from dataclasses import replace

import messages
import numpy as np
import pytest
from session.test_parts import with_parts

from attention import RMSNorm, Rotary
from attention.explain.beside import largest_change, stages, strongest_changed
from attention.figures.panes.comparison import apart
from attention.html.pairs import winners
from attention.limits import BadInput
from attention.session.bring.finished import alone
from attention.session.compare.pair import (
    BY_NAME,
    PRESETS,
    Pair,
    also_changed,
    begun_with,
    differing,
    look_for,
    views,
)
from attention.session.edit.changes import (
    set_dimension,
    set_heads,
    set_mask,
    set_memory,
    set_sentence,
    set_tokens,
)
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.state.settings import allowed
from attention.session.state.validate import check

FIRST = EXAMPLES["cat-sat"].build()
FOUR = EXAMPLES["four-words"].build()


def weights_by_loops(s, scale, seen, after=False):
    """The weights of the settings' one head; what is not seen is hidden before, or set to 0."""
    m = {name: s.matrices[name].values.tolist() for name in ("X", "W_Q", "W_K")}

    def product(A, B):
        return [
            [sum(a * b for a, b in zip(row, col, strict=True)) for col in zip(*B, strict=True)]
            for row in A
        ]

    Q, K = product(m["X"], m["W_Q"]), product(m["X"], m["W_K"])
    weights = []
    for i, q in enumerate(Q):
        scores = [scale * sum(a * b for a, b in zip(q, k, strict=True)) for k in K]
        shares = [
            math.exp(x - max(scores)) if after or seen(i, j) else 0 for j, x in enumerate(scores)
        ]
        weights.append([x / sum(shares) if seen(i, j) else 0 for j, x in enumerate(shares)])
    return np.array(weights)


def stage(pair, name):
    return next(both for both in stages(*views(pair)) if both.name == name)


def everything(i, j):
    return True


def earlier(i, j):
    return j <= i


ROOT = FIRST.d_k**-0.5
WANTED = {
    "scale": ((ROOT, everything, False), (1.0, everything, False)),
    "mask": ((ROOT, everything, False), (ROOT, earlier, False)),
    "after": ((ROOT, earlier, False), (ROOT, earlier, True)),
    "fill": ((ROOT, earlier, False), (ROOT, earlier, False)),
}


@pytest.mark.parametrize("name", WANTED)
def test_each_ready_made_comparison_is_what_plain_loops_say(name):
    both = stage(PRESETS[name].make(FIRST), "weights")
    mine, other = (weights_by_loops(FIRST, *options) for options in WANTED[name])
    np.testing.assert_allclose(both.a, mine, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(both.b, other, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(both.less, other - mine, rtol=1e-9, atol=1e-14)


def test_d_model_for_d_k_is_what_plain_loops_say():
    narrow = {name: Matrix(FIRST.matrices[name].values[:, :2]) for name in ("W_Q", "W_K")}
    s = replace(FIRST, matrices={**FIRST.matrices, **narrow})
    both = stage(PRESETS["d_model"].make(s), "weights")
    for found, width in ((both.a, 2), (both.b, 4)):
        wanted = weights_by_loops(s, width**-0.5, everything, False)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


def test_where_d_model_is_d_k_two_heads_are_compared_whose_keys_are_narrower():
    pair = PRESETS["d_model"].make(FIRST)
    assert (pair.a.heads, pair.b.heads, pair.a.d_k, pair.b.scale) == (2, 2, 2, 0.5)
    assert not stage(pair, "weights").is_alike
    odd = {name: Matrix(FIRST.matrices[name].values[:, :3]) for name in ("W_Q", "W_K")}
    odd["X"] = Matrix(FIRST.matrices["X"].values[:, :3])
    odd = {name: Matrix(m.values[:3]) if name != "X" else m for name, m in odd.items()}
    odd["W_V"] = Matrix(FIRST.matrices["W_V"].values[:3])
    with pytest.raises(BadInput) as refused:
        PRESETS["d_model"].make(replace(FIRST, matrices=odd))
    assert str(refused.value) == messages.WIDTHS_ARE_EQUAL.format(d_k=3)


def test_a_comparison_made_is_known_with_what_it_was_made_of():
    assert begun_with(PRESETS["scale"].make(FIRST)) == FIRST
    other = Pair(FIRST, replace(FIRST, digits=4, scale=0.3))
    assert begun_with(other) == other.b


def test_a_mask_after_the_softmax_leaves_rows_that_do_not_add_up_to_1():
    both = stage(PRESETS["after"].make(FIRST), "weights")
    assert both.a.sum(axis=1) == pytest.approx(1)
    assert (both.b.sum(axis=1)[:-1] < 0.999).all()


REPEATED = set_tokens(FOUR, ("the", "cat", "the", "dog"), [0, 1, 2, 3])


@pytest.mark.parametrize(
    "s", [FIRST, set_mask(FIRST, "causal"), REPEATED], ids=["words", "masked", "repeated"]
)
def test_words_in_another_order_have_the_same_numbers_in_another_order(s):
    pair = PRESETS["order"].make(s)
    assert pair.b.tokens == tuple(reversed(s.tokens))
    a, b = views(pair)
    for name in ("X", "Q", "output", "weights"):
        both = stage(pair, name)
        assert not both.is_alike
        np.testing.assert_allclose(both.less, 0, atol=1e-12)
        assert largest_change(both) is None
        for i, word in enumerate(a.rows(name)):
            there = b.stages[name][b.rows(name).index(word)]
            for j, key in enumerate(a.columns(name)):
                assert both.in_order[i, j] == there[b.columns(name).index(key)]
        assert not both.drawn.any()
    assert strongest_changed(a, b) == []


def test_in_another_order_the_chosen_word_stays_chosen():
    for query, word in enumerate(FIRST.tokens):
        made = PRESETS["order"].make(replace(FIRST, query=query))
        assert made.b.tokens[made.b.query] == word
        assert (
            view(made.b, run(made.b)).labels["queries"][made.b.query]
            == (view(made.a, run(made.a)).labels["queries"][query])
        )


def test_what_cancels_is_drawn_as_0_as_on_the_board():
    ones = FIRST.with_matrix("W_Q", Matrix(np.ones(FIRST.matrices["W_Q"].values.shape)))
    X = FIRST.matrices["X"].values.copy()
    X[0] = [0.1, 0.2, -0.3, 0]  # times 1, so that every processor leaves the same rounding
    a = ones.with_matrix("X", Matrix(X))
    a, b = views(Pair(a, set_mask(a, "causal")))
    Q = next(both for both in stages(a, b) if both.name == "Q")
    pane, *_ = apart(Q, a, b)
    assert a.stages["Q"].all() and a.zeros["Q"][0].all() and not a.zeros["Q"][1:].any()
    assert set(pane.texts[0]) == {"0"}  # the others are whole as well


def test_two_heads_see_half_of_the_columns_each():
    pair = PRESETS["heads"].make(FIRST)
    assert (pair.a.heads, pair.b.heads) == (1, 2)
    both = stage(pair, "Q")
    assert both.less is None
    n, d = both.a.shape
    assert both.why_not == messages.SIZES_DIFFER.format(
        name="Q", a=f"{n} × {d}", b=f"{n} × {d // 2}"
    )
    assert stage(pair, "weights").less is not None
    assert stage(pair, "joined").why_not == messages.ONLY_ONE_HAS.format(side="B", name="joined")


def test_a_comparison_that_cannot_be_made_is_refused_by_a_sentence():
    typed = next(s for s in (e.build() for e in EXAMPLES.values()) if s.typed_qkv)
    odd = set_dimension(FIRST, "d_v", 3)
    with pytest.raises(BadInput) as refused:
        PRESETS["heads"].make(odd)
    assert str(refused.value) == messages.ODD_FOR_TWO_HEADS
    for sentence in ("cat", "a b a"):
        with pytest.raises(BadInput) as refused:
            PRESETS["order"].make(set_sentence(FIRST, sentence))
        assert str(refused.value) == messages.SAME_BACKWARDS
    with pytest.raises(BadInput) as refused:
        PRESETS["d_model"].make(typed)
    assert str(refused.value) == messages.NO_D_MODEL
    with pytest.raises(BadInput) as refused:
        views(Pair(FIRST, FIRST, "x"))
    assert str(refused.value) == messages.UNKNOWN_MISTAKE.format(name="x")
    with pytest.raises(BadInput) as refused:
        views(Pair(FIRST, FIRST, "mask: inverted"))
    assert str(refused.value) == messages.NO_ROOM.format(title="the mask is inverted")
    for other in (replace(FIRST, softmax=False), replace(FIRST, fill="-1e9")):
        with pytest.raises(BadInput) as refused:
            views(Pair(FIRST, other, "scale: none"))
        assert str(refused.value) == messages.NO_ROOM_WITHOUT_SOFTMAX.format(
            title="the scores are not scaled"
        )


def test_a_number_of_a_mistake_is_not_printed_as_the_0_that_stands_there_without():
    s = EXAMPLES["random-qkv"].build()
    Q, K = np.zeros(s.shape("Q")), np.zeros(s.shape("K"))
    Q[0, :2], K[1, :2] = (0.1, 0.3), (3, -1)  # cancel but for rounding
    Q[1, 2], K[0, 2] = 2, 2.5
    s = s.with_matrix("Q", Matrix(Q)).with_matrix("K", Matrix(K))
    right, wrong = views(Pair(s, s, "order: Q and K"))
    assert right.printed("scores")[:2, :2].tolist() == [[0, 0], [5, 0]]
    assert wrong.printed("scores")[0, 1] == 5


def test_hidden_scores_on_both_sides_are_no_difference():
    both = stage(Pair(set_mask(FIRST, "causal"), set_mask(FIRST, "causal")), "masked")
    assert np.isneginf(both.a).any()
    assert (both.less == 0).all()
    assert largest_change(both) is None


def test_the_largest_change_is_where_a_search_by_loops_finds_it():
    pair = PRESETS["scale"].make(FIRST)
    for both in stages(*views(pair)):
        cells = [
            (abs(b - a), -i, -j)
            for i, (row, others) in enumerate(zip(both.a.tolist(), both.b.tolist(), strict=True))
            for j, (a, b) in enumerate(zip(row, others, strict=True))
        ]
        most, i, j = max(cells)
        change = largest_change(both)
        if most == 0:
            assert change is None
        else:
            assert (change.row, change.column) == (-i, -j)
            assert abs(change.after - change.before) == most


def test_a_stage_that_becomes_hidden_changed_most_there():
    change = largest_change(stage(PRESETS["mask"].make(FIRST), "masked"))
    assert (change.row, change.column) == (0, 1)
    assert change.after == -math.inf


def test_the_rows_whose_strongest_key_changed_are_those_of_a_plain_search():
    a, b = views(PRESETS["mask"].make(FIRST))
    wanted, words = [], ("the (1)", "cat", "sat", "on", "the (2)", "mat")
    for i, (row, other) in enumerate(
        zip(a.stages["weights"].tolist(), b.stages["weights"].tolist(), strict=True)
    ):
        keys = row.index(max(row)), other.index(max(other))
        if keys[0] != keys[1]:
            wanted.append(tuple(words[k] for k in (i, *keys)))
    assert wanted and strongest_changed(a, b) == wanted


def test_keys_that_share_the_first_place_are_no_winners():
    alike = replace(FOUR, matrices={**FOUR.matrices, "X": Matrix(np.ones((4, FOUR.d_model)))})
    a, b = views(Pair(alike, set_mask(alike, "causal")))
    assert strongest_changed(a, b) == []


CHANGED = [
    (lambda s: s, []),
    (lambda s: replace(s, scale=1.0), ["scale: 1/√d_k → 1"]),
    (lambda s: set_mask(s, "causal"), ["mask: none → look-ahead (causal)"]),
    (lambda s: replace(s, padding=(1, 3)), ["padding tokens: none → “w2” “w4”"]),
    (lambda s: replace(s, softmax=False), ["softmax: on → off"]),
    (
        lambda s: replace(s, fill="-1e9"),
        ["masked scores become: −∞ (true mask) → −1e9, added"],
    ),
    (
        lambda s: replace(s, tokens=("a", "b", "c", "d")),
        ["words: “w1 w2 w3 w4” → “a b c d”"],
    ),
    (lambda s: replace(s, digits=5, cell=("scores", 0, 0), query=2), []),
]


@pytest.mark.parametrize(("change", "said"), CHANGED)
def test_what_differs_is_said_in_words_and_what_is_only_looked_at_is_not(change, said):
    assert differing(Pair(FOUR, change(FOUR))) == said


def test_a_number_that_differs_is_named_by_its_place():
    W = FOUR.matrices["W_Q"].values.copy()
    before = W[1, 0]
    W[1, 0] = 7.5
    said = differing(Pair(FOUR, FOUR.with_matrix("W_Q", Matrix(W))))
    assert said == [f"W_Q, row 2, column 1: {before:g} → 7.5"]
    W[0] += 1
    said = differing(Pair(FOUR, FOUR.with_matrix("W_Q", Matrix(W))))
    assert said == [f"W_Q: {1 + W.shape[1]} of {W.size} numbers differ"]


def test_a_matrix_of_another_shape_is_named_by_its_shapes():
    n, d = FOUR.shape("W_K")
    said = differing(Pair(FOUR, set_dimension(FOUR, "d_k", d + 1)))
    assert said == [f"{name}: {n} × {d} → {n} × {d + 1}" for name in ("W_Q", "W_K")]


def test_rows_that_go_with_their_words_are_no_other_numbers():
    words, rows = differing(PRESETS["order"].make(FIRST))
    assert words == "words: “the cat sat on the mat” → “mat the on sat cat the”"
    assert rows == "X: the same rows, in the order of the words"
    s = PRESETS["order"].make(FIRST).b
    X = s.matrices["X"].values.copy()
    X[0, 0] += 1
    assert differing(Pair(FIRST, s.with_matrix("X", Matrix(X))))[1] == "X: 13 of 24 numbers differ"


@pytest.mark.parametrize("build", [EXAMPLES["batch"].build, lambda: set_memory(FIRST, True)])
def test_so_are_those_of_a_batch_and_of_a_second_sentence(build):
    s = build()
    words = tuple(reversed(s.memory_tokens or s.tokens))
    order = list(reversed(range(len(words))))
    said = differing(Pair(s, set_tokens(s, words, order, memory=bool(s.memory_tokens))))
    rows = [line for line in said[1:] if "the same rows" in line]
    assert len(rows) == len(said) - 1 > 0, said


def finished(A, tokens=("a", "b", "c")):
    return alone(FIRST, np.asarray(A, float)[None], tokens, (), {})


def test_finished_weights_differ_in_weights_and_from_a_formula_in_no_setting_of_it():
    a, b = finished(np.full((3, 3), 1 / 3)), finished(np.tri(3) / [[1], [2], [3]])
    assert differing(Pair(a, b)) == ["weights: 6 of 9 numbers differ", "mask: none → drawn"]
    wide = finished(np.full((4, 4), 0.25), ("a", "b", "c", "d"))
    assert differing(Pair(a, wide)) == ["words: “a b c” → “a b c d”", "weights: 3 × 3 → 4 × 4"]
    assert differing(Pair(FOUR, wide))[1:] == ["Q, K, V → finished weights"]


def test_a_mistake_is_said():
    title = BY_NAME["hiding: after softmax"].title
    assert differing(PRESETS["after"].make(FIRST)) == [f"in B {title}"]


def test_of_many_queries_whose_strongest_key_changed_some_are_named_and_the_others_counted():
    found = [(f"q{k}", "a", "b") for k in range(1000)]
    said = winners(found)
    assert said.count("→") == 12
    assert said.endswith("“q11”: “a” → “b”; … and 988 more</p>")
    assert "more" not in winners(found[:12])


def test_a_mistake_beside_the_parts_of_real_layers_is_that_of_one_head():
    rng = np.random.default_rng(1)
    s = with_parts(RMSNorm(*rng.standard_normal((2, 4))), Rotary(base=50.0), mask="causal")
    s = check(replace(s, head=1, softcap=2.0, sinks=(0.5, 1.0), alibi=True))
    for mistake, change in (
        ("scale: none", {"scale": 1.0}),
        ("rotary: left out", {"rotary": None}),
        ("sinks: left out", {"sinks": ()}),
        ("bias: ignored", {"alibi": False}),
        ("mask: ignored", {"mask": "none"}),
    ):
        _, wrong = views(Pair(s, s, mistake))
        other = replace(s, **change)
        wanted = view(other, run(other))
        for name in ("scores", "weights", "output"):
            np.testing.assert_allclose(wrong.stages[name], wanted.stages[name], rtol=1e-12)


def rolled_at_random(rng):
    """Settings with one function, some parts, a mask and a size of their own."""
    parts = {
        "softcap": (None, None, 2.0),
        "sinks": ((), (), (0.5,)),
        "alibi": (False, False, True),
        "softmax": (True, True, True, "sigmoid"),
        "mask": ("none", "none", "causal"),
        "padding": ((), (), (0,)),
        "fill": ("-inf", "-inf", "-1e9"),
    }
    chosen = {name: values[rng.integers(len(values))] for name, values in parts.items()}
    chosen |= {"softmax": True} if chosen["sinks"] else {}
    d_model, d_k = (int(k) for k in rng.integers(1, 6, 2))
    s = set_dimension(set_dimension(FIRST, "d_model", d_model), "d_k", d_k)
    drawn = {name: Matrix(rng.normal(size=s.shape(name))) for name in ("X", "W_Q", "W_K")}
    if rng.random() < 0.2:
        drawn["W_Q"] = Matrix(np.zeros(s.shape("W_Q")))  # all scores are equal
    return check(replace(s, matrices=s.matrices | drawn, **chosen))


def assert_so(name, pair, a, b):
    """What the sentence of one of these comparisons says, of the numbers of A and B."""
    before, after = a.stages["weights"], b.stages["weights"]
    seen = allowed(pair.b)
    if name == "scale":
        scaled = np.where(seen, a.stages["scaled"], np.nan)
        np.testing.assert_allclose(b.stages["scaled"], a.stages["scaled"] * math.sqrt(pair.b.d_k))
        for row in np.flatnonzero(seen.any(axis=1)):
            if np.nanmax(scaled[row]) - np.nanmin(scaled[row]) > 1e-6:
                largest = int(np.nanargmax(scaled[row]))
                share = before[row, largest]
                assert after[row, largest] > share or share > 1 - 1e-12
    elif name == "mask":
        kept = np.where(seen, before, 0)
        total = kept.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(after, np.divide(kept, total, where=total > 0, out=0 * kept))
    elif name == "after":
        missing = np.where(seen, 0, before_hiding(pair.a)).sum(axis=1)
        np.testing.assert_allclose(after.sum(axis=1), 1 - missing - of_sinks(pair.a), atol=1e-12)
    else:
        scales = [side.scale or side.d_k**-0.5 for side in (pair.a, pair.b)]
        even, less = (before, after) if scales[0] < scales[1] else (after, before)
        assert np.all(even.max(axis=1) <= less.max(axis=1) + 1e-12)


def before_hiding(s):
    """The weights where no key is hidden."""
    s = replace(s, mask="none", padding=(), drawn=())
    return view(s, run(s)).stages["weights"]


def of_sinks(s):
    """What of each row a sink takes where no key is hidden."""
    return 1 - before_hiding(s).sum(axis=1)


@pytest.mark.parametrize("name", ["scale", "mask", "after", "d_model"])
def test_what_to_look_for_is_so_or_is_not_said(name):
    rng = np.random.default_rng(5)
    said = 0
    for _ in range(250):
        s = rolled_at_random(rng)
        try:
            pair = PRESETS[name].make(s)
        except BadInput:
            continue
        if look_for(name, pair) == PRESETS[name].sentence:
            said += 1
            assert_so(name, pair, *views(pair))
    assert said > 10
    capped = PRESETS["scale"].make(replace(FIRST, softcap=2.0))
    assert look_for("scale", capped) == ""


@pytest.mark.parametrize(
    ("name", "begun", "said"),
    [
        ("scale", FIRST, ""),
        ("heads", FIRST, ""),
        ("d_model", FIRST, "Both have 2 heads."),
        ("d_model", set_heads(FIRST, 2), ""),
        ("after", FIRST, "Both have a look-ahead mask."),
        ("fill", replace(FIRST, mask="causal"), ""),
        ("order", replace(FIRST, mask="causal"), "Both have no mask."),
    ],
)
def test_what_a_comparison_changes_in_both_is_said(name, begun, said):
    assert also_changed(begun, PRESETS[name].make(begun)) == said


def test_with_one_column_scaling_changes_nothing():
    pair = PRESETS["scale"].make(set_dimension(FIRST, "d_k", 1))
    assert look_for("scale", pair) == "With d_k = 1 nothing changes: √1 is 1."
    a, b = views(pair)
    np.testing.assert_array_equal(a.stages["weights"], b.stages["weights"])
