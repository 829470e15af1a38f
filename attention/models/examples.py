"""Captures of a trained model that come with the package (tests/models/record_minilm.py).

They are of sentence-transformers/all-MiniLM-L6-v2, whose weights are under the Apache License 2.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attention.models.survey import Survey, survey
from attention.models.taken import Taken

FOLDER = Path(__file__).with_name("captures")


@dataclass(frozen=True)
class ExampleCapture:
    """A capture: its title, what the model read, and where something is to be seen."""

    title: str
    sentences: tuple[str, ...]  # the items of a batch
    notice: str


CAPTURES = {
    "pronoun": ExampleCapture(
        "MiniLM: what “it” is",
        ("The animal did not cross the street because it was too tired.",),
        "Layer 0, head 2: each token but the first looks at the one before it; layer 1, head 8,"
        " mostly at the one after it. Layer 3, head 1, and layer 5, head 11: “it” looks most at"
        " “animal”. Layer 4, head 5: nine tenths go to the first token, [CLS].",
    ),
    "verbs": ExampleCapture(
        "MiniLM: a verb and its subject",
        ("The keys to the house are on the table.", "The cats on the mat are tired."),
        "A batch of two, the second padded with [PAD], which the mask hides. Layer 3, head 1:"
        " “are” looks most at “keys” and not at “house”, which is nearer; in the second at"
        " “cats” and not at “mat”.",
    ),
}


@cache
def load(name: str) -> Taken:
    """One of CAPTURES.

    >>> load("pronoun").tokens[:4]
    ['[CLS]', 'the', 'animal', 'did']
    """
    return Taken.load(FOLDER / f"{name}.safetensors")


@cache
def surveyed(name: str) -> Survey:
    """Return the survey of one of CAPTURES.

    >>> len(surveyed("pronoun").heads)
    30
    """
    return survey(load(name))
