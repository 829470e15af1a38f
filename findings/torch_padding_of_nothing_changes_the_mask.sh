#!/bin/sh
# torch 2.13.0 on the CPU, nn.MultiheadAttention in training, need_weights=False, is_causal=True next
# to an attn_mask that is not the triangle.
# Behaviour: without key_padding_mask the triangle alone is used and the mask dropped; with a
# key_padding_mask that hides nothing the mask alone is used and the triangle dropped.
# Seen: “without padding: the look-ahead; with padding that hides nothing: the mask”.
# Guess: a padding mask that hides nothing changes nothing.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy
"$place/env/bin/python" -W ignore - <<'END'
import torch

torch.manual_seed(0)
layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
tokens = torch.rand(1, 4, 8)
mask = torch.eye(4, dtype=torch.bool).roll(1, 1)  # hides one key from each query
triangle = ~torch.ones(4, 4).tril().bool()


def answer(hidden, **more):
    return layer(tokens, tokens, tokens, attn_mask=hidden, need_weights=False, **more)[0]


known = {"the mask": answer(mask), "the look-ahead": answer(triangle)}
known["both"] = answer(mask | triangle)


def name(output):
    return next((n for n, o in known.items() if torch.allclose(o, output, atol=1e-6)), "none")


nothing = torch.zeros(1, 4, dtype=torch.bool)
without = name(answer(mask, is_causal=True))
padded = name(answer(mask, is_causal=True, key_padding_mask=nothing))
print(f"without padding: {without}; with padding that hides nothing: {padded}")
raise SystemExit(0 if (without, padded) == ("the look-ahead", "the mask") else 1)
END
