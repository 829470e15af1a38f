"""The page on √d_k through Streamlit's AppTest: its controls, its numbers, its link."""

import html
from pathlib import Path

import messages
import numpy as np
import pyarrow as pa
import pytest
from amount import few
from pages.conftest import as_text, charts, link_of, ran, settings_of
from streamlit.testing.v1 import AppTest

from attention.readers.select import SelectedArray
from attention.samples import variance as maths
from attention.session.bring.finished import with_weights
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run

APP = Path(__file__).parents[2] / "app.py"
EXPLORE, VARIANCE = "attention/pages/explore.py", "attention/pages/variance.py"
FIELDS = ("distribution", "sample_d_k", "sample_seed", "samples")


def opened(**link) -> AppTest:
    at = AppTest.from_file(str(APP), default_timeout=30)
    for name, value in link.items():
        at.query_params[name] = value
    ran(at)
    return ran(at.switch_page(VARIANCE))


def asked(at: AppTest) -> tuple:
    return tuple(getattr(at.session_state["visit"].settings, name) for name in FIELDS)


def measured(at: AppTest) -> list[float]:
    return charts(at)["variances"].figure["data"][0]["y"]


def explored(at: AppTest) -> list[float]:
    return charts(at)["explored"].figure["data"][0]["x"]


def test_the_page_opens_with_every_chart_and_its_words():
    found = charts(opened())
    assert list(found) == [
        "variances",
        "histogram",
        "row",
        "sharpness",
        "explored",
    ]
    for name, drawn in found.items():
        title = as_text(drawn.figure["layout"]["title"]["text"])
        said = f"Chart. {title}. {drawn.sentence}"
        assert drawn.sentence and drawn.alt.replace(" ", "") == said.replace(" ", "")
        assert drawn.filename == f"attention_{name}"


def test_the_charts_show_the_samples_of_the_settings():
    at = opened()
    assert asked(at) == ("normal", 64, 0, 1000)
    assert measured(at) == [
        point.raw.variance for point in maths.measure_all("normal", 64, 0, 1000)
    ]


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        (
            lambda at: at.select_slider(key="set_sample_d_k").set_value(128),
            ("normal", 128, 0, 1000),
        ),
        (lambda at: at.select_slider(key="set_samples").set_value(300), ("normal", 64, 0, 300)),
        (
            lambda at: at.button_group(key="set_distribution").set_value("signs"),
            ("signs", 64, 0, 1000),
        ),
        (lambda at: at.number_input(key="set_sample_seed").set_value(7), ("normal", 64, 7, 1000)),
    ],
    ids=FIELDS[1:2] + FIELDS[3:] + FIELDS[:1] + FIELDS[2:3],
)
def test_each_control_moves_its_own_setting_the_charts_and_the_link(move, expected):
    at = opened()
    before = at.session_state["visit"].settings
    ran(move(at))
    assert asked(at) == expected
    assert measured(at) == [point.raw.variance for point in maths.measure_all(*expected)]
    assert at.session_state["visit"].settings.matrices == before.matrices
    settings, notices = links.read(link_of(at))
    assert not notices and settings == at.session_state["visit"].settings


def test_only_a_move_of_what_is_sampled_samples_again(monkeypatch):
    drawn, draw = [], maths.draw_scores
    monkeypatch.setattr(maths, "draw_scores", lambda *asked: drawn.append(asked) or draw(*asked))
    at = opened(sample_seed="20260727")
    assert ("normal", 64, 20260727, 1000) in drawn
    drawn.clear()
    ran(at.toggle(key="set_paper_open_attention_why").set_value(True))
    ran(at.segmented_control(key="set_paper_dpi").set_value(600))
    ran(at.switch_page(EXPLORE))
    ran(at.switch_page(VARIANCE))
    assert drawn == []
    ran(at.select_slider(key="set_samples").set_value(300))
    assert ("normal", 64, 20260727, 300) in drawn


def test_a_larger_d_k_adds_points_and_moves_none():
    at = opened()
    before = measured(at)
    ran(at.select_slider(key="set_sample_d_k").set_value(256))
    assert measured(at)[: len(before)] == before and len(measured(at)) == len(before) + 2


