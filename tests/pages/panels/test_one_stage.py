"""The tabs Heatmap and Table: the numbers of the trace, of the stage of the chosen cell."""

import io
import json
from base64 import b64decode

import messages
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pages.conftest import link_of, ran, settings_of
from pages.test_explore import opened, said

import attention
from attention.explain.view import View
from attention.figures.panes.panes import panes
from attention.pages.frame import state
from attention.pages.panels import one_stage
from attention.session.state.run import run, view

MASKED = {"example": "cat-sat", "mask": "causal"}


def shown(tab: str, **link):
    at = opened(**link)
    return ran(at.button_group(key="set_below").set_value(tab))


def view_of(at) -> View:
    s = settings_of(at)
    return view(s, run(s))


def figures(at) -> list[dict]:
    return [json.loads(element.proto.spec) for element in at.get("plotly_chart")]


def numbers(sent: dict | list) -> np.ndarray:
    """Numbers as Plotly's JSON has them."""
    if isinstance(sent, list):
        return np.array(sent, float)
    shape = [int(side) for side in sent["shape"].split(",")]
    return np.frombuffer(b64decode(sent["bdata"]), f"<{sent['dtype']}").reshape(shape)


def written(at) -> pd.DataFrame:
    """The texts that the table shows."""
    return pa.ipc.open_stream(at.dataframe[0].proto.arrow_data.styler.display_values).read_pandas()


@pytest.mark.parametrize("stage", ["scores", "masked", "weights", "X", "output"])
def test_the_heatmap_has_the_numbers_of_the_stage_and_nan_where_they_are_hidden(stage):
    at = shown("Heatmap", **MASKED)
    ran(at.selectbox(key="set_stage").set_value(stage))
    (figure,) = figures(at)
    now = view_of(at)
    matrix, drawn = now.stages[stage], numbers(figure["data"][0]["z"])
    hidden = ~now.allowed if stage in ("masked", "weights") else np.zeros(matrix.shape, bool)
    assert np.array_equal(np.isnan(drawn), hidden)
    assert drawn[~hidden].tobytes() == matrix[~hidden].tobytes()
    assert len(figure["data"]) == 1 + hidden.any()


def test_the_heatmap_is_that_of_python():
    at = shown("Heatmap", **MASKED, cell="weights,1,0")
    s = settings_of(at)
    (figure,) = figures(at)
    tokens = s.tokens
    python = attention.figure(run(s), stages=["weights"], tokens=tokens, digits=s.digits)
    ours = json.loads(python.to_json())
    for mine, theirs in zip(figure["data"], ours["data"], strict=True):
        assert mine == theirs
    for axis in ("xaxis", "yaxis"):
        assert figure["layout"][axis] == ours["layout"][axis]


def test_the_stage_is_that_of_the_chosen_cell_and_choosing_another_chooses_a_cell():
    at = shown("Heatmap", **MASKED, cell="V,2,1")
    assert at.selectbox(key="set_stage").value == "V"
    ran(at.selectbox(key="set_stage").set_value("weights"))
    s = settings_of(at)
    now = view_of(at)
    assert s.cell == ("weights", s.query, int(np.argmax(now.stages["weights"][s.query])))
    assert link_of(at)["cell"] == ",".join(map(str, s.cell))
    ran(at.button_group(key="set_below").set_value("Table"))
    assert at.selectbox(key="set_stage").value == "weights"


@pytest.mark.parametrize("asked", ["no stage", "joined", "mask", 3, None, ["weights"]])
def test_a_stage_that_is_not_there_opens_nothing_new(asked):
    at = opened()
    before = settings_of(at)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "change", lambda act: made.append(act(before)))
        patch.setattr(state, "choose", lambda *_: None)
        made: list = []
        one_stage.open_heatmap(asked)
    assert made in ([], [before])


@pytest.mark.parametrize(
    "link",
    [MASKED, {"example": "batch"}, {"example": "grouped", "head": "3"}],
)
def test_the_table_is_the_frame_of_python(link):
    at = shown("Table", **link)
    s = settings_of(at)
    for stage in ("scores", "weights", "output"):
        ran(at.selectbox(key="set_stage").set_value(stage))
        trace = run(s)
        keys = s.memory_tokens if s.memory_tokens else None
        choice = {"tokens": s.tokens, "key_tokens": keys}
        alone = attention.frame(trace, stage, item=s.item, head=s.head, **choice)
        pd.testing.assert_frame_equal(at.dataframe[0].value, alone, check_names=False)


