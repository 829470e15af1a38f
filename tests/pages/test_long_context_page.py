"""Long context by Streamlit's AppTest: every control, what is brought, and what is taken away."""

import io
import json
import re
from dataclasses import replace

import messages
import numpy as np
import pytest
from pages.conftest import charts, ran, uploaded
from pages.test_check_page import opened, said
from safetensors.numpy import save as safetensors

from attention import long_attention
from attention.exports.long import code, to_npz
from attention.figures.panes.shades import HIDDEN
from attention.limits import BadInput
from attention.long import places
from attention.models.examples import load
from attention.models.opening import opened as open_capture
from attention.models.taken import Taken
from attention.session.long import long_inputs, long_work
from attention.session.long.long_inputs import LongInputs, made_inputs
from attention.session.long.long_work import LongWork
from attention.session.state.long_context import LongContext
from attention.vocabulary.sentences import capital

PAGE = "attention/pages/long_context.py"


def page(**long):
    return settled(opened(PAGE, long=json.dumps({"tokens": 256} | long)))


def settled(at):
    """Once what is computed beside the page is there."""
    work = at.session_state["visit"].page_values["long_work"][1]
    assert work.whole.wait(30) and not work.whole.problem
    return ran(at)


def settings(at) -> LongContext:
    return at.session_state["visit"].settings.long


def drawn(at) -> tuple[dict, np.ndarray, np.ndarray]:
    """What the map was told: its head, shades and numbers."""
    for element in at.get("bidi_component"):
        content = element.proto.bytes
        if b'"rowEdges"' in content[:4000]:
            head, _, rest = content.partition(b"\0")
            head = json.loads(head)
            shape = len(head["rowEdges"]) - 1, len(head["keyEdges"]) - 1
            count = shape[0] * shape[1]
            shades = np.frombuffer(rest[:count], np.uint8).reshape(shape)
            return head, shades, np.frombuffer(rest[count:], "<f4").reshape(shape)
    raise AssertionError("no map")


def row_of(at) -> list[float]:
    """The weights of the chosen query, as they are drawn."""
    (line,) = charts(at)["long_row"].figure["data"]
    return line["y"]


def computed(c: LongContext, mask=None, **more) -> np.ndarray:
    inputs = made_inputs(c)
    allowed = places.causal() if mask is None else mask
    return long_attention(inputs.Q, inputs.K, allowed=allowed, **more)


@pytest.mark.parametrize(
    ("kind", "name", "value", "field"),
    [
        ("selectbox", "pattern", "sink", {"pattern": "sink"}),
        ("selectbox", "tokens", 1024, {"tokens": 1024}),
        ("number_input", "seed", 5, {"seed": 5}),
        ("toggle", "rotary", True, {"rotary": True}),
        ("selectbox", "mask", "none", {"mask": "none"}),
        ("selectbox", "of", "largest", {"of": "largest"}),
        ("toggle", "logarithmic", True, {"logarithmic": True}),
        ("number_input", "query", 17, {"query": 16}),
    ],
)
def test_each_control_sets_one_thing_and_the_map_is_that(kind, name, value, field):
    at = page()
    control = getattr(at, kind)(key=f"set_long_{name}")
    at = settled(ran(control.set_value(value)))
    c = LongContext(**{"tokens": 256} | field)
    assert settings(at) == c and "refused" not in said(at)
    head, shades, numbers = drawn(at)
    mask = {"none": places.padding(np.ones(c.tokens, bool))}.get(c.mask)
    record = computed(c, mask, results=["mean_map"])
    shown = record.mean_map[0] if c.of == "mean" else record.window(of=c.of).values
    np.testing.assert_allclose(numbers, shown, atol=1e-7)
    assert head["exact"] and head["query"] == (16 if name == "query" else c.tokens - 1)
    edges = np.array(head["rowEdges"])
    above = edges[1:, None] <= edges[None, :-1]
    assert ((shades == HIDDEN) == (above & (c.mask == "causal"))).all()


def test_what_cells_show_is_another_look_at_the_same_work():
    at = page()
    work = at.session_state["visit"].page_values["long_work"][1]
    at = ran(at.selectbox(key="set_long_of").set_value("largest"))
    assert at.session_state["visit"].page_values["long_work"][1] is work


@pytest.mark.parametrize("of", ["mean", "largest"])
def test_a_job_that_ends_during_the_first_look_has_the_page_drawn_anew(of, monkeypatch):
    looked = []

    def late(self, *asked):
        looked.append(look(self, *asked))
        assert looked[-1].job is None or looked[-1].job.wait(30)
        return looked[-1]

    look = LongWork.look
    monkeypatch.setattr(LongWork, "look", late)
    monkeypatch.setattr(long_work, "SOON", 0)  # so that no job is over before the look
    at = opened(PAGE, long=json.dumps({"tokens": 1300, "of": of}))
    assert [bool(each.sampled) for each in looked[:1] + looked[-1:]] == [True, False]
    assert any(messages.EVERY_QUERY in each.proto.body for each in at.get("html"))


