"""Record torch's own attention in float32, bfloat16 and float16.

``python tests/peers/record_kernels.py``

Needs torch (2.13 was used), nothing else does. For each case `kernels.npz` keeps the inputs as
float32 and, for each kernel and float type, what it answered (bfloat16 and float16 fit into float32
without loss). Half precision gets the inputs rounded to its own type, as a model in it would.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
KERNELS = {"math": SDPBackend.MATH, "flash": SDPBackend.FLASH_ATTENTION}
SHAPES = {  # name: (leading axes, queries, keys, width), and how large Q and K are
    "small": ((), 4, 4, 4, 1.0),
    "heads": ((2, 3), 7, 7, 8, 1.0),
    "wide": ((), 12, 20, 64, 1.0),
    "sharp": ((), 16, 16, 16, 2.5),
}
MASKS = ("none", "causal", "mask")


def sdpa(found: dict) -> None:
    """torch's scaled_dot_product_attention, by each kernel that takes the case."""
    rng = np.random.default_rng(0)
    for name, (lead, n_q, n_k, d, grown) in SHAPES.items():
        for kind in MASKS:
            if kind == "causal" and n_q != n_k:
                continue
            Q, K, V = (rng.standard_normal((*lead, n, d)).astype("f4") for n in (n_q, n_k, n_k))
            Q, K = np.float32(grown) * Q, np.float32(grown) * K
            allowed = rng.random((n_q, n_k)) < 0.7
            allowed[:, 0] = True
            case = f"sdpa/{name} {kind}"
            found |= {f"{case}/{key}": M for key, M in (("Q", Q), ("K", K), ("V", V))}
            if kind == "mask":
                found[f"{case}/allowed"] = allowed
            given = {
                "none": {},
                "causal": {"is_causal": True},
                "mask": {"attn_mask": torch.tensor(allowed)},
            }[kind]
            for kernel, backend in KERNELS.items():
                for dtype, torch_dtype in TYPES.items():
                    tensors = [torch.tensor(M).to(torch_dtype) for M in (Q, K, V)]
                    while tensors[0].ndim < 4:
                        tensors = [M[None] for M in tensors]
                    try:
                        with sdpa_kernel(backend):
                            output = scaled_dot_product_attention(*tensors, **given)
                    except RuntimeError as problem:
                        print(case, kernel, dtype, problem, file=sys.stderr)
                        continue
                    found[f"{case}/{kernel}/{dtype}"] = (
                        output.float().numpy().reshape(V.shape[:-2] + (n_q, d))
                    )


def layers(found: dict) -> None:
    """torch's nn.MultiheadAttention and its biases: the projected output, each head's weights."""
    torch.manual_seed(0)
    for name, heads, n, width, causal in (
        ("two heads", 2, 5, 8, False),
        ("four heads", 4, 9, 16, True),
    ):
        layer = torch.nn.MultiheadAttention(width, heads, batch_first=True)
        for bias in (layer.in_proj_bias, layer.out_proj.bias):
            torch.nn.init.normal_(bias, std=0.5)
        X = torch.randn(1, n, width)
        case = f"layer/{name}"
        W, b = layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3)
        found[f"{case}/X"], found[f"{case}/heads"] = X[0].numpy(), np.array(heads)
        found[f"{case}/W_O"] = layer.out_proj.weight.detach().numpy().T.copy()
        found[f"{case}/b_O"] = layer.out_proj.bias.detach().numpy().copy()
        for letter, weight, bias in zip("QKV", W, b, strict=True):
            found[f"{case}/W_{letter}"] = weight.detach().numpy().T.copy()
            found[f"{case}/b_{letter}"] = bias.detach().numpy().copy()
        hide = torch.triu(torch.ones(n, n, dtype=bool), 1) if causal else None
        if causal:
            found[f"{case}/allowed"] = ~hide.numpy()
        for dtype, torch_dtype in TYPES.items():
            again = torch.nn.MultiheadAttention(width, heads, batch_first=True)
            again.load_state_dict(layer.state_dict())
            again, x = again.to(torch_dtype), X.to(torch_dtype)
            output, weights = again(x, x, x, attn_mask=hide, average_attn_weights=False)
            found[f"{case}/output/{dtype}"] = output[0].detach().float().numpy()
            found[f"{case}/weights/{dtype}"] = weights[0].detach().float().numpy()


def main() -> None:
    found: dict[str, np.ndarray] = {"torch": np.array(torch.__version__)}
    sdpa(found)
    layers(found)
    np.savez_compressed(Path(__file__).with_name("kernels.npz"), **found)
    print(len(found), "arrays")


if __name__ == "__main__":
    main()
