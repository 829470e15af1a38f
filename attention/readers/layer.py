"""A layer's attention out of a checkpoint, whole: weights, biases, heads, positions, norms."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays import check_count
from attention.biases import RelativeBias
from attention.conversion import as_numbers
from attention.conversion import shown as shown_value
from attention.layer import Layer
from attention.limits import BadInput
from attention.norms import RMSNorm
from attention.readers.differences import differences
from attention.readers.entry import ArrayEntry, short, shown
from attention.readers.fused import outputs_of
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
    read_config,
)
from attention.readers.select import Selection, informed, select
from attention.readers.tensor_names import guess, layers, recognised
from attention.rotary import (
    Rotary,
    linear_frequencies,
    llama3_frequencies,
    yarn_factor,
    yarn_frequencies,
)
from attention.stages import WEIGHTS
from attention.view import whole_number

T = TypeVar("T")
HALVES = "llama mistral mixtral qwen2 qwen2_moe qwen3 qwen3_moe gemma gemma2 gemma3_text gpt_neox"
HALVES += " phi phi3 stablelm olmo olmo2 olmo3 granite starcoder2 gpt_oss falcon"
PAIRED = "gptj codegen cohere glm glm4 LLaMA"  # the last is Meta's own, by params.json
PAIRS = dict.fromkeys(HALVES.split(), "halves") | dict.fromkeys(PAIRED.split(), "interleaved")
NORMS = {  # of Q and K: over all heads at once, and what is added to the gain
    **dict.fromkeys(("qwen3", "qwen3_moe"), (False, 0)),
    **dict.fromkeys(("olmo2", "olmo3"), (True, 0)),
    "gemma3_text": (False, 1),
}


def read_layer(
    tensors: Mapping[str, ArrayLike], config: Mapping[str, Any] | str = "", layer: int | str = 0
) -> Layer:
    """A layer's attention, so that :meth:`attention.Layer.attend` does what the model's does.

    Parameters
    ----------
    tensors : the checkpoint by its names: ``model.state_dict()``, ``load_file("….safetensors")``
    config : config.json as text, or as a dict (``model.config.to_dict()``); heads, rotary
        positions, scale and windows stand there alone
    layer : which attention, counted from 0 in the order of the file, or a part of its name

    Raises
    ------
    ValueError
        One sentence, where there is no such layer or its tensors do not fit together.

    >>> names = ("q_proj", "k_proj", "v_proj")
    >>> tensors = {f"layers.0.attention.{name}.weight": np.eye(2) for name in names}
    >>> layer = read_layer(tensors, {"model_type": "vit", "num_attention_heads": 2})
    >>> layer.attend([[1.0, 0.0], [0.0, 1.0]]).weights.shape, layer.missing
    ((2, 2, 2), ())
    """
    if not isinstance(tensors, Mapping):
        raise TypeError(f"tensors is {shown_value(tensors)}; a dict of arrays by name is wanted.")
    known = _configured(config)
    entries = {
        name: ArrayEntry(name, tuple(np.shape(M)), "", partial(as_numbers, name, M))
        for name, M in tensors.items()
    }
    return layer_of(entries, _chosen(list(tensors), layer), known)


def layer_of(
    entries: Mapping[str, ArrayEntry], place: str, config: ModelConfig | None = None
) -> Layer:
    """The attention at that place of a file's tensors."""
    return _Reading(entries, place, config).layer()


def _configured(config: Mapping[str, Any] | str) -> ModelConfig | None:
    """What the configuration says; None where none is given."""
    if not isinstance(config, Mapping | str):
        raise TypeError(
            f"config is {shown_value(config)}; config.json is wanted, as its text or as a dict."
        )
    text = config if isinstance(config, str) else json.dumps(dict(config), default=str)
    known = read_config(text)
    if known is None and text.strip("{} \n"):
        raise BadInput("config says no model_type, which a config.json does.")
    return known


def _chosen(names: list[str], layer: int | str) -> str:
    """The place of the layer that is wanted."""
    there = layers(names)
    if not there:
        raise BadInput("no tensor is called as W_Q, W_K and W_V of a model's attention are.")
    if isinstance(layer, str):
        fit = [place for place in there if layer in place]
        if len(fit) != 1:
            found = f"{len(fit)} attentions have" if fit else "no attention has"
            among = short(", ".join(there), 300)
            raise BadInput(f"{found} {layer!r} in its name; there are {among}.")
        return fit[0]
    number = whole_number("layer", layer)
    if not 0 <= number < len(there):
        many = f"are {len(there)} attentions" if len(there) > 1 else "is 1 attention"
        raise BadInput(f"layer is {number}; there {many}, counted from 0.")
    return there[number]


