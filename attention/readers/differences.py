"""What stays behind when weights of a model are taken, and so changes the numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from attention.readers.entry import shown
from attention.readers.model_config import (
    ALIBI,
    CAUSAL,
    NORMED,
    RELATIVE,
    ROTARY,
    SINKS,
    UNSCALED,
    ModelConfig,
)
from attention.readers.tensor_names import biases

# What the names of chosen tensors say of the model they are from, where no config.json does.
_OF_CHOSEN = [
    (r"^(?:gpt_neox\.)?layers\.\d+\.attention\.query_key_value", (ROTARY, CAUSAL)),
    (r"(?:^|\.)h\.\d+\.self_attention\.query_key_value", (f"{ALIBI} (BLOOM)", CAUSAL)),
    (r"^(?:model\.)?layers\.\d+\.self_attn\.(?:q|k|v|qkv)_proj\.weight", (ROTARY, CAUSAL)),
    (r"(?:^|\.)h\.\d+\.attn\.(?:q|k|v|qkv)_proj", (ROTARY, CAUSAL)),  # GPT-J, CodeGen
    (r"(?:^|\.)h\.\d+\.attn\.attention\.[qkv]_proj", (UNSCALED, CAUSAL)),  # GPT-Neo
    (r"(?:^|\.)h\.\d+\.attn\.c_attn", (CAUSAL,)),
    (r"(?:^|\.)blocks\.\d+\.attn\.Wqkv", (ALIBI, CAUSAL)),  # MPT
    (r"(?:SelfAttention|EncDecAttention)\.[qkv]\.weight", (UNSCALED,)),  # T5
    (r"(?:^|\.)decoder\..*(?:self_attn|SelfAttention)\.", (CAUSAL,)),
]
# What other tensors of the file say.
_OF_OTHERS = [
    (r"rotary_emb\.inv_freq$", ROTARY),
    (
        r"(?:relative_attention_bias|rel_embeddings|pos_(?:key|query|q)_proj|distance_embedding"
        r"|relative_k_proj)\.weight$|relative_position_bias_table$",
        RELATIVE,
    ),
    (r"(?:[qk]_norm|norm_[qk]|[qk]_layernorm|(?:query|key)_layernorm|[qk]_ln)\.weight$", NORMED),
    (r"attn\.sinks$", SINKS),
]


def stays_behind(
    names: Sequence[str], chosen: Iterable[str], config: ModelConfig | None = None
) -> str:
    """One text on what the model has and the formula here has not; "" where nothing is known.

    By the biases of the chosen weights, then by the config.json, else by what the names say.

    >>> stays_behind(["a.query.weight", "a.query.bias"], ["a.query.weight"])
    'The numbers will differ from the model’s: its bias stayed behind (a.query.bias).'
    """
    chosen = list(chosen)
    parts = [_biases(biases(names, chosen))]
    said = _by_names(names, chosen)
    if config:  # knows better where positions come in
        said = [*config.differs, *(part for part in said if part in (CAUSAL, NORMED, SINKS))]
    parts += said
    parts = list(dict.fromkeys(filter(None, parts)))
    return f"The numbers will differ from the model’s: {'; '.join(parts)}." if parts else ""


def _biases(found: list[str]) -> str:
    if not found:
        return ""
    one = len(found) == 1
    more = "" if one else f" and {len(found) - 1} more"
    verb = "its bias" if one else "its biases"
    return f"{verb} stayed behind ({shown(found[0], 50)}{more})"


def _by_names(names: Sequence[str], chosen: list[str]) -> list[str]:
    said = [
        part
        for pattern, parts in _OF_CHOSEN
        if any(re.search(pattern, name) for name in chosen)
        for part in parts
    ]
    if chosen and any("word_embeddings_layernorm" in name for name in names):
        said = [ALIBI if part.startswith(ALIBI) else part for part in said]
    elif f"{ALIBI} (BLOOM)" in said:
        said[said.index(f"{ALIBI} (BLOOM)")] = f"{ALIBI} (BLOOM), or {ROTARY[3:]} (Falcon)"
    near = _near(chosen)
    for pattern, part in _OF_OTHERS:
        if any(re.search(pattern, name) and near(name) for name in names):
            said.append(part)
    return said


def _near(chosen: list[str]) -> Callable[[str], bool]:
    """Whether a tensor stands in the same layer as a chosen one, or in none."""
    layers = {layer for name in chosen for layer in re.findall(r"\.(\d+)\.", f".{name}")[:1]}

    def near(name: str) -> bool:
        of = re.findall(r"\.(\d+)\.", f".{name}")[:1]
        return bool(layers or chosen) and (not of or not layers or of[0] in layers)

    return near
