"""Files of other kinds: what they are, and the lines that turn them into one that is read.

Told by the name and the first bytes alone, so that a browser can be answered before a file is sent.
Nothing here unpickles, unpacks or opens anything.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from attention.limits import MAX_FILE, BadInput
from attention.readers.cells.entry import shown
from attention.readers.files import own_files


class OtherKind(BadInput):
    """A file that is not read as it is; ``code`` are lines of Python that make one that is."""

    def __init__(self, message: str, code: str = ""):
        super().__init__(message)
        self.code = code


class OtherFile(NamedTuple):
    """A kind of file: how it is told, what is said of it, and what turns it into another."""

    endings: tuple[str, ...]
    begins: tuple[bytes, ...]  # its first bytes
    inside: str  # how the first name in it matches, where it is a zip file
    said: str  # after the name of the file
    code: str = ""


_SAFE = "so it is not opened here; these two lines save it as .safetensors."
_TORCH = """\
import torch, safetensors.torch as st; W = torch.load({file}, map_location="cpu", weights_only=True)
st.save_file({{str(name): w.contiguous().clone() for name, w in (next((part for key, part in \
W.items() if isinstance(part, dict) and "opt" not in str(key)), W) if isinstance(W, dict) else \
{{"X": W}} if torch.is_tensor(W) else dict(enumerate(W))).items() if torch.is_tensor(w)}}, \
{out[.safetensors]})"""
_PICKLE = """\
import pickle, numpy as np, safetensors.numpy as st; W = pickle.load(open({file}, "rb"))
st.save_file({{name: np.ascontiguousarray(w) for name, w in \
(W if isinstance(W, dict) else {{"X": W}}).items()}}, {out[.safetensors]})"""
_DATASETS = """, {{}}
f.visititems(lambda name, w: W.update({{name: w[()]}}) if getattr(w, "ndim", 0) > 1 else None)
np.savez({out[.npz]}, **W)"""
_HDF = f"import h5py, numpy as np\nf, W = h5py.File({{file}}){_DATASETS}"
_KERAS = f"""\
import h5py, numpy as np, zipfile
f, W = h5py.File(zipfile.ZipFile({{file}}).open("model.weights.h5")){_DATASETS}"""
_MAT = """\
import numpy as np, scipy.io
m = scipy.io.loadmat({file})
np.savez({out[.npz]}, **{{name: m[name] for name in m if name[0] != "_"}})"""
_ONNX = """\
import numpy as np, onnx
from onnx.numpy_helper import to_array
W = onnx.load({file}).graph.initializer
np.savez({out[.npz]}, **{{w.name: to_array(w) for w in W}})"""
_GGUF = """\
import numpy as np; from gguf import GGUFReader, dequantize
file = GGUFReader({file}); said = {{key: field.contents() for key, field in file.fields.items()}}
W = file.tensors
W = {{w.name: dequantize(w.data, w.tensor_type) for w in W if "blk.0.attn" in w.name}}
h = said.get("llama.attention.head_count")  # of a llama: rows of a rotary pair half a head apart
for name, heads in ("q", h), ("k", said.get("llama.attention.head_count_kv", h)):
    for M in [f"blk.0.attn_{{name}}.{{kind}}" for kind in ("weight", "bias")]:
        if h and M in W:
            W[M] = W[M].reshape(heads, -1, 2, *W[M].shape[1:]).swapaxes(1, 2).reshape(W[M].shape)
