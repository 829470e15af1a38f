#!/bin/sh
# Streamlit 1.67.0 with plotly 7.1.0: st.plotly_chart, any theme, in Chromium.
#
# A label, a title or a text that reads like one of the colours from #000001 to #000040 is shown as
# another colour of the theme: "#000032" as "#29b09d". Streamlit sends such colours in place of
# those of its theme, and replaces them in all of the figure's JSON. Two labels can become one.
#
# Guess before the run: labels are shown as they are given.
# Seen: the category "#000032" is drawn as "#29b09d"; "b" stays.
#
# Chromium is $CHROMIUM, or chromium-headless-shell, chromium or google-chrome on the path.
set -eu
room=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$room"' EXIT
for name in chromium-headless-shell chromium google-chrome; do
  CHROMIUM=${CHROMIUM:-$(command -v "$name" || true)}
done
export CHROMIUM
python3 -m venv "$room/env"
"$room/env/bin/pip" install -q streamlit==1.67.0 plotly==7.1.0 playwright==1.61.0
cat >"$room/app.py" <<'PY'
import plotly.graph_objects as go
import streamlit as st

st.plotly_chart(go.Figure(go.Bar(x=["#000032", "b"], y=[1, 2])))
PY
port=$("$room/env/bin/python" -c \
  "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])")
cd "$room"
"$room/env/bin/streamlit" run app.py --server.headless true --server.port "$port" \
  --theme.base light >/dev/null 2>&1 &
server=$!
"$room/env/bin/python" - "http://127.0.0.1:$port" <<'PY'
import os
import sys
import time
import urllib.request

from playwright.sync_api import sync_playwright

for _ in range(100):
    try:
        urllib.request.urlopen(f"{sys.argv[1]}/_stcore/health").close()
        break
    except OSError:
        time.sleep(0.2)
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"]
    )
    page = browser.new_page()
    page.goto(sys.argv[1])
    page.wait_for_selector(".xtick text")
    labels = page.locator(".xtick text").all_text_contents()
    browser.close()
print("labels:", labels)
sys.exit(labels != ["#29b09d", "b"])
PY
