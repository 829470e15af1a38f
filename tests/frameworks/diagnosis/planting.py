"""Attention with mistakes in it, by another hand than the package's: loops over heads and rows."""

import numpy as np

inf, nan = np.inf, np.nan


def all_said(found) -> str:
    """Every sentence of a diagnosis, its details too."""
    return " ".join([found.verdict, *found.details])


def theirs(given: dict, wrong: frozenset) -> tuple[np.ndarray, np.ndarray]:
    """The output and the weights (h, n_q, n_k) of one item, with the mistakes of these names."""
    Q, K, V = recut(given, *projections(given, wrong), wrong)
    h, g = given.get("heads", 1), given.get("kv_heads", given.get("heads", 1))
    Q, K, V = cut(Q, h, wrong), cut(K, g, wrong), cut(V, g, wrong)
    Q, K, V = before(given, Q, K, V, wrong)
    if {"groups: tokens", "groups: tokens, tiled"} & wrong:
        K, V, g = repeated(K, h, wrong), repeated(V, h, wrong), h
    weights, outputs = [], []
    d_k = Q[0].shape[1]
    if "split: none" in wrong or "split, scale: none" in wrong:
        d_k = d_k // h if "split: none" in wrong else d_k
        h = g = 1
    heads = []
    for k in range(h):
        group = k % g if "groups: tiled" in wrong else k // (h // g)
        q, key, value = Q[k], K[group], V[group]
        if "order: K and V" in wrong:
            key, value = value, key
        if "order: Q and K" in wrong:
            q, key = key, q
        scores = np.dot(q, key) if "product: untransposed" in wrong else np.dot(q, key.T)
        heads.append((scores, factor(given, wrong, d_k, len(key)), value))
    if "softmax: heads" in wrong:
        all_shares = over_heads(heads, given, wrong)
    for k, (scores, by, _) in enumerate(heads):
        shares = all_shares[k] if "softmax: heads" in wrong else share(scores, by, given, wrong, k)
        if "scale: after softmax" in wrong:
            shares = shares * given.get("scale", 1 / np.sqrt(d_k))
        weights.append(shares)
    shown = weights
    if {"shares: averaged", "shares: handed over"} & wrong:
        shown = [sum(weights) / len(weights) for _ in weights]
    weights = shown if "shares: averaged" in wrong else weights
    for k, (_, _, value) in enumerate(heads):
        shares = weights[k]
        if "sum: transposed" in wrong:
            outputs.append(np.dot(shares.T, value))
        elif wrong & LEAKING:
            outputs.append(np.dot(shares, value))
        else:
            outputs.append(careful(shares, value))
        if "sinks: in output" in wrong:
            outputs[-1] = outputs[-1] + given["sinks"][k]
    return after(given, wrong, joined(outputs, wrong)), np.array(shown)


