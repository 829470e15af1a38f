"""Tables by pandas, with Streamlit's own sorting, search and download."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from attention.readers.texts.tables import disarmed
from attention.vocabulary.numbers import exact

if TYPE_CHECKING:
    import pandas as pd


def show(
    table: pd.DataFrame,
    key: str,
    written: Callable[[Any], str] | None = None,
    missing: str = "–",
    **looks: Any,
) -> None:
    """Draw a table, its numbers ``written`` as elsewhere on the page; NaN is ``missing``.

    What is typed gets an apostrophe in front where a spreadsheet would take it for a formula, as
    anybody may download the table. A column with numbers that Streamlit would call errors is text,
    with all their digits.
    """
    guarded = table.copy()
    for name in table.select_dtypes(exclude="number").columns:
        guarded[name] = table[name].map(_guarded)
    for name in table.columns[table.apply(_is_large)]:
        guarded[name] = table[name].map(exact, na_action="ignore")
    guarded = guarded.rename(index=_guarded, columns=_guarded)
    shown = guarded
    if written is not None:
        numbers = guarded.select_dtypes("number").columns
        shown = guarded.style.format(written, subset=numbers)
    st.dataframe(shown, key=key, placeholder=missing, **looks)


def _is_large(column: pd.Series) -> bool:
    """Whether a column has numbers from 2⁵³ up, all of which are whole and none of JavaScript's."""
    if column.dtype.kind not in "fiu":
        return False
    size = column.abs()
    return bool((size[size != float("inf")] >= 2**53).any())


def _guarded(label: object) -> object:
    return disarmed(label) if isinstance(label, str) else label
