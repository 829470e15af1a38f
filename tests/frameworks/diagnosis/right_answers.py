"""Right answers of random systems with every part, by plain NumPy that knows nothing of ours."""

import numpy as np

from attention import RMSNorm, Rotary


def slopes(heads):
    """ALiBi's: one geometric sequence, and for other counts than powers of two the next one too."""
    whole = 2 ** int(np.log2(heads))
    first = [2.0 ** (-8 * (i + 1) / whole) for i in range(whole)]
    more = [2.0 ** (-8 * (i + 1) / (2 * whole)) for i in range(2 * whole)][0::2]
    return np.array(first + more[: heads - whole])


def normed(M, gain):
    return M / np.sqrt((M * M).mean(-1, keepdims=True) + 1e-6) * gain


def turned(M, first, base, interleaved):
    n, d = M.shape[-2:]
    angles = np.arange(first, first + n)[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angles).astype(M.dtype), np.sin(angles).astype(M.dtype)
    a, b = (slice(0, d // 2), slice(d // 2, None))
    if interleaved:
        a, b = slice(0, None, 2), slice(1, None, 2)
    found = np.empty_like(M)
    found[..., a] = M[..., a] * cos - M[..., b] * sin
    found[..., b] = M[..., b] * cos + M[..., a] * sin
    return found


def softmax(scores, sink):
    highest = scores.max(-1, keepdims=True)
    highest = highest if sink is None else np.maximum(highest, sink)
    highest = np.where(np.isfinite(highest), highest, 0)
    powers = np.exp(scores - highest)
    total = powers.sum(-1, keepdims=True) + (0 if sink is None else np.exp(sink - highest))
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


def cut(M, heads):
    return np.stack(np.split(M, heads, axis=-1), -3)


def mask_of(rng, kind, n_q, n_k, lead, split):
    """Return a mask of this kind, with an axis for the items and for the heads where it has one."""
    i, j = np.arange(n_q)[:, None], np.arange(n_k)
    reach = int(rng.integers(1, 6))
    plain = {
        "none": None,
        "causal": j <= i,
        "last key": j <= i + n_k - n_q,
        "window": (j <= i) & (j > i - reach),
        "sides": abs(i - j) <= reach,
    }
    if kind in plain:
        return plain[kind]
    if kind == "documents":
        document = np.sort(rng.integers(0, 3, max(n_q, n_k)))
        return (document[:n_q, None] == document[:n_k]) & (j <= i)
    items = lead if len(lead) == 1 else ()
    if kind == "random":
        return rng.random((*items, *split, n_q, n_k)) < 0.6
    lengths = rng.integers(1, n_k + 1, items)[..., None]
    real = (j >= n_k - lengths) if kind == "left" else (j < lengths)
    real = real.reshape(*items, *split, 1, n_k)
    return real & (j <= i) if kind == "padding and causal" else real


MASKS = ("none", "none", "causal", "last key", "window", "sides", "padding", "left")
MASKS += ("padding and causal", "documents", "random")
HOW = ("f8", "f8", "f4", "f2", "inputs to 4", "to 3", "to 4", "to 6")


def inputs_of(rng, heads, kv_heads, sizes, lead):
    """Return Q, K and V, or X, another sequence and the weights and biases of a layer."""
    normal, (d, d_v, n_q, n_k) = rng.standard_normal, sizes
    wide = {"Q": heads * d, "K": kv_heads * d, "V": kv_heads * d_v}
    if rng.random() < 0.4:
        tokens = {"Q": n_q, "K": n_k, "V": n_k}
        exact = {name: normal((*lead, n, wide[name])) for name, n in tokens.items()}
    else:
        width = int(rng.integers(2, 17))
        exact = {"X": normal((*lead, n_q, width)), "memory": normal((*lead, n_k, width))}
        for name, columns in wide.items():
            exact[f"W_{name}"] = normal((width, columns)) / np.sqrt(width)
            exact[f"b_{name}"] = normal(columns)
    if rng.random() < 0.35:
        exact |= {"W_O": normal((heads * d_v, 5)) / np.sqrt(heads * d_v), "b_O": normal(5)}
    return exact


def parts_of(rng, heads, sizes, lead):
    """Return the mask and the other parts, some of the time each; rotation and norm as numbers."""
    normal, (d, _, n_q, n_k), parts = rng.standard_normal, sizes, {}
    split = (1,) if heads > 1 else ()
    parts["allowed"] = mask_of(rng, str(rng.choice(MASKS)), n_q, n_k, lead, split)
    if rng.random() < 0.15:
        parts["bias"] = normal((n_q, n_k))
    elif rng.random() < 0.15 and n_q == n_k and heads > 1 and lead != (heads,):
        parts["bias"] = -slopes(heads)[:, None, None] * abs(
            np.arange(n_q)[:, None] - np.arange(n_k)
        )
    if rng.random() < 0.2:
        parts["scale"] = float(rng.choice([1, 1 / d, 0.5, 0.3]))
    if rng.random() < 0.12:
        parts["softcap"] = float(rng.choice([1, 5, 20]))
    if rng.random() < 0.12:
        parts["sinks"] = normal(heads) if heads > 1 else normal()
    if d % 2 == 0 and rng.random() < 0.3:
        parts["rotary"] = max(n_k - n_q, 0), float(rng.choice([10, 1e4])), bool(rng.random() < 0.5)
    if rng.random() < 0.2:
        parts["norm"] = 1 + 0.3 * normal((2, d))
    return {name: part for name, part in parts.items() if part is not None}


def attended(M, heads, kv_heads, parts):
    """Return output and weights."""
    get, work = parts.get, M["V" if "V" in M else "X"].dtype
    if "X" in M:
        source = {"Q": M["X"], "K": M["memory"], "V": M["memory"]}
        M = M | {name: source[name] @ M[f"W_{name}"] + M[f"b_{name}"] for name in "QKV"}
    Q, K, V = cut(M["Q"], heads), cut(M["K"], kv_heads), cut(M["V"], kv_heads)
    if "norm" in parts:
        Q, K = (normed(A, gain.astype(work)) for A, gain in zip((Q, K), get("norm"), strict=True))
    if "rotary" in parts:
        first, *rest = get("rotary")
        Q, K = turned(Q, first, *rest), turned(K, 0, *rest)
    own = [h * kv_heads // heads for h in range(heads)]
    K, V = K[..., own, :, :], V[..., own, :, :]
    scores = Q @ K.swapaxes(-1, -2) * work.type(get("scale", 1 / np.sqrt(Q.shape[-1])))
    if "softcap" in parts:
        scores = (get("softcap") * np.tanh(scores / get("softcap"))).astype(work)
    scores = (scores + get("bias", 0)).astype(work)
    seen = get("allowed", np.True_)
    seen = seen[..., None, :, :] if heads == 1 and seen.ndim > 2 else seen
    sink = np.reshape(get("sinks"), (-1, 1, 1)).astype(work) if "sinks" in parts else None
    weights = softmax(np.where(seen, scores, -np.inf).astype(work), sink)
    output = np.concatenate([*np.moveaxis(weights @ V, -3, 0)], axis=-1)
    output = output @ M["W_O"] + M["b_O"] if "W_O" in M else output
    return {"output": output, "weights": weights if heads > 1 else weights[..., 0, :, :]}


def drawn(seed):
    """Return what to give to diagnose, an answer among it, and how numbers are rounded."""
    rng = np.random.default_rng([77, seed])
    heads = int(rng.choice([1, 1, 2, 3, 4, 6]))
    shared = [g for g in range(1, heads + 1) if heads % g == 0]
    kv_heads = int(rng.choice(shared)) if rng.random() < 0.4 else heads
    d, d_v, n_q, n_k = (int(rng.integers(low, 17)) for low in (1, 1, 2, 2))
    sizes = d, d_v, n_q, n_q if rng.random() < 0.65 else n_k
    lead = () if rng.random() < 0.5 else (int(rng.integers(1, 5)),)
    exact = inputs_of(rng, heads, kv_heads, sizes, lead)
    parts, how = parts_of(rng, heads, sizes, lead), str(rng.choice(HOW))
    shown = {name: M.astype(how if how[0] == "f" else "f8") for name, M in exact.items()}
    work = "f4" if how in ("f4", "f2") else "f8"
    answers = attended({name: M.astype(work) for name, M in shown.items()}, heads, kv_heads, parts)
    if how == "inputs to 4":
        shown = {name: M.round(4) for name, M in exact.items()}
    if rng.random() < 0.7:
        del answers[str(rng.choice([*answers]))]
    if how == "f2":
        answers = {name: M.astype("f2") for name, M in answers.items()}
    if how.startswith("to"):
        answers = {name: M.round(int(how[-1])) for name, M in answers.items()}
    if "rotary" in parts:
        first, base, interleaved = parts["rotary"]
        pairs = "interleaved" if interleaved else "halves"
        parts["rotary"] = Rotary(base=base, pairs=pairs, offset=first)
    if "norm" in parts:
        gain_Q, gain_K = parts["norm"]
        parts["norm"] = RMSNorm(gain_Q=gain_Q, gain_K=gain_K, eps=1e-6)
    of_heads = {"heads": heads, "kv_heads": kv_heads} if heads > 1 else {}
    return shown | parts | of_heads | answers, how
