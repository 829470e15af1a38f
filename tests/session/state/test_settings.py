"""Each change a person makes changes exactly what it names; what does not fit is refused with a
sentence.
"""

import pickle
from dataclasses import fields, replace

import messages
import numpy as np
import pytest
from oracle import COMPUTED

from attention.core.masks import MASKS
from attention.limits import BadInput
from attention.samples.words import word_vectors
from attention.session.edit import changes, editing
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.run import run, view
from attention.session.state.settings import DRAWN, Settings, TooManyTokens, allowed
from attention.session.state.validate import check

FOUR, SENTENCE, BATCH, LOOKUP, RANDOM = (
    EXAMPLES[name].build() for name in ("four-words", "sentence", "batch", "lookup", "random-qkv")
)
ROLLED = replace(
    FOUR,
    matrices={
        "X": Matrix.rolled((4, 6), Recipe("normal", 1)),
        "W_Q": Matrix.rolled((6, 4), Recipe("xavier", 2)),
        "W_K": Matrix.rolled((6, 4), Recipe("uniform", 3, -1, 1)).edited((5, 3), 9),
        "W_V": Matrix.rolled((6, 8), Recipe("integers", 4, -2, 5)),
    },
    heads=2,
)
CROSSED = changes.set_tokens(
    changes.set_memory(ROLLED, True), ("a", "b", "c"), [0, 1, 2], memory=True
)
VIEWS = {"item", "head", "query", "cell"}


def changed(before: Settings, after: Settings) -> tuple[set, set]:
    """The names of the fields and of the matrices that differ, matrices bit for bit."""
    names = {f.name for f in fields(Settings)} - {"matrices"}
    some = {name for name in names if getattr(before, name) != getattr(after, name)}
    every = set(before.matrices) | set(after.matrices)
    return some, {name for name in every if before.matrices.get(name) != after.matrices.get(name)}


# ---- the record ---------------------------------------------------------------------------------


def test_the_matrices_cannot_be_assigned_to():
    with pytest.raises(TypeError):
        FOUR.matrices["X"] = Matrix([[1]])


@pytest.mark.parametrize("name", EXAMPLES)
def test_settings_survive_a_pickle(name):
    settings = EXAMPLES[name].build()
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_one_matrix_is_exchanged_and_the_others_stay_the_same_objects():
    new = FOUR.with_matrix("W_Q", Matrix(np.eye(4)))
    assert changed(FOUR, new) == (set(), {"W_Q"})
    assert new.matrices["W_K"] is FOUR.matrices["W_K"]


@pytest.mark.parametrize(
    ("settings", "heads"),
    [(FOUR, [1, 2, 4]), (ROLLED, [1, 2, 4]), (BATCH, [1, 2, 4, 8, 16, 32, 64]), (LOOKUP, [1])],
)
def test_the_heads_on_offer_divide_both_widths(settings, heads):
    assert settings.possible_heads == heads
    for h in heads:
        offered = check(replace(settings, heads=h))
        assert offered.possible_heads == heads
        run(offered)


# ---- the mask -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", ["none", "causal", "causal_lower_right"])
@pytest.mark.parametrize("padding", [(), (0,), (0, 2), (0, 1, 2)])
def test_allowed_joins_the_mask_and_the_padding(mask, padding):
    s = check(replace(CROSSED, mask=mask, padding=padding))  # 4 queries, 3 keys
    corner = {
        "none": lambda i, j: True,
        "causal": lambda i, j: j <= i,
        "causal_lower_right": lambda i, j: j <= i - 1,
    }
    assert allowed(s).tolist() == [
        [corner[mask](i, j) and j not in padding for j in range(3)] for i in range(4)
    ]


@pytest.mark.parametrize("mask", ["none", "causal", "causal_lower_right"])
def test_a_drawn_mask_begins_with_what_is_allowed_now_and_leaves_the_padding_to_the_padding(mask):
    s = replace(CROSSED, mask=mask, padding=(1,))
    drawn = changes.set_mask(s, DRAWN)
    assert changed(s, drawn) == ({"mask", "drawn"}, set())
    assert np.array_equal(allowed(s), allowed(drawn))
    assert np.array_equal(allowed(replace(s, padding=())), np.array(drawn.drawn))


def test_leaving_a_drawn_mask_forgets_it():
    s = changes.set_mask(changes.set_mask(FOUR, DRAWN), "causal")
    assert (s.mask, s.drawn) == ("causal", ())


# ---- dimensions ---------------------------------------------------------------------------------


def overlap(before: Matrix, after: Matrix) -> bool:
    rows, columns = (min(a, b) for a, b in zip(before.shape[-2:], after.shape[-2:], strict=True))
    return (
        before.values[..., :rows, :columns].tobytes()
        == after.values[..., :rows, :columns].tobytes()
    )


