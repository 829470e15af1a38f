"""What Check yours is given: the inputs of both sides, and the numbers of the other code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from attention.core.masks import MASKS
from attention.frameworks.diagnosis.bench import Bench
from attention.frameworks.diagnosis.diagnose import diagnose_given, diagnose_library
from attention.frameworks.diagnosis.mistakes import Mistake
from attention.frameworks.diagnosis.result import Diagnosis
from attention.frameworks.diagnosis.stages import answer_of, names_of
from attention.frameworks.given import Given, checked
from attention.frameworks.precision import Written, printed
from attention.limits import MAX_CHECKED, BadInput
from attention.readers import opening, select
from attention.readers.cells import entry
from attention.readers.cells.entry import ArrayEntry
from attention.readers.cells.label_columns import counts_up
from attention.readers.cells.printouts import sides, write_matrix
from attention.readers.files import array_files
from attention.readers.texts import texts
from attention.session.state.settings import Settings, allowed, by_slopes, relative
from attention.vocabulary.labels import role_of
from attention.vocabulary.stages import BIASES, STAGES

PASTED = "pasted"
OURS = "ours"  # numbers of code that means what this package does
ANSWERS = ("output", "weights")
_STAGE = re.compile(r"stages\['(\w+)'\]")  # as the arguments of Python have it


class InputSource(NamedTuple):
    """Where the inputs of both sides come from, and the matrices a person pastes for it."""

    label: str
    names: tuple[str, ...]


SOURCES = {
    "explore": InputSource("from Explore", ()),
    "qkv": InputSource("Q, K and V", ("Q", "K", "V")),
    "weights": InputSource("X and the weights", ("X", "W_Q", "W_K", "W_V")),
}


def from_settings(s: Settings) -> dict[str, Any]:
    """Explore's inputs as :func:`attention.diagnose` takes them, of the item that is shown."""
    if s.weights_alone:
        raise BadInput(
            "Explore shows only finished weights; there are no inputs to compare with. Paste them"
            " here, or choose an example there."
        )
    if not s.softmax:
        raise BadInput(
            "softmax is off on Explore; switch it on there to compare with other attention."
        )
    item = s.item if s.batch else ...
    given = {
        name: matrix.values if STAGES[name].is_shared else matrix.values[item]
        for name, matrix in s.matrices.items()
    }
    given |= {name: given[name][0] for name in given.keys() & set(BIASES)}
    seen = allowed(s)
    if "P" in given:
        given["positions"] = given.pop("P")
    parts: dict[str, Any] = {"softcap": s.softcap, "bias": by_slopes(s), "sinks": s.sinks or None}
    parts |= {"softmax": s.softmax, "norm": s.norm, "rotary": s.rotary, "relative": relative(s)}
    given.pop("R", None)  # which is in the last one
    parts["kv_heads"] = s.kv_heads if s.kv_heads < s.heads else None
    parts = {name: part for name, part in parts.items() if part is not None}
    rule = {"heads": s.heads, "scale": s.scale, "allowed": None if seen.all() else seen}
    return given | rule | parts


def pasted(
    source: str, boxes: dict[str, str], *, mask: str, true_means: str, **numbers: Any
) -> dict[str, Any]:
    """Read inputs as typed: a text for each matrix, and for the mask where it is ``PASTED``.

    Where a text shows that its numbers were rounded, that is kept with them.
    """
    entries: dict[str, ArrayEntry] = {}
    for name in SOURCES[source].names:  # before their numbers are read, and a mask is made
        entries[name] = _array(boxes.get(name, ""), name, name)
        if (rows := entries[name].shape[-2]) > MAX_CHECKED:
            raise BadInput(
                f"{name} has {rows:,} rows; at most {MAX_CHECKED:,} scores are searched."
            )
    n_q, n_k = (entries[name].shape[-2] for name in (("X", "X") if "X" in entries else ("Q", "K")))
    if n_q * n_k > MAX_CHECKED:
        raise BadInput(
            f"{n_q:,} × {n_k:,} scores are {n_q * n_k:,}; at most {MAX_CHECKED:,} are searched."
        )
    given = {name: _matrix(entry, name) for name, entry in entries.items()}
    ways = {name: printed(boxes[name], values) for name, values in given.items()}
    rounded = {name: how for name, how in ways.items() if how}
    asked = select.Selection(true_means=true_means)
    seen = (
        _matrix(_array(boxes.get(select.MASK, ""), *[select.MASK] * 2), select.MASK, asked)
        if mask == PASTED
        else MASKS[mask](n_q, n_k)
    )
    return given | {"allowed": None if mask == "none" else seen, "rounded": rounded} | numbers


