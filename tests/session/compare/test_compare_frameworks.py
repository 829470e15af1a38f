"""Explore's numbers, handed over to two libraries."""

from dataclasses import replace

import numpy as np
import pytest
from amount import few

from attention.frameworks.records import CONVENTIONS
from attention.session.compare import compare_frameworks as inputs
from attention.session.edit.changes import set_mask
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run


def between(settings, a="torch_sdpa", b="torch_mha", handed="array"):
    return inputs.between(replace(settings, move_from=a, move_to=b), handed)


@pytest.mark.parametrize("handed", inputs.HANDED)
@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("example", few(EXAMPLES))
def test_every_example_gets_an_answer_or_a_sentence_from_every_library(example, mask, handed):
    settings = set_mask(EXAMPLES[example].build(), mask)
    ours = inputs.shown(settings)
    for name in CONVENTIONS:
        move = between(settings, "ours", name, handed)
        assert all(change.sentence.endswith(".") for change in move.changes)
        assert not move.a.refused
        np.testing.assert_allclose(move.a.weights, ours.weights, rtol=0, atol=1e-5)
        if not move.b.refused:
            assert move.b.weights.shape == ours.weights.shape
            assert move.b.output.shape == ours.output.shape


def test_ours_is_the_item_and_head_that_explore_shows():
    settings = EXAMPLES["sentence"].build()
    ours = inputs.shown(settings)
    assert np.array_equal(ours.weights, run(settings).weights[settings.head])


def test_the_switch_hides_what_was_meant_and_the_array_shows_it():
    settings = set_mask(EXAMPLES["random-qkv"].build(), "causal")
    for handed, hides in (("array", True), ("switch", False)):
        move = between(settings, handed=handed)
        assert ("true_means" in [change.facet for change in move.changes]) is hides


def test_padding_goes_over_next_to_the_switch():
    settings = replace(set_mask(EXAMPLES["random-qkv"].build(), "causal"), padding=(2,))
    move = between(settings, "ours", "torch_sdpa", "switch")
    assert not move.b.weights[:, 2].any() and not move.b.weights[0, 1:].any()


def test_a_scale_a_cap_sinks_and_a_window_go_over():
    parts = {"scale": 0.3, "softcap": 2.0, "sinks": (0.5,), "window": 2, "mask": "causal"}
    settings = replace(EXAMPLES["four-words"].build(), **parts)
    ours = inputs.shown(settings)
    move = between(settings, "ours", "hf_eager")
    np.testing.assert_allclose(move.a.weights, ours.weights, rtol=0, atol=1e-5)
    assert "softcap" in {c.facet for c in between(settings, "ours", "torch_sdpa").changes}
