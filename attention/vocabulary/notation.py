"""Names with an index, as W_Q, √d_k and d_model, set as each kind of text can set them."""

from __future__ import annotations

import re
from html import escape

_QUOTED = re.compile(r"(“[^”]*”)")  # words of a user, which are no notation
_NAME = re.compile(r"\b([A-Za-z])_(model|out|in|[A-Za-z])\b(?!\.\w)")
LONGEST_IN_FILENAME = 60  # characters
_LOW = {"k": "ₖ", "v": "ᵥ"}  # what Unicode has


def in_html(text: str) -> str:
    """Return the text escaped, with indices below the line; quoted words and the names of files
    stay as they are.

    >>> in_html("1/√d_k < W_Q, “d_k”"), in_html("W_Q.npz has no W_K.")
    ('1/√d<sub>k</sub> &lt; W<sub>Q</sub>, “d_k”', 'W_Q.npz has no W<sub>K</sub>.')
    """
    pieces = _QUOTED.split(escape(text))
    pieces[::2] = map(subscripts, pieces[::2])
    return "".join(pieces)


def subscripts(escaped: str) -> str:
    """Return HTML, or a text of Plotly, with indices below the line.

    >>> subscripts("1/√d_k")
    '1/√d<sub>k</sub>'
    """
    return _NAME.sub(r"\1<sub>\2</sub>", escaped)


def in_label(text: str) -> str:
    r"""Return the text for a button or an option that Streamlit reads as Markdown.

    Not for the label of a field: a screen reader would be given the marks.

    >>> in_label("√d_model")
    '√d$_\\mathsf{model}$'
    """
    return _NAME.sub(r"\1$_\\mathsf{\2}$", text)


def in_plain(text: str) -> str:
    """Return the text for a field, a menu or a list, whose letters are all of one size.

    >>> in_plain("1/√d_k of d_model")
    '1/√dₖ of d_model'
    """
    return re.sub(r"\bd_([kv])\b", lambda found: f"d{_LOW[found[1]]}", text)


def in_filename(name: str) -> str:
    """Return a name as a part of the name of a file; "" where no letter of it can be in one.

    >>> in_filename("My model (2).v1"), in_filename("…")
    ('My-model-2-.v1', '')
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-.")[:LONGEST_IN_FILENAME]
