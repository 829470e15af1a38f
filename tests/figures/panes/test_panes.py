"""The board's panes: every stage of every example as the trace has it, in comparable limits."""

import json
from dataclasses import replace

import messages
import numpy as np
import plotly.graph_objects as go
import pytest
from amount import few
from build import view_of

from attention.core.norms import RMSNorm
from attention.core.rotary import Rotary
from attention.explain.captions import describe, formula
from attention.explain.colours import colour_limits, hidden_cells
from attention.figures.panes.pane import CellKind
from attention.figures.panes.panes import panes, side_by_side
from attention.figures.plotly.heatmap import MOST_PRINTED, to_plotly
from attention.session.edit import changes
from attention.session.edit import parts as prepared
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.state.validate import check
from attention.vocabulary.numbers import number
from attention.vocabulary.stages import STAGES

FOUR, SENTENCE = EXAMPLES["four-words"].build(), EXAMPLES["sentence"].build()
CASES = {
    **{name: e.build() for name, e in EXAMPLES.items()},
    "W_O, head 1": replace(
        changes.set_output_weights(SENTENCE, True), head=1, mask="causal", context=True
    ),
    "crossed": replace(changes.set_memory(FOUR, True), mask="causal_lower_right", padding=(0,)),
    "hidden row": replace(FOUR, mask="causal", padding=(0,)),
    "raw and masked": replace(EXAMPLES["bare-bones"].build(), mask="causal"),
}


@pytest.mark.parametrize("name", few(CASES))
def test_every_pane_shows_the_bits_of_its_stage_and_opens_as_a_figure(name):
    now = view_of(CASES[name])
    found = panes(now, query=0, cell=("scores", 0, 0), title="t")
    assert [pane.name for pane in found] == list(now.stages)
    for pane in found:
        matrix = now.stages[pane.name]
        assert pane.values is matrix
        main = to_plotly(pane)["data"][0]
        visible = ~np.isnan(main["z"])
        assert main["z"][visible].tobytes() == matrix[visible].tobytes()
        hidden = hidden_cells(now, pane.name)
        assert (
            visible.tolist()
            == (np.isfinite(matrix) if hidden is None else np.isfinite(matrix) & ~hidden).tolist()
        )
        figure = go.Figure(to_plotly(pane))
        assert figure.data[0].z.tobytes() == main["z"].tobytes()


@pytest.mark.parametrize("name", few(CASES))
@pytest.mark.parametrize("digits", [0, 2, 5])
def test_each_cell_carries_its_number_once(name, digits):
    now = view_of(CASES[name])
    for pane in panes(now, digits=digits):
        assert pane.digits == digits
        matrix = now.stages[pane.name]
        drawn, rows = to_plotly(pane)["data"], [[""] * matrix.shape[1]] * matrix.shape[0]
        for i, j in np.ndindex(matrix.shape):
            text = by_hand(matrix[i, j], matrix, digits, pane.role == "share")
            assert pane.texts[i][j] == text
            printed = [cell for trace in drawn if (cell := trace.get("text", rows)[i][j])]
            bare = pane.kinds[i, j] == CellKind.HIDDEN or max(matrix.shape) > MOST_PRINTED
            assert printed == ([] if bare else [text])


def by_hand(value, matrix, digits, is_share):
    """A number as it stands in its matrix."""
    if value == 0 or (is_share and value == 1):
        return f"{value:.0f}"
    finite = matrix[np.isfinite(matrix)]
    point = digits if (finite != finite.round()).any() else 0
    if not np.isfinite(value):
        return "−∞"
    text = f"{value:.{point}f}"
    if abs(value) >= 1e6:
        text = "-1e9" if digits == 0 else f"-{1:.{digits - 1}f}e9"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def test_only_the_mask_has_no_colour_bar():
    bars = {
        pane.name: any(t["showscale"] for t in to_plotly(pane)["data"])
        for pane in panes(view_of(CASES["crossed"]))
    }
    assert [name for name, bar in bars.items() if not bar] == ["mask"]


def test_the_hidden_cells_are_those_the_query_may_not_look_at():
    now = view_of(CASES["crossed"])
    for pane in panes(now):
        greys = [trace for trace in to_plotly(pane)["data"] if trace["meta"] == "hidden"]
        if pane.name not in ("mask", "masked", "weights"):
            assert not greys
            continue
        (grey,) = greys
        see = [[j <= i - 1 and j != 0 for j in range(3)] for i in range(4)]
        assert (~np.isnan(grey["z"])).tolist() == [[not cell for cell in row] for row in see]
        assert "text" not in grey


def test_minus_1e9_is_grey_and_does_not_wreck_the_colour_range():
    now = view_of(CASES["minus-1e9"])
    low, high = colour_limits(now)["masked"]
    assert high == -low < 1
    assert hidden_cells(now, "masked").tolist() == [
        [False, True, True],
        [False, False, True],
        [True, True, True],
    ]


