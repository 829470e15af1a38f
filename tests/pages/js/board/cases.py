"""Write the boards that the layout's tests lay out, computed by the package, as JSON.

    python tests/pages/js/board/cases.py PATH

Of each stage it holds the shape and the texts of its cells, each once and the longest ones only:
their widths are measured by the tests, in the letters that they use.
"""

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from attention.core.norms import RMSNorm
from attention.core.rotary import Rotary
from attention.explain.colours import hidden_cells
from attention.explain.play import play_of
from attention.readers.select import SelectedArray
from attention.session.bring.finished import with_weights
from attention.session.edit import changes
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.session.teach import exercise, tour
from attention.vocabulary.numbers import rounded
from attention.vocabulary.stages import LOWER, STAGES

TIMES = (
    "it was the best of times it was the worst of times it was the age of wisdom it was the age of"
    " foolishness"
)
ALICE = (
    "Alice was beginning to get very tired of sitting by her sister on the bank and of having"
    " nothing to do once or twice she had peeped into the book her sister was reading but it had no"
    " pictures or conversations in it and what is the use of a book thought Alice without pictures"
    " or conversations so she was considering in her own mind"
)
TIRED = "the animal did not cross the street because it was too tired"
LONGEST = 60  # texts of a stage that are kept
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

# Where each stage is drawn, as the board is sent it.
PLACES = {
    name: {key: value for key, value in asdict(stage.place).items() if value not in ("", None)}
    for name, stage in STAGES.items()
}


def cat() -> Settings:
    return EXAMPLES[FIRST].build()


def own(sentence: str, mask: str = "none", query: int = 0) -> Settings:
    s = changes.set_mask(changes.set_sentence(cat(), sentence), mask)
    return replace(s, query=query)


def given(n: int, d: int, seed: int, words: str, mask: str = "none") -> Settings:
    """Q, K and V given, of random numbers."""
    rolled = {
        name: Matrix.rolled((n, d), Recipe("normal", seed + k)) for k, name in enumerate("QKV")
    }
    base = EXAMPLES["random-qkv"].build()
    return replace(base, tokens=tuple(words.split())[:n], matrices=rolled, mask=mask, query=0)


def wide(d: int) -> Settings:
    s = cat()
    drawn = {"X": Matrix.rolled((len(s.tokens), d), Recipe("normal", 4))}
    for k, name in enumerate("QKV", 5):
        drawn[f"W_{name}"] = Matrix.rolled((d, d), Recipe("xavier", k))
    return replace(s, matrices=drawn)


def two_heads(s: Settings | None = None) -> Settings:
    s = changes.set_output_weights(changes.set_heads(s or cat(), 2), True)
    return s.with_matrix("W_O", Matrix.rolled((4, 4), Recipe("integers", 7, -1, 2, "W_O")))


def with_bias(s: Settings, name: str, columns: int = 4) -> Settings:
    return s.with_matrix(name, Matrix.rolled((1, columns), Recipe("integers", 9, -2, 3, name)))


def rotary_with_norm() -> Settings:
    return replace(cat(), rotary=Rotary(base=100.0), norm=RMSNorm())


def relative_bias() -> Settings:
    return cat().with_matrix("R", Matrix.rolled((8, 1), Recipe("normal", 5)))


def everything() -> Settings:
    s = two_heads(rotary_with_norm())
    for name in ("b_Q", "b_K", "b_V", "b_O"):
        s = with_bias(s, name)
    s = replace(s, softcap=5.0, alibi=True, mask="causal", sinks=(1.0,), context=True)
    return s


def weights_alone(mask: str = "none") -> Settings:
    A = np.full((6, 6), 0.1) + 0.4 * np.eye(6)
    if mask != "none":
        A = np.tril(A)
    A /= A.sum(axis=1, keepdims=True)
    s, _ = with_weights(cat(), SelectedArray(A), cat().tokens, cat().tokens)
    return s


def crossed() -> Settings:
    return replace(changes.set_memory(EXAMPLES["sentence"].build(), True), heads=1)


CASES = {
    "default": cat,
    "own8": lambda: own("my dog chased the red ball then slept", "causal", 7),
    "own9": lambda: own("the animal did not cross because it was tired"),
    "own10": lambda: own("the animal did not cross because it was too tired", "causal", 6),
    "own12": lambda: own(TIRED, "causal", 7),
    "own16": lambda: own(f"{TIRED} so it slept there", "causal", 8),
    "qkv8": EXAMPLES["random-qkv"].build,
    "d16": lambda: wide(16),
    "d64": lambda: given(6, 64, 11, "the cat sat on the mat"),
    "d256": lambda: wide(256),
    "heads8": lambda: changes.set_output_weights(changes.set_heads(wide(256), 8), True),
    "values256": lambda: changes.set_dimension(two_heads(), "d_v", 256),
    "heads2": two_heads,
    "cross": crossed,
    "cross3": lambda: changes.set_sentence(
        changes.set_memory(cat(), True), "a dog barks", memory=True
    ),
    "t24": lambda: own(TIMES, "causal", 23),
    "t64": lambda: given(64, 8, 5, ALICE, "causal"),
    "padding": lambda: replace(cat(), padding=(4, 5)),
    "numerals": lambda: own("1 2 3"),
    "none1": lambda: own("hello"),
    "two": lambda: own("hello world"),
    "rotary-norm": rotary_with_norm,
    "softcap": lambda: replace(cat(), softcap=5.0),
    "pushed": lambda: replace(cat(), mask="causal", fill="-1e9"),
    "relative": relative_bias,
    "head-bias": lambda: with_bias(two_heads(), "b_O"),
    "everything": everything,
    "weights-alone": weights_alone,
    "weights-masked": lambda: weights_alone("causal"),
    **{name: one.build for name, one in EXAMPLES.items() if name != FIRST},
}


