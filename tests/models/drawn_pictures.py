"""Types of models that read pictures, drawn by chance, with right labels written out by hand.

``PYTHONPATH=.:tests python tests/models/drawn_pictures.py`` prints, for each model and
implementation, whether layers, labels, grids, what is said to be missed, and weights are right:
weights next to the model's own of ``output_attentions=True``, where it has them, else verified.
Needs torch, transformers, timm and diffusers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import messages
import numpy as np
import torch
from models.families import SHARED, VIT, made
from models.labelled import (
    ANSWER,
    GREEDY,
    Case,
    S,
    both,
    call_of,
    captured,
    counted,
    wrong_labels,
    wrong_layers,
    wrong_positions,
)
from transformers import AutoModel
from transformers import AutoModelForImageTextToText as Answering

import attention

Grid = tuple[int, int, int]  # rows, columns, and patches of a block along a side
WAYS = ("eager", "sdpa")
CLOSE = 2e-5  # of float32
LARGE = 9  # the token of a picture


@dataclass
class Drawn(Case):
    """A case with what is right of a picture besides its labels."""

    grids: dict[str, Grid | None] = field(default_factory=dict)  # as in right
    missed: list[str] = field(default_factory=list)
    refused: str = ""  # the sentence in which it is refused
    own: str = ""
    weighs: list[str] = field(default_factory=list)  # modules of the model's own attentions
    plain: Callable[[], Any] | None = None  # makes the same model with attention that tells them


# ---- models --------------------------------------------------------------------------------------

TURNED = {"patch_size": 4, "spatial_merge_size": 2, "temporal_patch_size": 2, "depth": 2}
TURNED |= {"hidden_size": 16, "num_heads": 4, "out_hidden_size": 16, "intermediate_size": 16}
TEXT = SHARED | {"head_dim": 8}
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8}
# on words, a picture of 4 × 6 patches, which is 2 × 3 tokens, and a word
PICTURE = torch.tensor([[3, 4, *[LARGE] * 6, 5]])
SEEN = ["what", "is", *[f"<{k}>" for k in range(6)], "?"]
SIZES = torch.tensor([[1, 4, 6]])


def pixels(sizes: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(int(sizes.prod(-1).sum()), 3 * 2 * 4 * 4)


def talking(
    kind: str, way: str, text: dict[str, Any], vision: dict[str, Any], auto: Any = AutoModel
) -> Any:
    tokens = {"image_token_id": LARGE, "video_token_id": 10}
    return made(kind, {"text_config": text, "vision_config": vision} | tokens, way, auto)


def look(model: Any, **more: Any) -> Any:
    return model(
        input_ids=PICTURE,
        pixel_values=pixels(SIZES),
        image_grid_thw=SIZES,
        mm_token_type_ids=(PICTURE == LARGE).int(),
        **more,
    )


# a picture of 4 × 6 patches and one of 2 × 4, which is 1 × 2 tokens, between words
TWO = torch.tensor([[3, *[LARGE] * 6, 4, *[LARGE] * 2]])
TWO_SIZES = torch.tensor([[1, 4, 6], [1, 2, 4]])


def answer(model: Any) -> Any:
    return model.generate(
        input_ids=TWO,
        pixel_values=pixels(TWO_SIZES),
        image_grid_thw=TWO_SIZES,
        mm_token_type_ids=(TWO == LARGE).int(),
        max_new_tokens=3,
        **GREEDY,
    )


def tower(*grids: tuple[int, int, int]) -> Callable[..., Any]:
    sizes = torch.tensor(grids)
    return lambda model, **more: model(pixels(sizes), grid_thw=sizes, **more)


def image(*sides: int) -> Callable[..., Any]:
    """Ask with one picture, or with a video, of these sides after the axis of items."""
    torch.manual_seed(1)
    asked = torch.randn(1, *sides)
    return lambda model, **more: model(asked, **more)


class Lines:
    """A reader of lines of text: convolutions, of which transformers makes large ones alone."""

    @staticmethod
    def from_config(config: Any, attn_implementation: Any) -> Any:
        from transformers import PPOCRV5ServerRecForTextRecognition as Model

        return Model._from_config(config, attn_implementation=attn_implementation)


def lines(way: str, auto: Any = Lines) -> Any:
    stages = {"stage_in_channels": [4, 8], "stage_mid_channels": [4, 4]}
    stages |= {"stage_out_channels": [8, 16], "stage_num_blocks": [1, 1], "depths": [1, 1]}
    stages |= {"stage_downsample": [True, True], "stage_light_block": [False, False]}
    stages |= {"stage_kernel_size": [3, 3], "stage_numb_of_layers": [1, 1]}
    stages |= {"stem_channels": [3, 4, 4], "stem_strides": [2, 1, 1, 2, 1]}
    stages |= {"stage_downsample_strides": [[2, 1], [2, 2]], "hidden_sizes": [8, 16]}
    backbone = stages | {"model_type": "hgnet_v2", "out_features": ["stage2"]}
    sizes = {"hidden_size": 16, "num_attention_heads": 4, "head_out_channels": 11}
    ways: Any = {"": way, "backbone_config": "eager"}  # convolutions have no other
    return made("pp_ocrv5_server_rec", sizes | {"backbone_config": backbone}, ways, auto)


def chameleon(way: str) -> Any:
    """Its pictures become 2 × 2 tokens of its vocabulary by an encoder with attention by hand."""
    codes = {"resolution": 4, "base_channels": 32, "channel_multiplier": [1, 1], "embed_dim": 4}
    codes |= {"num_res_blocks": 1, "latent_channels": 4, "num_embeddings": 2}
    names = {"IMGIMGAZ": 5, "IMGIMGBZ": 6, "<image>": LARGE}
    return made("chameleon", SHARED | {"vq_config": codes, "vocabulary_map": names}, way)


def look_at_codes(model: Any, **more: Any) -> Any:
    ids = torch.tensor([[3, *[LARGE] * 4, 4]])
    torch.manual_seed(1)
    return model(input_ids=ids, pixel_values=torch.randn(1, 3, 4, 4), **more)


def from_timm(name: str, **sizes: Any) -> Any:
    import timm

    torch.manual_seed(0)
    return timm.create_model(name, num_classes=3, **sizes).eval()


def unfused(make: Callable[[], Any]) -> Callable[[], Any]:
    """Make the same model of timm with attention that computes its weights."""

    def made_plain() -> Any:
        model = make()
        for module in model.modules():
            if hasattr(module, "fused_attn"):
                module.fused_attn = False
        return model

    return made_plain


def swin(fused: bool) -> Any:
    """Fused attention of relative positions is what timm calls experimental."""
    from timm.layers import set_fused_attn

    set_fused_attn(True, experimental=fused)
    try:
        sizes = {"img_size": 32, "window_size": 4, "embed_dim": 16}
        return from_timm("swin_tiny_patch4_window7_224", **sizes, depths=(2, 1), num_heads=(4, 4))
    finally:
        set_fused_attn(True)


def unet() -> Any:
    from diffusers import UNet2DConditionModel

    torch.manual_seed(0)
    return UNet2DConditionModel(
        sample_size=4,
        in_channels=4,
        out_channels=4,
        layers_per_block=1,
        block_out_channels=(16,),
        down_block_types=("CrossAttnDownBlock2D",),
        up_block_types=("CrossAttnUpBlock2D",),
        cross_attention_dim=8,
        attention_head_dim=4,
        norm_num_groups=4,
    ).eval()


def sd3() -> Any:
    from diffusers import SD3Transformer2DModel

    torch.manual_seed(0)
    sizes = {"sample_size": 8, "patch_size": 2, "in_channels": 4, "num_layers": 2}
    sizes |= {"attention_head_dim": 4, "num_attention_heads": 4, "joint_attention_dim": 8}
    sizes |= {"caption_projection_dim": 16, "pooled_projection_dim": 8, "out_channels": 4}
    return SD3Transformer2DModel(**sizes, pos_embed_max_size=8).eval()


def flux() -> Any:
    from diffusers import FluxTransformer2DModel

    torch.manual_seed(0)
    sizes = {"in_channels": 4, "num_layers": 1, "num_single_layers": 1, "guidance_embeds": False}
    sizes |= {"attention_head_dim": 8, "num_attention_heads": 4, "joint_attention_dim": 8}
    return FluxTransformer2DModel(**sizes, pooled_projection_dim=8, axes_dims_rope=(2, 2, 4)).eval()


def denoise(model: Any) -> Any:
    torch.manual_seed(1)
    return model(torch.randn(1, 4, 4, 4), torch.tensor([1]), torch.randn(1, 6, 8))


def denoise_sd3(model: Any) -> Any:
    torch.manual_seed(1)
    return model(torch.randn(1, 4, 8, 8), torch.randn(1, 5, 8), torch.randn(1, 8), torch.ones(1))


def denoise_flux(model: Any) -> Any:
    torch.manual_seed(1)
    return model(
        torch.randn(1, 16, 4),
        torch.randn(1, 5, 8),
        torch.randn(1, 8),
        torch.ones(1),
        img_ids=torch.randn(16, 3),
        txt_ids=torch.zeros(5, 3),
    )


# ---- what is right -------------------------------------------------------------------------------

NO_GRID = None


def sides(queries: list[str], keys: list[str]) -> str:
    return f"{' '.join(queries)} | {' '.join(keys)}"


def of_transformers(way: str) -> list[Drawn]:
    """The types that were drawn from transformers, with one of its implementations."""
    glimmer = {"hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 8}
    glimmer |= {"num_hidden_layers": 2, "patch_size": 4, "pos_emb_height": 4, "pos_emb_width": 4}
    glm = TEXT | {"moe_intermediate_size": 8, "n_routed_experts": 2, "num_experts_per_tok": 1}
    glm |= {"rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 0]}}
    qwen = TEXT | {"rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1]}}
    deep = TURNED | {"num_position_embeddings": 16, "deepstack_visual_indexes": [0]}
    hybrid = TEXT | {"layer_types": ["linear_attention", "full_attention"]}
    hybrid |= {"linear_num_key_heads": 2, "linear_num_value_heads": 2}
    hybrid |= {"linear_key_head_dim": 4, "linear_value_head_dim": 4}
    turned = {"mrope_section": [1, 1, 0], "partial_rotary_factor": 0.5}
    hybrid |= {"rope_parameters": {"rope_type": "default"} | turned}
    clip = VIT | {"num_frames": 4, "tubelet_size": [2, 4, 4]}
    blocks = {f"visual.blocks.{k}.attn": both(counted("patch", 24)) for k in range(2)}
    words = {f"language_model.layers.{k}.self_attn": both(SEEN) for k in range(2)}
    told: dict[str, Any] = {"tokens": SEEN, "ask": look, "right": blocks | words}
    told |= {"kinds": dict.fromkeys(blocks, "vision") | dict.fromkeys(words, "decoder")}
    told |= {"grids": dict.fromkeys(blocks, (4, 6, 2)) | dict.fromkeys(words, NO_GRID)}
    told |= {"positions": dict.fromkeys(words, (0, 0)), "weighs": list(words)}
    return [
        Drawn(  # windows of 4 × 4 of its patches, then all of them in the order of windows
            "muse_glimmer_vision",
            lambda: made("muse_glimmer_vision", glimmer, way),
            tower((1, 4, 6)),
            None,
            {
                "layers.0.attn": both(counted("place", 16)),
                "layers.0.attn#1": both(counted("place", 8)),
                "layers.1.attn": both(counted("place", 24)),
            },
            {"layers.0.attn": "vision"},
            grids={"layers.0.attn": NO_GRID, "layers.1.attn": NO_GRID},
        ),
        Drawn(
            "glm4v_moe",
            lambda: talking("glm4v_moe", way, glm, TURNED | {"image_size": 16}),
            **told,
        ),
        Drawn(
            "pp_ocrv5_server_rec, its base model",
            lambda: lines(way, AutoModel),
            image(3, 48, 64),
            None,
            {},
            refused=messages.NO_ATTENTION_AT_ALL.format(kind="PPOCRV5ServerRecModel"),
        ),
        Drawn(  # a line of text as columns of what convolutions made of it
            "pp_ocrv5_server_rec, for text",
            lambda: lines(way),
            image(3, 48, 64),
            None,
            {f"head.encoder.svtr_block.{k}.self_attn": both(counted("patch", 4)) for k in (0, 1)},
            {"head.encoder.svtr_block.0.self_attn": "vision"},
            grids={"head.encoder.svtr_block.0.self_attn": NO_GRID},
        ),
        Drawn("cosmos3_omni", lambda: talking("cosmos3_omni", way, qwen, deep), **told),
        Drawn(
            "ijepa",
            lambda: made("ijepa", VIT, way),
            image(3, 8, 8),
            None,
            {"layers.0.attention": both(counted("patch", 4))},
            {"layers.0.attention": "vision"},
            grids={"layers.0.attention": (2, 2, 1)},
            weighs=["layers.0.attention"],
        ),
        Drawn(
            "chameleon",
            lambda: chameleon(way),
            look_at_codes,
            S,
            {f"layers.{k}.self_attn": both(S) for k in range(2)},
            {"layers.0.self_attn": "decoder"},
            {"layers.0.self_attn": (0, 0)},
            missed=["vqmodel.encoder.mid.attn_1"],
            weighs=[f"layers.{k}.self_attn" for k in range(2)],
        ),
        Drawn(
            "dinov3_convnext",
            lambda: made("dinov3_convnext", {"hidden_sizes": [4, 8], "depths": [1, 1]}, "eager"),
            image(3, 32, 32),
            None,
            {},
            refused=messages.NO_ATTENTION_AT_ALL.format(kind="DINOv3ConvNextModel"),
        ),
        Drawn(  # a video of two frames, and a picture
            "qwen3_5_vision",
            lambda: made("qwen3_5_vision", TURNED | {"num_position_embeddings": 16}, way),
            tower((2, 4, 4), (1, 2, 4)),
            None,
            {
                "blocks.0.attn": both(counted("patch", 16)),
                "blocks.0.attn#1": both(counted("patch", 16)),
                "blocks.1.attn#2": both(counted("patch", 8)),
            },
            {"blocks.0.attn": "vision"},
            grids={"blocks.0.attn#1": (4, 4, 2), "blocks.1.attn#2": (2, 4, 2)},
        ),
        Drawn(
            "qwen3_vl_moe",
            lambda: talking("qwen3_vl_moe", way, qwen | EXPERTS, deep),
            **told,
        ),
        Drawn(
            "qwen3_vl_moe, generate with two pictures",
            lambda: talking("qwen3_vl_moe", way, qwen | EXPERTS, deep, Answering),
            answer,
            ANSWER[:12],
            {
                "model.visual.blocks.0.attn": both(counted("patch", 24)),
                "model.visual.blocks.0.attn#1": both(counted("patch", 8)),
                "model.language_model.layers.1.self_attn": both(ANSWER[:10]),
                "model.language_model.layers.1.self_attn#2": f"a12 | {' '.join(ANSWER[:12])}",
            },
            {"model.visual.blocks.0.attn": "vision"}
            | {"model.language_model.layers.1.self_attn": "decoder"},
            {"model.language_model.layers.1.self_attn#2": (11, 0)},
            layers=["model.visual.blocks.0.attn", "model.language_model.layers.1.self_attn"],
            grids={
                "model.visual.blocks.0.attn": (4, 6, 2),
                "model.visual.blocks.0.attn#1": (2, 4, 2),
            },
            options={"layers": ["visual.blocks.0", "language_model.layers.1"]},
        ),
        Drawn(
            "qwen3_5 with a picture, one layer of linear attention",
            lambda: talking("qwen3_5", way, hybrid, TURNED | {"num_position_embeddings": 16}),
            look,
            SEEN,
            {"visual.blocks.0.attn": both(counted("patch", 24))}
            | {"visual.blocks.1.attn": both(counted("patch", 24))}
            | {"language_model.layers.1.self_attn": both(SEEN)},
            {"visual.blocks.0.attn": "vision", "language_model.layers.1.self_attn": "decoder"},
            {"language_model.layers.1.self_attn": (0, 0)},
            missed=[
                "language_model.layers 0: linear attention, no weights",
                messages.GATE_OR_NORM.format(names="language_model.layers 1"),
            ],
            grids={"visual.blocks.1.attn": (4, 6, 2)},
            weighs=["language_model.layers.1.self_attn"],
        ),
        Drawn(
            "videomae",
            lambda: made("videomae", VIT | {"num_frames": 4}, way),
            image(4, 3, 8, 8),
            None,
            {"encoder.layer.0.attention.attention": both(counted("patch", 8))},
            {"encoder.layer.0.attention.attention": "vision"},
            grids={"encoder.layer.0.attention.attention": NO_GRID},
            weighs=["encoder.layer.0.attention.attention"],
        ),
        Drawn(
            "vivit",
            lambda: made("vivit", clip, way),
            image(4, 3, 8, 8),
            None,
            {"layers.0.attention": both(counted("patch", 8, "[CLS]"))},
            {"layers.0.attention": "vision"},
            grids={"layers.0.attention": NO_GRID},
            weighs=["layers.0.attention"],
        ),
    ]


def of_others() -> list[Drawn]:
    """Models of timm and diffusers, and one of transformers with code of its own."""
    registers = counted("patch", 4, "[CLS]", "register·0", "register·1")
    places, prompt = counted("place", 16), [f"p{k}" for k in range(1, 7)]
    joint = counted("place", 16) + counted("text", 5), counted("text", 5) + counted("place", 16)
    small = {"img_size": 32, "embed_dim": 16, "num_heads": 4, "depth": 2}
    return [
        Drawn(
            "timm ViT",
            lambda: from_timm("vit_tiny_patch16_224", **small),
            image(3, 32, 32),
            None,
            {f"blocks.{k}.attn": both(counted("patch", 4, "[CLS]")) for k in range(2)},
            {"blocks.0.attn": "vision"},
            grids={"blocks.0.attn": (2, 2, 1)},
            weighs=["blocks.0.attn", "blocks.1.attn"],
        ),
        Drawn(
            "timm ViT with registers",
            lambda: from_timm("vit_tiny_patch16_224", **small, reg_tokens=2),
            image(3, 32, 32),
            None,
            {f"blocks.{k}.attn": both(registers) for k in range(2)},
            {"blocks.0.attn": "vision"},
            grids={"blocks.0.attn": (2, 2, 1)},
            weighs=["blocks.0.attn", "blocks.1.attn"],
        ),
        Drawn(  # its other layers mix heads by code of their own
            "timm CaiT, class attention",
            lambda: from_timm("cait_xxs24_224", **small),
            image(3, 32, 32),
            None,
            {
                f"blocks_token_only.{k}.attn": sides(["[CLS]"], counted("patch", 4, "[CLS]"))
                for k in range(2)
            },
            {"blocks_token_only.0.attn": "vision"},
            missed=["blocks.0.attn", "blocks.1.attn"],
            grids={"blocks_token_only.0.attn": (2, 2, 1)},
            weighs=["blocks_token_only.0.attn", "blocks_token_only.1.attn"],
        ),
        Drawn(  # 8 × 8 patches in windows of 4 × 4, then 4 × 4 patches, which are one window
            "timm Swin, fused",
            lambda: swin(True),
            image(3, 32, 32),
            None,
            {
                "layers.0.blocks.0.attn#0.3": both(counted("place", 16)),
                "layers.0.blocks.1.attn#0.3": both(counted("place", 16)),
                "layers.1.blocks.0.attn": both(counted("place", 16)),
            },
            {"layers.0.blocks.0.attn": "vision"},
            grids={"layers.0.blocks.0.attn": NO_GRID, "layers.1.blocks.0.attn": NO_GRID},
            weighs=[f"layers.{k}.blocks.{j}.attn" for k, j in ((0, 0), (0, 1), (1, 0))],
        ),
        Drawn(
            "timm Swin",
            lambda: swin(False),
            image(3, 32, 32),
            None,
            {},
            refused=messages.NO_KNOWN_DOOR.format(
                names="layers.0.blocks.0.attn, layers.0.blocks.1.attn, layers.1.blocks.0.attn",
                hint=messages.SET_TIMM_FUSED,
            ),
        ),
        Drawn(
            "diffusers UNet with a prompt",
            unet,
            denoise,
            {"attn2": prompt},
            {
                f"down_blocks.0.attentions.0.transformer_blocks.0.{name}": right
                for name, right in (("attn1", both(places)), ("attn2", sides(places, prompt)))
            },
            {
                "down_blocks.0.attentions.0.transformer_blocks.0.attn1": "vision",
                "down_blocks.0.attentions.0.transformer_blocks.0.attn2": "cross",
            },
            layers=[
                f"{block}.transformer_blocks.0.attn{k}"
                for block in (
                    "down_blocks.0.attentions.0",
                    "mid_block.attentions.0",
                    "up_blocks.0.attentions.0",
                    "up_blocks.0.attentions.1",
                )
                for k in (1, 2)
            ],
        ),
        Drawn(
            "diffusers SD3",
            sd3,
            denoise_sd3,
            None,
            {f"transformer_blocks.{k}.attn": both(joint[0]) for k in range(2)},
            {"transformer_blocks.0.attn": "vision"},
            grids={"transformer_blocks.0.attn": NO_GRID},
        ),
        Drawn(
            "diffusers Flux",
            flux,
            denoise_flux,
            None,
            {
                "transformer_blocks.0.attn": both(joint[1]),
                "single_transformer_blocks.0.attn": both(joint[1]),
            },
            {"single_transformer_blocks.0.attn": "vision"},
        ),
        Drawn(
            "timesformer",
            lambda: made("timesformer", VIT | {"num_frames": 4}, "eager"),
            image(4, 3, 8, 8),
            None,
            {},
            refused=messages.NO_KNOWN_DOOR.format(
                names="encoder.layer.0.temporal_attention.attention,"
                " encoder.layer.0.attention.attention",
                hint="",
            ),
        ),
    ]


# ---- the table -----------------------------------------------------------------------------------


@torch.no_grad()
def own_weights(case: Drawn) -> dict[str, Any]:
    """What the model, made once more with plain attention, returns as its attentions; in timm what
    its modules give to their dropout.
    """
    if case.plain is None or not case.weighs:
        return {}
    model, found = case.plain(), dict[str, Any]()
    for name in case.weighs:
        if dropout := getattr(model.get_submodule(name), "attn_drop", None):
            dropout.register_forward_pre_hook(lambda _, args, at=name: found.update({at: args[0]}))
    if any(hasattr(model.get_submodule(name), "attn_drop") for name in case.weighs):
        case.ask(model)
        return {name: found[name] for name in case.weighs}
    answer = case.ask(model, output_attentions=True)
    return dict(zip(case.weighs, answer.attentions, strict=True))


def weights(case: Drawn, taken: Any) -> str:
    """How far captured weights are from the model's own; where it has none, what verify says."""
    proof = attention.verify(taken)
    said = "verified" if proof.agrees else f"WRONG: {proof}"
    apart = [
        float(np.abs(call_of(taken, module)[0].trace().weights - theirs.numpy()).max())
        for module, theirs in own_weights(case).items()
    ]
    if apart and max(apart) > CLOSE:
        said = "WRONG"
    return f"{said}; own {max(apart):.0e} in {len(apart)}" if apart else said


