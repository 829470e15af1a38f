"""The main journey in a real browser: every number on the screen against the package's."""

import csv
import io
from dataclasses import replace
from datetime import date
from functools import partial
from urllib.parse import parse_qsl, urlsplit
from xml.etree import ElementTree

import messages
import numpy as np
import pytest
from amount import few
from browser.dashboard import until
from PIL import Image

import attention
from attention import self_attention
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.run import run, view
from attention.session.state.validate import check
from attention.vocabulary.sentences import capital

TAG = "[...document.querySelectorAll('.board')].map(board => board.dataset.tag).join()"
COMPUTED = ("Q", "K", "V", "scores", "scaled", "masked", "weights", "output")


def shown(settings) -> dict[str, np.ndarray]:
    """What the browser should hold: the package's stages, with hidden cells as NaN.

    A mask of 0 and −∞ alone is seen in masked, and has no pane.
    """
    now = view(check(settings), run(settings))
    found = dict(now.stages)
    if "mask" in found and not found["mask"][now.allowed].any():
        del found["mask"]
    for name in {"mask", "masked", "weights"} & set(found):
        found[name] = np.where(now.allowed, found[name], np.nan)
    return found


def written(dashboard, stage: str, count: int) -> None:
    """Wait until so many numbers stand in the cells of a pane."""
    dashboard.wait_for(
        "([stage, count]) => document.querySelector("
        "`.board-pane[data-stage=${stage}] .board-canvas`)"
        "?.painted?.texts?.flat().length === count",
        [stage, count],
    )


def agrees(dashboard, settings) -> None:
    for name, matrix in shown(settings).items():
        assert np.array_equal(dashboard.numbers(name), matrix, equal_nan=True), name


def test_every_example_shows_the_numbers_of_the_package(look, subtests):
    dashboard = look(mask="causal")
    for example in few(EXAMPLES):
        with subtests.test(example=example):
            dashboard.after(lambda example=example: dashboard.turn_to(example=example))
            settings = EXAMPLES[example].build()
            if settings.fill == "-inf":
                agrees(dashboard, settings)
            else:
                assert np.array_equal(dashboard.numbers("weights_inf")[0, :1], [1.0])
                assert np.isnan(dashboard.numbers("weights_inf")[2]).all()


def test_the_first_view_holds_formula_and_every_stage_behind_it(look):
    dashboard = look()
    line = dashboard.page.locator(".board-line-of-parts").inner_text()
    assert "softmax(QKᵀ/√dk)V" in "".join(line.split())
    dock = dashboard.page.locator(".st-key-dock").bounding_box()
    for stage in ("Q", "K", "scores", "scaled", "weights", "V", "output"):
        dashboard.front(stage)
        pane = dashboard.page.locator(f".board-pane[data-stage={stage}]:not(.behind)")
        box = pane.bounding_box()
        assert box["y"] + box["height"] <= dock["y"], stage
    assert dashboard.printed("scores") == [
        ["55", "35", "54", "85"],
        ["29", "18", "28", "45"],
        ["41", "26", "40", "63"],
        ["53", "31", "50", "85"],
    ]


