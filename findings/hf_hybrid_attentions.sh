#!/bin/sh
# transformers 5.24.0 on torch 2.13.0, the CPU, float32: output_attentions=True in models whose
# layers are not all attention, here Qwen3-Next and MiniMax, layer 0 linear and layer 1 attention.
#
# Qwen3-Next returns one array for its two layers: attentions[0] is that of layer 1, and no place
# is left for the other. MiniMax returns two, but the one of its linear layer is no map of tokens:
# it is the state of keys and values, (heads, d, d) whatever the length, with numbers of any sign.
#
# Guess before the run: an entry for each layer, None where it has no weights.
# Seen, 5 tokens, d = 8: Qwen3-Next (1, 2, 5, 5) alone; MiniMax (1, 2, 8, 8) and (1, 2, 5, 5), the
# first with numbers below 0.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 transformers==5.24.0
"$room/env/bin/python" - <<'PY'
import sys

import torch
from transformers import MiniMaxConfig, MiniMaxModel, Qwen3NextConfig, Qwen3NextModel

sizes = dict(
    vocab_size=40, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
    num_attention_heads=2, num_key_value_heads=2, head_dim=8, num_experts_per_tok=1,
    layer_types=["linear_attention", "full_attention"],
)
linear = dict(
    num_experts=2, linear_num_value_heads=2, linear_num_key_heads=2, linear_key_head_dim=8,
    linear_value_head_dim=8, moe_intermediate_size=16, shared_expert_intermediate_size=16,
)
kinds = {
    "Qwen3-Next": (Qwen3NextModel, Qwen3NextConfig(**sizes, **linear)),
    "MiniMax": (MiniMaxModel, MiniMaxConfig(**sizes, num_local_experts=2)),
}
seen = {}
for name, (kind, config) in kinds.items():
    torch.manual_seed(0)
    model = kind._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        arrays = model(torch.arange(3, 8)[None], output_attentions=True).attentions
    seen[name] = [None if array is None else tuple(array.shape) for array in arrays]
    print(name, seen[name], "lowest numbers:", [array.min().item() for array in arrays])
below = arrays[0].min().item() < 0
expected = {"Qwen3-Next": [(1, 2, 5, 5)], "MiniMax": [(1, 2, 8, 8), (1, 2, 5, 5)]}
sys.exit(not (seen == expected and below))
PY
