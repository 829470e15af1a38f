"""Arrays between brackets, wherever they stand: read in full, or listed with what is wrong."""

import json

import messages
import numpy as np
import pytest

from attention.limits import MAX_ELEMENTS, BadInput
from attention.readers.cells.entry import REFUSED
from attention.readers.texts.printed import arrays_in, nodes_in
from attention.readers.texts.texts import entries

LONG = "X = np.array([[1, 2]])\n"


def read(text: str) -> dict[str, list]:
    return {name: entry.read().tolist() for name, entry in arrays_in(text, "it").items()}


def the_one(text: str) -> np.ndarray:
    (entry,) = arrays_in(text, "it").values()
    return entry.read()


def wrong(text: str) -> str:
    (entry,) = arrays_in(text, "it").values()
    assert entry.dtype == REFUSED
    return entry.remark


# ---- numbers ------------------------------------------------------------------------------------


def printed(values) -> list[str]:
    with np.printoptions(linewidth=40, threshold=10_000):
        texts = [str(values), repr(values)]
    return [
        *texts,
        str(values.tolist()),
        texts[1].replace("array(", "tensor(")[:-1] + ", dtype=torch.float64)",
    ]


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 30), (2, 3, 4), (2, 5, 20), (3, 1, 2)])
def test_a_printed_array_is_read_by_its_brackets_however_its_lines_are_broken(shape):
    values = np.random.default_rng(0).standard_normal(shape)
    for text in printed(values):
        np.testing.assert_allclose(the_one(text), values, atol=1e-8)


@pytest.mark.parametrize("count", [12, 16, 24, 60])
@pytest.mark.parametrize("decimals", [2, 4, 8])
def test_a_vector_that_numpy_breaks_over_lines_is_one_row(count, decimals):
    values = np.random.default_rng(count).uniform(1, 2, count).round(decimals)
    with np.printoptions(floatmode="fixed", precision=decimals):
        texts = [str(values), repr(values), repr(values).replace("array", "tensor")]
    for text in texts:
        assert the_one(text).tolist() == [values.tolist()]


@pytest.mark.parametrize("columns", [12, 16, 24])
def test_rows_that_numpy_breaks_over_lines_stay_rows(columns):
    values = np.random.default_rng(0).uniform(1, 2, (3, columns)).round(3)
    assert the_one("\n".join(map(str, values))).tolist() == values.tolist()


@pytest.mark.parametrize(
    "text",
    [
        "[1 2\n 3 4]",
        "[1, 2; 3, 4]",
        "[[1, 2], [3, 4]]",
        "[[1, 2],\n [3, 4],\n]",
        "[[1.,2.] [3. 4.]]",
        "[[+1 2]\n [3 04]]",
        "[1 2]\n[3 4]",
        "(1, 2),\n(3, 4),\n",
        "((1, 2), (3, 4))",
        "[[np.float64(1.0), np.int64(2)], [np.float32(3), 4]]",
        "array([[1, 2],  # the\n [3, 4]])  # 2 x 2",
        "[[1, 2], // the\n [3, 4]]",
        ">>> [[1, 2],\n... [3, 4]]",
        "In [3]: [[1, 2],\n   ...: [3, 4]]",
        "Parameter containing:\ntensor([[1., 2.],\n        [3., 4.]], requires_grad=True)",
        "tensor(1.0000e-02 *\n       [[100., 200.],\n        [300., 400.]])",
        "1e-02 *\ntensor([[100., 200.],\n        [300., 400.]])",
        "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n  [3, 4]], dtype=int32)>",
        "[[[[1, 2], [3, 4]]]]",
        "\ufeff[[1\u00a02]\r\n [3 4]]".removeprefix("\ufeff"),
        "> [[1, 2],\n>  [3, 4]]",
        ">> [[1, 2],\n>>  [3, 4]]",
        "E       found\nE       array([[1, 2],\nE              [3, 4]])",
        "{\n│   [\n│   │   [1, 2],\n│   │   [3, 4]\n│   ]\n}",
        "In [1]: Out[1]: array([[1, 2],\n       [3, 4]])",
    ],
)
def test_ways_of_writing_one_matrix(text):
    assert the_one(text).tolist() == [[1, 2], [3, 4]]


