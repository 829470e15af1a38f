"""A DataFrame has the numbers of a trace, cell by cell as loops over its views find them."""

import sys
from dataclasses import replace
from pathlib import Path

import messages
import numpy as np
import pandas as pd
import pytest

import attention
from attention import View, causal, frame, limits, self_attention
from attention import scaled_dot_product_attention as attend
from attention.explain import frame as module
from attention.limits import BadInput
from attention.models.taken import Taken
from attention.vocabulary.stages import STAGES

RNG = np.random.default_rng(0)
RECORDED = Path(__file__).parents[1] / "models" / "recorded"
CAT = ("the", "cat", "the", "mat")
LIKE_OTHERS = ("3", "2024-01-01", "=1+1", "NaN", "None", "", "<NA>", "nan", "1e5", "True", "é\x00")


def draw(*shape):
    return RNG.standard_normal(shape)


def layer(*lead, n=4, d=6, **given):
    return self_attention(draw(*lead, n, d), draw(d, d), draw(d, d), draw(d, d), **given)


def with_nan():
    Q = draw(2, 3)
    Q[1, 0], Q[0, 1] = np.nan, -0.0
    with np.errstate(invalid="ignore"):
        return attend(Q, draw(3, 3), draw(3, 2))


def float32():
    M = draw(3, 5, 4).astype(np.float32)
    return attend(*M, allowed=causal(5, 5))


def bert(**which):
    return Taken.load(RECORDED / "bert.safetensors")[0].trace(**which)


def some_heads():
    """A trace whose heads are numbers 1, 4 and 9 of the model, and whose items are all of it."""
    trace = attend(*draw(3, 2, 3, 4, 5), allowed=causal(4, 4))
    of = bert().recorded
    return replace(trace, recorded=replace(of, heads=(1, 4, 9), items=(0, 1), batch=2))


PADDED = attention.padding([[True] * 4, [True, True, False, False]])  # only item 1 has a mask
CASES = {  # traces with labels of their queries and of their keys
    "self-attention": (layer(), CAT, None),
    "cross-attention": (attend(draw(2, 3), draw(4, 3), draw(4, 2)), ("a", "b"), CAT),
    "numbered": (attend(draw(2, 3), draw(12, 3), draw(12, 2)), None, None),
    "a mask": (layer(allowed=causal(4, 4)), CAT, None),
    "NaN": (with_nan(), None, None),
    "float32": (float32(), None, None),
    "a batch": (layer(2, allowed=PADDED), CAT, None),
    "two batch axes": (layer(2, 3), CAT, None),
    "heads": (layer(heads=3, W_O=draw(6, 5), b_O=draw(5), b_Q=draw(6)), CAT, None),
    "a batch and heads": (layer(2, heads=3, allowed=PADDED[:, None], W_O=draw(6, 5)), CAT, None),
    "shared heads": (
        self_attention(draw(2, 4, 8), draw(8, 8), draw(8, 4), draw(8, 4), heads=4, kv_heads=2),
        CAT,
        None,
    ),
    "one item": (layer(1, heads=2), CAT, None),
    "positions": (layer(2, positions=attention.sinusoidal(4, 6)), CAT, None),
    "positions of each item": (layer(2, positions=draw(2, 4, 6)), CAT, None),
    "a relative bias": (
        layer(heads=2, relative=attention.RelativeBias(draw(8, 2), max_distance=4)),
        CAT,
        None,
    ),
    "a norm and a rotation": (
        layer(heads=3, norm=attention.RMSNorm(after_rotary=True), rotary=attention.Rotary()),
        CAT,
        None,
    ),
    "like others": (layer(n=len(LIKE_OTHERS)), LIKE_OTHERS, None),
    "no query in a batch": (attend(draw(2, 0, 3), draw(2, 2, 3), draw(2, 2, 2)), None, None),
    "no query": (attend(draw(0, 3), draw(2, 3), draw(2, 2)), None, ("a", "b")),
    "a head of a model": (bert(item=0, head=1), None, None),
    "all of a model": (bert(), None, None),
    "some heads of a model": (some_heads(), CAT, None),
}
ONE_OF = {"queries": "query", "keys": "key", "buckets": "bucket"}


