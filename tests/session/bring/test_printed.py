"""A text of several arrays: its inputs become the board, the rest is compared with it."""

import numpy as np
import pytest

from attention.frameworks.printed.reading import related
from attention.readers.select import MASK, Selection, gather
from attention.readers.texts.texts import entries
from attention.session.bring import adopt, printed
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.run import run
from attention.session.state.settings import allowed

RNG = np.random.default_rng(3)
X = RNG.normal(size=(4, 5))
WEIGHTS = {name: RNG.normal(size=(5, 3)) for name in ("W_Q", "W_K", "W_V")}


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def stages(scale=3**-0.5, ahead=False, dtype=np.float64) -> dict[str, np.ndarray]:
    x, w = X.astype(dtype), {name: one.astype(dtype) for name, one in WEIGHTS.items()}
    Q, K, V = (x @ w[name] for name in ("W_Q", "W_K", "W_V"))
    scores = Q @ K.T
    scaled = (scores * dtype(scale)).astype(dtype)
    masked = np.where(np.tri(4, dtype=bool), scaled, -np.inf) if ahead else scaled
    weights = softmax(masked)
    made = {"X": x, **w, "Q": Q, "K": K, "V": V, "scores": scores, "scaled": scaled}
    return made | {"weights": weights, "output": weights @ V}


def text_of(arrays: dict[str, np.ndarray]) -> str:
    return "\n".join(f"{name}:\n{values}\n" for name, values in arrays.items())


def brought(text: str):
    """The settings, what is compared, and the picks, as the page makes them."""
    arrays = entries(text, "the text")
    assert printed.can_be_related(arrays)
    found = related(arrays)
    family = printed.family_of(found)
    picks = {r: n for r, n in printed.picks_of(arrays, found, family).items() if n}
    turned = printed.turned(found, arrays, picks)
    chosen = {role: (name, Selection(transposed=role in turned)) for role, name in picks.items()}
    selected = gather(arrays, chosen, "the text", True)
    s, _ = adopt.adopt(EXAMPLES[FIRST].build(), selected)
    s = printed.settings_with(s, arrays, found, set(picks))
    return s, {one.name: one for one in printed.compared(s, arrays, found, picks)}, picks


def test_a_whole_text_becomes_the_board_and_every_stage_agrees():
    s, compared, picks = brought(text_of(stages()))
    assert picks == {name: name for name in ("X", *WEIGHTS)}
    np.testing.assert_allclose(s.matrices["X"].values, X, atol=5e-9)
    for name in ("Q", "K", "V", "scores", "scaled", "weights", "output"):
        assert compared[name].agrees, compared[name]
        assert compared[name].role == name
    told = printed.summary(list(compared.values()))
    assert told == "All 7 other arrays of a stage agree with the board."


@pytest.mark.parametrize(("scale", "kept"), [(3**-0.5, None), (0.25, 0.25), (5**-0.5, 5**-0.5)])
def test_the_scale_is_the_one_that_the_numbers_show(scale, kept):
    s, compared, _ = brought(text_of(stages(scale)))
    assert s.scale == (kept if kept is None else pytest.approx(kept, rel=1e-6))
    assert compared["output"].agrees


@pytest.mark.parametrize("left_out", [("scores",), ("scores", "scaled")])
@pytest.mark.parametrize("scale", [1.0, 1 / 6])
def test_the_scale_is_known_from_products_without_the_scores(scale, left_out):
    made = {name: one for name, one in stages(scale).items() if name not in left_out}
    s, compared, _ = brought(text_of(made))
    assert s.scale == pytest.approx(scale, rel=1e-6)
    assert compared["weights"].agrees
    assert compared["output"].agrees


def test_the_scale_of_masked_scores_is_taken():
    made = stages(1 / 6)
    masked = np.where(np.tri(4, dtype=bool), made["scaled"], -np.inf)
    made |= {"masked": masked, "weights": softmax(masked)}
    for left_out in (("scaled",), ("scores", "scaled")):
        shown = {name: one for name, one in made.items() if name not in (*left_out, "output")}
        s, compared, _ = brought(text_of(shown))
        assert s.scale == pytest.approx(1 / 6, rel=1e-6)
        assert compared["weights"].agrees


def test_a_look_ahead_mask_is_set_where_the_weights_show_it():
    s, compared, picks = brought(text_of(stages(ahead=True)))
    assert MASK not in picks
    assert s.mask == "causal"
    assert compared["weights"].agrees


@pytest.mark.parametrize("fill", [-1e9, -1e4])
def test_a_printed_mask_of_low_numbers_is_used_and_masked_scores_agree(fill):
    made = stages()
    mask = np.where(np.tri(4, dtype=bool), 0, fill)
    masked = made["scaled"] + mask
    made |= {"mask": mask, "masked": masked, "weights": softmax(masked)}
    made["output"] = made["weights"] @ made["V"]
    with np.printoptions(precision=17):
        s, compared, picks = brought(text_of(made))
    assert picks["mask"] == "mask"
    np.testing.assert_array_equal(allowed(s), np.tri(4, dtype=bool))
    for name in ("scaled", "masked", "weights", "output"):
        assert compared[name].agrees, compared[name]


def test_a_mask_of_other_queries_and_keys_is_not_proposed():
    own = text_of(stages() | {"mask": np.tri(4, dtype=bool)})
    assert brought(own)[2]["mask"] == "mask"
    other = text_of({"mask": np.tri(3, dtype=bool)} | stages())
    assert "mask" not in brought(other)[2]
    turned = text_of(stages() | {"X": X.T, "mask": np.tri(4, dtype=bool)})
    assert brought(turned)[2]["mask"] == "mask"


