"""What everything that is written says of its making, and which package a function lacks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime

NAME = "attention-stages"
VERSION = "0.10.0"  # pyproject.toml reads it here, and without importing the package


def made_by() -> str:
    """Return name, version and date: ``attention-stages 1.0.0, 2030-01-01``."""
    return f"{NAME} {VERSION}, {today().isoformat()}"


def today() -> date:
    """Return the date in UTC, or that of ``SOURCE_DATE_EPOCH``, as in reproducible builds."""
    try:
        return datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC).date()
    except (KeyError, ValueError, OverflowError, OSError):  # it is not set, or is no such number
        return datetime.now(UTC).date()


@contextmanager
def needing(package: str, name: str) -> Iterator[None]:
    """Raise one sentence where a package that the public function ``name`` imports is missing.

    >>> with needing("ribbons", "f"):
    ...     import ribbons
    Traceback (most recent call last):
    ModuleNotFoundError: f needs the package ribbons, which is not installed: pip install ribbons.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name != package:  # which is there, and lacks another
            raise
        raise ModuleNotFoundError(
            f"{name} needs the package {package}, which is not installed: pip install {package}."
        ) from None
