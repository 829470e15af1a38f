#!/bin/sh
# transformers 5.24.0 on torch 2.13.0, the CPU, float32: ConvBERT and MobileBERT with an
# attention_mask that hides padding on the right.
#
# Which token stands at the padded places changes the output of the real ones: ConvBERT's
# convolutions and MobileBERT's embeddings take in the neighbours, and neither asks the mask. So an
# item of a padded batch differs from the item alone.
#
# Guess before the run: the mask keeps padding out of the real tokens, as in BERT.
# Seen, random weights: BERT 0; ConvBERT changes by 0.73 (numbers up to 2.5), MobileBERT by more
# than its numbers are.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 transformers==5.24.0
"$room/env/bin/python" - <<'PY'
import sys

import torch
from transformers import (
    BertConfig,
    BertModel,
    ConvBertConfig,
    ConvBertModel,
    MobileBertConfig,
    MobileBertModel,
)

sizes = dict(
    vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
)
kinds = {
    "BERT": (BertModel, BertConfig(**sizes)),
    "ConvBERT": (ConvBertModel, ConvBertConfig(**sizes, embedding_size=16)),
    "MobileBERT": (
        MobileBertModel,
        MobileBertConfig(**sizes, embedding_size=16, intra_bottleneck_size=16),
    ),
}
ids, mask = torch.tensor([[5, 6, 7, 8, 9, 3, 3, 3]]), torch.tensor([[1, 1, 1, 1, 1, 0, 0, 0]])
others = torch.where(mask == 1, ids, 17)
right = True
for name, (kind, config) in kinds.items():
    torch.manual_seed(0)
    model = kind._from_config(config, attn_implementation="eager").eval()
    for weight in (p for p in model.parameters() if p.dim() > 1):
        torch.nn.init.normal_(weight, std=0.3)
    with torch.no_grad():
        one, other = (
            model(input_ids=x, attention_mask=mask).last_hidden_state[:, :5] for x in (ids, others)
        )
    off = (one - other).abs().max().item()
    print(f"{name}: another token at the padded places changes the real ones by {off:.2g}",
          f"(largest {one.abs().max().item():.2g})")
    right &= off < 1e-6 if name == "BERT" else off > 0.01
sys.exit(not right)
PY
