"""Every bound in one place, and the error that says in one sentence which was passed."""

from __future__ import annotations

MAX_SIDE = 512  # rows or columns of a matrix


MAX_BLOCKS = 64  # matrices in one text, one for each head


LIMIT = 1e12  # numbers beyond ±LIMIT are refused, so that no product of four of them overflows


class BadInput(ValueError):
    """What a person gave cannot be used; the message is the one sentence they read."""


MAX_FILE = 8 * 2**20  # bytes


MAX_ELEMENTS = 400_000  # of one array


MAX_ARRAYS = 4096  # in one file


MAX_HEADER = 2**20  # bytes of JSON in a .safetensors file


MAX_RANK = 4


MAX_TOKENS = 64


MAX_DIMENSION = 512


MAX_TOKEN_LENGTH = 40


MAX_CELLS = 2**21  # scores of all items and heads together


MAX_BATCH = 64


MAX_NUMBERS = 700_000  # of all matrices together, so that a saved state stays below 8 MB
