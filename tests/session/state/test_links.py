"""A link is the whole state: it comes back to the bit, and a broken one gives sentences, never an
error. Of what may stand in a parameter a share by seed; all of it with THOROUGH=1.
"""

import base64
import json
import tracemalloc
import zlib
from dataclasses import fields, replace
from itertools import product
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlencode

import messages
import numpy as np
import pytest
from amount import amount, some
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

import attention
from attention.core.masks import MASKS
from attention.exports.tables import to_csv, to_npz
from attention.figures.panes.panes import panes
from attention.frameworks.diagnosis.mistakes import BY_NAME
from attention.limits import LIMIT, MAX_LINK, BadInput
from attention.samples import words as by_word
from attention.samples.variance import DISTRIBUTIONS
from attention.samples.weights import INITIALISERS
from attention.samples.words import KINDS
from attention.session.edit import changes
from attention.session.state import matrix
from attention.session.state import settings as inputs
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.links import (
    CODECS,
    MATRICES,
    address,
    from_file,
    read,
    read_matrix_text,
    to_file,
    write,
    write_matrix,
)
from attention.session.state.matrix import WORDS, Matrix, Recipe, WordRows
from attention.session.state.run import run, view
from attention.session.state.settings import DRAWN, Settings
from attention.session.state.validate import check

# ---- there and back -----------------------------------------------------------------------------

words = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8).filter(
    str.strip
)
numbers = st.floats(-LIMIT, LIMIT)


@st.composite
def matrices(draw, shape, batch=0):
    """Typed, rolled, or rolled and then edited; with as many items as the batch has."""
    kind = draw(st.sampled_from(["typed", "integers", *INITIALISERS]))
    stream = draw(st.sampled_from(["", *MATRICES]))
    if batch or kind == "typed":
        some = draw(st.lists(numbers, min_size=1, max_size=6))
        return Matrix(np.resize(some, (batch, *shape) if batch else shape))
    low = draw(st.integers(-5, 5) | st.floats(-100, 100))
    rolled = Matrix.rolled(
        shape,
        Recipe(kind, draw(st.integers(0, 2**32 - 1)), low, low + draw(st.floats(2, 50)), stream),
    )
    if draw(st.booleans()):
        rolled = Matrix(rolled.edited((0, -1), draw(numbers)).values)
    return rolled


@st.composite
def states(draw):
    """Settings with every field drawn at random, and every kind of matrix."""
    typed, crossed, batch = (
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.sampled_from([0, 0, 1, 2])),
    )
    tokens = tuple(draw(st.lists(words, min_size=1, max_size=4)))
    memory_tokens = tuple(draw(st.lists(words, min_size=1, max_size=4))) if crossed else ()
    heads = draw(st.integers(1, 2))
    d_model, d_k, d_v = (draw(st.integers(1, 3)) for _ in range(3))
    n_q, n_k, width_k, width_v = len(tokens), len(memory_tokens or tokens), heads * d_k, heads * d_v
    if typed:
        shapes = {"Q": (n_q, width_k), "K": (n_k, width_k), "V": (n_k, width_v)}
    else:
        shapes = {
            "X": (n_q, d_model),
            "W_Q": (d_model, width_k),
            "W_K": (d_model, width_k),
            "W_V": (d_model, width_v),
        }
        shapes |= {"memory": (n_k, d_model)} if crossed else {}
    by_word = {}
    for name, words_of in (("X", tokens), ("memory", memory_tokens)):
        if name in shapes and not batch and draw(st.booleans()):
            recipe = Recipe(draw(st.sampled_from(list(KINDS))), seed=4, stream=WORDS)
            rows = WordRows(words_of, tokens + memory_tokens)
            by_word[name] = Matrix.rolled(shapes[name], recipe, rows)
            if draw(st.booleans()):
                by_word[name] = by_word[name].edited((0, 0), draw(numbers))
    if draw(st.booleans()):
        shapes["W_O"] = (width_v, draw(st.integers(1, 3)))
    mask = draw(st.sampled_from([*MASKS, DRAWN]))
    cells = st.lists(st.booleans(), min_size=n_q * n_k, max_size=n_q * n_k)
    return check(
        Settings(
            example=draw(st.sampled_from(list(EXAMPLES))),
            tokens=tokens,
            memory_tokens=memory_tokens,
            matrices={
                name: draw(matrices(shape, 0 if name[0] == "W" else batch))
                for name, shape in shapes.items()
            }
            | by_word,
            heads=heads,
            scale=draw(st.none() | st.floats(1e-300, 1e6)),
            mask=mask,
            padding=tuple(draw(st.lists(st.integers(0, n_k - 1), unique=True))),
            drawn=inputs.as_drawn(np.reshape(draw(cells), (n_q, n_k))) if mask == DRAWN else (),
            fill=draw(st.sampled_from(["-inf", "-1e9"])),
            softmax=draw(st.booleans()),
            context=draw(st.booleans()),
            item=draw(st.integers(0, max(batch - 1, 0))),
            head=draw(st.integers(0, heads - 1)),
            query=draw(st.integers(0, n_q - 1)),
            cell=draw(
                st.none() | st.just(("scores", n_q - 1, n_k - 1)) | st.just(("output", 0, d_v - 1))
            ),
            digits=draw(st.integers(0, 10)),
            sample_d_k=draw(st.integers(1, 1024)),
            samples=draw(st.integers(10, 10_000)),
            distribution=draw(st.sampled_from(list(DISTRIBUTIONS))),
            sample_seed=draw(st.integers(0, 2**32 - 1)),
        )
    )


