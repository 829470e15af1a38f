"""The stages of a trace as a file, by its ending, for scripts and notebooks."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path

from attention.arrays.conversion import shown
from attention.core.trace import AttentionTrace
from attention.explain.captions import formula
from attention.explain.view import View, axes_of, recorded_words
from attention.exports import tables, text
from attention.exports.report import to_report
from attention.figures.panes.arguments import checked_digits, checked_title, named_stages
from attention.figures.panes.panes import panes
from attention.readers.select import FINISHED
from attention.session.state.about import About, Selection, weighted_by
from attention.session.state.origin import LONGEST_SOURCE, one_line
from attention.session.state.settings import MATRICES
from attention.vocabulary.numbers import number

WRITERS: dict[str, Callable[[View, int, About], bytes]] = {
    ".csv": lambda view, digits, about: tables.to_csv(view, about),
    ".json": lambda view, digits, about: text.to_json(view, about),
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
    stages: Collection[str] | None = None,
    source: str = "",
) -> None:
    """Write every stage of a trace, or some, to a file that says what it is.

    Parameters
    ----------
    trace : AttentionTrace
    path : file to write
        Its ending says the form. ``.npz`` holds every item and head. ``.csv`` (a line for each
        cell), ``.json``, ``.tex`` and ``.md`` hold one item and head, with that head's columns of
        W_Q, W_K and W_V. All are exact but ``.tex`` and ``.md``, which are rounded to ``digits``.
    tokens, key_tokens, item, head :
        As in :meth:`attention.explain.view.View.of`.
    stages : names such as ``["scores", "weights"]``, by default all; ``.npz`` holds all
    source : where the inputs came from, for the file to say beside version and date

    Raises
    ------
    ValueError, TypeError
        One sentence, where the ending is another, the labels do not fit or a stage is not there.
    OSError
        Where the file cannot be written.

    >>> import tempfile
    >>> from attention import scaled_dot_product_attention
    >>> trace = scaled_dot_product_attention([[2.0]], [[1.0]], [[3.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "trace.csv")
    ...     save(trace, path, tokens=["cat"])
    ...     print(path.read_text().splitlines()[-1].partition(" ")[0])
    output,1,1,cat,1,3,0,0,"computed;
    """
    ending = _target(path).suffix.lower()
    if ending not in (".npz", *WRITERS):
        known = ", ".join([".npz", *WRITERS])
        ends = f"ends in {ending!r}" if ending else "has no ending"
        raise ValueError(f"{Path(path).name!r} {ends}; {known} can be written.")
    view = View.of(trace, tokens=tokens, key_tokens=key_tokens, item=item, head=head)
    about = _about(trace, item, head, source, view.sink)
    if ending == ".npz":
        if stages is not None:
            raise ValueError("stages cannot be chosen for a '.npz', which holds all of them.")
        everything = _about(trace, None, None, source)
        if tokens is None and key_tokens is None:
            tokens, key_tokens = recorded_words(trace, item)
        queries = None if tokens is None else view.labels["queries"]
        keys = None if key_tokens is None else view.labels["keys"]
        content = tables.to_npz(trace, tokens=queries, key_tokens=keys, about=everything)
    else:
        chosen = view.only(named_stages(stages, view.stages, "trace"))
        content = WRITERS[ending](chosen, checked_digits(digits), about)
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
    source: str = "",
) -> None:
    """Write one HTML file with a coloured table of every stage; it needs no network.

    Of several heads it shows one, with that head's columns of W_Q, W_K and W_V.

    Parameters
    ----------
    trace : AttentionTrace
    path : file to write, .html
    tokens, key_tokens, item, head :
        As in :meth:`attention.View.of`.
    digits : of the numbers that are printed; more than 16,384 of a stage are not
    title : over the page
    source : where the inputs came from, for the page to say beside version and date

    Raises
    ------
    ValueError, TypeError
        One sentence, where the ending is another or the labels do not fit.
    """
    if _target(path).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{Path(path).name!r} does not end in '.html'; a report is HTML.")
    view = View.of(trace, tokens=tokens, key_tokens=key_tokens, item=item, head=head)
    digits, title = checked_digits(digits), checked_title(title)
    about = _about(trace, item, head, source, view.sink)
    facts = {
        "formula": "".join(part for part, _ in formula(view)),
        "queries": ", ".join(view.labels["queries"]),
        "keys": ", ".join(view.labels["keys"]),
    }
    facts |= {} if trace.weights_alone else {"scale": number(view.scale, 6)}
    facts |= {f"warning {k}": sentence for k, sentence in enumerate(trace.warnings, 1)}
    content = to_report(panes(view, digits=digits), title=title, about=about, facts=facts)
    Path(path).write_bytes(content)


def _about(
    trace: AttentionTrace,
    item: int | None,
    head: int | None,
    source: str,
    sink: float | None = None,
) -> About:
    """What is known of a trace: its inputs, and where the caller says they came from.

    ``sink``: that of the head, where the file holds a single one.
    """
    if not isinstance(source, str):
        raise TypeError(f"source is {shown(source)}; expected text.")
    is_computed = trace.recorded and trace.recorded.is_computed
    unsaid = "computed from captured weights" if is_computed else "given from Python"
    words = one_line(source, LONGEST_SOURCE) or unsaid
    names = [name for name in MATRICES if name not in ("Q", "K", "V")]
    names = [name for name in names if getattr(trace, name, None) is not None]
    names += [] if "X" in names else [FINISHED] if trace.weights_alone else ["Q", "K", "V"]
    parts = [
        Selection.all(word, count)
        if which is None
        else Selection(word, (operator.index(which),), count)
        for word, which, count in zip(("item", "head"), (item, head), axes_of(trace), strict=True)
    ]
    if of := trace.recorded:
        heads = tuple(of.heads[k] for k in parts[1].which)
        if parts[0].count == len(of.items):
            of = replace(of, items=tuple(of.items[k] for k in parts[0].which))
            parts[0] = Selection("item", of.items, of.batch)
        parts[1] = replace(parts[1], which=heads, recorded=of)
    made = weighted_by(trace.softcap, () if sink is None else (sink,), trace.softmax)
    return About(dict.fromkeys(names, words) | made, (), *parts)


def _target(path: str | PathLike[str]) -> Path:
    """The file to write, or one sentence."""
    try:
        return Path(path)
    except TypeError:
        raise TypeError(f"path is {shown(path)}; expected the name of a file.") from None
