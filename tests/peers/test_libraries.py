"""Where a library can be imported, it still answers what was recorded from it; the conventions are held to the recording."""

import importlib
import json
import os
import warnings

import numpy as np
import pytest
from peers.record import CASES, FILE, LIBRARIES, asked

RECORDED = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_library_answers_what_was_recorded(name, case):
    library, package = LIBRARIES[name]
    os.environ.setdefault("KERAS_BACKEND", "torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries' own
        for needed in {package, "torch"} if package in ("keras", "transformers") else {package}:
            pytest.importorskip(
                needed, reason=f"{needed} is not installed; its recorded answers are used"
            )
        found = asked(library, CASES[case])
    recorded = RECORDED[name][case]
    if (
        importlib.import_module(package).__version__.split("+")[0]
        != RECORDED["versions"][package].split("+")[0]
    ):
        pytest.skip(f"{package} is of another version than the recorded one")
    assert set(found) == set(recorded)
    for stage in {"output", "weights"} & set(found):
        expected, given = (
            np.array(answer[stage], float) for answer in (recorded, found)
        )  # null is NaN
        np.testing.assert_allclose(given, expected, rtol=0, atol=1e-6)
