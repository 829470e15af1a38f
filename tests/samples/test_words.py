"""A sentence becomes the tokens a reader sees, and each word has one vector in every sentence."""

import hashlib
import subprocess
import sys
import unicodedata

import messages
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.samples.words import KINDS, sentence_from, tokens_of, word_key, word_vectors

# ---- tokens -------------------------------------------------------------------------------------

SENTENCES = {
    "the cat sat on the mat": "the cat sat on the mat",
    "The cat sat, didn't it?": "The cat sat , didn't it ?",
    "  don’t\tstop\n\nnow\u3000please ": "don’t stop now please",
    "a state-of-the-art idea - really": "a state-of-the-art idea - really",
    "It cost 3.14, or 1,000.50 (more or less).": "It cost 3.14 , or 1,000.50 ( more or less ) .",
    "Wait... what?! well--known": "Wait ... what ? ! well -- known",
    "50% of $5 & d_model": "50 % of $ 5 & d_model",
    "'tis the dogs' rock'n'roll": "' tis the dogs ' rock'n'roll",
    "猫坐在垫子上。": "猫 坐 在 垫 子 上 。",
    "日本語のテストー": "日 本 語 の テ ス ト ー",
    "GPT是3.5版": "GPT 是 3.5 版",
    "ฉันกินข้าว": "ฉั น กิ น ข้ า ว",
    "ນ້ຳ": "ນ້ຳ",
    "ខ្មែរ": "ខ្មែ រ",
    "မြန်မာ": "မြ န် မာ",
    "한국어 문장": "한국어 문장",
    "Привет, мир": "Привет , мир",
    "مرحبا بالعالم": "مرحبا بالعالم",
    "हिन्दी वाक्य": "हिन्दी वाक्य",
    "می\u200cخواهم": "می\u200cخواهم",
    "Cafe\u0301 x\u0302y": "Cafe\u0301 x\u0302y",
    "👍🏽👍 ok": "👍🏽 👍 ok",
    "👩‍👩‍👧❤️‍🔥": "👩‍👩‍👧 ❤️‍🔥",
    "🇩🇪🇫🇷": "🇩🇪 🇫🇷",
    "葛\U000e0100城": "葛\U000e0100 城",
    "soft\u00adhyphen le\u202eft": "softhyphen left",
    "no\x00control\x1bs": "no control s",
    "\u0301alone \ufe0f": "alone",
    "no\ufffe charac\uffffter": "no character",
    "a\u200bb\ufeff": "a b",
    "": "",
    " \n\t\u200b": "",
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_becomes_the_tokens_a_reader_sees(sentence):
    assert tokens_of(sentence) == tuple(SENTENCES[sentence].split(" ")) * bool(SENTENCES[sentence])


@given(st.text())
def test_no_text_brings_in_spaces_or_control_characters_and_none_loses_a_letter(text):
    tokens = tokens_of(text)
    assert all(tokens)
    for token in tokens:
        assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zs", "Zl", "Zp") for c in token)
    visible = [c for c in text if unicodedata.category(c)[0] in "LN" and c not in "ᅟᅠㅤﾠ"]
    assert [c for c in "".join(tokens) if unicodedata.category(c)[0] in "LN"] == visible


WORDS = [
    "the",
    "Don't",
    "a-b",
    "3.14",
    "(",
    ")",
    ",",
    "...",
    "“",
    "”",
    '"',
    "猫",
    "。",
    "👍🏽",
    "$",
    ".",
]


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_a_sentence_made_from_tokens_reads_as_these_tokens(words):
    tokens = tokens_of(" ".join(words))
    assert tokens_of(sentence_from(tokens)) == tokens


def test_the_sentence_is_set_as_a_person_would_type_it():
    for sentence in ("the cat sat, (didn't it?) on the mat.", "猫坐在垫子上。", "“Yes”, she said!"):
        assert sentence_from(tokens_of(sentence)) == sentence
    assert sentence_from(("a c ?", "b")) == "a c ? b"  # no tokens of a sentence; they are shown
    assert sentence_from(()) == ""


# ---- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The", "the", True),
        ("Cafe\u0301", "CAFÉ", True),
        ("STRASSE", "Straße", True),
        ("cat", "cats", False),
        ("resume", "résumé", False),
    ],
)
def test_two_tokens_are_one_word_whatever_their_case_and_composition(one, other, same):
    assert (word_key(one) == word_key(other)) is same


