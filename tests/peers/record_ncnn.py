"""Ask ncnn's layers SDPA and MultiHeadAttention what is kept in ``recorded/ncnn.json``.

In an environment that has ncnn and NumPy, from the top of the repository::

    PYTHONPATH=tests python tests/peers/record_ncnn.py

A graph is written by hand, a layer a line, and one item of a batch is run after the other: a blob
has no batch axis. Blobs are float32. A mask holds numbers that are added, so a boolean one is
written as 0 and −∞. The weights of the projections are an identity.
"""

import tempfile
from pathlib import Path

import numpy as np
from peers.questions import NotAsked, Way, joined, numbers, save, split


def ncnn_sdpa(Q, K, V, mask, causal, groups=1, bias=None, scale=None, given=None):
    mask = _mask(mask, causal, bias, given, Q, K)
    options = "" if scale is None else f" 6={scale:e}"
    of = [
        {"q": q, "k": k, "v": v} | ({} if mask is None else {"mask": _of_item(mask, item)})
        for item, (q, k, v) in enumerate(zip(Q, K, V, strict=True))
    ]
    return np.stack([_run("SDPA", options, blobs) for blobs in of]), None


def ncnn_mha(Q, K, V, mask, causal, bias=None, scale=None, given=None):
    heads, d = Q.shape[1], Q.shape[1] * Q.shape[3]
    if V.shape[-1] != K.shape[-1]:
        raise NotAsked("identity projections leave V as wide as K")
    mask = _mask(mask, causal, bias, given, Q, K)
    options = f" 0={d} 1={heads} 2={d * d}" + ("" if scale is None else f" 6={scale:e}")
    flag, bias_of_projection = np.zeros(1, "<f4"), np.zeros(d, "<f4")  # 0: what follows is float32
    projections = np.concatenate([flag, np.eye(d, dtype="<f4").ravel(), bias_of_projection] * 4)
    of = [
        {"q": q, "k": k, "v": v} | ({} if mask is None else {"mask": _of_item(mask, item)})
        for item, (q, k, v) in enumerate(zip(*map(joined, (Q, K, V)), strict=True))
    ]
    found = [_run("MultiHeadAttention", options, blobs, projections.tobytes()) for blobs in of]
    return split(np.stack(found), heads), None


def _mask(mask, causal, bias, given, Q, K):
    """What is added to scores; a look-ahead is in it, upper left, since there is no switch."""
    if Q.dtype != np.float32:
        raise NotAsked("blobs are float32")
    if np.isnan(K).any():
        raise NotAsked("what a NaN becomes is left to the vector instructions of the machine")
    if given is not None:
        if given.dtype != np.float32:
            raise NotAsked("blobs are float32; the bits of other types are read as one")
        return given
    if causal:
        triangle = np.tri(Q.shape[2], K.shape[2], dtype=bool)
        mask = np.broadcast_to(triangle if mask is None else mask & triangle, _scores(Q, K))
    if mask is None is bias:
        return None
    return numbers(mask, np.zeros(_scores(Q, K), "float32") if bias is None else bias)


def _scores(Q, K) -> tuple[int, ...]:
    return (*Q.shape[:3], K.shape[2])


def _of_item(mask, item: int):
    return mask[item] if mask.ndim == 4 else mask


def _run(layer: str, options: str, blobs: dict, weights: bytes = b"") -> np.ndarray:
    import ncnn

    names = list(blobs)
    lines = ["7767517", f"{len(names) + 1} {len(names) + 1}"]
    lines += [f"Input {name} 0 1 {name}" for name in names]
    options = f"5={int('mask' in names)}{options}"
    lines.append(f"{layer} attend {len(names)} 1 {' '.join(names)} y {options}")
    net = ncnn.Net()
    if net.load_param_mem("\n".join(lines) + "\n"):
        raise RuntimeError("the graph is refused")
    if weights:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "weights.bin")
            path.write_bytes(weights)
            if net.load_model(str(path)):
                raise RuntimeError("the weights are refused")
    extractor = net.create_extractor()
    for name, array in blobs.items():
        extractor.input(name, ncnn.Mat(np.ascontiguousarray(array)).clone())
    code, found = extractor.extract("y")
    if code:
        raise RuntimeError(f"extract returns {code}")
    return np.array(found)


LIBRARIES = {
    "ncnn_sdpa": Way(ncnn_sdpa, "ncnn", "ncnn_sdpa"),
    "ncnn_mha": Way(ncnn_mha, "ncnn", "ncnn_mha"),
}

if __name__ == "__main__":
    save("ncnn", LIBRARIES, ("ncnn",))
