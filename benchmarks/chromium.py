"""The browser in which pages are measured and tested: Chromium or Chrome, whichever there is."""

import os
import shutil

NAMES = (  # the first takes the least time; Playwright's own browser is such a one
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
