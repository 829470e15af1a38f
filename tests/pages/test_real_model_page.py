"""Real model by Streamlit's AppTest: what is opened, its proof, its maps, and on to Explore."""

import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import board_bytes
import messages
import numpy as np
import pytest
from models.test_recorded import recorded
from pages.conftest import link_of, ran, sent, uploaded
from pages.test_check_page import opened, said
from pages.test_explore import below
from pages.test_helps import check
from safetensors.numpy import save as safetensors

from attention.figures.panes.maps import small_map
from attention.limits import MAX_MAPS
from attention.models.examples import load, surveyed
from attention.models.snippet import LINES, SNIPPET
from attention.models.survey import MEASURES
from attention.models.taken import Call, Taken
from attention.pages.panels import upload
from attention.session.bring.captured import called, times
from attention.session.long import long_inputs
from attention.session.state.about import behind
from attention.session.state.long_context import LongContext
from attention.vocabulary.sentences import capital

PAGE, EXPLORE = "attention/pages/real_model.py", "attention/pages/explore.py"


def page(example=None, content: bytes = b"", name: str = "run.safetensors"):
    at = opened(PAGE)
    if example:
        ran(at.button(key=f"model_example_{example}").click())
    if content:
        choose(at, content, name)
    return at


def choose(at, content: bytes, name: str = "run.safetensors"):
    uploaded(at, "model_file", name, content)
    return ran(at)


def file_of(taken: Taken, folder: Path) -> bytes:
    taken.save(folder / "run.safetensors")
    return (folder / "run.safetensors").read_bytes()


def component(at, key: str) -> bytes | None:
    found = [each for each in at.get("bidi_component") if key in each.proto.id]
    return found[0].proto.bytes if found else None


def groups(at) -> list[dict]:
    content = component(at, "model_maps")
    return json.loads(content[: content.index(b"\0")])["groups"]


def buttons(at) -> list[dict]:
    return [button for group in groups(at) for button in group["buttons"]]


def pressed(at, sent: object):
    """What a browser sends when a map is pressed, which AppTest itself cannot send."""
    from unittest.mock import patch

    from attention.pages.components import maps

    def show(key, groups, on_pressed):
        on_pressed(sent)

    with patch.object(maps, "show", show):
        at.run()
    return at


def test_it_opens_with_a_trained_model_and_has_the_lines_to_capture_ones_own():
    at = page()
    below_the_uploader, *lines = [code.value for code in at.code]
    assert below_the_uploader == upload.LINES["model_file"]
    assert lines == [LINES.strip(), SNIPPET.strip()]
    assert len(buttons(at)) == len(surveyed("pronoun").heads) and "capture" not in link_of(at)
    assert messages.COMPUTED_AGAIN.format(counted="30 heads of 6 layers") in said(at)


def test_an_example_shows_every_head_by_layer_with_its_map_number_and_proof():
    at = page("pronoun")
    assert messages.COMPUTED_AGAIN.format(counted="30 heads of 6 layers") in said(at)
    proof = messages.OUTPUTS_ARE_EQUAL.format(difference="7e−7", kinds="float32", times="33 times")
    assert proof in said(at)
    titles = [f"Layer {k} (encoder, encoder.layer.{k}.attention.self)" for k in range(6)]
    assert [group["title"] for group in groups(at)] == titles
    assert {group["note"].partition(" · ")[2] for group in groups(at)} == {
        "15 queries × 15 keys, d_k 32"
    }
    first = groups(at)[3]["buttons"][0]
    assert (first["name"], first["lines"]) == (
        "head\u00a01",
        ["entropy 1.25", messages.MAP_IS_EQUAL.format(apart="2e−7")],
    )
    assert first["says"] == messages.MAP_SAYS.format(
        head="layer 3 (encoder, encoder.layer.3.attention.self), head 1",
        measure="entropy 1.25",
        apart="2e−7",
    )
    content, expected = component(at, "model_maps"), b""
    for call in load("pronoun"):
        for head in range(5):
            trace = call.trace(0, head)
            expected += small_map(trace.weights, trace.allowed).shades
    assert content[content.index(b"\0") + 1 :] == expected
    assert check(at) > 5


