"""One head across layers, from Python: the numbers of each layer, one bar, one note."""

import re

import messages
import numpy as np
import pytest
from models.test_recorded import recorded

import attention
from attention.models.examples import load

pytest.importorskip("matplotlib", reason="the extra [app] is not installed")


def panels(figure):
    return [axes for axes in figure.axes if axes.get_title("left")]


def test_each_layer_has_its_weights_and_all_share_one_bar_and_one_note():
    taken = load("pronoun")
    begin = messages.NUMBERS_LEFT_OUT.partition("{names}")[0]
    with pytest.warns(UserWarning, match=begin):
        figure = attention.across_layers(taken, 8, paper=attention.Paper(width=17.8))
    assert len(figure.axes) == len(taken) + 1 and len(figure.notes) == 1
    for call, axes in zip(taken, panels(figure), strict=True):
        expected = call.trace(0, call.heads.index(8)).weights
        drawn = np.asarray(axes.collections[0].get_array())
        np.testing.assert_array_equal(drawn.reshape(expected.shape), expected)
    (bar,) = (axes for axes in figure.axes if axes not in panels(figure))
    assert bar.get_ylabel() == "weights"


def test_layers_and_items_are_chosen_and_what_is_not_there_is_refused(tmp_path):
    taken = recorded("gpt2")
    taken.save(tmp_path / "run.safetensors")
    figure = attention.across_layers(tmp_path / "run.safetensors", 2, layers=1)
    assert [axes.get_title("left") for axes in panels(figure)] == ["Layer 1, head 2"]
    sentence = messages.HEAD_NOT_CAPTURED.format(head=7, there="0, 1, 2, 3")
    with pytest.raises(ValueError, match=re.escape(sentence)):
        attention.across_layers(taken, 7)
    with pytest.raises(
        ValueError, match=messages.LAYER_NOT_CAPTURED.format(layer=5, step="", there="layers 0, 1")
    ):
        attention.across_layers(taken, layers=[0, 5])
    sentence = messages.ONLY_ONE.format(word="item", place=1)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        attention.across_layers(taken, item=1)
    with pytest.raises(ValueError, match=messages.NO_LAYERS_NAMED):
        attention.across_layers(taken, layers=[])


def test_layers_of_other_words_each_have_their_own():
    figure = attention.across_layers(recorded("t5"), 0)
    named = [[label.get_text() for label in axes.get_xticklabels()] for axes in panels(figure)]
    assert len(named) == 3 and all(named)
