"""No right answer is called wrong: torch's own kernels, as they come and as they are printed.

Of them a share by seed; all of them with THOROUGH=1.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from amount import some

from attention import causal, diagnose

KERNELS = np.load(Path(__file__).with_name("kernels.npz"))
ANSWERS = [
    name for name in KERNELS if name.rpartition("/")[2] in ("float32", "bfloat16", "float16")
]
PRINTED = {"in full": None, "3 digits": 3, "4 digits": 4, "6 digits": 6}


def given(case: str) -> dict:
    """The inputs of a recorded case."""
    found = {}
    for name in KERNELS:
        if name.startswith(f"{case}/") and name.count("/") == 2:
            found[name.rpartition("/")[2]] = KERNELS[name]
    if "heads" in found:
        found["heads"] = int(found["heads"])
    if case.endswith("causal"):
        found["allowed"] = causal(*[found["Q"].shape[-2]] * 2)
    return found


@pytest.mark.parametrize(
    ("name", "printed", "dtype"), some(product(ANSWERS, PRINTED, ["f4", "f8"]), of=8)
)
def test_what_torch_answers_is_right(name, printed, dtype):
    numbers = KERNELS[name].astype("f8")
    if PRINTED[printed]:
        numbers = numbers.round(PRINTED[printed])
    what = "weights" if "/weights/" in name else "output"
    found = diagnose(**given("/".join(name.split("/")[:2])), **{what: numbers.astype(dtype)})
    assert found.correct, found
    assert found.verdict.startswith("Right")


@pytest.mark.parametrize("name", [name for name in ANSWERS if not name.endswith("float32")])
def test_half_precision_is_read_from_the_numbers(name):
    what = "weights" if "/weights/" in name else "output"
    found = diagnose(**given("/".join(name.split("/")[:2])), **{what: KERNELS[name]})
    assert f"as near as {name.rpartition('/')[2]} comes" in found.verdict
