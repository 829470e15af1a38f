"""Finished attention weights as libraries hand them over, and what is done with them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import attention
from attention.exports.across import across_layers
from attention.limits import BadInput
from attention.models.labels import label_note, positions_of, words_of
from attention.models.opening import opened
from attention.models.survey import survey
from attention.models.taken import Taken
from attention.models.verify import AS_GIVEN
from attention.models.weights import BEAMS, PERHAPS, odd_rows
from attention.session.bring.captured import with_head
from attention.session.long.long_inputs import captured_inputs
from attention.session.state.examples import EXAMPLES
from attention.session.state.long_context import LongContext
from attention.session.state.run import run, view

WORDS = ["[CLS]", "the", "cat", "the", "[SEP]"]


def shares(*shape, seed=0, causal=False):
    """Rows that add up to 1; ``causal``: none looks ahead."""
    A = np.random.default_rng(seed).random(shape).astype(np.float32)
    if causal:
        A = np.tril(A, shape[-1] - shape[-2])
    return A / A.sum(axis=-1, keepdims=True)


class Tensor:
    """What is asked of a torch tensor, and no array."""

    def __init__(self, values):
        self.values, self.ndim, self.shape = values, values.ndim, values.shape

    def detach(self):
        return self

    def numpy(self, force=False):
        assert force
        return self.values

    def __iter__(self):
        return map(Tensor, self.values)


WAYS = {
    "a tuple of layers": lambda A: tuple(A),
    "a list of tensors": lambda A: [Tensor(layer) for layer in A],
    "an array of five axes": lambda A: A,
    "a tensor of five axes": Tensor,
    "nested lists": lambda A: A.tolist(),
    "layers without the batch": lambda A: A[:, 0],
    "outputs": lambda A: {"logits": np.ones((1, 5, 9)), "attentions": tuple(A)},
    "TransformerLens": lambda A: (
        {f"blocks.{k}.attn.hook_pattern": Tensor(layer) for k, layer in enumerate(A)}
        | {"blocks.0.attn.hook_q": Tensor(np.ones((1, 5, 2, 4)))}
    ),
    "names of layers": lambda A: {f"layer{k}": layer for k, layer in enumerate(A)},
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_handing_weights_over_gives_the_same_layers(way):
    A = shares(3, 1, 2, 5, 5)
    taken = Taken.of_weights(WAYS[way](A), tokens=WORDS, model="mine")
    assert [call.layer for call in taken] == [0, 1, 2]
    for call, layer in zip(taken, A, strict=True):
        np.testing.assert_allclose(call.weights, layer, rtol=1e-12)
        np.testing.assert_allclose(call.trace(0, 1).weights, layer[0, 1], rtol=1e-12)
        assert call.kind == "encoder" and words_of(taken, call, 0) == (tuple(WORDS),) * 2


def test_what_is_kept_is_no_longer_the_callers():
    A = shares(1, 2, 3, 3)
    taken = Taken.of_weights((A,))
    before = A.copy()
    A[:] = 0
    np.testing.assert_array_equal(taken[0].weights, before)
    assert not taken[0].weights.flags.writeable


def test_layers_of_unequal_shapes_keep_their_own():
    layers = shares(1, 2, 6, 6), shares(4, 3, 2, 2), shares(1, 2, 6, 3)
    taken = Taken.of_weights(layers, kind="vision")
    assert [call.weights.shape for call in taken] == [layer.shape for layer in layers]
    assert taken.counts[:2] == (2 + 12 + 2, 2 * 36 + 12 * 4 + 2 * 18)


def test_an_encoder_and_a_decoder_come_with_their_cross_attention():
    outputs = {
        "encoder_attentions": (shares(1, 2, 4, 4), shares(1, 2, 4, 4, seed=1)),
        "decoder_attentions": (shares(1, 2, 3, 3, causal=True),),
        "cross_attentions": (shares(1, 2, 3, 4, seed=2),),
    }
    source, target = ["ein", "Satz", "hier", "."], ["a", "sentence", "."]
    taken = Taken.of_weights(outputs, tokens={"encoder": source, "decoder": target})
    assert [call.kind for call in taken] == ["encoder", "encoder", "decoder", "cross"]
    assert [call.layer for call in taken] == [0, 1, 2, 3]
    assert words_of(taken, taken[1], 0) == (tuple(source), tuple(source))
    assert words_of(taken, taken[3], 0) == (tuple(target), tuple(source))
    assert label_note(taken) == ""
    alone = Taken.of_weights(
        outputs["cross_attentions"], kind="cross", tokens={"queries": target, "keys": source}
    )
    assert words_of(alone, alone[0], 0) == (tuple(target), tuple(source))


def test_steps_of_a_generation_stand_at_their_positions():
    whole = shares(1, 2, 6, 6, causal=True)
    steps = [(whole[:, :, :4, :4],), (whole[:, :, 4:5, :5],), (whole[:, :, 5:6],)]
    words = ["a", "b", "c", "d", "e", "f", "g"]  # the last was never fed
    taken = Taken.of_weights({"attentions": steps}, tokens=words)
    assert [call.when for call in taken] == ["", "step 1", "step 2"]
    assert {call.kind for call in taken} == {"decoder"}
    assert [positions_of(taken, call) for call in taken] == [(0, 0), (4, 0), (5, 0)]
    assert words_of(taken, taken.at(0, 2), 0) == (("f",), tuple("abcdef"))
    window = [(whole[:, :, :4, :4],), (whole[:, :, 4:5, 1:5],)]  # a cache of four keys
    assert [positions_of(t, t.at(0, 1)) for t in [Taken.of_weights(window)]] == [(4, 1)]


def test_steps_without_a_cache_read_all_anew_and_do_not_join():
    """Of the model's own attention and of what it reads of an encoder."""
    whole = shares(1, 2, 6, 6, causal=True)
    steps = [(whole[:, :, :n, :n],) for n in (4, 5, 6)]
    taken = Taken.of_weights(steps, tokens=WORDS + ["cat", "[SEP]"])
    assert [positions_of(taken, call) for call in taken] == [(0, 0)] * 3
    assert words_of(taken, taken.at(0, 2), 0) == ((*WORDS, "cat"),) * 2
    with pytest.raises(BadInput, match=r"step 1 begins at position 0, before the end .* \(4\)"):
        taken.joined()
    crossed = Taken.of_weights([(shares(1, 2, n, 4),) for n in (1, 2, 3)], kind="cross")
    assert [positions_of(crossed, call) for call in crossed] == [(0, 0)] * 3


