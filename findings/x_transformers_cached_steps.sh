#!/bin/sh
# x-transformers 2.31.10 with torch 2.14.1 on the CPU: AutoregressiveWrapper.generate at temperature
# 0, with cache_kv=True (the default) and False.
# Behaviour: with shift_tokens=1, and with attn_data_dependent_alibi=True, cached steps compute
# something else: a step has no token before it to shift from, and no forget gates of earlier ones.
# The text differs and nothing is said; can_cache_kv is True. attn_selective=True, which cannot be
# cached either, says so by can_cache_kv False and is generated without.
# Seen: “plain: same text, logits off 5.4e-07; shift_tokens: other text, logits off 1.5;
# data-dependent ALiBi: other text, logits off 2; selective: same text, not cached”.
# Guess: the cache changes nothing, or is refused, for every option of the decoder.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q torch==2.14.1 numpy x-transformers==2.31.10
"$place/env/bin/python" -W ignore - <<'END'
import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

options = {
    "plain": {},
    "shift_tokens": {"shift_tokens": 1},
    "data-dependent ALiBi": {"attn_data_dependent_alibi": True},
    "selective": {"attn_selective": True},
}
prompt = torch.arange(3, 9)[None]
said, right = [], []
for name, option in options.items():
    layers = Decoder(dim=16, depth=2, heads=2, attn_dim_head=16, **option)
    model = TransformerWrapper(num_tokens=40, max_seq_len=64, attn_layers=layers)
    drawn = torch.Generator().manual_seed(0)
    for weight in model.parameters():
        with torch.no_grad():
            weight.copy_(torch.randn(weight.shape, generator=drawn) * 0.3)
    writer = AutoregressiveWrapper(model).eval()
    texts = [writer.generate(prompt, 12, temperature=0.0, cache_kv=way) for way in (True, False)]
    same = torch.equal(*texts)
    if model.can_cache_kv:
        with torch.no_grad():
            whole = model(prompt)
            _, kept = model(prompt[:, :-1], return_intermediates=True)
            step = model(prompt, return_intermediates=True, cache=kept)[0]
        off = (step[:, -1] - whole[:, -1]).abs().max().item()
        said.append(f"{name}: {'same' if same else 'other'} text, logits off {off:.2g}")
        right.append((same and off < 1e-4) if name == "plain" else not same and off > 0.1)
    else:
        said.append(f"{name}: {'same' if same else 'other'} text, not cached")
        right.append(name == "selective" and same)
print("; ".join(said))
raise SystemExit(0 if all(right) else 1)
END
