"""Compare through Streamlit's AppTest: A and B by their own runs, and what is said of them."""

import csv
import io
from dataclasses import replace
from html import escape
from urllib.parse import parse_qsl

import messages
import numpy as np
import pytest
from pages.conftest import link_of, opened_at, ran, settings_of, words
from pages.test_check_page import head, numbers, panes

from attention import RMSNorm
from attention.explain import beside
from attention.explain.arithmetic import cell
from attention.exports import bounds
from attention.exports import pairs as files
from attention.models.examples import load
from attention.models.taken import Taken
from attention.pages.frame import pieces, state, store
from attention.session.bring.captured import with_head
from attention.session.compare import pair
from attention.session.edit import changes, editing
from attention.session.edit.changes import set_mask
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.vocabulary.sentences import capital

PAGE = "attention/pages/compare.py"
CAT = EXAMPLES["cat-sat"].build()
CAT_STAGES = view(CAT, run(CAT)).stages


def opened(settings):
    return opened_at(PAGE, **links.write(settings))


def test_each_stage_stands_as_a_as_b_and_as_what_b_is_more():
    at = opened(pair.compared(pair.Pair(CAT, set_mask(CAT, "causal"))))
    shown = panes(at)
    a, b = (view(s, run(s)).stages for s in (CAT, set_mask(CAT, "causal")))
    for stage in ("weights", "output"):
        assert np.array_equal(numbers(shown[f"{stage}_a"]), a[stage])
        ours = numbers(shown[stage])
        seen = ~np.isnan(ours)
        assert np.array_equal(ours[seen], b[stage][seen])
        assert np.array_equal(numbers(shown[f"{stage}_difference"]), b[stage] - a[stage])
    assert "X" not in shown
    ran(at.button_group(key="set_below_compare").set_value("What changed"))
    notes = " ".join(note.value for note in at.caption) + words(at)
    alike = "X, W_Q, W_K, W_V, Q, K, V, scores, scaled"
    assert messages.ALIKE_TO_THE_BIT.format(stages=alike) in notes
    assert "<li>mask: none → look-ahead (causal)</li>" in words(at)


def test_captured_heads_are_named_in_the_page_and_in_the_names_of_files():
    taken = load("pronoun")
    one, other = (with_head(CAT, taken, taken[k], 0, 0) for k in (1, 3))
    causal = replace(one, mask="causal")
    at = opened(pair.compared(pair.Pair(one, causal)))
    called, stem = changes.name_of(one)
    assert "layer1" in stem and messages.BOTH_SHOW.format(head=called) in words(at)
    assert panes(at)["weights"]["filename"] == f"attention_compare_{stem}_mask_weights"
    at = opened(pair.compared(pair.Pair(one, other)))
    said = messages.EACH_SHOWS.format(a=called, b=changes.name_of(other)[0])
    assert said in words(at)
    at = opened(pair.compared(pair.Pair(CAT, set_mask(CAT, "causal"))))
    assert called not in words(at)


def test_heads_of_finished_weights_are_called_weights():
    taken = Taken.of_weights(np.full((2, 1, 2, 3, 3), 1 / 3), tokens=["a", "b", "c"], model="mine")
    one, other = (with_head(CAT, taken, taken[0], 0, head) for head in (0, 1))
    at = opened(pair.compared(pair.Pair(one, other)))
    said = messages.EACH_SHOWS.format(a=changes.name_of(one)[0], b=changes.name_of(other)[0])
    assert said.replace("Q, K, V", "Weights") in words(at)
    at = opened(
        pair.compared(pair.Pair(with_head(CAT, load("pronoun"), load("pronoun")[1], 0, 0), other))
    )
    assert f"; weights of B: {changes.name_of(other)[0]}." in words(at)


