"""Matplotlib, which draws what is printed: loaded when the first figure is drawn, where it can be.

It wants a folder for its list of fonts while it is imported; a machine may have none to write to.
"""

from attention.limits import BadInput

NO_FOLDER = (
    "nothing can be drawn to print: Matplotlib finds no folder that it may write to; the variable"
    " MPLCONFIGDIR of the environment may name one."
)


def load() -> None:
    """Import Matplotlib, or BadInput says why it cannot be."""
    try:
        import matplotlib.font_manager  # noqa: F401
    except OSError:
        raise BadInput(NO_FOLDER) from None
