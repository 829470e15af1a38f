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
        "layers.0.mlp.value.weight",
        "rwkv.blocks.0.feed_forward.key.weight",
        "layers.0.attention.mlp.value.weight",
        "value_head.v.weight",
        "q.weight",
        f"{'attn' * 100_000}.q",  # would take minutes to look through
        "model.layers.0.linear_attn.in_proj_qkvz.weight",  # Qwen3-Next: no softmax
    ],
)
def test_the_end_of_a_name_alone_says_nothing(name):
    assert recognised(name) == {}
    assert guess([name], "W_Q") is guess([name], "W_K") is guess([name], "W_V") is None


@pytest.mark.parametrize(
    ("names", "where"),
    [
        ("attention.self.query attention.self.key attention.self.value", "attention.self"),
        ("SelfAttention.q SelfAttention.k SelfAttention.v", "SelfAttention"),
        ("attention.wq attention.wk attention.wv", "attention"),
        ("self_attn.q_proj self_attn.k_proj self_attn.v_proj", "self_attn"),
    ],
)
def test_an_attention_with_a_weight_for_each_is_one_layer(names, where):
    found = [f"layers.0.{name}.weight" for name in names.split()]
    assert [guess(found, f"W_{role}") for role in "QKV"] == found
    assert layers(found) == [f"layers.0.{where}"]


@pytest.mark.parametrize(
    "out",
    [
        "layers.0.attn.Wo",  # ModernBERT
        "model.layers.0.self_attn.dense",  # Phi
        "encoder.layers.0.attention.out_proj",  # wav2vec 2.0
        "decoder.block.0.layer.1.EncDecAttention.o",
        "layers.0.attention.wo",
    ],
)
def test_the_output_weight_is_known_by_its_name(out):
    assert list(recognised(f"{out}.weight")) == ["W_O"]


def test_a_gate_beside_each_query_is_not_read_as_queries():
    name = "model.layers.3.self_attn.q_proj.weight"
    with pytest.raises(BadInput) as refused:
        select(entry(np.ones((16, 8)), name), "W_Q", "m", Selection(heads=ModelHeads(2, 1, 4)))
    assert str(refused.value) == (
        f"m, {name} has 16 outputs, and 2 heads of 4 make 8; it holds a gate beside each query,"
        " which is not read."
    )


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


PAIRS = (
    f"{ROTARY}, columns 1 and 2, 3 and 4, … of a head together (Hugging Face has these in another"
    " order)"
)
OF_LLAMA = "model.layers.0.self_attn.q_proj.weight"
OF_BERT = "encoder.layer.0.attention.self.query.weight"
OF_GPT2 = "transformer.h.0.attn.c_attn.weight"
OF_FALCON = "transformer.h.0.self_attention.query_key_value.weight"
OF_MPT = "transformer.blocks.0.attn.Wqkv.weight"
OF_META = "layers.0.attention.wq.weight"
OF_MODERNBERT = "model.layers.0.attn.Wqkv.weight"
OF_T5 = "decoder.block.0.layer.1.EncDecAttention.q.weight"
NEOX = "gpt_neox.layers.0.attention.query_key_value.weight"


def deberta(types):
    return {"model_type": "deberta-v2", "relative_attention": True, "pos_att_type": types}


def modernbert(every):
    settings = {"global_rope_theta": 160000.0, "local_rope_theta": 10000.0, "local_attention": 128}
    return {"model_type": "modernbert", "global_attn_every_n_layers": every} | settings


TERMS = f"{RELATIVE}; it divides the scores by √(3 d_k) (set the scale)"
SIDES = "queries look at the 64 keys on each side alone"


