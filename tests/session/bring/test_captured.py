"""A captured head as settings: the same numbers, its words, and what is left behind said first."""

import csv
import io
from dataclasses import replace

import messages
import numpy as np
import pytest
from models.test_recorded import FAMILIES, recorded

from attention.exports import tables
from attention.limits import MAX_TOKENS, BadInput
from attention.models.examples import load
from attention.models.labels import words_of
from attention.models.taken import Call, Taken
from attention.session.bring.captured import (
    arrival,
    is_long,
    left_behind,
    sequences,
    sharpest,
    with_head,
)
from attention.session.edit.changes import name_of, set_sentence
from attention.session.state import links
from attention.session.state.about import behind, what_it_is
from attention.session.state.examples import EXAMPLES, OWN
from attention.session.state.run import run, view
from attention.session.state.settings import allowed
from attention.session.state.validate import check

CAT = EXAMPLES["cat-sat"].build()


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_recorded_head_has_its_numbers_on_explore_or_says_how_far_it_is_off(family):
    taken = recorded(family)
    for call in taken:
        for item, head in np.ndindex(call.Q.shape[:2]):
            s = with_head(CAT, taken, call, item, head)
            assert check(s) == s and s.example == OWN and s.typed_qkv
            trace, mine = call.trace(item, head), run(s)
            np.testing.assert_array_equal(allowed(s), trace.allowed)
            assert (s.tokens, s.key_tokens) == words_of(taken, call, item)
            assert mine.scale == pytest.approx(call.scale, rel=1e-12)
            apart = float(np.abs(mine.weights - trace.weights).max())
            if not left_behind(call):
                np.testing.assert_array_equal(mine.scores, trace.scores)
                assert apart < 1e-15 and behind(s) == ()
            else:
                (said,) = behind(s)
                assert said.startswith(messages.NOT_ON_EXPLORE.partition("{")[0]) and apart > 1e-9
            again = links.from_file(links.to_file(s))
            assert again == s


def test_nothing_of_the_attention_before_is_left_but_how_it_is_shown():
    taken = recorded("bert")
    before = replace(EXAMPLES["minus-1e9"].build(), digits=3, step=4, padding=(1,), context=True)
    fresh = with_head(replace(CAT, digits=3, step=4), taken, taken[0], 0, 0)
    assert with_head(before, taken, taken[0], 0, 0) == fresh
    assert (fresh.digits, fresh.step) == (3, 4)


def test_a_bias_that_goes_by_distance_comes_as_a_table():
    for place, both in ((0, True), (1, False)):  # encoder, decoder
        call = recorded("t5")[place]
        s = with_head(CAT, recorded("t5"), call, 0, 1)
        assert s.parts == ("relative",) and behind(s) == () and left_behind(call) == []
        assert (s.bidirectional, s.max_distance, s.shape("R")) == (both, 128, (32, 1))
        theirs = call.trace(0, 1)
        np.testing.assert_array_equal(view(s, run(s)).stages["masked"], theirs.masked)
    rng = np.random.default_rng(0)  # no model's buckets, and 1 for each distance: 0 or 1
    far = np.subtract.outer(np.arange(6), np.arange(6)) + 5
    for values in (rng.normal(size=11), rng.integers(0, 2, 11)):
        call = replace(recorded("t5")[0], bias=values[far][None, None].astype(np.float32))
        s = with_head(CAT, recorded("t5"), call, 0, 1)
        assert s.shape("R") == (32, 1) and behind(s) == ()
        np.testing.assert_allclose(run(s).weights, call.trace(0, 1).weights, rtol=1e-12)


def test_what_stays_behind_is_named():
    rng = np.random.default_rng(0)
    call = replace(recorded("t5")[0], bias=rng.normal(size=(1, 1, 6, 6)).astype(np.float32))
    assert left_behind(call) == [messages.BIAS_OF_EACH_SCORE]
    s = with_head(CAT, recorded("t5"), call, 0, 1)
    assert behind(s)[0].startswith(
        messages.NOT_ON_EXPLORE.format(missing=messages.BIAS_OF_EACH_SCORE, difference=0)
    )


