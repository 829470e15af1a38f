#!/bin/sh
# transformers 5.24.0 on torch 2.14.1, the CPU, float32: a boolean attention_mask of four axes
# (True = may look), which the mask functions take as “already prepared”, in LLaMA, BERT, GPT-2.
#
# sdpa hides what is False. Eager adds the mask to the scores as 0 and 1: nothing is hidden, tokens
# look ahead, and visible keys get one more. No error and no warning in either.
#
# Guess before the run: the same in both, since the mask functions return booleans for sdpa.
# Seen: hidden token 2 changed: later rows move by 0 in sdpa; in eager by 3.0, 0.35 and 2.1. Eager
# equals sdpa with a bias of 0 and 1 (2e-6).
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
    GPT2Config,
    GPT2Model,
    LlamaConfig,
    LlamaModel,
)

wide = dict(
    vocab_size=40, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
    num_attention_heads=2, max_position_embeddings=32,
)
kinds = {
    "LLaMA": (LlamaModel, LlamaConfig(**wide, num_key_value_heads=2)),
    "BERT": (BertModel, BertConfig(**wide)),
    "GPT-2": (GPT2Model, GPT2Config(vocab_size=40, n_embd=16, n_layer=2, n_head=2, n_positions=32)),
}
ids = torch.arange(3, 11)[None]
other = ids.clone()
other[0, 2] = 30  # token 2 is hidden from all but itself
look = torch.ones(8, 8).tril().bool()
look[:, 2] = False
look[2, 2] = True
right = True
for name, (kind, config) in kinds.items():
    found = {}
    for way in ("eager", "sdpa"):
        torch.manual_seed(0)
        model = kind._from_config(config, attn_implementation=way).eval()
        for weight in (p for p in model.parameters() if p.dim() > 1):
            torch.nn.init.normal_(weight, std=0.5)
        with torch.no_grad():
            for key, given, mask in (
                ("as it is", ids, look[None, None]),
                ("hidden token changed", other, look[None, None]),
                ("0 and 1 added", ids, look[None, None].float()),
            ):
                found[way, key] = model(given, attention_mask=mask).last_hidden_state
    moved = [
        (found[way, "hidden token changed"] - found[way, "as it is"])[:, 3:].abs().max().item()
        for way in ("sdpa", "eager")
    ]
    added = (found["eager", "as it is"] - found["sdpa", "0 and 1 added"]).abs().max().item()
    print(name, "moved by the hidden token: sdpa %g, eager %g;" % tuple(moved), end=" ")
    print("eager off 0 and 1 added:", added)
    right &= moved[0] < 1e-6 and moved[1] > 0.1 and added < 1e-4
sys.exit(not right)
PY