def test_the_journey_from_a_typed_number_to_the_downloads(visit):
    dashboard = visit().open()
    settings = EXAMPLES["four-words"].build()

    dashboard.write("X", 0, 0, "0.5")
    X = settings.matrices["X"].values.copy()
    X[0, 0] = 0.5
    settings = settings.with_matrix("X", Matrix(X))
    agrees(dashboard, settings)

    dashboard.initialise("W_V")
    dashboard.choose("set_kind_W_V", "standard normal")
    dashboard.after(lambda: dashboard.page.get_by_role("button", name="Initialise").click())
    settings = settings.with_matrix("W_V", Matrix.rolled((4, 4), Recipe("normal", 4, stream="W_V")))
    agrees(dashboard, settings)

    dashboard.menu("set_mask", "look-ahead (causal)")
    settings = replace(settings, mask="causal")
    agrees(dashboard, settings)
    assert dashboard.printed("masked")[0][1:] == ["−∞", "−∞", "−∞"]

    dashboard.click("scores", 0, 3)
    trace = self_attention(
        X, *(settings.matrices[f"W_{n}"].values for n in "QKV"), allowed=np.tri(4, dtype=bool)
    )
    assert dashboard.result() == f"{trace.scores[0, 3]:.2f}"

    name, picture = dashboard.download(lambda: dashboard.tool("weights", "Download PNG"))
    assert name == "attention_four-words_weights.png"
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(picture[16:20]) == 2700  # 900 pixels, three times the size
    opened = Image.open(io.BytesIO(picture))
    opened.load()  # refuses a wrong checksum
    said = f"attention-stages {attention.__version__}, {date.today()}; "
    assert opened.text["Description"].startswith(said)
    assert messages.OF_AN_EXAMPLE.format(title="Four words, by hand") in opened.text["Description"]

    name, drawing = dashboard.download(lambda: dashboard.tool("scores", "Download SVG"))
    assert name == "attention_four-words_scores.svg"
    root, svg = ElementTree.fromstring(drawing), "{http://www.w3.org/2000/svg}"
    assert root.find(svg + "desc").text == opened.text["Description"]
    texts = [node.text for node in root.iter(svg + "text")]
    assert f"{trace.scores[0, 3]:.2f}" in texts

    dashboard.tab("Export")
    name, content = dashboard.download(
        lambda: dashboard.page.get_by_role("button", name="CSV, one row per cell").click()
    )
    assert name == "attention_four-words_cells.csv"
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    for stage in COMPUTED:
        matrix = getattr(trace, stage)
        values = [float(row["value"]) for row in rows if row["stage"] == stage]
        assert values == matrix.ravel().tolist(), stage

    name, content = dashboard.download(
        lambda: dashboard.page.get_by_role("button", name="NPZ for NumPy").click()
    )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        assert all(np.array_equal(arrays[stage], getattr(trace, stage)) for stage in COMPUTED)


def test_the_address_opens_the_same_view_for_another_visitor(look, visit):
    dashboard = look(example="sentence")
    dashboard.menu("set_mask", "look-ahead (causal)")
    dashboard.click("weights", 4, 1)
    dashboard.wait_for("() => location.search.includes('cell')")
    link = dict(parse_qsl(urlsplit(dashboard.page.url).query))
    settings, notices = links.read(link)
    assert not notices and settings.mask == "causal" and settings.cell == ("weights", 4, 1)
    other = visit().open(**link)
    assert other.tag() == dashboard.tag()
    assert other.cell() == dashboard.cell()
    agrees(other, settings)


def test_view_only_controls_change_no_number(visit):
    dashboard = visit().open()
    before = {stage: dashboard.numbers(stage) for stage in dashboard.stages()}

    def same():
        assert all(
            np.array_equal(dashboard.numbers(stage), matrix) for stage, matrix in before.items()
        )

    slider = dashboard.page.locator(".st-key-set_digits input")
    slider.focus()
    dashboard.after(lambda: dashboard.page.keyboard.press("ArrowRight"))
    same()
    word = dashboard.page.get_by_role("radio", name="w3,")
    dashboard.after(word.click)
    same()
    dashboard.click("weights", 1, 2)
    same()
    dashboard.tool("scores", "Show as table")
    same()


def test_hovering_a_score_marks_its_query_and_its_key(look):
    dashboard = look()
    dashboard.hover("scores", 1, 3)
    assert dashboard.page.locator(".board-tip").inner_text().split() == ["w2", "·", "w4", "45"]
    n = 4  # tokens, and numbers of each
    for stage, row, long in (("Q", 1, "width"), ("K", 3, "height")):  # K is turned over
        box = dashboard.page.locator(
            f".board-pane[data-stage={stage}] .board-mark"
        ).first.bounding_box()
        for column in range(n):
            x, y = dashboard.place(stage, row, column)
            assert box["x"] <= x <= box["x"] + box["width"]
            assert box["y"] <= y <= box["y"] + box["height"]
        short = {"width": "height", "height": "width"}[long]
        assert 2 * box[short] < box[long]


