"""The table of all libraries: as the records are, of known names alone, with pandas alone."""

import sys

import messages
import pytest

from attention import frameworks
from attention.frameworks.libraries.convention import FACETS
from attention.frameworks.records import CONVENTIONS


def test_each_record_is_a_row_and_each_facet_a_column_of_text():
    table = frameworks.table()
    assert list(table.index) == list(CONVENTIONS)
    assert list(table.columns) == ["library", "version", *FACETS]
    for name, record in CONVENTIONS.items():
        assert table.loc[name].tolist() == [
            record.name,
            record.version,
            *(getattr(record, facet) for facet in FACETS),
        ]


def test_rows_and_columns_may_be_chosen():
    table = frameworks.table(["jax", "ours"], ["hidden_row"])
    assert table.hidden_row.to_dict() == {"jax": "uniform", "ours": "0; flagged"}


def test_unknown_names_are_refused_and_the_known_are_named():
    with pytest.raises(ValueError) as refused:
        frameworks.table(["theano"])
    names = ", ".join(CONVENTIONS)
    assert str(refused.value) == messages.NOT_IN_THE_TABLE.format(name="'theano'", names=names)
    with pytest.raises(ValueError) as refused:
        frameworks.table(facets=["colour"])
    facets = ", ".join(FACETS)
    assert str(refused.value) == messages.NOT_A_FACET.format(facet="'colour'", facets=facets)


def test_without_pandas_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError) as missing:
        frameworks.table()
    assert str(missing.value) == messages.NEEDS_PANDAS.format(name="attention.frameworks.table")
