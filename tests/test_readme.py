"""README tells the truth: its table is the package's, and its Python runs."""

from readme import PYTHON, README, prints_what_it_says

from attention.frameworks.records import CONVENTIONS


def test_the_table_of_frameworks_is_that_of_the_package():
    table = README.split("## How frameworks differ")[1]
    for c in CONVENTIONS.values():
        star = "" if c.ran else " *"
        said = (c.when, c.true_means, c.hidden_row, c.causal, c.scale)
        assert f"| {c.name} ({c.version}){star} | {' | '.join(said)} |" in table
    assert table.split("\n\n")[1].count("\n") == len(CONVENTIONS) + 2


def test_its_python_runs_and_prints_what_it_says(capsys):
    exec(PYTHON, {})
    assert prints_what_it_says(capsys.readouterr().out)
