"""The changes a person makes: each takes settings and gives new ones, and touches nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from attention.arrays.layouts import join_heads
from attention.core.scores import SIGMOID
from attention.core.trace import AttentionTrace
from attention.limits import (
    MAX_DIMENSION,
    MAX_PROSE,
    MAX_SIDE,
    MAX_TOKENS,
    BadInput,
)
from attention.samples.words import sentence_from, tokens_of, vocabulary, word_key
from attention.session.edit.parts import positions_for
from attention.session.state.about import on_its_own, source_of
from attention.session.state.examples import EXAMPLES, OWN, second_sentence
from attention.session.state.matrix import (
    WORDS,
    Matrix,
    Recipe,
    WordRows,
    captured_head,
    check_numbers,
)
from attention.session.state.origin import Origin
from attention.session.state.settings import (
    DRAWN,
    Settings,
    TooManyTokens,
    allowed,
    as_drawn,
    check_drawn,
)
from attention.vocabulary.sentences import in_words, plural

LONGEST_TITLE = 60  # characters
FIRST_D_MODEL = 4  # where a sentence takes the place of typed Q, K and V
FIRST_WEIGHTS = Recipe("integers", 0, -1, 2)
BY_WORD = Recipe("integers", 0, -2, 3, WORDS)
AFTER_QKV = ("W_O", "b_O", "R")  # of the matrices, which stay where Q, K and V are made otherwise
ONE_HOT = "one-hot rows, so that X W is W"


def set_dimension(s: Settings, name: str, size: int) -> Settings:
    """Change d_model, d_k or d_v; numbers that still fit stay where they are."""
    if not 1 <= size <= MAX_DIMENSION:
        raise BadInput(f"{name} is {size:,}; 1 to {MAX_DIMENSION} are allowed.")
    m, width, shared = dict(s.matrices), size * s.heads, size * s.kv_heads

    def resize(key: str, rows: int | None = None, columns: int | None = None) -> None:
        if key in m:
            shape = rows or m[key].shape[-2], columns or m[key].shape[-1]
            m[key] = m[key].resized(*shape, key, s.rows_of(key))

    if name == "d_model":
        for key in ("X", "memory"):
            resize(key, columns=size)
        m |= _positions(m, len(s.tokens), size)
        for key in ("W_Q", "W_K", "W_V"):
            resize(key, rows=size)
    elif name == "d_k":
        for key in ("W_Q", "Q", "b_Q"):
            resize(key, columns=width)
        for key in ("W_K", "K", "b_K"):
            resize(key, columns=shared)
    else:
        for key in ("W_V", "V", "b_V"):
            resize(key, columns=shared)
        resize("W_O", rows=width)
    return replace(s, matrices=m)


def _positions(m: Mapping[str, Matrix], n: int, d_model: int) -> dict[str, Matrix]:
    """P for as many positions and columns, where there is one."""
    return {"P": positions_for(m["P"], n, d_model)} if "P" in m else {}


def set_heads(s: Settings, heads: int) -> Settings:
    """Another number of heads of the same matrices; of sinks the first stay."""
    sinks = s.sinks if len(s.sinks) < 2 else (*s.sinks, *[0.0] * heads)[:heads]
    return replace(s, heads=heads, head=0, sinks=sinks)


def set_kv_heads(s: Settings, kv_heads: int) -> Settings:
    """Let the heads of queries share so many of keys and values; numbers that still fit stay."""
    if s.heads % kv_heads:
        raise BadInput(f"{s.heads} heads cannot share {kv_heads} of keys and values evenly.")
    m = dict(s.matrices)
    for width, keys in ((s.d_k, ("W_K", "K", "b_K")), (s.d_v, ("W_V", "V", "b_V"))):
        for key in m.keys() & set(keys):
            m[key] = m[key].resized(m[key].shape[-2], width * kv_heads, key, s.rows_of(key))
    return replace(s, matrices=m, cell=None)


def set_sinks(s: Settings, on: bool) -> Settings:
    """Put a sink of 0 into the sum of every softmax, or take the sinks away."""
    return replace(s, sinks=(0.0,), softmax=True) if on else replace(s, sinks=())


def set_sink(s: Settings, sink: float) -> Settings:
    """Another sink for the head that is shown."""
    sinks = s.sinks * s.heads if len(s.sinks) == 1 else s.sinks
    return replace(s, sinks=(*sinks[: s.head], sink, *sinks[s.head + 1 :]))


def set_sigmoid(s: Settings, on: bool) -> Settings:
    """Put a sigmoid into the softmax's place, where no sinks can stand, or the softmax back."""
    return replace(s, softmax=SIGMOID, sinks=()) if on else replace(s, softmax=True)


