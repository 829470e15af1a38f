"""Means over heads and queries, and rollout, beside plain loops."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import attention
from attention.explain.view import distinct
from attention.limits import BadInput
from attention.models.examples import load
from attention.models.labels import words_of
from attention.models.taken import Taken

RECORDED = Path(__file__).with_name("recorded")
FAMILIES = ("bert", "gpt-oss", "gpt2", "llama", "multihead")


def recorded(name):
    return Taken.load(RECORDED / f"{name}.safetensors")


def weights_of(call, item):
    """The weights of all heads of an item, as lists."""
    return call.trace().weights[item].tolist()


@pytest.mark.parametrize("name", FAMILIES)
def test_the_mean_of_heads_is_their_sum_by_their_number(name):
    for call in recorded(name):
        trace = attention.mean_of_heads(call)
        b, h, n_q, n_k = *call.Q.shape[:3], call.K.shape[2]
        assert trace.weights_alone and trace.weights.shape == (b, 1, n_q, n_k)
        for item in range(b):
            A = weights_of(call, item)
            expected = [
                [sum(A[head][i][j] for head in range(h)) / h for j in range(n_k)]
                for i in range(n_q)
            ]
            np.testing.assert_allclose(trace.weights[item, 0], expected, rtol=1e-13)
        assert (trace.allowed[:, 0] == call.trace().allowed.any(axis=1)).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_what_a_key_receives_is_the_mean_of_its_column(name):
    for call in recorded(name):
        trace, whole = attention.received(call), call.trace()
        b, h, n_q, n_k = *call.Q.shape[:3], call.K.shape[2]
        assert trace.weights.shape == (b, h, 1, n_k)
        for item, head in np.ndindex(b, h):
            A, seen = whole.weights[item, head], whole.allowed[item, head]
            rows = [i for i in range(n_q) if any(seen[i])]
            expected = [sum(float(A[i, j]) for i in rows) / len(rows) for j in range(n_k)]
            np.testing.assert_allclose(trace.weights[item, head, 0], expected, rtol=1e-12)


def test_queries_that_see_no_key_are_left_out():
    A = np.array([[[[0.5, 0.5], [0.0, 0.0]]]])
    call = Taken.of_weights((A,))[0]
    assert attention.received(call).weights[0, 0, 0].tolist() == [0.5, 0.5]


def rolled(layers, residual):
    """The product of all layers, number by number; ``layers``: the weights of each one's heads."""
    n = len(layers[0][0])
    product = [[float(i == j) for j in range(n)] for i in range(n)]
    for A in layers:
        mixed = [
            [
                residual * (i == j) + (1 - residual) * sum(head[i][j] for head in A) / len(A)
                for j in range(n)
            ]
            for i in range(n)
        ]
        product = [
            [sum(mixed[i][k] * product[k][j] for k in range(n)) for j in range(n)] for i in range(n)
        ]
    return product


@pytest.mark.parametrize("residual", [0, 0.5, 0.8, 1])
@pytest.mark.parametrize("name", [*FAMILIES[:-1], "encoder-layer", "vit"])
def test_rollout_is_the_product_over_the_layers(name, residual):
    taken = recorded(name)
    trace = attention.rollout(taken, residual)
    for item in range(len(taken[0].Q)):
        layers = [weights_of(call, item) for call in taken]
        np.testing.assert_allclose(trace.weights[item, 0], rolled(layers, residual), atol=1e-12)


def test_rollout_of_a_generation_is_that_of_one_run():
    A = np.tril(np.random.default_rng(0).random((2, 1, 3, 6, 6)))
    A /= A.sum(axis=-1, keepdims=True)
    steps = [tuple(layer[:, :, i:j, :j] for layer in A) for i, j in ((0, 4), (4, 5), (5, 6))]
    taken = Taken.of_weights(steps)
    trace = attention.rollout(taken)
    expected = rolled(A[:, 0].tolist(), 0.5)
    np.testing.assert_allclose(trace.weights[0, 0], expected, atol=1e-12)
    assert not trace.allowed[0, 0][np.triu_indices(6, 1)].any()


def test_every_figure_takes_them():
    for package in ("matplotlib", "plotly"):
        pytest.importorskip(package, reason="the extra [app] is not installed")
    taken = recorded("bert")
    for trace in (
        attention.mean_of_heads(taken[0]),
        attention.received(taken[0]),
        attention.rollout(taken),
    ):
        attention.paper_figure(trace)
        assert list(attention.View.of(trace).stages) in (["weights"], ["mask", "weights"])
        assert len(attention.frame(trace, "weights")) == trace.weights[0, :, :, 0].size


def changed(**facts):
    taken = recorded("bert")
    return replace(taken, calls=[taken.calls[0], replace(taken.calls[1], **facts)])