def short(label: str) -> str:
    """``the (2)`` as the board writes it: with a subscript."""
    return re.sub(r" \((\d+)\)$", lambda found: found[1].translate(SUBSCRIPTS), label)


def longest(texts: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(texts), key=lambda text: (-len(text), text))[:LONGEST]


def tight(text: str) -> str:
    """A share without its leading 0; what is not exactly 0 or 1 is not written as that."""
    return re.sub(r"^0\.", ".", re.sub(r"^([01])\.0+$", r"≈\1", text))


def needed(matrix: np.ndarray, digits: int) -> int:
    """Return with how many decimals all numbers are exact, at most ``digits``."""
    finite = matrix[np.isfinite(matrix)]
    return next((k for k in range(digits) if np.array_equal(finite.round(k), finite)), digits)


def stage_of(shown, name: str, digits: int) -> dict:
    matrix = shown.printed(name)
    hidden = hidden_cells(shown, name)
    hidden = np.zeros(matrix.shape, bool) if hidden is None else hidden
    brief = np.array(rounded(matrix, needed(matrix, digits), shown.is_share(name)))
    brief = brief.reshape(matrix.shape)
    brief = np.where(np.char.find(brief, "e−") >= 0, "≈0", brief)
    open_ = ~hidden if (~hidden).any() else np.ones_like(hidden)
    stage = STAGES[name]
    made = {
        "rows": matrix.shape[0],
        "cols": matrix.shape[1],
        "rowKind": stage.rows,
        "columnKind": stage.columns,
        "heading": stage.heading,
        "unsigned": stage.limits == "weights",
        "texts": longest(brief[open_].tolist()),
        "hidden": longest(("0" if name == "weights" else "−∞",) if hidden.any() else ()),
    }
    if name == "weights" and shown.softmax is True:
        made["tights"] = longest(map(tight, brief[open_].tolist()))
    return made


def case(s: Settings) -> dict:
    shown = view(s, run(s))
    stages = shown.stages
    mask = stages.get("mask")
    masked, before = stages.get("masked"), stages.get(shown.source("scaled", "masked"))
    plain = mask is None or bool(np.isin(mask, (0.0, -np.inf)).all())
    named = dict(s.names) | ({"buckets": shown.labels["buckets"]} if "R" in stages else {})
    return {
        "queries": [short(label) for label in shown.labels["queries"]],
        "keys": [short(label) for label in shown.labels["keys"]],
        "words": [re.sub(r" \(\d+\)$", "", label) for label in shown.labels["keys"]],
        "names": {kind: list(words) for kind, words in named.items()},
        "plainMask": plain and masked is not None,
        "maskless": mask is None and masked is not None and np.array_equal(masked, before),
        "stages": {name: stage_of(shown, name, s.digits) for name in stages},
    }


PLAYED = {
    **{name: CASES[name] for name in ("default", "own8", "padding", "rotary-norm", "softcap")},
    **{name: CASES[name] for name in ("heads2", "cross", "pushed", "relative", "everything")},
    **{name: CASES[name] for name in ("none1", "d16", "t24", "t64", "sinks", "bare-bones")},
    **{name: CASES[name] for name in ("three-widths", "weights-alone")},
    "sigmoid": lambda: replace(cat(), softmax="sigmoid"),
    "sees no key": lambda: replace(cat(), mask="causal", padding=(0,), query=0),
}


def played(s: Settings) -> dict:
    """Return the steps of the query, and the board and the numbers of which they are."""
    shown = view(s, run(s))
    stages = {}
    for name in shown.stages:
        matrix = shown.printed(name)
        hidden = hidden_cells(shown, name)
        stages[name] = {
            "values": [
                [repr(v) if not np.isfinite(v) else v for v in row] for row in matrix.tolist()
            ],
            "texts": rounded(matrix, s.digits, shown.is_share(name)),
            "hidden": np.zeros(matrix.shape, bool).tolist() if hidden is None else hidden.tolist(),
        }
    steps = [asdict(step) for step in play_of(shown, s.query, s.digits)]
    more = {"query": s.query, "digits": s.digits, "steps": steps, "stages": stages}
    return {"board": case(s)} | more


def boards() -> dict[str, tuple[str, list[str]]]:
    """Boards of only some stages: a case, and which of its stages."""
    found = {}
    for k, step in enumerate(tour.STEPS):
        if step.stages:
            found[f"step {k}"] = ("default", list(step.stages))
    levels = exercise.levels(view(s := EXAMPLES["window"].build(), run(s)))
    for k in range(len(levels)):
        gone = {name for level in levels[: k + 1] for name in level}
        found[f"exercise, level {k + 1}"] = ("window", [n for n in STAGES if n not in gone])
    for name in STAGES:
        found[f"only {name}"] = ("everything", [name])
    found["only mask and weights"] = ("own8", ["mask", "weights"])
    return found


def main(path: Path) -> None:
    made = {
        "places": PLACES,
        "order": LOWER,
        "sources": {name: stage.sources for name, stage in STAGES.items()},
        "cases": {name: case(build()) for name, build in CASES.items()},
        "boards": boards(),
        "played": {name: played(build()) for name, build in PLAYED.items()},
    }
    path.write_text(json.dumps(made, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
