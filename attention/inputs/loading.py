"""What a person brings: arrays out of a text or a file, which input each of them is, and the settings that follow."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from attention.inputs import files, texts
from attention.inputs.checkpoints import guess, left_out, recognised
from attention.inputs.examples import OWN
from attention.inputs.files import Entry, short, shown
from attention.inputs.matrices import LIMIT, BadInput, Matrix, Recipe, orient
from attention.inputs.polarity import as_allowed, is_added
from attention.inputs.settings import DRAWN, MAX_TOKENS, Settings, as_drawn, check

MASK = "mask"
WEIGHTS = ("W_Q", "W_K", "W_V", "W_O")
FAMILIES = {"weights": ("X", *WEIGHTS, "memory", MASK), "qkv": ("Q", "K", "V", "W_O", MASK)}
ROLES = {
    "X": "X, word embeddings", "W_Q": "W_Q", "W_K": "W_K", "W_V": "W_V", "W_O": "W_O, output weights",
    "memory": "Y, a second sequence", "Q": "Q", "K": "K", "V": "V", MASK: "the mask",
}  # fmt: skip
TYPES = ["csv", "tsv", "txt", "vec", "json", "npy", "npz", "safetensors"]  # of files


@dataclass(frozen=True)
class Asked:
    """How a person wants an array to be taken."""

    words: str = ""  # the rows wanted, by their labels
    cut: str = ""  # the part wanted, as NumPy writes it: "0, :, 64:128"
    stored: str = "in_out"  # how a square weight matrix is stored: (in, out) or (out, in)
    true_means: str = "may look"  # in a mask


AS_IT_IS = Asked()


@dataclass(frozen=True, eq=False)
class Brought:
    """An array on its way to be an input."""

    values: np.ndarray
    tokens: tuple[str, ...] = ()
    stored: str = "in_out"
    name: str = ""  # of the tensor, where it says which weight this is and how it is stored
    remarks: tuple[str, ...] = ()


def opened(filename: str, content: bytes, comma: str | None = None) -> dict[str, Entry]:
    """The arrays of a file by name, whatever form it has; a text file is UTF-8."""
    where = shown(filename)
    if len(content) > files.MAX_FILE:
        raise BadInput(f"{where} has {len(content):,} bytes; at most {files.MAX_FILE:,} are read.")
    if files.is_arrays(filename, content):
        return files.entries(filename, content)
    return texts.entries(decoded(content, where), where, comma)


def decoded(content: bytes, where: str) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadInput(f"{where} is UTF-16 text; save it as UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise BadInput(
            f"{where} is no UTF-8 text: byte {problem.start + 1} is {content[problem.start]:#04x}; save it as UTF-8."
        ) from None


# ---- one array ----------------------------------------------------------------------------------------


def take(entry: Entry, role: str, where: str, asked: Asked = AS_IT_IS) -> Brought:
    """The numbers of an array as this input, checked, and what a person should know of how they were taken."""
    place = where if entry.name in (texts.ALONE, files.ALONE) else f"{where}, {shown(entry.name)}"
    values, tokens = _rows(entry, place, asked.words)
    values, remarks = _cut(values, asked.cut, place), [entry.remark] if entry.remark else []
    part = recognised(entry.name).get(role)
    if part and values.ndim == 2 and not asked.cut:
        if values.shape[0 if part.stored == "out_in" else 1] % part.count:
            raise BadInput(f"{place} is {_size(values)}; three equal parts are wanted, for Q, K and V.")
        values = part.of(values)
    if role == MASK and values.ndim > 2 and (values == values.reshape(-1, *values.shape[-2:])[0]).all():
        values = values.reshape(-1, *values.shape[-2:])[0]  # the same for every item and head
    most = 2 if role in WEIGHTS or role == MASK else 3
    if not 2 <= values.ndim <= most or not values.size:
        raise BadInput(
            f"{place} is {_size(values)}; {'two axes are' if most == 2 else 'two axes, or three with a batch, are'} wanted for {role}. Cut it to that."
        )
    if role == MASK:
        return _mask(values, asked.true_means, place, remarks)
    if values.dtype == bool:
        raise BadInput(f"{place} holds bool; that is a mask, and {role} needs numbers.")
    known = (part.stored, entry.name) if part else (asked.stored, "")
    return Brought(_finite(values, place), tokens, *known, tuple(remarks))


def gather(found: dict[str, Entry], picks: dict[str, tuple[str, Asked]], where: str) -> dict[str, Brought]:
    """The chosen arrays, each as the input it is chosen for: ``picks`` says which name, and how to take it."""
    brought = {role: take(found[name], role, where, asked) for role, (name, asked) in picks.items()}
    biases = left_out(found, [b.name for b in brought.values()])
    if biases:
        role = next(iter(brought))
        names = f"{shown(biases[0], 50)}{' and others' if len(biases) > 1 else ''}"
        told = f"The formula here has no bias: {names} stayed behind, so the numbers differ from the model's."
        brought[role] = replace(brought[role], remarks=(*brought[role].remarks, told))
    return brought


def _mask(values: np.ndarray, true_means: str, place: str, remarks: list[str]) -> Brought:
    said = "0 and −∞ are added" if is_added(values.astype(np.float64)) else f"True and 1 mean {true_means}"
    return Brought(as_allowed(values.astype(np.float64), true_means, place), remarks=(*remarks, f"The mask: {said}."))


def _rows(entry: Entry, place: str, words: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """The rows of a table that are wanted, in that order; of any other array all of it."""
    if words.strip():
        chosen = wanted(entry, words, place)
        return entry.pick(chosen) if entry.pick else entry.read()[..., chosen, :], tuple(entry.rows[k] for k in chosen)
    if entry.pick and entry.shape[0] > MAX_TOKENS:
        raise BadInput(f"{place} holds {entry.shape[0]:,} words; type those you want, at most {MAX_TOKENS}.")
    return entry.read(), entry.rows


def wanted(entry: Entry, words: str, place: str) -> list[int]:
    """The rows with these labels, in the order typed, with spaces between them, or with commas where labels have spaces.

    A word that is not there is answered with near ones.
    """
    found = []
    first = {label: k for k, label in reversed(list(enumerate(entry.rows)))}
    typed = words.split()
    if not all(word in first for word in typed) and ("," in words or words.strip() in first):
        typed = [word.strip() for word in words.split(",") if word.strip()]
    for word in typed:
        if word not in first:
            near = [label for label in first if label.lower().startswith(word.lower())][:8]
            hint = f"; it has {', '.join(short(label, 20) for label in near)}" if near else ""
            raise BadInput(f"{place} has no word “{short(word, 24)}”{hint}.")
        found.append(first[word])
    return found


def _cut(values: np.ndarray, text: str, place: str) -> np.ndarray:
    """A part of an array, as NumPy writes it, counted from 0: whole numbers, a:b and : are understood."""
    parts = [part.strip() for part in text.strip("[] ").split(",") if part.strip()]
    if len(parts) > values.ndim:
        raise BadInput(f"{place} has {values.ndim} axes; the slice “{short(text, 24)}” has {len(parts)}.")
    index = []
    for axis, part in enumerate(parts):
        found = re.fullmatch(r"(\d{1,6})|(\d{0,6}):(\d{0,6})", part)
        if not found:
            raise BadInput(
                f"“{short(part, 24)}” is no slice; a number such as 0, a range such as 0:64, or : is wanted."
            )
        one, start, end = found.groups()
        picked = int(one) if one else slice(int(start or 0), int(end) if end else values.shape[axis])
        if (picked if one else picked.stop - 1) >= values.shape[axis] or (not one and picked.start >= picked.stop):
            raise BadInput(f"the slice {part} lies outside of {place}, which is {_size(values)}; places count from 0.")
        index.append(picked)
    return values[tuple(index)]


def _finite(values: np.ndarray, place: str) -> np.ndarray:
    """As float64, which holds every accepted number exactly; or where the first stands that is none, or too large."""
    values = values.astype(np.float64)
    odd = np.argwhere(~(np.abs(values) <= LIMIT))
    if len(odd):
        value, words = values[tuple(odd[0])], ["block"] * (values.ndim - 2) + ["row", "column"]
        at = ", ".join(f"{word} {k + 1}" for word, k in zip(words, odd[0], strict=True))
        raise BadInput(f"{place}, {at} holds {value:g}; numbers from -1e12 to 1e12 are allowed.")
    return values


def _size(values: np.ndarray) -> str:
    return " × ".join(map(str, values.shape)) or "one number"


def likely(name: str, entry: Entry, s: Settings) -> str:
    """What a single array most likely is."""
    if entry.dtype == "bool":
        return MASK
    known = next((role for role in ROLES if guess([name], role) == name), None)
    return known or ("Q" if s.typed_qkv else "X")


def picks_of(names: list[str], family: str, of_layer: int | None) -> dict[str, str | None]:
    """Which array most likely is which input of the family."""
    return {role: guess(names, role, of_layer) for role in FAMILIES[family]}


def family_of(names: list[str]) -> str:
    """Whether these look like embeddings and weights, or like Q, K and V."""
    return "qkv" if all(guess(names, role) for role in "QKV") and not guess(names, "X") else "weights"


# ---- the settings that follow ---------------------------------------------------------------------------


def use(s: Settings, brought: dict[str, Brought]) -> tuple[Settings, list[str]]:
    """The settings with these arrays as inputs; and what else had to change, in sentences.

    X, Q, K and V bring their tokens. Weights that no longer fit are rolled anew, a mask or W_O that no
    longer fits is taken away.
    """
    if not brought:
        raise BadInput("choose what the numbers are to be.")
    remarks = [f"Now on the board: {', '.join(f'{name} ({_size(b.values)})' for name, b in brought.items())}."]
    remarks += [remark for b in brought.values() for remark in b.remarks]
    into = _projected if brought.keys() & set("QKV") else _embedded
    s = into(s, brought, remarks)
    s = replace(s, cell=None, **({"example": OWN, "names": {}} if brought.keys() & {"X", "Q"} else {}))
    s = _with_output(s, brought.get("W_O"), remarks)
    s = _with_heads(s, remarks)
    s = _with_mask(s, brought.get(MASK), remarks)
    return check(s), list(dict.fromkeys(remarks))


def _projected(s: Settings, brought: dict[str, Brought], remarks: list[str]) -> Settings:
    """Q, K and V themselves."""
    if odd := [name for name in ("X", "memory", "W_Q", "W_K", "W_V") if name in brought]:
        raise BadInput(f"{odd[0]} cannot stand beside Q, K and V, which are computed from it; choose one or the other.")
    missing = [name for name in "QKV" if name not in brought and not s.typed_qkv]
    if missing:
        raise BadInput(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; Q, K and V are wanted together."
        )
    m = {name: Matrix(brought[name].values) if name in brought else s.matrices[name] for name in "QKV"}
    n_q, n_k = m["Q"].shape[-2], m["K"].shape[-2]
    queries = brought["Q"].tokens if "Q" in brought else ()
    keys = next((brought[name].tokens for name in "KV" if name in brought and brought[name].tokens), ())
    crossed = n_q != n_k or bool(keys and queries and keys != queries) or (bool(s.memory_tokens) and s.typed_qkv)
    tokens = _tokens(n_q, queries or (() if crossed else keys), s.tokens)
    memory = _tokens(n_k, keys, s.memory_tokens or (tokens if n_q == n_k else ()), "k") if crossed else ()
    return replace(s, tokens=tokens, memory_tokens=memory, matrices=m | _kept(s, "W_O"))


def _embedded(s: Settings, brought: dict[str, Brought], remarks: list[str]) -> Settings:
    """X, perhaps a second sequence, and weights."""
    if s.typed_qkv:
        if "X" not in brought and brought.keys() - {"W_O", MASK}:
            raise BadInput("X is missing: Q, K and V are typed themselves now, so embeddings have to come along.")
        if "X" not in brought:
            return s
    m = {name: Matrix(b.values) for name, b in brought.items() if name in ("X", "memory")}
    m = _kept(s, "X", "memory", "W_Q", "W_K", "W_V", "W_O") | m
    tokens, memory = s.tokens, s.memory_tokens
    if "X" in brought:
        tokens = _tokens(m["X"].shape[-2], brought["X"].tokens, s.tokens)
    if "memory" in brought:
        memory = _tokens(m["memory"].shape[-2], brought["memory"].tokens, s.memory_tokens, "k")
    elif "memory" in m and (m["memory"].shape[:-2], m["memory"].shape[-1]) != (m["X"].shape[:-2], m["X"].shape[-1]):
        del m["memory"]
        memory = ()
        remarks.append("The second sequence did not fit to X and was taken away.")
    m |= _weights(m, m["X"].shape[-1], s, brought, remarks)
    return replace(s, tokens=tokens, memory_tokens=memory, matrices=m)


def _weights(m: dict[str, Matrix], d: int, s: Settings, brought: dict[str, Brought], remarks: list[str]) -> dict:
    """W_Q, W_K and W_V for this d_model: those brought, those that still fit, and the others rolled anew."""
    found, rolled, fitted = {}, [], []
    for name in ("W_Q", "W_K", "W_V"):
        if name in brought:
            found[name] = _oriented(name, brought[name], d)
            remarks.append(found[name].remark)
    for name, partner in (("W_Q", "W_K"), ("W_K", "W_Q"), ("W_V", None)):
        if name in found:
            continue
        old = m.get(name)
        width = s.d_v * s.heads if name == "W_V" else s.d_k * s.heads
        width = found[partner].shape[1] if partner in found else old.shape[1] if old else width
        if old is not None and old.shape[0] == d:
            found[name] = old if old.shape[1] == width else old.resized(d, width)
            fitted += [name] * (old.shape[1] != width)
        else:
            found[name] = Matrix.rolled((d, width), (old and old.recipe) or Recipe("xavier", WEIGHTS.index(name) + 1))
            rolled.append(name)
    if fitted:
        remarks.append(f"{_were(fitted)} fitted to {found[fitted[0]].shape[1]} columns: numbers that have room stayed.")
    if rolled:
        remarks.append(f"{_were(rolled)} rolled anew, because d_model is {d} now.")
    return found


def _were(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last} were" if most else f"{last} was"


def _oriented(role: str, b: Brought, d_in: int) -> Matrix:
    """A weight as (d_in, d_out): by what its tensor's name says, else the way that fits."""
    if not b.name:
        values, remark = orient(b.values, d_in, role, b.stored)
        return Matrix(values, remark=remark)
    values, way = (b.values.T, "(out, in), and transposed") if b.stored == "out_in" else (b.values, "(in, out)")
    if len(values) != d_in:
        raise BadInput(
            f"{role} from {shown(b.name, 60)} takes {len(values)} numbers in; {d_in} come, the width of what it meets."
        )
    return Matrix(values, remark=f"{role} is {shown(b.name, 60)}, by its name stored as {way}.")


