"""A little of the monkey, and proof that it can find a fault."""

import json

import pytest
from amount import amount
from browser import monkey

from attention.session.edit import changes
from attention.session.state.examples import EXAMPLES

SECONDS = amount(8, 60)  # all together; how far they come depends on the machine
SEEDS = (1, 2)


@pytest.fixture
def page(visit):
    """A new visitor's."""
    return visit(permissions=monkey.PERMISSIONS, motion="no-preference").page


@pytest.mark.parametrize("seed", SEEDS)
def test_no_move_of_the_monkey_breaks_a_page_or_changes_what_it_should_not(page, address, seed):
    made, fault = monkey.play(
        page, address, seed, actions=amount(60, 300), seconds=SECONDS / len(SEEDS)
    )
    assert made and not fault, fault


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("key", ["set_sentence", "set_second_sentence"])
def test_the_monkey_knows_all_that_a_sentence_changes(name, key):
    before = EXAMPLES[name].build()
    after = changes.set_sentence(before, "one two one", key == "set_second_sentence")
    assert monkey.differing(before, after) <= monkey.may_change(key)


OVER_ITSELF = [
    ("stButtonGroup", "set_below", 0.95),
    ("uploader", "load_file", 0.001),
    ("uploader", "load_file", 0.03),
    ("uploader", "load_file", 0.001),
    ("uploader", "load_file", 0.03),
    ("stSlider", "set_digits", 0.8),
    ("stButton", "load_use", 0.5),
]


def test_a_file_opened_over_itself_keeps_what_was_understood(page, address):
    script = [[move] for move in OVER_ITSELF]
    assert monkey.play(page, address, 0, 7, script=script) == (7, "")


@pytest.mark.parametrize(
    ("planted", "sentence"),
    [
        ("console.error('planted')", "an error in the browser: ['console: planted "),
        (
            "document.querySelector('.said, .st-key-title h1').dataset.testid = 'stException'",
            "an error box: ",
        ),
        (
            "document.querySelector('[data-stage=scores] .board-canvas').painted.z[0][0] += 1e-12",
            "[('resize', '', 0.0)] changed numbers, from ",
        ),
        (
            """() => { const { dataset } = document.querySelector('.board')
            const other = () => { if (dataset.tag !== 'x') dataset.tag = 'x' }
            new MutationObserver(other).observe(document.querySelector('.board'),
              { attributeFilter: ['data-tag'] }) // at once, whenever the board is drawn again
            other() }""",
            "the boards show ['x']; ",
        ),
        (
            "document.querySelector('.st-key-set_digits input').value = 9",
            "controls show other values than are set",
        ),
        (
            "history.replaceState(0, '', '/?example=cat-sat&digits=4')",
            "[('resize', '', 0.0)] changed ['digits']: from ",
        ),
        (  # the tabs below the board may all be closed; no other choice may be empty
            "document.querySelector('.st-key-set_below').classList.replace("
            "'st-key-set_below', 'st-key-set_choice')",
            "nothing is chosen in {'set_choice'}",
        ),
    ],
)
def test_the_monkey_sees_what_is_planted(page, address, monkeypatch, planted, sentence):
    def plant(self, key, chance):
        monkeypatch.setattr(monkey, "PATIENCE", 1.0)  # from now on; opening has its usual one
        monkeypatch.setattr(monkey, "LATE", 0.1)
        self.page.evaluate(planted)

    monkeypatch.setattr(monkey.Hands, "resize", plant)
    made, fault = monkey.play(page, address, 0, 1, script=[[("resize", "", 0.0)]])
    assert made == 1 and fault.startswith(f"seed 0, move 1: {sentence}")
    assert json.loads(fault.splitlines()[-1]) == [["resize", "", 0.0]]
