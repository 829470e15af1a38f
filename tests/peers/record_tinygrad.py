"""Ask tinygrad, on its Python device, what is kept in ``recorded/tinygrad.json``.

In an environment that has tinygrad, from the top of the repository::

    PYTHONPATH=tests DEV=PYTHON python tests/peers/record_tinygrad.py
"""

import numpy as np
from peers.questions import Way, numbers, save


def tinygrad(Q, K, V, mask, causal, groups=1, bias=None, given=None):
    from tinygrad import Tensor

    q, k, v = (Tensor(np.ascontiguousarray(M)) for M in (Q, K, V))
    made = numbers(mask, bias) if given is None else given
    output = q.scaled_dot_product_attention(
        k,
        v,
        attn_mask=None if made is None else Tensor(np.ascontiguousarray(made)),
        is_causal=causal,
        enable_gqa=groups > 1,
    )
    return output.numpy(), None


LIBRARIES = {"tinygrad": Way(tinygrad, "tinygrad", "tinygrad")}


if __name__ == "__main__":
    save("tinygrad", LIBRARIES, ("tinygrad",))
