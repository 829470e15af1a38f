"""A head that was recorded in a real model keeps its number, its layer and its module's name."""

import json
from dataclasses import replace
from importlib.util import find_spec

import messages
import numpy as np
import pandas
import pytest

from attention import (
    Paper,
    View,
    figure,
    paper_figure,
    report,
    save,
    scaled_dot_product_attention,
    self_attention,
)
from attention.core.recorded import Recorded
from attention.models.taken import Call

HEADS = 1, 2, 5, 8, 11  # as capture(model, heads=[1, 2, 5, 8, 11], layers=[3]) keeps them
RECORDED = Recorded(3, HEADS, "decoder.layers.1.encoder_attn", "cross", "step 4")
MODULE = "layer 3 (cross, decoder.layers.1.encoder_attn)"
WORDS = ["a", "b", "c"]
NEEDS_PAPER = pytest.mark.skipif(
    find_spec("matplotlib") is None, reason="paper figures need Matplotlib, not installed here"
)


@pytest.fixture(scope="module")
def trace():
    Q, K, V = np.random.default_rng(0).normal(size=(3, 1, 5, 3, 4))
    return replace(scaled_dot_product_attention(Q, K, V), recorded=RECORDED)


def titles(figure) -> list[str]:
    return [title for axes in figure.axes if (title := axes.get_title("left"))]


@NEEDS_PAPER
def test_panels_are_called_by_layer_and_own_number(trace):
    drawn = paper_figure(trace, heads=[0, 3], tokens=WORDS)
    assert titles(drawn) == ["(a) head 1", "(b) head 8"]
    assert drawn.title == f"{MODULE}, heads 1, 8, step 4"
    assert "".join(text.get_text() for text in drawn.texts).startswith("layer 3 (cross,")
    mine = paper_figure(trace, heads=[0, 3], tokens=WORDS, paper=Paper(title="Mine"))
    assert mine.title == "Mine"
    assert titles(mine) == [f"({c}) layer 3 (cross), head {k}, step 4" for c, k in ("a1", "b8")]
    assert drawn.about == f"{MODULE}, heads 1, 8, step 4"
    assert len(titles(paper_figure(trace, heads=None, tokens=WORDS))) == 5
    assert drawn.axes[1].collections[0].get_array().tolist() == trace.weights[0, 3].tolist()


@NEEDS_PAPER
def test_one_head_alone_is_called_by_its_number_too(trace):
    one = scaled_dot_product_attention(trace.Q[0, 3], trace.K[0, 3], trace.V[0, 3])
    one = replace(one, recorded=Recorded(3, (8,), "encoder.layer.3.attention.self"))
    assert titles(paper_figure(one)) == []
    assert paper_figure(one).title == "layer 3 (encoder.layer.3.attention.self), head 8"
    assert titles(paper_figure(one, paper=Paper(title="Mine"))) == ["layer 3, head 8"]
    assert View.of(one).which_head == "layer 3 (encoder.layer.3.attention.self), head 8"
    assert figure(one).layout.title.text == "layer 3 (encoder.layer.3.attention.self), head 8"
    alone = figure(one, stages=["weights"]).layout.title.text
    assert alone.endswith(" · layer 3 (encoder.layer.3.attention.self), head 8")
    assert figure(one, title="Mine").layout.title.text == "Mine"


@NEEDS_PAPER
def test_an_item_of_a_batch_keeps_its_number(tmp_path):
    Q, K, V = np.random.default_rng(0).normal(size=(3, 2, 5, 3, 4))
    call = Call(3, 0, "layers.3.attn", Q, K, V, Q, 0.5, heads=HEADS, kind="decoder")
    said = "layer 3 (decoder, layers.3.attn), head 5, item 1 of 0–1"
    for trace, which in ((call.trace(1, 2), {}), (call.trace(), {"item": 1, "head": 2})):
        save(trace, tmp_path / "a.csv", **which)
        read = pandas.read_csv(tmp_path / "a.csv")
        assert set(read["item"]) == {1} and set(read["head"]) == {5}
        assert f"; {said}; " in read["origin"][0]
        for ending in ("json", "md", "tex"):
            save(trace, tmp_path / f"a.{ending}", **which)
            plain = (tmp_path / f"a.{ending}").read_text().replace("--", "–").replace("\\", "")
            assert said in plain
        report(trace, tmp_path / "a.html", **which)
        assert said in (tmp_path / "a.html").read_text()
        assert figure(trace, **which).layout.title.text == said
        heads = {"item": which.get("item", 0), "heads": which.get("head", 0)}
        assert paper_figure(trace, **heads).about == paper_figure(trace, **heads).title == said
    doubled = replace(call.trace(), recorded=Recorded(3, HEADS))  # without its items
    assert figure(doubled, item=1, head=2).layout.title.text == "layer 3, head 5"
    printed = [" ".join(str(each).split()) for each in (call.trace(), call.trace(1, 2))]
    assert ["item 1 of 0–1" in each for each in printed] == [False, True]
    assert "all 2 items" not in printed[0]
    save(call.trace(1, 2), tmp_path / "a.npz")
    assert any(said in line for line in np.load(tmp_path / "a.npz")["about"].tolist())


@NEEDS_PAPER
def test_without_a_model_heads_are_called_as_they_are_asked_for():
    X, W = np.eye(4), np.eye(4)
    drawn = paper_figure(self_attention(X, W, W, W, heads=4), heads=[0, 3])
    assert titles(drawn) == ["(a) head 0", "(b) head 3"]
    assert drawn.about == ""


@pytest.mark.parametrize("ending", ["csv", "json", "md", "tex"])
def test_a_file_of_one_head_says_which_of_which_layer(trace, tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    save(trace, path, head=3, tokens=WORDS)
    text = path.read_text(encoding="utf-8")
    assert f"{MODULE}, head 8, step 4" in text.replace("\\", "")  # Markdown escapes dots
    assert "head 3" not in text
    if ending == "json":
        found = json.loads(text)
        assert (found["head"], found["heads"]) == (8, 5)
        assert found["about"]["head"] == f"{MODULE}, head 8, step 4"
    if ending == "csv":
        assert set(pandas.read_csv(path)["head"]) == {8}


def test_a_file_of_all_heads_lists_their_numbers(trace, tmp_path):
    save(trace, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert arrays["head_numbers"].tolist() == list(HEADS)
        assert f"{MODULE}, heads 1, 2, 5, 8, 11, step 4" in arrays["about"]


def test_a_report_says_which_head_it_holds(trace, tmp_path):
    report(trace, tmp_path / "a.html", head=3)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert f"{MODULE}, head 8, step 4" in text
    assert "head 3" not in text


def test_a_printed_trace_lists_its_heads_and_warns_of_them_by_number(trace):
    assert f"{MODULE}, heads 1, 2, 5, 8, 11, step 4" in " ".join(repr(trace).split())
    Q = trace.Q.copy()
    Q[0, 3, 1, 0] = np.nan
    broken = replace(scaled_dot_product_attention(Q, trace.K, trace.V), recorded=RECORDED)
    assert broken.warnings[0] == messages.MET_BY_QUERIES.format(
        queries="Item 0, head 8, query 1", reason=messages.Q_NOT_FINITE
    )


@NEEDS_PAPER
def test_a_head_that_was_not_recorded_is_refused_by_its_place(trace):
    with pytest.raises(ValueError) as refused:
        paper_figure(trace, heads=8)
    assert str(refused.value) == messages.OUT_OF_RANGE_OF_MODEL.format(
        word="head", place=8, count=5, numbers="heads 1, 2, 5, 8, 11"
    )