@pytest.mark.parametrize("measure", MEASURES)
def test_heads_are_sorted_by_each_measure_which_is_said_in_a_line(measure):
    at = page("pronoun")
    ran(at.button_group(key="set_model_measure").set_value(measure))
    ran(at.button_group(key="set_model_order").set_value(messages.BY_THE_NUMBER))
    assert any(MEASURES[measure].sentence in html.proto.body for html in at.get("html"))
    found = surveyed("pronoun")
    sign = -1 if MEASURES[measure].largest_first else 1
    ordered = sorted(found.heads, key=lambda head: sign * head.measures[measure])
    assert buttons(at)[0]["lines"][0] == "encoder"  # no heading says it here
    wanted = [f"{head.place} 0 {head.head}" for head in ordered]
    assert [button["id"] for button in buttons(at)] == wanted
    assert [button["name"] for button in buttons(at)][0] == (
        f"layer {ordered[0].layer} · head\u00a0{ordered[0].number}"
    )


def test_layers_heads_and_items_are_chosen_and_the_maps_are_a_part_at_a_time():
    at = page("verbs")
    counted = "4 heads of 2 layers for each of 2 items"
    assert messages.COMPUTED_AGAIN.format(counted=counted) in said(at)
    assert at.selectbox(key="set_model_item").options[1].startswith("1: [CLS] the cats on")
    ran(at.selectbox(key="set_model_item").set_value(1))
    assert {button["id"].split()[1] for button in buttons(at)} == {"1"}
    ran(at.selectbox(key="set_model_head").set_value(1))
    assert [group["title"] for group in groups(at)] == ["In every layer"]
    ran(at.selectbox(key="set_model_layer").set_value(3))
    assert [button["id"] for button in buttons(at)] == ["1 1 0"]


def many(heads: int, layers: int = 3, n: int = 4) -> Taken:
    rng = np.random.default_rng(0)
    calls = []
    for layer in range(layers):
        Q, K, V = rng.normal(size=(3, 1, heads, n, 2))
        call = Call(layer, 0, f"layer{layer}.attn", Q, K, V, V, 0.5, dtype="float64")
        calls.append(replace(call, output=call.trace().output))
    return Taken("many", calls=calls)


def test_of_many_heads_so_many_are_drawn_as_the_page_says(tmp_path):
    at = page(content=file_of(many(heads=40), tmp_path))
    assert "120 heads of 3 layers" in said(at)
    assert len(buttons(at)) == MAX_MAPS == 72
    drawn = messages.MAPS_SHOWN.format(shown=72, count=120)
    assert any(drawn in html.proto.body for html in at.get("html"))
    ran(at.selectbox(key="set_model_part").set_value(2))
    titles = ["Layer 1 (layer1.attn)", "Layer 2 (layer2.attn)"]
    assert [group["title"] for group in groups(at)] == titles
    assert len(at.session_state["visit"].page_values["model_maps"]) == 48


def test_a_capture_that_does_not_agree_says_which_head_and_what_explains_it(tmp_path):
    call = recorded("gpt2")[0]
    wrong = Taken("mine", calls=[replace(call, scale=1.0), *recorded("gpt2").calls[1:]])
    at = page(content=file_of(wrong, tmp_path))
    assert messages.OUTPUTS_DIFFER.format(wrong=1, calls=2) in said(at)
    assert messages.MOST_OF_ALL.format(item=0, head="") in said(at) and "scale" in said(at)
    assert [button["is_wrong"] for button in buttons(at)] == [True] * 4 + [False] * 4
    assert buttons(at)[0]["lines"][1].startswith(messages.MAP_IS_OFF.format(apart="0."))


def test_other_files_are_a_sentence_and_leave_what_is_open():
    at = page("pronoun")
    choose(at, safetensors({"q.weight": np.eye(2)}), "model.safetensors")
    assert messages.WEIGHTS_AND_NO_CAPTURE.format(place="model.safetensors") in said(at)
    assert "30 heads of 6 layers" in said(at)
    ran(at.button(key="model_data").click())
    assert at.session_state["visit"].page_values["below"] == "Your data"
    assert at.text_area(key="set_load_text") is not None  # of Explore
    ran(at.switch_page(PAGE))
    choose(at, b"junk", "x.safetensors")
    assert messages.CAPTURE_CUT_OFF.format(place="x.safetensors") in said(at)
    choose(at, b"\x80\x04junk", "model.pt")
    assert messages.PICKLE.format(place="model.pt") in said(at) and len(at.code) == 4


