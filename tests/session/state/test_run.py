"""From settings to the numbers on the page: the right item, the right head, the right labels."""

import json
import math
from dataclasses import replace

import messages
import numpy as np
import pytest
from amount import few
from oracle import COMPUTED

from attention.explain.captions import formula
from attention.explain.view import distinct
from attention.exports.paper import figure_of
from attention.exports.text import to_json
from attention.limits import BadInput
from attention.models.examples import load
from attention.session.bring.captured import with_head
from attention.session.edit import changes
from attention.session.state.about import what_it_is
from attention.session.state.examples import EXAMPLES
from attention.session.state.links import existing_cell
from attention.session.state.matrix import Matrix
from attention.session.state.run import labels, no_key_sentences, run, sizes, view
from attention.session.state.settings import PUSHED, TRUE_MASK
from attention.session.state.validate import check
from attention.vocabulary.stages import STAGES

FOUR = EXAMPLES["four-words"].build()
OF_PARTS = {name for name in STAGES if name.endswith(("_normed", "_rotated")) or "b_" in name}
OF_PARTS |= {"P", "X_P", "R"}


def draw(shape, seed):
    return Matrix(np.random.default_rng(seed).normal(size=shape))


EVERYTHING = check(
    replace(
        FOUR,
        tokens=("the", "cat", "the"),
        memory_tokens=("a", "b", "a", "c"),
        matrices={
            "X": draw((2, 3, 5), 1),
            "memory": draw((2, 4, 5), 2),
            "W_Q": draw((5, 6), 3),
            "W_K": draw((5, 6), 4),
            "W_V": draw((5, 9), 5),
            "W_O": draw((9, 2), 6),
        },
        heads=3,
        context=True,
        mask="causal_lower_right",
        padding=(0,),
    )
)


@pytest.mark.parametrize("item", [0, 1])
@pytest.mark.parametrize("head", [0, 1, 2])
def test_each_stage_shown_is_that_of_the_chosen_item_and_head(item, head):
    s = replace(EVERYTHING, item=item, head=head)
    trace = run(s)
    shown = view(s, trace).stages
    m = {name: matrix.values for name, matrix in s.matrices.items()}
    expected = {
        "X": m["X"][item],
        "memory": m["memory"][item],
        "W_Q": m["W_Q"][:, [2 * head, 2 * head + 1]],
        "W_K": m["W_K"][:, [2 * head, 2 * head + 1]],
        "W_V": m["W_V"][:, [3 * head, 3 * head + 1, 3 * head + 2]],
        **{name: getattr(trace, name)[item, head] for name in ("Q", "K", "V", "scores", "scaled")},
        "mask": np.array(
            [[0.0 if j <= i + 1 and j != 0 else -math.inf for j in range(4)] for i in range(3)]
        ),
        **{name: getattr(trace, name)[item, head] for name in ("masked", "weights", "output")},
        "joined": trace.joined[item],
        "W_O": m["W_O"],
        "projected": trace.projected[item],
        "context": trace.output[item, head].sum(axis=0, keepdims=True),
    }
    assert list(shown) == list(expected) == [s for s in STAGES if s in expected]  # in order
    assert set(STAGES) - set(expected) == {"capped", "modified", *OF_PARTS}
    for name, values in expected.items():
        assert shown[name].tobytes() == np.ascontiguousarray(values).tobytes(), name


def test_the_chosen_head_is_the_projection_of_the_chosen_weights():
    s = replace(EVERYTHING, item=1, head=2)
    shown = view(s, run(s)).stages
    np.testing.assert_allclose(shown["Q"], shown["X"] @ shown["W_Q"], rtol=1e-12)
    np.testing.assert_allclose(shown["V"], shown["memory"] @ shown["W_V"], rtol=1e-12)


@pytest.mark.parametrize(
    "settings", [EVERYTHING, *(EXAMPLES[name].build() for name in few(EXAMPLES))]
)
def test_every_stage_has_two_axes_and_a_label_for_each_row_and_column(settings):
    now = view(settings, run(settings))
    for name, matrix in now.stages.items():
        assert matrix.shape == (len(now.rows(name)), len(now.columns(name))), name
    assert now.allowed.shape == now.stages["scores"].shape


