"""Formulas for HTML: the little of LaTeX that this program writes, as MathML."""

from __future__ import annotations

import re
from html import escape

_TOKENS = re.compile(r"\\[A-Za-z]+|\\,|[0-9.]+|\S")
_WORDS = {"top": "<mo>⊤</mo>", "sum": "<mo>∑</mo>", "cdot": "<mo>·</mo>"}
_WORDS |= {"tanh": "<mi>tanh</mi>"}
_SPACES = {"\\,": "0.17em", "\\quad": "1em"}


def mathml(latex: str) -> str:
    r"""A formula that every browser sets, and reads aloud.

    >>> mathml(r"Z = A\,V").removeprefix('<math display="inline">')
    '<mi>Z</mi><mo>=</mo><mi>A</mi><mspace width="0.17em"></mspace><mi>V</mi></math>'
    >>> "<msup><mi>K</mi><mo>⊤</mo></msup>" in mathml(r"Q K^{\top}")
    True
    """
    return f'<math display="inline">{_row(_TOKENS.findall(latex))}</math>'


def _row(tokens: list[str]) -> str:
    """All that comes up to the brace that closes it."""
    parts: list[str] = []
    while tokens and tokens[0] != "}":
        if tokens[0] in "^_":
            kind = "msup" if tokens.pop(0) == "^" else "msub"
            parts.append(f"<{kind}>{parts.pop()}{_one(tokens)}</{kind}>")
        else:
            parts.append(_one(tokens))
    return "".join(parts)


def _one(tokens: list[str]) -> str:
    """A letter, a number, a group or a command with what belongs to it."""
    token = tokens.pop(0)
    if token == "{":
        inner = _row(tokens)
        tokens.pop(0)
        return inner if inner.count("</") == 1 else f"<mrow>{inner}</mrow>"
    if token in ("\\dfrac", "\\frac"):
        return f'<mfrac displaystyle="true">{_one(tokens)}{_one(tokens)}</mfrac>'
    if token == "\\sqrt":
        return f"<msqrt>{_one(tokens)}</msqrt>"
    if token == "\\mathrm":
        end = tokens.index("}")
        word = "".join(tokens[1:end])
        del tokens[: end + 1]
        return f"<mi mathvariant='normal'>{escape(word)}</mi>"
    if token in _SPACES:
        return f'<mspace width="{_SPACES[token]}"></mspace>'
    if token.startswith("\\"):
        return _WORDS[token[1:]]
    kind = "mi" if token.isalpha() else "mn" if token[0].isdigit() else "mo"
    return f"<{kind}>{escape(token)}</{kind}>"
