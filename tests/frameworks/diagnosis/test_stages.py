"""Stages of another code: up to which one all agrees, and what that says of a mistake."""

import messages
import numpy as np
import pytest
from amount import amount
from frameworks.diagnosis.test_diagnose import SYSTEMS, bench_of, inputs

from attention import causal, diagnose, self_attention
from attention.core.rotary import Rotary
from attention.frameworks.diagnosis.stages import names_of

inf = np.inf


def by_loop(Q, K, V, allowed, by=None, fill=-inf):
    """The stages of one head, number by number; ``by`` in the place of 1/√d_k."""
    n_q, n_k = len(Q), len(K)
    stages = {name: np.empty((n_q, n_k)) for name in ("scores", "scaled", "masked", "weights")}
    for i in range(n_q):
        for j in range(n_k):
            score = sum(a * b for a, b in zip(Q[i], K[j], strict=True))
            stages["scores"][i, j] = score
            stages["scaled"][i, j] = score * (len(Q[i]) ** -0.5 if by is None else by)
            stages["masked"][i, j] = stages["scaled"][i, j] if allowed[i, j] else fill
        powers = [np.exp(score) for score in stages["masked"][i]]
        stages["weights"][i] = [power / sum(powers) for power in powers]
    output = [
        [sum(w * v for w, v in zip(row, column, strict=True)) for column in V.T]
        for row in stages["weights"]
    ]
    return stages | {"output": np.array(output)}


def drawn(seed=0, n=6, d=8):
    return np.random.default_rng(seed).standard_normal((3, n, d))


def of(stages, *names):
    return {name: stages[name] for name in names}


ON_THE_WAY = ("scores", "scaled", "masked")


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", 3, 4])
def test_right_stages_agree_however_they_were_written_down(kind):
    for seed in range(20):
        inputs = drawn(seed)
        stages = of(by_loop(*inputs, causal(6, 6)), *ON_THE_WAY, "weights", "output")
        short = {
            n: M.round(kind) if isinstance(kind, int) else M.astype(kind) for n, M in stages.items()
        }
        found = diagnose(*inputs, allowed=causal(6, 6), stages=short)
        assert found.correct and found.first is None and not found.causes, found
        assert str(found).endswith("\nScores, scaled and masked agree.")
        alone = diagnose(*inputs, allowed=causal(6, 6), stages=of(short, *ON_THE_WAY))
        assert alone.correct and str(alone).endswith("\nScores, scaled and masked agree."), alone


def test_a_mistake_is_named_with_the_stage_where_it_begins():
    inputs = drawn()
    stages = by_loop(*inputs, causal(6, 6), by=1)
    found = diagnose(*inputs, allowed=causal(6, 6), stages=of(stages, *ON_THE_WAY, "output"))
    first, second, third = str(found).split("\n")
    assert first == f"{messages.NOT_SCALED.capitalize()}." and third == messages.MULTIPLY_BY_SCALE
    assert second.startswith(
        messages.FIRST_THAT_DIFFERS.format(agree="Scores agree", first="scaled")
    )
    assert found.first == found.causes[0].stage == "scaled" and not found.correct
    np.testing.assert_array_equal(found.stages["scaled"][0], stages["scaled"])


def test_stages_alone_say_where_it_begins_and_which_mistakes_explain_them():
    inputs = drawn()
    stages = by_loop(*inputs, causal(6, 6), by=1)
    found = diagnose(*inputs, allowed=causal(6, 6), stages=of(stages, *ON_THE_WAY))
    assert {e.mistakes[0].name for e in found.explanations} == {
        "scale: none",
        "scale: after softmax",
    }
    odd = stages["scaled"] + 0.1 * drawn(1)[0][:, :6]
    found = diagnose(
        *inputs, allowed=causal(6, 6), stages={"scores": stages["scores"], "scaled": odd}
    )
    assert found.explanations == () and str(found).split("\n") == [
        messages.NO_MISTAKE_ALONE,
        messages.FIRST_THAT_DIFFERS.format(agree="Scores agree", first="scaled") + ".",
        messages.LOOK_AT_THE_STEP.format(stage="scaled"),
    ]


def test_stages_tell_mistakes_apart_that_one_answer_does_not():
    """Each row of scores has one number in it, so that no softmax shows the scale."""
    Q, K, V = drawn()
    Q = 0 * Q
    stages = by_loop(Q, K, V, causal(6, 6))
    found = diagnose(Q, K, V, allowed=causal(6, 6), output=stages["output"])
    assert found.correct
    wrong = by_loop(*drawn(), causal(6, 6))
    found = diagnose(
        Q, K, V, allowed=causal(6, 6), output=stages["output"], stages=of(wrong, "scores")
    )
    assert not found.correct and found.first == "scores" and not found.causes
    assert str(found).startswith(messages.A_STAGE_IS_NOT.format(what="output is"))


