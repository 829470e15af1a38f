"""The stages of a trace as a file, by its ending, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from attention.captions import formula
from attention.exports import tables, text
from attention.exports.report import to_report
from attention.figures.panes import panes
from attention.numbers import number
from attention.trace import AttentionTrace
from attention.view import View

WRITERS: dict[str, Callable[[View, int], bytes]] = {
    ".csv": lambda view, digits: tables.to_csv(view),
    ".json": lambda view, digits: text.to_json(view),
    ".tex": text.to_latex,
    ".md": text.to_markdown,
}  # of one item and one head; beside these .npz, which holds them all


def save(
    trace: AttentionTrace,
    path: str | PathLike[str],
    *,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    item: int = 0,
    head: int = 0,
    digits: int = 2,
) -> None:
    """Write every stage of a trace to a file.

    Parameters
    ----------
    trace : AttentionTrace
    path : file to write
        Its ending says the form. ``.npz`` holds every item and head, ``.csv`` (a line for each
        cell) and ``.json`` one item and head, all exact; ``.tex`` and ``.md`` hold one item and
        head, rounded to ``digits``.
    tokens, key_tokens, item, head :
        As in :meth:`attention.view.View.of`.

    Raises
    ------
    ValueError
        One sentence, where the ending is another or the labels do not fit.
    """
    ending = Path(path).suffix.lower()
    if ending == ".npz":
        content = tables.to_npz(trace, tokens=tokens, key_tokens=key_tokens)
    elif ending in WRITERS:
        view = View.of(trace, tokens=tokens, key_tokens=key_tokens, item=item, head=head)
        content = WRITERS[ending](view, digits)
    else:
        known = ", ".join([".npz", *WRITERS])
        raise ValueError(f"the file ends in {ending or 'nothing'!r}; {known} can be written.")
    Path(path).write_bytes(content)


def report(
    trace: AttentionTrace,
    path: str | PathLike[str],
    *,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    item: int = 0,
    head: int = 0,
    digits: int = 2,
    title: str = "Scaled dot-product attention",
) -> None:
    """Write one HTML file with a figure and a table of every stage; it needs no network.

    ``tokens``, ``key_tokens``, ``item`` and ``head`` as in :meth:`attention.view.View.of`; wants
    Plotly, which the extra ``[app]`` brings.
    """
    view = View.of(trace, tokens=tokens, key_tokens=key_tokens, item=item, head=head)
    facts = {
        "formula": "".join(part for part, _ in formula(view)),
        "queries": ", ".join(view.labels["queries"]),
        "keys": ", ".join(view.labels["keys"]),
        "head": f"{head + 1} of {view.heads}",
        "scale": number(view.scale, 6),
    }
    facts |= {f"warning {k}": sentence for k, sentence in enumerate(trace.warnings, 1)}
    content = to_report(view, panes(view, digits=digits), title=title, facts=facts, digits=digits)
    Path(path).write_bytes(content)
