"""The installed command, started in another folder, in a real browser."""

from dataclasses import replace

import pytest

from attention.session.state import links
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.run import run, view

SAVED = replace(EXAMPLES["lookup"].build(), scale=0.25)


@pytest.fixture(scope="module")
def served(environments, serving, tmp_path_factory):
    """The address of the installed dashboard, which was told to open a saved state."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "state.json").write_bytes(links.to_file(SAVED))
    command = str(environments / "dashboard" / "bin" / "attention-stages")
    with serving([command, "--open", "state.json", "--port"], folder) as url:
        yield url


def test_the_installed_command_draws_the_saved_state_and_any_example(served, visit):
    dashboard = visit(at=served).open(bare=True)
    now = view(SAVED, run(SAVED))
    for stage in ("Q", "scores", "scaled", "weights", "output"):
        assert (dashboard.numbers(stage) == now.stages[stage]).all(), stage
    settings = EXAMPLES[FIRST].build()
    dashboard.open(example=FIRST)
    assert (dashboard.numbers("scores") == view(settings, run(settings)).stages["scores"]).all()