def test_numbers_are_read_as_python_reads_them():
    cells = ["-0.1", "+.5", "1.", "1e-3", "2E5", "nan", "inf", "-inf", "-∞", "−2", "0", "-0.0"]
    wanted = [-0.1, 0.5, 1, 1e-3, 2e5, np.nan, np.inf, -np.inf, -np.inf, -2, 0, -0.0]
    for between in (" ", ", ", "  ", "\n", ";"):
        found = the_one(f"x = [{between.join(cells)}]").ravel()
        assert np.array_equal(found, wanted, equal_nan=True)
        assert np.signbit(found[-1])


def test_a_common_factor_is_exact():
    assert the_one("tensor(1.00000e-03 *\n [[-0.4496, 1.3]])").tolist() == [[-0.0004496, 0.0013]]


def test_truth_stays_truth_and_beside_numbers_counts():
    assert the_one("mask = [[True, False], [True, True]]").dtype == bool
    assert the_one("[True, 2]").tolist() == [[1, 2]]


@pytest.mark.parametrize(
    "vector",
    [
        "tf.Tensor([1. 2.], shape=(2,), dtype=float32)",
        "Array([1., 2.], dtype=float32, weak_type=True)",
        "DeviceArray([1., 2.], dtype=float32)",
        "array([1, 2], dtype=int64)",
        "tensor([1, 2], device='cuda:0')",
        "= np.array([1, 2]).astype(np.float32)",
        "- [1, 2]",
        "Float32[1.0, 2.0]",
    ],
)
def test_a_vector_is_read_in_the_words_of_each_library(vector):
    assert read(f"b {vector}\nW = [[1, 2], [3, 4]]") == {"b": [[1, 2]], "W": [[1, 2], [3, 4]]}


def test_axes_of_one_in_front_of_a_matrix_are_dropped():
    for shape, wanted in (((1, 3, 3), (3, 3)), ((1, 2, 3, 3), (2, 3, 3)), ((1, 1, 1, 4), (1, 4))):
        assert the_one(str(np.ones(shape).tolist())).shape == wanted
    assert the_one(str(np.ones((2, 1, 3)).tolist())).shape == (2, 1, 3)


@pytest.mark.parametrize(
    "text",
    [
        "print(S)\n# [[1. 2.]\n#  [3. 4.]]\n",
        "print(S)\n# tensor([[1., 2.],\n#         [3., 4.]])\n",
        "print(S)  # [[1, 2], [3, 4]]",
        "S  # => [[1, 2], [3, 4]]",
        "console.log(S)\n// [ [ 1, 2 ], [ 3, 4 ] ]",
        "S = [\n [1, 2],  # [CLS]\n # [9, 9],\n # [8, 8],\n [3, 4],  # [SEP]\n]",
        "S = [\n # the first\n # [9, 9],\n [1, 2],\n [3, 4]\n # [8, 8],\n # end\n]",
        "S = [\n #[9, 9],\n [1, 2],\n [3, 4]]  # [2, 2]\n#S = [[9, 9], [8, 8]]",
        "# S = [[9, 9], [8, 8]]\nS = [[1, 2], [3, 4]]\n# [1] a source\n# [batch, d]",
    ],
)
def test_comments_hold_what_code_prints_and_no_more(text):
    assert read(text) == {"S": [[1, 2], [3, 4]]}


# ---- what is no array ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        "(4, 3) (4, 2)",
        "Q.shape: torch.Size([2, 2])",
        "shape: [2, 2]",
        "torch.Size([3, 4]) [3, 4]",
        "print(Q.shape)",
        "x[0] = y[1, 2]",
        "In [3]: import numpy as np",
        "Out[3]: 5",
        "np.zeros([2, 3])",
        "x = torch.randn(2, 3)",
        "as is shown in [1, 2] and [3]",
        "Epoch [3/10] done",
        "tokens: ['the', 'dog']",
        "for i in [0, 1]: pass",
        "lambda x: x[[0, i]]",
        "d_k = 64\nsqrt(d_k) = 8.0",
        "tensor(1.)",
        "f(x) = max([0, 1])",
    ],
)
def test_shapes_indices_steps_and_words_are_no_arrays(other):
    wanted = {"X": [[1, 2]]}
    assert read(f"{LONG}{other}\n") == read(f"{other}\n{LONG}") == wanted