def test_padding_that_looks_at_all_keys_alike_makes_no_encoder_of_a_decoder():
    """A row whose keys are all hidden has equal weights in eager attention."""
    A = shares(2, 2, 6, 6, causal=True)
    A[1, :, 2:, :2] = 0
    A[1] /= A[1].sum(axis=-1, keepdims=True)
    A[1, :, :2] = 1 / 6
    for keys in (6, 9):  # and places of a cache that are not filled
        wide = np.pad(A, [(0, 0)] * 3 + [(0, keys - 6)])
        wide[1, :, :2] = 1 / keys
        assert Taken.of_weights((wide,))[0].kind == "decoder"
    A[1, 0, 5, 0] = 0.5  # a query looks at its key, so it is a word
    assert Taken.of_weights((A,))[0].kind == "encoder"
    assert Taken.of_weights((np.full((1, 1, 3, 3), 1 / 3),))[0].kind == "encoder"


@pytest.mark.parametrize("prompt", [1, 4])
def test_places_of_a_cache_that_are_not_filled_are_no_past(prompt):
    """With ``cache_implementation="static"`` all steps have as many keys."""
    whole = np.pad(shares(2, 2, 7, 7, causal=True), [(0, 0)] * 3 + [(0, 3)])
    whole[1, :, :prompt] = np.where(np.arange(10) < 1, 1, 0)  # padded on the left
    parts = [whole[:, :, :prompt], *(whole[:, :, k : k + 1] for k in range(prompt, 7))]
    words = list("abcdefgh")  # the last was never fed
    taken = Taken.of_weights([(part,) for part in parts], tokens=[words, words])
    at = [0, *range(prompt, 7)]
    assert [positions_of(taken, call) for call in taken] == [(begin, 0) for begin in at]
    assert {call.kind for call in taken} == {"decoder"}
    for call, begin in zip(taken, at, strict=True):
        assert words_of(taken, call, 1)[0] == tuple(words[begin : begin + call.Q.shape[2]])
    np.testing.assert_array_equal(taken.joined().weights, whole[..., :7])
    if prompt > 1:  # of the first call alone
        alone = Taken.of_weights((parts[0],))
        assert positions_of(alone, alone[0]) == (0, 0)


