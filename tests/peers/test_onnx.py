"""The backend node cases of ONNX's operator Attention, through the package's public functions.

The adapter reads a node's attributes and hands each to the function that does it. It computes
nothing.
"""

import warnings
from importlib import import_module

import numpy as np
import pytest

from attention import (
    causal,
    extend,
    join_heads,
    lengthened,
    padding,
    real_tokens,
    repeat_heads,
    scaled_dot_product_attention,
    sliding_window,
    softmax_in,
    split_heads,
)

onnx = pytest.importorskip(
    "onnx", reason="the package onnx is not installed (tests/requirements.txt)"
)

INPUTS = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
STAGES = (
    "scaled",
    "capped",
    "masked",
    "weights",
)  # the operator's qk_matmul_output_mode counts them
BFLOAT16_ULPS = 2**-6  # two of them: what the suite itself allows that type


def collected() -> list:
    """The cases of the three opsets; the ``_expanded`` ones are the same in simpler operators."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        # of all operators, whose cases take seconds to make, this one's module alone
        patch.setattr(
            node, "import_recursive", lambda it: import_module(f"{it.__name__}.attention")
        )
        cases = node.collect_testcases("Attention")
    return [
        case
        for case in cases
        if case.model.graph.node[0].op_type == "Attention" and "_expanded" not in case.name
    ]


CASES = collected()


def mask_of(inputs: dict, options: dict, n_q: int, n_k: int) -> dict:
    """``allowed`` and ``bias`` of a node, each with its four axes."""
    lengths, past = inputs.get("nonpad_kv_seqlen"), 0
    if "past_key" in inputs:
        past = inputs["past_key"].shape[-2]
    elif lengths is not None:
        past = (lengths - n_q)[:, None]  # with an axis for the heads
    allowed = (
        causal(n_q, n_k, past) if options.get("is_causal") else np.ones((1, 1, n_q, n_k), bool)
    )
    before, after = (options.get(f"{side}_window_size", -1) for side in ("left", "right"))
    allowed = allowed & sliding_window(
        n_q, n_k, None if before < 0 else before, None if after < 0 else after, past
    )
    if lengths is not None:
        allowed = allowed & padding(real_tokens(lengths, n_k))[:, None]
    if "attn_mask" not in inputs:
        return {"allowed": allowed}
    mask = lengthened(inputs["attn_mask"], n_k)
    mask = mask[(None,) * (4 - mask.ndim)]
    return {"allowed": allowed & mask} if mask.dtype == bool else {"allowed": allowed, "bias": mask}


def attend(node, arrays) -> list[np.ndarray]:
    """What the node says, done by the package."""
    options = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    names = [name for name, given in zip(INPUTS, node.input, strict=False) if given]
    inputs = dict(zip(names, arrays, strict=True))
    Q, K, V = inputs["Q"], inputs["K"], inputs["V"]
    flat = Q.ndim == 3
    if flat:
        heads = options["q_num_heads"], options["kv_num_heads"], options["kv_num_heads"]
        Q, K, V = (split_heads(M, h) for M, h in zip((Q, K, V), heads, strict=True))
    if "past_key" in inputs:
        K, V = extend(inputs["past_key"], K), extend(inputs["past_value"], V)
    choices = {name: options[name] for name in ("scale", "softcap") if name in options}
    if "softmax_precision" in options:
        choices["softmax"] = softmax_in(
            onnx.helper.tensor_dtype_to_np_dtype(options["softmax_precision"])
        )
    shared = (repeat_heads(M, Q.shape[1]) for M in (K, V))
    trace = scaled_dot_product_attention(
        Q, *shared, **mask_of(inputs, options, Q.shape[2], K.shape[2]), **choices
    )
    stage = STAGES[options.get("qk_matmul_output_mode", 0)]
    found = [join_heads(trace.output) if flat else trace.output, K, V, getattr(trace, stage)]
    return [array.astype(Q.dtype) for array, name in zip(found, node.output, strict=False) if name]


def test_there_are_93_cases_of_three_opsets():
    opsets = [case.model.opset_import[0].version for case in CASES]
    assert {opset: opsets.count(opset) for opset in opsets} == {23: 69, 24: 13, 25: 11}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_onnx(case):
    (inputs, expected), *_ = case.data_sets
    with np.errstate(all="raise", under="ignore"):
        found = attend(case.model.graph.node[0], inputs)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        rtol = max(case.rtol, BFLOAT16_ULPS) if ours.dtype.name == "bfloat16" else case.rtol
        wide = [array.astype(np.float64) for array in (ours, theirs)]
        np.testing.assert_allclose(*wide, rtol=rtol, atol=case.atol)
        if ours.dtype == np.float32:
            np.testing.assert_allclose(*wide, rtol=0, atol=2.5e-7)
