"""The wheel in empty environments: the maths with NumPy alone, and the command with the dashboard.

``.ci/run`` makes the environments and names their folder in ``INSTALLED``.
"""

import re
import subprocess
from pathlib import Path

import messages
import pytest
from readme import PYTHON, prints_what_it_says

import attention

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "attention"


def run(program: Path, *arguments: str, where: Path) -> subprocess.CompletedProcess:
    """From another folder, isolated from this clone."""
    return subprocess.run(
        [program, *arguments], cwd=where, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def python(environments, tmp_path):
    """Runs code in the environment without the dashboard, and returns what it prints."""

    def run_code(code: str) -> str:
        ran = run(environments / "alone/bin/python", "-I", "-c", code, where=tmp_path)
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout

    return run_code


def test_numpy_is_all_that_comes_with_it(python):
    code = "from importlib.metadata import distributions as d; print(*(x.name for x in d()))"
    assert set(python(code).split()) - {"pip", "setuptools"} == {
        "attention-stage-by-stage",
        "numpy",
    }


def test_the_installed_files_are_those_of_the_repository(python):
    house = Path(python("import attention; print(attention.__path__[0])").strip())
    assert not house.is_relative_to(ROOT)
    files = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    wanted = {path.relative_to(PACKAGE): path for path in files}
    wanted[Path("launch/config/config.toml")] = ROOT / ".streamlit" / "config.toml"
    found = {p.relative_to(house) for p in house.rglob("*") if p.is_file() and p.suffix != ".pyc"}
    assert found == set(wanted)
    for name, path in wanted.items():
        assert (house / name).read_bytes() == path.read_bytes(), name


def test_the_version_is_one(python):
    code = "import attention; from importlib.metadata import version;"
    code += "print(attention.__version__, version('attention-stage-by-stage'))"
    assert python(code).split() == [attention.__version__] * 2


def test_readmes_python_runs_with_numpy_alone(python):
    assert prints_what_it_says(
        python("\n".join(f"exec({code!r}, {{}})" for code in PYTHON.values()))
    )


@pytest.mark.parametrize("program", [["attention-stages"], ["python", "-m", "attention"]])
def test_without_the_dashboard_the_command_says_what_to_install(environments, tmp_path, program):
    ran = run(environments / "alone/bin" / program[0], *program[1:], where=tmp_path)
    said = messages.PACKAGES_LACKING.format(
        packages="streamlit, pandas, plotly, matplotlib, segno",
        extra="attention-stage-by-stage[app]",
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", f"attention-stages: {said}\n")


@pytest.mark.parametrize("program", [["attention-stages"], ["python", "-m", "attention"]])
def test_both_names_of_the_command_know_the_version(environments, tmp_path, program):
    ran = run(environments / "alone/bin" / program[0], *program[1:], "--version", where=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, f"attention-stages {attention.__version__}\n")


def test_chromium_is_installed_without_questions_also_through_sudo(tmp_path):
    script = (ROOT / ".ci/run").read_text()
    chromium = re.search(r"^apt_get\(\).*?^chromium\(\).*?^}$", script, re.DOTALL | re.MULTILINE)[0]
    log = tmp_path / "log"
    stubs = {
        "id": "echo 1000",
        "sudo": f'exec /usr/bin/env -i PATH={tmp_path} "$@"',  # which hands no variables on
        "apt-get": f'echo "$DEBIAN_FRONTEND: $*" >>{log}',
        "env": 'exec /usr/bin/env "$@"',
    }
    for name, does in stubs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    subprocess.run(
        ["/bin/bash", "-euc", f"{chromium}\nchromium"], env={"PATH": str(tmp_path)}, check=True
    )
    assert log.read_text().splitlines() == [
        "noninteractive: update -qq",
        "noninteractive: install -y -qq chromium-headless-shell",
    ]
