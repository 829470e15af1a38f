"""One step with a cache beside the whole: its row is the last row, and slips show."""

from dataclasses import replace

import messages
import numpy as np
import pytest
from session.test_parts import EACH

from attention.explain import beside
from attention.explain.arithmetic import cell
from attention.limits import BadInput
from attention.session.compare import pair
from attention.session.edit.changes import set_memory, set_tokens
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.state.validate import check

CASES = EACH | {name: EXAMPLES[name].build() for name in ("cat-sat", "window", "sinks", "batch")}
CASES["alibi and a window"] = replace(EXAMPLES["window"].build(), alibi=True, softcap=3.0)
CASES["rows of one word"] = EXAMPLES["rotary"].build()


def step_of(s):
    made = pair.PRESETS["step"].make(s)
    return pair.Pair(check(made.a), check(made.b))


@pytest.mark.parametrize("name", CASES)
def test_the_step_has_the_last_row_of_the_whole(name):
    both = step_of(CASES[name])
    a, b = pair.views(both)
    whole = view(both.a, run(both.a)).stages
    assert a.stages.keys() == b.stages.keys() and len(b.stages["output"]) == 1
    for stage in ("scores", "weights", "output"):
        np.testing.assert_array_equal(a.stages[stage][0], whole[stage][-1])
    for stage, M in a.stages.items():
        np.testing.assert_allclose(b.stages[stage], M, rtol=1e-12, atol=1e-13, err_msg=stage)
    for compared in beside.stages(a, b):
        assert not compared.why_not and not compared.drawn.any()
    assert a.labels == b.labels


@pytest.mark.parametrize("name", [name for name in CASES if name != "rows of one word"])
def test_both_sides_say_the_same_of_each_cell(name):
    a, b = pair.views(step_of(CASES[name]))
    for stage, M in a.stages.items():
        for i, j in ((0, 0), (len(M) - 1, M.shape[1] - 1)):
            assert cell(a, stage, i, j) == cell(b, stage, i, j)


def test_without_its_offset_the_step_is_another():
    both = step_of(EACH["rotary"])
    slipped = replace(both, b=replace(both.b, rotary=replace(both.b.rotary, offset=0)))
    a, b = pair.views(slipped)
    assert len(a.stages["weights"]) == 1
    assert np.abs(a.stages["weights"] - b.stages["weights"]).max() > 0.01
    assert any("rotary positions: " in line for line in pair.differing(slipped))


def test_the_comparison_is_told_in_words_and_found_again():
    both = step_of(EXAMPLES["rotary"].build())
    assert pair.differing(both)[:2] == [
        messages.LAST_ROW_OF.format(words="ha ha ha ha ha"),
        messages.ASKS_ALONE.format(word="ha (5)"),
    ]
    assert pair.preset_of(both) == "step"
    s = check(pair.compared(both))
    assert links.read(links.write(s)) == (s, [])


@pytest.mark.parametrize(
    ("s", "message"),
    [
        (set_memory(EXAMPLES["cat-sat"].build(), True), messages.CACHE_KEEPS_ONE_SEQUENCE),
        (set_tokens(EXAMPLES["four-words"].build(), ("one",), [0]), messages.CACHE_OF_ONE_WORD),
    ],
)
def test_where_there_is_no_step_a_sentence_says_so(s, message):
    with pytest.raises(BadInput) as refused:
        pair.PRESETS["step"].make(s)
    assert str(refused.value) == message
