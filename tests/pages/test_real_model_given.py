"""Real model with finished weights, and with a generation as one map, by Streamlit's AppTest."""

import io
import json

import board_bytes
import numpy as np
import pytest
from models.test_joined import QKV, WORDS, generation
from pages.conftest import ran, uploaded
from pages.test_check_page import opened, said
from pages.test_real_model_page import buttons, component, file_of, groups, page, pressed

from attention.figures.panes.maps import small_map
from attention.models.verify import AS_GIVEN
from attention.session.state.run import recorded

LONG = "attention/pages/long_context.py"


def shares(*shape):
    A = np.tril(np.random.default_rng(0).random(shape).astype(np.float32))
    return A / A.sum(axis=-1, keepdims=True)


def npy(A: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, A)
    return file.getvalue()


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


A = shares(2, 1, 3, 5, 5)
FILES = {
    "mine.npy": npy(A),
    "mine.npz": npz(layer0=A[0], layer1=A[1], tokens=np.array(list("abcde"))),
    "mine.json": json.dumps({"attentions": A.tolist(), "tokens": list("abcde")}).encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_finished_weights_are_maps_and_open_on_explore_alone(name):
    at = page(content=FILES[name], name=name)
    assert f"{name}: 6 heads of 2 layers. {AS_GIVEN.capitalize()}." in said(at)
    assert [group["note"] for group in groups(at)] == [f"{AS_GIVEN} · 5 queries × 5 keys"] * 2
    assert buttons(at)[0]["lines"][-1] == "as given" and "d_k" not in groups(at)[0]["note"]
    content = component(at, "model_maps")
    expected = b"".join(small_map(M, M > 0).shades for layer in A for M in layer[0])
    assert content[content.index(b"\0") + 1 :] == expected
    ran(pressed(at, {"id": "1 0 2"}))
    s = at.session_state["visit"].settings
    assert s.weights_alone and s.heads == 1
    np.testing.assert_allclose(s.matrices["Q"].values, A[1, 0, 2], rtol=1e-6)
    if name != "mine.npy":
        assert s.tokens == tuple("abcde")


def test_odd_rows_are_named_and_shown():
    odd = A.copy()
    odd[1, 0, 2, 4] *= 0.5
    odd[0, 0, 0, 3, 0] = -1
    at = page(content=npy(odd), name="odd.npy")
    assert "layer 1, head 2, row 4 does not add up to 1 (rows count from 0)." in said(at)
    assert "layer 0, head 0, row 3 holds negative weights (rows count from 0)." in said(at)
    assert len(buttons(at)) == 6


def test_long_weights_open_on_long_context():
    W = shares(1, 1, 2, 600, 600)
    at = page(content=npy(W), name="long.npy")
    ran(pressed(at, {"id": "0 0 1"}))
    found = at.session_state["visit"].page_values["long_work"][1].weights(301, 1)
    np.testing.assert_allclose(found, W[0, 0, 1, 301], rtol=2e-5, atol=1e-7)


def test_long_context_reads_them_itself():
    W = shares(2, 1, 2, 600, 600)
    at = opened(LONG)
    ran(at.selectbox(key="set_long_source").set_value("file"))
    uploaded(at, "long_file", "long.npy", npy(W))
    ran(at)
    brought = at.session_state["visit"].page_values["long_brought"]
    assert brought.weights_alone and brought.source.startswith("weights as given, of ")
    uploaded(at, "long_file", "keys.npy", npy(np.full((600, 4), -2.0)))
    ran(at)
    assert "holds one array; expected Q and K" in said(at)


def test_files_without_weights_are_refused_in_a_sentence():
    at = page(content=npy(np.eye(3, dtype=np.int8)), name="whole.npy")
    assert "whole.npy holds int8; expected floats, of attention weights." in said(at)
    at = page(content=b'[[0.5, "a"]]', name="words.json")
    assert "words.json holds something other than numbers." in said(at)


@pytest.mark.parametrize("name", [None, "mine.npy"])
def test_two_heads_are_compared_in_two_presses(name):
    at = page(content=FILES[name], name=name) if name else page("pronoun")
    before = at.session_state["visit"].settings
    ran(at.button_group(key="set_model_opens").set_value("two heads to compare"))
    ran(pressed(at, {"id": "0 0 0"}))
    assert at.session_state["visit"].settings == before
    assert any("; click B." in html.proto.body for html in at.get("html"))
    ran(pressed(at, {"id": "1 0 1"}))
    s = at.session_state["visit"].settings
    heads = [recorded(each).words(*recorded(each).heads) for each in (s.pinned, s)]
    assert heads[0].startswith("layer 0") and heads[1].startswith("layer 1")
    assert s.weights_alone == s.pinned.weights_alone == bool(name)
    ran(at.switch_page("attention/pages/compare.py"))
    assert not at.exception
    shown = board_bytes.panes_of(component(at, "compare_board"))
    of_weights = {"weights_a", "weights", "weights_difference"}
    assert of_weights <= set(shown) and (set(shown) == of_weights) == bool(name)


def test_a_generation_is_one_map_where_that_is_chosen(tmp_path):
    taken = generation()
    taken.tokens = [*WORDS, "never fed"]
    at = page(content=file_of(taken, tmp_path))
    assert len(buttons(at)) == 4 * 3
    ran(at.toggle(key="set_model_whole").set_value(True))
    assert len(buttons(at)) == 3 and "8 queries × 8 keys" in groups(at)[0]["note"]
    assert "matches the model to" in groups(at)[0]["note"]
    ran(pressed(at, {"id": "0 0 1"}))
    s = at.session_state["visit"].settings
    assert s.tokens == tuple(WORDS)
    np.testing.assert_array_equal(s.matrices["Q"].values, QKV[0, 0, 1])


def test_two_whole_generations_are_compared(tmp_path):
    at = page(content=file_of(generation(), tmp_path))
    ran(at.toggle(key="set_model_whole").set_value(True))
    ran(at.button_group(key="set_model_opens").set_value("two heads to compare"))
    for head in (0, 2):
        ran(pressed(at, {"id": f"0 0 {head}"}))
    s = at.session_state["visit"].settings
    for side, head in ((s.pinned, 0), (s, 2)):
        np.testing.assert_array_equal(side.matrices["Q"].values, QKV[0, 0, head])


def test_steps_that_do_not_join_are_shown_with_the_reason(tmp_path):
    taken = generation(changed=lambda call: call)
    taken.calls[2] = type(taken.calls[2])(**{**vars(taken.calls[2]), "query_position": 4})
    at = page(content=file_of(taken, tmp_path))
    ran(at.toggle(key="set_model_whole").set_value(True))
    assert "speculative decoding" in said(at) and len(buttons(at)) == 4 * 3
