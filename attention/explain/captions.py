"""The formula and the sentence of each stage, as they are true for the numbers shown."""

from __future__ import annotations

import numpy as np

from attention.core.biases import alibi_slopes
from attention.core.masks import TUTORIAL_FILL, lead
from attention.core.scores import FUNCTION, SIGMOID
from attention.explain.view import View
from attention.vocabulary.numbers import number
from attention.vocabulary.stages import STAGES

NEAR = 1e6  # how far from it the sum with another bias may be


def describe(view: View, name: str) -> dict[str, str]:
    """Return ``formula`` and ``sentence`` of a stage."""
    stage = STAGES[name]
    formula, sentence = _SPECIAL.get(name, _as_always)(view, name)
    return {"formula": formula or stage.formula, "sentence": sentence or stage.sentence}


def fills(view: View) -> bool:
    """Return whether the bias only hides keys as tutorials do, by −1e9."""
    return view.bias is not None and bool(np.isin(view.bias, (0.0, TUTORIAL_FILL)).all())


def pushed(view: View) -> np.ndarray:
    """Return True where the bias hides a key as tutorials do, (n_q, n_k), whatever else it adds."""
    if view.bias is None:
        return np.zeros_like(view.allowed)
    return np.asarray(np.abs(view.bias - TUTORIAL_FILL) < NEAR)


def by_distance(view: View) -> tuple[float, np.ndarray] | None:
    """Return the slope and distances, (n_q, n_k), of an ALiBi bias, with or without −1e9."""
    if view.bias is None or not view.bias.any():
        return None
    n_q, n_k = view.allowed.shape
    slope = float(alibi_slopes(view.heads)[view.head])
    for past in (0, n_k - n_q):  # the first queries or the last ones are aligned with the keys
        distances = np.abs(lead(n_q, n_k, past))
        fill = np.where(pushed(view), TUTORIAL_FILL, 0.0)
        added = fill - slope * distances
        if np.array_equal(view.bias, added + (0 if view.relative is None else view.relative)):
            return slope, distances
    return None


def _as_always(view: View, name: str) -> tuple[str, str]:
    return "", ""


def _projection(view: View, name: str) -> tuple[str, str]:
    if f"W_{name}" not in view.stages:
        return "given", ""
    source = STAGES[view.source("X" if name == "Q" else "memory")].heading
    source = f"({source})" if " " in source else source
    return f"{source} W_{name}{_with_bias(view, name)}", ""


def _projected(view: View, name: str) -> tuple[str, str]:
    return f"{STAGES[name].formula}{_with_bias(view, 'O')}", ""


def _with_bias(view: View, letter: str) -> str:
    return f" + b_{letter}" if f"b_{letter}" in view.stages else ""


_FUNCTIONS = {"normed": "RMSNorm", "rotated": "RoPE"}


def prepared(view: View, letter: str, before: str = "") -> str:
    """Return the formula of Q or K here, or ``before`` a stage: ``RoPE(RMSNorm(Q))``."""
    source = view.source(letter, before)
    if source == letter:
        return letter
    return f"{_FUNCTIONS[source.partition('_')[2]]}({prepared(view, letter, source)})"


def _prepared(view: View, name: str) -> tuple[str, str]:
    letter, _, step = name.partition("_")
    formula, note = f"{_FUNCTIONS[step]}({prepared(view, letter, name)})", ""
    if step == "normed" and view.norm is not None and view.norm.whole and view.heads > 1:
        note = "All heads together, divided by their root mean square and multiplied by the gain."
    return formula, note


def _scores(view: View, name: str) -> tuple[str, str]:
    return f"{prepared(view, 'Q')} {prepared(view, 'K')}ᵀ", ""


def _scaled(view: View, name: str) -> tuple[str, str]:
    if view.divides_by_root:
        return "", ""
    formula = f"scores × {number(view.scale, 4)}"
    return formula, "The scores, multiplied by the scale you chose."


def _mask(view: View, name: str) -> tuple[str, str]:
    if "masked" not in view.stages:
        return "", "−∞ = hidden: the weights of every head are 0."
    if view.bias is None:
        return "", ""
    if fills(view):
        return "0 or −1e9", "0 = visible, −1e9 = hidden."
    hidden = "" if view.allowed.all() else ", −∞ where the key is hidden"
    if not hidden and pushed(view).any():
        hidden = ", and −1e9 where the key is hidden"
    added = ["R by distance"] if view.relative is not None else []
    added += ["−slope × distance"] if by_distance(view) is not None else []
    return " + ".join(added) or "the bias", f"A bias to add to each score{hidden}."


def _masked(view: View, name: str) -> tuple[str, str]:
    before = view.source("scaled", name)
    formula = before if view.before_weights != name else f"{before} + M"
    if view.bias is not None:
        if fills(view):
            return formula, "Hidden keys get −1e9 added, as tutorials do."
        hidden = "" if view.allowed.all() else "; hidden keys get −∞"
        if not hidden and pushed(view).any():
            hidden = "; hidden keys also get −1e9"
        return formula, f"The bias is added{hidden}."
    return formula, "No mask: nothing is hidden." if view.allowed.all() else ""


