"""A capture as a stranger's file: refused by one sentence, before anything large is made."""

import io
import json
import math
import random
import tracemalloc
from contextlib import suppress
from dataclasses import replace

import messages
import numpy as np
import pytest
from models.test_recorded import FILES, recorded
from safetensors.numpy import save as safetensors

from attention.limits import (
    MAX_CAPTURE,
    MAX_CAPTURED_CELLS,
    MAX_CAPTURED_HEADS,
    MAX_MEASURED,
    BadInput,
)
from attention.models import verify
from attention.models.labels import label_note, past_of, plain_word, words_of
from attention.models.opening import opened, opened_weights
from attention.models.survey import survey
from attention.models.taken import FORMAT, Call, Taken
from attention.models.verify import parts

WORDS = ["the", "cat", "sat", "on", "the", "mat"]
DAMAGED = messages.DAMAGED_CAPTURE.format(place="run.safetensors")


def filed(header: dict, about: object, bytes_after: bytes = b"") -> bytes:
    """A .safetensors with this header, whatever it says."""
    header = header | {"__metadata__": {FORMAT: json.dumps(about)}}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes_after


def call_of(*shape: int, **facts) -> dict:
    """The header of one call of (b, h, n_q, n_k, d), its arrays in no byte of the file."""
    b, h, n_q, n_k, d = shape
    shapes = {"Q": (b, h, n_q, d), "K": (b, h, n_k, d), "V": (b, h, n_k, d)}
    shapes |= {"output": (b, h, n_q, d)} | facts
    return {
        f"layers.0.{name}": {"dtype": "F32", "shape": list(sides), "data_offsets": [0, 0]}
        for name, sides in shapes.items()
    }


ABOUT = {"model": "m", "tokens": [], "layers": {"layers.0": {"module": "a", "scale": 1.0}}}


def refused(content: bytes) -> str:
    with pytest.raises(BadInput) as problem:
        survey(opened(content, "run.safetensors"))
    assert "\n" not in str(problem.value)
    return str(problem.value)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_was_recorded_opens_and_every_head_of_it_is_surveyed(file):
    found = survey(opened(file.read_bytes(), file.name))
    assert found.verification.agrees and all(head.agrees for head in found.heads)
    assert len(found.heads) == sum(call.Q.shape[0] * call.Q.shape[1] for call in found.taken)


def test_a_checkpoint_is_called_so_and_sent_to_your_data():
    weights = {"encoder.layer.0.attention.self.query.weight": np.eye(4, dtype=np.float32)}
    assert refused(safetensors(weights)) == messages.WEIGHTS_AND_NO_CAPTURE.format(
        place="run.safetensors"
    )
    assert refused(b"1,2,3\n") == messages.CAPTURE_CUT_OFF.format(place="run.safetensors")
    assert refused(filed({}, {"layers": {}})) == messages.EMPTY_CAPTURE.format(
        place="run.safetensors"
    )


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        (
            (1, 1, 2**20, 2**20, 1),
            messages.TOO_MANY_CAPTURED_WEIGHTS.format(found="1,099,511,627,776", limit="8,388,608"),
        ),
        (
            (2**20, 8, 1, 1, 1),
            messages.TOO_MANY_CAPTURED_HEADS.format(found="8,388,608", limit="4,096"),
        ),
        (
            (1, 1, 2, 2**21, 1),
            messages.TOO_MANY_CAPTURED_NUMBERS.format(found="4,194,308", limit="3,145,728"),
        ),
        ((1, 1, 10**9, 1, 0), DAMAGED),
        ((0, 1, 1, 1, 1), DAMAGED),
    ],
)
def test_sizes_are_counted_by_the_header_before_anything_is_made(shape, sentence):
    tracemalloc.start()
    assert sentence in refused(filed(call_of(*shape), ABOUT))
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
    assert (MAX_CAPTURED_CELLS, MAX_CAPTURED_HEADS) == (8_388_608, 4_096)


@pytest.mark.parametrize("bound", ["HEADS", "TOKENS", "WIDTH"])
def test_one_rule_says_what_long_context_opens(monkeypatch, tmp_path, bound):
    Q, K = np.zeros((1, 1, 3000, 1), np.float32), np.zeros((1, 1, 3000, 1), np.float32)
    call = Call(0, 0, "a", Q, K, K, Q, 1.0)
    for most, opens in ((10**6, True), (0, False)):
        monkeypatch.setattr(f"attention.models.taken.MAX_LONG_{bound}", most)
        with pytest.raises(ValueError) as saved:
            Taken("m", calls=[call]).save(tmp_path / "run.safetensors")
        assert ("Long context" in str(saved.value)) == opens
        content = filed(call_of(1, 1, 3000, 3000, 1), ABOUT)
        assert ("Long context" in refused(content)) == opens


