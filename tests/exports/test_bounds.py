"""A format that so many numbers do not fit into is refused with a sentence, in the zip as well."""

import io
import zipfile
from dataclasses import replace

import messages
import numpy as np
import pytest

from attention.explain.view import View
from attention.exports import bounds, formats
from attention.exports.formats import FORMATS, PageContents, everything, refusal
from attention.figures.panes import panes
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view


def zipped() -> tuple[View, zipfile.ZipFile]:
    settings = EXAMPLES["four-words"].build()
    trace = run(settings)
    now = view(settings, trace)
    page = PageContents(settings, trace, now, "four words", lambda: panes.panes(now))
    *_, (_, _, content) = everything(page)
    return now, zipfile.ZipFile(io.BytesIO(content))


def test_the_zip_says_of_a_format_that_it_is_too_large_and_holds_the_others(monkeypatch):
    monkeypatch.setattr(formats, "_picture", lambda *_: b"")  # drawing them takes seconds
    monkeypatch.setattr(formats, "_figure", lambda *_: b"")
    now, whole = zipped()
    numbers = sum(matrix.size for matrix in now.stages.values())
    monkeypatch.setitem(bounds.MOST, "latex", numbers - 1)
    monkeypatch.setitem(bounds.MOST, "json", numbers)
    _, found = zipped()
    assert set(found.namelist()) == set(whole.namelist()) - {"stages.tex"} | {"stages.tex.txt"}
    assert found.read("stages.tex.txt").decode() == (
        messages.STAGES_TOO_LARGE.format(numbers=numbers, place="", most=numbers - 1)
    )


@pytest.mark.parametrize("key", FORMATS)
def test_what_holds_all_numbers_is_never_too_large_and_every_text_is_bounded(key):
    stages = {name: np.zeros((1, 1)) for name in ("Q", "K")}
    large = {
        name: np.lib.stride_tricks.as_strided(M, (10**5, 10**5), (0, 0))
        for name, M in stages.items()
    }
    said = bounds.too_large(key, View(large, {}, np.ones((1, 1), bool), 1.0))
    assert bool(said) is (key not in ("npz", "state", "lines"))  # these by their words
    assert bounds.too_large(key, View(stages, {}, np.ones((1, 1), bool), 1.0)) == ""


@pytest.mark.parametrize("key", ("python", "notebook", "report"))
def test_what_holds_the_code_is_counted_with_all_heads_of_the_item(key, monkeypatch):
    settings = EXAMPLES["sentence"].build()
    trace = run(settings)
    now = view(settings, trace)
    page = PageContents(settings, trace, now, "", list, stages=("weights",))
    arrays = [getattr(trace, name) for name in now.stages]
    numbers = sum(values.size for values in arrays)
    assert settings.heads == 2 and numbers > sum(matrix.size for matrix in now.stages.values())
    monkeypatch.setitem(bounds.MOST, key, numbers)
    assert refusal(key, page) == ""
    monkeypatch.setitem(bounds.MOST, key, numbers - 1)
    assert refusal(key, page) == (
        messages.STAGES_TOO_LARGE.format(
            numbers=f"{numbers:,}", place=" in all 2 heads", most=f"{numbers - 1:,}"
        )
    )


def test_sixteen_heads_of_128_tokens_are_too_many_for_code_and_one_of_them_is_not():
    heads = View({}, {}, np.ones((128, 128), bool), 1.0, heads=16)
    one = {name: np.zeros((128, 128)) for name in ("scores", "scaled", "masked", "weights")}
    for key in ("python", "notebook", "report"):
        said = messages.STAGES_TOO_LARGE.format(
            numbers="1,048,576", place=" in all 16 heads", most=f"{bounds.MOST[key]:,}"
        )
        assert bounds.too_large(key, replace(heads, stages=one)) == said
        assert bounds.too_large(key, replace(heads, stages=one, heads=1)) == ""
