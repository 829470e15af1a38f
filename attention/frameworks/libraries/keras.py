"""Keras' layers and its function."""

from __future__ import annotations

from dataclasses import replace

from attention.core.masks import TUTORIAL_FILL
from attention.frameworks.libraries.convention import (
    AXES,
    NO_ARGUMENT,
    Convention,
    Handed,
    takes_all,
)


def _wants_one_row(given: Handed) -> str:
    if given.mask is None or (given.mask == given.mask[..., :1, :]).all():
        return ""
    return "keras.layers.Attention documents only a mask over keys, the same for all queries."


def _bias_or_mask(given: Handed) -> str:
    both = given.parts.bias is not None and given.mask is not None
    return "It raises an error for a bias and a mask at once." if both else ""


_KERAS_ATTENTION = Convention(
    title="keras.layers.Attention",
    version="keras 3.15.1",
    when="scores returned or not, on the torch backend; JAX and NumPy: uniform in float16 too",
    source="keras/src/layers/attention/attention.py; run",
    layout="(B, L, D), called with [Q, V, K]",
    hidden_row="uniform; NaN in float16",
    default_scale="1",
    floats="float32",
    filler=TUTORIAL_FILL,
    refuses=_wants_one_row,
    axes="a mask over keys: (B, n_k)",
    half="NaN",
    returns="weights, by return_attention_scores=True",
)
_KERAS_MHA = Convention(
    title="keras.layers.MultiHeadAttention",
    mode="default",
    version="keras 3.15.1",
    when="neither scores nor dropout, on the torch backend; JAX and NumPy: uniform in float16 too",
    source="keras/src/layers/attention/multi_head_attention.py; run with identity projections",
    layout="(B, L, H·D), called with (Q, V, K)",
    hidden_row="uniform; as if nothing were hidden in float16",
    floats="float32",
    filler=-0.7 * 3.38953e38,
    groups="keras.layers.GroupQueryAttention",
    window="sliding_window=seen, its own counted, as many ahead: with use_causal_mask=True",
    takes=frozenset({"groups", "window"}),
    integers="may look",
    numbers="may look",
    axes="2: (n_q, n_k); 3: (B, n_q, n_k); 4: (B, H, n_q, n_k)",
    group_order="neighbours",
    half="right",
)
_KERAS_OPS = replace(
    _KERAS_MHA,
    title="keras.ops.dot_product_attention",
    mode="",
    when="the torch backend; on the JAX backend it is jax.nn.dot_product_attention",
    source="keras/src/ops/nn.py and backend/torch/nn.py; run",
    layout="(B, L, H, D)",
    groups="fewer heads in key and value",
    softcap="attn_logits_soft_cap=, for JAX on a TPU alone; not tried",
    window=NO_ARGUMENT,
    infinite_row="0",
    bias="bias=, without a mask",
    takes=frozenset({"groups", "bias", "scale"}),
    refuses=_bias_or_mask,
    axes=AXES,
    lowest_row="uniform",
    scale="scale=",
    scale_zero="0",
    returns="none",
)

KERAS = {
    "keras_attention": _KERAS_ATTENTION,
    "keras_mha": _KERAS_MHA,
    "keras_mha_scores": replace(
        _KERAS_MHA,
        mode="scores or dropout",
        when="return_attention_scores=True or dropout > 0, also at inference; on every backend run",
        hidden_row="0",
        filler=TUTORIAL_FILL,
        in_place=True,
        zeroes=True,
        half="NaN",
        returns="weights, by return_attention_scores=True",
    ),
    "keras_ops": _KERAS_OPS,
    "keras_mha_tensorflow": replace(
        _KERAS_MHA,
        mode="TensorFlow",
        when="neither scores nor dropout, on the TensorFlow backend",
        hidden_row="uniform",
        half="NaN",
        in_place=True,
    ),
    "keras_ops_tensorflow": replace(
        _KERAS_OPS,
        mode="TensorFlow",
        when="the TensorFlow backend",
        source="keras/src/backend/tensorflow/nn.py; run",
        groups="fewer heads in key and value, but more than one",
        shares_one=False,
        hidden_row="uniform",
        infinite_row="NaN",
        bias="bias=",
        refuses=takes_all,
        floats="as given",
        half="NaN",
        in_place=True,
    ),
    "tf_keras_attention": replace(
        _KERAS_ATTENTION,
        title="tf_keras.layers.Attention",
        version="tf_keras 2.21.0",
        when="scores returned or not; tf.keras of TensorFlow 2.21 is Keras 3, not this",
        source="tf_keras/src/layers/attention/base_dense_attention.py; run",
        hidden_row="uniform",
    ),
    "tf_keras_mha": replace(
        _KERAS_MHA,
        title="tf_keras.layers.MultiHeadAttention",
        mode="",
        version="tf_keras 2.21.0",
        when="scores returned or not",
        source="tf_keras/src/layers/attention/multi_head_attention.py; run with identity"
        " projections",
        hidden_row="uniform",
        groups=NO_ARGUMENT,
        group_order=NO_ARGUMENT,
        window=NO_ARGUMENT,
        takes=frozenset(),
        half="NaN",
        filler=TUTORIAL_FILL,
        returns="weights, by return_attention_scores=True",
    ),
}
