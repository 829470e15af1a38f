"""Small inputs that ask for much: a size is checked before anything of that size is made.

Each is opened as its page opens it, in a process of its own (:mod:`session.memory`), and every test
says whether it is refused. What is refused may take 150 MB, as a file may unpack to that much
before its shape is known. Reading what is accepted may take four times the file, or 30 MB where
that is more: files here are small, so that the pages of a library that is first touched and the
numbers that a link draws (a million: 24 MB with their copy) weigh more than they do. Computing all
stages of it may take 24 MB on top: no input here has more than 4,096 scores, and finished weights
of 256 heads, whose stages hold a million numbers, take 20.
"""

import base64
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
from files import npy, stored
from models.test_opening import ABOUT, filed
from safetensors.numpy import save as safetensors
from session.memory import Opener

from attention.limits import MAX_ELEMENTS
from attention.session.state import links
from attention.session.state.examples import EXAMPLES, FIRST

MOST_REFUSED, MOST_READ, MOST_COMPUTED = 150, 30, 24  # MB
SECONDS = 3  # of the processor

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")


@pytest.fixture(scope="module")
def opened(tmp_path_factory) -> Iterator[Callable[..., None]]:
    folder = tmp_path_factory.mktemp("sent")
    with Opener() as ask:

        def within(way: str, name: str, content: bytes, role: str = "", *, refused: bool) -> None:
            path = folder / "content"
            path.write_bytes(content)
            found = ask(way, name, path, role)
            assert "crashed" not in found, found
            read, ran = found["read"], found["ran"]
            assert bool(found["refused"]) is refused, found
            if refused:
                assert ran < MOST_REFUSED, found
            else:
                assert read < max(MOST_READ, 4 * len(content) / 2**20), found
                assert ran - read < MOST_COMPUTED, found
            assert found["seconds"] < SECONDS, found

        yield within


