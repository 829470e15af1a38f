"""The small questions that each library is asked, and how its answers are kept.

A ``record*.py`` beside this file holds the ways of calling one family of libraries: functions from
(B, H, L, D) arrays to an output and, where the library returns them, its weights, in that layout.
:func:`save` asks every way all of :data:`QUESTIONS`, their numbers drawn from a seed, and keeps the
answers in ``recorded/``. The tests compare the package with these files, so that they need none of
the libraries.
"""

import json
from collections.abc import Callable
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import NamedTuple

import numpy as np

RECORDED = Path(__file__).with_name("recorded")
KEYS = [[True, False, True, True]]
SOME = [
    [True, False, False, True],
    [True, True, False, False],
    [False, True, True, True],
    [True, True, True, True],
]
BLIND = [SOME[0], [False] * 4, SOME[2], SOME[3]]
PADDED_OUT = [[False] * 4]


def _case(
    seed,
    n_q=4,
    n_k=4,
    d_v=4,
    lead=(1, 1),
    dtype="float64",
    factor=1.0,
    key_factor=1.0,
    mask=None,
    causal=False,
    broken=None,
    scale=None,
    given="",
) -> dict:
    """``factor`` multiplies Q, ``key_factor`` K; ``broken`` is the number of the key that is NaN;
    ``given``, for a mask that is handed over with the axes it has here, is its type.
    """
    return locals()


CASES = {
    "float64": _case(1),
    "float32": _case(2, dtype="float32"),
    "a mask over keys": _case(3, mask=KEYS),
    "a mask": _case(4, mask=SOME),
    "a mask, float32": _case(5, dtype="float32", mask=SOME),
    "a hidden row": _case(6, mask=BLIND),
    "a hidden row, float32": _case(7, dtype="float32", mask=BLIND),
    "no key at all, float32": _case(8, n_q=2, dtype="float32", mask=PADDED_OUT),
    "causal": _case(9, causal=True),
    "causal, 2 queries and 4 keys": _case(10, n_q=2, causal=True),
    "causal, 4 queries and 2 keys": _case(11, n_k=2, causal=True, dtype="float32"),
    "causal and a mask": _case(12, mask=SOME, causal=True),
    "causal and a mask over keys that leaves row 1 none": _case(
        13, mask=[[False, True, True, True]], causal=True
    ),
    "large scores": _case(14, factor=60.0, dtype="float32"),
    "large scores and a mask": _case(15, factor=60.0, mask=SOME),
    "two items of two heads": _case(16, lead=(2, 2), n_q=2, n_k=3),
    "two items of two heads and a mask": _case(
        17, lead=(2, 2), n_q=2, dtype="float32", mask=[[SOME[:2]]]
    ),
    "narrow values": _case(18, n_q=2, d_v=2),
    "narrow values, causal and a mask": _case(19, d_v=2, mask=SOME, causal=True),
    "causal, 1 query and 4 keys": _case(20, n_q=1, causal=True),
    "scores beyond a filler of -1e9": _case(21, factor=8e9, dtype="float32", mask=KEYS),
    "a hidden key of NaN": _case(22, dtype="float32", mask=KEYS, broken=1),
    "a hidden row beside a key of NaN": _case(25, dtype="float32", mask=BLIND, broken=1),
    "a hidden row, float16": _case(23, dtype="float16", mask=BLIND),
    "no key at all, float16": _case(24, n_q=2, dtype="float16", mask=PADDED_OUT),
}


def drawn(case: dict) -> tuple[np.ndarray, ...]:
    """Q, K, V and the mask of a case; NumPy promises never to change RandomState's stream."""
    stream = np.random.RandomState(case["seed"])
    keys = (*case["lead"][:-1], case.get("kv") or case["lead"][-1], case["n_k"])
    shapes = (*case["lead"], case["n_q"], 4), (*keys, 4), (*keys, case["d_v"])
    Q, K, V = (stream.standard_normal(shape).astype(case["dtype"]) for shape in shapes)
    if case["broken"] is not None:
        K[..., case["broken"], :] = np.nan
    mask = None if case["mask"] is None else np.array(case["mask"], case["given"] or bool)
    Q, K = Q * case["factor"], K * case["key_factor"]
    return Q.astype(V.dtype), K.astype(V.dtype), V, mask


