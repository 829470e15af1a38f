"""The parts of real layers as settings: run, linked, changed, and written as code."""

import json
import runpy
from dataclasses import replace

import messages
import numpy as np
import pytest

from attention import RMSNorm, Rotary, sinusoidal
from attention.exports.code import to_notebook, to_python
from attention.limits import BadInput
from attention.session.edit import changes
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import one, run, sizes, view
from attention.session.state.settings import Settings
from attention.session.state.validate import check

RNG = np.random.default_rng(0)
FOUR = EXAMPLES["four-words"].build()
N, WIDTH = len(FOUR.tokens), FOUR.d_model


def matrix(*shape):
    return Matrix(RNG.normal(size=shape).round(3))


def with_parts(norm=None, rotary=None, heads=2, **more) -> Settings:
    """Four words with every matrix of the parts, two heads of four columns."""
    m = {name: matrix(WIDTH, 8) for name in ("W_Q", "W_K", "W_V")} | {"W_O": matrix(8, 3)}
    m |= {"b_Q": matrix(1, 8), "b_K": matrix(1, 8), "b_V": matrix(1, 8), "b_O": matrix(1, 3)}
    m |= {"X": FOUR.matrices["X"], "P": Matrix(sinusoidal(N, WIDTH))}
    return check(replace(FOUR, matrices=m, heads=heads, norm=norm, rotary=rotary, **more))


GAINS = {"gain_Q": [1, 2, 0.5, -1], "gain_K": [*range(1, 9)]}
EACH = {
    "biases and positions": with_parts(),
    "one head": with_parts(RMSNorm(), Rotary(), heads=1),
    "norm": with_parts(RMSNorm(**GAINS)),
    "rotary": with_parts(None, Rotary(base=100.0, offset=2)),
    "both": with_parts(RMSNorm(**GAINS, eps=0.5), Rotary(width=2, factor=1.5)),
    "norm of all heads": with_parts(RMSNorm(**GAINS, whole=True), Rotary(pairs="interleaved")),
    "norm after the rotation": with_parts(
        RMSNorm(**GAINS, after_rotary=True), Rotary(frequencies=[1.0, 0.25])
    ),
    "context": with_parts(RMSNorm(), Rotary(), context=True, softmax=False, mask="causal"),
    "Q, K and V": check(changes.start_from(with_parts(None, Rotary()), True, run(with_parts()))),
}


@pytest.mark.parametrize("name", EACH)
def test_the_sizes_of_the_stages_are_those_of_the_run(name):
    shown = view(EACH[name], run(EACH[name])).stages
    assert sizes(EACH[name]) == {stage: M.shape for stage, M in shown.items()}


@pytest.mark.parametrize("name", EACH)
def test_a_link_and_a_file_are_the_whole_state(name):
    link = links.write(EACH[name])
    assert links.read(link) == (EACH[name], [])
    assert links.from_file(links.to_file(EACH[name])) == EACH[name]


@pytest.mark.parametrize("name", EACH)
def test_the_script_computes_the_same_numbers(name, tmp_path, capsys):
    s = EACH[name]
    path = tmp_path / "script.py"
    path.write_bytes(to_python(s, run(s), "parts"))
    runpy.run_path(str(path))
    assert capsys.readouterr().out == "every stage matches\n"
    cells = json.loads(to_notebook(s, run(s), "parts"))["cells"]
    exec("\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code"), {})


def test_the_script_of_one_part_holds_no_other():
    code = to_python(EACH["rotary"], run(EACH["rotary"]), "").decode()
    assert "def rotated" in code and "def normed" not in code
    plain = to_python(FOUR, run(FOUR), "").decode()
    assert not any(word in plain for word in ("rotated", "normed", "b_Q", "X_P"))


