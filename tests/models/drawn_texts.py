"""Types of text and sound that were drawn from transformers' list, each built tiny and captured.

``PYTHONPATH=.:tests python tests/models/drawn_texts.py`` prints, for each, how far its weights are
from the model's own, and whether labels, positions and what was missed are as written by hand.
Needs torch, transformers and x-transformers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import messages
import numpy as np
import torch
from models.families import LATENT, SHARED, SMALL, made
from models.labelled import (
    ANSWER,
    GREEDY,
    LEFT,
    SOURCE,
    TARGET,
    Case,
    S,
    T,
    both,
    call_of,
    captured,
    counted,
    wrong_labels,
    wrong_layers,
    wrong_positions,
)
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForSpeechSeq2Seq,
)

import attention

WAYS = ("sdpa", "eager")
MOST = 1e-4  # between weights of float32
GATED = messages.GATE_OR_NORM.format(names="")
LINEAR, STATES = ": linear attention, no weights", ": state space, no weights"


@dataclass
class Drawn(Case):
    """A case whose model is made for an implementation and is asked for its own weights too."""

    make: Callable[..., Any]  # with "sdpa" or "eager"
    ask: Callable[..., Any]  # with output_attentions=True too, where the model has them
    missed: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    grids: dict[str, Any] = field(default_factory=dict)  # by "name#call": (rows, columns), block
    refused: str = ""  # what follows "not captured: ", where nothing can be captured
    ways: tuple[str, ...] = WAYS
    returns: str = "output_attentions"  # the argument by which it returns its own weights, if any


def run(*args: Any, **inputs: Any) -> Callable[..., Any]:
    return lambda model, **more: model(*args, **inputs, **more)


def generate(*args: Any, new: int = 4, **options: Any) -> Callable[..., Any]:
    def ask(model: Any, **more: Any) -> Any:
        more |= {"return_dict_in_generate": True} if more else {}
        return model.generate(*args, max_new_tokens=new, **GREEDY | options | more)

    return ask


def of(kind: str, settings: dict[str, Any], auto: Any = AutoModel) -> Callable[..., Any]:
    return lambda way="sdpa": made(kind, settings, way, auto)


def cached(words: list[str], prompt: int, step: int, window: int = 99) -> str:
    """Labels of a step with a cache."""
    at = prompt + step
    return f"{words[at - 1]} | {' '.join(words[max(at - window, 0) : at])}"


# ---- configurations ------------------------------------------------------------------------------

TURNED = {"rope_type": "default", "rope_theta": 1e4}
COMPASS: dict[str, Any] = {
    "text_config": SHARED
    | {
        "layer_types": ["full_attention", "sliding_attention"],
        "sliding_window": 32,
        "rope_parameters": {
            name: TURNED | {"mrope_section": [1, 1, 0]}
            for name in ("full_attention", "sliding_attention")
        },
    },
    "vision_config": {"depth": 1, "hidden_size": 16, "num_heads": 4, "intermediate_size": 8}
    | {"patch_size": 4, "out_hidden_size": 16, "num_position_embeddings": 16}
    | {"deepstack_visual_indexes": [0], "rope_parameters": TURNED | {"rope_type": "axial"}},
    "image_token_id": 9,
    "video_token_id": 10,
    "vision_start_token_id": 7,
    "vision_end_token_id": 8,
}
ONE_PICTURE = torch.tensor([[7, 9, 9, 9, 9, 8, 3]])
TWO_PICTURES = torch.tensor([[7, 9, 9, 9, 9, 8, 7, 9, 9, 8, 3]])
ABOUT_ONE = ["<v>", *["<image>"] * 4, "</v>", "cat"]
ABOUT_TWO = [*ABOUT_ONE[:6], "<v>", *["<image>"] * 2, "</v>", "cat"]


def pictures(ids: Any, *grids: tuple[int, int]) -> dict[str, Any]:
    """Pixels of pictures of so many rows and columns of patches."""
    torch.manual_seed(0)
    return {
        "input_ids": ids,
        "mm_token_type_ids": (ids == 9).int(),
        "pixel_values": torch.randn(sum(r * c for r, c in grids), 3 * 2 * 4 * 4),
        "image_grid_thw": torch.tensor([[1, *grid] for grid in grids]),
    }


DBRX: dict[str, Any] = {"d_model": 16, "n_heads": 4, "n_layers": 2, "max_seq_len": 32}
DBRX |= {"vocab_size": 11}
# without rope_theta, which its checkpoints have, transformers 5.24 cannot build it
DBRX |= {"attn_config": {"kv_n_heads": 2, "clip_qkv": 1.0, "rope_theta": 1e4}}
DBRX |= {"ffn_config": {"ffn_hidden_size": 8, "moe_num_experts": 2}}
DORY: dict[str, Any] = SHARED | {"head_dim": 4, "num_hidden_layers": 3, "sliding_window": 4}
DORY |= {"n_input_layers": 1, "n_recurrent_layers": 1, "n_output_layers": 1}
DORY |= {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
WINDOWED = DORY | {"recurrent_kv_cache_mode": "last_loop"}
WINDOWED |= {"layer_types": ["full_attention", "sliding_attention", "full_attention"]}
XMOD = SMALL | {"languages": ["en_XX", "de_DE"], "default_language": "en_XX"}
REFORMER: dict[str, Any] = {"attn_layers": ["local", "lsh"], "attention_head_size": 4}
REFORMER |= {"hidden_size": 16, "num_attention_heads": 4, "feed_forward_size": 8}
REFORMER |= {"axial_pos_embds": False, "vocab_size": 11, "max_position_embeddings": 32}
REFORMER |= {"local_attn_chunk_length": 4, "lsh_attn_chunk_length": 4, "num_buckets": 2}
VOXTRAL: dict[str, Any] = {
    "audio_config": {"hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 1}
    | {"intermediate_size": 8, "num_mel_bins": 4, "sliding_window": 8, "head_dim": 4},
    "text_config": SHARED | {"sliding_window": 32, "head_dim": 4, "tie_word_embeddings": True},
    "default_num_delay_tokens": 1,
}
PARAKEET: dict[str, Any] = {"hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 2}
PARAKEET |= {"intermediate_size": 8, "subsampling_conv_channels": 4, "num_mel_bins": 16}
PARAKEET |= {"conv_kernel_size": 3}
UNISPEECH: dict[str, Any] = {"hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 2}
UNISPEECH |= {"intermediate_size": 8, "conv_dim": [8, 8], "conv_stride": [5, 2]}
UNISPEECH |= {"conv_kernel": [10, 3], "num_conv_pos_embeddings": 4}
UNISPEECH |= {"num_conv_pos_embedding_groups": 2}
MIMI: dict[str, Any] = {"model_type": "mimi", "hidden_size": 16, "num_filters": 4}
MIMI |= {"upsampling_ratios": [4, 2], "codebook_size": 8, "codebook_dim": 8, "num_quantizers": 2}
MIMI |= {"vector_quantization_hidden_dimension": 8, "num_hidden_layers": 1, "head_dim": 4}
MIMI |= {"num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 8}
MIMI |= {"upsample_groups": 16, "sampling_rate": 160}
KYUTAI: dict[str, Any] = {name: SMALL[name] for name in SMALL if name != "intermediate_size"}
KYUTAI |= {"codec_config": MIMI, "num_codebooks": 2, "codebook_vocab_size": 9, "ffn_dim": 8}
KYUTAI |= {"audio_bos_token_id": 8, "audio_pad_token_id": 29, "head_dim": 4}
NEXT: dict[str, Any] = SHARED | {"head_dim": 4, "num_hidden_layers": 3, "num_experts": 2}
NEXT |= {"layer_types": ["linear_attention", "full_attention", "linear_attention"]}
NEXT |= {"linear_key_head_dim": 4, "linear_value_head_dim": 4, "linear_num_key_heads": 2}
NEXT |= {"linear_num_value_heads": 4, "num_experts_per_tok": 1, "moe_intermediate_size": 8}
NEXT |= {"shared_expert_intermediate_size": 8}
JAMBA: dict[str, Any] = SHARED | {"num_hidden_layers": 4, "attn_layer_period": 2, "num_experts": 2}
JAMBA |= {"attn_layer_offset": 1, "num_experts_per_tok": 1, "mamba_d_state": 4}
KIMI = SMALL | LATENT | {"num_hidden_layers": 3, "mlp_layer_types": ["dense"] * 3}
KIMI |= {"layer_types": ["linear_attention", "linear_attention", "full_attention"]}
KIMI |= {"q_lora_rank": None, "linear_head_dim": 4, "linear_num_heads": 4}
BAMBA: dict[str, Any] = SHARED | {"num_hidden_layers": 3, "attn_layer_indices": [1]}
BAMBA |= {"mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 4, "mamba_chunk_size": 4}


def x_transformers(
    kind: str, wrapper: dict[str, Any] | None = None, **options: Any
) -> Callable[..., Any]:
    """TransformerWrapper around layers of a kind, which has weights of its own without flash."""

    def make(way: str = "sdpa") -> Any:
        import x_transformers as xt

        sizes = {"depth": 1, "heads": 4, "attn_dim_head": 4, "attn_flash": way == "sdpa"}
        torch.manual_seed(0)
        layers = getattr(xt, kind)(dim=16, **sizes | options)
        return xt.TransformerWrapper(
            num_tokens=11, max_seq_len=32, attn_layers=layers, **wrapper or {}
        ).eval()

    return make


def encoder_decoder(way: str = "sdpa", **options: Any) -> Any:
    from x_transformers import XTransformer

    each = {"num_tokens": 11, "depth": 1, "heads": 4, "attn_dim_head": 4, "max_seq_len": 16}
    each |= {"attn_flash": True}
    sides = {f"{side}_{name}": value for side in ("enc", "dec") for name, value in each.items()}
    torch.manual_seed(0)
    return XTransformer(dim=16, **sides | options).eval()


def beams(model: Any) -> Any:
    from x_transformers import AutoregressiveWrapper

    return AutoregressiveWrapper(model).beam_search(SOURCE, 3, beams=2)


def segments(model: Any, **more: Any) -> Any:
    """Ask two segments, of which the second looks back at the first: Transformer-XL's memories."""
    _, memories = model(SOURCE, return_mems=True)
    first = [model(SOURCE, **more)] if more else []  # for its weights
    return [*first, model(SOURCE, mems=memories, **more)]


