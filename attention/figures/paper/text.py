"""Words on a paper figure, as Matplotlib is to print them."""

from __future__ import annotations

import re


def clean(text: str) -> str:
    """Text as Matplotlib prints it, with nothing in it read as a formula or unfit for a file."""
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)  # halves of letters
    return re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).replace("$", r"\$")


def subscripted(name: str) -> str:
    """A name of ours with its index set low, in Matplotlib's words for formulas."""
    return re.sub(r"\b([A-Za-z])(?:_|<sub>)(\w+)(?:</sub>)?", r"\1$_{\\mathregular{\2}}$", name)