def test_a_head_that_is_pressed_stands_on_explore_and_the_page_keeps_its_capture():
    at = page("pronoun")
    pressed(at, {"id": "3 0 0"})
    ran(at)
    s = at.session_state["visit"].settings
    np.testing.assert_array_equal(s.matrices["Q"].values, load("pronoun")[3].Q[0, 0])
    assert list(s.tokens) == load("pronoun").tokens and behind(s) == ()
    arrived = messages.HEAD_ARRIVED.format(
        head="Layer 3 (encoder, encoder.layer.3.attention.self), head 1",
        model="sentence-transformers/all-MiniLM-L6-v2",
    )
    assert arrived in said(at)
    assert f"{messages.EQUAL_TO_THE_MODELS} to 2e−7" in said(at)
    assert at.selectbox(key="set_scale_kind") is not None  # it is Explore
    ran(at.switch_page("attention/pages/compare.py"))
    ran(at.switch_page(EXPLORE))
    assert f"{messages.EQUAL_TO_THE_MODELS} to 2e−7" in said(at)  # as long as it is that head
    ran(at.selectbox(key="set_scale_kind").set_value("none"))
    assert messages.EQUAL_TO_THE_MODELS not in said(at)
    ran(at.switch_page(PAGE))
    assert len(buttons(at)) == 30


@pytest.mark.parametrize(("given", "kind"), [(True, "plain"), (False, "refused")])
def test_a_head_that_is_not_proved_does_not_arrive_in_the_box_of_those_that_are(
    given, kind, tmp_path
):
    taken = load("pronoun")
    if given:
        taken = Taken.of_weights(np.full((1, 1, 2, 3, 3), 1 / 3))
    else:
        call = taken.calls[0]
        taken = replace(taken, calls=[replace(call, output=call.output + 1)])
    at = page(content=file_of(taken, tmp_path))
    pressed(at, {"id": "0 0 0"})
    ran(at)
    ran(at.switch_page(EXPLORE))
    boxes = [each.proto.body for each in at.get("html")]
    named = [box for box in boxes if f">{capital(called(taken.calls[0], 0, 0))}, of" in box]
    assert [f"class='said {kind}'" in box for box in named] == [True]


@pytest.mark.parametrize(
    "sent", [None, {}, {"id": 3}, {"id": ["3 0 0"]}, {"id": "9 0 0"}, {"id": "3 0 -1"}, "3 0 0"]
)
def test_what_no_map_sends_changes_nothing(sent):
    at = page("pronoun")
    before = at.session_state["visit"].settings
    ran(pressed(at, sent))
    assert at.session_state["visit"].settings is before and len(buttons(at)) == 30


def test_what_explore_cannot_hold_is_said_before_and_after(tmp_path):
    t5 = recorded("t5")
    bias = np.random.default_rng(0).normal(size=(1, 1, 6, 6)).astype(np.float32)
    at = page(content=file_of(replace(t5, calls=[replace(t5[0], bias=bias)]), tmp_path))
    assert messages.LAYERS_HAVE.format(left=messages.BIAS_OF_EACH_SCORE) in said(at)
    pressed(at, {"id": "0 0 1"})
    ran(at)
    lacking = messages.NOT_ON_EXPLORE.partition("{difference}")[0]
    assert lacking.format(missing=messages.BIAS_OF_EACH_SCORE) in said(at)


def test_a_head_of_t5_stands_on_explore_with_its_table(tmp_path):
    at = page(content=file_of(recorded("t5"), tmp_path))
    assert messages.NOT_ON_EXPLORE.partition("{missing}")[0] not in said(at)
    pressed(at, {"id": "0 0 1"})
    ran(at)
    assert at.session_state["visit"].settings.parts == ("relative",)


