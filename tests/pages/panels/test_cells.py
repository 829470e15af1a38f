"""Which cell of a board is shown, and what is said below it."""

from dataclasses import replace

import messages
import numpy as np
from build import four_words, view_of

from attention.pages.panels import cells
from attention.session.edit import changes
from attention.vocabulary.numbers import rounded


def test_a_cell_that_the_view_lacks_gives_way_to_the_largest_weight():
    s = replace(four_words(), query=2)
    shown = view_of(s)
    largest = "scores", 2, int(np.argmax(shown.stages["weights"][2]))
    assert cells.chosen(s, shown) == largest
    for cell in (("mask", 1, 0), ("weights", 4, 0), ("weights", 0, 4)):
        assert cells.chosen(replace(s, cell=cell), shown) == largest
    assert cells.chosen(replace(s, cell=("weights", 3, 3)), shown) == ("weights", 3, 3)


def test_words_that_weigh_are_called_as_in_a_title():
    s = changes.set_sentence(four_words(), "the d_k the")
    shown = view_of(replace(s, query=2))
    said = cells.card(replace(s, query=2), shown, ("X", 0, 0)).lines[-1]
    weights = rounded(shown.stages["weights"])[2]
    names = "the first “the”", "“d_k”", "the second “the”"
    listed = ", ".join(f"{name} {weight}" for name, weight in zip(names, weights, strict=True))
    output = ", ".join(rounded(shown.stages["output"])[2])
    assert said == messages.WHAT_THE_QUERY_MAKES.format(
        query="The second “the”", weights=listed, output=output
    )
