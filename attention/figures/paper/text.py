"""Words on a paper figure, as Matplotlib is to print them."""

from __future__ import annotations

import re

from attention.vocabulary.characters import NO_CHARACTER


def fit_for_files(text: str) -> str:
    """Return the text in one line, without what no SVG or PDF holds.

    >>> fit_for_files("a\\nb\\x01")
    'a b '
    """
    text = NO_CHARACTER.sub("\ufffd", text)
    return re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text)


def clean(text: str) -> str:
    """Return text as Matplotlib prints it, with nothing in it read as a formula."""
    return fit_for_files(text).replace("$", r"\$")


def subscripted(name: str) -> str:
    """A name of ours with its index set low, in Matplotlib's words for formulas."""
    return re.sub(r"\b([A-Za-z])(?:_|<sub>)(\w+)(?:</sub>)?", r"\1$_{\\mathregular{\2}}$", name)