def test_soft_cap_and_sinks_come_along():
    taken = recorded("gemma2")
    assert with_head(CAT, taken, taken[0], 0, 1).softcap == 50
    taken = recorded("gpt-oss")
    s = with_head(CAT, taken, taken[0], 0, 1)
    assert s.sinks == (float(taken[0].sinks[1]),) and behind(s) == ()
    assert (run(s).weights.sum(axis=-1) < 1).all()


def test_files_say_where_the_numbers_were_captured():
    taken = recorded("mistral")
    s = with_head(CAT, taken, taken[1], 0, 2)
    inputs = what_it_is(s).inputs
    module = taken[1].module
    assert inputs["Q"] == f"captured from Mistral, window, layer 1 ({module}), head 2"
    assert inputs["Q"] == inputs["mask"] and s.mask == "drawn"
    chosen = replace(taken[1], heads=(0, 3, 5, 7), call=4, kind="decoder", repeat="step")
    s = with_head(CAT, taken, chosen, 0, 2)
    where = f"layer 1 (decoder, {module}), head 5, step 4"
    assert what_it_is(s).inputs["Q"] == f"captured from Mistral, window, {where}"
    assert with_head(CAT, recorded("gpt2"), recorded("gpt2")[0], 0, 0).mask == "causal"


def two_stacks() -> Taken:
    """An encoder of 3 words, and a decoder of 2 that look at these, as BART has them."""
    rng = np.random.default_rng(0)

    def call(layer, module, kind, n_q, n_k, **more):
        Q, K = (rng.normal(size=(2, 2, n, 4)) for n in (n_q, n_k))
        return Call(layer, 0, module, Q, K, K, Q, 0.5, kind=kind, **more)

    places = {"query_position": 0, "key_position": 0}
    cross = {"query_position": 0, "key_position": 0, "keys_of": "encoder.layers.0.self_attn"}
    calls = [
        call(0, "encoder.layers.0.self_attn", "encoder", 3, 3, **places),
        call(1, "decoder.layers.0.self_attn", "decoder", 2, 2, **places),
        call(2, "decoder.layers.0.encoder_attn", "cross", 2, 3, **cross),
    ]
    words = {"encoder": [["das", "ist", "gut"], ["wie", "geht", "[PAD]"]]}
    return Taken("m/BART", {**words, "decoder": [["that", "is"]] * 2}, calls=calls)


def test_a_head_of_cross_attention_says_its_kind_its_module_and_its_item():
    taken = two_stacks()
    s = with_head(CAT, taken, taken[2], 1, 0)
    where = "layer 2 (cross, decoder.layers.0.encoder_attn), head 0, item 1 of 0–1"
    assert what_it_is(s).inputs["Q"] == f"captured from m/BART, {where}"
    stem = "BART_layer2_decoder.layers.0.encoder_attn_head0_item1"
    assert name_of(s) == (f"L{where[1:]}, of m/BART", stem)
    assert links.from_file(links.to_file(s)) == s


def test_files_of_a_captured_head_have_the_models_item_and_head():
    taken = two_stacks()
    for item in (0, 1):
        s = with_head(CAT, taken, taken[2], item, 0)
        about = what_it_is(s)
        lines = list(csv.DictReader(io.StringIO(tables.to_csv(view(s, run(s)), about).decode())))
        assert {(line["item"], line["head"]) for line in lines} == {(str(item), "0")}
        record = about.record()
        assert record["item"] == f"item {item} of 0–1"
        assert record["head"].endswith(f"head 0, item {item} of 0–1")
        assert about.part == record["head"] and about.suffix == ""  # said once, by the head


def test_the_words_of_each_sequence_are_said_once_by_the_part_they_are_of():
    taken = two_stacks()
    assert sequences(taken, 1) == {"encoder": ["wie", "geht", "[PAD]"], "decoder": ["that", "is"]}
    one = Taken("m", ["a", "b"], calls=[taken[1]])
    assert sequences(one, 0) == {"": ["a", "b"]}
    assert sequences(replace(taken, tokens=["a", "b"]), 0) == {}  # of which of the two?
    assert sequences(replace(taken, tokens=[]), 0) == {}
    patches = replace(taken[0], kind="vision", names=("patch",), key_names=("patch",))
    assert sequences(Taken("m", ["a", "b", "c"], calls=[patches]), 0) == {}


