"""Tiny models made from their configurations, for those who have torch and transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, set_seed

WORDS = ["the", "cat", "sat", "on", "the", "mat"]
IDS = torch.tensor([[3, 4, 5, 6, 3, 7]])
SMALL: dict[str, Any] = {"vocab_size": 11, "hidden_size": 16, "num_attention_heads": 4}
SMALL |= {"intermediate_size": 8, "num_hidden_layers": 2, "max_position_embeddings": 32}
SMALL |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
SHARED = SMALL | {"num_key_value_heads": 2}
GPT: dict[str, Any] = {"vocab_size": 11, "n_embd": 16, "n_head": 4, "n_layer": 2}
GPT |= {"n_positions": 32, "n_inner": 8, "bos_token_id": 1, "eos_token_id": 2}
T5: dict[str, Any] = {"d_model": 16, "num_heads": 4, "d_kv": 4, "d_ff": 8, "num_layers": 1}
T5 |= {"vocab_size": 11, "decoder_start_token_id": 0}
VIT: dict[str, Any] = {"hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 8}
VIT |= {"num_hidden_layers": 1, "image_size": 8, "patch_size": 4}
EXPERTS: dict[str, Any] = {"head_dim": 4, "num_local_experts": 2, "num_experts_per_tok": 1}
LATENT: dict[str, Any] = {"q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 4}
LATENT |= {"qk_nope_head_dim": 4, "v_head_dim": 6, "n_routed_experts": 2}
LATENT |= {"num_key_value_heads": 4, "first_k_dense_replace": 1, "num_hidden_layers": 1}
BART: dict[str, Any] = {"vocab_size": 11, "d_model": 16, "encoder_layers": 1, "decoder_layers": 1}
BART |= {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
BART |= {"encoder_ffn_dim": 8, "decoder_ffn_dim": 8}

DISTIL = {"vocab_size": 11, "dim": 16, "n_heads": 4, "n_layers": 1, "hidden_dim": 8}
ONE = {"num_experts_per_tok": 1, "moe_intermediate_size": 8, "num_local_experts": 2}
BOTH = ("eager", "sdpa")

# What it is called, the model's type, its configuration; the implementations that it has here.
FAMILIES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "BERT": ("bert", SMALL, BOTH),
    "RoBERTa": ("roberta", SMALL, BOTH),
    "ModernBERT": ("modernbert", SMALL, BOTH),
    "GPT-2": ("gpt2", GPT, BOTH),
    "GPT-NeoX (Pythia)": ("gpt_neox", SMALL | {"hidden_size": 32}, BOTH),
    "OPT": ("opt", SMALL | {"ffn_dim": 8, "word_embed_proj_dim": 16}, BOTH),
    "LLaMA, fewer key heads": ("llama", SHARED, ("eager", "sdpa", "flex_attention")),
    "Qwen3": ("qwen3", SHARED | {"head_dim": 4}, BOTH),
    "Mistral, window": ("mistral", SHARED | {"sliding_window": 3}, BOTH),
    "Gemma 2, soft cap": ("gemma2", SHARED | {"head_dim": 4, "sliding_window": 3}, ("eager",)),
    "Phi-3": ("phi3", SHARED, BOTH),
    "DeepSeek-V3": ("deepseek_v3", SMALL | LATENT, BOTH),
    "gpt-oss, sinks": ("gpt_oss", SHARED | EXPERTS, ("eager",)),
    "Falcon": ("falcon", SMALL | {"multi_query": True}, ("sdpa",)),
    "T5, position bias": ("t5", T5, BOTH),
    "BART": ("bart", BART, BOTH),
    "ViT": ("vit", VIT, BOTH),
    "BEiT, position bias": ("beit", VIT | {"use_relative_position_bias": True}, BOTH),
    "DINOv2": ("dinov2", VIT, BOTH),
    "CLIP, text": ("clip_text_model", SMALL, BOTH),
    "DistilBERT": ("distilbert", DISTIL, BOTH),
    "ALBERT": ("albert", SMALL | {"embedding_size": 16}, BOTH),
    "ELECTRA": ("electra", SMALL | {"embedding_size": 16}, BOTH),
    "XLM-RoBERTa": ("xlm-roberta", SMALL, BOTH),
    "ESM": ("esm", SMALL, BOTH),
    "StarCoder": ("gpt_bigcode", GPT, BOTH),
    "BioGPT": ("biogpt", SMALL, BOTH),
    "Phi": ("phi", SMALL, BOTH),
    "StableLM": ("stablelm", SHARED | {"hidden_size": 32}, BOTH),
    "OLMo 3": ("olmo3", SHARED, BOTH),
    "Granite": ("granite", SHARED, BOTH),
    "GLM-4": ("glm4", SHARED | {"head_dim": 4}, BOTH),
    "Cohere 2": ("cohere2", SHARED | {"head_dim": 4}, BOTH),
    "Gemma 3": ("gemma3_text", SHARED | {"head_dim": 4, "sliding_window": 3}, BOTH),
    "Mixtral": ("mixtral", SHARED | {"num_local_experts": 2}, BOTH),
    "Qwen2": ("qwen2", SHARED, BOTH),
    "Qwen3, experts": ("qwen3_moe", SHARED | {"head_dim": 4, "num_experts": 2} | ONE, BOTH),
    "GPT-J": ("gptj", GPT | {"rotary_dim": 2}, BOTH),  # since transformers 5.24, as CodeGen
    "CodeGen": ("codegen", GPT | {"rotary_dim": 2}, BOTH),
    "Llama 4": ("llama4_text", SHARED | {"head_dim": 4, "intermediate_size_mlp": 8} | ONE, BOTH),
}
# These answer by code of their own, which passes through no door: refused, by name.
UNKNOWN: dict[str, tuple[str, dict[str, Any]]] = {
    "Falcon, eager": ("falcon", SMALL | {"multi_query": True}),
    "BLOOM": ("bloom", SMALL | {"n_layer": 1, "n_head": 4}),
    "MPT": ("mpt", {"d_model": 16, "n_heads": 4, "n_layers": 1, "vocab_size": 11}),
    "MPNet": ("mpnet", SMALL),
    "RoFormer": ("roformer", SMALL),
    "DeBERTa": ("deberta", SMALL),
    "DeBERTa v3": (
        "deberta-v2",
        SMALL | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    ),
    "XLNet": ("xlnet", {"vocab_size": 11, "d_model": 16, "n_layer": 1, "n_head": 4, "d_inner": 8}),
}


def made(kind: str, settings: dict[str, Any], implementation: str, auto: Any = AutoModel) -> Any:
    """A model with weights large enough for uneven shares."""
    set_seed(0)
    config = AutoConfig.for_model(kind, **settings)
    model = auto.from_config(config, attn_implementation=implementation).eval()
    for parameter in model.parameters():
        parameter.data = torch.randn_like(parameter) * 0.4
    return model


def inputs(kind: str) -> dict[str, Any]:
    """What such a model is asked."""
    set_seed(1)
    if kind in ("vit", "beit", "dinov2"):
        return {"pixel_values": torch.randn(1, 3, 8, 8)}
    return {"input_ids": IDS} | ({"decoder_input_ids": IDS[:, :4]} if kind == "t5" else {})


class Plain(nn.Module):
    """Attention as plain torch code has it."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x: Any) -> Any:
        Q, K, V = self.qkv(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
        return nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=True)


