#!/bin/sh
# transformers 5.24.0 on torch 2.14.1, the CPU, float32: BertModel and LlamaModel in training, with
# gradient_checkpointing_enable({"use_reentrant": True}), and a loss made of outputs.attentions, as
# for distillation, next to one of the output.
#
# The weights that come back are the right numbers, but of the pass without gradients: a loss on
# them trains nothing, with no word. With use_reentrant=False, the default, its gradient is right.
#
# Guess before the run: the same weights and the same gradient in both, but for memory.
# Seen: weights equal to the bit; gradient of the loss on them: the same without reentry
# (2.1 and 2.9 at most), 0 with it.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.14.1 transformers==5.24.0
"$room/env/bin/python" -W ignore - <<'PY'
import sys

import torch
from transformers import BertConfig, BertModel, LlamaConfig, LlamaModel

wide = dict(
    vocab_size=40, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
    num_attention_heads=2, max_position_embeddings=32,
)
still = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
ids, right = torch.arange(3, 11)[None], True
for kind, config in (
    (BertModel, BertConfig(**wide, **still)),
    (LlamaModel, LlamaConfig(**wide, num_key_value_heads=2)),
):
    torch.manual_seed(0)
    model = kind._from_config(config, attn_implementation="eager").train()
    for weight in (p for p in model.parameters() if p.dim() > 1):
        torch.nn.init.normal_(weight, std=0.5)
    named = ((name, p) for name, p in model.named_parameters() if name.endswith("weight"))
    queries = next(p for name, p in named if "query" in name or "q_proj" in name)
    seen = {}
    for way in (None, False, True):
        if way is not None:
            model.gradient_checkpointing_enable({"use_reentrant": way})
        model.zero_grad()
        found = model(ids, output_attentions=True)
        wanted = torch.arange(8.0).softmax(0)
        loss = sum((weights - wanted).square().sum() for weights in found.attentions)
        (loss + 0 * found.last_hidden_state.sum()).backward()
        seen[way] = torch.stack(found.attentions).detach(), queries.grad.clone()
    weights = max((seen[None][0] - seen[way][0]).abs().max().item() for way in (False, True))
    sizes = {way: gradient.abs().max().item() for way, (_, gradient) in seen.items()}
    print(kind.__name__, "weights differ by", weights, "largest gradient, by use_reentrant:", sizes)
    right &= weights == 0 and torch.allclose(seen[False][1], seen[None][1], atol=1e-6)
    right &= sizes[None] > 1e-3 and sizes[True] == 0
sys.exit(not right)
PY