def test_the_words_of_a_generation_are_those_of_all_its_steps():
    """A window keeps the last keys alone, and a step that was not captured leaves a gap."""
    rng = np.random.default_rng(0)

    def step(k, first, n_q, n_k):
        Q, K = (rng.normal(size=(1, 1, n, 4)) for n in (n_q, n_k))
        places = {"query_position": first + n_k - n_q, "key_position": first}
        return Call(0, k, "h.0.attn", Q, K, K, Q, 0.5, repeat="step", **places)

    words = list("abcdefgh")
    calls = [step(0, 0, 3, 3), step(1, 1, 1, 3), step(2, 2, 1, 3), step(3, 3, 1, 3)]
    assert sequences(Taken("m", words[:6], calls=calls), 0) == {"": words[:6]}
    calls += [step(4, 4, 1, 3), step(5, 5, 1, 3)]
    assert sequences(Taken("m", words, calls=calls), 0) == {"": words}
    gap = Taken("m", words, calls=[calls[0], calls[-1]])
    assert sequences(gap, 0) == {"": ["a", "b", "c", "…", "f", "g", "h"]}


def test_the_query_of_a_step_is_called_as_its_key_where_a_word_repeats():
    words = ["the", "cat", "saw", "the"]
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(1, 1, 1, 4)), rng.normal(size=(1, 1, 4, 4))
    places = {"query_position": 3, "key_position": 0}
    step = Call(0, 1, "h.0.attn", Q, K, K, Q, 0.5, repeat="step", **places)
    s = with_head(CAT, Taken("m", words, calls=[step]), step, 0, 0)
    shown = view(s, run(s))
    assert shown.rows("weights") == ("the (2)",)
    assert shown.columns("weights") == ("the (1)", "cat", "saw", "the (2)")
    crossed = replace(step, kind="cross", query_position=0)
    s = with_head(CAT, Taken("m", {"": words}, calls=[crossed]), crossed, 0, 0)
    assert view(s, run(s)).rows("weights") == ("the",)


def test_a_sentence_names_the_words_of_a_captured_head_and_keeps_its_numbers():
    taken = recorded("bert")
    s = with_head(CAT, taken, taken[1], 0, 2)
    count = len(s.tokens)
    named = set_sentence(s, " ".join(f"w{k}" for k in range(count)))
    assert named.tokens == tuple(f"w{k}" for k in range(count))
    assert named.matrices == s.matrices
    special = " ".join(["<s>"] * count)  # more tokens than words
    assert set_sentence(s, special).tokens == ("<s>",) * count
    with pytest.raises(BadInput) as refused:
        set_sentence(s, "one word more " * count)
    assert str(refused.value) == messages.CAPTURED_HEAD_HAS_ROWS.format(
        words=3 * count, count=count, side="rows"
    )
    with pytest.raises(BadInput) as refused:
        set_sentence(s, "[CLS] one, " + "two " * count)
    apart = f"has {count + 2} words ({count + 5} with punctuation apart), and"
    assert apart in str(refused.value)


@pytest.mark.parametrize(("queries", "keys"), [(512, 512), (513, 2), (2, 513)])
def test_a_head_of_more_tokens_than_the_board_shows_is_long(queries, keys):
    Q, K = (np.zeros((1, 1, n, 2), np.float32) for n in (queries, keys))
    assert is_long(Call(0, 0, "m", Q, K, K, Q, 1.0)) == (max(queries, keys) > MAX_TOKENS)