def in_boxes(
    s: Settings, answers: Mapping[str, np.ndarray], rounded: Mapping[str, Written | None]
) -> dict[str, Any] | None:
    """Return what stands in the boxes for these settings and what another code answered.

    ``rounded`` tells by name how inputs and answers were. None where there is no box for a part of
    the settings, or no output and no weights.
    """
    source = next((name for name, of in SOURCES.items() if {*of.names} == s.matrices.keys()), None)
    seen = allowed(s)
    fits = max((answer.size for answer in answers.values()), default=0) <= MAX_CHECKED >= seen.size
    if source is None or {*s.parts} - {"window"} or s.batch or s.softmax is not True or not fits:
        return None
    numbers = {name: matrix.values for name, matrix in s.matrices.items()}
    numbers |= {name: answers[name] for name in ANSWERS if name in answers}
    if not numbers.keys() & set(ANSWERS):
        return None
    mask = next((k for k, of in MASKS.items() if np.array_equal(of(*seen.shape), seen)), PASTED)
    boxes = dict.fromkeys(ANSWERS, "") | {
        name: _written(values, rounded.get(name)) for name, values in numbers.items()
    }
    rows = _written(seen.astype(int)) if mask == PASTED else ""
    rule = {"source": source, "mask_kind": mask, "mask": rows, "true": "may look"}
    return boxes | rule | {"heads": s.heads, "kv_heads": None, "scale": s.scale, "softcap": None}


def _matrix(entry: ArrayEntry, role: str, asked: select.Selection = select.AS_IT_IS) -> np.ndarray:
    values = select.select(entry, role, role, asked).values
    if values.ndim != 2:
        raise BadInput(f"{role} has {values.ndim} axes; expected one matrix.")
    return values


def _array(text: str, name: str, where: str) -> ArrayEntry:
    """The array of that name in a text, or the only one."""
    found = texts.entries(text, where)
    _check_commas(found, "Write 0.5 for a half, and a space after a comma that separates.")
    return array_files.the_one(found, name, where)


def _check_commas(arrays: dict[str, ArrayEntry], what_to_do: str) -> None:
    """Refuse commas that can be read in two ways, as nobody is asked here."""
    for array in arrays.values():
        for choice in array.choices:
            if choice.key == "comma":
                raise BadInput(f"{choice.question} {what_to_do}")


def bench_of(given: dict[str, Any]) -> Bench:
    """The attention of these inputs, right and with mistakes; or what does not fit."""
    try:
        return Bench(checked(Given(**given), MAX_CHECKED))
    except (ValueError, TypeError) as problem:
        raise BadInput(str(problem).replace("allowed has", "the mask has")) from None


def shapes(bench: Bench) -> dict[str, str]:
    """What the other code's numbers look like, in words."""
    return {
        name: (
            " or ".join(sides(view.shape) for view in bench.views(name, bench.right[name]))
            + (" (their mean)" if name == "weights" and bench.given.heads > 1 else "")
        )
        for name in ANSWERS
    }


def stages(bench: Bench) -> dict[str, str]:
    """Return the stages before the answers that the board has for these inputs, and their sizes."""
    given = bench.given
    beside = {*ANSWERS, answer_of(given)} | (set() if given.X is not None else {"Q", "K", "V"})
    return {
        name: sides(bench.right[name].shape)
        for name in names_of(bench)
        if name not in beside and name in bench.right
    }


def explain(bench: Bench, boxes: dict[str, str], library: str = OURS) -> Diagnosis:
    """Read the other code's output, weights and stages, and look for what explains them: a
    library's own arithmetic, or the known mistakes.
    """
    entries = {
        name: _array(text, name, f"your {name}") for name, text in boxes.items() if text.strip()
    }
    arrays = {name: entry.read() for name, entry in entries.items()}
    decimals = {name: _decimals(boxes[name]) for name in entries}
    try:
        theirs: dict[str, Any] = {
            "output": arrays.pop("output", None),
            "weights": arrays.pop("weights", None),
            "decimals": {name: count for name, count in decimals.items() if count},
        }
        if library == OURS:
            return diagnose_given(bench.given, **theirs, stages=arrays)
        return diagnose_library(bench.given, library, **theirs)
    except (ValueError, TypeError) as problem:
        remarks = {entry.remark for entry in entries.values()}
        asked = {choice.question for entry in entries.values() for choice in entry.choices}
        text = _STAGE.sub(r"\1", str(problem))
        raise BadInput(" ".join([f"your {text}", *filter(None, remarks), *asked])) from None


