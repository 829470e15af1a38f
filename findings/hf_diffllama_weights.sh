#!/bin/sh
# transformers 5.24.0 on torch 2.13.0, the CPU, float32: DiffLlamaModel, the differential
# transformer, output_attentions=True.
#
# The output is made of one softmax minus λ times another. The weights that come back are the
# softmaxes before the subtraction, each summing to 1 and none below 0; the map that was used, which
# sums to 1 − λ and has negative places, is not returned.
#
# Guess before the run: the differences, rows summing to 1 − λ.
# Seen: all rows sum to 1, the lowest weight is 0; the context that the layer normalises next equals
# softmax 1 minus λ softmax 2 (5e-7), and not either alone.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 transformers==5.24.0
"$room/env/bin/python" - <<'PY'
import sys

import torch
from transformers import DiffLlamaConfig, DiffLlamaModel

torch.manual_seed(0)
config = DiffLlamaConfig(
    vocab_size=40, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
    num_attention_heads=2, num_key_value_heads=2,
)
model = DiffLlamaModel._from_config(config, attn_implementation="eager").eval()
for weight in (p for p in model.parameters() if p.dim() > 1):
    torch.nn.init.normal_(weight, std=0.5)
layer, seen = model.layers[0].self_attn, {}
layer.groupnorm.register_forward_hook(lambda module, given, found: seen.update(context=given[0]))
layer.v_proj.register_forward_hook(lambda module, given, found: seen.update(values=found))
with torch.no_grad():
    weights = model(torch.arange(3, 11)[None], output_attentions=True).attentions[0]
V = seen["values"].view(8, 2, 8).transpose(0, 1)  # (heads, tokens, d)
V = torch.cat(tuple(V), -1)  # both heads' values side by side, for either softmax
first, second = (weights[0, head] @ V for head in (0, 1))
one = layer.lambda_q1 @ layer.lambda_k1, layer.lambda_q2 @ layer.lambda_k2
factor = one[0].exp() - one[1].exp() + layer.lambda_init
context = seen["context"].reshape(first.shape) if seen["context"].numel() == first.numel() else None
sums, lowest = weights.sum(-1), weights.min().item()
print("sums of rows:", sums.min().item(), sums.max().item(), "lowest weight:", lowest)
print("context", tuple(seen["context"].shape), "λ", factor.item())
off = (context - (first - factor * second)).abs().max().item()
alone = (context - first).abs().max().item()
print("off softmax 1 − λ softmax 2:", off, "off softmax 1:", alone)
sys.exit(not (sums.sub(1).abs().max() < 1e-5 and lowest >= 0 and off < 1e-4 and alone > 0.01))
PY
