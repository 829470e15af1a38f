"""Names as a sentence has them, and words as a label does."""

from __future__ import annotations

import re
from collections.abc import Sequence

NB = "\u00a0"  # between words of one line
Words = tuple[str, str]  # a text, and what it names: "query", "key" or ""
LABEL_LENGTH = 14  # characters of a word next to a matrix


def joints(count: int) -> list[str]:
    """Return what is written before each of so many names.

    >>> joints(1), joints(2), joints(4)
    ([''], ['', ' and '], ['', ', ', ', ', ' and '])
    """
    return ["", *[", "] * (count - 2), " and "][:count]


def in_words(names: Sequence[str], most: int = 0) -> str:
    """Join names by commas and “and”; of more than ``most``, the first and how many more.

    >>> in_words(["Q"]), in_words(["Q", "K", "V"]), in_words("abcde", 3)
    ('Q', 'Q, K and V', 'a, b, c and 2 more')
    """
    if 0 < most < len(names):
        names = [*names[:most], f"{len(names) - most} more"]
    return "".join(map("".join, zip(joints(len(names)), names, strict=True)))


def first_few(names: Sequence[str], most: int) -> str:
    """Join the first names by commas, with “…” where there are more than ``most``.

    >>> first_few("ab", 3), first_few("abcd", 3)
    ('a, b', 'a, b, c, …')
    """
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def they_are(names: Sequence[str]) -> str:
    """Join names as :func:`in_words` does, and add “is” or “are”.

    >>> they_are(["Q"]), they_are(["K", "V"])
    ('Q is', 'K and V are')
    """
    return f"{in_words(names)} {plural(len(names), 'is', 'are')}"


def plural(count: int, one: str, many: str = "") -> str:
    """Return a noun, singular or plural, without its number.

    >>> [plural(count, "query", "queries") for count in range(3)], plural(2, "key")
    (['queries', 'query', 'queries'], 'keys')
    """
    return one if count == 1 else many or f"{one}s"


def amount(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, singular or plural.

    >>> amount(1, "query", "queries"), amount(2000, "query", "queries"), amount(0, "key")
    ('1 query', '2,000 queries', '0 keys')
    """
    return f"{count:,} {plural(count, one, many)}"


def to_decimals(digits: int) -> str:
    """Return to what numbers are rounded.

    >>> to_decimals(2), to_decimals(1), to_decimals(0)
    ('to 2 decimals', 'to 1 decimal', 'to whole numbers')
    """
    return f"to {amount(digits, 'decimal')}" if digits else "to whole numbers"


def numbered(word: str, which: Sequence[int]) -> str:
    """Name heads, items or keys by their numbers.

    >>> numbered("head", [1]), numbered("head", [0, 2])
    ('head 1', 'heads 0, 2')
    """
    return f"{word if len(which) < 2 else f'{word}s'} {', '.join(map(str, which))}"


def which_of(word: str, which: Sequence[int], count: int) -> str:
    """Name heads or items by their numbers, out of ``count``; "" of the only one.

    >>> [which_of("head", which, 3) for which in ([1], [0, 2], [0, 1, 2])]
    ['head 1 of 0–2', 'heads 0, 2 of 0–2', 'all 3 heads']
    """
    if count < 2:
        return ""
    if len(which) == count:
        return f"all {count} {word}s"
    return f"{numbered(word, which)} of 0–{count - 1}"


def shortened(label: str) -> str:
    """Shorten a label to the width that a matrix leaves it.

    >>> shortened("attention"), shortened("representations")
    ('attention', 'representatio…')
    """
    return label if len(label) <= LABEL_LENGTH else f"{label[: LABEL_LENGTH - 1]}…"


_REPEATED = re.compile(r"(.*) \((\d+)\)", re.DOTALL)
LOW_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
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


def low(label: str) -> str:
    """Return a label with its count below the line, as on the board.

    >>> low("the (12)"), low("(1)")
    ('the₁₂', '(1)')
    """
    found = _REPEATED.fullmatch(label)
    return label if found is None else found[1] + found[2].translate(LOW_DIGITS)


def capital(text: str) -> str:
    """Begin with a capital letter, unless the first word is a file or a name such as b_O.

    >>> capital("every weight"), capital("a.csv is empty"), capital("b_O is left out")
    ('Every weight', 'a.csv is empty', 'b_O is left out')
    """
    is_name = "." in text.split(" ", 1)[0] or text[1:2] == "_"
    return text if is_name else text[:1].upper() + text[1:]
