"""The parts of real layers in a browser: put there by hand, typed, pointed at and clicked."""

from browser.test_explore_browser import agrees

from attention.session.edit import parts as prepared
from attention.session.state.examples import EXAMPLES


def test_parts_are_switched_on_typed_and_read(visit):
    dashboard = visit(height=1400).open()
    page = dashboard.page
    settings = EXAMPLES["four-words"].build()
    panel = page.locator(".st-key-real_layers")
    panel.get_by_text("Features of real models").click()

    def switch(label):
        dashboard.after(lambda: panel.get_by_text(label, exact=True).click())

    switch("Biases")
    settings = prepared.set_biases(settings, True)
    agrees(dashboard, settings)
    switch("Rotary positions")
    settings = prepared.set_rotary(settings, True)
    agrees(dashboard, settings)

    switch("Relative bias (T5)")
    settings = prepared.set_relative(settings, True)
    agrees(dashboard, settings)
    dashboard.write("R", 1, 0, "-3")
    R = settings.matrices["R"]
    settings = settings.with_matrix("R", R.edited((1, 0), -3))
    agrees(dashboard, settings)
    dashboard.click("mask", 2, 1)
    assert "bucket 1 of R (key − query: −1): −3" in " ".join(dashboard.cell())

    dashboard.write("b_Q", 0, 1, "5")
    values = settings.matrices["b_Q"].values.copy()
    values[0, 1] = 5
    b_Q = settings.matrices["b_Q"].with_values(values)
    settings = settings.with_matrix("b_Q", b_Q)
    agrees(dashboard, settings)
    dashboard.click("Q_rotated", 2, 0)
    assert "θ = position × frequency = 2 × 1" in " ".join(dashboard.cell())

    stages = dashboard.stages()
    order = ["b_V", "Q", "K", "V", "Q_rotated", "K_rotated", "scores"]
    assert [name for name in stages if name in order] == order
    assert panel.get_by_text("Base", exact=True).is_visible()
