"""What Explore hands on to Long context: 600 tokens give the weights and outputs of the trace."""

import io
from dataclasses import replace

import messages
import numpy as np
import pytest

from attention.core import masks
from attention.core.norms import RMSNorm
from attention.core.recorded import Recorded
from attention.core.rotary import Rotary
from attention.core.scores import SIGMOID
from attention.exports.long import code, to_npz
from attention.limits import MAX_LONG_SIZE, MAX_LONG_TOKENS, MAX_TOKENS, BadInput
from attention.models.taken import Call, Taken
from attention.session.edit import changes
from attention.session.edit import parts as prepared
from attention.session.long import long_inputs
from attention.session.long.long_inputs import captured_inputs, explored_inputs
from attention.session.state.long_context import MASKS, LongContext
from attention.session.state.matrix import Matrix
from attention.session.state.origin import Origin
from attention.session.state.run import run
from attention.session.state.settings import DRAWN, PUSHED, Settings, TooManyTokens
from attention.session.state.validate import check
from attention.vocabulary.numbers import megabytes
from attention.vocabulary.sentences import in_words

N, D = 600, 8
RNG = np.random.default_rng(0)
OWN = LongContext("", mask="own")


def matrix(*shape: int) -> Matrix:
    return Matrix(RNG.standard_normal(shape))


def words(n: int, letter: str = "w") -> tuple[str, ...]:
    return tuple(f"{letter}{k}" for k in range(n))


WEIGHTS = {name: matrix(D, D) for name in ("W_Q", "W_K", "W_V")}
LONG = Settings("own", words(N), {"X": matrix(N, D)} | WEIGHTS)
FOUR = replace(LONG, heads=4)
CROSSED = replace(LONG.with_matrix("memory", matrix(700, D)), memory_tokens=words(700, "k"))
ITEMS = {"X": matrix(2, N, D)} | WEIGHTS
PARTS = {
    "scale": replace(LONG, scale=0.2),
    **{choice.label: replace(LONG, mask=name) for name, choice in masks.MASKS.items()},
    "window": replace(LONG, mask="causal", window=550),
    "padding": replace(LONG, padding=(0, 3, 599)),
    "soft cap": replace(LONG, softcap=1.5),
    "a sink": replace(LONG, sinks=(2.0,)),
    "sinks": replace(FOUR, sinks=(2.0, -1.0, 0.0, 3.0)),
    "relative bias": replace(FOUR.with_matrix("R", matrix(8, 4)), max_distance=300),
    "relative bias, one way": replace(LONG.with_matrix("R", matrix(8, 1)), bidirectional=False),
    "ALiBi": replace(FOUR, alibi=True),
    "ALiBi and a relative bias": replace(FOUR.with_matrix("R", matrix(8, 4)), alibi=True),
    "rotary": replace(LONG, rotary=Rotary(offset=3)),
    "norm": replace(LONG, norm=RMSNorm(gain_Q=tuple(range(1, D + 1)))),
    "norm of four heads after rotary": replace(
        FOUR, rotary=Rotary(), norm=RMSNorm(gain_K=(1.0, 3.0), after_rotary=True)
    ),
    "biases": prepared.set_biases(LONG, True),
    "positions": prepared.set_positions(LONG, True),
    "second head of four": replace(FOUR, head=1),
    "grouped heads": changes.set_kv_heads(FOUR, 2),
    "second sequence": CROSSED,
    "more keys, aligned at the last": replace(
        CROSSED, mask="causal_lower_right", window=90, alibi=True, padding=(5,)
    ),
    "second item": replace(LONG, matrices=ITEMS, item=1),
    "Q, K and V themselves": replace(LONG, matrices={name: matrix(N, D) for name in "QKV"}),
}


def refused(s: Settings) -> TooManyTokens:
    with pytest.raises(TooManyTokens) as problem:
        check(s)
    return problem.value


def per_head(M: np.ndarray, s: Settings) -> np.ndarray:
    """Of the item that is shown, (h, …)."""
    M = M[s.item] if s.batch else M
    return M if s.heads > 1 else M[None]


@pytest.mark.parametrize("part", PARTS)
def test_each_part_goes_on_with_the_weights_and_outputs_of_the_trace(part):
    problem, trace = refused(PARTS[part]), run(PARTS[part])
    many = max(len(PARTS[part].tokens), len(PARTS[part].key_tokens))
    assert str(problem) == messages.TOO_MANY_TOKENS.format(found=many, limit=MAX_TOKENS)
    inputs = explored_inputs(problem.settings)
    weights, output = (per_head(M, PARTS[part]) for M in (trace.weights, trace.output))
    found = inputs.run(OWN, ["output", "mean_map"], pool=inputs.n_k)
    np.testing.assert_allclose(found.output, output, rtol=1e-9, atol=1e-12)
    some = np.array([0, 7, 301, N - 1])
    for head in range(inputs.heads):
        rows = found.rows(range(N), head=head)
        np.testing.assert_allclose(rows, weights[head], rtol=1e-9, atol=1e-14)
        alone = inputs.of_head(head)  # as where all heads are too many for one run
        np.testing.assert_allclose(
            alone.of_queries(OWN, some).rows(range(4)), weights[head, some], rtol=1e-9, atol=1e-14
        )
        seen = inputs.mask(OWN, head)
        if seen is not None:
            allowed = np.broadcast_to(trace.allowed, weights.shape)[head]
            q, k = np.ogrid[:N, : inputs.n_k]
            assert np.array_equal(seen.seen(0, 0, q, k), allowed)


