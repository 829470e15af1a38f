"""Characters that a token, a page or a file has no place for."""

from __future__ import annotations

import re

# Halves of characters, which no UTF-8 holds, and the two that Unicode leaves without a meaning and
# XML, so every SVG, forbids. Other noncharacters, such as U+1FFFE, XML allows.
NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def unshown(text: str) -> bool:
    """Check for a control character, or what is no character, which no address can hold.

    >>> unshown("a\\n"), unshown("a\\uffff"), unshown("naïve 🙂")
    (True, True, False)
    """
    return bool(_CONTROL.search(text) or NO_CHARACTER.search(text))
