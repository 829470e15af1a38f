#!/bin/sh
# curated-transformers 2.0.1 with torch 2.13.0 on the CPU, a layer asked for one more token with its
# cache, inside enable_torch_sdp().
# Behaviour: the one query gets as many rows of output as there are keys, all the same. Without
# enable_torch_sdp() it gets one row.
# Seen: “by default (1, 1, 8), with torch's attention (1, 4, 8), rows equal: True”.
# Guess: one row in both ways.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy curated-transformers==2.0.1
"$place/env/bin/python" -W ignore - <<'END'
import torch
from curated_transformers.layers import (
    AttentionHeads,
    AttentionMask,
    QkvMode,
    ScaledDotProductAttention,
    SelfAttention,
    enable_torch_sdp,
)
from curated_transformers.layers.attention import QkvSplitGroupedByHead

torch.manual_seed(0)
layer = SelfAttention(
    attention_heads=AttentionHeads.uniform(2, QkvSplitGroupedByHead()),
    attention_scorer=ScaledDotProductAttention(dropout_prob=0.0, linear_biases=None),
    hidden_width=8,
    qkv_mode=QkvMode.SEPARATE,
    use_bias=False,
).eval()
tokens = torch.rand(1, 4, 8)


def mask(n):
    return AttentionMask(torch.ones(1, n, dtype=torch.bool))


def step():
    """The last of four tokens, the others from the cache."""
    _, cache = layer(tokens[:, :3], mask(3), use_causal_mask=True, store_cache=True)
    output, _ = layer(tokens[:, 3:], mask(4), use_causal_mask=True, cache=cache)
    return output


with torch.no_grad():
    plain = step()
    with enable_torch_sdp():
        fast = step()
same = torch.allclose(fast, plain.expand_as(fast), atol=1e-6)
print(
    f"by default {tuple(plain.shape)}, with torch's attention {tuple(fast.shape)},"
    f" rows equal: {same}"
)
raise SystemExit(0 if (plain.shape[1], fast.shape[1], same) == (1, 4, True) else 1)
END
