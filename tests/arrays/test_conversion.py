"""What engineers hand over: arrays of other libraries come in whole, and what cannot is refused."""

import math
from decimal import Decimal
from fractions import Fraction

import messages
import numpy as np
import pytest

from attention import (
    RelativeBias,
    RMSNorm,
    Rotary,
    causal,
    extend,
    heads_first,
    join_heads,
    multi_head_attention,
    padding,
    real_tokens,
    repeat_heads,
    scaled_dot_product_attention,
    self_attention,
    softmax_in,
    split_heads,
)
from attention.arrays.conversion import as_array, as_numbers, kept, locked

nan, inf = math.nan, math.inf
ROWS = [[0.5, -1.25], [3.0, 0.0]]  # held exactly by bfloat16
EYE = np.eye(2)


def refusal(kind, call) -> str:
    with pytest.raises(kind) as refused:
        call()
    assert type(refused.value) is kind
    return str(refused.value)


class Tensor:
    """What torch does with a tensor, in the few methods that matter here."""

    def __init__(self, values, dtype="float32", grad=False, device="cpu"):
        self.values, self.dtype = np.asarray(values), dtype
        self.grad, self.device = grad, device

    def __array__(self, dtype=None, copy=None):
        return self.numpy()

    def __float__(self):
        return self.values.item()

    def detach(self):
        return Tensor(self.values, self.dtype, False, self.device)

    def is_floating_point(self):
        return "float" in self.dtype

    def float(self):
        return Tensor(self.values, "float32", self.grad, self.device)

    def numpy(self, *, force=False):
        if self.device == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!\nMore lines.")
        if not force and (self.grad or self.device != "cpu"):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if self.dtype not in ("float32", "float64", "bool"):
            raise TypeError(f"Got unsupported ScalarType {self.dtype}")
        return self.values.astype(self.dtype, copy=False)


TENSORS = {
    "plain": Tensor(np.array(ROWS, "f4")),
    "bfloat16": Tensor(ROWS, "bfloat16"),
    "float8": Tensor(ROWS, "float8_e4m3fn"),
    "a parameter": Tensor(ROWS, grad=True),
    "a parameter of bfloat16": Tensor(ROWS, "bfloat16", grad=True),
    "on another device": Tensor(ROWS, device="cuda:0"),
    "in a list": [Tensor(ROWS[0], "bfloat16"), Tensor(ROWS[1], "bfloat16", grad=True)],
}


@pytest.mark.parametrize("kind", TENSORS)
def test_a_tensor_of_any_float_type_on_any_device_comes_out_as_float32_of_numpy(kind):
    given = TENSORS[kind]
    trace = scaled_dot_product_attention(given, given, given)
    for name in "QKV":
        stage = getattr(trace, name)
        assert (type(stage), stage.dtype) == (np.ndarray, np.float32)
        assert stage.tolist() == ROWS


def test_tensors_serve_as_every_argument():
    plain = {
        "X": ROWS,
        "W_Q": EYE,
        "W_K": 2 * EYE,
        "W_V": EYE,
        "memory": ROWS,
        "W_O": EYE,
        "bias": [[0.5, 0.0]] * 2,
    }
    tensors = {name: Tensor(np.array(values, "f4"), grad=True) for name, values in plain.items()}
    mask = Tensor(np.array([[True, False], [True, True]]), "bool")
    ours = self_attention(**tensors, allowed=mask, scale=Tensor(0.5), heads=2)
    expected = self_attention(**plain, allowed=mask.values, scale=0.5, heads=2)
    np.testing.assert_allclose(ours.projected, expected.projected, rtol=1e-6)
    assert ours.projected.dtype == np.float32


HELPERS = {
    "split_heads": lambda M: split_heads(M, 2),
    "join_heads": lambda M: join_heads([M, M]),
    "heads_first": lambda M: heads_first([M, M]),
    "repeat_heads": lambda M: repeat_heads([M, M], 4),
    "extend": lambda M: extend(M, M),
}