def streamed(model: Any, **more: Any) -> Any:
    """Ask sound and tokens in two parts, with all caches."""
    torch.manual_seed(0)
    sound, kept, answers = torch.randn(1, 4, 48), dict[str, Any](), list[Any]()
    for part, columns in ((SOURCE[:, :4], sound[..., :32]), (SOURCE[:, 4:], sound[..., 32:])):
        answer = model(input_ids=part, input_features=columns, use_cache=True, **kept, **more)
        kept = {name: answer[name] for name in ("cache", "encoder_cache", "padding_cache")}
        answers.append(answer)
    return answers


# ---- cases ---------------------------------------------------------------------------------------

VISUAL, CODEC = "visual.blocks.0.attn", "codec_model.encoder.encoder_transformer.layers.0.self_attn"
ENCODED, DECODED = "encoder.attn_layers", "decoder.net.attn_layers"
CASES = [
    Drawn(
        "cohere_compass, two pictures",
        of("cohere_compass", COMPASS),
        run(**pictures(TWO_PICTURES, (4, 4), (2, 4))),
        ABOUT_TWO,
        {
            VISUAL: both(counted("patch", 16)),
            f"{VISUAL}#1": both(counted("patch", 8)),
            "language_model.layers.0.self_attn": both(ABOUT_TWO),
            "language_model.layers.1.self_attn": both(ABOUT_TWO),
        },
        {VISUAL: "vision", "language_model.layers.0.self_attn": "decoder"},
        grids={VISUAL: ((4, 4), 2), f"{VISUAL}#1": ((2, 4), 2)},
    ),
    Drawn(
        "cohere_compass, generate",
        of("cohere_compass", COMPASS, AutoModelForImageTextToText),
        generate(new=3, **pictures(ONE_PICTURE, (4, 4))),
        [*ABOUT_ONE, "a8", "a9"],
        {
            f"model.{VISUAL}": both(counted("patch", 16)),
            "model.language_model.layers.0.self_attn": both(ABOUT_ONE),
            "model.language_model.layers.1.self_attn#2": cached([*ABOUT_ONE, "a8", "a9"], 7, 2),
        },
        positions={"model.language_model.layers.1.self_attn#2": (8, 0)},
        layers=[f"model.{VISUAL}"]
        + [f"model.language_model.layers.{k}.self_attn" for k in range(2)],
        grids={f"model.{VISUAL}": ((4, 4), 2)},
    ),
    Drawn(
        "deepseek_v2, generate",
        of("deepseek_v2", SMALL | LATENT | {"num_experts_per_tok": 1}, AutoModelForCausalLM),
        generate(SOURCE),
        ANSWER[:10],
        {
            "model.layers.0.self_attn": both(ANSWER[:6]),
            "model.layers.0.self_attn#1": cached(ANSWER, 6, 1),
            "model.layers.0.self_attn#3": cached(ANSWER, 6, 3),
        },
        {"model.layers.0.self_attn": "decoder"},
        {"model.layers.0.self_attn#3": (8, 0)},
        own="model.rotary_emb",
    ),
    Drawn(
        "dpr, two items, padding on the left",
        of("dpr", SMALL),
        run(LEFT, attention_mask=(LEFT > 0).long()),
        [S, ["<pad>", "<pad>", "b1", "b2", "b3", "b4"]],
        {
            "question_encoder.bert_model.encoder.layer.0.attention.self": both(S),
            "question_encoder.bert_model.encoder.layer.1.attention.self#0.1": both(
                ["<pad>", "<pad>", "b1", "b2", "b3", "b4"]
            ),
        },
        {"question_encoder.bert_model.encoder.layer.0.attention.self": "encoder"},
    ),
    Drawn(
        "reformer, local and hashed attention",
        of("reformer", REFORMER),
        run(SOURCE),
        S,
        {},
        refused="encoder.layers.0.attention.self_attention,"
        " encoder.layers.1.attention.self_attention",
        ways=("eager",),
    ),
    Drawn(
        "dbrx, generate",
        of("dbrx", DBRX, AutoModelForCausalLM),
        generate(SOURCE),
        ANSWER[:10],
        {
            "transformer.blocks.0.norm_attn_norm.attn": both(ANSWER[:6]),
            "transformer.blocks.1.norm_attn_norm.attn#1": cached(ANSWER, 6, 1),
            "transformer.blocks.1.norm_attn_norm.attn#3": cached(ANSWER, 6, 3),
        },
        {"transformer.blocks.0.norm_attn_norm.attn": "decoder"},
        {"transformer.blocks.1.norm_attn_norm.attn#3": (8, 0)},
        own="transformer.rotary_emb",
    ),
    Drawn(  # layer 1 runs twice in each step, with a cache for each
        "dory, generate",
        of("dory", DORY, AutoModelForCausalLM),
        generate(SOURCE),
        ANSWER[:10],
        {
            "model.layers.0.self_attn": both(ANSWER[:6]),
            "model.layers.1.self_attn": both(ANSWER[:6]),
            "model.layers.1.self_attn#1": both(ANSWER[:6]),
            "model.layers.1.self_attn#2": cached(ANSWER, 6, 1),
            "model.layers.1.self_attn#3": cached(ANSWER, 6, 1),
            "model.layers.1.self_attn#6": cached(ANSWER, 6, 3),
            "model.layers.1.self_attn#7": cached(ANSWER, 6, 3),
            "model.layers.2.self_attn": both(ANSWER[:6]),
            "model.layers.2.self_attn#3": cached(ANSWER, 6, 3, 4),
        },
        {"model.layers.1.self_attn": "decoder"},
        {"model.layers.1.self_attn#7": (8, 0), "model.layers.2.self_attn#3": (8, 5)},
        missed=[f"model.layers 0–2{GATED}"],
    ),
    Drawn(  # the first pass through layer 1 reads the second's cache and writes none
        "dory, generate, one cache for both passes",
        of("dory", DORY | {"recurrent_kv_cache_mode": "last_loop"}, AutoModelForCausalLM),
        generate(SOURCE),
        ANSWER[:10],
        {
            "model.layers.0.self_attn": both(ANSWER[:6]),
            "model.layers.1.self_attn": both(ANSWER[:6]),
            "model.layers.1.self_attn#1": both(ANSWER[:6]),
            "model.layers.1.self_attn#2": cached(ANSWER, 6, 1),
            "model.layers.1.self_attn#3": cached(ANSWER, 6, 1),
            "model.layers.1.self_attn#6": cached(ANSWER, 6, 3),
            "model.layers.1.self_attn#7": cached(ANSWER, 6, 3),
            "model.layers.2.self_attn#3": cached(ANSWER, 6, 3, 4),
        },
        positions={
            "model.layers.1.self_attn#6": (8, 0),
            "model.layers.1.self_attn#7": (8, 0),
        },
        missed=[f"model.layers 0–2{GATED}"],
    ),
    Drawn(  # where its layers keep 4 keys too, which the cache does not hand to the first pass
        "dory, generate, one cache for both passes, windows, padding on the left",
        of("dory", WINDOWED, AutoModelForCausalLM),
        generate(LEFT, new=3, attention_mask=(LEFT > 0).long()),
        [ANSWER[:8], ["<pad>", "<pad>", *ANSWER[8:14]]],
        {
            "model.layers.1.self_attn#2": cached(ANSWER, 6, 1, 4),
            "model.layers.1.self_attn#3": cached(ANSWER, 6, 1, 4),
            "model.layers.1.self_attn#4.1": "a14 | a11 a12 a13 a14",
            "model.layers.1.self_attn#5.1": "a14 | a11 a12 a13 a14",
        },
        positions={f"model.layers.1.self_attn#{k}": (7, 4) for k in (4, 5)},
        layers=[f"model.layers.{k}.self_attn" for k in range(3)],
        missed=[f"model.layers 0–2{GATED}"],
    ),
    Drawn(
        "dory, prompt lookup, one of two candidates rejected",
        of("dory", DORY, AutoModelForCausalLM),
        generate(torch.tensor([[5, 6, 7, 5, 6, 7, 5, 6]]), new=3, prompt_lookup_num_tokens=2),
        ANSWER[:11],
        {
            f"model.layers.{layer}.self_attn": both([*ANSWER[:9], "candidate"])
            for layer in ("0", "1", "2")
        }
        | {"model.layers.1.self_attn#1": both([*ANSWER[:9], "candidate"])}
        | {f"model.layers.1.self_attn#{k}": cached(ANSWER, 9, 1) for k in (2, 3)},
        layers=[f"model.layers.{k}.self_attn" for k in range(3)],
        missed=[f"model.layers 0–2{GATED}"],
    ),
    Drawn(
        "dory, beams",
        of("dory", DORY, AutoModelForCausalLM),
        generate(SOURCE, new=3, num_beams=2),
        ANSWER[:8],
        {f"model.layers.1.self_attn#{k}.1": f"w7 | {' '.join(ANSWER[:6])} w7" for k in (2, 3)},
        layers=[f"model.layers.{k}.self_attn" for k in range(3)],
        missed=[f"model.layers 0–2{GATED}"],
    ),
    Drawn(
        "xmod",
        of("xmod", XMOD),
        run(SOURCE, lang_ids=torch.tensor([1])),
        S,
        {f"encoder.layer.{k}.attention.self": both(S) for k in range(2)},
        {"encoder.layer.0.attention.self": "encoder"},
    ),
    Drawn(
        "xmod as a decoder, generate",
        of("xmod", XMOD | {"is_decoder": True}, AutoModelForCausalLM),
        generate(SOURCE),
        ANSWER[:10],
        {
            "roberta.encoder.layer.0.attention.self": both(ANSWER[:6]),
            "roberta.encoder.layer.1.attention.self#3": cached(ANSWER, 6, 3),
        },
        {"roberta.encoder.layer.0.attention.self": "decoder"},
        {"roberta.encoder.layer.1.attention.self#3": (8, 0)},
    ),
    Drawn(  # 48 columns of sound, halved; four of these are added to each token
        "voxtral_realtime",
        of("voxtral_realtime", VOXTRAL),
        run(input_ids=SOURCE, input_features=torch.randn(1, 4, 48), use_cache=False),
        S,
        {
            "audio_tower.layers.0.self_attn": both(counted("frame", 24)),
            "language_model.layers.0.self_attn": both(S),
            "language_model.layers.1.self_attn": both(S),
        },
        {"audio_tower.layers.0.self_attn": "audio", "language_model.layers.1.self_attn": "decoder"},
    ),
    Drawn(  # of what was said before, the tower keeps 7 frames
        "voxtral_realtime, in two parts",
        of("voxtral_realtime", VOXTRAL),
        streamed,
        S,
        {
            "audio_tower.layers.0.self_attn": both(counted("frame", 16)),
            "audio_tower.layers.0.self_attn#1": " | ".join(
                " ".join(counted("frame", 24)[first:]) for first in (16, 9)
            ),
            "language_model.layers.0.self_attn": both(S[:4]),
            "language_model.layers.1.self_attn#1": f"s5 s6 | {' '.join(S)}",
        },
        positions={
            "audio_tower.layers.0.self_attn#1": (16, 9),
            "language_model.layers.1.self_attn#1": (4, 0),
        },
        layers=["audio_tower.layers.0.self_attn"]
        + [f"language_model.layers.{k}.self_attn" for k in range(2)],
    ),
    Drawn(
        "parakeet_encoder, two items, the second shorter",
        of("parakeet_encoder", PARAKEET),
        run(
            torch.randn(2, 40, 16),
            attention_mask=torch.arange(40) < torch.tensor([[40], [24]]),
        ),
        None,
        {
            "layers.0.self_attn": both(counted("frame", 5)),
            "layers.1.self_attn#0.1": both(counted("frame", 5)),
        },
        {"layers.0.self_attn": "audio"},
    ),
    Drawn(  # (100 − 10) / 5 + 1 = 19 columns, (19 − 3) / 2 + 1 = 9 of them
        "unispeech",
        of("unispeech", UNISPEECH),
        run(torch.randn(1, 100)),
        None,
        {f"encoder.layers.{k}.attention": both(counted("frame", 9)) for k in range(2)},
        {"encoder.layers.0.attention": "audio"},
    ),
    Drawn(  # each place: a text token and two of sound, of 16 samples, which the codec reads as 2
        "kyutai_speech_to_text, generate",
        of("kyutai_speech_to_text", KYUTAI, AutoModelForSpeechSeq2Seq),
        generate(input_values=torch.randn(1, 1, 64), new=4),
        ANSWER[:5],
        {
            "model.layers.0.self_attn": "a1 | a1",
            "model.layers.1.self_attn#3": "a4 | a1 a2 a3 a4",
            CODEC: both(counted("frame", 8)),
        },
        {"model.layers.0.self_attn": "decoder", CODEC: "audio"},
        {"model.layers.1.self_attn#3": (3, 0)},
        not_run=["codec_model.decoder.decoder_transformer.layers.0.self_attn"],
    ),
    Drawn(
        "qwen3_next, generate",
        of("qwen3_next", NEXT, AutoModelForCausalLM),
        generate(SOURCE),
        ANSWER[:10],
        {
            "model.layers.1.self_attn": both(ANSWER[:6]),
            "model.layers.1.self_attn#1": cached(ANSWER, 6, 1),
            "model.layers.1.self_attn#3": cached(ANSWER, 6, 3),
        },
        {"model.layers.1.self_attn": "decoder"},
        {"model.layers.1.self_attn#3": (8, 0)},
        own="model.rotary_emb",
        missed=[f"model.layers 0, 2{LINEAR}", f"model.layers 1{GATED}"],
    ),
    Drawn(
        "jamba, generate",
        of("jamba", JAMBA, AutoModelForCausalLM),
        generate(SOURCE),
        ANSWER[:10],
        {
            "model.layers.1.self_attn": both(ANSWER[:6]),
            "model.layers.3.self_attn#3": cached(ANSWER, 6, 3),
        },
        {"model.layers.1.self_attn": "decoder"},
        {"model.layers.3.self_attn#3": (8, 0)},
        missed=[f"model.layers 0, 2{STATES}"],
    ),
    Drawn(
        "bamba, generate",
        of("bamba", BAMBA, AutoModelForCausalLM),
        generate(SOURCE),
        ANSWER[:10],
        {
            "model.layers.1.self_attn": both(ANSWER[:6]),
            "model.layers.1.self_attn#3": cached(ANSWER, 6, 3),
        },
        {"model.layers.1.self_attn": "decoder"},
        {"model.layers.1.self_attn#3": (8, 0)},
        own="model.rotary_emb",
        missed=[f"model.layers 0, 2{STATES}"],
    ),
    Drawn(  # its softmax attention is of a class that is called KimiLinearAttention
        "kimi_linear, generate",
        of("kimi_linear", KIMI, AutoModelForCausalLM),
        generate(SOURCE),
        ANSWER[:10],
        {
            "model.layers.2.self_attn": both(ANSWER[:6]),
            "model.layers.2.self_attn#3": cached(ANSWER, 6, 3),
        },
        {"model.layers.2.self_attn": "decoder"},
        {"model.layers.2.self_attn#3": (8, 0)},
        missed=[f"model.layers 0–1{LINEAR}"],
    ),
    Drawn(
        "x-transformers, encoder",
        x_transformers("Encoder"),
        run(SOURCE),
        S,
        {"attn_layers.layers.0.1.attend": both(S)},
        {"attn_layers.layers.0.1.attend": "encoder"},
        ways=WAYS[:1],
        returns="return_attn",
    ),
    Drawn(
        "x-transformers, decoder, 2 memories as keys",
        x_transformers("Decoder", attn_num_mem_kv=2),
        run(SOURCE),
        S,
        {"attn_layers.layers.0.1.attend": f"{' '.join(S)} | memory·0 memory·1 {' '.join(S)}"},
        {"attn_layers.layers.0.1.attend": "decoder"},
        ways=WAYS[:1],
        returns="return_attn",
    ),
    Drawn(
        "x-transformers, encoder, 2 memories as tokens",
        x_transformers("Encoder", {"num_memory_tokens": 2}),
        run(SOURCE),
        S,
        {"attn_layers.layers.0.1.attend": both(["virtual·1", "virtual·2", *S])},
        {"attn_layers.layers.0.1.attend": "encoder"},
        ways=WAYS[:1],
        returns="return_attn",
    ),
    Drawn(
        "x-transformers, decoder, memories of the segment before",
        x_transformers("Decoder", {"max_mem_len": 6}, rotary_pos_emb=True, rotary_emb_dim=4),
        segments,
        ANSWER[:12],
        {
            "attn_layers.layers.0.1.attend": both(ANSWER[:6]),
            "attn_layers.layers.0.1.attend#1": " | ".join(
                map(" ".join, (ANSWER[6:12], ANSWER[:12]))
            ),
        },
        ways=WAYS[:1],
        returns="return_attn",
    ),
    Drawn(  # beams change places, so that only the prompt's words are known
        "x-transformers, decoder of two layers that are one, beams",
        x_transformers("Decoder", depth=2, weight_tie_layers=True),
        beams,
        ANSWER[:8],
        {
            "attn_layers.layers.0.1.attend#1": both(ANSWER[:6]),
            "attn_layers.layers.0.1.attend#4.1": f"w8 | {' '.join(ANSWER[:6])} w7 w8",
            "attn_layers.layers.0.1.attend#5.1": f"w8 | {' '.join(ANSWER[:6])} w7 w8",
        },
        {"attn_layers.layers.0.1.attend": "decoder"},
        {"attn_layers.layers.0.1.attend#5": (7, 0)},
        ways=WAYS[:1],
        returns="",
    ),
    Drawn(
        "x-transformers, encoder and decoder",
        encoder_decoder,
        run(SOURCE, TARGET),
        {"encoder": S, "decoder": T},
        {
            f"{ENCODED}.layers.0.1.attend": both(S),
            f"{DECODED}.layers.0.1.attend": both(T),
            f"{DECODED}.layers.1.1.attend": f"{' '.join(T)} | {' '.join(S)}",
        },
        {
            f"{ENCODED}.layers.0.1.attend": "encoder",
            f"{DECODED}.layers.0.1.attend": "decoder",
            f"{DECODED}.layers.1.1.attend": "cross",
        },
        ways=WAYS[:1],
        returns="",
    ),
    Drawn(  # as many words in both, which counts alone cannot tell apart
        "x-transformers, encoder and decoder of one length",
        encoder_decoder,
        run(SOURCE[:, :4], TARGET),
        {"encoder": S[:4], "decoder": T},
        {
            f"{ENCODED}.layers.0.1.attend": both(S[:4]),
            f"{DECODED}.layers.0.1.attend": both(T),
            f"{DECODED}.layers.1.1.attend": f"{' '.join(T)} | {' '.join(S[:4])}",
        },
        {f"{DECODED}.layers.1.1.attend": "cross"},
        ways=WAYS[:1],
        returns="",
    ),
    Drawn(
        "x-transformers, encoder and decoder, generate",
        encoder_decoder,
        lambda model: model.generate(SOURCE, TARGET[:, :1], 3),
        {"encoder": S, "decoder": T},
        {
            f"{ENCODED}.layers.0.1.attend": both(S),
            f"{DECODED}.layers.0.1.attend#2": "t3 | t1 t2 t3",
            f"{DECODED}.layers.1.1.attend#2": f"t3 | {' '.join(S)}",
        },
        {f"{DECODED}.layers.1.1.attend": "cross"},
        ways=WAYS[:1],
        returns="",
        layers=[f"{ENCODED}.layers.0.1.attend"]
        + [f"{DECODED}.layers.{k}.1.attend" for k in range(2)],
    ),
    Drawn(  # the encoder hands on what it read without its memories
        "x-transformers, encoder and decoder with memories",
        partial(encoder_decoder, enc_num_memory_tokens=2, dec_attn_num_mem_kv=1),
        run(SOURCE, TARGET),
        {"encoder": S, "decoder": T},
        {
            f"{ENCODED}.layers.0.1.attend": both(["virtual·1", "virtual·2", *S]),
            f"{DECODED}.layers.0.1.attend": f"{' '.join(T)} | memory·0 {' '.join(T)}",
            f"{DECODED}.layers.1.1.attend": f"{' '.join(T)} | memory·0 {' '.join(S)}",
        },
        {f"{DECODED}.layers.1.1.attend": "cross"},
        ways=WAYS[:1],
        returns="",
    ),
    Drawn(
        "x-transformers, decoder, a key of zeros and gates",
        x_transformers("Decoder", attn_add_zero_kv=True, attn_gate_values=True),
        run(SOURCE),
        S,
        {"attn_layers.layers.0.1.attend": f"{' '.join(S)} | memory·0 {' '.join(S)}"},
        {"attn_layers.layers.0.1.attend": "decoder"},
        ways=WAYS[:1],
        returns="return_attn",
        missed=[f"attn_layers.layers 0{GATED}"],
    ),
    Drawn(
        "x-transformers, CrossAttender",
        x_transformers("CrossAttender"),
        run(SOURCE, context=torch.randn(1, 4, 16)),
        {"attn_layers": S, "attend": T},
        {"attn_layers.layers.0.1.attend": " | ".join(map(" ".join, (S, T)))},
        {"attn_layers.layers.0.1.attend": "cross"},
        ways=WAYS[:1],
        returns="return_attn",
    ),
]