@pytest.mark.parametrize("settings", [FOUR, ROLLED, CROSSED, SENTENCE, RANDOM, BATCH, LOOKUP])
@pytest.mark.parametrize("size", [1, 3, 9])
@pytest.mark.parametrize(
    ("name", "touched"),
    [
        ("d_model", {"X", "memory", "W_Q", "W_K", "W_V"}),
        ("d_k", {"W_Q", "W_K", "Q", "K"}),
        ("d_v", {"W_V", "V", "W_O"}),
    ],
)
def test_a_dimension_changes_its_matrices_alone_and_keeps_what_fits(settings, name, touched, size):
    settings = changes.set_output_weights(settings, True)
    after = check(changes.set_dimension(settings, name, size))
    some, others = changed(settings, after)
    assert some <= {"head"}
    assert others <= touched
    assert all(overlap(settings.matrices[key], after.matrices[key]) for key in others)
    if name != "d_model" or not settings.typed_qkv:
        assert getattr(after, name) == size
    assert all(
        after.matrices[key].recipe == settings.matrices[key].recipe for key in settings.matrices
    )


def test_growing_and_shrinking_back_gives_the_same_numbers():
    there = changes.set_dimension(ROLLED, "d_model", 9)
    assert changed(ROLLED, changes.set_dimension(there, "d_model", 6)) == (set(), set())


@pytest.mark.parametrize("size", [0, -1, 513])
def test_a_dimension_out_of_bounds_is_refused(size):
    with pytest.raises(BadInput) as refused:
        changes.set_dimension(FOUR, "d_k", size)
    assert str(refused.value) == messages.SIZE_OUT_OF_RANGE.format(name="d_k", size=size, most=512)


# ---- tokens -------------------------------------------------------------------------------------


def test_rows_padding_and_the_drawn_mask_follow_their_tokens():
    drawn = (
        (True, False, True, True),
        (True, True, False, True),
        (False, True, True, True),
        (True, True, True, False),
    )
    s = replace(FOUR, mask=DRAWN, drawn=drawn, padding=(1, 3))
    after = check(changes.set_tokens(s, ("w4", "new", "w2"), [3, None, 1]))
    assert changed(s, after) == ({"tokens", "drawn", "padding"}, {"X"})
    assert after.matrices["X"].values.tolist() == [[2, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 2]]
    assert after.padding == (0, 2)
    assert after.drawn == ((False, True, True), (True, True, True), (True, True, True))


@pytest.mark.parametrize(
    ("settings", "memory", "touched"),
    [
        (FOUR, False, {"X"}),
        (RANDOM, False, {"Q", "K", "V"}),
        (BATCH, False, {"Q", "K", "V"}),
        (CROSSED, False, {"X"}),
        (CROSSED, True, {"memory"}),
        (LOOKUP, False, {"Q"}),
        (LOOKUP, True, {"K", "V"}),
    ],
)
def test_new_tokens_change_the_rows_of_their_own_sequence_alone(settings, memory, touched):
    field = "memory_tokens" if memory else "tokens"
    old = getattr(settings, field)
    keep = [None, *reversed(range(len(old)))]
    after = check(changes.set_tokens(settings, ("first", *reversed(old)), keep, memory))
    some, others = changed(settings, after)
    assert (some - VIEWS, others) == ({field}, touched)
    for name in touched:
        rows = after.matrices[name].values
        recipe = settings.matrices[name].recipe
        new = word_vectors(["first"], 6)[0] if recipe and recipe.by_word else 0
        assert (rows[..., 0, :] == new).all()
        for place, source in enumerate(keep[1:], 1):
            assert (
                rows[..., place, :].tobytes()
                == settings.matrices[name].values[..., source, :].tobytes()
            )


def test_the_tokens_that_stay_keep_their_weights():
    s = replace(FOUR, mask="none")
    fewer = check(changes.set_tokens(s, ("w1", "w4"), [0, 3]))
    np.testing.assert_array_equal(run(fewer).scores, run(s).scores[np.ix_([0, 3], [0, 3])])


def test_a_renamed_token_changes_no_number():
    after = changes.set_tokens(FOUR, ("cat", "w2", "w3", "w4"), [0, 1, 2, 3])
    assert changed(FOUR, after) == ({"tokens"}, set())


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ((), messages.EMPTY_TABLE),
        (("a",) * 513, messages.TOO_MANY_TOKENS.format(found=513, limit=512)),
    ],
)
def test_no_tokens_and_too_many_are_refused(tokens, message):
    with pytest.raises(BadInput) as refused:
        check(changes.set_tokens(FOUR, tokens, [None] * len(tokens)))
    assert str(refused.value) == message


# ---- one-hot, second sequence, output weights ---------------------------------------------------


