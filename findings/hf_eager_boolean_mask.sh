#!/bin/sh
# transformers 5.24.0 on torch 2.13.0, the CPU, float32: LlamaModel and BertModel, a boolean
# attention_mask of four axes (True = may look), which both attentions take.
#
# sdpa reads it as torch does. eager adds it to the scores: True is +1 and False +0, so nothing is
# hidden, not even what is ahead, and what should be hidden is only 1 lower. No word is said.
#
# Guess before the run: eager reads it as sdpa does.
# Seen: under sdpa the mask of 0 and −∞ gives the same to the bit; under eager the query's weights
# reach ahead, and equal those of a float mask of ones and zeros.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 transformers==5.24.0
"$room/env/bin/python" - <<'PY'
import sys

import torch
from transformers import BertConfig, BertModel, LlamaConfig, LlamaModel

sizes = dict(
    vocab_size=40, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2
)
ids = torch.arange(3, 11)[None]
look = torch.ones(1, 1, 8, 8).tril().bool()
floats = torch.zeros(look.shape).masked_fill(~look, float("-inf"))
right = True
for kind, config in ((LlamaModel, LlamaConfig(**sizes)), (BertModel, BertConfig(**sizes))):
    for way in ("sdpa", "eager"):
        torch.manual_seed(0)
        model = kind._from_config(config, attn_implementation=way).eval()
        for weight in (p for p in model.parameters() if p.dim() > 1):
            torch.nn.init.normal_(weight, std=0.3)
        with torch.no_grad():
            off, plus = (
                (model(ids, attention_mask=look)[0] - model(ids, attention_mask=other)[0])
                .abs().max().item()
                for other in (floats, look.float())
            )
            line = f"{kind.__name__}, {way}: off the mask of 0 and −∞ {off:.2g}"
            if way == "eager":
                found = model(ids, attention_mask=look, output_attentions=True)
                ahead = found.attentions[0][0, 0, 0, 1:].sum().item()
                line += f", off 1 and 0 added {plus:.2g}; weight ahead of query 0: {ahead:.2f}"
                right &= off > 0.01 and plus < 1e-5 and ahead > 0.1
            else:
                right &= off < 1e-5
            print(line)
sys.exit(not right)
PY