def test_beams_have_the_words_of_the_prompt_and_do_not_join():
    whole = shares(1, 2, 5, 5, causal=True).repeat(3, axis=0)
    steps = [(whole[:, :, :3, :3],), (whole[:, :, 3:4, :4],), (whole[:, :, 4:],)]
    answer = [*WORDS, "!"]
    sure = {"sequences": np.ones((1, 6)), "attentions": steps, "beam_indices": np.ones((1, 6))}
    for given, words, note in (
        (sure, answer, BEAMS),
        (sure, [answer] * 3, BEAMS),
        (steps, answer, PERHAPS),
        (steps, None, PERHAPS),
    ):
        taken = Taken.of_weights(given, tokens=words)
        assert [call.notes for call in taken] == [(), (note,), (note,)]
        with pytest.raises(BadInput, match=f"^layer 0 does not join: {note[:30]}"):
            taken.joined()
        for item in range(3 if words else 0):
            assert words_of(taken, taken.at(0), item) == (tuple(WORDS[:3]),) * 2
            assert words_of(taken, taken.at(0, 2), item) == (("w5",), (*WORDS[:3], "w4", "w5"))


def test_sequences_of_their_own_join_and_have_words_of_their_own():
    whole = shares(2, 2, 5, 5, causal=True)
    steps = [(whole[:, :, :3, :3],), (whole[:, :, 3:4, :4],), (whole[:, :, 4:],)]
    outputs = {"sequences": np.ones((2, 6)), "attentions": steps}  # sampled, or of two prompts
    lists = [[*WORDS, "!"], list("uvwxyz")]
    for given, words in ((steps, lists), (outputs, lists), (outputs, None)):
        taken = Taken.of_weights(given, tokens=words)
        np.testing.assert_array_equal(taken.joined().weights, whole)
        if words:
            assert words_of(taken, taken.at(0, 2), 1) == (("y",), tuple("uvwxy"))
    # one list is of the first item; of another prompt it says nothing
    taken = Taken.of_weights(outputs, tokens=lists[0])
    assert words_of(taken, taken.at(0, 2), 0)[0] == (WORDS[4],)
    assert words_of(taken, taken.at(0, 0), 1)[0] == ("w1", "w2", "w3")


def test_a_decoder_with_cross_attention_has_names_for_the_words_of_both():
    """Of GPT-2 with cross-attention, whose outputs have no encoder's attentions."""
    outputs = {"attentions": (shares(1, 2, 3, 3, causal=True),)}
    outputs |= {"cross_attentions": (shares(1, 2, 3, 4),)}
    source, target = tuple("wxyz"), tuple("abc")
    taken = Taken.of_weights(outputs, tokens={"encoder": source, "decoder": target})
    assert [call.kind for call in taken] == ["decoder", "cross"]
    assert words_of(taken, taken[0], 0) == (target, target)
    assert words_of(taken, taken[1], 0) == (target, source) and not label_note(taken)


def test_words_of_a_part_that_no_layer_is_called_are_refused_in_a_sentence():
    taken = Taken.of_weights((shares(1, 2, 5, 5),), tokens={"decoder": WORDS})
    assert label_note(taken) == (
        "tokens has the key 'decoder', and the layers have no names; expected one list of words."
    )
    taken = Taken.of_weights((shares(1, 2, 5, 5),), tokens={"decoder": WORDS}, kind="cross")
    assert label_note(taken).endswith("of one of these modules: queries, keys.")


def test_no_two_layers_have_one_number():
    """Also where layers without attention come first, in hybrids."""
    A, B, C = (shares(1, 2, n, n) for n in (3, 4, 5))
    outputs = {"encoder_attentions": (None, A), "decoder_attentions": (B, None, C)}
    taken = Taken.of_weights(outputs)
    assert [call.layer for call in taken] == [1, 2, 4]
    assert [call.weights.shape[3] for call in taken] == [3, 4, 5]


