"""A sentence as tokens, and a vector for each word, the same in every sentence.

Words and punctuation marks are tokens here. The tokenizer of a language model has a vocabulary it
was trained with, and splits rare words into parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from attention.samples.weights import INITIALISERS, stream
from attention.vocabulary.characters import NO_CHARACTER

KINDS = {  # of word vectors, as a menu shows them; kinds of INITIALISERS
    "integers": "random integers",
    "normal": "standard normal",
    "uniform": "uniform",
    "identity": "one-hot",
}

_JOINER = "\u200d"  # between the parts of one emoji, and inside words of some scripts
_JOINERS = ("", _JOINER, "\u200c")
_INSIDE = "'’ʼ＇-‐‑·" + _JOINER + "\u200c"  # between two letters these belong to the word
_BLANK = "\u200b\u115f\u1160\u2800\u3164\uffa0"  # nothing to see, though no space by name
# Scripts that put no space between words: Han, kana, Bopomofo, Thai, Lao, Tibetan, Myanmar, Khmer.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    "\u3038-\u303b\u3041-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua9e0-\ua9fe\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f"
    "\U00020000-\U0003ffff]"
)
_FOLLOWING = "\u0e33\u0eb3\uff9e\uff9f"  # letters by name, but never without the one before
_STACKING = "\u1039\u17d2"  # marks that put the next letter under this one
_FLAG = ("\U0001f1e6", "\U0001f1ff")  # two letters of this range are one flag
_SKIN = ("\U0001f3fb", "\U0001f3ff")
_TAGS = ("\U000e0020", "\U000e007f")  # spell out the flag of a region
_REPEATED = ".-!?"  # … and -- are one mark
_CLOSING = ".,;:!?%…、。，．！？：；"  # no space before these and the closing brackets,
_OPENING = "¿¡#@$€£"  # none after these and the opening ones


def tokens_of(sentence: str) -> tuple[str, ...]:
    """Split a sentence into its words and punctuation marks, in order.

    - Apostrophes and hyphens inside a word, and points and commas inside a number, stay.
    - A script without spaces gives one token a character; its marks stay with their letter.
    - White space of any kind separates; control characters and invisible marks never get in.

    >>> tokens_of("The cat didn't cost 3.14, did it?")
    ('The', 'cat', "didn't", 'cost', '3.14', ',', 'did', 'it', '?')
    >>> tokens_of("猫坐 state-of-the-art")
    ('猫', '坐', 'state-of-the-art')
    """
    tokens: list[str] = []
    token, clusters = "", [*_clusters(sentence), ""]
    for cluster, following in zip(clusters, [*clusters[1:], ""], strict=True):
        if token and _goes_on(token, cluster, following):
            token += cluster
            continue
        if token:
            tokens.append(token)
        token = "" if cluster in _JOINERS else cluster
    return tuple(tokens)


def sentence_from(tokens: Sequence[str]) -> str:
    """Join tokens as a user would type them, so that :func:`tokens_of` returns them again.

    If no spacing does that, there is one space between any two tokens.

    >>> sentence_from(("The", "cat", "(", "mine", ")", "sat", "."))
    'The cat (mine) sat.'
    """
    text = "".join(tokens[:1])
    for before, token in pairwise(tokens):
        text += token if _sticks(before, token) else f" {token}"
    return text if tokens_of(text) == tuple(tokens) else " ".join(tokens)


def word_key(token: str) -> str:
    """Return the form that tokens of one word share: "The" and "the".

    >>> word_key("The") == word_key("the"), word_key("Cafe\u0301") == word_key("café")
    (True, True)
    """
    folded = unicodedata.normalize("NFC", token).casefold()
    return unicodedata.normalize("NFC", folded)


def vocabulary(tokens: Iterable[str]) -> dict[str, int]:
    """Return the distinct words, each with its index in order of first appearance.

    >>> vocabulary(("The", "cat", "the", "dog"))
    {'the': 0, 'cat': 1, 'dog': 2}
    """
    return {key: k for k, key in enumerate(dict.fromkeys(map(word_key, tokens)))}


def word_vectors(
    tokens: Sequence[str],
    d_model: int,
    seed: int = 0,
    kind: str = "integers",
    low: float = -2,
    high: float = 3,
    known: Iterable[str] = (),
) -> np.ndarray:
    """Return the vector of each token's word, by default integers from −2 to 2.

    The numbers of a word depend only on the word and the seed, so that it has the same vector in
    every sentence, and more columns leave the first ones as they are.

    Parameters
    ----------
    tokens : sequence of str
        n words; upper and lower case are the same word.
    d_model : int
        Numbers in each vector.
    seed : int
    kind : "integers", "normal", "uniform" or "identity"
        With "identity" (one-hot) each word has a 1 in its own column and 0 elsewhere; the columns
        are in the order in which the words appear, those of ``known`` first. Words without a column
        are 0.
    low, high : float
        The range of "integers" and "uniform": low ≤ x < high.
    known : iterable of str
        Words that have the first columns with "identity".

    Returns
    -------
    ndarray, (n, d_model), float64

    Raises
    ------
    ValueError
        If there is no such kind, ``d_model`` is negative, or, where numbers are drawn, ``seed`` is
        negative or ``low`` is above ``high``.

    >>> word_vectors(("the", "cat", "The"), 4, seed=7).astype(int).tolist()
    [[0, 1, 2, -1], [-1, -2, -2, 2], [0, 1, 2, -1]]
    >>> word_vectors(("a", "b", "a"), 2, kind="identity").tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """
    if kind not in KINDS:
        raise ValueError(
            f"words have no vectors of kind {kind!r}; choose one of {', '.join(KINDS)}."
        )
    words = [word_key(token) for token in tokens]
    if kind == "identity":
        place = vocabulary([*known, *tokens])
        one_hot = np.zeros((len(words), d_model))
        for row, word in enumerate(words):
            if place[word] < d_model:
                one_hot[row, place[word]] = 1
        return one_hot
    vectors = {
        word: INITIALISERS[kind]((1, d_model), stream(seed, f"word {word}"), low, high)[0]
        for word in set(words)
    }
    return np.array([vectors[word] for word in words]).reshape(len(words), d_model)


# ---- characters ---------------------------------------------------------------------------------


def _clusters(text: str) -> Iterator[str]:
    """Yield what a reader sees as one character each; "" for a space, which ends a token.

    A letter with its marks, an emoji with its parts. This follows the rules for grapheme clusters
    (Unicode Standard Annex 29) as far as sentences need them.
    """
    cluster = ""
    for character in text:
        kind = unicodedata.category(character)
        if character.isspace() or character in _BLANK or kind == "Cc":
            yield cluster
            yield ""
            cluster = ""
        elif cluster and _extends(cluster, character, kind):
            cluster += character
        elif NO_CHARACTER.match(character):
            continue
        elif kind[0] != "M" and (kind != "Cf" or character in _JOINERS):
            yield cluster  # what was passed over: marks without a letter, and what shows nothing
            cluster = character
    yield cluster


def _extends(cluster: str, character: str, kind: str) -> bool:
    """Return whether the character belongs to the cluster before it."""
    if kind[0] == "M" or character in _FOLLOWING:
        return True
    if character == _JOINER or _within(character, _SKIN) or _within(character, _TAGS):
        return _is_picture(cluster[0])
    if cluster[-1] == _JOINER:
        return _is_picture(character)
    if cluster[-1] in _STACKING:
        return character.isalpha()
    return len(cluster) == 1 and _within(cluster, _FLAG) and _within(character, _FLAG)


def _is_picture(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sk", "Sm", "Cn")  # Cn: newer than this Python


def _within(character: str, ends: tuple[str, str]) -> bool:
    return ends[0] <= character <= ends[1]


# ---- words --------------------------------------------------------------------------------------


def _goes_on(token: str, cluster: str, following: str) -> bool:
    """Return whether the next character continues the token."""
    if cluster and cluster in _REPEATED and token[0] == token[-1] == cluster:
        return True
    if not cluster or not _is_letter(token):
        return False
    if cluster in _INSIDE:
        return _is_letter(following)
    if cluster in ".,":
        return token[-1].isdecimal() and following[:1].isdecimal()
    return _is_letter(cluster)


def _is_letter(cluster: str) -> bool:
    """Return whether it can be in a word: a letter or digit of a script that has spaces."""
    first = cluster[:1]
    return (first.isalnum() or first == "_") and not _UNSPACED.match(first)


def _sticks(before: str, token: str) -> bool:
    """Return whether there is no space between these two tokens."""
    ends, begins = unicodedata.category(before[-1]), unicodedata.category(token[0])
    if ends in ("Ps", "Pi") or before[-1] in _OPENING:
        return True
    if begins in ("Pe", "Pf") or token[0] in _CLOSING:
        return True
    return bool(_UNSPACED.match(token)) and not _is_letter(before)
