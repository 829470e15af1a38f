"""What a model's config.json says of its attention: heads, and what this formula has not."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from attention.readers.fused import ModelHeads

ROTARY = "it turns Q and K by rotary positions"
ROTARY_PAIRS = (
    f"{ROTARY}, columns 1 and 2, 3 and 4, … of a head together (Hugging Face has these in another"
    " order)"
)
RELATIVE = "it adds relative positions to the scores"
ALIBI = "it adds ALiBi, a slope by distance, to the scores"
CAUSAL = "it hides later tokens (choose the causal mask)"
UNSCALED = "it does not divide the scores by √d_k (set the scale to 1)"
NORMED = "it norms Q and K before they meet"
SINKS = "its softmax has a sink that takes a share of every row"
BY_LAYER = "it divides the scores by the layer’s place too, counted from 1 (set the scale)"
UPCAST = "it computes scores and weights in float32, whatever its weights are"
TURNS_V = "it turns V by rotary positions too"

META = "LLaMA"  # by params.json, as Meta and Mistral keep it beside names of their own


@dataclass(frozen=True)
class ModelConfig:
    """A model's kind, its heads, and how its attention differs, in words after "the model: "."""

    kind: str
    heads: ModelHeads | None
    differs: tuple[str, ...] = ()
    positions: bool = False  # whether it says how positions come in, if only that none do
    looks_ahead: bool = False  # whether it says that no later token is hidden
    # of a model of several parts, such as one that also sees: by the key of the part's own
    parts: dict[str, ModelConfig] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)  # all of it

    def of(self, name: str) -> ModelConfig:
        """What it says of the part of the model that a tensor of this name belongs to.

        The first word of the name that tells a part decides; where none does, nothing is said of
        heads where each part has its own number.

        >>> parts = {"text_config": {"n_head": 8}, "vision_config": {"n_head": 12}}
        >>> config = read_config(json.dumps({"model_type": "clip"} | parts))
        >>> config.of("vision_model.encoder.layers.0.self_attn.q_proj.weight").heads
        ModelHeads(heads=12, keys=None, size=None)
        """
        for word in name.split("."):
            for part, config in self.parts.items():
                if word.startswith(CALLED.get(part, (part,))):
                    return config
        return self


# How tensors call a part of the model, where it is not by the key in its config.json.
CALLED = {
    "vision": ("vision", "visual", "image"),
    "text": ("text", "language"),
    "audio": ("audio", "speech"),
}


def read_config(text: str) -> ModelConfig | None:
    """The configuration in a config.json of Hugging Face, or a params.json of Meta; else None.

    >>> read_config('{"model_type": "gpt2", "n_head": 12, "n_embd": 768}').heads
    ModelHeads(heads=12, keys=None, size=None)
    >>> read_config('{"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8}').heads
    ModelHeads(heads=32, keys=8, size=None)
    """
    if not text.lstrip().startswith("{") or '"model_type"' not in text and '"n_heads"' not in text:
        return None
    try:
        config = json.loads(text)
        if all(_whole(config, name) for name in ("dim", "n_layers", "n_heads")):
            config = {"model_type": META} | config
        return _read(config) if isinstance(config.get("model_type"), str) else None
    except (ValueError, RecursionError, OverflowError):
        return None


def _read(config: dict[str, Any]) -> ModelConfig:
    kind = str(config.get("model_type", ""))
    inner = _parts(config)
    if list(inner) == ["text"]:  # the one part there is
        config, inner = config | inner["text"], {}
    positions = _positions(config)
    differs = dict.fromkeys((*filter(None, [positions]), *_differs(config)))
    parts = {name: _read(part) for name, part in inner.items()}
    looks_ahead = config.get("is_causal") is False or kind == "eurobert"
    looks_ahead = looks_ahead or config.get("use_bidirectional_attention") is True
    if looks_ahead:
        differs.pop(CAUSAL, None)
    known = positions is not None
    return ModelConfig(kind, _heads(config), tuple(differs), known, looks_ahead, parts, config)