def compressed(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def lines(values: np.ndarray, mark: str) -> bytes:
    return "\n".join(mark.join(f"{x:g}" for x in row) for row in values.tolist()).encode()


FORMS: dict[str, tuple[str, Callable[[np.ndarray], bytes]]] = {
    "npy": ("w.npy", npy),
    "npz": ("w.npz", lambda X: stored(X=X)),
    "compressed": ("w.npz", lambda X: compressed(X=X)),
    "safetensors": ("w.safetensors", lambda X: safetensors({"X": X})),
    "json": ("w.json", lambda X: json.dumps({"X": X.tolist()}).encode()),
    "csv": ("w.csv", lambda X: lines(X, ",")),
    "tsv": ("w.tsv", lambda X: lines(X, "\t")),
    "pasted": ("the text", lambda X: lines(X, " ")),
    "printed": ("the text", lambda X: f"X = {X.tolist()}".encode()),
}
SIDE = int(MAX_ELEMENTS**0.5)
SHAPES = {
    "one row": (1, MAX_ELEMENTS),
    "one column": (MAX_ELEMENTS, 1),
    "square": (SIDE, SIDE),
    "too large": (3000, 3000),
    "widest that fits": (64, 512),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_any_shape_takes_little_memory(opened, form, shape):
    name, made = FORMS[form]
    opened("file", name, made(np.ones(shape, "f4")), refused=shape[0] != 64)


ROLES = ("W_Q", "W_O", "memory", "Q", "mask", "weights")


@pytest.mark.parametrize("shape", [(1, MAX_ELEMENTS), (MAX_ELEMENTS, 1), (97, 4096), (4, 100_000)])
@pytest.mark.parametrize("role", ROLES)
def test_any_input_that_an_array_is_used_as_takes_little(opened, role, shape):
    values = np.zeros(shape, "f4")
    values[:, 0] = 1  # rows of attention weights
    opened("file", "w.npz", compressed(X=values), role, refused=True)


SEVERAL = {
    "many small": {f"a{k}": np.ones((1, 1), "f4") for k in range(4096)},
    "many large": {f"a{k}": np.ones((600, 600), "f4") for k in range(500)},
    "a column for X": {"X": np.ones((1, 400_000), "f4"), "W_Q": np.ones((400_000, 1), "f4")},
    "wide weights": {"X": np.ones((2, 4), "f4"), "W_Q": np.ones((4, 100_000), "f4")},
    "many keys": {
        "Q": np.ones((1, 1), "f4"),
        "K": np.ones((400_000, 1), "f4"),
        "V": np.ones((400_000, 1), "f4"),
    },
    "a batch": {"X": np.ones((64, 2048, 3), "f4"), "memory": np.ones((64, 2000, 3), "f4")},
    "finished heads": {"weights": np.full((4, 97, 1024), 1 / 1024, "f4")},
}


@pytest.mark.parametrize("arrays", SEVERAL.values(), ids=SEVERAL)
def test_several_arrays_that_ask_for_larger_ones_take_little(opened, arrays):
    opened("file", "w.npz", compressed(**arrays), refused=True)


@pytest.mark.parametrize("shape", [(0, 400_000), (400_000, 0), (0, 0), (0, 4, 90_000)])
@pytest.mark.parametrize("form", ["npy", "npz", "compressed", "safetensors"])
def test_an_empty_axis_beside_a_long_one_takes_little(opened, form, shape):
    name, made = FORMS[form]
    opened("file", name, made(np.ones(shape, "f4")), refused=True)


# ---- links and saved states ----------------------------------------------------------------------

MATRICES = ("W_Q", "W_K", "W_V", "W_O", "X", "memory", "b_Q", "b_K", "b_V", "b_O", "P", "R")
TOKENS = ",".join(f'"{k:x}"' for k in range(35_000))


@cache
def raw(sides: str, numbers: int) -> str:
    packed = zlib.compress(bytes(8 * numbers), 9)
    return f"*{sides}*{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


GOES_ON = "4,096 words that go on"
LINKS = {
    "larger than any": {"W_Q": "normal.W_Q,7,99999x99999"},
    "the largest sides": {name: f"normal.{name},7,4096x4096" for name in MATRICES},
    "one of the largest": {name: f"normal.{name},7,384x4096" for name in MATRICES},
    "tall and narrow": {name: f"uniform.{name},7,4096x1,0,1" for name in MATRICES},
    "identities": {name: "identity,0,4096x4096" for name in MATRICES},
    "one-hot among many words": {
        "tokens": '"a"',
        "memory_tokens": TOKENS,
        "X": "identity.words,0,1x4096",
        "memory": "identity.words,0,9999x4096",
    },
    "many words": {"tokens": TOKENS, "mask": "causal", "alibi": "1"},
    GOES_ON: {
        "example": "four-words",
        "tokens": ",".join(f'"{k}"' for k in range(4096)),
        "X": "normal.X,0,4096x4",
        "R": "normal.R,0,8x1",
        "mask": "causal",
        "alibi": "1",
        "window": "3000",
        "padding": "4000.4001",
        "cell": "weights,4000,3",
    },
    "many heads": {"heads": "999999999999", "alibi": "1", "softmax": "sigmoid"},
    "numbers that pack well": {name: raw("384x4096", 384 * 4096) for name in MATRICES},
    "and beside them": {
        side + name: raw("384x4096", 384 * 4096) for name in MATRICES for side in ("", "a.")
    },
    "finished weights of many heads": {
        "tokens": '"a"',
        "memory_tokens": ",".join(f'"{k}"' for k in range(2048)),
        "example": "own",
        "X": "none",
        "W_Q": "none",
        "W_K": "none",
        "W_V": "none",
        "Q": "uniform.Q,0,1x256,0,1",
        "K": "uniform.K,0,2048x256,0,1",
        "V": "uniform.V,0,2048x256,0,1",
        "heads": "256",
        "softmax": "0",
        "scale": "1",
        "finished": "1",
    },
    "far from each other": {"R": "normal.R,0,4096x1", "max_distance": "999999999999"},
    "a rotation of many columns": {"rotary": '{"width":1099511627776}'},
    "a long context": {"long": '{"tokens":999999999,"seen":999999999}'},
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_that_asks_for_much_takes_little(opened, name):
    link = LINKS[name]
    opened("link", "", json.dumps(link).encode(), refused=name != GOES_ON)
    file = json.loads(links.to_file(EXAMPLES[FIRST].build()))
    opened(
        "state",
        "state.json",
        json.dumps(file | {"link": file["link"] | link}).encode(),
        refused=True,
    )


def typed(**matrices: str) -> dict[str, str]:
    return dict.fromkeys(("X", "W_Q", "W_K", "W_V"), "none") | {"example": "own"} | matrices


WORDS = {n: ",".join(f'"{k}"' for k in range(n)) for n in (48, 200, 400, 512)}
CHANGES = {
    "20,000 tokens": {
        "tokens": WORDS[48],
        "X": raw("64x48x500", 64 * 48 * 500),
        **{name: f"normal.{name},0,500x1" for name in ("W_Q", "W_K", "W_V")},
    },
    "d_k of 512": {
        "example": "four-words",
        **{name: f"normal.{name},0,4x4096" for name in ("W_Q", "W_K", "W_V")},
        "heads": "4096",
    },
    "W_O": {
        "example": "four-words",
        **{name: f"normal.{name},0,4x4096" for name in ("W_Q", "W_K", "W_V")},
        "heads": "8",
    },
    "20,000 tokens under a drawn mask": {
        "tokens": WORDS[512],
        "X": "normal.X,0,512x4",
        "mask": "drawn",
        "drawn": ".".join(["1" * 512] * 512),
    },
    "one-hot": typed(
        tokens=WORDS[200],
        memory_tokens=WORDS[400],
        Q="normal.Q,0,200x1",
        K="normal.K,0,400x1",
        V="normal.V,0,400x1",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_asks_for_much_is_refused_and_takes_little(opened, change):
    base = {"example": "four-words"} if change.startswith("20,000 tokens") else {}
    content = json.dumps(base | CHANGES[change]).encode()
    opened("change", "", content, change, refused=True)


# ---- other pages ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_many_rows_in_check_yours_make_no_mask(opened, mask):
    opened("check", "", b"1\n" * 399_999, mask, refused=True)


def captured(n: int, **facts: int) -> bytes:
    """One head of n queries and keys under a look-ahead mask, at a place that is said."""
    arrays = {name: np.ones((1, 1, n, 2), "f4") for name in ("Q", "K", "V", "output")}
    arrays["allowed"] = np.tri(n, dtype=bool)[None, None]
    header, body = {}, b""
    for name, M in arrays.items():
        kind = "BOOL" if M.dtype == bool else "F32"
        place = [len(body), len(body) + M.nbytes]
        header[f"layers.0.{name}"] = {"dtype": kind, "shape": M.shape, "data_offsets": place}
        body += M.tobytes()
    about = ABOUT | {"tokens": ["a"], "layers": {"layers.0": {"module": "", "scale": 1.0} | facts}}
    return filed(header, about, body)


@pytest.mark.parametrize("facts", [{"first_key": 2**31 - 9}, {"first_query": 2**31 - 9}])
def test_a_capture_from_far_along_its_tokens_takes_little(opened, facts):
    opened("long", "c.safetensors", captured(4, **facts), "captured", refused=False)
    opened("capture", "c.safetensors", captured(4, **facts), refused=False)


def test_a_long_context_of_small_files_takes_little(opened):
    Q = np.ones((400_000, 1), "f4")
    opened("long", "c.npz", compressed(Q=Q, K=Q), refused=True)
    opened("long", "c.npz", compressed(Q=np.ones((1, 2**24), "f4"), K=Q), refused=True)
