"""Ours, and its record of torch's conventions, against torch itself, where it can be imported."""

import warnings

import messages
import numpy as np
import pytest
from peers.record import torch_mha, torch_sdpa, torch_sdpa_lower_right

from attention import (
    multi_head_attention,
    padding,
    scaled_dot_product_attention,
    self_attention,
    split_heads,
)
from attention.frameworks.records import CONVENTIONS, answer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what torch says while it is imported
    torch = pytest.importorskip("torch", reason="the package torch is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:torch")
SEEDS = range(32)
MASK_OR_SWITCH = "attn_mask should not be set when is_causal"


def drawn(seed):
    """Q, K, V (B, H, L, D), a mask or None, and whether the causal switch is on."""
    rng = np.random.default_rng(seed)
    b, h, n_q, n_k, d = (int(n) for n in rng.integers(1, 7, 5))
    dtype, causal, masked = ("float32", "float64")[seed % 2], bool(seed // 2 % 2), seed // 4 % 2
    Q, K, V = (
        (rng.standard_normal((b, h, n, d)) * (1, 20)[seed // 8 % 2]).astype(dtype)
        for n in (n_q, n_k, n_k)
    )
    mask = rng.random((b, 1, n_q, n_k)) > 0.4 if masked else None
    return Q, K, V, None if mask is None else np.broadcast_to(mask, (b, h, n_q, n_k)).copy(), causal


def close(dtype, V) -> dict:
    return {
        "rtol": 0,
        "atol": (1e-13 if dtype == "float64" else 3e-6) * max(1.0, float(np.abs(V).max())),
    }


def loose(dtype, V) -> dict:
    """Where Q is scaled before the product: large scores round differently."""
    return {
        "rtol": 0,
        "atol": (1e-12 if dtype == "float64" else 5e-4) * max(1.0, float(np.abs(V).max())),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_ours_equals_scaled_dot_product_attention(seed):
    Q, K, V, mask, causal = drawn(seed)
    allowed = np.ones((Q.shape[2], K.shape[2]), bool) if mask is None else mask
    allowed = allowed & np.tri(*allowed.shape[-2:], dtype=bool) if causal else allowed
    theirs, _ = torch_sdpa(Q, K, V, None if mask is None else allowed, causal and mask is None)
    ours = scaled_dot_product_attention(Q, K, V, allowed=allowed)
    np.testing.assert_allclose(ours.output, theirs.numpy(), **close(Q.dtype, V))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_convention_equals_scaled_dot_product_attention(seed):
    Q, K, V, mask, causal = drawn(seed)
    if mask is not None and causal and torch.__version__ >= "2.14":
        with pytest.raises(RuntimeError, match=MASK_OR_SWITCH):
            torch_sdpa(Q, K, V, mask, causal)
        return
    theirs, _ = torch_sdpa(Q, K, V, mask, causal)
    np.testing.assert_allclose(
        answer("torch_sdpa", Q, K, V, mask=mask, causal=causal).output,
        theirs.numpy(),
        **close(Q.dtype, V),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_convention_equals_the_math_path_which_refuses_a_mask_beside_the_switch(seed):
    Q, K, V, mask, causal = drawn(seed)
    given = answer("torch_sdpa_math", Q, K, V, mask=mask, causal=causal)
    if mask is not None and causal:
        assert given.refused
        with pytest.raises(RuntimeError, match=MASK_OR_SWITCH):
            torch_sdpa(Q, K, V, mask, causal, backend="MATH")
        return
    theirs, _ = torch_sdpa(Q, K, V, mask, causal, backend="MATH")
    np.testing.assert_allclose(given.output, theirs.numpy(), **loose(Q.dtype, V))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_convention_equals_causal_lower_right(seed):
    Q, K, V, _, _ = drawn(seed)
    theirs, _ = torch_sdpa_lower_right(Q, K, V, None, True)
    given = answer("torch_sdpa_lower_right", Q, K, V, causal=True)
    np.testing.assert_allclose(given.output, theirs.numpy(), **close(Q.dtype, V))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_convention_equals_multihead_attention_nan_included(seed):
    Q, K, V, mask, causal = drawn(seed)
    output, weights = torch_mha(Q, K, V, mask, causal)
    theirs = answer("torch_mha", Q, K, V, mask=mask, causal=causal)
    np.testing.assert_allclose(theirs.output, output, **loose(Q.dtype, V))
    np.testing.assert_allclose(theirs.weights, weights.numpy(), **loose(Q.dtype, V))


@pytest.mark.parametrize("seed", SEEDS)
def test_without_weights_multihead_attention_gives_a_hidden_row_0(seed):
    Q, K, V, mask, causal = drawn(seed)
    output, _ = torch_mha(Q, K, V, mask, causal, need_weights=False)
    theirs = answer("torch_mha_no_weights", Q, K, V, mask=mask, causal=causal)
    np.testing.assert_allclose(theirs.output, output, **loose(Q.dtype, V))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize("hidden", ["attn_mask", "key_padding_mask", "both"])
def test_the_fast_path_which_the_record_says_wants_a_bias_alone_gives_nan(bias, kind, hidden):
    layer = torch.nn.MultiheadAttention(
        8, 2, bias=bias, batch_first=True, dtype=getattr(torch, kind)
    ).eval()
    tokens = torch.ones(3, 4, 8, dtype=getattr(torch, kind))
    masks = {
        "attn_mask": torch.ones(4, 4, dtype=torch.bool),
        "key_padding_mask": torch.ones(3, 4, dtype=torch.bool),
    }
    given = masks if hidden == "both" else {hidden: masks[hidden]}
    with torch.no_grad():
        output, _ = layer(tokens, tokens, tokens, need_weights=False, **given)
    assert bool(output.isnan().all() if bias else (output == 0).all())
    assert "batch_first, bias (its default)" in CONVENTIONS["torch_mha"].when
    assert "bias=False" in CONVENTIONS["torch_mha_no_weights"].when


@pytest.mark.parametrize("training", [True, False])
def test_a_transformer_layer_gives_a_padded_out_item_numbers_in_training_and_nan_in_eval(training):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    layer.train(training)
    tokens, padded_out = torch.ones(1, 3, 8), torch.ones(1, 3, dtype=torch.bool)
    with torch.no_grad():
        output = layer(tokens, src_key_padding_mask=padded_out)
    assert bool(output.isnan().all()) is not training


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_key_of_zeros_is_all_that_a_query_without_keys_sees(need_weights):
    layer = torch.nn.MultiheadAttention(4, 1, bias=False, add_zero_attn=True, batch_first=True)
    tokens, hidden = torch.rand(1, 3, 4), torch.ones(3, 3, dtype=torch.bool)
    output, weights = layer(tokens, tokens, tokens, attn_mask=hidden, need_weights=need_weights)
    assert not output.any()
    assert not need_weights or weights[0].tolist() == [[0.0, 0.0, 0.0, 1.0]] * 3


RIGHT, LEFT, HOLE = [False, True, True], [True, True, False], [False, True, False]


@pytest.mark.parametrize("padded", [RIGHT, LEFT, HOLE], ids=["right", "left", "a hole"])
@pytest.mark.parametrize("gradients", [False, True])
def test_a_transformer_encoder_packs_right_padding_alone(padded, gradients):
    """In eval without gradients padded tokens get output 0 if all items are padded on the right;
    one item that is not, and those of the whole batch are computed.
    """
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 2).eval()
    hidden = torch.tensor([[False] * 3, RIGHT, padded])
    with torch.set_grad_enabled(gradients):
        output = encoder(torch.rand(3, 3, 8), src_key_padding_mask=hidden)
    packed = padded == RIGHT and not gradients
    assert output[~hidden].any(axis=-1).all()
    assert bool((output[hidden] == 0).all()) is packed
    assert bool(output[hidden].any(axis=-1).all()) is not packed


@pytest.mark.parametrize(("other", "packed"), [(RIGHT, True), (LEFT, False)])
def test_an_item_of_padding_alone_is_0_in_a_packed_batch_and_else_nan(other, packed):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 2).eval()
    hidden = torch.tensor([other, [True] * 3])
    with torch.no_grad():
        output = encoder(torch.rand(2, 3, 8), src_key_padding_mask=hidden)
    assert bool((output[1] == 0).all() if packed else output[1].isnan().all())
    assert not output[~hidden].isnan().any()


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("need_weights", [False, True])
def test_is_causal_with_another_mask_uses_one_of_the_two(need_weights, gradients, padded):
    """Without a word: the look-ahead alone off the fast path, without weights and padding; else
    the mask alone.
    """
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    tokens, triangle = torch.rand(2, 4, 8), ~torch.ones(4, 4).tril().bool()
    mask = torch.eye(4).bool().roll(1, 1)  # hides the next token from each, the first from the last
    options = {"need_weights": need_weights}
    if padded:
        options["key_padding_mask"] = torch.tensor([[False] * 4, [False, True, False, False]])
    with torch.set_grad_enabled(gradients), warnings.catch_warnings():
        warnings.simplefilter("error")

        def answers(hidden, **more):
            return layer(tokens, tokens, tokens, attn_mask=hidden, **options, **more)[0]

        found = answers(mask, is_causal=True)
        same = [
            name
            for name, hidden in {"mask": mask, "switch": triangle, "both": mask | triangle}.items()
            if torch.allclose(found, answers(hidden), atol=1e-6)
        ]
    assert same == (["switch"] if gradients and not need_weights and not padded else ["mask"])


def test_some_of_the_drawn_rows_see_no_key():
    cases = [drawn(seed) for seed in SEEDS]
    assert any(mask is not None and not mask.any(axis=-1).all() for *_, mask, _ in cases)
    assert any(
        np.isnan(answer("torch_mha", *case[:3], mask=case[3]).output).any() for case in cases
    )


# ---- tensors as they are handed over -------------------------------------------------------------

ROWS = [[0.5, -1.25], [3.0, 0.0]]  # held exactly by every type below
TENSORS = {
    "float64": (lambda t: t.double(), "float64"),
    "float32": (lambda t: t, "float32"),
    "float16": (lambda t: t.half(), "float32"),
    "bfloat16": (lambda t: t.bfloat16(), "float32"),
    "float8": (lambda t: t.to(torch.float8_e5m2), "float32"),
    "integers": (lambda t: (4 * t).long(), "float64"),
    "with a gradient": (lambda t: t.requires_grad_(), "float32"),
    "in a graph": (lambda t: t.requires_grad_() * 1, "float32"),
    "a parameter": (lambda t: torch.nn.Parameter(t), "float32"),
    "a parameter of bfloat16": (lambda t: torch.nn.Parameter(t.bfloat16()), "float32"),
    "a view": (lambda t: t.T.contiguous().T, "float32"),
    "negated on demand": (lambda t: torch.complex(t, -t).conj().imag, "float32"),
    "a list": (lambda t: list(t.requires_grad_().bfloat16()), "float32"),
}


@pytest.mark.parametrize("kind", TENSORS)
def test_a_tensor_of_any_type_is_read_to_the_bit_and_a_later_change_of_it_changes_nothing(kind):
    make, dtype = TENSORS[kind]
    given = make(torch.tensor(ROWS))
    trace = scaled_dot_product_attention(given, given, given)
    expected = (4 if kind == "integers" else 1) * np.array(ROWS)
    with torch.no_grad():
        for tensor in given if isinstance(given, list) else [given]:
            tensor.zero_()
    for name in "QKV":
        stage = getattr(trace, name)
        assert (type(stage), stage.dtype.name) == (np.ndarray, dtype)
        assert stage.tolist() == expected.tolist()


def test_a_layer_of_torch_is_taken_as_it_is():
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
    X = torch.randn(2, 3, 8, dtype=torch.float64)
    real = torch.tensor([[True, True, False], [True, True, True]])
    W = layer.in_proj_weight.T.reshape(8, 3, 8).swapaxes(0, 1)
    seen = padding(real)[:, None]
    trace = self_attention(X, *W, heads=2, W_O=layer.out_proj.weight.T, allowed=seen)
    theirs, _ = layer(X, X, X, key_padding_mask=~real)
    np.testing.assert_allclose(trace.projected, theirs.detach().numpy(), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: torch.ones(2, 2, device="meta"), "Cannot copy out of meta tensor; no data!"),
        (
            lambda: torch.eye(2).to_sparse(),
            "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.",
        ),
    ],
)
def test_a_tensor_that_cannot_be_read_is_refused_by_name(make, said):
    with pytest.raises(TypeError) as refused:
        scaled_dot_product_attention(make(), np.eye(2), np.eye(2))
    assert str(refused.value) == messages.UNREADABLE_BY_NUMPY.format(
        name="Q", name_2="Tensor", said=said
    )


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_shared_heads_equal_torch_with_enable_gqa(kv_heads):
    rng = np.random.default_rng(0)
    widths = (3, 8), (5, 2 * kv_heads), (5, 3 * kv_heads)
    Q, K, V = (rng.standard_normal((2, *shape)) for shape in widths)
    trace = multi_head_attention(Q, K, V, heads=4, kv_heads=kv_heads)
    split = (split_heads(M, h).copy() for M, h in ((Q, 4), (K, kv_heads), (V, kv_heads)))
    attend = torch.nn.functional.scaled_dot_product_attention
    theirs = attend(*map(torch.from_numpy, split), enable_gqa=True)
    np.testing.assert_allclose(trace.output, theirs.numpy(), rtol=1e-12, atol=1e-13)


def test_a_mask_of_two_axes_means_to_torch_what_it_means_here():
    rng = np.random.default_rng(0)
    Q, K, V = rng.standard_normal((3, 4, 4, 4, 2))  # as many items as heads, queries and keys
    mask = np.tri(4, dtype=bool)
    theirs, _ = torch_sdpa(Q, K, V, mask, False)
    ours = scaled_dot_product_attention(Q, K, V, allowed=mask)
    np.testing.assert_allclose(ours.output, theirs.numpy(), atol=1e-14)
