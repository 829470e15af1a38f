#!/bin/sh
# torch 2.13.0, the CPU, float32: scaled_dot_product_attention(is_causal=True), 1500 tokens, the
# last row of V NaN (padding that was never written, say).
#
# No query but the last may look at it. On the MATH path all 1500 outputs are NaN, since 0 · NaN is;
# on the default path those of the last block of 512 keys are, 1024 and after, and the first
# 1024 are right: how far a NaN spreads backwards depends on the length of the text.
#
# Guess before the run: all rows NaN on both paths.
# Seen: default: 476 rows, from row 1024; MATH: 1500.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$room/env/bin/python" - <<'PY'
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

attend = torch.nn.functional.scaled_dot_product_attention
torch.manual_seed(0)
Q, K, V = (torch.randn(1, 1, 1500, 16) for _ in range(3))
whole = attend(Q, K, V, is_causal=True)
V[..., -1, :] = float("nan")
default = attend(Q, K, V, is_causal=True)
with sdpa_kernel(SDPBackend.MATH):
    plain = attend(Q, K, V, is_causal=True)
rows = default.isnan().any(-1)[0, 0].nonzero()[:, 0]
print("default: rows that are NaN:", len(rows), "from", rows[0].item())
print("MATH: rows that are NaN:", plain.isnan().any(-1).sum().item())
clean = torch.equal(default[..., : rows[0], :], whole[..., : rows[0], :])
sys.exit(not (rows[0] == 1024 and len(rows) == 476 and clean and plain.isnan().all()))
PY
