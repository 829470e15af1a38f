"""README tells the truth: its table is the package's, and its Python runs."""

from readme import DRAWING, PYTHON, README, prints_what_it_says

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


def test_what_it_draws_and_saves_can_be_drawn_and_saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert DRAWING.count("attention.figure") == 2
    exec(f"{PYTHON}\n{DRAWING}", {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trace.csv", "trace.html"]
