"""What the page Long context is set to: what is made or brought, who sees whom, what one looks at.

A long context is no trace: its tensors are made from a rule or stay in the session, and only what
is set here goes into the address.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from attention.arrays.conversion import shown
from attention.limits import MAX_LONG_HEADS, MAX_LONG_TOKENS, MAX_SEED, BadInput
from attention.samples.patterns import PATTERNS

TOKENS = (256, 1024, 4096, 16384, 32768, 65536, MAX_LONG_TOKENS)  # on offer
MASKS = {
    "causal": "look-ahead",
    "window": "look-ahead, a window",
    "lower_right": "look-ahead (last key)",
    "none": "none",
    "own": "as it came",
}
SHOWN = {
    "mean": "total weight per query",
    "largest": "largest weight",
}
ALSO = {  # what else is computed, by its name in attention.long_attention
    "entropy": "entropy",
    "first": "weight on first token",
    "profile": "by distance",
}
Window = tuple[int, int, int, int]  # queries from the first to before the last, and keys


@dataclass(frozen=True)
class LongContext:
    """All that is set; what was brought itself is not in it.

    >>> LongContext(tokens=4096, window=(0, 256, 0, 512)).pattern
    'induction'
    """

    pattern: str = "induction"  # a name in PATTERNS; "" where tensors were brought
    tokens: int = 4096  # that are made
    seed: int = 0
    rotary: bool = False  # turn the made queries and keys by their positions
    mask: str = "causal"  # a name in MASKS
    seen: int = 512  # keys, where the mask is a window
    head: int = 0
    of: str = "mean"  # a name in SHOWN
    also: tuple[str, ...] = ("entropy", "first")  # names in ALSO
    logarithmic: bool = False
    query: int = -1  # whose row is shown; −1: the last
    window: Window | tuple[()] = ()  # (): all

    def __post_init__(self) -> None:
        for name in ("window", "also"):
            if isinstance(getattr(self, name), list):  # as JSON has it
                object.__setattr__(self, name, tuple(getattr(self, name)))
        for name, names in (("pattern", ["", *PATTERNS]), ("mask", MASKS), ("of", SHOWN)):
            value: Any = getattr(self, name)
            if not isinstance(value, str) or value not in names:
                known = ", ".join(filter(None, names))
                raise BadInput(f"{name} is {shown(value)}; expected one of {known}.")
        most = MAX_LONG_TOKENS
        for name, least, greatest in (
            ("tokens", 1, most),
            ("seed", 0, MAX_SEED),
            ("seen", 1, most),
            ("head", 0, MAX_LONG_HEADS - 1),
            ("query", -1, most - 1),
        ):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= greatest:
                raise BadInput(
                    f"{name} is {shown(value)}; expected a whole number from {least} to"
                    f" {greatest:,}."
                )
        for name in ("rotary", "logarithmic"):
            if type(getattr(self, name)) is not bool:
                raise BadInput(f"{name} is {shown(getattr(self, name))}; expected true or false.")
        some = isinstance(self.also, tuple) and all(
            isinstance(name, str) and name in ALSO for name in self.also
        )
        if not some or len(set(self.also)) < len(self.also):
            raise BadInput(f"also is {shown(self.also)}; expected some of {', '.join(ALSO)}.")
        if self.window != () and not _is_window(self.window):
            raise BadInput(
                f"window is {shown(self.window)}; expected four whole numbers: the first query,"
                " the last + 1, the first key, the last + 1."
            )


def _is_window(window: Any) -> bool:
    if not isinstance(window, tuple) or len(window) != 4:
        return False
    top, bottom, left, right = window
    most = MAX_LONG_TOKENS
    return (
        all(type(end) is int for end in window)
        and 0 <= top < bottom <= most
        and 0 <= left < right <= most
    )


def brought(c: LongContext, mask: str, head: int = 0) -> LongContext:
    """What is set once queries and keys were brought: all of them, under the mask they came with.

    >>> brought(LongContext(query=3, window=(0, 2, 0, 2)), "own", 1).head
    1
    """
    return replace(c, pattern="", mask=mask, head=head, query=-1, window=())


def moved(c: LongContext, sent: object) -> LongContext:
    """What the map sent, a query or a window; anything else changes nothing.

    >>> moved(LongContext(), {"query": 3}).query, moved(LongContext(), {"window": []}).window
    (3, ())
    """
    if isinstance(sent, dict):
        if type(sent.get("query")) is int:
            return replace(c, query=sent["query"])
        if isinstance(window := sent.get("window"), list):
            return replace(c, window=tuple(window))
    return c


def fitted(window: Window | tuple[()], n_q: int, n_k: int) -> Window:
    """The window as far as it lies inside; where none of it does, or there is none, all.

    >>> fitted((10, 20, 0, 90), 16, 64), fitted((30, 40, 0, 4), 16, 64), fitted((), 2, 3)
    ((10, 16, 0, 64), (0, 16, 0, 64), (0, 2, 0, 3))
    """
    if not window:
        return 0, n_q, 0, n_k
    top, bottom, left, right = window
    bottom, right = min(bottom, n_q), min(right, n_k)
    return (top, bottom, left, right) if top < bottom and left < right else (0, n_q, 0, n_k)
