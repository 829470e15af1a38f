#!/bin/sh
# diffusers 0.42.1 on torch 2.14.1, the CPU, float32: a prompt whose last tokens a mask of 1 and 0
# hides, in CogView4Transformer2DModel (attention_mask; 1 is a token, 0 padding, as its processor's
# docstring says) and ChromaTransformer2DModel (attention_mask in the model's float type, which is
# how the code of ChromaPipeline makes it).
#
# Both hand 1 and 0 to scaled_dot_product_attention in the type of the query, so they are added to
# the scores: hidden tokens keep 1/e of their weight. Chroma hides them if the mask is boolean;
# CogView4 makes floats of a boolean mask too. PixArt, the third here, hides them either way.
#
# Guess before the run: what the mask hides changes nothing, whatever the mask's type.
# Seen: hidden tokens changed: outputs of PixArt move by 0, of CogView4 by 0.07, of Chroma by 0.53,
# and by 0 with a boolean mask.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q torch==2.14.1 numpy diffusers==0.42.1
"$room/env/bin/python" -W ignore - <<'PY'
import sys

import torch
from diffusers import (
    ChromaTransformer2DModel,
    CogView4Transformer2DModel,
    PixArtTransformer2DModel,
)

heads = dict(num_attention_heads=2, num_layers=2, in_channels=4)


def drawn(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


size = torch.tensor([[8, 8]])
kinds = {
    "PixArt": (
        PixArtTransformer2DModel(
            **heads, attention_head_dim=8, out_channels=4, cross_attention_dim=16, sample_size=8,
            patch_size=2, caption_channels=16, use_additional_conditions=False, norm_num_groups=1,
        ),
        dict(hidden_states=drawn(1, 4, 8, 8), timestep=torch.tensor([3.0])),
        "encoder_attention_mask",
        0,
    ),
    "CogView4": (
        CogView4Transformer2DModel(
            **heads, attention_head_dim=8, out_channels=4, patch_size=2, text_embed_dim=16,
            time_embed_dim=8, condition_dim=4,
        ),
        dict(
            hidden_states=drawn(1, 4, 4, 4), timestep=torch.tensor([3]), original_size=size,
            target_size=size, crop_coords=0 * size,
        ),
        "attention_mask",
        0,
    ),
    "Chroma": (
        ChromaTransformer2DModel(
            **heads, attention_head_dim=16, patch_size=1, num_single_layers=1,
            joint_attention_dim=16, axes_dims_rope=(4, 4, 8), approximator_hidden_dim=16,
            approximator_layers=1, approximator_num_channels=8,
        ),
        dict(
            hidden_states=drawn(1, 4, 4), timestep=torch.tensor([0.3]), img_ids=torch.zeros(4, 3),
            txt_ids=torch.zeros(6, 3),
        ),
        "attention_mask",
        4,  # its mask has a place for each place of the picture too
    ),
}
moved = {}
for name, (model, given, argument, more) in kinds.items():
    torch.manual_seed(0)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.2)
    prompt = drawn(1, 6, 16)
    other = prompt.clone()
    other[:, 4:] = 7  # hidden below
    mask = torch.tensor([[1, 1, 1, 1, 0, 0] + [1] * more])
    for kind in (torch.bool, torch.float32):
        with torch.no_grad():
            found = [
                model.eval()(
                    **given, encoder_hidden_states=text, return_dict=False,
                    **{argument: mask.to(kind)},
                )[0]
                for text in (prompt, other)
            ]
        moved[name, kind] = (found[0] - found[1]).abs().max().item()
        print(name, kind, "hidden prompt tokens changed: output moves by", moved[name, kind])
hidden = [("PixArt", torch.bool), ("PixArt", torch.float32), ("Chroma", torch.bool)]
sys.exit(not all((size < 1e-6) == (key in hidden) for key, size in moved.items()))
PY
