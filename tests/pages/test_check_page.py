"""Check yours through Streamlit's AppTest: its inputs, its answer, its refusals."""

from html import escape, unescape

import board_bytes
import messages
import numpy as np
import pytest
from pages.conftest import opened_at, ran, words
from streamlit.testing.v1 import AppTest

from attention.figures.panes.shades import LAST
from attention.session.compare import check_yours as inputs
from attention.session.edit.changes import set_mask, set_sentence
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.vocabulary.sentences import capital

CHECK, EXPLORE = "attention/pages/check.py", "attention/pages/explore.py"


def opened(page=CHECK, **link) -> AppTest:
    return opened_at(page, **link)


def said(at: AppTest) -> str:
    bodies = " ".join(h.proto.body for h in at.get("html") if "class='said" in h.proto.body)
    return bodies.replace("</b>", "").replace("<br>", "")  # the lines of the verdict


def panes(at: AppTest) -> dict[str, dict]:
    found = {}
    for element in at.get("bidi_component"):
        found |= board_bytes.panes_of(element.proto.bytes)
    return found


def head(at: AppTest) -> dict:
    sent = [element.proto.bytes for element in at.get("bidi_component")]
    (board,) = (each for each in sent if b'"panes"' in each)
    return board_bytes.head_of(board)


def numbers(pane: dict) -> np.ndarray:
    """The numbers that are shown, NaN where a cell is hidden or not finite."""
    return np.where(pane["codes"] > LAST, np.nan, pane["values"])


def typed(at: AppTest, name: str, text: str) -> AppTest:
    return ran(at.text_area(key=f"set_check_{name}").set_value(text))


def test_the_page_opens_with_explores_inputs_and_the_shapes_it_wants():
    at = opened()
    answers, stages = at.text_area[:2], at.text_area[3:]
    assert [box.label for box in answers] == ["Your output, 4 × 4", "Your weights, 4 × 4"]
    named = [box.label.split(",")[0] for box in stages]
    assert named == [f"Your {name}" for name in ("Q", "K", "V", "scores", "scaled", "masked")]
    # at first with an example: the output of code with a known mistake, and what is found in it
    assert messages.CHECK_EXAMPLE in words(at)
    bench = inputs.bench_of(inputs.from_settings(EXAMPLES["four-words"].build()))
    wrong = next(d for d in bench.applicable if d.name == "scale: none")
    title = capital(messages.NOT_SCALED)
    assert messages.ALL_AGREE_WITH.format(title=title, digits="").strip() in said(at)
    theirs = numbers(panes(at)["output_given_theirs"])
    np.testing.assert_array_equal(theirs, bench.run((wrong,))["output"])
    ran(at.selectbox(key="set_check_plant").set_value(messages.OVER_QUERIES))
    assert capital(messages.OVER_QUERIES) in said(at)
    at = typed(at, "output", str(bench.right["output"]))
    assert messages.CHECK_EXAMPLE not in words(at) and messages.RIGHT_NUMBERS in said(at)


def test_where_no_mistake_would_be_seen_the_example_is_right():
    at = opened(**links.write(set_sentence(EXAMPLES["four-words"].build(), "hello")))
    assert at.selectbox(key="set_check_plant").value == "none (correct)"
    assert messages.CHECK_RIGHT_EXAMPLE in words(at) and messages.RIGHT_NUMBERS in said(at)


def test_right_numbers_are_declared_right():
    at = opened(example="random-qkv")
    bench = inputs.bench_of(inputs.from_settings(EXAMPLES["random-qkv"].build()))
    at = typed(at, "output", str(bench.right["output"]))
    assert messages.RIGHT_NUMBERS in said(at)
    np.testing.assert_array_equal(numbers(panes(at)["output_given_ours"]), bench.right["output"])


def test_a_mistake_is_named_with_its_stage_its_fix_and_its_heatmaps():
    at = opened(example="random-qkv", mask="causal")
    bench = inputs.bench_of(
        inputs.from_settings(set_mask(EXAMPLES["random-qkv"].build(), "causal"))
    )
    wrong = next(d for d in bench.applicable if d.name == "mask: inverted")
    at = typed(at, "output", inputs.planted(bench, wrong, "output"))
    title = capital(messages.MASK_INVERTED)
    assert messages.ALL_AGREE_WITH.format(title=title, digits=1) in said(at)
    assert escape(messages.MASK_MAY_MEAN_THE_OTHER) in said(at)
    found = panes(at)
    assert list(found) == [
        f"{stage}_{side}"
        for stage in ("masked", "output_given")
        for side in ("ours", "theirs", "difference")
    ]
    ours, theirs = bench.right["output"], bench.run((wrong,))["output"]
    np.testing.assert_array_equal(numbers(found["output_given_difference"]), theirs - ours)
    assert all(pane["sentence"] and pane["alt"] and pane["filename"] for pane in found.values())


def test_a_mistake_chosen_as_the_button_was_pressed_is_the_one_that_is_planted():
    at = opened(example="sentence", mask="causal")
    at.selectbox(key="set_check_plant").set_value(messages.OVER_QUERIES)
    at = ran(at.button(key="check_planted").click())
    title = capital(messages.OVER_QUERIES)
    assert messages.ALL_AGREE_WITH.format(title=title, digits="") in said(at)


def test_what_was_typed_as_the_button_was_pressed_is_what_the_answer_is_made_of():
    at = ran(opened().segmented_control(key="set_check_source").set_value("qkv"))
    for name, text in (("Q", "1 0\n0 1"), ("K", "1 0\n0 1"), ("V", "1\n2")):
        at = typed(at, name, text)
    at.selectbox(key="set_check_plant").set_value("none (correct)")
    at.text_area(key="set_check_V").set_value("3\n5")
    at = ran(at.button(key="check_planted").click())
    assert messages.NUMBERS_ARE_RIGHT.format(digits="16 digits") in said(at)


