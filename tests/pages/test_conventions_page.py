"""Conventions through Streamlit's AppTest: a sentence for each framework, its numbers by ours."""

from html import escape

import messages
import numpy as np
import pytest
from amount import few
from pages.conftest import opened_at, ran, words
from pages.test_check_page import numbers, panes, said
from streamlit.testing.v1 import AppTest

from attention.frameworks.records import CONVENTIONS
from attention.session.compare import compare_frameworks as inputs
from attention.session.edit.changes import set_mask
from attention.session.state.examples import EXAMPLES

CONVENTIONS_PAGE = "attention/pages/conventions.py"


def opened(**link) -> AppTest:
    return opened_at(CONVENTIONS_PAGE, **link)


@pytest.mark.parametrize("example", few(EXAMPLES))
def test_every_framework_has_its_sentence_and_its_facts(example):
    at = opened(example=example)
    _, compared = inputs.compare(EXAMPLES[example].build(), "array")
    text = words(at)
    for found in compared:
        c = CONVENTIONS[found.name]
        assert escape(found.sentence) in text
        assert all(
            escape(fact) in text
            for fact in (
                c.name,
                c.when,
                c.version,
                c.layout,
                c.true_means,
                c.causal,
                c.hidden_row,
                c.source,
                c.window,
                c.bias,
            )
        )


def test_the_chosen_frameworks_stand_beside_ours_with_their_own_numbers():
    at = opened(example="random-qkv", mask="causal")
    settings = set_mask(EXAMPLES["random-qkv"].build(), "causal")
    ours, compared = inputs.compare(settings, "array")
    found = panes(at)
    assert list(found) == [
        f"{stage}_{who}" for who in ("ours", "torch_mha", "jax") for stage in ("weights", "output")
    ]
    theirs = next(c.answer for c in compared if c.name == "torch_mha")
    np.testing.assert_array_equal(numbers(found["weights_torch_mha"]), theirs.weights)
    np.testing.assert_array_equal(numbers(found["output_ours"]), ours.output)


def test_the_mask_may_go_over_as_the_look_ahead_switch():
    at = opened(example="random-qkv", mask="causal")
    at = ran(at.segmented_control(key="set_handed").set_value("switch"))
    assert messages.HIDES_WHAT_YOU_MEANT.partition("{function}")[0] not in words(at)
    assert not [
        c for c in opened(mask="none").get("button_group") if c.proto.label == "Pass the mask"
    ]


def test_a_framework_that_cannot_be_handed_the_mask_says_so():
    at = opened(example="random-qkv", mask="causal")
    at = ran(at.pills(key="set_beside").set_value(["keras_attention"]))
    refusal = messages.GIVES_NO_ANSWER.format(
        title="keras.layers.Attention", why=messages.KERAS_MASK_OVER_KEYS
    )
    assert refusal in said(at)