def test_two_calls_of_one_name_are_not_saved(tmp_path):
    call = Taken.of_weights((shares(1, 2, 3, 3),))[0]
    with pytest.raises(ValueError, match=r"^2 calls are named layers\.0; in a file each needs"):
        Taken("mine", calls=[call, replace(call, module="other")]).save(tmp_path / "a.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", [0.0, "a", True, -1, 5, [0]], ids=str)
def test_an_item_or_head_that_is_none_is_refused_in_a_sentence(given):
    folder = Path(attention.__file__).parent / "models" / "captures"
    for call in (
        Taken.of_weights((shares(1, 2, 3, 3),))[0],
        Taken.load(folder / "pronoun.safetensors")[0],
    ):
        for more in ({"item": given}, {"head": given}, {"item": given, "head": 0}):
            with pytest.raises(ValueError, match=r"^(item|head) is .*from 0\.$|has no (item|head)"):
                call.trace(**more)
        assert call.trace(np.int64(0), np.int8(1)).weights.ndim == 2


def test_what_is_zero_in_every_head_is_hidden():
    A = shares(1, 2, 4, 4, causal=True)
    A[0, 0, 3] = [0, 0.5, 0.25, 0.25]  # a 0 of one head is a weight
    call = Taken.of_weights((A,))[0]
    expected = [[[any(A[0, h, i, j] for h in range(2)) for j in range(4)] for i in range(4)]]
    np.testing.assert_array_equal(call.allowed[0], expected)
    assert list(attention.View.of(call.trace(0, 0)).stages) == ["mask", "weights"]


ODD = {
    "no layer has weights": (((None, None),), "weights holds no attention weights, only (None, "),
    "nothing": (((),), "weights holds no attention weights, only ()"),
    "outputs without": (({"logits": np.ones(3)},), "weights has no attentions; load the model"),
    "two axes too many": ((np.ones((1,) * 8),), "weights has 8 axes; expected (layers, items,"),
    "text": ((np.array([["a"]]),), "weights holds text; expected attention weights."),
    "objects": ((np.array([[{}, 1]], object),), "weights holds objects such as {}"),
    "no layers": ((np.ones((0, 1, 1, 2, 2)),), "weights has no layers."),
    "no layers of outputs": (({"attentions": np.ones((0, 1, 1, 2, 2))},), "weights has no layers."),
    "a mask": ((np.ones((2, 2), bool),), "weights holds bool; expected attention weights."),
    "no key": ((np.ones((1, 2, 3, 0)),), "weights[0] has shape (2, 3, 0); expected (items,"),
}


@pytest.mark.parametrize("what", ODD)
def test_what_are_no_weights_is_refused_in_a_sentence(what):
    given, begins = ODD[what]
    with pytest.raises((BadInput, TypeError)) as problem:
        Taken.of_weights(*given)
    assert str(problem.value).startswith(begins) and str(problem.value).endswith(".")


def test_another_count_of_words_is_refused_with_both_counts():
    with pytest.raises(BadInput, match=r"^tokens has 3 words, and the weights are of 5 tokens;"):
        Taken.of_weights((shares(1, 2, 5, 5),), tokens=WORDS[:3])
    with pytest.raises(BadInput, match=r"^tokens\[1\] has 1 words, and .* of 5 tokens;"):
        Taken.of_weights((shares(2, 2, 5, 5),), tokens=[WORDS, ["a"]])
    with pytest.raises(BadInput, match="there are two sequences"):
        Taken.of_weights((shares(1, 2, 3, 5),), tokens=WORDS, kind="cross")


