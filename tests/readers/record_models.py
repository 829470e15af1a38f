"""Records Q, K and V of tiny models as the libraries themselves compute them: run by hand.

`python tests/readers/record_models.py` with transformers and torch writes recorded_models.json.
Weights are whole numbers and biases 0, so that all is exact; every token stands at position 0,
where rotary positions turn nothing.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AttentionInterface, AutoConfig, AutoModel

WIDTH, HEADS, TOKENS = 16, 4, 3
SMALL: dict[str, Any] = {"vocab_size": 11, "hidden_size": WIDTH, "num_attention_heads": HEADS}
SMALL |= {"intermediate_size": 8, "num_hidden_layers": 1, "max_position_embeddings": 16}
SMALL |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GPT: dict[str, Any] = {"vocab_size": 11, "n_embd": WIDTH, "n_head": HEADS, "n_layer": 1}
GPT |= {"n_positions": 16, "n_inner": 8, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
SHARED = {"num_key_value_heads": 2}
# The model's type, what its configuration says, and where the attention stands.
MODELS: dict[str, tuple[str, dict[str, Any], str]] = {
    "BERT": ("bert", SMALL, "encoder.layer.0.attention.self"),
    "GPT-2": ("gpt2", GPT, "h.0.attn"),
    "LLaMA": ("llama", SMALL | SHARED, "layers.0.self_attn"),
    "Phi-3": ("phi3", SMALL | SHARED, "layers.0.self_attn"),
    "Pythia (GPT-NeoX)": ("gpt_neox", SMALL, "layers.0.attention"),
    "BLOOM": ("bloom", SMALL | {"n_layer": 1, "n_head": HEADS}, "h.0.self_attention"),
    "Falcon, one key head": ("falcon", SMALL | {"multi_query": True}, "h.0.self_attention"),
    "Falcon, a key for each": ("falcon", SMALL | {"multi_query": False}, "h.0.self_attention"),
    "Falcon, groups": (
        "falcon",
        SMALL | {"new_decoder_architecture": True, "num_kv_heads": 2},
        "h.0.self_attention",
    ),
    "CodeGen": ("codegen", GPT | {"rotary_dim": 2}, "h.0.attn"),
    "StarCoder": ("gpt_bigcode", GPT | {"multi_query": True}, "h.0.attn"),
    "StarCoder, a key for each": ("gpt_bigcode", GPT | {"multi_query": False}, "h.0.attn"),
    "MPT": (
        "mpt",
        {"d_model": WIDTH, "n_heads": HEADS, "n_layers": 1, "vocab_size": 11},
        "blocks.0.attn",
    ),
    "DeBERTa": ("deberta", SMALL | RELATIVE, "encoder.layer.0.attention.self"),
    "DeBERTa v3": ("deberta-v2", SMALL | RELATIVE, "encoder.layer.0.attention.self"),
    "Qwen3": ("qwen3", SMALL | SHARED | {"head_dim": 4}, "layers.0.self_attn"),
    "GPT-Neo": (
        "gpt_neo",
        SMALL | {"num_heads": HEADS, "num_layers": 1, "attention_types": [[["global"], 1]]},
        "h.0.attn.attention",
    ),
    "T5": (
        "t5",
        {
            "d_model": WIDTH,
            "num_heads": HEADS,
            "d_kv": 4,
            "d_ff": 8,
            "num_layers": 1,
            "vocab_size": 11,
        },
        "encoder.block.0.layer.0.SelfAttention",
    ),
}


def main() -> None:
    transformers.set_seed(0)
    versions = {"transformers": transformers.__version__, "torch": torch.__version__}
    models = {name: recorded(*model) for name, model in MODELS.items()}
    models["nn.MultiheadAttention"] = of_torch(None)
    models["nn.MultiheadAttention, other widths"] = of_torch(12)
    written = json.dumps({"versions": versions, "models": models}, separators=(",", ":"))
    Path(__file__).with_name("recorded_models.json").write_text(
        written.replace('},"', '},\n"') + "\n"
    )


def recorded(kind: str, settings: dict[str, Any], place: str) -> dict[str, Any]:
    """One attention: the names and shapes of all tensors, its weights, and what it made of x."""
    config = AutoConfig.for_model(kind, **settings)
    model = AutoModel.from_config(config).eval()
    attention = model.get_submodule(place)
    for name, parameter in attention.named_parameters():
        whole = torch.randint(-4, 5, parameter.shape).float()
        parameter.data = whole * 0 if "bias" in name or "rel" in name else whole
    x = torch.randint(-4, 5, (1, TOKENS, WIDTH)).float()
    seen = watched(model, attention, kind)
    attention.register_forward_pre_hook(
        lambda module, args, more: given(args, more, x), with_kwargs=True
    )
    asked: dict[str, Any] = {"input_ids": torch.tensor([[3, 4, 5]])}
    if kind in ("llama", "phi3", "gpt_neox", "codegen", "falcon"):
        asked["position_ids"] = torch.zeros(1, TOKENS, dtype=torch.long)
    if kind == "t5":
        asked["decoder_input_ids"] = asked["input_ids"]
    with torch.no_grad():
        model(**asked)
    wanted = dict(attention.named_parameters())
    return {
        "config": config.to_diff_dict() | {"architectures": model_names(kind)},
        "shapes": {name: list(value.shape) for name, value in model.state_dict().items()},
        "at": place,
        "weights": {
            f"{place}.{name}": value.int().tolist()
            for name, value in wanted.items()
            if value.ndim == 2 and "rel" not in name and "norm" not in name.lower()
        },
        "x": x[0].int().tolist(),
    } | {name: seen[name].int().tolist() for name in "QKV"}


def model_names(kind: str) -> list[str]:
    """What config.json of a whole model names, as transformers.AutoModelForCausalLM would."""
    causal = transformers.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    decoder_alone = kind in causal and kind not in ("bert",)
    return [causal[kind]] if decoder_alone else []


def given(args: tuple, more: dict, x: torch.Tensor) -> tuple[tuple, dict]:
    """The attention's arguments, with x in place of its hidden states."""
    if "hidden_states" in more:
        return args, more | {"hidden_states": x}
    return (x, *args[1:]), more