@st.composite
def compared(draw):
    """A state beside another, which may share much with it."""
    state = draw(states())
    near = replace(state, mask="none", drawn=(), scale=2.0, digits=4)
    pinned = draw(states() | st.just(check(near)))
    return check(replace(state, pinned=pinned, mistake=draw(st.sampled_from(["", *BY_NAME]))))


@profile(max_examples=amount(50, 150))
@given(states() | compared())
def test_a_link_is_the_whole_state(state):
    link = write(state)
    assert all(isinstance(text, str) for text in link.values())
    travelled = dict(parse_qsl(urlencode(link), keep_blank_values=True, strict_parsing=True))
    again, notices = read(travelled)
    assert notices == []
    assert again == state  # matrices are equal when their bits and recipes are
    assert write(again) == link


@profile(max_examples=30)
@given(states() | compared())
def test_a_state_file_is_the_whole_state(state):
    assert from_file(to_file(state)) == state


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_link_of_an_example_is_its_name(name):
    assert write(EXAMPLES[name].build()) == {"example": name}
    assert read({"example": name}) == (EXAMPLES[name].build(), [])


def test_every_field_of_the_settings_travels():
    assert {f.name for f in fields(Settings)} - {
        "example",
        "matrices",
        "drawn_from",
        "pinned",  # by the parameters that begin with a.
    } == set(CODECS) - {"origins"}


def test_a_link_carries_what_differs_and_nothing_else():
    four = EXAMPLES["four-words"].build()
    assert write(replace(four, digits=5, mask="causal")) == {
        "example": "four-words",
        "digits": "5",
        "mask": "causal",
    }
    assert write(four.with_matrix("W_Q", Matrix.rolled((4, 4), Recipe("xavier", 7)))) == {
        "example": "four-words",
        "W_Q": "xavier,7,4x4",
    }


def test_an_edit_after_a_roll_travels_with_its_numbers():
    rolled = Matrix.rolled((4, 4), Recipe("normal", 3)).edited((1, 2), 0.1)
    state = EXAMPLES["four-words"].build().with_matrix("W_K", rolled)
    again, notices = read(write(state))
    assert notices == []
    assert again.matrices["W_K"].values.tobytes() == rolled.values.tobytes()


def test_minus_zero_travels():
    state = (
        EXAMPLES["four-words"]
        .build()
        .with_matrix("W_Q", Matrix.rolled((4, 4), Recipe("identity")).edited((0, 1), -0.0))
    )
    assert (
        read(write(state))[0].matrices["W_Q"].values.tobytes()
        == state.matrices["W_Q"].values.tobytes()
    )


def test_an_edited_batch_fits_no_link_but_its_file():
    batch = EXAMPLES["batch"].build()
    state = batch.with_matrix("Q", batch.matrices["Q"].edited((63, 4, 63), 0.5))
    assert address(state)[1] is False
    assert from_file(to_file(state)) == state


def test_the_widest_matrices_of_the_page_go_through_its_file():
    wide = changes.set_dimension(
        changes.set_dimension(replace(EXAMPLES["four-words"].build(), heads=4), "d_k", 64),
        "d_v",
        64,
    )
    state = check(changes.set_output_weights(wide, True))
    state = state.with_matrix("W_O", Matrix(np.random.default_rng(0).normal(size=(256, 256))))
    assert from_file(to_file(state)) == state


@pytest.mark.parametrize("letter", ["x", "ä", "字"])
def test_a_link_is_short_enough_up_to_its_limit(letter):
    """The address is counted as it is sent: ä takes six characters there."""
    base = EXAMPLES["four-words"].build()
    for count in range(1, 65):
        tokens = (letter * 40,) * count
        X = Matrix.rolled((count, 4), Recipe("normal"))
        state = check(replace(base, tokens=tokens).with_matrix("X", X))
        link, whole = address(state)
        assert whole == (len(urlencode(write(state))) <= MAX_LINK)
        assert link == write(state) if whole else set(link) == {"example", "partial"}