def set_tokens(
    s: Settings, tokens: tuple[str, ...], keep: list[int | None], memory: bool = False
) -> Settings:
    """Give the sequence new tokens; ``keep[i]`` is the old row that row i goes on with, None for a
    new one.

    Rows of X (or Q, K, V), the padding and a drawn mask follow their tokens. A new row may look at
    all, and is the vector of its word where the others are, else 0.
    """
    crossed = bool(s.memory_tokens)
    if not tokens:
        raise BadInput("the table is empty; at least one token is needed.")
    queries, keys = not memory, memory or not crossed
    names = ("memory", "K", "V") if memory else ("X", "Q") if crossed else ("X", "Q", "K", "V")
    new = replace(
        s,
        tokens=s.tokens if memory else tokens,
        memory_tokens=tokens if memory else s.memory_tokens,
        cell=None,
    )
    if s.mask == DRAWN:
        check_drawn(len(new.tokens), len(new.key_tokens))  # before its cells are made
    matrices = {
        n: _kept_rows(m, keep, new.rows_of(n)) if n in names else m for n, m in s.matrices.items()
    }
    if not memory and not s.typed_qkv:
        matrices |= _positions(matrices, len(tokens), s.shape("X")[1])
    padding, drawn = s.padding, s.drawn
    if keys:
        padding = tuple(i for i, old in enumerate(keep) if old in s.padding and old is not None)
    if s.mask == DRAWN:
        cells = np.array(s.drawn, bool)
        for axis, follows in enumerate((queries, keys)):
            if follows:
                parts = [
                    (
                        np.take(cells, [old], axis)
                        if old is not None
                        else np.ones_like(np.take(cells, [0], axis))
                    )
                    for old in keep
                ]
                cells = np.concatenate(parts, axis)
        drawn = as_drawn(cells)
    return replace(new, matrices=matrices, padding=padding, drawn=drawn)


def _kept_rows(matrix: Matrix, keep: list[int | None], of: WordRows | None) -> Matrix:
    *lead, _, d = matrix.shape
    check_numbers(math.prod(lead) * len(keep) * d)
    values = np.zeros((*lead, len(keep), d))
    if matrix.recipe and matrix.recipe.by_word:
        values[...] = matrix.recipe.fill((len(keep), d), of)
    for i, old in enumerate(keep):
        if old is not None:
            values[..., i, :] = matrix.values[..., old, :]
    return matrix.with_values(values)


def set_mask(s: Settings, mask: str) -> Settings:
    """Choose a mask; a drawn one begins with what is allowed now."""
    if mask != DRAWN:
        return replace(s, mask=mask, drawn=(), drawn_from=None)
    drawn = as_drawn(allowed(replace(s, padding=())))  # with the window, which ends
    same = s.drawn_from if drawn == s.drawn else None
    return replace(s, mask=mask, drawn=drawn, drawn_from=same, window=0)


def set_memory(s: Settings, on: bool) -> Settings:
    """Begin cross-attention with a second sequence of its own words, or end it.

    It begins with a translation of the example's sentence, or a short sentence; Q, K and V that are
    given themselves stay, and K and V belong to the second sequence from then on.
    """
    m = dict(s.matrices)
    if on and s.typed_qkv:
        names = tuple(f"k{k}" for k in range(1, len(s.tokens) + 1))
        return replace(s, memory_tokens=names, cell=None)
    if on:
        crossed = replace(
            set_mask(s, "none") if s.mask == DRAWN else s,
            memory_tokens=tokens_of(second_sentence(s.example, s.tokens)),
            padding=(),
            cell=None,
        )
        recipe = _recipe(s)
        crossed = _wide_enough(crossed, recipe)
        shape = len(crossed.memory_tokens), crossed.shape("X")[1]
        values = recipe.fill(shape, crossed.rows_of("memory"))
        items = (s.batch,) if s.batch else ()
        values = np.broadcast_to(values, (*items, *shape))
        return unnamed(crossed.with_matrix("memory", Matrix(values, recipe)), "d_model")
    m.pop("memory", None)
    n = len(s.tokens)
    if s.typed_qkv:
        m |= {name: m[name].resized(n, m[name].shape[-1], name) for name in "KV"}
    s = replace(
        s, memory_tokens=(), matrices=m, padding=tuple(k for k in s.padding if k < n), cell=None
    )
    return set_mask(s, "none") if s.mask == DRAWN else s


