#!/bin/sh
# performer-pytorch 1.1.4 with torch 2.14.1 on the CPU, SelfAttention(causal=False) and a mask that
# hides the last 3 of 12 tokens.
# Behaviour: the mask sets hidden values to 0, and leaves hidden keys in the sum by which a row is
# divided. What a hidden token holds, and that it is there, changes the output of real tokens.
# Seen: “hidden tokens changed: output moves by 0.072; without them at all: by 0.11”, and likewise
# with generalized_attention=True and no_projection=True.
# Guess: what the mask hides changes nothing, but for rounding.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q torch==2.14.1 numpy performer-pytorch==1.1.4
"$place/env/bin/python" -W ignore - <<'END'
import torch
from performer_pytorch import SelfAttention

mask = torch.ones(1, 12, dtype=torch.bool)
mask[:, 9:] = False
right = []
for option in ({}, {"generalized_attention": True}, {"no_projection": True}):
    torch.manual_seed(0)
    layer = SelfAttention(dim=16, heads=2, dim_head=8, nb_features=16, **option).eval()
    tokens = torch.randn(1, 12, 16)
    other = tokens.clone()
    other[:, 9:] = other[:, 9:] * 3 + 7
    with torch.no_grad():
        found, moved = layer(tokens, mask=mask)[:, :9], layer(other, mask=mask)[:, :9]
        alone = layer(tokens[:, :9], mask=mask[:, :9])
    moved, alone = ((found - array).abs().max().item() for array in (moved, alone))
    print(f"{option}: hidden tokens changed: output moves by {moved:.2g};"
          f" without them at all: by {alone:.2g}")
    right += [moved > 1e-3, alone > 1e-3]
raise SystemExit(0 if all(right) else 1)
END
