"""Do the settings fit together? If not, one sentence says what does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.core.masks import MASKS
from attention.core.scores import SIGMOID
from attention.frameworks.diagnosis.mistakes import BY_NAME
from attention.frameworks.records import CONVENTIONS
from attention.limits import (
    LIMIT,
    MAX_ANSWER,
    MAX_BATCH,
    MAX_BLANKS,
    MAX_CELLS,
    MAX_DIMENSION,
    MAX_JOINED,
    MAX_LONG_HEADS,
    MAX_LONG_SIZE,
    MAX_LONG_TOKENS,
    MAX_SCALE,
    MAX_SEED,
    MAX_SIDE,
    MAX_TOKEN_LENGTH,
    MAX_TOKENS,
    BadInput,
)
from attention.models.examples import CAPTURES
from attention.readers.cells.printouts import brief
from attention.samples.variance import DISTRIBUTIONS
from attention.session.state.matrix import check_numbers
from attention.session.state.settings import (
    DRAWN,
    DRAWN_MASK,
    FILLS,
    KINDS,
    SOFTMAX,
    TRUE_MASK,
    UPLOADED,
    Settings,
    TooManyTokens,
    bounds,
    projected_size,
    relative,
)
from attention.vocabulary.characters import unshown
from attention.vocabulary.numbers import megabytes
from attention.vocabulary.stages import STAGES


def check(settings: Settings) -> Settings:
    """The settings, with views pulled back inside what is there; or what does not fit.

    Finished weights whose numbers, rule or mask were set otherwise are an attention like any. Of
    more tokens than a board shows nothing is made; TooManyTokens holds them where all else fits.
    """
    n_q, n_k = len(settings.tokens), len(settings.key_tokens)
    _check_tokens(settings)
    _check_choices(settings)
    _check_shapes(settings, n_q, n_k)
    if settings.mask == DRAWN and np.shape(settings.drawn) != (n_q, n_k):
        rows, columns = (np.shape(settings.drawn) + (0, 0))[:2]
        raise BadInput(
            f"the drawn mask is {rows} × {columns}; expected {n_q} queries × {n_k} keys."
        )
    if any(not 0 <= key < n_k for key in settings.padding):
        raise BadInput(f"padding names key {max(settings.padding) + 1}; there are {n_k} keys.")
    inside = {
        name: min(max(getattr(settings, name), least), most)
        for name, (least, most) in bounds(settings).items()
    }
    stages = tuple(name for name in STAGES if name in settings.paper_stages)
    heads = tuple(sorted({head for head in settings.paper_heads if 0 <= head < settings.heads}))
    padding = tuple(dict.fromkeys(settings.padding))
    settings = replace(settings, **inside, padding=padding, paper_stages=stages, paper_heads=heads)
    if max(n_q, n_k) > MAX_TOKENS:
        left = _left_behind(settings)
        raise TooManyTokens(max(n_q, n_k), left, None if left else settings)
    cells = max(settings.batch, 1) * settings.heads * n_q * n_k
    if cells > MAX_CELLS:
        raise BadInput(f"{cells:,} scores are too many for this page; at most {MAX_CELLS:,} fit.")
    return replace(settings, finished=settings.weights_alone, pinned=_pinned(settings))


def _left_behind(s: Settings) -> list[str]:
    """What of these settings Long context has no place for, in words."""
    size = projected_size(s)
    there = {
        DRAWN_MASK: s.mask == DRAWN,
        "−1e9 for what is hidden": s.fill != TRUE_MASK,
        "finished weights" if s.finished else "raw scores": s.softmax is False,
        SOFTMAX[SIGMOID]: s.softmax == SIGMOID,
        "W_O": "W_O" in s.matrices,
        f"more than {MAX_LONG_HEADS} heads": s.heads > MAX_LONG_HEADS,
        f"Q, K and V of {megabytes(size)}": size > MAX_LONG_SIZE,
    }
    return [words for words, is_there in there.items() if is_there]


def _pinned(settings: Settings) -> Settings | None:
    """What is pinned, which itself has nothing beside it and does nothing wrong."""
    alone = settings.pinned and replace(settings.pinned, pinned=None, mistake="")
    return alone and check(alone)


def _check_tokens(settings: Settings) -> None:
    """Refuse tokens without a name, too long or too many, and a table without any."""
    for word, tokens in (
        ("token", settings.tokens),
        ("token of the second sentence", settings.memory_tokens),
    ):
        check_token_count(len(tokens))
        for i, token in enumerate(tokens, 1):
            check_token(token, f"{word} {i}")
    if not settings.tokens:
        raise BadInput("the table is empty; at least one token is needed.")


def check_token(token: str, called: str) -> None:
    """Refuse a token without a name, or with one that is too long or cannot be shown."""
    if not token.strip():
        raise BadInput(f"{called} has no name; type a word.")
    if unshown(token):
        raise BadInput(f"{called} holds a line break or another character that cannot be shown.")
    if len(token) > MAX_TOKEN_LENGTH:
        raise BadInput(f"{called} has {len(token):,} characters; at most {MAX_TOKEN_LENGTH} fit.")


def _check_choices(settings: Settings) -> None:
    """Refuse a name that no table has, and a number out of its bounds."""
    if settings.mask != DRAWN and settings.mask not in MASKS:
        raise BadInput(
            f"there is no mask “{settings.mask}”; choose one of {', '.join([*MASKS, DRAWN])}."
        )
    if settings.scale is not None and not (0 < settings.scale <= MAX_SCALE):
        scale = brief(settings.scale)
        raise BadInput(f"the scale is {scale}; expected a positive number up to 1e6.")
    _check_rules(settings)
    if settings.fill not in FILLS:
        raise BadInput(f"hidden cells cannot get “{settings.fill}”; choose {' or '.join(FILLS)}.")
    if settings.distribution not in DISTRIBUTIONS:
        known = ", ".join(DISTRIBUTIONS)
        raise BadInput(
            f"there is no distribution “{settings.distribution}” to sample from; choose one of"
            f" {known}."
        )
    if settings.mistake and settings.mistake not in BY_NAME:
        raise BadInput(f"there is no mistake called “{settings.mistake[:40]}”.")
    if settings.exercise not in KINDS:
        raise BadInput(
            f"there is no exercise “{settings.exercise[:40]}”; choose one of {', '.join(KINDS)}."
        )
    if settings.capture not in ("", UPLOADED, *CAPTURES):
        raise BadInput(
            f"there is no capture “{settings.capture[:40]}”; choose one of {', '.join(CAPTURES)},"
            " or upload your own."
        )
    for library in (settings.move_from, settings.move_to):
        if library not in CONVENTIONS:
            raise BadInput(
                f"there is no library “{library[:40]}”; choose one of {', '.join(CONVENTIONS)}."
            )
    for held, called in (
        (settings.asked, "places to fill in"),
        (settings.answers, "answers"),
        (settings.tries, "counts of tries"),
    ):
        if len(held) > MAX_BLANKS or any(len(str(each)) > MAX_ANSWER for each in held):
            raise BadInput(
                f"an exercise has at most {MAX_BLANKS} {called}, of {MAX_ANSWER} characters each."
            )
        if any(unshown(str(each)) for each in held):
            raise BadInput(f"the {called} of the exercise hold a character that cannot be shown.")
    if not 0 <= settings.sample_seed <= MAX_SEED:
        raise BadInput(
            f"the sample seed is {settings.sample_seed}; whole numbers from 0 to 4294967295 are"
            " allowed."
        )


def _check_rules(s: Settings) -> None:
    """Refuse parts of real layers that are out of bounds, or do not go together."""
    if s.softmax not in SOFTMAX:
        raise BadInput(f"softmax is “{s.softmax}”; expected on, off or a sigmoid.")
    if s.softcap is not None and not 0 < s.softcap <= MAX_SCALE:
        raise BadInput(f"the soft cap is {brief(s.softcap)}; expected a positive number up to 1e6.")
    if not 0 <= s.window <= MAX_LONG_TOKENS:
        raise BadInput(
            f"the window is {s.window:,} keys; expected 1 to {MAX_LONG_TOKENS:,}, or 0 for no"
            " window."
        )
    if s.sinks and s.softmax is not True:
        raise BadInput("sinks are part of the sum of the softmax; switch it on, or remove them.")
    if len(s.sinks) not in (0, 1, s.heads):
        raise BadInput(
            f"there are {len(s.sinks)} sinks and {s.heads} heads; expected one for all, or one"
            " for each."
        )
    if any(not abs(sink) <= MAX_SCALE for sink in s.sinks):
        raise BadInput("a sink is beyond ±1e6, which this page does not take.")


def _check_matrices(s: Settings) -> None:
    """Refuse one matrix too many or too few, other batches, and numbers out of bounds."""
    wanted = (
        {"Q", "K", "V"}
        if s.typed_qkv
        else {"X", "W_Q", "W_K", "W_V"} | ({"memory"} if s.memory_tokens else set())
    )
    may = {"W_O", "R"} | ({"b_O"} if "W_O" in s.matrices else set())
    may |= set() if s.typed_qkv else {"P", "b_Q", "b_K", "b_V"}
    present = set(s.matrices) - may
    if present != wanted:
        raise BadInput(
            f"expected the matrices {', '.join(sorted(wanted))}; got {', '.join(sorted(present))}."
        )
    check_numbers(sum(matrix.values.size for matrix in s.matrices.values()))
    if s.batch > MAX_BATCH:
        raise BadInput(f"{s.batch:,} sequences are too many; at most {MAX_BATCH} fit.")
    for name, matrix in s.matrices.items():
        *lead, rows, columns = matrix.shape
        batch = (s.batch,) if s.batch and not STAGES[name].is_shared else ()
        if tuple(lead) != batch:
            raise BadInput(f"{name} has shape {matrix.shape}; expected {(*batch, rows, columns)}.")
        if not np.abs(matrix.values).max(initial=0) <= LIMIT:
            raise BadInput(
                f"{name} holds numbers beyond ±{LIMIT:g}, which this page does not take."
            )


def _check_parts(s: Settings) -> None:
    """Refuse a norm, a rotation or a relative bias that does not fit, or holds huge numbers."""
    try:
        if s.norm:
            for name in "QK":
                s.norm.gains(name, s.d_k, s.heads if name == "Q" else s.kv_heads)
        if s.rotary:
            s.rotary.pairs_of(s.d_k)
        relative(s)
    except ValueError as refused:
        raise BadInput(str(refused).replace("table must", "R must")) from None
    if "R" in s.matrices and (s.shape("R")[0] > MAX_SIDE or s.max_distance > MAX_SCALE):
        raise BadInput(
            f"R has {s.shape('R')[0]:,} rows and the furthest distance is {s.max_distance:,};"
            f" at most {MAX_SIDE} rows and {MAX_SCALE:,.0f} are allowed."
        )
    for part in filter(None, (s.norm, s.rotary)):
        for name, given in vars(part).items():
            if not isinstance(given, str) and not np.abs(given or 0).max(initial=0) <= LIMIT:
                raise BadInput(f"{name} holds numbers beyond ±{LIMIT:g}.")


def _check_heads(s: Settings) -> None:
    if s.heads not in s.possible_heads:
        raise BadInput(
            f"{s.heads} heads do not divide the columns of the weights; choose"
            f" {', '.join(map(str, s.possible_heads))}."
        )


def check_columns(name: str, columns: int) -> None:
    """Refuse a matrix of this name with too many columns, or none."""
    most = MAX_JOINED if STAGES[name].columns in ("d_k", "d_v") else MAX_SIDE
    if not 1 <= columns <= most:
        raise BadInput(f"{name} has {columns:,} columns; 1 to {most:,} are allowed.")


def check_token_count(count: int) -> None:
    """Refuse more tokens than any page shows."""
    if count > MAX_LONG_TOKENS:
        raise TooManyTokens(count, [f"more than {MAX_LONG_TOKENS:,}"])


def _check_shapes(s: Settings, n_q: int, n_k: int) -> None:
    _check_matrices(s)
    if s.heads < 1:
        _check_heads(s)
    if s.typed_qkv:
        wanted = {
            "Q": (n_q, s.shape("K")[1]),
            "K": (n_k, s.shape("K")[1]),
            "V": (n_k, s.shape("V")[1]),
        }
    else:
        d_model = s.shape("X")[1]
        wanted = {
            "X": (n_q, d_model),
            "memory": (n_k, d_model),
            "W_Q": (d_model, s.shape("W_K")[1]),
            "W_K": (d_model, s.shape("W_K")[1]),
            "W_V": (d_model, s.shape("W_V")[1]),
            "P": (n_q, d_model),
        }
        wanted |= {f"b_{name}": (1, s.shape(f"W_{name}")[1]) for name in "QKV"}
    queries, keys = ("Q", "K") if s.typed_qkv else ("W_Q", "W_K")
    columns = s.shape(queries)[1]
    if s.heads in s.possible_heads and not columns % s.shape(keys)[1]:  # heads may share keys
        wanted[queries] = wanted[queries][0], columns
    if "R" in s.matrices:
        wanted["R"] = s.shape("R")[0], s.heads
    if "W_O" in s.matrices:
        wanted["b_O"] = 1, s.shape("W_O")[1]
    width = s.d_v * s.heads
    for name, matrix in s.matrices.items():
        shape = wanted.get(name, (width, matrix.shape[-1]))
        if matrix.shape[-2:] != shape:
            (r, c), (a, b) = matrix.shape[-2:], shape
            raise BadInput(f"{name} is {r} × {c}; expected {a} × {b}.")
        check_columns(name, matrix.shape[-1])
    _check_heads(s)
    _check_parts(s)
    for name, size in (("d_model", s.d_model), ("d_k", s.d_k), ("d_v", s.d_v)):
        if size is not None and not 1 <= size <= MAX_DIMENSION:
            raise BadInput(f"{name} is {size:,}; 1 to {MAX_DIMENSION} are allowed.")
