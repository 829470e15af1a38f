"""Small models whose tokens are known, each with the right labels written out by hand.

``PYTHONPATH=.:tests python tests/models/labelled.py`` prints, for each model, whether the layers
and heads, the labels and the positions of its capture are right, and what the page shows. Needs
torch, transformers and peft.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from models.families import BART, GPT, SHARED, SMALL, T5, VIT, made
from torch import nn
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

import attention
from attention.models.labels import positions_of, words_of

SOURCE = torch.tensor([[3, 4, 5, 6, 3, 7]])
TARGET = SOURCE[:, :4]
LEFT = torch.tensor([[3, 4, 5, 6, 3, 7], [0, 0, 3, 4, 5, 6]])
S, T = [f"s{k}" for k in range(1, 7)], [f"t{k}" for k in range(1, 5)]
ANSWER = [f"a{k}" for k in range(1, 17)]  # of a prompt and what was generated
GREEDY = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0}


@dataclass
class Case:
    """A model, how it is asked, and what is right beside its weights."""

    name: str
    make: Callable[[], Any]
    ask: Callable[[Any], Any]
    tokens: Any
    right: dict[str, str]  # "name#call.item": "labels of queries | of keys"
    kinds: dict[str, str] = field(default_factory=dict)  # by module
    positions: dict[str, tuple[int | None, int | None]] = field(default_factory=dict)
    layers: list[str] = field(default_factory=list)  # the modules, in their order; [] as in right
    heads: int = 4
    options: dict[str, Any] = field(default_factory=dict)
    own: str = ""  # a module that is given the positions of the queries, to compare with
    note: str = ""  # what is said of words that stand nowhere


def generate(ids: Any = SOURCE, new: int = 4, **options: Any) -> Callable[[Any], Any]:
    return lambda model: model.generate(ids, max_new_tokens=new, **GREEDY | options)


def both(words: list[str]) -> str:
    return f"{' '.join(words)} | {' '.join(words)}"


def counted(noun: str, count: int, *special: str) -> list[str]:
    return [*special, *(f"{noun}·{k}" for k in range(count))]


def whisper() -> Any:
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "vocab_size": 11}
    sizes |= {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_mel_bins": 4}
    sizes |= {"encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "max_source_positions": 5}
    sizes |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    return made("whisper", sizes, "sdpa")


def llava() -> Any:
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaModel

    tower = CLIPVisionConfig(**VIT | {"num_hidden_layers": 2})
    text = LlamaConfig(**SHARED)
    config = LlavaConfig(
        vision_config=tower, text_config=text, image_token_index=9, vision_feature_layer=-1
    )
    torch.manual_seed(0)
    return LlavaModel(config).eval()


def tuned(kind: str) -> Any:
    import peft

    model = made("gpt2", GPT, "sdpa", AutoModelForCausalLM)
    config = peft.PrefixTuningConfig if kind == "prefix" else peft.PromptTuningConfig
    return peft.get_peft_model(model, config(task_type="CAUSAL_LM", num_virtual_tokens=3)).eval()


class VisionWindows(nn.Module):
    """Attention in windows with the axes that timm's Hiera hands over: items, heads, windows,
    tokens, columns.
    """

    def __init__(self, heads: int, says: bool = True) -> None:
        super().__init__()
        self.qkv, self.count = nn.Linear(8, 24), heads
        if says:
            self.num_heads = heads

    def forward(self, x: Any) -> Any:  # (items, windows · 4, 8)
        b = len(x)
        qkv = self.qkv(x).reshape(b, 4, -1, 3, self.count, 8 // self.count)
        Q, K, V = qkv.permute(3, 0, 4, 2, 1, 5)
        return nn.functional.scaled_dot_product_attention(Q, K, V)


def windows(heads: int, says: bool = True) -> Callable[[], Any]:
    def make() -> Any:
        torch.manual_seed(0)
        return nn.Sequential(VisionWindows(heads, says))

    return make


def encoder_layer() -> Any:
    torch.manual_seed(0)
    return nn.TransformerEncoderLayer(16, 4, 8, batch_first=True).eval()


def two_berts() -> Any:
    from transformers import BertConfig, EncoderDecoderConfig, EncoderDecoderModel

    decoder = BertConfig(is_decoder=True, add_cross_attention=True, **SMALL)
    join = EncoderDecoderConfig.from_encoder_decoder_configs
    torch.manual_seed(0)
    return EncoderDecoderModel(join(BertConfig(**SMALL), decoder)).eval()


def detr() -> Any:
    from transformers import DetrConfig, DetrModel, ResNetConfig

    stem = {"embedding_size": 4, "hidden_sizes": [4, 8], "depths": [1, 1]}
    backbone = ResNetConfig(out_features=["stage2"], **stem)
    sizes = {name: size for name, size in BART.items() if name != "vocab_size"}
    torch.manual_seed(0)
    whole = DetrConfig(use_timm_backbone=False, backbone_config=backbone, num_queries=3, **sizes)
    return DetrModel(whole).eval()


def sam() -> Any:
    """Its tower's first layer has windows of 2 × 2 of its 4 × 4 patches, its second has none."""
    from transformers import (
        SamConfig,
        SamMaskDecoderConfig,
        SamModel,
        SamPromptEncoderConfig,
        SamVisionConfig,
    )

    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "mlp_dim": 8}
    picture = {"image_size": 32, "patch_size": 8}
    tower = picture | {"output_channels": 16, "window_size": 2, "num_pos_feats": 8}
    torch.manual_seed(0)
    config = SamConfig(
        vision_config=SamVisionConfig(**sizes, **tower, global_attn_indexes=[1]),
        prompt_encoder_config=SamPromptEncoderConfig(
            hidden_size=16, mask_input_channels=4, **picture
        ),
        mask_decoder_config=SamMaskDecoderConfig(
            **sizes | {"num_hidden_layers": 1}, iou_head_hidden_dim=8
        ),
    )
    return SamModel(config).eval()