def test_states_too_large_for_a_link_are_marked_apart():
    batch = EXAMPLES["batch"].build()
    states = [batch.with_matrix("Q", batch.matrices["Q"].edited((k, 0, 0), 0.5)) for k in range(3)]
    states.append(replace(states[0], digits=7))
    marks = {address(state)[0]["partial"] for state in states}
    assert len(marks) == 4
    assert address(states[0]) == address(states[0])


def test_a_large_matrix_travels_as_its_bytes():
    values = np.random.default_rng(1).normal(size=(100, 60)) * 1e-9
    text = write_matrix(Matrix(values))
    assert text.startswith("*100x60*")
    assert read_matrix_text(text, "X").values.tobytes() == values.tobytes()
    edited = Matrix.rolled((100, 60), Recipe("normal", 3)).edited((0, 0), 7)
    again = read_matrix_text(write_matrix(edited), "X")
    assert again == edited


def raw(shape: str, content: bytes) -> str:
    return f"*{shape}*" + base64.urlsafe_b64encode(zlib.compress(content, 9)).decode().rstrip("=")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*", messages.DAMAGED_PARAMETER.format(name="X")),
        ("*2x2*", messages.DAMAGED_PARAMETER.format(name="X")),
        (raw("2x2", bytes(31)), messages.DAMAGED_PARAMETER.format(name="X")),
        (raw("2x2", bytes(33)), messages.INFLATES_TOO_FAR.format(name="X", limit=32)),
        (raw("2x2", bytes(50_000_000)), messages.INFLATES_TOO_FAR.format(name="X", limit=32)),
        (raw("0x2", b""), messages.DAMAGED_PARAMETER.format(name="X")),
        (raw("4097x2", bytes(4097 * 16)), messages.DAMAGED_PARAMETER.format(name="X")),
        (
            raw("64x512x512", b""),
            messages.MATRICES_TOO_LARGE.format(found="16,777,216", limit="1,572,864"),
        ),
        (raw("1x2", np.array([1, np.nan]).tobytes()), messages.NOT_FINITE.format(name="X")),
        (
            raw("1x1", np.array([1.0]).tobytes())[:-6],
            messages.DAMAGED_PARAMETER.format(name="X"),
        ),
        ("=" * 1_000_000, messages.DAMAGED_PARAMETER.format(name="X")),
        ("normal,1,2x2=" * 3 + "1 2;3 4", messages.DAMAGED_PARAMETER.format(name="X")),
    ],
)
def test_a_broken_large_matrix_is_one_sentence_and_little_memory(text, message):
    tracemalloc.start()
    with pytest.raises(BadInput) as refused:
        read_matrix_text(text, "X")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(refused.value) == message
    assert peak < 10_000_000


# ---- what a link leaves out ----------------------------------------------------------------------

FOUR = {"example": "four-words"}


@pytest.mark.parametrize("link", [{}, {"embed": "true"}, {"colour": "red"}, {"digits": "3"}])
def test_a_link_without_an_example_is_of_the_first(link):
    assert read(link)[0] == replace(EXAMPLES[FIRST].build(), digits=int(link.get("digits", 2)))


def test_a_recipe_says_which_way_of_drawing_it_means():
    four = EXAMPLES["four-words"].build()
    state = four.with_matrix("W_Q", Matrix.rolled((4, 4), Recipe("normal", 7, stream="W_Q")))
    link = {"example": "four-words", "W_Q": "normal.W_Q,7,4x4"}
    assert write(state) == link
    assert read(link) == (state, [])
    by_seed = read({"example": "four-words", "W_Q": "normal,7,4x4"})[0]
    plain = np.random.default_rng(7).standard_normal((4, 4))
    assert by_seed.matrices["W_Q"].values.tolist() == plain.tolist()
    assert not (state.matrices["W_Q"].values == plain).any()


# ---- broken links -------------------------------------------------------------------------------


def packed(text: str) -> str:
    return "~" + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