@pytest.mark.parametrize("settings", [FOUR, ROLLED, CROSSED])
def test_one_hot_sets_the_embeddings_and_keeps_every_weight_that_fits(settings):
    after = check(changes.one_hot(settings))
    words = list(dict.fromkeys(settings.tokens + settings.memory_tokens))
    some, others = changed(settings, after)
    assert not some
    assert others <= {"X", "memory", "W_Q", "W_K", "W_V"}
    for name, tokens in (("X", settings.tokens), ("memory", settings.memory_tokens)):
        if tokens:
            rows = [[int(word == token) for word in words] for token in tokens]
            assert after.matrices[name].values.tolist() == rows
    assert all(overlap(settings.matrices[w], after.matrices[w]) for w in ("W_Q", "W_K", "W_V"))
    np.testing.assert_array_equal(run(after).joined.shape, run(settings).joined.shape)


def test_columns_have_names_while_no_vector_is_drawn():
    s = EXAMPLES["sentence"].build()
    names = {"d_model": ("noun", "verb", "pronoun", "cos", "sin")}
    assert changes.set_sentence(s, "it ate because the cat purrs").names == names
    for drawn in (
        changes.set_sentence(s, "the dog purrs"),
        changes.set_memory(s, True),
        changes.by_word(s),
        editing.roll(s, "X", Recipe("normal", 1)),
    ):
        assert drawn.names == {}
    looked_up = EXAMPLES["lookup"].build()
    assert looked_up.names
    assert editing.roll(looked_up, "V", Recipe("normal", 1)).names.keys() == {"d_k"}
    assert editing.roll(s, "W_Q", Recipe("normal", 1)).names == names


def test_one_hot_gives_a_word_one_column_wherever_it_stands():
    s = changes.set_sentence(FOUR, "The cat saw the dog")
    after = check(changes.one_hot(s))
    assert after.d_model == 4
    assert after.matrices["X"].values.tolist() == [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [1, 0, 0, 0],
        [0, 0, 0, 1],
    ]


def test_one_hot_queries_are_rows_of_the_weights():
    after = changes.one_hot(FOUR)
    assert run(after).Q.tolist() == FOUR.matrices["W_Q"].values.tolist()


@pytest.mark.parametrize("settings", [FOUR, ROLLED, SENTENCE])
def test_a_second_sequence_begins_with_words_of_its_own_and_leaves_the_first(settings):
    crossed = check(changes.set_memory(settings, True))
    names = {"names"} if settings.names else set()  # of columns: those of its own are drawn
    assert changed(settings, crossed) == ({"memory_tokens"} | names, {"memory"})
    assert not set(crossed.memory_tokens) & set(settings.tokens)
    assert len(set(map(tuple, crossed.matrices["memory"].values.tolist()))) > 1
    assert run(crossed).Q.tobytes() == run(settings).Q.tobytes()
    assert changed(settings, check(changes.set_memory(crossed, False))) == (names, set())


def test_a_second_sequence_is_a_translation_while_the_words_of_the_example_are_there():
    french = ("le", "chat", "ronronne", "parce", "qu’il", "a", "mangé")
    assert changes.set_memory(SENTENCE, True).memory_tokens == french
    other = replace(SENTENCE, tokens=("the", "dog", "purrs", "because", "it", "ate"))
    assert changes.set_memory(other, True).memory_tokens == ("a", "dog", "barks")


def test_what_hid_keys_of_the_first_sequence_hides_none_of_the_second():
    s = changes.set_mask(replace(FOUR, padding=(0, 3)), DRAWN)
    crossed = check(changes.set_memory(s, True))
    assert (crossed.padding, crossed.mask, crossed.drawn) == ((), "none", ())
    assert check(changes.set_memory(replace(FOUR, mask="causal"), True)).mask == "causal"


def test_a_second_sequence_of_a_batch_is_the_same_for_each_item():
    crossed = check(changes.set_memory(X_BATCH, True))
    memory = crossed.matrices["memory"].values
    assert memory.shape == (3, 3, 4)
    assert memory[0].tolist() == memory[1].tolist() == memory[2].tolist()


def test_typed_queries_keys_and_values_take_a_second_sequence_as_they_are():
    crossed = check(changes.set_memory(RANDOM, True))
    assert changed(RANDOM, crossed) == ({"memory_tokens"}, set())
    assert crossed.memory_tokens == ("k1", "k2", "k3", "k4")


def test_ending_cross_attention_leaves_one_key_for_each_token():
    s = check(changes.set_memory(LOOKUP, False))
    assert (s.tokens, s.memory_tokens, s.shape("K"), s.shape("V")) == (
        ("a c ?",),
        (),
        (1, 4),
        (1, 5),
    )
    assert s.matrices["K"].values.tolist() == [[1, 1, 0, 0]]
    assert check(changes.set_memory(CROSSED, False)).key_tokens == CROSSED.tokens