np.savez({out[.npz]}, **W)"""
_WORDS = """\
{module}words = {{"cat", "dog"}}  # those you want
with {opened} as f, open({out[-words.txt]}, "w", encoding="utf-8") as cut:
    cut.writelines(line for line in f if line.split(" ")[0] in words)"""
_BINARY = """\
{module}import struct; words = {{"cat", "dog"}}  # those you want
with {opened} as f, open({out[-words.txt]}, "w", encoding="utf-8") as cut:
    for _ in range((size := [int(number) for number in f.readline().split()])[0]):
        word = b"".join(iter(lambda: f.read(1), b" ")).decode(errors="replace").strip()
        vector = struct.unpack(f"<{{size[1]}}f", f.read(4 * size[1]))
        cut.write(f"{{word}} {{' '.join(map(str, vector))}}\\n" if word in words else "")"""
_FASTTEXT = """\
import fasttext; words = ["cat", "dog"]  # those you want
model = fasttext.load_model({file})
with open({out[-words.txt]}, "w", encoding="utf-8") as cut:
    cut.writelines(f"{{w}} {{' '.join(map(str, model.get_word_vector(w)))}}\\n" for w in words)"""
_GENSIM = """\
from gensim.models import KeyedVectors; words = ["cat", "dog"]  # those you want
vectors = KeyedVectors.load({file}); vectors = getattr(vectors, "wv", vectors)
with open({out[-words.txt]}, "w", encoding="utf-8") as cut:
    cut.writelines(f"{{w}} {{' '.join(map(str, vectors[w]))}}\\n" for w in words)"""
_TENSORS = """\
from safetensors import safe_open; from safetensors.torch import save_file
with safe_open({file}, "pt") as f:
    names = [name for name in f.keys() if ".0." in name and "att" in name]  # those you want
    save_file({{name: f.get_tensor(name) for name in names}}, {out[-part.safetensors]})"""
_PART = """\
import numpy as np
values = np.load({file}, mmap_mode="r")
np.save({out[-part.npy]}, values[:64, ..., :512])  # the rows and columns you want"""
_MEMBER = """\
import numpy as np
arrays = np.load({file}); print(arrays.files)  # the names in it
np.savez({out[-part.npz]}, X=arrays["name"][:64, ..., :512])  # what you want"""
_TABLE = """\
import pandas as pd
frame = pd.read_{form}({file})
frame.iloc[:64, :512].to_csv({out[-part.csv]}, index=False)  # the rows and columns you want"""

_FRAME = """\
import pandas as pd
frame = pd.read_{form}({file})  # of a column of vectors: pd.DataFrame([*frame["its name"]])
frame.to_csv({out[.csv]}, index=False)"""
_MARKET = """\
import numpy as np, scipy.io; W = scipy.io.mmread({file})
np.save({out[.npy]}, W.toarray() if hasattr(W, "toarray") else W)"""
_BARE = """\
import numpy as np
np.save({out[.npy]}, np.fromfile({file}, "<f4").reshape(-1, 768))  # its type and columns"""

