"""The browser's modules by Node's own test runner: each file of tests/pages/js is a test here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from vocabulary.test_numbers import VALUES

from attention.vocabulary.numbers import number, numbers

NODE = shutil.which("node")
FOLDER = Path(__file__).parent / "js"
FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.test.mjs"))
DIGITS = range(13)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """Numbers, and what Python writes for them alone and among others, by decimals."""
    values = [*VALUES, -0.0, float("inf"), float("-inf"), float("nan")]
    mixed = np.array([*values, 0.5])
    content = {
        "values": [repr(value) for value in values],
        "alone": [[number(value, digits) for value in values] for digits in DIGITS],
        "mixed": [numbers(mixed, digits)[:-1] for digits in DIGITS],
    }
    path = tmp_path_factory.mktemp("numbers") / "numbers.json"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.skipif(NODE is None, reason="Node (nodejs) is not installed")
@pytest.mark.parametrize("file", FILES)
def test_modules_pass_what_node_runs(file, written):
    run = subprocess.run(
        [NODE, "--test", "--test-reporter=tap", FOLDER / file],
        env=os.environ | {"NUMBERS": str(written), "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=280,  # all boards in all windows, on a busy machine
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "\n# skipped 0\n" in run.stdout, run.stdout