def test_a_redraw_keeps_panes_and_zoom(look):
    dashboard = look()
    canvas = "document.querySelector('.board-pane[data-stage=scores] .board-canvas')"
    dashboard.page.evaluate(f"{canvas}.dataset.mine = 'kept'")
    dashboard.drag(dashboard.place("scores", 0, 0), dashboard.place("scores", 2, 2))
    assert dashboard.part("scores") == [0, 2, 0, 2]
    dashboard.page.locator(".st-key-set_digits input").focus()
    dashboard.after(lambda: dashboard.page.keyboard.press("ArrowRight"))
    assert dashboard.part("scores") == [0, 2, 0, 2]
    assert dashboard.page.evaluate(f"{canvas}.dataset.mine") == "kept"
    dashboard.page.get_by_role("button", name="Zoom out").click()


def test_a_slider_obeys_every_key_in_a_quick_row(look):
    dashboard = look()
    slider = dashboard.page.locator(".st-key-set_digits input")
    slider.focus()
    for _ in range(5):
        dashboard.page.keyboard.press("ArrowRight")
    dashboard.wait_for("() => location.search.includes('digits=7')")
    assert slider.input_value() == "7"


def test_the_board_works_with_the_keyboard_alone(look):
    dashboard = look()
    plot = dashboard.page.locator(".board-pane[data-stage=weights] .board-plot")
    plot.focus()
    for key in ("ArrowRight", "ArrowDown"):
        dashboard.page.keyboard.press(key)
    active = plot.get_attribute("aria-activedescendant")
    assert dashboard.page.locator(f"[id={active}]").text_content() == "w2, w2: 1.4e−6"
    dashboard.after(lambda: dashboard.page.keyboard.press("Enter"))
    until(dashboard.page.locator(".board-card[data-cell='weights,1,1']"))
    assert (
        dashboard.page.evaluate("document.activeElement.closest('.board-pane').dataset.stage")
        == "weights"
    )


def test_each_heatmap_has_a_text_alternative_and_a_table_twin(visit):
    dashboard = visit().open()
    for stage in dashboard.stages():
        alternative = dashboard.page.locator(
            f".board-pane[data-stage={stage}] [role=grid]"
        ).get_attribute("aria-description")
        assert "4 rows, 4 columns: largest" in alternative
    dashboard.tool("scores", "Show as table")
    table = dashboard.page.locator(".board-pane[data-stage=scores] table")
    rows = [row.split() for row in table.locator("tbody tr").all_inner_texts()]
    assert rows[0] == ["w1", "55", "35", "54", "85"]
    dashboard.after(lambda: table.get_by_role("button", name="63").click())
    until(dashboard.page.locator(".board-card[data-cell='scores,2,3']"))


def test_renaming_tokens_leaves_words_and_numbers_in_order(look):
    dashboard = look(example="four-words", query="1")
    dashboard.click("X", 1, 0).idle()
    dashboard.page.keyboard.press("ArrowLeft")  # onto the label
    dashboard.page.keyboard.type("cat")
    dashboard.after(lambda: dashboard.page.keyboard.press("Enter"))
    agrees(dashboard, EXAMPLES["four-words"].build())
    until(dashboard.page.get_by_role("radio", name="cat,", checked=True))
    dashboard.page.locator(".st-key-set_digits input").focus()
    dashboard.after(lambda: dashboard.page.keyboard.press("ArrowRight"))
    assert dashboard.page.locator("[data-testid=stException]").count() == 0


def test_back_undoes_and_a_visit_to_the_other_page_keeps_all(look):
    dashboard = look()
    dashboard.menu("set_mask", "look-ahead (causal)")
    masked = dashboard.tag()
    dashboard.choose_page("Why √dₖ")
    dashboard.wait_for("() => location.pathname === '/why' && location.search.includes('causal')")
    dashboard.choose_page("Explore")
    dashboard.wait_for("t => document.querySelector('.board')?.dataset.tag === t", masked)
    dashboard.menu("set_scale_kind", "none (× 1)")
    dashboard.page.go_back()
    dashboard.wait_for("t => document.querySelector('.board')?.dataset.tag === t", masked)


