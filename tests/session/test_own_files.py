"""Files of this page opened here again, over each part of real layers: the same output.

Texts hold one head, so they are of settings with one; an .npz holds all.
"""

from dataclasses import replace

import numpy as np
import pytest

from attention import RMSNorm, Rotary
from attention.exports.formats import FORMATS, PageContents
from attention.readers.opening import opened
from attention.readers.select import Selection, gather
from attention.session.bring import adopt
from attention.session.edit import changes
from attention.session.edit import parts as prepared
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.session.state.validate import check

TWO = replace(EXAMPLES["sentence"].build(), mask="causal")


def with_parts(s: Settings) -> dict[str, Settings]:
    return {
        "biases": prepared.set_biases(changes.set_output_weights(s, True), True),
        "positions": prepared.set_positions(s, True),
        "biases and positions": prepared.set_positions(prepared.set_biases(s, True), True),
        "relative": prepared.set_relative(s, True),
        "kv_heads": changes.set_kv_heads(s, 1),
        "norm": replace(s, norm=RMSNorm()),
        "rotary": replace(s, rotary=Rotary()),
        "softcap": replace(s, softcap=2.0),
        "alibi": replace(s, alibi=True),
        "alibi alone": replace(s, alibi=True, mask="none"),
        "window": replace(s, window=2),
        "sinks": replace(s, sinks=(1.0, 0.5)[: s.heads]),
        "sigmoid": replace(s, softmax="sigmoid"),
    }


ONE_HEAD, TWO_HEADS = with_parts(changes.set_heads(TWO, 1)), with_parts(TWO)
EXACT = ("matrices", "npz", "json")


def page(s: Settings) -> PageContents:
    trace = run(s)
    return PageContents(s, trace, view(s, trace), "A title", list)


def again(before: Settings, name: str, content: bytes) -> Settings:
    """What Your data makes of a file, where each array is what it is called."""
    found = opened(name, content)
    picks = {
        role: (array, Selection())
        for role, array in adopt.picks_of(found, "weights").items()
        if array is not None
    }
    brought = adopt.with_own_parts(gather(found, picks, name), found, picks, name)
    return adopt.adopt(before, brought)[0]


@pytest.mark.parametrize("form", [*EXACT, "markdown"])
@pytest.mark.parametrize("name", TWO_HEADS)
def test_a_file_of_the_page_gives_the_output_again_where_the_other_settings_stay(name, form):
    s = check((TWO_HEADS if form == "npz" else ONE_HEAD)[name])
    contents = page(replace(s, digits=9))
    file = FORMATS[form].write(contents)
    others = {each: np.random.default_rng(3).normal(size=M.shape) for each, M in s.matrices.items()}
    before = s
    for each, values in others.items():
        before = before.with_matrix(each, before.matrices[each].with_values(values))
    found = again(before, FORMATS[form].filename, file)
    exact = form in EXACT
    expected, made = run(s).output, run(found).output
    np.testing.assert_allclose(made, expected, rtol=0, atol=0 if exact else 1e-6)
