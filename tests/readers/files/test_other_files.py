"""Files of other kinds are told by name and first bytes, and the lines given for them are run."""

import gzip
import io
import json
import lzma
import pickle
import struct
import subprocess
import sys
import zipfile

import messages
import numpy as np
import pytest

from attention.limits import MAX_FILE, BadInput
from attention.readers.files.other_files import OtherKind, answer
from attention.readers.opening import opened

TWO = np.array([[0.5, -1.25], [3, 4]], np.float32)


def member(name: str, content: bytes = b"x") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), content)  # of no date: workers name tests alike
    return buffer.getvalue()


KINDS = [
    ("model.pt", member("model/data.pkl"), messages.PICKLE),
    ("pytorch_model.bin", member("archive/data.pkl"), messages.PICKLE),
    ("old.pth", b"\x80\x02\x8a\x0al\xfc\x9c", messages.PICKLE),
    ("run.ckpt", b"", messages.PICKLE),
    ("x.pkl", pickle.dumps(TWO), messages.PICKLE),
    ("x.data", pickle.dumps(TWO), messages.PICKLE),
    ("x.xlsx", member("[Content_Types].xml"), messages.SPREADSHEET),
    ("x.csv", member("xl/workbook.xml"), messages.SPREADSHEET),
    ("x.xls", b"\xd0\xcf\x11\xe0\xa1\xb1", messages.SPREADSHEET),
    ("x.h5", b"\x89HDF\r\n\x1a\n", messages.HDF5_FILE),
    ("x.keras", member("metadata.json"), messages.KERAS_MODEL),
    ("x.ods", member("mimetype"), messages.SPREADSHEET),
    ("x.docx", member("[Content_Types].xml"), messages.DOCUMENT),
    ("x.doc", b"\xd0\xcf\x11\xe0\xa1\xb1", messages.DOCUMENT),
    ("words.kv", b"\x80\x04\x95", messages.PICKLE_OF_GENSIM),
    ("word2vec.model", b"\x80\x04\x95", messages.PICKLE_OF_GENSIM),
    ("x.mat", b"MATLAB 7.3 MAT-file, Platform", messages.HDF5_FILE),
    ("x.mat", b"MATLAB 5.0 MAT-file", messages.MATLAB_FILE),
    ("x.onnx", b"\x08\x07", messages.ONNX_MODEL),
    ("x.gguf", b"GGUF\x03", messages.GGUF_MODEL),
    ("x.bin", b"GGUF\x03", messages.GGUF_MODEL),
    ("cc.en.300.vec.gz", b"\x1f\x8b\x08", messages.COMPRESSED_FILE),
    ("glove.txt.xz", b"\xfd7zXZ\x00", messages.COMPRESSED_FILE),
    ("glove.6B.zip", member("glove.6B.50d.txt"), messages.ZIP_OF_TEXT),
    ("all.7z", b"7z\xbc\xaf", messages.ARCHIVE),
    ("GoogleNews.bin", b"2 3\nthe " + bytes(12), messages.BINARY_WORD_VECTORS),
    ("cc.bin", b"\xba\x16\x4f\x2f", messages.FASTTEXT_WORD_VECTORS),
    (
        "x.mtx",
        b"%%MatrixMarket matrix coordinate real general\n%\n2 2 1\n1 1 3\n",
        messages.MATRIX_MARKET,
    ),
    ("x.parquet", b"PAR1\x15\x04", messages.PARQUET_TABLE),
    ("x.data", b"PAR1\x15\x04", messages.PARQUET_TABLE),
    ("x.feather", b"ARROW1\x00\x00", messages.FEATHER_TABLE),
    ("old.feather", b"FEA1\x00\x00", messages.FEATHER_TABLE),
    ("frame.html", b'<table border="1">\n<tr><td>1</td></tr></table>', messages.WEB_PAGE),
    ("export.xml", b'<?xml version="1.0"?><data><x>1</x></data>', messages.WEB_PAGE),
    ("weights.bin", np.arange(4.0).astype("<f4").tobytes(), messages.BARE_BYTES),
    ("paper.pdf", b"%PDF-1.7", messages.PDF),
    ("map.png", b"\x89PNG\r\n", messages.PICTURE),
]
WITHOUT_LINES = {
    messages.SPREADSHEET,
    messages.DOCUMENT,
    messages.ARCHIVE,
    messages.WEB_PAGE,
    messages.PDF,
    messages.PICTURE,
}


