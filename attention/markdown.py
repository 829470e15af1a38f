"""Text for Markdown: what a person typed is shown as typed."""

from __future__ import annotations

MARKS = r"\`*_{}[]()#+-.!|~$:<>&"


def plain(text: str) -> str:
    """The text with each mark of Markdown, HTML and its entities escaped.

    >>> plain("*a* <b>|")
    '\\\\*a\\\\* \\\\<b\\\\>\\\\|'
    """
    return "".join("\\" + c if c in MARKS else c for c in text)
