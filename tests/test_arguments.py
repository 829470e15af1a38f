"""What a public function cannot use, it refuses by a sentence of its own."""

from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

import messages
import numpy as np
import pytest

import attention
from attention import View, initialise, lengthened, sliding_window, soft_cap, softmax_in
from attention.long import places
from attention.samples.weights import INITIALISERS

E = np.random.default_rng(0).normal(size=(3, 4))
M = np.ones((2, 3, 4))
TRACE = attention.scaled_dot_product_attention(E, E, E)
LONG = attention.long_attention(E, E, E)
ALIKE = {"allowed": None, "bias": None, "scale": None, "softcap": None, "softmax": True}
ALIKE |= {"sinks": None, "score_mod": None, "mask_mod": None}
ALIKE |= {"norm": attention.RMSNorm(), "rotary": attention.Rotary(width=2)}
ALIKE |= {"relative": attention.RelativeBias(np.ones((4, 1)))}
HEADS = {"heads": 2, "kv_heads": None, "W_O": np.eye(4), "b_O": np.ones(4)}
SHOWN = {"tokens": None, "key_tokens": None, "item": 0, "head": 0}
PROJECTIONS = {"X": E, **dict.fromkeys(("W_Q", "W_K", "W_V"), np.eye(4))}
PROJECTIONS |= {**dict.fromkeys(("b_Q", "b_K", "b_V"), np.ones(4)), "positions": E}
FREQUENCIES = {"width": 4, "scaling": 2.0, "base": 100.0}
BERT = Path(__file__).parent / "models/recorded/bert.safetensors"
CALL = attention.Taken.load(BERT)[0]
WEIGHTS = np.full((1, 2, 3, 3), 1 / 3)
CALLS = {  # each public function, and arguments that it takes
    attention.scaled_dot_product_attention: {"Q": E, "K": E, "V": E} | ALIKE,
    attention.multi_head_attention: {"Q": E, "K": E, "V": E} | HEADS | ALIKE,
    attention.self_attention: PROJECTIONS | {"memory": None} | HEADS | ALIKE,
    View.of: {"trace": TRACE, "names": None, "context": False} | SHOWN,
    attention.frame: {"trace": TRACE, "stage": "weights", "tidy": True} | SHOWN,
    attention.long_attention: {"Q": E, "K": E, "V": E, "allowed": None, "bias": None}
    | {"scale": None, "softcap": None, "score_mod": None, "mask_mod": None, "sinks": None}
    | {"norm": None, "rotary": None, "results": ["output"], "pool": 2, "block": 2}
    | {"executor": None, "ahead": 1, "progress": None},
    LONG.rows: {"queries": [1], "item": 0, "head": 0},
    LONG.window: {"queries": (0, 2), "keys": (1, 3), "cells": 2, "of": "mean", "item": 0}
    | {"head": 0, "progress": None},
    places.causal: {"past": 0},
    places.sliding_window: {"before": 1, "after": 0, "past": 0},
    places.window: {"seen": 2, "past": 0},
    places.prefix: {"length": 2, "past": 0},
    places.padding: {"real": [True, False]},
    places.real_tokens: {"lengths": [1, 2]},
    places.documents: {"ids": [1, 2], "key_ids": [1, 2]},
    places.alibi: {"heads": 4, "past": 0},
    places.relative_bias: {"table": E, "bidirectional": False, "max_distance": 8, "past": 0},
    attention.causal: {"n_q": 2, "n_k": 3, "past": 0},
    attention.causal_lower_right: {"n_q": 2, "n_k": 3},
    sliding_window: {"n_q": 2, "n_k": 3, "before": 1, "after": 0, "past": 0},
    attention.window: {"n_q": 2, "n_k": 3, "seen": 2, "past": 0},
    attention.alibi: {"n_q": 2, "n_k": 3, "heads": 4, "past": 0},
    attention.alibi_slopes: {"heads": 4},
    attention.relative_bias: {"table": E, "n_q": 2, "n_k": 3, "past": 0}
    | {"bidirectional": False, "max_distance": 8},
    attention.RelativeBias: {"table": E, "past": 0, "bidirectional": False, "max_distance": 8},
    attention.padding: {"real": [True, False]},
    attention.real_tokens: {"lengths": [1, 2], "n_k": 3},
    lengthened: {"mask": [[True]], "n_k": 2},
    attention.heads_first: {"M": M},
    attention.repeat_heads: {"M": M, "heads": 4},
    attention.extend: {"past": E, "new": E},
    attention.split_heads: {"M": E, "heads": 2},
    attention.join_heads: {"M": M},
    initialise: {"kind": "uniform", "shape": (2, 3), "seed": 1, "low": 0, "high": 3},
    soft_cap: {"scaled": E, "softcap": 2.0},
    softmax_in: {"dtype": np.float32},
    attention.RMSNorm: {"gain_Q": [1.0, 2.0], "gain_K": None, "eps": 1e-6}
    | {"whole": False, "after_rotary": False},
    attention.Rotary: {"base": 100.0, "pairs": "halves", "width": 4, "offset": 1}
    | {"frequencies": [1.0, 0.5], "factor": 1.5},
    attention.sinusoidal: {"n": 2, "d_model": 3, "base": 100.0, "offset": 1},
    attention.linear_frequencies: FREQUENCIES,
    attention.ntk_frequencies: FREQUENCIES,
    attention.llama3_frequencies: FREQUENCIES | {"trained": 64, "fast": 4.0, "slow": 1.0},
    attention.yarn_frequencies: FREQUENCIES
    | {"trained": 64, "fast": 32.0, "slow": 1.0}
    | {"whole_pairs": True},
    attention.yarn_factor: {"scaling": 2.0},
    attention.read_printed: {"text": "[[1, 2]]"},
    attention.diagnose: {"Q": E, "K": E, "V": E, "output": E, "weights": None, "decimals": None}
    | {"heads": 1, "kv_heads": None, "allowed": None, "bias": None, "scale": None}
    | {"softcap": None, "softmax": "sigmoid", "announce": None},
    attention.verify: {"taken": BERT},
    attention.mean_of_heads: {"call": CALL},
    attention.received: {"call": CALL},
    attention.rollout: {"taken": attention.Taken.load(BERT), "residual": 0.5, "kind": ""},
    attention.survey: {"taken": BERT},
    attention.Taken.of_weights: {"weights": WEIGHTS, "tokens": None, "kind": "", "model": ""},
    attention.Taken.load(BERT).joined: {"layer": 0, "run": 0},
    attention.AttentionTrace.of_weights: {"weights": WEIGHTS, "allowed": None},
}
WRITTEN = {  # what needs Plotly, or writes a file
    "figure": {"shown": TRACE, "stages": None, "digits": 2, "title": ""} | SHOWN,
    "save": {"trace": TRACE, "path": "a.csv", "digits": 2, "stages": None, "source": ""} | SHOWN,
    "report": {"trace": TRACE, "path": "a.html", "digits": 2, "title": "", "source": ""} | SHOWN,
    "paper_figure": {"trace": TRACE, "stages": None, "tokens": None, "key_tokens": None}
    | {"item": 0, "heads": None, "digits": 2, "paper": None},
    "across_layers": {"taken": BERT, "head": 0, "layers": None, "item": 0, "paper": None},
    "trace_of": {"taken": BERT, "layer": 0, "item": 0, "head": 0},
    "overview": {"taken": BERT, "layers": None, "item": 0, "paper": None},
    "over_picture": {"trace": TRACE, "query": 1, "picture": E[:, :3] * 0, "item": 0, "head": 0}
    | {"tokens": None, "grid": (1, 2), "special": 1, "opacity": 0.5, "paper": None},
    "Paper": {one.name: one.default for one in fields(attention.Paper)},
}
ODD = {
    "None": None,
    "text": "abc",
    "bytes": b"x",
    "a list": [1, 2],
    "an empty list": [],
    "a ragged list": [[1], [1, 2]],
    "a negative number": -1,
    "NaN": np.nan,
    "infinity": np.inf,
    "a bool": True,
    "a fraction": 2.5,
    "a float": 2.0,
    "a complex number": 1j,
    "a huge number": 10**400,
    "an array of three axes": np.ones((2, 3, 4)),
    "an array without axes": np.array(3.0),
    "an array of text": np.array(["a", "b"]),
    "an array of dates": np.array(["2020-01-01"], "M8[D]"),
    "a table": {"a": 1},
    "a set": {1},
    "an object": object(),
    "a function": lambda *_: 1,
}