@pytest.mark.parametrize("helper", HELPERS)
def test_the_helpers_give_numpy_for_tensors_and_lists_alike(helper):
    of_numpy, of_tensor = (HELPERS[helper](M) for M in (np.array(ROWS), Tensor(ROWS, grad=True)))
    assert type(of_tensor) is np.ndarray
    assert of_tensor.tolist() == of_numpy.tolist() == HELPERS[helper](ROWS).tolist()


def test_masks_are_made_from_tensors_of_lengths_and_tokens():
    real = np.array([[True, False], [True, True]])
    assert padding(Tensor(real, "bool")).tolist() == real[:, None].tolist()
    assert real_tokens(Tensor([1.0, 2.0]), 2).tolist() == real.tolist()
    assert causal(2, 2, past=Tensor([0.0, 1.0])).shape == (2, 2, 2)


@pytest.mark.parametrize(
    "dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float6_e3m2fn", "int4"]
)
def test_the_types_of_ml_dtypes_are_computed_in_types_of_numpy(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="bfloat16 is a type of ml_dtypes")
    values = np.array([[1, 2], [3, -2]]).astype(getattr(ml_dtypes, dtype))
    trace = scaled_dot_product_attention(values, values, values)
    assert trace.Q.dtype == (np.float64 if dtype == "int4" else np.float32)
    assert trace.Q.tolist() == [[1, 2], [3, -2]]


# ---- nested lists --------------------------------------------------------------------------------

GRAD = Tensor(ROWS, grad=True), Tensor(ROWS[0], "bfloat16"), Tensor(0.5, "bfloat16", grad=True)
DEEP = {
    "a matrix, one list deep": ([GRAD[0]], [ROWS]),
    "a matrix, two lists deep": ([[GRAD[0]]], [[ROWS]]),
    "a row, two lists deep": ([[GRAD[1]]], [[ROWS[0]]]),
    "a cell": ([[3.0, GRAD[2]]], [[3.0, 0.5]]),
    "a cell, in tuples": (((GRAD[2], 3.0),), [[0.5, 3.0]]),
    "a row beside a list": ([[GRAD[1], ROWS[1]]], [ROWS]),
    "four deep": ([[[[GRAD[2]]]]], [[[[0.5]]]]),
}


@pytest.mark.parametrize("case", DEEP)
def test_a_tensor_is_read_at_any_depth_of_lists(case):
    given, expected = DEEP[case]
    assert as_array("Q", given).tolist() == expected


@pytest.mark.parametrize("wrap", [lambda m: [[m]], lambda m: [[m[0]], [m[1]]], lambda m: [[[m]]]])
@pytest.mark.parametrize("name", ["Q", "allowed"])
def test_a_masked_array_is_refused_at_any_depth_of_lists(name, wrap):
    values = np.array(ROWS) if name == "Q" else np.eye(2) > 0
    masked = np.ma.array(values, mask=[[False, False], [False, True]])
    message = refusal(TypeError, lambda: as_array(name, wrap(masked)))
    assert message == messages.MASKED_ARRAY.format(name=name, hidden=1, plural="", again=name)


def test_a_masked_cell_in_a_row_of_numbers_is_refused():
    given = [[0.5, 1.0], [3.0, np.ma.masked]]
    message = refusal(TypeError, lambda: as_array("Q", given))
    assert message == messages.MASKED_ARRAY.format(name="Q", hidden=1, plural="", again="Q")


def test_a_list_that_holds_itself_is_refused_with_a_sentence():
    """However often: a list with itself twice is a tree of 2⁶⁴ lists to whoever follows it."""
    for before in ([], [1.0], [[1.0]]):
        own = list(before)
        own += [own, own]
        message = refusal(TypeError, lambda own=own: scaled_dot_product_attention(own, EYE, EYE))
        assert message == messages.ARRAY_EXPECTED.format(name="Q", found=messages.LIST_IN_ITSELF)


def test_more_lists_in_each_other_than_numpy_has_axes_are_refused_with_a_sentence():
    deep = None
    for _ in range(5000):
        deep = [deep, 1.0]
    message = refusal(TypeError, lambda: scaled_dot_product_attention(deep, EYE, EYE))
    assert message == messages.ARRAY_EXPECTED.format(name="Q", found=messages.LISTS_TOO_DEEP)


