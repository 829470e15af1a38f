"""Layers read out of checkpoints do what the models did (recorded by record.py, without torch)."""

import json
from dataclasses import replace
from pathlib import Path

import messages
import numpy as np
import pytest
from safetensors import safe_open

import attention
from attention.limits import BadInput

FILES = sorted(Path(__file__).with_name("layers").glob("*.safetensors"))
FAMILIES = "bert gemma2 gpt-neox gpt-oss gpt2 llama mistral qwen2 qwen3 roberta t5 vit"


def opened(path):
    with safe_open(path, "numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        config = json.loads(file.metadata()["config"])
    tensors = {name: M for name, M in arrays.items() if "/" not in name}
    places = sorted({name.rpartition("/")[0] for name in arrays if "/" in name})
    return arrays, tensors, config, places


def test_every_family_is_there():
    assert " ".join(path.stem for path in FILES) == FAMILIES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_layer_gives_what_the_model_gave_to_a_millionth(path):
    arrays, tensors, config, places = opened(path)
    for place in places:
        layer = attention.read_layer(tensors, config, place)
        trace = layer.attend(arrays[f"{place}/X"], memory=arrays.get(f"{place}/memory"))
        assert layer.missing == ()
        for stage in ("joined", "projected"):
            given = arrays[f"{place}/{stage}"]
            assert np.abs(getattr(trace, stage) - given).max() < 1e-6 * np.abs(given).max(), place


@pytest.mark.parametrize(
    ("family", "part"),
    [
        ("bert", "b_Q"),
        ("gpt2", "b_V"),
        ("llama", "rotary"),
        ("qwen2", "b_K"),
        ("qwen3", "norm"),
        ("gemma2", "softcap"),
        ("t5", "relative"),
        ("gpt-oss", "sinks"),
    ],
)
def test_each_part_matters(family, part):
    """What the layer has is needed: without it the numbers are others."""
    arrays, tensors, config, places = opened(Path(__file__).parent / f"layers/{family}.safetensors")
    layer, joined = (
        attention.read_layer(tensors, config, places[0]),
        arrays[f"{places[0]}/joined"],
    )
    less = replace(layer, **{part: None}).attend(arrays[f"{places[0]}/X"])
    assert np.abs(less.joined - joined).max() > 1e-5 * np.abs(joined).max()


def test_what_is_not_known_is_said():
    path = Path(__file__).parent / "layers/llama.safetensors"
    _, tensors, config, _ = opened(path)
    unknown = attention.read_layer(tensors, config | {"model_type": "somebodys"}, 0)
    assert unknown.missing == (messages.TURNS_BY_ROTARY,)
    for wrong, sentence in (
        ((tensors, config, 7), messages.NO_SUCH_LAYER.format(layer=7, count=2)),
        (
            (tensors, config, "decoder"),
            messages.NO_ATTENTION_OF_THAT_NAME.format(
                name="'decoder'", names="layers.0.self_attn, layers.1.self_attn"
            ),
        ),
        ((tensors, "", 0), messages.HEADS_NOT_SAID.format(place="layers.0.self_attn")),
        (({"a": np.eye(2)}, config), messages.NO_ATTENTION_TENSORS),
    ):
        with pytest.raises(BadInput) as refused:
            attention.read_layer(*wrong)
        assert str(refused.value) == sentence


GEMMA = {"model_type": "gemma3_text", "num_attention_heads": 4, "num_key_value_heads": 2}
GEMMA |= {"head_dim": 4, "sliding_window": 3, "rope_theta": 1e6, "rope_local_base_freq": 1e4}
LLAMA = {"model_type": "llama", "num_attention_heads": 2, "head_dim": 4}
ROTARY = messages.TURNS_BY_ROTARY
PLAIN = {f"layers.{k}.self_attn.{name}_proj.weight": np.eye(8) for k in (0, 1) for name in "qkvo"}


def test_gemma_3_as_transformers_4_wrote_it_has_another_base_in_sliding_layers():
    path = Path(__file__).parent / "layers/qwen3.safetensors"  # of the same shapes
    _, tensors, _, _ = opened(path)
    types = {"layer_types": ["sliding_attention", "full_attention"]}
    bases = [attention.read_layer(tensors, GEMMA | types, k).rotary.base for k in (0, 1)]
    assert bases == [1e4, 1e6]
    unsaid = attention.read_layer(tensors, GEMMA, 0)
    assert unsaid.rotary is None and ROTARY in unsaid.missing


@pytest.mark.parametrize(
    "odd",
    [
        {"rope_theta": None},
        {"rope_theta": "x"},
        {"rope_theta": [1]},
        {"rope_theta": -1},
        {"partial_rotary_factor": None},
        {"partial_rotary_factor": 0.3},
        {"rotary_dim": 3},
        {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}},
        {"rope_scaling": {"type": "linear", "factor": -2}},
        {"rope_scaling": {"type": "linear", "factor": "2"}},
        {"rope_scaling": {"type": ["x"]}},
    ],
    ids=str,
)
def test_a_configuration_that_makes_no_sense_leaves_the_part_missing(odd):
    assert attention.read_layer(PLAIN, LLAMA | odd).missing == (ROTARY,)


