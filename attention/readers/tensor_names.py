"""Which tensor of a checkpoint is which weight, by Hugging Face's and PyTorch's names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from attention.limits import MAX_ARRAYS

ALONE, ASKED = "alone", "asked"
LONGEST = 500  # characters of a name that is looked at, however a file was made


@dataclass(frozen=True)
class Part:
    """What a tensor's name says: how it is stored, and how it holds Q, K and V, if all of them."""

    stored: str | None  # "out_in", as nn.Linear keeps it, "in_out", or None: used for both
    index: int = 0  # of Q, K and V
    layout: str = ALONE  # or one of LAYOUTS, or ASKED: the name does not say
    heads_axis: int | None = (
        None  # (heads, in, out), as TransformerLens keeps them, joined along it
    )


def _alone(names: str, stored: str | None = "out_in") -> dict[str, Part]:
    return {names: Part(stored)}


def _fused(stored: str | None, layout: str) -> dict[str, Part]:
    return {f"W_{name}": Part(stored, k, layout) for k, name in enumerate("QKV")}


def _projection(letter: str, word: str) -> str:
    """Names of an nn.Linear of its own; query or q alone where an attention holds it itself.

    A value of an mlp, or of a value_head, is none.
    """
    owned = rf"(?:{letter}_proj|{letter}_lin|{word}_proj|w{letter}|to_{letter})\.weight"
    known = rf"(?:^|\.)(?={owned}$|{letter}_proj_weight$)"
    bare = rf"(?:^|\.)(?=\w*?[aA]tt(?:n|ention))\w++\.(?:self\.)?(?=(?:{word}|{letter})\.weight$)"
    return rf"(?:{known}|{bare})(?P<says>\w+)(?:\.weight)?$"


# Whole parts between the points of a name decide, never its end: pos_query_proj is no query_proj,
# and query_key_value no value. The first row that fits counts.
NAMES: list[tuple[re.Pattern, dict[str, Part]]] = [
    (re.compile(pattern), parts)
    for pattern, parts in (
        (_projection("q", "query"), _alone("W_Q")),
        (_projection("k", "key"), _alone("W_K")),
        (_projection("v", "value"), _alone("W_V")),
        (
            r"(?:attention\.output\.dense|att(?:n|ention)(?:\.attention)?\.out_proj|out_lin"
            r"|(?:self_attn|attention)\.o_proj|self_attn\.dense"
            r"|(?:Self|EncDec)Attention\.o|attention\.wo|attn\.Wo"
            r"|(?:^|\.)(?:self_)?attention\.dense)\.weight$",
            _alone("W_O"),
        ),
        (r"attn\.c_proj\.weight$", _alone("W_O", None)),
        (r"(?:^|\.)attn\.(?P<says>W_Q)$", {"W_Q": Part("in_out", heads_axis=1)}),
        (r"(?:^|\.)attn\.(?P<says>W_K)$", {"W_K": Part("in_out", heads_axis=1)}),
        (r"(?:^|\.)attn\.(?P<says>W_V)$", {"W_V": Part("in_out", heads_axis=1)}),
        (r"(?:^|\.)attn\.W_O$", {"W_O": Part("in_out", heads_axis=0)}),
        # GPT-2 and StarCoder; nn.MultiheadAttention; ModernBERT and MPT
        (r"(?:^|\.)attn\.(?P<says>c_attn)\.weight$", _fused(None, "in turn")),
        (r"(?:^|\.)in_proj_weight$", _fused("out_in", "thirds")),
        (
            r"(?:^|\.)(?:layers|blocks)\.\d+\.attn\.(?P<says>Wqkv)\.weight$",
            _fused("out_in", "thirds"),
        ),
        # Phi-3; CodeGen; DeBERTa v1
        (
            r"(?:^|\.)layers\.\d+\.self_attn\.(?P<says>qkv_proj)\.weight$",
            _fused("out_in", "in turn"),
        ),
        (r"(?:^|\.)h\.\d+\.attn\.(?P<says>qkv_proj)\.weight$", _fused("out_in", "CodeGen")),
        (r"(?:^|\.)attention\.self\.(?P<says>in_proj)\.weight$", _fused("out_in", "by head")),
        # GPT-NeoX (Pythia); BLOOM and Falcon
        (
            r"^(?:gpt_neox\.)?layers\.\d+\.attention\.(?P<says>query_key_value)\.weight$",
            _fused("out_in", "by head"),
        ),
        (
            r"(?:^|\.)h\.\d+\.self_attention\.(?P<says>query_key_value)\.weight$",
            _fused("out_in", "by head"),
        ),
        # all three, and the name does not say how
        (
            r"(?:^|(?<!linear_attn)\.)(?:(?=\w*?qkv)\w++|query_key_value|W_pack)\.weight$",
            _fused("out_in", ASKED),
        ),
    )
]
ALIASES = {"mask": "allowed", "memory": "y"}