@pytest.mark.parametrize("width", [390, 1440, 1920])
def test_nothing_on_the_board_is_wider_than_the_page(look, width, subtests):
    dashboard = look(width, example="sentence")
    for scheme in ("dark", "light"):
        with subtests.test(scheme=scheme):
            dashboard.page.emulate_media(color_scheme=scheme)
            dashboard.wait_for(
                "scheme => document.querySelector('.board').dataset.mode === scheme", scheme
            )
            assert dashboard.page.evaluate("document.querySelector('.board').scrollWidth") <= width
            assert dashboard.page.evaluate(
                """() => { const main = document.querySelector('[data-testid=stMain]')
                return main.scrollWidth <= main.clientWidth }"""
            )
            cut = dashboard.page.evaluate(
                """() => [...document.querySelectorAll('.board-pane:not([hidden]) .board-head')]
                .filter(n => n.scrollWidth > n.clientWidth + 1)
                .map(n => [n.textContent, n.scrollWidth, n.clientWidth])"""
            )
            assert cut == []


def test_hostile_tokens_stay_text(visit):
    hostile = '"<img src=x onerror=alert(1)>","<b>b</b>","%{z} $x^2$","**m**"'
    dashboard = visit()
    dialogs = []
    dashboard.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    dashboard.open(example="four-words", tokens=hostile)
    dashboard.hover("weights", 0, 1)
    dashboard.tool("weights", "Show as table")
    play = dashboard.page.locator(".board-control.main")
    play.click()
    for _ in range(2):
        dashboard.page.keyboard.press("ArrowRight")
    heads = dashboard.page.locator(".board-card th", has_text="**m**")
    until(heads)
    assert dialogs == []
    assert dashboard.page.locator("[data-testid=stMain] img:not(.board-code)").count() == 0
    assert heads.count() == 1
    assert dashboard.labels("Q")[1] == "<b>b</b>"


def test_a_saved_state_opens_for_another_visitor_exactly_and_a_broken_one_changes_nothing(visit):
    dashboard = visit().open(example="batch", item="3")
    dashboard.write("Q", 0, 0, "0.125")
    dashboard.tab("Export")
    assert messages.DO_NOT_FIT_INTO_A_LINK in dashboard.notice()
    name, content = dashboard.download(
        lambda: dashboard.page.get_by_role("button", name="Save state (.json)").click()
    )
    assert name == "attention_batch_state.json"
    other = visit().open()
    other.upload("x.json", b'{"attention": "stage by stage", "link": [1]}')
    other.page.get_by_role("button", name="Open this state").click()
    assert capital(messages.NOT_A_STATE_FILE) in other.notice()
    agrees(other, EXAMPLES["four-words"].build())
    other.upload(name, content)
    until(other.page.locator(f"[title='{name}']"))
    before = other.idle().tag()
    # the button may still be that of the file before, whose press does nothing then
    until(
        other.page.locator(f".board[data-tag]:not([data-tag='{before}'])"),
        act=lambda: other.page.get_by_role("button", name="Open this state").click(),
    )
    settings = links.from_file(content)
    assert settings.matrices["Q"].values[3, 0, 0] == 0.125
    agrees(other, settings)


def test_back_returns_to_the_bare_address_and_to_matrices_no_link_can_hold(visit):
    dashboard = visit().open()
    first = dashboard.tag()
    dashboard.menu("set_mask", "look-ahead (causal)")
    dashboard.page.go_back()
    dashboard.wait_for(f"first => {TAG} === first", first)

    dashboard.page.locator(".stPopover button").first.click()
    other = dashboard.page.locator(".st-key-example_sentence button")
    dashboard.after(lambda: other.first.click())
    dashboard.page.go_back()
    dashboard.wait_for(f"first => {TAG} === first", first)
    dashboard.menu("set_mask", "look-ahead (causal)")  # what the closed list held is no move
    assert "mask=causal" in dashboard.page.url and "example=four-words" in dashboard.page.url

    dashboard.open(example="batch")
    dashboard.initialise("Q")
    dashboard.after(lambda: dashboard.page.get_by_role("button", name="Initialise").click())
    rolled = dashboard.tag()
    dashboard.menu("set_mask", "look-ahead (causal)")
    dashboard.page.go_back()
    dashboard.wait_for(f"rolled => {TAG} === rolled", rolled)