@pytest.mark.parametrize("name", few(CASES))
def test_stages_that_are_compared_share_their_limits(name):
    now = view_of(CASES[name])
    limits = colour_limits(now)
    assert limits["scaled"] == limits["masked"]
    if now.softmax:
        assert limits["weights"] == (0, 1)
    for stage, (low, high) in limits.items():
        assert stage == "weights" or low == -high
        hidden = hidden_cells(now, stage)
        matrix = now.stages[stage]
        seen = np.isfinite(matrix) if hidden is None else np.isfinite(matrix) & ~hidden
        assert np.abs(matrix[seen]).max(initial=0) <= high


def test_a_stage_of_zeros_has_limits_of_its_own():
    s = changes.one_hot(FOUR)
    zeros = {name: matrix for name, matrix in s.matrices.items()} | {
        "W_V": type(s.matrices["X"])(np.zeros((4, 4)))
    }
    s = replace(s, matrices=zeros)
    assert colour_limits(view(s, run(s)))["V"] == (-1, 1)


@pytest.mark.parametrize("name", few(CASES))
def test_the_text_alternative_names_the_smallest_and_largest_visible_number(name):
    now = view_of(CASES[name])
    for pane in panes(now, digits=3):
        matrix, hidden = now.stages[pane.name], hidden_cells(now, pane.name)
        cells = [
            (matrix[i, j], i, j)
            for i, j in np.ndindex(matrix.shape)
            if np.isfinite(matrix[i, j]) and (hidden is None or not hidden[i, j])
        ]
        text = pane.alt
        rows, columns = (
            f"{n} {w}{'s' * (n != 1)}" for n, w in zip(matrix.shape, SIDES, strict=True)
        )
        assert text.startswith(f"{pane.symbol}, {rows}, {columns}: ")
        assert text.endswith(".") and "\n" not in text
        if cells:
            (low, *_), (high, *_) = min(cells), max(cells)
            for word, value in (("smallest", low), ("largest", high)):
                named, over = pane.rows, pane.columns
                at = [
                    messages.EXTREME_AT.format(
                        which=word, number=number(value, 3), row=named[i], column=over[j]
                    )
                    for v, i, j in cells
                    if v == value
                ]
                assert any(each in text for each in at)
        if hidden is not None and hidden.any():
            count = int(hidden.sum())
            cells_hidden = f"{count} cell{'s' * (count != 1)}"
            assert text.endswith(messages.CELLS_ARE_HIDDEN.format(cells=cells_hidden))


SIDES = ("row", "column")


def test_a_stage_says_in_one_sentence_what_is_in_it():
    s = CASES["cat-sat"]
    alts = {pane.name: pane.alt for pane in panes(view(s, run(s)))}
    largest = messages.EXTREME_AT.format(which="largest", number=0.65, row="mat", column="on")
    smallest = messages.EXTREME_AT.format(which="smallest", number=0.01, row="mat", column="mat")
    assert alts["weights"] == f"weights, 6 rows, 6 columns: {largest}; {smallest}."
    masked = replace(s, mask="causal")
    alts = {pane.name: pane.alt for pane in panes(view(masked, run(masked)))}
    assert alts["masked"].endswith("; " + messages.CELLS_ARE_HIDDEN.format(cells="15 cells"))


def test_v_and_output_have_ranges_of_their_own_only_where_softmax_is_off():
    for name in CASES:
        now = view_of(CASES[name])
        limits = colour_limits(now)
        if now.softmax:
            assert limits["V"] == limits["output"]
        else:
            assert limits["V"][1] == np.abs(now.stages["V"]).max()
            assert limits["output"][1] == np.abs(now.stages["output"]).max()
        told = messages.OTHER_COLOURS_THAN_V in describe(now, "output")["sentence"]
        assert told is not now.softmax


@pytest.mark.parametrize("name", few(CASES))
def test_every_source_of_a_pane_is_on_the_board(name):
    found = panes(view_of(CASES[name]))
    names = {pane.name for pane in found}
    for pane in found:
        assert {source for source, _ in pane.sources} <= names
        assert pane.group == STAGES[pane.name].group


def test_the_chosen_query_is_framed_in_every_stage_with_a_row_for_it_and_the_cell_in_its_own():
    for pane in panes(view_of(CASES["four-words"]), query=2, cell=("weights", 1, 3)):
        expected = [("query", 2, None)] if STAGES[pane.name].rows == "queries" else []
        expected += [("cell", 1, 3)] if pane.name == "weights" else []
        assert list(pane.marks) == expected


def test_the_words_are_true_for_the_settings():
    assert describe(view_of(CASES["four-words"]), "masked")["sentence"] == messages.NO_MASK
    assert describe(view_of(CASES["minus-1e9"]), "masked")["sentence"] == messages.FILL_IS_ADDED
    assert describe(view_of(CASES["crossed"]), "K")["formula"] == "Y W_K"
    assert describe(view_of(CASES["crossed"]), "Q")["formula"] == "X W_Q"
    assert describe(view_of(CASES["random-qkv"]), "Q")["formula"] == "given"
    assert describe(view_of(CASES["bare-bones"]), "weights")["formula"] == "scaled, as it is"
    assert describe(view_of(CASES["four-words"]), "weights")["formula"] == "softmax(scaled)"
    assert describe(view_of(CASES["four-words"]), "masked")["formula"] == "scaled"
    assert describe(view_of(CASES["minus-1e9"]), "weights")["formula"] == "softmax(masked)"
    seen = view_of(CASES["four-words"])
    assert describe(seen, "weights")["sentence"] == messages.ROW_SHARES_OUT_1
    blind = view_of(replace(CASES["four-words"], padding=(0, 1, 2, 3)))
    assert describe(blind, "weights")["sentence"] == messages.ROW_OF_NO_KEY
    assert describe(seen.only(["weights"]), "weights")["sentence"] == messages.WEIGHTS_GIVEN
    assert describe(view_of(CASES["bare-bones"]), "scaled")["formula"] == "scores × 1"


