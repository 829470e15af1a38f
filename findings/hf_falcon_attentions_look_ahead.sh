#!/bin/sh
# transformers 5.24.0 on torch 2.13.0, the CPU, float32: FalconModel as it is by default (rotary
# positions, sdpa), called with output_attentions=True.
#
# For the weights it leaves sdpa for its own lines, and adds sdpa's boolean mask to the scores: True
# is +1 and False +0. Nothing is hidden: the weights that come back look ahead and at padding, and
# the output is that of a model without a mask. Called without the weights it is right.
#
# Guess before the run: asking for the weights changes no output, and they are 0 ahead.
# Seen: sdpa: up to 0.93 of a row's weight ahead, the output 1.1 off; eager: 0 and 0; the two agree
# (2e-7) where no weights are asked for.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 transformers==5.24.0
"$room/env/bin/python" - <<'PY'
import sys

import torch
from transformers import FalconConfig, FalconModel

ids = torch.arange(3, 11)[None]
seen, outputs = {}, {}
for way in ("eager", "sdpa"):
    config = FalconConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        multi_query=False,
    )
    torch.manual_seed(0)
    model = FalconModel._from_config(config, attn_implementation=way).eval()
    for weight in (p for p in model.parameters() if p.dim() > 1):
        torch.nn.init.normal_(weight, std=0.3)
    with torch.no_grad():
        plain, asked = model(ids), model(ids, output_attentions=True)
    ahead = asked.attentions[0][0].triu(1).sum(-1).max().item()
    off = (plain.last_hidden_state - asked.last_hidden_state).abs().max().item()
    seen[way], outputs[way] = (ahead, off), plain.last_hidden_state
    print(f"{way}: most weight ahead in a row {ahead:.2f}, output changed by {off:.2g}")
same = (outputs["eager"] - outputs["sdpa"]).abs().max().item()
print("without the weights: eager and sdpa apart", same)
sys.exit(
    not (
        seen["eager"][0] == 0
        and seen["eager"][1] < 1e-5
        and seen["sdpa"][0] > 0.1
        and seen["sdpa"][1] > 1e-3
        and same < 1e-4
    )
)
PY