def test_a_head_of_more_than_512_tokens_opens_on_long_context_with_its_bias(tmp_path):
    (call,) = many(heads=2, layers=1, n=600).calls
    bias = np.random.default_rng(1).normal(size=(1, 2, 600, 600))
    call = replace(call, bias=bias)
    call = replace(call, output=call.trace().output)
    first = replace(call, layer=0, Q=call.Q[:, :, :1], output=call.output[:, :, :1], bias=None)
    calls = [replace(first, all_queries=600), replace(call, layer=3)]
    at = page(content=file_of(Taken("many", calls=calls), tmp_path))
    assert all(messages.OPENS_ON_LONG_CONTEXT in button["says"] for button in buttons(at))
    assert messages.BIAS_OF_EACH_SCORE not in said(at)  # which goes along
    visit = at.session_state["visit"]
    visit.page_values["long_source"] = "file"  # where another file was looked at
    before = visit.settings
    ran(pressed(at, {"id": "1 0 1"}))
    visit = at.session_state["visit"]
    shown = {name: at.selectbox(key=f"set_long_{name}").value for name in ("source", "layer")}
    assert shown == {"source": "model", "layer": 1}
    assert any(box.key == "set_long_of" for box in at.selectbox)
    assert visit.settings == replace(before, long=LongContext("", mask="own", head=1))
    found = visit.page_values["long_work"][1].weights(301, 1)
    np.testing.assert_allclose(found, call.trace(0, 1).weights[301], rtol=1e-6, atol=1e-12)


def test_a_head_that_long_context_refuses_stays_on_the_page(tmp_path, monkeypatch):
    at = page(content=file_of(many(heads=1, layers=1, n=600), tmp_path))
    monkeypatch.setattr(long_inputs, "MAX_LONG_WIDTH", 1)
    before = at.session_state["visit"].settings
    ran(pressed(at, {"id": "0 0 0"}))
    refusal = messages.LONG_COUNT.format(count=2, what="columns", word="queries", most=1)
    assert capital(refusal) in said(at)
    assert at.session_state["visit"].settings is before and len(buttons(at)) == 1


def test_one_head_across_layers_is_a_board_and_a_figure_to_save():
    at = page("pronoun")
    ran(at.toggle(key="set_model_layers").set_value(True))
    ran(at.selectbox(key="set_model_across").set_value(8))
    panes = list(board_bytes.panes_of(component(at, "model_board")).values())
    assert [pane["symbol"] for pane in panes] == [f"Layer {k}, head 8" for k in range(6)]
    assert panes[0]["sentence"] == "encoder, encoder.layer.0.attention.self"
    assert panes[0]["axes"] == ["query", "key"]
    assert panes[0]["rows"][:3] == ["[CLS]", "the (1)", "animal"]
    ran(at.toggle(key="set_paper_open_attention_across_layers").set_value(True))
    assert at.get("download_button")
    figure = at.session_state["visit"].page_values["paper_saved"][0]
    drawn = [each.get_array() for axes in figure.axes for each in axes.collections]
    for call, head in ((call, call.trace(0, 3).weights) for call in load("pronoun")):
        assert any(M is not None and np.array_equal(np.ravel(M), head.ravel()) for M in drawn), call


def test_the_maps_are_a_figure_all_of_them_or_those_that_are_chosen():
    at = page("pronoun")
    ran(at.selectbox(key="set_model_head").set_value(8))
    ran(at.toggle(key="set_paper_open_attention_maps").set_value(True))
    drawn = at.session_state["visit"].page_values["paper_saved"][0].axes[0].collections
    assert [map.get_gid() for map in drawn] == [f"layer {k}, head 8" for k in range(6)]
    ran(at.multiselect(key="set_paper_maps_attention_maps").set_value(["1 3", "4 3"]))
    figure = at.session_state["visit"].page_values["paper_saved"][0]
    titles = [axes.get_title("left") for axes in figure.axes if axes.get_title("left")]
    assert titles == ["(a) Layer 1, head 8", "(b) Layer 4, head 8"]
    assert "layer 4 (encoder, encoder.layer.4.attention.self), head 8" in figure.about
    assert not any("patches" in box.label for box in at.selectbox)