def test_the_formula_leaves_out_what_is_not_done():
    def text(name):
        return "".join(part for part, _ in formula(view_of(CASES[name])))

    assert text("four-words") == "Attention(Q, K, V) = softmax( Q Kᵀ / √d_k ) V"
    assert text("random-qkv") == "Attention(Q, K, V) = softmax( Q Kᵀ / √d_k + M ) V"
    assert text("bare-bones") == "Attention(Q, K, V) = ( Q Kᵀ ) V"
    assert text("sentence").endswith("V   head 0 of 0–1")
    for case in CASES.values():
        now = view_of(case)
        assert {stage for _, stage in formula(now)} - {None} <= set(now.stages)


def test_the_formula_says_what_each_part_of_real_layers_does():
    s = replace(CASES["four-words"], rotary=Rotary(), norm=RMSNorm(), alibi=True, softcap=2.0)
    s = prepared.set_positions(prepared.set_biases(replace(s, sinks=(1.0,)), True), True)
    for settings, expected in (
        (
            s,
            "exp(S) / (Σ exp(S) + exp(sink)) V,   S = 2 tanh( RoPE(RMSNorm(Q)) RoPE(RMSNorm(K))ᵀ"
            " / √d_k / 2 ) + M,   Q, K, V = (X + P) W + b",
        ),
        (
            replace(prepared.set_positions(CASES["crossed"], True), softmax="sigmoid"),
            "sigmoid( Q Kᵀ / √d_k + M ) V,   Q = (X + P) W",
        ),
    ):
        now = view(settings, run(settings))
        assert "".join(words for words, _ in formula(now)) == f"Attention(Q, K, V) = {expected}"
        assert {stage for _, stage in formula(now)} - {None} <= set(now.stages)


def test_a_true_mask_stands_beside_minus_1e9():
    s = replace(CASES["minus-1e9"], fill="-inf")
    weights, output = side_by_side(view(s, run(s)))
    assert (weights.name, output.name) == ("weights_inf", "output_inf")
    assert (weights.symbol, output.symbol) == ("weights with −∞", "output with −∞")
    assert (to_plotly(weights)["data"][1]["z"][2] == 0).all()


HOSTILE = ("<b>x</b>", "<img src=x onerror=alert(1)>", "%{z}", "$x$")


def test_hostile_tokens_do_not_come_alive_on_any_pane():
    s = check(replace(FOUR, tokens=HOSTILE))
    for pane in panes(view(s, run(s)), query=1):
        for trace in to_plotly(pane)["data"]:
            words = json.dumps({**trace, "z": None})
            assert not any(token in words for token in HOSTILE if token != "%{z}")
        layout = json.dumps(to_plotly(pane)["layout"])
        assert "<img" not in layout
        assert "<b>" not in layout
        assert "$x$" not in layout
        assert pane.rows in (
            HOSTILE,
            tuple(map(str, range(1, 5))),
        )  # as typed; whoever shows them escapes them


def test_blanks_have_no_number_even_where_the_view_has_them():
    s = CASES["cat-sat"]
    texts = {"weights": {(0, 1): "?", (2, 2): "…", (3, 0): "0,4 ✗"}}
    found = next(p for p in panes(view(s, run(s)), blanks=texts) if p.name == "weights")
    main, blank, waits = to_plotly(found)["data"]
    assert (blank["meta"], waits["meta"]) == ("blank", "waits")
    z = {trace["meta"]: trace["z"] for trace in to_plotly(found)["data"]}
    for i, j in texts["weights"]:
        assert np.isnan(z["share"][i, j]) and main["text"][i][j] == ""
    assert np.argwhere(z["blank"] == 0).tolist() == [[0, 1], [3, 0]]
    assert np.argwhere(z["waits"] == 0).tolist() == [[2, 2]]
    assert [blank["text"][0][1], waits["text"][2][2], blank["text"][3][0]] == ["?", "…", "0,4 ✗"]
    assert found.alt.endswith("; " + messages.CELLS_TO_FILL_IN.format(cells="3 cells"))


def test_stages_of_queries_and_keys_say_which_side_is_which():
    s = EXAMPLES["cat-sat"].build()
    shown = {made.name: made for made in panes(view(s, run(s)))}
    named = {name for name, made in shown.items() if made.axes}
    assert named == {"scores", "scaled", "masked", "weights"}
    assert {made.axes for made in shown.values() if made.axes} == {("query", "key")}
