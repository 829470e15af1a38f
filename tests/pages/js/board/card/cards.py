"""Write the cards that the tests of card.js read: all examples and features, some cells of each.

python tests/pages/js/board/card/cards.py cards.json
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[5]))

from attention.core.norms import RMSNorm
from attention.core.rotary import Rotary
from attention.explain.card import card_of
from attention.session.edit import changes
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.session.state.validate import check

WORDS = ("the", "river", "bank", "was", "steep", "and", "the", "bank", "by", "the", "market")


def long(tokens: int, **more: object) -> Settings:
    """Return the four words' settings with so many tokens, whose embeddings are drawn."""
    words = tuple(WORDS[k % len(WORDS)] for k in range(tokens))
    X = Matrix(np.random.default_rng(1).normal(size=(tokens, 4)))
    made = replace(EXAMPLES["four-words"].build(), tokens=words, **more)
    return made.with_matrix("X", X)


def cases() -> dict[str, Settings]:
    """Return settings by name."""
    words = EXAMPLES["four-words"].build()
    return {
        **{name: example.build() for name, example in EXAMPLES.items()},
        "norm and rotary": replace(words, norm=RMSNorm(), rotary=Rotary()),
        "soft cap and sink": replace(words, softcap=20.0, sinks=(1.0,), mask="causal"),
        "sigmoid": replace(words, softmax="sigmoid"),
        "sees no key": replace(words, mask="causal", padding=(0,)),
        "sum": replace(words, context=True),
        "crossed": changes.set_memory(EXAMPLES["three-widths"].build(), True),
        "output weights": changes.set_output_weights(EXAMPLES["sentence"].build(), True),
        "24 tokens": long(24),
        "64 tokens": long(64, mask="causal"),
    }


def cards() -> Iterator[dict]:
    """Yield some cards of each stage of each case."""
    for name, settings in cases().items():
        checked = check(settings)
        shown = view(checked, run(checked))
        for stage, matrix in shown.stages.items():
            rows, columns = matrix.shape
            for i, j in {(0, 0), (rows - 1, columns // 2)}:
                card = asdict(card_of(shown, (stage, i, j), settings.digits))
                yield {"name": f"{name}: {stage}[{i}, {j}]", "card": card}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(list(cards())), encoding="utf-8")
