"""A long attention as a file of arrays, and the lines that compute it."""

from __future__ import annotations

import io

import numpy as np

from attention import program
from attention.long import LongAttention
from attention.session.long_context import MASKS, LongContext
from attention.session.long_inputs import LongInputs

SAVED = (
    *("mean_map", "largest_map", "row_edges", "key_edges", "lse", "output"),
    *("entropy", "first", "distances", "profile"),
)


def to_npz(record: LongAttention, inputs: LongInputs, s: LongContext) -> bytes:
    """What was computed, and what it is, as ``np.savez_compressed`` writes it."""
    said = [program.made_by(), f"{program.today()}", inputs.source, f"mask: {MASKS[s.mask]}"]
    if s.mask == "window":
        said[-1] += f" of {s.seen:,} keys"
    arrays = {name: getattr(record, name) for name in SAVED}
    there = {name: array for name, array in arrays.items() if array is not None}
    if record.profile is None:
        del there["distances"]
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(said), **there)
    return file.getvalue()


def code(s: LongContext, inputs: LongInputs, query: int) -> str:
    """Python that computes what is seen; of what was brought, its arrays are the reader's own."""
    masks = {"causal": "places.causal()", "lower_right": "places.causal_lower_right()"}
    masks |= {"window": f"places.window({s.seen})", "none": "None", "own": "allowed"}
    lines = ["import attention", "from attention import places"]
    if s.pattern:
        lines += ["from attention.patterns import made", ""]
        lines.append(f'Q, K, _ = made("{s.pattern}", {s.tokens}, seed={s.seed})')
        if s.rotary:
            lines += ["rotary = attention.Rotary()", "Q, K = rotary.rotate(Q), rotary.rotate(K)"]
    else:
        lines += ["", f"# Q, K: {inputs.source}"]
        lines += ["# allowed: (n_q, n_k), True = may look"] * (s.mask == "own")
    results = ", ".join(f'"{name}"' for name in (f"{s.of}_map", *s.also))
    scale = "" if inputs.scale is None else f", scale={inputs.scale!r}"
    top, left = min(inputs.n_q, 512), min(inputs.n_k, 512)
    lines += [
        "found = attention.long_attention(",
        f"    Q, K, allowed={masks[s.mask]}{scale}, results=[{results}]",
        ")",
        "print(found)",
        f"found.rows([{query}])  # exact weights of one query",
        f"found.window((0, {top}), (0, {left}))  # and of a part, in at most 512 × 512 cells",
    ]
    return "\n".join(lines) + "\n"