_PAIRS = (
    "is a GGUF model; these lines save a layer as .npz. A llama's has the rows of W_Q and W_K as"
    " neighbouring rotary pairs; they become halves of a head, as in transformers."
)
_RUNS = "is a pickle, which runs code when it is opened,"
PICKLE = OtherFile((".pkl", ".pickle"), (), "", f"{_RUNS} {_SAFE}", _PICKLE)
ARRAYS = (".npy", ".npz", ".safetensors")  # whose own reader says what is wrong
KINDS = (
    OtherFile((".pt", ".pth", ".bin", ".ckpt"), (), r".*/?data\.pkl", f"{_RUNS} {_SAFE}", _TORCH),
    PICKLE,
    OtherFile(
        (".xlsx", ".xlsm", ".xls", ".ods", ".numbers"),
        (b"\xd0\xcf\x11\xe0",),
        r"\[Content_Types\]\.xml|xl/.*|mimetype",
        "is a spreadsheet; save its sheet as CSV (UTF-8), or copy the cells and paste them.",
    ),
    OtherFile(
        (".docx", ".pptx", ".doc", ".ppt", ".odt"),
        (b"\xd0\xcf\x11\xe0",),
        r"\[Content_Types\]\.xml|mimetype",
        "is a document; copy the numbers out of it and paste them.",
    ),
    OtherFile(
        (".keras",),
        (),
        r"(?:metadata|config)\.json",
        "is a model of Keras; these lines save its arrays as .npz.",
        _KERAS,
    ),
    OtherFile(
        (".kv", ".wordvectors", ".model"),
        (),
        "",
        f"{_RUNS} so it is not opened here; by gensim these lines cut out the words you want.",
        _GENSIM,
    ),
    OtherFile(
        (".h5", ".hdf5", ".hdf"),
        (b"\x89HDF\r\n", b"MATLAB 7.3 MAT"),
        "",
        "is an HDF5 file; these lines save its arrays as .npz.",
        _HDF,
    ),
    OtherFile(
        (".mat",), (b"MATLAB 5.0 MAT",), "", "is a file of MATLAB; these lines make it .npz.", _MAT
    ),
    OtherFile(
        (".mtx",),
        (b"%%MatrixMarket",),
        "",
        "is a file of Matrix Market; these lines make it .npy.",
        _MARKET,
    ),
    OtherFile(
        (".parquet",),
        (b"PAR1",),
        "",
        "is a table in Parquet; these lines of pandas save it as CSV.",
        _FRAME.replace("{form}", "parquet"),
    ),
    OtherFile(
        (".feather",),
        (b"ARROW1", b"FEA1"),
        "",
        "is a table in Feather; these lines of pandas save it as CSV.",
        _FRAME.replace("{form}", "feather"),
    ),
    OtherFile(
        (),
        (b"<!DOCTYPE html", b"<!doctype html", b"<html", b"<table", b"<?xml"),
        "",
        "is a web page or XML; copy its table out of a browser and paste it, or save it as CSV.",
    ),
    OtherFile((".onnx",), (), "", "is an ONNX model; these lines save its weights as .npz.", _ONNX),
    OtherFile((".gguf",), (b"GGUF",), "", _PAIRS, _GGUF),
    OtherFile((".pdf",), (b"%PDF",), "", "is a PDF; copy the numbers out of it and paste them."),
    OtherFile(
        (".png", ".jpg", ".jpeg", ".gif", ".webp"),
        (b"\x89PNG", b"\xff\xd8\xff", b"GIF8"),
        "",
        "is a picture; expected numbers.",
    ),
)
_PACKED = {  # what opens compressed files, by their first bytes and endings
    b"\x1f\x8b": (".gz", "gzip"),
    b"BZh": (".bz2", "bz2"),
    b"\xfd7zXZ": (".xz", "lzma"),
}
_OF_ZIP = 'io.TextIOWrapper(zipfile.ZipFile({file}).open({member}), "utf-8")'
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a]")
_COUNTS = re.compile(rb"\d{1,9} \d{1,5}\n")  # how binary word vectors begin


def answer(filename: str, head: bytes, size: int) -> OtherKind | None:
    """Return what is said of a file of another kind or too large; None if it may be read.

    ``head`` are its first bytes, as many as there are at hand; ``size`` is how many it has.

    >>> str(answer("a/model.pt", b"PK", 9))[:40]
    'model.pt is a pickle, which runs code wh'
    """
    where, lower = shown(filename), filename.lower()
    filled = _names(filename)
    if own := own_files.told(_first_member(head), head):
        return OtherKind(f"{where} {own}")
    if packed := _packed(where, lower, head, filled):
        return packed
    if head.startswith(b"\xba\x16\x4f\x2f"):
        return _vectors(where, "fastText's binary word vectors", _FASTTEXT.format(**filled))
    binary = _CONTROL.search(head) or lower.endswith(".bin") and not _is_text(head)
    if _COUNTS.match(head) and binary:
        code = _BINARY.format(module="", opened=f'open({filled["file"]}, "rb")', **filled)
        return _vectors(where, "binary word vectors", code)
    kind = _kind(lower, head)
    if kind and kind.code == _TORCH and lower.endswith(".bin") and binary and _is_bare(head):
        said = f"{where} holds bare bytes, and not what they mean; these lines make them an .npy."
        return OtherKind(said, _BARE.format(**filled))
    if kind:
        return OtherKind(f"{where} {kind.said}", kind.code.format(**filled))
    return _too_large(where, lower, head, size, filled) if size > MAX_FILE else None


def _is_bare(head: bytes) -> bool:
    """Whether a file begins neither as a pickle does nor as a zip."""
    return head[:1] != b"\x80" and head[:2] != b"PK"


def _kind(lower: str, head: bytes) -> OtherFile | None:
    """Which kind a file is: by its first bytes, then by the end of its name, if it is no text."""
    first = _first_member(head)
    fitting = [
        kind
        for kind in KINDS
        if head.startswith(kind.begins) or first and re.fullmatch(kind.inside or r"(?!)", first)
    ]
    if fitting:
        return next((kind for kind in fitting if lower.endswith(kind.endings)), fitting[0])
    of_arrays = head.startswith(b"\x93NUMPY") or first.endswith(".npy")
    for kind in KINDS:
        if lower.endswith(kind.endings) and not of_arrays:
            certain = kind.code in (_TORCH, _PICKLE) and not lower.endswith(".bin")
            return kind if certain or not _is_text(head) else None
    return PICKLE if head[:1] == b"\x80" and not lower.endswith(ARRAYS) else None


