"""Real model by Streamlit's AppTest: what is opened, its proof, its maps, and on to Explore."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from models.test_recorded import recorded
from pages.test_check_page import opened, ran, said
from pages.test_explore import link_of
from pages.test_helps import check
from safetensors.numpy import save as safetensors

from attention.figures.maps import small_map
from attention.limits import MAX_MAPS
from attention.models.examples import load, surveyed
from attention.models.snippet import LINES, SNIPPET
from attention.models.survey import MEASURES
from attention.models.taken import Call, Taken
from attention.pages.chooser import ChosenFile
from attention.session.about import behind

PAGE, EXPLORE = "attention/pages/real_model.py", "attention/pages/explore.py"


def page(example=None, content: bytes = b"", name: str = "run.safetensors"):
    at = opened(PAGE)
    if example:
        ran(at.button(key=f"model_example_{example}").click())
    if content:
        choose(at, content, name)
    return at


def choose(at, content: bytes, name: str = "run.safetensors"):
    file = ChosenFile(name, len(content), content)
    at.session_state["visit"].page_values["model_file_chosen"] = 1, (file,)
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

    from attention.pages import maps

    def show(key, groups, on_pressed):
        on_pressed(sent)

    with patch.object(maps, "show", show):
        at.run()
    return at


def test_with_nothing_open_the_lines_to_capture_stand_there():
    at = page()
    assert [code.value for code in at.code] == [LINES.strip(), SNIPPET.strip()]
    assert component(at, "model_maps") is None and said(at) == ""


def test_an_example_shows_every_head_by_layer_with_its_map_number_and_proof():
    at = page("pronoun")
    assert "30 heads of 6 layers, computed again in float64" in said(at)
    assert "equal to the model’s own to 7e−7, at most 5% of what rounding in float32" in said(at)
    assert [group["title"] for group in groups(at)] == [f"Layer {k}" for k in range(6)]
    first = groups(at)[3]["buttons"][0]
    assert (first["name"], first["lines"]) == ("head 1", ["entropy 1.25", "= model to 2e−7"])
    assert first["says"] == (
        "layer 3, head 1: entropy 1.25; equal to the model to 2e−7. Opens on Explore."
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
    ran(at.button_group(key="set_model_order").set_value("by this number"))
    assert any(MEASURES[measure].sentence in html.proto.body for html in at.get("html"))
    found = surveyed("pronoun")
    sign = -1 if MEASURES[measure].largest_first else 1
    ordered = sorted(found.heads, key=lambda head: sign * head.measures[measure])
    wanted = [f"{head.place} 0 {head.head}" for head in ordered]
    assert [button["id"] for button in buttons(at)] == wanted
    assert [button["name"] for button in buttons(at)][0] == (
        f"layer {ordered[0].layer} · {ordered[0].number}"
    )


def test_layers_heads_and_items_are_chosen_and_the_maps_are_a_part_at_a_time():
    at = page("verbs")
    assert at.selectbox(key="set_model_item").options[1].startswith("2: [CLS] the cats on")
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
    assert any("72 of 120 heads." in html.proto.body for html in at.get("html"))
    ran(at.selectbox(key="set_model_part").set_value(2))
    assert [group["title"] for group in groups(at)] == ["Layer 1", "Layer 2"]
    assert len(at.session_state["visit"].page_values["model_maps"]) == 48


def test_a_capture_that_does_not_agree_says_which_head_and_what_explains_it(tmp_path):
    call = recorded("gpt2")[0]
    wrong = Taken("mine", calls=[replace(call, scale=1.0), *recorded("gpt2").calls[1:]])
    at = page(content=file_of(wrong, tmp_path))
    assert "1 of 2 calls give another output than the model’s own" in said(at)
    assert "most of all item 0, head " in said(at) and "scale" in said(at)
    assert [button["is_wrong"] for button in buttons(at)] == [True] * 4 + [False] * 4
    assert buttons(at)[0]["lines"][1].startswith("off by 0.")


def test_other_files_are_a_sentence_and_leave_what_is_open():
    at = page("pronoun")
    choose(at, safetensors({"q.weight": np.eye(2)}), "model.safetensors")
    assert "model.safetensors holds a model’s weights and no capture" in said(at)
    assert "30 heads of 6 layers" in said(at)
    ran(at.button(key="model_data").click())
    assert at.session_state["visit"].page_values["below"] == "Your data"
    assert at.text_area(key="set_load_text") is not None  # of Explore
    ran(at.switch_page(PAGE))
    choose(at, b"junk", "x.npz")
    assert "x.npz is no .safetensors file, or cut off." in said(at)
    choose(at, b"\x80\x04junk", "model.pt")
    assert "is a pickle" in said(at) and len(at.code) == 1


def test_a_head_that_is_pressed_stands_on_explore_and_the_page_keeps_its_capture():
    at = page("pronoun")
    pressed(at, {"id": "3 0 0"})
    ran(at)
    s = at.session_state["visit"].settings
    np.testing.assert_array_equal(s.matrices["Q"].values, load("pronoun")[3].Q[0, 0])
    assert list(s.tokens) == load("pronoun").tokens and behind(s) == ()
    assert "Layer 3, head 1, of sentence-transformers/all-MiniLM-L6-v2, counted from 0" in said(at)
    assert "equal to the model’s own to 2e−7" in said(at)
    assert at.selectbox(key="set_scale_kind") is not None  # it is Explore
    ran(at.switch_page("attention/pages/compare.py"))
    ran(at.switch_page(EXPLORE))
    assert "equal to the model’s own to 2e−7" in said(at)  # as long as it is that head
    ran(at.selectbox(key="set_scale_kind").set_value("none"))
    assert "equal to the model’s own" not in said(at)
    ran(at.switch_page(PAGE))
    assert len(buttons(at)) == 30


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
    assert "Layers here have a bias set for each score by itself." in said(at)
    pressed(at, {"id": "0 0 1"})
    ran(at)
    assert "Explore has no bias set for each score by itself, which this layer of" in said(at)


def test_a_head_of_t5_stands_on_explore_with_its_table(tmp_path):
    at = page(content=file_of(recorded("t5"), tmp_path))
    assert "Explore has no" not in said(at)
    pressed(at, {"id": "0 0 1"})
    ran(at)
    assert at.session_state["visit"].settings.parts == ("relative",)


def test_a_head_too_long_for_the_board_is_refused_on_the_page(tmp_path):
    at = page(content=file_of(many(heads=1, layers=1, n=2049), tmp_path))
    before = at.session_state["visit"].settings
    pressed(at, {"id": "0 0 0"})
    ran(at)
    assert "This head has 2,049 queries and 2,049 keys; Explore shows 2,048 of each" in said(at)
    assert at.session_state["visit"].settings is before and len(buttons(at)) == 1


def test_one_head_across_layers_is_a_board_and_a_figure_to_save():
    at = page("pronoun")
    ran(at.toggle(key="set_model_layers").set_value(True))
    ran(at.selectbox(key="set_model_across").set_value(8))
    panes = json.loads(component(at, "model_board"))["panes"]
    assert [pane["symbol"] for pane in panes] == [f"Layer {k}, head 8" for k in range(6)]
    assert panes[0]["rows"][:3] == ["[CLS]", "the (1)", "animal"]
    ran(at.toggle(key="set_paper_open_attention_across_layers").set_value(True))
    assert at.get("download_button")
    figure = at.session_state["visit"].page_values["paper_saved"][0]
    drawn = [each.get_array() for axes in figure.axes for each in axes.collections]
    for call, head in ((call, call.trace(0, 3).weights) for call in load("pronoun")):
        assert any(M is not None and np.array_equal(np.ravel(M), head.ravel()) for M in drawn), call


def test_what_is_open_can_be_closed_and_a_file_taken_away(tmp_path):
    at = page("pronoun")
    ran(at.button(key="model_close").click())
    assert len(at.code) == 2 and component(at, "model_maps") is None
    choose(at, file_of(recorded("bert"), tmp_path))
    assert len(buttons(at)) == 8 and at.button(key="model_close")
    at.session_state["visit"].page_values["model_file_chosen"] = 2, ()
    assert component(ran(at), "model_maps") is None


# ---- a reload ----------------------------------------------------------------


def in_another_session(at):
    """The page by the address that it has, as after a reload or a restart of the server."""
    return opened(PAGE, **link_of(at))


MISSED = "What was uploaded is neither in the address nor in this session: upload the file again"


def test_an_example_that_was_open_is_open_after_a_reload():
    at = in_another_session(page("verbs"))
    assert len(buttons(at)) == len(buttons(page("verbs"))) and MISSED not in said(at)
    ran(at.button(key="model_close").click())
    assert component(in_another_session(at), "model_maps") is None


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


def test_a_capture_too_large_for_this_page_is_led_to_long_context(tmp_path, monkeypatch):
    """Not to lines that cut a layer out of a checkpoint."""
    Q, K = np.random.default_rng(1).standard_normal((2, 1, 1, 3000, 4)).astype("f4")
    call = replace(load("pronoun").calls[0], Q=Q, K=K, V=K, output=Q, allowed=None, heads=())
    Taken("m", calls=[call]).save(tmp_path / "large.safetensors", large=True)
    content = (tmp_path / "large.safetensors").read_bytes()
    at = page(content=content, name="large.safetensors")  # more weights than are drawn
    assert "9,000,000 weights of all heads; at most 8,388,608 are shown. Long context" in said(at)
    for size, opens in ((20 * 2**20, True), (200 * 2**20, False)):
        at = page()
        file = ChosenFile("run.safetensors", size, content[: 2**17])
        at.session_state["visit"].page_values["model_file_chosen"] = 1, (file,)
        ran(at)
        assert "run.safetensors is a capture of" in said(at)
        assert ("Long context opens it" in said(at)) == opens
        assert all("safe_open" not in code.value for code in at.code)
        assert "layers=, heads=, queries= or calls=" in said(at)
    at = page(content=content, name="large.safetensors")
    ran(at.button(key="model_long").click())
    assert at.selectbox(key="set_long_source").value == "file"