def of_all_heads(trace, name):
    lead = trace.output.shape[:-2]
    without = len(lead) < 2 if trace.joined is None else trace.output.ndim == trace.joined.ndim
    return without or name in {"X", "memory", "P", "X_P", "joined", "projected", "W_O", "b_O"}


def of_all_items(trace, name):
    """Whether the trace has no batch, or its items share a stage, which then has two axes."""
    if trace.output.ndim - 2 == (not of_all_heads(trace, "output")):
        return True
    given = trace.scores if name == "mask" else getattr(trace, name)
    return given.ndim == 2 and (name in ("P", "R") or name[:2] in ("W_", "b_"))


def counts(trace):
    """The numbers of items and heads, by the axes of the output."""
    lead = trace.output.shape[:-2]
    if of_all_heads(trace, "output"):
        return int(np.prod(lead)), 1
    return int(np.prod(lead[:-1])), lead[-1]


def oracle(case, item=None, head=None):
    """Return stage → {(item or None, head or None, row, column): bytes}, and a view of each."""
    trace, tokens, key_tokens = CASES[case]
    items, heads = counts(trace)
    views = {
        (i, h): View.of(trace, tokens=tokens, key_tokens=key_tokens, item=i, head=h)
        for i in (range(items) if item is None else [item])
        for h in (range(heads) if head is None else [head])
    }
    names = [name for name in STAGES if any(name in view.stages for view in views.values())]
    if trace.norm is not None and trace.norm.after_rotary:
        names.sort(key=lambda name: list(next(iter(views.values())).stages).index(name))
    cells = {}
    for name in names:
        cells[name] = {}
        for (i, _), view in views.items():
            number = i
            if trace.recorded and len(trace.recorded.items) == items:
                number = trace.recorded.items[i]
            place = (
                None if of_all_items(trace, name) else number,
                None if of_all_heads(trace, name) else view.head_number,
            )
            zero = np.zeros_like(view.stages["scores"])
            M = view.stages.get(name, zero)  # the mask of an item that has none
            for r, row in enumerate(view.rows(name)):
                for c, column in enumerate(view.columns(name)):
                    bits = M[r, c].tobytes()
                    assert cells[name].setdefault((*place, row, column), bits) == bits
    return cells, next(iter(views.values()))


def text(label):
    assert type(label) is str
    return label


def cells_of_wide(found):
    """The numbers of a wide frame, one at a time."""
    cells = {}
    for r, place in enumerate(found.index):
        place = place if isinstance(place, tuple) else (place,)
        at = dict(zip(found.index.names, place, strict=True))
        row = text(place[-1])
        for c, column in enumerate(found.columns):
            where = at.get("item"), at.get("head"), row, text(column)
            assert where not in cells
            cells[where] = found.iloc[r, c].tobytes()
    return cells


def cells_of_lines(found, row, column):
    cells = {}
    for line in found.to_dict("records"):
        item, head = (line.get(name) for name in ("item", "head"))
        where = (
            None if item is None or item is pd.NA else item,
            None if head is None or head is pd.NA else head,
            text(line[row]),
            text(line[column]),
        )
        assert where not in cells
        cells[where] = found["value"].dtype.type(line["value"]).tobytes()
    return cells


def framed(case, *stage, **given):
    trace, tokens, key_tokens = CASES[case]
    return frame(trace, *stage, tokens=tokens, key_tokens=key_tokens, **given)


@pytest.mark.parametrize("case", CASES)
def test_a_wide_frame_has_each_number_under_its_labels(case):
    cells, view = oracle(case)
    for name, wanted in cells.items():
        found = framed(case, name)
        assert cells_of_wide(found) == wanted
        assert list(cells_of_wide(found)) == list(wanted), "the order of the trace"
        assert {*found.dtypes} <= {view.stages.get(name, view.stages["scores"]).dtype}
        stage = STAGES[name]
        assert found.columns.name == ONE_OF.get(stage.columns, stage.columns)
        assert found.index.names[-1] == ONE_OF.get(stage.rows, stage.rows)


@pytest.mark.parametrize("case", CASES)
def test_a_tidy_frame_has_a_line_for_each_number(case):
    cells, view = oracle(case)
    for name, wanted in cells.items():
        found = framed(case, name, tidy=True)
        row, column = (ONE_OF.get(one, one) for one in (STAGES[name].rows, STAGES[name].columns))
        there = [axis for k, axis in enumerate(("item", "head")) if {w[k] for w in wanted} - {None}]
        if wanted:
            assert list(found.columns) == [*there, row, column, "value"]
        assert list(cells_of_lines(found, row, column).items()) == list(wanted.items())
        assert found["value"].dtype == view.stages.get(name, view.stages["scores"]).dtype