def set_output_weights(s: Settings, on: bool) -> Settings:
    """Put W_O behind the joined heads, or take it away. It begins as the identity."""
    m = {name: M for name, M in s.matrices.items() if name not in ("W_O", "b_O")}
    if on:
        width = s.d_v * s.heads
        m["W_O"] = Matrix.rolled((width, width), Recipe("identity"))
    return replace(s, matrices=m, cell=None)


# ---- words --------------------------------------------------------------------------------------


def sentence_of(s: Settings, memory: bool = False) -> str:
    """The tokens as a sentence to type over."""
    return sentence_from(s.memory_tokens if memory else s.tokens)


def name_of(s: Settings) -> tuple[str, str]:
    """What stands above these numbers, and in the names of their files: those of the example, or
    where the words are others, the sentence; of a model's head, which one it is.

    >>> from attention.session.state.examples import EXAMPLES
    >>> cat = EXAMPLES["cat-sat"].build()
    >>> name_of(cat), name_of(set_sentence(cat, "dogs chase red balls"))
    (('The cat sat on the mat', 'cat-sat'), ('dogs chase red balls', 'own'))
    """
    if head := captured_head(s.matrices):
        return head.heading, head.stem(*head.heads)
    if s.example == OWN or s.tokens == EXAMPLES[s.example].build().tokens:
        return EXAMPLES[s.example].title, s.example
    return _titled(sentence_of(s)), OWN


def _titled(words: str) -> str:
    """Cut where it is long."""
    return words if len(words) <= LONGEST_TITLE else words[: LONGEST_TITLE - 1] + "…"


def sentence_ends(s: Settings) -> str:
    """What a person should know before a sentence takes the place of these numbers; mostly "".

    >>> from attention.session.state.examples import EXAMPLES
    >>> sentence_ends(EXAMPLES["random-qkv"].build())
    'Q, K and V were entered directly; embeddings and random weights replace them.'
    """
    if s.weights_alone:
        return ""
    if s.typed_qkv:
        return "Q, K and V were entered directly; embeddings and random weights replace them."
    return f"The batch ends: word vectors replace item {s.item}." if s.batch else ""


def set_sentence(s: Settings, sentence: str, memory: bool = False) -> Settings:
    """Let the sequence, or the second one, be the tokens of a sentence, with embeddings by word.

    A word that was there keeps the row of X a person gave it; padding, a drawn mask and the query
    go with their tokens. A sentence is one item: a batch ends with the item shown. Q, K and V that
    were typed themselves give way to embeddings and random weights. BadInput says that there is no
    word, or that the sentence has too many characters.
    """
    if len(sentence) > MAX_PROSE:
        raise BadInput(
            f"the sentence has {len(sentence):,} characters; at most {MAX_PROSE:,} are read."
        )
    tokens = tokens_of(sentence)
    if not tokens:
        raise BadInput("the sentence is empty; type at least one word.")
    if tokens == (s.memory_tokens if memory else s.tokens):
        return s
    if s.weights_alone or captured_head(s.matrices):
        return _with_words(s, sentence, memory)
    is_one_hot = "X" in s.matrices and _recipe(s, "X").kind == "identity"
    if len(tokens) > MAX_TOKENS and is_one_hot and len(vocabulary(tokens)) > MAX_DIMENSION:
        raise TooManyTokens(len(tokens), [f"one-hot vectors of more than {MAX_DIMENSION} words"])
    s = _embedded(set_memory(s, True) if memory and not s.memory_tokens else s)
    mine, other = ("memory", "X") if memory else ("X", "memory")
    keep = _followed(s.memory_tokens if memory else s.tokens, tokens)
    recipe = _recipe(s, mine)
    after = _wide_enough(set_tokens(s, tokens, keep, memory), recipe)
    after = _redrawn(s, after, mine, recipe, keep)
    if other in s.matrices:  # its one-hot columns may have moved
        same: list[int | None] = list(range(s.shape(other)[0]))
        after = _redrawn(s, after, other, s.matrices[other].recipe, same)
    if memory:
        return after
    query = keep.index(s.query) if s.query in keep else min(s.query, len(tokens) - 1)
    return replace(after, query=query)