@pytest.mark.parametrize(
    ("chosen", "config", "told"),
    [
        # no key of rotary positions: the names and the model's type still say it
        (OF_LLAMA, {"model_type": "mistral"}, f"{ROTARY}; {CAUSAL}"),
        (NEOX, {"model_type": "gpt_neox"}, f"{ROTARY}; {CAUSAL}"),
        (OF_BERT, {"model_type": "some", "rope_scaling": None}, ROTARY),
        (OF_BERT, {"model_type": "some", "rotary_emb_fraction": 0.0}, ""),
        (OF_GPT2, {"model_type": "qwen"}, f"{ROTARY}; {CAUSAL}"),
        # config.json says another kind of position
        (
            OF_BERT,
            {"model_type": "esm", "position_embedding_type": "absolute", "rope_theta": 1},
            "",
        ),
        (OF_LLAMA, {"model_type": "jamba"}, CAUSAL),
        (OF_MPT, {"model_type": "mpt", "attn_config": {"alibi": False, "rope_theta": 1}}, CAUSAL),
        (OF_FALCON, {"model_type": "RefinedWebModel", "alibi": False}, f"{ROTARY}; {CAUSAL}"),
        (OF_FALCON, {"model_type": "RefinedWebModel", "alibi": True}, f"{ALIBI}; {CAUSAL}"),
        (OF_FALCON, {"model_type": "RefinedWeb"}, f"{ROTARY}; {CAUSAL}"),
        (OF_FALCON, {"model_type": "bloom"}, f"{ALIBI}; {CAUSAL}"),
        # no later token is hidden
        (OF_LLAMA, {"model_type": "eurobert", "rope_theta": 1e4}, ROTARY),
        (
            OF_LLAMA,
            {"model_type": "gemma3_text", "use_bidirectional_attention": True},
            f"{NORMED}; {ROTARY}",
        ),
        (
            OF_LLAMA,
            {"model_type": "llama", "is_causal": False, "architectures": ["LlamaForCausalLM"]},
            ROTARY,
        ),
        # DeBERTa's terms, as a text or as a list
        (OF_BERT, deberta("p2c|c2p"), TERMS),
        (OF_BERT, deberta(["p2c", "c2p"]), TERMS),
        # ModernBERT, RoFormer, GPT-2, GPT-Neo
        (OF_MODERNBERT, modernbert(3), f"{ROTARY}; {SIDES}, in all layers but 0, 3, 6, …"),
        (OF_MODERNBERT, modernbert(1), ROTARY),
        (OF_BERT, {"model_type": "roformer"}, ROTARY),
        (
            OF_BERT,
            {"model_type": "roformer", "rotary_value": True},
            f"{ROTARY}; it turns V by rotary positions too",
        ),
        (OF_GPT2, {"model_type": "gpt2", "scale_attn_weights": False}, f"{UNSCALED}; {CAUSAL}"),
        (
            OF_GPT2,
            {"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": True},
            f"it divides the scores by the layer’s place too, counted from 1 (set the scale);"
            f" {CAUSAL}",
        ),
        (
            OF_GPT2,
            {"model_type": "gpt2", "reorder_and_upcast_attn": True},
            f"it computes scores and weights in float32, whatever its weights are; {CAUSAL}",
        ),
        (
            OF_GPT2,
            {"model_type": "gpt_neo", "attention_types": [[["global", "local"], 6]]}
            | {"window_size": 256},
            f"{UNSCALED}; queries look at the last 256 keys alone, in some layers or all; {CAUSAL}",
        ),
        (OF_LLAMA, {"model_type": "cohere", "use_qk_norm": True}, f"{NORMED}; {ROTARY}; {CAUSAL}"),
        # what no configuration has to say
        (OF_META, None, f"{PAIRS}; {CAUSAL}"),
        (OF_META, {"model_type": "mistral", "rope_theta": 1e6}, f"{PAIRS}; {CAUSAL}"),
        (OF_META, {"dim": 64, "n_layers": 2, "n_heads": 4}, f"{PAIRS}; {CAUSAL}"),
        (f"language_model.{OF_LLAMA}", None, f"{ROTARY}; {CAUSAL}"),
        ("model.text_model.layers.0.self_attn.k_proj.weight", None, f"{ROTARY}; {CAUSAL}"),
        ("model.language_model.layers.0.self_attn.k_proj.weight", None, f"{ROTARY}; {CAUSAL}"),
        (OF_MODERNBERT, None, ROTARY),
        (f"roformer.{OF_BERT}", None, ROTARY),
    ],
)
def test_names_type_and_configuration_say_together_what_stays_behind(chosen, config, told):
    read = config and read_config(json.dumps(config))
    wanted = f"The numbers will differ from the model’s: {told}." if told else ""
    assert stays_behind([chosen], [chosen], read) == wanted


@pytest.mark.parametrize(
    ("chosen", "other", "told"),
    [
        (OF_BERT, "encoder.layer.0.attention.self.rotary_embeddings.inv_freq", ROTARY),  # ESM
        (OF_META, "rope.freqs", f"{PAIRS}; {CAUSAL}"),
        (OF_LLAMA, "model.layers.0.self_attn.out_proj.weight", CAUSAL),  # XGLM
        (
            f"language_model.{OF_LLAMA}",
            "vision_tower.encoder.layers.0.self_attn.out_proj.weight",
            f"{ROTARY}; {CAUSAL}",
        ),
        (
            OF_LLAMA,
            "model.layers.0.self_attn.q_layernorm.norms.0.weight",  # StableLM
            f"{ROTARY}; {CAUSAL}; {NORMED}",
        ),
        (OF_T5, "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", UNSCALED),
    ],
)
def test_tensors_beside_the_chosen_ones_say_what_stays_behind(chosen, other, told):
    wanted = f"The numbers will differ from the model’s: {told}."
    assert stays_behind([chosen, other], [chosen]) == wanted


