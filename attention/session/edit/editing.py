"""What drawing numbers and adding a token do to the settings. Each takes settings and gives new
ones.
"""

from __future__ import annotations

from dataclasses import replace

from attention.session.edit.changes import BY_WORD, by_word, set_tokens, unnamed
from attention.session.edit.seeds import following
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.settings import Settings
from attention.vocabulary.stages import STAGES

WEIGHT_ENDS = {"integers": (-1, 2), "uniform": (-1, 1)}  # the upper one is not drawn
VECTOR_ENDS = {"integers": (-2, 3), "uniform": (-1, 1)}


def token_sequence(s: Settings, name: str) -> str | None:
    """Whose tokens the rows of this matrix are: "tokens", "memory_tokens", None for others."""
    rows = STAGES[name].rows
    if rows not in ("queries", "keys") or name == "P":  # whose rows are places
        return None
    return "memory_tokens" if rows == "keys" and s.memory_tokens else "tokens"


def _drawn(s: Settings, name: str, recipe: Recipe) -> Settings:
    """With this matrix drawn anew; of a batch the item that is shown, and the others stay."""
    full, origin = s.matrices[name].values.copy(), s.matrices[name].origin
    full[s.item if full.ndim == 3 else ...] = recipe.fill(s.shape(name))
    s = unnamed(s, STAGES[name].columns)
    return s.with_matrix(name, Matrix(full, recipe, origin=origin if full.ndim == 3 else None))


def add_token(s: Settings, name: str) -> Settings:
    """One more token, with a row of 0, in the sequence that the rows of ``name`` belong to."""
    memory = token_sequence(s, name) == "memory_tokens"
    tokens = s.memory_tokens if memory else s.tokens
    return set_tokens(s, (*tokens, f"w{len(tokens) + 1}"), [*range(len(tokens)), None], memory)


def roll(s: Settings, name: str, recipe: Recipe) -> Settings:
    """Fill a matrix by a recipe, from its own stream; where it shows that draw already, take the
    next seed. Nothing else changes.
    """
    old, recipe = s.matrices[name], recipe.of(name)
    if old.recipe == recipe and recipe.kind != "identity":
        recipe = replace(recipe, seed=following(recipe.seed))
    return _drawn(s, name, recipe)


def randomize(
    s: Settings,
    seed: int,
    kind: str = "integers",
    low: float = -1,
    high: float = 2,
    with_X: bool = False,
) -> Settings:
    """Draw W_Q, W_K and W_V anew, or Q, K and V where these are given themselves.

    One seed, and each matrix a stream of its own: no two are equal by accident. ``with_X`` draws
    the embeddings by word with the same seed as well. Of a batch Q, K and V change in the item
    shown alone.
    """
    for name in ("Q", "K", "V") if s.typed_qkv else ("W_Q", "W_K", "W_V"):
        recipe = Recipe(kind, seed, low, high, name)
        s = _drawn(s, name, recipe)
    if not with_X or s.typed_qkv:
        return s
    X = s.matrices["X"].recipe
    if X is None or not X.by_word or X.kind == "identity":
        X = BY_WORD
    return by_word(s, X.kind, seed, X.low, X.high)


def kind_of_vectors(s: Settings) -> str | None:
    """How each word gets its vector, a kind of :data:`attention.samples.words.KINDS`;
    None where the rows of X were given otherwise.
    """
    X = s.matrices["X"].recipe if "X" in s.matrices else None
    return X.kind if X and X.by_word else None


def set_vectors(s: Settings, kind: str) -> Settings:
    """Give each word a vector of another kind, from the seed of those it has, or 0."""
    X = s.matrices["X"].recipe
    seed = X.seed if X and X.by_word else BY_WORD.seed
    return by_word(s, kind, seed, *VECTOR_ENDS.get(kind, ()))


def next_seed(s: Settings) -> int:
    """The seed for the next :func:`randomize`: the one after that of W_Q, or Q, or 1."""
    recipe = s.matrices["Q" if s.typed_qkv else "W_Q"].recipe
    return following(recipe.seed) if recipe else 1
