"""A capture as text: what was recorded, how large it is, and what was not recorded."""

from __future__ import annotations

from attention.models.labels import label_note
from attention.models.taken import Call, Taken
from attention.models.verify import AS_GIVEN, look_ahead_lost
from attention.vocabulary.numbers import megabytes
from attention.vocabulary.sentences import amount


def summary(taken: Taken) -> str:
    """Return a line for each of the first calls, then what was missed and whether words fit.

    >>> from attention.models.examples import load
    >>> print(summary(load("verbs")))  # doctest: +ELLIPSIS
    sentence-transformers/all-MiniLM-L6-v2: 2 calls, 50 kB
      layers.0 (encoder.layer.0.attention.self, encoder, eager): 2 × 2 heads [1, 2], ...
      layers.3 (encoder.layer.3.attention.self, encoder, eager): 2 × 2 heads [1, 2], ...
    """
    calls = amount(len(taken.calls), "call")
    lines = [f"{taken.model or 'a model'}: {calls}, {megabytes(taken.size)}"]
    lines += [f"  {line(each)}" for each in taken.calls[:40]]
    if len(taken.calls) > 40:
        lines.append(f"  … and {len(taken.calls) - 40:,} more")
    if taken.missed:
        lines.append(f"  not captured: {', '.join(taken.missed)}")
    if taken.not_run:
        lines.append(f"  was not run: {', '.join(taken.not_run)}")
    if said := label_note(taken):
        lines.append(f"  {said}")
    return "\n".join(lines)


def line(call: Call) -> str:
    """Return the line of a call: what it is, its sizes, and whether a mask is missing.

    >>> from attention.models.examples import load
    >>> print(line(load("verbs")[3]))  # doctest: +ELLIPSIS
    layers.3 (encoder.layer.3.attention.self, encoder, eager): 2 × 2 heads [1, 2], ... d_k 32
    """
    b, h, n_q, d_k = call.Q.shape
    kept = f" {list(call.heads)}" if 0 < len(call.heads) <= 8 else ""
    queries, keys = amount(n_q, "query", "queries"), amount(call.K.shape[2], "key")
    inside = ", ".join(filter(None, _said_of(call)))
    said = f"{call.name} ({inside})" if inside else call.name
    said += f": {b} × {amount(h, 'head')}{kept}, {queries} × {keys}, "
    said += f"d_k {d_k}" if call.weights is None else AS_GIVEN
    if call.grid:
        said += f", {call.grid[0]} × {call.grid[1]} patches"
    if look_ahead_lost(call):
        said += "; its look-ahead (causal) mask was in effect and is not captured"
    return said


def _said_of(call: Call) -> tuple[str, ...]:
    """Return what a line about a call has in its brackets."""
    return call.when, call.module, call.kind, call.implementation
