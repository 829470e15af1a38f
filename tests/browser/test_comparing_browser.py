"""Conventions and Check yours in a real browser, with the worked examples."""

import messages
import numpy as np
from browser.dashboard import appears, until

from attention.session.compare import check_yours as checks
from attention.session.compare import compare_frameworks
from attention.session.edit.changes import set_mask
from attention.session.state.examples import EXAMPLES
from attention.vocabulary.sentences import capital


def settings_of(example: str, mask: str | None):
    settings = EXAMPLES[example].build()
    return set_mask(settings, mask) if mask else settings


def test_conventions_shows_both_sides_and_passes_the_mask_as_asked(visit):
    dashboard = visit().open("conventions", example="random-qkv", mask="causal")
    settings = settings_of("random-qkv", "causal")
    until(dashboard.page.get_by_text(messages.TRUE_MEANS_HIDE))
    for label, handed in (
        ("as a boolean array", "array"),
        ("as the library's look-ahead switch", "switch"),
    ):
        if handed == "switch":
            choice = dashboard.page.get_by_text(label, exact=True)
            dashboard.after(choice.click)
        move = compare_frameworks.between(settings, handed)
        for who, answer in (("ours", move.a), ("theirs", move.b)):
            shown = dashboard.numbers(f"weights_{who}")
            assert np.array_equal(shown, answer.weights, equal_nan=True), label
            assert np.array_equal(dashboard.numbers(f"output_{who}"), answer.output, equal_nan=True)
    assert dashboard.painted("weights_ours", "painted.corner") == ["key →", "query ↓"]


def test_the_two_libraries_are_in_the_link_and_change_places(visit):
    dashboard = visit().open("conventions", move_from="jax", move_to="onnx_23")
    dashboard.after(lambda: dashboard.page.get_by_role("button", name="Swap").click())
    dashboard.page.wait_for_url("**/conventions?*move_from=onnx_23*move_to=jax*")
    dashboard.page.reload()
    box = dashboard.page.locator(".st-key-set_move_from input")
    until(box)
    assert "ONNX Attention" in dashboard.page.locator(".st-key-set_move_from").inner_text() + (
        box.input_value()
    )


def checking(visit, **link):
    return visit().open("check", ready=".st-key-set_check_output textarea", **link)


def fill(dashboard, name: str, text: str) -> None:
    """Type into a box and leave it."""
    box = dashboard.page.locator(f".st-key-set_check_{name} textarea")
    box.fill(text)
    box.press("Control+Enter")


def bench_of(example: str, mask: str | None = None):
    return checks.bench_of(checks.from_settings(settings_of(example, mask)))


def test_a_planted_mistake_is_found_and_its_first_stage_drawn(visit):
    dashboard, bench = (
        checking(visit, example="sentence", mask="causal"),
        bench_of("sentence", "causal"),
    )
    mistake = dashboard.page.locator(".st-key-set_check_plant input")
    mistake.fill("the heads are split")
    mistake.press("Enter")
    dashboard.page.locator(".st-key-check_planted button").first.click()
    title = capital(messages.HEADS_BY_RESHAPE)
    found = messages.ALL_AGREE_WITH.format(title=title, digits="").strip()
    until(dashboard.page.get_by_text(found))
    dashboard.page.wait_for_selector(".board[data-tag]")
    wrong = next(d for d in bench.applicable if d.name == "split: reshaped")
    assert np.array_equal(dashboard.numbers("Q_theirs"), bench.run((wrong,))["Q"][0])
    dashboard.after(
        lambda: (
            dashboard.page.locator(".st-key-set_check_head").get_by_text("1", exact=True).click()
        )
    )
    assert np.array_equal(dashboard.numbers("Q_theirs"), bench.run((wrong,))["Q"][1])


def test_what_cannot_be_read_or_used_is_refused_in_a_sentence_and_changes_nothing(visit, tmp_path):
    dashboard = checking(visit)
    box = dashboard.page.locator(".st-key-set_check_weights textarea")
    fill(dashboard, "weights", "<img src=x onerror=alert(1)>")
    until(dashboard.page.get_by_text(messages.NO_NUMBERS.format(place="Your weights")))
    assert box.input_value() == "<img src=x onerror=alert(1)>"
    fill(dashboard, "weights", "")
    fill(dashboard, "output", "5 7 5 5")
    begin = messages.CHECKED_SHAPE.partition("{shape}")[0].format(place="Your output")
    until(dashboard.page.get_by_text(begin.strip()))
    file = tmp_path / "mine.npy"
    file.write_bytes(b"\x93NUMPY")
    dashboard.page.get_by_text("From a file").click()
    dashboard.page.locator(".st-key-check_file input[type=file]").set_input_files(file)
    dashboard.page.locator(".st-key-check_use_output button:enabled").first.click()
    refusal = messages.UNKNOWN_NPY_VERSION.format(place="mine.npy", version="missing")
    until(dashboard.page.get_by_text(refusal))
    assert dashboard.page.locator(".st-key-set_check_output textarea").input_value() == "5 7 5 5"


def test_numbers_come_from_files_and_beside_an_unreadable_array_wait_for_a_yes(visit, tmp_path):
    dashboard, there = checking(visit, example="random-qkv"), bench_of("random-qkv")
    files = [tmp_path / name for name in ("mine.txt", "mine.npy", "mine.npz")]
    files[0].write_text(str(there.right["weights"]))
    np.save(files[1], there.right["weights"])
    np.savez(files[2], weights=there.right["weights"], notes=np.array([["a"]]))
    dashboard.page.get_by_text("From a file").click()
    press = dashboard.page.locator(".st-key-check_use_weights button:enabled").first

    def use(file, answer: str) -> None:
        """Upload a file and press; again, where the page had not shown it and so did nothing."""
        dashboard.page.locator(".st-key-check_file input[type=file]").set_input_files(file)
        until(dashboard.page.locator(f".st-key-check_file [title='{file.name}']"))
        found = dashboard.page.get_by_text(answer)
        for _ in range(10):
            dashboard.idle()
            press.click()
            if appears(found):
                break
        until(found)
        dashboard.idle()

    for file, digits in zip(files[:2], (8, 16), strict=True):
        right = messages.NUMBERS_ARE_RIGHT.format(digits=f"{digits} digits")
        use(file, right)
    fill(dashboard, "weights", "")
    until(dashboard.page.get_by_text(right), "detached")
    reasons = messages.UNSUPPORTED_DTYPE.format(place="mine.npz, notes", name="text")
    reasons += f" {messages.TICK_AND_PRESS_AGAIN.format(label='Continue with the other arrays')}"
    use(
        files[2],
        messages.SOME_ARRAYS_UNREADABLE.format(unread=1, arrays=2, reasons=reasons, more=""),
    )
    assert dashboard.page.locator(".st-key-set_check_weights textarea").input_value() == ""
    box = dashboard.page.locator(".st-key-set_check_others")
    box.locator("label").click()
    until(box.locator("input:checked").first, "attached")
    press.click()
    until(dashboard.page.get_by_text(right))
