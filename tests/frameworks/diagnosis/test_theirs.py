"""Numbers that come from a library are compared with its own arithmetic."""

import messages
import numpy as np
import pytest

from attention.frameworks.diagnosis.diagnose import diagnose, diagnose_library
from attention.frameworks.given import Given, checked
from attention.frameworks.records import CONVENTIONS, answer
from attention.limits import BadInput

Q, K, V = np.random.default_rng(0).standard_normal((3, 2, 4, 4))  # 2 items
MASK = np.tri(4, dtype=bool) & [False, True, True, True]  # the first row sees no key


def given(**rest) -> Given:
    return checked(Given(Q=Q, K=K, V=V, allowed=MASK, **rest))


def asked(name: str, **rest):
    mask = ~MASK if CONVENTIONS[name].true_means == "hide" else MASK
    return answer(name, Q, K, V, mask=mask, **rest)


@pytest.mark.parametrize("name", ["torch_sdpa", "torch_mha", "keras_mha", "jax", "hf_eager"])
def test_numbers_of_a_library_are_known_by_its_record_and_the_difference_is_said(name):
    theirs = asked(name)
    found = diagnose_library(given(), name, output=theirs.output.round(4), decimals={"output": 4})
    record = CONVENTIONS[name]
    called = f"{record.name} ({record.version})"
    assert found.correct
    assert found.verdict == messages.NUMBERS_OF_LIBRARY.format(library=called, digits=4)
    told = any(note.startswith("Row 1 sees no key") for note in found.notes)
    assert told is (name != "torch_sdpa")
    (_, ours, difference) = found.answers["output"]
    np.testing.assert_allclose(ours, theirs.output, atol=1e-6)
    assert np.abs(difference).max() < 1e-4


def test_other_numbers_are_not_the_librarys_and_the_known_mistakes_are_tried():
    unscaled = answer("keras_attention", Q, K, V).output
    plain = checked(Given(Q=Q, K=K, V=V))
    found = diagnose_library(plain, "torch_sdpa", output=unscaled)
    assert not found.correct and found.explanations
    assert found.verdict.startswith(
        messages.NOT_NUMBERS_OF_LIBRARY.format(library="F.scaled_dot_product_attention")
    )
    _, theirs, _ = found.answers["output"]
    np.testing.assert_allclose(theirs, answer("torch_sdpa", Q, K, V).output, atol=1e-12)


def test_parts_and_weights_go_along():
    theirs = asked("hf_eager", softcap=0.7, scale=0.4)
    found = diagnose_library(given(softcap=0.7, scale=0.4), "hf_eager", weights=theirs.weights)
    assert found.correct and set(found.answers) == {"weights"}


def test_what_the_library_cannot_be_handed_is_refused_in_a_sentence():
    with pytest.raises(BadInput, match="keras.layers.Attention") as refused:
        diagnose_library(given(), "keras_attention", output=Q)
    assert messages.KERAS_MASK_OVER_KEYS in str(refused.value)


def test_heads_that_share_keys_are_handed_over_as_they_are():
    rng = np.random.default_rng(3)
    Q, K, V = rng.standard_normal((4, 4, 4)), *rng.standard_normal((2, 2, 4, 4))
    joined = [np.moveaxis(M, 0, 1).reshape(4, -1) for M in (Q, K, V)]
    shared = checked(Given(Q=joined[0], K=joined[1], V=joined[2], heads=4, kv_heads=2))
    theirs = answer("x_transformers", Q, K, V).output
    output = np.moveaxis(theirs, 0, 1).reshape(4, -1)
    assert diagnose_library(shared, "x_transformers", output=output).correct
    assert not diagnose_library(shared, "torch_sdpa", output=output).correct
    with pytest.raises(BadInput) as refused:
        diagnose_library(shared, "torch_mha", output=output)
    assert messages.NO_FEWER_HEADS in str(refused.value)


PADDED = np.array([[[1, 1, 0, 1]], [[1, 1, 1, 0]]], bool)


def called(name: str) -> str:
    return f"{CONVENTIONS[name].name} ({CONVENTIONS[name].version})"


def test_the_own_way_of_a_library_is_a_cause_after_all_mistakes():
    theirs = asked("ort_mha").output  # a row without keys sees all of them
    found = diagnose(Q, K, V, allowed=MASK, output=theirs)
    assert str(found).startswith(messages.LIBRARY_RETURNS.format(library=called("ort_mha")))
    assert [cause.name for cause in found.causes] == [f"library: {called('ort_mha')}"]
    assert not found.correct
    noise = np.random.default_rng(1).standard_normal(theirs.shape)
    assert not diagnose(Q, K, V, allowed=MASK, output=theirs + noise).causes


def test_a_mistake_that_is_a_librarys_own_way_as_well_is_said_first():
    """Beside its look-ahead switch it ignores the mask: the padding is lost."""
    theirs = answer("openvino", Q, K, V, mask=PADDED, causal=True).output
    found = diagnose(Q, K, V, allowed=np.tri(4, dtype=bool) & PADDED, output=theirs)
    assert [cause.name for cause in found.causes] == ["mask: padding lost"]
    (also,) = (said for said in found.details if said.startswith(messages.ALSO_WHAT))
    assert called("openvino") in also


def test_libraries_that_answer_right_are_no_cause():
    theirs = answer("torch_sdpa", Q, K, V, mask=MASK).output
    found = diagnose(Q, K, V, allowed=MASK, output=theirs)
    assert found.correct and not any(messages.ALSO_WHAT in said for said in found.details)
