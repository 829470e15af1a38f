"""Where a library can be imported, it still answers what was recorded from it.

The records are held to these answers by tests/frameworks/test_records.py.
"""

import importlib
import importlib.metadata
import json
import os
import warnings

import numpy as np
import pytest
from peers.questions import QUESTIONS, RECORDED, asked
from peers.record import LIBRARIES

SAID = json.loads((RECORDED / "libraries.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_library_answers_what_was_recorded(name):
    way = LIBRARIES[name]
    os.environ.setdefault("KERAS_BACKEND", "torch")
    if way.package == "keras" and os.environ["KERAS_BACKEND"] != way.backend:
        pytest.skip(f"Keras runs on another backend in this process than {way.backend}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries' own
        for needed in {way.package, way.backend if way.package == "keras" else way.package}:
            pytest.importorskip(
                needed, reason=f"{needed} is not installed; its recorded answers are used"
            )
        if way.package == "transformers":
            pytest.importorskip("torch", reason="torch is not installed")
        found = {question: asked(way, case) for question, case in QUESTIONS.items()}
    installed = importlib.metadata.version(way.package)
    if installed.split("+")[0] != SAID["versions"][way.package].split("+")[0]:
        pytest.skip(f"{way.package} is of another version than the recorded one")
    for question, recorded in SAID[name]["answers"].items():
        answer = found[question]
        assert set(answer) == set(recorded), question
        for stage in {"output", "weights"} & set(answer):
            expected, given = (np.array(said[stage], float) for said in (recorded, answer))
            close = 2e-3 if QUESTIONS[question]["dtype"] == "float16" else 1e-6
            np.testing.assert_allclose(given, expected, rtol=0, atol=close)  # null: NaN