FOUR_BY_FOUR = "1_2_3_4;1_2_3_4;1_2_3_4;1_2_3_4"
HOSTILE = [
    "",
    " ",
    "none",
    "0",
    "1",
    "-1",
    "3",
    "7",
    "999999999999",
    "9" * 1000,
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1e-999",
    "0.5",
    "sqrt",
    "true",
    "drawn",
    "causal",
    "[",
    "]",
    "{}",
    "null",
    '"',
    "a" * 1000,
    "é",
    "\x00",
    "\ud800",
    "<script>",
    "%00",
    "../..",
    '"a","b","c","d"',
    '"a"',
    r'"\ud800","b","c","d"',
    r'"\u0000","b","c","d"',
    '"",""',
    "1,2",
    '["a"]',
    '"a"],["b"',
    "[" * 5000,
    "1.2.3",
    "0.1",
    "-1",
    "0.0.0",
    "1000",
    "1111.1111.1111.1111",
    "10.01",
    "11.1",
    "2",
    "scores,0,0",
    "scores,9,9",
    "scores,-1,0",
    "X,0,0",
    "W_O,0,0",
    "evil,0,0",
    "scores,0",
    "scores,0,0,0",
    ",,",
    "context,0,0",
    "normal,1,4x4",
    "normal,1,999x999",
    "normal,99999999999,4x4",
    "integers,1,4x4,5,2",
    "integers,1,4x4,0.2,0.8",
    "identity,0,0x4",
    "identity,0,256x256",
    "uniform,1,4x4,-1e12,1e12",
    "uniform,1,4x4,-1e308,1e308",
    "evil,1,4x4",
    "normal.evil,1,4x4",
    "normal.,1,4x4",
    "normal.W_Q,1,4x4",
    "normal,1,4x4,nan,nan",
    "normal,1,64x1",
    FOUR_BY_FOUR,
    "!" + FOUR_BY_FOUR,
    "!" + FOUR_BY_FOUR + "!" + FOUR_BY_FOUR,
    "!",
    "!!",
    "!1!1_2",
    "1;2_3",
    "1_2",
    "!" * 5000,
    "~",
    "~A",
    "~====",
    "~" + "A" * 999,
    packed(FOUR_BY_FOUR),
    packed(FOUR_BY_FOUR)[:-4],
    packed("\xff"),
    packed("0" * 5_000_000),
    packed(("0 " * 256 + ";") * 3000),
    packed("]" + " " * 1_000_000),
    packed("1" * 1_000_000 + "x"),
    packed("!0" * 900_000),
    packed(";".join(["1e12_1e12_1e12_1e12"] * 4)),
    ";".join(["-1e12_1e12_1e-300_0"] * 4),
]
PARAMETERS = ["example", *CODECS, *MATRICES]


def ignored(what, why):
    """The sentence about parameters of a link that could not be used, with its full stop."""
    return messages.PASSED_OVER.format(what=what, why=why + "." * (why[-1] not in ".…"))


def stands(state, notices):
    """Whatever came, the page can be drawn from it, linked to and exported."""
    assert check(state) == state
    trace = run(state)
    now = view(state, trace)
    assert all(matrix.ndim == 2 for matrix in now.stages.values())
    for sentence in notices:
        assert 10 < len(sentence) < 320
        assert "\n" not in sentence
        assert sentence.endswith((".", "…"))
    address(state)
    return trace, now


@pytest.mark.parametrize(
    ("parameter", "example"), some(product(PARAMETERS, ["four-words", "lookup", "batch"]), of=12)
)
def test_no_text_in_a_parameter_breaks_the_page(parameter, example):
    for text in HOSTILE:
        state, notices = read({"example": example, parameter: text})
        stands(state, notices)


@profile(max_examples=amount(100, 300))
@given(
    st.dictionaries(
        st.sampled_from(PARAMETERS), st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=6
    )
)
def test_no_mixture_of_texts_breaks_the_page(link):
    state, notices = read(link)
    trace, now = stands(state, notices)
    panes(now, query=state.query, cell=state.cell)
    to_csv(now)
    to_npz(trace)


def test_large_states_that_differ_in_one_part_have_marks_of_their_own():
    four = EXAMPLES["four-words"].build()
    many = np.random.default_rng(0).standard_normal((4, 400))
    wide = four.with_matrix("W_V", Matrix(many))
    one = ({"softcap": 2.0}, {"window": 2}, {"sinks": (2.0,)}, {"window": 1}, {"alibi": True})
    marks = [address(replace(wide, **part))[0]["partial"] for part in one]
    assert len(set(marks)) == len(one)


@given(st.dictionaries(st.text(max_size=10), st.text(max_size=10), max_size=4))
def test_unknown_parameters_are_passed_over_with_a_notice(link):
    stands(*read(link))


@profile(max_examples=amount(40, 100))
@given(st.data())
def test_a_real_link_with_a_damaged_place_breaks_nothing(data):
    link = write(data.draw(states()))
    name = data.draw(st.sampled_from(sorted(link)))
    at = data.draw(st.integers(0, len(link[name])))
    link[name] = (
        link[name][:at]
        + data.draw(st.text(max_size=3))
        + link[name][at + data.draw(st.integers(0, 3)) :]
    )
    stands(*read(link))


@profile(max_examples=amount(40, 100))
@given(st.data())
def test_two_links_mixed_break_nothing(data):
    one, two = write(data.draw(states())), write(data.draw(states()))
    link = {name: data.draw(st.sampled_from([one, two])).get(name) for name in {**one, **two}}
    stands(*read({name: text for name, text in link.items() if text is not None}))


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_packed_matrix_that_was_cut_off_is_damaged_not_another_matrix(cut):
    text = packed("0.123456789 2 3 4;5 6 7 8;9 10 11 12;13 14 15 16.123456789")[:-cut]
    state, notices = read(FOUR | {"X": text})
    assert state == EXAMPLES["four-words"].build()
    assert notices == [
        ignored(what="parameter X was", why=messages.DAMAGED_PARAMETER.format(name="X"))
    ]


