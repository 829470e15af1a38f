"""74 real printouts: each is read right or refused with a sentence, never as other numbers.

``prints/README.md`` says what the texts are; the reading of each stands in the JSON next to it.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import messages
import numpy as np
import pytest

from attention.limits import BadInput
from attention.readers import opening
from attention.readers.cells.entry import ALONE, PASTED, ArrayEntry
from attention.readers.files.array_files import the_one
from attention.readers.texts.texts import entries
from attention.session.compare import check_yours

PRINTS = Path(__file__).parent / "prints"
TEXTS = {path.stem: path.read_bytes() for path in sorted(PRINTS.glob("*.txt"))}
WANTED = {name: json.loads((PRINTS / f"{name}.json").read_text("utf-8")) for name in TEXTS}
# Nothing to read: shapes, code that draws numbers, and arrays that were cut.
NOTHING = {"13", "16", "34", "35", "37", "51", "59", "66"}
# Lines of one label and one row each, which are read as one matrix with these labels.
ROWS = {"15", "42"}
RIGHT = {name[:2] for name in TEXTS} - NOTHING - ROWS


def pasted(name: str) -> dict[str, ArrayEntry]:
    """Read as Your data reads what was pasted."""
    return opening.opened(PASTED, TEXTS[name])


def uploaded(name: str) -> dict[str, ArrayEntry]:
    """Read as Your data and Check yours read a file."""
    return opening.opened(f"{name}.txt", TEXTS[name])


def answered(name: str) -> ArrayEntry:
    """Read as a box of Check yours, which takes one array."""
    return the_one(entries(TEXTS[name].decode(), "your output"), "output", "your output")


def readings(name: str) -> Iterator[list[dict]]:
    """Yield the lists of arrays that are right."""
    wanted = WANTED[name]
    if isinstance(wanted["expected"], list):
        yield wanted["expected"]
    yield from wanted.get("also_right", ())


def same(entry: ArrayEntry, wanted: dict) -> bool:
    """Compare bit for bit; an axis of one in front, as of one item or one row, may be missing."""
    found = entry.read()
    values = np.array(np.array(wanted["values"], object), float)
    sides = [tuple(one.shape)[tuple(one.shape)[0] == 1 :] for one in (found, values)]
    truth = (found.dtype == bool) == (wanted["kind"] == "bool")
    return (
        truth
        and sides[0] == sides[1]
        and np.array_equal(found.astype(float).ravel(), values.ravel(), equal_nan=True)
    )


def all_same(found: dict[str, ArrayEntry], wanted: list[dict]) -> bool:
    """Compare every array with one of the reading, in order, and the names that are printed."""
    return len(found) == len(wanted) and all(
        same(entry, one) and (name.startswith(ALONE) or name == one["name"])
        for (name, entry), one in zip(found.items(), wanted, strict=True)
    )


def in_rows(found: dict[str, ArrayEntry], wanted: list[dict]) -> bool:
    """Compare the rows of one matrix, and their labels, with vectors that have names."""
    (entry,) = found.values()
    values = np.array([one["values"] for one in wanted], float)
    return np.array_equal(entry.read(), values) and entry.rows == tuple(o["name"] for o in wanted)


def outcome(name: str, found: dict[str, ArrayEntry]) -> str:
    if any(all_same(found, reading) for reading in readings(name)):
        return "right"
    if name[:2] in ROWS and in_rows(found, WANTED[name]["expected"]):
        return "in rows"
    return f"wrong: {[(each, entry.read().tolist()) for each, entry in found.items()]}"


@pytest.mark.parametrize("way", [pasted, uploaded])
@pytest.mark.parametrize("name", TEXTS)
def test_a_printout_is_read_right_or_refused(name, way):
    try:
        found = outcome(name, way(name))
    except BadInput as problem:
        assert 0 < len(str(problem)) <= 300
        found = "refused"
    wanted = "right" if name[:2] in RIGHT else "in rows" if name[:2] in ROWS else "refused"
    assert found == wanted


@pytest.mark.parametrize("name", TEXTS)
def test_check_yours_takes_no_other_numbers_from_a_printout(name):
    try:
        entry = answered(name)
        entry.read()
    except BadInput:
        return
    if name[:2] in ROWS:
        return
    assert name[:2] in RIGHT
    assert any(same(entry, one) for reading in readings(name) for one in reading)


@pytest.mark.parametrize("name", TEXTS)
def test_no_printout_is_taken_for_a_sentence(name):
    assert opening.prose_in(TEXTS[name]) is None


def test_check_yours_asks_for_other_commas_where_they_can_be_read_in_two_ways():
    name, text = "74_commas_two_ways", TEXTS["74_commas_two_ways"].decode()
    (choice,) = answered(name).choices
    assert choice.taken == "decimal"
    with pytest.raises(BadInput) as problem:
        check_yours.explain(None, {"output": text})
    line = text.split("\n")[0]
    asked = messages.AMBIGUOUS_COMMA.format(
        place="your output", line=1, quoted=line, separated="numbers"
    )
    assert str(problem.value).startswith(asked)


def test_every_printout_has_its_reading():
    assert len(TEXTS) == 74
    assert {path.stem for path in PRINTS.glob("*.json")} == set(TEXTS)
    assert len(RIGHT) == 64
