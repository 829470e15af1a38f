"""Ask MLX, on the CPU, what is kept in ``recorded/mlx.json``.

In an environment that has mlx[cpu], from the top of the repository::

    PYTHONPATH=tests python tests/peers/record_mlx.py

MLX makes float32 of a NumPy array of float64.
"""

import numpy as np
from peers.questions import Way, joined, looks, numbers, save, split


def mlx(Q, K, V, mask, causal, groups=1, scale=None, sinks=None, bias=None, given=None):
    import mlx.core as mx

    made = numbers(mask, bias) if given is None else given
    if causal and made is not None:
        raise ValueError("not asked: mask holds an array or the word causal")
    output = mx.fast.scaled_dot_product_attention(
        *map(mx.array, (Q, K, V)),
        scale=Q.shape[3] ** -0.5 if scale is None else scale,  # which has no default
        mask="causal" if causal else None if made is None else mx.array(made),
        sinks=None if sinks is None else mx.array(sinks),
    )
    return np.array(output), None


def mlx_mha(Q, K, V, mask, causal, bias=None, given=None):
    import mlx.core as mx
    from mlx.nn import MultiHeadAttention

    heads, kind = Q.shape[1], mx.array(Q).dtype
    wide, wide_v = heads * Q.shape[3], heads * V.shape[3]
    layer = MultiHeadAttention(
        wide, heads, value_input_dims=wide_v, value_dims=wide_v, value_output_dims=wide_v
    )
    for name, width in (("query", wide), ("key", wide), ("value", wide_v), ("out", wide_v)):
        layer[f"{name}_proj"].weight = mx.eye(width, dtype=kind)
    made = numbers(looks(mask, causal, Q, K), bias) if given is None else given
    flat = [mx.array(joined(M)) for M in (Q, K, V)]
    output = layer(*flat, mask=None if made is None else mx.array(made))
    return split(np.array(output), heads), None


LIBRARIES = {"mlx": Way(mlx, "mlx", "mlx"), "mlx_mha": Way(mlx_mha, "mlx", "mlx_mha")}


if __name__ == "__main__":
    save("mlx", LIBRARIES, ("mlx",))
