"""A trace saved from Python is opened again: every form by its ending, and the report."""

import csv
import html
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import messages
import numpy as np
import pytest

import attention
from attention import View, causal, report, save, self_attention
from attention.readers.opening import opened
from attention.readers.texts import tables as text_tables
from attention.session.bring import adopt
from attention.vocabulary.numbers import number

RNG = np.random.default_rng(0)
TOKENS = ("the", "=1+1", "<b>")


@pytest.fixture
def trace():
    W = [RNG.standard_normal((4, 6)) for _ in range(3)]
    return self_attention(
        RNG.standard_normal((2, 3, 4)), *W, heads=2, W_O=np.eye(6), allowed=causal(3, 3)
    )


CHOSEN = {"tokens": TOKENS, "item": 1, "head": 1}


def test_npz_holds_every_item_and_head(trace, tmp_path):
    save(trace, tmp_path / "a.NPZ", tokens=iter(TOKENS))
    with np.load(tmp_path / "a.NPZ", allow_pickle=False) as found:
        for name in ("X", "W_Q", "Q", "scores", "masked", "weights", "output", "projected"):
            assert found[name].tobytes() == getattr(trace, name).tobytes()
        assert found["allowed"].all() == trace.allowed.all()
        assert tuple(found["tokens"]) == TOKENS


def test_csv_holds_every_cell_of_the_item_and_head(trace, tmp_path):
    save(trace, str(tmp_path / "a.csv"), **CHOSEN)
    stages = View.of(trace, item=1, head=1).stages
    found = {name: np.full(M.shape, np.nan) for name, M in stages.items()}
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            found[line["stage"]][int(line["row"]) - 1, int(line["column"]) - 1] = line["value"]
    assert list(found) == list(stages)
    for name, M in stages.items():
        assert found[name].tobytes() == M.tobytes()


def test_json_holds_every_cell_of_the_item_and_head(trace, tmp_path):
    save(trace, tmp_path / "a.json", **CHOSEN)
    found = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert (found["head"], found["heads"]) == (1, 2)
    for name, M in View.of(trace, item=1, head=1).stages.items():
        read = [[float(v) for v in row] for row in found["stages"][name]["values"]]
        assert np.array(read).tobytes() == M.tobytes()
    assert found["stages"]["weights"]["rows"] == list(TOKENS)


@pytest.mark.parametrize("ending", [".md", ".tex"])
def test_texts_hold_the_rounded_numbers(trace, tmp_path, ending):
    save(trace, tmp_path / f"a{ending}", digits=3, **CHOSEN)
    found = (tmp_path / f"a{ending}").read_text(encoding="utf-8")
    for row in View.of(trace, item=1, head=1).stages["projected"]:
        cells = [number(value, 3) for value in row]
        wanted = " & ".join(cells).replace("−", "-") if ending == ".tex" else " | ".join(cells)
        assert wanted in found


def test_a_report_holds_every_stage_and_what_was_typed_as_text(trace, tmp_path):
    report(trace, tmp_path / "a.html", title="<i>Mine</i>", **CHOSEN)
    found = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert found.count('class="heat"') == len(View.of(trace).stages)
    assert "<h1>&lt;i&gt;Mine&lt;/i&gt;</h1>" in found
    assert "<b>" not in found
    for value in View.of(trace, item=1, head=1).stages["weights"].ravel():
        assert f">{value:.2f}<" in found or value in (0, 1)
    assert "item 1 of 0–1, head 1 of 0–1" in found


def test_a_report_names_the_warnings(tmp_path):
    broken = attention.scaled_dot_product_attention([[np.inf]], [[1.0]], [[1.0]])
    report(broken, tmp_path / "a.html")
    assert broken.warnings[0] in (tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", [".csv", ".json", ".npz", ".tex", ".md", ".html"])
def test_a_trace_without_queries_can_be_written(tmp_path, ending):
    x = np.zeros((3, 2))
    empty = attention.scaled_dot_product_attention(x[:0], x, x)
    (report if ending == ".html" else save)(empty, tmp_path / f"a{ending}")
    assert (tmp_path / f"a{ending}").stat().st_size


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        (
            "a.xls",
            {},
            messages.OTHER_ENDING.format(
                name="'a.xls'", ending="'.xls'", known=".npz, .csv, .json, .tex, .md"
            ),
        ),
        ("a", {}, messages.NO_ENDING.format(name="'a'", known=".npz, .csv, .json, .tex, .md")),
        (
            "a.npz",
            {"tokens": ["x"]},
            messages.LABELS_COUNT.format(argument="tokens", have="1 word", count=3),
        ),
        (
            "a.md",
            {"digits": 99},
            messages.RANGE_EXPECTED.format(name="digits", given=99, least=0, most=12),
        ),
        ("a.csv", {"item": 2}, messages.OUT_OF_RANGE.format(word="item", place=2, count=2)),
    ],
)
def test_what_cannot_be_saved_is_refused_in_a_sentence_and_writes_nothing(
    trace, tmp_path, name, given, sentence
):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        save(trace, tmp_path / name, **given)
    assert list(tmp_path.iterdir()) == []


