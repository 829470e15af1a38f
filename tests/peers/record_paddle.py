"""Ask Paddle, on the CPU, what is kept in ``recorded/paddle.json``.

In an environment that has paddlepaddle, from the top of the repository::

    PYTHONPATH=tests python tests/peers/record_paddle.py
"""

from functools import partial

import numpy as np
from peers.questions import Way, joined, looks, numbers, save, split


def paddle(Q, K, V, mask, causal, groups=1, scale=None, bias=None, given=None):
    import paddle

    made = numbers(mask, bias) if given is None else given
    output = paddle.nn.functional.scaled_dot_product_attention(
        *(paddle.to_tensor(np.ascontiguousarray(M.swapaxes(1, 2))) for M in (Q, K, V)),
        attn_mask=None if made is None else paddle.to_tensor(made),
        is_causal=causal,
        scale=scale,
    )
    return output.numpy().swapaxes(1, 2), None


def paddle_compat(Q, K, V, mask, causal, groups=1, scale=None, bias=None, given=None):
    import paddle

    made = numbers(mask, bias) if given is None else given
    output = paddle.compat.nn.functional.scaled_dot_product_attention(
        *map(paddle.to_tensor, (Q, K, V)),
        attn_mask=None if made is None else paddle.to_tensor(made),
        is_causal=causal,
        scale=scale,
        enable_gqa=groups > 1,
    )
    return output.numpy(), None


def paddle_mha(Q, K, V, mask, causal, bias=None, given=None, need_weights=False):
    import paddle

    if V.shape[3] != Q.shape[3]:
        raise ValueError("not asked: it has one size of heads, for K and V")
    heads, width = Q.shape[1], joined(Q).shape[2]
    paddle.set_default_dtype(str(Q.dtype))
    layer = paddle.nn.MultiHeadAttention(width, heads, need_weights=need_weights)
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        getattr(layer, name).weight.set_value(np.eye(width, dtype=Q.dtype))
    made = numbers(looks(mask, causal, Q, K), bias) if given is None else given
    flat = [paddle.to_tensor(joined(M)) for M in (Q, K, V)]
    found = layer(*flat, attn_mask=None if made is None else paddle.to_tensor(made))
    output, weights = found if need_weights else (found, None)
    weights = None if weights is None else weights.numpy()
    return split(output.numpy(), heads), weights


LIBRARIES = {
    "paddle": Way(paddle, "paddlepaddle", "paddle"),
    "paddle_compat": Way(paddle_compat, "paddlepaddle", "paddle_compat"),
    "paddle_mha": Way(paddle_mha, "paddlepaddle", "paddle_mha"),
    "paddle_mha, need_weights": Way(
        partial(paddle_mha, need_weights=True), "paddlepaddle", "paddle_mha"
    ),
}


if __name__ == "__main__":
    save("paddle", LIBRARIES, ("paddlepaddle",))
