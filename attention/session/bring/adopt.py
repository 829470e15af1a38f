"""What a person brings: arrays out of a text or a file, which input each of them is, and the
settings that follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from attention.limits import MAX_DIMENSION, MAX_TOKENS, BadInput
from attention.readers.cells.entry import ArrayEntry
from attention.readers.cells.mask_polarity import HIDDEN_FROM, is_bias
from attention.readers.select import (
    FINISHED,
    MASK,
    TRANSPOSED,
    SelectedArray,
    Selection,
    select,
    size,
    too_wide,
)
from attention.session.bring.finished import looks_finished, with_weights, without_weights
from attention.session.edit import changes
from attention.session.edit.changes import set_heads
from attention.session.edit.parts import fitted
from attention.session.state.about import on_its_own
from attention.session.state.matrix import Matrix, Recipe, orient
from attention.session.state.origin import Origin
from attention.session.state.settings import DRAWN, Settings, TooManyTokens, as_drawn
from attention.session.state.validate import check, check_columns, check_token_count
from attention.vocabulary.sentences import in_words, they_are
from attention.vocabulary.stages import BIASES, WEIGHTS

FAMILIES = {
    "weights": ("X", *WEIGHTS, "memory", MASK),
    "qkv": ("Q", "K", "V", "W_O", MASK),
    "finished": (FINISHED,),
}


ALIASES = {"mask": "allowed", "memory": "y"}  # other names of an input
WITHOUT_WINDOW = "The mask sets which keys are visible; the window is removed."
ROLES = {
    "X": "X, word embeddings",
    "W_Q": "W_Q",
    "W_K": "W_K",
    "W_V": "W_V",
    "W_O": "W_O, output weights",
    "memory": "Y, second sentence",
    "Q": "Q",
    "K": "K",
    "V": "V",
    MASK: "mask",
    FINISHED: "A, finished attention weights",
}


def named(names: Iterable[str], role: str) -> str | None:
    """Return the name of this input in any case, without its _, or an alias; None if none is there.

    >>> named(["wq", "q_proj.weight"], "W_Q"), named(["q_proj.weight"], "W_Q")
    ('wq', None)
    """
    own = {name.lower(): name for name in names}
    short = ALIASES.get(role, role.lower().replace("_", ""))
    return own.get(role.lower()) or own.get(short)


def is_square_mask(entry: ArrayEntry) -> bool:
    """Check for a square of 0 and −∞, or numbers as low."""
    if entry.pick or len(entry.shape) < 2 or entry.shape[-2] != entry.shape[-1]:
        return False
    try:
        values = np.asarray(entry.read(), np.float64)
    except BadInput:
        return False
    hidden = values <= HIDDEN_FROM
    return bool(hidden.any() and ((values == 0) | hidden).all())


def likely(name: str, entry: ArrayEntry, s: Settings) -> str:
    """What a single array most likely is."""
    if entry.dtype == "bool" or is_square_mask(entry):
        return MASK
    if looks_finished(entry):
        return next((role for role in ROLES if named([name], role) == name), FINISHED)
    others = (role for role in ROLES if role != FINISHED)
    known = next((role for role in others if named([name], role) == name), None)
    return known or ("Q" if s.typed_qkv else "X")


def picks_of(found: dict[str, ArrayEntry], family: str) -> dict[str, str | None]:
    """Return the array called as each input of the family.

    One with rows and columns comes first. One with a single axis is refused when it is read; only
    an input without which nothing is computed may be one.
    """
    names = [name for name, entry in found.items() if len(entry.shape) >= 2]
    flat = [name for name, entry in found.items() if len(entry.shape) == 1]
    needed = {"X", "Q", "K", "V", *WEIGHTS}
    picks = {
        role: named(names, role) or (named(flat, role) if role in needed else None)
        for role in FAMILIES[family]
    }
    mask = picks.get(MASK)
    if mask == MASK in found and found[MASK].dtype == "text" and is_bias(found[MASK].read()):
        picks[MASK] = None  # ALiBi in a file of this page, which hides nothing
    if family == "finished" and picks[FINISHED] is None:
        picks[FINISHED] = next((name for name in names if looks_finished(found[name])), None)
    return picks


def axis_of(found: dict[str, ArrayEntry]) -> str:
    """What a third axis of Q, K and V counts: heads, where there are four axes, or the file says
    how many heads.
    """
    heads = found.get("heads")
    many = heads is not None and not heads.shape and int(heads.read()) > 1
    deep = any(len(found[name].shape) > 3 for name in "QKV" if name in found)
    return "heads" if many or deep else "batch"


def family_of(found: dict[str, ArrayEntry]) -> str:
    """Whether these look like embeddings and weights, like Q, K and V, or like finished weights."""
    names = list(found)
    if all(named(names, role) for role in "QKV") and not named(names, "X"):
        return "qkv"
    if any(named(names, role) for role in ("X", "memory", *WEIGHTS, *"QKV")):
        return "weights"
    own = named(names, FINISHED)  # as this page saves them, with their mask
    of_rows = [found[own]] if own else [e for e in found.values() if len(e.shape) >= 2]
    return "finished" if of_rows and all(map(looks_finished, of_rows)) else "weights"


def with_own_parts(
    brought: dict[str, SelectedArray],
    found: dict[str, ArrayEntry],
    picks: dict[str, tuple[str, Selection]],
    where: str,
) -> dict[str, SelectedArray]:
    """The arrays with the positions, biases and distances that a file of this page has beside."""
    beside = {"P": "X", "R": "W_Q", **{name: f"W_{name[-1]}" for name in BIASES}}
    more = {}
    for name, wanted in beside.items():
        own = wanted in brought and picks.get(wanted, ("",))[0] == wanted
        if own and name in found and len(found[name].shape) in (1, 2):
            row = ArrayEntry.of(name, np.atleast_2d(found[name].read()))
            source = brought[wanted].source.replace(f", {wanted}", f", {name}")
            more[name] = replace(select(row, name, where), source=source)
    return brought | more


# ---- the settings that follow -------------------------------------------------------------------


def adopt(
    s: Settings,
    brought: dict[str, SelectedArray],
    heads: int | None = None,
) -> tuple[Settings, list[str]]:
    """The settings with these arrays as inputs; and what else had to change, in sentences.

    X, Q, K and V bring their tokens. Weights that no longer fit are rolled anew, and so are
    embeddings where weights come without them; a mask, padding or W_O that no longer fits is taken
    away. ``heads`` is how many share the columns; by default as many as before. The sentences hold
    before the numbers are used and after.
    """
    # First the arrays and their tokens, with weights that fit them; then what stands on these:
    # W_O, the heads, the padding, the mask; last, whether all of it fits together.
    if not brought:
        raise BadInput("choose what the numbers are.")
    remarks = [
        "Now on the board:"
        f" {', '.join(f'{name} ({size(b.values.shape)})' for name, b in brought.items())}."
    ]
    if FINISHED in brought:
        return _finished(s, brought, remarks)
    s = before = without_weights(s)
    s = _wide_enough(s, brought, remarks)
    wanted = heads or next((b.heads for b in brought.values() if b.heads), None)
    if wanted not in (None, s.heads) and s.kv_heads < s.heads:  # so many heads share none yet
        s = changes.set_kv_heads(s, s.heads)
    if _own_keys(s, brought):  # and values, so that d_v stays
        s = changes.set_kv_heads(s, s.heads)
    remarks += [remark for b in brought.values() for remark in b.remarks]
    s = on_its_own(s) if brought.keys() & {"X", "Q"} else s
    if brought.keys() & set("QKV"):
        s = _projected(s, brought)
    else:
        known = wanted or (s.heads if s.kv_heads < s.heads else None)
        s = _embedded(s, brought, remarks, known)
    s = replace(s, cell=None)
    if (
        brought.keys() & {"X", "Q"}
        and s.tokens == before.tokens
        and not (brought.get("X") or brought["Q"]).tokens
    ):
        remarks.append("No words were given, so the words on the board stay.")
    s = _with_output(s, brought.get("W_O"), remarks)
    for name in brought.keys() & {"b_O", "R"}:
        s = s.with_matrix(name, _matrix(brought[name]))
    s = _with_heads(s, wanted, remarks)
    if before.kv_heads < before.heads and s.kv_heads == s.heads > 1:
        remarks.append("Each head now has its own keys and values.")
    keys_came = brought.keys() & (
        {"K", "V"} if s.typed_qkv else {"memory"} if s.memory_tokens else {"X"}
    )
    s = _with_padding(s, MASK in brought or bool(keys_came), remarks)
    s = _with_mask(s, brought.get(MASK), remarks)
    s, said = fitted(before, s)
    remarks += said
    return check(s), list(dict.fromkeys(filter(None, remarks)))


def _finished(
    s: Settings, brought: dict[str, SelectedArray], remarks: list[str]
) -> tuple[Settings, list[str]]:
    """Weights alone, which need nothing beside them."""
    if len(brought) > 1:
        raise BadInput("finished weights are used alone; choose no other array with them.")
    weights = brought[FINISHED]
    n_q, n_k = weights.values.shape[-2:]
    if max(n_q, n_k) > MAX_TOKENS:
        raise TooManyTokens(max(n_q, n_k), ["finished weights"])
    tokens = _tokens(n_q, weights.tokens, s.tokens)
    keys = () if n_q == n_k else _tokens(n_k, (), s.memory_tokens, "k")
    s, said = with_weights(s, weights, tokens, keys)
    remarks += [remark for remark in weights.remarks if remark]
    return check(s), [*remarks[:1], *said, *remarks[1:]]


def _projected(s: Settings, brought: dict[str, SelectedArray]) -> Settings:
    """Q, K and V themselves."""
    if odd := [name for name in ("X", "memory", "W_Q", "W_K", "W_V") if name in brought]:
        raise BadInput(
            f"{odd[0]} cannot be used together with Q, K and V, which are computed from it;"
            " choose one or"
            " the other."
        )
    missing = [name for name in "QKV" if name not in brought and not s.typed_qkv]
    if missing:
        raise BadInput(f"{they_are(missing)} missing; Q, K and V are needed together.")
    m = {name: _matrix(brought[name]) if name in brought else s.matrices[name] for name in "QKV"}
    n_q, n_k = m["Q"].shape[-2], m["K"].shape[-2]
    queries = brought["Q"].tokens if "Q" in brought else ()
    keys = next(
        (brought[name].tokens for name in "KV" if name in brought and brought[name].tokens), ()
    )
    crossed = (
        n_q != n_k
        or bool(keys and queries and keys != queries)
        or (bool(s.memory_tokens) and s.typed_qkv)
    )
    tokens = _tokens(n_q, queries or (() if crossed else keys), s.tokens)
    memory = (
        _tokens(n_k, keys, s.memory_tokens or (tokens if n_q == n_k else ()), "k")
        if crossed
        else ()
    )
    return replace(
        s, tokens=tokens, memory_tokens=memory, matrices=m | _kept(s, "W_O", "P", "R", *BIASES)
    )


def _wide_enough(s: Settings, brought: dict[str, SelectedArray], remarks: list[str]) -> Settings:
    """With embeddings drawn as wide as the weights take them, where all three came alone."""
    weights = {name: brought[name] for name in ("W_Q", "W_K", "W_V") if name in brought}
    if not weights or brought.keys() & {"X", "memory"}:
        return s
    sides = [b.values.shape[:1] if b.transposed else b.values.shape for b in weights.values()]
    if missing := [name for name in ("W_Q", "W_K", "W_V") if name not in weights]:
        for (name, b), widths in zip(weights.items(), sides, strict=True):
            if not s.typed_qkv and s.d_model not in widths:
                raise BadInput(
                    f"{name} is {size(b.values.shape)}, and X has {s.d_model} columns; add"
                    f" {in_words(missing)}, and X is drawn to fit, or add an X that fits."
                )
        return s
    common = [side for side in sides[0] if all(side in other for other in sides)]
    X = s.matrices.get("X")
    if s.d_model in common and X and X.recipe and X.recipe.by_word:
        remarks.append(
            f"X was not given, so it is drawn: {s.d_model} numbers for each word, as many as the"
            " weights have inputs."
        )
    if not common or s.d_model in common:
        return s
    if common[0] > MAX_DIMENSION:
        raise too_wide(f"the weights have {common[0]:,} inputs")
    drawn = "X and Y are drawn" if s.memory_tokens else "X is drawn"
    ends = (
        "Q, K and V, which were entered directly, are replaced; weights that were not given are"
        " drawn."
    )
    remarks += [
        f"{drawn} again: {common[0]} numbers for each word, as many as the weights have inputs.",
        ends if s.typed_qkv else changes.sentence_ends(s),
    ]
    return changes.draw_embeddings(s, common[0])


def _check_tokens_are_rows(shape: tuple[int, ...], brought: dict[str, SelectedArray]) -> None:
    """Refuse an X that fits no weight as it is, and all of them with its columns as tokens."""
    sides = [brought[name].values.shape for name in ("W_Q", "W_K", "W_V") if name in brought]
    n, width = shape[-2:]
    if "X" in brought and sides and all(n in side and width not in side for side in sides):
        raise BadInput(
            f"X is {size(shape)}, and the weights take {n} numbers for each token; tick"
            " *transposed* for X if it has one column for each token."
        )


def _embedded(
    s: Settings,
    brought: dict[str, SelectedArray],
    remarks: list[str],
    heads: int | None,
) -> Settings:
    """X, perhaps a second sequence, and weights; keys may be shared by so many ``heads``."""
    if s.typed_qkv:
        if "X" not in brought and brought.keys() - {"W_O", MASK}:
            raise BadInput(
                "X is missing: Q, K and V are now entered directly, so embeddings are needed as"
                " well."
            )
        if "X" not in brought:
            return s
    m = {name: _matrix(b) for name, b in brought.items() if name in ("X", "memory")}
    m = _kept(s, "X", "memory", "W_Q", "W_K", "W_V", "W_O", "P", "R") | m
    m |= _kept(s, *(b for b in BIASES if b.replace("b_", "W_") not in brought))
    tokens, memory = s.tokens, s.memory_tokens
    if "X" in brought:
        tokens = _tokens(m["X"].shape[-2], brought["X"].tokens, s.tokens)
    if "memory" in brought:
        memory = _tokens(m["memory"].shape[-2], brought["memory"].tokens, s.memory_tokens, "k")
    elif "memory" not in m and memory:
        memory = ()
        remarks.append("The second sentence has no embeddings and is removed.")
    elif "memory" in m and (m["memory"].shape[:-2], m["memory"].shape[-1]) != (
        m["X"].shape[:-2],
        m["X"].shape[-1],
    ):
        del m["memory"]
        memory = ()
        remarks.append("The second sentence does not fit X and is removed.")
    _check_tokens_are_rows(m["X"].shape, brought)
    check_columns("X", m["X"].shape[-1])  # before weights of that width are drawn
    m |= _adopt_weights(m, m["X"].shape[-1], s, brought, remarks, heads)
    m |= {name: _matrix(brought[name]) for name in ("P", "b_Q", "b_K", "b_V") if name in brought}
    return replace(s, tokens=tokens, memory_tokens=memory, matrices=m)


def _adopt_weights(
    m: dict[str, Matrix],
    d: int,
    s: Settings,
    brought: dict[str, SelectedArray],
    remarks: list[str],
    heads: int | None,
) -> dict[str, Matrix]:
    """W_Q, W_K and W_V for this d_model: those brought, those that still fit, and the others rolled
    anew.
    """
    found: dict[str, Matrix] = {}
    rolled: list[str] = []
    fitted: list[str] = []
    for name in ("W_Q", "W_K", "W_V"):
        if name in brought:
            found[name] = _oriented(name, brought[name], d, "X")
            check_columns(name, found[name].shape[1])
            remarks.append(found[name].remark)
    unequal = {"W_Q", "W_K"} <= found.keys() and found["W_Q"].shape[1] != found["W_K"].shape[1]
    if unequal and not _shares(found["W_Q"], found["W_K"], heads):
        widths = found["W_Q"].shape[1], found["W_K"].shape[1]
        raise BadInput(
            f"W_Q has {widths[0]} columns and W_K {widths[1]}; both need the same. If heads share"
            " keys, enter the number of heads, or select one head of each."
        )
    shares = s.heads // s.kv_heads  # heads of queries that have a head of keys in common
    if "W_Q" in found and found["W_Q"].shape[1] % s.heads:  # other heads share no more
        shares = 1
    for name, partner in (("W_Q", "W_K"), ("W_K", "W_Q"), ("W_V", None)):
        if name in found:
            continue
        old = m.get(name)
        width = s.d_v * s.kv_heads if name == "W_V" else s.d_k * s.heads
        width = old.shape[1] if old else width
        if partner in found:
            width = found[partner].shape[1]
            width = width * shares if name == "W_Q" else width // shares
        if old is not None and old.shape[0] == d:
            found[name] = old if old.shape[1] == width else old.resized(d, width, name)
            if old.shape[1] != width:
                fitted.append(name)
        else:
            recipe = (old and old.recipe) or Recipe("xavier", WEIGHTS.index(name) + 1)
            found[name] = Matrix.rolled((d, width), recipe.of(name))
            rolled.append(name)
    if fitted:
        remarks.append(
            f"{they_are(fitted)} fitted to {found[fitted[0]].shape[1]} columns: numbers that fit"
            " are kept."
        )
    if rolled:
        remarks.append(f"{they_are(rolled)} drawn again (d_model = {d}).")
    return found


def _own_keys(s: Settings, brought: dict[str, SelectedArray]) -> bool:
    """Whether W_Q and W_K come alone, as wide as each other, where heads share their keys now."""
    if s.typed_qkv or s.kv_heads == s.heads or not {"W_Q", "W_K"} <= brought.keys():
        return False
    sides = [sorted(brought[name].values.shape) for name in ("W_Q", "W_K")]
    return "W_V" not in brought and sides[0] == sides[1]


def _shares(W_Q: Matrix, W_K: Matrix, heads: int | None) -> bool:
    """Whether so many heads of queries can share those of keys."""
    d_k, rest = divmod(W_Q.shape[1], heads or 0) if heads else (0, 1)
    if rest or not d_k or W_K.shape[1] % d_k:
        return False
    return (heads or 0) % (W_K.shape[1] // d_k) == 0


def _oriented(role: str, b: SelectedArray, d_in: int, giver: str) -> Matrix:
    """A weight as (d_in, d_out): transposed as the user said, else the way that fits what the
    ``giver`` gives it.
    """
    if not b.transposed:
        values, remark = orient(b.values, d_in, role)
        turned = TRANSPOSED if b.source and values is not b.values else ""
        b = replace(b, values=values, source=b.source + turned)
        return replace(_matrix(b), remark=remark)
    rows, columns = b.values.shape
    if rows != d_in:
        raise BadInput(
            f"{role}, transposed, is {rows} × {columns}; expected {d_in} rows, as many as {giver}"
            " has columns."
        )
    return replace(_matrix(b), remark=f"{role} was transposed to {rows} × {columns}.")


def _matrix(b: SelectedArray) -> Matrix:
    """The numbers as they came, and from where."""
    return Matrix(b.values, origin=_origin(b))


def _origin(b: SelectedArray) -> Origin | None:
    return Origin.of(b.source, b.values) if b.source else None


def _with_output(s: Settings, brought: SelectedArray | None, remarks: list[str]) -> Settings:
    giver = "V" if s.typed_qkv else "W_V"
    width = s.d_v * s.heads if s.heads in s.possible_heads else s.shape(giver)[1]
    if brought is not None:
        matrix = _oriented("W_O", brought, width, giver)
        remarks.append(matrix.remark)
        return s.with_matrix("W_O", matrix)
    if "W_O" in s.matrices and s.shape("W_O")[0] != width:
        remarks.append("W_O does not fit and is removed.")
        return replace(
            s, matrices={name: matrix for name, matrix in s.matrices.items() if name != "W_O"}
        )
    return s


def _with_heads(s: Settings, heads: int | None, remarks: list[str]) -> Settings:
    if heads and heads not in s.possible_heads:
        raise BadInput(
            f"{heads} heads cannot share these columns; choose"
            f" {', '.join(map(str, s.possible_heads))}."
        )
    if heads:
        return set_heads(s, heads)
    if s.heads in s.possible_heads:
        return s
    remarks.append(f"{s.heads} heads cannot share these columns; there is now one head.")
    return set_heads(s, 1)


def _with_padding(s: Settings, changed: bool, remarks: list[str]) -> Settings:
    """Keys that were hidden by their place stay so only while they are the same keys."""
    if not s.padding or not changed:
        return s
    remarks.append("The padding belongs to other keys and is removed.")
    return replace(s, padding=())


def _with_mask(s: Settings, brought: SelectedArray | None, remarks: list[str]) -> Settings:
    n_q, n_k = len(s.tokens), len(s.key_tokens)
    if brought is not None:
        values = brought.values
        if values.shape == (1, n_k):  # of keys, the same for all queries
            values = np.broadcast_to(values, (n_q, n_k))
        if values.shape != (n_q, n_k):
            raise BadInput(
                f"the mask is {size(values.shape)}; expected {n_q} queries × {n_k} keys."
            )
        drawn = as_drawn(values)
        if s.window:
            remarks.append(WITHOUT_WINDOW)
        return replace(s, mask=DRAWN, drawn=drawn, drawn_from=_origin(brought), window=0)
    if s.mask == DRAWN and np.shape(s.drawn) != (n_q, n_k):
        remarks.append("The drawn mask does not fit and is removed.")
        s = replace(s, mask="none", drawn=(), drawn_from=None)
    return s


def _kept(s: Settings, *names: str) -> dict[str, Matrix]:
    return {name: s.matrices[name] for name in names if name in s.matrices}


def _tokens(
    count: int, given: tuple[str, ...], old: tuple[str, ...], letter: str = "w"
) -> tuple[str, ...]:
    """Return the labels that came along, or the names there were, or w1, w2, …."""
    check_token_count(count)
    if given:
        return given
    return old if len(old) == count else tuple(f"{letter}{k}" for k in range(1, count + 1))
