"""Soft cap, sinks, ALiBi, windows, a sigmoid and shared heads, as settings: whatever is in use, all
that is shown, linked and exported holds.
"""

from dataclasses import replace

import messages
import numpy as np
import pytest

from attention import causal, multi_head_attention
from attention.explain.arithmetic import cell, walk
from attention.explain.worksheet import choices, refusal, worksheet
from attention.exports.code import to_python
from attention.figures.panes.panes import panes
from attention.frameworks.records import CONVENTIONS
from attention.limits import BadInput
from attention.session.compare import pair
from attention.session.compare.check_yours import from_settings
from attention.session.compare.compare_frameworks import between, has_switch, left_out
from attention.session.compare.compare_frameworks import shown as shown_on_conventions
from attention.session.edit import board_edits, changes
from attention.session.edit import parts as prepared
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, sizes, view
from attention.session.state.settings import Settings, added
from attention.session.state.validate import check
from attention.session.teach.exercise import _STEPS, Exercise, faded, typed
from attention.vocabulary.numbers import number
from attention.vocabulary.parts import PARTS

CAT = replace(EXAMPLES["cat-sat"].build(), heads=2, mask="causal", query=3)
SHARED = changes.set_kv_heads(CAT, 1)
TABLE = prepared.set_relative(CAT, True)
USES = {
    "softcap": replace(CAT, softcap=1.5),
    "one sink": replace(CAT, sinks=(0.5,)),
    "a sink for each head": replace(CAT, sinks=(0.5, -1.0)),
    "alibi": replace(CAT, alibi=True),
    "relative": TABLE,
    "relative, keys behind": prepared.set_sides(replace(TABLE, max_distance=3), False),
    "relative, one head, ALiBi": prepared.set_relative(replace(CAT, heads=1, alibi=True), True),
    "relative, 0 and 1": TABLE.with_matrix("R", Matrix(np.tile([[0.0], [1]], (4, 2)))),
    "relative, −1e9": replace(TABLE, fill="-1e9", alibi=True),
    "alibi alone": replace(CAT, alibi=True, mask="none", heads=1),
    "window": replace(CAT, window=3),
    "sigmoid": replace(CAT, softmax="sigmoid"),
    "kv_heads": SHARED,
    "all": replace(SHARED, softcap=2.0, sinks=(0.5, 1.0), alibi=True, window=3),
    "all, −1e9": replace(SHARED, softcap=2.0, sinks=(0.5,), alibi=True, window=3, fill="-1e9"),
    "a batch": replace(EXAMPLES["batch"].build(), softcap=2.0, sinks=(0.5,), alibi=True, window=2),
    "a batch, relative": prepared.set_relative(EXAMPLES["batch"].build(), True),
    "cross, relative": replace(changes.set_memory(TABLE, True), mask="causal_lower_right"),
    "cross": replace(
        changes.set_memory(CAT, True), mask="causal_lower_right", alibi=True, window=2, sinks=(1.0,)
    ),
    "typed": replace(EXAMPLES["random-qkv"].build(), softcap=2.0, sinks=(0.5,), alibi=True),
    "typed, relative": prepared.set_relative(EXAMPLES["random-qkv"].build(), True),
}


@pytest.fixture(params=USES, name="s")
def _settings(request) -> Settings:
    return check(USES[request.param])


def test_each_part_is_known_to_be_in_use():
    found = {name: USES[name].parts for name in USES if name in PARTS}
    assert found == {name: (name,) for name in found} and len(found) == 6
    assert USES["all"].parts == ("kv_heads", "softcap", "alibi", "window", "sinks")
    assert CAT.parts == ()