def test_the_maps_of_a_picture_may_be_one_query_over_its_patches(tmp_path):
    Q = np.random.default_rng(0).standard_normal((1, 2, 9, 4))
    names = {"names": ("[CLS]", "patch"), "key_names": ("[CLS]", "patch"), "grid": (2, 4)}
    call = Call(0, 0, "v", Q, Q, Q, Q, 0.5, kind="vision", **names)
    at = page(content=file_of(Taken("m", calls=[call]), tmp_path))
    ran(at.toggle(key="set_paper_open_attention_maps").set_value(True))
    box = at.selectbox(key="set_paper_query_attention_maps")
    assert box.options == ["all: whole maps", "[CLS]", *(f"patch {k}" for k in range(8))]
    ran(box.set_value(3))
    figure = at.session_state["visit"].page_values["paper_saved"][0]
    for head, drawn in enumerate(figure.axes[0].collections):
        row = call.trace(0, head).weights[3, 1:].reshape(2, 4)
        np.testing.assert_array_equal(drawn.get_array(), row)
    assert figure.about == "captured from m, row of patch 2"


def test_of_two_figures_one_is_open():
    at = page("pronoun")
    ran(at.toggle(key="set_model_layers").set_value(True))
    switches = [f"set_paper_open_attention_{name}" for name in ("maps", "across_layers")]
    for key in (*switches, switches[0]):
        ran(at.toggle(key=key).set_value(True))
        assert [at.toggle(key=each).value for each in switches] == [
            each == key for each in switches
        ]
        assert len(at.get("download_button")) == 3


def test_what_is_open_can_be_closed(tmp_path):
    at = page(content=file_of(recorded("bert"), tmp_path))
    assert len(buttons(at)) == 8
    ran(at.button(key="model_close").click())
    assert len(buttons(at)) == len(surveyed("pronoun").heads)
    assert not [each for each in at.button if each.key == "model_close"]


# ---- which attention it is ---------------------------------------------------


HEADS = (1, 2, 5, 8, 11)
NUMBERS = re.compile(r"(?<![a-z])heads?[ _](\d+)")
MODULES = {
    "vision": "vision_tower.encoder.layers.3.self_attn",
    "cross": "decoder.layers.1.encoder_attn",
    "decoder": "decoder.layers.1.self_attn",
    "encoder": "encoder.layers.1.self_attn",
}


def call_of(kind: str, layer: int, n_q: int, n_k: int, heads=HEADS, **more) -> Call:
    rng = np.random.default_rng(layer)
    Q, K, V = (rng.normal(size=(2, len(heads), n, 4)) for n in (n_q, n_k, n_k))
    if kind != "cross":
        more = {"query_position": 0, "key_position": 0} | more
    named = {"dtype": "float64", "kind": kind, "heads": heads}
    call = Call(layer, 0, MODULES[kind], Q, K, V, Q, 0.5, **named | more)
    return replace(call, output=call.trace().output)


def one_layer(kind: str) -> Taken:
    """What layers=[3] and heads=[1, 2, 5, 8, 11] leave of a batch of two."""
    if kind == "vision":
        names = {"names": ("[CLS]", "patch"), "key_names": ("[CLS]", "patch")}
        return Taken("org/VLM", ["a", "b"], calls=[call_of(kind, 3, 5, 5, **names)])
    words = {"encoder": [["das", "ist", "ein", "Satz"]] * 2, "decoder": [["a", "phrase"]] * 2}
    places = {"query_position": 0, "key_position": 0, "keys_of": MODULES["encoder"]}
    return Taken("org/VLM", words, calls=[call_of(kind, 3, 2, 4, **places)])


def two_stacks(**more) -> Taken:
    calls = [call_of("encoder", 0, 4, 4), call_of("decoder", 1, 2, 2)]
    calls += one_layer("cross").calls
    return replace(one_layer("cross"), calls=calls, **more)


def contents(name: str, data) -> str:
    content = data() if callable(data) else data
    if name.endswith(".npz"):
        with np.load(io.BytesIO(content)) as arrays:
            return "\n".join(arrays["about"])
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "\n".join(
                [
                    *archive.namelist(),
                    *(contents(each, archive.read(each)) for each in archive.namelist()),
                ]
            )
    text = content.decode(errors="replace")
    if name.endswith(".ipynb"):
        text = "".join(part for cell in json.loads(text)["cells"] for part in cell["source"])
    return text.replace("\\", "")  # of Markdown


