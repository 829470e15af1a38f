#!/bin/sh
# peft 0.21.2 and transformers 5.24.0 on torch 2.14.1, the CPU, float32: prefix tuning of Mistral
# and Gemma 2, whose layers (in Gemma 2 every second) have a sliding window.
#
# The trained prefix stands before the text as if it were its first tokens, so it counts in the
# window and leaves it: with 3 prefix keys and a window of 4 the first token sees all three, and
# from token 3 on no token sees any. What was tuned on texts shorter than the window reaches the
# later tokens of a long one by way of earlier tokens alone.
#
# Guess before the run: the prefix is in every layer's keys, and every query sees it.
# Seen: prefix keys seen by tokens 0 to 7: Mistral, and Gemma 2 in a layer with a window, 3, 2, 1,
# 0, 0, 0, 0, 0; Gemma 2 in a full layer, and LLaMA, 3 for all.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.14.1 transformers==5.24.0 peft==0.21.2
"$room/env/bin/python" -W ignore - <<'PY'
import sys

import torch
from peft import PrefixTuningConfig, get_peft_model
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
)

sizes = dict(
    vocab_size=40, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
    num_attention_heads=2, num_key_value_heads=2, head_dim=8, max_position_embeddings=64,
)
kinds = (
    (LlamaForCausalLM, LlamaConfig(**sizes)),
    (MistralForCausalLM, MistralConfig(**sizes, sliding_window=4)),
    (Gemma2ForCausalLM, Gemma2Config(**sizes, sliding_window=4)),
)
ids, seen = torch.arange(5, 13)[None], []
for kind, config in kinds:
    torch.manual_seed(0)
    model = kind._from_config(config, attn_implementation="eager")
    tuned = get_peft_model(model, PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3))
    tuned.eval()
    with torch.no_grad():
        found = tuned(ids, attention_mask=torch.ones_like(ids), output_attentions=True).attentions
    for number, weights in enumerate(found):
        counts = (weights[0, :, :, :3].amax(0) > 0).sum(-1).tolist()
        print(kind.__name__, "layer", number, tuple(weights.shape), "prefix keys seen:", counts)
        seen.append(counts)
kept, lost = [3] * 8, [3, 2, 1, 0, 0, 0, 0, 0]
sys.exit(seen != [kept, kept, lost, lost, lost, kept])
PY
