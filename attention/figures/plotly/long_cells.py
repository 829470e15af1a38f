"""A long context as a page draws it: a map in cells with its axes, and lines along the tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.explain.colours import FAINTEST
from attention.figures.panes.shades import SHARE, shades
from attention.figures.plotly.charts import Chart, axis, chart, chart_layout, pointed_at
from attention.figures.plotly.theme import LINES
from attention.long.attention import Cells, LongAttention
from attention.long.places import Allowed
from attention.vocabulary.numbers import number

DASHES = "solid", "dash", "dot"  # of the other heads, where there are more than colours
MOST_WORDS = 512  # queries or keys whose words are sent along
FEW = 8  # places of an axis that has a tick at each
Ticks = list[tuple[float, str]]  # places from 0 to 1, and what stands there


@dataclass(frozen=True, eq=False)
class LongMap:
    """What the page's map needs to be drawn and read."""

    cells: Cells
    shades: bytes  # one for each cell
    whole: tuple[int, int]  # how many queries and keys there are in all
    scale: Ticks  # of the colour bar
    query_ticks: Ticks
    key_ticks: Ticks
    measure: str  # what the number of a cell is
    query_words: tuple[str, ...] | None
    key_words: tuple[str, ...] | None
    says: str


def long_map(
    cells: Cells,
    whole: tuple[int, int],
    *,
    hidden: np.ndarray | None = None,
    of: str = "mean",
    logarithmic: bool = False,
    words: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> LongMap:
    """The map of a window; ``hidden`` as :func:`hidden_cells` finds them.

    Colours follow the square root of what share each cell is of the largest, or its logarithm.
    """
    values = cells.values
    most = float(values.max(initial=0.0)) or 1.0
    share = values / np.asarray(most, values.dtype)
    if logarithmic:
        with np.errstate(divide="ignore"):
            grown = 1 - np.log10(share) / math.log10(FAINTEST)
        share = np.square(np.clip(grown, 0, 1))  # shades take the root
        scale = [(k / 3, number(most * FAINTEST ** (1 - k / 3))) for k in range(4)]
        scale[0] = (0.0, f"≤{scale[0][1]}")
    else:
        scale = [(0.0, "0"), (0.5, number(most / 4)), (1.0, number(most))]
    rows, columns = cells.row_edges, cells.key_edges
    first, last = _range(rows), _range(columns)
    return LongMap(
        cells=cells,
        shades=shades(share, SHARE, hidden),
        whole=whole,
        scale=scale,
        query_ticks=ticks(rows),
        key_ticks=ticks(columns),
        measure=measure_of(cells, of),
        query_words=_words_at(words[0], rows),
        key_words=_words_at(words[1], columns),
        says=f"Attention weights of {first} for {last}; the largest is {number(most, 3)}. Arrow"
        " keys read cells, Enter zooms in, Escape out, Space chooses a query.",
    )


def _range(edges: np.ndarray) -> str:
    return f"{edges[0] + 1:,} to {edges[-1]:,}"


def _words_at(words: Sequence[str], edges: np.ndarray) -> tuple[str, ...] | None:
    if not len(words) or edges[-1] - edges[0] > MOST_WORDS:
        return None
    return tuple(words[edges[0] : edges[-1]])


def cell_size(edges: np.ndarray) -> int:
    """How many tokens a cell holds; the last may hold fewer."""
    return int(edges[1] - edges[0])


def measure_of(cells: Cells, of: str) -> str:
    """What the number of a cell is, in words.

    >>> two, one = np.array([0, 2, 3]), np.arange(4)
    >>> measure_of(Cells(np.zeros((2, 2)), two, two), "mean")
    'share of 2 keys, mean of 2 queries,'
    >>> measure_of(Cells(np.zeros((3, 2)), one, two), "mean")
    'share of 2 keys'
    """
    q, k = cell_size(cells.row_edges), cell_size(cells.key_edges)
    if q == k == 1:
        return "weight"
    if of == "largest":
        return "largest weight"
    keys = f"share of {k:,} keys" if k > 1 else "weight"
    return f"{keys}, mean of {q:,} queries," if q > 1 else keys


def ticks(edges: np.ndarray, most: int = 6) -> Ticks:
    """Return round numbers of tokens along an axis, counted from 1, and their places.

    >>> ticks(np.arange(0, 1001, 2), 2)
    [(0.499, '500'), (0.999, '1,000')]
    """
    begin, end = int(edges[0]) + 1, int(edges[-1]) + 1
    size = end - begin
    power = 10 ** math.floor(math.log10(max(size / most, 1)))
    step = next(power * m for m in (1, 2, 5, 10) if power * m * most >= size)
    half = 0.5 if cell_size(edges) == 1 else 0.0  # of a single cell the middle
    first = -(-begin // step) * step
    return [(round((at - begin + half) / size, 4), f"{at:,}") for at in range(first, end, step)]


def hidden_cells(
    cells: Cells, allowed: Allowed | np.ndarray | None, n_k: int, item: int = 0
) -> np.ndarray | None:
    """(rows, columns), True where no query of the cell may look at any of its keys.

    ``allowed``: as a function of the place, whose own bounds of what a block sees are used, or an
    array that broadcasts to (n_q, n_k).

    >>> from attention.long import places
    >>> edges = np.array([0, 2, 4])
    >>> hidden_cells(Cells(np.zeros((2, 2)), edges, edges), places.causal(), 4)
    array([[False,  True],
           [False, False]])
    """
    if allowed is None:
        return None
    rows, columns = cells.row_edges, cells.key_edges
    begins, ends = columns[:-1], columns[1:]
    if isinstance(allowed, Allowed):
        spans = [allowed.spans(item, int(a), int(b) - 1, n_k)[0] for a, b in _pairs(rows)]
        begin, end = np.array(spans).T[..., None]
        return np.asarray((ends[None] <= begin) | (begins[None] >= end))
    top, bottom, left, right = rows[0], rows[-1], columns[0], columns[-1]
    seen = np.broadcast_to(allowed, (max(int(bottom), allowed.shape[-2]), n_k))
    seen = np.logical_or.reduceat(seen[top:bottom, left:right], rows[:-1] - top, axis=0)
    return ~np.logical_or.reduceat(seen, begins - left, axis=1)


def _pairs(edges: np.ndarray) -> zip:
    return zip(edges[:-1], edges[1:], strict=True)


# ---- lines along the tokens ----------------------------------------------------------------------


def row_pane(
    weights: np.ndarray, begin: int, query: int, words: tuple[Sequence[str], Sequence[str]]
) -> Chart:
    """One query's weights of the keys from ``begin`` on; of many, the largest of each cell.

    Queries and keys are given by their place from 0, and shown counted from 1.
    """
    n = len(weights)
    cell = max(1, -(-n // 1024))
    starts = np.arange(0, n, cell)
    drawn = np.maximum.reduceat(weights, starts) if n else weights
    best = int(weights.argmax()) if n else 0
    word = f" “{words[0][query]}”" if len(words[0]) else ""
    key = f" “{words[1][begin + best]}”" if len(words[1]) else ""
    said = (
        f"Of the keys shown, {begin + best + 1:,}{key} gets the most: {number(weights[best], 4)}."
        f" Together they get {number(float(weights.sum(dtype=np.float64)), 4)}."
    )
    if cell > 1:
        said += f" Each point is the largest of {cell:,} keys."
    line = _line(begin + starts + 1, drawn, "weight", 0)
    return _pane(
        "long_row", f"Query {query + 1:,}{word}", said, [line], "key", "weight", rangemode="tozero"
    )


def panes_along(
    record: LongAttention, head: int, past: int = 0, numbers: Sequence[int] = ()
) -> list[Chart]:
    """What was asked for of every query, as charts; the first query stands at key ``past``.

    ``numbers``: of its heads, where these are not counted from 0.
    """
    panes = list[Chart]()
    keys = record.shape[-1]
    if record.entropy is not None:
        most, mean = number(math.log(keys)), number(float(record.entropy[head].mean()))
        said = (
            "In nats (natural logarithm): 0 if one key has all the weight,"
            f" ln {keys:,} = {most} if all keys have the same. The mean is {mean}."
        )
        panes.append(
            along_pane("long_entropy", "Entropy", said, record.entropy, head, "nats", numbers)
        )
    shares = (
        (
            "long_first",
            "Weight on the first token",
            "What each query gives the first token",
            record.first,
        ),
        (
            "long_sink",
            "Weight of the sink",
            "What each query gives to no key",
            record.sunk,
        ),
    )
    for name, title, said, values in shares:
        if values is not None:
            mean = number(float(values[head].mean(dtype=np.float64)), 4)
            panes.append(
                along_pane(
                    name, title, f"{said}; {mean} on average.", values, head, "share", numbers
                )
            )
    if record.profile is not None:
        panes.append(profile_pane(record.distances + past, record.profile, head, numbers))
    return panes


def along_pane(
    name: str,
    title: str,
    said: str,
    values: np.ndarray,
    shown: int,
    unit: str,
    numbers: Sequence[int] = (),
) -> Chart:
    """Figures of each query, (h, n_q), along the queries: the mean of each cell, a line a head."""
    n = values.shape[-1]
    cell = max(1, -(-n // 512))
    starts = np.arange(0, n, cell)
    counts = np.diff([*starts, n])
    means = np.add.reduceat(values.astype(np.float64), starts, axis=-1) / counts
    lines = _by_head(starts + 1, means, shown, numbers)
    if cell > 1:
        said += f" Each point is the mean of {cell:,} queries."
    return _pane(name, title, said, lines, "query", unit, rangemode="tozero")


def profile_pane(
    distances: np.ndarray, profile: np.ndarray, shown: int, numbers: Sequence[int] = ()
) -> Chart:
    """The mean weight by how far a key stands before its query, (h, distances), on two logarithmic
    axes; equal ratios of distances have one point."""
    behind = distances >= 0
    distance, weights = distances[behind], profile[:, behind].astype(np.float64)
    edges = np.unique(np.geomspace(1, max(len(distance), 2), 60).round().astype(int))
    edges = edges[edges < len(distance)]
    starts = np.concatenate([[0], edges]) if len(distance) > 1 else np.array([0])
    counts = np.diff([*starts, len(distance)])
    means = np.add.reduceat(weights, starts, axis=-1) / counts
    places = distance[starts] + (counts - 1) / 2
    said = (
        "The weight of the key at this distance before the query, averaged over all queries."
        f" At distance 0 it is {number(weights[shown, 0], 4)}."
    )
    if ahead := float(profile[shown, ~behind].sum(dtype=np.float64)):
        said += f" Keys after the query get {number(ahead, 4)} together and are not shown."
    lines = _by_head(1 + places, means, shown, numbers)
    pane = _pane(
        "long_distance", "By distance", said, lines, "distance + 1", "mean weight", type="log"
    )
    pane.figure["layout"]["xaxis"] |= {"type": "log", "dtick": 1}
    return pane


def _by_head(x: np.ndarray, values: np.ndarray, shown: int, numbers: Sequence[int]) -> list[dict]:
    """A line for each head, (h, places), that of the shown one last and above the others."""
    names = [f"head {number}" for number in numbers or range(len(values))]
    if len(values) == 1:
        return [_line(x, values[0], names[0] if numbers else "this head", 0)]
    others = [head for head in range(len(values)) if head != shown]
    lines = []
    for k, head in enumerate(others):
        line = _line(x, values[head], names[head], 1 + k % (len(LINES) - 1), 0.6)
        line["line"]["dash"] = DASHES[k // (len(LINES) - 1) % len(DASHES)]
        lines.append(line)
    lines.append(_line(x, values[shown], names[shown], 0))
    for head, line in zip([*others, shown], lines, strict=True):
        line["legendrank"] = head
    return lines


def _line(x: np.ndarray, y: np.ndarray, name: str, colour: int, opacity: float = 1.0) -> dict:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": np.asarray(x).tolist(),
        "y": np.asarray(y, float).tolist(),
        "opacity": opacity,
        "line": {"color": LINES[colour], "width": 1.6 if opacity == 1 else 1},
        "customdata": pointed_at(y),
        "hovertemplate": "%{x:,}: %{customdata}<extra>" + name + "</extra>",
    }


def _pane(
    name: str, title: str, said: str, lines: list[dict], x: str, y: str, **yaxis: Any
) -> Chart:
    ends = [at for line in lines for at in (line["x"][0], line["x"][-1]) if line["x"]]
    # Plotly would write some whole numbers twice where there are few
    few = {"dtick": 1} if ends and max(ends) - min(ends) <= FEW else {}
    layout = chart_layout(
        axis(x, tickformat=",d", **few),
        axis(y, exponentformat="power", **yaxis),
        showlegend=len(lines) in range(2, 9),
    )
    return chart(name, title, said, {"data": lines, "layout": layout})