def test_a_window_asks_for_how_many_keys_and_a_link_opens_it():
    at = page()
    at = settled(ran(at.selectbox(key="set_long_mask").set_value("window")))
    at = settled(ran(at.number_input(key="set_long_seen").set_value(9)))
    numbers = drawn(at)[2]
    record = computed(LongContext(tokens=256), places.window(9), results=["mean_map"])
    np.testing.assert_allclose(numbers, record.mean_map[0], atol=1e-7)
    at = page(tokens=1024, window=[1000, 1024, 990, 1020], mask="none")
    head, _, numbers = drawn(at)
    assert (head["rowEdges"][0], head["rowEdges"][-1]) == (1000, 1024) and head["exact"]
    assert head["measure"] == "weight" and head["queryWords"][0] == f"w{1000 % 256}"
    whole = computed(
        LongContext(tokens=1024), places.padding(np.ones(1024, bool)), results=["first"]
    )
    np.testing.assert_allclose(numbers, whole.rows(range(1000, 1024))[:, 990:1020], rtol=1e-5)


def test_lines_along_the_tokens_come_as_asked_for():
    at = page()
    found = charts(at)
    assert {"long_row", "long_entropy", "long_first"} <= found.keys()
    assert found["long_row"].filename == "long_attention_induction_256_query256"
    for drawn in found.values():
        title = drawn.figure["layout"]["title"]["text"]
        assert drawn.alt == f"Chart. {title}. {drawn.sentence}"
    at = settled(ran(at.button_group(key="set_long_also").set_value(["profile"])))
    assert charts(at).keys() == {"long_row", "long_distance"}
    assert settings(at).also == ("profile",)


def test_the_row_of_a_query_is_exact_and_names_its_strongest_keys():
    at = page(query=200)
    weights = computed(LongContext(tokens=256), results=["first"]).rows([200])[0]
    np.testing.assert_allclose(row_of(at), weights, rtol=1e-5, atol=1e-9)
    notes = " ".join(element.proto.body for element in at.get("html")).replace("\xa0", " ")
    best = int(weights.argmax())
    key = f"{best + 1} “w{best % 64}” → {weights[best]:.4f}"
    assert messages.STRONGEST_KEYS.format(keys=key) in notes


# ---- what is brought -----------------------------------------------------------------------------


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def upload(at, name: str, content: bytes):
    uploaded(at, "long_file", name, content)
    return ran(at)


def from_file(name: str, content: bytes):
    at = page()
    at = ran(at.selectbox(key="set_long_source").set_value("file"))
    return upload(at, name, content)


RNG = np.random.default_rng(0)
Q, K = RNG.standard_normal((2, 3, 90, 8)).astype("f4")
FILES = {
    "npz": ("run.npz", npz(query=Q, key=K)),
    "safetensors": ("run.safetensors", safetensors({"l.q": Q, "l.k": K, "l.v": K})),
}


@pytest.mark.parametrize("kind", FILES)
def test_tensors_come_out_of_a_file_and_the_heads_one_by_one(kind):
    at = settled(from_file(*FILES[kind]))
    assert settings(at) == LongContext("", tokens=256)
    record = long_attention(Q, K, allowed=places.causal(), results=["mean_map"])
    np.testing.assert_allclose(drawn(at)[2], record.mean_map[0], atol=1e-6)
    at = settled(ran(at.selectbox(key="set_long_head").set_value(2)))
    np.testing.assert_allclose(drawn(at)[2], record.mean_map[2], atol=1e-6)


def test_an_item_is_asked_for_and_a_refused_file_leaves_what_was_there(monkeypatch):
    Q4 = np.stack([Q, 2 * Q])
    at = from_file("run.npz", npz(q=Q4, k=Q4))
    at = ran(at.number_input(key="set_long_array_item").set_value(1))
    at = settled(ran(at.button(key="long_use").click()))
    record = long_attention(2 * Q, 2 * Q, allowed=places.causal(), results=["mean_map"])
    np.testing.assert_allclose(drawn(at)[2], record.mean_map[0], atol=1e-6)
    monkeypatch.setattr(long_inputs, "MAX_LONG_HELD", 0)
    at = upload(at, "other.npz", npz(q=Q, k=K))
    assert messages.THIS_SERVER_HOLDS in said(at)
    np.testing.assert_allclose(drawn(at)[2], record.mean_map[0], atol=1e-6)


