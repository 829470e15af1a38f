"""How far numbers spread and how sharp weights are, by plain sums."""

import math
from dataclasses import replace

import numpy as np
import pytest
from amount import few
from build import view_of

from attention.explain.spread import sharpness, variances
from attention.session.edit import changes
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.state.validate import check

FOUR = EXAMPLES["four-words"].build()
CASES = {
    **{name: e.build() for name, e in EXAMPLES.items()},
    "hidden row": replace(FOUR, mask="causal", padding=(0,)),
    "raw and masked": replace(EXAMPLES["bare-bones"].build(), mask="causal", padding=(0,)),
    "crossed": replace(changes.set_memory(FOUR, True), mask="causal_lower_right"),
}


def close(found: float, value: float) -> bool:
    return math.isclose(found, value, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("name", few(CASES))
def test_the_variances_are_those_of_the_visible_cells(name):
    now = view_of(CASES[name])
    found = variances(now)
    for stage in ("Q", "K", "scores", "scaled"):
        assert close(found[stage], population_variance(now.stages[stage].ravel().tolist()))
    seen = [
        now.stages["masked"][at]
        for at in np.ndindex(now.allowed.shape)
        if now.allowed[at] and (now.bias is None or now.bias[at] == 0)
    ]
    assert ("masked (visible cells)" in found) == ("mask" in now.stages)
    if "mask" in now.stages:
        assert close(found["masked (visible cells)"], population_variance(seen))


def population_variance(values) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((v - mean) ** 2 for v in values) / len(values)


def test_the_variances_of_random_q_k_v_are_the_printed_ones():
    found = variances(view_of(CASES["random-qkv"]))
    assert [f"{found[stage]:.4f}" for stage in ("Q", "K", "scores", "scaled")] == [
        "0.9439",
        "0.8519",
        "7.9681",
        "0.9960",
    ]


@pytest.mark.parametrize("name", few(CASES))
def test_each_query_has_its_entropy_and_the_largest_of_its_visible_weights(name):
    now = view_of(CASES[name])
    table = sharpness(now)
    lines = list(zip(*table.values(), strict=True))
    assert [line[0] for line in lines] == list(now.labels["queries"])
    for i, (_, spread, largest, strongest, count) in enumerate(lines):
        row = now.stages["weights"][i].tolist()
        visible = {j: w for j, w in enumerate(row) if now.allowed[i, j]}
        assert count == len(visible)
        if now.softmax is True:
            assert close(spread, -math.fsum(w * math.log(w) for w in row if w))
        else:
            assert math.isnan(spread)
        if not visible:
            assert (largest, strongest) == (0, "none")
            continue
        top = max(visible, key=visible.get)
        assert (largest, strongest) == (visible[top], now.labels["keys"][top])


def test_without_softmax_a_hidden_key_is_never_the_largest():
    matrices = {**FOUR.matrices, "W_K": type(FOUR.matrices["X"])(-np.eye(4))}
    settings = check(replace(FOUR, matrices=matrices, softmax=False, mask="causal"))
    now = view(settings, run(settings))
    assert (now.stages["weights"][:, 0] < 0).all()
    found = sharpness(now)
    assert found["largest weight"][0] == now.stages["weights"][0, 0]
    assert found["strongest key"][0] == "w1"
