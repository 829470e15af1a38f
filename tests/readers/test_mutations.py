"""Damaged input: whatever mutations of a small good file hold, readers give numbers or a sentence.

Of the 100,000 of each file a share by seed; all of them with THOROUGH=1.
"""

import io
import json
import random
from dataclasses import replace

import numpy as np
import pytest
from amount import amount

from attention.limits import LIMIT, BadInput
from attention.readers import opening, select
from attention.readers.texts.grid import OPTIONS
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix, Recipe

CHUNKS, EACH = amount(2, 10), amount(150, 10_000)
NUMBERS = np.array([[0.5, -1.25], [3e-3, 4.0]])


def npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, NUMBERS)
    return buffer.getvalue()


def npz() -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=NUMBERS, tokens=np.array(["a", "b"]))
    return buffer.getvalue()


def safetensors() -> bytes:
    half = NUMBERS.astype("<f2").tobytes()
    places = {"X": {"dtype": "F16", "shape": [2, 2], "data_offsets": [0, 8]}}
    places["h.0.attn.c_attn.weight"] = {"dtype": "BF16", "shape": [1, 3], "data_offsets": [8, 14]}
    header = json.dumps(places).encode()
    return len(header).to_bytes(8, "little") + header + half + half[:6]


def session() -> bytes:
    s = EXAMPLES["four-words"].build()
    drawn = tuple(tuple(i >= j for j in range(4)) for i in range(4))
    s = replace(
        s,
        digits=4,
        mask="drawn",
        drawn=drawn,
        padding=(1,),
        heads=2,
        scale=0.5,
        cell=("scores", 1, 2),
    )
    return links.to_file(s.with_matrix("W_V", Matrix(np.eye(4))))


FILES = {  # by the name they are opened under
    "a.npy": npy(),
    "a.npz": npz(),
    "a.safetensors": safetensors(),
    "a.csv": b'token,1,2\n"big, red",0.5,-1.25\n\'=x,3e-3,"4"\n',
    "a.tsv": "word\ta\tb\r\nréd\t0,5\t-1,25\r\ndog\t1,000\t4\r\n".encode(),
    "a.json": (
        b'{"tokens": ["a", "b"], "X": {"values": [[0.5, -1.25], [3e-3, "4"]], "rows": ["a", "b"]},'
        b' "n": 1}'
    ),
    "words.vec": b"2 3\nthe 0.5 -1.25 3e-3 \n. . -7 1 2 \n",
    "frame.txt": (
        b"         x     y  \\\ncat   0.5 -1.25\n\n        z\ncat  3e-3\n\n[1 rows x 3 columns]"
    ),
    "polars.txt": (
        "shape: (1, 3)\n┌───┬───┬───┐\n│ w ┆ x ┆ y │\n╞═══╪═══╪═══╡\n│ a ┆ 1 ┆ 2 │\n└───┴───┴───┘"
    ).encode(),
    "table.md": (
        b"# Mine\n| | x | y |\n|---|---:|---:|\n| **cat** | 0.5 | -1.25 |\n| a\\|b | 3 | 4 |\n"
    ),
    "sums.txt": b"Head 0 0.5 0.5 | sum 1.00\nHead 1 0.25 0.75 | sum 1.00\n",
    "printout.txt": (
        b"X = array([[[0.5, -1.25]],\n\n [[3.e-3, 4.]]], dtype=float32)\nW = tensor([[1., 2.]])"
    ),
}
TEXTS = {  # of a matrix in a link
    "recipe and values": links.write_matrix(Matrix(NUMBERS, Recipe("uniform", 3, -1, 1))),
    "batch": links.write_matrix(Matrix(NUMBERS[None])),
    "packed": links.write_matrix(Matrix(np.tile(NUMBERS, (4, 4)))),
    "raw": links.write_matrix(Matrix(np.zeros((65, 64)))),
}
SESSION = session()
PIECES = [  # what means something in one of these forms
    *(
        b"\n",
        b"\n\n",
        b"\r",
        b"\t",
        b" ",
        b",",
        b";",
        b'"',
        b"'",
        b"[",
        b"]",
        b"{",
        b"}",
        b":",
        b"=",
        b".",
        b"-",
        b"0",
        b"9",
    ),
    *(
        b"nan",
        b"-inf",
        b"1e999",
        b"1e13",
        b"...",
        b"array(",
        b"X = ",
        b"null",
        b"true",
        b"1,000",
        b"0,5",
        b"\x00",
        b"\xef\xbb\xbf",
    ),
    *(
        "−".encode(),
        "…".encode(),
        "🙂".encode(),
        "\u2028".encode(),
        "\u200b".encode(),
        b"\xff\xfe",
        b"\xff" * 8,
        bytes(8),
        b"9" * 20,
    ),
    *(b'"X":', b"~", b"*", b"!", b"_", b"2x2", b"normal,1,2x2", b"PK\x03\x04", b"\x93NUMPY"),
]


