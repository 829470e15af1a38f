"""The card of a cell says how it is made, against plain loops over the numbers that it prints."""

import json
import math
import re
from dataclasses import asdict, replace
from fractions import Fraction

import messages
import numpy as np
import pytest
from amount import few
from build import view_of

from attention import RelativeBias, RMSNorm, Rotary, causal, scaled_dot_product_attention
from attention.explain.card import Card, card_of
from attention.explain.strip import strip_of
from attention.explain.view import View
from attention.session.edit import changes
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.vocabulary.numbers import number

WORDS = EXAMPLES["four-words"].build()
SENTENCE = EXAMPLES["sentence"].build()
DRAWN = np.random.default_rng(3)
CASES = {
    **{name: view_of(example.build()) for name, example in EXAMPLES.items()},
    "W_O": view_of(
        changes.set_output_weights(SENTENCE, True).with_matrix(
            "W_O", Matrix(DRAWN.normal(size=(4, 3)))
        )
    ),
    "no key": view_of(replace(WORDS, mask="causal", padding=(0,))),
    "crossed": view_of(
        replace(
            changes.set_memory(EXAMPLES["three-widths"].build(), True), mask="causal_lower_right"
        )
    ),
    "prepared": view_of(replace(WORDS, norm=RMSNorm(gain_Q=[1, 2, 3, 4]), rotary=Rotary(width=2))),
    "cap and sink": view_of(replace(WORDS, softcap=20.0, sinks=(1.5,), mask="causal")),
    "sigmoid": view_of(replace(WORDS, softmax="sigmoid")),
    "fill": view_of(replace(WORDS, fill="-1e9", mask="causal", alibi=True)),
    "sum": view_of(replace(WORDS, context=True, scale=0.25)),
    "large": view_of(WORDS.with_matrix("X", Matrix(np.full((4, 4), -1e12)))),
    "score_mod": View.of(
        scaled_dot_product_attention(
            *(DRAWN.normal(size=(3, 4)) for _ in "QKV"),
            score_mod=lambda score, b, h, q, k: score - abs(q - k),
            softmax=lambda masked, allowed: np.where(allowed, np.abs(masked), 0),
            allowed=causal(3, 3),
        )
    ),
    "T5": View.of(
        scaled_dot_product_attention(
            *(DRAWN.normal(size=(4, 4)) for _ in "QKV"),
            relative=RelativeBias(DRAWN.normal(size=(8, 1)), max_distance=4),
        )
    ),
}
DIGITS = 6  # that rounding does not hide a wrong term