@pytest.mark.parametrize("case", CASES)
def test_the_frame_of_all_stages_has_a_line_for_each_number_of_each(case):
    cells, _ = oracle(case)
    found = framed(case)
    assert list(found.columns) == ["stage", "item", "head", "row", "column", "value"]
    assert list(found["stage"].cat.categories) == list(cells)
    assert [str(found[axis].dtype) for axis in ("item", "head")] == ["Int64", "Int64"]
    for name, wanted in cells.items():
        lines = found[found["stage"] == name]
        assert list(cells_of_lines(lines, "row", "column").items()) == list(wanted.items())
    assert len(found) == sum(map(len, cells.values()))


@pytest.mark.parametrize("case", ["a batch", "heads", "a batch and heads", "some heads of a model"])
def test_a_chosen_item_or_head_is_no_level_but_a_column(case):
    items, heads = counts(CASES[case][0])
    for item, head in ((items - 1, None), (None, heads - 1), (items - 1, heads - 1), (0, 0)):
        cells, _ = oracle(case, item, head)
        for name, wanted in cells.items():
            found = framed(case, name, item=item, head=head)
            kept = [axis for axis, chosen in (("item", item), ("head", head)) if chosen is None]
            assert {*found.index.names[:-1]} <= {*kept}
            bare = {
                (w[0] if item is None else None, w[1] if head is None else None, *w[2:]): bits
                for w, bits in wanted.items()
            }
            assert cells_of_wide(found) == bare
            tidy = framed(case, name, item=item, head=head, tidy=True)
            assert cells_of_lines(tidy, *tidy.columns[-3:-1]) == wanted
        lines = framed(case, item=item, head=head)
        assert [*lines["stage"].cat.categories] == [*cells]
        assert len(lines) == sum(map(len, cells.values()))


@pytest.mark.parametrize(
    ("case", "levels"),
    [
        ("self-attention", {"X": [], "W_Q": [], "weights": []}),
        ("a batch", {"X": ["item"], "W_Q": [], "Q": ["item"], "mask": ["item"]}),
        (
            "heads",
            {"X": [], "W_Q": ["head"], "b_Q": ["head"], "Q": ["head"], "joined": [], "W_O": []}
            | {"b_O": [], "projected": []},
        ),
        (
            "a batch and heads",
            {"X": ["item"], "W_Q": ["head"], "weights": ["item", "head"], "joined": ["item"]}
            | {"W_O": [], "projected": ["item"]},
        ),
        ("one item", {"X": ["item"], "weights": ["item", "head"]}),
        ("shared heads", {"W_K": ["head"], "K": ["item", "head"]}),
        ("positions", {"P": [], "X_P": ["item"]}),
        ("positions of each item", {"P": ["item"]}),
        ("a relative bias", {"R": ["head"]}),
        ("a head of a model", {"weights": []}),
        ("all of a model", {"weights": ["item", "head"]}),
    ],
)
def test_the_levels_are_the_axes_that_a_stage_has(case, levels):
    for name, wanted in levels.items():
        assert list(framed(case, name).index.names[:-1]) == wanted, name


def test_heads_of_a_model_have_their_numbers_there():
    found = framed("some heads of a model", "weights")
    assert list(found.index.levels[1]) == [1, 4, 9]
    trace = CASES["some heads of a model"][0]
    assert found.loc[(1, 4, "cat"), "the (1)"] == trace.weights[1, 1, 1, 0]


def test_repeated_words_are_found_by_their_numbered_labels():
    trace = CASES["self-attention"][0]
    found = framed("self-attention", "weights")
    assert found.loc["the (2)"].tolist() == trace.weights[2].tolist()
    assert found["the (2)"].tolist() == trace.weights[:, 2].tolist()
    of_heads = framed("a batch and heads", "weights")
    expected = CASES["a batch and heads"][0].weights[1, 2, 2].tolist()
    assert of_heads.loc[(1, 2, "the (2)")].tolist() == expected