def test_rows_that_are_no_weights_are_named_and_shown():
    A = shares(2, 1, 2, 3, 3)
    A[0, 0, 1, 2] *= 0.5
    A[1, 0, 0, 1, 0] = -0.25
    A[1, 0, 1, 0, 2] = np.nan
    A[1, 0, 1, 2] = 0  # sees no key
    taken = Taken.of_weights(A)
    assert taken[0].notes == ("layer 0, head 1, row 2 does not add up to 1 (rows count from 0)",)
    assert taken[1].notes == (
        "layer 1, head 1, row 0 holds NaN or infinity (rows count from 0)",
        "layer 1, head 0, row 1 holds negative weights (rows count from 0)",
    )
    np.testing.assert_array_equal(taken[1].trace(0, 0).weights, A[1, 0, 0])
    said = str(attention.verify(taken))
    assert said.count(AS_GIVEN) == 3 and "head 0, row 1 holds negative weights" in said
    assert survey(taken).heads[0].measures["entropy"] is not None
    with pytest.raises(BadInput, match="this head has weights that are NaN"):
        with_head(EXAMPLES["cat-sat"].build(), taken, taken[1], 0, 1)


def test_nothing_is_verified_and_everything_else_is_measured():
    A = shares(2, 1, 2, 5, 5)
    taken = Taken.of_weights(A, tokens=WORDS)
    done = attention.verify(taken)
    assert not done.agrees and np.isnan(done.difference)
    assert str(done).splitlines()[0] == f"a model: 2 calls, {AS_GIVEN}."
    assert str(taken).count(AS_GIVEN) == 2
    found = survey(taken)
    head = found.heads[3]
    rows = A[1, 0, 1].astype(float)
    assert head.measures["difference"] is None and head.agrees
    entropies = [-sum(w * np.log(w) for w in row) for row in rows]
    assert head.measures["entropy"] == pytest.approx(np.mean(entropies))
    assert head.measures["first"] == pytest.approx(rows[:, 0].mean())
    apart = sum(rows[i, j] * abs(i - j) for i in range(5) for j in range(5)) / rows.sum()
    assert head.measures["distance"] == pytest.approx(apart)


def test_they_are_saved_and_opened_as_a_capture_is(tmp_path):
    A = shares(2, 2, 2, 4, 4, causal=True)
    taken = Taken.of_weights(A, tokens=["a", "b", "c", "d"], model="mine")
    taken.save(tmp_path / "mine.safetensors")
    content = (tmp_path / "mine.safetensors").read_bytes()
    assert b"layers.1.weights" in content and b"layers.1.Q" not in content
    for again in (Taken.load(tmp_path / "mine.safetensors"), opened(content, "mine")):
        for one, other in zip(taken, again, strict=True):
            np.testing.assert_array_equal(one.weights, other.weights)
            np.testing.assert_array_equal(one.allowed, other.allowed)
        assert str(again) == str(taken)
    damaged = replace(taken[0], weights=taken[0].weights[:, :, :3])
    Taken("mine", calls=[damaged]).save(tmp_path / "damaged.safetensors")
    with pytest.raises(BadInput, match="damaged"):
        Taken.load(tmp_path / "damaged.safetensors")


def test_every_figure_and_file_takes_them(tmp_path):
    for package in ("matplotlib", "plotly"):
        pytest.importorskip(package, reason="the extra [app] is not installed")
    taken = Taken.of_weights(shares(3, 1, 2, 5, 5), tokens=WORDS)
    trace = taken[1].trace(item=0)
    drawn = attention.figure(trace, head=1, tokens=WORDS).data[0]
    np.testing.assert_allclose(drawn.z, taken[1].weights[0, 1], rtol=1e-12)
    assert len(across_layers(taken, head=1).axes) >= 3
    attention.paper_figure(trace, heads=None, tokens=WORDS)
    listed = attention.frame(trace, tokens=WORDS)
    assert set(listed["stage"]) == {"weights"} and len(listed) == 50
    for ending in ("csv", "json", "npz", "tex", "md"):
        attention.save(trace, tmp_path / f"a.{ending}", tokens=WORDS)
    assert set(np.load(tmp_path / "a.npz").files) >= {"weights", "allowed"}
    assert not {"Q", "scores", "output"} & set(np.load(tmp_path / "a.npz").files)
    attention.report(trace, tmp_path / "a.html", tokens=WORDS)
    report = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<h2" in report and 'id="weights"' in report and 'id="Q"' not in report