def test_masks_that_grow_when_they_are_added_are_refused():
    Q = np.zeros((1, 1, 2, 1), np.float32)
    arrays = {f"layers.0.{name}": Q for name in ("Q", "K", "V", "output")}
    arrays["layers.0.bias"] = np.zeros((1, 1, 40_000, 1), np.float32)
    arrays["layers.0.mask"] = np.zeros((1, 1, 1, 40_000), np.float32)
    assert refused(safetensors(arrays, {FORMAT: json.dumps(ABOUT)})) == DAMAGED


@pytest.mark.parametrize("arrays", [("bias", "mask"), ("allowed", "mask"), ("allowed", "bias")])
def test_masks_that_grow_when_they_are_joined_are_refused_before_that(arrays):
    """On Long context, which bounds no weights: 131,072 queries and keys in two megabytes."""
    n = 2**17
    shapes = dict(zip(arrays, [(1, 1, n, 1), (1, 1, 1, n)], strict=True))
    content = filed(call_of(1, 1, n, n, 1, **shapes), ABOUT)
    width = 17 if "allowed" not in arrays else 5  # two sums in float64, or float32; and booleans
    said = messages.MASKS_OF_CAPTURE.format(place="run", size=f"{n * n * width / 2**20:,.0f} MB")
    with pytest.raises(BadInput) as problem:
        opened(content, "run", is_drawn=False)
    assert str(problem.value) == said


def file_of(b: int, h: int, n_q: int, n_k: int, d: int) -> bytes:
    """The file of one call, in float16."""
    numbers = np.random.default_rng(0)
    Q, K, V, output = (
        numbers.normal(size=(b, h, n, d)).astype(np.float16) for n in (n_q, n_k, n_k, n_q)
    )
    M = {"layers.0.Q": Q, "layers.0.K": K, "layers.0.V": V, "layers.0.output": output}
    return safetensors(M, {FORMAT: json.dumps(ABOUT)})


