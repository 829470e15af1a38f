"""Explore's numbers, handed over to every convention."""

from dataclasses import replace

import messages
import numpy as np
import pytest
from amount import few

from attention.frameworks.records import CONVENTIONS
from attention.session.compare import compare_frameworks as inputs
from attention.session.edit.changes import set_mask
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run


@pytest.mark.parametrize("handed", inputs.HANDED)
@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("example", few(EXAMPLES))
def test_every_example_gets_an_answer_or_a_sentence_from_every_convention(example, mask, handed):
    settings = set_mask(EXAMPLES[example].build(), mask)
    ours, compared = inputs.compare(settings, handed)
    assert [c.name for c in compared] == list(CONVENTIONS)
    for c in compared:
        assert c.sentence[0].isupper() or c.sentence.startswith("keras")
        assert c.sentence.endswith(".")
        if not c.answer.refused:
            assert c.answer.weights.shape == ours.weights.shape
            assert c.answer.output.shape == ours.output.shape


def test_ours_is_the_item_and_head_that_explore_shows():
    settings = EXAMPLES["sentence"].build()
    ours, _ = inputs.compare(settings, "array")
    assert np.array_equal(ours.weights, run(settings).weights[settings.head])


def test_the_switch_hides_what_was_meant_and_the_array_shows_it():
    settings = set_mask(EXAMPLES["random-qkv"].build(), "causal")
    for handed, hides in (("array", True), ("switch", False)):
        ours, compared = inputs.compare(settings, handed)
        theirs = next(c for c in compared if c.name == "torch_mha")
        assert np.allclose(theirs.answer.weights, ours.weights) is not hides
        assert (
            theirs.sentence.startswith(
                messages.HIDES_WHAT_YOU_MEANT.format(function="nn.MultiheadAttention")
            )
            is hides
        )


def test_padding_goes_over_beside_the_switch():
    settings = replace(set_mask(EXAMPLES["random-qkv"].build(), "causal"), padding=(2,))
    ours, compared = inputs.compare(settings, "switch")
    sdpa = next(c for c in compared if c.name == "torch_sdpa")
    assert np.allclose(sdpa.answer.weights, ours.weights)
    assert not sdpa.answer.weights[:, 2].any()
