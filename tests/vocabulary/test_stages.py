"""One list of stages: the record of a trace, the arithmetic and docs agree with it."""

import ast
import re
from dataclasses import fields
from pathlib import Path

import numpy as np

from attention import AttentionTrace, RelativeBias, RMSNorm, Rotary, View, self_attention
from attention.explain.arithmetic import cell
from attention.vocabulary.stages import ALWAYS, COMPUTED, OF_A_HEAD, PROJECTIONS, STAGES, WEIGHTS

HOME = Path(__file__).parents[2]
NAMES = HOME / "docs" / "names.md"
MADE = ("mask", "context")  # from what a trace keeps: allowed and bias, the output
EYE = np.eye(2)
FOUR, ONES = np.eye(2, 4), np.ones(4)
PARTS = {"b_Q": ONES, "b_K": ONES, "b_V": [1, 2], "b_O": [3, 4], "positions": EYE}
PARTS |= {"norm": RMSNorm(), "rotary": Rotary(), "relative": RelativeBias(np.ones((4, 2)))}
COMPLETE = self_attention(
    *(EYE, FOUR, FOUR, EYE),
    memory=EYE,
    heads=2,
    W_O=EYE,
    softcap=5,
    score_mod=lambda score, b, h, q, k: score + q,
    allowed=[[True, False]] * 2,
    **PARTS,
)


def test_a_trace_has_a_field_for_every_stage():
    names = {field.name for field in fields(AttentionTrace)}
    assert [name for name in STAGES if name not in names] == list(MADE)


def test_a_view_of_a_complete_trace_has_every_stage_in_the_order_of_the_list():
    assert list(View.of(COMPLETE, context=True).stages) == list(STAGES)


def test_every_stage_comes_from_stages_that_stand_before_it():
    before: set[str] = set()
    for name, stage in STAGES.items():
        assert {source for source, _ in stage.sources} <= before, name
        before.add(name)


def test_the_weights_are_those_that_are_called_so():
    assert WEIGHTS == ("W_Q", "W_K", "W_V", "W_O") and WEIGHTS[:3] == PROJECTIONS


def test_the_stages_of_a_head_and_those_of_any_attention_follow_from_the_list():
    assert (
        *("Q", "K", "V", "Q_normed", "K_normed", "Q_rotated", "K_rotated"),
        *("scores", "scaled", "capped", "modified", "masked", "weights", "output"),
    ) == OF_A_HEAD
    assert ALWAYS == ("Q", "K", "V", "scores", "scaled", "masked", "weights", "output")


def test_no_other_module_lists_the_stages_from_the_projections_to_the_output():
    listing = []
    for path in sorted((HOME / "attention").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Tuple, ast.List)):
                words = {word.value for word in node.elts if isinstance(word, ast.Constant)}
                listing += [path.stem] * (words >= {"Q", "K", "V", "scores", "scaled", "output"})
    assert listing == ["finite"]  # the arguments of a function, which says why these


def test_the_arithmetic_of_every_computed_cell_says_more_than_its_number():
    view = View.of(COMPLETE, context=True)
    for name in COMPUTED:
        lines = cell(view, name, 0, 0)
        assert len(lines) > 1, name


def test_the_docs_name_every_stage_with_its_symbol():
    table = NAMES.read_text(encoding="utf-8")
    said = {}
    for line in filter(lambda line: line.startswith("| `"), table.splitlines()):
        _, names, symbols, *_ = line.split("|")
        names, symbols = re.findall(r"`(\w+)`", names), symbols.split(",")
        said |= zip(names, map(str.strip, symbols), strict=True)
    assert said == {name: stage.symbol or "–" for name, stage in STAGES.items()}
