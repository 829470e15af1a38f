"""A long attention as a file of arrays, and the lines that compute it."""

from __future__ import annotations

import io

import numpy as np

from attention import program
from attention.long.attention import LongAttention
from attention.session.long.long_inputs import LongInputs
from attention.session.state.long_context import MASKS, LongContext, fitted

SAVED = (
    *("mean_map", "row_edges", "key_edges", "lse", "output"),
    *("entropy", "first", "distances", "profile"),
)


def to_npz(record: LongAttention, inputs: LongInputs, s: LongContext) -> bytes:
    """What was computed, and what it is, as ``np.savez_compressed`` writes it."""
    said = [program.made_by(), f"{program.today()}", f"{inputs.source}{inputs.said_of_heads}"]
    said.append(f"mask: {MASKS[s.mask]}")
    if s.mask == "window":
        said[-1] += f" of {s.seen:,} keys"
    said.append("queries and keys are counted from 0: edges begin with the first token at 0")
    arrays = {name: getattr(record, name) for name in SAVED}
    there = {name: array for name, array in arrays.items() if array is not None}
    if record.profile is None:
        del there["distances"]
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(said), **there)
    return file.getvalue()


def code(s: LongContext, inputs: LongInputs) -> str:
    """Python that computes what is seen; of what was brought, its arrays are the reader's own."""
    masks = {"causal": "places.causal()", "lower_right": "places.causal_lower_right()"}
    masks |= {"window": f"places.window({s.seen})", "own": "allowed"}
    lines = ["import attention", "from attention import places"]
    if s.pattern:
        lines += ["from attention.patterns import made", ""]
        lines.append(f'Q, K, _ = made("{s.pattern}", {s.tokens}, seed={s.seed})')
        if s.rotary:
            lines += ["rotary = attention.Rotary()", "Q, K = rotary.rotate(Q), rotary.rotate(K)"]
    else:
        of = f"{inputs.source}{inputs.said_of_heads}"
        lines += ["", f"# Q, K: (heads, tokens, columns), {of}"]
    options = {"allowed": masks.get(s.mask)}
    if s.mask == "own":
        options["allowed"] = None if inputs.allowed is None else "allowed"
        options["bias"] = None if inputs.bias is None else "bias"
        for name in ("allowed", "bias"):
            if options[name]:
                as_it_came = "as captured, (heads, queries, keys) or fewer axes"
                if not isinstance(getattr(inputs, name), np.ndarray):
                    as_it_came = "of attention.places, as set there"
                lines.append(f"# {name}: {as_it_came}")
    options |= {name: repr(getattr(inputs, name)) for name in ("scale", "softcap")}
    if inputs.sinks is not None:
        options["sinks"] = repr(inputs.sinks.tolist())
    given = "".join(f", {name}={how}" for name, how in options.items() if how not in (None, "None"))
    results = ", ".join(f'"{name}"' for name in ("mean_map", *s.also))
    top, bottom, left, right = fitted(s.window, inputs.n_q, inputs.n_k)
    head = f", head={s.head}" if inputs.heads > 1 else ""
    of = (f', of="{s.of}"' if s.of != "mean" else "") + head
    if head and inputs.numbers:
        lines.append(f"# head={s.head} of the arrays is the model's head {inputs.number(s.head)}")
    lines += [
        "found = attention.long_attention(",
        f"    Q, K{given},",
        f"    results=[{results}],",
        ")",
        "print(found)",
        f"row = found.rows([{s.query}]{head})  # exact weights of one query, counted from 0",
        "# what the map shows, in at most 512 × 512 cells",
        f"part = found.window(({top}, {bottom}), ({left}, {right}){of})",
    ]
    return "\n".join(lines) + "\n"