def watched(model: Any, attention: Any, kind: str) -> dict[str, torch.Tensor]:
    """Q, K and V, filled when the model runs: heads beside each other, (tokens, heads · d_head)."""
    seen: dict[str, torch.Tensor] = {}

    def keep(*heads_first: torch.Tensor) -> None:
        for name, value in zip("QKV", heads_first, strict=True):
            value = value[0].transpose(0, 1)  # (tokens, heads, d_head)
            value = value.repeat_interleave(HEADS // value.shape[1], dim=1)
            seen[name] = value.reshape(TOKENS, -1)

    def fn(module: Any, query: Any, key: Any, value: Any, *rest: Any, **more: Any) -> Any:
        keep(query, key, value)
        return query.transpose(1, 2), None

    if kind in ("bert", "gpt2", "llama", "phi3", "gpt_neox", "gpt_bigcode"):
        AttentionInterface.register("watched", fn)
        model.set_attn_implementation("watched")
    elif kind in ("bloom", "falcon"):
        name = "_reshape" if kind == "bloom" else "_split_heads"
        own = getattr(attention, name)

        def split(fused: torch.Tensor) -> tuple:
            parts = own(fused)
            keep(*(part if kind == "bloom" else part.transpose(1, 2) for part in parts))
            return parts

        setattr(attention, name, split)
    elif kind in ("codegen",):
        own_attention = attention._attn
        attention._attn = lambda q, k, v, *rest: (keep(q, k, v), own_attention(q, k, v, *rest))[1]
    elif kind == "mpt":
        attention.Wqkv.register_forward_hook(  # modeling_mpt.py: mixed_qkv.chunk(3, dim=2)
            lambda module, args, out: seen.update(zip("QKV", out[0].chunk(3, dim=1), strict=True))
        )
    elif kind == "deberta":
        own_scores = attention.transpose_for_scores

        def scores(value: torch.Tensor) -> torch.Tensor:
            heads = own_scores(value)
            if value.shape[-1] == 3 * WIDTH:
                keep(*heads.chunk(3, dim=-1))
            return heads

        attention.transpose_for_scores = scores
    else:
        for role, names in zip(
            "QKV",
            (
                ("q", "query_proj", "q_proj"),
                ("k", "key_proj", "k_proj"),
                ("v", "value_proj", "v_proj"),
            ),
            strict=True,
        ):
            linear = next(getattr(attention, name) for name in names if hasattr(attention, name))
            linear.register_forward_hook(partial(project, seen, role))
    return seen


def project(seen: dict, role: str, module: Any, args: Any, out: torch.Tensor) -> None:
    """What comes out of the first call of a projection; heads that share keys have them each."""
    heads = out[0].reshape(TOKENS, -1, WIDTH // HEADS)
    repeated = heads.repeat_interleave(HEADS // heads.shape[1], dim=1).reshape(TOKENS, -1)
    seen.setdefault(role, repeated)


def of_torch(width: int | None) -> dict[str, Any]:
    """nn.MultiheadAttention, whose keys and values may have another width."""
    module = torch.nn.MultiheadAttention(WIDTH, HEADS, kdim=width, vdim=width, batch_first=True)
    for name, parameter in module.named_parameters():
        parameter.data = torch.randint(-4, 5, parameter.shape).float() * ("bias" not in name)
    x = torch.randint(-4, 5, (TOKENS, WIDTH)).float()
    y = x if width is None else torch.randint(-4, 5, (TOKENS, width)).float()
    F = torch.nn.functional
    if width is None:
        parts = F._in_projection_packed(x, x, x, module.in_proj_weight, module.in_proj_bias)
    else:
        parts = F._in_projection(
            x, y, y, module.q_proj_weight, module.k_proj_weight, module.v_proj_weight
        )
    state = module.state_dict()
    return {
        "config": {},
        "shapes": {f"self_attn.{name}": list(value.shape) for name, value in state.items()},
        "at": "self_attn",
        "weights": {
            f"self_attn.{name}": value.int().tolist()
            for name, value in state.items()
            if value.ndim == 2
        },
        "x": x.int().tolist(),
        "y": y.int().tolist(),
    } | {name: part.int().tolist() for name, part in zip("QKV", parts, strict=True)}


if __name__ == "__main__":
    main()