@pytest.mark.parametrize(("name", "head", "said"), KINDS)
def test_a_file_of_another_kind_is_told_in_one_sentence(name, head, said):
    told = answer(f"folder/{name}", head, len(head))
    assert str(told) == said.format(place=name)
    assert bool(told.code) == (said not in WITHOUT_LINES)
    with pytest.raises(OtherKind):
        opened(name, head or b"\x80")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.bin", b"1 2\n3 4\n"),
        ("ascii.mat", b"  1.0e0  2.0e0\n  3.0e0  4.0e0\n"),
        ("words.vec", b"2 2\nthe 1 2\ncat 3 4\n"),
        ("x.npz", member("X.npy")),
        ("x.txt", b""),
        ("mine", "é 1 2\n".encode()),
    ],
)
def test_what_may_be_read_is_not_answered(name, content):
    assert answer(name, content, len(content)) is None


def test_nothing_is_ever_unpickled(tmp_path):
    class Harm:
        def __reduce__(self):
            return (open, (str(tmp_path / "harm"), "w"))

    for name in ("x.pkl", "x.pt", "x.npy", "x.npz", "x.csv", "x.safetensors"):
        with pytest.raises(BadInput):
            opened(name, pickle.dumps(Harm()))
    assert list(tmp_path.iterdir()) == []


# ---- the lines are run --------------------------------------------------------------------------


