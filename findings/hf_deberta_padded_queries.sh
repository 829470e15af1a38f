#!/bin/sh
# transformers 5.24.0 on torch 2.14.1, the CPU, float32: DebertaModel and DebertaV2Model, a batch
# padded on the right, output_attentions=True.
#
# A padded query gets the mean of all keys, padding too: its mask hides rows as well as columns. In
# BERT a padded query looks at the real keys alone. A mean over all rows of a map (what each key
# receives) says that padding is looked at.
#
# Guess before the run: rows of padded queries as in BERT, over the real keys.
# Seen: 5 of 8 tokens real: weight on padding from padded queries 0.375 in both DeBERTas (each key
# 0.125), 0 in BERT; from real queries 0 in all.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.14.1 transformers==5.24.0
"$room/env/bin/python" - <<'PY'
import sys

import torch
from transformers import (
    BertConfig,
    BertModel,
    DebertaConfig,
    DebertaModel,
    DebertaV2Config,
    DebertaV2Model,
)

sizes = dict(
    vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
)
near = dict(relative_attention=True, pos_att_type=["c2p", "p2c"], max_relative_positions=8)
kinds = (
    (BertModel, BertConfig(**sizes)),
    (DebertaModel, DebertaConfig(**sizes, **near)),
    (DebertaV2Model, DebertaV2Config(**sizes, **near)),
)
ids, mask = torch.arange(5, 13)[None], torch.tensor([[1, 1, 1, 1, 1, 0, 0, 0]])
right = True
for kind, config in kinds:
    torch.manual_seed(0)
    model = kind._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        weights = model(ids, attention_mask=mask, output_attentions=True).attentions[0][0]
    real, padded = weights[:, :5, 5:].sum(-1).max().item(), weights[:, 5:, 5:].sum(-1)
    print(kind.__name__, "on padding: from real queries", real, "from padded ones", padded.tolist())
    wanted = torch.full_like(padded, 0.0 if kind is BertModel else 0.375)
    right &= real < 1e-6 and torch.allclose(padded, wanted, atol=1e-4)
sys.exit(not right)
PY
