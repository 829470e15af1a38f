"""Which tests a run takes: quick ones, all of them, or those of a path."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LISTED = (TESTS / "slow.txt").read_text(encoding="utf-8").splitlines()


def test_each_line_is_a_test_that_is_there_in_a_file_that_keeps_another():
    named: dict[str, set[str]] = {}
    for line in LISTED:
        file, _, test = line.partition("::")
        named.setdefault(file, set()).add(test)
    for file, tests in named.items():
        tree = ast.parse((TESTS.parent / file).read_text(encoding="utf-8"))
        there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {test.partition("[")[0] for test in tests} <= there, file
        assert {name for name in there if name.startswith("test_")} - tests, file


def test_the_list_is_short_in_order_and_without_the_browser():
    assert sorted(set(LISTED)) == LISTED and len(LISTED) <= 300
    assert not [line for line in LISTED if "/browser/" in line]


@pytest.fixture
def planted(tmp_path):
    """A project with these rules, of a quick test, a slow one, two slow cases and a browser's."""
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    (tmp_path / "tests" / "browser").mkdir(parents=True)
    shutil.copy(TESTS / "conftest.py", tmp_path / "tests")
    (tmp_path / "tests" / "test_a.py").write_text(
        "import pytest\n\ndef test_quick(): ...\n\ndef test_slow(): ...\n\n"
        "@pytest.mark.parametrize('k', [1, 2, 3])\ndef test_cases(k): ...\n"
    )
    (tmp_path / "tests" / "browser" / "test_b.py").write_text("def test_in_browser(): ...\n")
    listed = ["tests/test_a.py::test_slow", *(f"tests/test_a.py::test_cases[{k}]" for k in (1, 3))]
    (tmp_path / "tests" / "slow.txt").write_text("\n".join(listed) + "\n")
    return tmp_path


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "with a worker"])
@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        ([], 2),
        (["-k", "slow or cases"], 1),
        (["--all"], 6),
        (["tests/test_a.py"], 5),
        (["tests/test_a.py::test_slow"], 1),
        (["tests/browser"], 1),
    ],
)
def test_a_run_takes_quick_tests_all_of_them_or_those_of_a_path(
    planted, arguments, passed, workers
):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *workers, *arguments]
    ran = subprocess.run(command, cwd=planted, capture_output=True, text=True, timeout=120)
    assert re.search(r"(\d+) passed", ran.stdout)[1] == str(passed), ran.stdout
