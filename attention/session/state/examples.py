"""The worked examples, in the order a learner should meet them. One entry is one function and one
sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from attention.core.positions import sinusoidal
from attention.core.rotary import Rotary
from attention.session.state.matrix import WORDS, Matrix, Recipe, WordRows
from attention.session.state.settings import DRAWN, PARTS, PUSHED, Settings

Build = Callable[[str], Settings]  # from the name of an example to its settings


@dataclass(frozen=True)
class Example:
    """A menu entry: its title and a line for the list, what to notice, its settings."""

    title: str
    sentence: str
    notice: str
    build: Callable[[], Settings]


EXAMPLES: dict[str, Example] = {}
FIRST = "cat-sat"
OWN = "own"  # what somebody's own numbers stand on
SECOND_SENTENCE = "a dog barks"
TRANSLATIONS = {  # of an example's sentence: what its keys and values can come from
    "cat-sat": "die Katze saß auf der Matte",
    "sentence": "le chat ronronne parce qu’il a mangé",
}
NUMBERS = (
    "tokens",
    "memory_tokens",
    "heads",
    "scale",
    "mask",
    "padding",
    "drawn",
    "fill",
    "softmax",
    *PARTS,
)


def example(name: str, title: str, sentence: str, notice: str) -> Callable[[Build], Build]:
    """Enter a function that builds settings into the table, under the name its link carries."""

    def enter(build: Build) -> Build:
        EXAMPLES[name] = Example(title, sentence, notice, cache(lambda: build(name)))
        return build

    return enter


def second_sentence(name: str, tokens: tuple[str, ...]) -> str:
    """What a second sequence begins with: a translation of the example's words, where they are
    still there; else a short sentence.
    """
    translated = TRANSLATIONS.get(name)
    as_it_was = translated is not None and tokens == EXAMPLES[name].build().tokens
    return translated if translated and as_it_was else SECOND_SENTENCE


def as_made(s: Settings) -> bool:
    """Whether the numbers still are those of the example, whatever is looked at."""
    made = EXAMPLES[s.example].build()
    same = all(getattr(s, field) == getattr(made, field) for field in NUMBERS)
    return (
        same
        and s.matrices.keys() == made.matrices.keys()
        and all(made.matrices[n] == m for n, m in s.matrices.items())
    )


def _settings(
    name: str, tokens: Iterable[str], matrices: Mapping[str, Any], **options: Any
) -> Settings:
    wrapped = {key: m if isinstance(m, Matrix) else Matrix(m) for key, m in matrices.items()}
    return Settings(example=name, tokens=tuple(tokens), matrices=wrapped, **options)


@example(
    "cat-sat",
    "The cat sat on the mat",
    "Six words, small whole numbers: every word looks at another one most.",
    "“the” and “cat” look most at “sat”, “sat” at “cat”, “on” at “mat”. Both “the” have the same"
    " row in every stage, until a look-ahead mask hides what comes after them. Without √d_k the"
    " largest weight of each row grows.",
)
def cat_sat(name: str) -> Settings:
    tokens = ("the", "cat", "sat", "on", "the", "mat")
    X = Matrix.rolled((6, 4), Recipe("integers", 56, -2, 3, WORDS), WordRows(tokens, tokens))
    weights = {
        key: Matrix.rolled((4, 4), Recipe("integers", seed, -1, 2, key))
        for key, seed in (("W_Q", 175), ("W_K", 263), ("W_V", 1190))
    }
    return _settings(name, tokens, {"X": X} | weights, query=2)


@example(
    "four-words",
    "Four words, by hand",
    "Small whole numbers to check by hand; one word takes almost all the weight.",
    "Word 4 takes almost all the weight of every row: its key is the longest, so every query scores"
    " highest on it.",
)
def four_words(name: str) -> Settings:
    X = [[0, 1, 1, 2], [1, 0, 0, 2], [1, 1, 0, 2], [2, 1, 1, 1]]
    W_Q = [[1, 1, 0, 0], [0, 0, 2, 2], [1, 2, 2, 2], [0, 0, 2, 2]]
    W_K = [[1, 1, 0, 2], [1, 1, 2, 0], [2, 1, 0, 2], [0, 0, 0, 1]]
    W_V = [[1, 2, 1, 1], [1, 2, 0, 1], [0, 0, 2, 0], [2, 1, 1, 2]]
    return _settings(name, ("w1", "w2", "w3", "w4"), {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V})


@example(
    "sentence",
    "A sentence, two heads",
    "Two heads: “it” finds the cat, and every word the one before it.",
    "Head 0: “it” looks for an animal and puts nearly all its weight on “cat”. Head 1: every word"
    " looks at the word before it, the first one at itself. Switch heads to see both.",
)
def sentence(name: str) -> Settings:
    tokens = ("the", "cat", "purrs", "because", "it", "ate")
    kinds = {"the": None, "cat": 0, "purrs": 1, "because": None, "it": 2, "ate": 1}
    X, angle = np.zeros((6, 5)), np.pi / 5
    for i, token in enumerate(tokens):
        if kinds[token] is not None:
            X[i, kinds[token]] = 1
        X[i, 3:] = np.round([np.cos(i * angle), np.sin(i * angle)], 2)
    W_Q, W_K, W_V = np.zeros((5, 4)), np.zeros((5, 4)), np.zeros((5, 4))
    W_Q[1, 0], W_Q[2, 0] = 2, 3  # a verb and, more so, a pronoun ask for an animal
    W_K[0, 0], W_K[2, 0] = 3, 1  # a noun answers, a pronoun a little
    W_Q[3:, 2:] = [[6, -5], [5, 6]]  # turned back by about one place …
    W_K[3:, 2:] = 3 * np.eye(2)  # … a position matches the one before it
    W_V[0, 0] = W_V[1, 1] = W_V[3, 2] = W_V[4, 3] = 1
    names = {"d_model": ("noun", "verb", "pronoun", "cos", "sin")}
    return _settings(
        name, tokens, {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}, heads=2, query=4, names=names
    )


@example(
    "random-qkv",
    "Random Q, K, V, look-ahead",
    "What dividing by √d_k does to the spread, and what a look-ahead mask hides.",
    "Q and K have a variance near 1, but the scores of almost 8: they add up d_k = 8 products."
    " Dividing by √8 brings it back near 1. Behind the mask, row 1 of the output is row 1 of V.",
)
def random_qkv(name: str) -> Settings:
    tokens = ("My", "name", "is", "X")
    return _settings(
        name, tokens, {"Q": _RANDOM_Q, "K": _RANDOM_K, "V": _RANDOM_V}, mask="causal", query=2
    )


@example(
    "softmax",
    "Softmax on its own",
    "The same three scores with every key, and with one hidden.",
    "Both queries have the scores 1, 2, 1. The first sees every key; the second may not look at the"
    " middle one, so its share goes to the other two.",
)
def softmax_alone(name: str) -> Settings:
    values = {"Q": [[1], [1]], "K": [[1], [2], [1]], "V": np.eye(3)}
    drawn = ((True, True, True), (True, False, True))
    return _settings(
        name,
        ("no mask", "masked"),
        values,
        memory_tokens=("k1", "k2", "k3"),
        scale=1.0,
        mask=DRAWN,
        drawn=drawn,
        query=1,
        digits=4,
    )


@example(
    "lookup",
    "A look-up table made soft",
    "Queries, keys and values as a dictionary that answers with all its entries.",
    "A dictionary answers with the entries that match; attention answers with all of them, each by"
    " how well its key matches. The query asks for a and c: the entry “a c” matches twice and gets"
    " the largest share.",
)
def lookup(name: str) -> Settings:
    Q = [[1, 0, 1, 0]]
    K = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1]]
    V = [[1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 1, 1]]
    names = {"d_k": ("a", "b", "c", "d"), "d_v": ("d1", "d2", "d3", "d4", "d5")}
    keys = ("a b", "a c", "b", "c d")
    return _settings(name, ("a c ?",), {"Q": Q, "K": K, "V": V}, memory_tokens=keys, names=names)


CUSTOMERS = {
    "Q": [[0.15150703], [0.59940113], [0.62429778]],
    "K": [[0.22485589], [0.38444304], [0.67865426]],
    "V": [[0.49856748], [0.04415472], [0.60872006]],
}


@example(
    "customers",
    "Three customers, one feature",
    "The smallest there is: three tokens with one number each.",
    "With d_k = 1 the scale is 1, so scores and scaled are equal, and the weights stay close to a"
    " third each.",
)
def customers(name: str) -> Settings:
    matrices = {key: [M] for key, M in CUSTOMERS.items()}
    return _settings(name, ("c1", "c2", "c3"), matrices, digits=4)


@example(
    "minus-1e9",
    "−1e9 beside −∞",
    "Why hidden keys get −∞, and what is left of them with −1e9.",
    "Adding −1e9 hides a key only as long as another one is visible: row 3 has none, and its"
    " weights come back as if there were no mask. A true −∞ gives that row 0.",
)
def minus_1e9(name: str) -> Settings:
    matrices = {key: [M] for key, M in CUSTOMERS.items()}
    drawn = ((True, False, False), (True, True, False), (False, False, False))
    return _settings(
        name, ("c1", "c2", "c3"), matrices, mask=DRAWN, drawn=drawn, fill=PUSHED, query=2, digits=4
    )


@example(
    "bare-bones",
    "Bare bones: X Xᵀ X",
    "No weights, no scale, no softmax: dot products alone.",
    "No weights, no scale, no softmax: each row of the output is a sum of all the embeddings,"
    " weighted by raw dot products. Play shows the steps of one row.",
)
def bare_bones(name: str) -> Settings:
    X = Matrix.rolled((5, 10), Recipe("normal", 0))
    eye = Matrix.rolled((10, 10), Recipe("identity"))
    tokens = ("x1", "x2", "x3", "x4", "x5")
    return _settings(
        name, tokens, {"X": X, "W_Q": eye, "W_K": eye, "W_V": eye}, scale=1.0, softmax=False
    )


@example(
    "three-widths",
    "Three widths: 10, 20 and 25",
    "d_model, d_k and d_v of their own, and the sum of all outputs.",
    "d_model, d_k and d_v need not be equal. These weights were stored as (d_out, d_model); the"
    " context vector adds up the outputs of all tokens.",
)
def three_widths(name: str) -> Settings:
    matrices = {"X": Matrix.rolled((5, 10), Recipe("normal", 0))}
    for seed, (key, d_out) in enumerate({"W_Q": 20, "W_K": 20, "W_V": 25}.items(), 1):
        stored = Recipe("normal", seed).fill((d_out, 10))
        matrices[key] = Matrix(
            stored.T, remark=f"stored as (d_out, d_in) = ({d_out}, 10) and transposed"
        )
    return _settings(name, ("x1", "x2", "x3", "x4", "x5"), matrices, context=True)


@example(
    "batch",
    "A batch of 64 sequences",
    "Many sequences at once; pick one of them.",
    "All numbers lie between 0 and 1, so the scaled scores of a row lie within 0.8 of each other,"
    " and every weight between 0.12 and 0.31. Pick another item of the batch, or add a look-ahead"
    " or padding mask.",
)
def batch(name: str) -> Settings:
    rng = np.random.RandomState(
        42
    )  # NumPy's legacy generator: the published numbers were drawn from it
    Q, K, V = (rng.random_sample((64, 5, 64)) for _ in range(3))
    return _settings(name, ("t1", "t2", "t3", "t4", "t5"), {"Q": Q, "K": K, "V": V}, digits=3)


def _words_and_vectors(words: str, seed: int, d_model: int = 4) -> tuple[tuple[str, ...], Matrix]:
    """Tokens, and small whole numbers for each word."""
    tokens = tuple(words.split())
    recipe = Recipe("integers", seed, -2, 3, WORDS)
    return tokens, Matrix.rolled((len(tokens), d_model), recipe, WordRows(tokens, tokens))


def _small(name: str, seed: int, rows: int = 4, columns: int = 4) -> Matrix:
    """Weights or a bias of small whole numbers."""
    low, high = (-2, 3) if name.startswith("b_") else (-1, 2)
    return Matrix.rolled((rows, columns), Recipe("integers", seed, low, high, name))


@example(
    "biases",
    "With biases",
    "Biases of Q, K and V: one of them decides for all words, one does nothing.",
    "b_Q asks the same of every word, so all look at “mat” most; with biases of 0 “on” alone does."
    " b_K changes no weight: it adds one number to all the scores of a row.",
)
def biases(name: str) -> Settings:
    cat = EXAMPLES[FIRST].build()
    drawn = {b: _small(b, seed, rows=1) for b, seed in (("b_Q", 27), ("b_K", 4), ("b_V", 5))}
    return replace(cat, example=name, matrices={**cat.matrices, **drawn})


@example(
    "positions",
    "Positions added to X",
    "The same word at two places: the same row until positions are added.",
    "“dog” appears twice, with the same row of X. Added positions tell the two apart: the first"
    " looks at the second most, and the second at the first. Without P both look at “man”.",
)
def positions(name: str) -> Settings:
    tokens, X = _words_and_vectors("dog bites man and dog sleeps", 30)
    weights = {W: _small(W, seed) for seed, W in enumerate(("W_Q", "W_K", "W_V"), 30)}
    return _settings(name, tokens, {"X": X, **weights, "P": sinusoidal(6, 4)})


@example(
    "rotary",
    "Rotary positions",
    "One word five times: rotated, scores depend on the distance alone.",
    "One word five times, so the rows of Q are equal, and so are those of K. Rotated they differ,"
    " and a score depends on the distance alone: each diagonal of the scores holds one number.",
)
def rotary(name: str) -> Settings:
    eye = Matrix.rolled((4, 4), Recipe("identity"))
    matrices = {"X": np.ones((5, 4)), "W_Q": eye, "W_K": eye, "W_V": eye}
    return _settings(name, ("ha",) * 5, matrices, rotary=Rotary(base=100.0), query=2)


@example(
    "alibi",
    "ALiBi: nearer counts more",
    "One word four times: the nearest one gets most, in each head by another slope.",
    "Each “tick” has the same row of K, so its scores are equal: without ALiBi the last one shares"
    " its look evenly among all four. Head 0 takes 1/4 from a score for each place back: itself"
    " gets 0.44, the first 0.10. Head 3 takes 1/256, and all four get nearly the same.",
)
def alibi(name: str) -> Settings:
    tick, tock = [2, 0] * 4, [0, 2] * 4
    eye = Matrix.rolled((8, 8), Recipe("identity"))
    matrices = {"X": np.array([tick, tock] * 4), "W_Q": eye, "W_K": eye, "W_V": eye}
    words = ("tick", "tock") * 4
    return _settings(name, words, matrices, heads=4, mask="causal", alibi=True, query=6)


@example(
    "grouped",
    "Grouped heads",
    "Four heads ask, and two of keys and values answer.",
    "Heads 0 and 1 share their keys and values, and so do heads 2 and 3: switch heads, and Q"
    " changes each time, K and V only from head 1 to head 2. W_K and W_V are half as wide as W_Q.",
)
def grouped(name: str) -> Settings:
    tokens, X = _words_and_vectors("she sells sea shells", 3)
    weights = {"W_Q": _small("W_Q", 3, columns=8), "W_K": _small("W_K", 4), "W_V": _small("W_V", 5)}
    return _settings(name, tokens, {"X": X, **weights}, heads=4)


@example(
    "window",
    "A sliding window",
    "Each word sees itself and the two before it.",
    "Each word sees itself and the two before it, so no row of weights has more than three numbers"
    " but 0, however long the sentence is. “slept” cannot see “cat” any more.",
)
def sliding(name: str) -> Settings:
    cat = EXAMPLES[FIRST].build()
    tokens, X = _words_and_vectors("the cat sat on the mat and slept", 56)
    matrices = {**cat.matrices, "X": X}
    return _settings(name, tokens, matrices, mask="causal", window=3, query=7)


@example(
    "sinks",
    "A sink",
    "A part of each row goes to no key, most where no key fits.",
    "Each row sums to less than 1: a score of 1 that no key has takes the rest. It takes 2 % of"
    " “cat”, whose scores are large, and 64 % of “mat”, whose scores are small.",
)
def sinks(name: str) -> Settings:
    return replace(EXAMPLES[FIRST].build(), example=name, sinks=(1.0,), query=5)


def _trained(name: str, layer: int, head: int, query: int) -> Settings:
    """A head of the trained model that the page Real model shows whole."""
    from attention.models.examples import load  # only where it is looked at

    taken = load("pronoun")
    call = taken[layer]
    trace = call.trace(0, call.heads.index(head))
    return _settings(name, taken.tokens, {"Q": trace.Q, "K": trace.K, "V": trace.V}, query=query)


@example(
    "trained-it",
    "Trained: what “it” is",
    "A head of MiniLM reads a sentence: “it” looks at “animal”.",
    "Nobody set these numbers: layer 3, head 1 of MiniLM made them of this sentence. “it” gives"
    " 0.69 of its weight to “animal” and 0.05 to “street”. Other heads are on the page Real"
    " model.",
)
def trained_it(name: str) -> Settings:
    return _trained(name, 3, 1, query=9)


@example(
    "trained-before",
    "Trained: the word before",
    "A head of MiniLM that looks one word back, whatever the words.",
    "Layer 0, head 2 of MiniLM: every token gives more than 0.99 of its weight to the one before"
    " it, the first to itself. Training made it so.",
)
def trained_before(name: str) -> Settings:
    return _trained(name, 0, 2, query=9)


@example(
    OWN,
    "Your own numbers",
    "A place to begin with numbers of your own.",
    "A place to begin with your own: type over these numbers, roll others, or paste and open files"
    " under “Your data”.",
)
def own(name: str) -> Settings:
    X = Recipe("integers", 0, 0, 3)
    weights = {
        f"W_{letter}": Matrix.rolled((4, 4), Recipe("xavier", k))
        for k, letter in enumerate("QKV", 1)
    }
    return _settings(name, ("w1", "w2", "w3"), {"X": Matrix.rolled((3, 4), X)} | weights)


_RANDOM_Q = [
    [
        -1.41767666,
        0.96908187,
        -1.00570424,
        -1.38323781,
        1.13465927,
        0.79178207,
        0.53179063,
        -0.72936195,
    ],
    [
        -2.16976431,
        0.66542476,
        -0.99466221,
        0.60654108,
        1.71870799,
        -0.41256672,
        -1.79806925,
        -0.79852829,
    ],
    [
        0.89823134,
        0.55090139,
        -0.4092929,
        0.13166055,
        0.37747643,
        0.51839027,
        -1.41010075,
        -0.04922471,
    ],
    [
        0.24826843,
        0.5348298,
        0.75793618,
        -0.53615346,
        -0.19183252,
        -1.63892969,
        0.24689664,
        0.87612461,
    ],
]
_RANDOM_K = [
    [
        1.57491474,
        -0.86316812,
        -0.65884679,
        -0.37227769,
        -0.37581007,
        0.63731469,
        0.55250173,
        -0.23310638,
    ],
    [
        -1.63494969,
        -1.30428113,
        -0.80651226,
        0.47716264,
        1.13593996,
        0.41789594,
        0.41580284,
        -0.18122419,
    ],
    [
        2.06477795,
        -1.20794564,
        -0.94439751,
        -0.75339707,
        -0.47730805,
        -1.76071251,
        -0.50391215,
        0.54014202,
    ],
    [
        -0.55187274,
        -0.28083992,
        0.11199461,
        0.00648734,
        -1.78380066,
        0.48092649,
        -1.297721,
        0.73737651,
    ],
]
_RANDOM_V = [
    [
        -0.83391383,
        -1.53728569,
        -0.62599555,
        -0.87081994,
        -0.6608632,
        -1.30376564,
        0.25958102,
        1.95478765,
    ],
    [
        -1.69238889,
        -0.31480643,
        1.4093176,
        0.97424845,
        0.99885477,
        -0.55161911,
        -0.88639875,
        0.97593617,
    ],
    [
        0.5854254,
        -0.90880531,
        -0.88819252,
        -1.15829242,
        -0.13733918,
        -0.09430798,
        1.76882755,
        -1.03688959,
    ],
    [
        1.72302482,
        -0.18988972,
        -0.12444181,
        -1.03273095,
        1.45272653,
        -0.29987363,
        -0.70815872,
        0.18090176,
    ],
]
