"""What strangers typed stays text: on no page, in no figure and no file does it come alive."""

import io
import json

import messages
import numpy as np
import pytest
from amount import some
from browser.dashboard import CHART, TABS, until

from attention.session.state import links
from attention.session.state.run import run, view
from attention.vocabulary.numbers import rounded

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<b>b</b><a href=//evil.example>x</a>",
    "</script><script>alert(2)</script>",
    "%{z} {{7*7}} $x^2$ ${1+1}",
    "**m** [l](//evil.example) `c` :red[r]",
    '=HYPERLINK("//evil.example")',
    "\\end{bmatrix}\\input{/etc/passwd}",
    '"><svg onload=alert(3)>',
    "שלום עולם",
    "e\u0301\u200d🙂👩\u200d🚀",
    "a\u200bb",
    "' onmouseover='alert(4)",
)
ALIVE = """() => [...document.querySelectorAll(
    '[onerror], [onload], [onmouseover], [src="x"], [href*="evil"], [data*="evil"], ' +
    'iframe, object, embed, math, .katex')]
    .map(node => node.outerHTML.slice(0, 200))
    .concat([...document.querySelectorAll('b, strong, em, code')]
    .filter(node => ['b', 'm', 'c'].includes(node.textContent)).map(node => node.outerHTML))"""


def assert_ticks(dashboard, stage: str) -> None:
    """The labels of the rows are the tokens as typed, as far as there is room."""
    ticks = dashboard.labels(stage)
    assert len(ticks) == len(HOSTILE)
    for tick, token in zip(ticks, HOSTILE, strict=True):
        assert tick == token or (
            tick.endswith("…") and len(tick) > 3 and token.startswith(tick[:-1])
        )


def calm(page) -> list[str]:
    """What has come alive on a page, after a moment in which it could."""
    page.wait_for_timeout(200)
    return page.evaluate(ALIVE)


@pytest.fixture
def stranger(visit, address):
    """A page of hostile tokens: none may come alive, ask for anything or open a dialog."""
    dashboard = visit()
    happened = []
    dashboard.page.on("dialog", lambda dialog: (happened.append(dialog.message), dialog.dismiss()))
    dashboard.page.on(
        "request",
        lambda r: (
            happened.append(r.url)
            if not r.url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))
            else None
        ),
    )
    dashboard.link = {
        "example": "four-words",
        "tokens": json.dumps(HOSTILE)[1:-1],
        "X": ";".join(["1 0 2 1"] * len(HOSTILE)),
        "mask": "causal",
    }
    dashboard.calm = lambda: calm(dashboard.page)
    yield dashboard
    assert happened == []
    assert dashboard.calm() == []


def test_explore_shows_every_token_as_typed_in_every_part_and_in_a_figure(stranger):
    page = stranger.open(**stranger.link).page
    assert links.read(stranger.link)[1] == []
    for i in some(range(len(HOSTILE)), of=6):
        stranger.click("weights", i, 0)
    for tab, part in TABS.items():
        stranger.tab(tab)
        until(page.locator(part).first)
        assert stranger.idle().calm() == []
    stranger.tool("weights", "Show as table")
    heads = page.locator(".board-pane[data-stage=weights] tbody th").all_text_contents()
    assert heads == list(HOSTILE)
    assert_ticks(stranger, "Q")

    def open_list() -> None:
        page.locator(".st-key-set_padding input").focus()
        page.keyboard.press("ArrowDown")

    # a list that was open when the page was drawn anew is opened again
    options = page.get_by_role("listbox").get_by_role("option")
    until(options.first, act=open_list)
    assert options.all_inner_texts()[:2] == ["Select all", HOSTILE[0]]
    page.keyboard.press("Escape")
    until(options.first, "detached")

    # and so does a figure with a title of this kind
    stranger.tab("Export")
    page.locator(".st-key-paper_preview img").wait_for()
    said = f"{HOSTILE[0]} again: " + " ".join(HOSTILE[1:8])
    stranger.write_on_figure("Title", said[:200])
    stranger.idle()
    _, drawing = stranger.download(lambda: page.get_by_role("button", name="Save as SVG").click())
    assert stranger.calm() == []
    page.goto("about:blank")
    page.set_content(drawing.decode())  # as a page that embeds it would
    assert stranger.calm() == []
    texts = " ".join(page.locator("svg text").all_text_contents())
    for token in (HOSTILE[0], HOSTILE[2], HOSTILE[8], HOSTILE[9]):
        assert token[:13] in texts


