"""Exercises in a real browser: filled in by keys, and a mistake that is found."""

import re
import struct

import messages
from browser.dashboard import until

from attention.session.state.links import read
from attention.session.state.run import run, view
from attention.session.teach import planted
from attention.session.teach.by_hand import made
from attention.session.teach.exercise import Exercise, faded
from attention.vocabulary.numbers import number

LINK = {"example": "four-words", "exercise_seed": "3", "asked": "weights.2 output.2"}
SAID = ".st-key-lesson .ask"


def holds(frames: list[bytes], value: float) -> bool:
    """Whether a number was received: as it is printed, or as the eight bytes of a heatmap."""
    text = number(value).encode()
    for frame in frames:
        raw = struct.pack("<d", value)
        printed = re.search(rb"(?<![\d.])" + re.escape(text) + rb"(?!\d)", frame)
        if printed or raw in frame:
            return True
    return False


def test_an_exercise_is_done_by_keys_in_a_hurry_and_kept_in_the_link(visit):
    done = Exercise.of(read(LINK)[0])
    right = [number(done.shown.stages[cell.stage][cell[1:]]) for cell in done.blanks]
    assert [cell.stage for cell in done.blanks] == ["weights"] * 3 + ["output"] * 2
    dashboard, frames = visit(), []
    page = dashboard.page

    def listen(socket):
        socket.on(
            "framereceived",
            lambda got: frames.append(got.encode() if isinstance(got, str) else got),
        )

    page.on("websocket", listen)
    dashboard.open("exercises", **LINK)
    said = page.locator(SAID)
    shown = done.shown.stages["output"]
    assert holds(frames, float(shown[1, 0]))  # what is not blank
    assert not any(holds(frames, float(shown[cell[1:]])) for cell in done.blanks[3:])
    assert dashboard.printed("weights")[2] == ["?", "?", "?"]
    # one wrong, and no pause between any two keys
    dashboard.hover("weights", 2, 0)
    page.mouse.click(*dashboard.place("weights", 2, 0))
    for text in [right[0], "0,9", right[2], "half", right[4]]:
        page.keyboard.type(text.replace("−", "-"))
        page.keyboard.press("Enter")
    until(page.get_by_text(messages.ANSWER_IS_WRONG, exact=True))
    until(page.get_by_text(messages.NOT_AN_ANSWER.format(text="half")))
    dashboard.wait_for("() => document.querySelector('.st-key-lesson h2').innerText[0] === '3'")
    dashboard.idle()
    assert "weights, row bones, column like" in said.inner_text()
    assert messages.STEP_OF_WEIGHTS in said.inner_text()
    assert dashboard.printed("weights")[2] == [right[0], "0,9 ✗", right[2]]
    assert dashboard.printed("output")[2] == ["?", right[4]]
    assert not holds(frames, float(shown[2, 0]))
    # a reload keeps it, and Back takes the last answer away
    page.reload()
    until(page.get_by_text(messages.ANSWER_IS_WRONG, exact=True))
    dashboard.idle()
    assert dashboard.printed("weights")[2] == [right[0], "0,9 ✗", right[2]]
    # the arithmetic, when asked for; and then the rest, from one to the next by Enter
    page.get_by_role("button", name="Show how").click()
    until(page.locator(".board-card .line", has_text=f"= {right[1]}"))
    dashboard.idle()
    page.mouse.click(*dashboard.place("weights", 2, 1))
    page.keyboard.type(right[1])
    page.keyboard.press("Enter")
    page.keyboard.type(right[3].replace("−", "-"))
    page.keyboard.press("Enter")
    until(page.get_by_text(messages.ALL_OF_THEM.format(count=5)))
    dashboard.idle()
    assert dashboard.printed("output")[2] == right[3:]
    dashboard.after(page.go_back)
    until(page.get_by_text("4 of 5"))
    assert dashboard.printed("output")[2] == ["?", right[4]]
    # what is typed as another one is asked for is no answer to that
    page.mouse.click(*dashboard.place("output", 2, 0))
    page.keyboard.type("0.77")
    dashboard.after(lambda: page.get_by_role("button", name="New exercise").click())
    assert dashboard.labels("X") == list(made(4).tokens)
    assert dashboard.printed("weights")[2] == ["?", "?", "?"]
    assert page.url.count("answers") == 0 and "exercise_seed=4" in page.url