@pytest.mark.parametrize("kind", ["vision", "cross"])
def test_a_chosen_head_keeps_its_number_layer_module_and_item_everywhere(kind, tmp_path, offered):
    taken, module = one_layer(kind), MODULES[kind]
    layer = f"layer 3 ({kind}, {module})"
    named, stem = f"{layer}, head 8, item 1 of 0–1", f"VLM_layer3_{module}_head8_item1"
    at = page(content=file_of(taken, tmp_path))
    ran(at.selectbox(key="set_model_item").set_value(1))
    assert groups(at)[0]["title"] == f"L{layer[1:]}, item 1 of 0–1"
    assert [button["name"] for button in buttons(at)] == [f"head\u00a0{k}" for k in HEADS]
    for number, button in zip(HEADS, buttons(at), strict=True):
        assert button["says"].startswith(f"{layer}, head {number}, item 1 of 0–1: entropy ")
    assert {int(k) for k in NUMBERS.findall(sent(at))} == set(HEADS)

    ran(at.toggle(key="set_model_layers").set_value(True))
    ran(at.selectbox(key="set_model_across").set_value(8))
    ran(at.toggle(key="set_paper_open_attention_across_layers").set_value(True))
    (pane,) = board_bytes.panes_of(component(at, "model_board")).values()
    heading = "Layer 3, head 8, item 1 of 0–1"
    assert (pane["symbol"], pane["sentence"]) == (heading, f"{kind}, {module}")
    assert pane["filename"] == f"attention_{stem}_weights"
    assert {name for name, _ in offered.values()} == {
        f"attention_across_layers_head8_item1.{form}" for form in ("pdf", "svg", "png")
    }
    figure = at.session_state["visit"].page_values["paper_saved"][0]
    source = messages.CAPTURED_FROM.format(model="org/VLM", head=named)
    assert figure.about == f"{heading}: {source}"

    offered.clear()
    pressed(at, {"id": "0 1 3"})
    ran(at)
    ran(at.switch_page(EXPLORE))  # or AppTest goes on showing the maps
    assert messages.HEAD_ARRIVED.format(head=capital(named), model="org/VLM") in said(at)
    for tab in ("Spread", "Code", "Export"):
        below(at, tab)
        text = sent(at)
        assert named in text and set(NUMBERS.findall(text)) == {"8"}
    assert named in at.session_state["visit"].page_values["paper_drawn"][1][0].about
    ran(at.button(key="build_zip").click())
    assert len(offered) > 15
    saying = []
    for label, (name, data) in offered.items():
        assert name.startswith(f"attention_{stem}")
        text = contents(name, data)
        assert set(NUMBERS.findall(text)) <= {"8"}, label
        saying += [label] * (named in text)
    silent = {"Save as PDF", "Save as PNG", "Save the zip"}  # bytes, not texts
    assert offered.keys() - set(saying) <= silent

    ran(at.switch_page("attention/pages/compare.py"))
    text = sent(at)
    assert set(NUMBERS.findall(text)) == {"8"} and named in text


@pytest.mark.parametrize("kind", ["vision", "cross"])
def test_long_context_calls_the_heads_of_a_capture_as_the_model_does(kind, tmp_path, offered):
    taken, layer = one_layer(kind), f"layer 3 ({kind}, {MODULES[kind]})"
    at = page(content=file_of(taken, tmp_path))
    ran(at.switch_page("attention/pages/long_context.py"))
    ran(at.selectbox(key="set_long_source").set_value("model"))
    assert at.selectbox(key="set_long_layer").options == [layer]
    assert at.selectbox(key="set_long_item").options == ["0", "1"]
    ran(at.selectbox(key="set_long_item").set_value(1))
    ran(at.button(key="long_look").click())
    assert at.selectbox(key="set_long_head").options == [str(k) for k in HEADS]
    ran(at.selectbox(key="set_long_head").set_value(3))
    assert at.session_state["visit"].page_values["long_work"][1].whole.wait(30)
    ran(at)
    text = sent(at)
    source = messages.CAPTURED_FROM.format(model="org/VLM", head=f"{layer}, item 1 of 0–1")
    source = source[1:]  # the first letter may be a capital
    assert source in text
    assert {int(k) for k in NUMBERS.findall(text)} <= set(HEADS)
    assert messages.HEAD_OF_THE_MODEL.format(head=3, number=8) in text
    name, data = offered["Numbers (.npz)"]
    assert name == f"long_attention_VLM_layer3_{MODULES[kind]}_item1.npz"
    assert f"{source}, heads 1, 2, 5, 8, 11" in contents(name, data)


