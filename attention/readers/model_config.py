"""What a model's config.json says of its attention: heads, and what this formula has not."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from attention.readers.fused import ModelHeads

ROTARY = "it turns Q and K by rotary positions"
RELATIVE = "it adds relative positions to the scores"
ALIBI = "it adds ALiBi, a slope by distance, to the scores"
CAUSAL = "it hides later tokens (choose the causal mask)"
UNSCALED = "it does not divide the scores by √d_k (set the scale to 1)"
NORMED = "it norms Q and K before they meet"
SINKS = "its softmax has a sink that takes a share of every row"


class ModelConfig(NamedTuple):
    """A model's kind, its heads, and how its attention differs, in words after "the model: "."""

    kind: str
    heads: ModelHeads | None
    differs: tuple[str, ...] = ()


def read_config(text: str) -> ModelConfig | None:
    """The configuration in a config.json of Hugging Face; None where it is something else.

    >>> read_config('{"model_type": "gpt2", "n_head": 12, "n_embd": 768}').heads
    ModelHeads(heads=12, keys=None, size=None)
    """
    if not text.lstrip().startswith("{") or '"model_type"' not in text:
        return None
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        return None
    inner = config.get("text_config")  # of models that also see
    config = config | inner if isinstance(inner, dict) else config
    return ModelConfig(config["model_type"], _heads(config), tuple(_differs(config)))


def _heads(config: dict[str, Any]) -> ModelHeads | None:
    names = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads")
    count = _whole(config, *names)
    if count is None:
        return None
    keys = _whole(config, "num_key_value_heads", "num_kv_heads", "n_head_kv")
    if "multi_query" in config and not config.get("new_decoder_architecture"):
        keys = 1 if config["multi_query"] is True else count  # Falcon ignores num_kv_heads then
    return ModelHeads(count, keys, _whole(config, "head_dim", "d_kv"))


def _whole(config: dict[str, Any], *names: str) -> int | None:
    """The first of these that is a whole number from 1."""
    found = (config.get(name) for name in names)
    return next((value for value in found if type(value) is int and 0 < value < 2**20), None)


def _differs(config: dict[str, Any]) -> list[str]:
    """How the model's attention differs from softmax(Q Kᵀ / √d_k) V, where that is said."""
    kind = config["model_type"]
    attn = config.get("attn_config")
    alibi = config.get("alibi") is True or isinstance(attn, dict) and attn.get("alibi") is True
    relative = (
        config.get("relative_attention") is True or "relative_attention_num_buckets" in config
    )
    relative = relative or str(config.get("position_embedding_type")).startswith("relative")
    said = [
        (kind == "bloom" or alibi, ALIBI),
        (not alibi and _is_rotary(config), ROTARY),
        (relative, RELATIVE),
        (kind in NORMING or config.get("qk_layernorm") is True, NORMED),
        (kind in ("t5", "mt5", "umt5", "longt5", "gpt_neo"), UNSCALED),
        (config.get("scale_attn_weights") is False, UNSCALED),
        (kind == "gpt_oss", SINKS),
        (_is_causal(config), CAUSAL),
    ]
    return [sentence for holds, sentence in said if holds] + _numbers(config)


NORMING = ("qwen3", "qwen3_moe", "gemma3", "gemma3_text", "olmo2", "cohere2")


def _is_rotary(config: dict[str, Any]) -> bool:
    names = ("rope_theta", "rope_parameters", "rope_scaling", "rotary_pct", "rotary_dim")
    typed = config.get("position_embedding_type") in ("rotary", "rope")
    by_kind = config["model_type"] in ("falcon", "chatglm")
    return typed or by_kind or any(config.get(name) is not None for name in names)


def _is_causal(config: dict[str, Any]) -> bool:
    architectures = config.get("architectures")
    names = architectures if isinstance(architectures, list) else []
    decoder = any(str(name).endswith(("ForCausalLM", "LMHeadModel")) for name in names)
    return decoder or config.get("is_decoder") is True


def _numbers(config: dict[str, Any]) -> list[str]:
    """What is said with a number: another scale, a window, a bound of the scores."""
    said = []
    scalar, factor = config.get("query_pre_attn_scalar"), config.get("attention_multiplier")
    if isinstance(scalar, (int, float)):
        said.append(f"it divides the scores by √{scalar:g} (set the scale)")
    elif isinstance(factor, (int, float)):
        said.append(f"it multiplies the scores by {factor:g} (set the scale)")
    if config.get("relative_attention") is True and isinstance(config.get("pos_att_type"), list):
        terms = 1 + len(config["pos_att_type"])
        said.append(f"it divides the scores by √({terms} d_k) (set the scale)")
    window = config.get("sliding_window")
    if type(window) is int and config.get("use_sliding_window") is not False:
        said.append(f"queries look at the last {window:,} keys alone, in some layers or all")
    cap = config.get("attn_logit_softcapping")
    if isinstance(cap, (int, float)) and cap:
        said.append(f"it bounds the scores by {cap:g} · tanh(score / {cap:g})")
    return said