def _weights(view: View, name: str) -> tuple[str, str]:
    if "masked" not in view.stages:
        if view.recorded and view.recorded.is_computed:
            return "from captured weights", "Computed from the weights of a captured model."
        return "finished weights", "Weights given directly, not computed here."
    before = view.before_weights
    if view.softmax == FUNCTION:
        return f"a function of {before}", "The given function, applied to each row."
    if view.softmax == SIGMOID:
        return f"1 / (1 + exp(−{before}))", "Each weight by itself: rows need not add up to 1."
    if not view.softmax:
        return f"{before}, as it is", "Softmax is off: the scores are the weights."
    if view.sunk is None or not view.sunk.size:
        is_blind = not view.allowed.any(axis=1).all()
        blind = "Each row sums to 1; one with no visible key stays 0." if is_blind else ""
        return f"softmax({before})", blind
    least, most = (number(100 * share, 0) for share in (view.sunk.min(), view.sunk.max()))
    shares = f"{least} %" if least == most else f"{least} to {most} %"
    sentence = f"Rows add up to less than 1: a sink takes {shares}."
    if most == "0":
        sentence = "A sink takes less than 1 % of each row."
    return f"exp({before}) / (Σ exp({before}) + exp(sink))", sentence


def _modified(view: View, name: str) -> tuple[str, str]:
    return f"score_mod({view.source('scaled', name)})", ""


def _output(view: View, name: str) -> tuple[str, str]:
    if view.softmax is True:
        return "", ""
    by = "raw scores" if not view.softmax else "these weights"
    return "", f"The values added up by {by}; colours have another range than V's."


def _context(view: View, name: str) -> tuple[str, str]:
    return "", "The sum of the outputs of this head." if view.heads > 1 else ""


_SPECIAL = {
    "Q": _projection,
    "K": _projection,
    "V": _projection,
    **dict.fromkeys(("Q_normed", "K_normed", "Q_rotated", "K_rotated"), _prepared),
    "scores": _scores,
    "scaled": _scaled,
    "modified": _modified,
    "mask": _mask,
    "masked": _masked,
    "weights": _weights,
    "output": _output,
    "projected": _projected,
    "context": _context,
}


Parts = list[tuple[str, str | None]]


def formula(view: View) -> Parts:
    """Return the formula in parts, each with its stage; for weights only, their name.

    >>> from attention import self_attention
    >>> trace = self_attention([[1], [2]], [[1]], [[3]], [[1]], b_Q=[5], softcap=2)
    >>> print("".join(words for words, _ in formula(View.of(trace))))
    Attention(Q, K, V) = softmax( 2 tanh( Q Kᵀ / √d_k / 2 ) ) V,   Q = X W + b
    """
    of_heads: Parts = [(f"   {view.which_head}", None)] if view.which_head else []
    if "output" not in view.stages:
        return [("Attention weights A", "weights"), *of_heads]
    if view.recorded:  # mask and scale may be others than the model's
        of_heads = [(f"   Q, K, V of {view.which_head}", None)]
    parts: Parts = [("Attention", "output"), ("(Q, K, V) = ", None)]
    if view.sink is not None:
        share = "exp(S) / (Σ exp(S) + exp(sink))"
        parts += [(share, "weights"), (" ", None), ("V,", "V"), ("   S = ", None), *_meeting(view)]
    else:
        if view.softmax:
            parts += [("softmax" if view.softmax is True else view.softmax, "weights")]
        parts += [("( ", None), *_meeting(view), (" ) ", None), ("V", "V")]
    for letters, made in _projections(view).items():
        words, stage = parts[-1]
        parts[-1:] = [(f"{words},", stage), (f"   {', '.join(letters)} = {made}", letters[0])]
    return [*parts, *of_heads]


def _meeting(view: View) -> Parts:
    """Return queries times keys, with what is done to the scores before the softmax."""
    scores: Parts = [(prepared(view, "Q"), view.source("Q")), (" ", None)]
    scores += [(f"{prepared(view, 'K')}ᵀ", view.source("K"))]
    if view.divides_by_root:
        scores += [(" / √d_k", "scaled")]
    elif view.scale != 1:
        scores += [(f" × {number(view.scale, 4)}", "scaled")]
    if "capped" in view.stages and view.softcap is not None:
        cap = number(view.softcap, 4)
        scores = [(f"{cap} tanh( ", "capped"), *scores, (f" / {cap} )", "capped")]
    if "modified" in view.stages:
        scores = [("score_mod( ", "modified"), *scores, (" )", "modified")]
    if not view.allowed.all() or view.bias is not None:
        scores += [(" + M", "masked")]
    return scores


def _projections(view: View) -> dict[str, str]:
    """Return the formulas of Q, K and V if positions or biases are added, by their letters."""
    together: dict[str, str] = {}
    for letter in "QKV":
        made = _projection(view, letter)[0]
        if "+" in made:
            made = made.replace(f"_{letter}", "")
            together[made] = together.get(made, "") + letter
    return {letters: made for made, letters in together.items()}
