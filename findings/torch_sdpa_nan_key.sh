#!/bin/sh
# torch 2.13.0, the CPU, float32: scaled_dot_product_attention with a boolean attn_mask, where one
# key (all of K's row) is NaN and hidden from every query.
#
# Queries that see another key are right to the bit: the NaN is masked away. A query that sees no
# key at all, whose output is 0 otherwise, becomes NaN, on the default path and on MATH.
#
# Guess before the run: 0 in that row too, for the mask hides the NaN in all the others.
# Seen: both paths: 0 without the NaN, NaN with it; the other three rows unchanged.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$room/env/bin/python" - <<'PY'
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.manual_seed(0)
Q, K, V = (torch.randn(1, 1, 4, 4) for _ in range(3))
broken = K.clone()
broken[..., 1, :] = float("nan")
look = torch.ones(4, 4, dtype=torch.bool)
look[:, 1] = False  # the key that is NaN
look[2] = False  # a query that sees no key


def attend(K):
    return torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=look)[0, 0]


right = True
for name in ("default", "MATH"):
    if name == "default":
        plain, beside = attend(K), attend(broken)
    else:
        with sdpa_kernel(SDPBackend.MATH):
            plain, beside = attend(K), attend(broken)
    print(f"{name:8} row without a key:", plain[2].tolist(), "beside a hidden NaN:", beside[2].tolist())
    same = torch.equal(plain[[0, 1, 3]], beside[[0, 1, 3]])
    print(f"{name:8} other rows unchanged:", same)
    right &= same and not plain[2].any() and bool(beside[2].isnan().all())
sys.exit(not right)
PY