# ---- what is wrong ------------------------------------------------------------------------------


LINE = "it, line 1"
WRONG = {
    "[[1 2]\n [3 4l]]": messages.NOT_A_NUMBER.format(place="it, line 2", found="4l"),
    "[[1, 2], [3, x]]": messages.NOT_A_NUMBER.format(place=LINE, found="x"),
    "[[1, 2],\n [3]]": messages.RAGGED_PRINTED.format(
        place="it, line 2", row=2, found=1, plural="", expected=2
    ),
    "[[[1 2]\n  [3 4]]\n\n [[5 6]]]": messages.BLOCKS_DIFFER.format(
        place="it, line 4", block=2, found="1 × 2", expected="2 × 2"
    ),
    "[[1, 2], 3]": messages.BETWEEN_ROWS.format(place=LINE, text="3"),
    "[[1, 2], rest, [3, 4]]": messages.BETWEEN_ROWS.format(place=LINE, text="rest"),
    "[1,, 2]": messages.NOTHING_BETWEEN_COMMAS.format(place=LINE),
    "[1e13, 2]": messages.NUMBER_TOO_LARGE.format(place=LINE, found="1e13"),
    "[1e-400, 2]": messages.NUMBER_VANISHES.format(place=LINE, found="1e-400"),
    "[0,5 1,5]": messages.AMBIGUOUS_ROW.format(place=LINE, row="0,5 1,5"),
    "np.array([[1, 2]]).T": messages.TEXT_BESIDE_NUMBERS.format(place=LINE, text=".T"),
    "0.5 * [[1, 2]]": messages.TEXT_BESIDE_NUMBERS.format(place=LINE, text="0.5 *"),
    "K = -np.array([[1, 2]])": messages.TEXT_BESIDE_NUMBERS.format(place=LINE, text="= -"),
    "[[1, 2], [3, 4]] 5 6": messages.TEXT_BESIDE_NUMBERS.format(place=LINE, text="5 6"),
    "[[1, 2]\n ...\n [3, 4]]": messages.DOTS_STAND_FOR_NUMBERS.format(
        place=LINE, line="np.set_printoptions(threshold=10**6)"
    ),
    "tensor([[1., ..., 2.]])": messages.DOTS_STAND_FOR_NUMBERS.format(
        place=LINE, line='torch.set_printoptions(profile="full")'
    ),
    "tf.Tensor([[1. … 2.]], shape=(1, 9))": messages.DOTS_STAND_FOR_NUMBERS.format(
        place=LINE, line="tf.print(x, summarize=-1)"
    ),
    "Q: [[1, 2], [3, 4]": messages.NOT_CLOSED.format(place=LINE),
}


@pytest.mark.parametrize(("text", "sentence"), WRONG.items())
def test_an_array_that_cannot_be_read_says_why_and_the_others_are_read(text, sentence):
    assert wrong(text) == sentence
    found = arrays_in(f"{LONG}\n{text}\n", "it")
    assert found["X"].read().tolist() == [[1, 2]]
    (other,) = (entry for name, entry in found.items() if name != "X")
    with pytest.raises(BadInput):
        other.read()


def test_a_copy_that_ends_in_an_array_keeps_those_before():
    found = arrays_in("Q = [[1, 2]]\nK = [[1, 2], [3,", "it")
    assert [(name, entry.dtype == REFUSED) for name, entry in found.items()] == [
        ("Q", False),
        ("K", True),
    ]


@pytest.mark.parametrize("rows", ["[1, 2],\n [3, 4]]", "1, 2],\n [3, 4]])", "2\n 3 4]\n [5 6]]\n"])
def test_a_copy_that_begins_in_an_array_keeps_those_after(rows):
    found = arrays_in(f"{rows}\nK:\n[[1, 2]]\n", "it")
    assert found["K"].read().tolist() == [[1, 2]]
    assert found["numbers"].remark == messages.NOT_OPENED.format(place=LINE)


