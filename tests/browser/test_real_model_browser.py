"""Real model in a real browser: a file is chosen, its maps are painted, one leads to Explore."""

from pathlib import Path

import messages
import numpy as np
from browser.dashboard import until

from attention.models.taken import Call, Taken
from attention.session.bring.captured import with_head
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view

FILE = Path(__file__).parents[1] / "models" / "recorded" / "llama.safetensors"
MAPS = ".maps[data-tag]"
TOPS = "[...document.querySelectorAll('.map')].map(map => map.getBoundingClientRect().top)"
PIXELS = """id => { const canvas = document.querySelector(`[data-map="${id}"] canvas`)
  const { width, height } = canvas
  return [...canvas.getContext('2d').getImageData(0, 0, width, height).data] }"""


def test_a_capture_is_painted_opens_on_explore_by_the_keyboard_and_is_there_after_back(visit):
    taken = Taken.load(FILE)
    dashboard = visit().open("model", ready="[data-testid=stFileUploaderDropzone]", bare=True)
    page = dashboard.page
    until(page.locator(MAPS))  # of the example that the page opens with
    page.locator("input[type=file]").set_input_files(FILE)
    until(page.get_by_role("button", name="Close", exact=True))
    dashboard.idle()
    begin = messages.OUTPUTS_ARE_EQUAL.partition("{difference}")[0]
    assert begin in page.locator(".said").first.inner_text()
    weights = taken[1].trace(0, 3).weights
    what = ", ".join(filter(None, (taken[1].kind, taken[1].module)))
    axes = page.locator(".map").first.locator(".map-frame").inner_text().split()
    assert sorted(axes) == ["key", "query"]

    def shares(id: str) -> np.ndarray:  # the bluer, the larger the weight
        red = np.reshape(page.evaluate(PIXELS, id), (6, 6, 4))[..., 0].astype(float)
        return 255 - red

    seen = np.tri(6, dtype=bool)
    light = shares("1 0 3")
    assert (np.argsort(light[5]) == np.argsort(weights[5])).mean() > 0.6
    assert len(set(light[~seen])) == 1  # hidden, in a colour of their own
    page.emulate_media(color_scheme="dark")
    until(page.locator(".maps[data-drawn=dark]"))
    assert (shares("1 0 3") != light).all()

    page.set_viewport_size({"width": 390, "height": 844})
    wide = "() => document.querySelector('.maps').scrollWidth <= innerWidth"
    dashboard.wait_for(wide)
    page.set_viewport_size({"width": 1440, "height": 900})

    button = page.get_by_role("button", name=f"layer 1 ({what}), head 3:")
    button.focus()
    steps, before = page.evaluate("[history.length, location.href]")
    dashboard.after(lambda: page.keyboard.press("Enter"))
    s = with_head(EXAMPLES["cat-sat"].build(), taken, taken[1], 0, 3)
    np.testing.assert_allclose(
        dashboard.numbers("weights")[seen], view(s, run(s)).stages["weights"][seen], atol=1e-15
    )
    arrived = messages.HEAD_ARRIVED.format(
        head=f"Layer 1 ({what}), head 3", model="LLaMA, fewer key heads"
    )
    assert arrived in dashboard.notice()
    words = ["the₁", "cat", "sat", "on", "the₂", "mat"]
    assert dashboard.labels("Q") == words  # the rows of all stages of a query
    assert dashboard.labels("weights", "columns") == words
    assert page.evaluate("[history.length, location.pathname]") == [steps + 1, "/"]
    page.go_back()
    until(page.locator(MAPS))
    dashboard.idle()
    assert page.url == before
    assert page.locator(".map").count() == 8


def test_the_heads_of_a_layer_stand_in_lines_of_equal_length(visit, tmp_path):
    """Twelve in one line of 1366 pixels, sixteen in two of eight, and all as wide as they may."""
    numbers = np.random.default_rng(0)
    dashboard = visit(width=1366, height=768).open("model", ready=MAPS, bare=True)
    for heads, across in ((12, 12), (16, 8)):
        M = numbers.standard_normal((1, heads, 6, 4)).astype(np.float32)
        call = Call(0, 0, "a", M, M, M, M, 0.5)
        Taken("m", calls=[call]).save(path := tmp_path / f"{heads}.safetensors")
        dashboard.page.locator("input[type=file]").set_input_files(path)
        dashboard.wait_for(f"() => document.querySelectorAll('.map').length === {heads}")
        tops = dashboard.page.evaluate(TOPS)
        assert [tops.count(top) for top in sorted(set(tops))] == [across] * (heads // across)
