"""Files as people bring them, good and bad, for the monkey to open."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
from files import npy, stored
from safetensors.numpy import save as safetensors

from attention.session.state import links
from attention.session.state.examples import EXAMPLES

CAPTURES = Path(__file__).parents[1] / "models" / "recorded"
GLOVE = """the 0.418 0.24968 -0.41242 0.1217 0.34527 -0.044457
cat 0.45281 -0.50108 -0.53714 -0.015697 0.22191 0.54602
sat -0.23853 -0.36463 0.3121 0.085264 0.36981 -0.11262
. 0.15164 0.30177 -0.16763 0.17684 0.31719 0.33973
"""
SHEET = "word\td 1\td 2\td 3\td 4\r\nder\t0,5\t-1,25\t0\t3\r\nHund\t2,75\t1e-3\t-0,125\t1\r\n"
TORCH = """tensor([[ 0.5000, -1.2500,  0.0000],
        [ 2.7500,  0.0010, -0.1250]], dtype=torch.float64)"""
TEXTS = [
    "1 0 2 1\n0 1 1 0\n2 2 0 1",
    "array([[1. , 0.5],\n       [0.1, 2. ]])",
    "[[1, 2, 3, 4], [5, 6, 7, 8]]",
    GLOVE,
    SHEET,
    TORCH,
    "0,5 1,5 2,25 1,0\n2,0 3,25 0,5 1,5",  # a comma that can mean two things
    "cat 1 2\ndog 3 x",
    "[[1, 2], [3",
    "<img src=x onerror=alert(1)>",
    "1e999 nan\n0 1",
    "0.75 0.25 0\n0.5 0.25 0.25\n0 0 1",  # finished weights
    "",
]


def _checkpoint(rng, kind) -> dict[str, np.ndarray]:
    part = "bert.encoder.layer.{}.attention.self.{}.{}"
    tensors = {}
    for layer in range(2):
        for name in ("query", "key", "value"):
            tensors[part.format(layer, name, "weight")] = rng.standard_normal((6, 4)).astype(kind)
            tensors[part.format(layer, name, "bias")] = np.zeros(6, kind)
    return tensors


def _damaged(archive: bytes) -> bytes:
    """The second array with one byte changed: its checksum no longer holds."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        start = opened.infolist()[1].header_offset + 220
    return archive[:start] + bytes([archive[start] ^ 255]) + archive[start + 1 :]


def files() -> list[tuple[str, bytes]]:
    """(name, content), the same at every call."""
    rng = np.random.default_rng(11)
    normal = rng.standard_normal
    weights = stored(X=normal((3, 4)), **{f"W_{name}": normal((4, 5)) for name in "QKV"})
    stacked = {name: normal((2, 3, 4)) for name in "QKV"}
    four = {name: normal((2, 2, 3, 4)).astype(np.float32) for name in "QKV"}
    model = safetensors(_checkpoint(rng, np.float32))
    good = [
        ("mine.npz", weights),
        ("again.npz", weights),
        (
            "mine.npz",
            stored(X=normal((5, 4)), W_Q=normal((4, 4)), W_K=normal((4, 4)), W_V=normal((4, 4))),
        ),
        ("qkv.npz", stored(Q=normal((3, 4)), K=normal((3, 4)), V=normal((3, 2)))),
        ("qkv.npz", stored(**stacked, mask=~np.tri(3, dtype=bool))),
        ("heads.npz", stored(**four, heads=np.int64(2))),
        (
            "named.npz",
            stored(tokens=np.array(["a", "b", "c"]), embeddings=normal((3, 4)), other=normal((7,))),
        ),
        ("one.npy", npy(normal((4, 4)))),
        ("three.npy", npy(normal((2, 4, 4)).astype(np.float16))),
        ("mask.npy", npy(np.tri(4, dtype=bool))),
        ("model.safetensors", model),
        ("half.safetensors", safetensors(_checkpoint(rng, np.float16))),
        ("run.safetensors", (CAPTURES / "llama.safetensors").read_bytes()),
        ("sinks.safetensors", (CAPTURES / "gpt-oss.safetensors").read_bytes()),
        ("qkv.safetensors", safetensors({name: normal((3, 4)) for name in "QKV"})),
        ("words.csv", b"cat,0.1,-0.3,2,1\ndog,0.4,1,0,0\nbird,1,1,2e-3,-1\n"),
        ("words.tsv", SHEET.encode()),
        ("glove.vec", GLOVE.encode()),
        ("printed.txt", TORCH.encode()),
        ("nested.json", b"[[1, 0.5, 0, 1], [0, 1, 2, 3]]"),
        ("causal.json", links.to_file(EXAMPLES["sentence"].build())),
        ("batch.json", links.to_file(EXAMPLES["batch"].build())),
        ("weights.npy", npy(rng.dirichlet(np.ones(4), (3, 4)))),
        ("attentions.npz", stored(**{f"layer{k}": np.tri(3) / [[1], [2], [3]] for k in (0, 1)})),
    ]
    bad = [
        ("mine.npz", weights[: len(weights) // 2]),
        ("damaged.npz", _damaged(weights)),
        ("model.safetensors", model[:-40]),
        ("model.safetensors", model[:30]),
        ("complex.npy", npy(np.eye(3) * 1j)),
        ("text.npy", npy(np.array([["a", "b"]]))),
        ("one.npy", b"\x93NUMPY\x01\x00"),
        ("infinite.npy", npy(np.full((3, 4), np.inf))),
        ("deep.npz", stored(Q=normal((1, 1, 1, 1, 2, 2)))),
        ("wide.npy", npy(np.zeros((3, 700)))),
        ("words.csv", b"a,1,2\nb,3,x\n"),
        ("late.txt", b"caf\xe9 1 2"),
        ("wide.txt", "1 2\n3 4".encode("utf-16")),
        ("nothing.txt", b""),
        ("state.json", b'{"attention": "stage by stage", "link": [1]}'),
        ("random.safetensors", rng.bytes(500)),
        ("<img src=x onerror=alert(1)>.npz", b"PK\x03\x04"),
        ("model.pt", b"PK\x03\x04" + bytes(60)),
        ("large.txt", b"1 " * 4_500_000),  # beyond the 8 MB that are read
    ]
    return good + bad