REFUSED = {
    "cross-attention": (lambda: recorded("t5"), "this capture has .*cross"),
    "another stack": (lambda: changed(module="decoder.0.attn"), "follows one stack of layers"),
    "another run": (lambda: changed(run=1), "the model ran several times"),
    "a second pass": (lambda: changed(repeat="recompute", call=1, layer=0), "is another run"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_layers_that_do_not_chain_are_refused(what):
    made, said = REFUSED[what]
    with pytest.raises(BadInput, match=said):
        attention.rollout(made())


def test_layers_of_other_sizes_are_refused_with_both():
    A = np.full((1, 2, 3, 3), 1 / 3), np.full((1, 2, 4, 4), 0.25)
    with pytest.raises(BadInput, match="layer 1 has 4 tokens in 1 item; .* 3 in 1, as in layer 0"):
        attention.rollout(Taken.of_weights(A, kind="encoder"))
    with pytest.raises(BadInput, match="layer 0 has 2 queries and 3 keys; expected as many"):
        attention.rollout(Taken.of_weights((np.full((1, 1, 2, 3), 1 / 3),), kind="encoder"))


def test_several_heads_as_one_map_keep_words_and_patches_and_say_what_they_are():
    taken = load("verbs")
    trace = attention.rollout(taken)
    (words, _), layers = words_of(taken, taken[0], 1), len({call.layer for call in taken})
    shown = attention.View.of(trace, item=1)
    assert shown.labels["queries"] == distinct(words)
    assert shown.which_head == f"rollout of {layers} layers, item 1 of 0–1"
    mean = attention.View.of(attention.mean_of_heads(taken[3]), item=1)
    assert mean.which_head.endswith("), mean of 2 heads, item 1 of 0–1")
    got = attention.View.of(attention.received(taken[3]), item=0, head=1)
    number = taken[3].heads[1]
    assert got.which_head.endswith(f"), head {number}, item 0 of 0–1, weights received")


def test_a_rollout_is_drawn_over_the_picture_that_was_read():
    pytest.importorskip("matplotlib", reason="the extra [app] is not installed")
    names = {"names": ("[CLS]", "patch"), "key_names": ("[CLS]", "patch"), "grid": (2, 4)}
    taken = Taken.of_weights(np.full((2, 1, 2, 9, 9), 1 / 9), kind="vision")
    taken = replace(taken, calls=[replace(call, **names) for call in taken])
    for trace in (attention.rollout(taken), attention.mean_of_heads(taken[0])):
        drawn = attention.over_picture(trace, "[CLS]", np.zeros((4, 8))).axes[0].collections[0]
        np.testing.assert_allclose(drawn.get_array(), trace.weights[0, 0, 0, 1:].reshape(2, 4))


def test_given_layers_are_rolled_out_in_the_order_of_their_numbers():
    A = np.random.default_rng(0).dirichlet(np.ones(4), (3, 1, 2, 4))
    names = [f"layer.{k}.attn" for k in (2, 0, 1)]
    mixed = Taken.of_weights(dict(zip(names, A[[2, 0, 1]], strict=True)), kind="encoder")
    np.testing.assert_allclose(
        attention.rollout(mixed).weights,
        attention.rollout(Taken.of_weights(A, kind="encoder")).weights,
    )


def test_windows_are_not_rolled_out():
    with pytest.raises(BadInput, match="the items of this capture are windows"):
        attention.rollout(changed(notes=("the items are windows, 4 of each picture in turn",)))


def test_what_is_received_is_drawn_as_the_mean_over_queries():
    pytest.importorskip("matplotlib", reason="the extra [app] is not installed")
    names = {"names": ("[CLS]", "patch"), "key_names": ("[CLS]", "patch"), "grid": (2, 4)}
    call = replace(Taken.of_weights(np.full((1, 1, 2, 9, 9), 1 / 9), kind="vision")[0], **names)
    trace = attention.received(call)
    figure = attention.over_picture(trace, 0, np.zeros((4, 8)))
    assert figure.axes[0].get_title("left") == "query average" and not figure.axes[0].patches
    frame = attention.View.of(trace)
    assert frame.labels["queries"] == ("average",)
    assert frame.labels["keys"][:2] == ("[CLS]", "patch 0")
    assert "computed from captured weights" in repr(trace)


def test_a_kind_chooses_among_several():
    taken = recorded("t5")
    trace = attention.rollout(taken, kind="encoder")
    layers = [weights_of(call, 0) for call in taken if call.kind == "encoder"]
    np.testing.assert_allclose(trace.weights[0, 0], rolled(layers, 0.5), atol=1e-12)
    with pytest.raises(BadInput, match="no call is of it"):
        attention.rollout(taken, kind="vision")
