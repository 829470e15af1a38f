"""Biases, positions, norm and rotation as settings: put there, taken away, made to fit."""

from dataclasses import replace

import messages
import numpy as np
import pytest
from session.test_parts import EACH, with_parts

from attention import RMSNorm, Rotary, sinusoidal
from attention.limits import BadInput
from attention.readers.select import SelectedArray
from attention.session.bring.adopt import adopt
from attention.session.edit import board_edits, changes
from attention.session.edit import parts as prepared
from attention.session.state import links
from attention.session.state.about import prepared_by, what_it_is
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.state.validate import check
from attention.vocabulary.stages import BIASES

FOUR = EXAMPLES["four-words"].build()
TYPED = EXAMPLES["random-qkv"].build()


def changed(before, after):
    """As a page makes a change: fitted, and checked."""
    fitted, said = prepared.fitted(before, after)
    check(fitted)
    run(fitted)
    return fitted, said


def test_what_is_put_there_and_taken_away_leaves_nothing_behind():
    for turn in (
        prepared.set_biases,
        prepared.set_positions,
        prepared.set_norm,
        prepared.set_rotary,
    ):
        assert turn(FOUR, True) != FOUR and turn(turn(FOUR, True), False) == FOUR


def test_without_parts_nothing_is_touched():
    s, said = prepared.fitted(FOUR, FOUR)
    assert s is FOUR and not said


def test_biases_are_random_by_a_seed_or_zero_and_there_is_one_of_the_output_with_its_weights():
    s = prepared.set_biases(FOUR, True)
    assert set(s.matrices) & set(BIASES) == {"b_Q", "b_K", "b_V"}
    assert prepared.seed_of_biases(s) == 1 and not prepared.biases_are_zero(s)
    other = prepared.draw_biases(s, 2)
    assert prepared.seed_of_biases(other) == 2 and other.matrices["b_Q"] != s.matrices["b_Q"]
    zero = prepared.filled_biases(s, "zero")
    assert prepared.seed_of_biases(zero) is None and prepared.biases_are_zero(zero)
    np.testing.assert_array_equal(run(zero).output, run(FOUR).output)
    typed = s.with_matrix("b_Q", Matrix([[1, 2, 3, 4]]))
    assert prepared.seed_of_biases(typed) is None
    assert prepared.filled_biases(typed, "typed") == typed
    all_four = prepared.set_biases(changes.set_output_weights(FOUR, True), True)
    assert set(BIASES) <= set(all_four.matrices)


@pytest.mark.parametrize("turn", [prepared.set_biases, prepared.set_positions])
def test_typed_queries_have_nothing_to_be_added_to(turn):
    with pytest.raises(BadInput) as refused:
        turn(TYPED, True)
    what = {prepared.set_biases: "biases", prepared.set_positions: "positions"}[turn]
    assert str(refused.value) == messages.NOTHING_TO_ADD.format(what=what)


def test_a_head_of_one_column_cannot_turn():
    with pytest.raises(BadInput) as refused:
        prepared.set_rotary(EXAMPLES["customers"].build(), True)
    assert str(refused.value) == messages.ONE_COLUMN_TO_TURN


@pytest.mark.parametrize(("d_k", "width"), [(3, 2), (5, 4), (2, None), (8, 4)])
def test_the_width_of_the_rotation_follows_d_k(d_k, width):
    before = prepared.turned(prepared.set_rotary(FOUR, True), width=4)
    before = replace(before, rotary=replace(before.rotary, width=4))
    s, said = changed(before, changes.set_dimension(before, "d_k", d_k))
    assert s.rotary.width == width
    turn = {
        2: [messages.ALL_COLUMNS_TURN.format(d_k=2)],
        3: [messages.FIRST_COLUMNS_TURN.format(turned=2, d_k=3)],
    }
    assert said == turn.get(d_k, [])


def test_all_columns_turn_again_where_as_many_as_possible_did():
    before = prepared.set_rotary(FOUR, True)
    odd, said = changed(before, changes.set_dimension(before, "d_k", 5))
    assert odd.rotary.width == 4 and said
    even, said = changed(odd, changes.set_dimension(odd, "d_k", 6))
    assert even.rotary.width is None and not said
    none, said = changed(before, changes.set_dimension(before, "d_k", 1))
    assert none.rotary is None and messages.ROTATION_IS_OFF in said[0]


