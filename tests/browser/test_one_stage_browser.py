"""The tabs Heatmap and Table in a browser, and Explore without the board's scripts."""

import csv
import io

import messages
import pytest
from browser.dashboard import until

from attention import frame
from attention.session.state.run import run, view

FORMULAS = ["=1+1", "@x", "-2+3"]
ODD = ["$x$", "3", "2024-01-01", "<b>", "#000001", "constructor", "3"]
FIGURE = ".st-key-dock_heatmap .js-plotly-plot"


def own(tokens: list[str], **more) -> dict[str, str]:
    """The link of a system of one's own with these tokens."""
    quoted = ",".join(f'"{token}"' for token in tokens)
    rolled = {"X": f"normal,1,{len(tokens)}x4", "W_Q": "xavier,1,4x4"}
    rolled |= {"W_K": "xavier,2,4x4", "W_V": "xavier,3,4x4"}
    return {"example": "own", "tokens": quoted, **rolled, **more}


def tab(dashboard, name: str) -> None:
    panel = dashboard.page.locator(f".st-key-dock_{name.lower()}")
    press = dashboard.page.locator(".st-key-set_below").get_by_text(name, exact=True).click
    until(panel, act=press)


def test_the_menu_of_a_stage_opens_its_heatmap_and_back_closes_nothing_else(visit):
    dashboard = visit().open(mask="causal")
    pane = dashboard.page.locator(".board-pane[data-stage=weights]")
    pane.hover()
    pane.get_by_label("tools of weights").click()
    pane.get_by_text("Plotly heatmap").click()
    dashboard.wait_for(
        f"() => document.querySelector('{FIGURE}')?.layout.title.text.includes('weights')"
    )
    s = dashboard.settings()
    assert s.cell[0] == "weights"
    drawn = dashboard.page.evaluate(
        f"""() => [...document.querySelectorAll('{FIGURE} .heatmap-label')]
        .map(node => node.textContent)"""
    )
    shown = view(s, run(s))
    texts = shown.texts("weights", s.digits)
    seen = [text for i, row in enumerate(texts) for text in row[: i + 1]]
    assert sorted(drawn) == sorted(seen)  # hidden cells have none
    assert not dashboard.errors


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_cell_that_is_pointed_at_says_its_own_tokens_and_number(visit, scheme):
    dashboard = visit(scheme=scheme).open(**own(ODD, cell="weights,0,0"))
    tab(dashboard, "Heatmap")
    until(dashboard.page.locator(f"{FIGURE} .nsewdrag"))
    s = dashboard.settings()
    shown = view(s, run(s))
    texts, rows = shown.texts("weights", s.digits), shown.rows("weights")
    assert rows[1] == "3 (1)" and rows[-1] == "3 (2)"
    n = len(ODD)
    box = dashboard.page.locator(f"{FIGURE} .nsewdrag").bounding_box()
    for i in range(n):
        for j in range(n):
            x = box["x"] + (j + 0.5) * box["width"] / n
            y = box["y"] + (i + 0.5) * box["height"] / n
            dashboard.page.mouse.move(x - 2, y)
            dashboard.page.mouse.move(x, y)
            said = f"{rows[i]} · {rows[j]}{texts[i][j]}"
            dashboard.wait_for(
                f"""said => [...document.querySelectorAll('{FIGURE} .hoverlayer .hovertext text')]
                .some(node => node.textContent === said)""",
                said,
            )


def downloaded(dashboard) -> list[list[str]]:
    """What the table's own button saves."""
    panel = dashboard.idle().page.locator(".st-key-dock_table")
    table, button = panel.get_by_test_id("stDataFrame"), panel.get_by_label("Download as CSV")
    until(button, act=table.hover)  # it is there while the table is pointed at
    _, content = dashboard.download(lambda: button.click())
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_the_tables_own_download_runs_no_formula_and_has_all_digits(visit):
    dashboard = visit()
    # headless, Chromium offers a dialog that nobody answers
    dashboard.page.add_init_script("delete window.showSaveFilePicker")
    dashboard.open(**own(FORMULAS, cell="masked,0,0", mask="causal"))
    tab(dashboard, "Table")
    head, *rows = downloaded(dashboard)
    assert head[1:] == [row[0] for row in rows] == [f"'{token}" for token in FORMULAS]
    s = dashboard.settings()
    table = frame(run(s), "masked", tokens=s.tokens)
    numbers = [[float(text) for text in row[1:]] for row in rows]  # -Infinity among them
    assert numbers == table.to_numpy().tolist()
    assert numbers[0][1] == float("-inf")


def test_without_the_boards_scripts_plotly_draws_the_stages_and_controls_still_work(visit):
    dashboard = visit(fresh=True)
    dashboard.page.route("**/scripts/**", lambda route: route.abort())
    dashboard.open(ready=".stPlotlyChart .nsewdrag", mask="causal")
    until(dashboard.page.get_by_text(messages.WITHOUT_BOARD))
    s = dashboard.settings()
    shown = view(s, run(s))
    count = "() => document.querySelectorAll('.stPlotlyChart .nsewdrag').length"
    dashboard.wait_for(f"count => ({count})() === count", len(shown.stages))
    assert dashboard.page.locator(".board").count() == 0
    said = dashboard.page.locator("body").inner_text()
    assert "This part could not be fetched" not in said and "Error" not in said
    dashboard.choose("set_scale_kind", "none (× 1)")
    scores = shown.texts("scores", s.digits)[0][0]
    dashboard.wait_for(
        """text => [...document.querySelectorAll('.st-key-plotly_all_scaled .heatmap-label')]
        .some(node => node.textContent === text)""",
        scores,
    )
    dashboard.page.unroute("**/scripts/**")
    dashboard.page.reload()
    until(dashboard.page.locator(".board[data-tag]"))
