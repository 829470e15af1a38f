"""README tells the truth: its table is the package's, and its Python runs."""

import re
from pathlib import Path

from attention.conventions import CONVENTIONS

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_table_of_frameworks_is_that_of_the_package():
    table = README.split("## How frameworks differ")[1]
    for c in CONVENTIONS.values():
        star = "" if c.ran else " *"
        said = (c.when, c.true_means, c.hidden_row, c.causal, c.scale)
        assert f"| {c.name} ({c.version}){star} | {' | '.join(said)} |" in table
    assert table.split("\n\n")[1].count("\n") == len(CONVENTIONS) + 2


def test_its_python_runs_and_prints_what_it_says(capsys):
    exec("\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL)), {})
    printed = " ".join(capsys.readouterr().out.split())
    promised = README.split("print(attention.diagnose(Q, K, V, output=mine))\n```")[1].split("\n\n")[1]
    digits = re.compile(r"\d+ digits")  # the last one is the machine's
    assert digits.sub("digits", " ".join(promised.split())) in digits.sub("digits", printed)