def test_the_other_pages_show_them_as_text(stranger):
    page = stranger.open("check", ready=".st-key-title h1", **stranger.link).page
    box = page.locator(".st-key-set_check_output textarea")
    until(box)
    box.fill("1 <img/src=x/onerror=alert(1)>")
    page.keyboard.press("Control+Enter")
    until(page.locator(".said", has_text="<img/src=x/onerror=aler…"))  # after the example's verdict
    assert stranger.calm() == []
    stranger.choose_page("Conventions")
    until(page.locator(".board-pane").first)
    assert stranger.idle().calm() == []
    stranger.choose_page("Why √dₖ")
    until(page.locator(CHART).first)
    assert stranger.idle().calm() == []


def test_the_report_draws_them_calmly_without_a_network_and_their_table_comes_in_again(
    stranger, browser, tmp_path
):
    page = stranger.open(**stranger.link).page
    settings, _ = links.read(stranger.link)
    assert settings.tokens == HOSTILE
    stranger.tab("Export")

    def taken(label: str) -> bytes:
        button = page.get_by_role("button", name=label, exact=True)
        return stranger.download(button.click)[1]

    (tmp_path / "report.html").write_bytes(taken("HTML report"))
    matrices = taken("CSV, matrices")
    context = browser.new_context(offline=True)
    report, happened = context.new_page(), []
    report.on("dialog", lambda dialog: (happened.append(dialog.message), dialog.dismiss()))
    report.on("console", lambda message: happened.append(message.text))
    report.on("pageerror", lambda error: happened.append(str(error)))
    report.goto((tmp_path / "report.html").as_uri())
    now = view(settings, run(settings))
    for stage in ("X", "scores", "output"):
        cells = report.locator(f"section:has(#{stage}) td:not(thead td)").all_text_contents()
        texts = rounded(now.stages[stage], settings.digits)
        assert cells == [text for row in texts for text in row], stage
    assert report.locator("td, th", has_text=HOSTILE[0]).count() > 0
    assert calm(report) == []
    assert happened == []
    context.close()
    stranger.after(lambda: stranger.turn_to(example="four-words"))
    stranger.upload("matrices.csv", matrices)  # and in again
    stranger.use()
    assert_ticks(stranger, "X")


def test_names_of_files_and_arrays_are_text(stranger):
    page = stranger.open().page
    buffer = io.BytesIO()
    np.savez(buffer, **{token.replace("/", "-"): np.eye(4) for token in HOSTILE[:8]})
    stranger.upload(f"{HOSTILE[4].replace('/', '-')}{HOSTILE[0]}.npz", buffer.getvalue())
    until(page.locator(".st-key-set_load_pick_X"))
    page.get_by_text("8 arrays").click()
    until(page.locator(".st-key-dock_content table.numbers th", has_text=HOSTILE[0]))
    stranger.choose("set_load_pick_X", f"{HOSTILE[0]}   4 × 4")
    until(page.locator(".st-key-dock_content table.numbers", has_text="X, 4 × 4"))
    assert stranger.calm() == []
    stranger.upload(f"{HOSTILE[0]}.npy", b"\x93NUMPY\x01\x00")
    damaged = messages.DAMAGED_NPY_HEADER.partition("{place}")[2]
    until(page.locator(".said.refused", has_text=damaged))