def test_numbers_that_make_no_sense_are_not_taken():
    odd = {"model_type": "mistral", "sliding_window": -3, "clip_qkv": 0.5}
    odd |= {"query_pre_attn_scalar": -4, "attn_logit_softcapping": -1}
    layer = attention.read_layer(PLAIN, LLAMA | odd)
    assert (layer.scale, layer.softcap, layer.window) == (None, None, None)
    assert len(layer.missing) == 4 and messages.KEEPS_WITHIN.format(limit=0.5) in layer.missing


def test_a_mask_or_an_input_of_another_kind_is_refused_by_a_sentence():
    layer, X = attention.read_layer(PLAIN, LLAMA), np.eye(3, 8)
    assert layer.causal
    with pytest.raises(TypeError) as refused:
        layer.attend(X, allowed=np.where(attention.causal(3, 3), 0, -np.inf))
    assert str(refused.value) == messages.BOOLEANS_EXPECTED.format(seen="holds float64")
    for wrong, shape in (([1.0, 2.0], "(2,)"), (3.0, "()")):
        with pytest.raises(ValueError) as refused:
            layer.attend(wrong)
        assert str(refused.value) == messages.TOKENS_AND_FEATURES.format(name="X", shape=shape)
    real = layer.attend(X, allowed=attention.padding([True, True, False]))
    assert real.allowed[0].tolist() == (np.tri(3) * [1, 1, 0]).astype(bool).tolist()


def test_a_window_joins_the_mask_of_padding():
    config = LLAMA | {"model_type": "mistral", "sliding_window": 2}
    layer = attention.read_layer(PLAIN, config)
    assert layer.window == 2 and layer.missing == ()
    X = np.random.default_rng(1).normal(size=(5, 8))
    trace = layer.attend(X, allowed=attention.padding([True, False, True, True, True]))
    seen = [[j <= i and i - j < 2 and j != 1 for j in range(5)] for i in range(5)]
    assert trace.allowed[0].tolist() == seen
    assert (trace.weights[0] > 0).tolist() == seen


def test_gains_that_are_no_numbers_leave_the_norm_missing():
    arrays, tensors, config, places = opened(Path(__file__).parent / "layers/qwen3.safetensors")
    name = next(name for name in tensors if name.endswith("q_norm.weight"))
    odd = tensors | {name: np.full_like(tensors[name], np.nan)}
    layer = attention.read_layer(odd, config, places[0])
    assert layer.norm is None and layer.missing == (messages.NORMS_Q_AND_K,)


def test_a_layer_is_told_in_a_few_lines():
    _, tensors, config, places = opened(Path(__file__).parent / "layers/gpt-oss.safetensors")
    said = repr(attention.read_layer(tensors, config, places[0]))
    assert said.splitlines() == [
        "Layer layers.0.self_attn: 4 heads, 2 of keys and values",
        "  W_Q 16 × 16, W_K 16 × 8, W_V 16 × 8, W_O 16 × 16",
        "  with biases, rotary, window, sinks, causal",
    ]
    odd = repr(attention.read_layer(PLAIN, LLAMA | {"rope_theta": -1}))
    assert odd.endswith(f"missing: {ROTARY}")
