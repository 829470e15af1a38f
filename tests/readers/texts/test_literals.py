"""Tensors printed in a dict, a list, a tuple or the output of a model, each by its name.

The prints of torch were recorded with torch 2.13.0 and transformers 5.23.0.
"""

import numpy as np
import pytest
from build import read, refused

from attention.readers.cells.entry import ALONE

TWO = [[0.5, -1.25], [3, 4]]
OTHER = [[1, 2], [7, 8.5]]


Q = "tensor([[ 0.5000, -1.2500],\n        [ 3.0000,  4.0000]])"
K = "tensor([[1.0000, 2.0000],\n        [7.0000, 8.5000]])"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"{{'q': {Q}, 'k': {K}}}", {"q": TWO, "k": OTHER}),
        (f"({Q}, {K})", {"numbers 1": TWO, "numbers 2": OTHER}),
        (f"({Q},)", {ALONE: TWO}),
        ("[tensor([ 0.5000, -1.2500]), tensor([3., 4.])]", {ALONE: TWO}),
        (
            f"OrderedDict([('q.weight', {Q}), ('k.weight', {K})])",
            {"q.weight": TWO, "k.weight": OTHER},
        ),
        (
            (
                "BaseModelOutput(last_hidden_state=tensor([[[ 0.5000, -1.2500],\n"
                "         [ 3.0000,  4.0000]]]), hidden_states=None,"
                " attentions=(tensor([[[1.0000, 2.0000],\n         [7.0000, 8.5000]]]),))"
            ),
            {"last_hidden_state": [TWO], "attentions": [OTHER]},
        ),
        (
            (
                "{'weight': Parameter containing:\ntensor([[ 0.5000, -1.2500],\n"
                "        [ 3.0000,  4.0000]], requires_grad=True)}"
            ),
            {"weight": TWO},
        ),
        (repr({"Q": np.array(TWO), "K": np.array(OTHER)}), {"Q": TWO, "K": OTHER}),
    ],
)
def test_dicts_tuples_and_outputs_of_torch_and_numpy_are_read(text, wanted):
    got = read(text)
    squeezed = {name: np.squeeze(values).tolist() for name, values in got.items()}
    assert squeezed == {name: np.squeeze(values).tolist() for name, values in wanted.items()}


@pytest.mark.parametrize(
    "text", [f"{{'q': {Q}.T}}", f"({Q} @ {K})", f"{{'q': {Q}, 'k': 2 * {K}}}", f"{{'q': {Q}"]
)
def test_nothing_beside_printed_tensors_is_computed_or_passed_over(text):
    assert refused(text).startswith("it")


@pytest.mark.parametrize(
    "text",
    ["{'a': tensor(" * 20_000, "(" + "tensor([1.]), " * 5_000 + "x", "x: " * 100_000 + "tensor("],
)
def test_hostile_printouts_are_refused_without_delay(text):
    assert len(refused(text)) <= 300
