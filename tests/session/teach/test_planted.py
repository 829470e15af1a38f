"""Find the mistake: what is planted is done once more by other hands, over many seeds."""

from dataclasses import replace
from hashlib import blake2b

import messages
import numpy as np
import pytest
from frameworks.diagnosis.planting import theirs

from attention.frameworks.diagnosis.mistakes import BY_NAME
from attention.session.compare import pair
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.teach.by_hand import made
from attention.session.teach.exercise import ENOUGH
from attention.session.teach.planted import (
    KNOWN,
    OPTIONS,
    Said,
    beside,
    first_difference,
    how,
    of_mistake,
    of_stage,
    planted,
    said,
    seen_at,
    shown_how,
)
from attention.vocabulary.numbers import number
from attention.vocabulary.stages import ALWAYS

CAT = EXAMPLES["cat-sat"].build()
SEEDS = range(1, 81)
ALONE = ("Q", "output")  # stages in which one mistake alone begins


def on(seed, **changes):
    return replace(CAT, exercise="mistake", exercise_seed=seed, **changes)


def by_other_hands(seed, name):
    """The weights and the output of this seed with the mistake."""
    right = view(made(seed), run(made(seed))).stages
    given = {name: right[name] for name in "QKV"} | {"allowed": np.tril(np.ones((3, 3), bool))}
    output, weights = theirs(given, frozenset([name]))
    return weights[0], output


def test_what_stands_there_is_the_planted_mistake_and_no_other_option_would_stand_there():
    for seed in SEEDS:
        found = planted(seed)
        assert found.mistake.name in found.options
        assert len(set(found.options)) == len(found.options)
        assert len(found.options) == (1 if found.first in ALONE else OPTIONS)
        shown = {}
        for name in found.options:
            weights, output = by_other_hands(seed, name)
            if name == found.mistake.name:
                np.testing.assert_allclose(found.wrong.stages["weights"], weights, atol=1e-12)
                np.testing.assert_allclose(found.wrong.stages["output"], output, atol=1e-12)
            else:  # on the board they differ
                _, other = pair.views(pair.Pair(made(seed), made(seed), name))
                assert first_difference(other, found.wrong) is not None
                np.testing.assert_allclose(other.stages["output"], output, atol=1e-12)
            _, other = pair.views(pair.Pair(made(seed), made(seed), name))
            assert first_difference(found.right, other).stage == found.first  # so each could be it
            shown[name] = output
        assert set(shown) <= set(KNOWN) <= set(BY_NAME)


def test_every_mistake_is_planted_by_some_seed_and_every_seed_keeps_its_own():
    digest = blake2b(digest_size=8)
    names = []
    for seed in SEEDS:
        names.append(planted(seed).mistake.name)
        digest.update(" ".join([names[-1], *planted(seed).options]).encode())
    assert set(names) == set(KNOWN)
    assert digest.hexdigest() == "48c8fbe9a77d6943"  # links have the seed alone


def test_the_first_difference_is_where_the_first_printed_number_is_another():
    for seed in SEEDS:
        found = planted(seed)
        right = view(made(seed), run(made(seed)))
        for name in ALWAYS:
            texts = [
                [[number(x) for x in row] for row in shown.stages[name].tolist()]
                for shown in (right, found.wrong)
            ]
            if texts[0] != texts[1]:
                break
        assert name == found.first
        i, j = found.cell[1:]
        assert texts[0][i][j] != texts[1][i][j]
        row, column = right.rows(name)[i], right.columns(name)[j]
        assert seen_at(found) == messages.SEEN_AT.format(
            here=texts[1][i][j], row=row, column=column, there=texts[0][i][j]
        )
        assert texts[0][i][j] in how(found)[-1]


def test_it_is_found_by_stage_and_then_by_name_and_each_answer_says_why():
    found = planted(4)
    assert (found.mistake.name, found.first) == ("scale: d_k", "scaled")
    assert of_stage(found, "scores") == messages.STAGE_IS_RIGHT.format(stage="scores")
    assert of_stage(found, "output") == messages.STAGES_BEFORE_ARE_WRONG.format(stage="output")
    seen = messages.SEEN_AT.format(here="0.25", row="dogs", column="dogs", there="0.50")
    assert of_stage(found, "scaled") == messages.DIFFERS_FIRST.format(stage="scaled", cell=seen)
    s = said(on(4), stage="weights")
    assert Said.of(s) == Said("weights", "", 1, 0)
    assert said(s, mistake="scale: d_k") == s  # first the stage
    assert Said.of(said(s, stage="weights")) == Said("weights", "", 1, 0)
    assert Said.of(said(s, stage="Q")) == Said("Q", "", 2, 0)
    s = said(s, stage="scaled")
    assert Said.of(s) == Said("scaled", "", 1, 0)
    assert said(s, stage="Q") == s == said(s, stage="nothing")  # what is right stays
    s = said(s, mistake="scale: none")
    assert Said.of(s) == Said("scaled", "scale: none", 1, 1)
    assert of_mistake(found, "scale: none") == messages.WITH_THAT_MISTAKE.format(
        stage="scaled", would=1, row="dogs", column="dogs", here="0.25"
    )
    assert said(s, mistake="sum: transposed") == s  # it is no option
    s = said(s, mistake="scale: d_k")
    assert Said.of(s) == Said("scaled", "scale: d_k", 1, 1)
    assert of_mistake(found, "scale: d_k").startswith(messages.DIVIDED_BY_D_K)
    assert said(s, mistake="scale: none") == s
    assert links.read(links.write(s))[0] == s
    assert Said.of(shown_how(on(4))).stage_tries == ENOUGH


def test_where_a_stage_leaves_one_mistake_alone_both_are_found_at_once():
    seed = next(seed for seed in SEEDS if planted(seed).first == "output")
    s = said(on(seed), stage="output")
    assert Said.of(s) == Said("output", planted(seed).mistake.name, 0, 0)
    assert Said.of(on(seed, answers=("output", ""))) == Said.of(s)  # of an earlier link
    assert links.read(links.write(s))[0] == s


@pytest.mark.parametrize("seed", range(1, 21))
def test_every_option_is_answered_by_a_number_that_would_be_another(seed):
    found = planted(seed)
    for name in found.options:
        answer = of_mistake(found, name)
        if name == found.mistake.name:
            assert answer.endswith(found.mistake.fix)
        else:
            words = answer.removesuffix(".").replace(";", "").split()
            assert words[words.index("be") + 1] != words[-1]


def test_compare_shows_what_was_right_beside_it():
    s = beside(planted(4))
    a, b = pair.views(pair.pair_of(s))
    assert np.array_equal(b.stages["output"], planted(4).wrong.stages["output"])
    assert np.array_equal(a.stages["output"], planted(4).right.stages["output"])
    link, whole = links.address(s)
    read, notices = links.read(link)
    assert whole and not notices
    assert (read.mistake, read.pinned.matrices) == ("scale: d_k", made(4).matrices)