def test_a_link_opens_the_same_samples_even_between_the_steps_of_the_sliders():
    at = opened(sample_d_k="100", samples="77", distribution="uniform", sample_seed="4294967295")
    assert asked(at) == ("uniform", 100, 2**32 - 1, 77)
    assert at.select_slider(key="set_sample_d_k").value == 100
    assert at.select_slider(key="set_samples").value == 77
    assert {name: link_of(at)[name] for name in FIELDS} == {
        "distribution": "uniform",
        "sample_d_k": "100",
        "sample_seed": "4294967295",
        "samples": "77",
    }


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        (
            {"distribution": "xyz"},
            messages.UNKNOWN_SAMPLE_DISTRIBUTION.format(name="xyz", known="normal, uniform, signs"),
        ),
        (
            {"distribution": "<b>**x**"},
            messages.UNKNOWN_SAMPLE_DISTRIBUTION.format(
                name="<b>**x**", known="normal, uniform, signs"
            ),
        ),
        (
            {"sample_seed": "-1"},
            messages.SAMPLE_SEED_OUT_OF_RANGE.format(sample_seed=-1),
        ),
        (
            {"sample_seed": "4294967296"},
            messages.SAMPLE_SEED_OUT_OF_RANGE.format(sample_seed=4294967296),
        ),
        (
            {"sample_d_k": "1e9"},
            messages.PASSED_OVER.format(
                what="parameter sample_d_k was", why=messages.WHOLE_NUMBER_WANTED
            ),
        ),
        (
            {"samples": "٣"},
            messages.PASSED_OVER.format(
                what="parameter samples was", why=messages.WHOLE_NUMBER_WANTED
            ),
        ),
    ],
)
def test_a_bad_link_gives_a_notice_and_the_samples_it_would_have_had(link, sentence):
    at = opened(**link)
    (refused,) = [e.proto.body for e in at.get("html") if "said refused" in e.proto.body]
    assert sentence in html.unescape(refused)
    assert asked(at) == ("normal", 64, 0, 1000)


@pytest.mark.parametrize(
    ("text", "d_k", "count"), [("0", 1, 10), ("-5", 1, 10), ("999999999999", 1024, 10_000)]
)
def test_sizes_beyond_the_bounds_are_pulled_back(text, d_k, count):
    settings, _ = links.read({"sample_d_k": text, "samples": text})
    assert (settings.sample_d_k, settings.samples) == (d_k, count)


def test_the_smallest_samples_there_can_be_are_drawn():
    found = charts(opened(sample_d_k="1", samples="10", distribution="signs"))
    assert found["histogram"].sentence.startswith(messages.SCALE_IS_1)


@pytest.mark.parametrize("name", [*few(EXAMPLES), "rotary"])
def test_every_example_can_be_compared_with_theory(name):
    sentence = charts(opened(example=name))["explored"].sentence
    turned = " rotated" * (name == "rotary")  # what meets in the scores
    assert sentence.startswith(f"d_k · var(Q{turned}) · var(K{turned}) = ")


def test_the_page_shows_the_matrices_that_explore_has_now():
    at = opened(example="random-qkv")
    before = explored(at)
    assert before[3] == pytest.approx(before[2] / 8)
    ran(at.switch_page(EXPLORE))
    ran(at.selectbox(key="set_scale_kind").set_value("none"))
    after = explored(ran(at.switch_page(VARIANCE)))
    assert after[:3] == before[:3] and after[3] == after[2]


def test_a_visit_to_explore_keeps_the_samples():
    at = opened()
    ran(at.select_slider(key="set_sample_d_k").set_value(16))
    ran(at.switch_page(EXPLORE))
    assert asked(ran(at.switch_page(VARIANCE))) == ("normal", 16, 0, 1000)


def written(frame) -> list[list[str]]:
    """The cells of a table as a person reads them."""
    content = frame.proto.arrow_data.styler.display_values
    return pa.ipc.open_stream(content).read_pandas().to_numpy().tolist()


def test_the_tables_hold_every_digit_and_show_those_of_the_page():
    at = opened(example="random-qkv")
    assert len(at.dataframe) == 1  # the numbers are made once they are asked for
    at.session_state["points"] = True
    explored, points = ran(at).dataframe
    measured = maths.measure_all("normal", 64, 0, 1000)
    lines = [(p.d_k, k, m) for p in measured for k, m in (("scores", p.raw), ("scaled", p.scaled))]
    numbers = [[d_k, kind, *vars(found).values()] for d_k, kind, found in lines]
    assert list(points.value)[:3] == ["dₖ", "kind", "variance"]
    assert points.value.to_numpy().tolist() == numbers
    texts = [[str(d_k), kind, *(f"{v:.4f}" for v in values)] for d_k, kind, *values in numbers]
    assert written(points) == texts
    trace = run(settings_of(at))
    stages = {name: getattr(trace, name) for name in ("Q", "K", "scores", "scaled")}
    assert explored.value["mean"].to_dict() == {k: v.mean() for k, v in stages.items()}
    assert explored.value["variance"].to_dict() == {k: v.var() for k, v in stages.items()}
    theory = trace.Q.shape[-1] * trace.Q.var() * trace.K.var()
    texts = ["NaN", "NaN", f"{theory:.2f}", f"{theory * trace.scale**2:.2f}"]
    assert [row[2] for row in written(explored)] == texts
    assert explored.proto.placeholder == "–"


def test_finished_weights_have_no_variances_and_the_page_says_so():
    weights = SelectedArray(np.eye(2))
    s, _ = with_weights(EXAMPLES["softmax"].build(), weights, ("a", "b"), ("a", "b"))
    at = opened(**links.address(s)[0])
    assert "explored" not in charts(at) and "variances" in charts(at)
    assert any(messages.NO_Q_AND_K in e.proto.body for e in at.get("html"))
