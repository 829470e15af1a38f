"""What Streamlit's page does not document and ours use: each selector and attribute is there."""

import re
from pathlib import Path

from browser.dashboard import until

PAGES = Path(__file__).parents[2] / "attention" / "pages"
PATTERNS = {  # in our files → as a selector
    r"data-testid=\\?[\"']?(st\w+)": "[data-testid={}]",
    r"\.(st[A-Z]\w+|rc-[a-z-]+)": ".{}",
    r"(data-test-[a-z-]+)": "[{}]",
}
NAMED = {  # as JavaScript calls them
    "testConnectionState": "data-test-connection-state",
    "testScriptState": "data-test-script-state",
}


def used() -> set[str]:
    """All selectors of Streamlit's page in our scripts, styles and Python."""
    found = set()
    for path in PAGES.rglob("*"):
        if path.suffix in (".js", ".css", ".py"):
            text = path.read_text()
            for pattern, selector in PATTERNS.items():
                found |= {selector.format(name) for name in re.findall(pattern, text)}
            found |= {f"[{name}]" for word, name in NAMED.items() if f"dataset.{word}" in text}
    return found


def test_the_page_has_every_selector_and_attribute(visit):
    dashboard, missing = visit().open(), used()
    assert {".stApp", "[data-testid=stMain]", "[data-test-connection-state]"} <= missing
    page = dashboard.page

    def look() -> None:
        missing.difference_update(
            page.evaluate("all => all.filter(one => document.querySelector(one))", list(missing))
        )

    look()
    page.locator("[data-testid=stSelectbox] input").first.click()
    until(page.locator("[role=option]").first)
    look()
    page.keyboard.press("Escape")
    page.locator("[data-testid=stMultiSelect] input").first.click()
    until(page.locator("[role=option]").first)
    look()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Numbers", exact=True).click()
    until(page.locator(".st-key-set_randomize_seed").first)
    look()
    page.keyboard.press("Escape")
    dashboard.tab("Your data")
    until(page.locator("[data-testid=stFileUploader]"))
    look()
    dashboard.tab("Export")
    until(page.locator(".st-key-paper_preview img"))
    page.locator(".st-key-paper_preview img").hover()
    look()
    page.locator("[data-testid=stSidebar]").hover()
    page.locator("[data-testid=stSidebarCollapseButton] button").click()
    until(page.locator("[data-testid=stExpandSidebarButton]"))
    look()
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("[data-testid=stExpandSidebarButton]").click()
    until(page.locator("[data-testid=stSidebarNavLink]").first)
    look()
    assert missing == set()
