#!/bin/sh
# torch 2.13.0, the CPU, float32: nn.TransformerEncoderLayer in eval() under no_grad, a float
# src_mask that is a bias (ALiBi, say) and not 0 and −∞; src_key_padding_mask the same.
#
# With gradients on, the numbers are added to the scores. Without, the layer's fast path reads them
# as booleans, with no word: whatever is not 0 hides. A bias of ALiBi, 0 on the diagonal alone, lets
# each token see itself and nothing else; a bias that is nowhere 0 makes NaN.
#
# Guess before the run: the numbers are added on both paths.
# Seen: the fast path equals the mask `bias != 0` to the bit, and is 0.33 off the other path; with
# ALiBi it equals a mask that hides all but the diagonal.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$room/env/bin/python" - <<'PY'
import sys

import torch
from torch import nn

torch.manual_seed(2)
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0).eval()
X = torch.randn(1, 5, 8)
bias = torch.zeros(5, 5)
bias[:, 1], bias[:, 2] = 1.0, -0.25
steps = torch.arange(5)
alibi = -0.5 * (steps[:, None] - steps).abs().float()
with torch.no_grad():
    fast, hidden = layer(X, src_mask=bias), layer(X, src_mask=bias != 0)
    near, alone = layer(X, src_mask=alibi), layer(X, src_mask=~torch.eye(5).bool())
    nowhere = layer(X, src_mask=bias - 0.5)
slow = layer(X, src_mask=bias).detach()
print("a bias: fast path off `bias != 0`", (fast - hidden).abs().max().item())
print("a bias: fast path off the path with gradients", (fast - slow).abs().max().item())
print("ALiBi: fast path off the diagonal alone", (near - alone).abs().max().item())
print("a bias without a 0: NaN on the fast path:", nowhere.isnan().all().item())
sys.exit(
    not (
        torch.equal(fast, hidden)
        and (fast - slow).abs().max() > 0.01
        and torch.equal(near, alone)
        and nowhere.isnan().all()
    )
)
PY