def test_a_mistake_that_leaves_the_stages_unexplained_is_said_to():
    inputs = drawn()
    stages = by_loop(*inputs, causal(6, 6), by=1)
    odd = {"scores": stages["scores"] + drawn(1)[0][:, :6]}
    found = diagnose(*inputs, allowed=causal(6, 6), output=stages["output"], stages=odd)
    assert [cause.name for cause in found.causes] == ["scale: none"]
    assert messages.STAGES_UNEXPLAINED in found.details


def test_a_finite_fill_far_below_is_as_good_as_minus_infinity():
    inputs = drawn()
    for fill, agrees in ((-1e9, True), (-1e4, True), (-5.0, False)):
        masked = of(by_loop(*inputs, causal(6, 6), fill=fill), "masked")
        assert diagnose(*inputs, allowed=causal(6, 6), stages=masked).correct is agrees


@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_the_stages_of_a_layer_agree_heads_apart_or_joined(kind):
    rng = np.random.default_rng(1)
    X, W = rng.standard_normal((5, 12)).astype(kind), rng.standard_normal((4, 12, 12)).astype(kind)
    trace = self_attention(X, *W[:3], heads=3, W_O=W[3], rotary=Rotary())
    given = dict(zip(("W_Q", "W_K", "W_V", "W_O"), W, strict=True)) | {"X": X, "heads": 3}
    names = ("Q", "K", "V", "Q_rotated", "K_rotated", *ON_THE_WAY, "weights", "joined", "projected")
    stages = {name: getattr(trace, name) for name in names}
    found = diagnose(**given, rotary=Rotary(), stages=stages)
    assert found.correct and found.first is None, found
    joined = np.moveaxis(stages["Q"], 0, 1).reshape(5, 12)
    stages |= {"Q": joined, "Q_rotated": stages["Q"]}
    found = diagnose(**given, rotary=Rotary(), stages=stages)
    assert found.first == "Q_rotated" and not found.correct


def planted(system, mistakes):
    """The stages before the weights, as the bench makes them with these mistakes."""
    bench = bench_of(SYSTEMS[system])
    stages = bench.run(mistakes)
    last = ("weights", "output", "joined", "projected")
    return {name: stages[name] for name in names_of(bench) if name not in last}


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", 3])
@pytest.mark.parametrize("system", SYSTEMS)
def test_right_stages_of_all_features_are_right(system, kind):
    stages = planted(system, ()).items()
    short = {n: M.round(kind) if isinstance(kind, int) else M.astype(kind) for n, M in stages}
    found = diagnose(**inputs(system), stages=short)
    assert found.correct and found.first is None, found


@pytest.mark.parametrize("system", amount(list(SYSTEMS)[::6], list(SYSTEMS)))
def test_stages_with_one_mistake_name_it_and_no_other_alone(system):
    given = inputs(system)
    right = planted(system, ())
    for mistake in bench_of(SYSTEMS[system]).applicable:
        stages = planted(system, (mistake,))
        if any(stages[name].shape != M.shape for name, M in right.items()):
            continue  # a mistake that shows in the shape is refused
        found = diagnose(**given, stages=stages)
        sets = [e.mistakes for e in found.explanations]
        assert (mistake,) in sets or found.correct, (mistake.name, str(found))
        if not found.correct:
            assert found.first is not None and found.causes[0].stage == found.first, str(found)


def test_an_output_of_heads_apart_is_the_answer():
    Q, K, V = drawn()
    trace = self_attention(Q, *(np.eye(8),) * 3, heads=2)
    for name in ("output", "joined"):
        found = diagnose(Q, Q, Q, heads=2, stages={name: getattr(trace, name)})
        assert found.correct and list(found.answers) == ["output"]


def test_shared_heads_come_once_or_for_each():
    rng = np.random.default_rng(2)
    Q, K, V = rng.standard_normal((5, 8)), *rng.standard_normal((2, 5, 4))
    for K_of in (K, np.moveaxis(K.reshape(5, 2, 2), 1, 0)):
        given = {"heads": 4, "kv_heads": 2, "rotary": Rotary()}
        assert diagnose(Q, K, V, **given, stages={"K": K_of, "V": V}).correct


def test_many_queries_are_compared_in_part():
    Q, K, V = drawn(3, 1500, 4)
    scores = Q @ K.T
    assert diagnose(Q, K, V, stages={"scores": scores}).correct
    assert diagnose(Q, K, V, stages={"scores": scores, "scaled": scores}).first == "scaled"


@pytest.mark.parametrize(
    ("stages", "kind", "sentence"),
    [
        ({"score": 1}, ValueError, messages.NO_STAGE_HERE.format(name="'score'")),
        ({"capped": 1}, ValueError, messages.NO_STAGE_HERE.format(name="'capped'")),
        (
            {"scores": np.ones((2, 2))},
            ValueError,
            messages.STAGE_SHAPE.format(stage="scores", shape="(2, 2)", expected="(6, 6)"),
        ),
        ([1], TypeError, messages.STAGES_ARE_A_DICT.format(given="[1]")),
    ],
)
def test_what_is_no_stage_is_refused_in_one_sentence(stages, kind, sentence):
    with pytest.raises(kind) as refused:
        diagnose(*drawn(), stages=stages)
    assert str(refused.value) == sentence