def test_the_mask_shown_is_that_of_the_chosen_item_and_head():
    now = view(EVERYTHING, run(EVERYTHING))
    assert now.allowed.tolist() == [[j <= i + 1 and j != 0 for j in range(4)] for i in range(3)]
    assert (now.head, now.heads, now.scale) == (0, 3, 1 / math.sqrt(2))


def test_the_published_look_ahead_mask_stands_as_0_and_minus_infinity():
    s = EXAMPLES["random-qkv"].build()
    inf = math.inf
    assert view(s, run(s)).stages["mask"].tolist() == [
        [0, -inf, -inf, -inf],
        [0, 0, -inf, -inf],
        [0, 0, 0, -inf],
        [0, 0, 0, 0],
    ]


def test_no_mask_is_shown_where_nothing_is_hidden():
    assert "mask" not in view(FOUR, run(FOUR)).stages


def test_minus_1e9_is_a_bias_and_hides_nothing():
    s = EXAMPLES["minus-1e9"].build()
    now = view(s, run(s))
    drawn = np.array(s.drawn)
    assert now.allowed.all()
    assert now.bias.tolist() == [[0.0 if seen else -1e9 for seen in row] for row in drawn.tolist()]
    np.testing.assert_array_equal(now.stages["masked"], now.stages["scaled"] + now.bias)
    np.testing.assert_array_equal(now.stages["mask"], now.bias)


@pytest.mark.parametrize("fill", [TRUE_MASK, PUSHED])
@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("batch", [1, 2, 3])
def test_mask_and_slopes_serve_every_item_of_any_batch(batch, heads, fill):
    whole = {"X": draw((batch, 3, 5), 1), "memory": draw((batch, 4, 5), 2)}
    s = replace(EVERYTHING, heads=heads, alibi=True, fill=fill)
    found = run(check(replace(s, matrices=s.matrices | whole)))
    for item in range(batch):
        one = {name: Matrix(matrix.values[item]) for name, matrix in whole.items()}
        alone = run(check(replace(s, matrices=s.matrices | one)))
        np.testing.assert_allclose(found.masked[item], alone.masked, rtol=1e-12)
        np.testing.assert_allclose(found.projected[item], alone.projected, rtol=1e-12)


def test_labels_say_whose_rows_and_columns_they_are():
    found = labels(EVERYTHING)
    assert found["queries"] == ("the (1)", "cat", "the (2)")
    assert found["keys"] == ("a (1)", "b", "a (2)", "c")
    assert found["d_model"] == ("1", "2", "3", "4", "5")
    assert (len(found["d_k"]), len(found["d_v"]), len(found["h·d_v"]), len(found["d_out"])) == (
        2,
        3,
        9,
        2,
    )
    assert found["sum"] == ("Σ",)


def test_dimensions_have_names_only_while_each_has_one():
    lookup = EXAMPLES["lookup"].build()
    assert labels(lookup)["d_k"] == ("a", "b", "c", "d")
    assert labels(changes.set_dimension(lookup, "d_k", 3))["d_k"] == ("1", "2", "3")


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (("a", "b"), ("a", "b")),
        (("a", "a", "a"), ("a (1)", "a (2)", "a (3)")),
        (("the", "the", "the (1)"), ("the (2)", "the (3)", "the (1)")),
        (("x (1)", "x", "x (1)", "x"), ("x (1) (1)", "x (2)", "x (1) (2)", "x (3)")),
        ((), ()),
    ],
)
def test_repeated_tokens_are_told_apart(tokens, expected):
    assert distinct(tokens) == expected
    assert len(set(distinct(tokens))) == len(tokens)


