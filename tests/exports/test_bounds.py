"""A format that so many numbers do not fit into is refused with a sentence, in the zip as well."""

import io
import zipfile

import numpy as np
import pytest

from attention.exports import bounds
from attention.exports.formats import FORMATS, PageContents, everything
from attention.figures import panes
from attention.session.examples import EXAMPLES
from attention.session.run import run, view
from attention.view import View


def zipped() -> tuple[View, zipfile.ZipFile]:
    settings = EXAMPLES["four-words"].build()
    trace = run(settings)
    now = view(settings, trace)
    page = PageContents(settings, trace, now, "four words", lambda: panes.panes(now))
    *_, (_, _, content) = everything(page)
    return now, zipfile.ZipFile(io.BytesIO(content))


def test_the_zip_says_of_a_format_that_it_is_too_large_and_holds_the_others(monkeypatch):
    now, whole = zipped()
    numbers = sum(matrix.size for matrix in now.stages.values())
    monkeypatch.setitem(bounds.MOST, "latex", numbers - 1)
    monkeypatch.setitem(bounds.MOST, "json", numbers)
    _, found = zipped()
    assert set(found.namelist()) == set(whole.namelist()) - {"stages.tex"} | {"stages.tex.txt"}
    assert found.read("stages.tex.txt").decode() == (
        f"these stages hold {numbers} numbers; at most {numbers - 1} fit. NPZ holds them all."
    )


@pytest.mark.parametrize("key", FORMATS)
def test_what_holds_all_numbers_is_never_too_large_and_every_text_is_bounded(key):
    stages = {name: np.zeros((1, 1)) for name in ("Q", "K")}
    large = {
        name: np.lib.stride_tricks.as_strided(M, (10**5, 10**5), (0, 0))
        for name, M in stages.items()
    }
    said = bounds.too_large(key, View(large, {}, np.ones((1, 1), bool), 1.0))
    assert bool(said) is (key not in ("npz", "state"))
    assert bounds.too_large(key, View(stages, {}, np.ones((1, 1), bool), 1.0)) == ""