def filled(bench: Bench, text: str) -> dict[str, str]:
    """Return a text for each box out of one with several labelled arrays, by name.

    Labels are read as people write them: “Attention Weights”, “QK^T / √d_k”.
    """
    where = "the text"
    arrays = texts.entries(text, where)
    _check_commas(arrays, "Write 0.5 for a half, and a space after a comma that separates.")
    known = {name: name for name in (*stages(bench), *ANSWERS)} | {answer_of(bench.given): "output"}
    called: dict[str, str] = {}
    for label in arrays:
        name = known.get(label) or known.get(role_of(label) or "")
        if name in called:
            raise BadInput(f"“{called[name]}” and “{label}” are both {name}; give one of them.")
        if name is not None:
            called[name] = label
    if not called:
        raise BadInput(f"no array here is called {' or '.join(known)}; write the name before each.")
    return {
        name: _written(values, printed(text, values))
        for name, label in called.items()
        for values in [_of_one_item(arrays[label].read(), label)]
    }


def from_file(filename: str, content: bytes, name: str, others: bool = False) -> str:
    """Return the text for the box ``name`` out of an uploaded file, every number in full.

    Numbers that were rounded in a text keep the decimals that they were printed with. Where other
    arrays of the file cannot be read, that is refused until ``others`` says to go on.
    """
    where = entry.shown(filename)
    arrays = opening.opened(filename, content)
    _check_commas(arrays, "Save it with points, or put spaces after commas that separate.")
    if name in arrays:
        arrays[name].read()  # what is wrong with the wanted one comes first
    arrays, unreadable = array_files.readable(arrays)
    if unreadable and not others:
        raise array_files.Unreadable(unreadable)
    array = _of_one_item(array_files.the_one(arrays, name, where).read(), where)
    return _written(array, printed(opening.text_in(filename, content), array))


def _of_one_item(array: np.ndarray, where: str) -> np.ndarray:
    """Return the numbers of a matrix, or of one for each head, without a batch of one."""
    if array.dtype == bool:
        raise BadInput(f"{where} holds bool; expected numbers.")
    while array.ndim > 2 and len(array) == 1:
        array = array[0]
    if array.ndim not in (2, 3) or not 0 < array.size <= MAX_CHECKED:
        raise BadInput(
            f"{where}: the shape is {array.shape}; two or three axes and at most {MAX_CHECKED:,}"
            " numbers are read here."
        )
    return array


def _written(values: np.ndarray, rounded: Written | None = None) -> str:
    """Return the text of a box, which reads back as these numbers, with their decimals if rounded.

    Rows of plain numbers, with an empty line between matrices; between brackets where the first
    column counts, as plain rows that do so may be numbered.
    """
    blocks = values.reshape(-1, *values.shape[-2:])
    texts = [write_matrix(block, rounded.text if rounded else None) for block in blocks]
    if any(counts_up([row.split(" ")[0] for row in text.split("\n")]) for text in texts):
        return str(values.tolist())
    return "\n\n".join(texts)


def _decimals(text: str) -> int | None:
    """How many decimals are printed; None where numbers are whole, in full or powers of ten."""
    most = max((len(decimals) for decimals in re.findall(r"\.(\d+)", text)), default=0)
    return most if 0 < most <= 6 and not re.search(r"\d[eE]", text) else None


EXAMPLES = ("scale: none", "softmax: queries")  # of mistakes: the first that is seen is shown


def first_example(bench: Bench) -> Mistake | None:
    """Return the mistake that is shown before anything is entered; None where none would be seen,
    as of one token, which looks at itself alone.
    """
    possible = {mistake.name: mistake for mistake in bench.applicable}
    for name in EXAMPLES:
        answers = bench.run((possible[name],)) if name in possible else None
        if answers and not np.allclose(answers["output"], bench.right["output"]):
            return possible[name]
    return None


def planted(bench: Bench, mistake: Mistake | None, name: str) -> str:
    """What a code with this mistake would answer, to the last digit; None: a right one."""
    answers = bench.run((mistake,) if mistake else ())
    if answers is None:
        raise BadInput("this mistake is not possible with these inputs.")
    return _written(answers[name])