@pytest.mark.parametrize("share", [1, 0.75])
def test_a_head_on_explore_is_its_weights_alone(share):
    """Also where rows add up to less than 1, as beside a sink."""
    A = shares(1, 2, 5, 5, causal=True) * np.float32(share)
    taken = Taken.of_weights((A,), tokens=WORDS, model="mine")
    s = with_head(EXAMPLES["cat-sat"].build(), taken, taken[0], 0, 1)
    shown = view(s, run(s))
    assert s.weights_alone and list(shown.stages) == ["mask", "weights"]
    np.testing.assert_array_equal(shown.stages["weights"], A[0, 1])
    assert shown.recorded.heads == (1,) and shown.labels["queries"][1] == "the (1)"


def test_long_weights_are_the_softmax_of_their_logarithms():
    A = shares(1, 2, 600, 600, causal=True)
    taken = Taken.of_weights((A,))
    inputs = captured_inputs(taken, taken[0], 0)
    for mask in ("own", "none"):
        s = LongContext(mask=mask)
        for head in range(2):
            rows = inputs.of_queries(s, np.array([0, 7, 599])).rows([0, 1, 2], head=head)
            np.testing.assert_allclose(rows, A[0, head, [0, 7, 599]], rtol=2e-5, atol=1e-7)
    assert inputs.source.startswith("weights as given, of ") and inputs.size >= A.nbytes


def test_the_captures_that_come_along_are_no_finished_weights():
    folder = Path(attention.__file__).parent / "models" / "captures"
    assert Taken.load(folder / "pronoun.safetensors")[0].weights is None


def test_a_file_that_says_nothing_of_its_rows_has_them_named():
    A = shares(1, 2, 3, 3)
    A[0, 1, 0] *= 2
    taken = Taken.of_weights((A,))
    silent = Taken("mine", calls=[replace(taken[0], notes=())])
    again = Taken.of_bytes(silent._header() + silent.calls[0].weights.tobytes())
    assert again[0].notes == taken[0].notes != ()
    # heads by the model's numbers, and which step it is
    step = replace(silent.calls[0], call=3, repeat="step", heads=(4, 7))
    silent = Taken("mine", calls=[step])
    again = Taken.of_bytes(silent._header() + step.weights.tobytes())
    assert again.at(0).notes == (
        "layer 0, step 3, head 7, row 0 does not add up to 1 (rows count from 0)",
    )


def test_odd_rows_of_a_step_are_named_with_the_step_and_the_item():
    whole = shares(2, 2, 4, 4, causal=True)
    step = whole[:, :, 3:].copy()
    step[1, 0] *= 3
    taken = Taken.of_weights([(whole[:, :, :3, :3],), (step,)], tokens=[list("abcde")] * 2)
    assert [call.notes for call in taken] == [
        (),
        ("layer 0, step 1, item 1, head 0, row 0 does not add up to 1 (rows count from 0)",),
    ]


def test_odd_rows_of_many_heads_are_counted_and_the_first_three_named(monkeypatch):
    from attention.arrays import distance

    monkeypatch.setattr(distance, "CELLS", 12)  # blocks of four rows
    rng = np.random.default_rng(1)
    A = shares(2, 3, 11, 3)
    odd = rng.random(A.shape[:3])
    A[odd < 0.2] *= 2
    A[odd > 0.9] = np.nan
    doubled, broken = (list(zip(*np.nonzero(each), strict=True)) for each in (odd < 0.2, odd > 0.9))
    said = {note.split(" (")[0].rsplit("; ", 1)[1]: note for note in odd_rows(A, 2)}
    for rows, what in ((broken, "hold NaN or infinity"), (doubled, "do not add up to 1")):
        note = said[f"{len(rows) - 3} more {what}"]
        places = [f"item {i}, head {h}, row {r}" for i, h, r in rows[:3]]
        assert note.startswith(f"layer 2, {'; '.join(places)}; ")


def test_a_head_that_holds_nan_is_named_and_prints():
    A = np.full((1, 2, 3, 3), 1 / 3)
    A[0, 1, 2, 0] = np.nan
    trace = Taken.of_weights(A)[0].trace(item=0, head=1)
    assert "the weights hold NaN or infinity" in str(trace)


def test_weights_above_1_have_no_entropy():
    (head,) = survey(Taken.of_weights(np.full((1, 1, 3, 3), 33.0))).heads
    assert head.measures["entropy"] is None
