"""Names as a sentence has them, and words as a label does."""

from __future__ import annotations

import re
from collections.abc import Sequence

NB = "\u00a0"  # between words of one line
Words = tuple[str, str]  # a text, and what it names: "query", "key" or ""
LABEL_LENGTH = 14  # characters of a word next to a matrix


def in_words(names: Sequence[str]) -> str:
    """Join names, at least one, by commas and “and”.

    >>> in_words(["Q"]), in_words(["Q", "K", "V"])
    ('Q', 'Q, K and V')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def they_are(names: Sequence[str]) -> str:
    """Join names as :func:`in_words` does, and add “is” or “are”.

    >>> they_are(["Q"]), they_are(["K", "V"])
    ('Q is', 'K and V are')
    """
    return f"{in_words(names)} {'are' if len(names) > 1 else 'is'}"


def amount(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, singular or plural.

    >>> amount(1, "query", "queries"), amount(2000, "query", "queries"), amount(0, "key")
    ('1 query', '2,000 queries', '0 keys')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def numbered(word: str, which: Sequence[int]) -> str:
    """Name heads or items by their numbers, which count from 0.

    >>> numbered("head", [1]), numbered("head", [0, 2])
    ('head 1', 'heads 0, 2')
    """
    return f"{word}{'s' * (len(which) > 1)} {', '.join(map(str, which))}"


def which_of(word: str, which: Sequence[int], count: int) -> str:
    """Name heads or items by their numbers, out of ``count``.

    >>> [which_of("head", which, 3) for which in ([1], [0, 2], [0, 1, 2])]
    ['head 1 of 0–2', 'heads 0, 2 of 0–2', 'all 3 heads']
    """
    if len(which) == count > 1:
        return f"all {count} {word}s"
    return f"{numbered(word, which)} of 0–{count - 1}"


def shortened(label: str) -> str:
    """Shorten a label to the width that a matrix leaves it.

    >>> shortened("attention"), shortened("representations")
    ('attention', 'representatio…')
    """
    return label if len(label) <= LABEL_LENGTH else f"{label[: LABEL_LENGTH - 1]}…"


_REPEATED = re.compile(r"(.*) \((\d+)\)", re.DOTALL)
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)


def repeated(labels: Sequence[str], k: int) -> tuple[str, int]:
    """Return a word and which one of several it is, from 1; 0 where it is the only one.

    >>> repeated(("the (1)", "cat", "the (2)"), 2), repeated(("f (2)", "cat"), 0)
    (('the', 2), ('f (2)', 0))
    """
    found = _REPEATED.fullmatch(labels[k])
    if found and sum(label.startswith(f"{found[1]} (") for label in labels) > 1:
        return found[1], int(found[2])
    return labels[k], 0


def called(labels: Sequence[str], k: int) -> str:
    """Return a word as a sentence has it.

    >>> [called(("the (1)", "cat", "the (2)"), k) for k in range(3)]
    ['the first “the”', '“cat”', 'the second “the”']
    """
    word, which = repeated(labels, k)
    if not which:
        return f"“{word}”"
    ordinal = _ORDINALS[which - 1] if which <= len(_ORDINALS) else ""
    return f"the {ordinal} “{word}”" if ordinal else f"“{word}” no.{NB}{which}"


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]