def test_a_report_under_the_name_of_another_kind_of_file_is_refused(trace, tmp_path):
    with pytest.raises(ValueError) as refused:
        report(trace, tmp_path / "a.pdf")
    assert str(refused.value) == messages.REPORT_IS_HTML.format(name="'a.pdf'")
    assert not (tmp_path / "a.pdf").exists()


def test_saving_and_reporting_need_numpy_alone(tmp_path):
    code = """
import sys
for name in ("plotly", "pandas", "matplotlib", "streamlit"):
    sys.modules[name] = None  # importing it fails
import attention
trace = attention.scaled_dot_product_attention([[1.0]], [[1.0]], [[1.0]])
for ending in ("csv", "json", "npz", "tex", "md"):
    attention.save(trace, f"a.{ending}")
attention.report(trace, "a.html")
"""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(attention.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stderr == ""
    assert len(list(tmp_path.iterdir())) == 6


# ---- what made the weights -----------------------------------------------------------------------

MADE = {
    "bias and sinks": {"bias": np.array([[0, 0.5], [-1, 0]]), "sinks": np.array([1.0, -0.5])},
    "soft cap and mask": {"softcap": 0.7, "allowed": np.array([[True, False], [True, True]])},
    "relative": {"relative": attention.RelativeBias(np.arange(8.0).reshape(4, 2))},
    "all": {"softcap": 2.0, "bias": np.array([0.25, -math.inf]), "sinks": 0.5},
}


def made(case) -> attention.AttentionTrace:
    Q, K, V = np.random.default_rng(5).standard_normal((3, 3, 2, 2, 4))
    return attention.scaled_dot_product_attention(Q, K, V, **MADE[case])


@pytest.mark.parametrize("case", MADE)
def test_the_npz_alone_leads_from_the_scores_to_the_weights(case, tmp_path):
    save(made(case), tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as file:
        found = dict(file)
    scores = found["scores"] * found["scale"]
    if "softcap" in found:
        scores = found["softcap"] * np.tanh(scores / found["softcap"])
    grown = np.exp(np.where(found["allowed"], scores + found.get("bias", 0), -math.inf))
    sinks = np.exp(found["sinks"])[..., None, None] if "sinks" in found else 0
    expected = grown / (grown.sum(axis=-1, keepdims=True) + sinks)
    np.testing.assert_allclose(found["weights"], expected, rtol=1e-13)


@pytest.mark.parametrize("case", MADE)
def test_the_json_alone_leads_from_the_scores_to_the_weights(case, tmp_path):
    save(made(case), tmp_path / "x.json", item=2, head=1)
    found = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    stage = {name: np.array(M["values"], float) for name, M in found["stages"].items()}
    scores = stage["scores"] * found["scale"]
    if "softcap" in found:
        scores = found["softcap"] * np.tanh(scores / found["softcap"])
    grown = np.exp(scores + stage.get("mask", 0))
    sink = math.exp(found["sink"]) if "sink" in found else 0
    np.testing.assert_allclose(
        stage["weights"], grown / (grown.sum(axis=-1, keepdims=True) + sink), rtol=1e-13
    )


@pytest.mark.parametrize("ending", ["npz", "json"])
@pytest.mark.parametrize("case", MADE)
def test_what_holds_a_bias_a_sink_or_a_soft_cap_opens_again_to_its_inputs(case, ending, tmp_path):
    trace = made(case)
    save(trace, tmp_path / f"x.{ending}", item=0, head=0)
    found = opened(f"x.{ending}", (tmp_path / f"x.{ending}").read_bytes())
    picks = adopt.picks_of(found, adopt.family_of(found))
    assert [picks[name] for name in "QKV"] == ["Q", "K", "V"]
    assert picks["mask"] in ("allowed", "mask", None)
    whole = ... if ending == "npz" else (0, 0)
    assert np.array_equal(found["Q"].read(), trace.Q[whole])


@pytest.mark.parametrize("ending", ["csv", "md", "tex", "json", "html"])
def test_every_text_says_what_keeps_a_row_of_weights_from_adding_up_to_1(ending, tmp_path):
    (report if ending == "html" else save)(made("all"), tmp_path / f"x.{ending}")
    found = html.unescape((tmp_path / f"x.{ending}").read_text(encoding="utf-8"))
    assert messages.CAPPED_SCORES.format(softcap=2) in found.replace("\\", "")
    assert messages.SINK_OF_EACH_ROW.format(sink=0.5) in found.replace("\\", "")


@pytest.mark.parametrize("softmax", [False, "sigmoid"])
def test_json_says_what_stands_in_the_place_of_the_softmax(softmax, tmp_path):
    eye = np.eye(2)
    for given in (softmax, True):
        trace = attention.scaled_dot_product_attention(eye, eye, eye, softmax=given)
        save(trace, tmp_path / "x.json")
        found = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
        assert found.get("softmax", True) == given
        assert not {"softcap", "sink"} & found.keys()


# ---- tokens that are no words --------------------------------------------------------------------

ODD = ("\n", " the", "the ", "", "a  b", "\t", "\u2028x", "&#10;", "\\n", "*a*|", "\x85", "猫")


def test_markdown_gives_every_token_back_whatever_spaces_and_line_breaks_it_has(tmp_path):
    eye = np.eye(len(ODD))
    save(attention.scaled_dot_product_attention(eye, eye, eye), tmp_path / "x.md", tokens=ODD)
    found = text_tables.tables_in((tmp_path / "x.md").read_text(encoding="utf-8"), "the file")
    assert found["weights"].rows == ODD
    assert found["Q"].read().tolist() == eye.tolist()


def test_a_token_in_markdown_is_bold_as_commonmark_reads_stars(tmp_path):
    """Stars begin bold only where no space follows them; no line but a row's begins with a bar."""
    eye = np.eye(3)
    trace = attention.scaled_dot_product_attention(eye, eye, eye)
    save(trace, tmp_path / "x.md", tokens=["\n", " the", ""], stages=["weights"])
    lines = (tmp_path / "x.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows] == ["|", "| **&#10;**", "| **&#32;the**", "| "]
    assert len({row.count("|") for row in rows}) == 1


@pytest.mark.parametrize("ending", ["csv", "json", "tex", "md", "npz", "html"])
@pytest.mark.parametrize("argument", ["tokens", "key_tokens"])
def test_half_of_a_character_is_refused_and_the_sentence_names_its_place(
    ending, argument, tmp_path
):
    trace = attention.scaled_dot_product_attention(np.eye(2), np.eye(2), np.eye(2))
    write = report if ending == "html" else save
    with pytest.raises(ValueError) as refused:
        write(trace, tmp_path / f"x.{ending}", **{argument: ["a", "b\ud83d"]})
    assert type(refused.value) is ValueError  # UnicodeEncodeError is one as well
    assert str(refused.value) == (
        messages.HALF_A_CHARACTER_IN.format(name=f"{argument}[1]", half="'\\ud83d'")
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("odd", ["\ufffe", "\uffff"])
def test_what_xml_has_no_place_for_is_refused(odd, tmp_path):
    trace = attention.scaled_dot_product_attention(np.eye(2), np.eye(2), np.eye(2))
    sentence = messages.NO_CHARACTER_IN.format(name="tokens[1]", odd=repr(odd))
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        attention.paper_figure(trace, tokens=["a", f"b{odd}"])
    sentence = messages.NO_CHARACTER_IN.format(name="title", odd=repr(odd))
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        report(trace, tmp_path / "x.html", title=odd)


def test_half_of_a_character_in_a_title_is_refused(tmp_path):
    trace = attention.scaled_dot_product_attention(np.eye(2), np.eye(2), np.eye(2))
    sentence = messages.HALF_A_CHARACTER_IN.format(name="title", half="'\\ud83d'")
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        report(trace, tmp_path / "x.html", title="\ud83d")
