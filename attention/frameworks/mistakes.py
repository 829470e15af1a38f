"""What codes do differently, and attention run with any set of these deviations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attention.arrays import softmax_rows, weighted_sum
from attention.heads import join_heads, split_heads
from attention.layouts import repeat_heads
from attention.masks import causal, causal_lower_right
from attention.scores import soft_cap

STAGES = ("Q", "K", "V", "scores", "scaled", "capped", "masked", "weights", "output")


@dataclass(frozen=True, eq=False)
class Given:
    """What both sides started from: Q, K, V, or X and the weights; (…, n, h · d) with ``heads``, or (…, h, n, d) without."""

    Q: np.ndarray | None = None
    K: np.ndarray | None = None
    V: np.ndarray | None = None
    X: np.ndarray | None = None
    W_Q: np.ndarray | None = None
    W_K: np.ndarray | None = None
    W_V: np.ndarray | None = None
    W_O: np.ndarray | None = None
    memory: np.ndarray | None = None
    heads: int = 1
    kv_heads: int | None = None  # of keys and values, where fewer
    allowed: np.ndarray | None = None
    scale: float | None = None
    softcap: float | None = None


@dataclass(frozen=True)
class Deviation:
    """One thing that codes do differently: ``slot`` is the step it changes, ``option`` how."""

    slot: str
    option: str
    title: str  # a clause: what their code does
    fix: str  # a sentence: what to do about it


# fmt: off
DEVIATIONS = tuple(Deviation(*row) for row in (
    ("weights", "transposed", "W_Q, W_K and W_V are transposed",
     "Write X W for weights of shape (d_in, d_out), X Wᵀ for (d_out, d_in), as nn.Linear stores them."),
    ("split", "reshaped", "the heads are split by a reshape without a transpose",
     "Reshape to (n, heads, d), then swap the first two axes."),
    ("groups", "tiled", "shared heads of keys and values are tiled (h0, h1, h0, h1)",
     "Repeat each head in a row instead: h0, h0, h1, h1 (repeat_interleave, np.repeat)."),
    ("order", "swapped", "keys and values are swapped",
     "Check the order of the arguments: Keras layers take query, value, key."),
    ("product", "untransposed", "K is not transposed: the scores are Q K",
     "Write Q Kᵀ, swapping the last two axes of K."),
    ("scale", "default", "the scores are multiplied by 1/√d_k, not by the scale given",
     "Pass the scale on, and check that it is used."),
    ("scale", "none", "the scores are not scaled",
     "Multiply the scores by the scale, by default 1/√d_k, before the mask and the softmax."),
    ("scale", "d_model", "the scores are divided by √d_model",
     "Divide by √d_k, the width of one head's keys."),
    ("scale", "all heads", "the scores are divided by √(d_k · heads)",
     "Divide by √d_k, the width of one head, not of all heads together."),
    ("scale", "d_k", "the scores are divided by d_k",
     "Divide by the square root of d_k."),
    ("cap", "after mask", "the soft cap comes after the mask",
     "Cap the scores first, then mask: tanh turns −∞ into −softcap, and hidden keys leak."),
    ("mask", "inverted", "the mask is inverted",
     "Find out what True means: may look in torch's SDPA, hide in nn.MultiheadAttention; negate the mask."),
    ("mask", "ignored", "the mask is not used",
     "Pass the mask on, and check that it reaches the scores."),
    ("mask", "other corner", "the look-ahead mask is aligned to the other corner",
     "With n_q ≠ n_k, choose: upper left (torch SDPA) or lower right (FlashAttention, caches)."),
    ("hiding", "NaN", "a row that sees no key becomes NaN",
     "Give such a row weights 0, as torch's SDPA and ONNX do: softmax of nothing but −∞ is 0/0."),
    ("hiding", "filled", "hidden scores are overwritten by a finite number such as −1e9 or finfo.min, or that is added in float32",
     "Use −∞, and give a row that sees no key weights 0."),
    ("hiding", "−1e9 added", "−1e9 is added to hidden scores in float64",
     "Use −∞: a finite number is a bias, and a row with nothing else keeps its softmax."),
    ("hiding", "0/1 added", "the mask is added to the scores as 0 and 1",
     "Turn it into a boolean mask, or into 0 and −∞, before adding it."),
    ("hiding", "after softmax", "the mask is applied after the softmax",
     "Mask the scores before the softmax, so that each row sums to 1 again."),
    ("axis", "queries", "the softmax runs over the queries",
     "Take the softmax over the last axis, the keys."),
    ("join", "reshaped", "the heads are joined by a reshape without a transpose",
     "Swap heads and tokens back, then reshape to (n, heads · d)."),
    ("leak", "NaN", "NaN or inf at a hidden key reaches the output",
     "Set hidden values to 0 before the weighted sum: 0 · NaN is NaN."),
    ("precision", "float16", "the arithmetic is in half precision (float16 or bfloat16)",
     "Compute in float32; half precision keeps two or three digits."),
))
# fmt: on


class Bench:
    """Runs the attention of one input with any set of deviations. A step is done once for all that share it."""

    STEPS = (  # each step, and the slots that it alone looks at
        ("_qkv", ("precision", "weights", "split", "groups", "order")),
        ("_scores", ("product",)),
        ("_scaled", ("scale",)),
        ("_masked", ("cap", "mask", "hiding")),
        ("_weights", ("axis",)),
        ("_output", ("leak", "join")),
    )
    SLOTS = tuple(slot for _, slots in STEPS for slot in slots)
    MOST_KEPT = 64  # results of steps

    def __init__(self, given: Given):
        self.given = given
        self.kept: dict = {}
        self.right = self.run(())

    @cached_property
    def applicable(self) -> tuple[Deviation, ...]:
        """The deviations that these inputs leave room for."""
        return tuple(d for d in DEVIATIONS if self._applies(d))

    def run(self, deviations) -> dict[str, np.ndarray] | None:
        """Every stage under these deviations; None where the inputs leave no room for one of them."""
        chosen = dict.fromkeys(self.SLOTS) | {d.slot: d.option for d in deviations}
        stages, options = {}, ()
        try:
            with np.errstate(all="ignore"):
                for step, slots in self.STEPS:
                    options += tuple(chosen[slot] for slot in slots)
                    stages = stages | self._once(step, options, stages, chosen)
        except ValueError:
            return None
        return stages

    def _once(self, step: str, options: tuple, stages: dict, chosen: dict) -> dict:
        """What a step adds; the latest results are kept for the sets of deviations that share it."""
        key = step, options
        found = self.kept.pop(key, None) or getattr(self, step)(stages, chosen)
        self.kept[key] = found
        if len(self.kept) > self.MOST_KEPT:
            del self.kept[next(iter(self.kept))]
        return found

    def views(self, name: str, values: np.ndarray) -> list[np.ndarray]:
        """The shapes in which a code may hand over its output or weights."""
        if self.given.heads == 1:
            return [values]
        if name == "weights":
            return [values, values.mean(axis=-3)]
        return [values] if self.given.W_O is not None else [values, split_heads(values, self.given.heads)]

    def first_difference(self, deviations) -> str | None:
        """The first stage that is another than in right attention."""
        stages = self.run(deviations)
        for name in STAGES:
            ours, theirs = self.right[name], stages[name]
            if ours.shape != theirs.shape or gap(theirs, ours).max(initial=0) > 1e-12 * reach(ours):
                return name
        return None

    def _applies(self, d: Deviation) -> bool:
        """Whether there is room for the deviation, and it is not another one's number under a second name."""
        if self.run((d,)) is None:
            return False
        if d.slot != "scale":
            return True
        d_k = self.right["Q"].shape[-1]
        earlier = [None, *(e.option for e in DEVIATIONS[: DEVIATIONS.index(d)] if e.slot == "scale")]
        return not any(math.isclose(self._scale(d.option, d_k), self._scale(option, d_k)) for option in earlier)

    # each step: the stages so far, and the chosen options, to new stages

    def _qkv(self, _, chosen) -> dict:
        g, half = self.given, chosen["precision"]
        Q, K, V = self._projected(chosen["weights"])
        if g.heads > 1:
            split = _reshaped if chosen["split"] else split_heads
            kv = g.kv_heads or g.heads
            Q, K, V = split(Q, g.heads), split(K, kv), split(V, kv)
        elif chosen["split"]:
            raise ValueError("there are no heads to split")
        if grouped(Q, K):
            share = _tiled if chosen["groups"] else repeat_heads
            K, V = share(K, Q.shape[-3]), share(V, Q.shape[-3])
        elif chosen["groups"]:
            raise ValueError("no heads are shared")
        if chosen["order"]:
            K, V = V, K
        return {"Q": _as(half, Q), "K": _as(half, K), "V": _as(half, V)}

    def _projected(self, transposed):
        g = self.given
        if g.X is None:
            if transposed:
                raise ValueError("there are no weights to transpose")
            return g.Q, g.K, g.V
        source = g.X if g.memory is None else g.memory
        pairs = (g.X, g.W_Q), (source, g.W_K), (source, g.W_V)
        return (M @ (np.swapaxes(W, -1, -2) if transposed else W) for M, W in pairs)

    def _scores(self, stages, chosen) -> dict:
        K = stages["K"]
        scores = stages["Q"] @ (K if chosen["product"] else np.swapaxes(K, -1, -2))
        if scores.shape[-1] != stages["V"].shape[-2]:
            raise ValueError("Q K would have no weight for each value")
        return {"scores": _as(chosen["precision"], scores)}

    def _scale(self, option, d_k: int) -> float:
        g = self.given
        d_model = g.X.shape[-1] if g.X is not None else d_k * g.heads
        right = d_k**-0.5 if g.scale is None else g.scale
        return {
            None: right,
            "default": d_k**-0.5,
            "none": 1.0,
            "d_model": d_model**-0.5,
            "all heads": (d_k * g.heads) ** -0.5,
            "d_k": 1 / d_k,
        }[option]

    def _scaled(self, stages, chosen) -> dict:
        scale = self._scale(chosen["scale"], stages["Q"].shape[-1])
        return {"scaled": _as(chosen["precision"], stages["scores"] * scale)}

    def _masked(self, stages, chosen) -> dict:
        g, half, capped = self.given, chosen["precision"], stages["scaled"]
        if g.allowed is None and (chosen["mask"] or chosen["hiding"] or chosen["cap"]):
            raise ValueError("nothing is masked")
        if g.softcap is None and chosen["cap"]:
            raise ValueError("nothing is capped")
        if g.softcap is not None and not chosen["cap"]:
            capped = _as(half, soft_cap(capped, g.softcap))
        allowed = self._allowed(capped.shape, chosen["mask"])
        masked = HIDING[chosen["hiding"]](capped, allowed)
        if chosen["cap"]:
            masked = soft_cap(masked, g.softcap)
        return {"capped": capped, "masked": _as(half, masked), "allowed": allowed}

    def _allowed(self, shape, option) -> np.ndarray:
        allowed = np.ones(shape, bool) if self.given.allowed is None else np.broadcast_to(self.given.allowed, shape)
        if option == "inverted":
            return ~allowed
        if option == "ignored":
            return np.ones(shape, bool)
        if option == "other corner":
            corners = causal(*shape[-2:]), causal_lower_right(*shape[-2:])
            for mine, other in (corners, corners[::-1]):
                if (allowed == mine).all() and (mine != other).any():
                    return np.broadcast_to(other, shape)
            raise ValueError("the mask is not a look-ahead mask, or its corners are one")
        return allowed

    def _weights(self, stages, chosen) -> dict:
        masked, allowed, hiding = stages["masked"], stages["allowed"], chosen["hiding"]
        visible = masked != -np.inf
        if chosen["axis"]:
            turned = softmax_rows(np.swapaxes(masked, -1, -2), np.swapaxes(visible, -1, -2))
            weights = np.swapaxes(turned, -1, -2)
        else:
            weights = softmax_rows(masked, visible)
        if hiding == "NaN":
            weights = np.where(allowed.any(axis=-2 if chosen["axis"] else -1, keepdims=True), weights, np.nan)
        if hiding == "after softmax":
            weights = np.where(allowed, weights, 0)
        return {"weights": _as(chosen["precision"], weights)}

    def _output(self, stages, chosen) -> dict:
        g, half, weights = self.given, chosen["precision"], stages["weights"]
        visible = stages["masked"] != -np.inf
        if chosen["leak"] and np.isfinite(stages["V"]).all():
            raise ValueError("there is nothing to leak")
        output = weights @ stages["V"] if chosen["leak"] else weighted_sum(weights, stages["V"], visible)
        size = np.abs(weights) @ np.abs(np.where(np.isfinite(stages["V"]), stages["V"], 0))
        output = _as(half, output)
        if g.heads > 1:
            join = _rejoined if chosen["join"] else join_heads
            output, size = join(output), join(size)
        elif chosen["join"]:
            raise ValueError("there are no heads to join")
        if g.W_O is not None:
            output, size = _as(half, output @ g.W_O), size @ np.abs(g.W_O)
        return {"output": output, "output size": size, "weights size": np.abs(weights)}