SHAPES = [(1, 1, 2896, 2896, 1), (1, 1, 1, 1_500_000, 1), (1, 1, 1_500_000, 2, 1)]
SHAPES += [(1, 1, 2, 1_500_000, 1), (1, 1, 5, 1_500_000, 1), (1, 64, 1, 4, 15_000)]
SHAPES += [(1, 1, 3, 3, 260_000), (4096, 1, 8, 8, 36), (1, 4096, 8, 8, 36), (1, 64, 50, 4, 1_400)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_file_of_any_shape_opens_in_150_mb(shape):
    content = file_of(*shape)
    assert len(content) <= MAX_CAPTURE
    tracemalloc.start()
    try:
        survey(opened(content, "run.safetensors"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150 * 2**20


def test_every_head_of_gpt_2_small_with_128_tokens_is_saved_and_opened(tmp_path):
    M = np.zeros((1, 12, 128, 64), np.float32)
    layers = [Call(layer, 0, "a", M, M, M, M, 0.125) for layer in range(12)]
    Taken("gpt2", calls=layers).save(tmp_path / "run.safetensors")
    content = (tmp_path / "run.safetensors").read_bytes()
    assert opened(content, "run.safetensors").counts[:2] == (144, 144 * 128**2)


@pytest.mark.parametrize("n", [3000, 3900])
@pytest.mark.parametrize("is_drawn", [True, False])
def test_a_column_that_is_added_and_a_row_that_hides_open_in_150_mb(n, is_drawn):
    """Of one head, whose masks are joined; or they are refused before they are."""
    one = np.ones((1, 1, n, 1), np.float16)
    M = {f"layers.0.{name}": one for name in ("Q", "K", "V", "output")}
    hides = np.where(np.arange(n) % 2, 0, -np.inf).astype(np.float32)
    M |= {"layers.0.bias": one.astype("f4"), "layers.0.mask": hides[None, None, None]}
    content = safetensors(M, {FORMAT: json.dumps(ABOUT)})
    tracemalloc.start()
    try:
        with suppress(BadInput):
            opened(content, "run.safetensors", is_drawn=is_drawn)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150 * 2**20


def test_a_mask_of_one_row_for_many_queries_is_not_made_for_each():
    n = 20_000
    allowed = np.arange(n)[None, None, None] % 2 == 0
    tracemalloc.start()
    try:
        past_of(Taken(calls=[one := call(n, n, allowed)]), one)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * 2**20


@pytest.mark.parametrize("shape", [*SHAPES, (3, 5, 7, 11, 2), (2, 3, 1000, 1000, 64)], ids=str)
def test_parts_hold_every_score_once_and_are_bounded(shape):
    b, h, n_q, n_k, d = shape
    Q, K = np.broadcast_to(np.float32(0), (b, h, n_q, d)), np.broadcast_to(0, (b, h, n_k, d))
    found = list(parts(Call(0, 0, "a", Q, K, K, Q, 1.0)))
    indices = [
        [range(at, side)[one] for one, at, side in zip(part, (0, 0, 0), (b, h, n_q), strict=True)]
        for part in found
    ]
    sizes = [[len(each) for each in axes] for axes in indices]
    assert sum(math.prod(size) for size in sizes) == b * h * n_q
    corners = {tuple(each[0] for each in axes) for axes in indices}
    assert len(corners) == len(found)
    for items, heads, rows in sizes:
        assert items * heads * rows * n_k <= MAX_MEASURED or rows == 1
    assert len(found) <= 2 + 4 * b * h * (n_q * (n_k + 2 * d) + 2 * n_k * d) / MAX_MEASURED


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("numbers", [1, 300])
def test_a_head_in_parts_has_the_measures_of_the_whole(file, numbers, monkeypatch):
    taken = opened(file.read_bytes(), file.name)
    whole = survey(taken)
    monkeypatch.setattr(verify, "MAX_MEASURED", numbers)
    parted = survey(taken)
    for one, other in zip(whole.heads, parted.heads, strict=True):
        assert {name for name, value in one.measures.items() if value is None} == {
            name for name, value in other.measures.items() if value is None
        }
        found, wanted = (
            [v for v in each.measures.values() if v is not None] for each in (one, other)
        )
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)
        assert (one.agrees, one.share) == (other.agrees, pytest.approx(other.share, rel=1e-6))
    for one, other in zip(whole.verification.calls, parted.verification.calls, strict=True):
        assert one.proven.tolist() == other.proven.tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        {"scale": "1"},
        {"scale": None},
        {"softcap": -1},
        {"heads": [0, 1]},
        {"heads": "a"},
        {"heads": ["a", "b", "c", "d"]},
        {"first_key": 10**30},
        {"first_query": 0.5},
        {"dtype": 3},
        {"notes": [1]},
        {"module": None},
        {"dropout": None},
        {"replayed": "x"},
    ],
    ids=str,
)
def test_what_is_said_of_a_call_has_its_kind(wrong):
    whole = FILES[0].read_bytes()
    taken = Taken.of_bytes(whole)
    arrays = {f"{c.name}.{k}": M for c in taken for k, M in c.arrays.items()}
    layers = {c.name: {"module": "m", "scale": c.scale} | wrong for c in taken}
    about = {"model": "m", "tokens": [], "layers": layers}
    assert refused(safetensors(arrays, {FORMAT: json.dumps(about)})) == DAMAGED
    about = about | {"layers": {}, "tokens": 3}
    assert refused(safetensors(arrays, {FORMAT: json.dumps(about)})) == DAMAGED


def test_numbers_that_no_attention_computes_are_a_sentence_or_a_capture_that_does_not_agree():
    call = recorded("gpt2")[0]
    odd = Taken("m", calls=[replace(call, scale=-1.0)])
    with pytest.raises(BadInput) as problem:
        survey(odd)
    assert str(problem.value) == messages.COMPUTED_BY_NO_ATTENTION.format(
        why=messages.POSITIVE_EXPECTED.format(name="scale", given=-1.0)
    )
    broken = replace(call, Q=np.full_like(call.Q, np.nan))
    found = survey(Taken("m", calls=[broken]))
    assert not found.verification.agrees and not any(head.agrees for head in found.heads)
    assert found.heads[0].measures["difference"] is None


