"""Ours, and its record of JAX's convention, against JAX itself, where it can be imported."""

import re
import warnings

import messages
import numpy as np
import pytest
from peers.record import jax as jax_attention

from attention import scaled_dot_product_attention
from attention.frameworks.records import answer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what jax says while it is imported
    jax = pytest.importorskip("jax", reason="the package jax is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:jax", "ignore::DeprecationWarning:jax")
SEEDS = range(32)


def drawn(seed, blind=False):
    """Q, K, V (B, H, L, D), a mask or None, the causal switch; rows see a key unless ``blind``."""
    rng = np.random.default_rng(seed)
    b, h, n_q, n_k, d = (int(n) for n in rng.integers(1, 7, 5))
    dtype, causal, masked = ("float32", "float64")[seed % 2], bool(seed // 2 % 2), seed // 4 % 2
    Q, K, V = (rng.standard_normal((b, h, n, d)).astype(dtype) for n in (n_q, n_k, n_k))
    mask = rng.random((b, h, n_q, n_k)) > 0.4 if masked else None
    if mask is not None:
        mask[..., 0] = not blind
    return Q, K, V, mask, causal


@pytest.mark.parametrize("seed", SEEDS)
def test_ours_equals_jax_where_every_query_sees_a_key(seed):
    Q, K, V, mask, causal = drawn(seed)
    allowed = np.ones((Q.shape[2], K.shape[2]), bool) if mask is None else mask
    allowed = allowed & np.tri(*allowed.shape[-2:], dtype=bool) if causal else allowed
    theirs, _ = jax_attention(Q, K, V, mask, causal)
    ours = scaled_dot_product_attention(Q, K, V, allowed=allowed)
    np.testing.assert_allclose(ours.output, theirs, rtol=0, atol=3e-6)


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_convention_equals_jax_a_hidden_row_included(seed, blind):
    Q, K, V, mask, causal = drawn(seed, blind)
    theirs, _ = jax_attention(Q, K, V, mask, causal)
    convention = answer("jax", Q, K, V, mask=mask, causal=causal)
    assert convention.output.dtype == theirs.dtype == "float32"
    np.testing.assert_allclose(convention.output, theirs, rtol=0, atol=3e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float8_e5m2", "int32"])
def test_an_array_of_jax_is_read_to_the_bit(dtype):
    given = jax.numpy.array([[1, -2], [3, 0]], dtype)
    trace = scaled_dot_product_attention(given, given, given, allowed=jax.numpy.eye(2, dtype=bool))
    assert type(trace.Q) is np.ndarray
    assert trace.Q.dtype == ("float64" if dtype == "int32" else "float32")
    assert trace.Q.tolist() == [[1, -2], [3, 0]]
    assert trace.weights.tolist() == [[1, 0], [0, 1]]


def test_inside_a_compiled_function_of_jax_there_are_no_numbers_to_show():
    refused = messages.UNREADABLE_BY_NUMPY.partition("{said}")[0].format(name="Q", name_2="TRACER")
    refused = re.escape(refused).replace("TRACER", ".*Tracer")
    with pytest.raises(TypeError, match=f"^{refused}The numpy"):
        jax.jit(lambda Q: scaled_dot_product_attention(Q, Q, Q).output)(jax.numpy.eye(2))
