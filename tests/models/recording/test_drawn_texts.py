"""Drawn types of text and sound, whose labels, kinds and gaps were written by hand."""

import pytest

torch = pytest.importorskip("torch", reason="capture listens to torch, which is not installed here")
pytest.importorskip("transformers", reason="the models come from transformers, not installed here")
pytest.importorskip("x_transformers", reason="x-transformers is not installed here")

from models.drawn_texts import CASES, outcome  # noqa: E402
from models.labelled import captured  # noqa: E402
from transformers import CONFIG_MAPPING  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_drawn_type_is_as_written_by_hand(case):
    kind = case.name.split(" ")[0].strip(",")
    if kind not in CONFIG_MAPPING and kind != "x-transformers":
        pytest.skip("this transformers does not have the type")
    said, *rest = outcome(case, case.ways[0])
    assert said.endswith("verified") or said == "refused as expected"
    assert not said.startswith("not as its own")
    assert set(rest) <= {"right"}


@pytest.mark.parametrize("name", ["dory, generate", "x-transformers, decoder of two layers"])
def test_a_call_keeps_its_kind_in_each_step(name):
    if "dory" in name and "dory" not in CONFIG_MAPPING:
        pytest.skip("this transformers does not have the type")
    case = next(case for case in CASES if case.name.startswith(name))
    assert {call.kind for call in captured(case)[0]} == {"decoder"}