class _Reading:
    """Reads the tensors of one place; ``left`` is what is not known to be reproduced yet."""

    def __init__(
        self, entries: Mapping[str, ArrayEntry], place: str, config: ModelConfig | None
    ) -> None:
        self.entries, self.place, self.names = entries, place, list(entries)
        self.chosen = {role: guess(self.names, role, place) for role in WEIGHTS}
        self.config = config.of(str(self.chosen["W_Q"])) if config else None
        self.settings = self.config.settings if self.config else {}
        self.kind = self.config.kind if self.config else ""
        chosen = [name for name in self.chosen.values() if name]
        self.left = dict.fromkeys(differences(self.names, chosen, self.config))
        number = re.search(r"(?:^|\.)(\d+)\.", f"{place}.")
        self.number = int(number[1]) if number else 0

    def layer(self) -> Layer:
        weights = {role: self.weight(role) for role in self.chosen if self.chosen[role]}
        biases: dict[str, Any] = {f"b_{role[2]}": self.bias(role) for role in weights}
        heads = self.heads()
        d_k = weights["W_Q"].shape[1] // heads
        kv_heads = weights["W_K"].shape[1] // d_k
        return Layer(
            self.place,
            weights["W_Q"],
            weights["W_K"],
            weights["W_V"],
            weights.get("W_O"),
            **biases,
            heads=heads,
            kv_heads=kv_heads,
            scale=self.known(self.scale),
            softcap=self.number_of("attn_logit_softcapping", "it bounds the scores"),
            causal=self.done(CAUSAL),
            window=self.known(self.window),
            rotary=self.known(partial(self.rotary, d_k)),
            norm=self.known(self.norm),
            sinks=self.tensor("sinks") if self.done(SINKS, self.has("sinks")) else None,
            relative=self.known(self.relative),
            alibi=self.done(ALIBI, self.kind == "bloom"),
            missing=tuple(self.left),
        )

    # ---- tensors ---------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        return f"{self.place}.{name}" in self.entries

    def tensor(self, name: str) -> np.ndarray:
        return self.read(f"{self.place}.{name}")

    def read(self, name: str) -> np.ndarray:
        return self.entries[name].read()

    def asked(self, role: str) -> Selection:
        """What is known of how the tensor of this weight is to be taken."""
        return informed(dict(self.entries), str(self.chosen[role]), Selection(), self.config)

    def weight(self, role: str) -> np.ndarray:
        """As (in, out); of a tensor that holds several, its part."""
        entry = self.entries[str(self.chosen[role])]
        return select(entry, role, "the checkpoint", self.asked(role)).values

    def bias(self, role: str) -> np.ndarray | None:
        """The bias of a weight; of one that several share, the same part."""
        name = str(self.chosen[role])
        part = recognised(name)[role]
        bias = re.sub(r"weight$", "bias", name)
        if bias == name:  # torch's in_proj_weight has weight inside, TransformerLens W_Q
            bias = re.sub(r"W_([QKVO])$", r"b_\1", name).replace("in_proj_weight", "in_proj_bias")
        own = f"{self.place}.{role[2].lower()}_bias"  # DeBERTa's, beside what holds all three
        if own in self.entries:
            return self.read(own).ravel()
        if bias == name or bias not in self.entries:
            return None
        values = self.read(bias)
        if part.layout == "alone":
            return values.ravel()
        asked = self.asked(role)
        layout = asked.layout or part.layout
        width = min(self.entries[name].shape)
        return values[outputs_of(layout, part.index, (len(values), width), asked.heads, bias)]

    def heads(self) -> int:
        asked, sides = self.asked("W_Q"), self.entries[str(self.chosen["W_Q"])].shape
        if asked.heads:
            return asked.heads.heads
        if len(sides) == 3:  # TransformerLens: (heads, in, out)
            return sides[0]
        raise BadInput(
            f"how many heads {shown(self.place)} has is not said by its tensors; give its"
            " config.json (num_attention_heads)."
        )

    # ---- what it does besides --------------------------------------------------------------------

    def done(self, sentence: str, holds: bool = True) -> bool:
        """Whether the model does this; if it can be reproduced, it is no longer missing."""
        if sentence not in self.left or not holds:
            return False
        del self.left[sentence]
        return True

    def known(self, read: Callable[[], T]) -> T | None:
        """A part, or None where the config.json holds something that it cannot be made of: then it
        stays missing.
        """
        left = dict(self.left)
        try:
            return read()
        except (ValueError, TypeError, KeyError, OverflowError):
            self.left = left
            return None

    def number_of(self, key: str, sentence: str) -> float | None:
        """A positive number of the config.json, whose sentence begins so."""
        value: Any = self.settings.get(key)
        said = [part for part in self.left if part.startswith(sentence)]
        if not said or type(value) not in (int, float) or not 0 < value < math.inf:
            return None
        del self.left[said[0]]
        return float(value)

    def scale(self) -> float | None:
        if self.done(UNSCALED):
            return 1.0
        scalar = self.number_of("query_pre_attn_scalar", "it divides the scores by √")
        if scalar is not None:
            return float(scalar) ** -0.5
        return self.number_of("attention_multiplier", "it multiplies the scores by")

    def layer_type(self) -> str | None:
        types = self.settings.get("layer_types")
        return types[self.number] if isinstance(types, list) and types[self.number :] else None

    def window(self) -> int | None:
        """Keys that a query sees; where layers differ, only if their types are said."""
        said = next((part for part in self.left if part.startswith("queries look at the last")), "")
        kind = self.layer_type()
        if not said or kind is None and self.kind not in ("mistral", "mixtral", "phi3"):
            return None
        del self.left[said]
        if kind == "full_attention":
            return None
        return check_count("sliding_window", self.settings["sliding_window"])

    def rotary(self, d_k: int) -> Rotary | None:
        """By its angles and how columns pair; where either is not known it stays missing."""
        sentence = next((part for part in (ROTARY, ROTARY_PAIRS) if part in self.left), "")
        said = self.settings.get("rope_parameters") or self.settings.get("rope_scaling") or {}
        said = said.get(self.layer_type(), said) if isinstance(said, dict) else {}
        settings: dict[str, Any] = {**self.settings, **said}
        if "rope_local_base_freq" in settings:  # Gemma 3's, as transformers 4 wrote it
            kind = self.layer_type()
            if kind is None:
                return None
            if kind == "sliding_attention":
                settings["rope_theta"] = settings["rope_local_base_freq"]
                settings["rope_type"] = "default"
        share = settings.get("partial_rotary_factor", settings.get("rotary_pct", 1.0))
        width = int(settings.get("rotary_dim") or d_k * share)
        if width > d_k:
            raise ValueError(f"rotary_dim is {width}; a head of Q and K has {d_k} columns")
        base = float(settings.get("rope_theta", settings.get("rotary_emb_base", 10000.0)))
        frequencies = _frequencies(settings, width, base)
        if self.kind not in PAIRS or frequencies is None or not sentence:
            return None
        del self.left[sentence]
        pairs = PAIRS[self.kind]
        if not frequencies:
            return Rotary(base=base, pairs=pairs, width=None if width == d_k else width)
        return Rotary(pairs=pairs, width=width, **frequencies)

    def norm(self) -> RMSNorm | None:
        if not self.done(NORMED, self.kind in NORMS and self.has("q_norm.weight")):
            return None
        whole, added = NORMS[self.kind]
        gain_Q, gain_K = (self.tensor(f"{letter}_norm.weight") + added for letter in "qk")
        return RMSNorm(
            gain_Q, gain_K, eps=float(self.settings.get("rms_norm_eps", 1e-6)), whole=whole
        )

    def relative(self) -> RelativeBias | None:
        """T5's, which the first block keeps for all of its side."""
        side = self.place.partition(".")[0]
        ends = "SelfAttention.relative_attention_bias.weight"
        name = next((n for n in self.names if n.startswith(f"{side}.") and n.endswith(ends)), None)
        if name is None or not self.done(RELATIVE):
            return None
        far = self.settings.get("relative_attention_max_distance", 128)
        return RelativeBias(self.read(name), not side.startswith("decoder"), int(far))


def _frequencies(settings: Mapping[str, Any], width: int, base: float) -> dict[str, Any] | None:
    """How the angles of a longer context differ; empty where they do not, None if not known."""
    kind = settings.get("rope_type", settings.get("type", "default"))
    scaling, trained = settings.get("factor"), settings.get("original_max_position_embeddings")
    if kind == "default":
        return {}
    if kind == "linear" and scaling:
        return {"frequencies": linear_frequencies(width, scaling, base)}
    if kind == "llama3" and scaling and trained:
        turns = {"fast": settings["high_freq_factor"], "slow": settings["low_freq_factor"]}
        return {"frequencies": llama3_frequencies(width, scaling, trained, base, **turns)}
    own = {"attention_factor", "mscale", "mscale_all_dim"} & settings.keys()
    if kind == "yarn" and scaling and trained and not own:
        turns = {"fast": settings.get("beta_fast", 32.0), "slow": settings.get("beta_slow", 1.0)}
        turns["whole_pairs"] = settings.get("truncate", True)
        found = yarn_frequencies(width, scaling, trained, base, **turns)
        return {"frequencies": found, "factor": yarn_factor(scaling)}
    return None
