#!/bin/sh
# nystrom-attention 0.0.14 with torch 2.14.1 on the CPU, return_attn=True, 10 tokens, 4 landmarks.
# Behaviour: tokens are padded at the front to a multiple of the landmarks, and the output is cut
# back to 10 rows while the map is not: it is 12 × 12, and row i belongs to token i − 2. Without a
# mask padded keys get weight. Weights can also be below 0, which the method's inverse makes.
# Seen: “output (1, 10, 16), map (1, 2, 12, 12); weight on padded keys 0.096; lowest weight -1.1;
# output off rows 2 to 11 times V: 7.6e-06, rows 0 to 9: 33”.
# Guess: a map of 10 × 10, since the output has 10 rows.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q torch==2.14.1 numpy nystrom-attention==0.0.14
"$place/env/bin/python" -W ignore - <<'END'
import torch
from nystrom_attention import NystromAttention

torch.manual_seed(0)
layer = NystromAttention(dim=16, dim_head=8, heads=2, num_landmarks=4, residual=False).eval()
with torch.no_grad():
    for weight in (p for p in layer.parameters() if p.dim() > 1):
        torch.nn.init.normal_(weight, std=0.7)
    tokens = torch.randn(1, 10, 16)
    output, found = layer(tokens, return_attn=True)
    V = torch.nn.functional.pad(layer.to_qkv(tokens)[..., 32:], (0, 0, 2, 0))
    heads = found[0] @ V.view(12, 2, 8).transpose(0, 1)
    rows = layer.to_out(heads.transpose(0, 1).reshape(12, 16))
late, early = ((output[0] - part).abs().max().item() for part in (rows[2:], rows[:10]))
padded, lowest = found[..., :2].abs().amax().item(), found.min().item()
print(
    f"output {tuple(output.shape)}, map {tuple(found.shape)}; weight on padded keys {padded:.2g};"
    f" lowest weight {lowest:.2g}; output off rows 2 to 11 times V: {late:.2g}, rows 0 to 9:"
    f" {early:.2g}"
)
right = found.shape[-2:] == (12, 12) and output.shape[1] == 10 and late < 1e-3 < 0.1 < early
raise SystemExit(0 if right and padded > 1e-3 and lowest < 0 else 1)
END
