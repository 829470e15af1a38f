"""Layers read out of checkpoints do what the models did (recorded by record.py, without torch)."""

import json
from dataclasses import replace
from pathlib import Path

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
    assert unknown.missing == ("it turns Q and K by rotary positions",)
    with pytest.raises(BadInput, match="layer is 7; there are 2 attentions, counted from 0"):
        attention.read_layer(tensors, config, 7)
    with pytest.raises(BadInput, match="no attention has 'decoder' in its name"):
        attention.read_layer(tensors, config, "decoder")
    with pytest.raises(BadInput, match="how many heads"):
        attention.read_layer(tensors, "", 0)
    with pytest.raises(BadInput, match="no tensor is called as W_Q, W_K and W_V"):
        attention.read_layer({"a": np.eye(2)}, config)