class ByHand(nn.Module):
    """Attention by its own softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(16, 16)

    def forward(self, x: Any) -> Any:
        return torch.softmax(self.q(x) @ x.mT, -1) @ x


class Wrapped(nn.Module):
    """A module inside of a model."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *args: Any, **more: Any) -> Any:
        return self.inner(*args, **more)


def multi_head(**more: Any) -> nn.Module:
    set_seed(0)
    return nn.MultiheadAttention(16, 4, **({"batch_first": True} | more)).eval()


def encoder_layer() -> nn.Module:
    set_seed(0)
    return nn.TransformerEncoderLayer(16, 4, 8, batch_first=True).eval()


def encoder() -> nn.Module:
    return nn.TransformerEncoder(encoder_layer(), 2).eval()


def x(n: int = 6, width: int = 16, seed: int = 1) -> Any:
    set_seed(seed)
    return torch.randn(2, n, width)


PADDING = torch.arange(6) >= torch.tensor([[6], [4]])  # True hides, as torch has it
AHEAD = torch.ones(6, 6, dtype=torch.bool).triu(1)
Asked = tuple[Callable[[], nn.Module], tuple[Any, ...], dict[str, Any]]
TORCH: dict[str, Asked] = {  # the model, and what it is asked
    "plain F.scaled_dot_product_attention": (Plain, (x(),), {}),
    "nn.MultiheadAttention": (multi_head, (x(),) * 3, {"need_weights": False}),
    "nn.MultiheadAttention, weights, padding": (
        multi_head,
        (x(4, seed=2), x(), x()),
        {"key_padding_mask": PADDING},
    ),
    "nn.MultiheadAttention, both masks": (
        multi_head,
        (x(),) * 3,
        {"key_padding_mask": PADDING, "attn_mask": AHEAD},
    ),
    "nn.MultiheadAttention, causal switch": (
        multi_head,
        (x(),) * 3,
        {"attn_mask": AHEAD, "is_causal": True, "need_weights": False},
    ),
    "nn.MultiheadAttention, sequence first, more keys": (
        lambda: multi_head(batch_first=False, add_bias_kv=True, add_zero_attn=True),
        (x(),) * 3,
        {"attn_mask": torch.ones(2, 2).tril()},
    ),
    "nn.MultiheadAttention, other widths": (
        lambda: multi_head(kdim=8, vdim=12),
        (x(), x(6, 8), x(6, 12)),
        {},
    ),
    "nn.MultiheadAttention, one item": (multi_head, (x()[0],) * 3, {}),
    "nn.TransformerEncoderLayer, fast path": (encoder_layer, (x(),), {}),
    "nn.TransformerEncoderLayer, fast path, mask": (encoder_layer, (x(),), {"src_mask": AHEAD}),
    "nn.TransformerEncoder, fast path, padding": (
        encoder,
        (x(),),
        {"src_key_padding_mask": PADDING},
    ),
    "nn.TransformerDecoder": (
        lambda: nn.TransformerDecoder(
            nn.TransformerDecoderLayer(16, 4, 8, batch_first=True), 1
        ).eval(),
        (x(), x(4)),
        {"tgt_mask": AHEAD},
    ),
}
