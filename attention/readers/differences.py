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
    ROTARY_PAIRS,
    SINKS,
    UNSCALED,
    ModelConfig,
)
from attention.readers.tensor_names import LONGEST, biases, place

BLOOM_OR_FALCON = f"{ALIBI} (BLOOM), or {ROTARY[3:]} (Falcon)"
# Guesses by a name, which a config.json that says how positions come in knows better.
POSITIONS = (ROTARY, ALIBI, BLOOM_OR_FALCON)
# What the names of chosen tensors say of the model they are from.
_OF_CHOSEN = [
    (r"^(?:gpt_neox\.)?layers\.\d+\.attention\.query_key_value", (ROTARY, CAUSAL)),
    (r"(?:^|\.)h\.\d+\.self_attention\.query_key_value", (BLOOM_OR_FALCON, CAUSAL)),
    (
        r"^(?:(?:\w+\.)*(?:model|language_model|text_model)\.)?layers\.\d+\.self_attn"
        r"\.(?:q|k|v|qkv)_proj\.weight",
        (ROTARY, CAUSAL),
    ),
    (r"^layers\.\d+\.attention\.w[qkv]\.weight", (ROTARY_PAIRS, CAUSAL)),  # Meta's and Mistral's
    (r"(?:^|\.)h\.\d+\.attn\.(?:q|k|v|qkv)_proj", (ROTARY, CAUSAL)),  # GPT-J, CodeGen
    (r"(?:^|\.)h\.\d+\.attn\.attention\.[qkv]_proj", (UNSCALED, CAUSAL)),  # GPT-Neo
    (r"(?:^|\.)h\.\d+\.attn\.c_attn", (CAUSAL,)),
    (r"(?:^|\.)blocks\.\d+\.attn\.Wqkv", (ALIBI, CAUSAL)),  # MPT
    (r"(?:^|\.)layers\.\d+\.attn\.Wqkv", (ROTARY,)),  # ModernBERT, Nomic
    (r"^roformer\.encoder\.layer\.\d+\.attention\.self\.", (ROTARY,)),
    (r"(?:SelfAttention|EncDecAttention)\.[qkv]\.weight", (UNSCALED,)),  # T5
    (r"^(?>(?:.*?\.)??decoder\.).*(?:self_attn|SelfAttention)\.", (CAUSAL,)),
]
# What other tensors of the file say.
_OF_OTHERS = [
    (r"(?:rotary_emb|rotary_embeddings)\.inv_freq$", ROTARY),
    (r"^rope\.freqs$", ROTARY_PAIRS),
    (
        r"(?:relative_attention_bias|rel_embeddings|pos_(?:key|query|q)_proj|distance_embedding"
        r"|relative_k_proj)\.weight$|relative_position_bias_table$",
        RELATIVE,
    ),
    (
        r"(?:[qk]_norm|norm_[qk]|(?:[qk]|query|key)_layernorm|[qk]_ln)(?:\.norms\.\d+)?\.weight$",
        NORMED,
    ),
    (r"attn\.sinks$", SINKS),
]
_CROSS = r"\.EncDecAttention\."  # T5's look at the other sequence without positions


def stays_behind(
    names: Sequence[str], chosen: Iterable[str], config: ModelConfig | None = None
) -> str:
    """One text on what the model has and the formula here has not; "" where nothing is known.

    By the biases of the chosen weights, the config.json and what the names say; where the
    config.json says how positions come in, names are not asked for that.

    >>> found = ["attention.query.weight", "attention.query.bias"]
    >>> stays_behind(found, found[:1])
    'The numbers will differ from the model’s: its bias stayed behind (attention.query.bias).'
    """
    chosen = [name for name in chosen if len(name) <= LONGEST]
    found = filter(None, [_biases(biases(names, chosen)), *differences(names, chosen, config)])
    return differing(found)


def differing(parts: Iterable[str]) -> str:
    """Such parts in a sentence; "" where there are none."""
    parts = list(dict.fromkeys(parts))
    return f"The numbers will differ from the model’s: {'; '.join(parts)}." if parts else ""


def differences(
    names: Sequence[str], chosen: Iterable[str], config: ModelConfig | None = None
) -> list[str]:
    """What the model does besides softmax(Q Kᵀ / √d_k) V, in words after "the model: ".

    >>> differences(["h.0.attn.c_attn.weight"], ["h.0.attn.c_attn.weight"])
    ['it hides later tokens (choose the causal mask)']
    """
    chosen = [name for name in chosen if len(name) <= LONGEST]
    guessed = _by_chosen(names, chosen)
    if config and config.positions:
        guessed = [part for part in guessed if part not in POSITIONS]
    if config and config.looks_ahead:
        guessed = [part for part in guessed if part != CAUSAL]
    said = [*(config.differs if config else ()), *guessed, *_by_others(names, chosen)]
    if any(re.search(_CROSS, name) for name in chosen):
        said = [part for part in said if part != RELATIVE]
    if ROTARY_PAIRS in said:
        said = [part for part in said if part != ROTARY]
    return list(dict.fromkeys(filter(None, said)))


def _biases(found: list[str]) -> str:
    if not found:
        return ""
    one = len(found) == 1
    more = "" if one else f" and {len(found) - 1} more"
    verb = "its bias" if one else "its biases"
    return f"{verb} stayed behind ({shown(found[0], 50)}{more})"


def _by_chosen(names: Sequence[str], chosen: list[str]) -> list[str]:
    """What the names of the chosen tensors let one suppose."""
    said = [
        part
        for pattern, parts in _OF_CHOSEN
        if any(re.search(pattern, name) for name in chosen)
        for part in parts
    ]
    if any("word_embeddings_layernorm" in name for name in names):
        said = [ALIBI if part == BLOOM_OR_FALCON else part for part in said]
    around = {f"{place(name)}.out_proj.weight" for name in chosen if ".self_attn." in name}
    if around & set(names):  # XGLM and BioGPT, else called as LLaMA, count positions in X
        said = [part for part in said if part != ROTARY]
    return said


def _by_others(names: Sequence[str], chosen: list[str]) -> list[str]:
    """What tensors in the layers of the chosen ones, or in none, show to be there."""
    near = _near(chosen)
    return [
        part
        for pattern, part in _OF_OTHERS
        if any(re.search(pattern, name) and near(name) for name in names)
    ]


def _near(chosen: list[str]) -> Callable[[str], bool]:
    """Whether a tensor stands in the same layer as a chosen one, or in none."""
    layers = {layer for name in chosen for layer in re.findall(r"\.(\d+)\.", f".{name}")[:1]}

    def near(name: str) -> bool:
        of = re.findall(r"\.(\d+)\.", f".{name}")[:1]
        return bool(layers or chosen) and (not of or not layers or of[0] in layers)

    return near
