"""The mean map of a long attention as a figure for papers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from attention.figures.paper import printing
from attention.figures.paper.panels import scale_of
from attention.figures.paper.text import clean
from attention.figures.plotly.long_map import map_of
from attention.long.attention import LongAttention
from attention.paper import Paper

if TYPE_CHECKING:
    from attention.figures.paper.sheet import PaperFigure


def long_paper_figure(
    attended: LongAttention, *, item: int, head: int, paper: Paper | None
) -> PaperFigure:
    """The mean map in Matplotlib: the cells an image, all else lines and letters."""
    printing.load()
    from attention.figures.paper.drawing import HIDDEN, LogNorm, Normalize, colour_map
    from attention.figures.paper.sheet import MARGIN, Sheet, settings

    paper = Paper(logarithmic=True) if paper is None else paper
    values = np.ma.masked_equal(map_of(attended, item, head), 0)
    share = SimpleNamespace(low=0.0, high=1.0, colours="share")
    scale = scale_of([SimpleNamespace(values=values, scale=share)], paper)
    with settings():
        words = clean(paper.query), clean(paper.key)
        sheet = Sheet(paper, "".join(words) + "0123456789,−×")
        side = min(0.8 * sheet.room, sheet.height)
        figure = sheet.figure(side, f"mean weights of {attended!r}")
        figure.set_layout_engine(
            "constrained", rect=sheet.share(MARGIN, sheet.top, sheet.room, side)
        )
        axes = figure.add_subplot(label="mean_map", aspect="equal", facecolor=HIDDEN)
        norm = (LogNorm if scale.logarithmic else Normalize)(scale.low, scale.high, clip=True)
        cells = axes.pcolormesh(
            attended.key_edges,
            attended.row_edges,
            values,
            norm=norm,
            cmap=colour_map(scale.colours).with_extremes(bad=HIDDEN),
            rasterized=True,
        )
        axes.invert_yaxis()
        axes.locator_params(nbins=4)
        if paper.axis_titles:
            axes.set(ylabel=words[0], xlabel=words[1])
        if paper.bar:
            bar = figure.colorbar(cells, ax=axes, extend=scale.extend, label=clean(paper.bar_title))
            bar.minorticks_off()
    return figure
