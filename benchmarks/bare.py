"""The app with nothing drawn on its first page: Explore's menu, controls and address alone."""

from pathlib import Path

from attention.pages.frame import navigation

navigation.PAGES[""] = (str(Path(__file__).with_name("controls.py")), "Explore", "")
navigation.show()
