"""Where a library can be imported, it still answers what was recorded from it.

The conventions are held to the recording, by tests/frameworks/test_records.py.
"""

import importlib
import json
import os
import warnings

import numpy as np
import pytest
from peers.record import CASES, FILE, LIBRARIES, PART_CASES, PARTS_FILE, asked

RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
WITH_PARTS = json.loads(PARTS_FILE.read_text(encoding="utf-8"))
ALL = CASES | PART_CASES


@pytest.mark.parametrize("case", ALL)
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_library_answers_what_was_recorded(name, case):
    way = LIBRARIES[name]
    package = way.package
    os.environ.setdefault("KERAS_BACKEND", "torch")
    if package == "keras" and os.environ["KERAS_BACKEND"] != way.backend:
        pytest.skip(f"Keras runs on another backend in this process than {way.backend}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries' own
        for needed in {package, way.backend if package == "keras" else package}:
            pytest.importorskip(
                needed, reason=f"{needed} is not installed; its recorded answers are used"
            )
        if package == "transformers":
            pytest.importorskip("torch", reason="torch is not installed")
        found = asked(way, ALL[case])
    recorded = (RECORDED[name] | WITH_PARTS[name])[case]
    installed = importlib.import_module(package).__version__
    if installed.split("+")[0] != RECORDED["versions"][package].split("+")[0]:
        pytest.skip(f"{package} is of another version than the recorded one")
    assert set(found) == set(recorded)
    for stage in {"output", "weights"} & set(found):
        expected, given = (np.array(said[stage], float) for said in (recorded, found))  # null: NaN
        close = 2e-3 if ALL[case]["dtype"] == "float16" else 1e-6
        np.testing.assert_allclose(given, expected, rtol=0, atol=close)