def _with_output(s: Settings, brought: Brought | None, remarks: list[str]) -> Settings:
    width = s.shape("V" if s.typed_qkv else "W_V")[1]
    if brought is not None:
        matrix = _oriented("W_O", brought, width)
        remarks.append(matrix.remark)
        return s.with_matrix("W_O", matrix)
    if "W_O" in s.matrices and s.shape("W_O")[0] != width:
        remarks.append("W_O did not fit and was taken away.")
        return replace(s, matrices={name: matrix for name, matrix in s.matrices.items() if name != "W_O"})
    return s


def _with_heads(s: Settings, remarks: list[str]) -> Settings:
    if s.heads in s.possible_heads:
        return s
    remarks.append(f"{s.heads} heads cannot share these columns; there is 1 now.")
    return replace(s, heads=1)


def _with_mask(s: Settings, brought: Brought | None, remarks: list[str]) -> Settings:
    n_q, n_k = len(s.tokens), len(s.key_tokens)
    if brought is not None:
        if brought.values.shape != (n_q, n_k):
            raise BadInput(f"the mask is {_size(brought.values)}; {n_q} queries × {n_k} keys are wanted.")
        return replace(s, mask=DRAWN, drawn=as_drawn(brought.values), padding=())
    if s.mask == DRAWN and np.shape(s.drawn) != (n_q, n_k):
        remarks.append("The drawn mask did not fit and was taken away.")
        s = replace(s, mask="none", drawn=())
    if any(k >= n_k for k in s.padding):
        remarks.append("The padding did not fit and was taken away.")
        s = replace(s, padding=())
    return s


def _kept(s: Settings, *names: str) -> dict[str, Matrix]:
    return {name: s.matrices[name] for name in names if name in s.matrices}


def _tokens(count: int, given: tuple[str, ...], old: tuple[str, ...], letter: str = "w") -> tuple[str, ...]:
    """The labels that came along, or the names there were, or w1, w2, …."""
    if given:
        return given
    return old if len(old) == count else tuple(f"{letter}{k}" for k in range(1, count + 1))