def wrong_grids(case: Drawn, taken: Any) -> list[str]:
    wrong = []
    for place, right in case.grids.items():
        call, _ = call_of(taken, place)
        found = (*call.grid, call.grid_block) if call.grid else None
        wrong += [f"{place}: {found} for {right}"] if found != right else []
    return wrong


def outcome(case: Drawn) -> list[str]:
    """Whether layers, labels with grids, positions and what is missed are right, and weights; of a
    model that is refused whether the sentence is.
    """
    try:
        taken, told = captured(case)
    except ValueError as error:
        return ["refused, right" if str(error) == case.refused else f"REFUSED: {error}"]
    found = [wrong_layers(case, taken), wrong_labels(case, taken) + wrong_grids(case, taken)]
    found += [wrong_positions(case, taken, told)]
    missed = taken.missed + taken.not_run
    found += [[] if missed == case.missed else [f"{missed} for {case.missed}"]]
    return ["right" if not each else "; ".join(each) for each in found] + [weights(case, taken)]


def row(case: Drawn, way: str) -> str:
    said = outcome(case)
    return f"| {' | '.join([case.name, way, *said, *[''] * (5 - len(said))])} |"


def cases(way: str) -> list[Drawn]:
    """The types of transformers with one of its implementations, each next to eager attention."""
    found = of_transformers(way)
    for case, eager in zip(found, of_transformers("eager"), strict=True):
        case.plain = eager.make
    return found


def other_cases() -> list[Drawn]:
    """The other models, those of timm next to plain attention."""
    found = of_others()
    for case in found:
        case.plain = unfused(case.make)
    return found


def table() -> str:
    rows = ["| model | | layers | labels, grids | positions | missed | weights |", "|---" * 7 + "|"]
    rows += [row(case, way) for way in WAYS for case in cases(way)]
    rows += [row(case, "") for case in other_cases()]
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