@pytest.mark.parametrize("settings", [FOUR, ROLLED, SENTENCE, RANDOM, BATCH])
def test_output_weights_begin_as_the_identity_and_go_without_a_trace(settings):
    on = check(changes.set_output_weights(settings, True))
    assert changed(settings, on) == (set(), {"W_O"})
    trace = run(on)
    np.testing.assert_array_equal(trace.projected, trace.joined)
    assert changed(settings, check(changes.set_output_weights(on, False))) == (set(), set())


# ---- beginning with Q, K and V, or with embeddings ----------------------------------------------

X_BATCH = replace(
    FOUR,
    matrices={**FOUR.matrices, "X": Matrix(np.random.default_rng(0).normal(size=(3, 4, 4)))},
    item=2,
    mask="causal",
)
STARTS = {
    "plain": FOUR,
    "masked": replace(FOUR, mask="causal", padding=(1,)),
    "heads": SENTENCE,
    "heads and W_O": (
        changes.set_output_weights(SENTENCE, True).with_matrix(
            "W_O", Matrix(np.random.default_rng(1).normal(size=(4, 3)))
        )
    ),
    "second head": replace(SENTENCE, head=1),
    "cross-attention": replace(CROSSED, mask="causal_lower_right"),
    "cross-attention, head 2": replace(CROSSED, head=1, context=True),
    "batch item": replace(BATCH, item=17),
    "batch item, heads": replace(BATCH, item=3, heads=4, head=2),
    "batch of embeddings": X_BATCH,
    "typed": RANDOM,
    "typed, crossed": LOOKUP,
    "three widths": EXAMPLES["three-widths"].build(),
    "softmax off": EXAMPLES["bare-bones"].build(),
    "−1e9": EXAMPLES["minus-1e9"].build(),
}


@pytest.mark.parametrize("name", STARTS)
def test_beginning_elsewhere_keeps_the_numbers_of_every_stage(name):
    s = check(STARTS[name])
    shown = view(s, run(s)).stages
    there = check(changes.start_from(s, not s.typed_qkv, run(s)))
    back = check(changes.start_from(there, s.typed_qkv, run(there)))
    for other in (there, back):
        found = view(other, run(other)).stages
        for stage in (*COMPUTED, "joined", "projected", "context"):
            assert (stage in found) == (stage in shown)
            if stage in shown:
                np.testing.assert_array_equal(found[stage], shown[stage], err_msg=stage)
    assert there.typed_qkv != s.typed_qkv
    assert back.typed_qkv == s.typed_qkv
    assert changed(s, there)[0] <= {"item", "cell"}


def test_numbers_too_large_to_be_typed_do_not_become_an_input():
    s = FOUR.with_matrix("X", Matrix(np.full((4, 4), 1e12))).with_matrix(
        "W_Q", Matrix(np.full((4, 4), 1e12))
    )
    s = check(s)
    with pytest.raises(BadInput) as refused:
        check(changes.start_from(s, True, run(s)))
    assert str(refused.value) == messages.BEYOND_LIMIT.format(name="Q", limit="1e+12")


# ---- the check ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"item": 99}, {"item": 63}),
        ({"item": -1}, {"item": 0}),
        ({"head": 5}, {"head": 0}),
        ({"query": 5}, {"query": 4}),
        ({"query": -3}, {"query": 0}),
        ({"digits": 11}, {"digits": 10}),
        ({"digits": -1}, {"digits": 0}),
        ({"sample_d_k": 0}, {"sample_d_k": 1}),
        ({"sample_d_k": 10**9}, {"sample_d_k": 1024}),
        ({"samples": 10**9}, {"samples": 10_000}),
    ],
)
def test_a_view_out_of_bounds_is_pulled_back_inside(change, expected):
    assert check(replace(BATCH, **change)) == replace(BATCH, **expected)


def matrix(name, shape, fill=1.0, base=FOUR):
    return {"matrices": {**base.matrices, name: Matrix(np.full(shape, fill))}}


def without(name, base=FOUR):
    return {"matrices": {key: M for key, M in base.matrices.items() if key != name}}