def test_view_only_settings_change_no_number():
    seen = replace(
        EVERYTHING,
        query=2,
        digits=7,
        cell=("scores", 1, 1),
        samples=50,
        sample_seed=9,
        distribution="signs",
    )
    one, two = run(EVERYTHING), run(seen)
    for name in ("X", *COMPUTED, "joined", "projected"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


CHANGES = {
    "nothing": lambda s: s,
    "the sum of the outputs": lambda s: replace(s, context=True),
    "output weights": lambda s: changes.set_output_weights(s, True),
    "a hidden key": lambda s: replace(s, padding=(0,)),
    "a hidden key and -1e9": lambda s: replace(s, padding=(0,), fill="-1e9"),
    "a second sequence": lambda s: changes.set_memory(s, True),
    "two heads": lambda s: replace(s, heads=2),
    "Q, K and V": lambda s: changes.start_from(s, True, run(s)),
}


@pytest.mark.parametrize("name", few(EXAMPLES))
@pytest.mark.parametrize("change", CHANGES)
def test_the_sizes_of_the_stages_are_those_of_the_run(name, change):
    try:
        s = check(CHANGES[change](EXAMPLES[name].build()))
    except BadInput:
        pytest.skip("this example has no such change")
    shown = view(s, run(s)).stages
    assert sizes(s) == {stage: matrix.shape for stage, matrix in shown.items()}


def test_a_head_without_bias_has_no_mask():
    R = np.zeros((8, 2))
    R[:, 0] = np.arange(8) / 4
    s = check(replace(FOUR, heads=2, cell=("mask", 1, 0)).with_matrix("R", Matrix(R)))
    for head, there in ((0, True), (1, False)):
        now = replace(s, head=head)
        shown = view(now, run(now))
        assert ("mask" in sizes(now)) == ("mask" in shown.stages) == there
        assert existing_cell(now) == (s.cell if there else None)


def test_a_cell_is_looked_for_without_running_the_attention(monkeypatch):
    def never(*args, **options):
        raise AssertionError("the attention was run")

    monkeypatch.setattr("attention.session.state.run.self_attention", never)
    s = EXAMPLES["four-words"].build()
    assert existing_cell(replace(s, cell=("weights", 3, 3))) == ("weights", 3, 3)
    for missing in (("weights", 4, 0), ("weights", 0, 4), ("weights", -1, 0), ("nothing", 0, 0)):
        assert existing_cell(replace(s, cell=missing)) is None


@pytest.mark.parametrize(
    ("padding", "mask", "sentences"),
    [
        ((), "causal", []),
        ((0,), "causal", [messages.QUERY_SEES_NO_KEY.format(query="“w1”")]),
        (
            (0, 1),
            "causal",
            [messages.QUERIES_SEE_NO_KEY.format(queries="“w1” and “w2”")],
        ),
        (
            (0, 1, 2, 3),
            "none",
            [messages.QUERIES_SEE_NO_KEY.format(queries="“w1”, “w2”, “w3” and “w4”")],
        ),
    ],
)
def test_one_sentence_names_all_queries_that_see_no_key(padding, mask, sentences):
    s = check(replace(FOUR, padding=padding, mask=mask))
    trace = run(s)
    assert no_key_sentences(view(s, trace)) == sentences
    for i in np.flatnonzero(trace.hidden_rows.reshape(-1)):
        assert not trace.weights.reshape(4, 4)[i].any()
        assert not trace.output.reshape(4, 4)[i].any()


def test_one_sentence_stays_short_where_many_queries_see_no_key():
    s = check(changes.set_sentence(FOUR, " ".join(f"word{k}x" for k in range(64))))
    (sentence,) = no_key_sentences(view(s, run(replace(s, padding=tuple(range(64))))))
    assert sentence == messages.QUERIES_SEE_NO_KEY.format(
        queries="“word0x”, “word1x”, “word2x”, “word3x”, “word4x” and 59 more"
    )


def test_the_matrices_of_the_settings_stand_in_the_trace_without_a_copy():
    settings = EXAMPLES["four-words"].build()
    trace = run(settings)
    for name, matrix in settings.matrices.items():
        assert np.shares_memory(getattr(trace, name), matrix.values), name


def test_a_captured_head_keeps_its_layer_and_number_in_views_and_files_until_it_is_changed():
    taken = load("pronoun")
    s = with_head(EXAMPLES["cat-sat"].build(), taken, taken[3], 0, 3)
    assert taken[3].heads[3] == 8
    shown = view(s, run(s))
    words = "layer 3 (encoder, encoder.layer.3.attention.self), head 8"
    assert (shown.head_number, shown.which_head) == (8, words)
    assert formula(shown)[-1] == (f"   Q, K, V of {words}", None)
    assert json.loads(to_json(shown, what_it_is(s)))["head"] == 8
    assert figure_of(s, run(s)).title == words
    doubled = replace(s.matrices["V"], values=2 * s.matrices["V"].values)
    changed = s.with_matrix("V", doubled)
    assert view(changed, run(changed)).which_head == ""
