"""The guided way: its steps as data, each with what it says, asks for and notices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attention.arithmetic import cell as cell_arithmetic
from attention.numbers import number, numbers
from attention.parts import called
from attention.session.changes import set_heads, set_mask
from attention.session.run import run, view
from attention.session.settings import DRAWN, TRUE_MASK, Settings, allowed
from attention.strip import strongest
from attention.variance import N_KEYS, Point
from attention.view import View

Words = Callable[[Settings, View], str]
FEWEST, MOST = 2, 10  # words that a person still looks at one by one
ALIKE = 1e-12  # of a weight: what rounding may change
GLANCE = 6  # numbers of a row that are written out


@dataclass(frozen=True)
class Guess:
    """What is asked before it is shown."""

    question: str
    options: Sequence[str]
    right: Collection[str]
    answer: str  # what is said once one has guessed


@dataclass(frozen=True)
class Step:
    """One idea on the board, and something to do there."""

    title: str
    stages: tuple[str, ...]  # that it speaks of
    idea: Words
    ask: Words = lambda settings, shown: ""
    did: str = ""  # said once that was done
    # from the settings the step began with, to those of now
    is_done: Callable[[Settings, Settings], bool] = lambda before, now: False
    begin: Callable[[Settings], Settings] = lambda settings: settings
    guess: Callable[[Settings, View], Guess] | None = None
    hides: tuple[str, ...] = ()  # stages that would give it away


def suits(s: Settings) -> str:
    """Why the way cannot be gone with these settings, in a sentence; "" where it can."""
    if s.weights_alone or s.typed_qkv:
        return "The way begins with embeddings and weights, and here are none."
    if not FEWEST <= min(len(s.tokens), len(s.key_tokens)) <= len(s.key_tokens) <= MOST:
        return f"The way is for {FEWEST} to {MOST} words."
    if s.memory_tokens:
        return "The way is for one sequence, whose words look at each other."
    if 2 not in s.possible_heads:
        return "The way ends with two heads, which cannot share an odd d_k or d_v."
    if s.softmax is not True or s.fill != TRUE_MASK:
        return "The way is for softmax and a mask of −∞."
    if s.parts:
        return f"The way is for attention without more parts; here is {called(s.parts)}."
    if STEPS[s.step - 1].guess and not allowed(s)[s.query].any():
        return "This step asks about a query that sees a key; the one that is followed sees none."
    return ""


def go(s: Settings, k: int) -> Settings:
    """The settings at the beginning of a step, counted from 1."""
    k = min(max(k, 1), len(STEPS))
    return replace(STEPS[k - 1].begin(s), step=k, cell=None)


# ---- what the sentences are made of --------------------------------------------------------------


def _names(s: Settings, shown: View) -> tuple[str, str]:
    """The query that is followed, and its strongest key."""
    words = shown.labels["queries"], shown.labels["keys"]
    return f"“{words[0][s.query]}”", f"“{words[1][strongest(shown, s.query)]}”"


def _row(shown: View, stage: str, i: int, digits: int) -> str:
    row = shown.printed(stage)[i]
    more = ", …" if row.size > GLANCE else ""
    return f"[{', '.join(numbers(row[:GLANCE], digits))}{more}]"


def _now(s: Settings) -> View:
    return view(s, run(s))


def _query(s: Settings, shown: View) -> str:
    word, _ = _names(s, shown)
    return (
        f"{word} asks with its query, its row of X times W_Q: {_row(shown, 'Q', s.query, s.digits)}"
        " here. Each column of W_Q asks one thing of every word."
    )


def _key(s: Settings, shown: View) -> str:
    _, key = _names(s, shown)
    row = _row(shown, "K", strongest(shown, s.query), s.digits)
    return (
        f"{key} answers with its key, its row of X times W_K: {row}. W_K has numbers of its own, so"
        " what a word asks and what it answers are two things."
    )


def _score(s: Settings, shown: View) -> str:
    word, key = _names(s, shown)
    lines = cell_arithmetic(shown, "scores", s.query, strongest(shown, s.query), s.digits)
    few = shown.stages["Q"].shape[1] <= GLANCE
    total = f"{lines[2]} {lines[-1]}" if few else lines[-1].removeprefix("= ")
    return (
        f"Number by number, the query of {word} is multiplied with the key of {key}, and the"
        f" products are added up: {total}. The score is large where the two point the"
        " same way."
    )


def _scale(s: Settings, shown: View) -> str:
    word, _ = _names(s, shown)
    mine, undivided = (
        number(_now(replace(s, scale=scale)).stages["weights"][s.query].max(), s.digits)
        for scale in (None, 1.0)  # whatever it is now: the step asks to change it
    )
    return (
        f"Every score is divided by √d_k = {number(s.d_k**0.5, s.digits)}, so that more numbers in"
        f" a vector do not make larger scores. The largest weight of {word} is {mine} then;"
        f" undivided scores make it {undivided}."
    )


def _future(s: Settings, shown: View) -> str:
    n = len(s.tokens)
    return (
        "A model that is to predict the next word must not see it: what comes later gets −∞ in"
        f" place of its score, and so the weight 0. Of these {n * n} scores the look-ahead mask"
        f" hides {n * (n - 1) // 2}."
    )


def _shares(s: Settings, shown: View) -> str:
    word, _ = _names(s, shown)
    masked = shown.stages["masked"][s.query]
    return (
        f"Softmax makes shares of a row: e to the power of each masked score, divided by their sum."
        f" The row of {word} goes from {number(masked.min(), s.digits)} to"
        f" {number(masked.max(), s.digits)}."
    )


def _who_wins(s: Settings, shown: View) -> Guess:
    word, _ = _names(s, shown)
    j = strongest(shown, s.query)
    score, weight = (shown.stages[name][s.query, j] for name in ("masked", "weights"))
    total = number(shown.stages["weights"][s.query].sum(), s.digits)
    weights = shown.stages["weights"][s.query]
    best = np.flatnonzero(weights >= weights.max() * (1 - ALIKE))
    keys = [shown.labels["keys"][k] for k in best]
    who, whose, share = f"it is “{keys[0]}”", "its masked score", "Its share is"
    if len(keys) > 1:
        alike = ", ".join(f"“{key}”" for key in keys)
        who, whose, share = f"{alike} are alike", "their masked score", "Each has the share"
    return Guess(
        f"Which key gets the largest share of {word}?",
        shown.labels["keys"],
        keys,
        f"For {word} {who}: {whose} {number(score, s.digits)} is the largest, and softmax keeps"
        f" the order. {share} {number(weight, s.digits)}, and all shares of the row add up to"
        f" {total}.",
    )


def _mixed(s: Settings, shown: View) -> str:
    word, key = _names(s, shown)
    weight = number(shown.stages["weights"][s.query].max(), s.digits)
    value = _row(shown, "V", strongest(shown, s.query), s.digits)
    return (
        f"The output of {word} is made of all values, each times its share: {weight} × {value} of"
        f" {key}, and so on, which gives {_row(shown, 'output', s.query, s.digits)}."
    )


def _heads(s: Settings, shown: View) -> str:
    return (
        "Two heads share the columns of Q, K and V: each asks with its half of them, and has"
        f" scores and weights of its own. Of the {s.d_k * s.heads} columns of Q each of two heads"
        f" gets {s.d_k * s.heads // 2}."
    )


def _hid_the_strongest(before: Settings, now: Settings) -> bool:
    """Of any query, for each click follows another one; the words may be others by now, too."""
    weights = _now(_plain(now)).stages["weights"]
    return (
        now.mask == DRAWN
        and not allowed(now)[np.arange(len(weights)), weights.argmax(axis=1)].all()
    )


def _changed_a_number(before: Settings, now: Settings) -> bool:
    return before.tokens == now.tokens and before.matrices["X"] != now.matrices["X"]


def _chose_the_score(before: Settings, now: Settings) -> bool:
    cell = now.cell or ("", 0, 0)
    return cell[0] == "scores" and cell[2] == strongest(_now(now), cell[1])


def _plain(s: Settings) -> Settings:
    """With one head and the usual scale, and nothing hidden."""
    return set_heads(replace(set_mask(s, "none"), scale=None, padding=()), 1)


STEPS = (
    Step(
        "What a query asks",
        ("X", "W_Q", "Q"),
        _query,
        lambda s, shown: (
            f"Click a number in the row {_names(s, shown)[0]} of X and type another: its query"
            " changes, and that of no other word."
        ),
        "The query of that word followed, and that of no other word.",
        _changed_a_number,
        _plain,
    ),
    Step(
        "What keys answer",
        ("X", "W_K", "Q", "K"),
        _key,
        lambda s, shown: "Let another word ask: click any number in its row of Q.",
        "Another word asks now; the keys stay as they are.",
        lambda before, now: before.query != now.query,
        _plain,
    ),
    Step(
        "A score by hand",
        ("Q", "K", "scores"),
        _score,
        lambda s, shown: (
            f"Click the score in the row {_names(s, shown)[0]} and the column"
            f" {_names(s, shown)[1]}, and read next to it how it is made."
        ),
        "The card next to it shows how it is made.",
        _chose_the_score,
        _plain,
    ),
    Step(
        "Divided by √d_k",
        ("scores", "scaled", "weights"),
        _scale,
        lambda s, shown: "Set Scale in the sidebar to “none (× 1)”, and look at the weights.",
        "Undivided scores lie further apart, and so do the weights. The next step divides again.",
        lambda before, now: now.scale == 1,
        _plain,
    ),
    Step(
        "The future is hidden",
        ("masked", "weights"),
        _future,
        lambda s, shown: "Set Mask in the sidebar to “look-ahead (causal)”.",
        "What comes later has no weight. The next step takes the mask away again.",
        lambda before, now: now.mask == "causal",
        _plain,
    ),
    Step(
        "Shares that add up to 1",
        ("masked", "weights"),
        _shares,
        begin=_plain,
        guess=_who_wins,
        hides=("weights", "output", "joined", "projected", "context"),
    ),
    Step(
        "Values are mixed",
        ("masked", "weights", "V", "output"),
        _mixed,
        lambda s, shown: (
            f"Hide {_names(s, shown)[1]} from {_names(s, shown)[0]}: click that cell of masked and"
            " press Space (without keys: Draw mask, above it). Its share goes to the others, and"
            " the output follows."
        ),
        "The share of the key that you hid went to the others, and the output followed.",
        _hid_the_strongest,
        _plain,
    ),
    Step(
        "Two heads",
        ("Q", "K", "V", "weights"),
        _heads,
        lambda s, shown: "Set Heads in the sidebar to 2, and then Head, under View there, to 1.",
        "These are Q, K, V and weights of head 1 alone. That was the last step: your turn, in"
        " Exercises.",
        lambda before, now: now.heads == 2 and now.head == 1,
        _plain,
    ),
)


# ---- Why √d_k ------------------------------------------------------------------------------------

GUESSED_D_K = 64


def guesses(point: Point) -> tuple[Guess, Guess]:
    """What one is asked of queries and keys of 64 numbers: their spread, and what softmax makes
    of it. ``point`` holds what was measured of as many samples as the page draws.
    """
    raw, scaled = point.raw, point.scaled
    shares = [1 / N_KEYS, scaled.largest, (scaled.largest + raw.largest) / 2, raw.largest]
    options = numbers(np.array(shares), 2)
    return (
        Guess(
            f"A query and a key have {point.d_k} numbers each, drawn with variance 1. How large is"
            " the variance of q · k?",
            ("1", "8", "64", "4,096"),
            (f"{point.d_k}",),
            f"It adds up {point.d_k} products, each with variance 1, and variances of independent"
            f" terms add up: {point.d_k}. The samples below have {number(raw.variance, 1)}.",
        ),
        Guess(
            f"Softmax makes shares of {N_KEYS} such scores, undivided. How large is the largest of"
            " them, on average?",
            options,
            (options[-1],),
            f"It is {options[-1]} of the samples, so one key takes nearly all; divided by √d_k the"
            f" largest share is {options[1]}, and even shares would be {options[0]}.",
        ),
    )