def segformer() -> Any:
    from transformers import SegformerConfig, SegformerModel

    stages = {"depths": [1, 1], "hidden_sizes": [8, 16], "num_attention_heads": [2, 2]}
    stages |= {"sr_ratios": [4, 1], "patch_sizes": [7, 3], "strides": [4, 2], "mlp_ratios": [2, 2]}
    torch.manual_seed(0)
    return SegformerModel(SegformerConfig(num_encoder_blocks=2, **stages)).eval()


SAM_QUERIES, SAM_PATCHES = counted("query", 8), counted("patch", 16)
CASES = [
    Case(
        "BERT",
        lambda: made("bert", SMALL, "sdpa"),
        lambda model: model(SOURCE),
        S,
        {"encoder.layer.0.attention.self": both(S), "encoder.layer.1.attention.self": both(S)},
        {"encoder.layer.1.attention.self": "encoder"},
        own="embeddings.position_embeddings",
    ),
    Case(
        "GPT-2, generate with a cache",
        lambda: made("gpt2", GPT, "sdpa", AutoModelForCausalLM),
        generate(),
        ANSWER[:10],
        {
            "transformer.h.1.attn": both(ANSWER[:6]),
            "transformer.h.1.attn#1": f"a7 | {' '.join(ANSWER[:7])}",
            "transformer.h.1.attn#3": f"a9 | {' '.join(ANSWER[:9])}",
        },
        {"transformer.h.1.attn": "decoder"},
        {"transformer.h.1.attn#3": (8, 0)},
        options={"layers": [1]},
        layers=["transformer.h.1.attn"],
        own="transformer.wpe",
    ),
    Case(
        "GPT-2, prompt lookup, three candidates rejected",
        lambda: made("gpt2", GPT, "sdpa", AutoModelForCausalLM),
        generate(torch.tensor([[5, 6, 7, 5, 6, 7, 5, 6]]), new=4, prompt_lookup_num_tokens=3),
        ANSWER[:12],
        {
            "transformer.h.0.attn": both(
                [*ANSWER[:8], "candidate·1", "candidate·2", "candidate·3"]
            ),
            "transformer.h.0.attn#1": f"a9 | {' '.join(ANSWER[:9])}",
        },
        positions={"transformer.h.0.attn#1": (8, 0)},
        layers=[f"transformer.h.{k}.attn" for k in range(2)],
        own="transformer.wpe",
    ),
    Case(
        "BART",
        lambda: made("bart", BART, "sdpa"),
        lambda model: model(SOURCE, decoder_input_ids=TARGET),
        {"encoder": S, "decoder": T},
        {
            "encoder.layers.0.self_attn": both(S),
            "decoder.layers.0.self_attn": both(T),
            "decoder.layers.0.encoder_attn": f"{' '.join(T)} | {' '.join(S)}",
        },
        {"encoder.layers.0.self_attn": "encoder", "decoder.layers.0.self_attn": "decoder"}
        | {"decoder.layers.0.encoder_attn": "cross"},
    ),
    Case(
        "BART, one list",
        lambda: made("bart", BART, "sdpa"),
        lambda model: model(SOURCE, decoder_input_ids=TARGET),
        S,
        {
            "encoder.layers.0.self_attn": both([f"w{k}" for k in range(1, 7)]),
            "decoder.layers.0.encoder_attn": "q1 q2 q3 q4 | k1 k2 k3 k4 k5 k6",
        },
        layers=["encoder.layers.0.self_attn", "decoder.layers.0.self_attn"]
        + ["decoder.layers.0.encoder_attn"],
        note='tokens={"encoder": …, "decoder": …}',
    ),
    Case(
        "T5, generate",
        lambda: made("t5", T5, "sdpa", AutoModelForSeq2SeqLM),
        generate(new=3),
        {"encoder": S, "decoder": T},
        {
            "encoder.block.0.layer.0.SelfAttention": both(S),
            "decoder.block.0.layer.0.SelfAttention#2": "t3 | t1 t2 t3",
            "decoder.block.0.layer.1.EncDecAttention": f"t1 | {' '.join(S)}",
            "decoder.block.0.layer.1.EncDecAttention#2": f"t3 | {' '.join(S)}",
        },
        {"decoder.block.0.layer.1.EncDecAttention": "cross"},
        {"decoder.block.0.layer.1.EncDecAttention#2": (2, 0)},
        layers=["encoder.block.0.layer.0.SelfAttention"]
        + ["decoder.block.0.layer.0.SelfAttention", "decoder.block.0.layer.1.EncDecAttention"],
    ),
    Case(
        "Whisper",
        whisper,
        lambda model: model(torch.randn(1, 4, 10), decoder_input_ids=TARGET),
        T,
        {
            "encoder.layers.0.self_attn": both(counted("frame", 5)),
            "decoder.layers.0.self_attn": both(T),
            "decoder.layers.0.encoder_attn": f"{' '.join(T)} | {' '.join(counted('frame', 5))}",
        },
        {"encoder.layers.0.self_attn": "audio", "decoder.layers.0.encoder_attn": "cross"},
    ),
    Case(
        "LLaVA-like",
        llava,
        lambda model: model(
            torch.tensor([[1, 9, 9, 9, 9, 3]]), pixel_values=torch.randn(1, 3, 8, 8)
        ),
        ["<s>", *["<image>"] * 4, "cat"],
        {
            "vision_tower.encoder.layers.0.self_attn": both(counted("patch", 4, "[CLS]")),
            "language_model.layers.1.self_attn": both(["<s>", *["<image>"] * 4, "cat"]),
        },
        {"vision_tower.encoder.layers.0.self_attn": "vision"}
        | {"language_model.layers.1.self_attn": "decoder"},
        layers=[f"vision_tower.encoder.layers.{k}.self_attn" for k in range(2)]
        + [f"language_model.layers.{k}.self_attn" for k in range(2)],
        own="language_model.rotary_emb",
    ),
    Case(
        "ViT",
        lambda: made("vit", VIT, "sdpa"),
        lambda model: model(torch.randn(1, 3, 8, 8)),
        None,
        {"layers.0.attention": both(counted("patch", 4, "[CLS]"))},
        {"layers.0.attention": "vision"},
    ),
    Case(
        "prefix tuning",
        lambda: tuned("prefix"),
        lambda model: model(SOURCE),
        S,
        {
            "base_model.transformer.h.0.attn": f"{' '.join(S)} | virtual·1 virtual·2 virtual·3"
            f" {' '.join(S)}"
        },
        positions={"base_model.transformer.h.0.attn": (0, -3)},
        options={"layers": [0]},
    ),
    Case(
        "soft prompt",
        lambda: tuned("prompt"),
        lambda model: model(SOURCE),
        S,
        {"base_model.transformer.h.0.attn": both(["virtual·1", "virtual·2", "virtual·3", *S])},
        positions={"base_model.transformer.h.0.attn": (-3, -3)},
        options={"layers": [0]},
    ),
    Case(
        "Mistral, window of 4, prompt of 2",
        lambda: made("mistral", SHARED | {"sliding_window": 4}, "sdpa", AutoModelForCausalLM),
        generate(SOURCE[:, :2], new=8),
        ANSWER[:10],
        {
            "model.layers.0.self_attn#1": "a3 | a1 a2 a3",
            "model.layers.0.self_attn#3": "a5 | a2 a3 a4 a5",
            "model.layers.0.self_attn#5": "a7 | a4 a5 a6 a7",
        },
        positions={"model.layers.0.self_attn#5": (6, 3)},
        layers=["model.layers.0.self_attn", "model.layers.1.self_attn"],
        own="model.rotary_emb",
    ),
    Case(
        "Mistral, window of 4, prompt of 12",
        lambda: made("mistral", SHARED | {"sliding_window": 4}, "sdpa", AutoModelForCausalLM),
        generate(SOURCE.repeat(1, 2), new=3),
        ANSWER[:15],
        {
            "model.layers.1.self_attn": both(ANSWER[:12]),
            "model.layers.1.self_attn#1": "a13 | a10 a11 a12 a13",
            "model.layers.1.self_attn#2": "a14 | a11 a12 a13 a14",
        },
        positions={"model.layers.1.self_attn#2": (13, 10)},
        layers=["model.layers.0.self_attn", "model.layers.1.self_attn"],
        own="model.rotary_emb",
    ),
    Case(
        "windows as Hiera's, two heads",
        windows(2),
        lambda model: model(torch.randn(3, 36, 8)),
        None,
        {"0#0.26": both(counted("place", 4))},
        {"0": "vision"},
        heads=2,
    ),
    Case(
        "windows as Hiera's, one head",
        windows(1),
        lambda model: model(torch.randn(1, 36, 8)),
        None,
        {"0#0.8": both(counted("place", 4))},
        heads=1,
    ),
    Case(
        "LLaMA, two items, padding on the left",
        lambda: made("llama", SHARED, "sdpa"),
        lambda model: model(LEFT, attention_mask=(LEFT > 0).long()),
        [S, ["<pad>", "<pad>", "b1", "b2", "b3", "b4"]],
        {
            "layers.0.self_attn": both(S),
            "layers.0.self_attn#0.1": both(["<pad>", "<pad>", "b1", "b2", "b3", "b4"]),
        },
        layers=["layers.0.self_attn", "layers.1.self_attn"],
    ),
    Case(
        "LLaMA, beams",
        lambda: made("llama", SHARED, "sdpa", AutoModelForCausalLM),
        generate(LEFT, new=2, num_beams=3, attention_mask=(LEFT > 0).long()),
        [S, ["<pad>", "<pad>", "b1", "b2", "b3", "b4"]],
        {
            "model.layers.0.self_attn#0.2": both(S),
            "model.layers.0.self_attn#0.3": both(["<pad>", "<pad>", "b1", "b2", "b3", "b4"]),
            "model.layers.0.self_attn#1.5": "w7 | <pad> <pad> b1 b2 b3 b4 w7",
        },
        options={"layers": [0]},
    ),
    Case(
        "two BERTs",
        two_berts,
        lambda model: model(SOURCE, decoder_input_ids=TARGET),
        {"encoder": S, "decoder": T},
        {
            "encoder.encoder.layer.0.attention.self": both(S),
            "decoder.bert.encoder.layer.1.attention.self": both(T),
            "decoder.bert.encoder.layer.1.crossattention.self": f"{' '.join(T)} | {' '.join(S)}",
        },
        {"decoder.bert.encoder.layer.1.crossattention.self": "cross"},
        layers=[f"encoder.encoder.layer.{k}.attention.self" for k in range(2)]
        + [
            f"decoder.bert.encoder.layer.{k}.{name}.self"
            for k in range(2)
            for name in ("attention", "crossattention")
        ],
    ),
    Case(
        "Speech2Text",
        lambda: made(
            "speech_to_text",
            BART | {"input_feat_per_channel": 4, "conv_channels": 8, "max_source_positions": 50},
            "eager",
        ),
        lambda model: model(torch.randn(1, 20, 4), decoder_input_ids=TARGET),
        T,
        {
            "encoder.layers.0.self_attn": both(counted("frame", 5)),
            "decoder.layers.0.self_attn": both(T),
            "decoder.layers.0.encoder_attn": f"{' '.join(T)} | {' '.join(counted('frame', 5))}",
        },
        {"encoder.layers.0.self_attn": "audio", "decoder.layers.0.self_attn": "decoder"},
    ),
    Case(
        "DINOv2 with registers",
        lambda: made("dinov2_with_registers", VIT | {"num_register_tokens": 2}, "sdpa"),
        lambda model: model(torch.randn(1, 3, 8, 8)),
        None,
        {
            "encoder.layer.0.attention": both(
                counted("patch", 4, "[CLS]", "register·0", "register·1")
            )
        },
        {"encoder.layer.0.attention": "vision"},
    ),
    Case(
        "DETR",
        detr,
        lambda model: model(torch.randn(1, 3, 32, 32)),
        None,
        {
            "encoder.layers.0.self_attn": both(counted("patch", 16)),
            "decoder.layers.0.self_attn": both(counted("query", 3)),
            "decoder.layers.0.encoder_attn": " | ".join(
                " ".join(counted(*each)) for each in (("query", 3), ("patch", 16))
            ),
        },
        {"encoder.layers.0.self_attn": "vision", "decoder.layers.0.self_attn": "decoder"},
    ),
    Case(  # five tokens of the decoder, two points and the one that SAM adds to points
        "SAM",
        sam,
        lambda model: model(
            pixel_values=torch.randn(1, 3, 32, 32),
            input_points=torch.tensor([[[[4.0, 5.0], [9.0, 7.0]]]]),
        ),
        None,
        {
            "vision_encoder.layers.0.attn#0.3": both(counted("place", 4)),
            "vision_encoder.layers.1.attn": both(SAM_PATCHES),
            "mask_decoder.transformer.layers.0.self_attn": both(SAM_QUERIES),
            "mask_decoder.transformer.layers.0.cross_attn_token_to_image": " | ".join(
                map(" ".join, (SAM_QUERIES, SAM_PATCHES))
            ),
            "mask_decoder.transformer.layers.0.cross_attn_image_to_token": " | ".join(
                map(" ".join, (SAM_PATCHES, SAM_QUERIES))
            ),
            "mask_decoder.transformer.final_attn_token_to_image": " | ".join(
                map(" ".join, (SAM_QUERIES, SAM_PATCHES))
            ),
        },
        {
            "vision_encoder.layers.1.attn": "vision",
            "mask_decoder.transformer.layers.0.self_attn": "decoder",
            "mask_decoder.transformer.layers.0.cross_attn_token_to_image": "cross",
            "mask_decoder.transformer.layers.0.cross_attn_image_to_token": "cross",
            "mask_decoder.transformer.final_attn_token_to_image": "cross",
        },
        heads=2,
    ),
    Case(  # 8 × 8 patches and 2 × 2 keys, each of 4 × 4 of them; then 4 × 4 of both
        "SegFormer",
        segformer,
        lambda model: model(torch.randn(1, 3, 32, 32)),
        None,
        {
            "stages.0.blocks.0.attention": " | ".join(
                " ".join(counted(*each)) for each in (("patch", 64), ("region", 4))
            ),
            "stages.1.blocks.0.attention": both(counted("patch", 16)),
        },
        {"stages.0.blocks.0.attention": "vision"},
        heads=2,
    ),
    Case(
        "nn.TransformerEncoderLayer",
        encoder_layer,
        lambda model: model(torch.randn(1, 6, 16)),
        S,
        {"self_attn": both(S)},
        {"self_attn": "encoder"},
    ),
]


