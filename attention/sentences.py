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


def shortened(label: str) -> str:
    """What there is room for beside a matrix.

    >>> shortened("attention"), shortened("representations")
    ('attention', 'representatio…')
    """
    return label if len(label) <= LABEL_LENGTH else f"{label[: LABEL_LENGTH - 1]}…"
