#!/bin/sh
# x-transformers 2.31.10 with torch 2.13.0 on the CPU, Attend with a mask that hides every key from
# a query, and with left padding and look-ahead, which leave a padded query none together.
# Behaviour: a query that the mask hides gets output 0 in both ways; flash=False still returns
# weights for it that add up to 1 (in float64 NaN). A padded query gets output 0 with flash=True, and
# with flash=False the mean of all values, later ones included (in float64 NaN: the softmax is in
# float32, where the filler of float64 is −∞).
# Seen: “torch.float32: no key: output 0, weights add up to 1; padding and look-ahead: flash 0, plain
# the mean of all”, “torch.float64: no key: output 0, weights add up to nan; padding and look-ahead:
# flash 0, plain [nan, nan, nan, nan]”.
# Guess: output and weights 0 in both ways, and the same in float64.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy x-transformers==2.31.10
"$place/env/bin/python" -W ignore - <<'END'
import torch
from x_transformers.attend import Attend

torch.manual_seed(0)
Q, K, V = torch.rand(3, 1, 1, 3, 4)


def run(kind, mask, causal, flash):
    attend = Attend(causal=causal, flash=flash).eval()
    output, found = attend(*(M.to(kind) for M in (Q, K, V)), mask=mask)
    weights = found.post_softmax_attn
    return output[0, 0, 0], None if weights is None else weights[0, 0, 0]


blind = torch.tensor([[[[False] * 3, [True] * 3, [True] * 3]]])
padded = torch.tensor([[False, True, True]])  # left padding: the first query sees itself alone
said, right = [], []
for kind in (torch.float32, torch.float64):
    output, weights = run(kind, blind, False, False)
    later, _ = run(kind, padded, True, False)
    fast, _ = run(kind, padded, True, True)
    said.append((output.abs().max().item(), weights.sum().item(), fast.abs().max().item()))
    mean = bool(torch.allclose(later, V[0, 0].mean(0).to(kind)))
    print(
        f"{kind}: no key: output {said[-1][0]:g}, weights add up to {said[-1][1]:.3g}; padding and"
        f" look-ahead: flash {said[-1][2]:g}, plain"
        f" {'the mean of all' if mean else later.tolist()}"
    )
    right += [said[-1][0] == 0, said[-1][2] == 0, mean if kind == torch.float32 else
              bool(later.isnan().all() and weights.isnan().all())]
raise SystemExit(0 if all(right) and abs(said[0][1] - 1) < 1e-6 else 1)
END