@pytest.mark.parametrize("case", ["a batch and heads", "like others", "numbered", "a mask"])
def test_a_pivot_of_the_lines_is_the_wide_frame(case):
    for name in ("masked", "weights", "output"):
        wide, lines = framed(case, name), framed(case, name, tidy=True)
        *index, columns, _ = lines.columns
        back = lines.pivot(index=index, columns=columns, values="value")
        assert back.to_numpy().tobytes() == wide.to_numpy().tobytes()
        assert [*back.index] == [*wide.index] and [*back.columns] == [*wide.columns]
        assert back.index.names == wide.index.names and back.columns.name == wide.columns.name


def test_grouped_lines_are_those_of_the_labels_in_their_order():
    trace = CASES["like others"][0]
    lines = framed("like others", "weights", tidy=True)
    sums = lines.groupby("key", observed=True)["value"].sum()
    assert [*sums.index] == [*LIKE_OTHERS]
    np.testing.assert_allclose(sums, trace.weights.sum(0))
    assert not lines.isna().any(axis=None)
    own = framed("like others")
    same = own[(own["stage"] == "weights") & (own["row"] == own["column"])]["value"]
    assert same.tolist() == np.diag(trace.weights).tolist()


def test_means_over_heads_keep_the_order_of_the_words():
    trace = CASES["a batch and heads"][0]
    found = framed("a batch and heads", "weights")
    means = found.groupby(["item", "query"], observed=True).mean()
    assert [*means.index][:4] == [(0, "the (1)"), (0, "cat"), (0, "the (2)"), (0, "mat")]
    np.testing.assert_allclose(means, trace.weights.mean(1).reshape(8, 4))
    assert [*found.sort_index().index] == [*found.index]


def test_unstacked_heads_keep_the_order_of_the_words():
    found = framed("a batch and heads", "weights").unstack("head")
    assert [*found.index][:4] == [(0, "the (1)"), (0, "cat"), (0, "the (2)"), (0, "mat")]
    assert [*found.columns][:4] == [("the (1)", 0), ("the (1)", 1), ("the (1)", 2), ("cat", 0)]


def test_a_frame_is_a_copy():
    trace = layer()
    before = trace.weights.copy()
    wide, lines, every = frame(trace, "weights"), frame(trace, "weights", tidy=True), frame(trace)
    wide.iloc[0, 0] = lines.loc[0, "value"] = 7.0
    every["value"] = 7.0
    assert wide.iloc[0, 0] == lines.loc[0, "value"] == 7.0
    assert trace.weights.tobytes() == before.tobytes()


def test_hidden_cells_stay_minus_infinity_and_nan_keeps_its_bits():
    assert framed("a mask", "masked").loc["the (1)", "cat"] == -np.inf
    odd = np.array([[0x7FF8000000000123, 1 << 63]], np.uint64).view(np.float64)
    trace = attend(odd, [[1.0, 2.0]], [[3.0]])
    for found in (frame(trace, "Q").to_numpy(), frame(trace)["value"].to_numpy()[:2]):
        assert found.tobytes() == odd.tobytes()


def test_no_stage_calls_its_rows_as_its_columns():
    """So each column of a tidy frame has a name of its own."""
    for stage in STAGES.values():
        names = [ONE_OF.get(axis, axis) for axis in (stage.rows, stage.columns)]
        assert len({*names, "item", "head", "value"}) == 5


def test_rows_of_a_table_for_no_distance_have_labels_of_their_own():
    relative = attention.RelativeBias(draw(64, 1), bidirectional=False, max_distance=40)
    trace = layer(relative=relative)
    assert View.of(trace).rows("R").count("–") == 23
    found = frame(trace, "R")
    assert found.index.is_unique and found.loc["– (23)", "b"] == trace.R[62, 0]
    assert frame(trace, "R", tidy=True)["value"].tolist() == trace.R[:, 0].tolist()


# ---- what is refused -----------------------------------------------------------------------------