def test_own_frequencies_are_cut_to_the_pairs_there_are():
    before = replace(FOUR, rotary=Rotary(frequencies=[1.0, 0.25]))
    s, said = changed(before, changes.set_dimension(before, "d_k", 3))
    assert s.rotary.frequencies == (1.0,) and s.rotary.width == 2 and said


def test_a_gain_of_all_columns_serves_any_number_of_heads():
    s = with_parts(RMSNorm(gain_Q=[*range(1, 9)]))
    for heads in (1, 4, 8):
        after, said = changed(s, changes.set_heads(s, heads))
        assert after.norm == s.norm and not said


def test_a_gain_of_a_narrow_head_serves_a_wide_one_twice():
    s = with_parts(RMSNorm(gain_K=[1, 2, 3, 4]))
    after, said = changed(s, changes.set_heads(s, 1))
    assert after.norm.gain_K == (1, 2, 3, 4, 1, 2, 3, 4)
    assert said == [messages.GAIN_REFITTED.format(name="K", d_k=8)]
    narrow, said = changed(s, changes.set_dimension(s, "d_k", 3))
    assert narrow.norm.gain_K == (1, 2, 3) and said
    wide, _ = changed(s, changes.set_dimension(s, "d_k", 5))
    assert wide.norm.gain_K == (1, 2, 3, 4, 1)


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_every_size_can_be_chosen_with_parts_in_use(name, size):
    for dimension in ("d_model", "d_k", "d_v"):
        if EACH[name].d_model or dimension != "d_model":
            changed(EACH[name], changes.set_dimension(EACH[name], dimension, size))
    if size in (1, 2):
        changed(EACH[name], changes.set_heads(EACH[name], size))
    if EACH[name].heads % size == 0:
        changed(EACH[name], changes.set_kv_heads(EACH[name], size))


def test_what_is_brought_takes_the_parts_along():
    s = with_parts(RMSNorm(gain_Q=[1, 2, 3, 4]), Rotary())
    X = np.ones((3, 5))
    after, said = adopt(s, {"X": SelectedArray(X)})
    np.testing.assert_array_equal(after.matrices["P"].values, sinusoidal(3, 5))
    assert "b_Q" in after.matrices
    Q = {name: SelectedArray(np.ones((3, 6))) for name in "QKV"}
    after, said = adopt(s, Q)
    assert not after.matrices.keys() & {"P", "b_Q", "b_K", "b_V"} and after.norm
    gone = messages.NOTHING_TO_ADD_TO.format(
        names="P, b_Q, b_K, b_V and b_O", has="have", verb="are"
    )
    assert gone in said


def test_typed_cells_of_a_bias_are_those_of_the_head_that_is_shown():
    s = replace(with_parts(), head=1)
    operation = board_edits.Operation(1, "cell", "b_K", 0, 2, "9")
    after, refused = board_edits.apply(s, [operation])
    assert not refused and after.matrices["b_K"].values[0, 6] == 9
    assert view(after, run(after)).stages["b_K"][0, 2] == 9


def test_a_link_names_sinusoidal_positions():
    s = prepared.set_positions(FOUR, True)
    assert links.write(s)["P"] == "sinusoidal" and links.read(links.write(s)) == (s, [])
    other = replace(s, matrices={**s.matrices, "X": Matrix(np.ones((4, 6)))})
    other = changes.set_dimension(other, "d_model", 3)
    assert links.read(links.write(other)) == (other, [])
    typed = s.with_matrix("P", Matrix(np.ones((4, 4))))
    assert links.read(links.write(typed)) == (typed, [])


def test_files_say_how_queries_and_keys_are_made():
    s = check(
        replace(FOUR, norm=RMSNorm(gain_Q=[2] * 4, after_rotary=True), rotary=Rotary(width=2))
    )
    said = what_it_is(prepared.set_positions(s, True)).inputs
    assert said["norm"] == messages.NORM_IN_WORDS.format(eps="1e-06")
    assert said["rotary"] == messages.ROTATION_IN_WORDS.format(
        pairs="halves", base=10000, turned=2, d_k=4
    )
    assert said["P"] == messages.SINUSOIDAL_POSITIONS
    assert prepared_by(FOUR) == {}