def recut(given, Q, K, V, wrong):
    """Q, K and V out of the columns of one matrix, column by column."""
    if not {"split: joint, by head", "split: joint, by kind"} & wrong:
        return Q, K, V
    h, d = given["heads"], Q.shape[1] // given["heads"]
    kinds = [M[:, c] for M in (Q, K, V) for c in range(h * d)]
    turns = [M[:, k * d + c] for k in range(h) for M in (Q, K, V) for c in range(d)]
    found = [[], [], []]
    for at in range(3 * h * d):
        if "split: joint, by head" in wrong:
            found[at // d % 3].append(kinds[at])
        else:
            found[at // (h * d)].append(turns[at])
    return tuple(np.stack(columns, axis=1) for columns in found)


def repeated(M, h, wrong):
    """(g, n, d) to (h, n, d), row by row, along the tokens."""
    g, n, _ = M.shape
    if "groups: tokens" in wrong:
        rows = [M[k, i] for k in range(g) for i in range(n) for _ in range(h // g)]
        return np.array([rows[k * n : (k + 1) * n] for k in range(h)])
    rows = [M[k, i] for _ in range(h // g) for i in range(n) for k in range(g)]
    return np.array([rows[k::h] for k in range(h)])


def over_heads(heads, given, wrong):
    """The weights of all heads, where each cell of all of them together is a row of the softmax."""
    late = "hiding: after softmax" in wrong
    left = {"softmax: none"} | wrong - {"softmax: heads", "hiding: NaN", "hiding: after softmax"}
    whole = {name: given[name] for name in given if not (late and name == "allowed")}
    scores = np.array([share(s, by, whole, left, k) for k, (s, by, _) in enumerate(heads)])
    see = np.array([seen(given, wrong, scores.shape[1:], k) for k in range(len(heads))])
    shares = np.zeros(scores.shape)
    for i, j in np.ndindex(scores.shape[1:]):
        unseen = "hiding: NaN" in wrong and not see[:, i, j].any()
        shares[:, i, j] = softmax(scores[:, i, j], unseen)
    return np.where(see, shares, 0) if late else shares


LEAKING = {
    "leak: NaN",
    "hiding: filled",
    "hiding: −1e9 added",
    "hiding: 0",
    "hiding: −1",
    "hiding: −10",
    "hiding: 0/1 added",
    "hiding: after softmax",
    "softmax: none",
    "softmax: twice",
}  # (hidden values meet a weight, or a weight of 0)


def projections(given, wrong):
    """Q, K and V: given, or X and the second sequence through their layers."""
    if "X" not in given:
        return given["Q"], given["K"], given["V"]
    found = []
    for letter in "QKV":
        X = standing(given, wrong)
        source = X if letter == "Q" else given.get("memory", X)
        W, b = given[f"W_{letter}"], given.get(f"b_{letter}")
        for other in "QKV":
            if f"W_{letter}: W_{other}" in wrong:
                W, b = given[f"W_{other}"], given.get(f"b_{other}")
            if f"W_{letter}: only W_{other}" in wrong:
                W = given[f"W_{other}"]
        turned = {
            "layout, positions, W_Q, W_K, W_V: columns",
            f"W_{letter}: transposed",
            "W_Q, W_K, W_V: transposed",
            "W_Q, W_K, W_V, W_O: transposed",
        } & wrong
        M = np.einsum("nd,kd->nk" if turned else "nd,dk->nk", source, W)
        left_out = {
            f"b_{letter}: left out",
            "b_Q, b_K, b_V: left out",
            "b_Q, b_K, b_V, b_O: left out",
        } & wrong
        if b is not None and not left_out:
            M = M + b
        found.append(M)
    return found


def standing(given, wrong):
    """X, each row with what is added for its place."""
    X, P = given["X"], given.get("positions", np.zeros(given["X"].shape))
    if "positions: left out" in wrong:
        return X
    if "layout, positions, W_Q, W_K, W_V: columns" in wrong:
        return X.T
    if {"positions: added", "positions: from 1", "positions: halves"} & wrong:
        n, d = X.shape
        P = np.zeros((n, d))
        for p, c in np.ndindex(n, d):
            slow = (p + ("positions: from 1" in wrong)) / 10000 ** (2 * (c // 2) / d)
            at = c if "positions: halves" not in wrong else c // 2 + c % 2 * ((d + 1) // 2)
            P[p, at] = np.cos(slow) if c % 2 else np.sin(slow)
    return X + P


def before(given, Q, K, V, wrong):
    """The heads of Q, K and V as they meet: normed and turned."""
    steps = ["norm", "turn"]
    norm = given.get("norm")
    if (
        norm
        and norm.after_rotary != ("norm: other order" in wrong)
        or (not norm and "norm: other order" in wrong)
    ):
        steps.reverse()
    for step in steps:
        if step == "norm":
            Q, K = normed(given, Q, "gain_Q", wrong), normed(given, K, "gain_K", wrong)
            continue
        rotary = given.get("rotary")
        if "rotary: left out" in wrong or not (rotary or any("rotary: add" in w for w in wrong)):
            continue
        first = rotary.offset if rotary else 0
        first = 0 if "rotary: offset 0" in wrong else first
        first += ("rotary: one too far" in wrong) - ("rotary: one too short" in wrong)
        first += (K.shape[1] - Q.shape[1]) * ("rotary: from the end" in wrong)
        Q = Q if "rotary: K alone" in wrong else turned(rotary, Q, first, wrong)
        K = K if "rotary: Q alone" in wrong else turned(rotary, K, 0, wrong)
        Q = turned(rotary, Q, first, wrong) if "rotary: both twice" in wrong else Q
        if {"rotary: both twice", "rotary: K twice"} & wrong:
            K = turned(rotary, K, 0, wrong)
        if "rotary: cache twice" in wrong:
            again = turned(rotary, K, 0, wrong)
            K = np.array(
                [
                    [again[k, i] if i < first else K[k, i] for i in range(K.shape[1])]
                    for k in range(len(K))
                ]
            )
        V = turned(rotary, V, 0, wrong) if "rotary: V too" in wrong else V
    return Q, K, V


def normed(given, M, name, wrong):
    """(h, n, d), row by row over the root of its mean square."""
    norm = given.get("norm")
    if "norm: left out" in wrong or not (norm or "norm: added" in wrong):
        return M
    h, n, d = M.shape
    gain = getattr(norm, name) if norm else None
    gain = np.ones((h, d)) if gain is None else np.resize(np.array(gain, float), (h, d))
    if norm and getattr(norm, name) is not None:
        gain = gain + ("norm: 1 + gain" in wrong) - ("norm: gain less 1" in wrong)
    gain = np.ones((h, d)) if "norm: gain left out" in wrong else gain
    whole = bool(norm and norm.whole) != ("norm: other span" in wrong)
    found = np.zeros(M.shape)
    for k, i in np.ndindex(h, n):
        row, all_heads = M[k, i], M[:, i].ravel()
        span = all_heads if whole else row
        mean = span.mean() if "norm: mean taken away" in wrong else 0.0
        eps = norm.eps if norm else 1e-6
        root = np.sqrt(np.mean((span - mean) ** 2) + eps)
        found[k, i] = (row - mean) / root * gain[k]
    return found


def turned(rotary, M, first, wrong):
    """(h, n, d), pairs as complex numbers times exp(i · angle)."""
    d = M.shape[2]
    width = (rotary.width if rotary else None) or d
    base, interleaved, scaled = 10000.0, "rotary: added, interleaved" in wrong, 1.0
    if rotary:
        base, scaled = rotary.base, rotary.factor
        interleaved = (rotary.pairs == "interleaved") != ("rotary: other pairs" in wrong)
    if "rotary: whole width" in wrong:
        width = d
    for name in wrong:
        base = float(name.split()[-1]) if name.startswith("rotary: base") else base
    pairs = [base ** (-2 * k / width) for k in range(width // 2)]
    if rotary and rotary.frequencies:
        pairs = rotary.frequencies
    if "rotary: scaling left out" in wrong:
        width = 2 * len(pairs)
        pairs, scaled = [base ** (-2 * k / width) for k in range(width // 2)], 1.0
    if "rotary: backwards" in wrong:
        pairs = [-each for each in pairs]
    found = M.copy()
    if {"rotary: first head", "rotary: other axis", "rotary: other angles"} & wrong:
        return otherwise_turned(M, first, wrong, pairs, interleaved, scaled)
    for k, turn in enumerate(pairs):
        a, b = (2 * k, 2 * k + 1) if interleaved else (k, k + len(pairs))
        by = scaled * np.exp(1j * turn * np.arange(first, first + M.shape[1]))
        found[..., a] = ((M[..., a] + 1j * M[..., b]) * by).real
        found[..., b] = ((M[..., a] + 1j * M[..., b]) * by).imag
    return found


def otherwise_turned(M, first, wrong, pairs, interleaved, scaled):
    """Row by row and column by column, with an angle of its own for each column."""
    found, m = M.copy(), len(pairs)
    for k, p in np.ndindex(M.shape[:2]):
        if "rotary: first head" in wrong and k:
            continue
        place = first + (k if "rotary: other axis" in wrong else p)
        for c in range(2 * m):
            in_pairs, in_halves = c // 2, c % m
            pair = in_pairs if interleaved != ("rotary: other angles" in wrong) else in_halves
            second = c % 2 == 1 if interleaved else c >= m
            step = 1 if interleaved else m
            other = M[k, p, c - step] if second else -M[k, p, c + step]
            angle = place * pairs[pair]
            found[k, p, c] = scaled * (M[k, p, c] * np.cos(angle) + other * np.sin(angle))
    return found


def cut(M, heads, wrong):
    """The heads of (n, heads · d), one after the other."""
    d = M.shape[1] // heads
    if "split: reshaped" in wrong:
        return M.reshape(heads, M.shape[0], d)
    if {"split: none", "split, scale: none"} & wrong:
        return M[None]
    if "split: first" in wrong:
        return np.stack([M[:, :d]] * heads)
    if {"split: interleaved", "split, join: interleaved"} & wrong:
        return np.stack([M[:, k::heads] for k in range(heads)])
    return np.stack([M[:, k * d : (k + 1) * d] for k in range(heads)])


def joined(outputs, wrong):
    if "join: reshaped" in wrong:
        return np.array(outputs).reshape(outputs[0].shape[0], -1)
    if "join: gated" in wrong:
        gates = np.random.default_rng(3).random((len(outputs), len(outputs[0]), 1)) + 0.2
        return np.concatenate(
            [out * gate for out, gate in zip(outputs, gates, strict=True)], axis=1
        )
    if "join: first" in wrong:
        return np.concatenate([outputs[0] for _ in outputs], axis=1)
    if "join: averaged" in wrong:
        return sum(outputs) / len(outputs)
    if "join: averaged, tiled" in wrong:
        return np.concatenate([sum(outputs) / len(outputs)] * len(outputs), axis=1)
    if "join: averaged, repeated" in wrong:
        mean = sum(outputs) / len(outputs)
        return np.stack([column for column in mean.T for _ in outputs], axis=1)
    if {"join: interleaved", "split, join: interleaved"} & wrong:
        return np.stack([out[:, k] for k in range(outputs[0].shape[1]) for out in outputs], axis=1)
    return np.concatenate(outputs, axis=1)


def after(given, wrong, output):
    """The projection by W_O, its bias, and what is added."""
    if "W_O" in given and "W_O: missing" not in wrong:
        turned = {"W_O: transposed", "W_Q, W_K, W_V, W_O: transposed"} & wrong
        output = np.dot(output, given["W_O"].T if turned else given["W_O"])
        if "b_O" in given and not {"b_O: left out", "b_Q, b_K, b_V, b_O: left out"} & wrong:
            output = output + given["b_O"]
    if "residual: X" in wrong:
        output = output + standing(given, wrong)
    if "residual: row" in wrong:
        output = output + np.linspace(-1, 2, output.shape[1])
    columns = {"layout: columns", "layout, positions, W_Q, W_K, W_V: columns"} & wrong
    return output.T if columns else output


def careful(shares, value):
    """The weighted sum over the keys that have a weight."""
    keys = [
        np.flatnonzero(row) if np.isfinite(row).all() else np.arange(len(row)) for row in shares
    ]
    return np.array([row[k] @ value[k] for row, k in zip(shares, keys, strict=True)])


def factor(given, wrong, d_k, n_k):
    """What the scores are multiplied by."""
    right = given.get("scale", 1 / np.sqrt(d_k))
    if "split, scale: none" in wrong:
        return 1 / np.sqrt(d_k)
    chosen = [name for name in wrong if name.startswith("scale: ")]
    if not chosen:
        return right
    return {
        "scale: default": 1 / np.sqrt(d_k),
        "scale: none": 1,
        "scale: after softmax": 1,
        "scale: d_k": 1 / d_k,
        "scale: all heads": 1 / np.sqrt(d_k * given.get("heads", 1)),
        "scale: d_model": 1 / np.sqrt(given["X"].shape[1])
        if "X" in given
        else 1 / np.sqrt(d_k * given.get("heads", 1)),
        "scale: twice": right * right,
        "scale: inverse": np.sqrt(d_k),
        "scale: tokens": 1 / np.sqrt(n_k),
    }[chosen[0]]


def seen(given, wrong, shape, head):
    """Who may look at whom, as these mistakes have it, cell by cell."""
    see = given.get("allowed")
    if see is None or "mask: ignored" in wrong:
        return np.ones(shape, bool)
    if see.ndim == 3:
        others = {
            "mask: of the first": 0,
            "mask: of the next": (head + 1) % len(see),
            "mask: of the one before": (head + len(see) - 1) % len(see),
        }
        see = see[next((others[name] for name in wrong if name in others), head)]
    see = np.broadcast_to(see, shape)
    n_q, n_k = shape
    low = n_k - n_q if given.get("corner") == "lower right" else 0
    kept = np.array([see[:, j].any() for j in range(n_k)])  # keys that are no padding
    if (see == np.tril(np.ones(shape), low)).all():
        kept[:] = True

    def cells(rule):
        return np.array([[bool(rule(i, j)) for j in range(n_k)] for i in range(n_q)])

    rules = {
        "mask: inverted": lambda i, j: not see[i, j],
        "mask: transposed": lambda i, j: see[j, i],
        "mask: other triangle": lambda i, j: j >= i + low and kept[j],
        "mask: diagonal hidden": lambda i, j: j < i + low and kept[j],
        "mask: one ahead": lambda i, j: j <= i + low + 1 and kept[j],
        "mask: other corner": lambda i, j: j <= i + (n_k - n_q if low == 0 else 0) and kept[j],
        "mask: no window": lambda i, j: j <= i + low and kept[j],
        "mask: wider": lambda i, j: i + low - given["window"] <= j <= i + low and kept[j],
        "mask: narrower": lambda i, j: 1 < j - i - low + given["window"] <= given["window"],
        "mask: padding as rows": lambda i, j: kept[i] and (j <= i or not given.get("look")),
        "mask: diagonal shown": lambda i, j: see[i, j] or i == j,
        "mask: padding lost": lambda i, j: j <= i + low,
        "mask: look-ahead lost": lambda i, j: kept[j],
        "mask: sides wider": lambda i, j: abs(i - j) <= given["sides"] + 1 and kept[j],
        "mask: sides narrower": lambda i, j: abs(i - j) < given["sides"] and kept[j],
        "mask: last key short": lambda i, j: -given["sides"] <= j - i < given["sides"] and kept[j],
        "mask: nothing after": lambda i, j: 0 <= i - j <= given["sides"] and kept[j],
        "mask: nothing before": lambda i, j: 0 <= j - i <= given["sides"] and kept[j],
        "mask: window alone": lambda i, j: abs(i - j) <= given["sides"],
        "mask: padding alone": lambda i, j: kept[j],
        "mask: documents lost": lambda i, j: j <= i,
        "mask: documents alone": lambda i, j: given["document"][i] == given["document"][j],
        "mask: look-ahead added": lambda i, j: see[i, j] and j <= i,
        "mask: look-ahead added, lower right": lambda i, j: see[i, j] and j <= i + n_k - n_q,
        "mask: look-ahead instead": lambda i, j: j <= i,
        "mask: look-ahead instead, lower right": lambda i, j: j <= i + n_k - n_q,
        "mask: padding both ways": lambda i, j: see[i, j] and kept[i],
    }
    chosen = [rules[name] for name in wrong if name in rules]
    return cells(chosen[0]) if chosen else see


def share(scores, by, given, wrong, head):
    """The weights of one head, row by row, with the mask as these mistakes have it."""
    see = seen(given, wrong, scores.shape, head)
    cap, bias = given.get("softcap"), added(given, wrong, scores.shape, head, by)
    scaled = scores * by
    if "cap: before scale" in wrong:
        scaled = cap * np.tanh(scores / cap) * by
    elif cap and not {"cap: after mask", "cap: left out"} & wrong:
        scaled = cap * np.tanh(scaled / cap)
    scaled = scaled + bias + by_bucket(given, wrong, scores.shape, head, by)
    scaled = hidden(scaled, see, wrong)
    if "hiding, mask: lowest twice" in wrong:
        scaled = lowest_twice(scaled, see)
    if "cap: after mask" in wrong:
        scaled = cap * np.tanh(scaled / cap)
    sunk = sink(given, wrong, by, head)
    if {"sinks: shifted", "sinks: added, shifted"} & wrong:
        lines = scaled.T if "softmax: queries" in wrong else scaled
        sunk = sunk * np.array([[np.exp(max(row)) if max(row) > -inf else 1] for row in lines])
    shares = normalised(scaled, see, wrong, sunk, "softmax" in given)
    return np.where(see, shares, 0) if "hiding: after softmax" in wrong else shares


def added(given, wrong, shape, head, by):
    """What is added to the scores of a head."""
    bias = given.get("bias")
    far = np.array([[i - j for j in range(shape[1])] for i in range(shape[0])])
    if "bias: added" in wrong:
        return -(2.0 ** (-8 * (head + 1) / given.get("heads", 1))) * abs(far)
    if bias is None or "bias: ignored" in wrong:
        return np.zeros(shape)
    bias = bias[head] if bias.ndim == 3 else bias
    if "bias: signed" in wrong:
        return bias[1, 0] * far
    if "bias: without slopes" in wrong:
        return -1.0 * abs(far)
    if {"bias: one sequence", "bias: one step off"} & wrong:
        step = head + 1 if "bias: one sequence" in wrong else head
        return -(2.0 ** (-8 * step / given["heads"])) * abs(far)
    return bias * (by if "bias: scaled" in wrong else -1 if "bias: negated" in wrong else 1)


def by_bucket(given, wrong, shape, head, by):
    """What T5's table adds to the scores of a head, place by place."""
    part, found = given.get("relative"), np.zeros(shape)
    if part is None or "relative: left out" in wrong:
        return found
    table, both, far = np.array(part.table), part.bidirectional, part.max_distance
    both = both != ("relative: other side" in wrong)
    far = 128 if "relative: 128" in wrong else far
    numbers = [table[r, head % table.shape[1]] for r in range(len(table))]
    if "relative: reshaped" in wrong:
        numbers = table.ravel()[head * len(table) : (head + 1) * len(table)]
    for i, j in np.ndindex(shape):
        ahead = j - i - part.past
        ahead = -ahead if "relative: turned" in wrong else ahead
        side = len(table) // 2 if both else len(table)
        first = side if both and ahead > 0 else 0
        distance, near = abs(ahead) if both else max(-ahead, 0), side // 2
        row = distance
        if distance >= near:
            row = near + int(np.log(distance / near) / np.log(far / near) * (side - near))
        found[i, j] = numbers[first + min(row, side - 1)]
    return found * (by if "relative: scaled" in wrong else 1)


def sink(given, wrong, by, head):
    """What stands in a row's sum beside its keys."""
    if {"sinks: added", "sinks: added, shifted"} & wrong:
        return 1.0
    if "sinks" not in given or {"sinks: left out", "sinks: in output"} & wrong:
        return 0.0
    score = given["sinks"][head]
    if "sinks: not exponentiated" in wrong:
        return score
    right = given.get("scale", by)
    return np.exp(score * right if "sinks: scaled" in wrong else score)


def hidden(scaled, see, wrong):
    if "hiding: 0/1 added" in wrong:
        return scaled + np.where(see, 1, 0)
    if "hiding: −1e9 added" in wrong:
        return scaled - 1e9 * ~see
    if "hiding: after softmax" in wrong:
        return scaled
    if "hiding: 0" in wrong:
        return scaled * see
    fillers = {"filled": -1e9, "−1": -1, "−10": -10, "+∞": inf}
    for name, filler in ((f"hiding: {name}", filler) for name, filler in fillers.items()):
        if name in wrong:
            return np.where(see, scaled, filler)
    return np.where(see, scaled, -inf)


def lowest_twice(scaled, see):
    """Two masks of the lowest float32 are added in float32, by look-ahead and by padding."""
    found = np.zeros(scaled.shape)
    for i, j in np.ndindex(scaled.shape):
        padded = not any(see[row, j] for row in range(len(see)))
        score, lowest = (
            np.float32(0 if np.isinf(scaled[i, j]) else scaled[i, j]),
            np.finfo("f4").min,
        )
        with np.errstate(over="ignore"):
            score = score + lowest if j > i else score
            score = score + lowest if padded else score
        found[i, j] = scaled[i, j] if see[i, j] else score
    return found


def normalised(scaled, see, wrong, sunk=0.0, alone=False):
    """From masked scores to weights."""
    gone = "hiding: NaN" in wrong
    if "softmax: none" in wrong:
        return np.where(see.any(axis=1)[:, None], scaled, nan) if gone else scaled
    if "softmax: sigmoid" in wrong or (alone and "softmax: taken" not in wrong):
        with np.errstate(over="ignore"):
            shares = 1 / (1 + np.exp(-scaled))
        return np.where(see.any(axis=1)[:, None], shares, nan) if gone else shares
    if "softmax: both axes" in wrong:
        flat = softmax(scaled.ravel(), gone and not see.any(), sunk)
        return flat.reshape(scaled.shape)
    columns = "softmax: queries" in wrong
    lines, seen_ = (scaled.T, see.T) if columns else (scaled, see)
    pairs = zip(lines, seen_, strict=True)
    if "softmax: divided" in wrong:
        pairs = [(np.where(np.isneginf(line), 0, line), s.any()) for line, s in pairs]
        rows = [line / line.sum() if some or line.any() else 0 * line for line, some in pairs]
        return np.array(
            [
                row if some or not gone else nan * row
                for row, (_, some) in zip(rows, pairs, strict=True)
            ]
        )
    sunk = np.ravel(np.broadcast_to(sunk, (len(lines), 1)))
    rows = [
        softmax(line, gone and not s.any(), more)
        for (line, s), more in zip(pairs, sunk, strict=True)
    ]
    if "softmax: twice" in wrong:
        rows = [softmax(row, False) for row in rows]
    if "softmax: twice, masked" in wrong:
        again = hidden(np.array(rows), see, wrong)
        rows = [softmax(row, gone and not s.any()) for row, s in zip(again, see, strict=True)]
    return np.array(rows).T if columns else np.array(rows)


def softmax(line, gone, sunk=0.0):
    if gone:
        return np.full(line.shape, nan)
    if np.isneginf(line).all():
        return np.zeros(line.shape)
    with np.errstate(invalid="ignore"):
        grown = np.exp(line - line.max())
    return grown / (grown.sum() + (sunk * np.exp(-line.max()) if sunk else 0))