def clip() -> Case:
    from transformers import CLIPConfig, CLIPModel

    def make() -> Any:
        torch.manual_seed(0)
        text = SMALL | {"eos_token_id": 7}
        config = CLIPConfig(text_config=text, vision_config=VIT, projection_dim=8)
        return CLIPModel(config).eval()

    return Case(
        "CLIP",
        make,
        lambda model: model(SOURCE, pixel_values=torch.randn(1, 3, 8, 8)),
        S,
        {
            "vision_model.encoder.layers.0.self_attn": both(counted("patch", 4, "[CLS]")),
            "text_model.encoder.layers.1.self_attn": both(S),
        },
        {"vision_model.encoder.layers.0.self_attn": "vision"}
        | {"text_model.encoder.layers.1.self_attn": "decoder"},
        layers=["vision_model.encoder.layers.0.self_attn"]
        + [f"text_model.encoder.layers.{k}.self_attn" for k in range(2)],
        own="text_model.embeddings.position_embedding",
    )


CASES.append(clip())


@torch.no_grad()
def captured(case: Case) -> tuple[Any, list[list[int]]]:
    """The capture, and the positions that the model gave to its queries, forward by forward."""
    model, told = case.make(), list[list[int]]()
    hook = None
    if case.own:
        module = model.get_submodule(case.own)
        hook = module.register_forward_pre_hook(
            lambda _, args, more: told.append((more.get("position_ids", args[-1]))[0].tolist()),
            with_kwargs=True,
        )
    torch.manual_seed(0)
    with attention.capture(model, tokens=case.tokens, **case.options) as taken:
        case.ask(model)
    if hook:
        hook.remove()
    return taken, told