def _with_words(s: Settings, sentence: str, memory: bool) -> Settings:
    """Finished weights, and a captured head, keep their rows or columns, and these are called by
    the words: by the tokens of the sentence, or by what stands between its spaces (##ing, [CLS]),
    whichever are as many.
    """
    count = len(s.memory_tokens if memory else s.tokens)
    ways = tokens_of(sentence), tuple(sentence.split())
    tokens, words = map(len, ways)
    fitting = next((way for way in ways if len(way) == count), None)
    if fitting is None:
        apart = f" ({tokens} with punctuation apart)" if tokens != words else ""
        raise BadInput(
            f"the sentence has {words} {plural(words, 'word')}{apart}, and"
            f" {'these finished weights have' if s.weights_alone else 'this captured head has'}"
            f" {count} {'columns' if memory else 'rows'}; type as many words, or choose an example"
            f" to leave the {'weights' if s.weights_alone else 'head'}."
        )
    if memory:
        return replace(s, memory_tokens=fitting)
    return replace(s, tokens=fitting)


def by_word(
    s: Settings, kind: str = "integers", seed: int = 0, low: float = -2, high: float = 3
) -> Settings:
    """Give every token the vector of its word: the same word, the same row, in every sentence.

    With ``kind="identity"`` a word has a 1 in a column of its own, and d_model becomes the number
    of different words. A batch ends, as all its items would be equal.
    """
    recipe = Recipe(kind, seed, low, high, WORDS)
    s = replace(unnamed(_embedded(s), "d_model"), cell=None)
    if kind == "identity":
        s = set_dimension(s, "d_model", len(vocabulary(s.tokens + s.memory_tokens)))
    for name in s.matrices.keys() & {"X", "memory"}:
        s = s.with_matrix(name, Matrix.rolled(s.shape(name), recipe, s.rows_of(name)))
    return s


def one_hot(s: Settings) -> Settings:
    """Embeddings that are all 0 but for a 1 at the word's own place."""
    return by_word(s, "identity")


def draw_embeddings(s: Settings, d_model: int) -> Settings:
    """The same words with embeddings of another width, drawn from each word; weights stay as they
    are, and a batch, or Q, K and V that were typed themselves, give way as to a sentence.
    """
    words = len(vocabulary(s.tokens + s.memory_tokens))
    recipe = _recipe(s)
    recipe = BY_WORD if recipe.kind == "identity" and d_model < words else recipe
    s = on_its_own(_embedded(s))
    for name in s.matrices.keys() & {"X", "memory"}:
        shape = s.shape(name)[0], d_model
        s = s.with_matrix(name, Matrix.rolled(shape, recipe, s.rows_of(name)))
    return s


def _recipe(s: Settings, name: str = "X") -> Recipe:
    """How new words get their vectors: as those of this matrix, or of X, or whole numbers."""
    for key in (name, "X"):
        recipe = s.matrices[key].recipe if key in s.matrices else None
        if recipe and recipe.by_word:
            return recipe
    return BY_WORD


def _embedded(s: Settings) -> Settings:
    """The same tokens with embeddings, for one item."""
    m = dict(s.matrices)
    if not s.typed_qkv:
        if s.batch:
            m |= {n: m[n].with_values(m[n].values[s.item]) for n in ("X", "memory") if n in m}
        return replace(s, matrices=m, item=0)
    s = on_its_own(s)
    new = {name: M for name, M in s.matrices.items() if name in AFTER_QKV}
    for name in "QKV":
        recipe = FIRST_WEIGHTS.of(f"W_{name}")
        new[f"W_{name}"] = Matrix.rolled((FIRST_D_MODEL, s.shape(name)[1]), recipe)
    for name in ("X", "memory"):
        if rows := s.rows_of(name):
            new[name] = Matrix.rolled((len(rows.tokens), FIRST_D_MODEL), BY_WORD, rows)
    return replace(s, matrices=new, item=0, cell=None)


def _followed(old: tuple[str, ...], new: tuple[str, ...]) -> list[int | None]:
    """For each new token the old row of the same word: the first for the first, and so on."""
    places: dict[str, list[int]] = {}
    for k, token in enumerate(old):
        places.setdefault(word_key(token), []).append(k)
    left = {word: iter(rows) for word, rows in places.items()}
    return [next(left.get(word_key(token), iter(())), None) for token in new]