def test_maps_are_filtered_by_kind_and_one_head_across_layers_too(tmp_path):
    at = page(content=file_of(two_stacks(), tmp_path))
    assert at.selectbox(key="set_model_kind").options == [
        "every",
        "encoder",
        "decoder",
        "cross-attention",
    ]
    assert len(buttons(at)) == 15
    ran(at.selectbox(key="set_model_kind").set_value("cross"))
    assert {button["id"].split()[0] for button in buttons(at)} == {"2"}
    assert at.selectbox(key="set_model_layer").options == ["every", "3"]
    ran(at.selectbox(key="set_model_kind").set_value("every"))
    ran(at.toggle(key="set_model_layers").set_value(True))
    names = [pane["symbol"] for pane in board_bytes.panes_of(component(at, "model_board")).values()]
    assert names == [
        f"Layer {k} ({kind}), head 1, item 0 of 0–1"
        for k, kind in ((0, "encoder"), (1, "decoder"), (3, "cross"))
    ]
    ran(at.selectbox(key="set_model_kind").set_value("decoder"))
    names = [pane["symbol"] for pane in board_bytes.panes_of(component(at, "model_board")).values()]
    assert names == ["Layer 1, head 1, item 0 of 0–1"]
    ran(at.button(key="model_example_pronoun").click())
    assert len(buttons(at)) == 30
    with pytest.raises(KeyError):
        at.selectbox(key="set_model_kind")


def test_maps_that_stand_alone_say_their_kind_and_step(tmp_path):
    taken = two_stacks()
    step = replace(taken[3], call=4, repeat="step")
    taken.calls.append(step)
    at = page(content=file_of(taken, tmp_path))
    assert groups(at)[-1]["title"] == f"Layer 3 (cross, {MODULES['cross']}), item 0 of 0–1, step 4"
    ran(at.button_group(key="set_model_order").set_value(messages.BY_THE_NUMBER))
    lines = {button["id"]: (button["name"], *button["lines"][::3]) for button in buttons(at)}
    decoder, cross = (f"{kind}, item 0 of 0–1" for kind in ("decoder", "cross"))
    assert lines["1 0 3"] == ("layer 1 · head\u00a08", decoder, MODULES["decoder"])
    assert lines["3 0 3"] == ("layer 3 · head\u00a08", f"{cross}, step 4", MODULES["cross"])


def test_the_words_of_each_sequence_stand_above_the_maps(tmp_path):
    def lines(at):
        html = "".join(element.proto.body for element in at.get("html"))
        return re.findall(r"<p class='notice'>(Words.*?)</p>", html)

    at = page(content=file_of(two_stacks(), tmp_path))
    read = {"encoder": "das ist ein Satz", "decoder": "a phrase"}
    assert lines(at) == [
        messages.WORDS_READ_BY.format(part=part, words=words) for part, words in read.items()
    ]
    assert at.selectbox(key="set_model_item").options[1] == "1: das ist ein Satz"
    assert lines(page(content=file_of(one_layer("vision"), tmp_path))) == []
    at = page("verbs")
    ran(at.selectbox(key="set_model_item").set_value(1))
    (line,) = lines(at)
    assert line.startswith(messages.WORDS_READ.format(words="[CLS] the cats on the mat"))
    assert line.endswith("[PAD] [PAD]")
    words = [f"t{k}" for k in range(100)]
    long = Taken("m", words, calls=[call_of("decoder", 0, 100, 100)])
    (line,) = lines(page(content=file_of(long, tmp_path)))
    read = " ".join(words[:60]) + messages.WORDS_IN_ALL.format(count=100)
    assert line == messages.WORDS_READ.format(words=read)