def test_it_opens_with_a_comparison_and_the_address_and_explore_keep_what_was_set():
    at = opened(CAT)
    assert at.button_group(key="set_preset").value == "scale"
    assert "<li>scale: 1/√d_k → 1</li>" in words(at)
    shown, (a, b) = panes(at), pair.views(pair.PRESETS["scale"].make(CAT))
    for stage in ("weights", "output"):
        assert np.array_equal(numbers(shown[f"{stage}_a"]), a.stages[stage])
        assert np.array_equal(numbers(shown[stage]), b.stages[stage])
    # where nothing is masked, the masked scores only repeat the scaled ones
    assert [name for name in shown if name in CAT_STAGES] == ["scaled", "weights", "output"]
    assert shown["weights_difference"]["symbol"] == "weights, B − A"
    assert links.read(link_of(at)) == (CAT, [])
    at.slider(key="set_digits").set_value(4).run()
    assert at.button_group(key="set_preset").value == "scale"
    assert links.read(link_of(at)) == (replace(CAT, digits=4), [])
    ran(at.switch_page("attention/pages/explore.py"))
    assert settings_of(at) == replace(CAT, digits=4)
    ran(at.switch_page(PAGE))
    assert at.button_group(key="set_preset").value == "scale"


def test_what_is_changed_of_the_first_comparison_is_kept_and_an_own_pair_is_shown_first():
    at = opened(CAT)
    at.selectbox(key="set_mask").set_value("causal").run()
    first = pair.PRESETS["scale"].make(CAT)
    own = pair.Pair(first.a, set_mask(first.b, "causal"))
    assert pair.pair_of(settings_of(at)) == own
    assert links.read(link_of(at)) == (settings_of(at), [])
    for page in ("attention/pages/explore.py", PAGE):
        ran(at.switch_page(page))
        assert pair.pair_of(settings_of(at)) == own
    at = opened(pair.compared(pair.Pair(CAT, CAT)))
    assert at.button_group(key="set_preset").value is None
    at = opened(replace(CAT, scale=0.3))
    at.button_group(key="set_preset").set_value("mask").run()
    assert pair.pair_of(settings_of(at)) == pair.PRESETS["mask"].make(replace(CAT, scale=0.3))


def opened_alike(settings):
    """Open the page, and make B equal to A."""
    at = opened(settings)
    at.button(key="only_a").click().run()
    return at


def test_nothing_pinned_says_what_to_do():
    at = opened_alike(CAT)
    shown, ours = panes(at), view(CAT, run(CAT)).stages
    assert list(shown) == list(ours)
    assert {pane["edit"] for name, pane in shown.items() if name in CAT.matrices} == {"cells"}
    assert messages.A_AND_B_ARE_THE_SAME in words(at)
    assert all(at.button(key=key).disabled for key in ("pin", "swap", "only_a"))


def pressed(at, key):
    at.button(key=key).click().run()
    assert not at.exception
    return settings_of(at)


@pytest.mark.parametrize("name", pair.PRESETS)
def test_a_press_makes_each_comparison_and_the_link_opens_it_again(name):
    at = opened(CAT)
    at.button_group(key="set_preset").set_value(name).run()
    assert not at.exception
    set_to = settings_of(at)
    assert links.read(links.write(set_to)) == (set_to, [])
    made = pair.PRESETS[name].make(CAT)
    assert (set_to.pinned, replace(set_to, pinned=None, mistake="")) == (made.a, made.b)
    assert set_to.mistake == made.mistake
    assert at.button_group(key="set_preset").value == name
    assert pair.PRESETS[name].sentence in words(at)