def test_bytes_changed_anywhere_never_raise_anything_but_the_sentence():
    rng = random.Random(5)
    whole = [file.read_bytes() for file in FILES[:6]]
    for _ in range(150):
        content = bytearray(rng.choice(whole))
        for _ in range(rng.randint(1, 4)):
            content[rng.randrange(2200)] = rng.choice(b'0123456789{}[]",:.-eAQKV \x00\xff')
        try:
            opened(bytes(content), "x")
        except BadInput as problem:
            assert "\n" not in str(problem)


# ---- words and places ----------------------------------------------------------------------------


def call(n_q, n_k, allowed=None, layer=0, number=0, **facts) -> Call:
    Q, K = (np.zeros((1, 1, n, 2), np.float32) for n in (n_q, n_k))
    mask = None if allowed is None else np.asarray(allowed, bool)[None, None]
    return Call(layer, number, "m", Q, K, K, Q, 1.0, allowed=mask, **facts)


def test_cut_queries_keep_the_words_of_their_places():
    tril = np.tri(6, dtype=bool)
    cut = call(2, 4, tril[4:, 2:], first_query=4, first_key=2, all_queries=6, all_keys=6)
    taken = Taken("m", WORDS, calls=[cut])
    assert past_of(taken, cut) == 2
    assert words_of(taken, cut, 0) == (("the", "mat"), ("sat", "on", "the", "mat"))
    both_ways = call(2, 6, first_query=3, all_queries=6, all_keys=6)
    assert words_of(Taken("m", WORDS, calls=[both_ways]), both_ways, 0)[0] == ("on", "the")


def test_steps_of_a_generation_stand_behind_what_came_before():
    first, *steps = calls = [call(4, 4, np.tri(4)), *(call(1, 4 + k, number=k) for k in (1, 2))]
    taken = Taken("m", WORDS, calls=calls)
    assert words_of(taken, first, 0)[0] == tuple(WORDS[:4])
    assert [words_of(taken, step, 0)[0] for step in steps] == [("the",), ("mat",)]
    assert words_of(taken, steps[1], 0)[1] == tuple(WORDS)
    short = Taken("m", WORDS[:4], calls=calls)  # what was generated is not among the words
    assert words_of(short, steps[1], 0) == (("w6",), (*WORDS[:4], "w5", "w6"))
    static = [call(4, 8, np.tri(4, 8)), call(1, 8, np.arange(8)[None] < 5, number=1)]
    assert past_of(Taken("m", WORDS, calls=static), static[1]) == 4
    assert words_of(Taken("m", WORDS, calls=static), static[1], 0)[0] == ("the",)


def test_of_two_sequences_one_list_of_words_stands_nowhere():
    t5 = recorded("t5")
    cross = t5[2]
    assert past_of(t5, cross) is None and t5.tokens == WORDS
    assert words_of(t5, cross, 0)[1] == tuple(f"k{k}" for k in range(1, 7))
    assert 'tokens={"encoder": …, "decoder": …}' in label_note(t5)
    t5.tokens = {"encoder": WORDS, "decoder": WORDS[:4]}
    assert words_of(t5, cross, 0) == (tuple(WORDS[:4]), tuple(WORDS)) and label_note(t5) == ""
    found = survey(t5)
    assert {h.measures["distance"] for h in found.heads if h.layer == 2} == {None}
    lonely = call(1, 6, number=3)  # a step alone: it cannot be told whether it is of one sequence
    assert words_of(Taken("m", [*WORDS, "x"], calls=[lonely]), lonely, 0)[0] == ("q1",)


@pytest.mark.parametrize(
    "facts",
    [
        {"kind": "zzz"},
        {"repeat": "again\n"},
        {"names": "abc"},
        {"query_position": -1},
        {"virtual": 2, "key_position": -3},
    ],
)
def test_facts_that_no_capture_has_are_a_damaged_file(facts):
    arrays = {f"layers.0.{name}": np.zeros((1, 1, 2, 2), np.float32) for name in "QKV"}
    arrays["layers.0.output"] = arrays["layers.0.Q"]
    about = {"layers": {"layers.0": {"scale": 1.0} | facts}}
    content = safetensors(arrays, {FORMAT: json.dumps(about)})
    with pytest.raises(BadInput) as problem:
        Taken.of_bytes(content)
    assert str(problem.value) == messages.DAMAGED_CAPTURE.format(place="the file")
    about["layers"]["layers.0"] = {"scale": 1.0}
    assert len(Taken.of_bytes(safetensors(arrays, {FORMAT: json.dumps(about)}))) == 1