REFUSED = [
    (FOUR, {"tokens": ()}, messages.EMPTY_TABLE),
    (FOUR, {"tokens": ("a", " ", "c", "d")}, messages.NAMELESS_TOKEN.format(token="token 2")),
    (
        FOUR,
        {"tokens": ("a" * 41, "b", "c", "d")},
        messages.TOKEN_TOO_LONG.format(token="token 1", found=41, limit=40),
    ),
    (FOUR, {"tokens": ("a", "b\nc", "c", "d")}, messages.CONTROL_CHARACTER.format(token="token 2")),
    (
        FOUR,
        {"tokens": ("\ud800", "b", "c", "d")},
        messages.CONTROL_CHARACTER.format(token="token 1"),
    ),
    (
        FOUR,
        {"tokens": ("a", "\ufffe", "c", "d")},
        messages.CONTROL_CHARACTER.format(token="token 2"),
    ),
    (
        FOUR,
        {"tokens": ("a", "b", "x\uffff", "d")},
        messages.CONTROL_CHARACTER.format(token="token 3"),
    ),
    (
        FOUR,
        {"tokens": ("a", "b", "c", "x\x00")},
        messages.CONTROL_CHARACTER.format(token="token 4"),
    ),
    (FOUR, {"asked": ("\ud800",)}, messages.EXERCISE_CHARACTER.format(called="places to fill in")),
    (FOUR, {"answers": ("1\ud800",)}, messages.EXERCISE_CHARACTER.format(called="answers")),
    (
        CROSSED,
        {"memory_tokens": ("a", "", "c")},
        messages.NAMELESS_TOKEN.format(token="token of the second sentence 2"),
    ),
    (
        FOUR,
        {"tokens": ("a",) * 131_073},
        messages.NO_PLACE_ON_LONG_CONTEXT.format(
            found="131,073", limit=512, left="more than 131,072"
        ),
    ),
    (
        FOUR,
        {"tokens": ("a", "b")},
        messages.SIZE_EXPECTED.format(name="X", size="4 × 4", wanted="2 × 4"),
    ),
    (
        FOUR,
        {"mask": "some"},
        messages.UNKNOWN_MASK.format(name="some", known=", ".join([*MASKS, DRAWN])),
    ),
    (
        FOUR,
        {"scale": 1000000.5},
        messages.SCALE_OUT_OF_RANGE.format(scale="1000000.5"),
    ),
    (FOUR, {"scale": 0.0}, messages.SCALE_OUT_OF_RANGE.format(scale=0)),
    (FOUR, {"scale": -1.0}, messages.SCALE_OUT_OF_RANGE.format(scale="-1")),
    (FOUR, {"scale": float("nan")}, messages.SCALE_OUT_OF_RANGE.format(scale="nan")),
    (FOUR, {"fill": "0"}, messages.UNKNOWN_FILL.format(fill="0", fills="-inf or -1e9")),
    (FOUR, {"mask": DRAWN}, messages.DRAWN_MASK_SIZE.format(size="0 × 0", queries=4, keys=4)),
    (
        FOUR,
        {"mask": DRAWN, "drawn": ((True,),)},
        messages.DRAWN_MASK_SIZE.format(size="1 × 1", queries=4, keys=4),
    ),
    (FOUR, {"padding": (0, 4)}, messages.NO_SUCH_KEY.format(key=5, keys=4)),
    (FOUR, {"heads": 3}, messages.HEADS_DO_NOT_DIVIDE.format(heads=3, possible_heads="1, 2, 4")),
    (FOUR, {"heads": 0}, messages.HEADS_DO_NOT_DIVIDE.format(heads=0, possible_heads="1, 2, 4")),
    (
        FOUR,
        {"heads": -2},
        messages.HEADS_DO_NOT_DIVIDE.format(heads="-2", possible_heads="1, 2, 4"),
    ),
    (
        FOUR,
        matrix("W_Q", (3, 4)),
        messages.SIZE_EXPECTED.format(name="W_Q", size="3 × 4", wanted="4 × 4"),
    ),
    (
        FOUR,
        matrix("W_Q", (4, 3)),
        messages.SIZE_EXPECTED.format(name="W_Q", size="4 × 3", wanted="4 × 4"),
    ),
    (
        FOUR,
        matrix("W_V", (3, 4)),
        messages.SIZE_EXPECTED.format(name="W_V", size="3 × 4", wanted="4 × 4"),
    ),
    (
        FOUR,
        matrix("W_V", (4, 0)),
        messages.COLUMNS_OUT_OF_RANGE.format(name="W_V", columns=0, most="4,096"),
    ),
    (
        FOUR,
        matrix("W_V", (4, 5000)),
        messages.COLUMNS_OUT_OF_RANGE.format(name="W_V", columns="5,000", most="4,096"),
    ),
    (
        FOUR,
        matrix("W_V", (4, 1024)),
        messages.SIZE_OUT_OF_RANGE.format(name="d_v", size="1,024", most=512),
    ),
    (
        FOUR,
        matrix("W_V", (4, 513)),
        messages.SIZE_OUT_OF_RANGE.format(name="d_v", size=513, most=512),
    ),
    (
        FOUR,
        matrix("W_O", (3, 4)),
        messages.SIZE_EXPECTED.format(name="W_O", size="3 × 4", wanted="4 × 4"),
    ),
    (
        FOUR,
        matrix("X", (4, 4), np.inf),
        messages.BEYOND_LIMIT.format(name="X", limit="1e+12"),
    ),
    (
        FOUR,
        matrix("X", (4, 4), np.nan),
        messages.BEYOND_LIMIT.format(name="X", limit="1e+12"),
    ),
    (
        FOUR,
        matrix("W_Q", (2, 4, 4)),
        messages.SHAPE_EXPECTED.format(name="W_Q", shape="(2, 4, 4)", wanted="(4, 4)"),
    ),
    (
        FOUR,
        matrix("memory", (4, 4)),
        messages.MATRICES_EXPECTED.format(
            wanted="W_K, W_Q, W_V, X", present="W_K, W_Q, W_V, X, memory"
        ),
    ),
    (
        FOUR,
        without("W_K"),
        messages.MATRICES_EXPECTED.format(wanted="W_K, W_Q, W_V, X", present="W_Q, W_V, X"),
    ),
    (
        FOUR,
        {"memory_tokens": ("a",)},
        messages.MATRICES_EXPECTED.format(
            wanted="W_K, W_Q, W_V, X, memory", present="W_K, W_Q, W_V, X"
        ),
    ),
    (
        FOUR,
        matrix("Q", (4, 4)),
        messages.MATRICES_EXPECTED.format(wanted="K, Q, V", present="Q, W_K, W_Q, W_V, X"),
    ),
    (
        BATCH,
        matrix("K", (5, 64), base=BATCH),
        messages.SHAPE_EXPECTED.format(name="K", shape="(5, 64)", wanted="(64, 5, 64)"),
    ),
    (
        BATCH,
        matrix("V", (2, 5, 64), base=BATCH),
        messages.SHAPE_EXPECTED.format(name="V", shape="(2, 5, 64)", wanted="(64, 5, 64)"),
    ),
    (
        FOUR,
        {"distribution": "evil"},
        messages.UNKNOWN_SAMPLE_DISTRIBUTION.format(name="evil", known="normal, uniform, signs"),
    ),
    (
        FOUR,
        {"tokens": ("a" * 1234, *"bcd")},
        messages.TOKEN_TOO_LONG.format(token="token 1", found="1,234", limit=40),
    ),
    (
        FOUR,
        {"capture": "evil"},
        messages.UNKNOWN_CAPTURE.format(capture="evil", captures="pronoun, verbs"),
    ),
    (
        FOUR,
        {"sample_seed": -1},
        messages.SAMPLE_SEED_OUT_OF_RANGE.format(sample_seed=-1),
    ),
]