def mutated(good: bytes, dice: random.Random) -> bytes:
    """Between one and eight bytes or pieces changed, put in, taken away or said twice."""
    content = bytearray(good)
    for _ in range(dice.choice((1, 1, 1, 2, 2, 6))):
        at, what = int(dice.random() * (len(content) + 1)), dice.random()
        if what < 0.2:
            content[at : at + 1] = bytes((int(dice.random() * 128),))
        elif what < 0.35:
            content[at : at + 1] = bytes((int(dice.random() * 256),))
        elif what < 0.45:
            del content[at : at + 1 + int(dice.random() ** 3 * 30)]
        elif what < 0.55:
            content[at:at] = content[at : at + 1 + int(dice.random() * 20)]
        else:
            piece = dice.choice(PIECES)
            content[at : at + (len(piece) if what < 0.75 else int(dice.random() * 3))] = piece
    return bytes(content)


def arrays(name: str, content: bytes, dice: random.Random) -> None:
    """Every array of a file, read as it is, and as X."""
    chosen = {key: dice.choice(("", *options)) for key, options in OPTIONS.items()}
    found = opening.opened(name, content, chosen)
    assert found
    for entry in found.values():
        assert all(choice.taken in choice.options for choice in entry.choices)
        assert entry.read().shape == entry.shape
        if entry.pick:
            assert entry.pick([len(entry.rows) - 1]).shape == (1, entry.shape[1])
        brought = select.select(entry, "X", name)
        assert np.abs(brought.values).max() <= LIMIT
        assert not brought.tokens or len(brought.tokens) == brought.values.shape[-2]


def link_matrix(name: str, content: bytes, dice: random.Random) -> None:
    values = links.read_matrix_text(content.decode("utf-8", "replace"), name).values
    assert np.isfinite(values).all() and values.size


def session_file(name: str, content: bytes, dice: random.Random) -> None:
    settings = links.from_file(content)
    assert links.from_file(links.to_file(settings)) == settings


READERS = {name: (arrays, [content]) for name, content in FILES.items()}
READERS["matrix of a link"] = link_matrix, [text.encode() for text in TEXTS.values()]
READERS["session file"] = session_file, [SESSION]


@pytest.mark.parametrize("name", READERS)
def test_the_files_that_are_damaged_here_were_good(name):
    read, good = READERS[name]
    for content in good:
        read(name, content, random.Random(0))


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("name", READERS)
def test_mutations_give_numbers_or_a_sentence_and_nothing_else(name, chunk):
    read, good = READERS[name]
    dice = random.Random(chunk)
    for k in range(EACH):
        content = mutated(good[k % len(good)], dice)
        try:
            read(name, content, dice)
        except BadInput as refused:
            assert 0 < len(str(refused)) <= 300, content
        except Exception as problem:
            raise AssertionError(f"mutation {k} of chunk {chunk}: {content!r}") from problem
