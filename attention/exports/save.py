"""The stages of a trace as a file, by its ending, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path

from attention.captions import formula
from attention.conversion import shown
from attention.exports import tables, text
from attention.exports.report import to_report
from attention.figures.panes import panes
from attention.figures.whole import checked_digits, checked_title, need
from attention.numbers import number
from attention.trace import AttentionTrace
from attention.view import View, axes_of

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
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
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
    ValueError, TypeError
        One sentence, where the ending is another or the labels do not fit.
    OSError
        Where the file cannot be written.

    >>> import tempfile
    >>> from attention import scaled_dot_product_attention
    >>> trace = scaled_dot_product_attention([[2.0]], [[1.0]], [[3.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "trace.csv")
    ...     save(trace, path, tokens=["cat"])
    ...     print(path.read_text().splitlines()[-1])
    output,1,1,cat,1,3
    """
    ending = _file(path).suffix.lower()
    if ending not in (".npz", *WRITERS):
        known = ", ".join([".npz", *WRITERS])
        ends = f"ends in {ending!r}" if ending else "has no ending"
        raise ValueError(f"{Path(path).name!r} {ends}; {known} can be written.")
    view = View.of(trace, tokens=tokens, key_tokens=key_tokens, item=item, head=head)
    if ending == ".npz":
        queries = None if tokens is None else view.labels["queries"]
        keys = None if key_tokens is None else view.labels["keys"]
        content = tables.to_npz(trace, tokens=queries, key_tokens=keys)
    else:
        content = WRITERS[ending](view, checked_digits(digits))
    Path(path).write_bytes(content)


def report(
    trace: AttentionTrace,
    path: str | PathLike[str],
    *,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    item: int = 0,
    head: int = 0,
    digits: int = 2,
    title: str = "Scaled dot-product attention",
) -> None:
    """Write one HTML file with a figure and a table of every stage; it needs no network.

    Parameters
    ----------
    trace : AttentionTrace
    path : file to write, .html
    tokens, key_tokens, item, head :
        As in :meth:`attention.View.of`.
    digits : of the numbers in the figures and tables
    title : over the page

    Raises
    ------
    ValueError, TypeError
        One sentence, where the ending is another, the labels do not fit or no stage has a cell.
    ModuleNotFoundError
        One sentence, where Plotly, which the extra ``[app]`` brings, is not installed.
    """
    need("plotly", "report")
    if _file(path).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{Path(path).name!r} does not end in '.html'; a report is HTML.")
    view = View.of(trace, tokens=tokens, key_tokens=key_tokens, item=item, head=head)
    digits, title = checked_digits(digits), checked_title(title)
    items, heads = axes_of(trace)
    facts = {
        "formula": "".join(part for part, _ in formula(view)),
        "queries": ", ".join(view.labels["queries"]),
        "keys": ", ".join(view.labels["keys"]),
        "item": f"{item} of {items}, counted from 0" if items > 1 else "",
        "head": f"{head} of {heads}, counted from 0" if heads > 1 else "",
        "scale": number(view.scale, 6),
    }
    facts |= {f"warning {k}": sentence for k, sentence in enumerate(trace.warnings, 1)}
    facts = {name: value for name, value in facts.items() if value}
    content = to_report(view, panes(view, digits=digits), title=title, facts=facts, digits=digits)
    Path(path).write_bytes(content)


def _file(path: str | PathLike[str]) -> Path:
    """The file to write, or one sentence."""
    try:
        return Path(path)
    except TypeError:
        raise TypeError(f"path is {shown(path)}; the name of a file is wanted.") from None