@pytest.mark.parametrize("name", pair.PRESETS)
def test_a_sentence_an_example_and_what_is_drawn_go_to_both_while_a_comparison_is_selected(name):
    at = opened(CAT)
    at.button_group(key="set_preset").set_value(name).run()
    ran(at.text_input(key="set_sentence").set_value("a dog ran off"))
    said = changes.set_sentence(CAT, "a dog ran off")
    assert_compares(at, name, said)
    assert at.text_input(key="set_sentence").value == "a dog ran off"
    assert not [box for box in at.text_input if box.key == "set_second_sentence"]
    ran(at.slider(key="set_digits").set_value(4))
    drawn = pair.pair_of(pressed(at, "randomize")).a.matrices
    assert not np.array_equal(drawn["W_Q"].values, said.matrices["W_Q"].values)
    assert_compares(at, name, replace(said, digits=4, matrices=drawn))
    at.session_state["numbers"] = True
    ran(at)
    ran(at.selectbox(key="set_vectors").set_value("normal"))
    begun = replace(said, digits=4, matrices=drawn)
    assert_compares(at, name, editing.set_vectors(begun, "normal"))
    at.session_state["examples_cat-sat"] = True
    ran(at)
    pressed(at, "example_sentence")
    assert_compares(at, name, state.example(replace(CAT, digits=4), "sentence"))
    ran(at.text_input(key="set_sentence").set_value("a dog ran off"))
    pressed(at, "reset")
    assert_compares(at, name, state.example(replace(CAT, digits=4), "sentence"))


def assert_compares(at, name, s):
    """The comparison of that name is selected, and made of these settings."""
    made, now = pair.PRESETS[name].make(s), settings_of(at)
    assert (now.pinned, pair.alone(now), now.mistake) == (made.a, made.b, made.mistake)
    assert at.button_group(key="set_preset").value == name


def test_what_is_looked_at_stays_and_the_next_comparison_is_of_what_the_last_was_made_of():
    causal = set_mask(CAT, "causal")
    at = opened(causal)
    at.button_group(key="set_preset").set_value("mask").run()
    ran(at.slider(key="set_digits").set_value(4))
    at.button_group(key="set_preset").set_value("heads").run()
    assert_compares(at, "heads", replace(causal, digits=4))
    shown = replace(causal, digits=4, query=3, cell=("weights", 3, 1), exercise="mistake")
    shown = replace(shown, exercise_seed=2, answers=("scaled",), tries=(1,))
    at = opened(pair.compared(pair.PRESETS["scale"].make(shown)))
    drawn = pair.pair_of(pressed(at, "randomize")).a.matrices
    assert_compares(at, "scale", replace(shown, matrices=drawn))


def test_a_sentence_the_comparison_cannot_be_made_of_stays_in_its_box_and_changes_nothing():
    at = opened(CAT)
    at.button_group(key="set_preset").set_value("step").run()
    before = settings_of(at)
    ran(at.text_input(key="set_sentence").set_value("hello"))
    assert settings_of(at) == before
    why = messages.NOT_COMPARED.format(title="step with a cache", why=messages.CACHE_OF_ONE_WORD)
    assert why in words(at)
    assert at.text_input(key="set_sentence").value == "hello"


def test_a_comparison_that_is_not_selected_leaves_a_as_it_is():
    wide = set_mask(replace(changes.set_heads(CAT, 2), norm=RMSNorm(whole=True)), "causal")
    palindrome = changes.set_sentence(CAT, "a b a")
    for s, mistake in ((wide, "hiding: after softmax"), (palindrome, "")):
        at = opened(pair.compared(pair.Pair(s, s, mistake)))
        assert at.button_group(key="set_preset").value is None
        ran(at.text_input(key="set_sentence").set_value("a dog ran off"))
        assert settings_of(at).pinned == s
        assert pair.alone(settings_of(at)) == changes.set_sentence(s, "a dog ran off")


def test_in_a_comparison_of_ones_own_another_sentence_goes_to_b():
    causal = set_mask(CAT, "causal")
    at = opened(pair.compared(pair.Pair(replace(CAT, softcap=2.0), causal)))
    at.text_input(key="set_sentence").set_value("a dog ran off").run()
    now = settings_of(at)
    assert now.pinned == replace(CAT, softcap=2.0)
    assert pair.alone(now) == changes.set_sentence(causal, "a dog ran off")