def test_a_printout_of_r_is_named_with_what_to_save_instead():
    at = typed(opened(), "output", "     [,1] [,2]\n[1,]    1    2\n[2,]    3    4\n")
    assert messages.PRINTOUT_OF_R.format(place="Your output") in unescape(said(at))


def test_what_was_typed_survives_a_visit_to_another_page():
    at = typed(opened(), "output", "1 2\n3")
    assert messages.ROW_LENGTH.format(
        place="Your output", line=2, found=1, plural="", expected=2, first=1
    ) in said(at)
    at = ran(at.switch_page(EXPLORE))
    at = ran(at.switch_page(CHECK))
    assert at.text_area(key="set_check_output").value == "1 2\n3"


def test_pasted_inputs_are_asked_for_and_used():
    at = ran(opened().segmented_control(key="set_check_source").set_value("qkv"))
    assert capital(messages.PASTE_ABOVE.format(names="Q, K, V")) in said(at)
    for name, text in (("Q", "1 0\n0 1"), ("K", "1 0\n0 1"), ("V", "1\n2")):
        at = typed(at, name, text)
    assert at.text_area(key="set_check_output").label == "Your output, 2 × 1"
    at = typed(at, "weights", "0.7311 0.2689\n0.2689 0.7311")
    assert f"{capital(messages.NOT_SCALED)}." in said(at)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1 <script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;…"),
        ("1 $x$", "$x$"),
        ("1 %{z}", "%{z"),
        ("1 ٣", "٣"),
        ("2 1_000", "1_000"),
    ],
)
def test_hostile_text_is_refused_and_shown_as_it_was_typed(text, shown):
    at = typed(opened(), "output", text)
    begin = messages.NOT_A_NUMBER.partition("{found}")[0]
    assert begin.format(place="Your output, line 1, column 2") + shown[:12] in said(at)
    assert "<script>" not in said(at)
    nothing = typed(opened(), "output", "<script>alert(1)</script>")
    assert messages.NO_NUMBERS.format(place="Your output") in said(nothing)


def test_softmax_switched_off_on_explore_is_refused_in_a_sentence():
    at = opened(example="bare-bones")
    if EXAMPLES["bare-bones"].build().softmax:
        pytest.fail("bare-bones is meant to be without softmax")
    assert capital(messages.SOFTMAX_IS_OFF) in said(at)


CAUSAL = {  # softmax of [0.5, 0] is [0.62, 0.38]
    "Q": "1 0\n0.5 0",
    "K": "1.4142135623730951 0\n0 1",
    "V": "10\n20",
    "output": "10\n13.775406687981455",
}


def test_a_look_ahead_mask_that_was_not_chosen_is_named_with_its_place():
    at = ran(opened().segmented_control(key="set_check_source").set_value("qkv"))
    for name, text in CAUSAL.items():
        at = typed(at, name, text)
    assert messages.CHOOSE_THE_MASK.format(mask=messages.LOOK_AHEAD, where="above") in said(at)
    at = ran(at.selectbox(key="set_check_mask_kind").set_value("causal"))
    assert messages.RIGHT_NUMBERS in said(at)
    bench = inputs.bench_of(inputs.from_settings(set_mask(EXAMPLES["sentence"].build(), "causal")))
    at = typed(opened(example="sentence"), "output", str(bench.right["output"].tolist()))
    there = messages.CHOOSE_THE_MASK.format(mask=messages.LOOK_AHEAD, where="on Explore")
    assert there in said(at)


def test_the_masks_control_stands_above_the_boxes():
    at = ran(opened().segmented_control(key="set_check_source").set_value("qkv"))
    keys = [each.key for each in walked(at.main) if getattr(each, "key", None)]
    assert keys.index("set_check_mask_kind") < keys.index("set_check_Q")


def walked(block):
    """The elements of a page in their order."""
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from walked(child)
        else:
            yield child


def stages_printed(bench, names) -> str:
    return "\n\n".join(f"{label}:\n{bench[name]}" for label, name in names.items())


def test_one_paste_fills_the_boxes_of_the_stages_and_the_first_that_differs_is_said():
    bench = inputs.bench_of(inputs.from_settings(EXAMPLES["random-qkv"].build()))
    wrong = bench.run((next(m for m in bench.applicable if m.name == "scale: none"),))
    names = {"QK^T": "scores", "Scaled scores": "scaled", "output": "output"}
    at = typed(opened(example="random-qkv"), "stages", stages_printed(wrong, names))
    at = ran(at.button(key="check_fill").click())
    assert messages.FIRST_THAT_DIFFERS.format(agree="Scores agree", first="scaled") in said(at)
    assert at.text_area(key="set_check_stage_scaled").value and "scaled_given_ours" in panes(at)
    assert (
        at.text_area(key="set_check_output").value
        and not at.text_area(key="set_check_stages").value
    )
    at = typed(at, "stage_scaled", "1 2\n3 4")
    at = typed(at, "output", "")
    shape = messages.STAGE_SHAPE.partition(": ")[2].format(shape="(2, 2)", expected="(4, 4)")
    assert f"Your scaled: {shape}" in said(at)


def test_a_paste_without_a_known_name_is_refused_with_the_names():
    at = typed(opened(example="random-qkv"), "stages", "foo:\n[[1. 2.]]\n\nbar:\n[[1. 2.]]")
    at = ran(at.button(key="check_fill").click())
    known = "scores or scaled or masked or output or weights"
    assert messages.NO_ARRAY_IS_CALLED.format(known=known) in said(at)
