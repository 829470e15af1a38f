"""The example as code that needs NumPy alone: a script and a notebook that check their numbers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from attention.arrays.layouts import repeat_heads
from attention.core.biases import alibi_slopes
from attention.core.masks import TUTORIAL_FILL
from attention.core.scores import SIGMOID
from attention.core.trace import AttentionTrace, reading_order
from attention.limits import ROUNDED
from attention.session.state.about import About, Selection, what_it_is
from attention.session.state.settings import PUSHED, Settings, allowed, past
from attention.vocabulary.markdown import plain
from attention.vocabulary.stages import COMPUTED, STAGES

CHECK = """for name, matrix in expected.items():
    np.testing.assert_allclose(globals()[name], matrix, rtol=1e-9, atol=1e-12, err_msg=name)
print("every stage matches")"""


def to_python(settings: Settings, trace: AttentionTrace, title: str) -> bytes:
    """A script that recomputes every stage from the inputs and asserts that it is the one shown."""
    first = f"{_quiet(title)}: scaled dot-product attention, recomputed with NumPy alone."
    lines = [_quiet(line) for line in about(settings).lines()]
    parts = ['"""' + "\n".join([first, "", *lines]) + '\n"""']
    parts += [f"# {heading}\n{code}" for heading, code in sections(settings, trace)]
    return ("\n\n".join(parts) + "\n").encode()


def to_notebook(settings: Settings, trace: AttentionTrace, title: str) -> bytes:
    """The same as a Jupyter notebook (nbformat 4.5): a heading and a cell for each part."""
    heading = f"# {plain(title)}\n\nScaled dot-product attention, recomputed with NumPy alone."
    heading += f"\n\n{about(settings).markdown()}"
    cells = [_notebook_cell(0, "markdown", heading)]
    for k, (heading, code) in enumerate(sections(settings, trace), 1):
        cells += [
            _notebook_cell(2 * k - 1, "markdown", f"## {heading}"),
            _notebook_cell(2 * k, "code", code),
        ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1).encode()


def about(settings: Settings) -> About:
    """What both say of themselves: they hold one item and all its heads."""
    return replace(what_it_is(settings), head=Selection.all("head", settings.heads))


def brief(settings: Settings, trace: AttentionTrace) -> str:
    """The lines that compute every stage, without the numbers they start from.

    Finished weights have none: "".

    >>> from attention.session.state.examples import EXAMPLES
    >>> from attention.session.state.run import run
    >>> settings = EXAMPLES["cat-sat"].build()
    >>> print(brief(settings, run(settings)).splitlines()[0])
    Q = X @ W_Q
    """
    return "\n".join(code for _, code in _computed(settings, trace))


def _computed(settings: Settings, trace: AttentionTrace) -> list[tuple[str, str]]:
    if settings.weights_alone:
        return []
    return [
        ("Queries, keys and values", _projections(settings)),
        *_before_scores(settings, trace),
        ("The stages", _stages(settings, trace)),
    ]


def sections(settings: Settings, trace: AttentionTrace) -> list[tuple[str, str]]:
    """Heading and code of each part, in order. Of a batch, the item that is looked at."""
    if settings.weights_alone:
        return _finished(settings, trace)
    return [
        ("The inputs", _inputs(settings, trace)),
        *_computed(settings, trace),
        ("The numbers that were on the page", _expected(settings, trace)),
        ("They are the same", CHECK),
    ]


def _finished(settings: Settings, trace: AttentionTrace) -> list[tuple[str, str]]:
    """Weights alone: there is nothing to compute."""
    lines = ["import numpy as np", "", f"tokens = {_python_list(settings.tokens)}"]
    if settings.memory_tokens:
        lines.append(f"memory_tokens = {_python_list(settings.memory_tokens)}")
    axes = "(heads, queries, keys)" if trace.weights.ndim > 2 else "(queries, keys)"
    lines += [f"# {axes}", f"weights = {_array(trace.weights)}"]
    given = [("Finished attention weights", "\n".join(lines))]
    sums = trace.weights.sum(axis=-1)
    if not ((abs(sums - 1) <= ROUNDED) | (sums == 0)).all():  # a sink takes a share
        return given
    test = f"sums = weights.sum(axis=-1)\nassert ((abs(sums - 1) <= {ROUNDED}) | (sums == 0)).all()"
    return [*given, ("Each row shares out 1", test)]


def _inputs(settings: Settings, trace: AttentionTrace) -> str:
    item = settings.item if settings.batch else ...
    lines = ["import numpy as np", "", "nan, inf = np.nan, np.inf"]
    lines.append(f"tokens = {_python_list(settings.tokens)}")
    if settings.memory_tokens:
        lines.append(f"memory_tokens = {_python_list(settings.memory_tokens)}")
    for name, matrix in settings.matrices.items():
        values = matrix.values if STAGES[name].is_shared else matrix.values[item]
        lines.append(f"{name} = {_array(values)}")
    seen = _array(allowed(settings).astype(int))
    lines.append(f"allowed = {seen} == 1  # True where query i may look at key j")
    return "\n".join([*lines, f"scale = {trace.scale!r}", f"heads = {settings.heads}"])


def _projections(settings: Settings) -> str:
    here = settings.matrices
    lines = ["X_P = X + P"] if "P" in here else []
    X = "X_P" if lines else "X"
    source = "memory" if settings.memory_tokens else X
    if not settings.typed_qkv:
        for name, left in (("Q", X), ("K", source), ("V", source)):
            added = f" + b_{name}" if f"b_{name}" in here else ""
            lines.append(f"{name} = {left} @ W_{name}{added}")
    split = "M.reshape(len(M), {}, -1).swapaxes(0, 1)"
    if settings.kv_heads < settings.heads:
        repeated = f"np.repeat({split.format('kv_heads')}, heads // kv_heads, axis=0)"
        lines += [
            f"kv_heads = {settings.kv_heads}  # each serves heads // kv_heads of queries",
            f"Q = {split.format('heads').replace('M', 'Q')}  # (heads, n, d)",
            f"K, V = ({repeated} for M in (K, V))",
        ]
    elif settings.heads > 1:
        split = split.format("heads")
        lines.append(f"Q, K, V = ({split} for M in (Q, K, V))  # (heads, n, d)")
    return "\n".join(lines) or "# Q, K and V are given"


def _before_scores(settings: Settings, trace: AttentionTrace) -> list[tuple[str, str]]:
    """Norm and rotation, in the order of the layer."""
    Q, K, code = "Q", "K", []
    steps = [name[2:] for name in reading_order(trace) if name in ("Q_normed", "Q_rotated")]
    for step in steps:
        if getattr(trace, f"Q_{step}") is None:
            continue
        lines = _normed(settings) if step == "normed" else _rotated(settings)
        more = ("rotary_offset", "0") if step == "rotated" else ("gain_Q", "gain_K")
        lines.append(f"Q_{step}, K_{step} = {step}({Q}, {more[0]}), {step}({K}, {more[1]})")
        code.append((f"Q and K, {step}", "\n".join(lines)))
        Q, K = f"Q_{step}", f"K_{step}"
    return code


def _normed(settings: Settings) -> list[str]:
    norm, heads = settings.norm, settings.heads
    if norm is None:
        return []
    gains = {"Q": norm.gains("Q", settings.d_k, heads)}
    gains["K"] = norm.gains("K", settings.d_k, settings.kv_heads)
    if gains["K"].ndim > 2:  # of heads that serve several
        gains["K"] = repeat_heads(gains["K"], heads)
    axes = "(0, -1)" if norm.whole and heads > 1 else "-1"
    return [
        *(f"gain_{name} = {_array(gain)}" for name, gain in gains.items()),
        "def normed(M, gain):",
        f"    mean = (M**2).mean(axis={axes}, keepdims=True)",
        f"    return M / np.sqrt(mean + {norm.eps!r}) * gain",
    ]


def _rotated(settings: Settings) -> list[str]:
    rotary = settings.rotary
    if rotary is None:
        return []
    a, b = (f"slice({p.start}, {p.stop}, {p.step})" for p in rotary.pairs_of(settings.d_k))
    return [
        f"rotary_offset = {rotary.offset}  # the position of the first query",
        f"frequencies = {_array(rotary.turns(settings.d_k))}",
        f"first, second = {a}, {b}  # the columns of each pair",
        "def rotated(M, offset):",
        "    angles = (offset + np.arange(M.shape[-2]))[:, None] * frequencies",
        f"    cos, sin = {rotary.factor!r} * np.cos(angles), {rotary.factor!r} * np.sin(angles)",
        "    a, b, turned = M[..., first], M[..., second], M.copy()",
        "    turned[..., first], turned[..., second] = a * cos - b * sin, b * cos + a * sin",
        "    return turned",
    ]


def _stages(settings: Settings, trace: AttentionTrace) -> str:
    here = [name for name in reading_order(trace) if getattr(trace, name, None) is not None]
    Q, K = ([name for name in here if name in (M, f"{M}_normed", f"{M}_rotated")] for M in "QK")
    lines = [f"scores = {Q[-1]} @ {K[-1]}.swapaxes(-1, -2)", "scaled = scores * scale"]
    last = "scaled"
    if settings.softcap is not None:
        lines.append(f"capped = {settings.softcap!r} * np.tanh(scaled / {settings.softcap!r})")
        last = "capped"
    if settings.alibi:
        lines += _alibi(settings)
        last += " + alibi"
    if "R" in settings.matrices:
        lines += _relative(settings)
        last += " + relative"
    if settings.fill == PUSHED:
        lines.append(f"masked = {last} + np.where(allowed, 0, {TUTORIAL_FILL!r})")
    else:
        lines.append(f"masked = np.where(allowed, {last}, -np.inf)")
    if settings.softmax == SIGMOID:
        lines.append("weights = np.exp(-np.logaddexp(0, -masked))  # 1 / (1 + exp(-masked))")
    elif settings.sinks:
        sinks = settings.sinks[0] if len(settings.sinks) == 1 else list(settings.sinks)
        column = "[:, None, None]" if isinstance(sinks, list) else ""
        lines += [
            f"sinks = np.array({sinks!r}){column}  # a score of no key, in the sum of each row",
            "highest = np.maximum(masked.max(axis=-1, keepdims=True), sinks)",
            "shifted = np.exp(masked - highest)",
            "total = shifted.sum(axis=-1, keepdims=True) + np.exp(sinks - highest)",
            "weights = shifted / total",
        ]
    elif settings.softmax:
        lines += [
            "highest = masked.max(axis=-1, keepdims=True)",
            "shifted = np.exp(masked - np.where(np.isinf(highest), 0, highest))"
            "  # a row that sees no key: all 0",
            "total = shifted.sum(axis=-1, keepdims=True)",
            "weights = shifted / np.where(total == 0, 1, total)",
        ]
    else:
        lines.append("weights = np.where(np.isinf(masked), 0, masked)  # softmax is off")
    lines.append("output = weights @ V")
    if settings.heads > 1 or "W_O" in settings.matrices:
        joined = (
            "output.swapaxes(0, 1).reshape(len(tokens), -1)" if settings.heads > 1 else "output"
        )
        lines.append(f"joined = {joined}")
    if "W_O" in settings.matrices:
        added = " + b_O" if "b_O" in settings.matrices else ""
        lines.append(f"projected = joined @ W_O{added}")
    if settings.context:
        lines.append("context = output.sum(axis=-2)")
    return "\n".join(lines)


def _alibi(settings: Settings) -> list[str]:
    """What is taken from the scores by distance."""
    slopes = alibi_slopes(settings.heads)
    column = "[:, None, None]" if settings.heads > 1 else ""
    at = f"np.arange(Q.shape[-2])[:, None] + {past(settings)}"
    return [
        f"slopes = {_array(slopes)}{column}",
        f"alibi = -slopes * abs({at.removesuffix(' + 0')} - np.arange(K.shape[-2]))",
    ]


def _relative(settings: Settings) -> list[str]:
    """What the table of distances adds to the scores."""
    side = settings.shape("R")[0] // (2 if settings.bidirectional else 1)
    far = settings.max_distance
    ahead = f" + {side} * (behind < 0)" if settings.bidirectional else ""
    return [
        f"behind = np.arange(Q.shape[-2])[:, None] + {past(settings)} - np.arange(K.shape[-2])",
        f"distance = {'abs(behind)' if settings.bidirectional else 'np.maximum(behind, 0)'}",
        f"near = {side // 2}  # distances with a row of R each; further ones share rows",
        "with np.errstate(divide='ignore'):  # in float32, as T5 does",
        "    grown = np.log((distance / near).astype(np.float32))",
        f"grown = grown / np.float32(np.log({far} / near))",
        f"shared = near + np.maximum(grown * ({side} - near), 0).astype(int)",
        f"rows = np.where(distance < near, distance, np.minimum(shared, {side - 1})){ahead}",
        f"relative = R[rows]{'.transpose(2, 0, 1)' if settings.heads > 1 else '[..., 0]'}",
    ]


def _expected(settings: Settings, trace: AttentionTrace) -> str:
    item = settings.item if settings.batch else ...
    wanted = {
        name: getattr(trace, name) for name in COMPUTED if name != "context" or settings.context
    }
    if settings.heads == 1 and "W_O" not in settings.matrices:
        wanted.pop("joined")
    lines = [
        f"    {name!r}: {_array(values[item])},"
        for name, values in wanted.items()
        if values is not None
    ]
    return "\n".join(["expected = {", *lines, "}"])


def _array(values: np.ndarray) -> str:
    """The shortest text that NumPy reads back bit for bit."""
    text = json.dumps(values.tolist()).replace("Infinity", "inf").replace("NaN", "nan")
    text = text.replace("], [", "],\n    [")
    return f"np.array({text})"


def _python_list(tokens: tuple[str, ...]) -> str:
    """A list of strings as Python writes it. JSON would write 🙂 as two halves of a pair."""
    return repr(list(tokens))


def _quiet(text: str) -> str:
    """Text for a docstring: nothing in it ends the string or escapes."""
    return repr(text)[1:-1].replace("\\", "\\\\").replace('"', "'")


def _notebook_cell(number: int, kind: str, source: str) -> dict:
    cell = {
        "cell_type": kind,
        "id": f"part-{number}",
        "metadata": {},
        "source": source.splitlines(keepends=True),
    }
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
