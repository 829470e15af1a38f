"""Weights of real families: Q, K and V of their own code (recorded by record_models.py), by loops.

What stays behind is said by config.json, by names, or not at all.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import oracle
import pytest

from attention.limits import BadInput
from attention.readers.differences import stays_behind
from attention.readers.entry import ArrayEntry
from attention.readers.fused import ModelHeads
from attention.readers.model_config import read_config
from attention.readers.select import Selection, gather, select
from attention.readers.tensor_names import guess, layers, recognised
from attention.session.adopt import adopt, behind, picks_of
from attention.session.examples import EXAMPLES

RECORDED = json.loads(Path(__file__).with_name("recorded_models.json").read_text())
MODELS = RECORDED["models"]
NEEDING_HEADS = {  # their layout goes by heads, and the shape alone does not say how many
    "Pythia (GPT-NeoX)",
    "BLOOM",
    "Falcon, one key head",
    "Falcon, a key for each",
    "Falcon, groups",
    "DeBERTa",
    "Phi-3",
    "StarCoder",
}
OPEN = "StarCoder, a key for each"


def entry(values, name) -> ArrayEntry:
    values = np.asarray(values, np.float32)
    return ArrayEntry(name, values.shape, values.dtype.name, lambda: values)


def opened(model) -> dict[str, ArrayEntry]:
    """All tensors of the model by name; those of no attention hold zeros."""
    recorded = MODELS[model]
    return {
        name: entry(recorded["weights"].get(name, np.zeros(shape)), name)
        for name, shape in recorded["shapes"].items()
    }


def config_of(model):
    return read_config(json.dumps(MODELS[model]["config"]))


def picked(model, heads=None) -> dict:
    found = opened(model)
    (layer,) = [where for where in layers(found) if where == MODELS[model]["at"]]
    picks = picks_of(found, "weights", layer)
    return {role: (picks[role], Selection(heads=heads)) for role in ("W_Q", "W_K", "W_V")}, found


@pytest.mark.parametrize(
    ("model", "known"),
    [
        (model, known)
        for model in MODELS
        for known in ("config.json", "a person")
        if (model, known) != (OPEN, "a person")  # see below
        if MODELS[model]["config"] or known == "a person"  # torch's own module has none
    ],
)
def test_the_projections_are_the_models_own(model, known):
    recorded = MODELS[model]
    picks, found = picked(model, ModelHeads(4) if known == "a person" else None)
    config = config_of(model) if known == "config.json" else None
    selected = gather(found, picks, "m.safetensors", config)
    for role in "QKV":
        x = recorded["x"] if role == "Q" else recorded.get("y", recorded["x"])
        assert oracle.product(x, selected[f"W_{role}"].values) == recorded[role], role


@pytest.mark.parametrize("model", [model for model in MODELS if model != OPEN])
def test_where_heads_have_to_be_known_and_are_not_they_are_asked_for(model):
    picks, found = picked(model)
    if model in NEEDING_HEADS:
        name = picks["W_K"][0]
        with pytest.raises(BadInput) as asked:
            select(found[name], "W_K", "m.safetensors")
        assert str(asked.value) == (
            f"m.safetensors, {name} holds Q, K and V of several heads in one; say how many heads"
            " the model has (num_attention_heads in its config.json)."
        )
    else:
        gather(found, picks, "m.safetensors")


def test_a_model_whose_heads_share_keys_becomes_a_whole_board():
    picks, found = picked("Falcon, groups")
    selected = gather(found, picks, "m", config_of("Falcon, groups"))
    x = entry(MODELS["Falcon, groups"]["x"], "X")
    s, said = adopt(EXAMPLES["four-words"].build(), {"X": select(x, "X", "it"), **selected})
    assert (s.heads, s.shape("W_Q"), s.shape("W_K")) == (4, (16, 16), (16, 16))
    assert "2 of 4 heads have keys and values, which 2 share each." in said


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "encoder.layer.0.attention.self.pos_query_proj.weight",
        "layers.0.self_attn.relative_k_proj.weight",
        "layers.0.mlp.key_value.weight",
        "norm_k.weight",
        "layers.0.self_attn.q_proj.weight_scale",
        "layers.0.mixer.in_proj.weight",
    ],
)
def test_the_end_of_a_name_alone_says_nothing(name):
    assert recognised(name) == {}
    assert guess([name], "W_Q") is guess([name], "W_K") is guess([name], "W_V") is None


def test_an_nn_linear_called_c_attn_is_asked_about_as_two_models_keep_it_in_two_ways():
    picks, found = picked(OPEN, ModelHeads(4))
    with pytest.raises(BadInput, match="^m, h.0.attn.c_attn.weight holds Q, K and V in one, and "):
        gather(found, picks, "m")
    by_head = {
        role: (name, replace(asked, layout="by head")) for role, (name, asked) in picks.items()
    }
    selected = gather(found, by_head, "m")
    recorded = MODELS[OPEN]
    for role in "QKV":
        assert oracle.product(recorded["x"], selected[f"W_{role}"].values) == recorded[role]


@pytest.mark.parametrize(
    "name", ["encoder.layers.3.self_attention.query_key_value.weight", "x.qkv.weight"]
)
def test_where_a_name_does_not_say_how_q_k_and_v_lie_it_is_asked(name):
    fused = entry(np.arange(48).reshape(12, 4), name)
    with pytest.raises(BadInput) as asked:
        select(fused, "W_V", "m.safetensors")
    assert str(asked.value) == (
        f"m.safetensors, {name} holds Q, K and V in one, and its name does not say how; choose"
        " whether all of Q comes first, or Q, K and V of each head."
    )
    heads = ModelHeads(2)
    turn = select(fused, "W_V", "m", Selection(layout="in turn", heads=heads)).values
    assert turn.T.tolist() == [[4 * row + k for k in range(4)] for row in (8, 9, 10, 11)]
    each = select(fused, "W_V", "m", Selection(layout="by head", heads=heads)).values
    assert each.T.tolist() == [[4 * row + k for k in range(4)] for row in (4, 5, 10, 11)]


@pytest.mark.parametrize(
    ("shape", "heads", "message"),
    [
        ((24, 16), 5, "m, NAME is 24 × 16; 5 heads cannot share its 24 outputs."),
        ((48, 16), 3, "m, NAME is 48 × 16; 3 heads cannot share its 48 outputs."),
    ],
)
def test_heads_that_do_not_fit_a_tensor_are_refused(shape, heads, message):
    name = "h.0.self_attention.query_key_value.weight"
    asked = Selection(heads=ModelHeads(heads))
    with pytest.raises(BadInput) as refused:
        select(entry(np.ones(shape), name), "W_K", "m", asked)
    assert str(refused.value) == message.replace("NAME", name)


def test_heads_with_matrices_of_their_own_stand_beside_each_other():
    W = np.arange(24).reshape(2, 4, 3)  # (heads, in, out of one), as TransformerLens keeps them
    one = select(entry(W, "blocks.0.attn.W_Q"), "W_Q", "m")
    assert (one.heads, one.values.shape) == (2, (4, 6))
    for h in range(2):
        assert one.values[:, 3 * h : 3 * h + 3].tolist() == W[h].tolist()
    out = select(entry(W, "blocks.0.attn.W_O"), "W_O", "m")
    assert out.values.tolist() == [row for head in W.tolist() for row in head]


@pytest.mark.parametrize("turned", [False, True])
def test_a_square_output_weight_lies_as_the_tensor_beside_it(turned):
    rng = np.random.default_rng(0)
    fused, out = rng.standard_normal((4, 12)), rng.standard_normal((4, 4)).astype("f4")
    found = {
        "h.0.attn.c_attn.weight": entry(fused.T if turned else fused, "h.0.attn.c_attn.weight"),
        "h.0.attn.c_proj.weight": entry(out, "h.0.attn.c_proj.weight"),
    }
    (one,) = gather(found, {"W_O": ("h.0.attn.c_proj.weight", Selection())}, "m").values()
    assert np.array_equal(one.values, out.T if turned else out)
    way = "(out, in), and transposed" if turned else "(in, out)"
    assert one.remarks == (
        f"W_O is h.0.attn.c_proj.weight, as the tensor beside it stored as {way}.",
    )


# ---- what stays behind --------------------------------------------------------------------------


ROTARY = "it turns Q and K by rotary positions"
RELATIVE = "it adds relative positions to the scores"
ALIBI = "it adds ALiBi, a slope by distance, to the scores"
CAUSAL = "it hides later tokens (choose the causal mask)"
UNSCALED = "it does not divide the scores by √d_k (set the scale to 1)"
NORMED = "it norms Q and K before they meet"
BEHIND = {  # by its config.json, and by names alone
    "BERT": ("", ""),
    "GPT-2": (CAUSAL, CAUSAL),
    "LLaMA": (f"{ROTARY}; {CAUSAL}",) * 2,
    "Phi-3": (f"{ROTARY}; {CAUSAL}",) * 2,
    "Qwen3": (f"{ROTARY}; {NORMED}; {CAUSAL}", f"{ROTARY}; {CAUSAL}; {NORMED}"),
    "Pythia (GPT-NeoX)": (f"{ROTARY}; {CAUSAL}",) * 2,
    "BLOOM": (f"{ALIBI}; {CAUSAL}",) * 2,
    "Falcon, groups": (
        f"{ROTARY}; {CAUSAL}",
        f"{ALIBI} (BLOOM), or turns Q and K by rotary positions (Falcon); {CAUSAL}",
    ),
    "CodeGen": (f"{ROTARY}; {CAUSAL}",) * 2,
    "StarCoder": (CAUSAL, CAUSAL),
    "GPT-Neo": (f"{UNSCALED}; {CAUSAL}",) * 2,
    "MPT": (f"{ALIBI}; {CAUSAL}",) * 2,
    "DeBERTa v3": (f"{RELATIVE}; it divides the scores by √(3 d_k) (set the scale)", RELATIVE),
    "T5": (f"{RELATIVE}; {UNSCALED}", f"{UNSCALED}; {RELATIVE}"),
    "nn.MultiheadAttention": ("", ""),
}


@pytest.mark.parametrize("by_config", [True, False])
@pytest.mark.parametrize("model", BEHIND)
def test_what_the_model_does_besides_is_said(model, by_config):
    picks, found = picked(model, ModelHeads(4))
    config = config_of(model) if by_config else None
    chosen = [name for name, _ in picks.values()]
    without_biases = [name for name in found if not name.endswith("bias")]
    wanted = BEHIND[model][0 if by_config else 1]
    told = f"The numbers will differ from the model’s: {wanted}." if wanted else ""
    assert stays_behind(without_biases, chosen, config) == told


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("BERT", "its biases stayed behind (BERT.query.bias and 2 more)"),
        ("GPT-2", "its bias stayed behind (h.0.attn.c_attn.bias)"),
        ("BLOOM", "its bias stayed behind (h.0.self_attention.query_key_value.bias)"),
        ("DeBERTa", "its biases stayed behind (BERT.q_bias and 1 more)"),
        ("nn.MultiheadAttention", "its bias stayed behind (self_attn.in_proj_bias)"),
        ("nn.MultiheadAttention, other widths", "its bias stayed behind (self_attn.in_proj_bias)"),
    ],
)
def test_biases_stay_behind_and_are_named_first(model, told):
    picks, found = picked(model, ModelHeads(4))
    (said,) = behind(gather(found, picks, "m"))
    told = told.replace("BERT", "encoder.layer.0.attention.self")
    assert said.startswith(f"The numbers will differ from the model’s: {told}")


def test_of_typed_arrays_nothing_stays_behind():
    found = {name: entry(np.eye(2), name) for name in ("X", "W_Q", "W_K", "W_V")}
    picks = {name: (name, Selection()) for name in found}
    assert behind(gather(found, picks, "m", config_of("LLaMA"))) == []


@pytest.mark.parametrize("text", ["", "[1]", '{"model_type": 1}', '{"model_type": "x"', '{"a": 2}'])
def test_what_is_no_configuration_is_none(text):
    assert read_config(text) is None


@pytest.mark.parametrize("model", [model for model in MODELS if MODELS[model]["config"]])
def test_every_configuration_says_how_many_heads_there_are(model):
    heads = config_of(model).heads
    assert heads is not None and heads.heads == 4


@pytest.mark.parametrize("model", ["T5", "Qwen3"])
def test_heads_are_seen_in_the_shapes_of_tensors_beside_the_weights(model):
    picks, found = picked(model)
    selected = gather(found, picks, "m")
    assert {array.heads for array in selected.values()} == {4}
    for role in "QKV":
        x = MODELS[model]["x"]
        assert oracle.product(x, selected[f"W_{role}"].values) == MODELS[model][role]


def test_a_norm_over_all_heads_says_nothing_about_their_number():
    picks, found = picked("Qwen3")
    norm = "layers.0.self_attn.q_norm.weight"
    found[norm] = entry(np.ones(16), norm)  # as OLMo 2 has it
    assert {array.heads for array in gather(found, picks, "m").values()} == {None}