@pytest.mark.parametrize(("settings", "change", "message"), REFUSED)
def test_what_does_not_fit_is_refused_with_a_sentence(settings, change, message):
    with pytest.raises(BadInput) as refused:
        check(replace(settings, **change))
    assert str(refused.value) == message


def test_more_scores_than_the_page_can_hold_are_refused():
    n, heads = 64, 64
    m = {
        "X": Matrix(np.zeros((64, n, 1))),
        **{w: Matrix(np.zeros((1, heads))) for w in ("W_Q", "W_K", "W_V")},
    }
    with pytest.raises(BadInput) as refused:
        check(replace(FOUR, tokens=("t",) * n, matrices=m, heads=heads))
    assert str(refused.value) == messages.TOO_MANY_SCORES.format(
        cells="16,777,216", limit="4,194,304"
    )


# ---- a sentence ---------------------------------------------------------------------------------

SAT = check(changes.set_sentence(FOUR, "The cat sat on the mat"))


def vector(word, s=SAT):
    """What a word has on its own: whole numbers from −2 to 2, whatever the sentence."""
    return word_vectors([word], s.d_model, 0).tolist()[0]


def rows(s, name="X"):
    return s.matrices[name].values.tolist()


def test_a_sentence_makes_tokens_with_an_embedding_for_each_word():
    assert SAT.tokens == ("The", "cat", "sat", "on", "the", "mat")
    assert rows(SAT) == [vector(word) for word in ("the", "cat", "sat", "on", "the", "mat")]
    assert changed(FOUR, SAT) == ({"tokens"}, {"X"})


def test_the_same_word_has_the_same_embedding_in_the_next_sentence():
    other = check(changes.set_sentence(SAT, "a mat, the cat!"))
    assert other.tokens == ("a", "mat", ",", "the", "cat", "!")
    assert rows(other) == [vector(word) for word in other.tokens]
    assert rows(changes.set_sentence(other, "the cat sat on the mat")) == rows(SAT)


