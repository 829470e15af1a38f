"""Comments are passed over, True and False are a mask, and a tokenizer gives no embeddings."""

import io
import json
import re

import messages
import numpy as np
import pandas as pd
import pytest
from build import read, refused

from attention.readers import opening
from attention.readers.cells.entry import ALONE
from attention.readers.select import MASK
from attention.readers.texts.texts import entries
from attention.session.bring.adopt import likely
from attention.session.state.examples import EXAMPLES

TWO = [[0.5, -1.25], [3, 4]]


# ---- comments -----------------------------------------------------------------------------------


@pytest.mark.parametrize("comments", ["# ", "% "])
@pytest.mark.parametrize("delimiter", [" ", ",", "\t"])
@pytest.mark.parametrize("header", ["made by me, on Monday", "0 1", "a b\nand a second line"])
def test_what_numpy_saves_with_a_header_is_read(comments, delimiter, header):
    text = io.StringIO()
    values = np.array(TWO)
    np.savetxt(text, values, delimiter=delimiter, header=header, footer="end", comments=comments)
    assert read(text.getvalue()) == {ALONE: TWO}
    assert opening.prose_in(text.getvalue().encode()) is None


def test_a_comment_between_rows_parts_nothing_and_counts_as_a_line():
    assert read("1 2\n3 4\n# now others\n5 6\n7 8") == {ALONE: [[1, 2], [3, 4], [5, 6], [7, 8]]}
    assert refused("# mine\n1 2\n3 x") == messages.NOT_A_NUMBER.format(
        place="it, line 3, column 2", found="x"
    )


def test_many_comments_alone_are_refused():
    assert len(refused("#\n" * 100_000)) <= 300


def test_words_that_begin_with_a_mark_are_no_comments():
    entry = entries("the 0.1 0.2\n# 0.3 0.4\n#tag 0.5 0.6\n% 1 2\n", "it")[ALONE]
    assert entry.rows == ("the", "#", "#tag", "%")


@pytest.mark.parametrize(
    "text", ["matrix of mine\n0.5 -1.25 7\n3.0 4.0 8", "matrix([[1, 2, 7],\n        [3, 4, 8]])"]
)
def test_words_above_numbers_make_no_labels_of_them(text):
    (entry,) = entries(text, "it").values()
    assert entry.rows == ()
    assert entry.read().ravel().tolist() == list(map(float, re.findall(r"-?\d+(?:\.\d+)?", text)))


# ---- masks and tokenizers -----------------------------------------------------------------------


MASK_TEXTS = {
    "NumPy": str(np.array(TWO) > 0),
    "repr": repr(np.array(TWO) > 0),
    "torch": "tensor([[ True, False],\n        [ True,  True]])",
    "cuda": "tensor([[ True, False],\n        [ True,  True]], device='cuda:0')",
    "pandas": str(pd.DataFrame(np.array(TWO) > 0)),
    "CSV": pd.DataFrame(np.array(TWO) > 0).to_csv(index=False),
    "CSV with index": pd.DataFrame(np.array(TWO) > 0).to_csv(),
    "typed": "true false\ntrue true",
    "JSON": "[[true, false], [true, true]]",
}


@pytest.mark.parametrize("case", MASK_TEXTS)
def test_a_printed_matrix_of_true_and_false_is_the_mask(case):
    (entry,) = entries(MASK_TEXTS[case], "it").values()
    assert (entry.dtype, entry.shape) == ("bool", (2, 2))
    assert entry.read().dtype == bool
    assert entry.read().tolist() == [[True, False], [True, True]]
    assert likely(entry.name, entry, EXAMPLES["four-words"].build()) == MASK


def test_true_and_false_beside_numbers_are_no_mask():
    assert refused("1 True\n0 2") == messages.NOT_A_NUMBER.format(
        place="it, line 1, column 2", found="True"
    )


@pytest.mark.parametrize(
    "text",
    [
        "{'input_ids': tensor([[101,   5, 102]]), 'attention_mask': tensor([[1, 1, 1]])}",
        '{"input_ids": [[101, 5, 102]], "attention_mask": [[1, 1, 1]]}',
        "input_ids = [[101, 5, 102]]\nattention_mask = [[1, 1, 1]]",
    ],
)
def test_what_a_tokenizer_gives_is_no_embedding(text):
    assert refused(text) == messages.TOKENIZER_OUTPUT.format(
        place="it", told="input_ids, attention_mask"
    )


def test_beside_embeddings_what_a_tokenizer_gives_is_passed_over():
    text = json.dumps({"offset_mapping": [[0, 3], [4, 7]], "X": TWO})
    found = entries(text, "it")
    assert list(found) == ["X"]
    assert found["X"].remark == messages.PASSED_OVER_AS_TOKENS.format(names="offset_mapping")
