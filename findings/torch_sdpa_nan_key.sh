#!/bin/sh
# torch 2.13.0, the CPU, float32: scaled_dot_product_attention with a boolean attn_mask, where one
# key (all of K's row) is NaN and hidden from every query.
#
# A query whose row of the mask is False throughout has the output 0, whatever K and V hold, as long
# as they are numbers. One hidden key that is NaN makes NaN of it too: False is −∞ added to the
# score, not put in its place, and the rule that makes 0 of a row asks for −∞ in every place.
#
# Guess before the run: 0 in that row; a mask of False alone leaves nothing to be computed.
# Seen: 0 without the NaN; NaN with it, as in all other rows; on the default path and on MATH.
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
    print(f"{name:8} row without a key:", plain[2].tolist(), "a hidden NaN:", beside.tolist())
    right &= not plain[2].any() and bool(beside.isnan().all())
sys.exit(not right)
PY