def test_positions_follow_the_tokens_and_the_width():
    s = with_parts()
    longer = changes.set_tokens(s, (*s.tokens, "more"), [*range(N), None])
    np.testing.assert_array_equal(longer.matrices["P"].values, sinusoidal(N + 1, WIDTH))
    wider = changes.set_dimension(s, "d_model", WIDTH + 2)
    np.testing.assert_array_equal(wider.matrices["P"].values, sinusoidal(N, WIDTH + 2))
    typed = s.with_matrix("P", Matrix(np.full((N, WIDTH), 7.0)))
    shorter = changes.set_tokens(typed, s.tokens[1:], list(range(1, N)))
    assert (shorter.matrices["P"].values == 7).all()
    for changed in (longer, wider, shorter):
        check(changed)


@pytest.mark.parametrize(("name", "size"), [("d_k", 3), ("d_v", 5), ("d_model", 2)])
def test_biases_follow_the_width(name, size):
    s = check(changes.set_dimension(with_parts(), name, size))
    run(s)


def test_without_output_weights_there_is_no_output_bias():
    s = check(changes.set_output_weights(with_parts(), False))
    assert "b_O" not in s.matrices


def test_numbers_stay_where_q_k_and_v_are_taken_as_they_are():
    s = EACH["both"]
    taken = check(changes.start_from(s, True, run(s)))
    np.testing.assert_allclose(run(taken).projected, run(s).projected, rtol=1e-12)
    assert "P" not in taken.matrices and "b_Q" not in taken.matrices


def test_what_meets_in_one_head_gives_its_weights():
    s = EACH["norm of all heads"]
    alone = one(s, run(s))
    scores = alone.Q @ alone.K.T
    np.testing.assert_allclose(scores, alone.scores, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rotary": Rotary(width=6)}, messages.ROTARY_TOO_WIDE.format(columns=6, d_k=4)),
        (
            {"norm": RMSNorm(gain_Q=[1.0])},
            messages.GAIN_LENGTH.format(name="Q", length=1, d_k=4, columns=8),
        ),
        (
            {"rotary": Rotary(base=1e13)},
            messages.PART_BEYOND_LIMIT.format(name="base", limit="1e+12"),
        ),
        (
            {"norm": RMSNorm(gain_K=[1, 1, 1, 1e13])},
            messages.PART_BEYOND_LIMIT.format(name="gain_K", limit="1e+12"),
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_a_sentence(change, message):
    with pytest.raises(BadInput) as refused:
        check(replace(with_parts(), **change))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        (
            "b_Q",
            np.ones((1, 3)),
            messages.SIZE_EXPECTED.format(name="b_Q", size="1 × 3", wanted="1 × 8"),
        ),
        (
            "b_O",
            np.ones((2, 3)),
            messages.SIZE_EXPECTED.format(name="b_O", size="2 × 3", wanted="1 × 3"),
        ),
        (
            "P",
            np.ones((2, WIDTH)),
            messages.SIZE_EXPECTED.format(name="P", size=f"2 × {WIDTH}", wanted=f"{N} × {WIDTH}"),
        ),
    ],
)
def test_a_matrix_that_does_not_fit_is_refused_by_a_sentence(name, values, message):
    with pytest.raises(BadInput) as refused:
        check(with_parts().with_matrix(name, Matrix(values)))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        ("rotary", "5"),
        ("rotary", '{"turns":1}'),
        ("rotary", '{"base":-1}'),
        ("norm", '{"gain_Q":"a"}'),
        ("norm", '{"whole":3}'),
        ("norm", '{"gain_Q":[NaN]}'),
        ("norm", "[" * 3000),
        ("rotary", '{"width":1e400}'),
        ("rotary", '{"frequencies":[]}'),
    ],
)
def test_a_broken_parameter_is_passed_over_with_a_notice(parameter, text):
    settings, notices = links.read({"example": "four-words", parameter: text})
    assert settings == FOUR and len(notices) == 1 and parameter in notices[0]


def test_a_notice_says_what_the_part_refuses():
    _, notices = links.read({"example": "four-words", "rotary": '{"base":-1}'})
    said = messages.PASSED_OVER.format(
        what="parameter rotary was", why=messages.POSITIVE_EXPECTED.format(name="base", given="-1")
    )
    assert notices == [said]
