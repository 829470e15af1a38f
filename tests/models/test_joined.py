"""A generation joined as one call, beside plain loops over the whole sequence."""

import math
from dataclasses import replace

import numpy as np
import pytest

import attention
from attention.limits import BadInput
from attention.models.labels import words_of
from attention.models.taken import Call, Taken
from attention.models.weights import odd_rows

WORDS = [f"t{k}" for k in range(8)]
STEPS = [(0, 4), (4, 5), (5, 7), (7, 8)]  # of a prompt of four, then of one, two and one
QKV = np.random.default_rng(5).normal(size=(3, 2, 3, 8, 4)).astype(np.float32)  # Q, K, V: (b, h, n)


def generation(window=0, full=0, cross=False, changed=None):
    """The calls of a generation.

    ``window``: of so many keys that a cache keeps; ``full``: the length of a static cache;
    ``changed``: what is done to each call.
    """
    Q, K, V = QKV
    calls = []
    for k, (begin, end) in enumerate(STEPS):
        first = max(0, begin - window + 1) if window and k else 0
        stop = 8 if cross else end
        keys, values = K[:, :1, first:stop], V[:, :1, first:stop]  # one head of keys for three
        seen = np.arange(first, stop) <= np.arange(begin, end)[:, None]
        if window:
            seen &= np.arange(first, stop) > np.arange(begin, end)[:, None] - window
        if full:
            empty = np.zeros((2, 1, full - end, 4), np.float32)
            keys, values = (np.concatenate([M, empty], 2) for M in (keys, values))
            seen = np.pad(seen, ((0, 0), (0, full - end)))
        call = Call(
            0,
            k,
            "decoder.0.attn",
            Q[:, :, begin:end],
            keys,
            values,
            np.zeros((2, 3, end - begin, 4), np.float32),
            scale=0.5,
            allowed=None if cross else seen[None, None],
            kind="cross" if cross else "decoder",
            query_position=begin,
            key_position=first,
            repeat="step" if k else "call",
        )
        call = replace(call, output=call.trace().output.astype(np.float32))
        calls.append(changed(call) if changed else call)
    return Taken("mine", tokens={} if cross else WORDS, calls=calls)


def looped(item, head, window=8, cross=False):
    """The weights and the output of one head, number by number."""
    Q, K, V = (M[item].tolist() for M in QKV)
    weights, output = [], []
    for i in range(8):
        sees = [j for j in range(8) if cross or i - window < j <= i]
        grown = {
            j: math.exp(0.5 * sum(a * b for a, b in zip(Q[head][i], K[0][j], strict=True)))
            for j in sees
        }
        total = sum(grown.values())
        row = [grown.get(j, 0) / total for j in range(8)]
        weights.append(row)
        output.append([sum(row[j] * V[0][j][c] for j in range(8)) for c in range(4)])
    return weights, output


WAYS = {
    "a growing cache": ({}, {}),
    "a cache of three keys": ({"window": 3}, {"window": 3}),
    "a static cache": ({"full": 11}, {}),
    "cross-attention": ({"cross": True}, {"cross": True}),
}


@pytest.mark.parametrize("way", WAYS)
def test_joined_steps_are_what_one_run_over_the_answer_is(way):
    made, expected = WAYS[way]
    taken = generation(**made)
    call = taken.joined(layer=0)
    assert call.Q.shape[2] == call.K.shape[2] == 8 and call.when == ""
    for item, head in np.ndindex(2, 3):
        weights, output = looped(item, head, **expected)
        trace = call.trace(item, head)
        np.testing.assert_allclose(trace.weights, weights, rtol=0, atol=1e-7)
        np.testing.assert_allclose(trace.output, output, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(trace.allowed, np.array(weights) > 0)
        np.testing.assert_allclose(call.output[item, head], output, rtol=0, atol=1e-6)
    assert attention.verify(Taken("mine", calls=[call])).agrees
    if way != "cross-attention":
        assert words_of(taken, call, 0) == (tuple(WORDS), tuple(WORDS))


def test_a_bias_stays_at_its_places():
    def biased(call):
        n_q, n_k = call.Q.shape[2], call.K.shape[2]
        at = call.query_position + np.arange(n_q)[:, None] - np.arange(n_k)
        return replace(call, bias=(-0.25 * at).astype(np.float32)[None, None])

    call = generation(changed=biased).joined()
    distance = np.arange(8)[:, None] - np.arange(8)
    expected = np.where(distance >= 0, -0.25 * distance, 0)
    np.testing.assert_allclose(np.tril(call.bias[0, 0]), expected)


def test_finished_steps_are_joined_to_finished_weights():
    whole = generation().joined().trace().weights
    steps = [(whole[:, :, i:j, :j],) for i, j in STEPS]
    call = Taken.of_weights(steps, tokens=[WORDS, WORDS]).joined()
    np.testing.assert_array_equal(call.weights, whole)
    assert call.trace(1, 2).weights_alone and not call.allowed[:, :, 0, 1:].any()


def test_rows_that_are_no_weights_are_named_by_their_places_in_the_whole():
    whole = generation().joined().trace().weights.copy()
    whole[1, 2, 6] *= 2
    steps = [(whole[:, :, i:j, :j],) for i, j in STEPS]
    taken = Taken.of_weights(steps, tokens=[WORDS, WORDS])
    taken.calls[3] = replace(taken.calls[3], notes=("said of a step",))
    assert [len(call.notes) for call in taken] == [0, 0, 1, 1]
    call = taken.joined()
    assert call.notes == ("said of a step", *odd_rows(whole, 0)) and "row 6" in call.notes[1]


def test_candidates_are_those_of_the_last_call():
    taken = generation(changed=at(3, rejected=1))
    taken.tokens = WORDS[:7]
    call = taken.joined()
    assert call.rejected == 1
    for each in (call, taken.calls[3]):
        queries, keys = words_of(taken, each, 0)
        assert queries[-1] == keys[-1] == "candidate" and keys[:-1] == tuple(WORDS[:7])
    assert words_of(taken, call, 0)[0][:-1] == tuple(WORDS[:7])
    part = generation(changed=at(3, rejected=2, all_queries=2)).joined()
    assert part.rejected == 1  # the other row was not recorded


def at(k, **changes):
    return lambda call: replace(call, **changes) if call.call == k else call


REFUSED = {
    "positions are unknown": (
        at(2, query_position=None),
        "layer 0, step 2: the positions of its queries and keys are not known.",
    ),
    "candidates are read again": (
        at(2, query_position=4),
        "layer 0, step 2 begins at position 4, before the end of the call before it (5):"
        " speculative decoding",
    ),
    "a step was not recorded": (
        at(2, query_position=6),
        "layer 0, step 2 begins at position 6, and the call before it ended at 5; what is between",
    ),
    "another use of the module": (at(1, repeat="use"), "layer 0, use 1 is no step"),
    "another scale": (at(3, scale=0.25), "layer 0, step 3 has another scale than the first call"),
    "other keys": (
        lambda call: replace(call, K=call.K[:, :, ::-1]) if call.call == 1 else call,
        "layer 0: K of step 1 changed in a later step",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_join_is_refused_with_the_reason(what):
    changed, begins = REFUSED[what]
    with pytest.raises(BadInput) as problem:
        generation(changed=changed).joined()
    assert str(problem.value).startswith(begins)


def test_a_layer_or_run_that_was_not_captured_is_named():
    with pytest.raises(ValueError, match="layer 3 was not captured"):
        generation().joined(3)
    with pytest.raises(ValueError, match="layer 0 was not captured in run 2"):
        generation().joined(run=2)
