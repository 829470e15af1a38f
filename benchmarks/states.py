"""Settings to measure with."""

from dataclasses import replace

from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.matrix import Matrix, Recipe
from attention.session.state.settings import Settings
from attention.session.state.validate import check

D = 8


def rolled(tokens: int, seed: int = 0, width: int = D) -> Settings:
    """X (tokens × 8), three weights (8 × 8), rolled, to fit into a link; a look-ahead mask."""
    matrices = {"X": Matrix.rolled((tokens, width), Recipe("normal", seed))}
    matrices |= {
        name: Matrix.rolled((width, width), Recipe("xavier", k))
        for k, name in enumerate(("W_Q", "W_K", "W_V"), 1)
    }
    words = tuple(f"w{i}" for i in range(1, tokens + 1))
    return check(replace(EXAMPLES[FIRST].build(), tokens=words, matrices=matrices, mask="causal"))