# ---- vectors ------------------------------------------------------------------------------------

SENTENCE = ("The", "cat", "sat", "on", "the", "mat")
RECORDED = {
    "integers": [
        [0, 1, 2, -1],
        [-1, -2, -2, 2],
        [-1, 1, 2, 2],
        [-2, -1, 0, 2],
        [0, 1, 2, -1],
        [0, 1, 0, 2],
    ],
    "normal": [
        [1.6088062462192374, 1.7140741148988057, 0.5697955662819482, 2.256526039755568],
        [0.8497822905665027, 1.1271512508771204, 0.31167362039858465, -0.08415500308735326],
        [-0.1951594562583071, 1.1577969873162355, -0.5233427937153015, -0.34801066335454905],
        [2.1581301560289194, -0.6959805162087339, -0.9598666252545713, -2.089014247739794],
        [1.6088062462192374, 1.7140741148988057, 0.5697955662819482, 2.256526039755568],
        [0.7108861654478589, -1.1165354414047124, 0.9437093893495009, 1.9434836099980168],
    ],
}


@pytest.mark.parametrize("kind", RECORDED)
def test_the_vectors_are_those_that_were_recorded(kind):
    found = word_vectors(SENTENCE, 4, seed=7, kind=kind)
    np.testing.assert_allclose(found, RECORDED[kind], rtol=1e-15, atol=0)


def test_a_vector_is_drawn_from_a_digest_of_the_word_and_the_seed():
    digest = hashlib.blake2b("word café".encode(), digest_size=16).digest()
    parts = [int.from_bytes(digest[k : k + 4], "little") for k in range(0, 16, 4)]
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([7, *parts])))
    expected = [rng.standard_normal() for _ in range(5)]
    assert word_vectors(["Café"], 5, 7, "normal").tolist() == [expected]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "identity"])
def test_a_word_has_the_same_vector_in_every_sentence_and_at_every_width(kind):
    long = word_vectors(SENTENCE, 300, 3, kind)
    assert long[0].tolist() == long[4].tolist()  # The and the
    assert len({tuple(row) for row in long.tolist()}) == 5
    alone = word_vectors(["mat", "dog", "THE"], 2, 3, kind)
    assert alone[0].tolist() == long[5, :2].tolist()
    assert alone[2].tolist() == long[0, :2].tolist()
    assert word_vectors(SENTENCE, 300, 4, kind).tolist() != long.tolist()


def test_another_process_draws_the_same_vectors():
    code = "from attention.samples.words import word_vectors as v; print(v(['cat'], 3, 5).tolist())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(word_vectors(["cat"], 3, 5).tolist())


def test_whole_numbers_are_small_and_all_of_them_come():
    found = word_vectors([f"w{k}" for k in range(64)], 64)
    assert set(found.ravel().tolist()) == {-2, -1, 0, 1, 2}


def test_one_hot_words_have_columns_in_the_order_they_appear():
    found = word_vectors(("The", "cat", "the", "dog"), 4, kind="identity")
    assert found.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]]
    second = word_vectors(("dog", "ran"), 4, kind="identity", known=("the", "cat", "dog"))
    assert second.tolist() == [[0, 0, 1, 0], [0, 0, 0, 1]]
    assert word_vectors(("a", "b"), 1, kind="identity").tolist() == [[1], [0]]


def test_another_kind_is_refused():
    with pytest.raises(ValueError) as refused:
        word_vectors(("a",), 2, kind="xavier")
    assert str(refused.value) == messages.UNKNOWN_WORD_VECTORS.format(
        name="'xavier'", known="integers, normal, uniform, identity"
    )


def test_no_tokens_have_no_vectors():
    assert word_vectors((), 3).shape == (0, 3)
    assert word_vectors((), 3, kind="identity").shape == (0, 3)
