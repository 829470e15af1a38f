#!/bin/sh
# transformers 5.24.0 on torch 2.14.1, the CPU, float32: DeepseekV4ForCausalLM, a padded batch with
# its attention_mask.
#
# Its keys are pooled in blocks that are counted from the first column, and padding is pooled along:
# on the left, where generate wants it, the padding token itself decides what real tokens get, also
# where it fills whole blocks of 4. On the right nothing changes.
#
# Guess before the run: hidden tokens change nothing, as in LLaMA.
# Seen: left padding moves logits by 3.8, and another padding token by 7.9; right padding moves them
# by 7e-6, and so do both sides in LLaMA.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.14.1 transformers==5.24.0
"$room/env/bin/python" - <<'PY'
import sys

import torch
from transformers import (
    DeepseekV4Config,
    DeepseekV4ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
)

sizes = dict(
    vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, head_dim=8,
    max_position_embeddings=128, pad_token_id=0,
)
deepseek = DeepseekV4Config(
    **sizes, moe_intermediate_size=16, n_routed_experts=4, num_experts_per_tok=2,
    n_shared_experts=1, num_key_value_heads=1, q_lora_rank=8, qk_rope_head_dim=8, index_n_heads=2,
    index_head_dim=8, index_topk=4,
    layer_types=["heavily_compressed_attention", "compressed_sparse_attention"],
)
llama = LlamaConfig(**sizes, intermediate_size=48, num_key_value_heads=2)
ids = torch.arange(5, 17)[None]
right = True
for kind, config in ((LlamaForCausalLM, llama), (DeepseekV4ForCausalLM, deepseek)):
    torch.manual_seed(0)
    model = kind._from_config(config, attn_implementation="eager").eval()
    for weight in (p for p in model.parameters() if p.dim() > 1):
        torch.nn.init.normal_(weight, std=0.4)

    def padded(token, left):
        pad, seen = torch.full((1, 4), token), torch.ones_like(ids)
        parts = ((pad, ids), (0 * pad, seen)) if left else ((ids, pad), (seen, 0 * pad))
        given, mask = (torch.cat(part, 1) for part in parts)
        with torch.no_grad():
            found = model(given, attention_mask=mask).logits
        return found[:, 4:] if left else found[:, :-4]

    with torch.no_grad():
        alone = model(ids).logits
    off = {
        "left, off the row alone": padded(0, True) - alone,
        "left, padding token 0 or 40": padded(0, True) - padded(40, True),
        "right, off the row alone": padded(0, False) - alone,
    }
    off = {key: value.abs().max().item() for key, value in off.items()}
    print(kind.__name__, off)
    left = [off["left, off the row alone"], off["left, padding token 0 or 40"]]
    right &= off["right, off the row alone"] < 1e-3
    right &= max(left) < 1e-3 if kind is LlamaForCausalLM else min(left) > 0.1
sys.exit(not right)
PY
