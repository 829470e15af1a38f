"""The panel of the chosen cell, as static HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from attention.vocabulary.notation import in_html


def panel(where: str, lines: Sequence[str], cell: tuple) -> str:
    """Which cell it is and the lines behind it.

    >>> panel("Q", ["= 2"], ("Q", 0, 0))
    "<div class='chosen'><p><b>Q</b></p><pre class='cell' data-cell='Q,0,0'>= 2</pre></div>"
    """
    place = escape(",".join(map(str, cell)))
    return (
        f"<div class='chosen'><p><b>{in_html(where)}</b></p>"
        f"<pre class='cell' data-cell='{place}'>{escape(chr(10).join(lines))}</pre></div>"
    )