def test_the_places_of_many_calls_are_looked_up_once(monkeypatch):
    from attention.models import labels

    asked = []
    real = labels._last_seen
    monkeypatch.setattr(labels, "_last_seen", lambda call: asked.append(call) or real(call))
    calls = [call(1, 60, np.arange(60)[None] <= k, number=k) for k in range(60)]
    taken = Taken("m", WORDS, calls=calls)
    for each in taken:
        words_of(taken, each, 0)
    survey(taken)
    assert len(asked) <= 2 * len(calls)


def test_words_of_a_tokenizer_are_such_as_a_page_can_show():
    words = ("Ġcat", "\n", "", " ", "\t\x00", "a\uffff", "a" * 60)
    assert [plain_word(word) for word in words] == [
        "Ġcat",
        "\\n",
        "␣",
        "␣",
        "\\t\\x00",
        "a\\uffff",
        "a" * 39 + "…",
    ]


def _npy(A, **more) -> bytes:
    file = io.BytesIO()
    np.save(file, A, **more)
    return file.getvalue()


def _npz(*arrays, **named) -> bytes:
    file = io.BytesIO()
    np.savez(file, *arrays, **named)
    return file.getvalue()


FINISHED = np.random.default_rng(3).dirichlet(np.ones(4), (3, 1, 2, 4)).astype(np.float32)
OF_WEIGHTS = {
    "float32.npy": _npy(FINISHED),
    "big_endian.npy": _npy(FINISHED.astype(">f4")),
    "double.npy": _npy(FINISHED.astype(float)),
    "columns_first.npy": _npy(np.asfortranarray(FINISHED)),
    "without_batch.npy": _npy(FINISHED[:, 0]),
    "unnamed.npz": _npz(*FINISHED),
    "one.npz": _npz(attentions=FINISHED, tokens=np.array(list("abcd"))),
    "kinds.npz": _npz(encoder_attentions=FINISHED[:2], decoder_attentions=FINISHED[2:]),
    "list.json": json.dumps(FINISHED.tolist()).encode(),
    "object.json": json.dumps({"a": FINISHED.tolist(), "tokens": list("abcd")}).encode(),
}


@pytest.mark.parametrize("name", OF_WEIGHTS)
def test_finished_weights_in_a_file_are_a_capture(name):
    taken = opened(OF_WEIGHTS[name], name)
    assert len(taken) == 3 and taken.model == name
    for call, layer in zip(taken, FINISHED, strict=True):
        np.testing.assert_allclose(call.weights, layer, rtol=1e-6)
    assert taken.tokens == (list("abcd") if name in ("one.npz", "object.json") else [])


