"""A capture as static HTML for a notebook: its summary, and its heads as small maps."""

from __future__ import annotations

import html
import struct
import zlib
from base64 import b64encode

from attention.explain.colours import LIGHT, shade
from attention.explain.notebook import block
from attention.figures.panes.maps import SmallMap, small_map
from attention.figures.panes.shades import BROKEN, HIDDEN, LAST, SHARE
from attention.models.summary import line, summary
from attention.models.taken import Taken

MOST = 48  # maps; a notebook keeps each of them
MOST_WEIGHTS = 2**23  # of all that are drawn: they are computed for it
WIDE = 72  # px


def page(taken: Taken) -> str:
    """Return the first heads of the first item of each call, under the lines of the summary.

    >>> from attention.models.examples import load
    >>> shown = page(load("pronoun"))
    >>> shown.count("<img"), "30 heads" in shown, len(shown) < 100_000
    (30, False, True)
    """
    first, *lines = summary(taken).splitlines()
    parts, drawn, weights = [], 0, 0
    for call in taken:
        n_q, n_k = call.Q.shape[2], call.K.shape[2]
        maps = []
        for head in range(call.Q.shape[1]):
            weights += n_q * n_k
            if drawn >= MOST or weights > MOST_WEIGHTS:
                break
            trace = call.trace(0, head)
            maps.append(_image(small_map(trace.weights, trace.allowed), call.number_of(head)))
            drawn += 1
        if maps:
            parts.append(f"<div>{html.escape(line(call))}<br>{''.join(maps)}</div>")
    known = {line(call) for call in taken}
    others = [html.escape(each.strip()) for each in lines if each.strip() not in known]
    words = [f"<b>{html.escape(first)}</b>", *others]
    heads = taken.counts.heads
    if drawn < heads:
        words.append(f"The first {drawn:,} of {heads:,} heads of all items:")
    return block(words, parts)


def _image(small: SmallMap, number: int) -> str:
    """Return a map as an image in the page, under it the number of the head."""
    name = f"head {number}"
    tall = max(round(WIDE * small.rows / small.columns), 1) if small.columns else WIDE
    style = f"width:{WIDE}px;height:{min(tall, 3 * WIDE)}px;image-rendering:pixelated"
    return (
        '<span style="display:inline-block;margin:2px 6px 2px 0;text-align:center">'
        f'<img alt="{name}" title="{name}" style="{style};display:block;border:1px solid #8884"'
        f' src="data:image/png;base64,{b64encode(to_png(small)).decode()}">{number}</span>'
    )


def to_png(small: SmallMap) -> bytes:
    """Return a small map as a PNG with a palette, a pixel for each cell.

    >>> to_png(SmallMap(1, 1, b"\\xfe"))[:4]
    b'\\x89PNG'
    """
    rows = [small.shades[k : k + small.columns] for k in range(0, len(small.shades), small.columns)]
    header = struct.pack(">IIBBBBB", small.columns, small.rows, 8, 3, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)  # 0: as they are
    parts = {b"IHDR": header, b"PLTE": _PALETTE, b"IDAT": pixels, b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts.items()
    )


def _colours() -> bytes:
    """Return three bytes for each shade."""
    found = {code: shade(code / LAST, SHARE, "share") for code in range(LAST + 1)}
    found |= {HIDDEN: LIGHT["hidden"][0][1], BROKEN: LIGHT["broken"][0][1]}
    return b"".join(bytes.fromhex(found.get(code, "#ffffff")[1:]) for code in range(256))


_PALETTE = _colours()