def test_the_numbers_are_those_of_the_package():
    s = USES["all"]
    m = {name: matrix.values for name, matrix in s.matrices.items()}
    Q, K, V = (m["X"] @ m[f"W_{name}"] for name in "QKV")
    distance = np.subtract.outer(np.arange(6), np.arange(6))
    by_hand = multi_head_attention(
        *(Q, K, V),
        heads=2,
        kv_heads=1,
        softcap=2.0,
        sinks=[0.5, 1.0],
        bias=np.stack([-abs(distance) / 16, -abs(distance) / 256]),
        allowed=causal(6, 6) & (distance < 3),
    )
    np.testing.assert_allclose(run(s).output, by_hand.output, rtol=1e-12)


def test_every_cell_ends_in_its_number(s):
    now = view(s, run(s))
    for name, matrix in now.stages.items():
        for i, j in np.ndindex(matrix.shape):
            last = cell(now, name, i, j, 4)[-1]
            assert last.endswith(number(now.printed(name)[i, j], 4)), (name, i, j, last)


def test_pointing_at_m_marks_the_row_of_the_table():
    shown = view(TABLE, run(TABLE))
    M = next(pane for pane in panes(shown) if pane.name == "mask")
    assert M.sources == [("R", "bucket")]
    for i, j in np.ndindex(6, 6):
        if shown.allowed[i, j]:
            row = M.buckets[i][j]
            assert shown.stages["R"][row, 0] == shown.stages["mask"][i, j]
            assert shown.rows("R")[row] == ("0", "−1", "−2, −3", "−2, −3", "≤ −4", "≤ −4")[i - j]


def test_every_walk_arrives_at_the_matrix_form(s):
    now = view(s, run(s))
    for i in range(len(s.tokens)):
        assert walk(now, i).difference < 1e-12


def test_the_sizes_are_known_without_a_run(s):
    for context in (False, True):
        s = replace(s, context=context)
        assert sizes(s) == {name: M.shape for name, M in view(s, run(s)).stages.items()}


def test_a_link_and_a_file_hold_it(s):
    again, notices = links.read(links.write(s))
    assert (again, notices) == (s, [])
    assert links.from_file(links.to_file(s)) == s


def test_the_script_recomputes_every_stage(s, capsys):
    exec(to_python(s, run(s), "with parts").decode(), {})
    assert "every stage matches" in capsys.readouterr().out


def test_compare_says_what_differs(s):
    plain = replace(CAT, heads=2)
    said = " ".join(pair.differing(pair.Pair(plain, s)))
    words = {"softcap": "soft cap", "alibi": "ALiBi", "sigmoid": "softmax"}
    words |= {"relative": "relative bias"}
    for name in s.parts:
        word = words.get(name, "heads of keys and values" if name == "kv_heads" else name)
        assert word in said, (name, said)


def test_a_known_mistake_beside_the_parts_is_made_in_the_chosen_head(s):
    """The mask after the softmax: as without a mask, and 0 where it hides."""
    if s.softmax is not True or s.fill != "-inf":
        with pytest.raises(BadInput, match="is not possible"):
            pair.views(pair.Pair(s, s, pair.AFTER_SOFTMAX))
        return
    right, _ = pair.views(pair.Pair(s, s))
    if right.allowed.all():
        return
    _, wrong = pair.views(pair.Pair(s, s, pair.AFTER_SOFTMAX))
    seen = replace(s, mask="none", window=0, padding=())
    if added(s) is not None and s.mask == "causal_lower_right":  # which says where one counts from
        return
    weights = view(seen, run(seen)).stages["weights"]
    np.testing.assert_allclose(
        wrong.stages["weights"], np.where(right.allowed, weights, 0), rtol=1e-12
    )


def test_check_yours_takes_the_parts_that_it_knows():
    s = USES["all"]
    assert from_settings(USES["sigmoid"])["softmax"] == "sigmoid"
    given = from_settings(s)
    assert (given["softcap"], given["kv_heads"], given["bias"].shape) == (2.0, 1, (2, 6, 6))
    assert given["sinks"] == (0.5, 1.0)