def cells(view: View, stages=None):
    """Some cells of each stage: its corners, and those between."""
    for stage, matrix in view.stages.items():
        if stages is None or stage in stages:
            rows, columns = matrix.shape
            for i in sorted({0, rows // 2, rows - 1}):
                for j in sorted({0, columns // 3, columns - 1}):
                    yield stage, i, j


def bare(text: str) -> str:
    """The text of a number as Python reads it."""
    return text.replace("−", "-").replace("∞", "inf").replace("\u00a0", "").replace(" ", "")


def value_of(text: str) -> float:
    """The number that a text says."""
    return float(bare(text).lstrip("=≈Σ"))


def worked(work: str) -> float:
    """What the arithmetic of a line gives."""
    for sign, its in {"÷": "/", "×": "*", "·": "*", "−": "-", "∞": "math.inf"}.items():
        work = work.replace(sign, its)
    work = re.sub(r"√(\d+)", r"√(\1)", work)
    return eval(work.replace("√", "math.sqrt").replace("tanh", "math.tanh"))


def near(value: float, expected: float, terms: int = 1) -> bool:
    """Whether they are the same but for the decimals that are not printed."""
    room = 10.0 ** (1 - DIGITS) * terms
    return value == pytest.approx(expected, rel=room, abs=room, nan_ok=True)


def text_of(view: View, stage: str, i: int, j: int, digits: int) -> str:
    """The text of a cell; by itself, where its decimals say little."""
    by_itself = number(view.printed(stage)[i, j], digits)
    return by_itself if "e−" in by_itself else view.texts(stage, digits)[i][j]


def title_of(card: Card) -> str:
    return "".join(text for text, _ in card.title).replace("\u00a0", " ")


@pytest.mark.parametrize("name", few(CASES))
@pytest.mark.parametrize("digits", [0, 2, 7])
def test_the_value_is_the_text_of_the_cell_or_says_more(name, digits):
    view = CASES[name]
    for stage, i, j in cells(view):
        card = card_of(view, (stage, i, j), digits)
        assert card.value == text_of(view, stage, i, j, digits)
        assert (card.stage, card.row, card.column) == (stage, i, j)
        assert title_of(card) and "  " not in title_of(card)


@pytest.mark.parametrize("name", [name for name in few(CASES) if name != "large"])
def test_products_multiply_up_and_add_up_to_the_value(name):
    view = CASES[name]
    for cell in cells(view, ("Q", "K", "V", "scores", "output", "projected", "context")):
        card = card_of(view, cell, DIGITS)
        if card.table is None:
            continue
        *factors, products = card.table.rows
        for texts in zip(*(row.cells for row in factors), products.cells, strict=True):
            if factors and "" not in texts:  # a bias has no factors
                assert near(math.prod(map(value_of, texts[:-1])), value_of(texts[-1])), cell
        total = math.fsum(map(value_of, products.cells))
        if card.table.count > len(card.table.heads):
            total += value_of(products.others[len(card.table.heads)])
        assert near(total, value_of(products.total), card.table.count), cell
        rounded = sum(Fraction(bare(text)) for text in products.cells) != Fraction(bare(card.value))
        if card.table.count == len(card.table.heads):
            assert products.total == f"{'≈' if rounded else '='} {card.value}"
        assert products.total[2:] == card.value


@pytest.mark.parametrize("name", few(CASES))
def test_shares_are_powers_divided_by_their_sum(name):
    view = CASES[name]
    for cell in cells(view, ("weights",)):
        card = card_of(view, cell, DIGITS)
        if card.table is None:
            continue
        scores, powers, shares = card.table.rows
        total = value_of(powers.total)
        assert near(math.fsum(map(value_of, powers.cells)), total, 20)
        assert (scores.total, shares.total) == ("", "Σ 1")
        for score, power, share in zip(scores.cells, powers.cells, shares.cells, strict=True):
            assert near(math.exp(value_of(score)), value_of(power), 20), cell
            assert near(value_of(power) / total, value_of(share), 20), cell
        assert card.table.heads[card.table.mark] in title_of(card) or "₁" in str(card.table.heads)
        if card.lines:
            divided = re.fullmatch(r"(\S+) ÷ (\S+) = (\S+)", card.lines[0])
            assert divided and divided[3] == card.value
            assert near(value_of(divided[1]) / value_of(divided[2]), value_of(divided[3]), 20)


@pytest.mark.parametrize("name", few(CASES))
def test_links_of_the_chain_are_the_cells_of_their_stages(name):
    view = CASES[name]
    for cell in cells(view):
        card = card_of(view, cell, 3)
        of_pair = cell[0] in ("scores", "scaled", "capped", "modified", "mask", "masked", "weights")
        assert bool(card.chain) == (of_pair and "scores" in view.stages)
        for link in card.chain:
            assert (link.row, link.column) == cell[1:]
            assert link.text == text_of(view, link.stage, link.row, link.column, 3)
            assert link.chosen == (link.stage == cell[0])
        names = [link.stage for link in card.chain]
        assert names == [stage for stage in view.stages if stage in names]
        if card.chain and "mask" in view.stages:
            assert "masked" in names
        if cell[0] in names:
            assert [link.stage for link in card.chain if link.chosen] == [cell[0]]


@pytest.mark.parametrize("name", [name for name in few(CASES) if name != "large"])
def test_each_link_follows_from_the_one_before(name):
    view = CASES[name]
    for cell in cells(view, ("scores",)):
        for link in card_of(view, cell, DIGITS).chain:
            said = link.how
            if found := re.fullmatch(r"(\S+) ÷ √(\d+)", said):
                expected = value_of(found[1]) / math.sqrt(int(found[2]))
            elif found := re.fullmatch(r"(\S+) × (\S+)", said):
                expected = value_of(found[1]) * value_of(found[2])
            elif found := re.fullmatch(r"(\S+) · tanh\((\S+) ÷ (\S+)\)", said):
                cap = value_of(found[1])
                expected = cap * math.tanh(value_of(found[2]) / cap)
            elif found := re.fullmatch(r"(\S+) ([+−]) (\S+)", said):
                added = value_of(found[3])
                expected = value_of(found[1]) + (added if found[2] == "+" else -added)
            elif found := re.fullmatch(r"e\^\{(\S+)(?: ([+−]) (\S+))?\} ÷ (\S+)", said):
                score = value_of(found[1])
                if found[2]:
                    score += value_of(found[3]) * (1 if found[2] == "+" else -1)
                expected = math.exp(score) / value_of(found[4])
            elif found := re.fullmatch(r"1 ÷ \(1 \+ e\^\{(\S+)\}\)", said):
                expected = 1 / (1 + math.exp(value_of(found[1])))
            else:
                assert link.stage in ("scores", "modified", "weights"), said
                continue
            assert near(value_of(link.text), expected, 20), (cell, link)


@pytest.mark.parametrize("name", [name for name in few(CASES) if name != "large"])
def test_lines_end_in_what_their_arithmetic_gives(name):
    view = CASES[name]
    for cell in cells(view, ("X_P", "scaled", "capped", "masked")):
        for line in card_of(view, cell, DIGITS).lines:
            if line.startswith(("bucket", "−slope")):
                continue
            *works, last = line.split(" = ")
            for work in works:
                assert near(worked(work), value_of(last), 20), (cell, line)


PARTS = replace(
    WORDS,
    norm=RMSNorm(gain_Q=[-1.5, 0.3, 7, 0.001], eps=1e-5),
    rotary=Rotary(factor=0.0625),
    softcap=0.3,
    scale=2.5,
    alibi=True,
    mask="causal",
)


@pytest.mark.parametrize("digits", [0, 1, 2, 4])
@pytest.mark.parametrize("size", [1, 0.005])
def test_lines_of_few_digits_are_true_but_for_those_left_out(digits, size):
    view = view_of(PARTS.with_matrix("W_Q", Matrix(size * DRAWN.normal(size=(4, 4)))))
    stages = ("Q_normed", "K_normed", "Q_rotated", "K_rotated", "scaled", "capped", "masked")
    for cell in cells(view, stages):
        for line in card_of(view, cell, digits).lines:
            named = "^(θ = position × frequency|−slope × distance|[ab] cos θ . [ab] sin θ) = "
            *works, last = re.sub(named, "", line).split(" = ")
            for work in works:
                room = 2 * 10.0**-digits + 1e-3 * abs(value_of(last))
                assert worked(work) == pytest.approx(value_of(last), abs=room), (cell, line)


def test_constants_are_written_by_four_digits_or_as_they_are():
    root = View.of(scaled_dot_product_attention([[1000, 0]], [[1, 0]], [[1]]))
    assert card_of(root, ("scaled", 0, 0)).lines == ("1000 ÷ √2 = 707.11",)
    slopes = view_of(replace(WORDS, alibi=True, heads=2))
    assert card_of(slopes, ("masked", 3, 0)).lines[0] == (
        f"−slope × distance = −0.0625 × 3 = {number(-3 / 16)}"
    )
    view = view_of(PARTS)
    assert card_of(view, ("capped", 1, 1), 0).note == messages.CAP_KEEPS.format(cap="0.3")
    lines = card_of(view, ("Q_normed", 0, 0)).lines
    assert " + 1e−5)" in lines[0] and " × (−1.50) = " in lines[1]
    assert card_of(view, ("scaled", 0, 0), 0).lines[0].split(" = ")[0].endswith(" × 2.5")


def test_a_negative_position_is_taken_away():
    X, P = Matrix([[0.0, 1.5]]), Matrix([[-0.5, 2.0]])
    one = replace(changes.set_sentence(WORDS, "one"), matrices={"X": X, "P": P})
    eye = Matrix(np.eye(2))
    view = view_of(replace(one, matrices={**one.matrices, "W_Q": eye, "W_K": eye, "W_V": eye}))
    lines = [card_of(view, ("X_P", 0, j)).lines for j in (0, 1)]
    assert lines == [("0 − 0.50 = −0.50",), ("1.50 + 2.00 = 3.50",)]


def test_a_norm_is_shown_by_its_squares():
    view = CASES["prepared"]
    for i in range(4):
        for j in range(4):
            card = card_of(view, ("Q_normed", i, j), DIGITS)
            row = view.stages["Q"][i]
            squares = [value_of(text) for text in card.table.rows[1].cells]
            assert all(near(s, x * x) for s, x in zip(squares, row, strict=True))
            root = math.sqrt(math.fsum(x * x for x in row) / 4 + 1e-6)
            assert near(value_of(card.lines[0].split(" = ")[1]), root)
            assert near(row[j] / root * (j + 1), value_of(card.value))
            assert card.lines[1].endswith(f" × {j + 1} = {card.value}")


def test_a_rotation_shows_its_angle_and_both_numbers():
    view = CASES["prepared"]
    before = view.stages["Q_normed"]
    for i in range(4):
        first, second = (card_of(view, ("Q_rotated", i, j), DIGITS) for j in (0, 1))
        a, b = before[i, :2]
        assert first.lines[0].endswith(f"= {i}")  # of frequency 1
        assert near(value_of(first.value), a * math.cos(i) - b * math.sin(i))
        assert near(value_of(second.value), b * math.cos(i) + a * math.sin(i))
        assert first.note == messages.TURNED_BY_THETA.format(first=1, second=2)
        stays = card_of(view, ("Q_rotated", i, 3), DIGITS)
        assert (stays.lines, stays.note) == ((), messages.NUMBER_STAYS.format(columns=2))


def of_scores(*scores: float, digits: int = 2, **more) -> View:
    """The view of one query with these scores."""
    K = np.array(scores)[:, None]
    return View.of(scaled_dot_product_attention([[1.0]], K, np.ones_like(K), scale=1, **more))


@pytest.mark.parametrize("highest", [-800, -30, -4.1, -1, -0.3, 0, 0.4, 5, 12, 13, 900])
def test_the_printed_powers_give_the_printed_share(highest):
    scores = [highest, highest - 0.3, highest - 0.9]
    total = math.fsum(math.exp(score - highest) for score in scores)
    for j, score in enumerate(scores):
        card = card_of(of_scores(*scores), ("weights", 0, j))
        power, rest = card.lines[0].split(" ÷ ")
        divisor, share = rest.split(" = ")
        assert value_of(share) == pytest.approx(math.exp(score - highest) / total, abs=0.005)
        assert value_of(power) / value_of(divisor) == pytest.approx(value_of(share), abs=0.01)
        subtracts = card.note == messages.LARGEST_IS_SUBTRACTED
        assert subtracts == (not 0 <= highest <= 12)


def test_a_row_of_powers_is_called_by_its_own_power():
    table = card_of(of_scores(16.0, 14.0), ("weights", 0, 1)).table
    assert [row.name for row in table.rows] == ["s − 16", "e^{s − 16}", "share"]
    table = card_of(of_scores(2.0, 0.0), ("weights", 0, 1)).table
    assert [row.name for row in table.rows][1] == "e^{s}"


@pytest.mark.parametrize("scores", [(0.0, 0.5, 7.0), (0.1, 0.2, 0.3), (2.0, 2.0), (0.0, -20.0)])
def test_a_total_is_written_one_way(scores):
    view = of_scores(*scores)
    for j in range(len(scores)):
        card = card_of(view, ("weights", 0, j))
        _, powers, shares = card.table.rows
        assert shares.total == "Σ 1" and shares.others[0] == "1"
        total = powers.total.removeprefix("Σ ")
        assert powers.others[0] == total
        assert f" ÷ {total} = " in card.lines[0]
        assert card.chain[-1].how.endswith(f" ÷ {total}")
        decimals = {len(text.partition(".")[2]) for text in powers.cells if "e−" not in text}
        assert len(total.partition(".")[2]) in decimals


def test_the_rest_of_a_long_sum_is_that_of_the_terms_not_sent():
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(1, 300)), rng.normal(size=(400, 300)), rng.normal(size=(400, 1))
    view = View.of(scaled_dot_product_attention(Q, K, V))
    products = [q * k for q, k in zip(Q[0], K[7], strict=True)]
    largest = sorted(range(300), key=lambda k: -abs(products[k]))
    table = card_of(view, ("scores", 0, 7), DIGITS).table
    assert (table.count, len(table.heads)) == (300, 16)
    assert [table.heads[k] for k in table.order] == [str(k + 1) for k in largest[:16]]
    for kept in range(17):
        rest = math.fsum(products[k] for k in largest[kept:])
        assert near(value_of(table.rows[2].others[kept]), rest)
    table = card_of(view, ("weights", 0, 7), DIGITS).table
    weights = view.stages["weights"][0]
    assert table.heads[table.order[0]] == "8"  # the chosen one is never left out
    for kept in (1, 16):
        others = [int(table.heads[k]) - 1 for k in table.order[:kept]]
        rest = math.fsum(w for k, w in enumerate(weights) if k not in others)
        assert near(value_of(table.rows[2].others[kept]), rest)


def test_a_rest_that_cancels_is_0():
    view = View.of(scaled_dot_product_attention([[9, 0.1, 0.2, -0.3]], [[1.0] * 4], [[1.0]]))
    assert card_of(view, ("scores", 0, 0)).table.rows[2].others[1] == "0"


@pytest.mark.parametrize(
    ("others", "rest"),
    [([math.inf, 1], "∞"), ([-math.inf, 1], "−∞"), ([1e308, 1e308, -1e308], "∞")],
)
def test_a_rest_beyond_all_numbers_is_not_0(others, rest):
    Q = [[math.nan, *others]]
    view = View.of(scaled_dot_product_attention(Q, np.ones_like(Q), [[1.0]]))
    assert card_of(view, ("scores", 0, 0)).table.rows[2].others[1] == rest


def test_numbers_on_a_card_have_the_decimals_of_the_board():
    view = CASES["cat-sat"]
    card = card_of(view, ("scaled", 2, 1))
    assert card.lines == ("2 ÷ √4 = 2 ÷ 2 = 1.00",)
    assert card.note == messages.WHY_DIVIDE.format(d_k=4)
    assert [(link.name, link.how, link.text) for link in card.chain] == [
        ("score", "4 products, added up", "2"),
        ("scaled", "2 ÷ √4", "1.00"),
        ("weight", "e^{1.00} ÷ 5.76", "0.47"),
    ]


@pytest.mark.parametrize(
    ("name", "cell", "title"),
    [
        ("cat-sat", ("scores", 2, 1), "Score of “sat” with “cat”"),
        ("cat-sat", ("scores", 2, 2), "Score of “sat” with itself"),
        ("cat-sat", ("weights", 2, 1), "Weight of “cat” for “sat”"),
        ("cat-sat", ("weights", 2, 2), "Weight of “sat” for itself"),
        ("cat-sat", ("weights", 0, 4), "Weight of the second “the” for the first “the”"),
        ("cat-sat", ("output", 2, 0), "Output of “sat”, number 1"),
        ("cat-sat", ("K", 1, 1), "Key of “cat”, number 2"),
        ("cat-sat", ("W_K", 1, 0), "W_K, row 2, column 1"),
        ("biases", ("b_K", 0, 1), "b_K, number 2"),
        ("positions", ("X_P", 2, 0), "Embedding of “man” with its position, number 1"),
        ("W_O", ("projected", 1, 2), "Answer of “cat”, number 3"),
        ("W_O", ("joined", 1, 2), "Outputs of all heads of “cat”, number 3"),
        ("alibi", ("mask", 2, 0), "Mask of the second “tick” and the first “tick”"),
        ("T5", ("R", 1, 0), "R, bucket 1 (key − query: −1)"),
        ("sum", ("context", 0, 1), "Sum of all outputs, number 2"),
        ("prepared", ("K_rotated", 0, 1), "Rotated key of “w1”, number 2"),
    ],
)
def test_a_title_names_words_and_numbers(name, cell, title):
    assert title_of(card_of(CASES[name], cell)) == title


def test_a_key_of_another_sequence_is_not_the_query_itself():
    words = ("the", "cat")
    ones = dict.fromkeys("QKV", Matrix(np.ones((2, 1))))
    s = replace(WORDS, tokens=words, matrices=ones, mask="causal")
    for memory, other in (((), "itself"), (words, "“cat”")):
        view = view_of(replace(s, memory_tokens=memory))
        assert view.crossed == bool(memory)
        assert title_of(card_of(view, ("scores", 1, 1))) == f"Score of “cat” with {other}"
        assert strip_of(view, 1).keys == memory
    assert card_of(view, ("mask", 0, 1)).note == messages.WILL_BE_HIDDEN.format(
        key="cat", query="the"
    )


def test_a_title_marks_which_word_is_query_and_which_key():
    marked = [
        ("Weight of ", ""),
        ("“cat”", "key"),
        (" for ", ""),
        ("“sat”", "query"),
    ]
    assert list(card_of(CASES["cat-sat"], ("weights", 2, 1)).title) == marked
    assert card_of(CASES["cat-sat"], ("V", 2, 1)).title[1] == ("“sat”", "key")
    assert card_of(CASES["cat-sat"], ("scores", 2, 2)).title[3] == ("itself", "")


@pytest.mark.parametrize(
    ("name", "cell", "note"),
    [
        ("random-qkv", ("masked", 0, 1), messages.COMES_AFTER.format(key="name", query="My")),
        ("softmax", ("masked", 1, 1), messages.WILL_BE_HIDDEN.format(key="k2", query="masked")),
        ("softmax", ("weights", 1, 1), messages.IS_HIDDEN.format(key="k2", query="masked")),
        ("random-qkv", ("masked", 1, 0), messages.SCORE_STAYS),
        ("alibi", ("masked", 2, 0), messages.BIAS_ADDED.format(stage="scaled")),
        ("fill", ("masked", 0, 1), messages.FILL_ADDED),
        ("no key", ("weights", 0, 1), messages.SEES_NO_KEY.format(query="w1", what="all its")),
        ("bare-bones", ("weights", 0, 1), messages.SOFTMAX_OFF),
        ("sigmoid", ("weights", 0, 1), messages.CARD_EACH_BY_ITSELF),
        ("score_mod", ("weights", 1, 0), messages.GIVEN_FUNCTION_WEIGHS),
        ("four-words", ("weights", 0, 1), messages.LARGEST_IS_SUBTRACTED),
        ("sinks", ("weights", 5, 0), messages.CARD_SINK_TAKES.format(share="64%")),
        ("sum", ("scaled", 0, 0), messages.CHOSEN_SCALE),
        ("cap and sink", ("capped", 0, 0), messages.CAP_KEEPS.format(cap=20)),
        ("W_O", ("joined", 0, 2), messages.OF_HEAD.format(column=1, head=1)),
        ("cat-sat", ("K", 0, 0), messages.SHOWN_TURNED),
    ],
)
def test_a_note_says_why(name, cell, note):
    assert card_of(CASES[name], cell).note == note


def test_an_input_says_whether_it_can_be_typed():
    view = CASES["cat-sat"]
    assert card_of(view, ("W_Q", 0, 0)).note == messages.INPUT
    assert card_of(view, ("W_Q", 0, 0), editable=True).note == messages.TAP_TO_CHANGE
    given = card_of(CASES["lookup"], ("K", 0, 0), editable=True)
    assert given.note == f"{messages.TAP_TO_CHANGE} {messages.SHOWN_TURNED}"


def test_weights_that_are_given_say_so():
    alone = CASES["softmax"].only(("mask", "weights"))
    card = card_of(alone, ("weights", 0, 1))
    assert (card.note, card.table, card.chain) == (messages.WEIGHT_GIVEN, None, ())
    assert card_of(alone, ("mask", 1, 1)).note == messages.HIDDEN_BY_WEIGHTS
    assert card_of(alone, ("mask", 0, 1)).note == messages.NOT_HIDDEN
    assert card_of(alone, ("weights", 1, 1)).note == messages.WEIGHT_GIVEN


def test_padding_is_not_said_to_come_later():
    padded = view_of(replace(WORDS, padding=(1, 2, 3)))
    expected = messages.WILL_BE_HIDDEN.format(key="w4", query="w1")
    assert card_of(padded, ("masked", 0, 3)).note == expected
    both = view_of(replace(WORDS, padding=(3,), mask="causal"))
    assert card_of(both, ("masked", 0, 3)).note == expected
    later = messages.COMES_AFTER.format(key="w3", query="w1")
    assert card_of(both, ("masked", 0, 2)).note == later


@pytest.mark.parametrize(
    ("scores", "filled", "more", "expected"),
    [
        ([0, 2], [1], {}, messages.FILL_ADDED),
        ([0, 0], [0, 1], {}, messages.FILL_ADDED_TO_ALL.format(weight="0.50")),
        ([0, 1e9], [1], {}, messages.FILL_ADDED_TO_ALL.format(weight="0.50")),
        ([0, 0], [0, 1], {"sinks": 0.0}, messages.FILL_ADDED),
        ([0, 0], [0, 1], {"softmax": "sigmoid"}, messages.FILL_ADDED),
        ([0, 2], [1], {"softmax": False}, messages.FILL_IS_WEIGHT),
    ],
)
def test_a_fill_is_said_to_do_what_the_weights_show(scores, filled, more, expected):
    bias = np.zeros((1, 2))
    bias[0, filled] = -1e9
    for stage in ("mask", "masked"):
        assert card_of(of_scores(*scores, bias=bias, **more), (stage, 0, 1)).note == expected


@pytest.mark.parametrize("score", [math.inf, -math.inf, math.nan])
def test_no_infinity_is_taken_from_another(score):
    Q, K = np.array([[score]]), np.array([[1.0], [1.0]])
    allowed = np.array([[True, False]])
    view = View.of(scaled_dot_product_attention(Q, K, np.ones((2, 1)), allowed=allowed, scale=1))
    card = card_of(view, ("masked", 0, 1))
    assert card.lines == ("hidden: −∞",)
    assert [link.how for link in card.chain if link.chosen] == ["hidden"]


def test_a_bias_is_a_term_of_its_own():
    view = CASES["biases"]
    table = card_of(view, ("Q", 5, 2)).table
    assert table.heads[-1] == "b_Q" and [row.cells[-1] for row in table.rows[:2]] == ["", ""]
    assert table.rows[2].cells[-1] == number(view.stages["b_Q"][0, 2])


def test_a_sink_has_a_column_that_takes_the_rest():
    view = CASES["sinks"]
    table = card_of(view, ("weights", 5, 0), DIGITS).table
    rest = 1 - math.fsum(view.stages["weights"][5])
    assert table.heads[-1] == "sink" and near(value_of(table.rows[2].cells[-1]), rest)


def test_hidden_keys_are_marked_and_add_nothing():
    card = card_of(CASES["random-qkv"], ("weights", 1, 0))
    assert card.table.hidden == (False, False, True, True)
    assert [row.cells[3] for row in card.table.rows] == ["−∞", "0", "0"]
    output = card_of(CASES["random-qkv"], ("output", 1, 0))
    assert output.table.heads == ("My", "name")


@pytest.mark.parametrize("name", few(CASES))
def test_a_card_goes_through_json_as_it_is(name):
    view = CASES[name]
    for cell in cells(view):
        card = asdict(card_of(view, cell))
        back = json.loads(json.dumps(card))
        assert back["title"] == [list(part) for part in card["title"]]
        assert back["value"] == card["value"]