def recognised(name: str) -> dict[str, Part]:
    """The weights a tensor of this name holds; none where the name says nothing.

    >>> recognised("encoder.layer.0.attention.self.query.weight")
    {'W_Q': Part(stored='out_in', index=0, layout='alone', heads_axis=None)}
    >>> list(recognised("h.3.attn.c_attn.weight"))
    ['W_Q', 'W_K', 'W_V']
    >>> recognised("layers.0.attention.pos_query_proj.weight")
    {}
    """
    return _found(name)[1]


def place(name: str) -> str:
    """Where in a model a weight stands: its name up to what says which one it is.

    >>> place("encoder.layer.0.attention.self.query.weight")
    'encoder.layer.0.attention.self'
    """
    match, _ = _found(name)
    if match is None:
        return ""
    said = "says" if "says" in match.re.groupindex else 0
    return name[: match.start(said)].rstrip("._")


@lru_cache(MAX_ARRAYS)  # each name of a file is asked for many times
def _found(name: str) -> tuple[re.Match | None, dict[str, Part]]:
    if len(name) <= LONGEST:
        for pattern, parts in NAMES:
            if match := pattern.search(name):
                return match, parts
    return None, {}


def layers(names: Iterable[str]) -> list[str]:
    """A model's attentions: the places with all of W_Q, W_K and W_V, in the file's order."""
    there: dict[str, set[str]] = {}
    for name in names:
        there.setdefault(place(name), set()).update(recognised(name))
    return [where for where, roles in there.items() if {"W_Q", "W_K", "W_V"} <= roles]


def guess(names: list[str], role: str, layer: str | None = None) -> str | None:
    """The array that most likely is this input, by its own name or a checkpoint's in this layer."""
    own = {name.lower(): name for name in names}
    known = own.get(role.lower()) or own.get(ALIASES.get(role, role.lower().replace("_", "")))
    if known:
        return known
    candidates = [name for name in names if role in recognised(name)]
    if layer is not None:  # W_O stands a step higher than the others
        candidates = [
            name for name in candidates if f"{layer}.".startswith(f"{place(name)}") and place(name)
        ] or [name for name in candidates if place(name) == layer]
        candidates.sort(key=lambda name: -len(place(name)))
    return candidates[0] if candidates else None


def biases(names: Iterable[str], chosen: Iterable[str]) -> list[str]:
    """Biases that belong to the chosen weights; the formula here has none."""
    wanted: dict[str, None] = {}  # in the order of the weights
    for name in chosen:
        near = [re.sub(r"weight$", "bias", name), re.sub(r"W_([QKVO])$", r"b_\1", name)]
        if inside := place(name):
            near += [f"{inside}.{bias}" for bias in ("in_proj_bias", "q_bias", "v_bias")]
        wanted |= dict.fromkeys(bias for bias in near if bias != name)
    there = set(names)
    return [bias for bias in wanted if bias in there]