# ---- comparing -----------------------------------------------------------------------------------


def maps_in(given: Any, name: str = "") -> Iterator[np.ndarray]:
    """Weights (b, h, n_q, n_k) in what a model answers."""
    if isinstance(given, dict):
        for key, each in given.items():
            yield from maps_in(each, str(key))
    elif isinstance(given, (tuple, list)):
        for each in given:
            yield from maps_in(each, name)
    elif "attentions" in name and getattr(given, "ndim", 0) == 4:
        yield given.numpy()


@torch.no_grad()
def weights(case: Drawn, taken: Any) -> str:
    """How far the weights of a capture are from the model's own, else from its outputs."""
    own: list[np.ndarray] = []
    if case.returns:
        torch.manual_seed(0)
        name = "attentions" if case.returns == "return_attn" else ""
        own = list(maps_in(case.ask(case.make("eager"), **{case.returns: True}), name))
    apart = []
    for call in taken:
        mine = call.trace().weights
        seen = mine.any(axis=-1, keepdims=True)  # sdpa answers 0 where eager shares out evenly
        same = [float(np.abs(each * seen - mine).max()) for each in own if each.shape == mine.shape]
        apart += [min(same)] if same else []
    most = max(apart, default=0.0)
    found = f"{len(apart)} of {len(taken)} calls as its own to {most:.0e}; " if apart else ""
    verified = attention.verify(taken)
    said = "verified" if verified.agrees else str(verified)
    return f"{found}{said}" if most <= MOST else f"not as its own: {found}{said}"


