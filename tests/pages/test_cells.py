"""Which cell of a board is shown, and what is said below it."""

from dataclasses import replace

import numpy as np
from build import four_words, view_of

from attention.pages import cells


def test_a_cell_that_the_view_lacks_gives_way_to_the_largest_weight():
    s = replace(four_words(), query=2)
    shown = view_of(s)
    largest = "scores", 2, int(np.argmax(shown.stages["weights"][2]))
    assert cells.chosen(s, shown) == largest
    for cell in (("mask", 1, 0), ("weights", 4, 0), ("weights", 0, 4)):
        assert cells.chosen(replace(s, cell=cell), shown) == largest
    assert cells.chosen(replace(s, cell=("weights", 3, 3)), shown) == ("weights", 3, 3)