@pytest.mark.parametrize(
    "text",
    [
        packed("0" * 50_000_000),
        packed("0;" * 900_000),
        packed("!0" * 900_000),
        packed("]" + " " * 1_900_000 + "x"),
        "!" * 100_000,
    ],
)
def test_a_bomb_is_refused(text):
    state, notices = read(FOUR | {"X": text})
    assert state == EXAMPLES["four-words"].build()
    assert len(notices) == 1


NOTICES = [
    (
        {"example": "x" * 50},
        messages.UNKNOWN_EXAMPLE.format(name=f"{'x' * 39}…"),
    ),
    ({"colour": "red"}, messages.UNKNOWN_PARAMETER.format(name="colour", verb=" is", were="was")),
    (
        {"heads": "two"},
        ignored(what="parameter heads was", why=messages.WHOLE_NUMBER_WANTED),
    ),
    (
        {"softmax": "yes"},
        ignored(what="parameter softmax was", why=messages.SOFTMAX_WANTED),
    ),
    (
        {"tokens": "a,b"},
        ignored(what="parameter tokens was", why=messages.UNREADABLE_PARAMETER),
    ),
    (
        {"tokens": "1,2"},
        ignored(what="parameter tokens was", why=messages.QUOTED_WORDS_WANTED),
    ),
    (
        {"scale": "big"},
        (
            ignored(
                what="parameter scale was",
                why=messages.NOT_A_NUMBER.format(place="it", found="big"),
            )
        ),
    ),
    (
        {"X": "evil,1,4x4"},
        (
            ignored(
                what="parameter X was",
                why=messages.UNKNOWN_INITIALISER.format(
                    name="'evil'", known=", ".join(INITIALISERS)
                ),
            )
        ),
    ),
    (
        {"X": "identity,0,0x4"},
        ignored(
            what="parameter X was",
            why=messages.SIZE_OUT_OF_RANGE.format(name="X", size="0 × 4", most="4,096"),
        ),
    ),
    (
        {"X": "!1!1_2"},
        ignored(what="parameter X was", why=messages.ITEMS_DIFFER.format(name="X")),
    ),
    (
        {"X": "!0" * 65},
        ignored(
            what="parameter X was", why=messages.TOO_MANY_ITEMS.format(name="X", found=65, limit=64)
        ),
    ),
    (
        {"heads": "3"},
        (
            ignored(
                what="parameter heads was",
                why=messages.HEADS_DO_NOT_DIVIDE.format(heads=3, possible_heads="1, 2, 4"),
            )
        ),
    ),
    (
        {"padding": "9"},
        ignored(what="parameter padding was", why=messages.NO_SUCH_KEY.format(key=10, keys=4)),
    ),
]


@pytest.mark.parametrize(("link", "sentence"), NOTICES)
def test_each_refusal_is_one_sentence_and_leaves_the_example(link, sentence):
    there = EXAMPLES[FIRST if "example" in link else "four-words"].build()
    assert read(FOUR | link) == (there, [sentence])


# Of 64 sequences of five tokens: what a link asks for, the nearest there is, what is said.
BEYOND = {
    "item": (
        "64",
        63,
        messages.PULLED_BACK.format(name="item", asked=64, least=0, most=63, taken=63),
    ),
    "head": ("-1", 0, messages.ONLY_ONE_ALLOWED.format(name="head", asked=-1, only=0, taken=0)),
    "query": ("5", 4, messages.PULLED_BACK.format(name="query", asked=5, least=0, most=4, taken=4)),
    "digits": (
        "11",
        10,
        messages.PULLED_BACK.format(name="digits", asked=11, least=0, most=10, taken=10),
    ),
    "sample_d_k": (
        "0",
        1,
        messages.PULLED_BACK.format(name="sample_d_k", asked=0, least=1, most="1,024", taken=1),
    ),
    "samples": (
        "1000000",
        10_000,
        messages.PULLED_BACK.format(
            name="samples", asked="1,000,000", least=10, most="10,000", taken="10,000"
        ),
    ),
}


def test_a_key_that_is_padding_twice_is_so_once():
    state, notices = read({"example": "four-words", "padding": "1.3.1"})
    assert (state.padding, notices) == ((1, 3), [])


@pytest.mark.parametrize("name", BEYOND)
def test_a_number_out_of_range_is_pulled_back_and_said(name):
    text, taken, said = BEYOND[name]
    state, notices = read({"example": "batch", name: text})
    assert state == check(replace(EXAMPLES["batch"].build(), **{name: taken}))
    assert notices == [said]