def wrong_missed(case: Drawn, taken: Any) -> list[str]:
    wrong = [] if taken.missed == case.missed else [f"missed {taken.missed} for {case.missed}"]
    there = taken.not_run == case.not_run
    return wrong + ([] if there else [f"not run {taken.not_run} for {case.not_run}"])


def wrong_grids(case: Drawn, taken: Any) -> list[str]:
    calls = {name: call_of(taken, name)[0] for name in case.grids}
    found = {name: (call.grid, call.grid_block) for name, call in calls.items()}
    return [f"{k} has {found[k]} for {v}" for k, v in case.grids.items() if found[k] != v]


def outcome(case: Drawn, way: str) -> list[str]:
    """What a table says of a case: weights, layers, labels, positions, and what was missed."""
    try:
        taken, told = captured(replace(case, make=partial(case.make, way)))
    except ValueError as error:
        said = str(error).partition("not captured: ")[2]
        right = case.refused and said.startswith(f"{case.refused}.")
        return ["refused as expected" if right else f"refused: {error}"]
    with TemporaryDirectory() as folder:
        taken.save(path := Path(folder) / "run.safetensors", large=True)
        opened = attention.Taken.load(path)
    found = (
        wrong_layers(case, taken),
        wrong_labels(case, taken) or wrong_labels(case, opened),
        wrong_positions(case, taken, told),
        wrong_missed(case, taken),
        wrong_grids(case, taken),
    )
    return [weights(case, taken)] + ["right" if not each else "; ".join(each) for each in found]


def table(names: list[str]) -> Iterator[str]:
    columns = ("type", "how", "weights", "layers", "labels", "positions", "missed", "grids")
    yield f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    for case in CASES:
        if any(name in case.name for name in names or [""]):
            for way in case.ways:
                try:
                    said = outcome(case, way)
                except Exception as error:  # one that cannot be built stays in the list
                    said = [f"{type(error).__name__}: {error}"]
                yield f"| {case.name} | {way} | {' | '.join(said)} |"


if __name__ == "__main__":
    for row in table(sys.argv[1:]):
        print(row, flush=True)
