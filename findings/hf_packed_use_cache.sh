#!/bin/sh
# transformers 5.24.0 on torch 2.13.0, the CPU, float32: LlamaForCausalLM (and most like it) with
# position_ids that start again at 0, as for two texts in one row, and no attention_mask.
#
# With use_cache=False the two texts do not see each other. With use_cache=True, the default, no
# mask is made of the positions and the second text sees the first, with no word: the switch that
# ought to keep keys and values alone changes the output.
#
# Guess before the run: use_cache changes nothing.
# Seen: the second text equals itself alone (1e-6) without a cache, and is 7.8 off (logits) with it.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 transformers==5.24.0
"$room/env/bin/python" - <<'PY'
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=40, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
    num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
)
ids = torch.arange(3, 11)[None]
positions = torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3]])
right = True
for way in ("eager", "sdpa"):
    model = LlamaForCausalLM._from_config(config, attn_implementation=way).eval()
    for weight in (p for p in model.parameters() if p.dim() > 1):
        torch.nn.init.normal_(weight, std=0.5)
    with torch.no_grad():
        alone = model(ids[:, 4:]).logits
        off = [
            (model(ids, position_ids=positions, use_cache=cache).logits[:, 4:] - alone).abs().max()
            for cache in (False, True)
        ]
    print(way, "second text, off itself alone: use_cache=False %g, True %g" % tuple(off))
    right &= off[0].item() < 1e-4 and off[1].item() > 0.1
sys.exit(not right)
PY
