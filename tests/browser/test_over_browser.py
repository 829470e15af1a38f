"""The tab Over a picture in a browser: an image below the map, a patch that is clicked, files."""

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
from browser.dashboard import until
from pages.components.test_over import captured
from PIL import Image

from attention.session.state import links

MAP = ".over[data-tag] .over-map"
OPEN = ".st-key-set_below"


def image(form="PNG", size=(300, 200)) -> dict:
    """Four colours, one a quarter."""
    quarters = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [90, 90, 90]]], np.uint8)
    whole = Image.fromarray(quarters).resize(size, Image.Resampling.NEAREST)
    file = io.BytesIO()
    whole.save(file, form)
    return {"name": f"a.{form.lower()}", "mimeType": "image/png", "buffer": file.getvalue()}


def test_an_image_lies_below_the_map_and_a_click_chooses_the_query(visit):
    s, trace = captured()
    dashboard = visit().open(**links.write(s))
    page = dashboard.page
    until(page.locator(MAP), act=page.locator(OPEN).get_by_text("Over a picture").click)
    read, title = page.locator(".over-readout"), page.locator(".over-title")

    def point(row: int, column: int, act: str) -> None:
        box = page.locator(MAP).bounding_box()
        x, y = (
            box["x"] + box["width"] * (column + 0.5) / 4,
            box["y"] + box["height"] * (row + 0.5) / 2,
        )
        getattr(page.mouse, act)(x, y)

    page.locator(MAP).scroll_into_view_if_needed()
    point(1, 2, "move")
    weight = trace.weights[s.query, 2 + 6]
    label, number = re.fullmatch(
        r"(.+) \(row 2, column 3\): weight (.+)", read.inner_text()
    ).groups()
    assert label == "patch 6" and abs(float(number) - weight) < 0.0001
    point(0, 1, "click")
    until(title.filter(has_text="Query patch 1"))

    page.locator(".over-file").set_input_files(image())
    until(page.locator(".over[data-image='300x200']"))
    page.locator(".over-opacity input").fill("0")  # the picture alone
    name, content = dashboard.download(
        page.get_by_role("button", name="PNG", exact=True).last.click
    )
    assert name == "attention_ViT_layer1_layers.1.attn_head1_picture.png"
    saved = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
    assert saved.shape[1] == 900 and saved[590, 10].tolist() == [0, 0, 255]
    assert saved[10, 890].tolist() == [0, 255, 0]
    page.locator(".over-opacity input").fill("1")  # the map alone
    name, content = dashboard.download(
        page.get_by_role("button", name="SVG", exact=True).last.click
    )
    root = ET.fromstring(content)
    svg = "{http://www.w3.org/2000/svg}"
    texts = [each.text for each in root.iter(f"{svg}text")]
    assert "query patch 1" in texts[0] and texts[1].startswith("[CLS]: ")
    cells = [each for each in root.iter(f"{svg}rect") if each.find(f"{svg}title") is not None]
    row = trace.weights[3, 2:]
    for k, cell in enumerate(cells):
        what, _, said = cell.find(f"{svg}title").text.partition(": ")
        assert what == f"patch {k}" and abs(float(said) - row[k]) < 0.0001
    reds = [int(re.match(r"rgb\((\d+)", each.get("fill"))[1]) for each in cells]
    assert (np.argsort(reds) == np.argsort(-row)).all()  # the bluer, the larger
    assert len(list(root.iter(f"{svg}image"))) == 1

    other = {"name": "a.gif", "mimeType": "image/gif", "buffer": b"GIF89a" + bytes(30)}
    page.locator(".over-file").set_input_files(other)
    until(page.locator(".over-refused").filter(has_text="a.gif is not a PNG, JPEG or WebP image"))
    page.locator(".over-file").set_input_files(image("JPEG", (40, 80)))  # a tall one
    until(page.locator(".over[data-image='40x80']"))
    box = page.locator(MAP).bounding_box()
    assert abs(box["height"] / box["width"] - 2) < 0.02

    page.set_viewport_size({"width": 390, "height": 844})
    dashboard.wait_for("() => document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Remove it").click()
    until(page.locator(".over[data-image='']"))
    assert not dashboard.errors


def test_patches_are_chosen_by_the_keyboard(visit):
    s, _ = captured()
    dashboard = visit().open(**links.write(s))
    page = dashboard.page
    until(page.locator(MAP), act=page.locator(OPEN).get_by_text("Over a picture").click)
    page.locator(MAP).focus()
    for _ in range(9):
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator(".over-readout").inner_text().startswith("patch 5 (row 2, column 2): ")
    page.keyboard.press("Enter")
    until(page.locator(".over-title").filter(has_text="Query patch 5"))
    assert not dashboard.errors
