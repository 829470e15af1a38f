"""The records as a table: a row for each way of calling a library, a column for each facet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from attention.frameworks.libraries.convention import FACETS
from attention.frameworks.records import CONVENTIONS, named
from attention.program import needing

if TYPE_CHECKING:
    import pandas as pd

FIRST = ("library", "version")  # columns before the facets


def lines(
    libraries: Iterable[str] | None = None, facets: Iterable[str] | None = None
) -> dict[str, dict[str, str]]:
    """Return what :func:`table` holds, as a dict of a dict for each row."""
    columns = list(FACETS if facets is None else facets)
    for facet in columns:
        if facet not in FACETS:
            raise ValueError(f"{facet!r} is no facet; the facets are {', '.join(FACETS)}.")
    return {
        name: {"library": record.name, "version": record.version}
        | {facet: getattr(record, facet) for facet in columns}
        for name in (CONVENTIONS if libraries is None else libraries)
        for record in (named(name),)
    }


def table(
    libraries: Iterable[str] | None = None, facets: Iterable[str] | None = None
) -> pd.DataFrame:
    """Return how libraries compute attention, a row for each way of calling one.

    Parameters
    ----------
    libraries : iterable of str
        Keys of :data:`attention.frameworks.records.CONVENTIONS`. Default: all.
    facets : iterable of str
        Keys of :data:`attention.frameworks.libraries.convention.FACETS`, such as ``"hidden_row"``.
        Default: all.

    Returns
    -------
    pandas.DataFrame
        The index holds the keys; the columns are ``library``, ``version`` and the facets, as text.

    Raises
    ------
    ValueError
        One sentence that names the known ones, where a library or a facet is unknown.
    ModuleNotFoundError
        Where pandas is not installed.

    >>> table(["torch_sdpa", "torch_mha"], ["true_means", "hidden_row"]).hidden_row.to_dict()
    {'torch_sdpa': '0', 'torch_mha': 'NaN'}
    """
    rows = lines(libraries, facets)
    with needing("pandas", "attention.frameworks.table"):
        import pandas as pd
    columns = [*FIRST, *(FACETS if facets is None else facets)]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)
