"""The page's state as the parameters of its address, and back.

A link names its example and carries only what differs from it: one parameter for each field.
Numbers travel as the shortest text that reads back as the same float64, a rolled matrix as its
recipe.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import numpy as np

from attention import program
from attention.core.norms import RMSNorm
from attention.core.positions import sinusoidal
from attention.core.rotary import Rotary
from attention.core.scores import SIGMOID
from attention.limits import (
    MAX_BATCH,
    MAX_FIELD,
    MAX_JOINED,
    MAX_LINK,
    MAX_MATRIX_TEXT,
    MAX_STATE,
    MAX_STATE_COLONS,
    MAX_STATE_COMMAS,
    MAX_TOKEN_LENGTH,
    MAX_TYPED,
    MAX_WHOLE_DIGITS,
    BadInput,
)
from attention.paper import Paper
from attention.readers.cells.printouts import read_matrix, read_number
from attention.samples.weights import INITIALISERS
from attention.session.state.about import what_it_is
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.long_context import LongContext
from attention.session.state.matrix import (
    Matrix,
    Recipe,
    WordRows,
    are_waves,
    check_numbers,
    packed_text,
)
from attention.session.state.origin import Origin, read_origins, write_origins
from attention.session.state.run import sizes
from attention.session.state.settings import (
    COMPARED,
    DRAWN,
    EXERCISE,
    MATRICES,
    PARTS,
    Settings,
    TooManyTokens,
    bounds,
)
from attention.session.state.validate import check
from attention.vocabulary.numbers import exact, megabytes
from attention.vocabulary.stages import STAGES

ABSENT = "none"
WAVES = "sinusoidal"  # P as it is
BESIDE = "a."  # begins each parameter of what is pinned on the page Compare
STAMP = {"attention": "stage by stage"}  # what a file of a state begins with
FORMAT = 1  # of a state file; it changes where an older version would read the file wrongly
DIMENSIONS = ("d_model", "d_k", "d_v", "h·d_v", "d_out")  # whose labels an example may bring
# make sense only together
TIED = (
    *("tokens", "memory_tokens", "heads", "mask", "padding", "drawn", "drawn_from", "sinks"),
    *("bidirectional", "max_distance"),
)
# on which it depends which cells and heads there are
BRINGING = {*TIED, *MATRICES, *PARTS, "softmax", "finished", "context", "partial"}
_REFUSALS = (
    BadInput,
    ValueError,
    TypeError,
    AttributeError,
    KeyError,
    IndexError,
    ZeroDivisionError,
    RecursionError,
    zlib.error,
)


_RECIPE = re.compile(
    r"([a-z]+)(?:\.(\w{1,10}))?,(\d{1,10}),(\d{1,4})x(\d{1,4})(?:,([^,]+),([^,]+))?"
)


@dataclass(frozen=True)
class Codec:
    """How one field of the settings is written into a link and read from it."""

    write: Callable[[Any], str]
    read: Callable[[str], object]


def _read_whole(text: str) -> int:
    number = re.fullmatch(r"-?([0-9]+)", text)
    if not number:
        raise BadInput("expected a whole number")
    if len(number[1]) > MAX_WHOLE_DIGITS:
        raise BadInput(f"it has {len(number[1])} digits; at most {MAX_WHOLE_DIGITS} are read")
    return int(text)


def _short_enough(text: str, most: int = MAX_FIELD) -> str:
    if len(text) > most:
        raise BadInput(f"it has {len(text):,} characters; at most {most:,} are read")
    return text


def _raw_or_short(text: str) -> str:
    """The text of a matrix; raw float64, also behind its recipe, is bounded by what it holds."""
    raw = re.match(r"([^=]{0,100}=)?\*", text)
    return text if raw else _short_enough(text, MAX_MATRIX_TEXT)


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise BadInput("expected 0 or 1")
    return text == "1"


def _softmax(text: str) -> bool | str:
    if text not in ("0", "1", SIGMOID):
        raise BadInput(f"expected 0, 1 or {SIGMOID}")
    return text if text == SIGMOID else _flag(text)


def _softcap(text: str) -> float | None:
    return None if text == ABSENT else read_number(text, "it")


def _sinks(text: str) -> tuple[float, ...]:
    return tuple(read_number(sink, "a sink") for sink in text.split())


def _scale(text: str) -> float | None:
    return None if text == "sqrt" else read_number(text, "it")


def _tokens(text: str) -> tuple[str, ...]:
    tokens = json.loads("[" + text + "]") if text else []
    if not all(isinstance(t, str) for t in tokens):
        raise BadInput("expected words in quotation marks")
    return tuple(tokens)


def _read_cell(text: str) -> tuple[str, int, int] | None:
    if text == ABSENT:
        return None
    stage, i, j = text.split(",")
    return stage, _read_whole(i), _read_whole(j)


def _drawn(text: str) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(_flag(c) for c in row) for row in text.split(".")) if text else ()


def _paper(text: str) -> Paper:
    differing = json.loads(text)
    if not isinstance(differing, dict):
        raise BadInput("expected settings by their names")
    return Paper.of(differing)


def _names(text: str) -> dict[str, tuple[str, ...]]:
    names = json.loads(text)
    if not isinstance(names, dict) or names.keys() - set(DIMENSIONS):
        raise BadInput(f"expected labels of {', '.join(DIMENSIONS)}")
    for label in (label for labels in names.values() for label in labels):
        if not isinstance(label, str) or not (
            label.isprintable() and len(label) <= MAX_TOKEN_LENGTH
        ):
            raise BadInput(f"expected labels of at most {MAX_TOKEN_LENGTH} characters")
    return {axis: tuple(labels) for axis, labels in names.items()}


def _record(kind: type, optional: bool = True) -> Codec:
    """A part of real layers: what differs from its defaults, as JSON; ``none`` where it may be."""
    known = {one.name: one.default for one in fields(kind)}

    def write(part: Any) -> str:
        if part is None:
            return ABSENT
        differs = {name: getattr(part, name) for name in known}
        differs = {name: value for name, value in differs.items() if value != known[name]}
        return json.dumps(differs, separators=(",", ":"))

    def read(text: str) -> Any:
        differs = None if text == ABSENT else json.loads(text)
        if differs is None and optional:
            return None
        if not isinstance(differs, dict) or differs.keys() - known.keys():
            raise BadInput(f"expected {', '.join(known)}")
        try:
            return kind(**differs)
        except (ValueError, TypeError) as refused:
            raise BadInput(str(refused)) from None

    return Codec(write, read)


_INTEGER = Codec(str, _read_whole)
_BOOLEAN = Codec(lambda v: str(int(v)), _flag)
_WORD = Codec(str, str)
_TOKENS = Codec(
    lambda v: json.dumps(list(v), ensure_ascii=False, separators=(",", ":"))[1:-1], _tokens
)

CODECS: dict[str, Codec] = {
    "tokens": _TOKENS,
    "memory_tokens": _TOKENS,
    "heads": _INTEGER,
    "scale": Codec(lambda v: "sqrt" if v is None else exact(v), _scale),
    "mask": _WORD,
    "padding": Codec(
        lambda v: ".".join(map(str, v)),
        lambda t: tuple(_read_whole(p) for p in t.split(".")) if t else (),
    ),
    "names": Codec(lambda v: json.dumps(dict(v), ensure_ascii=False), _names),
    "drawn": Codec(lambda v: ".".join("".join(str(int(c)) for c in row) for row in v), _drawn),
    "origins": Codec(write_origins, read_origins),  # of matrices and the mask
    "fill": _WORD,
    "softmax": Codec(lambda v: v if isinstance(v, str) else str(int(v)), _softmax),
    "norm": _record(RMSNorm),
    "rotary": _record(Rotary),
    "softcap": Codec(lambda v: ABSENT if v is None else exact(v), _softcap),
    "sinks": Codec(lambda v: " ".join(map(exact, v)), _sinks),
    "alibi": _BOOLEAN,
    "bidirectional": _BOOLEAN,
    "max_distance": _INTEGER,
    "window": _INTEGER,
    "finished": _BOOLEAN,
    "context": _BOOLEAN,
    "item": _INTEGER,
    "head": _INTEGER,
    "query": _INTEGER,
    "cell": Codec(lambda v: ABSENT if v is None else ",".join(map(str, v)), _read_cell),
    "digits": _INTEGER,
    "sample_d_k": _INTEGER,
    "samples": _INTEGER,
    "distribution": _WORD,
    "sample_seed": _INTEGER,
    "mistake": _WORD,
    "step": _INTEGER,
    "exercise": _WORD,
    "exercise_seed": _INTEGER,
    "asked": Codec(" ".join, lambda t: tuple(t.split())),
    "answers": Codec("~".join, lambda t: tuple(t.split("~")) if t else ()),
    "tries": Codec(lambda v: "".join(map(str, v)), lambda t: tuple(map(_read_whole, t))),
    "long": _record(LongContext, optional=False),
    "capture": _WORD,
    "move_from": _WORD,
    "move_to": _WORD,
    "paper": Codec(lambda v: json.dumps(v.differing(), ensure_ascii=False), _paper),
    "paper_stages": Codec(" ".join, lambda t: tuple(t.split())),
    "paper_heads": Codec(
        lambda v: ".".join(map(str, v)),
        lambda t: tuple(_read_whole(p) for p in t.split(".")) if t else (),
    ),
}


def write(
    settings: Settings,
    matrix_text: Callable[[Matrix, WordRows | None], str] | None = None,
    whole: bool = False,
) -> dict[str, str]:
    """The parameters of the link: the example, then each field that differs from it, or the
    ``whole`` of them.

    ``matrix_text`` writes a matrix, by default :func:`write_matrix`.
    """
    base = EXAMPLES[settings.example].build()
    link = {"example": settings.example}
    for name, codec in CODECS.items():
        if whole or getattr(settings, name) != getattr(base, name):
            link[name] = codec.write(getattr(settings, name))
    for name in MATRICES:
        mine, theirs = settings.matrices.get(name), base.matrices.get(name)
        if mine is None and (whole or theirs is not None):
            link[name] = ABSENT
        elif mine is not None and (whole or mine != theirs):
            link[name] = _text_of(name, mine, settings.rows_of(name), matrix_text)
    return link | _beside(settings, matrix_text)


def _text_of(
    name: str,
    matrix: Matrix,
    rows: WordRows | None,
    matrix_text: Callable[[Matrix, WordRows | None], str] | None,
) -> str:
    """A matrix as a parameter; sinusoidal positions in a link by their name."""
    if name == "P" and matrix_text is None and are_waves(matrix):
        return WAVES
    return (matrix_text or write_matrix)(matrix, rows)


def _beside(
    settings: Settings, matrix_text: Callable[[Matrix, WordRows | None], str] | None
) -> dict[str, str]:
    """Of what is pinned its example, and each field that differs from these settings."""
    pinned = settings.pinned
    if pinned is None:
        return {}
    link = {"example": pinned.example}
    for name, codec in CODECS.items():
        alike = name in COMPARED + EXERCISE or getattr(pinned, name) == getattr(settings, name)
        if not alike:
            link[name] = codec.write(getattr(pinned, name))
    for name in MATRICES:
        mine = pinned.matrices.get(name)
        if mine != settings.matrices.get(name):
            rows = pinned.rows_of(name)
            link[name] = _text_of(name, mine, rows, matrix_text) if mine else ABSENT
    return {BESIDE + name: text for name, text in link.items()}


def address(settings: Settings) -> tuple[dict[str, str], bool]:
    """What stands in the address, and whether it is all.

    Where the link does not fit: the example, and a mark of the rest, which the state gives again
    after a way through a file, and which nobody can guess who does not have it.
    """
    both = [settings, *([settings.pinned] if settings.pinned else [])]
    link = {} if any(map(_is_large, both)) else write(settings)
    if link and len(urlencode(link)) <= MAX_LINK:
        return link, True
    digest = hashlib.blake2b(digest_size=12)
    for each in both:
        for name, matrix in sorted(each.matrices.items()):
            digest.update(name.encode() + identity(matrix))
        fields = [codec.write(getattr(each, name)) for name, codec in CODECS.items()]
        digest.update(repr(fields).encode())
    return {"example": settings.example, "partial": digest.hexdigest()}, False


def _is_large(settings: Settings) -> bool:
    """Whether it holds a matrix too large for any link."""
    made = EXAMPLES[settings.example].build().matrices
    return any(
        matrix.values.size > MAX_TYPED
        and matrix != made.get(name)
        and not (name == "P" and are_waves(matrix))
        and not matrix.follows(settings.rows_of(name))
        for name, matrix in settings.matrices.items()
    )


def identity(matrix: Matrix) -> bytes:
    """What tells a matrix from every other: its shape, its recipe as a link has it, its numbers."""
    recipe = _recipe(matrix.recipe, matrix.shape) if matrix.recipe else ""
    return f" {matrix.shape} {recipe} ".encode() + matrix.values.tobytes()


def read(link: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """The settings a link asks for, and a sentence for each parameter that could not be used.

    TooManyTokens has them where there are more tokens than a board shows, and all could be used.
    """
    beside = {n.removeprefix(BESIDE): t for n, t in link.items() if n.startswith(BESIDE)}
    link = {name: text for name, text in link.items() if not name.startswith(BESIDE)}
    notices = []
    name = link.get("example", FIRST)
    if name not in EXAMPLES:
        notices.append(
            f"The link asks for an example “{_short(name)}” that does not exist; this is the first"
            " one."
        )
        name = FIRST
    settings, more = _changed(EXAMPLES[name].build(), link, is_whole=not notices)
    notices += more
    if beside:
        name = beside.get("example", settings.example)
        if name not in EXAMPLES:
            called = f"{BESIDE}example"
            notices.append(_not_there(called, f"there is no example “{_short(name)}”"))
            name = settings.example
        base = replace(settings, example=name, mistake="")
        pinned, more = _changed(base, beside, BESIDE, is_whole=not notices)
        settings, notices = replace(settings, pinned=pinned), notices + more
    return settings, notices


def _changed(
    base: Settings, link: Mapping[str, str], called: str = "", is_whole: bool = True
) -> tuple[Settings, list[str]]:
    """The settings with what the parameters of a link change, whose names begin as ``called``.

    Unless the base ``is_whole``, nothing is said of a cell or head that is missing: what was
    refused before may have brought it.
    """
    notices: list[str] = []
    refused: set[str] = set()
    changes: dict[str, Any] = {}
    matrices, unknown, numbers = dict(base.matrices), [], 0
    # the matrices last, as embeddings may follow from the tokens, and positions from these
    for parameter, text in sorted(link.items(), key=lambda given: _turn(given[0])):
        try:
            if parameter in CODECS:
                changes[parameter] = CODECS[parameter].read(_short_enough(text))
            elif parameter in MATRICES and text == ABSENT:
                matrices.pop(parameter, None)
            elif parameter == "P" and text == WAVES and "X" in matrices:
                n, d_model = matrices["X"].shape[-2:]
                matrices["P"] = Matrix(sinusoidal(n, d_model))
            elif parameter in MATRICES:
                matrices[parameter] = read_matrix_text(
                    _raw_or_short(text),
                    parameter,
                    replace(base, **_tokens_of(changes)).rows_of(parameter),
                    beside=numbers,
                )
                numbers += matrices[parameter].values.size
            elif parameter == "partial":
                refused.add(parameter)
                notices.append(
                    "This address is of matrices that are too large for it. The browser that made"
                    " it keeps them, and this browser does not have them: open a saved state under"
                    " “Your data” on Explore, or enter them again."
                )
            elif parameter != "example" and not parameter.startswith("embed"):
                unknown.append(called + parameter)
        except _REFUSALS as problem:
            refused.add(parameter)
            notices.append(_passed_over([called + parameter], problem))
    changes |= _placed(
        changes.pop("origins", {}), matrices, changes.get("mask", base.mask) == DRAWN
    )
    notices += [_not_known(unknown)] if unknown else []
    settings = _applied(base, changes, matrices, notices, refused, may_be_long=not called)
    notices += _pulled_back(changes, settings, called)
    is_whole = is_whole and not refused & BRINGING
    return settings, notices + _missing(changes, settings, called, is_whole)


def _not_known(unknown: list[str]) -> str:
    more = f", and {len(unknown) - 1:,} more, are" if len(unknown) > 1 else " is"
    were = "were" if len(unknown) > 1 else "was"
    return f"The link's parameter “{_short(unknown[0])}”{more} unknown and {were} ignored."


def _turn(parameter: str) -> int:
    return 2 if parameter == "P" else int(parameter in MATRICES)


def _placed(
    origins: dict[str, Origin], matrices: dict[str, Matrix], is_drawn: bool
) -> dict[str, Origin]:
    """Put each origin to its matrix; what is left to change is that of a drawn mask."""
    for name in origins.keys() & matrices.keys():
        matrices[name] = replace(matrices[name], origin=origins[name])
    return {"drawn_from": origins["mask"]} if is_drawn and "mask" in origins else {}


def _tokens_of(changes: dict[str, Any]) -> dict[str, Any]:
    return {name: changes[name] for name in ("tokens", "memory_tokens") if name in changes}


def _pulled_back(changes: dict, settings: Settings, called: str) -> list[str]:
    """A sentence for each number beyond what there is; the nearest one stands in the settings."""
    sentences = []
    for name, (least, most) in bounds(settings).items():
        asked, taken = changes.get(name), getattr(settings, name)
        if asked is not None and asked != taken:
            allowed = f"{least:,} to {most:,} are" if least < most else f"only {least:,} is"
            sentences.append(
                f"The link's parameter {called}{name} is {asked:,}; {allowed} allowed,"
                f" so {taken:,} was taken."
            )
    return sentences


def _missing(changes: dict, settings: Settings, called: str, is_whole: bool) -> list[str]:
    """A sentence for each parameter that names a stage which is not there, or, in what
    ``is_whole``, a cell or a head.
    """
    stages = [name for name in changes.get("paper_stages", ()) if name not in STAGES]
    heads = [head for head in changes.get("paper_heads", ()) if not 0 <= head < settings.heads]
    missing = {
        "cell": _no_cell(changes.get("cell"), settings),
        "paper_stages": stages and f"there is no stage “{_short(stages[0])}”",
        "paper_heads": heads and f"there is no head {heads[0]:,}, only 0 to {settings.heads - 1:,}",
    }
    return [
        _not_there(called + name, why)
        for name, why in missing.items()
        if name in changes and why and (is_whole or name == "paper_stages")
    ]


def _not_there(parameter: str, why: str) -> str:
    return f"The link's parameter {parameter} asks for what is not there: {why}."


def _no_cell(cell: tuple[str, int, int] | None, settings: Settings) -> str:
    """Why these settings have no such cell; "" where they have it, or none is asked for."""
    if cell is None or cell == settings.cell:
        return ""
    stage, i, j = cell
    if stage not in sizes(settings):
        return f"the page shows no stage “{_short(stage)}”"
    rows, columns = sizes(settings)[stage]
    return f"{stage} has {rows:,} × {columns:,} cells, and none at {i:,}, {j:,} counted from 0"


def _applied(
    base: Settings,
    changes: dict,
    matrices: dict,
    notices: list[str],
    refused: set[str],
    may_be_long: bool,
) -> Settings:
    """The base with all changes; or, where they are refused together, with those that hold on their
    own. The names of others join the ``refused``. Where it ``may_be_long`` and nothing else was
    refused, too many tokens are raised.
    """
    tied = {name: value for name, value in changes.items() if name in TIED} | {"matrices": matrices}
    typed = [name for name in MATRICES if matrices.get(name) is not base.matrices.get(name)]
    loose = [([name], {name: value}) for name, value in changes.items() if name not in TIED]
    loose.sort(key=lambda part: part[0] == ["finished"])  # which holds beside all others alone
    try:
        return _existing(replace(base, **changes, matrices=matrices))
    except _REFUSALS as problem:
        too_many = problem if isinstance(problem, TooManyTokens) else None
        if too_many and too_many.settings and may_be_long and not refused:
            raise
        settings = base
    for names, part in [([*(name for name in TIED if name in tied), *typed], tied), *loose]:
        try:
            settings = _existing(replace(settings, **part))
        except _REFUSALS as problem:
            refused.update(names)
            if too_many and isinstance(problem, TooManyTokens):  # all of them say what is left
                problem = too_many
            notices.append(_passed_over(names, problem))
    return settings


def _existing(settings: Settings) -> Settings:
    settings = check(settings)
    return replace(settings, cell=existing_cell(settings))


def _passed_over(names: list[str], problem: Exception) -> str:
    why = _short(str(problem), 160) if isinstance(problem, BadInput) else "it cannot be read"
    what = f"parameter {names[0]} was" if len(names) == 1 else f"parameters {', '.join(names)} were"
    return f"The link's {what} ignored: {why}{'' if why.endswith(('.', '…')) else '.'}"


def existing_cell(settings: Settings) -> tuple[str, int, int] | None:
    """The chosen cell, or None where the page has no such stage, row or column."""
    if settings.cell is None:
        return None
    stage, i, j = settings.cell
    rows, columns = sizes(settings).get(stage, (0, 0))
    return settings.cell if 0 <= i < rows and 0 <= j < columns else None


def write_matrix(
    matrix: Matrix,
    rows: WordRows | None = None,
    with_values: bool = False,
    pack: Callable[[Matrix], str] = lambda matrix: packed_text(matrix.values),
) -> str:
    """Write a recipe as ``kind.stream,seed,rows x columns[,low,high]``; typed values as text,
    compressed where that is shorter.

    A matrix that was rolled and then edited or resized carries both: ``recipe=values``, and so does
    any that was rolled ``with_values``. A large one travels as raw float64, ``*rows x columns*…``,
    which is read a hundred times as fast: ``pack`` writes what follows the shape.
    """
    made = _recipe(matrix.recipe, matrix.shape) if matrix.recipe else ""
    if matrix.follows(rows) and not with_values:
        return made
    made = made and f"{made}="
    values = matrix.values
    if values.size > MAX_TYPED:
        return f"{made}*{'x'.join(map(str, values.shape))}*{pack(matrix)}"
    batch = values if values.ndim == 3 else values[None]
    text = "!".join(";".join(" ".join(exact(v) for v in row) for row in item) for item in batch)
    plain = ("" if values.ndim == 2 else "!") + text
    packed = "~" + base64.urlsafe_b64encode(zlib.compress(plain.encode(), 9)).decode().rstrip("=")
    return made + min(plain.replace(" ", "_"), packed, key=len)


def _recipe(r: Recipe, shape: tuple[int, ...]) -> str:
    way = f".{r.stream}" if r.stream else ""  # without it, the seed alone decides
    text = f"{r.kind}{way},{r.seed},{shape[-2]}x{shape[-1]}"
    return text + (f",{exact(r.low)},{exact(r.high)}" if INITIALISERS[r.kind].ranged else "")


def read_matrix_text(text: str, name: str, rows: WordRows | None = None, beside: int = 0) -> Matrix:
    """Read what :func:`write_matrix` writes; whatever is broken in it is one sentence.

    ``rows`` are the words of embeddings. ``beside`` is how many numbers were read before: what is
    too large together with them is refused before it is made.
    """
    made, both, rest = text.partition("=")
    if both and (len(made) > 100 or "=" in rest):
        raise BadInput(f"{name} is damaged; part of the link may be missing.")
    recipe, shape = _read_recipe(made, name)
    if both:
        return Matrix(read_matrix_text(rest, name, beside=beside).values, recipe)
    if recipe:
        check_numbers(beside + math.prod(shape))
        return Matrix.rolled(shape, recipe, rows)
    if text.startswith("*"):
        return _raw(text, name, beside)
    if text.startswith("~"):
        text = _inflate(text[1:], name, MAX_MATRIX_TEXT).decode("ascii", "replace")
    parts = text.removeprefix("!").split("!")
    if len(parts) > MAX_BATCH:
        raise BadInput(f"{name} has {len(parts):,} items; at most {MAX_BATCH} fit.")
    items = [read_matrix(part.replace("_", " "), name) for part in parts]
    if len({item.shape for item in items}) > 1:
        raise BadInput(f"the items of {name} have different shapes.")
    return Matrix(np.stack(items) if text.startswith("!") else items[0])


def _read_recipe(text: str, name: str) -> tuple[Recipe | None, tuple[int, int]]:
    """The recipe that a text begins with, and the shape it is for; None where there is none."""
    match = _RECIPE.fullmatch(text)
    if not match:
        return None, (0, 0)
    kind, stream, seed, rows, columns, low, high = match.groups()
    shape = int(rows), int(columns)
    if not all(1 <= side <= MAX_JOINED for side in shape):
        raise BadInput(f"{name} is {shape[0]:,} × {shape[1]:,}; 1 to {MAX_JOINED:,} are allowed.")
    ends = (read_number(low, name), read_number(high, name)) if low else (0.0, 3.0)
    return Recipe(kind, int(seed), ends[0], ends[1], stream or ""), shape


def _raw(text: str, name: str, beside: int) -> Matrix:
    """Read a large matrix: its shape, then float64 numbers, compressed."""
    shape = re.fullmatch(r"\*(?:(\d{1,2})x)?(\d{1,4})x(\d{1,4})\*([\w-]*)", text, re.ASCII)
    sides = [int(side) for side in shape.groups()[:3] if side] if shape else []
    if (
        not shape
        or not all(1 <= side <= MAX_JOINED for side in sides)
        or (len(sides) == 3 and sides[0] > MAX_BATCH)
    ):
        raise BadInput(f"{name} is damaged; part of the link may be missing.")
    size = math.prod(sides)
    check_numbers(beside + size)
    content = _inflate(shape[4], name, 8 * size)
    if len(content) != 8 * size:
        raise BadInput(f"{name} is damaged; part of the link may be missing.")
    values = np.frombuffer(content, "<f8").reshape(sides)
    if not np.isfinite(values).all():
        raise BadInput(f"{name} holds NaN or inf; expected numbers.")
    return Matrix(values)


def _inflate(text: str, name: str, most: int) -> bytes:
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        inflater = zlib.decompressobj()
        plain = inflater.decompress(packed, most + 1)
        whole = inflater.eof
    except (binascii.Error, zlib.error, ValueError):
        raise BadInput(f"{name} is damaged; part of the link may be missing.") from None
    if len(plain) > most:
        raise BadInput(f"{name} is too large; {most:,} bytes fit.")
    if not whole:  # only the end of the stream proves that nothing was cut off
        raise BadInput(f"{name} is damaged; part of the link may be missing.")
    return plain


def _short(text: str, most: int = 40) -> str:
    text = " ".join(str(text).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def to_file(settings: Settings) -> bytes:
    """Write all parameters, and all numbers themselves, as a JSON file: it opens to the same
    numbers in versions that draw others. It says its format, when and by which version it was
    written, and where its inputs came from; two files of one state differ in the date alone.

    BadInput says why it could not be opened again; :func:`too_large` says it without writing.
    """
    content = _state_file(settings, partial(write_matrix, with_values=True))
    _check_file(content)
    return content


def _state_file(settings: Settings, matrix_text: Callable[[Matrix, WordRows | None], str]) -> bytes:
    made: dict[str, Any] = {"format": FORMAT, "version": program.VERSION}
    made["saved"] = program.today().isoformat()
    about = what_it_is(settings, whole=True)
    made |= {"inputs": dict(about.inputs), "stayed_behind": list(about.behind)}
    link = write(settings, matrix_text, whole=True)
    return json.dumps(STAMP | made | {"link": link}, ensure_ascii=False, indent=1).encode()


def _kept(settings: Settings, matrix_text: Callable[[Matrix, WordRows | None], str]) -> bytes:
    """Write a state as the browser that keeps it joins it together."""
    state = STAMP | {"link": write(settings, matrix_text)}
    return json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode()


def too_large(settings: Settings, kept: bool = False) -> str:
    """Return why a saved state, or one ``kept`` by a browser, is not opened again; "" if it is.

    What is counted is what would be written: matrices first by the most that they can take, and
    their numbers are written only where that is too much.
    """
    left: list[Matrix] = []

    def leave_out(matrix: Matrix, *_: Any) -> str:
        left.append(matrix)
        return ""

    form = _kept if kept else _state_file
    content = form(settings, leave_out)
    try:
        # a recipe has up to four commas
        _check_file(content + len(left) * b",,,,", sum(map(_most_written, left)))
        return ""
    except BadInput:
        left = []
    content = form(settings, partial(write_matrix, with_values=not kept, pack=leave_out))
    try:
        _check_file(content, sum(matrix.packed_size for matrix in left))
    except BadInput as refused:
        problem = str(refused)
    else:
        return ""
    if settings.pinned:
        problem += (
            " “Export” on Compare saves A and B one by one, as files that open again, or as NPZ."
        )
    return problem


def _most_written(matrix: Matrix) -> int:
    """Return a bound on the characters of :func:`write_matrix`: 24 and a blank for each number, or
    its bytes where they do not compress, and the recipe.
    """
    each = 11 if matrix.values.size > MAX_TYPED else 25
    return each * matrix.values.size + 256


def _check_file(content: bytes, more: int = 0) -> None:
    """Refuse a saved state that is too large, which has so many characters ``more``.

    It is asked before a state is written and before one is read.
    """
    if (size := len(content) + more) > MAX_STATE:
        raise BadInput(
            f"a saved state of {megabytes(size)} cannot be opened; at most {megabytes(MAX_STATE)}"
            " are read."
        )
    for marks, most, word in (
        (b":", MAX_STATE_COLONS, "colons"),
        (b"[", MAX_STATE_COLONS, "brackets"),
        (b",", MAX_STATE_COMMAS, "commas"),
    ):
        if (count := content.count(marks)) > most:
            raise BadInput(
                f"a saved state with {count:,} {word} cannot be opened; at most {most:,} are read."
            )


def is_file(content: bytes) -> bool:
    """Whether :func:`to_file` wrote this."""
    return re.match(rb'\s*\{\s*"attention": "stage by stage",', content[:200]) is not None


def from_file(content: bytes) -> Settings:
    """Read the settings in a file that :func:`to_file` wrote.

    BadInput refuses anything else whole, also a file that is damaged or of another format;
    TooManyTokens as for :func:`read`.
    """
    _check_file(content)
    try:
        file = json.loads(content.decode("utf-8"))
        written = file.get("format", FORMAT)  # what a browser keeps says none
        link = file["link"] if written == FORMAT else {}
        strings = isinstance(link, dict) and all(isinstance(v, str) for v in link.values())
        if not strings or type(written) is not int:
            raise TypeError
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BadInput(
            "this is not a state file of this page; save one with “Save state (.json)”."
        ) from None
    if written != FORMAT:
        raise BadInput(
            f"this state file has format {_short(str(written))}; this page reads format {FORMAT}."
            f"{_other_version(file)}"
        )
    settings, notices = read(link)
    if notices:
        raise BadInput(f"this state file is damaged. {notices[0]}{_other_version(file)}")
    return settings


def _other_version(file: dict[str, Any]) -> str:
    wrote, reads = _short(file.get("version", "")), program.VERSION
    if wrote in ("", reads):
        return ""
    return f" Version {wrote} wrote it; this is {reads}."
