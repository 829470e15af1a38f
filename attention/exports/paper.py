"""A paper figure as the bytes of a file."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from attention.limits import BadInput

if TYPE_CHECKING:
    from attention.figures.paper_drawing import PaperFigure

FORMS = {"pdf": "application/pdf", "svg": "image/svg+xml", "png": "image/png"}
MAX_DPI = 600


def to_bytes(figure: PaperFigure, form: str, *, dpi: int = 300, outlines: bool = False) -> bytes:
    """The figure as ``"pdf"``, ``"svg"`` or ``"png"``; the same bytes each time.

    ``dpi``: dots per inch of a PNG, at most 600. ``outlines``: an SVG with letters as shapes, which
    looks alike where its fonts are missing; otherwise its text can be edited.
    """
    if form not in FORMS:
        raise BadInput(f"form is {form!r}; choose one of {', '.join(FORMS)}.")
    if not 50 <= dpi <= MAX_DPI:
        raise BadInput(f"dpi is {dpi!r}; 50 to {MAX_DPI} are wanted.")
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(form)
    file = BytesIO()
    figure.savefig(file, format=form, dpi=dpi, outlines=outlines, metadata=undated)
    return file.getvalue()
