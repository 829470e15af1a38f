"""JAX and what is built on it."""

from __future__ import annotations

import numpy as np

from attention.frameworks.libraries.convention import (
    AXES,
    Convention,
    wants_d_k,
)

JAX = {
    "jax": Convention(
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
    ),
}