def test_bounds():
    rows = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], " * 25_001
    assert wrong(f"[{rows}]") == messages.TOO_MANY_PRINTED.format(
        place=LINE, found="400,016", limit=f"{MAX_ELEMENTS:,}"
    )
    with pytest.raises(BadInput) as refused:
        arrays_in("".join(f"w = [[{k}, 1]]\n\n" for k in range(4097)), "it")
    assert str(refused.value) == messages.TOO_MANY_ARRAYS_IN_JSON.format(
        place="it", found="4,097", limit="4,096"
    )
    for row in ("(1, 2), ", "[1, 2] "):
        with pytest.raises(BadInput, match="has 32,769 brackets; at most 32,768"):
            arrays_in(row * 32_769, "it")
    assert "has 5 axes of 2 × 1 × 1 × 1 × 1; at most 4 are read." in wrong("[[[[[1]]]], [[[[2]]]]]")


# ---- labels -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "label"),
    [
        ("Attention Weights:\n ", "Attention Weights"),
        ("QK^T =\n", "QK^T"),
        ("Q\n ", "Q"),
        ("Q =\n", "Q"),
        ("W_q (4x4):\n", "W_q (4x4)"),
        ("Queries Matrix:  tf.Tensor(\n", "Queries Matrix"),
        ("## Scaled scores\n\n", "Scaled scores"),
        ("**Weights**\n\n", "Weights"),
        ("# keys of all words\n", "keys of all words"),
        ("Step 2: scores\n", "scores"),
        ("Q shape: (2, 2)\n", "Q"),
        ("Q.shape: torch.Size([2, 2])\n", "Q"),
        ("========\nSCORES\n--------\n", "SCORES"),
        (">>> Q\n", "Q"),
        (">>> print(Q)\n", "Q"),
        ("In [5]: Q\nOut[5]: \n", "Q"),
        ("In [5]:\n\nscores\n\nOut[5]:\n\n", "scores"),
        ("softmax(scores)\n\n", "softmax(scores)"),
        ("print(np.round(weights, 2))\n\n", "weights"),
        ("print('sum:', s)\nprint(K)\n\n1.5\n", "K"),
        ("model(hidden_states=None, attentions=(", "attentions"),
        ("OrderedDict([('W_Q.weight', ", "W_Q.weight"),
        ("import numpy as np\nQ = X @ W\n", ""),
        ("/* mine */\n", "mine"),
        ("2024-05-01 12:00:00,123 INFO Q = ", "Q"),
        ("[2024-05-01 12:00:00,123] [INFO] Q = ", "Q"),
        ("I0501 12:00:00.123456 140 model.py:12] Q = ", "Q"),
        ("2024-05-01 12:00:00.123 | INFO     | __main__:main:12 - Q: ", "Q"),
        ("INFO:__main__:weights:\n", "weights"),
        ("[2/4] Q:\n", "Q"),
        ("Step [1]: Q\n", "Q"),
        ("2. **Q** = `", "Q"),
        ("1. First $QK^T$:\n\n```\n", "First $QK^T$"),
        ("Q\n✓ 0.0s\n", "Q"),
        ("1/1 [=====] - 0s 50ms/step\n", ""),
        ("Q.shape=(2, 2) Q=", "Q"),
        ("V.shape == (2, 2)\n", "V"),
        ("bias torch.Size([2]) tensor(", "bias"),
        ("OrderedDict([('weight',\n              tensor(", "weight"),
        ("params['W_q'] = np.array(", "W_q"),
        ("Q: np.ndarray = np.array(", "Q"),
        ("<pre>Q = ", "Q"),
        (">>> Q[0]\n", "Q[0]"),
        ("cache [] Q ", "Q"),
        (
            "Q: Tensor(shape=[2, 2], dtype=float32, place=Place(gpu:0), stop_gradient=False,\n",
            "Q",
        ),
    ],
)
def test_a_label_is_what_stands_before(before, label):
    text = f"{before}[[1, 2],\n [3, 4]]"
    assert read(text) == {label or "numbers": [[1, 2], [3, 4]]}


