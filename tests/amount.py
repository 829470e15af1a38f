"""How much of what is repeated by seed a run repeats: a share of it, or with THOROUGH=1 all."""

import os

THOROUGH = os.environ.get("THOROUGH", "") not in ("", "0")


def amount(share: int, every: int) -> int:
    """The share of a usual run, or every one of them on demand."""
    return every if THOROUGH else share