def test_words_that_stay_keep_the_numbers_a_person_gave_them():
    edited = SAT.with_matrix("X", SAT.matrices["X"].edited((4, 1), 7.5))  # the second "the"
    given = [*vector("the")[:1], 7.5, *vector("the")[2:]]
    after = check(changes.set_sentence(edited, "The dog and the mat and the end"))
    assert rows(after) == [
        vector("the"),
        vector("dog"),
        vector("and"),
        given,
        vector("mat"),
        vector("and"),
        vector("the"),
        vector("end"),
    ]
    assert rows(changes.set_sentence(edited, "the dog")) == [vector("the"), vector("dog")]


def test_words_of_an_example_keep_its_numbers_and_new_ones_get_theirs():
    after = check(changes.set_sentence(SENTENCE, "because it barks"))
    before = rows(SENTENCE)
    assert rows(after) == [before[3], before[4], vector("barks", after)]
    assert after.heads == SENTENCE.heads


def test_padding_a_drawn_mask_and_the_query_go_with_their_tokens():
    s = changes.set_mask(replace(SAT, mask="causal"), DRAWN)
    s = check(replace(s, padding=(1, 5), query=2, cell=("X", 0, 0)))
    after = check(changes.set_sentence(s, "now a cat sat"))
    assert (after.padding, after.query, after.cell) == ((2,), 3, None)
    assert after.drawn[3] == (True, True, True, True)
    assert after.drawn[2] == (True, True, True, False)  # the cat did not see "sat"
    assert check(changes.set_sentence(s, "no word")).query == 1


def test_the_words_of_one_hot_embeddings_move_their_columns_and_bring_new_ones():
    s = check(changes.set_memory(changes.one_hot(SAT), True))
    assert (s.d_model, s.memory_tokens) == (8, ("a", "dog", "barks"))
    after = check(changes.set_sentence(s, "sat a cat on the small green mat"))
    words = ["sat", "a", "cat", "on", "the", "small", "green", "mat", "dog", "barks"]
    assert after.d_model == 10
    for name, tokens in (("X", after.tokens), ("memory", after.memory_tokens)):
        assert rows(after, name) == [[int(w == token) for w in words] for token in tokens]
        assert after.matrices[name].follows(after.rows_of(name))


def test_a_second_sentence_changes_its_own_sequence_alone_and_begins_one_where_there_is_none():
    for s in (SAT, changes.set_memory(SAT, True)):
        after = check(changes.set_sentence(s, "le chat, the mat", memory=True))
        assert after.memory_tokens == ("le", "chat", ",", "the", "mat")
        assert after.tokens == SAT.tokens
        assert after.matrices["X"] == SAT.matrices["X"]
        assert rows(after, "memory") == [vector(word) for word in after.memory_tokens]


def test_typed_queries_keys_and_values_give_way_to_embeddings_and_random_weights():
    after = check(changes.set_sentence(replace(RANDOM, mask="causal"), "my cat is here"))
    assert after.tokens == ("my", "cat", "is", "here")
    assert set(after.matrices) == {"X", "W_Q", "W_K", "W_V"}
    assert rows(after) == [vector(word, after) for word in after.tokens]
    assert (after.d_k, after.d_v, after.mask) == (RANDOM.d_k, RANDOM.d_v, "causal")
    assert not (after.matrices["W_Q"].values == after.matrices["W_K"].values).all()
    crossed = check(changes.set_sentence(LOOKUP, "who barks?"))
    assert (crossed.tokens, crossed.memory_tokens) == (("who", "barks", "?"), LOOKUP.memory_tokens)
    assert crossed.names == {}


def test_a_sentence_ends_a_batch_with_the_item_shown():
    s = replace(X_BATCH, tokens=("a", "b", "c", "d"), item=2)
    after = check(changes.set_sentence(s, "b d e"))
    assert (after.batch, after.item) == (0, 0)
    item = s.matrices["X"].values[2].tolist()
    assert rows(after) == [item[1], item[3], vector("e")]
    assert check(changes.set_sentence(BATCH, "two words")).batch == 0


@pytest.mark.parametrize("settings", [FOUR, SAT, RANDOM, BATCH, LOOKUP, CROSSED])
def test_a_sentence_with_the_same_tokens_changes_nothing(settings):
    s = replace(settings, tokens=("a", "b", "c", "d", "e")[: len(settings.tokens)])
    assert changes.set_sentence(s, changes.sentence_of(s)) is s