def test_an_exercise_takes_the_right_answers_and_says_the_step(s):
    shown = view(s, run(s))
    for level in range(1, 4):
        asked = faded(shown, level, s.query)
        e = check(replace(s, exercise="state", asked=asked))
        done = Exercise.of(e)
        for blank in done.blanks:
            assert done.how(blank) or done.waits_for(blank)
        for blank in done.blanks[:20]:
            right = number(done.shown.stages[blank.stage][blank[1:]], done.digits)
            e = typed(e, blank, right)
        assert not any(Exercise.of(e).wrong_tries(blank) for blank in done.blanks)


def test_an_exercise_says_what_the_weights_are_made_of():
    at_weights = {}
    for name in ("one sink", "sigmoid"):
        s = check(replace(USES[name], exercise="state", asked=("weights",)))
        blank = Exercise.of(s).blanks[0]
        at_weights[name] = _STEPS["weights"](Exercise.of(s).shown, blank.row, blank.column)
    assert at_weights["one sink"].endswith("plus e to the power of the sink, 0.5000")
    assert at_weights["sigmoid"].startswith("divide 1 by the sum of 1 and e to the power of minus")


def test_a_worksheet_is_right_or_refused(s):
    shown = view(s, run(s))
    for first in choices(shown):
        if why := refusal(shown, first):
            assert why.startswith("a worksheet has ")
            continue
        sheet = worksheet(shown, first, title="", sentence="", digits=6)
        for task in sheet.tasks:
            wanted = shown.printed(task.grid.name)
            read = [
                [float(x.replace("−", "-").replace("∞", "inf")) for x in row]
                for row in task.grid.texts
            ]
            np.testing.assert_allclose(read, wanted, rtol=1e-6, atol=1e-4, err_msg=first)


def test_conventions_hands_the_parts_over():
    for name in ("all", "relative", "cross", "typed, relative", "relative, 0 and 1"):
        s = replace(USES[name], head=USES[name].heads - 1)
        right = view(s, run(s)).stages["weights"]
        np.testing.assert_allclose(shown_on_conventions(s).weights, right, rtol=1e-12)
        for library, record in CONVENTIONS.items():
            move = between(replace(s, move_from="ours", move_to=library), "array")
            np.testing.assert_allclose(move.a.weights, right, atol=1e-5)
            takes = {"softcap", "sinks", "bias"} <= record.takes
            if takes and not move.b.refused and not record.bias_first:
                np.testing.assert_allclose(move.b.weights, right, atol=1e-5)
    for library in (
        "torch_sdpa",
        "jax",
        "onnx_23",
        "hf_eager",
        "hf_sdpa",
        "keras_mha",
        "keras_ops",
    ):
        windowed = replace(USES["window"], move_from="ours", move_to=library)
        assert not [c for c in between(windowed, "array").changes if not c.fine], library
    assert left_out(USES["all"]) == () and left_out(USES["sigmoid"]) == ("sigmoid",)
    assert has_switch(CAT) and not has_switch(USES["window"])


def test_the_table_follows_heads_sides_and_rows():
    s, said = prepared.fitted(TABLE, changes.set_heads(TABLE, 4))
    assert said == ["R is now 8 × 4, with a column for each head."] and check(s).shape("R") == (
        8,
        4,
    )
    assert (s.matrices["R"].values[:, :2] == TABLE.matrices["R"].values).all()
    assert prepared.set_relative(TABLE, False) == CAT
    other = prepared.draw_relative(TABLE, 4)
    assert prepared.seed_of_relative(other) == 4 and other.matrices["R"] != TABLE.matrices["R"]
    many = check(prepared.set_buckets(TABLE, 41))
    assert (many.shape("R"), many.max_distance) == ((40, 2), 11)
    assert check(prepared.set_furthest(many, 1)).max_distance == 11
    behind = check(prepared.set_sides(prepared.set_buckets(TABLE, 4), False))
    assert (behind.shape("R")[0], behind.bidirectional) == (4, False)
    typed = board_edits.Operation(1, "cell", "R", 2, 0, "9")
    after, refused = board_edits.apply(replace(TABLE, head=1), [typed])
    assert not refused and after.matrices["R"].values[2, 1] == 9
    assert prepared.seed_of_relative(after) is None
    assert run(after).masked[1, 4, 2] == run(after).scaled[1, 4, 2] + 9


