"""Who looks at whom: the weights as lines from each query to the keys, as SVG."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape

from attention.core.scores import FUNCTION
from attention.explain.view import View
from attention.vocabulary.numbers import number, percent
from attention.vocabulary.sentences import called, low

MOST = 32  # words on a side; more lines than that are a thicket
ROW, TOP, SIZE = 30, 26, 15  # px: of a word, above the first, of its letters
GAP = 240  # px between the two columns of words
HEAD = 12  # px: the letters of "query" and "key", as below
# Of the size: how wide a letter is in DejaVu Sans Bold, of the wider fonts that a browser may have.
LETTER, CAPITAL, WIDE = 0.72, 0.86, 1.11
SHARES = 52  # px: the numbers at the right
WIDEST, THINNEST = 11.0, 0.05  # px: of a line with all of the share, and the least that is drawn
STYLE = """
svg.looks { max-width: 100%; height: auto; }
.looks text { font: 15px var(--st-font, system-ui, sans-serif); fill: currentColor; }
.looks .of { font-size: 12px; opacity: .75; }
.looks line { stroke: #4a9be0; opacity: .18; }
.looks .chosen line { stroke: #d4006a; opacity: .8; }
.looks .chosen .query { font-weight: 700; }
.looks .share { font-size: 13px; visibility: hidden; }
.looks .chosen .share, .looks .from:hover .share { visibility: visible; }
.looks:has(.from:hover) .chosen:not(:hover) line { opacity: .15; }
.looks:has(.from:hover) .chosen:not(:hover) .share { visibility: hidden; }
.looks .from:hover line { opacity: .95; }
.picture .looks .query { cursor: pointer; }
"""


def refusal(view: View) -> str:
    """One sentence where the weights are no shares, or of more words than can be told apart."""
    if not view.softmax:
        return "lines are drawn of shares, which softmax makes; here it is off."
    if view.softmax == FUNCTION:
        return "lines are drawn of shares, which softmax makes; here a function has its place."
    count = max(view.stages["weights"].shape)
    if count <= MOST:
        return ""
    return f"lines are drawn between at most {MOST} words; here are {count}, which the map shows."


def svg(view: View, query: int, digits: int = 2, about: Sequence[str] = ()) -> str:
    """Queries at the left, keys at the right, and a line for each share, as thick as it is large.

    The lines of ``query`` stand out, on a page those of the word that is pointed at; each names its
    number. A share whose line would be thinner than can be seen has none. ``about`` is what a file
    says of itself.
    """
    weights, printed = view.stages["weights"], view.printed("weights")
    queries, keys = view.labels["queries"], view.labels["keys"]
    left, right = (
        14 + max(_width(head, HEAD), *(_width(word, SIZE) for word in words))
        for head, words in (("query", queries), ("key", keys))
    )
    width, height = left + GAP + right + SHARES, TOP + ROW * max(weights.shape) + 6
    groups = []
    for i, word in enumerate(queries):
        lines = [
            _line(
                (left, _y(i)),
                (left + GAP, _y(j)),
                share,
                f"{called(queries, i)} → {called(keys, j)}: {text}",
            )
            for j in range(len(keys))
            if WIDEST * (share := float(weights[i, j])) >= THINNEST
            and (text := number(printed[i, j], digits))
        ]
        shares = [
            _text(width - 4, _y(j), percent(share), "end", "share")
            for j in range(len(keys))
            if (share := float(printed[i, j])) > 0
        ]
        kind = "from chosen" if i == query else "from"
        label = _text(left - 8, _y(i), low(word), "end", "query")
        inside = label + "".join(lines + shares)
        groups.append((i == query, f"<g class='{kind}' data-query='{i}'>{inside}</g>"))
    above = [group for _, group in sorted(groups, key=lambda one: one[0])]  # the chosen one last
    words = [_text(left + GAP + 8, _y(j), low(key), "start", "key") for j, key in enumerate(keys)]
    heads = _text(left - 8, 12, "query", "end", "of")
    heads += _text(left + GAP + 8, 12, "key", "start", "of")
    who, strongest = called(queries, query), called(keys, int(weights[query].argmax()))
    best = (
        f"the thickest of {who} leads to {strongest}" if weights[query].any() else f"{who} has none"
    )
    name = escape(f"Weights as lines; {best}.")
    said = f"<desc>{escape(chr(10).join(about))}</desc>" if about else ""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' class='looks' role='img' width='{width:.0f}'"
        f" height='{height:.0f}' viewBox='0 0 {width:.0f} {height:.0f}' aria-label='{name}'>"
        f"{said}<style>{STYLE}</style>{heads}{''.join(above)}{''.join(words)}</svg>"
    )


def _width(text: str, size: float) -> float:
    """Return how wide a text may be: no font is known where an SVG is made.

    >>> [round(_width(word, 10), 1) for word in ("cat", "WAR", "猫")]
    [21.6, 28.3, 11.1]
    """
    return size * sum(map(_letter, text))


def _letter(character: str) -> float:
    if character in "WMmw@%" or unicodedata.east_asian_width(character) in "WF":
        return WIDE
    return CAPITAL if character.isupper() else LETTER


def _y(k: int) -> float:
    return TOP + ROW * (k + 0.5)


def _text(x: float, y: float, word: str, anchor: str, kind: str) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' class='{kind}' text-anchor='{anchor}'"
        f" dominant-baseline='central'>{escape(word)}</text>"
    )


def _line(begin: tuple[float, float], end: tuple[float, float], share: float, said: str) -> str:
    (x, y), (to_x, to_y) = begin, end
    return (
        f"<line x1='{x:.1f}' y1='{y:.1f}' x2='{to_x:.1f}' y2='{to_y:.1f}'"
        f" stroke-width='{WIDEST * share:.3f}'><title>{escape(said)}</title></line>"
    )
