"""Ask flex_attention, nested tensors and libraries over torch what is kept in
``recorded/torch_more.json``.

In an environment that has torch, x-transformers and curated-transformers, from the top of the
repository::

    PYTHONPATH=tests python tests/peers/record_torch_more.py
"""

from functools import partial

import numpy as np
from peers.questions import NotAsked, Way, save

# ---- Q, K, V (B, H, L, D), mask (B, H, n_q, n_k) or None, causal → output, weights or None -------


def flex_attention(
    Q, K, V, mask, causal, groups=1, softcap=None, window=None, bias=None, scale=None
):
    """Functions of the caller's: ``mask_mod`` hides, ``score_mod`` caps, then adds the bias."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask
    from torch.nn.attention.flex_attention import flex_attention as attend

    torch._dynamo.reset()  # it compiles its wrapper again for each function, up to a limit
    allowed = None if mask is None else torch.tensor(mask)
    added = None if bias is None else torch.tensor(bias)

    def may_look(item, head, query, key):
        seen = query >= 0
        seen = seen if allowed is None else seen & allowed[item, head, query, key]
        seen = seen & (key <= query) if causal or window else seen
        return seen & (query - key < window) if window else seen

    def change(score, item, head, query, key):
        score = torch.tanh(score / softcap) * softcap if softcap else score
        return score if added is None else score + added[item, head, query, key]

    options = {"score_mod": change} if softcap or bias is not None else {}
    if mask is not None or causal or window:
        sizes = (*Q.shape[:3], K.shape[2])
        options["block_mask"] = create_block_mask(may_look, *sizes, device="cpu")
    options |= {} if scale is None else {"scale": scale}
    options |= {"enable_gqa": True} if groups > 1 else {}
    return attend(*map(torch.tensor, (Q, K, V)), **options), None


def torch_nested(Q, K, V, mask, causal, groups=1, bias=None, scale=None, given=None):
    import torch

    def jagged(M):
        items = [torch.tensor(item.swapaxes(0, 1)) for item in M]  # (L, H, D)
        return torch.nested.nested_tensor(items, layout=torch.jagged).transpose(1, 2)

    masks = [array for array in (mask, bias, given) if array is not None]
    if len(masks) > 1:
        raise NotAsked("attn_mask holds one of the two")
    options = {"attn_mask": torch.tensor(masks[0])} if masks else {}
    options |= {} if scale is None else {"scale": scale}
    options |= {"enable_gqa": True} if groups > 1 else {}
    attend = torch.nn.functional.scaled_dot_product_attention
    found = attend(*map(jagged, (Q, K, V)), is_causal=causal, **options).transpose(1, 2)
    return np.stack([item.numpy() for item in found.unbind()]).swapaxes(1, 2), None


def x_transformers(
    Q,
    K,
    V,
    mask,
    causal,
    flash=False,
    groups=1,
    softcap=None,
    sinks=None,
    bias=None,
    scale=None,
    given=None,
):
    """The layer's core; with sinks the weights have a column more, which is left out.

    Weights are kept where they are those of the output: a query whose mask hides all keys has
    output 0, and the weights that its scores had.
    """
    import torch
    from x_transformers.attend import Attend

    options = {"softclamp_logits": True, "logit_softclamp_value": softcap} if softcap else {}
    options |= {"heads": Q.shape[1], "head_learned_sink": True} if sinks is not None else {}
    layer = Attend(causal=causal, flash=flash, scale=scale, **options).eval()
    if sinks is not None:
        layer.head_attn_sink.data = torch.tensor(sinks)
    mask = mask if given is None else given
    arguments = {"mask": mask, "attn_bias": bias}
    arguments = {name: torch.tensor(M) for name, M in arguments.items() if M is not None}
    with torch.no_grad():
        output, found = layer(*map(torch.tensor, (Q, K, V)), **arguments)
    weights = found.post_softmax_attn
    if weights is None or (mask is not None and not mask.any(axis=-1).all()):
        return output, None
    return output, weights if sinks is None else weights[..., 1:]


def curated_transformers(Q, K, V, mask, causal, torch_sdp=False, given=None):
    """A mask is obligatory; over keys alone, (B, n_k), where it is the same for all queries, since
    torch's way refuses any other.
    """
    import torch
    from curated_transformers.layers import (
        AttentionMask,
        ScaledDotProductAttention,
        enable_torch_sdp,
    )

    allowed = np.ones((len(Q), K.shape[2]), bool) if given is None else given
    if mask is not None:
        allowed = mask if (mask != mask[:, :1, :1]).any() else mask[:, 0, 0]
    layer = ScaledDotProductAttention(dropout_prob=0.0, linear_biases=None).eval()
    named = dict(zip(("query", "key", "value"), map(torch.tensor, (Q, K, V)), strict=True))
    with torch.no_grad(), enable_torch_sdp(torch_sdp):
        output = layer(
            **named, attention_mask=AttentionMask(torch.tensor(allowed)), use_causal_mask=causal
        )
    if output.shape[2] != Q.shape[2]:
        raise NotAsked("the output of its one query has a row for each key")
    return output, None


def _more(name: str, ask, package: str, **options) -> tuple[str, Way]:
    return name, Way(partial(ask, **options), package, name)


LIBRARIES = dict(
    [
        _more("flex_attention", flex_attention, "torch"),
        _more("torch_nested", torch_nested, "torch"),
        _more("x_transformers", x_transformers, "x-transformers"),
        _more("x_transformers_flash", x_transformers, "x-transformers", flash=True),
        _more("curated_transformers", curated_transformers, "curated-transformers"),
        _more(
            "curated_transformers_sdp",
            curated_transformers,
            "curated-transformers",
            torch_sdp=True,
        ),
    ]
)


if __name__ == "__main__":
    save("torch_more", LIBRARIES, ("torch", "x-transformers", "curated-transformers"))
