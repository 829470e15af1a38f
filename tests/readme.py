"""README's Python, what README says that it prints, and the Python that wants Plotly."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PYTHON = "\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
DRAWING = "\n".join(re.findall(r"```python plotly\n(.*?)```", README, re.DOTALL))  # after it
LAST = "print(attention.diagnose(Q, K, V, output=mine))\n```"


def prints_what_it_says(printed: str) -> bool:
    """Whether the promised sentence is there; how many digits agree is the machine's."""
    promised = README.split(LAST)[1].split("\n\n")[1]
    return _plain(promised) in _plain(printed)


def _plain(text: str) -> str:
    return re.sub(r"\d+ digits", "digits", " ".join(text.split()))
