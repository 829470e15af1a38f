"""A layer of a checkpoint, opened with its config.json, is on the page what the model is.

The numbers it is compared with are the models' own: tests/models/record.py recorded them.
"""

import json
from dataclasses import replace
from pathlib import Path

import messages
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

from attention.readers.model_config import read_config
from attention.readers.opening import opened
from attention.readers.select import Selection, gather
from attention.readers.tensor_names import layers
from attention.session import adopt, changes, links, prepared
from attention.session.about import behind
from attention.session.examples import EXAMPLES
from attention.session.matrix import Matrix
from attention.session.run import run
from attention.session.validate import check

FILES = sorted((Path(__file__).parents[1] / "models/layers").glob("*.safetensors"))
BEGIN = EXAMPLES["cat-sat"].build()


def recorded(family):
    """The checkpoint as a file, its config.json, and what the model gave, by place."""
    path = next(path for path in FILES if path.stem == family)
    with safe_open(path, "numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        config = file.metadata()["config"]
    content = save({name: M for name, M in arrays.items() if "/" not in name})
    given = {name: M for name, M in arrays.items() if "/" in name}
    return content, json.loads(config), given


def brought(content, config, place, asked=Selection()):  # noqa: B008
    """What Your data makes of that layer: arrays, and the layer where it comes whole."""
    found = opened("model.safetensors", content)
    config = read_config(json.dumps(config)) if config else None
    picks = {
        role: (name, Selection() if role == "W_O" else asked)
        for role, name in adopt.picks_of(found, "weights", place).items()
        if name is not None
    }
    layer = adopt.whole_layer(found, picks, None, config)
    selected = gather(found, picks, "model.safetensors", config)
    return (adopt.with_its_parts(selected, layer) if layer else selected), layer


def left(s):
    """What is said of the model, but for X being none of its embeddings."""
    return [sentence for sentence in behind(s) if sentence != messages.NOT_THE_MODELS_EMBEDDINGS]


def with_words(s, X):
    """These embeddings on the board, one token for each row."""
    tokens = tuple(f"w{k}" for k in range(X.shape[-2]))
    return check(replace(s.with_matrix("X", Matrix(X.astype(np.float64))), tokens=tokens))


def cases():
    for path in FILES:
        with safe_open(path, "numpy") as file:
            places = {n.rpartition("/")[0] for n in file.keys() if n.endswith("/X")}  # noqa: SIM118
            crossed = {n.rpartition("/")[0] for n in file.keys() if "/memory" in n}  # noqa: SIM118
        for place in sorted(places - crossed):
            yield pytest.param(path.stem, place, id=f"{path.stem}: {place}")


@pytest.mark.parametrize(("family", "place"), list(cases()))
def test_a_whole_layer_gives_on_the_page_what_the_model_gave(family, place):
    content, config, given = recorded(family)
    selected, layer = brought(content, config, place)
    s, _ = adopt.adopt(BEGIN, selected, layer=layer)
    s = with_words(s, given[f"{place}/X"])
    if family == "t5":
        assert s.parts == ("relative",) and s.scale == 1
        assert s.matrices["R"].origin.source.endswith(messages.FROM_ITS_RELATIVE_BIAS)
    assert not left(s)
    wanted = given[f"{place}/projected" if "W_O" in s.matrices else f"{place}/joined"]
    ours = run(s).projected if "W_O" in s.matrices else run(s).joined
    assert np.abs(ours - wanted).max() < 1e-6 * np.abs(wanted).max()


def test_the_parts_come_through_a_link_and_are_named_among_the_sources():
    content, config, given = recorded("qwen3")
    place = layers(opened("model.safetensors", content))[0]
    selected, layer = brought(content, config, place)
    s, said = adopt.adopt(BEGIN, selected, layer=layer)
    assert s.norm == layer.norm and s.rotary == layer.rotary and s.mask == "causal"
    assert messages.MASK_AS_IN_LAYER in said
    s = with_words(s, given[f"{place}/X"])
    again, _ = links.read(links.write(s))
    assert np.array_equal(run(again).projected, run(s).projected)


def test_a_bias_says_where_it_is_from():
    content, config, _ = recorded("bert")
    place = layers(opened("model.safetensors", content))[0]
    selected, layer = brought(content, config, place)
    s, _ = adopt.adopt(BEGIN, selected, layer=layer)
    source = s.matrices["b_Q"].origin.source
    assert source.startswith("model.safetensors") and source.endswith(messages.FROM_ITS_BIAS)


def test_a_cut_or_a_layer_without_heads_is_taken_as_before():
    content, config, _ = recorded("bert")
    place = layers(opened("model.safetensors", content))[0]
    for asked, known in ((Selection(cut=":, 0:4"), config), (Selection(), None)):
        selected, layer = brought(content, known, place, asked)
        assert layer is None and "b_Q" not in selected
        s, _ = adopt.adopt(BEGIN, selected)
        assert not s.parts and any("bias" in sentence for sentence in left(s))


def test_what_is_not_known_stays_behind_alone():
    content, config, _ = recorded("llama")
    place = layers(opened("model.safetensors", content))[0]
    selected, layer = brought(content, config | {"model_type": "somebodys"}, place)
    s, _ = adopt.adopt(BEGIN, selected, layer=layer)
    (said,) = left(s)
    assert "rotary" in said and "later tokens" not in said


def test_no_bias_or_position_of_before_stays_beside_a_whole_layer():
    content, config, given = recorded("llama")
    place = layers(opened("model.safetensors", content))[0]
    selected, layer = brought(content, config, place)
    begun = prepared.set_positions(changes.set_output_weights(BEGIN, True), True)
    begun = prepared.set_biases(begun, True)
    s, _ = adopt.adopt(begun, selected, layer=layer)
    plain, _ = adopt.adopt(BEGIN, selected, layer=layer)
    assert s.matrices.keys() == plain.matrices.keys() and s.parts == plain.parts
