"""CSV and NPZ hold the numbers of the page to the bit, and no label becomes a formula."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.explain.view import View
from attention.exports.tables import COLUMNS, to_csv, to_npz
from attention.readers.texts.tables import rearmed
from attention.session.edit import changes
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.state.validate import check

FOUR, SENTENCE = EXAMPLES["four-words"].build(), EXAMPLES["sentence"].build()
CASES = {
    **{name: e.build() for name, e in EXAMPLES.items()},
    "W_O, head 1": replace(
        changes.set_output_weights(SENTENCE, True), head=1, mask="causal", context=True
    ),
    "crossed": replace(changes.set_memory(FOUR, True), mask="causal_lower_right", padding=(0,)),
    "large and small": FOUR.with_matrix("X", Matrix(np.array([[1e12, -1e-300, 5e-324, -0.0]] * 4))),
}


def lines(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))


@pytest.mark.parametrize("name", CASES)
def test_the_csv_reads_back_bit_for_bit(name):
    settings = check(CASES[name])
    now = view(settings, run(settings))
    head, *body = lines(to_csv(now))
    assert tuple(head) == COLUMNS
    found = {}
    for stage, row, column, _, _, value, *_ in body:
        found[stage, int(row) - 1, int(column) - 1] = np.float64(float(value)).tobytes()
    expected = {
        (stage, i, j): np.float64(matrix[i, j]).tobytes()
        for stage, matrix in now.stages.items()
        for i, j in np.ndindex(matrix.shape)
    }
    assert found == expected
    assert len(body) == len(expected)


def test_minus_infinity_is_written_so():
    settings = replace(FOUR, mask="causal")
    values = {tuple(line[:3]): line[5] for line in lines(to_csv(view(settings, run(settings))))}
    assert values["masked", "1", "2"] == "-inf"
    assert values["weights", "1", "2"] == "0"


def one_cell(row: str, column: str) -> list[str]:
    """The line of a stage with a single cell and these labels."""
    now = View(
        {"scores": np.array([[0.1]])},
        {"queries": (row,), "keys": (column,)},
        np.ones((1, 1), bool),
        1.0,
    )
    _, line = lines(to_csv(now))
    return line[:6]


@pytest.mark.parametrize(
    "label", ["a,b", 'say "hi"', "two\nlines", "a\rb", "a\r\nb", ";", " x ", "ä→", "", "\u2028"]
)
def test_a_label_comes_back_as_it_was(label):
    assert one_cell(label, label) == ["scores", "1", "1", label, label, "0.1"]


@pytest.mark.parametrize(
    "label",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "＝1",
        "＋1",
        "－1",
        "＠SUM(A1)",
        '=HYPERLINK("x")',
        "'",
        "'=1",
    ],
)
def test_a_label_that_a_spreadsheet_would_run_gets_an_apostrophe(label):
    assert one_cell(label, "k") == ["scores", "1", "1", "'" + label, "k", "0.1"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_label_survives_apart_from_the_apostrophe(label):
    _, _, _, row, column, value = one_cell(label, label)
    assert row == column
    assert row in (label, "'" + label)
    assert rearmed(row) == label
    assert not row.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert value == "0.1"


def test_the_labels_are_those_of_the_axes():
    settings = check(replace(FOUR, tokens=("the", "cat", "the", "dog")))
    body = lines(to_csv(view(settings, run(settings))))
    assert [line[3] for line in body if line[0] == "scores"][:5] == ["the (1)"] * 4 + ["cat"]
    assert [line[4] for line in body if line[0] == "scores"][:4] == [
        "the (1)",
        "cat",
        "the (2)",
        "dog",
    ]


def npz_of(settings, trace) -> bytes:
    return to_npz(
        trace,
        tokens=settings.tokens,
        key_tokens=settings.memory_tokens,
        context=settings.context,
    )


@pytest.mark.parametrize("name", CASES)
def test_the_npz_holds_every_stage_with_its_batch_and_heads_and_no_pickle(name):
    settings = check(CASES[name])
    trace = run(settings)
    with np.load(io.BytesIO(npz_of(settings, trace)), allow_pickle=False) as file:
        found = dict(file)
    stages = ["Q", "K", "V", "scores", "scaled", "masked", "weights", "output", "allowed", "joined"]
    for stage in [*stages, *(["projected"] if trace.projected is not None else [])]:
        expected = getattr(trace, stage)
        assert (found[stage].dtype, found[stage].shape) == (expected.dtype, expected.shape)
        assert found[stage].tobytes() == np.ascontiguousarray(expected).tobytes()
    for matrix in set(settings.matrices) - {"Q", "K", "V"}:
        assert found[matrix].tobytes() == settings.matrices[matrix].values.tobytes()
    assert found["scale"] == trace.scale
    assert found["tokens"].tolist() == list(settings.tokens)
    assert ("memory_tokens" in found) == bool(settings.memory_tokens)
    assert ("context" in found) == settings.context
    if settings.context:
        np.testing.assert_array_equal(found["context"], trace.context)


@pytest.mark.parametrize("name", CASES)
def test_the_npz_alone_is_enough_to_compute_the_output_again(name):
    settings = check(CASES[name])
    with np.load(io.BytesIO(npz_of(settings, run(settings))), allow_pickle=False) as file:
        np.testing.assert_allclose(
            file["weights"] @ file["V"], file["output"], rtol=1e-12, atol=1e-300
        )
        np.testing.assert_array_equal(file["scores"] * file["scale"], file["scaled"])
