"""The Python of README and docs/python.md, one after the other, and what README says it prints."""

import re
from pathlib import Path

HOME = Path(__file__).parents[1]
README = (HOME / "README.md").read_text(encoding="utf-8")
BOTH = README + (HOME / "docs" / "python.md").read_text(encoding="utf-8")
PYTHON = "\n".join(re.findall(r"```python\n(.*?)```", BOTH, re.DOTALL))
DRAWING = "\n".join(re.findall(r"```python plotly\n(.*?)```", BOTH, re.DOTALL))  # after it
LAST = "print(attention.diagnose(Q, K, V, output=mine))\n```"


def prints_what_it_says(printed: str) -> bool:
    """Whether the promised sentence is there; how many digits agree is the machine's."""
    promised = README.split(LAST)[1].split("\n\n")[1]
    return _plain(promised) in _plain(printed)


def _plain(text: str) -> str:
    return re.sub(r"\d+ digits", "digits", " ".join(text.split()))