# ---- changes -------------------------------------------------------------------------------------


def test_heads_that_share_keys_keep_the_width_of_a_head():
    assert (SHARED.d_k, SHARED.d_v, SHARED.kv_heads) == (CAT.d_k, CAT.d_v, 1)
    assert [SHARED.shape(name) for name in ("W_Q", "W_K", "W_V")] == [(4, 4), (4, 2), (4, 2)]
    trace = run(SHARED)
    assert trace.K[0].tobytes() == trace.K[1].tobytes()
    back = changes.set_kv_heads(SHARED, 2)
    assert back.kv_heads == 2 and not back.parts
    wider = changes.set_dimension(SHARED, "d_k", 5)
    assert [wider.shape(name)[1] for name in ("W_Q", "W_K", "W_V")] == [10, 5, 2]
    assert check(wider).d_k == 5
    with pytest.raises(BadInput, match="2 heads cannot share 3"):
        changes.set_kv_heads(CAT, 3)


def test_sinks_follow_the_heads():
    s = check(changes.set_heads(USES["a sink for each head"], 4))
    assert s.sinks == (0.5, -1.0, 0.0, 0.0)
    assert check(changes.set_heads(s, 1)).sinks == (0.5,)
    assert changes.set_sink(replace(CAT, sinks=(2.0,), head=1), 3.0).sinks == (2.0, 3.0)


def test_sinks_and_a_sigmoid_take_each_others_place():
    s = changes.set_sigmoid(replace(CAT, sinks=(1.0,)), True)
    assert (s.softmax, s.sinks) == ("sigmoid", ())
    s = changes.set_sinks(s, True)
    assert (s.softmax, s.sinks) == (True, (0.0,))


def test_a_drawn_mask_takes_the_window_in():
    s = changes.set_mask(USES["window"], "drawn")
    assert s.window == 0 and np.array(s.drawn).sum() == 6 + 5 + 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"softcap": 0.0}, messages.SOFT_CAP_OUT_OF_RANGE.format(softcap=0)),
        ({"softcap": np.nan}, messages.SOFT_CAP_OUT_OF_RANGE.format(softcap="nan")),
        ({"sinks": (1.0, 2.0, 3.0)}, messages.SINKS_AND_HEADS_DIFFER.format(sinks=3, heads=2)),
        ({"sinks": (np.inf,)}, messages.SINK_BEYOND_LIMIT),
        ({"sinks": (1.0,), "softmax": False}, messages.SINKS_NEED_THE_SUM),
        ({"softmax": "tanh"}, messages.UNKNOWN_SOFTMAX.format(softmax="tanh")),
        (
            {"matrices": {**CAT.matrices, "R": Matrix(np.ones((8, 3)))}},
            messages.R_DOES_NOT_FIT.format(shape="8 × 3", fitting="8 × 2"),
        ),
        (
            {"matrices": {**CAT.matrices, "R": Matrix(np.ones((7, 2)))}},
            messages.R_SHAPE.format(shape="(7, 2)"),
        ),
        (
            {"matrices": TABLE.matrices, "max_distance": 2},
            messages.INTEGER_EXPECTED.format(name="max_distance", given=2, least=3),
        ),
        (
            {"matrices": TABLE.matrices, "max_distance": 10**7},
            messages.RELATIVE_TOO_LARGE.format(rows=8, distance="10,000,000"),
        ),
        ({"window": 131_073}, messages.WINDOW_OUT_OF_RANGE.format(window="131,073")),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(change, message):
    with pytest.raises(BadInput) as refused:
        check(replace(CAT, **change))
    assert str(refused.value) == message
