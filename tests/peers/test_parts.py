"""Whole attention layers of transformers, reproduced from their weights: record_parts.py asked."""

import json
from pathlib import Path

import numpy as np
import pytest

from attention import (
    RMSNorm,
    Rotary,
    causal,
    linear_frequencies,
    self_attention,
    yarn_factor,
    yarn_frequencies,
)

RECORDED = np.load(Path(__file__).with_name("parts.npz"))
BASE, PAST = 100.0, 2
HEADS = {"heads": 4, "kv_heads": 2}
SPLIT = {  # where a layer keeps them
    "W_Q": "q_proj.weight",
    "W_K": "k_proj.weight",
    "W_V": "v_proj.weight",
    "W_O": "o_proj.weight",
    "b_Q": "q_proj.bias",
    "b_K": "k_proj.bias",
    "b_V": "v_proj.bias",
    "b_O": "o_proj.bias",
}
LAYERS = {
    "LLaMA": HEADS,
    "LLaMA, one head for all": {"heads": 4, "kv_heads": 1},
    "LLaMA, with biases": HEADS,
    "LLaMA, linear": HEADS,
    "LLaMA, YaRN": HEADS,
    "Qwen2, biases of Q, K and V": HEADS,
    "Qwen3, norm by head": HEADS,
    "OLMo 2, norm of all heads": HEADS,
    "Hunyuan, norm after the rotation": HEADS,
    "GPT-J": {"heads": 2},
    "GPT-NeoX": {"heads": 2},
}
ROTARY = {
    "LLaMA, linear": {"frequencies": linear_frequencies(4, 4.0, BASE)},
    "LLaMA, YaRN": {
        "frequencies": yarn_frequencies(16, 4.0, 64, BASE, fast=8.0),
        "factor": yarn_factor(4.0),
    },
    "GPT-J": {"base": 10000.0, "pairs": "interleaved", "width": 4},
    "GPT-NeoX": {"base": BASE, "width": 4},
}
NORMS = {  # how, and what the layer calls its gains
    "Qwen3, norm by head": ({}, "q_norm", "k_norm"),
    "OLMo 2, norm of all heads": ({"whole": True, "eps": 1e-5}, "q_norm", "k_norm"),
    "Hunyuan, norm after the rotation": (
        {"after_rotary": True, "eps": 1e-5},
        "query_layernorm",
        "key_layernorm",
    ),
}


def answers(name, dtype=np.float32, **more):
    """What the package makes of a layer's weights; ``more`` replaces what it is given."""
    kept = {key.partition("/")[2]: RECORDED[key] for key in RECORDED if key.startswith(f"{name}/")}
    kept = {key: values.astype(dtype) for key, values in kept.items()}
    if name == "GPT-J":
        kept["o_proj.weight"] = kept["out_proj.weight"]
    if name == "GPT-NeoX":  # rows by head: of Q, of K, of V
        for k, letter in enumerate("qkv"):
            rows = kept["query_key_value.weight"].reshape(2, 3, 8, 16)[:, k].reshape(16, 16)
            bias = kept["query_key_value.bias"].reshape(2, 3, 8)[:, k].reshape(16)
            kept |= {f"{letter}_proj.weight": rows, f"{letter}_proj.bias": bias}
        kept |= {"o_proj.weight": kept["dense.weight"], "o_proj.bias": kept["dense.bias"]}
    given = {ours: kept[theirs] for ours, theirs in SPLIT.items() if theirs in kept}
    given |= {ours: W.T for ours, W in given.items() if ours.startswith("W_")}
    given["rotary"] = Rotary(**({"base": BASE} | ROTARY.get(name, {})))
    if name in NORMS:
        how, q, k = NORMS[name]
        gains = {"gain_Q": kept[f"{q}.weight"], "gain_K": kept[f"{k}.weight"]}
        given["norm"] = RMSNorm(**how, **gains)
    n = len(kept["X"])
    given |= {"X": kept["X"], "allowed": causal(n, n)} | LAYERS[name] | more
    return self_attention(**given), kept


def near(found, output):
    """Within the rounding of float32, on whatever processor: beside the largest number."""
    np.testing.assert_allclose(found, output, rtol=0, atol=1e-6 * np.abs(output).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_of_transformers_is_reproduced_from_its_weights(name, dtype):
    trace, kept = answers(name, dtype)
    assert trace.projected.dtype == trace.Q_rotated.dtype == dtype
    np.testing.assert_allclose(trace.weights, kept["weights"], atol=1e-6)
    near(trace.projected, kept["output"])


@pytest.mark.parametrize("name", [name for name in LAYERS if not name.startswith("GPT")])
def test_with_a_cache_the_last_queries_of_a_layer_are_those_of_the_whole(name):
    trace, kept = answers(name)
    near(trace.projected[PAST:], kept["stepped"])
    whole, n = ROTARY.get(name, {}), len(kept["X"])
    stepped, _ = answers(
        name,
        X=kept["X"][PAST:],
        memory=kept["X"],  # where the keys come from, those of the cache included
        allowed=causal(n - PAST, n, past=PAST),
        rotary=Rotary(**({"base": BASE} | whole), offset=PAST),
    )
    near(stepped.projected, kept["stepped"])


@pytest.mark.parametrize("name", LAYERS)
def test_without_a_part_the_layer_is_another_one(name):
    wrong = {"rotary": None}
    trace, kept = answers(name, **wrong)
    assert np.abs(trace.weights - kept["weights"]).max() > 0.01
    if name in NORMS:
        trace, _ = answers(name, norm=None)
        assert np.abs(trace.weights - kept["weights"]).max() > 0.01


def test_the_versions_are_named():
    assert set(json.loads(str(RECORDED["versions"]))) == {"torch", "transformers"}
