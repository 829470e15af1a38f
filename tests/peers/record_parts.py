"""Whole attention layers of transformers, small and random, kept in ``parts.npz``: run by hand.

The tests give their weights to the package, which must answer the same: biases, rotary positions
and norms of Q and K as real layers have them. To record again, with torch and transformers, from
the top of the repository::

    python tests/peers/record_parts.py
"""

import json
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache

FILE = Path(__file__).with_name("parts.npz")
N, PAST, WIDTH, HEADS, KEY_HEADS = 6, 2, 16, 4, 2
ROPE = {"rope_type": "default", "rope_theta": 100.0}
LAYERS: dict[str, tuple[str, str, dict[str, Any]]] = {  # module, name of its classes, configuration
    "LLaMA": ("llama", "Llama", {}),
    "LLaMA, one head for all": ("llama", "Llama", {"num_key_value_heads": 1}),
    "LLaMA, with biases": ("llama", "Llama", {"attention_bias": True}),
    "LLaMA, linear": (
        "llama",
        "Llama",
        {"rope_parameters": ROPE | {"rope_type": "linear", "factor": 4.0}},
    ),
    "LLaMA, YaRN": (
        "llama",
        "Llama",
        {
            "rope_parameters": ROPE
            | {
                "rope_type": "yarn",
                "factor": 4.0,
                "original_max_position_embeddings": 64,
                "beta_fast": 8.0,
            },
            "head_dim": 16,
        },
    ),
    "Qwen2, biases of Q, K and V": ("qwen2", "Qwen2", {}),
    "Qwen3, norm by head": ("qwen3", "Qwen3", {"head_dim": 6}),
    "OLMo 2, norm of all heads": ("olmo2", "Olmo2", {}),
    "Hunyuan, norm after the rotation": ("hunyuan_v1_dense", "HunYuanDenseV1", {"head_dim": 4}),
}


def layer(module: str, name: str, more: dict[str, Any]) -> dict[str, Any]:
    """The weights of one layer, what it was given and what it answered, also with a cache."""
    source = import_module(f"transformers.models.{module}.modeling_{module}")
    config = getattr(import_module(f"transformers.models.{module}"), f"{name}Config")(
        **{
            "hidden_size": WIDTH,
            "num_attention_heads": HEADS,
            "num_key_value_heads": KEY_HEADS,
            "num_hidden_layers": 1,
            "max_position_embeddings": 256,
            "rope_parameters": ROPE,
            "attn_implementation": "eager",
        }
        | more
    )
    torch.manual_seed(len(name) + len(more))
    attention = getattr(source, f"{name}Attention")(config, layer_idx=0).eval()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.normal_(std=0.4)
        X = torch.randn(1, N, WIDTH)
        cos_sin = getattr(source, f"{name}RotaryEmbedding")(config)(X, torch.arange(N)[None])
        mask = torch.full((N, N), -torch.inf).triu(1)[None, None]
        output, weights = attention(X, position_embeddings=cos_sin, attention_mask=mask)
        cache, cut = DynamicCache(config=config), [slice(0, PAST), slice(PAST, N)]
        for part in cut:
            stepped, _ = attention(
                X[:, part],
                position_embeddings=tuple(wave[:, part] for wave in cos_sin),
                attention_mask=mask[:, :, part, : part.stop],
                past_key_values=cache,
            )
    kept = {key: value.numpy() for key, value in attention.state_dict().items()}
    answer = {"X": X, "output": output, "weights": weights, "stepped": stepped}
    return kept | {key: value[0].numpy() for key, value in answer.items()}


def gptj() -> dict[str, np.ndarray]:
    """GPT-J: interleaved pairs in part of the columns."""
    from transformers.models.gptj.modeling_gptj import GPTJAttention, GPTJConfig

    config = GPTJConfig(n_embd=WIDTH, n_head=2, rotary_dim=4, n_positions=N, n_layer=1)
    torch.manual_seed(0)
    attention = GPTJAttention(config, layer_idx=0).eval()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.normal_(std=0.4)
        X, mask = torch.randn(1, N, WIDTH), torch.full((N, N), -torch.inf).triu(1)[None, None]
        output, weights = attention(X, attention_mask=mask, position_ids=torch.arange(N)[None])
    kept = {key: value.numpy() for key, value in attention.state_dict().items()}
    return kept | {"X": X[0].numpy(), "output": output[0].numpy(), "weights": weights[0].numpy()}


def neox() -> dict[str, np.ndarray]:
    """GPT-NeoX: halves of part of the columns, biases everywhere, Q, K and V in one matrix."""
    from transformers.models.gpt_neox import modeling_gpt_neox as source

    config = source.GPTNeoXConfig(
        hidden_size=WIDTH,
        num_attention_heads=2,
        num_hidden_layers=1,
        rope_parameters=ROPE | {"partial_rotary_factor": 0.5},
        attn_implementation="eager",
    )
    torch.manual_seed(0)
    attention = source.GPTNeoXAttention(config, layer_idx=0).eval()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.normal_(std=0.4)
        X, mask = torch.randn(1, N, WIDTH), torch.full((N, N), -torch.inf).triu(1)[None, None]
        cos_sin = source.GPTNeoXRotaryEmbedding(config)(X, torch.arange(N)[None])
        output, weights = attention(X, attention_mask=mask, position_embeddings=cos_sin)
    kept = {key: value.numpy() for key, value in attention.state_dict().items()}
    return kept | {"X": X[0].numpy(), "output": output[0].numpy(), "weights": weights[0].numpy()}


def main() -> None:
    taken = {name: layer(*how) for name, how in LAYERS.items()}
    taken |= {"GPT-J": gptj(), "GPT-NeoX": neox()}
    arrays = {
        f"{name}/{key}": array for name, all_of in taken.items() for key, array in all_of.items()
    }
    versions = {name: version(name) for name in ("torch", "transformers")}
    np.savez_compressed(FILE, versions=np.array(json.dumps(versions)), **arrays)


if __name__ == "__main__":
    main()