class _MadeFiles(dict):
    """The names of files that are made, as Python text, by how they end."""

    def __missing__(self, ending: str) -> str:
        return json.dumps(self["stem"] + ending, ensure_ascii=False)


def _names(filename: str) -> dict[str, Any]:
    """Return the file's own name as Python text, and the names of files made of it."""
    own = re.sub(r"[\x00-\x1f\x7f]", "", filename.replace("\\", "/").rpartition("/")[2])[:200]
    stem = own.rpartition(".")[0] or own
    return {"file": json.dumps(own, ensure_ascii=False), "out": _MadeFiles(stem=stem)}


def _vectors(where: str, what: str, code: str) -> OtherKind:
    return OtherKind(f"{where} holds {what}; these lines cut out the words you want.", code)


def _packed(where: str, lower: str, head: bytes, filled: dict[str, Any]) -> OtherKind | None:
    """Compressed word vectors and other packed text."""
    for mark, (ending, module) in _PACKED.items():
        if head.startswith(mark) or lower.endswith(ending):
            binary = lower.endswith(f".bin{ending}")  # of word2vec
            how = '"rb"' if binary else '"rt", encoding="utf-8"'
            code = (_BINARY if binary else _WORDS).format(
                module=f"import {module}; ",
                opened=f"{module}.open({filled['file']}, {how})",
                **filled,
            )
            return OtherKind(
                f"{where} is compressed; unpack it, or cut the words you want out of word vectors.",
                code,
            )
    member = _first_member(head)
    if member and member.lower().endswith((".txt", ".vec", ".csv", ".tsv")):
        way = _OF_ZIP.format(member=json.dumps(member, ensure_ascii=False), **filled)
        code = _WORDS.format(module="import io, zipfile; ", opened=way, **filled)
        return OtherKind(
            f"{where} is a zip file of text; unpack it, or cut out the words you want.", code
        )
    if lower.endswith((".7z", ".rar", ".zst", ".tar", ".tgz")):
        return OtherKind(f"{where} is an archive; unpack it and open what is in it.")
    return None


def _first_member(head: bytes) -> str:
    """Return the name of the first file in a zip file; "" where it is none."""
    if head[:4] != b"PK\x03\x04":
        return ""
    length = int.from_bytes(head[26:28], "little")
    return head[30 : 30 + length].decode("utf-8", errors="replace")


def _is_text(sample: bytes) -> bool:
    """Whether bytes are UTF-8 without control characters; the last character may be cut off."""
    if _CONTROL.search(sample):
        return False
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError as problem:
        return 1000 < len(sample) - 3 <= problem.start
    return True


def _too_large(where: str, lower: str, head: bytes, size: int, filled: dict[str, Any]) -> OtherKind:
    """Lines that cut out of a large file what the page can show."""
    said = f"{where} has {size:,} bytes; at most {MAX_FILE:,} are read."
    if lower.endswith(".safetensors"):
        more = "These lines cut tensors out; attention.capture records a layer of a running model."
        return OtherKind(f"{said} {more}", _TENSORS.format(**filled))
    if head.startswith(b"\x93NUMPY") or lower.endswith(".npy"):
        return OtherKind(f"{said} These lines cut a part out.", _PART.format(**filled))
    if head.startswith(b"PK") or lower.endswith(".npz"):
        return OtherKind(f"{said} These lines cut a part out.", _MEMBER.format(**filled))
    if lower.endswith((".csv", ".tsv", ".json")):
        form = lower.rpartition(".")[2].replace("tsv", "table")
        return OtherKind(f"{said} These lines cut a part out.", _TABLE.format(form=form, **filled))
    way = f'open({filled["file"]}, encoding="utf-8")'
    code = _WORDS.format(module="", opened=way, **filled)
    return OtherKind(f"{said} Of word vectors these lines cut out the words you want.", code)