def call_of(taken: Any, place: str) -> tuple[Any, int]:
    """The call and the item of "name#call.item"."""
    module, _, more = place.partition("#")
    number, _, item = more.partition(".")
    calls = [each for each in taken if each.module == module and each.call == int(number or 0)]
    assert calls, (place, [each.module for each in taken])
    return calls[0], int(item or 0)


def shown(labels: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    """Labels as they are written by hand above."""
    return " | ".join(" ".join(word.replace(" ", "·") for word in side) for side in labels)


def wrong_labels(case: Case, taken: Any) -> list[str]:
    found = {place: shown(words_of(taken, *call_of(taken, place))) for place in case.right}
    return [f"{k}: {found[k]} for {v}" for k, v in case.right.items() if found[k] != v]


def wrong_layers(case: Case, taken: Any) -> list[str]:
    names = list(dict.fromkeys(each.module for each in taken))
    wanted = case.layers or list(dict.fromkeys(place.split("#")[0] for place in case.right))
    wrong = [] if names == wanted else [f"{names} for {wanted}"]
    wrong += [f"{each.Q.shape} in {each.name}" for each in taken if each.Q.shape[1] != case.heads]
    kinds = {module: call_of(taken, module)[0].kind for module in case.kinds}
    return wrong + [f"{k} is {kinds[k]} for {v}" for k, v in case.kinds.items() if kinds[k] != v]


def wrong_positions(case: Case, taken: Any, told: list[list[int]]) -> list[str]:
    at = {place: positions_of(taken, call_of(taken, place)[0]) for place in case.positions}
    wrong = [f"{k} is at {at[k]} for {v}" for k, v in case.positions.items() if at[k] != v]
    module = next(reversed(case.right)).split("#")[0]
    calls = [each for each in taken if each.module == module] if told else []
    for call, own in zip(calls, told, strict=False):
        first = positions_of(taken, call)[0]
        if first is None or list(range(first, first + call.Q.shape[2])) != own:
            wrong.append(f"{call.name} begins at {first}, and the model says {own}")
    return wrong


def on_the_page(taken: Any) -> str:
    """What Real model says of the first and the last call."""
    calls = [taken.calls[0], taken.calls[-1]]
    return "; ".join(
        ", ".join(filter(None, (f"Layer {c.layer}", c.kind, c.module, c.when)))
        + f": {' '.join(words_of(taken, c, 0)[0][:3])}"
        for c in calls
    )


def table() -> str:
    rows = [
        "| model | layers and heads | labels | positions | the page shows |",
        "|---|---|---|---|---|",
    ]
    for case in CASES:
        taken, told = captured(case)
        found = wrong_layers(case, taken), wrong_labels(case, taken)
        found += (wrong_positions(case, taken, told),)
        said = ["right" if not each else "; ".join(each) for each in found]
        said[2] += ", as its own" if told and not found[2] else ""
        said[2] = said[2] if told or case.positions else "by its labels"
        rows.append(f"| {case.name} | {' | '.join(said)} | {on_the_page(taken)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
