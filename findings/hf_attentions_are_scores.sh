#!/bin/sh
# transformers 5.24.0 on torch 2.13.0, the CPU, float32: output_attentions=True in SqueezeBERT and
# ProphetNet, a padded batch.
#
# What comes back as attentions (in ProphetNet of the encoder and of the cross-attention) are the
# masked scores before the softmax: numbers of any sign, float32's lowest number or −∞ at padding.
# Nothing in their names or shapes tells them from weights; a softmax of them gives the weights.
#
# Guess before the run: weights, whose rows sum to 1, as in BERT.
# Seen: rows of BERT sum to 1, those of the two to −∞; their lowest number is float32's. A softmax
# of them is 0 at padding.
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
    ProphetNetConfig,
    ProphetNetModel,
    SqueezeBertConfig,
    SqueezeBertModel,
)

sizes = dict(
    vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
)
parts = ("q", "k", "v", "post_attention", "intermediate", "output")
grouped = {f"{name}_groups": 1 for name in parts}
layers = dict(
    num_encoder_layers=1, num_decoder_layers=1, num_encoder_attention_heads=2,
    num_decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
)
kinds = {
    "BERT": (BertModel, BertConfig(**sizes), {}),
    "SqueezeBERT": (SqueezeBertModel, SqueezeBertConfig(**sizes, embedding_size=16, **grouped), {}),
    "ProphetNet": (
        ProphetNetModel,
        ProphetNetConfig(vocab_size=40, hidden_size=16, **layers),
        {"decoder_input_ids": torch.tensor([[5, 6, 7]])},
    ),
}
ids, mask = torch.tensor([[5, 6, 7, 8, 3, 3]]), torch.tensor([[1, 1, 1, 1, 0, 0]])
right = True
for name, (kind, config, more) in kinds.items():
    torch.manual_seed(0)
    model = kind._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        found = model(input_ids=ids, attention_mask=mask, output_attentions=True, **more)
    for which in ("attentions", "encoder_attentions", "cross_attentions"):
        if not (arrays := getattr(found, which, None)):
            continue
        rows = arrays[0].flatten(0, -2)[:3]
        print(name, which, "sums of rows:", rows.sum(-1).tolist(), "lowest:", rows.min().item())
        if name == "BERT":
            right &= torch.allclose(rows.sum(-1), torch.ones(3), atol=1e-5)
        else:
            weights = rows.softmax(-1)
            right &= rows.min().item() < -1e30 and weights[:, 4:].sum().item() == 0
sys.exit(not right)
PY
