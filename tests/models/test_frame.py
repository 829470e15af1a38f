"""All heads of a capture as a table."""

import sys
from pathlib import Path

import numpy as np
import pytest

import attention
from attention.models.examples import load
from attention.models.survey import MEASURES, survey
from attention.models.taken import Taken

pd = pytest.importorskip("pandas", reason="pandas is not installed")
T5 = Path(__file__).parent / "recorded" / "t5.safetensors"


@pytest.mark.parametrize("given", [load("verbs"), load("pronoun"), T5], ids=["verbs", "it", "t5"])
def test_the_table_has_a_row_for_each_head_as_the_page_measures_it(given):
    table = attention.survey(given)
    taken = given if isinstance(given, Taken) else Taken.load(given)
    heads = survey(taken).heads
    assert len(table) == len(heads) == taken.counts[0]
    for (_, row), head in zip(table.iterrows(), heads, strict=True):
        call = taken.calls[head.place]
        assert (row["layer"], row["head"], row["item"]) == (head.layer, head.number, head.item)
        assert (row["kind"], row["module"], row["when"]) == (call.kind, call.module, call.when)
        for name in MEASURES:
            measured = head.measures[name]
            assert np.isnan(row[name]) if measured is None else row[name] == measured
        assert row["agrees"] == head.agrees


def test_of_finished_weights_there_is_no_difference():
    table = attention.survey(Taken.of_weights(np.full((2, 1, 3, 4, 4), 0.25)))
    assert len(table) == 6 and table["entropy"].round(6).eq(round(np.log(4), 6)).all()
    assert table["difference"].isna().all() and table["agrees"].isna().all()


def test_without_pandas_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError) as problem:
        attention.survey(load("verbs"))
    assert str(problem.value).startswith("attention.survey needs the package pandas")
