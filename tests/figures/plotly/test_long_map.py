"""The map of a long attention drawn: the numbers of the record, on axes of tokens."""

import re

import messages
import numpy as np
import pytest

import attention
from attention.long import places
from attention.vocabulary.numbers import number

RNG = np.random.default_rng(0)
FOUND = attention.long_attention(
    *RNG.standard_normal((3, 2, 101, 8)), allowed=places.causal(), pool=25
)


def test_plotly_shows_every_cell_between_its_tokens():
    drawn = attention.figure(FOUND, head=1, title="<b>two</b> heads")
    (heatmap,) = drawn.data
    np.testing.assert_array_equal(heatmap.customdata, FOUND.mean_map[1])
    texts = [[number(value, 4) for value in row] for row in FOUND.mean_map[1]]
    assert [list(row) for row in heatmap.text] == texts
    assert "<b>%{text}</b>" in heatmap.hovertemplate and heatmap.texttemplate is None
    seen = FOUND.mean_map[1] > 0
    np.testing.assert_allclose(10 ** heatmap.z[seen], FOUND.mean_map[1][seen])
    assert np.isnan(heatmap.z[~seen]).all() and not seen.all()
    assert list(heatmap.x) == list(heatmap.y) == [*range(0, 101, 5), 101]
    assert drawn.layout.title.text == "&lt;b&gt;two&lt;/b&gt; heads"


def test_a_record_without_a_map_is_refused():
    without = attention.long_attention([[1.0]], [[1.0]], results="entropy")
    for draw in (attention.figure, attention.paper_figure):
        with pytest.raises(ValueError, match=f"^{re.escape(messages.NO_MAP_IN_RECORD)}$"):
            draw(without)
    sentence = messages.OUT_OF_RECORD.format(name="head", given=2, last=1)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        attention.figure(FOUND, head=2)