def _parts(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts that have a configuration of their own: text_config, vision_config, decoder, …"""
    found = {
        key.removesuffix("_config"): value
        for key, value in config.items()
        if isinstance(value, dict)
        and (key.endswith("_config") or key in ("encoder", "decoder"))
        and (value.get("model_type") or _heads(value) or key.removesuffix("_config") in CALLED)
    }
    for side in ("encoder", "decoder"):  # BART and ViT-MAE have one, with heads for each side
        names = (f"{side}_attention_heads", f"{side}_num_attention_heads")
        if count := _whole(config, *names, f"num_{side}_attention_heads"):
            alone = {key: value for key, value in config.items() if not isinstance(value, dict)}
            alone = {key: value for key, value in alone.items() if not key.endswith("tion_heads")}
            found[side] = alone | {"num_attention_heads": count}
    return found


def _heads(config: dict[str, Any]) -> ModelHeads | None:
    names = ("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads")
    count = _whole(config, *names)
    if count is None:
        return None
    keys = _whole(config, "num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads")
    if "multi_query" in config and not config.get("new_decoder_architecture"):
        keys = 1 if config["multi_query"] is True else count  # Falcon ignores num_kv_heads then
    return ModelHeads(count, keys, _whole(config, "head_dim", "d_kv"))


def _whole(config: dict[str, Any], *names: str) -> int | None:
    """The first of these that is a whole number from 1."""
    found = (config.get(name) for name in names)
    return next((value for value in found if type(value) is int and 0 < value < 2**20), None)


# ---- how the attention differs from softmax(Q Kᵀ / √d_k) V --------------------------------------

FALCON = ("falcon", "RefinedWeb", "RefinedWebModel")  # the older names are of the same model
# How positions come in by the model's type, where no other key says so; "" is: not into the scores.
POSITIONS = {"bloom": ALIBI, "mpt": ALIBI, META: ROTARY_PAIRS, "jamba": "", "nemotron_h": ""}
ROTATING = ("chatglm", "modernbert", "nomic_bert", "roformer", "qwen", "llama", "gpt_neox", "gptj")
POSITIONS |= dict.fromkeys((*FALCON, *ROTATING), ROTARY)
TYPES = {  # by position_embedding_type
    "relative": RELATIVE,
    "relative_key": RELATIVE,
    "relative_key_query": RELATIVE,
    "rotary": ROTARY,
    "rope": ROTARY,
    "alibi": ALIBI,
    "absolute": "",
    "learned_absolute": "",
    "sinusoidal": "",
    "nope": "",
}
NORMING = ("qwen3", "qwen3_moe", "gemma3", "gemma3_text", "olmo2", "cohere2")
UNSCALING = ("t5", "mt5", "umt5", "longt5", "gpt_neo")
HIDING = (META, "clip_text_model")


def _positions(config: dict[str, Any]) -> str | None:
    """How positions come into the scores: "" where they do not, None where nothing says so."""
    kind, attn = str(config.get("model_type")), config.get("attn_config")
    inside = attn if isinstance(attn, dict) else {}  # MPT's
    alibi = config.get("alibi", inside.get("alibi"))
    typed = config.get("position_embedding_type", config.get("position_embeddings_type"))
    buckets = "relative_attention_num_buckets" in config
    said = [
        (alibi is True, ALIBI),
        (isinstance(typed, str) and typed in TYPES, TYPES.get(str(typed))),
        (buckets or config.get("relative_attention") is True, RELATIVE),
        (kind == META, ROTARY_PAIRS),
        (kind == "mpt" and alibi is False and inside.get("rope") is not True, ""),
        (_has_rotary_key(config | inside), ROTARY),
        (kind in POSITIONS, POSITIONS.get(kind)),
    ]
    return next((sentence for holds, sentence in said if holds), None)


def _has_rotary_key(config: dict[str, Any]) -> bool:
    """Whether a setting of rotary positions is there; null, too, means that it has its default."""
    return any(
        re.search(r"(?:^|_)(?:rope|rotary)(?:_|$)", key) and value is not False and value != 0
        for key, value in config.items()
    )


def _differs(config: dict[str, Any]) -> list[str]:
    """What else is done with the scores, where that is said."""
    kind = str(config.get("model_type"))
    normed = any(config.get(key) is True for key in ("qk_layernorm", "use_qk_norm", "qk_norm"))
    said = [
        (config.get("rotary_value") is True, TURNS_V),
        (kind in NORMING or normed, NORMED),
        (kind in UNSCALING or config.get("scale_attn_weights") is False, UNSCALED),
        (config.get("scale_attn_by_inverse_layer_idx") is True, BY_LAYER),
        (config.get("reorder_and_upcast_attn") is True, UPCAST),
        (kind == "gpt_oss", SINKS),
        (kind in HIDING or _is_causal(config), CAUSAL),
    ]
    return [sentence for holds, sentence in said if holds] + _numbers(config)


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
    if config.get("relative_attention") is True and (terms := _terms(config.get("pos_att_type"))):
        said.append(f"it divides the scores by √({1 + terms} d_k) (set the scale)")
    said += filter(None, [_window(config), _local(config)])
    attn = config.get("attn_config")
    clip = config.get("clip_qkv") or (isinstance(attn, dict) and attn.get("clip_qkv"))
    if isinstance(clip, (int, float)) and clip:
        said.append(f"it keeps the numbers of Q, K and V within ±{clip:g}")
    cap = config.get("attn_logit_softcapping")
    if isinstance(cap, (int, float)) and cap:
        said.append(f"it bounds the scores by {cap:g} · tanh(score / {cap:g})")
    return said


def _terms(kinds: object) -> int:
    """How many terms DeBERTa adds to the scores: ["p2c", "c2p"], or "p2c|c2p"."""
    listed = kinds.split("|") if isinstance(kinds, str) else kinds
    return len(listed) if isinstance(listed, list) and any(listed) else 0


def _window(config: dict[str, Any]) -> str:
    """Of a causal model; GPT-Neo calls it window_size."""
    local = "local" in json.dumps([config.get("attention_types"), config.get("attention_layers")])
    window = config.get("window_size" if local else "sliding_window")
    types = config.get("layer_types")
    unused = isinstance(types, list) and types and "sliding_attention" not in types
    if type(window) is not int or config.get("use_sliding_window") is False or unused:
        return ""
    return f"queries look at the last {window:,} keys alone, in some layers or all"


def _local(config: dict[str, Any]) -> str:
    """ModernBERT's window, half of it on each side, and the layers that look at all."""
    window, every = _whole(config, "local_attention"), config.get("global_attn_every_n_layers")
    if window is None or every == 1:
        return ""
    but = "in some layers"
    if type(every) is int and every > 1:
        but = f"in all layers but 0, {every}, {2 * every}, …"
    return f"queries look at the {window // 2:,} keys on each side alone, {but}"