HIDING: dict[str | None, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    None: lambda scores, allowed: np.where(allowed, scores, -np.inf),
    "NaN": lambda scores, allowed: np.where(allowed, scores, -np.inf),
    "filled": lambda scores, allowed: np.where(allowed, scores, -1e9),
    "−1e9 added": lambda scores, allowed: np.where(allowed, scores, scores - 1e9),
    "0/1 added": lambda scores, allowed: scores + allowed,
    "after softmax": lambda scores, allowed: scores,
}


def gap(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """How far apart, cell by cell; 0 where both are the same infinity or NaN, ∞ where only one is."""
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0, np.abs(found - wanted))
    return np.where(np.isfinite(apart), apart, np.inf)


def less(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """theirs − ours, where the same infinity on both sides is no difference."""
    with np.errstate(invalid="ignore"):
        return np.where(gap(theirs, ours) == 0, 0.0, theirs - ours)


def reach(M: np.ndarray) -> float:
    """The largest finite size."""
    return float(np.abs(M[np.isfinite(M)]).max(initial=0))


def _as(half, M: np.ndarray) -> np.ndarray:
    """Rounded to float16 where the arithmetic is in it: products are summed wider, results stored in half."""
    return M if half is None else M.astype(np.float16).astype(np.float64)


def grouped(Q, K) -> bool:
    """Whether several heads of queries share one of keys and values."""
    return Q.ndim > 2 and K.ndim > 2 and K.shape[-3] not in (1, Q.shape[-3])


def _reshaped(M: np.ndarray, heads: int) -> np.ndarray:
    *lead, n, width = M.shape
    return M.reshape(*lead, heads, n, width // heads)


def _rejoined(M: np.ndarray) -> np.ndarray:
    *lead, h, n, d = M.shape
    return M.reshape(*lead, n, h * d)


def _tiled(M: np.ndarray, heads: int) -> np.ndarray:
    return np.concatenate([M] * (heads // M.shape[-3]), axis=-3)
