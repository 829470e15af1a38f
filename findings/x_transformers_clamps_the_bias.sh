#!/bin/sh
# x-transformers 2.31.10 with torch 2.13.0 on the CPU, Attend(softclamp_logits=True).
# Behaviour: attn_bias is added before the soft clamp and clamped with the scores, so that a bias of
# −1000 hides nothing at a clamp of 5: its weight is 0.007, not 0. A mask is applied after the clamp
# and hides.
# Seen: “weights with a bias of −1000: 0.993 and 0.007; with a mask: 1 and 0”.
# Guess: the bias is added after the clamp, as Attention of ONNX adds its mask of numbers.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy x-transformers==2.31.10
"$place/env/bin/python" -W ignore - <<'END'
import torch
from x_transformers.attend import Attend

attend = Attend(softclamp_logits=True, logit_softclamp_value=5.0).eval()
q, k, v = torch.zeros(1, 1, 1, 4), torch.zeros(1, 1, 2, 4), torch.rand(1, 1, 2, 4)
bias = torch.tensor([[[[0.0, -1000.0]]]])
_, found = attend(q, k, v, attn_bias=bias)
biased = found.post_softmax_attn.flatten()
_, found = attend(q, k, v, mask=bias == 0)
masked = found.post_softmax_attn.flatten()
print(
    f"weights with a bias of −1000: {biased[0]:.3f} and {biased[1]:.3f};"
    f" with a mask: {masked[0]:.3g} and {masked[1]:.3g}"
)
expected = torch.tensor([0.0, -5.0]).softmax(0)
raise SystemExit(0 if torch.allclose(biased, expected) and masked[1] == 0 else 1)
END