def test_a_captured_bias_goes_on_with_its_heads():
    Q, K, V = (RNG.standard_normal((1, 2, N, D)).astype("f4") for _ in range(3))
    bias = RNG.standard_normal((1, 2, N, N)).astype("f4")
    call = Call(0, 0, "layers.0", Q, K, V, np.zeros_like(V), 0.3, bias=bias)
    inputs = captured_inputs(Taken(calls=[call]), call, 0)
    found = inputs.run(OWN, ["output"])
    for head in range(2):
        trace = call.trace(0, head)
        np.testing.assert_allclose(found.output[head], trace.output, rtol=1e-4, atol=1e-5)
        rows = found.rows(range(N), head=head)
        np.testing.assert_allclose(rows, trace.weights, rtol=1e-3, atol=1e-6)


def test_queries_from_the_middle_of_a_sequence_say_where_they_stand():
    Q, K = RNG.standard_normal((1, 1, 4, D)), RNG.standard_normal((1, 1, 604, D))
    places = {"query_position": 600, "key_position": 0}
    call = Call(0, 0, "layers.0", Q, K, K, Q, 0.3, **places)
    said = captured_inputs(Taken("m", calls=[call]), call, 0).remark
    assert said == messages.PLACES_OF_THE_SEQUENCE.format(places="query 1 is query 601")
    whole = replace(call, Q=K, query_position=0)
    assert captured_inputs(Taken("m", calls=[whole]), whole, 0).remark == ""


def test_words_scale_and_numbers_of_heads_go_along():
    inputs = explored_inputs(replace(FOUR, tokens=("the",) * 2 + words(N - 2)))
    assert inputs.query_words[:3] == ("the (1)", "the (2)", "w0") and inputs.is_captured
    assert (inputs.scale, inputs.heads, inputs.numbers) == (1 / 2**0.5, 4, ())


def test_its_code_and_its_file_say_where_mask_and_bias_are_from():
    s = PARTS["more keys, aligned at the last"]
    inputs = explored_inputs(s)
    lines = code(OWN, inputs).splitlines()
    assert sum("of attention.places" in line for line in lines) == 2
    assert f"    Q, K, allowed=allowed, bias=bias, scale={inputs.scale!r}," in lines
    record = inputs.run(OWN, ["mean_map"])
    about = np.load(io.BytesIO(to_npz(record, inputs, OWN)))["about"]
    assert f"mask: {MASKS['own']}" in about and inputs.source in about


def test_a_captured_head_keeps_its_name_and_number_in_the_model():
    head = Recorded(3, (7,), "decoder.0.attn", "cross", model="some/BART")
    Q, K, V = (matrix(N, D) for _ in range(3))
    brought = {
        name: replace(M, origin=Origin.of_head(head, M.values))
        for name, M in zip("QKV", (Q, K, V), strict=True)
    }
    inputs = explored_inputs(refused(replace(LONG, matrices=brought)).settings)
    assert inputs.source == "Layer 3 (cross, decoder.0.attn), head 7, of some/BART"
    assert inputs.number(0) == 7 and inputs.file.endswith("BART_layer3_decoder.0.attn_head7")


LEFT = {
    "a drawn mask": replace(LONG, mask=DRAWN, drawn=((True,) * N,) * N),
    "−1e9 for what is hidden": replace(LONG, mask="causal", fill=PUSHED),
    "raw scores": replace(LONG, softmax=False),
    "a sigmoid": replace(LONG, softmax=SIGMOID),
    "W_O": LONG.with_matrix("W_O", matrix(D, D)),
    "more than 64 heads": replace(
        LONG,
        heads=65,
        matrices={"X": matrix(N, D)} | {name: matrix(D, 65) for name in WEIGHTS},
    ),
    "Q, K and V of 1,125 MB": replace(
        LONG,
        heads=64,
        tokens=words(12_000),
        matrices={"X": matrix(12_000, 2)} | {name: matrix(2, 4096) for name in WEIGHTS},
    ),
    "more than 131,072": replace(
        LONG, tokens=words(MAX_LONG_TOKENS + 1), matrices={"X": matrix(MAX_LONG_TOKENS + 1, D)}
    ),
    "finished weights": replace(
        LONG,
        memory_tokens=words(400),
        matrices={
            "Q": Matrix(np.full((N, 400), 1 / 400)),
            "K": Matrix(np.eye(400)),
            "V": Matrix(np.eye(400)),
        },
        softmax=False,
        scale=1.0,
        finished=True,
    ),
}


@pytest.mark.parametrize("left", LEFT)
def test_what_cannot_go_on_is_named_and_nothing_is_made_of_it(left, monkeypatch):
    def never(*args, **more):
        raise AssertionError("made before it was refused")

    monkeypatch.setattr(np, "eye", never)
    problem = refused(LEFT[left])
    many = f"{len(LEFT[left].tokens):,}"
    assert problem.settings is None
    assert str(problem) == messages.NO_PLACE_ON_LONG_CONTEXT.format(
        found=many, limit=MAX_TOKENS, left=left
    )


def test_all_that_cannot_go_on_is_named_together():
    s = replace(LEFT["W_O"], softmax=False, mask=DRAWN, drawn=LEFT["a drawn mask"].drawn)
    left = in_words(["a drawn mask", "raw scores", "W_O"])
    assert str(refused(s)) == messages.NO_PLACE_ON_LONG_CONTEXT.format(
        found=N, limit=MAX_TOKENS, left=left
    )


def test_what_others_hold_is_counted_before_anything_is_made(monkeypatch):
    monkeypatch.setattr(long_inputs, "MAX_LONG_HELD", 1000)
    size = 8 * 3 * N * D
    assert size < MAX_LONG_SIZE
    with pytest.raises(BadInput) as problem:
        explored_inputs(LONG)
    assert str(problem.value).startswith(
        messages.SERVER_IS_FULL.partition("{held}")[0].format(size=megabytes(size))
    )
