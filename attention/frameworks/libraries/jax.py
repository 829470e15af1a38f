"""JAX and what is built on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.frameworks.libraries.convention import (
    AXES,
    NO_ARGUMENT,
    Convention,
    takes_all,
    wants_d_k,
)

_JAX = Convention(
    title="jax.nn.dot_product_attention",
    version="jax 0.10.2",
    when='implementation None and "xla", x64 off; with jax_enable_x64 float64 stays, but not in'
    " the softmax. Queries past query_seq_lengths get output 0",
    source="jax/_src/nn/functions.py; run on the CPU",
    layout="(B, L, H, D)",
    hidden_row="uniform",
    floats="float32",
    filler=-0.7 * float(np.finfo(np.float32).max),
    in_place=True,
    groups="fewer heads in key and value",
    window="local_window_size=(seen − 1, 0): keys before its own",
    bias="bias=",
    takes=frozenset({"groups", "window", "bias", "scale"}),
    refuses=wants_d_k,
    integers="refused",
    numbers="refused",
    axes=AXES,
    infinite_row="NaN",
    lowest_row="uniform",
    scale="scale=",
    scale_zero="0",
    group_order="neighbours",
    half="right",
)
_FLAX = replace(
    _JAX,
    title="flax.nnx.dot_product_attention",
    version="flax 0.12.8",
    when="no dropout rate, no weights kept: it calls jax.nn.dot_product_attention, and so does"
    " nnx.MultiHeadAttention",
    source="flax/nnx/nn/attention.py; run on the CPU with jax 0.10.2",
    integers="may look",
    numbers="may look",
    window=NO_ARGUMENT,
    scale=NO_ARGUMENT,
    scale_zero=NO_ARGUMENT,
    takes=frozenset({"groups", "bias"}),
)
_HAIKU = Convention(
    title="haiku.MultiHeadAttention",
    version="dm-haiku 0.0.17",
    when="its default, x64 off",
    source="haiku/_src/attention.py; run on the CPU with jax 0.10.2 and identity projections",
    layout="(…, L, H·D)",
    integers="may look",
    numbers="may look",
    axes="2: refused; 3: refused; 4: (B, H, n_q, n_k)",
    hidden_row="uniform; NaN in float16",
    beside="no switch",
    causal="the caller's mask",
    floats="float32",
    half="NaN",
    filler=-1e30,
    in_place=True,
)

JAX = {
    "jax": _JAX,
    "flax": _FLAX,
    "flax_weights": replace(
        _FLAX,
        mode="weights or dropout",
        when="module= to keep the weights (sow_weights=True of nnx.MultiHeadAttention), or"
        " dropout_rate > 0, even with deterministic=True",
        returns="weights, kept in the module",
        refuses=takes_all,
        half="NaN",
        filler=None,
    ),
    "equinox": replace(
        _HAIKU,
        title="equinox.nn.MultiheadAttention",
        version="equinox 0.13.8",
        source="equinox/nn/_attention.py; run on the CPU with jax 0.10.2 and identity projections",
        layout="(L, H·D), one item: jax.vmap for more",
        axes="2: (n_q, n_k); 3: (H, n_q, n_k); 4: refused",
        hidden_row="uniform",
        filler=None,
    ),
    "haiku": _HAIKU,
}