def _redrawn(
    before: Settings, after: Settings, name: str, recipe: Recipe | None, keep: list[int | None]
) -> Settings:
    """The vectors of all words, but for the rows that a person gave."""
    if recipe is None or not recipe.by_word:
        return after
    values = recipe.fill(after.shape(name), after.rows_of(name))
    given = _given_rows(before, name)
    for row, old in enumerate(keep):
        if old in given:
            values[row] = after.matrices[name].values[row]
    origin = before.matrices[name].origin if given & set(keep) else None
    if not given >= set(keep):
        after = unnamed(after, "d_model")
    return after.with_matrix(name, Matrix(values, recipe, origin=origin))


def unnamed(s: Settings, dimension: str) -> Settings:
    """Without the names of these columns: numbers that are drawn have no such meaning."""
    return replace(s, names={of: names for of, names in s.names.items() if of != dimension})


def _given_rows(s: Settings, name: str) -> set[int]:
    """The rows of embeddings that are not what the recipe gives for their words."""
    matrix = s.matrices[name]
    if not (matrix.recipe and matrix.recipe.by_word):
        return set(range(matrix.shape[-2]))
    drawn = matrix.recipe.fill(s.shape(name), s.rows_of(name))
    return set(np.flatnonzero((matrix.values != drawn).any(axis=-1)).tolist())


def _wide_enough(s: Settings, recipe: Recipe) -> Settings:
    """With a column for each different word, where the embeddings are one-hot."""
    words = len(vocabulary(s.tokens + s.memory_tokens)) if recipe.kind == "identity" else 1
    return set_dimension(s, "d_model", max(words, s.shape("X")[1]))


# ---- where the numbers begin --------------------------------------------------------------------


def start_from(s: Settings, qkv: bool, trace: AttentionTrace) -> Settings:
    """Begin with Q, K and V themselves, or with embeddings and weights; the numbers of every stage
    stay.

    From Q, K and V, one-hot embeddings make the weights equal to them: X W_Q = I Q = Q.
    """
    if qkv:
        joined = join_heads if s.heads > 1 else (lambda M: M)
        m = {name: _made_of(s, _factors(s, name), joined(getattr(trace, name))) for name in "QKV"}
    else:
        Q, K, V = (s.matrices[name].values[s.item if s.batch else ...] for name in "QKV")
        n_q, n_k = len(s.tokens), len(s.memory_tokens)
        if n_q + n_k > MAX_SIDE:
            raise BadInput(
                f"X would have a column for each of {n_q + n_k:,} tokens; at most {MAX_SIDE} fit."
            )
        X, memory = np.eye(n_q, n_q + n_k), np.eye(n_k, n_q + n_k, n_q)
        m = {"X": Matrix(X, origin=Origin.of(ONE_HOT, X))}
        if n_k:
            m["memory"] = Matrix(memory, origin=Origin.of(ONE_HOT, memory))
        weights = {
            "Q": np.vstack([Q, np.zeros((n_k, Q.shape[1]))]),
            "K": np.vstack([np.zeros((n_q if n_k else 0, K.shape[1])), K]),
            "V": np.vstack([np.zeros((n_q if n_k else 0, V.shape[1])), V]),
        }
        m |= {f"W_{name}": _made_of(s, (name,), W) for name, W in weights.items()}
    m |= {name: s.matrices[name] for name in AFTER_QKV if name in s.matrices}
    return replace(s, matrices=m, item=s.item if qkv else 0, cell=None)


def _factors(s: Settings, name: str) -> tuple[str, ...]:
    """The inputs that Q, K or V is the product of, or itself."""
    if s.typed_qkv:
        return (name,)
    return "memory" if s.memory_tokens and name != "Q" else "X", f"W_{name}"


def _made_of(s: Settings, names: tuple[str, ...], values: np.ndarray) -> Matrix:
    """A matrix that was computed, with where what it is made of came from."""
    behind = [s.origins[name].behind for name in names if name in s.origins]
    source = in_words([f"{name} ({source_of(s, name)})" for name in names])
    source = f"the product of {source}" if len(names) > 1 else source
    return Matrix(values, origin=Origin.of(source, values, next(filter(None, behind), "")))
