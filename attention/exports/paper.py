"""The figure of a state of the dashboard, and a figure as the bytes of a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from attention.core.trace import AttentionTrace
from attention.figures.paper.figure import of_views
from attention.figures.paper.panels import OnPanel
from attention.limits import MAX_DOTS, MAX_DPI, BadInput
from attention.session.state.about import About, Selection, what_it_is
from attention.session.state.run import view
from attention.session.state.settings import Settings

if TYPE_CHECKING:
    from attention.figures.paper.sheet import PaperFigure

FORMS = {"pdf": "application/pdf", "svg": "image/svg+xml", "png": "image/png"}


def figure_of(
    settings: Settings, trace: AttentionTrace, on_panel: OnPanel | None = None
) -> PaperFigure:
    """The stages and heads that the settings choose; ``on_panel(number, of)`` after each panel."""
    heads = settings.paper_heads or (settings.head,)
    views = [view(replace(settings, head=head), trace) for head in heads]
    there = {name for of_head in views for name in of_head.stages}
    stages = [name for name in settings.paper_stages if name in there] or None
    words = settings.tokens, settings.key_tokens
    figure = of_views(views, words, stages, settings.digits, settings.paper, on_panel)
    figure.about = "; ".join(about(settings).lines()[1:])
    return figure


def about(settings: Settings) -> About:
    """What the figure says of itself: it holds the heads that were chosen for it."""
    said = what_it_is(settings)
    if said.head.recorded:  # the only one of these settings, by its number in the model
        return said
    heads = settings.paper_heads or (settings.head,)
    return replace(said, head=Selection("head", heads, settings.heads))


def to_bytes(figure: PaperFigure, form: str, *, dpi: int = 300, outlines: bool = False) -> bytes:
    """The figure as ``"pdf"``, ``"svg"`` or ``"png"``; the same bytes each time.

    ``dpi``: dots per inch of a PNG, at most 600; as it has whole dots alone, its sides may be up to
    one dot shorter than the figure's. ``outlines``: an SVG with letters as shapes, which looks
    alike where its fonts are missing; otherwise its text can be edited.
    """
    if form not in FORMS:
        raise BadInput(f"form is {form!r}; choose one of {', '.join(FORMS)}.")
    if not 50 <= dpi <= MAX_DPI:
        raise BadInput(f"dpi is {dpi!r}; expected 50 to {MAX_DPI}.")
    if form == "png" and (problem := too_many_dots(figure, dpi)):
        raise BadInput(problem)
    return figure.content(form, dpi=dpi, outlines=outlines)


def too_many_dots(figure: PaperFigure, dpi: int) -> str:
    """The sentence where a PNG of the figure would be too large; "" where it would not."""
    wide, tall = (float(inches) for inches in figure.get_size_inches())
    count = wide * tall * dpi**2
    if count <= MAX_DOTS:
        return ""
    return (
        f"a PNG of {2.54 * wide:.1f} × {2.54 * tall:.1f} cm at {dpi} dots per inch has"
        f" {count / 1e6:,.0f} million dots; expected at most {MAX_DOTS / 1e6:.0f} million."
        " Choose fewer dots per inch, or save a PDF or SVG."
    )