def test_rounded_inputs_and_float32_are_said():
    with np.printoptions(precision=3):
        _, compared, _ = brought(text_of(stages()))
    assert "as far as the printed inputs can tell" in compared["output"].said
    single = stages(dtype=np.float32)
    exact = {name: single[name].astype(np.float64) for name in ("X", *WEIGHTS)}
    with np.printoptions(precision=17):
        _, compared, _ = brought(text_of(single | exact))
    assert compared["output"].agrees


def test_a_wrong_number_is_named_by_its_place_with_both_numbers():
    made = stages()
    made["output"] = made["output"].copy()
    made["output"][2, 1] += 0.01
    s, compared, _ = brought(text_of(made))
    right = run(s).output[2, 1]
    assert compared["output"].agrees is False
    said = compared["output"].said
    assert said.startswith("differs at row 3, column 2: ")
    assert f"{right:.3f}".replace("-", "−") in said
    assert "1 of 7 arrays of a stage differs" in printed.summary(list(compared.values()))


def test_a_row_of_one_query_is_compared_with_that_row():
    made = stages()
    text = text_of(made) + f"\nweights of the second word: {made['weights'][1]}\n"
    _, compared, _ = brought(text)
    one = compared["weights of the second word"]
    assert one.agrees
    assert one.said.startswith("all 4 agree with row 2, ")


def test_what_is_no_stage_is_not_compared():
    text = text_of(stages()) + "\nloss curve: [0.9 0.7 0.6 0.55 0.5 0.4 0.3]\n"
    _, compared, _ = brought(text)
    assert (compared["loss curve"].agrees, compared["loss curve"].said) == (None, "not used")


def test_x_with_a_column_for_each_token_is_turned():
    made = stages()
    s, compared, picks = brought(text_of(made | {"X": X.T}))
    assert picks["X"] == "X"
    np.testing.assert_allclose(s.matrices["X"].values, X, atol=5e-9)
    assert compared["output"].agrees


def test_answers_are_the_whole_stages_that_were_compared_with_their_decimals():
    made = stages()
    with np.printoptions(precision=4):
        text = text_of({name: made[name] for name in ("X", *WEIGHTS)})
        text += text_of({"weights": made["weights"], "output": made["weights"] @ made["K"]})
        text += f"weights of the second word: {made['weights'][1]}\n"
    arrays = entries(text, "the text")
    _, compared, _ = brought(text)
    assert compared["output"].agrees is False
    found, ways = printed.answers(arrays, related(arrays), list(compared.values()))
    assert found.keys() == {"weights", "output"}
    np.testing.assert_array_equal(found["output"], arrays["output"].read())
    told = {name: str(ways[name]) for name in ("X", "W_Q", "weights", "output")}
    four = "4 decimals"
    assert told == {"X": four, "W_Q": four, "weights": "5 digits", "output": four}


def test_attention_without_weights_puts_x_on_the_board_as_q_k_and_v():
    weights = softmax(X @ X.T)
    text = text_of({"X": X, "scores": X @ X.T, "weights": weights, "context": weights @ X})
    s, compared, picks = brought(text)
    assert picks == dict.fromkeys("QKV", "X")
    assert s.scale == 1
    assert {name: one.agrees for name, one in compared.items() if name != "X"} == {
        "scores": True,
        "weights": True,
        "context": True,
    }


def test_what_is_computed_of_something_that_the_text_does_not_hold_is_not_compared():
    made = stages()
    s, compared, _ = brought(text_of({name: made[name] for name in ("X", "W_Q", "Q", "weights")}))
    assert compared["Q"].agrees
    assert (compared["weights"].agrees, compared["weights"].said) == (
        None,
        "not compared: W_K is not in the text",
    )


def test_an_attention_mask_of_keys_is_the_mask_where_it_explains_the_weights():
    seen = np.array([True, True, False, True])
    made = stages()
    made["weights"] = softmax(np.where(seen, made["scaled"], -np.inf))
    made["output"] = made["weights"] @ made["V"]
    text = text_of(made | {"attention_mask": seen.astype(int)[None]})
    s, compared, picks = brought(text)
    assert picks["mask"] == "attention_mask"
    np.testing.assert_array_equal(allowed(s), np.broadcast_to(seen, (4, 4)))
    assert compared["weights"].agrees
    assert compared["output"].agrees


def test_scores_of_which_the_weights_are_a_plain_softmax_have_the_scale_1():
    made = stages(scale=1.0)
    names = ("X", *WEIGHTS, "scores", "weights", "output")
    s, compared, _ = brought(text_of({name: made[name] for name in names}))
    assert s.scale == 1
    assert compared["weights"].agrees


def test_one_array_that_differs_is_named_alone():
    made = stages()
    made["output"] = made["output"] + 0.5
    _, compared, _ = brought(text_of({name: made[name] for name in ("X", *WEIGHTS, "output")}))
    assert printed.summary(list(compared.values())) == "“output” differs from the board."


def test_scores_alone_that_differ_ask_for_what_mistakes_are_searched_in():
    made = stages()
    made["scores"] = made["scores"] + 0.5
    _, compared, _ = brought(text_of({name: made[name] for name in ("X", *WEIGHTS, "scores")}))
    told = printed.summary(list(compared.values()))
    assert told == (
        "“scores” differs from the board. Print the weights or the output as well to see why."
    )


def test_keys_that_the_weights_leave_out_are_hidden_on_the_board():
    seen = np.array([True, False, True, True])
    made = stages()
    made["weights"] = softmax(np.where(seen, made["scaled"], -np.inf))
    made["output"] = made["weights"] @ made["V"]
    s, compared, _ = brought(text_of(made))
    np.testing.assert_array_equal(allowed(s), np.broadcast_to(seen, (4, 4)))
    assert compared["weights"].agrees
    assert compared["output"].agrees
