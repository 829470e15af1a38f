"""Ask Keras on TensorFlow, and Keras 2, what is kept in ``recorded/tensorflow.json``.

In an environment that has tensorflow, keras and tf_keras, from the top of the repository::

    PYTHONPATH=tests KERAS_BACKEND=tensorflow python tests/peers/record_tensorflow.py

tf.keras is Keras 3 there; Keras 2 has become the package tf_keras.
"""

from functools import partial

import numpy as np
from peers.questions import Way, joined, save, split
from peers.record import keras_attention, keras_mha, keras_ops


def tf_keras_attention(Q, K, V, mask, causal):
    import tf_keras

    q, k, v = (M.reshape(-1, *M.shape[2:]) for M in (Q, K, V))
    options = {"use_causal_mask": causal, "return_attention_scores": True}
    if mask is not None:
        if (mask != mask[:, :, :1]).any():
            raise ValueError("not asked: its documented mask is over keys, (B, Tv)")
        options["mask"] = [None, np.ascontiguousarray(mask[:, :, 0].reshape(-1, mask.shape[3]))]
    layer = tf_keras.layers.Attention(dtype="float16" if Q.dtype == np.float16 else None)
    found = layer([q, v, k], **options)
    return tuple(M.numpy().reshape(*Q.shape[:3], -1) for M in found)


def tf_keras_mha(Q, K, V, mask, causal, given=None):
    import tf_keras

    heads, d, d_v = Q.shape[1], Q.shape[3], V.shape[3]
    layer = tf_keras.layers.MultiHeadAttention(
        heads,
        d,
        d_v,
        use_bias=False,
        output_shape=heads * d_v,
        dtype="float16" if Q.dtype == np.float16 else None,
    )
    flat = [joined(M) for M in (Q, V, K)]
    layer(*flat)  # which makes the weights
    for weight in layer.trainable_weights:  # Q, K, V and output as they are
        weight.assign(np.eye(max(weight.shape)).reshape(weight.shape))
    output, weights = layer(
        *flat,
        attention_mask=mask if given is None else given,
        use_causal_mask=causal,
        return_attention_scores=True,
    )
    return split(output, heads), weights.numpy()


LIBRARIES = {
    "keras_attention, TensorFlow": Way(keras_attention, "keras", "keras_attention", "tensorflow"),
    "keras_mha_tensorflow": Way(keras_mha, "keras", "keras_mha_tensorflow", "tensorflow"),
    "keras_mha_scores, TensorFlow": Way(
        partial(keras_mha, scores=True), "keras", "keras_mha_scores", "tensorflow"
    ),
    "keras_ops_tensorflow": Way(keras_ops, "keras", "keras_ops_tensorflow", "tensorflow"),
    "tf_keras_attention": Way(tf_keras_attention, "tf_keras", "tf_keras_attention", "tensorflow"),
    "tf_keras_mha": Way(tf_keras_mha, "tf_keras", "tf_keras_mha", "tensorflow"),
}


if __name__ == "__main__":
    save("tensorflow", LIBRARIES, ("tensorflow", "keras", "tf_keras"))