def test_after_a_wrong_answer_the_column_of_its_hint_is_marked(visit):
    """Enter has gone on to the next blank by then."""
    dashboard = visit().open("exercises", **LINK | {"asked": "output.2"})
    page = dashboard.page

    def marked():
        """The left edge of the marked column of V, and that of its columns."""
        box = page.locator("[data-stage=V] .board-mark:visible").first.bounding_box()
        columns = [dashboard.place("V", 0, k)[0] for k in (0, 1)]
        return [box["x"] < x < box["x"] + box["width"] for x in columns]

    page.mouse.click(*dashboard.place("output", 2, 0))
    page.mouse.move(5, 5)
    for answer, hint in (("99", [True, False]), ("98", [False, True])):
        page.keyboard.type(answer)
        page.keyboard.press("Enter")
        column = hint.index(True) + 1
        until(page.locator(SAID, has_text=f"column {column} · "))
        dashboard.idle()
        assert marked() == hint


def test_a_blank_that_was_just_chosen_is_filled_in(visit):
    dashboard = visit().open("exercises", **LINK | {"asked": "output.2"})
    page = dashboard.page
    choose = page.get_by_text("Choose the blanks", exact=True)
    choose.click()
    until(page.get_by_text("Click numbers to blank"))
    dashboard.idle().after(lambda: page.mouse.click(*dashboard.place("weights", 0, 0)))
    choose.click()
    until(page.get_by_text("Click a blank"))
    dashboard.idle()
    page.mouse.click(*dashboard.place("weights", 0, 0))
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    until(page.get_by_text("1 of 3"))


def test_the_link_for_a_class_is_copied_and_the_page_stays(visit):
    dashboard = visit().open("exercises", **LINK)
    page = dashboard.page
    page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text }")
    at = page.url
    page.get_by_role("button", name="Link for a class").click()
    until(page.get_by_text("Copied.", exact=True))
    assert "exercise_seed=0" in page.evaluate("copied") and page.url == at
    assert not page.locator(".st-key-exercise_class input:visible").count()


def test_a_mistake_is_found_and_a_pupil_types_a_number(visit):
    found = planted.planted(4)
    dashboard = visit().open(
        "exercises", ready=".st-key-lesson", exercise="mistake", exercise_seed="0"
    )
    page = dashboard.page
    page.locator(".st-key-set_exercise_number input").fill("4")
    page.keyboard.press("Enter")
    until(page.locator(".board[data-tag]"))
    dashboard.idle()
    assert dashboard.labels("X") == list(made(4).tokens)
    stages = page.locator(".st-key-set_planted_stage")
    stages.get_by_text("output", exact=True).click()
    until(page.get_by_text(messages.STAGES_BEFORE_ARE_WRONG.format(stage="output")))
    stages.get_by_text("scaled", exact=True).click()
    first = messages.DIFFERS_FIRST.format(stage="scaled", cell=planted.seen_at(found))
    until(page.get_by_text(first))
    options = page.locator(".st-key-set_planted_mistake")
    options.get_by_text(found.mistake.title, exact=True).click()
    until(page.get_by_text(found.mistake.fix.replace("d_k", "dk")))  # k is below the line
    link = page.get_by_role("link", name="See both on Compare").get_attribute("href")
    assert "mistake=scale" in link
    right = view(made(4), run(made(4)))
    assert faded(right, 1) == ("output",)
    printed = [[number(x) for x in row] for row in found.wrong.stages["scaled"].tolist()]
    assert [[float(t.replace("−", "-")) for t in row] for row in dashboard.printed("scaled")] == [
        [float(t.replace("−", "-")) for t in row] for row in printed
    ]


def test_on_a_phone_a_blank_that_is_tapped_opens_and_the_card_is_about_it(phone):
    page = phone.open("exercises", exercise_seed="1").page
    phone.after(lambda: page.get_by_text("also weights", exact=True).tap())
    canvas = page.locator(".board-pane[data-stage=weights] .board-canvas")
    for column in (1, 0, 2):
        canvas.evaluate("canvas => canvas.scrollIntoView({ block: 'center' })")
        x, y = phone.place("weights", 2, column)
        page.touchscreen.tap(x, y)
        until(page.locator(f".board-card[data-cell='weights,2,{column}']"))
        phone.idle()
        assert page.evaluate("document.activeElement.className") == "board-input"
        page.keyboard.type("0.5")
