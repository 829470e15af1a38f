"""The map of a long attention in print: the numbers of the record, at the size asked for."""

import numpy as np
import pytest

import attention
from attention.long import places

FOUND = attention.long_attention(
    *np.random.default_rng(0).standard_normal((3, 2, 101, 8)), allowed=places.causal(), pool=25
)


@pytest.mark.parametrize("form", ["pdf", "svg", "png"])
def test_a_paper_figure_has_the_cells_and_its_exact_width(form, tmp_path):
    drawn = attention.paper_figure(FOUND, heads=1)
    mesh = drawn.axes[0].collections[0]
    cells = np.ma.masked_equal(FOUND.mean_map[1], 0)
    np.testing.assert_array_equal(mesh.get_array().filled(-1), cells.filled(-1))
    assert drawn.axes[0].get_xlim() == (0, 101) and drawn.axes[0].get_ylim() == (101, 0)
    assert 2.54 * drawn.get_figwidth() == pytest.approx(8.25)
    drawn.savefig(tmp_path / f"map.{form}")
    assert (tmp_path / f"map.{form}").stat().st_size > 5000


@pytest.mark.parametrize("limits", ["stage", "data", "own"])
def test_a_paper_says_range_colours_and_words(limits):
    paper = attention.Paper(limits=limits, highest=0.5, query="Anfrage", bar_title="Anteil")
    drawn = attention.paper_figure(FOUND, paper=paper)
    mesh, seen = drawn.axes[0].collections[0], FOUND.mean_map[0][FOUND.mean_map[0] > 0]
    ends = {"stage": (0, 1), "data": (seen.min(), seen.max()), "own": (0, 0.5)}
    assert (mesh.norm.vmin, mesh.norm.vmax) == pytest.approx(ends[limits])
    assert drawn.axes[0].get_ylabel() == "Anfrage" and drawn.axes[1].get_ylabel() == "Anteil"
