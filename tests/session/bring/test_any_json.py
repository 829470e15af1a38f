"""Whatever JSON stands in a capture: it is refused in one sentence, or all pages show it."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attention.limits import BadInput
from attention.models.labels import label_note, words_of
from attention.models.opening import opened
from attention.models.survey import survey
from attention.models.taken import FORMAT, Call, Taken
from attention.session.bring.captured import called, left_behind, sequences, with_head
from attention.session.long.long_inputs import captured_inputs
from attention.session.state.examples import EXAMPLES

NUMBERS = np.random.default_rng(0).normal(size=(2, 2, 3, 2)).astype(np.float32)


def layer(number: int, **facts) -> Call:
    M = NUMBERS + number
    call = Call(number, 0, f"h.{number}.attn", M, M, M, M, 0.5, **facts)
    return replace(call, output=call.trace().output.astype(np.float32))


MASKS = {
    "allowed": np.tri(3, dtype=bool)[None, None],
    "bias": np.eye(3, dtype=np.float32)[None, None],
}
CALLS = [layer(0, heads=(1, 4), kind="decoder"), layer(1, notes=("a note",), **MASKS)]
TAKEN = Taken("m", ["the", "cat", "sat"], {"torch": "2"}, CALLS, ["a.b"], ["c.d"], {"h": [3]})
ABOUT = json.loads(json.loads(TAKEN._header()[8:])["__metadata__"][FORMAT])
ARRAYS = b"".join(M.tobytes() for call in CALLS for M in call.arrays.values())
OF_ALL = [*ABOUT, "layers.0"]
OF_CALL = [name for name in Call.__dataclass_fields__ if name not in ("output", "V", "K")]
OF_ARRAY = ["dtype", "shape", "data_offsets"]

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.sampled_from([10**400, 2**31, 2**63, -1, 0.5, 1e308, -0.0])
    | st.sampled_from(["", "a", "h.0.attn", "h", "cross", "step", "float16", "\ud800", "\n", "￾"])
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["", "a", "h", "0", "h.0.attn"]), inner, max_size=3)
    ),
    max_leaves=6,
)
WORDS = st.lists(st.text(max_size=3), min_size=3, max_size=3)
TOKENS = st.recursive(
    VALUES | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.fixed_dictionaries({"h": inner}),
    max_leaves=4,
)


def filed(about: object, header: Callable[[dict], object] = lambda header: header) -> bytes:
    """The file with this said of it, and its header changed."""
    said = json.loads(TAKEN._header()[8:])
    said["__metadata__"] = {FORMAT: json.dumps(about)}
    text = json.dumps(header(said)).encode()
    return len(text).to_bytes(8, "little") + text + ARRAYS


def looked_at(content: bytes) -> None:
    """Open a file and do all that the pages do with it; only a sentence may end it."""
    try:
        taken = opened(content, "run.safetensors")
        found = survey(taken)
    except BadInput as problem:
        assert "\n" not in str(problem)
        return
    assert str(found.verification) and repr(taken) and isinstance(label_note(taken), str)
    ", ".join([*taken.missed, *taken.not_run, taken.model])
    for call in taken:
        assert isinstance(called(call, 0), str) and call.notes == tuple(map(str, call.notes))
        left_behind(call)
        for item in range(len(call.Q)):
            sequences(taken, item)
            words = words_of(taken, call, item)
            assert [len(each) for each in words] == [call.Q.shape[2], call.K.shape[2]]
            assert all(type(word) is str and word for each in words for word in each)
            try:
                captured_inputs(taken, call, item)
                with_head(EXAMPLES["cat-sat"].build(), taken, call, item, 0)
            except BadInput as problem:
                assert "\n" not in str(problem)


def test_the_file_itself_is_shown():
    assert survey(opened(filed(ABOUT), "run.safetensors")).taken.tokens == ["the", "cat", "sat"]
    looked_at(filed(ABOUT))


@settings(max_examples=30, deadline=None)
@given(value=TOKENS)
@example(value={"h": {"a": "b"}})
@example(value={"h": {"a": ["x", "y", "z"]}})
@example(value=[{"a": "b"}, {"c": "d"}])
@example(value=[[["the"], "cat"]])
@example(value={"h": []})
@example(value={"": ["a", "b", "c"]})
@example(value=[[], []])
def test_tokens_of_any_json_are_read_or_refused(value):
    looked_at(filed(ABOUT | {"tokens": value}))


@pytest.mark.parametrize("name", OF_ALL)
@settings(max_examples=3, deadline=None)
@given(value=VALUES)
@example(value={"a": "b"})
@example(value=[["a"], ["b"]])
@example(value={"h": {"a": 1}})
def test_what_is_said_of_all_calls_may_be_any_json(name, value):
    looked_at(filed(ABOUT | {name: value}))


@pytest.mark.parametrize("name", OF_CALL)
@settings(max_examples=3, deadline=None)
@given(value=VALUES)
@example(value=-1)
@example(value=0.5)
@example(value=2**31)
@example(value={"a": "b"})
def test_what_is_said_of_a_call_may_be_any_json(name, value):
    layers = {at: facts | {name: value} for at, facts in ABOUT["layers"].items()}
    looked_at(filed(ABOUT | {"layers": layers}))


@pytest.mark.parametrize("at", ["layers.1.Q", "layers.1.bias", "layers.1.allowed"])
@pytest.mark.parametrize("name", OF_ARRAY)
@settings(max_examples=3, deadline=None)
@given(value=VALUES)
@example(value="BOOL")
@example(value=[2, 2, 3, 2.0])
@example(value=[0, 96.0])
def test_what_is_said_of_an_array_may_be_any_json(at, name, value):
    looked_at(filed(ABOUT, lambda header: header | {at: header[at] | {name: value}}))


@settings(max_examples=10, deadline=None)
@given(value=VALUES)
def test_the_header_and_what_is_in_it_may_be_any_json(value):
    looked_at(filed(value))
    looked_at(filed(ABOUT, lambda header: value))
    looked_at(filed(ABOUT, lambda header: header | {"__metadata__": value}))
    looked_at(filed(ABOUT, lambda header: header | {"__metadata__": {FORMAT: value}}))
    looked_at(filed(ABOUT, lambda header: header | {"layers.1.Q": value}))


@pytest.mark.parametrize(
    "name",
    ["layers.-1", "layers. 1", "layers.1_0", "layers.1.call", "layers.1.call.-2", "layers", "x.1"],
)
def test_a_layer_by_another_name_is_refused(name):
    layers = {"layers.0": ABOUT["layers"]["layers.0"], name: ABOUT["layers"]["layers.1"]}
    renamed = {
        f"layers.1.{array}": f"{name}.{array}"
        for array in ("Q", "K", "V", "output", "bias", "allowed")
    }

    def header(said: dict) -> dict:
        return {renamed.get(at, at): entry for at, entry in said.items()}

    with pytest.raises(BadInput):
        opened(filed(ABOUT | {"layers": layers}, header), "run.safetensors")
