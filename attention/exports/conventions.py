"""The table of conventions as HTML: what each says of these numbers, and what it does in general."""

from __future__ import annotations

from attention.conventions import CONVENTIONS
from attention.exports.html import line, table

OURS = (
    "(…, L, D)",
    "may look",
    "both, by name",
    "0, flagged",
    "1/√d_k",
    "before the mask",
    "this package",
)
HEADS = (
    "",
    "layout of Q, K, V",
    "True in a mask means",
    "look-ahead, if n_q ≠ n_k",
    "a query that sees no key",
    "default scale",
    "soft cap",
    "known from",
)


def sentences(compared) -> str:
    """One line for each framework: what it does with these numbers."""
    lines = [line([_title(found.name), found.sentence]) for found in compared]
    return table("words pairs", ["", "with these numbers"], lines)


def facts() -> str:
    """One line for each framework: what it does in general, and how that is known."""
    lines = [line(["ours", *OURS], "own")]
    for name, c in CONVENTIONS.items():
        known = c.source if c.ran else f"not run: {c.source}"
        lines.append(
            line(
                [
                    _title(name),
                    c.layout,
                    c.true_means,
                    c.causal,
                    c.hidden_row,
                    c.scale,
                    c.softcap,
                    known,
                ]
            )
        )
    return table("words", list(HEADS), lines)


def _title(name: str) -> str:
    convention = CONVENTIONS[name]
    return f"{convention.title} ({convention.version})"
