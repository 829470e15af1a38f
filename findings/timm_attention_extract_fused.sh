#!/bin/sh
# timm 1.0.31 with torch 2.14.1 on the CPU, timm.utils.AttentionExtract, timm's own way to attention
# maps, on models as create_model makes them.
# Behaviour: where attention is fused, the default, it has nothing to extract. By method="hook" a
# ViT gives an empty dict, with no word; CaiT gives two of its four blocks, those that are never
# fused, as if there were no others. By method="fx" (the default) the ViT is an error, and CaiT
# gives two again. After timm.layers.set_fused_attn(False) all maps are there.
# Seen: “ViT hook: fused 0, plain 2 maps; CaiT hook: fused 2, plain 4; CaiT fx: fused 2, plain 4”.
# Guess: a map for each block, whatever is fused, or an error.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q torch==2.14.1 torchvision==0.29.1 timm==1.0.31
"$place/env/bin/python" -W ignore - <<'END'
import timm
import torch
from timm.layers import set_fused_attn
from timm.utils import AttentionExtract

known = {
    ("vit_tiny_patch16_224", "hook"): (0, 2),
    ("cait_xxs24_224", "hook"): (2, 4),
    ("cait_xxs24_224", "fx"): (2, 4),
}
seen = {}
for name, method in known:
    for fused in (True, False):
        set_fused_attn(fused)
        model = timm.create_model(name, img_size=32, depth=2).eval()
        maps = AttentionExtract(model, method=method)(torch.zeros(1, 3, 32, 32))
        seen.setdefault((name, method), []).append(len(maps))
        print(name, method, "fused" if fused else "plain", list(maps))
raise SystemExit(0 if {key: tuple(counts) for key, counts in seen.items()} == known else 1)
END