def test_large_numbers_in_a_list_are_read_without_a_warning():
    assert as_array("Q", [[1e308, np.float64(1e308)]]).tolist() == [[1e308, 1e308]]


# ---- objects that are numbers --------------------------------------------------------------------

OBJECTS = {
    "floats and whole numbers": ([[1.0, 2], [-0.5, 3]], "f8"),
    "whole numbers": ([[1, 2], [0, -3]], "i8"),
    "truth": ([[True, False], [False, True]], "?"),
    "truth beside numbers": ([[True, 0.5], [False, 2]], "f8"),
    "NumPy's": ([[np.float32(0.5), np.int8(2)], [np.bool_(True), 1]], "f8"),
    "larger than int64": ([[2**70, 1], [-(2**80), 0]], "f8"),
    "fractions": ([[Fraction(1, 4), 1], [Decimal("0.5"), 2.0]], "f8"),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_objects_that_are_all_real_numbers_are_taken_as_numbers_with_truth_as_0_and_1(case):
    rows, dtype = OBJECTS[case]
    for given in (rows, np.array(rows, object)):
        found = as_numbers("Q", given)
        assert found.dtype == dtype
        assert found.tolist() == [[float(cell) for cell in row] for row in rows]


def test_the_values_of_a_table_of_several_types_are_numbers():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    values = pd.DataFrame({"a": [0.5, 3.0], "b": [True, False], "c": [1, 2]}).values
    assert values.dtype == object
    assert as_numbers("Q", values).tolist() == [[0.5, 1, 1], [3, 0, 2]]


def test_a_mask_of_objects_that_are_booleans_is_a_mask():
    mask = np.array([[True, False], [True, True]], object)
    trace = scaled_dot_product_attention(EYE, EYE, EYE, allowed=mask)
    assert trace.allowed.tolist() == mask.tolist()


def test_a_number_that_no_float64_holds_is_refused():
    message = refusal(ValueError, lambda: scaled_dot_product_attention([[10**400, 1]], EYE, EYE))
    assert message == messages.BEYOND_FLOAT64.format(name="Q")


def test_tables_of_nullable_types_in_a_list_are_read_as_one_alone():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    column = pd.array([1, None], dtype="Int64")
    table = pd.DataFrame({"a": column, "b": pd.array([3, 4], dtype="Int64")})
    alone = as_numbers("Q", table)
    for given in ([table, table], [[table, table]]):
        assert np.array_equal(
            as_numbers("Q", given).reshape(2, 2, 2), [alone, alone], equal_nan=True
        )


# ---- pandas --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (("float64", "float64"), "f8"),
        (("Float32", "Float32"), "f4"),
        (("Float64", "Int64"), "f8"),
        (("Float32", "int64"), "f8"),
        (("Int8", "boolean"), "f8"),
    ],
)
def test_a_table_of_pandas_is_read_whatever_its_columns_are_and_a_missing_value_is_nan(
    dtypes, expected
):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pd.DataFrame(
        {"a": pd.array([1, 0], dtype=dtypes[0]), "b": pd.array([1, 0], dtype=dtypes[1])}
    )
    trace = scaled_dot_product_attention(table, table, table)
    assert trace.Q.dtype == expected
    assert trace.Q.tolist() == [[1, 1], [0, 0]]
    if "64" not in dtypes[0] + dtypes[1]:
        table.loc[0, "a"] = None
        assert np.isnan(as_numbers("Q", table)).tolist() == [[True, False], [False, False]]


def test_a_nullable_mask_of_pandas_is_read_unless_a_value_is_missing():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    mask = pd.DataFrame({"a": pd.array([True, True], dtype="boolean"), "b": [False, True]})
    assert (
        scaled_dot_product_attention(EYE, EYE, EYE, allowed=mask).allowed.tolist()
        == mask.to_numpy().tolist()
    )
    mask.loc[0, "a"] = pd.NA
    assert refusal(
        TypeError, lambda: scaled_dot_product_attention(EYE, EYE, EYE, allowed=mask)
    ) == (messages.BOOLEANS_EXPECTED.format(seen="holds objects such as <NA>"))