def test_the_box_shows_a_sentence_that_gives_the_tokens_again():
    s = changes.set_sentence(FOUR, "Well,the cat(mine)  didn't sit.")
    assert changes.sentence_of(s) == "Well, the cat (mine) didn't sit."
    assert changes.sentence_of(LOOKUP) == "a c ?"
    assert changes.sentence_of(LOOKUP, memory=True) == "a b a c b c d"


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("", messages.EMPTY_SENTENCE),
        (" \n\u200b", messages.EMPTY_SENTENCE),
        ("猫" * 20_001, messages.SENTENCE_TOO_LONG.format(found="20,001", limit="20,000")),
        ("word " * 513, messages.TOO_MANY_TOKENS.format(found=513, limit=512)),
        ("猫" * 2599, messages.TOO_MANY_TOKENS.format(found="2,599", limit=512)),
        ("a " + "b" * 41, messages.TOKEN_TOO_LONG.format(token="token 2", found=41, limit=40)),
    ],
)
@pytest.mark.parametrize("settings", [FOUR, BATCH])
def test_a_sentence_that_does_not_fit_is_refused(settings, sentence, message):
    with pytest.raises(BadInput) as refused:
        check(changes.set_sentence(settings, sentence))
    assert str(refused.value) == message


def test_512_tokens_fit():
    assert len(check(changes.set_sentence(FOUR, "word, " * 256)).tokens) == 512


def test_a_drawn_mask_of_more_is_refused_before_its_cells_are_made(monkeypatch):
    def never(*args):
        raise AssertionError("its cells were made")

    drawn = changes.set_mask(FOUR, DRAWN)
    monkeypatch.setattr(np, "concatenate", never)
    with pytest.raises(BadInput) as refused:
        changes.set_sentence(drawn, "word " * 2000)
    assert str(refused.value) == messages.NO_PLACE_ON_LONG_CONTEXT.format(
        found="2,000", limit=512, left="a drawn mask"
    )


@pytest.mark.parametrize("kind", ["integers", "normal", "uniform", "identity"])
def test_embeddings_by_word_travel_as_a_recipe_in_a_link(kind):
    s = check(changes.set_memory(changes.by_word(SAT, kind, 12, -3, 4), True))
    link = links.write(s)
    ends = ",-3,4" if kind in ("integers", "uniform") else ""
    assert link["X"] == f"{kind}.words,12,6x{s.d_model}{ends}"
    assert link["memory"] == f"{kind}.words,12,3x{s.d_model}{ends}"
    assert links.read(link) == (s, [])
    edited = s.with_matrix("X", s.matrices["X"].edited((0, 0), 0.25))
    assert links.read(links.write(edited)) == (edited, [])
    renamed = replace(s, tokens=("A", *s.tokens[1:]))  # its numbers stay
    assert links.read(links.write(renamed)) == (renamed, [])


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ({"X": "normal.words,1,3x4"}, messages.ROWS_OF_OTHER_WORDS.format(words=4, rows=3)),
        ({"W_Q": "normal.words,1,4x4"}, messages.VECTORS_BY_WORD),
        (
            {"X": "xavier.words,1,4x4"},
            messages.UNKNOWN_WORD_VECTORS.format(
                name="'xavier'", known="integers, normal, uniform, identity"
            ),
        ),
        ({"X": "normal.scored,1,4x4"}, messages.UNKNOWN_STREAM.format(stream="'scored'")),
    ],
)
def test_a_recipe_by_word_that_cannot_be_is_one_sentence(link, why):
    s, notices = links.read({"example": "four-words"} | link)
    assert s == FOUR
    assert notices == [
        messages.PASSED_OVER.format(what=f"parameter {next(iter(link))} was", why=why)
    ]


def test_more_columns_leave_the_embeddings_of_words_as_they_are():
    wide = check(changes.set_dimension(SAT, "d_model", 9))
    assert wide.matrices["X"].follows(wide.rows_of("X"))
    assert np.array_equal(wide.matrices["X"].values[:, :4], SAT.matrices["X"].values)
    assert rows(wide)[0] == rows(wide)[4] == vector("the", wide)


def test_a_token_added_to_words_is_the_vector_of_its_word():
    after = check(editing.add_token(SAT, "X"))
    assert rows(after)[6] == vector(after.tokens[6])


def test_randomize_draws_the_embeddings_by_word_where_it_is_asked_to():
    s = check(editing.randomize(SAT, 5, with_X=True))
    assert rows(s) == word_vectors(s.tokens, 4, 5).tolist()
    assert s.matrices["X"].follows(s.rows_of("X"))
    kept = changes.by_word(SAT, "normal", 1)
    assert rows(editing.randomize(kept, 5, with_X=True)) == (
        word_vectors(s.tokens, 4, 5, "normal").tolist()
    )


def test_more_one_hot_words_than_columns_are_refused_as_too_many_tokens():
    one_hot = changes.by_word(SAT, "identity")
    words = " ".join(f"w{k}" for k in range(600))
    with pytest.raises(TooManyTokens) as refused:
        changes.set_sentence(one_hot, words)
    assert str(refused.value) == messages.NO_PLACE_ON_LONG_CONTEXT.format(
        found=600, limit=512, left="one-hot vectors of more than 512 words"
    )
    assert refused.value.settings is None
