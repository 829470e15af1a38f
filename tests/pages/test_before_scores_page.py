"""Biases, positions, norm and rotary positions on the pages: each by its control, and everywhere
after it.
"""

from dataclasses import replace

import messages
import numpy as np
import pytest
from pages.conftest import settings_of, words
from pages.test_real_layers_page import COMPARE, EXPLORE, moved, opened
from session.test_parts import EACH

from attention import sinusoidal
from attention.session.compare import pair
from attention.session.edit import parts as prepared
from attention.session.state.examples import EXAMPLES

FOUR = EXAMPLES["four-words"].build()
TWO = replace(FOUR, heads=2)


def test_biases_are_drawn_and_set_to_zero():
    at = moved(opened(EXPLORE, FOUR), "toggle", "biases_on", True)
    assert settings_of(at) == prepared.set_biases(FOUR, True)
    at = moved(at, "number_input", "bias_seed", 7)
    assert settings_of(at) == prepared.draw_biases(prepared.set_biases(FOUR, True), 7)
    at = moved(at, "selectbox", "bias_kind", "zero")
    assert prepared.biases_are_zero(settings_of(at))
    at = moved(at, "toggle", "biases_on", False)
    assert settings_of(at) == FOUR


def test_a_chosen_cell_stays_where_a_part_leaves_it_a_place():
    chosen = replace(FOUR, cell=("Q", 0, 0))
    at = moved(opened(EXPLORE, chosen), "toggle", "biases_on", True)
    assert settings_of(at) == prepared.set_biases(chosen, True)
    of_a_bias = replace(settings_of(at), cell=("b_Q", 0, 0))
    at = moved(opened(EXPLORE, of_a_bias), "toggle", "biases_on", False)
    assert settings_of(at) == FOUR


def test_positions_are_added():
    at = moved(opened(EXPLORE, FOUR), "toggle", "positions_on", True)
    np.testing.assert_array_equal(settings_of(at).matrices["P"].values, sinusoidal(4, 4))
    typed = opened(EXPLORE, EXAMPLES["random-qkv"].build())
    at = moved(typed, "toggle", "positions_on", True)
    assert messages.NOTHING_TO_ADD.format(what="positions") in words(at)
    assert not at.toggle(key="set_positions_on").value


def test_norm_and_rotation_are_set_control_by_control():
    at = moved(opened(EXPLORE, TWO), "toggle", "norm_on", True)
    at = moved(at, "selectbox", "norm_whole", True)
    at = moved(at, "toggle", "norm_gain", True)
    at = moved(at, "text_input", "gain_Q", "2 0.5")
    at = moved(at, "toggle", "rotary_on", True)
    at = moved(at, "selectbox", "norm_after", True)
    at = moved(at, "selectbox", "rotary_pairs", "interleaved")
    at = moved(at, "number_input", "rotary_base", 100.0)
    at = moved(at, "number_input", "rotary_offset", 3)
    s = settings_of(at)
    norm, rotary = s.norm, s.rotary
    assert (norm.whole, norm.after_rotary) == (True, True)
    assert (norm.gain_Q, norm.gain_K) == ((2, 0.5), (1, 1))
    assert (rotary.pairs, rotary.base, rotary.offset, rotary.width) == ("interleaved", 100, 3, None)
    at = moved(at, "text_input", "gain_Q", "2 x")
    assert "the gain of Q" in words(at).replace("The", "the") and settings_of(at).norm == norm
    at = moved(at, "text_input", "gain_Q", "1 2 3")
    refusal = messages.GAIN_LENGTH.format(name="Q", length=3, d_k=2, columns=4)
    assert refusal in words(at).replace("Gain_Q", "gain_Q")
    at = moved(moved(at, "toggle", "norm_on", False), "toggle", "rotary_on", False)
    assert settings_of(at) == TWO


def test_a_share_of_the_width_turns_and_follows_d_k():
    at = moved(opened(EXPLORE, FOUR), "toggle", "rotary_on", True)
    at = moved(at, "selectbox", "rotary_width", 2)
    assert settings_of(at).rotary.width == 2
    at = moved(at, "selectbox", "rotary_width", 4)
    assert settings_of(at).rotary.width is None
    at = moved(at, "number_input", "d_k_number", 3)
    assert messages.FIRST_COLUMNS_TURN.format(turned=2, d_k=3) in words(at)
    assert settings_of(at).rotary.width == 2
    at = moved(at, "number_input", "d_k_number", 1)
    assert messages.ROTATION_IS_OFF in words(at) and settings_of(at).rotary is None


PAGES = ("explore", "compare", "exercises", "learn", "conventions", "check", "variance", "embedded")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", ["norm of all heads", "norm after the rotation", "Q, K and V"])
def test_every_page_goes_on_with_these_parts(page, name):
    at = opened(f"attention/pages/{page}.py", EACH[name], unfold=False)
    assert settings_of(at).parts == EACH[name].parts


def test_a_step_with_a_cache_stands_beside_the_last_row():
    made = pair.PRESETS["step"].make(EXAMPLES["rotary"].build())
    at = opened(COMPARE, pair.compared(made), unfold=False)
    said = words(at)
    assert f"<li>{messages.LAST_ROW_OF.format(words='ha ha ha ha ha')}</li>" in said
    assert messages.STEP_FINDS_THE_SAME in said and "Only" not in said


def test_words_reordered_are_not_alike_where_positions_count():
    made = pair.PRESETS["order"].make(prepared.set_rotary(FOUR, True))
    said = words(opened(COMPARE, pair.compared(made), unfold=False))
    assert messages.KNOWS_THE_ORDER in said and messages.KNOWS_NO_ORDER not in said