def test_a_table_of_text_is_refused():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pd.DataFrame({"word": ["the", "cat"], "x": [1.0, 2.0]}, dtype=object)
    message = refusal(TypeError, lambda: scaled_dot_product_attention(table, EYE, EYE))
    assert message == messages.NUMBERS_EXPECTED.format(name="Q", seen="holds objects such as 'the'")


# ---- what is refused -----------------------------------------------------------------------------

MASKED = np.ma.array(ROWS, mask=[[True, False], [False, True]])
WRONG = messages.SOFTMAX_EXPECTED.partition("; ")[2].format(sigmoid="sigmoid")


def of(**change):
    return lambda: scaled_dot_product_attention(**{"Q": EYE, "K": EYE, "V": EYE} | change)


def heads(given):
    return lambda: multi_head_attention(
        np.ones((2, 4)), np.ones((2, 4)), np.ones((2, 4)), heads=given
    )


REFUSALS = {
    "masked": (
        of(K=MASKED),
        TypeError,
        messages.MASKED_ARRAY.format(name="K", hidden=2, plural="s", again="K"),
    ),
    "masked, in a list": (
        of(V=[MASKED[0], MASKED[1]]),
        TypeError,
        messages.MASKED_ARRAY.format(name="V", hidden=1, plural="", again="V"),
    ),
    "masked mask": (
        of(allowed=np.ma.array([[True, True]], mask=[[False, True]])),
        TypeError,
        messages.MASKED_ARRAY.format(name="allowed", hidden=1, plural="", again="allowed"),
    ),
    "complex": (
        of(Q=EYE * 1j),
        TypeError,
        messages.NUMBERS_EXPECTED.format(name="Q", seen="holds complex128"),
    ),
    "text": (
        of(Q=[["1", "2"]]),
        TypeError,
        messages.NUMBERS_EXPECTED.format(name="Q", seen="holds text"),
    ),
    "dates": (
        of(Q=np.zeros((2, 2), "M8[s]")),
        TypeError,
        messages.NUMBERS_EXPECTED.format(name="Q", seen="holds dates"),
    ),
    "objects": (
        of(V=[[1.0, Fraction(1, 2)], [None, 2.0]]),
        TypeError,
        messages.NUMBERS_EXPECTED.format(name="V", seen="holds objects such as None"),
    ),
    "nothing": (of(K=None), TypeError, messages.NUMBERS_EXPECTED.format(name="K", seen="is None")),
    "bias of text": (
        of(bias="causal"),
        TypeError,
        messages.BIAS_NUMBERS_EXPECTED.format(seen="holds text"),
    ),
    "a mask of text": (
        of(allowed="causal"),
        TypeError,
        messages.BOOLEANS_EXPECTED.format(seen="holds text"),
    ),
    "no data": (
        of(Q=Tensor(ROWS, device="meta")),
        TypeError,
        messages.UNREADABLE_BY_NUMPY.format(
            name="Q", name_2="Tensor", said="Cannot copy out of meta tensor; no data!"
        ),
    ),
    "complex tensor": (
        of(Q=Tensor(ROWS, "complex32")),
        TypeError,
        messages.UNREADABLE_BY_NUMPY.format(
            name="Q", name_2="Tensor", said="Got unsupported ScalarType complex32"
        ),
    ),
    **{
        f"softmax={given!r}": (
            of(softmax=given),
            TypeError,
            messages.SOFTMAX_EXPECTED.format(softmax=f"{given!r}", sigmoid="sigmoid"),
        )
        for given in ("none", None, 1, [True])
    },
    "softmax of one argument": (
        of(softmax=lambda scores: scores),
        TypeError,
        messages.SOFTMAX_ARGUMENTS.format(taken="(scores)"),
    ),
    "softmax of one row": (
        of(softmax=lambda masked, allowed: masked[0]),
        ValueError,
        messages.SOFTMAX_SHAPE.format(weights="(2,)", masked="(2, 2)"),
    ),
    "softmax of whole numbers": (
        of(softmax=lambda masked, allowed: np.eye(2, dtype=int)),
        TypeError,
        messages.SOFTMAX_TYPE.format(weights="holds int64", dtype="float64"),
    ),
    "softmax of nothing": (
        of(softmax=lambda masked, allowed: None),
        TypeError,
        messages.SOFTMAX_TYPE.format(weights="is None", dtype="float64"),
    ),
    "scale of text": (
        of(scale="2"),
        ValueError,
        messages.POSITIVE_EXPECTED.format(name="scale", given="'2'"),
    ),
    "scale=True": (
        of(scale=True),
        ValueError,
        messages.POSITIVE_EXPECTED.format(name="scale", given="True"),
    ),
    "a matrix as scale": (
        of(scale=np.ones((2, 2))),
        ValueError,
        messages.POSITIVE_EXPECTED.format(name="scale", given="an array of shape (2, 2)"),
    ),
    **{
        f"heads={given!r}": (
            heads(given),
            ValueError,
            messages.INTEGER_EXPECTED.format(name="heads", given=f"{given!r}", least=1),
        )
        for given in (2.0, "2", True, None, 0, -1)
    },
    "tokens of text": (
        lambda: padding(["the", "cat"]),
        TypeError,
        messages.REAL_TOKENS_EXPECTED.format(seen="holds text"),
    ),
    "one axis to split": (
        lambda: split_heads([1, 2], 2),
        ValueError,
        messages.SHAPE_EXPECTED.format(name="M", shape="(2,)", wanted="(…, n, h · d)"),
    ),
    "two axes to repeat": (
        lambda: repeat_heads(EYE, 2),
        ValueError,
        messages.SHAPE_EXPECTED.format(name="M", shape="(2, 2)", wanted="(…, g, n, d)"),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_cannot_be_taken_is_refused_with_a_sentence_that_names_it(case):
    call, kind, message = REFUSALS[case]
    assert refusal(kind, call) == message


def test_a_masked_array_that_hides_nothing_is_an_array():
    trace = scaled_dot_product_attention(np.ma.array(ROWS), EYE, EYE)
    assert type(trace.Q) is np.ndarray
    assert trace.Q.tolist() == ROWS


@pytest.mark.parametrize(
    "scale",
    [2, np.float32(0.5), np.array(0.5), Fraction(1, 2), Tensor(0.5)],
    ids=["whole", "float32", "array", "fraction", "tensor"],
)
def test_a_scale_may_be_any_kind_of_real_number(scale):
    assert scaled_dot_product_attention(EYE, EYE, EYE, scale=scale).scale == float(scale)


def test_whole_numbers_of_numpy_count_heads():
    M = np.ones((2, 4))
    assert multi_head_attention(M, M, M, heads=np.int64(2)).weights.shape == (2, 2, 2)


# ---- a trace stays as it is ----------------------------------------------------------------------


def test_an_array_is_kept_only_where_nobody_can_write_to_it():
    given = np.ones((2, 2))
    copy = kept(given)
    assert copy is not given and kept(copy) is copy
    view = given[:]
    view.flags.writeable = False  # its owner may still write
    assert not np.shares_memory(kept(view), given)
    given.flags.writeable = False  # and may again
    assert not np.shares_memory(kept(given), given)
    assert not np.shares_memory(kept(view[:1]), given)
    assert kept(np.frombuffer(bytes(16))).base is not None
    assert kept(np.broadcast_to(given[:1], (2, 2))).tolist() == given.tolist()


@pytest.mark.parametrize("dtype", ["f4", "f8", "longdouble", "i8", "?"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_a_locked_array_has_the_same_cells_and_is_opened_by_no_flag(shape, dtype):
    given = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    for array in (given, given.T):
        ours = locked(array.copy(order="K"))
        assert (ours.dtype, ours.shape) == (array.dtype, array.shape)
        assert ours.tolist() == array.tolist()
        assert kept(ours) is ours and kept(ours[...]).base is not None
        with pytest.raises(ValueError):
            ours.flags.writeable = True


ARGUMENTS = {
    "Q": EYE,
    "K": EYE,
    "V": EYE,
    "bias": np.full((2, 2), 0.5),
    "allowed": np.array([[True, False], [True, True]]),
    "sinks": np.array([0.5]),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_callers_read_only_array_made_writeable_again_changes_no_trace(name):
    given = {name: values.copy() for name, values in ARGUMENTS.items()}
    expected = scaled_dot_product_attention(**given)
    given[name].flags.writeable = False
    trace = scaled_dot_product_attention(**given)
    given[name].flags.writeable = True
    given[name][...] = 0
    for stage in (name, "weights", "output"):
        assert getattr(trace, stage).tolist() == getattr(expected, stage).tolist()


@pytest.mark.parametrize("name", ["X", "memory", "W_Q", "W_V", "W_O", "b_Q", "b_O", "positions"])
def test_nor_does_one_behind_the_heads_or_before_them(name):
    given = {name: EYE + 1 for name in ("X", "memory", "W_Q", "W_K", "W_V", "W_O", "positions")}
    given |= {"b_Q": np.ones(2), "b_O": np.ones(2)}
    given[name].flags.writeable = False
    trace = self_attention(**given, heads=2)
    given[name].flags.writeable = True
    given[name][...] = 9
    assert not (getattr(trace, {"positions": "P"}.get(name, name)) == 9).any()


NUMBERS = [
    2,
    np.float32(0.5),
    np.array(0.5),
    Fraction(1, 2),
    Tensor(0.5, grad=True),
    np.int64(3),
]


@pytest.mark.parametrize("given", NUMBERS, ids=lambda given: type(given).__name__)
@pytest.mark.parametrize("name", ["scale", "softcap"])
def test_a_trace_keeps_a_number_as_a_float_of_python(name, given):
    trace = scaled_dot_product_attention(EYE, EYE, EYE, **{name: given})
    assert type(getattr(trace, name)) is float
    assert getattr(trace, name) == float(given)
    assert "Attention" in repr(trace) and trace._repr_html_()


def test_a_soft_cap_that_is_changed_afterwards_changes_no_trace():
    cap = np.array(0.5)
    trace = scaled_dot_product_attention(EYE, EYE, EYE, softcap=cap)
    cap[...] = 9
    assert trace.softcap == 0.5


def test_the_parts_of_a_trace_keep_their_numbers_as_pythons_own():
    one = np.array(1)
    parts = (
        RelativeBias(np.ones((8, 1)), np.bool_(False), np.array(64), one),
        RMSNorm(eps=np.array(0.5), whole=np.bool_(True)),
        Rotary(np.array(100.0), width=np.int64(2), offset=one, factor=np.array(2.0)),
    )
    before = [{name: value for name, value in vars(part).items()} for part in parts]
    one[...] = 7
    for part, fields in zip(parts, before, strict=True):
        for name, value in fields.items():
            assert name == "table" or type(value) in (int, float, bool, str, type(None))
            assert name == "table" or getattr(part, name) == value
    assert parts[0].past == parts[2].offset == 1


def test_the_arrays_of_one_trace_are_taken_into_the_next_without_a_copy():
    one = scaled_dot_product_attention(ROWS, np.array(ROWS), locked(np.array(ROWS)))
    two = scaled_dot_product_attention(one.Q, one.K, one.V)
    assert (two.Q is one.Q, two.K is one.K, two.V is one.V) == (True, True, True)


def test_a_list_is_read_into_an_array_that_needs_no_second_copy():
    array = as_array("Q", ROWS)
    assert kept(array) is array


def test_softmax_in_another_precision_passes_the_watch():
    trace = scaled_dot_product_attention(
        np.array(ROWS, "f4"), EYE.astype("f4"), EYE.astype("f4"), softmax=softmax_in("f8")
    )
    assert trace.weights.dtype == np.float32
