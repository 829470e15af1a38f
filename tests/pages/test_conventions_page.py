"""Conventions through Streamlit's AppTest: what changes between two libraries, and the table."""

from dataclasses import replace

import messages
import numpy as np
import pytest
from amount import few
from pages.conftest import opened_at, ran, words
from pages.test_check_page import numbers, panes
from pages.test_explore import said as boxes
from streamlit.testing.v1 import AppTest

from attention.frameworks import table
from attention.frameworks.libraries.convention import FACETS
from attention.frameworks.records import CONVENTIONS
from attention.session.compare import compare_frameworks as inputs
from attention.session.edit.changes import set_mask
from attention.session.state.examples import EXAMPLES

CONVENTIONS_PAGE = "attention/pages/conventions.py"


def opened(**link) -> AppTest:
    return opened_at(CONVENTIONS_PAGE, **link)


def text_of(at: AppTest) -> str:
    return "\n".join([*(block.value for block in at.markdown), words(at)]).replace("\\", "")


@pytest.mark.parametrize("example", few(EXAMPLES))
def test_what_changes_is_said_with_the_lines_that_undo_it(example):
    at = opened(example=example, mask="causal")
    settings = set_mask(EXAMPLES[example].build(), "causal")
    move = inputs.between(settings, "array")
    text = text_of(at)
    assert move.changes and all(change.sentence in text for change in move.changes)
    (code,) = at.code
    assert code.value.splitlines() == [
        *move.before,
        "output = …  # nn.MultiheadAttention",
        *move.after,
    ]


def test_both_sides_and_the_difference_are_shown_with_their_own_numbers():
    at = opened(example="random-qkv", mask="causal", move_from="ours", move_to="jax")
    settings = set_mask(EXAMPLES["random-qkv"].build(), "causal")
    move = inputs.between(replace(settings, move_from="ours", move_to="jax"), "array")
    found = panes(at)
    assert list(found) == [
        f"{stage}_{who}"
        for stage in ("weights", "output")
        for who in ("ours", "theirs", "difference")
    ]
    np.testing.assert_array_equal(numbers(found["weights_ours"]), move.a.weights)
    np.testing.assert_array_equal(numbers(found["output_theirs"]), move.b.output)


def test_nothing_changes_is_said_with_the_digits():
    at = opened(example="random-qkv", move_from="ours", move_to="torch_sdpa")
    assert any(
        messages.NOTHING_CHANGES.format(digits="") in text for text in boxes(at, "understood")
    )
    assert not at.code


def test_the_mask_may_go_over_as_the_look_ahead_switch():
    at = opened(example="random-qkv", mask="causal")
    assert messages.TRUE_MEANS_HIDE in text_of(at)
    at = ran(at.segmented_control(key="set_handed").set_value("switch"))
    assert messages.TRUE_MEANS_HIDE not in text_of(at)
    assert not [
        c for c in opened(mask="none").get("button_group") if c.proto.label == "Pass the mask"
    ]


def test_a_library_that_cannot_be_handed_the_mask_says_so_and_the_other_is_shown():
    at = opened(example="random-qkv", mask="causal")
    at = ran(at.selectbox(key="set_move_to").set_value("keras_attention"))
    refusal = messages.GIVES_NO_ANSWER.format(
        title="keras.layers.Attention", why=messages.KERAS_MASK_OVER_KEYS
    )
    assert refusal in boxes(at, "flag")
    assert list(panes(at)) == ["weights_ours", "output_ours"]


def test_a_part_without_an_argument_is_named():
    at = opened(example="four-words", softcap="2.0", move_from="ours", move_to="torch_sdpa")
    left = messages.LEAVES_A_PART_OUT.format(
        library="F.scaled_dot_product_attention", part="soft cap"
    )
    assert left in text_of(at)


def test_an_unknown_library_in_a_link_is_refused_and_the_known_are_named():
    at = opened(example="cat-sat", move_to="theano")
    (text,) = boxes(at, "refused")
    assert "theano" in text and "torch_mha" in text


def test_the_table_has_a_row_for_each_record_and_a_column_for_each_facet():
    (frame,) = opened(example="cat-sat").dataframe
    assert list(frame.value.columns)[2:] == list(FACETS.values())
    assert len(frame.value) == len(CONVENTIONS) == len(table())


TOKENS = '"*a*","<b>","$x$","d"'


def test_a_token_is_no_markdown():
    at = opened(example="four-words", tokens=TOKENS, padding="0.1.2.3", move_to="jax")
    (text,) = [block.value for block in at.markdown if block.value.startswith("- ")]
    assert "\\*a\\*" in text and "\\<b\\>" in text and "\\$x\\$" in text
