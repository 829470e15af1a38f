#!/bin/sh
# transformers 5.24.0 on torch 2.13.0, the CPU, float32: MoshiForCausalLM and the model of Kyutai's
# speech to text, whose configs have sliding_window.
#
# The window is in the cache alone. A whole run makes a plain causal mask, so that every token sees
# all before it; the cache keeps sliding_window − 1 keys, so that a token fed after it sees the
# window. Cached steps and a whole run give other numbers as soon as the text is longer.
#
# Guess before the run: the window holds in both, as in Mistral; steps equal the whole run.
# Seen, window 4, 10 tokens: row 9 of the whole run depends on tokens 0 to 9; the first 4 steps
# equal the whole run (1e-6), the later ones are 0.4 to 2 off.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.13.0 transformers==5.24.0
"$room/env/bin/python" - <<'PY'
import sys

import torch
from transformers import (
    KyutaiSpeechToTextConfig,
    KyutaiSpeechToTextModel,
    MistralConfig,
    MistralModel,
    MoshiConfig,
    MoshiForCausalLM,
)

sizes = dict(
    vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=2, head_dim=8, max_position_embeddings=64, sliding_window=4,
)
tokens = dict(
    codebook_vocab_size=20, num_codebooks=2, pad_token_id=3, audio_pad_token_id=19,
    audio_bos_token_id=18,
)
kinds = {
    "Mistral": (MistralModel, MistralConfig(**sizes, intermediate_size=32)),
    "Moshi": (MoshiForCausalLM, MoshiConfig(**sizes, ffn_dim=32)),
    "Kyutai": (KyutaiSpeechToTextModel, KyutaiSpeechToTextConfig(**sizes, **tokens, ffn_dim=32)),
}
X = torch.randn(1, 10, 16, generator=torch.Generator().manual_seed(0))
right = True
for name, (kind, config) in kinds.items():
    torch.manual_seed(0)
    model = kind._from_config(config, attn_implementation="sdpa").eval()
    for weight in (p for p in model.parameters() if p.dim() > 1):
        torch.nn.init.normal_(weight, std=0.3)

    def run(X, **options):
        with torch.no_grad():
            return model(inputs_embeds=X, use_cache=True, **options)

    whole, cache, off = run(X)[0], None, []
    for t in range(10):
        step = run(X[:, t : t + 1], past_key_values=cache)
        cache = step.past_key_values
        off.append((step[0][0, 0] - whole[0, t]).abs().max().item())
    changed = [run(X + torch.eye(10)[t][None, :, None])[0][0, 9] for t in range(10)]
    reads = [t for t in range(10) if not torch.allclose(changed[t], whole[0, 9], atol=1e-4)]
    print(name, "row 9 of a whole run reads tokens", reads)
    print("  step off whole run:", [float(f"{x:.1g}") for x in off])
    if name == "Mistral":
        right &= max(off) < 1e-4
    else:
        right &= reads == list(range(10)) and max(off[:4]) < 1e-4 and max(off[4:]) > 0.1
sys.exit(not right)
PY