def test_the_widest_numbers_a_link_may_ask_for_pass_in_silence():
    state = EXAMPLES["batch"].build()
    for end in (0, 1):
        asked = {name: ends[end] for name, ends in inputs.bounds(state).items()}
        link = {"example": "batch"} | {name: str(value) for name, value in asked.items()}
        assert read(link) == (replace(state, **asked), [])


def test_a_number_beyond_what_a_refused_parameter_would_have_made_room_for_is_said_as_well():
    state, notices = read(FOUR | {"heads": "3", "head": "2"})
    assert (state.heads, state.head) == (1, 0)
    assert notices == [
        (
            ignored(
                what="parameter heads was",
                why=messages.HEADS_DO_NOT_DIVIDE.format(heads=3, possible_heads="1, 2, 4"),
            )
        ),
        messages.ONLY_ONE_ALLOWED.format(name="head", asked=2, only=0, taken=0),
    ]


def test_what_can_be_used_is_used_beside_what_cannot():
    state, notices = read(FOUR | {"digits": "4", "heads": "x", "mask": "causal"})
    assert (state.digits, state.heads, state.mask, len(notices)) == (4, 1, "causal", 1)


# Of four words in one head: what a link asks for, and what is said of it.
MISSING = [
    (
        "cell",
        "scores,4,0",
        messages.CELL_NOT_THERE.format(stage="scores", size="4 × 4", row=4, column=0),
    ),
    (
        "cell",
        "scores,0,-1",
        messages.CELL_NOT_THERE.format(stage="scores", size="4 × 4", row=0, column=-1),
    ),
    ("cell", "W_O,0,0", messages.STAGE_NOT_SHOWN.format(stage="W_O")),
    ("cell", "evil,0,0", messages.STAGE_NOT_SHOWN.format(stage="evil")),
    ("paper_stages", "x", messages.NO_SUCH_STAGE.format(stage="x")),
    ("paper_stages", f"{'x' * 99} y", messages.NO_SUCH_STAGE.format(stage="x" * 39 + "…")),
    ("paper_heads", "99999", messages.HEAD_NOT_THERE.format(head="99,999", last=0)),
    ("paper_heads", "-1", messages.HEAD_NOT_THERE.format(head=-1, last=0)),
]


@pytest.mark.parametrize(("name", "text", "why"), MISSING)
def test_a_cell_stage_or_head_that_is_not_there_is_said(name, text, why):
    there = EXAMPLES["four-words"].build()
    there = replace(there, paper_stages=()) if name == "paper_stages" else there
    said = messages.NOT_THERE.format(prefix="", name=name, why=why)
    assert read(FOUR | {name: text}) == (there, [said])


@pytest.mark.parametrize("name", ["example", "cell", "paper_stages", "paper_heads", "query"])
def test_of_what_is_pinned_the_sentence_names_the_parameter_as_the_link_does(name):
    beyond = {"cell": "scores,99,0", "paper_stages": "x", "paper_heads": "9", "query": "99"}
    beyond["example"] = "gone"
    state, (sentence,) = read({"a.softcap": "2", f"a.{name}": beyond[name]})
    assert state.pinned.softcap == 2
    assert sentence.startswith(messages.PARAMETER_BEGINS.format(name=f"a.{name}"))


@pytest.mark.parametrize(
    "link",
    [
        {"heads": "3", "cell": "W_O,0,0", "paper_heads": "2"},
        {"tokens": '"a","b","c","d","e"', "cell": "scores,4,4"},
        {"X": "1", "cell": "X,9,9"},
        {"example": "gone", "cell": "scores,9,9"},
        {"partial": "0" * 24, "cell": "scores,9,9"},
    ],
)
def test_a_cell_that_a_refused_parameter_would_have_brought_is_not_said_twice(link):
    state, notices = read(FOUR | link)
    assert state.cell is None
    assert len(notices) == 1


@pytest.mark.parametrize("other", [{"colour": "red"}, {"scale": "0"}, {"digits": "x"}])
def test_a_cell_that_is_not_there_is_said_beside_a_parameter_that_brings_none(other):
    _, notices = read(FOUR | {"cell": "evil,0,0"} | other)
    assert len(notices) == 2
    why = messages.NO_SUCH_STAGE.format(stage="x")
    assert why in read(FOUR | {"heads": "3", "paper_stages": "x"})[1][1]


def test_a_whole_number_that_is_too_long_is_not_said_to_be_none():
    _, notices = read(FOUR | {"heads": "9007199254740993"})
    assert notices == [
        ignored(
            what="parameter heads was", why=messages.TOO_MANY_DIGITS.format(digits=16, limit=12)
        )
    ]


def test_streamlits_own_parameters_pass_in_silence():
    assert read({"embed": "true", "embed_options": "dark_theme"}) == (EXAMPLES[FIRST].build(), [])


