"""The Python of README and of the pages in docs, and what README says it prints."""

import re
from pathlib import Path

HOME = Path(__file__).parents[1]
README = (HOME / "README.md").read_text(encoding="utf-8")
PAGES = ("README.md", "docs/python.md", "docs/variants.md", "docs/frameworks.md")
LAST = "print(attention.diagnose(Q, K, V, output=mine))\n```"


def examples(page: str, kind: str = "") -> dict[str, str]:
    """The examples of a page by the line that each begins at; "plotly" are those that draw."""
    text = (HOME / page).read_text(encoding="utf-8")
    found = re.finditer(rf"(?ms)^```python{kind and ' ' + kind}\n(.*?)^```", text)
    return {f"{page}:{text.count(chr(10), 0, one.start(1)) + 1}": one[1] for one in found}


PYTHON = {place: code for page in PAGES for place, code in examples(page).items()}
DRAWING = {place: code for page in PAGES for place, code in examples(page, "plotly").items()}


def prints_what_it_says(printed: str) -> bool:
    """Whether the promised sentence is there; how many digits agree is the machine's."""
    promised = README.split(LAST)[1].split("\n\n")[1]
    return _plain(promised) in _plain(printed)


def _plain(text: str) -> str:
    return re.sub(r"\d+ digits", "digits", " ".join(text.split()))