def test_the_numbers_are_written_as_on_the_board_and_kept_to_the_bit():
    at = shown("Table", **MASKED, cell="masked,0,0")
    (pane,) = panes(view_of(at), digits=settings_of(at).digits, only=["masked"])
    assert written(at).to_numpy().tolist() == pane.texts
    assert pane.texts[0][1] == "−∞"
    matrix = view_of(at).stages["masked"]
    assert at.dataframe[0].value.to_numpy().tobytes() == np.ascontiguousarray(matrix).tobytes()


def test_labels_that_a_spreadsheet_would_run_are_guarded_on_both_axes():
    at = shown("Table", example="own", tokens='"=1+1","@x","-2+3","plain","\'a"', X="normal,1,5x4")
    guarded = ["'=1+1", "'@x", "'-2+3", "plain", "''a"]
    ran(at.selectbox(key="set_stage").set_value("weights"))
    table = at.dataframe[0].value
    assert list(table.index) == list(table.columns) == guarded
    typed = attention.frame(run(settings_of(at)), "weights", tokens=settings_of(at).tokens)
    assert list(typed.columns) == ["=1+1", "@x", "-2+3", "plain", "'a"]


def test_larger_tables_have_plain_numbers_and_a_sentence_and_the_largest_are_a_file(
    monkeypatch, offered
):
    monkeypatch.setattr(one_stage, "MAX_STYLED", 35)
    at = shown("Table", **MASKED, cell="masked,0,0")
    assert not at.dataframe[0].proto.arrow_data.styler.display_values
    assert any(messages.PLAIN_NUMBERS in body for body in bodies(at))
    monkeypatch.setattr(one_stage, "MAX_TABLE", 35)
    ran(at)
    assert not at.dataframe
    assert any(messages.TOO_MANY_FOR_A_TABLE.format(count=36, most=35) in b for b in bodies(at))
    name, data = offered["CSV"]
    assert name == "attention_cat-sat_masked.csv"
    lines = pd.read_csv(io.BytesIO(data()))
    assert set(lines["stage"]) == {"masked"}
    assert lines["value"].to_numpy().tobytes() == view_of(at).stages["masked"].ravel().tobytes()


def bodies(at) -> list[str]:
    return [element.proto.body for element in at.get("html")]


def test_without_the_scripts_of_the_board_plotly_draws_every_stage():
    at = opened(**MASKED)
    at.session_state["visit"].page_values[one_stage.LOST] = True
    ran(at)
    assert said(at, "flag") == [messages.WITHOUT_BOARD]
    now = view_of(at)
    drawn = figures(at)
    assert len(drawn) == len(now.stages)
    for figure, (name, matrix) in zip(drawn, now.stages.items(), strict=True):
        z = numbers(figure["data"][0]["z"])
        assert np.array_equal(z[~np.isnan(z)], matrix[~np.isnan(z)]), name
    assert not [e for e in at.get("bidi_component") if b'"panes"' in e.proto.bytes]


@pytest.mark.parametrize("tab", ["Heatmap", "Table"])
@pytest.mark.parametrize("example", ["bare-bones", "alibi", "lookup"])
def test_every_stage_of_an_example_opens(tab, example):
    at = shown(tab, example=example)
    assert at.selectbox(key="set_stage").options
    for name, matrix in view_of(at).stages.items():
        ran(at.selectbox(key="set_stage").set_value(name))
        drawn = (
            numbers(figures(at)[0]["data"][0]["z"]) if tab == "Heatmap" else at.dataframe[0].value
        )
        assert drawn.shape == matrix.shape


def test_without_the_board_the_tabs_open_as_well():
    at = opened(**MASKED)
    at.session_state["visit"].page_values[one_stage.LOST] = True
    for tab in ("Heatmap", "Table", "Spread"):
        ran(at.button_group(key="set_below").set_value(tab))
    assert len(figures(at)) == len(view_of(at).stages)


def test_what_is_too_large_to_draw_or_to_write_is_said(monkeypatch, offered):
    monkeypatch.setattr(one_stage, "MAX_DRAWN", 35)
    at = shown("Heatmap", **MASKED, cell="weights,0,0")
    said_of = messages.TOO_MANY_TO_DRAW.format(count=36, most=35)
    assert not figures(at) and any(said_of in body for body in bodies(at))
    for bound in ("MAX_TABLE", "MAX_LISTED"):
        monkeypatch.setattr(one_stage, bound, 35)
    ran(at.button_group(key="set_below").set_value("Table"))
    assert "CSV" not in offered
    assert any("NPZ under “Export” has them all." in body for body in bodies(at))
    at.session_state["visit"].page_values[one_stage.LOST] = True
    ran(at.button_group(key="set_below").set_value("Lines"))
    drawn = sum(np.prod(numbers(figure["data"][0]["z"]).shape) for figure in figures(at))
    assert 0 < drawn <= 35