def test_the_first_change_pins_what_was_set_before_and_a_cell_that_is_chosen_does_not():
    at = opened_alike(CAT)
    at.slider(key="set_digits").set_value(4).run()
    assert settings_of(at) == replace(CAT, digits=4)
    at.selectbox(key="set_mask").set_value("causal").run()
    assert settings_of(at).pinned == replace(CAT, digits=4)
    assert settings_of(at).mask == "causal"
    at.selectbox(key="set_scale_kind").set_value("none").run()
    assert settings_of(at).pinned == replace(CAT, digits=4)
    assert "<li>scale: 1/√d_k → 1</li><li>mask: none → look-ahead (causal)</li>" in words(at)
    assert pressed(at, "only_a") == replace(CAT, digits=4)


def test_another_example_and_a_saved_state_are_compared_with_what_is_pinned():
    at = opened(pair.compared(pair.Pair(CAT, CAT)))
    at.session_state["examples_cat-sat"] = True  # the list, opened
    at.run()
    pressed(at, "example_four-words")
    assert (settings_of(at).example, settings_of(at).pinned) == ("four-words", CAT)
    other = replace(CAT, scale=1.0)
    at.button_group(key="set_below_compare").set_value("Your data").run()
    at.text_area(key="set_load_text").set_value(links.to_file(other).decode()).run()
    assert pressed(at, "open_file") == replace(other, pinned=CAT)
    assert "<li>scale: 1/√d_k → 1</li>" in words(at)


def test_swap_and_pin():
    at = opened(pair.compared(pair.Pair(CAT, replace(CAT, scale=1.0))))
    swapped = pressed(at, "swap")
    assert (swapped.scale, swapped.pinned.scale) == (None, 1.0)
    pinned = pressed(at, "pin")
    assert (pinned.scale, pinned.pinned.scale) == (None, None)


def test_a_and_b_are_each_opened_on_explore_by_their_links():
    a = replace(CAT, scale=1.0)
    at = opened(pair.compared(pair.Pair(a, CAT)))
    found = [element.proto for element in at.get("link_button")]
    assert [one.label for one in found] == ["Open A", "Open B"]
    for one, settings in zip(found, (a, CAT), strict=True):
        address, _, link = one.url.partition("?")
        assert address == "./"
        assert links.read(dict(parse_qsl(link))) == (settings, [])


def test_a_cell_is_worked_out_for_both_sides_and_not_where_b_does_something_wrong():
    b = replace(set_mask(CAT, "causal"), cell=("weights", 0, 0))
    at = opened(pair.compared(pair.Pair(CAT, b)))
    at.button_group(key="set_below_compare").set_value("This cell").run()
    both = words(at)
    for side, settings in (("A", CAT), ("B", b)):
        lines = cell(view(settings, run(settings)), "weights", 0, 0)
        assert f"data-cell='{side},weights,0,0'>{escape(chr(10).join(lines))}<" in both
    at = opened(pair.compared(pair.Pair(b, b, pair.AFTER_SOFTMAX)))
    at.button_group(key="set_below_compare").set_value("This cell").run()
    wrong = messages.WRONG_IN_B.format(title=messages.MASK_AFTER_SOFTMAX)
    assert f"data-cell='B,weights,0,0'>{wrong}\n= 0.03<" in words(at)


def test_a_side_without_the_cell_says_so():
    two = changes.set_tokens(CAT, ("the", "cat"), [0, 1])
    longer = replace(EXAMPLES["four-words"].build(), cell=("weights", 3, 3))
    at = opened(pair.compared(pair.Pair(two, longer)))
    at.button_group(key="set_below_compare").set_value("This cell").run()
    assert messages.NO_SUCH_CELL_OF.format(side="A", stage="weights") in words(at)
    assert messages.SIZES_DIFFER.format(name="weights", a="2 × 2", b="4 × 4") in words(at)