TRACE = attend(draw(2, 3), draw(4, 3), draw(4, 2))
KNOWN = "Q, K, V, scores, scaled, masked, weights, output"


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (
            {"stage": "wieghts"},
            ValueError,
            messages.UNKNOWN_STAGE_OF_FRAME.format(name="'wieghts'", known=KNOWN),
        ),
        (
            {"stage": "W_Q"},
            ValueError,
            messages.STAGE_OF_FRAME_NOT_IN_TRACE.format(name="'W_Q'", known=KNOWN),
        ),
        ({"stage": 3}, TypeError, messages.STAGE_EXPECTED.format(given="3")),
        ({"stage": ["Q"]}, TypeError, messages.STAGE_EXPECTED.format(given="['Q']")),
        ({"tidy": False}, ValueError, messages.NO_WIDE_FRAME_OF_ALL),
        (
            {"stage": "Q", "tidy": 1},
            TypeError,
            messages.TRUE_OR_FALSE_EXPECTED.format(name="tidy", given="1"),
        ),
        ({"item": 1}, ValueError, messages.ONLY_ONE.format(word="item", place=1)),
        ({"head": -1}, ValueError, messages.ONLY_ONE.format(word="head", place=-1)),
        (
            {"tokens": "ab"},
            TypeError,
            messages.WORDS_EXPECTED.format(argument="tokens", words="'ab'"),
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(given, kind, said):
    with pytest.raises(kind) as refused:
        frame(TRACE, **given)
    assert str(refused.value) == said


def test_a_head_that_was_not_recorded_is_refused_with_those_that_were():
    with pytest.raises(ValueError) as refused:
        framed("some heads of a model", "weights", head=4)
    assert str(refused.value) == messages.OUT_OF_RANGE_OF_MODEL.format(
        word="head", place=4, count=3, numbers="heads 1, 4, 9"
    )


@pytest.mark.parametrize(
    "given",
    [
        attention.long_attention(*draw(3, 4, 2)),
        attention.diagnose(*draw(3, 4, 2), output=draw(4, 2)),
        View.of(TRACE),
        TRACE.weights,
    ],
    ids=lambda given: type(given).__name__,
)
def test_only_a_trace_is_taken(given):
    with pytest.raises(TypeError) as refused:
        frame(given)
    assert str(refused.value) == messages.TRACE_EXPECTED.format(name=type(given).__name__)


class Unmade:
    """Stands for NumPy's functions that make something of the size of a frame."""

    def __getattr__(self, name):
        assert name not in ("stack", "tile", "repeat", "concatenate"), name
        return getattr(np, name)


@pytest.mark.parametrize(
    ("given", "what", "count", "form", "do"),
    [
        ({}, "all stages hold", 780, "tidy", "Give stage=, item=, head=, or save"),
        ({"item": 0}, "all stages hold", 444, "tidy", "Give stage=, head=, or save"),
        (
            {"stage": "K", "tidy": True},
            "K holds",
            48,
            "tidy",
            "Give item=, head=, tidy=False, or save",
        ),
        ({"stage": "K", "head": 1}, "K holds", 16, "wide", "Give item=, or save"),
        ({"stage": "W_Q"}, "W_Q holds", 36, "wide", "Give head=, or save"),
        ({"stage": "X", "item": 1, "head": 1}, "X holds", 24, "wide", "Save"),
    ],
)
def test_too_many_numbers_are_refused_before_any_is_copied(
    monkeypatch, given, what, count, form, do
):
    trace = layer(2, heads=3)
    bound = {"tidy": "MAX_LISTED", "wide": "MAX_CELLS"}[form]
    monkeypatch.setattr(module, bound, count)
    assert frame(trace, **given).size
    monkeypatch.setattr(module, bound, count - 1)
    monkeypatch.setattr(module, "np", Unmade())
    with pytest.raises(BadInput) as refused:
        frame(trace, **given)
    assert str(refused.value) == messages.FRAME_TOO_LARGE.format(
        what=what, count=count, form=form, most=count - 1, do=do
    )


def test_a_stage_of_the_largest_board_fits():
    """All heads of it wide, and one of them by lines."""
    heads = limits.MAX_CELLS // limits.MAX_TOKENS**2
    M = np.ones((heads, limits.MAX_TOKENS, 1), np.float32)
    trace = attend(M, M, M)
    assert frame(trace, "weights").size == limits.MAX_CELLS
    assert len(frame(trace, "weights", item=0, tidy=True)) == limits.MAX_TOKENS**2


def test_without_pandas_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError) as missing:
        attention.frame(TRACE)
    assert str(missing.value) == messages.NEEDS_PANDAS.format(name="attention.frame")