def test_a_link_whose_matrices_did_not_fit_says_so():
    state, notices = read({"example": "batch", "partial": "0" * 24})
    assert state == EXAMPLES["batch"].build()
    assert len(notices) == 1
    assert notices[0] == messages.STATE_NOT_KEPT


# ---- broken files -------------------------------------------------------------------------------

REFUSAL = messages.NOT_A_STATE_FILE


@given(st.binary(max_size=40) | st.text().map(lambda t: t.encode("utf-8", "surrogatepass")))
def test_any_other_file_is_refused(content):
    with pytest.raises(BadInput) as refused:
        from_file(content)
    assert str(refused.value) == REFUSAL


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"3",
        b'"link"',
        b"[]",
        b"{}",
        b'{"link": 3}',
        b'{"link": {"heads": 3}}',
        b'{"link": ["a"]}',
        b"[" * 100_000,
        b"1" * 5000,
        b"\xff\xfe",
    ],
)
def test_json_that_is_no_state_is_refused(content):
    with pytest.raises(BadInput) as refused:
        from_file(content)
    assert str(refused.value) == REFUSAL


@given(st.dictionaries(st.sampled_from(PARAMETERS), st.sampled_from(HOSTILE), max_size=4))
def test_a_file_with_broken_parts_gives_sentences(link):
    content = json.dumps({"link": link}).encode()
    _, notices = read(link)
    if notices:
        with pytest.raises(BadInput) as refused:
            from_file(content)
        assert str(refused.value) == messages.DAMAGED_STATE_FILE.format(notices=notices[0], file="")
    else:
        stands(from_file(content), [])


BOMBS = {
    "lists": b'{"link": [' + b"[]," * 2_600_000 + b"[]]}",
    "names": b'{"link": {' + b",".join(b'"%d":"1"' % k for k in range(500_000)) + b"}}",
    "mask": b'{"link": {"drawn": "' + b"1." * 3_900_000 + b'1"}}',
    "padding": b'{"link": {"padding": "' + b"1." * 3_900_000 + b'1"}}',
    "tokens": b'{"link": {"tokens": "' + b"[]," * 2_600_000 + b'1"}}',
    "rows": b'{"link": {"X": "' + b"1;" * 3_900_000 + b'1"}}',
    "recipes": b'{"link": {"X": "' + b"=" * 7_900_000 + b'"}}',
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_state_file_takes_no_memory_it_does_not_need(bomb):
    tracemalloc.start()
    with pytest.raises(BadInput) as refused:
        from_file(BOMBS[bomb])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(str(refused.value)) <= 300
    assert peak < 60_000_000


def test_one_bad_parameter_leaves_the_others_in_force():
    X = "1_2_3_4;5_6_7_8;1_1_1_1;0_0_0_1"
    state, notices = read(
        FOUR | {"X": X, "mask": "causal", "scale": "0", "distribution": "xyz", "digits": "5"}
    )
    assert state.matrices["X"].values.tolist() == [
        [1, 2, 3, 4],
        [5, 6, 7, 8],
        [1, 1, 1, 1],
        [0, 0, 0, 1],
    ]
    assert (state.mask, state.digits, state.scale, state.distribution) == (
        "causal",
        5,
        None,
        "normal",
    )
    assert notices == [
        (ignored(what="parameter scale was", why=messages.SCALE_OUT_OF_RANGE.format(scale=0))),
        (
            ignored(
                what="parameter distribution was",
                why=messages.UNKNOWN_SAMPLE_DISTRIBUTION.format(
                    name="xyz", known="normal, uniform, signs"
                ),
            )
        ),
    ]


def test_parameters_that_only_make_sense_together_are_named_together():
    state, notices = read(FOUR | {"tokens": '"a","b"', "X": "1_2", "digits": "5"})
    assert (state.tokens, state.digits) == (("w1", "w2", "w3", "w4"), 5)
    assert notices == [
        ignored(
            what="parameters tokens, X were",
            why=messages.SIZE_EXPECTED.format(name="X", size="1 × 2", wanted="2 × 2"),
        )
    ]


def test_a_saved_state_opens_to_the_same_numbers_in_a_version_that_draws_others(monkeypatch):
    state = EXAMPLES["sentence"].build()
    content, numbers = to_file(state), {n: m.values.tolist() for n, m in state.matrices.items()}
    other = replace(EXAMPLES["four-words"].build(), digits=7)
    monkeypatch.setattr(matrix, "drawn", lambda kind, shape, *way: np.full(shape, 9.0))
    monkeypatch.setattr(by_word, "word_vectors", lambda tokens, d, *_: np.full((len(tokens), d), 9))
    monkeypatch.setitem(EXAMPLES, "sentence", SimpleNamespace(build=lambda: other))
    opened = from_file(content)
    assert {name: m.values.tolist() for name, m in opened.matrices.items()} == numbers
    assert (opened.tokens, opened.digits) == (state.tokens, state.digits)


def test_labels_of_dimensions_come_from_the_file(monkeypatch):
    state = EXAMPLES["sentence"].build()
    content = to_file(state)
    other = replace(state, names={"d_model": ("a", "b", "c", "d", "e")})
    monkeypatch.setitem(EXAMPLES, "sentence", SimpleNamespace(build=lambda: other))
    assert from_file(content).names == {"d_model": ("noun", "verb", "pronoun", "cos", "sin")}


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ("[]", messages.LABELS_WANTED.format(dimensions="d_model, d_k, d_v, h·d_v, d_out")),
        (
            '{"queries": ["a"]}',
            messages.LABELS_WANTED.format(dimensions="d_model, d_k, d_v, h·d_v, d_out"),
        ),
        ('{"d_k": [3]}', messages.LABELS_TOO_LONG.format(limit=40)),
        (json.dumps({"d_k": ["a" * 41]}), messages.LABELS_TOO_LONG.format(limit=40)),
        ('{"d_k": 3}', messages.UNREADABLE_PARAMETER),
    ],
)
def test_broken_labels_of_dimensions_are_passed_over(names, why):
    state, notices = read({"example": "sentence", "names": names})
    assert state.names == EXAMPLES["sentence"].build().names
    assert notices == [ignored(what="parameter names was", why=why)]