@pytest.mark.parametrize(
    "change, without",
    [({"mask": "none"}, messages.NO_ROOM), ({"softmax": False}, messages.NO_ROOM_WITHOUT_SOFTMAX)],
    ids=["no mask", "no softmax"],
)
def test_where_b_cannot_do_wrong_what_it_was_to_it_is_right_and_the_page_says_so(change, without):
    masked = set_mask(CAT, "causal")
    b = replace(masked, **change)
    at = opened(pair.compared(pair.Pair(masked, b, pair.AFTER_SOFTMAX)))
    why = without.format(title=messages.MASK_AFTER_SOFTMAX)
    assert messages.B_IS_RIGHT.format(why=why) in words(at)
    assert "<li>in B" not in words(at)
    before, after = (view(s, run(s)).stages["weights"] for s in (masked, b))
    assert np.array_equal(
        numbers(panes(at)["weights_difference"])[3:, :4], (after - before)[3:, :4]
    )


def test_everything_that_is_compared_can_be_taken_along():
    compared = pair.Pair(CAT, set_mask(CAT, "causal"))
    a, b = pair.views(compared)
    stages = list(beside.stages(a, b))
    lines = list(csv.DictReader(io.StringIO(files.to_csv(compared, a, b, stages).decode())))
    assert "A → B: mask: none → look-ahead (causal)" in lines[0]["origin"]
    cells = 0
    for line in lines:
        stage, i, j = line["stage"], int(line["row"]) - 1, int(line["column"]) - 1
        numbers = []
        for name, side in (("a", a), ("b", b)):
            found = [line[f"{name}{what}"] for what in ("", "_row_label", "_column_label")]
            if stage not in side.stages:
                assert found == ["", "", ""]
                continue
            assert found[1:] == [side.rows(stage)[i], side.columns(stage)[j]]
            numbers.append(float(found[0]))
            assert numbers[-1] == side.stages[stage][i, j]
        if len(numbers) == 2 and np.isfinite(numbers).all():
            assert float(line["b_minus_a"]) == numbers[1] - numbers[0]
        cells += 1
    assert cells == sum(b.stages[both.name].size for both in stages)
    with np.load(io.BytesIO(files.to_npz(compared, a, b, stages))) as arrays:
        assert np.array_equal(arrays["weights_a"], a.stages["weights"])
        assert np.array_equal(arrays["output_b"], b.stages["output"])
        assert arrays["about"][1] == "A → B: mask: none → look-ahead (causal)"


def test_a_file_has_each_word_beside_itself_where_b_has_another_order():
    compared = pair.PRESETS["order"].make(CAT)
    a, b = pair.views(compared)
    stages = list(beside.stages(a, b))
    lines = csv.DictReader(io.StringIO(files.to_csv(compared, a, b, stages).decode()))
    weights = [line for line in lines if line["stage"] == "weights"]
    assert len(weights) == 36
    for line in weights:
        assert line["a_row_label"] == line["b_row_label"]
        i = b.labels["queries"].index(line["b_row_label"])
        j = b.labels["keys"].index(line["b_column_label"])
        assert float(line["b"]) == b.stages["weights"][i, j]


def test_one_comparison_after_another_begins_with_what_one_came_with():
    at = opened(set_mask(CAT, "causal"))
    for name in ("mask", "scale", "fill"):
        at.button_group(key="set_preset").set_value(name).run()
    made = pair.PRESETS["fill"].make(set_mask(CAT, "causal"))
    assert pair.pair_of(settings_of(at)) == made


def test_a_csv_that_too_many_numbers_do_not_fit_into_is_not_offered(monkeypatch):
    monkeypatch.setitem(bounds.MOST, "csv", 10)
    at = opened(pair.compared(pair.Pair(CAT, set_mask(CAT, "causal"))))
    at.button_group(key="set_below_compare").set_value("Export").run()
    offered = {found.proto.id.rsplit("-", 1)[-1]: found for found in at.get("download_button")}
    assert offered["take_csv"].proto.disabled and not offered["take_npz"].proto.disabled
    why = messages.STAGES_TOO_LARGE.partition("{numbers}")[0]
    assert messages.NO_CSV.format(why=why) in words(at)