def test_what_code_prints_together_is_named_in_order():
    arrays = "[[1 2]]\n[[3 4]]\n[[5 6]]\n"
    wanted = {"Q": [[1, 2]], "K": [[3, 4]], "V": [[5, 6]]}
    for code in ("print(Q)\nprint(K)\nprint(V)", "print(Q, K, V)", "Q, K, V", "(Q, K, V)"):
        assert read(f"{code}\n\n{arrays}") == wanted
    in_line = "W_Q, W_K\n\n(array([[1, 2]]),\n array([[3, 4]]))"
    assert read(in_line) == {"W_Q": [[1, 2]], "W_K": [[3, 4]]}


def test_a_label_is_that_of_no_other_array():
    assert read("Q, K = np.array([[1, 2]]), np.array([[3, 4]])") == {"Q": [[1, 2]], "K": [[3, 4]]}
    assert read("[1 2] the\n[3 4] dog\n") == {"numbers": [[1, 2], [3, 4]]}
    assert list(read("f(np.array([[1, 2]]), np.array([[3, 4]]))")) == ["numbers 1", "numbers 2"]


def test_a_shape_is_compared_with_the_array_that_it_is_said_of():
    assert "says 3 × 4 here" in arrays_in("Q shape: (3, 4)\n[[1, 2]]", "it")["Q"].remark
    for text in ("Input shape: (3, 4)\nQ:\n[[1, 2]]", "e tensor([], size=(0, 3))\nQ [[1, 2]]"):
        assert not arrays_in(text, "it")["Q"].remark


def test_the_same_label_again_gets_a_number():
    assert list(read("Q: [[1]]\nQ: [[2]]\nQ: [[3]]")) == ["Q", "Q (2)", "Q (3)"]
    assert list(read("[[1, 2]]\n\n[[1], [2]]")) == ["numbers 1", "numbers 2"]


# ---- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "labels"),
    [
        ("the [{}]\ndog : [{}]\nran: [{}]", ("the", "dog", "ran")),
        ("x1 = [{}]\nx2 = [{}]\nx3 = [{}]", ("x1", "x2", "x3")),
        (
            "word_1 = tf.constant([[{}]])\nword_2 = tf.constant([[{}]])\n"
            "word_3 = tf.constant([[{}]])",
            ("word_1", "word_2", "word_3"),
        ),
        (
            "Word 1 (the): [{}]\nWord 2 (dog): [{}]\nWord 3 (ran): [{}]",
            ("Word 1 (the)", "Word 2 (dog)", "Word 3 (ran)"),
        ),
        ("query 1: [{}]\nquery 2: [{}]\nquery 3: [{}]", ("query 1", "query 2", "query 3")),
    ],
)
def test_lines_of_one_label_and_one_row_each_are_one_matrix(form, labels):
    (entry,) = arrays_in(form.format("1, 2", "3, 4", "5, 6"), "it").values()
    assert entry.rows == labels
    assert entry.read().tolist() == [[1, 2], [3, 4], [5, 6]]


def test_lines_of_queries_keys_and_values_are_a_matrix_each():
    text = "q1 = [1, 0]\nq2 = [0, 1]\nk1 = [1, 1]\nk2 = [0, 2]\nv1 = [1, 2, 3]\nv2 = [3, 4, 5]\n"
    found = arrays_in(text, "it").values()
    assert [entry.rows for entry in found] == [("q1", "q2"), ("k1", "k2"), ("v1", "v2")]
    assert [entry.read().tolist()[1] for entry in found] == [[0, 1], [0, 2], [3, 4, 5]]


def test_lines_of_a_label_and_a_row_may_be_arrays_of_their_own():
    text = "Q = [[1, 2], [3, 4]]\nx1 = [1, 2]\nx2 = [3, 4]"
    together = arrays_in(text, "it")
    assert list(together) == ["Q", "numbers"]
    assert {choice.taken for entry in together.values() for choice in entry.choices} == {"matrix"}
    apart = arrays_in(text, "it", "arrays")
    assert list(apart) == ["Q", "x1", "x2"]
    assert {choice.taken for entry in apart.values() for choice in entry.choices} == {"arrays"}
    assert not arrays_in("Q = [[1, 2], [3, 4]]", "it")["Q"].choices


