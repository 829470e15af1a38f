"""Every bound in one place, and the error that says in one sentence which was passed."""

from __future__ import annotations

MAX_SIDE = 512  # rows or columns of a matrix


MAX_BLOCKS = 64  # matrices in one text, one for each head


LIMIT = 1e12  # numbers beyond ±LIMIT are refused, so that no product of four of them overflows


class BadInput(ValueError):
    """What a person gave cannot be used; the message is the one sentence they read."""
