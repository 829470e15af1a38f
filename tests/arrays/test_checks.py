"""One rule for ``allowed`` and ``bias`` in every function: they broadcast as in NumPy.

Three axes with several heads are the case in which a mask could be misread: its first axis may
have been meant for the items of the batch or for the heads.
"""

import math
from itertools import product

import messages
import numpy as np
import pytest
from oracle import attend

from attention import (
    View,
    alibi,
    causal,
    diagnose,
    long_attention,
    multi_head_attention,
    padding,
    self_attention,
    split_heads,
)
from attention import scaled_dot_product_attention as attend_qkv
from attention.frameworks.records import answer

N_Q, N_K, D = 3, 4, 2
BATCHES = {  # items, heads
    "as many items as heads": (2, 2),
    "one item": (1, 2),
    "more items than heads": (3, 2),
    "more heads than items": (2, 4),
    "no batch": (None, 2),
}


def draw(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def inputs(batch, heads):
    lead = () if batch is None else (batch,)
    columns = heads * D
    return (draw((*lead, n, columns), seed) for seed, n in enumerate((N_Q, N_K, N_K)))


def shapes(batch, heads):
    """Masks of one to four axes, also of 1 and of sizes that fit nothing."""
    firsts = sorted({1, heads, batch or 1, 5})
    found = [(N_K,), (N_Q, N_K), (1, N_K), (N_Q, 1)]
    found += [(first, n_q, N_K) for first in firsts for n_q in (1, N_Q)]
    if batch is not None:
        found += [(b, h, N_Q, N_K) for b, h in product({1, batch}, {1, heads})]
        found += [(batch, 1, 1, N_K)]
    return found


def refused(shape, batch, heads):
    """The way in which a mask of this shape is refused, by the words of the rule; None: taken."""
    if len(shape) != 3 or shape[0] == 1:
        return None
    if shape[0] == batch:
        return "doubt"
    return None if shape[0] == heads else "misfit"


def cell(mask, item, head, i, j):
    """The number of a mask that belongs to one score, counted through by hand."""
    first = {3: (head,), 4: (item, head)}.get(mask.ndim, ())
    place = (*first, i, j)[-mask.ndim :]
    return mask[tuple(p if size > 1 else 0 for p, size in zip(place, mask.shape, strict=True))]


def expected(matrices, mask, name, batch, heads):
    """(items, heads, n_q, n_k), the weights by loops."""
    Q, K, V = (M if M.ndim == 3 else M[None] for M in matrices)
    found = np.empty((batch or 1, heads, N_Q, N_K))
    for item, head in np.ndindex(found.shape[:2]):
        own = [M[item, :, head * D : (head + 1) * D].tolist() for M in (Q, K, V)]
        rows = [[cell(mask, item, head, i, j) for j in range(N_K)] for i in range(N_Q)]
        found[item, head] = attend(*own, **{name: rows})["weights"]
    return found


# ---- each public function, from Q, K and V of all heads side by side to the weights of each ------


def of_self(Q, K, V, heads, **mask):
    """W_Q takes the first columns of X, W_K and W_V those of a second sequence."""
    eye = np.eye(heads * D)
    memory = np.concatenate([K, V], axis=-1)
    W_K, W_V = np.vstack([eye, 0 * eye]), np.vstack([0 * eye, eye])
    return self_attention(Q, eye, W_K, W_V, memory=memory, heads=heads, **mask).weights


def of_multi_head(Q, K, V, heads, **mask):
    return multi_head_attention(Q, K, V, heads=heads, **mask).weights


def of_split(Q, K, V, heads, **mask):
    return attend_qkv(*(split_heads(M, heads) for M in (Q, K, V)), **mask).weights


def of_view(Q, K, V, heads, **mask):
    trace = multi_head_attention(Q, K, V, heads=heads, **mask)
    items = math.prod(Q.shape[:-2])
    views = [[View.of(trace, item=b, head=h) for h in range(heads)] for b in range(items)]
    for view in np.ravel(views):  # M as the figures, tables and reports show it
        added = np.zeros((N_Q, N_K)) if view.bias is None else view.bias
        added = np.where(view.allowed, added, -np.inf)
        np.testing.assert_array_equal(view.stages.get("mask", added), added)
    return np.array([[view.stages["weights"] for view in row] for row in views])


def of_long(Q, K, V, heads, **mask):
    record = long_attention(*(split_heads(M, heads) for M in (Q, K, V)), **mask)
    every, items = np.arange(N_Q), math.prod(Q.shape[:-2])
    return np.array(
        [[record.rows(every, item=b, head=h) for h in range(heads)] for b in range(items)]
    )


def of_diagnose(Q, K, V, heads, **mask):
    wanted = np.ones((*Q.shape[:-2], heads, N_Q, N_K))
    return diagnose(Q, K, V, heads=heads, weights=wanted, **mask).answers["weights"][1]


def of_diagnose_split(Q, K, V, heads, **mask):
    matrices = [split_heads(M, heads) for M in (Q, K, V)]
    wanted = np.ones((*Q.shape[:-2], heads, N_Q, N_K))
    return diagnose(*matrices, weights=wanted, **mask).answers["weights"][1]


def of_framework(Q, K, V, heads, **mask):
    named = {"allowed": "mask", "bias": "bias"}
    mask = {named[name]: M for name, M in mask.items()}
    return answer("torch_sdpa_math", *(split_heads(M, heads) for M in (Q, K, V)), **mask).weights


CALLS = {
    "self_attention": of_self,
    "multi_head_attention": of_multi_head,
    "scaled_dot_product_attention": of_split,
    "View.of": of_view,
    "long_attention": of_long,
    "diagnose": of_diagnose,
    "diagnose, heads split": of_diagnose_split,
    "frameworks.answer": of_framework,
}


@pytest.mark.parametrize("case", BATCHES)
@pytest.mark.parametrize(("called", "name"), list(product(CALLS, ["allowed", "bias"])))
def test_a_mask_of_any_axes_means_the_same_everywhere(called, name, case):
    batch, heads = BATCHES[case]
    for shape in shapes(batch, heads):
        mask = draw(shape, 7)
        mask = mask > -0.3 if name == "allowed" else mask
        matrices = list(inputs(batch, heads))
        given = {name: mask}
        if way := refused(shape, batch, heads):
            with pytest.raises(ValueError) as problem:
                CALLS[called](*matrices, heads, **given)
            word = "mask" if (called, name) == ("frameworks.answer", "allowed") else name
            wanted = messages.ITEM_OR_HEAD if way == "doubt" else messages.SHAPE_DOES_NOT_FIT
            scores = (*([] if batch is None else [batch]), heads, N_Q, N_K)
            assert str(problem.value) == wanted.format(
                name=word, shape=shape, scores=scores, item=f"{word}[:, None]", head=f"{word}[None]"
            )
        else:
            found = CALLS[called](*matrices, heads, **given)
            right = expected(matrices, mask, name, batch, heads)
            np.testing.assert_allclose(
                np.reshape(found, right.shape), right, atol=1e-12, err_msg=str(shape)
            )


@pytest.mark.parametrize("batch", [1, 2, 3])
@pytest.mark.parametrize("called", CALLS)
def test_both_spellings_of_the_refusal_run_and_mean_what_they_say(called, batch):
    heads, mask = 3, draw((3, N_Q, N_K), 7) > -0.3
    matrices = list(inputs(batch, heads))
    found = CALLS[called](*matrices, heads, allowed=mask[None])
    right = expected(matrices, mask[None], "allowed", batch, heads)
    np.testing.assert_allclose(np.reshape(found, right.shape), right, atol=1e-12)
    own = mask[:batch]
    found = CALLS[called](*matrices, heads, allowed=own[:, None])
    right = expected(matrices, own[:, None], "allowed", batch, heads)
    np.testing.assert_allclose(np.reshape(found, right.shape), right, atol=1e-12)


def test_alibi_meets_heads_in_a_batch_of_any_size():
    X, W = draw((4, 3, 6)), draw((3, 6, 6), 1)
    bias = alibi(3, 3, 3)
    for batch in (1, 2, 4):
        trace = self_attention(X[:batch], *W, heads=3, bias=bias)
        for item in range(batch):
            np.testing.assert_allclose(trace.masked[item] - trace.scaled[item], bias, atol=1e-14)
    with pytest.raises(ValueError) as problem:
        self_attention(X[:3], *W, heads=3, bias=bias)
    assert str(problem.value) == messages.ITEM_OR_HEAD.format(
        name="bias",
        shape=(3, 3, 3),
        scores=(3, 3, 3, 3),
        item="bias[:, None]",
        head="bias[None]",
    )


TWO_LEADING = [  # of the mask; how each is read for scores of 2 items of 3 and of 3 or 4 heads
    ((3, N_Q, N_K), 3, "[None, :, None]; [None, None]"),
    ((4, N_Q, N_K), 4, (0, 0, 1)),
    ((2, N_Q, N_K), 4, "[:, None, None]; [None, None]"),
    ((1, 4, N_Q, N_K), 4, (0, 0, 1)),
    ((3, 4, N_Q, N_K), 4, (0, 1, 1)),
    ((3, 1, N_Q, N_K), 4, (0, 1, 0)),
    ((1, 3, N_Q, N_K), 3, "[:, :, None]; [None]"),
    ((2, 3, N_Q, N_K), 4, "[:, :, None]; [None]"),
    ((1, 1, N_Q, N_K), 3, (0, 0, 0)),
    ((2, 3, 1, N_Q, N_K), 3, (1, 1, 0)),
]


@pytest.mark.parametrize(("shape", "heads", "read"), TWO_LEADING)
def test_several_axes_of_the_batch_follow_the_same_rule(shape, heads, read):
    mask = draw(shape, 7) > -0.3
    Q, K, V = (draw((2, 3, n, heads * D), n) for n in (N_Q, N_K, N_K))
    calls = (
        lambda: multi_head_attention(Q, K, V, heads=heads, allowed=mask),
        lambda: attend_qkv(*(split_heads(M, heads) for M in (Q, K, V)), allowed=mask),
    )
    for call in calls:
        if isinstance(read, str):
            item, head = read.split("; ")
            with pytest.raises(ValueError) as problem:
                call()
            assert str(problem.value) == messages.ITEM_OR_HEAD.format(
                name="allowed",
                shape=shape,
                scores=(2, 3, heads, N_Q, N_K),
                item=f"allowed{item}",
                head=f"allowed{head}",
            )
            continue
        allowed = call().allowed
        for at in np.ndindex(2, 3, heads):
            own = tuple(place * axis for place, axis in zip(at, read, strict=True))
            lead = (2, 3, heads)[-(mask.ndim - 2) :]
            picked = own[-len(lead) :]
            picked = tuple(p if size > 1 else 0 for p, size in zip(picked, shape, strict=False))
            assert (allowed[at] == mask[picked]).all()


@pytest.mark.parametrize("call", [attend_qkv, multi_head_attention, long_attention])
def test_heads_that_were_split_before_meet_a_bias_of_three_axes(call):
    Q, K, V = (draw((3, 2, n, D), n) for n in (N_Q, N_K, N_K))
    bias = draw((2, N_Q, N_K), 7)
    each = call(Q, K, V, bias=bias[None]).output
    for at in np.ndindex(3, 2):
        own = [M[at].tolist() for M in (Q, K, V)]
        alone = attend(*own, bias=bias[at[1]].tolist())["output"]
        np.testing.assert_allclose(each[at], alone, atol=1e-12)
    np.testing.assert_array_equal(call(Q, K, V, bias=bias).output, each)


@pytest.mark.parametrize(
    ("lead", "shape"), [((), (1,)), ((2,), (2, 1)), ((2,), (1, 1)), ((2,), (2,)), ((2,), (1,))]
)
def test_one_head_takes_a_mask_with_or_without_an_axis_for_it(lead, shape):
    mask = draw((*shape, N_Q, N_K), 7) > -0.3
    Q, K, V = (draw((*lead, n, D), n) for n in (N_Q, N_K, N_K))
    items = np.broadcast_to(mask.reshape(-1, N_Q, N_K), (*(lead or (1,)), N_Q, N_K))
    trace = multi_head_attention(Q, K, V, allowed=mask)
    assert (trace.allowed == items.reshape(trace.scores.shape)).all()
    assert diagnose(Q, K, V, allowed=mask, weights=trace.weights).correct


# ---- what the package calls itself ---------------------------------------------------------------


def test_padding_and_a_past_of_each_item_get_an_axis_for_the_heads():
    Q, K, V = (draw((2, n, 2 * D), n) for n in (N_Q, N_K, N_K))
    real = np.array([[True, True, True, False], [True, True, False, False]])
    past = [1, 0]
    mask = (causal(N_Q, N_K, past) & padding(real))[:, None]
    allowed = multi_head_attention(Q, K, V, heads=2, allowed=mask).allowed
    for b, h, i, j in np.ndindex(allowed.shape):
        assert allowed[b, h, i, j] == (j <= i + past[b] and real[b, j])