def test_a_pane_that_comes_makes_its_neighbours_fit(look):
    dashboard = look()
    dashboard.menu("set_mask", "look-ahead (causal)")
    for stage in ("scores", "scaled", "masked", "weights", "output"):
        pane = dashboard.page.locator(f".board-pane[data-stage={stage}] .board-plot").bounding_box()
        drawn = dashboard.page.locator(
            f".board-pane[data-stage={stage}] .board-canvas"
        ).first.bounding_box()
        assert abs(pane["width"] - drawn["width"]) < 2, stage


def own(tokens: list[str]) -> dict[str, str]:
    """The link of a system of one's own with these tokens, eight wide, under a causal mask."""
    rolled = {
        "X": f"normal,1,{len(tokens)}x8",
        "W_Q": "xavier,1,8x4",
        "W_K": "xavier,2,8x4",
        "W_V": "xavier,3,8x4",
    }
    return {
        "example": "own",
        "tokens": ",".join(f'"{token}"' for token in tokens),
        "mask": "causal",
        **rolled,
    }


EIGHT = ["the", "cat", "sat", "on", "the", "mat", "by", "it"]
LONG = [
    "antidisestablishmentarianism",
    "🙂👩‍👩‍👧",
    "שלום",
    "<i>counterrevolutionaries</i>",
    "a",
    "b",
]


@pytest.mark.parametrize("width", [390, 1440, 1920])
def test_eight_tokens_show_every_number_and_every_label(look, width):
    dashboard = look(width, **own(EIGHT))
    for stage, count in {
        "X": 64,
        "W_Q": 32,
        "Q": 32,
        **dict.fromkeys(("scores", "masked", "weights"), 64),
    }.items():
        sizes = dashboard.sizes(stage)
        if width == 390 and stage in ("scores", "masked"):
            assert len(sizes) in (0, count)  # on a phone colours alone where there is no room
        else:
            assert len(sizes) == count, stage
        assert min(sizes, default=10.5) >= 10.5, stage
    labels = dashboard.labels("scores", "columns")
    assert labels == ["the₁", "cat", "sat", "on", "the₂", "mat", "by", "it"]
    assert dashboard.page.evaluate("document.querySelector('.board').scrollWidth") <= width


FIRST_ROWS = """stages => stages.map(stage => {
    const canvas = document.querySelector(`.board-pane[data-stage=${stage}] .board-canvas`)
    return canvas.getBoundingClientRect().top + canvas.painted.axes.at(0, 0)[1] })"""


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_the_row_of_a_query_is_one_line_through_its_stages(look, mask):
    dashboard = look(mask=mask)
    own_place = ["masked"] if mask == "causal" else []
    stages = ["Q", "scores", "scaled", *own_place, "weights", "output"]
    assert not dashboard.page.locator(".board-pane.behind").evaluate_all(
        "(panes, stages) => panes.filter(pane => stages.includes(pane.dataset.stage)).length",
        stages,
    )
    rows = dashboard.page.evaluate(FIRST_ROWS, stages)
    assert max(rows) - min(rows) < 1
    assert len(dashboard.sizes("weights")) == 16


@pytest.mark.parametrize("width", [390, 1440])
def test_long_labels_leave_most_of_a_pane_to_the_cells(look, width):
    dashboard = look(width, **own(LONG))
    for stage in ("X", "Q", "scores", "weights", "output"):
        left, right = dashboard.place(stage, 0, 0)[0], dashboard.place(stage, 0, 3)[0]
        pane = dashboard.page.locator(f".board-pane[data-stage={stage}] .board-plot").bounding_box()
        columns = len(dashboard.numbers(stage)[0])
        across = (right - left) / 3
        assert left - across / 2 - pane["x"] < 0.4 * pane["width"], stage
        if width > 390 or stage not in ("scores", "X"):
            assert len(dashboard.sizes(stage)) == 6 * columns, stage
    label = dashboard.labels("Q")[3]
    assert label.startswith("<i>count") and label.endswith("…")
    dashboard.hover("scores", 0, 0)
    assert "antidisestablishmentarianism" in dashboard.page.locator(".board-tip").inner_text()


