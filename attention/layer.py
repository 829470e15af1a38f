"""One attention of a model as its checkpoint holds it, with all that it does to Q, K and scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from attention.arrays import as_floats
from attention.biases import RelativeBias, alibi
from attention.heads import self_attention
from attention.norms import RMSNorm
from attention.rotary import Rotary
from attention.stages import BIASES, WEIGHTS
from attention.trace import AttentionTrace

OTHERS = ("rotary", "norm", "softcap", "window", "sinks", "relative")


@dataclass(frozen=True, eq=False, repr=False)
class Layer:
    """The weights of a layer's attention and its parts; :func:`attention.read_layer` reads it.

    ``missing`` says what the model does besides: a layer with such a sentence is not reproduced.
    """

    name: str  # where it stands in the checkpoint
    W_Q: np.ndarray  # (d_model, h · d_k)
    W_K: np.ndarray  # (d_model, g · d_k)
    W_V: np.ndarray  # (d_model, g · d_v)
    W_O: np.ndarray | None = None  # (h · d_v, d_out)
    b_Q: np.ndarray | None = None
    b_K: np.ndarray | None = None
    b_V: np.ndarray | None = None
    b_O: np.ndarray | None = None
    heads: int = 1
    kv_heads: int = 1
    scale: float | None = None  # None is 1/√d_k
    softcap: float | None = None
    causal: bool = False
    window: int | None = None  # keys that a query sees, itself among them
    rotary: Rotary | None = None
    norm: RMSNorm | None = None
    sinks: np.ndarray | None = None  # (h,)
    relative: RelativeBias | None = None
    alibi: bool = False
    missing: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Its place, sizes and parts in a few lines, however large it is."""
        weights = {name: getattr(self, name) for name in WEIGHTS}
        sizes = {name: M.shape for name, M in weights.items() if M is not None}
        shapes = [f"{name} {rows} × {columns}" for name, (rows, columns) in sizes.items()]
        shared = f", {self.kv_heads} of keys and values" if self.kv_heads != self.heads else ""
        has = [name for name in OTHERS if getattr(self, name) is not None]
        has += [name for name in ("alibi", "causal") if getattr(self, name)]
        if any(getattr(self, name) is not None for name in BIASES):
            has.insert(0, "biases")
        lines = [f"Layer {self.name}: {self.heads} heads{shared}", f"  {', '.join(shapes)}"]
        lines += [f"  with {', '.join(has)}"] if has else []
        lines += [f"  missing: {'; '.join(self.missing)}"] if self.missing else []
        return "\n".join(lines)

    def attend(
        self, X: ArrayLike, *, memory: ArrayLike | None = None, allowed: ArrayLike | None = None
    ) -> AttentionTrace:
        """Every stage for these hidden states, as the layer's attention receives them.

        Parameters
        ----------
        X : array_like, (…, n, d_model)
            What comes out of the norm before the attention, where there is one.
        memory : array_like, (…, n_k, d_memory)
            What a layer that looks at another sequence takes its keys and values from.
        allowed : array_like of bool, as in :func:`attention.multi_head_attention`
            Where padding hides keys, such as ``padding(real)[:, None]`` of a batch; the layer's own
            mask and window are joined to it.
        """
        (X,) = as_floats(X=X)
        (source,) = (X,) if memory is None else as_floats(memory=memory)
        n_q, n_k = X.shape[-2], source.shape[-2]
        looks_back = self.causal and memory is None  # and never ahead
        reach = n_q if self.window is None else self.window
        bias = None
        if self.alibi:  # the same for every item, with as many axes as the scores
            bias = alibi(n_q, n_k, self.heads)[(None,) * (X.ndim - 2)]
        return self_attention(
            X,
            self.W_Q,
            self.W_K,
            self.W_V,
            memory=memory,
            W_O=self.W_O,
            b_Q=self.b_Q,
            b_K=self.b_K,
            b_V=self.b_V,
            b_O=self.b_O,
            heads=self.heads,
            kv_heads=self.kv_heads,
            norm=self.norm,
            rotary=self.rotary,
            relative=self.relative,
            scale=self.scale,
            softcap=self.softcap,
            sinks=self.sinks,
            bias=bias,
            allowed=allowed,
            mask_mod=lambda b, h, q, k: ((q >= k) | (not looks_back)) & (q - k < reach),
        )
