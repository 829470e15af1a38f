"""Tables by pandas: what is shown is rounded, what is sent is not, and no label is a formula."""

import pandas as pd
import pyarrow as pa
from pages.conftest import ran
from streamlit.testing.v1 import AppTest


def shown() -> None:
    import pandas as pd

    from attention.pages.components import tables

    rounded = pd.DataFrame(
        {"=1+1": [1 / 3, float("nan")], "kind": ["scores", "−3"]}, index=["@cmd", "cat"]
    )
    tables.show(rounded, "rounded", "{:.2f}".format)
    tables.show(pd.DataFrame([[1 / 3]], columns=["+2"]), "plain")


def test_numbers_are_sent_to_the_bit_and_shown_as_they_are_written():
    rounded, plain = ran(AppTest.from_function(shown)).dataframe
    assert rounded.value.iloc[0, 0] == plain.value.iloc[0, 0] == 1 / 3
    assert pd.isna(rounded.value.iloc[1, 0])
    texts = pa.ipc.open_stream(rounded.proto.arrow_data.styler.display_values).read_pandas()
    assert texts.to_numpy().tolist() == [["0.33", "scores"], ["nan", "−3"]]
    assert rounded.proto.placeholder == "–"  # which the browser writes in place of NaN


def test_a_label_that_a_spreadsheet_would_take_for_a_formula_gets_an_apostrophe():
    rounded, plain = ran(AppTest.from_function(shown)).dataframe
    assert list(rounded.value) == ["'=1+1", "kind"] and list(plain.value) == ["'+2"]
    assert list(rounded.value.index) == ["'@cmd", "cat"]


def large() -> None:
    import pandas as pd

    from attention.pages.components import tables

    numbers = {"a": [1e16, float("nan")], "b": [2.0**52, float("-inf")], "c": [-(2.0**53), 0.5]}
    tables.show(pd.DataFrame(numbers), "large", "{:.1e}".format)


def test_numbers_that_streamlit_would_call_errors_are_texts_of_all_digits():
    (table,) = ran(AppTest.from_function(large)).dataframe
    assert table.value["a"].iloc[0] == "1e+16" and pd.isna(table.value["a"].iloc[1])
    assert table.value["b"].tolist() == [2.0**52, float("-inf")]
    assert [float(text) for text in table.value["c"]] == [-(2.0**53), 0.5]
