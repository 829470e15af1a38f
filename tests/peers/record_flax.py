"""Ask Flax, Equinox and Haiku what is kept in ``recorded/flax.json``.

In an environment that has flax, equinox and dm-haiku, from the top of the repository::

    PYTHONPATH=tests python tests/peers/record_flax.py
"""

from functools import partial

import numpy as np
from peers.questions import Way, joined, looks, save, split


def flax(Q, K, V, mask, causal, groups=1, bias=None, given=None, sow=False, dropout=0.0):
    """``dropout`` at inference and ``sow``, which keeps the weights, choose its other path."""
    import jax
    from flax import nnx

    module = nnx.Module() if sow else None
    arrays = (jax.numpy.asarray(M.swapaxes(1, 2)) for M in (Q, K, V))
    made = mask if given is None else given
    output = nnx.dot_product_attention(
        *arrays,
        None if bias is None else jax.numpy.asarray(bias),
        None if made is None else jax.numpy.asarray(made),
        dropout_rate=dropout,
        deterministic=True,
        module=module,
        is_causal=causal,
    )
    weights = np.asarray(module.attention_weights[0]) if sow else None
    return np.asarray(output).swapaxes(1, 2), weights


def equinox(Q, K, V, mask, causal, given=None):
    """A layer for one item: a mask for several has an axis more, over which it is mapped."""
    import equinox as eqx
    import jax

    heads, wide, wide_v = Q.shape[1], joined(Q).shape[2], joined(V).shape[2]
    layer = eqx.nn.MultiheadAttention(
        heads,
        wide,
        value_size=wide_v,
        output_size=wide_v,
        vo_size=V.shape[3],
        dtype=jax.numpy.asarray(Q).dtype,
        key=jax.random.key(0),
    )
    projections, rest = eqx.partition(layer, eqx.is_array)
    projections = jax.tree.map(lambda M: jax.numpy.eye(len(M), dtype=M.dtype), projections)
    layer = eqx.combine(projections, rest)
    made = looks(mask, causal, Q, K) if given is None else given
    axes = (0, 0, 0, 0 if np.ndim(made) == 4 else None)
    flat = (jax.numpy.asarray(joined(M)) for M in (Q, K, V))
    made = None if made is None else jax.numpy.asarray(made)
    return split(jax.vmap(layer, axes)(*flat, made), heads), None


def haiku(Q, K, V, mask, causal, given=None):
    import haiku as hk
    import jax

    heads, d, d_v = Q.shape[1], Q.shape[3], V.shape[3]

    def attend(*inputs):
        sizes = {"value_size": d_v, "model_size": heads * d_v}
        return hk.MultiHeadAttention(heads, d, w_init=_identity, **sizes)(*inputs)

    made = looks(mask, causal, Q, K) if given is None else given
    inputs = [jax.numpy.asarray(joined(M)) for M in (Q, K, V)]
    inputs += [None if made is None else jax.numpy.asarray(made)]
    run = hk.without_apply_rng(hk.transform(attend))
    return split(run.apply(run.init(None, *inputs), *inputs), heads), None


def _identity(shape, dtype):
    import jax

    return jax.numpy.eye(*shape, dtype=dtype)


LIBRARIES = {
    "flax": Way(flax, "flax", "flax"),
    "flax_weights": Way(partial(flax, sow=True), "flax", "flax_weights"),
    "flax_weights, dropout": Way(partial(flax, dropout=0.5), "flax", "flax_weights"),
    "equinox": Way(equinox, "equinox", "equinox"),
    "haiku": Way(haiku, "dm-haiku", "haiku"),
}


if __name__ == "__main__":
    save("flax", LIBRARIES, ("flax", "equinox", "dm-haiku", "jax"))