def check(function, arguments, name):
    for what, odd in ODD.items():
        try:
            function(**arguments | {name: odd})
        except (ValueError, TypeError) as refused:
            said = str(refused)
            assert said.endswith((".", ")")) and "\n" not in said, (name, what, said)
            assert "ambiguous" not in said and "ufunc" not in said, (name, what, said)


def test_every_public_function_is_called_here():
    # what capture refuses is tested where torch is installed
    called = {function.__name__ for function in CALLS} | set(WRITTEN)
    assert set(attention.__all__) - called == {
        "AttentionTrace",
        "LongAttention",
        "View",
        "Taken",
        "capture",
        "places",
    }


@pytest.mark.parametrize(
    ("function", "name"), [(f, name) for f, arguments in CALLS.items() for name in arguments]
)
def test_an_odd_argument_is_used_or_refused_by_a_sentence(function, name):
    check(function, CALLS[function], name)


@pytest.mark.parametrize(
    ("function", "name"), [(f, name) for f, arguments in WRITTEN.items() for name in arguments]
)
def test_an_odd_argument_of_what_draws_or_writes_is_used_or_refused_by_a_sentence(
    function, name, tmp_path, monkeypatch
):
    pytest.importorskip("plotly", reason="the extra [app] is not installed")
    monkeypatch.chdir(tmp_path)
    check(getattr(attention, function), WRITTEN[function], name)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: initialise("normal", 4, 1), ValueError, messages.SIZES_EXPECTED.format(shape="4")),
        (
            lambda: initialise("normal", (4, 3, 2), 1),
            ValueError,
            messages.SIZES_EXPECTED.format(shape="(4, 3, 2)"),
        ),
        (
            lambda: initialise("normal", (4, -1), 1),
            ValueError,
            messages.SIZES_EXPECTED.format(shape="(4, -1)"),
        ),
        (
            lambda: initialise("normal", (2.0, 3), 1),
            ValueError,
            messages.SIZES_EXPECTED.format(shape="(2.0, 3)"),
        ),
        (
            lambda: initialise("normal", (2, 3), -1),
            ValueError,
            messages.SEED_EXPECTED.format(seed="-1"),
        ),
        (
            lambda: initialise("normal", (2, 3), 1.5),
            ValueError,
            messages.SEED_EXPECTED.format(seed="1.5"),
        ),
        (
            lambda: initialise("normal", (2, 3), None),
            ValueError,
            messages.SEED_EXPECTED.format(seed="None"),
        ),
        (
            lambda: initialise("normal", (2, 3), [1, "a"]),
            ValueError,
            messages.SEED_EXPECTED.format(seed="[1, 'a']"),
        ),
        (
            lambda: initialise("uniform", (2, 3), 1, low="a"),
            TypeError,
            messages.NUMBER_EXPECTED.format(name="low", given="'a'"),
        ),
        (
            lambda: initialise(["normal"], (2, 3), 1),
            ValueError,
            messages.UNKNOWN_INITIALISER.format(name="['normal']", known=", ".join(INITIALISERS)),
        ),
        (
            lambda: soft_cap([["a"]], 2.0),
            TypeError,
            messages.NUMBERS_EXPECTED.format(name="scaled", seen="holds text"),
        ),
        (
            lambda: softmax_in("int32"),
            TypeError,
            messages.FLOAT_TYPE_EXPECTED.format(dtype="'int32'"),
        ),
        (
            lambda: sliding_window(2, 2, before="1"),
            ValueError,
            messages.BOUND_EXPECTED.format(name="before", bound="'1'"),
        ),
        (
            lambda: lengthened([[True]], 2.5),
            ValueError,
            messages.INTEGER_EXPECTED.format(name="n_k", given="2.5", least=0),
        ),
        (
            lambda: lengthened([["a"]], 2),
            TypeError,
            messages.MASK_OR_BIAS_EXPECTED.format(seen="holds text"),
        ),
        (
            lambda: attention.causal(2**40, 2),
            ValueError,
            messages.COUNT_TOO_LARGE.format(name="n_q", given=2**40, most="2,147,483,647"),
        ),
        (
            lambda: View.of(TRACE, names={"d_v": 4}),
            TypeError,
            messages.WORDS_EXPECTED.format(argument="names['d_v']", words=4),
        ),
        (
            lambda: View.of(TRACE, names=["a"]),
            TypeError,
            messages.NAMES_EXPECTED.format(names="['a']"),
        ),
        (
            lambda: View.of(TRACE, context=1),
            TypeError,
            messages.TRUE_OR_FALSE_EXPECTED.format(name="context", given=1),
        ),
        (
            lambda: View.of(TRACE, tokens=np.array(3.0)),
            TypeError,
            messages.WORDS_EXPECTED.format(argument="tokens", words="array(3.)"),
        ),
        pytest.param(
            lambda: attention.figure(TRACE, title=3),
            TypeError,
            messages.TEXT_EXPECTED.format(name="title", given=3),
            marks=pytest.mark.skipif(
                find_spec("plotly") is None, reason="the extra [app] is not installed"
            ),
        ),
        (
            lambda: attention.save(TRACE, 3),
            TypeError,
            messages.FILE_NAME_EXPECTED.format(path=3),
        ),
    ],
)
def test_a_refusal_names_the_argument_what_came_and_what_is_wanted(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_a_soft_cap_takes_lists_and_whole_numbers():
    wanted = [[2 * np.tanh(0.5), 2 * np.tanh(4.0)]]
    np.testing.assert_allclose(soft_cap([[1, 8]], 2), wanted, rtol=1e-15)
    np.testing.assert_allclose(soft_cap(np.array([[1, 8]]), 2), wanted, rtol=1e-15)
    assert soft_cap(np.ones((1, 1), "f4"), 2).dtype == np.float32


def test_a_seed_of_several_numbers_is_that_of_numpy():
    ours = initialise("normal", (2, 3), [7, 2**70])
    np.testing.assert_array_equal(ours, np.random.default_rng([7, 2**70]).standard_normal((2, 3)))