def test_notes_say_what_was_not_run_and_which_words_stand_nowhere(tmp_path):
    taken = two_stacks(
        missed=["m.odd"], not_run=[f"tower.{k}" for k in range(30)], tokens=["a", "b"]
    )
    content = file_of(taken, tmp_path)
    at = page(content=content)
    assert messages.MODULES_NOT_CAPTURED.format(names="m.odd") in said(at)
    names = ", ".join(f"tower.{k}" for k in range(20)) + messages.AND_MORE.format(count=10)
    assert messages.MODULES_NOT_RUN.format(names=names) in said(at)
    note = messages.ONE_LIST_FOR_MANY.partition("{tokens}")[0].format(count=2)
    assert note in said(at)
    ran(at.switch_page("attention/pages/long_context.py"))
    ran(at.selectbox(key="set_long_source").set_value("model"))
    ran(at.button(key="long_look").click())
    assert note in said(at)


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "over 100 times"),
        (0.0099, "over 100 times"),
        (0.048, "20 times"),
        (0.4, "2.5 times"),
        (0.51, "1.9 times"),
        (1, "just"),
    ],
)
def test_how_much_more_rounding_could_make_is_never_said_too_large(share, said):
    assert times(share) == said
    if share >= 0.01 and said != "just":
        assert float(said.split()[0]) <= 1 / share < float(said.split()[0]) + 1


# ---- a reload ----------------------------------------------------------------


def in_another_session(at):
    """The page by the address that it has, as after a reload or a restart of the server."""
    return opened(PAGE, **link_of(at))


MISSED = messages.UPLOAD_IS_MISSED


def test_an_example_that_was_open_is_open_after_a_reload():
    at = in_another_session(page("verbs"))
    assert len(buttons(at)) == len(buttons(page("verbs"))) and MISSED not in said(at)


def test_a_file_that_was_open_is_missed_after_a_reload_in_a_sentence(tmp_path):
    content = file_of(recorded("bert"), tmp_path)
    at = page(content=content)
    assert MISSED not in said(at) and len(buttons(at)) == 8
    again = in_another_session(at)
    assert MISSED in said(again) and component(again, "model_maps") is None
    choose(again, content)
    assert MISSED not in said(again) and len(buttons(again)) == 8
    again = in_another_session(again)
    ran(again.button(key="model_example_pronoun").click())
    assert MISSED not in said(again) and len(buttons(again)) == 30


def test_what_was_missed_can_be_closed(tmp_path):
    at = in_another_session(page(content=file_of(recorded("bert"), tmp_path)))
    ran(at.button(key="model_close").click())
    assert MISSED not in said(at) and MISSED not in said(in_another_session(at))


def test_back_and_forward_go_by_what_was_open(tmp_path):
    content = file_of(recorded("bert"), tmp_path)
    at = page("pronoun")
    addresses = [link_of(at)]
    choose(at, content)
    addresses.append(link_of(at))
    for address, many in ((0, 30), (1, 8), (0, 30)):
        for name in [*at.query_params]:
            del at.query_params[name]
        for name, value in addresses[address].items():
            at.query_params[name] = value
        assert len(buttons(ran(at))) == many and MISSED not in said(at)
    choose(at, content)  # the same file once more
    assert len(buttons(at)) == 8


def test_what_is_open_stays_beside_another_example_of_explore():
    at = page("pronoun")
    ran(at.switch_page(EXPLORE))
    ran(at.button(key="reset").click())
    ran(at.switch_page(PAGE))
    assert len(buttons(at)) == 30


# ---- a capture that is too large ---------------------------------------------


def test_a_capture_too_large_for_this_page_is_led_to_long_context(tmp_path):
    """Not to lines that cut a layer out of a checkpoint."""
    Q, K = np.random.default_rng(1).standard_normal((2, 1, 1, 3000, 4)).astype("f4")
    call = replace(load("pronoun").calls[0], Q=Q, K=K, V=K, output=Q, allowed=None, heads=())
    Taken("m", calls=[call]).save(tmp_path / "large.safetensors", large=True)
    content = (tmp_path / "large.safetensors").read_bytes()
    at = page(content=content, name="large.safetensors")  # more weights than are drawn
    too_many = messages.TOO_MANY_CAPTURED_WEIGHTS.format(found="9,000,000", limit="8,388,608")
    assert f"{too_many}. {messages.LONG_CONTEXT_OPENS_IT}" in said(at)
    assert all("safe_open" not in code.value for code in at.code)
    assert messages.CAPTURE_LESS in said(at)
    ran(at.button(key="model_long").click())
    assert at.selectbox(key="set_long_source").value == "file"