def _with_parts(
    seed, kv=0, softcap=None, window=None, sinks=False, bias=False, fill=None, **case
) -> dict:
    """``kv`` heads of keys and values, if fewer; so many keys seen by a ``window``; a bias that is
    ``fill``, a key of FILLS, where BLIND hides.
    """
    parts = {"kv": kv, "softcap": softcap, "window": window, "sinks": sinks, "bias": bias}
    return _case(seed, **case) | parts | ({"fill": fill} if fill else {})


FILLS = {"-inf": -np.inf, "lowest": np.finfo(np.float32).min, "-1e9": -1e9}


TWO, FOUR = {"lead": (1, 2)}, {"lead": (1, 4)}
PART_CASES = {
    "4 heads, 2 of keys": _with_parts(31, kv=2, **FOUR),
    "4 heads, 2 of keys, causal": _with_parts(32, kv=2, causal=True, dtype="float32", **FOUR),
    "4 heads, 2 of keys, a mask": _with_parts(33, kv=2, mask=SOME, **FOUR),
    "4 heads, 1 of keys": _with_parts(34, kv=1, n_q=2, **FOUR),
    "a soft cap": _with_parts(35, softcap=0.8),
    "a soft cap and a mask": _with_parts(36, softcap=0.8, mask=SOME, dtype="float32"),
    "a window": _with_parts(37, window=2),
    "a window, 2 queries and 4 keys": _with_parts(38, window=2, n_q=2),
    "a window beside the switch": _with_parts(39, window=3, causal=True, dtype="float32"),
    "a window and a mask over keys": _with_parts(40, window=2, mask=KEYS),
    "sinks": _with_parts(41, sinks=True, **TWO),
    "sinks and a mask": _with_parts(42, sinks=True, mask=SOME, dtype="float32", **TWO),
    "a bias": _with_parts(43, bias=True, **TWO),
    "a bias, float32": _with_parts(44, bias=True, dtype="float32"),
    "a bias and a mask": _with_parts(45, bias=True, mask=SOME),
    "a bias and the switch": _with_parts(46, bias=True, causal=True),
    "a bias and a hidden row": _with_parts(47, bias=True, mask=BLIND, dtype="float32"),
    "a bias and a soft cap": _with_parts(48, bias=True, softcap=0.8),
    "a bias, 4 heads, 2 of keys": _with_parts(49, bias=True, kv=2, dtype="float32", **FOUR),
    "sinks and a soft cap": _with_parts(50, sinks=True, softcap=0.8),
} | {
    f"a bias of {fill} for a row{beside}, {dtype}": _with_parts(
        51 + 3 * k + 9 * n, bias=True, fill=fill, dtype=dtype, **options
    )
    for n, (beside, options) in enumerate(
        {"": {}, " and the switch": {"causal": True}, " and a mask": {"mask": SOME}}.items()
    )
    for k, fill in enumerate(FILLS)
    for dtype in ("float64", "float32")
}


EVERY = [[True, False, True], [False, True, True]]  # a mask for 2 queries and 3 keys
HEADS = [EVERY, [[True, True, False], [True, False, True]]]
FACET_CASES = {
    "scale 0": _case(71, scale=0.0, dtype="float32"),
    "scale 2": _case(72, scale=2.0, dtype="float32"),
    "a mask of 2 axes": _case(
        73, lead=(2, 2), n_q=2, n_k=3, dtype="float32", mask=EVERY, given="bool"
    ),
    "a mask of 3 axes": _case(
        74, lead=(2, 2), n_q=2, n_k=3, dtype="float32", mask=HEADS, given="bool"
    ),
    "a mask of ones and zeros, int32": _case(75, dtype="float32", mask=[[SOME]], given="int32"),
    "a mask of ones and zeros, float32": _case(76, dtype="float32", mask=[[SOME]], given="float32"),
    "float16": _case(77, dtype="float16"),
    "scores beyond 65504, float16": _case(78, dtype="float16", factor=400.0, key_factor=400.0),
    "a window, 4 queries and 2 keys": _with_parts(79, window=2, n_k=2, dtype="float32"),
    "sinks and a hidden row": _with_parts(80, sinks=True, mask=BLIND, dtype="float32", **TWO),
    "a soft cap and a hidden row": _with_parts(81, softcap=0.8, mask=BLIND, dtype="float32"),
}
QUESTIONS = CASES | PART_CASES | FACET_CASES


