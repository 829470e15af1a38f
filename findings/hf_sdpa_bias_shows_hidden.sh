#!/bin/sh
# transformers 5.24.0 on torch 2.13.0, the CPU, float32: sdpa_attention_forward, the sdpa attention
# that models call, with a boolean attention_mask and a position_bias.
#
# Where the mask hides, the bias is replaced by float32's lowest number, not by −∞. A query whose
# bias is −∞ at every key that the mask lets it see then looks at the hidden keys alone, with all of
# its weight.
#
# Guess before the run: what the mask hides stays hidden; the row is 0 or NaN.
# Seen: keys 2 and 3 are hidden and the bias is −∞ at keys 0 and 1: weights 0, 0, 0.5, 0.5.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 transformers==5.24.0
"$room/env/bin/python" - <<'PY'
import sys

import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward

module = torch.nn.Module().eval()
module.num_key_value_groups = 1
torch.manual_seed(0)
Q, K, V = torch.randn(1, 1, 2, 4), torch.randn(1, 1, 4, 4), torch.eye(4)[None, None]
look = torch.tensor([True, True, False, False]).expand(1, 1, 2, 4)
bias = torch.zeros(1, 1, 2, 4)
bias[..., 1, :2] = float("-inf")
found = sdpa_attention_forward(module, Q, K, V, look, position_bias=bias, is_causal=False)[0]
rows = found[0, :, 0]  # V is an identity: the output is the weights
print("hidden: keys 2 and 3. A bias of 0:", rows[0].tolist())
print("a bias of −∞ at keys 0 and 1:     ", rows[1].tolist())
sys.exit(not (rows[0, 2:].sum() == 0 and torch.allclose(rows[1], torch.tensor([0, 0, 0.5, 0.5]))))
PY