def test_a_pattern_after_a_capture_has_a_mask_of_its_own(tmp_path):
    taken = load("pronoun")
    taken.save(tmp_path / "run.safetensors")
    at = settled(from_file("run.safetensors", (tmp_path / "run.safetensors").read_bytes()))
    ran(at.selectbox(key="set_long_source").set_value("pattern"))
    at = settled(ran(at.selectbox(key="set_long_pattern").set_value("local")))
    assert settings(at).mask == "causal" and not np.triu(drawn(at)[2], 1).any()


def test_arrays_of_other_names_are_asked_for():
    at = from_file("run.npz", npz(alpha=Q, beta=K, gamma=K))
    assert settings(at).pattern == "induction"  # until it is said
    at = ran(at.button(key="long_use").click())
    assert messages.CHOOSE_ARRAYS.lower() in said(at).lower()
    ran(at.selectbox(key="set_long_name_Q").set_value("alpha"))
    ran(at.selectbox(key="set_long_name_K").set_value("beta"))
    at = settled(ran(at.button(key="long_use").click()))
    record = long_attention(Q, K, allowed=places.causal(), results=["mean_map"])
    np.testing.assert_allclose(drawn(at)[2], record.mean_map[0], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.npz", npz(Q=Q), messages.ONE_ARRAY.format(place="a.npz")),
        (
            "a.npz",
            npz(Q=Q, K=K[..., :4]),
            capital(messages.LONG_COLUMNS_DIFFER.format(queries=8, keys=4)),
        ),
        ("a.npz", b"PK nothing", messages.DAMAGED_ZIP.format(place="a.npz")),
        ("a.csv", b"1,2", messages.NOT_AN_ARRAY_FILE.format(place="a.csv")),
        ("a.safetensors", b"\x05", messages.SAFETENSORS_CUT_OFF.format(place="a.safetensors")),
        ("empty.npz", b"", messages.EMPTY_FILE.format(place="empty.npz")),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence_and_changes_nothing(name, content, sentence):
    at = from_file(name, content)
    assert sentence in said(at) and settings(at) == LongContext(tokens=256)


def test_a_captured_layer_opens_with_its_mask_its_words_and_its_heads(tmp_path):
    taken = load("pronoun")
    taken.save(tmp_path / "run.safetensors")
    at = settled(from_file("run.safetensors", (tmp_path / "run.safetensors").read_bytes()))
    assert settings(at).mask == "own" and settings(at).pattern == ""
    trace = taken.calls[0].trace(0, 0)
    head, _, numbers = drawn(at)
    np.testing.assert_allclose(numbers, trace.weights, atol=2e-6)
    assert head["keyWords"][0] == "[CLS]"
    at = ran(at.selectbox(key="set_long_source").set_value("model"))
    ran(at.selectbox(key="set_long_layer").set_value(1))
    at = settled(ran(at.button(key="long_look").click()))
    np.testing.assert_allclose(drawn(at)[2], taken.calls[1].trace(0, 0).weights, atol=2e-6)


def test_a_capture_of_more_weights_than_real_model_shows_opens_here_without_made_up_words(tmp_path):
    n = 3000
    Q, K = np.random.default_rng(1).standard_normal((2, 1, 1, n, 4)).astype("f4")
    call = replace(load("pronoun").calls[0], Q=Q, K=K, V=K, output=Q, allowed=None, heads=())
    taken = Taken("m", calls=[call])
    refusal = messages.TOO_MANY_CAPTURED_WEIGHTS.format(found="9,000,000", limit="8,388,608")
    with pytest.raises(ValueError, match=re.escape(refusal)):
        taken.save(tmp_path / "run.safetensors")
    taken.save(tmp_path / "run.safetensors", large=True)
    content = (tmp_path / "run.safetensors").read_bytes()
    with pytest.raises(BadInput, match=re.escape(refusal)):
        open_capture(content, "run.safetensors")
    at = settled(from_file("run.safetensors", content))
    weights = long_attention(Q[0], K[0], scale=call.scale).rows([n - 1])[0]
    assert max(row_of(at)) == pytest.approx(float(weights.max()), rel=1e-5)
    assert drawn(at)[0]["keyWords"] is None


@pytest.mark.parametrize("n", [300, 2500])
def test_each_layer_and_item_of_a_file_can_be_looked_at(n, tmp_path):
    Q, K = np.random.default_rng(1).standard_normal((2, 2, 2, 1, n, 4)).astype("f4")
    calls = [
        replace(load("pronoun").calls[0], layer=k, Q=Q[k], K=K[k], V=K[k], output=Q[k])
        for k in range(2)
    ]
    calls = [replace(call, allowed=None, heads=()) for call in calls]
    Taken("m", calls=calls).save(tmp_path / "run.safetensors", large=True)
    at = from_file("run.safetensors", (tmp_path / "run.safetensors").read_bytes())
    holds = messages.CAPTURE_HOLDS.format(
        place="run.safetensors",
        many="2 calls and 2 items",
        layer="layer 0 (encoder, encoder.layer.0.attention.self), item 0 of 0–1",
    )
    assert holds in said(at)

    def expected(layer: int, item: int) -> float:
        scores = K[layer, item, 0] @ Q[layer, item, 0, n - 1] * calls[0].scale
        shares = np.exp(scores - scores.max())
        return float(shares.max() / shares.sum())

    at = settled(at)
    assert max(row_of(at)) == pytest.approx(expected(0, 0), rel=1e-5)
    ran(at.selectbox(key="set_long_of_file_layer").set_value(1))
    ran(at.selectbox(key="set_long_of_file_item").set_value(1))
    at = settled(ran(at.button(key="long_of_file_look").click()))
    assert max(row_of(at)) == pytest.approx(expected(1, 1), rel=1e-5)
    # a file of arrays takes its place
    at = settled(upload(at, "more.npz", npz(q=Q[0, 0], k=K[0, 0])))
    assert not [box for box in at.selectbox if "of_file" in box.key]


def test_what_a_pattern_shows_holds_before_the_rotation():
    captions = [caption.value for caption in page(pattern="sink", rotary=True).caption]
    sentence = messages.BEFORE_ROTATION.format(sentence=messages.SINK_PATTERN)
    assert any(text.startswith(sentence) for text in captions)


def test_no_memory_for_a_first_look_is_one_sentence(monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(LongWork, "look", full)
    at = opened(PAGE, long=json.dumps({"tokens": 256}))
    assert capital(messages.NO_MEMORY) in said(at) and not at.exception


def test_what_was_brought_is_missed_in_another_session_in_a_sentence():
    at = page(pattern="", mask="own")
    assert messages.LONG_UPLOAD_IS_MISSED in said(at)
    assert drawn(at)[0]["rowEdges"][-1] == 256


# ---- what is taken away --------------------------------------------------------------------------


def test_the_file_holds_the_map_and_says_what_it_is():
    c = LongContext("sink", tokens=300, also=("entropy", "profile"), mask="window", seen=20)
    inputs = made_inputs(c)
    record = inputs.run(c, ["mean_map", "entropy", "profile"])
    with np.load(io.BytesIO(to_npz(record, inputs, c))) as file:
        found = dict(file)
    np.testing.assert_array_equal(found["mean_map"], record.mean_map)
    assert found["distances"].shape == found["profile"].shape[-1:]
    assert "first" not in found
    assert found["about"].tolist()[-2:] == [
        "mask: look-ahead, a window of 20 keys",
        messages.COUNTED_FROM_0,
    ]


@pytest.mark.parametrize(
    ("rotary", "window", "part"),
    [
        (False, (), (300, 300)),
        (True, (100, 900, 0, 50), (200, 50)),  # as is left of more tokens
        (True, (400, 900, 0, 50), (300, 300)),
    ],
)
def test_the_lines_of_python_compute_what_is_seen(rotary, window, part):
    c = LongContext("induction", tokens=300, rotary=rotary, also=("first",), query=12)
    inputs, names = made_inputs(c), {}
    exec(code(replace(c, window=window), inputs), names)
    assert names["part"].values.shape == part
    record = inputs.run(c, ["mean_map", "first"])
    np.testing.assert_allclose(names["found"].mean_map, record.mean_map[0], rtol=1e-6)
    np.testing.assert_allclose(names["row"], record.rows([12]), rtol=1e-6)


def test_lines_for_a_captured_layer_have_all_that_it_had():
    M = RNG.standard_normal((3, 2, 40, 8))
    bias, allowed = RNG.standard_normal((1, 40, 40)), RNG.random((2, 40, 40)) < 0.7
    inputs = LongInputs(M[0], M[1], M[2], "a layer", 0.3, 5.0, np.array([0.1, 2.0]), allowed, bias)
    c = LongContext("", mask="own", head=1, query=7, of="largest", window=(3, 30, 10, 40), also=())
    names = {"Q": inputs.Q, "K": inputs.K, "allowed": allowed, "bias": bias}
    lines = code(c, inputs)
    exec(lines, names)
    work = LongWork(inputs, c)
    np.testing.assert_allclose(names["row"][0], work.weights(7, 1), rtol=1e-9)
    shown = work.look(c.window, 1, c.of).cells.values
    np.testing.assert_allclose(names["part"].values, shown, rtol=1e-9)
    assert "# Q, K: (heads, tokens, columns), a layer" in lines
    other = code(replace(c, mask="none"), inputs)
    assert "bias" not in other and "allowed" not in other
