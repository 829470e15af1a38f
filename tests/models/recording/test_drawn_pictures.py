"""Drawn types that read pictures, whose labels, kinds, grids and gaps were written by hand."""

import pytest

torch = pytest.importorskip("torch", reason="capture listens to torch, which is not installed here")
pytest.importorskip("transformers", reason="the models come from transformers, not installed here")
pytest.importorskip("timm", reason="timm is not installed here")
pytest.importorskip("diffusers", reason="diffusers is not installed here")

from models.drawn_pictures import cases, other_cases, outcome  # noqa: E402
from transformers import CONFIG_MAPPING  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
CASES = cases("sdpa") + other_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_drawn_type_is_as_written_by_hand(case):
    kind = case.name.split(" ")[0].strip(",")
    if kind not in CONFIG_MAPPING and kind not in ("timm", "diffusers"):
        pytest.skip("this transformers does not have the type")
    *rest, last = outcome(case)
    assert last == "refused, right" if case.refused else last.startswith("verified")
    assert set(rest) <= {"right"}