def test_twenty_tokens_are_wide_and_pictures_of_pairs_have_a_colour_bar(look):
    dashboard = look(**own([f"t{k}" for k in range(20)]))
    for stage in ("scores", "scaled", "masked", "weights"):
        left, right = (dashboard.place(stage, 0, j)[0] for j in (0, 19))
        assert right - left > 150, stage
    for stage in ("scores", "weights"):
        dashboard.front(stage)
        _, drawing = dashboard.download(partial(dashboard.tool, stage, "Download SVG"))
        assert b"url(#bar)" in drawing, stage


APART = "() => document.querySelectorAll('.board-pane:not(.behind):not([hidden])').length"
LINES = (
    """() => new Set([...document.querySelectorAll('.board-pane')].map(n => n.offsetTop)).size"""
)


def test_a_refusal_above_the_board_leaves_its_last_row_in_sight(visit):
    dashboard = visit(1366, 768).open(bare=True)
    foot = """() => Math.max(...[...document.querySelectorAll('.board-pane:not(.behind)')].map(
      pane => pane.getBoundingClientRect().bottom)) <= document.querySelector(
      '.st-key-dock').getBoundingClientRect().top"""
    sentence = dashboard.page.locator(".st-key-set_sentence input")
    sentence.fill("alpha beta gamma")
    dashboard.after(lambda: dashboard.page.keyboard.press("Enter"))
    dashboard.wait_for(foot)
    sentence.fill("")
    dashboard.page.keyboard.press("Enter")
    assert dashboard.notice().lower() == messages.EMPTY_SENTENCE
    dashboard.wait_for(foot)


@pytest.mark.parametrize("symbol", ["W_Q", "weights", "output"])
def test_the_menu_of_a_stage_is_above_the_tabs_below_the_board(look, symbol):
    dashboard = look(1366, 768, example="cat-sat")
    dashboard.page.get_by_role("button", name=f"tools of {symbol}", exact=True).click()
    menu = dashboard.page.locator(".board-menu:not([hidden])").bounding_box()
    assert menu["y"] > 0
    assert menu["y"] + menu["height"] <= dashboard.page.locator(".st-key-dock").bounding_box()["y"]
    dashboard.page.keyboard.press("Escape")


def test_a_narrower_window_lets_stages_share_a_place_and_a_wider_one_parts_them(look):
    dashboard = look(1920, **own(EIGHT))
    before = dashboard.page.evaluate(APART)
    dashboard.page.set_viewport_size({"width": 1400, "height": 900})
    dashboard.wait_for(f"before => ({APART})() < before", before)
    written(dashboard, "masked", 64)
    dashboard.page.set_viewport_size({"width": 1920, "height": 900})
    dashboard.wait_for(f"before => ({APART})() === before", before)
    written(dashboard, "masked", 64)


def test_a_narrower_window_wraps_the_panes_and_a_wider_one_unwraps_them(visit):
    dashboard = visit(1920).open("conventions", **own(EIGHT))
    before = dashboard.page.evaluate(LINES)
    dashboard.page.set_viewport_size({"width": 420, "height": 900})
    dashboard.wait_for(f"before => ({LINES})() > before", before)
    dashboard.page.set_viewport_size({"width": 1920, "height": 900})
    dashboard.wait_for(f"before => ({LINES})() === before", before)
    written(dashboard, "weights_ours", 64)


def test_the_notice_goes_with_the_first_change_of_its_example(look):
    dashboard = look()
    notice = dashboard.page.locator("p.notice")
    assert notice.inner_text().startswith(messages.NOTICE.format(notice="Word 4"))
    dashboard.menu("set_mask", "look-ahead (causal)")
    assert notice.inner_text() == messages.EXAMPLE_IS_CHANGED