def test_a_table_of_relative_positions_is_said_whatever_the_configuration_says():
    read = read_config(json.dumps({"model_type": "swin", "position_embedding_type": "absolute"}))
    beside = "encoder.layer.0.attention.self.relative_position_bias_table"
    wanted = f"The numbers will differ from the model’s: {RELATIVE}."
    assert stays_behind([OF_BERT, beside], [OF_BERT], read) == wanted


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


@pytest.mark.parametrize(
    "text",
    ["", "[1]", '{"n_heads": 2, "dim": 8}', '{"model_type": 1}', '{"model_type": "x"', '{"a": 2}'],
)
def test_what_is_no_configuration_is_none(text):
    assert read_config(text) is None


@pytest.mark.parametrize("odd", [None, True, -1, 0.5, "a", [], ["a", 1], {}, {"n_head": []}])
def test_a_configuration_with_odd_values_is_read_without_a_fault(odd):
    keys = {key for model in MODELS.values() for key in model["config"]} - {"model_type"}
    keys |= {"attn_config", "text_config", "vision_config", "pos_att_type", "local_attention"}
    keys |= {"attention_types", "alibi", "sliding_window", "query_pre_attn_scalar", "encoder"}
    strange = dict.fromkeys(sorted(keys), odd) | {"audio_config": {"model_type": odd}}
    config = read_config(json.dumps({"model_type": "gpt_neo"} | strange))
    assert config is not None and config.kind == "gpt_neo"
    assert read_config(f'{{"model_type": "x", "query_pre_attn_scalar": 1{"0" * 400}}}') is None


@pytest.mark.parametrize("model", [model for model in MODELS if MODELS[model]["config"]])
def test_every_configuration_says_how_many_heads_there_are(model):
    heads = config_of(model).heads
    assert heads is not None and heads.heads == 4


TOWERS = {
    "model_type": "clip",
    "text_config": {"model_type": "clip_text_model", "num_attention_heads": 2},
    "vision_config": {"model_type": "clip_vision_model", "num_attention_heads": 4},
}
WITH_TEXT = {"model_type": "llama", "num_attention_heads": 4, "rope_theta": 1e4}
SEEING = {"model_type": "llava", "text_config": WITH_TEXT, "vision_config": TOWERS["vision_config"]}
SIDED = {"model_type": "bart", "encoder_attention_heads": 2, "decoder_attention_heads": 4}


@pytest.mark.parametrize(
    ("config", "where", "heads", "told"),
    [
        (TOWERS, "text_model.encoder.layers.0.self_attn", 2, CAUSAL),
        (TOWERS, "vision_model.encoder.layers.0.self_attn", 4, ""),
        (
            SEEING | {"vision_config": {"image_size": 8}},
            "vision_tower.encoder.layers.0.self_attn",
            None,
            "",
        ),
        (TOWERS, "encoder.layers.0.self_attn", None, ""),  # of which tower is not known
        (SEEING, "language_model.model.layers.0.self_attn", 4, f"{ROTARY}; {CAUSAL}"),
        (SEEING, "vision_tower.encoder.layers.0.self_attn", 4, ""),
        (SIDED, "model.encoder.layers.0.self_attn", 2, ""),
        (SIDED, "model.decoder.layers.0.self_attn", 4, CAUSAL),
        (
            {"model_type": "gemma3", "text_config": WITH_TEXT},
            "model.layers.0.self_attn",
            4,
            f"{ROTARY}; {CAUSAL}",
        ),
    ],
)
def test_heads_and_differences_are_those_of_the_part_a_tensor_belongs_to(
    config, where, heads, told
):
    name = f"{where}.q_proj.weight"
    found = {name: entry(np.ones((8, 8)), name)}
    read = read_config(json.dumps(config))
    selected = gather(found, {"W_Q": (name, Selection())}, "m", read)
    assert selected["W_Q"].heads == heads
    wanted = [f"The numbers will differ from the model’s: {told}."] if told else []
    assert behind(selected) == wanted


def test_the_params_json_of_meta_says_how_many_heads_share_keys():
    params = {"dim": 8, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "norm_eps": 1e-5}
    sides = {"q": (8, 8), "k": (4, 8), "v": (4, 8)}
    found = {
        name: entry(np.arange(rows * width).reshape(rows, width), name)
        for letter, (rows, width) in sides.items()
        for name in [f"layers.0.attention.w{letter}.weight"]
    }
    picks = {
        role: (name, Selection()) for role, name in zip(("W_Q", "W_K", "W_V"), found, strict=True)
    }
    selected = gather(found, picks, "m", read_config(json.dumps(params)))
    assert {array.heads for array in selected.values()} == {4}
    K = selected["W_K"].values.T.tolist()  # rows of the two heads of keys, each twice
    assert [row[0] for row in K] == [0, 8, 0, 8, 16, 24, 16, 24]


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
