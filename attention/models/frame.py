"""All heads of a capture as a pandas DataFrame, a row for each, with their measures."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from attention.models.survey import MEASURES
from attention.models.survey import survey as surveyed
from attention.models.taken import Taken
from attention.program import needing

if TYPE_CHECKING:
    import pandas as pd


def survey(taken: Taken | str | PathLike[str]) -> pd.DataFrame:
    """Return a table of all heads: where each is in the model, and what its weights are like.

    Parameters
    ----------
    taken : Taken, or the file that it was saved to

    Returns
    -------
    pandas.DataFrame
        A row for each head of each item and call: ``layer``, ``head`` and ``item`` as the model
        counts them, ``call`` and ``when`` (such as "step 3"), ``kind`` and ``module``; then
        ``entropy`` in nats, ``first`` (mean weight on the first token), ``distance`` in tokens,
        ``difference`` from the model's own output, and ``agrees``, whether rounding explains it.
        A measure that says nothing of a head is NaN; of finished weights there is no difference,
        and ``agrees`` is missing.

    Raises
    ------
    BadInput, TypeError
        One sentence, where this is no capture, or nothing was captured.
    ModuleNotFoundError
        One sentence, where pandas is not installed.

    >>> from attention.models.examples import load
    >>> table = survey(load("pronoun"))
    >>> len(table), table.loc[table["entropy"].idxmin(), ["layer", "head"]].tolist()
    (30, [0, 2])
    """
    with needing("pandas", "attention.survey"):
        import pandas as pd
    found = surveyed(taken if isinstance(taken, Taken) else Taken.load(taken))
    calls = [found.taken.calls[head.place] for head in found.heads]
    given = [call.weights is not None for call in calls]
    columns: dict[str, object] = {
        "layer": [head.layer for head in found.heads],
        "head": [head.number for head in found.heads],
        "item": [head.item for head in found.heads],
        "call": [head.call for head in found.heads],
        "when": [call.when for call in calls],
        "kind": [call.kind for call in calls],
        "module": [call.module for call in calls],
    }
    for name in MEASURES:
        columns[name] = pd.array([head.measures[name] for head in found.heads], dtype="float64")
    agrees = [None if no else head.agrees for head, no in zip(found.heads, given, strict=True)]
    columns["agrees"] = pd.array(agrees, dtype="boolean")
    return pd.DataFrame(columns)
