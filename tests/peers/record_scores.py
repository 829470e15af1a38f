"""Record what torch and transformers make of scores: FlexAttention, sinks, ALiBi, T5's buckets.

``python tests/peers/record_scores.py``

Needs torch and transformers (2.13 and 5.23 were used), nothing else does. `scores.npz` keeps the
inputs and the answers, as float32.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
import transformers
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward
from transformers.models.t5.modeling_t5 import T5Attention

SHAPE = 2, 4, 12, 8  # items, heads, tokens, width
DOCUMENT = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
PREFIX = torch.tensor([3, 5])
SLOPES = torch.tensor([2.0**-k for k in (2, 4, 6, 8)])
MASKS = {
    "causal": lambda b, h, q, k: q >= k,
    "sliding window": lambda b, h, q, k: (q >= k) & (q - k < 4),
    "prefix-LM": lambda b, h, q, k: (q >= k) | (k < PREFIX[b]),
    "packed documents": lambda b, h, q, k: (DOCUMENT[q] == DOCUMENT[k]) & (q >= k),
    "chunked": lambda b, h, q, k: (q >= k) & (q // 4 == k // 4),
    "strided": lambda b, h, q, k: (q >= k) & ((q - k) % 3 == 0),
}
SCORES = {
    "ALiBi": lambda score, b, h, q, k: score + SLOPES[h] * (k - q),
    "soft cap": lambda score, b, h, q, k: 2 * torch.tanh(score / 2),
}


def main() -> None:
    torch.manual_seed(0)
    n = SHAPE[2]
    Q, K, V = (2 * torch.randn(SHAPE) for _ in range(3))
    found = {"Q": Q, "K": K, "V": V, "document": DOCUMENT, "prefix": PREFIX}
    masks = {
        name: create_block_mask(mask, SHAPE[0], SHAPE[1], n, n, device="cpu")
        for name, mask in MASKS.items()
    }
    for name, mask in masks.items():
        found[f"flex/{name}"] = flex_attention(Q, K, V, block_mask=mask)
    for name, mod in SCORES.items():
        found[f"flex/{name}"] = flex_attention(Q, K, V, score_mod=mod, block_mask=masks["causal"])
    sinks = torch.tensor([-1.0, 0.0, 0.5, 3.0])
    layer = SimpleNamespace(sinks=sinks, num_key_value_groups=1, training=False)
    output, weights = eager_attention_forward(layer, Q, K, V, None, SHAPE[3] ** -0.5)
    found |= {"sinks": sinks, "gpt-oss/output": output.transpose(1, 2), "gpt-oss/weights": weights}
    for heads in (1, 2, 3, 5, 8, 12, 20):
        slopes = build_alibi_tensor(torch.ones(1, 2), heads, torch.float32)
        found[f"bloom/{heads}"] = slopes.reshape(heads, 2)[:, 1]
    places = torch.arange(160)
    for both in (True, False):
        for buckets, most in ((32, 128), (8, 20), (10, 64)):
            found[f"t5/{both:d}/{buckets}/{most}"] = T5Attention._relative_position_bucket(
                places - places[:40, None] - 60 * both, both, buckets, most
            ).to(torch.int8)
    said = f"torch {torch.__version__}, transformers {transformers.__version__}"
    arrays = {name: M.detach().numpy() for name, M in found.items()} | {"versions": np.array(said)}
    np.savez_compressed(Path(__file__).with_name("scores.npz"), **arrays)


if __name__ == "__main__":
    main()
