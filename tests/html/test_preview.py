"""What was understood of arrays is written as numbers are everywhere: short, in one spelling."""

import re

import numpy as np

from attention.html.preview import preview
from attention.readers.select import SelectedArray
from attention.vocabulary.numbers import number


def test_a_short_number_is_whole_and_a_long_one_is_that_of_the_board():
    values = np.array([[-0.5, 3.0, 1 / 3, -1234567.891], [1e-17 / 3, -2 / 3, 27.123456789, 0.1]])
    rows = re.findall(r"<td>(.*?)</td>", preview("X", SelectedArray(values)))
    assert rows == [
        *("−0.5", "3", f"{number(1 / 3, 6)}…", f"{number(-1234567.891, 6)}…"),
        *(f"{number(value, 6)}…" for value in (1e-17 / 3, -2 / 3, 27.123456789)),
        "0.1",
    ]