def test_rows_are_called_as_the_line_above_them_or_as_code_stacks_them():
    rows = "the: [1 2]\ndog: [3 4]\n"
    assert list(read(f"Word vectors:\n{rows}")) == ["Word vectors"]
    code = "the = np.array([1, 2])\ndog = np.array([3, 4])\nX = np.stack([the, dog])\n"
    assert read(code) == {"X": [[1, 2], [3, 4]]}


@pytest.mark.parametrize(
    "text",
    [
        "Raw scores: [1 2]\nAttention weights: [0.3 0.7]",
        "q = [1, 2]\nk = [3, 4]\nv = [5, 6]",
        "the: [1 2]\n\nweights above\ndog: [3 4]",
        "the: [1 2]\ndog: [1 2 3]",
        "[1 2]\n\n[3 4]",
    ],
)
def test_lines_that_are_several_things_are_several_arrays(text):
    assert len(read(text)) == text.count("[")


def test_a_list_of_words_labels_the_rows_of_the_inputs():
    found = arrays_in('words = ["the", "dog"]\nX = [[1, 2], [3, 4]]\nW = [[1, 2], [3, 4]]', "it")
    assert found["X"].rows == ("the", "dog")
    assert found["W"].rows == ()


# ---- bounds of nesting ---------------------------------------------------------------------------


def test_a_shape_of_very_many_axes_is_not_made():
    (node,) = nodes_in("[" * 40 + "1" + "]" * 40)
    assert not node.shape
    assert "has 32 axes or more; at most 4 are read." in wrong("[" * 40 + "1" + "]" * 40)


def test_brackets_in_each_other_are_found_without_recursion():
    assert nodes_in("[" * 50_000 + "1" + "]" * 50_000)[0].depth == 50_000


def test_it_agrees_with_json_on_random_lists():
    rng = np.random.default_rng(0)
    for _ in range(200):
        shape = tuple(rng.integers(1, 5, rng.integers(2, 5)))
        values = rng.normal(size=shape) * 10.0 ** rng.integers(-6, 6)
        text = json.dumps(values.tolist())
        while len(shape) > 2 and shape[0] == 1:
            shape = shape[1:]
        assert np.array_equal(the_one(f"given {text} here"), values.reshape(shape))


@pytest.mark.parametrize("text", ["Q = [[0,5; 1,2]; [0,3; 0,1]]", "[[1,5;2,5],\n [0,5;1,5]]"])
def test_decimal_commas_between_semicolons_can_be_read_in_two_ways(text):
    with pytest.raises(BadInput, match="it, line 1: “.*” can be read in two ways; put points"):
        entries(text, "it")


def test_semicolons_end_rows_with_other_than_plain_numbers():
    (entry,) = entries("A = [0 -inf; nan 0]", "it").values()
    assert np.array_equal(entry.read(), [[0, -np.inf], [np.nan, 0]], equal_nan=True)


@pytest.mark.parametrize("low", [-3.4028234663852886e38, np.finfo(np.float64).min])
@pytest.mark.parametrize(
    "form",
    [
        "[[0.0, {0}], [0.0, 0.0]]",
        "m:\ntensor([[0., {0}],\n [0., 0.]])",
        "m = [0 {0}; 0 0]",
        "0 {0}\n0 0",
    ],
)
def test_the_lowest_numbers_of_a_printed_mask_are_minus_infinity(form, low):
    (entry,) = entries(form.format(repr(float(low))), "it").values()
    assert np.array_equal(entry.read(), [[0, -np.inf], [0, 0]])
    assert entry.remark == f"-{'3.4e38' if low > -1e40 else '1.8e308'} is read as −∞."


@pytest.mark.parametrize("other", ["1e13", "-1e25", "3.4e38", "-1e400"])
@pytest.mark.parametrize("form", ["[[0.0, {}], [{}, 0.0]]", "tensor([[0., {}],\n [{}, 0.]])"])
def test_other_large_numbers_of_a_mask_are_refused(form, other):
    with pytest.raises(BadInput, match=f"holds {other}; numbers from -1e12 to 1e12 are allowed"):
        next(iter(entries(form.format("-3.4e38", other), "it").values())).read()