def parts_of(case: dict) -> dict:
    """The parts of a case by the names that a convention has for them: what is not used is not
    there.
    """
    stream = np.random.RandomState(1000 + case["seed"])
    scores, found = (*case["lead"], case["n_q"], case["n_k"]), {}
    found |= {name: case[name] for name in ("softcap", "window") if case.get(name)}
    found |= {} if case["scale"] is None else {"scale": case["scale"]}
    if case.get("bias"):
        found["bias"] = stream.standard_normal(scores).astype(case["dtype"])
        if fill := case.get("fill"):
            found["bias"][..., ~np.array(BLIND)] = FILLS[fill]
    if case.get("sinks"):
        found["sinks"] = stream.standard_normal(case["lead"][-1]).astype(case["dtype"])
    return found


class NotAsked(Exception):
    """This way of calling does not exist for these inputs."""


class Way(NamedTuple):
    """One way of calling a library."""

    ask: Callable
    package: str
    convention: str  # what must answer the same
    backend: str = "torch"  # Keras'


def numbers(mask, bias):
    """What is added to scores: the bias, and −∞ where the mask hides; without a bias the mask."""
    return (
        mask
        if bias is None or mask is None is bias
        else (bias if mask is None else np.where(mask, bias, bias.dtype.type(-np.inf)))
    )


def looks(mask, causal, Q, K):
    """Where a query may look, (B, H, n_q, n_k), the look-ahead merged into the mask by the caller,
    aligned at the upper left; None where nothing is hidden.
    """
    if not causal:
        return mask
    ahead = np.broadcast_to(np.tri(Q.shape[2], K.shape[2], dtype=bool), (*Q.shape[:3], K.shape[2]))
    return ahead if mask is None else ahead & mask


def joined(M: np.ndarray) -> np.ndarray:
    """(B, H, L, D) → (B, L, H·D)."""
    return np.ascontiguousarray(M.swapaxes(1, 2).reshape(M.shape[0], M.shape[2], -1))


def split(M, heads: int) -> np.ndarray:
    """(B, L, H·D) → (B, H, L, D)."""
    M = np.asarray(M)
    return M.reshape(*M.shape[:2], heads, -1).swapaxes(1, 2)


def asked(way: Way, case: dict) -> dict:
    """One answer as lists (NaN as null), or the kind of error that came instead."""
    Q, K, V, mask = drawn(case)
    if mask is not None and not case["given"]:
        mask = np.ascontiguousarray(np.broadcast_to(mask, (*Q.shape[:3], K.shape[2])))
    parts = parts_of(case)
    parts |= {"groups": Q.shape[1] // K.shape[1]} if K.shape[1] < Q.shape[1] else {}
    if case["given"]:
        parts, mask = parts | {"given": mask}, None
    try:
        if more := parts.keys() - signature(way.ask).parameters.keys():
            raise NotAsked(f"no such argument: {', '.join(sorted(more))}")
        output, weights = way.ask(Q, K, V, mask, case["causal"], **parts)
    except NotAsked as reason:
        return {"not asked": str(reason)}
    except Exception as error:  # whatever a library raises is its answer
        return {"refused": f"{type(error).__name__}: {error}".splitlines()[0][:120]}
    answer = {"dtype": str(np.asarray(output).dtype), "output": _listed(output)}
    return answer if weights is None else answer | {"weights": _listed(weights)}


def _listed(array) -> list:
    array = np.asarray(array)
    flat = [
        None if np.isnan(x) else float(x if array.dtype == np.float64 else str(x))
        for x in array.ravel()
    ]
    return np.array(flat, object).reshape(array.shape).tolist()


def answers(ways: dict[str, Way]) -> dict[str, dict]:
    """What each way answers to all questions."""
    return {
        name: {question: asked(way, case) for question, case in QUESTIONS.items()}
        for name, way in ways.items()
    }


def save(
    family: str, ways: dict[str, Way], packages: tuple[str, ...], found: dict | None = None
) -> None:
    """Write ``recorded/FAMILY.json``: the questions, the packages' versions, and for each way the
    convention that must answer the same, its package and its answers, by default asked here.
    """
    found = answers(ways) if found is None else found
    versions = {package: version(package) for package in (*packages, "numpy")}
    lines = [f'"questions": {json.dumps(QUESTIONS)}', f'"versions": {json.dumps(versions)}']
    for name, way in ways.items():
        kept = {"convention": way.convention, "package": way.package, "answers": found[name]}
        lines.append(f'"{name}": {json.dumps(kept)}')
    RECORDED.mkdir(exist_ok=True)
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (RECORDED / f"{family}.json").write_text(text, encoding="utf-8")
