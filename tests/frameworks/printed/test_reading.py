"""A printed text: its arrays, what they are, and how they belong together."""

import messages
import numpy as np
import pytest

from attention import read_printed
from attention.frameworks.printed.reading import unit_of
from attention.limits import BadInput

RNG = np.random.default_rng(7)


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def notebook(n=4, width=3, ahead=False) -> tuple[str, dict[str, np.ndarray]]:
    """Everything that a notebook prints, with code and prose between; and what it is."""
    X, W_Q, W_K, W_V = (
        RNG.integers(-2, 3, shape).astype(float) for shape in ((n, 4), *((4, width),) * 3)
    )
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    scores = Q @ K.T
    scaled = scores / np.sqrt(width)
    masked = np.where(np.tri(n, dtype=bool), scaled, -np.inf) if ahead else scaled
    weights = softmax(masked)
    made = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "Q": Q, "K": K, "V": V}
    made |= {"scores": scores, "scaled": scaled}
    made |= {"masked": masked} if ahead else {}
    made |= {"weights": weights, "output": weights @ V}
    cells = ["In [1]:\nimport numpy as np\nd_k = 3\n", f"X = np.array({X.tolist()})\n"]
    for k, (name, values) in enumerate(list(made.items())[1:], 2):
        cells.append(f"Now {name} is computed.\n\nIn [{k}]:\n{name}\n\nOut[{k}]:\n{values!r}\n")
    return "\n".join(cells), made


@pytest.mark.parametrize("ahead", [False, True])
def test_a_whole_notebook_is_understood(ahead):
    for _ in range(5):
        text, made = notebook(ahead=ahead)
        found = read_printed(text)
        assert [array.name for array in found.arrays] == list(made)
        for array, values in zip(found.arrays, made.values(), strict=True):
            np.testing.assert_allclose(array.values, values, atol=5e-9)
            if array.use.by != "copy":
                assert array.role == array.name
        said = " · ".join(str(relation) for relation in found.relations if relation.used)
        for step in ("scores = Q Kᵀ", "scaled = scores / √3", "output = weights V"):
            assert step in said


def test_an_array_that_was_printed_before_is_used_as_that_one():
    found = read_printed("Q = [[1, 2], [3, 5]]\nother:\n[[1 2]\n [3 5]]")
    assert [array.role for array in found.arrays] == ["Q", "Q"]
    assert found.arrays[1].use.by == "copy"
    assert found.arrays[1].use.remark == "The same numbers as Q."


def test_what_cannot_be_read_is_listed_and_not_used():
    found = read_printed("Q = [[1, 2], [3, 5]]\nK = [[1, ..., 2]]")
    assert found.arrays[1].role is None
    assert found.arrays[1].shape == ()
    assert found.arrays[1].problem == messages.DOTS_STAND_FOR_NUMBERS.format(
        place="the text, line 2", line="np.set_printoptions(threshold=10**6)"
    )
    assert str(found).splitlines()[:2] == ["Q: 2 × 2, Q", f"K: {found.arrays[1].problem}"]
    with pytest.raises(KeyError):
        found["K"]
    with pytest.raises(BadInput):
        read_printed("K = [[1, ..., 2]]")


@pytest.mark.parametrize(
    ("values", "in_powers", "unit"),
    [
        ([0.5, 0.25, 3.0], False, 0.01),
        ([1.0, -2.0], False, 0.0),
        ([np.nan, np.inf, 0.125], False, 0.001),
        ([1e-7, 0.5], False, 1e-7),
        ([0.96087, 1.938e-04, 0.0], True, [1e-5, 1e-8, 1e-4]),
    ],
)
def test_one_unit_in_the_last_printed_place(values, in_powers, unit):
    np.testing.assert_allclose(unit_of(np.array(values), in_powers), unit, rtol=1e-12)


def test_truth_has_no_unit():
    assert unit_of(np.array([True, False])) == 0.0


def test_equal_weights_keep_their_own_names():
    X = np.array([[1.0, 2], [3, 4.5], [0, 1]])
    W = np.array([[1.0, 0.5], [2, -1]])
    arrays = {"X": X, "W_Q": W, "W_K": W, "Q": X @ W, "K": X @ W, "Q again": X @ W}
    found = read_printed("\n".join(f"{name}:\n{values}\n" for name, values in arrays.items()))
    assert [array.role for array in found.arrays] == ["X", "W_Q", "W_K", "Q", "K", "Q"]
    assert found.arrays[2].use.remark == "The same numbers as W_Q."
