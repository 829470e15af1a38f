#!/bin/sh
# plotly 7.1.0 (plotly.js 4.1.1), go.Heatmap on category axes, in Chromium.
#
# A column whose label is a name that JavaScript gives to every object, such as the token
# "constructor", is not drawn, without an error or a warning, also with type="category" said; and the
# texts of the columns behind it stay where they were, so their cells say the number of another.
#
# Guess before the run: such a column is not drawn, or drawn in a wrong place, with its own text.
# Seen, labels a, constructor, toString, b and numbers 1, 2, 3, 4: two columns in the colours of 1
# and 4, which say 1 and 2.
#
# Chromium is $CHROMIUM, or chromium-headless-shell, chromium or google-chrome on the path.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
for name in chromium-headless-shell chromium google-chrome; do
  CHROMIUM=${CHROMIUM:-$(command -v "$name" || true)}
done
export CHROMIUM
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q plotly==7.1.0 playwright==1.61.0
"$room/env/bin/python" - "$room/page.html" <<'PY'
import os
import sys

import plotly.graph_objects as go
from playwright.sync_api import sync_playwright

labels = ["a", "constructor", "toString", "b"]
heatmap = go.Heatmap(
    z=[[1, 2, 3, 4]], x=labels, y=["row"], text=[[1, 2, 3, 4]], texttemplate="%{text}"
)
go.Figure(heatmap, {"xaxis": {"type": "category"}}).write_html(sys.argv[1])
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"]
    )
    page = browser.new_page()
    page.goto(f"file://{sys.argv[1]}")
    page.wait_for_selector(".heatmap-label")
    numbers = page.locator(".heatmap-label").all_text_contents()
    graph = "document.querySelector('.js-plotly-plot')"
    columns = page.evaluate(f"{graph}._fullLayout.xaxis._categories")
    coloured = page.evaluate(f"{graph}.calcdata[0][0].z")
    browser.close()
print("columns:", columns)
print("coloured by:", coloured)
print("what they say:", numbers)
sys.exit(columns != ["a", "b"] or coloured != [[1, 4]] or numbers != ["1", "2"])
PY