NO_WEIGHTS = {
    "objects.npy": (_npy(np.array([{}], object), allow_pickle=True), "holds Python objects"),
    "objects.npz": (_npz(a=FINISHED, b=np.array([{}], object)), "b holds Python objects;"),
    "integers.npy": (_npy(np.eye(3, dtype=np.int8)), "holds int8; expected floats"),
    "seven.npy": (_npy(np.ones((1,) * 7, "f4")), "has 7 axes; at most 5 are read"),
    "one.npy": (_npy(np.ones(3)), "weights has 1 axes"),
    "empty.npy": (_npy(np.ones((2, 0, 3))), "has shape (2, 0, 3)"),
    "cut.npy": (_npy(FINISHED)[:-4], "which takes 384 bytes; 380 follow"),
    "words.npz": (_npz(a=FINISHED, tokens=np.array(["x"])), "1 words, and the weights are of 4"),
    "none.npy": (_npy(np.ones((0, 1, 1, 2, 2))), "none.npy: weights has no layers"),
    "ragged.json": (b"[[1],[1,0]]", "ragged.json: weights has rows of different lengths"),
    "nothing.json": (b"{}", "holds no attention weights"),
    "comma.json": (b"[[1,0,],[0,1,]]", "a comma has no number or list beside it"),
    "utf16.json": ("[[1]]".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
    "words.json": (b'{"tokens": ["a"]}', "holds no attention weights"),
    "many.npy": (_npy(np.zeros((3, 1, 2, 1700, 1700), "?")), "holds 17,340,000 weights"),
    "heads.npy": (_npy(np.zeros((4097, 1, 1), "f4")), "holds 4,097 heads of all layers"),
}


@pytest.mark.parametrize("name", NO_WEIGHTS)
def test_a_file_without_finished_weights_is_refused_in_a_sentence(name):
    content, said = NO_WEIGHTS[name]
    with pytest.raises(BadInput) as problem:
        opened_weights(content, name, size=2**30)
    assert said in str(problem.value) and str(problem.value).endswith(".")


def test_weights_are_counted_before_they_are_read(monkeypatch):
    def never(*_):
        raise AssertionError("numbers were read")

    content = _npy(np.zeros((1, 1, 4000, 4000), np.float16))
    monkeypatch.setattr(np, "frombuffer", never)
    with pytest.raises(BadInput, match="16,000,000 weights of all heads; .* Long context opens"):
        opened_weights(content, "big.npy", size=2**30)


@pytest.mark.parametrize("make", [_npy, _npz], ids=["npy", "npz"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4"])
@pytest.mark.parametrize(
    "shape", [(2, 1, 4, 150, 150), (1, 1, 1, 2**18, 2), (1, 1, 1, 1000, 1000)], ids=str
)
def test_opening_weights_grows_memory_by_at_most_four_times_the_file(make, dtype, shape):
    """Whether their rows add up to 1 or not, and whether a query looks ahead."""
    A = np.random.default_rng(0).random(shape)
    for weights in (A, np.tril(A), A / A.sum(axis=-1, keepdims=True)):
        content = make(weights.astype(dtype))
        assert grown(content, "a.npy") <= 4 * len(content)


@pytest.mark.parametrize("word", ["a", "猫", "🙂"])
def test_opening_json_grows_memory_by_at_most_four_times_the_file(word):
    rows = f"[{','.join(['0.015625'] * 64)}]," * 64
    layers = ",".join([f"[[{rows[:-1]}]]"] * 30)
    text = f'{{"tokens": {json.dumps([word] * 64, ensure_ascii=False)}, "A": [{layers}]}}'
    content = text.encode()
    assert grown(content, "a.json") <= 4 * len(content)
    assert opened(content, "a.json").tokens == [word] * 64
    short = text.replace("0.015625", "1").encode()  # a number takes twice its text
    assert grown(short, "a.json") <= 4 * len(short)


def grown(content: bytes, name: str) -> int:
    """How many bytes of memory it takes to open a file."""
    tracemalloc.start()
    try:
        opened(content, name)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_small_zip_of_many_weights_is_refused_before_any_is_inflated(monkeypatch):
    from attention.models import opening

    file = io.BytesIO()
    np.savez_compressed(file, np.zeros((1, 1, 1000, 1000)))
    monkeypatch.setattr(opening, "MOST_GROWN", 1)
    with pytest.raises(BadInput, match=r"^a\.npz takes 7.6 MB in memory; at most 1 MB are read\.$"):
        opened_weights(file.getvalue(), "a.npz", size=2**20)


def test_json_has_a_list_of_words_for_each_of_two_sequences():
    A = FINISHED[0].tolist()
    groups = {"encoder_attentions": [A], "decoder_attentions": [A], "cross_attentions": [A]}
    words = {"encoder": list("wxyz"), "decoder": list("abcd")}
    taken = opened(json.dumps(groups | {"tokens": words}).encode(), "a.json")
    assert taken.tokens == words and label_note(taken) == ""
    assert words_of(taken, taken[2], 0) == (tuple("abcd"), tuple("wxyz"))
    with pytest.raises(BadInput, match='^a.json: .*; give {"encoder": …, "decoder": …}'):
        opened(json.dumps(groups | {"tokens": list("abcd")}).encode(), "a.json")


def test_many_long_words_of_a_zip_are_read():
    words = [f"{k:>60}" for k in range(5000)]  # 1.2 MB of text
    A = np.full((1, 1, 1, 1, 5000), 1 / 5000)
    assert opened(_npz(a=A, tokens=np.array(words)), "a.npz").tokens == words


NO_WORDS = [
    np.array(list("abcd"), object),
    np.array([list("abcd")]),
    np.array([b"a", b"b", b"c", b"d"]),
    np.arange(4),
    np.ones(4),
]


@pytest.mark.parametrize("tokens", NO_WORDS, ids=lambda tokens: str(tokens.dtype))
def test_tokens_that_are_no_list_of_text_are_refused_in_a_sentence(tokens):
    with pytest.raises(BadInput, match=r"^a\.npz, tokens is expected to be text with one axis"):
        opened(_npz(a=FINISHED, tokens=tokens), "a.npz")