def test_two_files_of_one_state_differ_in_nothing_but_the_date(monkeypatch):
    state, files = EXAMPLES["sentence"].build(), []
    for seconds in ("0", "86400"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", seconds)
        files.append(to_file(state).decode())
    assert '"saved": "1970-01-01"' in files[0]
    assert files[1] == files[0].replace("1970-01-01", "1970-01-02")
    assert json.loads(files[0])["version"] == attention.__version__


@pytest.mark.parametrize("more", [{"link": {"rotation": "1"}}, {"link": 3}, {}])
@pytest.mark.parametrize("version", ["9.1.0", attention.__version__])
def test_a_state_file_of_another_format_is_refused_with_both_numbers(more, version):
    file = json.loads(to_file(EXAMPLES["sentence"].build()))
    assert file.pop("format") == 1 and file.pop("link")
    wrote = messages.WRITTEN_BY_VERSION.format(wrote=version, reads=attention.__version__)
    with pytest.raises(BadInput) as refused:
        from_file(json.dumps(file | {"format": 2, "version": version} | more).encode())
    assert str(refused.value) == (
        messages.OTHER_FORMAT.format(written=2, read=1) + wrote * (version != attention.__version__)
    )


@pytest.mark.parametrize("number", [None, True, 1.0, "1", [1], {}])
def test_a_number_of_a_format_is_a_whole_one(number):
    file = json.loads(to_file(EXAMPLES["sentence"].build()))
    with pytest.raises(BadInput) as refused:
        from_file(json.dumps(file | {"format": number}).encode())
    assert str(refused.value) == REFUSAL


def test_a_state_file_that_says_no_format_has_that_of_this_page():
    """As those that browsers keep, and those of 0.8."""
    state = EXAMPLES["sentence"].build()
    file = json.loads(to_file(state))
    del file["format"]
    assert from_file(json.dumps(file).encode()) == state


@pytest.mark.parametrize("link", [{"example": "gone"}, {"cell": "gone,0,0"}, {"more": "1"}])
def test_a_state_file_that_names_what_is_not_there_is_damaged(link):
    file = json.loads(to_file(EXAMPLES["sentence"].build()))
    file["link"] |= link
    with pytest.raises(BadInput) as refused:
        from_file(json.dumps(file).encode())
    notice = read(file["link"])[1][0]
    assert str(refused.value) == messages.DAMAGED_STATE_FILE.format(notices=notice, file="")


def test_a_damaged_state_of_another_version_says_which_wrote_it():
    file = json.loads(to_file(EXAMPLES["sentence"].build()))
    file["link"]["rotation"] = "1"
    with pytest.raises(BadInput) as refused:
        from_file(json.dumps(file | {"version": "9.1.0"}).encode())
    assert str(refused.value) == (
        messages.DAMAGED_STATE_FILE.format(notices="", file="")
        + messages.UNKNOWN_PARAMETER.format(name="rotation", verb=" is", were="was")
        + messages.WRITTEN_BY_VERSION.format(wrote="9.1.0", reads=attention.__version__)
    )


def test_what_is_compared_has_part_in_the_mark():
    X = Matrix(np.arange(6 * 400.0).reshape(6, 400))
    cat = EXAMPLES["cat-sat"].build()
    large = replace(cat, matrices={**cat.matrices, "X": X}, mask="causal")
    alone = address(large)[0]["partial"]
    beside = address(replace(large, pinned=cat))[0]["partial"]
    wrong = address(replace(large, pinned=cat, mistake="hiding: after softmax"))[0]["partial"]
    assert len({alone, beside, wrong}) == 3
