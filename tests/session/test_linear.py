"""No text blocks the server: twice the text takes twice the time, in every way a text is read.

What is read, and how it is measured, is in :mod:`session.linear`. A share of the pairs of
characters; all of them, which takes half an hour, with THOROUGH=1.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from amount import amount
from session.linear import FLOOR, GROUPS, GROWTH

HERE = Path(__file__).parent
TESTS = HERE.parent
SECONDS = 1  # of processor time for a text
PARTS = {"numbers": amount(2, 40), "files": amount(1, 8), "boxes": amount(1, 8)}
PARTS |= {"links": amount(1, 8)}


def said(line: str) -> str:
    """What is wrong with a line of the process; "" where nothing is."""
    text, *times = line.split("\t")
    if len(times) < 2:
        return f"{text} ended the process"
    whole, half = map(float, times)
    if whole > SECONDS:
        return f"{text} took {whole:.2f} s of processor time"
    if half and whole > max(FLOOR, GROWTH * half):
        return f"{text} took {whole:.2f} s of processor time, and half of it {half:.3f} s"
    return ""


@pytest.mark.parametrize(
    ("group", "part"), [(group, part) for group in GROUPS for part in range(PARTS[group])]
)
def test_texts_take_linear_time(group, part):
    """100,000 characters take at most a second, and three times what 50,000 take."""
    done = subprocess.run(
        [sys.executable, HERE / "linear.py", group, str(part), str(PARTS[group])],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (TESTS.parent, TESTS)))},
    )
    lines = done.stdout.splitlines()
    assert lines, done.stderr
    slow = list(filter(None, map(said, lines)))
    assert not slow and not done.returncode, "\n".join([*slow, done.stderr[-2000:]])