def made(folder, name: str, content: bytes, size: int | None = None, change=("", "")) -> dict:
    """Run the lines given for a file, and read what they made."""
    (folder / name).write_bytes(content)
    told = answer(name, content, size or len(content))
    code = told.code.replace(*change)
    before = set(folder.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (new,) = set(folder.iterdir()) - before
    return {key: e.read().tolist() for key, e in opened(new.name, new.read_bytes()).items()}


@pytest.mark.parametrize("value", [TWO, {"X": TWO}, {"X": TWO.T.copy().T}])
def test_the_lines_for_a_pickle_save_it_as_safetensors(value, tmp_path):
    pytest.importorskip("safetensors", reason="the package safetensors is not installed")
    assert made(tmp_path, 'my "x".pkl', pickle.dumps(value)) == {"X": TWO.tolist()}


@pytest.mark.parametrize("way", ["tensor", "dict", "checkpoint", "steps", "several"])
def test_the_lines_for_torch_save_it_as_safetensors(way, tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X, buffer = torch.tensor(TWO), io.BytesIO()
    inner = {"X": X.T.contiguous().T, "epoch": 3}
    ways = {"tensor": X, "dict": inner, "checkpoint": {"epoch": 3, "state_dict": inner}}
    ways["steps"] = {"optimizer": {"state": {}}, "model": inner}
    ways["several"] = [X, (X, X), X]
    torch.save(ways[way], buffer)
    names = ("0", "2") if way == "several" else ("X",)
    wanted = dict.fromkeys(names, TWO.tolist())
    assert made(tmp_path, "model.pt", buffer.getvalue()) == wanted


def test_the_lines_for_bare_bytes_make_them_an_array(tmp_path):
    content = TWO.astype("<f4").tobytes() + bytes(8)
    found = made(tmp_path, "x.bin", content, change=("768", "2"))
    assert found == {"numbers": [*TWO.tolist(), [0, 0]]}


@pytest.mark.parametrize("column", ["numbers", "vectors"])
@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_the_lines_for_a_table_of_pandas_save_it_as_csv(form, column, tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pd.DataFrame(TWO, columns=["x", "y"])
    change = ("", "")
    if column == "vectors":  # what the comment says is done
        table = pd.DataFrame({"v": [*TWO]})
        change = ("frame.to_csv", 'pd.DataFrame([*frame["v"]]).to_csv')
    getattr(table, f"to_{form}")(buffer := io.BytesIO())
    assert made(tmp_path, f"x.{form}", buffer.getvalue(), change=change) == {
        "numbers": TWO.tolist()
    }


@pytest.mark.parametrize("kind", ["array", "coordinate"])
def test_the_lines_for_matrix_market_make_it_an_array(kind, tmp_path):
    pytest.importorskip("scipy", reason="scipy is not installed")
    cells = "0.5\n3\n-1.25\n4\n"
    if kind == "coordinate":
        cells = "1 1 0.5\n2 1 3\n1 2 -1.25\n2 2 4\n"
    sides = "2 2 4" if kind == "coordinate" else "2 2"
    text = f"%%MatrixMarket matrix {kind} real general\n{sides}\n{cells}"
    assert made(tmp_path, "x.mtx", text.encode()) == {"numbers": TWO.tolist()}


def test_the_lines_for_onnx_save_its_weights(tmp_path):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    weights = [onnx.numpy_helper.from_array(TWO, "W_Q")]
    graph = onnx.helper.make_graph([], "g", [], [], weights)
    content = onnx.helper.make_model(graph).SerializeToString()
    assert made(tmp_path, "model.onnx", content) == {"W_Q": TWO.tolist()}


@pytest.mark.parametrize("family", ["llama", "qwen2"])
def test_the_lines_for_gguf_put_the_halves_of_a_llamas_heads_apart(family, tmp_path):
    """As a llama is rotated in transformers; the files of other models have its order already."""
    gguf = pytest.importorskip("gguf", reason="gguf is not installed")
    shapes = {"attn_q": (24, 8), "attn_k": (12, 8), "attn_v": (12, 8)}  # heads of six rows
    W = {name: np.arange(float(np.prod(shape))).reshape(shape) for name, shape in shapes.items()}
    file = gguf.GGUFWriter(tmp_path / "made", family)
    file.add_head_count(4)
    file.add_head_count_kv(2)
    for name, M in W.items():
        rows = list(range(len(M)))
        if family == "llama" and name != "attn_v":  # row k of a pair, then row k of the other half
            rows = [6 * (r // 6) + r % 6 // 2 + 3 * (r % 2) for r in rows]
        file.add_tensor(f"blk.0.{name}.weight", M[rows].astype(np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    found = made(tmp_path, "m.gguf", (tmp_path / "made").read_bytes())
    assert found == {f"blk.0.{name}.weight": M.tolist() for name, M in W.items()}


@pytest.mark.parametrize("kind", ["h5", "keras"])
def test_the_lines_for_hdf5_save_its_matrices(kind, tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(tmp_path / "weights", "w") as file:
        file["X"], file["layer/W_Q"], file["epoch"] = TWO, 2 * TWO, 3
    content = (tmp_path / "weights").read_bytes()
    if kind == "keras":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("metadata.json", "{}")
            archive.writestr("model.weights.h5", content)
        content = buffer.getvalue()
    found = made(tmp_path, f"x.{kind}", content)
    assert found == {"X": TWO.tolist(), "layer/W_Q": (2 * TWO).tolist()}


def test_the_lines_for_word_vectors_of_gensim_cut_the_words_out(tmp_path):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    vectors = models.KeyedVectors(2)
    vectors.add_vectors(["the", "cat", "dog"], np.vstack([TWO[:1], TWO]))
    vectors.save(str(tmp_path / "saved"))
    content = (tmp_path / "saved").read_bytes()
    assert made(tmp_path, "words.kv", content) == {"numbers": TWO.tolist()}


VECTORS = b"2 2\ncat " + struct.pack("<2f", 0.5, -1.25) + b"\ndog " + struct.pack("<2f", 3, 4)
TEXT = "the 1 2\ncat 0.5 -1.25\ndog 3 4\ncats 5 6\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("glove.txt.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("glove.txt.xz", lzma.compress(TEXT.encode())),
        ("glove.zip", member("glove.txt", TEXT.encode())),
        ("google.bin", VECTORS),
        ("google.bin.gz", gzip.compress(VECTORS, mtime=0)),
    ],
)
def test_the_lines_for_packed_word_vectors_cut_the_words_out(name, content, tmp_path):
    assert made(tmp_path, name, content) == {"numbers": TWO.tolist()}


def test_the_lines_for_a_large_text_cut_the_words_out(tmp_path):
    assert made(tmp_path, "big.vec", TEXT.encode(), MAX_FILE + 1) == {"numbers": TWO.tolist()}


def test_the_lines_for_a_large_array_cut_a_part_out(tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((70, 600)))
    (values,) = made(tmp_path, "big.npy", buffer.getvalue(), MAX_FILE + 1).values()
    assert np.shape(values) == (64, 512)


def test_a_large_safetensors_names_what_records_a_layer():
    told = answer("pythia.safetensors", b"", 9_000_000)
    many = messages.TOO_MANY_BYTES.format(
        place="pythia.safetensors", found="9,000,000", limit="8,388,608"
    )
    assert str(told) == many + messages.LINES_FOR_TENSORS


def test_the_lines_for_a_large_safetensors_cut_tensors_out(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    package = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    part = "encoder.layer.{}.attention.self.{}.weight"
    tensors = {part.format(k, n): torch.tensor(TWO) for k in (0, 1) for n in ("query", "key")}
    made_of = made(tmp_path, "m.safetensors", package.save(tensors), MAX_FILE + 1)
    assert list(made_of) == [part.format(0, "key"), part.format(0, "query")]


@pytest.mark.parametrize("name", ['a"); import os; ("', "a\n.pt", "back\\slash.pt", "{file}.pt"])
def test_a_files_name_is_text_in_the_lines_whatever_it_holds(name):
    told = answer(name + ".pkl", b"\x80", 1)
    compile(told.code, "lines", "exec")
    assert "import os" not in told.code.replace(json.dumps(name + ".pkl"), "").replace(
        json.dumps(name + ".safetensors"), ""
    )
