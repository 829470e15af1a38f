"""Names as a sentence has them, and words as a label does."""

from __future__ import annotations

from collections.abc import Sequence

LABEL_LENGTH = 14  # characters of a word beside a matrix


def in_words(names: Sequence[str]) -> str:
    """All of them, at least one.

    >>> in_words(["Q"]), in_words(["Q", "K", "V"])
    ('Q', 'Q, K and V')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def they_are(names: Sequence[str]) -> str:
    """All of them, and the verb.

    >>> they_are(["Q"]), they_are(["K", "V"])
    ('Q is', 'K and V are')
    """
    return f"{in_words(names)} {'are' if len(names) > 1 else 'is'}"


def numbered(word: str, which: Sequence[int]) -> str:
    """Heads or items by their numbers, which count from 0.

    >>> numbered("head", [1]), numbered("head", [0, 2])
    ('head 1', 'heads 0, 2')
    """
    return f"{word}{'s' * (len(which) > 1)} {', '.join(map(str, which))}"


def which_of(word: str, which: Sequence[int], count: int) -> str:
    """The same with those that there are.

    >>> [which_of("head", which, 3) for which in ([1], [0, 2], [0, 1, 2])]
    ['head 1 of 0–2', 'heads 0, 2 of 0–2', 'all 3 heads']
    """
    if len(which) == count > 1:
        return f"all {count} {word}s"
    return f"{numbered(word, which)} of 0–{count - 1}"


def shortened(label: str) -> str:
    """What there is room for beside a matrix.

    >>> shortened("attention"), shortened("representations")
    ('attention', 'representatio…')
    """
    return label if len(label) <= LABEL_LENGTH else f"{label[: LABEL_LENGTH - 1]}…"
