"""Where a trace stops being made of finite numbers, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attention.vocabulary.sentences import capital, in_words, plural

if TYPE_CHECKING:
    from attention.core.recorded import Recorded

MOST_WARNINGS = 8  # sentences of one trace
MOST_QUERIES = 5  # named in one sentence


@dataclass(frozen=True)
class Trouble:
    """Queries of one item and head that meet a number that is not finite, for one reason."""

    place: str  # "item 0, head 1"; empty where there are no leading axes
    queries: tuple[int, ...]  # counted from 0
    reason: str

    def __str__(self) -> str:
        """Return one sentence; items, heads and queries are counted from 0, as in NumPy."""
        who = listed([str(query) for query in self.queries])
        place = ", ".join(filter(None, (self.place, who)))
        return capital(f"{place}, counted from 0: {self.reason}.")


def listed(names: Sequence[str]) -> str:
    """Name the queries, the first few of them.

    >>> listed("ab"), listed("abcdefgh")
    ('queries a and b', 'queries a, b, c, d, e and 3 more')
    """
    return f"{plural(len(names), 'query', 'queries')} {in_words(names, MOST_QUERIES)}"


def warnings_of(trace: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sentences of :func:`troubles`; the last one says how many were left out."""
    sentences = [str(trouble) for trouble in troubles(trace)]
    left = len(sentences) - MOST_WARNINGS
    if left > 0:
        sentences[MOST_WARNINGS:] = [f"{left} more such warnings are left out."]
    return tuple(sentences)


def troubles(trace: Mapping[str, Any]) -> Iterator[Trouble]:
    """Yield which queries meet a number that is not finite, and why, item by item, head by head.

    ``trace``: the fields of an AttentionTrace by name, as ``vars`` gives them.

    1. A look at the whole: where all is finite, or hidden, nothing more is read.
    2. For each item and head the causes in the order of the computation. A query gets the first
       one that it meets; what is hidden from it does not count.
    3. What is projected, where the heads themselves gave finite numbers.
    """
    output, joined, projected = (trace[name] for name in ("output", "joined", "projected"))
    of_heads = joined is not None and joined.ndim < output.ndim
    if trace["weights_alone"]:
        yield from _of_weights(trace["weights"], trace["recorded"])
    elif not _is_well(trace):
        lead = output.shape[:-2]
        modified = trace["scaled"] if trace["modified"] is None else trace["modified"]
        looked_at = {name: trace[name] for name in LOOKED_AT} | {"modified": modified}
        spread = {
            name: np.broadcast_to(stage, (*lead, *stage.shape[-2:]))
            for name, stage in looked_at.items()
        }
        for at in np.ndindex(lead):
            told = np.zeros(output.shape[-2], bool)
            for reason, rows in _reasons(**{name: stage[at] for name, stage in spread.items()}):
                queries = np.flatnonzero(rows & ~told)
                told |= rows
                if queries.size:
                    yield Trouble(
                        _place(at, of_heads, trace["recorded"]), tuple(queries.tolist()), reason
                    )
    if projected is not None and joined is not None:
        lost = _lost(projected) & ~_lost(joined)
        for at in np.ndindex(lost.shape[:-1]):
            if lost[at].any():
                reason = f"W_O holds NaN or infinity, or leads beyond {_end(projected)}"
                yield Trouble(_place(at, False), tuple(np.flatnonzero(lost[at]).tolist()), reason)


def _of_weights(weights: np.ndarray, recorded: Recorded | None) -> Iterator[Trouble]:
    """Yield which queries have finished weights that are not finite."""
    lost = _lost(weights)
    for at in np.ndindex(lost.shape[:-1]):
        if lost[at].any():
            queries = tuple(np.flatnonzero(lost[at]).tolist())
            yield Trouble(_place(at, True, recorded), queries, "the weights hold NaN or infinity")


def _is_well(trace: Mapping[str, Any]) -> bool:
    """Return whether every number is finite, apart from the −∞ of hidden keys."""
    for stage in (trace["scores"], trace["scaled"], trace["output"]):
        with np.errstate(all="ignore"):
            extremes = (stage.min(), stage.max()) if stage.size else ()
        if not np.isfinite(extremes).all():
            return False
    return not (trace["allowed"] & ~np.isfinite(trace["masked"])).any()


def _place(at: tuple[int, ...], of_heads: bool, recorded: Recorded | None = None) -> str:
    """Name the leading axes: the batch, then the head if there is an axis of heads."""
    *items, head = at if at and (of_heads or len(at) > 1) else (*at, None)
    item = f"item {', '.join(map(str, items))}" if items else ""
    head = recorded.heads[head] if recorded and head is not None else head
    return ", ".join(filter(None, (item, "" if head is None else f"head {head}")))


# What _reasons takes of a trace: the stages in which a cause begins, and what is hidden. That of a
# norm, a rotation or a cap begins in Q, K or the scores, and is reported there.
LOOKED_AT = ("Q", "K", "V", "scores", "scaled", "modified", "masked", "allowed", "output")


def _reasons(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    scores: np.ndarray,
    scaled: np.ndarray,
    modified: np.ndarray,
    masked: np.ndarray,
    allowed: np.ndarray,
    output: np.ndarray,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each cause with the queries that meet it, (n_q,) booleans, of one item and head."""

    def visible(bad: np.ndarray) -> np.ndarray:
        return np.asarray((allowed & bad).any(axis=-1))

    ends, poison = _end(scores), "NaN or infinity"
    yield f"Q holds {poison}", visible(_lost(Q)[:, None])
    yield f"K holds {poison} at a visible key", visible(_lost(K))
    yield f"the scores go beyond {ends}; make Q or K smaller", visible(~np.isfinite(scores))
    yield f"the scale takes the scores beyond {ends}", visible(~np.isfinite(scaled))
    yield f"score_mod makes scores infinite or NaN in {ends}", visible(~np.isfinite(modified))
    yield f"the bias makes scores infinite or NaN in {ends}", visible(~np.isfinite(masked))
    yield f"V holds {poison} at a visible key", visible(_lost(V))
    yield f"the output is not finite, or goes beyond {ends}", _lost(output)


def _lost(M: np.ndarray) -> np.ndarray:
    """Return which rows hold a number that is not finite, (…, n)."""
    return np.asarray(~np.isfinite(M).all(axis=-1))


def _end(stage: np.ndarray) -> str:
    return f"{stage.dtype}, which ends at {np.finfo(stage.dtype).max:.2g}"
