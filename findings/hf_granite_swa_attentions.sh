#!/bin/sh
# transformers 5.24.0 with torch 2.13.0 on the CPU, eager attention, a small random model with
# sinks of 10000 in every head, output_attentions=True.
# Behaviour: every head's output is 0. The rows of gpt-oss' attentions add up to 0; those of
# granite_swa to 1, since it returns the weights before it multiplies the output by the share that
# the sink leaves.
# Seen: “gpt_oss: outputs up to 0, rows add up to 0; granite_swa: outputs up to 0, rows add up to 1”.
# Guess: rows that add up to 0 in both families.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy transformers==5.24.0
"$place/env/bin/python" -W ignore - <<'END'
import torch
from transformers import GptOssConfig, GptOssForCausalLM
from transformers.models.granite_swa.configuration_granite_swa import GraniteSWAConfig
from transformers.models.granite_swa.modeling_granite_swa import GraniteSWAForCausalLM

torch.manual_seed(0)
sizes = {"vocab_size": 16, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2}
sizes |= {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4}
sizes |= {"bos_token_id": 0, "eos_token_id": 0}
models = {
    "gpt_oss": GptOssForCausalLM(
        GptOssConfig(**sizes, num_local_experts=2, num_experts_per_tok=1)
    ),
    "granite_swa": GraniteSWAForCausalLM(GraniteSWAConfig(**sizes)),
}
found = {}
for name, model in models.items():
    outputs = []
    for layer in model.eval().model.layers:
        layer.self_attn.sinks.data.fill_(1e4)
        layer.self_attn.o_proj.register_forward_pre_hook(lambda _, given: outputs.append(given[0]))
    with torch.no_grad():
        attentions = model(torch.tensor([[1, 2, 3, 4, 5]]), output_attentions=True).attentions
    largest = max(output.abs().max().item() for output in outputs)
    sums = torch.stack([weights.sum(-1) for weights in attentions])
    found[name] = largest, round(sums.min().item(), 5), round(sums.max().item(), 5)
print("; ".join(
    f"{name}: outputs up to {largest:g}, rows add up to {low:g}"
    for name, (largest, low, _) in found.items()
))
raise SystemExit(0 if found == {"gpt_oss": (0, 0, 0), "granite_swa": (0, 1, 1)} else 1)
END
