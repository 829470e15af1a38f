#!/bin/sh
# torch 2.13.0 on the CPU, F.scaled_dot_product_attention in float16, scaled scores about 80,000.
# Behaviour: jagged nested tensors give NaN, the same numbers as ordinary tensors the right output:
# the nested way takes scores in float16, which end at 65504.
# Seen: “scores up to 81255; ordinary: 0 NaN, error 0; nested: 32 NaN of 32”.
# Guess: the right output from both.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy
"$place/env/bin/python" -W ignore - <<'END'
import torch
import torch.nn.functional as F

torch.manual_seed(0)
q = torch.full((1, 1, 4, 8), 168.0, dtype=torch.float16)
k = q + torch.arange(4, dtype=torch.float16)[:, None]
v = torch.rand(1, 1, 4, 8).half()
exact = F.scaled_dot_product_attention(q.double(), k.double(), v.double())
plain = F.scaled_dot_product_attention(q, k, v)


def jagged(tensor):
    rows = [tensor[0].transpose(0, 1).contiguous()]  # (L, H, D)
    return torch.nested.nested_tensor(rows, layout=torch.jagged).transpose(1, 2)


nested = F.scaled_dot_product_attention(*map(jagged, (q, k, v))).transpose(1, 2).unbind()[0]
error = (plain - exact).abs().max().item()
print(
    f"scores up to {(q.double() @ k.double().mT).max().item() / 8**0.5:.0f}; ordinary:"
    f" {int(plain.isnan().sum())} NaN, error {error:.1g}; nested:"
    f" {int(nested.isnan().sum())} NaN of {nested.numel()}"
)
raise SystemExit(0 if error < 1e-3 and nested.isnan().any() else 1)
END
