"""A capture in a notebook: its summary and small maps, without a script."""

import io
import re
from base64 import b64decode

import numpy as np
import pytest

from attention.explain.colours import LIGHT, shade
from attention.figures.panes.captures import MOST, page, to_png
from attention.figures.panes.maps import small_map
from attention.models.examples import load
from attention.models.taken import Taken

Image = pytest.importorskip("PIL.Image", reason="it comes with Matplotlib, which is not installed")


def test_each_cell_of_a_map_has_the_colour_of_its_weight():
    call = load("pronoun")[3]
    trace = call.trace(0, 1)
    made = small_map(trace.weights, trace.allowed)
    picture = np.asarray(Image.open(io.BytesIO(to_png(made))).convert("RGB"))
    assert picture.shape == (15, 15, 3)
    for i, j in np.ndindex(15, 15):
        step = round(float(np.sqrt(trace.weights[i, j])) * 252) / 252
        expected = bytes.fromhex(shade(step, (0, 1), "share")[1:])
        assert abs(picture[i, j].astype(int) - list(expected)).max() <= 1
    broken = np.array([[np.nan, 0.5]])
    made = small_map(broken, np.array([[True, False]]))
    pixels = np.asarray(Image.open(io.BytesIO(to_png(made))).convert("RGB"))[0]
    for pixel, kind in zip(pixels, ("broken", "hidden"), strict=True):
        assert pixel.tolist() == list(bytes.fromhex(LIGHT[kind][0][1][1:]))


def test_a_capture_shows_its_lines_and_the_first_heads():
    shown = load("pronoun")._repr_html_()
    assert shown == page(load("pronoun"))
    assert shown.count("<img") == 30 and "layers.3 (encoder.layer.3" in shown
    assert re.findall(r'alt="head (\d+)"', shown)[:3] == ["1", "2", "5"]
    first = re.search(r"base64,([^\"]+)", shown)
    assert Image.open(io.BytesIO(b64decode(first[1]))).size == (15, 15)


def test_a_large_capture_shows_some_and_says_so():
    many = Taken.of_weights(np.full((5, 1, 12, 2, 2), 0.5), model="<b>mine</b>")
    shown = many._repr_html_()
    assert shown.count("<img") == MOST and "The first 48 of 60 heads" in shown
    assert "&lt;b&gt;mine" in shown and "<b>mine" not in shown
    assert shown.count("weights as given: nothing to verify") >= 4


def test_a_call_prints_its_line():
    call = load("verbs")[3]
    assert repr(call) == (
        "layers.3 (encoder.layer.3.attention.self, encoder, eager): 2 × 2 heads [1, 2],"
        " 12 queries × 12 keys, d_k 32"
    )
    assert f"  {call!r}" in str(load("verbs")).splitlines()