def test_files_of_a_head_are_called_as_the_model_counts_until_its_numbers_are_changed():
    taken = recorded("bert")
    taken.model = "some one/of & mine: BERT"
    s = with_head(CAT, taken, taken[1], 0, 2)
    module = taken[1].module
    stem = f"of-mine-BERT_layer1_{module}_head2"
    where = f"Layer 1 (encoder, {module}), head 2"
    assert name_of(s) == (f"{where}, of some one/of & mine: BERT", stem)
    assert name_of(replace(s, mask="causal"))[1] == stem
    about = what_it_is(s)
    assert about.head.words == where.replace("L", "l", 1) and about.suffix == ""
    lines = list(csv.DictReader(io.StringIO(tables.to_csv(view(s, run(s)), about).decode())))
    assert {line["head"] for line in lines} == {"2"}
    doubled = replace(s.matrices["V"], values=2 * s.matrices["V"].values)
    changed = s.with_matrix("V", doubled)
    assert name_of(changed)[1] == OWN and what_it_is(changed).head.words == ""


def test_what_was_said_of_a_head_stands_while_it_is_looked_at():
    taken = recorded("bert")
    s = with_head(CAT, taken, taken[0], 0, 0)
    arrived = s, "as the model’s"
    beside = replace(s, query=2, cell=("weights", 1, 1), pinned=replace(CAT, mask="causal"))
    assert arrival(s, arrived) == arrival(beside, arrived) == "as the model’s"
    assert arrival(replace(s, mask="causal"), arrived) is arrival(s, None) is None
    # opened while a comparison stood beside it, which is gone now
    assert arrival(s, (beside, "as the model’s")) == "as the model’s"


@pytest.mark.parametrize(
    ("tokens", "allowed", "query"),
    [
        (["[CLS]", "a", "b", "[SEP]"], np.ones((4, 4), bool), 2),
        (["<s>", "a", "<0x0A>", "<|endoftext|>"], np.ones((4, 4), bool), 1),
        (["a", "b", "c", "d"], np.tril(np.ones((4, 4), bool)), 3),
        (["[CLS]", "[SEP]"], np.eye(2, dtype=bool), 0),
    ],
)
def test_a_head_opens_at_the_sharpest_row_of_a_word_that_sees_several_keys(tokens, allowed, query):
    largest = np.array([1.0, 0.6, 0.7, 0.9])[: len(tokens)]
    weights = np.zeros((len(tokens), len(tokens)))
    weights[:, 0], weights[:, 1] = largest, 1 - largest
    assert sharpest(weights, allowed, tokens, ["w", "x", "y", "z"][: len(tokens)]) == query


def test_a_head_opens_at_the_row_with_the_largest_weight_on_a_word():
    """By plain loops over heads of MiniLM, most of which look at [CLS]."""
    taken = load("pronoun")
    opened_at = []
    for call in taken:
        words = [word not in ("[CLS]", "[SEP]") for word in taken.tokens]
        for head in range(call.Q.shape[1]):
            weights = call.trace(0, head).weights
            found = {
                i: max(weights[i, j] for j in range(len(words)) if words[j])
                for i in range(len(words))
                if words[i]
            }
            opened_at.append(taken.tokens[max(found, key=found.get)])
            assert with_head(CAT, taken, call, 0, head).query == max(found, key=found.get)
    assert opened_at[15] == "it"  # layer 3, head 1: the head that the page speaks of


def given_weights(first_row):
    A = np.full((1, 2, 3, 3), 1 / 3)
    A[0, 0, 0] = first_row
    return Taken.of_weights(A)


def test_a_head_of_given_weights_has_the_mask_of_its_layer_and_any_finite_weight():
    for row in ([1.0, 0.0, 0.0], [1.25, -0.25, 0.0], [0.25, 0.25, 0.25]):
        taken = given_weights(row)
        s = with_head(CAT, taken, taken.calls[0], 0, 0)
        s = links.read(dict(links.write(s)))[0]
        assert s.weights_alone and s.mask == "none" and allowed(s).all()
        np.testing.assert_array_equal(run(s).weights[0], row)
    taken = given_weights([np.nan, 0.5, 0.5])
    with pytest.raises(BadInput, match="NaN or infinite, which Explore cannot show"):
        with_head(CAT, taken, taken.calls[0], 0, 0)
