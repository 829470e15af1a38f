#!/bin/sh
# transformers 5.24.0 on torch 2.13.0, the CPU, float32: FalconModel with alibi=True, random
# weights.
#
# ALiBi is added twice in the eager attention, in the mask and again beside it, and once under sdpa.
# A call with output_attentions=True takes the eager way: so asking for the weights changes the
# output, and the weights belong to slopes of double size. (Falcon also divides its slopes by √d,
# which Bloom and MPT do not.)
#
# Guess before the run: the slopes of Bloom, the same on both ways.
# Seen: with all scores 0 neighbouring keys are 0.0442 apart in log weight in head 0, that is
# 2 · 0.0625 / √8; eager, and sdpa with output_attentions=True, are 0.019 off sdpa alone.
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


def run(way, scores=True, **options):
    config = FalconConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, alibi=True,
        multi_query=False, bias=False,
    )
    torch.manual_seed(0)
    model = FalconModel._from_config(config, attn_implementation=way).eval()
    with torch.no_grad():
        for weight in (p for p in model.parameters() if p.dim() > 1):
            torch.nn.init.normal_(weight, std=0.3)
        if not scores:
            model.h[0].self_attention.query_key_value.weight.zero_()
        return model(ids, **options)


weights = run("eager", scores=False, output_attentions=True).attentions[0][0, 0, -1]
step = weights.log().diff().mean().item()
print("neighbouring keys, log weight:", step, "one slope / √d:", 0.0625 / 8**0.5)
plain = run("sdpa").last_hidden_state
off = {
    "eager": run("eager").last_hidden_state,
    "sdpa, output_attentions=True": run("sdpa", output_attentions=True).last_hidden_state,
}
off = {name: (found - plain).abs().max().item() for name, found in off.items()}
print("off sdpa:", off)
sys.exit(not (abs(step - 2 * 0.0625 / 8**0.5) < 1e-4 and min(off.values()) > 1e-3))
PY
