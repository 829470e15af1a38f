#!/bin/sh
# torch 2.14.1 on the CPU, nn.MultiheadAttention with add_bias_kv=True, and with add_zero_attn=True,
# an attn_mask that is the look-ahead triangle, and is_causal=True as the hint that it is.
# Behaviour: the learned (or zero) key is appended behind the tokens. With need_weights=True every
# query sees it; with need_weights=False the triangle is made anew for all keys, and it hides that
# key from every query, so the learned key has no effect. Without the hint both agree.
# Seen: “add_bias_kv: learned key changed: with weights True, without False, without the hint True”,
# “add_zero_attn: with weights minus without: 0.11; without the hint: 1.5e-08”.
# Guess: need_weights changes nothing.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q torch==2.14.1 numpy
"$place/env/bin/python" -W ignore - <<'END'
import torch

tokens = torch.rand(1, 4, 8, generator=torch.Generator().manual_seed(0))
triangle = ~torch.ones(4, 4).tril().bool()
right = []
for way in (True, False):
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True, add_bias_kv=True).train(way)

    def answer(weights, hint, layer=layer):
        with torch.no_grad():
            return layer(
                tokens, tokens, tokens, attn_mask=triangle, is_causal=hint, need_weights=weights
            )[0]

    calls = ((True, True), (False, True), (False, False))
    before = [answer(*call) for call in calls]
    with torch.no_grad():
        layer.bias_k += 3
        layer.bias_v += 3
    moved = [not torch.allclose(a, answer(*c), atol=1e-6) for a, c in zip(before, calls)]
    print(
        f"train {way}, add_bias_kv: learned key changed: with weights {moved[0]},"
        f" without {moved[1]}, without the hint {moved[2]}"
    )
    right.append(moved == [True, False, True])
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True, add_zero_attn=True).train(way)
    hinted = (answer(True, True, layer) - answer(False, True, layer)).abs().max().item()
    plain = (answer(True, False, layer) - answer(False, False, layer)).abs().max().item()
    print(f"train {way}, add_zero_attn: with weights minus without: {hinted:.2g};"
          f" without the hint: {plain:.2g}")
    right.append(hinted > 0.01 and plain < 1e-6)
raise SystemExit(0 if all(right) else 1)
END