@pytest.mark.parametrize("whole", [True, False])
def test_the_link_is_said_to_hold_both_only_where_it_does(whole):
    at = opened(pair.compared(pair.Pair(CAT, set_mask(CAT, "causal"))))
    if not whole:
        visit = at.session_state["visit"]
        wide = {name: Matrix(np.random.default_rng(1).normal(size=(4, 300))) for name in "QK"}
        wide = {f"W_{name}": M for name, M in wide.items()}
        visit.settings = pair.compared(pair.Pair(CAT, replace(CAT, matrices=CAT.matrices | wide)))
    ran(at.button_group(key="set_below_compare").set_value("Export"))
    assert (messages.LINK_HOLDS_BOTH in words(at)) == whole
    assert (messages.DO_NOT_FIT_INTO_A_LINK in words(at)) != whole


def test_a_pair_too_large_to_open_again_is_said_before_it_is_lost(monkeypatch):
    """Neither the browser nor a file is given what this page would not read."""
    sent = []
    monkeypatch.setattr(store, "keep", lambda *order, **answers: sent.append(order))
    wide = {"X": changes.draw_embeddings(CAT, 400).matrices["X"]}
    rng = np.random.default_rng(0)
    wide |= {name: Matrix(rng.standard_normal((400, 64))) for name in ("W_Q", "W_K", "W_V")}
    a = replace(CAT, matrices=wide)
    b = a.with_matrix("W_Q", Matrix(rng.standard_normal((400, 64))))
    at = opened_alike(CAT)
    at.session_state["visit"].settings = both = pair.compared(pair.Pair(a, b))
    at.run()
    assert not at.exception and len(sent) == 1 and pieces.KEPT in words(at)
    monkeypatch.setattr(links, "MAX_STATE", len(links.to_file(both)) // 2)
    at.session_state["visit"].settings = both = replace(both, digits=3)
    at.button_group(key="set_below_compare").set_value("Export").run()
    assert not at.exception and len(sent) == 1
    why = messages.STATE_TOO_LARGE.partition("{size}")[0]
    assert f"{messages.NOTHING_IS_KEPT} {capital(why)}" in words(at)
    assert messages.NO_FILE_OF_BOTH.format(why=why) in words(at)
    offered = {found.proto.id.rsplit("-", 1)[-1] for found in at.get("download_button")}
    assert {"take_A_json", "take_B_json", "take_npz"} <= offered and "take_json" not in offered


def test_the_strip_is_of_both_and_the_row_of_its_word_is_framed_in_each():
    masked = set_mask(CAT, "causal")
    at = opened(pair.compared(pair.Pair(CAT, masked)))
    found = head(at)["strip"]
    assert found["query"] == CAT.query == 2
    said = "".join(text for text, _ in found["sentence"])
    assert (
        said
        == "In B, “sat” looks mostly at “cat” (74%) and itself (16%). In A, it gives “cat” 47%."
    )
    assert found["shares"] == ["6→10%", "47→74%", "11→16%", "29%→–", "6%→–", "1%→–"]
    for name in ("weights_a", "weights", "weights_difference"):
        assert ["query", 2, None] in panes(at)[name]["marks"]
    # in another order the word stands elsewhere in A, and is framed there
    tokens = pair.PRESETS["order"].make(CAT).b.tokens
    at_b = next(k for k, word in enumerate(tokens) if CAT.tokens.count(word) == 1 and k > 2)
    at_a = CAT.tokens.index(tokens[at_b])
    assert at_a != at_b
    at = opened(pair.compared(pair.PRESETS["order"].make(replace(CAT, query=at_a))))
    said = "".join(text for text, _ in head(at)["strip"]["sentence"])
    assert said.startswith(f"In A and B, “{tokens[at_b]}”")
    assert ["query", at_a, None] in panes(at)["weights_a"]["marks"]
    assert ["query", at_b, None] in panes(at)["weights"]["marks"]
